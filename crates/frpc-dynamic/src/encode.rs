//! Writes messages by their descriptors.

use crate::layout::{Element, Field, Layout, Shape};
use crate::{Codec, EncodeError};
use polyglot::{Encoder, Form, Kind, NESTING_CEILING};
use prost_reflect::{DynamicMessage, ReflectMessage as _, Value};

/// Evaluates an expression for the value of a map key, whatever its type.
macro_rules! each_key {
    ($key:expr, $value:ident => $result:expr) => {
        match $key {
            prost_reflect::MapKey::Bool($value) => $result,
            prost_reflect::MapKey::I32($value) => $result,
            prost_reflect::MapKey::I64($value) => $result,
            prost_reflect::MapKey::U32($value) => $result,
            prost_reflect::MapKey::U64($value) => $result,
            prost_reflect::MapKey::String($value) => $result,
        }
    };
}
pub(crate) use each_key;

pub(crate) fn message(codec: &Codec, message: &DynamicMessage, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let written = Writer { codec, depth: 0 }.message(message, to);
    written.map_err(|error| error.in_message(message.descriptor().full_name().to_owned()))
}

struct Writer<'a> {
    codec: &'a Codec,
    /// Nesting depth of the message that is currently being encoded.
    depth: u32,
}

impl Writer<'_> {
    fn message(&mut self, message: &DynamicMessage, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        if self.depth >= NESTING_CEILING {
            return Err(EncodeError::new(format!("messages nest deeper than {NESTING_CEILING}")));
        }
        self.depth = self.depth.saturating_add(1);
        let layout = self.codec.layout(&message.descriptor());
        to.message_head();
        for field in &layout.fields {
            self.field(message, &layout, field, to)
                .map_err(|error| error.in_field(field.descriptor.name().to_owned()))?;
        }
        self.depth = self.depth.saturating_sub(1);
        Ok(())
    }

    fn field(
        &mut self,
        message: &DynamicMessage,
        layout: &Layout,
        field: &Field,
        to: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let is_set = message.has_field(&field.descriptor);
        match &field.shape {
            Shape::Plain(of) => self.value(of, &message.get_field(&field.descriptor), to),
            Shape::Optional(of) if is_set => self.value(of, &message.get_field(&field.descriptor), to),
            Shape::Optional(of) => {
                if to.form() == Form::Extended {
                    to.nil();
                    return Ok(());
                }
                if of.kind() != Kind::Any {
                    to.note_lost_presence();
                }
                of.encode_default(to);
                Ok(())
            }
            Shape::Member { of, .. } if to.form() == Form::Flat => {
                if !is_set {
                    of.encode_default(to);
                    return Ok(());
                }
                let value = message.get_field(&field.descriptor);
                if is_default(&value) {
                    to.note_lost_presence();
                }
                self.value(of, &value, to)
            }
            Shape::Member { oneof, is_first: true, .. } => self.member(message, layout, *oneof, to),
            Shape::Member { .. } => Ok(()),
            Shape::List(of) => {
                let value = message.get_field(&field.descriptor);
                let list = value.as_list().ok_or_else(mismatch)?;
                to.list(of.kind(), list.len())?;
                for (at, element) in list.iter().enumerate() {
                    self.value(of, element, to).map_err(|error| error.in_element(at))?;
                }
                Ok(())
            }
            Shape::Map(key, of) => {
                let value = message.get_field(&field.descriptor);
                let map = value.as_map().ok_or_else(mismatch)?;
                to.map(key.kind(), of.kind(), map.len())?;
                // Sort the entries, so that equal messages have equal encodings.
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_by(|one, other| one.0.cmp(other.0));
                for (at, (key, element)) in entries.into_iter().enumerate() {
                    each_key!(key, key => map_key(key, to))?;
                    self.value(of, element, to).map_err(|error| error.in_element(at))?;
                }
                Ok(())
            }
        }
    }

    /// Encodes the set member of a oneof in the extended encoding.
    fn member(
        &mut self,
        message: &DynamicMessage,
        layout: &Layout,
        oneof: usize,
        to: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        let members = layout.oneofs.get(oneof).into_iter().flatten().filter_map(|index| layout.fields.get(*index));
        for (number, field) in (1..).zip(members) {
            if let Shape::Member { of, .. } = &field.shape
                && message.has_field(&field.descriptor)
            {
                to.member_head(number);
                return self.value(of, &message.get_field(&field.descriptor), to);
            }
        }
        to.member_head(0);
        Ok(())
    }

    fn value(&mut self, of: &Element, value: &Value, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match (of, value) {
            (Element::Bool, Value::Bool(value)) => to.bool(*value),
            (Element::I32, Value::I32(value)) => to.i32(*value),
            (Element::I64, Value::I64(value)) => to.i64(*value),
            (Element::U32, Value::U32(value)) => to.u32(*value),
            (Element::U64, Value::U64(value)) => to.u64(*value),
            (Element::F32, Value::F32(value)) => to.f32(*value),
            (Element::F64, Value::F64(value)) => to.f64(*value),
            (Element::String, Value::String(value)) => to.string(value)?,
            (Element::Bytes, Value::Bytes(value)) => to.shared(value)?,
            (Element::Enum(indexes), Value::EnumNumber(number)) => {
                if !indexes.encode(*number, to) {
                    return Err(EncodeError::new(format!("`{}` has no number {number}", indexes.name)));
                }
            }
            (Element::Message(_), Value::Message(value)) => self.message(value, to)?,
            _ => return Err(mismatch()),
        }
        Ok(())
    }
}

/// Returns whether the flat encoding represents this value like an absent one. Negative zero is represented differently
/// from the default of a float.
pub(crate) fn is_default(value: &Value) -> bool {
    match value {
        Value::Bool(value) => !value,
        Value::I32(value) | Value::EnumNumber(value) => *value == 0,
        Value::I64(value) => *value == 0,
        Value::U32(value) => *value == 0,
        Value::U64(value) => *value == 0,
        Value::F32(value) => value.to_bits() == 0,
        Value::F64(value) => value.to_bits() == 0,
        Value::String(value) => value.is_empty(),
        Value::Bytes(value) => value.is_empty(),
        Value::Message(_) | Value::List(_) | Value::Map(_) => false,
    }
}

fn map_key<K: polyglot::Codec<Target = K>>(key: &K, to: &mut Encoder<'_>) -> Result<(), polyglot::EncodeError> {
    K::encode(key, to)
}

/// Returns the error for a value that does not match the type of its field. It should never occur, because `set_field`
/// of prost-reflect rejects such values.
#[cold]
fn mismatch() -> EncodeError {
    EncodeError::new("the value has another type than the field".to_owned())
}
