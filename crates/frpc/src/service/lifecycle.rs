//! A service's view of its end, and its part in the shutdown of a server: for services about the server itself, such as
//! reflection and health.

use crate::CallKind;
use crate::api::BoxFuture;
use crate::api::middleware::MethodInfo;
use crate::schema::embedded::Schema;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::formats::FormatInfo;
use crate::service::methods::Methods;

/// How a service takes part in the life of the end that offers it; see [`Methods::lifecycle`].
pub trait Lifecycle: Send + Sync + 'static {
    /// Is called with all services of the end, before any of them is called.
    fn offered(&self, services: &[OfferedService]) {
        let _ = services;
    }

    /// Is awaited when a server has been stopped. Until the future is ready, the server continues as before: its
    /// clients are not notified, and it accepts connections. The future has to end by itself, within a second or so.
    fn stopping(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether the end should get calls, as far as this service knows.
    fn is_ready(&self) -> bool {
        true
    }
}

/// A service that an end offers.
#[derive(Clone, Debug)]
pub struct OfferedService {
    layout: &'static Layout,
    schema: Option<&'static Schema>,
    methods: Vec<OfferedMethod>,
}

/// A method that an end offers.
#[derive(Clone, Debug)]
pub struct OfferedMethod {
    method: Method,
    kind: CallKind,
    messages: [&'static str; 2],
    pub(crate) formats: Vec<FormatInfo>,
}

impl OfferedService {
    pub(crate) fn new(methods: &Methods) -> Self {
        let all = methods.entries.iter().map(|entry| entry.offered.clone()).collect();
        Self { layout: methods.layout, schema: methods.schema, methods: all }
    }

    /// The full name.
    pub fn name(&self) -> &'static str {
        self.layout.service()
    }

    /// The fingerprint of its layout.
    pub fn fingerprint(&self) -> u64 {
        self.layout.fingerprint
    }

    /// The fingerprints of the earlier layouts that it understands, the oldest first.
    pub fn compatible(&self) -> &'static [u64] {
        self.layout.compatible
    }

    /// Its schema, if its build has embedded it.
    pub fn schema(&self) -> Option<&'static Schema> {
        self.schema
    }

    /// Its methods, in the order of declaration.
    pub fn methods(&self) -> &[OfferedMethod] {
        &self.methods
    }
}

impl OfferedMethod {
    pub(crate) fn new(about: &MethodInfo) -> Self {
        Self { method: *about.method(), kind: about.kind(), messages: about.messages(), formats: Vec::new() }
    }

    /// The full name of the service.
    pub fn service(&self) -> &'static str {
        self.method.layout.service()
    }

    /// The name within the service.
    pub fn name(&self) -> &'static str {
        self.method.name
    }

    /// The operation.
    pub fn operation(&self) -> u16 {
        self.method.operation.number()
    }

    /// Which directions stream.
    pub fn kind(&self) -> CallKind {
        self.kind
    }

    /// Whether it may run more than once without harm.
    pub fn is_idempotent(&self) -> bool {
        self.method.idempotent
    }

    /// Whether calling it may change anything. Of a method that changes nothing, [`is_idempotent`](Self::is_idempotent) is
    /// true as well.
    pub fn has_side_effects(&self) -> bool {
        !self.method.without_side_effects
    }

    /// Whether the schema offers it to agents as a tool, by the options of `frpc/agent.proto`.
    pub fn is_tool(&self) -> bool {
        self.method.is_tool
    }

    /// How many fields at the end of the request and of the response peers with earlier layouts may leave out.
    pub fn added(&self) -> (u32, u32) {
        self.method.added
    }

    /// The full names of the request and of the response in the schema.
    pub fn messages(&self) -> [&'static str; 2] {
        self.messages
    }

    /// The formats of its messages for other protocols, such as `json`.
    pub fn formats(&self) -> Vec<&'static str> {
        self.formats.iter().map(|format| format.name).collect()
    }

    /// The names of the fields of a request in a format, in the order of declaration; `None` if the method lacks the
    /// format. A format may not name any.
    pub fn request_fields(&self, format: &str) -> Option<&'static [&'static str]> {
        self.format(format).map(|format| format.fields)
    }

    /// The comment of the method in its schema, for documents about messages in a format; empty if there is none.
    pub fn comment(&self, format: &str) -> &'static str {
        self.format(format).map_or("", |format| format.comment)
    }

    /// The schemas of its messages in a format, and of those within, by their full names; empty if the format has none.
    /// Those of `json` are JSON Schemas, which refer to each other at `#/components/schemas/`.
    pub fn message_schemas(&self, format: &str) -> &'static [(&'static str, &'static str)] {
        self.format(format).map_or(&[], |format| format.schemas)
    }

    fn format(&self, name: &str) -> Option<&FormatInfo> {
        self.formats.iter().find(|format| format.has(name))
    }
}
