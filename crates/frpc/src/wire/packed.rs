//! Compressed messages, exchanged by native peers that have both announced support.
//!
//! A compressed message has the form `11 <number n> <one frame of zstd>`. The frame decompresses to the n bytes of a
//! message. No message starts with `11`, so decoders detect compression when they fail, without a cost for other
//! messages. All claims of the frame are checked before memory is allocated. The table of methods at a server, and
//! [`Packing`] at a client, determine which messages are compressed.

#[cfg(feature = "zstd")]
mod frames;

use crate::Status;
use crate::schema::method::Method;
use bytes::Bytes;
use frisbee::tlv::take_varint;
use frisbee::{Connection, Hello, PacketWriter};
use polyglot::Bulk;
use std::fmt;

/// First byte of a compressed message. Messages start with `00`, `06` or `08`, prefixes with `10`.
const PACKED: u8 = 0x11;

/// The type of the HELLO item that announces support for decompression. It has a byte for each algorithm.
pub(crate) const UNPACKS: u8 = Hello::FIRST_USER_ITEM + 3;

/// The only algorithm: zstd.
pub(crate) const ZSTD: u8 = 1;

/// Maximum compression ratio. Text compresses by a factor of ten to fifty. A higher ratio usually indicates a
/// decompression bomb, so senders do not compress such messages.
const RATIO_MAX: usize = 256;

/// Compression settings of an end that supports decompression.
#[derive(Clone, Default, Debug)]
pub(crate) struct Packing {
    /// Services and methods whose calls are compressed, sorted.
    called: Vec<(String, String)>,
}

impl Packing {
    /// Enables compression for calls to a method, named `package.Service/Method`.
    #[cfg(feature = "zstd")]
    pub(crate) fn add(&mut self, name: &str) {
        if let Some((service, method)) = name.split_once('/') {
            self.called.push((service.to_owned(), method.to_owned()));
            self.called.sort_unstable();
        }
    }

    /// Returns whether messages of calls to a method are compressed.
    pub(crate) fn has(&self, method: &Method) -> bool {
        let name = (method.layout.service(), method.name);
        self.called.binary_search_by(|(service, method)| (&**service, &**method).cmp(&name)).is_ok()
    }

    /// Returns whether no method is compressed.
    pub(crate) fn is_empty(&self) -> bool {
        self.called.is_empty()
    }
}

/// Returns whether a peer supports the compression used by this end.
pub(crate) fn unpacks(hello: &Hello) -> bool {
    hello.items().any(|(kind, ways)| kind == UNPACKS && ways.contains(&ZSTD))
}

/// Returns whether a body, after its prefix, is compressed.
pub(crate) fn is_present(body: &[u8]) -> bool {
    body.first() == Some(&PACKED)
}

/// Compresses the message that a packet's buffer holds from `start` on, including separate parts, if that makes it
/// shorter.
pub(crate) fn pack(packet: &mut PacketWriter<'_>, start: usize, bulk: &mut Vec<Bulk>) {
    #[cfg(feature = "zstd")]
    frames::pack(packet, start, bulk);
    #[cfg(not(feature = "zstd"))]
    let _ = (packet, start, bulk);
}

/// Returns the body of a received packet after its prefix, decompressed if necessary. `what` names it in error texts.
/// `decompresses` is set if this end has announced support.
pub(crate) fn unpacked(body: Bytes, what: &str, by: &Connection, decompresses: bool) -> Result<Bytes, Status> {
    if !is_present(&body) {
        return Ok(body);
    }
    unpack(&body, by, decompresses).map_err(|error| error.of(what))
}

/// The name of a request in errors. Errors in requests have a separate code.
pub(crate) const REQUEST: &str = "request";

/// The reason why a compressed message cannot be read.
#[derive(Debug)]
enum PackedError {
    /// This end has not announced support for compression.
    NotAgreed,
    /// The body is not one frame of the stated length.
    Malformed,
    /// The message exceeds the maximum length of bodies.
    TooLong { length: u64, limit: u32 },
    /// The compression ratio is too high.
    TooDense { length: usize, frame: usize },
    /// There is no memory for the message.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is unpacked without the feature"))]
    NoRoom,
    /// The decompressed bytes do not start like a message.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is unpacked without the feature"))]
    NoMessage,
}

impl PackedError {
    /// Returns the status of a call with this unreadable part.
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

/// Decompresses a message.
fn unpack(body: &[u8], by: &Connection, decompresses: bool) -> Result<Bytes, PackedError> {
    // A compat peer receives no HELLO, and therefore no announcement.
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

/// Decompresses a frame whose message has at most `length` bytes. The connection is charged before decompression, and
/// then for as long as any message.
#[cfg(feature = "zstd")]
fn inflate(frame: &[u8], length: usize, by: &Connection) -> Result<Bytes, PackedError> {
    /// First bytes of messages: nothing, or fields. Errors, prefixes and compressed messages start differently.
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
