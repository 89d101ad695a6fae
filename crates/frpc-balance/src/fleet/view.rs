//! Snapshots of a fleet for inspection by programs.

use crate::fleet::Fleet;
use crate::resolve::Endpoint;
use frpc::Channel;
use frpc::picker::Link;
use std::time::Duration;

/// A snapshot of the servers that a channel balances its calls over, created by [`FleetView::of`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetView {
    /// Servers of the channel, in no particular order.
    pub servers: Vec<FleetServer>,
    /// Name of the resolver, if the channel has one.
    pub resolver: Option<String>,
    /// Last error of the resolver. `None` if its last update succeeded.
    pub resolver_failure: Option<String>,
}

/// A server in a [`FleetView`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetServer {
    /// Endpoint of the server as resolved. Contains only the address if the channel has no resolver.
    pub endpoint: Endpoint,
    /// Whether the server has a connection that accepts calls.
    pub is_connected: bool,
    /// Number of calls and streams in progress on the server's connection.
    pub load: usize,
    /// Whether the server is ejected because its last calls failed or timed out. An ejected server receives only
    /// occasional probe calls, unless too many servers are ejected.
    pub is_doubted: bool,
    /// Peak latency of calls to the server, which decays over time. `None` before the first call.
    pub latency: Option<Duration>,
    /// Whether the resolver's last update did not contain the server, so that it is about to be removed.
    pub is_missing: bool,
}

impl FleetView {
    /// Returns a snapshot of the servers of a channel, or `None` if the channel does not balance its calls.
    pub fn of(channel: &Channel) -> Option<Self> {
        channel.picker::<Fleet>().map(Fleet::view)
    }
}

impl Fleet {
    pub(super) fn view(&self) -> FleetView {
        let rows = self.members.read();
        let servers = rows.iter().map(|row| {
            let link = row.current();
            FleetServer {
                endpoint: Endpoint::clone(&row.endpoint),
                is_connected: link.is_some(),
                load: link.as_ref().map_or(0, Link::in_progress),
                is_doubted: row.estimate.is_doubted(),
                latency: row.estimate.latency(),
                is_missing: row.missing_since.is_some(),
            }
        });
        let resolving = self.resolving.get();
        FleetView {
            servers: servers.collect(),
            resolver: resolving.map(|resolving| resolving.name.clone()),
            resolver_failure: resolving.and_then(super::resolving::ResolverTask::failure),
        }
    }
}
