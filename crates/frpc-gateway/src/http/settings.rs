//! [`Http`]: settings of the protocols over HTTP and of their access rules.

use crate::locks::{Locks, added_host};
use crate::proxies::TrustedProxies;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

/// The protocols over HTTP on the server's port, and their access rules.
///
/// Protocols are disabled unless they are enabled here:
///
/// ```
/// use frpc_gateway::{Gateway, Http};
///
/// let http = Http::new().connect().grpc().health().host("api.example.com").origin("https://app.example.com").cors();
/// let gateway = Gateway::new().http(http);
/// ```
///
/// # Limits
///
/// * Request heads: 16 KiB and 100 fields ([431]). A head must be received within the
///   [`first_header_timeout`](frpc::ServerBuilder::first_header_timeout).
/// * Bodies, and each message of a stream, before and after compression: [`body_max`](frisbee::Config::body_max) (413).
///   They must be received at the minimum rate for native packets, [`least_rate`](frisbee::Config::least_rate). A
///   client may pause for any time between the messages of a stream.
/// * Unread HTTP/2 bodies: [`stream_credit`](frisbee::Config::stream_credit) for each stream, charged to
///   [`memory_max`](frpc::ServerBuilder::memory_max). A call fails if there is no memory for its body.
/// * Responses must be read at the minimum rate for native packets: [`write_timeout`](frisbee::Config::write_timeout).
///   An HTTP/2 client must accept 16 KiB of each complete response per [idle time](crate::Gateway::idle_timeout). It
///   may delay unfinished streams for any time.
/// * Concurrent calls on a connection: [`calls_max`](frisbee::Config::calls_max). HTTP/2 is also limited to
///   [`streams_max`](frisbee::Config::streams_max) requests.
/// * Silence between two requests on a connection: the [idle time](crate::Gateway::idle_timeout).
///
/// [431]: https://www.rfc-editor.org/rfc/rfc6585#section-5
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Http {
    pub(crate) connect: bool,
    pub(crate) grpc: bool,
    pub(crate) health: bool,
    #[cfg(feature = "metrics")]
    pub(crate) metrics: super::metrics::Metrics,
    pub(crate) debug: Option<DebugPage>,
    pub(crate) locks: Locks,
    pub(crate) proxies: TrustedProxies,
}

impl Http {
    /// Creates settings with all HTTP protocols disabled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enables the [Connect protocol](https://connectrpc.com/docs/protocol): unary methods by POST with JSON or
    /// protobuf, methods without side effects also by GET, and streams.
    ///
    /// `curl -H 'content-type: application/json' -d '{"name":"Ada"}' localhost:8080/greet.Greeter/Greet`
    pub fn connect(mut self) -> Self {
        self.connect = true;
        self
    }

    /// Enables gRPC and gRPC-Web.
    pub fn grpc(mut self) -> Self {
        self.grpc = true;
        self
    }

    /// Enables health checks: `/healthz` reports that the process is running, and `/readyz` that it accepts calls, so
    /// it is not shutting down and has memory left. Both accept any host name, because health checks use arbitrary
    /// ones.
    pub fn health(mut self) -> Self {
        self.health = true;
        self
    }

    /// Enables the [console](crate::Console), and [WebSocket](crate::Gateway::web_socket) because the console makes its
    /// calls over it. WebSocket requests of the console's page are admitted even if its [origin](Self::origin) is not
    /// on the list.
    #[cfg(feature = "console")]
    pub fn console(mut self, console: crate::Console) -> Self {
        self.locks.hosts.extend(console.hosts.iter().cloned());
        self.locks.console = Some(console);
        self
    }

    /// Serves `/debug/frpc` with JSON created by `json`, such as the server's activity from [`Introspection::to_json`].
    ///
    /// **Every client of the port can read the page**, regardless of the access rules below. Enable it only on a port
    /// that only operators can reach.
    ///
    /// ```
    /// use frpc_gateway::Http;
    ///
    /// let http = Http::new().debug(|| "{\"servers\":[]}".to_owned());
    /// ```
    ///
    /// [`Introspection::to_json`]: https://docs.rs/frpc-reflection/latest/frpc_reflection/struct.Introspection.html
    pub fn debug(mut self, json: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.debug = Some(DebugPage(Arc::new(json)));
        self
    }

    /// Admits requests that call the server by this name, in addition to `localhost`, loopback addresses, and the local
    /// address of the connection. Ports are not compared.
    ///
    /// Without this check, a foreign page with a name that resolves to the server's address could call the server from
    /// the browser of any user who can reach it.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.locks.hosts.push(added_host(&name.into()));
        self
    }

    /// Admits requests of web pages with this origin, such as `https://app.example.com`, with the port unless it is the
    /// default. Pages of all other origins are rejected, even if their origin is the server's name.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        // Normalize the origin to the form that browsers send, in case it was copied from an address bar.
        self.locks.origins.push(origin.into().trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// Trusts proxies in the network given by the first `bits` bits of `address`: the client of their requests is the
    /// last address in the field `forwarded` or `x-forwarded-for` that is not a trusted proxy. Handlers, access rules
    /// and limits for each client use this address. Responses that wait to be written to the proxy are still charged to
    /// the proxy.
    ///
    /// If a request has neither field, or both with different addresses, the proxy itself is the client. The fields of
    /// other peers have no effect.
    ///
    /// ```
    /// use frpc_gateway::Http;
    ///
    /// let http = Http::new().connect().trust("10.0.0.0".parse()?, 8);
    /// # Ok::<(), std::net::AddrParseError>(())
    /// ```
    pub fn trust(mut self, address: IpAddr, bits: u8) -> Self {
        self.proxies.add(address, bits);
        self
    }

    /// Enables CORS: answers preflight requests and lets pages of the added [origins](Self::origin) read responses,
    /// even if their origin differs from the server's.
    pub fn cors(mut self) -> Self {
        self.locks.cors = true;
        self
    }

    /// Like [`cors`](Self::cors), but also allows credentials, as sent by `fetch` with `credentials: "include"`. Pages
    /// of the added origins can then act with the cookies of their users.
    pub fn cors_with_credentials(mut self) -> Self {
        self.locks.credentials = true;
        self.cors()
    }
}

/// Function that creates the JSON document at `/debug/frpc`.
#[derive(Clone)]
pub(crate) struct DebugPage(Arc<dyn Fn() -> String + Send + Sync>);

impl DebugPage {
    pub(crate) fn json(&self) -> String {
        (self.0)()
    }
}

impl fmt::Debug for DebugPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DebugPage").finish_non_exhaustive()
    }
}
