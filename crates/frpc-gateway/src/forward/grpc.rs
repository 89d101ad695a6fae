//! Calls to a gRPC server through a tonic channel. Messages are forwarded as bytes.
//!
//! The deadline of a call is enforced by its handler here, which drops the call. It is also sent to the server, and
//! tonic cancels late calls. Trailing metadata is returned to HTTP callers. Native callers receive it only with an
//! error, because native replies have no trailers.

use super::message::{MessageEncoding, MessageType, RawMessage};
use super::requests::{Failure, ForwardedReplies, Requests};
use super::{ForwardFields, ForwardedMethod, Reply};
use crate::clock::now;
use crate::trailers::{LateTrailers, Trailers};
use bytes::{Buf as _, BufMut as _, Bytes};
use frpc::{Metadata, Request, Response, ResponseStream, Status, Streaming};
use futures_core::Stream;
use std::error::Error as _;
use std::future::ready;
use std::sync::Arc;
use tonic::codec::{Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::metadata::{KeyAndValueRef, MetadataMap};
use tonic::transport::Channel;

/// A gRPC backend.
#[derive(Debug)]
pub(super) struct Grpc {
    channel: Channel,
    address: Arc<str>,
    message_max: usize,
}

/// Fields set by the new request. Hop-by-hop fields of the caller have already been removed.
const OF_REQUEST: [&str; 5] = ["content-length", "grpc-accept-encoding", "grpc-encoding", "grpc-timeout", "host"];

type ReplyState = (tonic::Streaming<Bytes>, Arc<MessageType>, LateTrailers, Arc<str>, Arc<ForwardFields>);

type GrpcReplies = tonic::Response<tonic::Streaming<Bytes>>;

impl Grpc {
    pub(super) fn new(channel: Channel, address: String, message_max: usize) -> Self {
        Self { channel, address: address.into(), message_max }
    }

    pub(super) async fn unary(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Reply {
        let replies = self.call_one(method, request).await?;
        self.single(replies, method).await
    }

    pub(super) async fn server_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<RawMessage>,
    ) -> super::StreamResult {
        Ok(self.stream(self.call_one(method, request).await?, method, None))
    }

    pub(super) async fn client_streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> Reply {
        let (request, mut failure) = bodies(request, method);
        let call = async { self.single(self.call(method, request).await?, method).await };
        failure.unless(call).await
    }

    pub(super) async fn streaming(
        &self,
        method: &ForwardedMethod,
        request: Request<Streaming<RawMessage>>,
    ) -> super::StreamResult {
        let (request, mut failure) = bodies(request, method);
        let replies = failure.unless(self.call(method, request)).await?;
        Ok(self.stream(replies, method, Some(failure)))
    }

    async fn call_one(&self, method: &ForwardedMethod, request: Request<RawMessage>) -> Result<GrpcReplies, Status> {
        let mut message = Ok(Bytes::new());
        let request = request.map(|request| message = request.into_protobuf(&method.request));
        let message = message?;
        self.call(method, request.map(|()| futures_util::stream::once(ready(message)))).await
    }

    /// Makes a call of any kind.
    async fn call(
        &self,
        method: &ForwardedMethod,
        request: Request<impl Stream<Item = Bytes> + Send + 'static>,
    ) -> Result<GrpcReplies, Status> {
        let mut client = tonic::client::Grpc::new(self.channel.clone()).max_decoding_message_size(self.message_max);
        client.ready().await.map_err(|error| failed(tonic::Status::from_error(error.into()), &self.address))?;
        let path = format!("/{}/{}", method.descriptor.parent_service().full_name(), method.descriptor.name());
        let path = path.parse().map_err(|error| Status::internal(format!("invalid name of a method: {error}")))?;
        let mut metadata = MetadataMap::from(request.metadata());
        for field in OF_REQUEST {
            metadata.remove(field);
        }
        let timeout = request.timeout();
        let mut outgoing = tonic::Request::new(request.into_inner());
        *outgoing.metadata_mut() = metadata;
        if let Some(timeout) = timeout {
            outgoing.set_timeout(timeout);
        }
        let started = now();
        client.streaming(outgoing, path, BytesCodec).await.map_err(|status| {
            // The units of `grpc-timeout` round the deadline down by less than one percent.
            let is_late = timeout.is_some_and(|timeout| now() - started >= timeout.mul_f64(0.99));
            // Tonic cancels late calls on both ends, possibly before the deadline expires here.
            if is_late && status.code() == tonic::Code::Cancelled {
                return Status::deadline_exceeded(format!("the deadline passed before {} answered", self.address));
            }
            failed(status, &self.address)
        })
    }

    /// Returns the only message of a response.
    async fn single(&self, replies: GrpcReplies, method: &ForwardedMethod) -> Reply {
        let (head, mut messages, _) = replies.into_parts();
        let failed = |status| failed(status, &self.address);
        let message = messages.message().await.map_err(failed)?;
        let message = message.ok_or_else(|| Status::internal("the server sent no message"))?;
        let trailers = messages.trailers().await.map_err(failed)?;
        let mut response = Response::new(RawMessage::reply(MessageEncoding::Protobuf, message, &method.reply));
        set_metadata(&mut response, &head);
        let trailers = trailers.as_ref().map(metadata).unwrap_or_default();
        if !trailers.is_empty() {
            response.extensions_mut().insert(Trailers(trailers));
        }
        Ok(response)
    }

    fn stream(
        &self,
        replies: GrpcReplies,
        method: &ForwardedMethod,
        failure: Option<Failure>,
    ) -> Response<ResponseStream<RawMessage>> {
        let (head, messages, _) = replies.into_parts();
        let late = LateTrailers::default();
        let fields = method.fields.clone();
        let state = (messages, method.reply.clone(), late.clone(), self.address.clone(), fields);
        let replies = Box::pin(futures_util::stream::unfold(state, next));
        let mut response = Response::new(ResponseStream::new(ForwardedReplies { replies, failure }));
        response.extensions_mut().insert(late);
        set_metadata(&mut response, &head);
        response
    }
}

/// Converts the status of a failed call. A status with a source was created locally from a connection error.
fn failed(status: tonic::Status, address: &str) -> Status {
    let mut causes = std::iter::successors(status.source(), |cause| (*cause).source()).peekable();
    if causes.peek().is_some() {
        let (mut last, mut is_unreachable) = (String::new(), false);
        for cause in causes {
            is_unreachable |= cause.is::<tonic::ConnectError>();
            last = cause.to_string();
        }
        return Status::unavailable(match is_unreachable {
            true => format!("no connection to {address}: {last}"),
            false => format!("the connection to {address} was lost and the call may have run: {last}"),
        });
    }
    // Tonic uses this code for messages above its size limit.
    if status.code() == tonic::Code::OutOfRange && status.message().starts_with("Error, decoded message length") {
        return Status::resource_exhausted(status.message());
    }
    status.into()
}

/// Converts the request stream, keeping the metadata and extensions of the call.
fn bodies(
    request: Request<Streaming<RawMessage>>,
    method: &ForwardedMethod,
) -> (Request<impl Stream<Item = Bytes> + Send + use<>>, Failure) {
    let convert = |message: RawMessage, of: &MessageType| message.into_protobuf(of);
    let mut failure = None;
    let request = request.map(|requests| {
        let (requests, failed) = Requests::new(requests, &method.request, convert);
        failure = Some(failed);
        requests
    });
    (request, failure.unwrap_or_else(|| unreachable!("`map` calls its function")))
}

/// Returns the next message of a stream. Stores the trailers at the end.
async fn next(
    (mut messages, of, late, address, fields): ReplyState,
) -> Option<(Result<RawMessage, Status>, ReplyState)> {
    let next = match messages.message().await {
        Ok(Some(message)) => Ok(RawMessage::reply(MessageEncoding::Protobuf, message, &of)),
        Ok(None) => {
            if let Ok(Some(trailers)) = messages.trailers().await {
                let mut trailers = metadata(&trailers);
                fields.adapt_trailers(&mut trailers);
                // Fails if set before, but the stream ends only once.
                let _ = late.0.set(trailers);
            }
            return None;
        }
        Err(status) => Err(failed(status, &address)),
    };
    Some((next, (messages, of, late, address, fields)))
}

fn set_metadata<T>(response: &mut Response<T>, head: &MetadataMap) {
    let metadata = metadata(head);
    if !metadata.is_empty() {
        *response.metadata_mut() = metadata;
    }
}

/// Converts metadata, excluding fields of the protocol. Text values of the same key are joined by commas, as in
/// requests. Of several binary values the first is used. Entries that [`Metadata`] cannot represent are dropped.
fn metadata(map: &MetadataMap) -> Metadata {
    let mut metadata = Metadata::new();
    for entry in map.iter() {
        let inserted = match &entry {
            KeyAndValueRef::Ascii(key, _) if is_of_protocol(key.as_str()) => Ok(()),
            KeyAndValueRef::Ascii(key, value) => match (value.to_str(), metadata.get(key.as_str())) {
                (Ok(text), None) => metadata.insert(key.as_str(), text),
                (Ok(text), Some(before)) => metadata.insert(key.as_str(), format!("{before}, {text}")),
                (Err(_), _) => Ok(()),
            },
            KeyAndValueRef::Binary(key, _) if is_of_protocol(key.as_str()) => Ok(()),
            KeyAndValueRef::Binary(key, value) => match value.to_bytes() {
                Ok(_) if metadata.get_bin(key.as_str()).is_some() => {
                    tracing::debug!(%key, "repeated metadata entry of a gRPC server dropped");
                    Ok(())
                }
                Ok(bytes) => metadata.insert_bin(key.as_str(), bytes),
                Err(_) => Ok(()),
            },
        };
        if let Err(error) = inserted {
            tracing::debug!(%error, "metadata entry of a gRPC server dropped");
        }
    }
    metadata
}

fn is_of_protocol(key: &str) -> bool {
    key.starts_with("grpc-") || matches!(key, "content-type" | "content-length" | "date" | "server")
}

/// A codec that passes messages as bytes.
struct BytesCodec;

impl Codec for BytesCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for BytesCodec {
    type Item = Bytes;
    type Error = tonic::Status;

    fn encode(&mut self, message: Bytes, to: &mut EncodeBuf<'_>) -> Result<(), tonic::Status> {
        to.put(message);
        Ok(())
    }
}

impl Decoder for BytesCodec {
    type Item = Bytes;
    type Error = tonic::Status;

    fn decode(&mut self, from: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, tonic::Status> {
        Ok(Some(from.copy_to_bytes(from.remaining())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tonic::metadata::MetadataValue;

    #[test]
    fn repeated_metadata_of_a_reply_is_joined() {
        let mut map = MetadataMap::new();
        for value in ["a", "b"] {
            map.append("x-part", value.parse().expect("header value should be valid"));
            map.append("grpc-accept-encoding", value.parse().expect("header value should be valid"));
            map.append_bin("raw-bin", MetadataValue::from_bytes(value.as_bytes()));
        }
        let metadata = metadata(&map);
        assert_eq!((metadata.len(), metadata.get("x-part")), (2, Some("a, b")));
        assert_eq!(metadata.get_bin("raw-bin"), Some(&b"a"[..]));
    }
}
