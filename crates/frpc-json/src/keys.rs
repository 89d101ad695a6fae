//! Map keys, which are strings in JSON.

use crate::Writer;
use crate::reader::{fitting, integer_of};

/// A type that protobuf allows as a map key: bool, an integer or a string.
pub trait Key: Sized {
    /// The name of the key type for errors.
    const EXPECTED: &'static str;

    /// Parses a map key from its text without quotation marks.
    fn from_text(text: &str) -> Option<Self>;

    /// Writes the map key with quotation marks.
    fn write(&self, to: &mut Writer<'_>);
}

impl Key for String {
    const EXPECTED: &'static str = "string";

    #[inline]
    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    #[inline]
    fn write(&self, to: &mut Writer<'_>) {
        to.string(self);
    }
}

impl Key for bool {
    const EXPECTED: &'static str = "bool";

    fn from_text(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn write(&self, to: &mut Writer<'_>) {
        to.plain_string(if *self { "true" } else { "false" });
    }
}

macro_rules! integer_keys {
    ($($type:ty, $expected:literal;)*) => {$(
        impl Key for $type {
            const EXPECTED: &'static str = $expected;

            fn from_text(text: &str) -> Option<Self> {
                integer_of(text).and_then(fitting)
            }

            fn write(&self, to: &mut Writer<'_>) {
                to.quoted_integer(*self);
            }
        }
    )*};
}

integer_keys! {
    i32, "int32";
    i64, "int64";
    u32, "uint32";
    u64, "uint64";
}
