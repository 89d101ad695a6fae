//! A server and a client that count their calls, with a Prometheus page on the port of the service.
//!
//! `cargo run --release -p gateway --bin observed -- 127.0.0.1:8080`, and then `curl localhost:8080/metrics`; configure
//! Prometheus with `static_configs: [{targets: ["127.0.0.1:8080"]}]`. Without an address it prints the counters and
//! exits.

mod polite;

use frpc::{Channel, Server};
use frpc_gateway::{Gateway, Http, ServeGateway};
use frpc_telemetry::Counters;
use greet::{GreeterClient, GreeterServer, Name};
use polite::Polite;

/// Generated from `proto/greet.proto`.
mod greet {
    frpc::include_proto!("greet");
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counters = Counters::new();
    let address = std::env::args().nth(1);
    let server = Server::builder()
        .batch_observer(counters.clone())
        .gateway(Gateway::new().http(Http::new().metrics(&counters)))
        .add_service(GreeterServer::new(Polite))
        .bind(address.as_deref().unwrap_or("127.0.0.1:0"))
        .await?;
    let (local, stats) = (server.local_addr().to_string(), server.stats());
    let serving = tokio::spawn(server.serve());

    let channel =
        Channel::builder().batch_observer(counters.clone()).calls::<GreeterClient>().connect(local.as_str()).await?;
    let client = GreeterClient::new(channel);
    let named = |name: &str| Name { name: name.to_owned() };
    for _ in 0..1000 {
        client.greet(named("Ada")).await?;
    }
    let failed = client.greet(named("")).await.expect_err("call without a name should fail");
    println!("one call failed: {failed}");
    let mut verses = client.recite(named("Ada")).await?.into_inner();
    while verses.message().await?.is_some() {}

    let snapshot = counters.snapshot();
    println!("{:8}{:12}{:12}{:>8}{:>14}{:>14}", "side", "method", "code", "calls", "p50", "p99");
    for calls in &snapshot.calls {
        let quantile = |share| calls.durations.quantile(share).map_or_else(String::new, |time| format!("{time:?}"));
        let (side, code, count) = (format!("{:?}", calls.side), format!("{:?}", calls.code), calls.durations.count());
        println!("{side:8}{:12}{code:12}{count:8}{:>14}{:>14}", calls.method, quantile(0.5), quantile(0.99));
    }
    if address.is_none() {
        println!("\n{} lines for Prometheus", snapshot.prometheus(Some(&stats)).lines().count());
        return Ok(());
    }
    println!("\nhttp://{local}/metrics has it for Prometheus");
    Ok(serving.await??)
}
