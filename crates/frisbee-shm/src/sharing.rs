//! Sharing memory with the clients of a server that listens and accepts by itself.

use crate::handshake::{PendingConnection, SharingServer};
use crate::stream::Stream;
use std::sync::Arc;
use tokio::net::UnixStream;

/// Memory that a server shares with all of its clients together: made by
/// [`ListenerBuilder::sharing`](crate::ListenerBuilder), for servers that accept connections themselves. Clones share
/// the same limits.
#[derive(Clone, Debug)]
pub struct Sharing(Arc<SharingServer>);

impl Sharing {
    pub(crate) fn new(host: SharingServer) -> Self {
        Self(Arc::new(host))
    }

    /// The stream of a connection that has been accepted on a Unix socket, before its first read. Its client shares
    /// memory if it offers to and is allowed; the first read settles that.
    pub fn stream(&self, socket: UnixStream) -> Stream {
        Stream::deciding(PendingConnection::new(socket, self.0.clone()))
    }
}
