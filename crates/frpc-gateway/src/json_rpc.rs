//! JSON-RPC 2.0 over a transport that carries nothing else.

use crate::Gateway;
use frisbee::RawTransport;
use frpc::ForeignContext;
use std::io;

/// Serves a connection that begins with a JSON-RPC message.
pub(crate) async fn serve(_gateway: &Gateway, _transport: RawTransport, _context: &ForeignContext) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
