//! Servers of frpc that are found by DNS: for [`DnsResolver`] one name is many servers.
//!
//! ```no_run
//! use frpc::Channel;
//! use frpc_dns::DnsResolver;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // All A and AAAA records of a name.
//! let channel = Channel::builder().connect_resolved("dns:///shop.example:8080".parse::<DnsResolver>()?).await?;
//!
//! // The targets of SRV records, with their ports and weights.
//! let resolver: DnsResolver = "dns:///_shop._tcp.example".parse()?;
//! let channel = Channel::builder().connect_resolved(resolver).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A name is asked for again when the time to live of its records is over, within [bounds](DnsResolver::with_bounds). An
//! answer without records, and none at all, is an error, upon which channels keep the servers that they know.
#![forbid(unsafe_code)]

mod address;
mod resolver;

pub use resolver::DnsResolver;
