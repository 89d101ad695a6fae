//! Encoding of packets, and the bytes pending on a connection.

mod batch;

pub use self::batch::MessageBatch;
use self::batch::{LastPacket, SHORT_MAX};
use crate::{Body, Header, HeaderForm, Operation, Packet, PacketId};
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::ops::{Deref, DerefMut};

/// Bodies of at least this many bytes are gathered, smaller ones copied. Below it the copy is cheaper than
/// counting a reference and a further slice in the system call.
const GATHER_MIN: usize = 16 * 1024;

/// From this many bytes on, packets that go to many connections are shared. Below it copying them costs less than
/// counting references and gathering one slice more.
const SHARE_MIN: usize = 4 * 1024;

/// Maximum memory that an empty outbox keeps, in bytes. The rest is freed after a burst.
const KEEP_CAPACITY: usize = 256 * 1024;

/// Encoded packets in the order of sending.
///
/// Small bodies are copied to one buffer, so that many packets leave in one write; large ones are kept as shared
/// [`Bytes`] and gathered by [`slices`](Self::slices), so that they are never copied.
///
/// ```
/// use bytes::Bytes;
/// use frisbee_core::{HeaderForm, Operation, Outbox, PacketId};
///
/// let mut outbox = Outbox::new(HeaderForm::Current);
/// outbox.push(PacketId(1), Operation::FIRST_USER, Bytes::from_static(b"hi"))?;
/// assert_eq!(outbox.len(), 12);
/// assert_eq!(outbox.take_bytes(), [0, 0x0F, 0, 1, 0, 10, 0, 0, 0, 2, b'h', b'i'][..]);
/// # Ok::<(), frisbee_core::TooLong>(())
/// ```
#[derive(Debug)]
pub struct Outbox {
    form: HeaderForm,
    /// Maximum body size that the peer accepts.
    limit: u32,
    /// Current maximum body size: the limit, or less if memory is short.
    room: u32,
    /// Headers and small bodies; `buffer[..written]` has been written.
    buffer: Vec<u8>,
    written: usize,
    /// Large bodies and where in `buffer` they belong, ascending. All positions are at or after `written`.
    bulk: LargeBodies,
    bulk_len: usize,
    /// The last packet, if messages may join it.
    tail: LastPacket,
}

/// Those of an [`Outbox`]. Looking for them allocates nothing, changing them may.
#[derive(Debug)]
#[allow(clippy::box_collection, reason = "each idle connection has two, which hold none")]
struct LargeBodies(Option<Box<VecDeque<(usize, Bytes)>>>);

impl LargeBodies {
    #[inline]
    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |bodies| bodies.len())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Deref for LargeBodies {
    type Target = VecDeque<(usize, Bytes)>;

    fn deref(&self) -> &Self::Target {
        static NONE: VecDeque<(usize, Bytes)> = VecDeque::new();
        self.0.as_deref().unwrap_or(&NONE)
    }
}

impl DerefMut for LargeBodies {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.0.get_or_insert_default()
    }
}

impl Outbox {
    /// Creates an empty outbox for headers of `form` and bodies of up to [`BODY_MAX`](crate::BODY_MAX).
    pub fn new(form: HeaderForm) -> Self {
        Self {
            form,
            limit: crate::BODY_MAX,
            room: crate::BODY_MAX,
            buffer: Vec::new(),
            written: 0,
            bulk: LargeBodies(None),
            bulk_len: 0,
            tail: LastPacket::default(),
        }
    }

    /// Creates an empty outbox with the same form and limit.
    pub fn new_like(&self) -> Self {
        Self { limit: self.limit, room: self.room, ..Self::new(self.form) }
    }

    /// Sets the maximum body size.
    pub fn set_limit(&mut self, limit: u32) {
        self.room = limit;
        self.limit = limit;
    }

    /// Sets how much memory there is for a further body, if that is less than the peer may be sent.
    pub fn set_room(&mut self, room: Option<usize>) {
        let room = room.and_then(|room| u32::try_from(room).ok());
        self.room = room.map_or(self.limit, |room| room.min(self.limit));
        if (self.room as usize) < SHORT_MAX {
            self.tail = LastPacket::default(); // Joining messages have no length check.
        }
    }

    /// Returns the memory of pending packets, in bytes. Shared memory counts in full.
    #[inline]
    pub fn memory(&self) -> usize {
        self.buffer.capacity().wrapping_add(self.bulk_len) // Neither can be more than half of all addresses.
    }

    /// Returns the maximum body size, in bytes.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Sets the form of later headers.
    pub fn set_form(&mut self, form: HeaderForm) {
        self.form = form;
    }

    /// Returns the size of a packet header in bytes.
    #[inline]
    pub fn header_size(&self) -> usize {
        self.form.size()
    }

    /// Returns the number of pending bytes.
    #[inline]
    pub fn len(&self) -> usize {
        // Invariant: `written` is within the buffer. Both parts are in memory, so their sum is a length as well.
        self.buffer.len().wrapping_sub(self.written).wrapping_add(self.bulk_len)
    }

    /// Returns the number of pending bytes in memory that is or may be shared.
    #[inline]
    pub fn shared_len(&self) -> usize {
        self.bulk_len
    }

    /// Replaces the memory of large bodies, each by the same bytes.
    pub fn map_shared(&mut self, mut map: impl FnMut(Bytes) -> Bytes) {
        for (_, bytes) in &mut *self.bulk {
            let length = bytes.len();
            *bytes = map(std::mem::take(bytes));
            debug_assert_eq!(bytes.len(), length, "they are the same bytes");
        }
    }

    /// Returns whether no bytes are pending.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.written == self.buffer.len() && self.bulk.is_empty()
    }

    /// Appends a packet. A small body is copied, a large one shared or moved; see [`Body`].
    ///
    /// # Errors
    /// If the body is longer than the limit; nothing has been appended then.
    #[inline]
    pub fn push(&mut self, id: PacketId, operation: Operation, body: impl Body) -> Result<(), TooLong> {
        let mut packet = self.packet(id, operation);
        body.put_into(&mut packet);
        packet.finish()
    }

    /// Appends a packet that was received or made elsewhere, without a copy if its body is large.
    ///
    /// # Errors
    /// Like [`push`](Self::push).
    #[inline]
    pub fn forward(&mut self, packet: &Packet) -> Result<(), TooLong> {
        self.push(packet.id, packet.operation, &packet.body)
    }

    /// Begins a packet whose body is written in place.
    ///
    /// Dropping the packet without [`PacketWriter::finish`] leaves the outbox as it was.
    #[inline(always)]
    pub fn packet(&mut self, id: PacketId, operation: Operation) -> PacketWriter<'_> {
        let bulk_start = self.bulk.len();
        let body = self.begin(id, operation);
        PacketWriter { outbox: self, body, bulk_start, is_joining: false }
    }

    /// Appends a header. Returns the position of the body after it.
    #[inline(always)]
    fn begin(&mut self, id: PacketId, operation: Operation) -> usize {
        let header = Header { id, operation, length: 0 }.encode(self.form);
        // Of a length that the compiler knows, so that no function is called.
        self.buffer.extend_from_slice(&header);
        if self.form == HeaderForm::Old {
            self.buffer.truncate(self.buffer.len().saturating_sub(2));
        }
        self.buffer.len()
    }

    /// Appends all pending bytes of `other`. The buffers are swapped where possible.
    pub fn append(&mut self, other: &mut Self) {
        // Messages that join a packet must not follow another one.
        (self.tail, other.tail) = (LastPacket::default(), LastPacket::default());
        if self.is_empty() {
            std::mem::swap(&mut self.buffer, &mut other.buffer);
            std::mem::swap(&mut self.bulk, &mut other.bulk);
            self.written = std::mem::take(&mut other.written);
            self.bulk_len = std::mem::take(&mut other.bulk_len);
            other.buffer.clear();
        } else {
            self.append_copy(other);
        }
    }

    /// Like [`append`](Self::append), but does not swap the buffers.
    fn append_copy(&mut self, other: &mut Self) {
        (self.tail, other.tail) = (LastPacket::default(), LastPacket::default());
        let shift = self.buffer.len().wrapping_sub(other.written);
        self.buffer.extend_from_slice(other.buffer.get(other.written..).unwrap_or_default());
        if !other.bulk.is_empty() {
            let moved = other.bulk.drain(..).map(|(at, bytes)| (at.wrapping_add(shift), bytes));
            self.bulk.extend(moved);
        }
        self.bulk_len = self.bulk_len.saturating_add(std::mem::take(&mut other.bulk_len));
        other.reset();
    }

    /// Prepares the bytes that wait for being appended to many outboxes with [`extend_from`](Self::extend_from): if
    /// they are many and one piece, they become shared memory of exactly their length. Otherwise nothing changes.
    pub fn share(&mut self) {
        let Some(unsent) = self.contiguous().filter(|unsent| unsent.len() >= SHARE_MIN) else { return };
        let shared = Bytes::copy_from_slice(unsent);
        self.tail = LastPacket::default();
        self.buffer.clear();
        self.written = 0;
        self.bulk_len = shared.len();
        self.bulk.push_back((0, shared));
    }

    /// Appends the bytes that wait in `other`, and leaves them there: one encoding for many connections. Bytes are
    /// copied only if neither [`share`](Self::share) nor their length has made them shared.
    ///
    /// ```
    /// use frisbee_core::{HeaderForm, Operation, Outbox, PacketId};
    ///
    /// let mut news = Outbox::new(HeaderForm::Current);
    /// news.push(PacketId(1), Operation::FIRST_USER, vec![7; 10_000])?;
    /// news.share();
    /// // Each holds a reference to the same 10 kB.
    /// let mut subscribers = [news.new_like(), news.new_like()];
    /// for subscriber in &mut subscribers {
    ///     subscriber.extend_from(&news);
    ///     assert_eq!(subscriber.shared_len(), news.len());
    /// }
    /// # Ok::<(), frisbee_core::TooLong>(())
    /// ```
    ///
    /// The packets are taken as they are. It is up to the caller that both have the same form of header, and that no
    /// body exceeds the [`limit`](Self::limit) of this outbox.
    pub fn extend_from(&mut self, other: &Self) {
        debug_assert_eq!(self.form, other.form, "packets are appended as they are");
        // Messages that join a packet must not follow another one.
        self.tail = LastPacket::default();
        let shift = self.buffer.len().wrapping_sub(other.written);
        self.buffer.extend_from_slice(other.buffer.get(other.written..).unwrap_or_default());
        if !other.bulk.is_empty() {
            self.bulk.extend(other.bulk.iter().map(|(at, bytes)| (at.wrapping_add(shift), bytes.clone())));
        }
        self.bulk_len = self.bulk_len.saturating_add(other.bulk_len);
    }

    /// Fills `slices` with up to `most` pending bytes in order and returns the number of slices filled.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>], mut most: usize) -> usize {
        let mut from = self.written;
        let mut filled = 0_usize;
        let mut free = slices.iter_mut();
        let mut fill = |part: &'a [u8]| {
            if part.is_empty() {
                return true;
            }
            let part = part.get(..most).unwrap_or(part);
            most = most.saturating_sub(part.len());
            let Some(slot) = free.next().filter(|_| !part.is_empty()) else { return false };
            *slot = IoSlice::new(part);
            filled = filled.saturating_add(1);
            true
        };
        for (at, bytes) in &*self.bulk {
            if !fill(self.buffer.get(from..*at).unwrap_or_default()) || !fill(bytes) {
                return filled;
            }
            from = *at;
        }
        fill(self.buffer.get(from..).unwrap_or_default());
        filled
    }

    /// Returns the pending bytes if they are contiguous.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bulk.is_empty() { self.buffer.get(self.written..) } else { None }
    }

    /// Records that the first `count` bytes were written.
    ///
    /// # Panics
    /// If `count` exceeds the number of pending bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        // Usually there is no large body, and one write takes all.
        if self.bulk.is_empty() && self.written.checked_add(count) == Some(self.buffer.len()) {
            self.reset();
        } else {
            self.advance_in_part(count);
            // Written bytes must not accumulate before pending ones, because an outbox may never become empty.
            if self.written >= KEEP_CAPACITY && self.written >= self.buffer.len() / 2 {
                self.drop_written();
            }
        }
    }

    #[cold]
    fn drop_written(&mut self) {
        self.tail = LastPacket::default();
        self.buffer.drain(..self.written);
        if !self.bulk.is_empty() {
            self.bulk.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(self.written));
        }
        self.written = 0;
    }

    fn advance_in_part(&mut self, mut count: usize) {
        self.tail = LastPacket::default(); // Its header may have been written.
        assert!(count <= self.len(), "{count} bytes written of {}", self.len());
        while let Some((at, bytes)) = self.bulk.front_mut() {
            let before = at.saturating_sub(self.written).min(count);
            self.written = self.written.saturating_add(before);
            count = count.saturating_sub(before);
            let of_bulk = bytes.len().min(count);
            if count == 0 || self.written < *at {
                return;
            }
            bytes.advance(of_bulk);
            self.bulk_len = self.bulk_len.saturating_sub(of_bulk);
            count = count.saturating_sub(of_bulk);
            if !bytes.is_empty() {
                return;
            }
            self.bulk.pop_front();
        }
        self.written = self.written.saturating_add(count);
        if self.written == self.buffer.len() {
            self.reset();
        }
    }

    /// Takes all bytes as one buffer. For tests and for peers that are not sockets.
    pub fn take_bytes(&mut self) -> Bytes {
        let mut all = Vec::with_capacity(self.len());
        let mut slices = vec![IoSlice::new(&[]); self.bulk.len().saturating_mul(2).saturating_add(1)];
        let filled = self.slices(&mut slices, usize::MAX);
        for slice in slices.iter().take(filled) {
            all.extend_from_slice(slice);
        }
        self.reset();
        all.into()
    }

    /// Releases the memory of an outbox that is empty and is expected to stay so.
    pub fn release(&mut self) {
        if self.is_empty() {
            self.tail = LastPacket::default();
            self.buffer = Vec::new();
            self.bulk = LargeBodies(None);
            self.written = 0;
        }
    }

    #[inline]
    fn reset(&mut self) {
        self.tail = LastPacket::default();
        self.buffer.clear();
        self.written = 0;
        if !self.bulk.is_empty() {
            self.bulk.clear();
            self.bulk_len = 0;
        }
        if self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer.shrink_to(KEEP_CAPACITY);
        }
    }
}

/// As [`Outbox::new`] with the current form of headers.
impl Default for Outbox {
    fn default() -> Self {
        Self::new(HeaderForm::default())
    }
}

/// A packet under construction at the end of an [`Outbox`].
#[derive(Debug)]
#[must_use = "a packet that is dropped unfinished is removed from the outbox"]
pub struct PacketWriter<'a> {
    outbox: &'a mut Outbox,
    /// Where the body begins in the buffer, after the header.
    body: usize,
    bulk_start: usize,
    /// It is a message that joins a packet, with one byte for its length in front of it.
    is_joining: bool,
}

impl PacketWriter<'_> {
    /// Appends bytes to the body, copying them.
    #[inline]
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.outbox.buffer.extend_from_slice(bytes);
    }

    /// Appends bytes to the body, copying them only if they are few.
    #[inline(always)]
    pub fn put_shared(&mut self, bytes: &Bytes) {
        if bytes.len() < GATHER_MIN {
            self.outbox.buffer.extend_from_slice(bytes);
        } else {
            self.outbox.bulk.push_back((self.outbox.buffer.len(), bytes.clone()));
        }
    }

    /// Appends bytes to the body, copying them only if they are few, and moving them otherwise.
    #[inline]
    pub fn put_owned(&mut self, bytes: impl AsRef<[u8]> + Into<Bytes>) {
        if bytes.as_ref().len() < GATHER_MIN {
            self.outbox.buffer.extend_from_slice(bytes.as_ref());
        } else {
            self.outbox.bulk.push_back((self.outbox.buffer.len(), bytes.into()));
        }
    }

    /// How long the body may be, in bytes.
    #[allow(clippy::misnamed_getters)] // The limit at present.
    #[inline]
    pub fn limit(&self) -> u32 {
        self.outbox.room
    }

    /// The buffer to append the body to, for encoders. Bytes that it contains already must stay.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.outbox.buffer
    }

    /// A second writer of this packet, for another function to finish or drop. The caller must
    /// [forget](std::mem::forget) its own. Passing a copy instead of the writer itself lets the compiler keep it in
    /// registers.
    #[inline(always)]
    pub fn continued(&mut self) -> PacketWriter<'_> {
        let Self { body, bulk_start, is_joining, .. } = *self;
        PacketWriter { outbox: self.outbox, body, bulk_start, is_joining }
    }

    /// Puts a part of the body at position `at` of the [`buffer`](Self::buffer) without copying it. Positions must not
    /// descend from call to call.
    pub fn gather(&mut self, at: usize, bytes: Bytes) {
        // An outbox with an empty part would never be done.
        if !bytes.is_empty() {
            self.outbox.bulk.push_back((at, bytes));
        }
    }

    /// Completes the packet: fills in its length.
    ///
    /// # Errors
    /// If the body is longer than the limit; the packet is taken back then.
    #[inline(always)]
    pub fn finish(self) -> Result<(), TooLong> {
        // The buffer has only grown since the header.
        let mut length = self.outbox.buffer.len().wrapping_sub(self.body);
        if self.is_joining && length < SHORT_MAX && self.outbox.bulk.len() == self.bulk_start {
            std::mem::forget(self);
            return Ok(());
        }
        let mut shared = 0_usize;
        if self.outbox.bulk.len() > self.bulk_start {
            shared = self.outbox.bulk.iter().skip(self.bulk_start).map(|(_, bytes)| bytes.len()).sum();
            length = length.saturating_add(shared);
        }
        let limit = self.outbox.room;
        if length > limit as usize {
            return Err(TooLong { length, limit });
        }
        if !self.is_joining
            && let Some((header, _)) = self.outbox.buffer.split_at_mut_checked(self.body)
            && let Some(field) = header.last_chunk_mut()
        {
            *field = (length as u32).to_be_bytes(); // Within the limit.
        }
        if shared > 0 {
            self.outbox.bulk_len = self.outbox.bulk_len.saturating_add(shared);
        }
        std::mem::forget(self); // It owns nothing; dropping it would take the packet back.
        Ok(())
    }
}

impl Drop for PacketWriter<'_> {
    #[inline(always)] // With a reference to the writer, it would have to stand in memory.
    fn drop(&mut self) {
        take_back(self.outbox, self.body, self.bulk_start, self.is_joining);
    }
}

/// Removes a packet that has not been completed.
#[cold]
#[inline(never)]
fn take_back(outbox: &mut Outbox, body: usize, bulk_start: usize, is_joining: bool) {
    let head = if is_joining { 1 } else { outbox.form.size() };
    outbox.buffer.truncate(body.saturating_sub(head));
    outbox.bulk.truncate(bulk_start);
}

/// A body is too long to be sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// The length of the body, in bytes.
    pub length: usize,
    /// The longest body to send, in bytes: the lower `body_max` of the two ends, or less while a server is short of
    /// memory.
    pub limit: u32,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { length, limit } = self;
        write!(
            f,
            "body of {length} bytes exceeds the limit of {limit}, the lower body_max of the two ends, or less while \
             the server is short of memory"
        )
    }
}

impl std::error::Error for TooLong {}

#[cfg(test)]
mod tests;
