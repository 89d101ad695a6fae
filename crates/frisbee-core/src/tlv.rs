//! Type-length-value (TLV) encoding, which the protocol extension uses for extensible data.

/// Appends a varint: seven bits per byte, least significant first. The top bit of a byte is set if more bytes follow.
///
/// ```
/// let mut bytes = Vec::new();
/// frisbee_core::tlv::put_varint(&mut bytes, 300);
/// assert_eq!(bytes, [0xAC, 2]);
/// ```
pub fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80); // The low seven bits.
        number >>= 7;
    }
    bytes.push(number as u8); // Below 0x80.
}

/// Decodes a varint and removes it from the front of `bytes`. Returns `None` if it is truncated or exceeds 64 bits.
/// Padding with zeros is accepted, up to ten bytes in total.
///
/// ```
/// let mut bytes = &[0xAC, 2, 7][..];
/// assert_eq!(frisbee_core::tlv::take_varint(&mut bytes), Some(300));
/// assert_eq!(bytes, [7]);
/// ```
#[inline]
pub fn take_varint(bytes: &mut &[u8]) -> Option<u64> {
    // Fast path: most varints are lengths and types of a single byte.
    match *bytes {
        &[byte @ ..0x80, ref rest @ ..] => {
            *bytes = rest;
            Some(byte.into())
        }
        _ => take_long_varint(bytes),
    }
}

fn take_long_varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7F);
        let placed = bits.checked_shl(shift)?;
        if placed.checked_shr(shift)? != bits {
            return None; // The tenth byte has room for only one bit.
        }
        number |= placed;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Decodes `bytes` as a single varint. Returns `None` if bytes remain.
///
/// ```
/// use frisbee_core::tlv::whole_varint;
///
/// assert_eq!(whole_varint(&[0xAC, 2]), Some(300));
/// assert_eq!(whole_varint(&[7, 7]), None, "trailing byte should be rejected");
/// ```
pub fn whole_varint(mut bytes: &[u8]) -> Option<u64> {
    take_varint(&mut bytes).filter(|_| bytes.is_empty())
}

/// Appends an item of type `kind` with the given value.
///
/// ```
/// use frisbee_core::tlv::{Items, put_item};
///
/// let mut bytes = Vec::new();
/// put_item(&mut bytes, 1, b"ab");
/// assert_eq!(bytes, [1, 2, b'a', b'b']);
/// assert_eq!(Items::new(&bytes).next(), Some(Some((1, &b"ab"[..]))));
/// ```
pub fn put_item(bytes: &mut Vec<u8>, kind: u8, value: &[u8]) {
    bytes.push(kind);
    put_varint(bytes, value.len() as u64);
    bytes.extend_from_slice(value);
}

/// Iterator over the types and values of encoded items. A truncated item is returned as `None` and ends the iteration.
#[derive(Clone, Debug)]
pub struct Items<'a>(&'a [u8]);

impl<'a> Items<'a> {
    /// Creates an iterator over the encoded items of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn item(&mut self) -> Option<(u8, &'a [u8])> {
        let (&kind, mut rest) = self.0.split_first()?;
        let length = usize::try_from(take_varint(&mut rest)?).ok()?;
        let (value, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((kind, value))
    }
}

impl<'a> Iterator for Items<'a> {
    type Item = Option<(u8, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let item = self.item();
        if item.is_none() {
            self.0 = &[];
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_as_they_were() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put_varint(&mut bytes, number);
            assert_eq!(whole_varint(&bytes), Some(number));
            assert_eq!(whole_varint(&bytes[..bytes.len() - 1]), None);
        }
        assert_eq!(whole_varint(&[0x80; 11]), None);
    }

    /// Regression test: the number was read as 0, so a deadline of 2^64 microseconds had expired immediately.
    #[test]
    fn number_above_64_bits_is_malformed() {
        let number = |last| whole_varint(&[&[0x80; 9][..], &[last]].concat());
        assert_eq!([number(0), number(1), number(2), number(0x7F)], [Some(0), Some(1 << 63), None, None]);
    }

    #[test]
    fn items_end_at_first_truncated_item() {
        let mut bytes = Vec::new();
        put_item(&mut bytes, 1, b"one");
        put_item(&mut bytes, 2, b"");
        bytes.extend_from_slice(&[3, 5, 0]);
        let items: Vec<_> = Items::new(&bytes).collect();
        assert_eq!(items, [Some((1, &b"one"[..])), Some((2, b"")), None]);
    }
}
