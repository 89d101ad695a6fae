//! Requests and their replies, for protocols that match packets by id.

mod table;

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::tlv;
use frisbee::{
    BODY_MAX_LEAST, CloseReason, Connection, ConnectionEvent, Operation, Outbox, OverflowPolicy, Packet, PacketId,
    PeerKind, Routed, Router, SendError, TooLong, TrySendError,
};
use parking_lot::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use table::{Number, ReplyKind, Table};
use tokio::sync::oneshot;
use tokio::time::{Sleep, sleep, timeout};

/// Default timeout of a request, equal to the default timeout of a connection hand-off.
const TIMEOUT: Duration = Duration::from_secs(30);

/// Default maximum number of requests in flight per connection.
const IN_FLIGHT_MAX: usize = 1024;

/// A router that sends requests and matches the replies to them.
///
/// A reply is the packet with the id of its request. It may have another operation, so that a protocol can answer with
/// an error. `Requester` assigns ascending ids from 1 to 65 535, and never one that is in use. A protocol may use the
/// id 0 for packets that expect no reply. Clones share their requests: mount one clone and send requests with another.
///
/// * **Each request completes once**, with its reply or a [`RequestError`]. [`was_sent`](RequestError::was_sent) tells
///   whether a retry is safe. Requests are never sent twice.
/// * **The number of requests in flight is limited** per connection. [`call`](Self::call) waits for a permit in FIFO
///   order; [`try_call`](Self::try_call) fails.
/// * **Cancellation**, by dropping the future or by the timeout, releases the permit. A peer that supports the
///   [protocol extension](PeerKind) is notified, and its router receives [`Router::cancelled`]. The id is not reused
///   until the peer has replied, or until 16 384 further requests of the connection have been cancelled.
/// * **Late replies**, to cancelled requests, are dropped and [counted](Self::late_replies). Packets that match no
///   request are [counted](Self::unmatched_replies) too, and a peer that sends many of them is throttled
///   ([`Routed::Discarded`]).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Packet, Server};
/// use frisbee_requests::Requester;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shout = Operation::user(10).expect("operation number should be in the user range");
/// let handlers = Handlers::new().on(shout, |_connection, packet| async move {
///     Some(Packet::new(packet.id, packet.operation, packet.body.to_ascii_uppercase()))
/// });
/// let server = Server::builder().bind("127.0.0.1:0", handlers).await?;
/// let address = server.local_addr();
/// tokio::spawn(server.serve());
///
/// let requests = Requester::new();
/// let connection = Client::builder().connect(address, requests.clone()).await?;
/// let reply = requests.call(&connection, shout, "hello").await?;
/// assert_eq!(reply.body, "HELLO");
/// # Ok(())
/// # }
/// ```
///
/// A router that receives other packets as well contains a `Requester` and its [`Session`](Router::Session), and
/// forwards replies and the methods `connected`, `event` and `overflow`:
///
/// ```
/// use frisbee::{Connection, ConnectionEvent, Operation, Outbox, Packet, Routed, Router, OverflowPolicy};
/// use frisbee_requests::{Requester, RequesterSession};
///
/// const NEWS: Operation = Operation::user(12).expect("operation number should be in the user range");
///
/// struct Reader(Requester);
///
/// impl Router for Reader {
///     type Session = RequesterSession;
///
///     fn connected(&self, connection: &Connection) -> RequesterSession {
///         self.0.connected(connection)
///     }
///
///     fn route(&self, session: &mut RequesterSession, packet: Packet, outbox: &mut Outbox) -> Routed {
///         if packet.operation == NEWS {
///             println!("{:?}", packet.body);
///             return Routed::Continue;
///         }
///         self.0.route(session, packet, outbox)
///     }
///
///     fn overflow(&self, session: &RequesterSession, packet: &Packet) -> OverflowPolicy {
///         self.0.overflow(session, packet)
///     }
///
///     fn event(&self, session: &mut RequesterSession, event: &mut ConnectionEvent<'_>) {
///         self.0.event(session, event);
///     }
/// }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Requester {
    counts: Arc<RequesterShared>,
    timeout: Duration,
    in_flight_max: usize,
}

/// State shared by the clones of a [`Requester`]. Its address identifies the requester.
#[derive(Debug, Default)]
struct RequesterShared {
    late: AtomicU64,
    unmatched: AtomicU64,
}

/// The request tables of a connection, one per mounted [`Requester`].
#[derive(Default)]
struct Tables(Mutex<Vec<(Arc<RequesterShared>, Arc<Table>)>>);

impl Default for Requester {
    fn default() -> Self {
        Self::new()
    }
}

impl Requester {
    /// Creates a requester with default limits.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::{Client, Operation};
    /// use frisbee_requests::Requester;
    ///
    /// const GREET: Operation = Operation::user(10).expect("operation number should be in the user range");
    /// let requests = Requester::new();
    /// let connection = Client::builder().connect("127.0.0.1:8080", requests.clone()).await?;
    /// let reply = requests.call(&connection, GREET, "hello").await?;
    /// println!("{} bytes", reply.body.len());
    /// # Ok(())
    /// # }
    /// ```
    pub fn new() -> Self {
        Self { counts: Arc::default(), timeout: TIMEOUT, in_flight_max: IN_FLIGHT_MAX }
    }

    /// Sets the timeout of this clone's requests, which includes the wait for a permit. Defaults to 30 s. With zero,
    /// each request that would have to wait fails immediately.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    /// use std::time::Duration;
    ///
    /// let requests = Requester::new().timeout(Duration::from_secs(1));
    /// ```
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the limit of requests in flight on each connection that uses this clone as its router, from 1 to 32 768.
    /// Defaults to 1024.
    ///
    /// A request is in flight until its reply has been received or the request has been cancelled. A peer may allow
    /// fewer; the protocol defines how it announces that.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// let requests = Requester::new().in_flight_max(100);
    /// ```
    pub fn in_flight_max(mut self, count: usize) -> Self {
        self.in_flight_max = count.clamp(1, table::IN_FLIGHT_MOST);
        self
    }

    /// Sends a request and waits for the reply. Waits first for a permit, and until less than
    /// [`backlog_max`](frisbee::Config::backlog_max) bytes are queued. A body longer than [`BODY_MAX_LEAST`] also waits
    /// until the peer's limit is known.
    ///
    /// ```
    /// # async fn example(connection: frisbee::Connection, requests: frisbee_requests::Requester) -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::Operation;
    ///
    /// const GREET: Operation = Operation::user(10).expect("operation number should be in the user range");
    /// let reply = requests.call(&connection, GREET, "hello").await?;
    /// println!("{} bytes", reply.body.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the connection closes before the reply, the timeout expires, the body is too long, or no clone of this
    /// requester is mounted on the connection.
    ///
    /// # Cancel safety
    /// Dropping the future before the request was sent sends nothing; afterwards it cancels the request.
    pub async fn call(
        &self,
        connection: &Connection,
        operation: Operation,
        body: impl Into<Bytes>,
    ) -> Result<Packet, RequestError> {
        let body = body.into();
        let table = self.table(connection)?;
        let mut was_sent = false;
        let replied = async {
            if body.len() > BODY_MAX_LEAST as usize {
                // Wait until the limit of the peer is known, because a longer body would close the connection.
                connection.peer_known().await?;
            }
            let Ok(permit) = table.permits.acquire().await else {
                return Err(RequestError::NotSent(table.close_reason()));
            };
            let mut waiter = connection.waiter();
            let sent = poll_fn(|context| waiter.poll_send(context, |outbox| table.send(outbox, operation, &body)));
            let (number, reply) = sent.await??;
            permit.forget();
            was_sent = true;
            let pending =
                PendingRequest { connection: connection.clone(), table: table.clone(), operation, number, reply };
            pending.await
        };
        let limited = {
            let _entered = connection.runtime_handle().enter();
            timeout(self.timeout, replied)
        };
        let replied = limited.await;
        let timed_out = if was_sent { RequestError::TimedOut } else { RequestError::NotSentInTime };
        replied.unwrap_or(Err(timed_out(self.timeout)))
    }

    /// Sends a request without waiting and returns a future of its reply. Suitable for routers, which must not wait,
    /// and for callers that must send their requests in order. The timeout starts now.
    ///
    /// # Errors
    /// [`RequestError::Full`] if the limit of requests in flight or of queued output is reached. Otherwise like
    /// [`call`](Self::call).
    pub fn try_call(
        &self,
        connection: &Connection,
        operation: Operation,
        body: impl Into<Bytes>,
    ) -> Result<PendingReply, RequestError> {
        let body = body.into();
        let table = self.table(connection)?;
        let permit = table.permits.try_acquire().map_err(|error| match error {
            tokio::sync::TryAcquireError::Closed => RequestError::NotSent(table.close_reason()),
            tokio::sync::TryAcquireError::NoPermits => RequestError::Full,
        })?;
        let sent = connection.try_send_with(|outbox| table.send(outbox, operation, &body));
        let (number, reply) = sent.map_err(|error| match error {
            TrySendError::Failed(error) => error.into(),
            _ => RequestError::Full,
        })??;
        permit.forget();
        let pending = PendingRequest { connection: connection.clone(), table: table.clone(), operation, number, reply };
        // Create the timer in the connection's runtime, because the caller's runtime may end first, and a timer must
        // not outlive its runtime.
        let _entered = connection.runtime_handle().enter();
        Ok(PendingReply { pending, expiry: Box::pin(sleep(self.timeout)), timeout: self.timeout })
    }

    /// Returns the number of requests in flight on a connection.
    pub fn in_flight(&self, connection: &Connection) -> usize {
        self.table(connection).map_or(0, |table| table.in_flight())
    }

    /// Returns the number of replies to cancelled requests, over all connections.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// assert_eq!(Requester::new().late_replies(), 0);
    /// ```
    pub fn late_replies(&self) -> u64 {
        self.counts.late.load(Ordering::Relaxed)
    }

    /// Returns the number of packets that matched no request, over all connections.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// assert_eq!(Requester::new().unmatched_replies(), 0);
    /// ```
    pub fn unmatched_replies(&self) -> u64 {
        self.counts.unmatched.load(Ordering::Relaxed)
    }

    fn table(&self, connection: &Connection) -> Result<Arc<Table>, RequestError> {
        let tables = connection.attachments().get::<Tables>();
        let found = tables.and_then(|tables| {
            let tables = tables.0.lock();
            let own = tables.iter().find(|(counts, _)| Arc::ptr_eq(counts, &self.counts));
            own.map(|(_, table)| table.clone())
        });
        // A closed connection has no tables, because its attachments were dropped when it ended.
        found.ok_or_else(|| connection.close_reason().map_or(RequestError::NotMounted, RequestError::NotSent))
    }
}

impl Router for Requester {
    type Session = RequesterSession;

    fn connected(&self, connection: &Connection) -> RequesterSession {
        let table = Arc::new(Table::new(self.in_flight_max));
        let tables = connection.attachments().get_or_insert::<Tables>();
        tables.0.lock().push((self.counts.clone(), table.clone()));
        // Register this function here instead of using `disconnected`, because a router that contains this one might
        // not forward that call.
        let ended = table.clone();
        connection.on_close(move |reason| ended.end(reason));
        RequesterSession(table)
    }

    fn route(&self, session: &mut RequesterSession, packet: Packet, _outbox: &mut Outbox) -> Routed {
        match session.0.handle_reply(packet) {
            ReplyKind::InTime => Routed::Continue,
            ReplyKind::Late => {
                self.counts.late.fetch_add(1, Ordering::Relaxed);
                Routed::Continue
            }
            ReplyKind::Unmatched => {
                self.counts.unmatched.fetch_add(1, Ordering::Relaxed);
                Routed::Discarded
            }
        }
    }

    fn overflow(&self, _session: &RequesterSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Route
    }

    fn event(&self, session: &mut RequesterSession, event: &mut ConnectionEvent<'_>) {
        if let ConnectionEvent::Closing { is_busy } = event {
            *is_busy |= session.0.in_flight() > 0;
        }
    }
}

/// Session of a [`Requester`] on one connection, which matches the received replies to the requests.
#[derive(Debug)]
pub struct RequesterSession(Arc<Table>);

/// Future of the reply to a request sent by [`Requester::try_call`]. Dropping it cancels the request.
#[derive(Debug)]
#[must_use = "dropping it gives the request up"]
pub struct PendingReply {
    pending: PendingRequest,
    expiry: Pin<Box<Sleep>>,
    timeout: Duration,
}

impl PendingReply {
    /// Returns the packet id of the request.
    pub fn id(&self) -> PacketId {
        self.pending.number.id()
    }
}

impl Future for PendingReply {
    type Output = Result<Packet, RequestError>;

    /// Completes when the reply arrives. Fails like [`Requester::call`].
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // Poll the reply first, because a reply that has arrived takes precedence over the timeout.
        if let Poll::Ready(replied) = Pin::new(&mut this.pending).poll(context) {
            return Poll::Ready(replied);
        }
        this.expiry.as_mut().poll(context).map(|()| {
            this.pending.cancel();
            Err(RequestError::TimedOut(this.timeout))
        })
    }
}

/// A request that was sent and has no reply yet.
#[derive(Debug)]
struct PendingRequest {
    connection: Connection,
    table: Arc<Table>,
    operation: Operation,
    number: Number,
    reply: oneshot::Receiver<Packet>,
}

impl PendingRequest {
    /// Cancels the request, unless its reply has arrived.
    fn cancel(&mut self) {
        let notifies = matches!(self.connection.peer(), PeerKind::Native(_));
        let (table, number) = (&self.table, self.number);
        let mut caller = None;
        let cancelled = self.connection.send_now(|outbox| {
            // Queue CANCEL under the connection's lock, as requests are, so that it precedes any later request with
            // this id.
            caller = table.cancel(number);
            if caller.is_some() && notifies {
                let mut operation = Vec::with_capacity(3);
                tlv::put_varint(&mut operation, self.operation.number().into());
                let mut packet = outbox.packet(number.id(), Operation::CANCEL);
                packet.put_slice(&operation);
                let sent = packet.finish();
                debug_assert!(sent.is_ok(), "short packet should be within every limit");
            }
        });
        if cancelled.is_err() {
            caller = table.cancel(number);
        }
        drop(caller);
    }
}

impl Future for PendingRequest {
    type Output = Result<Packet, RequestError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let reply = Pin::new(&mut self.reply).poll(context);
        reply.map(|reply| reply.map_err(|_| RequestError::Closed(self.table.close_reason())))
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        if self.table.is_pending(self.number) {
            self.cancel();
        }
        self.table.permits.add_permits(1);
    }
}

/// Reason why a request failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The connection closed before the reply arrived. The request may have been processed.
    Closed(CloseReason),
    /// The connection closed before the request was sent.
    NotSent(CloseReason),
    /// No reply arrived within the timeout. The request may have been processed.
    TimedOut(Duration),
    /// No permit to send the request was available within the timeout. Nothing was sent.
    NotSentInTime(Duration),
    /// The limit of requests in flight or of pending output was reached. Nothing was sent.
    Full,
    /// The request body is longer than the peer accepts. Nothing was sent.
    TooLong(TooLong),
    /// The [`Requester`] is not mounted on the connection. Nothing was sent.
    NotMounted,
}

impl RequestError {
    /// Returns whether the request may have reached the peer. If not, it can safely be retried on any connection.
    ///
    /// ```
    /// use frisbee::CloseReason;
    /// use frisbee_requests::RequestError;
    ///
    /// assert!(RequestError::Closed(CloseReason::ClosedByPeer).was_sent());
    /// assert!(!RequestError::NotSent(CloseReason::ClosedByPeer).was_sent());
    /// assert!(!RequestError::Full.was_sent());
    /// ```
    pub fn was_sent(&self) -> bool {
        matches!(self, Self::Closed(_) | Self::TimedOut(_))
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed(reason) => write!(f, "the connection ended before the reply: {reason}"),
            Self::NotSent(reason) => write!(f, "not sent: the connection has ended: {reason}"),
            Self::TimedOut(timeout) => write!(f, "no reply within {timeout:?}"),
            Self::NotSentInTime(timeout) => write!(f, "not sent: no free slot for the request within {timeout:?}"),
            Self::Full => f.write_str("not sent: the limit of requests in flight or of unwritten output is reached"),
            Self::TooLong(error) => error.fmt(f),
            Self::NotMounted => {
                f.write_str("the connection has no router for these requests: mount a clone of them when connecting")
            }
        }
    }
}

impl std::error::Error for RequestError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooLong(error) => Some(error),
            _ => None,
        }
    }
}

impl From<TooLong> for RequestError {
    fn from(error: TooLong) -> Self {
        Self::TooLong(error)
    }
}

impl From<SendError> for RequestError {
    /// Converts the error of sending a request. Without streams, sending fails only because the connection has closed
    /// or the body is too long.
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closed(reason) => Self::NotSent(reason),
            SendError::TooLong(error) => Self::TooLong(error),
            other => Self::NotSent(CloseReason::Router(other.to_string().into())),
        }
    }
}

/// [`Unavailable`](frpc::Code::Unavailable) if the connection closed,
/// [`DeadlineExceeded`](frpc::Code::DeadlineExceeded) on a timeout,
/// [`ResourceExhausted`](frpc::Code::ResourceExhausted) if a limit was reached or the body is too long, and
/// [`Internal`](frpc::Code::Internal) if the requester is not mounted.
#[cfg(feature = "frpc")]
impl From<RequestError> for frpc::Status {
    fn from(error: RequestError) -> Self {
        let status = match error {
            RequestError::Closed(_) | RequestError::NotSent(_) => Self::unavailable,
            RequestError::TimedOut(_) | RequestError::NotSentInTime(_) => Self::deadline_exceeded,
            RequestError::Full | RequestError::TooLong(_) => Self::resource_exhausted,
            RequestError::NotMounted => Self::internal,
        };
        status(error.to_string())
    }
}

#[cfg(test)]
mod tests;
