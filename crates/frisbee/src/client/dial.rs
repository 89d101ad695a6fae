//! Connects the sockets of clients: to the addresses of a host in the manner of RFC 8305 (Happy Eyeballs), or to a Unix
//! socket.

use crate::transport::endpoint::EndpointInfo;
use crate::transport::{Transport, limit_unsent};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
#[cfg(unix)]
use std::path::Path;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::net::{TcpStream, ToSocketAddrs};

/// Delay before the client tries the next address of a host in parallel, as in RFC 8305 (Happy Eyeballs).
const ADDRESS_HEAD_START: Duration = Duration::from_millis(250);

/// Delay before retrying to connect to a Unix socket with a full listen backlog.
#[cfg(unix)]
const PAUSE: Duration = Duration::from_millis(10);

/// Connects to a server. `name` is the address as text. If it starts with `unix:`, the server listens on a Unix socket.
#[cfg_attr(not(unix), allow(unused_variables))]
pub(super) async fn open_socket(address: impl ToSocketAddrs, name: &str) -> io::Result<(Transport, EndpointInfo)> {
    #[cfg(unix)]
    if let Some(path) = name.strip_prefix("unix:") {
        let socket = connect_unix(path).await?;
        let ends = crate::transport::unix::ends(socket.peer_cred());
        return Ok((Transport::Unix(socket), ends));
    }
    let socket = connect_tcp(address).await?;
    limit_unsent(&socket);
    let (peer, local) = (socket.peer_addr()?, socket.local_addr()?);
    let ends = EndpointInfo { peer: Some(peer), local: Some(local), ..EndpointInfo::default() };
    Ok((Transport::Tcp(socket), ends))
}

/// Connects to a Unix socket. If the backlog of its listener is full, waits as for TCP.
///
/// # Cancel safety
/// Dropping the future closes the socket.
#[cfg(unix)]
pub async fn connect_unix(path: impl AsRef<Path>) -> io::Result<UnixStream> {
    loop {
        match UnixStream::connect(&path).await {
            // Linux reports a full backlog immediately for Unix sockets.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => tokio::time::sleep(PAUSE).await,
            connected => return connected,
        }
    }
}

/// Connects to the first address of a host that accepts a connection, and sets `TCP_NODELAY` on the socket.
///
/// # Cancel safety
/// Dropping the future closes all sockets.
pub async fn connect_tcp(address: impl ToSocketAddrs) -> io::Result<TcpStream> {
    let addresses = tokio::net::lookup_host(address).await?;
    let connect = |address| async move { reject_itself(TcpStream::connect(address).await?) };
    let socket = connect_to_any(addresses, connect).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Rejects a socket that is connected to itself. If a server on this host is down, the kernel may choose the server's
/// port as the local port of the client. TCP then connects the socket to itself, and the restarted server cannot bind
/// the port.
fn reject_itself(socket: TcpStream) -> io::Result<TcpStream> {
    if socket.peer_addr()? != socket.local_addr()? {
        return Ok(socket);
    }
    // Reset the connection, because it would otherwise occupy the port for another minute after it is closed.
    socket.set_zero_linger()?;
    Err(io::Error::new(io::ErrorKind::ConnectionRefused, "no server listens on the port"))
}

/// Connects to the first address that accepts a connection. The next attempt starts when an earlier one has failed or
/// the head start of the latest one has elapsed. Surplus sockets are closed.
async fn connect_to_any<F, T>(
    addresses: impl IntoIterator<Item = SocketAddr>,
    connect: impl Fn(SocketAddr) -> F,
) -> io::Result<T>
where
    F: Future<Output = io::Result<T>>,
{
    let mut addresses = addresses.into_iter().peekable();
    let mut failed = io::Error::new(io::ErrorKind::NotFound, "the name resolves to no address");
    let mut attempts: Vec<Pin<Box<F>>> = Vec::new();
    loop {
        attempts.extend(addresses.next().map(|address| Box::pin(connect(address))));
        if attempts.is_empty() {
            return Err(failed);
        }
        let ended = poll_fn(|context| {
            let poll = |(index, attempt): (usize, &mut Pin<Box<F>>)| match attempt.as_mut().poll(context) {
                Poll::Ready(connected) => Some((index, connected)),
                Poll::Pending => None,
            };
            let Some((index, connected)) = attempts.iter_mut().enumerate().find_map(poll) else { return Poll::Pending };
            drop(attempts.swap_remove(index));
            Poll::Ready(connected)
        });
        let connected = if addresses.peek().is_some() {
            tokio::time::timeout(ADDRESS_HEAD_START, ended).await.ok()
        } else {
            Some(ended.await)
        };
        match connected {
            Some(Ok(socket)) => return Ok(socket),
            Some(Err(error)) => failed = error,
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::pending;
    use tokio::time::Instant;

    fn addresses(count: u16) -> impl Iterator<Item = SocketAddr> {
        (1..=count).map(|port| SocketAddr::from(([192, 0, 2, 1], port)))
    }

    /// Regression test: a client connected to itself on the port of a stopped server, which could not start again.
    #[tokio::test]
    async fn socket_connected_to_itself_is_rejected() {
        let socket = tokio::net::TcpSocket::new_v4().expect("socket should be created");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("socket should bind to a free port");
        let address = socket.local_addr().expect("bound socket should have an address");
        let socket = socket.connect(address).await.expect("socket should connect to itself");
        let error = reject_itself(socket).expect_err("connection to itself should be rejected");
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
        std::net::TcpListener::bind(address).expect("server should listen on the port again");
    }

    #[tokio::test(start_paused = true)]
    async fn silent_addresses_delay_next_by_head_start() {
        let started = Instant::now();
        let connect =
            |address: SocketAddr| async move { if address.port() < 3 { pending().await } else { Ok(address.port()) } };
        let connected = tokio::time::timeout(Duration::from_secs(10), connect_to_any(addresses(9), connect)).await;
        assert_eq!(connected.expect("client should connect to the third address within the timeout").ok(), Some(3));
        assert_eq!(started.elapsed(), 2 * ADDRESS_HEAD_START);
    }

    #[tokio::test(start_paused = true)]
    async fn failing_addresses_add_no_connect_delay() {
        let started = Instant::now();
        let connect = |address: SocketAddr| async move {
            match address.port() {
                2 => tokio::time::sleep(4 * ADDRESS_HEAD_START).await,
                _ => return Err(io::Error::other("no listener")),
            }
            Ok(address.port())
        };
        assert_eq!(connect_to_any(addresses(4), connect).await.ok(), Some(2));
        assert_eq!(started.elapsed(), 4 * ADDRESS_HEAD_START);
        let error = connect_to_any(addresses(1), connect).await.expect_err("address without a listener should fail");
        assert_eq!(error.to_string(), "no listener");
        connect_to_any(addresses(0), connect).await.expect_err("empty list of addresses should fail");
    }
}
