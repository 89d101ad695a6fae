//! JSON-RPC 2.0: single bodies of HTTP by [`answer`], and connections that carry nothing else by [`Session`].
//!
//! What a message is stands in `json_rpc/envelope.rs`, the texts of replies in `json_rpc/reply.rs`, the calls of a
//! connection in `json_rpc/session.rs`.

mod envelope;
mod reply;
mod session;

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
#[allow(dead_code)] // For HTTP.
pub(crate) async fn answer(
    gateway: &Gateway,
    context: &ForeignContext,
    metadata: Metadata,
    body: Bytes,
) -> Option<Bytes> {
    let mut session = Session::new(gateway, context, metadata);
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
pub(crate) async fn serve(_gateway: &Gateway, _transport: RawTransport, _context: &ForeignContext) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
