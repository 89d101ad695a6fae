//! Checks the `host` and `origin` of HTTP requests, so that hostile web pages cannot call a server through the user's
//! browser.
//!
//! A page can send requests to servers on the user's machine or network. Browsers state the page's origin in them, and
//! only allowed origins are accepted. A page can also make its own host name resolve to the server's address (DNS
//! rebinding), so that the browser considers both the same origin. Therefore, only known host names are accepted.

use crate::http::answer::Answer;
use crate::http::fields::KnownFields;
use frpc::AdapterContext;
use std::borrow::Cow;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Value of `access-control-max-age`: browsers may cache the reply to a preflight for two hours, the maximum of
/// Chromium.
const PREFLIGHT_AGE: &str = "7200";

/// Rules that decide by host and origin which HTTP requests are admitted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Locks {
    /// Accepted host names.
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) cors: bool,
    /// Whether pages of other origins may send credentials and read the responses.
    pub(crate) credentials: bool,
    /// The built-in console. Requests of its page are admitted even if its origin is not on the list.
    #[cfg(feature = "console")]
    pub(crate) console: Option<crate::Console>,
}

/// Admission of a request, with the data for the CORS fields of its response.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pass<'a> {
    /// Origin of pages that may read the response. `None` omits the CORS fields.
    pub(crate) readable_by: Option<&'a str>,
    /// Whether pages of that origin may read responses to requests with credentials.
    pub(crate) with_credentials: bool,
    /// Whether the response depends on the request's origin and must have `vary: origin` for caches.
    pub(crate) varies: bool,
}

impl<'a> Pass<'a> {
    /// Returns the CORS fields of the response. `names` lists the other response fields, which pages may then read.
    pub(crate) fn fields(self, names: impl FnOnce() -> String) -> impl Iterator<Item = (&'static str, Cow<'a, str>)> {
        let varies = self.varies.then_some(("vary", "origin".into()));
        let fields = self.readable_by.map(|origin| {
            // List the names, because `*` is no wildcard for requests with credentials.
            let exposed = if self.with_credentials { Cow::Owned(names()) } else { Cow::Borrowed("*") };
            let credentials = self.with_credentials.then_some(("access-control-allow-credentials", "true".into()));
            let fields =
                [("access-control-allow-origin", Cow::Borrowed(origin)), ("access-control-expose-headers", exposed)];
            fields.into_iter().chain(credentials)
        });
        fields.into_iter().flatten().chain(varies)
    }
}

impl Locks {
    /// Admits a request by its host and origin, or returns the response that rejects it. `local` is the local address
    /// of the connection.
    pub(crate) fn admit<'a>(&self, known: &KnownFields<'a>, local: Option<SocketAddr>) -> Result<Pass<'a>, Answer> {
        let host = match known.host {
            Some(host) if known.repeated.is_none() => host,
            _ => return Err(Answer::refusal(400, "a request has one field \"host\"")),
        };
        if !std::str::from_utf8(host).is_ok_and(|host| self.knows(host, local)) {
            return Err(Answer::refusal(
                403,
                "host not allowed: use the address of the server, or add the name to its hosts",
            ));
        }
        let refused = || Answer::refusal(403, "origin not allowed: add it to the origins of the server");
        let Some(origin) = known.origin else {
            // Check `sec-fetch-site` instead, because browsers omit the origin of some requests, such as those for
            // images.
            return match known.site {
                Some(b"cross-site" | b"same-site") => Err(refused()),
                _ => Ok(Pass { varies: self.cors, ..Pass::default() }),
            };
        };
        match std::str::from_utf8(origin) {
            Ok(origin) if self.origins.iter().any(|known| known == origin) => {
                let readable_by = self.cors.then_some(origin);
                Ok(Pass { readable_by, with_credentials: self.credentials, varies: self.cors })
            }
            Ok(origin) if is_own_loopback(origin, host) => Ok(Pass { varies: self.cors, ..Pass::default() }),
            _ => Err(refused()),
        }
    }

    /// Admits a WebSocket request by its host and origin, or returns the response that rejects it.
    pub(crate) fn admit_socket(&self, known: &KnownFields<'_>, context: &AdapterContext) -> Result<(), Answer> {
        #[cfg(feature = "console")]
        if self.console.as_ref().is_some_and(|console| console.is_own(known, context.connection().peer_addr())) {
            return Ok(());
        }
        self.admit(known, context.connection().local_addr()).map(drop)
    }

    /// Returns the response to an admitted CORS preflight request.
    pub(crate) fn preflight(&self, known: &KnownFields<'_>) -> Answer {
        let wanted = known.preflight_fields.as_deref().and_then(|fields| std::str::from_utf8(fields).ok());
        let answer = Answer::empty(204);
        if !self.cors {
            return answer;
        }
        let answer =
            answer.with("access-control-allow-methods", "GET, POST").with("access-control-max-age", PREFLIGHT_AGE);
        match wanted {
            Some(fields) => answer.with("access-control-allow-headers", fields),
            None => answer,
        }
    }

    /// Returns whether `host` is a name or address of this server. The port is ignored, because port mappings of
    /// containers change it.
    fn knows(&self, host: &str, local: Option<SocketAddr>) -> bool {
        let Some(name) = without_port(host) else { return false };
        if name.eq_ignore_ascii_case("localhost") || self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            return true;
        }
        let address = name.strip_prefix('[').map_or(name, |name| name.trim_end_matches(']'));
        let Ok(address) = address.parse::<IpAddr>() else { return false };
        let address = address.to_canonical();
        address.is_loopback() || local.is_some_and(|local| local.ip().to_canonical() == address)
    }
}

/// Returns whether a page calls its own origin, and that is a loopback address. Such a page is trusted, because DNS
/// rebinding cannot affect `localhost` or an IP address.
fn is_own_loopback(origin: &str, host: &[u8]) -> bool {
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).unwrap_or_default();
    authority.as_bytes().eq_ignore_ascii_case(host) && without_port(authority).is_some_and(is_loopback)
}

/// Returns whether a host name without its port is `localhost` or a loopback address.
pub(crate) fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Returns the host name or address without the port. Brackets of an IPv6 address are kept.
pub(crate) fn without_port(host: &str) -> Option<&str> {
    let end = host.rfind(']').map_or(0, |bracket| bracket + 1);
    let (name, port) = match host.get(end..)?.find(':') {
        Some(colon) => host.split_at_checked(end + colon)?,
        None => (host, ""),
    };
    let digits = port.strip_prefix(':').unwrap_or_default();
    (!name.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())).then_some(name)
}

/// Returns the name of a host that the user adds. Ignores its port, and adds the brackets of an IPv6 address.
pub(crate) fn added_host(name: &str) -> String {
    match name.parse::<Ipv6Addr>() {
        Ok(address) => format!("[{address}]"),
        Err(_) => without_port(name).unwrap_or(name).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(locks: &Locks, host: &str, origin: Option<&str>, site: Option<&str>) -> bool {
        let known = KnownFields {
            host: Some(host.as_bytes()),
            origin: origin.map(str::as_bytes),
            site: site.map(str::as_bytes),
            ..KnownFields::default()
        };
        locks.admit(&known, Some("192.0.2.7:8080".parse().unwrap())).is_ok()
    }

    #[test]
    fn only_own_or_added_hosts_are_admitted() {
        let locks = Locks { hosts: vec!["api.example.com".into()], ..Locks::default() };
        for known in [
            "localhost",
            "LocalHost:8080",
            "127.0.0.1:80",
            "127.1.2.3",
            "[::1]:8080",
            "[::1]",
            "192.0.2.7",
            "192.0.2.7:9",
            "[::ffff:192.0.2.7]:80",
            "api.example.com",
            "API.example.com:443",
        ] {
            assert!(admits(&locks, known, None, None), "{known}");
        }
        for unknown in [
            "",
            ":80",
            "evil.com",
            "localhost.evil.com",
            "evil.com:80",
            "192.0.2.8",
            "192.0.2.7.evil.com",
            "example.com",
            "localhost:80:80",
            "localhost:x",
            "user@localhost",
            "[::2]",
            "[::1",
            "2130706433",
            "127.1",
            "0.0.0.0",
        ] {
            assert!(!admits(&locks, unknown, None, None), "{unknown}");
        }
    }

    #[test]
    fn page_is_admitted_by_origin() {
        let locks = Locks { origins: vec!["https://app.example.com".into()], ..Locks::default() };
        assert!(admits(&locks, "localhost", Some("https://app.example.com"), Some("cross-site")));
        for (origin, host) in [
            ("http://localhost:8080", "localhost:8080"),
            ("https://localhost", "localhost"),
            ("http://127.0.0.1:1", "127.0.0.1:1"),
            ("http://[::1]:1", "[::1]:1"),
        ] {
            assert!(admits(&locks, host, Some(origin), Some("same-origin")), "{origin}");
            assert!(!admits(&locks, "127.0.0.2:9", Some(origin), None), "{origin}");
        }
        let own = "192.0.2.7:8080";
        assert!(
            !admits(&locks, own, Some(&format!("http://{own}")), None),
            "page whose name leads to this address should be rejected"
        );
        for origin in [
            "http://localhost:80",
            "ws://localhost",
            "http://app.example.com",
            "https://app.example.com.evil.com",
            "null",
            "",
        ] {
            assert!(!admits(&locks, "localhost", Some(origin), None), "{origin}");
        }
        assert!(admits(&locks, "localhost", None, Some("none")), "address typed by a user should be admitted");
        assert!(admits(&locks, "localhost", None, Some("same-origin")));
        assert!(!admits(&locks, "localhost", None, Some("cross-site")), "image of another page should be rejected");
        assert!(!admits(&locks, "localhost", None, Some("same-site")));
    }

    #[test]
    fn host_port_and_origin_slash_are_accepted() {
        let http = crate::Http::new().host("api.example.com:8080").origin("https://App.example.com/");
        assert!(admits(&http.locks, "api.example.com:8080", Some("https://app.example.com"), None));
        assert!(!admits(&http.locks, "example.com", None, None));
    }

    /// Regression test: an address without brackets never matched.
    #[test]
    fn added_ipv6_address_needs_no_brackets() {
        for added in ["2001:DB8::7", "[2001:db8::7]", "[2001:db8::7]:8080"] {
            assert!(admits(&crate::Http::new().host(added).locks, "[2001:db8::7]:80", None, None), "{added}");
        }
    }

    #[test]
    fn response_is_readable_only_with_cors() {
        let origin = "https://app.example.com";
        let known = KnownFields { host: Some(b"localhost"), origin: Some(origin.as_bytes()), ..KnownFields::default() };
        let mut locks = Locks { origins: vec![origin.into()], ..Locks::default() };
        assert_eq!(locks.admit(&known, None).unwrap().readable_by, None);
        locks.cors = true;
        assert_eq!(locks.admit(&known, None).unwrap().readable_by, Some(origin));
        let without_origin = KnownFields { host: Some(b"localhost"), ..KnownFields::default() };
        let fields: Vec<_> = locks.admit(&without_origin, None).unwrap().fields(String::new).collect();
        assert_eq!(fields, [("vary", "origin".into())], "response should not be cached for other pages");
    }

    #[test]
    fn missing_or_duplicate_host_is_malformed() {
        let known = KnownFields::of([("host", &b"localhost"[..]), ("host", b"localhost")].into_iter());
        assert_eq!(Locks::default().admit(&known, None).unwrap_err().status, 400);
        assert_eq!(Locks::default().admit(&KnownFields::default(), None).unwrap_err().status, 400);
    }
}
