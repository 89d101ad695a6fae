//! Requests answered by the [`Service`](crate::http::service::Service), polled by the driver of their connection.

use super::body::{BodyEnd, StreamLink};
use super::grpc::put_pairs;
use super::{Driver, StreamState};
use crate::charge::GrowingBody;
use crate::connect::unary;
use crate::grpc;
use crate::http::date;
use crate::http::head::Malformed;
use crate::http::route::Protocol;
use crate::http::service::{self, Reply, RequestParts};
use crate::inbound::Inbound;
use crate::streams;
use bytes::Bytes;
use frisbee_http2::{Connection, EnvelopeTracker, Head, SendError, StreamKey};
use frpc::{Code, Metadata, Status};
use http::{HeaderMap, HeaderName, HeaderValue, Response};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};
use std::time::Instant;

/// Future that resolves to the response to a request.
pub(super) type Answering = Pin<Box<dyn Future<Output = Response<Reply>> + Send>>;

/// Minimum size in bytes of a response body that is queued instead of being copied into the output.
pub(super) const COPIED_MAX: usize = 16 * 1024;

/// A request with a response that is pending or being sent.
pub(super) struct ServedStream {
    link: Arc<StreamLink>,
    waker: Waker,
    /// Message boundaries of a body with enveloped messages. `None` if the body is a single message.
    envelopes: Option<EnvelopeTracker>,
    /// Whether the request method is HEAD. If so, the response has no content (RFC 9110, section 9.3.2).
    is_head: bool,
    /// Size in bytes of the request head, which the future of the response keeps.
    head_size: usize,
    /// Length in bytes of the part that the current poll has queued last.
    queued: usize,
    state: ServedState,
}

enum ServedState {
    Answering(Answering),
    Sending(Reply),
}

impl ServedStream {
    pub(super) fn new(
        link: Arc<StreamLink>,
        envelopes: Option<EnvelopeTracker>,
        is_head: bool,
        (answering, head_size): (Answering, usize),
    ) -> Self {
        let state = ServedState::Answering(answering);
        Self { waker: link.clone().into(), link, envelopes, is_head, head_size, queued: 0, state }
    }

    /// Returns the memory of the stream in bytes, without bodies.
    pub(super) fn memory(&self) -> usize {
        let answering = match &self.state {
            ServedState::Answering(answering) => size_of_val(&**answering) + self.head_size,
            ServedState::Sending(_) => 0,
        };
        size_of::<Self>() + size_of::<StreamLink>() + answering
    }

    /// Drives the response. Completes when all of it has been sent. Yields after a part of at least [`COPIED_MAX`].
    fn poll(&mut self, http2: &mut Connection, key: StreamKey, now: Instant) -> Poll<Result<(), SendError>> {
        let task = &mut Context::from_waker(&self.waker);
        loop {
            match &mut self.state {
                ServedState::Answering(answering) => {
                    let response = ready!(answering.as_mut().poll(task));
                    self.queued = response.body().buffered();
                    let Some(reply) = send_response(http2, key, response, self.is_head, now)? else { break };
                    self.state = ServedState::Sending(reply);
                }
                ServedState::Sending(reply) => {
                    // Queue a complete response at once, because only queued bytes are charged, and only a queued end
                    // limits how long the client may leave them unread.
                    if !reply.is_buffered() && !http2.poll_writable(key)? {
                        // Check the deadline even while the client accepts no messages.
                        let Reply::Stream(replies) = reply else { return Poll::Pending };
                        ready!(replies.poll_expired(task));
                    }
                    match ready!(reply.poll_frame(task)).map(http_body::Frame::into_data) {
                        Some(Ok(part)) => {
                            let is_end = reply.is_over();
                            self.queued = part.len();
                            http2.send_data(key, part, is_end)?;
                            if is_end {
                                break;
                            }
                            if self.queued >= COPIED_MAX {
                                return Poll::Pending;
                            }
                        }
                        Some(Err(frame)) => {
                            let trailers = encode_trailers(frame.trailers_ref(), http2.head_size_max());
                            http2.send_trailers(key, &trailers)?;
                            break;
                        }
                        None => {
                            http2.send_data(key, Bytes::new(), true)?;
                            break;
                        }
                    }
                }
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Sends a response. If its body is a stream, sends only the head and returns the body.
fn send_response(
    http2: &mut Connection,
    key: StreamKey,
    response: Response<Reply>,
    is_head: bool,
    now: Instant,
) -> Result<Option<Reply>, SendError> {
    let (mut head, mut reply) = encode_head(response, now);
    if head.size() > http2.head_size_max() {
        (head, reply) = encode_head(too_long(&head), now);
    }
    let body = match reply {
        Reply::Whole(body) => body,
        reply if !is_head => {
            http2.send_head(key, &head, false)?;
            return Ok(Some(reply));
        }
        _ => Bytes::new(),
    };
    if !body.is_empty() {
        head.push("content-length", body.len().to_string());
    }
    if is_head || body.is_empty() {
        http2.send_head(key, &head, true)?;
    } else if body.len() < COPIED_MAX {
        let put = |out: &mut Vec<u8>| {
            out.extend_from_slice(&body);
            true
        };
        http2.reply(key, &head, &Head::trailers(), put)?;
    } else {
        http2.send_head(key, &head, false)?;
        http2.send_data(key, body, true)?;
    }
    Ok(None)
}

/// Encodes the head of a response. Also returns its body.
fn encode_head(response: Response<Reply>, now: Instant) -> (Head, Reply) {
    let (parts, reply) = response.into_parts();
    let mut head = Head::response(parts.status.as_u16());
    put_fields(&mut head, &parts.headers);
    // Omit the date, as gRPC servers do.
    if !head.get("content-type").is_some_and(|content_type| content_type.starts_with(b"application/grpc+")) {
        let mut date = Vec::new();
        date::put(&mut date, now);
        head.push("date", date);
    }
    (head, reply)
}

/// Encodes the trailers of a gRPC response. Replaces them if they are longer than `max`.
fn encode_trailers(fields: Option<&HeaderMap>, max: usize) -> Head {
    let mut trailers = Head::trailers();
    put_fields(&mut trailers, fields.unwrap_or(&HeaderMap::new()));
    if trailers.size() > max {
        let status = Status::new(failed_code(&trailers), TOO_LONG);
        trailers = Head::trailers();
        put_pairs(&mut trailers, &grpc::trailers(Err(&status), &Metadata::new()));
    }
    trailers
}

/// Status message of a call whose response has longer header fields or trailers than the client accepts.
pub(super) const TOO_LONG: &str = "the metadata of the response is longer than the client accepts";

/// Returns the replacement for a response whose head is longer than the client accepts.
#[cold]
fn too_long(head: &Head) -> Response<Reply> {
    let status = Status::new(failed_code(head), TOO_LONG);
    match head.get("content-type").and_then(Protocol::of) {
        None | Some(Protocol::Unary(_)) => service::respond(unary::failure(&status)),
        Some(protocol) => streams::failure(protocol, status),
    }
}

/// Returns the status code of a gRPC response if the call failed, otherwise [`Code::ResourceExhausted`].
fn failed_code(head: &Head) -> Code {
    let code = head.get("grpc-status").and_then(|code| std::str::from_utf8(code).ok()?.parse().ok());
    code.filter(|code| *code != 0).map_or(Code::ResourceExhausted, Code::from_i32)
}

/// Appends header fields, except connection-specific ones, which HTTP/2 forbids: RFC 9113, section 8.2.2.
pub(super) fn put_fields(head: &mut Head, fields: &HeaderMap) {
    for (name, value) in fields {
        if !matches!(name.as_str(), "connection" | "upgrade" | "transfer-encoding" | "keep-alive") {
            head.push(name.as_str(), value.as_bytes().trim_ascii());
        }
    }
}

impl Driver<'_> {
    pub(super) fn handle_head(&mut self, key: StreamKey, is_end: bool) {
        if self.http2.head().is_truncated() {
            self.context.charge_abuse(0);
            let is_grpc = matches!(self.protocol(), Some(Protocol::Grpc(_)));
            let malformed = Malformed::TooLong;
            let response = match self.protocol().filter(|_| is_grpc) {
                Some(protocol) => streams::failure(protocol, Status::resource_exhausted(malformed.text())),
                None => service::respond(malformed.answer()),
            };
            let is_head = self.http2.head().method() == Some("HEAD");
            // Ignore the error, which cannot occur for a new stream.
            let _ = send_response(&mut self.http2, key, response, is_head, self.now);
            return;
        }
        match self.begin_unary() {
            Some(Ok(call)) => {
                self.streams.insert(key, StreamState::Unary(call));
                self.begun.push(key);
            }
            Some(Err(response)) => self.respond(key, response),
            None => {
                let head = self.http2.head().clone();
                let length =
                    head.get("content-length").and_then(|length| std::str::from_utf8(length).ok()?.parse().ok());
                let (is_head, head_size) = (head.method() == Some("HEAD"), head.size());
                let expects_continue =
                    head.get("expect").is_some_and(|expected| expected.eq_ignore_ascii_case(b"100-continue"));
                let has_envelopes =
                    matches!(self.protocol(), Some(Protocol::Stream(_) | Protocol::Grpc(_) | Protocol::Web(_)));
                let envelopes = has_envelopes.then(EnvelopeTracker::default);
                let (link, body) = StreamLink::new(&self.mailbox, key, GrowingBody::default(), length.unwrap_or(0));
                let service = self.service.clone();
                let answering = async move { service.answer(RequestParts::http2(&head), Inbound::Http2(body)).await.0 };
                if is_end {
                    link.push(self.context, &[], Some(BodyEnd::Whole));
                } else if expects_continue {
                    link.expect_continue();
                }
                self.serve(key, ServedStream::new(link, envelopes, is_head, (Box::pin(answering), head_size)));
            }
        }
    }

    fn protocol(&self) -> Option<Protocol> {
        self.http2.head().get("content-type").and_then(Protocol::of)
    }

    pub(super) fn serve(&mut self, key: StreamKey, stream: ServedStream) {
        self.streams.insert(key, StreamState::Served(Box::new(stream)));
        self.ready.push_back(key);
    }

    /// Sends a complete response.
    pub(super) fn respond(&mut self, key: StreamKey, response: Response<Reply>) {
        self.streams.remove(key);
        // Ignore the error, which occurs if the client has reset the stream.
        let _ = send_response(&mut self.http2, key, response, false, self.now);
    }

    pub(super) fn handle_data(&mut self, key: StreamKey, data: Bytes, is_end: bool) {
        let is_whole = match self.streams.get_mut(key) {
            Some(StreamState::Unary(_)) => return self.handle_message(key, data, is_end),
            Some(StreamState::Served(stream)) => {
                stream.link.push(self.context, &data, is_end.then_some(BodyEnd::Whole));
                stream.envelopes.as_mut().is_some_and(|envelopes| envelopes.advance(&data))
            }
            // The request has already been answered.
            _ => false,
        };
        if !is_end && !is_whole {
            self.http2.charge_fragment();
        }
    }

    /// Handles the trailers that end a request. Trailers with fields are rejected.
    pub(super) fn handle_trailers(&mut self, key: StreamKey) {
        let mut trailers = HeaderMap::new();
        // Name only the first field in the error.
        if let Some((name, value)) = self.http2.head().fields().next()
            && let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::from_bytes(value))
        {
            trailers.insert(name, value);
        }
        if let Some(StreamState::Served(stream)) = self.streams.get_mut(key) {
            let end = if trailers.is_empty() { BodyEnd::Whole } else { BodyEnd::Trailers(trailers) };
            return stream.link.push(self.context, &[], Some(end));
        }
        self.refuse_trailers(key, trailers);
    }

    pub(super) fn poll_stream(&mut self, key: StreamKey) {
        let Some(StreamState::Served(stream)) = self.streams.get_mut(key) else { return };
        let (consumed, is_awaited) = stream.link.begin_poll();
        if consumed > 0 {
            self.http2.consume(key, consumed);
        }
        if is_awaited {
            // Ignore the error: it means that the final response has begun, so no interim response is needed.
            let _ = self.http2.send_head(key, &Head::response(100), false);
        }
        let before = stream.memory();
        // Treat an error like the end of the response, because it occurs only if the client has reset the stream.
        let is_over = stream.poll(&mut self.http2, key, self.now).is_ready();
        // Subtract the memory that `poll` freed: once the body begins, the response future has been dropped.
        let freed = before - stream.memory();
        let queued = std::mem::take(&mut stream.queued);
        self.streams.outside -= freed;
        if is_over {
            self.streams.remove(key);
        } else if queued >= COPIED_MAX {
            // Poll the stream again after the other streams, because it has queued a long part.
            self.ready.push_back(key);
        }
        self.charge_long(queued);
    }
}
