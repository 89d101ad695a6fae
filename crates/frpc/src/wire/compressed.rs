//! Compression of messages between native peers that have both announced support.
//!
//! A compressed message consists of the byte `11`, its uncompressed length n as a varint, and a zstd frame that
//! decompresses to n bytes. Other messages never start with `11`. Fast paths need no check for this byte, because they
//! fail to decode a compressed message. All claims of the frame are checked before memory is allocated. On a server,
//! the method table determines which messages are compressed. On a client, [`CompressedMethods`] does.

#[cfg(feature = "zstd")]
mod frames;

use crate::Status;
use crate::schema::method::Method;
use bytes::Bytes;
use frisbee::{Connection, Hello, PacketWriter};
use polyglot::Bulk;

/// First byte of a compressed message. Uncompressed messages start with `00`, `06` or `08`, and prefixes with `10`.
const COMPRESSED: u8 = 0x11;

/// Type of the HELLO item that announces support for compressed messages. It contains one byte per supported algorithm.
pub(crate) const DECOMPRESSES: u8 = Hello::FIRST_USER_ITEM + 3;

/// Identifier of zstd in the HELLO item [`DECOMPRESSES`], the only supported algorithm.
pub(crate) const ZSTD: u8 = 1;

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
/// unchanged if compression would save too little.
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
    #[cfg(feature = "zstd")]
    // Compat peers receive no HELLO, so support for compression was not announced to them.
    if decompresses && by.peer().hello().is_some() {
        return frames::decompress(&body, what, by);
    }
    #[cfg(not(feature = "zstd"))]
    let _ = (by, decompresses);
    Err(invalid(what, "cannot be decoded: this end has not announced support for compression"))
}

/// Name of a request in error messages. Errors in requests have a different status code than errors in replies.
pub(crate) const REQUEST: &str = "request";

/// Returns the status of a call with a compressed message that cannot be decoded. `what` names that message.
fn invalid(what: &str, reason: &str) -> Status {
    let text = format!("the compressed {what} {reason}");
    if what == REQUEST { Status::invalid_argument(text) } else { Status::internal(text) }
}
