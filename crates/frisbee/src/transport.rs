//! The carriers of bytes: TCP, Unix sockets, TLS, memory, and users' types.

pub(crate) mod proxied;
#[cfg(target_os = "linux")]
pub(crate) mod split_send;
#[cfg(unix)]
pub(crate) mod unix;

use crate::RawTransport;
use bytes::{Buf, Bytes};
use std::any::{Any, TypeId};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;

/// How many bytes a connection in memory holds in each direction before its writer waits: the size of one read.
const MEMORY_PIPE: usize = 64 * 1024;

/// Two ends of a connection in memory: bytes written into one are read from the other.
///
/// For tests, and for services in the same process. Dropping one end is the end of input for the other. One goes to
/// [`ClientBuilder::connect_io`](crate::ClientBuilder::connect_io), the other to
/// [`Acceptor::serve_connection`](crate::Acceptor::serve_connection).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Server, memory};
/// use frisbee_requests::Requester;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = Operation::user(10).expect("users have 10 and up");
/// let acceptor = Server::builder().build(Handlers::new().on(echo, |_connection, packet| async { Some(packet) }))?;
/// let (here, there) = memory();
/// tokio::spawn(async move { acceptor.serve_connection(there).await });
///
/// let requests = Requester::new();
/// let connection = Client::builder().connect_io(here, requests.clone()).await?;
/// assert_eq!(requests.call(&connection, echo, "no socket").await?.body, "no socket");
/// # Ok(())
/// # }
/// ```
pub fn memory() -> (DuplexStream, DuplexStream) {
    tokio::io::duplex(MEMORY_PIPE)
}

/// Moves bytes that were received earlier from `rest` to a reader, as far as there is room.
pub(crate) fn fill(buffer: &mut ReadBuf<'_>, rest: &mut Bytes) {
    let count = rest.len().min(buffer.remaining());
    buffer.put_slice(&rest[..count]);
    rest.advance(count);
    if rest.is_empty() {
        *rest = Bytes::new(); // Which gives its memory back.
    }
}

/// Bytes in both directions, of whatever kind.
pub(crate) trait Io: AsyncRead + AsyncWrite + Any + Send + Unpin {
    /// Leaves the reactor it belongs to for that of the current runtime, if it is a socket or has one beneath.
    fn move_to_current_runtime(&mut self) -> io::Result<()>;

    /// Whether written bytes may wait in it until it is flushed.
    fn buffers() -> bool
    where
        Self: Sized;

    /// Writes the beginning of a message that is in several places.
    fn poll_write_parts(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>>;
}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {
    fn move_to_current_runtime(&mut self) -> io::Result<()> {
        let io: &mut dyn Any = self;
        let moved = move_if::<TcpStream>(io).or_else(|| move_if::<RawTransport>(io));
        #[cfg(unix)]
        let moved = moved.or_else(|| move_if::<UnixStream>(io));
        #[cfg(all(feature = "shm", target_os = "linux"))]
        let moved = moved.or_else(|| move_if::<crate::shm::Stream>(io));
        moved.unwrap_or(Ok(()))
    }

    fn buffers() -> bool {
        let direct = [
            TypeId::of::<TcpStream>(),
            TypeId::of::<DuplexStream>(),
            #[cfg(unix)]
            TypeId::of::<UnixStream>(),
            #[cfg(all(feature = "shm", target_os = "linux"))]
            TypeId::of::<crate::shm::Stream>(),
        ];
        !direct.contains(&TypeId::of::<Self>())
    }

    fn poll_write_parts(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        #[cfg(target_os = "linux")]
        if let Some(socket) = (&*self as &dyn Any).downcast_ref::<TcpStream>()
            && split_send::is_due(from)
            && let Some(sent) = std::task::ready!(poll_send_split(socket, context, from))?
        {
            return Poll::Ready(Ok(sent));
        }
        self.poll_write_vectored(context, from)
    }
}

/// Sends the head of a long message apart; `None` if it is to be sent with the message.
#[cfg(target_os = "linux")]
fn poll_send_split(
    socket: &TcpStream,
    context: &mut Context<'_>,
    from: &[IoSlice<'_>],
) -> Poll<io::Result<Option<usize>>> {
    use std::os::fd::AsFd;
    loop {
        std::task::ready!(socket.poll_write_ready(context))?;
        let send = || split_send::send_split(socket.as_fd(), from).transpose();
        match socket.try_io(tokio::io::Interest::WRITABLE, send) {
            // The next look at the socket has this task woken.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            sent => return Poll::Ready(sent),
        }
    }
}

/// A socket that was accepted.
#[derive(Debug)]
pub enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// One whose client may offer to share memory.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    Sharing(crate::shm::Stream),
}

/// A transport that can leave one runtime's reactor for another's.
pub(crate) trait Movable: AsyncRead + AsyncWrite + Sized + Unpin + 'static {
    /// Enters the current runtime.
    fn renew(&mut self) -> io::Result<()>;

    /// As [`renew`](Self::renew), for its owner: a socket needs no second descriptor.
    fn moved(mut self) -> io::Result<Self> {
        self.renew().map(|()| self)
    }
}

impl Movable for TcpStream {
    fn renew(&mut self) -> io::Result<()> {
        *self = Self::from_std(second(self)?.into())?;
        Ok(())
    }

    fn moved(self) -> io::Result<Self> {
        Self::from_std(self.into_std()?)
    }
}

#[cfg(unix)]
impl Movable for UnixStream {
    fn renew(&mut self) -> io::Result<()> {
        *self = Self::from_std(second(self)?.into())?;
        Ok(())
    }

    fn moved(self) -> io::Result<Self> {
        Self::from_std(self.into_std()?)
    }
}

#[cfg(all(feature = "shm", target_os = "linux"))]
impl Movable for crate::shm::Stream {
    fn renew(&mut self) -> io::Result<()> {
        self.move_to_current_runtime()
    }
}

impl Movable for RawTransport {
    fn renew(&mut self) -> io::Result<()> {
        self.move_to_current_runtime()
    }
}

/// Moves a transport to the current runtime if it is a `T`, or TLS on one.
fn move_if<T: Movable>(io: &mut dyn Any) -> Option<io::Result<()>> {
    #[cfg(feature = "tls")]
    if let Some(secured) = io.downcast_mut::<crate::tls::TlsStream<T>>() {
        return Some(secured.get_mut().0.renew());
    }
    io.downcast_mut::<T>().map(T::renew)
}

/// By a second descriptor of the same socket, since the first cannot be taken out of its place.
#[cfg(unix)]
pub(crate) fn second(socket: &impl std::os::fd::AsFd) -> io::Result<std::os::fd::OwnedFd> {
    socket.as_fd().try_clone_to_owned()
}

#[cfg(windows)]
pub(crate) fn second(socket: &impl std::os::windows::io::AsSocket) -> io::Result<std::os::windows::io::OwnedSocket> {
    socket.as_socket().try_clone_to_owned()
}
