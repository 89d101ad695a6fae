//! Compression of messages between native peers that have both announced support.
//!
//! A compressed message consists of the byte `11`, its uncompressed length n as a varint, and a zstd frame that
//! decompresses to n bytes. Other messages never start with `11`, so compression is detected when decoding fails, at no
//! cost for other messages. All claims of the frame are checked before memory is allocated. On a server, the method
//! table determines which messages are compressed. On a client, [`CompressedMethods`] does.

#[cfg(feature = "zstd")]
mod frames;

use crate::Status;
use crate::schema::method::Method;
use bytes::Bytes;
#[cfg(feature = "zstd")]
use frisbee::rpc::ConnectionExt;
use frisbee::tlv::take_varint;
use frisbee::{Connection, Hello, PacketWriter};
use polyglot::Bulk;
use std::fmt;

/// First byte of a compressed message. Uncompressed messages start with `00`, `06` or `08`, and prefixes with `10`.
const COMPRESSED: u8 = 0x11;

/// Type of the HELLO item that announces support for compressed messages. It contains one byte per supported algorithm.
pub(crate) const DECOMPRESSES: u8 = Hello::FIRST_USER_ITEM + 3;

/// Identifier of zstd in compressed messages, the only supported algorithm.
pub(crate) const ZSTD: u8 = 1;

/// Maximum compression ratio. Text is typically compressed by a factor of ten to fifty. Higher ratios indicate
/// decompression bombs, so senders do not compress messages that would exceed it.
const RATIO_MAX: usize = 256;

/// Selects the outgoing calls that a client or server compresses.
#[derive(Clone, Default, Debug)]
pub(crate) struct CompressedMethods {
    /// Sorted names of the services and methods with compressed outgoing calls.
    called: Vec<(String, String)>,
}

impl CompressedMethods {
    /// Enables compression for outgoing calls of a method, given as `package.Service/Method`.
    #[cfg(feature = "zstd")]
    pub(crate) fn add(&mut self, name: &str) {
        if let Some((service, method)) = name.split_once('/') {
            self.called.push((service.to_owned(), method.to_owned()));
            self.called.sort_unstable();
        }
    }

    /// Returns whether outgoing calls of a method are compressed.
    pub(crate) fn has(&self, method: &Method) -> bool {
        let name = (method.layout.service(), method.name);
        self.called.binary_search_by(|(service, method)| (&**service, &**method).cmp(&name)).is_ok()
    }

    /// Returns whether compression is enabled for no outgoing calls.
    pub(crate) fn is_empty(&self) -> bool {
        self.called.is_empty()
    }
}

/// Returns whether a peer has announced support for the compression algorithm.
pub(crate) fn decompresses(hello: &Hello) -> bool {
    hello.items().any(|(kind, ways)| kind == DECOMPRESSES && ways.contains(&ZSTD))
}

/// Returns whether a body, without its prefix, is compressed.
pub(crate) fn is_present(body: &[u8]) -> bool {
    body.first() == Some(&COMPRESSED)
}

/// Compresses the message at offset `start` of a packet's buffer, including parts held by reference. Leaves it
/// unchanged if it would not become shorter.
pub(crate) fn compress(packet: &mut PacketWriter<'_>, start: usize, bulk: &mut Vec<Bulk>) {
    #[cfg(feature = "zstd")]
    frames::compress(packet, start, bulk);
    #[cfg(not(feature = "zstd"))]
    let _ = (packet, start, bulk);
}

/// Decompresses the body of a received packet, without its prefix, if the body is compressed. `what` names the message
/// in errors. `decompresses` states whether the local peer has announced support.
pub(crate) fn decompressed(body: Bytes, what: &str, by: &Connection, decompresses: bool) -> Result<Bytes, Status> {
    if !is_present(&body) {
        return Ok(body);
    }
    decompress(&body, by, decompresses).map_err(|error| error.of(what))
}

/// Name of a request in error messages. Errors in requests have a different status code than errors in replies.
pub(crate) const REQUEST: &str = "request";

/// Reason why a compressed message cannot be decoded.
#[derive(Debug)]
enum CompressionError {
    /// The local peer has not announced support for compressed messages.
    NotAgreed,
    /// The body is not a single compressed frame of the stated length.
    Malformed,
    /// The decompressed message would exceed the maximum body size.
    TooLong { length: u64, limit: u32 },
    /// The compression ratio exceeds the maximum, as in a decompression bomb.
    TooDense { length: usize, frame: usize },
    /// There is not enough memory for the decompressed message.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is decompressed without the feature"))]
    NoRoom,
    /// The decompressed bytes are not a valid message.
    #[cfg_attr(not(feature = "zstd"), expect(dead_code, reason = "nothing is decompressed without the feature"))]
    NoMessage,
}

impl CompressionError {
    /// Returns the status of a call with a message that cannot be decompressed. `what` names that message.
    fn of(self, what: &str) -> Status {
        let text = format!("the compressed {what} {self}");
        match self {
            Self::TooLong { .. } | Self::NoRoom => Status::resource_exhausted(text),
            _ if what == REQUEST => Status::invalid_argument(text),
            _ => Status::internal(text),
        }
    }
}

impl fmt::Display for CompressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAgreed => f.write_str("cannot be decoded: this end has not announced support for compression"),
            Self::Malformed => f.write_str("is not a single zstd frame of the stated length"),
            Self::TooLong { length, limit } => write!(f, "has {length} bytes, which exceeds the limit of {limit}"),
            Self::TooDense { length, frame } => {
                write!(f, "states {length} bytes, more than {RATIO_MAX} times its frame of {frame} bytes")
            }
            Self::NoRoom => f.write_str("was discarded: the memory limit for its sender is reached"),
            Self::NoMessage => f.write_str("does not contain a message in its frame"),
        }
    }
}

/// Decompresses a message that a peer has sent.
fn decompress(body: &[u8], by: &Connection, decompresses: bool) -> Result<Bytes, CompressionError> {
    // Compat peers receive no HELLO, so support for compression was not announced to them.
    if !decompresses || by.peer().hello().is_none() {
        return Err(CompressionError::NotAgreed);
    }
    let mut frame = body.get(1..).unwrap_or_default();
    let length = take_varint(&mut frame).ok_or(CompressionError::Malformed)?;
    let limit = by.body_max();
    let too_long = CompressionError::TooLong { length, limit };
    let Some(length) = usize::try_from(length).ok().filter(|length| *length <= limit as usize) else {
        return Err(too_long);
    };
    if length > frame.len().saturating_mul(RATIO_MAX) {
        return Err(CompressionError::TooDense { length, frame: frame.len() });
    }
    inflate(frame, length, by)
}

/// Decompresses a frame to a message of at most `length` bytes. The memory is charged to the connection before
/// decompression starts.
#[cfg(feature = "zstd")]
fn inflate(frame: &[u8], length: usize, by: &Connection) -> Result<Bytes, CompressionError> {
    /// First bytes that messages may have: nil or fields. Errors, prefixes and compressed messages start with other
    /// bytes.
    const BEGINNINGS: [u8; 2] = [0x00, 0x08];

    frames::check(frame, length)?;
    if !by.has_room(length) {
        by.count_rejected();
        return Err(CompressionError::NoRoom);
    }
    let _hold = by.charge_request(length);
    let whole = frames::inflate(frame, length)?;
    match whole.first() {
        Some(first) if BEGINNINGS.contains(first) => Ok(whole.into()),
        _ => Err(CompressionError::NoMessage),
    }
}

#[cfg(not(feature = "zstd"))]
fn inflate(_: &[u8], _: usize, _: &Connection) -> Result<Bytes, CompressionError> {
    Err(CompressionError::NotAgreed)
}
