//! Tests of routers without sockets.
//!
//! Tests call the methods of a [`Router`] directly, in any order, and read the packets in its outbox.
//! [`DetachedConnection`] provides the connection that the methods require.

use crate::account::Budget;
use crate::mailbox::Order;
use crate::transport::endpoint::EndpointInfo;
use crate::{BatchEnd, CloseReason, Connection, Outbox, Router};
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Handle;

/// A connection without a driver or socket, which is driven by a test. Clones refer to the same connection.
///
/// ```
/// use frisbee::testing::DetachedConnection;
/// use frisbee::{Connection, Operation, Outbox, Packet, PacketId, Router, Routed, BatchEnd};
/// use std::time::Instant;
///
/// /// Answers all packets of a turn with their number.
/// struct Count;
///
/// impl Router for Count {
///     type Session = u8;
///
///     fn connected(&self, _connection: &Connection) -> u8 {
///         0
///     }
///
///     fn route(&self, count: &mut u8, _packet: Packet, _outbox: &mut Outbox) -> Routed {
///         *count += 1;
///         Routed::Continue
///     }
///
///     fn batch_ended(&self, count: &mut u8, batch: &mut BatchEnd<'_>) -> Option<Instant> {
///         batch.outbox.push(PacketId(0), Operation::FIRST_USER, vec![*count]).ok()?;
///         None
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let detached = DetachedConnection::new(tokio::runtime::Handle::current(), 1 << 20);
/// let (mut session, mut outbox) = (Count.connected(detached.connection()), Outbox::default());
/// for _ in 0..3 {
///     let packet = Packet::new(PacketId(1), Operation::FIRST_USER, "x");
///     assert!(matches!(Count.route(&mut session, packet, &mut outbox), Routed::Continue));
/// }
/// assert!(outbox.is_empty());
/// assert!(!detached.batch_ended(&Count, &mut session, &mut outbox));
/// assert_eq!(outbox.take_bytes().last(), Some(&3));
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct DetachedConnection(Connection);

impl DetachedConnection {
    /// Creates a connection of a server with a memory limit in bytes. Tasks of the connection run on `runtime`.
    pub fn new(runtime: Handle, memory_max: usize) -> Self {
        let budget = Arc::new(Budget::new(memory_max, 0));
        Self(Connection::server(&Default::default(), &budget, runtime, EndpointInfo::default()))
    }

    /// Returns the connection handle to pass to the router.
    pub fn connection(&self) -> &Connection {
        &self.0
    }

    /// Calls the router's [`Router::batch_ended`] and returns whether the router has requested [another
    /// call](BatchEnd::again_when_written).
    pub fn batch_ended<R: Router>(&self, router: &R, session: &mut R::Session, outbox: &mut Outbox) -> bool {
        let mut batch = BatchEnd { now: Instant::now(), outbox, when_written: false };
        router.batch_ended(session, &mut batch);
        batch.when_written
    }

    /// Returns whether the connection was [woken](crate::rpc::ConnectionExt::wake) or a packet was sent on it since the
    /// last call.
    pub fn take_wake(&self) -> bool {
        let woken = self.0.0.mailbox.is_notified();
        drop(self.0.0.mailbox.lock_by_task());
        woken
    }

    /// Returns the close reason if the router or a handle has requested that the connection be closed.
    pub fn closing(&self) -> Option<CloseReason> {
        match self.0.0.mailbox.lock().order.as_deref() {
            Some(Order::WhenIdle(reason) | Order::Flush(reason) | Order::Now(reason)) => Some(reason.clone()),
            Some(Order::HandOver) | None => None,
        }
    }

    /// Ends the connection for its handles, like a driver does after calling [`disconnected`](Router::disconnected).
    pub fn end(&self, reason: &CloseReason) {
        self.0.0.mailbox.close(reason);
        self.0.0.attachments.handle_close(reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SendError;
    use crate::connection::ConnectionExt;

    #[tokio::test]
    async fn detached_connection_reports_wakes_and_its_end() {
        let detached = DetachedConnection::new(Handle::current(), 1000);
        assert!(!detached.take_wake() && detached.closing().is_none());
        detached.connection().wake();
        assert!(detached.take_wake() && !detached.take_wake());
        detached.connection().abort_for("too slow");
        assert!(detached.closing().is_some_and(|reason| reason.to_string().contains("too slow")));
        detached.end(&CloseReason::ClosedByPeer);
        let sent = detached.connection().send_now(|_| ());
        assert!(matches!(sent, Err(SendError::Closed(CloseReason::ClosedByPeer))), "{sent:?}");
    }
}
