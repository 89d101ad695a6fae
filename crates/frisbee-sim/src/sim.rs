//! Runs worlds with one or many seeds, twice to detect nondeterminism, and with fewer faults after a failure.

use crate::failure::{Failure, write_trace};
use crate::state::{ScheduledFault, Shared};
use crate::trace::Event;
use crate::world::World;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::future::poll_fn;
use std::num::NonZero;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;
use std::{env, thread};
use tokio::time::{sleep, timeout};

/// Default maximum simulated time of a world.
const TIME_MAX: Duration = Duration::from_secs(3_600);

/// Maximum number of runs to find the smallest set of faults that causes a failure.
const SHRINKS: usize = 200;

thread_local! {
    /// The world that is running on this thread.
    static CURRENT: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// Future of a world. Boxed so that the code that runs worlds is compiled only once.
type Course = Pin<Box<dyn Future<Output = ()>>>;

fn boxed<W: Future<Output = ()> + 'static>(world: impl Fn(World) -> W) -> impl Fn(World) -> Course {
    move |shared| Box::pin(world(shared))
}

/// Runs one world twice, like [`Sim::run`]. Panics if a run fails or the two differ.
///
/// If `FRISBEE_SEED` is this seed, `FRISBEE_FAULTS` and `FRISBEE_TRACE` apply as in [`Sim::seeds`].
///
/// ```
/// use frisbee_sim::sim;
/// use std::time::Duration;
///
/// let report = sim(7, |world| async move {
///     tokio::time::sleep(Duration::from_secs(3_600 - 1)).await;
///     world.note("an hour has passed in no time");
/// });
/// assert!(report.elapsed > Duration::from_secs(3_598));
/// ```
#[track_caller]
pub fn sim<F, W>(seed: u64, world: F) -> Report
where
    F: Fn(World) -> W,
    W: Future<Output = ()> + 'static,
{
    let (sim, world) = (Sim::new(), boxed(world));
    let is_repeated = variable("FRISBEE_SEED") == Some(seed);
    let run = if is_repeated { sim.repeat(seed, &world) } else { sim.run_boxed(seed, &world) };
    run.unwrap_or_else(|failure| panic!("{}", failure.write()))
}

/// Settings of simulations, and the methods that run worlds with them.
///
/// ```
/// use frisbee_sim::Sim;
///
/// // In a test:
/// Sim::new().seeds(20, |world| async move {
///     let node = world.node("a");
///     node.process();
///     assert!(node.is_up());
/// });
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Sim {
    runs_twice: bool,
    shrinks: bool,
    time_max: Duration,
    kept: Option<BTreeSet<usize>>,
    /// Name of the test, if known.
    test: Option<String>,
}

impl Default for Sim {
    fn default() -> Self {
        Self::new()
    }
}

/// Summary of a successful run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Hash of all events. It is the same for the same seed and program on every machine.
    pub trace_hash: u64,
    /// Number of events in the trace.
    pub events: u64,
    /// Simulated duration of the run.
    pub elapsed: Duration,
}

/// Data of a run that a failure report requires.
pub(crate) struct RunRecord {
    pub(crate) report: Report,
    pub(crate) failure: Option<String>,
    pub(crate) schedule: Vec<ScheduledFault>,
    pub(crate) events: Vec<Event>,
}

impl Sim {
    /// Creates a simulation with the default settings.
    pub fn new() -> Self {
        Self { runs_twice: true, shrinks: true, time_max: TIME_MAX, kept: None, test: None }
    }

    /// Sets whether each seed runs twice to detect nondeterminism. Defaults to true.
    pub fn runs_twice(self, twice: bool) -> Self {
        Self { runs_twice: twice, ..self }
    }

    /// Sets whether a failing world is run again with fewer faults, up to 200 times. Defaults to true.
    pub fn shrinks(self, shrinks: bool) -> Self {
        Self { shrinks, ..self }
    }

    /// Sets the maximum simulated time of a world. Defaults to one hour.
    ///
    /// # Panics
    /// If it is zero.
    pub fn time_max(self, time: Duration) -> Self {
        assert!(!time.is_zero(), "time_max should be above zero, because a world would end at once");
        Self { time_max: time, ..self }
    }

    /// Runs the world with the seeds from 0 on, on all processors. Panics with the [`Failure`] of the first failing
    /// one. For tests, which can be controlled by these environment variables:
    ///
    /// * `FRISBEE_SEED=7` runs one seed, and `FRISBEE_FAULTS=0,3` some of its faults; both are in the command that a
    ///   failure names
    /// * `FRISBEE_SEEDS=100000` runs more seeds, and `FRISBEE_SEEDS=20000..30000` those from 20 000 on
    /// * `FRISBEE_TRACE=/tmp/trace` writes the trace of one seed to `/tmp/trace.txt` and its time line to
    ///   `/tmp/trace.svg`
    ///
    /// The trace and timeline of a failing seed are always written to the folder `frisbee-sim` next to the folder of
    /// the program, which is in `target` for tests. The failure states their paths.
    ///
    /// # Panics
    /// If a seed fails, or if a variable is invalid.
    pub fn seeds<F, W>(self, seeds: u64, world: F)
    where
        F: Fn(World) -> W + Sync,
        W: Future<Output = ()> + 'static,
    {
        let world = boxed(world);
        if let Some(seed) = variable("FRISBEE_SEED") {
            match self.repeat(seed, &world) {
                Ok(report) => println!("seed {seed}: {report:?}"),
                Err(failure) => panic!("{}", failure.write()),
            }
        } else {
            let seeds = env::var("FRISBEE_SEEDS").map_or(0..seeds, |text| range(&text));
            if let Some(failure) = self.find_in(seeds, &world) {
                panic!("{}", failure.write());
            }
        }
    }

    /// Sets the name of the test, for macros that know it at compile time.
    #[doc(hidden)]
    pub fn of_test(mut self, module: &str, name: &str) -> Self {
        // Remove the crate, because the name of a test does not include it.
        let within = module.split_once("::").map_or(String::new(), |(_, within)| format!("{within}::"));
        self.test = Some(within + name);
        self
    }

    /// Runs the world of one seed with the faults selected by `FRISBEE_FAULTS`, and writes its trace to the path in
    /// `FRISBEE_TRACE`.
    fn repeat(self, seed: u64, world: &dyn Fn(World) -> Course) -> Result<Report, Failure> {
        let kept = env::var("FRISBEE_FAULTS").ok().map(|kept| numbers(&kept));
        if let Ok(path) = env::var("FRISBEE_TRACE") {
            let ran = self.once(seed, kept.clone(), true, world);
            write_trace(&ran.events, path.as_ref()).expect("trace file should be written");
        }
        Self { kept, ..self }.run_boxed(seed, world)
    }

    /// Runs the world with seeds from 0 upwards on all processors, until one fails. Returns the failure with the
    /// smallest seed.
    pub fn find<F, W>(&self, seeds: u64, world: F) -> Option<Failure>
    where
        F: Fn(World) -> W + Sync,
        W: Future<Output = ()> + 'static,
    {
        self.find_in(0..seeds, &boxed(world))
    }

    fn find_in(&self, seeds: Range<u64>, world: &(dyn Fn(World) -> Course + Sync)) -> Option<Failure> {
        let (next, end) = (AtomicU64::new(seeds.start), AtomicU64::new(seeds.end));
        let found = Mutex::new(None);
        let search = || {
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end.load(Ordering::Relaxed) {
                    return;
                }
                if let Err(failure) = self.run_as_is(seed, world) {
                    end.fetch_min(seed, Ordering::Relaxed);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    if found.as_ref().is_none_or(|(least, _)| seed < *least) {
                        *found = Some((seed, failure));
                    }
                }
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = (threads as u64).min(seeds.end.saturating_sub(seeds.start));
        let name = thread::current().name().unwrap_or_default().to_owned();
        thread::scope(|scope| {
            for _ in 0..threads {
                thread::Builder::new()
                    .name(name.clone())
                    .spawn_scoped(scope, search)
                    .expect("search thread should start");
            }
        });
        let (seed, failure) = found.into_inner().unwrap_or_else(PoisonError::into_inner)?;
        Some(self.shrink(seed, failure, world))
    }

    /// Runs the world of a single seed.
    ///
    /// # Errors
    /// Returns the failure, with as few faults as possible, if a task or handler panics, a condition does not hold, the
    /// world does not end in time, a thread is started, or a second run differs.
    pub fn run<F, W>(&self, seed: u64, world: F) -> Result<Report, Failure>
    where
        F: Fn(World) -> W,
        W: Future<Output = ()> + 'static,
    {
        self.run_boxed(seed, &boxed(world))
    }

    fn run_boxed(&self, seed: u64, world: &dyn Fn(World) -> Course) -> Result<Report, Failure> {
        self.run_as_is(seed, world).map_err(|failure| self.shrink(seed, failure, world))
    }

    /// Like [`run`](Self::run), but does not search for a smaller set of faults after a failure.
    fn run_as_is(&self, seed: u64, world: &dyn Fn(World) -> Course) -> Result<Report, String> {
        let first = self.once(seed, self.kept.clone(), false, world);
        if let Some(text) = first.failure {
            return Err(text);
        }
        if self.runs_twice {
            let second = self.once(seed, self.kept.clone(), false, world);
            if second.report != first.report {
                return Err(self.differ(seed, world));
            }
        }
        Ok(first.report)
    }

    /// Runs a world once, with all its faults or only the faults in `kept`.
    fn once(
        &self,
        seed: u64,
        kept: Option<BTreeSet<usize>>,
        is_recorded: bool,
        world: &dyn Fn(World) -> Course,
    ) -> RunRecord {
        catch_panics();
        fastrand::seed(seed);
        // Use a weak reference, because the world owns handles of the runtime, which owns the callback.
        let watched = Arc::new(OnceLock::<Weak<Shared>>::new());
        let started = watched.clone();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .on_thread_park(|| {
                if let Some(shared) = current() {
                    shared.run_checks();
                }
            })
            .on_thread_start(move || {
                if let Some(shared) = started.get().and_then(Weak::upgrade) {
                    shared.fail(THREAD.to_owned());
                }
            })
            .build()
            .expect("runtime without I/O should be created");
        let (shared, ran) = runtime.block_on(async {
            // Sleep, because paused time starts between two ticks of the timer. Sleeping aligns it with a tick, so the
            // initial offset does not affect the run.
            sleep(Duration::from_millis(1)).await;
            let shared = Shared::new(seed, is_recorded, kept);
            drop(watched.set(Arc::downgrade(&shared)));
            let _current = Current::enter(&shared);
            let course = async {
                if timeout(self.time_max, world(World(shared.clone()))).await.is_err() {
                    shared.fail(format!("the world has not ended within {:?}", self.time_max));
                }
            };
            until_failed(&shared, course).await;
            shared.run_checks();
            let ran = shared.finish();
            (shared, ran)
        });
        // Values that are dropped with the runtime may panic as well.
        let _current = Current::enter(&shared);
        drop(runtime);
        let failure = shared.failure();
        shared.clear();
        RunRecord { failure, ..ran }
    }

    /// Describes how two runs of the same seed differ.
    fn differ(&self, seed: u64, world: &dyn Fn(World) -> Course) -> String {
        let [one, other] = [0, 1].map(|_| self.once(seed, self.kept.clone(), true, world).events);
        let at = one.iter().zip(&other).position(|(one, other)| one != other);
        let at = at.unwrap_or_else(|| one.len().min(other.len()));
        let event = |events: &[Event]| events.get(at).map_or("  (the end)".to_owned(), Event::to_string);
        let first = if one == other {
            "Two further runs were equal.".to_owned()
        } else {
            format!("The first event that differs is number {at}:\n{}\n{}", event(&one), event(&other))
        };
        format!("two runs of one seed differ. {first}\n{CAUSES}")
    }

    /// Searches for a smaller set of faults that still makes the world fail.
    fn shrink(&self, seed: u64, text: String, world: &dyn Fn(World) -> Course) -> Failure {
        let whole = self.once(seed, self.kept.clone(), true, world);
        if whole.failure.is_none() {
            return Failure::new(seed, text, &whole, None, self.test.clone());
        }
        let mut kept: Vec<_> = match &self.kept {
            Some(kept) => kept.iter().copied().collect(),
            // Faults had no effect if their occasion did not occur.
            None => (0..whole.schedule.len()).filter(|number| whole.schedule[*number].struck.is_some()).collect(),
        };
        let (mut runs, mut step, mut last) = (0, kept.len().max(1), whole);
        // Omit large groups of faults first, and single ones last.
        while self.shrinks && !kept.is_empty() && runs < SHRINKS {
            let mut at = 0;
            let before = kept.len();
            while at < kept.len() && runs < SHRINKS {
                let mut fewer = kept.clone();
                fewer.drain(at..(at + step).min(kept.len()));
                runs += 1;
                let ran = self.once(seed, Some(fewer.iter().copied().collect()), true, world);
                if ran.failure.is_some() {
                    (kept, last) = (fewer, ran);
                } else {
                    at += step;
                }
            }
            if step == 1 && kept.len() == before {
                break;
            }
            step = (step / 2).max(1);
        }
        let text = last.failure.clone().unwrap_or(text);
        Failure::new(seed, text, &last, Some(&kept), self.test.clone())
    }
}

/// Error message for a simulated world that started a thread.
const THREAD: &str = "a thread was started, by spawn_blocking, tokio::fs or the like: no seed decides when it is ready";

/// Hints at common causes of nondeterministic runs.
const CAUSES: &str = "The usual causes: the order of a HashMap or HashSet (use BTreeMap, or sort); std::time::Instant::now or \
    SystemTime::now (use tokio's Instant, and Process::clock); threads; tokio::select! without `biased`; tokio::sync::watch with several \
    receivers, which it wakes in an order of its own; chance that is not from World::draw or fastrand's generator of the \
    thread; statics that remember the run before.";

/// Polls a world until it has ended or failed.
async fn until_failed(shared: &Arc<Shared>, course: impl Future<Output = ()>) {
    let mut course = pin!(course);
    poll_fn(|context| {
        *shared.root.lock() = Some(context.waker().clone());
        if shared.failure().is_some() {
            return Poll::Ready(());
        }
        // A panic was already recorded by the hook.
        catch_unwind(AssertUnwindSafe(|| course.as_mut().poll(context))).unwrap_or(Poll::Ready(()))
    })
    .await;
}

impl Shared {
    /// Returns the record of the completed run.
    fn finish(&self) -> RunRecord {
        let elapsed = self.elapsed();
        let mut state = self.lock();
        let report = Report { trace_hash: state.trace.hash, events: state.trace.count, elapsed };
        let events = state.trace.events.take().unwrap_or_default();
        RunRecord { report, failure: None, schedule: std::mem::take(&mut state.schedule), events }
    }
}

/// Guard that unsets the current world of the thread when dropped.
struct Current;

impl Current {
    fn enter(shared: &Arc<Shared>) -> Self {
        CURRENT.set(Some(shared.clone()));
        Self
    }
}

impl Drop for Current {
    fn drop(&mut self) {
        CURRENT.set(None);
    }
}

fn current() -> Option<Arc<Shared>> {
    CURRENT.try_with(|current| current.try_borrow().ok()?.clone()).ok()?
}

/// Installs a panic hook that records the panics of threads that run a world, instead of printing them.
fn catch_panics() {
    static CATCHING: Once = Once::new();
    CATCHING.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match current() {
            Some(shared) => shared.fail(panic.to_string()),
            None => report(panic),
        }));
    });
}

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// Parses a range of seeds, such as `100000` or `20000..30000`.
fn range(text: &str) -> Range<u64> {
    let (start, end) = text.split_once("..").unwrap_or(("0", text));
    let number =
        |part: &str| part.parse().unwrap_or_else(|_| panic!("FRISBEE_SEEDS is neither 100000 nor 0..100000: {text}"));
    number(start)..number(end)
}

fn numbers(text: &str) -> BTreeSet<usize> {
    let numbers = text.split(',').filter(|number| !number.is_empty());
    numbers.map(|number| number.parse().expect("seed should be a number")).collect()
}
