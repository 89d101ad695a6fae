//! Child processes that never outlive this one: they exit when their standard input is closed, and are killed on drop.

use crate::BoxError;
#[cfg(feature = "tls")]
use crate::rivals::tls;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// A child and its output lines.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    clock: ClockId,
}

impl Process {
    /// Starts a program, optionally pinned to the `core`-th of the cores available to this process.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(program: &Path, arguments: &[String], core: Option<usize>) -> Result<Self, BoxError> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
        #[cfg(feature = "tls")]
        command.env(tls::VARIABLE, tls::passed_on());
        let mut child = match core {
            Some(core) => on_core(core, || command.spawn())??,
            None => command.spawn()?,
        };
        let stdout = child.stdout.take().ok_or("the output is a pipe")?;
        let clock = clock_getcpuclockid(pid(&child)?)?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Self { child, lines, clock })
    }

    /// Waits for a line that starts with a word, and returns the rest of it.
    ///
    /// # Errors
    /// If there is none in time, or the program has exited.
    pub fn expect(&self, word: &str, within: Duration) -> Result<String, BoxError> {
        let until = Instant::now() + within;
        loop {
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(rest) = line.strip_prefix(word) {
                        return Ok(rest.trim().to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Err(format!("no `{word}` within {within:?}").into()),
                Err(RecvTimeoutError::Disconnected) => return Err(format!("it ended before `{word}`").into()),
            }
        }
    }

    /// Returns the process id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns the CPU time used so far by all its threads.
    ///
    /// # Errors
    /// If the program has exited.
    pub fn cpu(&self) -> Result<Duration, BoxError> {
        Ok(self.clock.now()?.into())
    }

    /// Returns a figure of its status in bytes, such as `VmHWM`.
    ///
    /// # Errors
    /// If there is none.
    pub fn memory(&self, figure: &str) -> Result<u64, BoxError> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok());
        Ok(kilobytes.ok_or_else(|| format!("no {figure}"))? * 1024)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pid(child: &Child) -> Result<Pid, BoxError> {
    Ok(Pid::from_raw(child.id().try_into()?))
}

/// Runs a closure while this thread is pinned to a core, which children inherit.
fn on_core<T>(core: usize, run: impl FnOnce() -> T) -> Result<T, BoxError> {
    let this = Pid::from_raw(0);
    let before = sched_getaffinity(this)?;
    let mut cores = (0..CpuSet::count()).filter(|core| before.is_set(*core).unwrap_or(false));
    let mut only = CpuSet::new();
    only.set(cores.nth(core).ok_or_else(|| format!("there is no core {core}"))?)?;
    sched_setaffinity(this, &only)?;
    let result = run();
    sched_setaffinity(this, &before)?;
    Ok(result)
}

/// Called by children: makes this process exit with its parent, for whatever reason the parent exits.
pub fn exit_with_parent() {
    std::thread::spawn(|| {
        let mut nothing = [0; 64];
        while std::io::stdin().read(&mut nothing).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    });
}
