//! The order of fields on the wire.
//!
//! Single scalars, strings, bytes and enums (including members of oneofs and `optional` fields) come first, then
//! repeated fields, then single messages and maps, each group in the order of declaration. Field numbers have no
//! influence.

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

/// The index in `oneof_decl` of the oneof that contains `field`. The hidden oneof of an `optional` field does not
/// count.
pub(crate) fn oneof_of(field: &FieldDescriptorProto) -> Option<usize> {
    if field.proto3_optional() { None } else { field.oneof_index.and_then(|index| usize::try_from(index).ok()) }
}
