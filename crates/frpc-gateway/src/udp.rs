//! JSON-RPC by datagrams: each is one message, a request or a batch, and each reply is one datagram.
//!
//! The settings are here, the socket in `udp/listener.rs`, its peers in `udp/sources.rs`, and their rates in
//! `udp/rates.rs`. Calls are those of a [`Session`](crate::json_rpc::Session), as in every other protocol.
//!
//! # Decisions
//!
//! * **A reply is at most a few times as long as its request.** The source of a datagram is not verified: a longer reply
//!   would turn the server into an amplifier against the owner of that address. A client that wants a longer reply pads
//!   its request with spaces.
//! * **A datagram that is no request gets no reply.** Two servers whose addresses a third party forges would otherwise
//!   answer each other's errors without end.
//! * **A plain socket of tokio.** Batched system calls (`recvmmsg`, GRO) cost a tenth more with one call in flight for each
//!   peer, and save a fifth with ten: docs/udp.md has the figures.

mod listener;
mod rates;
mod sources;

pub(crate) use listener::serve;

use rates::Rate;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// The longest datagram that passes all usual links without fragments: IPv6 has to carry 1280 bytes, less its header and
/// that of UDP, with room for tunnels.
const REPLY_MAX: usize = 1200;

/// QUIC lets a server send as much to an address that it has not verified.
const REPLY_FACTOR: usize = 3;

/// Datagrams per second and burst of one address.
const RATE: (u32, u32) = (1000, 2000);

/// Calls in progress of all peers.
const CALLS_MAX: usize = 4096;

/// How long a call may take: its client has no way to show that it is still there.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A socket for JSON-RPC by datagrams, and its limits; see [`Gateway::udp`](crate::Gateway::udp).
///
/// ```
/// use frpc::Server;
/// use frpc_gateway::{Gateway, ServeGateway as _, Udp};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let udp = Udp::bind("127.0.0.1:0")?;
/// println!("datagrams at {}", udp.local_addr());
/// let server = Server::builder().gateway(Gateway::new().udp(udp)).bind("127.0.0.1:0").await?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Udp {
    socket: Arc<UdpSocket>,
    local: SocketAddr,
    reply_max: usize,
    reply_factor: usize,
    rate: Rate,
    calls_max: usize,
    call_timeout: Duration,
}

impl Udp {
    /// Binds a socket.
    ///
    /// # Errors
    /// If no address can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::from_socket(UdpSocket::bind(address)?)
    }

    /// Takes a socket that is bound already.
    ///
    /// # Errors
    /// If the system refuses to use it without blocking.
    pub fn from_socket(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?;
        Ok(Self {
            socket: Arc::new(socket),
            local,
            reply_max: REPLY_MAX,
            reply_factor: REPLY_FACTOR,
            rate: Rate::new(RATE.0, RATE.1),
            calls_max: CALLS_MAX,
            call_timeout: CALL_TIMEOUT,
        })
    }

    /// The address of the socket, with the port that the system chose for port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Sets the longest reply, in bytes. Default: 1200, which no usual link has to fragment. A longer one becomes an
    /// error.
    #[must_use]
    pub fn reply_max(mut self, bytes: usize) -> Self {
        self.reply_max = bytes;
        self
    }

    /// Sets how many times as long as its request a reply may be, at least once. Default: 3. A longer reply becomes an
    /// error, or none if even that would be longer.
    ///
    /// **A higher factor makes the server useful for attacks on others**, unless its network is closed to forged
    /// addresses.
    #[must_use]
    pub fn reply_factor(mut self, factor: usize) -> Self {
        self.reply_factor = factor.max(1);
        self
    }

    /// Sets how many datagrams each address may send, per second and at once. Default: 1000 and 2000. For IPv6 that is a
    /// network of 64 bits. Further ones are dropped.
    #[must_use]
    pub fn rate(mut self, per_second: u32, burst: u32) -> Self {
        self.rate = Rate::new(per_second, burst);
        self
    }

    /// Sets how many datagrams may have calls in progress, over all peers. Default: 4096. Further calls that do not end
    /// at once are dropped.
    #[must_use]
    pub fn calls_max(mut self, calls: usize) -> Self {
        self.calls_max = calls;
        self
    }

    /// Sets how long the calls of a datagram may take. Default: 30 s. Then they are cancelled without a reply.
    #[must_use]
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// The longest reply to a request of so many bytes.
    fn reply_limit(&self, request: usize) -> usize {
        request.saturating_mul(self.reply_factor).min(self.reply_max)
    }
}
