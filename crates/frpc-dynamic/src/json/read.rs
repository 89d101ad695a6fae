//! Reads messages from JSON.

use super::{Form, content, is_null};
use crate::decode::DEFAULT;
use crate::layout::declared;
use crate::to_protobuf;
use frpc_json::wellknown::{ValueKind, any_value, decode_duration, decode_field_mask, decode_timestamp, find_any_type};
use frpc_json::{DecodeError, DecodeReason, Key, Reader, quoted};
use prost_reflect::{
    DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, MessageDescriptor, ReflectMessage as _, Value,
};
use std::collections::{BTreeSet, HashMap};

/// Parses a message from the JSON representation of its type.
pub(super) fn message(descriptor: &MessageDescriptor, from: &mut Reader<'_>) -> Result<DynamicMessage, DecodeError> {
    let mut message = DynamicMessage::new(descriptor.clone());
    let to = &mut message;
    match Form::of(descriptor) {
        Form::Object | Form::Empty => from.level(|from| object(to, from, true))?,
        Form::Any => from.level(|from| any(to, from))?,
        Form::Duration => time(to, decode_duration(from)?, from)?,
        Form::Timestamp => time(to, decode_timestamp(from)?, from)?,
        Form::FieldMask => {
            let paths = decode_field_mask(from)?.into_iter().map(Value::String).collect();
            set(to, 1, Value::List(paths), from)?;
        }
        Form::ListValue => from.level(|from| only_field(to, "array", from))?,
        Form::Struct => from.level(|from| only_field(to, "object", from))?,
        Form::Value => from.level(|from| kind(to, from))?,
        Form::Wrapper => {
            if let Some(field) = descriptor.get_field(1) {
                let value = value(&field.kind(), from)?;
                put(to, &field, value, from)?;
            }
        }
    }
    Ok(message)
}

/// Parses a message from an array of its field values. If the type has a special JSON representation, parses that
/// instead.
pub(super) fn positional(descriptor: &MessageDescriptor, from: &mut Reader<'_>) -> Result<DynamicMessage, DecodeError> {
    if !matches!(Form::of(descriptor), Form::Object | Form::Empty) {
        return message(descriptor, from);
    }
    let mut message = DynamicMessage::new(descriptor.clone());
    let mut fields = declared(descriptor);
    from.level(|from| {
        from.array(|from| {
            let Some(field) = fields.next() else {
                let (message, fields) = (descriptor.full_name().to_owned().into(), descriptor.fields().len());
                return Err(from.error(DecodeReason::TooManyFields { message, fields }));
            };
            self::field(&mut message, field.number(), from)
                .map_err(|error| error.in_field(field.json_name().to_owned()))
        })
    })?;
    Ok(message)
}

/// Parses the fields of a message from an object. If the member `@type` has not been parsed yet, accepts it as well.
fn object(message: &mut DynamicMessage, from: &mut Reader<'_>, mut has_type: bool) -> Result<(), DecodeError> {
    let descriptor = message.descriptor();
    let mut seen = BTreeSet::new();
    from.object(|key, from| {
        if key == "@type" && !has_type {
            has_type = true;
            return from.skip();
        }
        let by_name = || descriptor.get_field_by_name(key);
        let Some(field) = descriptor.get_field_by_json_name(key).or_else(by_name) else {
            return from.unknown_field(descriptor.full_name().to_owned(), key);
        };
        if !seen.insert(field.number()) {
            return Err(from.duplicate(field.json_name()));
        }
        self::field(message, field.number(), from).map_err(|error| error.in_field(field.json_name().to_owned()))
    })
}

/// Parses the only field of a `ListValue` or `Struct`. Rejects `null`.
fn only_field(message: &mut DynamicMessage, expected: &'static str, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    if from.peek() == Some(b'n') { Err(from.unexpected(expected)) } else { field(message, 1, from) }
}

/// Parses the value of the field with this number. Skips the value if the message has no such field.
fn field(message: &mut DynamicMessage, number: u32, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    let Some(field) = message.descriptor().get_field(number) else { return from.skip() };
    let kind = field.kind();
    let is_many = field.is_list() || field.is_map();
    if (is_many || !is_nullable(&kind)) && from.null()? {
        return Ok(());
    }
    let others = field.containing_oneof();
    if others.is_some_and(|oneof| oneof.fields().any(|member| message.has_field(&member))) {
        return Err(from.error(DecodeReason::SecondMember));
    }
    let value = match &kind {
        Kind::Message(entry) if field.is_map() => map(entry, from)?,
        _ if field.is_list() => list(&kind, from)?,
        _ => value(&kind, from)?,
    };
    put(message, &field, value, from)
}

/// Returns whether `null` is a regular value of this type, instead of marking a field as absent.
fn is_nullable(kind: &Kind) -> bool {
    match kind {
        Kind::Message(message) => Form::of(message) == Form::Value,
        kind => is_null(kind),
    }
}

fn list(kind: &Kind, from: &mut Reader<'_>) -> Result<Value, DecodeError> {
    let mut list = Vec::new();
    from.array(|from| {
        // Charge twice the size, because a list is half full after it has grown.
        from.charge_bytes(2 * size_of::<Value>())?;
        list.push(value(kind, from).map_err(|error| error.in_element(list.len()))?);
        Ok(())
    })?;
    Ok(Value::List(list))
}

fn map(entry: &MessageDescriptor, from: &mut Reader<'_>) -> Result<Value, DecodeError> {
    let (key_kind, kind) = (entry.map_entry_key_field().kind(), entry.map_entry_value_field().kind());
    let mut map = HashMap::new();
    from.object(|name, from| {
        let Some(key) = map_key(&key_kind, name) else {
            return Err(Reader::invalid("key of the map", name, from.position()));
        };
        // Charge three times the size, because a table is at most seven eighths full, and half of that after it has
        // grown.
        from.charge_bytes(3 * size_of::<(MapKey, Value)>())?;
        let value = value(&kind, from).map_err(|error| error.in_entry(quoted(name)))?;
        match map.insert(key, value) {
            None => Ok(()),
            Some(_) => Err(from.duplicate(name)),
        }
    })?;
    Ok(Value::Map(map))
}

fn map_key(kind: &Kind, text: &str) -> Option<MapKey> {
    Some(match kind {
        Kind::Bool => MapKey::Bool(Key::from_text(text)?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => MapKey::I32(Key::from_text(text)?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => MapKey::I64(Key::from_text(text)?),
        Kind::Uint32 | Kind::Fixed32 => MapKey::U32(Key::from_text(text)?),
        Kind::Uint64 | Kind::Fixed64 => MapKey::U64(Key::from_text(text)?),
        _ => MapKey::String(text.to_owned()),
    })
}

fn value(kind: &Kind, from: &mut Reader<'_>) -> Result<Value, DecodeError> {
    Ok(match kind {
        Kind::Bool => Value::Bool(from.read()?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(from.read()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(from.read()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(from.read()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(from.read()?),
        Kind::Float => Value::F32(from.read()?),
        Kind::Double => Value::F64(from.read()?),
        Kind::String => Value::String(from.read()?),
        Kind::Bytes => Value::Bytes(from.read()?),
        Kind::Enum(_) if is_null(kind) && from.null()? => Value::EnumNumber(0),
        Kind::Enum(descriptor) => Value::EnumNumber(number(descriptor, from)?),
        Kind::Message(descriptor) => {
            // The fields of a message are stored in a B-tree. Its first node has eleven slots.
            from.charge_bytes(11 * size_of::<(u32, Value)>())?;
            from.charge_bytes(descriptor.fields().len().saturating_mul(DEFAULT))?;
            Value::Message(message(descriptor, from)?)
        }
    })
}

fn number(descriptor: &EnumDescriptor, from: &mut Reader<'_>) -> Result<i32, DecodeError> {
    if from.peek() != Some(b'"') {
        return from.read();
    }
    let offset = from.value_offset();
    let name = from.string("name of an enum's value")?;
    match descriptor.get_value_by_name(&name) {
        Some(value) => Ok(value.number()),
        None => {
            let enumeration = descriptor.full_name().to_owned().into();
            Err(DecodeError::new(DecodeReason::UnknownName { enumeration, name: quoted(&name) }, offset))
        }
    }
}

/// Sets the field with this number in a message of a well-known type.
fn set(message: &mut DynamicMessage, number: u32, value: Value, from: &Reader<'_>) -> Result<(), DecodeError> {
    match message.descriptor().get_field(number) {
        Some(field) => put(message, &field, value, from),
        None => Ok(()),
    }
}

fn put(
    message: &mut DynamicMessage,
    field: &FieldDescriptor,
    value: Value,
    from: &Reader<'_>,
) -> Result<(), DecodeError> {
    let is_set = message.try_set_field(field, value);
    is_set.map_err(|_| Reader::refuse(from.position(), "the value does not fit the field"))
}

/// Sets the fields of a `Duration` or `Timestamp` message.
fn time(message: &mut DynamicMessage, (seconds, nanos): (i64, i32), from: &Reader<'_>) -> Result<(), DecodeError> {
    set(message, 1, Value::I64(seconds), from)?;
    set(message, 2, Value::I32(nanos), from)
}

/// Parses a `google.protobuf.Value` and sets the matching member of its oneof. The members are numbered in the order of
/// their declaration.
fn kind(message: &mut DynamicMessage, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    match from.value_kind()? {
        ValueKind::Null => set(message, 1, Value::EnumNumber(0), from),
        ValueKind::Number => field(message, 2, from),
        ValueKind::String => field(message, 3, from),
        ValueKind::Bool => field(message, 4, from),
        ValueKind::Struct => field(message, 5, from),
        ValueKind::List => field(message, 6, from),
    }
}

fn any(message: &mut DynamicMessage, from: &mut Reader<'_>) -> Result<(), DecodeError> {
    let Some((type_url, offset)) = find_any_type(from)? else { return Ok(()) };
    let Some(descriptor) = content(&message.descriptor(), &type_url) else {
        return Err(DecodeError::new(DecodeReason::UnknownType(quoted(&type_url)), offset));
    };
    let form = Form::of(&descriptor);
    let content = if form == Form::Object {
        let mut content = DynamicMessage::new(descriptor);
        from.level(|from| object(&mut content, from, false))?;
        content
    } else {
        let empty = || (form == Form::Empty).then(|| DynamicMessage::new(descriptor.clone()));
        any_value(from, |from| self::message(&descriptor, from), empty)?
    };
    set(message, 1, Value::String(type_url), from)?;
    set(message, 2, Value::Bytes(to_protobuf(&content).into()), from)
}
