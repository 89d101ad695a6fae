//! What a test can see of its own process.

use std::cell::Cell;
use std::sync::Once;

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// How often something has panicked on this thread since the first question. What a task panics with is caught by the
/// runtime, and would not be noticed.
pub fn panics() -> usize {
    static COUNTING: Once = Once::new();
    COUNTING.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            report(panic);
        }));
    });
    PANICS.get()
}

/// The memory of this process in KiB, where the system tells: on Linux. Tests that run beside add to it, so limits have
/// to be generous.
pub fn resident_kib() -> Option<usize> {
    status("VmRSS:")
}

/// How much more address space this process had at any time than it has now, in KiB: what was reserved and given back,
/// whether it was used or not. Linux alone can tell.
pub fn given_back_kib() -> Option<usize> {
    let now = status("VmSize:")?;
    Some(status("VmPeak:")?.saturating_sub(now))
}

fn status(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}
