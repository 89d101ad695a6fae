//! Errors of tensors.

use std::fmt;

use crate::dtype::ElementType;
use crate::tensor::DIMENSIONS_MAX;

/// Reason why a tensor or a `.npy` file is invalid or cannot be used as requested.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// The `dtype` is not supported. Contains its first characters.
    Dtype(String),
    /// The elements have a different type than the requested one.
    OtherType {
        /// Element type that was requested.
        expected: ElementType,
        /// Element type of the tensor.
        found: ElementType,
    },
    /// The length of the data does not match `shape` and `dtype`.
    Length {
        /// Expected length in bytes, or `None` if it exceeds `usize`.
        expected: Option<usize>,
        /// Actual length in bytes.
        found: usize,
    },
    /// The tensor has more than [`DIMENSIONS_MAX`] dimensions, or one of them has more than 2^32 - 1 elements.
    Shape,
    /// The data is not aligned in memory for the element type.
    Unaligned,
    /// The byte order of the data differs from that of this machine.
    ByteOrder,
    /// A byte of a bool tensor is neither 0 nor 1.
    Bool,
    /// The `.npy` file is malformed or not supported.
    Npy(&'static str),
}

impl TensorError {
    /// Creates the error for an unsupported `dtype`, quoting at most [`QUOTED_MAX`] characters of it.
    pub(crate) fn dtype(text: &str) -> Self {
        Self::Dtype(text.chars().take(QUOTED_MAX).collect())
    }
}

/// Maximum number of quoted characters, which is more than any valid name has.
const QUOTED_MAX: usize = 40;

impl fmt::Display for TensorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dtype(text) => write!(f, "unsupported dtype {text:?}"),
            Self::OtherType { expected, found } => write!(f, "the tensor has elements of {found}, not {expected}"),
            Self::Length { expected: Some(expected), found } => {
                write!(f, "the tensor takes {expected} bytes by its shape and dtype, and has {found}")
            }
            Self::Length { expected: None, found } => {
                write!(f, "by its shape the tensor is larger than any memory, and has {found} bytes")
            }
            Self::Shape => {
                write!(f, "the shape has more than {DIMENSIONS_MAX} dimensions, or one of more than 4294967295")
            }
            Self::Unaligned => f.write_str("the data is not aligned to its elements"),
            Self::ByteOrder => f.write_str("the bytes of the elements have another order than this machine's"),
            Self::Bool => f.write_str("a bool of the tensor is neither 0 nor 1"),
            Self::Npy(reason) => write!(f, "invalid .npy file: {reason}"),
        }
    }
}

impl std::error::Error for TensorError {}
