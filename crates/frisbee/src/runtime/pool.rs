//! Threads that drive connections: the caller's runtime, workers, or io_uring threads.

use crate::IoBackend;
use crate::executor::workers::{StartThreads, Worker, WorkerWatch, Workers};
#[cfg(all(feature = "uring", target_os = "linux"))]
use crate::runtime::uring::Rings;
use std::io;
use std::sync::Arc;

/// Worker threads that drive the connections of a server or client. Dropping the last reference ends the threads and
/// their connections.
#[derive(Debug)]
pub(crate) enum WorkerPool {
    /// Connections are driven by the runtime of the caller.
    Caller,
    Threads(Arc<[Worker]>),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Rings(Arc<Rings>),
}

impl WorkerPool {
    /// Starts workers, or io_uring threads if `io_backend` or the environment selects them.
    ///
    /// `threads` is the function that starts the workers. `rings` is the number of io_uring threads, or `None` if
    /// io_uring cannot drive the sockets.
    pub(crate) fn start(
        workers: Workers,
        threads: Option<StartThreads>,
        io_backend: IoBackend,
        rings: Option<Workers>,
    ) -> io::Result<Self> {
        // Use tokio in the caller's runtime, because handlers and drivers share threads there. With io_uring, each call
        // would have to switch threads twice.
        if let Some(rings) = rings
            && let Some(rings) = io_backend.start(workers != Workers::Caller, || Self::start_rings(rings))?
        {
            return Ok(rings);
        }
        workers.count().zip(threads).map_or(Ok(Self::Caller), |(count, start)| start(count).map(Self::Threads))
    }

    #[cfg(all(feature = "uring", target_os = "linux"))]
    fn start_rings(workers: Workers) -> io::Result<Self> {
        let rings = match workers {
            Workers::PerCore => Rings::start(None).map(Arc::new),
            Workers::Threads(count) => Rings::start(Some(count)).map(Arc::new),
            Workers::Caller => Rings::shared(),
        };
        rings.map(Self::Rings)
    }

    #[cfg(not(all(feature = "uring", target_os = "linux")))]
    fn start_rings(_workers: Workers) -> io::Result<Self> {
        let reason = "io_uring needs Linux and the feature `uring`, which this build lacks";
        Err(io::Error::new(io::ErrorKind::Unsupported, reason))
    }

    /// Returns the workers, excluding io_uring threads.
    fn threads(&self) -> &[Worker] {
        if let Self::Threads(workers) = self { workers } else { &[] }
    }

    /// Returns weak references to the workers, for statistics.
    pub(crate) fn watch(&self) -> Vec<WorkerWatch> {
        self.threads().iter().map(Worker::watch).collect()
    }

    /// Returns the first worker, which accepts the connections of a server.
    pub(crate) fn first(&self) -> Option<&Worker> {
        self.threads().first()
    }

    /// Returns the worker with the fewest connections, which receives the next connection.
    pub(crate) fn least(&self) -> Option<&Worker> {
        self.threads().iter().min_by_key(|worker| worker.load())
    }
}
