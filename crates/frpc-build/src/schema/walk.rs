//! The items of a file, with their full names and descriptor paths.

use prost_types::{
    DescriptorProto, EnumDescriptorProto, EnumValueDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    MethodDescriptorProto, OneofDescriptorProto, ServiceDescriptorProto,
};

use crate::schema::{full_name, tag, within};

/// An item of a file.
pub(crate) enum Item<'a> {
    Message(&'a DescriptorProto),
    /// With its message, which may be the entry of a map.
    Field(&'a DescriptorProto, &'a FieldDescriptorProto),
    Oneof(&'a OneofDescriptorProto),
    Enum(&'a EnumDescriptorProto),
    Value(&'a EnumValueDescriptorProto),
    Service(&'a ServiceDescriptorProto),
    Method(&'a MethodDescriptorProto),
}

/// Calls `visit` with each item of a file, its full name and its descriptor path. Values of an enum are named within it.
pub(crate) fn walk<'a>(file: &'a FileDescriptorProto, visit: &mut dyn FnMut(Item<'a>, &str, &[i32])) {
    let package = file.package();
    for (at, message) in file.message_type.iter().enumerate() {
        walk_message(message, package, &within(&[], tag::FILE_MESSAGE, at), visit);
    }
    for (at, proto) in file.enum_type.iter().enumerate() {
        walk_enum(proto, package, &within(&[], tag::FILE_ENUM, at), visit);
    }
    for (at, service) in file.service.iter().enumerate() {
        let (name, path) = (full_name(package, service.name()), within(&[], tag::FILE_SERVICE, at));
        visit(Item::Service(service), &name, &path);
        for (at, method) in service.method.iter().enumerate() {
            let path = within(&path, tag::SERVICE_METHOD, at);
            visit(Item::Method(method), &full_name(&name, method.name()), &path);
        }
    }
}

fn walk_message<'a>(
    message: &'a DescriptorProto,
    scope: &str,
    path: &[i32],
    visit: &mut dyn FnMut(Item<'a>, &str, &[i32]),
) {
    let name = full_name(scope, message.name());
    visit(Item::Message(message), &name, path);
    for (at, field) in message.field.iter().enumerate() {
        let path = within(path, tag::MESSAGE_FIELD, at);
        visit(Item::Field(message, field), &full_name(&name, field.name()), &path);
    }
    for (at, oneof) in message.oneof_decl.iter().enumerate() {
        visit(Item::Oneof(oneof), &full_name(&name, oneof.name()), &within(path, tag::MESSAGE_ONEOF, at));
    }
    for (at, nested) in message.nested_type.iter().enumerate() {
        walk_message(nested, &name, &within(path, tag::MESSAGE_MESSAGE, at), visit);
    }
    for (at, nested) in message.enum_type.iter().enumerate() {
        walk_enum(nested, &name, &within(path, tag::MESSAGE_ENUM, at), visit);
    }
}

fn walk_enum<'a>(
    proto: &'a EnumDescriptorProto,
    scope: &str,
    path: &[i32],
    visit: &mut dyn FnMut(Item<'a>, &str, &[i32]),
) {
    let name = full_name(scope, proto.name());
    visit(Item::Enum(proto), &name, path);
    for (at, value) in proto.value.iter().enumerate() {
        visit(Item::Value(value), &full_name(&name, value.name()), &within(path, tag::ENUM_VALUE, at));
    }
}
