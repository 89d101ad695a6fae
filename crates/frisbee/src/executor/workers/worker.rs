//! A worker: a tokio runtime for sockets and timers, the tasks that drive connections, and the thread that runs both.
//!
//! The worker's tasks are not tokio tasks. A single-threaded tokio runtime is bound to its thread while it polls a
//! task, so a task that blocks would block all others. A worker's thread instead releases the runtime and the task
//! queue before it polls a task. If the task does not return, another thread takes over both, with all sockets, timers
//! and tasks in place. The first thread ends when its task returns. The [watchdog](super::watchdog) decides when to
//! take over.
//!
//! # Decisions
//!
//! A worker uses tokio only for sockets and timers. It calls `block_on` to wait for them, returns, and then polls its
//! own tasks.
//!
//! When another thread takes over, nothing has to be moved or registered again, so a false alarm costs only one thread.
//! The alternative, moving sockets and timers to another reactor, would take time for each connection, and would not
//! work during TLS handshakes. Entering and leaving the runtime costs a few hundred instructions for each poll of the
//! sockets. The connection of the blocking handler itself still has to wait. On io_uring, all other connections of the
//! ring must wait too.

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

/// Maximum number of sockets that a worker polls at a time. With 32 sockets, the state of the connections stays in the
/// cache until their data is processed, unlike with tokio's default of 1024. Polling sockets costs about as much as
/// processing one packet.
const EVENTS_AT_ONCE: usize = 32;

/// Maximum number of tasks that are polled between two polls of the sockets. Equal to the default of tokio.
const POLLS_AT_ONCE: usize = 61;

/// Maximum number of yielding tasks that are polled between two polls of the sockets. Without the limit, each reply
/// would wait for a thousand polls if a thousand clients send continuously.
const LAST_AT_ONCE: usize = 4;

/// Maximum number of blocked threads of a worker, because each thread needs a stack. Blocking handlers are moved to
/// tasks before this limit is reached. Blocking routers may reach it, because they always run inline.
const BLOCKED_MAX: usize = 32;

/// Handle of a worker. Dropping it ends the worker's threads and tasks.
#[derive(Debug)]
pub(crate) struct Worker(Arc<ExecutorShared>);

/// Statistics of a worker thread.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct WorkerView {
    /// Number of tasks of the worker: drivers of connections, pending handlers and, on the first worker, the task that
    /// accepts connections.
    pub tasks: usize,
    /// Number of the worker's tasks that are ready to run.
    pub ready: usize,
    /// Number of times that the worker has polled tasks since it was started.
    pub polls: u64,
    /// Number of threads that were replaced because a task [blocked them](crate::Router::blocked).
    pub threads_given_up: usize,
}

/// Weak reference to a worker, for statistics.
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

/// State shared by the tasks and threads of a worker.
#[derive(Debug)]
pub(super) struct ExecutorShared {
    runtime: Handle,
    state: Mutex<State>,
    /// Waker that interrupts the worker's wait for sockets and timers.
    waker: OnceLock<Waker>,
    /// Reference count: one per connection that the worker drives, plus one held by the worker.
    driven: Arc<()>,
}

#[derive(Debug, Default)]
struct State {
    /// Woken tasks, in the order of their wake-ups.
    ready: VecDeque<Arc<WorkerTask>>,
    /// Tasks that have yielded, in order. A few of them are polled again after each poll of the sockets.
    last: VecDeque<DeferredTask>,
    tasks: HashMap<u64, ExecutorEntry>,
    next: u64,
    /// Whether the active thread is waiting for sockets and timers. If so, it must be woken when a task becomes ready.
    is_asleep: bool,
    is_stopped: bool,
    /// Number of the active thread. Threads with other numbers have been replaced and end when their current task
    /// returns.
    thread: usize,
    /// Number of the latest poll. If it is unchanged between two checks, the watchdog reports the thread as blocked.
    poll: PollId,
    /// Number of the task that the active thread is polling, if any.
    polled: Option<u64>,
}

#[derive(Debug)]
struct ExecutorEntry {
    task: Arc<WorkerTask>,
    /// Connection to report if the polled task blocks its thread.
    culprit: Option<Arc<dyn Blocked>>,
}

/// A task that has yielded although it has more work. It is polled again after all tasks that are ready now.
#[derive(Debug)]
enum DeferredTask {
    /// Waker of a yielding task that is not in the ready queue.
    Asleep(Waker),
    /// A task that was woken during its own poll and must be put into the ready queue.
    Woken(Arc<WorkerTask>),
}

/// A connection's reference to the task that drives it.
#[derive(Clone, Debug)]
pub(crate) struct DriverTask(Weak<WorkerTask>);

impl Home for DriverTask {
    /// Runs a job of the connection on the worker of its driver. Drops the job if the driver has ended.
    fn spawn(&self, task: Job) {
        let Some(driver) = self.0.upgrade() else { return };
        driver.worker().spawn(task, Some(driver.number()));
    }
}

/// State that the threads of a worker share.
#[derive(Debug)]
pub(super) struct Core {
    shared: Arc<ExecutorShared>,
    runtime: Runtime,
    name: String,
    /// Number of threads of the worker that are blocked.
    blocked: AtomicUsize,
    /// Reader of the active thread's scheduler statistics.
    clock: Mutex<watchdog::ThreadClock>,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<ExecutorShared>>> = const { RefCell::new(None) };
}

/// Next action of a thread that runs a worker.
enum NextAction {
    Poll(Arc<WorkerTask>),
    /// Poll the sockets, because no task is ready or many tasks have been polled since the last time.
    Look,
    /// End the thread, because another thread of the worker has taken over.
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

    /// Returns the runtime of the worker's sockets and timers.
    pub(crate) fn handle(&self) -> &Handle {
        &self.0.runtime
    }

    /// Returns a weak reference to the worker, for statistics.
    pub(crate) fn watch(&self) -> WorkerWatch {
        WorkerWatch(Arc::downgrade(&self.0))
    }

    /// Returns whether the worker's thread is waiting for sockets and timers.
    #[cfg(test)]
    pub(super) fn is_asleep(&self) -> bool {
        self.0.state.lock().is_asleep
    }

    /// Returns whether the current thread belongs to this worker.
    pub(crate) fn is_current(&self) -> bool {
        CURRENT.with_borrow(|current| current.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, &self.0)))
    }

    /// Counts a connection as driven by this worker until the returned reference is dropped.
    pub(crate) fn driven(&self) -> Arc<()> {
        self.0.driven.clone()
    }

    /// Returns the number of connections that the worker drives.
    pub(crate) fn load(&self) -> usize {
        Arc::strong_count(&self.0.driven) - 1
    }

    /// Spawns a task in the context of the [worker's runtime](Self::handle).
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

/// Registers the connection that the current task drives. It is reported if the task blocks the thread.
///
/// Returns a reference to the task, for spawning jobs of the connection on the same worker. Returns `None` if this
/// thread does not belong to a worker.
pub(crate) fn settle(culprit: impl FnOnce() -> Arc<dyn Blocked>) -> Option<DriverTask> {
    CURRENT.with_borrow(|current| {
        let (shared, number) = current.as_ref().zip(WorkerTask::current())?;
        // Call the function before locking, because it may run arbitrary code.
        let culprit = culprit();
        let mut state = shared.state.lock();
        let entry = state.tasks.get_mut(&number)?;
        let earlier = entry.culprit.replace(culprit);
        let task = DriverTask(Arc::downgrade(&entry.task));
        drop(state);
        drop(earlier); // Outside of the lock, because this may drop a connection with its router.
        Some(task)
    })
}

/// Returns the runtime of the current thread's worker, if any.
#[cfg(feature = "timer")]
pub(crate) fn worker_runtime() -> Option<Handle> {
    CURRENT.with_borrow(|current| current.as_ref().map(|shared| shared.runtime.clone()))
}

/// Wakes a task of the current thread's worker after the next poll of sockets and timers. Returns `false` if the thread
/// does not belong to a worker.
pub(crate) fn wake_last(waker: &Waker) -> bool {
    CURRENT.with_borrow(|current| {
        let Some(shared) = current else { return false };
        let mut state = shared.state.lock();
        state.last.push_back(DeferredTask::Asleep(waker.clone()));
        // Wake the active thread, which may be asleep if it has taken over from this one.
        shared.wake_thread(state);
        true
    })
}

impl ExecutorShared {
    /// Spawns a task on this worker. For a job of a connection, `driver` is the number of the connection's driver task.
    /// If the job blocks its thread, the log names that connection.
    fn spawn(self: &Arc<Self>, future: Job, driver: Option<u64>) {
        let mut state = self.state.lock();
        if state.is_stopped {
            // Release the lock first, because the destructor of the future may use the worker.
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

    /// Adds a woken task to the ready queue.
    pub(super) fn queue(&self, task: Arc<WorkerTask>) {
        let mut state = self.state.lock();
        if state.is_stopped {
            // Release the lock first, because this may drop the last reference to the task.
            drop(state);
            return drop(task);
        }
        state.ready.push_back(task);
        self.wake_thread(state);
    }

    /// Queues a task that was woken during its own poll. The task is polled after the next poll of the sockets.
    pub(super) fn queue_last(&self, task: Arc<WorkerTask>) {
        let mut state = self.state.lock();
        if !state.is_stopped {
            state.last.push_back(DeferredTask::Woken(task));
            return self.wake_thread(state);
        }
        drop(state);
        drop(task);
    }

    /// Removes a completed task from the worker.
    pub(super) fn forget(&self, number: u64) {
        // Drop the entry outside of the lock, because it may be the last reference to the task.
        let entry = self.state.lock().tasks.remove(&number);
        drop(entry);
    }

    /// Wakes the worker's thread if it is asleep.
    fn wake_thread(&self, mut state: MutexGuard<'_, State>) {
        // Only the first wake-up since the thread fell asleep has to interrupt it.
        let was_asleep = std::mem::take(&mut state.is_asleep);
        drop(state);
        if was_asleep && let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// Returns the next action of a thread that has polled `polls` tasks since it last polled the sockets.
    fn next(&self, thread: usize, polls: usize) -> NextAction {
        let mut state = self.state.lock();
        if state.thread != thread {
            return NextAction::End;
        }
        // Poll no tasks once the worker is stopped, because the runtime of the handlers may no longer exist.
        let task = if polls < POLLS_AT_ONCE && !state.is_stopped { state.ready.pop_front() } else { None };
        let Some(task) = task else {
            state.polled = None;
            return NextAction::Look;
        };
        state.poll.0 += 1;
        state.polled = Some(task.number());
        // Check under the lock and after recording the poll. Otherwise, the watchdog could miss the poll and fall
        // asleep.
        let is_watched = !watchdog::is_asleep();
        drop(state);
        if !is_watched {
            watchdog::wake_watchdog();
        }
        NextAction::Poll(task)
    }

    /// Completes with `true` once the sockets have been polled and a task is ready, or with `false` once the worker is
    /// stopped. Moves some of the yielded tasks to `last`.
    fn poll_look(&self, has_looked: &mut bool, last: &mut Vec<DeferredTask>, context: &mut Context<'_>) -> Poll<bool> {
        let mut state = self.state.lock();
        // Set the flag under the lock, so that a task that is queued later finds it and wakes the thread.
        state.is_asleep = state.ready.is_empty() && state.last.is_empty() && !state.is_stopped;
        if state.is_asleep {
            self.waker.get_or_init(|| context.waker().clone());
        } else if *has_looked {
            let count = state.last.len().min(LAST_AT_ONCE);
            last.extend(state.last.drain(..count));
            return Poll::Ready(!state.is_stopped);
        } else {
            // Return `Pending` once although a task is ready, so that `block_on` polls the sockets.
            drop(state);
            context.waker().wake_by_ref();
        }
        *has_looked = true;
        Poll::Pending
    }

    /// Starts another active thread of the worker if the given poll is still running. Returns the number of the new
    /// thread.
    fn take_over(&self, poll: PollId) -> Option<usize> {
        let mut state = self.state.lock();
        // Take the record of the polled task, so that another hand-over of the same poll fails.
        if state.poll != poll || state.polled.take().is_none() {
            return None;
        }
        state.thread += 1;
        Some(state.thread)
    }

    /// Drops all tasks of a stopped worker.
    fn end(&self) {
        let mut state = self.state.lock();
        // Drop the tasks outside of the lock, because destructors may use the worker.
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
    /// Starts the first thread of the worker, or a thread that takes over from a blocked one. The latter ends
    /// immediately if the poll `instead` is no longer running.
    fn start_thread(self: &Arc<Self>, instead: Option<PollId>) -> io::Result<()> {
        let core = self.clone();
        let run = move || {
            let number = match instead {
                None => 0,
                // Take over in the new thread. If the blocked poll has returned in the meantime, there is nothing to
                // take over.
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
                // The task that blocked the thread has returned.
                core.blocked.fetch_sub(1, Ordering::Relaxed);
            }
            CURRENT.set(None);
        };
        thread::Builder::new().name(self.name.clone()).spawn(run).map(drop)
    }

    /// Runs the tasks of the worker until it is stopped. Returns `false` if another thread has taken over.
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
