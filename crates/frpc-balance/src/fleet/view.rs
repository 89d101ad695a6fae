//! The inspectable state of a fleet.

use crate::fleet::Fleet;
use crate::resolve::Endpoint;
use frpc::Channel;
use frpc::picker::Link;
use std::time::Duration;

/// The servers of a channel at one moment, by [`FleetView::of`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetView {
    /// The servers, in no particular order.
    pub servers: Vec<FleetServer>,
    /// The name of the resolver, if the channel has one.
    pub resolver: Option<String>,
    /// Why the resolver could not answer, if its last answer was a failure.
    pub resolver_trouble: Option<String>,
}

/// A server of a [`FleetView`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FleetServer {
    /// The server as its resolver states it; of other channels, its address alone.
    pub endpoint: Endpoint,
    /// Whether there is a connection that takes calls.
    pub is_connected: bool,
    /// The number of calls and streams of the channel in progress on that connection.
    pub load: usize,
    /// Whether the server has answered that it cannot work, or has not answered, and not otherwise since. It gets a call
    /// now and then, unless too many are doubted.
    pub is_doubted: bool,
    /// How long calls have taken there of late: the peak, which falls again by and by. `None` before the first.
    pub latency: Option<Duration>,
    /// Whether the resolver states it no more; it is about to be removed.
    pub is_missing: bool,
}

impl FleetView {
    /// The servers among which a channel chooses, with what it knows of them. `None` for a channel without a fleet.
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
