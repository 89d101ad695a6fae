//! Transports: TCP, Unix sockets, TLS, in-memory connections, and user-defined types.

#[cfg(feature = "tls")]
mod charged_tls;
pub(crate) mod endpoint;
pub(crate) mod proxied;
pub(crate) mod raw;
pub(crate) mod read_pauses;
#[cfg(unix)]
pub(crate) mod send;
#[cfg(target_os = "linux")]
pub(crate) mod split_send;
#[cfg(unix)]
pub(crate) mod unix;

use crate::RawTransport;
use bytes::{Buf, Bytes};
use std::any::Any;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::task::coop;
#[cfg(feature = "tls")]
use {
    self::charged_tls::ChargedTls,
    crate::account::Account,
    crate::tls::{CertificateDer, TlsStream, peer_certificates},
    std::sync::Arc,
};

/// Buffer size in bytes of an in-memory connection, for each direction. Equal to the size of one read.
const MEMORY_PIPE: usize = 64 * 1024;

/// Maximum number of unsent bytes in the system's buffer of a TCP socket, `TCP_NOTSENT_LOWAT`. Later packets cannot
/// overtake these bytes, which amount to up to 4 MiB without this limit. The socket becomes writable when half of them
/// have been sent, which leaves a busy driver 5 ms at 100 Mbit/s.
#[cfg(target_os = "linux")]
pub(crate) const UNSENT_MAX: u32 = 128 * 1024;

/// Limits how many unsent bytes the system buffers for a TCP socket. For a listener, the limit applies to the sockets
/// that it accepts.
#[cfg(target_os = "linux")]
pub(crate) fn limit_unsent<'a>(socket: impl Into<socket2::SockRef<'a>>) {
    // Ignore an error, because the limit is only an optimization.
    let _ = socket.into().set_tcp_notsent_lowat(UNSENT_MAX);
}

/// Does nothing. This platform lacks the option, or the crates we use do not support it.
#[cfg(not(target_os = "linux"))]
pub(crate) fn limit_unsent<S>(_socket: S) {}

/// Creates the two ends of an in-memory connection. Bytes written to one end are read from the other.
///
/// In-memory connections are for tests, and for services in the same process. Dropping one end ends the input of the
/// other. Pass one end to [`ClientBuilder::connect_io`](crate::ClientBuilder::connect_io) and the other to
/// [`Acceptor::serve_connection`](crate::Acceptor::serve_connection).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Server, memory};
/// use frisbee_requests::Requester;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = Operation::user(10).expect("operation number should be in the user range");
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

/// Copies bytes that were received earlier from `rest` to a reader's buffer, up to the free space of the buffer.
pub(crate) fn fill(buffer: &mut ReadBuf<'_>, rest: &mut Bytes) {
    let count = rest.len().min(buffer.remaining());
    buffer.put_slice(&rest[..count]);
    rest.advance(count);
    if rest.is_empty() {
        *rest = Bytes::new(); // Release the memory.
    }
}

/// A byte stream that can be used as a transport.
pub trait Io: AsyncRead + AsyncWrite + Any + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Io for T {}

/// Transport of a connection. A single type, so that connection code is compiled only once.
pub enum Transport {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// A shared-memory transport, or a Unix socket over which the client may still offer shared memory.
    #[cfg(all(feature = "shm", target_os = "linux"))]
    Shared(crate::shm::Stream),
    /// TLS of a server.
    #[cfg(feature = "tls")]
    Secured(Box<ChargedTls>),
    /// Any other transport: TLS of clients, in-memory connections, and types supplied by the user.
    Other(Box<dyn Io>),
}

/// Evaluates an expression for the stream inside a [`Transport`], whatever its type.
macro_rules! each {
    ($transport:expr, $io:ident => $value:expr) => {
        match $transport {
            Transport::Tcp($io) => $value,
            #[cfg(unix)]
            Transport::Unix($io) => $value,
            #[cfg(all(feature = "shm", target_os = "linux"))]
            Transport::Shared($io) => $value,
            #[cfg(feature = "tls")]
            Transport::Secured($io) => $value,
            Transport::Other($io) => $value,
        }
    };
}

impl Transport {
    /// Creates a transport from a stream of any type. Tokio sockets are recognized and stored unboxed.
    pub(crate) fn of<T: Io>(io: T) -> Self {
        let mut io = Some(io);
        let any: &mut dyn Any = &mut io;
        if let Some(socket) = any.downcast_mut().and_then(Option::take) {
            #[cfg(unix)]
            send::disable_signal(&socket);
            return Self::Tcp(socket);
        }
        #[cfg(unix)]
        if let Some(socket) = any.downcast_mut().and_then(Option::take) {
            send::disable_signal(&socket);
            return Self::Unix(socket);
        }
        #[cfg(all(feature = "shm", target_os = "linux"))]
        if let Some(stream) = any.downcast_mut().and_then(Option::take) {
            return Self::Shared(stream);
        }
        Self::Other(Box::new(io.expect("transport should not have been moved out before")))
    }

    /// Returns the stream, for comparing its type.
    pub(crate) fn as_any(&self) -> &dyn Any {
        match self {
            Self::Tcp(socket) => socket,
            #[cfg(unix)]
            Self::Unix(socket) => socket,
            #[cfg(all(feature = "shm", target_os = "linux"))]
            Self::Shared(stream) => stream,
            #[cfg(feature = "tls")]
            Self::Secured(secured) => secured.get_ref(),
            Self::Other(io) => &**io,
        }
    }

    pub(crate) fn into_any(self) -> Box<dyn Any> {
        match self {
            Self::Tcp(socket) => Box::new(socket),
            #[cfg(unix)]
            Self::Unix(socket) => Box::new(socket),
            #[cfg(all(feature = "shm", target_os = "linux"))]
            Self::Shared(stream) => Box::new(stream),
            #[cfg(feature = "tls")]
            Self::Secured(secured) => Box::new(secured.into_inner()),
            Self::Other(io) => io,
        }
    }

    /// Moves the transport from its previous runtime's reactor to that of the current runtime. Sockets are moved
    /// without duplicating the descriptor.
    pub(crate) fn moved(self) -> io::Result<Self> {
        match self {
            Self::Tcp(socket) => TcpStream::from_std(socket.into_std()?).map(Self::Tcp),
            #[cfg(unix)]
            Self::Unix(socket) => UnixStream::from_std(socket.into_std()?).map(Self::Unix),
            #[cfg(all(feature = "shm", target_os = "linux"))]
            Self::Shared(mut stream) => stream.move_to_current_runtime().map(|()| Self::Shared(stream)),
            #[cfg(feature = "tls")]
            Self::Secured(mut secured) => {
                secured.get_mut().get_mut().0.move_to_current_runtime().map(|()| Self::Secured(secured))
            }
            Self::Other(mut io) => move_wrapped(&mut *io).map(|()| Self::Other(io)),
        }
    }

    /// Returns whether the transport may buffer written bytes until it is flushed.
    pub(crate) fn buffers(&self) -> bool {
        match self {
            #[cfg(feature = "tls")]
            Self::Secured(_) => true,
            Self::Other(_) => !self.as_any().is::<DuplexStream>(),
            _ => false,
        }
    }
}

/// Certificate chain that a peer presented, if any.
#[cfg(feature = "tls")]
type Certificates = Option<Box<Arc<[CertificateDer<'static>]>>>;

/// A TLS stream after its handshake, with the certificates of the peer.
#[cfg(feature = "tls")]
pub(crate) type Secured = (TlsStream<RawTransport>, Certificates);

#[cfg(feature = "tls")]
impl Transport {
    /// Performs the TLS handshake as a server.
    pub(crate) async fn accept_tls(
        self,
        tls: &crate::tls::Handshakes,
        silence: impl crate::tls::CallerHandshakes,
    ) -> Result<Secured, crate::CloseReason> {
        let stream = tls.accept(RawTransport::whole(self), &silence).await?;
        let certificates = peer_certificates(&stream);
        Ok((stream, certificates))
    }

    /// Creates the transport of an accepted TLS connection, and charges the memory of TLS to `account`.
    pub(crate) fn secured(stream: TlsStream<RawTransport>, account: &Arc<Account>) -> Self {
        Self::Secured(Box::new(ChargedTls::new(stream, account)))
    }

    /// Performs the TLS handshake as a client. Also returns whether the server may still reject the client's
    /// certificate.
    pub(crate) async fn connect_tls(
        self,
        tls: &crate::tls::ClientTls,
        address: &str,
        name: Option<&str>,
    ) -> Result<((Self, Certificates), bool), crate::tls::TlsError> {
        let (stream, may_be_refused) = tls.connect(RawTransport::whole(self), address, name).await?;
        let certificates = peer_certificates(&stream);
        Ok(((Self::Other(Box::new(stream)), certificates), may_be_refused))
    }
}

impl AsyncRead for Transport {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), io => Pin::new(io).poll_read(context, buffer))
    }
}

impl AsyncWrite for Transport {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        // As a fast path, write before registering the task, because a socket usually accepts everything.
        if let Self::Tcp(socket) = &*self {
            let budget = ready!(coop::poll_proceed(context));
            let written = socket.try_write(bytes);
            if !matches!(&written, Err(error) if error.kind() == io::ErrorKind::WouldBlock) {
                budget.made_progress();
                return Poll::Ready(written);
            }
        }
        // Only recent versions of std suppress SIGPIPE in writes to a Unix socket.
        #[cfg(unix)]
        if let Self::Unix(socket) = &*self {
            return send::poll_send_unix(socket, context, &[IoSlice::new(bytes)]);
        }
        each!(self.get_mut(), io => Pin::new(io).poll_write(context, bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        from: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        #[cfg(unix)]
        match &*self {
            Self::Tcp(socket) => return send::poll_send_tcp(socket, context, from),
            Self::Unix(socket) => return send::poll_send_unix(socket, context, from),
            _ => {}
        }
        each!(self.get_mut(), io => Pin::new(io).poll_write_vectored(context, from))
    }

    fn is_write_vectored(&self) -> bool {
        each!(self, io => io.is_write_vectored())
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), io => Pin::new(io).poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        each!(self.get_mut(), io => Pin::new(io).poll_shutdown(context))
    }
}

/// Moves the socket within a transport from its previous reactor to that of the current runtime.
fn move_wrapped(io: &mut dyn Io) -> io::Result<()> {
    let io: &mut dyn Any = io;
    let tcp = |socket: &mut TcpStream| TcpStream::from_std(second(socket)?.into()).map(|moved| *socket = moved);
    let moved = move_if(io, tcp).or_else(|| move_if(io, RawTransport::move_to_current_runtime));
    #[cfg(unix)]
    let moved = moved.or_else(|| {
        move_if(io, |socket: &mut UnixStream| UnixStream::from_std(second(socket)?.into()).map(|moved| *socket = moved))
    });
    #[cfg(all(feature = "shm", target_os = "linux"))]
    let moved = moved.or_else(|| move_if(io, crate::shm::Stream::move_to_current_runtime));
    moved.unwrap_or(Ok(()))
}

/// Moves a transport to the current runtime if it is a `T` or a TLS stream over a `T`. Returns `None` for other types.
fn move_if<T: 'static>(io: &mut dyn Any, renew: impl Fn(&mut T) -> io::Result<()>) -> Option<io::Result<()>> {
    #[cfg(feature = "tls")]
    if let Some(secured) = io.downcast_mut::<TlsStream<T>>() {
        return Some(renew(secured.get_mut().0));
    }
    io.downcast_mut().map(renew)
}

/// Duplicates the descriptor of a socket, because the type that owns the original descriptor cannot release it.
#[cfg(unix)]
pub(crate) fn second(socket: &impl std::os::fd::AsFd) -> io::Result<std::os::fd::OwnedFd> {
    socket.as_fd().try_clone_to_owned()
}

#[cfg(windows)]
pub(crate) fn second(socket: &impl std::os::windows::io::AsSocket) -> io::Result<std::os::windows::io::OwnedSocket> {
    socket.as_socket().try_clone_to_owned()
}
