//! Bodies that consist of a single bytes value, which contains a message in another encoding.
//!
//! They follow the same rules as other bodies: nil is the default message, an error can take the place of the message,
//! and trailing bytes are ignored.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, EncodeReason, Encoder, Kind, Root};

/// An encoded message inside a body, which has not been decoded.
#[derive(Clone, Debug)]
pub enum RawMessage<'a> {
    /// The encoded message as a slice of the shared input, which it keeps in memory.
    Shared(Bytes),
    /// The encoded message as a slice that borrows from the input.
    Slice(&'a [u8]),
}

impl AsRef<[u8]> for RawMessage<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Shared(bytes) => bytes,
            Self::Slice(bytes) => bytes,
        }
    }
}

impl Encoder<'_> {
    /// Writes a body that contains a message of `len` bytes. `write` must append the message to the buffer.
    ///
    /// ```
    /// use polyglot::{Decoder, Encoder, Root};
    ///
    /// let mut body = Vec::new();
    /// Encoder::new(&mut body).enclosed(2, |out| out.extend(b"hi"))?;
    /// assert_eq!(body, b"\x04\x0a\x02hi");
    ///
    /// let Root::Message(message) = Decoder::new(&body).enclosed()? else { panic!("an error") };
    /// assert_eq!(message.as_ref(), b"hi");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If `len` exceeds 2^32 - 1, or `write` appends a different number of bytes. The output is then restored to its
    /// previous length.
    #[inline]
    pub fn enclosed(&mut self, len: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), EncodeError> {
        let mark = self.mark();
        let out = self.bytes_head(len)?;
        let before = out.len();
        write(out);
        let written = out.len().saturating_sub(before);
        if written == len {
            return Ok(());
        }
        // Fail instead of writing fewer or more bytes than the head announces, which would corrupt the rest of the
        // body.
        self.rewind(mark);
        Err(EncodeError::new(EncodeReason::Content { announced: len, written }))
    }
}

impl<'a> Decoder<'a> {
    /// Reads a body that contains an embedded encoded message. If the decoder is [shared](Self::shared), long messages
    /// share the memory of the input. Nil is an empty message. See [`Encoder::enclosed`] for an example.
    ///
    /// # Errors
    ///
    /// If the body is not nil, a bytes value or an error.
    #[inline]
    pub fn enclosed(&mut self) -> Result<Root<RawMessage<'a>>, DecodeError> {
        if self.peek() == Some(Kind::Error) {
            return self.error_text().map(|text| Root::Error(text.to_owned()));
        }
        Ok(Root::Message(if self.take_nil() {
            RawMessage::Slice(&[])
        } else if self.is_shared() {
            RawMessage::Shared(self.bytes()?)
        } else {
            RawMessage::Slice(self.slice()?)
        }))
    }
}
