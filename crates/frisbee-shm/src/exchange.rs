//! What goes through shared memory: bytes, the rings that they take, and the flags of ends that sleep. Nothing here waits.

use crate::memory::{End, Memory, Word};
use crate::offer::{self, Message, Says};
use crate::ring::{Change, Reader, Violation, Writer};
use crate::sleep;
use crate::waiting::Wait;
use rustix::net::RecvFlags;
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::io::ReadBuf;

/// A part of a ring after which the other end may go on, while the rest is copied. Rings of a few pages have one part.
const PARTS: u32 = 4;
const PART_MIN: u32 = 4096;

/// How many bells a peer may ring beyond those that it has earned: more than chance brings.
const BELLS_FOR_NOTHING_MAX: u32 = 256;

/// How many bells a peer earns each time that it has written or read something. One is for that, and may be heard later;
/// the other for a flag that was set until then and is not waited for any more.
const BELLS_EARNED: u32 = 2;

/// What an end has beside the memory.
pub(crate) trait Beside {
    /// Rings the bell of the peer.
    fn ring(&self) -> io::Result<()>;

    fn socket(&self) -> BorrowedFd<'_>;
}

/// An end of a connection through shared memory, without what it waits with.
#[derive(Debug)]
pub(crate) struct Exchange {
    end: End,
    head: Memory,
    writer: Writer,
    reader: Reader,
    /// The largest ring that the peer may take.
    ring_max: u32,
    /// The ring that the peer has sent and not gone on in yet.
    sent: Option<Memory>,
    /// The flags that this end has set and not taken back, for each [`Wait`].
    has_set: [bool; 2],
    /// The socket has ended, and so has the peer.
    ended: bool,
    /// This end writes no more.
    closed: bool,
    /// How many bells more may ring for nothing.
    patience: u32,
}

impl Exchange {
    pub(crate) fn new(end: End, head: Memory, ring_max: u32) -> Self {
        Self {
            end,
            head,
            writer: Writer::new(end, ring_max),
            reader: Reader::new(end.other()),
            ring_max,
            sent: None,
            has_set: [false; 2],
            ended: false,
            closed: false,
            patience: BELLS_FOR_NOTHING_MAX,
        }
    }

    /// Whether no bytes come beyond those that are in the ring by now.
    pub(crate) fn is_over(&self) -> bool {
        self.ended || self.peer_has_closed()
    }

    /// Whether nothing can be written any more.
    pub(crate) fn is_closed(&self) -> bool {
        self.ended || self.closed
    }

    /// Whether the peer is gone.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Says that this end writes no more.
    pub(crate) fn close(&mut self, beside: &impl Beside) -> io::Result<()> {
        if !std::mem::replace(&mut self.closed, true) {
            self.head.word(self.end, Word::Closed).store(1, Ordering::Release);
            self.ring_for(Wait::Data, beside)?;
        }
        Ok(())
    }

    /// Reads what there is, at most one ring full; `false` if that is nothing.
    pub(crate) fn read(&mut self, beside: &impl Beside, into: &mut ReadBuf<'_>) -> io::Result<bool> {
        if !self.reader.has_come(&self.head) {
            return Ok(false);
        }
        let Self { sent, ring_max, .. } = self;
        let receive = || sent.take().map_or_else(|| receive_ring(beside.socket(), *ring_max), |sent| Ok(Some(sent)));
        self.reader.follow(&self.head, Instant::now, receive)?;
        let part = part_of(self.reader.size());
        let mut has_read = false;
        for _ in 0..PARTS {
            let count = self.reader.read(&self.head, part, into)?;
            if count > 0 {
                has_read = true;
                self.ring_for(Wait::Room, beside)?;
            }
            if count < part as usize {
                break;
            }
        }
        if has_read {
            self.progressed(Wait::Data);
        }
        Ok(has_read)
    }

    /// Writes as much as there is room for, at most one ring full.
    pub(crate) fn write(&mut self, beside: &impl Beside, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.change_ring(beside, from)?;
        if self.writer.room(&self.head)? == 0 {
            return Ok(0);
        }
        let (part, ring) = (part_of(self.writer.size()) as usize, self.writer.size() as usize);
        let mut written = 0;
        'full: for slice in from {
            for bytes in slice.chunks(part) {
                let count = self.writer.write(&self.head, bytes)?;
                written += count;
                // Small slices are announced together.
                if count >= part / 2 {
                    self.ring_for(Wait::Data, beside)?;
                }
                if count < bytes.len() || written >= ring {
                    break 'full;
                }
            }
        }
        if written > 0 {
            self.ring_for(Wait::Data, beside)?;
            self.progressed(Wait::Room);
        }
        Ok(written)
    }

    /// Takes a larger ring, or goes back to the small one, if it is time to.
    fn change_ring(&mut self, beside: &impl Beside, from: &[IoSlice<'_>]) -> io::Result<()> {
        let bytes = from.iter().map(|slice| slice.len()).fold(0, usize::saturating_add);
        match self.writer.change(&self.head, bytes, Instant::now)? {
            Change::None => {}
            Change::Shrink => self.writer.take(&self.head, None),
            Change::Enlarge(size) => match send_ring(beside.socket(), size) {
                Ok(ring) => self.writer.take(&self.head, Some(ring)),
                // Asked again with the next bytes.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::debug!(%error, size, "a connection through shared memory has no larger ring");
                    self.writer.stay();
                }
            },
        }
        Ok(())
    }

    /// Rings if the peer sleeps for what has just been published: bytes, or room.
    fn ring_for(&self, wait: Wait, beside: &impl Beside) -> io::Result<()> {
        if sleep::must_ring(self.head.word(self.end.other(), flag(wait))) { beside.ring() } else { Ok(()) }
    }

    fn progressed(&mut self, wait: Wait) {
        self.take_back(wait);
        self.patience = (self.patience + BELLS_EARNED).min(BELLS_FOR_NOTHING_MAX);
    }

    /// Takes back the flag for this, if it is set.
    fn take_back(&mut self, wait: Wait) {
        if std::mem::take(&mut self.has_set[wait as usize]) {
            sleep::awake(self.head.word(self.end, flag(wait)));
        }
    }

    fn peer_has_closed(&self) -> bool {
        self.head.word(self.end.other(), Word::Closed).load(Ordering::Acquire) != 0
    }

    /// Whether there is what is waited for, or something that is wrong.
    pub(crate) fn has_come(&self, wait: Wait) -> Result<bool, Violation> {
        Ok(match wait {
            Wait::Data => self.reader.has_come(&self.head) || self.peer_has_closed(),
            Wait::Room => self.writer.room(&self.head)? > 0,
        })
    }

    /// Whether this end may sleep until its bell rings: from now on the peer rings for what it publishes. Otherwise there
    /// may be something already.
    pub(crate) fn may_sleep(&mut self, wait: Wait) -> Result<bool, Violation> {
        if self.has_set[wait as usize] {
            // It has looked since.
            return Ok(true);
        }
        let mut looked = Ok(false);
        let may_sleep = sleep::may_sleep(self.head.word(self.end, flag(wait)), || {
            looked = self.has_come(wait);
            !matches!(looked, Ok(false))
        });
        looked?;
        self.has_set[wait as usize] = may_sleep;
        Ok(may_sleep)
    }

    /// Handles that the bell of this end has rung.
    pub(crate) fn handle_bell(&mut self) -> Result<(), Violation> {
        // Whichever flag it was, the peer has taken it. The other one would have it ring for what nobody waits for any
        // more: both tasks are awake now.
        self.take_back(Wait::Data);
        self.take_back(Wait::Room);
        self.patience = self.patience.checked_sub(1).ok_or(Violation::Bells)?;
        Ok(())
    }

    /// Handles what has come on the socket, of which the beginning is `peeked`: its end, or a ring.
    pub(crate) fn handle_socket(&mut self, socket: BorrowedFd<'_>, peeked: io::Result<usize>) -> io::Result<()> {
        match peeked {
            Ok(0) => self.ended = true,
            Ok(_) if self.sent.is_some() => return Err(Violation::Talks.into()),
            Ok(_) => self.sent = Some(receive_ring(socket, self.ring_max)?.ok_or(Violation::Talks)?),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionReset => self.ended = true,
                io::ErrorKind::WouldBlock => {}
                _ => return Err(error),
            },
        }
        Ok(())
    }
}

/// How many bytes wait at the beginning of a socket, of which they are not taken: one, or none at its end.
pub(crate) fn peek(socket: impl AsFd) -> io::Result<usize> {
    Ok(rustix::net::recv(socket, &mut [0], RecvFlags::PEEK | RecvFlags::DONTWAIT)?.1)
}

/// Makes a ring and sends it to the peer. If that has not received all that was sent before, there is none for now: what
/// it leaves in its socket is memory of this end.
#[cold]
fn send_ring(socket: BorrowedFd<'_>, size: u32) -> io::Result<Memory> {
    if crate::memory::unread(socket)? > 0 {
        return Err(io::Error::new(io::ErrorKind::WouldBlock, "the peer has not received what was sent before"));
    }
    let (ring, file) = Memory::create(size)?;
    offer::send(socket, Message::new(Says::Ring, size), &[file.as_fd()])?;
    Ok(ring)
}

/// Receives a ring that the peer has sent; `None` if there is none, or something else.
#[cold]
fn receive_ring(socket: BorrowedFd<'_>, ring_max: u32) -> io::Result<Option<Memory>> {
    match offer::take_with_descriptors(socket) {
        Ok(Some((Message { says: Says::Ring, ring, .. }, descriptors))) if ring <= ring_max => {
            // Others are not looked at, and closed.
            let file = descriptors.first();
            let file = file.ok_or_else(|| io::Error::other("no descriptor has come with the peer's ring"))?;
            Memory::map(file, ring).map(Some)
        }
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn part_of(ring: u32) -> u32 {
    (ring / PARTS).max(PART_MIN)
}

fn flag(wait: Wait) -> Word {
    match wait {
        Wait::Data => Word::WantsData,
        Wait::Room => Word::WantsRoom,
    }
}
