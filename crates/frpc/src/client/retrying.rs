//! Repeated attempts of unary calls: when to retry, and the final status.

use crate::api::BoxedCall;
use crate::calls::failures::{expired, out_of_time};
use crate::client::attempt::{AnyReply, Failure, ReplyReader, SentState};
use crate::client::call::PendingCall;
use crate::client::channel::Channel;
use crate::client::hedging::Hedge;
use crate::client::link::Link;
use crate::client::picker::PickedConnection;
use crate::clock;
use crate::observe::{ObservedMethod, Token, TraceContext};
use crate::schema::method::Method;
use crate::wire::body::AnyMessage;
use crate::{Code, Response, Status};
use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Default maximum number of attempts of an idempotent call, including the first attempt and a hedge. One retry covers
/// a lost connection. A call that has failed on two servers would probably fail on a third.
pub(crate) const ATTEMPTS_MAX: u32 = 2;

/// Maximum delay before the first retry, about the time it takes to replace a lost connection. Doubled with each
/// further retry.
const BACKOFF_FIRST: Duration = Duration::from_millis(10);

/// Upper bound of the delay between retries.
const BACKOFF_MAX: Duration = Duration::from_secs(1);

/// State of a call's attempts, which determines whether the call is retried.
#[derive(Default)]
pub(crate) struct Attempts {
    /// Number of failed attempts, except those that were not sent or that exceeded the server's limit of concurrent
    /// calls.
    failed: u32,
    /// Status of an earlier attempt that the server may have run. Takes precedence over the status `Unavailable` of a
    /// later attempt.
    ran: Option<Status>,
    /// Whether an attempt was sent, and then dropped before its reply arrived.
    pub(crate) is_cancelled: bool,
}

impl Attempts {
    /// Returns whether `further` more attempts are allowed.
    pub(crate) fn may_add(&self, further: u32, max: u32) -> bool {
        self.failed.saturating_add(further) <= max.max(1)
    }

    /// Records a failed attempt that will be retried.
    pub(crate) fn fail(&mut self, failure: Failure) {
        self.failed += u32::from(failure.may_be_retried() || failure.sent == SentState::Answered);
        if failure.status.may_have_run() {
            self.ran = Some(failure.status);
        }
    }

    /// Returns the final status of the call, given the status of its last attempt. The call may have run if any of its
    /// attempts may have run.
    fn verdict(self, status: Status, method: &Method) -> Status {
        if status.may_have_run() || self.ran.is_none() && !self.is_cancelled {
            return status;
        }
        match (status.code(), self.ran) {
            (Code::DeadlineExceeded, _) => expired(method),
            (Code::Unavailable, Some(ran)) => ran,
            _ => status.may_run(),
        }
    }

    /// Returns the maximum delay before the next retry.
    fn backoff_max(&self) -> Duration {
        BACKOFF_FIRST.saturating_mul(1 << self.failed.min(16)).min(BACKOFF_MAX)
    }

    /// Returns a random delay before the next retry, so that the callers of a lost connection do not all retry at the
    /// same time.
    fn backoff(&self) -> Duration {
        self.backoff_max().mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

impl Channel {
    /// Makes attempts until a call completes. `failure` is the failure of the first attempt, if it has already been
    /// made. `picked` is the connection for the next attempt, if it has already been chosen. `token` and `trace` belong
    /// to the observation of the call.
    ///
    /// The future is boxed, so that it is compiled once rather than for each method.
    pub(crate) fn attempts<'a>(
        &'a self,
        mut call: PendingCall<'a>,
        message: &'a AnyMessage,
        reader: ReplyReader,
        mut failure: Option<Box<Failure>>,
        mut picked: Option<PickedConnection>,
        (token, trace): (Token, Option<TraceContext>),
    ) -> BoxedCall<'a, AnyReply> {
        Box::pin(self.in_runtime(async move {
            let method = call.method;
            let until = match &failure {
                // The deadline covers all attempts, including the first one.
                Some(failure) => failure.until,
                None => clock::after(call.options.timeout),
            };
            let configured = self.inner.hedge_after.filter(|_| method.idempotent);
            configured.iter().for_each(|_| self.inner.hedges.earn());
            let attempts = Attempts::default();
            let mut progress = CallProgress { method, until, since: None, token, trace, attempts };
            loop {
                if let Some(failed) = failure.take() {
                    self.prepare_retry(*failed, &mut progress).await?;
                }
                // Fail if the backoff has used up the timeout.
                if until.is_some_and(|until| until <= clock::now()) {
                    return Err(progress.attempts.verdict(out_of_time(), method));
                }
                let PickedConnection { link, probe } = match picked.take() {
                    Some(picked) => picked,
                    None => match self.link_for(&call, until, &mut progress.since).await {
                        Ok(picked) => picked,
                        Err(status) => return Err(progress.attempts.verdict(status, method)),
                    },
                };
                // Send the remaining time rather than the original timeout, so that the server stops at the deadline of
                // the call.
                call.options.timeout = clock::left(until).or(call.options.timeout);
                // Hedge a probe only for idempotent calls, because the second server may run the call too.
                let hedge = probe
                    .filter(|_| method.idempotent)
                    .map(|after| Hedge { after, is_probe: true, until })
                    .or(configured.map(|after| Hedge { after, is_probe: false, until }));
                match self.attempt_on(call, (message, reader), link, hedge, &mut progress).await {
                    Ok(reply) => {
                        // Earn budget only for successful calls, so that retries stop when most calls fail.
                        self.inner.retries.earn();
                        return Ok(reply);
                    }
                    Err(failed) => failure = Some(failed),
                }
            }
        }))
    }

    /// Records a failed attempt and waits until the next one.
    ///
    /// # Errors
    /// If no further attempt is allowed.
    async fn prepare_retry(&self, failed: Failure, progress: &mut CallProgress) -> Result<(), Status> {
        let CallProgress { method, until, token, ref mut since, ref mut trace, ref mut attempts } = *progress;
        let (is_retry, max) = (failed.may_be_retried(), self.inner.attempts_max);
        let has_time = || until.is_none_or(|until| clock::now() + attempts.backoff_max() < until);
        let can_continue = if is_retry {
            // `spend` comes last, so that only an actual retry uses the budget.
            method.idempotent && attempts.may_add(2, max) && has_time() && self.inner.retries.spend()
        } else {
            matches!(failed.sent, SentState::No | SentState::Early) && attempts.may_add(1, max)
        };
        if !can_continue {
            return Err(mem::take(attempts).verdict(failed.status, method));
        }
        // Retry a call that has not run without backoff or budget, because it adds no load. Yield first, because the
        // driver of the closed connection may need this thread to finish.
        if !is_retry {
            attempts.fail(failed);
            yield_once().await;
            return Ok(());
        }
        *since = None; // The failed attempt had a connection, so the next wait for one starts now.
        if let Some(observer) = &self.inner.observer {
            observer.retry(&ObservedMethod::of_unary(method), token, &failed.status, trace);
        }
        let pause = attempts.backoff();
        attempts.fail(failed);
        clock::wait_until(&self.inner.runtime, clock::now() + pause).await;
        Ok(())
    }

    /// Makes an attempt on a connection, with a hedge if another attempt is allowed.
    async fn attempt_on(
        &self,
        call: PendingCall<'_>,
        (message, reader): (&AnyMessage, ReplyReader),
        link: Arc<Link>,
        hedge: Option<Hedge>,
        progress: &mut CallProgress,
    ) -> Result<Response<AnyReply>, Box<Failure>> {
        let CallProgress { method, token, trace, ref mut attempts, .. } = *progress;
        let first = PendingCall { trace: trace.as_ref(), ..call };
        let Some(hedge) = hedge.filter(|_| attempts.may_add(2, self.inner.attempts_max)) else {
            let sent = AtomicBool::new(false);
            // Boxed like a hedged attempt, so that its code is compiled only once.
            return Box::pin(first.attempt(message, reader, link, &sent, &self.inner.runtime)).await;
        };
        let mut next = trace;
        let begin_hedge = |why: &Status| {
            let is_allowed = !self.inner.retries.is_empty() && (hedge.is_probe || self.inner.hedges.spend());
            (is_allowed && self.inner.retries.spend()).then(|| {
                if let Some(observer) = &self.inner.observer {
                    observer.retry(&ObservedMethod::of_unary(method), token, why, &mut next);
                }
                next
            })
        };
        self.hedged(first, (message, reader), link, hedge, begin_hedge, attempts).await
    }
}

/// Yields to other tasks. Unlike [`tokio::task::yield_now`], this also works inside another executor's `block_on` on a
/// thread of the runtime, which would never process tokio's deferred wake-ups.
pub(crate) async fn yield_once() {
    let mut has_yielded = false;
    poll_fn(|task| {
        if mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        task.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Progress of a call through its attempts.
struct CallProgress {
    method: &'static Method,
    until: Option<Instant>,
    /// Start of waiting for a connection. The reconnect timeout counts from it.
    since: Option<tokio::time::Instant>,
    token: Token,
    trace: Option<TraceContext>,
    attempts: Attempts,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::layouts::tests::FIRST;

    #[test]
    fn call_with_possibly_run_attempt_is_uncertain() {
        let method = Method::new(&FIRST, "Get", 10);
        let unsent = || Status::deadline_exceeded("not sent").not_run();
        assert!(!Attempts::default().verdict(unsent(), &method).may_have_run());
        let mut attempts = Attempts::default();
        attempts.fail(*Failure::new(Status::unavailable("lost"), SentState::Disconnected));
        attempts.fail(*Failure::new(Status::unavailable("not sent").not_run(), SentState::No));
        assert_eq!(attempts.failed, 1, "unsent attempt should not count as failed");
        assert!(attempts.verdict(unsent(), &method).may_have_run());
        let cancelled = Attempts { is_cancelled: true, ..Attempts::default() };
        assert!(cancelled.verdict(Status::unauthenticated("no token").not_run(), &method).may_have_run());
    }

    #[test]
    fn backoff_grows_to_limit_with_jitter() {
        let pause = |failed| Attempts { failed, ..Attempts::default() }.backoff();
        assert!((0..100).all(|_| (BACKOFF_FIRST / 2..=BACKOFF_FIRST).contains(&pause(0))));
        assert!((0..100).all(|_| (BACKOFF_MAX / 2..=BACKOFF_MAX).contains(&pause(40))));
        assert!((0..100).any(|_| pause(0) != pause(0)));
    }
}
