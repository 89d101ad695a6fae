//! Service discovery by [etcd](https://etcd.io): [`EtcdResolver`] watches the keys below a prefix for a channel, and a
//! [`Registration`] keeps the key of a server while the server runs.
//!
//! A key consists of the prefix and the server's address. Its value is an [`Endpoint`](crate::resolve::Endpoint) as
//! text: `10.0.0.1:8080 weight=2 zone=a`.
//!
//! ```no_run
//! use frpc::codegen::Service;
//! use frpc_balance::resolve::Endpoint;
//! use frpc::{Channel, Server};
//! use frpc_balance::Balance as _;
//! use frpc_balance::etcd::{Etcd, EtcdResolver, Registration};
//!
//! # async fn example(greeter: impl Service) -> Result<(), Box<dyn std::error::Error>> {
//! let etcd = Etcd::new(["http://10.0.0.7:2379", "http://10.0.0.8:2379"])?;
//!
//! // In each server: when it shuts down, it leaves etcd before it notifies its clients.
//! let registration = Registration::new(&etcd, "shop/", &Endpoint::new("10.0.0.1:8080"))?.start();
//! let server = Server::builder().add_service(registration.around(greeter)).bind("10.0.0.1:8080").await?;
//!
//! // In each client.
//! let channel = Channel::builder().balance().connect_resolved(EtcdResolver::new(&etcd, "shop/")).await?;
//! # Ok(())
//! # }
//! ```
//!
//! While etcd is unreachable, channels keep the known servers, and servers continue to serve. A server that died is
//! removed from all channels within a second of the expiry of its lease.

mod cluster;
mod registration;
mod resolver;

pub use cluster::Etcd;
pub use registration::{Registered, RegisteredService, Registration};
pub use resolver::EtcdResolver;

/// Generated messages and clients of etcd's gRPC API.
mod api {
    frpc::include_proto!("etcdserverpb");
}
