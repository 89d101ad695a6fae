//! Limits of decoders and encoders, on nesting, memory, and the sizes at which values are shared.

use std::num::NonZeroU32;

/// Default maximum nesting depth of decoded messages, including the root.
/// [`Decoder::with_nesting`](crate::Decoder::with_nesting) changes it.
///
/// Equal to the limit of Protocol Buffers implementations, so that all messages they accept are accepted here too.
pub const NESTING_MAX: u32 = 100;

/// Upper bound of the nesting depth, including the root. It is the maximum setting of decoders and the fixed limit of
/// encoders.
///
/// Decoding uses stack for each level. Unoptimised builds for x86-64 use 0.6 KB for a recursive message with one boxed
/// field, and 9 KB for one with twenty fields and a map. Optimised builds use a quarter of that. Two hundred levels of
/// the latter fit into a stack of 2 MiB. Messages with many more fields that nest as deep need a larger stack in
/// unoptimised builds.
pub const NESTING_CEILING: u32 = 200;

/// Maximum nesting depth of a [`Decoder`](crate::Decoder), counted in messages.
///
/// ```
/// use polyglot::{NESTING_CEILING, NESTING_MAX, Nesting};
///
/// assert_eq!(Nesting::default().levels(), NESTING_MAX);
/// assert_eq!([0, 20, 1000].map(|levels| Nesting::new(levels).levels()), [1, 20, NESTING_CEILING]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nesting(NonZeroU32); // Never zero, so that the root needs no check.

impl Nesting {
    pub(crate) const DEFAULT: Self = Self::new(NESTING_MAX);

    /// The highest nesting limit that can be set.
    pub(crate) const DEEPEST: Self = Self::new(NESTING_CEILING);

    /// Creates a limit of this many nesting levels, including the root message. The value is clamped to the range from
    /// 1 to [`NESTING_CEILING`].
    #[must_use]
    pub const fn new(levels: u32) -> Self {
        let levels = if levels > NESTING_CEILING { NESTING_CEILING } else { levels };
        match NonZeroU32::new(levels) {
            Some(levels) => Self(levels),
            None => Self(NonZeroU32::MIN),
        }
    }

    /// Returns the maximum number of nesting levels.
    #[inline(always)]
    #[must_use]
    pub const fn levels(self) -> u32 {
        self.0.get()
    }
}

impl Default for Nesting {
    /// Returns the default nesting limit, [`NESTING_MAX`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Default maximum memory in bytes of the list and map elements and boxed messages of a decoder.
/// [`Decoder::with_container_memory`](crate::Decoder::with_container_memory) changes it.
///
/// The length of the input is not a sufficient limit, because a nil element takes one byte on the wire and a whole
/// default message in memory. 64 MiB suffices for ordinary bodies of 5 MiB, the default maximum size: an empty `Bytes`
/// takes three bytes on the wire and 32 in memory, which amounts to 54 MiB.
pub const CONTAINER_MEMORY_MAX: usize = 64 << 20;

/// Minimum length in bytes at which [`Encoder::gathering`](crate::Encoder::gathering) and
/// [`Decoder::shared`](crate::Decoder::shared) share [`Bytes`](bytes::Bytes) and [`Utf8Bytes`](crate::Utf8Bytes)
/// instead of copying them.
///
/// Sharing costs two updates of a reference count (15 ns), a list entry, and two more buffers in the vectored write.
/// Copying 16 KiB costs 180 ns within the cache and more outside of it.
pub const BULK_MIN: usize = 16 << 10;

/// Minimum length in bytes of strings that a [`copying`](crate::Encoder::copying) encoder copies separately instead of
/// growing its buffer.
///
/// A buffer that has grown for a long string must be kept or shrunk. Growing and shrinking large buffers returns memory
/// to the system, which is slow. Buffers up to this size can be kept.
pub const LONG_MIN: usize = 64 << 10;
