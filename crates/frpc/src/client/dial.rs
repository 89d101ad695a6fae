//! How a channel gets to its server: by an address, by a function of the user's, or on one given transport.

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

    /// What is connected to, for messages.
    fn name(&self) -> &str;

    /// Whether no further connection can be made.
    fn is_used_up(&self) -> bool {
        false
    }
}

/// By address.
pub(crate) struct Address(String);

impl Address {
    /// An address to which there can be a connection.
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

/// By a function of the user's.
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
        let (connecting, timeout) = ((self.connector)(), self.timeout);
        Box::pin(async move {
            match tokio::time::timeout(timeout, connecting).await {
                Ok(Ok(io)) => client.connect_io(io, endpoint).await,
                Ok(Err(source)) => Err(frisbee::Error::Connect { address: CONNECTOR.into(), source }),
                Err(_) => Err(frisbee::Error::ConnectTimeout { address: CONNECTOR.into() }),
            }
        })
    }

    fn name(&self) -> &str {
        CONNECTOR
    }
}

/// On one transport, which can be used up.
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
