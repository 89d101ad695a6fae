//! Service discovery by DNS: [`DnsResolver`] resolves a name to the addresses of many servers.
//!
//! ```no_run
//! use frpc::Channel;
//! use frpc_balance::Balance as _;
//! use frpc_balance::dns::DnsResolver;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // All A and AAAA records of a name.
//! let channel = Channel::builder().balance().connect_resolved("dns:///shop.example:8080".parse::<DnsResolver>()?).await?;
//!
//! // The targets of SRV records, with their ports and weights.
//! let resolver: DnsResolver = "dns:///_shop._tcp.example".parse()?;
//! let channel = Channel::builder().balance().connect_resolved(resolver).await?;
//! # Ok(())
//! # }
//! ```
//!
//! A name is resolved again when its records expire, within [bounds](DnsResolver::with_bounds). A failed lookup or an
//! answer without records is an error, and channels keep the known servers.

mod address;
mod resolver;

pub use resolver::DnsResolver;
