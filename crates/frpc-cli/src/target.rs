//! Connection settings: the server's address, TLS, and the header format.

use crate::arguments::ServerArguments;
use crate::decode::frames::WatchedConnection;
use crate::decode::{READ, between};
use crate::failure::Failure;
use crate::schema::Schema;
use crate::show::{Screen, note};
use frpc::tls::{Authorities, ClientTls, Identity};
use frpc::{Channel, ChannelBuilder, pubsub};
use frpc_balance::Balance as _;
use frpc_balance::dns::DnsResolver;
use frpc_balance::etcd::{Etcd, EtcdResolver};
use frpc_balance::resolve::{Endpoint, FileResolver, StaticResolver};
use frpc_gateway::web_socket;
use futures_core::future::BoxFuture;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use std::{fs, io};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

/// Schema and screen with which the frames of a connection are printed to standard error.
type Watcher = (Arc<Schema>, Screen);

/// Server address that is used if none is specified.
const DEFAULT: &str = "localhost:8080";

/// Byte stream that is connected to the server, for example over TCP, TLS or WebSocket.
pub(crate) type Transport = Box<dyn Carrier>;

pub(crate) trait Carrier: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Carrier for T {}

/// Server that is named on the command line, with the settings for connecting to it.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: String,
    tls: Option<ClientTls>,
    arguments: ServerArguments,
}

impl Target {
    /// Returns the server that the arguments name.
    pub(crate) fn new(arguments: &ServerArguments) -> Result<Self, Failure> {
        let address = arguments.server.clone().or_else(environment).unwrap_or_else(|| DEFAULT.to_owned());
        let scheme = address.split_once("://").map(|(scheme, _)| scheme);
        let is_known = matches!(scheme, None | Some("ws" | "wss" | "grpc" | "grpcs"));
        if !is_known && !matches!(scheme, Some("dns" | "etcd" | "grpc+dns" | "grpc+etcd")) {
            let text = "use HOST:PORT, unix:PATH, unix+shm:PATH, file:PATH, ws://, wss://, grpc://, grpcs://, dns:// or \
                        etcd://";
            return Err(Failure::new(format!("{address}: {text}")));
        }
        let tls = tls(arguments, matches!(scheme, Some("wss" | "grpcs")))?;
        if let (Some(_), Some(plain @ ("ws" | "grpc"))) = (&tls, scheme) {
            return Err(Failure::new(format!("{plain}:// has no TLS: use {plain}s://")));
        }
        if arguments.server_name.is_none() && tls.is_some() && is_path(&address) {
            return Err(Failure::new("TLS over a Unix socket needs --server-name"));
        }
        Ok(Self { address, tls, arguments: arguments.clone() })
    }

    /// Returns a channel builder with the settings of the command line.
    pub(crate) fn builder(&self) -> ChannelBuilder {
        Channel::builder().header_form(self.arguments.header).connect_timeout(self.arguments.connect_timeout)
    }

    pub(crate) fn connect_timeout(&self) -> Duration {
        self.arguments.connect_timeout
    }

    /// Opens a channel to the server. If `watcher` is set, prints the frames of its connections.
    pub(crate) async fn connect(&self, builder: ChannelBuilder, watcher: Option<Watcher>) -> Result<Channel, Failure> {
        match (self.fleet(&builder)?, watcher) {
            (Some(_), Some(_)) => Err(Failure::new("-vvv requires a single server")),
            (Some(fleet), None) => Ok(fleet),
            (None, watcher) if self.is_web_socket() || watcher.is_some() && !self.is_grpc() => {
                Ok(builder.connect_with_connector(self.connector(watcher)).await?)
            }
            (None, _) => Ok(self.with_tls(builder).connect(self.address.clone()).await?),
        }
    }

    /// Creates a channel that connects when it is first used.
    pub(crate) fn connect_lazy(&self) -> Result<Channel, Failure> {
        let mut builder = self.builder();
        if self.is_grpc() {
            // Set no timeout, because the caller of the gateway sets the deadline.
            builder = builder.dangerous_no_timeout();
        }
        Ok(match self.fleet(&builder)? {
            Some(fleet) => fleet,
            None if self.is_web_socket() => builder.connect_lazy_with_connector(self.connector(None))?,
            None => self.with_tls(builder).connect_lazy(self.address.clone())?,
        })
    }

    /// Creates a channel to several servers, if the address is a list or names a resolver. It connects when it is first
    /// used.
    fn fleet(&self, builder: &ChannelBuilder) -> Result<Option<Channel>, Failure> {
        let mut builder = builder.clone();
        if self.is_grpc() {
            builder = builder.grpc();
        }
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(name) = &self.arguments.server_name {
            builder = builder.server_name(name);
        }
        let fleet = builder.balance();
        let address = self.address.strip_prefix("grpc+").unwrap_or(&self.address);
        let invalid = |error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", self.address));
        let channel = if let Some(path) = address.strip_prefix("file:") {
            fleet.connect_resolved_lazy(FileResolver::new(path))
        } else if address.starts_with("dns://") {
            let resolver: DnsResolver = address.parse().map_err(|error| invalid(&error))?;
            fleet.connect_resolved_lazy(resolver)
        } else if let Some(etcd) = address.strip_prefix("etcd://") {
            let (members, prefix) = etcd.split_once('/').ok_or_else(|| invalid(&"use etcd://HOST:PORT,…/PREFIX"))?;
            let etcd = Etcd::new(members.split(',').map(|member| format!("http://{member}")))
                .map_err(|error| invalid(&error))?;
            fleet.connect_resolved_lazy(EtcdResolver::new(&etcd, prefix))
        } else if address.contains(',') {
            if self.is_web_socket() {
                return Err(invalid(&"a list of servers cannot use WebSocket: name a single server"));
            }
            // Each server may repeat the scheme of the first one.
            let scheme = address.split_once("://").map(|(scheme, _)| format!("{scheme}://")).unwrap_or_default();
            let hosts = address.split(',').map(|host| host.strip_prefix(&scheme).unwrap_or(host));
            fleet.connect_resolved_lazy(StaticResolver::new(hosts.map(Endpoint::new)))
        } else {
            return Ok(None);
        };
        Ok(Some(channel?))
    }

    fn with_tls(&self, builder: ChannelBuilder) -> ChannelBuilder {
        match &self.tls {
            Some(tls) => builder.tls(tls.clone()).server_name(self.server_name()),
            None => builder,
        }
    }

    /// Returns a function that dials the server, for each connection of a channel.
    fn connector(
        &self,
        watcher: Option<Watcher>,
    ) -> impl Fn() -> BoxFuture<'static, io::Result<Transport>> + Clone + Send + Sync + use<> {
        let target = self.clone();
        move || {
            let (target, watcher) = (target.clone(), watcher.clone());
            Box::pin(async move {
                let address = &target.address;
                let io = target.dial().await;
                let io = io.map_err(|error| io::Error::new(error.kind(), format!("{address}: {error}")))?;
                Ok(match watcher {
                    Some(watcher) => watched(io, watcher),
                    None => io,
                })
            })
        }
    }

    /// Returns whether the server uses gRPC.
    pub(crate) fn is_grpc(&self) -> bool {
        ["grpc://", "grpcs://", "grpc+"].iter().any(|scheme| self.address.starts_with(scheme))
    }

    /// Opens a transport to the server that carries frames.
    pub(crate) async fn dial(&self) -> io::Result<Transport> {
        timeout(self.arguments.connect_timeout, self.open()).await?
    }

    async fn open(&self) -> io::Result<Transport> {
        #[cfg(unix)]
        if let Some(path) = self.address.strip_prefix("unix:") {
            return self.secured(frisbee::connect_unix(path).await?).await;
        }
        #[cfg(target_os = "linux")]
        if let Some(path) = self.address.strip_prefix("unix+shm:") {
            return self.secured(frpc::shm::connect(path).await?).await;
        }
        let (host, path, port) = self.parts();
        let socket = match port {
            Some(port) => frisbee::connect_tcp((host.trim_matches(['[', ']']), port)).await?,
            None => frisbee::connect_tcp(host).await?,
        };
        let socket = self.secured(socket).await?;
        if !self.is_web_socket() {
            return Ok(socket);
        }
        Ok(Box::new(web_socket::connect_io(socket, host, path).await?))
    }

    /// Performs the TLS handshake on a transport if TLS is enabled.
    async fn secured<T>(&self, io: T) -> io::Result<Transport>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let Some(tls) = &self.tls else { return Ok(Box::new(io)) };
        Ok(Box::new(tls.connect_io(io, self.server_name()).await.map_err(io::Error::other)?))
    }

    pub(crate) fn is_web_socket(&self) -> bool {
        self.address.starts_with("ws://") || self.address.starts_with("wss://")
    }

    /// Splits an address into the host with its port, the path, and the default port of the scheme. The default port is
    /// returned only if the address contains no port.
    fn parts(&self) -> (&str, &str, Option<u16>) {
        let Some((scheme, rest)) = self.address.split_once("://") else { return (&self.address, "/", None) };
        let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        let port = if scheme == "wss" { 443 } else { 80 };
        (host, if path.is_empty() { "/" } else { path }, Some(port).filter(|_| !has_port))
    }

    /// Returns the host name that the server's certificate must contain.
    fn server_name(&self) -> &str {
        let host = self.parts().0;
        let name = host.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok()).map_or(host, |(name, _)| name);
        self.arguments.server_name.as_deref().unwrap_or_else(|| name.trim_matches(['[', ']']))
    }
}

impl Target {
    /// Connects to a message broker.
    pub(crate) async fn broker(&self) -> Result<pubsub::Client, Failure> {
        if self.is_web_socket() || self.is_grpc() {
            return Err(Failure::new("unsupported address of a broker; use HOST:PORT, unix:PATH or unix+shm:PATH"));
        }
        let mut builder = frisbee::Client::builder().header_form(self.arguments.header);
        builder = builder.connect_timeout(self.arguments.connect_timeout);
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone()).server_name(self.server_name());
        }
        Ok(pubsub::Client::connect_with(builder, self.address.clone()).await?)
    }
}

/// Returns the address in the environment variable `FRPC_SERVER`.
pub(crate) fn environment() -> Option<String> {
    std::env::var("FRPC_SERVER").ok().filter(|address| !address.is_empty())
}

/// Returns a transport whose frames are printed on their way to and from `io`.
fn watched(io: Transport, (schema, screen): Watcher) -> Transport {
    let (own, other) = tokio::io::duplex(READ);
    let mut conversation = WatchedConnection::new(Some(schema), None);
    tokio::spawn(async move {
        let show = |side, bytes: &[u8]| {
            conversation.feed(side, bytes).iter().for_each(|frame| screen.remark(3, || frame.text()));
        };
        match between(other, io, show).await {
            // The client has dropped its end, and reads no more.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => note(error),
            _ => {}
        }
    });
    Box::new(own)
}

/// Returns whether an address is the path of a Unix socket.
fn is_path(address: &str) -> bool {
    address.starts_with("unix:") || address.starts_with("unix+shm:")
}

/// Returns the TLS settings if TLS is enabled, either explicitly or because it is `implied`.
fn tls(arguments: &ServerArguments, implied: bool) -> Result<Option<ClientTls>, Failure> {
    if !implied && !arguments.tls && arguments.cacert.is_none() && arguments.cert.is_none() {
        return Ok(None);
    }
    let trusted = arguments.cacert.as_deref().map_or_else(of_the_system, authorities)?;
    let tls = ClientTls::new(trusted).map_err(Failure::new)?;
    let (Some(certificate), Some(key)) = (&arguments.cert, &arguments.key) else { return Ok(Some(tls)) };
    let tls = tls.with_identity(identity(certificate, key)?);
    Ok(Some(tls.map_err(|error| Failure::file(certificate, &error))?))
}

/// Returns the certificate authorities in a PEM file.
pub(crate) fn authorities(path: &Path) -> Result<Authorities, Failure> {
    Authorities::from_pem(read(path)?).map_err(|error| Failure::file(path, &error))
}

/// Returns the certificate and the private key in two PEM files.
pub(crate) fn identity(certificate: &Path, key: &Path) -> Result<Identity, Failure> {
    Identity::from_pem(read(certificate)?, read(key)?).map_err(|error| Failure::file(certificate, &error))
}

/// Returns the certificate authorities that the operating system trusts.
fn of_the_system() -> Result<Authorities, Failure> {
    let found = rustls_native_certs::load_native_certs();
    // Skip certificates that rustls cannot use, which systems may have.
    let usable = found.certs.into_iter().filter(|certificate| Authorities::new([certificate.clone()]).is_ok());
    Authorities::new(usable).map_err(|error| {
        let reasons: String = found.errors.iter().map(|error| format!("; {error}")).collect();
        Failure::new(format!(
            "cannot load the certificate authorities of the system: {error}{reasons}; specify others by --cacert FILE"
        ))
    })
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    async fn listener() -> (TcpListener, Target) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback interface should have a free port");
        let address = listener.local_addr().expect("listener should have a local address").to_string();
        (listener, target(&address))
    }

    fn target(address: &str) -> Target {
        Target::new(&ServerArguments::of(address)).expect("server address should be valid")
    }

    #[cfg(target_os = "linux")]
    #[tokio::test(start_paused = true)]
    async fn dial_waits_for_full_unix_backlog() {
        use std::future::poll_fn;
        use std::task::Poll;
        use tokio::net::{UnixSocket, UnixStream};
        let folder = tempfile::tempdir().expect("temporary folder should be created");
        let path = folder.path().join("socket");
        let socket = UnixSocket::new_stream().expect("Unix socket should be created");
        socket.bind(&path).expect("Unix socket should bind to an unused path");
        let listener = socket.listen(0).expect("bound Unix socket should listen");
        let _queued = UnixStream::connect(&path).await.expect("first client should fit into the backlog");
        let target = target(&format!("unix:{}", path.display()));
        let mut dialling = std::pin::pin!(target.dial());
        let waits = poll_fn(|context| Poll::Ready(dialling.as_mut().poll(context).is_pending()));
        assert!(waits.await, "queue should have space in time");
        drop(listener.accept().await.expect("second client should connect"));
        assert!(dialling.await.is_ok(), "connection should be accepted once there is space");
    }

    /// Regression test: a list of `ws://` addresses was accepted, and the servers were called without WebSocket.
    #[tokio::test]
    async fn list_of_web_socket_servers_is_rejected() {
        let error = target("ws://shop-1:80,ws://shop-2:80").connect_lazy().expect_err("list should be rejected");
        assert!(error.to_string().contains("name a single server"), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn silent_handshake_of_tools_times_out() {
        let (_silent, mut target) = listener().await;
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])
            .expect("self-signed certificate should be generated");
        let trusted = Authorities::new([made.cert.der().clone()]).expect("certificate should be a valid authority");
        target.tls = Some(ClientTls::new(trusted).expect("client TLS settings should be valid"));
        let dialled = timeout(2 * target.arguments.connect_timeout, target.dial())
            .await
            .expect("client should connect within the timeout");
        assert_eq!(dialled.err().map(|error| error.kind()), Some(io::ErrorKind::TimedOut));
    }
}
