//! Child processes, which never outlive this one: they end when their standard input does, and are killed when dropped.

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

/// A child and the lines that it writes.
#[derive(Debug)]
pub struct Process {
    child: Child,
    lines: Receiver<String>,
    clock: ClockId,
}

impl Process {
    /// Starts a program, if so on one core only: the `core`-th of those that this process may use.
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

    /// Waits for a line that begins with a word; gives the rest of it.
    ///
    /// # Errors
    /// If there is none in time, or the program has ended.
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

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processor time that it has used so far, in all its threads.
    ///
    /// # Errors
    /// If the program has ended.
    pub fn cpu(&self) -> Result<Duration, BoxError> {
        Ok(self.clock.now()?.into())
    }

    /// A figure from its status, in bytes, such as `VmHWM`.
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

/// Runs a closure with this thread on one of its cores, which children inherit.
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

/// For children: ends this process when the parent does, however that ends.
pub fn exit_with_parent() {
    std::thread::spawn(|| {
        let mut nothing = [0; 64];
        while std::io::stdin().read(&mut nothing).is_ok_and(|count| count > 0) {}
        std::process::exit(0);
    });
}
