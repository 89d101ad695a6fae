//! The service `frpc.reflection.v1.Reflection` and the settings of reflection. `grpc.rs` implements
//! gRPC's reflection services, and `catalog.rs` contains the exposed schema.

use crate::catalog::{Catalog, PIECE_MAX, PublishedFile};
use crate::v1::{self, FilesPiece, FilesRequest, ListPiece, ListRequest};
use crate::{grpc_v1, grpc_v1alpha};
use bytes::Bytes;
use frpc::codegen::{Lifecycle, Methods, OfferedService, Service};
use frpc::{Layered, Middleware, Request, Response, ResponseStream, Status};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Maximum number of files and symbols in a request, which bounds its cost.
const NAMES_MAX: usize = 4096;

/// Exposes the services of a server and their schema through the services `frpc.reflection.v1.Reflection`,
/// `grpc.reflection.v1.ServerReflection` and `grpc.reflection.v1alpha.ServerReflection`.
///
/// By default it exposes all services of the server, including itself. **Schemas and their comments help attackers.**
/// On a public server [hide](Self::hide) private services and authorize callers with a
/// [middleware](Self::with_middleware).
///
/// ```
/// use samples::greeter::GreeterServer;
/// use frpc::{Call, CallResponse, Next, Server, Status};
/// use frpc_reflection::Reflection;
/// # use samples::started::Polite;
///
/// async fn admit(call: Call, next: Next) -> Result<CallResponse, Status> {
///     match call.metadata().get("tool") {
///         Some("sesame") => next.run(call).await,
///         _ => Err(Status::permission_denied("access to the schema denied")),
///     }
/// }
///
/// let reflection = Reflection::new().hide("admin.Admin").with_middleware(admit);
/// let server = Server::builder().add_service(GreeterServer::new(Polite)).add_service(reflection);
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Reflection {
    hidden: BTreeSet<String>,
    filter: Option<Arc<Filter>>,
}

type Filter = dyn Fn(&str) -> bool + Send + Sync;

impl Reflection {
    /// Creates a reflection service that exposes all services of the server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Hides the service with this full name. It can still be called. Its messages remain exposed if their file also
    /// declares an exposed service.
    ///
    /// ```
    /// let reflection = frpc_reflection::Reflection::new().hide("shop.Internal");
    /// let server = frpc::Server::builder().add_service(reflection);
    /// ```
    pub fn hide(mut self, service: impl Into<String>) -> Self {
        self.hidden.insert(service.into());
        self
    }

    /// Exposes only services if `shows` returns true for their full names, except [hidden](Self::hide) ones. Replaces
    /// an earlier filter.
    ///
    /// ```
    /// let public = |service: &str| service.starts_with("shop.v1.");
    /// let reflection = frpc_reflection::Reflection::new().service_filter(public);
    /// ```
    pub fn service_filter(mut self, shows: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.filter = Some(Arc::new(shows));
        self
    }

    /// Adds middleware around the calls of the reflection service.
    pub fn with_middleware(self, middleware: impl Middleware) -> Layered<Self> {
        Layered::new(self).with_middleware(middleware)
    }

    fn is_hidden(&self, service: &str) -> bool {
        self.hidden.contains(service) || self.filter.as_ref().is_some_and(|shows| !shows(service))
    }
}

impl Service for Reflection {
    const NAME: &'static str = v1::ReflectionServer::<ReflectionState>::NAME;

    fn methods(&self) -> Methods {
        // Create a separate state, because each server has its own catalog.
        let shows = Arc::new(ReflectionState { settings: self.clone(), ..ReflectionState::default() });
        let methods = v1::ReflectionServer::from_arc(shows.clone()).methods();
        methods
            .lifecycle(shows.clone())
            .merge(grpc_v1::ServerReflectionServer::from_arc(shows.clone()).methods())
            .merge(grpc_v1alpha::ServerReflectionServer::from_arc(shows).methods())
    }
}

impl fmt::Debug for Reflection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reflection").field("hidden", &self.hidden).finish_non_exhaustive()
    }
}

/// State of the reflection service of one server.
#[derive(Default)]
pub(crate) struct ReflectionState {
    settings: Reflection,
    offered: OnceLock<Vec<OfferedService>>,
    catalog: OnceLock<Arc<Catalog>>,
}

impl ReflectionState {
    /// Returns the exposed schema. It is built at the first request, because most servers never receive one.
    pub(crate) fn catalog(&self) -> &Arc<Catalog> {
        let offered = || self.offered.get().map(Vec::as_slice).unwrap_or_default();
        self.catalog.get_or_init(|| Arc::new(Catalog::new(offered(), |name| self.settings.is_hidden(name))))
    }
}

impl Lifecycle for ReflectionState {
    fn offered(&self, services: &[OfferedService]) {
        let _ = self.offered.set(services.to_vec());
    }
}

impl v1::Reflection for ReflectionState {
    async fn list(&self, request: Request<ListRequest>) -> Result<Response<ResponseStream<ListPiece>>, Status> {
        let catalog = self.catalog().clone();
        let not_modified = request.get_ref().etag == catalog.etag;
        let first = ListPiece { etag: catalog.etag.clone(), not_modified, ..ListPiece::default() };
        let count = if not_modified { 0 } else { catalog.pieces.len() };
        // Clone the messages lazily, because a slow client may send many requests.
        let rest = (0..count).filter_map(move |at| catalog.pieces.get(at).cloned());
        Ok(Response::new(ResponseStream::new(frpc::iter(std::iter::once(first).chain(rest).map(Ok)))))
    }

    async fn files(&self, request: Request<FilesRequest>) -> Result<Response<ResponseStream<FilesPiece>>, Status> {
        let catalog = self.catalog().clone();
        let request = request.into_inner();
        let not_modified = request.etag == catalog.etag;
        let files = if not_modified { Vec::new() } else { requested_files(&catalog, &request)? };
        let first = FilesPiece { etag: catalog.etag.clone(), not_modified, data: Bytes::new() };
        let parts = files.into_iter().filter_map(move |at| catalog.files.get(at).map(PublishedFile::parts)).flatten();
        let rest = parts.map(|data| FilesPiece { data, ..FilesPiece::default() });
        Ok(Response::new(ResponseStream::new(frpc::iter(std::iter::once(first).chain(rest).map(Ok)))))
    }
}

/// Returns the indexes of the files that a request asks for.
fn requested_files(catalog: &Catalog, request: &FilesRequest) -> Result<Vec<usize>, Status> {
    let FilesRequest { names, symbols, without_imports, .. } = request;
    let count = names.len() + symbols.len();
    if count > NAMES_MAX {
        return Err(Status::invalid_argument(format!("{count} files and symbols exceed the maximum of {NAMES_MAX}")));
    }
    if count == 0 {
        return Ok((0..catalog.files.len()).collect());
    }
    let mut files = BTreeSet::new();
    for name in names {
        files.insert(catalog.named(name).ok_or_else(|| unknown("file", name))?);
    }
    for symbol in symbols {
        files.insert(catalog.declaring(symbol).ok_or_else(|| unknown("symbol", symbol))?);
    }
    Ok(if *without_imports { files.into_iter().collect() } else { catalog.with_imports(files) })
}

/// Returns the status for a name that does not exist in the schema. The name is truncated, because the caller chooses
/// it.
pub(crate) fn unknown(kind: &str, name: &str) -> Status {
    const SHOWN_MAX: usize = 200;
    let shown: String = name.chars().take(SHOWN_MAX).collect();
    Status::not_found(format!("the schema of this server has no {kind} {shown:?}"))
}

impl PublishedFile {
    /// Splits the encoded file into reply messages of limited size. Their concatenation is an entry of a
    /// `FileDescriptorSet`.
    fn parts(&self) -> impl Iterator<Item = Bytes> + use<> {
        let (head, bytes) = (self.head.clone(), self.bytes.clone());
        let starts = (0..bytes.len()).step_by(PIECE_MAX);
        let pieces = starts.map(move |start| bytes.slice(start..bytes.len().min(start + PIECE_MAX)));
        std::iter::once(head).chain(pieces)
    }
}
