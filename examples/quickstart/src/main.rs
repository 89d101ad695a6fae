//! A server and a client in one process: every kind of call, and a measurement of their speed.
//!
//! `cargo run --release -p quickstart`

use frpc::{Request, RequestStream, Response, ResponseStream, Server, Status, Streaming};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Generated from `proto/quickstart.proto`.
mod calculator {
    frpc::include_proto!("quickstart");
}

use calculator::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};

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

    async fn sum_up(&self, request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        let mut numbers = request.into_inner();
        let mut sum = Sum::default();
        while let Some(number) = numbers.message().await? {
            sum.total += number.value;
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn running_sum(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        let mut numbers = request.into_inner();
        let (sums, stream) = ResponseStream::channel(16);
        tokio::spawn(async move {
            let mut value = 0;
            loop {
                match numbers.message().await {
                    Ok(Some(number)) => value += number.value,
                    Ok(None) => return,
                    Err(status) => return drop(sums.send(Err(status)).await),
                }
                if sums.send(Ok(Number { value })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(stream))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    if let Some(argument) = std::env::args().nth(1) {
        return Err(format!("unknown argument {argument:?}; quickstart takes none").into());
    }
    let server = Server::builder().add_service(CalculatorServer::new(Arithmetic)).bind("127.0.0.1:0").await?;
    let address = server.local_addr();
    println!("serving on {address}");
    let (stop, stopped) = oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));

    let client = CalculatorClient::connect(address.to_string()).await?;
    call_each_kind(&client).await?;
    measure(&client).await?;

    drop(client);
    drop(stop);
    serving.await??;
    println!("the server has stopped");
    Ok(())
}

async fn call_each_kind(client: &CalculatorClient) -> Result<(), Status> {
    let sum = client.add(Terms { a: 20, b: 22 }).await?.into_inner();
    println!("unary:             20 + 22 = {}", sum.value);

    let refused = client.add(Terms { a: i64::MAX, b: 1 }).await.unwrap_err();
    println!("unary that fails:  {}", refused.message());

    let mut numbers = client.count_up(Range { from: 1, count: 5 }).await?.into_inner();
    let mut counted = Vec::new();
    while let Some(number) = numbers.message().await? {
        counted.push(number.value);
    }
    println!("server streaming:  counted {counted:?}");

    let terms = frpc::iter((1..=100).map(|value| Number { value }));
    let sum = client.sum_up(terms).await?.into_inner();
    println!("client streaming:  the sum of {} numbers is {}", sum.count, sum.total);

    let (sender, terms) = RequestStream::channel(1);
    let mut sums = client.running_sum(terms).await?.into_inner();
    let mut sums_received = Vec::new();
    for value in [1, 2, 3, 4] {
        sender.send(Number { value }).await?;
        sums_received.extend(sums.message().await?.map(|sum| sum.value));
    }
    drop(sender);
    assert_eq!(sums.message().await?, None);
    println!("both directions:   running sums {sums_received:?}");
    Ok(())
}

/// Makes calls from many tasks over one connection for a second.
async fn measure(client: &CalculatorClient) -> Result<(), Status> {
    const IN_FLIGHT: usize = 64;
    const FOR: Duration = Duration::from_secs(1);
    let started = Instant::now();
    let callers: Vec<_> = (0..IN_FLIGHT)
        .map(|caller| {
            let client = client.clone();
            tokio::spawn(async move {
                let mut latencies = Vec::new();
                while started.elapsed() < FOR {
                    let sent = Instant::now();
                    let a = caller as i64;
                    let sum = client.add(Terms { a, b: 1 }).await?.into_inner();
                    assert_eq!(sum.value, a + 1);
                    latencies.push(sent.elapsed());
                }
                Ok::<_, Status>(latencies)
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for caller in callers {
        latencies.extend(caller.await.expect("caller should not panic")?);
    }
    let elapsed = started.elapsed();
    latencies.sort_unstable();
    let percentile = |percent: usize| latencies[(latencies.len() - 1) * percent / 100].as_micros();
    println!(
        "{:.0} calls per second with {IN_FLIGHT} in flight on one connection, latency p50 {} us, p99 {} us",
        latencies.len() as f64 / elapsed.as_secs_f64(),
        percentile(50),
        percentile(99),
    );
    Ok(())
}
