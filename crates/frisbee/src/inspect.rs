//! Introspection of a running server: connections, work in progress, workers and recently closed connections.
//!
//! The state is read on demand. Nothing is recorded while packets are processed, and only one connection is locked at a
//! time.
//!
//! ```
//! use frisbee::{Handlers, Server};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), frisbee::Error> {
//! let server = Server::builder().bind("127.0.0.1:0", Handlers::new()).await?;
//! let inspector = server.inspector();
//! tokio::spawn(server.serve());
//! for listed in inspector.connections(None, 100) {
//!     println!("{}: {:?}, open for {:?}", listed.number, listed.connection.peer_addr(), listed.age);
//! }
//! # Ok(())
//! # }
//! ```

pub(crate) mod open_connections;

pub use crate::account::LastClose;
pub use crate::executor::workers::worker::WorkerView;
pub use crate::mailbox::stream::StreamView;

use crate::account::{Budget, Stats};
use crate::debug::opaque_debug;
use crate::executor::workers::WorkerWatch;
use crate::inspect::open_connections::OpenConnections;
use crate::{CloseReason, Connection, Operation, PeerKind};
use std::sync::Arc;
use std::time::Duration;

/// Maximum number of streams listed in the view of a connection. A connection may have thousands.
pub const STREAMS_SHOWN: usize = 256;

/// Inspector of a running server. Clones refer to the same server and do not keep its connections open.
#[derive(Clone)]
pub struct Inspector {
    pub(crate) budget: Arc<Budget>,
    pub(crate) open: Arc<OpenConnections>,
}

/// An open connection in the list of an [`Inspector`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedConnection {
    /// Number of the connection, which is unique within the server. Later connections have higher numbers.
    pub number: u64,
    /// Time since the connection was accepted.
    pub age: Duration,
    /// Handle of the connection, for example to close it.
    pub connection: Connection,
}

/// State of a connection; see [`view`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionView {
    /// Kind of the peer, including its HELLO if the peer supports the protocol extension.
    pub peer: PeerKind,
    /// Number of running handlers and other [tasks](Connection::spawn) of the connection.
    pub handlers: usize,
    /// Total number of open streams of the connection.
    pub stream_count: usize,
    /// The first [`STREAMS_SHOWN`] open streams of the connection.
    pub streams: Vec<StreamView>,
    /// Approximate number of bytes waiting to be written. Not exact, because the driver reports only large backlogs to
    /// handles.
    pub queued: usize,
    /// Memory charged to the connection in bytes, as part of the server's [memory](crate::ServerBuilder::memory_max).
    pub memory: usize,
    /// Operation of the packet that the router is currently handling, if any.
    pub routed: Option<Operation>,
    /// Whether the peer has announced that it accepts no more calls and streams.
    pub is_going_away: bool,
    /// Whether the connection is carried within an [adapter](crate::ServerBuilder::adapter) connection, such as a
    /// WebSocket.
    pub is_within: bool,
    /// Reason why the connection closed, if it has. [`CloseReason::OtherProtocol`] for a connection that was passed to
    /// a protocol adapter.
    pub closed: Option<CloseReason>,
}

impl Inspector {
    /// Returns the connection and traffic counters of the server.
    pub fn stats(&self) -> Stats {
        Stats(self.budget.clone())
    }

    /// Returns up to `max` open connections with numbers above `after`, in ascending order. Connections in a TLS
    /// handshake, or that have not reached their worker, are not included.
    ///
    /// The list is locked during the call, which delays new connections. Request only a few hundred at a time.
    pub fn connections(&self, after: Option<u64>, max: usize) -> Vec<ListedConnection> {
        self.open.page(after, max)
    }

    /// Returns the open connection with this number, if there is one.
    pub fn connection(&self, number: u64) -> Option<ListedConnection> {
        self.open.get(number)
    }

    /// Returns the last 64 closed connections, the latest first.
    pub fn last_closed(&self) -> Vec<LastClose> {
        self.budget.counts.last_closed()
    }

    /// Returns the worker threads of a running server. Empty if the server uses the caller's runtime or io_uring.
    pub fn workers(&self) -> Vec<WorkerView> {
        let watched = self.open.workers.get().map(Vec::as_slice).unwrap_or_default();
        watched.iter().filter_map(WorkerWatch::view).collect()
    }
}

opaque_debug!([] Inspector, "Inspector", |this| stats = this.stats());

/// Returns the current state of a connection.
pub fn view(connection: &Connection) -> ConnectionView {
    let shared = &connection.0;
    let state = shared.mailbox.lock();
    let streams: Vec<_> = state.streams.iter().take(STREAMS_SHOWN).cloned().collect();
    let (peer, stream_count, queued) = (state.peer.clone(), state.streams.len(), state.queued());
    let (is_going_away, closed) = (state.going_away, state.closed.as_deref().cloned());
    // Release the mailbox before locking the streams, because all senders of the connection contend for its lock.
    drop(state);
    ConnectionView {
        peer,
        handlers: shared.work.len(),
        stream_count,
        streams: streams.iter().map(|stream| stream.view()).collect(),
        queued,
        memory: shared.mailbox.account.charged(),
        routed: connection.routed(),
        is_going_away,
        is_within: shared.is_within,
        closed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Handlers, Packet, PacketId, Server};
    use bytes::Bytes;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn open_connection_is_listed_with_handlers() {
        let (began, mut started) = mpsc::unbounded_channel();
        let endless = move |connection, _packet| {
            began.send(connection).expect("receiver of handler starts should not be dropped");
            std::future::pending()
        };
        let acceptor = Server::builder()
            .build(Handlers::new().on(Operation::FIRST_USER, endless))
            .expect("server settings should be valid");
        let inspector = acceptor.inspector();
        assert!(inspector.connections(None, 10).is_empty());
        let (here, there) = crate::memory();
        let served = tokio::spawn(async move { acceptor.serve_connection(there).await });
        let client =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        let request = Packet { id: PacketId(1), operation: Operation::FIRST_USER, body: Bytes::new() };
        client.send(&request).await.expect("client should send the request");
        let connection = started.recv().await.expect("server should start the handler of the request");
        while connection.running() == 0 {
            tokio::task::yield_now().await;
        }
        let stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("server should open a stream");
        let listed = inspector.connections(None, 10);
        let [only] = &listed[..] else { panic!("one connection should be open: {listed:?}") };
        let seen = view(&only.connection);
        assert_eq!((seen.handlers, seen.stream_count, seen.streams.len()), (1, 1, 1));
        assert!(seen.streams[0].is_opened_here && seen.streams[0].credit.is_some_and(|credit| credit > 0));
        assert!(seen.peer.hello().is_some() && seen.closed.is_none());
        assert!(inspector.connections(Some(only.number), 10).is_empty(), "no connection should follow the only one");
        assert!(inspector.connection(only.number).is_some() && inspector.connection(only.number + 1).is_none());
        let number = only.number;
        client.close();
        served.await.expect("serving task should not panic");
        let reason = view(&connection).closed.expect("connection should have a close reason");
        drop((listed, stream, connection));
        assert!(inspector.connections(None, 10).is_empty() && inspector.connection(number).is_none());
        let last = inspector.last_closed();
        assert_eq!(last.len(), 1, "{last:?}");
        assert_eq!(last[0].reason.to_string(), reason.to_string());
    }
}
