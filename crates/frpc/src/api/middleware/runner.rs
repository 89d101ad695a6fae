//! Reusable slots for the futures of middleware. Each holds the future of one call at a time.

use super::innermost::InnermostCall;
use super::{Call, CallResponse, Middleware, Next};
use crate::Status;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::{Context, Poll, ready};

pub(super) trait ErasedMiddleware: Send + Sync {
    /// Creates a slot that can hold the future of this middleware.
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

/// A slot that holds the future of one middleware in place and is reused by consecutive calls.
pub(super) type RunnerSlot = dyn RunMiddleware;

/// State that only the slot of the outermost middleware has.
#[derive(Default)]
pub(super) struct OutermostState {
    /// The innermost call, present before it is started and after it has completed.
    pub(super) last: Option<Box<InnermostCall>>,
    /// Flag that tells whether the most recent innermost call may have run. Shared with that call.
    pub(super) has_run: Option<Arc<AtomicBool>>,
}

/// Runs one middleware around calls, in a reusable slot.
pub(super) trait RunMiddleware: Send {
    /// Polls the future of the middleware, creating it first if `coming` is a call to start.
    fn poll(
        self: Pin<&mut Self>,
        coming: Option<(Call, Next)>,
        context: &mut Context<'_>,
    ) -> Poll<Result<CallResponse, Status>>;

    /// Returns whether this slot was created for `middleware`.
    fn is_of(&self, middleware: &Arc<dyn ErasedMiddleware>) -> bool;

    /// Returns the state that belongs to the outermost middleware.
    fn outermost(self: Pin<&mut Self>) -> &mut OutermostState;
}

pin_project_lite::pin_project! {
    struct MiddlewareRunner<M, G, F> {
        // Moved into the future while it runs. Cloning it for each call would make all cores contend for the reference
        // count.
        middleware: Option<Arc<M>>,
        make: G,
        // A completed future remains until the next call, which is harmless because it no longer holds resources.
        #[pin]
        future: Option<F>,
        outermost: OutermostState,
    }
}

/// Creates a slot for the futures that `make` returns. This is a generic function because their type has no name.
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
    // A single function, so that the code of the future is inlined into it.
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
