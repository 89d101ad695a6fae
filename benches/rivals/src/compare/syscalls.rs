//! Counts the system calls of a process in the kernel with `perf stat`. Counting adds a small cost to each system call,
//! so it uses separate runs. Their times are not reported.

use nix::sys::signal::{Signal, kill};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use rivals::BoxError;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts of system calls within a window.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Syscalls {
    /// Socket reads.
    pub(crate) reads: u64,
    /// Socket writes.
    pub(crate) writes: u64,
    /// Waits for sockets, and submissions to io_uring.
    pub(crate) waits: u64,
    /// Calls of threads to wake or wait for each other.
    pub(crate) wakes: u64,
}

impl Syscalls {
    pub(crate) fn figures(self) -> [u64; 4] {
        [self.reads, self.writes, self.waits, self.wakes]
    }

    pub(crate) fn from_figures([reads, writes, waits, wakes]: [u64; 4]) -> Self {
        Self { reads, writes, waits, wakes }
    }
}

/// Counts the system calls of one process.
pub(crate) struct Counter {
    perf: Child,
    control: File,
    path: PathBuf,
    is_go: bool,
}

const READS: [&str; 3] = ["recvfrom", "recvmsg", "readv"];
const WRITES: [&str; 3] = ["sendto", "sendmsg", "writev"];
const WAITS: [&str; 4] = ["epoll_wait", "epoll_pwait", "epoll_pwait2", "io_uring_enter"];

impl Counter {
    /// Attaches to a process without counting yet. `is_go` is set if sockets are read and written by `read` and
    /// `write`, with which Rust's runtimes wake threads.
    pub(crate) fn start(process: u32, is_go: bool) -> Result<Self, BoxError> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("compare-{}-{number}", std::process::id()));
        mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR)?;
        let control = OpenOptions::new().read(true).write(true).open(&path)?;
        let calls = READS.iter().chain(&WRITES).chain(&WAITS).chain(&["read", "write", "futex"]);
        let events: Vec<_> = calls.map(|call| format!("syscalls:sys_enter_{call}")).collect();
        let perf = Command::new("perf")
            .args(["stat", "-x", ",", "-D", "-1", "-e", &events.join(","), "-p", &process.to_string()])
            .arg(format!("--control=fifo:{}", path.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("perf cannot be run: {error}"))?;
        Ok(Self { perf, control, path, is_go })
    }

    pub(crate) fn enable(&mut self) -> Result<(), BoxError> {
        Ok(self.control.write_all(b"enable\n")?)
    }

    /// Stops counting.
    pub(crate) fn finish(mut self) -> Result<Syscalls, BoxError> {
        self.control.write_all(b"disable\n")?;
        kill(Pid::from_raw(self.perf.id().try_into()?), Signal::SIGINT)?;
        let mut text = String::new();
        if let Some(mut output) = self.perf.stderr.take() {
            std::io::Read::read_to_string(&mut output, &mut text)?;
        }
        parse(&text, self.is_go)
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        let _ = self.perf.kill();
        let _ = self.perf.wait();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Sums up the lines of `perf stat -x ,`.
fn parse(text: &str, is_go: bool) -> Result<Syscalls, BoxError> {
    let count = |call: &str| {
        let event = format!("syscalls:sys_enter_{call}");
        let line = text.lines().find(|line| line.split(',').nth(2) == Some(&event));
        let count = line.and_then(|line| line.split(',').next()?.parse::<u64>().ok());
        count.ok_or_else(|| BoxError::from(format!("perf has not counted {call}; it needs root, tracefs and warm-up")))
    };
    let sum = |calls: &[&str]| calls.iter().try_fold(0, |sum, call| Ok::<_, BoxError>(sum + count(call)?));
    let [mut reads, mut writes, mut wakes] = [sum(&READS)?, sum(&WRITES)?, count("futex")?];
    if is_go {
        reads += count("read")?;
        writes += count("write")?;
    } else {
        wakes += count("write")?;
    }
    Ok(Syscalls { reads, writes, waits: sum(&WAITS)?, wakes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn write_wakes_threads_except_in_go() {
        let calls = READS.iter().chain(&WRITES).chain(&WAITS).chain(&["read", "write", "futex"]);
        let text: String = calls.map(|call| format!("10,,syscalls:sys_enter_{call},5,100.00,,\n")).collect();
        let figures = |is_go| parse(&text, is_go).unwrap().figures();
        assert_eq!([figures(false), figures(true)], [[30, 30, 40, 20], [40, 40, 40, 10]]);
        assert!(parse("<not supported>,,syscalls:sys_enter_read,0,100.00,,", false).is_err());
    }
}
