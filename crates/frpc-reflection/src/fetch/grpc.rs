//! Fetching the schema of a gRPC server from its reflection service, in version v1 or v1alpha.

use super::{bounded, bounded_call};
use crate::grpc_v1::server_reflection_request::MessageRequest;
use crate::grpc_v1::server_reflection_response::MessageResponse;
use crate::grpc_v1::{ServerReflectionRequest, ServerReflectionResponse};
use bytes::Bytes;
use frpc::codegen::{Layout, Method};
use frpc::{Channel, Code, RequestStream, Status};
use prost::Message as _;
use std::collections::{BTreeMap, HashSet};

/// Size that each request counts towards the limit of the schema, which also limits their number.
const REQUEST_SIZE: usize = 1024;

// The versions have the same messages. Numbers and fingerprints are not used by gRPC.
static V1: Layout = Layout::new("grpc.reflection.v1.ServerReflection", &[10], 0, b"", "");
static V1ALPHA: Layout = Layout::new("grpc.reflection.v1alpha.ServerReflection", &[10], 0, b"", "");
static METHODS: [Method; 2] =
    [Method::new(&V1, "ServerReflectionInfo", 10), Method::new(&V1ALPHA, "ServerReflectionInfo", 10)];

/// The part of a `google.protobuf.FileDescriptorProto` that is needed to fetch its imports. The remaining fields are
/// skipped, because decoding a hostile file would take up to a hundred times its size in memory.
#[derive(Clone, PartialEq, prost::Message)]
struct FileHead {
    #[prost(string, tag = "1")]
    name: String,
    #[prost(string, repeated, tag = "3")]
    dependency: Vec<String>,
}

/// A fetched file: the names of its imports, and its encoded descriptor.
struct FetchedFile {
    imports: Vec<String>,
    descriptor: Bytes,
}

/// Fetches the files of all services of a gRPC server and their imports, as an encoded
/// `google.protobuf.FileDescriptorSet` like [`ServerSchema::files`](super::ServerSchema::files). Each file comes after
/// its imports. Services without a schema are omitted. The channel must be [one of gRPC](Channel::is_grpc).
///
/// The descriptors are not validated. Limit the number of their parts before decoding descriptors of an untrusted
/// server.
///
/// # Errors
/// [`Unimplemented`](Code::Unimplemented) if the server has no reflection service.
/// [`DeadlineExceeded`](Code::DeadlineExceeded) if fetching takes more than 30 s, and
/// [`ResourceExhausted`](Code::ResourceExhausted) if the schema exceeds 64 MiB.
///
/// # Cancel safety
/// Dropping the future cancels the calls.
pub async fn fetch_grpc_files(channel: &Channel) -> Result<Bytes, Status> {
    let [v1, v1alpha] = &METHODS;
    match fetch(channel, v1).await {
        Err(status) if status.code() == Code::Unimplemented => fetch(channel, v1alpha).await,
        fetched => fetched,
    }
}

async fn fetch(channel: &Channel, method: &'static Method) -> Result<Bytes, Status> {
    let (sender, requests) = RequestStream::channel(1);
    let replies = channel.streaming::<_, ServerReflectionResponse>(method, bounded_call(requests)).await?;
    let mut replies = replies.into_inner();
    let mut ask = async |request: MessageRequest| {
        let request = ServerReflectionRequest { message_request: Some(request), ..ServerReflectionRequest::default() };
        // The replies report why the call has ended.
        let _ = sender.send(request).await;
        let reply = replies.message().await?.and_then(|reply| reply.message_response);
        reply.ok_or_else(|| invalid("an answer is missing"))
    };
    let list = match ask(MessageRequest::ListServices(String::new())).await? {
        MessageResponse::ListServicesResponse(list) => list,
        reply => return Err(unexpected(reply, "the services are missing")),
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
        let is_service = matches!(request, MessageRequest::FileContainingSymbol(_));
        length += REQUEST_SIZE;
        bounded(length)?;
        let found = match ask(request).await? {
            MessageResponse::FileDescriptorResponse(found) => found,
            // Servers also list services whose schema they do not have.
            MessageResponse::ErrorResponse(error) if is_service && error.error_code == Code::NotFound as i32 => {
                continue;
            }
            reply => return Err(unexpected(reply, "a file is missing")),
        };
        for descriptor in found.file_descriptor_proto {
            length += descriptor.len();
            bounded(length)?;
            let FileHead { name, dependency: imports } =
                FileHead::decode(descriptor.clone()).map_err(|error| invalid(&error.to_string()))?;
            length += size_of_val(&*imports);
            bounded(length)?;
            wanted.extend(imports.iter().cloned().map(MessageRequest::FileByFilename));
            files.insert(name, FetchedFile { imports, descriptor });
        }
    }
    let mut set = Vec::new();
    for file in imports_first(files) {
        prost::encoding::bytes::encode(1, &file.descriptor, &mut set);
    }
    Ok(set.into())
}

/// Sorts files so that each comes after its imports. The order of files that import each other is arbitrary.
fn imports_first(mut files: BTreeMap<String, FetchedFile>) -> Vec<FetchedFile> {
    let (mut sorted, mut open) = (Vec::new(), Vec::<(FetchedFile, usize)>::new());
    while let Some((_, file)) = files.pop_first() {
        open.push((file, 0));
        while let Some((file, next)) = open.last_mut() {
            let Some(import) = file.imports.get(*next) else {
                sorted.extend(open.pop().map(|(file, _)| file));
                continue;
            };
            let import = files.remove(import);
            *next += 1;
            open.extend(import.map(|import| (import, 0)));
        }
    }
    sorted
}

/// Returns the status of a reply that does not answer its request.
fn unexpected(reply: MessageResponse, problem: &str) -> Status {
    match reply {
        MessageResponse::ErrorResponse(error) => Status::new(Code::from_i32(error.error_code), error.error_message),
        _ => invalid(problem),
    }
}

fn invalid(problem: &str) -> Status {
    Status::internal(format!("the reflection of the server is invalid: {problem}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grpc_files_follow_their_imports() {
        let file = |(name, imports): (&str, &[&str])| {
            let imports = imports.iter().map(|&import| import.to_owned()).collect();
            (name.to_owned(), FetchedFile { imports, descriptor: Bytes::copy_from_slice(name.as_bytes()) })
        };
        let files: [(&str, &[&str]); 5] =
            [("a", &["d", "c"]), ("b", &["a", "absent"]), ("c", &[]), ("d", &["c"]), ("e", &["e"])];
        let sorted = imports_first(files.into_iter().map(file).collect());
        let names: Vec<_> = sorted.iter().map(|file| &file.descriptor[..]).collect();
        assert_eq!(names, [b"c", b"d", b"a", b"b", b"e"]);
    }

    /// Regression test: descriptors were decoded before their parts were counted. Those of a hostile server took a
    /// hundred times the memory of their encoding.
    #[test]
    fn head_of_file_is_read_without_its_messages() {
        // A name, an import, and a message that is malformed and would be rejected if it were decoded.
        let head = FileHead::decode(&b"\x0a\x01a\x1a\x01b\x22\x01\xff"[..]).expect("head should be valid");
        assert_eq!(head, FileHead { name: "a".to_owned(), dependency: vec!["b".to_owned()] });
    }
}
