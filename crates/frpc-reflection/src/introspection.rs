//! The service `frpc.introspection.v1.Introspection`: the activity of the servers of a process.
//! `introspection/report.rs` reports servers and connections, and `introspection/figures.rs` reports the
//! counters of calls.

mod figures;
mod report;

use crate::introspection_v1::{
    self as v1, ConnectionReply, ConnectionRequest, ConnectionsReply, ConnectionsRequest, ServerConnections,
    ServersReply, ServersRequest, WatchReply, WatchRequest,
};
use frpc::codegen::{Methods, Service};
use frpc::{Error, Inspector, Layered, Middleware, Request, Response, ResponseStream, Status};
use parking_lot::RwLock;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Default and maximum number of connections in a page of a report. A connection takes about a hundred bytes.
const PAGE: (usize, usize) = (256, 1024);

/// Default and permitted range of the interval between reports of a watch, in milliseconds. A report with a thousand
/// connections costs about a millisecond of CPU time.
const INTERVAL_MS: (u32, std::ops::RangeInclusive<u32>) = (1000, 100..=60_000);

/// Reports the activity of the servers of this process through the service `frpc.introspection.v1.Introspection`:
/// connections with their calls and streams, memory, workers, and close reasons. `frpc top` displays it.
///
/// **It exposes the addresses of clients and their calls.** Serve it on a separate listener that only operators can
/// reach, as [`serve_unix`](Self::serve_unix) does. Servers that are not registered have no overhead. Calls in progress
/// are reported for servers that are [inspectable](frpc::ServerBuilder::inspectable), completed calls for servers with
/// [counters](frpc_telemetry::Counters).
///
/// ```
/// use samples::greeter::GreeterServer;
/// use frpc::Server;
/// use frpc_reflection::Introspection;
/// # use samples::started::Polite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("greeter.sock");
/// let server = Server::builder().add_service(GreeterServer::new(Polite)).inspectable().bind("127.0.0.1:0").await?;
/// let introspection = Introspection::new().server("greeter", server.inspector());
/// # #[cfg(unix)]
/// tokio::spawn(introspection.serve_unix(path));
/// tokio::spawn(server.serve());
/// # Ok(())
/// # }
/// ```
/// Clones share the list of servers.
#[derive(Clone, Default)]
#[must_use]
pub struct Introspection {
    servers: Arc<RwLock<Vec<(String, Inspector)>>>,
}

impl Introspection {
    /// Creates an introspection service without any servers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a server to report on, which appears under this name.
    pub fn server(self, name: impl Into<String>, inspector: Inspector) -> Self {
        self.servers.write().push((name.into(), inspector));
        self
    }

    /// Adds middleware around introspection calls, for listeners that are reachable by others.
    pub fn with_middleware(self, middleware: impl Middleware) -> Layered<Self> {
        Layered::new(self).with_middleware(middleware)
    }

    /// Serves on a Unix socket at `path` until the future is dropped. Access is restricted to the user of this process
    /// shortly after the file is created, so place it in a folder that other users cannot enter. Also serves
    /// [reflection](crate::Reflection), so that `frpc call` finds the schema.
    ///
    /// # Errors
    /// Like [`ServerBuilder::bind_unix`](frpc::ServerBuilder::bind_unix), and if the permissions cannot be set.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connections and removes the file.
    #[cfg(unix)]
    pub async fn serve_unix(self, path: impl AsRef<std::path::Path> + Send) -> Result<(), Error> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = path.as_ref();
        let server = self.builder().bind_unix(path).await?;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path, private)
            .map_err(|source| frpc::frisbee::Error::Bind { address: path.display().to_string(), source })?;
        server.serve().await
    }

    /// Serves on a listening Unix socket, such as one from `frisbee-restart` or systemd, until the future is dropped. A
    /// successor process can then be inspected on the same path as soon as it serves. The file of the socket remains,
    /// and its creator is responsible for its permissions: like [`serve_unix`](Self::serve_unix), this exposes the
    /// addresses of clients.
    ///
    /// # Errors
    /// Like [`ServerBuilder::listen_on_unix`](frpc::ServerBuilder::listen_on_unix).
    ///
    /// # Cancel safety
    /// Dropping the future closes the connections. New connections wait until another process that holds the socket
    /// accepts them.
    #[cfg(unix)]
    pub async fn serve_on_unix(
        self,
        listener: impl Into<std::os::unix::net::UnixListener> + Send,
    ) -> Result<(), Error> {
        self.builder().listen_on_unix(listener)?.serve().await
    }

    /// Serves introspection on a loopback port until the future is dropped, for systems without Unix sockets. **All
    /// users of the machine can reach it.**
    ///
    /// # Errors
    /// Like [`ServerBuilder::bind`](frpc::ServerBuilder::bind).
    ///
    /// # Cancel safety
    /// Dropping the future closes the connections.
    pub async fn serve_loopback(self, port: u16) -> Result<(), Error> {
        self.builder().bind((std::net::Ipv4Addr::LOCALHOST, port)).await?.serve().await
    }

    /// Creates a server that offers this service and its reflection. It runs on the caller's runtime, because few
    /// operators connect to it.
    fn builder(self) -> frpc::ServerBuilder {
        let builder = frpc::Server::builder().workers(frpc::Workers::Caller);
        builder.add_service(self).add_service(crate::Reflection::new())
    }

    /// Returns a report on all servers as the [JSON](https://protobuf.dev/programming-guides/json/) mapping of
    /// `frpc.introspection.v1.WatchReply`. It contains the first `connections` connections of each server, at most
    /// 1024.
    pub fn to_json(&self, connections: usize) -> String {
        let mut json = Vec::new();
        // Encoding cannot fail, because the message contains no floats and no values that are out of range.
        let written = frpc::json::to_json(&self.overview(connections.min(PAGE.1)), &mut json);
        if written.is_err() {
            json.clear();
        }
        String::from_utf8(json).unwrap_or_default()
    }

    fn overview(&self, connections: usize) -> WatchReply {
        let server = |(name, inspector): &(String, Inspector)| ServerConnections {
            server: Some(report::server(name, inspector)),
            connections: report::page(inspector, None, connections).0,
        };
        WatchReply { servers: self.servers.read().iter().map(server).collect() }
    }

    /// Returns the server with this name, or the only server if the name is empty.
    fn find(&self, name: &str) -> Result<Inspector, Status> {
        let servers = self.servers.read();
        let found = match &servers[..] {
            [(_, only)] if name.is_empty() => Some(only),
            all => all.iter().find(|(known, _)| known == name).map(|(_, inspector)| inspector),
        };
        found.cloned().ok_or_else(|| Status::not_found("unknown server name"))
    }
}

impl Service for Introspection {
    const NAME: &'static str = v1::IntrospectionServer::<Self>::NAME;

    fn methods(&self) -> Methods {
        v1::IntrospectionServer::from_arc(Arc::new(self.clone())).methods()
    }
}

impl v1::Introspection for Introspection {
    async fn servers(&self, _request: Request<ServersRequest>) -> Result<Response<ServersReply>, Status> {
        let servers = self.servers.read().iter().map(|(name, inspector)| report::server(name, inspector)).collect();
        Ok(Response::new(ServersReply { servers }))
    }

    async fn connections(&self, request: Request<ConnectionsRequest>) -> Result<Response<ConnectionsReply>, Status> {
        let ConnectionsRequest { server, after, limit } = request.into_inner();
        let limit = match limit as usize {
            0 => PAGE.0,
            limit => limit.min(PAGE.1),
        };
        let (connections, next) = report::page(&self.find(&server)?, after.checked_sub(1), limit);
        Ok(Response::new(ConnectionsReply { connections, next }))
    }

    async fn connection(&self, request: Request<ConnectionRequest>) -> Result<Response<ConnectionReply>, Status> {
        let ConnectionRequest { server, number } = request.into_inner();
        let reply = report::connection(&self.find(&server)?, number);
        reply.map(Response::new).ok_or_else(|| Status::not_found(format!("connection {number} is not open")))
    }

    async fn watch(&self, request: Request<WatchRequest>) -> Result<Response<ResponseStream<WatchReply>>, Status> {
        let WatchRequest { interval_ms, connections } = request.into_inner();
        let (usual, limits) = INTERVAL_MS;
        let interval_ms = if interval_ms == 0 { usual } else { interval_ms };
        if !limits.contains(&interval_ms) {
            let (least, most) = limits.into_inner();
            let text = format!("interval_ms is {interval_ms}, must be {least} to {most}");
            return Err(Status::invalid_argument(text));
        }
        let mut ticks = tokio::time::interval(Duration::from_millis(interval_ms.into()));
        // A slow client gets a single reply in place of all replies that it missed.
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let watching = (self.clone(), (connections as usize).min(PAGE.1), ticks);
        let replies = futures_util::stream::unfold(watching, async |(introspection, connections, mut ticks)| {
            ticks.tick().await;
            Some((Ok(introspection.overview(connections)), (introspection, connections, ticks)))
        });
        Ok(Response::new(ResponseStream::new(Box::pin(replies))))
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = self.servers.read();
        let names = servers.iter().map(|(name, _)| name).collect::<Vec<_>>();
        f.debug_struct("Introspection").field("servers", &names).finish_non_exhaustive()
    }
}
