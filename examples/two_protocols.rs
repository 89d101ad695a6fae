//! One implementation of a service on two ports: by our own protocol, and by tonic's server for gRPC. The middleware of
//! the one runs around the calls of the other as well.
//!
//! `cargo run --release -p examples --features grpc --example two_protocols`
//!
//! What it takes: the feature `tonic` of frpc and frpc-build, and `.grpc(true)` in build.rs.

use examples::greeter::{self, Greeter, Greeting, Name};
use frpc::tonic::transport::{self, server::TcpIncoming};
use frpc::{Call, CallResponse, Next, Request, Response, ResponseStream, Status, Streaming};
use std::sync::Arc;

struct Polite;

impl Greeter for Polite {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        greeting(&request.into_inner()).map(Response::new)
    }

    async fn greet_all(&self, request: Request<Streaming<Name>>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let mut names = request.into_inner();
        let (sender, greetings) = ResponseStream::channel(4);
        tokio::spawn(async move {
            while let Some(name) = names.message().await.transpose() {
                if sender.send(name.and_then(|name| greeting(&name))).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(greetings))
    }
}

/// Runs around calls of both protocols.
async fn log(call: Call, next: Next) -> Result<CallResponse, Status> {
    println!("{}/{} is called", call.service(), call.method());
    next.run(call).await
}

fn greeting(name: &Name) -> Result<Greeting, Status> {
    if name.name.is_empty() {
        return Err(Status::invalid_argument("whom?"));
    }
    Ok(Greeting { text: format!("Hello, {}!", name.name) })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let service = Arc::new(Polite);

    let ours = greeter::GreeterServer::from_arc(service.clone());
    let builder = frpc::Server::builder().middleware(log).add_service(ours);
    let door = builder.grpc_door()?;
    let ours = builder.bind("127.0.0.1:0").await?;
    let address = ours.local_addr();
    tokio::spawn(ours.serve());

    let grpc = greeter::greeter_server::GreeterServer::new(door.serve_arc(service));
    let incoming = TcpIncoming::bind("127.0.0.1:0".parse()?)?;
    let grpc_address = incoming.local_addr()?;
    tokio::spawn(transport::Server::builder().add_service(grpc).serve_with_incoming(incoming));

    let name = |name: &str| Name { name: name.to_owned() };
    let client = greeter::GreeterClient::connect(address.to_string()).await?;
    println!("frpc: {}", client.greet(name("Ada")).await?.into_inner().text);
    let mut greetings = client.greet_all(frpc::iter(["Grace", "Edith"].map(name))).await?.into_inner();
    while let Some(greeting) = greetings.message().await? {
        println!("frpc: {}", greeting.text);
    }

    let mut client = greeter::greeter_client::GreeterClient::connect(format!("http://{grpc_address}")).await?;
    println!("gRPC: {}", client.greet(name("Ada")).await?.into_inner().text);
    let mut greetings = client.greet_all(frpc::iter(["Grace", "Edith"].map(name))).await?.into_inner();
    while let Some(greeting) = greetings.message().await? {
        println!("gRPC: {}", greeting.text);
    }
    let status = client.greet(name("")).await.unwrap_err();
    println!("gRPC: {:?}, {}", status.code(), status.message());
    Ok(())
}
