//! The runtime of the process, which drives the connections of clients and accepts those of servers, and waiting for
//! futures in threads of C.

use crate::completion;
use frpc::Status;
use std::cell::Cell;
use std::pin::pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::{panic, process};
use tokio::runtime::{Builder, EnterGuard, Handle, Runtime};

/// The threads of the runtime: it drives sockets, and the work of calls is small.
const THREADS_MAX: usize = 4;

/// The threads of functions that may block.
pub(crate) const BLOCKING_MAX: usize = 512;

/// Further threads that may block, for looking up the names of servers: functions that connect wait for them.
const LOOKUPS_MAX: usize = 16;

/// The runtime, made by the first client or server. It lives as long as the process.
pub(crate) fn handle() -> Result<&'static Handle, Status> {
    static RUNTIME: OnceLock<(Result<Runtime, String>, u32)> = OnceLock::new();
    let (runtime, process) = RUNTIME.get_or_init(|| {
        let threads = thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(threads).max_blocking_threads(BLOCKING_MAX + LOOKUPS_MAX).thread_name("frisbee");
        (builder.enable_all().build().map_err(|error| error.to_string()), process::id())
    });
    if *process != process::id() {
        // The threads of the library are the parent's, and nothing would ever end here.
        let text = "this process is a fork of the one that uses the library: call exec() in it, or fork before";
        return Err(Status::failed_precondition(text));
    }
    match runtime {
        Ok(runtime) => Ok(runtime.handle()),
        Err(error) => Err(Status::internal(format!("the threads of the library cannot be started: {error}"))),
    }
}

/// Makes this thread one of the runtime, for timers.
///
/// # Errors
/// In destructors of a thread that come after tokio's, where it would panic.
pub(crate) fn enter() -> Result<EnterGuard<'static>, Status> {
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        let text = "this thread has ended: its destructors cannot wait or use queues";
        return Err(Status::failed_precondition(text));
    }
    Ok(handle()?.enter())
}

thread_local! {
    static IN_FUNCTION: Cell<bool> = const { Cell::new(false) };
}

/// Runs a function of a server, within which a server cannot be stopped: it would wait for the function.
pub(crate) fn in_function(run: impl FnOnce()) {
    let outer = IN_FUNCTION.replace(true);
    run();
    IN_FUNCTION.set(outer);
}

/// Fails in a function of a server.
pub(crate) fn may_stop() -> Result<(), Status> {
    if IN_FUNCTION.get() {
        return Err(Status::failed_precondition("a function of a server cannot stop a server: use another thread"));
    }
    may_block()
}

/// Fails in a callback of a completed call.
pub(crate) fn may_block() -> Result<(), Status> {
    if completion::is_running() {
        let text = "this function blocks, and a completion callback must not: use another thread or a queue";
        return Err(Status::failed_precondition(text));
    }
    Ok(())
}

/// Blocks this thread until the future has ended.
///
/// # Errors
/// In a callback of a completed call.
pub(crate) fn wait<F: Future>(future: F) -> Result<F::Output, Status> {
    may_block()?;
    let _context = enter()?;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    // In a handler of a server the budget of its task is used up at some time, and returns only after the handler.
    let mut future = pin!(tokio::task::unconstrained(future));
    loop {
        // A wake-up between the poll and `park` makes `park` return at once.
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return Ok(output),
            Poll::Pending => thread::park(),
        }
    }
}

/// As [`wait`], also in destructors of a thread that come after tokio's: those of static objects, and functions of `atexit`.
///
/// # Errors
/// As [`wait`].
pub(crate) fn wait_at_exit<F>(future: F) -> Result<F::Output, Status>
where
    F: Future<Output: Send> + Send,
{
    if Handle::try_current().is_err_and(|error| error.is_thread_local_destroyed()) {
        may_block()?;
        // `park` of a thread that has ended has no token, so another one waits.
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
