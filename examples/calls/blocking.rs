//! A client without async: blocking calls, and iteration over a stream.
//!
//! `cargo run --release -p calls --bin blocking`

use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
use std::sync::mpsc;
use std::thread;

/// Generated from `proto/quickstart.proto`.
mod quickstart {
    frpc::include_proto!("quickstart");
}

struct Arithmetic;

impl Calculator for Arithmetic {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        Ok(Response::new(Number { value: a.wrapping_add(b) }))
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
        _request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        Err(Status::unimplemented("see the example quickstart"))
    }
}

/// Starts the server on a separate thread and returns its address.
fn start_server() -> String {
    let (sender, address) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Runtime::new().expect("runtime should start");
        runtime.block_on(async {
            let server = Server::builder().add_service(CalculatorServer::new(Arithmetic)).bind("127.0.0.1:0").await;
            let server = server.expect("loopback port should be free");
            sender.send(server.local_addr().to_string()).expect("receiver should be waiting");
            server.serve().await
        })
    });
    address.recv().expect("channel should stay open")
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let calculator = frpc::blocking::connect(start_server(), CalculatorClient::new)?;

    let sum = calculator.call(|client| client.add(Terms { a: 20, b: 22 }))?;
    println!("20 + 22 = {}", sum.get_ref().value);

    let numbers = calculator.call(|client| client.count_up(Range { from: 1, count: 5 }))?;
    for number in calculator.messages(numbers.into_inner()) {
        println!("counted {}", number?.value);
    }

    let terms = frpc::iter((1..=100).map(|value| Number { value }));
    let sum = calculator.call(|client| client.sum_up(terms))?.into_inner();
    println!("the sum of {} numbers is {}", sum.count, sum.total);
    Ok(())
}
