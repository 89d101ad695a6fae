//! Estimation of the memory of a message from its encoding, before it is decoded.
//!
//! The length of the input does not bound the memory, because a list element of two bytes in protobuf encoding can be a
//! whole message in memory. The estimate parses the input by the functions of prost, so that it agrees with decoding.
//! Generated code describes the memory of each field.

use bytes::{Buf, BufMut};
use prost::encoding::{self, DecodeContext, WireType};
use prost::{DecodeError, Message};

/// A message type that allows the memory of a decoded message to be computed from its protobuf encoding.
pub trait Protobuf {
    /// Returns the memory use of the values of the field with this number. Unknown fields use none.
    fn field(_number: u32) -> Field {
        Field::PLAIN
    }
}

/// Heap memory that the values of a field use, excluding the struct of the message. Strings are not counted, because
/// their encoded length bounds their memory. Unused capacity of lists is not counted either.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Field {
    /// Memory in bytes for the first element. It is larger than for later elements, because a container allocates
    /// several slots at once.
    first: usize,
    /// Memory in bytes for each further list element or map entry.
    each: usize,
    values: Values,
}

/// Type of a field's values, which determines how their memory is computed from the encoding.
#[derive(Clone, Copy, Debug)]
enum Values {
    /// Values that use no memory except in the struct or list that contains them.
    Plain,
    /// Numbers that are encoded as varints. They may be packed.
    Varints,
    /// Numbers with an encoding of this size in bytes. They may be packed.
    Fixed(usize),
    Messages(fn(u32) -> Field),
    /// Map entries. If their values are messages, contains the function that describes the fields of these messages.
    Entries(Option<fn(u32) -> Field>),
}

impl Field {
    /// A field that uses no memory except in the struct of its message.
    pub const PLAIN: Self = Self { first: 0, each: 0, values: Values::Plain };

    /// Returns the memory of a `Vec<T>`, excluding heap memory of its elements.
    pub const fn list<T>() -> Self {
        // These are the initial capacities chosen by the standard library.
        let slots = match size_of::<T>() {
            0..=1 => 8,
            2..=1024 => 4,
            _ => 1,
        };
        Self { first: size_of::<T>().saturating_mul(slots), each: size_of::<T>(), values: Values::Plain }
    }

    /// Returns the memory of a `Vec<T>` of numbers that are encoded as varints.
    pub const fn varints<T>() -> Self {
        Self { values: Values::Varints, ..Self::list::<T>() }
    }

    /// Returns the memory of a `Vec<T>` of numbers that have the same size on the wire and in memory.
    pub const fn fixed<T>() -> Self {
        Self { values: Values::Fixed(size_of::<T>()), ..Self::list::<T>() }
    }

    /// Returns the memory of a `Box<T>` or `Option<Box<T>>`.
    pub const fn boxed<T>() -> Self {
        Self { first: size_of::<T>(), each: size_of::<T>(), values: Values::Plain }
    }

    /// Returns the memory of a `HashMap<K, V>`, excluding heap memory of its entries.
    pub const fn map<K, V>() -> Self {
        /// Number of slots in the smallest hash table that is allocated.
        const SLOTS: usize = 4;
        /// Number of control bytes in the smallest hash table that is allocated: one per slot, and one group more.
        const CONTROL: usize = 20;
        let each = size_of::<(K, V)>();
        Self {
            first: each.saturating_mul(SLOTS).saturating_add(CONTROL),
            each: each.saturating_add(1),
            values: Values::Entries(None),
        }
    }

    /// Returns the memory of a `BTreeMap<K, V>`, excluding heap memory of its entries.
    pub const fn btree_map<K, V>() -> Self {
        /// Number of slots in a node of a B-tree map.
        const SLOTS: usize = 11;
        let each = size_of::<(K, V)>();
        Self { first: each.saturating_mul(SLOTS), each, values: Values::Entries(None) }
    }

    /// Sets the message type of a field's values. The field must not be a map.
    pub const fn of<M: Protobuf>(self) -> Self {
        Self { values: Values::Messages(M::field), ..self }
    }

    /// Sets the message type of a map field's values.
    pub const fn to<M: Protobuf>(self) -> Self {
        Self { values: Values::Entries(Some(M::field)), ..self }
    }
}

/// Returns the memory in bytes that a message takes outside of its own struct. `message` is its encoding.
///
/// ```
/// use polyglot::protobuf::memory_of;
/// use prost::Message;
/// use prost_types::{ListValue, Value};
///
/// let list = ListValue { values: vec![Value::default(); 5] };
/// let memory = memory_of::<ListValue>(&list.encode_to_vec())?;
/// assert!(memory >= 5 * size_of::<Value>());
/// # Ok::<(), prost::DecodeError>(())
/// ```
///
/// # Errors
/// If the message is malformed. Decoding fails then too.
pub fn memory_of<M: Protobuf>(message: &[u8]) -> Result<usize, DecodeError> {
    let mut walk = MemoryWalk::of(Values::Messages(M::field));
    walk.merge(message)?;
    Ok(walk.memory)
}

/// A prost message that discards all merged fields and only sums up the memory that they would use.
struct MemoryWalk {
    /// The message, as a value of a field: a message or a map entry.
    of: Values,
    /// Bit set of the fields that have occurred so far. Fields with numbers that differ by a multiple of 64 share a
    /// bit, so the additional memory of the first element is counted for only one of them.
    seen: u64,
    memory: usize,
}

impl MemoryWalk {
    fn of(of: Values) -> Self {
        Self { of, seen: 0, memory: 0 }
    }

    fn field(&self, number: u32) -> Field {
        /// Field number of the value in an encoded map entry. The key has number 1.
        const VALUE: u32 = 2;
        match self.of {
            Values::Messages(field) => field(number),
            Values::Entries(Some(value)) if number == VALUE => {
                Field { values: Values::Messages(value), ..Field::PLAIN }
            }
            _ => Field::PLAIN,
        }
    }

    /// Adds the memory of `elements` further values of a field.
    fn count(&mut self, number: u32, field: Field, elements: usize) {
        if elements == 0 || field.each == 0 {
            return; // Return before setting a bit, because it may belong to another field.
        }
        let bit = 1_u64.rotate_left(number);
        let first = if self.seen & bit == 0 { field.first.saturating_sub(field.each) } else { 0 };
        self.seen |= bit;
        self.memory = self.memory.saturating_add(elements.saturating_mul(field.each)).saturating_add(first);
    }
}

/// Returns the number of values in a packed field. Returns `None` if the field is truncated or malformed.
fn packed(mut content: &[u8], values: Values) -> Option<usize> {
    let len = usize::try_from(encoding::decode_varint(&mut content).ok()?).ok()?;
    let content = content.get(..len)?;
    Some(match values {
        Values::Fixed(size) => len.checked_div(size)?,
        _ => content.iter().filter(|byte| **byte < 0x80).count(), // Counts the last byte of each varint.
    })
}

impl Message for MemoryWalk {
    fn merge_field(
        &mut self,
        number: u32,
        wire_type: WireType,
        buf: &mut impl Buf,
        context: DecodeContext,
    ) -> Result<(), DecodeError> {
        let field = self.field(number);
        let is_packed = wire_type == WireType::LengthDelimited;
        let elements = match field.values {
            Values::Varints | Values::Fixed(_) if is_packed => packed(buf.chunk(), field.values).unwrap_or_default(),
            _ => 1,
        };
        self.count(number, field, elements);
        let wire_type = match field.values {
            Values::Messages(_) => wire_type,
            // Prost accepts map entries of any wire type.
            Values::Entries(_) => WireType::LengthDelimited,
            // Use a new context, so that skipping does not reach the recursion limit before decoding does.
            _ => return encoding::skip_field(wire_type, number, buf, DecodeContext::default()),
        };
        let mut inner = Self { memory: self.memory, ..Self::of(field.values) };
        let end = encoding::message::merge(wire_type, &mut inner, buf, context);
        self.memory = inner.memory;
        end
    }

    // Does nothing, because this message is only used for decoding.
    fn encode_raw(&self, _: &mut impl BufMut) {}

    fn encoded_len(&self) -> usize {
        0
    }

    fn clear(&mut self) {
        *self = Self::of(self.of);
    }
}

/// Implements [`Protobuf`] for message types. The arguments describe the fields that use heap memory.
macro_rules! fields {
    ($($type:ty { $($number:literal => $field:expr,)* })*) => {$(
        impl Protobuf for $type {
            fn field(number: u32) -> Field {
                match number {
                    $($number => $field,)*
                    _ => Field::PLAIN,
                }
            }
        }
    )*};
}

fields! {
    () {} bool {} i32 {} i64 {} u32 {} u64 {} f32 {} f64 {} String {} Vec<u8> {} bytes::Bytes {}
    prost_types::Any {} prost_types::Duration {} prost_types::SourceContext {} prost_types::Timestamp {}
    prost_types::FieldMask { 1 => Field::list::<String>(), }
    prost_types::ListValue { 1 => Field::list::<prost_types::Value>().of::<prost_types::Value>(), }
    prost_types::Struct { 1 => Field::btree_map::<String, prost_types::Value>().to::<prost_types::Value>(), }
    prost_types::Value {
        5 => Field::PLAIN.of::<prost_types::Struct>(),
        6 => Field::PLAIN.of::<prost_types::ListValue>(),
    }
}
