//! Values that the driver attaches to a connection for callers: its table of calls, how deep messages may nest, and who
//! observes calls.

use crate::Code;
use crate::calls::table::CallTable;
use crate::observe::observers::Observers;
use frisbee::Connection;
use polyglot::Nesting;
use std::sync::Arc;

/// The calls of the dialling end.
struct Dialled(Arc<CallTable>);

/// Attaches the calls of the dialling end to its connection.
pub(crate) fn put_calls(connection: &Connection, calls: &Arc<CallTable>) {
    connection.attachments().insert(Dialled(calls.clone()));
}

/// Notes a server's answer to a streaming call; see [`CallTable::handle_answer`].
pub(crate) fn handle_answer(connection: &Connection, code: Code) {
    if let Some(dialled) = connection.attachments().get::<Dialled>() {
        dialled.0.handle_answer(code);
    }
}

/// At the dialling end: the calls of a connection. `None` if the connection does not belong to a channel.
pub(crate) fn calls(connection: &Connection) -> Option<Arc<CallTable>> {
    connection.attachments().get::<Dialled>().map(|dialled| dialled.0.clone())
}

/// The nesting of messages, if it is not the default.
struct NestingOf(Nesting);

/// Attaches to a connection how deep messages may nest.
pub(crate) fn put_nesting(connection: &Connection, nesting: Nesting) {
    // The default needs no attachment.
    if nesting != Nesting::default() {
        connection.attachments().insert(NestingOf(nesting));
    }
}

/// Who observes the calls of a connection's end.
struct EndObservers(Arc<Observers>);

/// Attaches to a connection who observes the calls of this end.
pub(crate) fn set_observers(connection: &Connection, observers: &Arc<Observers>) {
    connection.attachments().insert(EndObservers(observers.clone()));
}

/// The observer of the calls of this end, if there is one.
pub(crate) fn observers(connection: &Connection) -> Option<Arc<Observers>> {
    connection.attachments().get::<EndObservers>().map(|of| of.0.clone())
}

/// How deep messages of the peer may nest.
pub(crate) fn nesting(connection: &Connection) -> Nesting {
    connection.attachments().get::<NestingOf>().map_or_else(Nesting::default, |of| of.0)
}
