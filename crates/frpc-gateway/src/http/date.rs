//! The time of responses, written once in a second by each thread.

use std::cell::RefCell;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

thread_local! {
    /// The second, and its text.
    static LAST: RefCell<(u64, String)> = const { RefCell::new((0, String::new())) };
}

/// The current time as fields of HTTP have it. RFC 9110 wants a server with a clock to state it.
pub(crate) fn now() -> String {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    LAST.with_borrow_mut(|(second, text)| {
        if *second != time.as_secs() || text.is_empty() {
            *second = time.as_secs();
            *text = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(*second));
        }
        text.clone()
    })
}
