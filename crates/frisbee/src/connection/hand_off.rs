//! Hand-off of a connection by its handles: requests to the peer, and replies to the peer's requests.

use crate::account::{MemoryCharge, body_memory};
use crate::connection::Connection;
use crate::connection::ConnectionExt;
use crate::mailbox::HandOffState;
use crate::mailbox::hand_off::{HandOffAccepted, HandOffStep, HandOffTarget, HandOffWaiter};
use crate::sync::wake_all;
use crate::{CloseReason, HandOffError, Operation, PeerKind, RawTransport, SendError};
use bytes::Bytes;
use frisbee_core::{HandOffAnswer, Role};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;

/// A hand-off request of the peer; see [`Router::hand_off`](crate::Router::hand_off).
///
/// The peer sends nothing until it receives a reply. If this takes longer than
/// [`Config::hand_off_timeout`](crate::Config::hand_off_timeout), the connection is closed. Dropping the request tells
/// the peer that hand-offs are not supported for this operation.
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

    /// Returns the operation of the hand-off request.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Returns the body of the hand-off request.
    pub fn request(&self) -> &Bytes {
        &self.request
    }

    /// Returns the connection that the peer wants to hand off.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Waits until the peer has cancelled its hand-off request. The request must still be answered, but the connection
    /// will not be handed off.
    ///
    /// # Cancel safety
    /// Cancel safe. The method may be called any number of times.
    pub async fn cancelled(&self) {
        let mut watch = self.connection.waiter();
        poll_fn(|context| self.connection.0.mailbox.poll_abandoned(context, &mut watch)).await;
    }

    /// Accepts the request and passes the transport to `take_over`. The transport is detached as soon as `reply` has
    /// been written, so bytes written to it directly follow the reply. If the peer has [cancelled](Self::cancelled) the
    /// request, refuses it with an empty reply. If this end has opened a stream in the meantime, acts like
    /// [`busy`](Self::busy).
    pub fn accept(mut self, reply: impl Into<Bytes>, take_over: HandOffTarget) {
        self.decide(HandOffAnswer::Accepted, reply.into(), Some((take_over, None)));
    }

    /// Like [`accept`](Self::accept), but [refuses](Self::refuse) with `refusal` if this end has opened a stream in the
    /// meantime. For protocols in which a peer repeats the request if the connection is busy, although this end has
    /// already processed it.
    pub fn accept_or_refuse(mut self, reply: impl Into<Bytes>, take_over: HandOffTarget, refusal: impl Into<Bytes>) {
        self.decide(HandOffAnswer::Accepted, reply.into(), Some((take_over, Some(refusal.into()))));
    }

    /// Refuses the hand-off. The connection continues as before.
    pub fn refuse(mut self, reply: impl Into<Bytes>) {
        self.decide(HandOffAnswer::Refused, reply.into(), None);
    }

    /// Refuses the hand-off because this end has work in progress. The connection continues as before.
    pub fn busy(mut self) {
        self.decide(HandOffAnswer::Busy, Bytes::new(), None);
    }

    fn decide(&mut self, answer: HandOffAnswer, reply: Bytes, take_over: Option<(HandOffTarget, Option<Bytes>)>) {
        self.is_decided = true;
        let mut inner = self.connection.0.mailbox.lock();
        if inner.closed.is_some() {
            // Do not store the reply, because nothing would remove it from the mailbox. It may contain a handle of the
            // connection, which would form a reference cycle.
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

/// Future of the peer's reply to a hand-off request. Dropping it cancels the request.
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
        // Dropping the receiver marks the request as cancelled.
        let Some(answer) = self.answer.take() else { return };
        drop(answer);
        let mut inner = self.connection.0.mailbox.lock();
        let unsent = match inner.hand_off.take() {
            Some(mut step) => match &mut *step {
                // The driver has not sent the request to the peer yet, so drop it.
                HandOffStep::Request { before, asking, .. } if asking.is_abandoned() => {
                    // Move the packets that preceded the request back in front of those queued since.
                    before.append(&mut inner.outbox);
                    std::mem::swap(before, &mut inner.outbox);
                    inner.hand_off_state = HandOffState::No;
                    Some((step, inner.waiters.take_watchers()))
                }
                _ => {
                    // The step is not this request, so put it back.
                    inner.hand_off = Some(step);
                    None
                }
            },
            None => {
                if inner.closed.is_none() && inner.hand_off_state != HandOffState::No {
                    // The driver has already sent the request, so it must notify the peer.
                    inner.hand_off = Some(Box::new(HandOffStep::GiveUp));
                }
                None
            }
        };
        drop(inner);
        self.connection.0.mailbox.notify();
        if let Some((step, watchers)) = unsent {
            drop(step); // Outside of the lock, because dropping it may acquire the lock.
            wake_all(watchers);
        }
    }
}

/// Requests a hand-off from the peer and waits for the peer's reply.
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
        // Check under the lock that is required to open a stream. Otherwise, a stream could be opened between the check
        // and the registration of the request.
        let is_free = inner.streams.is_empty() && connection.running() == 0;
        let guard = is_free.then(may).flatten().ok_or(HandOffError::Busy)?;
        let (answer, answered) = oneshot::channel();
        // Split the outbox at the request: packets queued before must precede it, and packets queued later must wait
        // for the reply.
        let empty = inner.outbox.new_like();
        let before = std::mem::replace(&mut inner.outbox, empty);
        let asking = HandOffWaiter::new(operation, answer, guard);
        Ok((HandOffStep::Request { before, request, asking }, PendingHandOff { connection, answer: Some(answered) }))
    })?;
    answered.await
}

/// Detaches the transport from its connection without notifying the peer.
pub(crate) async fn leave(connection: &Connection) -> Result<RawTransport, HandOffError> {
    let transport = begin(connection, |_| {
        let (takes, transport) = oneshot::channel();
        // If the caller no longer waits, sending fails, and dropping `raw` closes the transport.
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
    if inner.hand_off_state != HandOffState::No {
        return Err(HandOffError::Busy);
    }
    let (step, result) = step(&mut inner)?;
    inner.hand_off = Some(Box::new(step));
    inner.hand_off_state = HandOffState::Requested;
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
