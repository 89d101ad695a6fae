//! Writes the results: `runs.csv` with every run, `README.md` with medians and spreads, and charts.

mod sections;

use crate::contestants::{Entry, features};
use crate::grid::{Cell, Mode, Section, grid};
use crate::measure::{Failure, Sample};
use crate::{introduction, runs};
use rivals::chart::{Chart, Group};
use rivals::{BoxError, machine};
use sections::{FIRST, SECTIONS, column, group_title};
use std::fmt::Write as _;
use std::path::Path;

/// The cells with charted CPU time: small and long messages, and streams.
const CHARTED: [&str; 4] = ["32 B, 1 in flight", "32 B, 10 in flight", "1 MiB, 10 in flight", "Streams to the client"];

/// The data of a report.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) samples: Vec<Sample>,
    pub(crate) failures: Vec<Failure>,
    /// The previous command lines of the program.
    commands: Vec<String>,
}

impl Report {
    /// Returns the number of the next round.
    pub(crate) fn next_round(&self) -> usize {
        self.samples.iter().map(|sample| sample.round + 1).max().unwrap_or(0)
    }

    /// Returns the number of rounds of a cell that all of these contestants have completed.
    pub(crate) fn rounds(&self, cell: &Cell, entries: &[&Entry]) -> usize {
        let had = |entry: &Entry, round| {
            self.samples.iter().any(|sample| (sample.cell, sample.entry, sample.round) == (*cell, entry.name, round))
        };
        let sound: Vec<_> = entries.iter().filter(|entry| self.failures_of(cell, entry.name) == 0).collect();
        if sound.is_empty() {
            return self.failures.iter().filter(|failure| failure.cell == *cell).count();
        }
        (0..self.next_round()).filter(|round| sound.iter().all(|entry| had(entry, *round))).count()
    }

    /// Returns the number of failed runs of a contestant in a cell.
    pub(crate) fn failures_of(&self, cell: &Cell, name: &str) -> usize {
        self.failures.iter().filter(|failure| failure.cell == *cell && failure.entry == name).count()
    }
}

/// The data of a report with details of the contestants.
struct Results<'a> {
    samples: &'a [Sample],
    failures: &'a [Failure],
    cells: Vec<Cell>,
    entries: Vec<&'a Entry>,
}

/// Reads the runs of a report, in order to add more.
pub(crate) fn read(folder: &Path, entries: &[Entry]) -> Result<Report, BoxError> {
    let file = |name| std::fs::read_to_string(folder.join(name)).map_err(|error| format!("{name}: {error}"));
    let (text, runs) = (file(TEXT)?, file(RUNS)?);
    let (theirs, ours) = (machine::described(&text, "Revision").concat(), machine::revision());
    if theirs != ours {
        return Err(format!("the report is of revision {theirs}, and this is {ours}").into());
    }
    let (samples, failures) = runs::read(&runs, entries, &grid(false))?;
    Ok(Report { samples, failures, commands: machine::described(&text, "Command") })
}

/// Writes the report into a folder. `machine` replaces the machine's name for readers.
pub(crate) fn write(folder: &Path, report: &Report, entries: &[Entry], machine: Option<&str>) -> Result<(), BoxError> {
    std::fs::create_dir_all(folder)?;
    let runs = runs::write(&report.samples, &report.failures);
    std::fs::write(folder.join(RUNS), &runs)?;
    // Values are rounded like in the file, so that the report can be reproduced from it.
    let (samples, failures) = runs::read(&runs, entries, &grid(false))?;
    let commands = [&report.commands[..], &[machine::command("compare", &features())]].concat();
    let described = machine::describe(&commands);
    let of = |name| machine::described(&described, name).concat();
    let before = std::fs::read_to_string(folder.join(TEXT)).unwrap_or_default();
    let name = introduction::machine(machine, &before, &of("Machine"));
    let page = page(&introduction::sentence(folder, &name, &of("Revision")), &described, &samples, &failures, entries)?;
    for (name, text) in &page.files {
        std::fs::write(folder.join(name), text)?;
    }
    std::fs::write(folder.join(TEXT), page.text)?;
    Ok(())
}

/// The pages of a report.
struct Page {
    text: String,
    /// The charts shown by the text and the page of further cells, each with its file name.
    files: Vec<(String, String)>,
}

/// Creates the report from samples: conclusions and five figures first, then machine and method, and the long tables
/// last.
fn page(
    introduction: &str,
    machine: &str,
    samples: &[Sample],
    failures: &[Failure],
    entries: &[Entry],
) -> Result<Page, BoxError> {
    let samples = &repeated(samples);
    let is_shown = |cell: &Cell| {
        samples.iter().any(|sample| sample.cell == *cell) || failures.iter().any(|failure| failure.cell == *cell)
    };
    let results = Results {
        samples,
        failures,
        cells: grid(false).into_iter().filter(is_shown).collect(),
        entries: entries
            .iter()
            .filter(|entry| {
                samples.iter().any(|sample| sample.entry == entry.name)
                    || failures.iter().any(|failure| failure.entry == entry.name)
            })
            .collect(),
    };
    let mut page = Page { text: format!("# Performance\n\n{introduction}\n\n"), files: Vec::new() };
    let about = format!(
        "This page continues the report with further cells. The first cells, the machine and the contestants are \
         described in [the report]({TEXT})."
    );
    let mut more = Page { text: format!("# Performance: further cells\n\n{about}\n\n"), files: Vec::new() };
    results.summary(&mut page.text);
    let _ = write!(page.text, "## Machine and method\n\n{machine}{}", results.method());
    results.contestants(&mut page.text);
    for section in SECTIONS {
        let cells: Vec<_> = results.cells.iter().filter(|cell| cell.section == section.0).collect();
        if !cells.is_empty() {
            let page = if FIRST.contains(&section.0) { &mut page } else { &mut more };
            let _ = writeln!(page.text, "## {}\n\n{}\n", section.1, section.2);
            results.section(&cells, page)?;
        }
    }
    if results.cells.iter().any(|cell| !FIRST.contains(&cell.section)) {
        let _ = writeln!(page.text, "Further cells are in [{MORE}]({MORE}).");
        page.files.push((MORE.to_owned(), trimmed(&more.text)));
        page.files.extend(more.files);
    }
    page.text = trimmed(&page.text);
    Ok(page)
}

/// Removes the trailing empty line of sections.
fn trimmed(text: &str) -> String {
    format!("{}\n", text.trim_end())
}

/// Minimum number of rounds for a reliable median on a machine with other load.
const ROUNDS_MIN: usize = 7;

/// Returns the samples of contestants with enough rounds of a cell. For a short comparison, returns those with most
/// rounds.
fn repeated(samples: &[Sample]) -> Vec<Sample> {
    let rounds = |of: &Sample| samples.iter().filter(|other| other.entry == of.entry && other.cell == of.cell).count();
    let most = samples.iter().map(rounds).max().unwrap_or(0);
    samples.iter().filter(|sample| rounds(sample) >= ROUNDS_MIN.min(most)).copied().collect()
}

/// The report, its further cells and the runs.
const TEXT: &str = "README.md";
const MORE: &str = "more.md";
const RUNS: &str = "runs.csv";

/// The contestants of the five introductory figures.
const SUMMARY: [&str; 8] =
    ["raw-cores", "frpc", "frpc-cores", "tonic", "tonic-cores", "tarpc", "tarpc-in-place", "go-frpc"];

/// Extracts a figure from a run.
type Figure = fn(&Sample) -> f64;

impl Results<'_> {
    /// Describes the method and how to read the tables.
    fn method(&self) -> String {
        let windows = spread(self.samples.iter().map(|sample| sample.outcome.seconds).collect()).unwrap_or_default();
        let [least, _, greatest] = windows.map(|seconds| (seconds * 10.0).round() / 10.0);
        format!(
            "* Method: Server and load are separate processes, and every reply is checked. In each round of a cell, \
             all contestants take turns. A run warms up and then measures for {least} to {greatest} s. Processor time \
             is that of all threads of a process during this window. Figures are medians over the rounds. Ratios are \
             computed within a round, and their median is followed by their minimum and maximum. With more than 15 \
             calls in flight, the latency of one call in eight is measured. Runs: [{RUNS}]({RUNS}), including cells \
             with fewer than {ROUNDS_MIN} rounds.\n* Reading: `16x10` means 16 connections with 10 calls in flight on \
             each. k/s means thousand calls per second, and us means processor time per call. `x raw` is the processor \
             time of both processes as a multiple of raw frames on the same kind of runtime. `tonic /` is how many \
             times cheaper a contestant is than tonic. Processor time is the most reliable figure, but only together \
             with p99, because a contestant that lets connections starve looks cheap.\n\n",
        )
    }

    /// Describes how many rounds each contestant has completed, by cell.
    fn rounds(&self, cells: &[Cell]) -> String {
        let rounds = cells.iter().map(|cell| {
            let counts = self.entries.iter().map(|entry| self.of(cell, entry.name).count()).filter(|count| *count > 0);
            let counts: Vec<_> = counts.collect();
            let count = match (counts.iter().min(), counts.iter().max()) {
                (Some(least), Some(most)) if least == most => most.to_string(),
                (Some(least), Some(most)) => format!("{least} to {most}"),
                _ => "none without a failure".to_owned(),
            };
            format!("{} {count}", column(cell))
        });
        rounds.collect::<Vec<_>>().join(", ")
    }

    /// Writes the tables of a section: one for each kind of cell, with a column per number of clients.
    fn section(&self, cells: &[&Cell], page: &mut Page) -> Result<(), BoxError> {
        let mut done: Vec<String> = Vec::new();
        for cell in cells {
            let title = group_title(cell);
            if done.contains(&title) {
                continue;
            }
            let group: Vec<Cell> =
                cells.iter().filter(|other| group_title(other) == title).map(|cell| **cell).collect();
            let _ = writeln!(page.text, "### {title}\n\nRounds: {}.\n", self.rounds(&group));
            self.list_failures(&group, &mut page.text);
            if cell.mode == Mode::Counted {
                self.syscalls(&group, &mut page.text);
            } else if cell.mode == Mode::Idle {
                self.table(&group, &mut page.text, "KiB per connection", |cell, entry| {
                    let median = self.median(cell, entry, |sample| sample.server_growth as f64)?;
                    Some(format!("{:.1}", median / 1024.0 / cell.clients as f64))
                });
            } else {
                self.chart(&group, &title, page)?;
                self.tables(&group, &mut page.text);
            }
            done.push(title);
        }
        Ok(())
    }

    /// Lists failed runs, each contestant once per cell.
    fn list_failures(&self, cells: &[Cell], text: &mut String) {
        let mut listed: Vec<(&str, Cell)> = Vec::new();
        for failure in self.failures.iter().filter(|failure| cells.contains(&failure.cell)) {
            if !listed.contains(&(failure.entry, failure.cell)) {
                let _ = writeln!(text, "* {} failed at {}: {}", failure.entry, column(&failure.cell), failure.reason);
                listed.push((failure.entry, failure.cell));
            }
        }
        if !listed.is_empty() {
            text.push('\n');
        }
    }

    /// Writes the number of calls per system call of each kind.
    fn syscalls(&self, cells: &[Cell], text: &mut String) {
        for (process, of) in ["server", "load"].into_iter().zip([0, 1]) {
            let what = format!("calls per read, per write, per wait of the {process}; wake-ups per call");
            self.table(cells, text, &what, |cell, entry| {
                let median = |figure: usize, per_call: bool| {
                    let ratio = |sample: &Sample| {
                        let (count, calls) =
                            (sample.syscalls[of].figures()[figure] as f64, sample.outcome.calls as f64);
                        if per_call { count / calls } else { calls / count }
                    };
                    let [_, median, _] = spread(self.of(cell, entry.name).map(ratio).collect())?;
                    // io_uring reads and writes without separate system calls.
                    Some(if median.is_finite() { digits(median) } else { "-".into() })
                };
                let [reads, writes, waits] = [median(0, false)?, median(1, false)?, median(2, false)?];
                Some(format!("{reads} / {writes} / {waits}; {}", median(3, true)?))
            });
        }
    }

    fn tables(&self, cells: &[Cell], text: &mut String) {
        self.table(cells, text, "k/s, us of the server, us of both", |cell, entry| {
            let rate =
                self.median(cell, entry, |sample| sample.outcome.calls as f64 / sample.outcome.seconds / 1000.0)?;
            let server = self.median(cell, entry, |sample| sample.server_us)?;
            let both = self.median(cell, entry, |sample| sample.both_us)?;
            Some(format!("{} / {} / **{}**", digits(rate), digits(server), digits(both)))
        });
        self.table(cells, text, "p50, p99, p99.9 in ms; starved connections", |cell, entry| {
            let figures: [Figure; 3] = [|s| s.outcome.p50_us, |s| s.outcome.p99_us, |s| s.outcome.p999_us];
            let medians = figures.map(|figure| self.median(cell, entry, figure).map(|us| digits(us / 1000.0)));
            let [Some(p50), Some(p99), Some(p999)] = medians else { return None };
            let starved = self.median(cell, entry, |sample| (sample.outcome.starved + sample.outcome.stuck) as f64)?;
            let starved = if starved > 0.0 { format!(" ({starved:.0} starved)") } else { String::new() };
            Some(format!("{p50} / **{p99}** / {p999}{starved}"))
        });
        if cells.iter().any(|cell| [Section::Gateway, Section::JsonRpc].contains(&cell.section)) {
            self.table(cells, text, "server's time, x frpc [least, greatest]", |cell, entry| {
                let ratio = |sample: &Sample| {
                    let native = self.of(cell, "frpc").find(|native| native.round == sample.round)?;
                    Some(sample.server_us / native.server_us)
                };
                let ratios = spread(self.of(cell, entry.name).filter_map(ratio).collect());
                let [least, median, greatest] = ratios.filter(|_| entry.name != "frpc")?;
                Some(format!("**{}** [{}, {}]", digits(median), digits(least), digits(greatest)))
            });
            return;
        }
        self.table(cells, text, "x raw [least, greatest]; tonic / [least, greatest]", |cell, entry| {
            let raw = if cell.section == Section::Streams { "raw-cores" } else { entry.raw };
            let raw = self.ratios(cell, entry.name, raw).filter(|_| raw != entry.name);
            let rival = if cell.section == Section::Tls { "tonic-tls" } else { "tonic" };
            let tonic = self.ratios(cell, rival, entry.name).filter(|_| entry.name != rival);
            let spread = |spread: Option<[f64; 3]>| {
                spread.map_or("-".into(), |[least, median, greatest]| {
                    format!("**{}** [{}, {}]", digits(median), digits(least), digits(greatest))
                })
            };
            (raw.is_some() || tonic.is_some()).then(|| format!("{}; {}", spread(raw), spread(tonic)))
        });
        if cells.iter().any(|cell| cell.section == Section::Apart) {
            self.table(cells, text, "us of both, x of the same load on shared cores", |cell, entry| {
                let shared = Cell { section: Section::Small, mode: Mode::Closed, ..*cell };
                let [apart, shared] = [*cell, shared].map(|cell| self.median(&cell, entry, |sample| sample.both_us));
                Some(format!("**{}**", digits(apart? / shared?)))
            });
        }
        self.table(cells, text, "peak memory of the server, MB", |cell, entry| {
            Some(format!("{:.0}", self.median(cell, entry, |sample| sample.server_peak as f64 / 1e6)?))
        });
    }

    /// Writes a table with a row per contestant and a column per cell.
    fn table(&self, cells: &[Cell], text: &mut String, what: &str, value: impl Fn(&Cell, &Entry) -> Option<String>) {
        let _ = write!(text, "| {what} |");
        for cell in cells {
            let _ = write!(text, " {} |", column(cell));
        }
        let _ = writeln!(text, "\n|---|{}", "---|".repeat(cells.len()));
        for entry in &self.entries {
            let has_failed = |cell: &Cell| {
                let failed = self.failures.iter().any(|failure| failure.cell == *cell && failure.entry == entry.name);
                failed.then(|| "failed".to_owned())
            };
            let values: Vec<_> = cells.iter().map(|cell| value(cell, entry).or_else(|| has_failed(cell))).collect();
            if values.iter().all(Option::is_none) {
                continue;
            }
            let name = if entry.is_ours() { format!("**{}**", entry.name) } else { entry.name.into() };
            let values: Vec<_> = values.into_iter().map(|value| value.unwrap_or("-".into())).collect();
            let _ = writeln!(text, "| {name} | {} |", values.join(" | "));
        }
        text.push('\n');
    }

    /// Charts the CPU time of the cells if [`CHARTED`] contains their title. Tables contain all other figures.
    fn chart(&self, cells: &[Cell], title: &str, page: &mut Page) -> Result<(), BoxError> {
        if !CHARTED.contains(&title) {
            return Ok(());
        }
        let groups = cells.iter().map(|cell| Group {
            name: column(cell),
            values: self.entries.iter().map(|entry| self.median(cell, entry, |s| s.both_us)).collect(),
        });
        let what = "Processor time per call, both processes, us";
        let chart = Chart {
            title: &format!("{what}: {title}"),
            hint: "less is better, logarithmic",
            logarithmic: true,
            series: &self.entries.iter().map(|entry| entry.name).collect::<Vec<_>>(),
            ours: &self.entries.iter().filter(|entry| entry.is_ours()).map(|entry| entry.name).collect::<Vec<_>>(),
            groups: &groups.collect::<Vec<_>>(),
        };
        let name = format!("cpu-{}.svg", title.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-"));
        let _ = writeln!(page.text, "![{what}: {title}]({name})\n");
        page.files.push((name, chart.svg()?));
        Ok(())
    }

    fn of<'s>(&'s self, cell: &Cell, name: &str) -> impl Iterator<Item = &'s Sample> {
        self.samples.iter().filter(move |sample| sample.cell == *cell && sample.entry == name)
    }

    fn median(&self, cell: &Cell, entry: &Entry, figure: Figure) -> Option<f64> {
        spread(self.of(cell, entry.name).map(figure).collect()).map(|[_, median, _]| median)
    }

    /// Returns the ratio of two contestants' CPU times by round: minimum, median, maximum.
    fn ratios(&self, cell: &Cell, one: &str, other: &str) -> Option<[f64; 3]> {
        let ratio = |sample: &Sample| {
            let other = self.of(cell, other).find(|other| other.round == sample.round)?;
            Some(sample.both_us / other.both_us)
        };
        spread(self.of(cell, one).filter_map(ratio).collect())
    }

    fn contestants(&self, text: &mut String) {
        text.push_str("## Contestants\n\n");
        for entry in &self.entries {
            let _ = writeln!(text, "* {}: {}", entry.name, entry.about);
        }
        text.push('\n');
    }

    /// Writes the summary: the relative cost of a call, and five figures.
    fn summary(&self, text: &mut String) {
        text.push_str("## In short\n\n");
        let short = |in_flight| Cell::new(Section::Small, 16, in_flight, 32);
        for (in_flight, calls) in [(1, "one call"), (10, "ten calls")] {
            let cell = short(in_flight);
            let ratios =
                [("frpc", "raw"), ("frpc-cores", "raw-cores"), ("tonic", "frpc"), ("tonic-cores", "frpc-cores")];
            let ratios = ratios.map(|(one, other)| self.ratios(&cell, one, other).map(|[_, median, _]| digits(median)));
            if let [Some(plain), Some(raw), Some(tonic), Some(tonic_cores)] = ratios {
                let _ = writeln!(
                    text,
                    "* With {calls} in flight on each of 16 connections, frpc with its defaults uses {plain} times the \
                     processor time of raw frames in the same runtimes, and tonic with its defaults {tonic} times that \
                     of frpc. With a runtime for each core at both ends, frpc uses {raw} times that of raw frames, and \
                     tonic {tonic_cores} times that of frpc."
                );
            }
        }
        let idle = self.cells.iter().find(|cell| cell.mode == Mode::Idle).copied();
        let rate: Figure = |sample| sample.outcome.calls as f64 / sample.outcome.seconds / 1000.0;
        let growth: Figure = |sample| sample.server_growth as f64 / 1024.0 / sample.cell.clients as f64;
        // Formatted like in the table of idle connections.
        let tenths: fn(f64) -> String = |value| format!("{value:.1}");
        type Row<'a> = (&'a str, Option<Cell>, Figure, fn(f64) -> String);
        let figures: [Row<'_>; 5] = [
            ("processor time per call, both ends, 16x1, us", Some(short(1)), |sample| sample.both_us, digits),
            ("processor time per call, both ends, 16x10, us", Some(short(10)), |sample| sample.both_us, digits),
            ("thousand calls per second, 16x10", Some(short(10)), rate, digits),
            ("p99, 16x10, ms", Some(short(10)), |sample| sample.outcome.p99_us / 1000.0, digits),
            ("memory of the server per idle connection, KiB", idle, growth, tenths),
        ];
        let shown: Vec<_> = self.entries.iter().filter(|entry| SUMMARY.contains(&entry.name)).collect();
        let heads: Vec<_> = shown.iter().map(|entry| entry.name).collect();
        let _ = writeln!(text, "\n| echo of 32 bytes | {} |\n|---|{}", heads.join(" | "), "---|".repeat(heads.len()));
        for (what, cell, figure, written) in figures {
            let value = |entry| cell.and_then(|cell| self.median(&cell, entry, figure));
            let values: Vec<_> = shown.iter().map(|entry| value(entry)).collect();
            if values.iter().all(Option::is_none) {
                continue;
            }
            let values: Vec<_> = values.into_iter().map(|value| value.map_or("-".into(), written)).collect();
            let _ = writeln!(text, "| {what} | {} |", values.join(" | "));
        }
        text.push('\n');
    }
}

/// Returns the minimum, median and maximum.
fn spread(mut values: Vec<f64>) -> Option<[f64; 3]> {
    values.sort_by(f64::total_cmp);
    let (least, greatest) = (*values.first()?, *values.last()?);
    let middle = f64::midpoint(values[(values.len() - 1) / 2], values[values.len() / 2]);
    Some([least, middle, greatest])
}

/// Formats a number with about three digits.
fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contestants::entries;

    /// Compares the committed report with the one created from its runs. `UPDATE_GOLDEN=1` rewrites it.
    #[test]
    fn committed_report_matches_recorded_runs() {
        let entries = entries();
        let folder = crate::default_folder();
        let committed = std::fs::read_to_string(folder.join(TEXT)).unwrap();
        let described: String = committed
            .lines()
            .skip_while(|line| !line.starts_with("* Machine: "))
            .take_while(|line| !line.starts_with("* Method: "))
            .map(|line| format!("{line}\n"))
            .collect();
        let name = introduction::machine(None, &committed, &machine::described(&described, "Machine").concat());
        let revision = machine::described(&described, "Revision").concat();
        let runs = std::fs::read_to_string(folder.join(RUNS)).unwrap();
        let (samples, failures) = runs::read(&runs, &entries, &grid(false)).unwrap();
        let page = page(&introduction::sentence(&folder, &name, &revision), &described, &samples, &failures, &entries)
            .unwrap();
        for (name, text) in page.files.iter().chain([&(TEXT.to_owned(), page.text.clone())]) {
            let path = folder.join(name);
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                std::fs::write(&path, text).unwrap();
            }
            let differs = std::fs::read_to_string(&path).unwrap() != *text;
            assert!(!differs, "{} is not the report of its runs: UPDATE_GOLDEN=1 writes it", path.display());
        }
    }

    #[test]
    fn conclusions_precede_method_and_tables_come_last() {
        let entries = entries();
        let runs = std::fs::read_to_string(crate::default_folder().join(RUNS)).unwrap();
        let ours: Vec<_> = runs.lines().filter(|line| !line.contains("go") && !line.starts_with("twirp")).collect();
        let (samples, _) = runs::read(&ours.join("\n"), &entries, &grid(false)).unwrap();
        let page = page("This report was measured on a machine.", "* Machine: one\n", &samples, &[], &entries).unwrap();
        let headings: Vec<_> = page.text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
        assert_eq!(headings[..4], ["In short", "Machine and method", "Contestants", "Short texts"]);
        let (short, rest) = page.text.split_once("## Machine and method").unwrap();
        assert_eq!(short.lines().filter(|line| line.starts_with("| ")).count(), 1 + 5, "a head and five figures");
        assert!(
            short.starts_with("# Performance\n\nThis report was measured on a machine.\n\n## In short\n"),
            "{short}"
        );
        assert!(rest.starts_with("\n\n* Machine: one\n* Method: "), "{rest}");
    }

    #[test]
    fn failed_cell_is_shown_with_its_reason() {
        let entries = entries();
        let cell = Cell::new(Section::Small, 8192, 10, 32);
        let failures = [Failure { entry: entries[0].name, cell, round: 0, reason: "no ports".into() }];
        let runs = std::fs::read_to_string(crate::default_folder().join(RUNS)).unwrap();
        let (samples, _) = runs::read(&runs, &entries, &grid(false)).unwrap();
        let page = page("A machine.", "", &samples, &failures, &entries).unwrap();
        assert!(page.text.contains("* raw-cores failed at 8192x10: no ports\n"), "{}", page.text);
        let (_, table) = page.text.split_once("### 32 B, 10 in flight").unwrap();
        let row = table.lines().find(|line| line.starts_with("| raw-cores |")).unwrap();
        assert!(row.ends_with(" | failed |"), "{row}");
    }

    #[test]
    fn report_resumes_with_rounds_that_all_had() {
        let (entries, cell) = (entries(), Cell::new(Section::Small, 16, 1, 32));
        let taking = [&entries[0], &entries[1]];
        let run = |entry: &Entry, round: usize| {
            format!("{},Small,16,1,32,0,Closed,{round},1{}\n", entry.name, ",1".repeat(19))
        };
        let (samples, _) = runs::read(
            &format!("{}{}{}{}", runs::write(&[], &[]), run(taking[0], 0), run(taking[1], 0), run(taking[0], 1)),
            &entries,
            &grid(false),
        )
        .unwrap();
        let report = Report { samples, ..Report::default() };
        assert_eq!((report.rounds(&cell, &taking), report.rounds(&cell, &taking[..1]), report.next_round()), (1, 2, 2));
    }

    #[test]
    fn spread_is_least_median_and_greatest() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0]), Some([1.0, 2.0, 3.0]));
        assert_eq!(spread(vec![4.0, 1.0]), Some([1.0, 2.5, 4.0]));
        assert_eq!(spread(Vec::new()), None);
    }

    #[test]
    fn numbers_have_about_three_digits() {
        assert_eq!([1234.5, 12.34, 1.234, 0.1234].map(digits), ["1234", "12.3", "1.23", "0.123"]);
    }
}
