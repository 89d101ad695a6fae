//! Tensors and images as messages of a schema: `frpc.Tensor` and `frpc.Image`.
//!
//! A schema imports their file, which is built into `frpc-build`:
//!
//! ```proto
//! import "frpc/tensor.proto";
//!
//! service Model {
//!   rpc Infer(frpc.Tensor) returns (frpc.Tensor);
//! }
//! ```
//!
//! In Rust they are [`Tensor`] and [`Image`], which frpc re-exports as `frpc::tensor` with its feature `tensor`. Their
//! data is [`Bytes`](bytes::Bytes), and the data of a native caller shares the memory of its packet.
//! [`Tensor::as_slice`] borrows it as numbers; [`Tensor::view`] copies it if it cannot be borrowed:
//!
//! ```
//! use frpc_tensor::Tensor;
//!
//! let tensor = Tensor::from_vec([2, 3], vec![1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0])?;
//! assert_eq!((&*tensor.dtype, &tensor.shape[..], tensor.data.len()), ("float32", &[2, 3][..], 24));
//! assert_eq!(tensor.view::<f32>()?.iter().sum::<f32>(), 21.0);
//!
//! let error = tensor.view::<i64>().unwrap_err();
//! assert_eq!(error.to_string(), "the tensor has elements of float32, not int64");
//! # Ok::<(), frpc_tensor::TensorError>(())
//! ```
//!
//! # Hostile tensors
//!
//! A received tensor may have any dtype, shape and length of data. All methods that access elements validate these
//! first ([`Tensor::check`]). No input makes this crate panic or allocate more than a small multiple of the input.
//! `.npy` files with Python objects are rejected, because NumPy loads them with `pickle`, which executes code.
//!
//! # Features
//!
//! * `batch`: `batch::Batcher`, which combines concurrent calls into one call of a model
//! * `json`: the JSON mapping, described at [`Tensor`] and [`Image`]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects))]

#[cfg(test)]
extern crate self as frpc_tensor;

#[cfg(feature = "batch")]
pub mod batch;
mod dtype;
mod element;
mod error;
#[cfg(feature = "json")]
mod half;
mod image;
#[cfg(feature = "json")]
mod json;
mod npy;
mod tensor;
mod view;

pub use dtype::{Dtype, ElementType};
pub use element::Element;
pub use error::TensorError;
pub use image::Image;
pub use tensor::{DIMENSIONS_MAX, Tensor};
pub use view::{ImageView, TensorView};

#[cfg(test)]
mod tests;
