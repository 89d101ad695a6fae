//! [`Codec`]: the types that can be fields of a message, and the encoding of options, lists and maps of them.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

use crate::{DecodeError, Decoder, EncodeError, Encoder, Form, Kind};

/// The wire form of a field.
///
/// Scalars, strings, bytes and messages are their own codecs, so [`Encoder::field`] and [`Decoder::field`] infer the
/// wire kind from the Rust type. An option, list or map of codecs encodes an option, list or map of their values.
///
/// In the structs that prost generates, both enum and int32 fields are `i32`. The codec [`Index`](crate::Index)
/// distinguishes them. For types of other crates, implement a codec and use it with [`Encoder::field_as`] and
/// [`Decoder::field_as`].
///
/// ```
/// use std::time::Duration;
/// use polyglot::{Codec, DecodeError, Decoder, EncodeError, Encoder, Kind};
///
/// struct Milliseconds;
///
/// impl Codec for Milliseconds {
///     type Target = Duration;
///     const KIND: Kind = Kind::U32;
///
///     fn encode(value: &Duration, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
///         to.u32(value.as_millis() as u32);
///         Ok(())
///     }
///
///     fn decode(from: &mut Decoder<'_>) -> Result<Duration, DecodeError> {
///         Ok(Duration::from_millis(from.u32()?.into()))
///     }
///
///     fn is_default(value: &Duration) -> bool {
///         value.is_zero()
///     }
/// }
///
/// let pauses = vec![Duration::from_secs(1), Duration::ZERO];
/// let mut out = Vec::new();
/// Encoder::new(&mut out).field_as::<Vec<Milliseconds>>("pauses", &pauses)?;
/// assert_eq!(Decoder::new(&out).field_as::<Vec<Milliseconds>>("pauses")?, pauses);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a Polyglot message",
    note = "messages implement `polyglot::Fields`; other types need a codec and `field_as`"
)]
pub trait Codec {
    /// The type in Rust.
    type Target: Default;

    /// The kind on the wire; [`Kind::Any`] for messages.
    const KIND: Kind;

    /// Writes one value.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    fn encode(value: &Self::Target, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads one value. A nil message in a list or map becomes the default message.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode(from: &mut Decoder<'_>) -> Result<Self::Target, DecodeError>;

    /// Like [`decode`](Self::decode), but overwrites `value` and reuses its allocations. After an error the content of
    /// `value` is unspecified.
    ///
    /// # Errors
    ///
    /// Like [`decode`](Self::decode).
    #[inline]
    fn decode_over(value: &mut Self::Target, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *value = Self::decode(from)?;
        Ok(())
    }

    /// Returns whether the flat form cannot distinguish this value from an absent one. Negative zero is not a float's
    /// default, and a present message is never a default.
    fn is_default(value: &Self::Target) -> bool;
}

/// A [`Codec`] whose values can be keys of maps: bool, an integer or a string.
pub trait Key: Codec<Target = Self> {}

impl<C: Codec> Codec for Option<C> {
    type Target = Option<C::Target>;
    const KIND: Kind = C::KIND;

    #[inline]
    fn encode(value: &Option<C::Target>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match value {
            Some(value) => C::encode(value, to),
            None => encode_absent::<C>(to),
        }
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Option<C::Target>, DecodeError> {
        if from.take_nil() { Ok(None) } else { C::decode(from).map(Some) }
    }

    #[inline]
    fn decode_over(value: &mut Option<C::Target>, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        match value {
            Some(value) if !from.take_nil() => C::decode_over(value, from),
            Some(_) => {
                *value = None;
                Ok(())
            }
            None => {
                *value = Self::decode(from)?;
                Ok(())
            }
        }
    }

    #[inline]
    fn is_default(value: &Option<C::Target>) -> bool {
        value.is_none()
    }
}

impl<C: Codec> Codec for Vec<C> {
    type Target = Vec<C::Target>;
    const KIND: Kind = Kind::List;

    #[inline]
    fn encode(list: &Vec<C::Target>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.list(C::KIND, list.len())?;
        for (index, value) in list.iter().enumerate() {
            C::encode(value, to).map_err(|error| error.in_element(index))?;
        }
        Ok(())
    }

    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Vec<C::Target>, DecodeError> {
        let len = from.list(C::KIND)?;
        from.charge::<C::Target>(len)?;
        let mut list = Vec::with_capacity(len);
        for index in 0..len {
            list.push(C::decode(from).map_err(|error| error.in_element(index))?);
        }
        Ok(list)
    }

    #[inline]
    fn decode_over(list: &mut Vec<C::Target>, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        let len = from.list(C::KIND)?;
        from.charge::<C::Target>(len)?;
        list.truncate(len);
        for (index, value) in list.iter_mut().enumerate() {
            C::decode_over(value, from).map_err(|error| error.in_element(index))?;
        }
        list.reserve_exact(len.saturating_sub(list.len()));
        for index in list.len()..len {
            list.push(C::decode(from).map_err(|error| error.in_element(index))?);
        }
        Ok(())
    }

    #[inline]
    fn is_default(list: &Vec<C::Target>) -> bool {
        list.is_empty()
    }
}

/// Implements [`Codec`] for a map type. Takes the bounds of its keys and an expression that creates an empty map with a
/// capacity.
macro_rules! map {
    ([$($bounds:tt)+] $map:ident, |$len:ident| $empty:expr) => {
        impl<K: Key + $($bounds)+, C: Codec> Codec for $map<K, C> {
            type Target = $map<K, C::Target>;
            const KIND: Kind = Kind::Map;

            #[inline]
            fn encode(map: &$map<K, C::Target>, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
                to.map(K::KIND, C::KIND, map.len())?;
                for (index, (key, value)) in map.iter().enumerate() {
                    K::encode(key, to)
                        .and_then(|()| C::encode(value, to))
                        .map_err(|error| error.in_element(index))?;
                }
                Ok(())
            }

            /// Reads the pairs in wire order. The last value of a duplicate key wins.
            #[inline]
            fn decode(from: &mut Decoder<'_>) -> Result<$map<K, C::Target>, DecodeError> {
                let $len = from.map(K::KIND, C::KIND)?;
                from.charge::<(K, C::Target)>($len)?;
                let mut map = $empty;
                for index in 0..$len {
                    let key = K::decode(from).map_err(|error| error.in_element(index))?;
                    let value = C::decode(from).map_err(|error| error.in_element(index))?;
                    map.insert(key, value);
                }
                Ok(map)
            }

            #[inline]
            fn is_default(map: &$map<K, C::Target>) -> bool {
                map.is_empty()
            }
        }
    };
}

// The hasher is seeded, so a peer cannot choose keys that collide.
map!([Eq + Hash] HashMap, |len| HashMap::with_capacity(len));
map!([Ord] BTreeMap, |len| BTreeMap::new());

/// Writes an absent value in the form of the encoder.
#[inline]
fn encode_absent<C: Codec>(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if to.form() == Form::Extended {
        to.nil();
        return Ok(());
    }
    if C::KIND != Kind::Any {
        to.note_lost_presence();
    }
    encode_default::<C>(to)
}

/// Writes an absent value in the flat form: nil for a message, the default for anything else.
#[inline]
pub(crate) fn encode_default<C: Codec>(to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    if C::KIND == Kind::Any {
        to.nil();
        return Ok(());
    }
    C::encode(&C::Target::default(), to)
}
