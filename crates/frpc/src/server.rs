//! Servers on TCP sockets, Unix sockets, or connections supplied by the program.

pub(crate) mod adapter;
pub(crate) mod builder;
pub(crate) mod inspect;

use crate::Error;
use crate::api::BoxFuture;
use crate::endpoint::Endpoint;
use crate::endpoint::offer::ServiceOffer;
use crate::server::inspect::Inspector;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::oneshot;

/// A server on a listening TCP socket.
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
    offer: Arc<ServiceOffer>,
}

impl Server {
    /// Returns the address of the listening socket. If the server was bound to port 0, the address contains the port
    /// that the system has chosen.
    pub fn local_addr(&self) -> SocketAddr {
        self.inner.local_addr()
    }
}

/// Defines the methods for inspecting a server's connections.
macro_rules! observe_connections {
    ($server:ty) => {
        impl $server {
            /// Returns the counters of the server's connections, which can be read at any time.
            pub fn stats(&self) -> frisbee::Stats {
                self.inner.stats()
            }

            /// Returns an inspector of the open connections. It also shows the calls on them if the server is
            /// [inspectable](crate::ServerBuilder::inspectable).
            pub fn inspector(&self) -> Inspector {
                Inspector::new(self.inner.inspector(), self.offer.clone())
            }
        }
    };
}

/// Defines the serving methods of servers that have a listening socket.
macro_rules! serve {
    ($server:ty) => {
        impl $server {
            /// Serves connections until the future is dropped.
            ///
            /// Pending handlers run on the caller's runtime.
            ///
            /// # Errors
            /// If threads cannot be started. Failures to accept a connection are retried.
            ///
            /// # Cancel safety
            /// Dropping the future closes all connections.
            pub async fn serve(self) -> Result<(), Error> {
                let (_stop, stopped) = oneshot::channel();
                self.serve_until(stopped).await
            }

            /// Serves connections until `shutdown` completes. The server then stops accepting connections after
            /// [`drain_delay`](crate::ServerBuilder::drain_delay), waits for the calls in progress, and closes each
            /// connection when it is idle.
            ///
            /// ```
            /// # async fn example(server: frpc::Server) -> Result<(), Box<dyn std::error::Error>> {
            /// use std::time::Duration;
            ///
            /// server.serve_with_shutdown(tokio::time::sleep(Duration::from_secs(60))).await?;
            /// # Ok(())
            /// # }
            /// ```
            ///
            /// # Errors
            /// Like [`serve`](Self::serve).
            ///
            /// # Cancel safety
            /// Like [`Server::serve`].
            pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> Result<(), Error> {
                let (stop, stopped) = oneshot::channel();
                let (mut serving, mut shutdown) = (self.serve_until(stopped), pin!(shutdown));
                let ended = poll_fn(|context| match serving.as_mut().poll(context) {
                    Poll::Ready(ended) => Poll::Ready(Some(ended)),
                    Poll::Pending => shutdown.as_mut().poll(context).map(|()| None),
                });
                if let Some(ended) = ended.await {
                    return ended;
                }
                drop(stop);
                serving.await
            }

            /// Serves connections until the sender of `stop` is dropped. The future is boxed, so that the server's code
            /// is not compiled again in each program.
            fn serve_until(self, stop: oneshot::Receiver<()>) -> BoxFuture<'static, Result<(), Error>> {
                let Self { inner, offer } = self;
                let stopped = async move {
                    let _ = stop.await;
                    offer.stopping().await;
                };
                Box::pin(async move { Ok(inner.serve_with_shutdown(stopped).await?) })
            }
        }
    };
}

observe_connections!(Server);
serve!(Server);
#[cfg(unix)]
observe_connections!(UnixServer);
#[cfg(unix)]
serve!(UnixServer);
observe_connections!(Acceptor);

/// A server on a Unix socket. Created by [`ServerBuilder::bind_unix`](crate::ServerBuilder::bind_unix).
#[cfg(unix)]
#[derive(Debug)]
pub struct UnixServer {
    inner: frisbee::UnixServer<Endpoint>,
    offer: Arc<ServiceOffer>,
}

#[cfg(unix)]
impl UnixServer {
    /// Returns the path that the Unix socket is bound to.
    pub fn local_path(&self) -> &std::path::Path {
        self.inner.local_path()
    }
}

/// A server on connections that the program supplies. A connection may be any byte stream. Clones share the services.
/// Created by [`ServerBuilder::build`](crate::ServerBuilder::build).
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
    offer: Arc<ServiceOffer>,
}

impl Acceptor {
    /// Serves a connection over `io` until it closes, and returns the close reason; see
    /// [`frisbee::Acceptor::serve_connection`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection immediately.
    pub async fn serve_connection<T>(&self, io: T) -> frisbee::CloseReason
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        self.inner.serve_connection(io).await
    }

    /// Rejects new connections, waits for the calls in progress on open ones, and closes each connection once it is
    /// idle.
    ///
    /// # Cancel safety
    /// Dropping the future stops waiting. Connections are still closed when they are idle, without a time limit. If a
    /// service [performs work before the shutdown](crate::codegen::Lifecycle::stopping), the shutdown does not begin
    /// until that work is done. The method may be called again.
    pub async fn shutdown(&self) {
        self.offer.stopping().await;
        self.inner.shutdown().await;
    }
}
