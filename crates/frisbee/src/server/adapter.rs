//! Server settings for other protocols.

use crate::adapter::peers::{AdapterListener, AdapterPeers};
use crate::adapter::{AdapterContext, ProtocolAdapter};
use crate::{RawTransport, ServerBuilder};
use std::io;
use std::sync::Arc;

impl ServerBuilder {
    /// Adds a handler of adapter connections, which are connections that begin with something other than a frame.
    /// Defaults to none. Without a handler, such a connection is closed with a reason that names the protocol if it is
    /// recognised.
    ///
    /// `accepts` decides by the first bytes, possibly a single one. It is called once per connection. If there are
    /// several handlers, the first that accepts serves the connection. `serve` reads these bytes again. It runs in the
    /// task of the connection on its worker, or on the runtime of the caller if io_uring drives connections.
    ///
    /// An adapter connection is counted in [`Stats`](crate::Stats), as [`CloseKind::OtherProtocol`](crate::CloseKind)
    /// if it ends without an error. A [shutdown](crate::Server::serve_with_shutdown) waits for it and drops handlers
    /// that do not return in time. The session of the router ends with
    /// [`CloseReason::OtherProtocol`](crate::CloseReason). A client that sends nothing is subject to
    /// [`first_header_timeout`](Self::first_header_timeout). After its first byte, the handler must enforce timeouts.
    /// With TLS, `accepts` sees the bytes that follow the handshake.
    ///
    /// Frames begin with a zero byte, so adapters never receive connections that do. In the old header format, which
    /// has no magic number, a first id above 255 could resemble another protocol, but clients count ids from 0.
    ///
    /// ```
    /// use frisbee::{Handlers, Server};
    /// use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::builder()
    ///     .adapter(
    ///         |beginning| beginning[0].is_ascii_uppercase(),
    ///         async |transport, context| {
    ///             let mut line = String::new();
    ///             let mut transport = BufReader::new(transport.take(1024));
    ///             transport.read_line(&mut line).await?;
    ///             let peer = context.connection().peer_addr();
    ///             let mut transport = transport.into_inner().into_inner();
    ///             transport.write_all(format!("{} from {peer:?}\n", line.trim()).as_bytes()).await
    ///         },
    ///     )
    ///     .bind("127.0.0.1:0", Handlers::new())
    ///     .await?;
    /// # let address = server.local_addr();
    /// # tokio::spawn(server.serve());
    /// # let mut client = tokio::net::TcpStream::connect(address).await?;
    /// # client.write_all(b"HELLO\n").await?;
    /// # let mut answer = String::new();
    /// # client.read_to_string(&mut answer).await?;
    /// # assert!(answer.starts_with("HELLO from Some(127.0.0.1:"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn adapter<A, S, F>(mut self, accepts: A, serve: S) -> Self
    where
        A: Fn(&[u8]) -> bool + Send + Sync + 'static,
        S: Fn(RawTransport, AdapterContext) -> F + Send + Sync + 'static,
        F: Future<Output = io::Result<()>> + Send + 'static,
    {
        Arc::make_mut(&mut self.added).adapters.push(ProtocolAdapter::new(accepts, serve));
        self
    }

    /// Adds a listener for adapter peers without connections, such as a UDP socket. Defaults to none.
    ///
    /// `listen` creates a future that runs on the runtime of the caller while the server serves. The future
    /// [admits](AdapterPeers::enter) each peer before it serves the peer. Once [`stopping`](AdapterPeers::stopping)
    /// completes, it should finish its work in progress and return. A shutdown waits for it, up to the
    /// [`shutdown_timeout`](Self::shutdown_timeout).
    ///
    /// ```
    /// use frisbee::{Handlers, Server};
    /// use std::sync::Arc;
    /// use tokio::net::UdpSocket;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await?);
    /// let address = socket.local_addr()?;
    /// let server = Server::builder().adapter_listener(move |peers| {
    ///     let socket = socket.clone();
    ///     async move {
    ///         let mut datagram = [0; 1500];
    ///         while let Ok((length, peer)) = socket.recv_from(&mut datagram).await {
    ///             let Some(context) = peers.enter(peer, Some(address)) else { continue };
    ///             if !context.is_overloaded() {
    ///                 let _ = socket.send_to(&datagram[..length], peer).await;
    ///             }
    ///         }
    ///     }
    /// });
    /// let server = server.bind("127.0.0.1:0", Handlers::new()).await?;
    /// # tokio::spawn(server.serve());
    /// # let client = UdpSocket::bind("127.0.0.1:0").await?;
    /// # client.send_to(b"hello", address).await?;
    /// # assert_eq!(client.recv(&mut [0; 100]).await?, 5);
    /// # Ok(())
    /// # }
    /// ```
    pub fn adapter_listener<L, F>(mut self, listen: L) -> Self
    where
        L: Fn(AdapterPeers) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        Arc::make_mut(&mut self.added).listeners.push(AdapterListener::new(listen));
        self
    }
}
