//! What an end of a connection does with packets: as a server it calls methods, as a client it hands out replies.

use crate::body;
use crate::channel::CallTable;
use crate::error::Error;
use crate::layout::{self, Clauses, Layout};
use crate::service::{Caller, Entry, Instance, Kind, Methods};
use crate::{Policy, Status};
use bytes::Bytes;
use frisbee::{CloseReason, Connection, Next, Operation, Outbox, Packet, PacketId, Peer, Router, Stream, Turn};
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

/// Handlers that keep a connection's task for longer than this in one turn, and in [`SLOW_TURNS`] turns one after
/// the other, are given tasks of their own from then on. A single long turn may well be the operating system's doing.
const SLOW_TURN: Duration = Duration::from_millis(1);
const SLOW_TURNS: u32 = 3;

/// Packets that answer nothing which a client puts up with before it closes the connection: a server that sends
/// them is broken or hostile. Second replies to a burst of calls stay below.
const STRAYS_MAX: u64 = 100_000;

/// The methods of a server by operation.
#[derive(Default)]
pub(crate) struct Table {
    /// By operation minus 10.
    entries: Vec<Option<(Entry, Policy)>>,
    layouts: Vec<&'static Layout>,
}

impl Table {
    pub(crate) fn new(
        services: Vec<Methods>,
        default: Policy,
        mut policies: HashMap<String, Policy>,
    ) -> Result<Self, Error> {
        let mut entries: Vec<Option<(Entry, Policy)>> = Vec::new();
        let layouts: Vec<_> = services.iter().map(|methods| methods.layout).collect();
        Layout::check_room(&layouts)?;
        for entry in services.into_iter().flat_map(|methods| methods.entries) {
            let name = entry.method.to_string();
            let index = index(entry.method.operation);
            if entries.len() <= index {
                entries.resize_with(index + 1, || None);
            }
            if let Some((other, _)) = &entries[index] {
                let operation = entry.method.operation.number();
                return Err(Error::Overlap { operation, methods: [other.method.to_string(), name] });
            }
            let policy = policies.remove(&name).unwrap_or(default);
            entries[index] = Some((entry, policy));
        }
        match policies.into_keys().next() {
            Some(unknown) => Err(Error::UnknownMethod(unknown)),
            None => Ok(Self { entries, layouts }),
        }
    }

    fn get(&self, operation: u16) -> Option<&(Entry, Policy)> {
        let index = Operation::user(operation).map(index)?;
        self.entries.get(index)?.as_ref()
    }

    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        let operations = self.entries.iter().flatten().map(|(entry, _)| entry.method.operation.number());
        operations.map(|operation| operation..=operation).collect()
    }
}

fn index(operation: Operation) -> usize {
    usize::from(operation.number() - Operation::FIRST_USER.number())
}

/// The router of either end.
pub(crate) struct Endpoint {
    table: Arc<Table>,
    calls: Option<Arc<CallTable>>,
    /// Services that are meant to be called.
    called: Arc<[&'static Layout]>,
}

impl Endpoint {
    pub(crate) fn serving(table: Table) -> Self {
        Self { table: Arc::new(table), calls: None, called: Arc::default() }
    }

    pub(crate) fn calling(calls: Arc<CallTable>, called: Arc<[&'static Layout]>) -> Self {
        Self { table: Arc::default(), calls: Some(calls), called }
    }
}

/// What an end remembers of a connection.
pub(crate) struct Session {
    caller: Caller,
    /// Unary methods that have been called, by operation.
    instances: BTreeMap<u16, Box<dyn Instance>>,
    /// The one called last.
    last: Option<(u16, Box<dyn Instance>)>,
    /// Replies of this batch.
    replies: Vec<Packet>,
    wake: Vec<Waker>,
    /// What follows from what the peer has said of its services.
    clauses: Clauses,
    /// Handlers have been polled in place in this turn.
    polled: bool,
    slow_turns: u32,
}

impl Router for Endpoint {
    type Session = Session;

    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        self.table.operations()
    }

    fn hello_items(&self) -> Vec<(u8, Bytes)> {
        let offered = self.table.layouts.iter().map(|layout| (layout::OFFERED, layout.item()));
        offered.chain(self.called.iter().map(|layout| (layout::CALLED, layout.item()))).collect()
    }

    fn connected(&self, connection: &Connection) -> Session {
        let caller = Caller::new(connection);
        Session {
            caller,
            instances: BTreeMap::new(),
            last: None,
            replies: Vec::new(),
            wake: Vec::new(),
            clauses: Clauses::default(),
            polled: false,
            slow_turns: 0,
        }
    }

    fn route(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Next {
        if self.calls.is_some() {
            session.replies.push(packet);
            return Next::Continue;
        }
        let operation = packet.operation.number();
        let Some(instance) = session.instance(operation, &self.table) else {
            session.refuse(&packet, outbox);
            return Next::Continue;
        };
        let mut instance = instance;
        let inline = session.slow_turns < SLOW_TURNS;
        session.polled |= inline;
        instance.call(&session.caller, packet, outbox, inline);
        session.last = Some((operation, instance));
        Next::Continue
    }

    fn stream(&self, session: &mut Session, first: Bytes, stream: Stream) -> Next {
        // A packet that opens nothing belongs to a stream that is over: it crossed the packet that closed it.
        let Some((operation, prefix)) = body::opened(&first).filter(|_| self.calls.is_none()) else {
            stream.forget();
            return Next::Continue;
        };
        if let Some(status) = session.clauses.refused.get(&operation) {
            crate::streaming::refuse(&stream, status);
            return Next::Continue;
        }
        match self.table.get(operation) {
            Some((Entry { kind: Kind::Stream(opens), method }, _)) => {
                opens.open(&session.caller, prefix, stream, session.clauses.missing(method));
            }
            _ => crate::streaming::refuse(&stream, &Status::unimplemented(format!("{operation} opens no stream"))),
        }
        Next::Continue
    }

    fn verdict(&self, session: &mut Session, peer: &Peer) {
        let hello = peer.hello();
        session.caller.handle_verdict(hello.is_some());
        session.clauses = Clauses::new(&self.table.layouts, peer);
        if let Some(calls) = &self.calls {
            calls.with(|calls| {
                calls.handle_verdict(hello.map(|hello| hello.calls_max));
                calls.offers.handle_verdict(peer);
            });
        }
    }

    fn cancelled(&self, session: &mut Session, id: PacketId, content: Bytes, outbox: &mut Outbox) {
        // One that makes no sense, or comes behind the reply, changes nothing.
        let Some(operation) = body::cancelled(&content).and_then(Operation::user) else { return };
        session.caller.cancel(id, operation, outbox);
    }

    fn going_away(&self, _session: &mut Session) {
        if let Some(calls) = &self.calls {
            calls.retire();
        }
    }

    fn turn(&self, session: &mut Session, turn: &mut Turn<'_>) -> Option<Instant> {
        let Some(calls) = &self.calls else {
            session.judge_speed(turn.now);
            return None;
        };
        let (due, strays) = calls.with(|calls| {
            for packet in session.replies.drain(..) {
                session.wake.extend(calls.handle_reply(packet));
            }
            (calls.handle_time(turn.now, &mut session.wake), calls.strays())
        });
        session.wake.drain(..).for_each(Waker::wake);
        if strays > STRAYS_MAX {
            tracing::warn!(strays, "the server keeps answering what was not asked");
            session.caller.connection.abort();
        }
        due
    }

    fn disconnected(&self, _session: Session, reason: &CloseReason) {
        if let Some(calls) = &self.calls {
            calls.end(reason);
        }
    }
}

impl Session {
    /// The instance of a unary method, taken out of the session.
    #[inline(always)]
    fn instance(&mut self, operation: u16, table: &Table) -> Option<Box<dyn Instance>> {
        match self.last.take() {
            Some((last, instance)) if last == operation => return Some(instance),
            Some((last, instance)) => drop(self.instances.insert(last, instance)),
            None => {}
        }
        if let Some(instance) = self.instances.remove(&operation) {
            return Some(instance);
        }
        self.new_instance(operation, table)
    }

    /// An instance for the first call of a method; `None` if it cannot be called, or not by this peer.
    #[cold]
    fn new_instance(&self, operation: u16, table: &Table) -> Option<Box<dyn Instance>> {
        if self.clauses.refused.contains_key(&operation) {
            return None;
        }
        match table.get(operation)? {
            (Entry { kind: Kind::Unary(unary), method }, policy) => {
                Some(unary.instance(*policy, self.clauses.missing(method)))
            }
            _ => None,
        }
    }

    /// Answers a request that cannot be served. Go drops one in silence; an answer does no harm there, and the caller
    /// need not wait for its deadline.
    #[cold]
    fn refuse(&self, packet: &Packet, outbox: &mut Outbox) {
        let operation = packet.operation;
        let unknown = || Status::unimplemented(format!("operation {operation} is no unary method of this server"));
        let status = self.clauses.refused.get(&operation.number()).cloned().unwrap_or_else(unknown);
        body::put_error(outbox, packet.id, operation, &status, self.caller.form());
    }

    /// Notes whether handlers keep the connection's task for too long.
    fn judge_speed(&mut self, began: Instant) {
        if !std::mem::take(&mut self.polled) {
            return;
        }
        if tokio::time::Instant::now().into_std().saturating_duration_since(began) < SLOW_TURN {
            self.slow_turns = 0;
            return;
        }
        self.slow_turns += 1;
        if self.slow_turns == SLOW_TURNS {
            tracing::debug!(peer = ?self.caller.peer, "handlers take long; they get tasks of their own from now on");
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("operations", &self.table.operations()).finish_non_exhaustive()
    }
}
