//! Lifecycle hooks of services, and descriptors of the offered services. Used by services that describe the server
//! itself, such as reflection and health.

use crate::CallKind;
use crate::api::BoxFuture;
use crate::api::middleware::MethodInfo;
use crate::schema::embedded::Schema;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::formats::FormatInfo;
use crate::service::methods::Methods;

/// Lifecycle hooks of a service; see [`Methods::lifecycle`].
pub trait Lifecycle: Send + Sync + 'static {
    /// Called with all services of the server or channel before any call is served.
    fn offered(&self, services: &[OfferedService]) {
        let _ = services;
    }

    /// Called when a server begins to shut down. Until the future completes, the server operates normally: clients are
    /// not notified, and new connections are accepted. The future should complete within about a second.
    fn stopping(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns whether the service is ready for calls.
    fn is_ready(&self) -> bool {
        true
    }
}

/// Describes a service that a server or client offers.
#[derive(Clone, Debug)]
pub struct OfferedService {
    layout: &'static Layout,
    schema: Option<&'static Schema>,
    methods: Vec<OfferedMethod>,
}

/// Describes a method that a server or client offers.
#[derive(Clone, Debug)]
pub struct OfferedMethod {
    method: Method,
    kind: CallKind,
    pub(crate) messages: [&'static str; 2],
    pub(crate) formats: Vec<FormatInfo>,
}

impl OfferedService {
    pub(crate) fn new(methods: &Methods) -> Self {
        let all = methods.entries.iter().map(|entry| entry.offered.clone()).collect();
        Self { layout: methods.layout, schema: methods.schema, methods: all }
    }

    /// Returns the full name of the service.
    pub fn name(&self) -> &'static str {
        self.layout.service()
    }

    /// Returns the wire layout of the service.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Returns the schema of the service, if the program embeds it.
    pub fn schema(&self) -> Option<&'static Schema> {
        self.schema
    }

    /// Returns the methods of the service in the order of declaration.
    pub fn methods(&self) -> &[OfferedMethod] {
        &self.methods
    }
}

impl OfferedMethod {
    pub(crate) fn new(about: &MethodInfo) -> Self {
        Self { method: *about.method(), kind: about.kind(), messages: about.messages(), formats: Vec::new() }
    }

    /// Returns the full name of the service.
    pub fn service(&self) -> &'static str {
        self.method.layout.service()
    }

    /// Returns the name of the method within its service.
    pub fn name(&self) -> &'static str {
        self.method.name
    }

    /// Returns the operation number of the method.
    pub fn operation(&self) -> u16 {
        self.method.operation.number()
    }

    /// Returns the kind of the method's calls: whether requests and responses are streams.
    pub fn kind(&self) -> CallKind {
        self.kind
    }

    /// Returns whether repeating a call has no additional effect, so that clients may retry it.
    pub fn is_idempotent(&self) -> bool {
        self.method.idempotent
    }

    /// Returns whether a call may change state. A method without side effects is also
    /// [idempotent](Self::is_idempotent).
    pub fn has_side_effects(&self) -> bool {
        !self.method.without_side_effects
    }

    /// Returns whether the schema declares the method as a tool for agents, by an option of `frpc/agent.proto`.
    pub fn is_tool(&self) -> bool {
        self.method.is_tool
    }

    /// Returns the full names of the request and response types in the schema.
    pub fn messages(&self) -> [&'static str; 2] {
        self.messages
    }

    /// Returns the names of the message formats for other protocols, such as `json`.
    pub fn formats(&self) -> Vec<&'static str> {
        self.formats.iter().map(|format| format.name).collect()
    }

    /// Returns the names of the request's fields in a format, in the order of declaration. Returns `None` if the method
    /// does not support the format, and an empty slice if the format has no field names.
    pub fn request_fields(&self, format: &str) -> Option<&'static [&'static str]> {
        self.format(format).map(|format| format.fields)
    }

    /// Returns the method's comment in the schema, for generated documentation such as OpenAPI. Empty if the method has
    /// no comment or does not support `format`.
    pub fn comment(&self, format: &str) -> &'static str {
        self.format(format).map_or("", |format| format.comment)
    }

    /// Returns the schemas of the method's messages in a format, including nested messages, with their full names.
    /// Empty if the format has no schemas. For `json`, they are JSON Schemas that refer to each other at
    /// `#/components/schemas/`.
    pub fn message_schemas(&self, format: &str) -> &'static [(&'static str, &'static str)] {
        self.format(format).map_or(&[], |format| format.schemas)
    }

    fn format(&self, name: &str) -> Option<&FormatInfo> {
        self.formats.iter().find(|format| format.has(name))
    }
}
