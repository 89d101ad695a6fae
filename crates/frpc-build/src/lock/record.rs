//! The content of a lock: the wire layout of services, messages and enums. `from_schema.rs` creates it from a schema
//! and `text.rs` from a file.
//!
//! A record contains only what determines the wire layout, and the names and numbers by which the next build matches
//! items. Types are those of the wire (`int32`, `sint32` and `sfixed32` are all `i32`), and fields are in wire order.

use std::collections::{BTreeMap, BTreeSet};

use super::layout::Fingerprint;
use crate::codec::Codec;

/// The content of a lock file. Names are full names without a leading dot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) codec: Codec,
    pub(crate) files: Vec<File>,
    /// Removed services, with the generation that they get when they are added again.
    pub(crate) removed_services: BTreeMap<String, u32>,
    pub(crate) messages: BTreeMap<String, Message>,
    pub(crate) enums: BTreeMap<String, Enum>,
}

impl Record {
    /// Sets the codec. With protobuf, fields and values are not recorded.
    pub(crate) fn set_codec(&mut self, codec: Codec) {
        self.codec = codec;
        if codec == Codec::Polyglot {
            return;
        }
        self.messages.values_mut().for_each(|message| message.fields.clear());
        self.enums.values_mut().for_each(|found| found.values.clear());
    }
}

/// A .proto file. Operations are assigned per file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) services: Vec<Service>,
    /// Operations and names of methods that were removed or moved to another file. `Numbering::Lock` does not reuse
    /// these operations.
    pub(crate) removed: Vec<(u16, String)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Service {
    pub(crate) name: String,
    /// The methods in the order of operations.
    pub(crate) methods: Vec<Method>,
    /// Number of breaking changes. It distinguishes layouts that look alike but differ in meaning.
    pub(crate) generation: u32,
    /// The fingerprints of earlier layouts that are still compatible, oldest first.
    pub(crate) compatible: Vec<Fingerprint>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub(crate) operation: u16,
    pub(crate) name: String,
    pub(crate) request: Side,
    pub(crate) reply: Side,
    pub(crate) origin: Origin,
}

/// The request or the reply of a method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    pub(crate) is_stream: bool,
    pub(crate) message: String,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Message {
    /// The fields in wire order.
    pub(crate) fields: Vec<Field>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) number: i32,
    pub(crate) shape: Shape,
    /// Whether the field was appended after the message was first recorded, so that compatible peers may not send it.
    pub(crate) is_added: bool,
    pub(crate) origin: Origin,
}

/// The kind of a field on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Single(Type),
    Optional(Type),
    /// A member of a oneof. Members are numbered from 1 in the order of declaration.
    Member {
        oneof: String,
        member: u32,
        of: Type,
    },
    Repeated(Type),
    Map(Type, Type),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// One of [`SCALARS`].
    Scalar(&'static str),
    Enum(String),
    Message(String),
}

/// The scalars of the wire.
pub(crate) const SCALARS: [&str; 9] = ["bool", "i32", "i64", "u32", "u64", "f32", "f64", "string", "bytes"];

#[derive(Clone, Debug, Default)]
pub(crate) struct Enum {
    /// The values in the order of indexes.
    pub(crate) values: Vec<Value>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) number: i32,
    pub(crate) origin: Origin,
}

/// The position of an item in its record.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// A line of the lock.
    Lock(u32),
    /// The name of a schema file, and a descriptor path.
    Schema(String, Vec<i32>),
}

impl Default for Origin {
    fn default() -> Self {
        Self::Lock(0)
    }
}

impl Record {
    /// Returns the services of all files.
    pub(crate) fn services(&self) -> impl Iterator<Item = &Service> {
        self.files.iter().flat_map(|file| &file.services)
    }

    pub(crate) fn service(&self, name: &str) -> Option<&Service> {
        self.services().find(|service| service.name == name)
    }

    /// Returns the recorded files with methods of the file `name`: the file itself, and those from which its services
    /// were moved.
    pub(crate) fn origins<'a>(&'a self, name: &str, has: impl Fn(&str) -> bool) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.name == name || file.services.iter().any(|it| has(&it.name)))
    }

    /// Returns the messages and enums that `roots` contain, including `roots`.
    pub(crate) fn reach<'a>(&'a self, roots: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = roots.into_iter().collect();
        while let Some(name) = open.pop() {
            if reached.insert(name)
                && let Some(message) = self.messages.get(name)
            {
                open.extend(message.fields.iter().filter_map(|field| field.shape.of().name()));
            }
        }
        reached
    }

    /// Returns the messages that are nested in others, each with one such field.
    pub(crate) fn nested(&self) -> BTreeMap<&str, String> {
        let mut nested = BTreeMap::new();
        for (owner, message) in &self.messages {
            for field in &message.fields {
                if let Type::Message(name) = field.shape.of() {
                    nested.entry(name.as_str()).or_insert_with(|| format!("{owner}.{}", field.name));
                }
            }
        }
        nested
    }
}

impl File {
    pub(crate) fn has(&self, service: &str, method: &str) -> bool {
        self.services.iter().filter(|it| it.name == service).any(|it| it.methods.iter().any(|it| it.name == method))
    }
}

impl Service {
    /// Returns the messages of all requests and replies.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().flat_map(|method| [method.request.message.as_str(), method.reply.message.as_str()])
    }
}

impl Shape {
    /// Returns the type of the value, of the elements of a list, or of the values of a map.
    pub(crate) fn of(&self) -> &Type {
        match self {
            Self::Single(of) | Self::Optional(of) | Self::Member { of, .. } | Self::Repeated(of) | Self::Map(_, of) => {
                of
            }
        }
    }
}

impl Type {
    /// Returns the name, if this is a message or enum.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Scalar(_) => None,
            Self::Enum(name) | Self::Message(name) => Some(name),
        }
    }
}
