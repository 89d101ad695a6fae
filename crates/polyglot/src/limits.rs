//! Every limit of the crate, each with its reason.

/// How deep messages may nest, the root included, when encoding and when decoding.
///
/// Protocol Buffers implementations stop at 100 as well, so that whatever one of them carries fits. A level costs the
/// stack of one generated function; a hundred of them fit the 2 MiB of a usual thread with room for structs of several
/// kilobytes.
pub const NESTING_MAX: u32 = 100;

/// How many bytes the elements of all lists and maps, and the boxed messages, of one decoding may take.
///
/// A nil element is one byte on the wire and a whole default message in memory, so the length of the input alone
/// bounds nothing useful. 64 MiB is what a body of 5 MiB, the most that a frame carries, needs at worst without such
/// tricks: an empty `Bytes` takes three bytes on the wire and 32 in memory, which makes 54 MiB.
pub const CONTAINER_MEMORY_MAX: usize = 64 << 20;

/// From this length on, [`Encoder::gathering`](crate::Encoder::gathering) sets [`Bytes`](bytes::Bytes) aside, and
/// [`Decoder::shared`](crate::Decoder::shared) slices them off, instead of copying them.
///
/// Setting a value aside costs a reference count up and down (15 ns), a place in a list, and two more pieces for the
/// kernel to gather. Copying 16 KiB within the cache costs 180 ns, outside of it more, and grows with the length.
pub const BULK_MIN: usize = 16 << 10;

/// From this length on, an encoder that is [`copying`](crate::Encoder::copying) has strings copied instead of growing
/// its buffer for them.
///
/// A buffer that has grown for one long string is either kept or shrunk again; growing, and shrinking it, moves memory
/// to and from the system. Up to here a buffer may just as well be kept.
pub const LONG_MIN: usize = 64 << 10;
