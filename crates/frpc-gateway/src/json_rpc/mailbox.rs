//! Messages from call tasks to the session of their connection.

use crate::charge::{CHARGED_MIN, try_charge};
use crate::mailbox::Mailbox;
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Response, Status};

/// Number that identifies a call within its session.
pub(super) type CallNumber = u64;

/// Message from the task of a call to its session.
pub(super) enum SessionMessage {
    /// The call has completed with this result.
    Done(CallNumber, Result<Response<Bytes>, Status>, MemoryCharge),
    /// A response item of a stream, and the number of flow-control permits that it holds.
    Item(CallNumber, Bytes, usize, MemoryCharge),
    /// Number of request items that the handler has consumed since the last message.
    Consumed(CallNumber, u32),
    /// The client has cancelled the call over another connection. No reply is sent.
    #[cfg(feature = "mcp")]
    Cancelled(CallNumber),
}

/// Handle that cancels one call of a session from another task.
#[cfg(feature = "mcp")]
#[derive(Clone)]
pub(crate) struct Canceller {
    pub(super) mailbox: std::sync::Arc<SessionMailbox>,
    pub(super) number: CallNumber,
}

#[cfg(feature = "mcp")]
impl Canceller {
    pub(crate) fn cancel(&self) {
        self.mailbox.send(SessionMessage::Cancelled(self.number));
    }
}

#[cfg(all(test, feature = "mcp"))]
impl Canceller {
    /// Creates the canceller of a call whose session is polled with `waker`.
    pub(crate) fn waking(waker: &std::task::Waker) -> Self {
        let mailbox = SessionMailbox::default();
        mailbox.take(&mut std::collections::VecDeque::new(), &std::task::Context::from_waker(waker));
        Self { mailbox: std::sync::Arc::new(mailbox), number: 0 }
    }
}

/// Queue of messages from calls to their session.
pub(super) type SessionMailbox = Mailbox<SessionMessage>;

impl SessionMailbox {
    /// Sends the result of a call. Replaces it with an error if the reply exceeds the client's memory limit.
    pub(super) fn finish(&self, number: CallNumber, result: Result<Response<Bytes>, Status>, context: &AdapterContext) {
        let length = result.as_ref().map_or(0, |response| response.get_ref().len());
        // Charge the reply until the session has copied it to its output, because a slow client can leave many in the
        // mailbox.
        let is_short = length < CHARGED_MIN;
        let hold = if is_short { Ok(context.charge(length)) } else { try_charge(context, length) };
        let (result, hold) = match hold {
            Ok(hold) => (result, hold),
            Err(status) => (Err(status), context.charge(0)),
        };
        self.send(SessionMessage::Done(number, result, hold));
    }
}
