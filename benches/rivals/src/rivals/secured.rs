//! fRPC over TLS.

use super::tls;
use crate::BoxError;
use crate::background::Bound;
use crate::proto::bulk::{BulkServiceClient, BulkServiceServer};
use benches::rivals::frpc::{Ours, Service, Setting};
use benches::rivals::{Rival, Setup};
use frpc::{Channel, ChannelBuilder, Server, ServerBuilder, Workers};
use std::net::SocketAddr;

/// One thread per core.
#[derive(Debug)]
pub struct PerCore;

/// The setup of the README, with clients in `#[tokio::main]`.
#[derive(Debug)]
pub struct Plain;

impl Setting for PerCore {
    const NAME: &'static str = "frpc-cores-tls";

    fn server(server: ServerBuilder) -> ServerBuilder {
        server.workers(Workers::PerCore).tls(tls::of_server())
    }

    fn client(client: ChannelBuilder) -> ChannelBuilder {
        client.tls(tls::of_client())
    }
}

impl Setting for Plain {
    const NAME: &'static str = "frpc-tls";

    fn server(server: ServerBuilder) -> ServerBuilder {
        server.tls(tls::of_server())
    }

    fn client(client: ChannelBuilder) -> ChannelBuilder {
        PerCore::client(client)
    }
}

/// One thread per core, with messages that share bytes.
#[derive(Debug)]
pub struct SecuredShares;

impl Rival for SecuredShares {
    const NAME: &'static str = "frpc-bytes-tls";
    type Client = BulkServiceClient;

    async fn serve(setup: Setup, bound: Bound) -> Result<(), BoxError> {
        let server = PerCore::server(Server::builder()).add_service(BulkServiceServer::new(Service(setup)));
        let server = server.bind("127.0.0.1:0").await?;
        bound.at(server.local_addr());
        Ok(server.serve().await?)
    }

    async fn connect(address: SocketAddr, _setup: Setup) -> Result<Self::Client, BoxError> {
        let channel = PerCore::client(Channel::builder().calls::<BulkServiceClient>());
        Ok(BulkServiceClient::new(channel.connect(address.to_string()).await?))
    }
}

/// One thread per core at both ends.
pub type SecuredPerCore = Ours<PerCore>;

/// Clients in tokio's multi-thread runtime.
pub type SecuredPlain = Ours<Plain>;
