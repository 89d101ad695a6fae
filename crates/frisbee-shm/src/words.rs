//! The ends of a connection and the words of shared memory that each writes.

/// An end of a connection. Each end writes its own block of words and its own rings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum End {
    Client,
    Server,
}

impl End {
    pub(crate) fn other(self) -> Self {
        match self {
            Self::Client => Self::Server,
            Self::Server => Self::Client,
        }
    }
}

/// A word of an end's block, by its index. The peer clears the flags too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Number of bytes that the end has written to its ring, modulo 2³².
    Written = 0,
    /// Number of bytes that the end has read from the peer's ring, modulo 2³².
    Read = 1,
    /// Whether the end has shut down writing.
    Closed = 2,
    /// Whether the end sleeps until there are bytes to read.
    WantsData = 3,
    /// Whether the end sleeps until there is space to write.
    WantsRoom = 4,
    /// Length of the memory that contains the end's ring, or zero for the small ring in the head.
    Ring = 5,
}
