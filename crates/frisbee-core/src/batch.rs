//! Decoding of [BATCH](crate::Operation::BATCH) packets, which contain several messages of a stream. They are encoded
//! by [`Outbox::message`](crate::Outbox::message).

use crate::flow::{MESSAGE_COST, cost};
use crate::tlv;

/// Iterator over the messages in the body of an [`Operation::BATCH`](crate::Operation::BATCH) packet. Each message is
/// preceded by its length as a varint. A truncated message is returned as `None` and ends the iteration.
///
/// ```
/// use frisbee_core::{Batch, BatchSize};
///
/// let body = [2, b'h', b'i', 0, 1, b'!'];
/// let messages: Vec<_> = Batch::new(&body).collect();
/// assert_eq!(messages, [Some(&b"hi"[..]), Some(b""), Some(b"!")]);
/// assert_eq!(BatchSize::of(&body).map(|size| (size.messages, size.bytes)), Some((3, 3)));
/// ```
#[derive(Clone, Debug)]
pub struct Batch<'a>(&'a [u8]);

impl<'a> Batch<'a> {
    /// Creates an iterator over the messages in the body of a BATCH packet.
    pub fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// Returns the part of the body that has not been decoded yet.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    #[inline(always)] // Called for each message.
    fn message(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = match self.0 {
            [length, rest @ ..] if *length < 0x80 => (usize::from(*length), rest),
            _ => self.long()?,
        };
        let (message, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(message)
    }

    /// Decodes a message length of two or more bytes. Returns the length and the bytes that follow it.
    fn long(&self) -> Option<(usize, &'a [u8])> {
        let mut rest = self.0;
        let length = tlv::take_varint(&mut rest)?;
        usize::try_from(length).ok().map(|length| (length, rest))
    }
}

impl<'a> Iterator for Batch<'a> {
    type Item = Option<&'a [u8]>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let message = self.message();
        if message.is_none() {
            self.0 = &[];
        }
        Some(message)
    }
}

/// Number and lengths of the messages in the body of a BATCH packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BatchSize {
    /// Number of messages.
    pub messages: usize,
    /// Total length of the batch's messages in bytes.
    pub bytes: usize,
    /// Length of the longest message of the batch in bytes.
    pub longest: usize,
    /// Length of the last message of the batch in bytes.
    pub last: usize,
}

impl BatchSize {
    /// Measures the body of a BATCH packet. Returns `None` if the body is empty or its last message is truncated.
    pub fn of(body: &[u8]) -> Option<Self> {
        let mut size = Self::default();
        let mut at = 0_usize;
        // Fast path for one-byte lengths. The sums cannot wrap, because they exceed the body length by at most one
        // message.
        while let Some(&length) = body.get(at) {
            if length >= 0x80 {
                return Self::of_any(body);
            }
            size.last = usize::from(length);
            size.longest = size.longest.max(size.last);
            size.messages = size.messages.wrapping_add(1);
            at = at.wrapping_add(size.last).wrapping_add(1);
        }
        size.bytes = at.wrapping_sub(size.messages);
        (at == body.len() && size.messages > 0).then_some(size)
    }

    /// Like [`of`](Self::of), but supports message lengths that are encoded in several bytes.
    #[inline(never)]
    fn of_any(body: &[u8]) -> Option<Self> {
        let mut size = Self::default();
        for message in Batch::new(body) {
            let length = message?.len();
            // The sums cannot wrap, because neither can exceed the length of the body.
            size.messages = size.messages.wrapping_add(1);
            size.bytes = size.bytes.wrapping_add(length);
            size.longest = size.longest.max(length);
            size.last = length;
        }
        (size.messages > 0).then_some(size)
    }

    /// Returns the flow-control credit that all messages of the batch [cost](crate::flow::cost).
    pub fn cost(&self) -> u64 {
        (self.messages as u64).saturating_mul(MESSAGE_COST as u64).saturating_add(self.bytes as u64)
    }

    /// Returns the flow-control credit that the last message of the batch [costs](crate::flow::cost).
    pub fn last_cost(&self) -> u64 {
        cost(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_batch_body_is_rejected() {
        let long = [&[0x80, 0x01][..], &[7; 128]].concat();
        for (body, messages) in [(&[0][..], 1), (&[0, 0, 0], 3), (&[1, 9, 0], 2), (&long, 1), (&[0x81, 0x00, 9], 1)] {
            assert_eq!(BatchSize::of(body).map(|size| size.messages), Some(messages), "{body:?}");
            assert!((1..body.len()).all(|cut| BatchSize::of(&body[..cut]).is_none_or(|size| size.messages < messages)));
        }
        let endless = [0xFF; 11];
        let beyond = [&[0xFF; 9][..], &[1]].concat();
        for body in [&[][..], &[1], &[2, 9], &[0, 0x80], &[0, 0x80, 0x01, 7], &endless, &beyond] {
            assert_eq!(BatchSize::of(body), None, "{body:?}");
        }
    }

    #[test]
    fn batch_cost_equals_sum_of_messages() {
        let size = BatchSize::of(&[3, 1, 1, 1, 0, 2, 5, 5]).unwrap();
        assert_eq!(size, BatchSize { messages: 3, bytes: 5, longest: 3, last: 2 });
        assert_eq!((size.cost(), size.last_cost()), (cost(3) + cost(0) + cost(2), cost(2)));
    }
}
