//! A router that combines several routers, each with its own range of operations.

use crate::connection::PANICKED;
use crate::debug::opaque_debug;
use crate::router::opening;
use crate::{
    BatchEnd, CloseReason, Connection, ConnectionEvent, Declaration, HandOffRequest, MountError, Outbox,
    OverflowPolicy, Packet, PacketId, Routed, Router, Stream,
};
use bytes::Bytes;
use frisbee_core::Operation;
use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

/// A router that dispatches to other routers by ranges of operations. Clones share these routers.
///
/// Packets and hand-off requests are passed to the router that is mounted on their operation. Packets of other
/// operations are dropped and counted in the log. A stream is passed to the router of the operation in its first
/// packet; see [`opening`]. Streams without an operation are passed to the [`fallback`](Self::fallback), or closed if
/// there is none. All other events are passed to all routers.
///
/// ```
/// use frisbee::{Handlers, Mounts, Operation, Server};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let echo = Handlers::new().on(Operation::user(10).unwrap(), |_connection, packet| async { Some(packet) });
/// let silent = Handlers::new().on(Operation::user(1000).unwrap(), |_connection, _packet| async { None });
/// let both = Mounts::new().mount(10..100, echo).mount(1000..=1999, silent);
/// let server = Server::builder().bind("127.0.0.1:0", both).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Mounts {
    /// Mounted routers, sorted by their operation ranges.
    mounts: Vec<Mount>,
    fallback: Option<Mount>,
    /// First error that occurred while routers were mounted. Building the server or client returns the error.
    wrong: Option<MountError>,
}

#[derive(Clone)]
struct Mount {
    range: RangeInclusive<u16>,
    name: &'static str,
    router: Arc<dyn ErasedRouter>,
}

impl Mounts {
    /// Creates a router without mounted routers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Mounts a router on a range of operations, such as `1000..=1099` or `1000..1100`.
    ///
    /// An invalid range is reported by [`Declaration::check`], and thus when a server is bound or a client
    /// connects.
    ///
    /// ```
    /// use frisbee::{Handlers, Mounts, Operation};
    ///
    /// let router = Mounts::new().mount(10..=99, Handlers::new());
    /// assert!(router.contains(Operation::user(42).unwrap()));
    /// ```
    pub fn mount<R: Router>(mut self, range: impl RangeBounds<u16>, router: R) -> Self {
        let name = std::any::type_name::<R>();
        let Some(range) = inclusive(&range) else {
            let start = match range.start_bound() {
                Bound::Included(start) => start.to_string(),
                Bound::Excluded(before) => format!("after {before} "),
                Bound::Unbounded => String::new(),
            };
            let end = match range.end_bound() {
                Bound::Included(end) => format!("={end}"),
                Bound::Excluded(behind) => behind.to_string(),
                Bound::Unbounded => String::new(),
            };
            let owner = format!("{name} on {start}..{end}");
            self.wrong.get_or_insert(MountError::Range { owner });
            return self;
        };
        if let Some(overlap) = self.overlap(&range, || owner(name, &range)) {
            self.wrong.get_or_insert(overlap);
        }
        let mount = Mount { range, name, router: Arc::new(Arc::new(router)) };
        let at = self.mounts.partition_point(|other| other.range.start() <= mount.range.start());
        self.mounts.insert(at, mount);
        self
    }

    /// Sets the router for streams that name no operation in their first packet. Replaces the previous fallback.
    pub fn fallback<R: Router>(mut self, router: R) -> Self {
        let name = std::any::type_name::<R>();
        self.fallback = Some(Mount { range: 0..=0, name, router: Arc::new(Arc::new(router)) });
        self
    }

    /// Returns whether there are neither mounted routers nor a fallback router.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.mounts.is_empty() && self.fallback.is_none()
    }

    /// Returns whether one of the mounted routers handles this operation.
    #[inline]
    pub fn contains(&self, operation: Operation) -> bool {
        !self.mounts.is_empty() && self.find(operation.number()).is_some()
    }

    /// Returns whether there is a fallback router for streams that name no operation in their first packet.
    pub fn has_fallback(&self) -> bool {
        self.fallback.is_some()
    }

    /// Returns an error if the operation range of a mounted router overlaps with `range`. `other` returns the name of
    /// the router that `range` belongs to.
    pub fn overlap(&self, range: &RangeInclusive<u16>, other: impl FnOnce() -> String) -> Option<MountError> {
        let overlaps = |mount: &&Mount| mount.range.start() <= range.end() && range.start() <= mount.range.end();
        let mount = self.mounts.iter().find(overlaps)?;
        Some(MountError::Overlap { owners: [owner(mount.name, &mount.range), other()] })
    }

    fn find(&self, operation: u16) -> Option<usize> {
        let at = self.mounts.partition_point(|mount| *mount.range.start() <= operation).checked_sub(1)?;
        self.mounts.get(at).filter(|mount| mount.range.contains(&operation)).map(|_| at)
    }
}

/// Converts a range of operations to an inclusive range. An unbounded start excludes the reserved operations.
fn inclusive(range: &impl RangeBounds<u16>) -> Option<RangeInclusive<u16>> {
    let start = match range.start_bound() {
        Bound::Included(start) => *start,
        Bound::Excluded(before) => before.checked_add(1)?,
        Bound::Unbounded => Operation::FIRST_USER.number(),
    };
    let end = match range.end_bound() {
        Bound::Included(end) => *end,
        Bound::Excluded(behind) => behind.checked_sub(1)?,
        Bound::Unbounded => u16::MAX,
    };
    (Operation::FIRST_USER.number() <= start && start <= end).then_some(start..=end)
}

/// Returns the operations that are in both ranges, if any.
fn intersection(one: &RangeInclusive<u16>, other: &RangeInclusive<u16>) -> Option<RangeInclusive<u16>> {
    let both = *one.start().max(other.start())..=*one.end().min(other.end());
    (!both.is_empty()).then_some(both)
}

fn owner(name: &str, range: &RangeInclusive<u16>) -> String {
    format!("{name} on {}..={}", range.start(), range.end())
}

/// Sessions of all routers of [`Mounts`] for one connection. Empty if no routers are mounted.
#[derive(Default)]
pub struct MountsSession(Option<Box<Sessions>>);

#[derive(Default)]
struct Sessions {
    sessions: Vec<Box<dyn ErasedSession>>,
    fallback: Option<Box<dyn ErasedSession>>,
    /// Number of received packets with an operation that none of the routers handles.
    unknown: u64,
}

impl MountsSession {
    fn get(&mut self, at: usize) -> Option<&mut Box<dyn ErasedSession>> {
        self.0.as_mut()?.sessions.get_mut(at)
    }

    fn each(&mut self) -> impl Iterator<Item = &mut Box<dyn ErasedSession>> {
        self.0.iter_mut().flat_map(|of| of.sessions.iter_mut().chain(&mut of.fallback))
    }
}

impl Router for Mounts {
    type Session = MountsSession;

    fn declaration(&self) -> Declaration {
        let mut all = Declaration {
            operations: self.mounts.iter().map(|mount| mount.range.clone()).collect(),
            calls: Vec::new(),
            hello_items: Vec::new(),
            closes_by_itself: false,
            wrong: self.wrong.clone(),
        };
        for mount in self.mounts.iter().chain(&self.fallback) {
            let mounted = mount.router.declaration();
            all.calls.extend(mounted.calls.iter().filter_map(|calls| intersection(calls, &mount.range)));
            all.hello_items.extend(mounted.hello_items);
            all.closes_by_itself |= mounted.closes_by_itself;
            all.wrong = all.wrong.or(mounted.wrong);
        }
        all
    }

    fn connected(&self, connection: &Connection) -> MountsSession {
        if self.is_empty() {
            return MountsSession(None);
        }
        let mut opened = Sessions { sessions: Vec::with_capacity(self.mounts.len()), ..Sessions::default() };
        let finished = catch_unwind(AssertUnwindSafe(|| {
            for mount in &self.mounts {
                opened.sessions.push(mount.router.connected(connection));
            }
            opened.fallback = self.fallback.as_ref().map(|mount| mount.router.connected(connection));
        }));
        let session = MountsSession(Some(Box::new(opened)));
        if let Err(panic) = finished {
            // Notify the routers that have already been connected.
            self.disconnected(session, &CloseReason::Router(PANICKED.into()));
            resume_unwind(panic)
        }
        session
    }

    fn route(&self, session: &mut MountsSession, packet: Packet, outbox: &mut Outbox) -> Routed {
        let mounted = self.find(packet.operation.number()).and_then(|at| session.get(at));
        let Some(mounted) = mounted else {
            session.0.get_or_insert_default().unknown += 1;
            return Routed::Discarded;
        };
        mounted.route(packet, outbox)
    }

    fn overflow(&self, session: &MountsSession, packet: &Packet) -> OverflowPolicy {
        let Some(of) = &session.0 else { return OverflowPolicy::Wait };
        let operation = match packet.operation {
            Operation::STREAM => opening::operation(&packet.body),
            operation => Some(operation.number()),
        };
        let mounted = match operation {
            Some(operation) => self.find(operation).and_then(|at| of.sessions.get(at)),
            None => of.fallback.as_ref(),
        };
        mounted.map_or(OverflowPolicy::Wait, |mounted| mounted.overflow(packet))
    }

    fn stream(&self, session: &mut MountsSession, first: Bytes, stream: Stream) -> Routed {
        let mounted = match opening::operation(&first) {
            Some(operation) => self.find(operation).and_then(|at| session.get(at)),
            None => session.0.as_mut().and_then(|of| of.fallback.as_mut()),
        };
        match mounted {
            Some(mounted) => mounted.stream(first, stream),
            None => Routed::Discarded,
        }
    }

    fn hand_off(&self, session: &mut MountsSession, request: HandOffRequest) -> Routed {
        match self.find(request.operation().number()).and_then(|at| session.get(at)) {
            Some(mounted) => mounted.hand_off(request),
            None => Routed::Discarded,
        }
    }

    fn discarded(&self, session: &mut MountsSession, packet: Packet, outbox: &mut Outbox) -> Routed {
        match self.find(packet.operation.number()).and_then(|at| session.get(at)) {
            Some(mounted) => mounted.discarded(packet, outbox),
            None => {
                session.0.get_or_insert_default().unknown += 1;
                Routed::Discarded
            }
        }
    }

    fn event(&self, session: &mut MountsSession, event: &mut ConnectionEvent<'_>) {
        if !matches!(event, ConnectionEvent::Extension { .. }) {
            session.each().for_each(|mounted| mounted.event(event));
        }
    }

    fn cancelled(&self, session: &mut MountsSession, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        session.each().for_each(|mounted| mounted.cancelled(id, body.clone(), outbox));
    }

    fn batch_ended(&self, session: &mut MountsSession, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        session.each().filter_map(|mounted| mounted.batch_ended(batch)).min()
    }

    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let mount = self.find(operation.number()).and_then(|at| self.mounts.get(at));
        mount.is_some_and(|mount| mount.router.blocked(connection, operation))
    }

    fn disconnected(&self, session: MountsSession, reason: &CloseReason) {
        let Some(Sessions { sessions, fallback, unknown }) = session.0.map(|of| *of) else { return };
        if unknown > 0 {
            tracing::debug!(packets = unknown, "dropped packets of unknown operations");
        }
        let mut ended = Ok(());
        for mounted in sessions.into_iter().chain(fallback) {
            // Notify the other routers even if one of them panics.
            ended = ended.and(catch_unwind(AssertUnwindSafe(|| mounted.disconnected(reason))));
        }
        ended.unwrap_or_else(|panic| resume_unwind(panic));
    }
}

impl fmt::Debug for Mounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mounts = self.mounts.iter().map(|mount| owner(mount.name, &mount.range));
        let fallback = self.fallback.as_ref().map(|fallback| fallback.name);
        f.debug_struct("Mounts").field("mounts", &mounts.collect::<Vec<_>>()).field("fallback", &fallback).finish()
    }
}

opaque_debug!([] MountsSession, "MountsSession", |this| mounts = this.0.as_ref().map_or(0, |of| of.sessions.len()));

/// Object-safe interface of a mounted router.
trait ErasedRouter: Send + Sync {
    fn declaration(&self) -> Declaration;
    fn connected(&self, connection: &Connection) -> Box<dyn ErasedSession>;
    fn blocked(&self, connection: &Connection, operation: Operation) -> bool;
}

impl<R: Router> ErasedRouter for Arc<R> {
    fn declaration(&self) -> Declaration {
        (**self).declaration()
    }

    fn connected(&self, connection: &Connection) -> Box<dyn ErasedSession> {
        Box::new(Mounted { router: self.clone(), session: (**self).connected(connection) })
    }

    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        (**self).blocked(connection, operation)
    }
}

struct Mounted<R: Router> {
    router: Arc<R>,
    session: R::Session,
}

/// Defines methods that call the [`Router`] methods with the same names.
macro_rules! erased_session {
    ($($method:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        /// A router with its session for one connection.
        trait ErasedSession: Send {
            $(fn $method(&mut self $(, $argument: $type)*) $(-> $result)?;)*
            fn overflow(&self, packet: &Packet) -> OverflowPolicy;
            fn disconnected(self: Box<Self>, reason: &CloseReason);
        }

        impl<R: Router> ErasedSession for Mounted<R> {
            $(fn $method(&mut self $(, $argument: $type)*) $(-> $result)? {
                self.router.$method(&mut self.session $(, $argument)*)
            })*

            fn overflow(&self, packet: &Packet) -> OverflowPolicy {
                self.router.overflow(&self.session, packet)
            }

            fn disconnected(self: Box<Self>, reason: &CloseReason) {
                self.router.disconnected(self.session, reason);
            }
        }
    };
}

erased_session! {
    route(packet: Packet, outbox: &mut Outbox) -> Routed;
    stream(first: Bytes, stream: Stream) -> Routed;
    discarded(packet: Packet, outbox: &mut Outbox) -> Routed;
    event(event: &mut ConnectionEvent<'_>);
    cancelled(id: PacketId, body: Bytes, outbox: &mut Outbox);
    hand_off(request: HandOffRequest) -> Routed;
    batch_ended(batch: &mut BatchEnd<'_>) -> Option<Instant>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Handlers, PeerKind, extension};

    fn wrong(mounts: &Mounts) -> String {
        mounts.declaration().check().expect_err("overlapping mount should be rejected").to_string()
    }

    /// A router with a HELLO item of 32 KiB.
    struct Verbose;

    impl Router for Verbose {
        type Session = ();

        fn declaration(&self) -> Declaration {
            Declaration::default().hello_items([(100, vec![0; 32 * 1024].into())])
        }

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }
    }

    /// A server must reject routers with items that do not fit into the HELLO. Otherwise it would send no HELLO, and
    /// the peer would assume that this end does not support the protocol extension.
    #[test]
    fn routers_too_large_for_hello_are_reported() {
        let one = Mounts::new().mount(10..20, Verbose);
        assert_eq!(one.declaration().check(), Ok(()));
        let expected = "the services take 65544 bytes of HELLO, more than 65280: serve some on another port";
        assert_eq!(wrong(&one.mount(20..30, Verbose)), expected);
    }

    #[test]
    fn operation_belongs_to_containing_range() {
        let mounts = Mounts::new().mount(1000..1100, Handlers::new()).mount(20..=20, Handlers::new());
        assert_eq!(mounts.declaration().check(), Ok(()));
        let owned = |operation| mounts.contains(Operation::user(operation).unwrap());
        assert_eq!([19, 20, 21, 999, 1000, 1099, 1100].map(owned), [false, true, false, false, true, true, false]);
        assert_eq!(mounts.declaration().operations, [20..=20, 1000..=1099]);
        assert_eq!(Mounts::new().mount(.., Handlers::new()).declaration().operations, [10..=u16::MAX]);
    }

    /// A router that records which of its methods are called.
    struct CallLog {
        events: Arc<parking_lot::Mutex<Vec<String>>>,
        name: &'static str,
    }

    impl CallLog {
        fn note(&self, what: impl fmt::Display) {
            self.events.lock().push(format!("{} {what}", self.name));
        }
    }

    impl Router for CallLog {
        type Session = ();

        fn declaration(&self) -> Declaration {
            let items = [(100, Bytes::from_static(self.name.as_bytes()))];
            Declaration::default().calls([15..=25]).hello_items(items).closes_by_itself(self.name == "b")
        }

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), packet: Packet, _outbox: &mut Outbox) -> Routed {
            self.note(packet.operation.number());
            Routed::Continue
        }

        fn event(&self, (): &mut (), event: &mut ConnectionEvent<'_>) {
            match event {
                ConnectionEvent::PeerKnown(_) => self.note("peer"),
                ConnectionEvent::GoingAway => self.note("away"),
                ConnectionEvent::Idle => self.note("idle"),
                ConnectionEvent::Closing { is_busy } => *is_busy |= self.name == "b",
                ConnectionEvent::Extension { .. } => self.note("extension"),
            }
        }

        fn cancelled(&self, (): &mut (), id: PacketId, _body: Bytes, _outbox: &mut Outbox) {
            self.note(id);
        }

        fn batch_ended(&self, (): &mut (), batch: &mut BatchEnd<'_>) -> Option<Instant> {
            (self.name == "b").then_some(batch.now)
        }

        fn blocked(&self, _connection: &Connection, operation: Operation) -> bool {
            operation.number() == 25
        }

        fn disconnected(&self, (): (), reason: &CloseReason) {
            self.note(reason.kind().name());
        }
    }

    #[tokio::test]
    async fn packets_reach_owning_router_events_reach_all() {
        let events = Arc::default();
        let log = |name| CallLog { events: Arc::clone(&events), name };
        let mounts = Mounts::new().mount(10..=20, log("a")).mount(21..=30, log("b")).fallback(log("c"));
        assert!(!mounts.is_empty() && !Mounts::new().fallback(log("c")).is_empty() && Mounts::new().is_empty());
        assert!(mounts.has_fallback() && !Mounts::new().mount(10..=20, log("a")).has_fallback());
        assert_eq!(mounts.declaration().hello_items, ["a", "b", "c"].map(|name| (100, name.into())));
        assert_eq!(mounts.declaration().calls, [15..=20, 21..=25]);
        let budget = Arc::new(crate::account::Budget::new(usize::MAX, 0));
        let runtime = tokio::runtime::Handle::current();
        let connection = Connection::server(&Default::default(), &budget, runtime, Default::default());
        let mut session = mounts.connected(&connection);
        let mut outbox = Outbox::default();
        let take_events = || std::mem::take(&mut *events.lock()).join(", ");
        let operation = |number| Operation::user(number).expect("operation should be above the reserved range");
        for (number, expected) in [(10, "a 10"), (30, "b 30"), (31, "")] {
            let packet = Packet { id: PacketId(1), operation: operation(number), body: Bytes::new() };
            let routed = mounts.route(&mut session, packet, &mut outbox);
            assert_eq!((take_events().as_str(), matches!(routed, Routed::Discarded)), (expected, expected.is_empty()));
        }
        let unowned = Packet { id: PacketId(1), operation: operation(31), body: Bytes::new() };
        let routed = mounts.discarded(&mut session, unowned, &mut outbox);
        assert!(matches!(routed, Routed::Discarded), "packet that no router handles should count as useless");
        for (mut event, name) in [
            (ConnectionEvent::PeerKnown(&PeerKind::Compat), "peer"),
            (ConnectionEvent::GoingAway, "away"),
            (ConnectionEvent::Idle, "idle"),
        ] {
            mounts.event(&mut session, &mut event);
            assert_eq!(take_events(), format!("a {name}, b {name}, c {name}"));
        }
        let (id, body) = (extension::ASK, Bytes::new());
        let mut event = ConnectionEvent::Extension { id, body, outbox: &mut outbox, routed: Routed::Discarded };
        mounts.event(&mut session, &mut event);
        assert_eq!(take_events(), "");
        mounts.cancelled(&mut session, PacketId(7), Bytes::new(), &mut outbox);
        assert_eq!(take_events(), "a 7, b 7, c 7");
        let now = Instant::now();
        assert_eq!(
            mounts.batch_ended(&mut session, &mut BatchEnd { now, outbox: &mut outbox, when_written: false }),
            Some(now)
        );
        let idle = Mounts::new().mount(10..=20, log("a"));
        let is_busy = |mounts: &Mounts| {
            let mut event = ConnectionEvent::Closing { is_busy: false };
            mounts.event(&mut mounts.connected(&connection), &mut event);
            matches!(event, ConnectionEvent::Closing { is_busy: true })
        };
        assert!(is_busy(&mounts) && !is_busy(&idle));
        assert!(mounts.declaration().closes_by_itself && !idle.declaration().closes_by_itself);
        let blocked = [20, 25, 26, 31].map(|number| mounts.blocked(&connection, operation(number)));
        assert_eq!(blocked, [false, true, false, false]);
        mounts.disconnected(session, &CloseReason::Shutdown);
        let name = CloseReason::Shutdown.kind().name();
        assert_eq!(take_events(), format!("a {name}, b {name}, c {name}"));
    }

    /// A router that panics when a connection opens, or else when it closes.
    struct Panicking {
        when_opened: bool,
    }

    impl Router for Panicking {
        type Session = ();

        fn connected(&self, _connection: &Connection) {
            assert!(!self.when_opened, "router panics on request of the test");
        }

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }

        fn disconnected(&self, (): (), _reason: &CloseReason) {
            panic!("router panics on request of the test");
        }
    }

    /// Regression test: if a router panicked, the others were not notified of the end of the connection. A broker kept
    /// its subscriptions.
    #[tokio::test]
    async fn routers_beside_panicking_one_are_notified_of_end() {
        let detached = crate::testing::DetachedConnection::new(tokio::runtime::Handle::current(), 0);
        for when_opened in [true, false] {
            let events = Arc::default();
            let log = |name| CallLog { events: Arc::clone(&events), name };
            let mounts =
                Mounts::new().mount(10..20, log("a")).mount(20..30, Panicking { when_opened }).fallback(log("b"));
            let ended = catch_unwind(AssertUnwindSafe(|| {
                let session = mounts.connected(detached.connection());
                mounts.disconnected(session, &CloseReason::Router(PANICKED.into()));
            }));
            assert!(ended.is_err(), "the panic should be passed on");
            let name = CloseReason::Router(PANICKED.into()).kind().name();
            let expected =
                if when_opened { vec![format!("a {name}")] } else { vec![format!("a {name}"), format!("b {name}")] };
            assert_eq!(*events.lock(), expected);
        }
    }

    #[test]
    fn ranges_that_overlap_are_both_named() {
        let mounts = Mounts::new().mount(100..=200, Handlers::new()).mount(200..300, Mounts::new());
        let text = wrong(&mounts);
        for part in ["Handlers on 100..=200", "Mounts on 200..=299"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn empty_or_reserved_range_is_rejected() {
        for text in [
            wrong(&Mounts::new().mount(9..20, Handlers::new())),
            wrong(&Mounts::new().mount(50..50, Handlers::new())),
            wrong(&Mounts::new().mount(..0, Handlers::new())),
            wrong(&Mounts::new().mount(10.., Mounts::new().mount(0..=0, Handlers::new()))),
        ] {
            assert!(text.contains("Handlers"), "{text}");
        }
    }
}
