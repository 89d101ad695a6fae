//! Accepting connections, and ending them in good order.

use crate::connection::Connection;
use crate::runtime::busy::BusyPoll;
use crate::runtime::engine::Engine;
use crate::runtime::timer::tokio_timer;
use crate::runtime::tokio::Driver;
use crate::stream::Budget;
use crate::workers::{Place, Pool, Workers};
use crate::{Config, Router, Runtime};
use frisbee_core::Role;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::future::{pending, poll_fn};
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// How long a shutdown lets connections finish unless told otherwise. Orchestrators give 30 s before they kill.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(20);

/// The first and the longest pause after the system has refused to accept, for want of file descriptors say.
const ACCEPT_PAUSE: (Duration, Duration) = (Duration::from_millis(5), Duration::from_secs(1));

/// How many bytes of stream messages may wait unread in a whole server, unless told otherwise.
pub(crate) const MEMORY_MAX: usize = 256 * 1024 * 1024;

/// A listening socket and what becomes of its connections.
#[derive(Debug)]
pub struct Server<R> {
    listener: TcpListener,
    local: SocketAddr,
    settings: ServerBuilder,
    router: Arc<R>,
}

/// Settings of a [`Server`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ServerBuilder {
    config: Config,
    workers: Workers,
    runtime: Runtime,
    busy_poll: Duration,
    memory_max: usize,
    shutdown_timeout: Duration,
}

impl Server<()> {
    /// Settings to begin with.
    pub fn builder() -> ServerBuilder {
        ServerBuilder {
            config: Config::default(),
            workers: Workers::default(),
            runtime: Runtime::default(),
            busy_poll: Duration::ZERO,
            memory_max: MEMORY_MAX,
            shutdown_timeout: SHUTDOWN_TIMEOUT,
        }
    }
}

impl ServerBuilder {
    /// Sets the limits and times of connections. [`Config::served`] is taken from the router.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets what drives connections. Default: [`Workers::PerCore`].
    pub fn workers(mut self, workers: Workers) -> Self {
        self.workers = workers;
        self
    }

    /// Sets what moves the bytes of connections. Default: [`Runtime::default`].
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Sets for how long each connection keeps its thread awake after something has happened on it. Default: not at
    /// all.
    ///
    /// Within that time, what arrives is answered at once, without the microseconds that waking a thread takes: for a
    /// few connections at a time that wait for each other's answers. It burns a core for as long as there is nothing
    /// to do, and slows down everything else that wants it.
    pub fn busy_poll(mut self, time: Duration) -> Self {
        self.busy_poll = time;
        self
    }

    /// Sets how many bytes of stream messages may wait unread, over all connections. Default: 256 MiB.
    pub fn memory_max(mut self, bytes: usize) -> Self {
        self.memory_max = bytes;
        self
    }

    /// Sets how long a shutdown lets connections finish. Default: 20 s.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.shutdown_timeout = timeout;
        self
    }

    /// Binds a listening socket. Several protocols on one socket are [`Mounts`](crate::Mounts), a router too.
    ///
    /// # Errors
    /// If no address can be bound, or the router finds something [wrong](Router::check) with itself.
    pub async fn bind<R: Router>(mut self, address: impl ToSocketAddrs, router: R) -> io::Result<Server<R>> {
        router.check().map_err(|wrong| io::Error::new(io::ErrorKind::InvalidInput, wrong))?;
        let listener = TcpListener::bind(address).await?;
        let local = listener.local_addr()?;
        self.config.served = router.operations().into();
        self.config.hello_items = router.hello_items();
        Ok(Server { listener, local, settings: self, router: Arc::new(router) })
    }
}

impl<R: Router> Server<R> {
    /// The address that is listened on, with the port that the system chose for port 0.
    pub fn local_addr(&self) -> SocketAddr {
        self.local
    }

    /// Serves until the future is dropped.
    ///
    /// # Errors
    /// If the workers cannot be started, or io_uring is required and does not work. Failures to accept are retried.
    ///
    /// # Cancel safety
    /// Dropping the future closes every connection at once if workers drive them; on the caller's runtime they go on.
    pub async fn serve(self) -> io::Result<()> {
        self.serve_with_shutdown(pending()).await
    }

    /// Serves until `shutdown` is ready, then accepts no more, lets connections finish what is in progress and
    /// closes each when nothing is.
    ///
    /// # Errors
    /// As [`serve`](Self::serve).
    pub async fn serve_with_shutdown(self, shutdown: impl Future<Output = ()>) -> io::Result<()> {
        let pool = Pool::start(self.settings.workers, self.settings.runtime)?;
        let acceptor = Acceptor {
            budget: Arc::new(Budget::new(self.settings.memory_max, self.settings.config.stream_buffer_max)),
            open: Arc::default(),
            runtime: Handle::current(),
            router: self.router,
            config: self.settings.config,
            busy_poll: self.settings.busy_poll,
            pool,
        };
        let mut shutdown = pin!(shutdown);
        let mut pause = ACCEPT_PAUSE.0;
        loop {
            let accepted = poll_fn(|context| match shutdown.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => self.listener.poll_accept(context).map(Some),
            });
            match accepted.await {
                None => break,
                Some(Ok((socket, peer))) => {
                    pause = ACCEPT_PAUSE.0;
                    acceptor.accept(socket, peer);
                }
                Some(Err(error)) if is_about_one_connection(&error) => {
                    tracing::debug!(%error, "a connection ended before it was accepted");
                }
                Some(Err(error)) => {
                    tracing::warn!(%error, ?pause, "accepting failed");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(ACCEPT_PAUSE.1);
                }
            }
        }
        drop(self.listener);
        acceptor.open.drain(self.settings.shutdown_timeout).await;
        Ok(())
    }
}

/// Whether accepting failed for the one connection that was to be accepted, so that the next may succeed at once.
fn is_about_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

/// Turns accepted sockets into driven connections.
struct Acceptor<R> {
    router: Arc<R>,
    config: Config,
    busy_poll: Duration,
    budget: Arc<Budget>,
    open: Arc<Open>,
    /// The runtime of the caller, where handlers that wait go on.
    runtime: Handle,
    pool: Pool,
}

impl<R: Router> Acceptor<R> {
    fn accept(&self, socket: TcpStream, peer: SocketAddr) {
        // Every write is a batch already; holding it back for more would only add delay.
        let local = socket.set_nodelay(true).and_then(|()| socket.local_addr());
        let handle = Connection::new(
            Role::Server,
            &self.config,
            self.budget.clone(),
            self.runtime.clone(),
            Some(peer),
            local.ok(),
        );
        tracing::debug!(%peer, "connection accepted");
        let entry = self.open.clone().enter(handle.clone());
        let (router, config) = (self.router.clone(), self.config.clone());
        let engine = move || Engine::new(Role::Server, &config, router, handle, Instant::now());
        let busy_poll = self.busy_poll;
        match self.pool.next() {
            Place::Caller => {
                let driver = Driver::new(socket, engine(), None, tokio_timer(), BusyPoll::new(busy_poll));
                self.runtime.spawn(tokio::task::unconstrained(async move {
                    let _entry = entry;
                    driver.run().await;
                }));
            }
            Place::Worker(worker) => {
                let context = Some(self.runtime.clone());
                // The socket belongs to the caller's reactor and has to move to the worker's.
                let socket = socket.into_std();
                worker.spawn(tokio::task::unconstrained(async move {
                    let _entry = entry;
                    match socket.and_then(TcpStream::from_std) {
                        Ok(socket) => {
                            let busy = BusyPoll::new(busy_poll);
                            Driver::new(socket, engine(), context, tokio_timer(), busy).run().await;
                        }
                        Err(error) => tracing::warn!(%error, "a connection could not be handed to its worker"),
                    }
                }));
            }
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Place::Ring(rings) => match socket.into_std() {
                Ok(socket) => rings.drive(socket, engine, self.runtime.clone(), busy_poll, entry),
                Err(error) => tracing::warn!(%error, "a connection could not be handed to its ring"),
            },
        }
    }
}

/// The connections that are open.
#[derive(Debug, Default)]
struct Open {
    connections: Mutex<HashMap<u64, Connection>>,
    next: AtomicU64,
    changed: Notify,
}

impl Open {
    fn enter(self: Arc<Self>, connection: Connection) -> Entry {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.connections.lock().insert(number, connection);
        Entry { open: self, number }
    }

    /// Closes each connection when it is idle, and those that are not in time at once.
    async fn drain(&self, timeout: Duration) {
        let all = || self.connections.lock().values().cloned().collect::<Vec<_>>();
        all().iter().for_each(Connection::close_when_idle);
        if tokio::time::timeout(timeout, self.emptied()).await.is_ok() {
            return;
        }
        let late = all();
        tracing::warn!(connections = late.len(), "shutdown: connections that did not finish in time are closed");
        late.iter().for_each(Connection::abort);
        // Closing takes no longer than lingering does; whatever does not even do that ends with the workers.
        let _ = tokio::time::timeout(Duration::from_secs(2), self.emptied()).await;
    }

    async fn emptied(&self) {
        loop {
            let changed = self.changed.notified();
            if self.connections.lock().is_empty() {
                return;
            }
            changed.await;
        }
    }
}

/// Takes a connection out of the list when its task ends, however it ends.
struct Entry {
    open: Arc<Open>,
    number: u64,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let connection = self.open.connections.lock().remove(&self.number);
        drop(connection);
        self.open.changed.notify_waiters();
    }
}
