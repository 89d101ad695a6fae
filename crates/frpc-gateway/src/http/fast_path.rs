//! Fast path for HTTP/1.1: JSON-RPC, unary calls by Connect's POST and binary gRPC-Web, and responses without a call, all
//! with request bodies of known length. Requests that arrive together are read and answered by one read and one write.
//! Other requests are passed to hyper, together with the connection.
//!
//! With hyper, calls took 3.5 times the processor time of client and server (5.8 instead of 1.65 us) with ten requests
//! in flight on each of 16 connections, and 1.4 times (18.4 instead of 13.0 us) with one in flight.

use super::answer::Answer;
use super::calls::{CallHead, CallTarget, Calls, FinishedCall, PendingCall, ResponseOptions};
use super::fields::{self, InvalidField, KnownFields};
use super::half_close::{self, Probe};
use super::head::{self, BodyFraming, FIELDS_MAX, HTTP2, Head, Malformed};
use super::route::{Protocol, RequestHead, Route, probe, route};
use super::service::is_proxied;
use super::written;
use crate::charge::{Charge, GrowingBody, check_room};
use crate::clock::{Turn, after, now};
use crate::connect::envelope::{self, Compression, PREFIX};
use crate::connect::unary::{self, Format};
use crate::driver::AdapterDriver;
use crate::locks::Pass;
use crate::scratch::{self, READ_MAX};
use crate::streams::{CallOptions, LATE};
use crate::web;
use crate::{Gateway, Http};
use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use frisbee::RawTransport;
use frpc::{AdapterContext, Code, Metadata, Status};
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};

/// If more response bytes than this are buffered, they are written before the next request is processed.
const OUTPUT_MAX: usize = 64 * 1024;

/// Maximum capacity in bytes of the output buffer that is kept after a write, because it is not charged. Enough for
/// several responses.
const KEPT: usize = 4 * 1024;

/// Minimum size in bytes of a response body that is written separately instead of being copied behind its head.
const SEPARATE_MIN: usize = 16 * 1024;

/// Minimum free capacity in bytes for a read of a request body.
const READ_LEAST: usize = 1024;

/// Protocol in which a connection continues after the fast path, with the bytes that were already read.
#[derive(Debug)]
pub(crate) enum Handover {
    /// The connection has ended.
    Nothing,
    Http1(BytesMut),
    Http2(BytesMut),
}

/// How the fast path continues after it has handled a request.
enum NextAction {
    Next,
    Close,
    HandOver(Handover),
}

/// An HTTP/1.1 connection that is served without hyper.
pub(crate) struct FastPath<'a> {
    gateway: &'a Gateway,
    http: &'a Http,
    context: &'a AdapterContext,
    transport: AdapterDriver<RawTransport>,
    /// Received bytes that were not processed yet.
    input: BytesMut,
    /// Whether `input` borrows the thread's read buffer. If so, it is copied before the task waits.
    is_borrowed: bool,
    /// Number of bytes at the start of `input` that were searched for the end of a head.
    scanned: usize,
    /// Encoded responses that were not written yet.
    output: Vec<u8>,
    /// Start of the timeout for the current request. For the first request, this is the start of the connection, even
    /// if its first byte arrives late.
    started: Option<Instant>,
    /// Whether the task is registered to be woken when the server shuts down.
    is_stop_polled: bool,
    calls: Calls<'a>,
    /// Whether a trusted proxy has opened the connection. Its requests are handed over to hyper, because each may name
    /// another client, but the fast path charges all requests of a connection to a single client.
    is_proxied: bool,
    /// Time at which the client half-closed the connection while a call was pending.
    half_closed: Option<Instant>,
}

impl<'a> FastPath<'a> {
    pub(crate) fn new(
        gateway: &'a Gateway,
        http: &'a Http,
        context: &'a AdapterContext,
        transport: RawTransport,
    ) -> Self {
        Self {
            gateway,
            http,
            context,
            transport: AdapterDriver::new(transport, context.config()),
            input: BytesMut::new(),
            is_borrowed: false,
            scanned: 0,
            output: Vec::new(),
            started: Some(now()),
            is_stop_polled: false,
            calls: Calls::new(gateway, context),
            is_proxied: is_proxied(gateway, context),
            half_closed: None,
        }
    }

    pub(crate) fn into_transport(self) -> AdapterDriver<RawTransport> {
        self.transport
    }

    /// Serves requests until the connection ends or must leave the fast path.
    pub(crate) async fn run(&mut self) -> io::Result<Handover> {
        let context = self.context;
        let mut stopping = pin!(context.stopping());
        let mut has_served = false;
        // Start of the idle time. Empty lines do not restart it.
        let mut idle_since = None;
        let mut turn = Turn::new(now(), context.config());
        loop {
            // Flush here, because a client that pipelines requests without pause could grow the output without limit.
            if self.output.len() >= OUTPUT_MAX {
                self.flush(&[]).await?;
                continue;
            }
            self.skip_empty_lines(has_served);
            match head::end(&self.input, self.scanned) {
                Ok(Some(end)) => {
                    self.scanned = 0;
                    (self.started, has_served, idle_since) = (None, true, None);
                    if turn.ends_before_next() {
                        self.own_input();
                        self.flush(&[]).await?;
                        tokio::task::yield_now().await;
                        turn = Turn::new(now(), context.config());
                    }
                    match self.request(end).await? {
                        NextAction::Next => continue,
                        NextAction::Close => return self.end(None).await,
                        NextAction::HandOver(left) => {
                            self.flush(&[]).await?;
                            return Ok(left);
                        }
                    }
                }
                Ok(None) => self.scanned = self.input.len(),
                Err(malformed) => return self.end(Some(malformed)).await,
            }
            // Flush only before waiting, so that pipelined requests share a write.
            self.flush(&[]).await?;
            let is_idle = self.input.is_empty() && self.started.is_none();
            let due = if is_idle {
                // Free the buffers, because the connection is idle.
                (self.input, self.is_borrowed, self.output) = (BytesMut::new(), false, Vec::new());
                after(*idle_since.get_or_insert_with(now), self.gateway.idle_timeout)
            } else {
                self.own_input();
                // Free the buffer, because only its content is charged.
                self.output = Vec::new();
                // Count the deadline from the first byte of the head, so that a client that sends single bytes cannot
                // extend it.
                after(*self.started.get_or_insert_with(now), context.first_header_timeout())
            };
            match self.read(due, is_idle, stopping.as_mut()).await? {
                Some(1..) => turn = Turn::new(now(), context.config()),
                // Close an idle connection without an error response, because there is no request to respond to.
                ended => {
                    let is_slow = ended.is_none() && !self.input.is_empty();
                    return self.end(is_slow.then_some(Malformed::TooSlow)).await;
                }
            }
        }
    }

    /// Ignores empty lines before a request line (RFC 9112, section 2.2).
    fn skip_empty_lines(&mut self, has_served: bool) {
        while self.input.starts_with(b"\r\n") {
            self.input.advance(2);
            self.scanned = 0;
            // The line does not begin a request, so the connection is idle again. If the line arrived in two reads, the
            // first one has started the request timeout.
            if has_served {
                self.started = None;
            }
        }
    }

    /// Rejects a malformed request, if there is one, and closes the connection.
    async fn end(&mut self, malformed: Option<Malformed>) -> io::Result<Handover> {
        if let Some(malformed) = malformed {
            self.malformed(malformed);
        }
        self.close().await?;
        Ok(Handover::Nothing)
    }

    /// Waits for a pending call and writes its response.
    async fn wait(&mut self, pending: PendingCall, options: ResponseOptions<'_>) -> io::Result<NextAction> {
        let ResponseOptions { pass, is_last, encodings, .. } = options;
        let Some(ended) = self.complete_call(pending).await? else {
            return Ok(NextAction::HandOver(Handover::Nothing));
        };
        match ended {
            FinishedCall::JsonRpc(answer, session) => {
                self.calls.session = Some(session);
                self.respond(&answer.compressed(encodings.as_deref()), pass, is_last).await
            }
            FinishedCall::Method(answer, hold) => {
                let is_last = self.is_last(is_last);
                // Release the charge, because waiting for the write charges the response again.
                drop(hold);
                self.put(&answer.compressed(encodings.as_deref()), pass, is_last).await?;
                Ok(if is_last { NextAction::Close } else { NextAction::Next })
            }
        }
    }

    /// Returns whether the connection closes after this response, because the client requested it or the server is
    /// shutting down. During shutdown, requests that were already received are still answered.
    fn is_last(&self, is_wanted: bool) -> bool {
        is_wanted || self.input.is_empty() && self.context.is_stopping()
    }

    /// Writes the response to a request. Returns whether to serve the next request or to close the connection.
    async fn respond(&mut self, answer: &Answer, pass: Pass<'_>, is_last: bool) -> io::Result<NextAction> {
        let is_last = self.is_last(is_last);
        self.write(answer, pass, is_last).await?;
        Ok(if is_last { NextAction::Close } else { NextAction::Next })
    }

    /// Waits for input and appends it to the buffer. Returns the number of bytes, or `None` if nothing has arrived
    /// until `due`. The input of an idle connection ends when the server shuts down.
    async fn read(
        &mut self,
        due: Instant,
        is_idle: bool,
        mut stopping: Pin<&mut impl Future<Output = ()>>,
    ) -> io::Result<Option<usize>> {
        poll_fn(|task| {
            if let Poll::Ready(count) = self.poll_read(task)? {
                return Poll::Ready(Ok(Some(count)));
            }
            if is_idle {
                // Poll `stopping` only once. This registers the waker of the task, which never changes. Afterwards,
                // check the state.
                let is_stopping = match std::mem::replace(&mut self.is_stop_polled, true) {
                    true => self.context.is_stopping(),
                    false => stopping.as_mut().poll(task).is_ready(),
                };
                if is_stopping {
                    return Poll::Ready(Ok(Some(0)));
                }
            }
            self.transport.poll_deadline(task, due).map(|()| Ok(None))
        })
        .await
    }

    /// Reads once into the thread's read buffer and adds the bytes to the input. Returns their number.
    fn poll_read(&mut self, task: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut buffer = scratch::take_input();
        let polled = pin!(self.transport.read_buf(&mut buffer)).poll(task);
        if let Poll::Ready(Ok(_)) = &polled {
            if self.input.is_empty() {
                (self.input, self.is_borrowed) = (buffer.split(), true);
            } else {
                self.own_input();
                self.input.extend_from_slice(&buffer);
                buffer.clear();
            }
        }
        scratch::put_input(buffer);
        polled
    }

    /// Copies the input out of the thread's read buffer, because a waiting connection must not keep the buffer.
    fn own_input(&mut self) {
        if std::mem::take(&mut self.is_borrowed) {
            self.input = BytesMut::from(&self.input[..]);
        }
    }

    /// Copies unprocessed input to a buffer of its own. Otherwise, a few bytes would retain the whole buffer of earlier
    /// requests, which is not charged. More than half of a buffer is not worth copying.
    #[cold]
    fn compact_input(&mut self) {
        if self.input.len() < READ_MAX / 2 {
            (self.input, self.is_borrowed) = (BytesMut::from(&self.input[..]), false);
        }
    }

    /// Handles a request. Its head is the first `end` bytes of the input.
    async fn request(&mut self, end: usize) -> io::Result<NextAction> {
        self.own_input();
        let bytes = self.input.split_to(end);
        if &bytes[..] == HTTP2 {
            return Ok(NextAction::HandOver(Handover::Http2(self.unread(bytes))));
        }
        if self.is_proxied {
            return Ok(NextAction::HandOver(Handover::Http1(self.unread(bytes))));
        }
        let mut headers = [const { MaybeUninit::uninit() }; FIELDS_MAX];
        let head = match Head::parse(&bytes, &mut headers) {
            Ok(head) => head,
            Err(malformed) => return Ok(self.malformed(malformed)),
        };
        let known = KnownFields::of(head.fields.iter().map(|field| (field.name, field.value)));
        let Some((length, is_last)) = is_simple(&head, &known) else {
            return Ok(NextAction::HandOver(Handover::Http1(self.unread(bytes))));
        };
        let query = memchr::memchr(b'?', head.target.as_bytes());
        let path = query.and_then(|query| head.target.get(..query)).unwrap_or(head.target);
        let (pass, route) = self.admit(RequestHead { method: head.method, path, known: &known, is_http2: false });
        let Some(target) = self.target(path, route) else {
            return Ok(NextAction::HandOver(Handover::Http1(self.unread(bytes))));
        };
        let limit = u64::from(self.context.config().body_limit());
        // The declared length is checked first, so that a body over the limit is never received.
        let (body, waited) = match self.received_body(length, limit) {
            Some(body) => (body, Duration::ZERO),
            None => match self.body(length, target.as_ref().ok(), &known, pass).await? {
                Ok(received) => received,
                Err(step) => return Ok(step),
            },
        };
        let callee = match target {
            Ok(callee) => callee,
            Err(answer) => {
                if answer.is_clients_fault() {
                    self.context.charge_abuse(bytes.len() + body.len());
                }
                return self.respond(&answer, pass, is_last).await;
            }
        };
        let size = bytes.len() + body.len();
        let metadata = fields::metadata(head.fields.iter().map(|field| (field.name, field.value)), &known);
        let encodings = &known.accept_encoding;
        let mut options = ResponseOptions { pass, is_last: self.is_last(is_last), encodings, now: now() };
        let pending = match callee.web() {
            Some(format) => {
                // Messages of gRPC-Web are compressed within the body.
                options.encodings = &None;
                let begun = self.begin_web((callee, format), metadata, &known, (body, waited), &options);
                begun.map_err(|status| Box::new(web::answer(format, Compression::Identity, Err(status))))
            }
            None => self.begin_call(callee, metadata, &known, (body, waited), &options),
        };
        match pending {
            Ok(Some(pending)) => self.wait(pending, ResponseOptions { is_last, ..options }).await,
            Ok(None) if options.is_last => Ok(NextAction::Close),
            Ok(None) => Ok(NextAction::Next),
            Err(answer) => {
                self.context.charge_abuse(size);
                self.respond(&answer, pass, is_last).await
            }
        }
    }

    /// Routes a request after checking its host and origin. If the check fails, the route is the response that
    /// rejects the request.
    fn admit<'h>(&self, request: RequestHead<'h>) -> (Pass<'h>, Route) {
        // Health probes are answered for any host, because load balancers send an address.
        if let Some(answer) = probe(self.http, self.context, request.method, request.path) {
            return (Pass::default(), Route::Answer(answer));
        }
        match self.http.locks.admit(request.known, self.context.connection().local_addr()) {
            Ok(pass) => (pass, route(self.gateway, self.http, self.context, request)),
            Err(answer) => (Pass::default(), Route::Answer(answer)),
        }
    }

    /// Returns the target of a call, or the response to another request. Returns `None` for requests that hyper serves:
    /// those with a streamed response, and rare ones.
    fn target(&mut self, path: &str, route: Route) -> Option<Result<CallTarget, Answer>> {
        match route {
            Route::Answer(answer) => Some(Err(answer)),
            Route::JsonRpc => Some(Ok(CallTarget::JsonRpc)),
            Route::Call(method, protocol @ (Protocol::Unary(_) | Protocol::Web(_))) => {
                self.calls.enter(path, &method, protocol).map(Ok)
            }
            _ => None,
        }
    }

    /// Begins a call of JSON-RPC or Connect. `body` is the request body, and the time that was spent receiving it.
    #[inline]
    fn begin_call(
        &mut self,
        callee: CallTarget,
        metadata: Result<Metadata, InvalidField>,
        known: &KnownFields<'_>,
        (body, waited): (Bytes, Duration),
        options: &ResponseOptions<'_>,
    ) -> Result<Option<PendingCall>, Box<Answer>> {
        let metadata = metadata.map_err(|invalid| Box::new(invalid.answer()))?;
        let timeout = match callee {
            CallTarget::JsonRpc => None,
            CallTarget::Method(..) => known.connect_timeout().map_err(|reason| Box::new(unary::invalid(reason)))?,
        };
        // The client's timeout covers the time spent receiving the body.
        let timeout = timeout.map(|timeout| timeout.saturating_sub(waited));
        let head = CallHead { callee, metadata, timeout, accepted: Compression::Identity };
        Ok(self.calls.begin(head, body, options, &mut self.output))
    }

    /// Begins a gRPC-Web call. `body` is the request body, and the time that was spent receiving it.
    fn begin_web(
        &mut self,
        (callee, format): (CallTarget, Format),
        metadata: Result<Metadata, InvalidField>,
        known: &KnownFields<'_>,
        (body, waited): (Bytes, Duration),
        options: &ResponseOptions<'_>,
    ) -> Result<Option<PendingCall>, Status> {
        let metadata = metadata.map_err(InvalidField::into_status)?;
        let call = CallOptions::new(Protocol::Web(format), known, metadata)?;
        let CallOptions { timeout, metadata, encoding, accepted, .. } = call;
        let message = envelope::single(body, encoding, self.context.config().body_limit())?;
        let timeout = timeout.map(|timeout| timeout.saturating_sub(waited));
        let head = CallHead { callee, metadata, timeout, accepted };
        Ok(self.calls.begin(head, message, options, &mut self.output))
    }

    /// Returns the unprocessed input, with a removed request head put back at its start.
    fn unread(&mut self, mut head: BytesMut) -> BytesMut {
        head.unsplit(std::mem::take(&mut self.input));
        head
    }

    fn malformed(&mut self, malformed: Malformed) -> NextAction {
        written::put(&mut self.output, &malformed.answer(), &ResponseOptions::last(), true);
        NextAction::Close
    }

    /// Returns the request body if it was received together with its head and is not too long.
    fn received_body(&mut self, length: u64, limit: u64) -> Option<Bytes> {
        let length = usize::try_from(length).ok().filter(|_| length <= limit)?;
        (self.input.len() >= length).then(|| self.input.split_to(length).freeze())
    }

    /// Receives the rest of the request body. Returns the body and the time spent receiving it.
    ///
    /// If the body is rejected or the client disconnects, returns the connection's next action. A body is rejected if it
    /// exceeds the limit, misses the call's deadline, arrives too slowly, or if its memory cannot be reserved.
    async fn body(
        &mut self,
        length: u64,
        callee: Option<&CallTarget>,
        known: &KnownFields<'_>,
        pass: Pass<'_>,
    ) -> io::Result<Result<(Bytes, Duration), NextAction>> {
        let began = now();
        let due = callee.and_then(|callee| callee.timeout(known)).map(|timeout| after(began, timeout));
        let web = callee.and_then(|callee| callee.web());
        let refusal = |status| web.map(|format| web::answer(format, Compression::Identity, Err(status)));
        let limit = u64::from(self.context.config().body_limit());
        if length > limit + if web.is_some() { PREFIX as u64 } else { 0 } {
            self.context.charge_abuse(0);
            let answer = refusal(envelope::too_long(self.context.config().body_limit()));
            self.write(&answer.unwrap_or_else(|| Answer::too_long(limit)), pass, true).await?;
            return Ok(Err(NextAction::Close));
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        // Write the earlier responses, because the client may wait for them before it sends the body.
        self.flush(&[]).await?;
        let arrived = self.input.split_to(length.min(self.input.len()));
        let mut growing = GrowingBody::default();
        let mut reserved = growing.extend(self.context, &arrived, length);
        drop(arrived);
        while growing.bytes.len() < length {
            let more = (length - growing.bytes.len()).min(READ_LEAST);
            reserved = reserved.and_then(|()| growing.reserve(self.context, more, length));
            if let Err(status) = &reserved {
                let answer = refusal(status.clone()).unwrap_or_else(|| unary::failure(status));
                self.write(&answer, pass, true).await?;
                return Ok(Err(NextAction::Close));
            }
            let room = growing.available().min(length - growing.bytes.len());
            match self.read_part(&mut growing.bytes, room, due).await? {
                Ok(0) => return Ok(Err(NextAction::HandOver(Handover::Nothing))),
                Ok(_) => {}
                Err(status) => {
                    let answer = refusal(status.clone()).unwrap_or_else(|| match status.code() {
                        Code::DeadlineExceeded => unary::failure(&status),
                        _ => Answer::refusal(408, "the body of the request came too slowly"),
                    });
                    self.write(&answer, pass, true).await?;
                    return Ok(Err(NextAction::Close));
                }
            }
        }
        self.transport.message_complete();
        // `freeze` releases the charge of the body, because the call charges the body itself.
        Ok(Ok((growing.freeze(), now() - began)))
    }

    /// Reads up to `room` bytes of a request body. Returns 0 if the client has disconnected, and an error status if the
    /// deadline `due` has passed or the client sends too slowly.
    async fn read_part(
        &mut self,
        body: &mut BytesMut,
        room: usize,
        due: Option<Instant>,
    ) -> io::Result<Result<usize, Status>> {
        poll_fn(|task| {
            let mut part = (&mut *body).limit(room);
            let polled = pin!(self.transport.read_buf(&mut part)).poll(task);
            if let Poll::Ready(read) = polled {
                return Poll::Ready(read.map(Ok));
            }
            if due.is_some_and(|due| self.transport.poll_deadline(task, due).is_ready()) {
                return Poll::Ready(Ok(Err(Status::deadline_exceeded(LATE))));
            }
            let slow = self.transport.poll_too_slow(task);
            slow.map(|()| Ok(Err(Status::cancelled("the request came too slowly"))))
        })
        .await
    }

    /// Writes pending responses and waits for a call. Returns `None` if the client has disconnected.
    async fn complete_call(&mut self, pending: PendingCall) -> io::Result<Option<FinishedCall>> {
        let mut call = pin!(pending.end());
        // Poll once before writing: a response that is ready shares a write with the earlier ones.
        let first = poll_fn(|task| Poll::Ready(call.as_mut().poll(task))).await;
        if let Poll::Ready(done) = first {
            return Ok(Some(done));
        }
        // Flush before waiting, so that earlier responses are not delayed by a slow call.
        self.flush(&[]).await?;
        self.own_input();
        let (mut probe, mut charge) = (Probe::default(), Charge::default());
        charge.set(self.context, self.input.len());
        poll_fn(|task| {
            if let Poll::Ready(done) = call.as_mut().poll(task) {
                return Poll::Ready(Ok(Some(done)));
            }
            // Read during the call to notice a disconnect, but buffer only `READ_MAX` pipelined bytes, and fewer if the
            // client has used its share of memory.
            while self.half_closed.is_none()
                && self.input.len() < READ_MAX
                && (self.input.is_empty() || !self.context.is_overloaded())
            {
                if ready!(self.poll_read(task))? == 0 {
                    self.half_closed = Some(now());
                }
                self.own_input();
                charge.set(self.context, self.input.len());
            }
            let Some(since) = self.half_closed else { return Poll::Pending };
            // A probe may be sent, because all output is flushed and the response has not started.
            probe.check(&mut self.transport, task, true)?;
            loop {
                let end = after(since, self.gateway.idle_timeout);
                if now() >= end {
                    return Poll::Ready(Ok(None));
                }
                ready!(self.transport.poll_deadline(task, end.min(now() + half_close::INTERVAL)));
                probe.check(&mut self.transport, task, false)?;
            }
        })
        .await
    }

    /// Appends a response to the output buffer. Writes it immediately if its body is large.
    async fn write(&mut self, answer: &Answer, pass: Pass<'_>, is_last: bool) -> io::Result<()> {
        let refused = check_room(self.context, answer.body.len()).err().map(|status| unary::failure(&status));
        self.put(refused.as_ref().unwrap_or(answer), pass, is_last).await
    }

    /// Like [`write`](Self::write), but for a response that is already charged to memory.
    async fn put(&mut self, answer: &Answer, pass: Pass<'_>, is_last: bool) -> io::Result<()> {
        let is_separate = answer.body.len() >= SEPARATE_MIN;
        let options = ResponseOptions { pass, is_last, ..ResponseOptions::last() };
        written::put(&mut self.output, answer, &options, !is_separate);
        if is_separate { self.flush(&answer.body).await } else { Ok(()) }
    }

    /// Writes the output buffer followed by `body`. Must be called before the connection waits.
    async fn flush(&mut self, body: &[u8]) -> io::Result<()> {
        if !self.input.is_empty() {
            self.compact_input();
        }
        let total = self.output.len() + body.len();
        if total == 0 {
            return Ok(());
        }
        let mut written = 0;
        let mut hold = None;
        let (output, transport, context) = (&self.output, &mut self.transport, self.context);
        let held = total + self.input.len();
        poll_fn(|task| {
            while written < total {
                let first = output.get(written..).unwrap_or_default();
                let second = body.get(written.saturating_sub(output.len())..).unwrap_or_default();
                let polled = if second.is_empty() {
                    Pin::new(&mut *transport).poll_write(task, first)
                } else if first.is_empty() {
                    Pin::new(&mut *transport).poll_write(task, second)
                } else {
                    let slices = [IoSlice::new(first), IoSlice::new(second)];
                    Pin::new(&mut *transport).poll_write_vectored(task, &slices)
                };
                match polled? {
                    Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    Poll::Ready(count) => written += count,
                    Poll::Pending => {
                        // Charge the output and the pipelined input only once the transport is full, because most
                        // responses are written immediately.
                        hold.get_or_insert_with(|| context.charge(held));
                        return Poll::Pending;
                    }
                }
            }
            Pin::new(&mut *transport).poll_flush(task)
        })
        .await?;
        self.output.clear();
        self.output.shrink_to(KEPT);
        Ok(())
    }

    /// Closes the connection after the last response was written.
    async fn close(&mut self) -> io::Result<()> {
        self.flush(&[]).await?;
        self.transport.close().await
    }
}

/// Returns the length of the request body, and whether the client requests to close the connection. Returns `None` for
/// a request that the fast path does not support.
fn is_simple(head: &Head<'_, '_>, known: &KnownFields<'_>) -> Option<(u64, bool)> {
    let BodyFraming::Length(length) = head.framing else { return None };
    let is_usual = !head.is_old
        && head.method != "HEAD"
        && head.target.starts_with('/')
        && known.expect.is_none()
        && known.upgrade.is_none()
        && known.repeated.is_none()
        && known.host.is_some()
        && known.content_encoding.as_deref().is_none_or(|encoding| encoding.eq_ignore_ascii_case(b"identity"));
    let is_last = match known.connection.as_deref() {
        None => false,
        Some(connection) if connection.eq_ignore_ascii_case(b"keep-alive") => false,
        Some(connection) if connection.eq_ignore_ascii_case(b"close") => true,
        Some(_) => return None,
    };
    is_usual.then_some((length, is_last))
}
