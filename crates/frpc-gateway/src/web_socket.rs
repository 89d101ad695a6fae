//! WebSocket connections: native frames, or JSON-RPC.
//!
//! The request for the upgrade, and its answer, are in `web_socket/upgrade.rs`. Frames of WebSocket are read in
//! `frame.rs` and written in `sending.rs`, which do no I/O. A connection is served as a transport of native frames by
//! `transport.rs`, which the server drives as any other, or as a sequence of texts by `messages.rs`.

mod client;
mod frame;
mod messages;
mod sending;
mod transport;
mod upgrade;

pub use client::{WebSocket, connect, connect_io};
pub(crate) use upgrade::{Subprotocol, Upgrade, UpgradeRefusal, UpgradeRequest, VERSION};

use crate::Gateway;
use crate::json_rpc::Session;
use frame::{CloseCode, Role};
use frisbee::{CloseReason, ProtocolError};
use frpc::{AdapterContext, Config, Metadata};
use messages::{Echo, JsonRpcMessages};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::{Binary, Ending};

/// Serves a connection whose request for an upgrade has been granted, and reads on after that request. `metadata` is
/// that of all calls in JSON-RPC.
pub(crate) async fn serve<T>(
    gateway: &Gateway,
    upgrade: Upgrade,
    metadata: Metadata,
    transport: T,
    context: &AdapterContext,
) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    match upgrade.subprotocol {
        Subprotocol::Frames => serve_frames(transport, context).await,
        Subprotocol::JsonRpc => {
            let calls = JsonRpcMessages(Session::new(gateway, context, metadata));
            return Box::pin(messages::serve(transport, calls, context.config(), Some(context))).await;
        }
    }
    Ok(())
}

/// Echoes each message of a client, after the handshake: for suites that judge the protocol.
#[doc(hidden)]
pub async fn echo<T>(transport: T, config: &Config) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    messages::serve(transport, Echo, config, None).await
}

/// The answer of a server to the key of a client.
#[doc(hidden)]
pub fn accept(key: &[u8]) -> String {
    upgrade::accept(key)
}

/// Serves native frames.
async fn serve_frames<T>(transport: T, context: &AdapterContext)
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let stops = context.clone();
    let goodbye = move || if stops.is_stopping() { CloseCode::GOING_AWAY } else { CloseCode::NORMAL };
    let (binary, mut back) = Binary::new(transport, Role::Server, Arc::new(goodbye));
    let reason = match context.serve_frames(binary).await {
        // A stop cuts short the time that a client has for its first packet.
        CloseReason::NoFirstHeader if context.is_stopping() => CloseReason::Shutdown,
        reason => reason,
    };
    // It is elsewhere if the connection was handed off.
    if let Ok(wire) = back.try_recv() {
        // In a box, which is made when there is but little more to come.
        Box::pin(wire.close(ending(&reason))).await;
    }
}

/// The close code and reason sent to a client.
fn ending(reason: &CloseReason) -> Ending {
    let code = match reason {
        CloseReason::Shutdown | CloseReason::MaxAge => CloseCode::GOING_AWAY,
        CloseReason::Protocol(ProtocolError::TooLong { .. }) => CloseCode::TOO_LONG,
        CloseReason::Protocol(_) | CloseReason::Truncated => CloseCode::PROTOCOL_ERROR,
        CloseReason::IdleTimeout
        | CloseReason::NoFirstHeader
        | CloseReason::TooSlow
        | CloseReason::WriteTimeout { .. } => CloseCode::POLICY,
        CloseReason::Router(_) => CloseCode::INTERNAL,
        _ => return (CloseCode::NORMAL, String::new()),
    };
    (code, reason.to_string())
}
