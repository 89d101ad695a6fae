//! Inline execution of handlers. Pending handlers become tasks of their connection.
//!
//! Most handlers are ready at their first poll. An [`InlineSlot`] polls them inside
//! [`Router::route`](crate::Router::route), without a task or an allocation. A pending handler leaves the slot, and
//! [`ConnectionExt::spawn_call`] runs it as a task of its connection. The task counts towards
//! [`calls_max`](ConnectionExt::calls_max), and its memory is charged. The peer can cancel the task, and it ends with
//! the connection.
//!
//! This is a complete request/reply protocol:
//!
//! ```
//! use frisbee::rpc::{ConnectionExt, InlineSlot, Placement, FirstPoll, Task, Continuation, UnwindResult};
//! use frisbee::{Connection, Operation, Outbox, Packet, PacketId, Routed, Router, body_memory, bytes::Bytes, tlv};
//!
//! /// Replies to each packet with the result of a handler.
//! struct Unary<H>(H);
//!
//! impl<H, F> Router for Unary<H>
//! where
//!     H: Fn(Bytes) -> F + Send + Sync + 'static,
//!     F: Future<Output = Bytes> + Send + 'static,
//! {
//!     type Session = (Connection, InlineSlot<F, Reply>);
//!
//!     fn connected(&self, connection: &Connection) -> Self::Session {
//!         (connection.clone(), InlineSlot::default())
//!     }
//!
//!     fn route(&self, (connection, slot): &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
//!         let Packet { id, operation, body } = packet;
//!         let memory = body_memory(body.len());
//!         match slot.poll(|| (self.0)(body)) {
//!             FirstPoll::Ready(reply) => outbox.push(id, operation, reply).into(),
//!             FirstPoll::Panicked(_) => Routed::close("a handler panicked"),
//!             FirstPoll::Pending(parked) => {
//!                 let reply = |task| parked.then(Reply { task, id, operation });
//!                 if connection.spawn_call(Some((id, operation)), memory, Placement::Runtime, reply) {
//!                     Routed::Continue
//!                 } else {
//!                     outbox.push(id, operation, "too many calls").into()
//!                 }
//!             }
//!         }
//!     }
//!
//!     /// The body of a CANCEL names the operation of the call.
//!     fn cancelled(&self, (connection, _): &mut Self::Session, id: PacketId, body: Bytes, _outbox: &mut Outbox) {
//!         let operation = tlv::whole_varint(&body).and_then(|number| Operation::user(number.try_into().ok()?));
//!         if let Some(operation) = operation {
//!             connection.cancel_call(id, operation);
//!         }
//!     }
//! }
//!
//! /// The reply of a handler that had to wait.
//! struct Reply {
//!     task: Task,
//!     id: PacketId,
//!     operation: Operation,
//! }
//!
//! impl Continuation<Bytes> for Reply {
//!     fn then(self, worked: UnwindResult<Bytes>) {
//!         let Self { task, id, operation } = self;
//!         let reply = worked.unwrap_or_else(|_panic| "failed".into());
//!         let _ = task.answer(|outbox| drop(outbox.push(id, operation, reply)));
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let shout = Unary(|text: Bytes| async move {
//!     if text.len() > 5 {
//!         tokio::task::yield_now().await;
//!     }
//!     Bytes::from(text.to_ascii_uppercase())
//! });
//! let server = frisbee::Server::builder().bind("127.0.0.1:0", shout).await?;
//! # let address = server.local_addr();
//! # tokio::spawn(server.serve());
//! # let requests = frisbee_requests::Requester::new();
//! # let connection = frisbee::Client::builder().connect(address, requests.clone()).await?;
//! # for (text, reply) in [("hello", "HELLO"), ("a longer text", "A LONGER TEXT")] {
//! #     assert_eq!(requests.call(&connection, Operation::FIRST_USER, text).await?.body, reply);
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! A router with short handlers has an [`InlinePermission`] per operation. When a handler blocks its thread, its
//! operation loses the permission. Handlers of the operation then run in tasks from the start ([`InlineSlot::park`])
//! until they are tried inline again.

pub use crate::account::network;
pub use crate::connection::blocked::note_panic;
pub use crate::connection::{ConnectionExt, Task};
pub use crate::executor::inline::{Continuation, FirstPoll, InlineSlot, ParkedFuture, UnwindResult, panic_text};
pub use crate::executor::inline_permission::{InlinePermission, PENALTY_MAX, PENALTY_MIN, Penalty, PermissionHandle};
pub use crate::executor::tasks::{Job, Placement};
pub use crate::shares::CallShares;
pub use crate::sync::{wake_all, with_guarded_waker};
