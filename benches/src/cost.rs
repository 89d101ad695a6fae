//! Processor time, and the middle of several measurements.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// The processor time that this process has had.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// The middle one of these figures; of an even number of them the greater of two.
///
/// # Panics
/// If there is none.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
