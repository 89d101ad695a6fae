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
            let replaced = inner.waker.replace(task.waker().clone());
            drop(inner);
            drop(replaced); // Without the lock, because this may be the last reference to a task.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, mpsc};
    use std::task::Wake;

    /// A waker that sends, when dropped, whether the mailbox is locked.
    struct LastReference(Arc<Mailbox<()>>, mpsc::Sender<bool>);

    impl Wake for LastReference {
        fn wake(self: Arc<Self>) {}
    }

    impl Drop for LastReference {
        fn drop(&mut self) {
            self.1.send(self.0.inner.is_locked()).expect("receiver should not be dropped");
        }
    }

    /// Regression test: a replaced waker was dropped under the lock that its task acquires when dropped.
    #[test]
    fn replaced_waker_is_dropped_unlocked() {
        let mailbox = Arc::<Mailbox<()>>::default();
        let (dropped, receiver) = mpsc::channel();
        for _ in 0..2 {
            let waker = Arc::new(LastReference(mailbox.clone(), dropped.clone())).into();
            mailbox.take(&mut VecDeque::new(), &Context::from_waker(&waker));
        }
        assert_eq!(receiver.try_recv(), Ok(false));
    }
}
