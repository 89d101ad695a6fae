//! Reads messages by their descriptors, with limits on nesting and memory.

use crate::encode::is_default;
use crate::layout::{Element, Field, Layout, Shape};
use crate::{Codec, DecodeError};
use polyglot::{Decoder, Kind, Root};
use prost_reflect::{DynamicMessage, MapKey, MessageDescriptor, Value};

/// Default maximum memory of a decoded message in bytes. [`Codec::with_memory_max`] sets another.
///
/// A body of 5 MiB, the default frame limit, can be a list of 2.5 million bools. They take 160 MB, because all dynamic
/// values have the same size. Nested messages take a kilobyte each and reach the limit at some hundred thousand.
pub const MEMORY_MAX: usize = 256 << 20;

/// Memory in bytes of a B-tree node. prost-reflect stores up to eleven fields of a message in it. One node is charged
/// for every six fields, because nodes may be only half full.
pub(crate) const NODE: usize = 12 * (size_of::<Value>() + 16);

/// Maximum size in bytes of a field's default value on the wire, which is that of a double. It is charged for each
/// field of a message type, because encoders visit all fields, even if they are missing in the input.
pub(crate) const DEFAULT: usize = 9;

pub(crate) fn root(
    codec: &Codec,
    descriptor: &MessageDescriptor,
    from: &mut Decoder<'_>,
) -> Result<Root<DynamicMessage>, DecodeError> {
    let named = |error: DecodeError| error.in_message(descriptor.full_name().to_owned());
    if from.peek() == Some(Kind::Error) {
        let text = from.error_text().map_err(|error| named(error.into()))?;
        return Ok(Root::Error(text.to_owned()));
    }
    let mut reader = Reader { codec, memory: Memory::new(codec.memory_max), levels: codec.nesting_max };
    let message = reader.message(descriptor, from).map_err(named)?;
    Ok(Root::Message(message.unwrap_or_else(|| DynamicMessage::new(descriptor.clone()))))
}

struct Reader<'a> {
    codec: &'a Codec,
    memory: Memory,
    /// Number of further levels that messages may be nested.
    levels: u32,
}

impl Reader<'_> {
    /// Decodes a message of a type that is only known at run time. Returns `None` if the input contains nil instead.
    fn message(
        &mut self,
        descriptor: &MessageDescriptor,
        from: &mut Decoder<'_>,
    ) -> Result<Option<DynamicMessage>, DecodeError> {
        let at = from.position();
        if from.take_nil() {
            return Ok(None);
        }
        match from.peek() {
            Some(Kind::Error) => return Err(DecodeError::new("error in place of a message".to_owned(), at)),
            Some(Kind::U8) => {}
            Some(found) => return Err(DecodeError::new(format!("message expected, found {found}"), at)),
            None => return Err(DecodeError::new("message expected".to_owned(), at)),
        }
        let Some(levels) = self.levels.checked_sub(1) else {
            return Err(DecodeError::new(format!("messages nest deeper than {}", self.codec.nesting_max), at));
        };
        from.u8()?; // The flags are reserved.
        self.levels = levels;
        let layout = self.codec.layout(descriptor);
        let mut message = DynamicMessage::new(descriptor.clone());
        let mut is_flat = vec![true; layout.oneofs.len()];
        let mut set = 0_usize;
        for field in &layout.fields {
            let read = self.field(&layout, field, &mut is_flat, from);
            let Some((field, value)) = read.map_err(|error| error.in_field(field.descriptor.name().to_owned()))? else {
                continue;
            };
            if set.is_multiple_of(6) {
                self.memory.charge(NODE, from.position())?;
            }
            set = set.saturating_add(1);
            if message.try_set_field(&field.descriptor, value).is_err() {
                return Err(DecodeError::new("the value does not fit the field".to_owned(), from.position()));
            }
        }
        self.levels = self.levels.saturating_add(1);
        Ok(Some(message))
    }

    /// Decodes a field. Returns the field with its value, or `None` if it has its default value. For a oneof in the
    /// extended encoding, returns the member that is set.
    fn field<'l>(
        &mut self,
        layout: &'l Layout,
        field: &'l Field,
        is_flat: &mut [bool],
        from: &mut Decoder<'_>,
    ) -> Result<Option<(&'l Field, Value)>, DecodeError> {
        let value = match &field.shape {
            Shape::Plain(of) => Some(self.value(of, from)?).filter(|value| !is_default(value)),
            Shape::Optional(of) => self.present(of, from)?,
            Shape::Member { of, oneof, is_first } => {
                if *is_first {
                    let at = from.position();
                    if let Some(member) = from.member_head()? {
                        if let Some(is_flat) = is_flat.get_mut(*oneof) {
                            *is_flat = false;
                        }
                        return self.member(layout, *oneof, member, at, from);
                    }
                }
                if !is_flat.get(*oneof).copied().unwrap_or(true) {
                    return Ok(None);
                }
                // Only messages can be nil. The last member with a value other than its default is the set one.
                let value = match of {
                    Element::Message(_) => self.present(of, from)?,
                    of => Some(self.value(of, from)?),
                };
                value.filter(|value| !is_default(value))
            }
            Shape::List(of) => {
                let length = from.list(of.kind())?;
                self.memory.charge(length.saturating_mul(size_of::<Value>()), from.position())?;
                let mut list = Vec::with_capacity(length);
                for at in 0..length {
                    list.push(self.value(of, from).map_err(|error| error.in_element(at))?);
                }
                Some(Value::List(list)).filter(|_| length > 0)
            }
            Shape::Map(key, of) => {
                let length = from.map(key.kind(), of.kind())?;
                // Charge for a hash table, which is at most seven eighths full, and half of that after it has grown.
                self.memory.charge(length.saturating_mul(2 * size_of::<(MapKey, Value)>()), from.position())?;
                let mut map = std::collections::HashMap::with_capacity(length);
                for at in 0..length {
                    let named = |error: DecodeError| error.in_element(at);
                    let key = self.value(key, from).map_err(named)?;
                    let value = self.value(of, from).map_err(named)?;
                    let Some(key) = key.into_map_key() else {
                        return Err(DecodeError::new("the key of a map has another type".to_owned(), from.position()));
                    };
                    map.insert(key, value);
                }
                Some(Value::Map(map)).filter(|_| length > 0)
            }
        };
        Ok(value.map(|value| (field, value)))
    }

    /// Decodes the value of a oneof in the extended encoding, after its header has been read. The header was at the
    /// offset `at` and states the number of the set `member`.
    fn member<'l>(
        &mut self,
        layout: &'l Layout,
        oneof: usize,
        member: u32,
        at: usize,
        from: &mut Decoder<'_>,
    ) -> Result<Option<(&'l Field, Value)>, DecodeError> {
        let Some(before) = member.checked_sub(1) else { return Ok(None) };
        let members = layout.oneofs.get(oneof);
        let index = usize::try_from(before).ok().and_then(|before| members?.get(before));
        match index.and_then(|index| layout.fields.get(*index)) {
            Some(found @ Field { shape: Shape::Member { of, .. }, .. }) => {
                let value = self.value(of, from).map_err(|error| error.in_field(found.descriptor.name().to_owned()))?;
                Ok(Some((found, value)))
            }
            _ => Err(DecodeError::new(format!("the oneof has no member {member}"), at)),
        }
    }

    /// Decodes a value that may be absent. Returns `None` if it is.
    fn present(&mut self, of: &Element, from: &mut Decoder<'_>) -> Result<Option<Value>, DecodeError> {
        if from.take_nil() {
            return Ok(None);
        }
        self.value(of, from).map(Some)
    }

    fn value(&mut self, of: &Element, from: &mut Decoder<'_>) -> Result<Value, DecodeError> {
        Ok(match of {
            Element::Bool => Value::Bool(from.bool()?),
            Element::I32 => Value::I32(from.i32()?),
            Element::I64 => Value::I64(from.i64()?),
            Element::U32 => Value::U32(from.u32()?),
            Element::U64 => Value::U64(from.u64()?),
            Element::F32 => Value::F32(from.f32()?),
            Element::F64 => Value::F64(from.f64()?),
            Element::String => Value::String(from.string()?),
            Element::Bytes => Value::Bytes(from.bytes()?),
            Element::Enum(indexes) => {
                let at = from.position();
                let number = indexes.decode(from)?.map_err(|index| {
                    DecodeError::new(format!("`{}` has no value {index}, which cannot be kept", indexes.name), at)
                })?;
                Value::EnumNumber(number)
            }
            Element::Message(descriptor) => {
                self.memory.charge(descriptor.fields().len().saturating_mul(DEFAULT), from.position())?;
                let message = self.message(descriptor, from)?;
                Value::Message(message.unwrap_or_else(|| DynamicMessage::new(descriptor.clone())))
            }
        })
    }
}

/// Memory that a message uses while it is decoded.
pub(crate) struct Memory {
    /// Number of bytes that remain of the limit `max`.
    left: usize,
    max: usize,
}

impl Memory {
    pub(crate) fn new(max: usize) -> Self {
        Self { left: max, max }
    }

    pub(crate) fn used(&self) -> usize {
        self.max.saturating_sub(self.left)
    }

    /// Deducts `bytes` from the limit. Called before the memory is allocated. `at` is the offset for an error.
    pub(crate) fn charge(&mut self, bytes: usize, at: usize) -> Result<(), DecodeError> {
        let exceeded = || DecodeError::new(format!("the message takes more than {} bytes of memory", self.max), at);
        self.left = self.left.checked_sub(bytes).ok_or_else(exceeded)?;
        Ok(())
    }
}
