//! Header fields of forwarded calls. The gateway removes hop-by-hop fields, and sets the fields that identify the
//! caller.
//!
//! # Decisions
//!
//! The defaults are the same as in Envoy at the edge of a network: fields about the caller are kept if they come from a
//! trusted proxy, and replaced otherwise. A backend can therefore trust `x-forwarded-for`.

use crate::proxies::{ProxyAddress, TrustedProxies};
use crate::reserved_fields::is_of_response;
use frisbee::Attachments;
use frpc::{Metadata, Request, Response, Status};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::{fmt, io};

/// Hop-by-hop header fields: RFC 9110, sections 7.6.1 and 11.7.
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

/// Header fields with a proxy's description of the client, such as `x-forwarded-for`.
const OF_PROXIES: [&str; 6] =
    [FORWARDED_FOR, FORWARDED_PROTO, FORWARDED, "x-real-ip", "x-forwarded-host", "x-forwarded-port"];

/// Function that returns the verified name of a request's caller.
type Subject = Arc<dyn Fn(&Request<()>) -> Option<String> + Send + Sync>;

/// Rules for the header fields of forwarded calls. In native frames, header fields are metadata.
///
/// Hop-by-hop fields are never forwarded. `x-forwarded-for`, `x-forwarded-proto`, `x-forwarded-host`,
/// `x-forwarded-port`, `x-real-ip` and `forwarded` are forwarded only from a [trusted proxy](Self::trust). The gateway
/// appends the caller's address to `x-forwarded-for`, and sets `x-forwarded-proto` unless a trusted proxy has set it.
/// It also extends `forwarded` of a trusted proxy.
///
/// ```
/// use frpc_gateway::ForwardFields;
///
/// let fields = ForwardFields::new()
///     .trust("10.0.0.0".parse()?, 8)
///     .set("x-gateway", "north")?
///     .remove("cookie")
///     .remove_from_replies("x-internal");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct ForwardFields {
    trusted: TrustedProxies,
    is_https: bool,
    subject: Option<(String, Subject)>,
    requests: Changes,
    replies: Changes,
}

/// Header fields to set and to remove, in requests or in replies.
#[derive(Clone, Default, Debug)]
struct Changes {
    set: Vec<(String, String)>,
    removed: Vec<String>,
}

impl ForwardFields {
    /// Creates rules that trust no proxy and change no header fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Trusts the forwarding fields, such as `x-forwarded-for`, of proxies in the network given by the first `bits`
    /// bits of `address`. This only concerns forwarded fields; [`Http::trust`](crate::Http::trust) applies the limits
    /// and access rules of the server to the clients of a proxy.
    pub fn trust(mut self, address: IpAddr, bits: u8) -> Self {
        self.trusted.add(address, bits);
        self
    }

    /// Sets the forwarding field `x-forwarded-proto` to `https`. Use this for a gateway with TLS.
    pub fn https(mut self) -> Self {
        self.is_https = true;
        self
    }

    /// Sends the verified name of the caller in this field. Values of the field from callers are dropped.
    ///
    /// ```
    /// use frpc_gateway::ForwardFields;
    ///
    /// // `frpc_access::Principal::of_request` knows the caller of a server with rules.
    /// let fields = ForwardFields::new().subject("x-subject", |request| {
    ///     request.extensions().get::<String>().cloned()
    /// })?;
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`set`](Self::set).
    pub fn subject(
        mut self,
        name: impl AsRef<str>,
        subject: impl Fn(&Request<()>) -> Option<String> + Send + Sync + 'static,
    ) -> io::Result<Self> {
        let (name, _) = setting(name.as_ref(), "", is_of_request)?;
        self.subject = Some((name, Arc::new(subject)));
        Ok(self)
    }

    /// Sets a header field of every request. Replaces values from the caller.
    ///
    /// # Errors
    /// If the name or the value is invalid, the name ends in `-bin`, or HTTP or a protocol defines the field.
    pub fn set(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> io::Result<Self> {
        self.requests.set.push(setting(name.as_ref(), value.as_ref(), is_of_request)?);
        Ok(self)
    }

    /// Removes a header field from every request.
    pub fn remove(mut self, name: impl Into<String>) -> Self {
        self.requests.removed.push(name.into().to_ascii_lowercase());
        self
    }

    /// Sets a header field of every successful reply. Replaces values from the backend.
    ///
    /// # Errors
    /// Like [`set`](Self::set). More fields are defined for replies, such as `server`.
    pub fn set_in_replies(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> io::Result<Self> {
        self.replies.set.push(setting(name.as_ref(), value.as_ref(), is_of_response)?);
        Ok(self)
    }

    /// Removes a header field from every reply, including its trailers.
    pub fn remove_from_replies(mut self, name: impl Into<String>) -> Self {
        self.replies.removed.push(name.into().to_ascii_lowercase());
        self
    }

    /// Applies the header rules to the metadata of a request.
    pub(super) fn adapt<T>(&self, request: Request<T>) -> Result<Request<T>, Status> {
        let mut message = None;
        let mut request = request.map(|inner| message = Some(inner));
        // The address of the peer. For the client of a trusted proxy, this is the proxy, which has already added the
        // address of its client to the fields.
        let proxy = request.attachments().and_then(Attachments::get::<ProxyAddress>);
        let address = proxy.map(|proxy| proxy.0).or_else(|| Some(request.remote_addr()?.ip()));
        let address = address.map(|address| address.to_canonical());
        let subject = self.subject.as_ref().map(|(name, subject)| (name, subject(&request)));
        let metadata = request.metadata_mut();
        remove_of_connection(metadata);
        if !address.is_some_and(|address| self.trusted.contains(address)) {
            remove(metadata, OF_PROXIES);
        }
        let scheme = if self.is_https { "https" } else { "http" };
        let added = (|| {
            if let Some(address) = address {
                append(metadata, FORWARDED_FOR, &address.to_string())?;
                if metadata.get(FORWARDED).is_some() {
                    // IPv6 addresses are quoted (RFC 7239, section 6).
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
        Ok(request.map(|()| message.unwrap_or_else(|| unreachable!("`Request::map` should call its closure"))))
    }

    /// Applies the header rules to the metadata of a reply or an error.
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
            Err(status) => Err(self.adapt_status(status)),
        }
    }

    /// Applies the header rules to the metadata of an error.
    pub(super) fn adapt_status(&self, mut status: Status) -> Status {
        self.adapt_trailers(status.metadata_mut());
        // The gateway itself has no side effects, so whether the call has run depends only on the backend's status.
        if status.may_have_run() { status } else { status.rejected() }
    }

    /// Removes trailer fields that must not be forwarded to callers.
    pub(super) fn adapt_trailers(&self, trailers: &mut Metadata) {
        remove_of_connection(trailers);
        remove(trailers, &self.replies.removed);
    }
}

impl Changes {
    fn apply(&self, metadata: &mut Metadata) -> Result<(), frpc::MetadataError> {
        remove(metadata, &self.removed);
        self.set.iter().try_for_each(|(name, value)| metadata.insert(name, value))
    }
}

/// Checks a header field that is to be set. Returns it with its name in lower case.
fn setting(name: &str, value: &str, is_reserved: fn(&str) -> bool) -> io::Result<(String, String)> {
    let invalid = |text| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    let name = name.to_ascii_lowercase();
    match Metadata::new().insert(&name, value) {
        Err(error) => invalid(error.to_string()),
        Ok(()) if is_reserved(&name) => {
            invalid(format!("the protocols of the gateway set the field {name}; choose another name"))
        }
        Ok(()) => Ok((name, value.to_owned())),
    }
}

/// Returns whether HTTP or a protocol defines a request field, so that it must not be set.
fn is_of_request(name: &str) -> bool {
    OF_CONNECTION.contains(&name) && name != "proxy-authorization"
        || ["content-encoding", "content-length", "content-type", "host"].contains(&name)
        || ["connect-", "grpc-"].iter().any(|prefix| name.starts_with(prefix))
}

/// Removes hop-by-hop fields and the fields listed in `connection`. Native peers can send such fields too, as metadata.
fn remove_of_connection(metadata: &mut Metadata) {
    let named: Vec<_> = metadata.get_all("connection").map(str::to_ascii_lowercase).collect();
    if !named.is_empty() {
        // Look up each key among the names instead of removing name by name: a peer may list thousands of names, and
        // each removal would scan all entries.
        let named: BTreeSet<&str> = named.iter().flat_map(|value| value.split(',')).map(str::trim).collect();
        let keys = metadata.iter().map(|(key, _)| key).filter(|key| named.contains(key));
        let found: Vec<_> = keys.map(str::to_owned).collect();
        remove(metadata, found);
    }
    remove(metadata, OF_CONNECTION);
}

fn remove(metadata: &mut Metadata, names: impl IntoIterator<Item: AsRef<str>>) {
    for name in names {
        metadata.remove(name.as_ref());
    }
}

/// Appends a value to a list and joins all its values with commas, because not every backend reads repeated fields.
fn append(metadata: &mut Metadata, name: &str, value: &str) -> Result<(), frpc::MetadataError> {
    let values = metadata.get_all(name).chain([value]).collect::<Vec<_>>().join(", ");
    metadata.insert(name, values)
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

    /// Returns metadata with this value of `connection` and entries with the keys `x0`, `x1` and so on.
    fn of_peer(connection: &str, count: usize) -> Metadata {
        let mut metadata = Metadata::new();
        metadata.insert("connection", connection).expect("metadata entry should be valid");
        for number in 0..count {
            metadata.insert(format!("x{number}"), "").expect("metadata entry should be valid");
        }
        metadata
    }

    #[test]
    fn names_in_connection_are_removed() {
        let mut metadata = of_peer("close, X1,x3", 6);
        metadata.append("connection", "x5").expect("metadata entry should be valid");
        remove_of_connection(&mut metadata);
        assert_eq!(metadata.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["x0", "x2", "x4"]);
    }

    /// Regression test: fields of replies that are never sent were accepted, and invalid ones that failed each call.
    #[test]
    fn reserved_and_invalid_fields_are_refused() {
        let set = |name, value| ForwardFields::new().set(name, value).is_ok();
        let set_in_replies = |name| ForwardFields::new().set_in_replies(name, "x").is_ok();
        let subject = |name| ForwardFields::new().subject(name, |_| None).is_ok();
        assert!(set("X-Gateway", "a=b") && set("proxy-authorization", "Basic YQ==") && set("server", "x"));
        for name in ["content-type", "Host", "te", "grpc-timeout", "a b", "x-bin", ""] {
            assert!(!set(name, "x") && !set_in_replies(name) && !subject(name), "{name}");
        }
        assert!(!set("x", "\n") && set_in_replies("x-server") && subject("X-Subject"));
        for name in ["server", "Vary", "date", "content-language", "access-control-allow-origin", "sec-x", "origin"] {
            assert!(!set_in_replies(name), "{name}");
        }
    }

    /// Regression test: only the first value was kept, so that a native proxy's addresses after it were lost.
    #[test]
    fn repeated_fields_of_native_peers_are_joined() {
        let mut metadata = Metadata::new();
        for address in ["192.0.2.1", "192.0.2.2"] {
            metadata.append(FORWARDED_FOR, address).expect("metadata entry should be valid");
        }
        append(&mut metadata, FORWARDED_FOR, "192.0.2.3").expect("joined value should be valid");
        let values: Vec<_> = metadata.get_all(FORWARDED_FOR).collect();
        assert_eq!(values, ["192.0.2.1, 192.0.2.2, 192.0.2.3"]);
    }

    /// Regression test: all entries were examined for each name in `connection`.
    #[cfg(unix)]
    #[test]
    fn names_in_connection_take_linear_time() {
        use crate::clock::cpu_time;
        let named = "a,".repeat(20_000);
        let time = |count: usize| {
            let run = || {
                let mut metadata = of_peer(&named, count);
                let start = cpu_time();
                remove_of_connection(&mut metadata);
                cpu_time() - start
            };
            (0..5).map(|_| run()).min().expect("at least one round should run")
        };
        let (few, many) = (time(2), time(250));
        assert!(many < few * 10, "{few:?} with 2 entries, {many:?} with 250");
    }
}
