//! Tensors and images in JSON. `json/lists.rs` parses nested lists of numbers.

mod lists;

use frpc_json::{DecodeError, EncodeError, Fields, Json, Reader, Writer, decode_base64};

use crate::dtype::Dtype;
use crate::error::TensorError;
use crate::image::Image;
use crate::npy;
use crate::tensor::Tensor;
use lists::Lists;

impl Tensor {
    /// Decodes a tensor from JSON. Lists of numbers without a `dtype` get the given one.
    ///
    /// # Errors
    ///
    /// If the JSON is not a tensor, or a number does not fit the type.
    pub fn decode_json_as(from: &mut Reader<'_>, dtype: &str) -> Result<Self, DecodeError> {
        let offset = from.value_offset();
        Parts::read(from)?.tensor(offset, dtype)
    }
}

impl Json for Tensor {
    const NAME: &'static str = "frpc.Tensor";
    const IS_OBJECT: bool = true;
    const FIELD_NAMES: &'static [&'static str] = Parts::FIELDS;

    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.message(|to| {
            to.field("\"dtype\":", &self.dtype)?;
            to.field("\"shape\":", &self.shape)?;
            to.field("\"data\":", &self.data)
        })
    }

    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        *self = Self::decode_json_as(from, "")?;
        Ok(())
    }

    fn decode_positional(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let offset = from.value_offset();
        let mut parts = Parts::default();
        parts.decode_positional(from)?;
        *self = parts.tensor(offset, "")?;
        Ok(())
    }
}

/// The members of a tensor's JSON object. All are optional.
#[derive(Default)]
struct Parts {
    dtype: String,
    shape: Option<Vec<u32>>,
    data: Data,
}

impl Fields for Parts {
    const NAME: &'static str = "frpc.Tensor";
    const FIELDS: &'static [&'static str] = &["dtype", "shape", "data"];

    fn field(name: &str) -> Option<usize> {
        Self::FIELDS.iter().position(|field| *field == name)
    }

    /// Does nothing, because this type is only read and never written.
    fn encode_fields(&self, _: &mut Writer<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        match field {
            0 => from.field(&mut self.dtype),
            1 if from.peek() == Some(b'n') => from.skip(),
            1 => from.field(self.shape.insert(Vec::new())),
            _ => from.field(&mut self.data),
        }
    }
}

impl Parts {
    fn read(from: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let mut parts = Self::default();
        if from.peek() == Some(b'{') {
            parts.decode_json(from)?;
        } else {
            parts.data.decode_json(from)?;
        }
        Ok(parts)
    }

    /// Builds the tensor. `offset` is the position of the JSON object, for errors. `default` is the element type of
    /// lists without a `dtype`.
    fn tensor(self, offset: usize, default: &str) -> Result<Tensor, DecodeError> {
        self.assembled(default).map_err(|reason| Reader::refuse(offset, reason))
    }

    fn assembled(self, default: &str) -> Result<Tensor, String> {
        let Self { mut dtype, shape, data } = self;
        if dtype.is_empty() && matches!(data, Data::Lists(_)) {
            default.clone_into(&mut dtype);
        }
        let message_of = |error: TensorError| error.to_string();
        let tensor = match data {
            Data::Absent if dtype.is_empty() && shape.is_none() => return Ok(Tensor::default()),
            Data::Absent => Tensor { dtype, shape: shape.clone().unwrap_or_default(), ..Tensor::default() },
            Data::Bytes(bytes) if dtype.is_empty() => {
                if !bytes.starts_with(npy::MAGIC) {
                    return Err("base64 without a dtype must be a .npy file".to_owned());
                }
                npy::read(bytes.into()).map_err(message_of)?
            }
            Data::Bytes(bytes) => Tensor { dtype, shape: shape.clone().unwrap_or_default(), data: bytes.into() },
            Data::Lists(lists) => {
                let element = if dtype.is_empty() {
                    lists.element()
                } else {
                    Dtype::parse(&dtype).ok_or_else(|| message_of(TensorError::dtype(&dtype)))?.element
                };
                lists.tensor(element)?
            }
        };
        if let Some(shape) = shape.filter(|shape| *shape != tensor.shape) {
            return Err(format!("the shape is {shape:?}, and the data has {:?}", tensor.shape));
        }
        tensor.check().map_err(message_of)?;
        Ok(tensor)
    }
}

/// Parsed member `data` of a tensor's JSON object.
#[derive(Default)]
enum Data {
    #[default]
    Absent,
    Bytes(Vec<u8>),
    Lists(Lists),
}

impl Json for Data {
    const NAME: &'static str = "frpc.Tensor.data";

    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.raw("null");
        Ok(())
    }

    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        *self = if from.peek() == Some(b'"') {
            let mut bytes = Vec::new();
            from.value(&mut bytes)?;
            Self::Bytes(bytes)
        } else {
            Self::Lists(Lists::read(from)?)
        };
        Ok(())
    }
}

impl Json for Image {
    const NAME: &'static str = "frpc.Image";
    const IS_OBJECT: bool = true;
    const FIELD_NAMES: &'static [&'static str] = ImageObject::FIELDS;

    fn encode_json(&self, to: &mut Writer<'_>) -> Result<(), EncodeError> {
        to.message(|to| {
            to.field("\"mediaType\":", &self.media_type)?;
            to.field("\"data\":", &self.data)
        })
    }

    fn decode_json(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        if from.peek() == Some(b'{') {
            let mut picture = ImageObject::default();
            picture.decode_json(from)?;
            *self = picture.0;
            return Ok(());
        }
        let offset = from.value_offset();
        let text = from.string("an object, a data URL or base64")?;
        let (media_type, data) = match text.strip_prefix("data:") {
            None => ("", &*text),
            Some(rest) => rest
                .split_once(',')
                .and_then(|(head, data)| Some((head.strip_suffix(";base64")?, data)))
                .ok_or_else(|| Reader::refuse(offset, "the URL does not hold base64"))?,
        };
        let data = decode_base64(data).ok_or_else(|| Reader::refuse(offset, "the image is not base64"))?;
        *self = Self::new(media_type, data);
        Ok(())
    }

    fn decode_positional(&mut self, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        let mut picture = ImageObject::default();
        picture.decode_positional(from)?;
        *self = picture.0;
        Ok(())
    }
}

/// An image that is read from a JSON object, rather than from a string.
#[derive(Default)]
struct ImageObject(Image);

impl Fields for ImageObject {
    const NAME: &'static str = "frpc.Image";
    const FIELDS: &'static [&'static str] = &["mediaType", "data"];

    fn field(name: &str) -> Option<usize> {
        match name {
            "mediaType" | "media_type" => Some(0),
            "data" => Some(1),
            _ => None,
        }
    }

    /// Does nothing, because this type is only read and never written.
    fn encode_fields(&self, _: &mut Writer<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn decode_field(&mut self, field: usize, from: &mut Reader<'_>) -> Result<(), DecodeError> {
        match field {
            0 => from.field(&mut self.0.media_type),
            _ => from.field(&mut self.0.data),
        }
    }
}
