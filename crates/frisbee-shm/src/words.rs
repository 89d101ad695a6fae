//! The ends of a connection and the words of shared memory that each writes.

/// One of the two ends of a connection. Each end writes its own block of control words and its own rings.
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

/// A control word in an end's block of shared memory, by its index. The peer also clears the sleep flags.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Word {
    /// Number of bytes that the end has written to its rings, modulo 2³².
    Written = 0,
    /// Number of bytes that the end has read from the peer's rings, modulo 2³².
    Read = 1,
    /// Whether the end has shut down writing.
    Closed = 2,
    /// Sleep flag: whether the end sleeps until bytes can be read.
    WantsData = 3,
    /// Sleep flag: whether the end sleeps until there is space to write.
    WantsRoom = 4,
    /// Length in bytes of the end's separate ring, or zero if it uses the small ring.
    Ring = 5,
}
