//! The enabled protocols over HTTP, and their access rules.

use crate::locks::{Locks, without_port};
use std::fmt;
use std::sync::Arc;

/// The protocols over HTTP, all on the one port, and their access rules.
///
/// None is open unless it was added here:
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
/// * The head of a request: 16 KiB and 100 fields ([431]). It has the
///   [`first_header_timeout`](frpc::ServerBuilder::first_header_timeout) to come.
/// * Bodies, and each message of a stream, before and after compression:
///   [`body_max`](frisbee::Config::body_max) (413). They have to come as fast as native packets:
///   [`least_rate`](frisbee::Config::least_rate). Between the messages of a stream a client may pause as long as it likes.
/// * Bodies of HTTP/2 that handlers do not read: 1 MiB on a connection, or
///   [`stream_credit`](frisbee::Config::stream_credit) if that is more, which is charged to
///   [`memory_max`](frpc::ServerBuilder::memory_max). A connection with such bodies is not read while its client holds more
///   than its share.
/// * Responses have to be taken as fast as native packets: [`write_timeout`](frisbee::Config::write_timeout). A client of
///   HTTP/2 that holds responses back by flow control has to take 16 KiB of one within each
///   [idle time](crate::Gateway::idle_timeout). Streams it may hold back as long as it likes.
/// * Calls that are in progress at once on a connection: [`calls_max`](frisbee::Config::calls_max), and for HTTP/2
///   [`streams_max`](frisbee::Config::streams_max) requests.
/// * A connection may be silent between two requests for the [idle time](crate::Gateway::idle_timeout).
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
}

impl Http {
    /// HTTP without an enabled protocol.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enables the [Connect protocol](https://connectrpc.com/docs/protocol): unary methods by POST with JSON
    /// or protobuf, those without side effects also by GET, and streams.
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

    /// Answers `/healthz`, which says that the process runs, and `/readyz`, which says that it accepts calls: it is not
    /// stopping, and has memory left. Both answer under any name of the server in the request, since probes use any.
    pub fn health(mut self) -> Self {
        self.health = true;
        self
    }

    /// Shows the [console](crate::Console), and enables [WebSocket](crate::Gateway::web_socket), by which it calls. Its
    /// requests for WebSocket are admitted although no [origin](Self::origin) was added for them.
    #[cfg(feature = "console")]
    pub fn console(mut self, console: crate::Console) -> Self {
        self.locks.hosts.extend(console.hosts.iter().cloned());
        self.locks.console = Some(console);
        self
    }

    /// Answers a GET of `/debug/frpc` with JSON that `json` makes, such as the server's activity by
    /// [`Introspection::to_json`]. **Every client of the port can read it**, past the locks below: it belongs on a port that
    /// operators alone reach.
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
    /// Without this lock, a page of a stranger whose name leads to the address of the server could call it from the
    /// browser of any user who can reach it.
    pub fn host(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.locks.hosts.push(without_port(&name).unwrap_or(&name).to_owned());
        self
    }

    /// Lets in requests of pages of this origin, such as `https://app.example.com`, with the port unless it is the usual
    /// one. Requests of all other pages are refused, also of pages that claim the name of the server as their origin.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        // As browsers write it, also if it was copied from an address line.
        self.locks.origins.push(origin.into().trim_end_matches('/').to_ascii_lowercase());
        self
    }

    /// Lets pages of the added [origins](Self::origin) read responses when they have another origin than the server,
    /// and answers the preflights of their browsers.
    pub fn cors(mut self) -> Self {
        self.locks.cors = true;
        self
    }

    /// As [`cors`](Self::cors), also for requests with credentials, such as those of `fetch` with
    /// `credentials: "include"`: pages of the origins then act with the cookies of their users.
    pub fn cors_with_credentials(mut self) -> Self {
        self.locks.credentials = true;
        self.cors()
    }
}

/// What makes the JSON of `/debug/frpc`.
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
