//! Support for generated code, and for services that describe the server itself, such as frpc-reflection. Programs
//! should not use it directly.

pub use crate::api::BoxFuture;
pub use crate::client::unary::UnaryCall;
pub use crate::schema::description::{MethodDescription, ServiceDescription};
pub use crate::schema::embedded::Schema;
pub use crate::schema::layout::{Client, Layout};
pub use crate::schema::method::Method;
pub use crate::service::formats::{Format, FormatTerms};
pub use crate::service::handle::ServiceHandle;
#[cfg(feature = "json")]
pub use crate::service::json::{any_type, json_format};
pub use crate::service::lifecycle::{Lifecycle, OfferedMethod, OfferedService};
pub use crate::service::methods::{Methods, MethodsBuilder, Service};
pub use crate::service::proto::protobuf_format;
pub use polyglot::protobuf::{Field, Protobuf, decode_protobuf, encode_protobuf, utf8_bytes};
