//! Sending of heads, bodies and trailers, and the scheduling of bodies.

use super::Connection;
use super::timeouts::Shutdown;
use crate::frame::{self, flag, kind};
use crate::limits;
use crate::output::{GATHERED_MIN, Output, QUANTUM};
use crate::streams::{Load, Progress, SendQueue, State};
use crate::{ErrorCode, Head, SendError, StreamKey};
use bytes::{Buf, Bytes};
use frisbee_core::Role;
use std::fmt;
use std::io::IoSlice;
use std::time::Instant;

/// Payload of the PING frames that [`Connection::ping`] sends.
pub(super) const PING: [u8; 8] = *b"frisbee1";

/// Maximum size in bytes of the frames waiting to be written. Bodies are divided into frames only up to this size. A
/// typical socket accepts half of it in a single write.
const FRAMED_MAX: usize = 256 * 1024;

/// Number of streams that a client may open before it has received the server's SETTINGS. RFC 9113, section 6.5.2,
/// recommends that servers permit at least this many.
const STREAMS_ASSUMED: u32 = 100;

/// Reason why a stream could not be opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The server permits no more concurrent streams. Retry after one of them has ended.
    Busy,
    /// The connection is shutting down. Open the stream on another connection.
    ShutDown,
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Busy => "connection has as many streams as the server accepts; retry when one has ended",
            Self::ShutDown => "connection is shutting down; use another one",
        })
    }
}

impl std::error::Error for OpenError {}

impl Connection {
    /// Opens a stream by sending the head of a request. Set `is_end` if the request has no body.
    ///
    /// # Errors
    ///
    /// If the server's limit of streams is reached, or the connection is shutting down.
    pub fn open(&mut self, head: &Head, is_end: bool) -> Result<StreamKey, OpenError> {
        let is_open = matches!(self.shutdown, Shutdown::Open) && self.peer_last.is_none() && self.failed.is_none();
        if self.role == Role::Server || !is_open || self.next_id > frame::WINDOW_MAX {
            return Err(OpenError::ShutDown);
        }
        if self.streams.len() >= self.peer.streams_max.unwrap_or(STREAMS_ASSUMED) as usize {
            return Err(OpenError::Busy);
        }
        let id = self.next_id;
        self.next_id = id.saturating_add(2);
        let stream = self.streams.insert(id, self.peer.initial_window, self.initial_window);
        if let Some(slot) = self.streams.get_mut(stream) {
            slot.has_sent_head = true;
            slot.is_bodiless = head.method() == Some("HEAD");
            if is_end {
                slot.state = State::HalfClosedLocal;
            }
        }
        self.put_block(id, head, is_end);
        Ok(stream)
    }

    /// Returns the number of streams that a client may open at present.
    pub fn open_max(&self) -> usize {
        let max = self.peer.streams_max.unwrap_or(STREAMS_ASSUMED) as usize;
        max.saturating_sub(self.streams.len())
    }

    /// Returns the maximum [size](Head::size) of a head that the peer accepts. Do not send a longer one, because the
    /// peer may close the connection.
    pub fn head_size_max(&self) -> usize {
        self.peer.list_size_max as usize
    }

    /// Appends a field block as a HEADERS frame, followed by CONTINUATION frames if the block does not fit.
    fn put_block(&mut self, id: u32, head: &Head, is_end: bool) {
        let framed = self.output.framed();
        let at = framed.len();
        framed.extend_from_slice(&[0; frame::HEAD]);
        self.encoder.begin(framed);
        for (name, value, is_sensitive) in head.all() {
            self.encoder.put(name, value, is_sensitive, framed);
        }
        frame::finish_headers(framed, at, id, is_end, self.peer.frame_size_max);
        self.abuse.handle_sent_head();
    }

    /// Sends the head of a response, which may be an informational one. Set `is_end` if the response has neither a body
    /// nor trailers.
    ///
    /// # Errors
    ///
    /// If the stream is closed, or its head was already sent.
    pub fn send_head(&mut self, stream: StreamKey, head: &Head, is_end: bool) -> Result<(), SendError> {
        let slot = self.streams.get_mut(stream).ok_or(SendError::Closed)?;
        if std::mem::replace(&mut slot.has_sent_head, head.status().is_none_or(|status| status >= 200)) {
            // Restore the flag, because `replace` has cleared it if the rejected head is informational.
            slot.has_sent_head = true;
            return Err(SendError::OutOfOrder);
        }
        let id = slot.id;
        self.put_block(id, head, is_end);
        if is_end { self.end(stream) } else { Ok(()) }
    }

    /// Queues a part of a body. The part is sent when the flow-control windows permit and it is the stream's turn. If
    /// the client of a finished response stops granting credit, the stream is reset.
    ///
    /// # Errors
    ///
    /// If the stream is closed or ended, or its head was not sent.
    pub fn send_data(&mut self, stream: StreamKey, data: Bytes, is_end: bool) -> Result<(), SendError> {
        self.expect_body(stream)?;
        let length = data.len();
        if length == 0 && !is_end {
            return Ok(());
        }
        if length < GATHERED_MIN && self.is_free(stream, length, FRAMED_MAX) {
            let id = self.stream_id(stream).unwrap_or(0);
            frame::put_head(self.output.framed(), length, kind::DATA, if is_end { flag::END_STREAM } else { 0 }, id);
            self.output.framed().extend_from_slice(&data);
            self.spend(stream, length);
            self.set_load(stream, Load::Light);
            return if is_end { self.end(stream) } else { Ok(()) };
        }
        self.set_load(stream, Load::Bulk);
        self.enqueue(stream, data, None, is_end);
        Ok(())
    }

    fn set_load(&mut self, stream: StreamKey, load: Load) {
        if let Some(slot) = self.streams.get_mut(stream) {
            slot.load = load;
        }
    }

    /// Queues trailers. They are sent after all data of the message, and end it.
    ///
    /// # Errors
    ///
    /// If the stream is closed or ended, or its head was not sent.
    pub fn send_trailers(&mut self, stream: StreamKey, trailers: &Head) -> Result<(), SendError> {
        if trailers.is_empty() {
            return self.send_data(stream, Bytes::new(), true);
        }
        self.expect_body(stream)?;
        if self.streams.get(stream).is_some_and(|slot| slot.queue.is_none()) {
            let id = self.stream_id(stream).unwrap_or(0);
            self.put_block(id, trailers, true);
            return self.end(stream);
        }
        self.enqueue(stream, Bytes::new(), Some(trailers.clone()), true);
        Ok(())
    }

    /// Sends a complete response: head, message and trailers. `message` appends the body. If the body fits into one
    /// frame and the windows, it is appended directly to the output. A longer body is sent from its own buffer,
    /// usually without a copy. If `message` returns `false`, nothing is sent, and `Ok(false)` is returned.
    ///
    /// # Errors
    ///
    /// If the stream is closed, or its head was already sent.
    pub fn reply(
        &mut self,
        stream: StreamKey,
        head: &Head,
        trailers: &Head,
        message: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> Result<bool, SendError> {
        let slot = self.streams.get_mut(stream).ok_or(SendError::Closed)?;
        if slot.has_sent_head {
            return Err(SendError::OutOfOrder);
        }
        let id = slot.id;
        // Usually true, because reading pauses while the output is longer.
        let has_room = self.output.len() < limits::OUTPUT_MAX;
        self.output.expect_reply();
        let (start, mark) = (self.output.framed().len(), self.encoder.mark());
        self.put_block(id, head, false);
        let data_head = self.output.framed().len();
        let body = data_head.saturating_add(frame::HEAD);
        self.output.framed().extend_from_slice(&[0; frame::HEAD]);
        if !message(self.output.framed()) {
            self.output.framed().truncate(start);
            // Remove the entries that the discarded block has added to the compression table.
            self.encoder.withdraw(mark);
            return Ok(false);
        }
        if let Some(slot) = self.streams.get_mut(stream) {
            slot.has_sent_head = true;
        }
        let length = self.output.framed().len().saturating_sub(body);
        let is_in_place = length > 0 && has_room && self.is_free(stream, length, usize::MAX);
        if !is_in_place {
            // The body must wait for the windows, so move it from the output to the queue of its stream.
            let message = self.output.split_off(body);
            self.output.framed().truncate(data_head);
            if message.is_empty() {
                return self.send_trailers(stream, trailers).map(|()| true);
            }
            let trailers = (!trailers.is_empty()).then(|| trailers.clone());
            self.enqueue(stream, message, trailers, true);
            return Ok(true);
        }
        let flags = if trailers.is_empty() { flag::END_STREAM } else { 0 };
        let length = length as u32; // Cannot truncate: a body has at most the size of a frame here.
        let head = frame::FrameHead { length, kind: kind::DATA, flags, stream: id }.encode();
        if let Some(room) = self.output.framed().get_mut(data_head..body) {
            room.copy_from_slice(&head);
        }
        self.spend(stream, length as usize);
        if !trailers.is_empty() {
            self.put_block(id, trailers, true);
        }
        self.end(stream).map(|()| true)
    }

    /// Resets a stream. Frames of the stream that are still in flight from the peer are discarded.
    pub fn reset(&mut self, stream: StreamKey, code: ErrorCode) {
        if let Some(id) = self.stream_id(stream) {
            frame::put_reset(self.output.framed(), id, code);
            self.streams.remember_reset(id);
            self.remove(stream.slot);
        }
    }

    /// Sends a PING. [`Event::Pong`](crate::Event::Pong) reports the acknowledgement. Does nothing while the
    /// acknowledgement of an earlier PING is outstanding.
    pub fn ping(&mut self) {
        if !std::mem::replace(&mut self.has_pinged, true) {
            frame::put_ping(self.output.framed(), 0, PING);
        }
    }

    /// Returns whether it is a stream's turn to send. If not, [`Event::Writable`](crate::Event::Writable) is reported
    /// when it is. To save memory with many streams, produce the next part of a body only in the stream's turn.
    ///
    /// # Errors
    ///
    /// If the stream is closed.
    pub fn poll_writable(&mut self, stream: StreamKey) -> Result<bool, SendError> {
        self.streams.get(stream).ok_or(SendError::Closed)?;
        if self.is_writable(stream) {
            return Ok(true);
        }
        if let Some(slot) = self.streams.get_mut(stream)
            && !std::mem::replace(&mut slot.is_waiting, true)
        {
            // Queue a new stream ahead of the others once, so that its first part does not wait for the bodies of all
            // others.
            match slot.load {
                Load::Unknown => self.waiting.push_front(stream),
                Load::Light | Load::Bulk => self.waiting.push_back(stream),
            }
        }
        Ok(false)
    }

    fn is_writable(&self, stream: StreamKey) -> bool {
        let Some(slot) = self.streams.get(stream) else { return false };
        // Reserve a quantum of the connection window and the output for each scheduled stream, because these streams
        // send first. Short parts bypass the scheduler, because they are sent immediately.
        let ahead = if slot.load == Load::Light { 0 } else { self.scheduler.len().saturating_mul(QUANTUM) };
        slot.queue.is_none()
            && slot.send.available() > 0
            && self.send_window.available() > ahead
            && self.output.len().saturating_add(ahead) < FRAMED_MAX
    }

    /// Reports [`Event::Writable`](crate::Event::Writable) for waiting streams that can send now.
    pub(super) fn wake_waiting(&mut self) {
        for _ in 0..self.waiting.len() {
            let Some(stream) = self.waiting.pop_front() else { return };
            let is_writable = self.is_writable(stream);
            let Some(slot) = self.streams.get_mut(stream) else { continue };
            if is_writable {
                slot.is_waiting = false;
                self.events.push_back(crate::Event::Writable { stream });
            } else {
                self.waiting.push_back(stream);
            }
        }
    }

    fn expect_body(&self, stream: StreamKey) -> Result<(), SendError> {
        let slot = self.streams.get(stream).ok_or(SendError::Closed)?;
        if !slot.has_sent_head {
            return Err(SendError::OutOfOrder);
        }
        let is_ended = slot.queue.as_ref().is_some_and(|queue| queue.is_ended);
        if is_ended || !slot.state.may_send() { Err(SendError::Ended) } else { Ok(()) }
    }

    /// Returns whether a body of `length` bytes can be written to a frame immediately. The stream must have no queued
    /// body. Unless `length` is 0, the body must also fit into one frame and the windows, no stream may be scheduled,
    /// and the output must be shorter than `output_max`.
    fn is_free(&self, stream: StreamKey, length: usize, output_max: usize) -> bool {
        let Some(slot) = self.streams.get(stream).filter(|slot| slot.queue.is_none()) else { return false };
        // An empty DATA frame, which ends a body, needs no window.
        length == 0
            || length <= self.send_window.available().min(slot.send.available())
                && length <= self.peer.frame_size_max as usize
                && self.scheduler.is_empty()
                && self.output.len() < output_max
    }

    fn spend(&mut self, stream: StreamKey, length: usize) {
        self.send_window.spend(length);
        if let Some(slot) = self.streams.get_mut(stream) {
            slot.send.spend(length);
        }
        self.abuse.handle_sent_data();
    }

    fn enqueue(&mut self, stream: StreamKey, data: Bytes, trailers: Option<Head>, is_ended: bool) {
        let Some(slot) = self.streams.get_mut(stream) else { return };
        self.queued = self.queued.saturating_add(data.len());
        let queue = slot.queue.get_or_insert_default();
        queue.len = queue.len.saturating_add(data.len());
        if !data.is_empty() {
            queue.pieces.push_back(data);
        }
        (queue.trailers, queue.is_ended) = (trailers, is_ended);
        if is_ended && self.role == Role::Server {
            queue.progress = Some(Progress::default());
            self.has_replies = true;
        }
        if slot.is_ready() && !slot.is_scheduled {
            slot.is_scheduled = true;
            self.scheduler.add(stream.slot);
        }
    }

    /// Records that this end has sent END_STREAM.
    fn end(&mut self, stream: StreamKey) -> Result<(), SendError> {
        let slot = self.streams.get_mut(stream).ok_or(SendError::Closed)?;
        slot.state.send_end()?;
        match slot.state {
            State::Closed => self.remove(stream.slot),
            // Section 8.1: "A server can send a complete response prior to the client sending an entire request [...]
            // the server MAY request that the client abort transmission of a request without error by sending a
            // RST_STREAM with an error code of NO_ERROR after sending a complete response".
            _ if self.role == Role::Server => self.reset(stream, ErrorCode::NO_ERROR),
            _ => {}
        }
        Ok(())
    }

    /// Writes the bodies of scheduled streams to frames, and fills `slices` with unwritten bytes. Returns the number of
    /// filled slices.
    pub fn output<'a>(&'a mut self, slices: &mut [IoSlice<'a>]) -> usize {
        self.frame_bodies();
        self.output.slices(slices)
    }

    /// Returns whether all output has been written.
    pub fn is_flushed(&mut self) -> bool {
        self.frame_bodies();
        self.output.len() == 0
    }

    /// Returns the pending output and marks it as written. For transports that accept whole buffers.
    pub fn take_output(&mut self, now: Instant) -> Bytes {
        self.frame_bodies();
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = self.output.slices(&mut slices);
        let mut bytes = Vec::with_capacity(self.output.len());
        slices.iter().take(filled).for_each(|slice| bytes.extend_from_slice(slice));
        self.handle_written(bytes.len(), now);
        bytes.into()
    }

    /// Records that the transport has accepted `count` bytes of the output. A count of 0 means that it accepts none at
    /// present.
    pub fn handle_written(&mut self, count: usize, now: Instant) {
        self.output.advance(count);
        let waits = self.output.len() > 0;
        // Only a client counts received bytes as progress, because a server may stop reading until the client reads.
        let received = if self.role == Role::Client { self.received } else { 0 };
        self.write_progress.handle_written(count, waits, received, now);
        self.written = self.written.saturating_add(count as u64);
        if self.written >= self.acks_end {
            (self.ping_acks, self.settings_acks) = (0, 0);
        }
        if std::mem::take(&mut self.has_replies) && self.replies_checked_at.is_none() {
            self.replies_checked_at = now.checked_add(self.reply_timeout);
        }
        if count > 0 {
            self.wake_waiting();
        }
    }

    fn frame_bodies(&mut self) {
        while self.failed.is_none() && self.output.len() < FRAMED_MAX {
            let Some(number) = self.scheduler.next() else { break };
            if !self.take_turn(number) {
                break;
            }
        }
    }

    /// Writes up to [`QUANTUM`] bytes of a stream's body to frames. Returns whether the connection window permits other
    /// streams to follow.
    fn take_turn(&mut self, number: u32) -> bool {
        let mut quantum = QUANTUM;
        let Some(slot) = self.streams.slot(number) else { return true };
        let stream = slot.key(number);
        slot.is_scheduled = false;
        loop {
            let Some(slot) = self.streams.get_mut(stream) else { return true };
            let Some(queue) = slot.queue.as_mut() else { return true };
            if queue.len == 0 {
                self.end_queue(stream);
                return true;
            }
            let window = slot.send.available();
            let length = queue
                .len
                .min(window)
                .min(self.send_window.available())
                .min(quantum)
                .min(self.peer.frame_size_max as usize);
            if length == 0 {
                // Without a stream window, the WINDOW_UPDATE schedules the stream again.
                slot.is_scheduled = window > 0;
                match (window > 0, quantum > 0) {
                    (true, true) => self.scheduler.return_to_front(number),
                    (true, false) => self.scheduler.return_to_end(number),
                    (false, _) => {}
                }
                return window == 0 || quantum == 0;
            }
            let is_end = length == queue.len && queue.is_ended && queue.trailers.is_none();
            frame::put_head(
                self.output.framed(),
                length,
                kind::DATA,
                if is_end { flag::END_STREAM } else { 0 },
                slot.id,
            );
            move_body(queue, length, &mut self.output);
            self.queued = self.queued.saturating_sub(length);
            if is_end {
                slot.queue = None;
            }
            quantum = quantum.saturating_sub(length);
            self.spend(stream, length);
            if is_end {
                return self.end(stream).is_ok();
            }
        }
    }

    /// Ends the message of a stream whose queue is empty by sending the trailers or an empty DATA frame. Does nothing
    /// if more data may follow.
    fn end_queue(&mut self, stream: StreamKey) {
        let Some(slot) = self.streams.get_mut(stream) else { return };
        let (id, Some(queue)) = (slot.id, slot.queue.take()) else { return };
        match (&queue.trailers, queue.is_ended) {
            (Some(trailers), _) => self.put_block(id, trailers, true),
            (None, true) => frame::put_head(self.output.framed(), 0, kind::DATA, flag::END_STREAM, id),
            (None, false) => return self.wake_waiting(),
        }
        let ended = self.end(stream);
        debug_assert_eq!(ended, Ok(()), "ended stream should have no queue");
    }
}

/// Moves the next `length` bytes of a stream's queue to the output.
fn move_body(queue: &mut SendQueue, mut length: usize, output: &mut Output) {
    queue.len = queue.len.saturating_sub(length);
    if let Some(progress) = &mut queue.progress {
        progress.sent = progress.sent.saturating_add(length);
    }
    while let Some(piece) = queue.pieces.front_mut().filter(|_| length > 0) {
        let count = piece.len().min(length);
        // Copying a short piece costs less than writing it as a separate slice.
        if count < GATHERED_MIN {
            output.framed().extend_from_slice(piece.get(..count).unwrap_or_default());
            piece.advance(count);
        } else {
            output.put_body(piece.split_to(count));
        }
        length = length.saturating_sub(count);
        if piece.is_empty() {
            queue.pieces.pop_front();
        }
    }
}

impl Connection {
    /// Resets finished responses of which less than [`limits::REPLY_PROGRESS`] was sent since the last check, because
    /// the client has granted too little credit. Does nothing until the next check is due.
    pub(super) fn check_replies(&mut self, now: Instant) {
        let Some(at) = self.replies_checked_at else { return };
        if now < at {
            return;
        }
        let (mut stalled, mut is_waiting) = (Vec::new(), false);
        for (number, slot) in self.streams.iter_mut() {
            let key = slot.key(number);
            let Some(progress) = slot.queue.as_mut().and_then(|queue| queue.progress.as_mut()) else { continue };
            if progress.is_checked && progress.sent < limits::REPLY_PROGRESS {
                stalled.push(key);
            } else {
                *progress = Progress { sent: 0, is_checked: true };
                is_waiting = true;
            }
        }
        for stream in stalled {
            self.reset(stream, ErrorCode::CANCEL);
            self.events.push_back(crate::Event::Reset { stream, code: ErrorCode::CANCEL });
        }
        self.replies_checked_at = now.checked_add(self.reply_timeout).filter(|_| is_waiting);
    }
}
