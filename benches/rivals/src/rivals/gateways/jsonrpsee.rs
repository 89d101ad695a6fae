//! jsonrpsee.

use super::wire::{Named, Post, Posted, WebSocket};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::{Request as Echo, Response as Echoed};
use jsonrpsee::RpcModule;
use jsonrpsee::server::{Server, ServerConfig};
use jsonrpsee::types::ErrorObjectOwned;

/// jsonrpsee over HTTP/1.1.
#[derive(Debug)]
pub struct JsonRpseeHttp;

/// jsonrpsee over WebSocket.
#[derive(Debug)]
pub struct JsonRpseeWebSocket;

impl WireServer for JsonRpseeHttp {
    const NAME: &'static str = "jsonrpsee-http";
    type Wire = Post<Self>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, bound).await
    }
}

impl Posted for JsonRpseeHttp {
    const PATH: &'static str = "/";
    const METHOD: Option<&'static str> = Some("echo");
}

impl WireServer for JsonRpseeWebSocket {
    const NAME: &'static str = "jsonrpsee-ws";
    type Wire = WebSocket<Self>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, bound).await
    }
}

impl Named for JsonRpseeWebSocket {
    const METHOD: &'static str = "echo";
}

/// Maximum number of connections of any cell.
const CONNECTIONS_MAX: u32 = 16_384;

async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
    let config = ServerConfig::builder()
        .max_connections(CONNECTIONS_MAX)
        .max_request_body_size(16 << 20)
        .max_response_body_size(16 << 20)
        .set_tcp_no_delay(true)
        .build();
    let server = Server::builder().set_config(config).build("127.0.0.1:0").await?;
    bound.at(server.local_addr()?);
    let mut module = RpcModule::new(setup);
    module.register_async_method("echo", |params, setup, _| async move {
        setup.pause().await;
        let echo: Echo = params.parse()?;
        Ok::<_, ErrorObjectOwned>(Echoed { message: echo.message })
    })?;
    server.start(module).stopped().await;
    Ok(())
}
