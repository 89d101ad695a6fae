//! The server and the Rust client of `compare.py`. `load serve ADDRESS` serves until the end of standard input. `load
//! call ADDRESS SECONDS` makes the same calls as `load.cpp` and prints the same figures.

use frpc::{Channel, Server};
use rustix::time::{ClockId, clock_gettime};
use samples::greet::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use std::error::Error;
use std::io::Write as _;
use std::time::{Duration, Instant};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 16;
const IN_FLIGHT: usize = 10;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => serve(address).await,
        ["call", address, seconds] => call(address, Duration::try_from_secs_f64(seconds.parse()?)?).await,
        _ => Err("usage: load serve ADDRESS, or load call ADDRESS SECONDS".into()),
    }
}

async fn serve(address: &str) -> Result<(), Box<dyn Error>> {
    let server = Server::builder().add_service(GreeterServer::new(Polite)).bind(address).await?;
    writeln!(std::io::stdout(), "{}", server.local_addr())?;
    tokio::select! {
        served = server.serve() => Ok(served?),
        _ = async { tokio::io::stdin().read(&mut [0]).await } => Ok(()),
    }
}

async fn call(address: &str, time: Duration) -> Result<(), Box<dyn Error>> {
    let mut clients = Vec::new();
    for _ in 0..CONNECTIONS {
        clients.push(GreeterClient::new(Channel::connect(address.to_owned()).await?));
    }
    let (until, begun) = (Instant::now() + time, processor_time()?);
    let mut callers = JoinSet::new();
    for client in clients {
        for _ in 0..IN_FLIGHT {
            let client = client.clone();
            callers.spawn(async move {
                let mut calls = 0_u64;
                while Instant::now() < until {
                    let reply = client.greet(Name { name: "Ada".to_owned() }).await?;
                    assert_eq!(reply.get_ref().text, "Hello, Ada!");
                    calls += 1;
                }
                Ok::<_, frpc::Status>(calls)
            });
        }
    }
    let mut calls = 0;
    while let Some(caller) = callers.join_next().await {
        calls += caller??;
    }
    writeln!(std::io::stdout(), "{calls} {}", (processor_time()? - begun).as_micros())?;
    Ok(())
}

/// Returns the CPU time that this process has used.
fn processor_time() -> Result<Duration, Box<dyn Error>> {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Ok(Duration::new(time.tv_sec.try_into()?, time.tv_nsec.try_into()?))
}
