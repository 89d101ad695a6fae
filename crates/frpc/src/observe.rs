//! Observers of calls: for individual calls, or for completed calls in batches.
//!
//! An [`Observer`] is notified of the beginning and end of each call, for example for tracing. A [`BatchObserver`]
//! receives the number of completed calls for each method and code, for metrics; the crate `frpc-telemetry` provides
//! one. Both are set on the builders of [servers](crate::ServerBuilder) and [channels](crate::ChannelBuilder). Unlike
//! [middleware](crate::Middleware), they do not allocate and cannot change calls. Without an observer, they add no cost
//! to calls.
//!
//! | | [`Observer`], [`BatchObserver`] | [`Middleware`](crate::Middleware) |
//! |---|---|---|
//! | has access to | method, code, sizes, duration | metadata, extensions, the peer |
//! | end of a streaming call | after its last message | when the handler has returned, or the client has received its stream |
//! | is notified of calls that reach no handler | yes | no |
//! | can change or reject calls | no | yes |

mod batch;
pub(crate) mod batch_calls;
pub(crate) mod observers;
mod trace;

pub(crate) use batch::LoadSource;
pub use batch::{BatchObserver, ChannelServers, ServerLoad};
pub use trace::TraceContext;

use crate::api::middleware::CallKind;
use crate::schema::method::Method;
use crate::{Code, Status};
use polyglot::layout::Fingerprint;

/// Observer of individual calls.
///
/// Its methods run on threads that drive connections. They must be fast and must not block. A panic has the same effect
/// as a panic of the handler or the caller.
///
/// ```
/// use frpc::observe::{ObservedMethod, CallEnd, Observer, Token, TraceContext};
///
/// /// Prints calls that fail.
/// struct Failures;
///
/// impl Observer for Failures {
///     fn begin(&self, _about: &ObservedMethod, _trace: &mut Option<TraceContext>) -> Token {
///         Token::default()
///     }
///
///     fn end(&self, about: &ObservedMethod, _token: Token, ended: &CallEnd) {
///         if ended.code != frpc::Code::Ok {
///             println!("{}/{}: {:?}", about.service(), about.method(), ended.code);
///         }
///     }
/// }
///
/// let builder = frpc::Server::builder().observer(Failures);
/// ```
pub trait Observer: Send + Sync + 'static {
    /// Called when a call begins: at a client when it is made, and at a server when its request has been received. The
    /// returned token is passed back at the end of the call. [`Token::NO_END`] disables further notifications of this
    /// call, which is cheaper.
    ///
    /// `trace` is the trace context of the call. At a server, it is the context that the caller has sent. At a client,
    /// it is the context inherited from the handler that makes the call. The observer may replace it. At a server, the
    /// calls that the handler makes inherit the new context. At a client, the new context is sent to the server.
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token;

    /// Called when a call has ended, once for each call, unless its token is [`Token::NO_END`].
    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd);

    /// Called at a client when an attempt has failed and another one is made. The call itself continues.
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded) means that the attempt was slow and continues in parallel.
    /// `trace` is the context that was sent with the call. If the observer replaces it, the new one is sent with the
    /// next attempt.
    fn retry(&self, about: &ObservedMethod, token: Token, failed: &Status, trace: &mut Option<TraceContext>) {
        let _ = (about, token, failed, trace);
    }

    /// Called on a client when a reply arrives after its call was cancelled or timed out. The call has already been
    /// reported as ended and can no longer be identified. Includes replies that confirm a cancellation.
    fn late_reply(&self) {}
}

/// A value that an [`Observer`] uses to identify a call, such as a timestamp or the index of a span.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Token(pub u64);

impl Token {
    /// Token for calls that need no further notifications, such as calls that tracing does not sample. Their trace
    /// context is still propagated.
    pub const NO_END: Self = Self(u64::MAX);
}

/// Outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CallEnd {
    /// Status code of the call. [`Code::Cancelled`] if the caller cancelled the call and, on a server, also if the
    /// connection closed.
    pub code: Code,
    /// Length of the request in bytes; at a client, including the header. For streaming calls, the total length of the
    /// client's messages, including the wire overhead of messages that share a packet. 0 if unknown, which is the case
    /// for calls over other protocols and, at a client, for unary calls that could not be sent immediately or have
    /// middleware.
    pub request_bytes: u64,
    /// Length of the response in bytes, including its header on a server. For streaming calls, the total length of the
    /// server's messages. 0 in the same cases as [`request_bytes`](Self::request_bytes), and if a streaming call is
    /// cancelled on a server.
    pub reply_bytes: u64,
}

/// A service of this process that some peers use with another version of the schema.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct TranslatedService {
    /// The full name of the service.
    pub service: &'static str,
    /// Fingerprints of the layouts other than the local one that are in use on open connections.
    pub layouts: Vec<Fingerprint>,
    /// Number of calls with translated messages, since the process started.
    pub calls: u64,
    /// Number of fields that were set by the writer of a message and do not exist in the schema of its reader. The
    /// values of such fields are lost.
    pub skipped_fields: u64,
}

/// The side that observes a call: client or server.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CallSide {
    /// The side that makes the call.
    Client,
    /// The side that serves the call.
    Server,
}

/// A method with observed calls, and the side that observes them.
#[derive(Clone, Copy, Debug)]
pub struct ObservedMethod {
    side: CallSide,
    method: Method,
    kind: CallKind,
}

impl ObservedMethod {
    /// Creates the descriptor of an observed method, for use in tests of observers.
    pub fn new(side: CallSide, method: Method, kind: CallKind) -> Self {
        Self { side, method, kind }
    }

    /// Creates the descriptor of a unary method observed on a client.
    pub(crate) fn of_unary(method: &Method) -> Self {
        Self::new(CallSide::Client, *method, CallKind::Unary)
    }

    /// Returns the side that observes the calls.
    pub fn side(&self) -> CallSide {
        self.side
    }

    /// Returns the full name of the service.
    pub fn service(&self) -> &'static str {
        self.method.layout.service()
    }

    /// Returns the name of the method within its service.
    pub fn method(&self) -> &'static str {
        self.method.name
    }

    /// Returns the kind of the observed calls: whether requests and responses are streams.
    pub fn kind(&self) -> CallKind {
        self.kind
    }
}
