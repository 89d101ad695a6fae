//! gRPC and frames over WebSocket, called through libraries: tonic's client, and our own.

use super::ours::gateway;
use super::python::become_python;
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::BenchmarkServiceClient;
use crate::proto::benchmark::tonic::benchmark_service_client::BenchmarkServiceClient as TonicClient;
use crate::rivals::{Rival, Setup, tonic};
use frpc::Channel;
use frpc_gateway::web_socket;
use std::net::SocketAddr;

/// Native frames over WebSocket, with our client.
#[derive(Debug)]
pub struct FramesOverWebSocket;

impl Rival for FramesOverWebSocket {
    const NAME: &'static str = "frpc-ws";
    type Client = BenchmarkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        gateway(setup, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        let connector = move || async move { web_socket::connect(&format!("ws://{address}/")).await };
        Ok(BenchmarkServiceClient::new(Channel::builder().connect_with_connector(connector).await?))
    }
}

/// gRPC's Python library, called by tonic's client.
#[derive(Debug)]
pub struct Grpcio;

impl Rival for Grpcio {
    const NAME: &'static str = "grpcio";
    type Client = TonicClient<::tonic::transport::Channel>;

    async fn serve(_setup: Setup, _bound: Bound) -> Result<(), BoxError> {
        Err(become_python(Self::NAME))
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Self::Client, BoxError> {
        <tonic::Tonic as Rival>::connect(address, setup).await
    }
}

/// gRPC, with tonic's client.
#[derive(Debug)]
pub struct Grpc;

impl Rival for Grpc {
    const NAME: &'static str = "frpc-grpc";
    type Client = TonicClient<::tonic::transport::Channel>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        gateway(setup, bound).await
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Self::Client, BoxError> {
        <tonic::Tonic as Rival>::connect(address, setup).await
    }
}
