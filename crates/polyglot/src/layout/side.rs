//! Types of a description as one peer reads or writes them. In the flat form, the members of a oneof are separate
//! fields. Map entries are messages in both forms.

use super::description::{Description, Field, Shape, Type, TypeLayout};
use crate::Form;
use std::collections::HashMap;

/// Types of one peer, the writer or the reader, with their fields as they are arranged on the wire.
pub(super) struct Side {
    /// Items of each type in the description, followed by the items of the entries of each map. Enums have no items.
    pub(super) nodes: Vec<Vec<Item>>,
    /// Fields 1 and 2 of each node, which are the key and the value if it is the type of a map's entries. A search of
    /// the node for each map would take quadratic time with a hostile description.
    parts: Vec<[Option<Field>; 2]>,
    /// Numbers that each enum of the description declares, by type index.
    pub(super) enums: Vec<Vec<i32>>,
    /// Index of the number 0 in each enum that declares it, by type index. A search of the enum for each of its fields
    /// would take quadratic time with a hostile description.
    zeros: Vec<Option<usize>>,
    pub(super) form: Form,
}

/// A field as it is encoded on the wire. In the extended encoding, a whole oneof is one item.
pub(super) struct Item {
    pub(super) place: Place,
    /// The field itself. For a oneof, its members in the order of their indexes.
    pub(super) fields: Vec<Field>,
    /// Index of the oneof, if the item is a oneof or a oneof member.
    pub(super) oneof: Option<u16>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Implicit,
    Optional,
    List,
    /// A map. Contains the index in [`Side::nodes`] of the type of its entries.
    Map(u32),
    Oneof,
}

impl Side {
    pub(super) fn new(description: &Description, form: Form) -> Self {
        let mut nodes = Vec::with_capacity(description.types.len());
        let mut entries = Vec::new();
        for found in &description.types {
            let TypeLayout::Message(fields) = found else {
                nodes.push(Vec::new());
                continue;
            };
            let mut items: Vec<Item> = Vec::with_capacity(fields.len());
            // Indexes in `items`. A search of `items` would take quadratic time with a hostile description.
            let mut oneofs = HashMap::new();
            for field in fields {
                let mut oneof = None;
                let place = match field.shape {
                    Shape::Implicit => Place::Implicit,
                    Shape::Optional => Place::Optional,
                    Shape::Repeated => Place::List,
                    Shape::Map(key) => {
                        let entry = description.types.len().wrapping_add(entries.len()) as u32; // Below 2^16.
                        entries.push(entry_of(key, field.of));
                        Place::Map(entry)
                    }
                    Shape::Member { oneof: of, .. } if form == Form::Extended => {
                        // A oneof is encoded at the position of its first member.
                        let index = *oneofs.entry(of).or_insert(items.len());
                        if let Some(item) = items.get_mut(index) {
                            item.fields.push(*field);
                            continue;
                        }
                        oneof = Some(of);
                        Place::Oneof
                    }
                    Shape::Member { oneof: of, .. } => {
                        oneof = Some(of);
                        if matches!(field.of, Type::Message(_)) { Place::Optional } else { Place::Implicit }
                    }
                };
                items.push(Item { place, fields: vec![*field], oneof });
            }
            for item in &mut items {
                item.fields.sort_by_key(|field| match field.shape {
                    Shape::Member { member, .. } => member,
                    _ => 0,
                });
            }
            nodes.push(items);
        }
        nodes.append(&mut entries);
        let part = |items: &Vec<Item>, number| {
            items.iter().flat_map(|item| &item.fields).find(|field| field.number == number).copied()
        };
        let parts = nodes.iter().map(|items| [1, 2].map(|number| part(items, number))).collect();
        let numbers = |found: &TypeLayout| match found {
            TypeLayout::Message(_) => Vec::new(),
            TypeLayout::Enum(numbers) => numbers.clone(),
        };
        let enums: Vec<Vec<i32>> = description.types.iter().map(numbers).collect();
        let zeros = enums.iter().map(|numbers| numbers.iter().position(|number| *number == 0)).collect();
        Self { nodes, parts, enums, zeros, form }
    }

    pub(super) fn items(&self, node: u32) -> &[Item] {
        self.nodes.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the fields 1 and 2 of a message or a map's entry.
    pub(super) fn entry_parts(&self, node: u32) -> [Option<Field>; 2] {
        self.parts.get(node as usize).copied().unwrap_or_default()
    }

    pub(super) fn numbers(&self, of: u16) -> &[i32] {
        self.enums.get(usize::from(of)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn has_oneofs(&self) -> bool {
        self.nodes.iter().flatten().any(|item| item.oneof.is_some())
    }

    /// Appends the encoding of an item that is not set in the message.
    pub(super) fn put_default(&self, item: &Item, out: &mut Vec<u8>) {
        let of = item.fields.first().map_or(Type::Bool, |field| field.of);
        let kind = of.kind().byte();
        match (item.place, of) {
            (Place::Oneof, _) => out.extend_from_slice(&[3, 0]),
            (Place::List, _) => out.extend_from_slice(&[1, kind, 0x0a, 0]),
            (Place::Map(entry), _) => {
                let [key, value] = self.entry_kinds(entry);
                out.extend_from_slice(&[2, key, value, 0x0a, 0]);
            }
            (_, Type::Message(_)) => out.push(0),
            (Place::Optional, _) if self.form == Form::Extended => out.push(0),
            (_, Type::Enum(of)) => match self.zeros.get(of as usize).copied().flatten() {
                Some(index) => crate::varint::write(out, 0x0a, index as u64),
                // Only enums of proto2 can lack the number 0. The extended encoding represents the number itself, and
                // the flat encoding requires the index of a declared value.
                None => out.extend_from_slice(&[if self.form == Form::Extended { 0x0c } else { 0x0a }, 0]),
            },
            (_, Type::String | Type::Bytes) => out.extend_from_slice(&[kind, 0x0a, 0]),
            (_, Type::Float) => out.extend_from_slice(&[kind, 0, 0, 0, 0]),
            (_, Type::Double) => out.extend_from_slice(&[kind, 0, 0, 0, 0, 0, 0, 0, 0]),
            _ => out.extend_from_slice(&[kind, 0]),
        }
    }

    /// Returns the two kind bytes in the header of a map: the types of its keys and its values.
    pub(super) fn entry_kinds(&self, entry: u32) -> [u8; 2] {
        let kind =
            |item: Option<&Item>| item.and_then(|item| item.fields.first()).map_or(0, |field| field.of.kind().byte());
        let items = self.items(entry);
        [kind(items.first()), kind(items.last())]
    }
}

/// Returns the items of a map's entry. As in protobuf, the key has the field number 1 and the value has 2.
fn entry_of(key: Type, value: Type) -> Vec<Item> {
    let item = |number, place, of| {
        let shape = if place == Place::Optional { Shape::Optional } else { Shape::Implicit };
        Item { place, fields: vec![Field { number, shape, of }], oneof: None }
    };
    let place = if matches!(value, Type::Message(_)) { Place::Optional } else { Place::Implicit };
    vec![item(1, Place::Implicit, key), item(2, place, value)]
}
