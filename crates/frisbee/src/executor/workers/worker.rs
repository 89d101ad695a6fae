//! A worker: a runtime of tokio for sockets and timers, the tasks that drive connections, and the thread that turns
//! both.
//!
//! The tasks are not tokio's. tokio binds a runtime of one thread to that thread for as long as it polls, so a task
//! that blocks would block all others. Here the thread releases the runtime before it polls a task, and the queue of
//! tasks as well. If a task does not return, another thread takes over both, with every socket, timer and task where it
//! was; the first one ends when its task returns. The [watchdog](super::watchdog) decides when.
//!
//! # Decisions
//!
//! A handler that blocks would stall all connections of its thread, and tokio binds a single-threaded runtime to the thread that
//! polls its tasks. A worker therefore uses tokio for sockets and timers only: it enters `block_on` to wait for them, leaves it,
//! and then polls its own tasks without holding the runtime or the queue. If a poll does not return, the watchdog starts a thread
//! that continues with both: nothing is moved or registered again, so a false alarm costs one thread. Entering and leaving costs
//! some hundred instructions for each poll of the sockets. Moving sockets and timers to another reactor would take time per
//! connection and cannot move TLS handshakes. The connection of the blocking handler still waits for it, and on io_uring so do
//! the other connections of the ring.

use super::task::WorkerTask;
use super::watchdog::{self, Blocked, PollId, WatchedThread};
use crate::executor::tasks::{Home, Job};
use parking_lot::{Mutex, MutexGuard};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};

/// Sockets that a worker polls at one time. Their bytes are processed while the memory of their connections is still in
/// the cache: with 1024 at one time, as is usual, most of it has to be fetched again. Polling costs about as much as a
/// packet, a thirty-second of that for each of them.
const EVENTS_AT_ONCE: usize = 32;

/// Polls of tasks between two looks at the sockets, if there is always a task that is ready: as many as tokio makes.
const POLLS_AT_ONCE: usize = 61;

/// The number of continuing tasks polled between two polls of the sockets. All others would wait for all of them: with
/// a thousand clients that send without end, each reply would take a thousand turns.
const LAST_AT_ONCE: usize = 4;

/// Threads of one worker that may be blocked by their tasks at one time. Each takes a stack. Handlers that hold up
/// threads get tasks elsewhere, so they reach no such number; only this limit bounds routers, which block in place.
const BLOCKED_MAX: usize = 32;

/// A handle of a worker. The worker ends, with its tasks, when this is dropped.
#[derive(Debug)]
pub(crate) struct Worker(Arc<ExecutorShared>);

/// The load of a worker.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkerView {
    /// Its tasks: connections, handlers that wait, and of the first worker also the one that accepts.
    pub tasks: usize,
    /// The tasks that wait for their turn.
    pub ready: usize,
    /// How often tasks had their turn since the worker began.
    pub polls: u64,
    /// How many threads it has given up since their tasks [held them up](crate::Protocol::blocked).
    pub threads_given_up: usize,
}

/// Looks at a worker, as long as it is there.
#[derive(Debug)]
pub(crate) struct WorkerWatch(Weak<ExecutorShared>);

impl WorkerWatch {
    pub(crate) fn view(&self) -> Option<WorkerView> {
        let worker = self.0.upgrade()?;
        let state = worker.state.lock();
        Some(WorkerView {
            tasks: state.tasks.len(),
            ready: state.ready.len() + state.last.len(),
            polls: state.poll.0,
            threads_given_up: state.thread,
        })
    }
}

/// Shared by a worker's tasks and threads.
#[derive(Debug)]
pub(super) struct ExecutorShared {
    runtime: Handle,
    state: Mutex<State>,
    /// Ends the wait for sockets and timers.
    waker: OnceLock<Waker>,
    /// A reference for each connection that it drives, and one more.
    driven: Arc<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Woken, and to be polled in this order.
    ready: VecDeque<Arc<WorkerTask>>,
    /// To continue once the sockets have been polled, in this order, a few at a time.
    last: VecDeque<DeferredTask>,
    tasks: HashMap<u64, ExecutorEntry>,
    next: u64,
    /// The thread waits for sockets and timers, and has to be woken.
    is_asleep: bool,
    is_stopped: bool,
    /// The number of the thread whose turn it is. All others are held up, and end.
    thread: usize,
    /// The last poll.
    poll: PollId,
    /// The task that is being polled, by the thread whose turn it is.
    polled: Option<u64>,
}

#[derive(Debug)]
struct ExecutorEntry {
    task: Arc<WorkerTask>,
    /// The culprit to report if the task blocks its thread.
    culprit: Option<Arc<dyn Blocked>>,
}

/// A task that continues after everything else.
#[derive(Debug)]
enum DeferredTask {
    /// It is to be woken.
    Asleep(Waker),
    /// It was woken while it was polled, and is to be queued.
    Woken(Arc<WorkerTask>),
}

/// The task that drives a connection, as the connection knows it.
#[derive(Clone, Debug)]
pub(crate) struct DriverTask(Weak<WorkerTask>);

impl Home for DriverTask {
    /// Runs a job of the connection next to it. If it has ended, the job is dropped.
    fn spawn(&self, task: Job) {
        let Some(driver) = self.0.upgrade() else { return };
        driver.worker().spawn(task, Some(driver.number()));
    }
}

/// A worker as its threads have it.
#[derive(Debug)]
pub(super) struct Core {
    shared: Arc<ExecutorShared>,
    runtime: Runtime,
    name: String,
    /// Threads that are held up.
    blocked: AtomicUsize,
    /// The system's state of the thread whose turn it is.
    clock: Mutex<watchdog::ThreadClock>,
}

thread_local! {
    /// The worker that this thread belongs to.
    static CURRENT: RefCell<Option<Arc<ExecutorShared>>> = const { RefCell::new(None) };
}

/// The next action of a thread.
enum NextAction {
    Poll(Arc<WorkerTask>),
    /// Nothing is ready, or there have been many polls.
    Look,
    /// Another thread has taken over.
    End,
}

impl Worker {
    pub(crate) fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().max_io_events_per_tick(EVENTS_AT_ONCE).build()?;
        let shared = Arc::new(ExecutorShared {
            runtime: runtime.handle().clone(),
            state: Mutex::default(),
            waker: OnceLock::new(),
            driven: Arc::default(),
        });
        let core = Arc::new(Core {
            shared: shared.clone(),
            runtime,
            name: format!("frisbee-{number}"),
            blocked: AtomicUsize::new(0),
            clock: Mutex::default(),
        });
        core.start_thread(None)?;
        let watched: Arc<dyn WatchedThread> = core;
        watchdog::register(Arc::downgrade(&watched));
        Ok(Self(shared))
    }

    /// The runtime of its sockets and timers.
    pub(crate) fn handle(&self) -> &Handle {
        &self.0.runtime
    }

    /// Lets the worker be looked at, without keeping it.
    pub(crate) fn watch(&self) -> WorkerWatch {
        WorkerWatch(Arc::downgrade(&self.0))
    }

    /// Whether its thread waits for sockets and timers.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.0.state.lock().is_asleep
    }

    /// Whether it polls the calling task.
    pub(crate) fn is_current(&self) -> bool {
        CURRENT.with_borrow(|current| current.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, &self.0)))
    }

    /// Counts a connection for as long as the result lives.
    pub(crate) fn driven(&self) -> Arc<()> {
        self.0.driven.clone()
    }

    /// How many connections it drives.
    pub(crate) fn load(&self) -> usize {
        Arc::strong_count(&self.0.driven) - 1
    }

    /// Runs a task in the context of [its runtime](Self::handle).
    pub(crate) fn spawn(&self, task: Job) {
        self.0.spawn(task, None);
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        state.is_stopped = true;
        self.0.wake_thread(state);
    }
}

/// Notes on the worker of this thread that the polled task drives a connection, to report if that blocks the thread.
/// Returns the task, next to which the jobs of the connection run; `None` on a thread that is no worker's.
pub(crate) fn settle(culprit: impl FnOnce() -> Arc<dyn Blocked>) -> Option<DriverTask> {
    CURRENT.with_borrow(|current| {
        let (shared, number) = current.as_ref().zip(WorkerTask::current())?;
        let culprit = culprit();
        let mut state = shared.state.lock();
        let entry = state.tasks.get_mut(&number)?;
        entry.culprit = Some(culprit);
        Some(DriverTask(Arc::downgrade(&entry.task)))
    })
}

/// The runtime of the worker that this thread belongs to, for sockets and timers of your own: what becomes ready there
/// wakes no other thread. `None` on a thread that is no worker's.
///
/// ```
/// assert!(frisbee::tasks::worker_runtime().is_none());
/// ```
pub fn worker_runtime() -> Option<Handle> {
    CURRENT.with_borrow(|current| current.as_ref().map(|shared| shared.runtime.clone()))
}

/// Wakes a task of this thread's worker once sockets and timers have been looked at. `false` if the thread is none of a
/// worker's.
pub(crate) fn wake_last(waker: &Waker) -> bool {
    CURRENT.with_borrow(|current| {
        let Some(shared) = current else { return false };
        let mut state = shared.state.lock();
        state.last.push_back(DeferredTask::Asleep(waker.clone()));
        // Another thread may have taken over, which is asleep.
        shared.wake_thread(state);
        true
    })
}

impl ExecutorShared {
    /// `driver` is the number of the task that drives the connection, if this is a job of it: both have one culprit.
    fn spawn(self: &Arc<Self>, future: Job, driver: Option<u64>) {
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            return drop(future);
        }
        let number = state.next;
        state.next += 1;
        let task = WorkerTask::new(number, driver.is_some(), self.clone(), future);
        let culprit = driver.and_then(|driver| state.tasks.get(&driver)?.culprit.clone());
        state.tasks.insert(number, ExecutorEntry { task: task.clone(), culprit });
        state.ready.push_back(task);
        self.wake_thread(state);
    }

    /// Queues a task that has been woken.
    pub(super) fn queue(&self, task: Arc<WorkerTask>) {
        let mut state = self.state.lock();
        if state.is_stopped {
            drop(state);
            return drop(task);
        }
        state.ready.push_back(task);
        self.wake_thread(state);
    }

    /// Queues a task that has been woken while it was polled, once the sockets have been looked at.
    pub(super) fn queue_last(&self, task: Arc<WorkerTask>) {
        let mut state = self.state.lock();
        if !state.is_stopped {
            state.last.push_back(DeferredTask::Woken(task));
            return self.wake_thread(state);
        }
        drop(state);
        drop(task);
    }

    /// Forgets a task that is over.
    pub(super) fn forget(&self, number: u64) {
        let entry = self.state.lock().tasks.remove(&number);
        drop(entry);
    }

    /// Wakes the thread if it sleeps.
    fn wake_thread(&self, mut state: MutexGuard<'_, State>) {
        let was_asleep = std::mem::take(&mut state.is_asleep);
        drop(state);
        if was_asleep && let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// The next action of the thread of this number, after so many polls.
    fn next(&self, thread: usize, polls: usize) -> NextAction {
        let mut state = self.state.lock();
        if state.thread != thread {
            return NextAction::End;
        }
        // Once it is stopped, the runtime of handlers may be gone.
        let task = if polls < POLLS_AT_ONCE && !state.is_stopped { state.ready.pop_front() } else { None };
        let Some(task) = task else {
            state.polled = None;
            return NextAction::Look;
        };
        state.poll.0 += 1;
        state.polled = Some(task.number());
        let is_watched = !watchdog::is_asleep();
        drop(state);
        if !is_watched {
            watchdog::wake_watchdog();
        }
        NextAction::Poll(task)
    }

    /// Ready when the sockets have been looked at and a task is ready, or, with `false`, when the worker is stopped.
    /// Moves some of the tasks that continue after everything else to `last`.
    fn poll_look(&self, has_looked: &mut bool, last: &mut Vec<DeferredTask>, context: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.state.lock();
        state.is_asleep = state.ready.is_empty() && state.last.is_empty() && !state.is_stopped;
        if state.is_asleep {
            self.waker.get_or_init(|| context.waker().clone());
        } else if *has_looked {
            let count = state.last.len().min(LAST_AT_ONCE);
            last.extend(state.last.drain(..count));
            return Poll::Ready(!state.is_stopped);
        } else {
            drop(state);
            context.waker().wake_by_ref();
        }
        *has_looked = true;
        Poll::Pending
    }

    /// Lets another thread have its turn, if the task is still being polled; the number of that thread.
    fn take_over(&self, poll: PollId) -> Option<usize> {
        let mut state = self.state.lock();
        if state.poll != poll || state.polled.take().is_none() {
            return None;
        }
        state.thread += 1;
        Some(state.thread)
    }

    /// Drops all tasks of a worker that has been stopped.
    fn end(&self) {
        let mut state = self.state.lock();
        let tasks = std::mem::take(&mut state.tasks);
        let queued = (std::mem::take(&mut state.ready), std::mem::take(&mut state.last));
        drop(state);
        tasks.values().for_each(|entry| entry.task.end());
        drop((tasks, queued));
    }
}

impl WatchedThread for Core {
    fn current_poll(&self) -> (PollId, bool) {
        let state = self.shared.state.lock();
        (state.poll, state.polled.is_some())
    }

    fn culprit(&self, poll: PollId) -> Option<Arc<dyn Blocked>> {
        let state = self.shared.state.lock();
        let polled = state.polled.filter(|_| state.poll == poll)?;
        state.tasks.get(&polled)?.culprit.clone()
    }

    fn waited(&self) -> Duration {
        self.clock.lock().waited()
    }

    fn hand_over(self: Arc<Self>, poll: PollId) -> io::Result<()> {
        if self.blocked.load(Ordering::Relaxed) >= BLOCKED_MAX {
            return Err(io::Error::other(format!("{BLOCKED_MAX} threads of its worker are blocked")));
        }
        self.start_thread(Some(poll))
    }
}

impl Core {
    /// Starts a thread: the first one, or one that takes over if the poll is still running then.
    fn start_thread(self: &Arc<Self>, instead: Option<PollId>) -> io::Result<()> {
        let core = self.clone();
        let run = move || {
            let number = match instead {
                None => 0,
                Some(poll) => match core.shared.take_over(poll) {
                    Some(number) => number,
                    None => return,
                },
            };
            if instead.is_some() {
                core.blocked.fetch_add(1, Ordering::Relaxed);
            }
            *core.clock.lock() = watchdog::ThreadClock::of_this_thread();
            CURRENT.set(Some(core.shared.clone()));
            if !core.run_polls(number) {
                // Its task has returned at last.
                core.blocked.fetch_sub(1, Ordering::Relaxed);
            }
            CURRENT.set(None);
        };
        thread::Builder::new().name(self.name.clone()).spawn(run).map(drop)
    }

    /// Turns the worker until it is stopped, or another thread has taken over: `false`.
    fn run_polls(&self, thread: usize) -> bool {
        let _entered = self.runtime.enter();
        let mut last = Vec::new();
        loop {
            let mut has_looked = false;
            let look = poll_fn(|context| self.shared.poll_look(&mut has_looked, &mut last, context));
            if !self.runtime.block_on(look) {
                drop(last);
                self.shared.end();
                return true;
            }
            last.drain(..).for_each(|last| match last {
                DeferredTask::Asleep(waker) => waker.wake(),
                DeferredTask::Woken(task) => self.shared.queue(task),
            });
            let mut polls = 0;
            loop {
                match self.shared.next(thread, polls) {
                    NextAction::Poll(task) => task.poll(),
                    NextAction::Look => break,
                    NextAction::End => return false,
                }
                polls += 1;
            }
        }
    }
}
