//! Foreign peers without a connection, whose calls are those of foreign connections.

use super::ForeignContext;
use crate::endpoint::offer::ServiceOffer;
use std::fmt;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;

type Listen = dyn Fn(ForeignPeers) -> Listening + Send + Sync;
type Listening = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A listener, until the services are known.
pub(crate) struct ForeignListener(Arc<Listen>);

impl ForeignListener {
    pub(crate) fn new<L, F>(listen: L) -> Self
    where
        L: Fn(ForeignPeers) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Arc::new(move |peers| Box::pin(listen(peers))))
    }

    /// Adds the listener to a server that offers these services.
    pub(crate) fn add_to(self, server: frisbee::ServerBuilder, offer: Arc<ServiceOffer>) -> frisbee::ServerBuilder {
        server.foreign_listener(move |inner| (self.0)(ForeignPeers { inner, offer: offer.clone() }))
    }
}

impl fmt::Debug for ForeignListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignListener").finish_non_exhaustive()
    }
}

/// The peers of a listener without connections; see
/// [`ServerBuilder::foreign_listener`](crate::ServerBuilder::foreign_listener).
#[derive(Clone)]
pub struct ForeignPeers {
    inner: frisbee::ForeignPeers,
    offer: Arc<ServiceOffer>,
}

impl ForeignPeers {
    /// Enters a peer, whose calls pass the rules, middleware and limits of the server; see
    /// [`frisbee::ForeignPeers::enter`].
    pub fn enter(&self, peer: SocketAddr, local: Option<SocketAddr>) -> Option<ForeignContext> {
        Some(ForeignContext::new(self.inner.enter(peer, local)?, &self.offer))
    }

    /// Waits until the server shuts down: the listener should then finish its work in progress and return.
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
    pub async fn stopping(&self) {
        self.inner.stopping().await;
    }
}

impl fmt::Debug for ForeignPeers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ForeignPeers").finish_non_exhaustive()
    }
}
