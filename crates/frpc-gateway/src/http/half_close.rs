//! Clients that have closed their direction while a response is due. Such a client waits for the response, or is gone.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

/// A client that is gone answers this by a reset, and any other one ignores it: RFC 9110, section 15.2.
pub(super) const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// How often a client is looked at that has closed its direction.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// How long a response that has begun may pause. Nothing can be sent within it that the client would ignore, so a client
/// that is gone is only noticed by its next two parts. Most servers do not wait at all.
pub(super) const PAUSE_MAX: Duration = Duration::from_secs(10);

/// Finds out whether the client is gone.
#[derive(Debug, Default)]
pub(super) struct Probe {
    is_sent: bool,
}

impl Probe {
    /// Probes the client. If `may_send`, a line is sent to it once, which must not be within a response.
    ///
    /// # Errors
    /// If it has disconnected.
    pub(super) fn check<T: AsyncWrite + Unpin>(
        &mut self,
        io: &mut T,
        task: &mut Context<'_>,
        may_send: bool,
    ) -> io::Result<()> {
        if self.is_sent {
            // A socket that was reset refuses even this.
            let _ = Pin::new(io).poll_write(task, &[])?;
            return Ok(());
        }
        if may_send && let Poll::Ready(written) = Pin::new(&mut *io).poll_write(task, CONTINUE) {
            self.is_sent = true;
            if written? < CONTINUE.len() {
                // A socket without room for a line is that of a client which reads nothing.
                return Err(io::ErrorKind::WriteZero.into());
            }
            let _ = Pin::new(io).poll_flush(task)?;
        }
        Ok(())
    }
}
