//! Measurements of the process in which a test runs.

use std::any::type_name;
use std::cell::Cell;
use std::env;
use std::process::Command;
use std::sync::{Mutex, Once, PoisonError};

thread_local! {
    static PANICS: Cell<usize> = const { Cell::new(0) };
}

/// Returns the number of panics on this thread since the first call. The runtime catches panics of tasks, so they have
/// to be counted.
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

/// Returns the resident memory of this process in KiB, on Linux only. Limits must be generous, because other tests run
/// in the same process.
pub fn resident_kib() -> Option<usize> {
    status("VmRSS:")
}

/// Returns by how many KiB the peak address space of this process exceeds the current one. This is memory that was
/// reserved and then released, whether it was used or not. Only Linux reports it.
pub fn released_kib() -> Option<usize> {
    let now = status("VmSize:")?;
    Some(status("VmPeak:")?.saturating_sub(now))
}

fn status(name: &str) -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Runs the calling test in a separate process, one at a time. Returns `false` in that process.
///
/// The closure identifies the test, because its type name contains the test's path.
///
/// # Panics
/// If the test fails in the other process.
pub fn ran_alone<F>(_closure: F) -> bool {
    static TURN: Mutex<()> = Mutex::new(());
    const MARK: &str = "FRISBEE_ALONE";
    if env::var_os(MARK).is_some() {
        return false;
    }
    let path = type_name::<F>().trim_end_matches("::{{closure}}");
    let (_, test) = path.split_once("::").expect("path should start with the crate");
    let _guard = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(env::current_exe().expect("program should have a path"));
    command.args([test, "--exact", "--include-ignored", "--nocapture", "--test-threads", "1"]).env(MARK, "1");
    let output = command.output().expect("process should start");
    let [printed, errors] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    print!("{printed}");
    eprint!("{errors}");
    assert!(output.status.success() && printed.contains(" 1 passed;"), "{test}: {}", output.status);
    true
}
