//! State of an HTTP/2 connection, and parsing of frames. The submodule `control` handles frames of the connection,
//! `messages` frames of streams, `send` the output, and `timeouts` timers and shutdown.
//!
//! # Decisions
//!
//! **Most stream errors are treated as connection errors**, as RFC 9113, section 5.4.1, allows. A peer that provokes
//! stream resets could start unlimited work, because reset streams do not count against the limit of concurrent
//! streams ("MadeYouReset", CVE-2025-8671). Only malformed messages reset their stream, and the peer is charged for
//! them.

mod control;
mod messages;
mod send;
#[cfg(test)]
mod tests;
mod timeouts;

pub use send::OpenError;

use crate::error::ConnectionError;
use crate::frame::{self, FrameHead, Settings, kind, setting};
use crate::hpack::{Decoder, Encoder};
use crate::limits::{self, Abuse};
use crate::memo::Memo;
use crate::output::{Output, Scheduler};
use crate::streams::StreamTable;
use crate::window::{ConnectionWindow, SendWindow};
use crate::{ErrorCode, Event, Head, StreamKey, head};
use bytes::{Buf, Bytes};
use frisbee_core::{ClientConfig, Config, MemoryPool, ReadProgress, Role, ServerConfig, WriteProgress, cost};
use messages::{Block, DataFrame};
use std::collections::VecDeque;
use std::time::{Duration, Instant};
use timeouts::Shutdown;

/// Part of the input that the frame parser expects next.
#[derive(Debug)]
enum Reading {
    /// The connection preface. Contains the number of bytes that have been received.
    Preface(usize),
    /// A frame header.
    Head,
    /// The payload of a frame that is buffered until it is complete.
    Payload(FrameHead),
    /// The payload of a DATA frame, which is passed to the caller as it arrives.
    Data(DataFrame),
    /// Bytes to discard. Contains the number of bytes that have not arrived yet.
    Skip(u32),
}

/// Result of parsing the next part of the input.
enum Step {
    Event(Event),
    Progress,
    /// The next frame is incomplete. More input is needed.
    Wait,
}

/// One end of an HTTP/2 connection.
///
/// A driver passes received bytes to [`poll_event`](Self::poll_event), calls methods that send, and writes the
/// [`output`](Self::output). It calls [`handle_timeout`](Self::handle_timeout) at the
/// [`next_timeout`](Self::next_timeout).
///
/// ```
/// use bytes::Bytes;
/// use frisbee_core::{ClientConfig, ServerConfig};
/// use frisbee_http2::{Connection, Event, Head};
/// use std::time::Instant;
///
/// let now = Instant::now();
/// let mut client = Connection::client(&ClientConfig::default(), now);
/// let mut server = Connection::server(&ServerConfig::default(), now);
/// client.open(&Head::request("GET", "http", "localhost", "/"), true)?;
///
/// let mut wire = client.take_output(now);
/// while let Some(event) = server.poll_event(&mut wire, now)? {
///     if let Event::Head { stream, is_end: true } = event {
///         assert_eq!(server.head().path(), Some("/"));
///         server.send_head(stream, &Head::response(200), false)?;
///         server.send_data(stream, Bytes::from_static(b"hello"), true)?;
///     }
/// }
///
/// let mut wire = server.take_output(now);
/// let mut body = Bytes::new();
/// while let Some(event) = client.poll_event(&mut wire, now)? {
///     if let Event::Data { data, is_end: true, .. } = event {
///         body = data;
///     }
/// }
/// assert_eq!(body, "hello");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Connection {
    role: Role,
    is_local: bool,
    streams_max: usize,
    /// Initial flow-control window of new streams, as announced in SETTINGS. The window of a stream is restored to
    /// `stream_window` when bytes of its body are consumed.
    initial_window: u32,
    stream_window: u32,
    reply_timeout: Duration,
    peer: Settings,

    reading: Reading,
    /// Received part of a frame header or payload that is not complete yet.
    partial: Vec<u8>,
    block: Option<Block>,
    head: Head,
    memo: Memo,
    decoder: Decoder,
    encoder: Encoder,
    events: VecDeque<Event>,
    /// Number of bytes received in the current batch, for the limit of useless frames. `received` counts all bytes of
    /// the connection.
    batch: usize,
    received: u64,

    streams: StreamTable,
    /// Highest id of the streams that the peer has opened.
    last_peer_id: u32,
    /// Id of the next stream opened by this end.
    next_id: u32,
    receive_window: ConnectionWindow,
    send_window: SendWindow,
    output: Output,
    scheduler: Scheduler,
    /// Total length in bytes of the queued bodies of all streams.
    queued: usize,
    /// Streams that wait because [`Connection::poll_writable`] returned `false`. An event is reported when they can
    /// send.
    waiting: VecDeque<StreamKey>,

    abuse: Abuse,
    read_progress: ReadProgress,
    write_progress: WriteProgress,
    has_settings: bool,
    ping_acks: u32,
    settings_acks: u32,
    /// Total number of bytes written to the transport. When it reaches `acks_end`, the latest acknowledgement has been
    /// written.
    written: u64,
    acks_end: u64,
    /// Length of the last DATA frame, if it may have to be charged as a fragment.
    fragment: Option<u32>,
    opened_by: Option<Instant>,
    acknowledged_by: Option<Instant>,
    /// Whether a response was queued since the last write. If so, a check for stalled responses must be scheduled.
    has_replies: bool,
    replies_checked_at: Option<Instant>,
    shutdown: Shutdown,
    /// Last stream id in the latest GOAWAY frame sent by this end. `peer_last` is that of the latest one received.
    announced_last: u32,
    peer_last: Option<u32>,
    has_pinged: bool,
    failed: Option<ConnectionError>,
}

impl Connection {
    /// Creates the server end of a connection. Its output begins with the SETTINGS of the server.
    pub fn server(config: &ServerConfig, now: Instant) -> Self {
        let streams_max = u32::try_from(config.common.streams_max).unwrap_or(u32::MAX);
        let (mut connection, credit) = Self::new(Role::Server, &config.common, now);
        connection.opened_by = now.checked_add(config.first_header_timeout);
        let settings = [
            (setting::MAX_CONCURRENT_STREAMS, streams_max),
            (setting::INITIAL_WINDOW_SIZE, connection.stream_window),
            (setting::MAX_FRAME_SIZE, limits::FRAME_SIZE_MAX),
            (setting::MAX_HEADER_LIST_SIZE, head::SIZE_MAX as u32),
            (setting::NO_RFC7540_PRIORITIES, 1),
        ];
        connection.begin(&settings, credit);
        connection
    }

    /// Creates the client end of a connection. Its output begins with the preface and the SETTINGS of the client.
    pub fn client(config: &ClientConfig, now: Instant) -> Self {
        let (mut connection, credit) = Self::new(Role::Client, &config.common, now);
        connection.opened_by = now.checked_add(config.peer_kind_timeout);
        connection.output.framed().extend_from_slice(frame::PREFACE);
        let settings = [
            (setting::ENABLE_PUSH, 0),
            (setting::INITIAL_WINDOW_SIZE, connection.stream_window),
            (setting::MAX_FRAME_SIZE, limits::FRAME_SIZE_MAX),
            (setting::MAX_HEADER_LIST_SIZE, head::SIZE_MAX as u32),
        ];
        connection.begin(&settings, credit);
        connection
    }

    fn new(role: Role, config: &Config, now: Instant) -> (Self, u32) {
        // Use at least the initial window, because a smaller window would take effect only after the peer has
        // acknowledged it.
        let stream_window = config.stream_credit.clamp(frame::WINDOW_INITIAL, frame::WINDOW_MAX);
        let (receive_window, credit) = ConnectionWindow::new(stream_window.saturating_mul(4).min(frame::WINDOW_MAX));
        let connection = Self {
            role,
            is_local: false,
            streams_max: config.streams_max,
            initial_window: stream_window,
            stream_window,
            reply_timeout: config.idle_timeout,
            peer: Settings::default(),
            reading: if role == Role::Server { Reading::Preface(0) } else { Reading::Head },
            partial: Vec::new(),
            block: None,
            head: Head::default(),
            memo: Memo::default(),
            decoder: Decoder::new(),
            encoder: Encoder::new(),
            events: VecDeque::new(),
            batch: 0,
            received: 0,
            streams: StreamTable::default(),
            last_peer_id: 0,
            next_id: 1,
            receive_window,
            send_window: SendWindow::new(frame::WINDOW_INITIAL),
            output: Output::default(),
            scheduler: Scheduler::default(),
            queued: 0,
            waiting: VecDeque::new(),
            abuse: Abuse::new(config.abuse_rate, now),
            read_progress: ReadProgress::new(config.least_rate_window, config.least_rate),
            write_progress: WriteProgress::new(config.write_timeout, config.least_rate),
            has_settings: false,
            ping_acks: 0,
            settings_acks: 0,
            written: 0,
            acks_end: 0,
            fragment: None,
            opened_by: None,
            acknowledged_by: now.checked_add(limits::SETTINGS_TIMEOUT),
            has_replies: false,
            replies_checked_at: None,
            shutdown: Shutdown::Open,
            announced_last: frame::WINDOW_MAX,
            peer_last: None,
            has_pinged: false,
            failed: None,
        };
        (connection, credit)
    }

    /// Appends the first frames of this end to the output: SETTINGS, and a WINDOW_UPDATE that extends the connection's
    /// initial window by `credit`.
    fn begin(&mut self, settings: &[(u16, u32)], credit: u32) {
        frame::put_settings(self.output.framed(), settings);
        if credit > 0 {
            frame::put_window_update(self.output.framed(), 0, credit);
        }
    }

    /// Accepts any printable text as `:authority`. Used on Unix sockets, because some gRPC clients send the path of the
    /// socket.
    #[must_use]
    pub fn local(mut self) -> Self {
        self.is_local = true;
        self
    }

    /// Returns the header fields of the latest [`Event::Head`] or [`Event::Trailers`].
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the id of a stream, or `None` if the stream is closed.
    pub fn stream_id(&self, stream: StreamKey) -> Option<u32> {
        self.streams.get(stream).map(|slot| slot.id)
    }

    /// Returns whether the peer's SETTINGS have arrived. They determine how many streams a client may open.
    pub fn is_established(&self) -> bool {
        self.has_settings
    }

    /// Returns the number of open streams.
    pub fn stream_count(&self) -> usize {
        self.streams.len()
    }

    /// Returns the memory of the connection in bytes, including queued bodies.
    pub fn memory(&self) -> usize {
        [
            self.partial.capacity(),
            self.block.as_ref().map_or(0, |block| block.bytes.capacity()),
            self.head.memory(),
            self.memo.memory(),
            self.decoder.memory(),
            self.encoder.memory(),
            self.streams.memory(),
            self.output.memory(),
            self.queued,
        ]
        .into_iter()
        .fold(size_of::<Self>(), usize::saturating_add)
    }

    /// Shrinks buffers that were enlarged by a burst of traffic.
    pub fn release(&mut self) {
        self.output.release();
        self.streams.release();
        self.write_progress.release();
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
    }

    /// Returns whether the driver should read from the transport. Reading pauses while too much output is pending, or
    /// if the peer has sent too many useless frames.
    pub fn may_read(&self) -> bool {
        self.abuse.limiter.deadline().is_none() && !self.is_full()
    }

    /// Returns whether too much output is pending to handle more input.
    fn is_full(&self) -> bool {
        self.output.len() >= limits::OUTPUT_MAX
            || self.ping_acks >= limits::PING_ACKS_MAX
            || self.settings_acks >= limits::SETTINGS_ACKS_MAX
    }

    /// Handles input until there is an event. Returns `None` if the input is exhausted, or if output must be written
    /// first. Also call this after [`handle_written`](Self::handle_written) and
    /// [`handle_timeout`](Self::handle_timeout), even without new input.
    ///
    /// # Errors
    ///
    /// If the connection must be closed. The output contains a GOAWAY.
    pub fn poll_event(&mut self, input: &mut Bytes, now: Instant) -> Result<Option<Event>, ConnectionError> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        let before = input.len();
        let result = self.read(input, now);
        let count = before.saturating_sub(input.len());
        self.received = self.received.saturating_add(count as u64);
        self.batch = self.batch.saturating_add(count);
        // `None` ends the batch: the input is exhausted, or output must be written before more of it is handled.
        let result = match result {
            Ok(None) => self.end_batch(now).map(|()| None),
            result => result,
        };
        result.inspect_err(|error| self.fail(*error))
    }

    fn end_batch(&mut self, now: Instant) -> Result<(), ConnectionError> {
        // Do not measure the rate while reading is paused, because the rest of the frame may already have arrived.
        if self.is_mid_frame() && !self.is_full() {
            self.read_progress.waiting(self.received, now);
        } else {
            self.read_progress.complete();
        }
        self.abuse.end_batch(std::mem::take(&mut self.batch), now)
    }

    /// Returns whether a frame or field block has been received only partially.
    pub fn is_mid_frame(&self) -> bool {
        !matches!(self.reading, Reading::Head) || !self.partial.is_empty() || self.block.is_some()
    }

    fn read(&mut self, input: &mut Bytes, now: Instant) -> Result<Option<Event>, ConnectionError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if input.is_empty() || self.is_full() {
                return Ok(None);
            }
            match self.step(input, now)? {
                Step::Event(event) => return Ok(Some(event)),
                Step::Progress => {}
                Step::Wait => return Ok(None),
            }
        }
    }

    fn step(&mut self, input: &mut Bytes, now: Instant) -> Result<Step, ConnectionError> {
        match self.reading {
            Reading::Preface(read) => self.read_preface(read, input),
            Reading::Head => {
                let Some(bytes) = self.gather(input, frame::HEAD) else { return Ok(Step::Wait) };
                let head = bytes.first_chunk().copied().map(FrameHead::parse);
                head.map_or(Ok(Step::Wait), |head| self.handle_head(head, now))
            }
            Reading::Payload(head) => {
                let Some(payload) = self.gather(input, head.length as usize) else { return Ok(Step::Wait) };
                // Reset the state before handling the payload, because `handle_payload` may set another one.
                self.reading = Reading::Head;
                self.handle_payload(head, &payload, now)
            }
            Reading::Data(data) => self.read_data(data, input, now),
            Reading::Skip(left) => {
                let count = input.len().min(left as usize);
                input.advance(count);
                self.skip(left.saturating_sub(count as u32)); // `count` is at most `left`.
                Ok(Step::Progress)
            }
        }
    }

    /// Discards the next `count` bytes of the input.
    fn skip(&mut self, count: u32) {
        self.reading = if count > 0 { Reading::Skip(count) } else { Reading::Head };
    }

    /// Reads the connection preface. Section 3.4: "Clients and servers MUST treat an invalid connection preface as a
    /// connection error of type PROTOCOL_ERROR."
    fn read_preface(&mut self, read: usize, input: &mut Bytes) -> Result<Step, ConnectionError> {
        let expected = frame::PREFACE.get(read..).unwrap_or_default();
        let count = input.len().min(expected.len());
        if input.get(..count) != expected.get(..count) {
            return Err(ConnectionError::protocol("connection does not begin with the preface of HTTP/2"));
        }
        input.advance(count);
        let is_whole = count == expected.len();
        self.reading = if is_whole { Reading::Head } else { Reading::Preface(read.saturating_add(count)) };
        Ok(Step::Progress)
    }

    /// Splits off `count` bytes of the input. If fewer are available, buffers them and returns `None`.
    fn gather(&mut self, input: &mut Bytes, count: usize) -> Option<Bytes> {
        // Usually the input contains the whole frame, which is then split off without a copy.
        if self.partial.is_empty() && input.len() >= count {
            return Some(input.split_to(count));
        }
        let missing = count.saturating_sub(self.partial.len()).min(input.len());
        self.partial.extend_from_slice(input.get(..missing)?);
        input.advance(missing);
        (self.partial.len() >= count).then(|| Bytes::from(std::mem::take(&mut self.partial)))
    }

    /// Handles a frame header. Checks all rules that do not depend on the payload, so that the payload of an invalid
    /// frame is never buffered.
    fn handle_head(&mut self, head: FrameHead, now: Instant) -> Result<Step, ConnectionError> {
        if head.length > limits::FRAME_SIZE_MAX {
            return Err(ConnectionError::frame_size("frame exceeds SETTINGS_MAX_FRAME_SIZE"));
        }
        // Section 3.4: the first frame of either end is SETTINGS.
        if !self.has_settings && (head.kind != kind::SETTINGS || head.has(frame::flag::ACK)) {
            return Err(ConnectionError::protocol("first frame is not SETTINGS"));
        }
        // Section 6.10: "Any number of CONTINUATION frames can be sent, as long as the preceding frame is on the same
        // stream and is a HEADERS, PUSH_PROMISE, or CONTINUATION frame without the END_HEADERS flag set."
        let continues = self.block.as_ref().map(|block| block.stream);
        if continues != (head.kind == kind::CONTINUATION).then_some(head.stream) {
            return Err(ConnectionError::protocol("field block is not continuous"));
        }
        let belongs_to_stream = match head.kind {
            kind::DATA | kind::HEADERS | kind::PRIORITY | kind::RST_STREAM | kind::CONTINUATION => Some(true),
            kind::SETTINGS | kind::PING | kind::GOAWAY => Some(false),
            _ => None,
        };
        if belongs_to_stream.is_some_and(|belongs| belongs != (head.stream != 0)) {
            return Err(ConnectionError::protocol("frame has the wrong kind of stream id"));
        }
        let length = match head.kind {
            kind::PRIORITY => Some(5),
            kind::RST_STREAM | kind::WINDOW_UPDATE => Some(4),
            kind::PING => Some(8),
            kind::SETTINGS if head.has(frame::flag::ACK) => Some(0),
            _ => None,
        };
        if length.is_some_and(|length| length != head.length) {
            return Err(ConnectionError::frame_size("invalid length of a frame of fixed length"));
        }
        match head.kind {
            kind::DATA => return self.begin_data(head, now),
            kind::HEADERS | kind::CONTINUATION => self.reserve_block(head)?,
            kind::PUSH_PROMISE => return Err(ConnectionError::protocol("PUSH_PROMISE although push is disabled")),
            kind::GOAWAY if head.length < 8 => return Err(ConnectionError::frame_size("GOAWAY is too short")),
            kind::SETTINGS if head.length > limits::SETTINGS_MAX.saturating_mul(frame::SETTING as u32) => {
                return Err(ConnectionError::calm("too many entries in SETTINGS"));
            }
            kind::PRIORITY | kind::RST_STREAM | kind::SETTINGS | kind::PING | kind::GOAWAY | kind::WINDOW_UPDATE => {}
            _ => {
                // Section 4.1: "Implementations MUST ignore and discard frames of unknown types."
                self.abuse.charge(head.size(), cost::FRAME.saturating_add(head.size().into()));
                self.skip(head.length);
                return Ok(Step::Progress);
            }
        }
        self.reading = Reading::Payload(head);
        // A frame without payload is complete, even without more input.
        if head.length == 0 {
            self.reading = Reading::Head;
            return self.handle_payload(head, &[], now);
        }
        Ok(Step::Progress)
    }

    fn handle_payload(&mut self, head: FrameHead, payload: &[u8], now: Instant) -> Result<Step, ConnectionError> {
        match head.kind {
            kind::HEADERS => return self.handle_headers(head, payload, now),
            kind::CONTINUATION => return self.handle_continuation(head, payload, now),
            kind::PRIORITY => self.handle_priority(head, payload)?,
            kind::RST_STREAM => return self.handle_reset(head, payload),
            kind::SETTINGS => self.handle_settings(head, payload)?,
            kind::PING => return self.handle_ping(head, payload),
            kind::GOAWAY => return self.handle_go_away(payload),
            _ => self.handle_window_update(head, payload)?,
        }
        Ok(Step::Progress)
    }

    /// Sets the memory pool for the buffers of long replies.
    pub fn set_pool(&mut self, pool: &'static dyn MemoryPool) {
        self.output.pool = Some(pool);
    }

    /// Inherits the debt for useless frames from earlier connections of the same caller; see
    /// [`AbuseLimiter::inherit`](frisbee_core::AbuseLimiter::inherit).
    pub fn inherit_abuse(&mut self, debt: Duration) {
        self.abuse.limiter.inherit(debt);
    }

    /// Returns the debt for useless frames of the peer; see [`AbuseLimiter::debt`](frisbee_core::AbuseLimiter::debt).
    pub fn abuse_debt(&self, now: Instant) -> Duration {
        self.abuse.limiter.debt(now)
    }

    /// Closes the connection because the peer causes excessive load, for example by useless requests. The output ends
    /// with a GOAWAY. The connection itself limits useless frames, so this is only for the caller's own limits.
    pub fn close_abusive(&mut self) {
        self.fail(ConnectionError::calm("too many useless requests"));
    }

    /// Closes the connection because of an error, and queues a GOAWAY. Queued bodies are discarded.
    fn fail(&mut self, error: ConnectionError) {
        if self.failed.replace(error).is_none() {
            self.put_go_away(self.last_peer_id, error.code, error.reason);
        }
    }

    fn put_go_away(&mut self, last: u32, code: ErrorCode, reason: &str) {
        // Section 6.8: "Endpoints MUST NOT increase the value they send in the last stream identifier".
        self.announced_last = self.announced_last.min(last);
        frame::put_go_away(self.output.framed(), self.announced_last, code, reason);
    }
}
