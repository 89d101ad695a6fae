//! Compares fRPC with raw frames and with other RPC systems. Each server and each client runs in its own process.
//!
//! `cargo run --release --manifest-path benches/rivals/Cargo.toml --bin compare -- --quick`
//!
//! Rivals other than tonic are built if their feature is enabled: `--features tarpc,volo`, or `--features all`.
//!
//! For each cell of the grid, all contestants take turns in several rounds, so that other load on the machine affects
//! all of them. Ratios are computed within a round. The program runs itself as the servers and the clients.

mod contestants;
mod grid;
mod introduction;
mod load;
mod measure;
mod report;
mod runs;
mod serve;
mod syscalls;

use clap::{Args, Parser, Subcommand};
use contestants::{Entry, entries};
use grid::{Cell, Mode, Section, grid};
use indicatif::{ProgressBar, ProgressStyle};
use measure::Failure;
use report::Report;
use rivals::{BoxError, machine};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(about = "Compares fRPC with raw frames and with other RPC systems", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Role {
    /// Serves until standard input ends.
    #[command(hide = true)]
    Serve(serve::ServeArguments),
    /// Load a server and report the results.
    #[command(hide = true)]
    Load(load::LoadArguments),
}

#[derive(Args, Clone, Debug)]
struct Options {
    /// Fewer cells and shorter runs, with raw frames, frpc and tonic: under 3 minutes.
    #[arg(long)]
    quick: bool,
    /// Only these contestants. Default: all that are built; quick: raw frames, frpc and tonic.
    #[arg(long, value_delimiter = ',')]
    rivals: Vec<String>,
    /// Only these sections of the grid.
    #[arg(long, value_delimiter = ',', value_enum)]
    sections: Vec<Section>,
    /// Only cells whose name contains this text.
    #[arg(long)]
    cell: Option<String>,
    /// Number of rounds. Every contestant runs once in each. Default: 7, quick 3.
    #[arg(long)]
    rounds: Option<usize>,
    /// Measurement window of each run in milliseconds. Default: 1000, quick 400.
    #[arg(long)]
    window_ms: Option<u64>,
    /// Warm-up of each run in milliseconds. Default: 400, quick 150.
    #[arg(long)]
    warm_up_ms: Option<u64>,
    /// Resume the existing report if it is of the same revision: run the missing rounds.
    #[arg(long)]
    more: bool,
    /// Name of the machine for the first sentence, such as "an AMD EPYC (Zen 3) with two cores". Default: the name in
    /// the existing report if it is of the same kind of processor.
    #[arg(long)]
    machine: Option<String>,
    /// Output folder of the report.
    #[arg(long, default_value_os_t = default_folder())]
    out: PathBuf,
    /// List contestants and cells and exit.
    #[arg(long)]
    list: bool,
}

fn default_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance")
}

/// Maximum duration of a quick comparison. The current cell is finished.
const QUICK: Duration = Duration::from_secs(160);

/// Default contestants of a quick comparison.
const QUICK_RIVALS: [&str; 6] = ["raw-cores", "raw", "frpc", "frpc-cores", "tonic", "tonic-cores"];

/// The durations of a run.
#[derive(Clone, Copy, Debug)]
struct Times {
    warm_up: Duration,
    window: Duration,
}

fn main() -> Result<(), BoxError> {
    match Arguments::parse() {
        Arguments { role: Some(Role::Serve(arguments)), .. } => serve::main(&arguments),
        Arguments { role: Some(Role::Load(arguments)), .. } => load::main(&arguments),
        Arguments { role: None, options } => compare(&options),
    }
}

fn compare(options: &Options) -> Result<(), BoxError> {
    let quick = options.quick;
    let times = Times {
        warm_up: Duration::from_millis(options.warm_up_ms.unwrap_or(if quick { 150 } else { 400 })),
        window: Duration::from_millis(options.window_ms.unwrap_or(if quick { 400 } else { 1000 })),
    };
    let rounds = options.rounds.unwrap_or(if quick { 3 } else { 7 }).max(1);
    let all = entries();
    let entries = chosen_entries(options, &all)?;
    let cells: Vec<Cell> = grid(quick)
        .into_iter()
        .filter(|cell| options.sections.is_empty() || options.sections.contains(&cell.section))
        .filter(|cell| options.cell.as_ref().is_none_or(|part| cell.to_string().contains(part)))
        .collect();
    let runs: usize = cells.iter().map(|cell| entries.iter().filter(|entry| entry.takes(cell)).count()).sum();
    if options.list {
        entries.iter().for_each(|entry| println!("{:18} {}", entry.name, entry.about));
        cells.iter().for_each(|cell| println!("{cell}"));
    }
    let each = times.warm_up + times.window + Duration::from_millis(150);
    println!(
        "{runs} runs in each of {rounds} rounds, about {} minutes",
        (each * (runs * rounds) as u32).as_secs() / 60 + 1
    );
    if options.list {
        return Ok(());
    }
    if runs == 0 {
        return Err("no contestant takes part in such a cell; --list shows all of both".into());
    }

    machine::raise_file_limit();
    let mut report = if options.more { report::read(&options.out, &all)? } else { Report::default() };
    let until = quick.then(|| Instant::now() + QUICK);
    let save = |report: &Report| report::write(&options.out, report, &all, options.machine.as_deref());
    run_all(&cells, &entries, rounds, times, until, &mut report, save)?;
    println!("the report is in {}", options.out.display());
    Ok(())
}

/// Returns the named contestants. Default: all that can run here; quick: a few.
fn chosen_entries(options: &Options, all: &[Entry]) -> Result<Vec<Entry>, BoxError> {
    let find = |name: &str| all.iter().find(|entry| entry.name == name).cloned();
    if !options.rivals.is_empty() {
        let named = options.rivals.iter().map(|name| {
            let entry = find(name).ok_or_else(|| format!("unknown contestant {name}; --list shows all"))?;
            entry.prepare().map_err(|reason| format!("contestant {name}: {reason}"))?;
            Ok(entry)
        });
        return named.collect();
    }
    if options.quick {
        return Ok(QUICK_RIVALS.into_iter().filter_map(find).collect());
    }
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    let mut chosen = Vec::new();
    for entry in all {
        match entry.prepare() {
            Ok(()) => chosen.push(entry.clone()),
            Err(reason) => match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, names)) => names.push(entry.name),
                None => reasons.push((reason, vec![entry.name])),
            },
        }
    }
    reasons.iter().for_each(|(reason, names)| println!("SKIPPED {}: {reason}", names.join(", ")));
    Ok(chosen)
}

/// Measures the grid round by round until the time is over, and saves the report after each cell. Rounds that all
/// contestants of a cell have completed are not repeated.
fn run_all(
    cells: &[Cell],
    entries: &[Entry],
    rounds: usize,
    times: Times,
    until: Option<Instant>,
    report: &mut Report,
    save: impl Fn(&Report) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let plan: Vec<(Cell, Vec<&Entry>, usize)> = cells
        .iter()
        .map(|cell| {
            let taking: Vec<_> = entries.iter().filter(|entry| entry.takes(cell)).collect();
            let missing = rounds.saturating_sub(report.rounds(cell, &taking));
            (*cell, taking, missing)
        })
        .collect();
    let runs: usize = plan.iter().map(|(_, taking, missing)| taking.len() * missing).sum();
    let style = "{elapsed_precise} {wide_bar} {pos}/{len} {eta} left  {msg}";
    let style = ProgressStyle::with_template(style).expect("progress template should be well-formed");
    let progress = ProgressBar::new(runs as u64).with_style(style);
    let first = report.next_round();
    for round in 0..rounds {
        for (cell, taking, missing) in &plan {
            if *missing <= round {
                continue;
            }
            let number = first + round;
            // Rotates the order, so that no contestant is always first or follows the same neighbour.
            for turn in 0..taking.len() {
                let entry = taking[(turn + number) % taking.len()];
                progress.set_message(format!("{cell} {}", entry.name));
                if report.failures_of(cell, entry.name) < FAILURES_MAX {
                    match measure::run(entry, cell, number, times.of(cell)) {
                        Ok(sample) => report.samples.push(sample),
                        Err(error) => {
                            progress.suspend(|| eprintln!("{cell}, {}, round {number}: {error}", entry.name));
                            let reason = error.to_string();
                            report.failures.push(Failure { entry: entry.name, cell: *cell, round: number, reason });
                        }
                    }
                }
                progress.inc(1);
            }
            save(report)?;
            if until.is_some_and(|until| Instant::now() >= until) {
                progress.suspend(|| eprintln!("the time is over in round {} of {rounds}", round + 1));
                return Ok(());
            }
        }
    }
    progress.finish_and_clear();
    Ok(())
}

/// Number of failed runs of a contestant in a cell after which it is skipped.
const FAILURES_MAX: usize = 2;

impl Times {
    /// Thousands of connections need a longer warm-up, and so do texts of many megabytes, for which memory must be
    /// allocated.
    fn of(self, cell: &Cell) -> Self {
        let calls = cell.clients * cell.in_flight;
        if cell.mode == Mode::Counted {
            // Allows perf to start.
            return Self { warm_up: self.warm_up.max(Duration::from_secs(2)), ..self };
        }
        if calls * cell.length >= 64 << 20 {
            return Self { warm_up: 6 * self.warm_up, window: 3 * self.window };
        }
        if calls >= 8192 {
            return Self { warm_up: 3 * self.warm_up, window: 2 * self.window };
        }
        self
    }
}
