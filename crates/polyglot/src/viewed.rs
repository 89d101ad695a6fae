//! Support for generated views: view types of messages, undecoded messages, enums and oneofs.

use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;

use crate::layout::MessageLayout;
use crate::{
    CONTAINER_MEMORY_MAX, Codec, DecodeError, DecodeReason, Decoder, EncodeError, EncodeReason, Encoder, Enumeration,
    Fields, Index, Kind, Message, MessageView, Nesting, OneofDecoder, Root, View, view_root,
};

/// A message that can also be decoded as a view, which borrows from the input. Implemented by generated code.
pub trait Viewed: Fields {
    /// View type of the message, which borrows from the input.
    type View<'a>: MessageView<'a>;
}

/// An encoded message, which can be read without copying it.
///
/// ```
/// # use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Fields, Message, MessageView, Undecoded, Root, Viewed};
/// # #[derive(Default)]
/// # struct Book { title: String }
/// # impl Fields for Book {
/// #     const NAME: &'static str = "library.Book";
/// #     fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> { to.field("title", &self.title) }
/// #     fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> { Ok(Self { title: from.field("title")? }) }
/// # }
/// # #[derive(Default)]
/// # struct BookView<'a> { title: &'a str }
/// # impl<'a> MessageView<'a> for BookView<'a> {
/// #     const NAME: &'static str = "library.Book";
/// #     fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> { Ok(Self { title: from.view("title")? }) }
/// # }
/// # impl Viewed for Book { type View<'a> = BookView<'a>; }
/// let body = b"\x08\x00\x05\x0a\x04Emma";
/// let Root::Message(raw) = Undecoded::<Book>::decode_root(&mut Decoder::new(body))? else { panic!("an error") };
/// let book: BookView<'_> = raw.view()?;
/// assert_eq!(book.title, "Emma");
/// # Ok::<(), DecodeError>(())
/// ```
pub struct Undecoded<M> {
    /// The encoded message as it was received. Empty for a default message.
    body: Bytes,
    nesting: Nesting,
    container_memory: usize,
    message: PhantomData<fn() -> M>,
}

impl<M: Fields> Undecoded<M> {
    /// Encodes a message, and stores the encoded body instead of the message.
    ///
    /// # Errors
    ///
    /// If the message cannot be encoded.
    pub fn new(message: &M) -> Result<Self, EncodeError> {
        let mut body = Vec::new();
        message.encode_root(&mut Encoder::new(&mut body).with_form(crate::Form::Extended))?;
        Ok(Self { body: body.into(), nesting: Nesting::DEEPEST, container_memory: usize::MAX, ..Self::default() })
    }

    /// Decodes the message as a view that borrows from the body. Each call decodes the message again.
    ///
    /// # Errors
    ///
    /// If the body is not a valid message.
    pub fn view(&self) -> Result<M::View<'_>, DecodeError>
    where
        M: Viewed,
    {
        self.read(view_root)
    }

    /// Decodes the message. Long `Bytes` and `Utf8Bytes` values share the memory of the body.
    ///
    /// # Errors
    ///
    /// If the body is not a valid message.
    pub fn decode(&self) -> Result<M, DecodeError> {
        self.read(M::decode_root)
    }

    /// Returns the encoded body, including any bytes after the message.
    #[must_use]
    pub fn as_bytes(&self) -> &Bytes {
        &self.body
    }

    #[inline]
    fn read<'a, T: Default>(
        &'a self,
        decode: impl FnOnce(&mut Decoder<'a>) -> Result<Root<T>, DecodeError>,
    ) -> Result<T, DecodeError> {
        if self.body.is_empty() {
            return Ok(T::default());
        }
        let decoder = Decoder::shared(&self.body).with_nesting(self.nesting);
        match decode(&mut decoder.with_container_memory(self.container_memory))? {
            Root::Message(message) => Ok(message),
            Root::Error(_) => Err(DecodeError::new(DecodeReason::NestedError, 0).in_message(<M as Fields>::NAME)),
        }
    }
}

impl<M: Fields> Message for Undecoded<M> {
    const NAME: &'static str = <M as Fields>::NAME;
    const LAYOUT: Option<&'static MessageLayout> = <M as Fields>::LAYOUT;

    /// Decodes the body and encodes it again. This is necessary because the receiver may use another encoding, flat or
    /// extended, than the stored body.
    fn encode_root(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        let message = self.decode().map_err(|error| {
            EncodeError::new(EncodeReason::Unreadable(error.to_string())).in_message(<M as Fields>::NAME)
        })?;
        message.encode_root(to)
    }

    /// Stores the encoded body without validating it. Errors are reported when the message is decoded.
    fn decode_root(from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        let (nesting, container_memory) = (from.nesting(), from.container_memory());
        Ok(match from.take_body().map_err(|error| error.in_message(<M as Fields>::NAME))? {
            Root::Message(body) => Root::Message(Self { nesting, container_memory, body, message: PhantomData }),
            Root::Error(text) => Root::Error(text),
        })
    }
}

impl<M> Default for Undecoded<M> {
    fn default() -> Self {
        Self {
            body: Bytes::new(),
            nesting: Nesting::default(),
            container_memory: CONTAINER_MEMORY_MAX,
            message: PhantomData,
        }
    }
}

impl<M> Clone for Undecoded<M> {
    fn clone(&self) -> Self {
        Self { body: self.body.clone(), ..*self }
    }
}

impl<M> fmt::Debug for Undecoded<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Undecoded").field("bytes", &self.body.len()).finish_non_exhaustive()
    }
}

/// An enum value in a list or map of a view. An enum field outside of lists and maps is a plain `i32` in a view.
pub struct Number<E> {
    number: i32,
    enumeration: PhantomData<fn() -> E>,
}

impl<E> Number<E> {
    /// Returns the number of the enum value. An index that the enum does not declare has the number `i32::MIN + index`.
    #[must_use]
    pub fn get(self) -> i32 {
        self.number
    }
}

impl<'a, E: Enumeration> View<'a> for Number<E> {
    const KIND: Kind = Kind::U32;

    #[inline]
    fn decode(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { number: <Index<E> as Codec>::decode(from)?, enumeration: PhantomData })
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.number == 0
    }
}

impl<E> Default for Number<E> {
    fn default() -> Self {
        Self { number: 0, enumeration: PhantomData }
    }
}

impl<E> Clone for Number<E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Number<E> {}

impl<E> PartialEq for Number<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E> Eq for Number<E> {}

impl<E> fmt::Debug for Number<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

/// Like [`Oneof`](crate::Oneof), but its members borrow from the input. Implemented by generated code.
pub trait OneofView<'a>: Sized {
    /// Reads the value of a member. `member` is the index of the member in the declaration, starting at 1. Returns
    /// `None` without reading anything if there is no such member.
    ///
    /// # Errors
    ///
    /// If the value is missing or malformed.
    fn decode_member(member: u32, from: &mut Decoder<'a>) -> Result<Option<Self>, DecodeError>;
}

impl<'a> Decoder<'a> {
    /// Like [`oneof`](Self::oneof), but reads the member that is set as a view, which borrows from the input.
    ///
    /// # Errors
    ///
    /// If the member that is set is unknown to the schema, or its value is malformed.
    #[inline]
    pub fn oneof_view<O: OneofView<'a>>(&mut self, name: &'static str) -> Result<OneofDecoder<O>, DecodeError> {
        self.oneof_by(name, O::decode_member)
    }
}

impl<O> OneofDecoder<O> {
    /// Like [`member`](Self::member), but reads the member as a view that borrows from the input.
    ///
    /// # Errors
    ///
    /// If the value of the member is missing or malformed.
    #[inline]
    pub fn view_member<'a, V: View<'a>>(
        &mut self,
        from: &mut Decoder<'a>,
        name: &'static str,
        variant: impl FnOnce(V) -> O,
    ) -> Result<(), DecodeError> {
        if !self.flat {
            return Ok(());
        }
        // A message member may be absent, which is encoded as nil. Other members are always encoded.
        let value = match V::KIND {
            Kind::Any => from.view::<Option<V>>(name)?,
            _ => Some(from.view::<V>(name)?),
        };
        if let Some(value) = value.filter(|value| !value.is_default()) {
            self.set(variant(value));
        }
        Ok(())
    }
}
