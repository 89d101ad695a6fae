//! tonic, on the same messages.
//!
//! Configured for throughput: TCP_NODELAY at both ends, windows that never block within one message of a megabyte or
//! among thousands of small ones, frames that hold a large message in few parts, no limit on streams. Its servers have
//! one service, and therefore no router.

use super::{Client, Rival, Setup, listen_address};
use crate::BoxError;
use crate::background::{Bound, on_each_core};
use crate::proto::benchmark::tonic::benchmark_service_client::BenchmarkServiceClient;
use crate::proto::benchmark::tonic::benchmark_service_server::{BenchmarkService, BenchmarkServiceServer};
use crate::proto::benchmark::{Request as Echo, Response as Echoed};
use crate::text::Text;
use bytes::Bytes;
use futures_core::Stream;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tonic::body::Body;
use tonic::client::GrpcService;
use tonic::codegen::Body as HttpBody;
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status};

/// The flow-control window: bytes that a peer may send before an update, on a stream, and on a connection.
const WINDOWS: (u32, u32) = (4 << 20, 64 << 20);

/// Maximum frame size accepted by either end.
const FRAME_MAX: u32 = 1 << 20;

/// Maximum length of a message, equal to ours.
const MESSAGE_MAX: usize = 5 << 20;

/// Maximum number of requests queued for the task of a client's connection. The default, 1024, is too low for 10 000 in
/// flight.
const BUFFER: usize = 16 * 1024;

/// tonic on its default runtime.
#[derive(Debug)]
pub struct Tonic;

impl Rival for Tonic {
    const NAME: &'static str = "tonic";
    type Client = BenchmarkServiceClient<Channel>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let incoming = incoming(bound)?;
        Ok(server().serve_with_incoming(service(setup), incoming).await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        Ok(echo_client(Self::channel(address).await?))
    }
}

impl Tonic {
    /// Connects with the client's settings.
    pub async fn channel(address: SocketAddr) -> Result<Channel, BoxError> {
        Ok(endpoint(address)?.connect().await?)
    }
}

/// Creates the client of the service over a channel, with or without layers.
pub fn echo_client<T>(channel: T) -> BenchmarkServiceClient<T>
where
    T: GrpcService<Body, ResponseBody: HttpBody<Data = Bytes, Error: Into<BoxError> + Send> + Send + 'static>,
{
    BenchmarkServiceClient::new(channel).max_decoding_message_size(MESSAGE_MAX)
}

/// tonic with one runtime per core, at both ends.
#[derive(Debug)]
pub struct PerCore;

impl Rival for PerCore {
    const NAME: &'static str = "tonic-cores";
    type Client = BenchmarkServiceClient<Channel>;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        on_each_core(bound, move |connections| async move {
            Ok(server().serve_with_incoming(service(setup), Accepted(connections)).await?)
        })
        .await
    }

    async fn connect(address: SocketAddr, setup: Setup) -> Result<Self::Client, BoxError> {
        Tonic::connect(address, setup).await
    }
}

/// The connections of a worker.
#[derive(Debug)]
pub struct Accepted(pub UnboundedReceiver<std::net::TcpStream>);

impl Stream for Accepted {
    type Item = std::io::Result<TcpStream>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|socket| socket.map(TcpStream::from_std))
    }
}

/// Returns a server with the settings above.
pub fn server() -> Server {
    Server::builder()
        .tcp_nodelay(true)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_frame_size(FRAME_MAX)
}

/// Returns an endpoint with the settings above.
///
/// # Errors
/// None for socket addresses.
pub fn endpoint(address: SocketAddr) -> Result<Endpoint, BoxError> {
    endpoint_of(&format!("http://{address}"))
}

/// Like [`endpoint`], with an address that includes the scheme.
pub fn endpoint_of(address: &str) -> Result<Endpoint, BoxError> {
    Ok(Endpoint::try_from(address.to_owned())?
        .tcp_nodelay(true)
        .buffer_size(BUFFER)
        .initial_stream_window_size(WINDOWS.0)
        .initial_connection_window_size(WINDOWS.1)
        .max_frame_size(FRAME_MAX))
}

/// Accepts connections on a free loopback port.
pub fn incoming(bound: Bound) -> Result<TcpIncoming, BoxError> {
    let incoming = TcpIncoming::bind(listen_address().parse()?)?.with_nodelay(Some(true));
    bound.at(incoming.local_addr()?);
    Ok(incoming)
}

/// Returns the service, which answers immediately or after sleeping.
pub fn service(setup: Setup) -> BenchmarkServiceServer<Service> {
    BenchmarkServiceServer::new(Service(setup)).max_decoding_message_size(MESSAGE_MAX)
}

/// Echoes.
pub struct Service(Setup);

#[tonic::async_trait]
impl BenchmarkService for Service {
    async fn benchmark(&self, request: Request<Echo>) -> Result<Response<Echoed>, Status> {
        self.0.pause().await;
        Ok(Response::new(Echoed { message: request.into_inner().message }))
    }
}

impl<T> Client for BenchmarkServiceClient<T>
where
    T: GrpcService<Body, Future: Send> + Clone + Send + Sync + 'static,
    T::ResponseBody: HttpBody<Data = Bytes, Error: Into<BoxError> + Send> + Send + 'static,
{
    type Reply = String;

    async fn echo(&self, text: &Text) -> Result<String, BoxError> {
        // Methods take `&mut self`. tonic's users clone the client for each call; clones share the connection.
        let mut client = self.clone();
        Ok(client.benchmark(Echo { message: text.as_str().to_owned() }).await?.into_inner().message)
    }
}
