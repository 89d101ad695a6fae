//! A server that is replaced by new processes while a client continuously calls it. No call fails.
//!
//! `cargo run -p operated --bin restart` starts the first process, which starts its successors like `systemctl reload`,
//! and exits. With `serve PATH` it is one of these processes.

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    unix::main()
}

#[cfg(not(unix))]
fn main() {
    println!("sockets are passed on Unix only");
}

#[cfg(unix)]
mod polite;

/// Generated from `proto/greet.proto`.
#[cfg(unix)]
mod greet {
    frpc::include_proto!("greet");
}

#[cfg(unix)]
mod unix {
    use crate::greet::{GreeterClient, GreeterServer, Name};
    use crate::polite::Polite;
    use frisbee_restart::Restart;
    use frpc::Server;
    use std::error::Error;
    use std::net::SocketAddr;
    use std::path::Path;
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt, BufReader};
    use tokio::process::{Child, Command};
    use tokio::sync::watch;

    /// Number of successive processes.
    const GENERATIONS: usize = 5;

    #[tokio::main]
    pub(super) async fn main() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] => show().await,
            ["serve", path] => serve(Path::new(path)).await,
            _ => Err("usage: restart [serve PATH]".into()),
        }
    }

    /// Runs one process, with everything that a server needs for restarts.
    async fn serve(path: &Path) -> Result<(), Box<dyn Error>> {
        let mut generation = Restart::new(path).take_over().await?;
        let listener = generation.tcp("greeter", "127.0.0.1:0").await?;
        println!("{}", listener.local_addr()?);
        let server = Server::builder().add_service(GreeterServer::new(Polite)).listen_on(listener)?;
        let terminated = frpc::signal::terminate();
        generation.serve(terminated, |shutdown| server.serve_with_shutdown(shutdown)).await?;
        Ok(())
    }

    async fn show() -> Result<(), Box<dyn Error>> {
        let folder = std::env::temp_dir().join(format!("frpc-restart-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let path = folder.join("restart.sock");
        let (mut process, address) = start(&path).await?;
        println!("process {} serves on {address}", process.id().unwrap_or_default());

        let client = GreeterClient::connect(address.to_string()).await?;
        let (stop, stopped) = watch::channel(false);
        let calling = tokio::spawn(async move {
            let (mut good, mut failed) = (0_u64, 0_u64);
            while !*stopped.borrow() {
                match client.greet(Name { name: "Ada".into() }).await {
                    Ok(_) => good += 1,
                    Err(status) => {
                        failed += 1;
                        eprintln!("{status}");
                    }
                }
            }
            (good, failed)
        });
        for _ in 1..GENERATIONS {
            let (next, at) = start(&path).await?;
            println!("process {} takes over {at}", next.id().unwrap_or_default());
            let status = std::mem::replace(&mut process, next).wait().await?;
            println!("its predecessor has finished its work and ended: {status}");
        }
        stop.send_replace(true);
        let (good, failed) = calling.await?;
        println!("{good} calls answered by {GENERATIONS} processes, {failed} failed");
        process.kill().await?;
        std::fs::remove_dir_all(folder)?;
        if failed == 0 { Ok(()) } else { Err("calls failed".into()) }
    }

    /// Starts a process, and reads its address.
    async fn start(path: &Path) -> Result<(Child, SocketAddr), Box<dyn Error>> {
        let mut command = Command::new(std::env::current_exe()?);
        let mut process = command.arg("serve").arg(path).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
        let output = process.stdout.take().ok_or("the output is piped")?;
        let address = BufReader::new(output).lines().next_line().await?.ok_or("the process did not start")?;
        Ok((process, address.parse()?))
    }
}
