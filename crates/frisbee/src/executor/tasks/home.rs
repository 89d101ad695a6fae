//! Jobs on the worker of their connection: their requirements, and when they leave it for the runtime of the caller.
//!
//! # Decisions
//!
//! The task of a handler that waits or streams runs on the worker of its connection. In the runtime of the caller, each message
//! of a ping-pong stream would wake two threads; on the worker it wakes none. Such a task is polled within `block_on` of the
//! caller's runtime, by a future that is ready at once: this sets the context, so that timers, sockets and spawned tasks belong
//! to that runtime, and, unlike `Handle::enter`, a cooperative budget. A job moves to the caller's runtime when its method has
//! lost the inline permission, or when its polls take a millisecond or more three times in a row.

use super::Tasks;
use super::carrier::{AssignedJob, Carrier, Job};
use crate::debug::opaque_debug;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::runtime::{EnterGuard, Handle, RuntimeFlavor};

/// A poll on the worker that takes longer than this is long, as a turn with handlers in place is.
const LONG: Duration = Duration::from_millis(1);

/// After so many successive long polls a job leaves the worker. A single one may be due to the operating system, which
/// gave the processor to another process.
const LONG_POLLS: u32 = 3;

/// After a single poll of this length, too: by then the watchdog has noticed it, or was about to.
const BLOCKED: Duration = Duration::from_millis(8);

/// The worker or the ring that drives a connection.
pub(crate) trait Home: Send + Sync {
    /// Runs a task there. If the worker has ended, the task is dropped.
    fn spawn(&self, task: Job);
}

/// The owner of tasks: a connection.
pub(crate) trait TaskOwner: Send + Sync {
    fn tasks(&self) -> &Tasks;

    /// The caller's runtime, to which the sockets and timers of tasks belong.
    fn runtime(&self) -> &Handle;

    /// Sets the operation to report if the thread blocks, 0 for none.
    fn set_routed(&self, operation: u16);
}

/// Whether a task of a runtime that blocks leaves threads to others.
pub(crate) fn has_threads(runtime: &Handle) -> bool {
    runtime.runtime_flavor() != RuntimeFlavor::CurrentThread
}

/// The part of a task on a worker that its jobs share.
pub(super) struct WorkerTaskShared {
    owner: Arc<dyn TaskOwner>,
    /// Successive long polls.
    long_polls: u32,
    /// Jobs take long, and have to leave the worker.
    is_slow: bool,
}

impl WorkerTaskShared {
    pub(super) fn new(owner: Arc<dyn TaskOwner>) -> Self {
        Self { owner, long_polls: 0, is_slow: false }
    }

    /// Enters the caller's runtime, which owns a job's tokio resources.
    pub(super) fn enter(&self) -> EnterGuard<'_> {
        self.owner.runtime().enter()
    }

    /// Polls a job as a task of the caller's runtime would be: in its context, and within a budget of cooperation.
    /// Returns whether the job continues.
    pub(super) fn poll(&mut self, assigned: &mut AssignedJob, context: &mut Context<'_>) -> bool {
        self.owner.set_routed(assigned.operation);
        let began = Instant::now();
        // Ready at once, so that nothing blocks. `Handle::enter` would set the context alone: a job that always has
        // something to do would never return.
        let polled = self
            .owner
            .runtime()
            .block_on(poll_fn(|_| Poll::Ready(catch_unwind(AssertUnwindSafe(|| assigned.job.as_mut().poll(context))))));
        self.record(began);
        matches!(polled, Ok(Poll::Pending))
    }

    /// Notes how long a poll has taken.
    fn record(&mut self, began: Instant) {
        let now = Instant::now();
        let took = now.saturating_duration_since(began);
        if took < LONG {
            self.long_polls = 0;
            return;
        }
        self.long_polls += 1;
        if (self.long_polls >= LONG_POLLS || took >= BLOCKED) && has_threads(self.owner.runtime()) {
            self.is_slow = true;
            self.owner.tasks().detach(now);
        }
    }

    /// Whether a job has to leave the worker before it is polled again.
    pub(super) fn is_to_leave(&self, assigned: &AssignedJob) -> bool {
        self.is_slow || assigned.permission.as_ref().is_some_and(|permission| !permission.is_kept())
    }

    /// Has a task of the caller's runtime continue the job; `false` if the job has left its slot, so that it is over
    /// soon.
    #[cold]
    pub(super) fn leave(&self, current: &mut Option<AssignedJob>) -> bool {
        let Some(slot) = current.as_ref().map(|assigned| assigned.slot) else { return false };
        let carrier = Carrier::new(false);
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
