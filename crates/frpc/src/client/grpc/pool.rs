//! The pool of connections to a gRPC server, which chooses the connection of a call and opens new ones.
//!
//! # Decisions
//!
//! **Local calls wait for a stream, but calls on behalf of remote callers do not.** Otherwise, the memory of waiting
//! calls in a gateway would be unlimited. To prevent one remote caller from exhausting the streams of a server, each
//! caller may hold only its share of the streams of a connection ([`frisbee::rpc::CallShares`]). Unread replies only use
//! up the windows of their streams, because `frisbee_http2` returns the connection's credit on arrival.
//!
//! **Calls fail while connecting is paused**, like gRPC calls without "wait for ready".

#[cfg(test)]
mod tests;

use super::link::{Call, Link, LinkCheck};
use super::{GrpcCall, GrpcLinks, Shared, after};
use crate::calls::events::ServerEvent;
use crate::calls::failures::{RUNTIME_ENDED, closed, unreachable};
use crate::clock::{self, now};
use crate::{GrpcCaller, Status};
use bytes::Bytes;
use frisbee::rpc::{ParkedFuture, with_guarded_waker};
use parking_lot::MutexGuard;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Maximum number of open connections to a gRPC server. Another connection is opened if a caller may not open a stream
/// on the existing ones.
const LINKS_MAX: usize = 4;

/// Maximum delay after the first failed connection. Doubled with each further failure, up to `PAUSE_MAX`. The actual
/// delay is random, and at least half of the maximum.
const PAUSE_FIRST: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Open connections to the server, and the failures that delay new ones.
#[derive(Default)]
pub(super) struct Pool {
    links: Vec<Arc<Link>>,
    is_dialling: bool,
    /// Number of completed connection attempts, and the error of the latest one.
    dials: u64,
    dial_error: Option<Arc<str>>,
    /// Number of connections that have failed or ended without a reply, since the last connection that had a reply.
    failures: u32,
    retry_at: Option<Instant>,
    last_error: Arc<str>,
    /// Status of further calls once the channel is closed or its runtime has ended.
    over: Option<Status>,
}

impl GrpcLinks {
    /// Returns whether a connection accepts calls.
    pub(crate) fn is_connected(&self) -> bool {
        self.0.pool.lock().links.iter().any(|link| !link.is_closing())
    }

    pub(crate) fn in_progress(&self) -> usize {
        self.0.pool.lock().links.iter().map(|link| link.in_progress()).sum()
    }

    /// Returns the error of the last connection attempt, if it failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.0.pool.lock().dial_error.as_deref().map(str::to_owned)
    }

    /// Establishes the first connection.
    ///
    /// # Errors
    /// If the connection attempt fails.
    pub(crate) async fn connect(&self) -> Result<(), frisbee::Error> {
        loop {
            let mut changed = pin!(self.0.changes.links.notified());
            // Register before checking the state, so that a change in between wakes this task.
            changed.as_mut().enable();
            {
                let pool = self.0.pool.lock();
                match &pool.dial_error {
                    Some(error) => {
                        let source = io::Error::other(&**error);
                        return Err(frisbee::Error::Connect { address: self.0.server.name.clone(), source });
                    }
                    None if pool.dials > 0 => return Ok(()),
                    None => self.0.dial(pool),
                }
            }
            with_guarded_waker(changed).await;
        }
    }

    /// Connects if there is no connection, then waits until no connection accepts calls. Returns `true` when this
    /// happens, and `false` once the channel is closed or its runtime has ended.
    pub(crate) async fn keep_one(&self) -> bool {
        let mut has_connected = false;
        loop {
            let mut changed = pin!(self.0.changes.links.notified());
            changed.as_mut().enable();
            self.0.remove_closing();
            let retry_at = {
                let pool = self.0.pool.lock();
                if pool.over.is_some() {
                    return false;
                }
                let retry_at = pool.retry_at.filter(|retry_at| now() < *retry_at);
                match (pool.links.is_empty(), retry_at) {
                    (true, _) if has_connected => return true,
                    (true, None) => self.0.dial(pool),
                    (is_empty, _) => has_connected |= !is_empty,
                }
                retry_at.filter(|_| !has_connected)
            };
            let waited = clock::within(&self.0.runtime, retry_at, with_guarded_waker(changed)).await;
            if waited.is_err_and(|unfinished| unfinished.has_runtime_ended) {
                return false;
            }
        }
    }

    /// Prevents further calls. The connections close once their calls have ended.
    pub(crate) fn close(&self) {
        let mut pool = self.0.pool.lock();
        pool.over.get_or_insert_with(closed);
        pool.links.drain(..).for_each(|link| link.close());
        drop(pool); // Waking a task may run arbitrary code.
        self.0.changes.notify();
    }
}

impl Shared {
    /// Removes connections that accept no more calls, and notifies the observer if none remains. If two consecutive
    /// connections closed before they received a reply, delays the next connection attempt. A single one causes no
    /// delay, because servers also close connections gracefully.
    fn remove_closing(&self) {
        let mut guard = self.pool.lock();
        let Pool { links, failures, .. } = &mut *guard;
        let (was_connected, mut failed) = (!links.is_empty(), None);
        links.retain(|link| {
            let LinkCheck { is_closing, is_first_reply, early_end } = link.check();
            // Only the first reply on a connection resets the count. Otherwise, a working connection would keep it at
            // zero while attempts to make further connections fail.
            if is_first_reply {
                *failures = 0;
            }
            failed = early_end.or(failed.take());
            !is_closing
        });
        let is_retired = was_connected && links.is_empty();
        match failed {
            Some(_) if *failures == 0 => *failures = 1,
            Some(reason) => guard.pause(reason),
            None => {}
        }
        drop(guard); // The observer may run arbitrary code.
        if is_retired {
            self.calls.report(ServerEvent::Retired);
        }
    }

    /// Opens a stream on a connection other than `refused_by`, connecting if necessary.
    pub(super) async fn open(
        self: &Arc<Self>,
        call: &GrpcCall<'_>,
        message: Option<&Bytes>,
        refused_by: Option<&Arc<Link>>,
    ) -> Result<Call, Status> {
        let (caller, mut has_waited) = (call.caller, false);
        loop {
            // Rebuild the head after each wait, because it contains the remaining time.
            let head = self.head(call);
            // The end of a stream wakes a single call, which must be able to use the freed stream. Calls of remote
            // callers, which may have used up their share, therefore wait only for connection attempts.
            let changes = if caller.is_some() { &self.changes.links } else { &self.changes.calls };
            let mut changed = pin!(changes.notified());
            changed.as_mut().enable();
            self.remove_closing();
            let (dials, retry_at) = {
                let pool = self.pool.lock();
                if let Some(status) = &pool.over {
                    return Err(status.clone());
                }
                let is_refusing = |link: &&Arc<Link>| refused_by.is_some_and(|refused| Arc::ptr_eq(link, refused));
                let mut links = pool.links.iter().filter(|link| !is_refusing(link));
                let opened = links.find_map(|link| link.call(caller, &head, message));
                // Retry the refusing connection if no other one has room. The end of a stream wakes a single call, and
                // a stream that has ended on this connection would otherwise stay unused while other calls wait.
                let refusing = || pool.links.iter().find(is_refusing).filter(|_| has_waited);
                let opened = opened.or_else(|| refusing()?.call(caller, &head, message));
                if let Some(call) = opened {
                    drop(pool);
                    if has_waited {
                        // Wake the next waiting call, because there may be room for another stream.
                        self.changes.calls.notify_one();
                    }
                    return call;
                }
                let retry_at = pool.retry_at.filter(|retry_at| now() < *retry_at);
                let (dials, may_dial) = (pool.dials, pool.links.len() < LINKS_MAX);
                match retry_at {
                    None if may_dial => self.dial(pool),
                    Some(_) if pool.links.is_empty() => return Err(self.unreachable(&pool.last_error)),
                    _ if caller.is_some() => return Err(self.busy()),
                    _ => {}
                }
                (dials, retry_at.filter(|_| may_dial))
            };
            // Connect when the pause ends, because no event may occur before the call's deadline.
            let until = [retry_at, call.open_until].into_iter().flatten().min();
            let is_woken = clock::within(&self.runtime, until, with_guarded_waker(changed)).await.is_ok();
            if call.open_until.is_some_and(|until| now() >= until) {
                // Pass on a wake-up that came just before the deadline, because the stream is still free.
                if is_woken {
                    changes.notify_one();
                }
                let text = format!("not sent: no connection to {} had room before the deadline", self.authority());
                return Err(Status::deadline_exceeded(text).not_run());
            }
            has_waited = true;
            self.check_dials(dials, caller)?;
        }
    }

    /// Fails if a connection attempt has failed since the number of attempts was `dials`. Earlier errors are ignored,
    /// because the server may have recovered from them.
    fn check_dials(&self, dials: u64, caller: Option<GrpcCaller>) -> Result<(), Status> {
        let pool = self.pool.lock();
        match &pool.dial_error {
            Some(error) if pool.dials != dials && pool.links.is_empty() => Err(self.unreachable(error)),
            Some(_) if pool.dials != dials && caller.is_some() => Err(self.busy()),
            _ => Ok(()),
        }
    }

    /// Returns the status of a remote caller's call if the connections have no room for it. It is not `Unavailable`,
    /// because a channel to several servers would repeat the call, and might choose this server again and again.
    fn busy(&self) -> Status {
        let authority = self.authority();
        let text = format!("too many calls to {authority} are in progress; this one has not run");
        Status::resource_exhausted(text).not_run()
    }

    /// Starts a connection attempt, unless one is in progress. The attempt continues if the caller is dropped.
    fn dial(self: &Arc<Self>, mut pool: MutexGuard<'_, Pool>) {
        if std::mem::replace(&mut pool.is_dialling, true) {
            return;
        }
        // Release the lock before spawning, because a runtime that has ended drops the task immediately.
        drop(pool);
        let mut attempt = DialAttempt { links: self.clone(), opened: None };
        self.runtime.spawn(async move {
            let connecting = attempt.links.clone();
            // Catch panics of the connector, to report them as failures.
            let opened = ParkedFuture::new(async move {
                let Shared { runtime, changes, keepalive, .. } = &*connecting;
                Link::open((connecting.connect)().await?, runtime, changes.clone(), *keepalive).await
            });
            let opened = opened.await.unwrap_or_else(|_| Err(io::Error::other("connecting panicked")));
            attempt.opened.get_or_insert(opened.map_err(|error| error.to_string().into()));
        });
    }

    fn unreachable(&self, error: &str) -> Status {
        unreachable(&format!("no connection to {}: {error}", self.authority()))
    }
}

/// A connection attempt, whose outcome is reported when it is dropped.
struct DialAttempt {
    links: Arc<Shared>,
    /// The connection or the error. `None` if the runtime of the channel has dropped the task.
    opened: Option<Result<Arc<Link>, Arc<str>>>,
}

impl Drop for DialAttempt {
    fn drop(&mut self) {
        let links = &self.links;
        let mut guard = links.pool.lock();
        let pool = &mut *guard;
        pool.is_dialling = false;
        pool.dials += 1;
        pool.dial_error = None;
        let mut is_first = false;
        match self.opened.take() {
            // Close a connection that was established after the channel had been closed.
            Some(Ok(link)) if pool.over.is_some() => link.close(),
            Some(Ok(link)) => {
                is_first = pool.links.is_empty();
                pool.links.push(link);
            }
            Some(Err(error)) => {
                pool.dial_error = Some(error.clone());
                pool.pause(error);
            }
            None => {
                pool.dial_error = Some(RUNTIME_ENDED.into());
                pool.over.get_or_insert_with(|| unreachable(RUNTIME_ENDED));
            }
        }
        drop(guard); // The observer may run arbitrary code.
        if is_first {
            links.calls.show();
            links.calls.report(ServerEvent::Connected);
        }
        links.changes.notify();
    }
}

impl Pool {
    fn pause(&mut self, error: Arc<str>) {
        let most = PAUSE_FIRST.saturating_mul(1 << self.failures.min(16)).min(PAUSE_MAX);
        self.retry_at = Some(after(now(), most.mul_f64(0.5 + fastrand::f64() / 2.0)));
        self.failures = self.failures.saturating_add(1);
        self.last_error = error;
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.links.iter().for_each(|link| link.close());
    }
}
