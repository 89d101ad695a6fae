//! Connection handles. They are cheap to clone and can be used from any thread.

use self::attachments::Attachments;
use self::stream::Stream;
use crate::account::network;
use crate::debug::opaque_debug;
use crate::executor::tasks::{Home, JobSlotId, Placement, TaskOwner, Tasks, has_threads};
use crate::mailbox::Mailbox;
use crate::mailbox::deferred::Deferred;
use crate::mailbox::hand_off::HandOffAccepted;
use crate::sync::AtomicBool;
pub(crate) use crate::transport::endpoint::EndpointInfo;
#[cfg(unix)]
use crate::transport::endpoint::UnixCredentials;
use crate::{HandOffError, Operation, Packet, PeerKind, RawTransport, SendError, TrySendError};
use bytes::Bytes;
use frisbee_core::Role;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use tokio::runtime::Handle;

pub(crate) mod attachments;
pub(crate) mod blocked;
mod closing;
pub(crate) mod ext;
pub(crate) mod hand_off;
pub(crate) mod lifetime;
mod making;
pub(crate) mod stream;
mod task;

pub use ext::ConnectionExt;
pub(crate) use lifetime::{Age, AgeLimit, Lifetime};
pub use task::{AbortHandle, Task};

/// Close reason of a connection whose router panicked. A panic is a bug in the router.
pub(crate) const PANICKED: &str = "the router panicked";

/// Handle of a connection.
///
/// Clones refer to the same connection. It stays open until either peer closes it. Dropping handles does not close it.
///
/// ```
/// use frisbee::{Client, Connection, Handlers, Operation, Packet, PacketId, SendError, Server, memory};
///
/// const PROGRESS: Operation = Operation::user(10).expect("operation number should be in the user range");
///
/// async fn report(connection: Connection) -> Result<(), SendError> {
///     for percent in ["10", "50", "100"] {
///         connection.send(&Packet::new(PacketId(0), PROGRESS, percent)).await?;
///     }
///     connection.close(); // Once these packets have been written.
///     Ok(())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (progress, mut shown) = tokio::sync::mpsc::unbounded_channel();
/// # let acceptor = Server::builder().build(Handlers::new().on(PROGRESS, move |_connection, packet| {
/// #     progress.send(packet.body).expect("receiver of the channel should not be dropped");
/// #     async { None }
/// # }))?;
/// # let (here, there) = memory();
/// # tokio::spawn(async move { acceptor.serve_connection(there).await });
/// let connection = Client::builder().connect_io(here, Handlers::new()).await?;
/// tokio::spawn(report(connection.clone()));
/// println!("the connection has ended: {}", connection.closed().await);
/// # for percent in ["10", "50", "100"] {
/// #     assert_eq!(shown.recv().await.as_deref(), Some(percent.as_bytes()));
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Connection(pub(crate) Arc<ConnectionShared>);

/// State shared by the handles of a connection and its driver.
pub(crate) struct ConnectionShared {
    pub(crate) mailbox: Mailbox,
    pub(crate) work: Tasks,
    pub(crate) deferred: Deferred,
    pub(crate) attachments: Attachments,
    pub(crate) role: Role,
    /// Whether the connection is nested in an adapter connection. If so, only the outer connection is counted in
    /// statistics.
    pub(crate) is_within: bool,
    /// Whether the peer has closed its write half and all packets received before that have been routed.
    pub(crate) is_at_eof: AtomicBool,
    /// Operation of the packet that the router is handling, or 0. Shown by [`inspect::view`](crate::inspect::view).
    routed: AtomicU16,
    /// Number of peer-opened streams that still have handles at this end, including ended streams.
    pub(crate) peer_streams: AtomicU32,
    /// Maximum number of calls that the peer may have in flight.
    calls_max: u32,
    /// Maximum size in bytes of a packet body that the peer may send.
    body_max: u32,
    /// Maximum number of streams that the peer may have open. Only the driver uses this field and the next two. They
    /// are stored here because the allocation of the driver's task is rounded up to a multiple of 128 bytes.
    pub(crate) streams_max: u32,
    /// Maximum duration of one poll of the connection's driver, in microseconds.
    turn_max: u32,
    /// Initial credit of a new stream: number of bytes that the peer may send before more credit is granted.
    pub(crate) stream_credit: u32,
    /// Runtime that started the server or connected the client. Handlers and tasks are spawned in it.
    pub(crate) runtime: Handle,
    /// Worker or io_uring thread that drives the connection. Empty if the caller's runtime drives it.
    pub(crate) home: OnceLock<Box<dyn Home>>,
    /// Times at which the connection is drained and closed, if the server limits the age of its connections.
    pub(crate) lifetime: Option<Box<Lifetime>>,
    ends: EndpointInfo,
}

impl TaskOwner for ConnectionShared {
    fn tasks(&self) -> &Tasks {
        &self.work
    }

    fn runtime(&self) -> &Handle {
        &self.runtime
    }

    fn set_routed(&self, operation: u16) {
        self.routed.store(operation, Ordering::Relaxed);
    }
}

impl Connection {
    /// Returns a number that identifies the connection while at least one of its handles exists.
    pub(crate) fn address_of_shared(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn ends(&self) -> &EndpointInfo {
        &self.0.ends
    }

    /// Sends a packet. Waits while the pending output exceeds [`backlog_max`](crate::Config::backlog_max). For a body
    /// longer than [`BODY_MAX_LEAST`](crate::BODY_MAX_LEAST), also waits until the maximum body size of the peer is
    /// known.
    ///
    /// A packet received on another connection can be forwarded unchanged. A large body shares the read buffer instead
    /// of being copied, which is useful in proxies; see also [`Outbox::forward`](crate::Outbox::forward).
    ///
    /// # Errors
    /// If the connection has ended or the body is too long.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, nothing is sent.
    pub async fn send(&self, packet: &Packet) -> Result<(), SendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize {
            self.peer_known().await?; // The peer would close the connection if the body is too long for it.
        }
        let mut waiter = self.waiter();
        poll_fn(|context| waiter.poll_send(context, |outbox| outbox.forward(packet))).await??;
        Ok(())
    }

    /// Sends a packet if the pending output is below [`backlog_max`](crate::Config::backlog_max).
    ///
    /// # Errors
    /// [`TrySendError::Full`] if the backlog is full, other senders are waiting, or a body longer than
    /// [`BODY_MAX_LEAST`](crate::BODY_MAX_LEAST) would have to wait until the peer's limit is known. Otherwise like
    /// [`send`](Self::send).
    pub fn try_send(&self, packet: &Packet) -> Result<(), TrySendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize && self.peer() == PeerKind::Unknown {
            return Err(self.close_reason().map_or(TrySendError::Full, |reason| SendError::Closed(reason).into()));
        }
        Ok(self.try_send_with(|outbox| outbox.forward(packet))??)
    }

    /// Opens a stream by sending its first packet.
    ///
    /// Waits until the kind of the peer is known, which takes a round trip on a new connection; until the pending
    /// output is below [`backlog_max`](crate::Config::backlog_max); until the peer permits another stream; and until a
    /// pending [hand-off request](Self::hand_off) of this end has been answered.
    ///
    /// ```
    /// # async fn example(connection: frisbee::Connection) -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::bytes::Bytes;
    ///
    /// let mut stream = connection.open_stream(&Bytes::from_static(b"subscribe")).await?;
    /// while let Some(message) = stream.recv().await {
    ///     println!("{} bytes", message.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the connection has ended, or `first` is empty or too long.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, no stream is opened.
    pub async fn open_stream(&self, first: &Bytes) -> Result<Stream, SendError> {
        self.open_stream_with(|| first.clone()).await
    }

    /// Returns the kind of the peer, which may not be known yet.
    pub fn peer(&self) -> PeerKind {
        self.0.mailbox.lock().peer.clone()
    }

    /// Waits until it is known whether the peer supports the protocol extension, and returns the kind of the peer. A
    /// server knows it after the first packet, and a client after a round trip.
    ///
    /// # Errors
    /// If the connection ends before the kind is known.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn peer_known(&self) -> Result<PeerKind, SendError> {
        let mut watch = self.waiter();
        poll_fn(|context| self.0.mailbox.poll_peer(context, &mut watch)).await
    }

    /// Returns whether this end opened the connection rather than accepting it.
    pub fn is_dialled(&self) -> bool {
        self.0.role == Role::Client
    }

    /// Returns whether the peer has announced that it accepts no more calls and streams.
    pub fn is_going_away(&self) -> bool {
        self.0.mailbox.lock().going_away
    }

    /// Spawns a task that is aborted when the connection ends. A graceful shutdown waits for it.
    ///
    /// The task runs in the runtime that started the server or connected the client. Dropping the returned handle does
    /// not abort it.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let (here, _there) = tokio::io::duplex(4096);
    /// # let connection = frisbee::Client::builder().connect_io(here, frisbee::Handlers::new()).await?;
    /// let task = connection.spawn(std::future::pending());
    /// assert!(!task.is_finished());
    /// assert!(task.abort());
    /// assert!(task.is_finished());
    /// # Ok(())
    /// # }
    /// ```
    pub fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        AbortHandle { connection: self.clone(), slot: self.spawn_uncalled(Placement::Runtime, task) }
    }

    /// Spawns a task that does not count towards `calls_max`. Returns the task's job slot, or `None` if the connection
    /// has ended.
    fn spawn_uncalled(
        &self,
        placement: Placement,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Option<JobSlotId> {
        let spawned = self.spawn_within(None, None, None, placement, |guard| {
            Box::pin(async move {
                let _guard = guard;
                task.await;
            })
        });
        spawned.unwrap_or_default()
    }

    /// Sets the worker or io_uring thread that drives the connection.
    pub(crate) fn set_home(&self, home: Box<dyn Home>) {
        let _ = self.0.home.set(home);
    }

    /// Returns the operation of the packet that the router is currently handling, if any.
    pub(crate) fn routed(&self) -> Option<Operation> {
        Operation::user(self.0.routed.load(Ordering::Relaxed))
    }

    /// Returns whether the runtime has several threads. If so, a task started by [`spawn`](Self::spawn) may block one
    /// of them.
    pub(crate) fn has_threads(&self) -> bool {
        has_threads(&self.0.runtime)
    }

    /// Returns the maximum size of a received body in bytes; see [`body_max`](crate::Config::body_max). Routers apply
    /// it to decompressed bodies.
    pub fn body_max(&self) -> u32 {
        self.0.body_max
    }

    /// Returns whether both handles refer to the same connection.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the number of running tasks of this connection: pending handlers, and tasks that were spawned by
    /// [`spawn`](Self::spawn).
    pub fn running(&self) -> usize {
        self.0.work.len()
    }

    /// Requests a hand-off. If the peer accepts, returns the transport, which may then carry any other protocol.
    ///
    /// Nothing is sent after the request: senders on other handles wait, and no PINGs are exchanged. If the peer
    /// accepts, the connection ends with [`CloseReason::HandedOff`](crate::CloseReason::HandedOff) for all its handles.
    /// The new protocol may let the peer send first. Bytes that were already received are returned by the first reads
    /// from the transport. If the peer refuses, the connection continues as before.
    ///
    /// A hand-off requires that this end has dialled the connection, that the peer supports the [protocol
    /// extension](PeerKind), that no stream is open, and that no task is running. Other work in progress can be checked
    /// by [`hand_off_if`](crate::rpc::ConnectionExt::hand_off_if). If there is no reply within 30 s
    /// ([`hand_off_timeout`](crate::Config::hand_off_timeout)), the connection is closed.
    ///
    /// # Errors
    /// If the peer refuses or does not support the hand-off, or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request and notifies the peer. If the peer accepts nevertheless, the connection
    /// is closed.
    pub async fn hand_off(
        &self,
        operation: Operation,
        request: impl Into<Bytes>,
    ) -> Result<HandOffAccepted, HandOffError> {
        self.hand_off_if(operation, request, || Some(())).await
    }

    /// Detaches the transport without notifying the peer. Both ends must have agreed on this beforehand. Corresponds to
    /// `RawTransport()` of Go peers.
    ///
    /// Packets that handles have sent are written before the transport is detached. A partially received packet is
    /// completed and routed. Other bytes that were received but not routed are returned by the first reads from the
    /// transport. The connection then ends with [`CloseReason::HandedOff`](crate::CloseReason::HandedOff) for all its
    /// handles.
    ///
    /// This end cannot know where the packets of the peer end, or whether a PING of the peer is in flight. The peer
    /// should therefore not send anything until this end permits it by sending a byte on the transport. A router that
    /// knows the last packet should return [`Routed::HandOff`](crate::Routed::HandOff) instead.
    ///
    /// # Errors
    /// If the connection has ended, or a hand-off is in progress.
    ///
    /// # Cancel safety
    /// If the future is dropped, the connection either continues or is closed.
    pub async fn into_transport(self) -> Result<RawTransport, HandOffError> {
        hand_off::leave(&self).await
    }

    /// Returns the address of the peer, if the transport has one.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.0.ends.peer
    }

    /// Returns the network that the limits per caller apply to: the peer's IPv4 address or its IPv6 /64 network. If
    /// peers use more than 15 /64 networks of the same /48 network, returns the /48 network for the later ones. Returns
    /// `None` if the peer has no address.
    pub fn caller_network(&self) -> Option<IpAddr> {
        self.0.mailbox.account.network().or_else(|| Some(network(self.peer_addr()?.ip())))
    }

    /// Returns whether the peer communicates by datagrams without a connection. The [address](Self::peer_addr) of such
    /// a peer can be forged.
    pub fn is_connectionless(&self) -> bool {
        self.0.ends.is_connectionless
    }

    /// Returns the local address, if the transport has one.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.0.ends.local
    }

    /// Returns the credentials of the peer process on a Unix socket, as reported by the operating system.
    #[cfg(unix)]
    pub fn peer_credentials(&self) -> Option<UnixCredentials> {
        self.0.ends.credentials.as_deref().copied()
    }

    /// Returns the verified certificate chain of the peer, end-entity certificate first. Returns `None` without TLS
    /// and, at a server, if the client presented no certificate.
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[crate::tls::CertificateDer<'static>]>> {
        self.0.ends.certificates.as_deref()
    }
}

opaque_debug!([] Connection, "Connection", |this| peer = this.0.ends.peer, local = this.0.ends.local);
