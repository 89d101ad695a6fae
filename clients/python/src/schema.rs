//! [`Schema`]: descriptors and the wire layout of each service. Loaded from the text of `.proto` files, from files, or
//! from a server's reflection. [`Api`] binds it to Python classes.

use crate::decode;
use crate::encode::{self, refused};
use crate::payload::Payload;
use crate::plan::Plans;
use crate::status::raised;
use bytes::Bytes;
use frpc::Status;
use frpc::codegen::{Layout, Method, ServiceDescription};
use frpc::polyglot::{Encoder, Form, Message};
use frpc_dynamic::DescriptorPool;
use frpc_dynamic::layout::unmarked;
use frpc_reflection::{ServerSchema, v1};
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::{Cardinality, EnumDescriptor, FieldDescriptor, Kind, MessageDescriptor, MethodDescriptor};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

/// A schema that is not bound to Python classes.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Schema {
    /// Encoded `FileDescriptorSet` of the schema.
    pub(crate) files: Vec<u8>,
    pub(crate) methods: Vec<Callable>,
}

/// A method of a schema with the data needed to call it.
pub(crate) struct Callable {
    pub(crate) descriptor: MethodDescriptor,
    pub(crate) layout: &'static Layout,
    pub(crate) method: &'static Method,
}

/// A service in a generated module: its name, the description of its layout, and for each method the name, the
/// operation number and whether it is idempotent.
type Embedded = (String, Vec<u8>, Vec<(String, u16, bool)>);

#[pymethods]
impl Schema {
    /// Parses the text of `.proto` files. The last one is the root. The operation numbers of its methods start at
    /// `first`, or at 10 if that is `None`.
    #[staticmethod]
    #[pyo3(signature = (sources, first = None))]
    fn parse(sources: Vec<(String, String)>, first: Option<u16>) -> PyResult<Self> {
        let builder = match (sources.last(), first) {
            (Some((root, _)), Some(first)) => configured().operation_base(root, first),
            _ => configured(),
        };
        Self::loaded(builder.load_sources(sources).map_err(refused)?)
    }

    /// Loads a schema from `.proto` files on disk.
    #[staticmethod]
    #[pyo3(signature = (paths, includes))]
    fn load(paths: Vec<PathBuf>, includes: Vec<PathBuf>) -> PyResult<Self> {
        Self::loaded(configured().load_protos(&paths, &includes).map_err(refused)?)
    }

    /// Creates the schema of a generated module from its files and the wire layouts of its services.
    #[staticmethod]
    fn embedded(files: Vec<u8>, services: Vec<Embedded>) -> PyResult<Self> {
        let pool = DescriptorPool::decode(&*files).map_err(refused)?;
        let known: Vec<ServiceDescription> = services.into_iter().map(embedded).collect();
        Self::of(&pool, files, &known)
    }

    /// Returns all methods of the schema. Each is described by service, name, whether requests and replies are streams,
    /// and the names of its messages.
    fn methods(&self) -> Vec<(String, String, bool, bool, String, String)> {
        let shown = |callable: &Callable| {
            let method = &callable.descriptor;
            (
                method.parent_service().full_name().to_owned(),
                method.name().to_owned(),
                method.is_client_streaming(),
                method.is_server_streaming(),
                method.input().full_name().to_owned(),
                method.output().full_name().to_owned(),
            )
        };
        self.methods.iter().map(shown).collect()
    }

    /// Returns the enums that methods use, directly or indirectly, with the names and numbers of their values.
    fn enums(&self) -> Vec<(String, Vec<(String, i32)>)> {
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for message in self.reached() {
            for descriptor in message.fields().filter_map(|field| enum_of(&field)) {
                if seen.insert(descriptor.full_name().to_owned()) {
                    found.push(descriptor);
                }
            }
        }
        let values = |descriptor: &EnumDescriptor| {
            descriptor.values().map(|value| (value.name().to_owned(), value.number())).collect()
        };
        found.iter().map(|descriptor| (descriptor.full_name().to_owned(), values(descriptor))).collect()
    }

    /// Returns the messages that methods use, directly or indirectly. Each of their fields is described by name, shape
    /// (`plain`, `optional`, `list` or `map`), and the types of its value and key.
    fn messages(&self) -> Vec<(String, Vec<FieldSummary>)> {
        self.reached().iter().map(|message| (message.full_name().to_owned(), shown(message))).collect()
    }
}

/// Returns the enum type of a field or of a map's values.
pub(crate) fn enum_of(field: &FieldDescriptor) -> Option<EnumDescriptor> {
    match field.kind() {
        Kind::Enum(descriptor) => Some(descriptor),
        Kind::Message(entry) if field.is_map() => entry.map_entry_value_field().kind().as_enum().cloned(),
        _ => None,
    }
}

impl Schema {
    /// Returns the messages that methods use, directly or indirectly.
    fn reached(&self) -> Vec<MessageDescriptor> {
        let mut open: Vec<MessageDescriptor> = self.roots().collect();
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        while let Some(message) = open.pop() {
            if !seen.insert(message.full_name().to_owned()) {
                continue;
            }
            for field in message.fields() {
                match field.kind() {
                    Kind::Message(entry) if field.is_map() => {
                        if let Kind::Message(inner) = entry.map_entry_value_field().kind() {
                            open.push(inner);
                        }
                    }
                    Kind::Message(inner) => open.push(inner),
                    _ => {}
                }
            }
            found.push(message);
        }
        found
    }
}

/// Description of a field: its name, its shape, and the types of its value and key.
type FieldSummary = (String, &'static str, String, String);

/// Returns the descriptions of a message's fields in the order of declaration.
fn shown(message: &MessageDescriptor) -> Vec<FieldSummary> {
    let declared = message.descriptor_proto().field.iter();
    let fields = declared.filter_map(|field| message.get_field(u32::try_from(field.number()).ok()?));
    let field = |field: FieldDescriptor| match field.kind() {
        Kind::Message(entry) if field.is_map() => {
            let (key, value) = (entry.map_entry_key_field(), entry.map_entry_value_field());
            (field.name().to_owned(), "map", type_name(&value.kind()), type_name(&key.kind()))
        }
        kind => {
            let shape = match field.cardinality() {
                Cardinality::Repeated => "list",
                _ if field.supports_presence() => "optional",
                _ => "plain",
            };
            (field.name().to_owned(), shape, type_name(&kind), String::new())
        }
    };
    fields.map(field).collect()
}

/// Returns the name of a field type for Python: a word for a scalar, or the full name of a message.
fn type_name(kind: &Kind) -> String {
    match kind {
        Kind::Message(message) => return message.full_name().to_owned(),
        Kind::Bool => "bool",
        Kind::String => "str",
        Kind::Bytes => "bytes",
        Kind::Float | Kind::Double => "float",
        Kind::Enum(descriptor) => return descriptor.full_name().to_owned(),
        _ => "int",
    }
    .to_owned()
}

fn configured() -> frpc_build::Builder {
    frpc_build::configure().compile_well_known_types(true)
}

impl Schema {
    fn loaded(loaded: frpc_build::LoadedProtos) -> PyResult<Self> {
        let pool = DescriptorPool::decode(&*loaded.descriptors).map_err(refused)?;
        let described =
            |it: &frpc_build::Layout| ServiceDescription::new(it.service(), it.description(), it.names(), it.methods());
        let known: Vec<ServiceDescription> = loaded.layouts.iter().map(described).collect();
        Self::of(&pool, loaded.descriptors, &known)
    }

    /// Creates a schema from the reflection data of a server.
    pub(crate) fn of_server(shown: &ServerSchema) -> PyResult<Self> {
        let pool = frpc_dynamic::schema::pool(&shown.files).map_err(refused)?;
        let readable = shown.services.iter().filter(|service| service.codec() == v1::Codec::Polyglot);
        let known: Option<Vec<ServiceDescription>> = readable.map(v1::Service::description).collect();
        let known = known.ok_or_else(|| refused("the server describes its services by numbers that cannot be"))?;
        Self::of(&pool, shown.files.to_vec(), &known)
    }

    fn of(pool: &DescriptorPool, files: Vec<u8>, known: &[ServiceDescription]) -> PyResult<Self> {
        let known: HashMap<&str, _> = known.iter().map(|known| (known.service.as_str(), known)).collect();
        let mut methods = Vec::new();
        for service in pool.services() {
            let Some(known) = known.get(service.full_name()) else { continue };
            let (layout, constants) = known.leak().map_err(refused)?;
            let mut declared: HashMap<String, MethodDescriptor> =
                service.methods().map(|method| (method.name().to_owned(), method)).collect();
            for (constant, known) in constants.iter().zip(&known.methods) {
                let Some(descriptor) = declared.remove(&known.name) else { continue };
                methods.push(Callable { descriptor, layout, method: constant });
            }
        }
        Ok(Self { files, methods })
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = MessageDescriptor> {
        self.methods.iter().flat_map(|callable| [callable.descriptor.input(), callable.descriptor.output()])
    }
}

/// Returns the wire layout and the operation numbers of a service in a generated module.
fn embedded((service, layout, methods): Embedded) -> ServiceDescription {
    let level = |is_idempotent| match is_idempotent {
        true => IdempotencyLevel::Idempotent,
        false => IdempotencyLevel::IdempotencyUnknown,
    };
    let methods = methods.into_iter().map(|(name, operation, idempotent)| (name, operation, level(idempotent)));
    ServiceDescription::new(service, layout, "", methods)
}

/// A schema with its messages bound to Python classes.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct Api {
    pub(crate) schema: Py<Schema>,
    plans: Arc<Plans>,
    endpoints: Vec<Endpoint>,
}

/// A method with the conversion plans of its messages.
#[derive(Clone)]
pub(crate) struct Endpoint {
    pub(crate) method: &'static Method,
    pub(crate) takes_stream: bool,
    pub(crate) plans: Arc<Plans>,
    /// Index of the request message's conversion plan.
    pub(crate) request: usize,
    pub(crate) reply: usize,
}

impl Endpoint {
    /// Encodes the Python value of a request.
    pub(crate) fn encode(&self, request: &Bound<'_, PyAny>) -> PyResult<Payload> {
        encode::payload(&self.plans, self.request, request)
    }

    /// Decodes a reply to its Python value, or raises the exception of a failed call.
    pub(crate) fn decode<'py>(&self, py: Python<'py>, reply: Result<Payload, Status>) -> PyResult<Bound<'py, PyAny>> {
        let reply = reply.map_err(|status| raised(py, &status))?;
        decode::body(py, &self.plans, self.reply, reply.received()).map_err(|error| {
            let text = format!("the reply does not fit the schema: {}", error.value(py));
            raised(py, &Status::internal(text))
        })
    }
}

#[pymethods]
impl Api {
    #[new]
    fn new(schema: Py<Schema>, forms: &Bound<'_, PyDict>, fields: &Bound<'_, PyDict>) -> PyResult<Self> {
        let known = schema.get();
        let plans = Arc::new(Plans::new(known.roots(), forms, fields)?);
        let endpoint = |callable: &Callable| {
            PyResult::Ok(Endpoint {
                method: callable.method,
                takes_stream: callable.descriptor.is_client_streaming(),
                plans: plans.clone(),
                request: plans.index_of(callable.descriptor.input().full_name())?,
                reply: plans.index_of(callable.descriptor.output().full_name())?,
            })
        };
        let endpoints = known.methods.iter().map(endpoint).collect::<PyResult<_>>()?;
        Ok(Self { schema, plans, endpoints })
    }

    /// Encodes a message to be published to a topic.
    fn encode<'py>(&self, name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
        let payload = encode::payload(&self.plans, self.plans.index_of(name)?, value)?;
        let mut out = Vec::new();
        // Use the extended encoding, because all subscribers are native peers.
        payload.encode_root(&mut Encoder::new(&mut out).with_form(Form::Extended)).map_err(refused)?;
        Ok(PyBytes::new(value.py(), &out))
    }

    /// Decodes a message that was received from a topic.
    fn decode<'py>(&self, py: Python<'py>, name: &str, body: Vec<u8>) -> PyResult<Bound<'py, PyAny>> {
        let (index, body) = (self.plans.index_of(name)?, Bytes::from(body));
        let root = self.schema.get().roots().next();
        let message = root.and_then(|root| root.parent_pool().get_message_by_name(name));
        let rest = match &message {
            Some(message) => {
                unmarked(message, &body).map_err(|error| refused(format!("not a valid {name}: {error}")))?
            }
            None => &body,
        };
        decode::body(py, &self.plans, index, &body.slice_ref(rest))
    }
}

impl Api {
    /// Returns the method with this index in [`Schema::methods`].
    pub(crate) fn endpoint(&self, index: usize) -> PyResult<&Endpoint> {
        self.endpoints.get(index).ok_or_else(|| refused("the schema has no such method"))
    }
}
