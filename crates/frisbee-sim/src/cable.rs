//! [`Cable`]: the latency, bandwidth and failures of the network link between two nodes.

use std::ops::RangeInclusive;
use std::time::Duration;

/// The properties of the network from one node to another, in one direction. See
/// [`World::set_cable`](crate::World::set_cable).
///
/// ```
/// use frisbee_sim::Cable;
/// use std::time::Duration;
///
/// let overseas = Cable::default()
///     .latency(Duration::from_millis(80)..=Duration::from_millis(120))
///     .bandwidth(1_000_000);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[must_use]
pub struct Cable {
    pub(crate) latency: (u64, u64),
    pub(crate) bandwidth: Option<u64>,
    pub(crate) capacity: usize,
    pub(crate) splits: f64,
    pub(crate) resets: f64,
    pub(crate) flips: f64,
}

/// Default maximum number of bytes in flight per direction of a connection, similar to the initial buffer size of a
/// Linux socket.
const CAPACITY: usize = 64 * 1024;

impl Default for Cable {
    /// Returns a cable with a latency of 1 to 5 ms, unlimited bandwidth, a capacity of 64 KiB, one in eight reads and
    /// writes partial, and no failures.
    fn default() -> Self {
        Self { latency: (1, 5), bandwidth: None, capacity: CAPACITY, splits: 0.125, resets: 0.0, flips: 0.0 }
    }
}

impl Cable {
    /// Sets the range of the random latency of writes, in whole milliseconds. The bytes of one connection stay in
    /// order, but connections can overtake each other.
    ///
    /// # Panics
    /// If the range is empty.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let cable = frisbee_sim::Cable::default().latency(Duration::from_millis(20)..=Duration::from_millis(80));
    /// ```
    pub fn latency(mut self, range: RangeInclusive<Duration>) -> Self {
        self.latency = (range.start().as_millis() as u64, range.end().as_millis() as u64);
        assert!(self.latency.0 <= self.latency.1, "latency range should not be empty");
        self
    }

    /// Sets the bandwidth of each connection in bytes per second.
    ///
    /// # Panics
    /// If it is zero.
    ///
    /// ```
    /// let cable = frisbee_sim::Cable::default().bandwidth(10_000);
    /// ```
    pub fn bandwidth(self, bytes: u64) -> Self {
        assert!(bytes > 0, "bandwidth should be above zero: use a partition to stop all bytes");
        Self { bandwidth: Some(bytes), ..self }
    }

    /// Sets the maximum number of bytes in flight per direction of a connection. Further writes wait.
    ///
    /// # Panics
    /// If it is zero.
    ///
    /// ```
    /// let cable = frisbee_sim::Cable::default().capacity(4096);
    /// ```
    pub fn capacity(self, bytes: usize) -> Self {
        assert!(bytes > 0, "capacity should be above zero: use a partition to stop all bytes");
        Self { capacity: bytes, ..self }
    }

    /// Sets the fraction of reads and writes that are partial.
    ///
    /// ```
    /// let cable = frisbee_sim::Cable::default().splits(0.5);
    /// ```
    pub fn splits(self, part: f64) -> Self {
        Self { splits: part, ..self }
    }

    /// Sets the fraction of writes that reset their connection.
    ///
    /// ```
    /// let cable = frisbee_sim::Cable::default().resets(0.001);
    /// ```
    pub fn resets(self, part: f64) -> Self {
        Self { resets: part, ..self }
    }

    /// Sets the fraction of bytes that arrive with a flipped bit.
    ///
    /// ```
    /// let cable = frisbee_sim::Cable::default().flips(0.0001);
    /// ```
    pub fn flips(self, part: f64) -> Self {
        Self { flips: part, ..self }
    }
}
