//! WebSocket connections with whole messages, used for JSON-RPC. A single task reads, writes and enforces timeouts,
//! like the driver of a native connection.

use super::frame::{CloseCode, Event, Fault, Kind, Role};
use super::sending::FrameSender;
use super::transport::{Ending, WebSocketState};
use crate::charge::{Charge, GrowingBody};
use crate::clock::now;
use crate::driver::AdapterDriver;
use crate::json_rpc::Session;
use bytes::{BufMut, Bytes, BytesMut};
use frisbee::Config;
use frisbee_core::{Keepalive, Liveness};
use frpc::AdapterContext;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

/// Maximum number of bytes per read. Reads use a buffer on the stack, so that idle connections need no buffer.
const READ_MAX: usize = 16 * 1024;

/// Maximum number of bytes per read of a long message, which is read directly into its buffer. Equal to the maximum of
/// native connections.
const LONG_READ_MAX: usize = 64 * 1024;

/// Minimum free capacity in bytes for reading a long message.
const LONG_READ_LEAST: usize = 4 * 1024;

/// Maximum number of consecutive messages and reads before the task yields.
const STEPS: usize = 64;

const NOT_TEXT: Fault = Fault::new(CloseCode::NOT_TEXT, "a text that is not UTF-8");

/// Handler of the messages of a WebSocket connection.
pub(super) trait MessageHandler {
    /// Handles a complete message. Queues replies that are available immediately in `sending`.
    fn handle(&mut self, kind: Kind, message: Bytes, sending: &mut FrameSender) -> Result<(), Fault>;

    /// Queues pending replies in `sending`, up to a total of `backlog_max` bytes. Registers the task to be woken by
    /// later replies.
    fn poll(&mut self, task: &mut Context<'_>, sending: &mut FrameSender, backlog_max: usize);

    /// Returns whether any reply is pending.
    fn is_busy(&self) -> bool;

    /// Rejects new calls.
    fn stop(&mut self) {}

    /// Releases the memory charge of the replies that were moved to `sending`. Called when `sending` is charged for
    /// them.
    fn output_charged(&mut self) {}
}

/// JSON-RPC over WebSocket, with one JSON-RPC message per text message.
pub(super) struct JsonRpcMessages(pub(super) Session);

impl MessageHandler for JsonRpcMessages {
    fn handle(&mut self, kind: Kind, message: Bytes, sending: &mut FrameSender) -> Result<(), Fault> {
        if kind == Kind::Binary {
            return Err(Fault::new(CloseCode::UNSUPPORTED, "bytes, where messages are texts"));
        }
        sending.lines(|out| {
            std::mem::swap(self.0.output(), out);
            self.0.handle(&message);
            std::mem::swap(self.0.output(), out);
        });
        Ok(())
    }

    fn poll(&mut self, task: &mut Context<'_>, sending: &mut FrameSender, backlog_max: usize) {
        while sending.unsent() < backlog_max
            && let Poll::Ready(true) = self.0.poll(task)
        {
            // Take the whole buffer, so that an idle connection keeps none.
            sending.texts(&std::mem::take(self.0.output()));
        }
    }

    fn output_charged(&mut self) {
        self.0.charge_output();
    }

    fn is_busy(&self) -> bool {
        self.0.calls() > 0
    }

    fn stop(&mut self) {
        self.0.refuse_calls();
    }
}

/// Handler that echoes each message, for protocol test suites.
pub(super) struct Echo;

impl MessageHandler for Echo {
    fn handle(&mut self, kind: Kind, message: Bytes, sending: &mut FrameSender) -> Result<(), Fault> {
        match kind {
            Kind::Text => sending.text(&message),
            Kind::Binary => sending.binary(&message),
        }
        Ok(())
    }

    fn poll(&mut self, _task: &mut Context<'_>, _sending: &mut FrameSender, _backlog_max: usize) {}

    fn is_busy(&self) -> bool {
        false
    }
}

/// Serves a WebSocket connection until either side closes it, an error occurs, or the server stops. `early` contains
/// bytes that were already read from the transport.
pub(super) async fn serve<T, K>(
    early: BytesMut,
    io: T,
    talk: K,
    config: &Config,
    context: Option<&AdapterContext>,
) -> io::Result<()>
where
    T: AsyncRead + AsyncWrite + Unpin,
    K: MessageHandler,
{
    let start = now();
    let mut connection = Connection {
        wire: WebSocketState::new(
            BytesMut::new(),
            AdapterDriver::new(io, config),
            Role::Server,
            config.body_limit().into(),
        ),
        talk,
        context,
        backlog_max: config.backlog_max,
        input: early,
        message: Message::default(),
        output: Charge::default(),
        keepalive: Keepalive::new(config.ping_interval, config.idle_timeout, start),
        stops: false,
    };
    let mut stopping = pin!(async {
        match context {
            Some(context) => context.stopping().await,
            None => std::future::pending().await,
        }
    });
    let ending = poll_fn(|task| {
        let polled = connection.poll(task);
        if polled.is_ready() || connection.stops || stopping.as_mut().poll(task).is_pending() {
            return polled;
        }
        // From now on, reject new calls. `poll` completes once the calls in progress have ended.
        connection.stops = true;
        connection.talk.stop();
        connection.poll(task)
    })
    .await?;
    // Cancel the remaining calls before waiting for the client to close its side.
    drop(connection.talk);
    // Box the future to keep this one small, because closing happens once per connection.
    Box::pin(connection.wire.close(ending)).await;
    Ok(())
}

/// WebSocket connection with its partially received message and unsent frames.
struct Connection<'a, T, K> {
    wire: WebSocketState<AdapterDriver<T>>,
    talk: K,
    context: Option<&'a AdapterContext>,
    backlog_max: usize,
    /// Bytes that were received and not decoded yet.
    input: BytesMut,
    message: Message,
    /// Memory charge of the queued frames.
    output: Charge,
    keepalive: Keepalive,
    /// Whether the server is stopping. New calls are then rejected, while calls in progress still receive request
    /// items.
    stops: bool,
}

/// Message that was received only partially.
#[derive(Default)]
struct Message {
    body: GrowingBody,
    text: Utf8,
}

impl<T: AsyncRead + AsyncWrite + Unpin, K: MessageHandler> Connection<'_, T, K> {
    /// Reads, replies and writes until no more progress is possible. Completes when the connection must be closed.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<Ending>> {
        for _ in 0..STEPS {
            let now = now();
            self.talk.poll(task, &mut self.wire.sending, self.backlog_max);
            let was_full = self.wire.sending.unsent() >= self.backlog_max;
            self.charge_output();
            // Write once after all messages that arrived together have been handled.
            if self.input.is_empty() || self.wire.sending.unsent() >= self.backlog_max {
                self.write(task, now)?;
            }
            self.charge_output();
            let takes_more = self.wire.sending.unsent() < self.backlog_max;
            let has_read = takes_more && self.read(task, now)?;
            // After a fault, `WebSocketState::close` sends the close code of the fault instead.
            if self.wire.fault.is_some() || self.wire.decoder.has_closed() {
                return Poll::Ready(Ok((CloseCode::NORMAL, String::new())));
            }
            if has_read {
                continue;
            }
            self.write(task, now)?;
            if was_full && self.wire.sending.unsent() < self.backlog_max {
                // Continue, because nothing else would wake the task for replies and messages that wait for space.
                continue;
            }
            if self.stops && !self.talk.is_busy() && self.wire.sending.unsent() == 0 {
                return Poll::Ready(Ok((CloseCode::GOING_AWAY, "the server stops".to_owned())));
            }
            return self.poll_time(task, now);
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }

    /// Writes as much queued output as the transport accepts.
    fn write(&mut self, task: &mut Context<'_>, now: Instant) -> io::Result<()> {
        let before = self.wire.sending.unsent();
        if before == 0 {
            return Ok(());
        }
        let _ = self.wire.poll_flush(task)?;
        if self.wire.sending.unsent() < before {
            self.keepalive.sent(now);
        }
        Ok(())
    }

    /// Handles the next message in the input, or reads once. Returns false if nothing was received.
    fn read(&mut self, task: &mut Context<'_>, now: Instant) -> io::Result<bool> {
        let missing = usize::try_from(self.wire.decoder.missing_data()).unwrap_or(usize::MAX);
        if !self.input.is_empty() {
            self.take_message(now);
        } else if missing >= READ_MAX && !self.message.body.bytes.is_empty() {
            let begin = self.message.body.bytes.len();
            let Some(count) = self.read_long(task, missing)? else { return Ok(false) };
            self.note_read(count, now)?;
            self.take_long(begin, now);
        } else {
            let mut chunk = [const { MaybeUninit::uninit() }; READ_MAX];
            let mut chunk = ReadBuf::uninit(&mut chunk);
            match Pin::new(&mut self.wire.io).poll_read(task, &mut chunk) {
                Poll::Pending => return Ok(false),
                Poll::Ready(read) => read?,
            }
            self.note_read(chunk.filled().len(), now)?;
            self.input.extend_from_slice(chunk.filled());
            self.take_message(now);
        }
        if !self.wire.decoder.is_mid_message() {
            self.wire.io.message_complete();
        }
        Ok(true)
    }

    fn note_read(&mut self, count: usize, now: Instant) -> io::Result<()> {
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.keepalive.received(now);
        Ok(())
    }

    /// Reads once, directly into the buffer of a long message, and returns the number of bytes. Returns `None` if
    /// nothing has arrived or the memory limit is reached. `missing` is the number of missing bytes of the current
    /// frame.
    fn read_long(&mut self, task: &mut Context<'_>, missing: usize) -> io::Result<Option<usize>> {
        let length = self.message.body.bytes.len();
        let (least, most) = (missing.min(LONG_READ_LEAST), missing.min(LONG_READ_MAX));
        if !self.reserve(least, length + most) {
            return Ok(None);
        }
        let available = self.message.body.available();
        let mut room = (&mut self.message.body.bytes).limit(most.min(available));
        match pin!(self.wire.io.read_buf(&mut room)).poll(task) {
            Poll::Pending => Ok(None),
            Poll::Ready(count) => count.map(Some),
        }
    }

    /// Decodes the bytes of a long message from `begin`. Handles the message if it is complete.
    fn take_long(&mut self, begin: usize, now: Instant) {
        let part = self.message.body.bytes.get_mut(begin..).unwrap_or_default();
        match self.wire.decoder.next(part, &mut 0, || now) {
            Ok(Some(Event::Data { kind, ends, .. })) => {
                let part = self.message.body.bytes.get(begin..).unwrap_or_default();
                if kind == Kind::Text && !self.message.text.take(part, ends) {
                    self.wire.fault = Some(NOT_TEXT);
                    return;
                }
                if ends {
                    let whole = std::mem::take(&mut self.message).body.freeze();
                    self.handle(kind, whole);
                }
            }
            // No event can follow, because the read was limited to the missing bytes of the frame.
            Ok(_) => {}
            Err(fault) => self.wire.fault = Some(fault),
        }
    }

    /// Decodes the input up to the end of a message, and handles that message.
    fn take_message(&mut self, now: Instant) {
        let mut at = 0;
        loop {
            match self.wire.decoder.next(&mut self.input, &mut at, || now) {
                Ok(None) => {
                    self.input = BytesMut::new();
                    return;
                }
                Ok(Some(Event::Data { kind, range, ends })) => {
                    let is_whole = ends && self.message.body.bytes.is_empty();
                    // Reserve a buffer only for fragmented messages; a message in a single frame is read from the
                    // input.
                    if !is_whole && !self.reserve(range.len(), 0) {
                        return;
                    }
                    let part = self.input.get(range.clone()).unwrap_or_default();
                    if kind == Kind::Text && !self.message.text.take(part, ends) {
                        self.wire.fault = Some(NOT_TEXT);
                        return;
                    }
                    if !is_whole {
                        self.message.body.bytes.extend_from_slice(part);
                    }
                    if ends {
                        let read = self.input.split_to(at).freeze();
                        let whole = std::mem::take(&mut self.message).body.freeze();
                        self.handle(kind, if is_whole { read.slice(range) } else { whole });
                        return;
                    }
                }
                Ok(Some(event)) => self.wire.handle(&event),
                Err(fault) => {
                    self.wire.fault = Some(fault);
                    return;
                }
            }
        }
    }

    fn handle(&mut self, kind: Kind, message: Bytes) {
        let Self { talk, wire, .. } = self;
        wire.fault = talk.handle(kind, message, &mut wire.sending).err().or(wire.fault);
    }

    /// Reserves capacity for a part of a message; see [`GrowingBody::reserve`]. Returns false if the memory limit is
    /// reached.
    fn reserve(&mut self, more: usize, most: usize) -> bool {
        let is_reserved = self.message.body.reserve(self.context, more, most).is_ok();
        if !is_reserved {
            self.message = Message::default();
            self.wire.fault = Some(Fault::new(CloseCode::TRY_LATER, "the server's memory limit is reached"));
        }
        is_reserved
    }

    /// Charges queued frames to the server's memory limit.
    fn charge_output(&mut self) {
        if let Some(context) = self.context {
            self.output.set(context, self.wire.sending.memory());
            self.talk.output_charged();
        }
    }

    /// Sends PINGs, and closes the connection if the client is too slow or silent for too long. Registers the task for
    /// the next deadline.
    fn poll_time(&mut self, task: &mut Context<'_>, now: Instant) -> Poll<io::Result<Ending>> {
        let late = |text: &str| Poll::Ready(Ok((CloseCode::POLICY, text.to_owned())));
        let unsent = self.wire.sending.unsent();
        if unsent >= self.backlog_max {
            // Do not measure the rate while reading is paused, because the rest of the message may already have
            // arrived.
            self.wire.io.message_complete();
        } else if self.wire.decoder.is_mid_message() && self.wire.io.poll_too_slow(task).is_ready() {
            return late("a message arrived too slowly");
        }
        match self.keepalive.poll(now) {
            Liveness::Alive => {}
            // Browsers reply automatically, even for pages in the background.
            Liveness::SendPing => {
                self.wire.sending.ping();
                task.waker().wake_by_ref();
                return Poll::Pending;
            }
            // A client that has queued output to read is not considered silent.
            Liveness::Dead if unsent > 0 => self.keepalive.received(now),
            Liveness::Dead => return late("the client is silent"),
        }
        let Some(due) = self.keepalive.deadline() else { return Poll::Pending };
        if self.wire.io.poll_deadline(task, due).is_ready() {
            task.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

/// Incremental UTF-8 validator that detects errors as early as possible.
#[derive(Clone, Copy, Default, Debug)]
struct Utf8 {
    /// First bytes of a character that is split between two parts.
    partial: [u8; 4],
    length: usize,
}

impl Utf8 {
    /// Validates the next part of a text. `ends` marks the last part. Returns false if the text is invalid UTF-8.
    fn take(&mut self, mut part: &[u8], ends: bool) -> bool {
        while self.length > 0 {
            let Some((byte, rest)) = part.split_first() else { return !ends };
            let Some(slot) = self.partial.get_mut(self.length) else { return false };
            *slot = *byte;
            self.length += 1;
            part = rest;
            match std::str::from_utf8(&self.partial[..self.length]) {
                Ok(_) => self.length = 0,
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        let Err(error) = std::str::from_utf8(part) else { return true };
        if error.error_len().is_some() || ends {
            return false;
        }
        let partial = part.get(error.valid_up_to()..).unwrap_or_default();
        self.length = partial.len();
        self.partial[..partial.len()].copy_from_slice(partial);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::time::Duration;
    use tokio::io::AsyncWriteExt;

    /// Handler that sends text messages until the backlog is full.
    struct Queued(VecDeque<Vec<u8>>);

    impl MessageHandler for Queued {
        fn handle(&mut self, _kind: Kind, _message: Bytes, _sending: &mut FrameSender) -> Result<(), Fault> {
            Ok(())
        }

        fn poll(&mut self, _task: &mut Context<'_>, sending: &mut FrameSender, backlog_max: usize) {
            while sending.unsent() < backlog_max
                && let Some(text) = self.0.pop_front()
            {
                sending.text(&text);
            }
        }

        fn is_busy(&self) -> bool {
            !self.0.is_empty()
        }
    }

    /// Handler with a delayed reply.
    struct Late(Pin<Box<tokio::time::Sleep>>, Option<Vec<u8>>);

    impl MessageHandler for Late {
        fn handle(&mut self, _kind: Kind, _message: Bytes, _sending: &mut FrameSender) -> Result<(), Fault> {
            Ok(())
        }

        fn poll(&mut self, task: &mut Context<'_>, sending: &mut FrameSender, _backlog_max: usize) {
            if self.1.is_some() && self.0.as_mut().poll(task).is_ready() {
                sending.text(&self.1.take().unwrap_or_default());
            }
        }

        fn is_busy(&self) -> bool {
            self.1.is_some()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unread_begun_message_is_not_late() {
        let second = Duration::from_secs(1);
        let config = Config::default().backlog_max(1024).least_rate_window(5 * second).least_rate(1000);
        let (here, mut there) = tokio::io::duplex(1024);
        // Send one of the ten bytes of a message.
        there.write_all(b"\x81\x8a\0\0\0\0a").await.expect("server should accept the frame header");
        let late = Late(Box::pin(tokio::time::sleep(second)), Some(vec![b'x'; 40_000]));
        let serving = tokio::spawn(async move { serve(BytesMut::new(), here, late, &config, None).await });
        for _ in 0..15 {
            tokio::time::sleep(second).await;
            there.read_exact(&mut [0; 2000]).await.expect("server should send a part of the reply");
        }
        there.write_all(b"aaaaaaaaa").await.expect("server should accept the rest of the message");
        there.read_exact(&mut [0; 10_004]).await.expect("server should send the rest of the reply");
        assert!(!serving.is_finished());
    }

    /// Regression test: if a single write flushed everything up to the backlog limit, replies beyond it were sent only
    /// after the next PING.
    #[tokio::test(start_paused = true)]
    async fn answers_beyond_backlog_follow_at_once() {
        let config = Config::default().backlog_max(1024);
        let (here, mut there) = tokio::io::duplex(1024 * 1024);
        let answers = Queued(vec![vec![b'x'; 2000]; 5].into());
        tokio::spawn(async move { serve(BytesMut::new(), here, answers, &config, None).await });
        let started = now();
        let mut received = vec![0; 5 * 2004];
        there.read_exact(&mut received).await.expect("server should send all replies");
        assert_eq!(now(), started, "clock should not advance while a task can run");
    }

    #[test]
    fn utf8_check_in_parts_matches_standard_library() {
        let texts: [&[u8]; 9] = [
            b"",
            "κόσμε 🦀 plain".as_bytes(),
            b"\xce\xba\xe1\xbd\xb9\xed\xa0\x80edited",
            b"\xf4\x90\x80\x80",
            b"\xc0\xaf",
            b"\xe2\x82",
            b"\xff",
            b"\x80",
            b"\xf0\x9f\xa6\x80",
        ];
        for text in texts {
            for width in 1..=text.len().max(1) {
                let mut judge = Utf8::default();
                let mut parts = text.chunks(width);
                let is_text = parts.all(|part| judge.take(part, false)) && judge.take(b"", true);
                assert_eq!(
                    is_text,
                    std::str::from_utf8(text).is_ok(),
                    "judgement of {text:?} should be independent of parts of {width} bytes"
                );
            }
        }
    }

    #[test]
    fn invalid_utf8_byte_is_detected_immediately() {
        let mut judge = Utf8::default();
        assert!(judge.take(b"ok \xed", false));
        assert!(!judge.take(b"\xa0", false), "surrogates should be rejected");
    }
}
