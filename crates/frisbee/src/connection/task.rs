//! The handle of a connection's task, by which it answers.

use super::Connection;
use crate::executor::tasks::{AssignedJob, Call, Carrier, FinishedJob, Job, JobSlotId, JobStart, Placement};
use crate::{Outbox, SendError};

/// Held by a task of a connection for as long as it runs; see [`Connection::spawn_call`].
#[derive(Debug)]
pub struct Task {
    pub(super) connection: Connection,
    /// Until it has answered.
    pub(super) slot: Option<JobSlotId>,
    /// The server's memory that is charged to it, in bytes.
    pub(super) charge: usize,
    /// The peer may cancel it.
    pub(super) has_call: bool,
}

impl Connection {
    /// Spawns a task, and charges the memory of its request. The result is its job slot, or `None` if the connection has
    /// ended.
    ///
    /// # Errors
    /// If it counts as a call, and `calls_max` of them run.
    pub(crate) fn spawn_within(
        &self,
        calls_max: Option<usize>,
        call: Option<Call>,
        memory: Option<usize>,
        placement: Placement,
        make: impl FnOnce(Task) -> Job,
    ) -> Result<Option<JobSlotId>, TaskLimitReached> {
        let home = if matches!(placement, Placement::Home(..)) { self.0.home.get() } else { None };
        let (slot, spare, on_worker) = match self.0.work.begin(calls_max, call, home.is_some()) {
            JobStart::Yes { id: slot, spare, on_worker } => (slot, spare, on_worker),
            JobStart::Full => return Err(TaskLimitReached),
            JobStart::Ended => return Ok(None), // It would have been aborted at once.
        };
        let charge = memory.map_or(0, |bytes| self.0.mailbox.account.charge_request(bytes));
        let job = make(Task { connection: self.clone(), slot: Some(slot), charge, has_call: call.is_some() });
        let mut assigned = AssignedJob::new(job, slot, placement);
        if let Some(carrier) = spare {
            match carrier.give(assigned) {
                Ok(()) => return Ok(Some(slot)),
                Err(back) => assigned = back,
            }
        }
        let carrier = Carrier::new(on_worker);
        self.0.work.start(slot, &carrier);
        match home.filter(|_| on_worker) {
            Some(home) => home.spawn(Box::pin(carrier.carry_on_worker(assigned, self.0.clone()))),
            None => drop(self.0.runtime.spawn(carrier.carry(assigned))),
        }
        Ok(Some(slot))
    }
}

impl Task {
    /// The connection that the task belongs to.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Lets `write` put the reply into the connection's outbox, as [`Connection::send_now`] does, unless the call has
    /// been [cancelled](Connection::cancel_call), which it cannot be any more then: each is answered once.
    ///
    /// With the reply the task leaves its slot. The peer may make its next call as soon as it has that, and is held to
    /// [`calls_max`](Connection::calls_max). The task should be over then: the call that gets its slot waits for that.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn answer(mut self, write: impl FnOnce(&mut Outbox)) -> Result<(), SendError> {
        let Self { connection, slot, has_call, .. } = &mut self;
        let work = &connection.0.work;
        connection.send_now(|outbox| {
            let ended = slot.take().map_or_else(FinishedJob::default, |slot| work.end(slot));
            if ended.had_call || !*has_call {
                write(outbox);
            }
        })
    }
}

/// Aborts a task of [`Connection::spawn`].
#[derive(Clone, Debug)]
pub struct AbortHandle {
    pub(super) connection: Connection,
    /// `None` if the connection had ended.
    pub(super) slot: Option<JobSlotId>,
}

impl AbortHandle {
    /// Aborts the task; `false` if it has finished. Its future is dropped soon, or after its current poll. A graceful
    /// shutdown does not wait for it any more.
    pub fn abort(&self) -> bool {
        let shared = &self.connection.0;
        let is_aborted = self.slot.is_some_and(|slot| shared.work.abort_one(slot));
        if is_aborted {
            // The connection may be idle now.
            shared.mailbox.notify();
        }
        is_aborted
    }

    /// Whether the task has finished, panicked or been aborted.
    pub fn is_finished(&self) -> bool {
        self.slot.is_none_or(|slot| !self.connection.0.work.is_running(slot))
    }
}

/// As many calls run as may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLimitReached;

impl Drop for Task {
    fn drop(&mut self) {
        let shared = &self.connection.0;
        if self.charge > 0 {
            shared.mailbox.account.release(self.charge);
        }
        if let Some(slot) = self.slot
            && shared.work.end(slot).was_last
        {
            shared.mailbox.notify();
        }
    }
}
