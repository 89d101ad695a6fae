//! Protobuf's well-known types, which have JSON forms of their own.
//!
//! Wrappers are the values in them, `Empty` is `()`, and the others are structs of the crate `prost-types`. For those
//! that a build generates itself, [`well_known!`](crate::well_known) implements the same forms. The text of times is in
//! `wellknown/times.rs`, that of field masks in `wellknown/masks.rs`, and the content of `Any` in `wellknown/any.rs`.

mod any;
mod masks;
mod times;

#[doc(hidden)]
pub use any::find_any_type;
pub use any::{decode_any, encode_any};
pub use masks::{decode_field_mask, encode_field_mask};
pub use times::{decode_duration, decode_timestamp, encode_duration, encode_timestamp};

use crate::{DecodeError, EncodeError, Fields, Json, Reader, Writer};

/// `google.protobuf.Empty`.
impl Fields for () {
    const NAME: &'static str = "google.protobuf.Empty";
    const FIELDS: &'static [&'static str] = &[];
    const IS_OBJECT: bool = false;

    fn field(_: &str) -> Option<usize> {
        None
    }

    fn encode_fields(&self, _: &mut Writer<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_field(&mut self, _: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        from.skip()
    }
}

/// The kind of a `google.protobuf.Value`, by its first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub enum ValueKind {
    Null,
    Number,
    String,
    Bool,
    Struct,
    List,
}

/// What [`well_known!`](crate::well_known) uses.
#[doc(hidden)]
impl Reader<'_> {
    /// The kind of the value that is next. It is not read, except for `null`.
    pub fn value_kind(&mut self) -> Result<ValueKind, DecodeError> {
        Ok(match self.peek() {
            Some(b'"') => ValueKind::String,
            Some(b'{') => ValueKind::Struct,
            Some(b'[') => ValueKind::List,
            Some(b't' | b'f') => ValueKind::Bool,
            Some(b'n') if self.null()? => ValueKind::Null,
            Some(b'-' | b'0'..=b'9') => ValueKind::Number,
            _ => return Err(self.unexpected("value")),
        })
    }

    /// Reads a value.
    pub fn read<T: Json + Default>(&mut self) -> Result<T, DecodeError> {
        let mut value = T::default();
        self.value(&mut value)?;
        Ok(value)
    }
}

/// What [`well_known!`](crate::well_known) uses.
#[doc(hidden)]
impl Writer<'_> {
    /// Writes the number of a `Value`.
    pub fn number_value(&mut self, number: f64) -> Result<(), EncodeError> {
        if !number.is_finite() {
            return Err(Self::refuse("number of a google.protobuf.Value is not finite"));
        }
        self.value(&number)
    }

    /// Refuses a `Value` without a kind.
    pub fn no_kind(&mut self) -> Result<(), EncodeError> {
        Err(Self::refuse("google.protobuf.Value without a kind"))
    }
}

/// Implements [`Json`] for a well-known type that a build has generated, in the form that the mapping has for it.
///
/// Generated code calls it, with the type's name in its package: `well_known!(Timestamp for Timestamp)`. The fields
/// have the names that prost gives them. A `Value` also needs the path of its oneof: `well_known!(Value for Value,
/// value::Kind)`.
#[macro_export]
macro_rules! well_known {
    // The implementation, by a writer and a reader of the value `$this`.
    (@json $name:expr, $type:ty, $this:ident, |$to:ident| $encode:expr, |$from:ident| $decode:expr $(, $nullable:literal)?) => {
        impl $crate::Json for $type {
            const NAME: &'static str = concat!("google.protobuf.", $name);
            $(const IS_NULLABLE: bool = $nullable;)?
            fn encode_json(&self, $to: &mut $crate::Writer<'_>) -> ::core::result::Result<(), $crate::EncodeError> {
                let $this = self;
                $encode
            }
            fn decode_json(&mut self, $from: &mut $crate::Reader<'_>) -> ::core::result::Result<(), $crate::DecodeError> {
                let $this = self;
                $decode
            }
        }
    };
    (Timestamp for $type:ty) => {
        $crate::well_known!(@time "Timestamp", $type, encode_timestamp, decode_timestamp);
    };
    (Duration for $type:ty) => {
        $crate::well_known!(@time "Duration", $type, encode_duration, decode_duration);
    };
    (@time $name:literal, $type:ty, $encode:ident, $decode:ident) => {
        $crate::well_known!(@json $name, $type, it, |to| $crate::wellknown::$encode(it.seconds, it.nanos, to), |from| {
            (it.seconds, it.nanos) = $crate::wellknown::$decode(from)?;
            Ok(())
        });
    };
    (FieldMask for $type:ty) => {
        $crate::well_known!(@json "FieldMask", $type, it, |to| $crate::wellknown::encode_field_mask(&it.paths, to), |from| {
            it.paths = $crate::wellknown::decode_field_mask(from)?;
            Ok(())
        });
    };
    (Any for $type:ty) => {
        $crate::well_known!(@json "Any", $type, it, |to| $crate::wellknown::encode_any(&it.type_url, &it.value, to), |from| {
            let (type_url, value) = $crate::wellknown::decode_any(from)?;
            (it.type_url, it.value) = (type_url, value.into());
            Ok(())
        });
    };
    (Empty for $type:ty) => {
        $crate::well_known!(@json "Empty", $type, _it, |to| to.value(&()), |from| from.value(&mut ()));
    };
    (Struct for $type:ty) => {
        $crate::well_known!(@json "Struct", $type, it, |to| to.level(|to| to.value(&it.fields)), |from| {
            from.level(|from| from.value(&mut it.fields))
        });
    };
    (ListValue for $type:ty) => {
        $crate::well_known!(@json "ListValue", $type, it, |to| to.level(|to| to.value(&it.values)), |from| {
            from.level(|from| from.value(&mut it.values))
        });
    };
    (Value for $type:ty, $($kind:ident)::+) => {
        $crate::well_known!(@json "Value", $type, it, |to| {
            to.level(|to| match &it.kind {
                None => to.no_kind(),
                Some($($kind)::+::NullValue(_)) => {
                    to.raw("null");
                    Ok(())
                }
                Some($($kind)::+::NumberValue(value)) => to.number_value(*value),
                Some($($kind)::+::StringValue(value)) => to.value(value),
                Some($($kind)::+::BoolValue(value)) => to.value(value),
                Some($($kind)::+::StructValue(value)) => to.value(value),
                Some($($kind)::+::ListValue(value)) => to.value(value),
            })
        }, |from| {
            from.level(|from| {
                it.kind = Some(match from.value_kind()? {
                    $crate::wellknown::ValueKind::Null => $($kind)::+::NullValue(0),
                    $crate::wellknown::ValueKind::Number => $($kind)::+::NumberValue(from.read()?),
                    $crate::wellknown::ValueKind::String => $($kind)::+::StringValue(from.read()?),
                    $crate::wellknown::ValueKind::Bool => $($kind)::+::BoolValue(from.read()?),
                    $crate::wellknown::ValueKind::Struct => $($kind)::+::StructValue(from.read()?),
                    $crate::wellknown::ValueKind::List => $($kind)::+::ListValue(from.read()?),
                });
                Ok(())
            })
        }, true);
    };
    ($wrapper:ident for $type:ty) => {
        $crate::well_known!(@json stringify!($wrapper), $type, it, |to| to.value(&it.value), |from| {
            from.value(&mut it.value)
        });
    };
}

mod structs {
    //! The well-known types that are structs of `prost-types`.

    use prost_types::{Any, Duration, FieldMask, ListValue, SourceContext, Struct, Timestamp, Value, value};

    use crate::{DecodeError, EncodeError, Fields, Reader, Writer};

    crate::well_known!(Any for Any);
    crate::well_known!(Duration for Duration);
    crate::well_known!(FieldMask for FieldMask);
    crate::well_known!(ListValue for ListValue);
    crate::well_known!(Struct for Struct);
    crate::well_known!(Timestamp for Timestamp);
    crate::well_known!(Value for Value, value::Kind);

    /// An ordinary message.
    impl Fields for SourceContext {
        const NAME: &'static str = "google.protobuf.SourceContext";
        const FIELDS: &'static [&'static str] = &["fileName"];

        fn field(name: &str) -> Option<usize> {
            matches!(name, "fileName" | "file_name").then_some(0)
        }

        fn encode_fields(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
            to.field("\"fileName\":", &self.file_name)
        }

        fn decode_field(&mut self, _: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
            from.field(&mut self.file_name)
        }
    }
}
