//! Building blocks of services and clients, for generated code and for authors of bindings to other languages. The
//! bindings for Python and C and the crate frpc-reflection use this module. It may change in a minor version.
//!
//! | purpose | items |
//! |---|---|
//! | schema | [`Layout`] describes the wire layout of a service, and [`Method`] describes a method. [`Schema`] embeds descriptors. |
//! | server | A [`Service`] returns its [`Methods`]. A [`MethodsBuilder`] creates them from one function per method. Such a function accesses its service through a [`ServiceHandle`]. |
//! | client | [`Client`] is a generated client. [`UnaryCall`] is the future of a unary call of [`Channel`](crate::Channel). |
//! | other formats | [`Format`] decodes and encodes the messages of a method for [adapters](crate::AdapterMethod), with the [`FormatOptions`] of its server |
//! | messages | [`Protobuf`] and [`Field`] encode messages in the format of protobuf |
//! | services about the server | A [`Lifecycle`] receives the [`OfferedService`]s when a server starts, and is notified when the server stops. |
//!
//! A binding defines a message type that implements `polyglot::Message` for the values of its language. It registers
//! the methods with `Methods::new(&service, layout).unary(method, handler)`, once for each method, followed by `done`.
//! `Layout::leak` creates the layout of a schema that is read at run time. A unary handler must not panic before it
//! returns its future, because such a panic closes the caller's connection. A panic of the future fails only its call.

pub use crate::api::BoxFuture;
pub use crate::client::unary::UnaryCall;
pub use crate::schema::description::{MethodDescription, ServiceDescription};
pub use crate::schema::embedded::Schema;
pub use crate::schema::layout::{Client, Layout};
pub use crate::schema::method::Method;
pub use crate::service::formats::{Format, FormatOptions};
pub use crate::service::handle::ServiceHandle;
#[cfg(feature = "json")]
pub use crate::service::json::{any_type, json_format};
pub use crate::service::lifecycle::{Lifecycle, OfferedMethod, OfferedService};
pub use crate::service::methods::{Methods, MethodsBuilder, Service};
pub use crate::service::proto::protobuf_format;
pub use polyglot::protobuf::{Field, Protobuf, decode_protobuf, encode_protobuf, floats, utf8_bytes};
