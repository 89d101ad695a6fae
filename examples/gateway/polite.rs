//! A greeter service for examples about other topics.

use crate::greet::{Greeter, Greeting, Name};
use frpc::{Request, Response, ResponseStream, Status};

/// Greets by name.
pub(crate) struct Polite;

impl Greeter for Polite {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner().name;
        if name.is_empty() {
            return Err(Status::invalid_argument("the name is empty"));
        }
        Ok(Response::new(Greeting { text: format!("Hello, {name}!") }))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let name = request.into_inner().name;
        let verses = (1..=3).map(move |n| Ok(Greeting { text: format!("Hello {n}, {name}!") }));
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}
