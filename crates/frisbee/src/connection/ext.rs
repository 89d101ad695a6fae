//! Methods of connections for authors of request protocols.

use crate::account::{MemoryBudget, MemoryCharge, MemoryWaiter, WAITING_COST};
use crate::connection::stream::{Stream, StreamOpening};
use crate::connection::{Connection, Task, hand_off};
use crate::executor::tasks::{Job, Placement};
use crate::mailbox::hand_off::HandOffAccepted;
use crate::mailbox::{Place, Waiter};
use crate::{HandOffError, Operation, Outbox, PacketId, SendError, TrySendError};
use bytes::Bytes;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;

mod sealed {
    use super::Connection;

    pub trait Sealed {
        fn connection(&self) -> &Connection;
    }

    impl Sealed for Connection {
        #[inline(always)] // It is the identity.
        fn connection(&self) -> &Connection {
            self
        }
    }
}

/// Methods of a [`Connection`] for authors of request protocols: writing into its outbox, running handlers as its
/// tasks, and charging memory to it.
///
/// The trait is sealed. It may change in a minor version, with an entry in the changelog.
#[expect(async_fn_in_trait, reason = "the trait is sealed, and the futures of its one implementation are Send")]
pub trait ConnectionExt: sealed::Sealed {
    /// Creates a waiter for space in the outbox, for use with [`Waiter::poll_send`]. Dropping the waiter removes its
    /// waker.
    ///
    /// ```
    /// use frisbee::rpc::ConnectionExt;
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
    fn waiter(&self) -> Waiter<'_> {
        Waiter::new(&self.connection().0.mailbox)
    }

    /// Calls `write` with the outbox of the connection if there is space and no other task is waiting for it. Unlike
    /// [`Waiter::poll_send`], never waits.
    ///
    /// # Errors
    /// Same as [`try_send`](Connection::try_send).
    #[inline]
    fn try_send_with<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, TrySendError> {
        match self.connection().0.mailbox.poll_write(None, &mut Place::default(), write) {
            Poll::Ready(written) => Ok(written?),
            Poll::Pending => Err(TrySendError::Full),
        }
    }

    /// Calls `write` with the outbox of the connection immediately, regardless of the backlog.
    ///
    /// For packets that must not wait and are limited by other means, such as replies. `write` runs under the lock of
    /// the connection and must be short.
    ///
    /// # Errors
    /// If the connection has ended.
    fn send_now<T>(&self, write: impl FnOnce(&mut Outbox) -> T) -> Result<T, SendError> {
        self.connection().0.mailbox.write(write)
    }

    /// Moves packets that handles have sent into `outbox`, so that packets that the router appends later cannot
    /// overtake them.
    ///
    /// The driver does this before each batch. A router must call it if handles may have sent packets during the batch
    /// and the router's next packet must follow them.
    #[inline]
    fn collect(&self, outbox: &mut Outbox) {
        if self.connection().0.mailbox.is_notified() {
            self.connection().0.mailbox.collect(outbox);
        }
    }

    /// Wakes the driver of the connection, which then calls the router's
    /// [`Router::batch_ended`](crate::Router::batch_ended).
    ///
    /// For routers that queue outgoing packets themselves.
    fn wake(&self) {
        self.connection().0.mailbox.notify();
    }

    /// Like [`open_stream`](Connection::open_stream), but calls `first` to create the first packet. Each attempt to
    /// open the stream calls `first` again.
    ///
    /// # Errors
    /// Same as [`open_stream`](Connection::open_stream).
    ///
    /// # Cancel safety
    /// If the future is dropped before it completes, no stream is opened.
    async fn open_stream_with(&self, mut first: impl FnMut() -> Bytes) -> Result<Stream, SendError> {
        self.connection().peer_known().await?;
        let mut opening = StreamOpening::new(self.connection());
        poll_fn(|context| Stream::poll_open(&self.connection().0, &first(), context, &mut opening)).await
    }

    /// Requests a hand-off like [`hand_off`](Connection::hand_off), but only if `may` returns `Some`. `may` runs under
    /// the lock of the connection, so no packet can be sent between this check and the request. The returned value is
    /// a guard. It is dropped when the peer replies, before this future completes. If the future is dropped earlier,
    /// the guard is still held until the reply.
    ///
    /// # Errors
    /// Same as [`hand_off`](Connection::hand_off), and [`HandOffError::Busy`] if `may` returns `None`.
    ///
    /// # Cancel safety
    /// Same as [`hand_off`](Connection::hand_off).
    async fn hand_off_if<K: Send + 'static>(
        &self,
        operation: Operation,
        request: impl Into<Bytes>,
        may: impl FnOnce() -> Option<K>,
    ) -> Result<HandOffAccepted, HandOffError> {
        hand_off::request(self.connection(), operation, request.into(), may).await
    }

    /// Spawns the handler of a call as a task, and charges the memory of its request; see
    /// [`body_memory`](crate::body_memory). See [`rpc`](crate::rpc) for an example.
    ///
    /// `make` receives the [`Task`] that the handler replies with. The handler must keep it until it completes. The
    /// peer may [cancel](Self::cancel_call) the handler by `call`.
    ///
    /// Returns `false` without spawning if the number of running calls has reached the [limit](Self::calls_max).
    /// Streams and tasks spawned by [`spawn`](Connection::spawn) do not count. A router should check
    /// [`has_call_permit`](Self::has_call_permit) before it polls a handler, so that a rejected call has not been
    /// partly executed.
    #[must_use]
    fn spawn_call(
        &self,
        call: Option<(PacketId, Operation)>,
        memory: usize,
        placement: Placement,
        make: impl FnOnce(Task) -> Job,
    ) -> bool {
        self.connection().spawn_within(Some(self.calls_max()), call, Some(memory), placement, make).is_ok()
    }

    /// Like [`spawn`](Connection::spawn), but runs the task on the given executor. Waking a task on the worker of its
    /// own connection involves no other thread.
    fn spawn_at(&self, placement: Placement, task: impl Future<Output = ()> + Send + 'static) {
        self.connection().spawn_uncalled(placement, task);
    }

    /// Aborts the task of a call, or discards a request that [waits](crate::OverflowPolicy::Wait) to be routed. The
    /// router must then reply to the call. Returns `false` if there is no such task or request, or the task has already
    /// [replied](Task::answer).
    fn cancel_call(&self, id: PacketId, operation: Operation) -> bool {
        self.connection().0.work.cancel((id, operation))
            || self.connection().0.deferred.cancel(id, operation, &self.connection().0.mailbox.account)
    }

    /// Returns the maximum number of in-flight calls of the peer, which routers must enforce; see
    /// [`calls_max`](crate::Config::calls_max).
    fn calls_max(&self) -> usize {
        usize::try_from(self.connection().0.calls_max).unwrap_or(usize::MAX)
    }

    /// Returns whether the peer may make another call because fewer than [`calls_max`](Self::calls_max) are in flight.
    /// For use by routers on the driver of the connection.
    #[inline]
    fn has_call_permit(&self) -> bool {
        self.connection().0.work.calls_running() < self.calls_max()
    }

    /// Returns the runtime of the connection's tasks, regardless of which thread drives it. A task that is spawned on
    /// the runtime directly does not belong to the connection: a shutdown does not wait for it, and it continues after
    /// the connection has ended.
    fn runtime_handle(&self) -> &Handle {
        &self.connection().0.runtime
    }

    /// Returns the maximum duration of one poll of the connection's driver; see
    /// [`Config::turn_max`](crate::Config::turn_max).
    fn turn_max(&self) -> Duration {
        Duration::from_micros(self.connection().0.turn_max.into())
    }

    /// Sets the operation that is being routed, or 0 for none. If routing blocks the thread, the operation is passed to
    /// [`Router::blocked`](crate::Router::blocked) and logged. Connections set the operation for each packet. A router
    /// that handles several operations in one packet must set the current one itself.
    #[inline(always)]
    fn set_routed(&self, operation: u16) {
        self.connection().0.routed.store(operation, Ordering::Relaxed);
    }

    /// Charges memory to this connection until the returned value is dropped. The charge counts towards
    /// [`memory_max`](crate::ServerBuilder::memory_max) of the server.
    ///
    /// For routers that store packets or messages, for example in queues, subscriptions or pending requests. Check
    /// [`has_room`](Self::has_room) first, and reject the packet if it returns `false`.
    /// [`body_memory`](crate::body_memory) computes the memory that a received body keeps alive.
    ///
    /// ```
    /// use frisbee::rpc::ConnectionExt;
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
    fn charge_request(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&self.connection().0.mailbox.account, bytes.saturating_add(WAITING_COST))
    }

    /// Charges exactly `bytes` bytes to this connection until the returned value is dropped. In contrast,
    /// [`charge_request`](Self::charge_request) adds the cost of a pending handler. Use this method for tables and
    /// queues that [change](MemoryCharge::resize) their charge.
    ///
    /// The charge may exceed the share of the connection, because the memory may already be allocated. At most
    /// `isize::MAX` bytes are charged.
    fn charge(&self, bytes: usize) -> MemoryCharge {
        MemoryCharge::new(&self.connection().0.mailbox.account, bytes)
    }

    /// Like [`charge`](Self::charge), but returns `None` if the memory is not [available](Self::has_room).
    fn try_charge(&self, bytes: usize) -> Option<MemoryCharge> {
        MemoryCharge::try_new(&self.connection().0.mailbox.account, bytes)
    }

    /// Returns whether `bytes` more bytes may be charged to this peer. While the server has plenty of memory, any
    /// amount may be charged. Otherwise, each peer is limited to a share of the memory. Check this before
    /// [`charge_request`](Self::charge_request) for a large request.
    fn has_room(&self, bytes: usize) -> bool {
        self.connection().0.mailbox.account.has_room(bytes)
    }

    /// Returns whether the server is short of memory and this peer has used up its share. If so, a router should reject
    /// further requests of the peer and [count](Self::count_rejected) them.
    #[inline]
    fn is_overloaded(&self) -> bool {
        self.connection().0.mailbox.account.is_over()
    }

    /// Counts a request that was [rejected](crate::Stats::rejected) because of a limit or a lack of memory.
    fn count_rejected(&self) {
        self.connection().0.mailbox.account.budget().counts.count_rejected();
    }

    /// Returns the memory charged to this connection in bytes.
    fn memory_held(&self) -> usize {
        self.connection().0.mailbox.account.charged()
    }

    /// Returns the server's memory budget. Routers charge data to it that several connections share.
    fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget(self.connection().0.mailbox.account.budget().clone())
    }

    /// Creates a waiter for memory of the server. For producers that create their next item only when memory is
    /// available. A router should reject requests instead of waiting; see [`is_overloaded`](Self::is_overloaded).
    fn memory_waiter(&self) -> MemoryWaiter {
        MemoryWaiter::new(&self.connection().0.mailbox.account)
    }
}

impl ConnectionExt for Connection {}
