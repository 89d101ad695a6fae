//! The end that sends requests. A table of slots holds replies until their callers take them.

use crate::RESULT;
use frisbee::bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::{
    CloseReason, Connection, ConnectionEvent, Operation, Outbox, OverflowPolicy, Packet, PacketId, PeerKind, Routed,
    Router, SendError, TooLong, tlv,
};
use parking_lot::Mutex;
use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// Maximum number of requests in flight on a connection.
const IN_FLIGHT_MAX: usize = 1024;

/// Maximum length in bytes of replies that are copied. A short reply is copied so that it does not keep the whole read
/// buffer alive.
const COPY_MAX: usize = 4096;

/// Router of the requesting end. It passes replies to the [`Caller`]s of its connection.
#[derive(Clone, Copy, Debug, Default)]
pub struct Replies;

/// Handle that sends requests over a connection. Clones share a table of requests.
#[derive(Clone, Debug)]
pub struct Caller {
    connection: Connection,
    table: Arc<Table>,
}

impl Caller {
    /// Creates a handle for a connection with [`Replies`] as its router.
    pub fn new(connection: Connection) -> Self {
        let table = connection.attachments().get_or_insert::<Table>();
        Self { connection, table }
    }

    /// Sends a request, waiting for space if necessary, and returns its reply. For a deadline, wrap the call in a
    /// timeout.
    ///
    /// # Errors
    /// If the handler fails, the connection ends, the body is too long, or 1024 requests are in flight.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the request.
    pub async fn call(&self, method: Operation, request: impl AsRef<[u8]>) -> Result<Bytes, CallError> {
        let mut waiter = self.connection.waiter();
        let request = request.as_ref();
        let sent = poll_fn(|context| waiter.poll_send(context, |outbox| self.table.send(outbox, method, request)));
        let id = sent.await.map_err(CallError::of_connection)??;
        let mut reply = PendingReply { caller: self, method, id: Some(id) };
        let body = poll_fn(|context| reply.poll(context)).await?;
        match body.split_first() {
            Some((&RESULT, _)) => Ok(body.slice(1..)),
            Some((_, text)) => Err(CallError::Failed(String::from_utf8_lossy(text).into_owned())),
            None => Err(CallError::Failed("the reply is empty".to_owned())),
        }
    }
}

/// A request in flight. Dropping it cancels the request.
struct PendingReply<'a> {
    caller: &'a Caller,
    method: Operation,
    /// The slot of the request. `None` once the reply was taken.
    id: Option<PacketId>,
}

impl PendingReply<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<Bytes, CallError>> {
        let Some(id) = self.id else { return Poll::Pending };
        let polled = self.caller.table.0.lock().poll(id, context);
        if polled.is_ready() {
            self.id = None;
        }
        polled
    }
}

impl Drop for PendingReply<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id else { return };
        let Caller { connection, table } = self.caller;
        let is_native = matches!(connection.peer(), PeerKind::Native(_));
        if table.0.lock().abandon(id) && is_native {
            let mut body = Vec::with_capacity(3);
            tlv::put_varint(&mut body, self.method.number().into());
            // The result is ignored, because no handler runs if the connection has ended.
            let _ = connection.send_now(|outbox| outbox.push(id, Operation::CANCEL, body));
        }
    }
}

impl Router for Replies {
    type Session = RepliesSession;

    fn connected(&self, connection: &Connection) -> RepliesSession {
        RepliesSession(connection.attachments().get_or_insert())
    }

    fn route(&self, session: &mut RepliesSession, packet: Packet, _outbox: &mut Outbox) -> Routed {
        let waker = session.0.0.lock().handle_reply(packet);
        let Some(waker) = waker else { return Routed::Discarded };
        waker.wake();
        Routed::Continue
    }

    /// Replies need no answer.
    fn overflow(&self, _session: &RepliesSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Route
    }

    /// A connection with pending replies must not be closed as idle.
    fn event(&self, session: &mut RepliesSession, event: &mut ConnectionEvent<'_>) {
        if let ConnectionEvent::Closing { is_busy } = event {
            *is_busy = session.0.0.lock().in_flight() > 0;
        }
    }

    fn disconnected(&self, session: RepliesSession, reason: &CloseReason) {
        let wakers = session.0.0.lock().end(reason);
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// State that [`Replies`] keeps for a connection.
#[derive(Debug)]
pub struct RepliesSession(Arc<Table>);

/// The requests in flight on a connection.
#[derive(Debug, Default)]
struct Table(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    /// By id.
    all: Vec<Slot>,
    free: Vec<u16>,
    ended: Option<CloseReason>,
}

/// ```text
/// Free -> Pending -> Replied -> Free
///            |                   ^
///            +---> Abandoned ----+   its caller has left, and the peer has yet to reply
/// ```
#[derive(Debug)]
enum Slot {
    Free,
    Pending(Waker),
    Replied(Bytes),
    Abandoned,
}

impl Table {
    /// Registers a request and queues its packet. Holds the connection lock, so the connection cannot end in between.
    fn send(&self, outbox: &mut Outbox, method: Operation, request: &[u8]) -> Result<PacketId, CallError> {
        let mut slots = self.0.lock();
        if let Some(reason) = &slots.ended {
            return Err(CallError::Closed(reason.clone()));
        }
        let id = slots.free.last().copied().or_else(|| slots.all.len().try_into().ok());
        let id = id.filter(|id| usize::from(*id) < IN_FLIGHT_MAX).ok_or(CallError::Full)?;
        outbox.push(PacketId(id), method, request).map_err(CallError::TooLong)?;
        slots.begin(id);
        Ok(PacketId(id))
    }
}

impl Slots {
    /// Takes a free slot, either the last one released or a new one.
    fn begin(&mut self, id: u16) {
        let pending = Slot::Pending(Waker::noop().clone());
        match self.free.pop() {
            Some(_) => self.all[usize::from(id)] = pending,
            None => self.all.push(pending),
        }
    }

    fn poll(&mut self, PacketId(id): PacketId, context: &Context<'_>) -> Poll<Result<Bytes, CallError>> {
        let Some(slot) = self.all.get_mut(usize::from(id)) else { return Poll::Pending };
        match slot {
            Slot::Replied(body) => {
                let body = std::mem::take(body);
                *slot = Slot::Free;
                self.free.push(id);
                return Poll::Ready(Ok(body));
            }
            Slot::Pending(waker) => waker.clone_from(context.waker()),
            Slot::Free | Slot::Abandoned => {}
        }
        let ended = self.ended.as_ref().map(|reason| Err(CallError::Closed(reason.clone())));
        ended.map_or(Poll::Pending, Poll::Ready)
    }

    /// Stores a reply and returns the waker of its caller, or `None` if no request waits for it.
    fn handle_reply(&mut self, Packet { id, mut body, .. }: Packet) -> Option<Waker> {
        let slot = self.all.get_mut(usize::from(id.0))?;
        match slot {
            Slot::Pending(waker) => {
                let waker = std::mem::replace(waker, Waker::noop().clone());
                if body.len() <= COPY_MAX {
                    body = Bytes::copy_from_slice(&body);
                }
                *slot = Slot::Replied(body);
                Some(waker)
            }
            Slot::Abandoned => {
                *slot = Slot::Free;
                self.free.push(id.0);
                Some(Waker::noop().clone())
            }
            Slot::Free | Slot::Replied(_) => None,
        }
    }

    /// Cancels a request. Returns whether its reply is still outstanding.
    fn abandon(&mut self, PacketId(id): PacketId) -> bool {
        let Some(slot) = self.all.get_mut(usize::from(id)) else { return false };
        let is_pending = matches!(slot, Slot::Pending(_));
        *slot = if is_pending { Slot::Abandoned } else { Slot::Free };
        if !is_pending {
            self.free.push(id);
        }
        is_pending
    }

    /// Fails all requests and returns the wakers of their callers.
    fn end(&mut self, reason: &CloseReason) -> Vec<Waker> {
        self.ended = Some(reason.clone());
        let wakers = self.all.iter().filter_map(|slot| match slot {
            Slot::Pending(waker) => Some(waker.clone()),
            _ => None,
        });
        wakers.collect()
    }

    fn in_flight(&self) -> usize {
        self.all.len() - self.free.len()
    }
}

/// Reason why a request failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The handler has failed with this text.
    Failed(String),
    /// The connection has ended. The request may have been processed.
    Closed(CloseReason),
    /// The body is longer than the peer accepts.
    TooLong(TooLong),
    /// The maximum number of requests is in flight.
    Full,
}

impl CallError {
    fn of_connection(error: SendError) -> Self {
        match error {
            SendError::Closed(reason) => Self::Closed(reason),
            SendError::TooLong(error) => Self::TooLong(error),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(text) => f.write_str(text),
            Self::Closed(reason) => write!(f, "the connection has ended: {reason}"),
            Self::TooLong(error) => error.fmt(f),
            Self::Full => write!(f, "{IN_FLIGHT_MAX} requests are in flight"),
        }
    }
}

impl std::error::Error for CallError {}
