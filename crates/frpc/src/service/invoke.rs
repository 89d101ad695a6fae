//! Interface between the callers of unary methods and the methods. Calls may be native (in either direction), from
//! adapter connections, or request a hand-off.

use crate::api::hand_off::HandOff;
use crate::api::middleware::Chain;
use crate::api::request::Origin;
use crate::observe::TraceContext;
use crate::observe::observers::{MethodObserver, ObservedCall};
use crate::service::admission::Guard;
use crate::service::caller::Caller;
use crate::service::erased::HandlerPlacement;
use crate::service::formats::FormatOptions;
use crate::wire::body::DecodeOptions;
use crate::wire::envelope::Envelope;
use crate::wire::translation::Translation;
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::{HandOffRequest, Operation, Outbox, PacketId, Routed};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Per-connection state of a unary method with its message types erased.
pub(crate) trait Invoke: Send {
    /// Serves a call over any protocol. Applies access rules, limits, middleware and the deadline, and notifies
    /// observers.
    fn serve(&mut self, call: Incoming<'_>) -> ServeProgress;

    /// Returns whether a handler holds or waits for a permit of this instance. If so, the instance must be kept,
    /// because a new instance would not count that permit. (The handler of a cancelled call holds its permit until its
    /// current poll returns.)
    fn is_needed(&self) -> bool;
}

/// A received request with the data needed to serve it.
pub(crate) struct Incoming<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: Envelope,
    pub(crate) trace: Option<&'a TraceContext>,
    pub(crate) reply: ReplyTo<'a>,
    /// Whether the handler may be polled inline by the connection's driver.
    pub(crate) inline: bool,
    /// Whether the limit of concurrent calls permits this call. If not, the call is rejected before its handler is
    /// polled.
    pub(crate) has_permit: bool,
}

/// Destination of a reply, which depends on the protocol of the caller.
pub(crate) enum ReplyTo<'a> {
    Packet {
        id: PacketId,
        operation: Operation,
        outbox: &'a mut Outbox,
    },
    /// An adapter, whose client uses another protocol. If the handler is ready immediately, its encoded response is
    /// appended to `out`.
    Adapter {
        out: &'a mut Vec<u8>,
        outcome: &'a mut Option<AdapterOutcome>,
    },
    /// The peer's hand-off request, which the reply decides. Boxed to keep the enum small, because it is moved several
    /// times.
    HandOff(Box<(HandOffRequest, HandOff)>),
}

impl ReplyTo<'_> {
    /// Returns the origin that is attached to the request.
    #[inline(always)]
    pub(crate) fn origin(&self, caller: &Caller) -> Origin {
        let is_adapter = matches!(self, Self::Adapter { .. });
        let hand_off = if let Self::HandOff(hand_off) = self { Some(hand_off.1.clone()) } else { None };
        Origin { transport: Some(caller.connection.clone()), is_adapter, hand_off }
    }
}

/// State of an adapter's call when `serve` returns.
pub(crate) enum AdapterOutcome {
    Ready(Result<Response<()>, Status>),
    Pending(PendingHandler),
}

/// A call with a pending handler.
pub(crate) struct PendingHandler {
    pub(crate) work: Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>,
    /// Memory in bytes charged for the request until its handler has completed.
    pub(crate) memory: usize,
    pub(crate) observed_call: Option<Box<ObservedCall>>,
}

/// State of a call when [`serve`](Invoke::serve) returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ServeProgress {
    /// The call was answered, or a spawned task will answer it.
    Started,
    /// Same as `Started`, but the request was so expensive that the driver should check the duration of its poll.
    Slow,
    /// The call was rejected because of an error of the peer. Its packet counts as useless.
    Refused,
    /// The call was rejected because the local peer lacks capacity. Unlike a malformed request, it does not count
    /// against the remote peer.
    Overloaded,
}

impl From<ServeProgress> for Routed {
    fn from(served: ServeProgress) -> Self {
        match served {
            ServeProgress::Started | ServeProgress::Overloaded => Self::Continue,
            ServeProgress::Slow => Self::Slow,
            ServeProgress::Refused => Self::Discarded,
        }
    }
}

/// Settings for creating a connection's instance of a unary method.
pub(crate) struct InvokeSettings<'a> {
    pub(crate) running: &'a HandlerPlacement,
    /// Options for decoding requests in the native encoding.
    pub(crate) reading: DecodeOptions,
    pub(crate) chain: Option<&'a Arc<Chain>>,
    pub(crate) method_observer: Option<&'a MethodObserver>,
    pub(crate) guard: Option<Guard>,
    /// Whether to compress the response messages.
    pub(crate) compresses: bool,
    /// Translation of messages from and to the peer's wire layout, if it differs.
    pub(crate) translation: Option<Arc<Translation>>,
    /// Permits that limit concurrent calls under [`Policy::AtMost`](crate::Policy::AtMost).
    pub(crate) permits: Option<Arc<Semaphore>>,
    /// Format of the messages, if it is not the native encoding.
    pub(crate) format: Option<(&'a str, &'a FormatOptions)>,
}
