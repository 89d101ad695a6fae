//! Servers with their default settings, for the attacks of `benches/gateways/hostile.py`.
//!
//! `cargo run --release --manifest-path benches/rivals/Cargo.toml --features gateways --bin targets -- frpc|tonic|hyper`
//!
//! All echo the same message over HTTP/2. The only setting is frpc's `memory_max`. The program prints its address, and
//! exits when its standard input ends.

use benches::proto::benchmark::tonic::benchmark_service_server::{
    BenchmarkService as TonicService, BenchmarkServiceServer as TonicServer,
};
use benches::proto::benchmark::{BenchmarkService, BenchmarkServiceServer, Request as Echo, Response as Echoed};
use bytes::Bytes;
use frpc::Server;
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use rivals::BoxError;
use rivals::process::exit_with_parent;
use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;

/// Memory limit of frpc's server.
const MEMORY: usize = 64 << 20;

/// Maximum length of a body for hyper, which has no limit. It equals tonic's and grpc-go's limit of a message.
const BODY_MAX: usize = 4 << 20;

const LISTEN: &str = "127.0.0.1:0";

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    exit_with_parent();
    match std::env::args().nth(1).as_deref() {
        Some("frpc") => frpc().await,
        Some("tonic") => tonic().await,
        Some("hyper") => hyper().await,
        _ => Err("usage: targets frpc|tonic|hyper".into()),
    }
}

struct Service;

impl BenchmarkService for Service {
    async fn benchmark(&self, request: frpc::Request<Echo>) -> Result<frpc::Response<Echoed>, frpc::Status> {
        Ok(frpc::Response::new(Echoed { message: request.into_inner().message }))
    }
}

#[tonic::async_trait]
impl TonicService for Service {
    async fn benchmark(&self, request: tonic::Request<Echo>) -> Result<tonic::Response<Echoed>, tonic::Status> {
        Ok(tonic::Response::new(Echoed { message: request.into_inner().message }))
    }
}

async fn frpc() -> Result<(), BoxError> {
    let gateway = Gateway::new().http(Http::new().grpc());
    let server = Server::builder().memory_max(MEMORY).add_service(BenchmarkServiceServer::new(Service));
    let server = server.gateway(gateway).bind(LISTEN).await?;
    println!("listening {}", server.local_addr());
    Ok(server.serve().await?)
}

async fn tonic() -> Result<(), BoxError> {
    let incoming = TcpIncoming::bind(LISTEN.parse()?)?.with_nodelay(Some(true));
    println!("listening {}", incoming.local_addr()?);
    let server = tonic::transport::Server::builder().add_service(TonicServer::new(Service));
    Ok(server.serve_with_incoming(incoming).await?)
}

async fn hyper() -> Result<(), BoxError> {
    let listener = TcpListener::bind(LISTEN).await?;
    println!("listening {}", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        tokio::spawn(async move {
            let server = Builder::new(TokioExecutor::new()).http2_only();
            // A client that disconnects is not an error.
            let _ = server.serve_connection(TokioIo::new(socket), service_fn(echo)).await;
        });
    }
}

async fn echo(request: hyper::Request<Incoming>) -> Result<hyper::Response<Full<Bytes>>, BoxError> {
    let body = Limited::new(request.into_body(), BODY_MAX).collect().await?;
    Ok(hyper::Response::new(Full::new(body.to_bytes())))
}
