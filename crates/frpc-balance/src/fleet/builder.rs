//! The settings of a fleet and the methods that connect a channel to it.

use crate::fleet::clock::FleetClock;
use crate::fleet::estimate::ServerEstimate;
use crate::fleet::members::{ConnectDelays, Member, ResolvedEndpoint, Row};
use crate::fleet::options::FleetOptions;
use crate::fleet::resolving::{Connects, Follower};
use crate::fleet::{Fleet, first};
use crate::resolve::{Endpoint, Resolver};
use frpc::picker::{LinkFactory, Links};
use frpc::{Channel, ChannelBuilder, Error};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;

/// Default time over which connections to new endpoints are spread. A thousand clients then make about three hundred
/// connections per second. A channel that is not yet connected to the new endpoint only balances less evenly.
const CONNECTION_SPREAD: Duration = Duration::from_secs(3);

/// Name of a server that is reached by a custom connector, shown in errors and the [view](crate::FleetView) of the
/// fleet because the server's address is unknown.
const CONNECTOR: &str = "the server";

/// Extension trait of [`ChannelBuilder`] for channels that balance their calls over several servers.
pub trait Balance {
    /// Returns a builder for a channel to several servers with the same services. Call the setters of the channel
    /// before.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// use frpc::Channel;
    /// use frpc_balance::Balance;
    ///
    /// let channel = Channel::builder().balance().connect_all(["10.0.0.1:8080", "10.0.0.2:8080"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    fn balance(self) -> FleetBuilder;
}

impl Balance for ChannelBuilder {
    fn balance(self) -> FleetBuilder {
        FleetBuilder { channel: self, options: FleetOptions::default(), spread: CONNECTION_SPREAD }
    }
}

/// Builder of a channel to several servers, created by [`Balance::balance`].
#[derive(Clone, Debug)]
#[must_use]
pub struct FleetBuilder {
    channel: ChannelBuilder,
    options: FleetOptions,
    spread: Duration,
}

/// A server of a fixed list: its connections and its performance estimate.
type Server = (Links, Arc<ServerEstimate>);

impl FleetBuilder {
    /// Sets the zone of this client. Servers in the same [zone](Endpoint::with_zone) receive all calls while at least
    /// 70 % of their weight is available. Below that, a proportional share of the calls goes to other zones. Servers
    /// without a connection and ejected servers are unavailable. By default zones are ignored.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// use frpc::Channel;
    /// use frpc_balance::Balance;
    /// use frpc_balance::resolve::{Endpoint, StaticResolver};
    ///
    /// let near = Endpoint::new("10.0.0.1:8080").with_zone("a");
    /// let far = Endpoint::new("10.1.0.1:8080").with_zone("b");
    /// let channel = Channel::builder().balance().zone("a").connect_resolved(StaticResolver::new([near, far])).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn zone(mut self, zone: impl Into<String>) -> Self {
        self.options.zone = Some(zone.into());
        self
    }

    /// Limits the channel to a random subset of the [resolver's](crate::resolve) servers, at least 1. A thousand
    /// clients of a thousand servers would otherwise make a million connections. Servers are selected in proportion to
    /// their weights, so each server gets a number of clients that matches its weight; servers in the client's own
    /// [zone](Self::zone) are preferred. A server that joins or leaves changes at most one member of the subset. By
    /// default the channel uses all servers.
    ///
    /// Twenty servers are usually enough. A small subset limits the choice of the balancer.
    pub fn subset(mut self, servers: usize) -> Self {
        self.options.subset = Some(servers.max(1));
        self
    }
    /// Sets the time over which clients of a [resolver](crate::resolve) spread their connections to an endpoint that
    /// joined or closed its connections. Each client waits for a random part of it, unless a call finds no connection
    /// at all. Defaults to 3 s; with zero, no client waits.
    pub fn connection_spread(self, spread: Duration) -> Self {
        Self { spread, ..self }
    }

    /// Connects to several servers with the same services, by addresses as in [`connect`](ChannelBuilder::connect).
    /// Completes when the first connection is established.
    ///
    /// Each call considers two random servers and the server of the previous call, and uses the one with the lowest
    /// expected completion time, which depends on the channel's calls and streams there and on recent latencies. A call
    /// that was not sent or may be repeated is retried on another server, as is a call of an idempotent method
    /// (`idempotency_level`) that fails with [`Unavailable`](frpc::Code::Unavailable). A server is ejected if its calls
    /// fail with this code or with [`ResourceExhausted`](frpc::Code::ResourceExhausted), or receive no reply: it
    /// receives only occasional probe calls until one succeeds. At most 30 % of the servers are ejected at a time. Lost
    /// connections are replaced immediately, with exponential backoff while the server is unreachable. An address that
    /// is listed several times gets as many connections. A name that resolves to several addresses gets one.
    ///
    /// If the servers use gRPC, call [`ChannelBuilder::grpc`] before.
    ///
    /// Per-connection state, such as a login, does not work on such a channel, because each call may use another
    /// connection.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), frpc::Error> {
    /// use frpc_balance::Balance;
    ///
    /// let channel = frpc::Channel::builder().balance().connect_all(["10.0.0.1:8080", "10.0.0.2:8080"]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If no server accepts a connection (returns the last error), the list is empty or contains an invalid address, or
    /// two services or mounted routers overlap.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes all connections that were established.
    pub async fn connect_all<A: Into<String>>(self, addresses: impl IntoIterator<Item = A>) -> Result<Channel, Error> {
        self.connect_all_by(|factory, estimate| {
            let to = |address: A| {
                let estimate = estimate();
                Ok((factory.to_address(address, Some(estimate.clone()))?, estimate))
            };
            addresses.into_iter().map(to).collect()
        })
        .await
    }

    /// Like [`connect_all`](Self::connect_all), but connects to each server through a custom connector, as
    /// [`connect_with_connector`](ChannelBuilder::connect_with_connector) does.
    ///
    /// # Errors
    /// Like [`connect_all`](Self::connect_all).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes all connections that were established.
    pub async fn connect_all_with_connectors<C, F, T>(
        self,
        connectors: impl IntoIterator<Item = C>,
    ) -> Result<Channel, Error>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.connect_all_by(|factory, estimate| {
            let by = |connector: C| {
                let estimate = estimate();
                (factory.by_connector(CONNECTOR, connector, Some(estimate.clone())), estimate)
            };
            Ok(connectors.into_iter().map(by).collect())
        })
        .await
    }

    /// Connects to the servers of a [`Resolver`] and follows its updates, as described in [`resolve`](crate::resolve).
    /// Calls are balanced as by [`connect_all`](Self::connect_all). Completes when the first connection is established.
    ///
    /// ```
    /// # use samples::started::greeter;
    /// use frpc::Channel;
    /// use frpc_balance::resolve::{Endpoint, StaticResolver};
    /// use frpc_balance::{Balance, FleetView};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (large, small) = (greeter().await?, greeter().await?);
    /// let endpoints = [Endpoint::new(large).with_weight(3), Endpoint::new(small)];
    /// let channel = Channel::builder().balance().connect_resolved(StaticResolver::new(endpoints)).await?;
    /// assert_eq!(FleetView::of(&channel).map(|fleet| fleet.servers.len()), Some(2));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If no endpoint accepts a connection within [`connect_timeout`](ChannelBuilder::connect_timeout), or two services
    /// or mounted routers overlap.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes all connections that were established.
    pub async fn connect_resolved(self, resolver: impl Resolver) -> Result<Channel, Error> {
        self.connect_fleet(resolver, dialled).await
    }

    /// Like [`connect_resolved`](Self::connect_resolved), but connects through a function that returns a transport to
    /// an endpoint.
    ///
    /// # Errors
    /// Like [`connect_resolved`](Self::connect_resolved).
    ///
    /// # Cancel safety
    /// Dropping the future cancels the attempt and closes all connections that were established.
    pub async fn connect_resolved_with_connector<C, F, T>(
        self,
        resolver: impl Resolver,
        connector: C,
    ) -> Result<Channel, Error>
    where
        C: Fn(Endpoint) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.connect_fleet(resolver, |factory| connected(connector, factory)).await
    }

    /// Creates a channel to the endpoints of a [`Resolver`] without waiting for a connection. Calls wait for the first
    /// connection in the same way as after [a connection is lost](ChannelBuilder::reconnect_timeout).
    ///
    /// # Errors
    /// If two services or mounted routers overlap.
    ///
    /// # Panics
    /// Outside of a tokio runtime, which drives the connections.
    pub fn connect_resolved_lazy(self, resolver: impl Resolver) -> Result<Channel, Error> {
        self.channel_to_fleet(resolver, dialled).map(|(channel, ..)| channel)
    }

    async fn connect_all_by(
        self,
        links: impl FnOnce(&LinkFactory, &dyn Fn() -> Arc<ServerEstimate>) -> Result<Vec<Server>, Error>,
    ) -> Result<Channel, Error> {
        let clock = FleetClock::new();
        let (mut made, mut all) = (None, Vec::new());
        let channel = self.channel.connect_picker(|factory| {
            all = links(factory, &|| ServerEstimate::new(&clock))?;
            if all.is_empty() {
                return Err(Error::NoServers);
            }
            let fleet =
                Fleet::new(FleetOptions::default(), clock.clone(), factory.reconnect_timeout(), factory.runtime());
            Ok(made.insert(Arc::new(fleet)).clone())
        })?;
        if let Some(connected) = first(all.iter().map(|(links, _)| links.dial())).await {
            connected?;
        }
        // Add the members after the initial dials, because their tasks would dial the same servers at the same time.
        if let Some(fleet) = made {
            let rows = all.into_iter().map(|(links, estimate)| {
                let endpoint = Arc::new(Endpoint::new(links.name()));
                let stated = ResolvedEndpoint::new(&endpoint);
                let member = Member::kept(links, stated, &fleet.urgency, ConnectDelays::NONE, &fleet.runtime);
                Row::new(endpoint, member, estimate)
            });
            fleet.add(rows.collect());
        }
        Ok(channel)
    }

    async fn connect_fleet(
        self,
        resolver: impl Resolver,
        connects: impl FnOnce(&LinkFactory) -> Connects,
    ) -> Result<Channel, Error> {
        let name = resolver.name();
        let (channel, fleet, timeout) = self.channel_to_fleet(resolver, connects)?;
        match fleet.first_connection(timeout).await {
            Ok(()) => Ok(channel),
            Err(failure) => Err(Error::NoEndpoint { resolver: name, failure }),
        }
    }

    /// Creates a channel that balances over a new fleet. Returns the channel, its fleet and the connect timeout.
    fn channel_to_fleet(
        self,
        resolver: impl Resolver,
        connects: impl FnOnce(&LinkFactory) -> Connects,
    ) -> Result<(Channel, Arc<Fleet>, Duration), Error> {
        let Self { channel, options, spread } = self;
        let mut made = None;
        let channel = channel.connect_picker(|factory| {
            let fleet = Fleet::new(options.clone(), FleetClock::new(), factory.reconnect_timeout(), factory.runtime());
            let (fleet, connects) = (Arc::new(fleet), connects(factory));
            made = Some((fleet.clone(), connects, factory.connect_timeout()));
            Ok(fleet)
        })?;
        let Some((fleet, connects, timeout)) = made else { return Err(Error::NoServers) };
        let (resolver, runtime) = (Box::new(resolver), Handle::current());
        let seed = fastrand::u64(..);
        Follower { resolver, connects, spread, options, seed, runtime }.start(&fleet);
        Ok((channel, fleet, timeout))
    }
}

/// Returns a function that connects to endpoints by their addresses.
fn dialled(factory: &LinkFactory) -> Connects {
    let checked = factory.clone();
    let check = Box::new(move |endpoint: &Endpoint| checked.check_address(endpoint.address()));
    let factory = factory.clone();
    let connect = Box::new(move |stated: &ResolvedEndpoint, estimate: Arc<ServerEstimate>| {
        factory.to_address(stated.get().address(), Some(estimate))
    });
    Connects { check, connect }
}

/// Returns a function that connects to endpoints through a custom connector.
fn connected<C, F, T>(connector: C, factory: &LinkFactory) -> Connects
where
    C: Fn(Endpoint) -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (factory, connector) = (factory.clone(), Arc::new(connector));
    let connect = Box::new(move |stated: &ResolvedEndpoint, estimate: Arc<ServerEstimate>| {
        let (connector, name, stated) = (connector.clone(), stated.get(), stated.clone());
        let connector = move || connector(Endpoint::clone(&stated.get()));
        Ok(factory.by_connector(name.address(), connector, Some(estimate)))
    });
    Connects { check: Box::new(|_| Ok(())), connect }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_subset_counts_as_one_server() {
        assert_eq!(Channel::builder().balance().subset(0).options.subset, Some(1));
    }
}
