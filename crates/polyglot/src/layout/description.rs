//! [`Description`]: the layout of a service or message as data that peers exchange, and its encoding.

use super::Fingerprint;
use crate::Kind;
use std::fmt;

/// The layout of a service, or of a message, with all types that it uses.
///
/// The encoding is canonical: [`parse`](Self::parse) rejects every other encoding of a description.
///
/// ```text
/// 01                       format
/// t types, in the order of their first use: methods first, then fields
///   00 f  fields in wire order: number, tag, [key type], [oneof, member], [type]
///   01 v  enum values as declared: zigzag difference from the previous number
/// m methods in the order of operations: name, bits (1 client, 2 server streams), request, reply
/// name of the service, or of the message if there are no methods (type 0 is the message)
/// ```
///
/// Numbers are varints, except for the tag and the key type, which are single bytes. Names are preceded by their
/// length. A tag is 32 times the shape (0 implicit, 1 optional, 2 repeated, 3 map, 4 member of a oneof), plus the
/// number of the type in protobuf's descriptors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Full name of the described service or, if there are no methods, of the described message.
    pub name: String,
    /// Layouts of all messages and enums that the description contains, in the order of their first use.
    pub types: Vec<TypeLayout>,
    /// Methods of the service, in the order of their operation numbers.
    pub methods: Vec<Method>,
}

/// Layout of a message or an enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeLayout {
    /// Fields of a message in wire order.
    Message(Vec<Field>),
    /// Numbers of an enum's values, in the order of their declaration.
    Enum(Vec<i32>),
}

/// A field of a message, as described by the message's layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Number of the field in the protobuf schema.
    pub number: u32,
    /// Whether the field is optional, repeated, a map or a oneof member.
    pub shape: Shape,
    /// Type of the field's value. For lists and maps, the type of the elements or values.
    pub of: Type,
}

/// Presence and cardinality of a message's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A single value with implicit presence: whether it is present is not encoded.
    Implicit,
    /// A single value that may be absent, as in an `optional` field or a message field.
    Optional,
    /// A list of values.
    Repeated,
    /// A map with this key type.
    Map(Type),
    /// A member of a oneof.
    Member {
        /// Index of the oneof within its message. The oneofs are counted in the wire order of their first members.
        oneof: u16,
        /// Index of the member in the declaration of the oneof, starting at 1.
        member: u16,
    },
}

/// A method of a service, as described by the service's layout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Method {
    /// Name of the method without its service.
    pub name: String,
    /// Whether the client sends a stream of requests.
    pub client_streams: bool,
    /// Whether the server sends a stream of replies.
    pub server_streams: bool,
    /// Index of the request message in [`Description::types`].
    pub request: u32,
    /// Index of the reply message in [`Description::types`].
    pub reply: u32,
}

/// Defines the field types. The arguments are the Rust name, the protobuf number and name, and the kind byte that marks
/// values on the wire.
macro_rules! types {
    ($($name:ident = $code:literal, $text:literal, $kind:ident;)*) => {
        /// Type of a field's value. Distinguishes the same types as protobuf.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Type {
            $(#[doc = concat!("`", $text, "`.")] $name,)*
            /// A message type, given by its index in [`Description::types`].
            Message(u32),
            /// An enum type, given by its index in [`Description::types`].
            Enum(u32),
        }

        impl Type {
            /// Returns the number that protobuf descriptors use for this type.
            pub(super) const fn code(self) -> u8 {
                match self {
                    $(Self::$name => $code,)*
                    Self::Message(_) => 11,
                    Self::Enum(_) => 14,
                }
            }

            /// Returns the type that has this number in protobuf descriptors. A message or enum type first gets the
            /// index 0, which must be replaced by its actual index.
            pub(super) const fn from_code(code: u8) -> Option<Self> {
                match code {
                    $($code => Some(Self::$name),)*
                    11 => Some(Self::Message(0)),
                    14 => Some(Self::Enum(0)),
                    _ => None,
                }
            }

            /// Returns the kind that marks values of this type on the wire.
            pub(super) const fn kind(self) -> Kind {
                match self {
                    $(Self::$name => Kind::$kind,)*
                    Self::Message(_) => Kind::Any,
                    Self::Enum(_) => Kind::U32,
                }
            }
        }

        impl fmt::Display for Type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$name => $text,)*
                    Self::Message(_) => "message",
                    Self::Enum(_) => "enum",
                })
            }
        }
    };
}

types! {
    Double = 1, "double", F64;
    Float = 2, "float", F32;
    Int64 = 3, "int64", I64;
    Uint64 = 4, "uint64", U64;
    Int32 = 5, "int32", I32;
    Fixed64 = 6, "fixed64", U64;
    Fixed32 = 7, "fixed32", U32;
    Bool = 8, "bool", Bool;
    String = 9, "string", String;
    Bytes = 12, "bytes", Bytes;
    Uint32 = 13, "uint32", U32;
    Sfixed32 = 15, "sfixed32", I32;
    Sfixed64 = 16, "sfixed64", I64;
    Sint32 = 17, "sint32", I32;
    Sint64 = 18, "sint64", I64;
}

impl Type {
    /// Returns the type index that a message or enum type contains, or `None` for other types.
    pub(super) const fn index(self) -> Option<u32> {
        match self {
            Self::Message(index) | Self::Enum(index) => Some(index),
            _ => None,
        }
    }

    /// Returns whether protobuf allows map keys of this type.
    pub(super) const fn is_key(self) -> bool {
        !matches!(self, Self::Double | Self::Float | Self::Bytes | Self::Message(_) | Self::Enum(_))
    }

    /// Sets the type index of a message or enum. Returns other types unchanged.
    pub(super) const fn with_index(self, index: u32) -> Self {
        match self {
            Self::Message(_) => Self::Message(index),
            Self::Enum(_) => Self::Enum(index),
            scalar => scalar,
        }
    }
}

impl Field {
    /// Returns the wire-order group of a field. Single values come first, then lists, then messages and maps.
    pub(super) const fn group(&self) -> u8 {
        match (self.shape, self.of) {
            (Shape::Map(_), _) => 2,
            (Shape::Repeated, _) => 1,
            (_, Type::Message(_)) => 2,
            _ => 0,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shape {
            Shape::Repeated => write!(f, "repeated {}", self.of),
            Shape::Map(key) => write!(f, "map<{key}, {}>", self.of),
            _ => self.of.fmt(f),
        }
    }
}

impl Description {
    /// Encodes the description.
    ///
    /// ```
    /// use polyglot::layout::{Description, Field, Shape, Type, TypeLayout};
    ///
    /// let name = Field { number: 1, shape: Shape::Implicit, of: Type::String };
    /// let types = vec![TypeLayout::Message(vec![name])];
    /// let description = Description { name: "Name".to_owned(), types, methods: Vec::new() };
    /// let bytes = description.encode();
    /// assert_eq!(bytes, b"\x01\x01\x00\x01\x01\x09\x00\x04Name");
    /// assert_eq!(Description::parse(&bytes)?, description);
    /// # Ok::<(), polyglot::layout::DescriptionError>(())
    /// ```
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![1];
        length(&mut out, self.types.len());
        for found in &self.types {
            match found {
                TypeLayout::Message(fields) => {
                    out.push(0);
                    length(&mut out, fields.len());
                    fields.iter().for_each(|field| field.encode(&mut out));
                }
                TypeLayout::Enum(numbers) => {
                    out.push(1);
                    length(&mut out, numbers.len());
                    let mut before = 0;
                    for number in numbers {
                        let step = i64::from(*number).wrapping_sub(before);
                        varint(&mut out, (step.wrapping_shl(1) ^ (step >> 63)).cast_unsigned());
                        before = i64::from(*number);
                    }
                }
            }
        }
        length(&mut out, self.methods.len());
        for method in &self.methods {
            name(&mut out, &method.name);
            out.push(u8::from(method.client_streams) | u8::from(method.server_streams) << 1);
            varint(&mut out, method.request.into());
            varint(&mut out, method.reply.into());
        }
        name(&mut out, &self.name);
        out
    }

    /// Returns the fingerprint of this layout description, which is computed from its encoding.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.encode())
    }
}

impl Field {
    fn encode(&self, out: &mut Vec<u8>) {
        let shape: u8 = match self.shape {
            Shape::Implicit => 0,
            Shape::Optional => 1,
            Shape::Repeated => 2,
            Shape::Map(_) => 3,
            Shape::Member { .. } => 4,
        };
        varint(out, self.number.into());
        out.push(shape << 5 | self.of.code());
        match self.shape {
            Shape::Map(key) => out.push(key.code()),
            Shape::Member { oneof, member } => {
                varint(out, oneof.into());
                varint(out, member.into());
            }
            _ => {}
        }
        if let Some(index) = self.of.index() {
            varint(out, index.into());
        }
    }
}

fn name(out: &mut Vec<u8>, name: &str) {
    length(out, name.len());
    out.extend_from_slice(name.as_bytes());
}

fn length(out: &mut Vec<u8>, length: usize) {
    varint(out, length as u64);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}
