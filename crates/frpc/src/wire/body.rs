//! Encoding and decoding of packet bodies, which are messages or errors.

use crate::api::extras::Extras;
use crate::api::metadata::Metadata;
use crate::wire::compressed;
use crate::wire::prefix::{self, Prefix, PrefixError, PrefixFields};
use crate::wire::report::Report;
use crate::wire::translation::{Scratch, Translation};
use crate::{Code, Response, Status};
use bytes::{Buf, Bytes};
use frisbee::{Connection, Header, Operation, Outbox, PacketId, PacketWriter, TooLong};
use polyglot::{
    Bulk, CONTAINER_MEMORY_MAX, DecodeError, DecodeReason, Decoder, EncodeError, Encoder, Form, Message, Nesting, Root,
};
use std::borrow::Cow;

/// Error text that ends one direction of a stream with a compat peer.
pub(crate) const EOF: &str = "EOF";

/// Uncommon properties of a message's encoding, combined in a byte so that most messages need only one check.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Flags(u8);

impl Flags {
    pub(crate) const NONE: Self = Self(0);
    /// Compress the message if it is long enough to benefit.
    pub(crate) const COMPRESSED: Self = Self(1);
    /// Fail if a field has its default value, because the flat format cannot distinguish that from an absent field.
    pub(crate) const LOSSLESS: Self = Self(2);
    /// The method's messages are translated to the peer's wire layout, so a task must look up the translation.
    pub(crate) const TRANSLATED: Self = Self(4);

    /// Returns these flags if `is_set`, and no flags otherwise.
    pub(crate) fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::default() }
    }

    pub(crate) fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    /// Returns whether any of the given flags is set.
    pub(crate) fn has(self, flags: Self) -> bool {
        self.0 & flags.0 != 0
    }
}

/// How to encode a message: flags, and the translation to the peer's wire layout if it differs.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    flags: Flags,
    translation: Option<&'a Translation>,
}

impl<'a> Writing<'a> {
    #[inline]
    pub(crate) fn new(flags: Flags, translation: Option<&'a Translation>) -> Self {
        Self { flags, translation }
    }
}

/// Maximum length of a body if its lists and maps have the default memory limit [`CONTAINER_MEMORY_MAX`]. Equal to the
/// default maximum body size.
const USUAL_MAX: usize = frisbee::BODY_MAX as usize;

/// Options for decoding messages of a peer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DecodeOptions {
    /// Maximum nesting depth of the messages.
    pub(crate) nesting: Nesting,
    /// Whether the local peer has announced that it accepts compressed messages.
    pub(crate) decompresses: bool,
    /// Maximum length of a message in bytes that its method accepts.
    length_max: usize,
    /// Messages up to this length need no further check. It is at most `length_max`, so that one comparison suffices
    /// for most messages.
    unchecked_max: usize,
}

impl DecodeOptions {
    pub(crate) fn new(nesting: Nesting, decompresses: bool) -> Self {
        Self { nesting, decompresses, length_max: usize::MAX, unchecked_max: USUAL_MAX }
    }

    /// Creates options for messages that are not compressed.
    pub(crate) fn whole(nesting: Nesting) -> Self {
        Self::new(nesting, false)
    }

    /// Limits the length of messages.
    pub(crate) fn with_length_max(self, length_max: usize) -> Self {
        Self { length_max, unchecked_max: length_max.min(USUAL_MAX), ..self }
    }

    pub(crate) fn length_max(self) -> usize {
        self.length_max
    }

    /// Creates a decoder. Long values share the memory of `body`. Fails if `body` is longer than its method accepts.
    #[inline]
    pub(crate) fn shared(self, body: &Bytes) -> Result<Decoder<'_>, Status> {
        let decoder = Decoder::shared(body).with_nesting(self.nesting);
        // Check the length here, because additional state in the decoder would slow down every call.
        if body.len() <= self.unchecked_max {
            return Ok(decoder);
        }
        self.shared_long(decoder, body.len())
    }

    #[cold]
    fn shared_long(self, decoder: Decoder<'_>, length: usize) -> Result<Decoder<'_>, Status> {
        check_length(length, self.length_max)?;
        // The memory limit of a longer body grows in proportion to its length.
        let memory = length.saturating_mul(CONTAINER_MEMORY_MAX / USUAL_MAX);
        Ok(decoder.with_container_memory(memory.max(CONTAINER_MEMORY_MAX)))
    }

    /// Creates a decoder that copies all values out of `body`.
    pub(crate) fn copied(self, body: &[u8]) -> Decoder<'_> {
        Decoder::new(body).with_nesting(self.nesting)
    }
}

/// Checks the length of a request against the limit of its method.
#[inline]
pub(crate) fn check_length(length: usize, max: usize) -> Result<(), Status> {
    if length <= max { Ok(()) } else { Err(too_long(length, max)) }
}

#[cold]
fn too_long(length: usize, max: usize) -> Status {
    let text = format!("the message has {length} bytes, which exceeds the limit of {max} of its method");
    Status::resource_exhausted(text)
}

/// Reason why a message could not be encoded into a packet.
#[derive(Debug)]
pub(crate) enum PutError {
    /// A field has its default value, which the flat format cannot distinguish from an absent field.
    Lossy,
    TooLong(TooLong),
    Failed(Status),
}

impl PutError {
    pub(crate) fn into_status(self) -> Status {
        match self {
            Self::Lossy => Status::failed_precondition(
                "the message has optional fields or oneofs that a compat peer (Go) cannot distinguish from defaults",
            ),
            Self::TooLong(error) => Status::resource_exhausted(error.to_string()),
            Self::Failed(status) => status,
        }
        .not_run()
    }
}

/// A message that can be encoded as a packet body. Uncommon code takes `dyn EncodeBody` so that it is compiled once for
/// all messages.
pub(crate) trait EncodeBody {
    /// Returns the full name of the message type, for error messages.
    fn name(&self) -> &'static str;

    /// Encodes the message as a packet body.
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Appends the message in the protobuf format, for a gRPC server.
    #[cfg(feature = "grpc")]
    fn encode_protobuf(&self, _out: &mut Vec<u8>) -> Result<(), Status> {
        Err(no_protobuf(self.name()))
    }
}

impl<M: Message> EncodeBody for M {
    fn name(&self) -> &'static str {
        M::NAME
    }

    #[inline(always)]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        polyglot::encode_root(self, to)
    }

    #[cfg(feature = "grpc")]
    fn encode_protobuf(&self, out: &mut Vec<u8>) -> Result<(), Status> {
        (protobuf_codec::<M>()?.encode)(self, out);
        Ok(())
    }
}

/// Returns the codec of a message for gRPC servers.
///
/// # Errors
/// If the code of the message was generated without it.
#[cfg(feature = "grpc")]
pub(crate) fn protobuf_codec<M: Message>() -> Result<polyglot::ProtobufCodec<M>, Status> {
    M::PROTOBUF.ok_or_else(|| no_protobuf(M::NAME))
}

#[cfg(feature = "grpc")]
fn no_protobuf(name: &str) -> Status {
    let text = format!("{name} has no protobuf encoding for gRPC; generate it with `protobuf(true)`");
    Status::failed_precondition(text).not_run()
}

/// A request or response message with its type erased.
pub(crate) type AnyMessage = dyn EncodeBody + Sync;

impl EncodeBody for Box<dyn EncodeBody + Send> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode(to)
    }
}

impl EncodeBody for &dyn EncodeBody {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode(to)
    }
}

/// Encodes a message as the body of a packet and completes the packet. `prefix` is a closure, so that the prefix is
/// only constructed where it is written.
#[inline(always)]
pub(crate) fn put_message<'a, M: EncodeBody>(
    mut packet: PacketWriter<'_>,
    message: &M,
    form: Form,
    writing: Writing<'_>,
    prefix: impl Fn() -> PrefixFields<'a>,
) -> Result<(), PutError> {
    let flags = writing.flags;
    if !prefix().is_empty() {
        prefix::put(packet.buffer(), prefix());
    }
    if let Some(translation) = writing.translation {
        return put_translated(packet, message, form, flags, translation);
    }
    let start = packet.buffer().len();
    let mut bulk = Vec::<Bulk>::new(); // Only allocates for long values.
    let mut encoder = Encoder::gathering(packet.buffer(), &mut bulk).with_form(form).copying(frisbee::copy_to_share);
    if let Err(error) = message.encode(&mut encoder) {
        return Err(unencodable(message.name(), &error));
    }
    if flags.has(Flags::LOSSLESS) && encoder.lost_presence() {
        return Err(PutError::Lossy);
    }
    if bulk.capacity() == 0 && !flags.has(Flags::COMPRESSED) {
        std::mem::forget(bulk); // Nothing was allocated, so skip the drop code.
    } else {
        gather(packet.continued(), start, bulk, flags);
    }
    packet.finish().map_err(PutError::TooLong)
}

/// Compresses a message that was encoded at offset `start` of the packet's buffer, if requested. Appends large values
/// to the packet by reference instead of copying them.
#[inline(never)]
fn gather(mut packet: PacketWriter<'_>, start: usize, mut bulk: Vec<Bulk>, flags: Flags) {
    if flags.has(Flags::COMPRESSED) {
        compressed::compress(&mut packet, start, &mut bulk);
    }
    bulk.into_iter().for_each(|part| packet.gather(part.at, part.bytes));
    std::mem::forget(packet); // The caller finishes it.
}

/// Encodes a message, translates it to the peer's wire layout, and completes the packet.
#[cold]
#[inline(never)] // Keeps its code out of other calls.
fn put_translated(
    mut packet: PacketWriter<'_>,
    message: &dyn EncodeBody,
    form: Form,
    flags: Flags,
    translation: &Translation,
) -> Result<(), PutError> {
    let mut own = Scratch::take();
    let mut encoder = Encoder::new(&mut own.0).with_form(form);
    if let Err(error) = message.encode(&mut encoder) {
        return Err(unencodable(message.name(), &error));
    }
    if flags.has(Flags::LOSSLESS) && encoder.lost_presence() {
        return Err(PutError::Lossy);
    }
    let (limit, start) = (packet.limit(), packet.buffer().len());
    if let Err(error) = translation.write(&own.0, packet.buffer(), limit) {
        let code = match error.reason() {
            DecodeReason::TranslationTooLong { .. } => Code::ResourceExhausted,
            _ => Code::Internal,
        };
        let text = format!("{} cannot be translated to the layout of the peer: {error}", message.name());
        return Err(PutError::Failed(Status::new(code, text)));
    }
    if flags.has(Flags::COMPRESSED) {
        gather(packet.continued(), start, Vec::new(), flags);
    }
    packet.finish().map_err(PutError::TooLong)
}

/// Writes a packet with an error as its body. If the error would be too long, truncates its text and omits its metadata
/// and details.
pub(crate) fn put_error(outbox: &mut Outbox, id: PacketId, operation: Operation, status: &Status, style: Form) {
    put_failure(outbox, id, operation, status, style, false);
}

/// Writes a packet with an error as its body, which states to native peers that the call has not run.
pub(crate) fn put_refusal(outbox: &mut Outbox, id: PacketId, operation: Operation, status: &Status, style: Form) {
    put_failure(outbox, id, operation, status, style, true);
}

/// Writes a failure status, either with [`put_error`] or, if the call has not run, with [`put_refusal`].
pub(crate) fn put_failure(
    outbox: &mut Outbox,
    id: PacketId,
    operation: Operation,
    status: &Status,
    style: Form,
    is_refused: bool,
) {
    /// Maximum length in bytes of an error body excluding its text: a prefix of seven bytes, type bytes and a length.
    const AROUND: usize = 20;
    let extended = style == Form::Extended;
    let put = |outbox: &mut Outbox, text: &str, whole: bool| {
        let mut packet = outbox.packet(id, operation);
        let metadata = Some(status.metadata()).filter(|metadata| extended && whole && !metadata.is_empty());
        let in_prefix = status.in_prefix().filter(|_| extended);
        let in_prefix = in_prefix.map(|(code, details)| (code, if whole { details } else { &[] }));
        let refused = is_refused && extended;
        let fields = PrefixFields { metadata, status: in_prefix, refused, ..PrefixFields::default() };
        prefix::put(packet.buffer(), fields);
        put_text(packet.buffer(), text);
        packet.finish()
    };
    // Change the text, because a compat peer would interpret it as the end of the stream. In replies, the text has no
    // special meaning.
    let is_end = !extended && operation == Operation::STREAM && status.message() == EOF;
    let text = if is_end { Cow::Owned(format!("{}: {EOF}", status.code())) } else { status.message().into() };
    let text = &*text;
    if let Err(too_long) = put(outbox, text, true) {
        let put = put(outbox, beginning(text, (too_long.limit as usize).saturating_sub(AROUND)), false);
        debug_assert!(put.is_ok(), "body limit should be at least {AROUND} bytes");
    }
}

/// Truncates a text to at most `max` bytes at a character boundary.
pub(crate) fn beginning(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

fn put_text(body: &mut Vec<u8>, text: &str) {
    let encoded = Encoder::new(body).error(text);
    debug_assert!(encoded.is_ok(), "text should be shorter than 4 GiB");
}

/// Writes the packet that ends one direction of a stream with a compat peer.
pub(crate) fn put_end(outbox: &mut Outbox, id: PacketId) {
    let mut packet = outbox.packet(id, Operation::STREAM);
    put_text(packet.buffer(), EOF);
    let ended = packet.finish();
    debug_assert!(ended.is_ok(), "short packet should be within every limit");
}

/// Encodes an error as the body that native peers receive.
pub(crate) fn error(status: &Status) -> Bytes {
    let mut body = Vec::new();
    prefix::put(&mut body, PrefixFields { status: status.in_prefix(), ..PrefixFields::default() });
    put_text(&mut body, status.message());
    body.into()
}

/// Message and metadata of a response, or the status of a failure.
pub(crate) type ReplyParts<'a, M> = Result<(&'a M, Option<&'a Metadata>), &'a Status>;

/// Returns the parts of a response that are sent to the caller.
pub(crate) fn reply_parts<M>(reply: &Result<Response<M>, Status>) -> ReplyParts<'_, M> {
    reply.as_ref().map(|reply| (reply.get_ref(), Extras::sent(reply.extras.as_deref())))
}

/// Writes the reply to a call. A response message may be preceded by a load report and may be compressed.
#[inline(always)]
pub(crate) fn put_reply<M: EncodeBody>(
    outbox: &mut Outbox,
    id: PacketId,
    operation: Operation,
    reply: ReplyParts<'_, M>,
    style: Form,
    writing: Writing<'_>,
    report: Option<Report>,
) {
    let (message, metadata) = match reply {
        Ok(reply) => reply,
        Err(status) => return put_error(outbox, id, operation, status, style),
    };
    let metadata = metadata.filter(|_| style == Form::Extended);
    let prefix = || PrefixFields { metadata, report, ..PrefixFields::default() };
    if let Err(error) = put_message(outbox.packet(id, operation), message, style, writing, prefix) {
        put_error(outbox, id, operation, &error.into_status(), style);
    }
}

/// Returns the body of the single packet that `put` writes.
pub(crate) fn alone(put: impl FnOnce(&mut Outbox)) -> Bytes {
    let mut outbox = Outbox::default();
    outbox.set_limit(u32::MAX);
    put(&mut outbox);
    let mut packet = outbox.take_bytes();
    packet.advance(packet.len().min(Header::MAX_LEN));
    packet
}

/// Returns whether a body, without its prefix, is a message that has fields.
pub(crate) fn is_message(body: &[u8]) -> bool {
    body.first() == Some(&0x08)
}

/// Decodes a message from a body without its prefix. Long `Bytes` and `Utf8Bytes` values share its memory. `what` names
/// the message in errors.
pub(crate) fn message<M: Message>(body: &Bytes, reading: DecodeOptions, what: &str) -> Result<Root<M>, Status> {
    polyglot::decode_root(&mut reading.shared(body)?).map_err(|error| undecodable::<M>(what, &error))
}

/// Decompresses a body without its prefix if it is compressed, and translates it if there is a translation. `by` is the
/// connection that the body arrived on. `what` names the message in errors.
pub(crate) fn prepared(
    body: Bytes,
    what: &str,
    by: &Connection,
    reading: DecodeOptions,
    translation: Option<&Translation>,
) -> Result<Bytes, Status> {
    let body = compressed::decompressed(body, what, by, reading.decompresses)?;
    match translation {
        Some(translation) => {
            let mut own = Scratch::take();
            let is_translated = translation.read(&body, &mut own, what, by, reading.nesting)?;
            Ok(if is_translated { own.into_bytes() } else { body })
        }
        None => Ok(body),
    }
}

/// Decodes a reply that may be compressed. Long `Bytes` and `Utf8Bytes` values share its memory.
pub(crate) fn reply<M: Message>(
    body: &Bytes,
    reading: DecodeOptions,
    by: &Connection,
    translation: Option<&Translation>,
) -> Result<Response<M>, Status> {
    let mut body = body.clone();
    let prefix = prefix::take(&mut body).map_err(|error| error.of_reply("reply"))?;
    match message(&prepared(body, "reply", by, reading, translation)?, reading, "reply")? {
        Root::Message(message) => Ok(Response::received(message, prefix)),
        Root::Error(text) => Err(Status::received(text, prefix)),
    }
}

/// Fast path: decodes a reply by copying its values. Returns `None` for replies that must be decoded by [`reply`].
#[inline(always)]
pub(crate) fn whole_reply<M: Message>(mut body: &[u8], nesting: Nesting) -> Option<Response<M>> {
    // Check for a prefix first, because `Option<Prefix>` would otherwise be moved.
    let prefix = if prefix::is_present(body) { Some(prefix::take_slice(&mut body).ok()?) } else { None };
    match polyglot::decode_root(&mut DecodeOptions::whole(nesting).copied(body)).ok()? {
        Root::Message(message) => Some(Response::received(message, prefix)),
        Root::Error(_) => None,
    }
}

/// A decoded request with its memory consumption.
pub(crate) struct Received<M> {
    pub(crate) message: M,
    /// Approximate memory used by the request in bytes.
    pub(crate) memory: usize,
    /// Whether decompressing or translating the request was expensive relative to its size.
    pub(crate) is_slow: bool,
}

/// Decodes a request from an uncompressed body of `length` bytes without its prefix.
#[inline(always)]
pub(crate) fn request<M: Message>(mut decoder: Decoder<'_>, length: usize) -> Result<Received<M>, Status> {
    let most = decoder.container_memory();
    match polyglot::decode_root(&mut decoder) {
        Ok(Root::Message(message)) => {
            let containers = most.saturating_sub(decoder.container_memory());
            // If the message contains slices of the read buffer, charge the whole buffer, because they keep it alive.
            let body_memory = if decoder.has_sliced() { frisbee::body_memory(length) } else { length };
            Ok(Received { message, memory: body_memory + containers, is_slow: false })
        }
        Ok(Root::Error(text)) => Err(Status::invalid_argument(format!("the request is an error: {text}"))),
        Err(error) => Err(Status::invalid_argument(format!("the request is not a valid {}: {error}", M::NAME))),
    }
}

fn unencodable(name: &str, error: &EncodeError) -> PutError {
    PutError::Failed(Status::internal(format!("{name} cannot be encoded: {error}")))
}

#[cold]
pub(crate) fn undecodable<M: Message>(what: &str, error: &DecodeError) -> Status {
    Status::internal(format!("the {what} is not a valid {}: {error}", M::NAME))
}

/// Returns the first packet of a stream, which contains the operation number and the prefix of the call.
pub(crate) fn open(operation: Operation, fields: PrefixFields<'_>) -> Bytes {
    let mut body = Vec::with_capacity(4);
    prefix::put(&mut body, fields);
    Encoder::new(&mut body).u16(operation.number());
    body.into()
}

/// Content of the first packet of a stream.
pub(crate) enum OpenPacket {
    /// The packet contains an operation number and possibly a prefix.
    Names(u16, Option<Prefix>),
    /// The prefix of the call is malformed.
    Malformed(PrefixError),
    /// The packet does not start with an operation number. It belongs to the fallback router.
    Nothing,
}

pub(crate) fn opening(body: &Bytes) -> OpenPacket {
    let mut body = body.clone();
    let prefix = match prefix::take(&mut body) {
        Ok(prefix) => prefix,
        Err(error) => return OpenPacket::Malformed(error),
    };
    Decoder::new(&body).u16().map_or(OpenPacket::Nothing, |operation| OpenPacket::Names(operation, prefix))
}

/// Encodes the body of a CANCEL packet for a call with this operation number.
pub(crate) fn cancel(operation: Operation) -> Vec<u8> {
    let mut content = Vec::with_capacity(3);
    frisbee::tlv::put_varint(&mut content, operation.number().into());
    content
}

/// Decodes the body of a CANCEL packet. Returns the operation number of the cancelled call.
pub(crate) fn cancelled(content: &[u8]) -> Option<u16> {
    frisbee::tlv::whole_varint(content).and_then(|operation| u16::try_from(operation).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost_types::FieldMask;

    /// Returns the error text that a packet with this status and operation number would contain.
    fn sent_text(status: &Status, operation: Operation, form: Form) -> String {
        let mut body = alone(|outbox| put_error(outbox, PacketId(0), operation, status, form));
        prefix::take(&mut body).expect("error packet should start with a well-formed prefix");
        Decoder::new(&body).error_text().expect("body after the prefix should be the text of an error").to_owned()
    }

    #[test]
    fn texts_of_errors_go_out_unchanged() {
        for text in ["EOF", "", &"a".repeat(1 << 20)] {
            for form in [Form::Flat, Form::Extended] {
                assert!(sent_text(&Status::aborted(text), Operation::FIRST_USER, form) == text);
            }
            assert!(sent_text(&Status::aborted(text), Operation::STREAM, Form::Extended) == text);
        }
        assert_eq!(sent_text(&Status::aborted(""), Operation::STREAM, Form::Flat), "");
    }

    #[test]
    fn plain_peer_tells_stream_failure_from_eof() {
        assert_eq!(sent_text(&Status::aborted(EOF), Operation::STREAM, Form::Flat), "aborted: EOF");
    }

    #[test]
    fn direction_end_is_encoded_as_bare_eof() {
        assert_eq!(alone(|outbox| put_end(outbox, PacketId(1)))[..], *b"\x06\x05\x0a\x03EOF");
    }

    #[test]
    fn long_body_gets_larger_container_memory_limit() {
        let paths = vec![String::new(); CONTAINER_MEMORY_MAX / size_of::<String>() + 1];
        let mut body = Vec::new();
        polyglot::encode_root(&FieldMask { paths: paths.clone() }, &mut Encoder::new(&mut body)).unwrap();
        assert!(body.len() > USUAL_MAX);
        let reading = DecodeOptions::whole(Nesting::default());
        let body = Bytes::from(body);
        let Ok(received) = request::<FieldMask>(reading.shared(&body).unwrap(), body.len()) else {
            panic!("request should be accepted")
        };
        assert_eq!(received.message.paths.len(), paths.len());
        assert!(received.memory > CONTAINER_MEMORY_MAX, "whole message should be charged: {}", received.memory);
    }
}
