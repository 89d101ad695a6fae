//! A connection: automatic replies of the protocol, events for the caller, and close reasons.

pub(crate) mod hand_off;

use crate::decode::BodyMut;
use crate::idle_tracker::IdleTracker;
use crate::keepalive::millis;
use crate::{
    Bucket, ClientConfig, CloseReason, Config, Decoder, Event, Header, HeaderForm, Hello, HelloItems, Keepalive,
    Liveness, MemoryPool, Operation, Outbox, Packet, PacketId, PeerKind, ProtocolError, ReadProgress, Role,
    ServerConfig, TooLong, WasteLimiter, WriteProgress, earlier, extension,
};
use bytes::Bytes;
use hand_off::{HandOffEvent, HandOffProgress, Stage};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Burst of PINGs accepted from a peer, and rate per second afterwards. Go sends two per second.
const PING_BURST: u32 = 40;
const PINGS_PER_SECOND: u32 = 20;

/// Interval of PINGs to a peer that has closed its sending half. They detect when the peer is gone.
const HALF_CLOSED_PING_INTERVAL: Duration = Duration::from_millis(250);

/// One end of a connection, driven by the owner of the socket.
///
/// In each turn, pass the bytes that were read to [`poll_event`](Self::poll_event) until it returns `None`, write the
/// bytes in [`transmit`](Self::transmit), call [`handle_written`](Self::handle_written), and call
/// [`handle_timeout`](Self::handle_timeout) when [`next_timeout`](Self::next_timeout) has come.
#[derive(Debug)]
pub struct Connection {
    role: Role,
    decoder: Decoder,
    outbox: Outbox,
    keepalive: Keepalive,
    pace: ReadProgress,
    waste: WasteLimiter,
    pings: Bucket<PING_BURST, PINGS_PER_SECOND>,
    received: u64,
    usage: IdleTracker,
    write_progress: WriteProgress,
    /// Set while the peer's silence is excused. Boxed because most peers are never paused.
    hearing: Option<Box<SilenceExcuse>>,
    /// Whether a PONG may be pending in the outbox. A second one is then not added.
    pong_waits: bool,
    /// Whether packets need inspection before they are taken, because the first one has not been seen or a hand-off is
    /// in progress.
    is_special: bool,
    /// Deadline for determining the kind of the peer; of a client, for the start of its first packet. When closing, the
    /// deadline for writing the pending bytes.
    shows_by: Option<Instant>,
    /// First packet of a client until it is processed.
    first: Option<Box<Packet>>,
    peer: PeerKind,
    /// HELLO to send; at a server, in reply to that of the client. `None` once it has been sent, or if it is disabled.
    hello: Option<Box<Hello>>,
    /// Timeout in milliseconds.
    hand_off_timeout: u32,
    hand_off: Option<Box<HandOffProgress>>,
}

impl Connection {
    /// Creates the dialling end of a connection established at `now`.
    pub fn client(config: &ClientConfig, now: Instant) -> Self {
        let ClientConfig { common, header_form, hello_items, .. } = config;
        let decoder = Decoder::new(*header_form, common.body_limit());
        let shows_by = if common.hello { now.checked_add(config.peer_kind_timeout) } else { None };
        let mut connection = Self::new(Role::Client, common, hello_items, decoder, *header_form, now);
        connection.shows_by = shows_by;
        if common.hello {
            // A Go server skips the HELLO and replies to the PING. A native server replies to the HELLO before anything
            // else.
            connection.send_hello();
            connection.send_sign(PacketId(1), Operation::PING);
        } else {
            connection.peer = PeerKind::Compat;
        }
        connection
    }

    /// Creates the accepting end of a connection established at `now`.
    pub fn server(config: &ServerConfig, now: Instant) -> Self {
        let ServerConfig { common, first_header_timeout, served, hello_items } = config;
        let decoder = Decoder::detecting(served.clone(), common.body_limit());
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
            waste: WasteLimiter::new(config.waste_rate, now),
            pings: Bucket::new(now),
            received: 0,
            usage: IdleTracker::new(now),
            write_progress: WriteProgress::new(config.write_timeout, config.least_rate),
            hearing: None,
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

    /// Returns the role of this end.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the kind of the peer, or that it is still unknown.
    #[inline]
    pub fn peer(&self) -> &PeerKind {
        &self.peer
    }

    /// Replaces the HELLO of a native peer by an equal one, so that connections share it. Does nothing if they differ.
    pub fn share_hello(&mut self, same: &Arc<Hello>) {
        if let PeerKind::Native(hello) = &mut self.peer
            && hello == same
        {
            *hello = same.clone();
        }
    }

    /// Sets the pool that provides the memory of large bodies.
    pub fn set_pool(&mut self, pool: &'static dyn MemoryPool) {
        self.decoder.set_pool(pool);
    }

    /// Returns the form of headers that this connection sends. Returns `None` while a server must not send yet: it has
    /// received no header, or only that of a HELLO, which must be answered first.
    #[inline]
    pub fn sends(&self) -> Option<HeaderForm> {
        let is_greeted = || self.peer == PeerKind::Unknown && self.decoder.arriving() == Some(Operation::EXTENSION);
        self.decoder.form().filter(|_| self.role == Role::Client || !is_greeted())
    }

    /// Returns the outbox for new packets. During a hand-off requested by this end, they wait there for the reply.
    #[inline]
    pub fn outbox(&mut self) -> &mut Outbox {
        &mut self.outbox
    }

    /// Returns the bytes to write.
    #[inline]
    pub fn transmit(&mut self) -> &mut Outbox {
        match &mut self.hand_off {
            None => &mut self.outbox,
            Some(hand_off) if hand_off.stage == Stage::Deciding => &mut self.outbox,
            Some(hand_off) => &mut hand_off.last,
        }
    }

    /// Returns whether the next byte of the input starts a packet and no event is due before it.
    /// [`poll_packet`](Self::poll_packet) may be called only then.
    #[inline]
    pub fn is_at_packet(&self) -> bool {
        !self.is_special && self.first.is_none() && self.decoder.is_at_header()
    }

    /// Takes the next packet from the input if it is complete and addressed to the router or a stream, as most packets
    /// are. Otherwise leaves `input` unchanged for [`poll_event`](Self::poll_event).
    ///
    /// Call this only while the connection [is at a packet](Self::is_at_packet). This does not change by the call, so
    /// one check suffices for all packets of a read up to the next call of `poll_event`.
    #[inline(always)]
    pub fn poll_packet(&self, input: &mut Bytes) -> Option<Packet> {
        debug_assert!(self.is_at_packet(), "checked by the caller");
        self.decoder.next_whole(input)
    }

    /// Takes the next event from the input, consuming at most one packet. PING and PONG are handled here. The reserved
    /// operations 3 to 9 of compat peers are skipped, like in Go.
    ///
    /// Returns `None` if `input` is exhausted, or if the connection [has been left](Self::has_left) and the rest of
    /// `input` belongs to the next owner.
    ///
    /// # Errors
    /// If the peer violated the protocol. The connection must be closed.
    #[inline(always)] // It has one caller that matters, and a packet would be moved three times on its way there.
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
        if !packet.operation.is_reserved() || packet.operation == Operation::STREAM {
            return Ok(Some(Event::Packet(packet)));
        }
        self.handle_reserved(packet, now).map(Some)
    }

    /// Returns whether [`poll_event`](Self::poll_event) holds a packet that is no longer part of the input: the first
    /// packet of a client, which follows the event of its kind, or one whose body was read [directly](Self::body_mut).
    #[inline]
    pub fn holds_packet(&self) -> bool {
        self.first.is_some() || self.decoder.holds_packet()
    }

    /// Records a read of `count` bytes. Call it once per read after handling its events, and with 0 after events
    /// without a read.
    pub fn handle_read(&mut self, count: usize, now: Instant) {
        if count > 0 {
            self.keepalive.received(now);
        }
        self.received = self.received.saturating_add(count as u64);
        self.usage.carry(count);
        self.waste.end_batch(count, now);
        self.watch_pace(now);
    }

    /// Checks the arrival rate of the current packet, if there is one.
    #[inline]
    fn watch_pace(&mut self, now: Instant) {
        if self.decoder.is_mid_packet() && self.hearing.is_none() && !self.is_resting() {
            self.pace.waiting(self.received, now);
        } else {
            self.pace.complete();
        }
    }

    /// Charges a useless packet with a body of this length; see [`Config::waste_rate`].
    pub fn waste(&mut self, length: usize) {
        self.waste.charge(length.saturating_add(Header::MAX_LEN));
    }

    /// Returns whether reading from the peer is suspended because it has [wasted](Self::waste) too many bytes.
    /// [`handle_timeout`](Self::handle_timeout) ends the suspension.
    #[inline]
    pub fn is_resting(&self) -> bool {
        self.waste.deadline().is_some()
    }

    /// Sets whether the peer is being read. Reading stops while a peer accepts too few of the bytes it has requested.
    /// The peer is then judged only by the bytes that it accepts: neither its silence nor a slow packet counts against
    /// it. When reading resumes, the excuse continues for as long as the pause lasted. The peer needs that time to
    /// notice, because the intervals between TCP's window probes grow.
    pub fn set_listening(&mut self, listens: bool, now: Instant) {
        let hearing = match self.hearing.as_deref() {
            None | Some(SilenceExcuse::Again { .. }) if !listens => Some(SilenceExcuse::Deaf { since: now }),
            Some(SilenceExcuse::Deaf { since }) if listens => {
                now.checked_add(now.saturating_duration_since(*since)).map(|until| SilenceExcuse::Again { until })
            }
            _ => return,
        };
        self.hearing = hearing.map(Box::new);
        self.watch_pace(now);
    }

    /// Returns whether only PINGs and PONGs were sent and received for [`Config::ping_interval`]. Call it periodically,
    /// because the interval begins when a call first finds no other packets.
    pub fn is_unused(&mut self, now: Instant) -> bool {
        self.usage.check(self.keepalive.ping_interval(), now)
    }

    /// Returns whether a packet has been received in part.
    pub fn is_mid_packet(&self) -> bool {
        self.decoder.is_mid_packet()
    }

    /// Returns the buffer of the large body being received; see [`Decoder::body_mut`].
    pub fn body_mut(&mut self) -> Option<BodyMut<'_>> {
        self.decoder.body_mut()
    }

    /// Returns the memory used by the body being received, in bytes; see [`Decoder::buffered`].
    pub fn buffered(&self) -> usize {
        self.decoder.buffered()
    }

    /// Discards the body being received; see [`Decoder::discard_body`].
    pub fn discard_body(&mut self) -> Option<Packet> {
        self.decoder.discard_body()
    }

    /// Records a write of `count` bytes, or 0 if the peer currently accepts none.
    #[inline]
    pub fn handle_written(&mut self, count: usize, now: Instant) {
        let transmit = self.transmit();
        if count > 0 {
            transmit.advance(count);
        }
        let all = transmit.is_empty();
        if count > 0 {
            self.usage.carry(count);
            self.keepalive.sent(now);
        }
        let consumed = self.bytes_consumed();
        if self.write_progress.handle_written(count, !all, consumed, now) {
            // A peer that accepts bytes is alive, even if it sends nothing.
            self.keepalive.received(now);
        }
        if all {
            self.pong_waits = false;
        }
    }

    /// Returns the number of bytes received, if they count as progress of the peer in accepting bytes.
    #[inline]
    fn bytes_consumed(&self) -> u64 {
        match self.role {
            Role::Client => self.received,
            Role::Server => 0,
        }
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) must be called.
    #[inline]
    pub fn next_timeout(&self) -> Option<Instant> {
        // Called in every turn of every connection; most have only silence to check.
        let minds_more = self.write_progress.is_stalled()
            || self.hand_off.is_some()
            || self.shows_by.is_some()
            || self.pace.deadline().is_some()
            || self.is_resting();
        if minds_more { self.next_of_all_timeouts() } else { self.keepalive.deadline() }
    }

    /// Starts writing the last bytes before this end closes. The time limit is that of a peer that accepts them at
    /// [`Config::least_rate`].
    pub fn begin_flush(&mut self, now: Instant) {
        let unsent = self.transmit().len() as u64;
        self.shows_by = now.checked_add(self.write_progress.patience().saturating_add(self.pace.time_for(unsent)));
    }

    /// Queues a CLOSE with the reason as the last packet, if it is of use to a native peer.
    pub fn send_close(&mut self, reason: &CloseReason) {
        let is_native = matches!(self.peer, PeerKind::Native(_)) && self.hand_off.is_none();
        let Some(body) = reason.to_packet().filter(|_| is_native) else { return };
        let sent = self.outbox.push_extension(extension::CLOSE, body);
        debug_assert!(sent.is_ok(), "CLOSE should be within every limit");
    }

    /// Expires the timeout of a client's first header, unless the header has arrived.
    pub fn expire(&mut self, now: Instant) {
        if self.role == Role::Server {
            self.shows_by = self.shows_by.map(|by| by.min(now));
        }
    }

    /// Returns the deadline for writing the last bytes, if there is one.
    pub fn flushed_by(&self) -> Option<Instant> {
        earlier(self.shows_by, self.write_progress.stalled_by())
    }

    fn next_of_all_timeouts(&self) -> Option<Instant> {
        let stalled = self.write_progress.deadline();
        if let Some(hand_off) = &self.hand_off {
            return earlier(earlier(hand_off.deadline, stalled), self.waste.deadline());
        }
        let shows_by = self.shows_by.filter(|_| !self.is_beginning());
        let silent = self.keepalive.deadline();
        let due = earlier(earlier(silent, stalled), earlier(self.pace.deadline(), shows_by));
        if self.is_resting() { earlier(due, self.waste.deadline()) } else { due }
    }

    /// Performs the actions that are due: sends a PING, or returns the close reason.
    ///
    /// # Errors
    /// If one of the peer's timeouts has expired.
    pub fn handle_timeout(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.is_resting() || self.hearing.is_some() {
            self.waste.handle_timeout(now);
            self.keepalive.received(now); // The peer was not being read.
            if matches!(self.hearing.as_deref(), Some(SilenceExcuse::Again { until }) if *until <= now) {
                self.hearing = None;
            }
            self.pace.complete(); // Packets could not arrive either.
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
        if let Some(hand_off) = &self.hand_off {
            let late = hand_off.deadline.is_some_and(|by| now >= by);
            return if late { Err(CloseReason::HandOffTimeout) } else { Ok(()) };
        }
        if self.pace.is_too_slow(self.received, now) {
            return Err(CloseReason::TooSlow);
        }
        match self.keepalive.poll(now) {
            Liveness::Dead => Err(CloseReason::IdleTimeout),
            // Pending bytes require a reaction of the peer just like a PING.
            Liveness::SendPing
                if self.sends().is_some() && (!self.write_progress.is_stalled() || self.keepalive.is_silent(now)) =>
            {
                self.send_sign(PacketId(0), Operation::PING);
                Ok(())
            }
            Liveness::SendPing | Liveness::Alive => Ok(()),
        }
    }

    /// Returns the close reason after the peer has closed its sending half.
    pub fn handle_eof(&self) -> CloseReason {
        if self.decoder.is_mid_packet() { CloseReason::Truncated } else { CloseReason::ClosedByPeer }
    }

    /// Records that the peer has closed its sending half while its requests are still being processed.
    ///
    /// Such a peer can no longer send a sign of life, so it is sent four PINGs per second. If it is gone, its operating
    /// system replies with a reset, which fails the next write.
    pub fn handle_half_close(&mut self, now: Instant) {
        self.pace.complete();
        self.keepalive = Keepalive::new(HALF_CLOSED_PING_INTERVAL, Duration::MAX, now);
        self.send_sign(PacketId(0), Operation::PING);
    }

    /// Releases memory that an idle connection does not need.
    pub fn release(&mut self) {
        self.outbox.release();
        self.write_progress.release();
    }

    /// Returns whether a client's first packet has been received in part.
    fn is_beginning(&self) -> bool {
        self.role == Role::Server && self.decoder.form().is_some()
    }

    /// Inspects the input before the next packet is taken.
    #[cold]
    fn peek_kind(&mut self, input: &mut Bytes) -> Result<PacketKind, ProtocolError> {
        match self.hand_off.as_ref().map(|hand_off| hand_off.stage) {
            Some(Stage::Left) => Ok(PacketKind::Stop),
            Some(Stage::Deciding) => self.next_while_deciding(input),
            Some(Stage::Requested) => Ok(PacketKind::GoOn),
            // The event of a client's kind precedes its first packet, which stays in order.
            None if self.judge_first_packet(input)? => {
                self.is_special = false;
                Ok(PacketKind::PeerKnown)
            }
            None => Ok(PacketKind::GoOn),
        }
    }

    /// Inspects the first packet of a client, which determines its kind. Returns true once it has arrived.
    #[cold]
    fn judge_first_packet(&mut self, input: &mut Bytes) -> Result<bool, ProtocolError> {
        let first = self.decoder.next(input)?;
        if let Some(form) = self.decoder.form() {
            // Headers are sent in the form that was received first.
            self.outbox.set_form(form);
        }
        let Some(first) = first else { return Ok(false) };
        self.shows_by = None;
        match if self.hello.is_some() { greeted(&first)? } else { None } {
            Some(peer) => {
                self.peer = peer;
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
        let sent = self.outbox.push_extension(extension::HELLO, hello.encode());
        debug_assert!(sent.is_ok(), "HELLO should be within its limit");
    }

    #[inline(never)]
    fn handle_reserved(&mut self, packet: Packet, now: Instant) -> Result<Event, ProtocolError> {
        let ours = matches!(self.peer, PeerKind::Native(_));
        if matches!(packet.operation, Operation::PING | Operation::PONG) {
            self.usage.carry_sign(self.outbox.header_size());
        }
        match packet.operation {
            Operation::PING | Operation::PONG if !packet.body.is_empty() => {
                let length = u32::try_from(packet.body.len()).unwrap_or(u32::MAX);
                return Err(ProtocolError::KeepaliveWithBody { length });
            }
            Operation::PING if !self.pings.take(now) => return Err(ProtocolError::PingFlood),
            // The PING crossed the hand-off request, after which nothing may be sent.
            Operation::PING if self.hand_off.is_some() => {}
            Operation::PING if !self.pong_waits => {
                self.send_sign(PacketId(0), Operation::PONG);
                self.pong_waits = true;
            }
            Operation::PONG if self.peer == PeerKind::Unknown => return Ok(self.decide(PeerKind::Compat)),
            Operation::EXTENSION if self.peer == PeerKind::Unknown => {
                if let Some(peer) = greeted(&packet)? {
                    return Ok(self.decide(peer));
                }
                self.waste(packet.body.len());
            }
            Operation::EXTENSION if ours && packet.id >= extension::MUST_UNDERSTAND => {
                return Err(ProtocolError::NotUnderstood(packet.id));
            }
            Operation::EXTENSION
                if ours
                    && matches!(
                        packet.id,
                        extension::ASK | extension::LAYOUT | extension::CALLS | extension::CLOSE
                    ) =>
            {
                return Ok(Event::Control(packet));
            }
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
            _ => self.waste(packet.body.len()),
        }
        Ok(Event::Nothing)
    }

    /// Records the kind of the server.
    fn decide(&mut self, peer: PeerKind) -> Event {
        self.peer = peer;
        self.shows_by = None;
        Event::PeerKnown
    }

    /// Queues a PING or PONG.
    fn send_sign(&mut self, id: PacketId, operation: Operation) {
        let sent: Result<(), TooLong> = self.outbox.push(id, operation, Bytes::new());
        debug_assert!(sent.is_ok(), "no limit is below zero bytes");
        self.usage.carry_sign(self.outbox.header_size());
    }
}

/// Reason why the peer's silence does not count against it.
#[derive(Debug)]
enum SilenceExcuse {
    /// The peer is not being read.
    Deaf { since: Instant },
    /// Reading has resumed, but the peer may not have noticed yet.
    Again { until: Instant },
}

/// Result of inspecting the input.
enum PacketKind {
    /// The next packet can be processed.
    GoOn,
    /// The kind of the peer was determined.
    PeerKnown,
    /// The peer, which has requested the connection, no longer waits for the reply.
    Abandoned,
    /// No packet can be processed at present.
    Stop,
}

/// Returns the kind of a native peer if the packet is a HELLO. A malformed HELLO is an error. If its sender were
/// treated as a compat peer, its deadlines and metadata would be lost.
fn greeted(packet: &Packet) -> Result<Option<PeerKind>, ProtocolError> {
    let is_hello = packet.operation == Operation::EXTENSION && packet.id == extension::HELLO;
    if !is_hello || !Hello::is_signed(&packet.body) {
        return Ok(None);
    }
    Ok(Some(PeerKind::Native(Arc::new(Hello::decode(&packet.body)?))))
}

#[cfg(test)]
mod tests;
