//! Dialling.

use crate::connection::Connection;
use crate::runtime::busy::BusyPoll;
use crate::runtime::engine::Engine;
use crate::runtime::timer::tokio_timer;
use crate::runtime::tokio::Driver;
use crate::server::MEMORY_MAX;
use crate::stream::Budget;
use crate::workers::{Place, Pool, Workers};
use crate::{Config, ConnectError, HeaderForm, Router, Runtime};
use frisbee_core::Role;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fmt, io};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio::runtime::Handle;

/// How long connecting may take unless told otherwise.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The dialling end.
#[derive(Debug)]
pub struct Client(());

/// Settings of a [`Client`].
#[derive(Clone, Debug)]
#[must_use]
pub struct ClientBuilder {
    config: Config,
    connect_timeout: Duration,
    memory_max: usize,
    runtime: Runtime,
    busy_poll: Duration,
}

impl Client {
    /// Settings to begin with.
    pub fn builder() -> ClientBuilder {
        ClientBuilder {
            config: Config::default(),
            connect_timeout: CONNECT_TIMEOUT,
            memory_max: MEMORY_MAX,
            runtime: Runtime::default(),
            busy_poll: Duration::ZERO,
        }
    }
}

impl ClientBuilder {
    /// Sets the limits and times of the connection.
    pub fn config(mut self, config: Config) -> Self {
        self.config = config;
        self
    }

    /// Sets the form of headers to speak: [`HeaderForm::Old`] for servers on frisbee-go up to v0.10.2.
    pub fn header_form(mut self, form: HeaderForm) -> Self {
        self.config.header_form = form;
        self
    }

    /// Sets how long connecting may take, name resolution included. Default: 10 s.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how many bytes of stream messages may wait unread on the connection. Default: 256 MiB.
    pub fn memory_max(mut self, bytes: usize) -> Self {
        self.memory_max = bytes;
        self
    }

    /// Sets what moves the bytes of the connection. By default, and with [`Runtime::Auto`], it is the current tokio
    /// runtime.
    ///
    /// With [`Runtime::Uring`] it is threads that all such connections of the process share. What is sent and
    /// received then crosses threads, which measures dearer unless very many calls are in flight.
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Sets for how long the connection keeps its thread awake after something has happened on it. Default: not at
    /// all. See [`ServerBuilder::busy_poll`](crate::ServerBuilder::busy_poll).
    pub fn busy_poll(mut self, time: Duration) -> Self {
        self.busy_poll = time;
        self
    }

    /// Connects; the current tokio runtime drives the connection.
    ///
    /// # Errors
    /// If no address accepts the connection in time, io_uring is required and does not work, or the router finds
    /// something [wrong](Router::check) with itself.
    pub async fn connect<R: Router>(
        mut self,
        address: impl ToSocketAddrs + fmt::Display,
        router: R,
    ) -> Result<Connection, ConnectError> {
        let name = address.to_string();
        router.check().map_err(|wrong| {
            let source = io::Error::new(io::ErrorKind::InvalidInput, wrong);
            ConnectError::Io { address: name.clone(), source }
        })?;
        self.config.hello_items = router.hello_items();
        let pool = Pool::start(Workers::Caller, self.runtime)
            .map_err(|source| ConnectError::Io { address: name.clone(), source })?;
        let socket = match tokio::time::timeout(self.connect_timeout, TcpStream::connect(address)).await {
            Err(_) => return Err(ConnectError::Timeout { address: name }),
            Ok(Err(source)) => return Err(ConnectError::Io { address: name, source }),
            Ok(Ok(socket)) => socket,
        };
        let failed = |source| ConnectError::Io { address: name.clone(), source };
        socket.set_nodelay(true).map_err(failed)?;
        let (peer, local) = (socket.peer_addr().map_err(failed)?, socket.local_addr().map_err(failed)?);
        let budget = Arc::new(Budget::new(self.memory_max, self.config.stream_buffer_max));
        let handle = Connection::new(Role::Client, &self.config, budget, Handle::current(), Some(peer), Some(local));
        let (config, router, shared) = (self.config, Arc::new(router), handle.clone());
        let engine = move || Engine::new(Role::Client, &config, router, shared, Instant::now());
        match pool.next() {
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Place::Ring(rings) => {
                let socket = socket.into_std().map_err(failed)?;
                rings.drive(socket, engine, Handle::current(), self.busy_poll, ());
            }
            Place::Caller | Place::Worker(_) => {
                let driver = Driver::new(socket, engine(), None, tokio_timer(), BusyPoll::new(self.busy_poll));
                tokio::spawn(tokio::task::unconstrained(driver.run()));
            }
        }
        tracing::debug!(%peer, "connected");
        Ok(handle)
    }
}
