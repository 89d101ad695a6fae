//! Rust types of elements.

use crate::dtype::ElementType;

/// A Rust type of tensor elements. This trait is sealed.
pub trait Element: bytemuck::CheckedBitPattern + bytemuck::NoUninit + Send + Sync + sealed::Bytes {
    /// Element type that corresponds to this Rust type.
    const TYPE: ElementType;
}

pub(crate) mod sealed {
    /// Decodes the elements of a tensor in either byte order.
    pub trait Bytes: Sized {
        /// Decodes all elements. Returns `None` if any of them is not a valid value. Ignores an incomplete element at
        /// the end.
        fn read(bytes: &[u8], is_big_endian: bool) -> Option<Vec<Self>>;
    }
}

macro_rules! numbers {
    ($($number:ty, $element:ident;)*) => {$(
        impl Element for $number {
            const TYPE: ElementType = ElementType::$element;
        }

        impl sealed::Bytes for $number {
            fn read(bytes: &[u8], is_big_endian: bool) -> Option<Vec<Self>> {
                let (elements, _) = bytes.as_chunks();
                let read = if is_big_endian { Self::from_be_bytes } else { Self::from_le_bytes };
                Some(elements.iter().map(|element| read(*element)).collect())
            }
        }
    )*};
}

numbers! {
    i8, Int8;
    i16, Int16;
    i32, Int32;
    i64, Int64;
    u8, Uint8;
    u16, Uint16;
    u32, Uint32;
    u64, Uint64;
    f32, Float32;
    f64, Float64;
}

impl Element for bool {
    const TYPE: ElementType = ElementType::Bool;
}

impl sealed::Bytes for bool {
    fn read(bytes: &[u8], _: bool) -> Option<Vec<Self>> {
        let one = |byte: &u8| match byte {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        };
        bytes.iter().map(one).collect()
    }
}
