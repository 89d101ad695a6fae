//! The jobs of a connection and the tasks that run them. Both end with the connection.
//!
//! # Decisions
//!
//! A job is a pending handler or any other future that a connection spawns. Each job has a slot in the connection's
//! list, and the task of the slot is reused by the next job: allocating and freeing a task of the runtime took a
//! seventh of the instructions of such a call, since a task is aligned to 128 bytes, where malloc has no fast path. A
//! CANCEL finds its job in the same list, and one lock decides whether the job or the cancellation answers.

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

/// The peer's key of a call: the id and operation of its packets.
pub(crate) type Call = (PacketId, Operation);

/// Idle tasks that a connection keeps until it is idle itself, on its worker and in the runtime of the caller. Each takes
/// half a kilobyte.
const SPARE_MAX: usize = 64;

/// The place where a job runs.
#[derive(Debug)]
pub enum Placement {
    /// The worker that drives the connection, if there is one: for handlers of an operation that have not blocked their
    /// thread. They leave the worker when the permission is lost.
    Home(Operation, PermissionHandle),
    /// The runtime of the server's start or the client's connection.
    Runtime,
}

/// Where handlers run.
///
/// In either case their spawned tasks, timers and sockets belong to the runtime of the server's start or the client's
/// connection.
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
    /// Each is polled once in place, and gets a task of its own only if it has to wait. That task belongs to the
    /// [worker](crate::Workers) that drives the connection, if there is one, so that a handler which waits for its peer
    /// wakes no other thread. The cheapest, and the default.
    ///
    /// A handler that computes or blocks for long delays its connection. With workers the other connections of its
    /// thread continue in another thread within 12 ms, and its method is served as with
    /// [`Concurrent`](Self::Concurrent) for a second, and for longer each time that happens again soon: replies then
    /// arrive in any order, and handlers that have begun leave the worker as well. The method is named in the log the
    /// first time. If the runtime that serves has a single thread, the method stays where it is. Services of frpc are
    /// also served so for a while if three turns of a connection have each taken more than a millisecond, and so are
    /// all handlers of a connection if three polls of one that waits have.
    #[default]
    Inline,
    /// Each gets a separate task at once, in the runtime of the server's start or the client's connection. For handlers
    /// that compute for long, or block by `block_in_place`.
    Concurrent,
    /// As [`Concurrent`](Self::Concurrent), and no more than so many of one operation run at one time on one
    /// connection; further requests wait their turn, in order. Other connections have as many of their own.
    AtMost(usize),
}

/// The tasks of one connection.
#[derive(Debug, Default)]
pub(crate) struct Tasks {
    table: Mutex<TaskTable>,
    /// [`JobSlots::calls_running`]. Written with the lock held, read without.
    calls_running: AtomicUsize,
}

#[derive(Debug, Default)]
struct TaskTable {
    /// In a box, since most connections have none.
    slots: Option<Box<JobSlots>>,
    /// The number of the job that began last. It is never used again on this connection, whatever becomes of the
    /// slots: a job that is cancelled in the middle of a poll may end at any later time, and must not free the slot
    /// of another one then.
    last: u64,
    /// The connection has ended: nothing begins any more.
    ended: bool,
}

#[derive(Debug, Default)]
struct JobSlots {
    all: Vec<JobSlot>,
    free: FreeSlots,
    /// Jobs that the peer can cancel.
    calls: Calls,
    /// Jobs that run handlers of the peer's calls. Streams and spawned tasks do not count.
    calls_running: usize,
    /// Jobs that took long on the worker have had all jobs polled elsewhere, for a while.
    apart: Option<Penalty>,
}

/// The free slots.
#[derive(Debug, Default)]
struct FreeSlots {
    /// Those without a task.
    bare: Vec<usize>,
    /// Those whose tasks wait in the runtime of the caller.
    in_runtime: Vec<usize>,
    /// Those whose tasks wait on the worker.
    on_worker: Vec<usize>,
}

impl FreeSlots {
    fn len(&self) -> usize {
        self.bare.len() + self.in_runtime.len() + self.on_worker.len()
    }

    /// Those whose tasks wait on the worker, or in the runtime of the caller.
    fn spare(&mut self, on_worker: bool) -> &mut Vec<usize> {
        if on_worker { &mut self.on_worker } else { &mut self.in_runtime }
    }
}

#[derive(Debug, Default)]
struct JobSlot {
    /// The number of the job that has taken it; 0 while it is free.
    job: u64,
    /// Also while the slot is free.
    carrier: Option<Arc<Carrier>>,
    /// The call that the job answers.
    call: Option<Call>,
    /// The job counts as a call of the peer.
    is_call: bool,
    /// While it has a call: the slot before it in a chain of [`Calls`], and the next one.
    before: u32,
    next: u32,
}

/// A slot taken for a job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobSlotId {
    slot: usize,
    /// The number of the job.
    job: u64,
}

/// The result of taking a slot.
pub(crate) enum JobStart {
    /// The job has a slot.
    Yes {
        id: JobSlotId,
        /// A task that waits for its next job.
        spare: Option<Arc<Carrier>>,
        /// The job is for the worker.
        on_worker: bool,
    },
    /// As many calls run as may.
    Full,
    /// The connection has ended.
    Ended,
}

/// The remains of a job that has ended.
#[derive(Clone, Copy, Default)]
pub(crate) struct FinishedJob {
    /// It answers a call that has not been cancelled.
    pub(crate) had_call: bool,
    /// No other job is being done.
    pub(crate) was_last: bool,
}

impl Tasks {
    /// Takes a slot for a job. With `calls_max` it counts as a call, if fewer than so many run. The job may answer a
    /// `call`, which the peer can cancel. It is for the worker if `on_worker` is set, unless jobs have taken long there.
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

    /// Registers the task that is about to do the job in a slot. The job may have been cancelled before, or the
    /// connection may have ended: then the task ends as soon as it begins.
    pub(crate) fn start(&self, id: JobSlotId, carrier: &Arc<Carrier>) {
        if !self.move_job(id, carrier) {
            carrier.end();
        }
    }

    /// Moves the job in a slot to another task; `false` if the slot has no such job.
    fn move_job(&self, id: JobSlotId, carrier: &Arc<Carrier>) -> bool {
        let mut tasks = self.table.lock();
        let Some(slot) = tasks.slot(id) else { return false };
        let earlier = slot.carrier.replace(carrier.clone());
        drop(tasks);
        drop(earlier);
        true
    }

    /// Has no more jobs begin on the worker for a while, since one has taken long there.
    fn detach(&self, now: Instant) {
        if let Some(slots) = &mut self.table.lock().slots {
            slots.apart.get_or_insert_default().begin(now);
        }
    }

    /// Drops the job that answers a call, with its task, which may be in the middle of it; `false` if there is none, or
    /// it has answered.
    pub(crate) fn cancel(&self, call: Call) -> bool {
        let mut tasks = self.table.lock();
        let Some(slots) = tasks.slots.as_mut() else { return false };
        let Some(index) = slots.calls.find(call, &slots.all) else { return false };
        let slot = &mut slots.all[index];
        let (carrier, id) = (slot.carrier.take(), JobSlotId { slot: index, job: slot.job });
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        drop(tasks);
        if let Some(carrier) = carrier {
            carrier.end();
        }
        left.is_some_and(DetachedJob::finish)
    }

    /// Drops one job, with its task, which may be in the middle of it; `false` if it has ended.
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

    /// Whether a job has not ended.
    pub(crate) fn is_running(&self, id: JobSlotId) -> bool {
        self.table.lock().slot(id).is_some()
    }

    /// Frees a slot, unless that has been done.
    pub(crate) fn end(&self, id: JobSlotId) -> FinishedJob {
        let mut tasks = self.table.lock();
        let Some(slots) = tasks.slots.as_mut() else { return FinishedJob::default() };
        let left = slots.leave(id);
        self.calls_running.store(slots.calls_running, Ordering::Relaxed);
        let was_last = left.is_some() && slots.in_use() == 0;
        drop(tasks);
        FinishedJob { had_call: left.is_some_and(DetachedJob::finish), was_last }
    }

    /// How many jobs run handlers of the peer's calls. This takes no lock: the driver begins them all, so it never sees
    /// fewer than there are.
    #[inline]
    pub(crate) fn calls_running(&self) -> usize {
        self.calls_running.load(Ordering::Relaxed)
    }

    /// How many jobs are being done.
    pub(crate) fn len(&self) -> usize {
        self.table.lock().slots.as_ref().map_or(0, |slots| slots.in_use())
    }

    /// Gives back memory if no job is being done.
    pub(crate) fn release(&self) {
        let slots = self.table.lock().slots.take_if(|slots| slots.free.len() == slots.all.len());
        end_all(slots);
    }

    /// Aborts every job and lets none begin any more.
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
    /// Frees a slot, unless that has been done.
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

    /// How many are taken.
    fn in_use(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// The remains of a job that has left its slot.
struct DetachedJob {
    had_call: bool,
    /// Its task, if it is not kept.
    surplus: Option<Arc<Carrier>>,
}

impl DetachedJob {
    /// Ends unneeded tasks, without the lock; returns whether the job had a call.
    fn finish(self) -> bool {
        if let Some(carrier) = self.surplus {
            carrier.end();
        }
        self.had_call
    }
}

impl TaskTable {
    /// The slot of a job, unless that has ended.
    fn slot(&mut self, id: JobSlotId) -> Option<&mut JobSlot> {
        let slot = self.slots.as_mut()?.all.get_mut(id.slot)?;
        (slot.job == id.job).then_some(slot)
    }
}
