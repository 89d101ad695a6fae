//! Codecs of protobuf's well-known types, with the same Rust types as in prost. Wrappers are plain values and `Empty`
//! is `()`. The feature `prost-types` adds the other types, which are structs of that crate. On the wire they are
//! ordinary messages.
//!
//! Generated code specifies the wrapper of a field, because the Rust type of its value does not determine it:
//!
//! ```
//! use polyglot::{Decoder, Encoder, wellknown::StringValue};
//!
//! let name = Some("Emma".to_owned());
//! let mut out = Vec::new();
//! Encoder::new(&mut out).field_as::<Option<StringValue>>("name", &name)?;
//! assert_eq!(out, b"\x08\x00\x05\x0a\x04Emma");
//! assert_eq!(Decoder::new(&out).field_as::<Option<StringValue>>("name")?, name);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;

use crate::message::{decode_as, encode_as};
use crate::{
    Codec, DecodeError, Decoder, EncodeError, Encoder, Fields, Kind, Message, MessageView, Root, View, Viewed,
};

/// [`Codec`] of a wrapper message, such as `google.protobuf.Int32Value`. In Rust, it is represented by the type of its
/// only field.
#[derive(Debug)]
pub struct Wrapped<T>(PhantomData<T>);

/// [`Codec`] of a value in a box. Used for fields that the build option `boxed` selects, unless their type is a
/// message.
#[derive(Debug)]
pub struct Boxed<C>(PhantomData<C>);

/// [`View`] of a wrapper message, which contains only the value of the message's field.
#[derive(Clone, Copy, Default, PartialEq)]
pub struct Unwrapped<V>(pub V);

impl<V: fmt::Debug> fmt::Debug for Unwrapped<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: Codec<Target = T> + Default> Codec for Wrapped<T> {
    type Target = T;
    const KIND: Kind = Kind::Any;

    #[inline]
    fn encode(value: &T, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.message(|to| to.field("value", value))
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<T, DecodeError> {
        from.message(|from| from.field("value")).map(Option::unwrap_or_default)
    }

    #[inline]
    fn is_default(_: &T) -> bool {
        false
    }
}

impl<C: Codec> Codec for Boxed<C> {
    type Target = Box<C::Target>;
    const KIND: Kind = C::KIND;

    #[inline]
    fn encode(value: &Box<C::Target>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        C::encode(value, to)
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Box<C::Target>, DecodeError> {
        from.charge::<C::Target>(1)?;
        C::decode(from).map(Box::new)
    }

    #[inline]
    fn is_default(value: &Box<C::Target>) -> bool {
        C::is_default(value)
    }
}

impl<'a, V: View<'a>> View<'a> for Unwrapped<V> {
    const KIND: Kind = Kind::Any;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        from.message(|from| from.view("value").map(Self)).map(Option::unwrap_or_default)
    }
}

/// Defines the wrapper messages. The arguments are the name of each message and the Rust type of its value.
macro_rules! wrappers {
    ($($name:ident $type:ty;)*) => {$(
        #[doc = concat!("The codec of `google.protobuf.", stringify!($name), "`.")]
        pub type $name = Wrapped<$type>;

        /// Encodes the value as a wrapper message. Used for methods with such a request or reply.
        impl Message for $type {
            const NAME: &'static str = concat!("google.protobuf.", stringify!($name));
            #[cfg(feature = "prost")]
            const PROTOBUF: Option<crate::ProtobufCodec<Self>> = Some(crate::ProtobufCodec::prost());

            #[inline]
            fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                encode_as(Self::NAME, to, |to| to.field("value", self))
            }

            #[inline]
            fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
                decode_as(Self::NAME, from, |from| from.field("value"))
            }
        }
    )*};
}

wrappers! {
    DoubleValue f64;
    FloatValue f32;
    Int64Value i64;
    UInt64Value u64;
    Int32Value i32;
    UInt32Value u32;
    BoolValue bool;
    StringValue String;
    BytesValue Vec<u8>;
    SharedBytesValue Bytes;
}

/// Encodes `()` as the message `google.protobuf.Empty`.
impl Fields for () {
    const NAME: &'static str = "google.protobuf.Empty";
    #[cfg(feature = "prost")]
    const PROTOBUF: Option<crate::ProtobufCodec<Self>> = Some(crate::ProtobufCodec::prost());

    #[inline]
    fn encode_fields(&self, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    #[inline]
    fn decode_fields(_: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(())
    }
}

/// Implements [`MessageView`] for a message with nothing to borrow.
macro_rules! own_view {
    ($($type:ty),*) => {$(
        impl<'a> MessageView<'a> for $type {
            const NAME: &'static str = <Self as Fields>::NAME;

            #[inline]
            fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
                <Self as Fields>::decode_fields(from)
            }
        }

        impl Viewed for $type {
            type View<'a> = Self;
        }
    )*};
}

own_view!(());

#[cfg(feature = "prost-types")]
pub use structs::{AnyView, FieldMaskView, ListValueView, SourceContextView, StructView, ValueKindView, ValueView};

#[cfg(feature = "prost-types")]
mod structs {
    //! Codecs and views of the well-known types that are structs of `prost-types`. Timestamps and durations are their
    //! own views, because they borrow nothing.

    use prost_types::value::Kind;
    use prost_types::{Any, Duration, FieldMask, ListValue, NullValue, SourceContext, Struct, Timestamp, Value};

    use crate::{
        DecodeError, Decoder, EncodeError, Encoder, Enumeration, Fields, Index, List, Map, MessageView, Oneof,
        OneofView, Viewed,
    };

    /// Implements [`Fields`] for a message with its fields listed in wire order, and defines its view if the fields
    /// have types.
    macro_rules! message {
        ($type:ident: $($field:ident),*) => {
            impl Fields for $type {
                const NAME: &'static str = concat!("google.protobuf.", stringify!($type));
                #[cfg(feature = "prost")]
                const PROTOBUF: Option<crate::ProtobufCodec<Self>> = Some(crate::ProtobufCodec::prost());

                fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                    $(to.field(stringify!($field), &self.$field)?;)*
                    Ok(())
                }

                fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                    Ok(Self { $($field: from.field(stringify!($field))?),* })
                }
            }
        };
        ($type:ident as $view:ident: $($field:ident $field_type:ty),*) => {
            message!($type: $($field),*);

            #[doc = concat!("A view of a `google.protobuf.", stringify!($type), "`.")]
            #[derive(Clone, Copy, Debug, Default)]
            #[allow(missing_docs)] // The fields are documented in protobuf's schema.
            pub struct $view<'a> {
                $(pub $field: $field_type),*
            }

            impl<'a> MessageView<'a> for $view<'a> {
                const NAME: &'static str = <$type as Fields>::NAME;

                fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
                    Ok(Self { $($field: from.view(stringify!($field))?),* })
                }
            }

            impl Viewed for $type {
                type View<'a> = $view<'a>;
            }
        };
    }

    message!(Any as AnyView: type_url &'a str, value &'a [u8]);
    message!(Duration: seconds, nanos);
    message!(FieldMask as FieldMaskView: paths List<'a, &'a str>);
    message!(ListValue as ListValueView: values List<'a, ValueView<'a>>);
    message!(SourceContext as SourceContextView: file_name &'a str);
    message!(Struct as StructView: fields Map<'a, &'a str, ValueView<'a>>);
    message!(Timestamp: seconds, nanos);

    /// Returns the value of an enum variant, or `None` if another variant is set.
    macro_rules! member {
        ($value:expr, $variant:ident) => {
            match &$value.kind {
                Some(Kind::$variant(value)) => Some(value),
                _ => None,
            }
        };
    }

    impl Fields for Value {
        const NAME: &'static str = "google.protobuf.Value";
        #[cfg(feature = "prost")]
        const PROTOBUF: Option<crate::ProtobufCodec<Self>> = Some(crate::ProtobufCodec::prost());

        fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
            to.oneof("kind", &self.kind)?;
            to.flat_member::<Index<NullValue>>("null_value", member!(self, NullValue))?;
            to.flat_member::<f64>("number_value", member!(self, NumberValue))?;
            to.flat_member::<String>("string_value", member!(self, StringValue))?;
            to.flat_member::<bool>("bool_value", member!(self, BoolValue))?;
            to.flat_member::<Struct>("struct_value", member!(self, StructValue))?;
            to.flat_member::<ListValue>("list_value", member!(self, ListValue))
        }

        fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            let mut kind = from.oneof("kind")?;
            kind.member::<Index<NullValue>>(from, "null_value", Kind::NullValue)?;
            kind.member::<f64>(from, "number_value", Kind::NumberValue)?;
            kind.member::<String>(from, "string_value", Kind::StringValue)?;
            kind.member::<bool>(from, "bool_value", Kind::BoolValue)?;
            kind.member::<Struct>(from, "struct_value", Kind::StructValue)?;
            kind.member::<ListValue>(from, "list_value", Kind::ListValue)?;
            Ok(Self { kind: kind.into_option() })
        }
    }

    impl Oneof for Kind {
        fn encode_member(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
            match self {
                Self::NullValue(value) => to.member::<Index<NullValue>>("null_value", 1, value),
                Self::NumberValue(value) => to.member::<f64>("number_value", 2, value),
                Self::StringValue(value) => to.member::<String>("string_value", 3, value),
                Self::BoolValue(value) => to.member::<bool>("bool_value", 4, value),
                Self::StructValue(value) => to.member::<Struct>("struct_value", 5, value),
                Self::ListValue(value) => to.member::<ListValue>("list_value", 6, value),
            }
        }

        fn decode_member(member: u32, from: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError> {
            Ok(Some(match member {
                1 => Self::NullValue(from.field_as::<Index<NullValue>>("null_value")?),
                2 => Self::NumberValue(from.field("number_value")?),
                3 => Self::StringValue(from.field("string_value")?),
                4 => Self::BoolValue(from.field("bool_value")?),
                5 => Self::StructValue(from.field("struct_value")?),
                6 => Self::ListValue(from.field("list_value")?),
                _ => return Ok(None),
            }))
        }
    }

    impl Enumeration for NullValue {
        const NAME: &'static str = "google.protobuf.NullValue";

        fn index(number: i32) -> Option<u32> {
            (number == 0).then_some(0)
        }

        fn number(index: u32) -> Option<i32> {
            (index == 0).then_some(0)
        }
    }

    own_view!(Duration, Timestamp);

    /// A borrowed view of a `google.protobuf.Value`.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct ValueView<'a> {
        /// Variant of the value, or `None` if it has none.
        pub kind: Option<ValueKindView<'a>>,
    }

    /// The kind of a [`ValueView`] with its borrowed content.
    #[derive(Clone, Copy, Debug)]
    #[allow(missing_docs)] // The members are documented in protobuf's schema.
    pub enum ValueKindView<'a> {
        NullValue(i32),
        NumberValue(f64),
        StringValue(&'a str),
        BoolValue(bool),
        StructValue(StructView<'a>),
        ListValue(ListValueView<'a>),
    }

    impl<'a> MessageView<'a> for ValueView<'a> {
        const NAME: &'static str = <Value as Fields>::NAME;

        fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
            let mut kind = from.oneof_view("kind")?;
            kind.member::<Index<NullValue>>(from, "null_value", ValueKindView::NullValue)?;
            kind.view_member(from, "number_value", ValueKindView::NumberValue)?;
            kind.view_member(from, "string_value", ValueKindView::StringValue)?;
            kind.view_member(from, "bool_value", ValueKindView::BoolValue)?;
            kind.view_member(from, "struct_value", ValueKindView::StructValue)?;
            kind.view_member(from, "list_value", ValueKindView::ListValue)?;
            Ok(Self { kind: kind.into_option() })
        }
    }

    impl<'a> OneofView<'a> for ValueKindView<'a> {
        fn decode_member(member: u32, from: &mut Decoder<'a>) -> Result<Option<Self>, DecodeError> {
            Ok(Some(match member {
                1 => Self::NullValue(from.field_as::<Index<NullValue>>("null_value")?),
                2 => Self::NumberValue(from.view("number_value")?),
                3 => Self::StringValue(from.view("string_value")?),
                4 => Self::BoolValue(from.view("bool_value")?),
                5 => Self::StructValue(from.view("struct_value")?),
                6 => Self::ListValue(from.view("list_value")?),
                _ => return Ok(None),
            }))
        }
    }

    impl Viewed for Value {
        type View<'a> = ValueView<'a>;
    }
}
