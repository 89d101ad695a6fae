//! Messages from the tasks of calls to the driver of their connection.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::task::{Context, Waker};

/// Queue of messages for the driver of a connection. Sending a message wakes the driver.
pub(crate) struct Mailbox<T> {
    inner: Mutex<Inner<T>>,
}

struct Inner<T> {
    events: VecDeque<T>,
    waker: Option<Waker>,
}

impl<T> Default for Mailbox<T> {
    fn default() -> Self {
        Self { inner: Mutex::new(Inner { events: VecDeque::new(), waker: None }) }
    }
}

impl<T> Mailbox<T> {
    pub(crate) fn send(&self, event: T) {
        let mut inner = self.inner.lock();
        inner.events.push_back(event);
        let waker = inner.waker.take();
        // Release the lock before waking, because the woken task locks the mailbox.
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Moves all messages to `to`, and registers the task to be woken by the next message.
    pub(crate) fn take(&self, to: &mut VecDeque<T>, task: &Context<'_>) {
        let mut inner = self.inner.lock();
        to.append(&mut inner.events);
        // Register the waker under the same lock, so that an event posted after the take wakes the task.
        if !inner.waker.as_ref().is_some_and(|waker| waker.will_wake(task.waker())) {
            inner.waker = Some(task.waker().clone());
        }
    }
}
