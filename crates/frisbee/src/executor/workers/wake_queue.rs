//! Scheduling order of the connections of a multi-threaded tokio runtime.
//!
//! # Decisions
//!
//! Each thread of such a runtime has a local queue of 256 tasks. Tasks beyond that overflow to a global queue, which is
//! polled only once for up to 127 local tasks. Tokio wakes the tasks of up to 1024 sockets at a time, and each
//! connection wakes its callers. With a thousand busy connections, some would thus run repeatedly while others wait for
//! a second.
//!
//! With more than [`DIRECT_MAX`] connections, wake-ups therefore go to a separate queue per runtime. Forwarding tasks,
//! one per thread of the runtime, each wake four connections per poll. Connections then run in the order of their
//! wake-ups, and tokio's queues remain short.

use super::Worker;
use crate::executor::tasks::Job;
use crate::sync::{AtomicBool, Mutex};
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, LazyLock, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use tokio::runtime::{self, Handle, RuntimeFlavor};

/// Maximum number of connections of a runtime that are woken directly instead of through this queue. This is a quarter
/// of the capacity of tokio's per-thread queue.
const DIRECT_MAX: usize = 64;

/// Number of connections that a forwarding task wakes per poll. Even if each connection wakes ten callers, all of these
/// tasks fit into a thread's local queue.
const WOKEN_AT_ONCE: usize = 4;

/// Queue of wake-ups for connections in a multi-threaded runtime. Forwarding tasks take wake-ups from it and wake a few
/// connections at a time.
pub(crate) struct WakeQueue {
    runtime: Handle,
    /// Whether the runtime has more than [`DIRECT_MAX`] connections, so that wake-ups must be queued.
    is_used: AtomicBool,
    state: Mutex<State>,
}

/// The queues of all runtimes.
type Queues = Vec<(runtime::Id, Weak<WakeQueue>)>;

#[derive(Default)]
struct State {
    connections: usize,
    /// Number of tasks that forward wake-ups from the queue to connections.
    tasks: usize,
    /// Wakers of the forwarding tasks that are waiting for wake-ups.
    idle: Vec<Waker>,
    woken: VecDeque<Arc<Connection>>,
}

/// A connection that can be woken through the queue.
struct Connection {
    queue: Arc<WakeQueue>,
    /// Waker of the connection's driver. Set at the driver's first poll and never changed.
    task: OnceLock<Waker>,
    is_queued: AtomicBool,
}

impl WakeQueue {
    /// Returns the wake-up queue of a runtime. Returns `None` for a single-threaded runtime, because its own queue is
    /// fair.
    pub(crate) fn of(runtime: &Handle) -> Option<Arc<Self>> {
        static QUEUES: LazyLock<Mutex<Queues>> = LazyLock::new(Mutex::default);
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return None;
        }
        let mut queues = QUEUES.lock();
        let known = queues.iter().find(|(id, _)| *id == runtime.id()).and_then(|(_, queue)| queue.upgrade());
        Some(known.unwrap_or_else(|| {
            // Remove queues without connections, because runtimes may be created and dropped repeatedly.
            queues.retain(|(_, queue)| queue.strong_count() > 0);
            let new =
                Arc::new(Self { runtime: runtime.clone(), is_used: AtomicBool::new(false), state: Mutex::default() });
            queues.push((runtime.id(), Arc::downgrade(&new)));
            new
        }))
    }

    /// Counts a new connection of this runtime. Starts the forwarding tasks if the runtime now has more than
    /// [`DIRECT_MAX`] connections.
    fn add(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.connections += 1;
        if state.connections <= DIRECT_MAX {
            return;
        }
        let tasks = self.runtime.metrics().num_workers().saturating_sub(state.tasks);
        state.tasks += tasks;
        self.is_used.store(true, Ordering::Relaxed);
        // Spawn outside of the lock, because another thread may poll a task immediately, which takes the lock.
        drop(state);
        for _ in 0..tasks {
            let passing: Job = Box::pin(tokio::task::unconstrained(Passing(self.clone())));
            self.runtime.spawn(passing);
        }
    }

    /// Counts a connection of this runtime as ended. The forwarding tasks end with the last connection.
    fn remove(&self) {
        let mut state = self.state.lock();
        state.connections -= 1;
        if state.connections <= DIRECT_MAX {
            // Later wake-ups bypass the queue. The forwarding tasks remain, because wake-ups may still be queued.
            self.is_used.store(false, Ordering::Relaxed);
        }
        if state.connections > 0 {
            return;
        }
        let (idle, woken) = (std::mem::take(&mut state.idle), std::mem::take(&mut state.woken));
        drop(state);
        // Drop the wakers outside of the lock, because their destructors may run arbitrary code.
        drop(woken);
        idle.into_iter().for_each(Waker::wake);
    }

    fn push(&self, connection: Arc<Connection>) {
        let mut state = self.state.lock();
        state.woken.push_back(connection);
        // Wake a single forwarding task. It wakes itself until the queue is empty.
        let idle = state.idle.pop();
        drop(state);
        if let Some(idle) = idle {
            idle.wake();
        }
    }
}

/// A task that forwards wake-ups from the queue to connections.
struct Passing(Arc<WakeQueue>);

impl Future for Passing {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.state.lock();
        if state.connections == 0 {
            state.tasks -= 1;
            return Poll::Ready(());
        }
        let woken: [_; WOKEN_AT_ONCE] = std::array::from_fn(|_| state.woken.pop_front());
        let is_empty = state.woken.is_empty();
        if is_empty {
            // Register before releasing the lock. A wake-up that is queued afterwards then finds this task.
            state.idle.push(context.waker().clone());
        }
        drop(state);
        for connection in woken.into_iter().flatten() {
            // Acquire makes the writes before the wake-ups visible to the connection.
            connection.is_queued.swap(false, Ordering::AcqRel);
            connection.wake_task();
        }
        if !is_empty {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Connection {
    fn wake_task(&self) {
        if let Some(task) = self.task.get() {
            task.wake_by_ref();
        }
    }
}

impl Wake for Connection {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // A stale value of `is_used` is harmless, because both branches wake the connection.
        if !self.queue.is_used.load(Ordering::Relaxed) {
            self.wake_task();
        } else if !self.is_queued.swap(true, Ordering::AcqRel) {
            self.queue.push(self.clone());
        }
    }
}

pin_project_lite::pin_project! {
    /// Future that drives a connection. Must be spawned as a task, because it keeps the waker of its first poll.
    struct DriverFuture<F> {
        // `None` on workers, and on runtimes without a queue for woken drivers. Boxed to save memory, because every
        // connection has this future.
        queued: Option<Box<QueuedWaker>>,
        #[pin]
        future: F,
    }
}

/// A waker that wakes a connection through the wake-up queue of its runtime.
struct QueuedWaker {
    waker: Waker,
    connection: Arc<Connection>,
}

impl<F: Future<Output = ()>> Future for DriverFuture<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        let waker = match this.queued.as_deref() {
            None => context.waker(),
            Some(QueuedWaker { waker, connection }) => {
                let task = connection.task.get_or_init(|| context.waker().clone());
                debug_assert!(task.will_wake(context.waker()), "driver should be polled by its own task only");
                waker
            }
        };
        this.future.poll(&mut Context::from_waker(waker))
    }
}

impl Drop for QueuedWaker {
    fn drop(&mut self) {
        self.connection.queue.remove();
    }
}

/// Spawns the driver of a connection on the given worker or, if there is none, in the runtime.
pub(crate) fn spawn(runtime: &Handle, worker: Option<&Worker>, driving: impl Future<Output = ()> + Send + 'static) {
    let queue = if worker.is_none() { WakeQueue::of(runtime) } else { None };
    let queued = queue.map(|queue| {
        queue.add();
        let connection = Arc::new(Connection { queue, task: OnceLock::new(), is_queued: AtomicBool::new(false) });
        Box::new(QueuedWaker { waker: connection.clone().into(), connection })
    });
    let driving: Job = Box::pin(tokio::task::unconstrained(DriverFuture { queued, future: driving }));
    match worker {
        Some(worker) => worker.spawn(driving),
        None => drop(runtime.spawn(driving)),
    }
}

#[cfg(all(test, frisbee_loom))]
mod model_tests;
#[cfg(all(test, not(frisbee_loom)))]
mod tests;
