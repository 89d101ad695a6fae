//! The configuration of all benchmarks, which together take a few minutes.

use criterion::Criterion;
use std::time::Duration;

pub(crate) fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1))
}
