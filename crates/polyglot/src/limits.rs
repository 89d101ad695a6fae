//! Every limit of the crate, each with its reason.

use std::num::NonZeroU32;

/// How deep messages may nest when decoding, the root included, unless
/// [`Decoder::with_nesting`](crate::Decoder::with_nesting) says otherwise.
///
/// Protocol Buffers implementations stop at 100 as well, so every message of theirs fits.
pub const NESTING_MAX: u32 = 100;

/// How deep messages may nest at most, the root included: no setting of a decoder goes further, and it is the limit of
/// encoders, since the decoder sets the limit.
///
/// Decoding takes stack for each level. Without optimisation, on x86-64, that is 0.6 KB where a message of one field
/// holds a box of its kind, and 9 KB where one of twenty fields holds its kind in a map; with optimisation a quarter of
/// it. Two hundred of the latter fit the 2 MiB of a usual thread. Messages of many more fields that nest as deep need
/// threads with more, in builds without optimisation.
pub const NESTING_CEILING: u32 = 200;

/// How deep messages may nest, as a setting of a [`Decoder`](crate::Decoder).
///
/// ```
/// use polyglot::{NESTING_CEILING, NESTING_MAX, Nesting};
///
/// assert_eq!(Nesting::default().levels(), NESTING_MAX);
/// assert_eq!([0, 20, 1000].map(|levels| Nesting::new(levels).levels()), [1, 20, NESTING_CEILING]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nesting(NonZeroU32); // Not zero, so that nothing has to be asked at the root.

impl Nesting {
    pub(crate) const DEFAULT: Self = Self::new(NESTING_MAX);

    /// The greatest depth.
    pub(crate) const DEEPEST: Self = Self::new(NESTING_CEILING);

    /// This many levels, the root included, clamped to 1 to [`NESTING_CEILING`].
    #[must_use]
    pub const fn new(levels: u32) -> Self {
        let levels = if levels > NESTING_CEILING { NESTING_CEILING } else { levels };
        match NonZeroU32::new(levels) {
            Some(levels) => Self(levels),
            None => Self(NonZeroU32::MIN),
        }
    }

    /// The number of levels.
    #[inline(always)]
    #[must_use]
    pub const fn levels(self) -> u32 {
        self.0.get()
    }
}

impl Default for Nesting {
    /// [`NESTING_MAX`].
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How many bytes the elements of all lists and maps, and the boxed messages, of one decoding may take, unless
/// [`Decoder::with_container_memory`](crate::Decoder::with_container_memory) says otherwise.
///
/// A nil element is one byte on the wire and a whole default message in memory, so the length of the input alone
/// bounds nothing useful. 64 MiB is the most that a body of 5 MiB, the default limit of a frame, needs
/// without such tricks: an empty `Bytes` takes three bytes on the wire and 32 in memory, which makes 54 MiB.
pub const CONTAINER_MEMORY_MAX: usize = 64 << 20;

/// From this length on, [`Encoder::gathering`](crate::Encoder::gathering) sets [`Bytes`](bytes::Bytes) and
/// [`Utf8Bytes`](crate::Utf8Bytes) aside, and [`Decoder::shared`](crate::Decoder::shared) slices them off, instead of
/// copying them.
///
/// Setting a value aside costs a reference count up and down (15 ns), an entry in a list, and two more pieces for the
/// kernel to gather. Copying 16 KiB within the cache costs 180 ns, outside of it more, and grows with the length.
pub const BULK_MIN: usize = 16 << 10;

/// From this length on, an encoder that is [`copying`](crate::Encoder::copying) has strings copied instead of growing
/// its buffer for them.
///
/// A buffer that has grown for one long string is either kept or shrunk again; growing, and shrinking it, moves memory
/// to and from the system. Up to here a buffer may just as well be kept.
pub const LONG_MIN: usize = 64 << 10;
