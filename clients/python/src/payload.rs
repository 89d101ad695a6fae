//! [`Payload`]: an encoded message that the codecs of this crate have written or will read. Long byte values are not
//! copied. This module does not depend on Python.

use bytes::Bytes;
use frpc::Status;
use frpc::codegen::{Format, FormatOptions};
use frpc::polyglot::{Bulk, DecodeError, Decoder, EncodeError, Encoder, Form, Message, Root};

/// An encoded message.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    pub(crate) written: EncodedMessage,
    /// The extended encoding of the message, if it differs from the flat one.
    pub(crate) extended: Option<EncodedMessage>,
    /// Whether the flat encoding lost the presence of a field.
    pub(crate) is_lossy: bool,
    pub(crate) encoding: Encoding,
    /// The message in the encodings of other protocols, for a reply to a caller with a yet unknown encoding.
    pub(crate) alternatives: Option<Alternatives>,
}

/// A message in the encodings that other protocols use.
#[derive(Clone, Debug)]
pub(crate) struct Alternatives {
    pub(crate) json: Bytes,
    pub(crate) protobuf: Bytes,
}

/// Encoding of the bytes in a payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Native,
    Json,
    /// JSON with the message as an array of its field values.
    JsonPositional,
    Protobuf,
}

/// Encoded bytes of a message. Long values are stored separately and by reference.
#[derive(Clone, Debug, Default)]
pub(crate) struct EncodedMessage {
    pub(crate) bytes: Bytes,
    pub(crate) bulk: Vec<Bulk>,
}

impl Payload {
    /// Creates a payload with these bytes in this encoding.
    pub(crate) fn new(bytes: Bytes, encoding: Encoding) -> Self {
        Self { written: EncodedMessage { bytes, bulk: Vec::new() }, encoding, ..Self::default() }
    }

    /// Returns the received bytes of a request or message.
    pub(crate) fn received(&self) -> &Bytes {
        &self.written.bytes
    }
}

/// Returns the message format for callers that use JSON. Requests are decoded by the handler, which knows their type.
pub(crate) const fn json_format(fields: &'static [&'static str]) -> Format<Payload, Payload> {
    let encode = |payload: &Payload, _: &FormatOptions| -> Result<Bytes, Status> {
        Ok(payload.alternatives.as_ref().map_or(&payload.written.bytes, |alternatives| &alternatives.json).clone())
    };
    Format::new("json", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::Json)), encode)
        .fields(fields)
        .positional("json-positional", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::JsonPositional)))
}

/// Returns the message format for callers that use protobuf, such as gRPC clients. Requests are decoded by the handler,
/// like those in JSON.
pub(crate) const fn protobuf_format() -> Format<Payload, Payload> {
    let encode = |payload: &Payload, _: &FormatOptions| -> Result<Bytes, Status> {
        Ok(payload.alternatives.as_ref().map_or(&payload.written.bytes, |alternatives| &alternatives.protobuf).clone())
    };
    Format::new("proto", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::Protobuf)), encode)
}

impl Message for Payload {
    const NAME: &'static str = "the message";

    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match (to.form(), &self.extended) {
            (Form::Extended, Some(extended)) => extended.write(to),
            (form, _) => {
                if form == Form::Flat && self.is_lossy {
                    to.note_lost_presence();
                }
                self.written.write(to)
            }
        }
    }

    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(match from.take_body().map_err(|error| error.in_message(Self::NAME))? {
            Root::Error(text) => Root::Error(text),
            Root::Message(body) => Root::Message(Self::new(body, Encoding::Native)),
        })
    }
}

impl EncodedMessage {
    fn write(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if self.bytes.is_empty() {
            to.nil();
            return Ok(());
        }
        let mut done = 0;
        for Bulk { at, bytes } in &self.bulk {
            // Skip the header of the value, because `shared` writes it again.
            let head = head_length(bytes.len());
            to.encoded(self.bytes.get(done..at.saturating_sub(head)).unwrap_or_default());
            to.shared(bytes)?;
            done = *at;
        }
        to.encoded(self.bytes.get(done..).unwrap_or_default());
        Ok(())
    }
}

/// Returns the length of a bytes value's header, which consists of the kind byte and the length as a varint.
fn head_length(length: usize) -> usize {
    let bits = usize::BITS - length.leading_zeros();
    2 + (bits.max(1) as usize).div_ceil(7)
}
