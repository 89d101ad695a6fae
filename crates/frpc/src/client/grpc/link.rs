//! A connection to a gRPC server, based on the HTTP/2 state machine of `frisbee_http2`. Callers queue frames under the
//! connection's lock and wake the driver, which reads input and writes the frames.

use super::status::CallError;
use super::{PREFIX, after, status};
use crate::clock::now;
use crate::{GrpcCaller, Status};
use bytes::{Buf as _, Bytes, BytesMut};
use frisbee::rpc::{CallShares, wake_all};
use frisbee_core::ClientConfig;
use frisbee_http2::{Connection, EnvelopeTracker, ErrorCode, Event, Head, OpenError, SendError, StreamKey, write_some};
use parking_lot::Mutex;
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::{Sleep, sleep_until, timeout};

/// Byte stream to a gRPC server, for example over TCP or TLS.
pub(super) trait Io: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Io for T {}

/// Maximum time to shut down the transport of a connection that has ended. Same as for native connections.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Keepalive: when to send a PING to a silent server, and when to consider it dead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keepalive {
    /// Time without input before a PING is sent, if a call was sent since the last input.
    pub(crate) interval: Duration,
    /// Time without input after the PING before the connection is closed and its calls fail.
    pub(crate) timeout: Duration,
}

impl Default for Keepalive {
    /// The interval exceeds five minutes, because many gRPC servers close connections that send PINGs more often. The
    /// timeout is gRPC's default.
    fn default() -> Self {
        Self { interval: Duration::from_secs(310), timeout: Duration::from_secs(20) }
    }
}

/// Maximum number of bytes per read, as on native connections.
const READ_MAX: usize = 64 * 1024;

/// Minimum free capacity in bytes for a read. A buffer with less is replaced.
const READ_LEAST: usize = 4 * 1024;

/// A duration longer than any connection lasts, but representable by the clock.
pub(super) const FAR: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Notifications about the connections to a server. Each may have several waiters.
#[derive(Default)]
pub(super) struct Changes {
    /// Notified when waiting calls should check again: a connection was established or has ended, or a stream has
    /// ended.
    pub(super) calls: Notify,
    /// Notified when an attempt to connect has ended, or a connection accepts no further calls.
    pub(super) links: Notify,
}

impl Changes {
    /// Wakes all waiters after a change of the connections.
    pub(super) fn notify(&self) {
        self.calls.notify_waiters();
        self.links.notify_waiters();
    }
}

/// A connection to a gRPC server, shared by its calls and its driver.
pub(super) struct Link(Mutex<LinkState>, Arc<Changes>);

/// Result of checking a connection for its pool.
pub(super) struct LinkCheck {
    /// Whether the connection accepts no further streams.
    pub(super) is_closing: bool,
    /// Whether the server has replied to a call since the pool last checked, for the first time on this connection.
    pub(super) is_first_reply: bool,
    /// Why the connection closes, if it does so before any reply. Empty if the reason is unknown.
    pub(super) early_end: Option<Arc<str>>,
}

struct LinkState {
    http2: Connection,
    /// Calls in progress, indexed by [`StreamKey::index`].
    calls: Vec<Option<OpenCall>>,
    /// Open streams per remote caller, to prevent one caller from using all streams of the connection.
    callers: CallShares,
    driver: Option<Waker>,
    /// Waker of the task that opens the connection and waits for the server's SETTINGS frame.
    opening: Option<Waker>,
    /// Tasks to wake once the lock is released; see [`Link::update`].
    woken: Vec<Waker>,
    /// Number of calls that have ended, and whether waiting calls should check again for another reason. Reported to
    /// waiting calls once the lock is released.
    ended_calls: usize,
    has_changed: bool,
    /// Whether the connection accepts no further calls and closes once the open calls have ended.
    is_closing: bool,
    has_replied: bool,
    /// Whether the first reply on the connection has reset the number of failed connections.
    is_counted: bool,
    /// Reason given by the server for closing the connection. Included in the errors of failed calls.
    reason: Option<Arc<str>>,
    has_ended: bool,
}

type OpenCall = (StreamKey, Option<GrpcCaller>, Arc<Mutex<Reply>>);

/// The received part of a reply that the caller has not read yet.
#[derive(Default)]
struct Reply {
    /// The response head, and whether it already contains the trailers, so that no messages follow.
    head: Option<(Head, bool)>,
    body: BytesMut,
    /// Number of received bytes for which no credit has been returned to the server.
    uncredited: usize,
    tracker: EnvelopeTracker,
    end: Option<Result<Option<Head>, CallError>>,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl Reply {
    /// Ends the reply. Returns the tasks to wake.
    fn finish(&mut self, end: Result<Option<Head>, CallError>) -> impl Iterator<Item = Waker> + use<> {
        // Keep the first end, because a reset may follow the trailers.
        self.end.get_or_insert(end);
        [self.reader.take(), self.writer.take()].into_iter().flatten()
    }
}

/// Takes and wakes the waker of the driver, if there is one.
fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

impl LinkState {
    fn reply(&self, key: StreamKey) -> Option<&Arc<Mutex<Reply>>> {
        self.calls.get(key.index())?.as_ref().filter(|(of, ..)| *of == key).map(|(_, _, reply)| reply)
    }

    /// Removes a call from the connection and returns its reply, unless it was removed before. Resets its stream with
    /// `code` unless both sides have already ended it.
    fn remove(&mut self, key: StreamKey, code: ErrorCode) -> Option<Arc<Mutex<Reply>>> {
        let (_, caller, reply) = self.calls.get_mut(key.index())?.take_if(|(of, ..)| *of == key)?;
        if let Some(caller) = caller {
            self.callers.release(caller.0);
        }
        self.http2.reset(key, code);
        self.ended_calls += 1;
        Some(reply)
    }

    /// Returns the maximum number of streams, or the number of open ones if the server has lowered the maximum below
    /// that number.
    fn streams_max(&self) -> usize {
        self.http2.open_max().saturating_add(self.http2.stream_count())
    }

    fn finish(&mut self, key: StreamKey, end: Result<Option<Head>, CallError>) {
        // Lock order: connection, then reply. The caller holds the connection lock.
        if let Some(reply) = self.remove(key, ErrorCode::NO_ERROR) {
            self.woken.extend(reply.lock().finish(end));
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Head { stream, is_end } => {
                self.has_replied = true;
                let head = self.http2.head().clone();
                let reader = self.reply(stream).and_then(|reply| {
                    let mut reply = reply.lock();
                    reply.head = Some((head.clone(), is_end));
                    reply.reader.take()
                });
                self.woken.extend(reader);
                if is_end {
                    self.finish(stream, Ok(Some(head)));
                }
            }
            Event::Data { stream, data, is_end } => {
                let received = self.reply(stream).map(|reply| {
                    let mut reply = reply.lock();
                    reply.body.extend_from_slice(&data);
                    reply.uncredited += data.len();
                    (reply.tracker.advance(&data), reply.reader.take())
                });
                let (is_whole, reader) = received.unwrap_or_default();
                self.woken.extend(reader);
                if is_end {
                    self.finish(stream, Ok(None));
                } else if !is_whole {
                    // Charge each fragment of an incomplete message, so that a flood of tiny DATA frames counts as
                    // abuse.
                    self.http2.charge_fragment();
                }
            }
            Event::Trailers { stream } => {
                let trailers = self.http2.head().clone();
                self.finish(stream, Ok(Some(trailers)));
            }
            Event::Reset { stream, code } => self.finish(stream, Err(CallError::Reset(code))),
            Event::Writable { stream } => {
                let writer = self.reply(stream).and_then(|reply| reply.lock().writer.take());
                self.woken.extend(writer);
            }
            Event::GoAway { code, debug } => {
                (self.is_closing, self.has_changed) = (true, true);
                let debug = debug.escape_ascii();
                self.reason = Some(format!("the server closes the connection: {code} {debug}").trim_end().into());
            }
            _ => {}
        }
    }

    /// Fails all calls in progress when the connection has ended.
    fn end(&mut self, error: &io::Error) {
        (self.is_closing, self.has_ended, self.has_changed) = (true, true, true);
        let reason = self.reason.get_or_insert_with(|| error.to_string().into()).clone();
        // Take the calls out of the table, so that dropping them later does not reset streams.
        for (_, _, reply) in std::mem::take(&mut self.calls).into_iter().flatten() {
            self.woken.extend(reply.lock().finish(Err(CallError::Lost(reason.clone()))));
        }
        self.woken.extend(self.opening.take());
    }
}

impl Link {
    /// Starts the driver of a connection. Waits for the server's SETTINGS frame, because it states the maximum number
    /// of streams.
    pub(super) async fn open(
        transport: Pin<Box<dyn Io>>,
        runtime: &Handle,
        changes: Arc<Changes>,
        keepalive: Keepalive,
    ) -> io::Result<Arc<Self>> {
        let state = LinkState {
            http2: Connection::client(&ClientConfig::default(), now()),
            calls: Vec::new(),
            callers: CallShares::default(),
            driver: None,
            opening: None,
            woken: Vec::new(),
            ended_calls: 0,
            has_changed: false,
            is_closing: false,
            has_replied: false,
            is_counted: false,
            reason: None,
            has_ended: false,
        };
        let link = Arc::new(Self(Mutex::new(state), changes));
        runtime.spawn(drive(link.clone(), transport, keepalive));
        poll_fn(|task| {
            let mut state = link.0.lock();
            if state.has_ended {
                let reason = state.reason.as_deref().unwrap_or_default();
                return Poll::Ready(Err(io::Error::other(reason)));
            }
            if state.http2.is_established() {
                return Poll::Ready(Ok(()));
            }
            state.opening = Some(task.waker().clone());
            Poll::Pending
        })
        .await?;
        Ok(link)
    }

    /// Opens a stream for a call. Returns `None` if the connection accepts no further streams, or if the remote caller
    /// already holds its [share](frisbee::rpc::CallShares::take) of them. `message`, if set, is the whole request body.
    ///
    /// # Errors
    /// If the head is longer than the server accepts.
    pub(super) fn call(
        self: &Arc<Self>,
        caller: Option<GrpcCaller>,
        head: &Head,
        message: Option<&Bytes>,
    ) -> Option<Result<Call, Status>> {
        let mut state = self.0.lock();
        if state.is_closing {
            return None;
        }
        let max = state.http2.head_size_max();
        if head.size() > max {
            let text = format!("the metadata of the call is too long: the server accepts {max} bytes of header fields");
            return Some(Err(Status::resource_exhausted(text).not_run()));
        }
        let free = state.http2.open_max();
        if caller.is_some_and(|caller| !state.callers.take(caller.0, free)) {
            return None;
        }
        let key = match state.http2.open(head, false) {
            Ok(key) => key,
            Err(error) => {
                if let Some(caller) = caller {
                    state.callers.release(caller.0);
                }
                // A connection without unused stream ids accepts no more calls, so another one must replace it.
                if error == OpenError::ShutDown {
                    (state.is_closing, state.has_changed) = (true, true);
                    wake(&mut state.driver);
                }
                return None;
            }
        };
        if let Some(message) = message {
            // Ignore the error, because the stream was opened above.
            let _ = state.http2.send_data(key, message.clone(), true);
        }
        let reply = Arc::<Mutex<Reply>>::default();
        if state.calls.len() <= key.index() {
            state.calls.resize_with(key.index() + 1, || None);
        }
        if let Some(slot) = state.calls.get_mut(key.index()) {
            *slot = Some((key, caller, reply.clone()));
        }
        wake(&mut state.driver);
        Some(Ok(Call { sender: Sender { link: self.clone(), key, reply } }))
    }

    /// Runs `change` under the lock of the connection, and then wakes the tasks of changed calls and of calls that wait
    /// for a stream. They are woken without the lock, because the waker may be the last reference to a task with
    /// another call of the connection.
    fn update<T>(&self, change: impl FnOnce(&mut LinkState) -> T) -> T {
        let mut state = self.0.lock();
        let result = change(&mut state);
        let woken = std::mem::take(&mut state.woken);
        let (ended_calls, has_changed) =
            (std::mem::take(&mut state.ended_calls), std::mem::take(&mut state.has_changed));
        drop(state);
        wake_all(woken);
        if has_changed {
            self.1.notify();
        }
        // Wake a single waiting call for each ended one, because a single stream has become free.
        (0..ended_calls).for_each(|_| self.1.calls.notify_one());
        result
    }

    /// Returns the number of calls in progress. The streams of a connection that has ended remain open in `http2`.
    pub(super) fn in_progress(&self) -> usize {
        let state = self.0.lock();
        if state.has_ended { 0 } else { state.http2.stream_count() }
    }

    /// Returns whether the connection accepts no further streams.
    pub(super) fn is_closing(&self) -> bool {
        self.0.lock().is_closing
    }

    /// Checks the connection for its pool.
    pub(super) fn check(&self) -> LinkCheck {
        let mut state = self.0.lock();
        let is_first_reply = state.has_replied && !std::mem::replace(&mut state.is_counted, true);
        let is_early_end = state.is_closing && !state.has_replied;
        let early_end = is_early_end.then(|| state.reason.clone().unwrap_or_default());
        LinkCheck { is_closing: state.is_closing, is_first_reply, early_end }
    }

    /// Closes the connection once its calls in progress have ended.
    pub(super) fn close(&self) {
        let mut state = self.0.lock();
        state.is_closing = true;
        state.http2.shut_down(now());
        wake(&mut state.driver);
    }
}

#[cfg(test)]
impl Link {
    /// Makes the connection behave as if it had no unused stream ids.
    pub(super) fn use_up_ids(&self) {
        self.0.lock().http2.shut_down(now());
    }
}

/// Sending half of a call.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) link: Arc<Link>,
    key: StreamKey,
    reply: Arc<Mutex<Reply>>,
}

impl Sender {
    /// Completes once the stream can accept request bytes.
    pub(super) fn poll_writable(&self, task: &mut Context<'_>) -> Poll<Result<(), SendError>> {
        let mut state = self.link.0.lock();
        if state.http2.poll_writable(self.key)? {
            return Poll::Ready(Ok(()));
        }
        // Register while holding the connection lock: the driver takes the waker under the same lock, so no wake-up is
        // missed.
        let replaced = self.reply.lock().writer.replace(task.waker().clone());
        // Drop the replaced waker without the locks, because it may own a task with another call of this connection.
        drop(state);
        drop(replaced);
        Poll::Pending
    }

    /// Sends a part of the request body.
    pub(super) fn send(&self, data: Bytes, is_end: bool) -> Result<(), SendError> {
        let mut state = self.link.0.lock();
        state.http2.send_data(self.key, data, is_end)?;
        wake(&mut state.driver);
        Ok(())
    }

    /// Resets the stream of the call, which fails with `status`.
    pub(super) fn fail(&self, status: Status) {
        self.link.update(|state| {
            if let Some(reply) = state.remove(self.key, ErrorCode::CANCEL) {
                state.woken.extend(reply.lock().finish(Err(CallError::Unsent(status))));
                wake(&mut state.driver);
            }
        });
    }
}

/// A call on a gRPC connection. Dropping it cancels the call.
pub(super) struct Call {
    pub(super) sender: Sender,
}

impl Call {
    /// Polls for the response head. Also returns whether the head already contains the trailers.
    pub(super) fn poll_head(&mut self, task: &mut Context<'_>) -> Poll<Result<(Head, bool), CallError>> {
        let mut reply = self.sender.reply.lock();
        // Check the head before the error, so that a response head that arrived before the stream failed is not lost.
        if let Some(head) = reply.head.take() {
            return Poll::Ready(Ok(head));
        }
        if let Some(Err(error)) = &reply.end {
            return Poll::Ready(Err(error.clone()));
        }
        let replaced = reply.reader.replace(task.waker().clone());
        drop(reply);
        drop(replaced);
        Poll::Pending
    }

    /// Polls for the next response message. Returns `None` after the last message.
    pub(super) fn poll_message(
        &mut self,
        message_max: u32,
        authority: &str,
        task: &mut Context<'_>,
    ) -> Poll<Result<Option<Bytes>, Status>> {
        let mut reply = self.sender.reply.lock();
        let mut message = None;
        if let Some((&[flags, a, b, c, d], _)) = reply.body.split_first_chunk() {
            let length = u32::from_be_bytes([a, b, c, d]);
            // Check the announced length, so that the body of a message over the limit is not buffered.
            if length > message_max {
                let text = format!("a message of {length} bytes exceeds the limit of {message_max}");
                return Poll::Ready(Err(Status::resource_exhausted(text)));
            }
            let length = length as usize;
            if reply.body.len() >= PREFIX + length {
                reply.body.advance(PREFIX);
                let body = reply.body.split_to(length).freeze();
                message = Some(match flags {
                    0 => Ok(body),
                    // Compression is an error, because the request excludes it.
                    _ => Err(Status::internal("the server sent a compressed message, which the request excludes")),
                });
            }
        }
        // Withhold credit only for complete messages that the reader has not taken yet. The rest of an incomplete
        // message needs credit to arrive.
        let waiting = if message.is_some() { reply.body.len() } else { 0 };
        let credit = reply.uncredited.saturating_sub(waiting);
        reply.uncredited -= credit;
        let is_incomplete = !reply.body.is_empty();
        let end = reply.end.as_ref().map(|end| end.as_ref().map(drop).map_err(Clone::clone));
        let is_pending = message.is_none() && end.is_none();
        let replaced = if is_pending { reply.reader.replace(task.waker().clone()) } else { None };
        // Release this lock before locking the connection, because the driver takes the two in the opposite order.
        drop(reply);
        drop(replaced);
        // Return flow-control credit only while the stream is open, because nothing is sent after the end.
        if credit > 0 && end.is_none() {
            let mut state = self.sender.link.0.lock();
            state.http2.consume(self.sender.key, credit);
            wake(&mut state.driver);
        }
        match (message, end) {
            (Some(message), _) => Poll::Ready(message.map(Some)),
            (None, None) => Poll::Pending,
            // The server has begun to reply, so the call may have run even if the code of the reset denies this.
            (None, Some(Err(error))) => Poll::Ready(Err(error.status(authority).may_run())),
            (None, Some(Ok(()))) if is_incomplete => {
                let failed = self.trailers().and_then(|trailers| status::outcome(&trailers).err());
                Poll::Ready(Err(failed.unwrap_or_else(|| Status::internal("the reply ended within a message"))))
            }
            (None, Some(Ok(()))) => Poll::Ready(Ok(None)),
        }
    }

    /// Returns the trailers of the reply, or `None` if the reply has not ended or has no trailers.
    pub(super) fn trailers(&self) -> Option<Head> {
        self.sender.reply.lock().end.clone()?.ok()?
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.sender.link.update(|state| {
            if state.remove(self.sender.key, ErrorCode::CANCEL).is_some() {
                wake(&mut state.driver);
            }
        });
    }
}

/// Drives a gRPC connection until it ends.
async fn drive(link: Arc<Link>, mut transport: Pin<Box<dyn Io>>, keepalive: Keepalive) {
    let guard = EndOnDrop(link);
    let link = &*guard.0;
    let mut driver = Driver { keepalive, ..Driver::default() };
    let mut alarm = pin!(sleep_until(after(now(), FAR).into()));
    let error = poll_fn(|task| driver.poll(link, transport.as_mut(), alarm.as_mut(), task)).await;
    tracing::debug!(%error, "connection to a gRPC server ended");
    // Fail the calls with this error, because the guard would fail them with a general one.
    link.update(|state| state.end(&error));
    // Limit the time, because TLS first sends its pending output, which a dead server never accepts.
    let _ = timeout(SHUTDOWN_TIMEOUT, poll_fn(|task| transport.as_mut().poll_shutdown(task))).await;
}

/// Guard that fails the calls of a connection when its driver is dropped, for example because the runtime shuts down.
struct EndOnDrop(Arc<Link>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.update(|state| state.end(&io::ErrorKind::NotConnected.into()));
    }
}

#[derive(Default)]
struct Driver {
    /// Buffer for the next read.
    buffer: BytesMut,
    /// Received bytes that have not been decoded yet.
    input: Bytes,
    keepalive: Keepalive,
    /// Time of the first call after the last read, and whether a PING was sent since. Cancelling the call does not
    /// reset it, because the server may be dead.
    silent_since: Option<Instant>,
    has_pinged: bool,
    is_flushing: bool,
    /// Error of the last write. The connection ends once no further input is available.
    write_error: Option<io::Error>,
    /// Whether the transport did not accept all output in the last iteration.
    is_blocked: bool,
}

impl Driver {
    fn poll(
        &mut self,
        link: &Link,
        mut transport: Pin<&mut dyn Io>,
        mut alarm: Pin<&mut Sleep>,
        task: &mut Context<'_>,
    ) -> Poll<io::Error> {
        loop {
            let polled = link.update(|state| self.poll_once(state, transport.as_mut(), alarm.as_mut(), task));
            if let Some(polled) = polled {
                return polled;
            }
        }
    }

    /// Returns `None` if there was progress, so that the driver must be polled again.
    fn poll_once(
        &mut self,
        state: &mut LinkState,
        transport: Pin<&mut dyn Io>,
        mut alarm: Pin<&mut Sleep>,
        task: &mut Context<'_>,
    ) -> Option<Poll<io::Error>> {
        let now = now();
        if self.silent_since.is_none() && state.http2.stream_count() > 0 {
            self.silent_since = Some(now);
        }
        match self.turn(state, transport, now, task) {
            Ok(true) => return None,
            Ok(false) => {}
            Err(error) => return Some(Poll::Ready(error)),
        }
        if state.http2.stream_count() == 0 {
            if !self.is_flushing && state.is_closing && state.http2.is_flushed() {
                return Some(Poll::Ready(io::ErrorKind::NotConnected.into()));
            }
            state.http2.release();
        }
        // The lock has been held since the last check, so later calls find this waker and wake the driver.
        state.driver = Some(task.waker().clone());
        let due = [state.http2.next_timeout(), self.keepalive_due()].into_iter().flatten().min();
        let due = due.unwrap_or_else(|| after(now, FAR)).into();
        // Reset the alarm only if the time is earlier, because most polls change the time. Later times are set when the
        // alarm fires.
        if due < alarm.deadline() || alarm.is_elapsed() {
            alarm.as_mut().reset(due);
        }
        alarm.poll(task).is_pending().then_some(Poll::Pending)
    }

    /// Returns when to send a PING, or when to close the connection if one was sent.
    fn keepalive_due(&self) -> Option<Instant> {
        let due = after(self.silent_since?, self.keepalive.interval);
        Some(if self.has_pinged { after(due, self.keepalive.timeout) } else { due })
    }

    /// Handles timeouts, reads input and writes output once. Returns whether there was progress.
    fn turn(
        &mut self,
        state: &mut LinkState,
        mut transport: Pin<&mut dyn Io>,
        now: Instant,
        task: &mut Context<'_>,
    ) -> io::Result<bool> {
        let mut is_busy = false;
        if self.input.is_empty()
            && state.http2.may_read()
            && let Poll::Ready(read) = {
                if self.buffer.capacity() < READ_LEAST {
                    self.buffer.reserve(READ_MAX);
                }
                pin!(transport.read_buf(&mut self.buffer)).poll(task)
            }
        {
            if read? == 0 {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection"));
            }
            self.input = self.buffer.split().freeze();
            (self.silent_since, self.has_pinged, is_busy) = (None, false, true);
        }
        let handled = self.handle(state, now);
        if self.write_error.is_none() {
            // Write after an error too, because GOAWAY reports the error.
            match write_some(&mut state.http2, transport, &mut self.is_flushing, now, task) {
                Ok(has_written) => is_busy |= has_written,
                Err(error) => {
                    self.write_error = Some(error);
                    state.is_closing = true;
                }
            }
        }
        self.is_blocked = self.is_flushing || !state.http2.is_flushed();
        handled?;
        // Read the remaining input before failing, because it may contain replies that the server sent before it closed
        // its socket.
        match self.write_error.take_if(|_| !is_busy) {
            Some(error) => Err(error),
            None => Ok(is_busy),
        }
    }

    fn handle(&mut self, state: &mut LinkState, now: Instant) -> io::Result<()> {
        let failed = |error: frisbee_http2::ConnectionError| io::Error::new(io::ErrorKind::InvalidData, error);
        if state.http2.next_timeout().is_some_and(|due| now >= due) {
            state.http2.handle_timeout(now).map_err(failed)?;
        }
        let streams_max = state.streams_max();
        while let Some(event) = state.http2.poll_event(&mut self.input, now).map_err(failed)? {
            state.handle(event);
        }
        // Wake all waiting calls if SETTINGS permits more streams, because it may permit several.
        state.has_changed |= state.streams_max() > streams_max;
        // Copy the rest of the input, which may stay here until pending writes complete, so that it does not keep the
        // read buffer alive.
        self.input = Bytes::copy_from_slice(&self.input);
        if state.http2.is_established() {
            state.woken.extend(state.opening.take());
        }
        if self.is_blocked {
            // A server that has output to read is not silent: it would receive a PING only after that output, and
            // `http2` limits the time of the output.
            self.silent_since = self.silent_since.map(|_| now);
        } else if self.keepalive_due().is_some_and(|due| now >= due) {
            if std::mem::replace(&mut self.has_pinged, true) {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "the server has not answered a PING"));
            }
            state.http2.ping();
        }
        Ok(())
    }
}
