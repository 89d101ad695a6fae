//! Hand-off of a connection: after a request and its reply, its bytes belong to another owner.
//!
//! ```text
//!            request_hand_off                   accepted
//!   client  (none) ----------> Requested -------------------------> Left
//!              ^                  |
//!              +------ refused ---+          leave
//!              +--------------------------------------------------> Left
//!
//!           HAND_OFF received      answer_hand_off: accepted
//!   server  (none) ----------> Deciding --------------------------> Left
//!              ^                  |
//!              +------ refused ---+
//! ```
//!
//! The requesting end sends nothing more; its further packets are queued. The deciding end receives nothing, since the
//! other end may send only after the answer. The exception is one CANCEL: the caller no longer waits for the answer, which is
//! sent all the same.
//!
//! # Decisions
//!
//! Hand-off is a state of the core. `transmit` is the buffer being written and `outbox` the buffer of new packets; they become
//! separate when an end has requested or left, so that no sender can add a packet after the request. The call table pauses calls
//! by reporting that it is full.

use super::{Connection, Event, PacketKind, PeerKind};
use crate::Role;
use crate::{Operation, Outbox, PacketId, ProtocolError, TooLong, tlv};
use bytes::{Buf, Bytes};
use std::time::{Duration, Instant};

/// The answer of the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandOffAnswer {
    /// The connection continues as before.
    Refused = 0,
    /// The bytes after the reply are no packets.
    Accepted = 1,
    /// Work in progress needs the connection. It continues as before.
    Busy = 2,
    /// That end hands off no connections for this operation. It continues as before.
    NotServed = 3,
}

/// An event of a hand-off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandOffEvent {
    /// The peer requests the connection. It is to be [answered](crate::Connection::answer_hand_off).
    Requested {
        /// The requested operation.
        operation: Operation,
        /// The bytes that go along with the request.
        body: Bytes,
    },
    /// The peer no longer waits for the answer, which has to be sent all the same.
    Abandoned,
    /// The peer has answered. If it has accepted, the rest of the input belongs to the new owner.
    Answered {
        /// The answer.
        answer: HandOffAnswer,
        /// The bytes that go along with it.
        body: Bytes,
    },
}

/// A hand-off in progress.
#[derive(Debug)]
pub(crate) struct HandOffProgress {
    pub(crate) stage: Stage,
    /// The bytes up to the request or reply, which are still written. Later packets are queued in the outbox.
    pub(crate) last: Outbox,
    /// The deadline of the answer.
    pub(crate) deadline: Option<Instant>,
    /// The requesting end no longer waits for the answer.
    pub(crate) is_abandoned: bool,
    /// The length of the CANCEL in `last`, which follows the request.
    pub(crate) cancel_len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Requested,
    Deciding,
    Left,
}

impl Connection {
    /// Requests the connection from the peer. Later packets leave only after the answer, which is reported as
    /// [`HandOffEvent::Answered`]; PINGs are not answered, and silence does not count.
    ///
    /// # Errors
    /// If the body is too long; nothing has changed then.
    ///
    /// # Panics
    /// If this end is the server, has already requested it, or does not know that the peer is extended.
    pub fn request_hand_off(&mut self, operation: Operation, body: &Bytes, now: Instant) -> Result<(), TooLong> {
        let is_allowed =
            self.role == Role::Client && self.hand_off.is_none() && matches!(self.peer, PeerKind::Native(_));
        assert!(is_allowed, "only a client may request a hand-off, one at a time, and only from a native peer");
        let mut head = Vec::with_capacity(3);
        tlv::put_varint(&mut head, operation.number().into());
        put(&mut self.outbox, &head, body)?;
        self.seal(Stage::Requested, now.checked_add(Duration::from_millis(self.hand_off_timeout.into())));
        Ok(())
    }

    /// Notifies a peer whose connection was [requested](Self::request_hand_off), for this operation, that the caller
    /// no longer waits. The answer follows all the same, and may be an acceptance. Nothing is sent to a peer that does not
    /// support it, or was notified before.
    pub fn give_up_hand_off(&mut self, operation: Operation) {
        let understands = self.peer.hello().is_some_and(|hello| hello.hand_off_cancel);
        let hand_off =
            self.hand_off.as_mut().filter(|hand_off| hand_off.stage == Stage::Requested && !hand_off.is_abandoned);
        let Some(hand_off) = hand_off.filter(|_| understands) else { return };
        let request = hand_off.last.len();
        let mut body = Vec::with_capacity(3);
        tlv::put_varint(&mut body, operation.number().into());
        let sent = hand_off.last.push(PacketId(0), Operation::CANCEL, body);
        debug_assert!(sent.is_ok(), "short packets are within every limit");
        hand_off.is_abandoned = true;
        hand_off.cancel_len = hand_off.last.len().saturating_sub(request);
    }

    /// Answers a peer that requests the connection. If it is accepted, nothing is sent after the reply.
    ///
    /// # Errors
    /// If the body is too long; the peer then still waits for an answer.
    ///
    /// # Panics
    /// If the peer has no open request.
    pub fn answer_hand_off(&mut self, answer: HandOffAnswer, body: &Bytes, now: Instant) -> Result<(), TooLong> {
        assert!(self.is_at(Stage::Deciding), "no hand-off request of the peer is pending");
        put(&mut self.outbox, &[answer as u8], body)?;
        self.hand_off = None;
        self.is_special = false;
        self.keepalive.received(now);
        if answer == HandOffAnswer::Accepted {
            self.seal(Stage::Left, None);
        }
        Ok(())
    }

    /// Leaves the connection without a packet to the peer: pending bytes are written, and later input belongs to the
    /// next owner.
    ///
    /// `false`, and nothing has changed, if a packet has been received in part or [is held](Self::holds_packet), or a
    /// hand-off is under way.
    pub fn leave(&mut self) -> bool {
        let is_between = !self.is_mid_packet() && !self.holds_packet();
        let is_allowed = is_between && self.hand_off.is_none() && self.sends().is_some();
        if is_allowed {
            self.seal(Stage::Left, None);
        }
        is_allowed
    }

    /// Leaves a connection before its first packet: all bytes that come belong to the next owner. `false`, and nothing
    /// has changed, if a header has come, in whole or in part.
    pub fn leave_unread(&mut self) -> bool {
        let is_allowed = self.decoder.form().is_none() && !self.is_mid_packet() && self.hand_off.is_none();
        if is_allowed {
            self.seal(Stage::Left, None);
        }
        is_allowed
    }

    /// Whether later input belongs to the next owner of the connection.
    pub fn has_left(&self) -> bool {
        self.is_at(Stage::Left)
    }

    /// Whether the connection was handed off and its last bytes are written.
    pub fn is_handed_off(&self) -> bool {
        self.hand_off.as_ref().is_some_and(|hand_off| hand_off.stage == Stage::Left && hand_off.last.is_empty())
    }

    fn is_at(&self, stage: Stage) -> bool {
        self.hand_off.as_ref().is_some_and(|hand_off| hand_off.stage == stage)
    }

    /// Moves the queued packets to `last`, so that later ones do not follow them.
    fn seal(&mut self, stage: Stage, deadline: Option<Instant>) {
        let mut last = self.outbox.new_like();
        last.append(&mut self.outbox);
        self.is_special = true;
        self.hand_off = Some(Box::new(HandOffProgress { stage, last, deadline, is_abandoned: false, cancel_len: 0 }));
    }

    /// Handles the only packet that is allowed while this end decides: a CANCEL.
    #[cold]
    pub(super) fn next_while_deciding(&mut self, input: &mut Bytes) -> Result<PacketKind, ProtocolError> {
        if input.is_empty() {
            return Ok(PacketKind::Stop);
        }
        let Some(packet) = self.decoder.next(input)? else { return Ok(PacketKind::Stop) };
        match &mut self.hand_off {
            Some(deciding) if packet.operation == Operation::CANCEL && !deciding.is_abandoned => {
                deciding.is_abandoned = true;
                Ok(PacketKind::Abandoned)
            }
            _ => Err(ProtocolError::HandOff),
        }
    }

    /// Handles a HAND_OFF of a native peer.
    #[cold]
    pub(super) fn handle_hand_off(&mut self, body: Bytes, now: Instant) -> Result<Event, ProtocolError> {
        let malformed = ProtocolError::Malformed(Operation::HAND_OFF);
        let event = match (self.role, self.hand_off.take()) {
            (Role::Server, None) => {
                let event = request(body).ok_or(malformed)?;
                let deadline = now.checked_add(Duration::from_millis(self.hand_off_timeout.into()));
                let last = Outbox::default();
                let stage = Stage::Deciding;
                self.hand_off =
                    Some(Box::new(HandOffProgress { stage, last, deadline, is_abandoned: false, cancel_len: 0 }));
                self.is_special = true;
                event
            }
            (Role::Client, Some(mut hand_off)) if hand_off.stage == Stage::Requested => {
                let (answer, body) = reply(body).ok_or(malformed)?;
                if hand_off.last.len() > hand_off.cancel_len {
                    return Err(ProtocolError::HandOff); // The request is not written yet.
                }
                if answer == HandOffAnswer::Accepted {
                    hand_off.stage = Stage::Left;
                    hand_off.deadline = None;
                    self.hand_off = Some(hand_off);
                } else {
                    // Bytes after the request precede packets that have waited for the answer.
                    hand_off.last.append(&mut self.outbox);
                    self.outbox = hand_off.last;
                    self.is_special = false;
                    self.keepalive.received(now);
                }
                HandOffEvent::Answered { answer, body }
            }
            _ => return Err(ProtocolError::HandOff),
        };
        Ok(Event::HandOff(event))
    }
}

/// Puts a request, which begins with the operation as a number, or a reply, which begins with the answer; the bytes that
/// go along follow.
fn put(outbox: &mut Outbox, head: &[u8], body: &Bytes) -> Result<(), TooLong> {
    let mut packet = outbox.packet(PacketId(0), Operation::HAND_OFF);
    packet.put_slice(head);
    packet.put_shared(body);
    packet.finish()
}

fn request(mut body: Bytes) -> Option<HandOffEvent> {
    let mut rest = &*body;
    let operation = tlv::take_varint(&mut rest).and_then(|number| u16::try_from(number).ok())?;
    let operation = Operation::user(operation)?;
    body.advance(body.len().checked_sub(rest.len())?);
    Some(HandOffEvent::Requested { operation, body })
}

fn reply(mut body: Bytes) -> Option<(HandOffAnswer, Bytes)> {
    use HandOffAnswer::{Accepted, Busy, NotServed, Refused};
    let number = *body.first()?;
    let answer = [Refused, Accepted, Busy, NotServed].into_iter().find(|answer| *answer as u8 == number)?;
    body.advance(1);
    Some((answer, body))
}
