//! The engine of a connection, independent of its transport: it handles messages, routes packets and checks timeouts.
//! The drivers add the socket.

mod ending;
mod full;
mod greeting;
mod hand_off;
mod memory;
mod streams;

use self::ending::GoingAway;
use self::hand_off::OutgoingHandOff;
use crate::account::{Output, Traffic};
use crate::clock::now as clock;
use crate::connection::ConnectionExt;
use crate::connection::blocked::note_panic;
use crate::connection::{Age, Connection, PANICKED};
use crate::executor::tasks::Home;
use crate::executor::workers::watchdog::Blocked;
use crate::log_limit::LineLimit;
use crate::mailbox::hand_off::HandOffWaiter;
use crate::mailbox::stream::StreamShared;
use crate::mailbox::{MailboxReader, Order, TakeOutcome};
use crate::pool::POOL;
use crate::runtime::blocked::DrivenConnection;
use crate::runtime::pending_handshakes::PendingHandshake;
use crate::{BatchEnd, CloseReason, ConnectionEvent, Operation, Outbox, Packet, ProtocolError, Routed, Router};
use bytes::Bytes;
use frisbee_core::{Event, PeerStreamIds, Role, earlier, extension};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

/// Maximum number of packets that are routed in one poll of the driver, because the other connections of the thread
/// wait for it. A packet takes about 100 ns, so this is a tenth of a millisecond.
const PACKETS_PER_BATCH: usize = 1024;

/// Number of packets between two reads of the clock, which enforce [`Config::turn_max`](crate::Config::turn_max). A
/// peer can send packets that cost ten times as much as usual, such as packets that cause error replies. Reading the
/// clock costs a quarter of a packet.
const PACKETS_PER_LOOK: usize = 32;

/// Protocol engine of a connection: decodes received bytes, passes packets to the router, and moves the packets of
/// handles to the outbox. Owned by the connection's task.
pub(crate) struct Engine<R: Router> {
    pub(crate) core: frisbee_core::Connection,
    handle: Connection,
    router: Arc<R>,
    /// Router's session for this connection. `None` after the router was notified that the connection has ended.
    session: Option<R::Session>,
    /// Entry in the list of pending handshakes, for a client whose first packet has not arrived. Boxed because it is
    /// needed only for a short time.
    pending_handshake: Option<Box<PendingHandshake>>,
    /// Memory in bytes that is charged to the server for the body that is being received.
    body_charge: usize,
    /// Memory in bytes that is charged to the server for a long HELLO, which is kept until the connection ends.
    hello_charge: usize,
    output: Output,
    mailbox_reader: MailboxReader,
    /// Whether the incomplete bodies exceed the caller's memory share already. They may do so only by a single read.
    bodies_exceed_share: bool,
    /// Whether packets sent through connection handles remain in the mailbox because the peer's header format is
    /// unknown.
    messages_are_held: bool,
    /// Received bytes that have not been decoded and routed yet.
    unrouted: Bytes,
    /// Number of bytes that the last read has appended to a large body and that the engine has not counted yet.
    pub(crate) body_read: usize,
    reading: ReadMode,
    routing: Routing,
    /// Time at which the router has requested the next call of [`Router::batch_ended`].
    batch_at: Option<Instant>,
    /// Whether the router has requested a call of [`Router::batch_ended`] once all bytes are written.
    batch_when_written: bool,
    /// Earliest expiry of an unused turn to send on a stream, or of an unused permit to open one.
    slots_due: Option<Instant>,
    /// Whether the router has been notified that the connection is idle.
    is_idle_notified: bool,
    /// Stream that received the latest message. Cached because the next message is likely to belong to the same stream.
    last_stream: Option<Arc<StreamShared>>,
    /// Tracker of the ids of the streams that the peer has opened.
    openings: PeerStreamIds,
    order: Option<Box<Order>>,
    goodbye: GoingAway,
    age: Age,
    /// Handle that has requested a hand-off and is waiting for the peer's reply.
    asking: Option<Box<HandOffWaiter>>,
    departure: OutgoingHandOff,
}

/// State of reading from the transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadMode {
    Open,
    /// The peer has closed its sending half. Work in progress is completed.
    HalfClosed,
    /// Nothing more is read, because the router closed the connection or the transport was handed off to another owner.
    Stopped,
}

/// Mode that determines whether the driver routes or defers received packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Routing {
    /// All packets are routed when they arrive.
    All,
    /// All packets are routed. The last batch of received packets consisted of a single packet.
    Single,
    /// Requests are deferred, because the backlog of unwritten output has reached its limit; see `full.rs`. This lasts
    /// until all deferred packets have been routed.
    Deferring,
}

/// Ends a connection after its router panicked while creating its session. Otherwise, the handles of the connection
/// would wait forever.
#[cold]
fn end_before_session(connection: &Connection) {
    log_panic(connection);
    let reason = CloseReason::Router(PANICKED.into());
    connection.0.mailbox.close(&reason);
    connection.0.work.abort();
    let _entered = connection.0.runtime.enter();
    connection.0.attachments.handle_close(&reason);
    connection.0.mailbox.finish();
}

/// Logs that a connection's router has panicked.
#[cold]
fn log_panic(connection: &Connection) {
    static LINE: LineLimit = LineLimit::new();
    note_panic(connection);
    let peer = connection.peer_addr();
    if let Some(suppressed) = LINE.may_say(Instant::now()) {
        tracing::error!(target: "frisbee::connection", ?peer, suppressed, "a router panicked; its connection is closed");
    }
}

impl<R: Router> Engine<R> {
    pub(crate) fn new(mut core: frisbee_core::Connection, router: Arc<R>, handle: Connection) -> Self {
        core.set_pool(&POOL);
        let role = core.role();
        handle.0.mailbox.lock().peer = core.peer().clone();
        let connected = catch_unwind(AssertUnwindSafe(|| router.connected(&handle)));
        let session = connected.unwrap_or_else(|panic| {
            end_before_session(&handle);
            resume_unwind(panic)
        });
        // Skip nested connections, because their outer connection was counted as opened.
        if !handle.0.is_within {
            handle.0.mailbox.account.budget().counts.count_opened();
        }
        Self {
            core,
            handle,
            router,
            session: Some(session),
            pending_handshake: None,
            body_charge: 0,
            hello_charge: 0,
            output: Output::default(),
            mailbox_reader: MailboxReader::default(),
            bodies_exceed_share: false,
            messages_are_held: role == Role::Server,
            unrouted: Bytes::new(),
            body_read: 0,
            reading: ReadMode::Open,
            routing: Routing::All,
            batch_at: None,
            batch_when_written: false,
            slots_due: None,
            is_idle_notified: false,
            last_stream: None,
            openings: PeerStreamIds::new(role.peer()),
            order: None,
            goodbye: GoingAway::Unsaid,
            age: Age::Young,
            asking: None,
            departure: OutgoingHandOff::None,
        }
    }

    /// Returns the connection and the router that the watchdog reports if this connection blocks its thread.
    pub(crate) fn culprit(&self) -> Arc<dyn Blocked> {
        Arc::new(DrivenConnection { connection: self.handle.clone(), router: self.router.clone() })
    }

    /// Charges memory to the connection.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    pub(crate) fn charge(&self, bytes: usize) -> crate::account::MemoryCharge {
        crate::account::MemoryCharge::new(&self.handle.0.mailbox.account, bytes)
    }

    /// Sets the worker or io_uring thread that drives the connection.
    pub(crate) fn set_home(&self, home: impl Home + 'static) {
        self.handle.set_home(Box::new(home));
    }

    /// Stores the client's entry in the list of pending handshakes. The entry is removed once the client has sent its
    /// first packet.
    pub(crate) fn entered(mut self, pending_handshake: PendingHandshake) -> Self {
        self.pending_handshake = Some(Box::new(pending_handshake));
        self
    }

    /// Takes packets and close requests of the handles from the mailbox; see
    /// [`Mailbox::take`](crate::mailbox::Mailbox::take).
    pub(crate) fn take_messages(&mut self, waker: &Waker, yielded: bool) -> TakeOutcome {
        let Self { core, handle, mailbox_reader, order, slots_due, .. } = self;
        let is_held = self.messages_are_held;
        let (mut step, mut encoded, mut ordered) = (None, Ok(()), None);
        let backlog = core.outbox().len();
        let taken = handle.0.mailbox.take(mailbox_reader, waker, yielded, backlog, |inner| {
            step = inner.hand_off.take();
            *slots_due = inner.grants_due();
            // Encode the request before `inner.outbox` is appended, because its packets were queued after the request.
            if let Some(step) = &mut step {
                encoded = hand_off::request(core, step);
            }
            if !is_held && !inner.outbox.is_empty() {
                core.outbox().append(&mut inner.outbox);
            }
            ordered = inner.order.take();
            if std::mem::take(&mut inner.expired) {
                core.expire(clock());
            }
            core.outbox().len()
        });
        if taken != TakeOutcome::Messages {
            return taken;
        }
        // Replace the order after unlocking the mailbox. Its reason may contain an error of the user's router, whose
        // destructor may use the connection.
        if let Some(ordered) = ordered {
            Order::put(*ordered, order);
        }
        if self.goodbye == GoingAway::Due {
            // Queue GOING_AWAY after the packets taken from the mailbox, so that they precede it.
            self.goodbye = GoingAway::Answered;
            self.send_going_away();
        }
        // Handle the hand-off step outside of the lock, because it may wake tasks or end the connection.
        if let Some(step) = step {
            self.decide(*step, encoded);
        }
        taken
    }

    /// Returns whether exactly one packet was received since the last call. The reply to a single packet wakes at most
    /// one caller, so waiting for other callers to send their next packets is unnecessary.
    pub(crate) fn take_first_arrival(&mut self) -> bool {
        let has_packet = self.routing == Routing::Single;
        if has_packet {
            self.routing = Routing::All;
        }
        has_packet
    }

    /// Returns whether the driver should read from the transport.
    #[inline]
    pub(crate) fn wants_input(&mut self) -> bool {
        self.reading == ReadMode::Open && !self.has_input() && self.takes_more() && !self.core.is_resting()
    }

    /// Stores received bytes for the next call of [`route`](Self::route).
    pub(crate) fn handle_input(&mut self, input: Bytes) {
        debug_assert!(self.unrouted.is_empty(), "driver should route all bytes before it reads");
        self.unrouted = input;
    }

    /// Handles the end of input, after the peer has closed its sending half.
    pub(crate) fn handle_eof(&mut self, now: Instant) -> Result<(), CloseReason> {
        let reason = self.core.handle_eof();
        let finish = self.core.role() == Role::Server && matches!(reason, CloseReason::ClosedByPeer) && !self.is_idle();
        // Close immediately if the client's header format is unknown, because no reply can be encoded for it.
        if !finish || self.core.sends().is_none() {
            return Err(reason);
        }
        self.reading = ReadMode::HalfClosed;
        self.core.handle_half_close(now);
        // Switch to this mode, because it ends the streams once all packets before the end of the input have been
        // routed.
        self.routing = Routing::Deferring;
        Ok(())
    }

    /// Routes the packets in the received bytes, up to a limit, and calls the router's `batch_ended`. If bytes remain,
    /// [`has_input`](Self::has_input) returns true.
    pub(crate) fn route(&mut self, now: Instant) -> Result<(), CloseReason> {
        // Update the charge once per batch rather than per packet, because it reads an atomic counter that all
        // connections modify.
        self.output.update_charge(self.core.outbox(), &self.handle.0.mailbox.account);
        self.guarded(|engine| {
            engine.route_input(now)?;
            engine.end_batch(now);
            Ok(())
        })?
    }

    fn route_input(&mut self, now: Instant) -> Result<(), CloseReason> {
        let read = self.unrouted.len();
        self.route_batch(now)?;
        let count = read - self.unrouted.len() + std::mem::take(&mut self.body_read);
        self.core.handle_read(count, now);
        self.count(Traffic::Read, count);
        if self.body_charge > 0 || self.core.is_mid_packet() {
            self.charge_body(now)?;
        }
        if self.is_leaving() {
            self.leave_later();
        }
        Ok(())
    }

    fn route_batch(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.routing == Routing::Deferring {
            return self.route_full(now);
        }
        if self.is_leaving()
            && let Some(missing) = self.core.discarding()
        {
            return self.route_discarded(missing, now);
        }
        // While a hand-off is pending, stop after the next packet, because the hand-off takes place at its end.
        let (mut left, mut routed) = (if self.is_leaving() { 1 } else { PACKETS_PER_BATCH }, 0);
        // Update both values after every event except a plain packet, which changes neither.
        let (mut at_packet, mut room) = (self.core.is_at_packet(), self.room());
        while left > 0 {
            if room.is_some_and(|room| self.core.outbox().len() >= room) {
                return self.route_full(now);
            }
            left -= 1;
            if left % PACKETS_PER_LOOK == 1 && self.is_over(now) {
                break;
            }
            if at_packet && let Some(packet) = self.core.poll_packet(&mut self.unrouted) {
                let length = packet.body.len();
                let next = match packet.operation {
                    Operation::STREAM => self.handle_stream(packet.id, packet.body),
                    _ => self.handle_packet(packet),
                };
                routed += 1;
                // `forget` tells the compiler that there is nothing to drop.
                let stops = match next {
                    next @ Routed::Continue => {
                        std::mem::forget(next);
                        false
                    }
                    next => self.stops(next, length, now),
                };
                // End the batch once all input is decoded. The decoder buffers only incomplete packets, so it contains
                // no further one.
                if stops || self.unrouted.is_empty() {
                    break;
                }
                continue;
            }
            // Until the first packet is decoded, the input may belong to another protocol. The protocol's adapter then
            // takes over.
            if self.messages_are_held && self.leave_to_adapter() {
                break;
            }
            let event = self.core.poll_event(&mut self.unrouted, now)?;
            if self.messages_are_held {
                self.release_deferred();
            }
            let Some(event) = event else { break };
            if self.body_charge > 0 {
                self.release_body();
            }
            let length = event.body_len();
            let next = self.handle_event(event);
            routed += 1;
            if !matches!(next, Routed::Continue) && self.stops(next, length, now) {
                break;
            }
            (at_packet, room) = (self.core.is_at_packet(), self.room());
        }
        self.routing = if routed == 1 { Routing::Single } else { Routing::All };
        Ok(())
    }

    /// Returns whether the driver's poll that started at `now` has exceeded
    /// [`Config::turn_max`](crate::Config::turn_max).
    #[cold]
    fn is_over(&self, now: Instant) -> bool {
        clock().saturating_duration_since(now) >= self.handle.turn_max()
    }

    /// Slow path for routing results other than `Continue`. `length` is the size of the packet's body in bytes. Returns
    /// whether the driver must end its current poll, which started at `now`.
    #[cold]
    #[inline(never)]
    fn stops(&mut self, next: Routed, length: usize, now: Instant) -> bool {
        match next {
            Routed::Continue => return false,
            Routed::Slow => return self.is_over(now),
            Routed::Discarded => {
                self.core.charge_abuse(length);
                return false;
            }
            Routed::Charged(bytes) => {
                self.core.charge_abuse(bytes);
                return self.is_over(now);
            }
            Routed::HandOff(take_over) => self.leave(take_over),
            Routed::Close(reason) => {
                Order::put(Order::Flush(reason), &mut self.order);
                // Discard the remaining bytes, because another read of this poll must not be decoded as their
                // continuation.
                self.unrouted.clear();
                self.handle.0.deferred.clear(&self.handle.0.mailbox.account);
                self.reading = ReadMode::Stopped;
            }
        }
        true
    }

    /// Returns whether packets of all kinds may be routed. If not, a server defers requests, because the client does
    /// not read its replies.
    fn has_room(&mut self) -> bool {
        self.room().is_none_or(|room| self.core.outbox().len() < room)
    }

    /// Returns the backlog in bytes at which further requests are deferred, or `None` for no limit.
    #[inline]
    fn room(&self) -> Option<usize> {
        match self.core.role() {
            // A client routes replies regardless of its backlog. Otherwise two peers with full outboxes would wait for
            // each other.
            Role::Client => None,
            Role::Server => Some(self.output.limit(self.handle.0.mailbox.backlog_max())),
        }
    }

    /// Calls the router's `batch_ended` without routing any packets.
    pub(crate) fn run_batch(&mut self, now: Instant) -> Result<(), CloseReason> {
        self.guarded(|engine| engine.end_batch(now))
    }

    #[inline]
    fn end_batch(&mut self, now: Instant) {
        let Some(session) = &mut self.session else { return };
        self.handle.set_routed(0);
        let mut batch = BatchEnd { now, outbox: self.core.outbox(), when_written: false };
        self.batch_at = self.router.batch_ended(session, &mut batch);
        self.batch_when_written = batch.when_written;
        if self.messages_are_held && !self.core.outbox().is_empty() {
            self.retain_outbox();
        }
    }

    /// Moves the packets that the router has queued to the mailbox, where they wait until the peer's header format is
    /// known. Packets sent earlier through handles remain before them.
    #[cold]
    fn retain_outbox(&mut self) {
        self.handle.0.mailbox.lock().outbox.append(self.core.outbox());
    }

    /// Returns whether all output has been written and the router has requested a call of [`Router::batch_ended`] at
    /// this point.
    pub(crate) fn wants_batch(&mut self) -> bool {
        self.batch_when_written && !self.messages_are_held && self.core.outbox().is_empty()
    }

    /// Returns whether received bytes have not been routed yet.
    #[inline]
    pub(crate) fn has_input(&self) -> bool {
        !self.unrouted.is_empty() || self.core.holds_packet()
    }

    /// Returns whether [`route`](Self::route) would make progress without more input.
    #[inline]
    pub(crate) fn can_route(&mut self) -> bool {
        (self.has_input() && self.takes_more()
            || self.routing == Routing::Deferring && (self.has_room() || self.find_short().is_some()))
            && !self.core.is_resting()
    }

    /// Returns the time of the connection's next timeout, if there is one.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        let due = earlier(earlier(self.core.next_timeout(), self.batch_at), self.slots_due);
        match &self.handle.0.lifetime {
            None => due,
            Some(lifetime) => earlier(due, lifetime.next(self.age)),
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.routing == Routing::Deferring {
            self.notify_listening(now);
        }
        POOL.sweep();
        if self.slots_due.is_some_and(|due| due <= now) {
            self.slots_due = self.handle.0.mailbox.expire_slots(now);
        }
        self.check_age(now);
        self.core.handle_timeout(now)
    }

    /// Drains or closes the connection if it has reached its maximum age.
    #[cold]
    fn check_age(&mut self, now: Instant) {
        let lifetime = self.handle.0.lifetime.as_ref();
        let Some(age) = lifetime.and_then(|lifetime| lifetime.advance(self.age, now)) else { return };
        self.age = age;
        match age {
            Age::Over => self.handle.abort_for_age(),
            _ => self.handle.0.mailbox.order(Order::WhenIdle(CloseReason::MaxAge)),
        }
    }

    /// Frees memory that an idle connection does not need. Called periodically.
    #[cold]
    pub(crate) fn release_unused(&mut self, now: Instant) -> Result<(), CloseReason> {
        if !self.core.is_unused(now) {
            self.is_idle_notified = false;
            return Ok(());
        }
        let shared = &self.handle.0;
        shared.mailbox.account.budget().trim(&shared.runtime);
        self.core.release();
        self.last_stream = None;
        shared.mailbox.release();
        shared.mailbox.account.release(self.output.settle(self.core.outbox(), &shared.mailbox.account));
        shared.work.release();
        if self.is_idle_notified || shared.work.len() > 0 {
            return Ok(());
        }
        self.is_idle_notified = true;
        shared.mailbox.account.budget().record_idle();
        self.guarded(|engine| {
            let _entered = engine.handle.0.runtime.enter();
            if let Some(session) = &mut engine.session {
                engine.router.event(session, &mut ConnectionEvent::Idle);
            }
        })
    }

    /// Records a write of `count` bytes, and notifies waiting senders if the backlog has fallen below its limit. Called
    /// after each write. Cheap unless the backlog was full.
    #[inline(always)] // Has a single caller.
    pub(crate) fn handle_written(&mut self, count: usize, now: Instant) {
        let before = self.core.transmit().len();
        self.core.handle_written(count, now);
        self.count(Traffic::Written, count);
        let account = &self.handle.0.mailbox.account;
        account.release(self.output.settle(self.core.transmit(), account));
        // Compare the backlog before the write, because tasks wait only if they found it full.
        if self.handle.0.mailbox.is_full(before) {
            self.notify_producers();
        }
    }

    /// Adds transferred bytes to the traffic counters. Does nothing for a nested connection, because the outer
    /// connection counts its bytes.
    #[inline]
    fn count(&self, what: Traffic, count: usize) {
        if !self.handle.0.is_within {
            self.handle.0.mailbox.account.count(what, count as u64);
        }
    }

    /// Reports the remaining backlog to tasks that are waiting for space because the backlog was full.
    #[cold]
    fn notify_producers(&mut self) {
        let left = self.core.transmit().len();
        self.handle.0.mailbox.handle_drained(&mut self.mailbox_reader, left);
    }

    #[inline(always)]
    fn handle_packet(&mut self, packet: Packet) -> Routed {
        let Some(session) = &mut self.session else { return Routed::Continue };
        self.handle.set_routed(packet.operation.number());
        self.router.route(session, packet, self.core.outbox())
    }

    #[inline(always)]
    fn handle_event(&mut self, event: Event) -> Routed {
        match event {
            Event::Packet(Packet { id, operation: Operation::STREAM, body }) => self.handle_stream(id, body),
            Event::Packet(packet) => self.handle_packet(packet),
            Event::PeerKnown => self.handle_peer_known(),
            Event::Control(packet) => self.handle_control(packet),
            Event::HandOff(event) => self.handle_hand_off(event),
            Event::Nothing => Routed::Continue,
        }
    }

    /// Handles a protocol packet that concerns a stream, a call or the connection.
    fn handle_control(&mut self, packet: Packet) -> Routed {
        let Packet { id, operation, body } = packet;
        match operation {
            Operation::BATCH => return self.handle_batch(id, &body),
            Operation::EXTENSION if id == extension::CLOSE => {
                let reason = CloseReason::from_packet(&body);
                return Routed::Close(reason.unwrap_or(CloseReason::Protocol(ProtocolError::Malformed(operation))));
            }
            Operation::EXTENSION if matches!(id, extension::HEADERS | extension::TRAILERS) => {
                return self.handle_stream_items(Packet { id, operation, body });
            }
            Operation::CREDIT | Operation::END => {
                let stream = self.handle.0.mailbox.lock().streams.get(id).cloned();
                // Count the packet as useless, although the peer may not know yet that the stream has ended.
                let Some(stream) = stream else { return Routed::Discarded };
                let understood = match operation {
                    Operation::CREDIT => stream.handle_credit(&body),
                    _ => stream.handle_end(&body),
                };
                if !understood {
                    return Routed::Close(CloseReason::Protocol(ProtocolError::Malformed(operation)));
                }
                if stream.is_over() {
                    self.handle.0.mailbox.leave_stream(&stream);
                }
            }
            Operation::CANCEL => {
                let Some(session) = &mut self.session else { return Routed::Continue };
                self.router.cancelled(session, id, body, self.core.outbox());
                // Count cancellations as useless packets, because calls that are cancelled immediately cost more than
                // any other calls.
                return Routed::Discarded;
            }
            Operation::EXTENSION => {
                let Some(session) = &mut self.session else { return Routed::Continue };
                let outbox = self.core.outbox();
                let mut event = ConnectionEvent::Extension { id, body, outbox, routed: Routed::Discarded };
                self.router.event(session, &mut event);
                if let ConnectionEvent::Extension { routed, .. } = event {
                    return routed;
                }
            }
            Operation::GOING_AWAY if self.goodbye == GoingAway::Sent => self.goodbye = GoingAway::Received,
            Operation::GOING_AWAY => {
                if std::mem::replace(&mut self.handle.0.mailbox.lock().going_away, true) {
                    return Routed::Discarded;
                }
                let Some(session) = &mut self.session else { return Routed::Continue };
                self.router.event(session, &mut ConnectionEvent::GoingAway);
                if self.core.role() == Role::Client && !self.router.declaration().closes_by_itself {
                    self.goodbye = GoingAway::Due;
                    // Have the driver take the mailbox again. `take_messages` sends the reply after the packets that it
                    // finds there.
                    self.handle.0.mailbox.notify();
                }
            }
            _ => {}
        }
        Routed::Continue
    }

    /// Executes `run`, which calls code of the router. If the code panics, the connection ends, because the state of
    /// the router may be corrupted.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Result<T, CloseReason> {
        catch_unwind(AssertUnwindSafe(|| run(self))).map_err(|_| CloseReason::Router(PANICKED.into()))
    }
}

impl<R: Router> Drop for Engine<R> {
    /// Ends the connection when the engine is dropped for any reason, such as a shutdown of the runtime. Otherwise, the
    /// handles of the connection would wait forever.
    fn drop(&mut self) {
        self.end(&CloseReason::Shutdown);
        // Finish the mailbox after `end`, because handles that wait for it return the close reason that `end` sets.
        self.handle.0.mailbox.finish();
        self.handle.0.deferred.clear(&self.handle.0.mailbox.account);
        let account = &self.handle.0.mailbox.account;
        account.release(self.body_charge + self.hello_charge);
        // Charge an empty outbox, which releases the whole charge of the connection's output.
        account.release(self.output.settle(&Outbox::default(), account));
        account.budget().trim(&self.handle.0.runtime);
    }
}
