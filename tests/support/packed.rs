//! Packed messages, made by hand: a HELLO that says that its sender unpacks, and bodies around frames of zstd.

use crate::raw::packet;
use frisbee::tlv::{put_item, put_varint, take_varint};

/// The type of the item in HELLO, and the way that there is.
const UNPACKS: (u8, u8) = (35, 1);

/// The HELLO of a peer, which unpacks or does not, as a packet.
pub fn hello(unpacks: bool) -> Vec<u8> {
    let mut body = b"fris\x01".to_vec();
    if unpacks {
        put_item(&mut body, UNPACKS.0, &[UNPACKS.1]);
    }
    packet(0, 3, &body)
}

/// A body that says that a frame is a message of so many bytes.
pub fn body(length: u64, frame: &[u8]) -> Vec<u8> {
    let mut body = vec![0x11];
    put_varint(&mut body, length);
    body.extend_from_slice(frame);
    body
}

/// The length that a packed body states, and its frame; `None` if it is not packed.
pub fn parts(body: &[u8]) -> Option<(usize, &[u8])> {
    let mut frame = body.strip_prefix(&[0x11])?;
    let length = take_varint(&mut frame)?;
    Some((usize::try_from(length).ok()?, frame))
}

/// The body of a message `interop.Text` of 1200 times the letter `a`, as docs/compression.md has it.
pub const EXAMPLE: &[u8] = b"\x11\xb6\x09\
    \x28\xb5\x2f\xfd\x60\xb6\x03\
    \x30\x00\x00\x08\x00\x05\x0a\xb0\x09\
    \x83\x25\x00\x61";
