//! Credit-based flow control of streams. Credit is the number of bytes that the sender may send before the receiver
//! grants more. This module performs no I/O. Its state depends only on message lengths and timestamps.
//!
//! Each message costs its length plus [`MESSAGE_COST`]. A sender may send while its credit is above zero, so the last
//! message may exceed the credit. The receiver grants new credit once messages have been read. Each stream has its own
//! window, so an unread stream does not block others.

use std::time::{Duration, Instant};

/// Credit in bytes charged for each message in addition to its length. Approximates the memory overhead of a queued
/// message. Without this charge, a sender could send any number of empty messages.
pub const MESSAGE_COST: usize = 64;

/// Returns the flow-control credit in bytes that a message of `length` bytes costs.
#[inline]
pub const fn cost(length: usize) -> u64 {
    (length as u64).saturating_add(MESSAGE_COST as u64)
}

/// Flow-control credit of a stream's sender: the number of bytes that it may send before the receiver grants more.
#[derive(Clone, Copy, Debug)]
pub struct Credit {
    /// Remaining credit in bytes. `None` if the peer does not support flow control.
    left: Option<i64>,
}

impl Credit {
    /// Creates the initial credit of a stream. `initial` is the credit in bytes that the receiver has announced.
    pub const fn new(initial: u32) -> Self {
        Self { left: Some(initial as i64) }
    }

    /// Creates unlimited credit for a peer that does not support flow control.
    pub const fn unlimited() -> Self {
        Self { left: None }
    }

    /// Returns whether the sender may send a message.
    #[inline]
    pub fn is_open(self) -> bool {
        self.left.is_none_or(|left| left > 0)
    }

    /// Returns the remaining credit, which is negative if the last message exceeded it. Returns `None` if the credit is
    /// unlimited.
    pub fn remaining(self) -> Option<i64> {
        self.left
    }

    /// Deducts the cost of a sent message of `length` bytes.
    #[inline]
    pub fn spend(&mut self, length: usize) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub_unsigned(cost(length));
        }
    }

    /// Takes all remaining credit for one sender, so that it can send several messages. Other senders wait until it
    /// returns the unused credit with [`settle`](Self::settle).
    pub fn take(&mut self) -> i64 {
        self.left.as_mut().map_or(i64::MAX, std::mem::take)
    }

    /// Returns unused credit to the stream after [`take`](Self::take). `rest` is negative if the last message exceeded
    /// the credit.
    pub fn settle(&mut self, rest: i64) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add(rest);
        }
    }

    /// Adds `credit` bytes that the receiver has granted.
    pub fn receive(&mut self, credit: u64) {
        if let Some(left) = &mut self.left {
            *left = left.saturating_add_unsigned(credit);
        }
    }
}

/// Maximum growth factor of a receive window. The default window of 256 KiB grows to at most 4 MiB, the default maximum
/// of a TCP send buffer on Linux.
const GROWTH_MAX: u64 = 16;

/// Number of windows over which the transfer rate is measured. A single window would be inaccurate: credit is granted
/// in quarters, so a window takes between one and two round trips.
const TIMED: u64 = 4;

/// Minimum duration of a measurement before the window may grow, 1 ms per window. At 1 ms per round trip, a window of
/// 256 KiB already permits 2 Gbit/s. A larger window would delay calls that queue behind the stream on the same
/// connection. Within one machine, a window takes 0.1 to 0.7 ms.
const NEAR: Duration = Duration::from_millis(TIMED);

/// Fraction of the window (1/4) that must be read before the receiver grants credit. Smaller grants are not worth a
/// packet. The withheld credit reduces the effective window.
const PARTS: u64 = 4;

/// Number of windows to wait after a failed growth before the window may grow again.
const TRIED_AGAIN: u64 = 64;

/// Receive window of a stream: decides how much credit to grant to the sender.
///
/// A stream transfers at most one window per round trip, so a fixed size is either too small for long distances or
/// wasteful for short ones. If the reader keeps up, the window is therefore doubled on trial. It is doubled again as
/// long as the rate rises by at least a quarter. Otherwise the window shrinks to its former size and does not grow for
/// the next 64 windows. The window of a reader that falls behind never grows.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    size: u64,
    size_max: u64,
    /// Credit in bytes that was granted in excess of the window before it shrank. It is withheld from later grants.
    excess: u64,
    /// Cost in bytes of the messages that were received but not read: the used part of the window.
    held: u64,
    /// Cost in bytes of the messages read since the last credit grant. Their credit is granted together to save
    /// packets.
    read: u64,
    round: Option<GrowthWindow>,
    /// Transfer rate in bytes per second before the window was last doubled, or `None` if no larger window is on trial.
    rate: Option<u64>,
}

/// Measurement of whether the receive window limits the transfer rate of a stream. If so, the window should grow.
#[derive(Clone, Copy, Debug)]
struct GrowthWindow {
    since: Instant,
    granted: u64,
    /// Whether the reader waited for a message during the measurement. If not, the reader is the bottleneck.
    waited: bool,
    /// Number of windows until measuring resumes after a change of the window size. Zero while measuring.
    resting: u64,
}

impl Window {
    /// Creates a receive window of `size` bytes, which may grow to 16 times that.
    pub const fn new(size: u64) -> Self {
        let size_max = size.saturating_mul(GROWTH_MAX);
        Self { size, size_max, excess: 0, held: 0, read: 0, round: None, rate: None }
    }

    /// Returns the current window size in bytes: the maximum cost of unread messages.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Deducts the cost of a received message of `length` bytes from the sender's credit. Returns `false` if the sender
    /// had no credit left when it sent the message.
    pub fn receive(&mut self, length: usize) -> bool {
        let within = self.held.saturating_add(self.read) < self.size.saturating_add(self.excess);
        self.held = self.held.saturating_add(cost(length));
        within
    }

    /// Deducts the cost of several messages at once. `all` is their total cost, and `last` is the cost of the last
    /// message. Returns `false` without changes if the sender had no credit left when it sent one of them.
    #[inline]
    pub fn receive_all(&mut self, all: u64, last: u64) -> bool {
        let before = self.held.saturating_add(self.read).saturating_add(all.saturating_sub(last));
        let within = before < self.size.saturating_add(self.excess);
        if within {
            self.held = self.held.saturating_add(all);
        }
        within
    }

    /// Records that the reader has read all messages and is waiting for more.
    #[inline]
    pub fn wait(&mut self) {
        if let Some(round) = &mut self.round {
            round.waited = true;
        }
    }

    /// Returns the amount of credit at which the receiver sends a grant: a quarter of a window of `size` bytes. Credit
    /// is the total [`cost`] of the messages read since the last grant.
    #[inline]
    pub fn due(size: u64) -> u64 {
        size.div_ceil(PARTS)
    }

    /// Records that messages of a total [`cost`] were read. Once a quarter of the window has been read, returns the
    /// credit to grant.
    pub fn consume(&mut self, cost: u64) -> Option<u64> {
        self.held = self.held.saturating_sub(cost);
        self.read = self.read.saturating_add(cost);
        (self.read >= Self::due(self.size)).then(|| std::mem::take(&mut self.read))
    }

    /// Adjusts the window size after messages with a cost of `credit` bytes were read. Returns the credit to grant:
    /// more than `credit` if the window grows, and less while it shrinks.
    pub fn adapt(&mut self, credit: u64, now: Instant) -> u64 {
        // Withhold the credit of a shrunk window first, because the sender may hold more credit than the new size
        // permits.
        let withheld = self.excess.min(credit);
        self.excess = self.excess.saturating_sub(withheld);
        let granted = credit.saturating_sub(withheld);
        let Some(round) = &mut self.round else {
            self.round = Some(GrowthWindow { since: now, granted: 0, waited: false, resting: 0 });
            return granted;
        };
        round.granted = round.granted.saturating_add(credit);
        let windows = if round.resting > 0 { round.resting } else { TIMED };
        if round.granted < self.size.saturating_mul(windows) {
            return granted;
        }
        let GrowthWindow { since, granted: received, waited, resting } = *round;
        *round = GrowthWindow { since: now, granted: 0, waited: false, resting: 0 };
        let took = now.saturating_duration_since(since);
        if resting > 0 || !waited || took < NEAR {
            // Do not grow if the window has just changed, the reader was the bottleneck, or the round trip is too short
            // to gain from growth.
            return granted;
        }
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let rate = received.saturating_mul(1_000_000).checked_div(micros).unwrap_or(u64::MAX);
        if self.rate.take().is_some_and(|before| rate < before.saturating_add(before / 4)) {
            // Return to the former size, because the last growth did not raise the rate by a quarter.
            self.excess = self.size / 2;
            self.size = self.size.saturating_sub(self.excess);
            round.resting = TRIED_AGAIN;
            return granted;
        }
        if self.size >= self.size_max {
            return granted;
        }
        round.resting = 1;
        self.rate = Some(rate);
        let more = self.size.min(self.size_max.saturating_sub(self.size));
        self.size = self.size.saturating_add(more);
        granted.saturating_add(more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_may_overdraw_credit() {
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
    fn sender_within_credit_stays_in_window() {
        let mut state = 12_345_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        let mut now = Instant::now();
        let (mut grown, mut gone_back) = (0, 0);
        for _ in 0..100 {
            let (mut credit, mut window) = (Credit::new(10_000), Window::new(10_000));
            let mut queued = std::collections::VecDeque::new();
            let (mut keen, mut pause) = (true, 100);
            for round in 0..5_000 {
                if round % 200 == 0 {
                    (keen, pause) = (random(3) > 0, 1 << random(12));
                }
                if credit.is_open() && random(4) > 0 {
                    let length = random(3_000) as usize;
                    credit.spend(length);
                    assert!(window.receive(length));
                    queued.push_back(length);
                }
                let reads = if keen { 4 } else { random(2) };
                for _ in 0..reads {
                    let Some(length) = queued.pop_front() else {
                        window.wait();
                        break;
                    };
                    now += Duration::from_micros(pause);
                    let Some(due) = window.consume(cost(length)) else { continue };
                    let size = window.size;
                    credit.receive(window.adapt(due, now));
                    grown += u32::from(window.size > size);
                    gone_back += u32::from(window.size < size);
                }
                assert!(credit.is_open() || !queued.is_empty(), "sender and receiver should not wait for each other");
            }
        }
        assert!(grown > 100 && gone_back > 50, "{grown}, {gone_back}");
    }

    /// Simulates a stream with a reader that keeps up, over a network with the given round-trip time and a bandwidth of
    /// `network` bytes per second. Returns the most frequent window size.
    fn window_over(round_trip: Duration, network: u64) -> u64 {
        const LENGTH: usize = 16 * 1024 - MESSAGE_COST;
        let on_the_link = Duration::from_nanos(cost(LENGTH) * 1_000_000_000 / network);
        let (mut credit, mut window) = (Credit::new(256 * 1024), Window::new(256 * 1024));
        let mut granted = std::collections::VecDeque::new();
        let mut times = std::collections::HashMap::new();
        let mut sent = Instant::now();
        for _ in 0..100_000 {
            while !credit.is_open() || granted.front().is_some_and(|(at, _)| *at <= sent) {
                let (at, more) = granted.pop_front().expect("blocked sender should have a credit grant in flight");
                sent = sent.max(at);
                credit.receive(more);
            }
            sent += on_the_link;
            credit.spend(LENGTH);
            let arrived = sent + round_trip / 2;
            assert!(window.receive(LENGTH), "sender should not exceed its credit");
            if let Some(back) = window.consume(cost(LENGTH)) {
                granted.push_back((arrived + round_trip / 2, window.adapt(back, arrived)));
            }
            window.wait();
            *times.entry(window.size).or_insert(0) += 1;
        }
        granted.into_iter().for_each(|(_, more)| credit.receive(more));
        let unread = std::iter::from_fn(|| credit.is_open().then(|| credit.spend(LENGTH))).count();
        assert_eq!(unread as u64 * cost(LENGTH) + window.read, window.size + window.excess);
        times.into_iter().max_by_key(|(_, times)| *times).unwrap().0
    }

    #[test]
    fn window_grows_only_where_it_helps() {
        const KIB: u64 = 1024;
        const GIGABIT: u64 = 125_000_000;
        assert_eq!(
            window_over(Duration::from_millis(100), 10 * GIGABIT),
            4096 * KIB,
            "window should grow to its maximum"
        );
        assert_eq!(
            window_over(Duration::from_millis(100), GIGABIT / 20),
            1024 * KIB,
            "window should cover 625 kB in transit"
        );
        assert_eq!(
            window_over(Duration::from_millis(1), GIGABIT),
            256 * KIB,
            "window should stay, because the link is saturated"
        );
        assert_eq!(
            window_over(Duration::from_micros(100), 20 * GIGABIT),
            256 * KIB,
            "window should stay, because the peer is near"
        );
    }

    /// Simulates a reader that consumes `windows` whole windows within `time` and waits before each. Returns the
    /// difference between granted and used credit.
    fn use_up(window: &mut Window, now: &mut Instant, windows: u32, time: Duration) -> i64 {
        let mut more = 0;
        for _ in 0..windows {
            window.wait();
            *now += time / windows;
            let used = window.consume(window.size).expect("reading a whole window should grant credit");
            more += window.adapt(used, *now) as i64 - used as i64;
        }
        more
    }

    #[test]
    fn useless_growth_of_window_is_reverted() {
        const MILLI: Duration = Duration::from_millis(1);
        let (mut window, mut now) = (Window::new(1_000), Instant::now());
        assert_eq!(use_up(&mut window, &mut now, 1, MILLI), 0, "first message should only begin the measurement");
        assert_eq!(use_up(&mut window, &mut now, 3, 300 * MILLI), 0, "that is not enough");
        assert_eq!(
            use_up(&mut window, &mut now, 1, 100 * MILLI),
            1_000,
            "window should be enlarged at 10 000 bytes per second"
        );
        assert_eq!(use_up(&mut window, &mut now, 1, 9_000 * MILLI), 0, "first sample should not change the window");
        assert_eq!(
            use_up(&mut window, &mut now, 4, 640 * MILLI),
            2_000,
            "window should be enlarged, because 12 500 bytes are a quarter more"
        );
        use_up(&mut window, &mut now, 1, MILLI);
        assert_eq!(
            (use_up(&mut window, &mut now, 4, 1_050 * MILLI), window.size),
            (0, 2_000),
            "window should not be enlarged by 15 238 bytes"
        );
        assert_eq!(
            use_up(&mut window, &mut now, 1, MILLI),
            -2_000,
            "less credit should be granted until the window has shrunk"
        );
    }

    #[test]
    fn fast_windows_do_not_grow() {
        for (micros, more) in [(3_900, 0), (4_000, 1_000)] {
            let (mut window, mut now) = (Window::new(1_000), Instant::now());
            use_up(&mut window, &mut now, 1, NEAR);
            assert_eq!(use_up(&mut window, &mut now, 4, Duration::from_micros(micros)), more);
        }
    }

    #[test]
    fn late_reader_keeps_its_window() {
        let mut window = Window::new(1_000);
        let mut now = Instant::now();
        for _ in 0..100 {
            now += Duration::from_millis(100);
            let granted = window.consume(1_000).unwrap();
            assert_eq!(window.adapt(granted, now), granted);
        }
    }

    #[test]
    fn credit_beyond_all_bounds_is_no_debt() {
        let mut credit = Credit::new(u32::MAX);
        for granted in [1 << 63, u64::MAX, i64::MAX as u64, u64::MAX] {
            credit.receive(granted);
            assert!(credit.is_open());
        }
        credit.spend(1_000);
        assert!(credit.is_open());
    }

    #[test]
    fn taken_credit_is_closed_until_settled() {
        let mut credit = Credit::new(1_000);
        assert_eq!(credit.take(), 1_000);
        assert!(!credit.is_open(), "credit should be closed while a sender has taken it");
        credit.settle(1);
        assert!(credit.is_open());
        credit.settle(-1);
        assert!(!credit.is_open(), "credit should be closed, because a message has exceeded it");
        let mut unlimited = Credit::unlimited();
        assert_eq!(unlimited.take(), i64::MAX);
        unlimited.settle(i64::MIN);
        assert!(unlimited.is_open());
    }

    #[test]
    fn sender_exceeding_credit_is_detected() {
        let mut window = Window::new(1_000);
        assert!(window.receive(2_000));
        assert!(!window.receive(0));
    }

    #[test]
    fn sender_with_exhausted_window_is_blocked() {
        let size = 10 * cost(36);
        let (mut credit, mut window) = (Credit::new(size as u32), Window::new(size));
        for _ in 0..10 {
            assert!(credit.is_open());
            credit.spend(36);
            assert!(window.receive(36));
        }
        assert!(!credit.is_open());
        assert!(!window.receive(0), "sender should have had no credit for the message");
    }

    #[test]
    fn batched_receive_matches_single_receives() {
        for lengths in
            [&[100][..], &[36, 36], &[0, 2_000], &[2_000, 0], &[436, 372], &[436, 436, 0], &[0; 17], &[0; 16]]
        {
            let (mut one_by_one, mut together) = (Window::new(1_000), Window::new(1_000));
            let mut within = true;
            for length in lengths {
                within &= one_by_one.receive(*length);
            }
            let costs: Vec<_> = lengths.iter().map(|length| cost(*length)).collect();
            assert_eq!(together.receive_all(costs.iter().sum(), *costs.last().unwrap()), within, "{lengths:?}");
            assert_eq!(together.held, if within { one_by_one.held } else { 0 });
        }
    }

    #[test]
    fn empty_messages_are_not_free() {
        let mut credit = Credit::new(1_000);
        let sent = std::iter::from_fn(|| credit.is_open().then(|| credit.spend(0))).count();
        assert_eq!(sent, 16);
    }
}
