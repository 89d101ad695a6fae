//! Settling of calls at the end of a driver poll: received replies, deadlines, and the memory of idle connections.

use super::{Endpoint, Side};
use crate::calls::Calls;
use crate::calls::table::CallTable;
use crate::clock;
use crate::endpoint::session::{Replies, Session};
use crate::observe::observers::nanos;
use crate::service::caller::Caller;
use crate::service::failures::close_for_unmatched;
use frisbee::rpc::wake_all;
use frisbee::{BatchEnd, Router as _};
use std::task::Waker;
use std::time::Instant;

/// Maximum number of received packets that match no call. If there are more, the peer is considered faulty or
/// malicious, and the connection is closed. High enough for duplicate replies to a burst of calls.
const UNMATCHED_MAX: u64 = 100_000;

impl Endpoint {
    /// Returns whether calls of the accepting side or held calls are in progress.
    pub(super) fn is_busy(&self, session: &mut Session) -> bool {
        let has_calls = match self.side {
            Side::Accepting => session.calls().is_some_and(|calls| !calls.is_idle()),
            // The channel itself closes the connection when its calls have ended.
            Side::Dialling(_) => false,
        };
        let is_held = session.layouts.as_ref().is_some_and(|layouts| layouts.holds_calls());
        has_calls || is_held
    }

    /// Frees memory that an idle connection does not need.
    pub(super) fn release_memory(&self, session: &mut Session) {
        session.last = session.last.take().filter(|(_, instance)| instance.is_needed());
        session.instances.retain(|(_, instance)| instance.is_needed());
        session.instances.shrink_to_fit();
        session.replies = None;
        if let Some(calls) = self.side.calls().or(session.calls.as_ref()) {
            let released = calls.calls.lock().release();
            // Drop the released memory outside of the lock, because destructors may use the table.
            drop(released);
        }
    }

    /// Completes a poll of the driver on connections with mounted routers, unmatched packets or observed calls. `calls`
    /// is the time at which calls must be checked next. `ended` is the time at which the poll ended, if handlers were
    /// polled inline. Returns the time of the next check.
    #[inline(never)]
    pub(super) fn end_mixed_batch(
        &self,
        session: &mut Session,
        batch: &mut BatchEnd<'_>,
        calls: Option<Instant>,
        ended: Option<Instant>,
    ) -> Option<Instant> {
        if let Some(batch_calls) = session.caller.batch_calls().filter(|batch_calls| !batch_calls.is_empty()) {
            // No handler was polled, but rejected calls must be counted too.
            let ended = ended.unwrap_or_else(clock::now);
            batch_calls.flush(nanos(ended.saturating_duration_since(batch.now)));
        }
        if u64::from(session.unmatched) > UNMATCHED_MAX {
            close_for_unmatched(&session.caller.connection, session.unmatched.into());
        }
        if self.offer.mounts.is_empty() {
            return calls;
        }
        let mounted = self.offer.mounts.batch_ended(&mut session.mounted, batch);
        [mounted, calls].into_iter().flatten().min()
    }
}

/// Completes calls with the replies received in one poll of the driver, and expires calls that have passed their
/// deadline. Returns the time of the next check, for a deadline or an unused slot.
#[inline(always)]
pub(super) fn settle(
    calls: &CallTable,
    caller: &Caller,
    Replies { packets, wake }: &mut Replies,
    now: Instant,
) -> Option<Instant> {
    let mut table = calls.calls.lock();
    let mut late = None;
    if !packets.is_empty() {
        if table.is_observed() {
            late = table.handle_replies(packets, now, wake);
        } else {
            for packet in packets.drain(..) {
                wake.extend(table.handle_reply(packet));
            }
        }
    }
    // Handle deadlines after the replies, so that a call answered in this poll does not expire.
    let (due, unmatched) = (table.handle_time(now, wake), table.unmatched());
    let due = if table.queue.is_empty() { due } else { look_at_slots(&mut table, now, wake, due) };
    // Release the lock before notifying observers and waking tasks, because they may make calls, which lock the table.
    drop(table);
    if let Some(late) = late {
        late.count();
    }
    if !wake.is_empty() {
        wake_all(wake.drain(..));
    }
    if unmatched > UNMATCHED_MAX {
        close_for_unmatched(&caller.connection, unmatched);
    }
    due
}

/// Revokes slots that were granted to callers but not used in time, and grants them to the next callers. Adds these
/// callers to `wake`. Returns the time of the next check.
#[cold]
fn look_at_slots(table: &mut Calls, now: Instant, wake: &mut Vec<Waker>, due: Option<Instant>) -> Option<Instant> {
    table.queue.expire(now);
    wake.extend(table.grant_slots().0);
    [due, table.queue.due()].into_iter().flatten().min()
}
