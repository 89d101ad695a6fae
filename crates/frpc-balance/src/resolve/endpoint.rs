//! One server as a resolver states it.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;
use std::{fmt, io};

/// One server as a [`Resolver`](super::Resolver) states it.
///
/// As text it is the address, followed by `weight=`, `zone=`, `server_name=` and pairs of metadata in any order,
/// separated by white space, which no part of it can contain. The rest of a line after a `#` at the beginning of a word
/// is a comment.
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
pub struct Endpoint {
    address: String,
    weight: u32,
    zone: Option<String>,
    server_name: Option<String>,
    metadata: BTreeMap<String, String>,
}

impl Endpoint {
    /// An endpoint of weight 1, without a zone. Addresses have the form that
    /// [`ChannelBuilder::connect`](frpc::ChannelBuilder::connect) takes, unless the channel has a connector of its own,
    /// which may give them any meaning.
    pub fn new(address: impl Into<String>) -> Self {
        Self { address: address.into(), weight: 1, zone: None, server_name: None, metadata: BTreeMap::new() }
    }

    /// Sets the share of calls, in proportion to the weights of the others. With 0 it gets calls only while no other
    /// endpoint is connected.
    #[must_use]
    pub fn with_weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Sets the location of the server, such as a data centre.
    #[must_use]
    pub fn with_zone(mut self, zone: impl Into<String>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// Sets the name that the server's certificate must have. Default: that of the channel, or else the host of the
    /// address.
    #[must_use]
    pub fn with_server_name(mut self, name: impl Into<String>) -> Self {
        self.server_name = Some(name.into());
        self
    }

    /// Adds a pair that the channel does not interpret; its connector and observers see it.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The address.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The weight.
    pub fn weight(&self) -> u32 {
        self.weight
    }

    /// The zone, if there is one.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// The name in the certificate, if it is not that of the channel.
    pub fn server_name(&self) -> Option<&str> {
        self.server_name.as_deref()
    }

    /// The pairs that the channel does not interpret.
    pub fn metadata(&self) -> &BTreeMap<String, String> {
        &self.metadata
    }

    /// The same for all records of one server: connections to it are the same.
    pub(crate) fn key(&self) -> Key {
        let address = match self.address.parse::<SocketAddr>() {
            Ok(address) => canonical(address).to_string(),
            // Paths of Unix sockets are to the letter.
            Err(_) if self.address.starts_with("unix:") || self.address.starts_with("unix+shm:") => {
                self.address.clone()
            }
            Err(_) => self.address.to_ascii_lowercase(),
        };
        Key { address, server_name: self.server_name.clone() }
    }
}

/// What distinguishes an endpoint from others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    address: String,
    server_name: Option<String>,
}

/// An IPv4 address that is written as one of IPv6 is the IPv4 address.
fn canonical(address: SocketAddr) -> SocketAddr {
    match address {
        // A scope stays: the same address is another host on another link.
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
    fn two_ways_to_write_one_address_are_one_key() {
        let key = |address: &str| Endpoint::new(address).key();
        assert_eq!(key("[::ffff:10.0.0.1]:80"), key("10.0.0.1:80"));
        assert_eq!(key("[fe80:0::1]:80"), key("[fe80::1]:80"));
        assert_eq!(key("Shop.Example:80"), key("shop.example:80"));
        assert_ne!(key("unix:/A"), key("unix:/a"));
        assert_ne!(key("unix+shm:/A"), key("unix+shm:/a"));
        assert_ne!(key("10.0.0.1:80"), key("10.0.0.1:81"));
        assert_ne!(key("[fe80::1%1]:80"), key("[fe80::1%2]:80"));
        assert_eq!(key("[fe80:0::1%2]:80"), key("[fe80::1%2]:80"));
        assert_ne!(Endpoint::new("a:1").with_server_name("b").key(), key("a:1"));
    }
}
