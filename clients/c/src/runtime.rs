//! The runtime of the process, which drives client connections and accepts server connections, and blocking waits for
//! futures on C threads.

use crate::completion;
use frpc::Status;
use std::cell::Cell;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::{panic, process};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// Maximum number of runtime threads. A few suffice, because they only drive sockets and calls need little CPU time.
const THREADS_MAX: usize = 4;

/// Maximum number of threads for server functions, which may block.
pub(crate) const BLOCKING_MAX: usize = 512;

/// Number of additional blocking threads, which are used for name resolution while connecting.
const LOOKUPS_MAX: usize = 16;

/// Returns the library's runtime. The first client or server creates it, and it lives as long as the process.
pub(crate) fn handle() -> Result<&'static Handle, Status> {
    static RUNTIME: OnceLock<(Result<Runtime, String>, u32)> = OnceLock::new();
    let (runtime, process) = RUNTIME.get_or_init(|| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads).max_blocking_threads(BLOCKING_MAX + LOOKUPS_MAX).thread_name("frisbee");
        (builder.enable_all().build().map_err(|error| error.to_string()), process::id())
    });
    if *process != process::id() {
        // Fail in a forked child process: the library's threads exist only in the parent, so no operation would ever
        // complete.
        let text = "this process is a fork of the one that uses the library: call exec() in it, or fork before";
        return Err(Status::failed_precondition(text));
    }
    match runtime {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(Status::internal(format!("the threads of the library cannot be started: {error}"))),
    }
}

/// Enters the library's runtime on this thread, which timers require.
///
/// # Errors
/// In thread-local destructors that run after those of tokio, where entering would panic.
pub(crate) fn enter() -> Result<EnterGuard<'static>, Status> {
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        let text = "this thread has ended: its destructors cannot wait or use queues";
        return Err(Status::failed_precondition(text));
    }
    Ok(handle()?.enter())
}

thread_local! {
    static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
    static IN_CALLBACK: Cell<bool> = const { Cell::new(false) };
}

/// Runs a server function. While it runs, its thread may not stop a server, because that would wait for the function
/// itself.
pub(crate) fn in_function(run: impl FnOnce()) {
    let outer = IN_FUNCTION.replace(true);
    run();
    IN_FUNCTION.set(outer);
}

/// Runs a function that receives packets or connections. It occupies a runtime thread, so blocking functions are
/// rejected.
pub(crate) fn in_callback(run: impl FnOnce()) {
    let outer = IN_CALLBACK.replace(true);
    run();
    IN_CALLBACK.set(outer);
}

/// Fails if this thread is running a server function, which must not stop a server.
pub(crate) fn may_stop() -> Result<(), Status> {
    if IN_FUNCTION.get() {
        let text = "a function of a server cannot run or stop a server: use another thread";
        return Err(Status::failed_precondition(text));
    }
    may_block()
}

/// Fails if this thread is running a callback, which must not block.
pub(crate) fn may_block() -> Result<(), Status> {
    if completion::is_running() || IN_CALLBACK.get() {
        let text = "this function blocks, and a callback must not: use another thread or a queue";
        return Err(Status::failed_precondition(text));
    }
    Ok(())
}

/// Blocks this thread until the future completes.
///
/// # Errors
/// Within a callback.
pub(crate) fn wait<F: Future>(future: F) -> Result<F::Output, Status> {
    may_block()?;
    let _context = enter()?;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // Exempt the future from tokio's cooperative budget, because within a server's handler it would be reset only after
    // the handler.
    let mut future = pin!(tokio::task::unconstrained(future));
    loop {
        // A wake-up between the poll and `park` makes `park` return immediately.
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return Ok(output),
            Poll::Pending => thread::park(),
        }
    }
}

/// Like [`wait`], but also works in destructors that run after those of tokio, such as those of static objects and
/// functions registered with `atexit`.
///
/// # Errors
/// Like [`wait`].
pub(crate) fn wait_at_exit<F>(future: F) -> Result<F::Output, Status>
where
    F: Future<Output: Send> + Send,
{
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        may_block()?;
        // `park` does not work on a thread that is exiting, so wait on another thread.
        let waited = thread::scope(|threads| threads.spawn(|| wait(future)).join());
        return waited.unwrap_or_else(|panicked| panic::resume_unwind(panicked));
    }
    wait(future)
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
