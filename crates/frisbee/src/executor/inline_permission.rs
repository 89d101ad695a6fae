//! Permission to poll the handlers of a method inline. After a handler has blocked a thread, the permission is revoked
//! for some time, during which handlers run in tasks.

use parking_lot::Mutex;
use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long handlers run in tasks after a handler was slow for the first time. Short, because the cause may be lazy
/// initialization or the operating system, and calls in tasks cost three times as much.
pub const PENALTY_MIN: Duration = Duration::from_secs(1);

/// Maximum duration that handlers run in tasks. With a method that always blocks, inline polling is thus retried only
/// every 17 minutes.
pub const PENALTY_MAX: Duration = Duration::from_secs(1024);

/// Period during which slow handlers run in tasks.
#[derive(Debug, Default)]
pub struct Penalty {
    /// Length of the latest period. It grows if handlers are slow repeatedly.
    pause: Duration,
    until: Option<Instant>,
}

impl Penalty {
    /// Starts a period of running handlers in tasks. The period is twice as long as the previous one if that one ended
    /// recently.
    pub fn begin(&mut self, now: Instant) {
        let again = self.until.is_some_and(|until| now.saturating_duration_since(until) < self.pause);
        self.pause = if again { (2 * self.pause).min(PENALTY_MAX) } else { PENALTY_MIN };
        self.until = now.checked_add(self.pause);
    }

    /// Returns whether the period is over at the time `now`.
    pub fn is_over(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }

    #[cfg(test)]
    fn has_started(&self) -> bool {
        self.until.is_some()
    }
}

/// Permission to poll the handlers of one method inline, on all connections of a server.
#[derive(Debug, Default)]
pub struct InlinePermission {
    is_lost: AtomicBool,
    /// Whether a blocking handler has been reported or the report is scheduled. There is at most one report per
    /// permission.
    is_noticed: AtomicBool,
    penalty: Mutex<Penalty>,
}

impl InlinePermission {
    /// Returns whether handlers may be polled inline. Costs a single atomic load while inline polling is permitted.
    #[inline]
    pub fn is_kept(&self) -> bool {
        // Check the flag first, so that the lock is taken only while the permission is revoked.
        !self.is_lost.load(Ordering::Relaxed) || self.is_regained(Instant::now())
    }

    /// Records that a handler has blocked its thread. Returns whether this is the first such handler.
    ///
    /// Subsequent handlers run in tasks if `has_threads` is set. In a single-threaded runtime the permission is kept,
    /// because a blocking task would block the only thread too.
    pub(crate) fn lose(&self, now: Instant, has_threads: bool) -> bool {
        let mut penalty = self.penalty.lock();
        // Only the first handler starts a period. Others were already running when the permission was revoked.
        if !has_threads || !self.is_lost.swap(true, Ordering::Relaxed) {
            penalty.begin(now);
        }
        drop(penalty);
        // The flag alone ensures a single report, so the lock is not needed.
        !self.is_noticed.swap(true, Ordering::Relaxed)
    }

    /// Permits another report of a blocking handler. Called if the first report was caused by printing the backtrace of
    /// a panic.
    pub(crate) fn forget_notice(&self) {
        self.is_noticed.store(false, Ordering::Relaxed);
    }

    /// Returns whether the period without inline polling is over, so that handlers may be polled inline again.
    #[cold]
    fn is_regained(&self, now: Instant) -> bool {
        let is_over = self.penalty.lock().is_over(now);
        // This store may undo a concurrent `lose`. That is harmless, because the next handler that blocks its thread
        // revokes the permission again.
        if is_over {
            self.is_lost.store(false, Ordering::Relaxed);
        }
        is_over
    }
}

/// A connection's reference to the permission of a method. Each connection has its own reference count. With a shared
/// count, every pending call would write to a cache line that all cores use.
#[derive(Clone, Debug)]
#[allow(clippy::redundant_allocation)] // The outer `Arc` is the connection's own reference count.
pub struct PermissionHandle(Arc<Arc<InlinePermission>>);

impl PermissionHandle {
    /// Creates the first reference of a connection to a permission.
    pub fn of_connection(permission: &Arc<InlinePermission>) -> Self {
        Self(Arc::new(permission.clone()))
    }
}

impl Deref for PermissionHandle {
    type Target = InlinePermission;

    #[inline]
    fn deref(&self) -> &InlinePermission {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Connection;

    #[test]
    fn blocking_handlers_retry_inline_after_second() {
        let permission = InlinePermission::default();
        let now = Instant::now();
        assert!(permission.is_kept());
        assert!(permission.lose(now, true));
        assert!(!permission.is_regained(now + PENALTY_MIN / 2));
        assert!(permission.is_regained(now + PENALTY_MIN));
        assert!(permission.is_kept());
        assert!(!permission.lose(now + PENALTY_MIN, true), "second loss of the permission should not be the first");
    }

    #[test]
    fn handlers_begun_before_notice_are_ignored() {
        let permission = InlinePermission::default();
        let now = Instant::now();
        assert!(permission.lose(now, true));
        (0..8).for_each(|_| assert!(!permission.lose(now, true)));
        assert!(permission.is_regained(now + PENALTY_MIN));
    }

    #[test]
    fn repeated_blocking_doubles_handler_penalty() {
        let start = Instant::now();
        let mut penalty = Penalty::default();
        assert!(penalty.is_over(start) && !penalty.has_started());
        penalty.begin(start);
        let mut over = start + PENALTY_MIN;
        for seconds in [2, 4, 8] {
            let again = over + Duration::from_secs(seconds / 2) - Duration::from_nanos(1);
            penalty.begin(again);
            over = again + Duration::from_secs(seconds);
            assert!(!penalty.is_over(over - Duration::from_nanos(1)) && penalty.is_over(over), "for {seconds} s");
        }
        penalty.begin(over + Duration::from_secs(8));
        assert!(
            penalty.is_over(over + Duration::from_secs(8) + PENALTY_MIN),
            "penalty should end after handlers were quick for as long"
        );
    }

    #[test]
    fn inline_ban_applies_to_all_connections() {
        let permission = Arc::default();
        let handles = [(); 2].map(|()| PermissionHandle::of_connection(&permission));
        assert!(handles.iter().all(|handle| handle.is_kept()));
        // Begin the period in an hour, so that it cannot end during the test.
        permission.lose(Instant::now() + Duration::from_secs(3600), true);
        assert!(!handles.iter().any(|handle| handle.is_kept()));
    }

    #[test]
    fn blocking_handlers_on_one_thread_stay_inline() {
        use tokio::runtime::Builder;
        for (mut runtime, is_kept) in [(Builder::new_current_thread(), true), (Builder::new_multi_thread(), false)] {
            let runtime = runtime.enable_time().build().expect("runtime should build");
            let budget = Arc::new(crate::account::Budget::new(usize::MAX, 0));
            let connection =
                Connection::server(&Default::default(), &budget, runtime.handle().clone(), Default::default());
            let permission = Arc::new(InlinePermission::default());
            permission.handle_blocked(&connection, &"a method");
            assert!(permission.penalty.lock().has_started());
            assert_eq!(!permission.is_lost.load(Ordering::Relaxed), is_kept);
        }
    }

    #[test]
    fn handlers_noticed_without_effect_are_noticed_once() {
        let permission = InlinePermission::default();
        let now = Instant::now();
        assert!(permission.lose(now, false));
        assert!(!permission.lose(now, false) && permission.is_kept());
    }
}
