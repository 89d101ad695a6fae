//! Hedged calls: if the first server does not reply in time, the call is also sent to a second server. The first reply
//! is used, and the other attempt is cancelled.

use crate::client::attempt::{AnyReply, Failure, ReplyReader, SentState};
use crate::client::call::{CallOptions, PendingCall};
use crate::client::channel::Channel;
use crate::client::link::Link;
use crate::client::picker::{Pick, PickedConnection, ServerEvent};
use crate::client::retrying::Attempts;
use crate::observe::TraceContext;
use crate::wire::body::AnyMessage;
use crate::{Code, Response, Status, clock};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// Parameters for hedging a slow call.
#[derive(Clone, Copy)]
pub(crate) struct Hedge {
    /// Time before the call is also sent to a second server.
    pub(crate) after: Duration,
    /// Whether the call tests whether its first server has recovered.
    pub(crate) is_probe: bool,
    /// Deadline of the hedged call.
    pub(crate) until: Option<Instant>,
}

impl Channel {
    /// Makes an attempt on a connection and, if it takes too long, a second attempt at another server. `again` receives
    /// the reason for the second attempt and returns the trace context of that attempt, or `None` to make no second
    /// attempt. The first final reply is the result. If one attempt fails without a reply, or its server rejects it for
    /// lack of capacity, the other one determines the result. Failed and dropped attempts are recorded in `attempts`.
    ///
    /// # Cancel safety
    /// Dropping the future cancels both attempts.
    pub(crate) async fn hedged(
        &self,
        call: PendingCall<'_>,
        (message, reader): (&AnyMessage, ReplyReader),
        link: Arc<Link>,
        hedge: Hedge,
        again: impl FnOnce(&Status) -> Option<Option<TraceContext>>,
        attempts: &mut Attempts,
    ) -> Result<Response<AnyReply>, Box<Failure>> {
        let sent = [AtomicBool::new(false), AtomicBool::new(false)];
        let runtime = &self.inner.runtime;
        let mut first = Box::pin(call.attempt(message, reader, link.clone(), &sent[0], runtime));
        if let Ok(made) = clock::within(runtime, clock::after(Some(hedge.after)), first.as_mut()).await {
            return made;
        }
        let left = clock::left(hedge.until);
        if left.is_some_and(|left| left.is_zero()) {
            return first.await;
        }
        let picked = self.inner.picker.pick(&PendingCall { avoid: Some(&link), ..call });
        let Pick::Ready(PickedConnection { link: other, .. }) = picked else { return first.await };
        let why = Status::deadline_exceeded(format!("no answer within {:?}", hedge.after));
        let Some(trace) = again(&why) else { return first.await };
        let options = CallOptions { timeout: left.or(call.options.timeout), ..call.options };
        let again = PendingCall { options, trace: trace.as_ref(), ..call };
        let mut second = Box::pin(again.attempt(message, reader, other, &sent[1], runtime));
        let mut failures = [None, None];
        let (made, by) = poll_fn(|context| {
            for number in 0..2 {
                if failures[number].is_some() {
                    continue;
                }
                let polled = if number == 0 { first.as_mut().poll(context) } else { second.as_mut().poll(context) };
                match polled {
                    Poll::Pending => {}
                    // Keep the failure and wait for the other attempt, which may still succeed.
                    Poll::Ready(Err(failure)) if !is_final(&failure) && failures[1 - number].is_none() => {
                        failures[number] = Some(failure);
                    }
                    Poll::Ready(made) => return Poll::Ready((made, number)),
                }
            }
            Poll::Pending
        })
        .await;
        // Drop both attempts now, which cancels the slower one.
        drop((first, second));
        if by == 1 && failures[0].is_none() && hedge.is_probe {
            link.calls.report(ServerEvent::Overtaken);
        }
        match failures[1 - by].take() {
            Some(failure) => attempts.fail(*failure),
            None if sent[1 - by].load(Ordering::Relaxed) => attempts.is_cancelled = true,
            None => {}
        }
        made
    }
}

/// Returns whether a failed attempt determines the result of its call. It does not if the connection was lost, or if
/// the server rejected the call as unavailable or overloaded without running it, because the other server may still
/// succeed. Other rejections are final, as in gRPC (A6).
fn is_final(failure: &Failure) -> bool {
    let is_server_at_fault = matches!(failure.status.code(), Code::Unavailable | Code::ResourceExhausted);
    failure.sent == SentState::Answered && (failure.status.may_have_run() || !is_server_at_fault)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempt_is_final_unless_another_server_may_succeed() {
        let answered = |status| is_final(&Failure::new(status, SentState::Answered));
        for at_fault in [Status::unavailable("restarts"), Status::resource_exhausted("is full")] {
            assert!(!answered(at_fault.clone().not_run()), "{at_fault}");
            assert!(answered(at_fault.clone()), "call that may have run should not be repeated: {at_fault}");
            assert!(!is_final(&Failure::new(at_fault, SentState::Disconnected)));
        }
        assert!(answered(Status::invalid_argument("is negative").not_run()), "each server would reject the call");
    }
}
