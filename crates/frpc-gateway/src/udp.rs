//! JSON-RPC over UDP. A datagram contains one JSON-RPC request or batch, and its reply is a single datagram.
//!
//! This file contains the settings. `udp/listener.rs` serves the socket, `udp/sources.rs` keeps the state of recent
//! peers, and `udp/rates.rs` limits their rates. A [`Session`](crate::json_rpc::Session) makes the calls, as in the
//! other JSON-RPC transports.
//!
//! # Decisions
//!
//! * **A reply is at most a few times as long as its request.** The source of a datagram is not verified, so longer
//!   replies would turn the server into an amplifier for attacks on the owner of a spoofed address. A client that
//!   expects a long reply pads its request with spaces.
//! * **Invalid datagrams get no reply.** Otherwise, an attacker could use a spoofed address to make two servers reply
//!   to each other's errors forever.
//! * **A plain tokio socket is used.** Batched system calls (`recvmmsg`, GRO) cost a tenth more with one call in flight
//!   per peer and save a fifth with ten: docs/performance/gateway.md.

mod listener;
mod rates;
mod sources;

pub(crate) use listener::serve;

use frpc::SettingError;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

/// Default maximum size of a reply in bytes. IPv6 links carry packets of at least 1280 bytes, so replies of this size
/// are not fragmented, even with the headers of IP, UDP and tunnels.
const REPLY_MAX: usize = 1200;

/// Default limit of a reply's size as a multiple of the request, which prevents amplification attacks. QUIC permits the
/// same factor to unverified addresses.
const REPLY_FACTOR: usize = 3;

/// Default rate limit and burst in datagrams per source address.
const RATE: (u32, u32) = (1000, 2000);

/// Default maximum number of datagrams with calls in progress, over all peers.
const CALLS_MAX: usize = 4096;

/// Default timeout of the calls in a datagram. Without it, the calls of a vanished client would run on, because UDP
/// does not report that the client is gone.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// A socket for JSON-RPC over UDP, with its limits; see [`Gateway::udp`](crate::Gateway::udp).
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
#[must_use]
pub struct Udp {
    socket: Arc<UdpSocket>,
    local: SocketAddr,
    reply_max: usize,
    reply_factor: usize,
    /// Rate limit per source address: datagrams per second, and the burst.
    rate: (u32, u32),
    calls_max: usize,
    call_timeout: Duration,
}

impl Udp {
    /// Binds a UDP socket.
    ///
    /// # Errors
    /// If no address can be bound.
    pub fn bind(address: impl ToSocketAddrs) -> io::Result<Self> {
        Self::from_socket(UdpSocket::bind(address)?)
    }

    /// Uses a socket that is already bound.
    ///
    /// # Errors
    /// If the socket cannot be set to non-blocking mode or its local address cannot be determined.
    pub fn from_socket(socket: UdpSocket) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        let local = socket.local_addr()?;
        Ok(Self {
            socket: Arc::new(socket),
            local,
            reply_max: REPLY_MAX,
            reply_factor: REPLY_FACTOR,
            rate: RATE,
            calls_max: CALLS_MAX,
            call_timeout: CALL_TIMEOUT,
        })
    }

    /// Returns the local address of the socket, with the actual port if port 0 was requested.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Sets the maximum size of a reply in bytes. A longer reply is replaced by an error. Defaults to 1200, which is
    /// not fragmented on common links.
    pub fn reply_max(mut self, bytes: usize) -> Self {
        self.reply_max = bytes;
        self
    }

    /// Sets the maximum ratio between the sizes of a reply and its request, at least 1. A longer reply is replaced by
    /// an error, or omitted if the error is too long. Defaults to 3.
    ///
    /// **A higher factor makes the server an effective amplifier for attacks**, unless its network rejects spoofed
    /// addresses.
    pub fn reply_factor(mut self, factor: usize) -> Self {
        self.reply_factor = factor.max(1);
        self
    }

    /// Sets the rate limit and burst in datagrams per source address. Excess datagrams are dropped. IPv6 addresses are
    /// grouped by their /64 network. Defaults to 1000 per second with a burst of 2000.
    pub fn rate(mut self, per_second: u32, burst: u32) -> Self {
        self.rate = (per_second, burst);
        self
    }

    /// Sets the maximum number of datagrams with calls in progress, over all peers. Beyond this, calls that do not
    /// complete immediately are dropped. A single network may use at most half of it. Defaults to 4096.
    pub fn calls_max(mut self, calls: usize) -> Self {
        self.calls_max = calls;
        self
    }

    /// Sets the timeout of the calls in a datagram. Calls that exceed it are cancelled without a reply. Defaults to 30
    /// s.
    pub fn call_timeout(mut self, timeout: Duration) -> Self {
        self.call_timeout = timeout;
        self
    }

    /// Returns an error if a limit or timeout is zero.
    pub(crate) fn check(&self) -> Result<(), SettingError> {
        SettingError::check_positive(&[("udp.reply_max", self.reply_max), ("udp.calls_max", self.calls_max)])?;
        SettingError::check_positive(&[("udp.rate.per_second", self.rate.0), ("udp.rate.burst", self.rate.1)])?;
        SettingError::check_positive(&[("udp.call_timeout", self.call_timeout)])
    }

    /// Returns the maximum size of a reply to a request of `request` bytes.
    fn reply_limit(&self, request: usize) -> usize {
        request.saturating_mul(self.reply_factor).min(self.reply_max)
    }
}
