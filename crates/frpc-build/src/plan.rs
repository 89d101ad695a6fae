//! Operation numbers of a schema's methods, and the wire layouts of its services.

use polyglot::layout::{DESCRIPTION_MAX, Described, Description, Fingerprint, TypeLayout};
use prost_types::method_options::IdempotencyLevel;
use prost_types::{FileDescriptorProto, MethodDescriptorProto, MethodOptions, ServiceDescriptorProto};

use crate::codec::Codec;
use crate::error::{Error, ErrorKind};
use crate::operations::{OperationOptions, Operations, number};
use crate::schema::{Schema, full_name, tag, within};

/// Operation numbers of all methods in a schema, and the wire layouts of its services.
#[derive(Debug, Default)]
pub struct Plan {
    operations: Operations,
    pub(crate) layouts: Vec<Layout>,
}

/// The wire layout of a service, which peers compare before calls.
///
/// Peers with equal fingerprints can communicate directly. Otherwise one of them translates messages, using the
/// descriptions of both layouts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    service: String,
    /// Names of the methods with their operation numbers and idempotency, sorted by number.
    methods: Vec<(String, u16, IdempotencyLevel)>,
    description: Vec<u8>,
    names: String,
}

impl Layout {
    /// Returns the full name of the service.
    pub fn service(&self) -> &str {
        &self.service
    }

    /// Returns an iterator over the service's methods in the order of operation numbers. Each item consists of the
    /// name, the operation number and the declared idempotency.
    pub fn methods(&self) -> impl Iterator<Item = (&str, u16, IdempotencyLevel)> {
        self.methods.iter().map(|(name, operation, level)| (name.as_str(), *operation, *level))
    }

    /// Returns the encoded description of the service's methods and messages.
    pub fn description(&self) -> &[u8] {
        &self.description
    }

    /// Returns the fingerprint of the layout's description.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.description)
    }

    /// Returns the names of the types and fields in the description, with one line for each type.
    pub fn names(&self) -> &str {
        &self.names
    }
}

impl Plan {
    /// Assigns operation numbers to the methods of a checked schema and computes the wire layouts of its services.
    ///
    /// # Errors
    ///
    /// If options are wrong, too few operations are left, or a description would be too long.
    pub(crate) fn new(schema: &Schema, options: &OperationOptions, codec: Codec) -> Result<Self, Error> {
        let is_numbered = |file: &&FileDescriptorProto| {
            !schema.is_import(file) || (!file.service.is_empty() && schema.is_generated(file))
        };
        let files: Vec<_> = schema.files.iter().filter(is_numbered).filter(|file| !file.service.is_empty()).collect();
        let operations = number(schema, &files, options)?;
        let mut layouts = Vec::new();
        let types = polyglot::layout::Schema::new(&schema.files);
        for file in files {
            let numbered = operations.get(file.name()).into_iter().flatten();
            for (at, (service, operations)) in file.service.iter().zip(numbered).enumerate() {
                let position = || schema.position(file, &within(&[], tag::FILE_SERVICE, at));
                let layout = layout(&types, file, service, operations, codec)
                    .map_err(|error| Error::unsupported(position(), error))?;
                layouts.push(layout);
            }
        }
        Ok(Self { operations, layouts })
    }

    /// Returns the operation numbers of a file's methods, one slice for each service. Services and methods are in the
    /// order of declaration.
    pub fn operations<'a>(&'a self, file: &FileDescriptorProto) -> impl Iterator<Item = &'a [u16]> + use<'a> {
        self.operations.get(file.name()).into_iter().flatten().map(Vec::as_slice)
    }

    /// Returns the wire layouts of all services that the build generates code for.
    pub fn layouts(&self) -> &[Layout] {
        &self.layouts
    }

    /// Returns the wire layout of the service with this full name.
    ///
    /// # Errors
    ///
    /// If the schema has no such service.
    pub fn layout(&self, service: &str) -> Result<&Layout, Error> {
        self.layouts.iter().find(|layout| layout.service() == service).ok_or_else(|| {
            Error::new(ErrorKind::Unsupported, format!("the layout of the service `{service}` was not described"))
        })
    }
}

/// Computes the wire layout of a service. `operations` contains the operation numbers of its methods in the order of
/// declaration.
fn layout(
    types: &polyglot::layout::Schema<'_>,
    file: &FileDescriptorProto,
    service: &ServiceDescriptorProto,
    operations: &[u16],
    codec: Codec,
) -> Result<Layout, String> {
    let name = full_name(file.package(), service.name());
    let mut methods: Vec<(&MethodDescriptorProto, u16)> =
        service.method.iter().zip(operations.iter().copied()).collect();
    methods.sort_by_key(|(_, operation)| *operation);
    let described = types.service(&name, methods.iter().map(|(method, _)| *method));
    let Described { mut description, names } = described.map_err(|error| error.to_string())?;
    if codec == Codec::Protobuf {
        description = without_messages(description);
    }
    let encoded = description.encode();
    if encoded.len() > DESCRIPTION_MAX {
        let length = encoded.len();
        return Err(format!("the messages of {name} are described by {length} bytes, of at most {DESCRIPTION_MAX}"));
    }
    let level = |method: &MethodDescriptorProto| {
        method.options.as_ref().map_or(IdempotencyLevel::IdempotencyUnknown, MethodOptions::idempotency_level)
    };
    let methods = methods.into_iter().map(|(method, number)| (method.name().to_owned(), number, level(method)));
    let methods = methods.collect();
    Ok(Layout { service: name, methods, description: encoded, names })
}

/// Removes the messages from a service description, so that peers never translate them. Protobuf-encoded messages need
/// no translation, because they contain the numbers of their fields. Also appends ` (protobuf)` to the name. This
/// changes the fingerprint, so that peers with different encodings of the same service detect the mismatch.
fn without_messages(mut description: Description) -> Description {
    description.name.push_str(" (protobuf)");
    description.types = vec![TypeLayout::Message(Vec::new())];
    for method in &mut description.methods {
        (method.request, method.reply) = (0, 0);
    }
    if description.methods.is_empty() {
        description.types.clear();
    }
    description
}
