//! A task of a worker: a future, and whether it has to be polled. At most one thread polls it at one time, however
//! many threads its worker has.

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
    /// The number of the task that this thread polls.
    static CURRENT: Cell<Option<u64>> = const { Cell::new(None) };
}

pub(super) struct WorkerTask {
    number: u64,
    /// It is a job of a connection, not its driver: if it always has something to do, it goes last.
    is_job: bool,
    worker: Arc<ExecutorShared>,
    phase: TaskPhase,
    /// Until it is over. The lock is free at every call, except when the worker ends.
    body: Mutex<Option<Body>>,
}

struct Body {
    future: Job,
    /// The task's own, which goes round in a circle until the task is over.
    waker: Waker,
}

impl WorkerTask {
    /// A task that is queued.
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

    /// The number of the task that this thread polls.
    pub(super) fn current() -> Option<u64> {
        CURRENT.get()
    }

    /// Polls it, since it was queued.
    pub(super) fn poll(self: Arc<Self>) {
        let mut body = self.body.lock();
        self.phase.begin();
        let Some(Body { future, waker }) = &mut *body else { return };
        CURRENT.set(Some(self.number));
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(waker))));
        CURRENT.set(None);
        // The hook has reported the panic, if it was one.
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
        let over = body.take();
        drop(body);
        let _ = catch_unwind(AssertUnwindSafe(|| drop(over)));
        self.worker.forget(self.number);
    }

    /// Drops its future, at once or when the thread that polls it returns.
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

/// Whether a task waits, is queued or is being polled.
struct TaskPhase(AtomicU8);

/// It was woken, and is queued or will be after the poll. It is set even if it was set before: the thread that polls
/// then sees all that was done before the wake-up.
const WOKEN: u8 = 1;

/// A thread polls it.
const POLLED: u8 = 2;

/// It is polled no more.
const OVER: u8 = 4;

/// The action after a poll.
#[derive(PartialEq, Eq, Debug)]
enum AfterPoll {
    Idle,
    /// It is to be queued.
    Woken,
    Over,
}

impl TaskPhase {
    fn queued() -> Self {
        Self(AtomicU8::new(WOKEN))
    }

    /// Whether it is to be queued.
    fn wake(&self) -> bool {
        self.0.fetch_or(WOKEN, Ordering::AcqRel) == 0
    }

    /// A poll begins.
    fn begin(&self) {
        self.0.fetch_xor(WOKEN | POLLED, Ordering::AcqRel);
    }

    /// A poll is over that was not the last.
    fn end(&self) -> AfterPoll {
        let before = self.0.fetch_and(!POLLED, Ordering::AcqRel);
        match before & (WOKEN | OVER) {
            0 => AfterPoll::Idle,
            WOKEN => AfterPoll::Woken,
            _ => AfterPoll::Over,
        }
    }

    /// The last poll is over.
    fn finish(&self) -> AfterPoll {
        self.0.store(OVER, Ordering::Release);
        AfterPoll::Over
    }

    /// It is polled no more; whether a thread polls it now.
    fn stop(&self) -> bool {
        self.0.fetch_or(OVER, Ordering::AcqRel) & POLLED != 0
    }
}
