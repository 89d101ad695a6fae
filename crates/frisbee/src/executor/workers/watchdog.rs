//! Notices tasks that block the threads of workers, and has other threads take over everything else.
//!
//! One thread for the whole process looks at all workers every few milliseconds while any of them has something to do.
//! It sleeps while none has. Workers pay one load for it at each poll of a task.

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

/// How often workers are checked. A task that is still being polled at the second check is suspect, and its thread is
/// replaced at the third: within 8 to 12 ms. The system lets a thread wait for its processor for as long as that when
/// others compute, so a shorter interval would mostly blame tasks for that wait.
const INTERVAL: Duration = Duration::from_millis(4);

/// For how long after the second look the thread has to have computed or slept, and not waited for a processor: a little
/// less than the time between two looks.
const HELD_UP_MIN: Duration = Duration::from_millis(3);

/// Looks without anything to do after which the watchdog sleeps. Waking it costs a system call, which workers that have
/// something to do every now and then should not pay each time.
const QUIET_MAX: u32 = 25;

/// Identifies a poll of a worker.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct PollId(pub(crate) u64);

/// A thread that polls tasks.
pub(crate) trait WatchedThread: Send + Sync {
    /// The last poll, and whether it is still running.
    fn current_poll(&self) -> (PollId, bool);

    /// The culprit of a running poll.
    fn culprit(&self, poll: PollId) -> Option<Arc<dyn Blocked>>;

    /// How long the thread has waited for a processor.
    fn waited(&self) -> Duration;

    /// Has another thread take over all other tasks if the poll is still running.
    fn hand_over(self: Arc<Self>, poll: PollId) -> io::Result<()>;
}

/// A connection and its router, which a blocked thread is reported to.
pub(crate) trait Blocked: Send + Sync {
    /// The operation that is being routed.
    fn operation(&self) -> Option<Operation>;

    /// The address of the peer.
    fn peer(&self) -> Option<SocketAddr>;

    /// Notifies the router; `false` if it does nothing about it.
    fn handle(&self, operation: Operation) -> bool;

    /// Reports, a moment later, whether a panic was the reason.
    fn report_later(&self, report: Box<dyn FnOnce(bool) + Send>);
}

opaque_debug!([] dyn Blocked, "Blocked");

static WATCHDOG: Watchdog = Watchdog {
    is_asleep: AtomicBool::new(true),
    registry: Mutex::new(WatchdogState { workers: Vec::new(), thread: None }),
};

struct Watchdog {
    /// Its thread sleeps, or there is none.
    is_asleep: AtomicBool,
    registry: Mutex<WatchdogState>,
}

struct WatchdogState {
    /// Workers that its thread does not know of.
    workers: Vec<WorkerSample>,
    thread: Option<Thread>,
}

/// Has a worker looked at from now on.
pub(crate) fn register(worker: Weak<dyn WatchedThread>) {
    WATCHDOG.registry.lock().workers.push(WorkerSample {
        worker,
        poll: PollId::default(),
        since: None,
        is_reported: false,
    });
}

/// Whether the watchdog has to be [roused](wake_watchdog) by a worker with work. To be called with that already visible: under
/// a lock, or by an operation that is sequentially consistent as this one is.
#[inline]
pub(crate) fn is_asleep() -> bool {
    WATCHDOG.is_asleep.load(Ordering::SeqCst)
}

/// Wakes the watchdog.
#[cold]
pub(crate) fn wake_watchdog() {
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
                // Workers that have got something to do since then will see that it sleeps.
                if self.check(&mut suspects, &mut reported) {
                    self.is_asleep.store(false, Ordering::SeqCst);
                }
                while self.is_asleep.load(Ordering::SeqCst) {
                    thread::park();
                }
                quiet = 0;
            }
        }
    }

    /// Looks at all workers; whether any has something to do.
    fn check(&self, suspects: &mut Vec<WorkerSample>, reported: &mut ReportedLines) -> bool {
        suspects.append(&mut self.registry.lock().workers);
        let mut is_busy = false;
        suspects.retain_mut(|suspect| {
            let Some(worker) = suspect.worker.upgrade() else { return false };
            // A router that panics when it is notified must not end the checks of all workers.
            is_busy |= catch_unwind(AssertUnwindSafe(|| suspect.sample(&worker, reported))).unwrap_or(true);
            true
        });
        is_busy
    }
}

/// The results of the last checks of a worker.
struct WorkerSample {
    worker: Weak<dyn WatchedThread>,
    poll: PollId,
    /// When the second look found the same task being polled, and how long its thread had waited for a processor then.
    since: Option<(Instant, Duration)>,
    /// That task has been handled.
    is_reported: bool,
}

impl WorkerSample {
    /// Samples the worker; returns whether it was active since the last sample.
    fn sample(&mut self, worker: &Arc<dyn WatchedThread>, reported: &mut ReportedLines) -> bool {
        let (poll, is_polled) = worker.current_poll();
        let is_new = std::mem::replace(&mut self.poll, poll) != poll;
        if is_new || !is_polled {
            (self.since, self.is_reported) = (None, false);
            return is_new || is_polled;
        }
        if self.is_reported {
            return true;
        }
        let (now, waited) = (Instant::now(), worker.waited());
        let Some((since, before)) = self.since else {
            self.since = Some((now, waited));
            return true;
        };
        if now.saturating_duration_since(since).saturating_sub(waited.saturating_sub(before)) >= HELD_UP_MIN {
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

/// The lines logged so far.
#[derive(Default)]
struct ReportedLines {
    /// In their order.
    operations: Vec<Option<u16>>,
    has_failed: bool,
}

impl ReportedLines {
    /// Notifies the router, or if it does nothing about it the log, once.
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

/// The times that the system keeps of a thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadClock(Option<PathBuf>);

impl ThreadClock {
    pub(crate) fn of_this_thread() -> Self {
        // Linux only. Elsewhere the time during which a thread waits for its processor counts as its task's.
        let thread = std::fs::read_link("/proc/thread-self");
        Self(thread.ok().map(|thread| PathBuf::from("/proc").join(thread).join("schedstat")))
    }

    /// How long the thread has been ready to run and has waited for a processor.
    pub(crate) fn waited(&self) -> Duration {
        let text = self.0.as_ref().and_then(|path| std::fs::read_to_string(path).ok());
        let nanos = text.as_ref().and_then(|text| text.split_whitespace().nth(1)?.parse().ok());
        Duration::from_nanos(nanos.unwrap_or_default())
    }
}
