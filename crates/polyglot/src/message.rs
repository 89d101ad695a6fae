//! Messages and whole bodies.

use crate::{DecodeError, Decoder, Element, EncodeError, Encoder, Kind, MessageView, Value};

/// A message of the schema. Implemented by generated code.
///
/// Fields stand in wire order: single scalars, strings, bytes and enums first, then repeated fields, then messages and
/// maps, each group in the order of declaration. [The crate's page](crate) has an example.
pub trait Message: Default {
    /// The full name, for errors: `package.Outer.Inner`.
    const NAME: &'static str;

    /// Writes the fields, without the head of the message.
    ///
    /// # Errors
    ///
    /// If a field cannot be put on the wire.
    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads the fields, behind the head of the message.
    ///
    /// # Errors
    ///
    /// If a field is not there or bad.
    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;
}

/// What a body holds: a message, or an error in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root<M, T = String> {
    /// The message. A nil root is its default.
    Message(M),
    /// The text of the error.
    Error(T),
}

/// Writes a message as a body.
///
/// # Errors
///
/// If the message cannot be put on the wire; what was written of it is taken back.
#[inline]
pub fn encode_root<M: Message>(message: &M, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    let mark = to.mark();
    to.message(|to| message.encode_fields(to)).map_err(|error| {
        to.rewind(mark);
        error.in_message(M::NAME)
    })
}

/// Reads a body. Bytes behind the message or error are left unread: newer peers may have put them there.
///
/// ```
/// use polyglot::{Decoder, Root, decode_root};
/// # use polyglot::{DecodeError, EncodeError, Encoder, Message};
/// # #[derive(Debug, Default, PartialEq)]
/// # struct Empty {}
/// # impl Message for Empty {
/// #     const NAME: &'static str = "Empty";
/// #     fn encode_fields(&self, _: &mut Encoder<'_>) -> Result<(), EncodeError> { Ok(()) }
/// #     fn decode_fields(_: &mut Decoder<'_>) -> Result<Self, DecodeError> { Ok(Self {}) }
/// # }
///
/// let mut decoder = Decoder::new(&[0x06, 0x05, 0x0a, 3, b'E', b'O', b'F', 0xff]);
/// assert_eq!(decode_root::<Empty>(&mut decoder)?, Root::Error("EOF".to_owned()));
/// assert_eq!(decoder.remaining(), 1);
/// # Ok::<(), DecodeError>(())
/// ```
///
/// # Errors
///
/// If there is neither a message nor an error, or it is bad.
#[inline]
pub fn decode_root<M: Message>(from: &mut Decoder<'_>) -> Result<Root<M>, DecodeError> {
    if from.peek() == Some(Kind::Error) {
        return from.error_text().map(|text| Root::Error(text.to_owned())).map_err(|error| error.in_message(M::NAME));
    }
    match from.message(M::decode_fields) {
        Ok(message) => Ok(Root::Message(message.unwrap_or_default())),
        Err(error) => Err(error.in_message(M::NAME)),
    }
}

/// Reads a body as a view into the input.
///
/// # Errors
///
/// As [`decode_root`].
#[inline]
pub fn view_root<'a, V: MessageView<'a>>(from: &mut Decoder<'a>) -> Result<Root<V, &'a str>, DecodeError> {
    if from.peek() == Some(Kind::Error) {
        return from.error_text().map(Root::Error).map_err(|error| error.in_message(V::NAME));
    }
    match from.message(V::decode_fields) {
        Ok(message) => Ok(Root::Message(message.unwrap_or_default())),
        Err(error) => Err(error.in_message(V::NAME)),
    }
}

impl<M: Message> Value for M {
    #[inline]
    fn encode(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.message(|to| self.encode_fields(to))
    }

    /// Nil becomes the default message, as in lists and maps. A single message field is an option.
    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.message(M::decode_fields).map(Option::unwrap_or_default)
    }
}

impl<M: Message> Element for M {
    const KIND: Kind = Kind::Any;

    #[inline]
    fn is_default(&self) -> bool {
        false
    }
}

/// Messages that contain themselves are boxed.
impl<M: Message> Message for Box<M> {
    const NAME: &'static str = M::NAME;

    #[inline]
    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        M::encode_fields(self, to)
    }

    #[inline]
    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        from.charge::<M>(1)?;
        M::decode_fields(from).map(Self::new)
    }
}
