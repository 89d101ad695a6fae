//! Client-side load balancing for [frpc](https://docs.rs/frpc-rs): channels to a fleet of interchangeable servers.
//!
//! [`Balance`] creates such a channel from a [`ChannelBuilder`](frpc::ChannelBuilder), for a fixed list of servers or
//! for the servers of a [`Resolver`](resolve::Resolver). The server of each call is chosen by latency, load and
//! failures. Features add resolvers:
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

/// Returns the current time of the runtime's clock, which tests can pause.
fn now() -> std::time::Instant {
    tokio::time::Instant::now().into_std()
}

#[cfg(test)]
mod tests;
