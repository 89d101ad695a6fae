//! Views of the messages, which borrow from a body, for builds with `views(true)`.

use polyglot::{DecodeError, Decoder, List, MessageView, Viewed};

use crate::{Image, Tensor};

/// A borrowed view of a [`Tensor`].
#[derive(Clone, Copy, Debug, Default)]
pub struct TensorView<'a> {
    /// Element type as a NumPy name or descriptor.
    pub dtype: &'a str,
    /// Number of elements in each dimension.
    pub shape: List<'a, u32>,
    /// Encoded elements, which are not validated against `dtype` and `shape`.
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

/// A borrowed view of an [`Image`].
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageView<'a> {
    /// Media type of the image, such as `image/png`.
    pub media_type: &'a str,
    /// Content of the image file.
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
