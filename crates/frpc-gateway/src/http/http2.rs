//! HTTP/2 connections: the driver of `frisbee_http2`. In each iteration it reads once, handles the received events, and
//! writes once. `grpc.rs` handles unary gRPC calls in place. The [`Service`] answers all other requests. `stream.rs`
//! polls their futures and sends their responses.

mod body;
mod grpc;
mod stream;

pub(crate) use body::RequestBody;

use super::half_close;
use super::service::Service;
use crate::charge::Charge;
use crate::clock::{FAR, Turn, after, now};
use crate::driver::{LINGER, LazyTimer};
use crate::mailbox::Mailbox;
use crate::scratch;
use bytes::{Bytes, BytesMut};
use frisbee::{MemoryCharge, RawTransport};
use frisbee_core::{ProtocolError, ServerConfig};
use frisbee_http2::{Connection, ConnectionError, ErrorCode, Event, Head, StreamKey, write_some};
use frpc::{AdapterContext, AdapterTask, Response, Status};
use grpc::{Callee, RecentCall, UnaryCall};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use stream::{COPIED_MAX, ServedStream};
use tokio::io::{AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _};
use tokio::time::timeout;

/// Maximum number of consecutive driver iterations before the task yields.
const TURNS_MAX: usize = 4;

/// Memory in bytes that a connection may use before it is charged.
const CHARGED_MIN: usize = 16 * 1024;

/// Granularity of a connection's memory charge in bytes.
const CHARGE_STEP: usize = 64 * 1024;

/// Stream window in bytes while the server is short of memory, equal to the protocol's default.
const WINDOW_LEAST: u32 = 64 * 1024;

/// Message from the tasks of a connection's calls to the connection's driver.
pub(super) enum StreamEvent {
    /// The handler of a unary call has completed. The response is charged to memory until the driver has queued it.
    Done(StreamKey, Result<Response<Bytes>, Status>, #[allow(dead_code)] MemoryCharge),
    /// A stream's task was woken, so the driver must poll the stream.
    Wake(StreamKey),
}

/// State of a request until its response was completely sent.
#[allow(clippy::large_enum_variant, reason = "boxing would cost unary calls an allocation")]
enum StreamState {
    /// A unary gRPC call with an incomplete request message.
    Unary(UnaryCall),
    /// A unary gRPC call with a pending handler. Dropping its task cancels the call.
    Called(#[allow(dead_code)] AdapterTask, grpc::ReplyOptions),
    Served(Box<ServedStream>),
}

impl StreamState {
    /// Returns the memory of the stream in bytes outside of this value and without bodies.
    fn memory(&self) -> usize {
        match self {
            Self::Unary(call) => call.head_size,
            Self::Called(..) => 0,
            Self::Served(stream) => stream.memory(),
        }
    }
}

/// Open streams of a connection, indexed by [`StreamKey::index`].
#[derive(Default)]
struct Streams {
    slots: Vec<Option<(StreamKey, StreamState)>>,
    /// Memory in bytes of all streams outside of the table.
    outside: usize,
}

impl Streams {
    fn get_mut(&mut self, key: StreamKey) -> Option<&mut StreamState> {
        self.slots.get_mut(key.index())?.as_mut().filter(|(of, _)| *of == key).map(|(_, state)| state)
    }

    fn insert(&mut self, key: StreamKey, state: StreamState) {
        if self.slots.len() <= key.index() {
            self.slots.resize_with(key.index() + 1, || None);
        }
        self.outside += state.memory();
        if let Some(slot) = self.slots.get_mut(key.index()) {
            *slot = Some((key, state));
        }
    }

    /// Returns the memory of the table and its streams in bytes.
    fn memory(&self) -> usize {
        self.slots.capacity() * size_of::<Option<(StreamKey, StreamState)>>() + self.outside
    }

    fn keys(&self) -> Vec<StreamKey> {
        self.slots.iter().flatten().map(|(key, _)| *key).collect()
    }

    fn remove(&mut self, key: StreamKey) -> Option<StreamState> {
        let (_, state) = self.slots.get_mut(key.index())?.take_if(|(of, _)| *of == key)?;
        self.outside -= state.memory();
        Some(state)
    }
}

struct Driver<'a> {
    service: &'a Service,
    context: &'a AdapterContext,
    transport: RawTransport,
    http2: Connection,
    /// Received bytes that were not decoded yet.
    input: Bytes,
    streams: Streams,
    mailbox: Arc<Mailbox<StreamEvent>>,
    events: VecDeque<StreamEvent>,
    /// Streams that were woken and are polled in this iteration of the driver.
    ready: VecDeque<StreamKey>,
    callees: Vec<Callee>,
    recent: VecDeque<RecentCall>,
    /// Unary calls that received a part of their message in this iteration of the driver.
    begun: Vec<StreamKey>,
    /// Time at which incomplete unary calls are converted to streams, which have timeouts.
    overdue: Option<Instant>,
    charge: Charge,
    alarm: LazyTimer,
    is_due: bool,
    is_flushing: bool,
    /// Whether the client should send less, because the server or the client's share is short of memory.
    is_short: bool,
    /// Time of the last driver iteration with an open stream or unwritten output.
    active: Instant,
    /// Time of the last read or driver iteration with unwritten output, and whether a PING was sent since the last
    /// read.
    heard: Instant,
    has_pinged: bool,
    /// Start time of the current driver iteration.
    now: Instant,
    /// Encoded trailers of a successful gRPC call without metadata, kept for reuse.
    ok: Head,
    /// Whether a GOAWAY frame was sent.
    is_closing: bool,
    /// Whether the client has half-closed the transport. Its pending calls are still answered.
    has_ended: bool,
}

/// Serves an HTTP/2 connection. `early` contains its first bytes, which have already been read.
pub(crate) async fn serve(service: Service, early: BytesMut, transport: RawTransport) -> io::Result<()> {
    let (context, idle_timeout) = (&service.context, service.gateway.idle_timeout);
    let mut driver = Driver::new(&service, early, transport);
    let mut stopping = pin!(context.stopping());
    // Whether `stopping` was polled. A single poll suffices, because the waker of the task does not change.
    let mut is_stop_polled = false;
    let served = poll_fn(|task| {
        let was_polled = std::mem::replace(&mut is_stop_polled, true);
        if !driver.is_closing
            && if was_polled { context.is_stopping() } else { stopping.as_mut().poll(task).is_ready() }
        {
            driver.shut_down();
        }
        driver.poll(task)
    })
    .await;
    let Driver { mut transport, mut http2, mut is_flushing, streams, .. } = driver;
    // Cancel the remaining calls before waiting for the client to close its side.
    drop(streams);
    context.leave_abuse_debt(http2.abuse_debt(now()));
    // A client sends window updates while it reads the last responses. If the socket were closed, the system would
    // reply to them with a reset, which would discard the responses.
    let linger = async {
        let mut discarded = [0; 1024];
        // Write the rest of the output, which includes a GOAWAY frame after an error.
        poll_fn(|task| {
            loop {
                let has_written = write_some(&mut http2, Pin::new(&mut transport), &mut is_flushing, now(), task)?;
                if !is_flushing && http2.is_flushed() {
                    return Poll::Ready(io::Result::Ok(()));
                }
                // Read as well, because the client may not read before its own output is accepted.
                let read = pin!(transport.read(&mut discarded)).poll(task)?;
                if !has_written && !matches!(read, Poll::Ready(1..)) {
                    return Poll::Pending;
                }
            }
        })
        .await?;
        transport.shutdown().await?;
        while let 1.. = timeout(LINGER, transport.read(&mut discarded)).await?? {}
        io::Result::Ok(())
    };
    let linger_max = if served.is_ok() { idle_timeout } else { LINGER };
    // Ignore a timeout, because the connection ends in either case.
    let _ = timeout(linger_max, linger).await;
    served
}

fn failed(kind: io::ErrorKind) -> impl FnOnce(ConnectionError) -> io::Error {
    move |error| match error.code {
        // Close with `ProtocolError::Flood`, so that the close is counted like flooding in other protocols.
        ErrorCode::ENHANCE_YOUR_CALM => io::Error::other(ProtocolError::Flood),
        _ => io::Error::new(kind, error),
    }
}

impl<'a> Driver<'a> {
    fn new(service: &'a Service, early: BytesMut, transport: RawTransport) -> Self {
        let (context, now) = (&service.context, now());
        let common = context.config().clone().idle_timeout(service.gateway.idle_timeout);
        let config = ServerConfig::default().common(common).first_header_timeout(context.first_header_timeout());
        let mut http2 = Connection::server(&config, now);
        http2.inherit_abuse(context.abuse_debt());
        http2.set_pool(frisbee::memory_pool());
        let mut ok = Head::trailers();
        ok.push("grpc-status", "0");
        // A peer without an address is connected through a Unix socket.
        if context.connection().peer_addr().is_none() {
            http2 = http2.local();
        }
        Self {
            service,
            context,
            transport,
            http2,
            input: early.freeze(),
            streams: Streams::default(),
            mailbox: Arc::default(),
            events: VecDeque::new(),
            ready: VecDeque::new(),
            callees: Vec::new(),
            recent: VecDeque::new(),
            begun: Vec::new(),
            overdue: None,
            charge: Charge::default(),
            alarm: LazyTimer::default(),
            is_due: false,
            is_flushing: false,
            is_short: false,
            active: now,
            heard: now,
            has_pinged: false,
            now,
            ok,
            is_closing: false,
            has_ended: false,
        }
    }

    fn shut_down(&mut self) {
        self.is_closing = true;
        self.http2.shut_down(now());
    }

    /// Runs driver iterations until none makes progress. Completes when the connection has ended.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut turn = Turn::new(now(), self.context.config());
        // Yield to the executor after `TURNS_MAX` iterations or the time of a turn, so that a busy connection cannot
        // starve other tasks.
        for _ in 0..TURNS_MAX {
            self.now = now();
            let handled = self.handle(task, &mut turn);
            self.set_charge();
            // Write after an error too, because GOAWAY reports the error.
            let written = self.write(task);
            let (handled, written) = (handled?, written?);
            let is_flushed = !self.is_flushing && self.http2.is_flushed();
            if self.has_ended {
                // If the input ends within a frame, the client has not shut down its side on purpose.
                if is_flushed && self.http2.stream_count() == 0 || self.http2.is_mid_frame() {
                    return Poll::Ready(Ok(()));
                }
                // Detect a reset by the client. Even an empty write then fails.
                let _ = Pin::new(&mut self.transport).poll_write(task, &[])?;
            }
            if is_flushed && self.http2.is_shut_down() {
                return Poll::Ready(Ok(()));
            }
            if !is_flushed || self.http2.stream_count() > 0 {
                self.active = self.now;
            }
            if !is_flushed || self.has_ended && written {
                self.heard = self.now;
            }
            if turn.is_over {
                break;
            }
            if handled || written {
                continue;
            }
            // Free the buffers of an idle connection, because a burst may have enlarged them.
            if is_flushed && self.http2.stream_count() == 0 && self.memory() > CHARGED_MIN {
                self.http2.release();
                self.streams = Streams::default();
                self.set_charge();
            }
            let due = self.due();
            ready!(self.alarm.poll(task, due));
            self.is_due = true;
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }

    /// Runs the input side of a driver iteration: handles timeouts, messages and input, and polls woken streams.
    /// Returns whether there was progress.
    fn handle(&mut self, task: &mut Context<'_>, turn: &mut Turn) -> io::Result<bool> {
        if std::mem::take(&mut self.is_due) {
            self.expire()?;
        }
        self.is_short = self.context.is_overloaded();
        // Under overload, shrink the flow-control window, so that clients send less data for the server to buffer.
        self.http2.set_stream_window(if self.is_short { WINDOW_LEAST } else { self.context.config().stream_credit });
        // Register the waker before reading input, so that an event posted during the read wakes the task again.
        self.mailbox.take(&mut self.events, task);
        // Poll the streams that the last turn has left before reading more input.
        let has_left = !self.ready.is_empty();
        let mut is_busy = !self.events.is_empty() || has_left;
        while let Some(event) = self.events.pop_front() {
            match event {
                StreamEvent::Done(key, result, _hold) => self.finish_call(key, result),
                // Queue the stream instead of polling it, so that it is polled once, after the input of this
                // iteration was handled.
                StreamEvent::Wake(key) => self.ready.push_back(key),
            }
        }
        let waiting = self.input.len();
        let has_read = !has_left && self.read(task)?;
        self.handle_events(turn).map_err(failed(io::ErrorKind::InvalidData))?;
        // Handling input that the last turn has left is progress too, because it permits the next read.
        let has_consumed = has_read || self.input.len() < waiting;
        if has_consumed {
            // Copy the rest of the input, because it may wait and must not retain the buffer of the thread.
            self.input = Bytes::copy_from_slice(&self.input);
        }
        is_busy |= has_consumed;
        // Copy incomplete requests out of the thread's read buffer, because a slice would keep the whole buffer from
        // being reused.
        self.keep_begun();
        // Poll in FIFO order. A stream that has queued a long part is polled again only after all other streams, so
        // that it cannot starve them.
        while !turn.is_over
            && let Some(key) = self.ready.pop_front()
        {
            self.poll_stream(key);
            turn.ends_before_next();
        }
        Ok(is_busy)
    }

    /// Reads once from the transport. Returns `false` if nothing was read, because no input is available, earlier input
    /// waits, or reading is paused.
    fn read(&mut self, task: &mut Context<'_>) -> io::Result<bool> {
        if self.has_ended || !self.input.is_empty() || !self.http2.may_read() {
            return Ok(false);
        }
        let mut scratch = scratch::take_input();
        let read = pin!(self.transport.read_buf(&mut scratch)).poll(task);
        let input = scratch.split().freeze();
        scratch::put_input(scratch);
        match read {
            Poll::Ready(Ok(_)) => {}
            Poll::Ready(Err(error)) => {
                // A `ProtocolError` means that the client exceeded the limit of useless requests. Send GOAWAY with
                // ENHANCE_YOUR_CALM, as for useless frames.
                if error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<ProtocolError>) {
                    self.http2.close_abusive();
                }
                return Err(error);
            }
            Poll::Pending => return Ok(false),
        }
        (self.heard, self.has_pinged, self.has_ended) = (self.now, false, input.is_empty());
        if self.has_ended {
            self.http2.handle_half_close();
            // If the process of the client has ended, its operating system answers the PING with a reset.
            self.http2.ping();
            self.has_pinged = true;
        }
        self.input = input;
        Ok(true)
    }

    /// Handles received frames until none is left or the turn is over.
    fn handle_events(&mut self, turn: &mut Turn) -> Result<(), ConnectionError> {
        let (context, now) = (self.context, self.now);
        // Drop the batch before streams are polled, because their unary calls create batches.
        let mut batch = None;
        let mut input = std::mem::take(&mut self.input);
        while !turn.is_over
            && let Some(event) = self.http2.poll_event(&mut input, now)?
        {
            let (stream, is_end) = match event {
                Event::Head { stream, is_end } => {
                    self.handle_head(stream, is_end);
                    (stream, is_end)
                }
                Event::Data { stream, data, is_end } => {
                    self.handle_data(stream, data, is_end);
                    (stream, is_end)
                }
                Event::Trailers { stream } => {
                    self.handle_trailers(stream);
                    (stream, true)
                }
                Event::Reset { stream, .. } => {
                    // Dropping the state cancels the call.
                    self.streams.remove(stream);
                    continue;
                }
                Event::Writable { stream } => {
                    self.ready.push_back(stream);
                    continue;
                }
                _ => continue,
            };
            if is_end && let Some(StreamState::Unary(_)) = self.streams.get_mut(stream) {
                let batch = batch.get_or_insert_with(|| context.methods().batch(now));
                self.call(stream, batch);
                turn.ends_before_next();
            }
        }
        self.input = input;
        Ok(())
    }

    fn write(&mut self, task: &mut Context<'_>) -> io::Result<bool> {
        write_some(&mut self.http2, Pin::new(&mut self.transport), &mut self.is_flushing, self.now, task)
    }

    fn memory(&self) -> usize {
        self.http2.memory() + self.streams.memory()
    }

    /// Updates the memory charge of the connection for its output, queued responses, header tables, streams and input.
    fn set_charge(&mut self) {
        let bytes = self.memory() + self.input.len();
        self.charge.set(self.context, if bytes < CHARGED_MIN { 0 } else { bytes.next_multiple_of(CHARGE_STEP) });
    }

    /// Updates the memory charge after a response of `length` bytes was queued, if it is long. Otherwise, the responses
    /// to all requests of one read could exceed the memory limit before they are charged.
    fn charge_long(&mut self, length: usize) {
        if length >= COPIED_MAX {
            self.set_charge();
        }
    }

    /// Returns the time of the connection's next timeout.
    fn due(&self) -> Instant {
        let has_streams = self.http2.stream_count() > 0;
        let idle = !has_streams && !self.is_closing;
        let idle = idle.then(|| after(self.active, self.service.gateway.idle_timeout));
        let silent = has_streams.then(|| after(self.heard, self.silence_max()));
        let probe = self.has_ended.then(|| self.now + half_close::INTERVAL);
        let times = [self.http2.next_timeout(), self.overdue, idle, silent, probe];
        times.into_iter().flatten().min().unwrap_or_else(|| after(self.active, FAR))
    }

    /// Returns how long the client may be silent during calls. A half-closed client is always silent.
    fn silence_max(&self) -> Duration {
        match (self.has_ended, self.context.config().idle_timeout.min(FAR)) {
            (true, _) => self.service.gateway.idle_timeout,
            (false, silence_max) if self.has_pinged => 2 * silence_max,
            (false, silence_max) => silence_max,
        }
    }

    /// Handles expired timeouts of the connection and its streams.
    fn expire(&mut self) -> io::Result<()> {
        let now = self.now;
        self.http2.handle_timeout(now).map_err(failed(io::ErrorKind::TimedOut))?;
        if self.overdue.is_some_and(|overdue| now >= overdue) {
            // Reset before `serve_incomplete`, which sets the next deadline.
            self.overdue = None;
            self.serve_incomplete();
        }
        if self.http2.stream_count() == 0 {
            if !self.is_closing && now >= after(self.active, self.service.gateway.idle_timeout) {
                self.shut_down();
            }
            return Ok(());
        }
        if self.is_flushing || !self.http2.is_flushed() {
            // Do not measure silence while output is pending, because the client receives a PING only after it. `http2`
            // disconnects a client that does not read its output in time.
            self.heard = now;
            return Ok(());
        }
        // Check the silence limit during calls too, because the client may have vanished.
        if now >= after(self.heard, self.silence_max()) {
            if self.has_pinged {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the client has not answered a PING"));
            }
            self.has_pinged = true;
            self.http2.ping();
        }
        Ok(())
    }
}
