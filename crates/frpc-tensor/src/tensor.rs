//! The message `frpc.Tensor` and access to its elements. `npy.rs` implements `.npy` files, and `json.rs`
//! implements the JSON mapping.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use polyglot::protobuf::{Field, Protobuf};
use polyglot::{DecodeError, Decoder, EncodeError, Encoder};

use crate::dtype::Dtype;
use crate::element::Element;
use crate::error::TensorError;
use crate::npy;

/// Maximum number of dimensions, equal to NumPy's `NPY_MAXDIMS`.
pub const DIMENSIONS_MAX: usize = 64;

/// An array of numbers with any number of dimensions: the message `frpc.Tensor`.
///
/// Elements are stored in C order, as in NumPy's arrays. Data of 16 KiB or more from a native caller shares the memory
/// of the packet, which stays allocated until the tensor is dropped. The fields of a received tensor are not validated
/// before [`check`](Self::check) or a method that accesses elements is called.
///
/// # JSON
///
/// The output follows proto3's mapping, so other protobuf libraries can read it:
/// `{"dtype":"float32","shape":[2,2],"data":"AACAPwAAAEAAAEBAAACAQA=="}`. Accepted inputs are:
///
/// | JSON | tensor |
/// |---|---|
/// | `{"dtype": "<f4", "shape": [2, 2], "data": "AACAPwAAAEAAAEBAAACAQA=="}` | base64 of the elements, with the exact length that `shape` implies |
/// | `{"dtype": "float32", "data": [[1, 2], [3, 4]]}` | nested lists; an optional `shape` must match |
/// | `[[1, 2], [3, 4]]`, or an object with this `data` alone | nested lists of `int64`; of `float64` if a number has a fraction or an exponent or is `"NaN"`, `"Infinity"` or `"-Infinity"`; of `bool` if all elements are bools |
/// | `"k05VTVBZAQB2…"`, or an object with this `data` alone | base64 of a `.npy` file |
///
/// Lists cannot contain complex numbers. Integers that do not fit the `dtype` are rejected; floats are rounded.
#[derive(Clone, PartialEq, Eq, Hash, ::prost::Message)]
#[prost(skip_debug)]
pub struct Tensor {
    /// Element type as a NumPy name or descriptor; see [`Dtype::parse`].
    #[prost(string, tag = "1")]
    pub dtype: String,
    /// Number of elements in each dimension. A tensor without dimensions has one element.
    #[prost(uint32, repeated, tag = "2")]
    pub shape: Vec<u32>,
    /// Encoded elements in C order, in the byte order of `dtype`.
    #[prost(bytes = "bytes", tag = "3")]
    pub data: Bytes,
}

impl Tensor {
    /// Creates a tensor from elements without copying them.
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
    /// If the number of elements does not match `shape`, or it has too many dimensions.
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

    /// Creates a tensor with this shape by copying the elements.
    ///
    /// # Errors
    ///
    /// Like [`from_vec`](Self::from_vec).
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

    /// Parses a `.npy` file, as written by `numpy.save`. The tensor shares the memory of `file`, unless the elements
    /// are in Fortran order and are therefore copied.
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
    /// If the file is malformed or of another version than 1, 2 or 3, the length of its data contradicts its header, or
    /// its element type is not supported (objects, structures, text, times).
    pub fn from_npy(file: Bytes) -> Result<Self, TensorError> {
        npy::read(file)
    }

    /// Encodes the tensor as a `.npy` file, which `numpy.load` can read.
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check), or NumPy lacks its element type.
    pub fn to_npy(&self) -> Result<Vec<u8>, TensorError> {
        npy::write(self)
    }

    /// Validates `dtype`, `shape` and the length of the data, and returns the parsed element type.
    ///
    /// # Errors
    ///
    /// If the `dtype` is not supported, the shape has more than [`DIMENSIONS_MAX`] dimensions, or the length of the
    /// data does not match.
    pub fn check(&self) -> Result<Dtype, TensorError> {
        let dtype = Dtype::parse(&self.dtype).ok_or_else(|| TensorError::dtype(&self.dtype))?;
        let expected = length(&self.shape, dtype)?;
        if expected != Some(self.data.len()) {
            return Err(TensorError::Length { expected, found: self.data.len() });
        }
        Ok(dtype)
    }

    /// Borrows the elements as a slice. Fails if the data is not aligned, which may happen for received tensors; see
    /// [`view`](Self::view).
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check), the element type or the byte order differs, the data is not aligned,
    /// or a bool is neither 0 nor 1.
    pub fn as_slice<T: Element>(&self) -> Result<&[T], TensorError> {
        let dtype = self.check_for::<T>()?;
        if dtype.is_big_endian != cfg!(target_endian = "big") && size_of::<T>() > 1 {
            return Err(TensorError::ByteOrder);
        }
        // Skip the alignment check, because it does not matter for an empty slice.
        if self.data.is_empty() {
            return Ok(&[]);
        }
        bytemuck::checked::try_cast_slice(&self.data).map_err(|error| match error {
            bytemuck::checked::CheckedCastError::InvalidBitPattern => TensorError::Bool,
            bytemuck::checked::CheckedCastError::PodCastError(_) => TensorError::Unaligned,
        })
    }

    /// Borrows the elements, or copies them if they are not aligned or have another byte order.
    ///
    /// # Errors
    ///
    /// If the tensor is not [valid](Self::check), the element type differs, or a bool is neither 0 nor 1.
    pub fn view<T: Element>(&self) -> Result<Cow<'_, [T]>, TensorError> {
        match self.as_slice() {
            Ok(elements) => Ok(Cow::Borrowed(elements)),
            Err(TensorError::Unaligned | TensorError::ByteOrder) => self.to_vec().map(Cow::Owned),
            Err(error) => Err(error),
        }
    }

    /// Copies the elements into a vector.
    ///
    /// # Errors
    ///
    /// Like [`view`](Self::view).
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

/// Returns the length in bytes of the data for a shape, or `None` if it exceeds `usize`.
pub(crate) fn length(shape: &[u32], dtype: Dtype) -> Result<Option<usize>, TensorError> {
    if shape.len() > DIMENSIONS_MAX {
        return Err(TensorError::Shape);
    }
    // If any dimension is zero, there are no elements, however large the other dimensions are.
    if shape.contains(&0) {
        return Ok(Some(0));
    }
    let sizes = shape.iter().map(|size| usize::try_from(*size).ok());
    Ok(sizes.chain([Some(dtype.element.size())]).try_fold(1_usize, |product, size| product.checked_mul(size?)))
}

/// Formats the tensor without its data, which may have millions of elements.
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
