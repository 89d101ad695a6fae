//! Traverses the items of a file with their full names and descriptor paths.

use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto, MethodDescriptorProto,
};

use crate::schema::{full_name, tag, within};

/// A schema item that [`walk`] visits.
pub(crate) enum Item<'a> {
    Message(&'a DescriptorProto),
    /// A field and its message, which may be the hidden entry type of a map.
    Field(&'a DescriptorProto, &'a FieldDescriptorProto),
    Oneof,
    Enum(&'a EnumDescriptorProto),
    Value,
    Service,
    Method(&'a MethodDescriptorProto),
}

type Visit<'v, 'a> = &'v mut dyn FnMut(Item<'a>, &str, &[i32]);

/// Calls `visit` with each item of a file, its full name and its descriptor path. The names of enum values include the
/// enum.
pub(crate) fn walk<'a>(file: &'a FileDescriptorProto, visit: Visit<'_, 'a>) {
    let package = file.package();
    each(&file.message_type, &[], tag::FILE_MESSAGE, |message, path| walk_message(message, package, path, visit));
    each(&file.enum_type, &[], tag::FILE_ENUM, |proto, path| walk_enum(proto, package, path, visit));
    each(&file.service, &[], tag::FILE_SERVICE, |service, path| {
        let name = full_name(package, service.name());
        visit(Item::Service, &name, path);
        each(&service.method, path, tag::SERVICE_METHOD, |method, path| {
            visit(Item::Method(method), &full_name(&name, method.name()), path);
        });
    });
}

fn walk_message<'a>(message: &'a DescriptorProto, scope: &str, path: &[i32], visit: Visit<'_, 'a>) {
    let name = full_name(scope, message.name());
    visit(Item::Message(message), &name, path);
    each(&message.field, path, tag::MESSAGE_FIELD, |field, path| {
        visit(Item::Field(message, field), &full_name(&name, field.name()), path);
    });
    each(&message.oneof_decl, path, tag::MESSAGE_ONEOF, |oneof, path| {
        visit(Item::Oneof, &full_name(&name, oneof.name()), path);
    });
    each(&message.nested_type, path, tag::MESSAGE_MESSAGE, |nested, path| walk_message(nested, &name, path, visit));
    each(&message.enum_type, path, tag::MESSAGE_ENUM, |nested, path| walk_enum(nested, &name, path, visit));
}

fn walk_enum<'a>(proto: &'a EnumDescriptorProto, scope: &str, path: &[i32], visit: Visit<'_, 'a>) {
    let name = full_name(scope, proto.name());
    visit(Item::Enum(proto), &name, path);
    each(&proto.value, path, tag::ENUM_VALUE, |value, path| {
        visit(Item::Value, &full_name(&name, value.name()), path);
    });
}

/// Calls `visit` with each descriptor in a list and its descriptor path.
fn each<'a, T>(list: &'a [T], path: &[i32], tag: i32, mut visit: impl FnMut(&'a T, &[i32])) {
    list.iter().enumerate().for_each(|(at, item)| visit(item, &within(path, tag, at)));
}
