//! Charging of unwritten output, and its limit while the server is short of memory.

use super::Account;
use crate::Outbox;

/// Granularity in bytes of the memory charge for unwritten output. Because the charge changes in steps, small replies
/// do not update the shared memory counters.
const STEP: usize = 16 * 1024;

/// Minimum backlog limit in bytes, which applies to a caller that has used its share of the memory. New requests and
/// senders wait while the backlog of the connection exceeds the limit.
const BACKLOG_LEAST: usize = 4 * 1024;

/// Maximum length in bytes of a reply that is sent even if the caller has used its share of the memory. Such a reply
/// takes about as much memory as its pending handler, which is released at the same time.
const BODY_LEAST: usize = 1024;

/// Memory charge of a connection's outbox, and the backlog limit while memory is short.
#[derive(Debug)]
pub(crate) struct Output {
    /// Memory charged for the outbox, counted in steps of [`STEP`] bytes.
    steps: u32,
    /// Backlog limit in bytes, computed from the memory available at the last check, or [`ENOUGH`] if memory was
    /// plentiful.
    room: u32,
}

/// Value of [`Output::room`] while memory does not limit unwritten output.
const ENOUGH: u32 = u32::MAX;

impl Default for Output {
    fn default() -> Self {
        Self { steps: 0, room: ENOUGH }
    }
}

impl Output {
    /// Returns the backlog size in bytes at which requests and senders must wait. This is the configured limit `usual`,
    /// or less while memory is scarce.
    #[inline]
    pub(crate) fn limit(&self, usual: usize) -> usize {
        usual.min(self.room as usize)
    }

    /// Returns whether memory pressure reduces the backlog limit below the configured limit `usual`.
    #[inline]
    pub(crate) fn is_narrow(&self, usual: usize) -> bool {
        (self.room as usize) < usual
    }

    /// Updates the backlog limit of the outbox from the available memory. Call before packets are added to the outbox.
    #[inline]
    pub(crate) fn update_charge(&mut self, outbox: &mut Outbox, account: &Account) {
        // If `room` is not `ENOUGH`, a limit from an earlier shortage is still set. In that case, `narrow` removes it.
        if account.is_short() || self.room != ENOUGH {
            self.narrow(outbox, account);
        }
    }

    #[cold]
    fn narrow(&mut self, outbox: &mut Outbox, account: &Account) {
        // Limit only the output of servers. A client has its own budget, so limiting its output would not help others.
        let room = (account.is_short() && account.is_shared()).then(|| account.room());
        // Stay below `ENOUGH`, which means unlimited.
        let limit = |room: usize| u32::try_from(room.max(BACKLOG_LEAST)).unwrap_or(ENOUGH).min(ENOUGH - 1);
        self.room = room.map_or(ENOUGH, limit);
        outbox.set_room(room.map(|room| room.max(BODY_LEAST)));
    }

    /// Charges the memory of packets that were appended to the outbox.
    #[inline]
    pub(crate) fn charge(&mut self, outbox: &Outbox, account: &Account) {
        if outbox.memory() >= self.charged().saturating_add(STEP) {
            self.charge_steps(outbox, account);
        }
    }

    /// Adjusts the memory charge to the current size of the outbox. If it has shrunk, returns the surplus in bytes. The
    /// caller must [release](Account::release) it without holding a lock, because this wakes tasks that wait for memory.
    #[inline]
    #[must_use]
    pub(crate) fn settle(&mut self, outbox: &Outbox, account: &Account) -> usize {
        // If the outbox has shrunk, the subtraction wraps around to a value far above `STEP`, so the charge is reduced
        // too.
        if outbox.memory().wrapping_sub(self.charged()) >= STEP { self.charge_steps(outbox, account) } else { 0 }
    }

    #[cold]
    fn charge_steps(&mut self, outbox: &Outbox, account: &Account) -> usize {
        let before = self.charged();
        self.steps = u32::try_from(outbox.memory() / STEP).unwrap_or(u32::MAX);
        account.charge_output(before, self.charged())
    }

    /// Returns the memory charged for the outbox in bytes.
    #[inline]
    fn charged(&self) -> usize {
        self.steps as usize * STEP
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::{Budget, CallerKey, Stats};
    use crate::{Operation, PacketId};
    use std::sync::Arc;

    const MIB: usize = 1 << 20;

    /// Regression test: the limit was no longer updated once memory sufficed for the maximum backlog, although a body
    /// of the maximum size requires more.
    #[test]
    fn long_bodies_are_sendable_after_memory_pressure() {
        let budget = Arc::new(Budget::new(8 * MIB, 0));
        let (account, other) =
            (Account::of_peer(budget.enter(CallerKey::Unknown)), Account::of_peer(budget.enter(CallerKey::Unknown)));
        let mut output = Output::default();
        let mut outbox = Outbox::default();
        outbox.set_limit(crate::BODY_MAX);
        let longest = vec![0; 3 * MIB];
        for size in [4 * MIB, 5 * MIB] {
            other.charge(size);
            output.update_charge(&mut outbox, &account);
            let packet = |outbox: &mut Outbox| outbox.push(PacketId(1), Operation::FIRST_USER, &longest[..]);
            packet(&mut outbox).expect_err("packet should be rejected while memory is short");
            other.release(size);
            output.update_charge(&mut outbox, &account);
            packet(&mut outbox).expect("packet should be accepted once memory is available");
        }
    }

    #[test]
    fn connection_output_is_limited_under_memory_pressure() {
        let budget = Arc::new(Budget::new(8 * MIB, 0));
        let (account, client) = (Account::of_peer(budget.enter(CallerKey::Unknown)), Account::alone(budget.clone()));
        let [mut output, mut alone] = [Output::default(), Output::default()];
        let mut outbox = Outbox::default();
        for (charged, limit) in [(0, 3 * MIB), (7 * MIB, account_room(MIB)), (8 * MIB, BACKLOG_LEAST), (0, 3 * MIB)] {
            budget.charge(charged);
            output.update_charge(&mut outbox, &account);
            alone.update_charge(&mut outbox, &client);
            assert_eq!(output.limit(3 * MIB), limit, "limit should be right with {charged} bytes held");
            assert_eq!(output.is_narrow(3 * MIB), limit < 3 * MIB);
            assert!(!output.is_narrow(limit) && output.is_narrow(limit + 1) == (limit < 3 * MIB));
            assert_eq!(
                (alone.limit(3 * MIB), alone.is_narrow(3 * MIB)),
                (3 * MIB, false),
                "output of a client should not be limited by memory"
            );
            budget.release(charged);
        }
    }

    /// Returns how many bytes an account without reservations may take while `left` bytes of the budget are free.
    fn account_room(left: usize) -> usize {
        left / 4 * 3
    }

    #[test]
    fn waiting_output_is_reported_in_steps() {
        let budget = Arc::new(Budget::new(8 * MIB, 0));
        let (account, client) = (Account::of_peer(budget.enter(CallerKey::Unknown)), Account::alone(budget.clone()));
        let stats = Stats(budget);
        let [mut output, mut other] = [Output::default(), Output::default()];
        let mut outbox = Outbox::default();
        outbox.set_limit(crate::BODY_MAX);
        outbox
            .push(PacketId(1), Operation::FIRST_USER, &[0; 100_000][..])
            .expect("body should be within the maximum size of the outbox");
        output.charge(&outbox, &account);
        other.charge(&outbox, &client);
        let queued = stats.output_waiting();
        assert!(queued.is_multiple_of(STEP) && (96_000..200_000).contains(&queued), "{queued}");
        account.release(output.settle(&Outbox::default(), &account));
        assert_eq!((stats.output_waiting(), account.charged()), (0, 0));
    }
}
