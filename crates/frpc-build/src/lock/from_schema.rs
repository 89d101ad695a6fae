//! Creates a record from a schema.

use prost_types::field_descriptor_proto::{Label, Type as Declared};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto};

use super::operations::Operations;
use super::record::{Enum, Field, File, Message, Method, Origin, Record, Service, Shape, Side, Type, Value};
use super::scope::Member;
use crate::schema::wire_order::oneof_of;
use crate::schema::{Index, full_name, is_map_entry, tag, within};

/// Records the services, messages and enums of `files`, and all types that they use.
pub(crate) fn record_of(files: &[Member<'_>], operations: &Operations, index: &Index<'_>) -> Record {
    let mut record = Record::default();
    let mut open: Vec<String> = Vec::new();
    for Member { name, proto: file } in files {
        let operations = operations.get(file.name()).map_or(&[][..], Vec::as_slice);
        let services = file.service.iter().zip(operations).enumerate();
        let services = services.map(|(at, (service, operations))| {
            let path = within(&[], tag::FILE_SERVICE, at);
            let methods = service.method.iter().zip(operations).enumerate().map(|(at, (method, operation))| Method {
                operation: *operation,
                name: method.name().to_owned(),
                request: Side { is_stream: method.client_streaming(), message: bare(method.input_type()) },
                reply: Side { is_stream: method.server_streaming(), message: bare(method.output_type()) },
                origin: Origin::Schema(file.name().to_owned(), within(&path, tag::SERVICE_METHOD, at)),
            });
            let mut methods: Vec<_> = methods.collect();
            methods.sort_by_key(|method| method.operation);
            Service {
                name: full_name(file.package(), service.name()),
                methods,
                origin: Origin::Schema(file.name().to_owned(), path),
                ..Service::default()
            }
        });
        let services: Vec<_> = services.collect();
        open.extend(services.iter().flat_map(Service::roots).map(str::to_owned));
        record.files.push(File { name: name.clone(), services, removed: Vec::new() });
        let is_declared_here = |found: &FileDescriptorProto| std::ptr::eq(found, *file);
        let messages =
            index.messages.iter().filter(|(_, found)| is_declared_here(found.file) && !is_map_entry(found.proto));
        open.extend(messages.map(|(name, _)| bare(name)));
        open.extend(index.enums.iter().filter(|(_, found)| is_declared_here(found.file)).map(|(name, _)| bare(name)));
    }
    while let Some(name) = open.pop() {
        if record.messages.contains_key(&name) || record.enums.contains_key(&name) {
            continue;
        }
        let dotted = format!(".{name}");
        if let Some(found) = index.messages.get(&dotted) {
            let message = message(found.proto, found.file, &found.path, index);
            open.extend(message.fields.iter().filter_map(|field| field.shape.of().name()).map(str::to_owned));
            record.messages.insert(name, message);
        } else if let Some(found) = index.enums.get(&dotted) {
            let value = |(at, value): (usize, &prost_types::EnumValueDescriptorProto)| Value {
                name: value.name().to_owned(),
                number: value.number(),
                origin: Origin::Schema(found.file.name().to_owned(), within(&found.path, tag::ENUM_VALUE, at)),
            };
            let values = found.proto.value.iter().enumerate().map(value).collect();
            let origin = Origin::Schema(found.file.name().to_owned(), found.path.clone());
            record.enums.insert(name, Enum { values, origin });
        }
    }
    record
}

fn message(proto: &DescriptorProto, file: &FileDescriptorProto, path: &[i32], index: &Index<'_>) -> Message {
    let fields = index.in_wire_order(proto).into_iter().map(|field| {
        let at = proto
            .field
            .iter()
            .position(|declared| std::ptr::eq(declared, field))
            .expect("field should belong to the message");
        let shape = match (index.map_entry(field), oneof_of(field)) {
            (Some(entry), _) => Shape::Map(type_of(&entry.field[0]), type_of(&entry.field[1])),
            _ if field.label() == Label::Repeated => Shape::Repeated(type_of(field)),
            (_, Some(oneof)) => {
                let before = proto.field[..=at].iter().filter(|field| oneof_of(field) == Some(oneof)).count();
                let member = u32::try_from(before).expect("value should fit u32");
                Shape::Member { oneof: proto.oneof_decl[oneof].name().to_owned(), member, of: type_of(field) }
            }
            // Message fields are always optional.
            _ if field.proto3_optional() && field.r#type() != Declared::Message => Shape::Optional(type_of(field)),
            _ => Shape::Single(type_of(field)),
        };
        Field {
            name: field.name().to_owned(),
            number: field.number(),
            shape,
            is_added: false,
            origin: Origin::Schema(file.name().to_owned(), within(path, tag::MESSAGE_FIELD, at)),
        }
    });
    Message { fields: fields.collect(), origin: Origin::Schema(file.name().to_owned(), path.to_vec()) }
}

fn type_of(field: &FieldDescriptorProto) -> Type {
    Type::Scalar(match field.r#type() {
        Declared::Bool => "bool",
        Declared::Int32 | Declared::Sint32 | Declared::Sfixed32 => "i32",
        Declared::Int64 | Declared::Sint64 | Declared::Sfixed64 => "i64",
        Declared::Uint32 | Declared::Fixed32 => "u32",
        Declared::Uint64 | Declared::Fixed64 => "u64",
        Declared::Float => "f32",
        Declared::Double => "f64",
        Declared::String => "string",
        Declared::Bytes => "bytes",
        Declared::Enum => return Type::Enum(bare(field.type_name())),
        Declared::Message | Declared::Group => return Type::Message(bare(field.type_name())),
    })
}

fn bare(name: &str) -> String {
    name.trim_start_matches('.').to_owned()
}
