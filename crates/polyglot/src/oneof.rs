//! Oneofs: separate fields in the flat form, and one tagged value in the extended form.

use crate::codec::encode_default;
use crate::{Codec, DecodeError, DecodeReason, Decoder, EncodeError, Encoder, Form, Kind};

/// A oneof, represented by an enum with a variant for each member. Implemented by generated code.
///
/// The flat form, which the Go implementation uses, has no oneofs. Each member is an ordinary field that is always
/// encoded. The last member with a value other than its default is the one that is set. In the extended form, the oneof
/// is encoded at the position of its first member in wire order. It consists of `03`, the number of the member that is
/// set as a varint (starting at 1 in the order of declaration, or 0 if none is set), and the member's value. Generated
/// code writes and reads both forms:
///
/// ```
/// use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Fields, Form, Oneof, Root};
///
/// #[derive(Clone, Debug, PartialEq)]
/// enum Choice {
///     Number(i32),
///     Word(String),
/// }
///
/// impl Oneof for Choice {
///     fn encode_member(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
///         match self {
///             Self::Number(value) => to.member::<i32>("number", 1, value),
///             Self::Word(value) => to.member::<String>("word", 2, value),
///         }
///     }
///
///     fn decode_member(member: u32, from: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError> {
///         Ok(Some(match member {
///             1 => Self::Number(from.field("number")?),
///             2 => Self::Word(from.field("word")?),
///             _ => return Ok(None),
///         }))
///     }
/// }
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Answer {
///     choice: Option<Choice>,
/// }
///
/// impl Fields for Answer {
///     const NAME: &'static str = "example.Answer";
///
///     fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
///         to.oneof("choice", &self.choice)?; // At the position of the first member.
///         to.flat_member::<i32>("number", match &self.choice {
///             Some(Choice::Number(value)) => Some(value),
///             _ => None,
///         })?;
///         to.flat_member::<String>("word", match &self.choice {
///             Some(Choice::Word(value)) => Some(value),
///             _ => None,
///         })
///     }
///
///     fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
///         let mut choice = from.oneof("choice")?; // At the position of the first member.
///         choice.member::<i32>(from, "number", Choice::Number)?;
///         choice.member::<String>(from, "word", Choice::Word)?;
///         Ok(Self { choice: choice.into_option() })
///     }
/// }
///
/// let answer = Answer { choice: Some(Choice::Number(0)) };
/// let mut extended = Vec::new();
/// let mut encoder = Encoder::new(&mut extended).with_form(Form::Extended);
/// polyglot::encode_root(&answer, &mut encoder)?;
/// assert_eq!(extended, [0x08, 0x00, 0x03, 1, 0x0c, 0]);
/// assert_eq!(polyglot::decode_root(&mut Decoder::new(&extended))?, Root::Message(answer.clone()));
///
/// let mut flat = Vec::new();
/// let mut encoder = Encoder::new(&mut flat);
/// polyglot::encode_root(&answer, &mut encoder)?;
/// assert!(encoder.lost_presence());
/// assert_eq!(flat, [0x08, 0x00, 0x0c, 0, 0x05, 0x0a, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Oneof: Sized {
    /// Writes the member that is set, in the extended encoding. Must call [`Encoder::member`] with the index of the
    /// member in the declaration, starting at 1.
    ///
    /// # Errors
    ///
    /// If the value of the member cannot be encoded.
    fn encode_member(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads the value of a member, given its index in the declaration, starting at 1. Returns `None` without reading
    /// anything if there is no such member.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode_member(member: u32, from: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError>;
}

impl Encoder<'_> {
    /// Writes a oneof in the extended encoding, as a whole at the position of its first member. Does nothing in the
    /// flat encoding.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    #[inline]
    pub fn oneof<O: Oneof>(&mut self, name: &'static str, value: &Option<O>) -> Result<(), EncodeError> {
        if self.form() == Form::Flat {
            return Ok(());
        }
        match value {
            Some(set) => set.encode_member(self).map_err(|error| error.in_field(name)),
            None => {
                self.member_head(0);
                Ok(())
            }
        }
    }

    /// Writes the member that is set in a oneof, in the extended encoding. Called by [`Oneof::encode_member`].
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    #[inline]
    pub fn member<C: Codec>(&mut self, name: &'static str, member: u32, value: &C::Target) -> Result<(), EncodeError> {
        self.member_head(member);
        C::encode(value, self).map_err(|error| error.in_field(name))
    }

    /// Writes a member of a oneof in the flat encoding, which has a separate field for each member. `value` is `None`
    /// unless this member is set. Does nothing in the extended encoding.
    ///
    /// # Errors
    ///
    /// If the value cannot be encoded.
    #[inline]
    pub fn flat_member<C: Codec>(&mut self, name: &'static str, value: Option<&C::Target>) -> Result<(), EncodeError> {
        if self.form() == Form::Extended {
            return Ok(());
        }
        let Some(value) = value else {
            return encode_default::<C>(self);
        };
        if C::is_default(value) {
            self.note_lost_presence();
        }
        C::encode(value, self).map_err(|error| error.in_field(name))
    }
}

impl Decoder<'_> {
    /// Begins to read a oneof. Must be called at the position of the oneof's first member. In the extended encoding,
    /// this reads the whole oneof.
    ///
    /// # Errors
    ///
    /// If the member that is set is unknown to the schema, or its value is malformed.
    #[inline]
    pub fn oneof<O: Oneof>(&mut self, name: &'static str) -> Result<OneofDecoder<O>, DecodeError> {
        self.oneof_by(name, O::decode_member)
    }
}

impl<'a> Decoder<'a> {
    /// Begins to read a oneof, using `decode_member` to read the member that is set.
    #[inline]
    pub(crate) fn oneof_by<O>(
        &mut self,
        name: &'static str,
        decode_member: impl FnOnce(u32, &mut Self) -> Result<Option<O>, DecodeError>,
    ) -> Result<OneofDecoder<O>, DecodeError> {
        let before = self.position();
        match self.member_head() {
            Ok(None) => Ok(OneofDecoder { value: None, flat: true }),
            Ok(Some(0)) => Ok(OneofDecoder { value: None, flat: false }),
            Ok(Some(member)) => match decode_member(member, self) {
                Ok(Some(value)) => Ok(OneofDecoder { value: Some(value), flat: false }),
                Ok(None) => Err(DecodeError::new(DecodeReason::UnknownMember { member }, before).in_field(name)),
                Err(error) => Err(error.in_field(name)),
            },
            Err(error) => Err(error.in_field(name)),
        }
    }
}

/// A oneof that is being read, created by [`Decoder::oneof`].
#[derive(Debug)]
#[must_use]
pub struct OneofDecoder<O> {
    value: Option<O>,
    pub(crate) flat: bool,
}

impl<O> OneofDecoder<O> {
    #[inline]
    pub(crate) fn set(&mut self, value: O) {
        self.value = Some(value);
    }

    /// Reads a member of a oneof in the flat encoding, which has a separate field for each member. A member with a
    /// value other than its default becomes the one that is set. Does nothing in the extended encoding.
    ///
    /// # Errors
    ///
    /// If the value of the member is missing or malformed.
    #[inline]
    pub fn member<C: Codec>(
        &mut self,
        from: &mut Decoder<'_>,
        name: &'static str,
        variant: impl FnOnce(C::Target) -> O,
    ) -> Result<(), DecodeError> {
        if !self.flat {
            return Ok(());
        }
        // A message member may be absent, which is encoded as nil. Other members are always encoded.
        let value = match C::KIND {
            Kind::Any => from.field_as::<Option<C>>(name)?,
            _ => Some(from.field_as::<C>(name)?),
        };
        if let Some(value) = value.filter(|value| !C::is_default(value)) {
            self.value = Some(variant(value));
        }
        Ok(())
    }

    /// Returns the member that is set, or `None` if no member is set.
    #[inline]
    pub fn into_option(self) -> Option<O> {
        self.value
    }
}
