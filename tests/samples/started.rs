//! Services that greet and calculate, for tests and for examples that are about something else, and a function that
//! starts a greeting server, for the examples in frpc's documentation.

use crate::greet;
use crate::greeter::{Greeter, GreeterServer, Greeting, Name};
use crate::quickstart::{Calculator, Number, Range, Sum, Terms};
use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};

/// A service that greets callers by name.
#[derive(Clone, Copy, Debug)]
pub struct Polite;

impl Greeter for Polite {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        greeting(&request.into_inner()).map(Response::new)
    }

    async fn greet_all(&self, request: Request<Streaming<Name>>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let mut names = request.into_inner();
        let mut greetings = Vec::new();
        while let Some(name) = names.message().await? {
            greetings.push(greeting(&name));
        }
        Ok(Response::new(ResponseStream::new(frpc::iter(greetings))))
    }
}

impl greet::Greeter for Polite {
    async fn greet(&self, request: Request<greet::Name>) -> Result<Response<greet::Greeting>, Status> {
        let name = Name { name: request.into_inner().name };
        Ok(Response::new(greet::Greeting { text: greeting(&name)?.text }))
    }

    async fn recite(&self, request: Request<greet::Name>) -> Result<Response<ResponseStream<greet::Greeting>>, Status> {
        let name = request.into_inner().name;
        let verses = (1..=3).map(move |n| Ok(greet::Greeting { text: format!("Hello {n}, {name}!") }));
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}

fn greeting(name: &Name) -> Result<Greeting, Status> {
    if name.name.is_empty() {
        return Err(Status::invalid_argument("the name is empty"));
    }
    Ok(Greeting { text: format!("Hello, {}!", name.name) })
}

/// A calculator with methods of every kind.
#[derive(Clone, Copy, Debug)]
pub struct Sums;

impl Calculator for Sums {
    async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
        let Terms { a, b } = request.into_inner();
        Ok(Response::new(Number { value: a.wrapping_add(b) }))
    }

    async fn count_up(&self, request: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        let Range { from, count } = request.into_inner();
        let numbers = (0..i64::from(count)).map(move |n| Ok(Number { value: from + n }));
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers))))
    }

    async fn sum_up(&self, request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        let mut numbers = request.into_inner();
        let mut sum = Sum::default();
        while let Some(Number { value }) = numbers.message().await? {
            sum.total += value;
            sum.count += 1;
        }
        Ok(Response::new(sum))
    }

    async fn running_sum(
        &self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<ResponseStream<Number>>, Status> {
        let mut numbers = request.into_inner();
        let (sender, sums) = ResponseStream::channel(1);
        tokio::spawn(async move {
            let mut total = 0;
            while let Ok(Some(Number { value })) = numbers.message().await {
                total += value;
                if sender.send(Ok(Number { value: total })).await.is_err() {
                    return;
                }
            }
        });
        Ok(Response::new(sums))
    }
}

/// Serves [`Polite`] on a free port of this machine for as long as the runtime lives. Returns the address.
///
/// # Errors
/// If there is no free port.
pub async fn greeter() -> Result<String, frpc::Error> {
    let server = Server::builder().add_service(GreeterServer::new(Polite)).bind("127.0.0.1:0").await?;
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    Ok(address)
}
