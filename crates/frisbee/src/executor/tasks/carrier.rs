//! Tasks that outlive the work they are given.
//!
//! Creating and dropping a task of the runtime is expensive: its memory is aligned to 128 bytes, where glibc's malloc
//! has no fast path, and it is entered in a list and removed again. That took a seventh of the instructions of a call
//! whose handler waits. So a task that has finished one job waits for the next one.

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

/// The work that is given to a task.
pub type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A job in its slot.
pub(crate) struct AssignedJob {
    pub(super) job: Job,
    pub(super) slot: JobSlotId,
    /// The operation whose handler it is, or 0.
    pub(super) operation: u16,
    /// It leaves the worker when this is lost.
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

/// A task's other end.
pub(crate) struct Carrier {
    /// The task is one of the connection's worker, and not of a runtime.
    is_on_worker: bool,
    next: Mutex<Assigned>,
    /// There is a next job. Written with the lock held, read without.
    has_next: AtomicBool,
    /// The task is to end.
    is_over: AtomicBool,
    /// Set with the lock of `next` held, at the first poll. It stays the same.
    waker: OnceLock<Waker>,
}

struct Assigned {
    job: Option<AssignedJob>,
    /// The task has ended.
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

    /// The task, which has a first job. To be spawned in a runtime, so that its waker stays the same.
    pub(crate) fn carry(self: Arc<Self>, assigned: AssignedJob) -> CarrierFuture {
        CarrierFuture { carrier: self, current: Some(assigned), resident: None }
    }

    /// As [`carry`](Self::carry), to be spawned on the worker of the owner.
    pub(crate) fn carry_on_worker(self: Arc<Self>, assigned: AssignedJob, owner: Arc<dyn TaskOwner>) -> CarrierFuture {
        CarrierFuture { carrier: self, current: Some(assigned), resident: Some(WorkerTaskShared::new(owner)) }
    }

    /// Gives the task its next job, once it is done with the last one.
    ///
    /// # Errors
    /// The job, if the task has ended.
    #[allow(clippy::result_large_err)] // It goes to another task at once.
    pub(crate) fn give(&self, assigned: AssignedJob) -> Result<(), AssignedJob> {
        let mut next = self.next.lock();
        if next.is_dead {
            return Err(assigned);
        }
        debug_assert!(next.job.is_none(), "the slot was free");
        next.job = Some(assigned);
        self.has_next.store(true, Ordering::Release);
        drop(next);
        self.wake();
        Ok(())
    }

    /// Has the task end, in any state.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
        // Either the task's first poll precedes this and has left its waker, or it follows and sees the stored value.
        drop(self.next.lock());
        self.wake();
    }

    /// Whether the task is to end.
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

/// The future that the task runs.
pub(crate) struct CarrierFuture {
    carrier: Arc<Carrier>,
    current: Option<AssignedJob>,
    /// On a worker.
    resident: Option<WorkerTaskShared>,
}

impl Future for CarrierFuture {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { carrier, current, resident } = &mut *self;
        if carrier.waker.get().is_none() {
            let _next = carrier.next.lock();
            let _ = carrier.waker.set(context.waker().clone());
        }
        if carrier.is_over.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        if current.is_none() {
            let mut next = carrier.next.lock();
            carrier.has_next.store(false, Ordering::Relaxed);
            *current = next.job.take();
        }
        let Some(assigned) = current else { return Poll::Pending };
        // A panic is the job's own affair: the next one may have been given already. The hook has reported it.
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
            *current = None;
            // The next job from here on wakes its task. It may have come before, since a job leaves its slot when it
            // answers.
            if carrier.has_next.load(Ordering::Acquire) {
                context.waker().wake_by_ref();
            }
        }
        Poll::Pending
    }
}

impl Drop for CarrierFuture {
    /// However the task ends, even with its runtime, no job remains. Its values are dropped where they were made.
    fn drop(&mut self) {
        let _entered = self.resident.as_ref().map(WorkerTaskShared::enter);
        let mut next = self.carrier.next.lock();
        next.is_dead = true;
        let job = next.job.take();
        drop(next);
        drop((job, self.current.take()));
    }
}
