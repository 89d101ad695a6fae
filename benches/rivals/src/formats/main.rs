//! Compares message formats: instructions and time to encode and decode, and the encoded length.
//!
//! `cargo run --release --manifest-path benches/rivals/Cargo.toml --features formats --bin formats`
//!
//! writes `docs/performance/formats.md` and its charts. Instructions are counted by callgrind, in runs of this program
//! with some iterations and with twice as many. Takes about two minutes.

mod codecs;
mod messages;
mod page;

use bytes::Bytes;
use clap::{Args, Parser, Subcommand, ValueEnum};
use codecs::Format;
use indicatif::ProgressBar;
use messages::Subject;
use messages::owned::formats::{Orders, Text};
use messages::owned::mixed::Order;
use rivals::BoxError;
use rivals::cost::median;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

#[derive(Parser)]
#[command(about = "Compares formats of messages", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    role: Option<Role>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand)]
enum Role {
    /// Repeats one operation.
    #[command(hide = true)]
    Run { message: String, format: String, operation: Operation, count: u64 },
}

#[derive(Args)]
struct Options {
    /// Number of rounds of the time measurement. The formats take turns in each.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Output folder of the page and its charts.
    #[arg(long, default_value_os_t = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/performance"))]
    out: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Operation {
    Encode,
    Decode,
}

impl Operation {
    const ALL: [Self; 2] = [Self::Encode, Self::Decode];

    fn name(self) -> &'static str {
        match self {
            Self::Encode => "encode",
            Self::Decode => "decode",
        }
    }
}

/// A message in a format.
struct Case {
    message: &'static str,
    title: &'static str,
    format: &'static str,
    about: &'static str,
    /// Number of iterations of the shorter run that counts instructions.
    count: u64,
    /// Returns the encoded length in bytes. Also checks the decoded message.
    length: fn() -> usize,
    /// Returns the duration of this many operations.
    run: fn(Operation, u64) -> Duration,
}

/// The results of a case by operation.
struct Figures {
    length: usize,
    instructions: [f64; 2],
    nanoseconds: [f64; 2],
}

fn case<M: Subject, F: Format<M>>() -> Case {
    Case {
        message: M::ID,
        title: M::TITLE,
        format: F::NAME,
        about: F::ABOUT,
        count: M::COUNT,
        length: length::<M, F>,
        run: run::<M, F>,
    }
}

macro_rules! cases {
    ($($message:ty),*) => {
        vec![$(
            case::<$message, codecs::Polyglot>(),
            case::<$message, codecs::SharedPolyglot<<$message as Subject>::Shared>>(),
            case::<$message, codecs::PolyglotView>(),
            case::<$message, codecs::Prost>(),
            case::<$message, codecs::Rkyv>(),
            case::<$message, codecs::ValidatedRkyv>(),
            case::<$message, codecs::Bitcode>(),
            case::<$message, codecs::Postcard>(),
            case::<$message, codecs::MessagePack>(),
            case::<$message, codecs::FrpcJson>(),
            case::<$message, codecs::SerdeJson>(),
            case::<$message, codecs::SimdJson>(),
            case::<$message, codecs::SonicRs>(),
        )*]
    };
}

fn cases() -> Vec<Case> {
    cases![Text, Order, Orders]
}

fn length<M: Subject, F: Format<M>>() -> usize {
    let message = M::sample();
    let mut format = F::new(&message);
    let encoded = Bytes::copy_from_slice(format.encode(&message));
    assert!(F::equals(&format.decode(&encoded), &message), "{} changes the message {}", F::NAME, M::ID);
    encoded.len()
}

fn run<M: Subject, F: Format<M>>(operation: Operation, count: u64) -> Duration {
    let message = M::sample();
    let mut format = F::new(&message);
    let encoded = Bytes::copy_from_slice(format.encode(&message));
    let begun = Instant::now();
    match operation {
        Operation::Encode => (0..count).for_each(|_| {
            black_box(format.encode(black_box(&message)));
        }),
        Operation::Decode => (0..count).for_each(|_| {
            black_box(format.decode(black_box(&encoded)));
        }),
    }
    begun.elapsed()
}

fn main() -> Result<(), BoxError> {
    let cases = cases();
    match Arguments::parse() {
        Arguments { role: Some(Role::Run { message, format, operation, count }), .. } => {
            let case = cases.iter().find(|case| case.message == message && case.format == format);
            (case.ok_or("unknown message or format")?.run)(operation, count);
            Ok(())
        }
        Arguments { role: None, options } => measure(&cases, &options),
    }
}

fn measure(cases: &[Case], options: &Options) -> Result<(), BoxError> {
    let progress = ProgressBar::new((Operation::ALL.len() * cases.len()) as u64);
    let mut figures = Vec::new();
    for case in cases {
        let mut instructions = [0.0; 2];
        for (counted, operation) in instructions.iter_mut().zip(Operation::ALL) {
            *counted = count(case, operation)?;
            progress.inc(1);
        }
        figures.push(Figures { length: (case.length)(), instructions, nanoseconds: [0.0; 2] });
    }
    progress.finish_and_clear();
    let times = time(cases, options.rounds.max(1));
    for (figures, nanoseconds) in figures.iter_mut().zip(times) {
        figures.nanoseconds = nanoseconds;
    }
    for (name, text) in page::files(cases, &figures, options.rounds)? {
        std::fs::write(options.out.join(name), text)?;
    }
    println!("the page is {}", options.out.join(page::TEXT).display());
    Ok(())
}

/// Returns the number of instructions per operation.
fn count(case: &Case, operation: Operation) -> Result<f64, BoxError> {
    let collect = |count| collect(case, operation, count);
    Ok((collect(2 * case.count)? - collect(case.count)?) / case.count as f64)
}

/// Returns the number of instructions of a whole run.
fn collect(case: &Case, operation: Operation, count: u64) -> Result<f64, BoxError> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["run", case.message, case.format, operation.name(), &count.to_string()])
        .output()
        .map_err(|error| format!("valgrind cannot be run: {error}"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    let collected = log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    collected.filter(|_| output.status.success()).ok_or_else(|| format!("valgrind failed:\n{log}").into())
}

/// Duration of a time measurement.
const RUN: Duration = Duration::from_millis(3);

/// Returns the nanoseconds per operation for each case: medians over rounds. The cases take turns in each round.
fn time(cases: &[Case], rounds: usize) -> Vec<[f64; 2]> {
    // As many operations as fit into the duration.
    let fitting = |case: &Case, operation| {
        let took = (case.run)(operation, case.count).div_f64(case.count as f64);
        (RUN.as_secs_f64() / took.as_secs_f64().max(1e-9)).ceil() as u64
    };
    let counts: Vec<_> = cases.iter().map(|case| Operation::ALL.map(|operation| fitting(case, operation))).collect();
    let mut times = vec![[(); 2].map(|()| Vec::new()); cases.len()];
    for _ in 0..rounds {
        for ((case, counts), times) in cases.iter().zip(&counts).zip(&mut times) {
            for ((operation, count), times) in Operation::ALL.into_iter().zip(counts).zip(times) {
                times.push((case.run)(operation, *count).as_secs_f64() * 1e9 / *count as f64);
            }
        }
    }
    times.into_iter().map(|of| of.map(median)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_round_trips_every_message() {
        for case in cases() {
            assert!((case.length)() > 0, "{} {}", case.message, case.format);
        }
    }
}
