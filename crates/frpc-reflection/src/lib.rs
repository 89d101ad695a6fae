//! Services that describe an [frpc] server: its schema, for tools ([`Reflection`]), and its readiness ([`Health`]).
//!
//! Both are ordinary services. Middleware, policies, deadlines and limits apply to their calls as to all others,
//! natively and in every protocol of a gateway. They cost nothing unless they are added to a server.
//!
//! ```
//! use samples::greeter::GreeterServer;
//! use frpc::Server;
//! use frpc_reflection::{Health, Reflection};
//! # use samples::started::Polite;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let health = Health::new();
//! let server = Server::builder()
//!     .add_service(GreeterServer::new(Polite))
//!     .add_service(Reflection::new())
//!     .add_service(health.clone())
//!     .bind("127.0.0.1:0")
//!     .await?;
//! health.set_not_serving("greeter.Greeter");
//! # Ok(())
//! # }
//! ```
//!
//! The schema is embedded in services that are built with `frpc_build::configure().reflection(true)`. Others are listed
//! without a schema.
//!
//! Clients fetch the schema of a server with [`ServerSchema`], and that of a gRPC server with [`fetch_grpc_files`].

#![forbid(unsafe_code)]

mod catalog;
mod fetch;
mod files;
mod grpc;
mod health;
mod introspection;
mod reflection;

pub use fetch::{ServerSchema, fetch_grpc_files};
pub use health::{Health, ServingStatus};
pub use introspection::Introspection;
pub use reflection::Reflection;

/// Generated code of `frpc.reflection.v1`: the messages that describe a server's services, and the client.
pub mod v1 {
    #![allow(missing_docs)]
    frpc::include_proto!("frpc.reflection.v1");
}

/// Generated code of `frpc.introspection.v1`: the messages that describe a process's servers, and the client.
pub mod introspection_v1 {
    #![allow(missing_docs)]
    frpc::include_proto!("frpc.introspection.v1");
}

/// Generated code of `grpc.health.v1`, gRPC's health checking protocol.
pub mod health_v1 {
    #![allow(missing_docs)]
    frpc::include_proto!("grpc.health.v1");
}

/// Generated code of `grpc.reflection.v1`, gRPC's reflection protocol.
pub(crate) mod grpc_v1 {
    #![allow(missing_docs)]
    frpc::include_proto!("grpc.reflection.v1");
}

/// Generated code of `grpc.reflection.v1alpha`, the earlier version of gRPC's reflection protocol.
pub(crate) mod grpc_v1alpha {
    #![allow(missing_docs)]
    frpc::include_proto!("grpc.reflection.v1alpha");
}
