//! HTTP: the short path in `http/plain.rs`, and hyper for the rest. The head of a request is read by `http/head.rs`,
//! its fields by `http/fields.rs`; `http/route.rs` finds the method.

pub(crate) mod answer;
pub(crate) mod date;
pub(crate) mod fields;
mod head;
mod plain;
mod route;
pub(crate) mod settings;

use crate::Gateway;
use frisbee::RawTransport;
use frpc::ForeignContext;
use plain::{Left, Plain};
use std::io;

/// Serves a connection that begins with the head of an HTTP request.
pub(crate) async fn serve(gateway: &Gateway, transport: RawTransport, context: &ForeignContext) -> io::Result<()> {
    let Some(http) = &gateway.http else { return Ok(()) };
    let mut plain = Plain::new(gateway, http, context, transport);
    match plain.run().await? {
        Left::Nothing => Ok(()),
        Left::Http1(_) | Left::Http2(_) | Left::Socket(..) => Err(io::ErrorKind::Unsupported.into()),
    }
}
