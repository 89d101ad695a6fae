//! Timers and graceful shutdown of a connection.

use super::Connection;
use crate::ErrorCode;
use crate::error::ConnectionError;
use crate::frame;
use frisbee_core::{Role, earlier};
use std::time::{Duration, Instant};

/// Payload of the PING that follows the first GOAWAY. Its acknowledgement shows that the client has received the
/// GOAWAY.
pub(super) const SHUTDOWN_PING: [u8; 8] = *b"shutdown";

/// Maximum time that a server that is shutting down waits for the acknowledgement of its PING.
const ANNOUNCED: Duration = Duration::from_secs(1);

/// Stream id at which a server begins to shut down the connection, because stream ids cannot be reused. Three quarters
/// of the range, as in grpc-go.
const ID_MAX: u32 = (1 << 29) * 3;

/// Progress of a graceful shutdown (RFC 9113, section 6.8).
///
/// ```text
/// Open --shut_down--> Announced --PING answered, or 1 s--> Final
///   \________________client_____________________________/
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shutdown {
    /// New streams are still accepted.
    Open,
    /// "A server that is attempting to gracefully shut down a connection SHOULD send an initial GOAWAY frame with the
    /// last stream identifier set to 2^31-1 and a NO_ERROR code." Streams that were in flight are still accepted.
    Announced { until: Option<Instant> },
    /// The final GOAWAY has been sent. New streams are ignored.
    Final,
}

impl Connection {
    /// Begins a graceful shutdown. New streams are rejected, while open streams continue.
    pub fn shut_down(&mut self, now: Instant) {
        if self.shutdown != Shutdown::Open {
            return;
        }
        if self.role == Role::Client {
            self.finish_shutdown();
            return;
        }
        self.shutdown = Shutdown::Announced { until: now.checked_add(ANNOUNCED) };
        self.put_go_away(frame::WINDOW_MAX, ErrorCode::NO_ERROR, "");
        frame::put_ping(self.output.framed(), 0, SHUTDOWN_PING);
    }

    pub(super) fn finish_shutdown(&mut self) {
        self.shutdown = Shutdown::Final;
        self.put_go_away(self.last_peer_id, ErrorCode::NO_ERROR, "");
    }

    pub(super) fn shut_down_before_exhaustion(&mut self, id: u32, now: Instant) {
        if id > ID_MAX {
            self.shut_down(now);
        }
    }

    /// Returns whether a graceful shutdown is complete: no stream is open and none can be opened.
    pub fn is_shut_down(&self) -> bool {
        self.shutdown == Shutdown::Final && self.streams.len() == 0
    }

    /// Handles the end of the input, after which the peer can still receive. Streams with an incomplete message of the
    /// peer are removed, and reported by [`Event::Reset`](crate::Event::Reset). The caller must limit the time of the
    /// other streams, because the peer can send neither credit nor acknowledgements.
    pub fn handle_half_close(&mut self) {
        self.acknowledged_by = None;
        self.cut_off(ErrorCode::CANCEL, |slot| slot.state.may_receive());
    }

    /// Returns the next time at which [`handle_timeout`](Self::handle_timeout) must be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        let announced = match self.shutdown {
            Shutdown::Announced { until } => until,
            Shutdown::Open | Shutdown::Final => None,
        };
        [
            self.opened_by,
            self.acknowledged_by,
            self.replies_checked_at,
            self.abuse.limiter.deadline(),
            self.read_progress.deadline(),
            self.write_progress.deadline(),
            announced,
        ]
        .into_iter()
        .fold(None, earlier)
    }

    /// Handles all timeouts that have expired at `now`.
    ///
    /// # Errors
    ///
    /// If the peer is too slow. The output contains a GOAWAY.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), ConnectionError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        self.expire(now).inspect_err(|error| self.fail(*error))
    }

    fn expire(&mut self, now: Instant) -> Result<(), ConnectionError> {
        let is_due = |time: Option<Instant>| time.is_some_and(|time| now >= time);
        if !self.may_read() {
            self.abuse.limiter.handle_timeout(now);
            // The next batch restarts the measurement, because nothing was read during the pause.
            self.read_progress.complete();
        }
        if is_due(self.opened_by) {
            return Err(ConnectionError::calm("preface and SETTINGS did not arrive in time"));
        }
        if is_due(self.acknowledged_by) {
            return Err(ConnectionError::new(ErrorCode::SETTINGS_TIMEOUT, "SETTINGS were not acknowledged in time"));
        }
        if self.read_progress.is_too_slow(self.received, now) {
            return Err(ConnectionError::calm("frame arrives too slowly"));
        }
        // As in `handle_written`, only a client counts received bytes as progress.
        let received = if self.role == Role::Client { self.received } else { 0 };
        if self.write_progress.is_too_slow(self.output.len(), received, now) {
            return Err(ConnectionError::calm("peer accepts output too slowly"));
        }
        self.check_replies(now);
        if let Shutdown::Announced { until } = self.shutdown
            && is_due(until)
        {
            self.finish_shutdown();
        }
        Ok(())
    }
}
