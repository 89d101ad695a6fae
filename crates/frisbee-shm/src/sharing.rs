//! Shared memory for servers that accept connections themselves.

use crate::handshake::{PendingConnection, SharingServer};
use crate::stream::Stream;
use std::sync::Arc;
use tokio::net::UnixStream;

/// Shares memory with the clients of a server that accepts connections itself. Created by
/// [`ListenerBuilder::sharing`](crate::ListenerBuilder). Clones share the same limits.
#[derive(Clone, Debug)]
pub struct Sharing(Arc<SharingServer>);

impl Sharing {
    pub(crate) fn new(host: SharingServer) -> Self {
        Self(Arc::new(host))
    }

    /// Wraps an accepted Unix socket before its first read. The first read determines whether the client offers shared
    /// memory and is permitted to use it.
    pub fn stream(&self, socket: UnixStream) -> Stream {
        Stream::deciding(PendingConnection::new(socket, self.0.clone()))
    }
}
