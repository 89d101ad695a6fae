//! Recently active peers, with state that is too expensive to create for each datagram. The table is bounded. An
//! evicted peer is added again by its next datagram, and its calls in progress continue.

use crate::json_rpc::Session;
use frpc::AdapterContext;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::Instant;

/// Maximum number of peers in each of the two generations. Each peer takes a few kilobytes.
const GENERATION_MAX: usize = 512;

/// State of a UDP peer, kept by address.
pub(super) struct Source {
    /// Connection context of the peer, or the time at which the connection hook rejected it.
    pub(super) context: Result<AdapterContext, Instant>,
    /// JSON-RPC session of the peer. The session caches the methods that the peer has called, so it is kept between
    /// datagrams. `None` before the first datagram and while calls of the session are in progress.
    pub(super) session: Option<Session>,
}

/// Table of UDP peers in two generations. When the younger generation is full, it replaces the older one.
#[derive(Default)]
pub(super) struct Sources {
    young: HashMap<SocketAddr, Source>,
    old: HashMap<SocketAddr, Source>,
}

impl Sources {
    /// Returns the peer with this address. Calls `make` to create it if it is unknown.
    pub(super) fn get(&mut self, peer: SocketAddr, make: impl FnOnce() -> Source) -> &mut Source {
        if self.young.len() >= GENERATION_MAX && !self.young.contains_key(&peer) {
            // Drop the previous `old` generation. A peer is forgotten if it is silent while `young` fills twice. This
            // needs no LRU list.
            self.old = std::mem::take(&mut self.young);
        }
        let Self { young, old } = self;
        young.entry(peer).or_insert_with(|| old.remove(&peer).unwrap_or_else(make))
    }

    /// Stores an idle session for the next datagram of its peer.
    pub(super) fn put_back(&mut self, peer: SocketAddr, session: Session) {
        if let Some(source) = self.young.get_mut(&peer) {
            source.session.get_or_insert(session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounded_table_keeps_active_peers() {
        let mut sources = Sources::default();
        let made = |sources: &mut Sources, port| {
            let mut made = false;
            sources.get(SocketAddr::from(([192, 0, 2, 1], port)), || {
                made = true;
                Source { context: Err(Instant::now()), session: None }
            });
            made
        };
        for port in 1..=60_000 {
            assert!(made(&mut sources, port));
            assert_eq!(made(&mut sources, 0), port == 1, "active peer should stay in the table");
            assert!(sources.young.len() <= GENERATION_MAX && sources.old.len() <= GENERATION_MAX);
        }
    }
}
