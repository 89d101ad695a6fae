//! Detects whether a client that has half-closed its connection before the response is still connected.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

/// An interim response, sent to detect whether the client is still connected. A disconnected client's system resets the
/// connection, and any other client ignores the response (RFC 9110, section 15.2).
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Interval between checks of a client that has half-closed its connection.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum pause within a response to a half-closed client. Within a response nothing can be sent that clients ignore,
/// so a disconnected client is detected only by writing two further parts of the response.
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Probe that detects whether a half-closed client is still connected.
#[derive(Debug, Default)]
pub(super) struct Probe {
    is_sent: bool,
}

impl Probe {
    /// Checks whether the client is still connected. If `may_send` is set, sends an interim response, at most once.
    /// `may_send` must be unset while a response is in progress.
    ///
    /// # Errors
    /// If the client has disconnected.
    pub(super) fn check<T: AsyncWrite + Unpin>(
        &mut self,
        io: &mut T,
        task: &mut Context<'_>,
        may_send: bool,
    ) -> io::Result<()> {
        if self.is_sent {
            // Detect a reset by the client. Even an empty write then fails.
            let _ = Pin::new(io).poll_write(task, &[])?;
            return Ok(());
        }
        if may_send && let Poll::Ready(written) = Pin::new(&mut *io).poll_write(task, CONTINUE) {
            self.is_sent = true;
            if written? < CONTINUE.len() {
                // A full send buffer shows that the client does not read.
                return Err(io::ErrorKind::WriteZero.into());
            }
            let _ = Pin::new(io).poll_flush(task)?;
        }
        Ok(())
    }
}
