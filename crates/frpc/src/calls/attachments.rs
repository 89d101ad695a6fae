//! State attached to a connection, for code that has only a connection handle.

use crate::calls::table::CallTable;
use crate::observe::observers::Observers;
use crate::wire::compressed::CompressedMethods;
use frisbee::Connection;
use polyglot::Nesting;
use std::sync::Arc;

/// State of the local side of a connection. Must not contain references to services: a service may own connections, so
/// this would create a reference cycle.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    /// Call table of the side that dialled. Set if the connection belongs to a channel.
    pub(crate) calls: Option<Arc<CallTable>>,
    /// Maximum nesting depth that is accepted in the peer's messages.
    pub(crate) nesting: Nesting,
    /// Observers that are notified of outgoing calls.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Compression settings, set if the local peer supports compression.
    pub(crate) compression: Option<Arc<CompressedMethods>>,
}

impl ConnectionEnd {
    /// Attaches the state to a connection. Default state is not attached, which saves memory for idle connections.
    pub(crate) fn attach(self, connection: &Connection) {
        let Self { calls, nesting, observers, compression } = &self;
        if calls.is_some() || *nesting != Nesting::default() || observers.is_some() || compression.is_some() {
            connection.attachments().insert(self);
        }
    }

    pub(crate) fn of(connection: &Connection) -> Arc<Self> {
        connection.attachments().get().unwrap_or_default()
    }
}
