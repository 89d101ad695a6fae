//! Peers of an adapter without a connection, whose calls are those of adapter connections.

use super::AdapterContext;
use crate::endpoint::offer::ServiceOffer;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

type Listen = dyn Fn(AdapterPeers) -> Listening + Send + Sync;
type Listening = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A listener, until the services are known.
pub(crate) struct AdapterListener(Arc<Listen>);

impl AdapterListener {
    pub(crate) fn new<L, F>(listen: L) -> Self
    where
        L: Fn(AdapterPeers) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Arc::new(move |peers| Box::pin(listen(peers))))
    }

    /// Adds the listener to a server that offers these services.
    pub(crate) fn add_to(self, server: frisbee::ServerBuilder, offer: Arc<ServiceOffer>) -> frisbee::ServerBuilder {
        server.adapter_listener(move |inner| (self.0)(AdapterPeers { inner, offer: offer.clone() }))
    }
}

impl fmt::Debug for AdapterListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdapterListener").finish_non_exhaustive()
    }
}

/// The peers of a listener without connections; see
/// [`ServerBuilder::adapter_listener`](crate::ServerBuilder::adapter_listener).
#[derive(Clone)]
pub struct AdapterPeers {
    inner: frisbee::AdapterPeers,
    offer: Arc<ServiceOffer>,
}

impl AdapterPeers {
    /// Enters a peer, whose calls pass the rules, middleware and limits of the server; see
    /// [`frisbee::AdapterPeers::enter`].
    pub fn enter(&self, peer: SocketAddr, local: Option<SocketAddr>) -> Option<AdapterContext> {
        Some(AdapterContext::new(self.inner.enter(peer, local)?, &self.offer))
    }

    /// Waits until the server shuts down: the listener should then finish its work in progress and return.
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
    pub async fn stopping(&self) {
        self.inner.stopping().await;
    }
}

impl fmt::Debug for AdapterPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AdapterPeers").finish_non_exhaustive()
    }
}
