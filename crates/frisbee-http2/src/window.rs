//! Flow-control windows (RFC 9113, section 6.9), as pure functions of numbers and time.

use crate::error::ConnectionError;
use crate::frame::{WINDOW_INITIAL, WINDOW_MAX};
use frisbee_core::flow::Window;
use std::time::Instant;

/// Number of bytes that this end may send. It is negative if the peer has reduced SETTINGS_INITIAL_WINDOW_SIZE below
/// the number of bytes already sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendWindow(i32);

impl SendWindow {
    pub(crate) fn new(initial: u32) -> Self {
        Self(i32::try_from(initial).unwrap_or(i32::MAX))
    }

    pub(crate) fn available(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    /// Deducts `count` sent bytes from the window, which must contain at least as many.
    pub(crate) fn spend(&mut self, count: usize) {
        self.0 = self.0.saturating_sub(i32::try_from(count).unwrap_or(i32::MAX));
    }

    /// Changes the window by `by`, which may be negative, because of a WINDOW_UPDATE or a new
    /// SETTINGS_INITIAL_WINDOW_SIZE.
    ///
    /// "A sender MUST NOT allow a flow-control window to exceed 2^31-1 octets."
    pub(crate) fn change(&mut self, by: i64) -> Result<(), ConnectionError> {
        let sum = i64::from(self.0).saturating_add(by);
        self.0 = i32::try_from(sum).map_err(|_| ConnectionError::flow_control("window exceeds 2^31 - 1"))?;
        Ok(())
    }
}

/// Maximum stream window in bytes for the rest of a body of known length. Covers most long messages with a single
/// grant, because each grant costs a write and wakes the peer.
const REST_MAX: u32 = 1 << 20;

/// Receive window of a stream: the number of bytes that the peer may still send, and the number of received bytes that
/// were not credited back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamWindow {
    available: u32,
    /// Number of bytes in frames whose headers have arrived, without those that the caller has consumed.
    held: u32,
}

impl StreamWindow {
    pub(crate) fn new(size: u32) -> Self {
        Self { available: size, held: 0 }
    }

    pub(crate) fn receive(&mut self, count: u32) -> Result<(), ConnectionError> {
        self.available = self
            .available
            .checked_sub(count)
            .ok_or(ConnectionError::flow_control("DATA exceeds the window of its stream"))?;
        self.held = self.held.saturating_add(count);
        Ok(())
    }

    /// Records that the caller has consumed `count` bytes. Returns the credit to send to the peer, if it is large
    /// enough for a frame. `size` is the current size of the window. After a reduction, no credit is returned until
    /// enough bytes have been consumed.
    pub(crate) fn consume(&mut self, count: usize, size: u32) -> Option<u32> {
        self.held = self.held.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        self.extend_to(size.saturating_sub(self.held), size)
    }

    /// Like [`consume`](Self::consume), for a body of which `rest` bytes have yet to arrive. Grants all of them at
    /// once, or the next [`REST_MAX`].
    pub(crate) fn consume_part(&mut self, count: usize, rest: usize) -> Option<u32> {
        self.held = self.held.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        // A frame is deducted from the window when its header arrives, so the missing part of the current frame is
        // already counted as held and needs no credit.
        let rest = u32::try_from(rest).unwrap_or(u32::MAX).saturating_sub(self.held).min(REST_MAX);
        self.extend_to(rest, rest)
    }

    /// Returns the credit that permits the peer to send `target` bytes, if it is at least a quarter of `size`.
    fn extend_to(&mut self, target: u32, size: u32) -> Option<u32> {
        let credit = target.saturating_sub(self.available);
        if credit == 0 || u64::from(credit) < Window::due(size.into()) {
            return None;
        }
        self.available = self.available.saturating_add(credit);
        Some(credit)
    }
}

/// Number of bytes that the peer may send on the connection.
///
/// Credit is returned when bytes arrive, because stream windows already limit unconsumed bytes. If it were returned on
/// consumption, a few unread streams could block all others. The window only has to cover the bytes in flight. It grows
/// as long as this increases the throughput.
#[derive(Debug)]
pub(crate) struct ConnectionWindow {
    available: u64,
    growth: Window,
}

impl ConnectionWindow {
    /// Creates a window of `size` bytes for a connection. Also returns the initial credit to send to the peer.
    pub(crate) fn new(size: u32) -> (Self, u32) {
        let size = size.max(WINDOW_INITIAL);
        let growth = Window::new(size.into());
        (Self { available: size.into(), growth }, size.saturating_sub(WINDOW_INITIAL))
    }

    /// Deducts the bytes of a DATA frame from the window. Returns the credit to send to the peer now, if any.
    pub(crate) fn receive(&mut self, count: u32, now: Instant) -> Result<Option<u32>, ConnectionError> {
        self.available = self
            .available
            .checked_sub(count.into())
            .ok_or(ConnectionError::flow_control("DATA exceeds the window of the connection"))?;
        // Credit is returned on arrival, so the reader never limits the rate. Count the reader as waiting, so that
        // the window may grow.
        self.growth.wait();
        let Some(credit) = self.growth.consume(count.into()) else { return Ok(None) };
        let credit = self.growth.adapt(credit, now).min(u64::from(WINDOW_MAX).saturating_sub(self.available));
        self.available = self.available.saturating_add(credit);
        Ok(u32::try_from(credit).ok().filter(|credit| *credit > 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorCode;
    use std::time::Duration;

    #[test]
    fn send_window_may_go_negative_not_overflow() {
        let mut window = SendWindow::new(100);
        window.spend(100);
        assert_eq!(window.change(-200), Ok(()));
        assert_eq!(window.available(), 0);
        assert_eq!(window.change(201), Ok(()));
        assert_eq!(window.available(), 1);
        assert_eq!(window.change(WINDOW_MAX.into()).map_err(|error| error.code), Err(ErrorCode::FLOW_CONTROL_ERROR));
    }

    #[test]
    fn stream_window_is_returned_by_quarters() {
        let mut window = StreamWindow::new(1000);
        assert_eq!(window.receive(1000), Ok(()));
        assert!(window.receive(1).is_err());
        assert_eq!(window.consume(249, 1000), None);
        assert_eq!(window.consume(1, 1000), Some(250));
        assert_eq!(window.consume(500, 400), None, "receiver should hold 250 bytes and grant 250");
        assert_eq!(window.receive(250), Ok(()));
        assert_eq!(window.consume(500, 400), Some(400));
    }

    #[test]
    fn connection_window_is_returned_and_grows() {
        let start = Instant::now();
        let (mut window, credit) = ConnectionWindow::new(1 << 20);
        assert_eq!(credit, (1 << 20) - WINDOW_INITIAL);
        // Simulate a sender with a round-trip time of 20 ms that always fills the window.
        let (mut available, mut largest) = (1_u64 << 20, 0);
        for round in 0..200 {
            let now = start + Duration::from_millis(20 * round);
            largest = largest.max(available);
            let mut credit = 0;
            while available > 0 {
                let count = available.min(16 * 1024) as u32;
                available -= u64::from(count);
                credit +=
                    u64::from(window.receive(count, now).expect("sender should not exceed its window").unwrap_or(0));
            }
            available = credit;
        }
        assert_eq!(largest, 16 << 20, "sixteen times as much");
    }
}
