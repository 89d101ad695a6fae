//! The order in which the connections on a multi-threaded tokio runtime run.
//!
//! # Decisions
//!
//! A thread of such a runtime has a queue of 256 tasks. Tasks that overflow it go to a global queue, from which one is
//! taken after up to 127 of the thread's own: some of a thousand busy connections run again and again while others
//! wait for a second. tokio wakes the tasks of up to 1024 sockets at one time, and each connection wakes those of its
//! callers. Above [`DIRECT_MAX`] connections, their wake-ups therefore go to a queue of the runtime, and one task for
//! each of its threads passes four of them on whenever it runs. Connections then run in the order in which they were
//! woken, and the queues of tokio stay short.

use super::Worker;
use crate::executor::tasks::Job;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Wake, Waker};
use tokio::runtime::{self, Handle, RuntimeFlavor};

/// Connections of a runtime that are woken without the queue. A quarter of the tasks that a thread of tokio queues.
const DIRECT_MAX: usize = 64;

/// Connections that are woken by one poll of a task. Each may wake ten callers, and all of them fit into the queue of a
/// thread.
const WOKEN_AT_ONCE: usize = 4;

/// The queue of a runtime.
pub(crate) struct WakeQueue {
    runtime: Handle,
    /// There are so many connections that their wake-ups are queued.
    is_used: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    connections: usize,
    /// The tasks that pass wake-ups on.
    tasks: usize,
    /// Those of them that have nothing to do.
    idle: Vec<Waker>,
    woken: VecDeque<Arc<Connection>>,
}

/// A connection and its task.
struct Connection {
    queue: Arc<WakeQueue>,
    /// Of the task that drives it, which never changes.
    task: OnceLock<Waker>,
    is_queued: AtomicBool,
}

impl WakeQueue {
    /// The queue of a runtime. `None` if it has a single thread, whose queue is in order.
    pub(crate) fn of(runtime: &Handle) -> Option<Arc<Self>> {
        static QUEUES: Mutex<Vec<(runtime::Id, Weak<WakeQueue>)>> = Mutex::new(Vec::new());
        if runtime.runtime_flavor() == RuntimeFlavor::CurrentThread {
            return None;
        }
        let mut queues = QUEUES.lock();
        let known = queues.iter().find(|(id, _)| *id == runtime.id()).and_then(|(_, queue)| queue.upgrade());
        Some(known.unwrap_or_else(|| {
            queues.retain(|(_, queue)| queue.strong_count() > 0);
            let new =
                Arc::new(Self { runtime: runtime.clone(), is_used: AtomicBool::new(false), state: Mutex::default() });
            queues.push((runtime.id(), Arc::downgrade(&new)));
            new
        }))
    }

    /// Counts a connection.
    fn add(self: &Arc<Self>) {
        let mut state = self.state.lock();
        state.connections += 1;
        if state.connections <= DIRECT_MAX {
            return;
        }
        let tasks = self.runtime.metrics().num_workers().saturating_sub(state.tasks);
        state.tasks += tasks;
        self.is_used.store(true, Ordering::Relaxed);
        drop(state);
        for _ in 0..tasks {
            let passing: Job = Box::pin(tokio::task::unconstrained(Passing(self.clone())));
            self.runtime.spawn(passing);
        }
    }

    /// Takes a connection out of the count. The tasks end with the last one.
    fn remove(&self) {
        let mut state = self.state.lock();
        state.connections -= 1;
        if state.connections <= DIRECT_MAX {
            self.is_used.store(false, Ordering::Relaxed);
        }
        if state.connections > 0 {
            return;
        }
        let (idle, woken) = (std::mem::take(&mut state.idle), std::mem::take(&mut state.woken));
        drop(state);
        drop(woken);
        idle.into_iter().for_each(Waker::wake);
    }

    fn push(&self, connection: Arc<Connection>) {
        let mut state = self.state.lock();
        state.woken.push_back(connection);
        let idle = state.idle.pop();
        drop(state);
        if let Some(idle) = idle {
            idle.wake();
        }
    }
}

/// The task that passes wake-ups on.
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
            state.idle.push(context.waker().clone());
        }
        drop(state);
        for connection in woken.into_iter().flatten() {
            // It sees all that was done before the wake-ups up to here.
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
        if !self.queue.is_used.load(Ordering::Relaxed) {
            self.wake_task();
        } else if !self.is_queued.swap(true, Ordering::AcqRel) {
            self.queue.push(self.clone());
        }
    }
}

pin_project_lite::pin_project! {
    /// A future that drives a connection. It has to be a task.
    struct DriverFuture<F> {
        // `None` if the runtime has no queue, and on workers. In a box, since a driver is memory of an idle connection.
        queued: Option<Box<QueuedWaker>>,
        #[pin]
        future: F,
    }
}

/// The waker of a connection that is woken in order with the others of its runtime.
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
                debug_assert!(task.will_wake(context.waker()), "it is polled by its own task");
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

/// Drives a connection in a task of the worker, if there is one, or else of the runtime.
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

#[cfg(test)]
mod tests;
