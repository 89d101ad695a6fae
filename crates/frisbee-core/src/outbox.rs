//! Encoding of packets, and the buffer of bytes that a connection must write.

mod batch;
mod fragments;

pub use self::batch::MessageBatch;
use self::batch::{LastPacket, SHORT_MAX};
use self::fragments::{Fragments, Position, WHOLE_MAX};
use crate::{Body, Header, HeaderForm, Operation, Packet, PacketId};
use bytes::{Buf, Bytes};
use std::collections::VecDeque;
use std::fmt;
use std::io::IoSlice;
use std::ops::{Deref, DerefMut};

/// Minimum size in bytes of a body that is queued by reference instead of copied. Smaller bodies are copied, because
/// that is cheaper than reference counting and another slice in the system call.
const GATHER_MIN: usize = 16 * 1024;

/// Minimum size in bytes of encoded packets that are shared between connections. Smaller ones are copied, because that
/// is cheaper than reference counting and another slice in the system call.
const SHARE_MIN: usize = 4 * 1024;

/// Maximum capacity in bytes that an empty outbox keeps. Larger buffers are freed after a burst.
const KEEP_CAPACITY: usize = 256 * 1024;

/// Buffer of encoded packets in the order of sending.
///
/// Small bodies are copied into one buffer, so that many packets are sent in a single write. Large bodies are kept as
/// shared [`Bytes`] and gathered by [`slices`](Self::slices) without copying.
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
    /// Maximum body size that the peer accepts, in bytes. Larger bodies are rejected when they are queued.
    limit: u32,
    /// Current maximum body size in bytes: the peer's limit, or less while memory is short.
    room: u32,
    /// Lower of `room` and [`WHOLE_MAX`], so that one comparison finds bodies that are too long or may be divided.
    short_max: u32,
    /// Headers and small bodies. The first `written` bytes of the buffer have already been written to the socket.
    buffer: Vec<u8>,
    written: usize,
    /// Large bodies, which are sent without a copy, each with the offset in `buffer` at which it is inserted. Offsets
    /// ascend and are never below `written`.
    bulk: LargeBodies,
    /// Number of pending bytes in large bodies, including those of long packets in [`Fragments`].
    bulk_len: usize,
    /// Number of channels that the peer accepts fragments on.
    channels: u8,
    /// Last packet of the outbox. Messages of the same stream may be added to it.
    tail: LastPacket,
}

/// Large bodies of an [`Outbox`], which are sent without a copy. Allocated on first use, because most outboxes have
/// none.
#[derive(Debug)]
struct LargeBodies(Option<Box<Bodies>>);

#[derive(Debug, Default)]
struct Bodies {
    queue: VecDeque<(usize, Bytes)>,
    /// Position from which [`Outbox::stage`] must examine the packets: the first long packet, or the first new one
    /// while long packets are pending.
    unexamined: Option<Position>,
    /// Long packets that are sent in fragments.
    fragments: Option<Box<Fragments>>,
}

impl LargeBodies {
    #[inline]
    fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |bodies| bodies.queue.len())
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn fragments(&self) -> Option<&Fragments> {
        self.0.as_ref()?.fragments.as_deref()
    }

    fn take_fragments(&mut self) -> Option<Box<Fragments>> {
        self.0.as_mut()?.fragments.take()
    }

    fn put_fragments(&mut self, fragments: Box<Fragments>) {
        self.0.get_or_insert_default().fragments = Some(fragments);
    }

    /// Returns whether there are neither large bodies nor long packets.
    #[inline]
    fn is_unused(&self) -> bool {
        self.0.as_ref().is_none_or(|bodies| bodies.queue.is_empty() && bodies.unexamined.is_none())
    }
}

impl Deref for LargeBodies {
    type Target = VecDeque<(usize, Bytes)>;

    fn deref(&self) -> &Self::Target {
        static NONE: VecDeque<(usize, Bytes)> = VecDeque::new();
        self.0.as_ref().map_or(&NONE, |bodies| &bodies.queue)
    }
}

impl DerefMut for LargeBodies {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0.get_or_insert_default().queue
    }
}

impl Outbox {
    /// Creates an empty outbox for headers in this format and bodies of up to [`BODY_MAX`](crate::BODY_MAX).
    pub fn new(form: HeaderForm) -> Self {
        Self {
            form,
            limit: crate::BODY_MAX,
            room: crate::BODY_MAX,
            short_max: WHOLE_MAX as u32,
            buffer: Vec::new(),
            written: 0,
            bulk: LargeBodies(None),
            bulk_len: 0,
            channels: 0,
            tail: LastPacket::default(),
        }
    }

    /// Creates an empty outbox with the header format and limits of this one.
    pub fn new_like(&self) -> Self {
        Self { limit: self.limit, room: self.room, short_max: self.short_max, ..Self::new(self.form) }
    }

    /// Sets the maximum body size that the peer accepts, in bytes. A lower limit of available memory remains in effect.
    pub fn set_limit(&mut self, limit: u32) {
        let room = if self.room < self.limit { self.room.min(limit) } else { limit };
        self.limit = limit;
        self.replace_room(room);
    }

    fn replace_room(&mut self, room: u32) -> u32 {
        self.short_max = room.min(WHOLE_MAX as u32);
        std::mem::replace(&mut self.room, room)
    }

    /// Limits the size of later bodies to `room` bytes of available memory, in addition to the peer's limit. `None`
    /// removes this limit.
    pub fn set_room(&mut self, room: Option<usize>) {
        let room = room.and_then(|room| u32::try_from(room).ok());
        self.replace_room(room.map_or(self.limit, |room| room.min(self.limit)));
        if (self.room as usize) < SHORT_MAX {
            self.tail = LastPacket::default(); // Messages that are added to a batch are not checked against the limit.
        }
    }

    /// Returns the memory of the pending packets in bytes. Memory that is shared with other owners counts in full.
    #[inline]
    pub fn memory(&self) -> usize {
        self.buffer.capacity().wrapping_add(self.bulk_len) // Each term is at most half of the address space.
    }

    /// Returns the maximum body size that the peer accepts, in bytes.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the current maximum body size in bytes, which may be below the [limit](Self::limit).
    pub(crate) fn room(&self) -> u32 {
        self.room
    }

    /// Calls `write` with `room` as the maximum body size, and restores the previous maximum afterwards.
    pub(crate) fn with_room<T>(&mut self, room: u32, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.replace_room(room);
        let written = write(self);
        self.replace_room(before);
        written
    }

    /// Sets the header format of packets appended later.
    pub fn set_form(&mut self, form: HeaderForm) {
        self.form = form;
    }

    /// Returns the size of a packet header in bytes.
    #[inline]
    pub fn header_size(&self) -> usize {
        self.form.size()
    }

    /// Returns the number of bytes that wait to be written.
    #[inline]
    pub fn len(&self) -> usize {
        // The sum cannot wrap: `written` is at most the buffer length, and both parts are in memory.
        self.buffer.len().wrapping_sub(self.written).wrapping_add(self.bulk_len)
    }

    /// Returns the number of pending bytes in large bodies. Their memory may be shared with other owners.
    #[inline]
    pub fn shared_len(&self) -> usize {
        self.bulk_len
    }

    /// Replaces each large body with the result of `map`, which must return equal bytes.
    pub fn map_shared(&mut self, mut map: impl FnMut(Bytes) -> Bytes) {
        for (_, bytes) in &mut *self.bulk {
            let length = bytes.len();
            *bytes = map(std::mem::take(bytes));
            debug_assert_eq!(bytes.len(), length, "length of the bytes should be as announced");
        }
    }

    /// Returns whether no bytes wait to be written.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.written == self.buffer.len() && self.bulk_len == 0
    }

    /// Appends a packet. Small bodies are copied. Large bodies are shared or moved; see [`Body`].
    ///
    /// # Errors
    /// If the body exceeds the current maximum size. The outbox then remains unchanged.
    #[inline]
    pub fn push(&mut self, id: PacketId, operation: Operation, body: impl Body) -> Result<(), TooLong> {
        let mut packet = self.packet(id, operation);
        body.put_into(&mut packet);
        packet.finish()
    }

    /// Appends a received packet. A large body is shared instead of copied.
    ///
    /// # Errors
    /// If the body exceeds the current maximum size.
    #[inline]
    pub fn forward(&mut self, packet: &Packet) -> Result<(), TooLong> {
        self.push(packet.id, packet.operation, &packet.body)
    }

    /// Starts a packet. Its body is written directly into the outbox.
    ///
    /// The packet must be completed by [`PacketWriter::finish`]. Dropping the writer removes the packet.
    #[inline(always)]
    pub fn packet(&mut self, id: PacketId, operation: Operation) -> PacketWriter<'_> {
        let bulk_start = self.bulk.len();
        let body = self.begin(id, operation);
        PacketWriter { outbox: self, body, bulk_start, is_joining: false }
    }

    /// Appends a header without the length, which is not known yet. Returns the offset of the body in the buffer.
    #[inline(always)]
    fn begin(&mut self, id: PacketId, operation: Operation) -> usize {
        let header = Header { id, operation, length: 0 }.encode(self.form);
        // Copy the maximum header size, because the compiler inlines a copy of fixed length.
        self.buffer.extend_from_slice(&header);
        if self.form == HeaderForm::Old {
            self.buffer.truncate(self.buffer.len().saturating_sub(2));
        }
        self.buffer.len()
    }

    /// Moves all pending bytes of `other` to the end of this outbox. If this outbox is empty, swaps the buffers instead
    /// of copying.
    pub fn append(&mut self, other: &mut Self) {
        // Reset both tails, because messages must not be added to a packet that is no longer the last one.
        (self.tail, other.tail) = (LastPacket::default(), LastPacket::default());
        if self.is_empty() {
            std::mem::swap(&mut self.buffer, &mut other.buffer);
            // The fragments stay, because they record which operations have had long packets.
            let fragments = self.bulk.take_fragments();
            std::mem::swap(&mut self.bulk, &mut other.bulk);
            if let Some(fragments) = fragments {
                self.bulk.put_fragments(fragments);
            }
            self.written = std::mem::take(&mut other.written);
            self.bulk_len = std::mem::take(&mut other.bulk_len);
            other.buffer.clear();
        } else {
            self.append_copy(other);
        }
    }

    /// Like [`append`](Self::append), but always copies, so that each outbox keeps its buffer.
    fn append_copy(&mut self, other: &mut Self) {
        (self.tail, other.tail) = (LastPacket::default(), LastPacket::default());
        // `shift` may be negative, so the offsets wrap around.
        let shift = self.buffer.len().wrapping_sub(other.written);
        self.buffer.extend_from_slice(other.buffer.get(other.written..).unwrap_or_default());
        if let Some(bodies) = &mut other.bulk.0 {
            if let Some(Position { at, bulk }) = bodies.unexamined.take() {
                self.examine_from(Position { at: at.wrapping_add(shift), bulk: bulk.saturating_add(self.bulk.len()) });
            }
            self.bulk.extend(bodies.queue.drain(..).map(|(at, bytes)| (at.wrapping_add(shift), bytes)));
        }
        self.bulk_len = self.bulk_len.saturating_add(std::mem::take(&mut other.bulk_len));
        other.reset();
    }

    /// Prepares the pending bytes to be appended to many outboxes by [`extend_from`](Self::extend_from). Large
    /// contiguous bytes are moved to shared memory of exactly their length.
    pub fn share(&mut self) {
        let Some(unsent) = self.contiguous().filter(|unsent| unsent.len() >= SHARE_MIN) else { return };
        let shared = Bytes::copy_from_slice(unsent);
        self.buffer.clear();
        self.written = 0;
        self.bulk_len = shared.len();
        self.bulk.push_back((0, shared));
        self.skip_examined();
    }

    /// Appends the pending bytes of `other` without removing them, so that packets for many connections are encoded
    /// only once. Bytes are copied unless they are in shared memory, because of a large body or due to
    /// [`share`](Self::share).
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
    /// Packets are appended unchanged. The caller must ensure that both outboxes have the same header format and that
    /// no body exceeds the [`limit`](Self::limit) of this outbox.
    pub fn extend_from(&mut self, other: &Self) {
        debug_assert_eq!(self.form, other.form, "both outboxes should have the same header format");
        // Reset the tail, because messages must not be added to a packet that is no longer the last one.
        self.tail = LastPacket::default();
        let shift = self.buffer.len().wrapping_sub(other.written);
        self.buffer.extend_from_slice(other.buffer.get(other.written..).unwrap_or_default());
        if !other.bulk.is_empty() {
            self.bulk.extend(other.bulk.iter().map(|(at, bytes)| (at.wrapping_add(shift), bytes.clone())));
        }
        self.bulk_len = self.bulk_len.saturating_add(other.bulk_len);
    }

    /// Fills `slices` with up to `most` pending bytes in sending order. Returns the number of slices filled.
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

    /// Returns the pending bytes as one slice, or `None` if large bodies or packets to be [staged](Self::stage) are
    /// pending.
    #[inline]
    pub fn contiguous(&self) -> Option<&[u8]> {
        if self.bulk.is_unused() { self.buffer.get(self.written..) } else { None }
    }

    /// Removes the first `count` pending bytes, which have been written. Takes back completely unwritten
    /// [staged](Self::stage) fragments. `count` is 0 if the write was blocked.
    ///
    /// # Panics
    /// If `count` exceeds the number of pending bytes.
    #[inline]
    pub fn advance(&mut self, count: usize) {
        // Fast path: a single write has accepted all bytes.
        if self.bulk.is_unused() && self.written.checked_add(count) == Some(self.buffer.len()) {
            self.reset();
        } else {
            self.advance_in_part(count);
            if let Some(mut fragments) = self.bulk.take_fragments() {
                fragments.settle(self, count);
                self.bulk.put_fragments(fragments);
            }
            // Compact the buffer now, because the outbox of a busy connection may never become empty.
            if self.written >= KEEP_CAPACITY && self.written >= self.buffer.len() / 2 {
                self.drop_written();
            }
            self.skip_examined();
        }
    }

    #[cold]
    fn drop_written(&mut self) {
        self.buffer.drain(..self.written);
        if !self.bulk.is_empty() {
            self.bulk.iter_mut().for_each(|(at, _)| *at = at.saturating_sub(self.written));
        }
        self.written = 0;
    }

    fn advance_in_part(&mut self, mut count: usize) {
        assert!(count <= self.len(), "{count} bytes were written of {} queued bytes", self.len());
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

    /// Removes and returns all pending bytes as one buffer. For tests and in-memory transports, which send all packets
    /// whole.
    pub fn take_bytes(&mut self) -> Bytes {
        let mut all = Vec::with_capacity(self.len());
        let mut slices = vec![IoSlice::new(&[]); self.bulk.len().saturating_mul(2).saturating_add(1)];
        let filled = self.slices(&mut slices, usize::MAX);
        for slice in slices.iter().take(filled) {
            all.extend_from_slice(slice);
        }
        self.bulk = LargeBodies(None);
        self.bulk_len = 0;
        self.reset();
        all.into()
    }

    /// Frees the buffers of an empty outbox when its connection is idle.
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
        if self.buffer.capacity() > KEEP_CAPACITY {
            self.buffer.shrink_to(KEEP_CAPACITY);
        }
    }
}

/// Creates an empty outbox for headers in the current format.
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
    /// Offset in the buffer at which the packet's body starts, after the header.
    body: usize,
    /// Number of large bodies that the outbox contained before this packet was started. Later ones belong to the
    /// packet.
    bulk_start: usize,
    /// Whether the packet is a message that joins the last batch. The byte before the message is reserved for its
    /// length.
    is_joining: bool,
}

impl PacketWriter<'_> {
    /// Appends a copy of `bytes` to the packet's body.
    #[inline]
    pub fn put_slice(&mut self, bytes: &[u8]) {
        self.outbox.buffer.extend_from_slice(bytes);
    }

    /// Appends `bytes` to the packet's body. Short slices are copied, and long ones are shared.
    #[inline(always)]
    pub fn put_shared(&mut self, bytes: &Bytes) {
        if bytes.len() < GATHER_MIN {
            self.outbox.buffer.extend_from_slice(bytes);
        } else {
            self.outbox.bulk.push_back((self.outbox.buffer.len(), bytes.clone()));
        }
    }

    /// Appends `bytes` to the packet's body. Short buffers are copied, and long ones are moved.
    #[inline]
    pub fn put_owned(&mut self, bytes: impl AsRef<[u8]> + Into<Bytes>) {
        if bytes.as_ref().len() < GATHER_MIN {
            self.outbox.buffer.extend_from_slice(bytes.as_ref());
        } else {
            self.outbox.bulk.push_back((self.outbox.buffer.len(), bytes.into()));
        }
    }

    /// Returns the maximum size of the packet's body in bytes.
    #[allow(clippy::misnamed_getters)] // Returns the current limit.
    #[inline]
    pub fn limit(&self) -> u32 {
        self.outbox.room
    }

    /// Returns the buffer that encoders append the body to. Bytes already in the buffer must not be changed.
    #[inline]
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.outbox.buffer
    }

    /// Returns a second writer for this packet, for a function that finishes or drops it. The caller must
    /// [forget](std::mem::forget) this writer. The compiler can keep such a copy in registers, unlike a reference to
    /// the writer.
    #[inline(always)]
    pub fn continued(&mut self) -> PacketWriter<'_> {
        let Self { body, bulk_start, is_joining, .. } = *self;
        PacketWriter { outbox: self.outbox, body, bulk_start, is_joining }
    }

    /// Inserts `bytes` into the body at offset `at` of the [`buffer`](Self::buffer) without copying them. Offsets must
    /// not decrease between calls.
    pub fn gather(&mut self, at: usize, bytes: Bytes) {
        // Omit an empty part, because an outbox with one would never count as written.
        if !bytes.is_empty() {
            self.outbox.bulk.push_back((at, bytes));
        }
    }

    /// Completes the packet by writing the body length into its header.
    ///
    /// # Errors
    /// If the body exceeds the limit. The packet is then removed.
    #[inline(always)]
    pub fn finish(self) -> Result<(), TooLong> {
        // The difference cannot wrap, because the buffer has only grown since the header was written.
        let mut length = self.outbox.buffer.len().wrapping_sub(self.body);
        if self.is_joining && length < SHORT_MAX && self.outbox.bulk.len() == self.bulk_start {
            self.outbox.end_short(self.body, length);
            std::mem::forget(self);
            return Ok(());
        }
        let mut shared = 0_usize;
        if self.outbox.bulk.len() > self.bulk_start {
            shared = self.outbox.bulk.iter().skip(self.bulk_start).map(|(_, bytes)| bytes.len()).sum();
            length = length.saturating_add(shared);
        }
        if length > self.outbox.short_max as usize {
            check_long(self.outbox, length, self.body, self.bulk_start, self.is_joining)?;
        }
        if !self.is_joining
            && let Some((header, _)) = self.outbox.buffer.split_at_mut_checked(self.body)
            && let Some(field) = header.last_chunk_mut()
        {
            *field = (length as u32).to_be_bytes(); // The length is within the limit.
        }
        if shared > 0 {
            self.outbox.bulk_len = self.outbox.bulk_len.saturating_add(shared);
        }
        std::mem::forget(self); // Nothing to free; dropping it would remove the packet.
        Ok(())
    }
}

impl Drop for PacketWriter<'_> {
    #[inline(always)] // A reference would force the writer into memory.
    fn drop(&mut self) {
        take_back(self.outbox, self.body, self.bulk_start, self.is_joining);
    }
}

/// Checks the length of a body that may exceed the limit, and records that it may be sent in fragments.
#[cold]
#[inline(never)]
fn check_long(outbox: &mut Outbox, length: usize, body: usize, bulk: usize, is_joining: bool) -> Result<(), TooLong> {
    let limit = outbox.room;
    if length > limit as usize {
        return Err(TooLong { length, limit });
    }
    let head = if is_joining { 1 } else { outbox.form.size() };
    outbox.examine_from(Position { at: body.saturating_sub(head), bulk });
    Ok(())
}

/// Removes an unfinished packet from the outbox.
#[cold]
#[inline(never)]
fn take_back(outbox: &mut Outbox, body: usize, bulk_start: usize, is_joining: bool) {
    let head = if is_joining { 1 } else { outbox.form.size() };
    outbox.buffer.truncate(body.saturating_sub(head));
    outbox.bulk.truncate(bulk_start);
}

/// Error returned when a body exceeds the maximum size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// Length of the rejected body in bytes.
    pub length: usize,
    /// Maximum body size in bytes: the lower `body_max` of the two ends, or less while a server is short of memory.
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
