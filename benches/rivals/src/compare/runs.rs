//! The file of all runs, which is read again when a comparison resumes.

use crate::contestants::Entry;
use crate::grid::{Cell, Mode};
use crate::load::Outcome;
use crate::measure::{Failure, Sample};
use crate::syscalls::Syscalls;
use rivals::BoxError;
use std::fmt::Write as _;

/// The columns; the first seven identify the contestant and the cell.
const HEAD: &str = "contestant,section,clients,in_flight,length,sleep_us,mode,round,calls,seconds,server_us,both_us,p50_us,\
                    p99_us,p999_us,max_us,starved,stuck,server_peak_bytes,server_growth_bytes,\
                    server_reads,server_writes,server_waits,server_wakes,load_reads,load_writes,load_waits,load_wakes";

/// Marks a failed run in place of its figures. The reason follows.
const FAILED: &str = "failed: ";

/// Formats all runs, one per line.
pub(crate) fn write(samples: &[Sample], failures: &[Failure]) -> String {
    let mut text = format!("{HEAD}\n");
    for Sample { entry, cell, round, outcome, server_us, both_us, server_peak, server_growth, syscalls } in samples {
        let key = key(cell);
        let Outcome { calls, seconds, p50_us, p99_us, p999_us, max_us, starved, stuck } = outcome;
        let counts: Vec<_> = syscalls.iter().flat_map(|syscalls| syscalls.figures()).map(|n| n.to_string()).collect();
        let counts = counts.join(",");
        let _ = writeln!(
            text,
            "{entry},{key},{round},{calls},{seconds:.4},{server_us:.3},{both_us:.3},{p50_us:.1},{p99_us:.1},{p999_us:.1},\
             {max_us:.1},{starved},{stuck},{server_peak},{server_growth},{counts}"
        );
    }
    for Failure { entry, cell, round, reason } in failures {
        let _ = writeln!(text, "{entry},{},{round},{FAILED}{}", key(cell), reason.replace('\n', " "));
    }
    text
}

/// Parses the output of [`write`].
pub(crate) fn read(text: &str, entries: &[Entry], cells: &[Cell]) -> Result<(Vec<Sample>, Vec<Failure>), BoxError> {
    let mut lines = text.lines();
    if lines.next() != Some(HEAD) {
        return Err("the runs have other columns".into());
    }
    let (mut samples, mut failures) = (Vec::new(), Vec::new());
    for line in lines {
        match run(line, entries, cells).ok_or_else(|| format!("unknown run: {line}"))? {
            Ok(sample) => samples.push(sample),
            Err(failure) => failures.push(failure),
        }
    }
    Ok((samples, failures))
}

fn run(line: &str, entries: &[Entry], cells: &[Cell]) -> Option<Result<Sample, Failure>> {
    let (name, rest) = line.split_once(',')?;
    let entry = entries.iter().find(|entry| entry.name == name)?.name;
    let (cell, rest) =
        cells.iter().find_map(|cell| Some((*cell, rest.strip_prefix(&key(cell))?.strip_prefix(',')?)))?;
    let (round, rest) = rest.split_once(',')?;
    let round = round.parse().ok()?;
    if let Some(reason) = rest.strip_prefix(FAILED) {
        return Some(Err(Failure { entry, cell, round, reason: reason.into() }));
    }
    let numbers: Vec<f64> = rest.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [calls, seconds, server_us, both_us, p50_us, p99_us, p999_us, max_us, rest @ ..] = &numbers[..] else {
        return None;
    };
    let [starved, stuck, server_peak, server_growth, counts @ ..] = rest else { return None };
    let counts: [f64; 8] = counts.try_into().ok()?;
    let counts = counts.map(|count| count as u64);
    let syscalls = [&counts[..4], &counts[4..]].map(|of| Syscalls::from_figures([of[0], of[1], of[2], of[3]]));
    Some(Ok(Sample {
        entry,
        cell,
        round,
        outcome: Outcome {
            calls: *calls as u64,
            seconds: *seconds,
            p50_us: *p50_us,
            p99_us: *p99_us,
            p999_us: *p999_us,
            max_us: *max_us,
            starved: *starved as usize,
            stuck: *stuck as usize,
        },
        server_us: *server_us,
        both_us: *both_us,
        server_peak: *server_peak as u64,
        server_growth: *server_growth as u64,
        syscalls,
    }))
}

/// Returns the identity of a cell.
fn key(cell: &Cell) -> String {
    let Cell { section, clients, in_flight, length, sleep, mode } = cell;
    let sleep = sleep.unwrap_or_default().as_micros();
    let mode = match mode {
        Mode::Open { rate } => format!("open {rate}/s"),
        mode => format!("{mode:?}"),
    };
    format!("{section:?},{clients},{in_flight},{length},{sleep},{mode}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::entries;
    use crate::grid::grid;

    #[test]
    fn written_results_are_read_back() {
        let (entries, cells) = (entries(), grid(false));
        let sample = |number: usize, cell: &Cell| Sample {
            entry: entries[number % entries.len()].name,
            cell: *cell,
            round: number,
            outcome: Outcome {
                calls: 1_000 + number as u64,
                seconds: 0.5,
                p50_us: 1.5,
                p99_us: 2.5,
                p999_us: 3.5,
                max_us: 4.5,
                starved: 6,
                stuck: 7,
            },
            server_us: 1.25,
            both_us: 2.75,
            server_peak: 8,
            server_growth: 9,
            syscalls: [[1, 2, 3, 4], [5, 6, 7, 8]].map(Syscalls::from_figures),
        };
        let samples: Vec<_> = cells.iter().enumerate().map(|(number, cell)| sample(number, cell)).collect();
        let failures =
            [Failure { entry: entries[0].name, cell: cells[0], round: 3, reason: "no `ready`, within 30s".into() }];
        let again = read(&write(&samples, &failures), &entries, &cells).unwrap();
        assert_eq!(format!("{again:?}"), format!("{:?}", (samples, failures)));
    }

    #[test]
    fn run_of_unknown_contestant_is_rejected() {
        let text = format!("{HEAD}\nnobody,Small,1,1,32,0,Closed,0,1,1,1,1,1,1,1,1,0,0,1,1\n");
        assert!(read(&text, &entries(), &grid(false)).is_err());
    }
}
