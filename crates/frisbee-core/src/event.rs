//! Events of a connection, and the kinds of peers.

use crate::{HandOffEvent, Hello, Packet};
use std::sync::Arc;

/// A decoded event that the driver of a [`Connection`](crate::Connection) must handle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A packet of a user operation or of a [stream](crate::Operation::STREAM). An empty STREAM packet closes the
    /// stream.
    Packet(Packet),
    /// The kind of the peer has been determined; see [`Connection::peer`](crate::Connection::peer).
    PeerKnown,
    /// A packet of the protocol extension that concerns a stream, a call or the connection:
    /// [`CREDIT`](crate::Operation::CREDIT), [`CANCEL`](crate::Operation::CANCEL), [`END`](crate::Operation::END),
    /// [`BATCH`](crate::Operation::BATCH), [`GOING_AWAY`](crate::Operation::GOING_AWAY), or an
    /// [`EXTENSION`](crate::Operation::EXTENSION) of a known type.
    Control(Packet),
    /// The peer requested a hand-off, cancelled its request, or replied to one.
    HandOff(HandOffEvent),
    /// A packet was handled internally. The driver needs to do nothing.
    Nothing,
}

impl Event {
    /// Returns the length of the packet's body in bytes, or 0 for events without a packet.
    pub fn body_len(&self) -> usize {
        match self {
            Self::Packet(packet) | Self::Control(packet) => packet.body.len(),
            Self::HandOff(HandOffEvent::Requested { body, .. } | HandOffEvent::Answered { body, .. }) => body.len(),
            Self::HandOff(HandOffEvent::Abandoned) | Self::PeerKnown | Self::Nothing => 0,
        }
    }
}

/// Kind of a peer: whether it supports the protocol extension.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PeerKind {
    /// Not determined yet.
    #[default]
    Unknown,
    /// A peer that supports only the base protocol, such as frisbee-go.
    Compat,
    /// A peer that supports the protocol extension, with its HELLO.
    Native(Arc<Hello>),
}

impl PeerKind {
    /// Returns the peer's HELLO, or `None` if the peer does not support the protocol extension or this is not known
    /// yet.
    pub fn hello(&self) -> Option<&Hello> {
        match self {
            Self::Native(hello) => Some(hello),
            Self::Unknown | Self::Compat => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{HandOffAnswer, Operation, PacketId};
    use bytes::Bytes;

    #[test]
    fn event_length_equals_body_length() {
        let body = Bytes::from_static(b"seven b");
        let packet = Packet::new(PacketId(1), Operation::FIRST_USER, body.clone());
        let request = HandOffEvent::Requested { operation: Operation::FIRST_USER, body: body.clone() };
        let answered = HandOffEvent::Answered { answer: HandOffAnswer::Refused, body };
        for event in
            [Event::Packet(packet.clone()), Event::Control(packet), Event::HandOff(request), Event::HandOff(answered)]
        {
            assert_eq!(event.body_len(), 7, "{event:?}");
        }
        assert_eq!(Event::Nothing.body_len(), 0);
    }
}
