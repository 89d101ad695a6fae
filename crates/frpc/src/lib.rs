//! RPC on frisbee: services and clients generated from proto3, on the wire of Go's fRPC.
//!
//! A service is a trait of plain `async fn`s that `frpc-build` generates from a `.proto` file. A client is a cheap
//! clone, and any number of its calls share one connection. The types have tonic's names: [`Request`], [`Response`],
//! [`Status`], [`Streaming`].
//!
//! ```no_run
//! use samples::quickstart::{CalculatorClient, Terms}; // Made by `frpc_build::compile_protos` in a build script.
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = CalculatorClient::connect("localhost:9090").await?;
//! let sum = client.add(Terms { a: 20, b: 22 }).await?;
//! assert_eq!(sum.get_ref().value, 42);
//! # Ok(())
//! # }
//! ```
//!
//! The [`guide`] begins with a service and its server, and has a page for each subject.
//!
//! # Guarantees of a call
//!
//! A call ends exactly once: with its reply, an error, or its deadline. It runs at most once on the server, unless it
//! is unary and the schema declares its method idempotent (`idempotency_level`). After [`Code::Unavailable`] or
//! [`Code::DeadlineExceeded`] the call may have run; [`Status::may_have_run`] says whether.
//!
//! # In addition to calls
//!
//! * [`Channel::from_connection`]: servers call their clients
//! * [`Middleware`]: code around calls, at either end; the crate `frpc-tower` has layers of tower as middleware
//! * [`Authorize`]: access rules
//! * [`observe`]: observers of calls
//! * [`ServerBuilder::mount`]: protocols of your own on the same port and connection
#![cfg_attr(feature = "pubsub", doc = "* [`Topic`]: typed messages for subscribers, through a broker of [`pubsub`]")]
//! * [`hand_off`]: after a call, the connection belongs to another protocol
//! * [`picker`]: channels to several servers
//! * the crate `frpc-blocking`: calls without async
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `batch` | calls of many clients as one call of a model, by `tensor::batch` |
//! | `json` | messages as JSON, for code that frpc-build generates with `json(true)` |
//! | `pubsub` | typed topics, on `frisbee-pubsub` |
//! | `serde` | serde for settings, [`ServerSettings`] and [`ChannelSettings`], and for [`Utf8Bytes`] |
//! | `shm` | memory shared with processes of the same host, on Linux |
//! | `signal` | `signal::terminate`, for [`Server::serve_with_shutdown`] |
//! | `tensor` | tensors and images, the messages of `frpc/tensor.proto` |
//! | `tls`, `tls-aws-lc` | TLS by rustls, with the cryptography of ring or of AWS-LC |
//! | `tonic` | conversions of statuses and metadata to and from tonic's types |
//! | `uring` | connections on io_uring, on Linux |
//! | `zstd` | compressed messages, between peers that both compress |
#![forbid(unsafe_code)]

mod api;
mod calls;
mod client;
mod clock;
pub mod codegen;
mod context;
mod debug;
mod endpoint;
pub mod guide;
pub mod observe;
mod schema;
mod server;
mod service;
mod settings;
#[cfg(all(feature = "signal", any(unix, windows)))]
pub mod signal;
mod streaming;
mod wire;

pub use api::authorize::{Admitted, Authorize, PeerRules};
pub use api::code::Code;
pub use api::error::Error;
pub use api::hand_off;
pub use api::metadata::{Metadata, MetadataError};
pub use api::middleware::{Call, CallKind, CallResponse, Middleware, Next};
pub use api::request::{IntoRequest, IntoStreamingRequest, Request};
pub use api::response::Response;
pub use api::status::Status;
pub use api::streams::{
    Iter, MessageSender, RequestSender, RequestStream, ResponseSender, ResponseStream, Responses, iter,
};
pub use api::try_send::TrySendError;
pub use client::builder::ChannelBuilder;
pub use client::channel::Channel;
pub use client::picker;
pub use client::settings::ChannelSettings;
#[cfg(all(feature = "shm", target_os = "linux"))]
pub use frisbee::shm;
#[cfg(feature = "tls")]
pub use frisbee::tls;
pub use frisbee::{
    ClientSettings, CloseKind, CloseReason, Config, Connection, HeaderForm, IoBackend, Policy, Protocol, Router,
    ServerSettings, SettingError, Stats, Workers, memory,
};
#[cfg(feature = "pubsub")]
pub use frisbee_pubsub as pubsub;
#[cfg(feature = "pubsub")]
pub use frisbee_pubsub::Topic;
pub use http::Extensions;
pub use polyglot::{Undecoded, Utf8Bytes};
#[cfg(unix)]
pub use server::UnixServer;
#[doc(hidden)]
pub use server::adapter::batch::{AdapterBatch, AdapterCall, AdapterSlot, AdapterTask};
pub use server::adapter::peers::AdapterPeers;
pub use server::adapter::{AdapterContext, AdapterMethod, AdapterMethods, AdapterResponses};
pub use server::builder::ServerBuilder;
pub use server::inspect::{CallView, Inspector};
pub use server::{Acceptor, Server};
pub use service::layered::Layered;
pub use streaming::Streaming;

#[cfg(feature = "json")]
pub use frpc_json as json;
#[cfg(feature = "tensor")]
pub use frpc_tensor as tensor;
pub use {bytes, frisbee, polyglot, prost, prost_types};

/// Includes the code generated for a proto package; `"_"` for files without one. For packages that use each other's
/// types see `include_file` of frpc-build's builder.
///
/// ```text
/// // In a package whose build script compiles proto/greet.proto:
/// mod greet {
///     frpc::include_proto!("greet");
/// }
/// use greet::{Greeter, GreeterClient, GreeterServer};
/// ```
#[macro_export]
macro_rules! include_proto {
    ($package:tt) => {
        include!(concat!(env!("OUT_DIR"), "/", $package, ".rs"));
    };
}
