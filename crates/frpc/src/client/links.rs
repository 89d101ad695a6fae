//! Connections to one server. At most one of them is current.
//!
//! # Decisions
//!
//! A link is a connection with its calls. The channel, the calls and the streams hold references to the link. A retired
//! link accepts no new calls and closes when its last call has ended. Pickers use the reference count of a link as a
//! measure of its load.

use crate::Status;
use crate::calls::failures::{closed, unreachable};
use crate::client::call::PendingCall;
use crate::client::connect_task::ConnectTask;
use crate::client::current::{Current, CurrentLink, current_link, is_closed};
use crate::client::dial::Dialler;
use crate::client::factory::LinkFactory;
#[cfg(feature = "grpc")]
use crate::client::grpc::GrpcLinks;
use crate::client::link::Link;
use crate::client::picker::{BoxFuture, Pick, PickedConnection, Picker, ServerObserver, WaitPolicy};
use crate::debug::opaque_debug;
use crate::observe::ServerLoad;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::time::Instant;

/// The connections to one server: the current one, and the source of the next one. Dropping the value stops further
/// connections, and the current one closes once its calls have ended.
pub struct Links {
    current: Arc<CurrentLink>,
    source: LinkSource,
}

/// Source of the connections of [`Links`].
enum LinkSource {
    /// The program has supplied the connection, which cannot be replaced.
    Given,
    Task(Arc<ConnectTask>),
    /// The connections to a gRPC server. They share one link, which is current until the links are closed.
    #[cfg(feature = "grpc")]
    Grpc(GrpcLinks),
}

impl Links {
    /// Creates links that connect when a call needs a connection.
    pub(crate) fn by(factory: LinkFactory, dialler: Dialler, server: Option<Arc<dyn ServerObserver>>) -> Self {
        let current = Arc::default();
        Self { source: LinkSource::Task(ConnectTask::new(factory, dialler, server, Arc::clone(&current))), current }
    }

    /// Creates links to a gRPC server, which connect when a call needs a connection.
    #[cfg(feature = "grpc")]
    pub(crate) fn to_grpc(links: GrpcLinks) -> Self {
        let current = Current { link: Some(Arc::new(Link::to_grpc(links.clone()))), is_closed: false };
        Self { current: Arc::new(Mutex::new(current)), source: LinkSource::Grpc(links) }
    }

    /// Makes a single attempt to establish the first connection. Must be called before any other method.
    ///
    /// # Errors
    /// If the attempt fails.
    ///
    /// # Cancel safety
    /// If the future is dropped, the attempt continues.
    pub async fn dial(&self) -> Result<(), frisbee::Error> {
        match &self.source {
            LinkSource::Task(task) => task.dial_first().await,
            LinkSource::Given => Ok(()),
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(links) => links.connect().await,
        }
    }

    /// Creates links that wrap an existing connection, which cannot be replaced.
    pub(crate) fn bound(link: Link) -> Self {
        let current = Current { link: Some(Arc::new(link)), is_closed: false };
        Self { current: Arc::new(Mutex::new(current)), source: LinkSource::Given }
    }

    /// Returns the current connection, if there is one that accepts calls.
    pub fn current(&self) -> Option<Arc<Link>> {
        let link = current_link(&self.current)?;
        match &self.source {
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(links) if !links.is_connected() => None,
            _ => Some(link),
        }
    }

    /// Returns the current connection or establishes a new one. Retries failed attempts with exponential backoff.
    ///
    /// # Errors
    /// If no connection is established in time, or none can be established.
    ///
    /// # Cancel safety
    /// If the future is dropped, the attempt continues for other callers.
    pub async fn connect(&self, wait: WaitPolicy) -> Result<Arc<Link>, Status> {
        match &self.source {
            LinkSource::Task(task) => task.connection(wait).await,
            // The call itself connects to a gRPC server when it opens its stream.
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(_) => current_link(&self.current).ok_or_else(closed),
            LinkSource::Given => self.current().ok_or_else(|| match is_closed(&self.current) {
                true => closed(),
                false => unreachable("the connection has ended, and only the dialling end can reconnect"),
            }),
        }
    }

    /// Prevents further calls and connections. The current connection closes once its calls have ended.
    pub fn close(&self) {
        let mut current = self.current.lock();
        current.is_closed = true;
        let link = current.link.take();
        drop(current);
        // If the channel does not own the connection, other channels may still make calls on it, so leave it open.
        if let Some(link) = link.as_ref().filter(|_| !matches!(self.source, LinkSource::Given)) {
            link.calls.retire();
        }
        drop(link); // May close the connection, so the lock must not be held.
        self.source.stop();
    }

    /// Returns the error of the last connection attempt, if it failed.
    pub fn failure(&self) -> Option<String> {
        match &self.source {
            LinkSource::Given => None,
            LinkSource::Task(task) => task.failure(),
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(links) => links.failure(),
        }
    }

    /// Sets the server name to verify against the certificate of further connections. `None` restores the name
    /// configured for the channel.
    pub fn set_server_name(&self, name: Option<&str>) {
        let stated = match &self.source {
            LinkSource::Given => return,
            LinkSource::Task(task) => &task.dialler.server_name,
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(links) => links.server_name(),
        };
        *stated.lock() = name.map(str::to_owned);
    }

    /// Returns the name of the server: its address, or the name of its connector.
    pub fn name(&self) -> &str {
        match &self.source {
            LinkSource::Given => "",
            LinkSource::Task(task) => &task.dialler.name,
            #[cfg(feature = "grpc")]
            LinkSource::Grpc(links) => links.name(),
        }
    }

    /// Returns the load that this channel causes on the server.
    pub fn load(&self) -> ServerLoad {
        ServerLoad::new(self.name(), self.current().as_ref().map(Link::in_progress), false)
    }

    /// Connects if there is no connection, then waits until the connection accepts no new calls. Returns `false` if no
    /// more connections can be established.
    ///
    /// # Cancel safety
    /// Safe. The function can be called again.
    pub async fn keep_one(&self) -> bool {
        let link = match (self.current(), &self.source) {
            #[cfg(feature = "grpc")]
            (_, LinkSource::Grpc(links)) => return links.keep_one().await,
            (Some(link), _) => link,
            (None, LinkSource::Task(task)) => match task.make(Instant::now(), None).await {
                Ok(link) => link,
                Err(_) => return false,
            },
            (None, LinkSource::Given) => return false,
        };
        let calls = link.calls.clone();
        // Release the link, because it would keep the connection open after its last call.
        drop(link);
        calls.retired().await;
        true
    }
}

impl Picker for Links {
    fn pick(&self, call: &PendingCall<'_>) -> Pick {
        if call.avoid.is_some() {
            return Pick::Failed(unreachable("there is no other server"));
        }
        current_link(&self.current).map_or(Pick::Connecting, |link| Pick::Ready(PickedConnection::new(link)))
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(async move { self.connect(wait).await.map(PickedConnection::new) })
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.current()
    }

    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(async { while self.keep_one().await {} })
    }

    fn close(&self) {
        self.close();
    }

    fn loads(&self) -> Vec<ServerLoad> {
        if matches!(self.source, LinkSource::Given) { Vec::new() } else { vec![self.load()] }
    }
}

opaque_debug!([] Links, "Links", |this| to = this.name());

impl LinkSource {
    /// Prevents further connections.
    fn stop(&self) {
        match self {
            Self::Given => {}
            Self::Task(task) => task.stop(),
            #[cfg(feature = "grpc")]
            Self::Grpc(links) => links.close(),
        }
    }
}

impl Drop for Links {
    fn drop(&mut self) {
        self.source.stop();
    }
}
