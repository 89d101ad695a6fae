//! A request/reply protocol on frisbee's public API, as a baseline for frpc.

use super::{Client, Rival, Setup};
use crate::BoxError;
use crate::background::Bound;
use crate::text::Text;
use bytes::Bytes;
use frisbee::{IoBackend, Operation, Server, ServerBuilder, Workers};
use outside::{Caller, Replies, Service};
use std::net::SocketAddr;

const ECHO: Operation = Operation::FIRST_USER;

/// The protocol of `tests/outside`, with one thread per core.
#[derive(Debug)]
pub struct Outside;

impl Rival for Outside {
    const NAME: &'static str = "frisbee-rpc";
    type Client = Caller;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve_with(setup, Server::builder().workers(Workers::PerCore).io_backend(IoBackend::Tokio), bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Caller, BoxError> {
        Ok(Caller::new(frisbee::Client::builder().connect(address, Replies).await?))
    }
}

/// Serves on a free port of the loopback.
///
/// # Errors
/// If the server cannot be started.
pub async fn serve_with(setup: Setup, server: ServerBuilder, bound: Bound) -> Result<(), BoxError> {
    let echo = move |_method, text: Bytes| async move {
        setup.pause().await;
        // The contestants' messages own their text.
        let text = String::from_utf8(text.into()).map_err(|error| error.to_string())?;
        Ok(text.into())
    };
    let server = server.bind("127.0.0.1:0", Service::new(echo)).await?;
    bound.at(server.local_addr());
    Ok(server.serve().await?)
}

impl Client for Caller {
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        Ok(String::from_utf8(self.call(ECHO, text.as_bytes()).await?.into())?)
    }
}
