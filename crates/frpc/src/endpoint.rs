//! The router of clients and servers. It dispatches requests to methods, and replies to the call table.
//!
//! # Decisions
//!
//! * **The accepting side uses the upper half of the ids** between native peers, so that both sides can make calls. The
//!   dialling side never stops reading. Otherwise, two peers with full outboxes could wait for each other.
//! * **Services have precedence over mounts.** Mounted routers are consulted only for operations without a method, so
//!   that they add no cost to calls.

pub(crate) mod inline_runs;
mod layouts;
pub(crate) mod offer;
pub(crate) mod session;
mod settle;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use crate::api::hand_off::HandOff;
use crate::calls::failures::{closed_status, unreachable};
use crate::calls::table::CallTable;
use crate::calls::{ServerKind, is_of_accepting_end};
use crate::debug::opaque_debug;
use crate::endpoint::inline_runs::InlineRuns;
use crate::endpoint::offer::ServiceOffer;
use crate::endpoint::session::Session;
use crate::endpoint::settle::settle;
use crate::endpoint::table::ServedMethod;
use crate::observe::TraceContext;
use crate::observe::batch_calls::BatchCalls;
use crate::service::caller::Caller;
use crate::service::erased::{AcceptedStream, Entry, Kind, StreamingMethod};
use crate::service::failures::overloaded;
use crate::service::hand_off;
use crate::service::invoke::{Incoming, ReplyTo};
use crate::service::layouts::{HeldCall, PeerLayouts, PeerMethod};
use crate::service::streams::refuse;
use crate::wire::body::{self, OpenPacket};
use crate::wire::compressed;
use crate::wire::envelope::Envelope;
use crate::wire::layouts::malformed_item;
use crate::wire::prefix::{self, Prefix, PrefixError};
use crate::wire::report;
use crate::wire::translation::Translation;
use crate::{Policy, Status, clock};
use bytes::Bytes;
use frisbee::rpc::{ConnectionExt, wake_all};
use frisbee::{
    BatchEnd, CloseReason, Connection, ConnectionEvent, Declaration, HandOffRequest, Operation, Outbox, OverflowPolicy,
    Packet, PacketId, PeerKind, Routed, Router, Stream,
};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

/// Size in bytes of unsent replies at which the dialling side rejects further calls of its peer: 64 times the size at
/// which the accepting side stops reading. The dialling side must not stop reading instead, because two peers with full
/// outboxes would then wait for each other forever.
const REPLIES_MAX: usize = 64 * 1024 * 1024;

/// Size in bytes of unsent replies at which the connection is closed. Leaves space for rejecting all calls that may be
/// in flight.
const REPLIES_END: usize = REPLIES_MAX + 4 * 1024 * 1024;

/// Protocol router of a client or server connection: serves requests and matches replies to calls.
pub(crate) struct Endpoint {
    offer: Arc<ServiceOffer>,
    side: Side,
}

/// The side of its connections that an endpoint handles.
enum Side {
    /// Accepts connections. The first reverse call on a connection attaches a call table to it.
    Accepting,
    /// Dials connections and makes the calls in this table.
    Dialling(Arc<CallTable>),
}

impl Side {
    #[inline(always)]
    fn accepts(&self) -> bool {
        matches!(self, Self::Accepting)
    }

    /// Returns the call table of the dialling side, or `None` on the accepting side.
    #[inline(always)]
    fn calls(&self) -> Option<&Arc<CallTable>> {
        match self {
            Self::Accepting => None,
            Self::Dialling(calls) => Some(calls),
        }
    }
}

impl Endpoint {
    pub(crate) fn serving(offer: Arc<ServiceOffer>) -> Self {
        Self { offer, side: Side::Accepting }
    }

    pub(crate) fn calling(offer: Arc<ServiceOffer>, calls: Arc<CallTable>) -> Self {
        Self { offer, side: Side::Dialling(calls) }
    }
}

impl Router for Endpoint {
    type Session = Session;

    fn declaration(&self) -> Declaration {
        // A channel closes its connections itself, after its own work.
        let mut declaration = self.offer.declaration.clone().closes_by_itself(!self.side.accepts());
        // Request load reports from the servers of a fleet, because pickers balance calls by load.
        if self.side.calls().is_some_and(|calls| calls.is_of_fleet()) {
            declaration.hello_items.push((report::REPORT_REQUEST_ITEM, Bytes::new()));
        }
        declaration
    }

    fn connected(&self, connection: &Connection) -> Session {
        let (panic, session) = match catch_unwind(AssertUnwindSafe(|| self.open_session(connection))) {
            Ok(session) => match catch_unwind(AssertUnwindSafe(|| self.offer.connected(connection))) {
                Ok(()) => return session,
                Err(panic) => (panic, Some(session)),
            },
            Err(panic) => (panic, None),
        };
        // A hook or a mounted router panicked. The driver does not call `disconnected` without a session, so end the
        // calls here.
        let why = "a hook or a router panicked while the connection was set up";
        let calls = self.side.calls().cloned().or_else(|| connection.attachments().get());
        calls.iter().for_each(|calls| calls.end(unreachable(why)));
        match session {
            Some(session) => self.disconnected(session, &CloseReason::Router(why.into())),
            None => notify_layout_waiters(connection),
        }
        resume_unwind(panic)
    }

    fn route(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        // Check for mounted routers before checking for a prefix, because their packets may start with any byte.
        if self.offer.mounts.contains(packet.operation) {
            return self.route_mounted(session, packet, outbox);
        }
        if session.caller.is_native() {
            if is_of_accepting_end(packet.id) {
                return self.route_of_accepting_end(session, packet, outbox);
            }
            if prefix::is_present(&packet.body) {
                return self.route_prefixed(session, packet, outbox);
            }
        }
        // Collect the replies and match them at the end of the batch, so that the call table is locked once per batch.
        if !self.side.accepts() {
            session.replies.get_or_insert_default().packets.push(packet);
            return Routed::Continue;
        }
        let Packet { id, operation, body } = packet;
        self.serve(session, id, operation, Envelope::bare(body), None, outbox)
    }

    fn overflow(&self, session: &Session, packet: &Packet) -> OverflowPolicy {
        let ServiceOffer { table, mounts, .. } = &*self.offer;
        let has_stream = || match body::opening(&packet.body) {
            OpenPacket::Names(operation, _) => match session.find(operation) {
                PeerMethod::Served { operation, .. } => table.get(operation).is_some(),
                PeerMethod::Held | PeerMethod::Refused(_) => true,
            },
            _ => !mounts.has_fallback(),
        };
        if mounts.contains(packet.operation) || packet.operation == Operation::STREAM && !has_stream() {
            return mounts.overflow(&session.mounted, packet);
        }
        // Route replies to calls of the local peer immediately, even if the outbox is full.
        if session.caller.is_native() && is_of_accepting_end(packet.id) {
            OverflowPolicy::Route
        } else {
            OverflowPolicy::Wait
        }
    }

    fn stream(&self, session: &mut Session, first: Bytes, stream: Stream) -> Routed {
        let offer = &*self.offer;
        let (operation, prefix) = match body::opening(&first) {
            OpenPacket::Names(operation, prefix) => (operation, prefix),
            OpenPacket::Malformed(error) => return self.open_unnamed(session, Some(error), first, stream),
            OpenPacket::Nothing => return self.open_unnamed(session, None, first, stream),
        };
        let (own, translation) = match session.find(operation) {
            PeerMethod::Served { operation, translation } => (operation, translation),
            PeerMethod::Held => {
                session.hold(HeldCall::Stream(operation, first, stream));
                return Routed::Continue;
            }
            PeerMethod::Refused(status) => {
                self.count_unserved();
                refuse(&stream, &status);
                return Routed::Discarded;
            }
        };
        match offer.table.get(own) {
            Some(served @ ServedMethod { entry: Entry { kind: Kind::Stream(opens), .. }, .. }) => {
                return open(session, served, &**opens, prefix, stream, translation);
            }
            _ if Operation::user(operation).is_some_and(|operation| offer.mounts.contains(operation)) => {
                if let Some(status) = session.denied(operation) {
                    refuse(&stream, &status);
                    return Routed::Discarded;
                }
                return offer.mounts.stream(&mut session.mounted, first, stream);
            }
            None if self.offers_nothing() => {
                session.unmatched += 1;
                if stream.is_native() {
                    refuse(&stream, &Status::unimplemented("the called peer offers no service"));
                } else {
                    stream.forget();
                }
            }
            _ => {
                self.count_unserved();
                refuse(&stream, &Status::unimplemented(format!("{operation} is not a streaming method")));
                return Routed::Discarded;
            }
        }
        Routed::Continue
    }

    fn discarded(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let Packet { id, operation, .. } = packet;
        // A discarded reply belongs to a call of the accepting side, because only servers discard bodies.
        let may_be_reply = session.caller.is_native() && self.side.accepts() && is_of_accepting_end(id);
        if may_be_reply && !self.offer.mounts.contains(operation) {
            let is_pending = |calls: &Arc<CallTable>| calls.with(|calls| calls.is_pending(id, operation));
            if !session.calls().is_some_and(is_pending) {
                return Routed::Discarded;
            }
            let status =
                Status::resource_exhausted("the reply was discarded: the memory limit for this client is reached");
            let packet = Packet { body: body::error(&status), ..packet };
            session.replies.get_or_insert_default().packets.push(packet);
            return Routed::Continue;
        }
        if self.offer.mounts.contains(operation) {
            return self.offer.mounts.discarded(&mut session.mounted, packet, outbox);
        }
        self.refuse_request(session, id, operation, &overloaded(), outbox);
        Routed::Continue
    }

    fn event(&self, session: &mut Session, event: &mut ConnectionEvent<'_>) {
        match event {
            ConnectionEvent::PeerKnown(peer) => self.handle_peer_known(session, peer),
            ConnectionEvent::GoingAway => self.side.calls().into_iter().for_each(|calls| calls.retire()),
            ConnectionEvent::Idle => self.release_memory(session),
            ConnectionEvent::Closing { is_busy } => *is_busy |= self.is_busy(session),
            ConnectionEvent::Extension { id, body, outbox, routed } => {
                *routed = self.handle_extension(session, *id, body, outbox);
            }
            _ => {}
        }
        self.offer.mounts.event(&mut session.mounted, event);
    }

    fn cancelled(&self, session: &mut Session, id: PacketId, content: Bytes, outbox: &mut Outbox) {
        // Ignore a CANCEL that is malformed or arrives after the reply.
        if let Some(operation) = body::cancelled(&content).and_then(Operation::user) {
            let is_held = session.layouts.as_ref().is_some_and(|layouts| layouts.cancel(id, operation));
            session.caller.cancel(id, operation, is_held, outbox);
        }
        self.offer.mounts.cancelled(&mut session.mounted, id, content, outbox);
    }

    fn hand_off(&self, session: &mut Session, request: HandOffRequest) -> Routed {
        let operation = request.operation();
        // Keep the connection open while calls that the accepting side has made are in flight.
        if session.calls().is_some_and(|calls| !calls.is_idle()) {
            request.busy();
            return Routed::Continue;
        }
        let PeerMethod::Served { operation: own, .. } = session.find(operation.number()) else {
            if let Some(status) = session.refused(operation.number()) {
                request.refuse(hand_off::failure(&status, operation, true));
                return Routed::Discarded;
            }
            session.hold(HeldCall::HandOff(request));
            return Routed::Continue;
        };
        let Some(served) = self.offer.table.get(own) else {
            if let Some(status) = session.denied(operation.number()) {
                request.refuse(hand_off::failure(&status, operation, true));
                return Routed::Discarded;
            }
            return self.offer.mounts.hand_off(&mut session.mounted, request);
        };
        let method = served.entry.method;
        if !served.hands_off {
            tracing::debug!(target: "frpc::hand_off", %method, "hand-off of a connection refused: the method offers none");
            drop(request); // Report the end of the request.
            return Routed::Discarded;
        }
        let (envelope, trace) = match Envelope::parse(request.request().clone()) {
            Ok(parsed) => parsed,
            Err(error) => {
                request.refuse(hand_off::failure(&error.of_request(), operation, true));
                return Routed::Discarded;
            }
        };
        session.bring(operation.number(), &self.offer.table);
        let Some((_, instance)) = &mut session.last else { return Routed::Continue };
        let reply = ReplyTo::HandOff(Box::new((request, HandOff::default())));
        // Spawn the handler instead of polling it inline, because no call may be in progress when the connection is
        // handed off.
        let (caller, trace) = (&session.caller, trace.as_ref());
        // Check the limit before starting the handler, so that a rejected call can be reported as not run.
        let has_permit = caller.connection.has_call_permit();
        instance.serve(Incoming { caller, envelope, trace, reply, inline: false, has_permit }).into()
    }

    fn batch_ended(&self, session: &mut Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let now = batch.now;
        let connection = &session.caller.connection;
        let ended = session.inline_runs.end_batch(now, clock::now, || connection.turn_max());
        if ended.is_slow {
            session.warn_slow();
        }
        // On the accepting side, the first reverse call attaches the call table. Check for it if an attachment has
        // changed.
        if self.side.accepts() && connection.attachments().changes() != session.looked {
            session.calls();
        }
        // The driver writes after this function, so a server that has sent nothing yet may run the calls in flight.
        session.has_written |= self.side.calls().is_some_and(|calls| !calls.has_shown() && !calls.is_idle());
        let Session { caller, calls, replies, .. } = session;
        let due = match self.side.calls().or(calls.as_ref()) {
            Some(calls) => settle(calls, caller, replies.get_or_insert_default(), now),
            None => None,
        };
        if self.offer.is_plain && session.unmatched == 0 {
            return due;
        }
        self.end_mixed_batch(session, batch, due, ended.at)
    }

    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let own = match PeerLayouts::of(connection).and_then(|layouts| layouts.find(operation.number())) {
            Some(PeerMethod::Served { operation, .. }) => operation,
            _ => operation.number(),
        };
        let Some(ServedMethod { entry, running, .. }) = self.offer.table.get(own) else {
            return self.offer.mounts.blocked(connection, operation);
        };
        if running.policy == Policy::Inline {
            running.permission.handle_blocked(connection, &entry.method);
        }
        running.policy == Policy::Inline
    }

    fn disconnected(&self, mut session: Session, reason: &CloseReason) {
        // Deliver the replies that arrived in the same read before an invalid packet. If an observer panics, finish this
        // function nevertheless, because the other calls would otherwise be pending forever.
        let settled = catch_unwind(AssertUnwindSafe(|| {
            let Session { caller, calls, replies, .. } = &mut session;
            if let Some((calls, replies)) = self.side.calls().or(calls.as_ref()).zip(replies.as_deref_mut()) {
                settle(calls, caller, replies, clock::now());
            }
        }));
        // If this end closed the connection, the driver has also written the requests of the last batch.
        let has_written = session.has_written || matches!(reason, CloseReason::Local | CloseReason::Router(_));
        let ended = catch_unwind(AssertUnwindSafe(|| match &self.side {
            Side::Dialling(calls) if !calls.has_shown() && !has_written => calls.end(unreachable(&reason.to_string())),
            Side::Dialling(calls) => calls.end(closed_status(reason)),
            Side::Accepting => session.calls().into_iter().for_each(|calls| calls.end(closed_status(reason))),
        }));
        // If an observer has panicked, `settle` has not woken the callers that have replies.
        if let Some(replies) = &mut session.replies {
            wake_all(replies.wake.drain(..));
        }
        notify_layout_waiters(&session.caller.connection);
        self.offer.mounts.disconnected(session.mounted, reason);
        settled.and(ended).unwrap_or_else(|panic| resume_unwind(panic));
    }
}

impl Endpoint {
    /// Creates the session of a new connection.
    fn open_session(&self, connection: &Connection) -> Session {
        self.offer.end(self.side.calls()).attach(connection);
        if let Side::Dialling(calls) = &self.side {
            // The kind of the peer may be known already: a client that sends no HELLO treats its server as a compat
            // peer from the start.
            let peer = connection.peer();
            if peer != PeerKind::Unknown {
                calls.with(|calls| {
                    calls.handle_peer_known(None);
                    calls.offers.handle_peer_known(&peer);
                });
            }
        }
        // The mounted routers come last, because only they must be notified of the end.
        let rules = self.offer.access.as_deref().map(|access| access.connected(connection));
        Session {
            caller: Caller::new(
                connection,
                &self.offer.load,
                self.offer.observers.as_ref().map(BatchCalls::new),
                self.offer.is_inspectable,
            ),
            instances: Vec::new(),
            last: None,
            mounted: self.offer.mounts.connected(connection),
            calls: None,
            has_written: false,
            looked: 0,
            replies: None,
            unmatched: 0,
            layouts: None,
            nesting: self.offer.options.nesting,
            inline_runs: InlineRuns::default(),
            decompresses: false,
            compresses: false,
            rules,
        }
    }

    /// Called when the peer's kind becomes known. Compares a client's service layouts with the local ones, and enables
    /// the features that the peer announces.
    fn handle_peer_known(&self, session: &mut Session, peer: &PeerKind) {
        let hello = peer.hello();
        if let Some(item) = hello.and_then(malformed_item) {
            session.caller.connection.close_for(format!("malformed HELLO: item {item} is malformed"));
        }
        session.caller.handle_peer_known(hello.is_some());
        if hello.is_some_and(|hello| hello.items().any(|(kind, _)| kind == report::REPORT_REQUEST_ITEM)) {
            session.caller.request_load();
        }
        let compression = self.offer.compression.as_ref().filter(|_| hello.is_some_and(compressed::decompresses));
        session.decompresses = hello.is_some() && self.offer.compression.is_some();
        session.compresses = compression.is_some();
        match &self.side {
            Side::Dialling(calls) => {
                calls.with(|calls| {
                    calls.handle_peer_known(hello.map(|hello| hello.calls_max));
                    calls.offers.handle_peer_known(peer);
                    if compression.is_some_and(|compression| !compression.is_empty()) {
                        calls.server = ServerKind::Decompressing;
                    }
                });
                calls.show();
            }
            Side::Accepting => {
                match hello {
                    Some(hello) => self.compare_layouts(session, hello),
                    None => self.use_compat_layouts(session),
                }
                if let Some(calls) = session.calls() {
                    calls.handle_client_known(peer);
                }
            }
        }
    }

    /// Handles a stream whose first packet names no operation. `malformed` is the error if the prefix of this packet is
    /// malformed.
    fn open_unnamed(
        &self,
        session: &mut Session,
        malformed: Option<PrefixError>,
        first: Bytes,
        stream: Stream,
    ) -> Routed {
        let mounts = &self.offer.mounts;
        match malformed {
            _ if mounts.has_fallback() => {
                if let Some(Err(status)) = session.rules.as_ref().map(|rules| rules.admit_fallback()) {
                    refuse(&stream, &status);
                    return Routed::Discarded;
                }
                return mounts.stream(&mut session.mounted, first, stream);
            }
            Some(error) if mounts.is_empty() => refuse(&stream, &error.of_request()),
            _ if stream.is_native() => {
                let status = Status::invalid_argument("the packet that opens the stream names no operation");
                refuse(&stream, &status);
            }
            // This may be a late packet of a Go stream that was closed early. Do not count it, because many of them may
            // arrive for each such stream. Packets on the streams of mounted routers may have any content.
            _ => {
                stream.forget();
                return Routed::Continue;
            }
        }
        Routed::Discarded
    }

    /// Runs the method of a request, or rejects the request if its operation number belongs to no unary method.
    #[inline(always)]
    fn serve(
        &self,
        session: &mut Session,
        id: PacketId,
        operation: Operation,
        envelope: Envelope,
        trace: Option<&TraceContext>,
        outbox: &mut Outbox,
    ) -> Routed {
        session.bring(operation.number(), &self.offer.table);
        let Some((_, instance)) = &mut session.last else {
            return self.refuse_unserved(session, id, operation, (envelope, trace), outbox);
        };
        let inline = session.inline_runs.begin();
        let (caller, reply) = (&session.caller, ReplyTo::Packet { id, operation, outbox });
        // Check the limit before starting the handler, so that a rejected call can be reported as not run.
        let has_permit = caller.connection.has_call_permit();
        instance.serve(Incoming { caller, envelope, trace, reply, inline, has_permit }).into()
    }

    /// Rejects a request with `status` before it reaches a method.
    fn refuse_request(
        &self,
        session: &Session,
        id: PacketId,
        operation: Operation,
        status: &Status,
        outbox: &mut Outbox,
    ) {
        body::put_refusal(outbox, id, operation, status, session.caller.style);
        if let Some(method_observer) =
            session.served(operation.number(), &self.offer.table).and_then(|served| served.method_observer.as_ref())
        {
            method_observer.refuse(status.code());
        }
    }

    /// Returns whether the local peer only makes calls, so that every request is an error of the remote peer.
    fn offers_nothing(&self) -> bool {
        !self.side.accepts() && self.offer.table.is_empty()
    }

    /// Counts a rejected request that could not be assigned to a method.
    fn count_unserved(&self) {
        if let Some(batches) = self.offer.batches() {
            batches.unserved();
        }
    }

    /// Rejects a request whose operation number belongs to no unary method. If the wire layout of its service is still
    /// unknown, holds the request back until the peer describes it.
    #[cold]
    fn refuse_unserved(
        &self,
        session: &Session,
        id: PacketId,
        operation: Operation,
        (envelope, trace): (Envelope, Option<&TraceContext>),
        outbox: &mut Outbox,
    ) -> Routed {
        if matches!(session.find(operation.number()), PeerMethod::Held) {
            session.hold(HeldCall::Unary(id, operation, envelope, trace.copied()));
            return Routed::Continue;
        }
        // Reply even though Go ignores such a request, because the caller would otherwise wait for its deadline.
        let unknown = || Status::unimplemented(format!("operation {operation} is not a unary method of this end"));
        let status = session.refused(operation.number()).unwrap_or_else(unknown);
        self.count_unserved();
        body::put_refusal(outbox, id, operation, &status, session.caller.style);
        Routed::Discarded
    }

    /// Routes a packet to a mounted router, if the access rules and the peer's layouts allow it.
    #[inline(never)]
    fn route_mounted(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let operation = packet.operation.number();
        // Only servers limit the memory of each peer.
        if self.side.accepts() && session.caller.connection.is_overloaded() {
            session.caller.connection.count_rejected();
            return self.offer.mounts.discarded(&mut session.mounted, packet, outbox);
        }
        if let Some(status) = session.refused(operation).or_else(|| session.denied(operation)) {
            body::put_refusal(outbox, packet.id, packet.operation, &status, session.caller.style);
            return Routed::Discarded;
        }
        self.offer.mounts.route(&mut session.mounted, packet, outbox)
    }

    /// Routes a packet from a native frpc peer if its body begins with a prefix. The packet belongs to a call of the
    /// dialling side: it is a reply if the local peer has dialled, and a request otherwise.
    #[cold]
    fn route_prefixed(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let Packet { id, operation, body } = packet;
        if let Side::Dialling(calls) = &self.side {
            // The call table receives replies at the end of the driver poll.
            calls.handle_prefix(&body);
            session.replies.get_or_insert_default().packets.push(Packet { id, operation, body });
            return Routed::Continue;
        }
        match Envelope::parse_prefixed(body) {
            Ok((envelope, trace)) => self.serve(session, id, operation, envelope, trace.as_ref(), outbox),
            Err(error) => {
                self.refuse_request(session, id, operation, &error.of_request(), outbox);
                Routed::Discarded
            }
        }
    }

    /// Routes a packet of a reverse call, which the accepting side makes and the dialling side serves.
    #[cold]
    fn route_of_accepting_end(&self, session: &mut Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let Packet { id, operation, body } = packet;
        if let Side::Accepting = self.side {
            if !session.calls().is_some_and(|calls| calls.with(|calls| calls.has_made(id))) {
                return Routed::close(format!(
                    "packet {id} of operation {operation} matches no call: requests of a client have ids below 32768"
                ));
            }
            session.replies.get_or_insert_default().packets.push(Packet { id, operation, body });
            return Routed::Continue;
        }
        match Envelope::parse(body) {
            Ok((envelope, trace)) => self.serve_backward(session, id, operation, envelope, trace.as_ref(), outbox),
            Err(error) => {
                self.refuse_request(session, id, operation, &error.of_request(), outbox);
                Routed::Discarded
            }
        }
    }

    /// Serves a reverse call, which the accepting side makes to the dialling side.
    #[cold]
    fn serve_backward(
        &self,
        session: &mut Session,
        id: PacketId,
        operation: Operation,
        envelope: Envelope,
        trace: Option<&TraceContext>,
        outbox: &mut Outbox,
    ) -> Routed {
        if self.offers_nothing() {
            session.unmatched += 1;
            return Routed::Continue;
        }
        match outbox.len() {
            ..REPLIES_MAX => self.serve(session, id, operation, envelope, trace, outbox),
            REPLIES_MAX..REPLIES_END => {
                let status = Status::resource_exhausted(
                    "too many replies to earlier calls are waiting to be read by the caller",
                );
                body::put_refusal(outbox, id, operation, &status, session.caller.style);
                self.count_unserved();
                Routed::Continue
            }
            backlog => Routed::close(format!("the caller did not read {backlog} bytes of replies")),
        }
    }
}

/// Wakes the calls that wait for the peer's layouts, because the connection has ended.
fn notify_layout_waiters(connection: &Connection) {
    if let Some(layouts) = PeerLayouts::of(connection) {
        layouts.changed.notify_waiters();
    }
}

/// Opens the stream of a streaming call, or rejects the call if the access rules do not allow it.
fn open(
    session: &Session,
    served: &ServedMethod,
    opens: &dyn StreamingMethod,
    prefix: Option<Prefix>,
    stream: Stream,
    translation: Option<Arc<Translation>>,
) -> Routed {
    let ServedMethod { entry: Entry { method, length_max, .. }, running, chain, compresses, .. } = served;
    let (options, observed_call) = match served.admit_stream(session.rules.as_ref(), prefix.map(Box::new)) {
        Ok(admitted) => admitted,
        Err(status) => {
            refuse(&stream, &status);
            return Routed::Discarded;
        }
    };
    translation.iter().for_each(|translation| translation.count_call());
    let reading = session.reading().with_length_max(*length_max);
    let (placement, chain) = (running.placement(method.operation, session.inline_runs.is_apart()), chain.clone());
    let compresses = *compresses && session.compresses;
    opens.open(AcceptedStream {
        caller: &session.caller,
        options,
        stream,
        reading,
        chain,
        placement,
        observed_call,
        compresses,
        translation,
    });
    Routed::Continue
}

opaque_debug!([] Endpoint, "Endpoint", |this| operations = this.declaration().operations);
