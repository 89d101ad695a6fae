//! The calls in progress that have a span or a recorded duration. The observer stores their numbers as tokens in the
//! calls.

use opentelemetry::global::BoxedSpan;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of hash tables, each with its own lock to reduce contention.
const TABLES: usize = 16;

/// A call in progress with its open spans and its start time.
pub(crate) struct LiveCall {
    /// Span of the call. `None` if the call is not sampled and only its duration is recorded.
    pub(crate) span: Option<BoxedSpan>,
    /// Spans of the attempts in progress, except the first attempt, which the span of the call covers. There are
    /// several if an attempt is hedged.
    pub(crate) open: Vec<BoxedSpan>,
    /// Number of all attempts.
    pub(crate) attempts: u32,
    pub(crate) started: Instant,
}

/// Calls in progress, by the number that the observer's token contains.
#[derive(Default)]
pub(crate) struct LiveCalls {
    tables: [Mutex<HashMap<u64, LiveCall>>; TABLES],
    next: AtomicU64,
}

impl LiveCalls {
    /// Registers a call and returns its number, which is never 0.
    pub(crate) fn enter(&self, live: LiveCall) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        self.put(number, live);
        number
    }

    /// Registers a call again after [`take`](Self::take).
    pub(crate) fn put(&self, number: u64, live: LiveCall) {
        self.table(number).lock().insert(number, live);
    }

    pub(crate) fn take(&self, number: u64) -> Option<LiveCall> {
        self.table(number).lock().remove(&number)
    }

    pub(crate) fn len(&self) -> usize {
        self.tables.iter().map(|table| table.lock().len()).sum()
    }

    #[cfg(test)]
    pub(crate) fn is_locked(&self) -> bool {
        self.tables.iter().any(Mutex::is_locked)
    }

    fn table(&self, number: u64) -> &Mutex<HashMap<u64, LiveCall>> {
        &self.tables[(number % TABLES as u64) as usize]
    }
}
