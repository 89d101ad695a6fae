//! Element types and their names in NumPy.

use std::fmt;

/// The element type of a tensor, excluding the byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ElementType {
    /// One byte, 0 or 1.
    Bool,
    /// A signed integer of one byte.
    Int8,
    /// A signed integer of two bytes.
    Int16,
    /// A signed integer of four bytes.
    Int32,
    /// A signed integer of eight bytes.
    Int64,
    /// An unsigned integer of one byte.
    Uint8,
    /// An unsigned integer of two bytes.
    Uint16,
    /// An unsigned integer of four bytes.
    Uint32,
    /// An unsigned integer of eight bytes.
    Uint64,
    /// An IEEE 754 float of two bytes.
    Float16,
    /// bfloat16, which is the upper half of a [`Float32`](Self::Float32). NumPy has no such type.
    Bfloat16,
    /// An IEEE 754 float of four bytes.
    Float32,
    /// An IEEE 754 float of eight bytes.
    Float64,
    /// A complex number that consists of two [`Float32`](Self::Float32).
    Complex64,
    /// A complex number that consists of two [`Float64`](Self::Float64).
    Complex128,
}

/// All element types with their NumPy names and their codes in NumPy descriptors.
const TYPES: [(ElementType, &str, &str); 15] = [
    (ElementType::Bool, "bool", "b1"),
    (ElementType::Int8, "int8", "i1"),
    (ElementType::Int16, "int16", "i2"),
    (ElementType::Int32, "int32", "i4"),
    (ElementType::Int64, "int64", "i8"),
    (ElementType::Uint8, "uint8", "u1"),
    (ElementType::Uint16, "uint16", "u2"),
    (ElementType::Uint32, "uint32", "u4"),
    (ElementType::Uint64, "uint64", "u8"),
    (ElementType::Float16, "float16", "f2"),
    (ElementType::Bfloat16, "bfloat16", ""),
    (ElementType::Float32, "float32", "f4"),
    (ElementType::Float64, "float64", "f8"),
    (ElementType::Complex64, "complex64", "c8"),
    (ElementType::Complex128, "complex128", "c16"),
];

impl ElementType {
    /// Returns the NumPy name of the type, such as `float32`.
    #[must_use]
    pub fn name(self) -> &'static str {
        TYPES.iter().find(|(element, ..)| *element == self).map_or("", |(_, name, _)| name)
    }

    /// Returns the size of an element in bytes.
    #[must_use]
    pub fn size(self) -> usize {
        match self {
            Self::Bool | Self::Int8 | Self::Uint8 => 1,
            Self::Int16 | Self::Uint16 | Self::Float16 | Self::Bfloat16 => 2,
            Self::Int32 | Self::Uint32 | Self::Float32 => 4,
            Self::Int64 | Self::Uint64 | Self::Float64 | Self::Complex64 => 8,
            Self::Complex128 => 16,
        }
    }

    /// Returns the NumPy descriptor for little-endian elements, or `None` if NumPy lacks the type.
    pub(crate) fn descriptor(self) -> Option<String> {
        let (.., code) = TYPES.iter().find(|(element, ..)| *element == self)?;
        let order = if self.size() == 1 { '|' } else { '<' };
        (!code.is_empty()).then(|| format!("{order}{code}"))
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An element type with its byte order, as stated by the `dtype` of a tensor.
///
/// ```
/// use frpc_tensor::{Dtype, ElementType};
///
/// for text in ["float32", "<f4", "f4"] {
///     assert_eq!(Dtype::parse(text), Some(Dtype { element: ElementType::Float32, is_big_endian: false }));
/// }
/// assert!(Dtype::parse(">f4").is_some_and(|dtype| dtype.is_big_endian));
/// assert_eq!(Dtype::parse("|O"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dtype {
    /// The element type.
    pub element: ElementType,
    /// Whether the elements are big-endian. Always `false` for elements of one byte.
    pub is_big_endian: bool,
}

impl Dtype {
    /// Parses a NumPy name, which means little-endian elements, or a NumPy descriptor such as `<f4`. Returns `None` for
    /// types that tensors do not support (text, times, objects, structures) and for `=`, because the sender's byte
    /// order is unknown.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        if let Some((element, ..)) = TYPES.iter().find(|(_, name, _)| *name == text) {
            return Some(Self { element: *element, is_big_endian: false });
        }
        let (order, code) = match text.split_at_checked(1)? {
            (order @ ("<" | ">" | "|"), code) => (order, code),
            _ => ("", text),
        };
        let code = if code == "?" { "b1" } else { code };
        let (element, ..) = TYPES.iter().find(|(.., known)| *known == code && !code.is_empty())?;
        let is_single = element.size() == 1;
        // Only elements of one byte may have no byte order.
        (is_single || order != "|").then_some(Self { element: *element, is_big_endian: order == ">" && !is_single })
    }
}

#[cfg(test)]
mod tests {
    use super::{Dtype, ElementType, TYPES};

    #[test]
    fn dtype_is_parsed_from_name_or_descriptor() {
        for (element, name, code) in TYPES {
            let dtype = Some(Dtype { element, is_big_endian: false });
            assert_eq!(Dtype::parse(name), dtype);
            assert_eq!(element.name(), name);
            let Some(descriptor) = element.descriptor() else { continue };
            assert_eq!(Dtype::parse(&descriptor), dtype, "{descriptor}");
            assert!(code.ends_with(&element.size().to_string()), "{code}");
        }
        assert_eq!(Dtype::parse("?").map(|dtype| dtype.element), Some(ElementType::Bool));
    }

    #[test]
    fn unsupported_dtypes_are_rejected() {
        for text in ["", "O", "|O", "<U5", "S3", "|S3", "<M8[ns]", "|V2", "=f4", "|f4", "<", "f", "f3", "float", "é"] {
            assert_eq!(Dtype::parse(text), None, "{text}");
        }
    }
}
