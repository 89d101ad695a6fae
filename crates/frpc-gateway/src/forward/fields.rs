//! The header fields of forwarded calls: those of the connection to the gateway are removed, and those that state the caller
//! are the gateway's own.
//!
//! # Decisions
//!
//! The defaults are those of Envoy at the edge of a network: fields about the caller are believed if they come from a listed
//! proxy, and otherwise replaced. A backend can therefore believe `x-forwarded-for`.

use frpc::{Metadata, Request, Response, Status};
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// Fields that belong to one connection: RFC 9110, sections 7.6.1 and 11.7.
const OF_CONNECTION: [&str; 11] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authentication-info",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "http2-settings",
];

const FORWARDED_FOR: &str = "x-forwarded-for";
const FORWARDED_PROTO: &str = "x-forwarded-proto";
const FORWARDED: &str = "forwarded";

/// The fields of a proxy about its caller.
const OF_PROXIES: [&str; 6] =
    [FORWARDED_FOR, FORWARDED_PROTO, FORWARDED, "x-real-ip", "x-forwarded-host", "x-forwarded-port"];

/// Returns the name of the caller of a request, as the access rules have verified it.
type Subject = Arc<dyn Fn(&Request<()>) -> Option<String> + Send + Sync>;

/// The header fields of forwarded calls, which are metadata in native frames.
///
/// Fields that belong to the caller's connection are never forwarded. Of a caller that is not a [trusted
/// proxy](Self::trust), neither are `x-forwarded-for`, `x-forwarded-proto`, `x-forwarded-host`, `x-forwarded-port`,
/// `x-real-ip` and `forwarded`. The backend gets the caller's address as the last one of `x-forwarded-for`, and the scheme
/// as `x-forwarded-proto` unless a trusted proxy states it. A trusted proxy's `forwarded` is continued as well.
///
/// ```
/// use frpc_gateway::ForwardFields;
///
/// let fields = ForwardFields::new()
///     .trust("10.0.0.0".parse()?, 8)
///     .set("x-gateway", "north")
///     .remove("cookie")
///     .remove_from_replies("x-internal");
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ForwardFields {
    trusted: Vec<(IpAddr, u8)>,
    is_https: bool,
    subject: Option<(String, Subject)>,
    requests: Changes,
    replies: Changes,
}

/// The changes of one direction.
#[derive(Clone, Default, Debug)]
struct Changes {
    set: Vec<(String, String)>,
    removed: Vec<String>,
}

impl ForwardFields {
    /// The defaults: no proxy is trusted.
    pub fn new() -> Self {
        Self::default()
    }

    /// Believes the fields of proxies whose addresses begin with the first `bits` bits of this one.
    pub fn trust(mut self, address: IpAddr, bits: u8) -> Self {
        self.trusted.push((address.to_canonical(), bits));
        self
    }

    /// States `https` in `x-forwarded-proto`, for a gateway with TLS.
    pub fn https(mut self) -> Self {
        self.is_https = true;
        self
    }

    /// Sends the verified name of the caller in this field. Values that callers send in it are dropped.
    ///
    /// ```
    /// use frpc_gateway::ForwardFields;
    ///
    /// // `frpc_access::Principal::of_request` knows the caller of a server with rules.
    /// let fields = ForwardFields::new().subject("x-subject", |request| {
    ///     request.extensions().get::<String>().cloned()
    /// });
    /// ```
    pub fn subject(
        mut self,
        name: impl Into<String>,
        subject: impl Fn(&Request<()>) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.subject = Some((name.into().to_ascii_lowercase(), Arc::new(subject)));
        self
    }

    /// Sets a field of every request, in place of those of the caller.
    pub fn set(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.requests.set.push((name.into().to_ascii_lowercase(), value.into()));
        self
    }

    /// Removes a field of every request.
    pub fn remove(mut self, name: impl Into<String>) -> Self {
        self.requests.removed.push(name.into().to_ascii_lowercase());
        self
    }

    /// Sets a field of every successful reply, in place of those of the backend.
    pub fn set_in_replies(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.replies.set.push((name.into().to_ascii_lowercase(), value.into()));
        self
    }

    /// Removes a field of every reply, and of its trailers.
    pub fn remove_from_replies(mut self, name: impl Into<String>) -> Self {
        self.replies.removed.push(name.into().to_ascii_lowercase());
        self
    }

    /// Adapts the fields of a request.
    pub(super) fn adapt<T>(&self, request: Request<T>) -> Result<Request<T>, Status> {
        let mut message = None;
        let mut request = request.map(|inner| message = Some(inner));
        let address = request.remote_addr().map(|address| address.ip().to_canonical());
        let subject = self.subject.as_ref().map(|(name, subject)| (name, subject(&request)));
        let metadata = request.metadata_mut();
        remove_of_connection(metadata);
        if !address.is_some_and(|address| self.trusts(address)) {
            remove(metadata, OF_PROXIES);
        }
        let scheme = if self.is_https { "https" } else { "http" };
        let added = (|| {
            if let Some(address) = address {
                append(metadata, FORWARDED_FOR, &address.to_string())?;
                if metadata.get(FORWARDED).is_some() {
                    // RFC 7239, section 6: an address of IPv6 is quoted.
                    let quoted = if address.is_ipv6() { format!("\"[{address}]\"") } else { address.to_string() };
                    append(metadata, FORWARDED, &format!("for={quoted};proto={scheme}"))?;
                }
            }
            if metadata.get(FORWARDED_PROTO).is_none() {
                metadata.insert(FORWARDED_PROTO, scheme)?;
            }
            if let Some((name, subject)) = subject {
                metadata.remove(name);
                if let Some(subject) = subject {
                    metadata.insert(name, subject)?;
                }
            }
            self.requests.apply(metadata)
        })();
        added.map_err(|error| Status::invalid_argument(format!("the fields of the gateway do not fit: {error}")))?;
        Ok(request.map(|()| message.unwrap_or_else(|| unreachable!("`map` calls its function"))))
    }

    /// Adapts the fields of a reply, or of a failure.
    pub(super) fn adapt_reply<T>(&self, reply: Result<Response<T>, Status>) -> Result<Response<T>, Status> {
        match reply {
            Ok(mut response) => {
                if !response.metadata().is_empty() || !self.replies.set.is_empty() {
                    let metadata = response.metadata_mut();
                    remove_of_connection(metadata);
                    let set = self.replies.apply(metadata);
                    set.map_err(|error| Status::internal(format!("the fields of the gateway do not fit: {error}")))?;
                }
                if let Some(crate::Trailers(trailers)) = response.extensions_mut().get_mut() {
                    self.adapt_trailers(trailers);
                }
                Ok(response)
            }
            Err(status) => Err(match status.metadata().cloned() {
                Some(mut metadata) => {
                    self.adapt_trailers(&mut metadata);
                    status.with_metadata(metadata)
                }
                None => status,
            }),
        }
    }

    /// Removes the fields of trailers that callers should not get.
    pub(super) fn adapt_trailers(&self, trailers: &mut Metadata) {
        remove_of_connection(trailers);
        remove(trailers, &self.replies.removed);
    }

    fn trusts(&self, address: IpAddr) -> bool {
        self.trusted.iter().any(|(network, bits)| match (network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => {
                let rest = 32_u32.saturating_sub((*bits).into());
                (network.to_bits() ^ address.to_bits()).checked_shr(rest).unwrap_or(0) == 0
            }
            (IpAddr::V6(network), IpAddr::V6(address)) => {
                let rest = 128_u32.saturating_sub((*bits).into());
                (network.to_bits() ^ address.to_bits()).checked_shr(rest).unwrap_or(0) == 0
            }
            _ => false,
        })
    }
}

impl Changes {
    fn apply(&self, metadata: &mut Metadata) -> Result<(), frpc::MetadataError> {
        remove(metadata, &self.removed);
        self.set.iter().try_for_each(|(name, value)| metadata.insert(name, value).map(drop))
    }
}

/// Removes the fields of a connection, and those that its field `connection` names. Native peers may send them as well.
fn remove_of_connection(metadata: &mut Metadata) {
    if let Some(named) = metadata.get("connection").map(str::to_ascii_lowercase) {
        remove(metadata, named.split(',').map(str::trim));
    }
    remove(metadata, OF_CONNECTION);
}

fn remove(metadata: &mut Metadata, names: impl IntoIterator<Item: AsRef<str>>) {
    for name in names {
        metadata.remove(name.as_ref());
    }
}

fn append(metadata: &mut Metadata, name: &str, value: &str) -> Result<(), frpc::MetadataError> {
    match metadata.get(name) {
        Some(before) => metadata.insert(name, format!("{before}, {value}")).map(drop),
        None => metadata.insert(name, value).map(drop),
    }
}

impl fmt::Debug for ForwardFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { trusted, is_https, subject, requests, replies } = self;
        f.debug_struct("ForwardFields")
            .field("trusted", trusted)
            .field("is_https", is_https)
            .field("subject", &subject.as_ref().map(|(name, _)| name))
            .field("requests", requests)
            .field("replies", replies)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trusted_proxies_are_networks_and_addresses() {
        let fields = ForwardFields::new()
            .trust("10.1.0.0".parse().expect("address should be valid"), 16)
            .trust("192.0.2.7".parse().expect("address should be valid"), 32)
            .trust("2001:db8::".parse().expect("address should be valid"), 32);
        for (address, expected) in [
            ("10.1.255.3", true),
            ("10.2.0.1", false),
            ("192.0.2.7", true),
            ("192.0.2.6", false),
            ("2001:db8:7::1", true),
            ("2001:db9::1", false),
        ] {
            assert_eq!(fields.trusts(address.parse().expect("address should be valid")), expected, "{address}");
        }
        let all = ForwardFields::new().trust("0.0.0.0".parse().expect("address should be valid"), 0);
        assert!(all.trusts("203.0.113.1".parse().expect("address should be valid")));
    }
}
