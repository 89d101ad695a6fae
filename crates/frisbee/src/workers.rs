//! The threads that drive connections.

use crate::Runtime;
#[cfg(all(feature = "uring", target_os = "linux"))]
use crate::runtime::uring::Rings;
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
    /// The runtime in which the server is started or the client connects. If io_uring is required, it is threads
    /// that the whole process shares, since a ring belongs to one thread.
    Caller,
}

/// Running workers. Dropping them ends their threads and what they drive.
#[derive(Debug)]
pub(crate) enum Pool {
    /// The caller's runtime drives.
    Caller,
    Threads(Threads),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Rings(Rings),
    /// The rings of the process drive.
    #[cfg(all(feature = "uring", target_os = "linux"))]
    SharedRings(&'static Rings),
}

/// What drives a connection.
pub(crate) enum Place<'a> {
    Caller,
    Worker(&'a Handle),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Ring(&'a Rings),
}

#[derive(Debug)]
pub(crate) struct Threads {
    workers: Vec<Worker>,
    next: AtomicUsize,
}

#[derive(Debug)]
struct Worker {
    runtime: Handle,
    /// The thread ends when this is dropped.
    _running: oneshot::Sender<()>,
}

impl Pool {
    /// Starts workers, with rings if the sockets are of the kind, and `runtime` and the environment say so.
    pub(crate) fn start(workers: Workers, runtime: Runtime, takes_rings: bool) -> io::Result<Self> {
        // On the caller's runtime, handles and driver share threads; on a ring each call would cross them twice.
        let pays = workers != Workers::Caller;
        if takes_rings && let Some(rings) = runtime.start(pays, || Self::start_rings(workers))? {
            return Ok(rings);
        }
        let count = match workers {
            Workers::PerCore => thread::available_parallelism().map_or(1, usize::from),
            Workers::Threads(count) => count.max(1),
            Workers::Caller => return Ok(Self::Caller),
        };
        let workers = (0..count).map(Worker::start).collect::<io::Result<_>>()?;
        Ok(Self::Threads(Threads { workers, next: AtomicUsize::new(0) }))
    }

    #[cfg(all(feature = "uring", target_os = "linux"))]
    fn start_rings(workers: Workers) -> io::Result<Self> {
        match workers {
            Workers::PerCore => Rings::start(None).map(Self::Rings),
            Workers::Threads(count) => Rings::start(Some(count)).map(Self::Rings),
            Workers::Caller => Rings::shared().map(Self::SharedRings),
        }
    }

    #[cfg(not(all(feature = "uring", target_os = "linux")))]
    fn start_rings(_workers: Workers) -> io::Result<Self> {
        Err(no_rings())
    }

    /// What drives the next connection.
    pub(crate) fn next(&self) -> Place<'_> {
        match self {
            Self::Caller => Place::Caller,
            Self::Threads(threads) => {
                let next = threads.next.fetch_add(1, Ordering::Relaxed) % threads.workers.len();
                Place::Worker(&threads.workers[next].runtime)
            }
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Self::Rings(rings) => Place::Ring(rings),
            #[cfg(all(feature = "uring", target_os = "linux"))]
            Self::SharedRings(rings) => Place::Ring(rings),
        }
    }
}

/// Why there are no rings in this build.
#[cfg(not(all(feature = "uring", target_os = "linux")))]
fn no_rings() -> io::Error {
    let reason = "it takes Linux and the feature `uring`, which this program was built without";
    io::Error::new(io::ErrorKind::Unsupported, reason)
}

/// Sockets that a worker looks after at one time. What they bring is dealt with while their connections' memory is still
/// near: with 1024 at one time, as is usual, most of it has to be fetched once more. Asking the system costs about as
/// much as a packet, a thirty-second of that for each of them.
const EVENTS_AT_ONCE: usize = 32;

impl Worker {
    fn start(number: usize) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().max_io_events_per_tick(EVENTS_AT_ONCE).build()?;
        let handle = runtime.handle().clone();
        let (running, stopped) = oneshot::channel::<()>();
        let thread = thread::Builder::new().name(format!("frisbee-{number}"));
        thread.spawn(move || {
            let _ = runtime.block_on(stopped);
        })?;
        Ok(Self { runtime: handle, _running: running })
    }
}
