//! The jobs of a connection and the tasks that run them. Both end with the connection.
//!
//! # Decisions
//!
//! A job is a pending handler or another future that a connection spawns. Each job has a slot in the connection's list,
//! and the task of the slot is reused for the next job. Allocating and freeing a task of the runtime took a seventh of
//! the instructions of such a call, because tasks are aligned to 128 bytes, for which malloc has no fast path.
//!
//! A CANCEL finds its job in the same list, and one lock decides whether the job answers or is cancelled.

mod calls;
mod carrier;
mod home;
#[cfg(all(test, frisbee_loom))]
mod model_tests;
#[cfg(test)]
mod tests;

use crate::executor::inline_permission::{Penalty, PermissionHandle};
use crate::sync::{AtomicUsize, Mutex};
use crate::{Operation, PacketId};
use calls::Calls;
pub use carrier::Job;
pub(crate) use carrier::{AssignedJob, Carrier};
pub(crate) use home::{Home, TaskOwner, has_threads};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The key of a call: the id and operation of the peer's packets.
pub(crate) type Call = (PacketId, Operation);

/// Maximum number of idle tasks that a connection keeps on its worker, and in the caller's runtime, until it is idle
/// itself. Each takes half a kilobyte.
const SPARE_MAX: usize = 64;

/// Where a job runs.
#[derive(Debug)]
pub enum Placement {
    /// The worker that drives the connection, if there is one. Used for handlers of operations that have not blocked a
    /// worker. Once the operation blocks, it loses the permission, and the job moves to the runtime.
    Home(Operation, PermissionHandle),
    /// The tokio runtime on which the server was started or the client connected.
    Runtime,
}

/// Where handlers run.
///
/// In every case their spawned tasks, timers and sockets belong to the runtime on which the server was started or the
/// client connected.
///
/// ```
/// use frisbee::{Handlers, Operation, Policy};
///
/// let resize = Operation::user(10).expect("operation should be in the range of users");
/// // Each connection has at most two pictures at work; its further requests wait.
/// let handlers = Handlers::new().on_with(resize, Policy::AtMost(2), |_connection, picture| async {
///     let resized = tokio::task::spawn_blocking(|| picture).await;
///     resized.ok()
/// });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum Policy {
    /// Polls each handler once in place and moves it to a task only if it is pending. The task belongs to the
    /// [worker](crate::Workers) that drives the connection, if there is one, so that a handler which waits for its peer
    /// wakes no other thread. This is the cheapest policy and the default.
    ///
    /// A handler that computes or blocks for long delays its connection. With workers, the other connections of its
    /// thread continue on another thread within 12 ms. The method is then served like [`Concurrent`](Self::Concurrent)
    /// for one second, and for longer if it soon blocks again: replies arrive in any order, and running handlers leave
    /// the worker as well. The first such event of a method is logged.
    ///
    /// If the serving runtime has a single thread, the policy of the method does not change. Services of frpc are also
    /// served concurrently for a while after three turns of a connection that took more than a millisecond each, and so
    /// are all handlers of a connection after three such polls of a pending one.
    #[default]
    Inline,
    /// Spawns a task for each handler, in the runtime on which the server was started or the client connected. Intended
    /// for handlers that compute for long or block by `block_in_place`.
    Concurrent,
    /// Like [`Concurrent`](Self::Concurrent), with this maximum number of concurrent handlers per operation and
    /// connection. Further requests wait in order.
    AtMost(usize),
}

/// The tasks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    table: Mutex<TaskTable>,
    /// A copy of [`JobSlots::calls_running`], written with the lock held and read without it.
    calls_running: AtomicUsize,
}

#[derive(Debug, Default)]
struct TaskTable {
    /// The slots, in a box because most connections have no jobs.
    slots: Option<Box<JobSlots>>,
    /// The number of the job that started last. Numbers are not reused on a connection, even when slots are: a job that
    /// is cancelled during a poll may end much later, and must not free the slot of another job.
    last: u64,
    /// Whether the connection has ended. If so, no further jobs start.
    ended: bool,
}

#[derive(Debug, Default)]
struct JobSlots {
    all: Vec<JobSlot>,
    free: FreeSlots,
    /// The jobs that the peer can cancel.
    calls: Calls,
    /// Number of jobs that run handlers of the peer's calls. Streams and spawned tasks do not count.
    calls_running: usize,
    /// The period during which no job starts on the worker, because one was slow there.
    apart: Option<Penalty>,
}

/// The indices of the free slots.
#[derive(Debug, Default)]
struct FreeSlots {
    /// Slots without a task.
    bare: Vec<usize>,
    /// Slots whose tasks are idle in the caller's runtime.
    in_runtime: Vec<usize>,
    /// Slots whose tasks are idle on the worker.
    on_worker: Vec<usize>,
}

impl FreeSlots {
    fn len(&self) -> usize {
        self.bare.len() + self.in_runtime.len() + self.on_worker.len()
    }

    /// Returns the slots whose tasks are idle on the worker, or else in the caller's runtime.
    fn spare(&mut self, on_worker: bool) -> &mut Vec<usize> {
        if on_worker { &mut self.on_worker } else { &mut self.in_runtime }
    }
}

#[derive(Debug, Default)]
struct JobSlot {
    /// The number of the job in the slot, or 0 if the slot is free.
    job: u64,
    /// The task of the slot, which is kept while the slot is free.
    carrier: Option<Arc<Carrier>>,
    /// The call that the job answers.
    call: Option<Call>,
    /// Whether the job counts as a call of the peer.
    is_call: bool,
    /// While the slot has a call: the previous slot in a chain of [`Calls`], and the next one.
    before: u32,
    next: u32,
}

/// A job and the slot that it has taken.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobSlotId {
    slot: usize,
    /// The number of the job.
    job: u64,
}

/// The result of taking a slot.
pub(crate) enum JobStart {
    /// The job has taken a slot.
    Yes {
        id: JobSlotId,
        /// The idle task of the slot, if it has one.
        spare: Option<Arc<Carrier>>,
        /// Whether the job is to run on the worker.
        on_worker: bool,
    },
    /// The maximum number of calls is running.
    Full,
    /// The connection has ended.
    Ended,
}

/// The result of ending a job.
#[derive(Clone, Copy, Default)]
pub(crate) struct FinishedJob {
    /// Whether the job answers a call that has not been cancelled.
    pub(crate) had_call: bool,
    /// Whether no other job remains.
    pub(crate) was_last: bool,
}

impl Tasks {
    /// Takes a slot for a job.
    ///
    /// With `calls_max`, the job counts as a call and gets a slot only if fewer calls than that are running. It may
    /// answer a `call`, which the peer can cancel. With `on_worker`, the job is placed on the worker, unless jobs have
    /// been slow there.
    pub(crate) fn begin(&self, calls_max: Option<usize>, call: Option<Call>, on_worker: bool) -> JobStart {
        let mut tasks = self.table.lock();
        let TaskTable { slots, last, ended } = &mut *tasks;
        if *ended {
            return JobStart::Ended;
        }
        let slots = slots.get_or_insert_default();
        if calls_max.is_some_and(|max| slots.calls_running >= max) {
            return JobStart::Full;
        }
        let on_worker = on_worker && slots.apart.as_ref().is_none_or(|apart| apart.is_over(Instant::now()));
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
            self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        }
        JobStart::Yes { id, spare, on_worker }
    }

    /// Registers the task that is about to run the job in a slot. If the job was cancelled or the connection has ended
    /// in the meantime, the task is ended.
    pub(crate) fn start(&self, id: JobSlotId, carrier: &Arc<Carrier>) {
        if !self.move_job(id, carrier) {
            carrier.end();
        }
    }

    /// Moves the job in a slot to another task. Returns `false` if the slot has no such job.
    fn move_job(&self, id: JobSlotId, carrier: &Arc<Carrier>) -> bool {
        let mut tasks = self.table.lock();
        let Some(slot) = tasks.slot(id) else { return false };
        let earlier = slot.carrier.replace(carrier.clone());
        drop(tasks);
        // The task is dropped without the lock, because dropping it may run any code.
        drop(earlier);
        true
    }

    /// Starts no further jobs on the worker for a while, because one was slow there.
    fn detach(&self, now: Instant) {
        if let Some(slots) = &mut self.table.lock().slots {
            slots.apart.get_or_insert_default().begin(now);
        }
    }

    /// Drops the job that answers a call, together with its task, even during a poll. Returns `false` if there is no
    /// such job or it has already answered.
    pub(crate) fn cancel(&self, call: Call) -> bool {
        let mut tasks = self.table.lock();
        let Some(slots) = tasks.slots.as_mut() else { return false };
        let Some(index) = slots.calls.find(call, &slots.all) else { return false };
        let slot = &mut slots.all[index];
        let (carrier, id) = (slot.carrier.take(), JobSlotId { slot: index, job: slot.job });
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        // Ending a task wakes it, which may run any code, so the lock is released first.
        drop(tasks);
        if let Some(carrier) = carrier {
            carrier.end();
        }
        left.is_some_and(DetachedJob::finish)
    }

    /// Drops a job together with its task, even during a poll. Returns `false` if the job has already ended.
    pub(crate) fn abort_one(&self, id: JobSlotId) -> bool {
        let mut tasks = self.table.lock();
        let Some(slot) = tasks.slot(id) else { return false };
        let carrier = slot.carrier.take();
        let left = tasks.slots.as_mut().and_then(|slots| {
            let left = slots.leave(id);
            self.calls_running.store(slots.calls_running, Ordering::Relaxed);
            left
        });
        drop(tasks);
        if let Some(carrier) = carrier {
            carrier.end();
        }
        left.map(DetachedJob::finish).is_some()
    }

    /// Returns whether a job is still running.
    pub(crate) fn is_running(&self, id: JobSlotId) -> bool {
        self.table.lock().slot(id).is_some()
    }

    /// Frees the slot of a job, if the job still has it.
    pub(crate) fn end(&self, id: JobSlotId) -> FinishedJob {
        let mut tasks = self.table.lock();
        let Some(slots) = tasks.slots.as_mut() else { return FinishedJob::default() };
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        let was_last = left.is_some() && slots.in_use() == 0;
        drop(tasks);
        FinishedJob { had_call: left.is_some_and(DetachedJob::finish), was_last }
    }

    /// Returns the number of jobs that run handlers of the peer's calls. This takes no lock. The driver starts all of
    /// them, so it never reads a value that is too low.
    #[inline]
    pub(crate) fn calls_running(&self) -> usize {
        self.calls_running.load(Ordering::Relaxed)
    }

    /// Returns the number of jobs.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().slots.as_ref().map_or(0, |slots| slots.in_use())
    }

    /// Frees the slots and their tasks if there is no job.
    pub(crate) fn release(&self) {
        let slots = self.table.lock().slots.take_if(|slots| slots.free.len() == slots.all.len());
        end_all(slots);
    }

    /// Aborts all jobs and prevents further ones from starting.
    pub(crate) fn abort(&self) {
        let mut tasks = self.table.lock();
        tasks.ended = true;
        let slots = tasks.slots.take();
        drop(tasks);
        end_all(slots);
    }
}

/// Ends the tasks of all slots.
fn end_all(slots: Option<Box<JobSlots>>) {
    let slots = slots.unwrap_or_default();
    slots.all.into_iter().filter_map(|slot| slot.carrier).for_each(|carrier| carrier.end());
}

impl JobSlots {
    /// Frees the slot of a job, if the job still has it.
    fn leave(&mut self, id: JobSlotId) -> Option<DetachedJob> {
        let slot = self.all.get_mut(id.slot).filter(|slot| slot.job == id.job)?;
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

    /// Returns the number of slots in use.
    fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// A job that has left its slot.
struct DetachedJob {
    had_call: bool,
    /// The task of the slot, if there are enough idle ones already.
    surplus: Option<Arc<Carrier>>,
}

impl DetachedJob {
    /// Ends the surplus task and returns whether the job had a call. Must be called without the lock.
    fn finish(self) -> bool {
        if let Some(carrier) = self.surplus {
            carrier.end();
        }
        self.had_call
    }
}

impl TaskTable {
    /// Returns the slot of a job, unless the job has ended.
    fn slot(&mut self, id: JobSlotId) -> Option<&mut JobSlot> {
        let slot = self.slots.as_mut()?.all.get_mut(id.slot)?;
        (slot.job == id.job).then_some(slot)
    }
}
