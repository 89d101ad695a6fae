//! Types of [`Operation::EXTENSION`](crate::Operation::EXTENSION) packets. The type of a packet is its id.
//!
//! Types 0 to 63 belong to the protocol, and 64 to 127 to user protocols. Other types are unassigned. A receiver skips
//! unknown types below [`MUST_UNDERSTAND`]. Type 32 768 + n is the mandatory variant of type n.

use crate::hello::HELLO_MAX;
use crate::{Body, Operation, Outbox, Packet, PacketId, TooLong, tlv};
use bytes::{Buf, Bytes};

/// First packet of every peer that supports the protocol extension, with its limits and services; see
/// [`Hello`](crate::Hello).
pub const HELLO: PacketId = PacketId(0);
/// Request for the descriptions of type layouts. The body contains 1 to 64 fingerprints of 16 bytes.
pub const ASK: PacketId = PacketId(1);
/// Description of a type layout. If the layout is unknown, the body is a zero byte followed by the fingerprint.
pub const LAYOUT: PacketId = PacketId(2);
/// Announcement of a service that the sender will call, in the format of a HELLO item.
pub const CALLS: PacketId = PacketId(3);
/// Last packet before a connection is closed. Contains the reason as a status code and a text.
pub const CLOSE: PacketId = PacketId(4);
/// Metadata at the start of one direction of a stream. The body contains the stream id and the metadata items.
pub const HEADERS: PacketId = PacketId(5);
/// Metadata and status at the end of one direction of a stream. The body contains the stream id and the metadata items.
pub const TRAILERS: PacketId = PacketId(6);
/// Fragment of a long packet: the channel, the operation, id and length of the packet (in the first fragment only), and
/// a part of the packet's body.
pub const FRAGMENT: PacketId = PacketId(7);

/// Lowest mandatory packet type. A receiver that does not know a mandatory type must close the connection.
pub const MUST_UNDERSTAND: PacketId = PacketId(0x8000);

impl Packet {
    /// Returns the id of the stream that the packet belongs to. Returns `None` if the packet does not belong to a
    /// stream or is malformed.
    pub fn stream(&self) -> Option<PacketId> {
        match self.operation {
            Operation::STREAM | Operation::CREDIT | Operation::END | Operation::BATCH => Some(self.id),
            Operation::EXTENSION if matches!(self.id, HEADERS | TRAILERS) => {
                u16::try_from(tlv::take_varint(&mut &self.body[..])?).ok().map(PacketId)
            }
            _ => None,
        }
    }

    /// Splits the body of a [`HEADERS`] or [`TRAILERS`] packet into the stream id and the encoded items. Returns `None`
    /// for other packets, and if the id is malformed.
    pub fn into_stream_items(mut self) -> Option<(PacketId, Bytes)> {
        let stream = self.stream()?;
        let mut items = &self.body[..];
        tlv::take_varint(&mut items)?;
        self.body.advance(self.body.len().saturating_sub(items.len()));
        Some((stream, self.body))
    }
}

impl Outbox {
    /// Returns the maximum body size of an extension packet in bytes: 64 KiB, or less while a server is short of
    /// memory.
    pub fn extension_max(&self) -> usize {
        let max = if self.room() < self.limit() { self.room().min(HELLO_MAX) } else { HELLO_MAX };
        usize::try_from(max).unwrap_or(usize::MAX)
    }

    /// Appends an extension packet. The body limit of other packets does not apply to it.
    ///
    /// # Errors
    /// If the body is longer than [`extension_max`](Self::extension_max).
    pub fn push_extension(&mut self, kind: PacketId, body: impl Body) -> Result<(), TooLong> {
        let room = u32::try_from(self.extension_max()).unwrap_or(u32::MAX);
        self.with_room(room, |outbox| outbox.push(kind, Operation::EXTENSION, body))
    }

    /// Appends a [`HEADERS`] or [`TRAILERS`] packet for a stream. Calls `items` with the maximum length of the encoded
    /// items.
    ///
    /// # Errors
    /// If the items exceed the maximum length.
    pub fn push_stream_items(
        &mut self,
        kind: PacketId,
        stream: PacketId,
        items: impl FnOnce(usize) -> Vec<u8>,
    ) -> Result<(), TooLong> {
        let mut body = Vec::new();
        tlv::put_varint(&mut body, stream.0.into());
        body.extend(items(self.extension_max().saturating_sub(body.len())));
        self.push_extension(kind, body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stream_items_round_trip_beyond_body_limit() {
        let mut outbox = Outbox::default();
        outbox.set_limit(1024);
        let items = |max: usize| {
            assert_eq!(max, 64 * 1024 - 2);
            vec![7; max]
        };
        outbox.push_stream_items(TRAILERS, PacketId(300), items).expect("trailers should fit into an extension packet");
        assert!(outbox.push_stream_items(HEADERS, PacketId(300), |max| vec![7; max + 1]).is_err());
        let body = outbox.take_bytes().slice(10..);
        let packet = |kind, body| Packet::new(kind, Operation::EXTENSION, body);
        assert_eq!(packet(TRAILERS, body.clone()).stream(), Some(PacketId(300)));
        assert_eq!(packet(TRAILERS, body.clone()).into_stream_items(), Some((PacketId(300), body.slice(2..))));
        assert_eq!(packet(FRAGMENT, body).stream(), None);
        for malformed in [&[][..], &[0x80], &[0x80, 0x80, 4]] {
            assert_eq!(packet(HEADERS, Bytes::from_static(malformed)).into_stream_items(), None, "{malformed:?}");
        }
    }

    #[test]
    fn extension_limit_shrinks_when_memory_is_short() {
        let mut outbox = Outbox::default();
        for (room, max) in [(Some(1024), 1024), (Some(1 << 20), 64 * 1024), (None, 64 * 1024)] {
            outbox.set_room(room);
            assert_eq!(outbox.extension_max(), max);
        }
    }
}
