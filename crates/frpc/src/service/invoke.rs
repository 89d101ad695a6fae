//! The seam at which a unary call enters its method: native calls of both directions, calls of adapter connections, and
//! calls that request a hand-off.

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
use crate::{Response, Status};
use bytes::Bytes;
use frisbee::{HandOffRequest, Operation, Outbox, PacketId, Routed};
use std::pin::Pin;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// A unary method for the calls of one connection.
pub(crate) trait Invoke: Send {
    /// Serves a call: rules, limits, middleware, deadline and observer are applied here, in whatever protocol it came.
    fn serve(&mut self, call: Incoming<'_>) -> ServeProgress;

    /// Whether a handler holds or awaits a permit of this instance, which a new instance would not count. A cancelled
    /// handler holds its permit for as long as it is inside a poll.
    fn is_needed(&self) -> bool;
}

/// A call that has arrived.
pub(crate) struct Incoming<'a> {
    pub(crate) caller: &'a Caller,
    pub(crate) envelope: Envelope,
    pub(crate) trace: Option<&'a TraceContext>,
    pub(crate) reply: ReplyTo<'a>,
    /// The handler may be polled in place.
    pub(crate) inline: bool,
    /// Another call may begin; otherwise it is refused before its handler is polled.
    pub(crate) has_permit: bool,
}

/// The destination of a reply.
pub(crate) enum ReplyTo<'a> {
    Packet {
        id: PacketId,
        operation: Operation,
        outbox: &'a mut Outbox,
    },
    /// Of another protocol. The message of a response that is ready at once is appended to `out`.
    Adapter {
        out: &'a mut Vec<u8>,
        outcome: &'a mut Option<AdapterOutcome>,
    },
    /// In a box, since a destination is passed on several times.
    HandOff(Box<(HandOffRequest, HandOff)>),
}

impl ReplyTo<'_> {
    /// The origin of the request.
    #[inline(always)]
    pub(crate) fn origin(&self, caller: &Caller) -> Origin {
        let is_adapter = matches!(self, Self::Adapter { .. });
        let hand_off = if let Self::HandOff(hand_off) = self { Some(hand_off.1.clone()) } else { None };
        Origin { transport: Some(caller.connection.clone()), is_adapter, hand_off }
    }
}

/// The progress of a call by another protocol.
pub(crate) enum AdapterOutcome {
    Ready(Result<Response<()>, Status>),
    Pending(PendingHandler),
}

/// A call whose handler has to wait.
pub(crate) struct PendingHandler {
    pub(crate) work: Pin<Box<dyn Future<Output = Result<Response<Bytes>, Status>> + Send>>,
    /// The bytes that its request holds.
    pub(crate) memory: usize,
    pub(crate) observed_call: Option<Box<ObservedCall>>,
}

/// The progress of a call when the method returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ServeProgress {
    /// It is answered, or a task answers it.
    Started,
    /// As `Started`, by work that is long for its bytes.
    Slow,
    /// It is refused: its packet was useless.
    Refused,
    /// It is refused because this end has no room. The peer is not charged.
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
    /// How native requests are read.
    pub(crate) reading: DecodeOptions,
    pub(crate) chain: Option<&'a Arc<Chain>>,
    pub(crate) method_observer: Option<&'a MethodObserver>,
    pub(crate) guard: Option<Guard>,
    /// Replies are packed.
    pub(crate) packs: bool,
    /// For [`Policy::AtMost`](crate::Policy::AtMost).
    pub(crate) permits: Option<Arc<Semaphore>>,
    /// The format of the messages, in place of the native encoding.
    pub(crate) format: Option<(&'a str, &'a FormatTerms)>,
}
