//! WebSocket connections with native frames or JSON-RPC.
//!
//! `web_socket/upgrade.rs` contains the upgrade request and its response. `frame.rs` decodes and `sending.rs` encodes
//! WebSocket frames, both without I/O. A connection is either a transport of native frames that the server drives
//! (`transport.rs`), or a sequence of text messages (`messages.rs`).

mod client;
mod frame;
mod messages;
mod sending;
mod transport;
mod upgrade;

pub use client::{connect, connect_io};
pub use transport::WebSocket;
pub(crate) use upgrade::{Subprotocol, Upgrade};

use crate::Gateway;
use crate::json_rpc::Session;
use bytes::BytesMut;
use frame::{CloseCode, Role};
use frisbee::{CloseReason, ProtocolError, RawTransport};
use frpc::{AdapterContext, Config, Metadata};
use messages::{Echo, JsonRpcMessages};
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use transport::Ending;

/// Serves a connection after its WebSocket handshake. `metadata` is added to all JSON-RPC calls, and `early` contains
/// bytes that were already read from the transport.
pub(crate) async fn serve(
    gateway: &Gateway,
    (upgrade, metadata): (Upgrade, Metadata),
    (early, transport): (BytesMut, RawTransport),
    context: &AdapterContext,
) -> io::Result<()> {
    match upgrade.subprotocol {
        Subprotocol::Frames => serve_frames(early, transport, context).await,
        Subprotocol::JsonRpc => {
            let calls = JsonRpcMessages(Session::new(gateway, context, metadata));
            return Box::pin(messages::serve(early, transport, calls, context.config(), Some(context))).await;
        }
    }
    Ok(())
}

/// Echoes each message of the client on a transport after its WebSocket handshake, for protocol test suites.
#[doc(hidden)]
pub async fn echo<T>(transport: T, config: &Config) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
{
    messages::serve(BytesMut::new(), transport, Echo, config, None).await
}

/// Returns the value of `sec-websocket-accept` for a client's `sec-websocket-key`.
#[doc(hidden)]
pub fn accept(key: &[u8]) -> String {
    upgrade::accept(key)
}

/// Serves a WebSocket connection that carries native frames in binary messages.
async fn serve_frames(early: BytesMut, transport: RawTransport, context: &AdapterContext) {
    let stops = context.clone();
    let goodbye = move || if stops.is_stopping() { CloseCode::GOING_AWAY } else { CloseCode::NORMAL };
    let (binary, mut back) = WebSocket::new(early, transport, Role::Server, Arc::new(goodbye));
    let reason = match context.serve_frames(binary).await {
        // The wait for the first packet ended because the server is stopping.
        CloseReason::NoFirstHeader if context.is_stopping() => CloseReason::Shutdown,
        reason => reason,
    };
    // The transport is not returned if the connection was handed off.
    if let Ok(wire) = back.try_recv() {
        // Boxed to keep this future small, because closing happens only once per connection.
        Box::pin(wire.close(ending(&reason))).await;
    }
}

/// Converts the reason why a connection was closed to a WebSocket close code and a text for the client.
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
