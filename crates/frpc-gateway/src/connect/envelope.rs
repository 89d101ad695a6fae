//! Enveloped messages of Connect streams and gRPC calls: a flags byte, a length of four bytes, and the message.

use crate::charge::{CHARGED_MIN, GrowingBody, check_room};
use crate::driver::MessagePace;
use crate::gzip;
use crate::inbound::{self, Inbound};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Status};
use futures_core::Stream;
use std::cmp::Ordering;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Length in bytes of the prefix of an enveloped message.
pub(crate) const PREFIX: usize = 5;

/// Envelope flag of a compressed message.
pub(crate) const COMPRESSED: u8 = 1;

/// Compression of messages, as stated in the `grpc-encoding` and `connect-content-encoding` headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compression {
    Identity,
    Gzip,
}

impl Compression {
    /// Parses the value of an encoding header. An absent header means no compression.
    pub(crate) fn of(field: Option<&[u8]>) -> Result<Self, Status> {
        match field {
            None => Ok(Self::Identity),
            Some(name) if name.is_empty() || name.eq_ignore_ascii_case(b"identity") => Ok(Self::Identity),
            Some(name) if name.eq_ignore_ascii_case(b"gzip") => Ok(Self::Gzip),
            Some(_) => Err(Status::unimplemented("messages may be compressed by gzip, or not at all")),
        }
    }
}

/// Returns the error of a message that has more than `limit` bytes.
pub(crate) fn too_long(limit: u32) -> Status {
    Status::resource_exhausted(format!("a message may have {limit} bytes at most"))
}

/// Decodes the length of a message from its prefix.
///
/// # Errors
/// If the length exceeds `limit`.
pub(crate) fn length(prefix: [u8; 4], limit: u32) -> Result<usize, Status> {
    let length = u32::from_be_bytes(prefix);
    if length > limit {
        return Err(too_long(limit));
    }
    Ok(length as usize)
}

/// Error text for a request without a message, to a method that takes one.
pub(crate) const NO_MESSAGE: &str = "the request has no message, and the method takes one";

/// Error text for a request with several messages, to a method that takes one.
pub(crate) const SEVERAL_MESSAGES: &str = "the request has several messages, and the method takes one";

/// Error text for a body that ends within a message.
const INCOMPLETE: &str = "the last message is incomplete";

/// Decodes a request body that must contain exactly one message.
pub(crate) fn single(mut body: Bytes, encoding: Compression, limit: u32) -> Result<Bytes, Status> {
    let Some((&[flags, a, b, c, d], rest)) = body.split_first_chunk() else {
        let is_empty = body.is_empty();
        return Err(if is_empty { Status::unimplemented(NO_MESSAGE) } else { Status::invalid_argument(INCOMPLETE) });
    };
    match rest.len().cmp(&length([a, b, c, d], limit)?) {
        Ordering::Less => Err(Status::invalid_argument(INCOMPLETE)),
        Ordering::Equal => decode(flags, body.split_off(PREFIX), encoding, limit),
        Ordering::Greater => Err(Status::unimplemented(SEVERAL_MESSAGES)),
    }
}

/// Decompresses a message if its flags mark it as compressed. The decompressed message may have at most `limit` bytes.
pub(crate) fn decode(flags: u8, message: Bytes, encoding: Compression, limit: u32) -> Result<Bytes, Status> {
    match (flags, encoding) {
        (0, _) => Ok(message),
        (COMPRESSED, Compression::Gzip) => gzip::inflate(&message, limit.into()),
        (COMPRESSED, Compression::Identity) => {
            Err(Status::internal("a message is compressed, and the head names no encoding"))
        }
        _ => Err(Status::invalid_argument("a message has flags that are not known")),
    }
}

/// Error text for a message whose length does not fit into the prefix.
const TOO_LONG: &str = "the message exceeds 2^32 - 1 bytes";

/// Appends a message with its envelope prefix.
pub(crate) fn put(out: &mut BytesMut, flags: u8, message: &[u8]) -> Result<(), Status> {
    let Ok(length) = u32::try_from(message.len()) else {
        return Err(Status::resource_exhausted(TOO_LONG));
    };
    out.reserve(PREFIX + message.len());
    out.put_u8(flags);
    out.put_u32(length);
    out.put_slice(message);
    Ok(())
}

/// Appends a message with its envelope prefix. Compresses the message if the peer accepts this and it is large enough.
pub(crate) fn put_message(out: &mut BytesMut, message: &[u8], encoding: Compression) -> Result<(), Status> {
    if encoding == Compression::Gzip && message.len() >= gzip::COMPRESS_MIN {
        return put(out, COMPRESSED, &gzip::deflate(message));
    }
    put(out, 0, message)
}

/// Completes the envelope that begins at `start` with space for its prefix. Compresses the message if worthwhile, and
/// writes the prefix.
pub(crate) fn end(out: &mut Vec<u8>, start: usize, accepted: Compression) -> Result<(), Status> {
    let message = out.get(start + PREFIX..).unwrap_or_default();
    let is_compressed = accepted == Compression::Gzip && message.len() >= gzip::COMPRESS_MIN;
    if is_compressed {
        let compressed = gzip::deflate(message);
        out.truncate(start + PREFIX);
        out.extend_from_slice(&compressed);
    }
    let length = out.len().saturating_sub(start + PREFIX);
    let length = u32::try_from(length).map_err(|_| Status::resource_exhausted(TOO_LONG))?;
    if let Some((flags, rest)) = out.get_mut(start..).and_then(<[u8]>::split_first_mut) {
        *flags = if is_compressed { COMPRESSED } else { 0 };
        rest.iter_mut().zip(length.to_be_bytes()).for_each(|(to, byte)| *to = byte);
    }
    Ok(())
}

/// Stream of the enveloped messages in a request body. The stream ends with the first error.
pub(crate) struct Messages {
    /// Remaining request body. `None` once the body has ended.
    body: Option<Inbound>,
    /// Undecoded input of a base64 body. `None` if the body is not encoded in base64.
    text: Option<BytesMut>,
    encoding: Compression,
    /// Whether the body must contain exactly one message. If so, the minimum receive rate also applies to pauses before
    /// and after the message.
    is_single: bool,
    buffer: GrowingBody,
    /// Memory charge for a complete message that is withheld until the body has ended.
    hold: Option<MemoryCharge>,
    context: AdapterContext,
    pace: MessagePace,
}

impl Messages {
    pub(crate) fn new(body: Inbound, is_text: bool, encoding: Compression, context: &AdapterContext) -> Self {
        Self {
            body: Some(body),
            text: is_text.then(BytesMut::new),
            encoding,
            is_single: false,
            buffer: GrowingBody::default(),
            hold: None,
            context: context.clone(),
            pace: MessagePace::new(context.config()),
        }
    }

    /// Expects exactly one message. The minimum receive rate then also applies to pauses before and after it.
    pub(crate) fn single(self) -> Self {
        Self { is_single: true, ..self }
    }

    /// Removes the next message from the buffer and returns it. Returns `None` if it is incomplete.
    fn take(&mut self) -> Result<Option<Bytes>, Status> {
        let Some((&[flags, a, b, c, d], _)) = self.buffer.bytes.split_first_chunk() else { return Ok(None) };
        let limit = self.context.config().body_limit();
        let length = length([a, b, c, d], limit)?;
        if self.buffer.bytes.len() < PREFIX + length {
            return Ok(None);
        }
        self.buffer.bytes.advance(PREFIX);
        let message = self.buffer.bytes.split_to(length).freeze();
        self.pace.complete();
        // An uncompressed message retains the buffer.
        let retained = if flags & COMPRESSED == 0 { self.buffer.charged() } else { 0 };
        self.buffer.compact(&self.context)?;
        let message = decode(flags, message, self.encoding, limit)?;
        if self.is_single && message.len() >= CHARGED_MIN {
            // Charge the message, because it is withheld until the body ends.
            let memory = message.len().max(retained);
            check_room(&self.context, memory)?;
            self.hold = Some(self.context.charge(memory));
        }
        Ok(Some(message))
    }

    /// Appends received bytes of the body to the buffer.
    fn add(&mut self, part: &[u8]) -> Result<(), Status> {
        self.pace.handle_read(part.len());
        let (context, buffer) = (&self.context, &mut self.buffer);
        // Charge the bytes, because nothing else limits the total memory of many streams.
        let Some(text) = &mut self.text else { return buffer.extend(context, part, 0) };
        text.extend_from_slice(part);
        // Decode only whole groups of four characters, and keep the rest for the next part.
        let whole = text.split_to(text.len() / 4 * 4);
        buffer.reserve(context, whole.len() / 4 * 3, 0)?;
        let invalid = || Status::invalid_argument("the body is not base64");
        crate::base64::decode_parts(&whole, &mut buffer.bytes).ok_or_else(invalid)?;
        // Copy the rest, because a slice would retain the whole part, which is not charged.
        *text = BytesMut::from(&text[..]);
        Ok(())
    }

    fn poll_message(&mut self, task: &mut Context<'_>) -> Poll<Option<Result<Bytes, Status>>> {
        loop {
            if let Some(message) = self.take()? {
                return Poll::Ready(Some(Ok(message)));
            }
            let Some(body) = &mut self.body else { return Poll::Ready(None) };
            match body.poll_frame(task) {
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(part) => self.add(&part)?,
                    Err(frame) => inbound::refuse_trailers(&frame)?,
                },
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into_status()))),
                Poll::Ready(None) => {
                    self.body = None;
                    let rest = self.buffer.bytes.len() + self.text.as_ref().map_or(0, BytesMut::len);
                    if rest > 0 {
                        return Poll::Ready(Some(Err(Status::invalid_argument(INCOMPLETE))));
                    }
                    return Poll::Ready(None);
                }
                // Apply the minimum receive rate only within a message, because a stream may be idle between messages.
                Poll::Pending if self.buffer.bytes.is_empty() && !self.is_single => return Poll::Pending,
                Poll::Pending => {
                    ready!(self.pace.poll_too_slow(task));
                    return Poll::Ready(Some(Err(Status::cancelled("the request came too slowly"))));
                }
            }
        }
    }
}

impl Stream for Messages {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.poll_message(task));
        if !matches!(next, Some(Ok(_))) {
            // Free the buffers and release their charge now, because the handler may keep the stream after its end.
            (self.body, self.buffer, self.hold) = (None, GrowingBody::default(), None);
        }
        Poll::Ready(next)
    }
}
