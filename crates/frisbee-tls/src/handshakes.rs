//! TLS on accepted connections: how many handshakes at once, and for how long.

use crate::{CertificateDer, ServerTls, TlsError, TlsStream};
use frisbee_core::CloseReason;
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Semaphore;
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream as Secured;

/// How long a client that was refused has to take note of it.
const LINGER: Duration = Duration::from_secs(1);

/// How long a client may take to answer its server before it counts as silent: two round trips around the world.
const ANSWER: Duration = Duration::from_millis(500);

/// How long clients may keep their server waiting.
pub trait SilenceLimit: Send + Sync {
    /// Gives `work`, which waits for a client, the time that the client has; `None` when that is over.
    fn wait<F>(self: &Arc<Self>, work: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future<Output: Send> + Send + Unpin;
}

/// The handshakes of a server on the connections that it accepts.
#[derive(Debug)]
pub struct Handshakes {
    tls: ServerTls,
    permits: Semaphore,
    /// The ALPN offer if the settings have none.
    protocols: Vec<Vec<u8>>,
    /// The last settings that offered nothing, and the same with `protocols`.
    offering: Mutex<Option<[Arc<ServerConfig>; 2]>>,
}

/// The result of a handshake.
type HandshakeOutcome<T> = Result<Secured<T>, HandshakeFailure<T>>;

/// The reason of a failed handshake, and the transport if an alert can still be sent on it.
struct HandshakeFailure<T>(CloseReason, Option<T>);

impl<T> From<(io::Error, T)> for HandshakeFailure<T> {
    fn from((error, io): (io::Error, T)) -> Self {
        Self(TlsError::from(&error).into(), Some(io))
    }
}

impl<T> HandshakeFailure<T> {
    fn late() -> Self {
        Self(TlsError::Timeout.into(), None)
    }
}

impl Handshakes {
    /// By these settings. The protocols are offered by ALPN if the settings offer none.
    pub fn new(tls: ServerTls, protocols: Vec<Vec<u8>>) -> Self {
        let permits = Semaphore::new(tls.handshakes_max.clamp(1, Semaphore::MAX_PERMITS));
        Self { tls, permits, protocols, offering: Mutex::default() }
    }

    /// The settings that new connections begin with. They may be replaced at any time.
    fn current(&self) -> Arc<ServerConfig> {
        let current = self.tls.current();
        if self.protocols.is_empty() || !current.alpn_protocols.is_empty() {
            return current;
        }
        let mut offering = self.offering.lock();
        if let Some([of, with]) = &*offering
            && Arc::ptr_eq(of, &current)
        {
            return with.clone();
        }
        let mut with = ServerConfig::clone(&current);
        with.alpn_protocols.clone_from(&self.protocols);
        let with = Arc::new(with);
        *offering = Some([current, with.clone()]);
        with
    }

    /// Makes the handshake on an accepted connection.
    ///
    /// # Errors
    /// Why there is none.
    ///
    /// # Cancel safety
    /// Dropping the future drops the transport.
    pub async fn accept<T>(&self, io: T, silence: &Arc<impl SilenceLimit>) -> Result<TlsStream<T>, CloseReason>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin,
    {
        let handshake = tokio::time::timeout(self.tls.handshake_timeout, self.shake(io, silence));
        match handshake.await.unwrap_or_else(|_| Err(HandshakeFailure::late())) {
            Ok(secured) => Ok(secured.into()),
            Err(HandshakeFailure(reason, io)) => {
                if let Some(io) = io {
                    linger(io).await;
                }
                Err(reason)
            }
        }
    }

    /// Clients that keep their server waiting delay no other: none has a permit before its greeting is there, nor for
    /// longer than [`ANSWER`] from then on.
    async fn shake<T>(&self, io: T, silence: &Arc<impl SilenceLimit>) -> HandshakeOutcome<T>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin,
    {
        let mut greeting = LazyConfigAcceptor::new(Default::default(), io);
        let greeted = match silence.wait(&mut greeting).await {
            Some(Ok(greeted)) => greeted,
            Some(Err(error)) => {
                let reason = match TlsError::from(&error) {
                    // Health checks of load balancers connect and close.
                    TlsError::Closed => CloseReason::ClosedByPeer,
                    error => error.into(),
                };
                return Err(HandshakeFailure(reason, greeting.take_io()));
            }
            None => return Err(HandshakeFailure::late()),
        };
        let permit = self.permits.acquire().await;
        let mut answer = pin!(greeted.into_stream(self.current()).into_fallible());
        if let Ok(shaken) = tokio::time::timeout(ANSWER, &mut answer).await {
            return Ok(shaken?);
        }
        drop(permit);
        silence.wait(answer).await.map_or_else(|| Err(HandshakeFailure::late()), |shaken| Ok(shaken?))
    }
}

/// Lets the client read the alert: closing with unread bytes of the client would reset the connection, and the alert
/// would be lost.
async fn linger(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    let linger = async {
        let mut discarded = [0; 4096];
        io.shutdown().await?;
        while io.read(&mut discarded).await? > 0 {
            // A connection's task is not interrupted, and a client may have more at every read.
            tokio::task::yield_now().await;
        }
        io::Result::Ok(())
    };
    // It has ended either way.
    let _ = tokio::time::timeout(LINGER, linger).await;
}

/// The peer's certificates, its own first, if it has shown any. In a box, since few connections have them.
pub fn peer_certificates<T>(stream: &TlsStream<T>) -> Option<Box<Arc<[CertificateDer<'static>]>>> {
    stream.get_ref().1.peer_certificates().map(|chain| Box::new(chain.into()))
}
