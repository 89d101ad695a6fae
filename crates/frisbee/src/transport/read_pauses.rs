//! Limit on useless requests of an adapter connection's peer. While the peer exceeds the limit, reading from its
//! transport is paused, as on connections that carry frames; see [`Config::abuse_rate`](crate::Config::abuse_rate).

use crate::account::Account;
use crate::clock::now;
use frisbee_core::{AbuseLimiter, ProtocolError};
use parking_lot::Mutex;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::time::{Sleep, sleep_until};

/// Balance between the useless and the useful requests of a peer. Malformed, rejected and unknown requests are useless.
pub(crate) struct AbuseAccount {
    abuse: Mutex<AbuseLimiter>,
    /// Number of bytes of useful requests that the peer has sent since its last useless one.
    useful: AtomicU64,
    is_paused: AtomicBool,
    /// Account of the connection. The caller keeps the debt after the end of the connection.
    account: Arc<Account>,
}

impl Drop for AbuseAccount {
    fn drop(&mut self) {
        let now = now();
        self.account.leave_debt(self.abuse.get_mut().debt(now), now);
    }
}

impl AbuseAccount {
    pub(crate) fn new(rate: u32, account: &Arc<Account>) -> Arc<Self> {
        let now = now();
        let mut abuse = AbuseLimiter::new(rate, now);
        abuse.inherit(account.debt(now));
        let (abuse, account) = (Mutex::new(abuse), account.clone());
        Arc::new(Self { abuse, useful: AtomicU64::new(0), is_paused: AtomicBool::new(false), account })
    }

    /// Charges the peer for a useless request of `bytes` bytes.
    pub(crate) fn charge(&self, bytes: usize) {
        let useful = usize::try_from(self.useful.swap(0, Ordering::Relaxed)).unwrap_or(usize::MAX);
        let mut abuse = self.abuse.lock();
        abuse.charge(bytes);
        abuse.end_batch(useful.saturating_add(bytes), now());
        self.is_paused.store(abuse.deadline().is_some(), Ordering::Relaxed);
    }

    /// Credits the peer for a useful request of `bytes` bytes. Two concurrent credits may count as one.
    #[inline]
    pub(crate) fn credit(&self, bytes: usize) {
        let useful = self.useful.load(Ordering::Relaxed).saturating_add(bytes as u64);
        self.useful.store(useful, Ordering::Relaxed);
    }

    /// Returns whether the peer has exceeded the limit for too long, so that its connection should be closed.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.abuse.lock().is_exhausted()
    }

    /// Returns the time at which reading resumes, or `None` if reading is not paused.
    pub(crate) fn paused_until(&self) -> Option<Instant> {
        if !self.is_paused.load(Ordering::Relaxed) {
            return None;
        }
        let mut abuse = self.abuse.lock();
        abuse.handle_timeout(now());
        self.is_paused.store(abuse.deadline().is_some(), Ordering::Relaxed);
        abuse.deadline()
    }
}

/// State that pauses reading from a transport while its [`AbuseAccount`] requires it.
pub(crate) struct ReadPauses {
    account: Arc<AbuseAccount>,
    sleep: Option<Pin<Box<Sleep>>>,
}

impl ReadPauses {
    pub(crate) fn new(account: &Arc<AbuseAccount>) -> Self {
        Self { account: account.clone(), sleep: None }
    }

    /// Waits until the transport may be read again.
    ///
    /// # Errors
    /// If the peer has exceeded the limit for too long.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        loop {
            if let Some(sleep) = &mut self.sleep {
                ready!(sleep.as_mut().poll(context));
                self.sleep = None;
                if self.account.is_exhausted() {
                    return Poll::Ready(Err(io::Error::other(ProtocolError::Flood)));
                }
            }
            let Some(until) = self.account.paused_until() else { return Poll::Ready(Ok(())) };
            self.sleep = Some(Box::pin(sleep_until(until.into())));
        }
    }
}
