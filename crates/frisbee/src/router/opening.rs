//! Format of the first packet of a stream, which names the operation of its router.
//!
//! The packet consists of the byte `09`, the operation as a varint (seven bits per byte, least significant first), and
//! bytes of the protocol. Streaming calls start with the same format.

use crate::Operation;
use bytes::Bytes;
use frisbee_core::tlv;

/// First byte of a packet that opens a stream for a named operation. The operation number follows.
const OPERATION: u8 = 0x09;

/// Creates the first packet of a stream for the router mounted on `operation`. `rest` follows the operation.
///
/// ```
/// use frisbee::{Operation, opening};
///
/// let first = opening::new(Operation::user(300).unwrap(), b"and more");
/// assert_eq!(first, [&[0x09, 0xAC, 0x02], &b"and more"[..]].concat());
/// assert_eq!(opening::rest(&first).unwrap(), "and more");
/// ```
pub fn new(operation: Operation, rest: &[u8]) -> Bytes {
    let mut first = Vec::with_capacity(4 + rest.len());
    first.push(OPERATION);
    tlv::put_varint(&mut first, operation.number().into());
    first.extend_from_slice(rest);
    first.into()
}

/// Returns the operation that the first packet of a stream names, if any.
pub fn operation(first: &[u8]) -> Option<u16> {
    split(first).map(|(operation, _)| operation)
}

/// Returns the bytes that follow the operation in the first packet of a stream. Returns `None` if the packet names no
/// operation.
pub fn rest(first: &Bytes) -> Option<Bytes> {
    split(first).map(|(_, rest)| first.slice_ref(rest))
}

fn split(first: &[u8]) -> Option<(u16, &[u8])> {
    let mut rest = first.strip_prefix(&[OPERATION])?;
    let operation = tlv::take_varint(&mut rest).and_then(|operation| u16::try_from(operation).ok())?;
    Some((operation, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_opening_has_no_operation() {
        for first in [&[][..], &[0x09], &[0x09, 0x80], &[0x08, 0x15], &[0x09, 0x80, 0x80, 0x04]] {
            assert_eq!(operation(first), None, "{first:?}");
        }
        assert_eq!(operation(&[0x09, 0x15]), Some(21));
        assert_eq!(operation(&[0x09, 0xFF, 0xFF, 0x03]), Some(u16::MAX));
    }
}
