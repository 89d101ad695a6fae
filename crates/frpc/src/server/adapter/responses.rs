//! Responses of streaming calls, which the adapter polls.

use super::{AdapterMethod, InProgress};
use crate::context::InheritedContext;
use crate::debug::opaque_debug;
use crate::service::failures::{LateStatus, panicked};
use crate::service::stream_method::MessageBytes;
use crate::{Code, Status};
use bytes::Bytes;
use futures_core::Stream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::time::Sleep;

/// Response stream of a call made by [`AdapterMethod::streaming`], encoded in the format of the call. Ends after the
/// first error, or when the deadline of the call passes.
pub struct AdapterResponses {
    /// Stream of encoded response messages. `None` once it has ended.
    pub(super) messages: Option<MessageBytes>,
    pub(super) inherited: InheritedContext,
    /// Timer for the call's deadline or the expiry of its authorization, and the status of the call after that time.
    pub(super) sleep: Option<(Pin<Box<Sleep>>, LateStatus)>,
    pub(super) call: InProgress,
    pub(super) method: AdapterMethod,
}

impl AdapterResponses {
    /// Waits until the call's deadline passes or its authorization expires. Returns the status of the call and ends the
    /// response stream. Polling the response stream includes this check. Call this method instead while the client is
    /// not ready for another message.
    pub fn poll_expired(&mut self, context: &mut Context<'_>) -> Poll<Status> {
        let Self { messages, sleep, call, .. } = self;
        let (Some(_), Some((sleep, status))) = (&messages, sleep) else { return Poll::Pending };
        let _entered = call.runtime.enter();
        ready!(sleep.as_mut().poll(context));
        *messages = None;
        let status = status();
        call.end(status.code());
        Poll::Ready(status)
    }
}

impl Stream for AdapterResponses {
    type Item = Result<Bytes, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        // Check the deadline first, so that a handler that always has a message ready cannot exceed it.
        if let Poll::Ready(status) = self.poll_expired(context) {
            return Poll::Ready(Some(Err(status)));
        }
        let Self { messages, inherited, call, method, .. } = &mut *self;
        let Some(stream) = messages else { return Poll::Ready(None) };
        let _entered = call.runtime.enter();
        let restore = inherited.enter();
        let polled = catch_unwind(AssertUnwindSafe(|| stream.as_mut().poll_next(context)));
        drop(restore);
        let next = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(next)) => next,
            Err(panic) => {
                let name = method.served().entry.method;
                Some(Err(panicked(panic.as_ref(), name, &call.caller.connection)))
            }
        };
        match &next {
            Some(Ok(_)) => {}
            Some(Err(status)) => call.end(status.code()),
            None => call.end(Code::Ok),
        }
        if !matches!(next, Some(Ok(_))) {
            *messages = None;
        }
        Poll::Ready(next)
    }
}

opaque_debug!([] AdapterResponses, "AdapterResponses", |this| method = this.method.name());
