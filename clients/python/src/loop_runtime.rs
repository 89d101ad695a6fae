//! [`LoopRuntime`]: a runtime driven by an event loop, so that asyncio calls wake no other thread. The loop runs it
//! when a call has started, when a socket is ready, and periodically for its timers.
//!
//! The runtime has no poller. Its transports are the sockets of `socket.rs`, which the event loop watches together
//! with its own. Work of other threads arrives through the loop's inbox, which triggers a run.

use crate::drive::{self, RuntimeGuard};
use crate::fork;
use crate::inbox::Sender;
use crate::reply::called_by_loop;
use crate::socket;
use parking_lot::Mutex;
use pyo3::prelude::*;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::task::AbortHandle;

/// If the runtime has not run for this time, sockets are read before a call is sent, because the server may have closed
/// the connection.
const AWAY: Duration = Duration::from_millis(10);

/// Maximum delay of timers. A background thread wakes the event loop at this interval, because a timer of the loop
/// would make the kernel program its clock for each call.
const TICK: Duration = Duration::from_millis(50);

/// Number of [`TICK`]s between two runs of a runtime that has no calls. The runs answer PINGs, which must be answered
/// within seconds.
const TICKS_IDLE: u32 = 20;

/// Maximum number of consecutive runs for tasks that receive a reply and make another call. Afterwards the event loop
/// runs other tasks first.
const SUCCESSIVE_POLLS_MAX: u32 = 4;

/// Returns a number for this thread that is unique among running threads.
fn this_thread() -> usize {
    thread_local! {
        static OWN: u8 = const { 0 };
    }
    OWN.with(|own| std::ptr::from_ref(own).addr())
}

/// A tokio runtime that an asyncio event loop drives by running it briefly on the thread of the loop.
pub(crate) struct LoopRuntime {
    /// The runtime. `None` after the event loop was closed.
    runtime: Mutex<Option<RuntimeGuard>>,
    pub(crate) handle: Handle,
    pauses: Arc<Pauses>,
    sockets: Mutex<Vec<Weak<socket::Shared>>>,
    last: Mutex<Instant>,
    pub(crate) sender: Sender,
    /// Weak reference to the event loop.
    event_loop: Py<PyAny>,
    /// Thread of the event loop, as returned by `this_thread`. A loop may move to another thread.
    thread: AtomicUsize,
    /// Whether the event loop is about to drive the runtime.
    is_due: AtomicBool,
    /// Whether several tasks are handling their replies one after the other. If one of them makes a call, the runtime
    /// is driven again.
    is_shared: AtomicBool,
    /// Whether any of the tasks that are handling replies has made a call.
    is_wanted: AtomicBool,
    calls: Arc<Calls>,
    made: fork::Generation,
}

/// Counter that ends a run of the runtime when all its tasks are waiting.
#[derive(Default)]
struct Pauses {
    /// Number of times that the runtime was idle in this run.
    count: AtomicUsize,
    /// Waker of the future that ends the current run of the runtime.
    waker: Mutex<Option<Waker>>,
}

/// Numbers of calls. The background thread decides by them how often it wakes the event loop.
#[derive(Default)]
struct Calls {
    started: AtomicU64,
    in_flight: AtomicUsize,
}

impl LoopRuntime {
    /// Creates a runtime that is driven by the event loop of this thread.
    pub(crate) fn new(sender: Sender, event_loop: Py<PyAny>) -> PyResult<Arc<Self>> {
        let pauses = Arc::new(Pauses::default());
        let counted = pauses.clone();
        let runtime = Builder::new_current_thread()
            .enable_time()
            // Check the global queue at every tick. Calls are spawned there, and all of them should run before the
            // driver writes their requests in one batch.
            .global_queue_interval(1)
            .on_thread_park(move || {
                counted.count.fetch_add(1, Ordering::Relaxed);
                // Wake the future that ends the run, so that the runtime does not block here.
                if let Some(waker) = &*counted.waker.lock() {
                    waker.wake_by_ref();
                }
            })
            .build()?;
        let calls = Arc::new(Calls::default());
        let loop_runtime = Arc::new(Self {
            handle: runtime.handle().clone(),
            runtime: Mutex::new(Some(RuntimeGuard::new(runtime))),
            pauses,
            sockets: Mutex::default(),
            last: Mutex::new(Instant::now()),
            sender: sender.clone(),
            event_loop,
            thread: AtomicUsize::new(this_thread()),
            is_due: AtomicBool::new(false),
            is_shared: AtomicBool::new(false),
            is_wanted: AtomicBool::new(false),
            calls: calls.clone(),
            made: fork::Generation::current(),
        });
        // Pass a weak reference, so that the task does not keep the runtime alive.
        drive::background()?.spawn(tick(Arc::downgrade(&loop_runtime), calls, sender));
        Ok(loop_runtime)
    }

    /// Returns whether this thread is known to be the event loop's. On other threads, the loop must be woken.
    fn is_in_loop(&self) -> bool {
        self.thread.load(Ordering::Relaxed) == this_thread()
    }

    /// Returns the event loop, or `None` if it has been dropped or closed.
    pub(crate) fn event_loop<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let event_loop = self.event_loop.bind(py).call0()?;
        let is_over = event_loop.is_none() || event_loop.call_method0("is_closed")?.is_truthy()?;
        Ok((!is_over).then_some(event_loop))
    }

    /// Spawns a part of a call, which ends with a callback. [`begin`](Self::begin) must be called afterwards.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.calls.started.fetch_add(1, Ordering::Relaxed);
        self.calls.in_flight.fetch_add(1, Ordering::Relaxed);
        // Move the guard into the task, so that an aborted call is removed from the count too.
        let ended = Ended(self.calls.clone());
        let task = self.handle.spawn(async move {
            work.await;
            drop(ended);
        });
        task.abort_handle()
    }

    /// Schedules a run of the runtime for spawned work. For the first call in flight, it happens immediately. Otherwise
    /// there is one run for all calls that start before the event loop continues or while other tasks handle their
    /// replies.
    pub(crate) fn begin(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        // Wake the event loop if this is another thread, because only the loop's thread may drive the runtime.
        if !self.is_in_loop() {
            self.sender.ring();
            return Ok(());
        }
        // The run in progress is delivering its callbacks. Request another pass instead of a nested run.
        if self.is_shared.load(Ordering::Relaxed) {
            self.is_wanted.store(true, Ordering::Relaxed);
            return Ok(());
        }
        if self.calls.in_flight.load(Ordering::Relaxed) <= 1 {
            return self.run_batch(py);
        }
        self.run_soon(py)
    }

    fn run_soon(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        // Schedule at most one run, because it serves all calls that start before it.
        if !self.is_due.swap(true, Ordering::Relaxed)
            && let Some(event_loop) = self.event_loop(py)?
        {
            event_loop.call_method1("call_soon", (LoopCallback(self.clone()),))?;
        }
        Ok(())
    }

    /// Schedules a run of the runtime after `seconds` seconds, for the deadline of a call.
    pub(crate) fn run_after(self: &Arc<Self>, py: Python<'_>, seconds: f64) -> PyResult<()> {
        if let Some(event_loop) = self.event_loop(py)? {
            event_loop.call_method1("call_later", (seconds, LoopCallback(self.clone())))?;
        }
        Ok(())
    }

    /// Runs the tasks that are ready and the callbacks in the inbox. Called within a task of the event loop.
    pub(crate) fn run_batch(&self, py: Python<'_>) -> PyResult<()> {
        if !self.is_in_loop() {
            self.sender.ring();
            return Ok(());
        }
        self.made.check()?;
        // Suppress wake-ups for callbacks queued during the run, because they are delivered right after it.
        self.sender.suppress_wakeups();
        self.run();
        called_by_loop(false, || self.sender.deliver(py))
    }

    /// Like [`run_batch`](Self::run_batch), but called by the event loop itself, so that tasks can continue with their
    /// results.
    pub(crate) fn run_from_loop(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        self.thread.store(this_thread(), Ordering::Relaxed);
        self.made.check()?;
        let mut delivered = Ok(());
        for _ in 0..SUCCESSIVE_POLLS_MAX {
            self.sender.suppress_wakeups();
            self.run();
            // If several callbacks are queued, the tasks that they resume may all start calls. Let these calls share
            // the next pass.
            self.is_shared.store(self.sender.waiting() > 1, Ordering::Relaxed);
            delivered = called_by_loop(true, || self.sender.deliver(py));
            self.is_shared.store(false, Ordering::Relaxed);
            if delivered.is_err() || !self.is_wanted.swap(false, Ordering::Relaxed) {
                break;
            }
        }
        // The limit of passes was reached. Schedule the next run, so that other callbacks of the event loop run first.
        if self.is_wanted.swap(false, Ordering::Relaxed) {
            self.run_soon(py)?;
        }
        delivered
    }

    /// Treats all sockets as readable if the runtime has not been driven for some time, because the servers may have
    /// closed them.
    pub(crate) fn catch_up(self: &Arc<Self>, py: Python<'_>) -> PyResult<()> {
        if self.last.lock().elapsed() < AWAY || !self.is_in_loop() {
            return Ok(());
        }
        self.sockets.lock().retain(|socket| socket.upgrade().map(|socket| socket.free(socket::READING)).is_some());
        self.run_batch(py)
    }

    /// Registers a socket, which [`catch_up`](Self::catch_up) reads after a pause.
    pub(crate) fn add(&self, socket: Weak<socket::Shared>) {
        self.sockets.lock().push(socket);
    }

    /// Drops the runtime with its tasks, because they refer to the Python tasks that wait for them. Called when the
    /// event loop is closed.
    pub(crate) fn close(&self) {
        let runtime = self.runtime.try_lock().and_then(|mut runtime| runtime.take());
        // Drop the runtime without the lock, because that may run Python code.
        drop(runtime);
    }

    /// Runs the tasks of the runtime until all of them wait.
    fn run(&self) {
        // Return within a run, which the destructor of a Python object may request.
        let Some(runtime) = self.runtime.try_lock() else { return };
        let Some(runtime) = &*runtime else { return };
        *self.last.lock() = Instant::now();
        self.pauses.count.store(0, Ordering::Relaxed);
        runtime.block_on(poll_fn(|context| {
            // Return at the second pause. The runtime checks its timers after the first one and then runs the woken
            // tasks.
            if self.pauses.count.load(Ordering::Relaxed) >= 2 {
                return Poll::Ready(());
            }
            *self.pauses.waker.lock() = Some(context.waker().clone());
            Poll::Pending
        }));
        // Remove the waker, because it refers to the runtime.
        self.pauses.waker.lock().take();
    }
}

/// Guard that counts a call as ended when dropped.
struct Ended(Arc<Calls>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Wakes the event loop to run the runtime when calls have waited for some time and, less often, without calls.
async fn tick(loop_runtime: Weak<LoopRuntime>, calls: Arc<Calls>, sender: Sender) {
    let (mut started_before, mut ticks) = (0, 0);
    while loop_runtime.strong_count() > 0 {
        tokio::time::sleep(TICK).await;
        ticks += 1;
        let now = calls.started.load(Ordering::Relaxed);
        // A call that starts drives the runtime itself. Wake the loop only if calls are in flight and none started in
        // this tick.
        let waits = std::mem::replace(&mut started_before, now) == now && calls.in_flight.load(Ordering::Relaxed) > 0;
        if waits || ticks >= TICKS_IDLE {
            ticks = 0;
            sender.ring();
        }
    }
}

/// Python callback of the event loop that drives the runtime.
#[pyclass(frozen, module = "frisbee_rpc._native")]
pub(crate) struct LoopCallback(Arc<LoopRuntime>);

#[pymethods]
impl LoopCallback {
    fn __call__(&self, py: Python<'_>) -> PyResult<()> {
        // Clear the flag before the run, so that a call started during it schedules another run.
        self.0.is_due.store(false, Ordering::Relaxed);
        self.0.run_from_loop(py)
    }
}
