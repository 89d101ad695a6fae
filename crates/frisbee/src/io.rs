//! Connections on anything that reads and writes bytes.

use crate::budget::{Budget, Stats};
use crate::connection::Connection;
use crate::runtime::busy::BusyPoll;
use crate::runtime::engine::Engine;
use crate::runtime::timer::tokio_timer;
use crate::runtime::tokio::Driver;
use crate::{ClientBuilder, CloseReason, Config, ConnectError, Router, ServerBuilder};
use frisbee_core::Role;
use std::fmt;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Handle;
use tokio::time::Instant;

/// A server without a socket, for connections that the user brings. Clones serve the same.
pub struct Acceptor<R> {
    config: Config,
    router: Arc<R>,
    budget: Arc<Budget>,
}

impl<R> Clone for Acceptor<R> {
    fn clone(&self) -> Self {
        Self { config: self.config.clone(), router: self.router.clone(), budget: self.budget.clone() }
    }
}

impl ServerBuilder {
    /// Makes a server without a socket, for connections that the user brings.
    pub fn build<R: Router>(self, router: R) -> Acceptor<R> {
        let (config, memory_max) = self.into_parts(&router);
        let budget = Arc::new(Budget::new(memory_max, config.stream_buffer_max));
        Acceptor { config, router: Arc::new(router), budget }
    }
}

impl<R: Router> Acceptor<R> {
    /// Serves a connection to its end and says why it ended. The current tokio runtime drives it.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future closes the connection at once.
    pub async fn serve_connection<T>(&self, io: T) -> CloseReason
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let handle = Connection::new(Role::Server, &self.config, self.budget.clone(), Handle::current(), None, None);
        let begun = Instant::now().into_std();
        let engine = Engine::new(Role::Server, &self.config, self.router.clone(), handle.clone(), begun);
        let driver = Driver::new(io, engine, None, tokio_timer(), BusyPoll::new(std::time::Duration::ZERO));
        let mut task = AbortOnDrop(tokio::spawn(tokio::task::unconstrained(driver.run())));
        // A router that panicked has been reported where it did.
        let _ = (&mut task.0).await;
        handle.close_reason().unwrap_or(CloseReason::Shutdown)
    }

    /// What becomes of the connections, to be asked at any time.
    pub fn stats(&self) -> Stats {
        Stats::new(self.budget.clone())
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<R> fmt::Debug for Acceptor<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acceptor").finish_non_exhaustive()
    }
}

impl ClientBuilder {
    /// Makes a connection of anything that reads and writes bytes; the current tokio runtime drives it.
    ///
    /// # Errors
    /// None today.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub async fn from_io<T, R>(self, io: T, router: R) -> Result<Connection, ConnectError>
    where
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
        R: Router,
    {
        let (config, memory_max) = self.into_parts(&router);
        let budget = Arc::new(Budget::new(memory_max, config.stream_buffer_max));
        let handle = Connection::new(Role::Client, &config, budget, Handle::current(), None, None);
        let begun = Instant::now().into_std();
        let engine = Engine::new(Role::Client, &config, Arc::new(router), handle.clone(), begun);
        let driver = Driver::new(io, engine, None, tokio_timer(), BusyPoll::new(std::time::Duration::ZERO));
        tokio::spawn(tokio::task::unconstrained(driver.run()));
        Ok(handle)
    }
}
