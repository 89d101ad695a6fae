//! Fetching the schema of a gRPC server from its reflection service, in version v1 or v1alpha.

use super::{bounded, bounded_call};
use crate::grpc_v1::server_reflection_request::MessageRequest;
use crate::grpc_v1::server_reflection_response::MessageResponse;
use crate::grpc_v1::{ServerReflectionRequest, ServerReflectionResponse};
use frpc::codegen::{Layout, Method};
use frpc::{Channel, Code, RequestStream, Status};
use prost::Message as _;
use prost_types::{FileDescriptorProto, FileDescriptorSet};
use std::collections::{BTreeMap, HashSet};

/// Size that each request counts towards the limit of the schema, which also limits their number.
const REQUEST_SIZE: usize = 1024;

// The versions have the same messages. Numbers and fingerprints are not used by gRPC.
static V1: Layout = Layout::new("grpc.reflection.v1.ServerReflection", &[10], 0, b"", "");
static V1ALPHA: Layout = Layout::new("grpc.reflection.v1alpha.ServerReflection", &[10], 0, b"", "");
static METHODS: [Method; 2] =
    [Method::new(&V1, "ServerReflectionInfo", 10), Method::new(&V1ALPHA, "ServerReflectionInfo", 10)];

/// Fetches the files of all services of a gRPC server and their imports, sorted by name. The channel must be
/// [one of gRPC](Channel::is_grpc).
///
/// # Errors
/// [`Unimplemented`](Code::Unimplemented) if the server has no reflection service.
/// [`DeadlineExceeded`](Code::DeadlineExceeded) if fetching takes more than 30 s, and
/// [`ResourceExhausted`](Code::ResourceExhausted) if the schema exceeds 64 MiB.
///
/// # Cancel safety
/// Dropping the future cancels the calls.
pub async fn fetch_grpc_files(channel: &Channel) -> Result<FileDescriptorSet, Status> {
    let [v1, v1alpha] = &METHODS;
    match fetch(channel, v1).await {
        Err(status) if status.code() == Code::Unimplemented => fetch(channel, v1alpha).await,
        fetched => fetched,
    }
}

async fn fetch(channel: &Channel, method: &'static Method) -> Result<FileDescriptorSet, Status> {
    let (sender, requests) = RequestStream::channel(1);
    let replies = channel.streaming::<_, ServerReflectionResponse>(method, bounded_call(requests)).await?;
    let mut replies = replies.into_inner();
    let mut ask = async |request: MessageRequest| {
        let request = ServerReflectionRequest { message_request: Some(request), ..ServerReflectionRequest::default() };
        // The replies report why the call has ended.
        let _ = sender.send(request).await;
        match replies.message().await?.and_then(|reply| reply.message_response) {
            Some(MessageResponse::ErrorResponse(error)) => {
                Err(Status::new(Code::from_i32(error.error_code), error.error_message))
            }
            Some(reply) => Ok(reply),
            None => Err(invalid("an answer is missing")),
        }
    };
    let MessageResponse::ListServicesResponse(list) = ask(MessageRequest::ListServices(String::new())).await? else {
        return Err(invalid("the services are missing"));
    };
    let mut wanted: Vec<_> =
        list.service.into_iter().map(|service| MessageRequest::FileContainingSymbol(service.name)).collect();
    let (mut files, mut requested, mut length) = (BTreeMap::new(), HashSet::new(), 0);
    while let Some(request) = wanted.pop() {
        if let MessageRequest::FileByFilename(name) = &request
            && (files.contains_key(name) || !requested.insert(name.clone()))
        {
            continue;
        }
        let MessageResponse::FileDescriptorResponse(found) = ask(request).await? else {
            return Err(invalid("a file is missing"));
        };
        length += REQUEST_SIZE;
        for bytes in found.file_descriptor_proto {
            length += bytes.len();
            bounded(length)?;
            let file = FileDescriptorProto::decode(bytes).map_err(|error| invalid(&error.to_string()))?;
            wanted.extend(file.dependency.iter().cloned().map(MessageRequest::FileByFilename));
            files.insert(file.name().to_owned(), file);
        }
    }
    Ok(FileDescriptorSet { file: files.into_values().collect() })
}

fn invalid(problem: &str) -> Status {
    Status::internal(format!("the reflection of the server is invalid: {problem}"))
}
