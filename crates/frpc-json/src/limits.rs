//! Every limit of the crate, each with its reason.

/// How deep messages may nest when decoding, the root included, unless
/// [`Options::nesting_max`](crate::Options::nesting_max) says otherwise.
///
/// The binary codecs stop at 100 as well. Levels are counted as they count them, so that a message that has been read
/// here is not too deep for them: a `google.protobuf.Struct` within a `Value` is a level of its own.
pub const NESTING_MAX: u32 = 100;

/// How deep messages may nest at most, the root included: no option goes further, and it is the limit of encoding.
///
/// Decoding takes stack for each level. It is the limit of the binary codec, `polyglot::NESTING_CEILING`.
pub const NESTING_CEILING: u32 = 200;

/// How many bytes the elements of all lists and maps, and the boxed messages, of one decoding may take, unless
/// [`Options::container_memory`](crate::Options::container_memory) says otherwise.
///
/// An empty message is three bytes of JSON, with its comma, and a whole struct in memory, so the length of the input
/// alone bounds nothing useful. It is the limit of the binary codec, `polyglot::CONTAINER_MEMORY_MAX`. Text and
/// bytes are not counted, since they are no longer than their JSON.
pub const CONTAINER_MEMORY_MAX: usize = 64 << 20;

/// How many times the length of the input may be read in search of `@type`, which can be the last key of an
/// `Any`.
///
/// Each level of `Any` within `Any` reads again what its inner levels contain. An ordinary message has one or two
/// levels, and most writers put `@type` first, where nothing is read twice.
pub(crate) const REREAD_MAX: usize = 8;

/// How much of a text from the input is repeated in an error, in bytes.
pub(crate) const QUOTED_MAX: usize = 48;
