//! Channels to several [frpc](https://docs.rs/frpc-rs) servers: a fleet of which any can serve a call.
//!
//! [`Balance`] makes such a channel from a [`ChannelBuilder`](frpc::ChannelBuilder), to a fixed list of servers or to those
//! of a [`Resolver`](resolve::Resolver). It places each call by the latency, the load and the failures of the servers. By
//! feature there are resolvers:
//!
//! | feature | module | servers |
//! |---|---|---|
//! | `dns` | `dns` | the A and AAAA records of a name, or the targets of its SRV records |
//! | `etcd` | `etcd` | the keys below a prefix, which servers register and renew |
//! | `kubernetes` | `kubernetes` | the pods of a Service, by its EndpointSlices |
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as frpc_balance;

#[cfg(feature = "dns")]
pub mod dns;
#[cfg(feature = "etcd")]
pub mod etcd;
mod fleet;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
pub mod resolve;

pub use fleet::builder::{Balance, FleetBuilder};
pub use fleet::view::{FleetServer, FleetView};

/// The runtime's clock, which tests may stop.
fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests;
