//! The way to a server: an address, TLS, and the form of headers.

use crate::arguments::{Header, ServerArguments};
use crate::failure::Failure;
use crate::tap::{Tap, Watcher};
use frpc::tls::{Authorities, ClientTls, Identity};
use frpc::{Channel, ChannelBuilder, HeaderForm, pubsub};
use frpc_gateway::web_socket;
use std::fs;
use std::path::Path;
use tokio::net::TcpStream;

/// The server if none is named.
const DEFAULT: &str = "localhost:8080";

/// A server.
#[derive(Clone)]
pub(crate) struct Target {
    pub(crate) address: String,
    tls: Option<ClientTls>,
    arguments: ServerArguments,
}

impl Target {
    /// The server that the arguments name.
    pub(crate) fn new(arguments: &ServerArguments) -> Result<Self, Failure> {
        let from_environment = || std::env::var("FRPC_SERVER").ok().filter(|address| !address.is_empty());
        let address = arguments.server.clone().or_else(from_environment).unwrap_or_else(|| DEFAULT.to_owned());
        if address.starts_with("wss://") {
            return Err(Failure::new("wss:// is not supported: use HOST:PORT with --tls, or ws:// through a tunnel"));
        }
        let tls = tls(arguments)?;
        if tls.is_some() && address.starts_with("ws://") {
            return Err(Failure::new("TLS is for HOST:PORT and unix:PATH; ws:// has none"));
        }
        Ok(Self { address, tls, arguments: arguments.clone() })
    }

    /// The settings of a channel.
    pub(crate) fn builder(&self) -> ChannelBuilder {
        let mut builder = Channel::builder().header_form(self.form()).connect_timeout(self.arguments.connect_timeout);
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(name) = &self.arguments.server_name {
            builder = builder.server_name(name);
        }
        builder
    }

    /// Connects, and shows the frames if there is a watcher.
    pub(crate) async fn connect(&self, builder: ChannelBuilder, watcher: Option<Watcher>) -> Result<Channel, Failure> {
        let address = self.address.clone();
        if address.starts_with("ws://") {
            let connector = move || {
                let (url, watcher) = (address.clone(), watcher.clone());
                async move { Ok(Tap::new(web_socket::connect(&url).await?, watcher)) }
            };
            return Ok(builder.connect_with_connector(connector).await?);
        }
        let Some(watcher) = watcher else { return Ok(builder.connect(address).await?) };
        if self.tls.is_some() || address.starts_with("unix:") {
            eprintln!("warning: frames are shown on TCP without TLS and on WebSocket only");
            return Ok(builder.connect(address).await?);
        }
        let connector = move || {
            let (address, watcher) = (address.clone(), watcher.clone());
            async move {
                let socket = TcpStream::connect(address).await?;
                socket.set_nodelay(true)?;
                Ok(Tap::new(socket, Some(watcher)))
            }
        };
        Ok(builder.connect_with_connector(connector).await?)
    }
}

impl Target {
    /// Connects to a broker.
    pub(crate) async fn broker(&self) -> Result<pubsub::Client, Failure> {
        if self.address.starts_with("ws://") {
            return Err(Failure::new("brokers are reached by HOST:PORT or unix:PATH"));
        }
        let mut builder = frisbee::Client::builder().header_form(self.form());
        builder = builder.connect_timeout(self.arguments.connect_timeout);
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(name) = &self.arguments.server_name {
            builder = builder.server_name(name);
        }
        Ok(pubsub::Client::connect_with_connector(builder, self.address.clone()).await?)
    }

    fn form(&self) -> HeaderForm {
        match self.arguments.header {
            Header::New => HeaderForm::Current,
            Header::Old => HeaderForm::Old,
        }
    }
}

fn tls(arguments: &ServerArguments) -> Result<Option<ClientTls>, Failure> {
    if !arguments.tls && arguments.cacert.is_none() && arguments.cert.is_none() {
        return Ok(None);
    }
    let Some(authorities) = &arguments.cacert else {
        return Err(Failure::new("TLS needs --cacert FILE: the authorities that may have certified the server"));
    };
    let wrong = |path: &Path, error: &dyn std::fmt::Display| Failure::new(format!("{}: {error}", path.display()));
    let trusted = Authorities::from_pem(read(authorities)?).map_err(|error| wrong(authorities, &error))?;
    let tls = ClientTls::new(trusted).map_err(|error| wrong(authorities, &error))?;
    let (Some(certificate), Some(key)) = (&arguments.cert, &arguments.key) else { return Ok(Some(tls)) };
    let identity = Identity::from_pem(read(certificate)?, read(key)?).map_err(|error| wrong(certificate, &error))?;
    Ok(Some(tls.with_identity(identity).map_err(|error| wrong(certificate, &error))?))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|error| Failure::file(path, &error))
}
