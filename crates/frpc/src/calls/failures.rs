//! Statuses of calls that fail without a reply from the server.

use crate::Status;
use crate::clock::Unfinished;
use crate::schema::method::Method;
use frisbee::{CloseReason, SendError};

pub(crate) const RUNTIME_ENDED: &str = "the runtime of the channel has ended";

/// Reason for a call or connection attempt that fails because the program has closed its channel.
pub(crate) const CLOSED: &str = "the channel was closed by its owner";

/// Returns the status of calls in flight on a connection that has closed.
pub(crate) fn closed_status(reason: &CloseReason) -> Status {
    Status::unavailable(format!("the connection was lost and the call may have run: {reason}"))
}

/// Returns the status of a call made on a closed channel.
pub(crate) fn closed() -> Status {
    Status::failed_precondition(format!("not sent: {CLOSED}")).not_run()
}

pub(crate) fn unreachable(why: &str) -> Status {
    Status::unavailable(format!("not sent: {why}")).not_run()
}

/// Converts to [`ResourceExhausted`](crate::Code::ResourceExhausted) if the message is too long, and to
/// [`Unavailable`](crate::Code::Unavailable) otherwise. The message was not sent.
impl From<SendError> for Status {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Closed(reason) => Self::unavailable(format!("not sent: {reason}")),
            SendError::TooLong(_) => Self::resource_exhausted(error.to_string()),
            other => Self::unavailable(other.to_string()),
        }
        .not_run()
    }
}

/// Returns the status of a reverse call to a client that offers no services.
pub(crate) fn takes_no_calls() -> Status {
    Status::unimplemented("the client accepts no calls: it offers no service, or is a compat peer (Go)").not_run()
}

/// Returns the status of a call if its deadline passed before it was sent.
pub(crate) fn out_of_time() -> Status {
    Status::deadline_exceeded("the call was not sent: its deadline had passed").not_run()
}

/// Returns the status of a call that was not sent, because its deadline passed before the kind of the server was known.
pub(crate) fn unidentified() -> Status {
    let text = "not sent: the server did not identify itself before the deadline; check that the port speaks Frisbee";
    Status::deadline_exceeded(text).not_run()
}

pub(crate) fn expired(method: &Method) -> Status {
    Status::deadline_exceeded(format!("{method} was not answered before its deadline and may have run"))
}

/// Returns the status of a call that did not complete in time, or whose timer's runtime has ended.
pub(crate) fn unfinished(why: &Unfinished, method: &Method) -> Status {
    if why.has_runtime_ended { Status::unavailable(RUNTIME_ENDED) } else { expired(method) }
}
