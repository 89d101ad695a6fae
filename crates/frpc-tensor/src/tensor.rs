//! The message `frpc.Tensor`, and its data as numbers. `.npy` files are in `npy.rs`, JSON in `json.rs`.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use polyglot::protobuf::{Field, Protobuf};
use polyglot::{DecodeError, Decoder, EncodeError, Encoder};

use crate::dtype::Dtype;
use crate::element::Element;
use crate::error::TensorError;
use crate::npy;

/// How many dimensions a tensor may have: NumPy's `NPY_MAXDIMS`.
pub const DIMENSIONS_MAX: usize = 64;

/// Numbers in some dimensions: the message `frpc.Tensor`.
///
/// The data has the elements one after the other, those of the last dimension first, as NumPy's arrays in C order. Data of
/// 16 KiB and more that a native caller has sent is a part of the packet: it is not copied, and keeps the packet in
/// memory. Any field may hold anything then, until [`check`](Self::check) or a method that reads elements has looked at
/// it.
///
/// # JSON
///
/// A tensor is written as proto3's mapping says, so that other libraries for protobuf read it:
/// `{"dtype":"float32","shape":[2,2],"data":"AACAPwAAAEAAAEBAAACAQA=="}`. Read is any of these:
///
/// | JSON | tensor |
/// |---|---|
/// | `{"dtype": "<f4", "shape": [2, 2], "data": "AACAPwAAAEAAAEBAAACAQA=="}` | base64 of the elements, which are exactly as long as `shape` says |
/// | `{"dtype": "float32", "data": [[1, 2], [3, 4]]}` | nested lists; `shape` may be given, and is then compared |
/// | `[[1, 2], [3, 4]]`, or an object with this `data` alone | the same, of `int64`; of `float64` if a number has a fraction or an exponent or is `"NaN"`, `"Infinity"` or `"-Infinity"`; of `bool` if all are |
/// | `"k05VTVBZAQB2…"`, or an object with this `data` alone | base64 of a `.npy` file |
///
/// Lists hold no complex numbers, and numbers that do not fit the `dtype` are refused; floats are rounded to it.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
#[prost(skip_debug)]
pub struct Tensor {
    /// The type of the elements: NumPy's name for it, or its descriptor. See [`Dtype::parse`].
    #[prost(string, tag = "1")]
    pub dtype: String,
    /// The number of elements in each dimension. A tensor without dimensions is one element.
    #[prost(uint32, repeated, tag = "2")]
    pub shape: Vec<u32>,
    /// The elements.
    #[prost(bytes = "bytes", tag = "3")]
    pub data: Bytes,
}

impl Tensor {
    /// A tensor of these elements, which are not copied.
    ///
    /// ```
    /// use frpc_tensor::Tensor;
    ///
    /// let tensor = Tensor::from_vec([3], vec![1_u16, 2, 3])?;
    /// assert_eq!(tensor.as_slice::<u16>()?, [1, 2, 3]);
    /// # Ok::<(), frpc_tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If the shape is of another number of elements, or has too many dimensions.
    pub fn from_vec<T: Element>(shape: impl Into<Vec<u32>>, elements: Vec<T>) -> Result<Self, TensorError> {
        struct Owner<T>(Vec<T>);

        impl<T: Element> AsRef<[u8]> for Owner<T> {
            fn as_ref(&self) -> &[u8] {
                bytemuck::must_cast_slice(&self.0)
            }
        }

        if cfg!(target_endian = "big") {
            return Self::from_slice(shape, &elements);
        }
        Self::of::<T>(shape.into(), Bytes::from_owner(Owner(elements)))
    }

    /// A tensor of a copy of these elements.
    ///
    /// # Errors
    ///
    /// As [`from_vec`](Self::from_vec).
    pub fn from_slice<T: Element>(shape: impl Into<Vec<u32>>, elements: &[T]) -> Result<Self, TensorError> {
        let mut bytes = bytemuck::must_cast_slice::<T, u8>(elements).to_vec();
        if cfg!(target_endian = "big") {
            bytes.chunks_exact_mut(size_of::<T>().max(1)).for_each(<[u8]>::reverse);
        }
        Self::of::<T>(shape.into(), bytes.into())
    }

    fn of<T: Element>(shape: Vec<u32>, data: Bytes) -> Result<Self, TensorError> {
        let tensor = Self { dtype: T::TYPE.name().to_owned(), shape, data };
        tensor.check()?;
        Ok(tensor)
    }

    /// Reads a `.npy` file, as `numpy.save` writes it. The data is a part of `file`, unless it is in the order of
    /// Fortran: then it is copied into that of C.
    ///
    /// ```
    /// use frpc_tensor::Tensor;
    ///
    /// let file = Tensor::from_vec([2], vec![1_i32, 2])?.to_npy()?;
    /// let tensor = Tensor::from_npy(file.into())?;
    /// assert_eq!((&*tensor.dtype, tensor.as_slice::<i32>()?), ("<i4", &[1, 2][..]));
    /// # Ok::<(), frpc_tensor::TensorError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is not such a file of version 1, 2 or 3, its data is not exactly as long as its header says, or its elements
    /// are none that tensors have: objects, structures, text, times.
    pub fn from_npy(file: Bytes) -> Result<Self, TensorError> {
        npy::read(file)
    }

    /// The tensor as a `.npy` file, which `numpy.load` reads.
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check), or NumPy does not have its type.
    pub fn to_npy(&self) -> Result<Vec<u8>, TensorError> {
        npy::write(self)
    }

    /// Compares `dtype`, `shape` and the length of the data, and returns the type of the elements.
    ///
    /// # Errors
    ///
    /// If the type is none that tensors have, the shape has more than [`DIMENSIONS_MAX`] dimensions, or the data has
    /// another length.
    pub fn check(&self) -> Result<Dtype, TensorError> {
        let dtype = Dtype::parse(&self.dtype).ok_or_else(|| TensorError::dtype(&self.dtype))?;
        let expected = length(&self.shape, dtype)?;
        if expected != Some(self.data.len()) {
            return Err(TensorError::Length { expected, found: self.data.len() });
        }
        Ok(dtype)
    }

    /// The elements, where they are. That takes data that is aligned, which data in a packet may or may not be; see
    /// [`view`](Self::view).
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check), has elements of another type or byte order, or unaligned data, or a
    /// bool is neither 0 nor 1.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], TensorError> {
        let dtype = self.check_for::<T>()?;
        if dtype.is_big_endian != cfg!(target_endian = "big") && size_of::<T>() > 1 {
            return Err(TensorError::ByteOrder);
        }
        // Of no bytes it does not matter where they are.
        if self.data.is_empty() {
            return Ok(&[]);
        }
        bytemuck::checked::try_cast_slice(&self.data).map_err(|error| match error {
            bytemuck::checked::CheckedCastError::InvalidBitPattern => TensorError::Bool,
            bytemuck::checked::CheckedCastError::PodCastError(_) => TensorError::Unaligned,
        })
    }

    /// The elements: borrowed if they can be, copied if they are not aligned or have another order of bytes.
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check) or has elements of another type, or a bool is neither 0 nor 1.
    pub fn view<T: Element>(&self) -> Result<Cow<'_, [T]>, TensorError> {
        match self.as_slice() {
            Ok(elements) => Ok(Cow::Borrowed(elements)),
            Err(TensorError::Unaligned | TensorError::ByteOrder) => self.to_vec().map(Cow::Owned),
            Err(error) => Err(error),
        }
    }

    /// A copy of the elements.
    ///
    /// # Errors
    ///
    /// As [`view`](Self::view).
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, TensorError> {
        let dtype = self.check_for::<T>()?;
        T::read(&self.data, dtype.is_big_endian).ok_or(TensorError::Bool)
    }

    fn check_for<T: Element>(&self) -> Result<Dtype, TensorError> {
        let dtype = self.check()?;
        if dtype.element != T::TYPE {
            return Err(TensorError::OtherType { expected: T::TYPE, found: dtype.element });
        }
        Ok(dtype)
    }
}

/// How long the data of this shape is, in bytes; none if no memory is so large.
pub(crate) fn length(shape: &[u32], dtype: Dtype) -> Result<Option<usize>, TensorError> {
    if shape.len() > DIMENSIONS_MAX {
        return Err(TensorError::Shape);
    }
    // No elements are no bytes, however large the other dimensions are.
    if shape.contains(&0) {
        return Ok(Some(0));
    }
    let sizes = shape.iter().map(|size| usize::try_from(*size).ok());
    Ok(sizes.chain([Some(dtype.element.size())]).try_fold(1_usize, |product, size| product.checked_mul(size?)))
}

/// The data is left out: a tensor has a million elements as soon as three.
impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tensor")
            .field("dtype", &self.dtype)
            .field("shape", &self.shape)
            .field("data", &format_args!("{} bytes", self.data.len()))
            .finish()
    }
}

impl Protobuf for Tensor {
    fn field(number: u32) -> Field {
        match number {
            2 => Field::varints::<u32>(),
            _ => Field::PLAIN,
        }
    }
}

impl polyglot::Fields for Tensor {
    const NAME: &'static str = "frpc.Tensor";

    fn encode_fields(&self, to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        to.field("dtype", &self.dtype)?;
        to.field("data", &self.data)?;
        to.field("shape", &self.shape)
    }

    fn decode_fields(from: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        Ok(Self { dtype: from.field("dtype")?, data: from.field("data")?, shape: from.field("shape")? })
    }
}
