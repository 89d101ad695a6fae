//! A guide: one page for each subject, from the first service to operating it.
//!
//! The examples use the schema of the example `quickstart`, a calculator with one method of each kind:
//!
//! ```proto
//! service Calculator {
//!   rpc Add(Terms) returns (Number);
//!   rpc CountUp(Range) returns (stream Number);
//!   rpc SumUp(stream Number) returns (Sum);
//!   rpc RunningSum(stream Number) returns (stream Number);
//! }
//! ```
//!
//! Begin with [`services`]. [`streams`], [`errors`] and [`deadlines`] are about calls, [`middleware`] is about what runs
//! around them, [`tls`] and [`hand_off`] are about connections, and [`operations`] is about servers in production.

pub mod services {
    //! Implementing a service, serving it, and calling it.
    //!
    //! `frpc-build` generates a trait, a server and a client of each service in a build script:
    //! `frpc_build::compile_protos("proto/quickstart.proto")?`. [`include_proto!`](crate::include_proto) includes the
    //! code.
    //!
    //! ```
    //! use samples::quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
    //! use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
    //!
    //! struct Arithmetic;
    //!
    //! impl Calculator for Arithmetic {
    //!     async fn add(&self, request: Request<Terms>) -> Result<Response<Number>, Status> {
    //!         let Terms { a, b } = request.into_inner();
    //!         let value = a.checked_add(b).ok_or_else(|| Status::out_of_range("the sum is too large"))?;
    //!         Ok(Response::new(Number { value }))
    //!     }
    //! #   async fn count_up(&self, _: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
    //! #       Err(Status::unimplemented(""))
    //! #   }
    //! #   async fn sum_up(&self, _: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
    //! #       Err(Status::unimplemented(""))
    //! #   }
    //! #   async fn running_sum(
    //! #       &self,
    //! #       _: Request<Streaming<Number>>,
    //! #   ) -> Result<Response<ResponseStream<Number>>, Status> {
    //! #       Err(Status::unimplemented(""))
    //! #   }
    //!     // And the other methods of the service.
    //! }
    //!
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    //! let server = Server::builder().add_service(CalculatorServer::new(Arithmetic)).bind("127.0.0.1:0").await?;
    //! let address = server.local_addr().to_string();
    //! tokio::spawn(server.serve());
    //!
    //! let client = CalculatorClient::connect(address).await?;
    //! let sum = client.add(Terms { a: 20, b: 22 }).await?;
    //! assert_eq!(sum.get_ref().value, 42);
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * A handler runs on the connection's own thread, so it must not block. A [`Policy`](crate::Policy) moves handlers
    //!   to tasks of your runtime, or bounds how many run at once.
    //! * A client is a cheap clone, and all clones share one connection, which carries any number of calls. A connection
    //!   that is lost is replaced when the next call needs it. [`Channel`](crate::Channel) has the settings.
    //! * Several services are added one after the other; protocols of your own are
    //!   [mounted](crate::ServerBuilder::mount) next to them.
}

pub mod streams {
    //! Calls that stream, in one direction or both.
    //!
    //! A handler replies with a [`ResponseStream`](crate::ResponseStream) and reads a [`Streaming`](crate::Streaming); a
    //! client sends anything that is a stream and reads a `Streaming`.
    //!
    //! ```no_run
    //! use samples::quickstart::{CalculatorClient, Number, Range};
    //! use frpc::{RequestStream, Response, ResponseStream, Status};
    //!
    //! // In a handler: everything is known, or a task feeds the stream.
    //! fn known(range: Range) -> Response<ResponseStream<Number>> {
    //!     let numbers = (range.from..).take(range.count as usize).map(|value| Ok(Number { value }));
    //!     Response::new(ResponseStream::new(frpc::iter(numbers)))
    //! }
    //!
    //! fn fed() -> Response<ResponseStream<Number>> {
    //!     let (sender, stream) = ResponseStream::channel(16);
    //!     tokio::spawn(async move {
    //!         // An error means that the caller is gone.
    //!         while sender.send(Ok(Number { value: 7 })).await.is_ok() {}
    //!     });
    //!     Response::new(stream)
    //! }
    //!
    //! async fn call(client: CalculatorClient) -> Result<(), Status> {
    //!     let mut numbers = client.count_up(Range { from: 1, count: 5 }).await?.into_inner();
    //!     while let Some(number) = numbers.message().await? {
    //!         println!("{}", number.value);
    //!     }
    //!
    //!     let terms = frpc::iter((1..=100).map(|value| Number { value }));
    //!     println!("{}", client.sum_up(terms).await?.get_ref().total);
    //!
    //!     let (sender, terms) = RequestStream::channel(1);
    //!     let mut sums = client.running_sum(terms).await?.into_inner();
    //!     sender.send(Number { value: 1 }).await?;
    //!     println!("{:?}", sums.message().await?);
    //!     Ok(())
    //! }
    //! ```
    //!
    //! * A sender waits when its receiver does not read: `stream_credit` of [`Config`](crate::Config) bounds messages in
    //!   flight. [`try_send`](crate::ResponseSender::try_send) does not wait and returns the message.
    //! * Dropping a stream at the client cancels the call. A handler learns that by an error of `send` or by
    //!   [`closed`](crate::ResponseSender::closed).
    //! * `Ok(None)` of [`message`](crate::Streaming::message) is the orderly end, and an error is the status of the call.
    //!   [`message_over`](crate::Streaming::message_over) reads short messages into the memory of one, without allocations.
}

pub mod errors {
    //! The status of a failed call, and its meaning for retries.
    //!
    //! ```
    //! use frpc::{Code, Status};
    //!
    //! fn find(name: &str) -> Result<u32, Status> {
    //!     match name {
    //!         "ada" => Ok(36),
    //!         "" => Err(Status::invalid_argument("the name is empty")),
    //!         _ => Err(Status::not_found(format!("nobody is called {name}"))),
    //!     }
    //! }
    //!
    //! let status = find("bob").expect_err("there is only one");
    //! assert_eq!(status.code(), Code::NotFound);
    //! assert_eq!(status.message(), "nobody is called bob");
    //! ```
    //!
    //! * A handler fails with a [`Status`](crate::Status), whose codes are those of gRPC. A panic of a handler is an
    //!   `Internal` for its caller, and the connection lives.
    //! * frpc itself fails calls with `Unavailable` when there is no connection or it is lost, `DeadlineExceeded`,
    //!   `Cancelled`, and `ResourceExhausted` when a limit is reached.
    //! * [`Status::may_have_run`](crate::Status::may_have_run) says whether the handler may have been called. If not, the
    //!   call can be repeated with any side effects. Methods that the schema declares idempotent are retried by the
    //!   channel.
    //! * What cannot be served or connected is an [`Error`](crate::Error), which `main` may return.
}

pub mod deadlines {
    //! How long a call may take.
    //!
    //! ```no_run
    //! use samples::quickstart::{CalculatorClient, Terms};
    //! use frpc::{Channel, Code, Request};
    //! use std::time::Duration;
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! // For all calls of a channel, 30 s by default,
    //! let channel = Channel::builder().timeout(Duration::from_secs(5)).connect("localhost:9090").await?;
    //! let client = CalculatorClient::new(channel);
    //! // and for one call.
    //! let mut request = Request::new(Terms { a: 20, b: 22 });
    //! request.set_timeout(Duration::from_millis(50));
    //! match client.add(request).await {
    //!     Err(status) if status.code() == Code::DeadlineExceeded => println!("too late"),
    //!     other => println!("{}", other?.get_ref().value),
    //! }
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * A timeout that is set travels with the call: the server drops the handler when it passes. In a handler,
    //!   [`Request::timeout`](crate::Request::timeout) is the rest of it. The default of 30 s is not sent.
    //! * Dropping the future of a call cancels it, at the server as well.
    //! * Calls with streams may take that long to be opened; the streams last as long as they like unless the request has
    //!   a timeout.
}

pub mod middleware {
    //! What runs around the calls of a server or a channel.
    //!
    //! ```
    //! use frpc::{Call, CallResponse, Middleware, Next, Status};
    //!
    //! struct Authenticated;
    //!
    //! impl Middleware for Authenticated {
    //!     async fn call(&self, mut call: Call, next: Next) -> Result<CallResponse, Status> {
    //!         let token = call.metadata().get("authorization");
    //!         if token != Some("Bearer letmein") {
    //!             return Err(Status::unauthenticated("a token is required"));
    //!         }
    //!         call.extensions_mut().insert("ada");
    //!         next.run(call).await
    //!     }
    //! }
    //!
    //! let server = frpc::Server::builder().middleware(Authenticated);
    //! ```
    //!
    //! * The first that is added is the outermost. Each sees the method and the metadata of both directions, and no
    //!   messages.
    //! * Values in [`extensions`](crate::Request::extensions) reach the handler and never leave the process.
    //! * It also runs around calls that request the connection; see [`hand_off`](super::hand_off).
    //! * With the feature `tower`, layers of tower are middleware.
}

pub mod tls {
    //! Encrypted connections, with certificates at one end or both: the feature `tls`.
    //!
    #![cfg_attr(feature = "tls", doc = "```no_run")]
    #![cfg_attr(not(feature = "tls"), doc = "```text")]
    //! use frpc::tls::{Authorities, ClientTls, Identity, ServerTls};
    //! use frpc::{Channel, Server};
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let identity = Identity::from_pem(&std::fs::read("server.pem")?, &std::fs::read("server.key")?)?;
    //! let server = Server::builder().tls(ServerTls::new(identity)?).bind("0.0.0.0:8443").await?;
    //!
    //! let trusted = Authorities::from_pem(&std::fs::read("authority.pem")?)?;
    //! let channel = Channel::builder().tls(ClientTls::new(trusted)?).connect("service.example:8443").await?;
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * `ServerTls::mutual` requires a certificate of the client, and `ClientTls::with_identity` shows one.
    //! * `reload` presents another certificate from then on; open connections continue.
    //! * The certificate has to be for the host of the address, or for the name that `server_name` sets.
}

pub mod hand_off {
    //! Taking the connection for another protocol after some calls.
    //!
    //! The server names the methods that may do so by [`method_hand_off`](crate::ServerBuilder::method_hand_off), and
    //! the handler decides each time. The client calls the method through a channel that requests the connection:
    //!
    //! ```no_run
    //! use samples::gateway::{GatewayClient, Target};
    //! use frpc::Channel;
    //! use tokio::io::{AsyncReadExt, AsyncWriteExt};
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let channel = Channel::connect("gateway.example:7000").await?;
    //! let (asking, handed) = channel.handing_off();
    //! GatewayClient::new(asking).open(Target { name: "echo".into() }).await?;
    //! let mut raw = handed.take().ok_or("the gateway keeps its connection")?;
    //! raw.write_all(b"no packets any more").await?;
    //! let first = raw.read_u8().await?;
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! If the handler fails or does not accept, the connection continues and the client has the reply of an ordinary
    //! call. No byte is lost: bytes read ahead are read first. See [`frpc::hand_off`](crate::hand_off).
}

pub mod operations {
    //! Running a server: limits, counts, logs and shutting down.
    //!
    //! ```no_run
    //! use frpc::{Server, ServerSettings};
    //! use std::time::Duration;
    //!
    //! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    //! let mut settings = ServerSettings::default(); // Or from a file, with the feature `serde`.
    //! settings.memory_max = 512 << 20;
    //! let server = Server::builder()
    //!     .shutdown_timeout(Duration::from_secs(10))
    //!     .settings(&settings)?
    //!     .log_settings(true)
    //!     .bind("0.0.0.0:9090")
    //!     .await?;
    //! let stats = server.stats();
    //! tokio::spawn(async move {
    //!     loop {
    //!         tokio::time::sleep(Duration::from_secs(60)).await;
    //!         println!("{stats:?}");
    //!     }
    //! });
    //! let stop = async { tokio::time::sleep(Duration::from_secs(3600)).await };
    //! server.serve_with_shutdown(stop).await?;
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * [`ServerSettings`](crate::ServerSettings) has the limits and times of a server; the feature `serde` reads them
    //!   from a file. `describe` of a builder returns those in effect.
    //! * [`Stats`](crate::Stats) counts connections by their outcome, and requests that were refused for lack of
    //!   memory.
    //! * [`observe`](crate::observe) counts calls by method and code, with histograms, and has text for Prometheus.
    //! * A shutdown accepts no more, finishes the calls in progress, and closes the rest after `shutdown_timeout`.
    //! * Everything is logged by `tracing`: errors of peers as warnings, at most one a second for each address and kind.
}
