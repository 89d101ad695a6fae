//! Messages of forwarded calls, in the sender's encoding. If the receiver uses another encoding, they are converted
//! with the help of descriptors.

use bytes::Bytes;
use frpc::Status;
use frpc_dynamic::{
    Body, Codec, DynamicMessage, MessageDescriptor, from_json, from_json_positional, to_json, to_protobuf,
};
use polyglot::{BULK_MIN, DecodeError, Decoder, EncodeError, Encoder, Form, Message, Root};
use std::fmt::Display;
use std::sync::Arc;

/// Encoding of a received or sent message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum MessageEncoding {
    /// Polyglot, the native encoding, in either of its two forms. An empty body is the default message.
    #[default]
    Native,
    Json,
    /// A JSON array of the message's fields.
    Positional,
    Protobuf,
}

/// Encoding of the messages that a backend accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum BackendEncoding {
    /// Polyglot, in a form that is not known yet because it depends on the server.
    Any,
    /// Polyglot in the extended form.
    Native,
    /// Protobuf, for gRPC servers.
    Protobuf,
}

/// Descriptors of a message type, used to convert messages between encodings.
pub(super) struct MessageType {
    descriptor: MessageDescriptor,
    codec: Arc<Codec>,
}

impl MessageType {
    pub(super) fn new(descriptor: MessageDescriptor, codec: &Arc<Codec>) -> Arc<Self> {
        Arc::new(Self { descriptor, codec: codec.clone() })
    }

    pub(super) fn name(&self) -> &str {
        self.descriptor.full_name()
    }
}

/// A forwarded message in its sender's encoding. It is converted only if the receiver uses another encoding.
#[derive(Default)]
pub(super) struct RawMessage {
    encoding: MessageEncoding,
    bytes: Bytes,
    /// The message type. `None` until the called method is known.
    of: Option<Arc<MessageType>>,
}

impl RawMessage {
    /// Creates a request message from received bytes, without validation.
    pub(super) fn received(encoding: MessageEncoding, bytes: &Bytes) -> Self {
        // Copy a short message, because it may be a slice of a much larger read buffer.
        let bytes = if bytes.len() < BULK_MIN { Bytes::copy_from_slice(bytes) } else { bytes.clone() };
        Self { encoding, bytes, of: None }
    }

    /// Creates a reply message of type `of` from received bytes, without validation.
    pub(super) fn reply(encoding: MessageEncoding, bytes: Bytes, of: &Arc<MessageType>) -> Self {
        Self { encoding, bytes, of: Some(of.clone()) }
    }

    /// Converts a request message for a backend.
    pub(super) fn into_body(self, of: &MessageType, encoding: BackendEncoding) -> Result<Body, Status> {
        match (encoding, self.encoding) {
            (BackendEncoding::Native, MessageEncoding::Native)
            | (BackendEncoding::Protobuf, MessageEncoding::Protobuf) => return Ok(Body::native(self.bytes)),
            _ => {}
        }
        self.decode(of)
            .and_then(|message| match encoding {
                BackendEncoding::Protobuf => Ok(Body::native(to_protobuf(&message))),
                _ => of.codec.body(&message).map_err(Into::into),
            })
            .map_err(|error| invalid(of, &error))
    }

    /// Converts a reply message to JSON.
    pub(super) fn to_json(&self) -> Result<Bytes, Status> {
        self.convert(self.encoding == MessageEncoding::Json, |_, message| Ok(to_json(message)?.into()))
    }

    /// Converts a reply message to protobuf.
    pub(super) fn to_protobuf(&self) -> Result<Bytes, Status> {
        self.convert(self.encoding == MessageEncoding::Protobuf, |_, message| Ok(to_protobuf(message).into()))
    }

    /// Converts a reply message for a native caller.
    fn to_native(&self, form: Form) -> Result<Bytes, Status> {
        // The flat form for Go callers cannot represent absent fields, so the message must be converted.
        let is_same = self.encoding == MessageEncoding::Native && form == Form::Extended;
        self.convert(is_same, |of, message| {
            let mut body = Vec::new();
            of.codec.encode(message, &mut Encoder::new(&mut body).with_form(form))?;
            Ok(body.into())
        })
    }

    /// Returns the message unchanged if `is_same`. Otherwise decodes it and encodes it again with `encode`.
    fn convert(
        &self,
        is_same: bool,
        encode: impl FnOnce(&MessageType, &DynamicMessage) -> Result<Bytes, Error>,
    ) -> Result<Bytes, Status> {
        if is_same {
            return Ok(self.bytes.clone());
        }
        let Some(of) = &self.of else { return Err(Status::internal("a message without a type cannot be converted")) };
        let converted = self.decode(of).and_then(|message| encode(of, &message));
        converted.map_err(|error| Status::internal(format!("the reply is not a valid {}: {error}", of.name())))
    }

    fn decode(&self, of: &MessageType) -> Result<DynamicMessage, Error> {
        let MessageType { descriptor, codec } = of;
        Ok(match self.encoding {
            MessageEncoding::Native if self.bytes.is_empty() => DynamicMessage::new(descriptor.clone()),
            MessageEncoding::Native => match codec.decode(descriptor, &mut Decoder::shared(&self.bytes))? {
                Root::Message(message) => message,
                Root::Error(text) => return Err(text.into()),
            },
            MessageEncoding::Json => from_json(descriptor, &self.bytes)?,
            MessageEncoding::Positional => from_json_positional(descriptor, &self.bytes)?,
            MessageEncoding::Protobuf => codec.decode_protobuf(descriptor, &self.bytes)?,
        })
    }
}

type Error = Box<dyn std::error::Error + Send + Sync>;

fn invalid(of: &MessageType, error: &dyn Display) -> Status {
    Status::invalid_argument(format!("the request is not a valid {}: {error}", of.name()))
}

impl Message for RawMessage {
    const NAME: &'static str = "the message";

    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self.to_native(to.form()) {
            Ok(body) if body.is_empty() => to.nil(),
            Ok(body) => to.encoded(&body),
            // The caller receives this error as the status of the call.
            Err(status) => to.error(status.message())?,
        }
        Ok(())
    }

    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(match from.take_body()? {
            Root::Message(bytes) => Root::Message(Self { encoding: MessageEncoding::Native, bytes, of: None }),
            Root::Error(text) => Root::Error(text),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: a short request was a slice of the thread's read buffer, which the call kept until its end.
    #[test]
    fn short_request_does_not_keep_read_buffer() {
        let buffer = Bytes::from(vec![0; 2 * BULK_MIN]);
        let short = RawMessage::received(MessageEncoding::Protobuf, &buffer.slice(..100));
        assert!(buffer.is_unique(), "short request should have its own memory");
        let long = RawMessage::received(MessageEncoding::Protobuf, &buffer.slice(..BULK_MIN));
        assert!(!buffer.is_unique(), "long request should not be copied");
        assert_eq!((short.bytes.len(), long.bytes.len()), (100, BULK_MIN));
    }
}
