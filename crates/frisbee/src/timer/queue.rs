//! Sleep deadlines of a tokio runtime, and the task that waits for the runtime's `timerfd`.
//!
//! The timer is set to the earliest deadline. Its task wakes all expired waiters and sets the timer again. Registering
//! an earlier deadline also sets the timer.

use crate::executor::workers::worker::worker_runtime;
use crate::sync::wake_all;
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::{Arc, LazyLock, Weak};
use std::task::Waker;
use std::time::{Duration, Instant};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::runtime::{self, Handle};

/// Registered deadline of a [`Sleep`](super::Sleep). Dropping it deregisters the deadline.
pub(super) struct Registration {
    queue: Arc<Queue>,
    key: Key,
}

/// State of a registered deadline, as seen by its sleep.
pub(super) enum Wait {
    Pending,
    Expired,
    /// The runtime of the timer has shut down, so the deadline will never expire.
    Stopped,
}

/// Key of a deadline: its time, and a number that distinguishes equal times.
type Key = (Instant, u64);

struct Queue {
    timer: AsyncFd<Timer>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    waiting: BTreeMap<Key, Waker>,
    next: u64,
    is_stopped: bool,
}

/// Timer queues of all runtimes, by runtime id.
static QUEUES: LazyLock<Mutex<HashMap<runtime::Id, Weak<Queue>>>> = LazyLock::new(Mutex::default);

thread_local! {
    /// Timer queue that this thread used last. Cached because the lookup in [`QUEUES`] takes a lock.
    static LAST: RefCell<Option<(runtime::Id, Weak<Queue>)>> = const { RefCell::new(None) };
}

impl Registration {
    /// Registers a deadline that is later than `now`.
    pub(super) fn new(deadline: Instant, now: Instant, waker: &Waker) -> io::Result<Self> {
        let queue = Queue::current()?;
        let key = queue.insert(deadline, now, waker)?;
        Ok(Self { queue, key })
    }

    /// Replaces the waker, unless the deadline has already expired.
    pub(super) fn renew(&self, waker: &Waker) -> Wait {
        let mut state = self.queue.state.lock();
        if state.is_stopped {
            return Wait::Stopped;
        }
        let Some(current) = state.waiting.get_mut(&self.key) else { return Wait::Expired };
        if !current.will_wake(waker) {
            let replaced = std::mem::replace(current, waker.clone());
            // Drop the waker without the lock, as in `drop`.
            drop(state);
            drop(replaced);
        }
        Wait::Pending
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let waker = self.queue.state.lock().waiting.remove(&self.key);
        // Drop the waker only here, where the lock is released, because a waker's destructor may run arbitrary code.
        drop(waker);
    }
}

impl Queue {
    /// Returns the timer queue of the runtime that belongs to this thread's worker or, outside of workers, of the current
    /// runtime. The first call on a runtime creates the queue.
    fn current() -> io::Result<Arc<Self>> {
        let runtime = worker_runtime().unwrap_or_else(Handle::current);
        let id = runtime.id();
        let known = LAST.with_borrow(|last| last.as_ref().filter(|(last, _)| *last == id)?.1.upgrade());
        if let Some(queue) = known {
            return Ok(queue);
        }
        let known = QUEUES.lock().get(&id).and_then(Weak::upgrade);
        let queue = match known {
            Some(queue) => queue,
            // Start the task outside of the lock, because a runtime that has shut down drops the task immediately, and
            // its drop takes the lock.
            None => {
                // Two threads may race here and start a queue each. Both work, and later lookups find the one that was
                // inserted last.
                let queue = Self::start(&runtime)?;
                QUEUES.lock().insert(id, Arc::downgrade(&queue));
                queue
            }
        };
        LAST.set(Some((id, Arc::downgrade(&queue))));
        Ok(queue)
    }

    fn start(runtime: &Handle) -> io::Result<Arc<Self>> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let _entered = runtime.enter();
        let timer = register(Timer(timer))?;
        let queue = Arc::new(Self { timer, state: Mutex::default() });
        runtime.spawn(run(Running { queue: queue.clone(), runtime: runtime.id() }));
        Ok(queue)
    }

    fn insert(&self, deadline: Instant, now: Instant, waker: &Waker) -> io::Result<Key> {
        let mut state = self.state.lock();
        if state.is_stopped {
            return Err(io::Error::other("the runtime has ended"));
        }
        let key = (deadline, state.next);
        if state.waiting.first_key_value().is_none_or(|(first, _)| *first > key) {
            // Set the timer under the lock. Otherwise, a concurrent insertion could overwrite an earlier deadline with
            // a later one.
            self.timer.get_ref().set(deadline - now)?;
        }
        state.next += 1;
        state.waiting.insert(key, waker.clone());
        Ok(key)
    }

    /// Wakes the tasks of expired deadlines and sets the runtime's timer to the next deadline.
    fn expire(&self) -> io::Result<()> {
        let (expired, set) = {
            let mut state = self.state.lock();
            let now = Instant::now();
            let later = state.waiting.split_off(&(now, u64::MAX));
            let expired = std::mem::replace(&mut state.waiting, later);
            let first = state.waiting.first_key_value();
            (expired, first.map_or(Ok(()), |((first, _), _)| self.timer.get_ref().set(*first - now)))
        };
        // Wake the tasks even if the timer could not be set.
        wake_all(expired.into_values());
        set
    }
}

/// Guard that stops a timer queue when its runtime shuts down.
struct Running {
    queue: Arc<Queue>,
    runtime: runtime::Id,
}

/// Expires deadlines of the queue until the runtime shuts down.
async fn run(running: Running) {
    // Reading the timer is unnecessary, because setting the timer resets it and each expiry is reported.
    while let Ok(mut ready) = running.queue.timer.readable().await {
        // Clear readiness before the deadlines are checked, so that an expiry in between is reported again.
        ready.clear_ready();
        if let Err(error) = running.queue.expire() {
            tracing::warn!(target: "frisbee::worker", %error, "timer failed; tokio's timer replaces it");
            return;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Remove the queue from the map first, so that new sleeps do not find a queue that has stopped.
        QUEUES.lock().remove(&self.runtime);
        let waiting = {
            let mut state = self.queue.state.lock();
            state.is_stopped = true;
            std::mem::take(&mut state.waiting)
        };
        wake_all(waiting.into_values());
    }
}

#[allow(unsafe_code)]
fn register(timer: Timer) -> io::Result<AsyncFd<Timer>> {
    // SAFETY: a `Timer` owns its descriptor, which stays the same until the `Timer` is dropped.
    let registered = unsafe { AsyncFd::register_with_interest(timer, Interest::READABLE) };
    registered.map_err(|error| error.into_parts().1)
}

struct Timer(TimerFd);

impl Timer {
    fn set(&self, after: Duration) -> io::Result<()> {
        // Use at least a nanosecond, because zero would disarm the timer.
        let after = after.max(Duration::from_nanos(1));
        let expiration = Expiration::OneShot(TimeSpec::from_duration(after));
        Ok(self.0.set(expiration, TimerSetTimeFlags::empty())?)
    }
}

impl AsRawFd for Timer {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_fd().as_raw_fd()
    }
}

#[cfg(test)]
pub(super) fn pending_deadlines() -> usize {
    Queue::current().unwrap().state.lock().waiting.len()
}

#[cfg(test)]
pub(super) fn has_queue() -> bool {
    QUEUES.lock().contains_key(&Handle::current().id())
}
