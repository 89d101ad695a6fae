//! Detection of tasks that block the threads of workers. Other threads then take over the remaining tasks.
//!
//! One thread checks all workers of the process every few milliseconds while any of them is active, and sleeps
//! otherwise. It costs a worker one atomic load for each poll of a task.

use crate::Operation;
use crate::debug::opaque_debug;
use parking_lot::Mutex;
use std::io;
use std::net::SocketAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Interval between checks of the workers.
///
/// A task that is still in the same poll at the second check is suspect. Its thread is replaced at the third check, 8
/// to 12 ms after the poll began. With a shorter interval, most detections on a busy machine would be preemptions by
/// the operating system.
const INTERVAL: Duration = Duration::from_millis(4);

/// Minimum time that a suspect thread must have been running or sleeping since the last check to count as blocked.
/// Slightly less than the interval between checks. Time spent waiting for a processor is excluded.
const HELD_UP_MIN: Duration = Duration::from_millis(3);

/// Number of checks without activity before the watchdog thread goes to sleep. Waking it takes a system call, so it
/// stays awake for a while in case of occasional activity.
const QUIET_MAX: u32 = 25;

/// Number of a worker's poll. If it is unchanged since the last check, the thread is still in the same poll.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PollId(pub(crate) u64);

/// A thread that polls tasks and is checked by the watchdog.
pub(crate) trait WatchedThread: Send + Sync {
    /// Returns the latest poll of the thread, and whether that poll is still running.
    fn current_poll(&self) -> (PollId, bool);

    /// Returns the connection that the thread is polling, or `None` if `poll` is no longer running.
    fn culprit(&self, poll: PollId) -> Option<Arc<dyn Blocked>>;

    /// Returns the total time during which the thread was ready to run but had no processor.
    fn waited(&self) -> Duration;

    /// Starts another thread, which takes over all other tasks of the blocked thread. Does nothing if `poll` is no
    /// longer running.
    fn hand_over(self: Arc<Self>, poll: PollId) -> io::Result<()>;
}

/// A connection and its router, which are notified when they have blocked a thread.
pub(crate) trait Blocked: Send + Sync {
    /// Returns the operation of the packet that the router is currently handling, if any.
    fn operation(&self) -> Option<Operation>;

    /// Returns the remote address of the connection, if it has one.
    fn peer(&self) -> Option<SocketAddr>;

    /// Notifies the router that the operation blocks a thread. Returns `false` if the router does not handle this.
    fn handle(&self, operation: Operation) -> bool;

    /// Calls `report` after a delay. `report` receives whether a panic has blocked the thread.
    fn report_later(&self, report: Box<dyn FnOnce(bool) + Send>);
}

opaque_debug!([] dyn Blocked, "Blocked");

static WATCHDOG: Watchdog = Watchdog {
    is_asleep: AtomicBool::new(true),
    registry: Mutex::new(WatchdogState { workers: Vec::new(), thread: None }),
};

struct Watchdog {
    /// Whether the watchdog thread is asleep or has not been started.
    is_asleep: AtomicBool,
    registry: Mutex<WatchdogState>,
}

struct WatchdogState {
    /// Workers registered since the watchdog's last check.
    workers: Vec<WorkerSample>,
    thread: Option<Thread>,
}

/// Registers a worker to be checked by the watchdog.
pub(crate) fn register(worker: Weak<dyn WatchedThread>) {
    WATCHDOG.registry.lock().workers.push(WorkerSample {
        worker,
        poll: PollId::default(),
        since: None,
        is_reported: false,
    });
}

/// Returns whether the watchdog is asleep. If so, an active worker must [wake](wake_watchdog) it.
///
/// Record the activity before this call, either under a lock or with a sequentially consistent operation, like the load
/// here. Otherwise, the watchdog could miss the activity and fall asleep.
#[inline]
pub(crate) fn is_asleep() -> bool {
    WATCHDOG.is_asleep.load(Ordering::SeqCst)
}

/// Wakes the watchdog thread. Starts it if necessary.
#[cold]
pub(crate) fn wake_watchdog() {
    // Hold the lock from the swap until `registry.thread` is set, so that no second thread is started.
    let mut registry = WATCHDOG.registry.lock();
    if !WATCHDOG.is_asleep.swap(false, Ordering::SeqCst) {
        return;
    }
    if let Some(thread) = &registry.thread {
        return thread.unpark();
    }
    match thread::Builder::new().name("frisbee-watchdog".to_owned()).spawn(|| WATCHDOG.watch()) {
        Ok(thread) => registry.thread = Some(thread.thread().clone()),
        Err(error) => {
            // Set the flag again, so that the next active worker retries.
            WATCHDOG.is_asleep.store(true, Ordering::SeqCst);
            tracing::debug!(%error, "watchdog thread not started");
        }
    }
}

impl Watchdog {
    fn watch(&self) -> ! {
        let mut suspects = Vec::new();
        let mut reported = ReportedLines::default();
        let mut quiet = 0;
        loop {
            thread::sleep(INTERVAL);
            quiet = if self.check(&mut suspects, &mut reported) { 0 } else { quiet + 1 };
            if quiet >= QUIET_MAX {
                self.is_asleep.store(true, Ordering::SeqCst);
                // Check once more before sleeping. Workers that become active after this check see that the watchdog is
                // asleep and wake it.
                if self.check(&mut suspects, &mut reported) {
                    self.is_asleep.store(false, Ordering::SeqCst);
                }
                // `park` may return spuriously.
                while self.is_asleep.load(Ordering::SeqCst) {
                    thread::park();
                }
                quiet = 0;
            }
        }
    }

    /// Checks all workers. Returns whether any worker has been active.
    fn check(&self, suspects: &mut Vec<WorkerSample>, reported: &mut ReportedLines) -> bool {
        // Move new workers out of the registry, so that the lock is not held during checks, which may call a router.
        suspects.append(&mut self.registry.lock().workers);
        let mut is_busy = false;
        suspects.retain_mut(|suspect| {
            let Some(worker) = suspect.worker.upgrade() else { return false };
            // Catch panics of a router's notification, because the other workers must still be checked.
            is_busy |= catch_unwind(AssertUnwindSafe(|| suspect.sample(&worker, reported))).unwrap_or(true);
            true
        });
        is_busy
    }
}

/// Results of the watchdog's previous checks of a worker.
struct WorkerSample {
    worker: Weak<dyn WatchedThread>,
    poll: PollId,
    /// Time at which a check found the same poll for the second time, and the thread's total waiting time for a
    /// processor at that time.
    since: Option<(Instant, Duration)>,
    /// Whether the current blocked poll has already been reported.
    is_reported: bool,
}

impl WorkerSample {
    /// Checks a worker. Returns whether the worker has been active since the previous check.
    fn sample(&mut self, worker: &Arc<dyn WatchedThread>, reported: &mut ReportedLines) -> bool {
        let (poll, is_polled) = worker.current_poll();
        let is_new = std::mem::replace(&mut self.poll, poll) != poll;
        if is_new || !is_polled {
            (self.since, self.is_reported) = (None, false);
            return is_new || is_polled;
        }
        if self.is_reported {
            // A blocked thread counts as active, so that the watchdog does not sleep before the poll returns.
            return true;
        }
        let (now, waited) = (Instant::now(), worker.waited());
        let Some((since, before)) = self.since else {
            self.since = Some((now, waited));
            return true;
        };
        if now.saturating_duration_since(since).saturating_sub(waited.saturating_sub(before)) >= HELD_UP_MIN {
            // Look up the connection before the hand-over, which clears the record of the polled task.
            let culprit = worker.culprit(poll);
            let operation = culprit.as_ref().and_then(|culprit| culprit.operation());
            match worker.clone().hand_over(poll) {
                Ok(()) => {
                    self.is_reported = true;
                    reported.report(culprit, operation);
                }
                Err(error) => reported.fail(&error),
            }
        }
        true
    }
}

/// Operations that were logged because they blocked a thread, so that each is logged only once.
#[derive(Default)]
struct ReportedLines {
    /// Operations that have been logged, sorted by number.
    operations: Vec<Option<u16>>,
    has_failed: bool,
}

impl ReportedLines {
    /// Notifies the router that its operation has blocked a thread. If the router does not handle the notification,
    /// logs it once per operation.
    fn report(&mut self, culprit: Option<Arc<dyn Blocked>>, operation: Option<Operation>) {
        if let (Some(culprit), Some(operation)) = (&culprit, operation)
            && culprit.handle(operation)
        {
            return;
        }
        let number = operation.map(Operation::number);
        let Err(place) = self.operations.binary_search(&number) else { return };
        self.operations.insert(place, number);
        let peer = culprit.as_ref().and_then(|culprit| culprit.peer());
        let log = move |has_panicked: bool| {
            if !has_panicked {
                tracing::warn!(target: "frisbee::worker",
                    operation = number,
                    ?peer,
                    "router blocked its thread or printed the backtrace of a panic; other connections continue, but it \
                     must not block or compute for long"
                );
            }
        };
        match culprit {
            Some(culprit) => culprit.report_later(Box::new(log)),
            None => log(false),
        }
    }

    fn fail(&mut self, error: &io::Error) {
        if !std::mem::replace(&mut self.has_failed, true) {
            tracing::warn!(target: "frisbee::worker", %error, "thread blocked, and no other thread can take over its connections");
        }
    }
}

/// Reader of a thread's scheduler statistics.
#[derive(Debug, Default)]
pub(crate) struct ThreadClock(Option<PathBuf>);

impl ThreadClock {
    pub(crate) fn of_this_thread() -> Self {
        // Available only on Linux. On other systems, time spent waiting for a processor counts as run time.
        let thread = std::fs::read_link("/proc/thread-self");
        Self(thread.ok().map(|thread| PathBuf::from("/proc").join(thread).join("schedstat")))
    }

    /// Returns the total time during which the thread was ready to run but had no processor.
    pub(crate) fn waited(&self) -> Duration {
        let text = self.0.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let nanos = text.as_ref().and_then(|text| text.split_whitespace().nth(1)?.parse().ok());
        Duration::from_nanos(nanos.unwrap_or_default())
    }
}
