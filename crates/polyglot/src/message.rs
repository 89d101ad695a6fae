//! Messages, and the bodies that contain them.

use crate::layout::MessageLayout;
use crate::{Codec, DecodeError, Decoder, EncodeError, Encoder, Kind, MessageView};

/// A type that can be the content of a body: a request, a reply, or a message of a stream.
///
/// Implemented for every type with [`Fields`], in the Polyglot encoding. Types with another encoding, such as messages
/// generated with the protobuf codec, cannot be fields of a Polyglot message.
///
/// ```
/// use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Message, Root};
///
/// /// The body as a peer reads it.
/// fn sent<M: Message>(message: &M) -> Result<Vec<u8>, EncodeError> {
///     let mut body = Vec::new();
///     message.encode_root(&mut Encoder::new(&mut body))?;
///     Ok(body)
/// }
///
/// let body = sent(&())?;
/// assert_eq!(<()>::decode_root(&mut Decoder::new(&body))?, Root::Message(()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no codec, so it cannot be a request or a reply",
    note = "types of `extern_path` bring their codec: build them with frpc-build too, or implement `polyglot::Fields`"
)]
pub trait Message: Default {
    /// Full name of the message for use in errors, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// Wire layout of the message. Set only if the stored bodies of the message start with the fingerprint of the
    /// layout, which the option `message_layouts` of frpc-build enables.
    const LAYOUT: Option<&'static MessageLayout> = None;

    /// Encodes the message as the root of a body.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded. The output is then restored to its previous length.
    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Decodes a body as this message or as an error. Bytes after the message or error are ignored, because peers with
    /// a newer schema may have added fields.
    ///
    /// # Errors
    ///
    /// If the input is neither a valid message nor an error.
    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError>;

    /// Like [`decode_root`](Self::decode_root), but overwrites `self` and reuses its allocations. If the result is not
    /// a message, the content of `self` is unspecified.
    ///
    /// # Errors
    ///
    /// Like [`decode_root`](Self::decode_root).
    #[inline]
    fn decode_root_over(&mut self, from: &mut Decoder<'_>) -> Result<Root<()>, DecodeError> {
        Ok(match Self::decode_root(from)? {
            Root::Message(message) => {
                *self = message;
                Root::Message(())
            }
            Root::Error(text) => Root::Error(text),
        })
    }
}

/// The fields of a message in the Polyglot encoding. Implemented by generated code.
///
/// Fields are in wire order: first single scalars, strings, bytes and enums, then repeated fields, then messages and
/// maps. Each of these groups is in the order of declaration. See the [crate documentation](crate) for an example.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Polyglot message",
    note = "messages of a build with the protobuf codec cannot be fields of messages of another build"
)]
pub trait Fields: Default {
    /// Full name of the message for use in errors, such as `package.Outer.Inner`.
    const NAME: &'static str;

    /// Wire layout of the message. Set only if the stored bodies of the message start with the fingerprint of the
    /// layout, which the option `message_layouts` of frpc-build enables.
    const LAYOUT: Option<&'static MessageLayout> = None;

    /// Writes the fields of the message, without its header.
    ///
    /// # Errors
    ///
    /// If a field cannot be encoded.
    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Reads the fields of the message, after its header has been read.
    ///
    /// # Errors
    ///
    /// If a field is missing or malformed.
    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError>;

    /// Like [`decode_fields`](Self::decode_fields), but overwrites `self` and reuses its allocations. After an error,
    /// the content of `self` is unspecified.
    ///
    /// # Errors
    ///
    /// Like [`decode_fields`](Self::decode_fields).
    #[inline]
    fn decode_fields_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        *self = Self::decode_fields(from)?;
        Ok(())
    }
}

/// The content of a body: a message, or an error in place of one.
///
/// ```
/// use polyglot::{Decoder, Encoder, Root, decode_root};
///
/// let mut body = Vec::new();
/// Encoder::new(&mut body).error("out of stock")?;
/// match decode_root::<()>(&mut Decoder::new(&body))? {
///     Root::Message(()) => unreachable!("the body is an error"),
///     Root::Error(text) => assert_eq!(text, "out of stock"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Root<M> {
    /// The body contains this message. Nil stands for the default message.
    Message(M),
    /// The body contains an error with this text.
    Error(String),
}

/// Encodes a message as the root of a body.
///
/// # Errors
///
/// If the message cannot be encoded. The output is then restored to its previous length.
#[inline(always)]
pub fn encode_root<M: Message>(message: &M, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
    message.encode_root(to)
}

/// Decodes a body. Bytes after the message or error are ignored, because peers with a newer schema may have added
/// fields.
///
/// ```
/// use polyglot::{Decoder, Root, decode_root};
///
/// let mut decoder = Decoder::new(&[0x06, 0x05, 0x0a, 3, b'E', b'O', b'F', 0xff]);
/// assert_eq!(decode_root::<()>(&mut decoder)?, Root::Error("EOF".to_owned()));
/// assert_eq!(decoder.remaining(), 1);
/// # Ok::<(), polyglot::DecodeError>(())
/// ```
///
/// # Errors
///
/// If the input is neither a valid message nor an error.
#[inline(always)]
pub fn decode_root<M: Message>(from: &mut Decoder<'_>) -> Result<Root<M>, DecodeError> {
    M::decode_root(from)
}

impl<M: Fields> Message for M {
    const NAME: &'static str = <M as Fields>::NAME;
    const LAYOUT: Option<&'static MessageLayout> = <M as Fields>::LAYOUT;

    #[inline(always)]
    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // Not a closure, because the compiler would be less likely to inline the fields.
        let mark = to.begin_root();
        let encoded = self.encode_fields(to);
        to.end_root(mark, encoded, <M as Fields>::NAME)
    }

    #[inline(always)]
    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        if !from.begin_root() {
            return no_message(<M as Fields>::NAME, from);
        }
        let decoded = M::decode_fields(from);
        end_root(<M as Fields>::NAME, from, decoded)
    }

    #[inline(always)]
    fn decode_root_over(&mut self, from: &mut Decoder<'_>) -> Result<Root<()>, DecodeError> {
        if !from.begin_root() {
            *self = M::default(); // The root may be nil.
            return no_message(<M as Fields>::NAME, from);
        }
        let decoded = self.decode_fields_over(from);
        end_root(<M as Fields>::NAME, from, decoded)
    }
}

/// Writes a body in the Polyglot encoding, using `fields` to write the fields of its message.
#[inline(always)]
pub(crate) fn encode_as(
    name: &'static str,
    to: &mut Encoder<'_>,
    fields: impl FnOnce(&mut Encoder<'_>) -> Result<(), EncodeError>,
) -> Result<(), EncodeError> {
    let mark = to.begin_root();
    let encoded = fields(to);
    to.end_root(mark, encoded, name)
}

/// Reads a body in the Polyglot encoding, using `fields` to read the fields of its message.
#[inline(always)]
pub(crate) fn decode_as<'a, M: Default>(
    name: &'static str,
    from: &mut Decoder<'a>,
    fields: impl FnOnce(&mut Decoder<'a>) -> Result<M, DecodeError>,
) -> Result<Root<M>, DecodeError> {
    if !from.begin_root() {
        return no_message(name, from);
    }
    let decoded = fields(from);
    end_root(name, from, decoded)
}

/// Reads a body that contains nil or an error, and thus no message with fields.
#[inline(always)]
fn no_message<M: Default>(name: &'static str, from: &mut Decoder<'_>) -> Result<Root<M>, DecodeError> {
    match from.no_root() {
        Ok(None) => Ok(Root::Message(M::default())),
        Ok(Some(text)) => Ok(Root::Error(text)),
        Err(error) => Err(error.in_message(name)),
    }
}

#[inline(always)]
fn end_root<M>(
    name: &'static str,
    from: &mut Decoder<'_>,
    decoded: Result<M, DecodeError>,
) -> Result<Root<M>, DecodeError> {
    from.end_root();
    match decoded {
        Ok(message) => Ok(Root::Message(message)),
        Err(error) => Err(error.in_message(name)),
    }
}

/// Decodes a body as a view that borrows strings and bytes from the input.
///
/// # Errors
///
/// Like [`decode_root`].
#[inline]
pub fn view_root<'a, V: MessageView<'a>>(from: &mut Decoder<'a>) -> Result<Root<V>, DecodeError> {
    decode_as(V::NAME, from, V::decode_fields)
}

impl<M: Fields> Codec for M {
    type Target = M;
    const KIND: Kind = Kind::Any;

    #[inline]
    fn encode(message: &M, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.message(|to| message.encode_fields(to))
    }

    /// Decodes nil as the default message. This occurs only in lists and maps, because a message field outside of them
    /// is an `Option`.
    #[inline]
    fn decode(from: &mut Decoder<'_>) -> Result<M, DecodeError> {
        from.message(M::decode_fields).map(Option::unwrap_or_default)
    }

    #[inline]
    fn decode_over(message: &mut M, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        if from.message(|from| message.decode_fields_over(from))?.is_none() {
            *message = M::default();
        }
        Ok(())
    }

    #[inline]
    fn is_default(_: &M) -> bool {
        false
    }
}

/// Boxed messages. A field must be boxed if its message type contains itself.
impl<M: Fields> Fields for Box<M> {
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

    #[inline]
    fn decode_fields_over(&mut self, from: &mut Decoder<'_>) -> Result<(), DecodeError> {
        from.charge::<M>(1)?;
        M::decode_fields_over(self, from)
    }
}
