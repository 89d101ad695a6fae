//! The results of the other benchmarks as one table: a row for each comparison, with the time of each contestant and
//! its ratio to tonic, as Markdown.
//!
//! `cargo bench -p benches` runs it last, because targets run in the order of their names.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of a benchmark, as written by criterion.
#[derive(Deserialize)]
struct Name {
    group_id: String,
    value_str: Option<String>,
}

/// The results of a benchmark.
#[derive(Deserialize)]
struct Estimates {
    median: Estimate,
}

#[derive(Deserialize)]
struct Estimate {
    /// The estimate in nanoseconds.
    point_estimate: f64,
}

/// Medians in nanoseconds, by comparison and contestant.
type Table = BTreeMap<String, Vec<(String, f64)>>;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = folder()?;
    let mut table = Table::new();
    collect(&folder, &mut table)?;
    if table.is_empty() {
        println!("\nno results in {}: `cargo bench -p benches` measures them", folder.display());
        return Ok(());
    }
    table.values_mut().for_each(|row| row.sort_by(|(_, one), (_, other)| one.total_cmp(other)));
    println!("\n{}", markdown(&table));
    if let Some(congestion) = congestion_control() {
        println!("TCP congestion control of both ends: {congestion}; it decides the times of long messages");
    }
    println!("plots: {}", folder.join("report/index.html").display());
    Ok(())
}

/// Returns the TCP congestion control of this machine, if the system reports it.
fn congestion_control() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok()?;
    Some(name.trim().to_owned())
}

/// Returns criterion's folder, given that this program is in `target/release/deps`.
fn folder() -> Result<PathBuf, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let target = own.ancestors().nth(3).ok_or("the program is not in a target folder")?;
    Ok(std::env::var_os("CRITERION_HOME").map_or_else(|| target.join("criterion"), PathBuf::from))
}

/// Reads the latest results below a folder.
fn collect(folder: &Path, table: &mut Table) -> Result<(), Box<dyn Error>> {
    let (name, estimates) = (folder.join("benchmark.json"), folder.join("estimates.json"));
    if folder.ends_with("new") && name.exists() && estimates.exists() {
        let name: Name = serde_json::from_slice(&fs::read(name)?)?;
        let estimates: Estimates = serde_json::from_slice(&fs::read(estimates)?)?;
        let contestant = name.value_str.unwrap_or_default();
        table.entry(name.group_id).or_default().push((contestant, estimates.median.point_estimate));
        return Ok(());
    }
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, table)?;
        }
    }
    Ok(())
}

/// Formats each contestant with its median, fastest first, and its ratio to tonic's, or to the fastest if tonic has no
/// row.
fn markdown(table: &Table) -> String {
    let mut text = String::from("| benchmark | medians, the fastest first (times tonic's) |\n|---|---|\n");
    for (group, row) in table {
        let tonic = row.iter().find(|(contestant, _)| contestant == "tonic").or(row.first());
        let reference = tonic.map_or(f64::NAN, |(_, nanos)| *nanos);
        let cells: Vec<_> = row
            .iter()
            .map(|(contestant, nanos)| format!("{contestant} {} ({:.2}x)", time(*nanos), nanos / reference))
            .collect();
        let _ = writeln!(text, "| {group} | {} |", cells.join(", "));
    }
    text
}

/// Formats a time with three digits and its unit.
fn time(nanos: f64) -> String {
    let (value, unit) = match nanos {
        nanos if nanos >= 1e6 => (nanos / 1e6, "ms"),
        nanos if nanos >= 1e3 => (nanos / 1e3, "us"),
        nanos => (nanos, "ns"),
    };
    let digits = if value >= 100.0 { 0 } else { 1 + usize::from(value < 10.0) };
    format!("{value:.digits$} {unit}")
}
