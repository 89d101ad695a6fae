//! Compressed messages that are encoded by hand: a HELLO that announces zstd, and bodies with zstd frames.

use crate::raw::packet;
use frisbee::tlv::{put_item, put_varint, take_varint};

/// HELLO item that announces support for compressed messages: its type, and its value, the number of zstd.
const DECOMPRESSES: (u8, u8) = (35, 1);

/// Returns the HELLO packet of a peer that does or does not support compressed messages.
pub fn hello(decompresses: bool) -> Vec<u8> {
    let mut body = b"fris\x01".to_vec();
    if decompresses {
        put_item(&mut body, DECOMPRESSES.0, &[DECOMPRESSES.1]);
    }
    packet(0, 3, &body)
}

/// Returns a compressed body. It declares that its frame contains a message of `length` bytes.
pub fn body(length: u64, frame: &[u8]) -> Vec<u8> {
    let mut body = vec![0x11];
    put_varint(&mut body, length);
    body.extend_from_slice(frame);
    body
}

/// Returns the declared length and the frame of a compressed body. Returns `None` if the body is not compressed.
pub fn parts(body: &[u8]) -> Option<(usize, &[u8])> {
    let mut frame = body.strip_prefix(&[0x11])?;
    let length = take_varint(&mut frame)?;
    Some((usize::try_from(length).ok()?, frame))
}

/// The body of a message `interop.Text` with 1200 letters `a`, as in docs/compression.md.
pub const EXAMPLE: &[u8] = b"\x11\xb6\x09\
    \x28\xb5\x2f\xfd\x60\xb6\x03\
    \x30\x00\x00\x08\x00\x05\x0a\xb0\x09\
    \x83\x25\x00\x61";
