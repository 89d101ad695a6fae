//! Messages from call tasks to the session of their connection.

use crate::charge::check_room;
use bytes::Bytes;
use frisbee::MemoryCharge;
use frpc::{AdapterContext, Response, Status};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::task::{Context, Waker};

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

/// Queue of the messages of all calls, in order.
#[derive(Default)]
pub(super) struct SessionMailbox {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    letters: VecDeque<SessionMessage>,
    waker: Option<Waker>,
}

impl SessionMailbox {
    pub(super) fn send(&self, letter: SessionMessage) {
        let mut inner = self.inner.lock();
        inner.letters.push_back(letter);
        let waker = inner.waker.take();
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Sends the result of a call, or an error if the server has no memory for it.
    pub(super) fn finish(&self, number: CallNumber, result: Result<Response<Bytes>, Status>, context: &AdapterContext) {
        let result = result.and_then(|response| check_room(context, response.get_ref().len()).map(|()| response));
        let hold = context.charge(result.as_ref().map_or(0, |response| response.get_ref().len()));
        self.send(SessionMessage::Done(number, result, hold));
    }

    /// Appends all messages to `to`. If there are none, registers the task to be woken by the next one.
    pub(super) fn take(&self, to: &mut VecDeque<SessionMessage>, task: &Context<'_>) {
        let mut inner = self.inner.lock();
        to.append(&mut inner.letters);
        if !inner.waker.as_ref().is_some_and(|waker| waker.will_wake(task.waker())) {
            inner.waker = Some(task.waker().clone());
        }
    }
}
