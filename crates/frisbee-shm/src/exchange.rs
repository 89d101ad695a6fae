//! One end of a connection: its writer, its reader, and its sleep flags. This module neither waits nor makes system
//! calls itself. System calls are methods of [`PeerLink`].

use crate::memory::{End, Memory, Word};
use crate::ring::{Change, Reader, Violation, Writer};
use crate::sleep;
use crate::wakers::WaitEvent;
use std::io::{self, IoSlice};
use std::sync::atomic::Ordering;
use std::time::Instant;
use tokio::io::ReadBuf;

/// Number of parts into which a large ring is divided. A read or write publishes its progress after each part, so that
/// the peer can work while the rest is copied. Rings of a few pages are not divided.
const PARTS: u32 = 4;
const PART_MIN: u32 = if cfg!(frisbee_loom) { 1 } else { 4096 };

/// Maximum number of wake-ups that the peer may send without progress. Races cause far fewer.
const IDLE_BELLS_MAX: u32 = 256;

/// Number of wake-ups that the peer may send each time it makes progress. One announces the progress and may arrive
/// later. The other answers a sleep flag that this end had set earlier and no longer needs.
const BELLS_EARNED: u32 = 2;

/// Operations on the wake-up pipe and the socket of a connection.
pub(crate) trait PeerLink {
    /// Wakes the peer through its wake-up pipe.
    fn ring_bell(&self) -> io::Result<()>;

    /// Creates a ring and sends its memory to the peer. Fails with `WouldBlock` until the peer has received the
    /// previous one.
    fn send_ring(&self, size: u32) -> io::Result<Memory>;

    /// Receives the memory of a ring of at most `ring_max` bytes. Returns `None` if there is no message or the ring is
    /// not valid.
    fn receive_ring(&self, ring_max: u32) -> io::Result<Option<Memory>>;
}

/// One end of a connection through shared memory.
#[derive(Debug)]
pub(crate) struct Exchange {
    end: End,
    head: Memory,
    writer: Writer,
    reader: Reader,
    /// Maximum size of the peer's ring in bytes.
    ring_max: u32,
    /// A ring received from the peer, which the peer has not started to use yet.
    sent: Option<Memory>,
    /// Sleep flags that this end has set and not cleared, indexed by [`WaitEvent`].
    has_set: [bool; 2],
    /// Whether the peer has closed the socket, for example because it was killed.
    ended: bool,
    /// Whether this end has shut down writing.
    closed: bool,
    /// Remaining number of wake-ups that the peer may send without progress.
    idle_bells: u32,
    /// Whether an operation has failed. INVARIANT: every later operation fails too, so nothing is read after an error.
    failed: bool,
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
            idle_bells: IDLE_BELLS_MAX,
            failed: false,
        }
    }

    /// Returns whether the peer will write no more bytes. Bytes already in the ring can still be read.
    pub(crate) fn is_over(&self) -> bool {
        self.ended || self.peer_has_closed()
    }

    /// Returns whether this end can no longer write.
    pub(crate) fn is_closed(&self) -> bool {
        self.ended || self.closed
    }

    /// Returns whether the peer has closed the socket.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended
    }

    /// Shuts down writing and wakes the peer if it is waiting to read.
    pub(crate) fn close(&mut self, link: &impl PeerLink) -> io::Result<()> {
        if !std::mem::replace(&mut self.closed, true) {
            // Release, so that a peer that sees the flag also sees all bytes that were written before.
            self.head.word(self.end, Word::Closed).store(1, Ordering::Release);
            self.ring_for(WaitEvent::Data, link)?;
        }
        Ok(())
    }

    /// Reads the available bytes, at most one ring's size. Returns false if none are available.
    pub(crate) fn read(&mut self, link: &impl PeerLink, into: &mut ReadBuf<'_>) -> io::Result<bool> {
        self.fail_on_error(|exchange| exchange.try_read(link, into))
    }

    fn try_read(&mut self, link: &impl PeerLink, into: &mut ReadBuf<'_>) -> io::Result<bool> {
        if !self.reader.has_data(&self.head) {
            return Ok(false);
        }
        let Self { sent, ring_max, .. } = self;
        let receive = || sent.take().map_or_else(|| link.receive_ring(*ring_max), |sent| Ok(Some(sent)));
        self.reader.follow(&self.head, Instant::now, receive)?;
        let part = part_of(self.reader.size());
        let mut has_read = false;
        // Stop after one ring's size, because bytes published since `follow` may be in another ring. The next call
        // reads them.
        for _ in 0..PARTS {
            let count = self.reader.read(&self.head, part, into);
            if count > 0 {
                has_read = true;
                self.ring_for(WaitEvent::Room, link)?;
            }
            if count < part as usize {
                break;
            }
        }
        if has_read {
            self.progressed(WaitEvent::Data);
        }
        Ok(has_read)
    }

    /// Writes as many bytes as there is space for, at most one ring's size. Returns the number of bytes written.
    pub(crate) fn write(&mut self, link: &impl PeerLink, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.fail_on_error(|exchange| exchange.try_write(link, from))
    }

    fn try_write(&mut self, link: &impl PeerLink, from: &[IoSlice<'_>]) -> io::Result<usize> {
        self.change_ring(link, from)?;
        if self.writer.room(&self.head)? == 0 {
            return Ok(0);
        }
        let (part, ring) = (part_of(self.writer.size()) as usize, self.writer.size() as usize);
        let mut written = 0;
        'full: for slice in from {
            for bytes in slice.chunks(part) {
                let count = self.writer.write(&self.head, bytes)?;
                written += count;
                // Wake the peer once for several small slices.
                if count >= part / 2 {
                    self.ring_for(WaitEvent::Data, link)?;
                }
                if count < bytes.len() || written >= ring {
                    break 'full;
                }
            }
        }
        if written > 0 {
            self.ring_for(WaitEvent::Data, link)?;
            self.progressed(WaitEvent::Room);
        }
        Ok(written)
    }

    /// Switches to a larger ring, or back to the small one, depending on the number of bytes to write.
    fn change_ring(&mut self, link: &impl PeerLink, from: &[IoSlice<'_>]) -> io::Result<()> {
        let bytes = from.iter().map(|slice| slice.len()).fold(0, usize::saturating_add);
        match self.writer.change(&self.head, bytes, Instant::now)? {
            Change::None => {}
            Change::Shrink => self.writer.take(&self.head, None),
            Change::Enlarge(size) => match link.send_ring(size) {
                Ok(ring) => self.writer.take(&self.head, Some(ring)),
                // The peer has not received the previous ring yet. The next write tries again.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => {
                    tracing::debug!(%error, size, "larger shared memory ring not allocated");
                    self.writer.stay();
                }
            },
        }
        Ok(())
    }

    /// Wakes the peer if it is waiting for the event `wait`, which this end has just published.
    fn ring_for(&self, wait: WaitEvent, link: &impl PeerLink) -> io::Result<()> {
        if sleep::must_ring(self.head.word(self.end.other(), flag(wait))) { link.ring_bell() } else { Ok(()) }
    }

    fn progressed(&mut self, wait: WaitEvent) {
        self.clear_flag(wait);
        self.idle_bells = (self.idle_bells + BELLS_EARNED).min(IDLE_BELLS_MAX);
    }

    /// Clears this end's sleep flag for the event `wait`, if it is set.
    fn clear_flag(&mut self, wait: WaitEvent) {
        if std::mem::take(&mut self.has_set[wait as usize]) {
            sleep::awake(self.head.word(self.end, flag(wait)));
        }
    }

    fn peer_has_closed(&self) -> bool {
        self.head.word(self.end.other(), Word::Closed).load(Ordering::Acquire) != 0
    }

    /// Returns whether the awaited event has occurred: bytes or space are available, or the next operation fails.
    pub(crate) fn is_ready(&self, wait: WaitEvent) -> bool {
        self.failed
            || match wait {
                WaitEvent::Data => self.reader.has_data(&self.head) || self.peer_has_closed(),
                WaitEvent::Room => self.writer.room(&self.head) != Ok(0),
            }
    }

    /// Returns whether this end may sleep until the peer wakes it. If so, the peer will send a wake-up after it reads
    /// or writes next. Otherwise bytes or space may already be available.
    pub(crate) fn may_sleep(&mut self, wait: WaitEvent) -> bool {
        if self.has_set[wait as usize] {
            // Safe to sleep, because the condition was checked after the flag had been set.
            return true;
        }
        let may_sleep = sleep::may_sleep(self.head.word(self.end, flag(wait)), || self.is_ready(wait));
        self.has_set[wait as usize] = may_sleep;
        may_sleep
    }

    /// Handles a wake-up from the peer. Fails if the peer has sent too many without progress.
    pub(crate) fn handle_bell(&mut self) -> io::Result<()> {
        // The peer has cleared the flag that it sent the wake-up for. Clear the other flag too, because both tasks are
        // awake and another wake-up would be useless.
        self.clear_flag(WaitEvent::Data);
        self.clear_flag(WaitEvent::Room);
        self.fail_on_error(|exchange| {
            // A peer that reads in small pieces frees space repeatedly, although a ring that is to be replaced accepts
            // nothing until it is empty. Such wake-ups are legitimate.
            if !exchange.writer.was_freed(&exchange.head)? {
                exchange.idle_bells = exchange.idle_bells.checked_sub(1).ok_or(Violation::Bells)?;
            }
            Ok(())
        })
    }

    /// Handles the result of peeking at the socket, which is its end or a new ring from the peer.
    pub(crate) fn handle_socket(&mut self, link: &impl PeerLink, peeked: io::Result<usize>) -> io::Result<()> {
        self.fail_on_error(|exchange| {
            match peeked {
                Ok(0) => exchange.ended = true,
                Ok(_) if exchange.sent.is_some() => return Err(Violation::Talks.into()),
                Ok(_) => exchange.sent = Some(link.receive_ring(exchange.ring_max)?.ok_or(Violation::Talks)?),
                Err(error) => match error.kind() {
                    io::ErrorKind::ConnectionReset => exchange.ended = true,
                    io::ErrorKind::WouldBlock => {}
                    _ => return Err(error),
                },
            }
            Ok(())
        })
    }

    fn fail_on_error<T>(&mut self, operate: impl FnOnce(&mut Self) -> io::Result<T>) -> io::Result<T> {
        if self.failed {
            return Err(Violation::Earlier.into());
        }
        let result = operate(self);
        self.failed |= result.is_err();
        result
    }
}

fn part_of(ring: u32) -> u32 {
    (ring / PARTS).max(PART_MIN)
}

fn flag(wait: WaitEvent) -> Word {
    match wait {
        WaitEvent::Data => Word::WantsData,
        WaitEvent::Room => Word::WantsRoom,
    }
}

#[cfg(all(test, frisbee_loom))]
mod model_tests;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;
