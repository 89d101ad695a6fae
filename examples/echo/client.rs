//! Calls a Rust or Go server of the original benchmark schema, and checks every reply.
//!
//! `cargo run --release -p echo --bin echo-client -- 127.0.0.1:8192 [CLIENTS [IN_FLIGHT [SECONDS [BYTES [BUSY_US]]]]]`

use benchmark::{BenchmarkServiceClient, Request as Echo};
use frpc::Channel;
use std::time::{Duration, Instant};

/// Generated from `proto/benchmark.proto`.
mod benchmark {
    frpc::include_proto!("benchmark");
}

const USAGE: &str = "usage: echo-client ADDR [CLIENTS [IN_FLIGHT [SECONDS [BYTES [BUSY_US]]]]]";

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let Some(address) = arguments.next().filter(|address| !address.starts_with('-')) else {
        eprintln!("an address is missing\n{USAGE}");
        std::process::exit(2);
    };
    let mut number = |default: u64| match arguments.next().map(|argument| argument.parse::<u64>()) {
        None => Ok(default),
        Some(Ok(number)) if number > 0 => Ok(number),
        Some(_) => Err(format!("a number above zero was expected\n{USAGE}")),
    };
    let (clients, in_flight, seconds, bytes) = (number(1)?, number(10)?, number(1)?, number(1)? as usize);
    let busy = arguments.next().map_or(Ok(0), |argument| argument.parse()).map(Duration::from_micros)?;

    let started = Instant::now();
    let mut callers = Vec::new();
    for client in 0..clients {
        let channel =
            Channel::builder().calls::<BenchmarkServiceClient>().busy_poll(busy).connect(address.as_str()).await?;
        let connection = BenchmarkServiceClient::new(channel);
        for caller in 0..in_flight {
            let name = format!("client {client} caller {caller}");
            callers.push(tokio::spawn(call(connection.clone(), name, bytes, started, Duration::from_secs(seconds))));
        }
    }
    let mut latencies = Vec::new();
    for caller in callers {
        latencies.extend(caller.await?.map_err(|status| status.to_string())?);
    }
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_micros();
    println!(
        "{} calls, {:.0} per second, latency p50 {} us, p99 {} us",
        latencies.len(),
        latencies.len() as f64 / elapsed.as_secs_f64(),
        percentile(50),
        percentile(99),
    );
    Ok(())
}

/// Makes calls until the deadline, at least one, with messages of at least this length.
async fn call(
    client: BenchmarkServiceClient,
    name: String,
    bytes: usize,
    started: Instant,
    time: Duration,
) -> Result<Vec<Duration>, frpc::Status> {
    let mut latencies = Vec::new();
    let padding = ".".repeat(bytes);
    loop {
        let message = format!("{name} call {:05}{padding}", latencies.len());
        let sent = Instant::now();
        let reply = client.benchmark(Echo { message: message.clone() }).await?.into_inner();
        latencies.push(sent.elapsed());
        if reply.message != message {
            return Err(frpc::Status::data_loss(format!("sent {message:?}, got {:?}", reply.message)));
        }
        if started.elapsed() >= time {
            return Ok(latencies);
        }
    }
}
