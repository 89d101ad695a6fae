//! Handles for tasks of a connection, for example to reply to a call.

use super::{Connection, PANICKED};
use crate::connection::ConnectionExt;
use crate::executor::tasks::{AssignedJob, Call, Carrier, FinishedJob, Job, JobSlotId, JobStart, Placement};
use crate::{Outbox, SendError};

/// Handle that a task of a connection holds while it runs; see
/// [`ConnectionExt::spawn_call`](crate::rpc::ConnectionExt::spawn_call).
#[derive(Debug)]
pub struct Task {
    pub(super) connection: Connection,
    /// Job slot of the task, or `None` once the task has sent its reply.
    pub(super) slot: Option<JobSlotId>,
    /// Memory in bytes that is charged to the server for the task.
    pub(super) charge: usize,
    /// Whether the task handles a call that the peer may cancel.
    pub(super) has_call: bool,
}

impl Connection {
    /// Spawns a task and charges the memory of its request. Returns the task's job slot, or `None` if the connection
    /// has ended.
    ///
    /// # Errors
    /// If the task counts as a call and `calls_max` calls are already running.
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
            JobStart::Ended => return Ok(None), // The connection would abort the task immediately.
        };
        let charge = memory.map_or(0, |bytes| self.0.mailbox.account.charge_request(bytes));
        let job = make(Task { connection: self.clone(), slot: Some(slot), charge, has_call: call.is_some() });
        let mut assigned = AssignedJob::new(job, slot, placement);
        if let Some(carrier) = spare {
            // If the idle task has ended in the meantime, `give` returns the job, which then needs a new task.
            match carrier.give(assigned) {
                Ok(()) => return Ok(Some(slot)),
                Err(back) => assigned = back,
            }
        }
        let carrier = Carrier::new(on_worker);
        // Register the task before it is spawned, so that a cancellation in between ends it.
        self.0.work.start(slot, &carrier);
        match home.filter(|_| on_worker) {
            Some(home) => home.spawn(Box::pin(carrier.carry_on_worker(assigned, self.0.clone()))),
            None => drop(self.0.runtime.spawn(carrier.carry(assigned))),
        }
        Ok(Some(slot))
    }
}

impl Task {
    /// Returns the connection of the task.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Calls `write` with the outbox of the connection to send the reply, like
    /// [`ConnectionExt::send_now`](crate::rpc::ConnectionExt::send_now). Does nothing if the call has been
    /// [cancelled](crate::rpc::ConnectionExt::cancel_call). After this, the call can no longer be cancelled. Each call
    /// thus gets exactly one reply.
    ///
    /// Releases the slot of the task before sending the reply, because the peer is limited to
    /// [`calls_max`](crate::rpc::ConnectionExt::calls_max) calls and may make its next call as soon as it receives the
    /// reply. The task should then complete, because the next call in its slot must wait for this.
    ///
    /// If `write` panics, the connection is closed. Otherwise, the peer would wait for a reply that never arrives.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn answer(mut self, write: impl FnOnce(&mut Outbox)) -> Result<(), SendError> {
        let Self { connection, slot, has_call, .. } = &mut self;
        let connection = &*connection;
        let work = &connection.0.work;
        let guard = CloseOnPanic(connection);
        let sent = connection.send_now(|outbox| {
            let ended = slot.take().map_or_else(FinishedJob::default, |slot| work.end(slot));
            // If the call is no longer in the slot, it was cancelled, and the canceller has replied. A second reply
            // must not be sent.
            if ended.had_call || !*has_call {
                write(outbox);
            }
        });
        std::mem::forget(guard);
        sent
    }
}

/// Guard that closes the connection if writing a reply panics, like a panic on the driver of the connection. Otherwise,
/// the caller would wait for the reply until its timeout.
struct CloseOnPanic<'a>(&'a Connection);

impl Drop for CloseOnPanic<'_> {
    fn drop(&mut self) {
        self.0.abort_for(PANICKED);
    }
}

/// Handle for aborting a task that was spawned by [`Connection::spawn`].
#[derive(Clone, Debug)]
pub struct AbortHandle {
    pub(super) connection: Connection,
    /// Job slot of the task, or `None` if the connection had already ended.
    pub(super) slot: Option<JobSlotId>,
}

impl AbortHandle {
    /// Aborts the task. Returns false if the task has already completed. The future of the task is dropped after its
    /// current poll at the latest. A graceful shutdown no longer waits for the task.
    pub fn abort(&self) -> bool {
        let shared = &self.connection.0;
        let is_aborted = self.slot.is_some_and(|slot| shared.work.abort_one(slot));
        if is_aborted {
            // Notify the driver, because the connection may be waiting to become idle.
            shared.mailbox.notify();
        }
        is_aborted
    }

    /// Returns whether the task has completed, panicked or been aborted.
    pub fn is_finished(&self) -> bool {
        self.slot.is_none_or(|slot| !self.connection.0.work.is_running(slot))
    }
}

/// Error returned when a call cannot be spawned because the maximum number of calls is already running.
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
            // Notify the driver, because a graceful close waits until no job is running.
            shared.mailbox.notify();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CloseReason;
    use crate::testing::DetachedConnection;
    use tokio::runtime::Handle;

    /// Regression test: the caller received no reply, and the connection stayed open.
    #[tokio::test]
    async fn panic_while_writing_reply_closes_connection() {
        let detached = DetachedConnection::new(Handle::current(), 1 << 20);
        let connection = detached.connection();
        let spawned = connection.spawn_call(None, 0, Placement::Runtime, |task| {
            Box::pin(async move { drop(task.answer(|_| panic!("the reply cannot be encoded"))) })
        });
        assert!(spawned);
        while connection.0.work.len() > 0 {
            tokio::task::yield_now().await;
        }
        assert!(matches!(detached.closing(), Some(CloseReason::Router(text)) if *text == *PANICKED));
    }
}
