//! A call as one value, and the one function that encodes and sends it.

use crate::api::extras::Extras;
use crate::api::metadata::Metadata;
use crate::api::middleware::CallKind;
use crate::calls::failures::takes_no_calls;
use crate::calls::{CallTicket, NotSent, ServerKind};
use crate::client::link::Link;
use crate::clock;
use crate::observe::{Token, TraceContext};
use crate::schema::method::Method;
use crate::wire::body::{self, EncodeBody, Flags};
use crate::wire::prefix::PrefixFields;
use frisbee::{BODY_MAX_LEAST, Outbox, PermitPlace, Waiter};
use polyglot::Form;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The clock is read for each call with a shorter timeout. Other calls share one reading in each turn of the
/// connection, which may be late when the runtime is busy.
const EXACT_BELOW: Duration = Duration::from_secs(10);

/// The default timeout of a call, and of the opening of a stream. A Go server never answers a request that it cannot
/// decode, so calls need an end; no call within a data centre should come near this one. The server does not learn this
/// timeout.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The options of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    /// Whether a native server gets the timeout.
    pub(crate) sends_timeout: bool,
    /// Whether to refuse a message that would lose fields on the wire of a compat peer.
    pub(crate) strict: bool,
}

impl Default for CallOptions {
    /// Those of the calls of a channel.
    fn default() -> Self {
        Self { timeout: Some(TIMEOUT), sends_timeout: false, strict: false }
    }
}

/// A call, apart from its message.
#[derive(Clone, Copy)]
pub struct PendingCall<'a> {
    pub(crate) method: &'static Method,
    pub(crate) kind: CallKind,
    pub(crate) options: CallOptions,
    /// The options of the caller that travel with the request.
    pub(crate) extras: Option<&'a Extras>,
    /// The trace context that is sent.
    pub(crate) trace: Option<&'a TraceContext>,
    /// The token of the observer, if the table of calls reports the call to one.
    pub(crate) observer: Option<Token>,
    /// The link of another attempt at this call, which is in flight.
    pub(crate) avoid: Option<&'a Arc<Link>>,
}

impl<'a> PendingCall<'a> {
    pub(crate) fn new(method: &'static Method, options: CallOptions, extras: Option<&'a Extras>) -> Self {
        Self { method, kind: CallKind::Unary, options, extras, trace: None, observer: None, avoid: None }
    }

    /// The prefix of the request, or of the packet that opens its stream.
    pub(crate) fn prefix(&self, timeout: Option<Duration>) -> PrefixFields<'a> {
        PrefixFields { timeout, metadata: self.metadata(), trace: self.trace, ..PrefixFields::default() }
    }

    /// The metadata, unless it is empty.
    fn metadata(&self) -> Option<&'a Metadata> {
        Extras::sent(self.extras).filter(|metadata| !metadata.is_empty())
    }

    /// Enters the call in the table of a link and sends its request, if there is room. The caller is woken when the call
    /// has ended, or when there is room, as long as it has the waiter.
    #[inline(always)]
    pub(crate) fn send<A: EncodeBody>(
        &self,
        message: &A,
        link: &Link,
        waiter: &mut Waiter<'_>,
        place: &mut PermitPlace,
        context: &mut Context<'_>,
    ) -> Result<CallTicket, NotSent> {
        let caller = context.waker();
        // The connection cannot end between entering the call and sending its request, since both happen under its
        // lock: a call is never left without either an answer or an end.
        match waiter.poll_send(context, |outbox| self.write(message, link, outbox, caller, place)) {
            Poll::Ready(Ok(Ok(ticket))) => Ok(ticket),
            Poll::Ready(Ok(Err(unsent))) => {
                // The slot of a call whose request could not be written is free again. Its next caller is woken here,
                // where the lock of the connection is no longer held. A full table has no slot to announce: the caller
                // itself would be woken, again and again.
                if matches!(unsent, NotSent::Failed(_) | NotSent::Unclear) {
                    link.calls.with(|_| ());
                }
                Err(unsent)
            }
            Poll::Ready(Err(error)) => Err(NotSent::Over(error.into())),
            Poll::Pending => Err(NotSent::Blocked),
        }
    }

    /// Enters the call and writes its request. Invariant: the mailbox's lock, the owner of `outbox`, is held, and then
    /// that of the calls, in this order. A call that is entered has its request in the outbox when this returns, or is
    /// revoked. No waker is called here.
    fn write<A: EncodeBody>(
        &self,
        message: &A,
        link: &Link,
        outbox: &mut Outbox,
        caller: &Waker,
        place: &mut PermitPlace,
    ) -> Result<CallTicket, NotSent> {
        let Self { method, options: CallOptions { timeout, sends_timeout, strict }, trace, .. } = self;
        let mut calls = link.calls.calls.lock();
        let server = calls.server;
        if server != ServerKind::Native {
            match server {
                // Metadata and traces are worth waiting for a verdict on the server.
                ServerKind::Unknown if link.backward || self.metadata().is_some() || trace.is_some() => {
                    return Err(NotSent::Unclear);
                }
                ServerKind::Compat if link.backward => return Err(NotSent::Failed(takes_no_calls())),
                _ => {}
            }
        }
        if !calls.offers.is_last(method.layout) {
            calls.offers.check(method.layout)?;
        }
        let until = match *timeout {
            None => None,
            // A call that waited for room stops waiting, and any other is not sent.
            Some(timeout) if timeout.is_zero() => return Err(NotSent::Full),
            Some(timeout) if timeout < EXACT_BELOW => clock::now().checked_add(timeout),
            Some(timeout) => calls.now(clock::now).checked_add(timeout),
        };
        let ticket = calls.begin_in_turn(method.operation, until, caller, place)?;
        if let Some(token) = self.observer {
            calls.observe(ticket, method, token, *trace);
        }
        if calls.times_next {
            calls.time(ticket, until.zip(*timeout).and_then(|(until, timeout)| until.checked_sub(timeout)));
        }
        drop(calls);
        let before = outbox.len();
        let packs = server == ServerKind::Unpacking && link.packing.as_ref().is_some_and(|packing| packing.has(method));
        let (form, flags) = match server.is_native() {
            true => (Form::Extended, Flags::PACKED.when(packs)),
            false => (Form::Flat, Flags::LOSSLESS.when(*strict || server == ServerKind::Unknown)),
        };
        let prefix = || match form {
            Form::Extended => self.prefix(timeout.filter(|_| *sends_timeout)),
            Form::Flat => PrefixFields::default(),
        };
        // Until the server has stated its limit, packets keep to the least limit of all servers: a longer one may end
        // the connection, and so may each that follows.
        let limit = outbox.limit();
        if server == ServerKind::Unknown {
            outbox.set_limit(limit.min(BODY_MAX_LEAST));
        }
        let put = body::put_message(outbox.packet(ticket.id, method.operation), message, form, flags, prefix);
        if server == ServerKind::Unknown {
            outbox.set_limit(limit);
        }
        match put {
            Ok(()) => {
                if self.observer.is_some_and(|token| token != Token::NO_END) && link.observer.is_some() {
                    link.calls.calls.lock().set_request_size(ticket, outbox.len().saturating_sub(before));
                }
                Ok(ticket)
            }
            Err(error) => {
                link.calls.calls.lock().revoke(ticket);
                Err(match error {
                    // The flat form cannot have it, or only later limits admit it.
                    _ if server == ServerKind::Unknown => NotSent::Unclear,
                    error => NotSent::Failed(error.into_status()),
                })
            }
        }
    }
}
