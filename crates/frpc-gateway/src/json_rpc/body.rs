//! JSON-RPC messages in single HTTP bodies.

use super::session::Session;
use crate::Gateway;
use bytes::Bytes;
use frpc::{AdapterContext, Metadata};

/// Handles an HTTP body with one JSON-RPC request or a batch. Returns `None` if it contains only notifications, which
/// have no reply.
pub(crate) async fn answer(
    gateway: &Gateway,
    context: &AdapterContext,
    metadata: Metadata,
    body: Bytes,
) -> Option<Bytes> {
    let mut session = Session::new(gateway, context, metadata).without_notices();
    session.handle(&body);
    // Free the body before waiting for the calls, because it is no longer charged.
    drop(body);
    complete(&mut session).await
}

/// Waits for the calls of a session. Returns their replies, or `None` if there are none.
pub(crate) async fn complete(session: &mut Session) -> Option<Bytes> {
    session.finish().await;
    let mut output = std::mem::take(session.output());
    session.charge_output();
    output.pop();
    (!output.is_empty()).then(|| output.into())
}
