//! TLS handshakes on accepted connections, with limits on their number and duration.

use super::turns::Turns;
use crate::account::CallerKey;
use crate::tls::{CertificateDer, ServerTls, TlsError, TlsStream};
use frisbee_core::CloseReason;
use parking_lot::Mutex;
use rustls::ServerConfig;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio_rustls::LazyConfigAcceptor;
use tokio_rustls::server::TlsStream as Secured;

/// Memory in bytes of an incomplete handshake message, in addition to that of a TLS connection. rustls buffers up to
/// 64 KiB of the message. `incomplete_tls_handshakes_are_charged` in `tests/process/heap/idle_tls.rs` measures it.
pub(crate) const HANDSHAKE_COST: usize = 36 * 1024;

/// How long the server waits for a rejected client to read the TLS alert.
const LINGER: Duration = Duration::from_secs(1);

/// A client that does not reply within this time counts as silent. It is enough for two round trips around the world.
const ANSWER: Duration = Duration::from_millis(500);

/// The handshakes of one caller. While the server waits for the caller's messages, it may evict a handshake to admit
/// others.
pub(crate) trait CallerHandshakes: Send + Sync {
    fn caller(&self) -> CallerKey;

    /// Runs `work`, which waits for the client. Returns `None` if the handshake is evicted first.
    fn wait<F>(&self, work: F) -> impl Future<Output = Option<F::Output>> + Send
    where
        F: Future<Output: Send> + Unpin + Send;
}

/// TLS acceptor of a server, which limits the number of concurrent handshakes.
#[derive(Debug)]
pub(crate) struct Handshakes {
    tls: ServerTls,
    permits: Arc<Turns>,
    /// Protocols that are offered by ALPN if the TLS settings offer none.
    protocols: Vec<Vec<u8>>,
    /// TLS settings without ALPN protocols, and a copy that offers `protocols`. The last pair is cached to avoid a copy
    /// per connection.
    offering: Mutex<Option<[Arc<ServerConfig>; 2]>>,
}

/// Result of a TLS handshake: the secured transport or the failure.
type HandshakeOutcome<T> = Result<Secured<T>, HandshakeFailure<T>>;

/// Reason why a TLS handshake failed, and the transport if an alert can still be sent on it.
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
    /// Creates a TLS acceptor. It offers `protocols` by ALPN unless the settings offer protocols themselves.
    pub(crate) fn new(tls: ServerTls, protocols: Vec<Vec<u8>>) -> Self {
        let permits = Turns::new(tls.handshakes_max);
        Self { tls, permits, protocols, offering: Mutex::default() }
    }

    /// Returns the TLS settings for new connections. The application may replace them at any time.
    fn current(&self) -> Arc<ServerConfig> {
        let current = self.tls.current();
        if self.protocols.is_empty() || !current.alpn_protocols.is_empty() {
            return current;
        }
        let mut offering = self.offering.lock();
        // Reuse the clone with the ALPN protocols until the application replaces the settings.
        if let Some([of, with]) = &*offering
            && Arc::ptr_eq(of, &current)
        {
            return with.clone();
        }
        let mut with = ServerConfig::clone(&current);
        with.alpn_protocols.clone_from(&self.protocols);
        let with = Arc::new(with);
        let replaced = offering.replace([current, with.clone()]);
        drop(offering);
        drop(replaced); // Without the lock, because the settings contain objects of the application.
        with
    }

    /// Performs the TLS handshake on an accepted connection. `silence` waits for the messages of the client. It returns
    /// early if the handshake is evicted.
    ///
    /// # Errors
    /// If the handshake fails.
    ///
    /// # Cancel safety
    /// Dropping the future drops the transport.
    pub(crate) async fn accept<T>(&self, io: T, silence: &impl CallerHandshakes) -> Result<TlsStream<T>, CloseReason>
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

    /// Performs a TLS handshake. A client gets a permit only once its ClientHello has arrived, and loses it if the
    /// handshake takes longer than [`ANSWER`]. Slow clients thus do not delay others.
    async fn shake<T>(&self, io: T, silence: &impl CallerHandshakes) -> HandshakeOutcome<T>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin,
    {
        let mut greeting = LazyConfigAcceptor::new(Default::default(), io);
        let greeted = match silence.wait(&mut greeting).await {
            Some(Ok(greeted)) => greeted,
            Some(Err(error)) => {
                let reason = match TlsError::from(&error) {
                    // Not reported as an error, because health checks of load balancers connect and close.
                    TlsError::Closed => CloseReason::ClosedByPeer,
                    error => error.into(),
                };
                return Err(HandshakeFailure(reason, greeting.take_io()));
            }
            None => return Err(HandshakeFailure::late()),
        };
        let permit = Turns::acquire(&self.permits, silence.caller()).await;
        let mut answer = pin!(greeted.into_stream(self.current()).into_fallible());
        if let Ok(shaken) = tokio::time::timeout(ANSWER, &mut answer).await {
            return Ok(shaken?);
        }
        drop(permit);
        silence.wait(answer).await.map_or_else(|| Err(HandshakeFailure::late()), |shaken| Ok(shaken?))
    }
}

/// Waits until the client has read the TLS alert. If the socket were closed with unread bytes of the client, the
/// connection would be reset and the alert lost.
async fn linger(mut io: impl AsyncRead + AsyncWrite + Unpin) {
    let linger = async {
        let mut discarded = [0; 4096];
        io.shutdown().await?;
        while io.read(&mut discarded).await? > 0 {
            // Yield, because the task is not preempted, and every read may return more bytes.
            tokio::task::yield_now().await;
        }
        io::Result::Ok(())
    };
    // Ignore the timeout, because the connection is closed in either case.
    let _ = tokio::time::timeout(LINGER, linger).await;
}

/// Returns the certificate chain of the peer, end-entity certificate first, if the peer presented one. Boxed because
/// few connections have one.
pub(crate) fn peer_certificates<T>(stream: &TlsStream<T>) -> Option<Box<Arc<[CertificateDer<'static>]>>> {
    stream.get_ref().1.peer_certificates().map(|chain| Box::new(chain.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::server::{ClientHello, ResolvesServerCert};
    use rustls::sign::CertifiedKey;
    use std::sync::{OnceLock, mpsc};

    /// A certificate resolver that sends, when dropped, whether the settings are unlocked.
    #[derive(Debug)]
    struct Resolver(OnceLock<Arc<Handshakes>>, mpsc::Sender<bool>);

    impl ResolvesServerCert for Resolver {
        fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
            None
        }
    }

    impl Drop for Resolver {
        fn drop(&mut self) {
            let handshakes = self.0.get().expect("resolver should know its handshakes");
            let is_unlocked = handshakes.tls.current.try_read().is_some() && !handshakes.offering.is_locked();
            self.1.send(is_unlocked).expect("receiver should not be dropped");
        }
    }

    /// Regression test: an earlier configuration was dropped under the lock of the settings, or of the copy that offers
    /// further protocols.
    #[test]
    fn replaced_configuration_is_dropped_unlocked() {
        let (dropped, receiver) = mpsc::channel();
        let config = |resolver| {
            let builder = ServerConfig::builder_with_provider(crate::tls::provider());
            let builder = builder
                .with_safe_default_protocol_versions()
                .expect("provider should support the default versions of TLS");
            Arc::new(builder.with_no_client_auth().with_cert_resolver(resolver))
        };
        let [first, second, third] = [(); 3].map(|()| Arc::new(Resolver(OnceLock::new(), dropped.clone())));
        let tls = ServerTls::from_config(config(first.clone()));
        let handshakes = Arc::new(Handshakes::new(tls, vec![b"further".to_vec()]));
        for resolver in [&first, &second, &third] {
            resolver.0.get_or_init(|| handshakes.clone());
        }
        drop(first);
        handshakes.tls.reload_config(config(second));
        assert_eq!(receiver.try_recv(), Ok(true));
        assert_eq!(handshakes.current().alpn_protocols, [b"further"]);
        handshakes.tls.reload_config(config(third));
        assert!(receiver.try_recv().is_err(), "the copy should contain the earlier resolver");
        handshakes.current();
        assert_eq!(receiver.try_recv(), Ok(true));
    }
}
