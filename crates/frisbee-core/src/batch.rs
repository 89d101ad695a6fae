//! Several messages of a stream in one packet, as they are read. How they are written is up to
//! [`Outbox::message`](crate::Outbox::message).

use crate::flow::{MESSAGE_COST, cost};
use crate::tlv;

/// The messages that the body of an [`Operation::BATCH`](crate::Operation::BATCH) consists of: each is its length as a
/// number, and so many bytes. `None` for one that is cut, which is the last.
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
    /// The encoded messages of `body`.
    pub fn new(body: &'a [u8]) -> Self {
        Self(body)
    }

    /// The unread rest.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.0
    }

    #[inline(always)] // Once for each message.
    fn message(&mut self) -> Option<&'a [u8]> {
        let (length, rest) = match self.0 {
            [length, rest @ ..] if *length < 0x80 => (usize::from(*length), rest),
            _ => self.long()?,
        };
        let (message, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some(message)
    }

    /// A length of several bytes, and the bytes after it.
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

/// How much is in the body of a BATCH.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BatchSize {
    /// How many messages.
    pub messages: usize,
    /// Their length together, in bytes.
    pub bytes: usize,
    /// The length of the longest, in bytes.
    pub longest: usize,
    /// The length of the last, in bytes.
    pub last: usize,
}

impl BatchSize {
    /// Measures a body; `None` if it is none of a BATCH: it is empty, or its last message is cut.
    pub fn of(body: &[u8]) -> Option<Self> {
        let mut size = Self::default();
        let mut at = 0_usize;
        // Mostly all lengths take one byte. None of the sums is more than the bytes of the body and one message.
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

    /// As [`of`](Self::of), where lengths may take several bytes.
    #[inline(never)]
    fn of_any(body: &[u8]) -> Option<Self> {
        let mut size = Self::default();
        for message in Batch::new(body) {
            let length = message?.len();
            // Neither can be more than the bytes of the body.
            size.messages = size.messages.wrapping_add(1);
            size.bytes = size.bytes.wrapping_add(length);
            size.longest = size.longest.max(length);
            size.last = length;
        }
        (size.messages > 0).then_some(size)
    }

    /// The credit that the messages take.
    pub fn cost(&self) -> u64 {
        (self.messages as u64).saturating_mul(MESSAGE_COST as u64).saturating_add(self.bytes as u64)
    }

    /// The credit that the last one takes.
    pub fn last_cost(&self) -> u64 {
        cost(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_is_empty_or_lies_about_its_lengths_is_no_batch() {
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
    fn a_batch_costs_as_much_as_its_messages() {
        let size = BatchSize::of(&[3, 1, 1, 1, 0, 2, 5, 5]).unwrap();
        assert_eq!(size, BatchSize { messages: 3, bytes: 5, longest: 3, last: 2 });
        assert_eq!((size.cost(), size.last_cost()), (cost(3) + cost(0) + cost(2), cost(2)));
    }
}
