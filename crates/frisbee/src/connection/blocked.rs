//! Reporting of handlers that block the thread of their connection.

use super::Connection;
use crate::executor::inline_permission::InlinePermission;
use crate::executor::tasks::Job;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Delay before a blocking handler is logged. A handler that panics also blocks its thread, while the backtrace is
/// printed. The delay gives [`note_panic`] time to record the panic, which is logged separately. Printing may take even
/// longer, so the log text mentions panics as a possible cause. Only a panic hook could detect them reliably, and
/// installing one is up to the application. The delay is shorter than [`PENALTY_MIN`](crate::rpc::PENALTY_MIN), so the
/// event is logged while calls still run in tasks.
const LOGGED_AFTER: Duration = Duration::from_millis(700);

/// Records that a handler of a connection has panicked. Call this before logging the panic, because printing the
/// backtrace blocks the thread and would otherwise be reported as a slow handler.
pub fn note_panic(connection: &Connection) {
    connection.0.mailbox.account.budget().counts.note_panic(connection.address_of_shared());
}

/// Reports after a delay that a handler has blocked the connection's thread. `report` receives whether the handler
/// panicked.
pub(crate) fn report_later(connection: &Connection, report: impl FnOnce(bool) + Send + 'static) {
    let (budget, number) = (connection.0.mailbox.account.budget().clone(), connection.address_of_shared());
    budget.counts.take_panic(number); // Clear the record of an earlier panic.
    let reporting: Job = Box::pin(async move {
        tokio::time::sleep(LOGGED_AFTER).await;
        report(budget.counts.take_panic(number));
    });
    connection.0.runtime.spawn(reporting);
}

impl InlinePermission {
    /// Handles a report that a handler of `method` blocks the thread of a connection. Subsequent handlers run in tasks,
    /// unless the runtime has only one thread, because tasks would block it too. The first report is logged after a
    /// delay, unless the handler has [panicked](note_panic).
    #[cold]
    pub fn handle_blocked(self: &Arc<Self>, connection: &Connection, method: &dyn fmt::Display) {
        let has_threads = connection.has_threads();
        let now = Instant::now();
        if !self.lose(now, has_threads) {
            return;
        }
        let (permission, method, peer) = (self.clone(), method.to_string(), connection.peer_addr());
        report_later(connection, move |has_panicked| {
            if has_panicked {
                permission.forget_notice();
            } else if has_threads {
                tracing::warn!(target: "frisbee::handler",
                    %method,
                    ?peer,
                    "a handler blocks its thread, computes for long, or prints the backtrace of a panic; its calls get \
                     tasks for a second or more: set Policy::Concurrent for it, or use spawn_blocking"
                );
            } else {
                tracing::warn!(target: "frisbee::handler",
                    %method,
                    ?peer,
                    "a handler blocks its thread, computes for long, or prints the backtrace of a panic; it is still \
                     called in place, because the runtime of the server has a single thread: use a multi-threaded \
                     runtime, or spawn_blocking"
                );
            }
        });
    }
}
