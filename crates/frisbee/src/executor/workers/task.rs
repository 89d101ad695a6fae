//! A task of a worker: a future and whether it must be polled. Only one thread at a time polls it, although a worker
//! may have several.

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
    /// The number of the task that this thread is polling.
    static CURRENT: Cell<Option<u64>> = const { Cell::new(None) };
}

pub(super) struct WorkerTask {
    number: u64,
    /// Whether this is a job of a connection and not its driver. A job that always makes progress is queued last.
    is_job: bool,
    worker: Arc<ExecutorShared>,
    phase: TaskPhase,
    /// The future, until it completes. The lock is uncontended except when the worker ends.
    body: Mutex<Option<Body>>,
}

struct Body {
    future: Job,
    /// The task's own waker. It forms a reference cycle until the task completes.
    waker: Waker,
}

impl WorkerTask {
    /// Creates a task that is to be queued at once.
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

    /// Returns the number of the task that this thread is polling.
    pub(super) fn current() -> Option<u64> {
        CURRENT.get()
    }

    /// Polls the task, which was queued.
    pub(super) fn poll(self: Arc<Self>) {
        let mut body = self.body.lock();
        self.phase.begin();
        let Some(Body { future, waker }) = &mut *body else { return };
        CURRENT.set(Some(self.number));
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(waker))));
        CURRENT.set(None);
        // The panic hook has reported the panic, if there was one.
        let after = if matches!(polled, Ok(Poll::Pending)) { self.phase.end() } else { self.phase.finish() };
        match after {
            AfterPoll::Idle => return,
            AfterPoll::Woken => {
                drop(body);
                let worker = self.worker.clone();
                return if self.is_job { worker.queue_last(self) } else { worker.queue(self) };
            }
            AfterPoll::Over => {}
        }
        // Dropped without the lock, because the future may hold the last handle of the worker, whose end takes the
        // lock.
        let over = body.take();
        drop(body);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(over)));
        self.worker.forget(self.number);
    }

    /// Drops the future, at once or when the thread that polls it returns.
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

/// The scheduling state of a task: a combination of the bits below.
struct TaskPhase(AtomicU8);

/// Set when the task is woken: it is queued, or will be after the current poll. The bit is written even if it is
/// already set, so that the polling thread sees all writes before the wake-up.
const WOKEN: u8 = 1;

/// Set while a thread polls the task.
const POLLED: u8 = 2;

/// Set when the task must not be polled again.
const OVER: u8 = 4;

/// What to do with a task after a poll.
#[derive(PartialEq, Eq, Debug)]
enum AfterPoll {
    Idle,
    /// The task was woken while it was polled, so it must be queued again.
    Woken,
    Over,
}

impl TaskPhase {
    fn queued() -> Self {
        Self(AtomicU8::new(WOKEN))
    }

    /// Marks the task as woken and returns whether it must be queued.
    fn wake(&self) -> bool {
        self.0.fetch_or(WOKEN, Ordering::AcqRel) == 0
    }

    /// Marks the start of a poll.
    fn begin(&self) {
        self.0.fetch_xor(WOKEN | POLLED, Ordering::AcqRel);
    }

    /// Marks the end of a poll that left the future pending.
    fn end(&self) -> AfterPoll {
        let before = self.0.fetch_and(!POLLED, Ordering::AcqRel);
        match before & (WOKEN | OVER) {
            0 => AfterPoll::Idle,
            WOKEN => AfterPoll::Woken,
            _ => AfterPoll::Over,
        }
    }

    /// Marks the end of the last poll.
    fn finish(&self) -> AfterPoll {
        self.0.store(OVER, Ordering::Release);
        AfterPoll::Over
    }

    /// Prevents further polls and returns whether a thread is polling the task.
    fn stop(&self) -> bool {
        self.0.fetch_or(OVER, Ordering::AcqRel) & POLLED != 0
    }
}
