//! The ring buffers of one direction: positions of writer and reader, and changes to a larger or smaller ring.
//!
//! Positions are byte counts modulo 2³². Each end keeps its own position in private memory and publishes a copy. The
//! peer's copy is untrusted and checked against the size of the ring on each load.
//!
//! A direction starts with the small ring in the head. If the writer's bytes do not fit, it switches to a larger ring
//! in separate memory. It switches back once the small ring has been sufficient for a while. The writer changes its
//! ring only while the ring is empty, and publishes the change before the bytes that follow:
//!
//! ```text
//! writer                                           reader
//!   load Read == written: the ring is empty
//!   store Ring
//!   write bytes, store Written (release)      ->     load Written (acquire) != read: there are bytes
//!                                                   load Ring: their ring; remember how many bytes there are
//!   load Read (acquire)                       <-     read at most those bytes, store Read (release)
//! ```
//!
//! INVARIANT: bytes that are unread when `Written` is loaded are in the ring named by `Ring` directly afterwards,
//! because the writer cannot leave that ring before they are read. Bytes seen by a later load of `Written` may be in
//! another ring. One [`follow`](Reader::follow) is therefore valid only for the bytes that it counted.
//!
//! # Decisions
//!
//! A larger ring is a separate file that is sent when needed, and a new connection has only one page for its counters
//! and small rings. A single file of the maximum size would keep its pages for the lifetime of the connection. Punching
//! holes into it waits for a lock on the file, which a hostile writer can hold forever. A writer replaces its ring only
//! while it is empty, so that no byte has to be moved.

use crate::memory::{End, Memory, RingRegion, SMALL, Word};
use std::fmt;
use std::io;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::ReadBuf;

/// Minimum size in bytes of a ring that replaces the small one, equal to one read of a connection.
const LARGE: u32 = if cfg!(frisbee_loom) { 2 } else { 64 * 1024 };

/// How long the small ring must have been sufficient before a writer switches back to it.
const QUIET: Duration = Duration::from_secs(1);

/// Maximum burst of ring changes by a peer, and the number of changes per second that it is granted. A correct writer
/// makes at most ten changes per second: it enlarges its ring nine times, to 64 KiB and by doubling up to 16 MiB, and
/// shrinks it after a second. Each change costs this end some microseconds.
const RINGS_MAX: u32 = 16;
const RINGS_A_SECOND: u32 = 12;

/// A deliberate violation of the protocol by the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Violation {
    /// The peer claims to have written more bytes than fit into the ring, or fewer than were read.
    Written { claimed: u32, read: u32, ring: u32 },
    /// The peer claims to have read bytes that were not written, or lowers an earlier read position.
    Read { claimed: u32, written: u32, ring: u32 },
    /// The peer keeps sending wake-ups although it neither reads nor writes.
    Bells,
    /// The peer sends something other than a ring on the socket.
    Talks,
    /// The peer switches to a ring that it has not sent, or that has another size.
    Ring { claimed: u32 },
    /// The peer changes its ring buffer too often.
    Rings,
    /// The peer aborts the handshake or sends an unexpected message.
    Handshake,
    /// An earlier operation on this connection has failed.
    Earlier,
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
            Self::Bells => f.write_str("too many spurious wake-ups by the peer"),
            Self::Talks => f.write_str("the peer sends bytes on the socket in addition to the shared memory"),
            Self::Ring { claimed } => write!(f, "the peer continues in a ring of {claimed} bytes that it has not sent"),
            Self::Rings => f.write_str("too many ring changes by the peer"),
            Self::Handshake => f.write_str("the peer does not finish the shared memory handshake"),
            Self::Earlier => f.write_str("the shared memory connection has already failed"),
        }
    }
}

impl std::error::Error for Violation {}

impl From<Violation> for io::Error {
    fn from(violation: Violation) -> Self {
        Self::new(io::ErrorKind::InvalidData, violation)
    }
}

/// Writing end of one direction of a connection.
#[derive(Debug)]
pub(crate) struct Writer {
    end: End,
    written: u32,
    /// Number of unread bytes in the ring at the last [`was_freed`](Self::was_freed) or write.
    unread: u32,
    /// The large ring in use, or `None` for the small one.
    large: Option<Memory>,
    /// Maximum size of a ring in bytes.
    most: u32,
    /// Size of the next ring in bytes. The writer switches to it once the current one is empty.
    next: Option<u32>,
    /// Time since which the small ring has been sufficient, or `None` if it is not.
    quiet: Option<Instant>,
}

/// Change of the ring that a write requires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    None,
    /// Switch to a larger ring of this size.
    Enlarge(u32),
    /// Switch back to the small ring.
    Shrink,
}

impl Writer {
    /// Creates a writer with rings of at most `most` bytes.
    pub(crate) fn new(end: End, most: u32) -> Self {
        Self { end, written: 0, unread: 0, large: None, most, next: None, quiet: None }
    }

    pub(crate) fn size(&self) -> u32 {
        self.large.as_ref().map_or(SMALL, Memory::len)
    }

    /// Returns the number of bytes in the ring that the peer has not read.
    pub(crate) fn used(&self, head: &Memory) -> Result<u32, Violation> {
        // Acquire pairs with the release store in the peer's `read`, so the peer has finished copying the bytes whose
        // space is reused.
        let claimed = head.word(self.end.other(), Word::Read).load(Ordering::Acquire);
        let (used, ring) = (self.written.wrapping_sub(claimed), self.size());
        if used > ring { Err(Violation::Read { claimed, written: self.written, ring }) } else { Ok(used) }
    }

    /// Returns the number of bytes that can be written now. A ring that will be replaced accepts none until it is
    /// empty.
    pub(crate) fn room(&self, head: &Memory) -> Result<u32, Violation> {
        let used = self.used(head)?;
        Ok(if self.next.is_some() && used > 0 { 0 } else { self.size() - used })
    }

    /// Returns whether the peer has read any bytes since the last call or the last write.
    pub(crate) fn was_freed(&mut self, head: &Memory) -> Result<bool, Violation> {
        let unread = self.used(head)?;
        let was_freed = unread < self.unread;
        self.unread = unread.min(self.unread);
        Ok(was_freed)
    }

    /// Returns the ring change that is required before a write of this length.
    pub(crate) fn change(
        &mut self,
        head: &Memory,
        bytes: usize,
        now: impl FnOnce() -> Instant,
    ) -> Result<Change, Violation> {
        let (used, size) = (self.used(head)?, self.size());
        if let Some(next) = self.next.filter(|_| used == 0) {
            return Ok(Change::Enlarge(next));
        }
        let would_take = bytes.saturating_add(used as usize);
        if would_take > size as usize && size < self.most {
            let wanted = bytes.min(self.most as usize).next_power_of_two() as u32;
            let next = wanted.max(size * 2).max(LARGE).min(self.most);
            if used == 0 {
                return Ok(Change::Enlarge(next));
            }
            self.next = Some(self.next.unwrap_or(next));
        }
        if size == SMALL {
            return Ok(Change::None);
        }
        if would_take > SMALL as usize {
            self.quiet = None;
            return Ok(Change::None);
        }
        let now = now();
        let since = *self.quiet.get_or_insert(now);
        let is_over = used == 0 && now.saturating_duration_since(since) >= QUIET;
        Ok(if is_over { Change::Shrink } else { Change::None })
    }

    /// Switches to another ring. The current ring must be empty. The reader identifies the new ring by its length.
    pub(crate) fn take(&mut self, head: &Memory, large: Option<Memory>) {
        let len = large.as_ref().map_or(0, Memory::len);
        (self.large, self.next, self.quiet) = (large, None, None);
        // The release store of `Written` for the next bytes publishes this store.
        head.word(self.end, Word::Ring).store(len, Ordering::Relaxed);
    }

    /// Keeps the current ring, because a larger one cannot be created.
    pub(crate) fn stay(&mut self) {
        (self.most, self.next) = (self.size(), None);
    }

    /// Writes as many bytes as the ring has space for, and publishes them to the peer. Returns their number.
    pub(crate) fn write(&mut self, head: &Memory, from: &[u8]) -> Result<usize, Violation> {
        let used = self.used(head)?;
        let count = from.len().min((self.size() - used) as usize);
        if let Some(from) = from.get(..count).filter(|from| !from.is_empty()) {
            match &self.large {
                Some(large) => large.store(large.whole(), self.written, from),
                None => head.store(RingRegion::small(self.end), self.written, from),
            }
            self.written = self.written.wrapping_add(count as u32);
            self.unread = used + count as u32;
            // Release orders the copied bytes before the counter, so that the peer sees them when it reads the counter.
            head.word(self.end, Word::Written).store(self.written, Ordering::Release);
        }
        Ok(count)
    }
}

/// Reading end of one direction of a connection.
#[derive(Debug)]
pub(crate) struct Reader {
    /// End of the connection that writes to this direction.
    from: End,
    read: u32,
    /// The large ring in use, or `None` for the small one.
    large: Option<Memory>,
    /// Number of unread bytes known to be in the current ring. Further bytes may be in another ring.
    available: u32,
    /// Number of ring changes that the peer may still make, as of the time `counted`.
    rings: u32,
    counted: Option<Instant>,
}

impl Reader {
    pub(crate) fn new(from: End) -> Self {
        Self { from, read: 0, large: None, available: 0, rings: RINGS_MAX, counted: None }
    }

    pub(crate) fn size(&self) -> u32 {
        self.large.as_ref().map_or(SMALL, Memory::len)
    }

    /// Returns whether bytes can be read. Also returns true if the peer's position is invalid, which the next read
    /// reports.
    pub(crate) fn has_data(&self, head: &Memory) -> bool {
        head.word(self.from, Word::Written).load(Ordering::Acquire) != self.read
    }

    /// Counts the unread bytes and switches to their ring if the writer has done so. Only the counted bytes can be read
    /// before the next call. `receive` is called to receive a ring from the peer.
    pub(crate) fn follow(
        &mut self,
        head: &Memory,
        now: impl FnOnce() -> Instant,
        receive: impl FnOnce() -> io::Result<Option<Memory>>,
    ) -> io::Result<()> {
        self.available = 0;
        // INVARIANT: `Written` is loaded before `Ring` and only once. See the module documentation.
        let claimed = head.word(self.from, Word::Written).load(Ordering::Acquire);
        let available = claimed.wrapping_sub(self.read);
        if available == 0 {
            return Ok(());
        }
        self.change_ring(head, now, receive)?;
        let ring = self.size();
        if available > ring {
            return Err(Violation::Written { claimed, read: self.read, ring }.into());
        }
        self.available = available;
        Ok(())
    }

    fn change_ring(
        &mut self,
        head: &Memory,
        now: impl FnOnce() -> Instant,
        receive: impl FnOnce() -> io::Result<Option<Memory>>,
    ) -> io::Result<()> {
        // Relaxed suffices, because the acquire load of `Written` in `follow` orders this load after the peer's store
        // of `Ring`.
        let claimed = head.word(self.from, Word::Ring).load(Ordering::Relaxed);
        if claimed == self.large.as_ref().map_or(0, Memory::len) {
            return Ok(());
        }
        // Limit how often the peer may switch rings, because each switch maps memory.
        self.count_ring(now())?;
        self.large = match claimed {
            0 => None,
            _ => {
                let sent = receive()?.filter(|ring| ring.len() == claimed);
                Some(sent.ok_or(Violation::Ring { claimed })?)
            }
        };
        Ok(())
    }

    fn count_ring(&mut self, now: Instant) -> Result<(), Violation> {
        let since = self.counted.map_or(Duration::ZERO, |counted| now.saturating_duration_since(counted));
        let earned = since.as_secs_f64() * f64::from(RINGS_A_SECOND);
        if earned >= 1.0 || self.counted.is_none() {
            self.counted = Some(now);
            self.rings = (f64::from(self.rings) + earned).min(f64::from(RINGS_MAX)) as u32;
        }
        self.rings = self.rings.checked_sub(1).ok_or(Violation::Rings)?;
        Ok(())
    }

    /// Reads at most `most` of the bytes counted by [`follow`](Self::follow), and publishes the freed space to the
    /// peer.
    pub(crate) fn read(&mut self, head: &Memory, most: u32, into: &mut ReadBuf<'_>) -> usize {
        let count = (self.available.min(most) as usize).min(into.remaining());
        if count > 0 {
            match &self.large {
                Some(large) => large.load(large.whole(), self.read, count, into),
                None => head.load(RingRegion::small(self.from), self.read, count, into),
            }
            self.available -= count as u32;
            self.read = self.read.wrapping_add(count as u32);
            // Release orders the copy before the counter, so that the peer overwrites only bytes that have been copied.
            head.word(self.from.other(), Word::Read).store(self.read, Ordering::Release);
        }
        count
    }
}

#[cfg(all(test, not(frisbee_loom)))]
mod tests {
    use super::*;

    /// Writer and reader of one direction, with the memory that they share.
    struct Direction {
        head: Memory,
        writer: Writer,
        reader: Reader,
        sent: Option<Memory>,
        now: Instant,
    }

    impl Direction {
        fn new(most: u32) -> Self {
            let (head, _) = Memory::create(crate::memory::HEAD).expect("shared memory should be created");
            let (writer, reader) = (Writer::new(End::Client, most), Reader::new(End::Client));
            Self { head, writer, reader, sent: None, now: Instant::now() }
        }

        /// Writes like a stream, including ring changes. Returns the number of bytes written.
        fn write(&mut self, bytes: usize) -> usize {
            match self.writer.change(&self.head, bytes, || self.now).expect("writer should see no protocol violation") {
                Change::None => {}
                Change::Enlarge(size) => {
                    let (ring, file) = Memory::create(size).expect("ring should be created");
                    assert!(self.sent.replace(Memory::map(&file, size).expect("ring should be mapped")).is_none());
                    self.writer.take(&self.head, Some(ring));
                }
                Change::Shrink => self.writer.take(&self.head, None),
            }
            if self.writer.room(&self.head).expect("peer should set valid ring positions") == 0 {
                return 0;
            }
            self.writer.write(&self.head, &vec![7; bytes]).expect("writer should see no protocol violation")
        }

        fn read(&mut self, most: usize) -> usize {
            let sent = &mut self.sent;
            self.reader
                .follow(&self.head, || self.now, || Ok(sent.take()))
                .expect("new ring should have been sent to the peer");
            let mut space = vec![0; most];
            let mut into = ReadBuf::new(&mut space);
            let count = self.reader.read(&self.head, u32::MAX, &mut into);
            assert!(into.filled().iter().all(|byte| *byte == 7));
            count
        }
    }

    #[test]
    fn only_long_message_grows_ring() {
        let mut direction = Direction::new(1 << 20);
        for _ in 0..100 {
            assert_eq!((direction.write(300), direction.read(1000)), (300, 300));
        }
        assert_eq!(direction.writer.size(), SMALL);
        assert_eq!((direction.write(300_000), direction.read(300_000)), (300_000, 300_000));
        assert_eq!((direction.writer.size(), direction.reader.size()), (1 << 19, 1 << 19));
        assert_eq!((direction.write(3_000_000), direction.read(3_000_000)), (1 << 20, 1 << 20));
        assert_eq!(direction.writer.size(), 1 << 20, "ring should not exceed the negotiated size");
    }

    #[test]
    fn full_ring_is_replaced_only_when_empty() {
        let mut direction = Direction::new(1 << 20);
        assert_eq!((direction.write(1000), direction.write(100)), (1000, 0), "rest should go to a larger ring");
        assert_eq!((direction.read(999), direction.write(100)), (999, 0));
        assert_eq!((direction.read(999), direction.write(100)), (1, 100));
        assert_eq!((direction.writer.size(), direction.read(1000)), (LARGE, 100));
        assert_eq!(direction.reader.size(), LARGE);
    }

    #[test]
    fn quiet_writer_returns_to_small_ring() {
        let mut direction = Direction::new(1 << 20);
        assert_eq!((direction.write(10_000), direction.read(10_000)), (10_000, 10_000));
        for (millis, size) in [(0, LARGE), (999, LARGE), (1, SMALL), (5000, SMALL)] {
            direction.now += Duration::from_millis(millis);
            assert_eq!((direction.write(10), direction.read(100)), (10, 10));
            assert_eq!((direction.writer.size(), direction.reader.size()), (size, size));
        }
        // A long message in between restarts the time that the small ring must suffice.
        for (millis, bytes, size) in [(0, 2000, LARGE), (0, 10, LARGE), (900, 2000, LARGE), (900, 10, LARGE)] {
            direction.now += Duration::from_millis(millis);
            assert_eq!((direction.write(bytes), direction.read(10_000)), (bytes, bytes));
            assert_eq!(direction.writer.size(), size);
        }
    }

    #[test]
    fn writer_without_larger_ring_keeps_current() {
        let mut direction = Direction::new(1 << 20);
        assert_eq!((direction.write(1000), direction.write(100)), (1000, 0));
        direction.writer.stay();
        assert_eq!((direction.write(100), direction.read(9999)), (24, 1024));
        assert_eq!((direction.write(5000), direction.writer.size()), (1024, SMALL));
    }

    #[test]
    fn ring_may_double_and_shrink_every_second() {
        let mut direction = Direction::new(crate::RING_MAX);
        for _ in 0..100 {
            let mut size = SMALL;
            while size < crate::RING_MAX {
                let written = direction.write(size as usize + 1);
                assert_eq!(direction.read(written), written);
                size = direction.writer.size();
            }
            for millis in [0, 1000] {
                direction.now += Duration::from_millis(millis);
                assert_eq!((direction.write(1), direction.read(1)), (1, 1));
            }
            assert_eq!(direction.writer.size(), SMALL);
        }
    }

    #[test]
    fn unsent_or_mismatched_ring_is_violation() {
        for (claimed, sent) in [(LARGE, None), (LARGE, Some(LARGE * 2)), (7, None), (u32::MAX, Some(LARGE))] {
            let mut direction = Direction::new(1 << 20);
            direction.head.word(End::Client, Word::Written).store(1, Ordering::Relaxed);
            direction.head.word(End::Client, Word::Ring).store(claimed, Ordering::Relaxed);
            let sent = sent.map(|size| Memory::create(size).expect("ring should be created").0);
            let followed = direction.reader.follow(&direction.head, Instant::now, || Ok(sent));
            let error = followed.expect_err("ring with an invalid size should be rejected").to_string();
            assert!(error.contains(&format!("continues in a ring of {claimed} bytes")), "{error}");
        }
    }

    #[test]
    fn only_excessive_ring_changes_are_violation() {
        let mut direction = Direction::new(1 << 20);
        let change = |direction: &mut Direction, round: u32| {
            let size = if round.is_multiple_of(2) { LARGE } else { 0 };
            direction.head.word(End::Client, Word::Written).store(1, Ordering::Relaxed);
            direction.head.word(End::Client, Word::Ring).store(size, Ordering::Relaxed);
            let make = || Memory::create(LARGE).map(|(ring, _)| Some(ring));
            direction.reader.follow(&direction.head, || direction.now, make)
        };
        for round in 0..100 {
            direction.now += Duration::from_millis(200);
            change(&mut direction, round).expect("five ring changes per second should be permitted");
        }
        let refused = (0..100)
            .find_map(|round| change(&mut direction, round).err())
            .expect("a hundred ring changes at once should be rejected");
        assert!(refused.to_string().contains("too many ring changes"), "{refused}");
    }
}
