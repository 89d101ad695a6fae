//! The ways from a channel to its server: an address, a connector, or one given transport.

use crate::endpoint::Endpoint;
use frisbee::{Client, ClientBuilder, Connection};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};

/// A connection in the making.
pub(crate) type Dialling = Pin<Box<dyn Future<Output = Result<Connection, frisbee::Error>> + Send>>;

/// Makes connections, one at a time.
pub(crate) trait Dialler: Send + Sync + 'static {
    /// Makes the next connection.
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling;

    /// The name of the server, for error texts.
    fn name(&self) -> &str;

    /// Sets the name in the server's certificate for further connections.
    fn set_server_name(&self, _name: Option<&str>) {}

    /// Whether no further connection can be made.
    fn is_used_up(&self) -> bool {
        false
    }
}

/// Dials an address.
pub(crate) struct Address {
    address: String,
    /// The name in the server's certificate, in place of that of the channel.
    server_name: Mutex<Option<String>>,
}

impl Address {
    /// Checks the form of the address.
    pub(crate) fn new(address: impl Into<String>) -> Result<Self, frisbee::Error> {
        let address = address.into();
        Client::check_address(&address)?;
        Ok(Self { address, server_name: Mutex::default() })
    }
}

impl Dialler for Address {
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        #[cfg(feature = "tls")]
        let client = match &*self.server_name.lock() {
            Some(name) => client.server_name(name),
            None => client,
        };
        Box::pin(client.connect(self.address.clone(), endpoint))
    }

    fn name(&self) -> &str {
        &self.address
    }

    fn set_server_name(&self, name: Option<&str>) {
        *self.server_name.lock() = name.map(str::to_owned);
    }
}

/// Calls a function of the program.
pub(crate) struct Connector<C> {
    pub(crate) name: String,
    pub(crate) connector: C,
    pub(crate) timeout: Duration,
}

/// The name of a server that a connector reaches.
pub(crate) const CONNECTOR: &str = "the server";

impl<C, F, T> Dialler for Connector<C>
where
    C: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        connected((self.connector)(), self.timeout, self.name.clone(), client, endpoint)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

/// Connects over the transport that a function of the program makes.
fn connected<T>(
    connecting: impl Future<Output = io::Result<T>> + Send + 'static,
    timeout: Duration,
    address: String,
    client: ClientBuilder,
    endpoint: Endpoint,
) -> Dialling
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    Box::pin(async move {
        match tokio::time::timeout(timeout, connecting).await {
            Ok(Ok(io)) => client.connect_io(io, endpoint).await,
            Ok(Err(source)) => Err(frisbee::Error::Connect { address, source }),
            Err(_) => Err(frisbee::Error::ConnectTimeout { address }),
        }
    })
}

/// Uses one transport, once.
pub(crate) struct SingleTransport<T>(pub(crate) Mutex<Option<T>>);

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Dialler for SingleTransport<T> {
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        let dialled = self.0.lock().take();
        Box::pin(async move {
            match dialled {
                Some(io) => client.connect_io(io, endpoint).await,
                None => {
                    let source =
                        io::Error::new(io::ErrorKind::NotConnected, "the transport given to connect_io has been lost");
                    Err(frisbee::Error::Connect { address: "the given transport".into(), source })
                }
            }
        })
    }

    fn name(&self) -> &str {
        "the given transport"
    }

    fn is_used_up(&self) -> bool {
        self.0.lock().is_none()
    }
}
