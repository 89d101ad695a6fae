//! Observers of calls: of each call, or of completed calls in batches.
//!
//! An [`Observer`] is notified of the begin and the end of each call, for traces. A [`BatchObserver`] receives
//! completed calls by method and code, for counters; the crate `frpc-telemetry` contains one. Both are set on the
//! builders of [servers](crate::ServerBuilder) and [channels](crate::ChannelBuilder). They are not
//! [middleware](crate::Middleware): they do not allocate and cannot change the call. Without an observer, calls run the
//! same instructions as if observers did not exist.
//!
//! | | [`Observer`], [`BatchObserver`] | [`Middleware`](crate::Middleware) |
//! |---|---|---|
//! | sees | method, code, sizes, duration | metadata, extensions, the peer |
//! | a call with streams ends for it | with its last message | when the handler has returned, or the client has its stream |
//! | sees calls that no handler gets | yes | no |
//! | can change or refuse calls | no | yes |

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

/// Observes the begin and the end of each call.
///
/// The functions run where calls are made and served, on threads that drive connections. They must be fast and must not
/// block. A panic in one of them acts like a panic of the handler or the caller.
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
    /// Called when a call begins: at a client when it is made, at a server when its request has been received. The
    /// token is passed back when the call ends. After [`Token::NO_END`] the observer receives no further notification
    /// of the call, which is cheaper.
    ///
    /// `trace` is the trace context of the call: at a server the context sent by its caller, at a client the context
    /// inherited from the calling handler. The observer may replace it. At a server the handler's calls inherit the new
    /// context; at a client it is sent.
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token;

    /// Called when a call has ended: once per call that has begun, unless its token is [`Token::NO_END`].
    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd);

    /// Called at a client when an attempt has failed and another one is made. The call continues. With
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded) the attempt was only slow, and continues in parallel.
    /// `trace` is the context sent with the call. A replacement by the observer is sent with the next attempt.
    fn retry(&self, about: &ObservedMethod, token: Token, failed: &Status, trace: &mut Option<TraceContext>) {
        let _ = (about, token, failed, trace);
    }

    /// Called at a client when a reply arrives after its call was cancelled or timed out. The call has already ended,
    /// and its identity is no longer known. This includes replies by which a server confirms a cancellation.
    fn late_reply(&self) {}
}

/// A value that identifies a call for its [`Observer`], such as a time or the index of a span.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Token(pub u64);

impl Token {
    /// Token of a call whose end and further attempts are not reported, such as an unsampled one. Its trace context is
    /// still propagated.
    pub const NO_END: Self = Self(u64::MAX);
}

/// The outcome of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CallEnd {
    /// The status code. [`Code::Cancelled`] if the caller cancelled, and at a server also if the connection ended.
    pub code: Code,
    /// Length of the request in bytes, at a client including its header. For streaming calls, the total length of the
    /// client's messages, including the wire overhead of those that share a packet. 0 if unknown: for unary calls that
    /// a client could not send immediately or that have middleware there, and for calls over other protocols.
    pub request_bytes: u64,
    /// Length of the reply in bytes, at a server including its header. For streaming calls, the total length of the
    /// server's messages. 0 in the same cases as for the request, and if a server's streaming call is cancelled.
    pub reply_bytes: u64,
}

/// The end of a call at which it is observed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CallSide {
    /// The end that makes the call.
    Client,
    /// The end that serves it.
    Server,
}

/// The properties of all calls of a method at one end.
#[derive(Clone, Copy, Debug)]
pub struct ObservedMethod {
    side: CallSide,
    method: Method,
    kind: CallKind,
}

impl ObservedMethod {
    /// Creates the properties of a generated method's calls, for tests of observers.
    pub fn new(side: CallSide, method: Method, kind: CallKind) -> Self {
        Self { side, method, kind }
    }

    /// Creates the properties of a unary method at a client.
    pub(crate) fn of_unary(method: &Method) -> Self {
        Self::new(CallSide::Client, *method, CallKind::Unary)
    }

    /// Returns the end at which the call is observed.
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

    /// Returns which directions stream.
    pub fn kind(&self) -> CallKind {
        self.kind
    }
}
