//! Deadline and trace context of a handler, which its outgoing calls inherit.

use crate::clock::now;
use crate::observe::TraceContext;
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

/// Deadline and trace context of a call, which the calls made by its handler inherit.
#[derive(Clone, Copy, Default)]
pub(crate) struct InheritedContext {
    pub(crate) deadline: Option<Instant>,
    pub(crate) trace: Option<TraceContext>,
}

thread_local! {
    /// Whether calls made by the handler that this thread polls inherit anything. Most calls check only this flag.
    static IS_SOMETHING: Cell<bool> = const { Cell::new(false) };
    /// Context of the handler that this thread is currently polling. Only valid if `IS_SOMETHING` is set.
    static CURRENT: Cell<InheritedContext> = const { Cell::new(InheritedContext::NOTHING) };
}

impl InheritedContext {
    const NOTHING: Self = Self { deadline: None, trace: None };

    /// Returns whether this context has a deadline or a trace context.
    pub(crate) fn is_something(&self) -> bool {
        self.deadline.is_some() || self.trace.is_some()
    }

    /// Makes this the inherited context of the current thread.
    fn put(&self) {
        IS_SOMETHING.set(self.is_something());
        CURRENT.set(*self);
    }
}

/// Returns the timeout of an outgoing call: `own`, limited by the remaining time of the handler that makes the call.
pub(crate) fn allowed(own: Option<Duration>) -> Option<Duration> {
    if IS_SOMETHING.get() { allowed_within(own) } else { own }
}

#[cold]
fn allowed_within(own: Option<Duration>) -> Option<Duration> {
    let Some(deadline) = CURRENT.get().deadline else { return own };
    let left = deadline.saturating_duration_since(now());
    Some(own.map_or(left, |own| own.min(left)))
}

/// Returns whether outgoing calls of the current handler inherit a deadline.
pub(crate) fn is_inherited() -> bool {
    IS_SOMETHING.get() && CURRENT.get().deadline.is_some()
}

/// Returns whether outgoing calls of the current handler inherit a deadline or a trace context.
pub(crate) fn is_something() -> bool {
    IS_SOMETHING.get()
}

/// Returns the trace context that outgoing calls of the current handler inherit.
pub(crate) fn trace() -> Option<TraceContext> {
    if IS_SOMETHING.get() { CURRENT.get().trace } else { None }
}

/// Guard that restores the previous inherited context on drop, including after a panic. Contains `None` in the common
/// case that the previous context was empty.
pub(crate) struct Restore(Option<InheritedContext>);

impl Drop for Restore {
    fn drop(&mut self) {
        match self.0 {
            None => IS_SOMETHING.set(false),
            Some(before) => before.put(),
        }
    }
}

impl InheritedContext {
    /// Makes this the inherited context of the thread until the guard is dropped.
    pub(crate) fn enter(&self) -> Restore {
        let restore = Restore(IS_SOMETHING.get().then(|| CURRENT.get()));
        self.put();
        restore
    }
}

/// Wraps a future, so that calls made by it carry this trace context and inherit the current deadline.
pub(crate) fn traced<F>(trace: Option<TraceContext>, future: F) -> HandlerFuture<F> {
    let deadline = if IS_SOMETHING.get() { CURRENT.get().deadline } else { None };
    HandlerFuture { inherited: InheritedContext { deadline, trace }, future }
}

impl TraceContext {
    /// Returns the trace context of the handler that this thread is polling. Returns `None` if the call has no context,
    /// and outside of handlers, for example in tasks that a handler has spawned.
    ///
    /// ```
    /// use frpc::observe::TraceContext;
    ///
    /// // Outside of a handler there is none.
    /// assert_eq!(TraceContext::current(), None);
    /// ```
    pub fn current() -> Option<Self> {
        trace()
    }

    /// Awaits `work` outside of a handler as part of this trace. The calls made by `work` inherit the context.
    ///
    /// ```
    /// use frpc::observe::TraceContext;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let context = TraceContext::new([1; 16], [2; 8], true).expect("trace and span ids should be non-zero");
    /// // A task that a handler spawns does not inherit the trace by default.
    /// let task = tokio::spawn(context.carry(async { TraceContext::current() }));
    /// assert_eq!(task.await.unwrap(), Some(context));
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Cancel safe if `work` is cancel safe, because dropping this future drops `work`.
    pub async fn carry<F: Future>(self, work: F) -> F::Output {
        traced(Some(self), Box::pin(work)).await
    }
}

/// The future of a handler. While it is polled, calls inherit the deadline and trace context of the handler's call.
pub(crate) struct HandlerFuture<F> {
    pub(crate) inherited: InheritedContext,
    pub(crate) future: F,
}

impl<F: Future + Unpin> Future for HandlerFuture<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let inherited = self.inherited;
        let _restore = (inherited.is_something() || IS_SOMETHING.get()).then(|| inherited.enter());
        Pin::new(&mut self.future).poll(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_call_inherits_deadline() {
        const SECOND: Duration = Duration::from_secs(1);
        assert_eq!(allowed(Some(SECOND)), Some(SECOND));
        let restore = InheritedContext { deadline: now().checked_add(SECOND), trace: None }.enter();
        assert!(allowed(None).is_some_and(|left| left <= SECOND));
        assert!(allowed(Some(100 * SECOND)).is_some_and(|left| left <= SECOND));
        assert!(allowed(Some(SECOND / 100)).is_some_and(|left| left <= SECOND / 100));
        drop(restore);
        assert_eq!(allowed(None), None);
    }

    #[test]
    fn trace_is_inherited_only_during_its_call() {
        let context = TraceContext::new([1; 16], [2; 8], true);
        let outer = InheritedContext { deadline: None, trace: context }.enter();
        assert_eq!((trace(), allowed(None), is_inherited()), (context, None, false));
        let inner = InheritedContext { deadline: Some(now()), trace: None }.enter();
        assert_eq!((trace(), is_inherited()), (None, true));
        drop(inner);
        assert_eq!(trace(), context);
        drop(outer);
        assert_eq!(trace(), None);
    }
}
