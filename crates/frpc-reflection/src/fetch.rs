//! The client side: fetching the schema of a server.

mod grpc;

pub use grpc::fetch_grpc_files;

use crate::v1::{FilesRequest, Idempotency, ListRequest, Method, ReflectionClient, Service};
use bytes::{Bytes, BytesMut};
use frpc::codegen::{MethodDescription, ServiceDescription};
use frpc::{Channel, Request, Status};
use prost::Message as _;
use std::time::Duration;

/// Maximum total size in bytes of the files and service descriptions that are accepted from a server, which may be
/// hostile. A hundred times larger than the schemas of large programs.
const SCHEMA_MAX: usize = 64 * 1024 * 1024;

/// Maximum number of attempts if the schema changes while it is being fetched, for example behind a load balancer
/// during a rollout.
const TRIES: usize = 3;

/// Timeout of each call, equal to the default of channels. It also applies to a server that stops sending in the middle
/// of a stream.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The schema of a server, fetched from its [`Reflection`](crate::Reflection) service.
///
/// ```
/// # use samples::greeter::GreeterServer;
/// # use samples::started::Polite;
/// use frpc::{Channel, Server};
/// use frpc_reflection::{Reflection, ServerSchema};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let builder = Server::builder().add_service(GreeterServer::new(Polite)).add_service(Reflection::new());
/// # let server = builder.bind("127.0.0.1:0").await?;
/// # let address = server.local_addr().to_string();
/// # tokio::spawn(server.serve());
/// let channel = Channel::connect(address).await?;
/// let mut schema = ServerSchema::fetch(&channel).await?;
/// let greeter = schema.services.iter().find(|service| service.name == "greeter.Greeter").expect("service should be offered");
/// assert_eq!(greeter.methods[0].operation, 10);
///
/// // Later, and cheaply as long as nothing has changed.
/// let has_changed = schema.refresh(&channel).await?;
/// assert!(!has_changed);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerSchema {
    /// Hash of the schema. [`refresh`](Self::refresh) detects changes by it.
    pub etag: String,
    /// Descriptions of the services, sorted by name, with their methods, operation numbers and layout fingerprints.
    pub services: Vec<Service>,
    /// Encoded `google.protobuf.FileDescriptorSet` of all files, imports first. Services with an empty
    /// [`file`](Service::file) are not included.
    pub files: Bytes,
}

impl ServerSchema {
    /// Fetches the descriptions of a server's services and the files that declare them.
    ///
    /// # Errors
    /// [`Unimplemented`](frpc::Code::Unimplemented) if the server has no reflection.
    /// [`DeadlineExceeded`](frpc::Code::DeadlineExceeded) if the services or the files take more than 30 s. Servers in
    /// Go do not reply to unknown requests. [`ResourceExhausted`](frpc::Code::ResourceExhausted) if the schema exceeds
    /// 64 MiB, and [`Aborted`](frpc::Code::Aborted) if it keeps changing.
    ///
    /// # Cancel safety
    /// Dropping the future cancels the calls.
    pub async fn fetch(channel: &Channel) -> Result<Self, Status> {
        let mut schema = Self::default();
        schema.refresh(channel).await?;
        Ok(schema)
    }

    /// Fetches the schema again if it has changed on the server. Returns whether it has.
    ///
    /// # Errors
    /// Like [`fetch`](Self::fetch). The schema is unchanged then.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the schema unchanged.
    pub async fn refresh(&mut self, channel: &Channel) -> Result<bool, Status> {
        let client = ReflectionClient::new(channel.clone());
        for _ in 0..TRIES {
            let Some((etag, services)) = services(&client, &self.etag).await? else { return Ok(false) };
            let (of_files, files) = files(&client).await?;
            if of_files == etag {
                *self = Self { etag, services, files };
                return Ok(true);
            }
        }
        Err(Status::aborted("the schema of the server changed during each read; retry"))
    }
}

impl Service {
    /// Returns the wire layout and operation numbers of the service, which channels need to call it. Returns `None` if
    /// a number is out of range.
    pub fn description(&self) -> Option<ServiceDescription> {
        let method = |method: &Method| {
            Some(MethodDescription {
                name: method.name.clone(),
                // Lower operation numbers are reserved for the protocol.
                operation: u16::try_from(method.operation).ok().filter(|operation| *operation >= 10)?,
                is_idempotent: method.idempotency() != Idempotency::Unknown,
                is_without_side_effects: method.idempotency() == Idempotency::NoSideEffects,
            })
        };
        Some(ServiceDescription {
            service: self.name.clone(),
            layout: self.layout.to_vec(),
            names: String::new(),
            operations: self.operations.iter().map(|it| u16::try_from(*it).ok()).collect::<Option<_>>()?,
            methods: self.methods.iter().map(method).collect::<Option<_>>()?,
        })
    }
}

/// Fetches the services and the etag of the schema. Returns `None` if the etag equals `etag_before`.
async fn services(client: &ReflectionClient, etag_before: &str) -> Result<Option<(String, Vec<Service>)>, Status> {
    let mut pieces = client.list(bounded_call(ListRequest { etag: etag_before.to_owned() })).await?.into_inner();
    let (mut etag, mut services, mut length) = (String::new(), Vec::<Service>::new(), 0);
    while let Some(piece) = pieces.message().await? {
        if piece.not_modified {
            return Ok(None);
        }
        if !piece.etag.is_empty() {
            etag = piece.etag;
        }
        for service in piece.services {
            length += memory(&service);
            bounded(length)?;
            match services.last_mut().filter(|last| last.name == service.name) {
                Some(last) => last.methods.extend(service.methods),
                None => services.push(service),
            }
        }
    }
    Ok(Some((etag, services)))
}

/// Returns the memory used by a service description in bytes, including that of empty items.
fn memory(service: &Service) -> usize {
    let texts = service.methods.iter().map(|method| method.formats.len()).sum::<usize>();
    size_of::<Service>() + size_of_val(&*service.methods) + texts * size_of::<String>() + service.encoded_len()
}

/// Fetches all files and the etag of the schema.
async fn files(client: &ReflectionClient) -> Result<(String, Bytes), Status> {
    let mut pieces = client.files(bounded_call(FilesRequest::default())).await?.into_inner();
    let (mut etag, mut files) = (String::new(), BytesMut::new());
    while let Some(piece) = pieces.message().await? {
        if !piece.etag.is_empty() {
            etag = piece.etag;
        }
        bounded(files.len() + piece.data.len())?;
        files.extend_from_slice(&piece.data);
    }
    Ok((etag, files.freeze()))
}

fn bounded_call<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(CALL_TIMEOUT);
    request
}

fn bounded(length: usize) -> Result<(), Status> {
    if length > SCHEMA_MAX {
        return Err(Status::resource_exhausted(format!("the schema of the server has more than {SCHEMA_MAX} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::{FilesPiece, ListPiece, Reflection, ReflectionServer};
    use frpc::{Code, Response, ResponseSender, ResponseStream, Server};
    use tokio::sync::mpsc;

    /// A reflection service that lists these services, regardless of what the server offers.
    struct Hostile(Vec<Service>);

    impl Reflection for Hostile {
        async fn list(&self, _: Request<ListRequest>) -> Result<Response<ResponseStream<ListPiece>>, Status> {
            let piece = Ok(ListPiece { services: self.0.clone(), ..ListPiece::default() });
            Ok(Response::new(ResponseStream::new(frpc::iter(std::iter::repeat_n(piece, 100)))))
        }

        async fn files(&self, _: Request<FilesRequest>) -> Result<Response<ResponseStream<FilesPiece>>, Status> {
            Err(Status::internal("the list has been accepted"))
        }
    }

    /// A reflection service that starts its reply stream but never sends a message.
    struct Silent(mpsc::Sender<ResponseSender<ListPiece>>);

    impl Reflection for Silent {
        async fn list(&self, _: Request<ListRequest>) -> Result<Response<ResponseStream<ListPiece>>, Status> {
            let (sender, pieces) = ResponseStream::channel(1);
            sender.send(Ok(ListPiece { etag: "one".to_owned(), ..ListPiece::default() })).await.ok();
            self.0.send(sender).await.ok();
            Ok(Response::new(pieces))
        }

        async fn files(&self, _: Request<FilesRequest>) -> Result<Response<ResponseStream<FilesPiece>>, Status> {
            Err(Status::internal("the list has not ended"))
        }
    }

    async fn channel(service: impl Reflection) -> Channel {
        let server =
            Server::builder().add_service(ReflectionServer::new(service)).build().expect("server should be built");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        Channel::connect_io(here).await.expect("server should accept the connection")
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_schema_fetch_times_out() {
        let (sender, _open) = mpsc::channel(1);
        let channel = channel(Silent(sender)).await;
        let fetched = tokio::time::timeout(10 * CALL_TIMEOUT, ServerSchema::fetch(&channel))
            .await
            .expect("fetch should fail with a timeout");
        assert_eq!(fetched.unwrap_err().code(), Code::DeadlineExceeded);
    }

    #[test]
    fn reserved_operations_are_refused() {
        let methods = vec![Method { operation: 9, ..Method::default() }];
        assert_eq!(Service { methods, ..Service::default() }.description(), None);
    }

    #[tokio::test]
    async fn empty_items_count_towards_limit() {
        let texts = vec![String::new(); 100_000];
        let method = Method { formats: texts, ..Method::default() };
        for services in
            [vec![Service::default(); 10_000], vec![Service { methods: vec![method], ..Service::default() }]]
        {
            let channel = channel(Hostile(services)).await;
            assert_eq!(ServerSchema::fetch(&channel).await.unwrap_err().code(), Code::ResourceExhausted);
        }
    }
}
