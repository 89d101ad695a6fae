//! `Any`, represented by its content instead of its bytes. Requires a table of types.

use polyglot::protobuf::floats::wrapped_zero;

use crate::error::quoted;
use crate::{DecodeError, DecodeReason, EncodeError, EncodeReason, Reader, Writer};

const NAME: &str = "google.protobuf.Any";

/// Writes an `Any` message. If its type and value are empty, writes an empty object.
///
/// # Errors
///
/// If its type is not one of the [known types](crate::Types), or its bytes are not a message of this type with a JSON
/// form.
pub fn encode_any(type_url: &str, value: &[u8], to: &mut Writer<'_>) -> Result<(), EncodeError> {
    if type_url.is_empty() && value.is_empty() {
        return to.message(|_| Ok(()));
    }
    let content = to.options().types.and_then(|types| types.get(type_url));
    let content = content.ok_or_else(|| EncodeError::new(EncodeReason::UnknownType(quoted(type_url))))?;
    // Charge the texts by the length of the bytes, which they cannot exceed. Invalid bytes are rejected by the decoder.
    to.charge(content.memory.and_then(|memory| memory(value)).unwrap_or_default().saturating_add(value.len()))?;
    if !content.is_object {
        return to.message(|to| {
            to.raw("\"@type\":");
            to.string(type_url);
            to.key("\"value\":");
            (content.encode)(value, to)
        });
    }
    // The content writes its own object, into which the `@type` is then inserted.
    to.level(|to| {
        let start = to.position();
        (content.encode)(value, to)?;
        to.insert_type(start, type_url);
        Ok(())
    })
}

/// Reads an `Any` message. Returns its type URL and its encoded content.
///
/// # Errors
///
/// If the next value is not an object, its `@type` is missing or not [known](crate::Types), or the content is invalid.
pub fn decode_any(from: &mut Reader<'_>) -> Result<(String, Vec<u8>), DecodeError> {
    from.level(in_object)
}

fn in_object(from: &mut Reader<'_>) -> Result<(String, Vec<u8>), DecodeError> {
    let Some((type_url, offset)) = find_any_type(from)? else { return Ok((String::new(), Vec::new())) };
    let Some(content) = from.options().types.and_then(|types| types.get(&type_url)) else {
        return Err(DecodeError::new(DecodeReason::UnknownType(quoted(&type_url)), offset));
    };
    if content.is_object {
        from.mark_any(true);
        let value = (content.decode)(from);
        from.mark_any(false);
        return Ok((type_url, value?));
    }
    let empty = || type_url.ends_with(concat!("/", "google.protobuf.Empty")).then(Vec::new);
    let value = any_value(from, content.decode, empty)?;
    Ok((type_url, value))
}

/// Reads the content of an `Any` from its member `value`. Used if the type of the content has a special JSON
/// representation. If the member is missing, the content is `empty`, because other implementations omit an `Empty`.
///
/// # Errors
///
/// If the object has members other than `@type` and `value`, or has neither `value` nor an `empty` content.
#[doc(hidden)]
pub fn any_value<T>(
    from: &mut Reader<'_>,
    mut decode: impl FnMut(&mut Reader<'_>) -> Result<T, DecodeError>,
    empty: impl FnOnce() -> Option<T>,
) -> Result<T, DecodeError> {
    let mut has_type = false;
    let mut value = None;
    from.object(|key, from| match key {
        "@type" if !has_type => {
            has_type = true;
            from.skip()
        }
        "value" if value.is_none() => {
            value = Some(decode(from)?);
            Ok(())
        }
        "@type" | "value" => Err(from.duplicate(key)),
        _ => from.unknown_field(NAME, key),
    })?;
    value.or_else(empty).ok_or_else(|| from.unexpected("\"value\""))
}

/// Returns the `@type` member of the next object and its offset, without consuming the object. Consumes an empty object
/// and returns `None`.
///
/// # Errors
///
/// If the next value is not an object, has no `@type` but other members, or too many bytes precede `@type`.
#[doc(hidden)]
pub fn find_any_type(from: &mut Reader<'_>) -> Result<Option<(String, usize)>, DecodeError> {
    let start = from.position();
    let mut found = None;
    let mut is_key = from.first_field()?;
    while is_key {
        if from.key()? == "@type" {
            let offset = from.value_offset();
            found = Some((from.string("URL of a type")?.into_owned(), offset));
            break;
        }
        from.skip()?;
        is_key = from.next_field()?;
    }
    from.rewind(start)?;
    if found.is_none() {
        // Only an empty object may lack a type, because ignoring the content of others would lose data silently.
        from.object(|_, from| Err(from.error(DecodeReason::NoType)))?;
    }
    Ok(found)
}

impl crate::Types {
    /// Adds a type. [`well_known`](Self::well_known) contains protobuf's well-known types.
    ///
    /// ```
    /// use frpc_json::{Options, Types, to_json};
    /// use prost_types::{Any, Duration};
    ///
    /// let any = Any::from_msg(&Duration { seconds: 90, nanos: 0 })?;
    /// let types = Types::new().with::<Duration>();
    /// let mut out = Vec::new();
    /// Options::new().types(&types).encode(&any, &mut out)?;
    /// assert_eq!(out, br#"{"@type":"type.googleapis.com/google.protobuf.Duration","value":"90s"}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with<M: crate::Json + prost::Message + 'static>(self) -> Self {
        self.with_type(&crate::AnyType::of::<M>())
    }

    /// Returns a set with the well-known types: `Any` itself, `Duration`, `Empty`, `FieldMask`, `ListValue`,
    /// `SourceContext`, `Struct`, `Timestamp`, `Value` and the wrappers.
    #[must_use]
    pub fn well_known() -> Self {
        use prost_types::{Any, Duration, FieldMask, ListValue, SourceContext, Struct, Timestamp, Value};
        let structs = Self::new().with::<Any>().with::<Duration>().with::<FieldMask>().with::<ListValue>();
        let structs = structs.with::<SourceContext>().with::<Struct>().with::<Timestamp>().with::<Value>();
        let wrappers = structs.with::<()>().with::<bool>().with::<i32>().with::<i64>().with::<u32>().with::<u64>();
        wrappers.with::<f32>().with::<f64>().with::<String>().with::<Vec<u8>>()
    }
}

impl crate::AnyType {
    /// Creates the descriptor of message type `M`, for use in an `Any`.
    #[must_use]
    pub const fn of<M: crate::Json + prost::Message + 'static>() -> Self {
        fn encode<M: crate::Json + prost::Message>(bytes: &[u8], to: &mut Writer<'_>) -> Result<(), EncodeError> {
            let message = M::decode(bytes);
            message.map_err(|error| Writer::refuse(format!("content of an Any: {error}")))?.encode_json(to)
        }

        fn decode<M: crate::Json + prost::Message + 'static>(from: &mut Reader<'_>) -> Result<Vec<u8>, DecodeError> {
            let mut message = M::default();
            message.decode_json(from)?;
            Ok(wrapped_zero(&message).map_or_else(|| message.encode_to_vec(), <[u8]>::to_vec))
        }

        Self { name: M::NAME, is_object: M::IS_OBJECT, encode: encode::<M>, decode: decode::<M>, memory: None }
    }

    /// Applies the [`container_memory`](crate::Options::container_memory) limit to contents of this type that are
    /// written. `memory` returns the memory that encoded bytes use after decoding, without texts, or `None` if the
    /// bytes are invalid.
    #[must_use]
    pub const fn bounded(self, memory: fn(&[u8]) -> Option<usize>) -> Self {
        Self { memory: Some(memory), ..self }
    }
}
