//! Converts the JSON values of the measured file to generated structs. One line of [`messages!`] covers all messages
//! with the same fields.

use crate::wire::measured::{hex, list, object, text};
use frisbee_tests::{interop, vec, vecopt};
use frpc::polyglot::{
    DecodeError, Decoder, EncodeError, Encoder, Enumeration, Message, Root, decode_root, encode_root,
};
use serde_json::Value as Json;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::Hash;

/// Functions for a message type of the schemas.
pub(crate) struct Type {
    /// Creates the message that a JSON value describes.
    pub(crate) from_json: fn(&Json) -> Box<dyn Body>,
    /// Reads a body.
    pub(crate) decode: fn(&[u8]) -> Decoded,
}

/// The decoded body.
pub(crate) type Decoded = Result<Root<Box<dyn Body>>, DecodeError>;

/// A message of any type, as a trait object.
pub(crate) trait Body: Debug {
    /// Encodes the message as a body.
    fn encode(&self) -> Vec<u8>;

    /// Returns whether the message equals the JSON value, including the bits of NaNs.
    fn is(&self, json: &Json) -> bool;
}

/// A field value or message that can be created from JSON.
trait Field: Default {
    /// Creates the value that the JSON describes.
    fn from_json(json: &Json) -> Self;

    /// Compares values. NaNs with different bits are different, and so are zeros with different signs.
    fn same(&self, other: &Self) -> bool;
}

impl<M: Message + Field + Debug + 'static> Body for M {
    fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        encode_root(self, &mut Encoder::new(&mut body)).expect("message should be encodable");
        body
    }

    fn is(&self, json: &Json) -> bool {
        self.same(&M::from_json(json))
    }
}

impl Type {
    fn of<M: Message + Field + Debug + 'static>() -> Self {
        Self {
            from_json: |json| Box::new(M::from_json(json)),
            decode: |body| {
                Ok(match decode_root::<M>(&mut Decoder::new(body))? {
                    Root::Message(message) => Root::Message(Box::new(message)),
                    Root::Error(text) => Root::Error(text),
                })
            },
        }
    }

    /// Returns the message type with this full name.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            vec::OneOf::NAME => Self::of::<vec::OneOf>(),
            proto2::VLate::NAME => Self::of::<proto2::VLate>(),
            _ => generated(name).unwrap_or_else(|| panic!("{name} is in none of the schemas")),
        }
    }
}

/// Implements [`Field`] for messages: `package { fields } Message Message ...;`.
macro_rules! messages {
    ($($package:ident $fields:tt $($message:ident)*;)*) => {
        $($(message!($package::$message $fields);)*)*

        fn generated(name: &str) -> Option<Type> {
            Some(match name {
                $($(<$package::$message>::NAME => Type::of::<$package::$message>(),)*)*
                _ => return None,
            })
        }
    };
}

macro_rules! message {
    ($message:ty { $($field:ident)* }) => {
        impl Field for $message {
            /// A null in place of a message is the default message.
            fn from_json(json: &Json) -> Self {
                if json.is_null() {
                    return Self::default();
                }
                let names: &[&str] = &[$(stringify!($field)),*];
                assert_eq!(object(json).len(), names.len(), "{json} has the fields {names:?}");
                Self { $($field: Field::from_json(&json[stringify!($field)])),* }
            }

            fn same(&self, other: &Self) -> bool {
                let Self { $($field),* } = self;
                let _ = other; // For messages without fields.
                true $(&& $field.same(&other.$field))*
            }
        }
    };
}

messages! {
    vec {} Nothing;
    vec { v }
        VBool VInt32 VSint32 VSfixed32 VUint32 VFixed32 VInt64 VSint64 VSfixed64 VUint64 VFixed64 VFloat VDouble VString
        VBytes VPlain VSparse VAlias VMessage
        RBool RInt32 RInt32Unpacked RSint32 RSfixed32 RUint32 RFixed32 RInt64 RSint64 RSfixed64 RUint64 RFixed64 RFloat
        RDouble RString RMessage
        MStringString MStringInt32 MStringInt64 MStringUint32 MStringUint64 MStringSint32 MStringFixed64 MStringFloat
        MStringDouble MStringBool MStringEnum MStringMessage MBool MInt32 MSint32 MSfixed32 MUint32 MFixed32 MInt64
        MSint64 MSfixed64 MUint64 MFixed64;
    vec { n } VInner;
    vec { next } VDeep;
    vec { m r s mm i rs e b } Order;
    vec { third first second } Numbers;
    vecopt { a b c } VOptional;
    interop {} Empty;
    interop { flag i32 i64 u32 u64 s32 s64 fx32 fx64 sfx32 sfx64 f d text raw color } Scalars;
    interop { id name } Inner;
    interop { inner weight } Middle;
    interop { first label middle absent } Nested;
    interop { flags i32s i64s u32s u64s s32s s64s fx32s sfx64s fs ds texts inners } Lists;
    interop { words by_i32 by_u64 by_flag prices colors inners } Maps;
    interop { message_first list_second scalar_third map_fourth scalar_fifth list_sixth enum_seventh } Mixed;
    interop { value } Text Count;
    interop { a b } AddRequest;
    interop { total count } Sum;
    interop { from count } Range;
}

/// The file contains all members, because Go stores all of them. The set member is the last one that differs from its
/// default.
impl Field for vec::OneOf {
    fn from_json(json: &Json) -> Self {
        assert_eq!(object(json).len(), 4, "three members of the oneof, and a bool");
        let number = i32::from_json(&json["number"]);
        let word = String::from_json(&json["word"]);
        let choice = match Option::<vec::VInner>::from_json(&json["inner"]) {
            Some(inner) => Some(vec::one_of::Choice::Inner(inner)),
            None if !word.is_empty() => Some(vec::one_of::Choice::Word(word)),
            None if number != 0 => Some(vec::one_of::Choice::Number(number)),
            None => None,
        };
        Self { choice, after: bool::from_json(&json["after"]) }
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Field for bool {
    fn from_json(json: &Json) -> Self {
        json.as_bool().unwrap_or_else(|| panic!("{json} is no bool"))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Converts a number, or the number of an enum value in the schema. An unknown index has a replacement number.
impl Field for i32 {
    fn from_json(json: &Json) -> Self {
        let number = match (&json["proto_number"], &json["wire"]) {
            (Json::Null, Json::Null) => json.as_i64(),
            (Json::Null, index) => index.as_i64().map(|index| i64::from(i32::MIN) + index),
            (number, _) => number.as_i64(),
        };
        number.and_then(|number| Self::try_from(number).ok()).unwrap_or_else(|| panic!("{json} is no i32"))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Field for u32 {
    fn from_json(json: &Json) -> Self {
        json.as_u64().and_then(|number| Self::try_from(number).ok()).unwrap_or_else(|| panic!("{json} is no u32"))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Converts 64-bit numbers. They are strings, because JSON parsers would lose precision.
impl Field for i64 {
    fn from_json(json: &Json) -> Self {
        text(json).parse().unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Field for u64 {
    fn from_json(json: &Json) -> Self {
        text(json).parse().unwrap_or_else(|error| panic!("{json}: {error}"))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl Field for f32 {
    fn from_json(json: &Json) -> Self {
        let bits = u32::from_str_radix(text(&json["bits"]), 16);
        Self::from_bits(bits.unwrap_or_else(|error| panic!("{json}: {error}")))
    }

    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Field for f64 {
    fn from_json(json: &Json) -> Self {
        let bits = u64::from_str_radix(text(&json["bits"]), 16);
        Self::from_bits(bits.unwrap_or_else(|error| panic!("{json}: {error}")))
    }

    fn same(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Field for String {
    fn from_json(json: &Json) -> Self {
        text(json).to_owned()
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

/// Type of `bytes` fields.
impl Field for Vec<u8> {
    fn from_json(json: &Json) -> Self {
        hex(text(&json["hex"]))
    }

    fn same(&self, other: &Self) -> bool {
        self == other
    }
}

impl<T: Field> Field for Vec<T> {
    fn from_json(json: &Json) -> Self {
        list(json).iter().map(T::from_json).collect()
    }

    fn same(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other).all(|(one, other)| one.same(other))
    }
}

/// Converts a list of pairs.
impl<K: Field + Eq + Hash, V: Field> Field for HashMap<K, V> {
    fn from_json(json: &Json) -> Self {
        list(json).iter().map(|pair| (K::from_json(&pair[0]), V::from_json(&pair[1]))).collect()
    }

    fn same(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self.iter().all(|(key, value)| other.get(key).is_some_and(|other| value.same(other)))
    }
}

impl<T: Field> Field for Option<T> {
    fn from_json(json: &Json) -> Self {
        if json.is_null() { None } else { Some(T::from_json(json)) }
    }

    fn same(&self, other: &Self) -> bool {
        match (self, other) {
            (Some(one), Some(other)) => one.same(other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

impl<T: Field> Field for Box<T> {
    fn from_json(json: &Json) -> Self {
        Self::new(T::from_json(json))
    }

    fn same(&self, other: &Self) -> bool {
        T::same(self, other)
    }
}

/// Implements `vectwo.proto` by hand. Go's generator accepts proto2, but frpc-build does not. `optional` and `required`
/// fields are always sent, so the encoding is the same as in proto3.
mod proto2 {
    use super::*;
    use frpc::polyglot::{Fields, Index};

    /// `message VLate { optional Late v = 1; required int32 n = 2; repeated int32 p = 3 [packed = true]; }`
    #[derive(Debug, Default)]
    pub(super) struct VLate {
        v: i32,
        n: i32,
        p: Vec<i32>,
    }

    message!(VLate { v n p });

    impl Fields for VLate {
        const NAME: &'static str = "vectwo.VLate";

        fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
            to.field_as::<Index<Late>>("v", &self.v)?;
            to.field("n", &self.n)?;
            to.field("p", &self.p)
        }

        fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
            Ok(Self { v: from.field_as::<Index<Late>>("v")?, n: from.field("n")?, p: from.field("p")? })
        }
    }

    /// The type of `enum Late { LATE_FIVE = 5; LATE_NINE = 9; }`. Only proto2 permits that the first number is not
    /// zero.
    struct Late;

    impl Enumeration for Late {
        const NAME: &'static str = "vectwo.Late";

        fn index(number: i32) -> Option<u32> {
            [5, 9].iter().position(|declared| *declared == number).map(|index| index as u32)
        }

        fn number(index: u32) -> Option<i32> {
            [5, 9].get(index as usize).copied()
        }
    }
}
