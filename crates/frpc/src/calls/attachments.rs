//! The state of a connection's end, attached for callers that only have the connection.

use crate::calls::table::CallTable;
use crate::observe::observers::Observers;
use crate::wire::packed::Packing;
use frisbee::Connection;
use polyglot::Nesting;
use std::sync::Arc;

/// The state of a connection's end that callers need. Refers to no service, because a service may hold its connections.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    /// The calls of the dialling end, if the connection belongs to a channel.
    pub(crate) calls: Option<Arc<CallTable>>,
    /// Maximum nesting depth of the peer's messages.
    pub(crate) nesting: Nesting,
    /// The observers of this end's calls.
    pub(crate) observers: Option<Arc<Observers>>,
    /// Compression settings, if this end has announced support.
    pub(crate) packing: Option<Arc<Packing>>,
}

impl ConnectionEnd {
    /// Attaches the state to a connection. The default is not attached, which saves memory of idle connections.
    pub(crate) fn attach(self, connection: &Connection) {
        let Self { calls, nesting, observers, packing } = &self;
        if calls.is_some() || *nesting != Nesting::default() || observers.is_some() || packing.is_some() {
            connection.attachments().insert(self);
        }
    }

    pub(crate) fn of(connection: &Connection) -> Arc<Self> {
        connection.attachments().get().unwrap_or_default()
    }
}
