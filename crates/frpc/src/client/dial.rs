//! Ways to connect to a server: by address, through a connector, or over a given transport.

use crate::endpoint::Endpoint;
use frisbee::{Client, ClientBuilder, Connection};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};

/// Future of a connection attempt in progress.
pub(crate) type Dialling = Pin<Box<dyn Future<Output = Result<Connection, frisbee::Error>> + Send>>;

/// Establishes connections to a server, one at a time.
pub(crate) struct Dialler {
    /// Name of the server for error messages.
    pub(crate) name: String,
    /// Server name to verify against the certificate. When an address is dialled, it overrides the name configured for
    /// the channel.
    pub(crate) server_name: Arc<Mutex<Option<String>>>,
    /// Whether only one connection can be established, because its transport was supplied by the program.
    pub(crate) is_single: bool,
    dial: Box<dyn Fn(ClientBuilder, Endpoint) -> Dialling + Send + Sync>,
}

/// Returns whether an address has a gRPC scheme.
pub(crate) fn is_grpc(address: &str) -> bool {
    let is_port = |rest: &str| rest.parse::<u16>().is_ok();
    // `grpc` may also be the name of a host.
    address.starts_with("grpc")
        && matches!(address.split_once(':'), Some(("grpc" | "grpcs" | "grpc+unix", rest)) if !is_port(rest))
}

impl Dialler {
    fn new(name: String, dial: impl Fn(ClientBuilder, Endpoint) -> Dialling + Send + Sync + 'static) -> Self {
        Self { name, server_name: Arc::default(), is_single: false, dial: Box::new(dial) }
    }

    /// Returns an error if the address of a native server is invalid, or if it is the address of a gRPC server.
    pub(crate) fn check_address(address: &str) -> Result<(), frisbee::Error> {
        if !is_grpc(address) {
            return Client::check_address(address);
        }
        let problem = match cfg!(feature = "grpc") {
            true => "the server uses gRPC; set it by `ChannelBuilder::grpc` for all servers of the channel",
            false => "calls to gRPC servers need the feature grpc",
        };
        let source = io::Error::new(io::ErrorKind::InvalidInput, problem);
        Err(frisbee::Error::Connect { address: address.to_owned(), source })
    }

    /// Creates a dialler for an address. Fails if the address is invalid.
    pub(crate) fn address(address: String) -> Result<Self, frisbee::Error> {
        Self::check_address(&address)?;
        let (name, server_name) = (address.clone(), Arc::<Mutex<Option<String>>>::default());
        let stated = server_name.clone();
        let dial = move |client: ClientBuilder, endpoint| -> Dialling {
            let client = match &*stated.lock() {
                #[cfg(feature = "tls")]
                Some(name) => client.server_name(name),
                _ => client,
            };
            Box::pin(client.connect(address.clone(), endpoint))
        };
        Ok(Self { server_name, ..Self::new(name, dial) })
    }

    /// Creates a dialler that obtains its transports from a function.
    pub(crate) fn connector<C, F, T>(name: impl Into<String>, connector: C) -> Self
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<T>> + Send + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let name = name.into();
        let address = name.clone();
        Self::new(name, move |client, endpoint| {
            let (connecting, address) = (connector(), address.clone());
            Box::pin(async move {
                match tokio::time::timeout(client.to_settings().connect_timeout, connecting).await {
                    Ok(Ok(io)) => client.connect_io(io, endpoint).await,
                    Ok(Err(source)) => Err(frisbee::Error::Connect { address, source }),
                    Err(_) => Err(frisbee::Error::ConnectTimeout { address }),
                }
            })
        })
    }

    /// Creates a dialler for an existing transport, which can be used only for a single connection.
    pub(crate) fn transport<T: AsyncRead + AsyncWrite + Send + Unpin + 'static>(io: T) -> Self {
        const NAME: &str = "the given transport";
        let transport = Mutex::new(Some(io));
        let dial = move |client: ClientBuilder, endpoint| -> Dialling {
            let given = transport.lock().take();
            Box::pin(async move {
                let lost =
                    || io::Error::new(io::ErrorKind::NotConnected, "the transport given to connect_io has been lost");
                let no_transport = || frisbee::Error::Connect { address: NAME.into(), source: lost() };
                client.connect_io(given.ok_or_else(no_transport)?, endpoint).await
            })
        };
        Self { is_single: true, ..Self::new(NAME.to_owned(), dial) }
    }

    /// Starts an attempt to connect to the server.
    pub(crate) fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        (self.dial)(client, endpoint)
    }
}
