//! Bodies whose message is one bytes value: the message itself has a form that polyglot does not know.
//!
//! The envelope is that of every other body: nil is the default message, an error takes its place, and
//! bytes after it are left unread.

use bytes::Bytes;

use crate::{DecodeError, Decoder, EncodeError, EncodeReason, Encoder, Kind, Root};

/// A message that a body encloses, as it was written.
#[derive(Clone, Debug)]
pub enum RawMessage<'a> {
    /// A part of the input, which it keeps alive.
    Shared(Bytes),
    /// A part of the input.
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
    /// Writes a body that encloses a message of `len` bytes, which `write` appends to the buffer.
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
    /// If `len` exceeds 2^32 - 1, or `write` appends another number of bytes; everything written is removed.
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
        self.rewind(mark);
        Err(EncodeError::new(EncodeReason::Content { announced: len, written }))
    }
}

impl<'a> Decoder<'a> {
    /// Reads a body that encloses a message, and shares long ones with the input if the decoder [does](Self::shared). Nil
    /// is an empty message. An example is at [`Encoder::enclosed`].
    ///
    /// # Errors
    ///
    /// If there is neither a bytes value nor an error.
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
