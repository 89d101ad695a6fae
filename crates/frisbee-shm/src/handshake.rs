//! Server's side of the handshake: a connection whose client may still offer shared memory.

use crate::RING_MIN;
use crate::bell::{self, Bells};
use crate::memory::{End, HEAD, Memory};
use crate::offer::{self, Message, OfferContent};
use crate::ring::Violation;
use crate::shared::{HandshakeResult, SharedStream};
use crate::wakers::{WaitEvent, Wakers};
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Limits on the memory that a server shares, and the users that it shares memory with.
#[derive(Debug)]
pub(crate) struct SharingServer {
    pub(crate) ring_max: u32,
    pub(crate) users: Vec<u32>,
    pub(crate) shared_max: usize,
    pub(crate) memory_max: usize,
    pub(crate) spin: Duration,
    /// Number of connections that share memory, and the total size of that memory.
    pub(crate) shared: Mutex<HandshakeState>,
}

#[derive(Debug, Default)]
pub(crate) struct HandshakeState {
    connections: usize,
    bytes: usize,
}

/// Permit for a connection to share memory with its server. Released when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    host: Arc<SharingServer>,
    /// Maximum size of the connection's rings in bytes.
    ring_max: u32,
}

/// A connection may use the remaining memory divided by this number. Rings of later connections thus become smaller
/// before the memory is exhausted.
const SHARE: usize = 16;

impl Permit {
    /// Acquires a permit to share memory, with rings of at most `ring_max` bytes.
    fn take(host: &Arc<SharingServer>, ring_max: u32) -> Result<Self, Refusal> {
        let mut state = host.shared();
        if state.connections >= host.shared_max {
            return Err(Refusal::Full(host.shared_max));
        }
        let share = host.memory_max.saturating_sub(state.bytes) / SHARE;
        let mut ring_max = ring_max;
        while ring_max >= RING_MIN && most_of(ring_max) > share {
            ring_max /= 2;
        }
        if ring_max < RING_MIN {
            return Err(Refusal::Memory(host.memory_max));
        }
        // Update the counts before releasing the lock. Otherwise, concurrent handshakes could exceed the limits
        // together.
        state.connections += 1;
        state.bytes += most_of(ring_max);
        drop(state);
        Ok(Self { host: host.clone(), ring_max })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.host.shared();
        state.connections -= 1;
        state.bytes -= most_of(self.ring_max);
    }
}

/// Returns the maximum memory of a connection with rings of this size: the head, one ring in use per direction, and one
/// more that this end has sent but the peer has not received.
fn most_of(ring_max: u32) -> usize {
    HEAD as usize + 3 * ring_max as usize
}

impl SharingServer {
    fn shared(&self) -> MutexGuard<'_, HandshakeState> {
        // Ignore lock poisoning, because the counts remain valid if a thread panics.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reason why a server rejects an offer of shared memory.
#[derive(Debug)]
enum Refusal {
    Version(u16),
    User(u32),
    Full(usize),
    Memory(usize),
    System(io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "unknown version {version}"),
            Self::User(user) => write!(f, "user {user} is not allowed to share memory"),
            Self::Full(max) => write!(f, "{max} connections share memory already"),
            Self::Memory(max) => write!(f, "the limit of {max} bytes of shared memory is reached"),
            Self::System(error) => write!(f, "cannot allocate shared memory: {error}"),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Result of the handshake, which determines how the connection transfers bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Plain,
    Shared,
}

/// An accepted connection with an incomplete handshake, because its client has sent nothing or has not confirmed the
/// memory sent to it.
#[derive(Debug)]
pub(crate) struct PendingConnection {
    pub(crate) socket: UnixStream,
    host: Arc<SharingServer>,
    waiters: Wakers,
    /// Memory that was sent to the client, with the permit for it.
    made: Option<(HandshakeResult, Permit)>,
}

impl PendingConnection {
    pub(crate) fn new(socket: UnixStream, host: Arc<SharingServer>) -> Self {
        Self { socket, host, waiters: Wakers::default(), made: None }
    }

    /// Moves the pending connection to the current runtime.
    pub(crate) fn move_to_current_runtime(&mut self) -> io::Result<()> {
        if let Some((made, _)) = &mut self.made {
            made.bells.move_to_current_runtime()?;
        }
        crate::stream::renew(&mut self.socket)
    }

    /// Converts the pending connection to one that uses the shared memory, after the client has confirmed the memory.
    pub(crate) fn into_shared(self) -> io::Result<SharedStream> {
        let (made, permit) = self.made.ok_or(Violation::Handshake)?;
        Ok(SharedStream::new(End::Server, made, self.socket, self.host.spin, Some(permit)))
    }

    /// Completes once the handshake has determined how bytes are transferred. A server that writes first continues over
    /// the socket, because its client waits for the first bytes and does not make an offer.
    pub(crate) fn poll(&mut self, wait: WaitEvent, context: &mut Context<'_>) -> Poll<io::Result<Decision>> {
        let waker = self.waiters.enter(wait, context.waker()).clone();
        let mut context = Context::from_waker(&waker);
        loop {
            if self.socket.poll_read_ready(&mut context)?.is_pending() {
                // A client that waits for the server's first bytes makes no offer. Use the plain socket, because both
                // ends would otherwise wait for each other.
                let writes_first = wait == WaitEvent::Room && self.made.is_none();
                return if writes_first { Poll::Ready(Ok(Decision::Plain)) } else { Poll::Pending };
            }
            // Only peek at an offer, because the bytes may belong to another protocol.
            let receive = if self.made.is_some() { offer::take } else { offer::peek };
            match self.socket.try_io(Interest::READABLE, || receive(&self.socket)) {
                // Try again, which registers the task with the socket.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
                Ok(message) => {
                    if let Some(decision) = self.handle(message)? {
                        return Poll::Ready(Ok(decision));
                    }
                }
            }
        }
    }

    /// Handles a handshake message of the client. Returns `None` if another message must follow.
    fn handle(&mut self, message: Option<Message>) -> io::Result<Option<Decision>> {
        if self.made.is_some() {
            return match message.map(|message| message.content) {
                Some(OfferContent::Confirmed) => Ok(Some(Decision::Shared)),
                Some(OfferContent::Declined) => {
                    // Dropping the result frees the shared memory and releases the permit.
                    self.made = None;
                    Ok(Some(Decision::Plain))
                }
                _ => Err(Violation::Handshake.into()),
            };
        }
        let Some(message) = message.filter(|message| message.content == OfferContent::Offer) else {
            return Ok(Some(Decision::Plain));
        };
        // Consume the message, which has only been peeked at.
        offer::take(&self.socket)?;
        match self.accept(message) {
            Ok(()) => Ok(None),
            Err(refusal) => {
                tracing::debug!(%refusal, "a client continues without shared memory");
                offer::send(&self.socket, Message::new(OfferContent::Refused, 0), &[])?;
                Ok(Some(Decision::Plain))
            }
        }
    }

    /// Creates the shared memory of a connection and sends it to the client.
    fn accept(&mut self, offer: Message) -> Result<(), Refusal> {
        if offer.version != offer::VERSION {
            return Err(Refusal::Version(offer.version));
        }
        let user = self.socket.peer_cred()?.uid();
        if !self.host.users.contains(&user) {
            return Err(Refusal::User(user));
        }
        crate::system::check_system()?;
        let ring_max = self.host.ring_max.min(offer.ring);
        crate::system::check_ring(ring_max)?;
        // Acquire the permit before allocating, because it limits the total shared memory of the server.
        let permit = Permit::take(&self.host, ring_max)?;
        let ring_max = permit.ring_max;
        let (head, file) = Memory::create(HEAD)?;
        let (own, peer) = (bell::create()?, bell::create()?);
        let bells = Bells::open(&own, &peer)?;
        let accepted = Message::new(OfferContent::Accepted, ring_max);
        offer::send(&self.socket, accepted, &[file.as_fd(), peer.as_fd(), own.as_fd()])?;
        self.made = Some((HandshakeResult { head, bells, ring_max }, permit));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    fn host(users: Vec<u32>, shared_max: usize, memory_max: usize) -> Arc<SharingServer> {
        let (spin, shared) = (Duration::ZERO, Mutex::default());
        Arc::new(SharingServer { ring_max: 1 << 20, users, shared_max, memory_max, spin, shared })
    }

    #[tokio::test]
    async fn foreign_user_falls_back_to_socket() {
        let (client, server) = UnixStream::pair().expect("socket pair should be created");
        let own = server.peer_cred().expect("peer credentials should be available").uid();
        let host = host(vec![own.wrapping_add(1)], 1, 1 << 30);
        let mut deciding = PendingConnection::new(server, host.clone());
        offer::send(&client, Message::new(OfferContent::Offer, 1 << 16), &[]).expect("offer should be sent");
        let decision =
            poll_fn(|context| deciding.poll(WaitEvent::Data, context)).await.expect("server should process the offer");
        assert_eq!(decision, Decision::Plain);
        client.readable().await.expect("client socket should become readable");
        let answer = offer::take(&client)
            .expect("client should read the reply to its offer")
            .expect("reply to the offer should be a complete message");
        assert_eq!(answer.content, OfferContent::Refused);
        assert_eq!(host.shared().connections, 0);
    }

    #[test]
    fn ring_sizes_shrink_with_remaining_memory() {
        let host = host(Vec::new(), 10_000, 64 << 20);
        let permits: Vec<_> = (0..10_000).map_while(|_| Permit::take(&host, 1 << 20).ok()).collect();
        let sizes: Vec<_> = permits.iter().map(|permit| permit.ring_max).collect();
        assert_eq!(sizes[0], 1 << 20);
        assert!(sizes.is_sorted_by(|one, next| one >= next) && sizes.last() == Some(&RING_MIN), "{sizes:?}");
        assert!(sizes.len() > 100 && host.shared().bytes <= 64 << 20);
        assert!(matches!(Permit::take(&host, 1 << 20), Err(Refusal::Memory(_))));
        drop(permits);
        let left = host.shared();
        assert_eq!((left.bytes, left.connections), (0, 0));
    }

    #[test]
    fn no_more_connections_share_memory_than_may() {
        let host = host(Vec::new(), 1, 64 << 20);
        let permit = Permit::take(&host, 1 << 20).expect("first connection should acquire a permit");
        assert!(matches!(Permit::take(&host, 1 << 20), Err(Refusal::Full(1))));
        drop(permit);
        Permit::take(&host, 1 << 20).expect("released permit should be available again");
    }
}
