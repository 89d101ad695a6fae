//! The end that replies. It polls handlers in place, and runs those that stay pending as tasks of their connection.

use crate::{ERROR, RESULT};
use frisbee::bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{
    Continuation, FirstPoll, InlinePermission, InlineSlot, ParkedFuture, PermissionHandle, Placement, Task,
    UnwindResult,
};
use frisbee::{Connection, Operation, Outbox, OverflowPolicy, Packet, PacketId, Routed, Router, body_memory, tlv};
use std::fmt;
use std::sync::Arc;

/// Result of a handler: a body, or an error text for the caller.
pub type Outcome = Result<Bytes, String>;

/// Serves requests with an async function that takes the method and the body.
pub struct Service<H> {
    handler: H,
    /// Whether handlers run in place. Cleared when a handler has blocked its thread.
    permission: Arc<InlinePermission>,
}

impl<H, F> Service<H>
where
    H: Fn(Operation, Bytes) -> F + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    /// Creates a service with this handler.
    pub fn new(handler: H) -> Self {
        Self { handler, permission: Arc::default() }
    }
}

/// State that a [`Service`] keeps for a connection.
pub struct ServiceSession<F> {
    connection: Connection,
    /// Polls each handler once, in place.
    slot: InlineSlot<F, Reply>,
    permission: PermissionHandle,
}

impl<H, F> Router for Service<H>
where
    H: Fn(Operation, Bytes) -> F + Send + Sync + 'static,
    F: Future<Output = Outcome> + Send + 'static,
{
    type Session = ServiceSession<F>;

    fn connected(&self, connection: &Connection) -> ServiceSession<F> {
        let permission = PermissionHandle::of_connection(&self.permission);
        ServiceSession { connection: connection.clone(), slot: InlineSlot::default(), permission }
    }

    fn route(&self, session: &mut ServiceSession<F>, packet: Packet, outbox: &mut Outbox) -> Routed {
        if session.connection.is_overloaded() {
            return self.discarded(session, packet, outbox);
        }
        let Packet { id, operation: method, body } = packet;
        let memory = body_memory(body.len());
        if !session.permission.is_kept() {
            let parked = InlineSlot::park((self.handler)(method, body));
            return session.spawn(id, method, memory, parked, Placement::Runtime, outbox);
        }
        match session.slot.poll(|| (self.handler)(method, body)) {
            FirstPoll::Ready(outcome) => put_reply(outbox, id, method, outcome),
            FirstPoll::Panicked(_) => put_error(outbox, id, method, "the handler panicked"),
            FirstPoll::Pending(parked) => {
                let placement = Placement::Home(method, session.permission.clone());
                return session.spawn(id, method, memory, parked, placement, outbox);
            }
        }
        Routed::Continue
    }

    /// While the peer does not read replies, requests have to wait. Cancellations and streams do not.
    fn overflow(&self, _session: &ServiceSession<F>, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Wait
    }

    fn discarded(&self, session: &mut ServiceSession<F>, packet: Packet, outbox: &mut Outbox) -> Routed {
        session.connection.count_rejected();
        put_error(outbox, packet.id, packet.operation, "out of memory");
        Routed::Continue
    }

    /// The body of a CANCEL packet contains the operation of the request.
    fn cancelled(&self, session: &mut ServiceSession<F>, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        let method = tlv::whole_varint(&body).and_then(|number| Operation::user(number.try_into().ok()?));
        if let Some(method) = method.filter(|method| session.connection.cancel_call(id, *method)) {
            put_error(outbox, id, method, "cancelled");
        }
    }

    fn blocked(&self, connection: &Connection, method: Operation) -> bool {
        self.permission.handle_blocked(connection, &method);
        true
    }
}

impl<F: Future<Output = Outcome> + Send + 'static> ServiceSession<F> {
    /// Runs a pending handler as a task. The memory of its request is charged to the connection.
    fn spawn(
        &self,
        id: PacketId,
        method: Operation,
        memory: usize,
        parked: ParkedFuture<Outcome, Reply>,
        placement: Placement,
        outbox: &mut Outbox,
    ) -> Routed {
        let job = |task| parked.then(Reply { task, id, method });
        if !self.connection.spawn_call(Some((id, method)), memory, placement, job) {
            put_error(outbox, id, method, "too many requests in flight");
        }
        Routed::Continue
    }
}

/// Destination of the result of a pending handler.
struct Reply {
    task: Task,
    id: PacketId,
    method: Operation,
}

impl Continuation<Outcome> for Reply {
    fn then(self, worked: UnwindResult<Outcome>) {
        let Self { task, id, method } = self;
        let outcome = worked.unwrap_or_else(|_panic| Err("the handler panicked".to_owned()));
        // The result is ignored, because the connection may have ended.
        let _ = task.answer(|outbox| put_reply(outbox, id, method, outcome));
    }
}

fn put_reply(outbox: &mut Outbox, id: PacketId, method: Operation, outcome: Outcome) {
    let body = match outcome {
        Ok(body) => body,
        Err(text) => return put_error(outbox, id, method, &text),
    };
    let mut packet = outbox.packet(id, method);
    packet.put_slice(&[RESULT]);
    packet.put_owned(body);
    if let Err(error) = packet.finish() {
        put_error(outbox, id, method, &error.to_string());
    }
}

/// Writes an error text. Truncates a long text, so that the error can always be sent.
fn put_error(outbox: &mut Outbox, id: PacketId, method: Operation, text: &str) {
    let mut packet = outbox.packet(id, method);
    packet.put_slice(&[ERROR]);
    packet.put_slice(text.as_bytes().get(..ERROR_MAX).unwrap_or(text.as_bytes()));
    let sent = packet.finish();
    debug_assert!(sent.is_ok(), "peer should accept {ERROR_MAX} bytes");
}

/// Maximum length in bytes of an error text. Every peer accepts bodies of this length.
const ERROR_MAX: usize = 1024;

impl<H> fmt::Debug for Service<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl<F> fmt::Debug for ServiceSession<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceSession").field("connection", &self.connection).finish_non_exhaustive()
    }
}
