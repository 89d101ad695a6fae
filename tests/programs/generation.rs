//! A server that tests restart.
//!
//! `generation PATH serve` takes over from the process at the control socket `PATH`. It serves the interop schema on a
//! TCP socket and on the Unix socket `PATH.service`, until its input ends or a successor has taken over. With `hang` or
//! `panic` instead of `serve`, it takes the sockets but never becomes ready.

use frisbee_restart::Restart;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::service::Service;
use frpc::{Server, ServerBuilder, Workers};
use std::error::Error;
use std::time::Duration;
use tokio::sync::oneshot;

/// Time for calls to complete. It is longer than all calls of the tests, except endless ones.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [path, mode] = arguments.as_slice() else { return Err("usage: generation PATH serve | hang | panic".into()) };
    let mut generation = Restart::new(path).take_over().await?;
    let tcp = generation.tcp("rpc", "127.0.0.1:0").await?;
    let unix = generation.unix("local", format!("{path}.service"))?;
    println!("listening on {}", tcp.local_addr()?);
    match mode.as_str() {
        "serve" => {}
        "hang" => std::future::pending().await,
        _ => panic!("as requested"),
    }
    let (tcp, unix) = (builder().listen_on(tcp)?, builder().listen_on_unix(unix)?);
    let (stop, stopped) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        std::io::stdin().lines().for_each(drop);
        drop(stop);
    });
    let serving = generation.serve(async { drop(stopped.await) }, |shutdown| async {
        tokio::try_join!(tcp.serve_with_shutdown(shutdown.clone()), unix.serve_with_shutdown(shutdown)).map(drop)
    });
    println!("{:?}", serving.await?);
    Ok(())
}

fn builder() -> ServerBuilder {
    let builder = Server::builder().workers(Workers::Threads(2)).shutdown_timeout(SHUTDOWN_TIMEOUT);
    builder.add_service(InteropServer::new(Service))
}
