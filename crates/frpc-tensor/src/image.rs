//! The message `frpc.Image`.

use std::fmt;

use bytes::Bytes;
use polyglot::{DecodeError, Decoder, EncodeError, Encoder};

/// A picture as a file: the message `frpc.Image`. Nothing looks into the data.
///
/// Data of 16 KiB and more that a native caller has sent is a part of the packet, and is not copied.
///
/// # JSON
///
/// An image is written as proto3's mapping says: `{"mediaType":"image/png","data":"iVBORw0KGgo="}`. Read are also
/// `"data:image/png;base64,iVBORw0KGgo="`, as `FileReader.readAsDataURL` and `canvas.toDataURL` give it, and
/// `"iVBORw0KGgo="` alone.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
#[prost(skip_debug)]
pub struct Image {
    /// The media type, such as `image/png`; empty if the sender does not say it.
    #[prost(string, tag = "1")]
    pub media_type: String,
    /// The bytes of the file.
    #[prost(bytes = "bytes", tag = "2")]
    pub data: Bytes,
}

impl Image {
    /// An image.
    pub fn new(media_type: impl Into<String>, data: impl Into<Bytes>) -> Self {
        Self { media_type: media_type.into(), data: data.into() }
    }
}

/// The data is left out.
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
