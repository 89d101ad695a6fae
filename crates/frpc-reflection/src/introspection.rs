//! The service `frpc.introspection.v1.Introspection`: the activity of the servers of a process. The report of a server
//! is in
//! `introspection/report.rs`, and that of its calls in `introspection/figures.rs`.

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

/// How many connections a page has unless the caller says, and at most. One takes about a hundred bytes.
const PAGE: (usize, usize) = (256, 1024);

/// The time between two replies of a watch unless the caller says, and its limits, in milliseconds. A reply with a
/// thousand connections takes about a millisecond of a core.
const INTERVAL_MS: (u32, std::ops::RangeInclusive<u32>) = (1000, 100..=60_000);

/// Shows the activity of the servers of this process, by the service `frpc.introspection.v1.Introspection`: connections
/// with their calls and streams, memory, workers, and why connections have ended. `frpc top` reads it.
///
/// It is a service as any other, but **shows the addresses of clients and their calls**: put it on a listener
/// of its own that only operators reach, as [`serve_unix`](Self::serve_unix) does. A server that it does not know of
/// pays nothing. Calls in progress are shown for servers that are [inspectable](frpc::ServerBuilder::inspectable), and
/// figures of calls that have ended for servers with [counters](frpc_telemetry::Counters).
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
/// Clones show the same servers, also those that are added later.
#[derive(Clone, Default)]
#[must_use]
pub struct Introspection {
    servers: Arc<RwLock<Vec<(String, Inspector)>>>,
}

impl Introspection {
    /// Shows no server yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows a server under a name.
    pub fn server(self, name: impl Into<String>, inspector: Inspector) -> Self {
        self.servers.write().push((name.into(), inspector));
        self
    }

    /// Runs a middleware around the calls of introspection, for a server that others reach as well.
    pub fn with_middleware(self, middleware: impl Middleware) -> Layered<Self> {
        Layered::new(self).with_middleware(middleware)
    }

    /// Serves on a Unix socket at `path`, until the future is dropped. Its file is for the user of this process alone,
    /// from a moment after it has been made: put it into a folder that others cannot enter.
    /// [Reflection](crate::Reflection) is served as well, so that `frpc call` knows the schema.
    ///
    /// # Errors
    /// As [`ServerBuilder::bind_unix`](frpc::ServerBuilder::bind_unix), and if the file cannot be made private.
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

    /// Serves on a Unix socket that listens already, such as one of `frisbee-restart` or systemd, until the future is
    /// dropped. So the next process can be looked at as soon as it serves, on the same path. The file of the socket
    /// stays, and its creator decides which users may open it: as [`serve_unix`](Self::serve_unix) this shows the
    /// addresses of clients.
    ///
    /// # Errors
    /// As [`ServerBuilder::listen_on_unix`](frpc::ServerBuilder::listen_on_unix).
    ///
    /// # Cancel safety
    /// Dropping the future closes the connections. Connections that come later wait until a process that has the socket
    /// accepts them.
    #[cfg(unix)]
    pub async fn serve_on_unix(
        self,
        listener: impl Into<std::os::unix::net::UnixListener> + Send,
    ) -> Result<(), Error> {
        self.builder().listen_on_unix(listener)?.serve().await
    }

    /// Serves on a port of the loopback address, until the future is dropped. **All users of the machine reach it**:
    /// for systems without Unix sockets.
    ///
    /// # Errors
    /// As [`ServerBuilder::bind`](frpc::ServerBuilder::bind).
    ///
    /// # Cancel safety
    /// Dropping the future closes the connections.
    pub async fn serve_loopback(self, port: u16) -> Result<(), Error> {
        self.builder().bind((std::net::Ipv4Addr::LOCALHOST, port)).await?.serve().await
    }

    /// A server for this alone. Its caller's runtime drives it: operators are few.
    fn builder(self) -> frpc::ServerBuilder {
        let builder = frpc::Server::builder().workers(frpc::Workers::Caller);
        builder.add_service(self).add_service(crate::Reflection::new())
    }

    /// The report on all servers, with the first `connections` of each, 1024 at most, as
    /// [JSON](https://protobuf.dev/programming-guides/json/) of `frpc.introspection.v1.WatchReply`.
    pub fn to_json(&self, connections: usize) -> String {
        let mut json = Vec::new();
        // All of it can be written: there are no floats and no values that are out of range.
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

    /// The server with a name, or the only one.
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
        // A client that reads late gets one reply for all that it has missed.
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
