//! Counts the instructions of all cases under callgrind, and compares them with the committed figures.

use super::{
    CASES, OUTSIDE_1, OUTSIDE_10, PUBLISHED, PUBLISHED_LAST, TRANSLATED, UNARY_1, WITH_GATEWAY, WITH_RULES,
    WITHOUT_GATEWAY,
};
use benches::BoxError;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// Maximum ratio between calls whose request and reply are translated and those that are not.
const TRANSLATED_MAX: f64 = 1.2;

/// Maximum ratio between calls of frpc and of such a protocol, because frpc uses the same public API.
const OUTSIDE_TOLERANCE: f64 = 1.05;

/// Maximum ratio between calls on a server with gateways and on one without: gateways must not slow down native calls.
const GATEWAY_TOLERANCE: f64 = 1.01;

/// Maximum number of instructions per message for storing the current value.
const RECORD_MAX: f64 = 60.0;

/// Maximum number of instructions per call for checking a rule.
const RULES_MAX: f64 = 10.0;

/// Maximum ratio of a figure to the committed one: more than differences between C library or kernel versions, and less
/// than a relevant regression.
const TOLERANCE: f64 = 1.05;

/// Compares with the committed figures.
pub(crate) fn check() -> Result<ExitCode, BoxError> {
    if !valgrind_is_there() {
        println!("SKIPPED: instructions of the hot path, since valgrind is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let committed = std::fs::read_to_string(figures_path())?;
    let mut worse = false;
    let mut figures = BTreeMap::new();
    for (case, calls) in CASES {
        let limit = figure(&committed, case).ok_or_else(|| format!("{case} is not in instructions.toml"))?;
        let counted = count(case, calls)?;
        let ratio = counted / limit;
        let verdict = match ratio {
            ratio if ratio > TOLERANCE => "TOO MANY",
            ratio if ratio * TOLERANCE < 1.0 => "fewer: commit the new figure with `hot_path update`",
            _ => "ok",
        };
        println!("{case:24} {counted:8.0} instructions per call, committed {limit:8.0}, {ratio:.3}x  {verdict}");
        worse |= ratio > TOLERANCE;
        figures.insert(case, counted);
    }
    if let (Some(with_gateway), Some(without)) = (figures.get(WITH_GATEWAY), figures.get(WITHOUT_GATEWAY)) {
        let ratio = with_gateway / without;
        println!("native calls on a server with gateways take {ratio:.3}x as many instructions as without gateways");
        worse |= ratio > GATEWAY_TOLERANCE;
    }
    if let (Some(translated), Some(without)) = (figures.get(TRANSLATED), figures.get(WITHOUT_GATEWAY)) {
        let ratio = translated / without;
        println!("translated calls take {ratio:.3}x as many instructions as others, at most {TRANSLATED_MAX}x");
        worse |= ratio > TRANSLATED_MAX;
    }
    for (outside, unary) in [(OUTSIDE_1, UNARY_1), (OUTSIDE_10, WITHOUT_GATEWAY)] {
        if let (Some(outside), Some(unary)) = (figures.get(outside), figures.get(unary)) {
            let ratio = outside / unary;
            println!("calls of a protocol on the public API take {ratio:.3}x as many instructions as calls of frpc");
            worse |= ratio > OUTSIDE_TOLERANCE;
        }
    }
    if let (Some(ruled), Some(without)) = (figures.get(WITH_RULES), figures.get(WITHOUT_GATEWAY)) {
        let more = ruled - without;
        println!("a rule takes {more:.0} instructions of a call, at most {RULES_MAX}");
        worse |= more > RULES_MAX;
    }
    if let (Some(last), Some(without)) = (figures.get(PUBLISHED_LAST), figures.get(PUBLISHED)) {
        let more = last - without;
        println!("a current value takes {more:.0} instructions of a message, at most {RECORD_MAX}");
        worse |= more > RECORD_MAX;
    }
    Ok(if worse { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Writes the current figures.
pub(crate) fn update() -> Result<ExitCode, BoxError> {
    let mut text = String::from(
        "# Instructions per operation of client and server together, counted by callgrind: an echo call, an item of a stream or\n\
         # a message through a broker, of 32 bytes each, a message of 367 bytes in JSON, or an answer of a resolver with 1000\n\
         # endpoints.\n\
         # Written by `cargo run --release -p cost --bin hot_path -- update`; CI runs `check`.\n",
    );
    for (case, calls) in CASES {
        writeln!(text, "{case} = {:.0}", count(case, calls)?)?;
    }
    std::fs::write(figures_path(), &text)?;
    print!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn figures_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../instructions.toml")
}

/// Returns the figure of a case from a file of `name = number` lines.
fn figure(text: &str, case: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(case)?.trim_start().strip_prefix('='))?;
    line.trim().parse().ok()
}

fn valgrind_is_there() -> bool {
    let version = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Returns the number of instructions per call.
fn count(case: &str, calls: u64) -> Result<f64, BoxError> {
    let (once, twice) = (collect(case, calls)?, collect(case, 2 * calls)?);
    Ok((twice - once) / calls as f64)
}

/// Returns the number of instructions of a whole run.
fn collect(case: &str, calls: u64) -> Result<f64, BoxError> {
    let program = std::env::current_exe()?;
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", case, &calls.to_string()])
        .output()?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{case} failed under valgrind:\n{log}").into());
    }
    let collected = log.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    collected.ok_or_else(|| format!("valgrind printed no count:\n{log}").into())
}
