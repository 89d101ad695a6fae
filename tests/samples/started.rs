//! A greeting service for examples that are about something else, and a function that starts its server, for the
//! examples in frpc's documentation.

use crate::greet;
use crate::greeter::{Greeter, GreeterServer, Greeting, Name};
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
