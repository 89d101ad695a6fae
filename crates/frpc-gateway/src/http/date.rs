//! The `date` field of responses. It is formatted once per second and thread.

use std::cell::RefCell;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

thread_local! {
    /// Formatted date of this thread, and the instant at which it becomes outdated.
    static LAST: RefCell<Option<(Instant, String)>> = const { RefCell::new(None) };
}

/// Appends the `date` field's value for the time `now`, which must be the current time. RFC 9110 requires the field
/// from servers with a clock.
pub(crate) fn put(out: &mut Vec<u8>, now: Instant) {
    LAST.with_borrow_mut(|last| {
        let (_, text) = match last {
            Some(last) if now < last.0 => last,
            last => last.insert(written(now)),
        };
        out.extend_from_slice(text.as_bytes());
    });
}

/// Returns the current second as text, and the instant at which the second ends.
#[cold]
fn written(now: Instant) -> (Instant, String) {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let rest = Duration::from_secs(1).saturating_sub(Duration::from_nanos(time.subsec_nanos().into()));
    let second = UNIX_EPOCH + Duration::from_secs(time.as_secs());
    (now.checked_add(rest).unwrap_or(now), httpdate::fmt_http_date(second))
}
