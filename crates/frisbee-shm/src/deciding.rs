//! A connection that a server has accepted, until it is known whether its client offers shared memory.

use crate::bell::{self, Bells};
use crate::memory::{End, Memory};
use crate::offer::{self, Message, Says};
use crate::ring::Violation;
use crate::shared::Shared;
use crate::waiting::{Wait, Waiting};
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixStream;

/// Whom a server shares memory with, and how much.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) ring: u32,
    pub(crate) users: Vec<u32>,
    pub(crate) shared_max: usize,
    pub(crate) spin: Duration,
    /// Connections that share memory.
    pub(crate) shared: AtomicUsize,
}

/// One of the connections that a server shares memory with.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Host>);

impl Permit {
    fn take(host: &Arc<Host>) -> Option<Self> {
        let more = |shared: usize| (shared < host.shared_max).then_some(shared + 1);
        host.shared.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).ok()?;
        Some(Self(host.clone()))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.0.shared.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Why a server shares no memory with a client that offers to.
#[derive(Debug)]
enum Refusal {
    Version(u16),
    User(u32),
    Full(usize),
    System(io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version(version) => write!(f, "version {version} is not known"),
            Self::User(user) => write!(f, "user {user} is not among those allowed"),
            Self::Full(max) => write!(f, "{max} connections share memory already"),
            Self::System(error) => write!(f, "there is no memory to share: {error}"),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::System(error)
    }
}

/// Where the bytes of a connection go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Decision {
    Plain,
    Shared,
}

/// A connection of which nothing has been read, or whose client has been offered memory in return.
#[derive(Debug)]
pub(crate) struct Deciding {
    socket: UnixStream,
    host: Arc<Host>,
    waiting: Waiting,
    /// What the client may take.
    made: Option<Made>,
}

#[derive(Debug)]
struct Made {
    memory: Memory,
    bells: Bells,
    permit: Permit,
}

impl Deciding {
    pub(crate) fn new(socket: UnixStream, host: Arc<Host>) -> Self {
        Self { socket, host, waiting: Waiting::default(), made: None }
    }

    pub(crate) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    pub(crate) fn into_socket(self) -> UnixStream {
        self.socket
    }

    /// The connection of a client that has taken the memory.
    pub(crate) fn into_shared(self) -> io::Result<Shared<Option<Permit>>> {
        let Made { memory, bells, permit } = self.made.ok_or(Violation::Handshake)?;
        Ok(Shared::new(End::Server, memory, bells, self.socket, self.host.spin, Some(permit)))
    }

    /// Ready when the client has decided. A server that writes first decides itself: its client waits for that, and so
    /// does not offer.
    pub(crate) fn poll(&mut self, wait: Wait, context: &mut Context<'_>) -> Poll<io::Result<Decision>> {
        let waker = self.waiting.enter(wait, context.waker()).clone();
        let mut context = Context::from_waker(&waker);
        loop {
            if self.socket.poll_read_ready(&mut context)?.is_pending() {
                let writes_first = wait == Wait::Room && self.made.is_none();
                return if writes_first { Poll::Ready(Ok(Decision::Plain)) } else { Poll::Pending };
            }
            match self.socket.try_io(Interest::READABLE, || look(&self.socket, self.made.is_some())) {
                // The next look at the socket has this task woken.
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

    /// Answers what the client says. `None` if it has to say more.
    fn handle(&mut self, message: Option<Message>) -> io::Result<Option<Decision>> {
        if self.made.is_some() {
            return match message.map(|message| message.says) {
                Some(Says::Taken) => Ok(Some(Decision::Shared)),
                Some(Says::Declined) => {
                    self.made = None;
                    Ok(Some(Decision::Plain))
                }
                _ => Err(Violation::Handshake.into()),
            };
        }
        let Some(message) = message.filter(|message| message.says == Says::Offer) else {
            return Ok(Some(Decision::Plain));
        };
        // It has only been looked at so far.
        offer::take(&self.socket)?;
        match self.accept(message) {
            Ok(()) => Ok(None),
            Err(refusal) => {
                tracing::debug!(%refusal, "a client goes on without shared memory");
                offer::send(&self.socket, Message::new(Says::Refused, 0), &[])?;
                Ok(Some(Decision::Plain))
            }
        }
    }

    /// Makes memory for a client and sends it.
    fn accept(&mut self, offer: Message) -> Result<(), Refusal> {
        if offer.version != offer::VERSION {
            return Err(Refusal::Version(offer.version));
        }
        let user = self.socket.peer_cred()?.uid();
        if !self.host.users.contains(&user) {
            return Err(Refusal::User(user));
        }
        let permit = Permit::take(&self.host).ok_or(Refusal::Full(self.host.shared_max))?;
        crate::system::check_system()?;
        let ring = self.host.ring.min(offer.ring);
        crate::system::check_ring(ring)?;
        let (memory, file) = Memory::create(ring)?;
        let (own, peer) = (bell::pipe()?, bell::pipe()?);
        let bells = Bells::open(&own, &peer)?;
        offer::send(&self.socket, Message::new(Says::Accepted, ring), &[file.as_fd(), peer.as_fd(), own.as_fd()])?;
        self.made = Some(Made { memory, bells, permit });
        Ok(())
    }
}

/// What the client says: looked at while it may be anything, taken once it has to be an answer.
fn look(socket: &UnixStream, is_answer: bool) -> io::Result<Option<Message>> {
    if is_answer { offer::take(socket) } else { offer::peek(socket) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;

    #[tokio::test]
    async fn another_user_is_refused_and_goes_on_without_shared_memory() {
        let (client, server) = UnixStream::pair().expect("there is room for two descriptors");
        let own = server.peer_cred().expect("the system tells").uid();
        let (spin, shared) = (Duration::ZERO, AtomicUsize::new(0));
        let host = Arc::new(Host { ring: 1 << 16, users: vec![own.wrapping_add(1)], shared_max: 1, spin, shared });
        let mut deciding = Deciding::new(server, host.clone());
        offer::send(&client, Message::new(Says::Offer, 1 << 16), &[]).expect("it is open");
        let decision = poll_fn(|context| deciding.poll(Wait::Data, context)).await.expect("it is an offer");
        assert_eq!(decision, Decision::Plain);
        client.readable().await.expect("it is open");
        let answer = offer::take(&client).expect("it is open").expect("it is a message");
        assert_eq!(answer.says, Says::Refused);
        assert_eq!(host.shared.load(Ordering::Relaxed), 0);
    }
}
