//! Unary calls: sent at once if possible, and otherwise attempted until they end.

mod inner;

use crate::api::extras::{Extras, Held};
use crate::api::middleware::{About, Around, CallKind, Chain, Lent};
use crate::api::request::Origin;
use crate::client::around::within_deadline;
use crate::client::attempt::{Attempt, Failure, PendingCall, Sent, mode};
use crate::client::channel::{Beside, Channel, is_in_task};
use crate::client::hand_off;
use crate::client::terms::Terms;
use crate::deadline;
use crate::observe::watching::{Begun, Watched};
use crate::observe::{About as Observed, Token, TraceContext};
use crate::schema::method::Method;
use crate::{CallResponse, Request, Response, Status};
use inner::Coming;
use polyglot::Message;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A call on a channel. Written by hand: thousands may wait at once, and then reading their memory is most of their
/// cost. The future of an `async fn` takes three times as much.
///
/// `C` is how the channel is held, which tells a call of a user from one within middleware. The two are the same but for
/// that, and each is used in one place, so that the compiler makes the former a part of its caller.
pub(crate) struct Unary<'a, C, A, B> {
    channel: C,
    method: &'static Method,
    timeout: Option<Duration>,
    message: A,
    extras: Held,
    stage: Stage<'a, B>,
}

/// How a call holds its channel.
pub(crate) trait Hold<'a> {
    fn channel(&self) -> &Channel;

    /// As [`Channel::call`].
    fn call<A, B>(
        &self,
        method: &'static Method,
        message: A,
        extras: Held,
        timeout: Option<Duration>,
        failure: Option<Box<Failure>>,
        begun: Option<Begun>,
    ) -> Boxed<'a, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static;
}

/// A call of a user borrows the channel.
impl<'a> Hold<'a> for &'a Channel {
    #[inline(always)]
    fn channel(&self) -> &Channel {
        self
    }

    #[inline]
    fn call<A, B>(
        &self,
        method: &'static Method,
        message: A,
        extras: Held,
        timeout: Option<Duration>,
        failure: Option<Box<Failure>>,
        begun: Option<Begun>,
    ) -> Boxed<'a, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        Channel::call(self, method, message, extras, timeout, failure, begun)
    }
}

/// A call within middleware owns the channel, since middleware may move it anywhere.
impl Hold<'static> for Channel {
    #[inline(always)]
    fn channel(&self) -> &Channel {
        self
    }

    #[cold]
    fn call<A, B>(
        &self,
        method: &'static Method,
        message: A,
        extras: Held,
        timeout: Option<Duration>,
        failure: Option<Box<Failure>>,
        begun: Option<Begun>,
    ) -> Boxed<'static, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        let channel = self.clone();
        Box::pin(async move { Self::call(&channel, method, message, extras, timeout, failure, begun).await })
    }
}

type Boxed<'a, B> = Pin<Box<dyn Future<Output = Result<Response<B>, Status>> + Send + 'a>>;

enum Stage<'a, B> {
    New,
    /// An observer has been told of the call, which could not be sent at once. For no longer than it takes to go on
    /// elsewhere.
    Begun(Box<Begun>),
    /// Waiting for the reply.
    Waiting(PendingCall<B>),
    /// The call has middleware, which nothing but itself bounds. `None` at the end.
    Around(Option<Around<Result<Response<B>, Status>>>),
    /// The call could not be sent at once, has to be made again, or has middleware within its deadline.
    Elsewhere(Boxed<'a, B>),
}

/// No part of it is pinned.
impl<C, A, B> Unpin for Unary<'_, C, A, B> {}

impl<C, A, B> Unary<'_, C, A, B> {
    #[inline]
    pub(crate) fn new(channel: C, method: &'static Method, request: Request<A>) -> Self {
        let timeout = request.timeout();
        let (message, extras) = request.into_parts();
        Self { channel, method, timeout, message, extras, stage: Stage::New }
    }
}

impl<'a, C, A, B> Future for Unary<'a, C, A, B>
where
    C: Hold<'a>,
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    type Output = Result<Response<B>, Status>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_here(context)
    }
}

impl<'a, C, A, B> Unary<'a, C, A, B>
where
    C: Hold<'a>,
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    /// Polls the call. A part of each that does.
    #[inline(always)]
    fn poll_here(&mut self, context: &mut Context<'_>) -> Poll<Result<Response<B>, Status>> {
        let failure = match &mut self.stage {
            Stage::Waiting(waiting) => match ready!(Pin::new(waiting).poll(context)) {
                Ok(reply) => {
                    self.channel.channel().inner.retries.earn();
                    return Poll::Ready(Ok(reply));
                }
                Err(failed) if failed.sent == Sent::Answered => return Poll::Ready(Err(failed.status)),
                Err(failed) => Some(failed),
            },
            Stage::New => match self.send_now(context) {
                Some(waiting) => {
                    // A new call has nothing to drop.
                    std::mem::forget(std::mem::replace(&mut self.stage, Stage::Waiting(waiting)));
                    return Poll::Pending;
                }
                None => None,
            },
            Stage::Begun(_) => None,
            Stage::Around(_) => return self.poll_around(context),
            Stage::Elsewhere(future) => return future.as_mut().poll(context),
        };
        self.go_elsewhere(failure, context)
    }

    /// Sends the call on the current connection, which has room for nearly all calls.
    #[inline(always)]
    fn send_now(&mut self, context: &Context<'_>) -> Option<PendingCall<B>> {
        if deadline::is_anything_inherited() {
            return None; // Elsewhere, so that others look once.
        }
        let channel = self.channel.channel();
        match &channel.beside {
            None => self.send::<{ mode::BARE }>(channel.own_terms(self.timeout), context, None, None, false),
            Some(beside) if beside.only_counts => {
                let terms = channel.own_terms(self.timeout);
                self.send::<{ mode::COUNTED }>(terms, context, None, None, false)
            }
            Some(beside) if beside.only_tells => self.send_told(context),
            Some(_) => None,
        }
    }

    /// Sends a call as [`send_now`](Self::send_now) does, in a handler from which it inherits something.
    #[cold]
    fn send_inheriting(&self, context: &Context<'_>) -> Option<PendingCall<B>> {
        if !deadline::is_anything_inherited() {
            return None;
        }
        let channel = self.channel.channel();
        let watch = match &channel.beside {
            None => None,
            Some(beside) if beside.only_counts => Some(Token::default()),
            Some(_) => return None,
        };
        self.send::<{ mode::ANY }>(channel.terms(self.timeout), context, watch, deadline::trace().as_ref(), false)
    }

    #[inline(always)]
    fn send<const MODE: u8>(
        &self,
        terms: Terms,
        context: &Context<'_>,
        watch: Option<Token>,
        trace: Option<&TraceContext>,
        is_told: bool,
    ) -> Option<PendingCall<B>> {
        let Self { ref channel, method, ref message, ref extras, .. } = *self;
        let link = channel.channel().inner.servers.current()?;
        let attempt = Attempt { method, message, metadata: Extras::sent(extras.as_deref()), terms, trace, is_told };
        attempt.make_now::<_, MODE>(link, context.waker(), watch)
    }

    /// Sends a call as [`send_now`](Self::send_now) does, of which an observer is told. If it cannot be sent at once, what
    /// the observer knows of it is left in the stage.
    #[inline(never)]
    fn send_told(&mut self, context: &Context<'_>) -> Option<PendingCall<B>> {
        let (channel, method) = (self.channel.channel(), self.method);
        let watching = channel.beside.as_deref()?.watching.as_ref()?;
        let mut trace = deadline::trace();
        let token = watching.tell_begin(&Observed::of_unary(method), &mut trace);
        let is_told = token != Token::NO_END;
        let sent =
            self.send::<{ mode::ANY }>(channel.terms(self.timeout), context, Some(token), trace.as_ref(), is_told);
        if sent.is_none() {
            self.stage = Stage::Begun(Box::new(Begun { at: deadline::now(), token, trace }));
        }
        sent
    }

    /// Sends a call that inherits something, as far as it has not been tried.
    #[cold]
    fn send_within(&mut self, context: &Context<'_>) -> Option<PendingCall<B>> {
        let only_tells = self.channel.channel().beside.as_ref().is_some_and(|beside| beside.only_tells);
        match self.stage {
            Stage::New if only_tells => self.send_told(context),
            Stage::New => self.send_inheriting(context),
            _ => None,
        }
    }

    /// Begins a call that has middleware, and neither inherits anything nor has a timeout of its own.
    #[inline]
    fn within_middleware(&mut self) -> Option<Around<Result<Response<B>, Status>>> {
        let Self { channel, method, timeout, .. } = self;
        let channel = channel.channel();
        let beside = channel.beside.as_deref().filter(|beside| beside.only_wraps)?;
        let chain = beside.chain.as_ref()?;
        if timeout.is_some() || channel.inner.is_told || deadline::is_anything_inherited() {
            return None;
        }
        let title = || About::new::<A, B>(**method, CallKind::Unary).title();
        let coming = Coming::<_, B>::new(channel, method, &mut self.message);
        Some(chain.begin(method, title, self.extras.take(), coming))
    }

    /// Polls a call within its middleware, which inherits nothing.
    #[inline(never)]
    fn poll_around(&mut self, context: &mut Context<'_>) -> Poll<Result<Response<B>, Status>> {
        let (channel, Stage::Around(stage)) = (self.channel.channel(), &mut self.stage) else { return Poll::Pending };
        let Some(around) = stage else { return Poll::Pending };
        let polled = if is_in_task() && !deadline::is_anything_inherited() {
            around.poll_middleware(context)
        } else {
            poll_apart(channel, around, context)
        };
        let reply = around.reply(ready!(polled));
        if let Some(around) = stage.take()
            && let Some(chain) = channel.beside.as_ref().and_then(|beside| beside.chain.as_ref())
        {
            chain.keep(Some(self.method), around);
        }
        Poll::Ready(reply)
    }

    #[cold]
    fn go_elsewhere(
        &mut self,
        failure: Option<Box<Failure>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Response<B>, Status>> {
        if failure.is_none()
            && let Some(around) = self.within_middleware()
        {
            // A new call has nothing to drop.
            std::mem::forget(std::mem::replace(&mut self.stage, Stage::Around(Some(around))));
            return self.poll_around(context);
        }
        self.go_further(failure, context)
    }

    #[cold]
    #[inline(never)]
    fn go_further(
        &mut self,
        failure: Option<Box<Failure>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Response<B>, Status>> {
        let mut begun = failure.as_ref().and_then(|failure| failure.begun);
        if failure.is_none() {
            if let Some(waiting) = self.send_within(context) {
                self.stage = Stage::Waiting(waiting);
                return Poll::Pending;
            }
            if let Stage::Begun(told) = &self.stage {
                begun = Some(**told);
            }
        }
        let message = std::mem::take(&mut self.message);
        let Self { ref channel, method, timeout, .. } = *self;
        let watched = channel.channel().watched(method, CallKind::Unary, begun);
        // A call within middleware is observed around it.
        let begun = watched.as_ref().map(Watched::begun).or(begun);
        let mut boxed = channel.call(method, message, self.extras.take(), timeout, failure, begun);
        if let Some(watched) = watched {
            let traced = deadline::traced(watched.trace(), boxed);
            boxed = Box::pin(watched.over(traced));
        }
        let polled = boxed.as_mut().poll(context);
        self.stage = Stage::Elsewhere(boxed);
        polled
    }
}

/// Polls a call within its middleware in the channel's runtime, and inherits nothing.
#[cold]
#[inline(never)]
fn poll_apart<B: 'static>(
    channel: &Channel,
    around: &mut Around<Result<Response<B>, Status>>,
    context: &mut Context<'_>,
) -> Poll<Result<CallResponse, Status>> {
    channel.poll_in_runtime(|| deadline::without(|| around.poll_middleware(context)))
}

impl Channel {
    /// Makes a unary call. For generated clients.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// Dropping the future gives the call up, which may still run. An extended server gets a CANCEL.
    #[inline]
    pub fn unary<'a, A, B>(
        &'a self,
        method: &'static Method,
        request: Request<A>,
    ) -> impl Future<Output = Result<Response<B>, Status>> + Send + use<'a, A, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        Unary::new(self, method, request)
    }

    /// Makes a call with its middleware and attempts, after an attempt that may have failed. `begun` is given if it is
    /// observed.
    fn call<'a, A, B>(
        &'a self,
        method: &'static Method,
        message: A,
        extras: Held,
        timeout: Option<Duration>,
        failure: Option<Box<Failure>>,
        begun: Option<Begun>,
    ) -> Boxed<'a, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        let terms = self.terms(timeout);
        let Beside { chain, handed, .. } = self.beside.as_deref().cloned().unwrap_or_default();
        let timeout = terms.timeout.filter(|_| terms.told);
        if let Some(chain) = chain {
            let request = Request::together(message, timeout, Origin::Here, extras);
            let around = self.call_within(&chain, method, request, begun);
            return Box::pin(self.in_runtime(within_deadline(*method, timeout, around)));
        }
        if let Some(handed) = handed {
            let request = Request::together(message, timeout, Origin::Here, extras);
            let call = async move { hand_off::call(self, method, request, &handed, terms).await };
            return Box::pin(self.in_runtime(call));
        }
        Box::pin(self.in_runtime(async move {
            let metadata = Extras::sent(extras.as_deref());
            let attempt = Attempt { method, message: &message, metadata, terms, trace: None, is_told: false };
            self.attempt(attempt, failure, begun).await
        }))
    }

    /// Makes a call within its middleware.
    fn call_within<A, B>(
        &self,
        chain: &Arc<Chain>,
        method: &'static Method,
        request: Request<A>,
        begun: Option<Begun>,
    ) -> Lent<Result<Response<B>, Status>>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        let (about, plain) = (About::new::<A, B>(*method, CallKind::Unary), self.plain());
        let begun = begun.map(Box::new); // Few are observed, and the others would carry its place along.
        Lent::new(chain, about.title(), request, move |request: Request<A>| {
            let mut call = Unary::new(plain, method, request);
            if let Some(begun) = begun {
                call.stage = Stage::Begun(begun);
            }
            call
        })
    }
}
