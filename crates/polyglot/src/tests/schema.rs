//! Messages for tests, implemented like generated code, and helper functions.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;
use polyglot::{
    DecodeError, Decoder, EncodeError, Encoder, Enumeration, Fields, Form, Index, Message, MessageView, Nested, Oneof,
    Root,
};

/// Implements [`Fields`] for a struct with fields in wire order. `as E` marks fields of an enum type.
macro_rules! message {
    ($type:ty, $name:literal, $($field:ident $(as $codec:ty)?),*) => {
        impl Fields for $type {
            const NAME: &'static str = $name;

            #[allow(unused_variables)]
            fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                $(message!(@encode to, self, $field $(as $codec)?);)*
                Ok(())
            }

            #[allow(unused_variables)]
            fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
                Ok(Self { $($field: message!(@decode from, $field $(as $codec)?)),* })
            }

            #[allow(unused_variables)]
            fn decode_fields_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
                $(message!(@over from, self, $field $(as $codec)?);)*
                Ok(())
            }
        }
    };
    (@encode $to:ident, $self:ident, $field:ident) => { $to.field(stringify!($field), &$self.$field)? };
    (@encode $to:ident, $self:ident, $field:ident as $codec:ty) => {
        $to.field_as::<$codec>(stringify!($field), &$self.$field)?
    };
    (@decode $from:ident, $field:ident) => { $from.field(stringify!($field))? };
    (@decode $from:ident, $field:ident as $codec:ty) => {
        $from.field_as::<$codec>(stringify!($field))?
    };
    (@over $from:ident, $self:ident, $field:ident) => { $from.field_over(stringify!($field), &mut $self.$field)? };
    (@over $from:ident, $self:ident, $field:ident as $codec:ty) => {
        $self.$field = $from.field_as::<$codec>(stringify!($field))?
    };
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Nothing {}
message!(Nothing, "vec.Nothing",);

/// A message with a single field.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct One<T> {
    pub(crate) v: T,
}

impl<T: polyglot::Codec<Target = T> + Default> Fields for One<T> {
    const NAME: &'static str = "vec.One";

    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.field("v", &self.v)
    }

    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { v: from.field("v")? })
    }

    fn decode_fields_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        from.field_over("v", &mut self.v)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inner {
    pub(crate) n: i32,
}
message!(Inner, "vec.VInner", n);

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Deep {
    pub(crate) next: Option<Box<Deep>>,
}
message!(Deep, "vec.VDeep", next);

impl Deep {
    /// Returns `levels` messages, each nested in the previous one.
    pub(crate) fn levels(levels: u32) -> Self {
        (1..levels).fold(Self::default(), |inner, _| Self { next: Some(Box::new(inner)) })
    }
}

/// `enum Sparse { ZERO = 0; FAR = 1000; NEG = -5; TEN = 10; }`
#[derive(Debug)]
pub(crate) struct Sparse;

const SPARSE: [i32; 4] = [0, 1000, -5, 10];

impl Enumeration for Sparse {
    const NAME: &'static str = "vec.Sparse";

    fn index(number: i32) -> Option<u32> {
        SPARSE.iter().position(|&declared| declared == number).map(|index| index as u32)
    }

    fn number(index: u32) -> Option<i32> {
        SPARSE.get(index as usize).copied()
    }
}

/// An enum that declares the number that would otherwise represent the unknown index 7.
#[derive(Debug)]
pub(crate) struct Lowest;

impl Enumeration for Lowest {
    const NAME: &'static str = "vec.Lowest";

    fn index(number: i32) -> Option<u32> {
        [0, i32::MIN + 7].iter().position(|&declared| declared == number).map(|index| index as u32)
    }

    fn number(index: u32) -> Option<i32> {
        [0, i32::MIN + 7].get(index as usize).copied()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Choice {
    Number(i32),
    Word(String),
    Inner(Inner),
    Sparse(i32),
}

impl Oneof for Choice {
    fn encode_member(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match self {
            Self::Number(value) => to.member::<i32>("number", 1, value),
            Self::Word(value) => to.member::<String>("word", 2, value),
            Self::Inner(value) => to.member::<Inner>("inner", 3, value),
            Self::Sparse(value) => to.member::<Index<Sparse>>("sparse", 4, value),
        }
    }

    fn decode_member(member: u32, from: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError> {
        Ok(Some(match member {
            1 => Self::Number(from.field("number")?),
            2 => Self::Word(from.field("word")?),
            3 => Self::Inner(from.field("inner")?),
            4 => Self::Sparse(from.field_as::<Index<Sparse>>("sparse")?),
            _ => return Ok(None),
        }))
    }
}

/// A message with a oneof that has members on both sides of another field. Messages are encoded last.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OneOf {
    pub(crate) choice: Option<Choice>,
    pub(crate) after: bool,
}

impl Fields for OneOf {
    const NAME: &'static str = "vec.OneOf";

    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.oneof("choice", &self.choice)?;
        to.flat_member::<i32>(
            "number",
            match &self.choice {
                Some(Choice::Number(value)) => Some(value),
                _ => None,
            },
        )?;
        to.flat_member::<String>(
            "word",
            match &self.choice {
                Some(Choice::Word(value)) => Some(value),
                _ => None,
            },
        )?;
        to.flat_member::<Index<Sparse>>(
            "sparse",
            match &self.choice {
                Some(Choice::Sparse(value)) => Some(value),
                _ => None,
            },
        )?;
        to.field("after", &self.after)?;
        to.flat_member::<Inner>(
            "inner",
            match &self.choice {
                Some(Choice::Inner(value)) => Some(value),
                _ => None,
            },
        )
    }

    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let mut choice = from.oneof("choice")?;
        choice.member::<i32>(from, "number", Choice::Number)?;
        choice.member::<String>(from, "word", Choice::Word)?;
        choice.member::<Index<Sparse>>(from, "sparse", Choice::Sparse)?;
        let after = from.field("after")?;
        choice.member::<Inner>(from, "inner", Choice::Inner)?;
        Ok(Self { choice: choice.into_option(), after })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Order {
    pub(crate) s: String,
    pub(crate) i: i32,
    pub(crate) e: i32,
    pub(crate) b: Vec<u8>,
    pub(crate) r: Vec<i32>,
    pub(crate) rs: Vec<String>,
    pub(crate) m: Option<Inner>,
    pub(crate) mm: HashMap<String, i32>,
}
message!(Order, "vec.Order", s, i, e as Index<Sparse>, b, r, rs, m, mm);

/// A message with a field of every type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Everything {
    pub(crate) bool: bool,
    pub(crate) i32: i32,
    pub(crate) i64: i64,
    pub(crate) u32: u32,
    pub(crate) u64: u64,
    pub(crate) f32: f32,
    pub(crate) f64: f64,
    pub(crate) string: String,
    pub(crate) vec: Vec<u8>,
    pub(crate) bytes: Bytes,
    pub(crate) sparse: i32,
    pub(crate) maybe_number: Option<u64>,
    pub(crate) maybe_text: Option<String>,
    pub(crate) maybe_sparse: Option<i32>,
    pub(crate) bools: Vec<bool>,
    pub(crate) i64s: Vec<i64>,
    pub(crate) u64s: Vec<u64>,
    pub(crate) f64s: Vec<f64>,
    pub(crate) strings: Vec<String>,
    pub(crate) blobs: Vec<Bytes>,
    pub(crate) sparses: Vec<i32>,
    pub(crate) messages: Vec<OneOf>,
    pub(crate) deep: Deep,
    pub(crate) one_of: Option<OneOf>,
    pub(crate) by_text: HashMap<String, f32>,
    pub(crate) by_number: BTreeMap<i32, Inner>,
    pub(crate) by_flag: HashMap<bool, Vec<u8>>,
    pub(crate) sparse_by_number: BTreeMap<u64, i32>,
}
message!(
    Everything,
    "test.Everything",
    bool,
    i32,
    i64,
    u32,
    u64,
    f32,
    f64,
    string,
    vec,
    bytes,
    sparse as Index<Sparse>,
    maybe_number,
    maybe_text,
    maybe_sparse as Option<Index<Sparse>>,
    bools,
    i64s,
    u64s,
    f64s,
    strings,
    blobs,
    sparses as Vec<Index<Sparse>>,
    messages,
    deep,
    one_of,
    by_text,
    by_number,
    by_flag,
    sparse_by_number as BTreeMap<u64, Index<Sparse>>
);

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct InnerView {
    pub(crate) n: i32,
}

impl<'a> MessageView<'a> for InnerView {
    const NAME: &'static str = "vec.VInner";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { n: from.view("n")? })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeepView<'a> {
    pub(crate) next: Option<Nested<'a, DeepView<'a>>>,
}

impl<'a> MessageView<'a> for DeepView<'a> {
    const NAME: &'static str = "vec.VDeep";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { next: from.view("next")? })
    }
}

pub(crate) fn encode<M: Message>(message: &M, form: Form) -> Vec<u8> {
    let mut out = Vec::new();
    polyglot::encode_root(message, &mut Encoder::new(&mut out).with_form(form)).unwrap();
    out
}

pub(crate) fn decode<M: Message>(input: &[u8]) -> Result<M, DecodeError> {
    match polyglot::decode_root(&mut Decoder::new(input))? {
        Root::Message(message) => Ok(message),
        Root::Error(text) => panic!("body should contain a message instead of the error {text:?}"),
    }
}

pub(crate) fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}
