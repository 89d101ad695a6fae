//! Jobs of a connection, and the tasks that run them. All of them end with the connection.
//!
//! # Decisions
//!
//! A job is a pending handler or another future that a connection spawns. Each job occupies a slot in the connection's
//! list, and later jobs reuse the task of the slot. Allocating and freeing a tokio task takes a seventh of the
//! instructions of a call with a pending handler, because tasks are aligned to 128 bytes, and malloc has no fast path
//! for this.
//!
//! The job of a CANCEL packet is found in the same list. A single lock decides whether the job replies or is cancelled.

mod calls;
mod carrier;
mod home;
#[cfg(all(test, frisbee_loom))]
mod model_tests;
#[cfg(test)]
mod tests;

use crate::executor::inline_permission::{Penalty, PermissionHandle};
use crate::sync::{AtomicUsize, Mutex, MutexGuard};
use crate::{Operation, PacketId};
use calls::Calls;
pub use carrier::Job;
pub(crate) use carrier::{AssignedJob, Carrier};
pub(crate) use home::{Home, TaskOwner, has_threads};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A call that the peer may cancel, identified by the id and operation of its request.
pub(crate) type Call = (PacketId, Operation);

/// Maximum number of idle tasks that an active connection keeps for reuse, on its worker and in the caller's runtime.
/// Each takes half a kilobyte.
const SPARE_MAX: usize = 64;

/// Executor that polls a job: the worker of its connection, or the caller's runtime.
#[derive(Debug)]
pub enum Placement {
    /// The worker that drives the connection, if there is one. If a handler of the operation blocks the worker, the
    /// permission is revoked, and jobs of the operation move to the runtime.
    Home(Operation, PermissionHandle),
    /// The tokio runtime that started the server or connected the client.
    Runtime,
}

/// Policy that determines where and when handlers are polled.
///
/// In each case, the tasks, timers and sockets that handlers create belong to the runtime that started the server or
/// connected the client.
///
/// ```
/// use frisbee::{Handlers, Operation, Policy};
///
/// let resize = Operation::user(10).expect("operation number should be in the user range");
/// // Each connection has at most two pictures at work; its further requests wait.
/// let handlers = Handlers::new().on_with(resize, Policy::AtMost(2), |_connection, picture| async {
///     let resized = tokio::task::spawn_blocking(|| picture).await;
///     resized.ok()
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Polls each handler once inline, and moves it to a task only if it is pending. The task runs on the
    /// [worker](crate::Workers) that drives the connection, if there is one, so that a handler that waits for its peer
    /// wakes no other thread. This policy is the cheapest and the default.
    ///
    /// A handler that computes or blocks for a long time delays its connection. With workers, the other connections of
    /// its thread continue on another thread within 12 ms. The method is then served like
    /// [`Concurrent`](Self::Concurrent) for one second, or longer if it soon blocks again: replies are sent in any
    /// order, and running handlers also leave the worker. The first such event of a method is logged.
    ///
    /// If the runtime of the handlers has a single thread, the method is still served inline. With several threads, a
    /// pending handler also leaves the worker after three consecutive polls of a millisecond or more. frpc spawns all
    /// handlers of a connection for at least one second after three consecutive such polls of its driver.
    #[default]
    Inline,
    /// Spawns a task for each request in the runtime that started the server or connected the client. For handlers that
    /// compute for a long time or call `block_in_place`.
    Concurrent,
    /// Like [`Concurrent`](Self::Concurrent), but with a maximum number of concurrent handlers for each operation and
    /// connection. Further requests wait in order.
    AtMost(usize),
}

/// Jobs (handlers and other spawned futures) of a connection, and the reusable tasks that run them.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    table: Mutex<TaskTable>,
    /// Copy of [`JobSlots::calls_running`] that can be read without the lock. Written under the lock.
    calls_running: AtomicUsize,
}

#[derive(Debug, Default)]
struct TaskTable {
    /// Slots for running jobs and idle tasks. Boxed because most connections have no jobs.
    slots: Option<Box<JobSlots>>,
    /// Number of the job that started last. Unlike slots, numbers are never reused: a job that is cancelled during a
    /// poll may end much later, and must not free the slot of another job then.
    last: u64,
    /// Whether the connection has ended, so that no more jobs may start.
    ended: bool,
}

#[derive(Debug, Default)]
struct JobSlots {
    all: Vec<JobSlot>,
    free: FreeSlots,
    /// Index of the jobs that handle calls, by which the job of a CANCEL packet is found.
    calls: Calls,
    /// Number of running jobs that handle calls of the peer. Streams and spawned tasks do not count.
    calls_running: usize,
    /// Period during which no job starts on the worker, because jobs were slow there.
    penalty: Option<Penalty>,
}

/// Slots without a job, grouped by the executor of their idle task.
#[derive(Debug, Default)]
struct FreeSlots {
    /// Unused slots that have no idle task.
    bare: Vec<usize>,
    /// Unused slots with an idle task in the caller's runtime.
    in_runtime: Vec<usize>,
    /// Unused slots with an idle task on the connection's worker.
    on_worker: Vec<usize>,
}

impl FreeSlots {
    fn len(&self) -> usize {
        self.bare.len() + self.in_runtime.len() + self.on_worker.len()
    }

    /// Returns the unused slots with an idle task on the worker if `on_worker` is set, otherwise in the caller's
    /// runtime.
    fn spare(&mut self, on_worker: bool) -> &mut Vec<usize> {
        if on_worker { &mut self.on_worker } else { &mut self.in_runtime }
    }
}

#[derive(Debug, Default)]
struct JobSlot {
    /// Number of the job in the slot, or 0 if the slot is unused. Distinguishes the job from earlier jobs in the same
    /// slot.
    job: u64,
    /// Task that runs the jobs of the slot. It may be kept idle for reuse while the slot is unused.
    carrier: Option<Arc<Carrier>>,
    /// Call that the job handles, while the peer may cancel it.
    call: Option<Call>,
    /// Whether the job handles a call of the peer. If so, the limit of calls applies to it.
    is_call: bool,
    /// Previous and next slot in the hash chain of [`Calls`]. Valid only while the job handles a call.
    before: u32,
    next: u32,
}

/// Reference to a job by slot and job number. The number is needed because the slot may already belong to a later job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobSlotId {
    slot: usize,
    /// Number of the job. The reference is stale if the slot contains another number.
    job: u64,
}

/// Result of reserving a slot for a new job.
pub(crate) enum JobStart {
    /// A slot was reserved, so the job may start.
    Yes {
        id: JobSlotId,
        /// Idle task that can run the job, or `None` if a task must be spawned.
        spare: Option<Arc<Carrier>>,
        /// Whether the job must run on the worker of its connection.
        on_worker: bool,
    },
    /// The connection already runs its maximum number of calls.
    Full,
    /// The connection has ended, so no job may start.
    Ended,
}

/// State of a connection's jobs after one of them has ended; see [`Tasks::end`].
#[derive(Clone, Copy, Default)]
pub(crate) struct FinishedJob {
    /// Whether the job handled a call that was not cancelled.
    pub(crate) had_call: bool,
    /// Whether the connection has no running jobs left.
    pub(crate) was_last: bool,
}

impl Tasks {
    /// Reserves a slot for a job.
    ///
    /// If `calls_max` is set, the job counts as a call, and gets a slot only if fewer calls are running. `call`
    /// identifies the call if the peer can cancel it. If `on_worker` is set, the job runs on the worker, unless jobs
    /// were slow there recently.
    pub(crate) fn begin(&self, calls_max: Option<usize>, call: Option<Call>, on_worker: bool) -> JobStart {
        let mut tasks = self.table.lock();
        let TaskTable { slots, last, ended } = &mut *tasks;
        // Check the flag under the lock that `abort` takes. Otherwise, a job could start after `abort` has ended all
        // others, and nothing would end it.
        if *ended {
            return JobStart::Ended;
        }
        let slots = slots.get_or_insert_default();
        if calls_max.is_some_and(|max| slots.calls_running >= max) {
            return JobStart::Full;
        }
        let on_worker = on_worker && slots.penalty.as_ref().is_none_or(|penalty| penalty.is_over(Instant::now()));
        let free = &mut slots.free;
        let index = free.spare(on_worker).pop().or_else(|| free.bare.pop()).unwrap_or_else(|| {
            slots.all.push(JobSlot::default());
            slots.all.len() - 1
        });
        let slot = &mut slots.all[index];
        *last += 1;
        slot.job = *last;
        slot.call = call;
        slot.is_call = calls_max.is_some();
        let id = JobSlotId { slot: index, job: slot.job };
        let spare = slot.carrier.clone();
        if let Some(call) = call {
            slots.calls.enter(call, index, &mut slots.all);
        }
        if calls_max.is_some() {
            slots.calls_running += 1;
            // Store the count before releasing the lock. Otherwise, this store could overwrite the newer count of a
            // concurrent `end`.
            self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        }
        JobStart::Yes { id, spare, on_worker }
    }

    /// Registers the task that is about to run a job. If the job has been cancelled or the connection has ended since,
    /// ends the task.
    pub(crate) fn start(&self, id: JobSlotId, carrier: &Arc<Carrier>) {
        if !self.move_job(id, carrier) {
            carrier.end();
        }
    }

    /// Assigns a running job to another task, which continues to poll it. Returns `false` if the job has ended.
    fn move_job(&self, id: JobSlotId, carrier: &Arc<Carrier>) -> bool {
        let mut tasks = self.table.lock();
        let Some(slot) = tasks.slot(id) else { return false };
        let earlier = slot.carrier.replace(carrier.clone());
        drop(tasks);
        // Drop the old task outside of the lock, because its destructor may run arbitrary code.
        drop(earlier);
        true
    }

    /// Prevents jobs from starting on the worker for some time, because a job was slow there.
    fn detach(&self, now: Instant) {
        if let Some(slots) = &mut self.table.lock().slots {
            slots.penalty.get_or_insert_default().begin(now);
        }
    }

    /// Drops the job that handles this call, and ends its task even if the task is being polled. Returns `false` if
    /// there is no such job or it has already replied.
    pub(crate) fn cancel(&self, call: Call) -> bool {
        let tasks = self.table.lock();
        let Some(slots) = &tasks.slots else { return false };
        let Some(slot) = slots.calls.find(call, &slots.all) else { return false };
        let id = JobSlotId { slot, job: slots.all[slot].job };
        self.end_task(tasks, id).is_some_and(DetachedJob::finish)
    }

    /// Drops a job, and ends its task even if the task is being polled. Returns `false` if the job has already ended.
    pub(crate) fn abort_one(&self, id: JobSlotId) -> bool {
        self.end_task(self.table.lock(), id).map(DetachedJob::finish).is_some()
    }

    /// Frees the slot of a job and ends its task. Returns `None` if the job has already ended. Releases the lock.
    fn end_task(&self, mut tasks: MutexGuard<'_, TaskTable>, id: JobSlotId) -> Option<DetachedJob> {
        // Remove the task first, so that `leave` does not keep it for reuse: it may still be polling this job.
        let carrier = tasks.slot(id)?.carrier.take();
        let slots = tasks.slots.as_mut()?;
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        // Release the lock first, because ending a task wakes it, which may run arbitrary code.
        drop(tasks);
        if let Some(carrier) = carrier {
            carrier.end();
        }
        left
    }

    /// Returns whether a job is still running.
    pub(crate) fn is_running(&self, id: JobSlotId) -> bool {
        self.table.lock().slot(id).is_some()
    }

    /// Frees the slot of a job. Does nothing if the job has already ended.
    pub(crate) fn end(&self, id: JobSlotId) -> FinishedJob {
        let mut tasks = self.table.lock();
        let Some(slots) = tasks.slots.as_mut() else { return FinishedJob::default() };
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        let was_last = left.is_some() && slots.in_use() == 0;
        drop(tasks);
        FinishedJob { had_call: left.is_some_and(DetachedJob::finish), was_last }
    }

    /// Returns the number of running jobs that handle calls of the peer. Takes no lock. The driver may see a value that
    /// is too high but never one that is too low, because only the driver starts these jobs.
    #[inline]
    pub(crate) fn calls_running(&self) -> usize {
        self.calls_running.load(Ordering::Relaxed)
    }

    /// Returns the number of running jobs of the connection.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().slots.as_ref().map_or(0, |slots| slots.in_use())
    }

    /// Frees all slots and ends their idle tasks, if no jobs are running.
    pub(crate) fn release(&self) {
        let slots = self.table.lock().slots.take_if(|slots| slots.free.len() == slots.all.len());
        end_all(slots);
    }

    /// Aborts all jobs of the connection and prevents more from starting.
    pub(crate) fn abort(&self) {
        let mut tasks = self.table.lock();
        tasks.ended = true;
        // Without the table, `end` and `cancel` do nothing for jobs that complete later.
        let slots = tasks.slots.take();
        drop(tasks);
        end_all(slots);
    }
}

/// Ends the idle and running tasks of all job slots.
fn end_all(slots: Option<Box<JobSlots>>) {
    let slots = slots.unwrap_or_default();
    slots.all.into_iter().filter_map(|slot| slot.carrier).for_each(|carrier| carrier.end());
}

impl JobSlots {
    /// Frees the slot of a job. Returns `None` if the job has already ended.
    fn leave(&mut self, id: JobSlotId) -> Option<DetachedJob> {
        let slot = self.all.get_mut(id.slot).filter(|slot| slot.job == id.job)?;
        // Invalidate the ids of this job, which carry its number. No job has the number 0.
        slot.job = 0;
        let on_worker = slot.carrier.as_ref().is_some_and(|carrier| carrier.is_on_worker());
        let spare = self.free.spare(on_worker);
        let surplus = slot.carrier.take_if(|_| spare.len() >= SPARE_MAX);
        let free = if slot.carrier.is_some() { spare } else { &mut self.free.bare };
        free.push(id.slot);
        let call = slot.call.take();
        self.calls_running -= usize::from(std::mem::take(&mut slot.is_call));
        if let Some(call) = call {
            self.calls.leave(call, id.slot, &mut self.all);
        }
        Some(DetachedJob { had_call: call.is_some(), surplus })
    }

    /// Returns the number of slots with a running job.
    fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// A job that was removed from its slot under the lock. [`finish`](Self::finish) must be called after the lock is
/// released.
struct DetachedJob {
    had_call: bool,
    /// Idle task that must end, because enough idle tasks are kept already.
    surplus: Option<Arc<Carrier>>,
}

impl DetachedJob {
    /// Ends the surplus task, if there is one, and returns whether the job handled a call. Call this without holding
    /// the lock.
    fn finish(self) -> bool {
        if let Some(carrier) = self.surplus {
            carrier.end();
        }
        self.had_call
    }
}

impl TaskTable {
    /// Returns the slot of a job, or `None` if the job has ended.
    fn slot(&mut self, id: JobSlotId) -> Option<&mut JobSlot> {
        let slot = self.slots.as_mut()?.all.get_mut(id.slot)?;
        (slot.job == id.job).then_some(slot)
    }
}
