//! One turn of a connection, whatever moves its bytes: mail, routing, time. The drivers add the socket.

mod ending;
mod full;
mod greeting;
mod hand_off;
mod memory;
mod streams;

use self::ending::GoingAway;
use self::hand_off::OutgoingHandOff;
use crate::budget::{Output, Traffic};
use crate::clock::now as clock;
use crate::connection::blocked::note_panic;
use crate::connection::{Age, Connection};
use crate::executor::tasks::Home;
use crate::executor::workers::watchdog::Blocked;
use crate::log_limit::LineLimit;
use crate::mailbox::hand_off::HandOffWaiter;
use crate::mailbox::stream::StreamShared;
use crate::mailbox::{MailReader, Order, TakeOutcome};
use crate::pool::POOL;
use crate::runtime::blocked::DrivenConnection;
use crate::runtime::pending_handshakes::PendingHandshake;
use crate::{BatchEnd, CloseReason, Operation, Outbox, Packet, Protocol, ProtocolError, Routed};
use bytes::Bytes;
use frisbee_core::{Event, PeerStreamIds, Role, earlier};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

/// Packets routed in one turn. A connection that sends without end must let its neighbours have a turn; at some
/// 100 ns each this is a tenth of a millisecond.
const PACKETS_PER_BATCH: usize = 1024;

/// Packets after which the clock is read, since a turn may not last longer than [`Config::turn_max`]. A peer can send
/// packets that cost ten times as much as usual: errors have a text. Reading the clock costs a quarter of a packet.
const PACKETS_PER_LOOK: usize = 32;

/// A connection's protocol state and its router, owned by the connection's task.
pub(crate) struct Engine<R: Protocol> {
    pub(crate) core: frisbee_core::Connection,
    handle: Connection,
    router: Arc<R>,
    /// `None` once the connection has ended for its handles.
    session: Option<R::Session>,
    /// The handshake slot of a client that has not sent its first packet. In a box, since it is kept for but a short time.
    pending_handshake: Option<Box<PendingHandshake>>,
    /// The server's memory that is charged for the body that is arriving, in bytes.
    body_charge: usize,
    /// The same for a long HELLO, which is kept as long as the connection.
    hello_charge: usize,
    output: Output,
    mail_reader: MailReader,
    /// The form of headers is not known, so packets of handles stay in the mailbox.
    mail_is_held: bool,
    /// Bytes that were read and are not yet routed.
    unrouted: Bytes,
    /// The number of bytes that the last read put into a large body instead, unknown to the core.
    pub(crate) body_read: usize,
    reading: ReadMode,
    routing: Routing,
    /// When the router has requested a turn.
    batch_at: Option<Instant>,
    /// It has requested one when everything has been written.
    batch_when_written: bool,
    /// When a task misses the slot for a stream that it has been granted.
    slots_due: Option<Instant>,
    /// The router has been notified that the connection is unused.
    is_idle_notified: bool,
    /// The stream whose message came last.
    last_stream: Option<Arc<StreamShared>>,
    /// The ids of streams that a native peer has used.
    openings: PeerStreamIds,
    order: Option<Box<Order>>,
    goodbye: GoingAway,
    age: Age,
    /// The handle that waits for the answer to a hand-off.
    asking: Option<Box<HandOffWaiter>>,
    departure: OutgoingHandOff,
}

/// Whether the transport is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadMode {
    Open,
    /// The peer has closed its half. Work that is in progress is finished.
    HalfClosed,
    /// The router has closed the connection, or it belongs to its next owner.
    Stopped,
}

/// Which packets are routed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Routing {
    /// All.
    All,
    /// All, and the last batch was a single packet.
    Single,
    /// As many bytes as may wait to be written do or did, so requests are deferred; see `full.rs`. Until all that was
    /// deferred has been routed.
    Deferring,
}

/// Ends a connection whose router has panicked before it had a session, so that no task that waits on a handle waits for
/// ever.
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

/// Logs that a router panicked.
#[cold]
fn log_panic(connection: &Connection) {
    static LINE: LineLimit = LineLimit::new();
    note_panic(connection);
    let peer = connection.peer_addr();
    if let Some(suppressed) = LINE.may_say(Instant::now()) {
        tracing::error!(target: "frisbee::connection", ?peer, suppressed, "a router panicked; its connection is closed");
    }
}

/// The reason for the end of a connection whose router has panicked, which is a defect of the router.
const PANICKED: &str = "the router panicked";

impl<R: Protocol> Engine<R> {
    pub(crate) fn new(mut core: frisbee_core::Connection, router: Arc<R>, handle: Connection) -> Self {
        core.set_pool(&POOL);
        let role = core.role();
        handle.0.mailbox.lock().peer = core.peer().clone();
        let connected = catch_unwind(AssertUnwindSafe(|| router.connected(&handle)));
        let session = connected.unwrap_or_else(|panic| {
            end_before_session(&handle);
            resume_unwind(panic)
        });
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
            mail_reader: MailReader::default(),
            mail_is_held: role == Role::Server,
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

    /// The culprit to report if the connection blocks its thread.
    pub(crate) fn culprit(&self) -> Arc<dyn Blocked> {
        Arc::new(DrivenConnection { connection: self.handle.clone(), router: self.router.clone() })
    }

    /// Notes the worker or the ring that drives the connection.
    pub(crate) fn set_home(&self, home: impl Home + 'static) {
        self.handle.set_home(Box::new(home));
    }

    /// Releases the handshake slot when the client has sent its first packet.
    pub(crate) fn entered(mut self, pending_handshake: PendingHandshake) -> Self {
        self.pending_handshake = Some(Box::new(pending_handshake));
        self
    }

    /// Takes the packets and orders of handles; see [`Mailbox::take`](crate::mailbox::Mailbox::take).
    pub(crate) fn take_mail(&mut self, waker: &Waker, yielded: bool) -> TakeOutcome {
        let Self { core, handle, mail_reader, order, slots_due, .. } = self;
        let is_held = self.mail_is_held;
        let (mut step, mut encoded) = (None, Ok(()));
        let backlog = core.outbox().len();
        let mail = handle.0.mailbox.take(mail_reader, waker, yielded, backlog, |inner| {
            step = inner.hand_off.take();
            *slots_due = inner.openers.due();
            if let Some(step) = &mut step {
                encoded = hand_off::request(core, step);
            }
            if !is_held && !inner.outbox.is_empty() {
                core.outbox().append(&mut inner.outbox);
            }
            if let Some(ordered) = inner.order.take() {
                Order::put(*ordered, order);
            }
            if std::mem::take(&mut inner.expired) {
                core.expire(clock());
            }
            core.outbox().len()
        });
        if mail != TakeOutcome::Mail {
            return mail;
        }
        if self.goodbye == GoingAway::Due {
            self.goodbye = GoingAway::Answered;
            self.send_going_away();
        }
        if let Some(step) = step {
            self.decide(*step, encoded);
        }
        mail
    }

    /// Whether a single packet has come since the last call. Then the replies have woken at most one caller, and its
    /// next packet need not wait for those of others.
    pub(crate) fn take_first_arrival(&mut self) -> bool {
        let has_packet = self.routing == Routing::Single;
        if has_packet {
            self.routing = Routing::All;
        }
        has_packet
    }

    /// Whether the driver should read.
    #[inline]
    pub(crate) fn wants_input(&mut self) -> bool {
        self.reading == ReadMode::Open && !self.has_input() && self.takes_more() && !self.core.is_resting()
    }

    /// Accepts the bytes of a read.
    pub(crate) fn handle_input(&mut self, input: Bytes) {
        debug_assert!(self.unrouted.is_empty(), "the driver checks before it reads");
        self.unrouted = input;
    }

    /// Handles the end of the peer's sending half.
    pub(crate) fn handle_eof(&mut self, now: Instant) -> Result<(), CloseReason> {
        let reason = self.core.handle_eof();
        let finish = self.core.role() == Role::Server && matches!(reason, CloseReason::ClosedByPeer) && !self.is_idle();
        if !finish || self.core.sends().is_none() {
            return Err(reason);
        }
        self.reading = ReadMode::HalfClosed;
        self.core.handle_half_close(now);
        // The end of the input is that of its streams when everything before it has been routed.
        self.routing = Routing::Deferring;
        Ok(())
    }

    /// Routes bytes that were read, up to a bound, and ends the turn for the router; [`has_input`](Self::has_input)
    /// returns whether some are left.
    pub(crate) fn route(&mut self, now: Instant) -> Result<(), CloseReason> {
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
            self.charge_body()?;
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
        // The next owner gets the connection at the end of the packet that is arriving.
        let mut left = if self.is_leaving() { 1 } else { PACKETS_PER_BATCH };
        let mut routed = 0;
        // Checked again after every event, since packets alone change neither.
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
                // The compiler does not know that nothing is to be dropped.
                let stops = match next {
                    next @ Routed::Continue => {
                        std::mem::forget(next);
                        false
                    }
                    next => self.stops(next, length, now),
                };
                // After a whole packet there is nothing in between two.
                if stops || self.unrouted.is_empty() {
                    break;
                }
                continue;
            }
            if self.mail_is_held && self.leave_to_adapter() {
                break;
            }
            let event = self.core.poll_event(&mut self.unrouted, now)?;
            if self.mail_is_held {
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

    /// Whether a turn that began at `now` has lasted long enough.
    #[cold]
    fn is_over(&self, now: Instant) -> bool {
        clock().saturating_duration_since(now) >= self.handle.turn_max()
    }

    /// Carries out a result of the router other than to continue, for a packet with a body of `length` bytes; returns
    /// whether the turn, which began at `now`, is over.
    #[cold]
    #[inline(never)]
    fn stops(&mut self, next: Routed, length: usize, now: Instant) -> bool {
        match next {
            Routed::Continue => return false,
            Routed::Slow => return self.is_over(now),
            Routed::Useless => {
                self.core.waste(length);
                return false;
            }
            Routed::HandOff(take_over) => self.leave(take_over),
            Routed::Close(reason) => {
                Order::put(Order::Flush(reason), &mut self.order);
                // Another read of this turn must not continue after the packets that were cut off here.
                self.unrouted.clear();
                self.handle.0.deferred.clear(&self.handle.0.mailbox.account);
                self.reading = ReadMode::Stopped;
            }
        }
        true
    }

    /// Whether all packets may be routed. At a server whose client does not accept its replies, requests wait.
    fn has_room(&mut self) -> bool {
        self.room().is_none_or(|room| self.core.outbox().len() < room)
    }

    /// How many bytes may wait to be written while all packets are routed; `None` if any number may.
    #[inline]
    fn room(&self) -> Option<usize> {
        match self.core.role() {
            Role::Client => None,
            Role::Server => Some(self.output.limit(self.handle.0.mailbox.backlog_max())),
        }
    }

    /// Ends a turn for the router without routed packets.
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
        if self.mail_is_held && !self.core.outbox().is_empty() {
            self.retain_outbox();
        }
    }

    /// Lets the router's packets wait for the form of headers, after those of handles.
    #[cold]
    fn retain_outbox(&mut self) {
        self.handle.0.mailbox.lock().outbox.append(self.core.outbox());
    }

    /// Whether the router waits for a turn that it can have now.
    pub(crate) fn wants_batch(&mut self) -> bool {
        self.batch_when_written && !self.mail_is_held && self.core.outbox().is_empty()
    }

    /// Whether bytes that were read wait to be routed.
    #[inline]
    pub(crate) fn has_input(&self) -> bool {
        !self.unrouted.is_empty() || self.core.holds_packet()
    }

    /// Whether [`route`](Self::route) would get on, without anything new being read.
    #[inline]
    pub(crate) fn can_route(&mut self) -> bool {
        (self.has_input() && self.takes_more() || self.routing == Routing::Deferring && self.has_room())
            && !self.core.is_resting()
    }

    /// When the time has to be looked at next.
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

    /// Drains or closes a connection that has reached its maximum age.
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

    /// Gives back the memory that an unused connection does not need. To be called now and then.
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
        self.output.charge(self.core.outbox(), &shared.mailbox.account);
        shared.work.release();
        if self.is_idle_notified || shared.work.len() > 0 {
            return Ok(());
        }
        self.is_idle_notified = true;
        shared.mailbox.account.budget().record_idle();
        self.guarded(|engine| {
            let _entered = engine.handle.0.runtime.enter();
            if let Some(session) = &mut engine.session {
                engine.router.idle(session);
            }
        })
    }

    /// Records that so many bytes were written, and notifies producers if there is room again. Called after each write;
    /// costs nothing unless the backlog was full.
    #[inline(always)] // In one place.
    pub(crate) fn handle_written(&mut self, count: usize, now: Instant) {
        let before = self.core.transmit().len();
        self.core.handle_written(count, now);
        self.count(Traffic::Written, count);
        self.output.charge(self.core.transmit(), &self.handle.0.mailbox.account);
        if self.handle.0.mailbox.is_full(before) {
            self.notify_producers();
        }
    }

    /// Counts bytes of the transport, unless they are counted as those of the connection around this one.
    #[inline]
    fn count(&self, what: Traffic, count: usize) {
        if !self.handle.0.is_within {
            self.handle.0.mailbox.account.count(what, count as u64);
        }
    }

    /// Reports the rest of a backlog that was full to producers.
    #[cold]
    fn notify_producers(&mut self) {
        let left = self.core.transmit().len();
        self.handle.0.mailbox.handle_drained(&mut self.mail_reader, left);
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

    /// Handles a packet of a native peer about a stream, a call or the connection.
    fn handle_control(&mut self, packet: Packet) -> Routed {
        let Packet { id, operation, body } = packet;
        match operation {
            Operation::BATCH => return self.handle_batch(id, &body),
            Operation::CREDIT | Operation::END => {
                let stream = self.handle.0.mailbox.lock().streams.get(id).cloned();
                // One that is over here may not be over there yet.
                let Some(stream) = stream else { return Routed::Useless };
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
                // Work that was begun in vain is waste as well: calls that are cancelled at once cost more than any
                // other.
                return Routed::Useless;
            }
            Operation::GOING_AWAY if self.goodbye == GoingAway::Sent => self.goodbye = GoingAway::Received,
            Operation::GOING_AWAY => {
                if std::mem::replace(&mut self.handle.0.mailbox.lock().going_away, true) {
                    return Routed::Useless;
                }
                let Some(session) = &mut self.session else { return Routed::Continue };
                self.router.going_away(session);
                if self.core.role() == Role::Client && !self.router.closes_by_itself() {
                    self.goodbye = GoingAway::Due;
                    self.handle.0.mailbox.notify();
                }
            }
            _ => {}
        }
        Routed::Continue
    }

    /// Runs a part of the router. One that panics has lost its state, so its connection ends.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> Result<T, CloseReason> {
        catch_unwind(AssertUnwindSafe(|| run(self))).map_err(|_| CloseReason::Router(PANICKED.into()))
    }
}

impl<R: Protocol> Drop for Engine<R> {
    /// However the task ends, even with its runtime, no task that waits on a handle waits for ever.
    fn drop(&mut self) {
        self.end(&CloseReason::Shutdown);
        self.handle.0.mailbox.finish();
        self.handle.0.deferred.clear(&self.handle.0.mailbox.account);
        self.handle.0.mailbox.account.release(self.body_charge + self.hello_charge);
        self.output.charge(&Outbox::default(), &self.handle.0.mailbox.account);
        self.handle.0.mailbox.account.budget().trim(&self.handle.0.runtime);
    }
}
