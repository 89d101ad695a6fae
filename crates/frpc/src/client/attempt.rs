//! An attempt of a unary call on one connection: waiting for its reply, and the reason of its failure.

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

/// The reason why an attempt failed.
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) sent: SentState,
    /// The observer's view of the call, if another attempt may follow.
    pub(crate) observed: Option<CallStart>,
}

/// Whether the server may have run the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SentState {
    /// Not sent: the connection had closed. The call may use another connection.
    No,
    /// Not sent, and the call has failed: its deadline passed while it waited, or its request is invalid.
    Never,
    /// Possibly run: the connection was lost.
    Disconnected {
        /// The deadline of the call, including further attempts.
        until: Option<Instant>,
    },
    /// A server of a fleet rejected the call, which may be retried at another server.
    Refused {
        /// The deadline of the call, including further attempts.
        until: Option<Instant>,
    },
    /// The call has completed with this status.
    Answered,
}

impl Failure {
    pub(crate) fn new(status: Status, sent: SentState) -> Box<Self> {
        Box::new(Self { status, sent, observed: None })
    }

    /// Returns whether the call may be retried although this attempt was sent.
    pub(crate) fn may_be_retried(&self) -> bool {
        matches!(self.sent, SentState::Disconnected { .. } | SentState::Refused { .. })
    }
}

/// The message of a reply, with its type erased.
pub(crate) type AnyReply = Box<dyn Any + Send>;

/// Function that awaits the reply of a sent call: [`await_reply`] for one reply type.
pub(crate) type AwaitReply = fn(Arc<Link>, &PendingCall<'_>, CallTicket) -> AwaitedReply;

type AwaitedReply = Pin<Box<dyn Future<Output = Result<Response<AnyReply>, Box<Failure>>> + Send>>;

/// Awaits the reply of a sent call. Passed as a function, so that attempts are compiled once for all methods.
pub(crate) fn await_reply<B: Message + Send + 'static>(
    link: Arc<Link>,
    call: &PendingCall<'_>,
    ticket: CallTicket,
) -> AwaitedReply {
    let call = InFlight::<B>::new(link, call, ticket);
    Box::pin(async move { Ok(call.await?.map(|message| Box::new(message) as AnyReply)) })
}

/// A sent call that waits for its reply.
pub(crate) struct InFlight<B> {
    call: SentCall,
    reply: PhantomData<fn() -> B>,
}

/// A sent call, without the type of its reply.
struct SentCall {
    link: Arc<Link>,
    method: &'static Method,
    /// `None` once the reply has been taken.
    ticket: Option<CallTicket>,
    /// Whether the table of calls reports the call to an observer.
    is_observed: bool,
}

/// The end of a call that failed, or whose reply is long, compressed or in another layout. Boxed to keep other calls
/// small.
struct RareEnding {
    ticket: CallTicket,
    ended: CallOutcome<()>,
    /// The undecoded body of the reply, if there is one.
    unread: Option<Bytes>,
    until: Option<Instant>,
    /// The observer's view of the call.
    over: Option<EndedCall>,
}

impl RareEnding {
    /// Creates the end of a call. `length` is the length of the reply if the call is observed.
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
    /// Returns the status of a call that timed out.
    fn expired(&self) -> Status {
        let expired = expired(self.method);
        match self.link.calls.with(|calls| calls.server) {
            ServerKind::Compat => Status::deadline_exceeded(format!(
                "{}; the server is a compat peer (Go), which does not answer calls of unknown methods",
                expired.message()
            )),
            ServerKind::Native | ServerKind::Unpacking | ServerKind::Unknown => expired,
        }
    }

    /// Counts the end of a call and notifies the observer.
    fn observe_end(&self, code: Code, over: &EndedCall) {
        self.link.calls.calls.lock().count(self.method, code, over);
        self.notify_end(over.tracked.token, code, over.tracked.sizes);
    }

    /// Notifies the observer of the end of a call.
    fn notify_end(&self, token: Token, code: Code, sizes: CallSizes) {
        if let Some(observer) = &self.link.observer {
            observer.notify_end(&ObservedMethod::of_unary(self.method), token, code, sizes);
        }
    }

    /// Returns whether a call rejected by a server of a fleet may be sent to another one. It must be idempotent.
    fn refused(&self, code: Code, until: Option<Instant>) -> SentState {
        match code {
            Code::Unavailable if self.method.idempotent && self.link.calls.is_of_fleet() => {
                SentState::Refused { until }
            }
            _ => SentState::Answered,
        }
    }

    /// Returns the failure of a call. `answered` is the status of the server's reply, if any.
    fn fail(&self, ending: RareEnding, answered: Option<Status>) -> Box<Failure> {
        let RareEnding { ticket, ended, until, over, .. } = ending;
        let (status, sent) = match (answered, ended) {
            (Some(status), _) => {
                self.link.calls.handle_answer(status.code());
                let sent = self.refused(status.code(), until);
                (status, sent)
            }
            (None, CallOutcome::Disconnected { status, until }) => (status, SentState::Disconnected { until }),
            (None, CallOutcome::Expired) => {
                self.link.abandon(ticket);
                (self.expired(), SentState::Answered)
            }
            (None, CallOutcome::Reply(())) => unreachable!("it has been read"),
        };
        let mut failure = Failure::new(status, sent);
        if let Some(over) = over {
            // The observer is notified at the end of the last attempt.
            if failure.may_be_retried() {
                failure.observed =
                    Some(CallStart { at: over.started, token: over.tracked.token, trace: over.tracked.trace });
            } else {
                self.observe_end(failure.status.code(), &over);
            }
        }
        failure
    }

    /// Cancels a call whose caller no longer waits for the reply.
    #[cold]
    fn give_up(&self, ticket: CallTicket) {
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
    /// Returns the result of a call that failed or whose reply was not decoded in place.
    #[cold]
    fn finish(&self, ending: RareEnding) -> Result<Response<B>, Box<Failure>> {
        let call = &self.call;
        let Some(body) = &ending.unread else { return Err(call.fail(ending, None)) };
        let (link, translation) = (&call.link, call.link.reply_translation(call.method));
        match body::reply(body, link.reading(), &link.connection, translation.as_deref()) {
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
        call.link.calls.with(|calls| {
            let mut unread = None;
            let ended = calls.take_reply(ticket, context, |body| {
                length = body.len();
                match body {
                    Body::Copied(body) => {
                        reply = body::whole_reply(body, call.link.nesting);
                        if reply.is_none() {
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
