//! WebSocket connections: native frames, or JSON-RPC.

use crate::Gateway;
use frpc::{ForeignContext, Metadata};
use std::io;
use tokio::io::{AsyncRead, AsyncWrite};

/// A request for WebSocket that was let in: its version is 13, and pages of its origin may call.
#[derive(Debug)]
#[allow(dead_code)] // Until it is served.
pub(crate) struct Upgrade {
    /// The value of `sec-websocket-key`.
    pub(crate) key: String,
    /// The subprotocols that the client offers, in its order of preference.
    pub(crate) protocols: Vec<String>,
    pub(crate) metadata: Metadata,
}

/// Whether the door is open.
pub(crate) fn is_open(_gateway: &Gateway) -> bool {
    false
}

/// Serves a connection whose request for an upgrade has been read; its answer is written here.
pub(crate) async fn serve(
    _gateway: &Gateway,
    _upgrade: Upgrade,
    _transport: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    _context: &ForeignContext,
) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
