//! The statuses of calls that no handler has answered.

use crate::schema::method::Method;
use crate::{Code, Status};
use frisbee::Connection;
use frisbee::tasks::{note_panic, panic_text};
use frisbee::{LineLimit, LogLimit};
use std::any::Any;
use std::sync::LazyLock;
use std::time::Instant;

/// The status of a call whose deadline has passed.
pub(crate) fn caller_gone() -> Status {
    Status::deadline_exceeded("the deadline of the call has passed")
}

/// The status of a call whose client has ended its direction before its only message.
pub(crate) fn no_message() -> Status {
    Status::invalid_argument("the request has no message")
}

/// The status of a call that its caller has cancelled. Every request gets an answer.
pub(crate) fn abandoned() -> Status {
    Status::cancelled("cancelled by the caller")
}

/// The status of a call whose handler panicked. It does not contain the text of the panic, which is logged.
pub(crate) fn panicked(panic: &(dyn Any + Send), method: Method, connection: &Connection) -> Status {
    static LINES: LazyLock<LogLimit> = LazyLock::new(LogLimit::default);
    note_panic(connection);
    let text = panic_text(panic);
    if let Some(suppressed) = LINES.may_log((method.to_string(), text), Instant::now()) {
        let peer = connection.peer_addr();
        tracing::error!(target: "frpc::handler", %method, ?peer, panic = text, suppressed, "a handler panicked");
    }
    Status::internal("the handler panicked")
}

/// Logs an internal error of a handler.
pub(crate) fn log(status: &Status, method: Method, connection: &Connection) {
    if status.code() == Code::Internal {
        let peer = connection.peer_addr();
        tracing::debug!(target: "frpc::handler", %method, ?peer, status = status.message(), "a handler failed");
    }
}

/// The status of a call beyond the limit.
pub(crate) fn too_many(connection: &Connection) -> Status {
    let most = connection.calls_max();
    Status::resource_exhausted(format!("the limit of {most} calls in progress on this connection is reached"))
}

/// Requests that keep less in memory are begun while their connection is not beyond its share, in bytes. A decoded
/// message may take a thousand times its length.
const LARGE: usize = 64 * 1024;

/// Whether a request keeps more memory than its connection may; if so, it is counted.
pub(crate) fn takes_too_much(connection: &Connection, memory: usize) -> bool {
    let is_too_much = memory >= LARGE && !connection.has_room(memory);
    if is_too_much {
        connection.count_rejected();
    }
    is_too_much
}

/// The status of a call whose principal has expired.
pub(crate) fn expired() -> Status {
    Status::unauthenticated("the token has expired: get a new one")
}

/// Makes the status of a call whose time is over.
pub(crate) type LateStatus = fn() -> Status;

/// When the time of a call is over, and its status then: at its deadline, or when its caller is no longer let in.
pub(crate) fn end_of_time(deadline: Option<Instant>, expires: Option<Instant>) -> Option<(Instant, LateStatus)> {
    let ends = [deadline.map(|at| (at, caller_gone as LateStatus)), expires.map(|at| (at, expired as _))];
    ends.into_iter().flatten().min_by_key(|(at, _)| *at)
}

/// The status of a call that is shed.
pub(crate) fn overloaded() -> Status {
    Status::resource_exhausted("the server's memory limit for this client is reached")
}

/// Closes the connection of a peer that keeps sending packets that match no call.
pub(crate) fn close_for_unmatched(connection: &Connection, unmatched: u64) {
    static LINE: LineLimit = LineLimit::new();
    if let Some(suppressed) = LINE.may_say(Instant::now()) {
        let peer = connection.peer_addr();
        tracing::warn!(target: "frpc::connection", ?peer, unmatched, suppressed, "connection closed: too many packets match no call");
    }
    connection.abort();
}
