//! The seam for counters: ended calls in batches, and the servers of channels.

use crate::Code;
use crate::observe::ObservedMethod;
use std::any::Any;
use std::fmt;
use std::sync::Weak;

/// Observes calls in batches when they have ended, which costs less than an [`Observer`](super::Observer).
///
/// Set by `batch_observer` of the builders of [servers](crate::ServerBuilder::batch_observer) and
/// [channels](crate::ChannelBuilder::batch_observer). The counters of the crate `frpc-telemetry` are one.
///
/// The functions run on threads that drive connections, some of them under the lock of the calls of a connection. They must
/// be fast, must not block and must not make calls.
///
/// Durations are known by the turns of connections. At a client a call takes from sending its request until the turn in
/// which the reply came. At a server it takes from the turn in which the request came until the end of that turn, when the
/// replies leave, or until a pending handler has finished.
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
    /// Registers a method, whose calls are reported with the number that is returned. Called several times for one method,
    /// which should get the same number.
    fn register(&self, about: &ObservedMethod) -> u32;

    /// Calls of a method have ended with one code, and took so many nanoseconds each.
    fn ended(&self, method: u32, code: Code, calls: u64, nanos: u64);

    /// A call that was reported as ended with [`Code::Ok`] has ended with another code: its caller dropped it before it
    /// took the reply, or the reply could not be decoded.
    fn reclassified(&self, method: u32, code: Code, nanos: u64);

    /// At a client: an attempt at a call has failed with a code, and another attempt is made.
    fn retried(&self, method: u32, code: Code) {
        let _ = (method, code);
    }

    /// At a client: a reply has come to a call that had ended, as for [`Observer::late_reply`](super::Observer::late_reply).
    fn late_reply(&self) {}

    /// At a server: a request was refused without a method.
    fn unserved(&self) {}

    /// At a client: an attempt to connect has ended.
    fn dialled(&self, is_connected: bool) {
        let _ = is_connected;
    }

    /// A channel was created whose calls are observed.
    fn channel(&self, servers: ChannelServers) {
        let _ = servers;
    }
}

/// The servers of a channel. It does not keep the channel alive.
#[derive(Clone)]
pub struct ChannelServers(Weak<dyn LoadSource>);

/// A channel, which knows the load of its servers.
pub(crate) trait LoadSource: Send + Sync {
    fn loads(&self) -> Vec<ServerLoad>;
}

impl ChannelServers {
    pub(crate) fn new(channel: Weak<dyn LoadSource>) -> Self {
        Self(channel)
    }

    /// Whether the channel still exists.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// The current load of each server; none if the channel no longer exists, or if its connections come from a function
    /// of the program.
    pub fn loads(&self) -> Vec<ServerLoad> {
        self.0.upgrade().map(|channel| channel.loads()).unwrap_or_default()
    }
}

impl fmt::Debug for ChannelServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ChannelServers").field(&self.loads()).finish()
    }
}

/// The load of a server by the channels that call it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct ServerLoad {
    /// The server as the program, or the resolver of the channel, names it.
    pub server: String,
    /// The connections to it that take calls: one for each channel.
    pub connections: u64,
    /// The calls and streams in progress on these.
    pub in_progress: u64,
    /// The channels that doubt it: it has answered that it cannot work, and not otherwise since.
    pub doubts: u64,
}

impl ServerLoad {
    /// The load by one channel. `in_progress` is `None` without a connection.
    pub fn new(server: impl Into<String>, in_progress: Option<usize>, is_doubted: bool) -> Self {
        Self {
            server: server.into(),
            connections: u64::from(in_progress.is_some()),
            in_progress: in_progress.unwrap_or(0) as u64,
            doubts: u64::from(is_doubted),
        }
    }
}
