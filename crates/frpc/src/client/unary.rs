//! Unary calls. They are sent immediately if possible. Otherwise, a boxed future sends them, which also handles
//! middleware and retries.

use crate::api::BoxedCall;
use crate::api::extras::OptionalExtras;
use crate::api::hand_off::HandOffSlot;
use crate::api::middleware::{CallKind, MethodInfo, PooledCall};
use crate::api::request::Origin;
use crate::calls::failures::unfinished;
use crate::client::attempt::{Failure, InFlight, ReplyReader, SentState};
use crate::client::call::PendingCall;
use crate::client::channel::{Channel, Layers};
use crate::client::hand_off::{self, read_reply};
use crate::client::middleware_call::within_deadline;
use crate::client::picker::{Pick, PickedConnection};
use crate::clock;
use crate::context;
use crate::debug::opaque_debug;
use crate::observe::observers::{CallStart, ObservedCall};
use crate::observe::{ObservedMethod as Observed, Token, TraceContext};
use crate::schema::method::Method;
use crate::{Request, Response, Status};
use polyglot::Message;
use std::borrow::Cow;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The future returned by [`Channel::unary`].
///
/// # Cancel safety
/// Dropping the future cancels the call; the server may still run it. A native server is notified by a CANCEL.
#[must_use = "a call is not sent before it is polled"]
pub struct UnaryCall<'a, A, B> {
    // Implemented by hand, because the future of an `async fn` would be three times as large, and with thousands of
    // pending calls, most of the time is spent on loading futures from memory. A call within middleware owns its
    // channel.
    channel: Cow<'a, Channel>,
    method: &'static Method,
    timeout: Option<Duration>,
    message: A,
    extras: OptionalExtras,
    state: UnaryState<'a, B>,
}

/// State of a unary call.
///
/// ```text
///   New ----> Sent ----> ended
///    |  |       | connection lost, or refused
///    |  |       v
///    |  +--> Retrying --> ended
///    v
///   Within or Layered --> ended
/// ```
enum UnaryState<'a, B> {
    New,
    /// The call was sent and is waiting for its reply.
    Sent(InFlight<B>),
    /// The call runs within middleware, without a deadline, an observer or an inherited context.
    Within(PooledCall<Result<Response<B>, Status>>),
    /// The call has middleware and also a deadline, an observer or an inherited context, or it requests a hand-off.
    Layered(BoxedCall<'a, B>),
    /// The call could not be sent immediately, or it is being retried.
    Retrying(BoxedCall<'a, B>),
}

/// No field is structurally pinned, so the future can be moved after it was polled.
impl<A, B> Unpin for UnaryCall<'_, A, B> {}

opaque_debug!([A, B] UnaryCall<'_, A, B>, "UnaryCall", |this| method = this.method.name);

impl<'a, A, B> UnaryCall<'a, A, B> {
    #[inline(always)] // The origin of the request is empty, so its drop is optimized away.
    fn new(channel: Cow<'a, Channel>, method: &'static Method, request: Request<A>) -> Self {
        let timeout = request.timeout();
        let (message, extras) = request.into_parts();
        Self { channel, method, timeout, message, extras, state: UnaryState::New }
    }
}

impl<A, B> Future for UnaryCall<'_, A, B>
where
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    type Output = Result<Response<B>, Status>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.state {
            UnaryState::New => {
                if this.start(context) {
                    return Poll::Pending;
                }
            }
            UnaryState::Sent(call) => match ready!(Pin::new(call).poll(context)) {
                Ok(reply) => {
                    this.channel.inner.retries.earn();
                    return Poll::Ready(Ok(reply));
                }
                Err(failed) if failed.sent == SentState::Answered => return Poll::Ready(Err(failed.status)),
                Err(failed) => {
                    let observed = failed.observed;
                    this.state = UnaryState::Retrying(this.retry(Some(failed), None, observed));
                }
            },
            UnaryState::Within(_) | UnaryState::Layered(_) | UnaryState::Retrying(_) => {}
        }
        match &mut this.state {
            UnaryState::Within(call) => this.channel.poll_in_runtime(|| Pin::new(call).poll(context)),
            UnaryState::Layered(call) | UnaryState::Retrying(call) => call.as_mut().poll(context),
            UnaryState::New | UnaryState::Sent(_) => Poll::Pending,
        }
    }
}

impl<'a, A, B> UnaryCall<'a, A, B>
where
    A: Message + Send + Sync + 'static,
    B: Message + Send + 'static,
{
    /// Tries to send the call on the current connection, which almost always succeeds. Returns whether the call was
    /// sent.
    fn start(&mut self, context: &mut Context<'_>) -> bool {
        let (channel, method) = (&*self.channel, self.method);
        if channel.layers.is_some() {
            self.state = self.start_layered();
            return false;
        }
        // If the connection's runtime is single-threaded and may not be in `block_on`, nothing would expire this call.
        // Use the slow path, which has a timer for each call.
        if clock::may_be_idle(&channel.inner.runtime) {
            self.state = UnaryState::Retrying(self.retry(None, None, None));
            return false;
        }
        let mut trace = context::trace();
        let mut call = PendingCall::new(method, channel.options(self.timeout), self.extras.as_deref());
        if let Some(observer) = &channel.inner.observer {
            call.observer = Some(observer.notify_begin(&Observed::of_unary(method), &mut trace));
        }
        call.trace = trace.as_ref();
        let picked = match channel.inner.picker.pick(&call) {
            Pick::Ready(PickedConnection { link, probe: None }) => {
                match call.try_send(&self.message, &link, context.waker()) {
                    Some(ticket) => {
                        let sent = UnaryState::Sent(InFlight::new(link, &call, ticket));
                        // Skip the drop code. The state was `New`, which has nothing to drop.
                        std::mem::forget(std::mem::replace(&mut self.state, sent));
                        return true;
                    }
                    // Pass the chosen connection to the slow path, which waits until the call can be sent.
                    None => Some(PickedConnection::new(link)),
                }
            }
            Pick::Ready(ready) => Some(ready),
            Pick::Connecting | Pick::Failed(_) => None,
        };
        let observed = call.observer.map(|token| CallStart { at: clock::now(), token, trace });
        self.state = UnaryState::Retrying(self.retry(None, picked, observed));
        false
    }

    /// Starts a call on a channel that has layers such as middleware.
    #[cold]
    fn start_layered(&mut self) -> UnaryState<'a, B> {
        let (channel, method) = (self.channel.clone(), self.method);
        let Some(Layers { chain, handed, observed, .. }) = channel.layers.as_deref() else { return UnaryState::New };
        if chain.is_none() && handed.is_none() {
            return UnaryState::Retrying(self.retry(None, None, None));
        }
        let options = channel.options(self.timeout);
        let timeout = options.timeout.filter(|_| options.sends_timeout);
        let observed_call = channel.observe(method, CallKind::Unary, None);
        let observed = observed_call.as_ref().map(ObservedCall::start).or(*observed);
        let chain = match (chain, handed) {
            (None, Some(handed)) => {
                let call = self.attempts(AttemptKind::HandOff(handed.clone()));
                return UnaryState::Layered(observed_to_end(observed_call, call));
            }
            (Some(chain), _) => chain,
            (None, None) => return UnaryState::New,
        };
        let (message, extras) = (std::mem::take(&mut self.message), self.extras.take());
        let request = Request::from_parts_with_extras(message, timeout, Origin::default(), extras);
        let about = MethodInfo::new::<A, B>(*method, CallKind::Unary);
        let inner = channel.within(observed);
        let mut around = PooledCall::of(chain);
        around.begin(&about, request, move |request| UnaryCall::new(Cow::Owned(inner), method, request));
        // Without an observer, a timeout or an inherited context, no wrapper is needed, which saves a box.
        if observed_call.is_none() && timeout.is_none() && !context::is_something() {
            return UnaryState::Within(around);
        }
        let call: BoxedCall<'a, B> = Box::pin(async move {
            let call = within_deadline(&channel.inner.runtime, *method, timeout, around);
            channel.in_runtime(call).await
        });
        UnaryState::Layered(observed_to_end(observed_call, call))
    }

    /// Makes attempts until the call completes. `failure` is the failure of the first attempt, if it has been made.
    /// `picked` is the connection for the next attempt, if it has been chosen.
    #[cold]
    fn retry(
        &mut self,
        failure: Option<Box<Failure>>,
        picked: Option<PickedConnection>,
        observed: Option<CallStart>,
    ) -> BoxedCall<'a, B> {
        let layers = self.channel.layers.as_deref();
        let observed_call = self.channel.observe(self.method, CallKind::Unary, observed);
        let observed = observed_call.as_ref().map(ObservedCall::start).or_else(|| layers?.observed);
        let trace = observed.map_or_else(context::trace, |observed| observed.trace);
        let token = observed.map_or_else(Token::default, |observed| observed.token);
        let attempts = self.attempts(AttemptKind::Retrying { failure, picked, observed: (token, trace) });
        observed_to_end(observed_call, attempts)
    }

    /// Returns the future that makes the attempts of the call. Its code is compiled once for all methods.
    fn attempts(&mut self, kind: AttemptKind) -> BoxedCall<'a, B> {
        let (channel, method) = (self.channel.clone(), self.method);
        let (message, extras) = (std::mem::take(&mut self.message), self.extras.take());
        let options = channel.options(self.timeout);
        Box::pin(async move {
            let call = PendingCall::new(method, options, extras.as_deref());
            let attempts = async {
                match kind {
                    AttemptKind::Retrying { failure, picked, observed } => {
                        channel.attempts(call, &message, ReplyReader::of::<B>(), failure, picked, observed).await
                    }
                    AttemptKind::HandOff((handed, make)) => {
                        make(&channel, call, &message, read_reply::<B>, &handed).await
                    }
                }
            };
            let runtime = &channel.inner.runtime;
            // Use a timer if necessary, because the connection's driver enforces deadlines only while its runtime makes
            // progress.
            let until = clock::after(options.timeout.filter(|_| clock::may_be_idle(runtime)));
            let reply =
                clock::within(runtime, until, attempts).await.unwrap_or_else(|why| Err(unfinished(&why, method)));
            Ok(reply?.map(|reply| match reply.downcast() {
                Ok(message) => *message,
                Err(_) => unreachable!("reply should have the type that `read_reply` returns"),
            }))
        })
    }
}

/// Next step of a call that could not be sent immediately: attempts on a connection, or a hand-off.
enum AttemptKind {
    Retrying {
        failure: Option<Box<Failure>>,
        picked: Option<PickedConnection>,
        observed: (Token, Option<TraceContext>),
    },
    HandOff((HandOffSlot, hand_off::MakeCall)),
}

/// Ends the observation of a call when the call completes.
fn observed_to_end<'a, B: 'a>(observed_call: Option<ObservedCall>, call: BoxedCall<'a, B>) -> BoxedCall<'a, B> {
    match observed_call {
        None => call,
        Some(observed_call) => {
            let traced = context::traced(observed_call.trace(), call);
            Box::pin(observed_call.over(traced))
        }
    }
}

impl Channel {
    /// Makes a unary call. Called by generated clients.
    ///
    /// # Errors
    /// The status of the call.
    ///
    /// # Cancel safety
    /// See [`UnaryCall`].
    pub fn unary<'a, A, B>(&'a self, method: &'static Method, request: Request<A>) -> UnaryCall<'a, A, B>
    where
        A: Message + Send + Sync + 'static,
        B: Message + Send + 'static,
    {
        UnaryCall::new(Cow::Borrowed(self), method, request)
    }
}
