//! The handle of a connection: cheap to clone, usable from any thread.

use self::attachments::Attachments;
use self::stream::{Stream, StreamOpening};
use crate::budget::{MemoryBudget, MemoryCharge, WAITING_COST};
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

/// A handle to a connection.
///
/// Clones are handles to the same connection, which lives until it is closed by either end; dropping handles does
/// not close it.
///
/// ```
/// use frisbee::{Client, Connection, Handlers, Operation, Packet, PacketId, SendError, Server, memory};
///
/// const PROGRESS: Operation = Operation::user(10).expect("operation should be in the range of users");
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
/// #     progress.send(packet.body).expect("receiver should be waiting");
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

/// Shared by the handles and the task of a connection.
pub(crate) struct ConnectionShared {
    pub(crate) mailbox: Mailbox,
    pub(crate) work: Tasks,
    pub(crate) deferred: Deferred,
    pub(crate) attachments: Attachments,
    pub(crate) role: Role,
    /// It is part of an adapter connection, which is counted as a whole.
    pub(crate) is_within: bool,
    /// The peer sends nothing more, and all that it sent has been routed.
    pub(crate) is_at_eof: AtomicBool,
    /// The operation of the packet that is being routed, or 0.
    routed: AtomicU16,
    /// The number of streams that the peer has opened and that a handle here still refers to, open or not.
    pub(crate) guests: AtomicU32,
    /// Calls that the peer may have in flight.
    calls_max: u32,
    /// The longest body that this end accepts.
    body_max: u32,
    /// The number of streams that the peer may have open. As the fields below, it is of use to the task alone, whose
    /// own memory is rounded up to a multiple of 128 bytes.
    pub(crate) streams_max: u32,
    /// How long a turn may take, in microseconds.
    turn_max: u32,
    /// The number of bytes that a native peer may send on a stream before any of them has been read.
    pub(crate) stream_credit: u32,
    /// The caller's, for all that is spawned.
    pub(crate) runtime: Handle,
    /// The worker that drives it, unless the caller's runtime does.
    pub(crate) home: OnceLock<Box<dyn Home>>,
    /// When a server drains and closes it, if it limits ages.
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
    /// Identifies the connection as long as it has handles.
    pub(crate) fn address_of_shared(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    pub(crate) fn ends(&self) -> &EndpointInfo {
        &self.0.ends
    }

    /// Sends a packet, once less than [`backlog_max`](crate::Config::backlog_max) waits to be written; one longer than
    /// [`BODY_MAX_LEAST`](crate::BODY_MAX_LEAST), once the limit of the peer is known.
    ///
    /// A packet received on another connection is sent unchanged: a large body is shared with its read buffer and not
    /// copied. Proxies forward in this way; see also [`Outbox::forward`].
    ///
    /// # Errors
    /// If the connection has ended or the body is too long.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready sends nothing.
    pub async fn send(&self, packet: &Packet) -> Result<(), SendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize {
            self.peer_known().await?; // Before, too long a packet would end the connection, with all else on it.
        }
        let mut waiter = self.waiter();
        poll_fn(|context| waiter.poll_send(context, |outbox| outbox.forward(packet))).await??;
        Ok(())
    }

    /// Sends a packet if less than [`backlog_max`](crate::Config::backlog_max) waits to be written, and does not wait
    /// otherwise.
    ///
    /// # Errors
    /// [`TrySendError::Full`] if as much waits as may, others have waited for the room that there is, or a packet longer
    /// than [`BODY_MAX_LEAST`](crate::BODY_MAX_LEAST) would wait for the limit of the peer. Otherwise as
    /// [`send`](Self::send).
    pub fn try_send(&self, packet: &Packet) -> Result<(), TrySendError> {
        if packet.body.len() > crate::BODY_MAX_LEAST as usize && self.peer() == PeerKind::Unknown {
            return Err(self.close_reason().map_or(TrySendError::Full, |reason| SendError::Closed(reason).into()));
        }
        Ok(self.try_send_with(|outbox| outbox.forward(packet))??)
    }

    /// Lets `write` put packets into the connection's outbox as [`Waiter::poll_send`] does, if there is room
    /// for which no other task has waited, and does not wait otherwise.
    ///
    /// # Errors
    /// As [`try_send`](Self::try_send).
    #[inline]
    pub fn try_send_with<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, TrySendError> {
        match self.0.mailbox.poll_write(None, &mut Place::default(), write) {
            Poll::Ready(written) => Ok(written?),
            Poll::Pending => Err(TrySendError::Full),
        }
    }

    /// Creates a place in the queue for room in the outbox, for [`Waiter::poll_send`]. Dropping it removes the waker.
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

    /// Lets `write` put packets into the connection's outbox now, however much waits there.
    ///
    /// For packets that must not wait, such as replies, whose number is limited in another way. `write` runs under the
    /// connection's lock and must be short.
    ///
    /// # Errors
    /// If the connection has ended.
    pub fn send_now<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, SendError> {
        self.0.mailbox.write(write)
    }

    /// Moves the packets that handles have sent so far into `outbox`, so that a router's next packets do not overtake
    /// them.
    ///
    /// The task does this by itself before each batch. A router calls it when a handle may have sent something while
    /// the router was at work, and its own answer must follow that.
    #[inline]
    pub fn collect(&self, outbox: &mut Outbox) {
        if self.0.mailbox.is_notified() {
            self.0.mailbox.collect(outbox);
        }
    }

    /// Opens a stream by sending its first packet.
    ///
    /// Waits until the kind of the peer is known, which on a new connection takes a round trip, until less than
    /// [`backlog_max`](crate::Config::backlog_max) waits to be written, until the peer accepts a further stream, and while
    /// this end [requests a hand-off](Self::hand_off).
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
    /// If the connection has ended, or `first` is too long or empty.
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready opens nothing.
    pub async fn open_stream(&self, first: &Bytes) -> Result<Stream, SendError> {
        self.open_stream_with(|| first.clone()).await
    }

    /// As [`open_stream`](Self::open_stream), with a first packet that is made each time that there may be a slot.
    ///
    /// # Errors
    /// As those of [`open_stream`](Self::open_stream).
    ///
    /// # Cancel safety
    /// Dropping the future before it is ready opens nothing.
    pub async fn open_stream_with(&self, mut first: impl FnMut() -> Bytes) -> Result<Stream, SendError> {
        self.peer_known().await?;
        let mut opening = StreamOpening::new(self);
        poll_fn(|context| Stream::poll_open(&self.0, &first(), context, &mut opening)).await
    }

    /// Wakes the connection's own task, so that its router gets a [turn](crate::Protocol::batch_ended) soon.
    ///
    /// For routers that keep the packets they want to send in queues of their own.
    pub fn wake(&self) {
        self.0.mailbox.notify();
    }

    /// The kind of the peer, as far as it is known.
    pub fn peer(&self) -> PeerKind {
        self.0.mailbox.lock().peer.clone()
    }

    /// The kind of the peer, once it is known. A server knows it at the first packet, a client after a round trip.
    ///
    /// # Errors
    /// If the connection has ended before.
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
    pub async fn peer_known(&self) -> Result<PeerKind, SendError> {
        let mut watch = self.waiter();
        poll_fn(|context| self.0.mailbox.poll_peer(context, &mut watch)).await
    }

    /// Whether this end dialled the connection; otherwise it accepted it.
    pub fn is_dialled(&self) -> bool {
        self.0.role == Role::Client
    }

    /// Whether the peer has announced that it accepts no new calls and streams.
    pub fn is_going_away(&self) -> bool {
        self.0.mailbox.lock().going_away
    }

    /// Runs a task that is aborted when the connection ends, and that a graceful shutdown waits for.
    ///
    /// On the runtime of the server's start or the client's connection. Dropping the handle leaves the task running.
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

    /// Runs a task like [`spawn`](Self::spawn), on a chosen executor. A handler on the worker of its connection wakes no
    /// other thread.
    pub fn spawn_at(&self, placement: Placement, task: impl Future<Output = ()> + Send + 'static) {
        self.spawn_uncalled(placement, task);
    }

    /// Runs a task that answers no call. The result is its job slot, or `None` if the connection has ended.
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

    /// Runs the handler of a call as a task, and charges the memory of its request; see
    /// [`body_memory`](crate::body_memory). [`tasks`](crate::tasks) has an example.
    ///
    /// `make` gets the [`Task`] by which the handler answers. The handler holds it until it is over. The peer may
    /// [cancel](Self::cancel_call) the handler by `call`.
    ///
    /// `false` if as many calls run as [the peer may have](Self::calls_max) in flight; streams and tasks of
    /// [`spawn`](Self::spawn) do not count. Nothing was spawned then. A router checks
    /// [`has_call_permit`](Self::has_call_permit) before it polls a handler, so that a refused call has not run.
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

    /// The runtime of the connection's work, independent of the driver's thread. A task that is spawned there directly
    /// is no work of the connection: a shutdown does not wait for it, and it continues when the connection has ended.
    pub fn runtime_handle(&self) -> &Handle {
        &self.0.runtime
    }

    /// Notes the worker that drives the connection.
    pub(crate) fn set_home(&self, home: Box<dyn Home>) {
        let _ = self.0.home.set(home);
    }

    /// Sets the operation that is being routed, 0 for none. [`Protocol::blocked`](crate::Protocol::blocked) and the log name it
    /// if it blocks the thread. Connections set it for each packet; a router that routes several operations in one packet
    /// does so itself.
    #[inline(always)]
    pub fn set_routed(&self, operation: u16) {
        self.0.routed.store(operation, Ordering::Relaxed);
    }

    /// The operation of the packet that is being routed.
    pub(crate) fn routed(&self) -> Option<Operation> {
        Operation::user(self.0.routed.load(Ordering::Relaxed))
    }

    /// How long a turn may take: [`Config::turn_max`](crate::Config::turn_max).
    pub fn turn_max(&self) -> Duration {
        Duration::from_micros(self.0.turn_max.into())
    }

    /// Whether a task of [`spawn`](Self::spawn) that blocks leaves threads to others: the runtime has more than one.
    pub(crate) fn has_threads(&self) -> bool {
        has_threads(&self.0.runtime)
    }

    /// Aborts the task that answers a call, or forgets a request that [waits](crate::OverflowPolicy::Wait) to be routed; the
    /// call is the caller's to answer then. `false` if there is no such task or request, or the task has
    /// [answered](Task::answer).
    pub fn cancel_call(&self, id: PacketId, operation: Operation) -> bool {
        self.0.work.cancel((id, operation)) || self.0.deferred.cancel(id, operation, &self.0.mailbox.account)
    }

    /// How many calls the peer may have in flight: [`calls_max`](crate::Config::calls_max). It is for routers to hold it to
    /// that.
    pub fn calls_max(&self) -> usize {
        usize::try_from(self.0.calls_max).unwrap_or(usize::MAX)
    }

    /// Whether another call of the peer may begin: fewer than [`calls_max`](Self::calls_max) wait. For routers, in the
    /// driver of the connection.
    #[inline]
    pub fn has_call_permit(&self) -> bool {
        self.0.work.calls_running() < self.calls_max()
    }

    /// The longest body that this end accepts, in bytes: [`body_max`](crate::Config::body_max). For routers that decompress
    /// bodies.
    pub fn body_max(&self) -> u32 {
        self.0.body_max
    }

    /// Charges memory of the router to this connection until the result is dropped. It counts towards
    /// [`memory_max`](crate::ServerBuilder::memory_max) of the server.
    ///
    /// For routers that keep their own packets or messages: queues, subscriptions, pending requests. A router checks
    /// [`has_room`](Self::has_room) first and rejects the packet otherwise. [`body_memory`](crate::body_memory)
    /// computes the bytes that a received body keeps.
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

    /// Charges exactly so many bytes to this connection until the result is dropped. [`charge_request`](Self::charge_request) adds the cost of
    /// a handler that waits; this is for tables and queues, whose charge [changes](MemoryCharge::resize).
    ///
    /// The charge may exceed the share of the connection, as for something that exists already.
    pub fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&self.0.mailbox.account, bytes)
    }

    /// As [`charge`](Self::charge), or `None` if the server has no [room](Self::has_room) for that.
    pub fn try_charge(&self, bytes: usize) -> Option<MemoryCharge> {
        MemoryCharge::try_new(&self.0.mailbox.account, bytes)
    }

    /// The memory that is charged to this connection, in bytes.
    pub fn memory_held(&self) -> usize {
        self.0.mailbox.account.charged()
    }

    /// The memory of the whole server, for what its connections share.
    pub fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget(self.0.mailbox.account.budget().clone())
    }

    /// Whether both are handles to one connection.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether a server is short of memory and holds more for this peer than its share, so that no further work should
    /// begin for it. A router then refuses requests, and [counts](Self::count_rejected) the refusals.
    #[inline]
    pub fn is_overloaded(&self) -> bool {
        self.0.mailbox.account.is_over()
    }

    /// Whether the server has room for this many more bytes of this peer. While the server has memory to spare, every
    /// peer has room; otherwise each has its share. Check it before [`charge_request`](Self::charge_request) of a large request.
    pub fn has_room(&self, bytes: usize) -> bool {
        self.0.mailbox.account.has_room(bytes)
    }

    /// Counts a request that was refused for want of memory or a slot, in [`Stats::rejected`](crate::Stats::rejected).
    pub fn count_rejected(&self) {
        self.0.mailbox.account.budget().counts.count_rejected();
    }

    /// How many tasks of [`spawn`](Self::spawn) run.
    pub fn running(&self) -> usize {
        self.0.work.len()
    }

    /// Requests the connection itself from the peer: once it has agreed, the transport is the caller's, for any other
    /// protocol.
    ///
    /// Nothing is sent after the request: other handles wait, and the protocol is silent. If the peer agrees, this
    /// connection has ended, with [`CloseReason::HandedOff`](crate::CloseReason::HandedOff), for all its handles. The
    /// peer may send first; the bytes that it has sent are read first. If the peer does not agree, the connection
    /// continues as before.
    ///
    /// Only the end that dialled can ask, only a native peer, and only while no stream is open and no work runs;
    /// [`hand_off_if`](Self::hand_off_if) covers other work in progress. The answer may take 30 s
    /// ([`hand_off_timeout`](crate::Config::hand_off_timeout)); then the connection is closed.
    ///
    /// # Errors
    /// If the peer does not agree or does not support it, or the connection has ended.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request, and notifies the peer. If it agrees nevertheless, the connection is
    /// closed.
    pub async fn hand_off(
        &self,
        operation: Operation,
        request: impl Into<Bytes>,
    ) -> Result<HandOffAccepted, HandOffError> {
        self.hand_off_if(operation, request, || Some(())).await
    }

    /// Requests the connection like [`hand_off`](Self::hand_off), if a protocol agrees: `may` is called under the
    /// connection's lock, when later packets already wait. Its result is kept until the request is decided, even if the
    /// caller no longer waits, and dropped before the caller learns the decision.
    ///
    /// # Errors
    /// As there; [`HandOffError::Busy`] if `may` returns `None`.
    ///
    /// # Cancel safety
    /// As there.
    pub async fn hand_off_if<K: Send + 'static>(
        &self,
        operation: Operation,
        request: impl Into<Bytes>,
        may: impl FnOnce() -> Option<K>,
    ) -> Result<HandOffAccepted, HandOffError> {
        hand_off::request(self, operation, request.into(), may).await
    }

    /// Takes the transport without notice to the peer, which has to know by the users' protocol: the counterpart of
    /// `RawTransport()` of Go peers.
    ///
    /// Packets that handles have sent are written first. Received bytes that have not been routed are read first; an
    /// incomplete packet is completed and routed. The connection has then ended, with
    /// [`CloseReason::HandedOff`](crate::CloseReason::HandedOff), for all its handles.
    ///
    /// Two facts cannot be known here: the first byte of the peer that is no packet, and whether a PING of it is in
    /// flight. So the peer should send nothing until this end permits it, by a byte on the transport. A router that
    /// knows the last packet returns [`Routed::HandOff`](crate::Routed::HandOff) instead.
    ///
    /// # Errors
    /// If the connection has ended, or a hand-off is in progress.
    ///
    /// # Cancel safety
    /// If the future is dropped, the connection continues or is closed.
    pub async fn into_transport(self) -> Result<RawTransport, HandOffError> {
        hand_off::leave(&self).await
    }

    /// The peer's address, if the transport has one.
    pub fn peer_addr(&self) -> Option<SocketAddr> {
        self.0.ends.peer
    }

    /// This end's address, if the transport has one.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        self.0.ends.local
    }

    /// The process at the other end of a Unix socket, according to the system.
    #[cfg(unix)]
    pub fn peer_credentials(&self) -> Option<UnixCredentials> {
        self.0.ends.credentials.as_deref().copied()
    }

    /// The peer's certificate, followed by its issuers'. They have been verified against the authorities that this end
    /// trusts. `None` without TLS, and at a server if the client need not present one.
    #[cfg(feature = "tls")]
    pub fn peer_certificates(&self) -> Option<&Arc<[crate::tls::CertificateDer<'static>]>> {
        self.0.ends.certificates.as_deref()
    }
}

opaque_debug!([] Connection, "Connection", |this| peer = this.0.ends.peer, local = this.0.ends.local);
