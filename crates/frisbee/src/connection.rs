//! Handles of connections, which are cheap to clone and can be used from any thread.

use self::attachments::Attachments;
use self::stream::{Stream, StreamOpening};
use crate::account::{MemoryBudget, MemoryCharge, MemoryWaiter, WAITING_COST};
use crate::debug::opaque_debug;
use crate::executor::tasks::{Home, Job, JobSlotId, Placement, TaskOwner, Tasks, has_threads};
use crate::mailbox::deferred::Deferred;
use crate::mailbox::hand_off::HandOffAccepted;
use crate::mailbox::{Mailbox, Place, Waiter};
pub(crate) use crate::transport::endpoint::EndpointInfo;
#[cfg(unix)]
use crate::transport::endpoint::UnixCredentials;
use crate::{HandOffError, Operation, Outbox, Packet, PacketId, PeerKind, RawTransport, SendError, TrySendError};
use bytes::Bytes;
use frisbee_core::Role;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;

pub(crate) mod attachments;
pub(crate) mod blocked;
mod closing;
pub(crate) mod hand_off;
pub(crate) mod lifetime;
mod making;
pub(crate) mod stream;
mod task;

pub(crate) use lifetime::{Age, AgeLimit, Lifetime};
pub use task::{AbortHandle, Task};

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
    /// Whether the peer has closed its write half and all packets that it sent before have been routed.
    pub(crate) is_at_eof: AtomicBool,
    /// Operation of the packet that the router is handling, or 0. Shown by [`Connection::view`].
    routed: AtomicU16,
    /// Number of streams opened by the peer for which this end still has handles, even if the streams have ended.
    pub(crate) guests: AtomicU32,
    /// Maximum number of calls that the peer may have in flight.
    calls_max: u32,
    /// Maximum size in bytes of a packet body that the peer may send.
    body_max: u32,
    /// Maximum number of streams that the peer may have open. Only the driver uses this field and the following ones.
    /// They are part of the shared state because the allocation of a task is rounded up to a multiple of 128 bytes.
    pub(crate) streams_max: u32,
    /// Maximum duration of one poll of the connection's driver, in microseconds.
    turn_max: u32,
    /// Initial credit of a new stream: number of bytes that the peer may send before more credit is granted.
    pub(crate) stream_credit: u32,
    /// Runtime in which the server was started or the client connected. Handlers and tasks are spawned in it.
    pub(crate) runtime: Handle,
    /// Worker that drives the connection. Empty if the caller's runtime drives it.
    pub(crate) home: OnceLock<Box<dyn Home>>,
    /// Times at which the connection is drained and closed, if the server limits the age of connections.
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
    /// of being copied, which is useful in proxies; see also [`Outbox::forward`].
    ///
    /// # Errors
    /// If the connection has ended or the body is too long.
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, nothing is sent.
    pub async fn send(&self, packet: &Packet) -> Result<(), SendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize {
            self.peer_known().await?; // A body that is too long for the peer would close the connection.
        }
        let mut waiter = self.waiter();
        poll_fn(|context| waiter.poll_send(context, |outbox| outbox.forward(packet))).await??;
        Ok(())
    }

    /// Sends a packet if the pending output is below [`backlog_max`](crate::Config::backlog_max).
    ///
    /// # Errors
    /// [`TrySendError::Full`] if the backlog is full, other senders are waiting, or a body longer than
    /// [`BODY_MAX_LEAST`](crate::BODY_MAX_LEAST) would have to wait until the peer's limit is known. Other errors are
    /// those of [`send`](Self::send).
    pub fn try_send(&self, packet: &Packet) -> Result<(), TrySendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize && self.peer() == PeerKind::Unknown {
            return Err(self.close_reason().map_or(TrySendError::Full, |reason| SendError::Closed(reason).into()));
        }
        Ok(self.try_send_with(|outbox| outbox.forward(packet))??)
    }

    /// Calls `write` with the outbox of the connection if there is space and no other task is waiting for it. Unlike
    /// [`Waiter::poll_send`], never waits.
    ///
    /// # Errors
    /// Same as [`try_send`](Self::try_send).
    #[inline]
    pub fn try_send_with<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, TrySendError> {
        match self.0.mailbox.poll_write(None, &mut Place::default(), write) {
            Poll::Ready(written) => Ok(written?),
            Poll::Pending => Err(TrySendError::Full),
        }
    }

    /// Creates a waiter for space in the outbox, for use with [`Waiter::poll_send`]. Dropping the waiter removes its
    /// waker.
    ///
    /// ```
    /// use frisbee::{Connection, Operation, PacketId, SendError};
    /// use std::future::poll_fn;
    ///
    /// /// Sends two packets in one piece.
    /// async fn send_both(connection: &Connection, operation: Operation) -> Result<(), SendError> {
    ///     let mut waiter = connection.waiter();
    ///     let sent = poll_fn(|context| {
    ///         waiter.poll_send(context, |outbox| {
    ///             outbox.push(PacketId(1), operation, "begin")?;
    ///             outbox.push(PacketId(1), operation, "end")
    ///         })
    ///     });
    ///     Ok(sent.await??)
    /// }
    /// ```
    pub fn waiter(&self) -> Waiter<'_> {
        Waiter::new(&self.0.mailbox)
    }

    /// Calls `write` with the outbox of the connection immediately, regardless of the backlog.
    ///
    /// For packets that must not wait and whose number is limited by other means, such as replies. `write` runs under
    /// the lock of the connection and must be short.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn send_now<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, SendError> {
        self.0.mailbox.write(write)
    }

    /// Moves packets that handles have sent into `outbox`, so that packets which the router appends afterwards cannot
    /// overtake them.
    ///
    /// The driver does this before each batch. A router must call it if a handle may have sent packets while the router
    /// was running, and the router's reply must follow them.
    #[inline]
    pub fn collect(&self, outbox: &mut Outbox) {
        if self.0.mailbox.is_notified() {
            self.0.mailbox.collect(outbox);
        }
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

    /// Like [`open_stream`](Self::open_stream), but calls `first` to create the first packet. `first` is called again
    /// for each attempt to open the stream.
    ///
    /// # Errors
    /// Same as [`open_stream`](Self::open_stream).
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, no stream is opened.
    pub async fn open_stream_with(&self, mut first: impl FnMut() -> Bytes) -> Result<Stream, SendError> {
        self.peer_known().await?;
        let mut opening = StreamOpening::new(self);
        poll_fn(|context| Stream::poll_open(&self.0, &first(), context, &mut opening)).await
    }

    /// Wakes the driver of the connection, which then calls the router's
    /// [`Router::batch_ended`](crate::Router::batch_ended).
    ///
    /// Intended for routers that queue outgoing packets themselves.
    pub fn wake(&self) {
        self.0.mailbox.notify();
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
    /// The task runs in the runtime in which the server was started or the client connected. Dropping the returned
    /// handle does not abort it.
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

    /// Like [`spawn`](Self::spawn), but on the given executor. Waking a task on the worker of its own connection
    /// involves no other thread.
    pub fn spawn_at(&self, placement: Placement, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_uncalled(placement, task);
    }

    /// Spawns a task that does not count towards `calls_max`, because it does not handle a call. Returns the job slot
    /// of the task, or `None` if the connection has ended.
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

    /// Spawns the handler of a call as a task, and charges the memory of its request; see
    /// [`body_memory`](crate::body_memory). See [`tasks`](crate::tasks) for an example.
    ///
    /// `make` receives the [`Task`] with which the handler replies. The handler must keep it until it completes. The
    /// peer may [cancel](Self::cancel_call) the handler by `call`.
    ///
    /// Returns `false` without spawning if the number of running calls has reached the [limit](Self::calls_max).
    /// Streams and tasks spawned by [`spawn`](Self::spawn) do not count. A router should check
    /// [`has_call_permit`](Self::has_call_permit) before it polls a handler, so that a rejected call has not run.
    #[must_use]
    pub fn spawn_call(
        &self,
        call: Option<(PacketId, Operation)>,
        memory: usize,
        placement: Placement,
        make: impl FnOnce(Task) -> Job,
    ) -> bool {
        self.spawn_within(Some(self.calls_max()), call, Some(memory), placement, make).is_ok()
    }

    /// Returns the runtime in which the tasks of the connection run, regardless of which thread drives it. A task that
    /// is spawned on the runtime directly does not belong to the connection: a shutdown does not wait for it, and it
    /// continues after the connection has ended.
    pub fn runtime_handle(&self) -> &Handle {
        &self.0.runtime
    }

    /// Sets the worker that drives the connection.
    pub(crate) fn set_home(&self, home: Box<dyn Home>) {
        let _ = self.0.home.set(home);
    }

    /// Sets the operation that is being routed, or 0 for none. If routing blocks the thread, the operation is passed to
    /// [`Router::blocked`](crate::Router::blocked) and logged. Connections set it for each packet. A router that
    /// handles several operations in one packet must set it itself.
    #[inline(always)]
    pub fn set_routed(&self, operation: u16) {
        self.0.routed.store(operation, Ordering::Relaxed);
    }

    /// Returns the operation of the packet that the router is currently handling, if any.
    pub(crate) fn routed(&self) -> Option<Operation> {
        Operation::user(self.0.routed.load(Ordering::Relaxed))
    }

    /// Returns the maximum duration of one poll of the connection's driver; see
    /// [`Config::turn_max`](crate::Config::turn_max).
    pub fn turn_max(&self) -> Duration {
        Duration::from_micros(self.0.turn_max.into())
    }

    /// Returns whether the runtime has several threads, in which case a task started by [`spawn`](Self::spawn) may
    /// block one of them.
    pub(crate) fn has_threads(&self) -> bool {
        has_threads(&self.0.runtime)
    }

    /// Aborts the task of a call, or discards a request that [waits](crate::OverflowPolicy::Wait) to be routed. The
    /// router must then reply to the call. Returns `false` if there is no such task or request, or the task has already
    /// [replied](Task::answer).
    pub fn cancel_call(&self, id: PacketId, operation: Operation) -> bool {
        self.0.work.cancel((id, operation)) || self.0.deferred.cancel(id, operation, &self.0.mailbox.account)
    }

    /// Returns the maximum number of in-flight calls of the peer, which routers must enforce; see
    /// [`calls_max`](crate::Config::calls_max).
    pub fn calls_max(&self) -> usize {
        usize::try_from(self.0.calls_max).unwrap_or(usize::MAX)
    }

    /// Returns whether the peer may make another call because fewer than [`calls_max`](Self::calls_max) are in flight.
    /// For use by routers on the driver of the connection.
    #[inline]
    pub fn has_call_permit(&self) -> bool {
        self.0.work.calls_running() < self.calls_max()
    }

    /// Returns the maximum size of a received body in bytes; see [`body_max`](crate::Config::body_max). Routers apply
    /// it to decompressed bodies.
    pub fn body_max(&self) -> u32 {
        self.0.body_max
    }

    /// Charges memory to this connection until the result is dropped. It counts towards
    /// [`memory_max`](crate::ServerBuilder::memory_max) of the server.
    ///
    /// For routers that store packets or messages, for example in queues, subscriptions or pending requests. Check
    /// [`has_room`](Self::has_room) before, and reject the packet if it returns `false`. The memory that a received
    /// body keeps alive is computed by [`body_memory`](crate::body_memory).
    ///
    /// ```
    /// use frisbee::{Connection, MemoryCharge, Outbox, Packet, Routed, Router, body_memory};
    ///
    /// /// Stores packets until their client disconnects.
    /// struct Store;
    ///
    /// impl Router for Store {
    ///     type Session = (Connection, Vec<(Packet, MemoryCharge)>);
    ///
    ///     fn connected(&self, connection: &Connection) -> Self::Session {
    ///         (connection.clone(), Vec::new())
    ///     }
    ///
    ///     fn route(&self, (connection, stored): &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
    ///         let bytes = body_memory(packet.body.len());
    ///         if connection.is_overloaded() || !connection.has_room(bytes) {
    ///             connection.count_rejected();
    ///             return outbox.push(packet.id, packet.operation, "full").into();
    ///         }
    ///         let charge = connection.charge_request(bytes);
    ///         stored.push((packet, charge));
    ///         Routed::Continue
    ///     }
    /// }
    /// ```
    pub fn charge_request(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&self.0.mailbox.account, bytes.saturating_add(WAITING_COST))
    }

    /// Charges exactly `bytes` bytes to this connection until the result is dropped. In contrast,
    /// [`charge_request`](Self::charge_request) adds the cost of a pending handler. Use this for tables and queues
    /// whose charge [changes](MemoryCharge::resize).
    ///
    /// The charge may exceed the share of the connection, because the memory may already be allocated.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&self.0.mailbox.account, bytes)
    }

    /// Like [`charge`](Self::charge), but returns `None` if the memory is not [available](Self::has_room).
    pub fn try_charge(&self, bytes: usize) -> Option<MemoryCharge> {
        MemoryCharge::try_new(&self.0.mailbox.account, bytes)
    }

    /// Creates a waiter for memory of the server. It is intended for producers that create their next item only once
    /// there is memory for it. A router should reject requests instead of waiting; see
    /// [`is_overloaded`](Self::is_overloaded).
    pub fn memory_waiter(&self) -> MemoryWaiter {
        MemoryWaiter::new(&self.0.mailbox.account)
    }

    /// Returns the memory charged to this connection in bytes.
    pub fn memory_held(&self) -> usize {
        self.0.mailbox.account.charged()
    }

    /// Returns the server's memory budget, to which a router charges data that several connections share.
    pub fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget(self.0.mailbox.account.budget().clone())
    }

    /// Returns whether both handles refer to the same connection.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns whether the server is short of memory and this peer has used its share of it. If so, a router should
    /// reject further requests of the peer and [count](Self::count_rejected) them.
    #[inline]
    pub fn is_overloaded(&self) -> bool {
        self.0.mailbox.account.is_over()
    }

    /// Returns whether this many more bytes of this peer may be charged. As long as the server has plenty of memory,
    /// that is always the case; otherwise each peer has a share. Check this before
    /// [`charge_request`](Self::charge_request) for a large request.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.0.mailbox.account.has_room(bytes)
    }

    /// Counts a request as [rejected](crate::Stats::rejected), because of a limit or a lack of memory.
    pub fn count_rejected(&self) {
        self.0.mailbox.account.budget().counts.count_rejected();
    }

    /// Returns the number of running tasks of this connection that were spawned by [`spawn`](Self::spawn).
    pub fn running(&self) -> usize {
        self.0.work.len()
    }

    /// Requests a hand-off: if the peer accepts, returns the transport, which may then carry any other protocol.
    ///
    /// Nothing is sent after the request: other handles wait, and no PINGs are exchanged. If the peer accepts, the
    /// connection ends with [`CloseReason::HandedOff`](crate::CloseReason::HandedOff) for all its handles. The peer may
    /// send first, and bytes that were already received are read from the transport first. If the peer refuses, the
    /// connection continues as before.
    ///
    /// A hand-off requires that this end has dialled the connection, that the peer is native, that no stream is open,
    /// and that no task is running. Other work in progress can be checked by [`hand_off_if`](Self::hand_off_if). If
    /// there is no reply within 30 s ([`hand_off_timeout`](crate::Config::hand_off_timeout)), the connection is closed.
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

    /// Requests a hand-off like [`hand_off`](Self::hand_off), if `may` permits it. `may` is called under the lock of
    /// the connection, when later packets are already held back. Its result is kept until the request has been
    /// answered, even if the caller no longer waits, and is dropped before the caller receives the answer.
    ///
    /// # Errors
    /// Same as [`hand_off`](Self::hand_off), and [`HandOffError::Busy`] if `may` returns `None`.
    ///
    /// # Cancel safety
    /// Same as [`hand_off`](Self::hand_off).
    pub async fn hand_off_if<K: Send + 'static>(
        &self,
        operation: Operation,
        request: impl Into<Bytes>,
        may: impl FnOnce() -> Option<K>,
    ) -> Result<HandOffAccepted, HandOffError> {
        hand_off::request(self, operation, request.into(), may).await
    }

    /// Detaches the transport without notifying the peer, which must expect this by agreement. Corresponds to
    /// `RawTransport()` of Go peers.
    ///
    /// Packets sent by handles are written first. Bytes that were received but not routed are read from the transport
    /// first, except that a partially received packet is completed and routed. The connection then ends with
    /// [`CloseReason::HandedOff`](crate::CloseReason::HandedOff) for all its handles.
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

    /// Returns whether the peer sends datagrams without a connection. Any host may then forge its
    /// [address](Self::peer_addr).
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
