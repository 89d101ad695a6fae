//! [`Schema`]: the methods of services known only at run time, from the text of a `.proto` file or from a server's
//! reflection.

use crate::payload::{MessageType, frisbee_codec};
use bytes::Bytes;
use frpc::Status;
use frpc::codegen::{Layout, Method, Schema as Embedded, ServiceDescription};
use frpc_dynamic::layout::json_names;
use frpc_dynamic::{Codec, DescriptorPool};
use frpc_reflection::{ServerSchema, v1};
use parking_lot::Mutex;
use prost_reflect::MethodDescriptor;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Operation number of the first method of a schema, unless another schema uses it.
pub(crate) const FIRST_OPERATION: u16 = 10;

/// The methods of services and their names.
pub(crate) struct Schema {
    pub(crate) methods: Vec<Arc<Callable>>,
    /// Names of the methods, sorted by length so that a search compares few of them.
    names: Vec<MethodName>,
}

/// A name by which a method can be found: `pkg.Service/Method`, or only `Method`.
struct MethodName {
    name: Box<[u8]>,
    /// Index of the method, or `None` if several methods have the name.
    index: Option<usize>,
}

/// A method of a schema with the data needed to call it.
pub(crate) struct Callable {
    pub(crate) descriptor: MethodDescriptor,
    pub(crate) method: &'static Method,
    pub(crate) layout: &'static Layout,
    operation: u16,
    pub(crate) takes_stream: bool,
    pub(crate) returns_stream: bool,
    pub(crate) request: MessageType,
    pub(crate) reply: MessageType,
    /// Encoded descriptors of the `.proto` files that the schema consists of.
    files: Bytes,
}

impl Schema {
    /// Parses a `.proto` file and assigns operation numbers to its methods, starting at `first`.
    ///
    /// # Errors
    /// If the text is not a valid schema.
    pub(crate) fn parse(text: &str, codec: frisbee_codec, first: u16) -> Result<Self, Status> {
        let file = file_name(first);
        let builder = frpc_build::configure().compile_well_known_types(true).codec(match codec {
            frisbee_codec::FRISBEE_CODEC_POLYGLOT => frpc_build::Codec::Polyglot,
            frisbee_codec::FRISBEE_CODEC_PROTOBUF => frpc_build::Codec::Protobuf,
        });
        let builder = if first > FIRST_OPERATION { builder.operation_base(&file, first) } else { builder };
        let loaded = builder.load_sources(vec![(file, text.to_owned())]).map_err(|error| invalid(&error))?;
        let pool = frpc_dynamic::schema::pool(&loaded.descriptors).map_err(|error| invalid(&error))?;
        let described = |it: &frpc_build::Layout| {
            let service = ServiceDescription::new(it.service(), it.description(), it.names(), it.methods());
            (service, codec)
        };
        let descriptions: Vec<_> = loaded.layouts.iter().map(described).collect();
        Self::of(&pool, loaded.descriptors, &descriptions)
    }

    /// Checks the text of a `.proto` file without allocating permanent memory for its schema.
    ///
    /// # Errors
    /// If the text is not a valid schema.
    pub(crate) fn check(text: &str) -> Result<(), Status> {
        let source = (file_name(FIRST_OPERATION), text.to_owned());
        let loaded = frpc_build::configure().load_sources(vec![source]).map_err(|error| invalid(&error))?;
        frpc_dynamic::schema::pool(&loaded.descriptors).map(drop).map_err(|error| invalid(&error))
    }

    /// Creates a schema from the reflection data of a server.
    ///
    /// # Errors
    /// If the reflection data is invalid.
    pub(crate) fn of_server(shown: &ServerSchema) -> Result<Self, Status> {
        let refused = |reason: &str| Status::internal(format!("the schema of the server cannot be read: {reason}"));
        let pool = frpc_dynamic::schema::pool(&shown.files).map_err(|reason| refused(&reason))?;
        let known = shown.services.iter().filter_map(|service| {
            let codec = match service.codec() {
                v1::Codec::Polyglot => frisbee_codec::FRISBEE_CODEC_POLYGLOT,
                v1::Codec::Protobuf => frisbee_codec::FRISBEE_CODEC_PROTOBUF,
                #[allow(unreachable_patterns)] // Codecs that later versions may add.
                _ => return None,
            };
            Some(service.description().map(|known| (known, codec)))
        });
        let known: Option<Vec<_>> = known.collect();
        let known = known.ok_or_else(|| refused("a number of a service is out of range"))?;
        Self::of(&pool, shown.files.to_vec(), &known)
    }

    fn of(
        pool: &DescriptorPool,
        files: Vec<u8>,
        known: &[(ServiceDescription, frisbee_codec)],
    ) -> Result<Self, Status> {
        let mut schema = Self { methods: Vec::new(), names: Vec::new() };
        let (files, dynamic) = (Bytes::from(files), Arc::new(Codec::new()));
        let (mut names, mut full_names) = (Vec::new(), Vec::new());
        // Use maps, because a malicious server may describe many thousands of services and methods.
        let known: HashMap<&str, _> = known.iter().map(|known| (known.0.service.as_str(), known)).collect();
        for service in pool.services() {
            let Some((known, codec)) = known.get(service.full_name()) else { continue };
            let (layout, constants) = known.leak().map_err(Status::internal)?;
            let mut declared: HashMap<_, _> =
                service.methods().map(|method| (method.name().to_owned(), method)).collect();
            for (method, known) in constants.iter().zip(&known.methods) {
                let Some(descriptor) = declared.remove(&known.name) else { continue };
                let message = |descriptor| MessageType { descriptor, codec: *codec, dynamic: dynamic.clone() };
                let index = schema.methods.len();
                full_names.push((format!("{}/{}", service.full_name(), known.name), index));
                names.push((known.name.clone(), index));
                schema.methods.push(Arc::new(Callable {
                    request: message(descriptor.input()),
                    reply: message(descriptor.output()),
                    takes_stream: descriptor.is_client_streaming(),
                    returns_stream: descriptor.is_server_streaming(),
                    descriptor,
                    method,
                    layout,
                    operation: known.operation,
                    files: files.clone(),
                }));
            }
        }
        // Methods of services about the server itself, such as reflection, do not make other names ambiguous.
        let (own, others): (Vec<_>, Vec<_>) =
            names.into_iter().partition(|(_, index)| is_about_server(&schema.at(*index).name()));
        let taken: HashSet<String> = others.iter().map(|(name, _)| name.clone()).collect();
        let own = own.into_iter().filter(|(name, _)| !taken.contains(name));
        let names = full_names.into_iter().chain(others).chain(own);
        schema.names =
            names.map(|(name, index)| MethodName { name: name.into_bytes().into(), index: Some(index) }).collect();
        schema.names.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
        schema.names.dedup_by(|later, kept| {
            let is_same = later.name == kept.name;
            if is_same {
                kept.index = None;
            }
            is_same
        });
        Ok(schema)
    }

    /// Returns the method with an index that [`method_index`](Self::method_index) returned.
    pub(crate) fn at(&self, index: usize) -> &Arc<Callable> {
        self.methods.get(index).expect("method index should be in the schema")
    }

    /// Returns the index of a method in `methods`. Its name is `pkg.Service/Method`, or only `Method` if that is
    /// unique.
    ///
    /// # Errors
    /// If there is no such method, or if the name is ambiguous.
    pub(crate) fn method_index(&self, name: &[u8]) -> Result<usize, Status> {
        let plain = name.strip_prefix(b"/").unwrap_or(name);
        let found = self.names.binary_search_by(|known| (known.name.len(), &*known.name).cmp(&(plain.len(), plain)));
        match found.ok().and_then(|at| self.names.get(at)) {
            Some(MethodName { index: Some(index), .. }) => Ok(*index),
            Some(_) => Err(ambiguous(&String::from_utf8_lossy(name))),
            None => Err(self.unknown(&String::from_utf8_lossy(name))),
        }
    }

    /// Returns whether the schema declares a service with this full name.
    pub(crate) fn has_service(&self, name: &str) -> bool {
        self.methods.iter().any(|callable| callable.service_name() == name)
    }

    /// Returns the first operation number for an additional schema, which is the next multiple of 100 like in
    /// frpc-build.
    pub(crate) fn free_operation(schemas: &[Self]) -> u16 {
        let highest = schemas.iter().flat_map(|schema| &schema.methods).map(|callable| callable.operation).max();
        highest.map_or(FIRST_OPERATION, |last| (last / 100).saturating_add(1).saturating_mul(100))
    }

    fn unknown(&self, name: &str) -> Status {
        const SHOWN: usize = 8;
        // List services about the server itself, such as reflection, last.
        let mut names: Vec<_> = self.methods.iter().map(|callable| callable.name()).collect();
        names.sort_by_key(|name| is_about_server(name));
        let more = if names.len() > SHOWN { ", …" } else { "" };
        names.truncate(SHOWN);
        Status::unimplemented(format!("the schema has no method {name:?}; it has: {}{more}", names.join(", ")))
    }
}

/// Returns the error for a method name that several services have.
pub(crate) fn ambiguous(name: &str) -> Status {
    Status::invalid_argument(format!("several services have a method {name}: use pkg.Service/{name}"))
}

/// Returns whether a service or method is part of reflection, health checking or introspection.
fn is_about_server(name: &str) -> bool {
    name.starts_with("frpc.") || name.starts_with("grpc.")
}

impl Callable {
    /// Returns the descriptor for a unary call of this method.
    ///
    /// # Errors
    /// If the method streams.
    pub(crate) fn unary_method(&self) -> Result<&'static Method, Status> {
        if self.takes_stream || self.returns_stream { Err(self.has_streams()) } else { Ok(self.method) }
    }

    fn has_streams(&self) -> Status {
        Status::invalid_argument(format!("{} has streams: use frisbee_client_open", self.name()))
    }

    /// Returns the embedded schema for reflection. It is leaked once per schema.
    pub(crate) fn embedded(&self) -> &'static Embedded {
        static EMBEDDED: Mutex<BTreeMap<(Bytes, bool), &'static Embedded>> = Mutex::new(BTreeMap::new());
        let is_protobuf = self.request.codec == frisbee_codec::FRISBEE_CODEC_PROTOBUF;
        EMBEDDED.lock().entry((self.files.clone(), is_protobuf)).or_insert_with(|| {
            let embedded = Embedded::new(self.files.to_vec().leak());
            Box::leak(Box::new(if is_protobuf { embedded.protobuf() } else { embedded }))
        })
    }

    /// Returns the full name of the method as `pkg.Service/Method`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.service_name(), self.descriptor.name())
    }

    pub(crate) fn service_name(&self) -> String {
        self.descriptor.parent_service().full_name().to_owned()
    }
}

impl MessageType {
    /// Returns the JSON names of the message's fields in the order of declaration, escaped for JSON strings. Each
    /// distinct list is leaked once.
    pub(crate) fn fields(&self) -> &'static [&'static str] {
        static LISTS: Mutex<BTreeMap<Vec<String>, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
        let names = json_names(&self.descriptor);
        let leak = |names: &[String]| names.iter().map(|name| &*name.clone().leak()).collect::<Vec<_>>().leak();
        LISTS.lock().entry(names.clone()).or_insert_with(|| leak(&names))
    }

    /// Returns the full name of the message. Each distinct name is leaked once.
    pub(crate) fn static_name(&self) -> &'static str {
        static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
        let (mut names, name) = (NAMES.lock(), self.descriptor.full_name());
        names.get(name).copied().unwrap_or_else(|| {
            let name = name.to_owned().leak();
            names.insert(name);
            name
        })
    }
}

fn invalid(error: &dyn std::fmt::Display) -> Status {
    Status::invalid_argument(format!("the schema is invalid: {error}"))
}

/// Returns a file name for a schema that is unique among the schemas of a server.
fn file_name(first: u16) -> String {
    format!("schema{first}.proto")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schema_imports_bundled_files() {
        let text = "syntax = \"proto3\"; package shop; import \"frpc/agent.proto\"; import \"frpc/tensor.proto\";
                    service Shop { rpc Show(frpc.Image) returns (frpc.Tensor) { option (frpc.tool) = true; } }";
        let schema = Schema::parse(text, frisbee_codec::FRISBEE_CODEC_POLYGLOT, FIRST_OPERATION)
            .expect("schema should be valid");
        assert!(schema.method_index(b"shop.Shop/Show").is_ok());
    }

    #[test]
    fn short_names_of_several_services_are_ambiguous() {
        let text =
            "syntax = \"proto3\"; package t; message Q {} service A { rpc One(Q) returns (Q); rpc Two(Q) returns (Q); }
                    service B { rpc One(Q) returns (Q); rpc Six(Q) returns (Q); }";
        let schema = Schema::parse(text, frisbee_codec::FRISBEE_CODEC_POLYGLOT, FIRST_OPERATION)
            .expect("schema should be valid");
        let found = |name: &[u8]| schema.method_index(name).map(|index| schema.at(index).name());
        assert_eq!(found(b"Two").unwrap(), "t.A/Two");
        assert_eq!(found(b"Six").unwrap(), "t.B/Six");
        assert_eq!(found(b"/t.A/One").unwrap(), "t.A/One");
        assert_eq!(found(b"t.B/One").unwrap(), "t.B/One");
        assert_eq!(found(b"One").unwrap_err().code(), frpc::Code::InvalidArgument);
        assert_eq!(found(b"Ten").unwrap_err().code(), frpc::Code::Unimplemented);
    }
}
