//! Methods with their types erased, for a connection to call.

use crate::Policy;
use crate::api::middleware::Chain;
use crate::observe::watching::{Watched, Watcher};
use crate::schema::method::Method;
use crate::service::caller::Caller;
use crate::service::erased::Erased;
use crate::service::guarded::Guard;
use crate::wire::body::Reading;
use crate::wire::prefix::Prefix;
use frisbee::support::{Site, Trust, TrustHandle};
use frisbee::{Operation, Outbox, Packet, Routed, Stream};
use std::sync::Arc;
use std::time::Instant;

pub(crate) struct Entry {
    pub(crate) method: Method,
    pub(crate) kind: Kind,
    /// For foreign callers.
    pub(crate) face: Box<dyn Erased>,
    /// The middleware of this method and of its service.
    pub(crate) chain: Chain,
}

pub(crate) enum Kind {
    Unary(Box<dyn Unary>),
    Stream(Box<dyn Streamed>),
}

/// Where the handlers of a method run.
pub(crate) struct Running {
    pub(crate) policy: Policy,
    /// For [`Policy::Inline`].
    pub(crate) trust: Arc<Trust>,
}

impl Running {
    /// Where the handlers of a method that streams run. `is_apart` says that handlers of their connection take long.
    pub(crate) fn site(&self, operation: Operation, is_apart: bool) -> Site {
        if self.policy == Policy::Inline && !is_apart && self.trust.is_kept() {
            Site::Worker(operation, TrustHandle::of_connection(&self.trust))
        } else {
            Site::Runtime
        }
    }
}

/// A unary method, of which each connection has an instance.
pub(crate) trait Unary: Send + Sync {
    /// Creates an instance. `reading` says how requests are read, `chain` is the middleware, `watcher` observes the
    /// calls, `guard` lets them in, and `packed` says what of them may be packed.
    fn instance(
        &self,
        running: &Running,
        reading: Reading,
        chain: Option<&Arc<Chain>>,
        watcher: Option<&Watcher>,
        guard: Option<&Guard>,
        packed: MayBePacked,
    ) -> Box<dyn Instance>;
}

/// What may be packed of the calls of a method on one connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MayBePacked {
    Nothing,
    Requests,
    RequestsAndReplies,
}

/// A unary method on one connection.
pub(crate) trait Instance: Send {
    /// Serves a request, and replies into `outbox` if the handler is ready at once. `inline` says whether the handler
    /// may be polled in place.
    fn call(&mut self, caller: &Caller, packet: Packet, outbox: &mut Outbox, inline: bool) -> Routed;

    /// Serves a request for a hand-off. The handler has a task of its own.
    fn hand_off(&mut self, caller: &Caller, method: Method, asked: frisbee::HandOffRequest) -> Routed;

    /// Whether a handler holds or awaits a permit of this instance, which would not count if the instance were made
    /// anew. A cancelled handler holds its permit for as long as it is inside a poll.
    fn is_needed(&self) -> bool;
}

/// A method that streams in one or both directions.
pub(crate) trait Streamed: Send + Sync {
    fn open(&self, opened: Opened<'_>);
}

/// A stream that a peer has opened for a call.
pub(crate) struct Opened<'a> {
    pub(crate) caller: &'a Caller,
    /// The prefix of the packet that opened it.
    pub(crate) prefix: Option<Prefix>,
    pub(crate) stream: Stream,
    /// How requests are read.
    pub(crate) reading: Reading,
    /// The middleware around the call.
    pub(crate) chain: Option<Arc<Chain>>,
    /// Where the handler runs.
    pub(crate) site: Site,
    /// The call as its observer knows it.
    pub(crate) watched: Option<Watched>,
    /// When its caller is no longer let in.
    pub(crate) expires: Option<Instant>,
    /// Its replies are packed.
    pub(crate) packs: bool,
}

impl<F: Fn(Opened<'_>) + Send + Sync> Streamed for F {
    fn open(&self, opened: Opened<'_>) {
        self(opened);
    }
}
