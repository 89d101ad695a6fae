//! The report of a failure: the seed, the required faults, the command that reproduces it, and the trace.

use crate::fault::Fault;
use crate::sim::RunRecord;
use crate::state::ScheduledFault;
use crate::trace::Event;
use crate::{command, svg};
use std::collections::BTreeSet;
use std::fmt;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io, process, thread};

/// Number of most recent events that are printed with a failure. `FRISBEE_TRACE` writes all events.
const PRINTED: usize = 40;

/// A seed with a failed world, and the command that reproduces the failure.
#[derive(Clone)]
pub struct Failure {
    seed: u64,
    text: String,
    faults: Vec<FaultRecord>,
    /// Whether the run is restricted to the recorded faults, because the others are not required for the failure.
    is_shrunk: bool,
    events: Vec<Event>,
    /// Name of the test, if known.
    test: Option<String>,
}

/// An injected fault, as listed in the failure report.
#[derive(Clone)]
struct FaultRecord {
    number: usize,
    at: Duration,
    fault: Fault,
    /// Event that triggered the fault, if any.
    upon: Option<String>,
}

impl Failure {
    /// Creates the report of a failure. If `test` is `None`, the name of the test is derived from the thread's name.
    pub(crate) fn new(seed: u64, text: String, ran: &RunRecord, kept: Option<&[usize]>, test: Option<String>) -> Self {
        let numbered = ran.schedule.iter().enumerate();
        let numbered = numbered.filter(|(number, _)| kept.is_none_or(|kept| kept.contains(number)));
        let struck = numbered.filter_map(|(number, ScheduledFault { upon, struck })| {
            let (at, fault) = struck.clone()?;
            Some(FaultRecord { number, at, fault, upon: upon.clone() })
        });
        let mut faults: Vec<_> = struck.collect();
        faults.sort_by_key(|fault| fault.at);
        // libtest gives each test a thread with its name, unless it uses a single thread.
        let of_thread = || thread::current().name().filter(|name| *name != "main").map(str::to_owned);
        let test = test.or_else(of_thread);
        Self { seed, text, faults, is_shrunk: kept.is_some(), events: ran.events.clone(), test }
    }

    /// Returns the seed of the failed world.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the cause of the failure: the panic or the violated condition.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the faults that cause the failure, with their times since the beginning of the world. Without any one of
    /// them the failure does not occur, unless the search reached its limit.
    pub fn faults(&self) -> impl Iterator<Item = (Duration, &Fault)> {
        self.faults.iter().map(|struck| (struck.at, &struck.fault))
    }

    /// Returns the events of the failed run in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Draws the last events of the run as an SVG, with a line for each node and arrows for the transferred bytes.
    pub fn svg(&self) -> String {
        svg::draw(&self.events)
    }

    /// Writes the trace and its timeline next to the program, which is in `target` for tests. Returns the report with
    /// both paths.
    pub(crate) fn write(&self) -> String {
        let name = format!("{}-{}", self.test.as_deref().unwrap_or("world").replace("::", "-"), self.seed);
        let program = env::current_exe().unwrap_or_default();
        let folder = command::build_folder(&program).map(|folder| folder.join("frisbee-sim"));
        // Ignore errors, because the command suffices if the files cannot be written.
        let written = folder.and_then(|folder| {
            let path = folder.join(name);
            fs::create_dir_all(&folder).and_then(|()| write_trace(&self.events, &path)).ok()?;
            Some(path)
        });
        Report { failure: self, written }.to_string()
    }

    /// Returns the command that runs only this seed with these faults.
    pub fn command(&self) -> String {
        let mut command = format!("FRISBEE_SEED={}", self.seed);
        if self.is_shrunk {
            let numbers: BTreeSet<_> = self.faults.iter().map(|struck| struck.number).collect();
            let numbers: Vec<_> = numbers.iter().map(usize::to_string).collect();
            let _ = write!(command, " FRISBEE_FAULTS={}", numbers.join(","));
        }
        command += " ";
        command += &command::of_test(self.test.as_deref());
        command
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Report { failure: self, written: None }.fmt(f)
    }
}

/// A failure, and the path of its trace without an extension.
struct Report<'a> {
    failure: &'a Failure,
    written: Option<PathBuf>,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failure, written } = self;
        writeln!(f, "seed {} fails: {}", failure.seed, failure.text)?;
        writeln!(f, "\nrun it again, with FRISBEE_TRACE=/tmp/trace for the whole trace and its time line:")?;
        writeln!(f, "  {}", failure.command())?;
        if let Some(path) = written {
            writeln!(f, "the whole trace: {}", with_end(path, "txt").display())?;
            writeln!(f, "its time line:   {}", with_end(path, "svg").display())?;
        }
        if failure.faults.is_empty() {
            writeln!(f, "\nit takes no fault")?;
        } else {
            writeln!(f, "\nthe faults that it takes:")?;
        }
        for FaultRecord { at, fault, upon, .. } in &failure.faults {
            let upon = upon.as_ref().map_or_else(String::new, |upon| format!(", {upon}"));
            writeln!(f, "{:>10.3} s  {fault}{upon}", at.as_secs_f64())?;
        }
        let events = failure.events();
        let left_out = events.len().saturating_sub(PRINTED);
        writeln!(f, "\nthe last of {} events:", events.len())?;
        events[left_out..].iter().try_for_each(|event| writeln!(f, "{event}"))
    }
}

impl std::error::Error for Failure {}

/// Writes events as text and as a drawing, to files that differ from `path` by their extensions.
pub(crate) fn write_trace(events: &[Event], path: &Path) -> io::Result<()> {
    let text = events.iter().fold(String::new(), |text, event| format!("{text}{event}\n"));
    put(path, "txt", &text)?;
    put(path, "svg", &svg::draw(events))
}

/// Writes a file atomically, because another run of the same seed may be writing it too.
fn put(path: &Path, end: &str, text: &str) -> io::Result<()> {
    let new = with_end(path, &process::id().to_string());
    fs::write(&new, text)?;
    fs::rename(new, with_end(path, end))
}

/// Appends an extension to a path. Its file name may contain dots.
fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(".");
    path.push(end);
    path.into()
}
