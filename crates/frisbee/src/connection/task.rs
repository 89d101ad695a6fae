//! The handle of a connection's task, by which it answers.

use super::Connection;
use crate::work::{FinishedJob, TakenSlot};
use crate::{Outbox, SendError};

/// Held by a task of a connection for as long as it runs; see [`Connection::spawn_call`].
#[derive(Debug)]
pub struct Task {
    pub(super) connection: Connection,
    /// Until it has answered.
    pub(super) taken: Option<TakenSlot>,
    /// The server's memory that is charged to it, in bytes.
    pub(super) charge: usize,
    /// The peer may cancel it.
    pub(super) has_call: bool,
}

impl Task {
    /// The connection that the task belongs to.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Lets `write` put the reply into the connection's outbox, as [`Connection::send_now`] does, unless the call has
    /// been [cancelled](Connection::cancel_call), which it cannot be any more then: each is answered once.
    ///
    /// With the reply the task leaves its place. The peer may make its next call as soon as it has that, and is held to
    /// [`calls_max`](Connection::calls_max). The task should be over then: the call that gets its place waits for that.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn answer(mut self, write: impl FnOnce(&mut Outbox)) -> Result<(), SendError> {
        let Self { connection, taken, has_call, .. } = &mut self;
        let work = &connection.0.work;
        connection.send_now(|outbox| {
            let ended = taken.take().map_or_else(FinishedJob::default, |taken| work.end(taken));
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
    pub(super) taken: Option<TakenSlot>,
}

impl AbortHandle {
    /// Aborts the task; `false` if it has finished. Its future is dropped soon, or after its current poll. A graceful
    /// shutdown does not wait for it any more.
    ///
    /// ```
    /// # async fn example(connection: frisbee::Connection) -> Result<(), Box<dyn std::error::Error>> {
    /// let work = connection.spawn(async { std::future::pending().await });
    /// work.abort();
    /// # Ok(())
    /// # }
    /// ```
    pub fn abort(&self) -> bool {
        let shared = &self.connection.0;
        let is_aborted = self.taken.is_some_and(|taken| shared.work.abort_one(taken));
        if is_aborted {
            // The connection may be idle now.
            shared.mailbox.notify();
        }
        is_aborted
    }

    /// Whether the task has finished, panicked or been aborted.
    ///
    /// ```
    /// # async fn example(connection: frisbee::Connection) -> Result<(), Box<dyn std::error::Error>> {
    /// let work = connection.spawn(async {});
    /// println!("{}", work.is_finished());
    /// # Ok(())
    /// # }
    /// ```
    pub fn is_finished(&self) -> bool {
        self.taken.is_none_or(|taken| !self.connection.0.work.is_running(taken))
    }
}

/// As many tasks run as may.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskLimitReached;

impl Drop for Task {
    fn drop(&mut self) {
        let shared = &self.connection.0;
        if self.charge > 0 {
            shared.mailbox.account.release(self.charge);
        }
        if let Some(taken) = self.taken
            && shared.work.end(taken).was_last
        {
            shared.mailbox.notify();
        }
    }
}
