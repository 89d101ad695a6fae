//! The schema of a server, fetched by a client.

use crate::v1::{FilesRequest, ListRequest, ReflectionClient, Service};
use bytes::{Bytes, BytesMut};
use frpc::{Channel, Request, Status};
use prost::Message as _;
use std::time::Duration;

/// How many bytes of files, and of descriptions of services, are accepted of a server: a hundred times the schemas of
/// large programs. The server may be hostile.
const SCHEMA_MAX: usize = 64 * 1024 * 1024;

/// How often the schema is fetched again if it changes while it is fetched, as with a load balancer during a rollout.
const TRIES: usize = 3;

/// How long each call may take: as long as one has for its reply by default. The server may stop in the middle.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);

/// The schema of a server, from its [`Reflection`](crate::Reflection).
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
/// let greeter = schema.services.iter().find(|service| service.name == "greeter.Greeter").expect("it is offered");
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
    /// A hash of the content.
    pub etag: String,
    /// The services with their methods, operations and fingerprints, by name.
    pub services: Vec<Service>,
    /// All files, each after those that it imports, as an encoded `google.protobuf.FileDescriptorSet`. Services whose
    /// [`file`](Service::file) is empty are not in them.
    pub files: Bytes,
}

impl ServerSchema {
    /// Fetches the services of a server and all of their files.
    ///
    /// # Errors
    /// [`Unimplemented`](frpc::Code::Unimplemented) if the server has no reflection.
    /// [`DeadlineExceeded`](frpc::Code::DeadlineExceeded) if it takes more than 30 s for its services or its files: a server
    /// in Go does not answer requests that it does not know.
    /// [`ResourceExhausted`](frpc::Code::ResourceExhausted) if the schema has more than 64 MiB, and
    /// [`Aborted`](frpc::Code::Aborted) if it changes all the time.
    ///
    /// # Cancel safety
    /// Dropping the future ends the calls.
    pub async fn fetch(channel: &Channel) -> Result<Self, Status> {
        let mut schema = Self::default();
        schema.refresh(channel).await?;
        Ok(schema)
    }

    /// Fetches the schema again if it has changed, and returns whether it has.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch). The schema is then as before.
    ///
    /// # Cancel safety
    /// Dropping the future leaves the schema as before.
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

/// The services, and their etag; `None` if the etag is this one.
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

/// The memory of a service. Empty items take some as well.
fn memory(service: &Service) -> usize {
    let texts = service.compatible.len() + service.methods.iter().map(|method| method.formats.len()).sum::<usize>();
    size_of::<Service>() + size_of_val(&*service.methods) + texts * size_of::<String>() + service.encoded_len()
}

/// All files, and their etag.
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
    use crate::v1::{FilesPiece, ListPiece, Method, Reflection, ReflectionServer};
    use frpc::{Code, Response, ResponseSender, ResponseStream, Server};
    use tokio::sync::mpsc;

    /// Lists such services, in pieces.
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

    /// Begins the list, and sends nothing more.
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
        let server = Server::builder().add_service(ReflectionServer::new(service)).build().expect("it is valid");
        let (here, there) = frpc::memory();
        tokio::spawn(async move { server.serve_connection(there).await });
        Channel::connect_io(here).await.expect("it is served")
    }

    #[tokio::test(start_paused = true)]
    async fn server_that_stops_in_the_middle_is_not_awaited() {
        let (sender, _open) = mpsc::channel(1);
        let channel = channel(Silent(sender)).await;
        let fetched = tokio::time::timeout(10 * CALL_TIMEOUT, ServerSchema::fetch(&channel)).await.expect("it ends");
        assert_eq!(fetched.unwrap_err().code(), Code::DeadlineExceeded);
    }

    #[tokio::test]
    async fn empty_items_count_towards_the_limit() {
        let texts = vec![String::new(); 100_000];
        let method = Method { formats: texts.clone(), ..Method::default() };
        for services in [
            vec![Service::default(); 10_000],
            vec![Service { compatible: texts, ..Service::default() }],
            vec![Service { methods: vec![method], ..Service::default() }],
        ] {
            let channel = channel(Hostile(services)).await;
            assert_eq!(ServerSchema::fetch(&channel).await.unwrap_err().code(), Code::ResourceExhausted);
        }
    }
}
