//! A router that is a table: one async function for each operation.

use crate::router::inline::{Cell, Parked, Polled};
use crate::{Connection, Next, Operation, Outbox, Packet, Policy, Router, Stream};
use bytes::Bytes;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// What a handler answers: a packet to send back, or nothing.
pub type Reply = Option<Packet>;

/// A table of handlers by operation.
///
/// Packets of operations that have no handler are counted in the log and dropped, as Go's frisbee does. A handler that
/// panics is logged and answers nothing; the connection goes on.
///
/// ```
/// use frisbee::{Handlers, Operation, Packet, Policy};
///
/// let echo = Operation::user(10).unwrap();
/// let work = Operation::user(11).unwrap();
/// let handlers = Handlers::new()
///     .on(echo, |_connection, packet| async { Some(packet) })
///     .on_with(work, Policy::AtMost(4), |_connection, packet: Packet| async move {
///         tokio::task::yield_now().await;
///         Some(Packet::new(packet.id, packet.operation, "done"))
///     });
/// ```
#[derive(Default)]
pub struct Handlers {
    table: BTreeMap<u16, Arc<dyn Prototype>>,
    streams: Option<Arc<dyn Fn(Bytes, Stream) + Send + Sync>>,
}

impl Handlers {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler of an operation, with [`Policy::Inline`]. An earlier one is replaced.
    pub fn on<H, F>(self, operation: Operation, handler: H) -> Self
    where
        H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        self.on_with(operation, Policy::Inline, handler)
    }

    /// Sets the handler of an operation and where it runs.
    pub fn on_with<H, F>(mut self, operation: Operation, policy: Policy, handler: H) -> Self
    where
        H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
        F: Future<Output = Reply> + Send + 'static,
    {
        self.table.insert(operation.number(), Arc::new(Handler { handler: Arc::new(handler), policy }));
        self
    }

    /// Sets what becomes of the streams that a peer opens. Without it they are closed.
    pub fn on_stream(mut self, handler: impl Fn(Bytes, Stream) + Send + Sync + 'static) -> Self {
        self.streams = Some(Arc::new(handler));
        self
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers").field("operations", &self.table.keys()).finish_non_exhaustive()
    }
}

impl Router for Handlers {
    type Session = HandlersSession;

    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        self.table.keys().map(|operation| *operation..=*operation).collect()
    }

    fn connected(&self, connection: &Connection) -> HandlersSession {
        HandlersSession { connection: connection.clone(), running: BTreeMap::new(), unknown: 0 }
    }

    fn route(&self, session: &mut HandlersSession, packet: Packet, outbox: &mut Outbox) -> Next {
        let operation = packet.operation.number();
        let Some(prototype) = self.table.get(&operation) else {
            session.unknown += 1;
            return Next::Continue;
        };
        if session.connection.is_overloaded() {
            session.connection.count_shed();
            return Next::close("no memory for a request");
        }
        let handler = session.running.entry(operation).or_insert_with(|| prototype.instance());
        handler.handle(&session.connection, packet, outbox);
        Next::Continue
    }

    fn stream(&self, _session: &mut HandlersSession, first: Bytes, stream: Stream) -> Next {
        if let Some(handler) = &self.streams {
            handler(first, stream);
        }
        Next::Continue
    }

    fn disconnected(&self, session: HandlersSession, _reason: &crate::CloseReason) {
        if session.unknown > 0 {
            tracing::debug!(packets = session.unknown, "packets of unknown operations were dropped");
        }
    }
}

/// What [`Handlers`] keep for a connection.
pub struct HandlersSession {
    connection: Connection,
    running: BTreeMap<u16, Box<dyn Instance>>,
    unknown: u64,
}

impl fmt::Debug for HandlersSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlersSession").field("unknown", &self.unknown).finish_non_exhaustive()
    }
}

/// A handler in the table.
trait Prototype: Send + Sync {
    fn instance(&self) -> Box<dyn Instance>;
}

/// A handler on a connection.
trait Instance: Send {
    fn handle(&mut self, connection: &Connection, packet: Packet, outbox: &mut Outbox);
}

struct Handler<H> {
    handler: Arc<H>,
    policy: Policy,
}

struct Running<H, F> {
    handler: Arc<H>,
    cell: Cell<F>,
    policy: Policy,
    /// For [`Policy::AtMost`].
    permits: Arc<Semaphore>,
}

impl<H, F> Prototype for Handler<H>
where
    H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    fn instance(&self) -> Box<dyn Instance> {
        let permits = match self.policy {
            Policy::AtMost(count) => count.clamp(1, Semaphore::MAX_PERMITS),
            Policy::Inline | Policy::Concurrent => Semaphore::MAX_PERMITS,
        };
        Box::new(Running {
            handler: self.handler.clone(),
            cell: Cell::default(),
            policy: self.policy,
            permits: Arc::new(Semaphore::new(permits)),
        })
    }
}

impl<H, F> Instance for Running<H, F>
where
    H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
    F: Future<Output = Reply> + Send + 'static,
{
    fn handle(&mut self, connection: &Connection, packet: Packet, outbox: &mut Outbox) {
        let length = packet.body.len();
        let future = (self.handler)(connection.clone(), packet);
        match self.policy {
            Policy::Inline => match self.cell.poll(future) {
                Polled::Ready(reply) => {
                    connection.collect(outbox);
                    send(reply, outbox);
                }
                Polled::Pending(parked) => spawn(connection, length, parked, None),
                Polled::Panicked(panic) => report(panic.as_ref()),
            },
            Policy::Concurrent => spawn(connection, length, Cell::park(future), None),
            Policy::AtMost(_) => spawn(connection, length, Cell::park(future), Some(self.permits.clone())),
        }
    }
}

fn spawn<F>(connection: &Connection, length: usize, parked: Parked<F>, permits: Option<Arc<Semaphore>>)
where
    F: Future<Output = Reply> + Send + 'static,
{
    let replies = connection.clone();
    let hold = connection.hold(length);
    connection.spawn(async move {
        let _hold = hold;
        let _permit = match &permits {
            Some(permits) => permits.acquire().await.ok(),
            None => None,
        };
        match parked.await {
            // The connection may have ended meanwhile; there is nobody to answer then.
            Ok(reply) => drop(replies.send_now(|outbox| send(reply, outbox))),
            Err(panic) => report(panic.as_ref()),
        }
    });
}

fn send(reply: Reply, outbox: &mut Outbox) {
    if let Some(packet) = reply
        && let Err(error) = outbox.forward(&packet)
    {
        tracing::warn!(operation = %packet.operation, %error, "a reply cannot be sent");
    }
}

fn report(panic: &(dyn Any + Send)) {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("(no text)"), "a handler panicked");
}
