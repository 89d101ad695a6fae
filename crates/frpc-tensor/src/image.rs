//! The message `frpc.Image`.

use std::fmt;

use bytes::Bytes;
use polyglot::{DecodeError, Decoder, EncodeError, Encoder};

/// The contents of an image file, which is the message `frpc.Image`. The data is not interpreted.
///
/// Data of 16 KiB or more from a native caller shares the memory of the packet instead of being copied.
///
/// # JSON
///
/// The output follows proto3's mapping: `{"mediaType":"image/png","data":"iVBORw0KGgo="}`. Data URLs
/// (`"data:image/png;base64,iVBORw0KGgo="`), which `FileReader.readAsDataURL` and `canvas.toDataURL` return, and plain
/// base64 (`"iVBORw0KGgo="`) are accepted as well.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
#[prost(skip_debug)]
pub struct Image {
    /// Media type of the image, such as `image/png`. Empty if unknown.
    #[prost(string, tag = "1")]
    pub media_type: String,
    /// Content of the image file, which is not interpreted.
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
}

impl Image {
    /// Creates an image.
    pub fn new(media_type: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self { media_type: media_type.into(), data: data.into() }
    }
}

/// Formats the image without its data, which may be long.
impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image")
            .field("media_type", &self.media_type)
            .field("data", &format_args!("{} bytes", self.data.len()))
            .finish()
    }
}

impl polyglot::protobuf::Protobuf for Image {}

impl polyglot::Fields for Image {
    const NAME: &'static str = "frpc.Image";

    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.field("media_type", &self.media_type)?;
        to.field("data", &self.data)
    }

    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { media_type: from.field("media_type")?, data: from.field("data")? })
    }
}
