//! The server of the market: the service, its broker, and the gateway for browsers.

use super::exchange::{ExchangeServer, TraderClient};
use super::market;
use frisbee_pubsub::{Broker, ClientRouter, OPERATIONS};
use frpc::{Channel, Server};
use frpc_gateway::{Console, Gateway, Http, ServeGateway};
use frpc_reflection::Reflection;
use std::error::Error;
use std::net::SocketAddr;
use tokio::task::JoinSet;

/// A running market, which stops when this is dropped.
pub(crate) struct Market {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Market {
    /// Serves a market at an address. Pages of `origins` may connect.
    pub(crate) async fn start(address: &str, origins: Vec<String>) -> Result<Self, Box<dyn Error + Send + Sync>> {
        let http = Http::new().connect().console(Console::new());
        let http = origins.into_iter().fold(http, Http::origin);
        let market = market::Market::default();
        let server = Server::builder()
            .add_service(ExchangeServer::new(market.clone()))
            .add_service(Reflection::new())
            .calls::<TraderClient>()
            .mount(OPERATIONS, Broker::new())
            .gateway(Gateway::new().http(http).web_socket())
            .bind(address)
            .await?;
        let address = server.local_addr();
        let mut tasks = JoinSet::new();
        tasks.spawn(async move { drop(server.serve().await) });
        // The market publishes over a connection, like any client.
        let router = ClientRouter::new();
        let client = router.client();
        let channel = Channel::builder().mount(OPERATIONS, router).connect(address.to_string()).await?;
        tasks.spawn(async move {
            let published = market.publish(client).await;
            drop((published, channel));
        });
        Ok(Self { address, _tasks: tasks })
    }

    /// Returns the address of the market.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }
}
