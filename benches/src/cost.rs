//! CPU time and medians.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Returns the CPU time used by this process.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the median of these figures; for an even number, the greater of the two middle ones.
///
/// # Panics
/// If there are no figures.
pub fn median(figures: impl IntoIterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.into_iter().collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
