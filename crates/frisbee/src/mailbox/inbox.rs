//! Queue of a stream's unread messages. The stream and its reader have one queue each. When the reader's queue is
//! empty, the two are swapped, so that the reader locks the stream only once for many messages.

use bytes::Bytes;
use frisbee_core::{Batch, tlv};
use std::collections::VecDeque;

/// Message size in bytes below which messages are copied out of the read buffer. A slice of a few bytes would keep the
/// whole buffer in memory.
pub(crate) const COPY_BELOW: usize = 16 * 1024;

/// Maximum capacity in bytes that an empty inbox keeps for later messages.
const KEEP_CAPACITY: usize = 16 * 1024;

/// Queue of a stream's received messages. Short messages share one buffer, which saves an allocation for each.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    /// Short messages in the format of a batch: each is preceded by its length. The offset `read` is the start of the
    /// unread messages.
    copied: Vec<u8>,
    read: usize,
    /// End offset in `copied` of the messages that [`peek_short`](Self::peek_short) may return without further checks.
    stop: usize,
    /// Long messages, each with the offset in `copied` of the next short message.
    shared: VecDeque<(usize, Bytes)>,
}

/// A message taken from the receive queue of a stream.
#[derive(Debug)]
pub enum Message<'a> {
    /// A short message that is stored in a buffer with other messages.
    Copied(&'a [u8]),
    /// A long message that has its own allocation.
    Shared(Bytes),
}

impl Message<'_> {
    /// Returns the length of the message in bytes.
    pub fn len(&self) -> usize {
        match self {
            Self::Copied(bytes) => bytes.len(),
            Self::Shared(bytes) => bytes.len(),
        }
    }

    /// Returns whether the message is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Converts the message to bytes that do not borrow from the queue.
    pub fn into_bytes(self) -> Bytes {
        match self {
            Self::Copied(bytes) => Bytes::copy_from_slice(bytes),
            Self::Shared(bytes) => bytes,
        }
    }
}

impl Inbox {
    pub(crate) fn push(&mut self, message: Bytes) {
        if message.len() < COPY_BELOW {
            tlv::put_varint(&mut self.copied, message.len() as u64);
            self.copied.extend_from_slice(&message);
        } else {
            self.shared.push_back((self.copied.len(), message));
        }
        // The message may extend the short messages that precede the next long one.
        self.resume();
    }

    /// Appends the messages in the body of a batch. All of them must be short enough to be copied.
    pub(crate) fn push_batch(&mut self, batch: &[u8]) {
        self.copied.extend_from_slice(batch);
        self.resume();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.read == self.copied.len() && self.shared.is_empty()
    }

    /// Returns the next message if it is shorter than 128 bytes and reading is not [paused](Self::pause).
    #[inline(always)] // Called for every message.
    pub(crate) fn peek_short(&self) -> Option<&[u8]> {
        let before = self.copied.get(..self.stop)?;
        let length = *before.get(self.read)?;
        let rest = before.get(self.read + 1..)?;
        if length < 0x80 { rest.get(..usize::from(length)) } else { None }
    }

    /// Consumes the message of `length` bytes that [`peek_short`](Self::peek_short) has returned.
    #[inline(always)]
    pub(crate) fn skip_short(&mut self, length: usize) {
        self.read += 1 + length;
    }

    /// Removes and returns the next message of any length.
    pub(crate) fn pop(&mut self) -> Option<Message<'_>> {
        // A long message is stored with the offset of the short message that follows it, so it comes first.
        if self.shared.front().is_some_and(|(at, _)| *at == self.read) {
            let message = self.shared.pop_front().map(|(_, message)| Message::Shared(message));
            self.resume();
            return message;
        }
        let rest = self.copied.get(self.read..)?;
        let mut batch = Batch::new(rest);
        let message = batch.next()??;
        self.read = self.copied.len() - batch.rest().len();
        Some(Message::Copied(message))
    }

    /// Makes [`peek_short`](Self::peek_short) return `None` until [`resume`](Self::resume) is called.
    pub(crate) fn pause(&mut self) {
        self.stop = self.read;
    }

    /// Permits [`peek_short`](Self::peek_short) to return the short messages before the next long one.
    pub(crate) fn resume(&mut self) {
        self.stop = self.shared.front().map_or(self.copied.len(), |(at, _)| *at);
    }

    /// Takes all messages of `other` by swapping the buffers. This queue must be empty.
    pub(crate) fn take_over(&mut self, other: &mut Self) {
        debug_assert!(self.is_empty(), "transferred messages should be read before the next transfer");
        // Empty this queue's buffer before the swap, because `other` continues with it.
        self.copied.clear();
        self.read = 0;
        self.stop = 0;
        std::mem::swap(self, other);
    }

    /// Frees buffer memory that was needed only for a burst of messages.
    pub(crate) fn shrink(&mut self) {
        if self.is_empty() && self.copied.capacity() > KEEP_CAPACITY {
            *self = Self::default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixed_length_messages_keep_order() {
        let message = |length: usize| Bytes::from(vec![length as u8; length]);
        let sent: Vec<_> = [3, 0, COPY_BELOW, COPY_BELOW - 1, COPY_BELOW + 1, 1].map(message).into();
        let (mut arrived, mut drained) = (Inbox::default(), Inbox::default());
        for round in 0..3 {
            sent.iter().for_each(|message| arrived.push(message.clone()));
            drained.take_over(&mut arrived);
            assert!(arrived.is_empty());
            let mut read = Vec::new();
            while let Some(message) = drained.pop() {
                read.push(message.into_bytes());
            }
            assert_eq!(read, sent, "round {round}");
        }
    }

    #[test]
    fn short_messages_share_buffer_until_pause() {
        let mut inbox = Inbox::default();
        let lengths = [3, 127, 128, 5, COPY_BELOW, 0];
        lengths.iter().for_each(|length| inbox.push(Bytes::from(vec![7; *length])));
        let mut read = Vec::new();
        while !inbox.is_empty() {
            let short = inbox.peek_short().map(<[u8]>::len);
            read.push((short.is_some(), short.unwrap_or_else(|| inbox.pop().unwrap().len())));
            if let Some(length) = short {
                inbox.skip_short(length);
            }
        }
        assert_eq!(read, [(true, 3), (true, 127), (false, 128), (true, 5), (false, COPY_BELOW), (true, 0)]);
        inbox.push_batch(&[1, 9]);
        inbox.pause();
        assert_eq!(inbox.peek_short(), None);
        inbox.resume();
        assert_eq!(inbox.peek_short(), Some(&[9][..]));
    }

    #[test]
    fn short_message_memory_is_returned_after_burst() {
        let mut inbox = Inbox::default();
        let read = Bytes::from(vec![7; 64 * 1024]);
        inbox.push(read.slice(..100));
        assert!(matches!(inbox.pop(), Some(Message::Copied(bytes)) if bytes.as_ptr() != read.as_ptr()));
        (0..1000).for_each(|_| inbox.push(read.slice(..100)));
        inbox.shrink();
        assert!(inbox.copied.capacity() >= 100_000, "memory of unread messages should be kept");
        while inbox.pop().is_some() {}
        inbox.shrink();
        assert_eq!(inbox.copied.capacity(), 0);
        (0..80).for_each(|_| inbox.push(read.slice(..100)));
        while inbox.pop().is_some() {}
        inbox.shrink();
        assert!(inbox.copied.capacity() >= 8_000, "small messages should need no new memory");
    }
}
