//! Statuses of calls that fail without a reply from a handler.

use crate::schema::method::Method;
use crate::{Code, Status};
use frisbee::Connection;
use frisbee::rpc::ConnectionExt;
use frisbee::rpc::{note_panic, panic_text};
use frisbee::{LineLimit, LogLimit};
use std::any::Any;
use std::sync::LazyLock;
use std::time::Instant;

/// Returns the status of a call if its deadline has passed at the server.
pub(crate) fn caller_gone() -> Status {
    Status::deadline_exceeded("the deadline of the call has passed")
}

/// Returns the status of a call if its client ended its sending side without sending a request.
pub(crate) fn no_message() -> Status {
    Status::invalid_argument("the request has no message")
}

/// Returns the status of a cancelled call. It is sent as the reply, because every request gets one.
pub(crate) fn abandoned() -> Status {
    Status::cancelled("cancelled by the caller")
}

/// Returns the status of a call if its handler panicked. Logs the panic message, which is not sent to the peer.
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

/// Logs the failure of a handler if its status is an internal error.
pub(crate) fn log(status: &Status, method: Method, connection: &Connection) {
    if status.code() == Code::Internal {
        let peer = connection.peer_addr();
        tracing::debug!(target: "frpc::handler", %method, ?peer, status = status.message(), "a handler failed");
    }
}

/// Returns the status of a call that exceeds the maximum number of concurrent calls.
pub(crate) fn too_many(connection: &Connection) -> Status {
    let most = connection.calls_max();
    Status::resource_exhausted(format!("the limit of {most} calls in progress on this connection is reached"))
}

/// Memory in bytes from which decoded requests are checked against the memory share of their connection. The check is
/// needed because a decoded message may take 1000 times its encoded length. Smaller requests skip it.
const LARGE: usize = 64 * 1024;

/// Returns whether a request exceeds the memory share of its connection. Counts the request as rejected if it does.
pub(crate) fn takes_too_much(connection: &Connection, memory: usize) -> bool {
    let is_too_much = memory >= LARGE && !connection.has_room(memory);
    if is_too_much {
        connection.count_rejected();
    }
    is_too_much
}

/// Returns whether a request that failed with `status` was rejected because the server is short of memory, rather than
/// because of an error of the peer. A request that exceeds a fixed limit is such an error even while memory is short.
#[cold]
pub(crate) fn lacks_memory(connection: &Connection, status: &Status) -> bool {
    status.is_overload() && connection.memory_budget().is_short()
}

/// Returns whether the reply to a failed call states that the call has not run: its handler rejected it, or the
/// middleware around the handler (`is_layered`) failed the call without calling the handler.
pub(crate) fn is_refusal(status: &Status, is_layered: bool) -> bool {
    let is_denial = matches!(status.code(), Code::Unauthenticated | Code::PermissionDenied);
    status.is_rejection() || is_layered && is_denial && !status.may_have_run()
}

/// Returns the status of a call if its authorization has expired.
pub(crate) fn expired() -> Status {
    Status::unauthenticated("the token has expired: get a new one")
}

/// Function that returns the status of a call after its time limit has passed.
pub(crate) type LateStatus = fn() -> Status;

/// Returns the time limit of a call and its status after that. The limit is the call's deadline or the expiry of its
/// authorization, whichever is earlier.
pub(crate) fn end_of_time(deadline: Option<Instant>, expires: Option<Instant>) -> Option<(Instant, LateStatus)> {
    let ends = [deadline.map(|at| (at, caller_gone as LateStatus)), expires.map(|at| (at, expired as _))];
    ends.into_iter().flatten().min_by_key(|(at, _)| *at)
}

/// Returns the status of a call that is rejected because the memory limit of its client is reached.
pub(crate) fn overloaded() -> Status {
    Status::resource_exhausted("the server's memory limit for this client is reached").overload()
}

/// Closes the connection of a peer that has sent too many packets that match no call.
pub(crate) fn close_for_unmatched(connection: &Connection, unmatched: u64) {
    static LINE: LineLimit = LineLimit::new();
    if let Some(suppressed) = LINE.may_say(Instant::now()) {
        let peer = connection.peer_addr();
        tracing::warn!(target: "frpc::connection", ?peer, unmatched, suppressed, "connection closed: too many packets match no call");
    }
    connection.abort();
}
