//! Hand-off as handles see it: request, decision, takeover.

use crate::budget::{MemoryCharge, body_memory};
use crate::connection::Connection;
use crate::debug::opaque_debug;
use crate::mailbox::{HandOffState, wake_all};
use crate::work::Job;
use crate::{CloseReason, HandOffError, Operation, Outbox, PeerKind, RawTransport, SendError};
use bytes::Bytes;
use frisbee_core::{HandOffAnswer, Role};
use std::any::Any;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// A connection that was handed off to the requesting end.
#[derive(Debug)]
#[non_exhaustive]
pub struct HandOffAccepted {
    /// The bytes that the peer sent along with its consent.
    pub reply: Bytes,
    /// The transport.
    pub transport: RawTransport,
}

/// The next owner of a transport.
///
/// ```
/// use bytes::Bytes;
/// use frisbee::{Client, Connection, HandOffRequest, Handlers, Operation, Outbox, Packet, Routed, Protocol, Server};
/// use frisbee::{HandOffTarget, memory};
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
///
/// const SHELL: Operation = Operation::user(10).expect("users have 10 and up");
///
/// struct Login;
///
/// impl Protocol for Login {
///     // `connected` and `route` as for any router.
/// #   type Session = ();
/// #   fn connected(&self, _connection: &Connection) {}
/// #   fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
/// #       Routed::Useless
/// #   }
///
///     fn hand_off(&self, (): &mut (), asked: HandOffRequest) -> Routed {
///         asked.accept("come in", HandOffTarget::new(async |mut transport| {
///             transport.write_all(b"$ ").await.ok();
///         }));
///         Routed::Continue
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let acceptor = Server::builder().build(Login)?;
/// # let (here, there) = memory();
/// # tokio::spawn(async move { acceptor.serve_connection(there).await });
/// # let connection = Client::builder().connect_io(here, Handlers::new()).await?;
/// # connection.peer_known().await?;
/// // At the client:
/// let mut accepted = connection.hand_off(SHELL, Bytes::new()).await?;
/// assert_eq!(accepted.reply, "come in");
/// let mut prompt = [0; 2];
/// accepted.transport.read_exact(&mut prompt).await?;
/// assert_eq!(&prompt, b"$ ");
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct HandOffTarget(Owner);

enum Owner {
    /// Called within the runtime of the server's start or the client's connection.
    Apart(Box<SpawnTask>),
    /// Continues in the task of the connection.
    Adapter(Box<dyn FnOnce(RawTransport) -> AdapterFuture + Send>),
}

type SpawnTask = dyn FnOnce(RawTransport, &Handle) + Send;

/// The rest of a connection's life, in the task of the connection.
pub(crate) type AdapterFuture = Pin<Box<dyn Future<Output = CloseReason> + Send>>;

impl HandOffTarget {
    /// By a function whose future becomes a task of the runtime of the server's start or the client's connection; the
    /// function is called within it. The task is independent: it does not end with the connection, and a shutdown of
    /// the server does not wait for it.
    pub fn new<F>(take: impl FnOnce(RawTransport) -> F + Send + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Self(Owner::Apart(Box::new(move |raw, runtime| {
            let owner: Job = Box::pin(take(raw));
            drop(runtime.spawn(owner));
        })))
    }

    pub(crate) fn at_once(take: impl FnOnce(RawTransport) + Send + 'static) -> Self {
        Self(Owner::Apart(Box::new(move |raw, _| take(raw))))
    }

    /// By a function whose future continues in the task of the connection.
    pub(crate) fn in_place(take: impl FnOnce(RawTransport) -> AdapterFuture + Send + 'static) -> Self {
        Self(Owner::Adapter(Box::new(take)))
    }

    /// Whether the connection's task continues with the transport.
    pub(crate) fn is_in_place(&self) -> bool {
        matches!(self.0, Owner::Adapter(_))
    }

    /// Hands the transport over; the task of the connection has to continue with the future, if there is one.
    pub(crate) fn take(self, raw: RawTransport, runtime: &Handle) -> Option<AdapterFuture> {
        let _entered = runtime.enter();
        match self.0 {
            Owner::Apart(take) => {
                take(raw, runtime);
                None
            }
            Owner::Adapter(take) => Some(take(raw)),
        }
    }
}

opaque_debug!([] HandOffTarget, "HandOffTarget");

/// A peer that asks for the connection itself; see [`Protocol::hand_off`](crate::Protocol::hand_off).
///
/// The peer sends nothing until it is answered, and the connection is closed if that takes longer than
/// [`Config::hand_off_timeout`](crate::Config::hand_off_timeout). Dropping this answers that this end hands off no
/// connections for the operation.
#[derive(Debug)]
#[must_use]
pub struct HandOffRequest {
    connection: Connection,
    operation: Operation,
    request: Bytes,
    is_decided: bool,
    _charge: MemoryCharge,
}

impl HandOffRequest {
    pub(crate) fn new(connection: Connection, operation: Operation, request: Bytes) -> Self {
        let _charge = connection.charge_request(body_memory(request.len()));
        Self { connection, operation, request, is_decided: false, _charge }
    }

    /// The requested operation.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The bytes that the peer sent along.
    pub fn request(&self) -> &Bytes {
        &self.request
    }

    /// The requested connection.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Waits until the peer no longer waits for an answer. It still has to be sent one, whichever; the connection is
    /// not handed off.
    ///
    /// # Cancel safety
    /// Safe; it may be called any number of times.
    pub async fn cancelled(&self) {
        let mut watch = self.connection.waiter();
        poll_fn(|context| self.connection.0.mailbox.poll_abandoned(context, &mut watch)).await;
    }

    /// Agrees. The transport is taken as soon as the reply has been written; bytes that are then written to it follow
    /// the reply directly. If this end has opened a stream in the meantime, the peer learns that the connection is
    /// busy, and the transport is not taken; nor is it if the peer has [cancelled](Self::cancelled).
    pub fn accept(mut self, reply: impl Into<Bytes>, take_over: HandOffTarget) {
        self.decide(HandOffAnswer::Accepted, reply.into(), Some(take_over));
    }

    /// Does not agree; the connection continues.
    pub fn refuse(mut self, reply: impl Into<Bytes>) {
        self.decide(HandOffAnswer::Refused, reply.into(), None);
    }

    /// Answers that work in progress needs the connection, which continues.
    pub fn busy(mut self) {
        self.decide(HandOffAnswer::Busy, Bytes::new(), None);
    }

    fn decide(&mut self, answer: HandOffAnswer, reply: Bytes, take_over: Option<HandOffTarget>) {
        self.is_decided = true;
        let mut inner = self.connection.0.mailbox.lock();
        if inner.closed.is_some() {
            // It would stay there for ever, and the next owner may hold a handle to the connection.
            drop(inner);
            return drop((reply, take_over));
        }
        inner.hand_off = Some(Box::new(HandOffStep::Decide { answer, reply, take_over }));
        drop(inner);
        self.connection.0.mailbox.notify();
    }
}

impl Drop for HandOffRequest {
    fn drop(&mut self) {
        if !self.is_decided {
            self.decide(HandOffAnswer::NotServed, Bytes::new(), None);
        }
    }
}

/// A step of a hand-off that a handle requests from the connection's task.
#[derive(Debug)]
pub(crate) enum HandOffStep {
    Request {
        /// The packets that were sent before.
        before: Outbox,
        request: Bytes,
        asking: HandOffWaiter,
    },
    /// The caller no longer waits for the answer.
    GiveUp,
    Decide {
        answer: HandOffAnswer,
        reply: Bytes,
        /// There, if it is accepted.
        take_over: Option<HandOffTarget>,
    },
    /// Take the transport without a word.
    Leave(HandOffTarget),
}

/// The caller that waits for an answer.
#[derive(Debug)]
pub(crate) struct HandOffWaiter {
    pub(crate) operation: Operation,
    answer: oneshot::Sender<Result<HandOffAccepted, HandOffError>>,
    /// Kept for a protocol until there is an answer.
    guard: Box<dyn Any + Send>,
}

impl HandOffWaiter {
    pub(crate) fn answer(self, answer: Result<HandOffAccepted, HandOffError>) {
        // The caller may repeat the request at once.
        drop(self.guard);
        let _ = self.answer.send(answer);
    }

    /// Whether the caller no longer waits.
    pub(crate) fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }
}

/// Waits for an answer. Dropping it cancels the request.
struct PendingHandOff<'a> {
    connection: &'a Connection,
    answer: Option<oneshot::Receiver<Result<HandOffAccepted, HandOffError>>>,
}

impl Future for PendingHandOff<'_> {
    type Output = Result<HandOffAccepted, HandOffError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(answer) = &mut self.answer else { return Poll::Pending };
        let answer = ready!(Pin::new(answer).poll(context));
        self.answer = None;
        Poll::Ready(answer.unwrap_or_else(|_| Err(HandOffError::Closed(why(self.connection)))))
    }
}

impl Drop for PendingHandOff<'_> {
    fn drop(&mut self) {
        // Which marks the request as cancelled.
        let Some(answer) = self.answer.take() else { return };
        drop(answer);
        let mut inner = self.connection.0.mailbox.lock();
        let unsent = match inner.hand_off.take() {
            Some(mut step) => match &mut *step {
                // The peer has heard nothing of it.
                HandOffStep::Request { before, asking, .. } if asking.is_abandoned() => {
                    before.append(&mut inner.outbox);
                    std::mem::swap(before, &mut inner.outbox);
                    inner.handing_off = HandOffState::No;
                    Some((step, inner.waiters.take_watchers()))
                }
                _ => {
                    inner.hand_off = Some(step);
                    None
                }
            },
            None => {
                if inner.closed.is_none() && inner.handing_off != HandOffState::No {
                    inner.hand_off = Some(Box::new(HandOffStep::GiveUp));
                }
                None
            }
        };
        drop(inner);
        self.connection.0.mailbox.notify();
        if let Some((step, watchers)) = unsent {
            drop(step); // Its drop may need the lock.
            wake_all(watchers);
        }
    }
}

/// Requests the connection itself from the peer.
pub(crate) async fn request<K: Send + 'static>(
    connection: &Connection,
    operation: Operation,
    request: Bytes,
    may: impl FnOnce() -> Option<K>,
) -> Result<HandOffAccepted, HandOffError> {
    let peer = connection.peer_known().await.map_err(|error| ended(connection, error))?;
    if connection.0.role == Role::Server || !matches!(peer, PeerKind::Native(_)) {
        return Err(HandOffError::Unsupported);
    }
    let answered = begin(connection, |inner| {
        let is_free = inner.streams.is_empty() && connection.running() == 0;
        let guard = is_free.then(may).flatten().ok_or(HandOffError::Busy)?;
        let (answer, answered) = oneshot::channel();
        let empty = inner.outbox.new_like();
        let before = std::mem::replace(&mut inner.outbox, empty);
        let asking = HandOffWaiter { operation, answer, guard: Box::new(guard) };
        Ok((HandOffStep::Request { before, request, asking }, PendingHandOff { connection, answer: Some(answered) }))
    })?;
    answered.await
}

/// Takes the transport of a connection without a word to the peer.
pub(crate) async fn leave(connection: &Connection) -> Result<RawTransport, HandOffError> {
    let transport = begin(connection, |_| {
        let (takes, transport) = oneshot::channel();
        // The caller may have gone; then the transport is closed.
        Ok((HandOffStep::Leave(HandOffTarget::at_once(|raw| drop(takes.send(raw)))), transport))
    })?;
    transport.await.map_err(|_| HandOffError::Closed(why(connection)))
}

fn begin<T>(
    connection: &Connection,
    step: impl FnOnce(&mut crate::mailbox::MailboxState) -> Result<(HandOffStep, T), HandOffError>,
) -> Result<T, HandOffError> {
    let mut inner = connection.0.mailbox.lock();
    inner.check_open().map_err(|error| ended(connection, error))?;
    if inner.handing_off != HandOffState::No {
        return Err(HandOffError::Busy);
    }
    let (step, result) = step(&mut inner)?;
    inner.hand_off = Some(Box::new(step));
    inner.handing_off = HandOffState::Undecided;
    drop(inner);
    connection.0.mailbox.notify();
    Ok(result)
}

fn ended(connection: &Connection, error: SendError) -> HandOffError {
    match error {
        SendError::Closed(reason) => HandOffError::Closed(reason),
        SendError::TooLong(error) => HandOffError::TooLong(error),
        _ => HandOffError::Closed(why(connection)),
    }
}

fn why(connection: &Connection) -> CloseReason {
    connection.close_reason().unwrap_or(CloseReason::Local)
}
