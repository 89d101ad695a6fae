//! The way to a server: an address, TLS, and the form of headers.

use crate::arguments::{Header, ServerArguments};
use crate::failure::Failure;
use frpc::tls::{Authorities, ClientTls, Identity};
use frpc::{Channel, ChannelBuilder, HeaderForm};
use frpc_gateway::web_socket;
use std::fs;
use std::path::Path;

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
        let form = match self.arguments.header {
            Header::New => HeaderForm::Current,
            Header::Old => HeaderForm::Old,
        };
        let mut builder = Channel::builder().header_form(form).connect_timeout(self.arguments.connect_timeout);
        if let Some(tls) = &self.tls {
            builder = builder.tls(tls.clone());
        }
        if let Some(name) = &self.arguments.server_name {
            builder = builder.server_name(name);
        }
        builder
    }

    /// Connects.
    pub(crate) async fn connect(&self, builder: ChannelBuilder) -> Result<Channel, Failure> {
        let connected = if self.address.starts_with("ws://") {
            let url = self.address.clone();
            let connector = move || {
                let url = url.clone();
                async move { web_socket::connect(&url).await }
            };
            builder.connect_with_connector(connector).await
        } else {
            builder.connect(self.address.clone()).await
        };
        Ok(connected?)
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
