//! A peer that violates the protocol, for tests and fuzz targets (feature `hostile`).
//!
//! It performs the handshake of a client and can then write arbitrary values to the memory, ring bells and send
//! messages. It needs no runtime.

use crate::memory::{End, HEAD, Memory, RingRegion, SMALL, Word};
use crate::offer::{self, Message, OfferContent};
use crate::ring::{Change, Reader, Writer};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::ReadBuf;

/// A hostile client that has received the memory of a server and may write anything to it.
#[derive(Debug)]
pub struct Peer {
    head: Memory,
    ring_max: u32,
    bell: OwnedFd,
    socket: UnixStream,
}

/// A control word of the shared memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index {
    /// Number of bytes that an end claims to have written.
    Written,
    /// Number of bytes that an end claims to have read.
    Read,
    /// Whether an end has shut down writing.
    Closed,
    /// Whether an end sleeps until bytes can be read.
    WantsData,
    /// Whether an end sleeps until there is space to write.
    WantsRoom,
    /// Length in bytes of an end's separate ring, or zero if it uses the small ring.
    Ring,
}

impl Index {
    /// All control words of an end.
    pub const ALL: [Self; 6] = [Self::Written, Self::Read, Self::Closed, Self::WantsData, Self::WantsRoom, Self::Ring];

    fn word(self) -> Word {
        match self {
            Self::Written => Word::Written,
            Self::Read => Word::Read,
            Self::Closed => Word::Closed,
            Self::WantsData => Word::WantsData,
            Self::WantsRoom => Word::WantsRoom,
            Self::Ring => Word::Ring,
        }
    }
}

impl Peer {
    /// Connects to a listener and performs the handshake. The accepted stream must be read concurrently.
    ///
    /// # Errors
    /// If the listener does not share memory.
    pub fn connect(path: impl AsRef<Path>) -> io::Result<Self> {
        let socket = UnixStream::connect(path)?;
        offer::send(&socket, Message::new(OfferContent::Offer, crate::RING_MAX), &[])?;
        let answer = loop {
            match offer::take_with_descriptors(&socket) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                answer => break answer?,
            }
        };
        let refused = || io::Error::from(io::ErrorKind::ConnectionRefused);
        let (Message { ring: ring_max, .. }, descriptors) = answer.ok_or_else(refused)?;
        let [file, _, bell] = &*descriptors else { return Err(refused()) };
        let head = Memory::map(file, HEAD)?;
        offer::send(&socket, Message::new(OfferContent::Confirmed, 0), &[])?;
        Ok(Self { head, ring_max, bell: crate::bell::reopen(bell)?, socket })
    }

    /// Sets a control word of this end.
    pub fn set(&self, index: Index, value: u32) {
        self.head.word(End::Client, index.word()).store(value, Ordering::Release);
    }

    /// Sets a control word of the other end, which a correct peer never does.
    pub fn set_theirs(&self, index: Index, value: u32) {
        self.head.word(End::Server, index.word()).store(value, Ordering::Release);
    }

    /// Returns the value of a control word of the other end.
    pub fn theirs(&self, index: Index) -> u32 {
        self.head.word(End::Server, index.word()).load(Ordering::Acquire)
    }

    /// Overwrites bytes in the small ring of this process or of the other process, whether the ring is in use or not.
    /// Excess bytes are ignored.
    pub fn overwrite(&self, theirs: bool, position: u32, bytes: &[u8]) {
        let end = if theirs { End::Server } else { End::Client };
        self.head.store(RingRegion::small(end), position, bytes.get(..SMALL as usize).unwrap_or(bytes));
    }

    /// Returns the size of a small ring in bytes.
    pub fn small_size(&self) -> u32 {
        SMALL
    }

    /// Returns the maximum size of the connection's rings in bytes.
    pub fn ring_max(&self) -> u32 {
        self.ring_max
    }

    /// Sends the memory of a ring like a correct peer. The other end switches to it once [`Index::Ring`] refers to it.
    ///
    /// # Errors
    /// If memory cannot be created, or the peer is gone.
    pub fn send_ring(&self, size: u32) -> io::Result<()> {
        let (_, file) = Memory::create(size)?;
        self.send_as_ring(size, &[file.as_fd()])
    }

    /// Sends arbitrary descriptors as the memory of a ring of this size.
    ///
    /// # Errors
    /// If the peer is gone.
    pub fn send_as_ring(&self, size: u32, descriptors: &[BorrowedFd<'_>]) -> io::Result<()> {
        offer::send(&self.socket, Message::new(OfferContent::Ring, size), descriptors)
    }

    /// Receives the memory of a ring and returns its size. Returns `None` if none was sent.
    ///
    /// # Errors
    /// If the message is malformed, or the peer is gone.
    pub fn take_ring(&self) -> io::Result<Option<u32>> {
        match offer::take_with_descriptors(&self.socket) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            received => Ok(received?.map(|(message, _)| message.ring)),
        }
    }

    /// Sends a wake-up to the other end, whether it is sleeping or not.
    ///
    /// # Errors
    /// If the peer is gone.
    pub fn ring(&self) -> io::Result<()> {
        match rustix::io::write(&self.bell, &[1]) {
            Err(rustix::io::Errno::AGAIN) => Ok(()),
            rung => Ok(rung.map(|_| ())?),
        }
    }

    /// Sends bytes on the socket. After the handshake, a correct peer sends nothing on it except for rings.
    ///
    /// # Errors
    /// If the peer is gone.
    pub fn write_to_socket(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.socket).write_all(bytes)
    }
}

/// Interprets fuzzer input both as a handshake message and as a sequence of steps: a peer writes to the shared memory,
/// and this end reads and writes.
///
/// # Panics
/// If encoding does not reproduce a decoded message, if more bytes are transferred than possible, or if memory cannot
/// be created.
pub fn script(bytes: &[u8]) {
    /// Maximum ring size in bytes during the fuzzed sequence of operations.
    const MOST: u32 = 16 * 1024;
    if let Some(message) = Message::decode(bytes) {
        assert_eq!(message.encode(), bytes);
    }
    let (head, _) = Memory::create(HEAD).expect("shared memory should be created");
    let (mut writer, mut reader) = (Writer::new(End::Server, MOST), Reader::new(End::Client));
    let (mut buffer, mut now) = ([0; 3000], Instant::now());
    for step in bytes.chunks_exact(5) {
        let [kind, value @ ..] =
            <[u8; 5]>::try_from(step).expect("fuzz input should be split into steps of five bytes");
        let value = u32::from_be_bytes(value);
        let length = value as usize % buffer.len();
        match kind % 7 {
            0 => head.word(End::Client, Word::Written).store(value, Ordering::Release),
            1 => head.word(End::Client, Word::Read).store(value, Ordering::Release),
            2 => head.store(RingRegion::small(End::Client), value, &buffer[..length % SMALL as usize]),
            3 => write(&mut writer, &head, &buffer[..length], now),
            4 => {
                // The peer sends a ring, possibly of the wrong size, or none.
                let sent = || (value & 1 == 0).then(|| Memory::create(HEAD << (value % 3))).transpose();
                let followed = reader.follow(&head, || now, || sent().map(|sent| sent.map(|(ring, _)| ring)));
                let mut into = ReadBuf::new(&mut buffer[..length]);
                if followed.is_ok() {
                    let count = reader.read(&head, reader.size(), &mut into);
                    assert_eq!(into.filled().len(), count);
                }
            }
            5 => head.word(End::Client, Word::Ring).store(if value > MOST { HEAD } else { value }, Ordering::Release),
            _ => now += Duration::from_millis((value % 2000).into()),
        }
        assert!(writer.room(&head).unwrap_or(0) <= writer.size() && writer.size() <= MOST);
        assert!(reader.size() <= MOST);
    }
}

/// Writes bytes like a stream, and switches rings as needed.
fn write(writer: &mut Writer, head: &Memory, from: &[u8], now: Instant) {
    match writer.change(head, from.len(), || now) {
        Ok(Change::Enlarge(size)) => {
            writer.take(head, Some(Memory::create(size).expect("shared memory should be created").0));
        }
        Ok(Change::Shrink) => writer.take(head, None),
        Ok(Change::None) | Err(_) => {}
    }
    assert!(writer.write(head, from).unwrap_or(0) <= from.len());
}

#[cfg(test)]
mod tests;
