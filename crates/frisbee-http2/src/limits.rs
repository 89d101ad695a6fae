//! Limits for hostile peers: costs of frames that cause work without carrying data, and maximum counts.
//!
//! # Decisions
//!
//! All costs are charged to one allowance, [`Config::waste_rate`](frisbee_core::Config::waste_rate), and useful bytes
//! add to it. Fixed rates of resets or PINGs would disconnect legitimate peers: gRPC clients reset calls at their
//! deadlines, and grpc-go sends a PING per round trip while it measures a link. A peer that exceeds its allowance is
//! not read for a while, and one that never stops is disconnected.

use crate::error::ConnectionError;
use frisbee_core::{Bucket, WasteLimiter};
use std::time::{Duration, Instant};

/// Cost of padding and of a useless frame, in addition to its length: PRIORITY, unknown frames, WINDOW_UPDATE beyond
/// [`UPDATES_PER_DATA`], and frames of closed streams. Parsing such a frame takes longer than sending it.
pub(crate) const FRAME: u64 = 256;

/// Cost of a stream that is refused because the limit of concurrent streams is reached.
pub(crate) const REFUSED: u64 = 256;

/// Cost of a reset before the reply. The request has been parsed, routed and possibly started ("rapid reset",
/// CVE-2023-44487).
pub(crate) const RESET: u64 = 1024;

/// Cost of a PING if nothing was sent since the previous one (CVE-2019-9512).
pub(crate) const PING: u64 = 1024;

/// Cost of each SETTINGS frame after the first (CVE-2019-9515), and additional cost per open stream, whose window
/// changes.
pub(crate) const SETTINGS: u64 = 4096;
pub(crate) const SETTINGS_STREAM: u64 = 64;

/// Cost of a frame that causes a stream error.
pub(crate) const STREAM_ERROR: u64 = 4096;

/// Cost of an empty DATA frame that does not end its stream (CVE-2019-9518).
pub(crate) const EMPTY_DATA: u64 = 1024;

/// Minimum length with which a DATA frame is charged that completes no message.
pub(crate) const FRAGMENT: u64 = 256;

/// Number of WINDOW_UPDATE frames that a peer may send without charge for each DATA frame sent to it, equal to Envoy's
/// default.
pub(crate) const UPDATES_PER_DATA: u32 = 10;

/// Maximum number of CONTINUATION frames per field block, equal to nghttp2's limit.
pub(crate) const CONTINUATIONS_MAX: u32 = 8;

/// Maximum length of an encoded field block: twice that of the decoded list, because Huffman coding may increase the
/// length.
pub(crate) const BLOCK_MAX: usize = 32 * 1024;

/// Maximum frame size accepted by this end, SETTINGS_MAX_FRAME_SIZE. DATA is passed on as it arrives, so longer frames
/// take no memory.
pub(crate) const FRAME_SIZE_MAX: u32 = 64 * 1024;

/// Maximum number of entries in a SETTINGS frame. RFC 9113 and its extensions define eleven settings.
pub(crate) const SETTINGS_MAX: u32 = 32;

/// Number of unsent acknowledgements of PING and of SETTINGS at which reading stops.
pub(crate) const PING_ACKS_MAX: u32 = 64;
pub(crate) const SETTINGS_ACKS_MAX: u32 = 8;

/// Length of the framed output at which reading stops, equal to h2o's limit.
pub(crate) const OUTPUT_MAX: usize = 512 * 1024;

/// Points that [`WasteLimiter`] adds to each charge.
const CHARGED_EACH: u64 = 64;

/// Timeout for the acknowledgement of SETTINGS, as in nghttp2's programs.
pub(crate) const SETTINGS_TIMEOUT: Duration = Duration::from_secs(10);

/// Minimum progress of a reply in bytes per idle timeout, independent of its window, as for HTTP/1.1.
pub(crate) const REPLY_PROGRESS: usize = 16 * 1024;

/// Period over which pauses of reading are summed up, and the sum at which the connection is closed.
const REST_WINDOW: Duration = Duration::from_secs(30);
const REST_MAX: Duration = Duration::from_secs(5);

/// Limits useless frames of a peer, by pausing reads and then by closing the connection.
#[derive(Debug)]
pub(crate) struct Abuse {
    waste: WasteLimiter,
    /// Number of charged points beyond the lengths of the charged frames. They are added to the batch, because the
    /// limiter compares points to received bytes.
    excess: usize,
    /// Limit of stream errors: a burst of a hundred, and then a hundred per 33 s.
    stream_errors: Bucket<100, 3>,
    rests_since: Instant,
    rested: Duration,
    /// Number of WINDOW_UPDATE frames that the peer may still send without charge.
    updates: u32,
    /// Whether HEADERS or DATA were sent since the last PING.
    has_sent: bool,
}

impl Abuse {
    pub(crate) fn new(waste_rate: u32, now: Instant) -> Self {
        Self {
            waste: WasteLimiter::new(waste_rate, now),
            excess: 0,
            stream_errors: Bucket::new(now),
            rests_since: now,
            rested: Duration::ZERO,
            updates: UPDATES_PER_DATA,
            has_sent: true,
        }
    }

    /// Charges `cost` points for a useless frame of `length` bytes.
    pub(crate) fn charge(&mut self, length: u32, cost: u64) {
        let points = cost.saturating_sub(CHARGED_EACH).max(1) as usize;
        self.waste.charge(points);
        self.excess = self.excess.saturating_add(points.saturating_sub(length as usize));
    }

    /// Charges a stream error. Fails if there are too many.
    pub(crate) fn charge_stream_error(&mut self, now: Instant) -> Result<(), ConnectionError> {
        self.charge(0, STREAM_ERROR);
        let is_allowed = self.stream_errors.take(now);
        if is_allowed { Ok(()) } else { Err(ConnectionError::calm("too many malformed messages")) }
    }

    /// Records that HEADERS were sent.
    pub(crate) fn handle_sent_head(&mut self) {
        self.has_sent = true;
    }

    /// Records that DATA was sent.
    pub(crate) fn handle_sent_data(&mut self) {
        self.has_sent = true;
        self.updates = self.updates.saturating_add(UPDATES_PER_DATA);
    }

    pub(crate) fn charge_window_update(&mut self, length: u32) {
        match self.updates.checked_sub(1) {
            Some(left) => self.updates = left,
            None => self.charge(length, FRAME),
        }
    }

    pub(crate) fn charge_ping(&mut self, length: u32) {
        if !std::mem::replace(&mut self.has_sent, false) {
            self.charge(length, PING);
        }
    }

    /// Ends a batch of `count` received bytes.
    pub(crate) fn end_batch(&mut self, count: usize, now: Instant) -> Result<(), ConnectionError> {
        let before = self.waste.deadline();
        self.waste.end_batch(count.saturating_add(std::mem::take(&mut self.excess)), now);
        let Some(until) = self.waste.deadline().filter(|until| before != Some(*until)) else { return Ok(()) };
        if now.saturating_duration_since(self.rests_since) > REST_WINDOW {
            (self.rests_since, self.rested) = (now, Duration::ZERO);
        }
        self.rested = self.rested.saturating_add(until.saturating_duration_since(now));
        if self.rested >= REST_MAX { Err(ConnectionError::calm("too many useless frames")) } else { Ok(()) }
    }

    /// Returns when the peer may be read again, if it is paused.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.waste.deadline()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.waste.handle_timeout(now);
    }
}
