//! Limits for hostile peers: the costs of frames that make work and carry nothing, and the counts that are not exceeded.
//!
//! # Decisions
//!
//! Costs are paid from one allowance, [`Config::waste_rate`](frisbee_core::Config::waste_rate), and useful bytes pay for as many
//! others. A fixed number of resets or PINGs per second would disconnect honest peers: gRPC clients reset calls at their
//! deadlines, and grpc-go sends a PING per round trip while it measures a link. A peer beyond its allowance is not read
//! for a while, and one that never stops loses its connection.

use crate::error::ConnectionError;
use frisbee_core::{Bucket, WasteLimiter};
use std::time::{Duration, Instant};

/// The cost of a frame without use in addition to its length: PRIORITY, unknown frames, WINDOW_UPDATE beyond
/// [`UPDATES_PER_DATA`], frames of closed streams; and of padding. Parsing one takes longer than sending it.
pub(crate) const FRAME: u64 = 256;

/// The cost of a stream that is refused because there are too many.
pub(crate) const REFUSED: u64 = 256;

/// The cost of a reset before the reply: the request has been parsed, routed and perhaps begun ("rapid reset",
/// CVE-2023-44487).
pub(crate) const RESET: u64 = 1024;

/// The cost of a PING while nothing was sent since the last one (CVE-2019-9512).
pub(crate) const PING: u64 = 1024;

/// The cost of SETTINGS after the first (CVE-2019-9515), and for each open stream, whose window changes.
pub(crate) const SETTINGS: u64 = 4096;
pub(crate) const SETTINGS_STREAM: u64 = 64;

/// The cost of an error of a stream.
pub(crate) const STREAM_ERROR: u64 = 4096;

/// The cost of an empty DATA frame that does not end its stream (CVE-2019-9518).
pub(crate) const EMPTY_DATA: u64 = 1024;

/// A DATA frame that completes no message is charged as if it had this length.
pub(crate) const FRAGMENT: u64 = 256;

/// The number of free WINDOW_UPDATE frames for each DATA frame sent: Envoy's default.
pub(crate) const UPDATES_PER_DATA: u32 = 10;

/// The frames of a field block after the first: nghttp2's limit.
pub(crate) const CONTINUATIONS_MAX: u32 = 8;

/// The length of a field block before decoding: twice the list that is kept, because Huffman coding may lengthen it.
pub(crate) const BLOCK_MAX: usize = 32 * 1024;

/// The length of a frame that this end accepts, SETTINGS_MAX_FRAME_SIZE. DATA is passed on as it arrives, so longer frames take
/// no memory.
pub(crate) const FRAME_SIZE_MAX: u32 = 64 * 1024;

/// The entries of a SETTINGS frame. RFC 9113 and its extensions define eleven.
pub(crate) const SETTINGS_MAX: u32 = 32;

/// The unsent acknowledgements of PING and SETTINGS at which reading stops.
pub(crate) const PING_ACKS_MAX: u32 = 64;
pub(crate) const SETTINGS_ACKS_MAX: u32 = 8;

/// The framed output at which reading stops: h2o's limit.
pub(crate) const OUTPUT_MAX: usize = 512 * 1024;

/// What [`WasteLimiter`] adds to each charge.
const CHARGED_EACH: u64 = 64;

/// How long the peer may take to acknowledge SETTINGS, as in nghttp2's programs.
pub(crate) const SETTINGS_TIMEOUT: Duration = Duration::from_secs(10);

/// A reply has to move so many bytes in each idle time, though its window may be small: as for HTTP/1.1.
pub(crate) const REPLY_PROGRESS: usize = 16 * 1024;

/// The time over which rests are added up, and the sum at which the connection ends.
const REST_WINDOW: Duration = Duration::from_secs(30);
const REST_MAX: Duration = Duration::from_secs(5);

/// The account of a peer's useless frames.
#[derive(Debug)]
pub(crate) struct Abuse {
    waste: WasteLimiter,
    /// The charged points above the lengths of their frames. The limiter takes points for bytes of the batch.
    excess: usize,
    /// A hundred errors of streams at once, and then a hundred in 33 s.
    stream_errors: Bucket<100, 3>,
    rests_since: Instant,
    rested: Duration,
    /// How many WINDOW_UPDATE frames are free.
    updates: u32,
    /// HEADERS or DATA have been sent since the last PING.
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

    /// Charges a frame of `length` bytes.
    pub(crate) fn charge(&mut self, length: u32, cost: u64) {
        let points = cost.saturating_sub(CHARGED_EACH).max(1) as usize;
        self.waste.charge(points);
        self.excess = self.excess.saturating_add(points.saturating_sub(length as usize));
    }

    /// Charges an error of a stream.
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

    /// When the peer may be read again, if it may not now.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.waste.deadline()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        self.waste.handle_timeout(now);
    }
}
