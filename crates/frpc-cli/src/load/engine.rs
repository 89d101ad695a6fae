//! Execution of a load test's calls. In a closed loop, each caller makes one call after another. In an open loop, calls
//! start by a schedule.
//!
//! In an open loop, the duration of a call is measured from its scheduled start, even if all callers are busy then. A
//! server that stalls for a second therefore delays all calls of that second, not only the calls in flight.

use super::schedule::Schedule;
use super::stats::{Outcome, Stats};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Minimum interval at which the schedule is checked. Calls that are due since the last check start together.
const TICK_MIN: Duration = Duration::from_micros(50);

/// Function that makes the calls of a load test.
pub(crate) trait Caller: Send + Sync + 'static {
    /// Makes the call with this number, counted from 0.
    fn call(&self, number: u64) -> impl Future<Output = Outcome> + Send;
}

/// Rule that determines when the calls of a load test start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Loop {
    /// Closed loop: each caller starts its next call when the previous one has ended.
    Closed { duration: Duration },
    /// Open loop: calls start at the times in a schedule.
    Open(Schedule),
}

/// Clock that wakes the callers of an open loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// A dedicated thread, accurate to about 10 us. Runtime timers have millisecond resolution.
    Thread,
    /// The timers of the runtime. Tests can pause their time.
    #[cfg(test)]
    Runtime,
}

/// Makes calls with `callers` callers until the duration of the load test has passed and all calls have ended. Records
/// the results in `stats`.
pub(crate) async fn run<C: Caller>(caller: Arc<C>, callers: usize, how: Loop, clock: Clock, stats: Arc<Mutex<Stats>>) {
    let run = Arc::new(Run { caller, next: AtomicU64::new(0), began_at: Instant::now(), stats });
    match how {
        Loop::Closed { duration } => run.closed(callers, duration).await,
        Loop::Open(schedule) => run.open(callers, schedule, clock).await,
    }
}

/// A load test in progress, shared by its callers.
struct Run<C> {
    caller: Arc<C>,
    /// Number of the next call.
    next: AtomicU64,
    began_at: Instant,
    stats: Arc<Mutex<Stats>>,
}

impl<C: Caller> Run<C> {
    fn record(&self, intended: Instant, started: Instant, outcome: Outcome) {
        let ended = Instant::now();
        let late = started.saturating_duration_since(intended);
        let took = ended.saturating_duration_since(intended);
        let mut stats = self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        stats.record(ended.saturating_duration_since(self.began_at), took, late, outcome);
    }

    async fn closed(self: Arc<Self>, callers: usize, duration: Duration) {
        let mut tasks = JoinSet::new();
        for _ in 0..callers {
            let run = self.clone();
            tasks.spawn(async move {
                loop {
                    let start = Instant::now();
                    if start.duration_since(run.began_at) >= duration {
                        return;
                    }
                    let outcome = run.caller.call(run.next.fetch_add(1, Ordering::Relaxed)).await;
                    run.record(start, start, outcome);
                }
            });
        }
        while tasks.join_next().await.is_some() {}
    }

    async fn open(self: Arc<Self>, callers: usize, schedule: Schedule, clock: Clock) {
        let due = Arc::new(Semaphore::new(0));
        let mut tasks = JoinSet::new();
        for _ in 0..callers {
            let (run, due) = (self.clone(), due.clone());
            tasks.spawn(async move {
                while let Ok(permit) = due.acquire().await {
                    permit.forget();
                    let number = run.next.fetch_add(1, Ordering::Relaxed);
                    if number >= schedule.count() {
                        return;
                    }
                    let intended = run.began_at + schedule.start(number);
                    let started = Instant::now();
                    let outcome = run.caller.call(number).await;
                    run.record(intended, started, outcome);
                }
            });
        }
        let (began_at, mut released) = (self.began_at, 0);
        match clock {
            Clock::Thread => {
                thread::spawn(move || {
                    while let Some(pause) = release(&schedule, began_at.elapsed(), &mut released, callers, &due) {
                        thread::sleep(pause);
                    }
                });
            }
            #[cfg(test)]
            Clock::Runtime => {
                while let Some(pause) = release(&schedule, began_at.elapsed(), &mut released, callers, &due) {
                    tokio::time::sleep(pause).await;
                }
            }
        }
        while tasks.join_next().await.is_some() {}
    }
}

/// Wakes callers for the calls that are due, and returns the time until the next call. After the last call, wakes all
/// callers so that they end.
fn release(
    schedule: &Schedule,
    elapsed: Duration,
    released: &mut u64,
    callers: usize,
    due: &Semaphore,
) -> Option<Duration> {
    let now_due = schedule.due(elapsed);
    let new = now_due.saturating_sub(*released);
    due.add_permits(usize::try_from(new).unwrap_or(usize::MAX >> 4));
    *released = now_due;
    if now_due >= schedule.count() {
        due.add_permits(callers);
        return None;
    }
    Some(schedule.start(now_due).saturating_sub(elapsed).max(TICK_MIN))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test server that replies after 1 ms, except while it stalls.
    struct StallingServer {
        began_at: Instant,
        from: Duration,
        until: Duration,
    }

    impl Caller for StallingServer {
        async fn call(&self, _number: u64) -> Outcome {
            tokio::time::sleep(Duration::from_millis(1)).await;
            let at = self.began_at.elapsed();
            if at >= self.from && at < self.until {
                tokio::time::sleep_until(self.began_at + self.until).await;
            }
            Outcome { method: 0, code: frpc::Code::Ok }
        }
    }

    async fn against_a_server_that_stops(how: Loop, callers: usize) -> Stats {
        let (from, until) = (Duration::from_secs(4), Duration::from_secs(5));
        let caller = Arc::new(StallingServer { began_at: Instant::now(), from, until });
        let stats = Arc::new(Mutex::new(Stats::new(vec!["a.B/C".to_owned()], Duration::from_secs(10))));
        run(caller, callers, how, Clock::Runtime, stats.clone()).await;
        Arc::into_inner(stats).unwrap().into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn open_loop_counts_calls_delayed_by_stall() {
        // With 50 callers, most of the 1000 calls that become due during the stall find no free caller.
        for callers in [2000, 50] {
            let schedule = Schedule::constant(1000.0, Duration::from_secs(10));
            let stats = against_a_server_that_stops(Loop::Open(schedule), callers).await;
            assert_eq!(stats.calls(), 10_000);
            assert!(stats.max() >= Duration::from_millis(950), "{:?}", stats.max());
            let share = stats.slower_than(Duration::from_millis(10)) as f64 / 10_000.0;
            assert!((0.09..0.12).contains(&share), "share of delayed calls is {share}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn closed_loop_sees_stall_once_per_caller() {
        let stats = against_a_server_that_stops(Loop::Closed { duration: Duration::from_secs(10) }, 5).await;
        assert!(stats.max() >= Duration::from_millis(950));
        assert_eq!(stats.slower_than(Duration::from_millis(10)), 5);
    }

    #[tokio::test(start_paused = true)]
    async fn open_loop_calls_start_on_schedule() {
        let (ramp, duration) = (Duration::from_secs(5), Duration::from_secs(10));
        let schedule = Schedule { from: 10.0, to: 100.0, ramp, duration };
        let stats = against_a_server_that_stops(Loop::Open(schedule), 1000).await;
        assert_eq!(stats.calls(), schedule.count());
        assert!(stats.late_max() <= Duration::from_millis(2), "{:?}", stats.late_max());
    }
}
