//! frpc.

use super::{Client, Rival, Setup, listen_address};
use crate::BoxError;
use crate::background::Bound;
use crate::proto::benchmark::{
    BenchmarkService, BenchmarkServiceClient, BenchmarkServiceServer, Request as Echo, Response as Echoed,
};
use crate::proto::bulk::{
    BulkService, BulkServiceClient, BulkServiceServer, Data, Text as SharedText, TextService, TextServiceClient,
    TextServiceServer,
};
use crate::text::Text;
use bytes::Bytes;
use frpc::{
    Channel, ChannelBuilder, IoBackend, Policy, Request, Response, Server, ServerBuilder, Status, Utf8Bytes, Workers,
};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::time::Duration;

/// A configuration of frpc.
pub trait Setting: 'static {
    /// Its name in results.
    const NAME: &'static str;

    /// Configures the server.
    fn server(server: ServerBuilder) -> ServerBuilder;

    /// Configures the client.
    fn client(client: ChannelBuilder) -> ChannelBuilder {
        client
    }
}

/// fRPC with one of these configurations.
#[derive(Debug)]
pub struct Ours<S>(PhantomData<S>);

impl<S: Setting> Rival for Ours<S> {
    const NAME: &'static str = S::NAME;
    type Client = BenchmarkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        serve_with(setup, S::server(Server::builder().io_backend(IoBackend::Tokio)), bound).await
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        // Like `BenchmarkServiceClient::connect`, with settings.
        let channel = S::client(Channel::builder().calls::<BenchmarkServiceClient>());
        Ok(BenchmarkServiceClient::new(channel.connect(address.to_string()).await?))
    }
}

/// Defines a type for each configuration, with its name and the settings of the server and, optionally, of the client.
macro_rules! settings {
    ($($(#[$doc:meta])* $type:ident = $name:literal: $server:expr $(, $client:expr)?;)*) => {$(
        $(#[$doc])*
        pub type $type = Ours<settings::$type>;
    )*
    mod settings {
        use super::*;
        $(
            #[derive(Debug)]
            pub struct $type;

            impl Setting for $type {
                const NAME: &'static str = $name;

                fn server(server: ServerBuilder) -> ServerBuilder {
                    $server(server)
                }

                $(fn client(client: ChannelBuilder) -> ChannelBuilder {
                    $client(client)
                })?
            }
        )*
    }};
}

settings! {
    /// One thread per core.
    PerCore = "frpc-cores": |server: ServerBuilder| server.workers(Workers::PerCore);
    /// Like the first example of the documentation: a server with its defaults, and clients in tokio's multi-thread
    /// runtime.
    Plain = "frpc": |server: ServerBuilder| server;
    /// Servers on io_uring, and unchanged clients.
    Uring = "frpc-uring": |server: ServerBuilder| server.workers(Workers::PerCore).io_backend(IoBackend::Uring);
    /// Both ends busy-poll for some time after the last event.
    Busy = "frpc-busy": |server: ServerBuilder| server.workers(Workers::PerCore).busy_poll(AWAKE), |client: ChannelBuilder| client.busy_poll(AWAKE);
    /// Clients in the caller's runtime, with connections on one thread per core.
    Apart = "frpc-apart": |server: ServerBuilder| server.workers(Workers::PerCore), |client: ChannelBuilder| client.workers(Workers::PerCore);
    /// Every handler runs as a separate task.
    Concurrent = "frpc-concurrent": |server: ServerBuilder| server.workers(Workers::PerCore).policy(Policy::Concurrent);
    /// Every handler runs as a separate task, with at most sixteen per connection.
    AtMost = "frpc-at-most-16": |server: ServerBuilder| server.workers(Workers::PerCore).policy(Policy::AtMost(16));
}

/// Busy-poll time, longer than any pause between two calls of a closed loop.
const AWAKE: Duration = Duration::from_millis(5);

/// fRPC with its defaults, and messages that share bytes.
#[derive(Debug)]
pub struct Shares;

impl Rival for Shares {
    const NAME: &'static str = "frpc-bytes";
    type Client = BulkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let server = Server::builder().add_service(BulkServiceServer::new(Service(setup)));
        let server = server.bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        Ok(BulkServiceClient::connect(address.to_string()).await?)
    }
}

/// fRPC with its defaults, and strings that share memory.
#[derive(Debug)]
pub struct SharesText;

impl Rival for SharesText {
    const NAME: &'static str = "frpc-utf8-bytes";
    type Client = TextServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let server = Server::builder().add_service(TextServiceServer::new(Service(setup)));
        let server = server.bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        Ok(TextServiceClient::connect(address.to_string()).await?)
    }
}

/// The service of all frpc servers.
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

impl TextService for Service {
    async fn turn(&self, request: Request<SharedText>) -> Result<Response<SharedText>, Status> {
        self.0.pause().await;
        Ok(Response::new(request.into_inner()))
    }
}

/// Serves with the given workers.
///
/// # Errors
/// If the server cannot be started.
pub async fn serve(setup: Setup, workers: Workers, bound: Bound) -> Result<(), BoxError> {
    serve_with(setup, Server::builder().workers(workers), bound).await
}

/// Like [`serve`], with settings.
///
/// # Errors
/// If the server cannot be started.
pub async fn serve_with(setup: Setup, server: ServerBuilder, bound: Bound) -> Result<(), BoxError> {
    let server = server.add_service(BenchmarkServiceServer::new(Service(setup))).bind(listen_address()).await?;
    bound.at(server.local_addr());
    Ok(server.serve().await?)
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

impl Client for TextServiceClient {
    type Reply = Utf8Bytes;

    async fn echo(&self, text: &Text) -> Result<Utf8Bytes, BoxError> {
        Ok(self.turn(SharedText { text: text.as_str().into() }).await?.into_inner().text)
    }
}
