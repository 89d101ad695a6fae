//! One run: a server process, a client process, and the resources that both used within the window.

use crate::Times;
use crate::contestants::Entry;
use crate::grid::{Cell, Mode};
use crate::load::Outcome;
use crate::syscalls::{Counter, Syscalls};
use nix::sys::prctl::set_timerslack;
use rivals::BoxError;
use rivals::process::Process;
use std::time::Duration;

/// The results of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) entry: &'static str,
    pub(crate) cell: Cell,
    pub(crate) round: usize,
    pub(crate) outcome: Outcome,
    /// CPU time of the server per call, in microseconds.
    pub(crate) server_us: f64,
    /// CPU time of both processes per call, in microseconds.
    pub(crate) both_us: f64,
    /// Peak memory of the server in bytes.
    pub(crate) server_peak: u64,
    /// Growth of the server's memory in bytes, from its start to the end of the window.
    pub(crate) server_growth: u64,
    /// System calls of the server and the client within the window, if counted.
    pub(crate) syscalls: [Syscalls; 2],
}

/// A run without results.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) entry: &'static str,
    pub(crate) cell: Cell,
    pub(crate) round: usize,
    pub(crate) reason: String,
}

/// Timeout for a process to become ready, which suffices for eight thousand connections.
const READY: Duration = Duration::from_secs(30);

/// Additional time for a load beyond its phases.
const SLACK: Duration = Duration::from_secs(15);

/// Measures a cell once.
pub(crate) fn run(entry: &Entry, cell: &Cell, round: usize, times: Times) -> Result<Sample, BoxError> {
    let [server_core, load_core] = match cell.mode {
        Mode::Pinned => [Some(0); 2],
        Mode::Apart => [Some(0), Some(1)],
        _ => [None; 2],
    };
    // Inherited by threads and children. By default, a thread that blocks for 50 us is woken up to 50 us late.
    set_timerslack(u64::from(cell.mode == Mode::Blocking))?;
    let server = Process::start(&entry.program, &serve_arguments(entry, cell), server_core)?;
    let address = server.expect("listening", READY)?;
    let at_first = server.memory("VmRSS")?;
    let hog = match cell.mode {
        Mode::Beside(hog) => {
            let (in_flight, length) = hog.load();
            let greedy = Cell { clients: 1, in_flight, length, mode: Mode::Closed, ..*cell };
            let longer = Times { window: times.window + READY, ..times };
            let hog = Process::start(&entry.program, &load_arguments(entry, &greedy, &address, longer), None)?;
            hog.expect("begin", READY)?;
            Some(hog)
        }
        _ => None,
    };
    let load = Process::start(&entry.program, &load_arguments(entry, cell, &address, times), load_core)?;
    load.expect("ready", READY)?;
    let counters = match cell.mode {
        Mode::Counted => [&server, &load].map(|process| Some(Counter::start(process.id(), entry.is_go()))),
        _ => [None, None],
    };
    let [server_counter, load_counter] = counters.map(Option::transpose);
    let (mut server_counter, mut load_counter) = (server_counter?, load_counter?);
    load.expect("begin", times.warm_up + READY)?;
    for counter in [&mut server_counter, &mut load_counter].into_iter().flatten() {
        counter.enable()?;
    }
    let (server_begun, load_begun) = (server.cpu()?, load.cpu()?);
    load.expect("end", times.window + SLACK)?;
    let (server_used, load_used) = (server.cpu()? - server_begun, load.cpu()? - load_begun);
    let count = |counter: Option<Counter>| counter.map(Counter::finish).transpose();
    let syscalls = [count(server_counter)?.unwrap_or_default(), count(load_counter)?.unwrap_or_default()];
    let growth = server.memory("VmRSS")?.saturating_sub(at_first);
    let outcome: Outcome = serde_json::from_str(&load.expect("result", SLACK)?)?;
    drop(hog);
    if outcome.calls == 0 && cell.mode != Mode::Idle {
        return Err("no call ended within the window".into());
    }
    let per_call = |used: Duration| used.as_secs_f64() * 1e6 / outcome.calls.max(1) as f64;
    Ok(Sample {
        entry: entry.name,
        cell: *cell,
        round,
        outcome,
        server_us: per_call(server_used),
        both_us: per_call(server_used + load_used),
        server_peak: server.memory("VmHWM")?,
        server_growth: growth,
        syscalls,
    })
}

fn serve_arguments(entry: &Entry, cell: &Cell) -> Vec<String> {
    // The load of a greedy connection counts towards the server's.
    let in_flight = if let Mode::Beside(hog) = cell.mode { hog.load().0 } else { cell.in_flight };
    let sleep = cell.sleep.unwrap_or_default().as_micros();
    let numbers = ["serve", entry.name, "--sleep-us", &sleep.to_string(), "--in-flight", &in_flight.to_string()];
    let streams = matches!(cell.mode, Mode::Stream(_)).then_some("--streams");
    let blocks = (cell.mode == Mode::Blocking).then_some("--blocks");
    numbers.into_iter().chain(streams).chain(blocks).map(String::from).collect()
}

fn load_arguments(entry: &Entry, cell: &Cell, address: &str, times: Times) -> Vec<String> {
    let mut arguments = vec!["load".to_owned(), entry.name.to_owned(), "--address".to_owned(), address.to_owned()];
    let numbers = [
        ("--clients", cell.clients as u128),
        ("--in-flight", cell.in_flight as u128),
        ("--length", cell.length as u128),
        ("--warm-up-ms", times.warm_up.as_millis()),
        ("--window-ms", times.window.as_millis()),
    ];
    arguments.extend(numbers.into_iter().flat_map(|(name, number)| [name.to_owned(), number.to_string()]));
    match cell.mode {
        Mode::Reconnect => arguments.push("--reconnect".into()),
        Mode::Idle => arguments.push("--idle".into()),
        Mode::Open { rate } => arguments.extend(["--rate".into(), rate.to_string()]),
        Mode::Stream(way) => arguments.extend(["--streams".into(), format!("{way:?}")]),
        Mode::Closed | Mode::Pinned | Mode::Apart | Mode::Counted | Mode::Blocking | Mode::Beside(_) => {}
    }
    arguments
}
