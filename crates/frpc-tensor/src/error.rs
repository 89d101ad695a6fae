//! Errors of tensors.

use std::fmt;

use crate::dtype::ElementType;
use crate::tensor::DIMENSIONS_MAX;

/// The reason why a tensor or a `.npy` file is invalid or unsuitable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// The `dtype` is not supported. Contains its first characters.
    Dtype(String),
    /// The elements have another type.
    OtherType {
        /// The requested element type.
        expected: ElementType,
        /// The element type of the tensor.
        found: ElementType,
    },
    /// The length of the data contradicts `shape` and `dtype`.
    Length {
        /// The expected length in bytes. `None` if it exceeds `usize`.
        expected: Option<usize>,
        /// The actual length in bytes.
        found: usize,
    },
    /// There are more than [`DIMENSIONS_MAX`] dimensions, or one has more than 2^32 - 1 elements.
    Shape,
    /// The data is not aligned for the element type.
    Unaligned,
    /// The byte order differs from that of this machine.
    ByteOrder,
    /// A bool is neither 0 nor 1.
    Bool,
    /// A `.npy` file is malformed or not supported.
    Npy(&'static str),
}

impl TensorError {
    /// Creates the error of an unsupported `dtype`, with at most [`QUOTED_MAX`] characters of it.
    pub(crate) fn dtype(text: &str) -> Self {
        Self::Dtype(text.chars().take(QUOTED_MAX).collect())
    }
}

/// Maximum quoted length, which exceeds every valid name.
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
