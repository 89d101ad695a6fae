//! Batching of a stream's short messages into one packet. When a second message is appended directly after the first,
//! it joins the packet of the first, which becomes an [`Operation::BATCH`]. Pending packets are complete at any time: a
//! single message is sent unchanged and never waits for others.
//!
//! # Decisions
//!
//! The receiver charges and copies a batch as a whole, with a single lock acquisition and wake-up. Its reader takes all
//! received messages at once and decodes each in place.

use super::{Outbox, PacketWriter};
use crate::{Header, Operation, PacketId};

/// Minimum size in bytes of a message that gets a separate packet, because the overhead of its header is negligible.
const ALONE_MIN: usize = 4 * 1024;

/// Maximum body size of a batch in bytes: about half of the peer's read size, so that a batch usually arrives in a
/// single read.
const BATCH_MAX: u32 = 32 * 1024;

/// Minimum message length that takes more than one byte to encode.
pub(super) const SHORT_MAX: usize = 0x80;

/// Maximum number of bytes that a short message adds to a batch, including two bytes for the length of the first
/// message.
const SHORT_ROOM: u32 = SHORT_MAX as u32 + 2;

/// The last packet of an outbox, if messages may be added to it. Stored compactly, because each connection has several
/// outboxes.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastPacket {
    id: PacketId,
    is_batch: bool,
    /// Offset in the buffer at which the packet's body starts.
    body: u32,
    /// Offset in the buffer at which the packet ends. Equal to the end of the buffer unless another packet follows.
    end: u32,
    /// Maximum value of `end` at which another short message fits into the batch.
    end_max: u32,
}

impl Default for LastPacket {
    /// Creates a value for an outbox with a last packet that accepts no messages.
    fn default() -> Self {
        Self { id: PacketId(0), is_batch: false, body: 0, end: u32::MAX, end_max: 0 }
    }
}

/// A message that is being appended to a packet of the outbox; see the fields of [`PacketWriter`].
struct OpenMessage {
    body: usize,
    bulk_start: usize,
    is_joining: bool,
}

impl LastPacket {
    /// Returns whether a message of stream `id` may be added to the packet. `end` is the end of the buffer.
    #[inline(always)]
    fn takes(&self, id: PacketId, end: usize) -> bool {
        self.end as usize == end && self.id == id && self.end <= self.end_max
    }
}

impl Outbox {
    /// Appends one message of stream `id`, which `write` encodes in place. If `joins` is set, consecutive short
    /// messages of a stream are sent in one packet. The peer must [support batches](crate::Hello::batches) then.
    /// Returns the result of `write`, and the length of the message if it was completed.
    ///
    /// ```
    /// use frisbee_core::{HeaderForm, Outbox, PacketId};
    ///
    /// let mut outbox = Outbox::new(HeaderForm::Current);
    /// for text in ["hi", "", "!"] {
    ///     let (sent, length) = outbox.message(PacketId(5), true, |mut packet| {
    ///         packet.put_slice(text.as_bytes());
    ///         packet.finish()
    ///     });
    ///     assert_eq!((sent, length), (Ok(()), Some(text.len())));
    /// }
    /// assert_eq!(outbox.take_bytes(), [0, 15, 0, 5, 0, 9, 0, 0, 0, 6, 2, b'h', b'i', 0, 1, b'!'][..]);
    /// ```
    #[inline(always)] // Hot path, like `packet`.
    pub fn message<T>(
        &mut self,
        id: PacketId,
        joins: bool,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> (T, Option<usize>) {
        let is_joining = self.tail.is_batch && self.tail.takes(id, self.buffer.len());
        let put = self.put_message(is_joining, id, joins, write);
        self.close_batch();
        put
    }

    /// Like [`message`](Self::message), but does not write the length of the last batch into its header. Pending
    /// packets are complete only after [`close_batch`](Self::close_batch). If `is_joining` is set, the message joins
    /// the last batch.
    #[inline(always)]
    fn put_message<T>(
        &mut self,
        is_joining: bool,
        id: PacketId,
        joins: bool,
        write: impl FnOnce(PacketWriter<'_>) -> T,
    ) -> (T, Option<usize>) {
        let OpenMessage { body, bulk_start, is_joining } =
            if is_joining { self.join() } else { self.begin_message(id) };
        let written = write(PacketWriter { outbox: self, body, bulk_start, is_joining });
        let end = self.buffer.len();
        // See `end_short`. If the writer was dropped, it removed the message, and `end` is below `body`.
        if is_joining && self.tail.end as usize == end && end >= body {
            return (written, Some(end.wrapping_sub(body)));
        }
        (written, self.settle(id, joins, is_joining, (body, bulk_start)))
    }

    /// Starts a message that joins the last batch.
    #[inline(always)]
    fn join(&mut self) -> OpenMessage {
        self.buffer.push(0); // Reserved for the length.
        OpenMessage { body: self.buffer.len(), bulk_start: self.bulk.len(), is_joining: true }
    }

    /// Completes a message of the last batch that starts at `body` and whose `length` is below [`SHORT_MAX`].
    #[inline(always)]
    pub(super) fn end_short(&mut self, body: usize, length: usize) {
        if let Some(prefix) = self.buffer.get_mut(body.wrapping_sub(1)) {
            *prefix = length as u8; // Cannot truncate: the length is below 0x80.
        }
        // Truncated above 4 GiB. The offset is then invalid, so no message is added.
        self.tail.end = self.buffer.len() as u32;
    }

    /// Starts a message that does not join an existing batch. It starts a packet, or turns the last packet into a
    /// batch.
    #[inline(never)] // Slow path: at most two messages of a batch.
    fn begin_message(&mut self, id: PacketId) -> OpenMessage {
        if self.tail.takes(id, self.buffer.len()) && !self.tail.is_batch {
            self.begin_batch();
            return self.join();
        }
        self.close_batch();
        let body = self.begin(id, Operation::STREAM);
        OpenMessage { body, bulk_start: self.bulk.len(), is_joining: false }
    }

    /// Completes a message that was not added on the fast path. Returns its length, or `None` if the message was
    /// removed.
    #[inline(never)]
    fn settle(
        &mut self,
        id: PacketId,
        joins: bool,
        is_joining: bool,
        (body, bulk_start): (usize, usize),
    ) -> Option<usize> {
        let end = self.buffer.len();
        if end < body {
            return None;
        }
        let is_whole = self.bulk.len() == bulk_start;
        let shared = if is_whole { 0 } else { self.bulk.iter().skip(bulk_start).map(|(_, bytes)| bytes.len()).sum() };
        let length = end.wrapping_sub(body).saturating_add(shared);
        let is_short = is_whole && length < ALONE_MIN;
        if is_joining {
            // One byte was reserved for the length, but the message requires two bytes or a packet header.
            let start = body.wrapping_sub(1);
            let written = length.saturating_add(2);
            if is_short && start.saturating_add(written) <= (self.tail.end_max.saturating_add(SHORT_ROOM)) as usize {
                self.open_gap(body, 1);
                if let Some([low, high]) = self.buffer.get_mut(start..body.wrapping_add(1)) {
                    (*low, *high) = (length as u8 | 0x80, (length >> 7) as u8); // The length is below 2^14.
                }
                self.tail.end = self.buffer.len() as u32; // See `put_message`.
                return Some(length);
            }
            self.close_batch();
            let gap = self.form.size().wrapping_sub(1);
            self.open_gap(body, gap);
            self.bulk.iter_mut().skip(bulk_start).for_each(|(at, _)| *at = at.wrapping_add(gap));
            let declared = u32::try_from(length).unwrap_or(u32::MAX); // The writer has checked it against the limit.
            let header = Header { id, operation: Operation::STREAM, length: declared }.encode(self.form);
            if let Some(prefix) = self.buffer.get_mut(start..body.wrapping_add(gap)) {
                prefix.iter_mut().zip(header).for_each(|(prefix, byte)| *prefix = byte);
            }
        }
        self.tail = match u32::try_from(self.buffer.len()) {
            Ok(end) if joins && is_short => {
                let body = end.wrapping_sub(length as u32); // Cannot truncate: the message is short.
                let most = BATCH_MAX.min(self.limit).saturating_sub(SHORT_ROOM);
                LastPacket { id, is_batch: false, body, end, end_max: body.saturating_add(most) }
            }
            _ => LastPacket::default(),
        };
        Some(length)
    }

    /// Converts the last packet, a single message, into a batch so that more messages can be added.
    #[cold]
    fn begin_batch(&mut self) {
        let body = self.tail.body as usize;
        let length = (self.tail.end as usize).wrapping_sub(body); // Below `ALONE_MIN`, hence below 2^14.
        let gap = if length < SHORT_MAX { 1 } else { 2 };
        self.open_gap(body, gap);
        match self.buffer.get_mut(body..body.wrapping_add(gap)) {
            Some([low, high]) => (*low, *high) = (length as u8 | 0x80, (length >> 7) as u8),
            Some([only]) => *only = length as u8,
            _ => {}
        }
        // The operation is followed by four bytes of length in both header forms.
        if let Some(operation) = self.buffer.get_mut(body.wrapping_sub(6)..body.wrapping_sub(4)) {
            operation.copy_from_slice(&Operation::BATCH.number().to_be_bytes());
        }
        self.tail.is_batch = true;
        self.tail.end = self.buffer.len() as u32; // See `put_message`.
        self.close_batch(); // Close the batch now, because the writer of the second message may panic.
    }

    /// Writes the length of the last batch into its header.
    #[inline]
    fn close_batch(&mut self) {
        let LastPacket { is_batch, body, end, .. } = self.tail;
        if is_batch
            && let Some(header) = self.buffer.get_mut(..body as usize)
            && let Some(field) = header.last_chunk_mut()
        {
            *field = end.wrapping_sub(body).to_be_bytes();
        }
    }

    /// Inserts `count` bytes at offset `at` of the buffer.
    fn open_gap(&mut self, at: usize, count: usize) {
        let end = self.buffer.len();
        self.buffer.resize(end.wrapping_add(count), 0);
        self.buffer.copy_within(at..end, at.wrapping_add(count));
    }
}

/// Messages of one stream that are collected before they are moved to an outbox. Headers are completed only once, after
/// the last message, which makes each message cheaper than by [`Outbox::message`].
///
/// ```
/// use frisbee_core::{HeaderForm, MessageBatch, Outbox, PacketId};
///
/// let mut outbox = Outbox::new(HeaderForm::Current);
/// let mut batch = MessageBatch::new(&outbox, PacketId(5), true);
/// for text in ["hi", "", "!"] {
///     let (sent, length) = batch.put(|mut packet| {
///         packet.put_slice(text.as_bytes());
///         packet.finish()
///     });
///     assert_eq!((sent, length), (Ok(()), Some(text.len())));
/// }
/// batch.move_to(&mut outbox);
/// assert!(batch.is_empty());
/// assert_eq!(outbox.take_bytes(), [0, 15, 0, 5, 0, 9, 0, 0, 0, 6, 2, b'h', b'i', 0, 1, b'!'][..]);
/// ```
#[derive(Debug)]
pub struct MessageBatch {
    id: PacketId,
    joins: bool,
    /// The encoded packets. They are complete except for the length of the last batch.
    packets: Outbox,
}

impl MessageBatch {
    /// Creates an empty batch for messages of stream `id`, with the limits of `outbox`. `joins` has the same meaning as
    /// for [`Outbox::message`].
    pub fn new(outbox: &Outbox, id: PacketId, joins: bool) -> Self {
        Self { id, joins, packets: outbox.new_like() }
    }

    /// Reuses the memory of `buffer` for this empty batch.
    pub fn set_buffer(&mut self, mut buffer: Vec<u8>) {
        debug_assert!(self.is_empty(), "the buffer should not replace messages");
        buffer.clear();
        self.packets.buffer = buffer;
    }

    /// Takes the buffer for reuse. Messages that have not been moved to an outbox are lost.
    pub fn take_buffer(&mut self) -> Vec<u8> {
        self.packets.bulk = super::LargeBodies(None);
        self.packets.bulk_len = 0;
        self.packets.reset();
        std::mem::take(&mut self.packets.buffer)
    }

    /// Copies the current size limits of an outbox. They change while a server is short of memory.
    pub fn set_limits_of(&mut self, outbox: &Outbox) {
        let Outbox { limit, room, short_max, .. } = *outbox;
        (self.packets.limit, self.packets.room, self.packets.short_max) = (limit, room, short_max);
    }

    /// Appends one message, which `write` encodes in place. Returns the result of `write`, and the length of the
    /// message if it was completed.
    #[inline(always)] // Hot path, like `message`.
    pub fn put<T>(&mut self, write: impl FnOnce(PacketWriter<'_>) -> T) -> (T, Option<usize>) {
        let Self { id, joins, ref mut packets } = *self;
        // A batch is always the last packet, because no other packets are appended to this outbox.
        debug_assert!(!packets.tail.is_batch || packets.tail.end as usize == packets.buffer.len());
        let is_joining = packets.tail.is_batch && packets.tail.end <= packets.tail.end_max;
        packets.put_message(is_joining, id, joins, write)
    }

    /// Returns the size of the encoded packets in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.packets.len()
    }

    /// Returns whether the batch contains no messages.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the memory of the batch in bytes, including shared bodies.
    pub fn memory(&self) -> usize {
        self.packets.memory()
    }

    /// Moves all messages to an outbox. The messages are copied instead of swapping buffers, because otherwise each
    /// stream would end up with the largest buffer that its connection ever used.
    pub fn move_to(&mut self, outbox: &mut Outbox) {
        self.packets.close_batch();
        outbox.append_copy(&mut self.packets);
        self.packets.bulk = super::LargeBodies(None);
    }
}

#[cfg(test)]
mod tests;
