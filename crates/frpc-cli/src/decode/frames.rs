//! Decoder for the frames of a connection. With a schema, it also decodes their calls, streams and messages.
//!
//! The decoder observes both directions passively and determines the method of an id from its request. It decodes
//! invalid bytes as far as possible and continues with the next frame.

use crate::schema::{Callable, Schema};
use frisbee::tlv::{Items, take_varint};
use frisbee_core::{Header, Role};
use frpc::polyglot::{Decoder, Kind, Root};
use frpc::{Code, HeaderForm};
use frpc_dynamic::{MessageDescriptor, to_json};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// Maximum length of a frame body in bytes. Longer bodies are considered invalid, because peers accept them only with
/// special settings.
const BODY_MAX: usize = 64 << 20;

/// Number of bytes of a body that are shown if there is no schema to decode it.
const SHOWN: usize = 48;

/// First call id that is used by the end that accepted the connection, if both peers are native.
const ACCEPTING_IDS: u16 = 0x8000;

/// Decoder for the frames of an observed connection, in both directions.
pub(crate) struct WatchedConnection {
    schema: Option<Arc<Schema>>,
    form: Option<HeaderForm>,
    /// State of each direction: first from the client to the server, then the opposite direction.
    directions: [Direction; 2],
    /// Whether the server has sent a HELLO. If so, the call id shows which end has made a call.
    is_native: bool,
    /// Open streams by id. Each is stored with the end that opened it, and the operation of its method.
    streams: HashMap<u16, (Role, u16)>,
}

#[derive(Default)]
struct Direction {
    /// Bytes of an incomplete frame.
    buffer: Vec<u8>,
    /// Whether an invalid frame was found. Later bytes are ignored, because frame boundaries are unknown.
    is_desynced: bool,
    /// Packets that have arrived in part, in fragments, by their channel.
    partial: HashMap<u8, PartialPacket>,
}

/// The beginning of a packet that is sent in fragments.
struct PartialPacket {
    id: u16,
    operation: u16,
    body: Vec<u8>,
    /// Length of the whole body.
    length: usize,
}

const STREAM: u16 = 2;
const EXTENSION: u16 = 3;
const BATCH: u16 = 9;

/// Id of the extension packets that are fragments.
const FRAGMENT: u16 = 7;

impl WatchedConnection {
    /// Creates a decoder for a connection, beginning with the first byte of the connection. If `form` is `None`, the
    /// header format is detected from the first frame.
    pub(crate) fn new(schema: Option<Arc<Schema>>, form: Option<HeaderForm>) -> Self {
        Self { schema, form, directions: Default::default(), is_native: false, streams: HashMap::new() }
    }

    /// Decodes bytes that one end has sent. Returns the frames that they complete.
    pub(crate) fn feed(&mut self, side: Role, bytes: &[u8]) -> Vec<ShownFrame> {
        let mut shown = Vec::new();
        let direction = &mut self.directions[side as usize];
        if direction.is_desynced {
            return shown;
        }
        direction.buffer.extend_from_slice(bytes);
        let mut bytes = std::mem::take(&mut direction.buffer);
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            match self.frame(rest) {
                Ok(Some((frame, length))) => {
                    shown.push(self.describe(side, &frame));
                    if frame.operation == BATCH {
                        self.show_batch(side, &frame, &mut shown);
                    }
                    if (frame.operation, frame.id) == (EXTENSION, FRAGMENT)
                        && let Some(PartialPacket { id, operation, body, .. }) = self.join(side, frame.body)
                    {
                        shown.push(self.describe(side, &Frame { id, operation, body: &body }));
                    }
                    at += length;
                }
                Ok(None) => break,
                Err(reason) => {
                    let text = format!("invalid frame: {reason}");
                    shown.push(ShownFrame { side, header: None, text, message: None, step: None });
                    self.directions[side as usize].is_desynced = true;
                    break;
                }
            }
        }
        bytes.drain(..at.min(bytes.len()));
        self.directions[side as usize].buffer = bytes;
        shown
    }

    /// Shows each message of a batch as a separate frame. Stops at a truncated message.
    fn show_batch(&mut self, side: Role, batch: &Frame<'_>, shown: &mut Vec<ShownFrame>) {
        let mut rest = batch.body;
        while let Some((body, behind)) = block(rest) {
            shown.push(self.describe(side, &Frame { operation: STREAM, body, ..*batch }));
            rest = behind;
        }
    }

    /// Adds a fragment to the packet on its channel. Returns the packet if it is complete. A malformed fragment is
    /// ignored, together with the packet.
    fn join(&mut self, side: Role, fragment: &[u8]) -> Option<PartialPacket> {
        let (channel, part) = fragment.split_first()?;
        let partial = &mut self.directions[side as usize].partial;
        let (mut packet, part) = match partial.remove(channel) {
            Some(packet) => (packet, part),
            None => {
                let (operation, rest) = number(part)?;
                let (id, rest) = number(rest)?;
                let (length, rest) = number(rest)?;
                let (id, operation) = (u16::try_from(id).ok()?, u16::try_from(operation).ok()?);
                let length = usize::try_from(length).ok().filter(|length| *length <= BODY_MAX)?;
                (PartialPacket { id, operation, body: Vec::new(), length }, rest)
            }
        };
        packet.body.extend_from_slice(part);
        match packet.body.len() {
            length if length == packet.length => return Some(packet),
            length if length < packet.length => drop(partial.insert(*channel, packet)),
            _ => {}
        }
        None
    }

    /// Returns the number of bytes in this direction that are buffered because their frame is incomplete or invalid.
    pub(crate) fn left(&self, side: Role) -> usize {
        self.directions[side as usize].buffer.len()
    }

    /// Returns the frame at the start of `bytes` with its length, or `None` if the frame is not complete.
    fn frame<'a>(&mut self, bytes: &'a [u8]) -> Result<Option<(Frame<'a>, usize)>, String> {
        let form = match (self.form, bytes) {
            (Some(form), _) => form,
            (None, [0, 0x0f, ..]) => *self.form.insert(HeaderForm::Current),
            (None, [_, _, ..]) => *self.form.insert(HeaderForm::Old),
            (None, _) => return Ok(None),
        };
        let header = match form {
            HeaderForm::Current => bytes.first_chunk().map(Header::decode),
            HeaderForm::Old => bytes.first_chunk().map(|header| Ok(Header::decode_old(header))),
        };
        let Some(header) = header else { return Ok(None) };
        let Header { id, operation, length } = header.map_err(|magic| format!("{magic:04x} is not the magic 000f"))?;
        let body_len = usize::try_from(length).unwrap_or(usize::MAX);
        if body_len > BODY_MAX {
            return Err(format!("a body length of {length} bytes"));
        }
        let body = bytes.get(form.size()..form.size() + body_len);
        Ok(body.map(|body| (Frame { id: id.0, operation: operation.number(), body }, form.size() + body_len)))
    }

    fn describe(&mut self, side: Role, frame: &Frame<'_>) -> ShownFrame {
        let Frame { id, operation, body } = *frame;
        let mut out = String::new();
        let (mut step, mut json) = (None, None);
        // Writing to a string cannot fail, so ignore the result.
        let _ = match operation {
            0 => write!(out, "PING"),
            1 => write!(out, "PONG"),
            STREAM => {
                (step, json) = self.stream(side, id, body, &mut out);
                Ok(())
            }
            3 => {
                self.is_native |= side == Role::Server && id == 0 && body.starts_with(b"fris");
                step = self.stream_items(side, id, body, &mut out);
                Ok(())
            }
            4 => write!(out, "GOING_AWAY"),
            5 => write!(out, "CREDIT of stream {id}: {}", number(body).map_or(0, |(credit, _)| credit)),
            6 => {
                let called = number(body).and_then(|(it, _)| u16::try_from(it).ok()).unwrap_or(0);
                step = Some(Step::call(side, id, called, FrameEvent::Cancelled));
                write!(out, "CANCEL of call {id} of {}", self.name(called))
            }
            7 => {
                step = self.streams.get(&id).map(|&(opener, operation)| {
                    let code = number(body).map(|(number, _)| code(number));
                    let what = if code.is_some() || side != opener {
                        FrameEvent::Ended(code)
                    } else {
                        FrameEvent::Sent(None, 0)
                    };
                    Step::stream(opener, id, operation, what)
                });
                write!(out, "END of stream {id}{}", reset(body))
            }
            8 => write!(out, "HAND_OFF of {} bytes", body.len()),
            BATCH => write!(out, "BATCH of stream {id}, {} bytes", body.len()),
            _ => {
                let (prefix, message) = prefix(body);
                let is_of_server = self.is_native && id >= ACCEPTING_IDS;
                let caller = if is_of_server { Role::Server } else { Role::Client };
                let part = if side == caller { "request" } else { "reply" };
                let status = prefix.status_with(message);
                let what = if side == caller {
                    FrameEvent::Began(body.len())
                } else {
                    FrameEvent::Replied(status, body.len())
                };
                step = Some(Step::call(caller, id, operation, what));
                let _ = write!(out, "{part} {id} of {}, {} bytes{}", self.name(operation), body.len(), prefix.text);
                json = self.message(operation, part == "request", message, &mut out);
                Ok(())
            }
        };
        ShownFrame { side, header: Some((id, operation, body.len())), text: out, message: json, step }
    }

    /// Describes an extension packet (operation 3). Returns the effect of HEADERS and TRAILERS on the call of their
    /// stream.
    fn stream_items(&self, side: Role, kind: u16, body: &[u8], out: &mut String) -> Option<Step> {
        let stream = number(body).and_then(|(stream, items)| Some((u16::try_from(stream).ok()?, items)));
        let (name, (id, items)) = match (kind, stream) {
            (5, Some(stream)) => ("HEADERS", stream),
            (6, Some(stream)) => ("TRAILERS", stream),
            _ => {
                out.push_str(&extension(kind, body));
                return None;
            }
        };
        let Prefix { text, status } = Prefix::read(items);
        let _ = write!(out, "{name} of stream {id}{text}");
        let (opener, operation) = self.streams.get(&id).copied().filter(|(opener, _)| side != *opener)?;
        let what = if kind == 6 { FrameEvent::Ended(status) } else { FrameEvent::Sent(None, 0) };
        Some(Step::stream(opener, id, operation, what))
    }

    fn stream(&mut self, side: Role, id: u16, body: &[u8], out: &mut String) -> (Option<Step>, Option<String>) {
        let (prefix, message) = prefix(body);
        let step = |opener, operation, what| Some(Step::stream(opener, id, operation, what));
        // No message starts with this byte, so this is an opening. The id may belong to a closed stream.
        if let [0x09, operation @ ..] = message
            && let Some((operation, _)) = number(operation)
        {
            let operation = u16::try_from(operation).unwrap_or(0);
            self.streams.insert(id, (side, operation));
            let _ = write!(out, "STREAM {id} opened for {}{}", self.name(operation), prefix.text);
            return (step(side, operation, FrameEvent::Began(0)), None);
        }
        if body.is_empty() {
            let _ = write!(out, "STREAM {id} closed");
            let ended = self.streams.remove(&id);
            return (ended.and_then(|(opener, operation)| step(opener, operation, FrameEvent::Ended(None))), None);
        }
        let _ = write!(out, "STREAM {id}, {} bytes{}", body.len(), prefix.text);
        if let Some((opener, operation)) = self.streams.get(&id).copied() {
            let json = self.message(operation, side == opener, message, out);
            let status = prefix.status_with(message);
            return (step(opener, operation, FrameEvent::Sent(status.filter(|_| side != opener), body.len())), json);
        }
        raw(message, out);
        (None, None)
    }

    /// Appends a description of a message to `out`. Returns the message as JSON if the schema contains its type.
    fn message(&self, operation: u16, is_request: bool, bytes: &[u8], out: &mut String) -> Option<String> {
        if bytes.is_empty() {
            return None;
        }
        if is_error(bytes) {
            let text = Decoder::new(bytes).error_text().unwrap_or("an error that cannot be read").to_owned();
            let _ = write!(out, "\n    error {text:?}");
            return None;
        }
        if let [COMPRESSED, compressed @ ..] = bytes
            && let Some((length, frame)) = number(compressed)
        {
            let _ = write!(out, "\n    compressed by zstd: {length} bytes in a frame of {}", frame.len());
            return None;
        }
        let found = self.schema.as_ref().zip(self.method(operation));
        let Some((schema, callable)) = found else {
            raw(bytes, out);
            return None;
        };
        let descriptor: MessageDescriptor =
            if is_request { callable.descriptor.input() } else { callable.descriptor.output() };
        let shown = match schema.codec.decode(&descriptor, &mut Decoder::new(bytes)) {
            Ok(Root::Message(message)) => to_json(&message).map_err(|error| error.to_string()),
            Ok(Root::Error(text)) => Err(text),
            Err(error) => Err(error.to_string()),
        };
        match shown {
            Ok(json) => {
                let _ = write!(out, "\n    {} {json}", descriptor.full_name());
                Some(json)
            }
            Err(error) => {
                let _ = write!(out, "\n    {error}");
                raw(bytes, out);
                None
            }
        }
    }

    fn method(&self, operation: u16) -> Option<&Callable> {
        self.schema.as_ref()?.by_operation(operation)
    }

    /// Returns the name of the method with this operation number. Without a schema, returns the number itself.
    pub(crate) fn name(&self, operation: u16) -> String {
        self.method(operation).map_or_else(|| format!("operation {operation}"), Callable::name)
    }
}

/// A decoded frame with its description.
pub(crate) struct ShownFrame {
    side: Role,
    /// Id, operation and length of the frame, or `None` if the frame is invalid.
    header: Option<(u16, u16, usize)>,
    text: String,
    /// The message as JSON, or `None` if its type is unknown.
    message: Option<String>,
    /// Effect of the frame on a call, for `frpc trace`.
    pub(crate) step: Option<Step>,
}

impl ShownFrame {
    pub(crate) fn text(&self) -> String {
        let mark = if self.side == Role::Client { '>' } else { '<' };
        format!("{mark} {}", self.text)
    }

    pub(crate) fn json(&self, connection: Option<u64>) -> String {
        let (id, operation, bytes) =
            self.header.map_or((None, None, None), |(id, operation, bytes)| (Some(id), Some(operation), Some(bytes)));
        let from = if self.side == Role::Client { "client" } else { "server" };
        let line = serde_json::json!({
            "connection": connection,
            "from": from,
            "id": id,
            "operation": operation,
            "bytes": bytes,
            "text": self.text,
        });
        // Append the text of the message, because parsing it would fail if it is nested too deep.
        let line = line.to_string();
        let line = line.strip_suffix('}').unwrap_or(&line);
        format!("{line},\"message\":{}}}", self.message.as_deref().unwrap_or("null"))
    }
}

/// Effect that a frame has on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// End that has made the call.
    pub(crate) opener: Role,
    pub(crate) is_stream: bool,
    pub(crate) id: u16,
    pub(crate) operation: u16,
    pub(crate) what: FrameEvent,
}

impl Step {
    fn call(opener: Role, id: u16, operation: u16, what: FrameEvent) -> Self {
        Self { opener, is_stream: false, id, operation, what }
    }

    fn stream(opener: Role, id: u16, operation: u16, what: FrameEvent) -> Self {
        Self { opener, is_stream: true, id, operation, what }
    }
}

/// Meaning of a frame for its call. Contains the length of the body and the status, if the frame has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FrameEvent {
    Began(usize),
    Sent(Option<Code>, usize),
    Replied(Option<Code>, usize),
    Ended(Option<Code>),
    Cancelled,
}

#[derive(Clone, Copy)]
struct Frame<'a> {
    id: u16,
    operation: u16,
    body: &'a [u8],
}

/// Text that describes the items before a message, and the status that they contain, if any.
#[derive(Default)]
pub(crate) struct Prefix {
    text: String,
    pub(crate) status: Option<Code>,
}

/// First byte of a compressed message.
const COMPRESSED: u8 = 0x11;

/// Splits the body of a frame into the items at its start and the message after them.
pub(crate) fn prefix(body: &[u8]) -> (Prefix, &[u8]) {
    match body.strip_prefix(&[0x10]).and_then(block) {
        Some((items, message)) => (Prefix::read(items), message),
        None => (Prefix::default(), body),
    }
}

impl Prefix {
    /// Returns the status of a reply with this message.
    pub(crate) fn status_with(&self, message: &[u8]) -> Option<Code> {
        self.status.or_else(|| is_error(message).then_some(Code::Unknown))
    }

    pub(crate) fn read(items: &[u8]) -> Self {
        let mut prefix = Self::default();
        for (kind, value) in Items::new(items).flatten() {
            let _ = match kind {
                1 => write!(prefix.text, ", timeout {} us", number(value).map_or(0, |(micros, _)| micros)),
                2 => {
                    let (key, value) = block(value).unwrap_or((b"?", value));
                    // Show only the length of a metadata value, because it may be a secret.
                    let key = String::from_utf8_lossy(key).into_owned();
                    write!(prefix.text, ", metadata {key} of {} bytes", value.len())
                }
                3 => {
                    let (number, details) = number(value).unwrap_or((2, &[]));
                    let code = code(number);
                    prefix.status = Some(code);
                    write!(prefix.text, ", {} with {} bytes of details", code.name(), details.len())
                }
                5 => write!(prefix.text, ", not run"),
                6 => {
                    let digits =
                        |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
                    let (trace, span) = value.split_at_checked(16).unwrap_or((value, &[]));
                    write!(prefix.text, ", trace {} span {}", digits(trace), digits(span.get(..8).unwrap_or(span)))
                }
                8 => write!(prefix.text, ", \"{}\"", String::from_utf8_lossy(value).escape_debug()),
                other => write!(prefix.text, ", item {other} of {} bytes", value.len()),
            };
        }
        prefix
    }
}

/// Decodes a varint. Returns its value and the remaining bytes.
pub(crate) fn number(mut bytes: &[u8]) -> Option<(u64, &[u8])> {
    take_varint(&mut bytes).map(|number| (number, bytes))
}

/// Splits bytes after a block that begins with its length as a number. Returns the content of the block and the rest.
fn block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = number(bytes)?;
    rest.split_at_checked(usize::try_from(length).ok()?)
}

pub(crate) fn code(number: u64) -> Code {
    Code::from_i32(i32::try_from(number).unwrap_or(2))
}

/// Describes an extension packet (operation 3). Its id states the type of the packet.
fn extension(id: u16, body: &[u8]) -> String {
    const TYPES: [&str; 8] = ["HELLO", "ASK", "LAYOUT", "CALLS", "CLOSE", "HEADERS", "TRAILERS", "FRAGMENT"];
    match TYPES.get(usize::from(id)) {
        Some(&"HELLO") => format!("HELLO {}", hello(body)),
        Some(name) => format!("{name} of {} bytes", body.len()),
        None => format!("type {id} of operation 3, {} bytes", body.len()),
    }
}

fn hello(body: &[u8]) -> String {
    let Some([version, items @ ..]) = body.strip_prefix(b"fris") else {
        return format!("with an invalid magic number, {} bytes", body.len());
    };
    let mut out = format!("version {version}");
    for (kind, value) in Items::new(items).flatten() {
        let count = number(value).map_or(0, |(count, _)| count);
        let service = String::from_utf8_lossy(block(value).unwrap_or_default().0);
        let _ = match kind {
            1 => write!(out, ", bodies of {count} bytes"),
            2 => write!(out, ", {count} streams"),
            3 => write!(out, ", {count} calls"),
            4 => write!(out, ", credit {count}"),
            6 => write!(out, ", batches"),
            8 => write!(out, ", {count} channels"),
            32 => write!(out, ", offers {service}"),
            33 => write!(out, ", calls {service}"),
            35 => write!(out, ", decompresses"),
            _ => Ok(()),
        };
    }
    out
}

/// Returns whether the body contains an error instead of a message.
fn is_error(message: &[u8]) -> bool {
    message.first() == Some(&Kind::Error.byte())
}

/// Returns a description of a stream reset's code and text. The result is empty if the stream ended regularly.
fn reset(body: &[u8]) -> String {
    let Some((number, text)) = number(body) else { return String::new() };
    format!(": reset, {}: {}", code(number).name(), String::from_utf8_lossy(text))
}

fn raw(bytes: &[u8], out: &mut String) {
    out.push_str("\n   ");
    for byte in bytes.iter().take(SHOWN) {
        let _ = write!(out, " {byte:02x}");
    }
    if bytes.len() > SHOWN {
        let _ = write!(out, " … {} bytes", bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(id: u16, operation: u16, body: &[u8]) -> Vec<u8> {
        let mut out = vec![0, 0x0f];
        out.extend(id.to_be_bytes());
        out.extend(operation.to_be_bytes());
        out.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
        out.extend(body);
        out
    }

    fn shown(pieces: &[(Role, &[u8])]) -> Vec<String> {
        let mut conversation = WatchedConnection::new(None, None);
        let mut lines = Vec::new();
        for (side, bytes) in pieces {
            lines.extend(conversation.feed(*side, bytes).iter().map(ShownFrame::text));
        }
        lines
    }

    #[test]
    fn frames_are_independent_of_cuts_and_headers() {
        let request = [frame(0, 0, b""), frame(7, 10, b"\x08\x00\x05\x0a\x03you")].concat();
        let whole = shown(&[(Role::Client, &request)]);
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0], "> PING");
        assert_eq!(whole[1], "> request 7 of operation 10, 8 bytes\n    08 00 05 0a 03 79 6f 75");
        for at in 0..request.len() {
            let (one, other) = request.split_at(at);
            assert_eq!(shown(&[(Role::Client, one), (Role::Client, other)]), whole, "cut at {at}");
        }
        let old = [&frame(0, 0, b"")[2..], &frame(7, 10, b"\x08\x00\x05\x0a\x03you")[2..]].concat();
        assert_eq!(shown(&[(Role::Client, &old)]), whole);
    }

    #[test]
    fn prefixes_and_errors_are_shown_in_words() {
        let lines = shown(&[
            (Role::Client, &frame(0, 3, b"fris\x01\x02\x01\x05\x22\x00\x23\x01\x01\xf0\x02\x01\x02")),
            (Role::Server, &frame(7, 10, b"\x10\x03\x03\x01\x05\x06\x05\x0a\x02no")),
            (Role::Client, &frame(1, 2, b"\x09\x15")),
            (Role::Client, &frame(1, 2, b"\x08\x00")),
            (Role::Client, &frame(1, 2, b"\x11\xb6\x09\x28\xb5\x2f\xfd\x60")),
            (Role::Client, &frame(1, 9, b"\x02\x08\x00\x02\x08\x00\x05")),
            (Role::Server, &frame(1, 7, b"")),
            (Role::Client, &frame(1, 2, b"")),
            (Role::Server, &frame(2, 3, b"\0")),
            (Role::Server, &frame(99, 3, b"")),
            (Role::Server, &frame(5, 3, b"\x01\x02\x03\x01kv")),
            (Role::Server, &frame(6, 3, b"\x01\x03\x01\x10\x08\x02no")),
            (Role::Server, &frame(6, 3, b"")),
        ]);
        assert_eq!(
            lines,
            [
                "> HELLO version 1, 5 streams, decompresses",
                "< reply 7 of operation 10, 11 bytes, NOT_FOUND with 0 bytes of details\n    error \"no\"",
                "> STREAM 1 opened for operation 21",
                "> STREAM 1, 2 bytes\n    08 00",
                "> STREAM 1, 8 bytes\n    compressed by zstd: 1206 bytes in a frame of 5",
                "> BATCH of stream 1, 7 bytes",
                "> STREAM 1, 2 bytes\n    08 00",
                "> STREAM 1, 2 bytes\n    08 00",
                "< END of stream 1",
                "> STREAM 1 closed",
                "< LAYOUT of 1 bytes",
                "< type 99 of operation 3, 0 bytes",
                "< HEADERS of stream 1, metadata k of 1 bytes",
                "< TRAILERS of stream 1, UNAUTHENTICATED with 0 bytes of details, \"no\"",
                "< TRAILERS of 0 bytes",
            ]
        );
    }

    /// Regression test: a message that is nested deeper than the parser of JSON permits was shown as `null`.
    #[test]
    fn json_of_frame_contains_deep_message() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let (text, message) = ("STREAM 1".to_owned(), Some(deep.clone()));
        let frame = ShownFrame { side: Role::Client, header: Some((1, 2, 3)), text, message, step: None };
        assert!(frame.json(Some(0)).ends_with(&format!("\"text\":\"STREAM 1\",\"message\":{deep}}}")));
    }

    /// Regression test: a packet in fragments was not shown.
    #[test]
    fn packet_in_fragments_is_shown_at_its_end() {
        let parts = [&b"\0\x12\x07\x06\x08\0\x0d\x02"[..], b"\x01\x02\x03\x04\x08", b"\0\x0d\x04", b"\x01too long"];
        let lines = shown(&[(Role::Client, &parts.map(|part| frame(7, 3, part)).concat())]);
        let whole = "> request 7 of operation 18, 6 bytes\n    08 00 0d 02 0d 04";
        assert_eq!(lines.iter().filter(|line| !line.starts_with("> FRAGMENT of ")).collect::<Vec<_>>(), [whole]);
    }

    #[test]
    fn reused_stream_id_starts_new_stream() {
        let opened = |operation| frame(1, 2, &[0x09, operation]);
        let ended = frame(1, 7, b"");
        let lines = shown(&[
            (Role::Client, &[opened(21), ended.clone()].concat()),
            (Role::Server, &ended),
            (Role::Client, &opened(22)),
        ]);
        assert_eq!(lines.last().map(String::as_str), Some("> STREAM 1 opened for operation 22"));
    }

    #[test]
    fn random_bytes_are_taken_without_harm() {
        let mut random = fastrand::Rng::with_seed(1);
        for _ in 0..2000 {
            let length = random.usize(..200);
            let mut bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
            if random.bool() {
                let operation = random.u16(..12);
                bytes = frame(random.u16(..3), operation, &bytes);
            }
            let mut conversation = WatchedConnection::new(None, None);
            conversation.feed(Role::Client, &bytes);
            conversation.feed(Role::Server, &bytes);
        }
    }
}
