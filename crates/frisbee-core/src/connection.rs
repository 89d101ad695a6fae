//! Protocol state of a connection: decodes received bytes into events, replies to protocol packets, and determines
//! close reasons.

pub(crate) mod hand_off;

use crate::decode::{BodyMut, FRAGMENT_LEAST};
use crate::hello::{CHANNELS_MAX, HELLO_MAX};
use crate::idle_tracker::IdleTracker;
use crate::keepalive::millis;
use crate::{
    AbuseLimiter, Bucket, ClientConfig, CloseReason, Config, Decoder, Event, Header, HeaderForm, Hello, HelloItems,
    Keepalive, Liveness, MemoryPool, Operation, Outbox, Packet, PacketId, PeerKind, ProtocolError, ReadProgress, Role,
    ServerConfig, TooLong, WriteProgress, earlier, extension,
};
use bytes::Bytes;
use hand_off::{HandOffEvent, HandOffProgress, Stage};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of PINGs that a peer may send in a burst. Go peers send two PINGs per second.
const PING_BURST: u32 = 40;
const PINGS_PER_SECOND: u32 = 20;

/// Extensions that are passed to the caller as control packets.
const CONTROLS: [PacketId; 4] = [extension::ASK, extension::LAYOUT, extension::CALLS, extension::CLOSE];

/// Interval of PINGs to a peer that has closed its write half. If the peer is gone, its operating system replies with a
/// reset, and the next write fails.
const HALF_CLOSED_PING_INTERVAL: Duration = Duration::from_millis(250);

/// Protocol state of one end of a connection. It performs no I/O; the caller owns the socket.
///
/// In each poll, pass received bytes to [`poll_event`](Self::poll_event) until it returns `None`, and write the bytes
/// from [`transmit`](Self::transmit). Report the result to [`handle_written`](Self::handle_written). Call
/// [`handle_timeout`](Self::handle_timeout) at the time returned by [`next_timeout`](Self::next_timeout).
#[derive(Debug)]
pub struct Connection {
    role: Role,
    decoder: Decoder,
    outbox: Outbox,
    keepalive: Keepalive,
    pace: ReadProgress,
    abuse: AbuseLimiter,
    pings: Bucket<PING_BURST, PINGS_PER_SECOND>,
    received: u64,
    usage: IdleTracker,
    write_progress: WriteProgress,
    /// Reason for suspending the idle timeout, or `None` while it applies. Boxed because reading from most peers is
    /// never paused.
    excuse: Option<Box<SilenceExcuse>>,
    /// Whether a PONG may be pending in the outbox. If set, no second PONG is queued.
    pong_waits: bool,
    /// Whether the fast path is disabled, because no packet has been received yet or a hand-off is in progress.
    is_special: bool,
    /// Deadline for detecting the kind of the server (at a client), for receiving the first packet header (at a
    /// server), or for writing the pending bytes of a closing connection.
    shows_by: Option<Instant>,
    /// First packet of the client, stored until [`Event::PeerKnown`] has been reported.
    first: Option<Box<Packet>>,
    peer: PeerKind,
    /// HELLO to send. `None` once it has been sent, or if HELLO is disabled. A server sends it in reply to the client's
    /// HELLO.
    hello: Option<Box<Hello>>,
    /// Time in milliseconds within which the peer must reply to a hand-off request.
    hand_off_timeout: u32,
    hand_off: Option<Box<HandOffProgress>>,
}

impl Connection {
    /// Creates the client end of a connection that was established at `now`.
    pub fn client(config: &ClientConfig, now: Instant) -> Self {
        let ClientConfig { common, header_form, hello_items, operations, .. } = config;
        let mut decoder = Decoder::new(*header_form, common.body_limit());
        decoder.operations.clone_from(operations);
        let shows_by = if common.hello { now.checked_add(config.peer_kind_timeout) } else { None };
        let mut connection = Self::new(Role::Client, common, hello_items, decoder, *header_form, now);
        connection.shows_by = shows_by;
        if common.hello {
            // A Go server ignores the HELLO and replies to the PING. A server that supports the protocol extension
            // replies to the HELLO first.
            connection.send_hello();
            connection.send_sign(PacketId(1), Operation::PING);
        } else {
            connection.peer = PeerKind::Compat;
        }
        connection
    }

    /// Creates the server end of a connection that was established at `now`.
    pub fn server(config: &ServerConfig, now: Instant) -> Self {
        let ServerConfig { common, first_header_timeout, hello_items, operations } = config;
        let decoder = Decoder::detecting(operations.clone(), common.body_limit());
        let mut connection = Self::new(Role::Server, common, hello_items, decoder, HeaderForm::Current, now);
        connection.shows_by = now.checked_add(*first_header_timeout);
        connection
    }

    fn new(
        role: Role,
        config: &Config,
        hello_items: &HelloItems,
        decoder: Decoder,
        form: HeaderForm,
        now: Instant,
    ) -> Self {
        let mut outbox = Outbox::new(form);
        outbox.set_limit(config.body_limit());
        Self {
            role,
            decoder,
            outbox,
            keepalive: Keepalive::new(config.ping_interval, config.idle_timeout, now),
            pace: ReadProgress::new(config.least_rate_window, config.least_rate),
            abuse: AbuseLimiter::new(config.abuse_rate, now),
            pings: Bucket::new(now),
            received: 0,
            usage: IdleTracker::new(now),
            write_progress: WriteProgress::new(config.write_timeout, config.least_rate),
            excuse: None,
            pong_waits: false,
            is_special: role == Role::Server,
            shows_by: None,
            first: None,
            peer: PeerKind::Unknown,
            hello: config.hello.then(|| Box::new(Hello::new(config, hello_items))),
            hand_off_timeout: millis(config.hand_off_timeout),
            hand_off: None,
        }
    }

    /// Returns whether this end is the client or the server.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the kind of the peer, [`PeerKind::Unknown`] until it is determined.
    #[inline]
    pub fn peer(&self) -> &PeerKind {
        &self.peer
    }

    /// Replaces the peer's HELLO with `same` if they are equal, so that connections share the memory.
    pub fn share_hello(&mut self, same: &Arc<Hello>) {
        if let PeerKind::Native(hello) = &mut self.peer
            && hello == same
        {
            *hello = same.clone();
        }
    }

    /// Sets the memory pool for the buffers of large bodies.
    pub fn set_pool(&mut self, pool: &'static dyn MemoryPool) {
        self.decoder.set_pool(pool);
    }

    /// Returns the header format of sent packets. Returns `None` while a server must not send: before the first header
    /// of the client has arrived, and before the server has replied to a HELLO.
    #[inline]
    pub fn sends(&self) -> Option<HeaderForm> {
        let is_greeted = || self.peer == PeerKind::Unknown && self.decoder.arriving() == Some(Operation::EXTENSION);
        self.decoder.form().filter(|_| self.role == Role::Client || !is_greeted())
    }

    /// Returns the outbox. Append new packets to it. Packets appended after a hand-off request remain there until the
    /// reply arrives.
    #[inline]
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Returns the outbox to write to the socket next.
    #[inline]
    pub fn transmit(&mut self) -> &mut Outbox {
        match &mut self.hand_off {
            None => &mut self.outbox,
            Some(hand_off) if hand_off.stage == Stage::Deciding => &mut self.outbox,
            Some(hand_off) => &mut hand_off.last,
        }
    }

    /// Returns whether the next input byte is the start of a packet and no other event is due first. This is the
    /// precondition of [`poll_packet`](Self::poll_packet).
    #[inline]
    pub fn is_at_packet(&self) -> bool {
        !self.is_special && self.first.is_none() && self.decoder.is_at_header()
    }

    /// Decodes the next packet if it is complete and belongs to a call or a stream. This is the fast path for most
    /// packets. Otherwise returns `None` and leaves `input` unchanged for [`poll_event`](Self::poll_event).
    ///
    /// The connection must be [at a packet](Self::is_at_packet). It still is afterwards, so one check suffices for all
    /// packets until `poll_event` is called.
    #[inline(always)]
    pub fn poll_packet(&self, input: &mut Bytes) -> Option<Packet> {
        debug_assert!(self.is_at_packet(), "connection should be at the start of a packet");
        self.decoder.next_whole(input)
    }

    /// Decodes the next event from the input, consuming at most one packet. PING and PONG are handled internally. If
    /// the peer does not support the protocol extension, the reserved operations 3 to 9 are skipped, as in Go.
    ///
    /// Returns `None` if `input` is exhausted, or if this end [has left](Self::has_left) the connection, so that the
    /// remaining `input` belongs to the next owner.
    ///
    /// # Errors
    /// If the peer violated the protocol. The caller must close the connection.
    #[inline(always)] // Otherwise its only hot caller would move each packet three times.
    pub fn poll_event(&mut self, input: &mut Bytes, now: Instant) -> Result<Option<Event>, ProtocolError> {
        if self.is_special {
            match self.peek_kind(input)? {
                PacketKind::GoOn => {}
                PacketKind::PeerKnown => return Ok(Some(Event::PeerKnown)),
                PacketKind::Abandoned => return Ok(Some(Event::HandOff(HandOffEvent::Abandoned))),
                PacketKind::Stop => return Ok(None),
            }
        }
        let next = if self.first.is_none() { self.decoder.next(input)? } else { self.first.take().map(|first| *first) };
        let Some(packet) = next else { return Ok(None) };
        self.decoder.check_order(&packet)?;
        if !packet.operation.is_reserved() || packet.operation == Operation::STREAM {
            return Ok(Some(Event::Packet(packet)));
        }
        self.handle_reserved(packet, now).map(Some)
    }

    /// Returns whether [`poll_event`](Self::poll_event) will return a packet without consuming input. This is the case
    /// for the first packet of a client, which follows [`Event::PeerKnown`], and for a packet with a body that was read
    /// [directly](Self::body_mut).
    #[inline]
    pub fn holds_packet(&self) -> bool {
        self.first.is_some() || self.decoder.holds_packet()
    }

    /// Records that `count` bytes were read from the socket. Call this once per read, after handling its events. After
    /// handling events without a read, call it with a count of 0.
    pub fn handle_read(&mut self, count: usize, now: Instant) {
        if count > 0 {
            self.keepalive.received(now);
        }
        self.received = self.received.saturating_add(count as u64);
        self.usage.carry(count);
        self.abuse.end_batch(count, now);
        self.watch_pace(now);
    }

    /// Starts or stops the minimum-rate check for a partially received packet.
    #[inline]
    fn watch_pace(&mut self, now: Instant) {
        if self.decoder.is_mid_packet() && self.excuse.is_none() && !self.is_resting() {
            self.pace.waiting(self.received, now);
        } else {
            self.pace.complete();
        }
    }

    /// Charges a useless packet with a body of `length` bytes against [`Config::abuse_rate`]. A packet is useless if it
    /// causes work without a result, such as a request for an unknown method.
    pub fn charge_abuse(&mut self, length: usize) {
        self.abuse.charge(length.saturating_add(Header::MAX_LEN));
    }

    /// Inherits the debt for useless packets from earlier connections of the same caller; see
    /// [`AbuseLimiter::inherit`].
    pub fn inherit_abuse(&mut self, debt: Duration) {
        self.abuse.inherit(debt);
    }

    /// Returns the debt for useless packets of the peer; see [`AbuseLimiter::debt`].
    pub fn abuse_debt(&self, now: Instant) -> Duration {
        self.abuse.debt(now)
    }

    /// Returns whether reading is paused because the peer has sent too many [useless](Self::charge_abuse) bytes.
    /// [`handle_timeout`](Self::handle_timeout) resumes reading.
    #[inline]
    pub fn is_resting(&self) -> bool {
        self.abuse.deadline().is_some()
    }

    /// Sets whether the driver reads from the peer. A driver pauses reading while the peer does not read the replies to
    /// its requests fast enough. During a pause, only the write timeout applies, but not the idle timeout and the
    /// minimum read rate. After reading resumes, the idle timeout and the minimum read rate stay suspended for as long
    /// as the pause lasted: a peer in TCP's persist state may notice late, because the intervals between its window
    /// probes grow.
    pub fn set_listening(&mut self, listens: bool, now: Instant) {
        let excuse = match self.excuse.as_deref() {
            None | Some(SilenceExcuse::Again { .. }) if !listens => Some(SilenceExcuse::Deaf { since: now }),
            Some(SilenceExcuse::Deaf { since }) if listens => {
                now.checked_add(now.saturating_duration_since(*since)).map(|until| SilenceExcuse::Again { until })
            }
            _ => return,
        };
        self.excuse = excuse.map(Box::new);
        self.watch_pace(now);
    }

    /// Returns whether only PINGs and PONGs were exchanged for at least [`Config::ping_interval`]. Call this
    /// periodically, because the interval starts at the first call that finds no other traffic.
    pub fn is_unused(&mut self, now: Instant) -> bool {
        self.usage.check(self.keepalive.ping_interval(), now)
    }

    /// Returns whether a packet has been received only partially.
    pub fn is_mid_packet(&self) -> bool {
        self.decoder.is_mid_packet()
    }

    /// Returns the buffer into which a large body is being received; see [`Decoder::body_mut`].
    pub fn body_mut(&mut self) -> Option<BodyMut<'_>> {
        self.decoder.body_mut()
    }

    /// Returns the number of bytes of memory that partially received bodies occupy; see [`Decoder::buffered`].
    pub fn buffered(&self) -> usize {
        self.decoder.buffered()
    }

    /// Discards the partially received body; see [`Decoder::discard_body`].
    pub fn discard_body(&mut self) -> Option<Packet> {
        self.decoder.discard_body()
    }

    /// Returns how many of the next input bytes belong to a [discarded](Self::discard_body) packet, or `None` if the
    /// next byte belongs to another one. [`poll_event`](Self::poll_event) reports no event at the end of such a packet.
    pub fn discarding(&self) -> Option<usize> {
        self.decoder.discarding()
    }

    /// Prepares a write of [`transmit`](Self::transmit). Appends fragments of long packets, if the peer accepts
    /// fragments.
    ///
    /// After the write, call [`handle_written`](Self::handle_written) before queueing other packets.
    pub fn stage(&mut self) {
        let operations = self.decoder.operations.clone();
        self.transmit().stage(|operation| operations.as_ref().is_some_and(|all| all.has_call(operation)));
    }

    /// Returns whether packets of this operation belong to calls and are expected to be short, because no earlier one
    /// was long.
    pub fn is_short_call(&self, operation: Operation) -> bool {
        self.outbox.is_short(operation) && self.decoder.operations.as_ref().is_some_and(|all| all.has_call(operation))
    }

    /// Records that the socket accepted `count` bytes, or 0 if it currently accepts none.
    #[inline]
    pub fn handle_written(&mut self, count: usize, now: Instant) {
        let transmit = self.transmit();
        transmit.advance(count);
        let all = transmit.is_empty();
        // The PONG has been written, because it is a short packet. Fragments may still be pending.
        if all || transmit.has_written_short() {
            self.pong_waits = false;
        }
        if count > 0 {
            self.usage.carry(count);
            self.keepalive.sent(now);
        }
        let consumed = self.bytes_consumed();
        if self.write_progress.handle_written(count, !all, consumed, now) {
            // Count accepted bytes as activity, because a peer that reads may have nothing to send.
            self.keepalive.received(now);
        }
    }

    /// Returns the number of received bytes that count as progress of the peer in reading. Always 0 at a server.
    #[inline]
    fn bytes_consumed(&self) -> u64 {
        // A server stops reading while its client does not read. At a client, received bytes therefore show that the
        // server will read again.
        match self.role {
            Role::Client => self.received,
            Role::Server => 0,
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) must be called. Every other method call may
    /// change this time.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        // Fast path, because every driver calls this in each poll. Most connections have only the keepalive timeout.
        let minds_more = self.write_progress.is_stalled()
            || self.hand_off.is_some()
            || self.shows_by.is_some()
            || self.pace.deadline().is_some()
            || self.is_resting();
        if minds_more { self.next_of_all_timeouts() } else { self.keepalive.deadline() }
    }

    /// Starts the final flush of pending bytes, before this end closes the connection. The deadline is the write
    /// timeout plus the time that the pending bytes take at [`Config::least_rate`].
    pub fn begin_flush(&mut self, now: Instant) {
        let unsent = self.transmit().len() as u64;
        self.shows_by = now.checked_add(self.write_progress.stall_timeout().saturating_add(self.pace.time_for(unsent)));
    }

    /// Queues a CLOSE packet with this reason as the last packet. Does nothing if the peer does not support CLOSE or
    /// already knows the reason.
    pub fn send_close(&mut self, reason: &CloseReason) {
        let is_native = matches!(self.peer, PeerKind::Native(_)) && self.hand_off.is_none();
        let Some(body) = reason.to_packet().filter(|_| is_native) else { return };
        let sent = self.outbox.push_extension(extension::CLOSE, body);
        debug_assert!(sent.is_ok(), "CLOSE should be within every limit");
    }

    /// Makes the timeout for a client's first header expire immediately. Has no effect if the header has arrived.
    pub fn expire(&mut self, now: Instant) {
        if self.role == Role::Server {
            self.shows_by = self.shows_by.map(|by| by.min(now));
        }
    }

    /// Returns the deadline of the [final flush](Self::begin_flush), or `None` if it has not begun.
    pub fn flushed_by(&self) -> Option<Instant> {
        earlier(self.shows_by, self.write_progress.stalled_by())
    }

    fn next_of_all_timeouts(&self) -> Option<Instant> {
        let stalled = self.write_progress.deadline();
        if let Some(hand_off) = &self.hand_off {
            return earlier(earlier(hand_off.deadline, stalled), self.abuse.deadline());
        }
        let shows_by = self.shows_by.filter(|_| !self.is_beginning());
        let silent = self.keepalive.deadline();
        let due = earlier(earlier(silent, stalled), earlier(self.pace.deadline(), shows_by));
        earlier(due, self.abuse.deadline())
    }

    /// Handles expired timers, for example by sending a PING or by returning a close reason.
    ///
    /// # Errors
    /// If a timeout of the peer has expired. The caller must close the connection for the returned reason.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.is_resting() || self.excuse.is_some() {
            self.abuse.handle_timeout(now);
            if self.abuse.is_exhausted() {
                return Err(ProtocolError::Flood.into());
            }
            self.keepalive.received(now); // Nothing was read during the pause.
            if matches!(self.excuse.as_deref(), Some(SilenceExcuse::Again { until }) if *until <= now) {
                self.excuse = None;
            }
            self.pace.complete(); // No packet could make progress either.
            self.watch_pace(now);
        }
        if self.shows_by.is_some_and(|by| now >= by) && !self.is_beginning() {
            return Err(match self.role {
                Role::Client => CloseReason::PeerUnknown,
                Role::Server => CloseReason::NoFirstHeader,
            });
        }
        let (unsent, consumed) = (self.transmit().len(), self.bytes_consumed());
        if self.write_progress.is_too_slow(unsent, consumed, now) {
            return Err(CloseReason::WriteTimeout { waiting: unsent });
        }
        // No other timeout applies during a hand-off, because the peer may send only the reply.
        if let Some(hand_off) = &self.hand_off {
            let late = hand_off.deadline.is_some_and(|by| now >= by);
            return if late { Err(CloseReason::HandOffTimeout) } else { Ok(()) };
        }
        if self.pace.is_too_slow(self.received, now) {
            return Err(CloseReason::TooSlow);
        }
        match self.keepalive.poll(now) {
            Liveness::Dead => Err(CloseReason::IdleTimeout),
            // While bytes are pending, send a PING only if the peer has been silent. Otherwise, the pending bytes
            // already require the peer to act.
            Liveness::SendPing
                if self.sends().is_some() && (!self.write_progress.is_stalled() || self.keepalive.is_silent(now)) =>
            {
                self.send_sign(PacketId(0), Operation::PING);
                Ok(())
            }
            Liveness::SendPing | Liveness::Alive => Ok(()),
        }
    }

    /// Returns the close reason for a peer that has closed its write half.
    pub fn handle_eof(&self) -> CloseReason {
        if self.decoder.is_mid_packet() { CloseReason::Truncated } else { CloseReason::ClosedByPeer }
    }

    /// Records that the peer has closed its write half while its requests are still being processed.
    ///
    /// Such a peer can no longer reply to a PING. PINGs are still sent to it, four times per second: if the peer is
    /// gone, its operating system replies with a reset, and the next write fails.
    pub fn handle_half_close(&mut self, now: Instant) {
        self.pace.complete();
        self.keepalive = Keepalive::new(HALF_CLOSED_PING_INTERVAL, Duration::MAX, now);
        self.send_sign(PacketId(0), Operation::PING);
    }

    /// Frees buffers that are not needed while the connection is idle.
    pub fn release(&mut self) {
        self.outbox.release();
        self.write_progress.release();
    }

    /// Returns whether a client's first packet has been received only partially.
    fn is_beginning(&self) -> bool {
        self.role == Role::Server && self.decoder.form().is_some()
    }

    /// Determines how to handle the next packet while the fast path is disabled.
    #[cold]
    fn peek_kind(&mut self, input: &mut Bytes) -> Result<PacketKind, ProtocolError> {
        match self.hand_off.as_ref().map(|hand_off| hand_off.stage) {
            Some(Stage::Left) => Ok(PacketKind::Stop),
            Some(Stage::Deciding) => self.next_while_deciding(input),
            Some(Stage::Requested) => Ok(PacketKind::GoOn),
            // Report the kind of the client before its first packet, because the caller needs the kind to handle the
            // packet.
            None if self.judge_first_packet(input)? => {
                self.is_special = false;
                Ok(PacketKind::PeerKnown)
            }
            None => Ok(PacketKind::GoOn),
        }
    }

    /// Decodes the first packet of a client, which shows whether the client supports the protocol extension. Returns
    /// whether the packet is complete.
    #[cold]
    fn judge_first_packet(&mut self, input: &mut Bytes) -> Result<bool, ProtocolError> {
        let first = self.decoder.next(input)?;
        if let Some(form) = self.decoder.form() {
            // Reply with the header format that the client uses.
            self.outbox.set_form(form);
        }
        let Some(first) = first else { return Ok(false) };
        self.shows_by = None;
        match if self.hello.is_some() { greeted(&first)? } else { None } {
            Some(peer) => {
                self.decide(peer);
                self.send_hello();
            }
            None => {
                self.peer = PeerKind::Compat;
                self.first = Some(Box::new(first));
            }
        }
        Ok(true)
    }

    fn send_hello(&mut self) {
        let Some(hello) = self.hello.take() else { return };
        // Send the HELLO even if memory is short. Without it, the client would treat this end as one without the
        // protocol extension.
        let write = |outbox: &mut Outbox| outbox.push(extension::HELLO, Operation::EXTENSION, hello.encode());
        let sent = self.outbox.with_room(HELLO_MAX, write);
        debug_assert!(sent.is_ok(), "HELLO should be within its limit");
    }

    #[inline(never)]
    fn handle_reserved(&mut self, packet: Packet, now: Instant) -> Result<Event, ProtocolError> {
        let ours = matches!(self.peer, PeerKind::Native(_));
        // Subtract keepalive packets from the traffic count. Otherwise, PINGs would keep the connection from ever being
        // idle.
        if matches!(packet.operation, Operation::PING | Operation::PONG) {
            self.usage.carry_sign(self.outbox.header_size());
        }
        match packet.operation {
            Operation::PING | Operation::PONG if !packet.body.is_empty() => {
                let length = u32::try_from(packet.body.len()).unwrap_or(u32::MAX);
                return Err(ProtocolError::KeepaliveWithBody { length });
            }
            Operation::PING if !self.pings.take(now) => return Err(ProtocolError::Flood),
            // Ignore a PING that crossed the hand-off request, because this end must not send anything after the
            // request.
            Operation::PING if self.hand_off.is_some() => {}
            // Queue at most one PONG. Otherwise, a peer that sends PINGs without reading could grow the outbox.
            Operation::PING if !self.pong_waits => {
                self.send_sign(PacketId(0), Operation::PONG);
                self.pong_waits = true;
            }
            Operation::PONG if self.peer == PeerKind::Unknown => return Ok(self.decide(PeerKind::Compat)),
            Operation::EXTENSION if self.peer == PeerKind::Unknown => {
                if let Some(peer) = greeted(&packet)? {
                    return Ok(self.decide(peer));
                }
                self.charge_abuse(packet.body.len());
            }
            Operation::EXTENSION if ours && packet.id >= extension::MUST_UNDERSTAND => {
                return Err(ProtocolError::NotUnderstood(packet.id));
            }
            Operation::EXTENSION if ours && packet.id == extension::FRAGMENT => {
                let length = packet.body.len();
                let complete = self.decoder.add_fragment(packet.body)?;
                // Charge short fragments, because processing one costs more than its length suggests.
                if complete.is_none() && length < FRAGMENT_LEAST {
                    self.charge_abuse(length);
                }
                return Ok(complete.map_or(Event::Nothing, Event::Packet));
            }
            Operation::EXTENSION if ours && CONTROLS.contains(&packet.id) => return Ok(Event::Control(packet)),
            Operation::EXTENSION if ours && matches!(packet.id, extension::HEADERS | extension::TRAILERS) => {
                let is_malformed = packet.stream().is_none();
                let malformed = Err(ProtocolError::Malformed(Operation::EXTENSION));
                return if is_malformed { malformed } else { Ok(Event::Control(packet)) };
            }
            Operation::GOING_AWAY | Operation::CREDIT | Operation::CANCEL | Operation::END | Operation::BATCH
                if ours =>
            {
                return Ok(Event::Control(packet));
            }
            Operation::HAND_OFF if ours => return self.handle_hand_off(packet.body, now),
            _ => self.charge_abuse(packet.body.len()),
        }
        Ok(Event::Nothing)
    }

    /// Records the kind of the peer, and returns the event that reports it.
    fn decide(&mut self, peer: PeerKind) -> Event {
        if let Some(hello) = peer.hello() {
            self.decoder.set_channels(CHANNELS_MAX);
            self.outbox.set_channels(hello.fragment_channels);
        }
        self.peer = peer;
        self.shows_by = None;
        Event::PeerKnown
    }

    /// Queues a PING or PONG, without counting its bytes as traffic.
    fn send_sign(&mut self, id: PacketId, operation: Operation) {
        let sent: Result<(), TooLong> = self.outbox.push(id, operation, Bytes::new());
        debug_assert!(sent.is_ok(), "empty packet should be within every limit");
        self.usage.carry_sign(self.outbox.header_size());
    }
}

/// Reason for suspending the idle timeout: this end has not been reading from the peer.
#[derive(Debug)]
enum SilenceExcuse {
    /// Reading has been paused since `since`.
    Deaf { since: Instant },
    /// Reading has resumed. Until `until`, the peer may not have noticed that it can send again.
    Again { until: Instant },
}

/// Handling of the next input bytes while the fast path is disabled.
enum PacketKind {
    /// Parse the next packet.
    GoOn,
    /// Report the kind of the peer first.
    PeerKnown,
    /// The peer cancelled its hand-off request.
    Abandoned,
    /// Stop until more input arrives or the hand-off is decided.
    Stop,
}

/// Returns [`PeerKind::Native`] if the packet is a HELLO. A malformed HELLO is an error. Otherwise, its sender would be
/// treated as a peer without the protocol extension, and its deadlines and metadata would be lost.
fn greeted(packet: &Packet) -> Result<Option<PeerKind>, ProtocolError> {
    let is_hello = packet.operation == Operation::EXTENSION && packet.id == extension::HELLO;
    if !is_hello || !Hello::is_signed(&packet.body) {
        return Ok(None);
    }
    Ok(Some(PeerKind::Native(Arc::new(Hello::decode(&packet.body)?))))
}

#[cfg(test)]
mod tests;
