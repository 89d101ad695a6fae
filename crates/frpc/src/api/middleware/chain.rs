//! Runs calls through the middleware of a channel or server, and reuses the allocations of completed calls.
//!
//! When a call completes, the chain keeps the box of the outermost middleware's future. This box owns the innermost
//! call, which owns the boxes of the inner middleware.
//!
//! # Decisions
//!
//! Most calls with middleware do not allocate, because they reuse the boxes of earlier calls: one for the future of
//! each middleware, and three for the innermost call. The boxes are passed inwards with the call and outwards with the
//! response.

use super::innermost::InnermostCall;
use super::runner::{ErasedMiddleware, OutermostState, RunnerSlot};
use super::{Call, CallResponse, MethodInfo, Middleware, Next, Parts};
use crate::api::BoxedCall;
use crate::api::extras::OptionalExtras;
use crate::api::request::Origin;
use crate::debug::opaque_debug;
use crate::{Request, Response, Status};
use parking_lot::Mutex;
use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Maximum number of allocations for outermost middleware that a chain keeps for reuse. Sequential calls need only one;
/// concurrent calls use the others.
const SPARES_MAX: usize = 16;

/// Middleware of a channel or server, outermost first.
#[derive(Default)]
pub(crate) struct Chain {
    middleware: Vec<Arc<dyn ErasedMiddleware>>,
    /// Pooled allocations for the outermost middleware's futures. Wrapped in an `Arc` so that builders do not
    /// instantiate the drop code.
    spares: Arc<Mutex<Vec<Pin<Box<RunnerSlot>>>>>,
}

/// The middleware of a chain from index `at` inwards. There is at least one.
pub(super) struct InnerChain {
    chain: Arc<Chain>,
    at: usize,
}

impl InnerChain {
    fn of(chain: &Arc<Chain>, at: usize) -> Option<Self> {
        if at < chain.middleware.len() { Some(Self { chain: chain.clone(), at }) } else { None }
    }
}

/// The future returned by [`Next::run`]. Runs the next middleware or, after the last one, the call itself.
pub(super) struct ChainFuture {
    /// The innermost call. `None` while the next middleware owns it, and after completion.
    last: Option<Box<InnermostCall>>,
    middleware: Option<Pin<Box<RunnerSlot>>>,
}

impl ChainFuture {
    pub(super) fn new(next: Next, call: Call) -> Self {
        let mut last = next.last;
        last.parts = Some(call.parts);
        Self { last: Some(last), middleware: None }
    }

    /// Creates the future of the next middleware and polls it for the first time.
    fn start_middleware(&mut self, context: &mut Context<'_>) -> Poll<Result<CallResponse, Status>> {
        let Some(mut last) = self.last.take() else { return Poll::Pending };
        let (Some(InnerChain { chain, at }), Some(parts)) = (last.rest.take(), last.parts.take()) else {
            return Poll::Pending;
        };
        let Some(middleware) = chain.middleware.get(at) else { return Poll::Pending };
        let spare = last.slots.pop().filter(|slot| slot.is_of(middleware));
        let slot = self.middleware.insert(spare.unwrap_or_else(|| middleware.clone().slot()));
        last.rest = InnerChain::of(&chain, at + 1);
        let polled = slot.as_mut().poll(Some((Call { parts }, Next { last })), context);
        self.answered(polled)
    }

    /// Passes on the result of polling a middleware. If the result is a response, the innermost call keeps the
    /// middleware's slot for reuse.
    fn answered(&mut self, mut polled: Poll<Result<CallResponse, Status>>) -> Poll<Result<CallResponse, Status>> {
        if let Poll::Ready(answered) = &mut polled
            && let Some(slot) = self.middleware.take()
            && let Ok(response) = answered
        {
            response.of.keep_slot(slot);
        }
        polled
    }
}

impl Future for ChainFuture {
    type Output = Result<CallResponse, Status>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let Some(last) = &mut this.last else {
            let Some(slot) = &mut this.middleware else { return Poll::Pending };
            let polled = slot.as_mut().poll(None, context);
            return this.answered(polled);
        };
        if last.rest.is_some() {
            return this.start_middleware(context);
        }
        let coming = if std::mem::take(&mut last.is_coming) { last.parts.as_deref_mut() } else { None };
        if let Some(parts) = &coming {
            last.is_own = parts.origin.transport.is_none();
            // Assume that the call runs. If it fails, its status determines this below.
            last.has_run.store(true, Ordering::Relaxed);
        }
        let ended = ready!(last.call.as_mut().poll(coming, &mut last.extras, context));
        let Some(of) = this.last.take() else { return Poll::Pending };
        match ended {
            Ok(()) => Poll::Ready(Ok(CallResponse { of })),
            Err(status) => {
                // At a client, the status states whether the call has run. At a server, the handler has run.
                of.has_run.store(!of.is_own || status.may_have_run(), Ordering::Relaxed);
                Poll::Ready(Err(status))
            }
        }
    }
}

/// A call with its middleware, in memory taken from the chain. `T` is the result of the call. Once the call has
/// completed, another one can begin in the same memory. Dropping the value then returns the memory to the chain. Calls
/// of all methods share these boxes, except for the box that holds the future and the messages of the innermost call.
pub(crate) struct PooledCall<T> {
    /// Slot with the future of the outermost middleware. `None` only during drop.
    outermost: Option<Pin<Box<RunnerSlot>>>,
    chain: Arc<Chain>,
    result: PhantomData<fn() -> T>,
}

impl<T> PooledCall<T> {
    /// Creates a call that has not been [started](Self::begin). Reuses memory of an earlier call if the chain has some.
    pub(crate) fn of(chain: &Arc<Chain>) -> Self {
        Self { outermost: Some(chain.slot()), chain: chain.clone(), result: PhantomData }
    }

    fn outermost(&mut self) -> Option<&mut OutermostState> {
        Some(self.outermost.as_mut()?.as_mut().outermost())
    }

    /// Starts the call `last`, which already holds its request message.
    fn enter(
        &mut self,
        mut last: Box<InnermostCall>,
        about: &MethodInfo,
        timeout: Option<Duration>,
        origin: Origin,
        extras: OptionalExtras,
    ) {
        last.rest = InnerChain::of(&self.chain, 1);
        let Some(outermost) = self.outermost() else { return };
        // Construct the state in place, because otherwise it would be copied from the stack. Compare first: a reused
        // call usually has this flag already, and cloning the `Arc` takes an atomic operation.
        if !outermost.has_run.as_ref().is_some_and(|has_run| Arc::ptr_eq(has_run, &last.has_run)) {
            outermost.has_run = Some(last.has_run.clone());
        }
        last.parts.get_or_insert_with(|| Box::new(Parts::of(*about))).put(*about, timeout, origin, extras);
        outermost.last = Some(last);
    }
}

impl<B: Send + 'static> PooledCall<Result<Response<B>, Status>> {
    pub(crate) fn begin<A, F>(
        &mut self,
        about: &MethodInfo,
        request: Request<A>,
        make: impl FnOnce(Request<A>) -> F + Send + 'static,
    ) where
        A: Send + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let (message, timeout, origin, extras) = request.into_parts_with_extras();
        let spare = self.outermost().and_then(|outermost| outermost.last.take());
        self.enter(InnermostCall::new(spare, make, message), about, timeout, origin, extras);
    }
}

impl<B: 'static> PooledCall<Result<Response<B>, Status>> {
    /// Creates the response of the call from the result that its middleware returned.
    fn reply(&mut self, returned: Result<CallResponse, Status>) -> Result<Response<B>, Status> {
        let CallResponse { mut of } = returned.map_err(|status| self.verdict(status))?;
        let reply = of.call.as_mut().reply().downcast_mut::<Option<B>>();
        match (reply.and_then(Option::take), self.outermost()) {
            (Some(message), Some(outermost)) => {
                let response = Response::from_parts_with_extras(message, of.extras.take());
                // Skip the drop code, because the call has already taken the previous value.
                std::mem::forget(outermost.last.replace(of));
                Ok(response)
            }
            _ => Err(Status::internal("a middleware returned the response of another call")),
        }
    }

    /// Records in the status that the middleware returned whether the call may have run, regardless of which code
    /// created the status. The call has not run if it was not sent or no middleware has passed it on. It may still run
    /// while a task holds its [`Next`].
    fn verdict(&mut self, status: Status) -> Status {
        let has_run = self.outermost().and_then(|outermost| outermost.has_run.as_mut());
        // `get_mut` synchronizes with a task that has run the call and dropped its reference.
        let may_have_run = has_run.is_none_or(|has_run| Arc::get_mut(has_run).is_none_or(|flag| *flag.get_mut()));
        match may_have_run {
            true => status.may_run(),
            false => status.not_run(),
        }
    }
}

impl<B: 'static> Future for PooledCall<Result<Response<B>, Status>> {
    type Output = Result<Response<B>, Status>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(slot) = &mut self.outermost else { return Poll::Pending };
        let last = slot.as_mut().outermost().last.take();
        let coming = last.and_then(|mut last| Some((Call { parts: last.parts.take()? }, Next { last })));
        let returned = ready!(slot.as_mut().poll(coming, context));
        Poll::Ready(self.reply(returned))
    }
}

impl<T> Drop for PooledCall<T> {
    fn drop(&mut self) {
        if let Some(mut slot) = self.outermost.take()
            && slot.as_mut().outermost().last.as_ref().is_some_and(|last| !last.is_coming)
        {
            self.chain.keep(slot);
        }
    }
}

impl Chain {
    /// Adds a middleware inside the existing ones.
    pub(crate) fn push(&mut self, middleware: impl Middleware) {
        self.middleware.push(Arc::new(middleware));
    }

    /// Returns a chain that runs the middleware of `self` around the middleware of `inner`.
    pub(crate) fn followed_by(&self, inner: &Self) -> Self {
        let middleware = self.middleware.iter().chain(&inner.middleware).cloned().collect();
        Self { middleware, ..Self::default() }
    }

    /// Returns the chain, or `None` if it has no middleware.
    pub(crate) fn present(self) -> Option<Arc<Self>> {
        if self.middleware.is_empty() { None } else { Some(Arc::new(self)) }
    }

    /// Returns a slot for the outermost middleware's future, reusing that of a completed call if possible.
    fn slot(&self) -> Pin<Box<RunnerSlot>> {
        // If another thread holds the lock, allocate instead of waiting.
        if let Some(spare) = self.spares.try_lock().and_then(|mut spares| spares.pop()) {
            return spare;
        }
        match self.middleware.first() {
            Some(middleware) => middleware.clone().slot(),
            None => Arc::new(|call: Call, next: Next| next.run(call)).slot(),
        }
    }

    /// Returns the slot of a completed call to the chain for reuse.
    fn keep(&self, outermost: Pin<Box<RunnerSlot>>) {
        if let Some(mut spares) = self.spares.try_lock()
            && spares.len() < SPARES_MAX
        {
            spares.push(outermost);
        }
    }
}

/// Runs a call within a middleware chain, if there is one. The call is boxed so that its future is compiled only once.
pub(crate) fn through<A, B>(
    chain: Option<Arc<Chain>>,
    about: &MethodInfo,
    request: Request<A>,
    last: impl FnOnce(Request<A>) -> BoxedCall<'static, B> + Send + 'static,
) -> BoxedCall<'static, B>
where
    A: Send + 'static,
    B: Send + 'static,
{
    let Some(chain) = chain else { return last(request) };
    let mut call = PooledCall::of(&chain);
    call.begin(about, request, last);
    Box::pin(call)
}

impl Clone for Chain {
    fn clone(&self) -> Self {
        Self { middleware: self.middleware.clone(), ..Self::default() }
    }
}

opaque_debug!([] Chain, "Chain", |this| length = this.middleware.len());

impl fmt::Debug for Next {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let middleware = self.last.rest.as_ref().map_or(0, |rest| rest.chain.middleware.len().saturating_sub(rest.at));
        f.debug_struct("Next").field("middleware", &middleware).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
