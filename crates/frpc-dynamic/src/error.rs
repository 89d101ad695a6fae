//! Errors with their reason and the path of fields to the value.

use std::fmt;

/// The error of a message that cannot be encoded.
///
/// ```
/// # use frpc_dynamic::{Codec, DynamicMessage};
/// # use prost_reflect::{DescriptorPool, Value};
/// # let schema = "syntax = \"proto3\"; message Paint { Color color = 1; } enum Color { RED = 0; }";
/// # let file = protox::file::File::from_source("paint.proto", schema)?;
/// # let set = prost_reflect::prost_types::FileDescriptorSet { file: vec![file.into()] };
/// # let pool = DescriptorPool::from_file_descriptor_set(set)?;
/// # let mut paint = DynamicMessage::new(pool.get_message_by_name("Paint").ok_or("no such message")?);
/// // enum Color { RED = 0; }
/// paint.set_field_by_name("color", Value::EnumNumber(7));
/// let error = Codec::new().body(&paint).unwrap_err();
/// assert_eq!(error.to_string(), "in field `color` of `Paint`: `Color` has no number 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodeError {
    path: Path,
    reason: String,
}

/// The error of invalid input. Either the peer is faulty, or the schemas differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    path: Path,
    reason: String,
    offset: usize,
}

/// The path to a value. The innermost step is first while the error propagates outwards.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Path {
    message: String,
    steps: Vec<String>,
}

impl EncodeError {
    #[cold]
    pub(crate) fn new(reason: String) -> Self {
        Self { path: Path::default(), reason }
    }

    /// Converts the error of a single value.
    #[cold]
    #[expect(clippy::needless_pass_by_value, reason = "it is the argument of `map_err`")]
    pub(crate) fn of_value(error: polyglot::EncodeError) -> Self {
        Self::new(error.to_string())
    }

    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.path.field(name);
        self
    }

    pub(crate) fn in_element(mut self, at: usize) -> Self {
        self.path.element(at);
        self
    }

    pub(crate) fn of_message(mut self, name: &str) -> Self {
        self.path.message = name.to_owned();
        self
    }
}

impl DecodeError {
    #[cold]
    pub(crate) fn new(reason: impl Into<String>, offset: usize) -> Self {
        Self { path: Path::default(), reason: reason.into(), offset }
    }

    /// Returns the offset of the invalid value in the input, in bytes.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.offset
    }

    pub(crate) fn in_field(mut self, name: &str) -> Self {
        self.path.field(name);
        self
    }

    pub(crate) fn in_element(mut self, at: usize) -> Self {
        self.path.element(at);
        self
    }

    pub(crate) fn of_message(mut self, name: &str) -> Self {
        self.path.message = name.to_owned();
        self
    }
}

impl From<polyglot::DecodeError> for DecodeError {
    #[cold]
    fn from(error: polyglot::DecodeError) -> Self {
        let text = error.to_string();
        let position = format!("at byte {}: ", error.offset());
        let reason = text.strip_prefix(&position).unwrap_or(&text);
        Self::new(reason, error.offset())
    }
}

impl Path {
    fn field(&mut self, name: &str) {
        self.steps.push(name.to_owned());
    }

    fn element(&mut self, at: usize) {
        self.steps.push(format!("[{at}]"));
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.steps.is_empty() {
            f.write_str("field `")?;
            for (at, step) in self.steps.iter().rev().enumerate() {
                let dot = if at > 0 && !step.starts_with('[') { "." } else { "" };
                write!(f, "{dot}{step}")?;
            }
            f.write_str("` of ")?;
        }
        write!(f, "`{}`", self.message)
    }
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {}: {}", self.path, self.reason)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in {} at byte {}: {}", self.path, self.offset, self.reason)
    }
}

impl std::error::Error for EncodeError {}

impl std::error::Error for DecodeError {}
