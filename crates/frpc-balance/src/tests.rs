//! Tests of channels to several servers, and of resolvers with small servers of their registries on loopback.

#[cfg(feature = "kubernetes")]
mod api;
mod calls;
#[cfg(feature = "dns")]
mod dns;
#[cfg(feature = "etcd")]
mod etcd;
#[cfg(feature = "kubernetes")]
mod kubernetes;
