//! A custom protocol and a generated service on one port and one connection: a key-value store with watches. `store.rs`
//! implements the protocol.
//!
//! `cargo run --release -p protocols --bin kv_watch`

#[allow(dead_code, unreachable_pub)]
mod store;

use frpc::{Channel, Request, Response, ResponseStream, Server, Status, Streaming};
use quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
use store::{Client, OPERATIONS, Store};

/// Generated from `proto/quickstart.proto`.
mod quickstart {
    frpc::include_proto!("quickstart");
}

/// The service offered together with the store.
struct Adder;

impl Calculator for Adder {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        Ok(Response::new(Number { value: a.wrapping_add(b) }))
    }

    async fn count_up(&self, _request: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        Err(Status::unimplemented("see the example quickstart"))
    }

    async fn sum_up(&self, _request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        Err(Status::unimplemented("see the example quickstart"))
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
    let server = Server::builder().add_service(CalculatorServer::new(Adder)).mount(OPERATIONS, Store::default());
    let server = server.bind("127.0.0.1:0").await?;
    let address = server.local_addr();
    tokio::spawn(server.serve());

    let store = Client::default();
    let channel = Channel::builder().mount(OPERATIONS, store.router()).connect(address.to_string()).await?;
    let connection = channel.connection().ok_or("the connection has ended")?;
    let calculator = CalculatorClient::new(channel);

    let mut weather = store.watch(&connection, "weather").await?;
    println!("the weather was {:?}", weather.recv().await.ok_or("the watch has ended")?);
    for value in ["rain", "sun"] {
        store.put(&connection, "weather", value).await?;
        println!("the weather is now {:?}", weather.recv().await.ok_or("the watch has ended")?);
    }
    println!("stored: {:?}", store.get(&connection, "weather").await?);

    let sum = calculator.add(Terms { a: 20, b: 22 }).await?;
    println!("on the same connection: 20 + 22 = {}", sum.get_ref().value);
    Ok(())
}
