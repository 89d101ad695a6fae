//! Tests that measure the whole process, its memory and its threads, or listen to its log. One runs at a time, and
//! tests that measure nothing have no place here.

mod busy_polling;
mod hostile_peers;
mod log;

use tokio::sync::Mutex;

/// Held by the test that runs.
static ALONE: Mutex<()> = Mutex::const_new(());
