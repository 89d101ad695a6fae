//! Why a tensor is refused.

use std::fmt;

use crate::dtype::ElementType;
use crate::tensor::DIMENSIONS_MAX;

/// The reason why a tensor, or a `.npy` file, is not what its reader needs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TensorError {
    /// The `dtype` is none that tensors have. This is the beginning of it.
    Dtype(String),
    /// The elements have another type.
    OtherType {
        /// The requested type.
        expected: ElementType,
        /// That of the tensor.
        found: ElementType,
    },
    /// The data is not as long as shape and `dtype` say.
    Length {
        /// How long it would have to be, in bytes; none if no memory is so large.
        expected: Option<usize>,
        /// How long it is.
        found: usize,
    },
    /// There are more dimensions than [`DIMENSIONS_MAX`], or one has more elements than 2^32 - 1.
    Shape,
    /// The data is not aligned for such numbers.
    Unaligned,
    /// The bytes of an element have another order than those of this machine.
    ByteOrder,
    /// A bool is neither 0 nor 1.
    Bool,
    /// A `.npy` file is not understood, or not supported.
    Npy(&'static str),
}

impl TensorError {
    /// As much of a text from a peer as an error repeats.
    pub(crate) fn dtype(text: &str) -> Self {
        Self::Dtype(text.chars().take(QUOTED_MAX).collect())
    }
}

/// Long enough for every name of a type, and for most mistakes.
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
