//! Credit: how much may be sent on a stream before the receiver has read it. Arithmetic alone.
//!
//! Each message costs its length and [`MESSAGE_COST`]. A sender sends while its credit is above zero, so one message
//! may overdraw it; the receiver gives credit for what has been read. Streams share no window, so one that nobody
//! reads stalls nobody else.

/// What a message costs on top of its length, in bytes: about what one that waits takes in a queue. Without it
/// messages without content would be free.
pub const MESSAGE_COST: usize = 64;

/// What a message costs.
#[inline]
pub const fn cost(length: usize) -> u64 {
    (length as u64).saturating_add(MESSAGE_COST as u64)
}

/// The sender's side.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// `None`: the peer knows no credit.
    left: Option<i64>,
}

impl Credit {
    /// What a receiver gives to begin with.
    pub const fn new(initial: u32) -> Self {
        Self { left: Some(initial as i64) }
    }

    /// For peers that know no credit.
    pub const fn unlimited() -> Self {
        Self { left: None }
    }

    /// Whether a message may be sent.
    #[inline]
    pub fn is_open(self) -> bool {
        self.left.is_none_or(|left| left > 0)
    }

    /// Accounts for a message.
    #[inline]
    pub fn spend(&mut self, length: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub_unsigned(cost(length));
        }
    }

    /// Takes all of it, for a sender that will say what is left of it by [`settle`](Self::settle). Nothing can be sent
    /// meanwhile.
    pub fn take(&mut self) -> i64 {
        self.left.as_mut().map_or(i64::MAX, std::mem::take)
    }

    /// Takes back what is left, which is below zero if a message has overdrawn it.
    pub fn settle(&mut self, rest: i64) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(rest);
        }
    }

    /// Takes what the receiver gives.
    pub fn receive(&mut self, credit: u64) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add_unsigned(credit);
        }
    }
}

/// The receiver's side.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    size: u64,
    /// What has been received and not been read.
    held: u64,
    /// What has been read and not been given back.
    read: u64,
}

impl Window {
    /// A window of `size` bytes.
    pub const fn new(size: u64) -> Self {
        Self { size, held: 0, read: 0 }
    }

    /// Accounts for a message that has come; `false` if the sender had no credit left for it.
    pub fn receive(&mut self, length: usize) -> bool {
        let within = self.held.saturating_add(self.read) < self.size;
        self.held = self.held.saturating_add(cost(length));
        within
    }

    /// Accounts for messages that have been read, by their [`cost`]; the credit to give back, if it is worth a packet:
    /// half the window.
    pub fn consume(&mut self, cost: u64) -> Option<u64> {
        self.held = self.held.saturating_sub(cost);
        self.read = self.read.saturating_add(cost);
        let due = self.read.saturating_mul(2) >= self.size;
        due.then(|| std::mem::take(&mut self.read))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_may_overdraw_and_then_the_sender_waits_for_all_of_it() {
        let mut credit = Credit::new(100);
        assert!(credit.is_open());
        credit.spend(1_000);
        assert!(!credit.is_open());
        credit.receive(900);
        assert!(!credit.is_open());
        credit.receive(cost(1_000) - 900);
        assert!(credit.is_open());
    }

    #[test]
    fn a_sender_that_keeps_to_its_credit_is_never_outside_the_window() {
        let mut state = 12_345_u64;
        let (mut credit, mut window) = (Credit::new(10_000), Window::new(10_000));
        let mut waiting = std::collections::VecDeque::new();
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let length = (state >> 40) as usize % 3_000;
            if credit.is_open() && (state >> 33) & 3 != 0 {
                credit.spend(length);
                assert!(window.receive(length));
                waiting.push_back(length);
            } else if let Some(length) = waiting.pop_front() {
                credit.receive(window.consume(cost(length)).unwrap_or(0));
            }
            assert!(credit.is_open() || !waiting.is_empty(), "both wait for each other");
        }
    }

    #[test]
    fn credit_beyond_all_bounds_is_no_debt() {
        let mut credit = Credit::new(u32::MAX);
        for given in [1 << 63, u64::MAX, i64::MAX as u64, u64::MAX] {
            credit.receive(given);
            assert!(credit.is_open());
        }
        credit.spend(1_000);
        assert!(credit.is_open());
    }

    #[test]
    fn a_sender_that_ignores_its_credit_is_noticed() {
        let mut window = Window::new(1_000);
        assert!(window.receive(2_000));
        assert!(!window.receive(0));
    }

    #[test]
    fn messages_without_content_are_not_free() {
        let mut credit = Credit::new(1_000);
        let sent = std::iter::from_fn(|| credit.is_open().then(|| credit.spend(0))).count();
        assert_eq!(sent, 16);
    }
}
