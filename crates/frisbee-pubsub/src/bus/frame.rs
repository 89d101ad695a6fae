//! Frames that brokers exchange over a bus.
//!
//! The bus `shop` uses the NATS subjects `shop.t.` plus a topic for messages and `shop.c` for control frames. The
//! subject `shop.n` has no subscriber, so NATS replies to a request on it with "no responders". The reply proves that
//! NATS has processed all earlier messages. In names of queue groups, bytes other than letters, digits, `-` and `_` are
//! encoded as `%` and two hexadecimal digits.
//!
//! A frame on `shop.t.` consists of these parts:
//!
//! * its kind, one byte that is 1 for a message and 2 for a mark;
//! * the id of the publishing broker, 8 random bytes that are drawn when the broker starts;
//! * the broker's epoch, a varint that is incremented whenever the broker restarts its counts;
//! * a varint of the number of messages that the broker has published to the topic in this epoch, including this one;
//! * the topic with a length prefix;
//! * the payload, if the frame is a message.
//!
//! A batch consists of a byte 4 and several frames of one topic. A length of two bytes, big endian, precedes each
//! frame. A batch has at most 2048 bytes.
//!
//! The counts of a topic are consecutive: if 7 follows 4, two messages were lost. A mark contains the current count of
//! a topic without a message. Brokers send marks of all topics that they count after a reconnect, and when another
//! broker requests marks by a byte 3 on `shop.c`.
//!
//! A byte 5 on `shop.c` announces that a broker has members of queue groups. Brokers send it with their first member,
//! every ten seconds, and within a quarter of a second after a byte 6, which is a query by a broker that has joined.
//! For half a minute after an announcement, brokers send no batches.
//!
//! A byte 7 on `shop.c`, followed by the fingerprint of a message layout, requests the description of the layout. A
//! broker that has the description replies with a byte 8 and the description.

use super::counts::SequenceStamp;
use bytes::Bytes;
use frisbee::tlv;

/// Maximum length of a frame's header in bytes: the kind of the frame, the broker's id, and two varints for the epoch
/// and the count.
const HEAD_MAX: usize = 1 + 8 + 10 + 10;

/// Control frame that requests the message counts of all topics.
pub(super) const HELLO: &[u8] = &[3];

/// Kind of a frame that concerns a topic. Its value is the number on the wire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Frame {
    /// A published message. The body of the frame is that of the packet with the message.
    Message = 1,
    /// The number of messages that were published to a topic. The body of the frame is the topic with a length prefix.
    Mark = 2,
}

impl Frame {
    pub(super) fn encode(self, stamp: SequenceStamp, body: &[u8]) -> Bytes {
        let mut frame = Vec::with_capacity(HEAD_MAX + body.len());
        frame.push(self as u8);
        frame.extend_from_slice(&stamp.origin.to_be_bytes());
        tlv::put_varint(&mut frame, stamp.epoch);
        tlv::put_varint(&mut frame, stamp.count);
        frame.extend_from_slice(body);
        frame.into()
    }

    /// Decodes a frame into its kind, position and body. Returns `None` if it is malformed.
    pub(super) fn decode(frame: &Bytes) -> Option<(Self, SequenceStamp, Bytes)> {
        let (kind, rest) = frame.split_first()?;
        let kind = match kind {
            1 => Self::Message,
            2 => Self::Mark,
            _ => return None,
        };
        let (origin, mut rest) = rest.split_first_chunk()?;
        let epoch = tlv::take_varint(&mut rest)?;
        let count = tlv::take_varint(&mut rest)?;
        let stamp = SequenceStamp { origin: u64::from_be_bytes(*origin), epoch, count };
        Some((kind, stamp, frame.slice_ref(rest)))
    }
}

/// First byte of a control frame that requests the description of a message layout. The fingerprint of the layout
/// follows.
#[cfg(feature = "typed")]
pub(crate) const ASK: u8 = 7;

/// First byte of a control frame that contains the description of a message layout.
#[cfg(feature = "typed")]
pub(super) const DESCRIPTION: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bus_frames_match_documented_bytes() {
        let stamp = SequenceStamp { origin: 0x0102_0304_0506_0708, epoch: 1, count: 300 };
        let frame = Frame::Message.encode(stamp, b"\x03a.bhi");
        assert_eq!(frame, &b"\x01\x01\x02\x03\x04\x05\x06\x07\x08\x01\xac\x02\x03a.bhi"[..]);
        let (kind, decoded, body) = Frame::decode(&frame).unwrap();
        assert_eq!((kind, decoded, &body[..]), (Frame::Message, stamp, &b"\x03a.bhi"[..]));
        assert_eq!(Frame::decode(&Frame::Mark.encode(stamp, b"\x01a")).unwrap().0, Frame::Mark);
    }

    #[test]
    fn truncated_or_unknown_frames_are_rejected() {
        let frame = Frame::Message.encode(SequenceStamp { origin: 7, epoch: 300, count: 300 }, b"");
        for length in 0..frame.len() {
            assert!(
                Frame::decode(&frame.slice(..length)).is_none(),
                "frame truncated to {length} bytes should be rejected"
            );
        }
        for kind in [0, 3, 255] {
            let mut other = frame.to_vec();
            other[0] = kind;
            assert!(Frame::decode(&other.into()).is_none(), "frame of kind {kind} should be rejected");
        }
    }
}
