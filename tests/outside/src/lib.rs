//! A request/reply protocol on the public API of frisbee.
//!
//! A method is an operation, a request a packet with an id that its caller chooses. The reply has the same id and
//! operation, and a byte in front of its body: 0 for a result, 1 for the text of an error. Each request gets one reply,
//! also a cancelled one, and only the reply frees the id.
//!
//! ```
//! use frisbee::{Client, Operation, Server, bytes::Bytes};
//! use outside::{Caller, Replies, Service};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shout = Operation::user(10).expect("operation number should be in the user range");
//! let service = Service::new(|_method, text: Bytes| async move { Ok(text.to_ascii_uppercase().into()) });
//! let server = Server::builder().bind("127.0.0.1:0", service).await?;
//! let address = server.local_addr();
//! tokio::spawn(server.serve());
//!
//! let caller = Caller::new(Client::builder().connect(address, Replies).await?);
//! assert_eq!(caller.call(shout, "hello").await?, "HELLO");
//! # Ok(())
//! # }
//! ```

mod client;
mod server;

pub use client::{CallError, Caller, Replies, RepliesSession};
pub use server::{Outcome, Service, ServiceSession};

/// First byte of a reply with a result.
const RESULT: u8 = 0;

/// First byte of a reply with an error text.
const ERROR: u8 = 1;
