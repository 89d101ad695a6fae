//! Messages from call tasks to the session of their connection.

use crate::charge::check_room;
use crate::mailbox::Mailbox;
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Response, Status};

/// Number of a call within its session.
pub(super) type CallNumber = u64;

/// A message from a call to its session.
pub(super) enum SessionMessage {
    /// The call has completed.
    Done(CallNumber, Result<Response<Bytes>, Status>, MemoryCharge),
    /// A response item, and the number of window permits that it holds.
    Item(CallNumber, Bytes, usize, MemoryCharge),
    /// The handler has consumed this many request items.
    Consumed(CallNumber, u32),
    /// The client has cancelled the call over another connection and expects no reply.
    #[cfg(feature = "mcp")]
    Cancelled(CallNumber),
}

/// Handle that cancels one call of a session from outside.
#[cfg(feature = "mcp")]
pub(crate) struct Canceller {
    pub(super) mail: std::sync::Arc<SessionMailbox>,
    pub(super) number: CallNumber,
}

#[cfg(feature = "mcp")]
impl Canceller {
    pub(crate) fn cancel(&self) {
        self.mail.send(SessionMessage::Cancelled(self.number));
    }
}

/// Queue of the messages that the calls of a session send to it.
pub(super) type SessionMailbox = Mailbox<SessionMessage>;

impl SessionMailbox {
    /// Sends the result of a call, or an error if the server has no memory for it.
    pub(super) fn finish(&self, number: CallNumber, result: Result<Response<Bytes>, Status>, context: &AdapterContext) {
        let result = result.and_then(|response| check_room(context, response.get_ref().len()).map(|()| response));
        let hold = context.charge(result.as_ref().map_or(0, |response| response.get_ref().len()));
        self.send(SessionMessage::Done(number, result, hold));
    }
}
