//! The boxes of the futures of middleware. Each serves one call after the other.

use super::innermost::InnermostCall;
use super::{Call, CallResponse, Middleware, Next};
use crate::Status;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, ready};

/// A middleware of any type.
pub(super) trait ErasedMiddleware: Send + Sync {
    /// A new slot for its futures.
    fn slot(self: Arc<Self>) -> Pin<Box<RunnerSlot>>;
}

impl<M: Middleware> ErasedMiddleware for M {
    fn slot(self: Arc<Self>) -> Pin<Box<RunnerSlot>> {
        slot(self, |middleware: Arc<M>, call, next| async move {
            let answered = Middleware::call(&*middleware, call, next).await;
            (middleware, answered)
        })
    }
}

/// A slot for the futures of one middleware, one after the other.
pub(super) type RunnerSlot = dyn RunMiddleware;

/// The state that is kept with the slot of the outermost middleware.
#[derive(Default)]
pub(super) struct OutermostState {
    /// The call inside of all middleware, before it begins and after it has ended.
    pub(super) last: Option<Box<InnermostCall>>,
    /// Of the last call: whether it has run.
    pub(super) has_run: Option<Arc<AtomicBool>>,
}

/// What runs a middleware around calls.
pub(super) trait RunMiddleware: Send {
    /// Has the middleware run around a call, if one is given, and polls it. Ready when it has ended.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<(Call, Next)>,
        context: &mut Context<'_>,
    ) -> Poll<Result<CallResponse, Status>>;

    /// Whether it runs this middleware.
    fn is_of(&self, middleware: &Arc<dyn ErasedMiddleware>) -> bool;

    /// The state kept with it.
    fn outermost(self: Pin<&mut Self>) -> &mut OutermostState;
}

pin_project_lite::pin_project! {
    struct MiddlewareRunner<M, G, F> {
        // The future has it while it runs: a count of its own for each call would travel between cores.
        middleware: Option<Arc<M>>,
        make: G,
        // One that has ended stays until the next, since it holds nothing any more.
        #[pin]
        future: Option<F>,
        outermost: OutermostState,
    }
}

/// A slot for the futures that `make` returns, whose type has no name.
fn slot<M, G, F>(middleware: Arc<M>, make: G) -> Pin<Box<RunnerSlot>>
where
    M: Middleware,
    G: Fn(Arc<M>, Call, Next) -> F + Send + 'static,
    F: Future<Output = (Arc<M>, Result<CallResponse, Status>)> + Send + 'static,
{
    let outermost = OutermostState::default();
    Box::pin(MiddlewareRunner { middleware: Some(middleware), make, future: None, outermost })
}

impl<M, G, F> RunMiddleware for MiddlewareRunner<M, G, F>
where
    M: Middleware,
    G: Fn(Arc<M>, Call, Next) -> F + Send,
    F: Future<Output = (Arc<M>, Result<CallResponse, Status>)> + Send,
{
    // In one function, with the future's code as a part.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<(Call, Next)>,
        context: &mut Context<'_>,
    ) -> Poll<Result<CallResponse, Status>> {
        let mut this = self.project();
        if let Some((call, next)) = coming
            && let Some(middleware) = this.middleware.take()
        {
            this.future.set(Some((this.make)(middleware, call, next)));
        }
        match this.future.as_pin_mut() {
            Some(future) if this.middleware.is_none() => {
                let (middleware, answered) = ready!(future.poll(context));
                *this.middleware = Some(middleware);
                Poll::Ready(answered)
            }
            _ => Poll::Pending,
        }
    }

    fn is_of(&self, middleware: &Arc<dyn ErasedMiddleware>) -> bool {
        let here = self.middleware.as_ref().map(|here| Arc::as_ptr(here).cast::<()>());
        here == Some(Arc::as_ptr(middleware).cast())
    }

    fn outermost(self: Pin<&mut Self>) -> &mut OutermostState {
        self.project().outermost
    }
}
