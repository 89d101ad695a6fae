//! Message boundaries in gRPC bodies.

/// Length in bytes of the prefix of a gRPC message: a byte of flags, and the length of the message in four bytes.
const PREFIX: usize = 5;

/// Tracks the ends of gRPC messages in a body. A DATA frame that ends in the middle of a message is
/// [charged](crate::Connection::charge_fragment) as a fragment.
#[derive(Debug, Default)]
pub struct EnvelopeTracker {
    prefix: [u8; PREFIX],
    /// Number of bytes of the current message's prefix that have been received.
    filled: usize,
    /// Number of bytes of the current message that have not been received.
    left: usize,
}

impl EnvelopeTracker {
    /// Advances by the received bytes. Returns whether the last message is now complete.
    pub fn advance(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.left > 0 {
                let (part, rest) = bytes.split_at(self.left.min(bytes.len()));
                self.left = self.left.saturating_sub(part.len());
                bytes = rest;
                continue;
            }
            let (part, rest) = bytes.split_at(PREFIX.saturating_sub(self.filled).min(bytes.len()));
            self.prefix.iter_mut().skip(self.filled).zip(part).for_each(|(to, from)| *to = *from);
            self.filled = self.filled.saturating_add(part.len());
            bytes = rest;
            if self.filled == PREFIX {
                let [_, a, b, c, d] = self.prefix;
                (self.filled, self.left) = (0, u32::from_be_bytes([a, b, c, d]) as usize);
            }
        }
        self.left == 0 && self.filled == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_ends_are_found_at_any_cut() {
        let bytes = b"\0\0\0\0\x03abc\x01\0\0\0\0\0\0\0\0\x01d";
        for cut in 0..=bytes.len() {
            let mut tracker = EnvelopeTracker::default();
            assert_eq!(tracker.advance(&bytes[..cut]), [0, 8, 13, 19].contains(&cut), "after {cut} bytes");
            assert!(tracker.advance(&bytes[cut..]), "cut after {cut} bytes");
        }
    }
}
