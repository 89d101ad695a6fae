//! The runtime of the process, which drives client connections and accepts server connections, and blocking waits for
//! futures on C threads.

use crate::completion;
use frpc::{Channel, Request, Status};
use std::cell::Cell;
use std::net::SocketAddr;
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
    /// Connection whose driver runs the current function on this thread. Nothing is read from it or written to it until
    /// the function returns.
    static HELD_UP: Cell<Option<ServedConnection>> = const { Cell::new(None) };
}

/// The server's end of the connection that a call arrived on.
#[derive(Clone, Copy)]
pub(crate) struct ServedConnection {
    /// Number that identifies the connection among all open ones.
    number: usize,
    /// Addresses of the client and the server, for native callers over TCP.
    ends: Option<[SocketAddr; 2]>,
}

impl ServedConnection {
    pub(crate) fn of<T>(request: &Request<T>) -> Self {
        let number = request.attachments().map_or(0, |attachments| std::ptr::from_ref(attachments).addr());
        let ends = request.connection().and_then(|native| Some([native.peer_addr()?, native.local_addr()?]));
        Self { number, ends }
    }

    /// Returns whether this thread is running a function that blocks the driver of the connection. Waiting for the
    /// connection would then never end.
    pub(crate) fn is_held_up(&self) -> bool {
        HELD_UP.get().is_some_and(|held_up| held_up.number == self.number)
    }
}

/// Like [`ServedConnection::is_held_up`], but takes the client's end of the connection. Compares the addresses of both
/// ends, so connections of Unix sockets, which have none, are not recognized.
pub(crate) fn is_held_up(channel: &Channel) -> bool {
    let Some(ends) = HELD_UP.get().and_then(|held_up| held_up.ends) else { return false };
    let Some(connection) = channel.connection() else { return false };
    let canonical = |end: SocketAddr| (end.ip().to_canonical(), end.port());
    let own = connection.local_addr().zip(connection.peer_addr());
    own.is_some_and(|(local, peer)| [local, peer].map(canonical) == ends.map(canonical))
}

/// Runs a server function. While it runs, its thread may not stop a server, because that would wait for the function
/// itself. It also may not wait for the connection `held_up`, whose driver the function blocks.
pub(crate) fn in_function(held_up: Option<ServedConnection>, run: impl FnOnce()) {
    let outer = (IN_FUNCTION.replace(true), HELD_UP.replace(held_up));
    run();
    IN_FUNCTION.set(outer.0);
    HELD_UP.set(outer.1);
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

/// Like [`wait`], but fails instead of waiting if `is_held_up` is set.
pub(crate) fn wait_unless<F: Future>(is_held_up: bool, future: F) -> Result<F::Output, Status> {
    if !is_held_up {
        return wait(future);
    }
    may_block()?;
    let _context = enter()?;
    match pin!(tokio::task::unconstrained(future)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(held_up()),
    }
}

/// Returns the error of a function that would wait for a connection whose driver it blocks.
pub(crate) fn held_up() -> Status {
    let client = HELD_UP.get().and_then(|connection| Some(format!(" from {}", connection.ends?[0])));
    Status::failed_precondition(format!(
        "the connection{} waits for the function that runs on this thread: use another thread or frisbee_client_start",
        client.unwrap_or_default()
    ))
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
