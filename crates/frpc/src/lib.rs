//! RPC on frisbee: services and clients generated from proto3 files, wire-compatible with fRPC for Go.
//!
//! A service is a trait with `async fn`s that `frpc-build` generates from a `.proto` file. Clients are cheap to clone,
//! and any number of calls share one connection. The types have the same names as in tonic: [`Request`], [`Response`],
//! [`Status`], [`Streaming`].
//!
//! # A service and its client
//!
//! The package of this crate is called `frpc-rs`, because crates.io already has a package `frpc`. Add to `Cargo.toml`:
//!
//! ```toml
//! [dependencies]
//! frpc = { package = "frpc-rs", version = "0.1" }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//!
//! [build-dependencies]
//! frpc-build = "0.1"
//! ```
//!
//! `proto/greeter.proto`:
//!
//! ```proto
//! syntax = "proto3";
//! package greeter;
//!
//! service Greeter { rpc Greet(Name) returns (Greeting); }
//! message Name { string name = 1; }
//! message Greeting { string text = 1; }
//! ```
//!
//! `build.rs`:
//!
//! ```no_run
//! # mod frpc_build { pub fn compile_protos(_: &str) -> std::io::Result<()> { Ok(()) } }
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     frpc_build::compile_protos("proto/greeter.proto")?;
//!     Ok(())
//! }
//! ```
//!
//! `src/main.rs`, a server and a client in one program:
//!
//! ```
//! use frpc::{Request, Response, Server, Status};
//! # /*
//! mod greeter { frpc::include_proto!("greeter"); }
//! # */
//! # use samples::greeter;
//! use greeter::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
//!
//! struct Service;
//!
//! impl Greeter for Service {
//!     async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
//!         let text = format!("Hello, {}!", request.into_inner().name);
//!         Ok(Response::new(Greeting { text }))
//!     }
//! #   async fn greet_all(
//! #       &self,
//! #       _: Request<frpc::Streaming<Name>>,
//! #   ) -> Result<Response<frpc::ResponseStream<Greeting>>, Status> {
//! #       Err(Status::unimplemented(""))
//! #   }
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let server = Server::builder().add_service(GreeterServer::new(Service)).bind("127.0.0.1:0").await?;
//!     let address = server.local_addr().to_string();
//!     tokio::spawn(server.serve());
//!
//!     let client = GreeterClient::connect(address).await?;
//!     let greeting = client.greet(Name { name: "Ada".into() }).await?.into_inner();
//!     assert_eq!(greeting.text, "Hello, Ada!");
//!     Ok(())
//! }
//! ```
//!
//! The [`guide`] has a page for each topic.
//!
//! # Guarantees of a call
//!
//! Each call ends exactly once: with a response, with an error, or when its deadline passes. The server runs a call at
//! most once, unless the call is unary and the schema declares its method idempotent (`idempotency_level`). After
//! [`Code::Unavailable`] or [`Code::DeadlineExceeded`], the call may have run; see [`Status::may_have_run`].
//!
//! # In addition to calls
//!
//! * [`Channel::from_connection`]: calls from a server to its clients
//! * [`Middleware`]: code around calls at clients and servers; the crate `frpc-tower` adapts tower layers to it
//! * [`Authorize`]: access control
//! * [`observe`]: observers of calls
//! * [`details`]: the standard error details of gRPC
//! * [`ServerBuilder::mount`]: custom protocols on the same port and connection
#![cfg_attr(feature = "pubsub", doc = "* [`Topic`]: typed messages for subscribers, through a broker of [`pubsub`]")]
//! * [`hand_off`]: handing a connection over to another protocol
//! * [`picker`]: load balancing over several servers
//!
//! # Features
//!
//! | feature | effect |
//! |---|---|
//! | `batch` | batching: one run of a model serves the calls of many clients; see `tensor::batch` |
//! | `blocking` | blocking calls for programs without async code, in the module `blocking` |
//! | `grpc` | calls to gRPC servers, at addresses such as `grpc://host:50051` |
//! | `json` | messages as JSON, for code that frpc-build generates with `json(true)` |
//! | `pubsub` | typed topics, on `frisbee-pubsub` |
//! | `serde` | serde implementations for the settings [`ServerSettings`] and [`ChannelSettings`] and for [`Utf8Bytes`] |
//! | `shm` | connections over shared memory, on Linux |
//! | `signal` | `signal::terminate`, for [`Server::serve_with_shutdown`] |
//! | `tensor` | tensors and images, the messages of `frpc/tensor.proto` |
//! | `tls`, `tls-aws-lc` | TLS with rustls, using the cryptography of ring or of AWS-LC |
//! | `tonic` | conversions of statuses and metadata to and from tonic's types |
//! | `uring` | connections on io_uring, on Linux |
//! | `zstd` | compressed messages between peers that both enable compression |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod api;
#[cfg(feature = "blocking")]
pub mod blocking;
mod calls;
mod client;
mod clock;
pub mod codegen;
mod context;
mod debug;
pub mod details;
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
pub use api::request::{GrpcCaller, IntoRequest, IntoStreamingRequest, Request};
pub use api::response::Response;
pub use api::status::Status;
pub use api::streams::{
    Iter, MessageSender, RequestSender, RequestStream, ResponseSender, ResponseStream, Responses, iter,
};
pub use api::trailers::{LateTrailers, Trailers};
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
    ClientSettings, CloseKind, CloseReason, Config, Connection, HeaderForm, IoBackend, Policy, Router, ServerSettings,
    SettingError, Stats, Workers, memory,
};
#[cfg(feature = "pubsub")]
pub use frisbee_pubsub as pubsub;
#[cfg(feature = "pubsub")]
pub use frisbee_pubsub::Topic;
pub use http::Extensions;
pub use polyglot::{Undecoded, Utf8Bytes};
#[cfg(unix)]
pub use server::UnixServer;
pub use server::adapter::peers::AdapterPeers;
pub use server::adapter::responses::AdapterResponses;
pub use server::adapter::turn::{AdapterBatch, AdapterCall, AdapterSlot, AdapterTask};
pub use server::adapter::{AdapterContext, AdapterMethod, AdapterMethods};
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

/// Includes the code that was generated for a proto package, or for files without a package if the argument is `"_"`.
/// For packages that refer to each other's types, see `include_file` of the builder in frpc-build.
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
        include!(concat!(
            env!(
                "OUT_DIR",
                "`include_proto!` requires a build script: add a `build.rs` beside Cargo.toml that calls \
                 `frpc_build::compile_protos(\"proto/….proto\")`, and `frpc-build` to [build-dependencies]"
            ),
            "/",
            $package,
            ".rs"
        ));
    };
}
