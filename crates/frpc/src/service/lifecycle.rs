//! A service's view of its end, and its part in the shutdown of a server: for services about the server itself, such as
//! reflection and health.

use crate::CallKind;
use crate::codegen::BoxFuture;
use crate::schema::embedded::Schema;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
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

/// A method of an [`OfferedService`].
#[derive(Clone, Debug)]
pub struct OfferedMethod {
    method: Method,
    kind: CallKind,
    messages: [&'static str; 2],
    formats: Vec<&'static str>,
}

impl OfferedService {
    pub(crate) fn new(methods: &Methods) -> Self {
        let method = |entry: &crate::service::erased::Entry| {
            let (about, formats) = (entry.face().about(), entry.face().formats());
            OfferedMethod { method: entry.method, kind: about.kind(), messages: about.messages(), formats }
        };
        let all = methods.entries.iter().map(method).collect();
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

    /// Whether calling it may change anything.
    pub fn has_side_effects(&self) -> bool {
        !self.method.without_side_effects
    }

    /// How many fields at the end of the request and of the response peers with earlier layouts may leave out.
    pub fn added(&self) -> (u32, u32) {
        self.method.added
    }

    /// The full names of the request and of the response.
    pub fn messages(&self) -> [&'static str; 2] {
        self.messages
    }

    /// The formats of its messages for other protocols, such as `json`.
    pub fn formats(&self) -> &[&'static str] {
        &self.formats
    }
}
