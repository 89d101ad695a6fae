//! Wakers of the tasks that wait for a connection: one that reads and one that writes, often the same task.

use std::sync::Arc;
use std::task::{Wake, Waker};

/// Event that a task of a stream waits for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum WaitEvent {
    /// Bytes to read.
    Data = 0,
    /// Space to write.
    Room = 1,
}

/// Wakers of the reading and the writing task of a stream. The wake-up pipe and the socket accept a single waker each,
/// so the wakers of two different tasks are combined into one.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    tasks: [Option<Waker>; 2],
    both: Option<Waker>,
}

impl Wakers {
    /// Registers the task that waits for an event. Returns a waker that wakes all waiting tasks.
    pub(crate) fn enter(&mut self, wait: WaitEvent, task: &Waker) -> &Waker {
        let [data, room] = &mut self.tasks;
        let (own, other) = if wait == WaitEvent::Data { (data, room) } else { (room, data) };
        if !own.as_ref().is_some_and(|entered| entered.will_wake(task)) {
            *own = Some(task.clone());
            self.both = None;
        }
        let own = own.get_or_insert_with(|| task.clone());
        match other {
            Some(other) if !other.will_wake(own) => {
                let (own, other) = (own.clone(), other.clone());
                self.both.get_or_insert_with(|| Waker::from(Arc::new(Both(own, other))))
            }
            _ => own,
        }
    }

    /// Deregisters a task after its event has occurred, if another task is waiting too. A single task remains
    /// registered, because it is likely to wait next.
    pub(crate) fn leave(&mut self, wait: WaitEvent) {
        if self.both.take().is_some() {
            self.tasks[wait as usize] = None;
        }
    }
}

struct Both(Waker, Waker);

impl Wake for Both {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake_by_ref();
        self.1.wake_by_ref();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    struct Counted(AtomicU32);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_entered_tasks_are_woken() {
        let (reads, writes) = (Arc::new(Counted::default()), Arc::new(Counted::default()));
        let count = || (reads.0.load(Ordering::Relaxed), writes.0.load(Ordering::Relaxed));
        let mut wakers = Wakers::default();
        wakers.enter(WaitEvent::Data, &reads.clone().into()).wake_by_ref();
        assert_eq!(count(), (1, 0));
        wakers.enter(WaitEvent::Room, &writes.clone().into()).wake_by_ref();
        assert_eq!(count(), (2, 1));
        wakers.enter(WaitEvent::Data, &reads.clone().into()).wake_by_ref();
        assert_eq!(count(), (3, 2));
        wakers.leave(WaitEvent::Room);
        wakers.enter(WaitEvent::Data, &reads.clone().into()).wake_by_ref();
        assert_eq!(count(), (4, 2));
    }

    #[test]
    fn task_doing_both_uses_own_waker() {
        let task = Waker::from(Arc::new(Counted::default()));
        let mut wakers = Wakers::default();
        wakers.enter(WaitEvent::Data, &task);
        assert!(wakers.enter(WaitEvent::Room, &task).will_wake(&task));
    }
}
