//! The packet type that is passed to routers.

use crate::{Operation, PacketId};
use bytes::Bytes;

/// A packet with an id, an operation and a body. Clones share the memory of the body.
///
/// The header's length field is `body.len()` and is not stored separately. A body may be a slice of a larger read
/// buffer. Copy small bodies before storing them for a long time, because they keep the whole buffer in memory.
///
/// ```
/// use frisbee_core::{Operation, Packet, PacketId};
///
/// let request = Packet::new(PacketId(7), Operation::FIRST_USER, "hello");
/// // A reply has the id of its request.
/// let reply = Packet::new(request.id, request.operation, request.body.to_ascii_uppercase());
/// assert_eq!(reply.id, PacketId(7));
/// assert_eq!(reply.body, "HELLO");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packet {
    /// Id that distinguishes packets of the same operation, for example to match a reply with its request.
    pub id: PacketId,
    /// Operation of the packet, which determines how it is handled.
    pub operation: Operation,
    /// Payload of the packet, without the header.
    pub body: Bytes,
}

impl Packet {
    /// Creates a packet.
    pub fn new(id: PacketId, operation: Operation, body: impl Into<Bytes>) -> Self {
        Self { id, operation, body: body.into() }
    }
}
