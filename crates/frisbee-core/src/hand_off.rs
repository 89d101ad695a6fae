//! Giving a connection away: after a request and its reply its bytes are somebody else's.
//!
//! ```text
//!                  ask                           accepted
//!   client  Framing ----------> Asked ---------------------------> Left
//!              ^                  |
//!              +------ refused ---+        leave (unilateral)
//!              +--------------------------------------------------> Left
//!
//!                HAND_OFF comes         accept
//!   server  Framing ----------> Deciding ------------------------> Left
//!              ^                  |
//!              +------ refuse ----+
//! ```
//!
//! An end that has asked sends nothing more; what it would send waits. One that is deciding receives nothing: the other
//! end may send again only when it knows the answer.

use crate::tlv;
use crate::{Operation, Outbox, PacketId};
use bytes::{Buf, Bytes};
use std::time::Instant;

/// What the end that was asked says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HandOffVerdict {
    /// The connection goes on as it was.
    Refused,
    /// What follows the reply is no packet.
    Accepted,
    /// Something is in progress that needs the connection. It goes on as it was.
    Busy,
    /// Nobody at that end takes connections for this operation. It goes on as it was.
    NotServed,
}

impl HandOffVerdict {
    fn number(self) -> u8 {
        match self {
            Self::Refused => 0,
            Self::Accepted => 1,
            Self::Busy => 2,
            Self::NotServed => 3,
        }
    }

    fn from_number(number: u8) -> Option<Self> {
        [Self::Refused, Self::Accepted, Self::Busy, Self::NotServed].into_iter().find(|one| one.number() == number)
    }
}

/// What has come about a hand-off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HandOffEvent {
    /// The peer asks for the connection. It is to be [answered](crate::Connection::answer_hand_off).
    Asked {
        /// What for.
        operation: Operation,
        /// What goes along with the request.
        body: Bytes,
    },
    /// The peer has answered. If it has accepted, what is left of the input belongs to the new owner.
    Answered {
        /// The answer.
        verdict: HandOffVerdict,
        /// What goes along with it.
        body: Bytes,
    },
}

/// A hand-off that is under way.
#[derive(Debug)]
pub(crate) struct HandOff {
    pub(crate) stage: Stage,
    /// What is still written; what is sent from now on waits elsewhere, or is lost with the connection.
    pub(crate) last: Outbox,
    /// Until when there has to be an answer.
    pub(crate) by: Option<Instant>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    Asked,
    Deciding,
    Left,
}

/// The content of a request: the operation as a number, then the body.
pub(crate) fn put_request(outbox: &mut Outbox, operation: Operation, body: &Bytes) -> Result<(), crate::TooLong> {
    let mut head = Vec::with_capacity(3);
    tlv::put_varint(&mut head, operation.number().into());
    put(outbox, &head, body)
}

/// The content of a reply: the verdict, then the body.
pub(crate) fn put_reply(outbox: &mut Outbox, verdict: HandOffVerdict, body: &Bytes) -> Result<(), crate::TooLong> {
    put(outbox, &[verdict.number()], body)
}

fn put(outbox: &mut Outbox, head: &[u8], body: &Bytes) -> Result<(), crate::TooLong> {
    let mut frame = outbox.frame(PacketId(0), Operation::HAND_OFF);
    frame.put_slice(head);
    frame.put_shared(body);
    frame.finish()
}

pub(crate) fn request(mut content: Bytes) -> Option<HandOffEvent> {
    let mut rest = &*content;
    let operation = tlv::take_varint(&mut rest).and_then(|number| u16::try_from(number).ok())?;
    let operation = Operation::user(operation)?;
    content.advance(content.len().checked_sub(rest.len())?);
    Some(HandOffEvent::Asked { operation, body: content })
}

pub(crate) fn reply(mut content: Bytes) -> Option<(HandOffVerdict, Bytes)> {
    let verdict = HandOffVerdict::from_number(*content.first()?)?;
    content.advance(1);
    Some((verdict, content))
}
