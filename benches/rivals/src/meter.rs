//! Counts calls and times some of them, from many tasks on many threads, within a window that another thread opens and
//! closes.

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// State shared by all callers.
#[derive(Debug)]
pub struct Meter {
    phase: AtomicU8,
    /// One of this many calls is timed.
    every: u64,
    /// The histograms, which threads use round-robin.
    histograms: Vec<Mutex<Histogram<u64>>>,
}

/// The phase of a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Debug)]
#[repr(u8)]
pub enum Phase {
    /// Calls are made and not counted.
    WarmUp,
    /// Calls are counted and timed.
    Window,
    /// Calls in flight are finished and timed, so that slow ones are included.
    Ending,
}

/// Number of histograms.
const THREADS: usize = 16;

/// Maximum recorded time in nanoseconds, longer than any run.
const LONGEST: u64 = 120_000_000_000;

impl Meter {
    /// Creates a meter. It times every call if few are concurrent, otherwise every eighth, because reading the clock
    /// would be a considerable part of the cost of a call.
    pub fn new(at_one_time: usize) -> Self {
        let histogram =
            || Histogram::new_with_max(LONGEST, 3).expect("three digits should be within the histogram's limits");
        Self {
            phase: AtomicU8::new(Phase::WarmUp as u8),
            every: if at_one_time < 16 { 1 } else { 8 },
            histograms: (0..THREADS).map(|_| Mutex::new(histogram())).collect(),
        }
    }

    /// Enters a phase.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// Returns whether calls are to be made.
    #[inline]
    pub fn runs(&self) -> bool {
        self.phase.load(Ordering::Relaxed) < Phase::Ending as u8
    }

    /// Returns whether calls are counted.
    #[inline]
    pub fn counts(&self) -> bool {
        self.phase.load(Ordering::Relaxed) == Phase::Window as u8
    }

    /// Returns whether the call with this number on its connection is timed.
    #[inline]
    pub fn times(&self, number: u64) -> bool {
        number.is_multiple_of(self.every)
    }

    /// Records the duration of a call that has just ended.
    pub fn record(&self, latency: Duration) {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        thread_local! {
            static THREAD: usize = NEXT.fetch_add(1, Ordering::Relaxed) % THREADS;
        }
        if self.phase.load(Ordering::Relaxed) != Phase::WarmUp as u8 {
            let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
            self.histograms[THREAD.with(|thread| *thread)].lock().saturating_record(nanos);
        }
    }

    /// Creates a tally for one caller.
    pub fn tally(&self, caller: usize) -> Tally<'_> {
        Tally { meter: self, until_timed: caller as u64 % self.every, counted: 0 }
    }

    /// Returns all latencies so far.
    pub fn latencies(&self) -> Histogram<u64> {
        let mut all = self.histograms[0].lock().clone();
        for histogram in &self.histograms[1..] {
            all.add(&*histogram.lock()).expect("histograms should have equal bounds");
        }
        all
    }
}

/// The counts of one caller.
#[derive(Debug)]
pub struct Tally<'a> {
    meter: &'a Meter,
    until_timed: u64,
    counted: u64,
}

impl Tally<'_> {
    /// Returns whether another call is to be made.
    #[inline]
    pub fn runs(&self) -> bool {
        self.meter.runs()
    }

    /// Begins a call. The result is passed to [`end`](Self::end).
    #[inline]
    pub fn begin(&mut self) -> Option<Instant> {
        if self.until_timed > 0 {
            self.until_timed -= 1;
            return None;
        }
        self.until_timed = self.meter.every - 1;
        Some(Instant::now())
    }

    /// Ends a call.
    #[inline]
    pub fn end(&mut self, begun: Option<Instant>) {
        self.counted += u64::from(self.meter.counts());
        if let Some(begun) = begun {
            self.meter.record(begun.elapsed());
        }
    }

    /// Like [`end`](Self::end), for several calls that were timed together.
    pub fn end_many(&mut self, begun: Option<Instant>, calls: u64) {
        self.counted += if self.meter.counts() { calls } else { 0 };
        if let Some(begun) = begun {
            self.meter.record(begun.elapsed().div_f64(calls as f64));
        }
    }

    /// Returns the number of calls completed within the window.
    pub fn counted(&self) -> u64 {
        self.counted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_latencies_count_after_window() {
        let meter = Meter::new(1);
        let mut tally = meter.tally(0);
        for phase in [Phase::WarmUp, Phase::Window, Phase::Ending] {
            meter.enter(phase);
            let begun = tally.begin();
            tally.end(begun);
        }
        assert_eq!(tally.counted(), 1);
        assert_eq!(meter.latencies().len(), 2);
        assert!(!tally.runs());
    }

    #[test]
    fn one_call_in_eight_is_timed() {
        let meter = Meter::new(100);
        meter.enter(Phase::Window);
        let mut tally = meter.tally(3);
        for _ in 0..80 {
            let begun = tally.begin();
            tally.end(begun);
        }
        assert_eq!((tally.counted(), meter.latencies().len()), (80, 10));
    }
}
