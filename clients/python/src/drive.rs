//! Drives the connections of clients. A blocking client drives its own connection: the caller waits in the runtime of
//! its client, so a call wakes no other thread. After some time without calls, a thread of the client answers PINGs
//! until the next call. Connections of asyncio clients are driven by their event loops (see `loop_runtime.rs`) or by a
//! shared thread.

use crate::fork::{self, Forkable};
use parking_lot::{Condvar, Mutex};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::cell::Cell;
use std::future::poll_fn;
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::{Notify, Semaphore};

/// Interval at which a waiting caller checks for signals, such as Ctrl-C. The client's background thread wakes it,
/// because a timer per call would make the kernel program its clock twice for each call.
const SIGNALS: Duration = Duration::from_millis(50);

/// Number of signal check intervals without a call before the client's background thread drives the connections,
/// because PINGs must be answered within seconds.
const IDLE: u32 = 4;

thread_local! {
    /// Address of a server's thread pool while this thread runs a handler of that server. A handler on the thread
    /// that drives its connection must not wait in another runtime.
    static HANDLER_OF: Cell<Option<usize>> = const { Cell::new(None) };

    /// Whether this thread belongs to a thread pool where handlers may block.
    static IN_POOL: Cell<bool> = const { Cell::new(false) };

    /// Whether this thread handles Python signals, as determined in the given process.
    static HAS_SIGNALS: Cell<Option<(fork::Generation, bool)>> = const { Cell::new(None) };
}

/// Returns whether this thread is the one that handles Python signals.
fn has_signals(py: Python<'_>) -> PyResult<bool> {
    if let Some((found, has_signals)) = HAS_SIGNALS.get()
        && found.check().is_ok()
    {
        return Ok(has_signals);
    }
    let threading = py.import("threading")?;
    let has_signals = threading.call_method0("main_thread")?.is(threading.call_method0("current_thread")?);
    HAS_SIGNALS.set(Some((fork::Generation::current(), has_signals)));
    Ok(has_signals)
}

/// Calls `run` with this thread marked as running a handler of the server with this thread pool.
pub(crate) fn in_handler<T>(pool: &Arc<Semaphore>, run: impl FnOnce() -> T) -> T {
    let before = HANDLER_OF.replace(Some(Arc::as_ptr(pool).addr()));
    let outcome = run();
    HANDLER_OF.set(before);
    outcome
}

/// Returns whether this thread is running a handler of the server with this thread pool.
pub(crate) fn is_in_handler(pool: &Arc<Semaphore>) -> bool {
    HANDLER_OF.get() == Some(Arc::as_ptr(pool).addr())
}

/// Calls `run` with this thread marked as a pool thread, so that handlers may block.
pub(crate) fn in_pool<T>(run: impl FnOnce() -> T) -> T {
    let before = IN_POOL.replace(true);
    let outcome = run();
    IN_POOL.set(before);
    outcome
}

/// Returns whether this thread drives a connection and must not block.
fn drives() -> bool {
    HANDLER_OF.get().is_some() && !IN_POOL.get()
}

/// How a blocking caller waits for its call, depending on which thread drives the connection.
pub(crate) enum Waiter<'a> {
    /// The caller's thread drives the connection while it waits.
    Here(&'a BlockingRuntime),
    /// Another thread drives the connection while the caller waits.
    Other(&'a Handle),
    /// Another thread drives the connection, which belongs to the caller of the current handler. If the handler runs on
    /// that same thread, the call would wait for itself.
    Caller(&'a Handle),
}

impl Waiter<'_> {
    /// Blocks until the future completes, or until a signal handler raises an exception.
    pub(crate) fn wait<F>(&self, py: Python<'_>, future: F) -> PyResult<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        match self {
            Self::Here(drive) => drive.wait(py, future),
            Self::Caller(_) if drives() => Err(PyRuntimeError::new_err(
                "a function that calls its caller is a coroutine function, or has blocking=True",
            )),
            Self::Other(handle) | Self::Caller(handle) => wait_for_other(py, handle, future),
        }
    }
}

/// Runs `block` on another thread, because `block_on` panics on a thread that is already driving a runtime.
fn on_other_thread<T: Send>(py: Python<'_>, block: impl FnOnce() -> T + Send) -> PyResult<T> {
    let joined = py.detach(|| thread::scope(|scope| scope.spawn(block).join()));
    joined.map_err(|_| PyOSError::new_err("the call has panicked"))
}

/// Blocks until a future completes while another thread drives its connection.
fn wait_for_other<F>(py: Python<'_>, handle: &Handle, future: F) -> PyResult<F::Output>
where
    F: Future + Send,
    F::Output: Send,
{
    if drives() {
        return on_other_thread(py, || handle.block_on(future));
    }
    if !has_signals(py)? {
        return Ok(py.detach(|| handle.block_on(future)));
    }
    let mut future = Box::pin(future);
    loop {
        // Interrupt the wait every `SIGNALS` to run Python's signal handlers, which run only on this thread.
        let waited = py.detach(|| handle.block_on(async { tokio::time::timeout(SIGNALS, future.as_mut()).await }));
        match waited {
            Ok(output) => return Ok(output),
            Err(_) => py.check_signals()?,
        }
    }
}

/// Runtime of a blocking client, which is driven by the callers that wait for their calls. Contains the background
/// thread and the state shared with it.
pub(crate) struct BlockingRuntime(Forkable<(Arc<Shared>, JoinHandle<()>)>);

struct Shared {
    runtime: RuntimeGuard,
    /// Number of calls that have been started.
    calls: AtomicU64,
    /// Number of callers that are currently waiting.
    waiting: AtomicUsize,
    /// Whether the background thread (the keeper) is driving the runtime.
    has_keeper: AtomicBool,
    /// Notified when the keeper must let a caller drive the runtime.
    leave: Notify,
    /// Waker of the waiting caller that checks for signals.
    looking: Mutex<Option<Waker>>,
    /// Whether the caller of `looking` should check for signals now.
    looks: AtomicBool,
    is_over: Mutex<bool>,
    over: Condvar,
}

impl BlockingRuntime {
    pub(crate) fn new() -> PyResult<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let shared = Arc::new(Shared {
            runtime: RuntimeGuard::new(runtime),
            calls: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            has_keeper: AtomicBool::new(false),
            leave: Notify::new(),
            looking: Mutex::new(None),
            looks: AtomicBool::new(false),
            is_over: Mutex::new(false),
            over: Condvar::new(),
        });
        let keeper_shared = shared.clone();
        let keeper =
            thread::Builder::new().name("frisbee-rpc-keeper".to_owned()).spawn(move || keeper_shared.keep())?;
        Ok(Self(Forkable::new((shared, keeper))))
    }

    /// Returns the runtime handle for creating channels.
    pub(crate) fn handle(&self) -> PyResult<&Handle> {
        Ok(self.0.get()?.0.runtime.handle())
    }

    /// Blocks until the future completes, or until a signal handler raises an exception.
    pub(crate) fn wait<F>(&self, py: Python<'_>, future: F) -> PyResult<F::Output>
    where
        F: Future + Send,
        F::Output: Send,
    {
        let (shared, _) = self.0.get()?;
        if drives() {
            return on_other_thread(py, || shared.block_on(future));
        }
        let has_signals = has_signals(py)?;
        py.detach(|| if has_signals { shared.block_on_with_signals(future) } else { Ok(shared.block_on(future)) })
    }
}

/// Yields a few times, so that ready tasks can run, such as the driver of a connection.
pub(crate) async fn flush() {
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
}

impl Shared {
    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.enter();
        let output = self.runtime.block_on(future);
        // Relaxed, because a late decrement only delays the keeper.
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        output
    }

    fn block_on_with_signals<F: Future>(&self, future: F) -> PyResult<F::Output> {
        let mut future = Some(Box::pin(future));
        loop {
            let Some(waiting) = future.as_mut() else { return Err(PyOSError::new_err("the call is over")) };
            if let Some(output) = self.block_on(poll_fn(|context| self.poll_until_woken(waiting.as_mut(), context))) {
                return Ok(output);
            }
            #[allow(clippy::redundant_closure_for_method_calls)] // Only a closure works for every lifetime.
            // Without an interpreter, which has ended before its last objects, there are no signals.
            if let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) {
                // Drop the call before the flush, because the drop queues its CANCEL.
                future = None;
                drop(future);
                // Flush to send the CANCEL immediately.
                self.block_on(flush());
                return Err(error);
            }
        }
    }

    /// Polls a future. Returns ready without an output when it is time to check for signals.
    fn poll_until_woken<F: Future>(&self, future: Pin<&mut F>, context: &mut Context<'_>) -> Poll<Option<F::Output>> {
        if let Poll::Ready(output) = future.poll(context) {
            return Poll::Ready(Some(output));
        }
        let mut looking = self.looking.lock();
        if !looking.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            *looking = Some(context.waker().clone());
        }
        drop(looking);
        // Read the flag after storing the waker. `wake_for_signals` sets the flag before taking the waker, so no
        // request is missed.
        if self.looks.swap(false, Ordering::SeqCst) { Poll::Ready(None) } else { Poll::Pending }
    }

    /// Wakes a waiting caller so that it checks for signals.
    fn wake_for_signals(&self) {
        self.looks.store(true, Ordering::SeqCst);
        // Clone the waker, so that it is woken without the lock.
        let waker = self.looking.lock().clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    fn enter(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        // Count before reading the keeper's flag. The keeper sets its flag before it reads the count, so at least one
        // sees the other, and no caller waits for a keeper that was not notified.
        self.waiting.fetch_add(1, Ordering::SeqCst);
        if self.has_keeper.load(Ordering::SeqCst) {
            self.leave.notify_one();
        }
    }

    /// Drives the connections while no calls are in progress. Runs on the background thread.
    fn keep(&self) {
        let (mut calls_before, mut quiet) = (0, 0);
        loop {
            let mut is_over = self.is_over.lock();
            if !*is_over {
                self.over.wait_for(&mut is_over, SIGNALS);
            }
            if *is_over {
                return;
            }
            drop(is_over);
            let calls = self.calls.load(Ordering::Relaxed);
            // Do not take over if calls were made since the last check, because their callers have driven the
            // connections.
            if std::mem::replace(&mut calls_before, calls) != calls {
                quiet = 0;
                continue;
            }
            if self.waiting.load(Ordering::SeqCst) > 0 {
                quiet = 0;
                self.wake_for_signals();
                continue;
            }
            quiet += 1;
            // Take over only after `IDLE` checks without calls, because the next caller must wait until the keeper
            // leaves the runtime.
            if quiet < IDLE {
                continue;
            }
            self.has_keeper.store(true, Ordering::SeqCst);
            // Load `waiting` after the store. Callers that registered earlier are counted, and later ones see the flag
            // and notify the keeper.
            if self.waiting.load(Ordering::SeqCst) == 0 {
                self.runtime.block_on(async {
                    let mut left = pin!(self.leave.notified());
                    left.as_mut().await;
                });
            }
            self.has_keeper.store(false, Ordering::SeqCst);
        }
    }
}

impl Drop for BlockingRuntime {
    fn drop(&mut self) {
        let Some((shared, keeper)) = self.0.take() else { return };
        // Set the flag before notifying, so that the keeper sees it and ends instead of waiting again.
        *shared.is_over.lock() = true;
        shared.over.notify_one();
        shared.leave.notify_one();
        let mut parts = Some((shared, keeper));
        let mut end = || drop(parts.take().map(|(shared, keeper)| (keeper.join(), shared)));
        // Release the GIL while joining the keeper, because the keeper may need it to release the memory of a message.
        // Without an interpreter, nothing needs the GIL.
        Python::try_attach(|py| py.detach(&mut end));
        end();
    }
}

/// A runtime that may be dropped in any context: in an asynchronous one, and after fork(2), where its threads exist
/// only in the parent process.
pub(crate) struct RuntimeGuard(Forkable<Runtime>);

impl RuntimeGuard {
    pub(crate) fn new(runtime: Runtime) -> Self {
        Self(Forkable::new(runtime))
    }

    /// Creates a runtime with `workers` threads for connections, and `handlers` threads for functions that block.
    pub(crate) fn with_threads(name: &str, workers: usize, handlers: usize) -> PyResult<Self> {
        let mut builder = Builder::new_multi_thread();
        // Reserve one additional thread, which resolves host names.
        builder.worker_threads(workers).max_blocking_threads(handlers.saturating_add(1)).thread_name(name);
        Ok(Self::new(builder.enable_all().build()?))
    }

    pub(crate) fn shutdown_timeout(mut self, limit: Duration) {
        let Some(runtime) = self.0.take() else { return };
        if drives() {
            // Shut down on another thread, because the shutdown blocks and would panic on a thread that is driving a
            // runtime.
            let _ = thread::spawn(move || runtime.shutdown_timeout(limit)).join();
        } else {
            runtime.shutdown_timeout(limit);
        }
    }
}

impl Deref for RuntimeGuard {
    type Target = Runtime;

    fn deref(&self) -> &Runtime {
        self.0.inherited()
    }
}

impl Drop for RuntimeGuard {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Background thread for connections that no event loop can drive. It never runs Python code.
static BACKGROUND: Mutex<Option<(fork::Generation, Handle)>> = Mutex::new(None);

/// Returns the runtime of the background thread, which lives as long as the process.
pub(crate) fn background() -> PyResult<Handle> {
    // Hold the lock while the thread starts, so that concurrent callers do not start two.
    let mut background = BACKGROUND.lock();
    // Threads do not survive fork(2), so a child process must start a new one.
    if let Some((made, handle)) = &*background
        && made.check().is_ok()
    {
        return Ok(handle.clone());
    }
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let handle = runtime.handle().clone();
    let (started, is_started) = std::sync::mpsc::channel();
    thread::Builder::new().name("frisbee-rpc".to_owned()).spawn(move || {
        runtime.block_on(async {
            let _ = started.send(());
            std::future::pending::<()>().await;
        });
    })?;
    // Wait until the thread has started, because tasks spawned before would not run.
    is_started.recv().map_err(|_| PyOSError::new_err("the thread of the connections did not start"))?;
    *background = Some((fork::Generation::current(), handle.clone()));
    Ok(handle)
}
