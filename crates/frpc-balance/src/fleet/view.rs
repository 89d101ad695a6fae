//! Snapshots of a fleet for inspection by programs.

use crate::fleet::Fleet;
use crate::resolve::Endpoint;
use frpc::Channel;
use frpc::picker::Link;
use std::time::Duration;

/// A snapshot of the servers of a channel, created by [`FleetView::of`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetView {
    /// The servers, in no particular order.
    pub servers: Vec<FleetServer>,
    /// The name of the resolver, if any.
    pub resolver: Option<String>,
    /// The last error of the resolver. `None` if its last update succeeded.
    pub resolver_trouble: Option<String>,
}

/// A server of a [`FleetView`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetServer {
    /// The endpoint as resolved. Contains only the address if the channel has no resolver.
    pub endpoint: Endpoint,
    /// Whether a connection accepts calls.
    pub is_connected: bool,
    /// Number of calls and streams in progress on the connection.
    pub load: usize,
    /// Whether the server is ejected because its last calls failed or timed out. It receives only occasional trial
    /// calls, unless too many servers are ejected.
    pub is_doubted: bool,
    /// Peak latency, which decays over time. `None` before the first call.
    pub latency: Option<Duration>,
    /// Whether the server is missing in the last update of the resolver and about to be removed.
    pub is_missing: bool,
}

impl FleetView {
    /// Returns the servers of a channel. `None` for a channel without a fleet.
    pub fn of(channel: &Channel) -> Option<Self> {
        channel.picker::<Fleet>().map(Fleet::view)
    }
}

impl Fleet {
    pub(super) fn view(&self) -> FleetView {
        let rows = self.members.read();
        let servers = rows.rows().iter().map(|row| {
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
            resolver_trouble: resolving.and_then(super::resolving::ResolverTask::trouble),
        }
    }
}
