//! Compares our broker with nats-server. Each broker and each load runs in its own process.
//!
//! `cargo run --release --manifest-path benches/rivals/Cargo.toml --bin pubsub -- [--quick]`
//!
//! * `fan-out`: 1 publisher, 100 subscribers, 32 bytes.
//! * `pairs`: 16 publishers to 16 topics with a subscriber each, 32 bytes.
//! * `stall`: frisbee only, 99 subscribers with and without a stalled one: the change of their p99.
//!
//! The contestants take turns in several rounds, and ratios are computed within a round. Each has its own Rust client
//! on tokio's multi-thread runtime. Every connection is one publisher or one subscriber. Publishers are at most 8192
//! messages ahead of their slowest subscriber, so that nothing is lost, and subscribers check that no message is
//! missing.

mod contestants;
mod load;
mod stall;

use clap::{Parser, Subcommand, ValueEnum};
use contestants::Name;
use rivals::BoxError;
use rivals::cost::median;
use rivals::process::Process;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(about = "Compares our broker with nats-server", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    /// Shorter runs, to check that everything works.
    #[arg(long)]
    quick: bool,
    /// Number of rounds. Every contestant runs once in each. Default: 7, quick 1.
    #[arg(long)]
    rounds: Option<usize>,
    /// Only these scenarios.
    #[arg(long, value_delimiter = ',', value_enum)]
    scenarios: Vec<Scenario>,
}

#[derive(Subcommand)]
enum Role {
    /// Serves until standard input ends.
    #[command(hide = true)]
    Serve {
        #[arg(long)]
        queue_max: Option<usize>,
    },
    /// Publish and subscribe, and report the phases.
    #[command(hide = true)]
    Load(load::Arguments),
    /// Publish at a steady rate, and report message latency.
    #[command(hide = true)]
    Stall(stall::Arguments),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Scenario {
    FanOut,
    Pairs,
    Stall,
}

/// Timeout for a broker or a load to become ready, and for a load to finish.
const TIMEOUT: Duration = Duration::from_secs(120);

fn main() -> Result<(), BoxError> {
    let arguments = Arguments::parse();
    match &arguments.role {
        Some(Role::Serve { queue_max }) => contestants::serve(*queue_max),
        Some(Role::Load(load)) => load::main(load),
        Some(Role::Stall(stall)) => stall::main(stall),
        None => compare(&arguments),
    }
}

fn compare(arguments: &Arguments) -> Result<(), BoxError> {
    let rounds = arguments.rounds.unwrap_or(if arguments.quick { 1 } else { 7 }).max(1);
    let nats = build_nats()?;
    let chosen = |scenario| arguments.scenarios.is_empty() || arguments.scenarios.contains(&scenario);
    for (scenario, steps) in [(Scenario::FanOut, 64), (Scenario::Pairs, 256)] {
        if chosen(scenario) {
            compare_brokers(scenario, if arguments.quick { steps / 16 } else { steps }, rounds, &nats)?;
        }
    }
    if chosen(Scenario::Stall) {
        compare_stalled(if arguments.quick { 1 } else { 4 }, rounds)?;
    }
    Ok(())
}

/// One run.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Messages delivered per second of the broker's CPU time.
    broker: f64,
    /// Messages delivered per second of the CPU time of broker and clients.
    both: f64,
    /// Messages delivered per second.
    rate: f64,
}

fn compare_brokers(scenario: Scenario, steps: usize, rounds: usize, nats: &Path) -> Result<(), BoxError> {
    println!("\n{scenario:?}: thousand messages delivered without loss");
    println!("{:>5} {:>8} {:>18} {:>16} {:>14}", "round", "", "/ broker's cpu s", "/ both cpu s", "/ second");
    let mut ratios = (Vec::new(), Vec::new());
    for round in 1..=rounds {
        let mut samples = Vec::new();
        for name in [Name::Frisbee, Name::Nats] {
            let sample = run(name, scenario, steps, nats)?;
            let [broker, both, rate] = [sample.broker, sample.both, sample.rate].map(|figure| figure / 1e3);
            println!("{round:>5} {:>8} {broker:>18.0} {both:>16.0} {rate:>14.0}", name.text());
            samples.push(sample);
        }
        ratios.0.push(samples[0].broker / samples[1].broker);
        ratios.1.push(samples[0].both / samples[1].both);
    }
    let (broker, both) = (median(ratios.0), median(ratios.1));
    println!("frisbee / nats, median of {rounds}: {broker:.2} by the broker's cpu, {both:.2} by both");
    Ok(())
}

fn run(name: Name, scenario: Scenario, steps: usize, nats: &Path) -> Result<Sample, BoxError> {
    let own = std::env::current_exe()?;
    let broker = match name {
        Name::Frisbee => Process::start(&own, &["serve".into()], None)?,
        Name::Nats => Process::start(nats, &[], None)?,
    };
    let address = broker.expect("listening", TIMEOUT)?;
    let scenario_name = if scenario == Scenario::FanOut { "fan-out" } else { "pairs" };
    let arguments = ["load", name.text(), &address, scenario_name, &steps.to_string()].map(String::from);
    let load = Process::start(&own, &arguments, None)?;
    load.expect("begin", TIMEOUT)?;
    let (begun, at_first) = (Instant::now(), (broker.cpu()?, load.cpu()?));
    let delivered: f64 = load.expect("end", TIMEOUT)?.parse()?;
    let (elapsed, used) = (begun.elapsed(), (broker.cpu()? - at_first.0, load.cpu()? - at_first.1));
    Ok(Sample {
        broker: delivered / used.0.as_secs_f64(),
        both: delivered / (used.0 + used.1).as_secs_f64(),
        rate: delivered / elapsed.as_secs_f64(),
    })
}

/// Compares 99 subscribers with and without a stalled one.
fn compare_stalled(seconds: u64, rounds: usize) -> Result<(), BoxError> {
    println!("\nStall: microseconds that messages take to 99 subscribers");
    println!("{:>5} {:>16} {:>8} {:>8}", "round", "", "p50", "p99");
    let own = std::env::current_exe()?;
    let mut ratios = Vec::new();
    for round in 1..=rounds {
        let mut p99 = Vec::new();
        for stalled in [false, true] {
            let broker = Process::start(&own, &["serve", "--queue-max", "262144"].map(String::from), None)?;
            let address = broker.expect("listening", TIMEOUT)?;
            let mut arguments = vec!["stall".to_owned(), address, seconds.to_string()];
            arguments.extend(stalled.then(|| "--stalled".to_owned()));
            let load = Process::start(&own, &arguments, None)?;
            let result = load.expect("result", TIMEOUT)?;
            let figures: Vec<f64> = result.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
            let what = if stalled { "with one stalled" } else { "without" };
            println!("{round:>5} {what:>16} {:>8.0} {:>8.0}", figures[0], figures[1]);
            p99.push(figures[1]);
        }
        ratios.push(p99[1] / p99[0]);
    }
    println!("p99 with / without, median of {rounds}: {:.2}", median(ratios));
    Ok(())
}

/// Builds nats-server next to this program.
fn build_nats() -> Result<PathBuf, BoxError> {
    let program = std::env::current_exe()?.with_file_name("pubsub-nats");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("nats");
    let built =
        Command::new("go").args(["build", "-buildvcs=false", "-o"]).arg(&program).arg(".").current_dir(folder).output();
    let built = built.map_err(|error| format!("nats-server is built with go, which cannot be run: {error}"))?;
    if !built.status.success() {
        return Err(String::from_utf8_lossy(&built.stderr).trim().into());
    }
    Ok(program)
}
