//! Implements [`Blocked`] for a connection and its router, so that the watchdog can report them.

use crate::connection::blocked::report_later;
use crate::executor::workers::watchdog::Blocked;
use crate::{Connection, Operation, Router};
use std::net::SocketAddr;
use std::sync::Arc;

/// A connection with its router, which the watchdog notifies when one of the router's handlers blocks a thread.
pub(crate) struct DrivenConnection<R> {
    pub(crate) connection: Connection,
    pub(crate) router: Arc<R>,
}

impl<R: Router> Blocked for DrivenConnection<R> {
    fn operation(&self) -> Option<Operation> {
        self.connection.routed()
    }

    fn peer(&self) -> Option<SocketAddr> {
        self.connection.peer_addr()
    }

    fn handle(&self, operation: Operation) -> bool {
        self.router.blocked(&self.connection, operation)
    }

    fn report_later(&self, report: Box<dyn FnOnce(bool) + Send>) {
        report_later(&self.connection, report);
    }
}
