//! Header compression (RFC 7541). A [`Decoder`] and an [`Encoder`] each contain one dynamic table.
//!
//! ```
//! use frisbee_http2::hpack::{Decoder, Encoder};
//!
//! let (mut encoder, mut decoder) = (Encoder::new(), Decoder::new());
//! let mut block = Vec::new();
//! encoder.begin(&mut block);
//! encoder.put(b":method", b"POST", false, &mut block);
//! encoder.put(b"authorization", b"secret", true, &mut block);
//!
//! let mut fields = Vec::new();
//! decoder.decode(&block, |field| fields.push((field.name.to_vec(), field.is_sensitive)))?;
//! assert_eq!(fields, [(b":method".to_vec(), false), (b"authorization".to_vec(), true)]);
//! # Ok::<(), frisbee_http2::hpack::DecodeError>(())
//! ```

mod decoder;
mod encoder;
mod huffman;
mod table;
#[cfg(test)]
mod tests;

pub use decoder::{DecodeError, Decoder, Field};
pub use encoder::{Encoder, EncoderMark};

/// Maximum size in bytes of each of the two dynamic tables. This is the initial value of SETTINGS_HEADER_TABLE_SIZE:
/// RFC 9113, section 6.5.2. Larger tables would use more memory per connection with hardly any benefit.
pub(crate) const TABLE_SIZE: usize = 4096;

/// Prefixes that distinguish the representations of fields (RFC 7541, section 6): the pattern of the first byte, and
/// the number of its low bits that belong to the integer.
mod form {
    pub(super) const INDEXED: (u8, u32) = (0x80, 7);
    pub(super) const INSERTED: (u8, u32) = (0x40, 6);
    pub(super) const SIZE_UPDATE: (u8, u32) = (0x20, 5);
    pub(super) const NEVER_INDEXED: (u8, u32) = (0x10, 4);
    pub(super) const NOT_INDEXED: (u8, u32) = (0x00, 4);
    /// Flag that marks a Huffman-coded string: RFC 7541, section 5.2.
    pub(super) const HUFFMAN: (u8, u32) = (0x80, 7);
}
