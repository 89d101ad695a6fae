//! Options of readers and writers, and the types that `Any` may contain.

use std::collections::HashMap;
use std::fmt;

use polyglot::Nesting;

use crate::{CONTAINER_MEMORY_MAX, DecodeError, EncodeError, Json, NESTING_MAX, Reader, Writer};

/// Options of reading and writing JSON. Defaults to proto3's JSON mapping with [limits](crate#limits).
///
/// ```
/// use frpc_json::Options;
///
/// let options = Options::new().nesting_max(20).container_memory(1 << 20);
/// assert_eq!(options.decode::<String>(br#""Emma""#)?, "Emma");
/// # Ok::<(), frpc_json::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct Options<'t> {
    pub(crate) nesting_max: u32,
    pub(crate) container_memory: usize,
    pub(crate) ignores_unknown: bool,
    pub(crate) types: Option<&'t Types>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self::new()
    }
}

impl<'t> Options<'t> {
    /// Creates the default options.
    ///
    /// ```
    /// let flag: bool = frpc_json::Options::new().decode(b"true")?;
    /// assert!(flag);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub const fn new() -> Self {
        Self { nesting_max: NESTING_MAX, container_memory: CONTAINER_MEMORY_MAX, ignores_unknown: false, types: None }
    }

    /// Sets the maximum nesting depth of messages to read, including the root. Clamped to 1 to
    /// [`NESTING_CEILING`](crate::NESTING_CEILING). Defaults to [`NESTING_MAX`].
    ///
    /// ```
    /// let options = frpc_json::Options::new().nesting_max(16);
    /// ```
    pub const fn nesting_max(self, levels: u32) -> Self {
        Self { nesting_max: Nesting::new(levels).levels(), ..self }
    }

    /// Sets the maximum memory in bytes of all list and map elements and boxed messages of one reader. Defaults to
    /// [`CONTAINER_MEMORY_MAX`]. Also limits the contents of all `Any` of one writer, where types that are not
    /// [bounded](AnyType::bounded) only count the length of their bytes.
    ///
    /// ```
    /// let options = frpc_json::Options::new().container_memory(16);
    /// let error = options.decode::<u32>(b"[").expect_err("input should be rejected");
    /// assert_eq!(error.offset(), 0);
    /// ```
    pub const fn container_memory(self, bytes: usize) -> Self {
        Self { container_memory: bytes, ..self }
    }

    /// Sets whether unknown fields and unknown enum names are skipped. Defaults to `false`: both are errors.
    ///
    /// Skipped keys are not checked for duplicates.
    ///
    /// ```
    /// let options = frpc_json::Options::new().ignore_unknown(true);
    /// ```
    pub const fn ignore_unknown(self, ignore: bool) -> Self {
        Self { ignores_unknown: ignore, ..self }
    }

    /// Sets the message types that an `Any` may contain. Defaults to none, which makes any non-empty `Any` an error.
    pub const fn types(self, types: &'t Types) -> Self {
        Self { types: Some(types), ..self }
    }

    /// Decodes one JSON value, which may be surrounded by white space.
    ///
    /// # Errors
    ///
    /// If the input is not JSON in UTF-8, is not such a message, or exceeds a limit.
    ///
    /// ```
    /// let number: u64 = frpc_json::Options::new().decode(br#""18446744073709551615""#)?;
    /// assert_eq!(number, u64::MAX);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    pub fn decode<M: Json>(&self, json: &[u8]) -> Result<M, DecodeError> {
        self.decode_by(json, M::decode_json).map(|(message, _)| message)
    }

    /// Like [`decode`](Self::decode), but also returns the memory in bytes used by the value's lists, maps and boxed
    /// messages.
    ///
    /// # Errors
    ///
    /// Like [`decode`](Self::decode).
    pub fn decode_measured<M: Json>(&self, json: &[u8]) -> Result<(M, usize), DecodeError> {
        self.decode_by(json, M::decode_json)
    }

    /// Like [`decode_measured`](Self::decode_measured), but decodes an array of the message's field values in the order
    /// of declaration. See [`Json::decode_positional`].
    ///
    /// # Errors
    ///
    /// Like [`decode`](Self::decode), or if there are more values than fields.
    pub fn decode_positional<M: Json>(&self, json: &[u8]) -> Result<(M, usize), DecodeError> {
        self.decode_by(json, M::decode_positional)
    }

    #[inline]
    fn decode_by<M: Json>(
        &self,
        json: &[u8],
        decode: impl FnOnce(&mut M, &mut Reader<'_>) -> Result<(), DecodeError>,
    ) -> Result<(M, usize), DecodeError> {
        let mut reader = Reader::new(json, self).map_err(|error| error.in_message(M::NAME))?;
        let mut message = M::default();
        let read = decode(&mut message, &mut reader).and_then(|()| reader.end());
        read.map_err(|error| error.in_message(M::NAME))?;
        Ok((message, reader.container_memory()))
    }

    /// Encodes a message as JSON and appends it to `out`.
    ///
    /// # Errors
    ///
    /// If the message has no JSON form, such as well-known types with certain values and messages that nest too deep.
    /// `out` then keeps its previous contents.
    ///
    /// ```
    /// let mut out = Vec::new();
    /// frpc_json::Options::new().encode(&7_u64, &mut out)?;
    /// assert_eq!(out, br#""7""#, "64 bits are strings in JSON");
    /// # Ok::<(), frpc_json::EncodeError>(())
    /// ```
    pub fn encode<M: Json>(&self, message: &M, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let start = out.len();
        message.encode_json(&mut Writer::new(out, self)).map_err(|error| {
            out.truncate(start);
            error.in_message(M::NAME)
        })
    }
}

/// The types that a `google.protobuf.Any` may contain, by their full names.
///
/// JSON represents an `Any` by its content instead of its bytes, so reading and writing it requires the type. The bytes
/// are in protobuf's encoding, even inside a message with the Polyglot codec.
///
/// Writing an `Any` decodes its bytes with prost, which can allocate some hundred times their length if a type has
/// lists of large messages. To write the `Any` of an untrusted peer, limit its length or register types with
/// [`AnyType::bounded`].
#[derive(Default)]
pub struct Types {
    by_name: HashMap<&'static str, AnyType>,
}

/// Function that returns the memory used by an encoded message after decoding, or `None` if the bytes are invalid.
pub(crate) type Memory = fn(&[u8]) -> Option<usize>;

/// A message type that a `google.protobuf.Any` may contain, for use with [`Types::with_type`]. Created by generated
/// code.
#[derive(Clone, Copy)]
pub struct AnyType {
    pub(crate) name: &'static str,
    /// Whether the type's fields are members of the same object as `@type`, rather than of a nested `value`.
    pub(crate) is_object: bool,
    pub(crate) encode: fn(&[u8], &mut Writer<'_>) -> Result<(), EncodeError>,
    pub(crate) decode: fn(&mut Reader<'_>) -> Result<Vec<u8>, DecodeError>,
    /// Function that computes the memory used by the decoded message, if known.
    pub(crate) memory: Option<Memory>,
}

impl AnyType {
    /// Returns the full name of the message type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }
}

impl fmt::Debug for AnyType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnyType").field(&self.name).finish()
    }
}

impl Types {
    /// Creates an empty set, which does not even contain the well-known types.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the type that a type URL refers to. Its full name follows the last slash of the URL.
    pub(crate) fn get(&self, type_url: &str) -> Option<&AnyType> {
        let (_, name) = type_url.rsplit_once('/')?;
        self.by_name.get(name)
    }

    /// Adds a type, replacing a previous one with the same name.
    #[must_use]
    pub fn with_type(mut self, of: &AnyType) -> Self {
        self.by_name.insert(of.name, *of);
        self
    }
}

impl fmt::Debug for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut names: Vec<_> = self.by_name.keys().collect();
        names.sort_unstable();
        f.debug_tuple("Types").field(&names).finish()
    }
}
