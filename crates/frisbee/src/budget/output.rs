//! What waits to be written, and how much of it may while the server is short of memory.

use super::Account;
use crate::Outbox;

/// What waits to be written is charged in steps of so many bytes, so that small replies change nothing.
const STEP: usize = 16 * 1024;

/// What may wait for a connection that has used up its share, in bytes, before its requests and its senders wait.
const BACKLOG_LEAST: usize = 4 * 1024;

/// The longest body that may be sent to a connection that has used up its share: a reply that takes about as much as
/// the charge for its waiting handler, which ends with it.
const BODY_LEAST: usize = 1024;

/// What is charged for an outbox, and what may wait in it.
#[derive(Debug)]
pub(crate) struct Output {
    /// What is charged, in steps.
    steps: u32,
    /// What may wait at the moment, in bytes.
    limit: u32,
    /// What may wait while there is enough memory.
    backlog_max: u32,
}

impl Output {
    pub(crate) fn new(backlog_max: usize) -> Self {
        let backlog_max = u32::try_from(backlog_max).unwrap_or(u32::MAX);
        Self { steps: 0, limit: backlog_max, backlog_max }
    }

    /// What may wait before further requests and senders have to, in bytes, as of the last look at what is left.
    #[inline]
    pub(crate) fn limit(&self) -> usize {
        self.limit as usize
    }

    /// Whether less may wait than usual.
    #[inline]
    pub(crate) fn is_narrow(&self) -> bool {
        self.limit < self.backlog_max
    }

    /// Looks at what is left, before something is put into the outbox.
    #[inline]
    pub(crate) fn look(&mut self, outbox: &mut Outbox, account: &Account) {
        if account.is_short() || self.is_narrow() {
            self.narrow(outbox, account);
        }
    }

    #[cold]
    fn narrow(&mut self, outbox: &mut Outbox, account: &Account) {
        let room = (account.is_short() && account.is_shared()).then(|| account.room());
        let limit = |room: usize| u32::try_from(room.max(BACKLOG_LEAST)).unwrap_or(u32::MAX).min(self.backlog_max);
        self.limit = room.map_or(self.backlog_max, limit);
        outbox.set_room(room.map(|room| room.max(BODY_LEAST)));
    }

    /// Charges for what is in the outbox now.
    #[inline]
    pub(crate) fn charge(&mut self, outbox: &Outbox, account: &Account) {
        if outbox.memory().wrapping_sub(self.charged()) >= STEP {
            self.charge_steps(outbox, account);
        }
    }

    #[cold]
    fn charge_steps(&mut self, outbox: &Outbox, account: &Account) {
        let before = self.charged();
        self.steps = u32::try_from(outbox.memory() / STEP).unwrap_or(u32::MAX);
        account.charge_output(before, self.charged());
    }

    /// What is charged, in bytes.
    #[inline]
    fn charged(&self) -> usize {
        self.steps as usize * STEP
    }
}
