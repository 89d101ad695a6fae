//! Inline polling of futures. Futures that are pending are moved to tasks.
//!
//! # Decisions
//!
//! Handlers are polled inline, in a reused box and with a no-op waker. Most are ready immediately and need no task. A
//! pending handler becomes a task and keeps the box, which also contains its continuation. Futures are created in the
//! box itself, because they may have several hundred bytes and would otherwise be copied twice.
//!
//! The driver runs outside of tokio's cooperative budget, which would make ready futures return pending after 128
//! polls. Instead, each poll of the driver has its own limits of packets and bytes.

use crate::debug::opaque_debug;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// Output of a future, or the payload of the panic that ended it.
pub type UnwindResult<T> = Result<T, Box<dyn Any + Send>>;

/// Returns the message of a panic, for logs.
pub fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}

/// Callback that receives the output of a future that did not complete in its first poll.
pub trait Continuation<T>: Send {
    /// Receives the output of the future, or the payload of its panic.
    fn then(self, worked: UnwindResult<T>);
}

/// Continuation that discards the output of the future.
impl<T> Continuation<T> for () {
    fn then(self, _worked: UnwindResult<T>) {}
}

/// A slot for polling futures of one type, one after another, in a reused allocation.
///
/// Most handlers are ready at their first poll. Such a future is created in the slot, polled and dropped. A pending
/// future is returned together with its box as a [`ParkedFuture`], and the slot allocates another box when it is used
/// again.
///
/// ```
/// use frisbee::rpc::{InlineSlot, FirstPoll};
///
/// async fn double(n: u32) -> u32 { n * 2 }
///
/// let mut slot: InlineSlot<_> = InlineSlot::default();
/// assert!(matches!(slot.poll(|| double(21)), FirstPoll::Ready(42)));
/// ```
pub struct InlineSlot<F, A = ()>(Option<Pin<Box<SlotContent<F, A>>>>);

pin_project_lite::pin_project! {
    /// A future and the continuation that receives its output, in one allocation.
    struct SlotContent<F, A> {
        #[pin]
        future: Option<F>,
        then: Option<A>,
    }
}

impl<F, A> SlotContent<F, A> {
    fn boxed(future: Option<F>) -> Pin<Box<Self>> {
        Box::pin(Self { future, then: None })
    }
}

impl<F: Future, A> SlotContent<F, A> {
    /// Polls the future and drops it when it completes.
    fn poll_future(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<UnwindResult<F::Output>> {
        let mut polled = Poll::Pending;
        match self.poll_caught(context, &mut polled, false) {
            Ok(()) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }

    /// Polls the future, and drops it when it completes unless `keeps` is true. Also catches a panic of its destructor.
    /// Otherwise, the caller would wait for a reply, or all calls of the connection would end. Writes the output
    /// through a reference, because a large return value would be copied several times.
    #[inline(always)]
    fn poll_caught(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        polled: &mut Poll<F::Output>,
        keeps: bool,
    ) -> UnwindResult<()> {
        let mut slot = self.project().future;
        catch_unwind(AssertUnwindSafe(|| {
            if let Some(future) = slot.as_mut().as_pin_mut() {
                *polled = future.poll(context);
            }
            if !keeps && polled.is_ready() {
                slot.set(None);
            }
        }))
    }
}

/// Object-safe interface of a [`SlotContent`], which erases the type of its future.
trait AnySlot<T, A>: Future<Output = ()> + Send {
    /// Polls the future and drops it when it completes.
    fn poll_worked(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<UnwindResult<T>>;

    fn then_slot(self: Pin<&mut Self>) -> &mut Option<A>;
}

impl<F: Future + Send, A: Continuation<F::Output>> AnySlot<F::Output, A> for SlotContent<F, A> {
    fn poll_worked(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<UnwindResult<F::Output>> {
        self.poll_future(context)
    }

    fn then_slot(self: Pin<&mut Self>) -> &mut Option<A> {
        self.project().then
    }
}

impl<F: Future, A: Continuation<F::Output>> Future for SlotContent<F, A> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let worked = ready!(self.as_mut().poll_future(context));
        if let Some(then) = self.project().then.take() {
            then.then(worked);
        }
        Poll::Ready(())
    }
}

impl<F, A> Default for InlineSlot<F, A> {
    fn default() -> Self {
        Self(None)
    }
}

opaque_debug!([F, A] InlineSlot<F, A>, "InlineSlot");

/// Result of polling a future for the first time.
#[derive(Debug)]
pub enum FirstPoll<T, A = ()> {
    /// The future has completed during its first poll.
    Ready(T),
    /// The future is pending. It must be polled again with a real waker, because the first poll used a waker that does
    /// nothing.
    Pending(ParkedFuture<T, A>),
    /// The future panicked with this payload.
    Panicked(Box<dyn Any + Send>),
}

impl<F, A> InlineSlot<F, A>
where
    F: Future + Send + 'static,
    A: Continuation<F::Output> + 'static,
{
    /// Polls a future once with a waker that does nothing.
    ///
    /// `make` creates the future directly in its slot, because moving a large future would be expensive.
    ///
    /// # Panics
    /// If `make` panics.
    #[inline]
    pub fn poll(&mut self, make: impl FnOnce() -> F) -> FirstPoll<F::Output, A> {
        self.slot().set(Some(make()));
        // Drop a completed future now. Otherwise, its captured values would live until the next call.
        self.poll_first(false)
    }

    /// Returns the slot for the future that [`poll_slot`](Self::poll_slot) polls. A completed future stays in the slot
    /// until it is replaced or removed.
    #[inline]
    pub fn slot(&mut self) -> Pin<&mut Option<F>> {
        self.0.get_or_insert_with(|| SlotContent::boxed(None)).as_mut().project().future
    }

    /// Polls the future in the [`slot`](Self::slot) once, like [`poll`](Self::poll). Keeps the future in the slot when
    /// it completes.
    #[inline(always)]
    pub fn poll_slot(&mut self) -> FirstPoll<F::Output, A> {
        self.poll_first(true)
    }

    #[inline(always)]
    fn poll_first(&mut self, keeps: bool) -> FirstPoll<F::Output, A> {
        let slot = self.0.get_or_insert_with(|| SlotContent::boxed(None));
        let mut polled = Poll::Pending;
        if let Err(panic) = slot.as_mut().poll_caught(&mut Context::from_waker(Waker::noop()), &mut polled, keeps) {
            self.discard();
            return FirstPoll::Panicked(panic);
        }
        match polled {
            Poll::Ready(output) => FirstPoll::Ready(output),
            Poll::Pending => {
                // The box moves to the task, so the next call allocates another one.
                FirstPoll::Pending(ParkedFuture(self.0.take().unwrap_or_else(|| SlotContent::boxed(None))))
            }
        }
    }

    /// Boxes a future that has not been polled, so that it can be polled by a task.
    pub fn park(future: F) -> ParkedFuture<F::Output, A> {
        ParkedFuture(SlotContent::boxed(Some(future)))
    }

    /// Drops a future that has panicked. Ignores a panic of its destructor.
    #[cold]
    fn discard(&mut self) {
        let slot = self.0.take();
        // The destructor of a future that has panicked may panic too. That panic must not unwind into the driver.
        let _ = catch_unwind(AssertUnwindSafe(move || drop(slot)));
    }
}

/// A pending future that was boxed so that a task can poll it. If the future panics, its output is `Err` with the
/// payload of the panic.
///
/// The type of the future is erased, so that code using it is not compiled once per handler.
pub struct ParkedFuture<T, A = ()>(Pin<Box<dyn AnySlot<T, A>>>);

impl<T: 'static> ParkedFuture<T> {
    /// Boxes a future without a continuation. Panics of the future are caught.
    pub fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        InlineSlot::park(future)
    }
}

impl<T: 'static, A: 'static> ParkedFuture<T, A> {
    /// Returns the size of the future's allocation in bytes.
    pub fn size(&self) -> usize {
        size_of_val(&*self.0)
    }

    /// Sets the continuation that receives the output, without another allocation.
    pub fn then(mut self, then: A) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        *self.0.as_mut().then_slot() = Some(then);
        self.0
    }
}

opaque_debug!([T, A] ParkedFuture<T, A>, "ParkedFuture");

impl<T, A> Future for ParkedFuture<T, A> {
    type Output = UnwindResult<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll_worked(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, poll_fn};

    #[test]
    fn ready_future_completes_inline_reusing_box() {
        async fn square(n: u64) -> u64 {
            n * n
        }
        let mut slot: InlineSlot<_> = InlineSlot::default();
        assert!(matches!(slot.poll(|| square(3)), FirstPoll::Ready(9)));
        let first = slot.0.as_ref().map(|slot| std::ptr::from_ref(&**slot).addr());
        assert!(matches!(slot.poll(|| square(4)), FirstPoll::Ready(16)));
        assert_eq!(slot.0.as_ref().map(|slot| std::ptr::from_ref(&**slot).addr()), first);
    }

    #[test]
    fn ready_future_is_dropped_at_once() {
        let held = std::sync::Arc::new(());
        let mut slot: InlineSlot<_> = InlineSlot::default();
        let holder = held.clone();
        let ready = poll_fn(move |_| Poll::Ready(std::sync::Arc::strong_count(&holder)));
        assert!(matches!(slot.poll(|| ready), FirstPoll::Ready(2)));
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }

    #[test]
    fn pending_future_leaves_cell_and_finishes_elsewhere() {
        let mut polls = 0;
        let mut slot: InlineSlot<_> = InlineSlot::default();
        let second_time = poll_fn(move |_| {
            polls += 1;
            if polls < 2 { Poll::Pending } else { Poll::Ready(polls) }
        });
        let FirstPoll::Pending(parked) = slot.poll(|| second_time) else {
            panic!("future should be pending at its first poll")
        };
        let mut context = Context::from_waker(Waker::noop());
        let done = std::pin::pin!(parked).poll(&mut context);
        assert!(matches!(done, Poll::Ready(Ok(2))));
    }

    /// A future that is ready whenever it contains a value, even if it has completed before.
    struct Again(Option<u64>);

    impl Future for Again {
        type Output = u64;
        fn poll(mut self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<u64> {
            match self.0.take() {
                Some(0) => panic!("future panics in this poll"),
                Some(number) => Poll::Ready(number),
                None => Poll::Pending,
            }
        }
    }

    #[test]
    fn kept_future_reruns_until_pending_or_panic() {
        let mut slot: InlineSlot<Again> = InlineSlot::default();
        assert!(slot.slot().is_none());
        slot.slot().set(Some(Again(Some(1))));
        assert!(matches!(slot.poll_slot(), FirstPoll::Ready(1)));
        let mut future = slot.slot();
        future.as_mut().as_pin_mut().expect("slot should contain the completed future").0 = Some(2);
        assert!(matches!(slot.poll_slot(), FirstPoll::Ready(2)));
        assert!(matches!(slot.poll_slot(), FirstPoll::Pending(_)));
        assert!(slot.slot().is_none(), "slot of a waiting job should be free");
        slot.slot().set(Some(Again(Some(0))));
        assert!(matches!(slot.poll_slot(), FirstPoll::Panicked(_)));
        assert!(slot.slot().is_none(), "slot of a panicked job should be free");
    }

    #[test]
    fn inline_slot_survives_future_panic() {
        async fn check(good: bool) {
            assert!(good, "not good");
        }
        let mut slot: InlineSlot<_> = InlineSlot::default();
        assert!(matches!(slot.poll(|| check(false)), FirstPoll::Panicked(_)));
        assert!(matches!(slot.poll(|| check(true)), FirstPoll::Ready(())));
    }

    #[test]
    fn drop_panic_after_panic_is_contained() {
        struct Bad(bool);
        impl Drop for Bad {
            fn drop(&mut self) {
                assert!(!self.0 || std::thread::panicking(), "bad to the end");
            }
        }
        let mut slot: InlineSlot<_> = InlineSlot::default();
        let mut check = |is_bad| {
            let guard = Bad(is_bad);
            slot.poll(|| {
                poll_fn(move |_| {
                    let guard = &guard; // Capture the whole guard, so that it is dropped with the future.
                    assert!(!guard.0, "bad");
                    Poll::Ready(())
                })
            })
        };
        assert!(matches!(check(true), FirstPoll::Panicked(_)));
        assert!(matches!(check(false), FirstPoll::Ready(())));
    }

    /// Regression test: a panic in the destructor of a completed future skipped the continuation, so a call got no
    /// reply.
    #[test]
    fn drop_panic_after_completion_is_output() {
        struct Bad;
        impl Drop for Bad {
            fn drop(&mut self) {
                panic!("bad to the end");
            }
        }
        let bad = Bad;
        let completes = poll_fn(move |_| {
            let _ = &bad; // Captured, so that it is dropped with the future.
            Poll::Ready(())
        });
        let mut context = Context::from_waker(Waker::noop());
        let polled = std::pin::pin!(ParkedFuture::new(completes)).poll(&mut context);
        assert!(matches!(polled, Poll::Ready(Err(panic)) if panic_text(panic.as_ref()) == "bad to the end"));
        // Regression test: the same panic at the first poll closed the connection.
        let bad = Bad;
        let mut slot: InlineSlot<_> = InlineSlot::default();
        let polled = slot.poll(|| {
            poll_fn(move |_| {
                let _ = &bad;
                Poll::Ready(())
            })
        });
        assert!(matches!(polled, FirstPoll::Panicked(panic) if panic_text(panic.as_ref()) == "bad to the end"));
    }

    #[test]
    fn panic_message_is_reported_if_present() {
        let text = |panic: Box<dyn Any + Send>| panic_text(panic.as_ref()).to_owned();
        assert_eq!(text(Box::new("static")), "static");
        assert_eq!(text(Box::new(String::from("made"))), "made");
        assert_eq!(text(Box::new(5)), "(no text)");
    }

    #[test]
    fn dropping_parked_future_drops_its_values() {
        let canary = std::sync::Arc::new(());
        let holder = canary.clone();
        let mut slot: InlineSlot<_> = InlineSlot::default();
        let polled = slot.poll(|| async move {
            let _canary = holder;
            pending::<()>().await;
        });
        assert_eq!(std::sync::Arc::strong_count(&canary), 2);
        drop(polled);
        assert_eq!(std::sync::Arc::strong_count(&canary), 1);
    }
}
