//! The interface through which unary calls reach their methods: native calls of both directions, calls of adapter
//! connections, and calls that request a hand-off.

use crate::api::hand_off::HandOff;
use crate::api::middleware::Chain;
use crate::api::request::Origin;
use crate::observe::TraceContext;
use crate::observe::observers::{MethodObserver, ObservedCall};
use crate::service::admission::Guard;
use crate::service::caller::Caller;
use crate::service::erased::HandlerPlacement;
use crate::service::formats::FormatTerms;
use crate::wire::body::DecodeOptions;
use crate::wire::envelope::Envelope;
use crate::wire::translation::Translation;
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::{HandOffRequest, Operation, Outbox, PacketId, Routed};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A unary method for the calls of one connection.
pub(crate) trait Invoke: Send {
    /// Serves a call over any protocol. Applies access rules, limits, middleware, the deadline and observers.
    fn serve(&mut self, call: Incoming<'_>) -> ServeProgress;

    /// Returns whether a handler holds or awaits a permit of this instance. A new instance would not count that permit.
    /// A cancelled handler holds its permit until its current poll returns.
    fn is_needed(&self) -> bool;
}

/// A received call.
pub(crate) struct Incoming<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: Envelope,
    pub(crate) trace: Option<&'a TraceContext>,
    pub(crate) reply: ReplyTo<'a>,
    /// Whether the handler may be polled in place.
    pub(crate) inline: bool,
    /// Whether another call may start. Otherwise this call is rejected before its handler is polled.
    pub(crate) has_permit: bool,
}

/// The destination of a reply.
pub(crate) enum ReplyTo<'a> {
    Packet {
        id: PacketId,
        operation: Operation,
        outbox: &'a mut Outbox,
    },
    /// A caller over another protocol. The message of an immediate response is appended to `out`.
    Adapter {
        out: &'a mut Vec<u8>,
        outcome: &'a mut Option<AdapterOutcome>,
    },
    /// Boxed because a destination is moved several times.
    HandOff(Box<(HandOffRequest, HandOff)>),
}

impl ReplyTo<'_> {
    /// Returns the origin of the request.
    #[inline(always)]
    pub(crate) fn origin(&self, caller: &Caller) -> Origin {
        let is_adapter = matches!(self, Self::Adapter { .. });
        let hand_off = if let Self::HandOff(hand_off) = self { Some(hand_off.1.clone()) } else { None };
        Origin { transport: Some(caller.connection.clone()), is_adapter, hand_off }
    }
}

/// The state of a call over another protocol when the method returns.
pub(crate) enum AdapterOutcome {
    Ready(Result<Response<()>, Status>),
    Pending(PendingHandler),
}

/// A call whose handler is pending.
pub(crate) struct PendingHandler {
    pub(crate) work: Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>,
    /// Memory of the request in bytes.
    pub(crate) memory: usize,
    pub(crate) observed_call: Option<Box<ObservedCall>>,
}

/// The progress of a call when the method returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ServeProgress {
    /// The call was answered, or a spawned task will answer it.
    Started,
    /// Like `Started`, but the request is expensive relative to its size.
    Slow,
    /// The call was rejected. Its packet counts as waste.
    Refused,
    /// The call was rejected for lack of capacity. The peer is not charged.
    Overloaded,
}

impl From<ServeProgress> for Routed {
    fn from(served: ServeProgress) -> Self {
        match served {
            ServeProgress::Started | ServeProgress::Overloaded => Self::Continue,
            ServeProgress::Slow => Self::Slow,
            ServeProgress::Refused => Self::Useless,
        }
    }
}

/// The settings of a method for one connection.
pub(crate) struct InvokeSettings<'a> {
    pub(crate) running: &'a HandlerPlacement,
    /// Options for decoding native requests.
    pub(crate) reading: DecodeOptions,
    pub(crate) chain: Option<&'a Arc<Chain>>,
    pub(crate) method_observer: Option<&'a MethodObserver>,
    pub(crate) guard: Option<Guard>,
    /// Whether replies are compressed.
    pub(crate) packs: bool,
    /// The translation of messages for a peer with another layout.
    pub(crate) translation: Option<Arc<Translation>>,
    /// Used by [`Policy::AtMost`](crate::Policy::AtMost).
    pub(crate) permits: Option<Arc<Semaphore>>,
    /// The message format, instead of the native encoding.
    pub(crate) format: Option<(&'a str, &'a FormatTerms)>,
}
