//! Tasks of a worker. A task is polled by only one thread at a time, even if its worker has several.

#[cfg(all(test, frisbee_loom))]
mod model_tests;

use super::worker::ExecutorShared;
use crate::debug::opaque_debug;
use crate::executor::tasks::Job;
use parking_lot::Mutex;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Wake, Waker};

#[cfg(frisbee_loom)]
use loom::sync::atomic::AtomicU8;
#[cfg(not(frisbee_loom))]
use std::sync::atomic::AtomicU8;

thread_local! {
    /// Number of the worker task that this thread is polling.
    static CURRENT: Cell<Option<u64>> = const { Cell::new(None) };
}

pub(super) struct WorkerTask {
    number: u64,
    /// Whether the task is a job of a connection rather than the driver. A job that yields is queued behind all other
    /// tasks.
    is_job: bool,
    worker: Arc<ExecutorShared>,
    phase: TaskPhase,
    /// Future of the task, or `None` once it has completed. The lock is contended only when the worker ends.
    body: Mutex<Option<Body>>,
}

struct Body {
    future: Job,
    /// Waker of the task. It holds a reference to the task, and the cycle is broken when the task completes.
    waker: Waker,
}

impl WorkerTask {
    /// Creates a task that counts as woken. The caller must put it into the ready queue immediately.
    pub(super) fn new(number: u64, is_job: bool, worker: Arc<ExecutorShared>, future: Job) -> Arc<Self> {
        let task = Arc::new(Self { number, is_job, worker, phase: TaskPhase::queued(), body: Mutex::new(None) });
        *task.body.lock() = Some(Body { future, waker: task.clone().into() });
        task
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn worker(&self) -> &Arc<ExecutorShared> {
        &self.worker
    }

    /// Returns the number of the worker task that this thread is polling, if any.
    pub(super) fn current() -> Option<u64> {
        CURRENT.get()
    }

    /// Polls a task that was taken from the ready queue.
    pub(super) fn poll(self: Arc<Self>) {
        let mut body = self.body.lock();
        self.phase.begin();
        let Some(Body { future, waker }) = &mut *body else { return };
        CURRENT.set(Some(self.number));
        // Catch panics, because the thread must continue to poll other tasks.
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(waker))));
        CURRENT.set(None);
        // The panic hook has already reported a panic.
        let after = if matches!(polled, Ok(Poll::Pending)) { self.phase.end() } else { self.phase.finish() };
        match after {
            AfterPoll::Idle => return,
            AfterPoll::Woken => {
                // Release the lock before queueing, because another thread of the worker may poll the task immediately.
                drop(body);
                let worker = self.worker.clone();
                return if self.is_job { worker.queue_last(self) } else { worker.queue(self) };
            }
            AfterPoll::Over => {}
        }
        // Drop the future outside of the lock. It may hold the last handle of the worker, and the destructor of the
        // handle takes the lock.
        let over = body.take();
        drop(body);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(over)));
        self.worker.forget(self.number);
    }

    /// Drops the future of the task. If a thread is polling it, the future is dropped when that poll returns.
    pub(super) fn end(&self) {
        if !self.phase.stop() {
            let body = self.body.lock().take();
            let _ = catch_unwind(AssertUnwindSafe(|| drop(body)));
        }
    }
}

opaque_debug!([] WorkerTask, "WorkerTask", |this| number = this.number);

impl Wake for WorkerTask {
    fn wake(self: Arc<Self>) {
        if self.phase.wake() {
            let worker = self.worker.clone();
            worker.queue(self);
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.phase.wake() {
            self.worker.queue(self.clone());
        }
    }
}

/// Scheduling state of a task, as a combination of flags.
struct TaskPhase(AtomicU8);

/// Flag: the task was woken. It is in the ready queue, or will be queued after the current poll. It is written even if
/// it is already set, so that the polling thread sees all writes made before the wake-up.
const WOKEN: u8 = 1;

/// Flag: a thread is polling the task.
const POLLED: u8 = 2;

/// Flag: the task must not be polled again.
const OVER: u8 = 4;

/// Action that a thread must take after it has polled a task.
#[derive(PartialEq, Eq, Debug)]
enum AfterPoll {
    Idle,
    /// The task was woken during the poll and must be queued again.
    Woken,
    Over,
}

impl TaskPhase {
    fn queued() -> Self {
        Self(AtomicU8::new(WOKEN))
    }

    /// Sets the flag for a wake-up. Returns whether the task must be queued.
    fn wake(&self) -> bool {
        // Only the transition from idle queues the task. A task that is being polled is queued by its thread
        // afterwards.
        self.0.fetch_or(WOKEN, Ordering::AcqRel) == 0
    }

    /// Records that a thread begins to poll the task.
    fn begin(&self) {
        // A queued task has `WOKEN` set and `POLLED` clear, so XOR swaps them.
        self.0.fetch_xor(WOKEN | POLLED, Ordering::AcqRel);
    }

    /// Records the end of a poll that leaves the future pending.
    fn end(&self) -> AfterPoll {
        let before = self.0.fetch_and(!POLLED, Ordering::AcqRel);
        match before & (WOKEN | OVER) {
            0 => AfterPoll::Idle,
            WOKEN => AfterPoll::Woken,
            _ => AfterPoll::Over,
        }
    }

    /// Records the end of the poll that completed the future.
    fn finish(&self) -> AfterPoll {
        // A wake-up during the last poll is overwritten on purpose, because there is nothing left to poll.
        self.0.store(OVER, Ordering::Release);
        AfterPoll::Over
    }

    /// Prevents further polls of the task. Returns whether a thread is polling it now.
    fn stop(&self) -> bool {
        self.0.fetch_or(OVER, Ordering::AcqRel) & POLLED != 0
    }
}
