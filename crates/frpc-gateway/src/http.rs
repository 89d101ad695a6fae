//! HTTP/1.1 and HTTP/2. `http/fast_path.rs` handles simple HTTP/1.1 requests, with the calls of `http/calls.rs` and the
//! responses of `http/written.rs`. hyper serves all other HTTP/1.1 requests: `http/http1.rs` drives its connections,
//! and `http/guard.rs` validates request heads before hyper reads them. `http/http2.rs` drives HTTP/2 connections.
//! `http/service.rs` handles the requests of both versions. `http/head.rs` parses HTTP/1.1 heads, `http/fields.rs`
//! parses header fields, and `http/route.rs` finds the method of a path.

pub(crate) mod answer;
mod calls;
mod date;
pub(crate) mod exchange;
mod fast_path;
pub(crate) mod fields;
mod guard;
mod half_close;
pub(crate) mod head;
mod http1;
pub(crate) mod http2;
#[cfg(feature = "metrics")]
mod metrics;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod settings;
mod upgrade;
mod written;

use crate::charge::IdleMemory;
use crate::{Gateway, web_socket};
use fast_path::{FastPath, Handover};
use frisbee::RawTransport;
use frpc::AdapterContext;
use service::Service;
use std::error::Error as _;
use std::io;
use std::sync::Arc;

/// Serves a connection that starts with the head of an HTTP request.
pub(crate) async fn serve(gateway: &Arc<Gateway>, transport: RawTransport, context: &AdapterContext) -> io::Result<()> {
    let Some(http) = &gateway.http else { return Ok(()) };
    let charge = IdleMemory::HTTP1.charge(context)?;
    let mut fast_path = FastPath::new(gateway, http, context, transport);
    // Box the futures, so that a connection upgraded to WebSocket does not keep their memory.
    let handover = Box::pin(fast_path.run()).await?;
    let transport = fast_path.into_transport();
    let service = Service::new(gateway, context);
    drop(charge);
    match handover {
        Handover::Nothing => Ok(()),
        Handover::Http2(early) => {
            let _charge = IdleMemory::HTTP2.charge(context)?;
            Box::pin(http2::serve(service, early, transport.into_inner())).await
        }
        Handover::Http1(early) => {
            let charge = IdleMemory::HYPER.charge(context)?;
            match Box::pin(http1::serve(service, gateway.idle_timeout, early, transport)).await? {
                Some(((upgrade, metadata, context), early, transport)) => {
                    drop(charge);
                    let _charge = IdleMemory::WEB_SOCKET.with_metadata(&metadata).charge(&context)?;
                    web_socket::serve(gateway, (upgrade, metadata), (early, transport), &context).await
                }
                None => Ok(()),
            }
        }
    }
}

/// Converts hyper's error at the end of a connection to the result of serving the connection. The result is only
/// logged.
fn ended(error: &hyper::Error) -> io::Result<()> {
    if let Some(error) = error.source().and_then(|source| source.downcast_ref::<io::Error>()) {
        return Err(io::Error::new(error.kind(), error.to_string()));
    }
    let kind = if error.is_parse() { io::ErrorKind::InvalidData } else { io::ErrorKind::ConnectionAborted };
    Err(io::Error::new(kind, error.to_string()))
}
