//! Trusted proxies, and the client addresses that they state.

#[cfg(feature = "http")]
use crate::http::answer::Answer;
#[cfg(feature = "http")]
use frpc::AdapterContext;
#[cfg(feature = "http")]
use parking_lot::Mutex;
use std::net::IpAddr;
#[cfg(feature = "http")]
use std::{collections::VecDeque, sync::Arc};

#[derive(Clone, Default, Debug)]
pub(crate) struct TrustedProxies(Vec<(IpAddr, u8)>);

impl TrustedProxies {
    /// Adds the network given by the first `bits` bits of `address`. An IPv4 network may be written as IPv6.
    pub(crate) fn add(&mut self, address: IpAddr, bits: u8) {
        let mapped = match (address, bits.checked_sub(96)) {
            (IpAddr::V6(address), Some(bits)) => address.to_ipv4_mapped().map(|address| (address.into(), bits)),
            _ => None,
        };
        self.0.push(mapped.unwrap_or((address, bits)));
    }

    pub(crate) fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|(network, bits)| {
            let (differing, length) = match (network, address) {
                (IpAddr::V4(network), IpAddr::V4(address)) => ((network.to_bits() ^ address.to_bits()).into(), 32),
                (IpAddr::V6(network), IpAddr::V6(address)) => (network.to_bits() ^ address.to_bits(), 128_u32),
                _ => return false,
            };
            differing.checked_shr(length.saturating_sub((*bits).into())).unwrap_or(0) == 0
        })
    }

    /// Returns the last address of the fields `forwarded` and `x-forwarded-for` that is not a trusted proxy, or the
    /// first address if all are trusted. Returns `None` if there is none, if it is not an IP address, or if the fields
    /// differ: a proxy extends only one of them, so its client may have sent the other.
    #[cfg(feature = "http")]
    fn client<'a>(&self, fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Option<IpAddr> {
        let (mut forwarded, mut forwarded_for) = (None, None);
        for (name, value) in fields {
            let (client, parse): (_, fn(&str) -> Option<IpAddr>) = match name.len() {
                9 if name.eq_ignore_ascii_case("forwarded") => (&mut forwarded, of_element),
                15 if name.eq_ignore_ascii_case("x-forwarded-for") => (&mut forwarded_for, of_node),
                _ => continue,
            };
            // Read the fields in order, because each proxy appends its address after the addresses of earlier proxies.
            for element in std::str::from_utf8(value).unwrap_or_default().split(',') {
                match parse(element.trim()) {
                    Some(address) if self.contains(address) && client.is_some() => {}
                    address => *client = Some(address),
                }
            }
        }
        match (forwarded, forwarded_for) {
            (Some(client), None) | (None, Some(client)) => client,
            (one, other) => one.filter(|_| one == other).flatten(),
        }
    }
}

/// Parses an element of `forwarded` (RFC 7239, section 4) and returns the address of its parameter `for`.
#[cfg(feature = "http")]
fn of_element(element: &str) -> Option<IpAddr> {
    let mut pairs = element.split(';').filter_map(|pair| pair.trim().split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.eq_ignore_ascii_case("for"))?;
    of_node(node.trim_matches('"'))
}

/// Parses an address with or without a port.
#[cfg(feature = "http")]
fn of_node(node: &str) -> Option<IpAddr> {
    let bracketed = || node.strip_prefix('[')?.split_once(']')?.0.parse().ok();
    let with_port = || node.rsplit_once(':')?.0.parse::<std::net::Ipv4Addr>().ok().map(IpAddr::V4);
    node.parse().ok().or_else(with_port).or_else(bracketed).map(|address: IpAddr| address.to_canonical())
}

/// Address of a trusted proxy. Attached to the connections of its clients.
#[derive(Debug)]
#[cfg_attr(not(all(feature = "forward", feature = "http")), allow(dead_code))]
pub(crate) struct ProxyAddress(pub(crate) IpAddr);

/// Maximum number of clients per connection of a proxy that keep their contexts for further requests.
#[cfg(feature = "http")]
const CLIENTS_MAX: usize = 64;

/// Clients with requests on a connection of a trusted proxy.
#[cfg(feature = "http")]
#[derive(Clone, Default, Debug)]
pub(crate) struct ProxiedClients(Arc<Mutex<VecDeque<(IpAddr, AdapterContext)>>>);

#[cfg(feature = "http")]
impl ProxiedClients {
    /// Returns the context of the client that a request states, or `None` if it states none. Fails if the server
    /// rejects the client.
    pub(crate) fn context<'a>(
        &self,
        proxies: &TrustedProxies,
        connection: &AdapterContext,
        fields: impl Iterator<Item = (&'a str, &'a [u8])>,
    ) -> Option<Result<AdapterContext, Answer>> {
        let client = proxies.client(fields)?;
        let mut clients = self.0.lock();
        if let Some((_, context)) = clients.iter().find(|(address, _)| *address == client) {
            return Some(Ok(context.clone()));
        }
        let Some(context) = connection.on_behalf_of(client) else {
            return Some(Err(Answer::refusal(403, "the server does not accept this client")));
        };
        if let Some(proxy) = connection.connection().peer_addr() {
            context.connection().attachments().insert(ProxyAddress(proxy.ip()));
        }
        let oldest = if clients.len() >= CLIENTS_MAX { clients.pop_front() } else { None };
        clients.push_back((client, context.clone()));
        // Drop the context outside of the lock, because destructors of attachments may run arbitrary code.
        drop(clients);
        drop(oldest);
        Some(Ok(context))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trusted(networks: &[(&str, u8)]) -> TrustedProxies {
        let mut trusted = TrustedProxies::default();
        for (address, bits) in networks {
            trusted.add(address.parse().expect("network address should be valid"), *bits);
        }
        trusted
    }

    #[test]
    fn trusted_proxies_are_networks_and_addresses() {
        let proxies = trusted(&[("10.1.0.0", 16), ("192.0.2.7", 32), ("2001:db8::", 32)]);
        for (address, expected) in [
            ("10.1.255.3", true),
            ("10.2.0.1", false),
            ("192.0.2.7", true),
            ("192.0.2.6", false),
            ("2001:db8:7::1", true),
            ("2001:db9::1", false),
        ] {
            assert_eq!(proxies.contains(address.parse().expect("address should be valid")), expected, "{address}");
        }
        let proxies = trusted(&[("::ffff:10.0.0.0", 104), ("::ffff:192.0.2.7", 128), ("::", 0)]);
        for (address, expected) in [("10.7.0.1", true), ("11.0.0.1", false), ("192.0.2.7", true), ("192.0.2.6", false)]
        {
            assert_eq!(proxies.contains(address.parse().expect("address should be valid")), expected, "{address}");
        }
        assert!(trusted(&[("0.0.0.0", 0)]).contains("203.0.113.1".parse().expect("address should be valid")));
    }

    #[cfg(feature = "http")]
    #[test]
    fn client_is_last_untrusted_address() {
        let proxies = trusted(&[("10.0.0.0", 8)]);
        for (fields, expected) in [
            (&[][..], None),
            (&[("x-forwarded-for", "192.0.2.1")], Some("192.0.2.1")),
            (&[("X-Forwarded-For", "192.0.2.9, 192.0.2.1 , 10.0.0.1")], Some("192.0.2.1")),
            (&[("x-forwarded-for", "192.0.2.9"), ("x-forwarded-for", "192.0.2.1:4711")], Some("192.0.2.1")),
            (&[("x-forwarded-for", "192.0.2.9, unknown")], None),
            (&[("x-forwarded-for", "10.0.0.2")], Some("10.0.0.2")),
            (&[("forwarded", "for=192.0.2.9;proto=http, proto=https;For=\"[2001:db8::1]:80\"")], Some("2001:db8::1")),
            (&[("forwarded", "for=_hidden")], None),
            (&[("forwarded", "for=192.0.2.1"), ("x-forwarded-for", "192.0.2.1")], Some("192.0.2.1")),
            (&[("forwarded", "for=192.0.2.9"), ("x-forwarded-for", "192.0.2.1")], None),
        ] {
            let client = proxies.client(fields.iter().map(|(name, value)| (*name, value.as_bytes())));
            assert_eq!(client, expected.map(|text| text.parse().expect("address should be valid")), "{fields:?}");
        }
    }
}
