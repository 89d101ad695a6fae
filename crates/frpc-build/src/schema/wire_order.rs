//! The order of fields on the wire.
//!
//! Singular scalars, strings, bytes and enums (including members of oneofs and `optional` fields) come first, then
//! repeated fields, then singular messages and maps. Each group is in the order of declaration. Field numbers have no
//! influence.

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

use crate::schema::Index;

impl Index<'_> {
    /// Returns the fields of a message in the encoding order of the Polyglot codec.
    pub fn in_wire_order<'m>(&self, message: &'m DescriptorProto) -> Vec<&'m FieldDescriptorProto> {
        let mut fields: Vec<&FieldDescriptorProto> = message.field.iter().collect();
        // The sort is stable and keeps the declaration order within each group.
        fields.sort_by_key(|field| match (field.label(), field.r#type()) {
            (_, Type::Message) if field.label() != Label::Repeated || self.map_entry(field).is_some() => 2,
            (Label::Repeated, _) => 1,
            _ => 0,
        });
        fields
    }
}

/// Returns the index in `oneof_decl` of the oneof that contains `field`, or `None` for the synthetic oneof of an
/// `optional` field.
pub fn oneof_of(field: &FieldDescriptorProto) -> Option<usize> {
    if field.proto3_optional() { None } else { field.oneof_index.and_then(|index| usize::try_from(index).ok()) }
}
