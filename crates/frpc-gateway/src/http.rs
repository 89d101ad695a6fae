//! HTTP: the short path in `http/plain.rs`, and hyper for the rest. The head of a request is read by `http/head.rs`,
//! its fields by `http/fields.rs`; `http/route.rs` finds the method. Heads that are like earlier ones are recognized by
//! `http/usual.rs`. The calls of the short path are in `http/calls.rs`, and its responses in `http/written.rs`.

pub(crate) mod answer;
mod calls;
pub(crate) mod date;
pub(crate) mod fields;
mod head;
mod plain;
mod rest;
pub(crate) mod route;
pub(crate) mod service;
pub(crate) mod settings;
mod transport;
mod upgrade;
mod usual;
mod written;

use crate::{Gateway, web_socket};
use frisbee::RawTransport;
use frpc::ForeignContext;
use plain::{Left, Plain};
use service::Service;
use std::io;
use std::sync::Arc;
use transport::Rewound;

/// Serves a connection that begins with the head of an HTTP request.
pub(crate) async fn serve(gateway: &Arc<Gateway>, transport: RawTransport, context: &ForeignContext) -> io::Result<()> {
    let Some(http) = &gateway.http else { return Ok(()) };
    let mut plain = Plain::new(gateway, http, context, transport);
    // Each in a box, so that a connection of WebSocket does not keep the room that they have taken.
    let left = Box::pin(plain.run()).await?;
    let transport = plain.into_transport();
    match left {
        Left::Nothing => Ok(()),
        Left::Http1(early) => Box::pin(rest::http1(Service::new(gateway, context), early, transport)).await,
        Left::Http2(early) => Box::pin(rest::http2(Service::new(gateway, context), early, transport)).await,
        Left::Socket(upgrade, metadata, early) => {
            // Messages have times of their own.
            let transport = Rewound::new(early, transport.into_inner());
            web_socket::serve(gateway, upgrade, metadata, transport, context).await
        }
    }
}
