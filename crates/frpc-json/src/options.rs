//! Options of a reader, and the types that `Any` may hold.

use std::collections::HashMap;
use std::fmt;

use polyglot::Nesting;

use crate::{CONTAINER_MEMORY_MAX, DecodeError, EncodeError, Json, NESTING_MAX, Reader, Writer};

/// How JSON is read and written; by default as proto3's JSON mapping says, with [limits](crate#limits).
///
/// ```
/// use frpc_json::Options;
///
/// let options = Options::new().nesting_max(20).container_memory(1 << 20);
/// assert_eq!(options.decode::<String>(br#""Emma""#)?, "Emma");
/// # Ok::<(), frpc_json::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
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
    /// The default options.
    ///
    /// ```
    /// let flag: bool = frpc_json::Options::new().decode(b"true")?;
    /// assert!(flag);
    /// # Ok::<(), frpc_json::DecodeError>(())
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Self { nesting_max: NESTING_MAX, container_memory: CONTAINER_MEMORY_MAX, ignores_unknown: false, types: None }
    }

    /// How deep messages that are read may nest, the root included, clamped to 1 to [`NESTING_CEILING`](crate::NESTING_CEILING). Default:
    /// [`NESTING_MAX`].
    ///
    /// ```
    /// let options = frpc_json::Options::new().nesting_max(16);
    /// ```
    #[must_use]
    pub const fn nesting_max(self, levels: u32) -> Self {
        Self { nesting_max: Nesting::new(levels).levels(), ..self }
    }

    /// How many bytes the elements of all lists and maps, and the boxed messages, of one decoding may take. Default:
    /// [`CONTAINER_MEMORY_MAX`]. As many may the contents of all `Any` of one encoding, where those of types
    /// that are not [bounded](AnyType::bounded) count by their bytes alone.
    ///
    /// ```
    /// let options = frpc_json::Options::new().container_memory(16);
    /// let error = options.decode::<u32>(b"[").expect_err("input should be rejected");
    /// assert_eq!(error.offset(), 0);
    /// ```
    #[must_use]
    pub const fn container_memory(self, bytes: usize) -> Self {
        Self { container_memory: bytes, ..self }
    }

    /// Whether fields that a message does not have are skipped, and with them names that an enum does not have.
    /// Default: `false`, both are errors.
    ///
    /// Of a key that is skipped it is not checked whether it occurs twice.
    ///
    /// ```
    /// let options = frpc_json::Options::new().ignore_unknown(true);
    /// ```
    #[must_use]
    pub const fn ignore_unknown(self, ignore: bool) -> Self {
        Self { ignores_unknown: ignore, ..self }
    }

    /// The types that `Any` may hold. Default: none, and an `Any` that is not empty is an error.
    #[must_use]
    pub const fn types(self, types: &'t Types) -> Self {
        Self { types: Some(types), ..self }
    }

    /// Reads one value, with nothing but white space around it.
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

    /// As [`decode`](Self::decode), with the memory that the lists, maps and boxed messages of the value take, in bytes.
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode).
    pub fn decode_measured<M: Json>(&self, json: &[u8]) -> Result<(M, usize), DecodeError> {
        self.decode_by(json, M::decode_json)
    }

    /// As [`decode_measured`](Self::decode_measured), of an array of a message's fields in the order of declaration; see
    /// [`Json::decode_positional`].
    ///
    /// # Errors
    ///
    /// As [`decode`](Self::decode), and if there are more values than fields.
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

    /// Appends the message to `out`.
    ///
    /// # Errors
    ///
    /// If the message has no JSON, which is true of some well-known types with certain values, and of messages that
    /// nest too deep. Everything written of it is removed.
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

/// The types that a `google.protobuf.Any` may hold, by their full names.
///
/// JSON has the content of an `Any` in place of its bytes, so reading and writing it takes a type. The bytes are
/// in protobuf's encoding, also with the Polyglot codec around them.
///
/// Writing an `Any` decodes its bytes by prost, which allocates as the bytes demand: up to some hundred times their
/// length if a type has lists of large messages. To write the `Any` of a hostile peer, bound its bytes or
/// register types by [`AnyType::bounded`].
#[derive(Default)]
pub struct Types {
    by_name: HashMap<&'static str, AnyType>,
}

/// The memory that bytes take as a message, `None` if they hold none.
pub(crate) type Memory = fn(&[u8]) -> Option<usize>;

/// A type that a `google.protobuf.Any` may hold, for [`Types::with_type`]. Generated code makes them.
#[derive(Clone, Copy)]
pub struct AnyType {
    pub(crate) name: &'static str,
    /// Whether its fields are members of the same object as `@type`, not of a `value`.
    pub(crate) is_object: bool,
    pub(crate) encode: fn(&[u8], &mut Writer<'_>) -> Result<(), EncodeError>,
    pub(crate) decode: fn(&mut Reader<'_>) -> Result<Vec<u8>, DecodeError>,
    /// The memory that the bytes take when they are decoded, if it is known.
    pub(crate) memory: Option<Memory>,
}

impl AnyType {
    /// The full name.
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
    /// No types, not even well-known ones.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The type of a URL: its full name follows the last slash.
    pub(crate) fn get(&self, type_url: &str) -> Option<&AnyType> {
        let (_, name) = type_url.rsplit_once('/')?;
        self.by_name.get(name)
    }

    /// Adds a type in the place of one of the same name.
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
