//! Our gateway with all protocols enabled.

use super::grpc_web::Framed;
use super::wire::{Lines, Named, Post, Posted, WebSocket};
use super::{Setup, WireServer};
use crate::BoxError;
use crate::background::Bound;
use crate::rivals::frpc::serve_with;
use frpc::{IoBackend, Server};
use frpc_gateway::{Gateway, Http, ServeGateway};

/// JSON-RPC over TCP.
#[derive(Debug)]
pub struct JsonRpc;

/// JSON-RPC over HTTP/1.1.
#[derive(Debug)]
pub struct JsonRpcHttp;

/// JSON-RPC over WebSocket.
#[derive(Debug)]
pub struct JsonRpcWebSocket;

/// Connect's unary calls in JSON over HTTP/1.1.
#[derive(Debug)]
pub struct Connect;

/// gRPC-Web in protobuf over HTTP/1.1.
#[derive(Debug)]
pub struct GrpcWeb;

pub(super) const METHOD: &str = "benchmark.BenchmarkService/Benchmark";

/// Serves with every protocol.
pub(super) async fn gateway(setup: Setup, bound: Bound) -> Result<(), BoxError> {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc()).web_socket();
    serve_with(setup, Server::builder().io_backend(IoBackend::Tokio).gateway(gateway), bound).await
}

/// Defines a type for each encoding.
macro_rules! protocols {
    ($($type:ident = $name:literal: $wire:ty;)*) => {$(
        impl WireServer for $type {
            const NAME: &'static str = $name;
            type Wire = $wire;

            async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
                gateway(setup, bound).await
            }
        }
    )*};
}

protocols! {
    JsonRpc = "frpc-json-rpc": Lines<Self>;
    JsonRpcHttp = "frpc-json-rpc-http": Post<Self>;
    JsonRpcWebSocket = "frpc-json-rpc-ws": WebSocket<Self>;
    Connect = "frpc-connect": Post<Self>;
    GrpcWeb = "frpc-grpc-web": Framed;
}

impl Named for JsonRpc {
    const METHOD: &'static str = METHOD;
}

impl Named for JsonRpcWebSocket {
    const METHOD: &'static str = METHOD;
}

impl Posted for JsonRpcHttp {
    const PATH: &'static str = "/";
    const METHOD: Option<&'static str> = Some(METHOD);
}

impl Posted for Connect {
    const PATH: &'static str = "/benchmark.BenchmarkService/Benchmark";
    const METHOD: Option<&'static str> = None;
}
