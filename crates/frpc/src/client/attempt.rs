//! Attempts of unary calls on a connection: waiting for the reply, and handling failures.

use crate::calls::failures::expired;
use crate::calls::observed::EndedCall;
use crate::calls::{Body, CallOutcome, CallTicket, Calls, ServerKind};
use crate::client::call::PendingCall;
use crate::client::link::Link;
use crate::observe::observers::{CallSizes, CallStart};
use crate::observe::{ObservedMethod, Token};
use crate::schema::method::Method;
use crate::wire::body;
use crate::{Code, Response, Status};
use bytes::Bytes;
use polyglot::Message;
use std::any::Any;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

/// Failure of one attempt of a call, with the data needed for another attempt.
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) sent: SentState,
    /// Deadline of the call, including further attempts.
    pub(crate) until: Option<Instant>,
    /// Start of the observed call, so that the next attempt belongs to the same call. `None` if no attempt may follow.
    pub(crate) observed: Option<CallStart>,
}

/// Progress of a failed attempt, which determines whether the call may be retried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SentState {
    /// The call was not sent because the connection had closed. It may be retried on another connection.
    No,
    /// The call was not sent and must not be retried, because its deadline has passed or its request is invalid.
    Never,
    /// The connection was lost after the call had been sent, so the server may have run it.
    Disconnected,
    /// A server of a load-balanced channel rejected the call. It may be retried on another server.
    Refused,
    /// The call was sent before the server announced its limit of concurrent calls, and exceeded it. The server has not
    /// run it, so it is sent again within the limit.
    Early,
    /// The call completed, because the server replied or the status is final.
    Answered,
}

impl Failure {
    pub(crate) fn new(status: Status, sent: SentState) -> Box<Self> {
        Box::new(Self { status, sent, until: None, observed: None })
    }

    /// Returns whether another attempt may follow although this one was sent. Unlike
    /// [`may_be_retried`](Self::may_be_retried), this includes calls sent before the server announced its limits.
    fn may_be_followed(&self) -> bool {
        self.may_be_retried() || self.sent == SentState::Early
    }

    /// Returns whether the call may be retried although this attempt was sent.
    pub(crate) fn may_be_retried(&self) -> bool {
        matches!(self.sent, SentState::Disconnected | SentState::Refused)
    }
}

/// Type-erased message of a reply.
pub(crate) type AnyReply = Box<dyn Any + Send>;

/// Function pointers for the reply type of a call. They allow the retry code to be compiled once for all methods.
#[derive(Clone, Copy)]
pub(crate) struct ReplyReader {
    /// Waits for the reply of a native server.
    pub(crate) wait: fn(Arc<Link>, &PendingCall<'_>, CallTicket) -> AwaitedReply,
    /// Decodes the reply of a gRPC server.
    #[cfg(feature = "grpc")]
    pub(crate) decode: fn(Bytes) -> Result<AnyReply, Status>,
}

impl ReplyReader {
    pub(crate) fn of<B: Message + Send + 'static>() -> Self {
        Self {
            wait: await_reply::<B>,
            #[cfg(feature = "grpc")]
            decode: |bytes| Ok(Box::new(crate::client::grpc::calls::decode::<B>(bytes)?)),
        }
    }
}

pub(crate) type AwaitedReply = Pin<Box<dyn Future<Output = Result<Response<AnyReply>, Box<Failure>>> + Send>>;

/// Waits for the reply to a sent call.
fn await_reply<B: Message + Send + 'static>(
    link: Arc<Link>,
    call: &PendingCall<'_>,
    ticket: CallTicket,
) -> AwaitedReply {
    let call = InFlight::<B>::new(link, call, ticket);
    Box::pin(async move { Ok(call.await?.map(|message| Box::new(message) as AnyReply)) })
}

/// A sent call that waits for its reply. Dropping it cancels the call.
pub(crate) struct InFlight<B> {
    call: SentCall,
    reply: PhantomData<fn() -> B>,
}

/// The part of a sent call that is independent of its reply type.
struct SentCall {
    link: Arc<Link>,
    method: &'static Method,
    /// Ticket of the call in the call table. `None` once the call has ended.
    ticket: Option<CallTicket>,
    /// Whether the call table reports the end of the call to an observer.
    is_observed: bool,
}

/// Outcome of a call that failed, or has a reply that is long, compressed or in another wire layout. Boxed to keep the
/// future of ordinary calls small.
struct RareEnding {
    ticket: CallTicket,
    ended: CallOutcome<()>,
    /// Body of the reply, if it was received but not decoded yet.
    unread: Option<Bytes>,
    until: Option<Instant>,
    /// Data about the ended call to report to its observer.
    over: Option<EndedCall>,
}

impl RareEnding {
    /// Creates the outcome of a call. `length` is the length of the reply if the call is observed, and `None`
    /// otherwise.
    #[cold]
    fn new(
        calls: &mut Calls,
        ticket: CallTicket,
        ended: CallOutcome<()>,
        unread: Option<Bytes>,
        length: Option<usize>,
    ) -> Box<Self> {
        let until = calls.deadline(ticket);
        let mut over = length.and_then(|_| calls.over_as(&ended, ticket));
        over.iter_mut().for_each(|over| over.tracked.sizes.reply = length.unwrap_or_default() as u64);
        Box::new(Self { ticket, ended, unread, until, over })
    }
}

impl SentCall {
    /// Returns the status of a call that has passed its deadline.
    fn expired(&self) -> Status {
        let expired = expired(self.method);
        match self.link.calls.with(|calls| calls.server) {
            ServerKind::Compat => Status::deadline_exceeded(format!(
                "{}; the server is a compat peer (Go), which does not answer calls of unknown methods",
                expired.message()
            )),
            ServerKind::Native | ServerKind::Decompressing | ServerKind::Unknown => expired,
        }
    }

    /// Counts the end of a call and reports it to its observer.
    fn observe_end(&self, code: Code, over: &EndedCall) {
        self.link.calls.calls.lock().count(self.method, code, over);
        // Notify outside of the lock, because an observer may make calls, which lock the table.
        self.notify_end(over.tracked.token, code, over.tracked.sizes);
    }

    /// Reports the end of a call to its observer.
    fn notify_end(&self, token: Token, code: Code, sizes: CallSizes) {
        if let Some(observer) = &self.link.observer {
            observer.notify_end(&ObservedMethod::of_unary(self.method), token, code, sizes);
        }
    }

    /// Creates the failure of an attempt. `answered` is the status in the server's reply, if it replied. Cancels an
    /// expired call, and reports the end of an observed call if no other attempt may follow.
    fn fail(&self, ending: RareEnding, answered: Option<Status>) -> Box<Failure> {
        let RareEnding { ticket, ended, until, over, .. } = ending;
        let (status, sent) = match (answered, ended) {
            (Some(status), _)
                if ticket.is_early && status.code() == Code::ResourceExhausted && !status.may_have_run() =>
            {
                (status, SentState::Early)
            }
            (Some(status), _) => {
                self.link.calls.handle_answer(status.code());
                // Another server of a load-balanced channel may run the call.
                let is_retried = self.method.idempotent && self.link.calls.is_of_fleet();
                let is_refused = is_retried && status.code() == Code::Unavailable;
                (status, if is_refused { SentState::Refused } else { SentState::Answered })
            }
            (None, CallOutcome::Disconnected(status)) => (status, SentState::Disconnected),
            (None, CallOutcome::Expired) => {
                // Cancel the call, because an expired deadline does not free its slot.
                self.link.abandon(ticket);
                (self.expired(), SentState::Answered)
            }
            (None, CallOutcome::Reply(())) => unreachable!("undecoded reply should have its body in `unread`"),
        };
        let mut failure = Failure { until, ..*Failure::new(status, sent) };
        if let Some(over) = over {
            // Report the end of the call to the observer only after its last attempt.
            if failure.may_be_followed() {
                failure.observed =
                    Some(CallStart { at: over.started, token: over.tracked.token, trace: over.tracked.trace });
            } else {
                self.observe_end(failure.status.code(), &over);
            }
        }
        Box::new(failure)
    }

    /// Cancels a call that its caller no longer awaits.
    #[cold]
    fn give_up(&self, ticket: CallTicket) {
        // Take the record before the slot is freed, because the next call in the slot replaces it.
        let over = if self.is_observed { self.link.calls.calls.lock().over_now(ticket) } else { None };
        self.link.abandon(ticket);
        if let Some(over) = over {
            self.observe_end(Code::Cancelled, &over);
        }
    }
}

impl<B> InFlight<B> {
    pub(crate) fn new(link: Arc<Link>, call: &PendingCall<'_>, ticket: CallTicket) -> Self {
        let is_observed = call.observer.is_some();
        Self { call: SentCall { link, method: call.method, ticket: Some(ticket), is_observed }, reply: PhantomData }
    }
}

impl<B: Message> InFlight<B> {
    /// Returns the result of a call that failed, or whose reply was not decoded under the lock of the call table.
    #[cold]
    fn finish(&self, ending: RareEnding) -> Result<Response<B>, Box<Failure>> {
        let call = &self.call;
        let Some(body) = &ending.unread else { return Err(call.fail(ending, None)) };
        let (link, translation) = (&call.link, call.link.reply_translation(call.method));
        let reply =
            link.native().and_then(|connection| body::reply(body, link.reading(), connection, translation.as_deref()));
        match reply {
            Ok(reply) => {
                call.link.calls.handle_answer(Code::Ok);
                ending.over.iter().for_each(|over| call.observe_end(Code::Ok, over));
                Ok(reply)
            }
            Err(status) => Err(call.fail(ending, Some(status))),
        }
    }
}

impl<B: Message> Future for InFlight<B> {
    type Output = Result<Response<B>, Box<Failure>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let call = &mut self.call;
        let Some(ticket) = call.ticket else { return Poll::Pending };
        let (mut reply, mut length, mut observed, mut rare) = (None, 0, None, None);
        // Short replies are decoded under the lock, because they are stored in a buffer of their slot.
        call.link.calls.with(|calls| {
            let mut unread = None;
            let ended = calls.take_reply(ticket, context, |body| {
                length = body.len();
                match body {
                    Body::Copied(body) => {
                        reply = body::whole_reply(body, call.link.nesting);
                        if reply.is_none() {
                            // Copy the reply, so that the lock is not held during decompression and translation.
                            unread = Some(Bytes::copy_from_slice(body));
                        }
                    }
                    Body::Shared(body) => unread = Some(body.clone()),
                }
            });
            if reply.is_some() {
                observed = if call.is_observed { calls.observe_ok(ticket) } else { None };
            } else if let Poll::Ready(ended) = ended {
                rare = Some(RareEnding::new(calls, ticket, ended, unread, call.is_observed.then_some(length)));
            }
        });
        if let Some(ending) = rare {
            // Clear the ticket, so that dropping the future does not cancel a call that has ended.
            call.ticket = None;
            return Poll::Ready(self.finish(*ending));
        }
        let Some(reply) = reply else { return Poll::Pending };
        call.ticket = None;
        call.link.calls.handle_answer(Code::Ok);
        if let Some((token, request)) = observed {
            call.notify_end(token, Code::Ok, CallSizes { request, reply: length as u64 });
        }
        Poll::Ready(Ok(reply))
    }
}

impl Drop for SentCall {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.give_up(ticket);
        }
    }
}
