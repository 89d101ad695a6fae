//! One packet as it is handed to routers.

use crate::{Operation, PacketId};
use bytes::Bytes;

/// A packet: an id, an operation and a body that is shared, not copied.
///
/// The length in the header is `body.len()` and has no field of its own, so that the two cannot differ. A body may be a
/// slice of a larger read buffer; copy a small one that is kept for long.
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
    /// Pairs packets of one operation.
    pub id: PacketId,
    /// The purpose of the packet.
    pub operation: Operation,
    /// The body.
    pub body: Bytes,
}

impl Packet {
    /// A packet for one of the users' operations.
    pub fn new(id: PacketId, operation: Operation, body: impl Into<Bytes>) -> Self {
        Self { id, operation, body: body.into() }
    }
}
