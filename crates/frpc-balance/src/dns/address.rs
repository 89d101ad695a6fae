//! Parsing of `dns:` addresses, which name a host or a service and optionally the DNS server to query.

use std::io;
use std::net::{IpAddr, SocketAddr};

/// URI scheme of the addresses that are resolved by DNS.
const SCHEME: &str = "dns:";

/// Default port of DNS servers.
const DNS_PORT: u16 = 53;

/// A parsed `dns:` address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// Address of the DNS server to query, or `None` for the system's server.
    pub(crate) server: Option<SocketAddr>,
    pub(crate) question: Question,
}

/// The DNS records that must be looked up to resolve an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// A literal IP address, which needs no lookup.
    Known(SocketAddr),
    /// The A and AAAA records of a host name.
    Host { name: String, port: u16 },
    /// The SRV records of a service name.
    Service { name: String },
}

impl Address {
    /// Parses an address `dns:///name:port` or `dns:///_service._protocol.name`, optionally with a DNS server as in
    /// `dns://server/…`.
    pub(crate) fn parse(text: &str) -> io::Result<Self> {
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidInput, format!("{text:?}: {why}"));
        let rest = text.strip_prefix(SCHEME).ok_or_else(|| wrong("must begin with dns:"))?;
        let (server, name) = match rest.strip_prefix("//") {
            Some(rest) => rest.split_once('/').ok_or_else(|| wrong("no name after the server"))?,
            None => ("", rest),
        };
        let server = if server.is_empty() { None } else { Some(server_of(server).ok_or_else(|| wrong(NO_SERVER))?) };
        if let Ok(address) = name.parse() {
            return Ok(Self { server, question: Question::Known(address) });
        }
        let question = match name.split_once(':') {
            Some((name, port)) => {
                let port = port.parse().map_err(|_| wrong("invalid port"))?;
                Question::Host { name: checked(name).ok_or_else(|| wrong(NO_NAME))?, port }
            }
            None if name.starts_with('_') => Question::Service { name: checked(name).ok_or_else(|| wrong(NO_NAME))? },
            None => return Err(wrong("missing port, or service as in _shop._tcp.example")),
        };
        Ok(Self { server, question })
    }
}

const NO_NAME: &str = "invalid name";
const NO_SERVER: &str = "invalid server: must be an IP address, with or without a port";

fn server_of(text: &str) -> Option<SocketAddr> {
    let ip = || text.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>().ok();
    text.parse().ok().or_else(|| Some(SocketAddr::new(ip()?, DNS_PORT)))
}

/// Returns `name` if it is a valid domain name.
fn checked(name: &str) -> Option<String> {
    // Apply the limits of RFC 1035: at most 255 bytes per name and 63 per label.
    let is_inner = |character: char| character.is_alphanumeric() || matches!(character, '-' | '_');
    let is_label = |label: &str| (1..=63).contains(&label.len()) && label.chars().all(is_inner);
    let labels = name.strip_suffix('.').unwrap_or(name);
    (name.len() < 255 && labels.split('.').all(is_label)).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, port: u16) -> Question {
        Question::Host { name: name.to_owned(), port }
    }

    #[test]
    fn addresses_name_hosts_services_and_dns_server() {
        let parsed = |text| {
            let Address { server, question } = Address::parse(text).expect("text should be a DNS address");
            (server.map(|server| server.to_string()), question)
        };
        assert_eq!(parsed("dns:///shop.example:80"), (None, host("shop.example", 80)));
        assert_eq!(parsed("dns:shop.example.:80"), (None, host("shop.example.", 80)));
        let service = Question::Service { name: "_shop._tcp.example".to_owned() };
        assert_eq!(parsed("dns://10.0.0.53/_shop._tcp.example"), (Some("10.0.0.53:53".to_owned()), service));
        assert_eq!(parsed("dns://[::1]:5353/shop:80"), (Some("[::1]:5353".to_owned()), host("shop", 80)));
        let known = "[::1]:80".parse().expect("text should be a socket address");
        assert_eq!(parsed("dns:///[::1]:80"), (None, Question::Known(known)));
    }

    #[test]
    fn text_of_another_form_is_refused() {
        for text in ["shop:80", "dns:", "dns:///", "dns:///shop", "dns:///:80", "dns:///shop:99999", "dns://shop:80"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        for text in ["dns:///a..b:80", "dns:///a b:80", "dns://server/shop:80", "dns:///_a..b"] {
            assert!(Address::parse(text).is_err(), "{text}");
        }
        assert!(Address::parse(&format!("dns:///{}:80", "a".repeat(64))).is_err());
    }
}
