//! A router that calls an async function for each operation.

use crate::account::READ_BUFFER;
use crate::connection::ConnectionExt;
use crate::connection::Task;
use crate::connection::blocked::note_panic;
use crate::debug::opaque_debug;
use crate::executor::inline::{Continuation, FirstPoll, InlineSlot, ParkedFuture, UnwindResult, panic_text};
use crate::executor::inline_permission::{InlinePermission, PermissionHandle};
use crate::executor::tasks::Placement;
use crate::log_limit::{LineLimit, LogLimit};
use crate::{Connection, Declaration, Operation, Outbox, OverflowPolicy, Packet, Policy, Routed, Router, Stream};
use bytes::Bytes;
use parking_lot::Mutex;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;
use tokio::sync::Semaphore;

/// A router with a table of handlers, one per operation.
///
/// Packets of operations without a handler are dropped, and their number is logged, as in Go's frisbee. If a handler
/// panics, the panic is logged, no reply is sent, and the connection continues.
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
    table: HandlerTable,
    streams: Option<Arc<dyn Fn(Bytes, Stream) + Send + Sync>>,
}

/// The table of a [`Handlers`] router. It can be read and modified while it is in use.
///
/// Clones refer to the same table. Each connection applies changes before it routes the next packet. Handlers that are
/// already running are not affected.
///
/// ```
/// use frisbee::{Handler, Handlers, Operation, Policy};
///
/// let echo = Operation::user(10).unwrap();
/// let handlers = Handlers::new();
/// let table = handlers.table();
/// table.insert(echo, Handler::new(Policy::Inline, |_connection, packet| async { Some(packet) }));
/// assert_eq!(table.operations(), [echo]);
/// let moved = table.remove(echo).unwrap();
/// table.insert(Operation::user(11).unwrap(), moved);
/// ```
#[derive(Clone, Default)]
pub struct HandlerTable(Arc<LiveHandlers>);

#[derive(Default)]
struct LiveHandlers {
    table: Mutex<Arc<Table>>,
    /// Number of changes to the table. Connections compare it with their last value to detect a change without taking
    /// the lock.
    version: AtomicU64,
}

type Table = BTreeMap<u16, Handler>;

/// A handler with its execution policy, which several [tables](HandlerTable) can share.
#[derive(Clone)]
pub struct Handler(Arc<SharedHandler>);

struct SharedHandler {
    /// Function that creates the handler's state for a connection.
    start: Box<dyn Fn() -> HandlePacket + Send + Sync>,
    policy: Policy,
    /// Permission to poll the handler inline on the drivers of all connections; see [`Policy::Inline`].
    permission: Arc<InlinePermission>,
}

type HandlePacket = Box<dyn FnMut(&Connection, Packet, &mut Outbox) + Send>;

impl Handler {
    /// Creates a handler from an async function, which returns the reply to a packet, if there is one.
    ///
    /// ```
    /// use frisbee::{Connection, Handler, HandlerTable, Operation, Packet, Policy};
    ///
    /// let echo = Handler::new(Policy::Concurrent, async |_: Connection, packet: Packet| Some(packet));
    /// HandlerTable::default().insert(Operation::FIRST_USER, echo);
    /// ```
    pub fn new<H, F>(policy: Policy, handler: H) -> Self
    where
        H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
        F: Future<Output = Option<Packet>> + Send + 'static,
    {
        let (handler, permission) = (Arc::new(handler), Arc::<InlinePermission>::default());
        let shared = permission.clone();
        let start = Box::new(move || -> HandlePacket {
            let mut running = RunningHandler::new(handler.clone(), policy, &shared);
            Box::new(move |connection, packet, outbox| running.handle(connection, packet, outbox))
        });
        Self(Arc::new(SharedHandler { start, policy, permission }))
    }
}

impl HandlerTable {
    /// Returns all operations that have a handler, in ascending order.
    pub fn operations(&self) -> Vec<Operation> {
        self.current().keys().copied().filter_map(Operation::user).collect()
    }

    /// Returns the handler of an operation, if it has one.
    pub fn get(&self, operation: Operation) -> Option<Handler> {
        self.current().get(&operation.number()).cloned()
    }

    /// Sets the handler of an operation and returns the previous one.
    pub fn insert(&self, operation: Operation, handler: Handler) -> Option<Handler> {
        self.change(|table| table.insert(operation.number(), handler))
    }

    /// Removes and returns the handler of an operation.
    pub fn remove(&self, operation: Operation) -> Option<Handler> {
        self.change(|table| table.remove(&operation.number()))
    }

    /// Replaces all handlers with the handlers of another table.
    pub fn replace(&self, other: &Self) {
        let other = other.current();
        // Drop the previous handlers outside of the lock, because their destructors may use the table.
        drop(self.change(|table| std::mem::replace(table, Table::clone(&other))));
    }

    fn current(&self) -> Arc<Table> {
        self.0.table.lock().clone()
    }

    fn change<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let mut table = self.0.table.lock();
        let changed = change(Arc::make_mut(&mut table));
        // Increment the version after changing the table, so that a reader that sees the new version also sees the new
        // table.
        self.0.version.fetch_add(1, Ordering::Release);
        changed
    }

    /// Returns the number of changes to the table.
    #[inline]
    fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }
}

impl Handlers {
    /// Creates a router without handlers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the handler of an operation, which runs with [`Policy::Inline`]. Replaces the previous handler.
    pub fn on<H, F>(self, operation: Operation, handler: H) -> Self
    where
        H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
        F: Future<Output = Option<Packet>> + Send + 'static,
    {
        self.on_with(operation, Policy::Inline, handler)
    }

    /// Sets the handler of an operation, and its execution policy. Replaces the previous one.
    ///
    /// ```
    /// use frisbee::{Connection, Handlers, Operation, Packet, Policy};
    ///
    /// // A slow handler gets a task for each packet.
    /// let handlers = Handlers::new().on_with(Operation::FIRST_USER, Policy::Concurrent, async |_: Connection, packet: Packet| {
    ///     tokio::task::yield_now().await;
    ///     Some(packet)
    /// });
    /// # assert_eq!(handlers.table().operations().len(), 1);
    /// ```
    pub fn on_with<H, F>(self, operation: Operation, policy: Policy, handler: H) -> Self
    where
        H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
        F: Future<Output = Option<Packet>> + Send + 'static,
    {
        self.table.insert(operation, Handler::new(policy, handler));
        self
    }

    /// Returns the handler table, which can be read and modified while the router is in use. Only handlers that exist
    /// when the server is bound help to recognize clients with 8-byte headers.
    pub fn table(&self) -> HandlerTable {
        self.table.clone()
    }

    /// Sets the handler for streams that peers open. By default, such streams are closed.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use frisbee::{Handlers, Stream};
    ///
    /// // Sends the messages of each stream back.
    /// let handlers = Handlers::new().on_stream(|_first: Bytes, mut stream: Stream| {
    ///     tokio::spawn(async move {
    ///         while let Some(message) = stream.recv().await {
    ///             if stream.send(&message).await.is_err() {
    ///                 break;
    ///             }
    ///         }
    ///     });
    /// });
    /// # let _ = handlers;
    /// ```
    pub fn on_stream(mut self, handler: impl Fn(Bytes, Stream) + Send + Sync + 'static) -> Self {
        self.streams = Some(Arc::new(handler));
        self
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handlers").field(&self.table).finish()
    }
}

opaque_debug!([] HandlerTable, "HandlerTable", |this| operations = this.current().keys());

opaque_debug!([] Handler, "Handler");

impl Router for Handlers {
    type Session = HandlersSession;

    fn declaration(&self) -> Declaration {
        Declaration::default().operations(self.table.current().keys().map(|operation| *operation..=*operation))
    }

    fn connected(&self, connection: &Connection) -> HandlersSession {
        HandlersSession {
            connection: connection.clone(),
            version: self.table.version(),
            table: self.table.current(),
            running: BTreeMap::new(),
            unknown: 0,
        }
    }

    fn route(&self, session: &mut HandlersSession, packet: Packet, outbox: &mut Outbox) -> Routed {
        if session.version != self.table.version() {
            session.refresh(&self.table);
        }
        let operation = packet.operation.number();
        let Some(handler) = session.table.get(&operation) else {
            session.unknown += 1;
            return Routed::Discarded;
        };
        if session.connection.is_overloaded() {
            session.connection.count_rejected();
            return Routed::close("the server's memory limit for this client is reached");
        }
        let running = session.running.entry(operation);
        let (_, handle) = running.or_insert_with(|| (handler.clone(), (handler.0.start)()));
        handle(&session.connection, packet, outbox);
        Routed::Continue
    }

    fn overflow(&self, _session: &HandlersSession, _packet: &Packet) -> OverflowPolicy {
        OverflowPolicy::Wait
    }

    fn stream(&self, _session: &mut HandlersSession, first: Bytes, stream: Stream) -> Routed {
        if let Some(handler) = &self.streams {
            handler(first, stream);
        }
        Routed::Continue
    }

    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let inline = self.table.get(operation).filter(|handler| handler.0.policy == Policy::Inline);
        let Some(handler) = inline else { return false };
        handler.0.permission.handle_blocked(connection, &operation);
        true
    }

    fn disconnected(&self, session: HandlersSession, _reason: &crate::CloseReason) {
        if session.unknown > 0 {
            tracing::debug!(packets = session.unknown, "dropped packets of unknown operations");
        }
    }
}

/// State of [`Handlers`] for one connection.
pub struct HandlersSession {
    connection: Connection,
    /// Version of the handler table that was copied to `table`. If the table has changed, the copy is updated before
    /// the next packet is handled.
    version: u64,
    table: Arc<Table>,
    /// Handlers that were called on this connection, each with its per-connection state, by operation.
    running: BTreeMap<u16, (Handler, HandlePacket)>,
    unknown: u64,
}

impl HandlersSession {
    /// Updates the session's copy of the handler table if handlers have changed since the last packet.
    #[cold]
    fn refresh(&mut self, table: &HandlerTable) {
        // Load the version before the handlers, so that a concurrent change is detected the next time.
        self.version = table.version();
        self.table = table.current();
        let table = &self.table;
        self.running.retain(|operation, (handler, _)| {
            table.get(operation).is_some_and(|current| Arc::ptr_eq(&current.0, &handler.0))
        });
    }
}

opaque_debug!([] HandlersSession, "HandlersSession", |this| unknown = this.unknown);

/// Per-connection state of a handler.
struct RunningHandler<H, F> {
    handler: Arc<H>,
    slot: InlineSlot<F, Answer>,
    policy: Policy,
    permission: PermissionHandle,
    /// Semaphore that limits the concurrent calls of the handler on this connection; see [`Policy::AtMost`].
    permits: Arc<Semaphore>,
    /// Whether recent calls of the handler were pending after their first poll. If so, bodies of less than 64 KiB are
    /// copied, because each pending call would keep its whole read buffer in memory.
    waits: bool,
}

impl<H, F> RunningHandler<H, F>
where
    H: Fn(Connection, Packet) -> F + Send + Sync + 'static,
    F: Future<Output = Option<Packet>> + Send + 'static,
{
    fn new(handler: Arc<H>, policy: Policy, permission: &Arc<InlinePermission>) -> Self {
        let permits = match policy {
            Policy::AtMost(count) => count.clamp(1, Semaphore::MAX_PERMITS),
            Policy::Inline | Policy::Concurrent => Semaphore::MAX_PERMITS,
        };
        Self {
            handler,
            slot: InlineSlot::default(),
            policy,
            permission: PermissionHandle::of_connection(permission),
            permits: Arc::new(Semaphore::new(permits)),
            waits: policy != Policy::Inline,
        }
    }

    fn handle(&mut self, connection: &Connection, mut packet: Packet, outbox: &mut Outbox) {
        let operation = packet.operation;
        let mut memory = packet.body.len();
        if (1..READ_BUFFER / 2).contains(&memory) {
            if self.waits {
                packet.body = Bytes::copy_from_slice(&packet.body);
            } else {
                // Charge the whole read buffer, because a pending call may keep it alive.
                memory = READ_BUFFER;
            }
        }
        let make = || (self.handler)(connection.clone(), packet);
        let Self { slot, policy, permission, permits, waits, .. } = self;
        // Catch panics here too, because the handler may panic before it returns its future.
        let handled = catch_unwind(AssertUnwindSafe(|| match policy {
            Policy::Inline if permission.is_kept() => match slot.poll(make) {
                FirstPoll::Ready(reply) => {
                    // Append the packets that the handler has queued in the mailbox before the reply, so that they
                    // precede it.
                    connection.collect(outbox);
                    send(connection, reply, outbox);
                }
                FirstPoll::Pending(parked) => {
                    // Handlers of this operation may wait, so copy short bodies in the future.
                    *waits = true;
                    spawn(connection, memory, Placement::Home(operation, permission.clone()), parked, None);
                }
                FirstPoll::Panicked(panic) => report(connection, panic.as_ref()),
            },
            Policy::Inline | Policy::Concurrent => {
                spawn(connection, memory, Placement::Runtime, InlineSlot::park(make()), None);
            }
            Policy::AtMost(_) => {
                spawn(connection, memory, Placement::Runtime, InlineSlot::park(make()), Some(permits.clone()));
            }
        }));
        if let Err(panic) = handled {
            report(connection, panic.as_ref());
        }
    }
}

fn spawn(
    connection: &Connection,
    memory: usize,
    placement: Placement,
    parked: ParkedFuture<Option<Packet>, Answer>,
    permits: Option<Arc<Semaphore>>,
) {
    let memory = memory + parked.size();
    // Pass no limit, because tasks that are not calls are unlimited.
    let _ = connection.spawn_within(None, None, Some(memory), placement, |task| match permits {
        None => parked.then(Answer(task)),
        Some(permits) => Box::pin(async move {
            let _permit = permits.acquire().await.ok();
            Answer(task).then(parked.await);
        }),
    });
}

/// Continuation of a pending handler, which sends the packet that the handler returns.
struct Answer(Task);

impl Continuation<Option<Packet>> for Answer {
    fn then(self, worked: UnwindResult<Option<Packet>>) {
        match worked {
            // Ignore the error: if the connection has ended, no peer waits for the reply.
            Ok(reply) => {
                let connection = self.0.connection().clone();
                let _ = self.0.answer(|outbox| send(&connection, reply, outbox));
            }
            Err(panic) => report(self.0.connection(), panic.as_ref()),
        }
    }
}

fn send(connection: &Connection, reply: Option<Packet>, outbox: &mut Outbox) {
    if let Some(packet) = reply
        && let Err(error) = outbox.forward(&packet)
    {
        static LINE: LineLimit = LineLimit::new();
        if let Some(suppressed) = LINE.may_say(Instant::now()) {
            let (peer, operation) = (connection.peer_addr(), packet.operation);
            tracing::warn!(target: "frisbee::handler", %operation, ?peer, %error, suppressed, "handler reply not sent");
        }
    }
}

#[cold]
fn report(connection: &Connection, panic: &(dyn Any + Send)) {
    note_panic(connection);
    static LINES: LazyLock<LogLimit> = LazyLock::new(LogLimit::default);
    let text = panic_text(panic);
    if let Some(suppressed) = LINES.may_log(text, Instant::now()) {
        let peer = connection.peer_addr();
        tracing::error!(target: "frisbee::handler", ?peer, panic = text, suppressed, "a handler panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::account::Budget;
    use crate::{HeaderForm, PacketId};
    use std::sync::atomic::AtomicUsize;
    use tokio::runtime::Handle;

    fn operation(number: u16) -> Operation {
        Operation::user(number).expect("operation should be above the reserved range")
    }

    fn connection() -> Connection {
        let budget = Arc::new(Budget::new(usize::MAX, 0));
        Connection::server(&Default::default(), &budget, Handle::current(), Default::default())
    }

    /// Creates a handler that replies with `text`.
    fn responds(policy: Policy, text: &'static str) -> Handler {
        Handler::new(policy, move |_, packet: Packet| async move {
            Some(Packet { body: Bytes::from_static(text.as_bytes()), ..packet })
        })
    }

    fn names(table: &HandlerTable) -> Vec<u16> {
        table.operations().into_iter().map(Operation::number).collect()
    }

    #[tokio::test]
    async fn handlers_are_changed_while_connections_use_them() {
        let handlers = Handlers::new().on(operation(10), |_, packet| async { Some(packet) });
        let table = handlers.table();
        let connection = connection();
        let mut session = handlers.connected(&connection);
        let mut answer = |number| {
            let mut outbox = Outbox::new(HeaderForm::Current);
            let packet = Packet { id: PacketId(1), operation: operation(number), body: Bytes::from_static(b"echo") };
            let routed = handlers.route(&mut session, packet, &mut outbox);
            let bytes = outbox.take_bytes();
            let body = String::from_utf8_lossy(bytes.get(10..).unwrap_or_default()).into_owned();
            assert_eq!(matches!(routed, Routed::Discarded), body.is_empty());
            body
        };
        assert_eq!([10, 11].map(&mut answer), ["echo", ""]);
        assert!(table.get(operation(10)).is_some() && table.get(operation(11)).is_none());
        assert!(table.insert(operation(11), responds(Policy::Inline, "new")).is_none());
        assert_eq!([10, 11].map(&mut answer), ["echo", "new"]);
        assert!(table.insert(operation(10), responds(Policy::Inline, "other")).is_some());
        assert_eq!((names(&table), answer(10)), (vec![10, 11], "other".to_owned()));
        assert!(table.remove(operation(11)).is_some() && table.remove(operation(11)).is_none());
        assert_eq!([10, 11].map(&mut answer), ["other", ""]);
        let replacing = HandlerTable::default();
        replacing.insert(operation(12), responds(Policy::Inline, "replaced"));
        table.replace(&replacing);
        assert_eq!([10, 11, 12].map(&mut answer), ["", "", "replaced"]);
        assert_eq!(handlers.declaration().operations, [12..=12]);
    }

    /// Regression test: replacing all handlers dropped the previous ones while the table was locked, so a destructor
    /// that used the table caused a deadlock.
    #[test]
    fn replaced_handlers_are_dropped_unlocked() {
        struct Dropped(HandlerTable, Arc<AtomicUsize>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                assert!(!self.0.0.table.is_locked(), "table should be unlocked");
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        let (table, drops) = (HandlerTable::default(), Arc::<AtomicUsize>::default());
        let dropped = Dropped(table.clone(), drops.clone());
        let handler = Handler::new(Policy::Inline, move |_, packet| {
            let _ = &dropped; // Captured, so that it is dropped with the handler.
            async { Some(packet) }
        });
        table.insert(operation(10), handler);
        table.replace(&HandlerTable::default());
        assert_eq!((drops.load(Ordering::Relaxed), names(&table)), (1, vec![]));
    }

    #[tokio::test]
    async fn concurrent_handler_does_not_free_blocked_thread() {
        let handlers = Handlers::new();
        for (number, policy) in [(10, Policy::Inline), (11, Policy::Concurrent), (12, Policy::AtMost(2))] {
            handlers.table().insert(operation(number), responds(policy, "x"));
        }
        let connection = connection();
        let blocked = [10, 11, 12, 13].map(|number| handlers.blocked(&connection, operation(number)));
        assert_eq!(blocked, [true, false, false, false]);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn blocking_handler_is_no_longer_polled_inline() {
        let handlers = Handlers::new();
        handlers.table().insert(operation(10), responds(Policy::Inline, "here"));
        handlers.table().insert(operation(11), responds(Policy::Concurrent, "there"));
        let connection = connection();
        let mut session = handlers.connected(&connection);
        let mut is_answered_inline = |number| {
            let mut outbox = Outbox::new(HeaderForm::Current);
            let packet = Packet { id: PacketId(1), operation: operation(number), body: Bytes::new() };
            assert!(matches!(handlers.route(&mut session, packet, &mut outbox), Routed::Continue));
            !outbox.is_empty()
        };
        assert!(is_answered_inline(10) && !is_answered_inline(11));
        // Check both conditions at once: the handler is tried inline again after a second, which may pass on a busy
        // machine.
        let mut is_left = || handlers.blocked(&connection, operation(10)) && !is_answered_inline(10);
        assert!((0..100).any(|_| is_left()));
    }

    #[tokio::test]
    async fn pending_handler_keeps_no_read_buffer() {
        let address = Arc::new(AtomicUsize::new(0));
        for (policy, keeps) in [(Policy::Inline, [true, true]), (Policy::Concurrent, [false, true])] {
            let last = address.clone();
            let handlers = Handlers::new().on_with(operation(10), policy, move |_, packet: Packet| {
                last.store(packet.body.as_ptr() as usize, Ordering::Relaxed);
                async { None }
            });
            let connection = connection();
            let mut session = handlers.connected(&connection);
            let buffer = Bytes::from(vec![0; READ_BUFFER]);
            let is_shared = [READ_BUFFER / 2 - 1, READ_BUFFER / 2].map(|length| {
                let packet = Packet { id: PacketId(1), operation: operation(10), body: buffer.slice(..length) };
                assert!(matches!(
                    handlers.route(&mut session, packet, &mut Outbox::new(HeaderForm::Current)),
                    Routed::Continue
                ));
                address.load(Ordering::Relaxed) == buffer.as_ptr() as usize
            });
            assert_eq!(is_shared, keeps);
        }
        let handlers = Handlers::new().on(operation(10), |_, _| async { panic!("as the test wants") });
        let connection = connection();
        let mut session = handlers.connected(&connection);
        let packet = Packet { id: PacketId(1), operation: operation(10), body: Bytes::new() };
        assert!(matches!(
            handlers.route(&mut session, packet, &mut Outbox::new(HeaderForm::Current)),
            Routed::Continue
        ));
    }
}
