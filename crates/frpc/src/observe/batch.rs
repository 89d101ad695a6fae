//! The interface for counters: completed calls in batches, and the servers of channels.

use crate::Code;
use crate::observe::ObservedMethod;
use std::any::Any;
use std::fmt;
use std::sync::Weak;

/// Observes completed calls in batches, which is cheaper than an [`Observer`](super::Observer).
///
/// Register it with `batch_observer` of the builders of [servers](crate::ServerBuilder::batch_observer) and
/// [channels](crate::ChannelBuilder::batch_observer). The crate `frpc-telemetry` has counters that implement it.
///
/// The functions run on threads that drive connections, some of them while the lock of a connection's calls is held.
/// They must be fast, must not block and must not make calls.
///
/// Durations have the resolution of a connection's turns. At a client a duration extends from sending the request to
/// the turn that received the reply. At a server it extends from the turn that received the request to the end of that
/// turn, when replies are written, or to the completion of a pending handler.
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
    /// Registers a method and returns the number under which its calls are reported. Called several times for one
    /// method, and should then return the same number.
    fn register(&self, about: &ObservedMethod) -> u32;

    /// Reports calls of a method that ended with one code, each of which took `nanos` nanoseconds.
    fn ended(&self, method: u32, code: Code, calls: u64, nanos: u64);

    /// Corrects the code of a call that was reported with [`Code::Ok`]: its caller dropped it before receiving the
    /// reply, or the reply could not be decoded.
    fn reclassified(&self, method: u32, code: Code, nanos: u64);

    /// Reports, at a client, an attempt that failed with a code and is followed by another attempt.
    fn retried(&self, method: u32, code: Code) {
        let _ = (method, code);
    }

    /// Reports, at a client, a reply to a call that had already ended, like
    /// [`Observer::late_reply`](super::Observer::late_reply).
    fn late_reply(&self) {}

    /// Called at a server when a request is rejected without being assigned to a method, for example because the method
    /// does not exist.
    fn unserved(&self) {}

    /// Reports, at a client, the end of an attempt to connect.
    fn dialled(&self, is_connected: bool) {
        let _ = is_connected;
    }

    /// Reports a new channel whose calls are observed.
    fn channel(&self, servers: ChannelServers) {
        let _ = servers;
    }
}

/// The servers of a channel. Does not keep the channel alive.
#[derive(Clone)]
pub struct ChannelServers(Weak<dyn LoadSource>);

/// A channel that can report the load of its servers.
pub(crate) trait LoadSource: Send + Sync {
    fn loads(&self) -> Vec<ServerLoad>;
}

impl ChannelServers {
    pub(crate) fn new(channel: Weak<dyn LoadSource>) -> Self {
        Self(channel)
    }

    /// Returns whether the channel still exists.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Returns the current load of each server. Empty if the channel no longer exists, or if its connections come from
    /// a function of the program.
    pub fn loads(&self) -> Vec<ServerLoad> {
        self.0.upgrade().map(|channel| channel.loads()).unwrap_or_default()
    }
}

impl fmt::Debug for ChannelServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChannelServers").field(&self.loads()).finish()
    }
}

/// The load that channels put on a server.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ServerLoad {
    /// Name of the server, as given by the program or the channel's resolver.
    pub server: String,
    /// Number of connections to the server that accept calls, one per channel.
    pub connections: u64,
    /// Number of calls and streams in progress on these connections.
    pub in_progress: u64,
    /// Number of channels that consider the server unhealthy: it replied that it cannot work, and nothing else since.
    pub doubts: u64,
}

impl ServerLoad {
    /// Creates the load of one channel. `in_progress` is `None` without a connection.
    pub fn new(server: impl Into<String>, in_progress: Option<usize>, is_doubted: bool) -> Self {
        Self {
            server: server.into(),
            connections: u64::from(in_progress.is_some()),
            in_progress: in_progress.unwrap_or(0) as u64,
            doubts: u64::from(is_doubted),
        }
    }
}
