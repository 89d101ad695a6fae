//! Unary gRPC calls. A call starts when its message is complete. If the handler is ready immediately, the response is
//! encoded directly into the output of the connection. Request heads that equal recent ones are not parsed again.

use super::body::StreamLink;
use super::stream::{self, ServedStream, put_fields};
use super::{Driver, StreamEvent, StreamState};
use crate::charge::{GrowingBody, check_room};
use crate::clock::after;
use crate::connect::envelope::{self, Compression, PREFIX};
use crate::connect::unary::Format;
use crate::http::fields::{self, KnownFields};
use crate::http::route::{Protocol, RequestHead, Route, route};
use crate::http::service::{Reply, RequestParts, add, is_addressed};
use crate::inbound::{self, Inbound};
use crate::streams::{self, CallOptions};
use bytes::Bytes;
use frisbee_core::earlier;
use frisbee_http2::{EnvelopeTracker, Head, StreamKey};
use frpc::Trailers;
use frpc::{AdapterBatch, AdapterCall, AdapterContext, AdapterMethod, AdapterSlot, CallKind, Code, Status};
use http::{HeaderMap, Response};
use http_body::Frame;
use std::borrow::Cow;
use std::time::{Duration, Instant};

/// Time to receive the rest of a unary call's message. Afterwards, the call is converted to a stream, which has
/// timeouts. Most clients send the message together with the head.
const GRACE: Duration = Duration::from_millis(100);

/// Maximum number of methods cached per connection. The cache is searched linearly.
const CALLEES_MAX: usize = 64;

/// Number of cached request heads. Equal to the number that `frisbee_http2` caches.
const RECENT_MAX: usize = 4;

/// A method that was called on the connection, cached by its path.
pub(super) struct Callee {
    path: Box<str>,
    format: Format,
    method: AdapterMethod,
    slot: AdapterSlot,
    /// Encoded response heads of the method: without compression, and with compression.
    heads: [Head; 2],
}

/// Parsed call settings of a recent request head. Reused if the client sends the same head again.
pub(super) struct RecentCall {
    memo: u64,
    callee: usize,
    options: CallOptions,
}

/// State of a unary gRPC call while its request is being received.
pub(super) struct UnaryCall {
    callee: usize,
    options: CallOptions,
    began: Instant,
    /// Size in bytes of the request head, of which the metadata is kept.
    pub(super) head_size: usize,
    /// The request in the thread's read buffer, if all of it has arrived in this driver iteration.
    slice: Bytes,
    kept: GrowingBody,
}

/// Settings of a unary call that determine how its response is encoded.
#[derive(Clone, Copy)]
pub(super) struct ReplyOptions {
    callee: usize,
    protocol: Protocol,
    accepted: Compression,
}

impl UnaryCall {
    fn new(callee: usize, options: CallOptions, began: Instant, head_size: usize) -> Self {
        Self { callee, options, began, head_size, slice: Bytes::new(), kept: GrowingBody::default() }
    }

    fn bytes(&self) -> &[u8] {
        if self.slice.is_empty() { &self.kept.bytes } else { &self.slice }
    }

    /// Returns the length of the enveloped request as announced by its prefix. `None` if the prefix is incomplete.
    fn length(&self, limit: u32) -> Result<Option<usize>, Status> {
        let Some((&[_, a, b, c, d], _)) = self.bytes().split_first_chunk() else { return Ok(None) };
        envelope::length([a, b, c, d], limit).map(|length| Some(PREFIX + length))
    }

    /// Returns the number of bytes of the enveloped request that have not arrived, if its prefix has.
    fn rest(&self) -> Option<usize> {
        self.length(u32::MAX).ok()?.map(|length| length.saturating_sub(self.bytes().len()))
    }

    /// Appends a part of the request. Returns whether the message is complete.
    fn push(&mut self, context: &AdapterContext, part: Bytes) -> Result<bool, Status> {
        if self.bytes().is_empty() {
            self.slice = part;
        } else if !part.is_empty() {
            self.keep(context)?;
            let most = self.length(u32::MAX)?.unwrap_or(0);
            self.kept.extend(context, &part, most)?;
        }
        let length = self.length(context.config().body_limit())?;
        if length.is_some_and(|length| self.bytes().len() > length) {
            return Err(Status::unimplemented(envelope::SEVERAL_MESSAGES));
        }
        Ok(length == Some(self.bytes().len()))
    }

    /// Copies the request out of the thread's read buffer.
    fn keep(&mut self, context: &AdapterContext) -> Result<(), Status> {
        let most = self.length(u32::MAX)?.unwrap_or(0);
        self.kept.extend(context, &std::mem::take(&mut self.slice), most)
    }

    /// Decodes the message of a request that has ended.
    fn take_message(&mut self, context: &AdapterContext) -> Result<Bytes, Status> {
        let limit = context.config().body_limit();
        let request = match std::mem::take(&mut self.slice) {
            slice if slice.is_empty() => std::mem::take(&mut self.kept).freeze(),
            // The request arrived in one part, so decode it from the read buffer without a copy.
            slice => slice,
        };
        envelope::single(request, self.options.encoding, limit)
    }

    /// Returns the time that remains until the call's timeout.
    fn timeout(&self, now: Instant) -> Option<Duration> {
        self.options.timeout.map(|timeout| timeout.saturating_sub(now.saturating_duration_since(self.began)))
    }

    /// Returns the time at which the call is converted to a stream unless its message is complete.
    fn overdue(&self) -> Instant {
        after(self.began, self.options.timeout.map_or(GRACE, |timeout| timeout.min(GRACE)))
    }

    fn reply_options(&self) -> ReplyOptions {
        ReplyOptions { callee: self.callee, protocol: self.options.protocol, accepted: self.options.accepted }
    }
}

/// Returns the index of the cached method at a path. `None` if the method does not support the message format or the
/// cache is full.
fn callee(
    callees: &mut Vec<Callee>,
    path: &str,
    method: AdapterMethod,
    protocol: Protocol,
    varies: bool,
) -> Option<usize> {
    let format = protocol.format();
    let position = callees.iter().position(|callee| callee.format == format && *callee.path == *path);
    if position.is_some() || callees.len() >= CALLEES_MAX {
        return position;
    }
    let slot = method.slot(format.name())?;
    let heads = [Compression::Identity, Compression::Gzip].map(|accepted| {
        let mut fields = HeaderMap::new();
        streams::describe(&mut fields, protocol, accepted);
        vary(&mut fields, varies);
        let mut head = Head::response(200);
        put_fields(&mut head, &fields);
        head
    });
    callees.push(Callee { path: path.into(), format, method, slot, heads });
    Some(callees.len() - 1)
}

/// Adds `vary: origin`, which every response needs if CORS is enabled.
fn vary(fields: &mut HeaderMap, varies: bool) {
    if varies {
        add(fields, "vary", "origin".to_owned());
    }
}

impl<'a> Driver<'a> {
    fn varies(&self) -> bool {
        self.service.gateway.http.as_ref().is_some_and(|http| http.locks.cors)
    }

    fn failure(&self, protocol: Protocol, status: Status) -> Response<Reply> {
        let mut response = streams::failure(protocol, status);
        vary(response.headers_mut(), self.varies());
        response
    }

    /// Parses the received request head as a unary gRPC call. Returns `None` for other requests.
    pub(super) fn begin_unary(&mut self) -> Option<Result<UnaryCall, Response<Reply>>> {
        // Leave the requests of a proxy to the service, because they may have different clients.
        if self.service.proxied.is_some() {
            return None;
        }
        let (varies, now) = (self.varies(), self.now);
        let Self { service, context, http2, callees, recent, .. } = self;
        let head = http2.head();
        let is_known = |call: &&RecentCall| head.memo() == Some(call.memo);
        if let Some(RecentCall { callee, options, .. }) = recent.iter().find(is_known) {
            return Some(Ok(UnaryCall::new(*callee, options.clone(), now, head.size())));
        }
        if !head.get("content-type").is_some_and(|content_type| content_type.starts_with(b"application/grpc")) {
            return None;
        }
        let parts = RequestParts::http2(head);
        let mut known = KnownFields::of(head.fields());
        is_addressed(parts, &mut known, context).ok()?;
        let http = service.gateway.http.as_ref()?;
        let pass = http.locks.admit(&known, context.connection().local_addr()).ok()?;
        let (path, _) = parts.target();
        let request = RequestHead { method: head.method().unwrap_or_default(), path, known: &known, is_http2: true };
        let Route::Call(method, protocol @ Protocol::Grpc(_)) = route(&service.gateway, http, context, request) else {
            return None;
        };
        // Leave requests of web pages to the service, which adds the CORS fields, and those that expect an interim
        // response.
        if method.kind() != CallKind::Unary || pass.readable_by.is_some() || known.expect.is_some() {
            return None;
        }
        let callee = callee(callees, path, method, protocol, varies)?;
        let metadata = fields::metadata(head.fields(), &known).map_err(fields::InvalidField::into_status);
        let options = match metadata.and_then(|metadata| CallOptions::new(protocol, &known, metadata)) {
            Ok(options) => options,
            Err(status) => {
                context.charge_abuse(0);
                return Some(Err(self.failure(protocol, status)));
            }
        };
        if let Some(memo) = head.memo() {
            if recent.len() >= RECENT_MAX {
                recent.pop_front();
            }
            recent.push_back(RecentCall { memo, callee, options: options.clone() });
        }
        Some(Ok(UnaryCall::new(callee, options, now, head.size())))
    }

    /// Appends a received part to the message of a unary call.
    pub(super) fn handle_message(&mut self, key: StreamKey, part: Bytes, is_end: bool) {
        let Some(StreamState::Unary(call)) = self.streams.get_mut(key) else { return };
        let count = part.len();
        match call.push(self.context, part) {
            // Return no window after the end of the request, because the client sends no more data.
            Ok(_) if is_end => {}
            Ok(is_whole) => {
                // Return the window on arrival rather than when the message is decoded: `push` already limits the
                // buffered message.
                match call.rest() {
                    // Leave room for the prefix of a second message, so that it can arrive and be rejected instead of
                    // stalling.
                    Some(rest) if !is_whole && !self.is_short => self.http2.consume_part(key, count, rest + PREFIX),
                    _ => self.http2.consume(key, count),
                }
                self.begun.push(key);
                if !is_whole {
                    self.http2.charge_fragment();
                }
            }
            Err(status) => {
                let protocol = call.options.protocol;
                self.reject(key, protocol, status);
            }
        }
    }

    /// Rejects a call because its request has trailers.
    pub(super) fn refuse_trailers(&mut self, key: StreamKey, trailers: HeaderMap) {
        let Some(StreamState::Unary(call)) = self.streams.get_mut(key) else { return };
        let protocol = call.options.protocol;
        if let Err(status) = inbound::refuse_trailers(&Frame::trailers(trailers)) {
            self.reject(key, protocol, status);
        }
    }

    /// Starts a call after its request was completely received.
    pub(super) fn call(&mut self, key: StreamKey, batch: &mut AdapterBatch<'a>) {
        let Some(StreamState::Unary(mut call)) = self.streams.remove(key) else { return };
        let (options, timeout) = (call.reply_options(), call.timeout(self.now));
        let message = match call.take_message(self.context) {
            Ok(message) => message,
            Err(status) => return self.reject(key, options.protocol, status),
        };
        let request = streams::request(message, timeout, call.options.metadata);
        let Self { context, http2, callees, mailbox, ok, .. } = self;
        let Some(Callee { slot, heads: [identity, gzip], .. }) = callees.get_mut(options.callee) else { return };
        let head = if options.accepted == Compression::Gzip { gzip } else { identity };
        let (mut unsent, mut length) = (None, 0);
        // This cannot fail, because the stream is still open.
        let _ = http2.reply(key, head, ok, |out| {
            let start = out.len();
            out.extend_from_slice(&[0; PREFIX]);
            let called = slot.call(batch, request, out, || {
                let mailbox = mailbox.clone();
                move |result, hold| mailbox.send(StreamEvent::Done(key, result, hold))
            });
            length = out.len() - start - PREFIX;
            match called {
                AdapterCall::Ready(Ok(response)) => {
                    let has_fields =
                        !response.metadata().is_empty() || response.extensions().get::<Trailers>().is_some();
                    let checked = check_room(context, length);
                    // The prepared head and trailers have no metadata, so use them only for a reply without any.
                    if checked.is_ok() && !has_fields && envelope::end(out, start, options.accepted).is_ok() {
                        return true;
                    }
                    // Copy the message, because returning false makes `reply` discard its output.
                    let message = Bytes::copy_from_slice(out.get(start + PREFIX..).unwrap_or_default());
                    unsent = Some(Ok(checked.map(|()| response.map(|()| message))));
                }
                AdapterCall::Ready(Err(status)) => unsent = Some(Ok(Err(status))),
                AdapterCall::InProgress(task) => unsent = Some(Err(task)),
            }
            false
        });
        match unsent {
            None => self.charge_long(length),
            Some(Ok(result)) => self.answer_call(key, options, result),
            Some(Err(task)) => self.streams.insert(key, StreamState::Called(task, options)),
        }
    }

    /// Sends the response of a call after its handler has completed.
    pub(super) fn finish_call(&mut self, key: StreamKey, result: Result<frpc::Response<Bytes>, Status>) {
        if let Some(StreamState::Called(_, options)) = self.streams.remove(key) {
            self.answer_call(key, options, result);
        }
    }

    fn answer_call(&mut self, key: StreamKey, options: ReplyOptions, result: Result<frpc::Response<Bytes>, Status>) {
        let response = match result {
            Ok(response) => response,
            Err(status) => return self.refuse(key, options.protocol, status),
        };
        let Some(Callee { heads: [identity, gzip], .. }) = self.callees.get(options.callee) else { return };
        let mut head = Cow::Borrowed(if options.accepted == Compression::Gzip { gzip } else { identity });
        if !response.metadata().is_empty() {
            put_pairs(head.to_mut(), &fields::fields(response.metadata(), ""));
        }
        let mut trailers = Cow::Borrowed(&self.ok);
        if let Some(Trailers(late)) = response.extensions().get() {
            put_pairs(trailers.to_mut(), &fields::fields(late, ""));
        }
        if head.size().max(trailers.size()) > self.http2.head_size_max() {
            return self.refuse(key, options.protocol, Status::resource_exhausted(stream::TOO_LONG));
        }
        let mut ended = Ok(());
        // This cannot fail, because the stream is still open.
        let _ = self.http2.reply(key, &head, &trailers, |out| {
            let start = out.len();
            out.extend_from_slice(&[0; PREFIX]);
            out.extend_from_slice(response.get_ref());
            ended = envelope::end(out, start, options.accepted);
            ended.is_ok()
        });
        if let Err(status) = ended {
            self.refuse(key, options.protocol, status);
        }
        self.charge_long(response.get_ref().len());
    }

    /// Rejects a malformed request, and charges it to the client unless there was no memory for it.
    #[cold]
    fn reject(&mut self, key: StreamKey, protocol: Protocol, status: Status) {
        if status.code() != Code::ResourceExhausted {
            self.context.charge_abuse(0);
        }
        self.refuse(key, protocol, status);
    }

    /// Sends a response that rejects a call with a status.
    fn refuse(&mut self, key: StreamKey, protocol: Protocol, status: Status) {
        let response = self.failure(protocol, status);
        self.respond(key, response);
    }

    /// Copies incomplete request messages out of the thread's read buffer.
    pub(super) fn keep_begun(&mut self) {
        while let Some(key) = self.begun.pop() {
            let Some(StreamState::Unary(call)) = self.streams.get_mut(key) else { continue };
            let (protocol, overdue) = (call.options.protocol, call.overdue());
            match call.keep(self.context) {
                Ok(()) => self.overdue = earlier(self.overdue, Some(overdue)),
                Err(status) => self.refuse(key, protocol, status),
            }
        }
    }

    /// Converts unary calls whose message did not arrive within [`GRACE`] or the timeout of the call to
    /// [`ServedStream`]s, because only these enforce timeouts.
    pub(super) fn serve_incomplete(&mut self) {
        let varies = self.varies();
        for key in self.streams.keys() {
            let Some(StreamState::Unary(call)) = self.streams.get_mut(key) else { continue };
            if self.now < call.overdue() {
                self.overdue = earlier(self.overdue, Some(call.overdue()));
                continue;
            }
            let Some(StreamState::Unary(call)) = self.streams.remove(key) else { continue };
            let Some(method) = self.callees.get(call.callee).map(|callee| callee.method.clone()) else { continue };
            let (context, timeout) = (self.context.clone(), call.timeout(self.now));
            let options = CallOptions { timeout, ..call.options };
            let mut envelopes = EnvelopeTracker::default();
            // Feed the tracker the bytes received so far, because the next part may begin in the middle of a message.
            envelopes.advance(&call.kept.bytes);
            let head_size = call.head_size;
            let (link, body) = StreamLink::new(&self.mailbox, key, call.kept, 0);
            let answering = async move {
                let mut response = streams::call(&context, &method, options, Inbound::Http2(body)).await;
                vary(response.headers_mut(), varies);
                response
            };
            self.serve(key, ServedStream::new(link, Some(envelopes), false, (Box::pin(answering), head_size)));
        }
    }
}

pub(super) fn put_pairs(head: &mut Head, fields: &[(String, String)]) {
    for (name, value) in fields {
        head.push(name, value.trim_ascii());
    }
}
