//! Services on connections that the user brings.

use crate::endpoint::{Endpoint, Table};
use crate::{Error, ServerBuilder};
use tokio::io::{AsyncRead, AsyncWrite};

/// Services on connections that the user brings: anything that reads and writes bytes. Clones serve the same. Made by
/// [`ServerBuilder::build`].
#[derive(Clone, Debug)]
pub struct Acceptor {
    inner: frisbee::Acceptor<Endpoint>,
}

impl ServerBuilder {
    /// Makes a server without a socket, for connections that the user brings.
    ///
    /// # Errors
    /// If two services overlap, or a policy names a method that there is not.
    pub fn build(self) -> Result<Acceptor, Error> {
        let table = Table::new(self.services, self.policy, self.policies)?;
        Ok(Acceptor { inner: self.inner.build(Endpoint::serving(table)) })
    }
}

impl Acceptor {
    /// Serves a connection to its end and says why it ended; see [`frisbee::Acceptor::serve_connection`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection at once.
    pub async fn serve_connection<T>(&self, io: T) -> frisbee::CloseReason
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.inner.serve_connection(io).await
    }

    /// What becomes of the connections, to be asked at any time.
    pub fn stats(&self) -> frisbee::Stats {
        self.inner.stats()
    }
}
