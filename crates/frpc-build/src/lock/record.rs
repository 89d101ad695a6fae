//! What a lock records: the wire layout of services, messages and enums. Read from a schema in
//! `from_schema.rs`, from a file in `text.rs`.
//!
//! Only what the wire depends on is in it, and the names by which a reader, and the next build, know it again: types
//! are those of the wire (`int32`, `sint32` and `sfixed32` are all `i32`), fields stand in wire order.

use std::collections::{BTreeMap, BTreeSet};

use super::fingerprint::Fingerprint;
use crate::codec::Codec;

/// All that one lock file holds. Names are full names without a leading dot.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) codec: Codec,
    pub(crate) files: Vec<File>,
    /// Services that are gone, with the generation that they have if they come back.
    pub(crate) removed_services: BTreeMap<String, u32>,
    pub(crate) messages: BTreeMap<String, Message>,
    pub(crate) enums: BTreeMap<String, Enum>,
}

impl Record {
    /// Says how messages stand in bodies. Fields that protobuf keeps apart need no record.
    pub(crate) fn set_codec(&mut self, codec: Codec) {
        self.codec = codec;
        if codec == Codec::Polyglot {
            return;
        }
        self.messages.values_mut().for_each(|message| message.fields.clear());
        self.enums.values_mut().for_each(|found| found.values.clear());
    }
}

/// One .proto file: the scope in which operations are numbered.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) services: Vec<Service>,
    /// Operations of methods that are gone, or in another file now, with their names. Never given out again by
    /// `Numbering::Lock`.
    pub(crate) removed: Vec<(u16, String)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Service {
    pub(crate) name: String,
    /// By operation.
    pub(crate) methods: Vec<Method>,
    /// How often it was broken. Tells layouts apart that look alike and mean something else.
    pub(crate) generation: u32,
    /// Of earlier layouts whose peers are still understood, oldest first.
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
    /// In wire order.
    pub(crate) fields: Vec<Field>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) number: i32,
    pub(crate) shape: Shape,
    /// Whether it was appended after the message was first recorded, so that compatible peers may not send it.
    pub(crate) is_added: bool,
    pub(crate) origin: Origin,
}

/// How a field stands on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Single(Type),
    Optional(Type),
    /// The member of a oneof, counted from 1 in the order of declaration.
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
    /// By index.
    pub(crate) values: Vec<Value>,
    pub(crate) origin: Origin,
}

#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) number: i32,
    pub(crate) origin: Origin,
}

/// Where a record was read.
#[derive(Clone, Debug)]
pub(crate) enum Origin {
    /// In a lock, at this line.
    Lock(u32),
    /// In the schema: the name of a file, and a descriptor path in it.
    Schema(String, Vec<i32>),
}

impl Default for Origin {
    fn default() -> Self {
        Self::Lock(0)
    }
}

impl Record {
    /// The services of all files.
    pub(crate) fn services(&self) -> impl Iterator<Item = &Service> {
        self.files.iter().flat_map(|file| &file.services)
    }

    pub(crate) fn service(&self, name: &str) -> Option<&Service> {
        self.services().find(|service| service.name == name)
    }

    /// The files that a file called `name` goes on from: itself, and those that its services have come from.
    pub(crate) fn origins<'a>(&'a self, name: &str, has: impl Fn(&str) -> bool) -> impl Iterator<Item = &'a File> {
        self.files.iter().filter(move |file| file.name == name || file.services.iter().any(|it| has(&it.name)))
    }

    /// The messages and enums that `roots` are made of, `roots` included.
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

    /// The messages that stand inside of others, each with one field that holds it.
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
    /// The messages of all requests and replies.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        self.methods.iter().flat_map(|method| [method.request.message.as_str(), method.reply.message.as_str()])
    }
}

impl Shape {
    /// The type of the value, of an element, or of a map's values.
    pub(crate) fn of(&self) -> &Type {
        match self {
            Self::Single(of) | Self::Optional(of) | Self::Member { of, .. } | Self::Repeated(of) | Self::Map(_, of) => {
                of
            }
        }
    }
}

impl Type {
    /// The name of a message or an enum.
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Self::Scalar(_) => None,
            Self::Enum(name) | Self::Message(name) => Some(name),
        }
    }
}
