//! Writes messages as JSON.

use super::{Form, content, is_null};
use crate::MEMORY_MAX;
use crate::encode::each_key;
use crate::layout::declared;
use crate::protobuf::{is_negative_zero, memory};
use frpc_json::wellknown::{encode_duration, encode_field_mask, encode_timestamp};
use frpc_json::{EncodeError, EncodeReason, Key, Writer, quoted};
use prost_reflect::prost_types::EnumOptions;
use prost_reflect::{DynamicMessage, EnumDescriptor, FieldDescriptor, Kind, MapKey, ReflectMessage as _, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Display;

/// Writes a message in the JSON representation of its type.
pub(super) fn message(message: &DynamicMessage, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let part = |number| message.get_field_by_number(number);
    match Form::of(&message.descriptor()) {
        Form::Object | Form::Empty => to.message(|to| fields(message, to)),
        Form::Any => any(message, to),
        form @ (Form::Duration | Form::Timestamp) => {
            let seconds = part(1).and_then(|value| value.as_i64()).unwrap_or_default();
            let nanos = part(2).and_then(|value| value.as_i32()).unwrap_or_default();
            if form == Form::Duration {
                encode_duration(seconds, nanos, to)
            } else {
                encode_timestamp(seconds, nanos, to)
            }
        }
        Form::FieldMask => {
            let paths = part(1).map(Cow::into_owned);
            let paths = paths.as_ref().and_then(Value::as_list).unwrap_or_default();
            let paths: Vec<&str> = paths.iter().filter_map(Value::as_str).collect();
            encode_field_mask(&paths, to)
        }
        Form::ListValue | Form::Struct => to.level(|to| only_field(message, to)),
        Form::Value => to.level(|to| kind(message, to)),
        Form::Wrapper => only_field(message, to),
    }
}

/// Writes all fields that are present, in the order of their declaration.
fn fields(message: &DynamicMessage, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    for field in declared(&message.descriptor()).filter(|field| is_present(message, field)) {
        charge(field.json_name().len(), to)?;
        to.name(field.json_name());
        let written = field_value(&field, &message.get_field(&field), to);
        written.map_err(|error| error.in_field(field.json_name().to_owned()))?;
    }
    Ok(())
}

/// Returns whether a field must be written. Unlike in prost-reflect, negative zero is not a default value. A field with
/// presence is not compared with its default, because that would copy the default, which may be a long text.
fn is_present(message: &DynamicMessage, field: &FieldDescriptor) -> bool {
    message.has_field(field) || (!field.supports_presence() && is_negative_zero(&message.get_field(field)))
}

/// Writes the value of a message's only field, even if it is the default.
fn only_field(message: &DynamicMessage, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    match message.descriptor().get_field(1) {
        Some(field) => field_value(&field, &message.get_field(&field), to),
        None => to.no_kind(),
    }
}

fn field_value(field: &FieldDescriptor, value: &Value, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    match (value, field.kind()) {
        (Value::Map(map), Kind::Message(entry)) => self::map(map, &entry.map_entry_value_field().kind(), to),
        (Value::List(list), kind) => {
            to.raw("[");
            for (at, element) in list.iter().enumerate() {
                if at > 0 {
                    to.raw(",");
                }
                self::value(element, &kind, to).map_err(|error| error.in_element(at))?;
            }
            to.raw("]");
            Ok(())
        }
        (value, kind) => self::value(value, &kind, to),
    }
}

fn map(map: &HashMap<MapKey, Value>, kind: &Kind, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let mut entries: Vec<_> = map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    to.raw("{");
    for (at, (key, value)) in entries.into_iter().enumerate() {
        if at > 0 {
            to.raw(",");
        }
        each_key!(key, key => key.write(to));
        to.raw(":");
        self::value(value, kind, to)
            .map_err(|error| error.in_entry(quoted(&each_key!(key, key => key.to_string()))))?;
    }
    to.raw("}");
    Ok(())
}

fn value(value: &Value, kind: &Kind, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    match value {
        Value::Bool(value) => to.value(value),
        Value::I32(value) => to.value(value),
        Value::I64(value) => to.value(value),
        Value::U32(value) => to.value(value),
        Value::U64(value) => to.value(value),
        Value::F32(value) => to.value(value),
        Value::F64(value) => to.value(value),
        Value::String(value) => to.value(value),
        Value::Bytes(value) => to.value(value),
        Value::EnumNumber(_) if is_null(kind) => {
            to.raw("null");
            Ok(())
        }
        Value::EnumNumber(number) => match kind.as_enum().and_then(|descriptor| name(descriptor, *number)) {
            Some((name, steps)) => {
                charge(steps.saturating_add(name.len()), to)?;
                to.value(&name)
            }
            None => to.value(number),
        },
        Value::Message(value) => message(value, to),
        // Unreachable, because lists and maps occur only as values of fields.
        Value::List(_) | Value::Map(_) => to.no_kind(),
    }
}

/// Deducts the name of a field or enum value from the memory limit. The name is not part of the encoded message, and in
/// an untrusted schema it can have any length.
fn charge(needed: usize, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    to.charge(needed).map_err(|_| Writer::refuse(format!("its names take more than {MEMORY_MAX} bytes of memory")))
}

/// Returns the name of an enum number, with the number of bytes that were examined to find it. If several names have
/// this number, returns the first of them.
fn name(descriptor: &EnumDescriptor, number: i32) -> Option<(String, usize)> {
    let found = descriptor.get_value(number)?;
    let declared = descriptor.enum_descriptor_proto();
    if !declared.options.as_ref().is_some_and(EnumOptions::allow_alias) {
        return Some((found.name().to_owned(), 0));
    }
    let mut declared = declared.value.iter().enumerate();
    let (steps, first) = declared.find(|(_, value)| value.number() == number)?;
    Some((first.name().to_owned(), steps.saturating_mul(size_of::<i32>())))
}

/// Writes the member of a `google.protobuf.Value` that is set.
fn kind(message: &DynamicMessage, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let Some((field, value)) = message.fields().next() else { return to.no_kind() };
    match value {
        Value::F64(number) => to.number_value(*number),
        value => field_value(&field, value, to),
    }
}

fn any(any: &DynamicMessage, to: &mut Writer<'_>) -> Result<(), EncodeError> {
    let part = |number| any.get_field_by_number(number);
    let (type_url, bytes) = (part(1), part(2));
    let type_url = type_url.as_deref().and_then(Value::as_str).unwrap_or_default();
    let bytes = bytes.as_deref().and_then(Value::as_bytes).map(|bytes| &bytes[..]).unwrap_or_default();
    if type_url.is_empty() && bytes.is_empty() {
        return to.message(|_| Ok(()));
    }
    let Some(descriptor) = content(&any.descriptor(), type_url) else {
        return Err(EncodeError::new(EncodeReason::UnknownType(quoted(type_url))));
    };
    let form = Form::of(&descriptor);
    let refused = |error: &dyn Display| Writer::refuse(format!("content of an Any: {error}"));
    to.charge(memory(&descriptor, bytes).map_err(|error| refused(&error))?)?;
    let content = DynamicMessage::decode(descriptor, bytes).map_err(|error| refused(&error))?;
    to.message(|to| {
        to.name("@type");
        to.string(type_url);
        if form == Form::Object {
            return to.level(|to| fields(&content, to));
        }
        to.name("value");
        message(&content, to)
    })
}
