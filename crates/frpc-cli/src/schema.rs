//! The schema of a server: its messages, and its services with their operations.
//!
//! The schema is loaded from `.proto` files, from a descriptor set, or from a server that describes itself, which
//! `source.rs` queries. [`Schema::of`] combines the descriptors with the [`ServiceDescription`] of each service.

use crate::arguments::SourceArguments;
use crate::failure::Failure;
use crate::target::read;
use frpc::Status;
use frpc::codegen::{Layout, Method, ServiceDescription};
use frpc::polyglot::{Decoder, Root};
use frpc::prost::Message as _;
use frpc_dynamic::{Body, Codec, DescriptorPool, DynamicMessage, MessageDescriptor, to_protobuf};
use prost_reflect::prost_types::method_options::IdempotencyLevel;
use prost_reflect::prost_types::{FileDescriptorSet, MethodOptions};
use prost_reflect::{MethodDescriptor, ServiceDescriptor};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A schema that was loaded from files or from a server. Contains the operation number of each method.
pub(crate) struct Schema {
    pub(crate) pool: DescriptorPool,
    /// Services in the order of their declaration.
    pub(crate) services: Vec<Service>,
    pub(crate) codec: Codec,
    /// Whether bodies are encoded in the protobuf format, because the server uses gRPC.
    pub(crate) is_grpc: bool,
}

/// A service of a schema, with its layout on the wire and its methods.
pub(crate) struct Service {
    pub(crate) descriptor: ServiceDescriptor,
    pub(crate) layout: &'static Layout,
    /// Methods in the order of their declaration.
    pub(crate) methods: Vec<Callable>,
}

/// A method of a schema, with all data needed to call it.
#[derive(Clone)]
pub(crate) struct Callable {
    pub(crate) descriptor: MethodDescriptor,
    pub(crate) operation: u16,
    pub(crate) method: &'static Method,
}

/// Package prefixes of services that a server or gateway provides itself, in addition to those of its user.
const PROVIDED: [&str; 4] = ["frpc.introspection.", "frpc.reflection.", "grpc.health.", "grpc.reflection."];

impl Service {
    /// Returns whether servers and gateways provide the service themselves, as they do for health and reflection.
    pub(crate) fn is_provided(&self) -> bool {
        PROVIDED.iter().any(|package| self.descriptor.full_name().starts_with(package))
    }
}

impl Callable {
    fn idempotency(method: &MethodDescriptor) -> IdempotencyLevel {
        let options = method.method_descriptor_proto().options.as_ref();
        options.map_or(IdempotencyLevel::IdempotencyUnknown, MethodOptions::idempotency_level)
    }

    /// Returns whether the schema marks the method as idempotent.
    pub(crate) fn is_idempotent(&self) -> bool {
        Self::idempotency(&self.descriptor) != IdempotencyLevel::IdempotencyUnknown
    }

    /// Returns the full name of the method, such as `greet.Greeter/Greet`. The command `call` accepts it.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.descriptor.parent_service().full_name(), self.descriptor.name())
    }
}

/// Loads the schema from files, or returns `None` if the arguments name no files.
pub(crate) fn load_optional(source: &SourceArguments) -> Result<Option<Schema>, Failure> {
    let has_source = !source.proto.is_empty() || source.descriptor_set.is_some();
    has_source.then(|| load(source)).transpose()
}

/// Loads the schema from the files that the arguments name.
fn load(source: &SourceArguments) -> Result<Schema, Failure> {
    let builder = frpc_build::configure().compile_well_known_types(true).numbering(source.numbering);
    let loaded = if let Some(path) = &source.descriptor_set {
        let set = FileDescriptorSet::decode(&*read(path)?)
            .map_err(|error| Failure::new(format!("{} is not a FileDescriptorSet: {error}", path.display())))?;
        builder.load_fds(set)
    } else {
        builder.load_protos(&source.proto, &includes(source))
    };
    let loaded = loaded.map_err(Failure::new)?;
    let pool = DescriptorPool::decode(&*loaded.descriptors).map_err(Failure::new)?;
    let described =
        |it: &frpc_build::Layout| ServiceDescription::new(it.service(), it.description(), it.names(), it.methods());
    let descriptions: Vec<_> = loaded.layouts.iter().map(described).collect();
    Schema::of(pool, &descriptions)
}

/// Parses the files of a server, which may be hostile.
pub(crate) fn untrusted_pool(files: &[u8]) -> Result<DescriptorPool, Failure> {
    let invalid = |reason| Failure::new(format!("the schema of the server cannot be read: {reason}"));
    frpc_dynamic::schema::pool(files).map_err(invalid)
}

/// Returns the folders that are searched for imports.
fn includes(source: &SourceArguments) -> Vec<PathBuf> {
    if !source.includes.is_empty() {
        return source.includes.clone();
    }
    let folder = source.proto.first().and_then(|path| path.parent()).filter(|parent| !parent.as_os_str().is_empty());
    vec![folder.unwrap_or(Path::new(".")).to_owned()]
}

impl Schema {
    /// Creates a schema from the services in `pool` that have a description. Services without one cannot be called.
    ///
    /// # Errors
    /// If the operations of a service do not match its layout.
    pub(crate) fn of(pool: DescriptorPool, descriptions: &[ServiceDescription]) -> Result<Self, Failure> {
        let mut services = Vec::new();
        let descriptions: HashMap<&str, _> = descriptions.iter().map(|it| (it.service.as_str(), it)).collect();
        for descriptor in pool.services() {
            let Some(described) = descriptions.get(descriptor.full_name()) else { continue };
            let (layout, constants) = described.leak().map_err(Failure::new)?;
            let found: HashMap<&str, _> =
                described.methods.iter().zip(constants).map(|(it, method)| (it.name.as_str(), (it, method))).collect();
            let mut methods = Vec::new();
            for descriptor in descriptor.methods() {
                let Some((described, method)) = found.get(descriptor.name()) else { continue };
                methods.push(Callable { descriptor, operation: described.operation, method });
            }
            services.push(Service { descriptor, layout, methods });
        }
        Ok(Self { pool, services, codec: Codec::new(), is_grpc: false })
    }

    /// Creates the schema of a gRPC server. Its methods are called by name and have no operation numbers.
    pub(crate) fn of_grpc(files: &[u8]) -> Result<Self, Failure> {
        let pool = untrusted_pool(files)?;
        let describe = |service: ServiceDescriptor| {
            let methods = service.methods().zip(10..=u16::MAX);
            let methods = methods
                .map(|(method, operation)| (method.name().to_owned(), operation, Callable::idempotency(&method)));
            ServiceDescription::new(service.full_name(), Vec::<u8>::new(), "", methods)
        };
        let descriptions: Vec<_> = pool.services().map(describe).collect();
        Self::of(pool, &descriptions)
    }

    /// Encodes a message as the body of a call, in the format that the server requires.
    pub(crate) fn body(&self, message: &DynamicMessage) -> Result<Body, Failure> {
        if self.is_grpc {
            return Ok(Body::native(to_protobuf(message)));
        }
        self.codec.body(message).map_err(Failure::new)
    }

    /// Decodes the body of a reply, in the format that the server uses.
    pub(crate) fn decode(&self, of: &MessageDescriptor, body: &Body) -> Result<DynamicMessage, Status> {
        let bytes = body.as_bytes();
        let invalid =
            |error: &dyn std::fmt::Display| Status::internal(format!("the reply does not fit the schema: {error}"));
        if self.is_grpc {
            return self.codec.decode_protobuf(of, bytes).map_err(|error| invalid(&error));
        }
        match self.codec.decode(of, &mut Decoder::shared(bytes)).map_err(|error| invalid(&error))? {
            Root::Message(message) => Ok(message),
            Root::Error(text) => Err(Status::unknown(text)),
        }
    }

    /// Returns the first method that has this operation number.
    pub(crate) fn by_operation(&self, operation: u16) -> Option<&Callable> {
        self.methods().find(|callable| callable.operation == operation)
    }

    pub(crate) fn methods(&self) -> impl Iterator<Item = &Callable> {
        self.services.iter().flat_map(|service| &service.methods)
    }

    /// Returns the service with this full name, or with this short name if it is unique.
    pub(crate) fn service(&self, name: &str) -> Result<&Service, Failure> {
        // Prefer full names, because a service without a package may have the short name of another service.
        if let Some(service) = self.services.iter().find(|service| service.descriptor.full_name() == name) {
            return Ok(service);
        }
        let mut found = self.services.iter().filter(|service| service.descriptor.name() == name);
        match (found.next(), found.next()) {
            (Some(service), None) => Ok(service),
            (None, _) => {
                let names: Vec<_> = self.services.iter().map(|service| service.descriptor.full_name()).collect();
                let there = if names.is_empty() { "no services".to_owned() } else { names.join(", ") };
                Err(Failure::new(format!("the schema has no service {name}; it has: {there}")))
            }
            _ => Err(Failure::new(format!("several services are called {name}: use the full name"))),
        }
    }

    /// Returns the method with this name, such as `greet.Greeter/Greet`. The service can be omitted if the method's
    /// name is unique.
    pub(crate) fn method(&self, name: &str) -> Result<&Callable, Failure> {
        let name = name.trim_start_matches('/');
        let (service, method) = match name.rsplit_once('/').or_else(|| name.rsplit_once('.')) {
            Some((service, method)) => (Some(self.service(service)?), method),
            None => (None, name),
        };
        let candidates: Vec<&Callable> = match service {
            Some(service) => service.methods.iter().collect(),
            None => self.methods().collect(),
        };
        let mut found = candidates.iter().filter(|callable| callable.descriptor.name() == method);
        match (found.next(), found.next()) {
            (Some(callable), None) => Ok(callable),
            (Some(one), Some(other)) => {
                Err(Failure::new(format!("{method} is a method of several services: {}, {}", one.name(), other.name())))
            }
            (None, _) => {
                let names: Vec<_> = candidates.iter().map(|callable| callable.name()).collect();
                let there = if names.is_empty() { "no methods at all".to_owned() } else { names.join(", ") };
                Err(Failure::new(format!("unknown method {name}; the schema has: {there}")))
            }
        }
    }
}

/// Returns a schema with 20,000 messages, from `M0` to `M19999`. Each message contains the next one. An untrusted
/// server could send such a schema.
#[cfg(test)]
pub(crate) fn long_chain() -> DescriptorPool {
    use prost_reflect::prost_types::field_descriptor_proto::{Label, Type};
    use prost_reflect::prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};
    let message = |at: u32| {
        let field = FieldDescriptorProto {
            name: Some("next".to_owned()),
            number: Some(1),
            label: Some(Label::Optional.into()),
            r#type: Some(Type::Message.into()),
            type_name: Some(format!(".M{}", (at + 1).min(19_999))),
            ..FieldDescriptorProto::default()
        };
        DescriptorProto { name: Some(format!("M{at}")), field: vec![field], ..DescriptorProto::default() }
    };
    let file = FileDescriptorProto {
        name: Some("chain.proto".to_owned()),
        syntax: Some("proto3".to_owned()),
        message_type: (0..20_000).map(message).collect(),
        ..FileDescriptorProto::default()
    };
    DescriptorPool::from_file_descriptor_set(FileDescriptorSet { file: vec![file] })
        .expect("descriptors of the generated schema should be accepted")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Regression test: a service without a package could not be named if another one had the same short name.
    #[test]
    fn full_name_of_service_precedes_short_name() {
        let files = ["", "shop"].map(|package| {
            let text =
                format!("syntax = \"proto3\"; {} message M {{}} service Greeter {{ rpc Greet(M) returns (M); }}", {
                    if package.is_empty() { String::new() } else { format!("package {package};") }
                });
            let name = format!("{package}greet.proto");
            protox::file::File::from_source(&name, &text).expect("schema should be valid").into()
        });
        let schema = Schema::of_grpc(&FileDescriptorSet { file: files.into() }.encode_to_vec())
            .expect("descriptors should be accepted");
        let found = |name: &str| schema.service(name).map(|service| service.descriptor.full_name().to_owned());
        assert_eq!(found("Greeter").expect("full name should be unique"), "Greeter");
        assert_eq!(found("shop.Greeter").expect("full name should be unique"), "shop.Greeter");
        assert_eq!(schema.method("Greeter/Greet").expect("method should be found").name(), "Greeter/Greet");
    }

    /// Regression test: the descriptor library panicked on the schema of a gRPC server.
    #[test]
    fn malformed_schema_of_grpc_server_is_rejected() {
        let text = "syntax = \"proto2\"; message M { optional bytes b = 1 [default = \"x\"]; }";
        let file = protox::file::File::from_source("m.proto", text).expect("schema should be valid");
        let mut file = prost_reflect::prost_types::FileDescriptorProto::from(file);
        file.message_type[0].field[0].default_value = Some("\\x\u{20ac}".to_owned());
        let refused = Schema::of_grpc(&FileDescriptorSet { file: vec![file] }.encode_to_vec()).err();
        let text = refused.expect("malformed default should be rejected").to_string();
        assert_eq!(text, "the schema of the server cannot be read: it is malformed");
    }
}
