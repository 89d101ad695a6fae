//! Discovery of [frpc](https://docs.rs/frpc-rs) servers: resolvers that find the servers of a channel, by feature.
//!
//! | feature | module | servers |
//! |---|---|---|
//! | `dns` | `dns` | the A and AAAA records of a name, or the targets of its SRV records |
//! | `etcd` | `etcd` | the keys below a prefix, which servers register and renew |
//! | `kubernetes` | `kubernetes` | the pods of a Service, by its EndpointSlices |
//!
//! A resolver is passed to [`connect_resolved`](frpc::ChannelBuilder::connect_resolved). The channel then balances its
//! calls over the servers, follows changes, and keeps the last good set while a registry fails.
#![forbid(unsafe_code)]

#[cfg(feature = "dns")]
pub mod dns;
#[cfg(feature = "etcd")]
pub mod etcd;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
