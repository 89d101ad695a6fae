//! JSON-RPC 2.0: single bodies of HTTP by [`answer`], and connections that carry nothing else by [`Session`].
//!
//! Where a message ends and what stands in it is told by `json_rpc/framing.rs` and `json_rpc/envelope.rs`, or by
//! `json_rpc/usual.rs` if it is written as an earlier one. The texts of replies are in `json_rpc/reply.rs`, the calls of a connection in `json_rpc/session.rs`, and TCP is in
//! `json_rpc/connection.rs`.

mod connection;
mod discover;
mod envelope;
mod framing;
mod mail;
mod metadata;
mod reply;
mod session;
mod usual;

pub(crate) use session::Session;

use crate::Gateway;
use bytes::Bytes;
use frisbee::RawTransport;
use frpc::{ForeignContext, Metadata};
use std::future::poll_fn;
use std::io;
use std::task::{Poll, ready};

/// Answers one body, which is a request or a batch. `None` if there is nothing to answer, since it has notifications
/// alone.
#[cfg(feature = "http")]
pub(crate) async fn answer(
    gateway: &Gateway,
    context: &ForeignContext,
    metadata: Metadata,
    body: Bytes,
) -> Option<Bytes> {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    session.handle(&body);
    poll_fn(|task| {
        while session.calls() > 0 {
            ready!(session.poll(task));
        }
        Poll::Ready(())
    })
    .await;
    let mut output = std::mem::take(session.output());
    output.pop();
    (!output.is_empty()).then(|| output.into())
}

/// Serves a connection that begins with a JSON-RPC message.
pub(crate) async fn serve(gateway: &Gateway, transport: RawTransport, context: &ForeignContext) -> io::Result<()> {
    connection::serve(gateway, transport, context).await
}
