//! The service. `src/main.rs` serves it, `src/bin/client.rs` calls it.

use frpc::{Request, Response, ResponseStream, Status};

/// The code generated from `proto/greet.proto`.
pub mod greet {
    frpc::include_proto!("greet");
}

use greet::{Greeter, Greeting, Name};

/// The implementation of `greet.Greeter`.
pub struct Service;

impl Greeter for Service {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let name = request.into_inner().name;
        if name.is_empty() {
            return Err(Status::invalid_argument("the name is empty"));
        }
        Ok(Response::new(Greeting { text: format!("Hello, {name}!") }))
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let name = request.into_inner().name;
        let verses = (1..=3).map(move |verse| Ok(Greeting { text: format!("Hello {verse}, {name}!") }));
        Ok(Response::new(ResponseStream::new(frpc::iter(verses))))
    }
}
