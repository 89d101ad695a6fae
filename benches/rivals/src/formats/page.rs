//! The page with the results, and its charts.

use crate::{Case, Figures, Operation};
use rivals::chart::{Chart, Group};
use rivals::{BoxError, machine};
use std::fmt::Write as _;

/// The name of the page.
pub(crate) const TEXT: &str = "formats.md";

/// Packages that the page lists versions of.
const PACKAGES: [&str; 8] =
    ["prost", "rkyv", "bitcode", "postcard", "rmp-serde", "serde_json", "simd-json", "sonic-rs"];

const INTRODUCTION: &str = "\
# Cost of message formats

This page compares the native encoding of fRPC, Polyglot, with other formats. For each format it shows the instructions
and the time to encode and to decode a message, and the length of the result. The calls of [the report](README.md)
include these costs at client and server. This command repeats the measurement:

```sh
cargo run --release --manifest-path benches/rivals/Cargo.toml --features formats --bin formats
```

";

const METHOD: &str = "\
* **Data.** Every format encodes the same content. One schema generates the types. Only the types of `polyglot-shared`
  differ, because their strings and bytes share memory.
* **Encoding** writes into a buffer that is reused.
* **Decoding** includes the checks that untrusted input needs, and the release of the result. It returns an owned
  message, except for `polyglot-shared`, `polyglot-view` and `rkyv-in-place`. Values that these leave in the input have
  a cost when they are used: a view reads lists and maps again each time.
* **Instructions** are counted by callgrind, as the difference between a run with some iterations and one with twice as
  many. They hardly depend on the machine. Because their number does not show cache misses and mispredicted branches,
  the tables also contain times.
";

/// The messages with charted costs.
const CHARTED: [&str; 2] = ["string", "order"];

/// Returns the names and contents of the files.
pub(crate) fn files(cases: &[Case], figures: &[Figures], rounds: usize) -> Result<Vec<(String, String)>, BoxError> {
    let mut text = INTRODUCTION.to_owned();
    let mut files = Vec::new();
    let mut messages: Vec<_> = cases.iter().map(|case| (case.message, case.title)).collect();
    messages.dedup();
    for (message, title) in messages {
        let results: Vec<_> = cases.iter().zip(figures).filter(|(case, _)| case.message == message).collect();
        let _ = writeln!(text, "## {title}\n");
        if CHARTED.contains(&message) {
            let chart = format!("formats-{message}.svg");
            let _ = writeln!(text, "![Instructions: {title}]({chart})\n");
            files.push((chart, draw(title, &results)?));
        }
        table(&results, &mut text);
    }
    let _ = writeln!(text, "## Formats\n");
    let first = cases.first().map_or("", |case| case.message);
    for case in cases.iter().filter(|case| case.message == first) {
        let _ = writeln!(text, "* `{}`: {}", case.format, case.about);
    }
    let _ = writeln!(
        text,
        "\n## Method\n\n{METHOD}* **Times** are medians of {rounds} rounds, in which the formats take turns."
    );
    let machine = [machine::machine(), machine::rust(), machine::locked(&PACKAGES).join(", ")].join("; ");
    let _ = writeln!(text, "* **Machine**: {machine}; revision {}; {}.", machine::revision(), machine::date());
    files.push((TEXT.to_owned(), text));
    Ok(files)
}

fn table(results: &[(&Case, &Figures)], text: &mut String) {
    text.push_str(
        "| format | bytes | encode, instructions | ns | decode, instructions | ns |\n|---|---|---|---|---|---|\n",
    );
    for (case, figures) in results {
        let name = if is_ours(case.format) { format!("**{}**", case.format) } else { case.format.to_owned() };
        let ([encode, decode], [encode_ns, decode_ns]) = (figures.instructions, figures.nanoseconds);
        let _ = writeln!(
            text,
            "| {name} | {} | **{encode:.0}** | {encode_ns:.0} | **{decode:.0}** | {decode_ns:.0} |",
            figures.length
        );
    }
    text.push('\n');
}

/// Charts the instructions, with a panel per operation.
fn draw(title: &str, results: &[(&Case, &Figures)]) -> Result<String, BoxError> {
    let series: Vec<_> = results.iter().map(|(case, _)| case.format).collect();
    let ours: Vec<_> = series.iter().copied().filter(|format| is_ours(format)).collect();
    let group = |(at, operation): (usize, Operation)| Group {
        name: operation.name().to_owned(),
        values: results.iter().map(|(_, figures)| Some(figures.instructions[at])).collect(),
    };
    let groups: Vec<_> = Operation::ALL.into_iter().enumerate().map(group).collect();
    let hint = "instructions, less is better, logarithmic";
    Chart { title, hint, logarithmic: true, series: &series, ours: &ours, groups: &groups }.svg()
}

fn is_ours(format: &str) -> bool {
    format.starts_with("polyglot") || format == "frpc-json"
}
