//! A guide: one page for each subject, from the first router to the threads that drive connections.

pub mod routers {
    //! Protocols of your own.
    //!
    //! A packet has an id, an operation and a body. A [`Router`](crate::Router) gets the packets of a connection in the
    //! order of the wire, and answers into the outbox, which leaves in one write with the rest of the batch.
    //!
    //! ```
    //! use frisbee::{Client, Connection, Operation, Outbox, Packet, Requester, Routed, Router, Server, TooLong};
    //!
    //! const COUNT: Operation = Operation::user(10).expect("users have 10 and up");
    //!
    //! /// Answers each packet with the number of packets so far.
    //! struct Counter;
    //!
    //! impl Counter {
    //!     fn answer(&self, count: &mut u64, packet: &Packet, outbox: &mut Outbox) -> Result<(), TooLong> {
    //!         *count += 1;
    //!         outbox.push(packet.id, COUNT, count.to_be_bytes())
    //!     }
    //! }
    //!
    //! impl Router for Counter {
    //!     type Session = u64;
    //!
    //!     fn connected(&self, _connection: &Connection) -> u64 {
    //!         0
    //!     }
    //!
    //!     fn route(&self, count: &mut u64, packet: Packet, outbox: &mut Outbox) -> Routed {
    //!         self.answer(count, &packet, outbox).into()
    //!     }
    //! }
    //!
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    //! let server = Server::builder().bind("127.0.0.1:0", Counter).await?;
    //! let address = server.local_addr();
    //! tokio::spawn(server.serve());
    //!
    //! let requests = Requester::new();
    //! let connection = Client::builder().connect(address, requests.clone()).await?;
    //! for expected in 1..=3_u64 {
    //!     let reply = requests.call(&connection, COUNT, "").await?;
    //!     assert_eq!(reply.body, expected.to_be_bytes()[..]);
    //! }
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * The methods of a router must not block. Longer work belongs in [`Connection::spawn`](crate::Connection::spawn).
    //! * [`Handlers`](crate::Handlers) is a router that is a table of async functions, [`Mounts`](crate::Mounts) one that
    //!   is made of others, and [`Requester`](crate::Requester) one that pairs requests with replies.
    //! * State that a peer can grow needs a limit: [`Config`](crate::Config) has those of connections, and
    //!   [`Connection::hold`](crate::Connection::hold) charges memory that a router keeps.
    //! * [`tasks`](crate::tasks) runs handlers in place, or else as tasks that the peer can cancel.
    //! * [`ReconnectingClient`](crate::ReconnectingClient) replaces a lost connection, and
    //!   [`RequestError::was_sent`](crate::RequestError::was_sent) says which requests may be repeated.
    //! * [`Outbox::share`](crate::Outbox::share) encodes a packet once for many connections.
}

pub mod streams {
    //! Sequences of messages among other traffic of a connection.
    //!
    //! ```
    //! use bytes::Bytes;
    //! use frisbee::{Client, Handlers, Server, memory};
    //!
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    //! let handlers = Handlers::new().on_stream(|_first, mut stream| {
    //!     tokio::spawn(async move {
    //!         while let Some(message) = stream.recv().await {
    //!             if stream.send(&message).await.is_err() {
    //!                 return;
    //!             }
    //!         }
    //!     });
    //! });
    //! let acceptor = Server::builder().build(handlers)?;
    //! let (here, there) = memory();
    //! tokio::spawn(async move { acceptor.serve_connection(there).await });
    //!
    //! let connection = Client::builder().connect_io(here, Handlers::new()).await?;
    //! let mut stream = connection.open_stream(&Bytes::from_static(b"echo")).await?;
    //! stream.send(&Bytes::from_static(b"hello")).await?;
    //! assert_eq!(stream.recv().await.as_deref(), Some(&b"hello"[..]));
    //! stream.end();
    //! assert_eq!(stream.recv().await, None);
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * Between native peers a sender waits while its receiver does not read; [`try_send`](crate::Stream::try_send)
    //!   fails instead. Each direction ends for itself.
    //! * [`how_ended`](crate::Stream::how_ended) distinguishes an orderly end from a reset or a lost connection.
    //! * [`into_io`](crate::Stream::into_io) makes bytes of a stream, for another protocol inside.
}

pub mod hand_off {
    //! Giving the connection to another protocol.
    //!
    //! ```
    //! use bytes::Bytes;
    //! use frisbee::{Client, Connection, HandOffRequest, Handlers, Operation, Outbox, Packet, Routed, Protocol, Server};
    //! use frisbee::{HandOffTarget, memory};
    //! use tokio::io::{AsyncReadExt, AsyncWriteExt};
    //!
    //! const ECHO: Operation = Operation::user(10).expect("users have 10 and up");
    //!
    //! struct Door;
    //!
    //! impl Protocol for Door {
    //!     type Session = ();
    //!
    //!     fn connected(&self, _connection: &Connection) {}
    //!
    //!     fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
    //!         Routed::Useless
    //!     }
    //!
    //!     fn hand_off(&self, (): &mut (), asked: HandOffRequest) -> Routed {
    //!         asked.accept("yours", HandOffTarget::new(async |raw| {
    //!             let (mut read, mut write) = tokio::io::split(raw);
    //!             tokio::io::copy(&mut read, &mut write).await.ok();
    //!         }));
    //!         Routed::Continue
    //!     }
    //! }
    //!
    //! # #[tokio::main(flavor = "current_thread")]
    //! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    //! let acceptor = Server::builder().build(Door)?;
    //! let (here, there) = memory();
    //! tokio::spawn(async move { acceptor.serve_connection(there).await });
    //!
    //! let connection = Client::builder().connect_io(here, Handlers::new()).await?;
    //! connection.peer_known().await?;
    //! let mut raw = connection.hand_off(ECHO, Bytes::new()).await?.transport;
    //! raw.write_all(b"no packet").await?;
    //! let mut echoed = [0; 9];
    //! raw.read_exact(&mut echoed).await?;
    //! assert_eq!(&echoed, b"no packet");
    //! # Ok(())
    //! # }
    //! ```
    //!
    //! * Only the dialling end requests it, and only while no stream is open and no work runs. If the peer refuses, the
    //!   connection continues.
    //! * No byte is lost: bytes read ahead are read first from the [`RawTransport`](crate::RawTransport).
    //! * For peers that do not know the request, there are [`Routed::HandOff`](crate::Routed::HandOff) and
    //!   [`Connection::into_transport`](crate::Connection::into_transport).
}

pub mod runtimes {
    //! The threads that drive connections.
    //!
    //! ```no_run
    //! use frisbee::{Handlers, IoBackend, Server, Workers};
    //!
    //! # async fn example() -> Result<(), frisbee::Error> {
    //! let server = Server::builder()
    //!     .workers(Workers::Threads(4))
    //!     .io_backend(IoBackend::Tokio)
    //!     .bind("0.0.0.0:9090", Handlers::new())
    //!     .await?;
    //! server.serve().await
    //! # }
    //! ```
    //!
    //! * A server has by default one thread for each core, each with its own runtime, so that busy
    //!   connections do not starve their neighbours. A client is driven by the runtime that connects.
    //! * Handlers run on the thread of their connection, but their spawned tasks, timers and sockets belong to the
    //!   runtime in which the server was started.
    //! * With the feature `uring`, threads with an io_uring drive connections where it works and is cheaper. The variable
    //!   `FRISBEE_IO_BACKEND` has the last word.
}
