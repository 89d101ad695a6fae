//! Connecting: the client's offer and the handling of its reply.

use crate::bell::Bells;
use crate::memory::{End, HEAD, Memory};
use crate::offer::{self, DESCRIPTORS, Message, OfferContent};
use crate::received::Received;
use crate::shared::{HandshakeResult, SharedStream};
use crate::stream::Stream;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

/// Pause between connection attempts while the listener's backlog is full.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// Timeout for the reply to an offer of shared memory. Servers that support offers reply immediately.
const ANSWER: Duration = Duration::from_secs(1);

/// Connects to a Unix socket. Retries while the listener's backlog is full, because Linux then fails immediately where
/// a TCP connect would wait.
async fn dial(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(QUEUE_PAUSE).await,
            connected => return connected,
        }
    }
}

/// Connects to the Unix socket at a path and offers to share memory.
///
/// Works with any server on a Unix socket. If the server rejects the offer, the socket carries the connection. If the
/// server does not support offers, a second connection without an offer is made. [`Stream::is_shared`] reports the
/// outcome. While the listener's backlog is full, connecting is retried.
///
/// # Errors
/// If no server is listening, or the operating system reports an error. Failing to share memory is not an error.
///
/// # Panics
/// If called outside of a tokio runtime.
///
/// # Cancel safety
/// Dropping the future cancels the attempt and closes the connection.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<Stream> {
    Connector::new().connect(path).await
}

/// Returns a function that connects like [`connect`], for APIs such as frpc's `connect_with_connector`.
///
/// ```no_run
/// # async fn example() -> Result<(), frpc::Error> {
/// let connector = frisbee_shm::connector("/run/service.sock");
/// let channel = frpc::Channel::builder().connect_with_connector(connector).await?;
/// # Ok(())
/// # }
/// ```
pub fn connector(path: impl Into<PathBuf>) -> impl Fn() -> Connecting + Clone + Send + Sync + 'static {
    Connector::new().to(path)
}

/// Return type of the functions created by [`connector`] and [`Connector::to`].
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

/// Options for connecting through shared memory.
#[derive(Clone, Debug)]
pub struct Connector {
    ring_max: u32,
    spin: Duration,
}

impl Default for Connector {
    fn default() -> Self {
        Self::new()
    }
}

impl Connector {
    /// Creates default options: rings of up to [`RING_MAX`](crate::RING_MAX) bytes, and no [spinning](Self::spin).
    pub fn new() -> Self {
        Self { ring_max: crate::RING_MAX, spin: Duration::ZERO }
    }

    /// Sets the maximum size of the ring buffers in bytes, which the server may reduce. Must be a power of two from
    /// [`RING_MIN`](crate::RING_MIN) to [`RING_MAX`](crate::RING_MAX). Defaults to `RING_MAX`.
    pub fn ring_max(mut self, bytes: u32) -> Self {
        self.ring_max = bytes;
        self
    }

    /// Sets how long this end polls, in consecutive turns of its runtime, before it sleeps. Defaults to zero, so that
    /// it sleeps immediately.
    ///
    /// Waking a sleeping end costs its peer a system call. If both ends poll on otherwise idle processors, a round trip
    /// takes less than half the time. The thread is busy for this time after each burst, so spinning slows everything
    /// down if there are more runnable threads than processors.
    pub fn spin(mut self, most: Duration) -> Self {
        self.spin = most;
        self
    }

    /// Like [`spin`](Self::spin), but never shortens the spin time.
    pub fn spin_at_least(self, least: Duration) -> Self {
        let most = self.spin.max(least);
        self.spin(most)
    }

    /// Like [`connect`], but uses the options of `self`.
    ///
    /// # Errors
    /// Like [`connect`]. Also fails if [`ring_max`](Self::ring_max) is not a valid ring size.
    ///
    /// # Panics
    /// If called outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Like [`connect`].
    pub async fn connect(&self, path: impl AsRef<Path>) -> io::Result<Stream> {
        crate::system::check_ring(self.ring_max)?;
        let socket = dial(path.as_ref()).await?;
        if let Err(error) = crate::system::check_system() {
            tracing::debug!(%error, "shared memory not offered");
            return Ok(Stream::plain(socket));
        }
        self.offer(socket, path.as_ref()).await
    }

    /// Offers shared memory to the server. Connects again without an offer if the server does not support offers.
    async fn offer(&self, socket: UnixStream, path: &Path) -> io::Result<Stream> {
        match timeout(ANSWER, answer(&socket, self.ring_max)).await {
            Ok(Ok(Some((Message { content: OfferContent::Accepted, ring, .. }, descriptors)))) => {
                self.settle(socket, ring, &descriptors).await
            }
            Ok(Ok(Some((Message { content: OfferContent::Refused, .. }, _)))) => Ok(Stream::plain(socket)),
            // The server does not support offers or violated the protocol. It may even have closed the connection
            // before the offer was written.
            _ => dial(path).await.map(Stream::plain),
        }
    }

    /// Returns a function that connects to `path` with these options, like [`connector`].
    pub fn to(self, path: impl Into<PathBuf>) -> impl Fn() -> Connecting + Clone + Send + Sync + 'static {
        let path = path.into();
        move || {
            let (connector, path) = (self.clone(), path.clone());
            Box::pin(async move { connector.connect(&path).await })
        }
    }

    /// Maps the memory received from the server. If that fails, declines it and continues over the socket.
    async fn settle(&self, socket: UnixStream, ring: u32, descriptors: &[OwnedFd]) -> io::Result<Stream> {
        match self.open(ring, descriptors) {
            Ok(made) => {
                offer::send(&socket, Message::new(OfferContent::Confirmed, 0), &[])?;
                Ok(Stream::shared(SharedStream::new(End::Client, made, socket, self.spin, None)))
            }
            Err(error) => {
                tracing::debug!(%error, "shared memory of a server not used");
                offer::send(&socket, Message::new(OfferContent::Declined, 0), &[])?;
                Ok(Stream::plain(socket))
            }
        }
    }

    fn open(&self, ring_max: u32, descriptors: &[OwnedFd]) -> io::Result<HandshakeResult> {
        crate::system::check_ring(ring_max)?;
        let ([file, own, peer], true) = (descriptors, ring_max <= self.ring_max) else {
            let problem = format!("{} of {DESCRIPTORS} descriptors for rings of {ring_max} bytes", descriptors.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        };
        Ok(HandshakeResult { head: Memory::map(file, HEAD)?, bells: Bells::open(own, peer)?, ring_max })
    }
}

/// Sends an offer of shared memory and receives the reply. Returns `None` if the reply is malformed.
async fn answer(socket: &UnixStream, ring_max: u32) -> io::Result<Option<(Message, Received)>> {
    offer::send(socket, Message::new(OfferContent::Offer, ring_max), &[])?;
    let answer = socket.async_io(Interest::READABLE, || offer::take_with_descriptors(socket)).await?;
    Ok(answer.filter(|(message, _)| message.version == offer::VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn server_closing_before_offer_gets_plain_socket() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let _listener = tokio::net::UnixListener::bind(&path).expect("listener should bind to the socket path");
        let (socket, peer) = UnixStream::pair().expect("socket pair should be created");
        drop(peer);
        let stream = Connector::new()
            .offer(socket, &path)
            .await
            .expect("server should accept a connection without shared memory");
        assert!(!stream.is_shared());
    }
}
