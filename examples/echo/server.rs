//! Serves the schema of the Go original's benchmark, for load generators and Go clients.
//!
//! `cargo run --release -p echo --bin echo-server -- 127.0.0.1:8192 [--policy inline|concurrent] [--sleep-us N]
//! [--workers N|caller] [--busy-us N]`

use benchmark::{BenchmarkService, BenchmarkServiceServer, Request as Echo, Response as Echoed};
use frpc::{Policy, Request, Response, Server, Status, Workers};
use std::time::Duration;

/// Generated from `proto/benchmark.proto`.
mod benchmark {
    frpc::include_proto!("benchmark");
}

const USAGE: &str = "usage: echo-server ADDR [--policy inline|concurrent] [--sleep-us N] [--workers N|caller] \
    [--busy-us N]";

struct Service {
    sleep: Option<Duration>,
}

impl BenchmarkService for Service {
    async fn benchmark(&self, request: Request<Echo>) -> Result<Response<Echoed>, Status> {
        if let Some(sleep) = self.sleep {
            tokio::time::sleep(sleep).await;
        }
        Ok(Response::new(Echoed { message: request.into_inner().message }))
    }
}

struct Arguments {
    address: String,
    policy: Policy,
    sleep: Option<Duration>,
    workers: Workers,
    busy: Duration,
}

impl Arguments {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            address: String::new(),
            policy: Policy::Inline,
            sleep: None,
            workers: Workers::PerCore,
            busy: Duration::ZERO,
        };
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument} takes a value"));
            match argument.as_str() {
                "--policy" => {
                    parsed.policy = match value()?.as_str() {
                        "inline" => Policy::Inline,
                        "concurrent" => Policy::Concurrent,
                        other => return Err(format!("no policy is called {other}")),
                    }
                }
                "--sleep-us" => {
                    let micros = value()?.parse().map_err(|error| format!("--sleep-us: {error}"))?;
                    parsed.sleep = Some(Duration::from_micros(micros)).filter(|sleep| !sleep.is_zero());
                }
                "--busy-us" => {
                    let micros = value()?.parse().map_err(|error| format!("--busy-us: {error}"))?;
                    parsed.busy = Duration::from_micros(micros);
                }
                "--workers" => {
                    parsed.workers = match value()?.as_str() {
                        "caller" => Workers::Caller,
                        count => Workers::Threads(count.parse().map_err(|error| format!("--workers: {error}"))?),
                    }
                }
                option if option.starts_with('-') => return Err(format!("there is no option {option}")),
                _ if parsed.address.is_empty() => parsed.address = argument,
                _ => return Err(format!("one address is enough, {argument} is a second one")),
            }
        }
        if parsed.address.is_empty() { Err("an address is missing".into()) } else { Ok(parsed) }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n{USAGE}");
            std::process::exit(2);
        }
    };
    let server = Server::builder()
        .add_service(BenchmarkServiceServer::new(Service { sleep: arguments.sleep }))
        .policy(arguments.policy)
        .workers(arguments.workers)
        .busy_poll(arguments.busy)
        .bind(arguments.address)
        .await?;
    let stop = stop_signal()?;
    println!("listening on {}", server.local_addr());
    server.serve_with_shutdown(stop).await?;
    println!("stopped");
    Ok(())
}

/// Waits for Ctrl-C, or for SIGTERM from an orchestrator.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async { drop(tokio::signal::ctrl_c().await) })
}
