//! Detects whether a client that has closed its direction before its response is still connected.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

/// An interim response, which a disconnected client answers with a reset and any other client ignores; see RFC 9110,
/// section 15.2.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The interval between checks of a client that has closed its direction.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Maximum pause of a response that has started. Nothing that clients ignore can be sent inside a response, so a
/// disconnected client is detected only by the next two parts of it. Most servers do not wait at all.
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Checks whether a client that has half-closed its connection is still connected.
#[derive(Debug, Default)]
pub(super) struct Probe {
    is_sent: bool,
}

impl Probe {
    /// Checks the client. If `may_send`, sends it an interim response once, which must not be inside a response.
    ///
    /// # Errors
    /// Returns an error if the client has disconnected.
    pub(super) fn check<T: AsyncWrite + Unpin>(
        &mut self,
        io: &mut T,
        task: &mut Context<'_>,
        may_send: bool,
    ) -> io::Result<()> {
        if self.is_sent {
            // On a reset socket, even an empty write fails.
            let _ = Pin::new(io).poll_write(task, &[])?;
            return Ok(());
        }
        if may_send && let Poll::Ready(written) = Pin::new(&mut *io).poll_write(task, CONTINUE) {
            self.is_sent = true;
            if written? < CONTINUE.len() {
                // A full send buffer means that the client does not read.
                return Err(io::ErrorKind::WriteZero.into());
            }
            let _ = Pin::new(io).poll_flush(task)?;
        }
        Ok(())
    }
}
