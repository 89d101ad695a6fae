//! The types of packets of [`Operation::EXTENSION`](crate::Operation::EXTENSION), which are their ids.
//!
//! Types 0 to 63 belong to the protocol and 64 to 127 to protocols of users; the others are unassigned. A receiver
//! skips a type that it does not know, unless it is [`MUST_UNDERSTAND`] or above: 32 768 + n is type n when the
//! connection depends on it.

use crate::PacketId;

/// The first packet of each native peer: its kind, limits and services; see [`Hello`](crate::Hello).
pub const HELLO: PacketId = PacketId(0);
/// Requests the descriptions of layouts. Reserved.
pub const ASK: PacketId = PacketId(1);
/// The description of a layout. Reserved.
pub const LAYOUT: PacketId = PacketId(2);
/// Names a service that the sender is going to call. Reserved.
pub const CALLS: PacketId = PacketId(3);
/// The sender's reason to close the connection. Reserved.
pub const CLOSE: PacketId = PacketId(4);
/// The metadata at the beginning of a direction of a stream. Reserved.
pub const HEADERS: PacketId = PacketId(5);
/// The metadata and status at the end of a direction of a stream. Reserved.
pub const TRAILERS: PacketId = PacketId(6);
/// A part of a long body. Reserved.
pub const FRAGMENT: PacketId = PacketId(7);

/// The first type that a receiver must understand, or close the connection.
pub const MUST_UNDERSTAND: PacketId = PacketId(0x8000);
