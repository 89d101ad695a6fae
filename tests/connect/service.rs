//! The service of the conformance suite. A request specifies the response that it expects, and the response describes
//! the request that the server received.

use crate::conformance::conformance_payload::RequestInfo;
use crate::conformance::unary_response_definition::Response as Wanted;
use crate::conformance::{
    BIDI_STREAM, BidiStreamRequest, BidiStreamResponse, CLIENT_STREAM, ClientStreamRequest, ClientStreamResponse,
    ConformancePayload, Error, Header, IDEMPOTENT_UNARY, IdempotentUnaryRequest, IdempotentUnaryResponse, LAYOUT,
    SERVER_STREAM, ServerStreamRequest, ServerStreamResponse, StreamResponseDefinition, UNARY, UNIMPLEMENTED,
    UnaryRequest, UnaryResponse, UnaryResponseDefinition, UnimplementedRequest, UnimplementedResponse,
};
use base64::prelude::*;
use frpc::codegen::{Methods, Service, any_type, json_format, protobuf_format};
use frpc::json::AnyType;
use frpc::prost::{Message as _, Name};
use frpc::prost_types::Any;
use frpc::{Code, Metadata, Request, Response, ResponseSender, ResponseStream, Status, Streaming};
use frpc_gateway::Trailers;
use std::sync::Arc;
use std::time::Duration;

/// The message types that an `Any` may contain.
static ANY_TYPES: &[AnyType] = &[
    any_type::<UnaryRequest>(),
    any_type::<IdempotentUnaryRequest>(),
    any_type::<ServerStreamRequest>(),
    any_type::<ClientStreamRequest>(),
    any_type::<BidiStreamRequest>(),
    any_type::<RequestInfo>(),
    any_type::<Header>(),
];

/// The message `google.rpc.Status`.
#[derive(Clone, PartialEq, frpc::prost::Message)]
#[prost(prost_path = "frpc::prost")]
struct RpcStatus {
    #[prost(int32, tag = "1")]
    code: i32,
    #[prost(string, tag = "2")]
    message: String,
    #[prost(message, repeated, tag = "3")]
    details: Vec<Any>,
}

/// The service of the conformance suite.
#[derive(Debug)]
pub(crate) struct Conformance;

impl Service for Conformance {
    const NAME: &'static str = "connectrpc.conformance.v1.ConformanceService";

    fn methods(&self) -> Methods {
        Methods::new(&Arc::new(Self), LAYOUT)
            .any_types(ANY_TYPES)
            .unary(UNARY, |_, request: Request<UnaryRequest>| async move {
                let definition = request.get_ref().response_definition.clone();
                let payload = unary(definition, info(&request, &[pack(request.get_ref())])).await?;
                Ok(payload.map(|payload| UnaryResponse { payload: Some(payload) }))
            })
            .format(json_format::<UnaryRequest, UnaryResponse>())
            .format(protobuf_format::<UnaryRequest, UnaryResponse>())
            .unary(IDEMPOTENT_UNARY, |_, request: Request<IdempotentUnaryRequest>| async move {
                let definition = request.get_ref().response_definition.clone();
                let payload = unary(definition, info(&request, &[pack(request.get_ref())])).await?;
                Ok(payload.map(|payload| IdempotentUnaryResponse { payload: Some(payload) }))
            })
            .format(json_format::<IdempotentUnaryRequest, IdempotentUnaryResponse>())
            .format(protobuf_format::<IdempotentUnaryRequest, IdempotentUnaryResponse>())
            .unary(UNIMPLEMENTED, |_, _: Request<UnimplementedRequest>| async move {
                Err::<Response<UnimplementedResponse>, _>(Status::unimplemented("as the suite wants it"))
            })
            .format(json_format::<UnimplementedRequest, UnimplementedResponse>())
            .format(protobuf_format::<UnimplementedRequest, UnimplementedResponse>())
            .client_streaming(CLIENT_STREAM, |_, mut request: Request<Streaming<ClientStreamRequest>>| async move {
                let (mut definition, mut requests) = (None, Vec::new());
                while let Some(message) = request.get_mut().message().await? {
                    requests.push(pack(&message));
                    definition = definition.or(message.response_definition);
                }
                let payload = unary(definition, info(&request, &requests)).await?;
                Ok(payload.map(|payload| ClientStreamResponse { payload: Some(payload) }))
            })
            .format(json_format::<ClientStreamRequest, ClientStreamResponse>())
            .format(protobuf_format::<ClientStreamRequest, ClientStreamResponse>())
            .server_streaming(SERVER_STREAM, |_, request: Request<ServerStreamRequest>| async move {
                let definition = request.get_ref().response_definition.clone().unwrap_or_default();
                let info = info(&request, &[pack(request.get_ref())]);
                let (sender, messages) = ResponseStream::channel(1);
                let response = with_metadata(messages, &definition.response_headers, &definition.response_trailers)?;
                let wrap = |payload| ServerStreamResponse { payload: Some(payload) };
                tokio::spawn(async move { send(&sender, definition, 0, info, wrap).await });
                Ok(response)
            })
            .format(json_format::<ServerStreamRequest, ServerStreamResponse>())
            .format(protobuf_format::<ServerStreamRequest, ServerStreamResponse>())
            .streaming(BIDI_STREAM, |_, mut request: Request<Streaming<BidiStreamRequest>>| async move {
                let first = request.get_mut().message().await?;
                let definition = first.as_ref().and_then(|first| first.response_definition.clone()).unwrap_or_default();
                let (sender, messages) = ResponseStream::channel(1);
                let response = with_metadata(messages, &definition.response_headers, &definition.response_trailers)?;
                tokio::spawn(converse(request, first, definition, sender));
                Ok(response)
            })
            .format(json_format::<BidiStreamRequest, BidiStreamResponse>())
            .format(protobuf_format::<BidiStreamRequest, BidiStreamResponse>())
            .done()
    }
}

/// Responds to each message of a bidirectional stream, or to all messages at its end.
async fn converse(
    mut request: Request<Streaming<BidiStreamRequest>>,
    first: Option<BidiStreamRequest>,
    definition: StreamResponseDefinition,
    sender: ResponseSender<BidiStreamResponse>,
) {
    let is_full_duplex = first.as_ref().is_some_and(|first| first.full_duplex);
    let wrap = |payload| BidiStreamResponse { payload: Some(payload) };
    let (mut next, mut requests, mut sent) = (first, Vec::new(), 0);
    while let Some(message) = next {
        requests.push(pack(&message));
        if is_full_duplex {
            let Some(data) = definition.response_data.get(sent).cloned() else { break };
            let requests = std::mem::take(&mut requests);
            let info =
                if sent == 0 { info(&request, &requests) } else { RequestInfo { requests, ..RequestInfo::default() } };
            delay(definition.response_delay_ms).await;
            let payload = ConformancePayload { data, request_info: Some(info) };
            if sender.send(Ok(wrap(payload))).await.is_err() {
                return;
            }
            sent += 1;
        }
        next = match request.get_mut().message().await {
            Ok(next) => next,
            Err(status) => {
                let _ = sender.send(Err(status)).await;
                return;
            }
        };
    }
    let info = info(&request, &requests);
    send(&sender, definition, sent, info, wrap).await;
}

/// Sends the responses from index `from` on, and then the error, if any.
async fn send<M>(
    sender: &ResponseSender<M>,
    definition: StreamResponseDefinition,
    from: usize,
    info: RequestInfo,
    wrap: impl Fn(ConformancePayload) -> M,
) {
    let count = definition.response_data.len();
    for (index, data) in definition.response_data.into_iter().enumerate().skip(from) {
        delay(definition.response_delay_ms).await;
        let request_info = (index == 0).then(|| info.clone());
        if sender.send(Ok(wrap(ConformancePayload { data, request_info }))).await.is_err() {
            return;
        }
    }
    if let Some(error) = definition.error {
        let status = failure(error, (count == 0).then_some(&info));
        let _ = sender.send(Err(status)).await;
    }
}

async fn delay(millis: u32) {
    if millis > 0 {
        tokio::time::sleep(Duration::from_millis(millis.into())).await;
    }
}

/// Returns the requested response to a single message or a request stream.
async fn unary(
    definition: Option<UnaryResponseDefinition>,
    info: RequestInfo,
) -> Result<Response<ConformancePayload>, Status> {
    let Some(definition) = definition else {
        return Ok(Response::new(ConformancePayload { data: Vec::new(), request_info: Some(info) }));
    };
    let UnaryResponseDefinition { response_headers, response_trailers, response_delay_ms, response, .. } = definition;
    delay(response_delay_ms).await;
    let data = match response {
        Some(Wanted::Error(error)) => {
            let mut both = Metadata::new();
            add(&mut both, &response_headers)?;
            add(&mut both, &response_trailers)?;
            return Err(failure(error, Some(&info)).with_metadata(both));
        }
        Some(Wanted::ResponseData(data)) => data,
        None => Vec::new(),
    };
    let payload = ConformancePayload { data, request_info: Some(info) };
    with_metadata(payload, &response_headers, &response_trailers)
}

fn with_metadata<T>(message: T, headers: &[Header], trailers: &[Header]) -> Result<Response<T>, Status> {
    let mut response = Response::new(message);
    add(response.metadata_mut(), headers)?;
    let mut behind = Metadata::new();
    add(&mut behind, trailers)?;
    response.extensions_mut().insert(Trailers(behind));
    Ok(response)
}

fn add(metadata: &mut Metadata, headers: &[Header]) -> Result<(), Status> {
    let invalid = |error: frpc::MetadataError| Status::internal(error.to_string());
    for Header { name, value } in headers {
        let name = name.to_ascii_lowercase();
        if name.ends_with("-bin") {
            let last = value.last().map(String::as_str).unwrap_or_default();
            let bytes = BASE64_STANDARD_NO_PAD.decode(last.trim_end_matches('='));
            let bytes = bytes.map_err(|error| Status::invalid_argument(error.to_string()))?;
            metadata.insert_bin(name, bytes).map_err(invalid)?;
        } else {
            metadata.insert(name, value.join(", ")).map_err(invalid)?;
        }
    }
    Ok(())
}

/// Returns the requested error. Its details include a description of the request.
fn failure(error: Error, info: Option<&RequestInfo>) -> Status {
    let Error { code, message, mut details } = error;
    details.extend(info.map(pack));
    let message = message.unwrap_or_default();
    let rpc = RpcStatus { code, message: message.clone(), details };
    Status::new(Code::from_i32(code), message).with_details(rpc.encode_to_vec())
}

fn pack<M: Name>(message: &M) -> Any {
    Any { type_url: M::type_url(), value: message.encode_to_vec() }
}

/// Describes a request as the server received it.
fn info<T>(request: &Request<T>, requests: &[Any]) -> RequestInfo {
    let header = |(name, value): (&str, &[u8])| {
        let value = if name.ends_with("-bin") {
            BASE64_STANDARD_NO_PAD.encode(value)
        } else {
            String::from_utf8_lossy(value).into_owned()
        };
        Header { name: name.to_owned(), value: vec![value] }
    };
    RequestInfo {
        request_headers: request.metadata().iter().map(header).collect(),
        timeout_ms: request.timeout().and_then(|timeout| i64::try_from(timeout.as_millis()).ok()),
        requests: requests.to_vec(),
        connect_get_info: None,
    }
}
