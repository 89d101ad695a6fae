//! Introspection of a running server: its connections and their work in progress, its workers, and the ends of its last
//! connections.
//!
//! Nothing is recorded for this on the path of a packet: the state is read on demand. Locks are taken for one
//! connection at a time.
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

pub use crate::budget::LastClose;
pub use crate::executor::workers::worker::WorkerView;
pub use crate::mailbox::stream::StreamView;

use crate::budget::{Budget, Stats};
use crate::debug::opaque_debug;
use crate::executor::workers::WorkerWatch;
use crate::inspect::open_connections::OpenConnections;
use crate::{CloseReason, Connection, Operation, PeerKind};
use std::sync::Arc;
use std::time::Duration;

/// How many streams of a connection are shown at most. A connection may have thousands of them.
pub const STREAMS_SHOWN: usize = 256;

/// Shows a server while it runs. Clones show the same server, and keep no connection open.
#[derive(Clone)]
pub struct Inspector {
    pub(crate) budget: Arc<Budget>,
    pub(crate) open: Arc<OpenConnections>,
}

/// A connection in the list of its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListedConnection {
    /// Distinguishes it from all others of its server, earlier and later ones; later ones have higher numbers.
    pub number: u64,
    /// The time since it was accepted.
    pub age: Duration,
    /// Its handle.
    pub connection: Connection,
}

/// The state of a connection; see [`Connection::view`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ConnectionView {
    /// The kind of the peer, and its HELLO.
    pub peer: PeerKind,
    /// Handlers that run, and other [tasks](Connection::spawn) of the connection.
    pub handlers: usize,
    /// How many streams are open.
    pub stream_count: usize,
    /// The streams that are open, the first [`STREAMS_SHOWN`] of them.
    pub streams: Vec<StreamView>,
    /// The bytes that wait to be written, as far as handles know: the driver reports large amounts.
    pub queued: usize,
    /// The bytes that are charged to the connection, of the server's [memory](crate::ServerBuilder::memory_max).
    pub memory: usize,
    /// The operation of the packet that is being routed at this moment.
    pub routed: Option<Operation>,
    /// The peer takes nothing new.
    pub is_going_away: bool,
    /// It is the part of a [adapter](crate::ServerBuilder::adapter) connection that carries frames.
    pub is_within: bool,
    /// The reason of its end, if it has ended. That of a connection which a protocol adapter serves is
    /// [`CloseReason::OtherProtocol`].
    pub closed: Option<CloseReason>,
}

impl Inspector {
    /// The counts of the server.
    pub fn stats(&self) -> Stats {
        Stats(self.budget.clone())
    }

    /// The open connections, by number, after the one with the number `after`, and `max` of them at most. Those on the
    /// way to their worker, or in a handshake of TLS, are left out.
    ///
    /// The list is locked during the call, so new connections wait: request some hundred at a time.
    pub fn connections(&self, after: Option<u64>, max: usize) -> Vec<ListedConnection> {
        self.open.page(after, max)
    }

    /// The connection with a number, if it is open.
    pub fn connection(&self, number: u64) -> Option<ListedConnection> {
        self.open.get(number)
    }

    /// The ends of the last connections, the latest first. 64 are kept.
    pub fn last_closed(&self) -> Vec<LastClose> {
        self.budget.counts.last_closed()
    }

    /// The workers of the server once it serves. None if it has no threads of its own, or these have rings.
    pub fn workers(&self) -> Vec<WorkerView> {
        let watched = self.open.workers.get().map(Vec::as_slice).unwrap_or_default();
        watched.iter().filter_map(WorkerWatch::view).collect()
    }
}

opaque_debug!([] Inspector, "Inspector", |this| stats = this.stats());

impl Connection {
    /// The present state of the connection.
    pub fn view(&self) -> ConnectionView {
        let shared = &self.0;
        let state = shared.mailbox.lock();
        let streams: Vec<_> = state.streams.iter().take(STREAMS_SHOWN).cloned().collect();
        let (peer, stream_count, queued) = (state.peer.clone(), state.streams.len(), state.queued());
        let (is_going_away, closed) = (state.going_away, state.closed.as_deref().cloned());
        drop(state);
        ConnectionView {
            peer,
            handlers: shared.work.len(),
            stream_count,
            streams: streams.iter().map(|stream| stream.view()).collect(),
            queued,
            memory: shared.mailbox.account.charged(),
            routed: self.routed(),
            is_going_away,
            is_within: shared.is_within,
            closed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Handlers, Packet, PacketId, Server};
    use bytes::Bytes;
    use tokio::sync::mpsc;

    #[tokio::test]
    async fn connection_is_listed_with_handlers_until_it_ends() {
        let (began, mut started) = mpsc::unbounded_channel();
        let endless = move |connection, _packet| {
            began.send(connection).expect("receiver should be waiting");
            std::future::pending()
        };
        let acceptor =
            Server::builder().build(Handlers::new().on(Operation::FIRST_USER, endless)).expect("it is right");
        let inspector = acceptor.inspector();
        assert!(inspector.connections(None, 10).is_empty());
        let (here, there) = crate::memory();
        let served = tokio::spawn(async move { acceptor.serve_connection(there).await });
        let client =
            Client::builder().connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
        let request = Packet { id: PacketId(1), operation: Operation::FIRST_USER, body: Bytes::new() };
        client.send(&request).await.expect("message should be sent");
        let connection = started.recv().await.expect("channel should stay open");
        while connection.running() == 0 {
            tokio::task::yield_now().await;
        }
        let stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("stream should open");
        let listed = inspector.connections(None, 10);
        let [only] = &listed[..] else { panic!("one is open: {listed:?}") };
        let view = only.connection.view();
        assert_eq!((view.handlers, view.stream_count, view.streams.len()), (1, 1, 1));
        assert!(view.streams[0].is_opened_here && view.streams[0].credit.is_some_and(|credit| credit > 0));
        assert!(view.peer.hello().is_some() && view.closed.is_none());
        assert!(inspector.connections(Some(only.number), 10).is_empty(), "there is none after it");
        assert!(inspector.connection(only.number).is_some() && inspector.connection(only.number + 1).is_none());
        let number = only.number;
        client.close();
        served.await.expect("operation should complete");
        let reason = connection.view().closed.expect("it has ended");
        drop((listed, stream, connection));
        assert!(inspector.connections(None, 10).is_empty() && inspector.connection(number).is_none());
        let last = inspector.last_closed();
        assert_eq!(last.len(), 1, "{last:?}");
        assert_eq!(last[0].reason.to_string(), reason.to_string());
    }
}
