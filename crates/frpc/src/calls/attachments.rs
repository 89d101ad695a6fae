//! The end of a connection, attached for callers that have the connection alone.

use crate::calls::table::CallTable;
use crate::observe::observers::Observers;
use crate::wire::packed::Packing;
use frisbee::Connection;
use polyglot::Nesting;
use std::sync::Arc;

/// The end of a connection, as callers need it. It refers to no service: a service may keep its connections.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    /// The calls of the dialling end, if the connection belongs to a channel.
    pub(crate) calls: Option<Arc<CallTable>>,
    /// How deep messages of the peer may nest.
    pub(crate) nesting: Nesting,
    /// The observers of the calls of this end.
    pub(crate) observers: Option<Arc<Observers>>,
    /// What this end packs, if it has said that it unpacks.
    pub(crate) packing: Option<Arc<Packing>>,
}

impl ConnectionEnd {
    /// Attaches it to a connection. The default needs no attachment, which idle connections would keep.
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
