//! WebSocket connections: native frames, or JSON-RPC.

use crate::Gateway;
use frisbee::RawTransport;
use frpc::ForeignContext;
use std::io;

/// Serves a connection whose request for an upgrade has been read.
pub(crate) async fn serve(_gateway: &Gateway, _transport: RawTransport, _context: &ForeignContext) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
