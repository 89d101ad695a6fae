//! Calls that are made at a second server while the first has not answered: the first answer counts, and the other call is
//! cancelled.

use crate::client::attempt::{Failure, SentState};
use crate::client::call::{CallOptions, PendingCall};
use crate::client::channel::Channel;
use crate::client::link::Link;
use crate::client::picker::{Pick, PickedConnection};
use crate::client::retrying::Attempts;
use crate::observe::TraceContext;
use crate::{Response, Status, deadline};
use polyglot::Message;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// The part of calls that may be hedged, in percent.
const HEDGED_PERCENT: u32 = 2;

/// How many calls may be hedged at once after a time without hedges.
const HEDGES_MAX: u32 = 10;

/// The hedging of a channel.
pub(crate) struct Hedging {
    /// How long a call has time.
    after: Duration,
    /// In hundredths of a call.
    hundredths: AtomicU32,
}

impl Hedging {
    pub(crate) fn new(after: Duration) -> Self {
        Self { after, hundredths: AtomicU32::new(0) }
    }

    /// Counts a call that can be hedged. Returns when it is.
    pub(crate) fn count(&self) -> Hedge {
        let earn = |hundredths: u32| (hundredths < HEDGES_MAX * 100).then_some(hundredths + HEDGED_PERCENT);
        let _ = self.hundredths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, earn);
        Hedge { after: self.after, is_trial: false, until: None }
    }

    /// Spends a hedge, if there is one.
    pub(crate) fn spend(&self) -> bool {
        let spend = |hundredths: u32| hundredths.checked_sub(100);
        self.hundredths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

/// When a call is made at a second server.
#[derive(Clone, Copy)]
pub(crate) struct Hedge {
    /// How long the first one has time.
    pub(crate) after: Duration,
    /// The call is a trial of the first server.
    pub(crate) is_trial: bool,
    /// The deadline of the call.
    pub(crate) until: Option<Instant>,
}

impl Channel {
    /// Makes an attempt on a connection, and another one elsewhere if that has not ended in time. `again` gets the reason,
    /// decides whether that is allowed, and returns the trace context for it. The first success or answer of a server
    /// counts. An attempt that fails otherwise leaves the call to the other one and is noted in `attempts`, as is one
    /// that is dropped.
    ///
    /// # Cancel safety
    /// Dropping the future cancels both calls.
    pub(crate) async fn hedged<A: Message, B: Message>(
        &self,
        call: PendingCall<'_>,
        message: &A,
        link: Arc<Link>,
        hedge: Hedge,
        again: impl FnOnce(&Status) -> Option<Option<TraceContext>>,
        attempts: &mut Attempts,
    ) -> Result<Response<B>, Box<Failure>> {
        let sent = [AtomicBool::new(false), AtomicBool::new(false)];
        let runtime = &self.inner.runtime;
        let mut first = Box::pin(call.attempt::<A, B>(message, link.clone(), &sent[0], runtime));
        if let Ok(made) = deadline::timeout(runtime, hedge.after, first.as_mut()).await {
            return made;
        }
        let left = hedge.until.map(|until| until.saturating_duration_since(deadline::now()));
        if left.is_some_and(|left| left.is_zero()) {
            return first.await;
        }
        let why = || Status::deadline_exceeded(format!("no answer within {:?}", hedge.after));
        let second_call = PendingCall { avoid: Some(&link), ..call };
        let Pick::Ready(PickedConnection { link: other, .. }) = self.inner.picker.pick(&second_call) else {
            return first.await;
        };
        let Some(trace) = again(&why()) else { return first.await };
        let options = CallOptions { timeout: left.or(call.options.timeout), ..call.options };
        let again = PendingCall { options, trace: trace.as_ref(), ..call };
        let mut second = Box::pin(again.attempt::<A, B>(message, other, &sent[1], runtime));
        let mut failures = [None, None];
        let (made, by) = poll_fn(|context| {
            for number in 0..2 {
                if failures[number].is_some() {
                    continue;
                }
                let polled = if number == 0 { first.as_mut().poll(context) } else { second.as_mut().poll(context) };
                match polled {
                    Poll::Pending => {}
                    // The other attempt may still succeed.
                    Poll::Ready(Err(failure))
                        if failure.sent != SentState::Answered && failures[1 - number].is_none() =>
                    {
                        failures[number] = Some(failure);
                    }
                    Poll::Ready(made) => return Poll::Ready((made, number)),
                }
            }
            Poll::Pending
        })
        .await;
        drop((first, second));
        let [first_failure, second_failure] = failures;
        let is_outrun = by == 1 && first_failure.is_none();
        match if by == 1 { first_failure } else { second_failure } {
            Some(failure) => attempts.fail(*failure),
            None if sent[1 - by].load(Ordering::Relaxed) => attempts.cancel(),
            None => {}
        }
        if is_outrun && hedge.is_trial {
            link.calls.handle_outrun();
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_one_call_in_fifty_is_hedged() {
        let hedging = Hedging::new(Duration::from_millis(1));
        assert!(!hedging.spend(), "there have been no calls");
        let hedged = (0..1_000).filter(|_| (hedging.count(), hedging.spend()).1).count();
        assert_eq!(hedged, 20);
        (0..10_000).for_each(|_| _ = hedging.count());
        assert_eq!((0..100).filter(|_| hedging.spend()).count(), HEDGES_MAX as usize, "not all at once");
    }
}
