//! HTTP: which of its doors a request has come to.

use crate::{Gateway, web_socket};
use frisbee::RawTransport;
use frpc::ForeignContext;
use std::io;

/// Serves a connection that begins with the head of an HTTP request.
pub(crate) async fn serve(gateway: &Gateway, transport: RawTransport, context: &ForeignContext) -> io::Result<()> {
    web_socket::serve(gateway, transport, context).await
}
