//! The console, a web page about the services of its server, and its access rules. The page makes calls through the
//! WebSocket gateway; `locks.rs` admits it there. The files in `console/` are built from `clients/typescript/console`.

use crate::gzip;
use crate::http::answer::Answer;
use crate::http::fields::KnownFields;
use crate::http::route::RequestHead;
use crate::locks::{added_host, is_loopback, without_port};
use bytes::Bytes;
use std::net::SocketAddr;
use std::sync::OnceLock;

/// Content security policy of the console page. It permits only the page's own script and style and connections to its
/// server, and prevents scripts from parsing strings as HTML.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; \
                      form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
                      trusted-types 'none'";

/// A web page that lists the services of the server, calls them and watches its topics, served at `/console/`.
///
/// Requires the feature `console`, and an `frpc-reflection` service on the server, which provides the schema. The page
/// makes calls like any client, with native frames over WebSocket, and is subject to the same middleware and limits.
///
/// By default, the console is served to the local machine only: the request must come from a loopback address, and its
/// `host` must be `localhost` or a loopback address. Pages of other origins cannot use the console.
///
/// ```
/// use frpc_gateway::{Console, Gateway, Http};
///
/// let gateway = Gateway::new().http(Http::new().connect().console(Console::new()));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Console {
    pub(crate) hosts: Vec<String>,
}

impl Console {
    /// Creates a console for the local machine.
    pub fn new() -> Self {
        Self::default()
    }

    /// Also serves the console to requests for this host name, from any address. Ports are not compared.
    ///
    /// **Every user who can reach the server can then call all of its services.** Use a proxy or middleware to
    /// authenticate callers.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(added_host(&name.into()));
        self
    }

    /// Returns whether a client at `peer` may use the console under `host`, which is `name` with an optional port.
    /// The caller must have checked that the server has this name.
    fn is_for(&self, host: &str, name: &str, peer: Option<SocketAddr>) -> bool {
        let is_near = || peer.is_some_and(|peer| peer.ip().to_canonical().is_loopback());
        !host.is_empty()
            && (self.hosts.iter().any(|known| known.eq_ignore_ascii_case(name)) || (is_near() && is_loopback(name)))
    }

    /// Returns whether a request was made by the console page: the client may use the console, and the request's origin
    /// equals the host.
    pub(crate) fn is_own(&self, known: &KnownFields<'_>, peer: Option<SocketAddr>) -> bool {
        let Some((host, name)) = named(known) else { return false };
        let origin = known.origin.and_then(|origin| std::str::from_utf8(origin).ok()).unwrap_or_default();
        let same = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        known.repeated.is_none()
            && same.is_some_and(|same| same.eq_ignore_ascii_case(host))
            && self.is_for(host, name, peer)
    }

    /// Returns the response to an admitted request if its path belongs to the console.
    pub(crate) fn answer(&self, request: &RequestHead<'_>, peer: Option<SocketAddr>) -> Option<Answer> {
        let path = request.path.strip_prefix("/console")?;
        if path.is_empty() {
            return Some(Answer::empty(308).with("location", "/console/"));
        }
        let file = FILES.iter().find(|file| file.path == path)?;
        if !matches!(request.method, "GET" | "HEAD") {
            return Some(Answer::wrong_method("GET, HEAD", "the console is a page"));
        }
        if !named(request.known).is_some_and(|(host, name)| self.is_for(host, name, peer)) {
            let text = "the console is shown on the machine of its server; add a name by `Console::host` for others";
            return Some(Answer::refusal(403, text));
        }
        Some(file.answer(request.known))
    }
}

/// Returns the host of a request, with the port and without it.
fn named<'a>(known: &KnownFields<'a>) -> Option<(&'a str, &'a str)> {
    let host = std::str::from_utf8(known.host?).ok()?;
    Some((host, without_port(host)?))
}

/// A static file that the console serves.
struct File {
    path: &'static str,
    content_type: &'static str,
    text: &'static str,
    /// The gzip-compressed file. Created when a client first requests it.
    small: OnceLock<Bytes>,
}

static FILES: [File; 4] = [
    File::new("/", "text/html; charset=utf-8", include_str!("../console/index.html")),
    File::new("/console.js", "text/javascript; charset=utf-8", include_str!("../console/console.js")),
    File::new("/console.css", "text/css; charset=utf-8", include_str!("../console/console.css")),
    File::new("/icon.svg", "image/svg+xml", include_str!("../console/icon.svg")),
];

impl File {
    const fn new(path: &'static str, content_type: &'static str, text: &'static str) -> Self {
        Self { path, content_type, text, small: OnceLock::new() }
    }

    fn answer(&self, known: &KnownFields<'_>) -> Answer {
        let is_small = gzip::is_accepted(known.accept_encoding.as_deref());
        let body = if is_small {
            self.small.get_or_init(|| gzip::deflate_once(self.text.as_bytes())).clone()
        } else {
            Bytes::from_static(self.text.as_bytes())
        };
        let answer = Answer::new(200, self.content_type, body)
            .with("content-security-policy", POLICY)
            .with("x-content-type-options", "nosniff")
            .with("referrer-policy", "no-referrer")
            .with("cross-origin-opener-policy", "same-origin")
            .with("cross-origin-resource-policy", "same-origin")
            // Disable caching, because another server may use this port later.
            .with("cache-control", "no-store")
            .with("vary", "accept-encoding");
        if is_small { answer.with("content-encoding", "gzip") } else { answer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: &str = "127.0.0.1:50000";
    const FAR: &str = "192.0.2.9:50000";

    fn known<'a>(host: &'a str, origin: Option<&'a str>) -> KnownFields<'a> {
        KnownFields { host: Some(host.as_bytes()), origin: origin.map(str::as_bytes), ..KnownFields::default() }
    }

    fn shown(console: &Console, host: &str, peer: Option<&str>) -> bool {
        let known = known(host, None);
        let peer = peer.map(|peer| peer.parse().unwrap());
        let request = RequestHead { method: "GET", path: "/console/", known: &known, is_http2: false };
        console.answer(&request, peer).is_some_and(|answer| answer.status == 200)
    }

    #[test]
    fn console_is_loopback_only_without_added_host() {
        let console = Console::new();
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "127.9.9.9", "[::1]:8080", "[::ffff:127.0.0.1]"] {
            assert!(shown(&console, host, Some(NEAR)), "{host}");
            assert!(!shown(&console, host, Some(FAR)), "console should reject callers from other hosts: {host}");
            assert!(!shown(&console, host, None), "console should reject proxies of a Unix socket: {host}");
        }
        for host in ["192.0.2.7", "api.example.com", "localhost.example.com", "", ":80"] {
            assert!(!shown(&console, host, Some(NEAR)), "{host}");
        }
        let public = console.host("tools.example.com");
        assert!(shown(&public, "tools.example.com", Some(FAR)) && shown(&public, "Tools.Example.com:443", None));
        assert!(!shown(&public, "api.example.com", Some(FAR)) && !shown(&public, "localhost", Some(FAR)));
    }

    /// Regression test: a host that was added with its port never matched.
    #[test]
    fn added_host_with_port_matches_any_port() {
        for added in ["tools.example.com:8443", "tools.example.com"] {
            let console = Console::new().host(added);
            for host in ["tools.example.com:8443", "tools.example.com", "tools.example.com:80"] {
                assert!(shown(&console, host, Some(FAR)), "{added}, {host}");
                let known = known(host, None);
                let http = crate::Http::new().console(console.clone());
                assert!(http.locks.admit(&known, FAR.parse().ok()).is_ok(), "{added}, {host}");
            }
        }
    }

    #[test]
    fn same_origin_requires_origin_equal_to_host() {
        let console = Console::new().host("tools.example.com");
        let near = NEAR.parse().ok();
        for (host, origin, expected) in [
            ("localhost:8080", "http://localhost:8080", true),
            ("localhost:8080", "https://LOCALHOST:8080", true),
            ("tools.example.com", "https://tools.example.com", true),
            ("localhost:8080", "http://localhost:8081", false),
            ("localhost:8080", "http://localhost", false),
            ("localhost:8080", "http://127.0.0.1:8080", false),
            ("rebound.example:8080", "http://rebound.example:8080", false),
            ("localhost:8080", "null", false),
            ("localhost:8080", "", false),
            ("localhost:8080", "http://evil.example", false),
        ] {
            assert_eq!(console.is_own(&known(host, Some(origin)), near), expected, "{host}, {origin}");
        }
        assert!(!console.is_own(&known("localhost", Some("http://localhost")), FAR.parse().ok()));
        assert!(!console.is_own(&known("localhost", None), near));
        let two = KnownFields { repeated: Some("host"), ..known("localhost", Some("http://localhost")) };
        assert!(!console.is_own(&two, near));
    }

    #[test]
    fn console_files_are_compressed_and_carry_policy() {
        let console = Console::new();
        let plain = known("localhost", None);
        let small = KnownFields { accept_encoding: Some(b"gzip, br"[..].into()), ..plain.clone() };
        let mut total = 0;
        for path in ["/console/", "/console/console.js", "/console/console.css", "/console/icon.svg"] {
            let request_with = |known| {
                let request = RequestHead { method: "GET", path, known, is_http2: false };
                console.answer(&request, NEAR.parse().ok()).expect("console should serve its own files")
            };
            let (whole, compressed) = (request_with(&plain), request_with(&small));
            assert_eq!(gzip::inflate(&compressed.body, 1 << 20).unwrap(), whole.body, "{path}");
            total += compressed.body.len();
            assert!(compressed.fields.contains(&("content-encoding".into(), "gzip".into())));
            assert!(whole.fields.iter().any(|(name, value)| name == "content-security-policy" && value == POLICY));
        }
        assert!(total < 60_000, "console takes {total} bytes");
        let request_with = |method, path| {
            let request = RequestHead { method, path, known: &plain, is_http2: false };
            console.answer(&request, NEAR.parse().ok()).map(|answer| answer.status)
        };
        assert_eq!(request_with("GET", "/console"), Some(308));
        assert_eq!(request_with("POST", "/console/"), Some(405));
        assert_eq!(request_with("GET", "/console/other"), None);
        assert_eq!(request_with("GET", "/consoles"), None);
    }
}
