//! The description of a call, and the function that encodes and sends it.

use crate::api::extras::Extras;
use crate::api::metadata::Metadata;
use crate::api::middleware::CallKind;
use crate::calls::failures::takes_no_calls;
use crate::calls::{CallTicket, Calls, NotSent, ServerKind};
use crate::client::link::Link;
use crate::clock;
use crate::observe::{Token, TraceContext};
use crate::schema::method::Method;
use crate::wire::body::{self, EncodeBody, Flags, Writing};
use crate::wire::prefix::PrefixFields;
use crate::wire::translation::Translation;
use frisbee::rpc::ConnectionExt;
use frisbee::{BODY_MAX_LEAST, Operation, Outbox, PermitPlace, Waiter};
use parking_lot::MutexGuard;
use polyglot::Form;
use std::mem;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

/// Timeout below which each call reads the clock. Calls with longer timeouts share one reading per poll of the driver,
/// which may be slightly outdated on a busy runtime.
const EXACT_BELOW: Duration = Duration::from_secs(10);

/// Default timeout of calls and of opening streams, much longer than calls within a data centre normally take. It is
/// required because a Go server does not reply to a request that it cannot decode. Not sent to the server.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Options of a call: the timeout, and whether a lossy encoding is an error.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallOptions {
    pub(crate) timeout: Option<Duration>,
    /// Whether to send the timeout to the server, if it is native.
    pub(crate) sends_timeout: bool,
    /// Whether to fail if a compat server's encoding cannot distinguish absent fields of the message from default
    /// values.
    pub(crate) strict: bool,
}

impl Default for CallOptions {
    /// Returns the default options of calls on a channel.
    fn default() -> Self {
        Self { timeout: Some(TIMEOUT), sends_timeout: false, strict: false }
    }
}

/// A call that has not been sent yet, without its request message.
#[derive(Clone, Copy)]
pub struct PendingCall<'a> {
    pub(crate) method: &'static Method,
    pub(crate) kind: CallKind,
    pub(crate) options: CallOptions,
    /// Metadata and extensions of the request, as set by the caller.
    pub(crate) extras: Option<&'a Extras>,
    /// Trace context that is sent with the request, if there is one.
    pub(crate) trace: Option<&'a TraceContext>,
    /// Token that identifies the call for its observer. Set if the call table reports the end of the call.
    pub(crate) observer: Option<Token>,
    /// Link that another attempt of this call already uses.
    pub(crate) avoid: Option<&'a Arc<Link>>,
}

/// Encoding of a request, which depends on what is known about the server.
#[derive(Clone, Copy)]
struct SendForm {
    form: Form,
    flags: Flags,
    /// Whether the kind and the limits of the server are still unknown.
    is_early: bool,
}

impl SendForm {
    /// Uncompressed requests to a native server.
    const NATIVE: Self = Self { form: Form::Extended, flags: Flags::NONE, is_early: false };

    /// Returns the encoding of a call to a server of this kind.
    ///
    /// # Errors
    /// If the call must wait until the kind of the server is known, or cannot be made.
    fn new(server: ServerKind, call: &PendingCall<'_>, link: &Link) -> Result<Self, NotSent> {
        let flat = |is_early| {
            let flags = Flags::LOSSLESS.when(is_early || call.options.strict);
            Ok(Self { form: Form::Flat, flags, is_early })
        };
        match server {
            // Wait until the kind of the server is known, because it determines how metadata and traces are sent.
            ServerKind::Unknown if link.backward || call.metadata().is_some() || call.trace.is_some() => {
                Err(NotSent::Unclear)
            }
            ServerKind::Unknown => flat(true),
            ServerKind::Compat if link.backward => Err(NotSent::Failed(takes_no_calls())),
            ServerKind::Compat => flat(false),
            ServerKind::Native => Ok(Self::NATIVE),
            ServerKind::Decompressing => {
                let compresses = link.compression.as_ref().is_some_and(|compression| compression.has(call.method));
                Ok(Self { flags: Flags::COMPRESSED.when(compresses), ..Self::NATIVE })
            }
        }
    }
}

impl<'a> PendingCall<'a> {
    pub(crate) fn new(method: &'static Method, options: CallOptions, extras: Option<&'a Extras>) -> Self {
        Self { method, kind: CallKind::Unary, options, extras, trace: None, observer: None, avoid: None }
    }

    /// Returns the prefix of the request or, for a stream, of the packet that opens it.
    pub(crate) fn prefix(&self, timeout: Option<Duration>) -> PrefixFields<'a> {
        PrefixFields { timeout, metadata: self.metadata(), trace: self.trace, ..PrefixFields::default() }
    }

    /// Returns the request metadata, or `None` if it is empty.
    fn metadata(&self) -> Option<&'a Metadata> {
        Extras::sent(self.extras).filter(|metadata| !metadata.is_empty())
    }

    /// Registers the call in the call table of a link and queues its request. If there is no space, registers the
    /// caller with the waiter. The caller is woken when the call ends, or when there is space.
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
        // Register the call and queue its request under the lock of the mailbox. Otherwise the connection could close
        // in between, and the call would never complete.
        match waiter.poll_send(context, |outbox| self.write(message, link, outbox, caller, place)) {
            Poll::Ready(Ok(Ok(ticket))) => Ok(ticket),
            Poll::Ready(Ok(Err(unsent))) => Err(Self::release_slot(link, unsent)),
            Poll::Ready(Err(error)) => Err(NotSent::Over(error.into())),
            Poll::Pending => Err(NotSent::Blocked),
        }
    }

    /// Registers the call and queues its request if both are possible immediately. Otherwise, returns `None` and does
    /// not register the caller to be woken.
    #[inline(always)]
    pub(crate) fn try_send<A: EncodeBody>(&self, message: &A, link: &Link, caller: &Waker) -> Option<CallTicket> {
        let mut place = PermitPlace::default();
        match link
            .connection
            .as_ref()?
            .try_send_with(|outbox| self.write(message, link, outbox, caller, &mut place))
            .ok()?
        {
            Ok(ticket) => Some(ticket),
            Err(unsent) => {
                Self::release_slot(link, unsent);
                None
            }
        }
    }

    /// Wakes the next queued caller if a request could not be written and its slot is therefore free again. Returns
    /// `unsent`. The lock of the mailbox must not be held.
    #[cold]
    fn release_slot(link: &Link, unsent: NotSent) -> NotSent {
        // If the call table is full, no slot was released, and this caller would be woken again and again.
        if matches!(unsent, NotSent::Failed(_) | NotSent::Unclear) {
            link.calls.with(|_| ());
        }
        unsent
    }

    /// Returns the deadline of the call.
    ///
    /// # Errors
    /// [`NotSent::Full`] if the timeout has passed. The call then waits until its timer ends it.
    #[inline(always)] // There is a single call.
    fn deadline(&self, calls: &mut Calls) -> Result<Option<Instant>, NotSent> {
        Ok(match self.options.timeout {
            None => None,
            Some(timeout) if timeout.is_zero() => return Err(NotSent::Full),
            Some(timeout) if timeout < EXACT_BELOW => clock::now().checked_add(timeout),
            Some(timeout) => calls.now(clock::now).checked_add(timeout),
        })
    }

    /// Registers the call and writes its request. Invariant: the lock of the mailbox that contains `outbox` is acquired
    /// before the lock of the call table. On return, either the call is registered and its request is in the outbox, or
    /// the call has been revoked. No waker is called here.
    fn write<A: EncodeBody>(
        &self,
        message: &A,
        link: &Link,
        outbox: &mut Outbox,
        caller: &Waker,
        place: &mut PermitPlace,
    ) -> Result<CallTicket, NotSent> {
        let Self { method, .. } = self;
        let mut calls = link.calls.calls.lock();
        if calls.server != ServerKind::Native {
            return self.write_as(calls, message, link, outbox, (caller, place));
        }
        if !calls.offers.is_last(method.layout) {
            let target = self.target(&mut calls, link, outbox)?;
            if target.0 != method.operation || target.1.is_some() {
                return self.put_as(calls, message, link, outbox, (caller, place), (SendForm::NATIVE, target));
            }
        }
        let form = (SendForm::NATIVE, (method.operation, None));
        self.put(calls, message, link, outbox, (caller, place), form)
    }

    /// Same as [`write`](Self::write), for servers that accept compressed messages or are not known to be native.
    /// Compiled once for all methods; only the most frequent case is compiled for each method.
    #[inline(never)]
    fn write_as(
        &self,
        mut calls: MutexGuard<'_, Calls>,
        message: &dyn EncodeBody,
        link: &Link,
        outbox: &mut Outbox,
        caller: (&Waker, &mut PermitPlace),
    ) -> Result<CallTicket, NotSent> {
        let form = SendForm::new(calls.server, self, link)?;
        let target = if calls.offers.is_last(self.method.layout) {
            (self.method.operation, None)
        } else {
            self.target(&mut calls, link, outbox)?
        };
        self.put_as(calls, message, link, outbox, caller, (form, target))
    }

    /// Calls [`put`](Self::put) with a message of any type. Compiled once for all methods.
    #[inline(never)]
    fn put_as(
        &self,
        calls: MutexGuard<'_, Calls>,
        message: &dyn EncodeBody,
        link: &Link,
        outbox: &mut Outbox,
        caller: (&Waker, &mut PermitPlace),
        (form, (operation, translation)): (SendForm, (Operation, Option<Arc<Translation>>)),
    ) -> Result<CallTicket, NotSent> {
        let restored = RestoredLimit { limit: outbox.limit(), outbox };
        // Before the server has announced its limit, apply the lowest possible limit, because a server closes the
        // connection if a packet is too long.
        if form.is_early {
            restored.outbox.set_limit(restored.limit.min(BODY_MAX_LEAST));
        }
        self.put(calls, &message, link, restored.outbox, caller, (form, (operation, translation.as_deref())))
    }

    /// Returns the operation number of the method at the peer. If the peer's schema of the service differs, also
    /// returns the translation of messages.
    fn target(
        &self,
        calls: &mut Calls,
        link: &Link,
        outbox: &mut Outbox,
    ) -> Result<(Operation, Option<Arc<Translation>>), NotSent> {
        let rules = calls.offers.check(self.method.layout, !link.backward, outbox)?;
        link.translation(self.method, rules, outbox)
    }

    /// Registers the call and writes its request with the encoding, operation number and translation of the last
    /// parameter.
    #[inline(always)]
    fn put<A: EncodeBody>(
        &self,
        mut calls: MutexGuard<'_, Calls>,
        message: &A,
        link: &Link,
        outbox: &mut Outbox,
        (caller, place): (&Waker, &mut PermitPlace),
        (form, (operation, translation)): (SendForm, (Operation, Option<&Translation>)),
    ) -> Result<CallTicket, NotSent> {
        let Self { method, options: CallOptions { timeout, sends_timeout, .. }, trace, .. } = self;
        let until = self.deadline(&mut calls)?;
        let ticket = calls.begin_in_turn(operation, until, caller, place)?;
        if translation.is_some() {
            calls.share_reply(ticket);
        }
        if let Some(token) = self.observer {
            calls.observe(ticket, method, token, *trace);
        }
        if calls.times_next {
            calls.time(ticket, until.zip(*timeout).and_then(|(until, timeout)| until.checked_sub(timeout)));
        }
        // Release the call table while encoding, so that replies to other calls are not delayed. The mailbox stays
        // locked.
        drop(calls);
        let attempt = Attempt { link, ticket };
        let before = outbox.len();
        let prefix = || match form.form {
            Form::Extended => self.prefix(timeout.filter(|_| *sends_timeout)),
            Form::Flat => PrefixFields::default(),
        };
        let writing = Writing::new(form.flags, translation);
        let packet = outbox.packet(ticket.id, operation);
        body::put_message(packet, message, form.form, writing, prefix).map_err(|error| match error {
            // Wait until the kind of the server is known, because only a native server or one with a higher limit
            // accepts the message.
            _ if form.is_early => NotSent::Unclear,
            error => NotSent::Failed(error.into_status()),
        })?;
        if self.observer.is_some_and(|token| token != Token::NO_END) && link.observer.is_some() {
            link.calls.calls.lock().set_request_size(ticket, outbox.len().saturating_sub(before));
        }
        mem::forget(attempt);
        Ok(ticket)
    }
}

/// A registered call while its request is encoded. Revokes the call when dropped, so that neither an error nor a panic
/// of a user's encoder keeps its slot.
struct Attempt<'a> {
    link: &'a Link,
    ticket: CallTicket,
}

impl Drop for Attempt<'_> {
    #[inline(always)] // Otherwise, each call writes the fields to memory.
    fn drop(&mut self) {
        revoke(self.link, self.ticket);
    }
}

#[cold]
#[inline(never)]
fn revoke(link: &Link, ticket: CallTicket) {
    link.calls.calls.lock().revoke(ticket);
}

/// An outbox whose limit is restored when this value is dropped.
struct RestoredLimit<'a> {
    outbox: &'a mut Outbox,
    limit: u32,
}

impl Drop for RestoredLimit<'_> {
    fn drop(&mut self) {
        self.outbox.set_limit(self.limit);
    }
}
