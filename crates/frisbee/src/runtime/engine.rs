//! One turn of a connection, whatever moves its bytes: mail, routing, time. The drivers add the socket.

mod ending;
mod full;
mod greeting;
mod hand_off;
mod memory;
mod streams;

use self::ending::Goodbye;
use crate::connection::Connection;
use crate::hand_off::{Asking, TakeOver};
use crate::mailbox::{Mail, MailReader, Order};
use crate::newcomers::Newcomer;
use crate::pool::POOL;
use crate::runtime::timer::now as clock;
use crate::stream::StreamShared;
use crate::{CloseReason, Operation, Packet, ProtocolError, Routed, Router, Turn};
use bytes::Bytes;
use frisbee_core::{Event, Openings, Role, earlier};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::Instant;

/// Packets routed in one turn. A connection that sends without end must let its neighbours have a turn; at some
/// 100 ns each this is a tenth of a millisecond.
const PACKETS_PER_TURN: usize = 1024;

/// Packets after which the clock is looked at, for a turn may not last longer than [`Config::turn_max`]. What a peer
/// sends may cost ten times as much as what is usual: errors have a text. Looking costs as much as a quarter of a
/// packet.
const PACKETS_PER_LOOK: usize = 32;

/// A connection's protocol state and its router, owned by the connection's task.
pub(crate) struct Engine<R: Router> {
    pub(crate) core: frisbee_core::Connection,
    handle: Connection,
    router: Arc<R>,
    session: Option<R::Session>,
    role: Role,
    /// What the body that is arriving takes of the server's memory.
    charged: usize,
    /// What is kept of a long HELLO takes of it.
    greeting: usize,
    /// The place of a client that has not sent its first packet. In a box, since it is kept for but a short time.
    newcomer: Option<Box<Newcomer>>,
    /// Bytes of a large body that were read past `input`.
    body_read: usize,
    /// Handles may have sent before the form of headers was known.
    mail_is_held: bool,
    /// The last batch was a single packet.
    one_came: bool,
    mail_reader: MailReader,
    /// As much waits to be written as may, or did, and not all is routed that came meanwhile.
    is_full: bool,
    /// Read and not yet routed.
    input: Bytes,
    order: Option<Box<Order>>,
    /// When the router wants a turn.
    due: Option<Instant>,
    /// The router knows that the connection is unused.
    is_idle_told: bool,
    /// The stream whose message came last.
    stream: Option<Arc<StreamShared>>,
    /// The streams that a peer of ours has opened.
    openings: Openings,
    /// More may be read: the peer has not closed its half, and the connection has not been left.
    reads: bool,
    /// The router wants a turn when everything has been written.
    when_written: bool,
    /// The peer sends nothing more; what is in progress is finished.
    half_closed: bool,
    /// Waits for the answer to a hand-off.
    asking: Option<Box<Asking>>,
    /// Leaves at the end of the packet that is arriving.
    leaving: Option<TakeOver>,
    /// Who gets the transport, once what waits has been written, and what has been read of it.
    taking: Option<Box<(TakeOver, Bytes)>>,
    /// What the peer knows of the end of the connection.
    goodbye: Goodbye,
    /// This end has heard that the peer will close, and is to say so behind what it had sent by then.
    hears_goodbye: bool,
}

/// A connection whose router has not taken it in yet. If that panics, nobody who has a handle is left waiting.
struct Unborn<'a>(&'a Connection);

impl Drop for Unborn<'_> {
    fn drop(&mut self) {
        tracing::error!("{PANICKED}; closing its connection");
        let reason = CloseReason::Router(PANICKED.into());
        self.0.0.mailbox.close(&reason);
        self.0.0.work.abort();
        let _entered = self.0.0.runtime.enter();
        self.0.0.attachments.handle_close(&reason);
        self.0.0.mailbox.finish();
    }
}

/// Why a connection ends whose router has panicked, which is a defect of the router.
const PANICKED: &str = "the router panicked";

impl<R: Router> Engine<R> {
    pub(crate) fn new(mut core: frisbee_core::Connection, router: Arc<R>, handle: Connection) -> Self {
        core.set_pool(&POOL);
        let role = core.role();
        handle.0.mailbox.lock().peer = core.peer().clone();
        let unborn = Unborn(&handle);
        let session = Some(router.connected(&handle));
        std::mem::forget(unborn);
        handle.0.budget.counts.count_opened();
        Self {
            core,
            handle,
            router,
            session,
            role,
            charged: 0,
            greeting: 0,
            newcomer: None,
            body_read: 0,
            mail_is_held: role == Role::Server,
            one_came: false,
            mail_reader: MailReader::default(),
            is_full: false,
            input: Bytes::new(),
            order: None,
            due: None,
            is_idle_told: false,
            stream: None,
            openings: Openings::new(role.peer()),
            reads: true,
            when_written: false,
            half_closed: false,
            asking: None,
            leaving: None,
            taking: None,
            goodbye: Goodbye::Unsaid,
            hears_goodbye: false,
        }
    }

    /// Gives up a place when the client has sent its first packet.
    pub(crate) fn entered(mut self, newcomer: Newcomer) -> Self {
        self.newcomer = Some(Box::new(newcomer));
        self
    }

    /// Takes the packets and orders of handles; see [`Mailbox::take`](crate::mailbox::Mailbox::take).
    pub(crate) fn take_mail(&mut self, waker: &Waker, yielded: bool) -> Mail {
        let Self { core, handle, mail_reader, order, .. } = self;
        let is_held = self.mail_is_held;
        let (mut step, mut asked) = (None, Ok(()));
        let backlog = core.outbox().len();
        let mail = handle.0.mailbox.take(mail_reader, waker, yielded, backlog, |inner| {
            step = inner.hand_off.take();
            if let Some(step) = &mut step {
                asked = hand_off::ask(core, step);
            }
            if !is_held && !inner.outbox.is_empty() {
                core.outbox().append(&mut inner.outbox);
            }
            if let Some(ordered) = inner.order.take() {
                Order::put(*ordered, order);
            }
            if std::mem::take(&mut inner.hurried) {
                core.hurry(clock());
            }
            core.outbox().len()
        });
        if mail != Mail::Taken {
            return mail;
        }
        if std::mem::take(&mut self.hears_goodbye) {
            self.say_goodbye();
        }
        if let Some(step) = step {
            self.decide(*step, asked);
        }
        mail
    }

    /// Whether a single packet has come since this was last asked. Then it was one caller at most whom replies have
    /// woken, and there is nobody else to wait for before what that one sends is written.
    pub(crate) fn take_one_came(&mut self) -> bool {
        std::mem::take(&mut self.one_came)
    }

    /// Whether the driver should read.
    pub(crate) fn wants_input(&mut self) -> bool {
        self.reads && !self.has_input() && self.takes_more() && !self.core.is_resting()
    }

    /// Takes in what was read.
    pub(crate) fn handle_input(&mut self, input: Bytes) {
        debug_assert!(self.input.is_empty(), "the driver asks before it reads");
        self.input = input;
    }

    /// Takes in the end of the peer's sending half.
    pub(crate) fn handle_eof(&mut self, now: Instant) -> Result<(), CloseReason> {
        let reason = self.core.handle_eof();
        let finish = self.role == Role::Server && matches!(reason, CloseReason::ClosedByPeer) && !self.is_idle();
        if !finish || self.core.sends().is_none() {
            return Err(reason);
        }
        self.reads = false;
        self.half_closed = true;
        self.core.handle_half_close(now);
        let streams: Vec<_> = self.handle.0.mailbox.lock().streams.iter().cloned().collect();
        streams.iter().for_each(|stream| stream.handle_eof());
        Ok(())
    }

    /// Takes in that so many bytes were read straight into a large body.
    pub(crate) fn handle_body(&mut self, count: usize) {
        self.body_read = count;
    }

    /// Routes what was read, up to a bound, and ends the turn for the router; [`has_input`](Self::has_input) tells
    /// whether some is left.
    pub(crate) fn route(&mut self, now: Instant) -> Result<(), CloseReason> {
        self.guarded(|engine| {
            engine.route_input(now)?;
            engine.end_turn(now);
            Ok(())
        })?
    }

    fn route_input(&mut self, now: Instant) -> Result<(), CloseReason> {
        let read = self.input.len();
        self.route_batch(now)?;
        let count = read - self.input.len() + std::mem::take(&mut self.body_read);
        self.core.handle_read(count, now);
        if self.charged > 0 || self.core.is_mid_packet() {
            self.charge_body()?;
        }
        if let Some(taking) = self.leaving.take() {
            self.leave(taking);
        }
        Ok(())
    }

    fn route_batch(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.is_full {
            return self.route_full(now);
        }
        // Whoever wants the connection gets it at the end of the packet that is arriving.
        let mut left = if self.leaving.is_none() { PACKETS_PER_TURN } else { 1 };
        let mut routed = 0;
        while left > 0 {
            if !self.has_room() {
                return self.route_full(now);
            }
            left -= 1;
            if left % PACKETS_PER_LOOK == 1 && self.is_over(now) {
                break;
            }
            let (length, next);
            let mut is_last = false;
            if let Some(packet) = self.core.poll_packet(&mut self.input) {
                length = packet.body.len();
                next = self.handle_packet(packet);
                // Behind a whole packet there is nothing in between two.
                is_last = self.input.is_empty();
            } else {
                let event = self.core.poll_event(&mut self.input, now)?;
                if self.mail_is_held {
                    self.release_held_mail();
                }
                let Some(event) = event else { break };
                length = event.body_len();
                next = self.handle_event(event);
            }
            routed += 1;
            if !matches!(next, Routed::Continue) && self.stops(next, length, now) || is_last {
                break;
            }
        }
        self.one_came = routed == 1;
        Ok(())
    }

    /// Whether a turn that began at `now` has lasted long enough.
    #[cold]
    fn is_over(&self, now: Instant) -> bool {
        clock().saturating_duration_since(now) >= self.handle.0.turn_max
    }

    /// Does what a router wants instead of going on with a packet whose body was so long; whether the turn, which began
    /// at `now`, is over.
    #[cold]
    #[inline(never)]
    fn stops(&mut self, next: Routed, length: usize, now: Instant) -> bool {
        match next {
            Routed::Continue => return false,
            Routed::Slow => return self.is_over(now),
            Routed::Wasted => {
                self.core.waste(length);
                return false;
            }
            Routed::HandOff(taking) => self.leave(taking),
            Routed::Close(reason) => {
                Order::put(Order::Flush(reason), &mut self.order);
                // What was cut off here must not be gone on with by another read of this turn.
                self.input.clear();
                self.handle.0.deferred.clear(&self.handle.0.budget);
                self.reads = false;
            }
        }
        true
    }

    /// Whether all that comes may be routed. At a server whose client does not take its replies, requests wait.
    fn has_room(&mut self) -> bool {
        self.role == Role::Client || self.core.outbox().len() < self.handle.0.mailbox.backlog_max
    }

    /// Ends a turn for the router in which nothing was routed.
    pub(crate) fn turn(&mut self, now: Instant) -> Result<(), CloseReason> {
        self.guarded(|engine| engine.end_turn(now))
    }

    #[inline]
    fn end_turn(&mut self, now: Instant) {
        let Some(session) = &mut self.session else { return };
        let mut turn = Turn { now, outbox: self.core.outbox(), when_written: false };
        self.due = self.router.turn(session, &mut turn);
        self.when_written = turn.when_written;
        if self.mail_is_held && !self.core.outbox().is_empty() {
            self.hold_outbox();
        }
    }

    /// Lets what the router has said wait for the form of headers, behind what handles have sent.
    #[cold]
    fn hold_outbox(&mut self) {
        let mut inner = self.handle.0.mailbox.lock();
        inner.outbox.append(self.core.outbox());
    }

    /// Whether the router waits for a turn that it can have now.
    pub(crate) fn wants_turn(&mut self) -> bool {
        self.when_written && !self.mail_is_held && self.core.outbox().is_empty()
    }

    /// Whether some of what was read waits to be routed.
    pub(crate) fn has_input(&self) -> bool {
        !self.input.is_empty() || self.core.holds_packet()
    }

    /// Whether [`route`](Self::route) would get on, without anything new being read.
    pub(crate) fn can_route(&mut self) -> bool {
        (self.has_input() && self.takes_more() || self.is_full && self.has_room()) && !self.core.is_resting()
    }

    /// When the time has to be looked at next.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        earlier(self.core.next_timeout(), self.due)
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.is_full {
            self.tell_listening(now);
        }
        POOL.sweep(now);
        self.core.handle_timeout(now)
    }

    /// Gives back the memory that an unused connection does not need. To be called now and then.
    #[cold]
    pub(crate) fn give_back(&mut self, now: Instant) -> Result<(), CloseReason> {
        if !self.core.is_unused(now) {
            self.is_idle_told = false;
            return Ok(());
        }
        let shared = &self.handle.0;
        self.core.release();
        self.stream = None;
        shared.mailbox.lock().outbox.release();
        shared.work.release();
        if self.is_idle_told || shared.work.len() > 0 {
            return Ok(());
        }
        self.is_idle_told = true;
        self.guarded(|engine| {
            let _entered = engine.handle.0.runtime.enter();
            if let Some(session) = &mut engine.session {
                engine.router.idle(session);
            }
        })
    }

    /// Tells producers that what waited has been written. Called after each write; costs nothing unless they wait.
    pub(crate) fn handle_written(&mut self, count: usize, now: Instant) {
        let before = self.core.transmit().len();
        self.core.handle_written(count, now);
        if self.handle.0.mailbox.is_full(before) {
            self.tell_producers();
        }
    }

    /// Tells producers how much is left of a backlog that was full.
    #[cold]
    fn tell_producers(&mut self) {
        let left = self.core.transmit().len();
        self.handle.0.mailbox.handle_drained(&mut self.mail_reader, left);
    }

    #[inline(always)]
    fn handle_packet(&mut self, packet: Packet) -> Routed {
        let Some(session) = &mut self.session else { return Routed::Continue };
        self.router.route(session, packet, self.core.outbox())
    }

    #[inline(always)]
    fn handle_event(&mut self, event: Event) -> Routed {
        if self.session.is_none() {
            return Routed::Continue;
        }
        match event {
            Event::Packet(packet) => self.handle_packet(packet),
            Event::Stream { id, body } => self.handle_stream(id, body),
            Event::PeerKnown => self.handle_peer_known(),
            Event::Control(packet) => self.handle_control(packet),
            Event::HandOff(event) => self.handle_hand_off(event),
            Event::Nothing => Routed::Continue,
        }
    }

    /// Takes in what a peer of ours says beside messages.
    fn handle_control(&mut self, packet: Packet) -> Routed {
        let Packet { id, operation, body } = packet;
        match operation {
            Operation::CREDIT | Operation::END => {
                let stream = self.handle.0.mailbox.lock().streams.get(id).cloned();
                // One that is over here may not be over there yet.
                let Some(stream) = stream else { return Routed::Wasted };
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
                // What was begun for nothing is waste as well: calls that are cancelled at once cost more than any
                // other.
                return Routed::Wasted;
            }
            Operation::GOING_AWAY if self.goodbye == Goodbye::Said => self.goodbye = Goodbye::Heard,
            Operation::GOING_AWAY => {
                if std::mem::replace(&mut self.handle.0.mailbox.lock().going_away, true) {
                    return Routed::Wasted;
                }
                let Some(session) = &mut self.session else { return Routed::Continue };
                self.router.going_away(session);
                if self.role == Role::Client && !self.router.closes_by_itself() {
                    self.hears_goodbye = true;
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

impl<R: Router> Drop for Engine<R> {
    /// However the task ends, even with its runtime, nobody is left waiting.
    fn drop(&mut self) {
        self.end(&CloseReason::Shutdown);
        self.handle.0.mailbox.finish();
        self.handle.0.deferred.clear(&self.handle.0.budget);
        self.handle.0.budget.give_back(self.charged + self.greeting);
    }
}
