//! A server and a client that count their calls, with the page for Prometheus on the port of the service.
//!
//! `cargo run --release -p examples --example observed -- 127.0.0.1:8080`, and beside it `curl localhost:8080/metrics`; a
//! Prometheus takes `static_configs: [{targets: ["127.0.0.1:8080"]}]`. Without an address it shows what has been counted
//! and ends.

use examples::quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
use frpc::observe::Counters;
use frpc::{Channel, Request, Response, ResponseStream, Server, Status, Streaming};
use frpc_gateway::{Gateway, Http, ServeGateway};
use std::time::Duration;

struct Arithmetic;

impl Calculator for Arithmetic {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        let value = a.checked_add(b).ok_or_else(|| Status::out_of_range(format!("{a} + {b} is too large")))?;
        Ok(Response::new(Number { value }))
    }

    async fn count_up(&self, request: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        let Range { from, count } = request.into_inner();
        let numbers = (from..from.saturating_add(count.into())).map(|value| Ok(Number { value }));
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers))))
    }

    /// A slow one, for the histogram.
    async fn sum_up(&self, request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        let mut numbers = request.into_inner();
        let mut sum = Sum::default();
        while let Some(number) = numbers.message().await? {
            sum.total += number.value;
            sum.count += 1;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        Ok(Response::new(sum))
    }

    async fn running_sum(
        &self,
        _request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        Err(Status::unimplemented("see the example quickstart"))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counters = Counters::new();
    let address = std::env::args().nth(1);
    let server = Server::builder()
        .counters(&counters)
        .gateway(Gateway::new().http(Http::new().metrics(&counters)))
        .add_service(CalculatorServer::new(Arithmetic))
        .bind(address.as_deref().unwrap_or("127.0.0.1:0"))
        .await?;
    let (local, stats) = (server.local_addr().to_string(), server.stats());
    let serving = tokio::spawn(server.serve());

    let channel = Channel::builder().counters(&counters).calls::<CalculatorClient>().connect(local.as_str()).await?;
    let client = CalculatorClient::new(channel);
    for a in 0..1000 {
        client.add(Terms { a, b: 1 }).await?;
    }
    let failed = client.add(Terms { a: i64::MAX, b: 1 }).await.expect_err("the sum is too large");
    println!("one call failed: {failed}");
    let mut numbers = client.count_up(Range { from: 0, count: 10 }).await?.into_inner();
    while numbers.message().await?.is_some() {}
    client.sum_up(frpc::iter([Number { value: 1 }, Number { value: 2 }])).await?;

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
