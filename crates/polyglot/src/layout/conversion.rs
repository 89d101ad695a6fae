//! Compatibility of types, and conversions between compatible types.

use super::Fingerprint;
use super::description::{Description, Field, Shape, Type, TypeLayout};
use crate::Kind;
use std::fmt;

/// Conversion of a value from the writer's type to the reader's type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conversion {
    /// Copies the value unchanged, because both types have the same encoding.
    Copy,
    /// Converts a number from one encoding to another, like a cast in C++ does.
    Number(Number, Number),
    /// Converts a value of the writer's enum to a value of the reader's enum. Contains the type indexes of both enums.
    Enum(u16, u16),
    /// Converts an enum value to a number. Contains the type index of the writer's enum.
    EnumToNumber(u16, Number),
    /// Converts a number to an enum value. Contains the type index of the reader's enum.
    NumberToEnum(Number, u16),
    /// Converts bytes to a string. Fails if they are not valid UTF-8.
    BytesToString,
    /// Converts a string to bytes, which never fails.
    StringToBytes,
    /// Translates a message. Contains the type index of the reader's message. In an `Edge`, contains the index of the
    /// type pair instead, and in an `Op`, a block of operations.
    Message(u32),
}

/// Encoding of a number. Protobuf allows a field's type to change between types that share an encoding as a varint or
/// as a bit pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    Bool,
    I32,
    I64,
    U32,
    U64,
    /// `sint32`. It can only be converted to and from `sint64`, because these two share an encoding in protobuf that no
    /// other type has.
    Zigzag32,
    /// `sint64`. It can only be converted to and from `sint32`, because no other type shares their encoding in
    /// protobuf.
    Zigzag64,
}

impl Number {
    fn of(of: Type) -> Option<Self> {
        Some(match of {
            Type::Bool => Self::Bool,
            Type::Int32 | Type::Sfixed32 => Self::I32,
            Type::Int64 | Type::Sfixed64 => Self::I64,
            Type::Uint32 | Type::Fixed32 => Self::U32,
            Type::Uint64 | Type::Fixed64 => Self::U64,
            Type::Sint32 => Self::Zigzag32,
            Type::Sint64 => Self::Zigzag64,
            _ => return None,
        })
    }

    pub(super) const fn kind(self) -> Kind {
        match self {
            Self::Bool => Kind::Bool,
            Self::I32 | Self::Zigzag32 => Kind::I32,
            Self::I64 | Self::Zigzag64 => Kind::I64,
            Self::U32 => Kind::U32,
            Self::U64 => Kind::U64,
        }
    }
}

/// Returns the group of types that a number type belongs to. Protobuf allows a field's type to change within a group.
fn group(of: Type) -> u8 {
    match of {
        Type::Bool | Type::Int32 | Type::Int64 | Type::Uint32 | Type::Uint64 | Type::Enum(_) => 0,
        Type::Sint32 | Type::Sint64 => 1,
        Type::Fixed32 | Type::Sfixed32 => 2,
        Type::Fixed64 | Type::Sfixed64 => 3,
        _ => u8::MAX,
    }
}

/// Returns the conversion between two types, or `None` if they are incompatible.
pub(super) fn conversion(from: Type, to: Type) -> Option<Conversion> {
    match (from, to) {
        (Type::Message(_), Type::Message(to)) => Some(Conversion::Message(to)),
        (Type::Enum(from), Type::Enum(to)) => Some(Conversion::Enum(from as u16, to as u16)), // Below `TYPES_MAX`.
        (Type::Bytes, Type::String) => Some(Conversion::BytesToString),
        (Type::String, Type::Bytes) => Some(Conversion::StringToBytes),
        (Type::Enum(from), to) if group(to) == 0 => Some(Conversion::EnumToNumber(from as u16, Number::of(to)?)),
        (from, Type::Enum(to)) if group(from) == 0 => Some(Conversion::NumberToEnum(Number::of(from)?, to as u16)),
        (Type::Message(_) | Type::Enum(_), _) | (_, Type::Message(_) | Type::Enum(_)) => None,
        // Protobuf does not permit these changes, for example between `int32` and `sint32`, but this encoding has
        // always supported them.
        (from, to) if from.kind() == to.kind() => Some(Conversion::Copy),
        (from, to) if group(from) == group(to) => Some(Conversion::Number(Number::of(from)?, Number::of(to)?)),
        _ => None,
    }
}

/// Two fields that have the same number but incompatible types. Messages with these fields cannot be translated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub(super) types: [u32; 2],
    pub(super) fields: [Field; 2],
}

impl Refusal {
    /// Returns the field number that both incompatible fields have.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.fields[0].number
    }

    /// Returns a text with the name of the incompatible field and its types at both peers.
    ///
    /// `own` is the local description, and `names` contains the names of its types and fields. `own_writes` must be
    /// true if the plan translates from the local layout.
    #[must_use]
    pub fn describe(&self, own: &Description, names: &str, own_writes: bool, peer: Fingerprint) -> String {
        let ([mut here, mut there], [mut of, _]) = (self.fields, self.types);
        if !own_writes {
            std::mem::swap(&mut here, &mut there);
            of = self.types[1];
        }
        let position = match own.types.get(of as usize) {
            Some(TypeLayout::Message(fields)) => fields.iter().position(|field| field.number == here.number),
            _ => None,
        };
        let mut line = names.lines().nth(of as usize).unwrap_or_default().split(' ');
        let message = line.next().filter(|name| !name.is_empty()).unwrap_or("a message");
        let field = position.and_then(|position| line.nth(position));
        let field = field.map_or_else(String::new, |name| format!(" (`{name}`)"));
        let Field { number, .. } = here;
        format!("field {number}{field} of {message} is {here} here, {there} at the peer (layout {peer})")
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [from, to] = self.fields;
        write!(f, "field {} is {from} and cannot become {to}", from.number)
    }
}

impl std::error::Error for Refusal {}

/// Returns whether a field contains a single value rather than a list or map.
pub(super) fn is_single(field: &Field) -> bool {
    !matches!(field.shape, Shape::Repeated | Shape::Map(_))
}
