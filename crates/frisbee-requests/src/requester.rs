//! Requests of this end and the replies to them, for protocols that pair packets by their ids.

mod table;

use bytes::Bytes;
use frisbee::tlv;
use frisbee::{
    BODY_MAX_LEAST, CloseReason, Connection, Operation, Outbox, OverflowPolicy, Packet, PacketId, PeerKind, Protocol,
    Routed, SendError, TooLong, TrySendError,
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

/// How long a request waits for its reply by default; the timeout of a hand-off is the same.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How many requests of one connection wait for their replies at once by default.
const IN_FLIGHT_MAX: usize = 1024;

/// The requests of this end that wait for their replies: a router that is mounted at the requesting end, and the handle
/// to send requests by.
///
/// A reply is the packet with the id of its request. It may have another operation, so that a protocol can answer with
/// an error. Ids are chosen here; they ascend, and none is in use twice. Clones belong together: mount one, keep
/// another.
///
/// * **Each request ends once**: with its reply or a [`RequestError`], whose [`was_sent`](RequestError::was_sent) is the
///   base of retries. Nothing is sent twice.
/// * **A bounded number is in flight** on each connection. [`call`](Self::call) waits for a permit, the first comer
///   first; [`try_call`](Self::try_call) fails.
/// * **Giving up**, by dropping the future or by the timeout, frees the permit and notifies a native peer, whose router
///   gets [`Protocol::cancelled`]. The id stays out of use until the peer has replied, or until 16 384 further requests
///   of the connection have been cancelled.
/// * **Late replies**, those to cancelled requests, are dropped and [counted](Self::late_replies). Packets
///   that answer no request at all are [counted](Self::stray_replies) too, and a peer that sends many is read more
///   slowly ([`Routed::Useless`]).
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Packet, Server};
/// use frisbee_requests::Requester;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let shout = Operation::user(10).expect("users have 10 and up");
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
/// A router that receives other packets as well keeps a `Requester`, and keeps the [`Session`](Protocol::Session) of that
/// in its own. It passes on the replies, and the calls of `connected`, `is_busy` and `when_full`:
///
/// ```
/// use frisbee::{Connection, Operation, Outbox, Packet, Routed, Protocol, OverflowPolicy};
/// use frisbee_requests::{Requester, RequesterSession};
///
/// const NEWS: Operation = Operation::user(12).expect("users have 10 and up");
///
/// struct Reader(Requester);
///
/// impl Protocol for Reader {
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
///     fn when_full(&self, session: &RequesterSession, packet: &Packet) -> OverflowPolicy {
///         self.0.when_full(session, packet)
///     }
///
///     fn is_busy(&self, session: &mut RequesterSession) -> bool {
///         self.0.is_busy(session)
///     }
/// }
/// ```
#[derive(Clone)]
pub struct Requester {
    counts: Arc<RequesterShared>,
    timeout: Duration,
    in_flight_max: usize,
}

/// The state that the clones of a [`Requester`] share, which also distinguishes them from others.
#[derive(Default)]
struct RequesterShared {
    late: AtomicU64,
    strays: AtomicU64,
}

/// The tables of a connection, one for each [`Requester`] that is mounted on it.
#[derive(Default)]
struct Tables(Mutex<Vec<(Arc<RequesterShared>, Arc<Table>)>>);

impl Default for Requester {
    fn default() -> Self {
        Self::new()
    }
}

impl Requester {
    /// A requester with the defaults.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::{Client, Operation};
    /// use frisbee_requests::Requester;
    ///
    /// const GREET: Operation = Operation::user(10).expect("users have 10 and up");
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

    /// Sets how long a request of this clone may take, the wait for a permit included. Default: 30 s.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    /// use std::time::Duration;
    ///
    /// let requests = Requester::new().timeout(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how many requests may be in flight on each connection that begins with this clone as its router: 1 to
    /// 32 768. Default: 1024.
    ///
    /// A request is in flight until its reply has been taken or the request has been cancelled. A peer may allow fewer;
    /// the protocol decides how it says so.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// let requests = Requester::new().in_flight_max(100);
    /// ```
    #[must_use]
    pub fn in_flight_max(mut self, count: usize) -> Self {
        self.in_flight_max = count.clamp(1, table::IN_FLIGHT_MOST);
        self
    }

    /// Sends a request, once there is a permit for it and less than [`backlog_max`](frisbee::Config::backlog_max) waits to
    /// be written, and waits for the reply. A body longer than [`BODY_MAX_LEAST`] waits until the limit of the peer is known.
    ///
    /// ```
    /// # async fn example(connection: frisbee::Connection, requests: frisbee_requests::Requester) -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::Operation;
    ///
    /// const GREET: Operation = Operation::user(10).expect("users have 10 and up");
    /// let reply = requests.call(&connection, GREET, "hello").await?;
    /// println!("{} bytes", reply.body.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the connection has ended or ends before the reply, the timeout passes, the body is too long, or no clone of
    /// this is mounted on the connection.
    ///
    /// # Cancel safety
    /// Dropping the future before the request has been sent sends nothing; afterwards it gives the request up.
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
                // Before the limit of the peer is known, too long a body would end the connection.
                connection.peer_known().await?;
            }
            let Ok(permit) = table.permits.acquire().await else { return Err(table.closed().unsent()) };
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

    /// Sends a request now, and gives a future of the reply: for routers, which must not wait, and to keep the order of
    /// requests. The timeout begins now.
    ///
    /// # Errors
    /// [`RequestError::Full`] if the limit of requests in flight, or of unwritten output, is reached. Otherwise as
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
            tokio::sync::TryAcquireError::Closed => table.closed().unsent(),
            tokio::sync::TryAcquireError::NoPermits => RequestError::Full,
        })?;
        let sent = connection.try_send_with(|outbox| table.send(outbox, operation, &body));
        let (number, reply) = sent.map_err(|error| match error {
            TrySendError::Failed(error) => error.into(),
            _ => RequestError::Full,
        })??;
        permit.forget();
        let pending = PendingRequest { connection: connection.clone(), table: table.clone(), operation, number, reply };
        // A timer cannot be polled after its runtime, and the caller's may end before the connection's.
        let _entered = connection.runtime_handle().enter();
        Ok(PendingReply { pending, expiry: Box::pin(sleep(self.timeout)), timeout: self.timeout })
    }

    /// How many requests are in flight on a connection.
    pub fn in_flight(&self, connection: &Connection) -> usize {
        self.table(connection).map_or(0, |table| table.in_flight())
    }

    /// How many replies to cancelled requests have arrived, on all connections.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// assert_eq!(Requester::new().late_replies(), 0);
    /// ```
    pub fn late_replies(&self) -> u64 {
        self.counts.late.load(Ordering::Relaxed)
    }

    /// How many packets have come that answer no request, on all connections.
    ///
    /// ```
    /// use frisbee_requests::Requester;
    ///
    /// assert_eq!(Requester::new().stray_replies(), 0);
    /// ```
    pub fn stray_replies(&self) -> u64 {
        self.counts.strays.load(Ordering::Relaxed)
    }

    fn table(&self, connection: &Connection) -> Result<Arc<Table>, RequestError> {
        let tables = connection.attachments().get::<Tables>();
        let found = tables.and_then(|tables| {
            let tables = tables.0.lock();
            let own = tables.iter().find(|(counts, _)| Arc::ptr_eq(counts, &self.counts));
            own.map(|(_, table)| table.clone())
        });
        // The tables go with the connection.
        found.ok_or_else(|| connection.close_reason().map_or(RequestError::NotMounted, RequestError::NotSent))
    }
}

impl fmt::Debug for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requester")
            .field("timeout", &self.timeout)
            .field("in_flight_max", &self.in_flight_max)
            .field("late_replies", &self.late_replies())
            .field("stray_replies", &self.stray_replies())
            .finish()
    }
}

impl Protocol for Requester {
    type Session = RequesterSession;

    fn connected(&self, connection: &Connection) -> RequesterSession {
        let table = Arc::new(Table::new(self.in_flight_max));
        let tables = connection.attachments().get_or_insert::<Tables>();
        tables.0.lock().push((self.counts.clone(), table.clone()));
        // Not in `disconnected`, which a router that has this one inside might forget to pass on.
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
            ReplyKind::Stray => {
                self.counts.strays.fetch_add(1, Ordering::Relaxed);
                Routed::Useless
            }
        }
    }

    fn when_full(&self, _session: &RequesterSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Route
    }

    fn is_busy(&self, session: &mut RequesterSession) -> bool {
        session.0.in_flight() > 0
    }
}

/// The state of [`Requester`] for a connection.
#[derive(Debug)]
pub struct RequesterSession(Arc<Table>);

/// The reply to a request that has been sent by [`Requester::try_call`]. Dropping it gives the request up.
#[derive(Debug)]
#[must_use = "dropping it gives the request up"]
pub struct PendingReply {
    pending: PendingRequest,
    expiry: Pin<Box<Sleep>>,
    timeout: Duration,
}

impl PendingReply {
    /// The id of the request.
    pub fn id(&self) -> PacketId {
        self.pending.number.id()
    }
}

impl Future for PendingReply {
    type Output = Result<Packet, RequestError>;

    /// Fails as [`Requester::call`] does.
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        // A reply that is there is better than none in time.
        if let Poll::Ready(replied) = Pin::new(&mut this.pending).poll(context) {
            return Poll::Ready(replied);
        }
        this.expiry.as_mut().poll(context).map(|()| {
            this.pending.cancel();
            Err(RequestError::TimedOut(this.timeout))
        })
    }
}

/// A request that has been sent, until its reply has been taken.
#[derive(Debug)]
struct PendingRequest {
    connection: Connection,
    table: Arc<Table>,
    operation: Operation,
    number: Number,
    reply: oneshot::Receiver<Packet>,
}

impl PendingRequest {
    /// Ends the request without its reply, unless that has come.
    #[cold]
    fn cancel(&mut self) {
        let notifies = matches!(self.connection.peer(), PeerKind::Native(_));
        let (table, number) = (&self.table, self.number);
        let mut caller = None;
        let cancelled = self.connection.send_now(|outbox| {
            // Under the connection's lock, as in sending: a later request with this id is sent after it.
            caller = table.cancel(number);
            if caller.is_some() && notifies {
                let mut operation = Vec::with_capacity(3);
                tlv::put_varint(&mut operation, self.operation.number().into());
                let mut packet = outbox.packet(number.id(), Operation::CANCEL);
                packet.put_slice(&operation);
                let sent = packet.finish();
                debug_assert!(sent.is_ok(), "short packets are within every limit");
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
        reply.map(|reply| reply.map_err(|_| self.table.closed()))
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

/// Why a request has no reply.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum RequestError {
    /// The connection ended before the reply. The request may have been processed.
    Closed(CloseReason),
    /// The connection ended before the request was sent.
    NotSent(CloseReason),
    /// No reply within the timeout. The request may have been processed.
    TimedOut(Duration),
    /// The request waited for its turn until the timeout. Nothing was sent.
    NotSentInTime(Duration),
    /// The limit of requests in flight, or of unwritten output, is reached. Nothing was sent.
    Full,
    /// The body is longer than the peer accepts. Nothing was sent.
    TooLong(TooLong),
    /// The connection has no router that these requests belong to. Nothing was sent.
    NotMounted,
}

impl RequestError {
    /// Whether the request may have reached the peer. If not, it can be repeated without harm, on this connection or another.
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

    /// The error of a connection that ended before it was used.
    fn unsent(self) -> Self {
        match self {
            Self::Closed(reason) => Self::NotSent(reason),
            other => other,
        }
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
    /// Sending a packet outside of a stream fails in two ways.
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closed(reason) => Self::NotSent(reason),
            SendError::TooLong(error) => Self::TooLong(error),
            other => Self::NotSent(CloseReason::Router(other.to_string().into())),
        }
    }
}

/// [`Unavailable`](frpc::Code::Unavailable) if the connection has ended,
/// [`DeadlineExceeded`](frpc::Code::DeadlineExceeded) if there was no reply in time,
/// [`ResourceExhausted`](frpc::Code::ResourceExhausted) if there is no room or the body is too long, and
/// [`Internal`](frpc::Code::Internal) if the router is not mounted.
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
