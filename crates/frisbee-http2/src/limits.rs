//! Limits for hostile peers: maximum counts, and charges for frames that cause work without carrying data.
//!
//! # Decisions
//!
//! All costs are charged to a single allowance, [`Config::abuse_rate`](frisbee_core::Config::abuse_rate). Useful bytes
//! add to it. Separate rate limits of resets or PINGs would disconnect legitimate peers: gRPC clients reset calls at
//! their deadlines, and grpc-go sends a PING per round trip while it measures a link. Reading from a peer that exceeds
//! its allowance is paused, and a peer that keeps exceeding it is disconnected.

use crate::error::ConnectionError;
use frisbee_core::{AbuseLimiter, Bucket, cost};
use std::time::{Duration, Instant};

/// Maximum number of CONTINUATION frames per field block. Equal to the limit of nghttp2.
pub(crate) const CONTINUATIONS_MAX: u32 = 8;

/// Maximum length of an encoded field block in bytes. Equal to twice the maximum size of a decoded head, because
/// Huffman coding may increase the length.
pub(crate) const BLOCK_MAX: usize = 32 * 1024;

/// Maximum frame size that this end accepts, announced as SETTINGS_MAX_FRAME_SIZE. DATA frames of this size use no more
/// memory than short ones, because their payload is passed on as it arrives.
pub(crate) const FRAME_SIZE_MAX: u32 = 64 * 1024;

/// Maximum number of entries in a SETTINGS frame. RFC 9113 and its extensions define eleven settings.
pub(crate) const SETTINGS_MAX: u32 = 32;

/// Number of unsent PING acknowledgements at which reading pauses. `SETTINGS_ACKS_MAX` is the limit for
/// acknowledgements of SETTINGS.
pub(crate) const PING_ACKS_MAX: u32 = 64;
pub(crate) const SETTINGS_ACKS_MAX: u32 = 8;

/// Size in bytes of pending frames at which reading pauses. Equal to the limit of h2o.
pub(crate) const OUTPUT_MAX: usize = 512 * 1024;

/// Timeout for the peer's acknowledgement of SETTINGS, as in nghttp2's programs.
pub(crate) const SETTINGS_TIMEOUT: Duration = Duration::from_secs(10);

/// Minimum number of bytes of a response that a client must accept within the idle timeout, as with HTTP/1.1.
/// Independent of the client's flow-control window.
pub(crate) const REPLY_PROGRESS: usize = 16 * 1024;

/// Limits the useless frames that a peer may send. First, reading from the peer is paused. If this does not suffice,
/// the connection is closed.
#[derive(Debug)]
pub(crate) struct Abuse {
    pub(crate) limiter: AbuseLimiter,
    /// Charges in the current batch in excess of the lengths of the charged frames, in bytes. At the end of the batch,
    /// this amount is counted as received, because the limiter compares charges to received bytes.
    excess: usize,
    /// Rate limit for stream errors caused by the peer: a burst of 100, and then 3 per second.
    stream_errors: Bucket<100, 3>,
    /// Number of WINDOW_UPDATE frames that the peer may still send without being charged.
    updates: u32,
    /// Whether this end has sent HEADERS or DATA since the peer's last PING.
    has_sent: bool,
}

impl Abuse {
    pub(crate) fn new(abuse_rate: u32, now: Instant) -> Self {
        Self {
            limiter: AbuseLimiter::new(abuse_rate, now),
            excess: 0,
            stream_errors: Bucket::new(now),
            updates: cost::UPDATES_PER_DATA,
            has_sent: true,
        }
    }

    /// Charges the peer for a useless frame of `length` bytes, with an additional cost of `cost` bytes.
    pub(crate) fn charge(&mut self, length: u32, cost: u64) {
        let points = cost.saturating_sub(cost::PACKET) as usize;
        self.limiter.charge(points);
        self.excess = self.excess.saturating_add(points.saturating_sub(length as usize));
    }

    /// Charges the peer for a stream error that it has caused. Fails if the peer has caused too many.
    pub(crate) fn charge_stream_error(&mut self, now: Instant) -> Result<(), ConnectionError> {
        self.charge(0, cost::STREAM_ERROR);
        let is_allowed = self.stream_errors.take(now);
        if is_allowed { Ok(()) } else { Err(ConnectionError::calm("too many malformed messages")) }
    }

    /// Records that HEADERS were sent to the peer.
    pub(crate) fn handle_sent_head(&mut self) {
        self.has_sent = true;
    }

    /// Records that DATA was sent to the peer.
    pub(crate) fn handle_sent_data(&mut self) {
        self.has_sent = true;
        self.updates = self.updates.saturating_add(cost::UPDATES_PER_DATA);
    }

    pub(crate) fn charge_window_update(&mut self, length: u32) {
        match self.updates.checked_sub(1) {
            Some(left) => self.updates = left,
            None => self.charge(length, cost::FRAME),
        }
    }

    pub(crate) fn charge_ping(&mut self, length: u32) {
        // Do not charge the first PING after output, because the peer may measure the round-trip time with it.
        if !std::mem::replace(&mut self.has_sent, false) {
            self.charge(length, cost::PING);
        }
    }

    /// Ends a batch of `count` received bytes. Pauses reading if too many of them were useless. Fails if the pauses
    /// have become too long in total.
    pub(crate) fn end_batch(&mut self, count: usize, now: Instant) -> Result<(), ConnectionError> {
        self.limiter.end_batch(count.saturating_add(std::mem::take(&mut self.excess)), now);
        if self.limiter.is_exhausted() { Err(ConnectionError::calm("too many useless frames")) } else { Ok(()) }
    }
}
