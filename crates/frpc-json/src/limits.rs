//! Limits specific to this crate and their reasons. The limits of nesting and memory are the same as in the binary
//! codec.

/// Maximum number of bytes read in search of `@type`, as a multiple of the input length. `@type` can be the last key of
/// an `Any`.
///
/// Each level of nested `Any` reads the content of its inner levels again. Ordinary messages have one or two levels,
/// and most writers put `@type` first, so nothing is read twice.
pub(crate) const REREAD_MAX: usize = 8;

/// Maximum length in bytes of input text quoted in an error.
pub(crate) const QUOTED_MAX: usize = 48;
