//! Threads that drive connections.
//!
//! # Decisions
//!
//! By default, connections are driven by the runtime of the caller, at clients and servers. Handlers and callers then
//! share its threads, and the program has no others. If the peer does the same, this takes less processor time than one
//! thread per core. In a benchmark with 16 connections and ten calls in flight, a call took 2.04 us instead of 2.09 us,
//! and with a single call in flight 17.4 us instead of 20.4 us. If client and server share two cores, fewer threads
//! compete for them: the p99 latency of a single call was 0.43 ms instead of 1.8 ms.
//!
//! Separate threads are better if both peers use them (1.7 to 1.98 us), and on machines with many cores. Futures that
//! handlers spawn or await belong to the runtime that called `serve` or `connect`.
//!
//! A worker polls 32 sockets at a time instead of tokio's 1024. With more, data would be evicted from the cache before
//! it is processed. A connection that yields with work left is polled again only after the sockets, at most four such
//! connections at a time. A thousand flooding clients thus delay the others by only four of their polls.

mod task;
#[cfg(test)]
mod tests;
pub(crate) mod wake_queue;
pub(crate) mod watchdog;
pub(crate) mod worker;

use crate::settings::SettingError;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::thread;

pub(crate) use worker::{Worker, WorkerWatch};

/// Configuration of the threads that drive connections.
///
/// Each server has its own threads. Clients have only one connection each, so clients that are configured with the same
/// number of threads share them. Shared threads live as long as the process.
///
/// ```
/// use frisbee::{Client, Server, Workers};
///
/// // Half of a machine with eight cores, since other programs run there as well.
/// let server = Server::builder().workers(Workers::Threads(4));
/// // Threads of their own instead of the caller's runtime, for a thousand busy connections.
/// let client = Client::builder().workers(Workers::PerCore);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Workers {
    /// One thread per core, each with its own runtime. The first thread accepts connections and passes each one to the
    /// thread with the fewest. Suitable for servers with busy clients, because connections on different threads share
    /// no state. If a handler blocks or computes for a long time, its thread is replaced by another one, except with
    /// io_uring.
    PerCore,
    /// The given number of threads, from 1 to 1024. Otherwise, this is like [`PerCore`](Self::PerCore).
    Threads(usize),
    /// The runtime that started the server or connected the client. This is the default. If io_uring is required,
    /// threads shared by the whole process are used instead, because a ring is bound to one thread.
    #[default]
    Caller,
}

impl Workers {
    pub(crate) fn check(self) -> Result<(), SettingError> {
        match self {
            Self::Threads(count) if !(1..=1024).contains(&count) => {
                Err(SettingError::new("workers", count, "must be 1 to 1024 threads"))
            }
            _ => Ok(()),
        }
    }

    /// Returns the number of worker threads, or `None` if the caller's runtime is used.
    pub(crate) fn count(self) -> Option<usize> {
        match self {
            Self::PerCore => Some(thread::available_parallelism().map_or(1, usize::from)),
            Self::Threads(count) => Some(count.max(1)),
            Self::Caller => None,
        }
    }
}

/// Function that starts the given number of workers or returns existing ones.
pub(crate) type StartThreads = fn(usize) -> io::Result<Arc<[Worker]>>;

/// Starts `count` worker threads for a server.
pub(crate) fn start_threads(count: usize) -> io::Result<Arc<[Worker]>> {
    (0..count).map(Worker::start).collect()
}

/// Returns the worker threads shared by all clients that are configured with `count` threads. Starts them at the first
/// call.
pub(crate) fn shared_threads(count: usize) -> io::Result<Arc<[Worker]>> {
    static SHARED: Mutex<Vec<Arc<[Worker]>>> = Mutex::new(Vec::new());
    // Keep the lock while the threads start. Otherwise, two concurrent calls could both start them.
    let mut shared = SHARED.lock();
    if let Some(workers) = shared.iter().find(|workers| workers.len() == count) {
        return Ok(workers.clone());
    }
    let workers = start_threads(count)?;
    shared.push(workers.clone());
    Ok(workers)
}
