//! What generated code uses; nothing here is meant to be written by hand.

pub use crate::schema::layout::{Client, Layout};
pub use crate::schema::method::Method;
pub use crate::service::erased::Format;
pub use crate::service::handle::ServiceHandle;
#[cfg(feature = "json")]
pub use crate::service::json::json_format;
pub use crate::service::methods::{Methods, MethodsBuilder, Service};
pub use crate::service::proto::protobuf_format;
pub use crate::wire::protobuf::{Field, Protobuf, decode_protobuf, encode_protobuf};

/// A future in a box, as methods of traits for trait objects return it.
pub type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
