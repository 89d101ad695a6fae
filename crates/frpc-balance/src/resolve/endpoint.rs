//! Endpoints: the addresses of servers, with weights, zones and metadata.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::{fmt, io};

/// A server returned by a [`Resolver`](super::Resolver).
///
/// The text form is the address, followed by `weight=`, `zone=`, `server_name=` and metadata pairs in any order,
/// separated by white space. No part may contain white space. A word that starts with `#` begins a comment, which
/// extends to the end of the line.
///
/// ```
/// use frpc_balance::resolve::Endpoint;
///
/// let endpoint: Endpoint = "10.0.0.1:8080 weight=2 zone=a rack=7 # the old one".parse()?;
/// assert_eq!((endpoint.weight(), endpoint.zone()), (2, Some("a")));
/// assert_eq!(endpoint.metadata()["rack"], "7");
/// assert_eq!(endpoint.to_string(), "10.0.0.1:8080 weight=2 zone=a rack=7");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Endpoint {
    address: String,
    weight: u32,
    zone: Option<String>,
    server_name: Option<String>,
    metadata: BTreeMap<String, String>,
}

impl Endpoint {
    /// Creates an endpoint of weight 1 without a zone. The format of addresses is that of
    /// [`ChannelBuilder::connect`](frpc::ChannelBuilder::connect), unless a custom connector interprets them
    /// differently.
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), weight: 1, zone: None, server_name: None, metadata: BTreeMap::new() }
    }

    /// Sets the weight, which determines the server's share of calls. An endpoint of weight 0 receives calls only while
    /// no other endpoint is connected.
    pub fn with_weight(self, weight: u32) -> Self {
        Self { weight, ..self }
    }

    /// Sets the zone of the server, such as a data centre.
    pub fn with_zone(self, zone: impl Into<String>) -> Self {
        Self { zone: Some(zone.into()), ..self }
    }

    /// Sets the server name to verify against the server's certificate. Defaults to the name set on the channel, or
    /// else to the host of the address.
    pub fn with_server_name(self, name: impl Into<String>) -> Self {
        Self { server_name: Some(name.into()), ..self }
    }

    /// Adds a metadata entry for use by connectors and observers. The channel does not interpret it.
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// Returns the address of the endpoint.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the weight, which determines the endpoint's share of calls.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// Returns the zone of the server, if known.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// Returns the server name to verify against the certificate, if set.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// Returns the metadata of the endpoint.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// Returns the identity of the server: its address and its name in the certificate. It is the same for equivalent
    /// forms of the address.
    pub(crate) fn key(&self) -> (String, Option<String>) {
        let address = match self.address.parse::<SocketAddr>() {
            Ok(address) => canonical(address).to_string(),
            // Keep the case, because paths of Unix sockets are case-sensitive.
            Err(_) if ["unix:", "unix+shm:", "grpc+unix:"].iter().any(|scheme| self.address.starts_with(scheme)) => {
                self.address.clone()
            }
            Err(_) => self.address.to_ascii_lowercase(),
        };
        (address, self.server_name.as_ref().map(|name| name.to_ascii_lowercase()))
    }
}

/// Converts an IPv4-mapped IPv6 address to IPv4. Returns other addresses unchanged.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        // Keep the scope id, because the same address is another host on another link.
        SocketAddr::V6(v6) => v6.ip().to_ipv4_mapped().map_or(address, |v4| SocketAddr::new(IpAddr::V4(v4), v6.port())),
        SocketAddr::V4(_) => address,
    }
}

impl From<&str> for Endpoint {
    fn from(address: &str) -> Self {
        Self::new(address)
    }
}

impl From<String> for Endpoint {
    fn from(address: String) -> Self {
        Self::new(address)
    }
}

impl FromStr for Endpoint {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let mut words = text.split_whitespace().take_while(|word| !word.starts_with('#'));
        let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
        let address = words.next().ok_or_else(|| wrong("missing address".to_owned()))?;
        words.try_fold(Self::new(address), |endpoint, pair| {
            let (key, value) =
                pair.split_once('=').ok_or_else(|| wrong(format!("invalid pair {pair:?}: write KEY=VALUE")))?;
            Ok(match key {
                "weight" => {
                    endpoint.with_weight(value.parse().map_err(|_| wrong(format!("invalid weight {value:?}")))?)
                }
                "zone" => endpoint.with_zone(value),
                "server_name" => endpoint.with_server_name(value),
                _ => endpoint.with_metadata(key, value),
            })
        })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)?;
        if self.weight != 1 {
            write!(f, " weight={}", self.weight)?;
        }
        if let Some(zone) = &self.zone {
            write!(f, " zone={zone}")?;
        }
        if let Some(name) = &self.server_name {
            write!(f, " server_name={name}")?;
        }
        self.metadata.iter().try_for_each(|(key, value)| write!(f, " {key}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equivalent_address_spellings_share_key() {
        let key = |address: &str| Endpoint::new(address).key();
        assert_eq!(key("[::ffff:10.0.0.1]:80"), key("10.0.0.1:80"));
        assert_eq!(key("[fe80:0::1]:80"), key("[fe80::1]:80"));
        assert_eq!(key("Shop.Example:80"), key("shop.example:80"));
        assert_ne!(key("unix:/A"), key("unix:/a"));
        assert_ne!(key("unix+shm:/A"), key("unix+shm:/a"));
        assert_ne!(key("10.0.0.1:80"), key("10.0.0.1:81"));
        assert_ne!(key("[fe80::1%1]:80"), key("[fe80::1%2]:80"));
        assert_eq!(key("[fe80:0::1%2]:80"), key("[fe80::1%2]:80"));
        let named = |name: &str| Endpoint::new("a:1").with_server_name(name).key();
        assert_ne!(named("b"), key("a:1"));
        assert_eq!(named("Shop.Example"), named("shop.example"), "host names should be compared without case");
    }
}
