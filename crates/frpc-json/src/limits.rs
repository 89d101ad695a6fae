//! Limits of the crate alone, each with its reason. Nesting and memory have those of the binary codec.

/// How many times the length of the input may be read in search of `@type`, which can be the last key of an
/// `Any`.
///
/// Each level of `Any` within `Any` reads again what its inner levels contain. An ordinary message has one or two
/// levels, and most writers put `@type` first, where nothing is read twice.
pub(crate) const REREAD_MAX: usize = 8;

/// How much of a text from the input is repeated in an error, in bytes.
pub(crate) const QUOTED_MAX: usize = 48;
