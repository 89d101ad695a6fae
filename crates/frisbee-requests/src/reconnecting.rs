//! A client that replaces lost connections.

use crate::Backoff;
use frisbee::rpc::ParkedFuture;
use frisbee::{Client, ClientBuilder, Connection, Error, Router};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Maximum pause before the second connection attempt. It doubles with each further attempt.
const PAUSE_MIN: Duration = Duration::from_millis(50);

/// Maximum pause between connection attempts. A connection that is lost within this time counts as a failed attempt.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// A client that connects in the background and replaces lost connections.
///
/// Clones share the connection, which is closed when the last clone is dropped. Requests are never resent
/// automatically: requests on a lost connection fail, and [`RequestError::was_sent`](crate::RequestError::was_sent)
/// tells which can safely be retried.
///
/// ```
/// use frisbee::{Client, Handlers, Operation, Packet, Server};
/// use frisbee_requests::{ReconnectingClient, RequestError, Requester};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let echo = Operation::user(10).expect("operation number should be in the user range");
/// # let router = Handlers::new().on(echo, |_connection, packet| async { Some(packet) });
/// # let server = Server::builder().bind("127.0.0.1:0", router).await?;
/// # let address = server.local_addr().to_string();
/// # tokio::spawn(server.serve());
/// let requests = Requester::new();
/// let client = ReconnectingClient::new(Client::builder(), address, requests.clone())?;
/// let reply = loop {
///     match requests.call(&client.connection().await, echo, "hello").await {
///         Err(RequestError::NotSent(_)) => continue, // On the next connection.
///         replied => break replied?,
///     }
/// };
/// assert_eq!(reply.body, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct ReconnectingClient {
    state: watch::Receiver<State>,
    _task: Arc<AbortOnDrop>,
}

/// State of a [`ReconnectingClient`] that its clones share.
#[derive(Clone, Default)]
struct State {
    connection: Option<Connection>,
    /// Last error that has occurred since a connection was last established.
    last_error: Option<Arc<Error>>,
}

impl ReconnectingClient {
    /// Connects in the background with the settings of `builder`, and reconnects whenever the connection is lost. All
    /// connections share the router. Addresses have the forms of [`ClientBuilder::connect`]. Failed attempts are
    /// followed by a pause of up to 5 s. A connection that is lost within 5 s counts as a failed attempt.
    ///
    /// ```
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// use frisbee::Client;
    /// use frisbee_requests::{ReconnectingClient, Requester};
    ///
    /// let client = ReconnectingClient::new(Client::builder(), "127.0.0.1:8080", Requester::new())?;
    /// let connection = client.connection().await;
    /// # let _ = connection;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the address is malformed, or the router reports a [defect](frisbee::Declaration::check).
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new<R: Router>(builder: ClientBuilder, address: impl Into<String>, router: R) -> Result<Self, Error> {
        let address = address.into();
        Client::check_address(&address)?;
        router.declaration().check()?;
        let (sender, state) = watch::channel(State::default());
        let task = tokio::spawn(keep_connected(builder, address, Arc::new(router), sender));
        Ok(Self { state, _task: Arc::new(AbortOnDrop(task)) })
    }

    /// Returns the open connection. Waits for one without a limit; use [`tokio::time::timeout`] to bound the wait.
    ///
    /// ```
    /// # async fn example(client: frisbee_requests::ReconnectingClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let connection = client.connection().await;
    /// # let _ = connection;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Cancel safety
    /// Safe. Dropping the future has no effect.
    pub async fn connection(&self) -> Connection {
        let mut state = self.state.clone();
        loop {
            if let Some(connection) = state.borrow_and_update().open() {
                return connection.clone();
            }
            if state.changed().await.is_err() {
                // Wait forever, because the runtime that drives the connection has shut down.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Returns the open connection, if any.
    ///
    /// ```
    /// # async fn example(client: frisbee_requests::ReconnectingClient) -> Result<(), Box<dyn std::error::Error>> {
    /// if client.current().is_none() {
    ///     println!("not connected: {:?}", client.last_error());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn current(&self) -> Option<Connection> {
        self.state.borrow().open().cloned()
    }

    /// Returns the error of the last attempt to connect. `None` once an attempt has succeeded.
    ///
    /// ```
    /// # async fn example(client: frisbee_requests::ReconnectingClient) -> Result<(), Box<dyn std::error::Error>> {
    /// if let Some(error) = client.last_error() {
    ///     println!("{error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn last_error(&self) -> Option<Arc<Error>> {
        self.state.borrow().last_error.clone()
    }
}

impl fmt::Debug for ReconnectingClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReconnectingClient").field("connection", &self.current()).finish_non_exhaustive()
    }
}

impl State {
    fn open(&self) -> Option<&Connection> {
        self.connection.as_ref().filter(|connection| !connection.is_closed())
    }
}

async fn keep_connected<R: Router>(
    builder: ClientBuilder,
    address: String,
    router: Arc<R>,
    state: watch::Sender<State>,
) {
    let backoff = Backoff::new(PAUSE_MIN, PAUSE_MAX);
    let mut attempt = 0;
    loop {
        let (builder, target, router) = (builder.clone(), address.clone(), router.clone());
        let connecting = ParkedFuture::new(async move { builder.connect_shared(target.as_str(), router).await });
        // Treat a panic in the router as a failed attempt, because it would end the reconnect task.
        let connected = connecting.await.unwrap_or_else(|_| {
            Err(Error::Connect { address: address.clone(), source: io::Error::other("the router panicked") })
        });
        match connected {
            Ok(connection) => {
                let (made, closing) = (Instant::now(), CloseOnDrop(connection.clone()));
                state.send_replace(State { connection: Some(connection), last_error: None });
                let reason = closing.0.closed().await;
                tracing::debug!(%reason, address, "connection lost, reconnecting");
                if made.elapsed() >= PAUSE_MAX {
                    attempt = 0;
                }
            }
            Err(error) => {
                tracing::debug!(%error, address, attempt, "connecting failed");
                state.send_replace(State { connection: None, last_error: Some(Arc::new(error)) });
            }
        }
        tokio::time::sleep(backoff.pause(attempt)).await;
        attempt += 1;
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct CloseOnDrop(Connection);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frisbee::{Handlers, Outbox, Packet, Routed, Server};
    use std::net::SocketAddr;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn connect(address: String) -> ReconnectingClient {
        ReconnectingClient::new(Client::builder(), address, Handlers::new())
            .expect("address and settings should be valid")
    }

    async fn server(address: SocketAddr) -> (SocketAddr, JoinHandle<()>) {
        let server =
            Server::builder().bind(address, Handlers::new()).await.expect("server should bind to a free address");
        let address = server.local_addr();
        (address, tokio::spawn(async move { server.serve().await.expect("server should keep accepting") }))
    }

    #[tokio::test]
    async fn lost_connection_is_replaced() {
        let (address, first) = server(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let client = connect(address.to_string());
        let connection = client.connection().await;
        assert!(client.current().is_some() && client.last_error().is_none());
        first.abort();
        connection.closed().await;
        assert!(client.current().is_none());
        let _ = first.await;
        let (_, _second) = server(address).await;
        assert!(!client.connection().await.is_closed());
    }

    /// Router that panics at its first connection.
    #[derive(Default)]
    struct Panicking(AtomicBool);

    impl Router for Panicking {
        type Session = ();

        fn connected(&self, _connection: &Connection) {
            assert!(self.0.swap(true, Ordering::Relaxed), "router panics on request of the test");
        }

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }
    }

    /// Regression test: the panic ended the reconnect task, so callers waited forever.
    #[tokio::test]
    async fn panicking_router_is_connected_again() {
        let (address, _serving) = server(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let client = ReconnectingClient::new(Client::builder(), address.to_string(), Panicking::default());
        let client = client.expect("address and settings should be valid");
        let connected = tokio::time::timeout(Duration::from_secs(60), client.connection()).await;
        assert!(!connected.expect("client should connect").is_closed());
    }

    #[tokio::test]
    async fn dropped_client_closes_its_connection() {
        let (address, _serving) = server(SocketAddr::from(([127, 0, 0, 1], 0))).await;
        let client = connect(address.to_string());
        let connection = client.connection().await;
        let clone = client.clone();
        drop(client);
        assert!(clone.current().is_some());
        drop(clone);
        connection.closed().await;
    }

    /// Regression test: a client dialled about 30 times per second if its connections were accepted and closed at once.
    #[tokio::test(start_paused = true)]
    async fn short_connections_are_redialled_with_pauses() {
        let listener =
            tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("socket should bind to the loopback address");
        let started = Instant::now();
        let _client = connect(listener.local_addr().expect("socket should have a local address").to_string());
        for _ in 0..20 {
            drop(listener.accept().await.expect("client should connect"));
        }
        assert!(started.elapsed() > 5 * PAUSE_MAX, "{:?}", started.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn failed_attempts_are_reported_and_repeated() {
        let client = connect("unix:/nonexistent/socket".to_owned());
        let mut state = client.state.clone();
        for _ in 0..10 {
            state.changed().await.expect("connection state should change");
            assert!(client.last_error().is_some() && client.current().is_none());
        }
    }
}
