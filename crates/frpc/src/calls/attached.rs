//! What the task that drives a connection leaves with it for those who make calls by it.

use crate::Code;
use crate::calls::table::CallTable;
use frisbee::Connection;
use polyglot::Nesting;
use std::sync::Arc;

/// The calls of an end that dialled, among the values of its connection.
struct Dialled(Arc<CallTable>);

/// Lets the calls of an end that dialled be found by its connection.
pub(crate) fn put_calls(connection: &Connection, calls: &Arc<CallTable>) {
    connection.attachments().insert(Dialled(calls.clone()));
}

/// Takes in how a server has answered a call with a stream; see [`CallTable::handle_answer`].
pub(crate) fn handle_answer(connection: &Connection, code: Code) {
    if let Some(dialled) = connection.attachments().get::<Dialled>() {
        dialled.0.handle_answer(code);
    }
}

/// At an end that dialled: the calls of a connection, unless it is none of a channel.
pub(crate) fn calls(connection: &Connection) -> Option<Arc<CallTable>> {
    connection.attachments().get::<Dialled>().map(|dialled| dialled.0.clone())
}

/// How deep messages may nest, among the values of a connection, if it is not as deep as by default.
struct NestingOf(Nesting);

/// Lets those who make calls by a connection know how deep messages may nest.
pub(crate) fn put_nesting(connection: &Connection, nesting: Nesting) {
    // A connection without values need not be asked for any.
    if nesting != Nesting::default() {
        connection.attachments().insert(NestingOf(nesting));
    }
}

/// How deep messages of the other end may nest.
pub(crate) fn nesting(connection: &Connection) -> Nesting {
    connection.attachments().get::<NestingOf>().map_or_else(Nesting::default, |of| of.0)
}
