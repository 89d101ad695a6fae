//! TLS on accepted connections: how many handshakes at once, and for how long.

use super::Io;
use crate::tls::{CertificateDer, ServerTls, TlsError, TlsStream};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Semaphore;

/// How long a client that was refused has to take note of it.
const LINGER: Duration = Duration::from_secs(1);

/// The handshakes of a server.
pub(crate) struct Handshakes {
    tls: ServerTls,
    permits: Semaphore,
}

impl Handshakes {
    pub(crate) fn new(tls: ServerTls) -> Self {
        let permits = Semaphore::new(tls.handshakes_max.clamp(1, Semaphore::MAX_PERMITS));
        Self { tls, permits }
    }

    /// Makes the handshake on an accepted connection.
    pub(crate) async fn accept<T: Io>(&self, io: T) -> Result<TlsStream<T>, TlsError> {
        let handshake = async {
            let permit = self.permits.acquire().await;
            let accepted = self.tls.accept(io).await;
            drop(permit);
            accepted
        };
        match tokio::time::timeout(self.tls.handshake_timeout, handshake).await {
            Ok(Ok(secured)) => Ok(secured),
            Ok(Err((error, io))) => {
                linger(io).await;
                Err(error)
            }
            Err(_) => Err(TlsError::Timeout),
        }
    }
}

/// Lets the client read what was wrong: closing with bytes of it unread would reset the connection, and the alert on
/// its way would be lost.
async fn linger<T: Io>(mut io: T) {
    let linger = async {
        let mut discarded = [0; 4096];
        io.shutdown().await?;
        while io.read(&mut discarded).await? > 0 {
            // A connection's task is not interrupted, and a client may have more at every read.
            tokio::task::yield_now().await;
        }
        std::io::Result::Ok(())
    };
    // It has ended either way.
    let _ = tokio::time::timeout(LINGER, linger).await;
}

/// What the peer has shown of itself.
pub(crate) fn peer_certificates<T>(stream: &TlsStream<T>) -> Option<Arc<[CertificateDer<'static>]>> {
    stream.get_ref().1.peer_certificates().map(Into::into)
}
