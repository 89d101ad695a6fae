//! The threads that drive connections.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// What drives connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Workers {
    /// One thread for each core, each with a runtime of its own among which connections are handed round. The
    /// default for servers: busy connections do not starve their neighbours as on a work-stealing runtime.
    #[default]
    PerCore,
    /// So many such threads, at least one.
    Threads(usize),
    /// The runtime in which the server is started or the client connects.
    Caller,
}

/// Running workers. Dropping them ends their threads and what they drive.
#[derive(Debug)]
pub(crate) struct Pool {
    /// None if the caller's runtime drives.
    threads: Vec<Worker>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// The thread ends when this is dropped.
    _running: oneshot::Sender<()>,
}

impl Pool {
    pub(crate) fn start(workers: Workers) -> io::Result<Self> {
        let count = match workers {
            Workers::PerCore => thread::available_parallelism().map_or(1, usize::from),
            Workers::Threads(count) => count.max(1),
            Workers::Caller => 0,
        };
        let threads = (0..count).map(Worker::start).collect::<io::Result<_>>()?;
        Ok(Self { threads, next: AtomicUsize::new(0) })
    }

    /// The runtime that drives the next connection; `None` for the caller's.
    pub(crate) fn next(&self) -> Option<&Handle> {
        let next = self.next.fetch_add(1, Ordering::Relaxed).checked_rem(self.threads.len())?;
        Some(&self.threads[next].runtime)
    }
}

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (running, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name(format!("frisbee-{number}"));
        thread.spawn(move || {
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { runtime: handle, _running: running })
    }
}
