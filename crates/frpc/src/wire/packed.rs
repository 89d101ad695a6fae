//! Packed messages: those that are compressed, between native peers of which both have said that they unpack.
//!
//! A packed message has the form `11 <number n> <one frame of zstd>`, and the frame inflates to the n bytes of a
//! message. No message begins with `11`, so that decoders of messages detect it where they fail, and others pay
//! nothing. All claims of the frame are checked before a byte is allocated. The choice of packed messages is made
//! elsewhere: by the table of methods at a server, by [`Packing`] at a client.

#[cfg(feature = "zstd")]
mod frames;

use crate::Status;
use crate::schema::method::Method;
use bytes::Bytes;
use frisbee::tlv::take_varint;
use frisbee::{Connection, Hello, PacketWriter};
use polyglot::Bulk;
use std::fmt;

/// The first byte of a packed message. Messages begin with `00`, `06` or `08`, prefixes with `10`.
const PACKED: u8 = 0x11;

/// The type of the HELLO item of an end that unpacks: a byte for each of the ways.
pub(crate) const UNPACKS: u8 = Hello::FIRST_USER_ITEM + 3;

/// The way that there is: zstd.
pub(crate) const ZSTD: u8 = 1;

/// How many times as long as its frame a message may be. Text gets ten to fifty times shorter; more is mostly a bomb, and
/// senders leave what gets shorter by more as it is.
const RATIO_MAX: usize = 256;

/// The own packing of an end that unpacks.
#[derive(Clone, Default, Debug)]
pub(crate) struct Packing {
    /// The services and methods whose messages it packs when it calls, in order.
    called: Vec<(String, String)>,
}

impl Packing {
    /// Notes that messages of calls to a method are packed. The name is `package.Service/Method`.
    #[cfg(feature = "zstd")]
    pub(crate) fn add(&mut self, name: &str) {
        if let Some((service, method)) = name.split_once('/') {
            self.called.push((service.to_owned(), method.to_owned()));
            self.called.sort_unstable();
        }
    }

    /// Whether messages of calls to a method are packed.
    pub(crate) fn has(&self, method: &Method) -> bool {
        let name = (method.layout.service(), method.name);
        self.called.binary_search_by(|(service, method)| (&**service, &**method).cmp(&name)).is_ok()
    }

    /// Whether those to no method are.
    pub(crate) fn is_empty(&self) -> bool {
        self.called.is_empty()
    }
}

/// Whether a peer unpacks what this end would pack.
pub(crate) fn unpacks(hello: &Hello) -> bool {
    hello.items().any(|(kind, ways)| kind == UNPACKS && ways.contains(&ZSTD))
}

/// Whether a body, after its prefix, is packed.
pub(crate) fn is_present(body: &[u8]) -> bool {
    body.first() == Some(&PACKED)
}

/// Packs the message that a packet has in its buffer from `start` on, with separate parts, if that makes it shorter.
pub(crate) fn pack(packet: &mut PacketWriter<'_>, start: usize, bulk: &mut Vec<Bulk>) {
    #[cfg(feature = "zstd")]
    frames::pack(packet, start, bulk);
    #[cfg(not(feature = "zstd"))]
    let _ = (packet, start, bulk);
}

/// The body of a packet after its prefix, received by a connection, unpacked if it is packed. `what` names it in the
/// text of an error, and `decompresses` says whether this end has said that it unpacks.
pub(crate) fn unpacked(body: Bytes, what: &str, by: &Connection, decompresses: bool) -> Result<Bytes, Status> {
    if !is_present(&body) {
        return Ok(body);
    }
    unpack(&body, by, decompresses).map_err(|error| error.of(what))
}

/// The name of a request in errors, which get a separate code.
pub(crate) const REQUEST: &str = "request";

/// Why a packed message cannot be read.
#[derive(Debug)]
enum PackedError {
    /// This end has not said that it unpacks.
    NotAgreed,
    /// The replacement is not one frame of that length.
    Malformed,
    /// The message is longer than bodies may be.
    TooLong { length: u64, limit: u32 },
    /// It is out of all proportion to its frame.
    TooDense { length: usize, frame: usize },
    /// There is no memory for it.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is unpacked without the feature"))]
    NoRoom,
    /// It begins as no message does.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is unpacked without the feature"))]
    NoMessage,
}

impl PackedError {
    /// The status of a call with this unreadable part.
    fn of(self, what: &str) -> Status {
        let text = format!("the packed {what} {self}");
        match self {
            Self::TooLong { .. } | Self::NoRoom => Status::resource_exhausted(text),
            _ if what == REQUEST => Status::invalid_argument(text),
            _ => Status::internal(text),
        }
    }
}

impl fmt::Display for PackedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAgreed => f.write_str("cannot be read: this end has not said that it unpacks"),
            Self::Malformed => f.write_str("is not one frame of zstd of the length that it states"),
            Self::TooLong { length, limit } => write!(f, "has {length} bytes, which exceeds the limit of {limit}"),
            Self::TooDense { length, frame } => {
                write!(f, "states {length} bytes in a frame of {frame}, which is more than {RATIO_MAX} times as many")
            }
            Self::NoRoom => f.write_str("was discarded: the memory limit for its sender is reached"),
            Self::NoMessage => f.write_str("has something other than a message in its frame"),
        }
    }
}

/// Inflates a packed message.
fn unpack(body: &[u8], by: &Connection, decompresses: bool) -> Result<Bytes, PackedError> {
    // A compat peer gets no HELLO that says so.
    if !decompresses || by.peer().hello().is_none() {
        return Err(PackedError::NotAgreed);
    }
    let mut frame = body.get(1..).unwrap_or_default();
    let length = take_varint(&mut frame).ok_or(PackedError::Malformed)?;
    let limit = by.body_max();
    let too_long = PackedError::TooLong { length, limit };
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit as usize) else {
        return Err(too_long);
    };
    if length > frame.len().saturating_mul(RATIO_MAX) {
        return Err(PackedError::TooDense { length, frame: frame.len() });
    }
    inflate(frame, length, by)
}

/// Inflates a frame whose message may have so many bytes. They are charged to the connection before, and from then on as
/// those of any other message.
#[cfg(feature = "zstd")]
fn inflate(frame: &[u8], length: usize, by: &Connection) -> Result<Bytes, PackedError> {
    /// How messages begin: nothing, and fields. An error, a prefix and a packed message are none.
    const BEGINNINGS: [u8; 2] = [0x00, 0x08];

    frames::check(frame, length)?;
    if !by.has_room(length) {
        by.count_rejected();
        return Err(PackedError::NoRoom);
    }
    let _hold = by.charge_request(length);
    let whole = frames::inflate(frame, length)?;
    match whole.first() {
        Some(first) if BEGINNINGS.contains(first) => Ok(whole.into()),
        _ => Err(PackedError::NoMessage),
    }
}

#[cfg(not(feature = "zstd"))]
fn inflate(_: &[u8], _: usize, _: &Connection) -> Result<Bytes, PackedError> {
    Err(PackedError::NotAgreed)
}
