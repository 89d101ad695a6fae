//! Handling of frames that are part of messages: field blocks and DATA.

use super::{Connection, Reading, Step};
use crate::error::ConnectionError;
use crate::frame::{self, FrameHead, flag};
use crate::head::{HeadKind, HeadReader};
use crate::hpack::DecodeError;
use crate::streams::State;
use crate::{ErrorCode, Event, StreamKey, limits};
use bytes::{Buf, Bytes};
use frisbee_core::Role;
use frisbee_core::cost;
use std::time::Instant;

/// A field block that has been received only partially and continues in CONTINUATION frames.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) stream: u32,
    is_end: bool,
    continuations: u32,
    pub(super) bytes: Vec<u8>,
}

/// A DATA frame with a payload that has been received only partially.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataFrame {
    stream: StreamKey,
    /// Number of payload bytes that have not been received, including padding until the length of the padding is known.
    left: u32,
    /// Length of the padding in bytes, or `None` until it is known.
    padding: Option<u32>,
    is_end: bool,
    /// Number of body bytes in this frame, excluding padding.
    length: u32,
}

/// Message that a field block belongs to. It determines how the fields are validated.
#[derive(Clone, Copy)]
enum Target {
    New,
    /// The message of a stream that this end has refused or reset. Its field block is decoded, because it may change
    /// the compression table, and is then ignored.
    Discarded,
    Response(u32),
    Trailers(u32),
}

impl Connection {
    /// Checks that a field block does not exceed its maximum length. Called before the next part of the block is
    /// buffered.
    pub(super) fn reserve_block(&mut self, head: FrameHead) -> Result<(), ConnectionError> {
        let before = self.block.as_ref().map_or(0, |block| block.bytes.len());
        if before.saturating_add(head.length as usize) > limits::BLOCK_MAX {
            return Err(ConnectionError::calm("field block exceeds 32 KiB"));
        }
        Ok(())
    }

    pub(super) fn handle_headers(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        now: Instant,
    ) -> Result<Step, ConnectionError> {
        let (block, dependency) = frame::block(head, payload)?;
        self.check_dependency(head.stream, dependency)?;
        if head.has(flag::PADDED) {
            let padding = payload.len().saturating_sub(block.len()) as u32; // At most the size of a frame.
            self.abuse.charge(padding, cost::FRAME.saturating_add(padding.into()));
        }
        let is_end = head.has(flag::END_STREAM);
        if head.has(flag::END_HEADERS) {
            return self.handle_block(head.stream, is_end, block, now);
        }
        self.block = Some(Block { stream: head.stream, is_end, continuations: 0, bytes: block.to_vec() });
        Ok(Step::Progress)
    }

    pub(super) fn handle_continuation(
        &mut self,
        head: FrameHead,
        payload: &[u8],
        now: Instant,
    ) -> Result<Step, ConnectionError> {
        let Some(mut block) = self.block.take() else { return Ok(Step::Progress) };
        block.continuations = block.continuations.saturating_add(1);
        if block.continuations > limits::CONTINUATIONS_MAX {
            return Err(ConnectionError::calm("too many CONTINUATION frames"));
        }
        block.bytes.extend_from_slice(payload);
        if head.has(flag::END_HEADERS) {
            return self.handle_block(block.stream, block.is_end, &block.bytes, now);
        }
        self.block = Some(block);
        Ok(Step::Progress)
    }

    /// Determines the message that a field block belongs to.
    fn target(&mut self, id: u32, is_end: bool) -> Result<Target, ConnectionError> {
        if let Some(number) = self.streams.find(id) {
            let Some(slot) = self.streams.slot(number) else { return Ok(Target::Discarded) };
            // Section 5.1, half-closed (remote): "If an endpoint receives additional frames, other than WINDOW_UPDATE,
            // PRIORITY, or RST_STREAM, for a stream that is in this state, it MUST respond with a stream error of type
            // STREAM_CLOSED."
            if is_end {
                slot.state.receive_end()?;
            } else if !slot.state.may_receive() {
                return Err(ConnectionError::closed("HEADERS for a stream that its sender has ended"));
            }
            return Ok(if slot.has_received_head { Target::Trailers(number) } else { Target::Response(number) });
        }
        if self.may_have_been_reset(id) {
            return Ok(Target::Discarded);
        }
        if !self.is_idle(id) {
            return Err(ConnectionError::closed("HEADERS for a closed stream"));
        }
        // Section 5.1.1: "Streams initiated by a client MUST use odd-numbered stream identifiers". Servers open none,
        // because push is disabled.
        if self.role == Role::Client || id.is_multiple_of(2) {
            return Err(ConnectionError::protocol("peer may not open this stream"));
        }
        self.last_peer_id = id;
        // Section 5.1.2: "An endpoint that receives a HEADERS frame that causes its advertised concurrent stream limit
        // to be exceeded MUST treat this as a stream error of type PROTOCOL_ERROR or REFUSED_STREAM."
        if self.streams.len() >= self.streams_max || id > self.announced_last {
            self.refuse(id);
            return Ok(Target::Discarded);
        }
        Ok(Target::New)
    }

    /// Returns whether this end may have reset the stream `id`, which is no longer in the table. If so, frames that the
    /// peer sent before it received the reset are not an error.
    fn may_have_been_reset(&self, id: u32) -> bool {
        self.streams.was_reset(id) || !self.is_idle(id) && self.streams.may_be_forgotten(id)
    }

    fn refuse(&mut self, id: u32) {
        self.abuse.charge(0, cost::REFUSED);
        frame::put_reset(self.output.framed(), id, ErrorCode::REFUSED_STREAM);
        self.streams.remember_reset(id);
    }

    fn handle_block(&mut self, id: u32, is_end: bool, block: &[u8], now: Instant) -> Result<Step, ConnectionError> {
        let target = self.target(id, is_end)?;
        let kind = match target {
            Target::New | Target::Discarded if self.role == Role::Server => {
                HeadKind::Request { is_local: self.is_local }
            }
            Target::Trailers(_) => HeadKind::Trailers,
            _ => HeadKind::Response,
        };
        // Decode even a block that is discarded, because it changes the compression state that both ends share.
        let length = self.decode(kind, block)?;
        match target {
            Target::Discarded => {
                self.abuse.charge(block.len() as u32, cost::FRAME); // A block has at most 32 KiB.
                Ok(Step::Progress)
            }
            Target::New => self.handle_request(id, is_end, length, now),
            Target::Response(number) => self.handle_response(number, is_end, length, now),
            // Section 8.1: "An endpoint that receives a HEADERS frame without the END_STREAM flag set after receiving
            // the HEADERS frame that opens a request or after receiving a final (non-informational) status code MUST
            // treat the corresponding request or response as malformed".
            Target::Trailers(number) if !is_end => self.stream_error(number, now),
            Target::Trailers(number) => {
                let is_valid = length.is_ok() && self.end_body(number);
                // Take the key first, because removing the stream invalidates its slot.
                let Some(stream) = self.streams.key(number) else { return Ok(Step::Progress) };
                if !is_valid {
                    return self.stream_error(number, now);
                }
                self.remove_if_closed(number);
                Ok(Step::Event(Event::Trailers { stream }))
            }
        }
    }

    /// Decodes a field block into the head that the connection stores. Returns the declared length of the body, or the
    /// reason why the message is malformed.
    fn decode(&mut self, kind: HeadKind, block: &[u8]) -> Result<Result<Option<u64>, &'static str>, ConnectionError> {
        if let Some(length) = self.memo.find(kind, block, &mut self.head) {
            return Ok(Ok(length));
        }
        let mut reader = HeadReader::new(kind, &mut self.head);
        let has_changed = self.decoder.decode(block, |field| reader.field(field)).map_err(|error| match error {
            DecodeError::TooLarge => ConnectionError::calm(error.reason()),
            // Section 4.3: "A receiver MUST terminate the connection with a connection error of type COMPRESSION_ERROR
            // if it does not decompress a field block."
            _ => ConnectionError::new(ErrorCode::COMPRESSION_ERROR, error.reason()),
        })?;
        let length = reader.finish();
        match length {
            _ if has_changed => self.memo.clear(),
            Ok(length) => self.memo.keep(kind, block, &mut self.head, length),
            Err(_) => {}
        }
        Ok(length)
    }

    fn handle_request(
        &mut self,
        id: u32,
        is_end: bool,
        length: Result<Option<u64>, &'static str>,
        now: Instant,
    ) -> Result<Step, ConnectionError> {
        // A message that ends with its head must not declare a body.
        let is_complete = |length: &Option<u64>| !is_end || length.is_none_or(|length| length == 0);
        let Some(length) = length.ok().filter(is_complete) else {
            return self.reject(id, now).map(|()| Step::Progress);
        };
        let stream = self.streams.insert(id, self.peer.initial_window, self.initial_window);
        if let Some(slot) = self.streams.get_mut(stream) {
            slot.has_received_head = true;
            slot.missing = length;
            if is_end {
                slot.state.receive_end()?;
            }
        }
        self.shut_down_before_exhaustion(id, now);
        Ok(Step::Event(Event::Head { stream, is_end }))
    }

    fn handle_response(
        &mut self,
        number: u32,
        is_end: bool,
        length: Result<Option<u64>, &'static str>,
        now: Instant,
    ) -> Result<Step, ConnectionError> {
        let Some(slot) = self.streams.slot(number) else { return Ok(Step::Progress) };
        let Ok(length) = length else { return self.stream_error(number, now) };
        // A truncated list of fields may lack the status.
        let Some(status) = self.head.status() else { return self.stream_error(number, now) };
        if status < 200 {
            // Section 8.1: "A HEADERS frame with the END_STREAM flag set that carries an informational status code is
            // malformed."
            if is_end {
                return self.stream_error(number, now);
            }
            self.abuse.charge(0, cost::FRAME);
            return Ok(Step::Progress);
        }
        slot.has_received_head = true;
        // Responses to HEAD and responses with status 304 declare the length of a body that they do not contain (RFC
        // 9110, section 8.6).
        slot.missing = length.filter(|_| !slot.is_bodiless && status != 304);
        if is_end && !self.end_body(number) {
            return self.stream_error(number, now);
        }
        // Take the key first, because removing the stream invalidates its slot.
        let Some(stream) = self.streams.key(number) else { return Ok(Step::Progress) };
        self.remove_if_closed(number);
        Ok(Step::Event(Event::Head { stream, is_end }))
    }

    /// Returns whether a body that ends now has its declared length.
    fn end_body(&mut self, number: u32) -> bool {
        self.streams.slot(number).is_some_and(|slot| slot.receive_body(0, true).is_ok())
    }

    /// Frees the slot of a stream once both ends have ended it.
    pub(super) fn remove_if_closed(&mut self, number: u32) {
        if self.streams.slot(number).is_some_and(|slot| slot.state == State::Closed) {
            self.remove(number);
        }
    }

    /// Resets a stream because of a malformed message, and reports the reset as an event.
    fn stream_error(&mut self, number: u32, now: Instant) -> Result<Step, ConnectionError> {
        let Some(slot) = self.streams.slot(number) else { return Ok(Step::Progress) };
        let (id, stream) = (slot.id, slot.key(number));
        self.remove(number);
        self.reject(id, now)?;
        Ok(Step::Event(Event::Reset { stream, code: ErrorCode::PROTOCOL_ERROR }))
    }

    /// Resets a stream without reporting an event. Section 8.1.1: "Malformed requests or responses that are detected
    /// MUST be treated as a stream error of type PROTOCOL_ERROR."
    fn reject(&mut self, id: u32, now: Instant) -> Result<(), ConnectionError> {
        frame::put_reset(self.output.framed(), id, ErrorCode::PROTOCOL_ERROR);
        self.streams.remember_reset(id);
        self.abuse.charge_stream_error(now)
    }

    /// Begins a DATA frame. Checks the flow-control windows and the state of the stream before any payload is read.
    pub(super) fn begin_data(&mut self, head: FrameHead, now: Instant) -> Result<Step, ConnectionError> {
        // Section 6.9: "The receiver of a frame always accounts for its contribution against the connection
        // flow-control window, unless the receiver treats this as a connection error." Return the credit immediately.
        if let Some(credit) = self.receive_window.receive(head.length, now)? {
            frame::put_window_update(self.output.framed(), 0, credit);
        }
        let Some(number) = self.streams.find(head.stream) else {
            self.expect_closed(head.stream)?;
            if !self.may_have_been_reset(head.stream) {
                return Err(ConnectionError::closed("DATA for a closed stream"));
            }
            self.abuse.charge(head.size(), cost::FRAME);
            self.skip(head.length);
            return Ok(Step::Progress);
        };
        let Some(slot) = self.streams.slot(number) else { return Ok(Step::Progress) };
        if !slot.state.may_receive() {
            return Err(ConnectionError::closed("DATA for a stream that its sender has ended"));
        }
        if !slot.has_received_head {
            return Err(ConnectionError::protocol("DATA before the head of its message"));
        }
        slot.receive.receive(head.length)?;
        let (stream, left, is_end) = (slot.key(number), head.length, head.has(flag::END_STREAM));
        let data = DataFrame { stream, left, padding: None, is_end, length: left };
        if !head.has(flag::PADDED) {
            return self.begin_body(DataFrame { padding: Some(0), ..data }, now);
        }
        if head.length == 0 {
            return Err(ConnectionError::frame_size("DATA is too short for its flags"));
        }
        self.reading = Reading::Data(data);
        Ok(Step::Progress)
    }

    /// Begins the body in a DATA frame, once the lengths of the body and the padding are known.
    fn begin_body(&mut self, data: DataFrame, now: Instant) -> Result<Step, ConnectionError> {
        let padding = data.padding.unwrap_or(0);
        // The stream may have been reset since the frame header was received.
        let Some(slot) = self.streams.get_mut(data.stream) else {
            self.skip(data.left.saturating_add(padding));
            return Ok(Step::Progress);
        };
        if slot.receive_body(data.left as usize, data.is_end).is_err() {
            self.skip(data.left.saturating_add(padding));
            return self.stream_error(data.stream.slot, now);
        }
        if data.left > 0 {
            self.reading = Reading::Data(data);
            return Ok(Step::Progress);
        }
        // Charge an empty DATA frame that does not end its stream. Flow control does not limit these frames, so a peer
        // could send them endlessly (CVE-2019-9518).
        if !data.is_end {
            self.abuse.charge(frame::HEAD as u32, cost::EMPTY_DATA);
        }
        let is_end = self.advance_body(data, 0)?;
        Ok(match is_end {
            true => Step::Event(Event::Data { stream: data.stream, data: Bytes::new(), is_end }),
            false => Step::Progress,
        })
    }

    pub(super) fn read_data(
        &mut self,
        mut data: DataFrame,
        input: &mut Bytes,
        now: Instant,
    ) -> Result<Step, ConnectionError> {
        if data.padding.is_none() {
            let padding = u32::from(input.get_u8());
            data.left = data.left.saturating_sub(1);
            // Section 6.1: "If the length of the padding is the length of the frame payload or greater, the recipient
            // MUST treat this as a connection error of type PROTOCOL_ERROR."
            let left = data.left.checked_sub(padding);
            data.left = left.ok_or(ConnectionError::protocol("padding exceeds its frame"))?;
            (data.padding, data.length) = (Some(padding), data.left);
            self.abuse.charge(padding, cost::FRAME.saturating_add(padding.into()));
            // Return the credit of the padding here, because padding counts towards the windows but is never passed to
            // the caller.
            self.consume(data.stream, (padding as usize).saturating_add(1));
            return self.begin_body(data, now);
        }
        let bytes = input.split_to(input.len().min(data.left as usize));
        // The stream was reset after the frame header arrived. Discard the rest of the frame.
        if self.streams.get(data.stream).is_none() {
            self.advance_body(data, bytes.len())?;
            return Ok(Step::Progress);
        }
        let is_end = self.advance_body(data, bytes.len())?;
        Ok(Step::Event(Event::Data { stream: data.stream, data: bytes, is_end }))
    }

    /// Accounts for `count` received bytes of a body. Returns whether the body is complete.
    fn advance_body(&mut self, mut data: DataFrame, count: usize) -> Result<bool, ConnectionError> {
        data.left = data.left.saturating_sub(u32::try_from(count).unwrap_or(u32::MAX));
        self.fragment = (data.left == 0 && !data.is_end).then_some(data.length);
        if data.left > 0 {
            self.reading = Reading::Data(data);
            return Ok(false);
        }
        self.skip(data.padding.unwrap_or(0));
        if let Some(slot) = self.streams.get_mut(data.stream).filter(|_| data.is_end) {
            slot.state.receive_end()?;
            self.remove_if_closed(data.stream.slot);
        }
        Ok(data.is_end)
    }

    /// Returns flow-control credit to the peer for `count` bytes of a body that the caller has processed.
    pub fn consume(&mut self, stream: StreamKey, count: usize) {
        let size = self.stream_window;
        if let Some(slot) = self.streams.get_mut(stream).filter(|slot| slot.state.may_receive())
            && let Some(credit) = slot.receive.consume(count, size)
        {
            frame::put_window_update(self.output.framed(), slot.id, credit);
        }
    }

    /// Like [`consume`](Self::consume), for a body of which `rest` bytes have yet to arrive. Grants credit for the rest
    /// in few frames, and none beyond it.
    pub fn consume_part(&mut self, stream: StreamKey, count: usize, rest: usize) {
        if let Some(slot) = self.streams.get_mut(stream).filter(|slot| slot.state.may_receive())
            && let Some(credit) = slot.receive.consume_part(count, rest)
        {
            frame::put_window_update(self.output.framed(), slot.id, credit);
        }
    }

    /// Sets the size that stream windows are restored to when bytes are consumed. Reduces the windows, for example,
    /// while memory is short. The minimum is 64 KiB. New streams start with the configured window.
    pub fn set_stream_window(&mut self, size: u32) {
        self.stream_window = size.clamp(frame::WINDOW_INITIAL, frame::WINDOW_MAX);
    }

    /// Charges the peer for its last DATA frame if that frame is short. Call this if the frame completed no message.
    /// Otherwise, a peer could split a body into frames of one byte at no cost.
    pub fn charge_fragment(&mut self) {
        if let Some(length) = self.fragment.take() {
            let missing = cost::FRAGMENT.saturating_sub(length.into());
            if missing > 0 {
                self.abuse.charge(length, missing);
            }
        }
    }
}
