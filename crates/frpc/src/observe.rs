//! Observers of calls: of each call, or of ended calls in batches.
//!
//! An [`Observer`] is notified of the begin and the end of each call, for traces. A [`BatchObserver`] gets ended calls by
//! method and code, for counters; those of the crate `frpc-telemetry` are one. Both are set on the builders of
//! [servers](crate::ServerBuilder) and [channels](crate::ChannelBuilder). They are part of the path of calls and not
//! [middleware](crate::Middleware): they allocate nothing and do not change the call, and calls of ends without them take
//! the same instructions as if there were none.
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
/// The functions are called where calls are made and served, on threads that drive connections: they must be quick and
/// must not block. A panic in them is one of the handler, or of the caller.
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
    /// A call begins: at a client when it is made, at a server when its request has been received. The token is given
    /// back when it ends; with [`Token::NO_END`] the observer gets no further notification of the call, which costs
    /// less.
    ///
    /// `trace` is the call's trace context: at a server the context sent by its caller, at a client the one
    /// inherited from the calling handler. The observer may put its own there: at a server the calls of the handler
    /// inherit it, at a client it is sent.
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token;

    /// A call has ended. Each call that has begun ends once, if its token is not [`Token::NO_END`].
    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd);

    /// At a client: an attempt at a call has failed, and another one is made. The call continues. With
    /// [`DeadlineExceeded`](crate::Code::DeadlineExceeded) the attempt has only taken too long, and continues in
    /// parallel. `trace` is the context sent with the call, and the observer's replacement is sent with the next
    /// attempt.
    fn retry(&self, about: &ObservedMethod, token: Token, failed: &Status, trace: &mut Option<TraceContext>) {
        let _ = (about, token, failed, trace);
    }

    /// At a client: a reply has arrived whose call had been cancelled or had reached its deadline. The call has ended
    /// before, and its identity is no longer known. Replies by which a server confirms that a call is cancelled are
    /// among them.
    fn late_reply(&self) {}
}

/// A value that identifies a call for its [`Observer`], such as a time or the index of a span.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Token(pub u64);

impl Token {
    /// Of a call whose end, and further attempts, are not reported to the observer: an unsampled one, for instance. Its
    /// trace context travels all the same.
    pub const NO_END: Self = Self(u64::MAX);
}

/// How a call has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CallEnd {
    /// The code: [`Code::Cancelled`] if the caller cancelled, or at a server its connection ended.
    pub code: Code,
    /// The length of the request in bytes, at a client with its header; of calls with streams that of all messages of
    /// the client, with the wire's overhead of those that share a packet. 0 if it is not known: for unary calls that a
    /// client could not send at once, or that have middleware there, and for those by other protocols.
    pub request_bytes: u64,
    /// The length of the reply in bytes, at a server with its header; of calls with streams that of all messages of the
    /// server. 0 as for the request, and if a server's call with streams is cancelled.
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
    /// The properties of the calls of a generated method, for tests of observers.
    pub fn new(side: CallSide, method: Method, kind: CallKind) -> Self {
        Self { side, method, kind }
    }

    /// Of a unary method that a client calls.
    pub(crate) fn of_unary(method: &Method) -> Self {
        Self::new(CallSide::Client, *method, CallKind::Unary)
    }

    /// The end at which the call is observed.
    pub fn side(&self) -> CallSide {
        self.side
    }

    /// The full name of the service.
    pub fn service(&self) -> &'static str {
        self.method.layout.service()
    }

    /// The name of the method within its service.
    pub fn method(&self) -> &'static str {
        self.method.name
    }

    /// Which directions stream.
    pub fn kind(&self) -> CallKind {
        self.kind
    }
}
