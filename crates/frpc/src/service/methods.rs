//! Lists of a service's methods, with their types erased.

use crate::api::middleware::{CallKind, Chain, MethodInfo};
use crate::schema::embedded::Schema;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::erased::{Entry, Kind};
use crate::service::formats::Format;
use crate::service::handle::ServiceHandle;
use crate::service::lifecycle::{Lifecycle, OfferedMethod};
use crate::service::stream_method::StreamMethod;
use crate::service::unary::UnaryMethod;
use crate::{Request, Response, ResponseStream, Status, Streaming};
use polyglot::Message;
use std::fmt;
use std::sync::Arc;

/// A service generated from a schema, which a server or client can offer.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a service that can be served",
    label = "wrap the implementation of the service's trait in the generated server",
    note = "for a service `Greeter` of the schema: `add_service(GreeterServer::new(…))`"
)]
pub trait Service: Send + Sync + 'static {
    /// Full name of the service, including its package.
    const NAME: &'static str;

    /// Returns the methods that serve the service's calls.
    fn methods(&self) -> Methods;
}

/// The methods of a service, as added to a server or client.
pub struct Methods {
    pub(crate) layout: &'static Layout,
    pub(crate) schema: Option<&'static Schema>,
    pub(crate) entries: Vec<Entry>,
    /// Message types that an `Any` may contain in JSON.
    #[cfg(feature = "json")]
    pub(crate) any_types: &'static [frpc_json::AnyType],
    /// Name of a nonexistent method that middleware was configured for.
    pub(crate) unknown: Option<String>,
    pub(crate) lifecycles: Vec<Arc<dyn Lifecycle>>,
    /// Methods of the services that were merged into this one.
    pub(crate) merged: Vec<Self>,
}

/// Builder of a service's [`Methods`]. Used by generated code.
#[must_use]
pub struct MethodsBuilder<S> {
    service: Arc<S>,
    methods: Methods,
}

impl Methods {
    /// Creates a builder of a service's methods.
    #[allow(clippy::new_ret_no_self)] // The builder is typed by the service, but the result is not.
    pub fn new<S: Send + Sync + 'static>(service: &Arc<S>, layout: &'static Layout) -> MethodsBuilder<S> {
        let methods = Self {
            layout,
            schema: None,
            entries: Vec::new(),
            #[cfg(feature = "json")]
            any_types: &[],
            unknown: None,
            lifecycles: Vec::new(),
            merged: Vec::new(),
        };
        MethodsBuilder { service: service.clone(), methods }
    }

    /// Sets the lifecycle hooks of the service.
    #[must_use]
    pub fn lifecycle(mut self, lifecycle: Arc<dyn Lifecycle>) -> Self {
        self.lifecycles.push(lifecycle);
        self
    }

    /// Adds the methods of another service, which will be offered within the same middleware.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.merged.push(other);
        self
    }

    /// Splits merged services into a list of separate ones.
    pub(crate) fn flat(mut self) -> Vec<Self> {
        let merged = std::mem::take(&mut self.merged);
        std::iter::once(self).chain(merged.into_iter().flat_map(Self::flat)).collect()
    }

    /// Returns mutable references to the methods of this service and of its merged services.
    pub(crate) fn entries_mut(&mut self) -> Vec<&mut Entry> {
        let merged = self.merged.iter_mut().flat_map(Self::entries_mut);
        self.entries.iter_mut().chain(merged).collect()
    }
}

impl<S: Send + Sync + 'static> MethodsBuilder<S> {
    /// Adds a unary method with its handler.
    pub fn unary<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let about = MethodInfo::new::<A, B>(method, CallKind::Unary);
        let unary = UnaryMethod::new(&self.service, about, handler);
        self.with(about, Kind::Unary(Box::new(unary)))
    }

    /// Adds a server-streaming method with its handler.
    pub fn server_streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<A>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        let about = MethodInfo::new::<A, B>(method, CallKind::ServerStreaming);
        let streamed = StreamMethod::new(&self.service, about, handler);
        self.with(about, Kind::Stream(Box::new(streamed)))
    }

    /// Adds a client-streaming method with its handler.
    pub fn client_streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<B>, Status>> + Send + 'static,
    {
        let about = MethodInfo::new::<A, B>(method, CallKind::ClientStreaming);
        let streamed = StreamMethod::new(&self.service, about, handler);
        self.with(about, Kind::Stream(Box::new(streamed)))
    }

    /// Adds a bidirectional streaming method with its handler.
    pub fn streaming<A, B, H, F>(self, method: Method, handler: H) -> Self
    where
        A: Message + Send + 'static,
        B: Message + Send + 'static,
        H: Fn(ServiceHandle<S>, Request<Streaming<A>>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Result<Response<ResponseStream<B>>, Status>> + Send + 'static,
    {
        let about = MethodInfo::new::<A, B>(method, CallKind::Streaming);
        let streamed = StreamMethod::new(&self.service, about, handler);
        self.with(about, Kind::Stream(Box::new(streamed)))
    }

    /// Sets the full names of the request and response messages of the last added method. Required if its message types
    /// have no names of their own, as in bindings of other languages.
    ///
    /// # Panics
    /// If no method was added.
    pub fn messages(mut self, names: [&'static str; 2]) -> Self {
        let last = self.methods.entries.last_mut().expect("method should be added before its messages");
        last.offered.messages = names;
        self
    }

    /// Adds a message format to the last added method, for calls through [adapters](crate::ServerBuilder::adapter) of
    /// other protocols.
    ///
    /// # Panics
    /// If the message types of the format differ from the method's, or no method was added.
    pub fn format<A: 'static, B: 'static>(mut self, format: Format<A, B>) -> Self {
        let last = self.methods.entries.last_mut().expect("method should be added before its format");
        last.offered.formats.push(format.info);
        let is_added = match &mut last.kind {
            Kind::Unary(method) => method.add_format(Box::new(format)),
            Kind::Stream(method) => method.add_format(Box::new(format)),
        };
        assert!(is_added, "format of {} should be for the messages of the method", last.method);
        self
    }

    /// Sets the embedded schema of the service.
    pub fn schema(mut self, schema: &'static Schema) -> Self {
        self.methods.schema = Some(schema);
        self
    }

    /// Registers message types that an `Any` may contain in JSON, for all services of the same server or channel.
    #[cfg(feature = "json")]
    pub fn any_types(mut self, types: &'static [frpc_json::AnyType]) -> Self {
        self.methods.any_types = types;
        self
    }

    /// Builds the methods of the service.
    pub fn done(self) -> Methods {
        self.methods
    }

    fn with(mut self, about: MethodInfo, kind: Kind) -> Self {
        let (method, offered) = (*about.method(), OfferedMethod::new(&about));
        self.methods.entries.push(Entry { method, offered, kind, chain: Chain::default(), length_max: usize::MAX });
        self
    }
}

impl fmt::Debug for Methods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.entries.iter().map(|entry| entry.method)).finish()
    }
}

impl<S> fmt::Debug for MethodsBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.methods.fmt(f)
    }
}
