//! `Payload`: a message of a call in one of its encodings, and `Format`: the encodings available to C.

use crate::body::Body;
use bytes::Bytes;
use frpc::Status;
use frpc::codegen::{Format as GatewayFormat, FormatOptions};
use frpc::polyglot::{DecodeError, Decoder, EncodeError, Encoder, Form, Kind, Message, RawMessage, Root};
use frpc_dynamic::{Codec, DynamicMessage, MessageDescriptor, from_json, from_json_positional, to_json, to_protobuf};
use std::sync::Arc;

/// Encoding of messages that are passed to and from the library.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum frisbee_format {
    /// The encoding used on the wire. The bytes are neither converted nor validated.
    FRISBEE_NATIVE = 0,
    /// JSON text in the JSON mapping of proto3.
    FRISBEE_JSON = 1,
    /// The encoding of protobuf, as used by the C++ classes that protoc generates.
    FRISBEE_PROTOBUF = 2,
}

/// A [`frisbee_format`] that has been checked to be valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Native,
    Json,
    Protobuf,
}

impl Format {
    pub(crate) fn new(number: i32) -> Result<Self, Status> {
        match number {
            0 => Ok(Self::Native),
            1 => Ok(Self::Json),
            2 => Ok(Self::Protobuf),
            other => Err(Status::invalid_argument(format!("format {other} is unknown: use a value of frisbee_format"))),
        }
    }
}

/// Encoding that a service uses for messages on the wire.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum frisbee_codec {
    /// The Polyglot encoding, which is the default of frpc and is also used by fRPC for Go.
    FRISBEE_CODEC_POLYGLOT = 0,
    /// The encoding of protobuf, for services built with `Codec::Protobuf`.
    FRISBEE_CODEC_PROTOBUF = 1,
}

impl frisbee_codec {
    pub(crate) fn new(number: i32) -> Result<Self, Status> {
        match number {
            0 => Ok(Self::FRISBEE_CODEC_POLYGLOT),
            1 => Ok(Self::FRISBEE_CODEC_PROTOBUF),
            other => Err(Status::invalid_argument(format!("codec {other} is unknown: use a value of frisbee_codec"))),
        }
    }
}

/// A request or reply message in the encodings that its receiver may need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Payload {
    /// Bytes of the message in `encoding`. If that is the native encoding, they have the extended form. Empty for a
    /// default message.
    pub(crate) body: Body,
    pub(crate) encoding: Encoding,
    /// Additional encodings of the message, which are rarely needed. Boxed to keep payloads small, because the futures
    /// and results of calls contain them.
    variants: Option<Box<Variants>>,
}

/// A message in encodings other than the main one.
#[derive(Clone, Debug, Default)]
struct Variants {
    /// The flat encoding of the message, if it differs from the extended one.
    flat: Option<Bytes>,
    /// Whether the flat encoding loses the presence of a field.
    is_lossy: bool,
    /// The message in the encodings of other protocols, for a reply created before a request has shown which protocol
    /// its caller uses.
    from_gateway: Option<FromGateway>,
}

#[derive(Clone, Debug)]
struct FromGateway {
    json: Bytes,
    protobuf: Bytes,
}

/// Encoding of the bytes in a payload. `Native` is the encoding that the service uses on the wire: Polyglot or
/// protobuf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Native,
    Json,
    /// JSON in which the message is an array of its field values.
    Positional,
    Protobuf,
}

impl Payload {
    pub(crate) fn new(body: impl Into<Body>, encoding: Encoding) -> Self {
        Self { body: body.into(), encoding, variants: None }
    }

    /// Returns the message in the encoding that `protocol` selects, or the only encoding of the message.
    fn in_gateway(&self, protocol: impl FnOnce(&FromGateway) -> &Bytes) -> Bytes {
        let from_gateway = self.variants.as_ref().and_then(|variants| variants.from_gateway.as_ref());
        from_gateway.map_or_else(|| self.body.clone().into_bytes(), |from_gateway| protocol(from_gateway).clone())
    }
}

/// Returns the message format for callers that use JSON. Requests are decoded when the function is called, because only
/// it knows their type.
pub(crate) const fn json_format(fields: &'static [&'static str]) -> GatewayFormat<Payload, Payload> {
    let encode = |payload: &Payload, _: &FormatOptions| -> Result<Bytes, Status> {
        Ok(payload.in_gateway(|from_gateway| &from_gateway.json))
    };
    GatewayFormat::new("json", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::Json)), encode)
        .fields(fields)
        .positional("json-positional", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::Positional)))
}

/// Returns the message format for callers that use protobuf, such as gRPC clients.
pub(crate) const fn protobuf_format() -> GatewayFormat<Payload, Payload> {
    let encode = |payload: &Payload, _: &FormatOptions| -> Result<Bytes, Status> {
        Ok(payload.in_gateway(|from_gateway| &from_gateway.protobuf))
    };
    GatewayFormat::new("proto", |bytes, _| Ok(Payload::new(bytes.clone(), Encoding::Protobuf)), encode)
}

impl Message for Payload {
    const NAME: &'static str = "the message";

    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let mut bytes = &*self.body;
        if let (Form::Flat, Some(variants)) = (to.form(), &self.variants) {
            bytes = variants.flat.as_deref().unwrap_or(bytes);
            if variants.is_lossy {
                to.note_lost_presence();
            }
        }
        if bytes.is_empty() {
            to.nil();
        } else {
            to.encoded(bytes);
        }
        Ok(())
    }

    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        Ok(match received(from)? {
            Root::Message(body) => Root::Message(Self::new(body, Encoding::Native)),
            Root::Error(text) => Root::Error(text),
        })
    }
}

/// Reads the body of a message that a peer sent in the native encoding.
#[inline(always)] // Writes the payload only once.
pub(crate) fn received(from: &mut Decoder<'_>) -> Result<Root<Body>, DecodeError> {
    // Copy a short message. `take_body` shares the memory of a long one.
    if let (Some(body), Some(Kind::Nil | Kind::U8 | Kind::Bytes)) = (Body::copy_short(from.rest()), from.peek()) {
        return Ok(Root::Message(body));
    }
    Ok(match from.take_body()? {
        Root::Message(bytes) => Root::Message(bytes.into()),
        Root::Error(text) => Root::Error(text),
    })
}

/// Type of a message, with the codec of its service.
#[derive(Clone, Debug)]
pub(crate) struct MessageType {
    pub(crate) descriptor: MessageDescriptor,
    pub(crate) codec: frisbee_codec,
    /// Codec for messages, which caches the field order of each message type.
    pub(crate) dynamic: Arc<Codec>,
}

impl MessageType {
    /// Converts bytes passed from C to a message in the native encoding.
    pub(crate) fn to_native(&self, format: Format, body: Body) -> Result<Payload, Status> {
        match format {
            Format::Native => Ok(Payload::new(body, Encoding::Native)),
            Format::Protobuf if self.codec == frisbee_codec::FRISBEE_CODEC_PROTOBUF => enclosed(&body),
            _ => self.native(&self.read_format(format, &body.into_bytes())?),
        }
    }

    /// Converts a message in the native encoding to bytes for C. JSON ends with a NUL.
    pub(crate) fn show_native(&self, format: Format, body: Body) -> Result<Body, Status> {
        match format {
            Format::Native => Ok(body),
            _ => self.convert_native(format, &body.into_bytes()).map(Body::from),
        }
    }

    fn convert_native(&self, format: Format, native: &Bytes) -> Result<Bytes, Status> {
        match format {
            Format::Protobuf if self.codec == frisbee_codec::FRISBEE_CODEC_PROTOBUF => opened(native),
            _ => self.write(format, &self.read(Encoding::Native, native)?),
        }
    }

    /// Converts bytes passed from C to a reply in the caller's `encoding`, or in all encodings if that is not known
    /// yet.
    pub(crate) fn to_caller(
        &self,
        encoding: Option<Encoding>,
        format: Format,
        bytes: Bytes,
    ) -> Result<Payload, Status> {
        if encoding == Some(Encoding::Native) {
            return self.to_native(format, bytes.into());
        }
        let message = self.read_format(format, &bytes)?;
        let json = || self.json(&message).map(Bytes::from);
        let protobuf = || Bytes::from(to_protobuf(&message));
        Ok(match encoding {
            Some(Encoding::Protobuf) => Payload::new(protobuf(), Encoding::Protobuf),
            Some(_) => Payload::new(json()?, Encoding::Json),
            None => {
                let mut payload = self.native(&message)?;
                let from_gateway = FromGateway { json: json()?, protobuf: protobuf() };
                payload.variants.get_or_insert_default().from_gateway = Some(from_gateway);
                payload
            }
        })
    }

    /// Encodes a message in the native encoding.
    fn native(&self, message: &DynamicMessage) -> Result<Payload, Status> {
        if self.codec == frisbee_codec::FRISBEE_CODEC_PROTOBUF {
            return enclosed(&to_protobuf(message));
        }
        let unsuited = |error: &dyn std::fmt::Display| Status::invalid_argument(format!("{}: {error}", self.name()));
        let mut flat = Vec::new();
        let mut encoder = Encoder::new(&mut flat);
        self.dynamic.encode(message, &mut encoder).map_err(|error| unsuited(&error))?;
        let is_lossy = encoder.lost_presence();
        let mut extended = Vec::new();
        self.dynamic
            .encode(message, &mut Encoder::new(&mut extended).with_form(Form::Extended))
            .map_err(|error| unsuited(&error))?;
        let flat = (flat != extended).then(|| flat.into());
        let variants = Variants { flat, is_lossy, from_gateway: None };
        let is_needed = variants.flat.is_some() || is_lossy;
        let variants = is_needed.then(|| Box::new(variants));
        Ok(Payload { body: Body::copy(&extended), variants, ..Payload::default() })
    }

    fn name(&self) -> &str {
        self.descriptor.full_name()
    }

    fn read_format(&self, format: Format, bytes: &Bytes) -> Result<DynamicMessage, Status> {
        match format {
            Format::Native => self.read(Encoding::Native, bytes),
            // Strip the NUL that text from C may include.
            Format::Json => {
                let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
                from_json(&self.descriptor, text).map_err(|error| Status::invalid_argument(error.to_string()))
            }
            Format::Protobuf => self.read(Encoding::Protobuf, bytes),
        }
    }

    /// Decodes a message from the given encoding into its fields.
    pub(crate) fn read(&self, encoding: Encoding, bytes: &Bytes) -> Result<DynamicMessage, Status> {
        let wrong = |error: &dyn std::fmt::Display| {
            Status::invalid_argument(format!("the message is not a valid {}: {error}", self.name()))
        };
        match encoding {
            Encoding::Native if self.codec == frisbee_codec::FRISBEE_CODEC_PROTOBUF => {
                let inner = opened(bytes)?;
                self.dynamic.decode_protobuf(&self.descriptor, &inner).map_err(|error| wrong(&error))
            }
            Encoding::Native if bytes.is_empty() => Ok(DynamicMessage::new(self.descriptor.clone())),
            Encoding::Native => {
                let read = self.dynamic.decode(&self.descriptor, &mut Decoder::shared(bytes));
                match read.map_err(|error| wrong(&error))? {
                    Root::Message(message) => Ok(message),
                    Root::Error(text) => Err(Status::unknown(text)),
                }
            }
            Encoding::Protobuf => self.dynamic.decode_protobuf(&self.descriptor, bytes).map_err(|error| wrong(&error)),
            Encoding::Json => from_json(&self.descriptor, bytes).map_err(|error| wrong(&error)),
            Encoding::Positional => from_json_positional(&self.descriptor, bytes).map_err(|error| wrong(&error)),
        }
    }

    /// Encodes a message in a format for C. JSON ends with a NUL.
    pub(crate) fn write(&self, format: Format, message: &DynamicMessage) -> Result<Bytes, Status> {
        match format {
            Format::Native => Ok(self.native(message)?.body.into_bytes()),
            Format::Protobuf => Ok(to_protobuf(message).into()),
            Format::Json => {
                let mut text = self.json(message)?;
                text.push('\0');
                Ok(text.into())
            }
        }
    }

    fn json(&self, message: &DynamicMessage) -> Result<String, Status> {
        to_json(message).map_err(|error| Status::internal(format!("{} has no JSON: {error}", self.name())))
    }
}

/// Wraps a protobuf-encoded message in a body of the native encoding.
fn enclosed(message: &[u8]) -> Result<Payload, Status> {
    let mut body = Vec::with_capacity(message.len() + 8);
    Encoder::new(&mut body)
        .enclosed(message.len(), |out| out.extend_from_slice(message))
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    Ok(Payload::new(Bytes::from(body), Encoding::Native))
}

/// Extracts the protobuf-encoded message from a body of the native encoding.
fn opened(body: &Bytes) -> Result<Bytes, Status> {
    if body.is_empty() {
        return Ok(Bytes::new());
    }
    match Decoder::shared(body).enclosed().map_err(|error| Status::invalid_argument(error.to_string()))? {
        Root::Message(RawMessage::Shared(bytes)) => Ok(bytes),
        Root::Message(RawMessage::Slice(bytes)) => Ok(Bytes::copy_from_slice(bytes)),
        Root::Error(text) => Err(Status::unknown(text)),
    }
}
