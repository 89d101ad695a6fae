//! A connection that carries JSON-RPC and nothing else: messages one after the other, with white space between them or
//! none. One task reads and writes it, as the driver of a native connection does: each turn reads once, handles what
//! has come whole, and writes all replies at once.

use super::framing::{Framed, MessageFraming};
use super::session::{BYTE_ORDER_MARK, Session};
use crate::Gateway;
use crate::charge::{Charge, overloaded};
use crate::clock::now;
use crate::driver::AdapterDriver;
use crate::scratch;
use bytes::{Buf, Bytes, BytesMut};
use frisbee::RawTransport;
use frpc::{AdapterContext, Metadata, Status};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWrite};

/// A message that has begun has room for another read of this much, in bytes.
const READ_LEAST: usize = 4 * 1024;

/// Turns in a row, before other connections have theirs.
const BATCHES_MAX: usize = 4;

/// How much of an output buffer an idle connection keeps, in bytes: some replies.
const KEPT: usize = 4 * 1024;

/// Serves a connection to its end: that of the client's direction, an error, or a server that stops.
pub(super) async fn serve(gateway: &Gateway, transport: RawTransport, context: &AdapterContext) -> io::Result<()> {
    let config = context.config();
    let mut connection = Connection {
        transport: AdapterDriver::new(transport, config),
        context,
        session: session(gateway, context),
        idle_timeout: gateway.idle_timeout,
        message_max: usize::try_from(config.body_limit()).unwrap_or(usize::MAX),
        input: BytesMut::new(),
        pending: Bytes::new(),
        framing: MessageFraming::default(),
        written: 0,
        is_flushing: false,
        charge: Charge::default(),
        active: now(),
        reading: ReadState::Open,
    };
    let mut stopping = pin!(context.stopping());
    // Polled once, it wakes the task when the server stops. The waker of the task stays the same.
    let mut is_stop_polled = false;
    poll_fn(|task| {
        let polled = connection.poll(task);
        if polled.is_ready() || connection.reading != ReadState::Open {
            return polled;
        }
        let is_stopping = if is_stop_polled { context.is_stopping() } else { stopping.as_mut().poll(task).is_ready() };
        is_stop_polled = true;
        if is_stopping {
            // Calls that have come are answered, and no others.
            connection.reading = ReadState::Last;
            return connection.poll(task);
        }
        polled
    })
    .await?;
    // It has ended either way.
    let _ = connection.transport.close().await;
    Ok(())
}

/// The session for the enabled protocols.
fn session(gateway: &Gateway, context: &AdapterContext) -> Session {
    let session = Session::new(gateway, context, Metadata::new());
    #[cfg(feature = "mcp")]
    if let Some(mcp) = &gateway.mcp {
        return if gateway.json_rpc { session.with_tools(mcp) } else { session.for_tools(mcp) };
    }
    session
}

/// What becomes of the client's direction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadState {
    Open,
    /// The server stops: reads the bytes received by now.
    Last,
    /// Reads on for the calls in progress. No call begins.
    Draining,
    Ended,
}

struct Connection<'a> {
    transport: AdapterDriver<RawTransport>,
    context: &'a AdapterContext,
    session: Session,
    idle_timeout: Duration,
    message_max: usize,
    /// The beginning of a message.
    input: BytesMut,
    /// Messages that have come and wait until the client has taken replies.
    pending: Bytes,
    /// How far the message that has begun has been scanned.
    framing: MessageFraming,
    /// The bytes of the output that have been written.
    written: usize,
    /// The transport may hold some of them.
    is_flushing: bool,
    /// The charge for input and output that waits here.
    charge: Charge,
    /// When something has come or gone last.
    active: Instant,
    reading: ReadState,
}

impl Connection<'_> {
    /// Reads, calls and writes until there is nothing to do. Ready when the connection is over.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let now = now();
        for _ in 0..BATCHES_MAX {
            let has_read = self.read(task, now)?;
            // A pass for the calls that have ended, and another one if there was more than fits.
            let _ = self.session.poll(task);
            self.charge();
            let has_written = self.write(task)?;
            if has_read || has_written {
                self.active = now;
                continue;
            }
            let has_output = !self.session.output().is_empty();
            let is_last = matches!(self.reading, ReadState::Draining | ReadState::Ended);
            if is_last && self.session.calls() == 0 && self.pending.is_empty() && !has_output {
                return Poll::Ready(Ok(()));
            }
            return self.poll_time(task);
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once, and handles the messages that are whole. `false` if nothing has come, or nothing is read.
    fn read(&mut self, task: &mut Context<'_>, now: Instant) -> io::Result<bool> {
        if self.session.is_full() {
            return Ok(false);
        }
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            self.handle(pending, now);
            self.wait_for_rest();
            return Ok(true);
        }
        if self.reading == ReadState::Ended {
            return Ok(false);
        }
        let mut scratch = scratch::take_input();
        let is_new = self.input.is_empty();
        if !is_new && self.input.capacity() - self.input.len() < READ_LEAST {
            // An incomplete message grows with its received bytes.
            let more = self.input.len().max(READ_LEAST);
            let buffered = self.input.len() + more + self.session.output().capacity();
            if self.charge.try_set(self.context, buffered).is_err() {
                self.session.fail(&overloaded());
                self.end_reading();
                return Ok(true);
            }
            self.input.reserve(more);
        }
        let buffer = if is_new { &mut scratch } else { &mut self.input };
        let read = pin!(self.transport.read_buf(buffer)).poll(task);
        let count = match read {
            Poll::Pending => {
                scratch::put_input(scratch);
                if self.reading == ReadState::Last {
                    self.reading = ReadState::Draining;
                    self.session.refuse_calls();
                    return Ok(true);
                }
                return Ok(false);
            }
            Poll::Ready(read) => read?,
        };
        if count == 0 {
            scratch::put_input(scratch);
            self.end_reading();
            return Ok(true);
        }
        let bytes = if is_new { scratch.split().freeze() } else { self.take_whole() };
        if !bytes.is_empty() {
            self.handle(bytes, now);
        }
        scratch::put_input(scratch);
        self.wait_for_rest();
        Ok(true)
    }

    fn end_reading(&mut self) {
        self.reading = ReadState::Ended;
        self.session.cut_off(&Status::cancelled("the client closed its direction without ending the stream"));
        self.input = BytesMut::new();
        self.transport.message_complete();
    }

    /// Takes the incomplete message out of the input, with the bytes after it, if its end has arrived or it is refused.
    fn take_whole(&mut self) -> Bytes {
        let bounds = self.session.bounds();
        let framed = self.framing.scan(&self.input, bounds);
        if framed == Framed::Incomplete && self.input.len() <= self.message_max {
            return Bytes::new();
        }
        self.framing = MessageFraming::default();
        std::mem::take(&mut self.input).freeze()
    }

    /// Handles messages, and keeps the beginning of one that is not whole.
    fn handle(&mut self, mut bytes: Bytes, now: Instant) {
        let Self { session, framing, input, pending, message_max, .. } = self;
        let bounds = session.bounds();
        let refused = session.run_batch(now, |batch| {
            loop {
                if bytes.starts_with(BYTE_ORDER_MARK) {
                    bytes.advance(BYTE_ORDER_MARK.len());
                }
                let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                bytes.advance(spaces);
                if bytes.is_empty() {
                    return None;
                }
                if batch.is_full() {
                    *pending = bytes;
                    return None;
                }
                let is_short = bytes.len() <= *message_max && batch.takes_methods();
                if let Some(length) = is_short.then(|| batch.take_plain(&bytes, |_| true)).flatten() {
                    bytes.advance(length);
                    continue;
                }
                match framing.scan(&bytes, bounds) {
                    Framed::End(length) => {
                        *framing = MessageFraming::default();
                        if length > *message_max {
                            return Some(Err(too_long(*message_max)));
                        }
                        batch.handle_framed(&bytes.split_to(length));
                    }
                    Framed::Incomplete if bytes.len() > *message_max => return Some(Err(too_long(*message_max))),
                    Framed::Incomplete => {
                        input.extend_from_slice(&bytes);
                        return None;
                    }
                    Framed::Refused(refusal) => return Some(Ok(refusal)),
                }
            }
        });
        match refused {
            None => return,
            Some(Ok(refusal)) => self.session.refuse(refusal),
            Some(Err(status)) => self.session.fail(&status),
        }
        // The start of the next message is unknown.
        self.framing = MessageFraming::default();
        self.end_reading();
    }

    /// Times the message that has begun, if one has.
    fn wait_for_rest(&mut self) {
        if self.input.is_empty() {
            self.transport.message_complete();
        }
        self.charge();
    }

    /// Charges the queued bytes to the server's memory.
    fn charge(&mut self) {
        let buffered = self.input.capacity() + self.pending.len() + self.session.output().capacity();
        let has_grown = self.charge.set(self.context, buffered);
        if has_grown && self.context.is_overloaded() && !self.input.is_empty() {
            self.context.connection().count_rejected();
            self.session.fail(&overloaded());
            self.end_reading();
        }
    }

    /// Writes the output as far as the client takes it. `false` if nothing was written.
    fn write(&mut self, task: &mut Context<'_>) -> io::Result<bool> {
        let Self { transport, session, written, .. } = self;
        let mut has_written = false;
        while session.output().len() > *written {
            let rest = session.output().get(*written..).unwrap_or_default();
            match Pin::new(&mut *transport).poll_write(task, rest) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(count)) => {
                    *written += count;
                    has_written = true;
                }
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => break,
            }
        }
        if has_written && session.output().len() == *written {
            *written = 0;
            session.output().clear();
            session.output().shrink_to(KEPT);
            // The buffered bytes, such as those of TLS, are flushed now.
            self.is_flushing = true;
            self.charge();
        } else if *written >= session.output().len() / 2 && *written > 0 {
            session.output().drain(..std::mem::take(written));
            self.charge();
        }
        if self.is_flushing
            && let Poll::Ready(flushed) = Pin::new(&mut self.transport).poll_flush(task)
        {
            flushed?;
            self.is_flushing = false;
        }
        Ok(has_written)
    }

    /// Closes the connection if the client is too slow or silent for too long, and has the task woken for the next look.
    fn poll_time(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.session.is_full() {
            // The rest of a message may wait here for this side to read it.
            self.transport.message_complete();
        } else if !self.input.is_empty() {
            let late = || io::Error::new(io::ErrorKind::TimedOut, "a message arrives too slowly");
            return self.transport.poll_too_slow(task).map(|()| Err(late()));
        }
        // A client that sends no more, and has no output queued, may be gone for good: its calls continue as long as a
        // connection may be idle, and no longer.
        let has_ended = self.reading == ReadState::Ended;
        let is_idle = (has_ended || self.session.calls() == 0) && self.session.output().len() == self.written;
        match self.active.checked_add(self.idle_timeout).filter(|_| is_idle) {
            Some(due) => self.transport.poll_deadline(task, due).map(Ok),
            None => Poll::Pending,
        }
    }
}

#[cold]
fn too_long(max: usize) -> Status {
    Status::resource_exhausted(format!("a message exceeds the limit of {max} bytes"))
}
