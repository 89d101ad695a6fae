//! The protobuf codec, based on prost. A body consists of one bytes value, which contains a message in protobuf
//! encoding.
//!
//! The codec is meant for services whose messages evolve by the rules of protobuf. The build that generates the message
//! types selects it. fRPC for Go does not support it.
//!
//! Messages nest up to 100 levels. This limit is a constant of prost and cannot be configured.

pub mod floats;
mod memory;
pub mod utf8_bytes;

pub use memory::{Field, Protobuf, memory_of};

use crate::{DecodeError, DecodeReason, Decoder, EncodeError, Encoder, ProtobufCodec, RawMessage, Root};

impl<M: crate::Message + prost::Message + Protobuf + 'static> ProtobufCodec<M> {
    /// Creates the codec of a prost message. When it decodes, the default memory limit of a [`Decoder`] applies.
    #[must_use]
    pub const fn prost() -> Self {
        Self {
            encode: |message, out| match floats::wrapped_zero(message) {
                Some(zero) => out.extend_from_slice(zero),
                None => {
                    out.reserve(message.encoded_len());
                    message.encode_raw(out);
                }
            },
            decode: |bytes| {
                let decoded = decode_raw(RawMessage::Shared(bytes), &mut Decoder::new(&[]), 0);
                decoded.map_err(|error| error.in_message(M::NAME))
            },
        }
    }
}

/// Encodes a message in the protobuf format as the body of a call.
///
/// # Errors
/// If the message is longer than 2^32 - 1 bytes.
pub fn encode_protobuf<M>(message: &M, to: &mut Encoder<'_>) -> Result<(), EncodeError>
where
    M: crate::Message + prost::Message,
{
    let encoded = to.enclosed(message.encoded_len(), |out| message.encode_raw(out));
    encoded.map_err(|error| error.in_message(M::NAME))
}

/// Decodes a body in the protobuf format. If the decoder is shared, long `Bytes` and `Utf8Bytes` values share the
/// memory of the input.
///
/// # Errors
/// If the input is neither a message nor an error, the message is malformed, or it would exceed the memory limit of the
/// decoder.
pub fn decode_protobuf<M>(from: &mut Decoder<'_>) -> Result<Root<M>, DecodeError>
where
    M: crate::Message + prost::Message + Protobuf,
{
    let offset = from.position();
    let decoded = from.enclosed().and_then(|body| match body {
        Root::Message(message) => decode_raw(message, from, offset).map(Root::Message),
        Root::Error(text) => Ok(Root::Error(text)),
    });
    decoded.map_err(|error| error.in_message(M::NAME))
}

/// Decodes a message that is embedded in a body at `offset`. Its memory counts towards the limit of the body's decoder.
fn decode_raw<M>(message: RawMessage<'_>, from: &mut Decoder<'_>, offset: usize) -> Result<M, DecodeError>
where
    M: prost::Message + Protobuf + Default,
{
    let malformed = |error: prost::DecodeError| DecodeError::new(DecodeReason::Content(error.to_string()), offset);
    // Charge the memory before decoding, because prost does not limit what it allocates.
    from.charge::<u8>(memory_of::<M>(message.as_ref()).map_err(malformed)?)?;
    match message {
        RawMessage::Shared(bytes) => M::decode(bytes),
        RawMessage::Slice(bytes) => M::decode(bytes),
    }
    .map_err(malformed)
}
