//! The order in which a message's fields stand on the wire.
//!
//! Three groups, each in declaration order: first single scalars, strings, bytes and enums (members of a oneof and
//! `optional` fields included), then repeated fields, then single messages and maps. Field numbers play no part.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

/// The fields of `message` in wire order.
pub(crate) fn in_wire_order(
    message: &DescriptorProto,
    is_map: impl Fn(&FieldDescriptorProto) -> bool,
) -> Vec<&FieldDescriptorProto> {
    let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
    fields.sort_by_key(|field| group(field, is_map(field))); // Stable: declaration order within each group.
    fields
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Single,
    Repeated,
    MessageOrMap,
}

fn group(field: &FieldDescriptorProto, is_map: bool) -> Group {
    match (field.label(), field.r#type()) {
        (Label::Repeated, _) if is_map => Group::MessageOrMap,
        (Label::Repeated, _) => Group::Repeated,
        (_, Type::Message) => Group::MessageOrMap,
        _ => Group::Single,
    }
}

/// The index in `oneof_decl` of the oneof that `field` is a member of. `optional` fields have a hidden oneof of their
/// own, which does not count.
pub(crate) fn oneof_of(field: &FieldDescriptorProto) -> Option<usize> {
    if field.proto3_optional() { None } else { field.oneof_index.and_then(|index| usize::try_from(index).ok()) }
}
