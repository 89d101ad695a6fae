//! Calls with enveloped messages: Connect streams, gRPC, and gRPC-Web. They differ in the names of header fields, and
//! in how a response ends.

use crate::charge::{Room, check_room};
use crate::connect::envelope::{self, Compression, Messages};
use crate::connect::error;
use crate::grpc;
use crate::gzip;
use crate::http::fields::{self, KnownFields};
use crate::http::route::Protocol;
use crate::http::service::{Reply, add};
use crate::inbound::Inbound;
use crate::json_rpc::reply::{put_list, put_text};
use crate::web;
use bytes::{Bytes, BytesMut};
use frpc::{AdapterContext, AdapterMethod, AdapterResponses, CallKind, Code, Metadata, Request, Status};
use frpc::{LateTrailers, Trailers};
use futures_core::Stream as _;
use futures_util::StreamExt as _;
use http::Response;
use http::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use http_body::Frame;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// Minimum size in bytes of a response frame that is sent immediately. A smaller frame is sent once no further message
/// is ready.
const FRAME_MIN: usize = 16 * 1024;

/// Flag of the envelope that ends a Connect stream.
const CONNECT_END: u8 = 2;

/// Error text for a call whose request did not arrive within its timeout.
pub(crate) const LATE: &str = "the request did not arrive in time";

/// Settings of a call from its request head: protocol, timeout, metadata and compression.
#[derive(Clone, Debug)]
pub(crate) struct CallOptions {
    pub(crate) protocol: Protocol,
    pub(crate) timeout: Option<Duration>,
    pub(crate) metadata: Metadata,
    /// Compression of request messages.
    pub(crate) encoding: Compression,
    /// Compression of response messages.
    pub(crate) accepted: Compression,
}

impl CallOptions {
    /// Parses the header fields that the protocol defines for a call.
    pub(crate) fn new(protocol: Protocol, known: &KnownFields<'_>, metadata: Metadata) -> Result<Self, Status> {
        let (encoding, accepted, timeout) = if let Protocol::Stream(_) = protocol {
            (&known.connect_encoding, &known.connect_accept, known.connect_timeout())
        } else {
            let timeout = grpc::timeout(known.grpc_timeout);
            let timeout = timeout.map_err(|()| "grpc-timeout is a number of at most eight digits and a unit");
            (&known.grpc_encoding, &known.grpc_accept, timeout)
        };
        let encoding = Compression::of(encoding.as_deref())?;
        let accepted = if gzip::is_accepted(accepted.as_deref()) { Compression::Gzip } else { Compression::Identity };
        Ok(Self { protocol, timeout: timeout.map_err(Status::invalid_argument)?, metadata, encoding, accepted })
    }
}

/// Calls a method with the messages of a request body and returns the response.
pub(crate) async fn call(
    context: &AdapterContext,
    method: &AdapterMethod,
    options: CallOptions,
    body: Inbound,
) -> Response<Reply> {
    let CallOptions { protocol, accepted: encoding, .. } = options;
    match begin(context, method, options, body).await {
        Ok(response) => {
            let trailers = response.extensions().get::<Trailers>().map(|trailers| trailers.0.clone());
            let metadata = fields::fields(response.metadata(), "");
            let replies = EncodedReplies {
                trailers: trailers.unwrap_or_default(),
                late_trailers: response.extensions().get().cloned(),
                encoding,
                context: Some(context.clone()),
                ..EncodedReplies::new(response.into_inner(), protocol)
            };
            let mut response = Response::new(Reply::Stream(Box::new(replies)));
            describe(response.headers_mut(), protocol, encoding);
            for (name, value) in metadata {
                add(response.headers_mut(), &name, value);
            }
            response
        }
        Err(status) => failure(protocol, status),
    }
}

/// Returns the response to a call of an unknown method.
pub(crate) fn no_method(protocol: Protocol, path: &str) -> Response<Reply> {
    let path: String = path.chars().take(200).collect();
    failure(protocol, Status::unimplemented(format!("unknown method {path}")))
}

/// Returns the response to a call that failed before it sent a message.
pub(crate) fn failure(protocol: Protocol, status: Status) -> Response<Reply> {
    if let Protocol::Grpc(_) = protocol {
        // A trailers-only response: the trailers are sent as header fields.
        let mut response = Response::new(Reply::Whole(Bytes::new()));
        describe(response.headers_mut(), protocol, Compression::Identity);
        for (name, value) in grpc::trailers(Err(&status), &Metadata::new()) {
            add(response.headers_mut(), &name, value);
        }
        return response;
    }
    let replies = EncodedReplies::new(Responses::Failed(Some(status)), protocol);
    let mut response = Response::new(Reply::Stream(Box::new(replies)));
    describe(response.headers_mut(), protocol, Compression::Identity);
    response
}

/// Adds the protocol's header fields to the head of a response.
pub(crate) fn describe(headers: &mut HeaderMap, protocol: Protocol, encoding: Compression) {
    let name = protocol.format().name();
    let (content_type, field) = match protocol {
        Protocol::Unary(_) => (format!("application/{name}"), "content-encoding"),
        Protocol::Stream(_) => (format!("application/connect+{name}"), "connect-content-encoding"),
        Protocol::Grpc(_) => (format!("application/grpc+{name}"), "grpc-encoding"),
        Protocol::Web(_) => (format!("application/grpc-web+{name}"), "grpc-encoding"),
        Protocol::WebText(_) => (format!("application/grpc-web-text+{name}"), "grpc-encoding"),
    };
    if let Ok(content_type) = HeaderValue::try_from(content_type) {
        headers.insert(CONTENT_TYPE, content_type);
    }
    if encoding == Compression::Gzip {
        headers.insert(field, HeaderValue::from_static("gzip"));
    }
    let accepts = match protocol {
        Protocol::Stream(_) => "connect-accept-encoding",
        _ => "grpc-accept-encoding",
    };
    headers.insert(accepts, HeaderValue::from_static("gzip"));
}

/// The response messages of a handler: at most one message, a stream, or a failure.
enum Responses {
    One(Option<Bytes>),
    Many(AdapterResponses),
    Failed(Option<Status>),
}

/// Starts a call of the method and returns its responses.
async fn begin(
    context: &AdapterContext,
    method: &AdapterMethod,
    options: CallOptions,
    body: Inbound,
) -> Result<frpc::Response<Responses>, Status> {
    let CallOptions { protocol, timeout, metadata, encoding, .. } = options;
    let messages = Messages::new(body, matches!(protocol, Protocol::WebText(_)), encoding, context);
    let format = protocol.format().name();
    match method.kind() {
        CallKind::Unary => {
            let (message, timeout) = one(context, messages, timeout).await?;
            let response = method.unary(request(message, timeout, metadata), format).await?;
            check_room(context, response.get_ref().len())?;
            Ok(response.map(|message| Responses::One(Some(message))))
        }
        CallKind::ServerStreaming => {
            let (message, timeout) = one(context, messages, timeout).await?;
            let messages = frpc::iter([Ok(message)]);
            let response = method.streaming(request(messages, timeout, metadata), format).await?;
            Ok(response.map(Responses::Many))
        }
        _ => {
            let response = method.streaming(request(messages, timeout, metadata), format).await?;
            Ok(response.map(Responses::Many))
        }
    }
}

pub(crate) fn request<T>(message: T, timeout: Option<Duration>, metadata: Metadata) -> Request<T> {
    let mut request = Request::new(message);
    if let Some(timeout) = timeout {
        request.set_timeout(timeout);
    }
    if !metadata.is_empty() {
        *request.metadata_mut() = metadata;
    }
    request
}

/// Reads the message of a request that must contain exactly one. Also returns the time that remains until the call's
/// timeout.
async fn one(
    context: &AdapterContext,
    messages: Messages,
    timeout: Option<Duration>,
) -> Result<(Bytes, Option<Duration>), Status> {
    let (started, mut messages) = (crate::clock::now(), messages.single());
    let reading = async {
        let Some(message) = messages.next().await.transpose()? else {
            return Err(Status::unimplemented(envelope::NO_MESSAGE));
        };
        // Wait for the end of the body, because a second message is an error.
        match messages.next().await.transpose()? {
            None => Ok(message),
            Some(_) => Err(Status::unimplemented(envelope::SEVERAL_MESSAGES)),
        }
    };
    let reading = async {
        reading.await.inspect_err(|status: &Status| {
            if matches!(status.code(), Code::InvalidArgument | Code::Unimplemented | Code::Internal) {
                context.charge_abuse(0);
            }
        })
    };
    let Some(timeout) = timeout else { return Ok((reading.await?, None)) };
    let late = |_| Status::deadline_exceeded(LATE);
    let message = tokio::time::timeout(timeout, reading).await.map_err(late)??;
    // Subtract the time spent receiving the request, because the client's timeout covers the whole call.
    Ok((message, Some(timeout.saturating_sub(crate::clock::now() - started))))
}

/// Response body that encodes a handler's messages in envelopes and then the end of the stream.
pub(crate) struct EncodedReplies {
    responses: Responses,
    /// Trailing metadata, sent after the messages.
    trailers: Metadata,
    /// Trailing metadata that the handler provides after its last message.
    late_trailers: Option<LateTrailers>,
    protocol: Protocol,
    encoding: Compression,
    /// Trailers of a gRPC response, to be sent as the last frame of the body.
    last: Option<HeaderMap>,
    has_ended: bool,
    /// Context of the client's connection, for memory charges. `None` for responses without messages.
    context: Option<AdapterContext>,
    room: Room,
}

impl EncodedReplies {
    fn new(responses: Responses, protocol: Protocol) -> Self {
        let encoding = Compression::Identity;
        let (trailers, room) = (Metadata::new(), Room::default());
        let (late_trailers, last, has_ended, context) = (None, None, false, None);
        Self { responses, trailers, late_trailers, protocol, encoding, last, has_ended, context, room }
    }

    /// Returns the size of the response message if it is the only one and already in memory, otherwise 0.
    pub(crate) fn buffered(&self) -> usize {
        match &self.responses {
            Responses::One(message) => message.as_ref().map_or(0, Bytes::len),
            _ => 0,
        }
    }

    /// Fails the response when the deadline of the call expires, and drops the handler. Polled while the client accepts
    /// no messages.
    pub(crate) fn poll_expired(&mut self, task: &mut Context<'_>) -> Poll<()> {
        let Responses::Many(responses) = &mut self.responses else { return Poll::Pending };
        let status = ready!(responses.poll_expired(task));
        self.responses = Responses::Failed(Some(status));
        Poll::Ready(())
    }

    /// Returns whether the rest of the body is already in memory, so that the handler is no longer needed.
    pub(crate) fn is_buffered(&self) -> bool {
        !matches!(self.responses, Responses::Many(_))
    }

    /// Returns whether the whole body was produced, including trailers.
    pub(crate) fn is_over(&self) -> bool {
        self.has_ended && self.last.is_none()
    }

    /// Polls for the next frame of the body.
    pub(crate) fn poll_frame(&mut self, task: &mut Context<'_>) -> Poll<Option<Frame<Bytes>>> {
        if let Some(trailers) = self.last.take() {
            return Poll::Ready(Some(Frame::trailers(trailers)));
        }
        if self.has_ended {
            return Poll::Ready(None);
        }
        if let (Responses::Many(_), Some(context)) = (&self.responses, &self.context)
            && self.room.poll(task, context).is_pending()
        {
            // Wait while unread messages exceed the client's share of memory, but no longer than the call's deadline.
            ready!(self.poll_expired(task));
        }
        let mut out = BytesMut::new();
        while out.len() < FRAME_MIN && !self.has_ended {
            let next = match &mut self.responses {
                Responses::One(message) => Poll::Ready(message.take().map(Ok)),
                Responses::Many(responses) => Pin::new(responses).poll_next(task),
                Responses::Failed(status) => Poll::Ready(status.take().map(Err)),
            };
            let put = match next {
                Poll::Pending if out.is_empty() => return Poll::Pending,
                Poll::Pending => break,
                Poll::Ready(Some(Ok(message))) => envelope::put_message(&mut out, &message, self.encoding),
                Poll::Ready(Some(Err(status))) => Err(status),
                Poll::Ready(None) => {
                    self.end(&mut out, Ok(()));
                    Ok(())
                }
            };
            if let Err(status) = put {
                self.end(&mut out, Err(&status));
            }
        }
        if out.is_empty() {
            return Poll::Ready(self.last.take().map(Frame::trailers));
        }
        if let Protocol::WebText(_) = self.protocol {
            return Poll::Ready(Some(Frame::data(crate::base64::encode_padded(&out).into())));
        }
        Poll::Ready(Some(Frame::data(out.freeze())))
    }

    /// Appends the end of the stream to `out`: its status and trailers.
    fn end(&mut self, out: &mut BytesMut, outcome: Result<(), &Status>) {
        self.has_ended = true;
        if let Some(late) = self.late_trailers.take() {
            self.trailers = late.0.get().cloned().unwrap_or_default();
        }
        // Drop the handler's stream, because it is no longer needed.
        self.responses = Responses::One(None);
        match self.protocol {
            Protocol::Unary(_) | Protocol::Stream(_) => {
                // Ignore the error, because the text is far shorter than the 4 GiB that fit into an envelope.
                let _ = envelope::put(out, CONNECT_END, &connect_end(outcome, &self.trailers));
            }
            Protocol::Grpc(_) => {
                let mut trailers = HeaderMap::new();
                for (name, value) in grpc::trailers(outcome, &self.trailers) {
                    add(&mut trailers, &name, value);
                }
                self.last = Some(trailers);
            }
            Protocol::Web(_) | Protocol::WebText(_) => {
                web::put_trailers(out, outcome, &self.trailers);
            }
        }
    }
}

/// Encodes the end of a Connect stream.
fn connect_end(outcome: Result<(), &Status>, trailers: &Metadata) -> Vec<u8> {
    let mut out = b"{".to_vec();
    if let Err(status) = outcome {
        out.extend_from_slice(b"\"error\":");
        out.extend_from_slice(&error::of_status(status));
    }
    let mut fields = fields::fields(trailers, "");
    if let Err(status) = outcome {
        fields.extend(fields::fields(status.metadata(), ""));
    }
    if !fields.is_empty() {
        // Sort stably, because the order of a key's values is significant.
        fields.sort_by(|(one, _), (other, _)| one.cmp(other));
        out.extend_from_slice(if outcome.is_err() { b",\"metadata\":{" } else { b"\"metadata\":{" });
        put_list(&mut out, fields.chunk_by(|(one, _), (other, _)| one == other), |out, values| {
            if let [(name, _), ..] = values {
                put_text(out, name);
            }
            out.extend_from_slice(b":[");
            put_list(out, values, |out, (_, value)| put_text(out, value));
            out.push(b']');
        });
        out.push(b'}');
    }
    out.push(b'}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_key_form_one_array() {
        let mut metadata = Metadata::new();
        for value in [b"a", b"b"] {
            metadata.append_bin("raw-bin", value).expect("metadata entry should be valid");
        }
        metadata.insert("tenant", "blue").expect("metadata entry should be valid");
        let end = connect_end(Ok(()), &metadata);
        assert_eq!(String::from_utf8_lossy(&end), r#"{"metadata":{"raw-bin":["YQ","Yg"],"tenant":["blue"]}}"#);
        let end = connect_end(Err(&Status::aborted("").with_metadata(metadata.clone())), &metadata);
        let expected =
            r#"{"error":{"code":"aborted"},"metadata":{"raw-bin":["YQ","Yg","YQ","Yg"],"tenant":["blue","blue"]}}"#;
        assert_eq!(String::from_utf8_lossy(&end), expected);
    }
}
