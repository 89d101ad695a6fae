//! Views of the messages, which borrow from a body, for builds with `views(true)`.

use polyglot::{DecodeError, Decoder, List, MessageView, Viewed};

use crate::{Image, Tensor};

/// A borrowed [`Tensor`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TensorView<'a> {
    /// The type of the elements.
    pub dtype: &'a str,
    /// The number of elements in each dimension.
    pub shape: List<'a, u32>,
    /// The elements. They are not validated against `dtype` and `shape`.
    pub data: &'a [u8],
}

impl<'a> MessageView<'a> for TensorView<'a> {
    const NAME: &'static str = "frpc.Tensor";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { dtype: from.view("dtype")?, data: from.view("data")?, shape: from.view("shape")? })
    }
}

impl Viewed for Tensor {
    type View<'a> = TensorView<'a>;
}

/// A borrowed [`Image`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageView<'a> {
    /// The media type.
    pub media_type: &'a str,
    /// The content of the file.
    pub data: &'a [u8],
}

impl<'a> MessageView<'a> for ImageView<'a> {
    const NAME: &'static str = "frpc.Image";

    fn decode_fields(from: &mut Decoder<'a>) -> Result<Self, DecodeError> {
        Ok(Self { media_type: from.view("media_type")?, data: from.view("data")? })
    }
}

impl Viewed for Image {
    type View<'a> = ImageView<'a>;
}
