//! Bodies: messages and errors as they stand in packets.

use crate::{Code, Status};
use bytes::Bytes;
use frisbee::{Frame, Operation, Outbox, PacketId};
use polyglot::{Bulk, DecodeError, Decoder, Encoder, Message, Root};

/// The error text that ends one direction of a stream.
pub(crate) const EOF: &str = "EOF";

/// Writes a message as the body of a frame and completes the frame.
#[inline]
pub(crate) fn put_message<M: Message>(mut frame: Frame<'_>, message: &M) -> Result<(), Status> {
    let mut bulk = Vec::<Bulk>::new(); // Allocates only if there is something large.
    let encoded = polyglot::encode_root(message, &mut Encoder::gathering(frame.buffer(), &mut bulk));
    encoded.map_err(|error| Status::internal(format!("{} cannot be encoded: {error}", M::NAME)))?;
    for part in bulk {
        frame.gather(part.at, part.bytes);
    }
    frame.finish().map_err(|error| Status::new(Code::ResourceExhausted, error.to_string()))
}

/// Writes a packet whose body is an error. A text that is too long for a packet is cut.
pub(crate) fn put_error(outbox: &mut Outbox, id: PacketId, operation: Operation, text: &str) {
    /// What stands around the text: kinds and a length.
    const AROUND: usize = 16;
    let put = |outbox: &mut Outbox, text: &str| {
        let mut frame = outbox.frame(id, operation);
        let encoded = Encoder::new(frame.buffer()).error(text);
        debug_assert!(encoded.is_ok(), "no text has 4 GiB");
        frame.finish()
    };
    if let Err(too_long) = put(outbox, text) {
        let mut end = (too_long.limit as usize).saturating_sub(AROUND).min(text.len());
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let put = put(outbox, &text[..end]);
        debug_assert!(put.is_ok(), "a limit of less than {AROUND} bytes makes no sense");
    }
}

/// Answers a call.
#[inline]
pub(crate) fn put_reply<M: Message>(
    outbox: &mut Outbox,
    id: PacketId,
    operation: Operation,
    reply: Result<&M, &Status>,
) {
    match reply {
        Ok(message) => {
            if let Err(status) = put_message(outbox.frame(id, operation), message) {
                put_error(outbox, id, operation, status.message());
            }
        }
        Err(status) => put_error(outbox, id, operation, status.message()),
    }
}

/// Reads a body. `Bytes` fields share its memory.
#[inline]
pub(crate) fn message<M: Message>(body: &Bytes) -> Result<Root<M>, DecodeError> {
    polyglot::decode_root(&mut Decoder::shared(body))
}

/// Reads a reply. `Bytes` fields share its memory.
#[inline]
pub(crate) fn reply<M: Message>(body: &Bytes) -> Result<M, Status> {
    replied(message(body))
}

/// Reads a reply, copying all of it.
#[inline]
pub(crate) fn reply_slice<M: Message>(body: &[u8]) -> Result<M, Status> {
    replied(polyglot::decode_root(&mut Decoder::new(body)))
}

#[inline]
fn replied<M: Message>(root: Result<Root<M>, DecodeError>) -> Result<M, Status> {
    match root {
        Ok(Root::Message(message)) => Ok(message),
        Ok(Root::Error(text)) => Err(Status::unknown(text)),
        Err(error) => Err(undecodable::<M>("reply", &error)),
    }
}

/// Reads a request.
#[inline]
pub(crate) fn request<M: Message>(body: &Bytes) -> Result<M, Status> {
    match message(body) {
        Ok(Root::Message(message)) => Ok(message),
        Ok(Root::Error(text)) => Err(Status::invalid_argument(format!("the request is an error: {text}"))),
        Err(error) => Err(Status::invalid_argument(format!("the request is no {}: {error}", M::NAME))),
    }
}

#[cold]
pub(crate) fn undecodable<M: Message>(what: &str, error: &DecodeError) -> Status {
    Status::internal(format!("the {what} is no {}: {error}", M::NAME))
}

/// The first packet of a stream names its method.
pub(crate) fn open(operation: Operation) -> Bytes {
    let mut body = Vec::with_capacity(4);
    Encoder::new(&mut body).u16(operation.number());
    body.into()
}

/// The operation that a first packet names.
pub(crate) fn opened(body: &Bytes) -> Option<u16> {
    Decoder::new(body).u16().ok()
}
