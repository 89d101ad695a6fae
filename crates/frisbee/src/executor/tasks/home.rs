//! Execution of jobs on the worker of their connection. Slow jobs are moved to the caller's runtime.
//!
//! # Decisions
//!
//! The task of a pending handler or a stream runs on the worker of its connection. In the caller's runtime, each
//! message of a ping-pong stream would wake two threads, while on the worker it wakes none.
//!
//! The task is polled within `block_on` of the caller's runtime. The outer future is always ready, so this never
//! blocks. It sets the context, so that timers, sockets and spawned tasks belong to that runtime. Unlike
//! `Handle::enter`, it also sets the cooperative budget. A job is moved to the caller's runtime when the inline
//! permission of its method is revoked, after three consecutive polls of a millisecond or more, or after a single poll
//! of 8 ms. Slow jobs are moved only if that runtime has several threads.

use super::Tasks;
use super::carrier::{AssignedJob, Carrier, Job};
use crate::debug::opaque_debug;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{EnterGuard, Handle, RuntimeFlavor};

/// Minimum duration of a job's poll to count as long.
const LONG: Duration = Duration::from_millis(1);

/// Number of consecutive long polls before a job moves from the worker to the runtime. More than one, because the
/// operating system may preempt a thread.
const LONG_POLLS: u32 = 3;

/// Duration of a single poll after which a job moves from the worker to the runtime. This is about the shortest
/// duration that the watchdog detects.
const BLOCKED: Duration = Duration::from_millis(8);

/// The worker or io_uring thread that drives a connection and can run its jobs.
pub(crate) trait Home: Send + Sync {
    /// Spawns a task on the worker. Drops the task if the worker has ended.
    fn spawn(&self, task: Job);
}

/// A connection that owns tasks on its worker.
pub(crate) trait TaskOwner: Send + Sync {
    fn tasks(&self) -> &Tasks;

    /// Returns the caller's runtime, which owns the sockets and timers of the connection's tasks.
    fn runtime(&self) -> &Handle;

    /// Sets the operation that the watchdog reports if it finds the current thread blocked. Zero means none.
    fn set_routed(&self, operation: u16);
}

/// Returns whether a runtime can run other tasks while one task blocks its thread.
pub(crate) fn has_threads(runtime: &Handle) -> bool {
    runtime.runtime_flavor() != RuntimeFlavor::CurrentThread
}

/// State of a reusable task on a worker, shared by the successive jobs of the task.
pub(super) struct WorkerTaskShared {
    owner: Arc<dyn TaskOwner>,
    /// Number of consecutive long polls. After [`LONG_POLLS`], the job moves to the runtime, because other connections
    /// of the worker must wait for its polls.
    long_polls: u32,
    /// Whether the task's jobs have been so slow that they must move from the worker to the tokio runtime.
    is_slow: bool,
}

impl WorkerTaskShared {
    pub(super) fn new(owner: Arc<dyn TaskOwner>) -> Self {
        Self { owner, long_polls: 0, is_slow: false }
    }

    /// Enters the caller's runtime, which owns the sockets and timers of jobs.
    pub(super) fn enter(&self) -> EnterGuard<'_> {
        self.owner.runtime().enter()
    }

    /// Polls a job in the context of the caller's runtime, within tokio's cooperative budget. Returns whether the job
    /// is pending.
    pub(super) fn poll(&mut self, assigned: &mut AssignedJob, context: &mut Context<'_>) -> bool {
        self.owner.set_routed(assigned.operation);
        let began = Instant::now();
        // `block_on` does not block, because the future is always ready. `Handle::enter` alone would not suffice:
        // without a cooperative budget, a job that always makes progress would never return.
        let polled = self
            .owner
            .runtime()
            .block_on(poll_fn(|_| Poll::Ready(catch_unwind(AssertUnwindSafe(|| assigned.job.as_mut().poll(context))))));
        self.record(began);
        matches!(polled, Ok(Poll::Pending))
    }

    /// Records the duration of a poll of the job that started at `began`.
    fn record(&mut self, began: Instant) {
        let now = Instant::now();
        let took = now.saturating_duration_since(began);
        if took < LONG {
            self.long_polls = 0;
            return;
        }
        self.long_polls += 1;
        // Move slow jobs only if the caller's runtime has several threads. In a single-threaded runtime, they would
        // block all other tasks just as they block this worker.
        if (self.long_polls >= LONG_POLLS || took >= BLOCKED) && has_threads(self.owner.runtime()) {
            self.is_slow = true;
            self.owner.tasks().detach(now);
        }
    }

    /// Returns whether the job must move to the caller's runtime because its permission was revoked or its polls were
    /// slow.
    pub(super) fn is_to_leave(&self, assigned: &AssignedJob) -> bool {
        self.is_slow || assigned.permission.as_ref().is_some_and(|permission| !permission.is_kept())
    }

    /// Moves the job to a task of the caller's runtime. Returns `false` if the job has already ended.
    #[cold]
    pub(super) fn leave(&self, current: &mut Option<AssignedJob>) -> bool {
        let Some(slot) = current.as_ref().map(|assigned| assigned.slot) else { return false };
        let carrier = Carrier::new(false);
        // Reassign the slot first. If the job was cancelled in the meantime, there is nothing left to run.
        if !self.owner.tasks().move_job(slot, &carrier) {
            return false;
        }
        if let Some(assigned) = current.take() {
            self.owner.runtime().spawn(carrier.carry(assigned));
        }
        true
    }
}

opaque_debug!([] WorkerTaskShared, "WorkerTaskShared");
