//! Requests with replies for protocols on frisbee, and clients that reconnect.
//!
//! * [`Requester`]: a router that matches replies to requests.
//! * [`ReconnectingClient`]: a client that replaces lost connections.
//! * [`Backoff`]: exponential backoff with jitter.
//!
//! ```
//! use frisbee::{Client, Handlers, Operation, Packet, Server};
//! use frisbee_requests::Requester;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shout = Operation::user(10).expect("operation number should be in the user range");
//! let handlers = Handlers::new().on(shout, |_connection, packet| async move {
//!     Some(Packet::new(packet.id, packet.operation, packet.body.to_ascii_uppercase()))
//! });
//! let server = Server::builder().bind("127.0.0.1:0", handlers).await?;
//! let address = server.local_addr();
//! tokio::spawn(server.serve());
//!
//! let requests = Requester::new();
//! let connection = Client::builder().connect(address, requests.clone()).await?;
//! assert_eq!(requests.call(&connection, shout, "hello").await?.body, "HELLO");
//! # Ok(())
//! # }
//! ```
//!
//! # Features
//!
//! `frpc`: converts [`RequestError`] to frpc's `Status`, so that handlers can use `?`.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod backoff;
mod reconnecting;
mod requester;

pub use backoff::Backoff;
pub use reconnecting::ReconnectingClient;
pub use requester::{PendingReply, RequestError, Requester, RequesterSession};
