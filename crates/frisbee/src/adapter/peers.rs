//! Connectionless peers of adapters, for example of a UDP socket.

use super::{AdapterContext, AdapterHost, ServerPhase, reached};
use crate::debug::opaque_debug;
use crate::transport::endpoint::EndpointInfo;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::watch;

type Run = dyn Fn(AdapterPeers) -> ListenerFuture + Send + Sync;
type ListenerFuture = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Listener of a connectionless adapter, such as a UDP socket. It runs as long as its server.
#[derive(Clone)]
pub(crate) struct AdapterListener(pub(crate) Arc<Run>);

impl AdapterListener {
    pub(crate) fn new<L, F>(listen: L) -> Self
    where
        L: Fn(AdapterPeers) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Arc::new(move |peers| {
            let phase = peers.0.phase.clone();
            Box::pin(run(Box::pin(listen(peers)), phase))
        }))
    }
}

/// Runs an adapter's listener until it completes or the shutdown timeout expires.
async fn run(mut listening: ListenerFuture, mut phase: watch::Receiver<ServerPhase>) {
    let mut closing = pin!(reached(&mut phase, ServerPhase::Closing));
    // Poll the listener first, so that one that has just completed is not aborted.
    poll_fn(|task| match listening.as_mut().poll(task) {
        Poll::Ready(()) => Poll::Ready(()),
        Poll::Pending => closing.as_mut().poll(task),
    })
    .await;
}

opaque_debug!([] AdapterListener, "AdapterListener");

/// Registry of the peers of a connectionless listener, such as a UDP socket; see
/// [`ServerBuilder::adapter_listener`](crate::ServerBuilder::adapter_listener).
#[derive(Clone)]
pub struct AdapterPeers(pub(crate) AdapterHost);

impl AdapterPeers {
    /// Registers a peer. The router may reject the peer, like a new connection. All peers of connectionless listeners
    /// share the memory of one caller, because their addresses may be forged.
    ///
    /// Returns `None` if the router rejects the peer, if this share of
    /// [`connection_memory_max`](crate::ServerBuilder::connection_memory_max) is used up, or if the server no longer
    /// exists.
    ///
    /// The peer is not counted as a connection in [`Stats`](crate::Stats).
    pub fn enter(&self, peer: SocketAddr, local: Option<SocketAddr>) -> Option<AdapterContext> {
        let ends = EndpointInfo { peer: Some(peer), local, is_connectionless: true, ..EndpointInfo::default() };
        let connection = self.0.server.upgrade()?.enter_peer(ends, None)?;
        Some(AdapterContext::new(&connection, &self.0))
    }

    /// Waits until the server begins to shut down. The listener should then complete its work in progress and return.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn stopping(&self) {
        reached(&mut self.0.phase.clone(), ServerPhase::Stopping).await;
    }
}

opaque_debug!([] AdapterPeers, "AdapterPeers");
