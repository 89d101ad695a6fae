//! A packet as passed to routers.

use crate::{Operation, PacketId};
use bytes::Bytes;

/// A packet: an id, an operation and a body. The body is shared, not copied.
///
/// The length in the header is `body.len()` and is not stored separately, so the two cannot differ. A body may be a
/// slice of a larger read buffer, so copy a small body that is kept for long.
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
    /// Matches packets of one operation, such as a reply with its request.
    pub id: PacketId,
    /// Purpose of the packet.
    pub operation: Operation,
    /// Content of the packet.
    pub body: Bytes,
}

impl Packet {
    /// Creates a packet of a user operation.
    pub fn new(id: PacketId, operation: Operation, body: impl Into<Bytes>) -> Self {
        Self { id, operation, body: body.into() }
    }
}
