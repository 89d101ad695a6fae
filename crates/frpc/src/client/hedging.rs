//! Calls that are made at a second server while the first has not answered: the first answer counts, and the other call is
//! cancelled.

use crate::client::attempt::{Attempt, Failure, Sent};
use crate::client::channel::Channel;
use crate::client::link::Link;
use crate::client::terms::Terms;
use crate::observe::TraceContext;
use crate::{Response, Status, deadline};
use polyglot::Message;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};

/// The part of calls that may be hedged, in percent.
const HEDGED_PERCENT: u32 = 2;

/// How many calls may be hedged at once after a time in which none was.
const HEDGES_MAX: u32 = 10;

/// What a channel hedges.
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
        Hedge { after: self.after, is_trial: false }
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
}

impl Channel {
    /// Makes an attempt on a connection, and another one elsewhere if that has not ended in time. `again` gets the reason,
    /// and says whether that may be, and which place in a trace goes along. The first success or final answer counts; one
    /// that was lost or refused counts if the other has failed, too.
    ///
    /// # Cancel safety
    /// Dropping the future gives both calls up.
    pub(crate) async fn hedged<A: Message, B: Message>(
        &self,
        attempt: Attempt<'_, A>,
        link: Arc<Link>,
        hedge: Hedge,
        until: Option<Instant>,
        again: impl FnOnce(&Status) -> Option<Option<TraceContext>>,
    ) -> Result<Response<B>, Box<Failure>> {
        let mut first = Box::pin(attempt.make::<B>(link.clone()));
        if let Ok(made) = tokio::time::timeout(hedge.after, first.as_mut()).await {
            return made;
        }
        let why =
            || Status::deadline_exceeded(format!("no answer within {:?}, so another server is asked", hedge.after));
        let Some(other) = self.inner.servers.besides(&link) else { return first.await };
        let Some(trace) = again(&why()) else { return first.await };
        let left = until.map(|until| until.saturating_duration_since(deadline::now()));
        let terms = Terms { timeout: left.or(attempt.terms.timeout), ..attempt.terms };
        let again = Attempt { terms, trace: trace.as_ref(), ..attempt };
        let mut second = pin!(again.make::<B>(other));
        let (mut first_failed, mut second_failed) = (None, None);
        let (made, is_outrun) = poll_fn(|context| {
            if first_failed.is_none()
                && let Poll::Ready(made) = first.as_mut().poll(context)
            {
                match made {
                    Err(failure) if failure.sent != Sent::Answered && second_failed.is_none() => {
                        first_failed = Some(failure);
                    }
                    made => return Poll::Ready((made, false)),
                }
            }
            if second_failed.is_none()
                && let Poll::Ready(made) = second.as_mut().poll(context)
            {
                match made {
                    Err(failure) if failure.sent != Sent::Answered && first_failed.is_none() => {
                        second_failed = Some(failure);
                    }
                    made => return Poll::Ready((made, first_failed.is_none())),
                }
            }
            Poll::Pending
        })
        .await;
        drop(first);
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
