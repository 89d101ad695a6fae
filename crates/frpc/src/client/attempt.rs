//! One attempt at a unary call on one connection.

mod watched;

use crate::api::metadata::Metadata;
use crate::calls::failures::{expired, out_of_time, takes_no_calls, unreachable};
use crate::calls::offers::Refusal;
use crate::calls::watched::Over;
use crate::calls::{BeginError, Body, Calls, Ended, ServerKind, Ticket};
use crate::client::link::Link;
use crate::client::terms::{Terms, present};
use crate::deadline;
use crate::observe::watching::Begun;
use crate::observe::{Token, TraceContext};
use crate::schema::method::Method;
use crate::wire::body::{self, Flags, Manner, PutError, Reading};
use crate::{Code, Response, Status};
use bytes::Bytes;
use frisbee::Waiter;
use frisbee::{BODY_MAX_LEAST, Outbox, PacketId};
use polyglot::{Form, Message, Nesting};
use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The clock is read for each call with a shorter timeout. Other calls share one reading in each turn of the
/// connection, which may be late when the runtime is busy.
const EXACT_BELOW: Duration = Duration::from_secs(10);

/// What a call has that others have not. Those that have less are sent by code that knows less.
pub(crate) mod mode {
    /// Nothing.
    pub(crate) const BARE: u8 = 0;
    /// It is counted.
    pub(crate) const COUNTED: u8 = 1;
    /// It may be counted, an observer may be told of it, and it may have a place in a trace.
    pub(crate) const ANY: u8 = 2;
}

/// The method, the message and the terms of an attempt.
pub(crate) struct Attempt<'a, A> {
    pub(crate) method: &'static Method,
    pub(crate) message: &'a A,
    pub(crate) metadata: Option<&'a Metadata>,
    pub(crate) terms: Terms,
    /// The place in a trace that is sent.
    pub(crate) trace: Option<&'a TraceContext>,
    /// An observer is told of it.
    pub(crate) is_told: bool,
}

/// Why an attempt failed.
pub(crate) struct Failure {
    pub(crate) status: Status,
    pub(crate) sent: Sent,
    /// The call as its observer knows it, which goes on.
    pub(crate) begun: Option<Begun>,
}

impl Failure {
    #[cold]
    fn new(status: Status, sent: Sent) -> Box<Self> {
        Box::new(Self { status, sent, begun: None })
    }

    /// Whether the request was sent.
    pub(crate) fn was_sent(&self) -> bool {
        !matches!(self.sent, Sent::No | Sent::Never)
    }

    /// Whether another attempt may follow though this one was sent.
    pub(crate) fn may_be_retried(&self) -> bool {
        matches!(self.sent, Sent::Lost { .. } | Sent::Refused { .. })
    }
}

/// Whether the server can have run the call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sent {
    /// It cannot have: the connection had ended before. Another connection may take the call.
    No,
    /// It cannot have, and the call has ended: its deadline passed before there was room, or its request is invalid.
    Never,
    /// It may have: the connection was lost.
    Lost {
        /// The deadline of the call, further attempts included.
        until: Option<Instant>,
    },
    /// A server of a fleet has refused it, and it may be made once more at another one.
    Refused {
        /// The deadline of the call, further attempts included.
        until: Option<Instant>,
    },
    /// The call has ended with this status.
    Answered,
}

/// The outcome of entering a call.
enum Started {
    Yes(Ticket),
    /// There is no room now.
    Full,
    /// The call depends on the kind of the server, which is not known yet.
    Unclear,
    /// The connection has ended; nothing was sent.
    Over(Status),
    Failed(Status),
}

impl From<Refusal> for Started {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unclear => Self::Unclear,
            Refusal::Failed(status) => Self::Failed(status),
        }
    }
}

impl<'a, A: Message> Attempt<'a, A> {
    /// Sends the call if that is possible at once. The caller's waker is entered with it, so the call need not be
    /// polled again for that. It has what [`mode`] `MODE` says; with `watch` it is observed.
    #[inline(always)]
    pub(crate) fn make_now<B, const MODE: u8>(
        &self,
        link: Arc<Link>,
        caller: &Waker,
        watch: Option<Token>,
    ) -> Option<PendingCall<B>> {
        // A call that cannot be sent at once does not wait for room here.
        let mut nobody = Context::from_waker(Waker::noop());
        let mut started = Started::Full;
        self.begin::<MODE>(&link, &mut nobody, None, Some(caller), &mut started, watch);
        match started {
            Started::Yes(ticket) if MODE == mode::COUNTED || MODE == mode::ANY && watch.is_some() => {
                let is_told = MODE == mode::ANY && self.is_told;
                let ticket = if is_told { Held::Told(ticket) } else { Held::Counted(ticket) };
                Some(PendingCall { link, method: self.method, ticket, reply: PhantomData })
            }
            Started::Yes(ticket) => Some(self.sent(link, ticket)),
            _ => None,
        }
    }

    /// Makes the call as soon as it can be sent, and notes in `is_sent` that it was. Timers are of the given runtime.
    pub(crate) async fn make<B: Message>(
        &self,
        link: Arc<Link>,
        is_sent: &AtomicBool,
        runtime: &Handle,
    ) -> Result<Response<B>, Box<Failure>> {
        let ticket = self.begin_when_possible(&link, runtime).await?;
        is_sent.store(true, Ordering::Relaxed);
        self.sent(link, ticket).await
    }

    #[inline]
    fn sent<B>(&self, link: Arc<Link>, ticket: Ticket) -> PendingCall<B> {
        PendingCall { link, method: self.method, ticket: Held::Sent(ticket), reply: PhantomData }
    }

    /// Enters a call and sends its request if there is room. The context is woken when there is room to write, and
    /// `caller`, if given, when the call has ended. The outcome is written to `started`, which is `Full` before: a
    /// value that was just written in parts cannot be moved without the processor waiting for it. With `watch` the call is
    /// observed.
    #[inline(always)]
    fn begin<const MODE: u8>(
        &self,
        link: &Link,
        context: &mut Context<'_>,
        waiter: Option<&mut Waiter<'_>>,
        caller: Option<&Waker>,
        started: &mut Started,
        watch: Option<Token>,
    ) {
        // The connection cannot end between entering the call and sending its request, since both happen under its
        // lock: a call is never left without either an answer or an end.
        let enter = |outbox: &mut Outbox| *started = self.enter::<MODE>(link, outbox, caller, watch);
        let entered = match waiter {
            None => link.connection.poll_send(context, enter),
            Some(waiter) => waiter.poll_send(context, enter),
        };
        if let Poll::Ready(Err(error)) = entered {
            *started = Started::Over(error.into());
        } else if matches!(started, Started::Failed(_) | Started::Unclear) {
            // The place of a call whose request could not be written is free again. Its next caller is woken here,
            // where the lock of the connection is no longer held.
            link.calls.with(|_| ());
        }
    }

    /// Enters the call and writes its request. Invariant: the mailbox's lock is held, which `outbox` comes from, and
    /// then that of the calls, in this order. A call that is entered has its request in the outbox when this returns,
    /// or is revoked. No waker is called here.
    #[inline(always)]
    fn enter<const MODE: u8>(
        &self,
        link: &Link,
        outbox: &mut Outbox,
        caller: Option<&Waker>,
        watch: Option<Token>,
    ) -> Started {
        let Terms { timeout, told, .. } = self.terms;
        let trace = if MODE == mode::ANY { self.trace } else { None };
        let is_told = MODE == mode::ANY && self.is_told;
        let mut calls = link.calls.calls.lock();
        let server = calls.server;
        if server != ServerKind::Extended {
            match server {
                ServerKind::Unknown if link.backward || self.is_for_extended() => return Started::Unclear,
                ServerKind::Plain if link.backward => return Started::Failed(takes_no_calls()),
                _ => {}
            }
        }
        let layout = self.method.layout;
        if !calls.offers.is_last(layout)
            && let Err(refusal) = calls.offers.ask(layout)
        {
            return refusal.into();
        }
        let until = match timeout {
            None => None,
            // A call that waited for room stops waiting, and any other is not sent.
            Some(timeout) if timeout.is_zero() => return Started::Full,
            Some(timeout) if timeout < EXACT_BELOW => deadline::now().checked_add(timeout),
            Some(timeout) => calls.now(deadline::now).checked_add(timeout),
        };
        let ticket = match calls.begin(self.method.operation, until, caller) {
            Ok(ticket) => ticket,
            Err(BeginError::Full) => return Started::Full,
            Err(BeginError::Ended(status)) => return Started::Over(status.unsent()),
        };
        if MODE == mode::COUNTED {
            calls.watch(ticket, self.method);
        } else if let Some(token) = watch.filter(|_| MODE == mode::ANY) {
            calls.watch(ticket, self.method);
            calls.tell(ticket, token, trace);
        }
        if calls.times_next {
            calls.time(ticket, until.zip(timeout).and_then(|(until, timeout)| until.checked_sub(timeout)));
        }
        drop(calls);
        let before = if is_told { outbox.len() } else { 0 };
        let put = if server == ServerKind::Extended {
            let timeout = timeout.filter(|_| told);
            let metadata = present(self.metadata);
            let form = Form::Extended;
            let flags = Flags::backward(link.backward);
            let manner = Manner { form, timeout, metadata, trace, flags, report: None };
            body::put_message(outbox.packet(ticket.id, self.method.operation), self.message, &manner)
        } else if server == ServerKind::Unpacking {
            self.put_packed(link, outbox, ticket.id, trace)
        } else {
            self.put_flat(outbox, ticket.id, server)
        };
        match put {
            Ok(()) => {
                if is_told {
                    link.calls.calls.lock().set_request_size(ticket, outbox.len().saturating_sub(before));
                }
                Started::Yes(ticket)
            }
            Err(error) => {
                link.calls.calls.lock().revoke(ticket);
                match error {
                    PutError::Lossy | PutError::TooLong(_) if server == ServerKind::Unknown => Started::Unclear,
                    error => Started::Failed(error.into_status()),
                }
            }
        }
    }

    /// Whether something goes along that only an extended server gets, and that is worth waiting for a verdict on it.
    fn is_for_extended(&self) -> bool {
        present(self.metadata).is_some() || self.trace.is_some()
    }

    /// Writes the request to a server that unpacks, at an end that packs.
    #[cold]
    #[inline(never)]
    fn put_packed(
        &self,
        link: &Link,
        outbox: &mut Outbox,
        id: PacketId,
        trace: Option<&TraceContext>,
    ) -> Result<(), PutError> {
        let packs = link.packing.as_ref().is_some_and(|packing| packing.has(self.method));
        let manner = Manner {
            flags: Flags::backward(link.backward).with(Flags::PACKED.when(packs)),
            timeout: self.terms.timeout.filter(|_| self.terms.told),
            metadata: present(self.metadata),
            trace,
            ..Manner::plain(Form::Extended)
        };
        body::put_message(outbox.packet(id, self.method.operation), self.message, &manner)
    }

    /// Writes the request to a server that is plain, or may be.
    #[inline(never)]
    fn put_flat(&self, outbox: &mut Outbox, id: PacketId, server: ServerKind) -> Result<(), PutError> {
        let is_known = server != ServerKind::Unknown;
        let manner = Manner { flags: Flags::LOSSLESS.when(self.terms.strict || !is_known), ..Manner::default() };
        // Until the server has stated its limit, packets keep to the least limit of all servers: a longer one may end
        // the connection, and so may each that follows.
        let limit = outbox.limit();
        if !is_known {
            outbox.set_limit(limit.min(BODY_MAX_LEAST));
        }
        let put = body::put_message(outbox.packet(id, self.method.operation), self.message, &manner);
        if !is_known {
            outbox.set_limit(limit);
        }
        put
    }

    /// Begins a call that cannot be sent at once: there may be no slot, no room in the outbox, or no verdict on the
    /// server yet.
    #[cold]
    async fn begin_when_possible(&self, link: &Link, runtime: &Handle) -> Result<Ticket, Box<Failure>> {
        if self.terms.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Failure::new(out_of_time(), Sent::Never));
        }
        let waiting = Waiting::new(link);
        let mut waiter = link.connection.waiter();
        let until = self.terms.timeout.and_then(|timeout| deadline::now().checked_add(timeout));
        let started = async {
            loop {
                let mut vacancy = std::pin::pin!(link.calls.vacancy.notified());
                vacancy.as_mut().enable();
                if link.is_left() {
                    return Started::Over(unreachable("the connection does not accept new calls"));
                }
                let started = poll_fn(|context| {
                    // The time of the wait counts.
                    let left = until.map(|until| until.saturating_duration_since(deadline::now()));
                    let terms = Terms { timeout: left.or(self.terms.timeout), ..self.terms };
                    let mut started = Started::Full;
                    let attempt = Self { terms, ..*self };
                    attempt.begin::<{ mode::ANY }>(link, context, Some(&mut waiter), None, &mut started, None);
                    match started {
                        // Either the outbox or the vacancy wakes the caller.
                        Started::Full => vacancy.as_mut().poll(context).map(|()| Started::Full),
                        started => Poll::Ready(started),
                    }
                });
                match started.await {
                    Started::Full => {}
                    Started::Unclear => {
                        if let Err(error) = link.connection.peer_known().await {
                            return Started::Over(error.into());
                        }
                    }
                    started => return started,
                }
            }
        };
        let started = match self.terms.timeout {
            None => started.await,
            Some(timeout) => match deadline::timeout(runtime, timeout, started).await {
                Ok(started) => started,
                Err(_) => {
                    // The next call would find no room either.
                    if !link.backward && link.calls.with(|calls| calls.is_worn_out()) {
                        link.calls.retire();
                    }
                    let text = "not sent: the limit of calls in flight was reached until the deadline";
                    Started::Failed(Status::deadline_exceeded(text).unsent())
                }
            },
        };
        drop(waiting);
        match started {
            Started::Yes(ticket) => Ok(ticket),
            Started::Over(status) => Err(Failure::new(status, Sent::No)),
            Started::Failed(status) => Err(Failure::new(status, Sent::Never)),
            Started::Full | Started::Unclear => unreachable!("it was waited for"),
        }
    }
}

/// Counts a waiting caller.
struct Waiting<'a>(&'a Link);

impl<'a> Waiting<'a> {
    fn new(link: &'a Link) -> Self {
        link.calls.calls.lock().count_waiting(true);
        Self(link)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        // A caller that got a place wakes the next one, if there is still room.
        self.0.calls.with(|calls| calls.count_waiting(false));
    }
}

/// A call that has been sent and waits for its reply.
pub(crate) struct PendingCall<B> {
    link: Arc<Link>,
    method: &'static Method,
    ticket: Held,
    reply: PhantomData<fn() -> B>,
}

/// The place of a call in the table.
#[derive(Clone, Copy)]
enum Held {
    Sent(Ticket),
    /// As `Sent`, and the call is counted.
    Counted(Ticket),
    /// As `Counted`, and an observer is told of it.
    Told(Ticket),
    /// The reply has been taken.
    No,
}

impl<B> PendingCall<B> {
    /// The rules for a reply in which fields may be missing.
    #[cold]
    fn reading(&self) -> Reading {
        let rules = self.link.calls.with(|calls| calls.offers.ask(self.method.layout));
        self.link.reading(rules.map_or(0, |rules| rules.missing(self.method)))
    }

    /// The status of a call that was not answered in time.
    #[cold]
    fn expired(&self) -> Status {
        let expired = expired(self.method);
        match self.link.calls.with(|calls| calls.server) {
            ServerKind::Plain => Status::deadline_exceeded(format!(
                "{}; the server is a plain peer (Go), which does not answer calls of unknown methods",
                expired.message()
            )),
            ServerKind::Extended | ServerKind::Unpacking | ServerKind::Unknown => expired,
        }
    }

    /// Gives the call up, and counts it if it is observed.
    #[cold]
    #[inline(never)]
    fn leave(&self) {
        match self.ticket {
            Held::No => {}
            Held::Sent(ticket) => self.link.give_up(ticket),
            Held::Counted(ticket) | Held::Told(ticket) => {
                let over = self.link.calls.calls.lock().over_now(ticket);
                self.link.give_up(ticket);
                if let Some(over) = over {
                    self.count_over(Code::Cancelled, &over);
                }
            }
        }
    }
}

impl<B: Message> PendingCall<B> {
    /// The result of a call that has ended.
    #[inline(always)]
    fn result(
        &self,
        ticket: Ticket,
        reply: Option<Result<Response<B>, Status>>,
        ended: Ended<()>,
        until: Option<Instant>,
    ) -> Result<Response<B>, Box<Failure>> {
        let (status, sent) = match (reply, ended) {
            (Some(Ok(reply)), _) => {
                self.link.calls.handle_answer(Code::Ok);
                return Ok(reply);
            }
            (Some(Err(status)), _) => {
                self.link.calls.handle_answer(status.code());
                let sent = self.refused(status.code(), until);
                (status, sent)
            }
            (None, Ended::Lost { status, until }) => (status, Sent::Lost { until }),
            (None, Ended::Expired) => {
                self.link.give_up(ticket);
                (self.expired(), Sent::Answered)
            }
            (None, Ended::Reply(())) => unreachable!("it has been read"),
        };
        Err(Failure::new(status, sent))
    }

    /// The result of a call that has failed, whose reply is long, or which has not been counted.
    #[inline(never)]
    fn handle_unusual(
        &mut self,
        ticket: Ticket,
        unusual: Unusual,
        unread: Option<Bytes>,
        mut reply: Option<Result<Response<B>, Status>>,
    ) -> Result<Response<B>, Box<Failure>> {
        let Unusual { ended, until, over } = unusual;
        self.ticket = Held::No;
        if let Some(body) = unread {
            reply = Some(body::any_reply(&body, self.reading(), &self.link.connection));
        }
        let result = self.result(ticket, reply, ended, until);
        match over {
            Some(over) => self.told(result, &over),
            None => result,
        }
    }

    /// What a failure means for the call: another server of a fleet may do what one has refused, if that does no harm.
    #[cold]
    fn refused(&self, code: Code, until: Option<Instant>) -> Sent {
        match code {
            Code::Unavailable if self.method.idempotent && self.link.calls.is_of_fleet() => Sent::Refused { until },
            _ => Sent::Answered,
        }
    }
}

/// Reads a short reply in place. A long one, or one of which something is missing, is left to be read outside of the lock.
#[inline(always)]
fn read<B: Message>(
    body: Body<'_>,
    nesting: Nesting,
    reply: &mut Option<Result<Response<B>, Status>>,
    unread: &mut Option<Bytes>,
) {
    match body {
        Body::Copied(body) => {
            *reply = body::whole_reply(body, nesting);
            if reply.is_none() {
                *unread = Some(Bytes::copy_from_slice(body));
            }
        }
        Body::Shared(body) => *unread = Some(body.clone()),
    }
}

impl<B: Message> Future for PendingCall<B> {
    type Output = Result<Response<B>, Box<Failure>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let (Held::Sent(ticket) | Held::Counted(ticket)) = self.ticket else { return self.poll_told(context) };
        let nesting = self.link.nesting;
        // Written in place and not passed through, as in `begin`.
        let (mut reply, mut unread) = (None, None);
        let unusual = self.link.calls.with(|calls| {
            let ended = calls.take_reply(ticket, context, |body| read(body, nesting, &mut reply, &mut unread));
            // Of a call that was answered well nothing else matters, if it has been counted.
            if matches!(reply, Some(Ok(_))) && !calls.is_uncounted(ticket) {
                None
            } else {
                Some(ended.map(|ended| Unusual::new(ended, self.ticket, calls)))
            }
        });
        match (unusual, reply) {
            (None, Some(Ok(reply))) => {
                self.ticket = Held::No;
                self.link.calls.handle_answer(Code::Ok);
                Poll::Ready(Ok(reply))
            }
            (Some(Poll::Ready(unusual)), reply) => Poll::Ready(self.handle_unusual(ticket, *unusual, unread, reply)),
            _ => Poll::Pending,
        }
    }
}

/// The end of a call that has failed, whose reply is long, or which has not been counted. In a box, so that others need not
/// have a place for it.
struct Unusual {
    ended: Ended<()>,
    until: Option<Instant>,
    /// The call as it is counted, if it is observed.
    over: Option<Over>,
}

impl Unusual {
    #[cold]
    #[inline(never)]
    fn new(ended: Ended<()>, held: Held, calls: &mut Calls) -> Box<Self> {
        let (until, over) = match held {
            Held::No => (None, None),
            // Others may be observed elsewhere, as one that had to wait.
            Held::Sent(ticket) => (calls.deadline(ticket), None),
            Held::Counted(ticket) | Held::Told(ticket) => (calls.deadline(ticket), calls.over_as(&ended, ticket)),
        };
        Box::new(Self { ended, until, over })
    }
}

impl<B> Drop for PendingCall<B> {
    fn drop(&mut self) {
        if !matches!(self.ticket, Held::No) {
            self.leave();
        }
    }
}
