//! The ways from a channel to its server: an address, an endpoint, a connector, or one given transport.

use crate::endpoint::Endpoint;
use crate::resolve;
use frisbee::{Client, ClientBuilder, Connection};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
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

    /// Replaces the endpoint, whose address stays the same.
    fn update(&self, _endpoint: &Arc<resolve::Endpoint>) {}

    /// Whether no further connection can be made.
    fn is_used_up(&self) -> bool {
        false
    }
}

/// Dials an address.
pub(crate) struct Address(String);

impl Address {
    /// Checks the form of the address.
    pub(crate) fn new(address: impl Into<String>) -> Result<Self, frisbee::Error> {
        let address = address.into();
        Client::check_address(&address).map(|()| Self(address))
    }
}

impl Dialler for Address {
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        let address = self.0.clone();
        Box::pin(client.connect(address, endpoint))
    }

    fn name(&self) -> &str {
        &self.0
    }
}

/// An endpoint as its resolver last stated it.
pub(crate) struct Stated {
    address: String,
    endpoint: Mutex<Arc<resolve::Endpoint>>,
}

impl Stated {
    pub(crate) fn new(endpoint: &Arc<resolve::Endpoint>) -> Self {
        Self { address: endpoint.address().to_owned(), endpoint: Mutex::new(endpoint.clone()) }
    }

    fn get(&self) -> Arc<resolve::Endpoint> {
        self.endpoint.lock().clone()
    }

    fn set(&self, endpoint: &Arc<resolve::Endpoint>) {
        *self.endpoint.lock() = endpoint.clone();
    }
}

/// Dials an endpoint by its address.
pub(crate) struct Resolved(pub(crate) Stated);

impl Dialler for Resolved {
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        #[cfg(feature = "tls")]
        let client = match self.0.get().server_name() {
            Some(name) => client.server_name(name),
            None => client,
        };
        Box::pin(client.connect(self.0.address.clone(), endpoint))
    }

    fn name(&self) -> &str {
        &self.0.address
    }

    fn update(&self, endpoint: &Arc<resolve::Endpoint>) {
        self.0.set(endpoint);
    }
}

/// Calls a function of the program for an endpoint.
pub(crate) struct ResolvedConnector<C> {
    pub(crate) connector: Arc<C>,
    pub(crate) endpoint: Stated,
    pub(crate) timeout: Duration,
}

impl<C, F, T> Dialler for ResolvedConnector<C>
where
    C: Fn(resolve::Endpoint) -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        let connecting = (self.connector)(resolve::Endpoint::clone(&self.endpoint.get()));
        connected(connecting, self.timeout, self.name().to_owned(), client, endpoint)
    }

    fn name(&self) -> &str {
        &self.endpoint.address
    }

    fn update(&self, endpoint: &Arc<resolve::Endpoint>) {
        self.endpoint.set(endpoint);
    }
}

/// Calls a function of the program.
pub(crate) struct Connector<C> {
    pub(crate) connector: C,
    pub(crate) timeout: Duration,
}

const CONNECTOR: &str = "the connector's target";

impl<C, F, T> Dialler for Connector<C>
where
    C: Fn() -> F + Send + Sync + 'static,
    F: Future<Output = io::Result<T>> + Send + 'static,
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        connected((self.connector)(), self.timeout, CONNECTOR.to_owned(), client, endpoint)
    }

    fn name(&self) -> &str {
        CONNECTOR
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
pub(crate) struct Given<T>(pub(crate) Mutex<Option<T>>);

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> Dialler for Given<T> {
    fn dial(&self, client: ClientBuilder, endpoint: Endpoint) -> Dialling {
        let given = self.0.lock().take();
        Box::pin(async move {
            match given {
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
