//! Connectionless peers of an adapter. Their calls are handled like calls on adapter connections.

use super::AdapterContext;
use crate::debug::opaque_debug;
use crate::endpoint::offer::ServiceOffer;
use std::net::SocketAddr;
use std::sync::Arc;

/// Registry of the peers of a connectionless listener; see
/// [`ServerBuilder::adapter_listener`](crate::ServerBuilder::adapter_listener).
#[derive(Clone)]
pub struct AdapterPeers {
    pub(crate) inner: frisbee::AdapterPeers,
    pub(crate) offer: Arc<ServiceOffer>,
}

impl AdapterPeers {
    /// Registers a peer of a connectionless protocol. The server's access rules, middleware and limits apply to its
    /// calls; see [`frisbee::AdapterPeers::enter`].
    pub fn enter(&self, peer: SocketAddr, local: Option<SocketAddr>) -> Option<AdapterContext> {
        Some(AdapterContext::new(self.inner.enter(peer, local)?, &self.offer))
    }

    /// Waits until the server begins to shut down. The listener should then finish its pending work and return.
    ///
    /// # Cancel safety
    /// Safe. The method may be called any number of times.
    pub async fn stopping(&self) {
        self.inner.stopping().await;
    }
}

opaque_debug!([] AdapterPeers, "AdapterPeers");
