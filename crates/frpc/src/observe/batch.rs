//! Interface for metrics: completed calls in batches, and the load of servers.

use crate::Code;
use crate::observe::ObservedMethod;
use std::any::Any;
use std::fmt;
use std::sync::Weak;

/// Observer that receives completed calls in batches, which is cheaper than an [`Observer`](super::Observer).
///
/// Set with `batch_observer` on the builders of [servers](crate::ServerBuilder::batch_observer) and
/// [channels](crate::ChannelBuilder::batch_observer). The crate `frpc-telemetry` provides an implementation.
///
/// Its methods run on threads that drive connections, in some cases while the lock of a call table is held. They must
/// be fast, and must neither block nor make calls.
///
/// Durations are measured in whole polls of a connection's driver. At a client, a call lasts from sending the request
/// until the poll that receives the reply. At a server, it lasts from the poll that receives the request until the end
/// of that poll, when replies are written, or until a pending handler completes.
///
/// ```
/// use frpc::Code;
/// use frpc::observe::{ObservedMethod, BatchObserver};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// /// Counts failed calls.
/// #[derive(Clone, Default)]
/// struct Failures(Arc<AtomicU64>);
///
/// impl BatchObserver for Failures {
///     fn register(&self, _about: &ObservedMethod) -> u32 {
///         0 // Methods are not distinguished.
///     }
///
///     fn ended(&self, _method: u32, code: Code, calls: u64, _nanos: u64) {
///         if code != Code::Ok {
///             self.0.fetch_add(calls, Ordering::Relaxed);
///         }
///     }
///
///     fn reclassified(&self, _method: u32, _code: Code, _nanos: u64) {
///         self.0.fetch_add(1, Ordering::Relaxed);
///     }
/// }
///
/// let failures = Failures::default();
/// let builder = frpc::Server::builder().batch_observer(failures.clone());
/// assert_eq!(failures.0.load(Ordering::Relaxed), 0);
/// ```
pub trait BatchObserver: Any + Send + Sync {
    /// Registers a method and returns its id, which is passed to the other functions. May be called several times for
    /// the same method, and should then return the same id.
    fn register(&self, about: &ObservedMethod) -> u32;

    /// Reports `calls` calls of a method that ended with this status code. Each of them took `nanos` nanoseconds.
    fn ended(&self, method: u32, code: Code, calls: u64, nanos: u64);

    /// Corrects the status code of a call that was reported with [`Code::Ok`], because its caller dropped it before
    /// taking the reply or the reply could not be decoded.
    fn reclassified(&self, method: u32, code: Code, nanos: u64);

    /// Reports on a client that an attempt failed with this status code and is retried.
    fn retried(&self, method: u32, code: Code) {
        let _ = (method, code);
    }

    /// Reports on a client that a reply arrived after its call had ended; see
    /// [`Observer::late_reply`](super::Observer::late_reply).
    fn late_reply(&self) {}

    /// Reports on a server that a request was rejected before its method was known, for example because the method does
    /// not exist.
    fn unserved(&self) {}

    /// Reports on a client that a connection attempt has ended.
    fn dialled(&self, is_connected: bool) {
        let _ = is_connected;
    }

    /// Reports a new channel with observed calls.
    fn channel(&self, servers: ChannelServers) {
        let _ = servers;
    }
}

/// Weak reference to the servers of a channel, which does not keep the channel alive.
#[derive(Clone)]
pub struct ChannelServers(Weak<dyn LoadSource>);

/// A channel that can report the load of each of its servers.
pub(crate) trait LoadSource: Send + Sync {
    fn loads(&self) -> Vec<ServerLoad>;
}

impl ChannelServers {
    pub(crate) fn new(channel: Weak<dyn LoadSource>) -> Self {
        Self(channel)
    }

    /// Returns whether the channel has not been dropped.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Returns the current load of each server. Empty if the channel no longer exists or if the program supplies its
    /// connections.
    pub fn loads(&self) -> Vec<ServerLoad> {
        self.0.upgrade().map(|channel| channel.loads()).unwrap_or_default()
    }
}

impl fmt::Debug for ChannelServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChannelServers").field(&self.loads()).finish()
    }
}

/// Load on a server that is caused by the channels of this client.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ServerLoad {
    /// Name of the server, as configured or as returned by the channel's resolver.
    pub server: String,
    /// Number of connections to the server that accept calls, at most one per channel.
    pub connections: u64,
    /// Number of calls and streams in progress on these connections.
    pub in_progress: u64,
    /// Number of channels that consider the server unhealthy, because of its last reply.
    pub suspicions: u64,
}

impl ServerLoad {
    /// Creates the load that one channel causes. `in_progress` is `None` if the channel has no connection to the
    /// server.
    pub fn new(server: impl Into<String>, in_progress: Option<usize>, is_suspected: bool) -> Self {
        Self {
            server: server.into(),
            connections: u64::from(in_progress.is_some()),
            in_progress: in_progress.unwrap_or(0) as u64,
            suspicions: u64::from(is_suspected),
        }
    }
}
