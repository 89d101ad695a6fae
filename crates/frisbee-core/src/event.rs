//! Events of a connection, and kinds of peers.

use crate::{HandOffEvent, Hello, Packet};
use std::sync::Arc;

/// Event decoded from a peer's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Event {
    /// A packet of a user operation or of a [stream](crate::Operation::STREAM), which an empty body closes.
    Packet(Packet),
    /// The kind of the peer was determined; see [`Connection::peer`](crate::Connection::peer).
    PeerKnown,
    /// A native peer's packet about a stream, a call or the connection: [`CREDIT`](crate::Operation::CREDIT),
    /// [`CANCEL`](crate::Operation::CANCEL), [`END`](crate::Operation::END), [`BATCH`](crate::Operation::BATCH),
    /// [`GOING_AWAY`](crate::Operation::GOING_AWAY), or [`EXTENSION`](crate::Operation::EXTENSION) of a type that this
    /// version knows.
    Control(Packet),
    /// An event of a hand-off.
    HandOff(HandOffEvent),
    /// A packet was handled internally.
    Nothing,
}

impl Event {
    /// Returns the length of the received body.
    pub fn body_len(&self) -> usize {
        match self {
            Self::Packet(packet) | Self::Control(packet) => packet.body.len(),
            Self::HandOff(HandOffEvent::Requested { body, .. } | HandOffEvent::Answered { body, .. }) => body.len(),
            Self::HandOff(HandOffEvent::Abandoned) | Self::PeerKnown | Self::Nothing => 0,
        }
    }
}

/// Kind of a peer.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum PeerKind {
    /// Not determined yet.
    #[default]
    Unknown,
    /// A peer of the base protocol, such as frisbee-go.
    Compat,
    /// A native peer, with its HELLO.
    Native(Arc<Hello>),
}

impl PeerKind {
    /// Returns the HELLO of a native peer.
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
    fn an_event_is_as_long_as_the_body_that_it_carries() {
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
