//! A peer that keeps to nothing: for tests and fuzz targets, with the feature `hostile`.
//!
//! It agrees on memory as a client does, and then writes to it, rings and talks as its owner likes. It needs no runtime.

use crate::memory::{End, Memory, Word};
use crate::offer::{self, Message, Says};
use crate::ring::{Reader, Writer};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use tokio::io::ReadBuf;

/// A client that has taken the memory of a server.
#[derive(Debug)]
pub struct Peer {
    memory: Memory,
    bell: OwnedFd,
    socket: UnixStream,
}

/// A word of the shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// How many bytes this end claims to have written.
    Written,
    /// How many bytes this end claims to have read.
    Read,
    /// Whether this end will write no more.
    Closed,
    /// Whether this end sleeps until it can read.
    WantsData,
    /// Whether this end sleeps until it can write.
    WantsRoom,
}

impl Index {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Written, Self::Read, Self::Closed, Self::WantsData, Self::WantsRoom];

    fn word(self) -> Word {
        match self {
            Self::Written => Word::Written,
            Self::Read => Word::Read,
            Self::Closed => Word::Closed,
            Self::WantsData => Word::WantsData,
            Self::WantsRoom => Word::WantsRoom,
        }
    }
}

impl Peer {
    /// Connects to a listener, which has to be read from meanwhile, and takes its memory.
    ///
    /// # Errors
    /// If the listener shares none.
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        offer::send(&socket, Message::new(Says::Offer, crate::RING_MAX), &[])?;
        let answer = loop {
            match offer::take_with_descriptors(&socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                answer => break answer?,
            }
        };
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let (Message { ring, .. }, descriptors) = answer.ok_or_else(refused)?;
        let [file, _, bell] = <[OwnedFd; 3]>::try_from(descriptors).map_err(|_| refused())?;
        let memory = Memory::map(&file, ring)?;
        offer::send(&socket, Message::new(Says::Taken, 0), &[])?;
        Ok(Self { memory, bell: crate::bell::reopen(&bell)?, socket })
    }

    /// Sets a word of this end.
    pub fn set(&self, index: Index, value: u32) {
        self.memory.word(End::Client, index.word()).store(value, Ordering::Release);
    }

    /// Sets a word of the other end, which it does not expect.
    pub fn set_theirs(&self, index: Index, value: u32) {
        self.memory.word(End::Server, index.word()).store(value, Ordering::Release);
    }

    /// A word of the other end.
    pub fn theirs(&self, index: Index) -> u32 {
        self.memory.word(End::Server, index.word()).load(Ordering::Acquire)
    }

    /// Writes bytes to the ring of this end, or to that of the other one, wherever it is in use; as far as they fit in
    /// it.
    pub fn scribble(&self, theirs: bool, position: u32, bytes: &[u8]) {
        let end = if theirs { End::Server } else { End::Client };
        self.memory.store(end, position, bytes.get(..self.memory.ring() as usize).unwrap_or(bytes));
    }

    /// The size of a ring.
    pub fn ring_size(&self) -> u32 {
        self.memory.ring()
    }

    /// Rings the bell of the other end, whether it sleeps or not.
    ///
    /// # Errors
    /// If the other end is gone.
    pub fn ring(&self) -> io::Result<()> {
        match rustix::io::write(&self.bell, &[1]) {
            Err(rustix::io::Errno::AGAIN) => Ok(()),
            rung => Ok(rung.map(|_| ())?),
        }
    }

    /// Sends bytes on the socket, where none belong.
    ///
    /// # Errors
    /// If the other end is gone.
    pub fn talk(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.socket).write_all(bytes)
    }
}

/// Takes the bytes for a message by which memory is agreed on, and for a script in which a peer writes to memory and this
/// end writes and reads, step by step.
///
/// # Panics
/// If a message is not encoded as it was decoded, if more is written or read than there can be, or if the system has no
/// memory.
pub fn script(bytes: &[u8]) {
    if let Some(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    let (memory, _) = Memory::create(crate::RING_MIN).expect("there is memory");
    let (mut writer, mut reader) = (Writer::new(End::Server), Reader::new(End::Client));
    let mut buffer = [0; 300];
    for step in bytes.chunks_exact(5) {
        let [kind, value @ ..] = <[u8; 5]>::try_from(step).expect("it has five bytes");
        let value = u32::from_be_bytes(value);
        let length = value as usize % buffer.len();
        match kind % 5 {
            0 => memory.word(End::Client, Word::Written).store(value, Ordering::Release),
            1 => memory.word(End::Client, Word::Read).store(value, Ordering::Release),
            2 => memory.store(End::Client, value, &buffer[..length]),
            3 => assert!(writer.write(&memory, &buffer[..length]).unwrap_or(0) <= length),
            _ => {
                let mut into = ReadBuf::new(&mut buffer[..length]);
                let count = reader.read(&memory, crate::RING_MIN / 4, &mut into);
                assert_eq!(into.filled().len(), count.unwrap_or(0));
            }
        }
        assert!(writer.room(&memory).unwrap_or(0) <= crate::RING_MIN);
        assert!(reader.available(&memory).unwrap_or(0) <= crate::RING_MIN);
    }
}

#[cfg(test)]
mod tests;
