//! Ourselves.

use super::{Client, Rival, Setup};
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::{
    BenchmarkService, BenchmarkServiceClient, BenchmarkServiceServer, Request as Echo, Response as Echoed,
};
use crate::proto::bulk::{BulkService, BulkServiceClient, BulkServiceServer, Data};
use crate::text::Text;
use bytes::Bytes;
use frpc::{Request, Response, Server, Status, Workers};
use std::net::SocketAddr;

/// fRPC with a thread for each core.
#[derive(Debug)]
pub struct PerCore;

/// fRPC in the runtime of the caller.
#[derive(Debug)]
pub struct Shared;

impl Rival for PerCore {
    const NAME: &'static str = "frpc";
    type Client = BenchmarkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, Workers::PerCore, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        connect(address).await
    }
}

impl Rival for Shared {
    const NAME: &'static str = "frpc-shared";
    type Client = BenchmarkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve(setup, Workers::Caller, bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        connect(address).await
    }
}

/// fRPC with a thread for each core, and messages that share their bytes.
#[derive(Debug)]
pub struct Shares;

impl Rival for Shares {
    const NAME: &'static str = "frpc-bytes";
    type Client = BulkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let server = Server::builder().add_service(BulkServiceServer::new(Service(setup))).bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        Ok(BulkServiceClient::connect(address.to_string()).await?)
    }
}

/// The service that all servers of ours serve.
#[derive(Debug)]
pub struct Service(pub Setup);

impl BenchmarkService for Service {
    async fn benchmark(&self, request: Request<Echo>) -> Result<Response<Echoed>, Status> {
        self.0.pause().await;
        Ok(Response::new(Echoed { message: request.into_inner().message }))
    }
}

impl BulkService for Service {
    async fn bulk(&self, request: Request<Data>) -> Result<Response<Data>, Status> {
        self.0.pause().await;
        Ok(Response::new(request.into_inner()))
    }
}

/// Serves with the given workers.
///
/// # Errors
/// If the server cannot be started.
pub async fn serve(setup: Setup, workers: Workers, bound: Bound) -> Result<(), BoxError> {
    let service = BenchmarkServiceServer::new(Service(setup));
    let server = Server::builder().add_service(service).workers(workers).bind("127.0.0.1:0").await?;
    bound.at(server.local_addr());
    Ok(server.serve().await?)
}

async fn connect(address: SocketAddr) -> Result<BenchmarkServiceClient, BoxError> {
    Ok(BenchmarkServiceClient::connect(address.to_string()).await?)
}

impl Client for BenchmarkServiceClient {
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        Ok(self.benchmark(Echo { message: text.as_str().to_owned() }).await?.into_inner().message)
    }
}

impl Client for BulkServiceClient {
    type Reply = Bytes;

    async fn echo(&self, text: &Text) -> Result<Bytes, BoxError> {
        Ok(self.bulk(Data { data: text.to_bytes() }).await?.into_inner().data)
    }

    fn text(caller: usize, length: usize) -> Text {
        Text::shared(caller, length)
    }
}
