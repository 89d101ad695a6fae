//! The threads that drive connections: the caller's, workers, or those of rings.

use crate::IoBackend;
use crate::executor::workers::{StartThreads, Worker, WorkerWatch, Workers};
#[cfg(all(feature = "uring", target_os = "linux"))]
use crate::runtime::uring::Rings;
use std::io;
use std::sync::Arc;

/// Running workers. Dropping the last reference ends their threads and the connections on them.
#[derive(Debug)]
pub(crate) enum WorkerPool {
    /// The caller's runtime drives.
    Caller,
    Threads(Arc<[Worker]>),
    #[cfg(all(feature = "uring", target_os = "linux"))]
    Rings(Arc<Rings>),
}

impl WorkerPool {
    /// Workers, started by `threads` if they are threads, or rings if `io_backend` and the environment say so. `rings` are
    /// the threads of rings, if the sockets may be theirs.
    pub(crate) fn start(
        workers: Workers,
        threads: Option<StartThreads>,
        io_backend: IoBackend,
        rings: Option<Workers>,
    ) -> io::Result<Self> {
        // On the caller's runtime handles and driver share threads; on a ring each call would cross them twice.
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

    /// Its threads, without those of rings.
    fn threads(&self) -> &[Worker] {
        if let Self::Threads(workers) = self { workers } else { &[] }
    }

    /// Lets its threads be looked at, except those of rings.
    pub(crate) fn watch(&self) -> Vec<WorkerWatch> {
        self.threads().iter().map(Worker::watch).collect()
    }

    /// The first of its threads, which accepts the connections of a server.
    pub(crate) fn first(&self) -> Option<&Worker> {
        self.threads().first()
    }

    /// The thread of the next connection: the one that has the fewest.
    pub(crate) fn least(&self) -> Option<&Worker> {
        self.threads().iter().min_by_key(|worker| worker.load())
    }
}
