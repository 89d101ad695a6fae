//! Serving services.

pub(crate) mod builder;

use crate::Error;
use crate::endpoint::Endpoint;
use std::net::SocketAddr;
use tokio::io::{AsyncRead, AsyncWrite};

/// Services on a listening socket.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frpc::Error> {
/// let server = frpc::Server::builder().bind("127.0.0.1:0").await?;
/// println!("listening on {}", server.local_addr());
/// server.serve_with_shutdown(async {}).await
/// # }
/// ```
#[derive(Debug)]
pub struct Server {
    inner: frisbee::Server<Endpoint>,
}

impl Server {
    /// The address that is listened on, with the port that the system chose for port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.inner.local_addr()
    }

    /// What becomes of the connections, to be asked at any time.
    pub fn stats(&self) -> frisbee::Stats {
        self.inner.stats()
    }

    /// Serves until the future is dropped.
    ///
    /// Handlers that have to wait go on in the runtime that this is called in.
    ///
    /// # Errors
    /// If threads cannot be started. Failures to accept are retried.
    pub async fn serve(self) -> Result<(), Error> {
        Ok(self.inner.serve().await?)
    }

    /// Serves until `shutdown` is ready, then accepts no more, finishes what is in progress and closes each
    /// connection when it is idle.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        Ok(self.inner.serve_with_shutdown(shutdown).await?)
    }
}

/// Services on a Unix socket. Made by [`ServerBuilder::bind_unix`].
#[cfg(unix)]
#[derive(Debug)]
pub struct UnixServer {
    inner: frisbee::UnixServer<Endpoint>,
}

#[cfg(unix)]
impl UnixServer {
    /// What becomes of the connections, to be asked at any time.
    pub fn stats(&self) -> frisbee::Stats {
        self.inner.stats()
    }

    /// The path that is listened on.
    pub fn local_path(&self) -> &std::path::Path {
        self.inner.local_path()
    }

    /// As [`Server::serve`].
    ///
    /// # Errors
    /// As there.
    pub async fn serve(self) -> Result<(), Error> {
        Ok(self.inner.serve().await?)
    }

    /// As [`Server::serve_with_shutdown`].
    ///
    /// # Errors
    /// As there.
    pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
        Ok(self.inner.serve_with_shutdown(shutdown).await?)
    }
}

/// Services on connections that the user brings: anything that reads and writes bytes. Clones serve the same. Made by
/// [`ServerBuilder::build`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), frpc::Error> {
/// let acceptor = frpc::Server::builder().build()?;
/// let (here, there) = frpc::memory();
/// tokio::spawn(async move { acceptor.serve_connection(there).await });
/// let channel = frpc::Channel::connect_io(here).await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Acceptor {
    inner: frisbee::Acceptor<Endpoint>,
}

impl Acceptor {
    /// What becomes of the connections, to be asked at any time.
    pub fn stats(&self) -> frisbee::Stats {
        self.inner.stats()
    }

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

    /// Takes no further connections, lets those that are open finish what is in progress, and closes each when
    /// nothing is.
    pub async fn shutdown(&self) {
        self.inner.shutdown().await;
    }
}
