//! Packet headers and their fields. A header has 10 bytes, or 8 bytes for peers up to frisbee-go v0.10.2.

use std::fmt;

/// Magic number in the first two bytes of every header in the current format.
pub const MAGIC: u16 = 0x000F;

/// Purpose of a packet.
///
/// Operations 0 to 9 are reserved for the protocol. [`Operation::user`] creates the user operations, 10 to 65535.
///
/// ```
/// use frisbee_core::Operation;
///
/// const GREET: Operation = Operation::user(10).expect("operation number should be in the user range");
///
/// assert_eq!(GREET.number(), 10);
/// assert_eq!(Operation::user(9), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Operation(u16);

impl Operation {
    /// Requests a [`PONG`](Self::PONG). Has no body.
    pub const PING: Self = Self(0);
    /// Replies to a [`PING`](Self::PING). Has no body.
    pub const PONG: Self = Self(1);
    /// Carries one message of a stream. An empty body closes the stream.
    pub const STREAM: Self = Self(2);
    /// Packet of the protocol extension. Its packet id is its type; see [`extension`](crate::extension). Type 0 is
    /// HELLO, which shows that the sender supports operations 3 to 9; see [`Hello`](crate::Hello).
    pub const EXTENSION: Self = Self(3);
    /// Announces that the sender will close the connection and accepts no new calls or streams.
    pub const GOING_AWAY: Self = Self(4);
    /// Grants flow-control credit for a stream.
    pub const CREDIT: Self = Self(5);
    /// Cancels the call with this id, because the caller no longer waits for the reply.
    pub const CANCEL: Self = Self(6);
    /// Ends one direction of a stream. With a body, resets the whole stream.
    pub const END: Self = Self(7);
    /// Requests a hand-off of the connection, or replies to such a request; see [`HandOffEvent`](crate::HandOffEvent).
    pub const HAND_OFF: Self = Self(8);
    /// Carries several messages of a stream, if the peer [supports it](crate::Hello::batches); see
    /// [`BatchSize`](crate::BatchSize).
    pub const BATCH: Self = Self(9);
    /// Lowest operation number that applications may use. Smaller numbers are reserved for the protocol.
    pub const FIRST_USER: Self = Self(10);

    /// Returns the user operation with this number, or `None` if the protocol reserves the number.
    #[inline]
    pub const fn user(number: u16) -> Option<Self> {
        if number < Self::FIRST_USER.0 { None } else { Some(Self(number)) }
    }

    /// Returns the operation number that is sent in packet headers.
    #[inline]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Returns whether the protocol reserves this operation (0 to 9).
    #[inline]
    pub const fn is_reserved(self) -> bool {
        self.0 < Self::FIRST_USER.0
    }

    #[cfg(test)]
    pub(crate) const fn from_wire(number: u16) -> Self {
        Self(number)
    }
}

/// Names of the reserved operations for log messages, indexed by number.
const RESERVED_NAMES: [&str; Operation::FIRST_USER.0 as usize] =
    ["PING", "PONG", "STREAM", "EXTENSION", "GOING_AWAY", "CREDIT", "CANCEL", "END", "HAND_OFF", "BATCH"];

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match RESERVED_NAMES.get(usize::from(self.0)) {
            Some(name) => f.write_str(name),
            None => write!(f, "Operation({})", self.0),
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Id of a packet, which distinguishes it from other packets of the same operation.
///
/// Replies have the id of their request. The id of an [`Operation::STREAM`] packet is the id of its stream.
///
/// ```
/// use frisbee_core::{Operation, Packet, PacketId};
/// use std::collections::HashMap;
///
/// let mut callers = HashMap::from([(PacketId(1), "the first caller"), (PacketId(2), "the second caller")]);
/// let reply = Packet::new(PacketId(2), Operation::FIRST_USER, "hello");
/// assert_eq!(callers.remove(&reply.id), Some("the second caller"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct PacketId(pub u16);

impl fmt::Display for PacketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// Format of the packet headers of a connection. Both directions use the same format.
///
/// A server detects the client's format. A client must select the old format to connect to an old server:
///
/// ```
/// use frisbee_core::{ClientConfig, HeaderForm};
///
/// let config = ClientConfig::default().header_form(HeaderForm::Old);
/// assert_eq!(config.header_form.size(), 8);
/// assert_eq!(HeaderForm::default().size(), 10);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum HeaderForm {
    /// Header of ten bytes: magic, id, operation and body length. Used since frisbee-go v0.11.0.
    #[default]
    Current,
    /// Header of eight bytes: id, operation and body length. Used up to frisbee-go v0.10.2.
    Old,
}

impl HeaderForm {
    /// Returns the size of a header in bytes, which is 10 or 8.
    #[inline]
    pub const fn size(self) -> usize {
        match self {
            Self::Current => 10,
            Self::Old => 8,
        }
    }
}

/// Decoded header of a packet, which precedes its body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// Id of the packet.
    pub id: PacketId,
    /// Operation of the packet, which determines how the body is handled.
    pub operation: Operation,
    /// Length of the packet's body in bytes.
    pub length: u32,
}

impl Header {
    /// Maximum size of a packet header in bytes.
    pub const MAX_LEN: usize = 10;

    /// Encodes the header. The first `form.size()` bytes of the returned array are valid.
    ///
    /// ```
    /// use frisbee_core::{Header, HeaderForm, Operation, PacketId};
    ///
    /// let header = Header { id: PacketId(1), operation: Operation::user(18).unwrap(), length: 6 };
    /// assert_eq!(header.encode(HeaderForm::Current), [0, 0x0F, 0, 1, 0, 18, 0, 0, 0, 6]);
    /// assert_eq!(header.encode(HeaderForm::Old)[..8], [0, 1, 0, 18, 0, 0, 0, 6]);
    /// ```
    #[inline]
    pub const fn encode(self, form: HeaderForm) -> [u8; Self::MAX_LEN] {
        let [m0, m1] = MAGIC.to_be_bytes();
        let [i0, i1] = self.id.0.to_be_bytes();
        let [o0, o1] = self.operation.0.to_be_bytes();
        let [l0, l1, l2, l3] = self.length.to_be_bytes();
        match form {
            HeaderForm::Current => [m0, m1, i0, i1, o0, o1, l0, l1, l2, l3],
            HeaderForm::Old => [i0, i1, o0, o1, l0, l1, l2, l3, 0, 0],
        }
    }

    /// Decodes a header in the current form. Returns the first two bytes as an error if they are not [`MAGIC`].
    ///
    /// ```
    /// use frisbee_core::Header;
    ///
    /// let header = Header::decode(&[0, 0x0F, 0, 1, 0, 18, 0, 0, 0, 6]).expect("header should be valid");
    /// assert_eq!((header.operation.number(), header.length), (18, 6));
    /// assert_eq!(Header::decode(b"GET / HTTP"), Err(0x4745));
    /// ```
    #[inline]
    pub const fn decode(bytes: &[u8; 10]) -> Result<Self, u16> {
        let [m0, m1, rest @ ..] = bytes;
        let magic = u16::from_be_bytes([*m0, *m1]);
        if magic == MAGIC { Ok(Self::decode_old(rest)) } else { Err(magic) }
    }

    /// Decodes a header in the old form. Any eight bytes are a valid old header.
    ///
    /// ```
    /// let header = frisbee_core::Header::decode_old(&[0, 1, 0, 18, 0, 0, 0, 6]);
    /// assert_eq!((header.operation.number(), header.length), (18, 6));
    /// ```
    #[inline]
    pub const fn decode_old(bytes: &[u8; 8]) -> Self {
        let [i0, i1, o0, o1, l0, l1, l2, l3] = *bytes;
        Self {
            id: PacketId(u16::from_be_bytes([i0, i1])),
            operation: Operation(u16::from_be_bytes([o0, o1])),
            length: u32::from_be_bytes([l0, l1, l2, l3]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_get_operations_from_ten_on() {
        assert_eq!(Operation::user(9), None);
        assert_eq!(Operation::user(10), Some(Operation::FIRST_USER));
        assert!(Operation::PONG.is_reserved());
        assert!(!Operation::FIRST_USER.is_reserved());
    }

    #[test]
    fn header_without_magic_is_rejected() {
        let header = Header { id: PacketId(7), operation: Operation::STREAM, length: 9 };
        let mut bytes = header.encode(HeaderForm::Current);
        assert_eq!(Header::decode(&bytes), Ok(header));
        bytes[0] = b'G';
        bytes[1] = b'E';
        assert_eq!(Header::decode(&bytes), Err(0x4745));
    }
}
