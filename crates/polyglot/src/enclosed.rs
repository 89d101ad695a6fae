//! Bodies whose message is one bytes value: the message itself has a form that polyglot does not know.
//!
//! The envelope is that of every other body: nil is the default message, an error takes its place, and
//! bytes after it are left unread.

use bytes::Bytes;

use crate::{DecodeError, DecodeReason, Decoder, EncodeError, EncodeReason, Encoder, Kind, Root};

/// A message that a body encloses, as it was written.
#[derive(Clone, Debug)]
pub enum RawMessage<'a> {
    /// A part of the input, which it keeps alive.
    Shared(Bytes),
    /// A part of the input.
    Slice(&'a [u8]),
}

/// Writes a body that encloses a message of `len` bytes, which `write` appends to the buffer.
///
/// ```
/// use polyglot::{Decoder, RawMessage, Encoder, Root};
///
/// let mut body = Vec::new();
/// polyglot::encode_enclosed("example.Raw", &mut Encoder::new(&mut body), 2, |out| out.extend(b"hi"))?;
/// assert_eq!(body, b"\x04\x0a\x02hi");
///
/// let memory = |message: &[u8]| 2 * message.len();
/// let read = polyglot::decode_enclosed("example.Raw", &mut Decoder::new(&body), memory, |message| match message {
///     RawMessage::Shared(bytes) => String::from_utf8(bytes.to_vec()),
///     RawMessage::Slice(bytes) => String::from_utf8(bytes.to_vec()),
/// })?;
/// assert_eq!(read, Root::Message("hi".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If `len` exceeds 2^32 - 1, or `write` appends another number of bytes; everything written is removed.
#[inline]
pub fn encode_enclosed(
    name: &'static str,
    to: &mut Encoder<'_>,
    len: usize,
    write: impl FnOnce(&mut Vec<u8>),
) -> Result<(), EncodeError> {
    let mark = to.mark();
    to.bytes_with(len, write).map_err(|error| {
        to.rewind(mark);
        error.in_message(name)
    })
}

/// Reads a body that encloses a message, which `read` makes of its bytes. `memory` says first how many bytes of
/// [container memory](Decoder::with_container_memory) it will take.
///
/// # Errors
///
/// If there is neither a bytes value nor an error, or there is not as much memory, or `read` fails.
#[inline]
pub fn decode_enclosed<'a, M: Default, E: ToString>(
    name: &'static str,
    from: &mut Decoder<'a>,
    memory: impl FnOnce(&[u8]) -> usize,
    read: impl FnOnce(RawMessage<'a>) -> Result<M, E>,
) -> Result<Root<M>, DecodeError> {
    if from.peek() == Some(Kind::Error) {
        return from.error_text().map(|text| Root::Error(text.to_owned())).map_err(|error| error.in_message(name));
    }
    if from.take_nil() {
        return Ok(Root::Message(M::default()));
    }
    let offset = from.position();
    let content = from.enclosed().map_err(|error| error.in_message(name))?;
    let needed = match &content {
        RawMessage::Shared(bytes) => memory(bytes),
        RawMessage::Slice(bytes) => memory(bytes),
    };
    from.charge::<u8>(needed).map_err(|error| error.in_message(name))?;
    read(content)
        .map(Root::Message)
        .map_err(|error| DecodeError::new(DecodeReason::Content(error.to_string()), offset).in_message(name))
}

impl Encoder<'_> {
    /// Writes a bytes value of `len` bytes, which `write` appends.
    fn bytes_with(&mut self, len: usize, write: impl FnOnce(&mut Vec<u8>)) -> Result<(), EncodeError> {
        let out = self.bytes_head(len)?;
        let before = out.len();
        write(out);
        match out.len().checked_sub(before) {
            Some(written) if written == len => Ok(()),
            written => {
                Err(EncodeError::new(EncodeReason::Content { announced: len, written: written.unwrap_or_default() }))
            }
        }
    }
}

impl<'a> Decoder<'a> {
    /// Reads bytes, sharing the input if the decoder was made so.
    fn enclosed(&mut self) -> Result<RawMessage<'a>, DecodeError> {
        if self.is_shared() { self.bytes().map(RawMessage::Shared) } else { self.slice().map(RawMessage::Slice) }
    }
}
