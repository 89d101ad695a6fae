//! gRPC's reflection service in both versions, which differ only in the name of the package.

use crate::catalog::Catalog;
use crate::reflection::{ReflectionState, unknown};
use bytes::Bytes;
use frpc::{Request, Response, ResponseStream, Status, Streaming};
use futures_util::StreamExt as _;
use std::collections::HashSet;
use std::sync::Arc;

/// Maximum total size in bytes of the imports that are sent with a file. gRPC clients accept messages of 4 MiB by
/// default and request missing imports by name.
const IMPORTS_MAX: usize = 1024 * 1024;

/// A reply to a reflection request, independent of the protocol version.
enum Answer {
    Files(Vec<Bytes>),
    Extensions(String, Vec<i32>),
    Services(Vec<String>),
    Error(Status),
}

/// State of one client's reflection stream.
struct View {
    catalog: Arc<Catalog>,
    /// Indexes of the files that were already sent to the client.
    sent: HashSet<usize>,
}

impl View {
    /// Returns a file together with those imports that were not sent yet, up to [`IMPORTS_MAX`] bytes.
    fn file(&mut self, found: Option<usize>, kind: &str, name: &str) -> Answer {
        let Some(found) = found else { return Answer::Error(unknown(kind, name)) };
        let mut room = IMPORTS_MAX;
        let mut files = Vec::new();
        let imports = self.catalog.with_imports([found]);
        for at in std::iter::once(found).chain(imports.into_iter().filter(|at| *at != found)) {
            let Some(file) = self.catalog.files.get(at) else { continue };
            if at == found {
                self.sent.insert(at);
                files.push(file.bytes.clone());
            } else if file.bytes.len() <= room && self.sent.insert(at) {
                room -= file.bytes.len();
                files.push(file.bytes.clone());
            }
        }
        Answer::Files(files)
    }

    fn extensions(&self, message: &str) -> Answer {
        let extendee = message.trim_start_matches('.');
        match self.catalog.extensions.get(extendee) {
            Some(extensions) => Answer::Extensions(extendee.to_owned(), extensions.keys().copied().collect()),
            None if self.catalog.declaring(extendee).is_some() => Answer::Extensions(extendee.to_owned(), Vec::new()),
            None => Answer::Error(unknown("message", extendee)),
        }
    }
}

macro_rules! version {
    ($version:ident) => {
        impl crate::$version::ServerReflection for ReflectionState {
            async fn server_reflection_info(
                &self,
                request: Request<Streaming<crate::$version::ServerReflectionRequest>>,
            ) -> Result<Response<ResponseStream<crate::$version::ServerReflectionResponse>>, Status> {
                use crate::$version::server_reflection_request::MessageRequest;
                use crate::$version::server_reflection_response::MessageResponse;
                use crate::$version::*;

                let mut view = View { catalog: self.catalog().clone(), sent: HashSet::new() };
                let answers = request.into_inner().map(move |request| {
                    let request = request?;
                    let answer = match request.message_request.clone() {
                        Some(MessageRequest::FileByFilename(name)) => {
                            view.file(view.catalog.named(&name), "file", &name)
                        }
                        Some(MessageRequest::FileContainingSymbol(name)) => {
                            view.file(view.catalog.declaring(&name), "symbol", &name)
                        }
                        Some(MessageRequest::FileContainingExtension(requested)) => {
                            let ExtensionRequest { containing_type: message, extension_number: number } = requested;
                            let found = view.catalog.extending(&message, number);
                            view.file(found, "extension", &format!("{number} of {message}"))
                        }
                        Some(MessageRequest::AllExtensionNumbersOfType(message)) => view.extensions(&message),
                        Some(MessageRequest::ListServices(_)) => Answer::Services(view.catalog.names.clone()),
                        None => Answer::Error(Status::invalid_argument("empty request")),
                    };
                    let answer = match answer {
                        Answer::Files(files) => MessageResponse::FileDescriptorResponse(FileDescriptorResponse {
                            file_descriptor_proto: files,
                        }),
                        Answer::Extensions(base_type_name, extension_number) => {
                            let numbers = ExtensionNumberResponse { base_type_name, extension_number };
                            MessageResponse::AllExtensionNumbersResponse(numbers)
                        }
                        Answer::Services(names) => {
                            let service = names.into_iter().map(|name| ServiceResponse { name }).collect();
                            MessageResponse::ListServicesResponse(ListServiceResponse { service })
                        }
                        Answer::Error(status) => MessageResponse::ErrorResponse(ErrorResponse {
                            error_code: status.code() as i32,
                            error_message: status.message().to_owned(),
                        }),
                    };
                    Ok(ServerReflectionResponse {
                        valid_host: request.host.clone(),
                        original_request: Some(request),
                        message_response: Some(answer),
                    })
                });
                Ok(Response::new(ResponseStream::new(answers)))
            }
        }
    };
}

version!(grpc_v1);
version!(grpc_v1alpha);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::PublishedFile;
    use crate::{Health, Reflection};
    use frpc::{Channel, Server};

    fn catalog(files: &[(usize, &[usize])]) -> Arc<Catalog> {
        let file = |(length, imports): &(usize, &[usize])| PublishedFile {
            head: Bytes::new(),
            bytes: Bytes::from(vec![0; *length]),
            imports: imports.to_vec(),
        };
        let mut catalog = Catalog::default();
        catalog.files = files.iter().map(file).collect();
        Arc::new(catalog)
    }

    fn lengths(answer: &Answer) -> Vec<usize> {
        match answer {
            Answer::Files(files) => files.iter().map(Bytes::len).collect(),
            _ => panic!("reply should contain files"),
        }
    }

    #[test]
    fn file_includes_only_unsent_imports() {
        let catalog = catalog(&[(1, &[]), (2, &[0]), (3, &[1]), (4, &[1])]);
        let mut view = View { catalog, sent: HashSet::new() };
        assert_eq!(lengths(&view.file(Some(2), "file", "c")), [3, 1, 2]);
        assert_eq!(lengths(&view.file(Some(3), "file", "d")), [4]);
        assert_eq!(lengths(&view.file(Some(0), "file", "a")), [1], "requested file should be sent again");
    }

    #[test]
    fn imports_beyond_size_limit_are_omitted() {
        let catalog = catalog(&[(IMPORTS_MAX, &[]), (1, &[]), (2 * IMPORTS_MAX, &[0, 1])]);
        let mut view = View { catalog, sent: HashSet::new() };
        assert_eq!(lengths(&view.file(Some(2), "file", "c")), [2 * IMPORTS_MAX, IMPORTS_MAX]);
        assert_eq!(lengths(&view.file(Some(2), "file", "c")), [2 * IMPORTS_MAX, 1]);
    }

    async fn channel() -> Channel {
        let server = Server::builder().add_service(Reflection::new()).add_service(Health::new());
        let server = server.build().expect("services should not overlap");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        Channel::connect_io(here).await.expect("server should accept the connection")
    }

    macro_rules! answers {
        ($test:ident, $version:ident) => {
            #[tokio::test]
            async fn $test() {
                use crate::$version::server_reflection_request::MessageRequest;
                use crate::$version::server_reflection_response::MessageResponse;
                use crate::$version::{ExtensionRequest, ServerReflectionClient, ServerReflectionRequest};

                let requested = [
                    MessageRequest::ListServices(String::new()),
                    MessageRequest::FileByFilename("grpc/health/v1/health.proto".to_owned()),
                    MessageRequest::FileContainingSymbol("grpc.health.v1.Health.Watch".to_owned()),
                    MessageRequest::FileContainingSymbol("grpc.health.v1.Nothing".to_owned()),
                    MessageRequest::FileContainingExtension(ExtensionRequest {
                        containing_type: "grpc.health.v1.HealthCheckRequest".to_owned(),
                        extension_number: 7,
                    }),
                    MessageRequest::AllExtensionNumbersOfType("grpc.health.v1.HealthCheckRequest".to_owned()),
                    MessageRequest::AllExtensionNumbersOfType("nothing".to_owned()),
                ];
                let requests = requested
                    .map(|request| ServerReflectionRequest { host: "here".to_owned(), message_request: Some(request) });
                let nothing = ServerReflectionRequest::default();
                let all = requests.iter().cloned().chain([nothing]).collect::<Vec<_>>();
                let client = ServerReflectionClient::new(channel().await);
                let call = client.server_reflection_info(frpc::iter(all.clone())).await;
                let mut responses = call.expect("reflection call should succeed").into_inner();
                let mut kinds = Vec::new();
                for request in &all {
                    let response = responses
                        .message()
                        .await
                        .expect("reflection stream should not fail")
                        .expect("reflection stream should not fail");
                    assert_eq!(
                        (&response.valid_host, response.original_request.as_ref()),
                        (&request.host, Some(request))
                    );
                    kinds.push(
                        match response.message_response.expect("reflection response should contain a message") {
                            MessageResponse::ListServicesResponse(list) => {
                                list.service.iter().map(|service| service.name.as_str()).collect::<Vec<_>>().join(" ")
                            }
                            MessageResponse::FileDescriptorResponse(files) => {
                                format!("{} file", files.file_descriptor_proto.len())
                            }
                            MessageResponse::AllExtensionNumbersResponse(numbers) => {
                                format!("{} {:?}", numbers.base_type_name, numbers.extension_number)
                            }
                            MessageResponse::ErrorResponse(error) => format!("error {}", error.error_code),
                        },
                    );
                }
                assert_eq!(responses.message().await.expect("reflection stream should not fail"), None);
                let expected = [
                    "frpc.reflection.v1.Reflection grpc.health.v1.Health grpc.reflection.v1.ServerReflection \
                     grpc.reflection.v1alpha.ServerReflection",
                    "1 file",
                    "1 file",
                    "error 5",
                    "error 5",
                    "grpc.health.v1.HealthCheckRequest []",
                    "error 5",
                    "error 3",
                ];
                assert_eq!(kinds, expected);
            }
        };
    }

    answers!(each_request_of_v1_has_one_response_in_order, grpc_v1);
    answers!(each_request_of_v1alpha_has_one_response_in_order, grpc_v1alpha);
}
