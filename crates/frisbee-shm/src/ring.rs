//! A ring of bytes from one end to the other: who may write and read where.
//!
//! Positions are counts of bytes modulo 2³². Each end keeps its own to itself and publishes a copy; what the peer has
//! published is a claim that is checked against the size of the ring each time it is read.

use crate::memory::{End, Memory, Word};
use std::fmt;
use std::io;
use std::sync::atomic::Ordering;
use tokio::io::ReadBuf;

/// What a peer has done that no peer does by mistake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Violation {
    /// It claims to have written more than fits in the ring, or less than has been read.
    Written { claimed: u32, read: u32, ring: u32 },
    /// It claims to have read what has not been written, or has not read what made room for other bytes.
    Read { claimed: u32, written: u32, ring: u32 },
    /// It rings again and again, and neither writes nor reads.
    Rings,
    /// It sends bytes on the socket, where none belong.
    Talks,
    /// It breaks off, or says something else, where the beginning of a connection is settled.
    Handshake,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written { claimed, read, ring } => write!(
                f,
                "the peer claims to have written up to position {claimed} in a ring of {ring} bytes read up to {read}"
            ),
            Self::Read { claimed, written, ring } => write!(
                f,
                "the peer claims to have read up to position {claimed} in a ring of {ring} bytes written up to {written}"
            ),
            Self::Rings => f.write_str("the peer rings the bell for nothing, again and again"),
            Self::Talks => f.write_str("the peer sends bytes on the socket beside the shared memory"),
            Self::Handshake => f.write_str("the peer does not finish agreeing on shared memory"),
        }
    }
}

impl std::error::Error for Violation {}

impl From<Violation> for io::Error {
    fn from(violation: Violation) -> Self {
        Self::new(io::ErrorKind::InvalidData, violation)
    }
}

/// The end of a ring at which bytes go in.
#[derive(Debug)]
pub(crate) struct Writer {
    end: End,
    written: u32,
}

impl Writer {
    pub(crate) fn new(end: End) -> Self {
        Self { end, written: 0 }
    }

    /// How many bytes there is room for.
    pub(crate) fn room(&self, memory: &Memory) -> Result<u32, Violation> {
        let claimed = memory.word(self.end.other(), Word::Read).load(Ordering::Acquire);
        let ring = memory.ring();
        let used = self.written.wrapping_sub(claimed);
        ring.checked_sub(used).ok_or(Violation::Read { claimed, written: self.written, ring })
    }

    /// Writes the beginning of the bytes, as far as there is room; they are published.
    pub(crate) fn write(&mut self, memory: &Memory, from: &[u8]) -> Result<usize, Violation> {
        let count = from.len().min(self.room(memory)? as usize);
        if let Some(from) = from.get(..count).filter(|from| !from.is_empty()) {
            memory.store(self.end, self.written, from);
            self.written = self.written.wrapping_add(count as u32);
            memory.word(self.end, Word::Written).store(self.written, Ordering::Release);
        }
        Ok(count)
    }
}

/// The end of a ring at which bytes come out.
#[derive(Debug)]
pub(crate) struct Reader {
    /// Who writes.
    from: End,
    read: u32,
}

impl Reader {
    pub(crate) fn new(from: End) -> Self {
        Self { from, read: 0 }
    }

    /// How many bytes can be read.
    pub(crate) fn available(&self, memory: &Memory) -> Result<u32, Violation> {
        let claimed = memory.word(self.from, Word::Written).load(Ordering::Acquire);
        let (available, ring) = (claimed.wrapping_sub(self.read), memory.ring());
        if available > ring { Err(Violation::Written { claimed, read: self.read, ring }) } else { Ok(available) }
    }

    /// Reads at most `most` bytes, as far as there are any and room for them; the room in the ring is published.
    pub(crate) fn read(&mut self, memory: &Memory, most: u32, into: &mut ReadBuf<'_>) -> Result<usize, Violation> {
        let count = (self.available(memory)?.min(most) as usize).min(into.remaining());
        if count > 0 {
            memory.load(self.from, self.read, count, into);
            self.read = self.read.wrapping_add(count as u32);
            memory.word(self.from.other(), Word::Read).store(self.read, Ordering::Release);
        }
        Ok(count)
    }
}
