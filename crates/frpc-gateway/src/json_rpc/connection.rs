//! A dedicated JSON-RPC connection: a sequence of messages with optional white space between them. One task reads and
//! writes, like the driver of a native connection: each iteration reads once, handles all complete messages, and writes
//! all replies together.

use super::framing::{Framed, MessageFraming};
use super::session::{BYTE_ORDER_MARK, Session};
use crate::Gateway;
use crate::charge::{Charge, IdleMemory, rejected};
use crate::clock::{Turn, now};
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

/// Minimum free capacity in bytes for reading the rest of a message.
const READ_LEAST: usize = 4 * 1024;

/// Maximum number of consecutive iterations of a connection's task before it yields.
const BATCHES_MAX: usize = 4;

/// Maximum capacity in bytes of the output buffer that an idle connection keeps, enough for several replies.
const KEPT: usize = 4 * 1024;

/// Reason for which request streams end when a message is rejected and reading stops.
const FAILED: &str = "the connection takes no more messages because of an error: see the reply without an id";

/// Serves a connection that starts with a JSON-RPC message, until the client half-closes it, an error occurs, or the
/// server shuts down.
pub(crate) async fn serve(gateway: &Gateway, transport: RawTransport, context: &AdapterContext) -> io::Result<()> {
    let _charge = IdleMemory::LINES.charge(context)?;
    let mut connection = Connection::new(gateway, transport, context);
    let mut stopping = pin!(context.stopping());
    // Poll the shutdown future only once: it then wakes the task whenever it completes, because the task's waker does
    // not change.
    let mut is_stop_polled = false;
    poll_fn(|task| {
        let polled = connection.poll(task);
        if polled.is_ready() || connection.reading != ReadState::Open {
            return polled;
        }
        let is_stopping = if is_stop_polled { context.is_stopping() } else { stopping.as_mut().poll(task).is_ready() };
        is_stop_polled = true;
        if is_stopping {
            // From now on, handle only messages that have already been received.
            connection.reading = ReadState::Last;
            return connection.poll(task);
        }
        polled
    })
    .await?;
    // Ignore the result, because the connection ends here.
    let _ = connection.transport.close().await;
    Ok(())
}

/// Creates the session of a connection, with methods, tools or both as enabled in the gateway.
fn session(gateway: &Gateway, context: &AdapterContext) -> Session {
    let session = Session::new(gateway, context, Metadata::new());
    #[cfg(feature = "mcp")]
    if let Some(mcp) = &gateway.mcp {
        return if gateway.json_rpc { session.with_tools(mcp) } else { session.for_tools(mcp) };
    }
    session
}

/// Which part of the client's input is still read and handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum ReadState {
    Open,
    /// The server is shutting down. Messages that were already received are handled.
    Last,
    /// Input is read only for calls in progress. New calls are rejected.
    Draining,
    Ended,
}

struct Connection<'a> {
    transport: AdapterDriver<RawTransport>,
    context: &'a AdapterContext,
    session: Session,
    idle_timeout: Duration,
    message_max: usize,
    /// Received part of the incomplete message.
    input: BytesMut,
    /// Received messages, which are handled once the client has read pending replies and other connections have run.
    pending: Bytes,
    /// Size in bytes of the memory that `pending` is a part of.
    pending_memory: usize,
    /// State of the scan for the end of the incomplete message.
    framing: MessageFraming,
    /// Number of bytes of the output buffer that were already written.
    written: usize,
    /// Whether written bytes still have to be flushed.
    is_flushing: bool,
    /// Memory charge of the input buffers.
    charge: Charge,
    /// Time of the last successful read or write.
    active: Instant,
    reading: ReadState,
}

impl<'a> Connection<'a> {
    fn new(gateway: &Gateway, transport: RawTransport, context: &'a AdapterContext) -> Self {
        let config = context.config();
        Self {
            transport: AdapterDriver::new(transport, config),
            context,
            session: session(gateway, context),
            idle_timeout: gateway.idle_timeout,
            message_max: usize::try_from(config.body_limit()).unwrap_or(usize::MAX),
            input: BytesMut::new(),
            pending: Bytes::new(),
            pending_memory: 0,
            framing: MessageFraming::default(),
            written: 0,
            is_flushing: false,
            charge: Charge::default(),
            active: now(),
            reading: ReadState::Open,
        }
    }

    /// Reads, handles and writes messages until no more progress is possible. Completes when the connection has ended.
    fn poll(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let now = now();
        let mut turn = Turn::new(now, self.context.config());
        // Yield to the executor after `BATCHES_MAX` iterations or the time of a turn, so that a busy client cannot
        // starve other tasks.
        for _ in 0..BATCHES_MAX {
            let has_read = self.read(task, now, &mut turn)?;
            // A single poll suffices: output that did not fit is polled for after the write, in the next iteration.
            let _ = self.session.poll(task);
            self.charge();
            let has_written = self.write(task)?;
            if has_read || has_written {
                self.active = now;
                if turn.is_over {
                    break;
                }
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

    /// Reads once and handles the messages that are now complete. Returns false if nothing was read.
    fn read(&mut self, task: &mut Context<'_>, now: Instant, turn: &mut Turn) -> io::Result<bool> {
        // Apply backpressure: stop reading from a client that does not read its replies.
        if self.session.is_full() {
            return Ok(false);
        }
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            self.handle(pending, now, turn);
            self.wait_for_rest();
            return Ok(true);
        }
        if self.reading == ReadState::Ended {
            return Ok(false);
        }
        let mut scratch = scratch::take_input();
        let is_new = self.input.is_empty();
        if !is_new && self.input.capacity() - self.input.len() < READ_LEAST {
            // Let the buffer of an incomplete message grow in proportion to the bytes received.
            let more = self.input.len().max(READ_LEAST);
            let buffered = self.input.len() + more;
            if let Err(status) = self.charge.try_set(self.context, buffered) {
                self.session.fail(&status);
                self.end_reading(FAILED);
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
                    // The read would block, so all requests sent before the shutdown have been handled. Reject later
                    // calls.
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
            self.end_reading("the client closed its direction without ending the stream");
            return Ok(true);
        }
        let bytes = if is_new { scratch.split().freeze() } else { self.take_whole() };
        if !bytes.is_empty() {
            self.handle(bytes, now, turn);
            // Copy the messages that wait, because a slice would keep a larger buffer, which is not charged.
            self.pending = Bytes::copy_from_slice(&self.pending);
            self.pending_memory = self.pending.len();
        }
        scratch::put_input(scratch);
        self.wait_for_rest();
        Ok(true)
    }

    /// Stops reading. Request streams fail for this reason.
    fn end_reading(&mut self, reason: &str) {
        self.reading = ReadState::Ended;
        self.session.cut_off(&Status::cancelled(reason));
        self.input = BytesMut::new();
        self.transport.message_complete();
    }

    /// Splits off the message at the start of the input if it is complete or must be rejected. Returns an empty buffer
    /// otherwise.
    fn take_whole(&mut self) -> Bytes {
        let bounds = self.session.bounds();
        let framed = self.framing.scan(&self.input, bounds);
        if framed == Framed::Incomplete && self.input.len() <= self.message_max {
            return Bytes::new();
        }
        self.framing = MessageFraming::default();
        std::mem::take(&mut self.input).freeze()
    }

    /// Handles the complete messages in the input and keeps the start of an incomplete one.
    fn handle(&mut self, mut bytes: Bytes, now: Instant, turn: &mut Turn) {
        let Self { session, framing, input, pending, message_max, .. } = self;
        let bounds = session.bounds();
        let refused = session.run_batch(now, |batch| {
            loop {
                let spaces = bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                bytes.advance(spaces);
                if bytes.starts_with(BYTE_ORDER_MARK) {
                    bytes.advance(BYTE_ORDER_MARK.len());
                    continue;
                }
                // Keep the start of a byte order mark that arrives in several reads.
                if BYTE_ORDER_MARK.starts_with(&bytes) {
                    input.extend_from_slice(&bytes);
                    return None;
                }
                if batch.is_full() || turn.ends_before_next() {
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
        // Stop reading, because the start of the next message is unknown after this error.
        self.framing = MessageFraming::default();
        self.end_reading(FAILED);
    }

    /// Stops measuring the rate of the message if no part of a message is buffered.
    fn wait_for_rest(&mut self) {
        if self.input.is_empty() {
            self.transport.message_complete();
        }
    }

    /// Charges the input and output buffers to the client. Fails the connection if the input has grown beyond the
    /// client's memory limit.
    fn charge(&mut self) {
        self.session.charge_output();
        let pending = if self.pending.is_empty() { 0 } else { self.pending_memory };
        let has_grown = self.charge.set(self.context, self.input.capacity() + pending);
        // Refuse only growth: a buffer that shrinks reduces the overload.
        if has_grown && self.context.is_overloaded() && !self.input.is_empty() {
            self.session.fail(&rejected(self.context));
            self.end_reading(FAILED);
        }
    }

    /// Writes as much output as the transport accepts. Returns false if nothing was written.
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
            // Flush the bytes that the transport buffers, for example TLS records.
            self.is_flushing = true;
            self.charge();
        } else if *written >= session.output().len() / 2 && *written > 0 {
            // Remove the written bytes once they are half of the output, so that each byte is moved at most about once.
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

    /// Fails if the client sends too slowly or is idle for too long. Otherwise registers the task for the next
    /// deadline.
    fn poll_time(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.session.is_full() {
            // Do not measure the rate while reading is paused, because the rest of the message may already have
            // arrived.
            self.transport.message_complete();
        } else if !self.input.is_empty() {
            let late = || io::Error::new(io::ErrorKind::TimedOut, "a message arrives too slowly");
            return self.transport.poll_too_slow(task).map(|()| Err(late()));
        }
        // A half-closed client without queued output may have vanished. Its calls may continue for the idle timeout.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ServeGateway as _;
    use frpc::{Config, Request, Response, Server, Streaming};
    use samples::tools::{Name, Shelf, ShelfServer};
    use tokio::io::{AsyncWriteExt as _, DuplexStream};
    use tokio::sync::mpsc::unbounded_channel;

    /// A service whose methods return their request, or its first item.
    struct Echo;

    impl Shelf for Echo {
        async fn look(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
            Ok(Response::new(request.into_inner()))
        }

        async fn clear(&self, request: Request<Name>) -> Result<Response<Name>, Status> {
            Ok(Response::new(request.into_inner()))
        }

        async fn fill(&self, request: Request<Streaming<Name>>) -> Result<Response<Name>, Status> {
            Ok(Response::new(request.into_inner().message().await?.unwrap_or_default()))
        }
    }

    /// Returns a connection that has sent `bytes` and reads nothing, its context, and the other end.
    async fn opened(bytes: &str) -> (RawTransport, AdapterContext, [DuplexStream; 2]) {
        let (opens, mut opened) = unbounded_channel();
        let server = Server::builder().config(Config::default().backlog_max(1)).add_service(ShelfServer::new(Echo));
        let server = server.adapter(
            |_| true,
            move |transport, context| {
                opens.send((transport, context)).expect("test should wait for the connection");
                std::future::pending()
            },
        );
        let server = server.build().expect("server settings should be valid");
        let ((mut input, there), (output, full)) = (tokio::io::duplex(1024), tokio::io::duplex(1));
        let transport = tokio::io::join(there, output);
        tokio::spawn(async move { server.serve_connection(transport).await });
        input.write_all(bytes.as_bytes()).await.expect("server should accept the bytes");
        let (transport, context) = opened.recv().await.expect("adapter should accept the connection");
        (transport, context, [input, full])
    }

    /// Regression test: messages that waited for space in the output were slices of the thread's read buffer.
    #[tokio::test]
    async fn waiting_messages_do_not_keep_read_buffer() {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"none"}"#;
        let (transport, context, _client) = opened(&[call, call].concat()).await;
        let mut connection = Connection::new(&Gateway::new().json_rpc(), transport, &context);
        let polled = poll_fn(|task| Poll::Ready(connection.poll(task).is_pending())).await;
        assert!(polled, "connection should wait until the client reads the first reply");
        assert_eq!(connection.pending, call);
        assert!(connection.pending.is_unique(), "waiting message should have its own memory");
    }

    /// Regression test: request items were slices of their messages, and 16 items of a stream could keep 80 MiB of
    /// which only their own lengths were charged.
    #[tokio::test]
    async fn waiting_items_do_not_keep_their_messages() {
        let (_transport, context, _client) = opened("{").await;
        let mut session = Session::new(&Gateway::new().json_rpc(), &context, Metadata::new());
        session.handle(&Bytes::from(r#"{"jsonrpc":"2.0","id":1,"method":"tools.Shelf/Fill"}"#));
        assert_eq!(session.calls(), 1, "stream should be open");
        let item = r#"{"jsonrpc":"2.0","method":"rpc.item","params":{"id":1,"item":{"name":"Ada"}}}"#;
        let message = Bytes::from(item.to_owned());
        session.handle(&message);
        assert_eq!(session.calls(), 1, "item should be accepted");
        assert!(message.is_unique(), "item should have its own memory");
    }

    /// Regression test: a notification that was not JSON got no reply if its method was known.
    #[tokio::test]
    async fn notification_with_invalid_json_gets_parse_error() {
        let (_transport, context, _client) = opened("{").await;
        for (params, expected) in [(r#"{"name":tru}"#, "-32700"), (r#"{"none":1}"#, "")] {
            let mut session = Session::new(&Gateway::new().json_rpc(), &context, Metadata::new());
            let message = format!(r#"{{"jsonrpc":"2.0","method":"tools.Shelf/Look","params":{params}}}"#);
            session.handle(&message.into());
            let output = String::from_utf8_lossy(session.output()).into_owned();
            assert_eq!(output.lines().count(), usize::from(!expected.is_empty()), "{output}");
            assert!(output.contains(expected), "{output}");
        }
    }

    /// Regression test: after an invalid message, a call with a request stream failed with the reason that the client
    /// had closed its direction.
    #[tokio::test]
    async fn call_cut_off_by_invalid_message_names_reason() {
        let server = Server::builder().add_service(ShelfServer::new(Echo)).gateway(Gateway::new().json_rpc());
        let server = server.build().expect("server settings should be valid");
        let (mut client, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        let messages = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools.Shelf/Fill\"}\n}";
        client.write_all(messages).await.expect("server should accept the messages");
        let mut replies = String::new();
        client.read_to_string(&mut replies).await.expect("replies should be UTF-8");
        assert!(replies.contains("-32700") && replies.contains("because of an error"), "{replies}");
    }
}
