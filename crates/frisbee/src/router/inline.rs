//! Runs futures where they are cheapest: in place, and on a task of their own only if they have to wait.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

/// A place in which futures of one type are polled once, one after the other, without an allocation each.
///
/// Most handlers are ready at their first poll. For those the future is made in the cell, polled and dropped. One
/// that has to wait is taken out together with its box as a [`Parked`] future, and the cell gets a new box the next
/// time it is used.
///
/// ```
/// use frisbee::{Cell, Polled};
///
/// async fn double(n: u32) -> u32 { n * 2 }
///
/// let mut cell = Cell::default();
/// assert!(matches!(cell.poll(|| double(21)), Polled::Ready(42)));
/// ```
pub struct Cell<F>(Option<Pin<Box<Option<F>>>>);

impl<F> Default for Cell<F> {
    fn default() -> Self {
        Self(None)
    }
}

impl<F> fmt::Debug for Cell<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cell").finish_non_exhaustive()
    }
}

/// How the first poll of a future went.
#[derive(Debug)]
pub enum Polled<F: Future> {
    /// It is done.
    Ready(F::Output),
    /// It waits for something and has to be polled elsewhere. Nobody is woken for it before that.
    Pending(Parked<F>),
    /// It panicked; this is what it panicked with.
    Panicked(Box<dyn Any + Send>),
}

impl<F: Future> Cell<F> {
    /// Polls a future once, with a waker that does nothing. It comes from `make`, since one that was made elsewhere
    /// would have to be moved here, and futures are large.
    ///
    /// # Panics
    /// If `make` does.
    #[inline]
    pub fn poll(&mut self, make: impl FnOnce() -> F) -> Polled<F> {
        let cell = self.0.get_or_insert_with(|| Box::pin(None));
        cell.set(Some(make()));
        let mut context = Context::from_waker(Waker::noop());
        let polled = catch_unwind(AssertUnwindSafe(|| match cell.as_mut().as_pin_mut() {
            Some(future) => future.poll(&mut context),
            None => Poll::Pending,
        }));
        match polled {
            Ok(Poll::Ready(output)) => {
                cell.set(None);
                Polled::Ready(output)
            }
            Ok(Poll::Pending) => Polled::Pending(Parked(self.0.take().unwrap_or_else(|| Box::pin(None)))),
            Err(panic) => {
                self.discard();
                Polled::Panicked(panic)
            }
        }
    }

    /// Parks a future without polling it.
    pub fn park(future: F) -> Parked<F> {
        Parked(Box::pin(Some(future)))
    }

    /// Drops what panicked, which may panic again.
    #[cold]
    fn discard(&mut self) {
        let cell = self.0.take();
        let _ = catch_unwind(AssertUnwindSafe(move || drop(cell)));
    }
}

/// A future that was found to wait; gives `Err` with the panic's payload if it panics later.
pub struct Parked<F>(Pin<Box<Option<F>>>);

impl<F> fmt::Debug for Parked<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parked").finish_non_exhaustive()
    }
}

impl<F: Future> Future for Parked<F> {
    type Output = Result<F::Output, Box<dyn Any + Send>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = catch_unwind(AssertUnwindSafe(|| match self.0.as_mut().as_pin_mut() {
            Some(future) => future.poll(context),
            None => Poll::Pending,
        }));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                self.0.set(None);
                Poll::Ready(Ok(output))
            }
            Err(panic) => Poll::Ready(Err(panic)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, poll_fn};

    #[test]
    fn a_ready_future_is_done_in_place_and_the_box_used_again() {
        async fn square(n: u64) -> u64 {
            n * n
        }
        let mut cell = Cell::default();
        assert!(matches!(cell.poll(|| square(3)), Polled::Ready(9)));
        let first = cell.0.as_ref().map(|cell| std::ptr::from_ref(&**cell).addr());
        assert!(matches!(cell.poll(|| square(4)), Polled::Ready(16)));
        assert_eq!(cell.0.as_ref().map(|cell| std::ptr::from_ref(&**cell).addr()), first);
    }

    #[test]
    fn a_waiting_future_leaves_the_cell_and_can_be_finished_elsewhere() {
        let mut polls = 0;
        let mut cell = Cell::default();
        let second_time = poll_fn(move |_| {
            polls += 1;
            if polls < 2 { Poll::Pending } else { Poll::Ready(polls) }
        });
        let Polled::Pending(parked) = cell.poll(|| second_time) else { panic!("it is ready at its second poll") };
        let mut context = Context::from_waker(Waker::noop());
        let done = std::pin::pin!(parked).poll(&mut context);
        assert!(matches!(done, Poll::Ready(Ok(2))));
    }

    #[test]
    fn a_panic_is_caught_and_the_cell_lives_on() {
        async fn check(good: bool) {
            assert!(good, "not good");
        }
        let mut cell = Cell::default();
        assert!(matches!(cell.poll(|| check(false)), Polled::Panicked(_)));
        assert!(matches!(cell.poll(|| check(true)), Polled::Ready(())));
    }

    #[test]
    fn dropping_a_parked_future_drops_what_it_holds() {
        let held = std::sync::Arc::new(());
        let holder = held.clone();
        let mut cell = Cell::default();
        let polled = cell.poll(|| async move {
            let _held = holder;
            pending::<()>().await;
        });
        assert_eq!(std::sync::Arc::strong_count(&held), 2);
        drop(polled);
        assert_eq!(std::sync::Arc::strong_count(&held), 1);
    }
}
