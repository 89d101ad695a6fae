//! Hand-off of a connection: after a request and its reply, the connection's bytes belong to another owner.
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
//! After its request, the client queues further packets and sends nothing until the reply, except for a single CANCEL
//! if the caller no longer waits. The server replies even to a cancelled request.
//!
//! # Decisions
//!
//! Hand-off is implemented in the core, because only the core controls the order of packets. `transmit` returns the
//! buffer to write, and `outbox` the buffer for new packets. Normally they are the same. They differ once an end has
//! requested a hand-off or has left, so that no packet can follow the request. During a hand-off, the call table
//! reports that it is full, which delays calls.

use super::{Connection, Event, PacketKind, PeerKind};
use crate::Role;
use crate::{Operation, Outbox, PacketId, ProtocolError, TooLong, tlv};
use bytes::{Buf, Bytes};
use std::time::{Duration, Instant};

/// Reply to a hand-off request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandOffAnswer {
    /// The hand-off is refused. The connection remains usable.
    Refused = 0,
    /// The hand-off is accepted. Bytes after the reply belong to the new owner of the connection.
    Accepted = 1,
    /// The hand-off is refused, because the connection has work in progress. The connection remains usable.
    Busy = 2,
    /// The hand-off is refused, because the peer does not support it for this operation. The connection remains usable.
    NotServed = 3,
}

/// Message from the peer about a hand-off of the connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandOffEvent {
    /// The peer requests a hand-off, which must be [answered](crate::Connection::answer_hand_off).
    Requested {
        /// Operation that states the purpose of the hand-off.
        operation: Operation,
        /// Application data sent with the hand-off request.
        body: Bytes,
    },
    /// The peer cancelled its hand-off request. A reply must be sent regardless.
    Abandoned,
    /// The peer replied to a hand-off request. If it accepted, the rest of the input belongs to the new owner.
    Answered {
        /// Whether the peer accepts the hand-off.
        answer: HandOffAnswer,
        /// Application data sent with the hand-off reply.
        body: Bytes,
    },
}

/// State of a hand-off that has been requested but not completed.
#[derive(Debug)]
pub(crate) struct HandOffProgress {
    pub(crate) stage: Stage,
    /// Pending bytes up to and including the hand-off request or reply. Later packets are queued in the outbox.
    pub(crate) last: Outbox,
    /// Deadline for receiving or sending the hand-off reply.
    pub(crate) deadline: Option<Instant>,
    /// Whether the client has cancelled its hand-off request.
    pub(crate) is_abandoned: bool,
    /// Length in bytes of the CANCEL packet that follows the request in `last`.
    pub(crate) cancel_len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Requested,
    Deciding,
    Left,
}

impl Connection {
    /// Requests a hand-off from the peer. Later packets are sent only after the reply, which is reported as
    /// [`HandOffEvent::Answered`]. Until then, this end does not reply to PINGs, and no idle timeout applies.
    ///
    /// # Errors
    /// If the body is too long. The state then remains unchanged.
    ///
    /// # Panics
    /// If this end is the server, a request is already in progress, or the peer is not known to support the protocol
    /// extension.
    pub fn request_hand_off(&mut self, operation: Operation, body: &Bytes, now: Instant) -> Result<(), TooLong> {
        let is_allowed =
            self.role == Role::Client && self.hand_off.is_none() && matches!(self.peer, PeerKind::Native(_));
        assert!(is_allowed, "only a client may request a hand-off, one at a time, and only from a native peer");
        let mut head = Vec::with_capacity(3);
        tlv::put_varint(&mut head, operation.number().into());
        put(&mut self.outbox, &head, body)?;
        // Seal the outbox after the request, so that no other packet is sent before the reply arrives.
        self.seal(Stage::Requested, now.checked_add(Duration::from_millis(self.hand_off_timeout.into())));
        Ok(())
    }

    /// Notifies the peer that the caller no longer waits for the [requested](Self::request_hand_off) hand-off. The
    /// reply still follows, and may accept the request. Does nothing if the peer does not support this notification or
    /// has already received it.
    pub fn give_up_hand_off(&mut self, operation: Operation) {
        let understands = self.peer.hello().is_some_and(|hello| hello.hand_off_cancel);
        let hand_off =
            self.hand_off.as_mut().filter(|hand_off| hand_off.stage == Stage::Requested && !hand_off.is_abandoned);
        let Some(hand_off) = hand_off.filter(|_| understands) else { return };
        let request = hand_off.last.len();
        let mut body = Vec::with_capacity(3);
        tlv::put_varint(&mut body, operation.number().into());
        let sent = hand_off.last.push(PacketId(0), Operation::CANCEL, body);
        debug_assert!(sent.is_ok(), "short packet should be within every limit");
        hand_off.is_abandoned = true;
        hand_off.cancel_len = hand_off.last.len().saturating_sub(request);
    }

    /// Replies to a hand-off request of the peer. If the request is accepted, this end sends nothing after the reply.
    ///
    /// # Errors
    /// If the body is too long. The peer's request then remains open.
    ///
    /// # Panics
    /// If the peer has no open hand-off request.
    pub fn answer_hand_off(&mut self, answer: HandOffAnswer, body: &Bytes, now: Instant) -> Result<(), TooLong> {
        assert!(self.is_at(Stage::Deciding), "hand-off request of the peer should be pending");
        // Encode the reply first. If its body is too long, the request stays open and can still be refused.
        put(&mut self.outbox, &[answer as u8], body)?;
        self.hand_off = None;
        self.is_special = false;
        self.keepalive.received(now);
        if answer == HandOffAnswer::Accepted {
            self.seal(Stage::Left, None);
        }
        Ok(())
    }

    /// Leaves the connection without notifying the peer, so that later input belongs to the next owner. Pending bytes
    /// are still written.
    ///
    /// Returns `false` without leaving if a packet has been received partially or [is held](Self::holds_packet), or if
    /// a hand-off is in progress.
    pub fn leave(&mut self) -> bool {
        let is_between = !self.is_mid_packet() && !self.holds_packet();
        let is_allowed = is_between && self.hand_off.is_none() && self.sends().is_some();
        if is_allowed {
            self.seal(Stage::Left, None);
        }
        is_allowed
    }

    /// Leaves a connection before its first packet, so that all received bytes belong to the new owner. Returns `false`
    /// without leaving if any part of a header has been received.
    pub fn leave_unread(&mut self) -> bool {
        let is_allowed = self.decoder.form().is_none() && !self.is_mid_packet() && self.hand_off.is_none();
        if is_allowed {
            self.seal(Stage::Left, None);
        }
        is_allowed
    }

    /// Returns whether this end has left the connection, so that later input belongs to the new owner.
    pub fn has_left(&self) -> bool {
        self.is_at(Stage::Left)
    }

    /// Returns whether the connection was handed off and all pending bytes have been written.
    pub fn is_handed_off(&self) -> bool {
        self.hand_off.as_ref().is_some_and(|hand_off| hand_off.stage == Stage::Left && hand_off.last.is_empty())
    }

    fn is_at(&self, stage: Stage) -> bool {
        self.hand_off.as_ref().is_some_and(|hand_off| hand_off.stage == stage)
    }

    /// Moves the queued packets to `last`, which is sent before the hand-off takes effect. Packets queued later remain
    /// in the outbox.
    fn seal(&mut self, stage: Stage, deadline: Option<Instant>) {
        let later = self.outbox.new_like();
        let last = std::mem::replace(&mut self.outbox, later);
        self.is_special = true;
        self.hand_off = Some(Box::new(HandOffProgress { stage, last, deadline, is_abandoned: false, cancel_len: 0 }));
    }

    /// Handles a CANCEL packet, the only packet that is allowed while this end decides about a hand-off.
    #[cold]
    pub(super) fn next_while_deciding(&mut self, input: &mut Bytes) -> Result<PacketKind, ProtocolError> {
        if input.is_empty() {
            return Ok(PacketKind::Stop);
        }
        let Some(packet) = self.decoder.next(input)? else { return Ok(PacketKind::Stop) };
        match &mut self.hand_off {
            // Accept a single CANCEL. A client sends at most one, so a second one is a protocol violation.
            Some(deciding) if packet.operation == Operation::CANCEL && !deciding.is_abandoned => {
                deciding.is_abandoned = true;
                Ok(PacketKind::Abandoned)
            }
            _ => Err(ProtocolError::HandOff),
        }
    }

    /// Handles a HAND_OFF packet from a peer that supports the protocol extension.
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
                    return Err(ProtocolError::HandOff); // The reply was sent before the request was made.
                }
                if answer == HandOffAnswer::Accepted {
                    hand_off.stage = Stage::Left;
                    hand_off.deadline = None;
                    self.hand_off = Some(hand_off);
                } else {
                    // Send the rest of `last` before the packets that were queued until the reply.
                    hand_off.last.append(&mut self.outbox);
                    self.outbox = hand_off.last;
                    self.is_special = false;
                    // Restart the idle period, because no idle timeout applied during the hand-off.
                    self.keepalive.received(now);
                }
                HandOffEvent::Answered { answer, body }
            }
            _ => return Err(ProtocolError::HandOff),
        };
        Ok(Event::HandOff(event))
    }
}

/// Appends a hand-off packet with `head` followed by `body`. The head of a request is its operation, and that of a
/// reply is its code.
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
