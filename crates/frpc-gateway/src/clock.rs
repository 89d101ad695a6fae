//! The runtime's clock, which tests may stop.

use std::time::Instant;

/// The present time of the runtime.
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}
