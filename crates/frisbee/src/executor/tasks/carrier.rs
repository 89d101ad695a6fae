//! Tasks that are reused for several jobs.
//!
//! Creating and dropping a tokio task takes a seventh of the instructions of a call with a pending handler: its memory
//! is aligned to 128 bytes, and glibc's malloc has no fast path for this; it is added to a list and removed again.
//! Therefore, a task that has completed a job waits for the next one.

#[cfg(all(test, frisbee_loom))]
mod model_tests;

use super::home::{TaskOwner, WorkerTaskShared};
use super::{JobSlotId, Placement};
use crate::debug::opaque_debug;
use crate::executor::inline_permission::PermissionHandle;
use crate::sync::{AtomicBool, Mutex};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Waker};

/// Future of a job, which is a handler or a spawned task.
pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A job that was assigned to a task, with the slot that is freed when the job ends.
pub(crate) struct AssignedJob {
    pub(super) job: Job,
    pub(super) slot: JobSlotId,
    /// Operation that the job handles, or 0 if the job is not a handler.
    pub(super) operation: u16,
    /// Permission to run on the worker. If it is revoked, the job moves to the runtime.
    pub(super) permission: Option<PermissionHandle>,
}

impl AssignedJob {
    pub(crate) fn new(job: Job, slot: JobSlotId, placement: Placement) -> Self {
        let (operation, permission) = match placement {
            Placement::Home(operation, permission) => (operation.number(), Some(permission)),
            Placement::Runtime => (0, None),
        };
        Self { job, slot, operation, permission }
    }
}

/// Handle of a reusable task of a job slot. The connection assigns one job after another to it, instead of spawning a
/// task for each.
pub(crate) struct Carrier {
    /// Whether the task runs on the worker of its connection rather than in a runtime.
    is_on_worker: bool,
    next: Mutex<Assigned>,
    /// Whether another job has been assigned to the task. Written under the lock, and read without it.
    has_next: AtomicBool,
    /// Whether the task must end instead of waiting for another job.
    is_over: AtomicBool,
    /// Waker of the task. Set at the first poll, under the lock of `next`, and never changed.
    waker: OnceLock<Waker>,
}

struct Assigned {
    job: Option<AssignedJob>,
    /// Whether the task has ended and accepts no more jobs.
    is_dead: bool,
}

impl Carrier {
    pub(crate) fn new(is_on_worker: bool) -> Arc<Self> {
        Arc::new(Self {
            is_on_worker,
            next: Mutex::new(Assigned { job: None, is_dead: false }),
            has_next: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            waker: OnceLock::new(),
        })
    }

    pub(super) fn is_on_worker(&self) -> bool {
        self.is_on_worker
    }

    /// Returns a future that runs this job and then the jobs assigned later. Spawn the future as a task, because it
    /// relies on a waker that never changes.
    pub(crate) fn carry(self: Arc<Self>, assigned: AssignedJob) -> CarrierFuture {
        CarrierFuture { carrier: self, current: Some(assigned), resident: None }
    }

    /// Like [`carry`](Self::carry), but for a task on the worker of the connection `owner`.
    pub(crate) fn carry_on_worker(self: Arc<Self>, assigned: AssignedJob, owner: Arc<dyn TaskOwner>) -> CarrierFuture {
        CarrierFuture { carrier: self, current: Some(assigned), resident: Some(WorkerTaskShared::new(owner)) }
    }

    /// Assigns another job to the task, which runs it after the current one.
    ///
    /// # Errors
    /// Returns the job if the task has ended.
    #[allow(clippy::result_large_err)] // The caller passes the job to another task immediately.
    pub(crate) fn give(&self, assigned: AssignedJob) -> Result<(), AssignedJob> {
        let mut next = self.next.lock();
        if next.is_dead {
            return Err(assigned);
        }
        debug_assert!(next.job.is_none(), "job slot should be free");
        next.job = Some(assigned);
        // Set the flag before waking. If the wake-up arrives while the task polls its current job, the task checks the
        // flag after that job.
        self.has_next.store(true, Ordering::Release);
        drop(next);
        self.wake();
        Ok(())
    }

    /// Makes the task end, whether it is idle or running a job.
    pub(crate) fn end(&self) {
        // Pairs with the Acquire load at the start of `poll`.
        self.is_over.store(true, Ordering::Release);
        // Take the lock to synchronize with the first poll of the task: that poll has either set the waker or will see
        // the flag.
        drop(self.next.lock());
        self.wake();
    }

    /// Returns whether [`end`](Self::end) was called.
    #[cfg(all(test, frisbee_loom))]
    pub(super) fn is_to_end(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }
}

opaque_debug!([] Carrier, "Carrier");

/// Future of a reusable task, which runs the jobs assigned to its [`Carrier`] one after another.
pub(crate) struct CarrierFuture {
    carrier: Arc<Carrier>,
    current: Option<AssignedJob>,
    /// State shared by the jobs of a task on the connection's worker. `None` if the task runs in a runtime.
    resident: Option<WorkerTaskShared>,
}

impl Future for CarrierFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { carrier, current, resident } = &mut *self;
        // Set the waker under the lock that `give` and `end` take. If they ran before, the checks below see their
        // changes. If they run later, they find the waker.
        if carrier.waker.get().is_none() {
            let _next = carrier.next.lock();
            let _ = carrier.waker.set(context.waker().clone());
        }
        if carrier.is_over.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if current.is_none() {
            // Take the job and clear the flag under one lock. Otherwise, this store could hide a job that is assigned
            // in between.
            let mut next = carrier.next.lock();
            carrier.has_next.store(false, Ordering::Relaxed);
            *current = next.job.take();
        }
        let Some(assigned) = current else { return Poll::Pending };
        // Catch panics, because the next job may already be assigned. The panic hook has reported the panic.
        let is_pending = match resident {
            None => matches!(catch_unwind(AssertUnwindSafe(|| assigned.job.as_mut().poll(context))), Ok(Poll::Pending)),
            Some(resident) => {
                if resident.is_to_leave(assigned) && resident.leave(current) {
                    return Poll::Ready(());
                }
                current.as_mut().is_some_and(|assigned| resident.poll(assigned, context))
            }
        };
        if !is_pending {
            let _entered = resident.as_ref().map(WorkerTaskShared::enter);
            // A panic of the destructor would end this task, and with it a job that was assigned during the poll.
            let _ = catch_unwind(AssertUnwindSafe(|| *current = None));
            // Check for a job that was assigned during the poll. This is possible, because the polled job releases its
            // slot when it replies. A job that is assigned later wakes the task.
            if carrier.has_next.load(Ordering::Acquire) {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl Drop for CarrierFuture {
    /// Drops the remaining jobs, in the context of the runtime that owns their sockets and timers.
    fn drop(&mut self) {
        let _entered = self.resident.as_ref().map(WorkerTaskShared::enter);
        let mut next = self.carrier.next.lock();
        // `give` now returns jobs to the caller, because this task will not be polled again.
        next.is_dead = true;
        let job = next.job.take();
        drop(next);
        // Drop the jobs outside of the lock, because their destructors may run arbitrary code.
        drop((job, self.current.take()));
    }
}
