//! Connecting: the offer of a client, and what becomes of it.

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

/// The pause before the next attempt to enter a full queue.
const QUEUE_PAUSE: Duration = Duration::from_millis(10);

/// How long a client waits for the answer to its offer. Servers that know of offers answer at once.
const ANSWER: Duration = Duration::from_secs(1);

/// Connects, also while the queue of the listener is full: Linux then fails at once where a TCP socket would wait.
async fn dial(path: &Path) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(path).await {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => sleep(QUEUE_PAUSE).await,
            connected => return connected,
        }
    }
}

/// Connects to the socket at a path and offers to share memory.
///
/// A server that refuses is used over the socket, and one that does not know such offers over a second, plain
/// connection; [`Stream::is_shared`] reports the outcome. So any server on a Unix socket will do. While the queue of the
/// listener is full, it waits for room.
///
/// # Errors
/// If no server listens there, or the system refuses. Memory that cannot be shared is no error.
///
/// # Panics
/// Outside of a tokio runtime.
///
/// # Cancel safety
/// Dropping the future cancels the attempt, and closes the connection.
pub async fn connect(path: impl AsRef<Path>) -> io::Result<Stream> {
    Connector::new().connect(path).await
}

/// A function that connects as [`connect`] does: for `connect_with_connector` of frpc and its like.
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

/// The return type of [`connector`] and [`Connector::to`].
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Stream>> + Send>>;

/// How a client connects.
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
    /// Takes rings of any size that servers may have, and does not [spin](Self::spin).
    pub fn new() -> Self {
        Self { ring_max: crate::RING_MAX, spin: Duration::ZERO }
    }

    /// The maximum size of rings, in bytes, if the server permits: a power of two from
    /// [`RING_MIN`](crate::RING_MIN) to [`RING_MAX`](crate::RING_MAX), which is the default.
    pub fn ring_max(mut self, bytes: u32) -> Self {
        self.ring_max = bytes;
        self
    }

    /// How long this end polls, in consecutive turns of its runtime, before it sleeps. By default it does not.
    ///
    /// A sleeping end is woken by a system call of its peer. A polling one needs none, and a round trip takes less than
    /// half the time if both ends poll, on processors without other work. Its thread is busy during that time, for this
    /// long after each burst: with more threads that want to run than processors, everything becomes slower.
    pub fn spin(mut self, most: Duration) -> Self {
        self.spin = most;
        self
    }

    /// As [`spin`](Self::spin), unless it spins for longer already.
    pub fn spin_at_least(self, least: Duration) -> Self {
        let most = self.spin.max(least);
        self.spin(most)
    }

    /// As [`connect`].
    ///
    /// # Errors
    /// As [`connect`], and if [`ring_max`](Self::ring_max) is no size that a ring can have.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// As [`connect`].
    pub async fn connect(&self, path: impl AsRef<Path>) -> io::Result<Stream> {
        crate::system::check_ring(self.ring_max)?;
        let socket = dial(path.as_ref()).await?;
        if let Err(error) = crate::system::check_system() {
            tracing::debug!(%error, "shared memory not offered");
            return Ok(Stream::plain(socket));
        }
        self.offer(socket, path.as_ref()).await
    }

    /// Offers over a socket, and connects to the path once more if its server does not know of offers.
    async fn offer(&self, socket: UnixStream, path: &Path) -> io::Result<Stream> {
        match timeout(ANSWER, answer(&socket, self.ring_max)).await {
            Ok(Ok(Some((Message { content: OfferContent::Accepted, ring, .. }, descriptors)))) => {
                self.settle(socket, ring, &descriptors).await
            }
            Ok(Ok(Some((Message { content: OfferContent::Refused, .. }, _)))) => Ok(Stream::plain(socket)),
            // It is no server that knows offers, or none that keeps its promises. It may close the connection even
            // before the offer is written.
            _ => dial(path).await.map(Stream::plain),
        }
    }

    /// A function that connects to a path in this way; see [`connector`].
    pub fn to(self, path: impl Into<PathBuf>) -> impl Fn() -> Connecting + Clone + Send + Sync + 'static {
        let path = path.into();
        move || {
            let (connector, path) = (self.clone(), path.clone());
            Box::pin(async move { connector.connect(&path).await })
        }
    }

    /// Takes the memory that the server has sent, or continues over the socket if it cannot be taken.
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

/// Decodes a server's answer to an offer; `None` for anything that is no answer.
async fn answer(socket: &UnixStream, ring_max: u32) -> io::Result<Option<(Message, Received)>> {
    offer::send(socket, Message::new(OfferContent::Offer, ring_max), &[])?;
    let answer = socket.async_io(Interest::READABLE, || offer::take_with_descriptors(socket)).await?;
    Ok(answer.filter(|(message, _)| message.version == offer::VERSION))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn server_that_closes_before_the_offer_gets_a_plain_socket() {
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let _listener = tokio::net::UnixListener::bind(&path).expect("path should be free");
        let (socket, peer) = UnixStream::pair().expect("socket pair should be created");
        drop(peer);
        let stream = Connector::new().offer(socket, &path).await.expect("server should be listening");
        assert!(!stream.is_shared());
    }
}
