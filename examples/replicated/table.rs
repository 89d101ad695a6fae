//! Tests which defects the simulation detects and after how many seeds, and generates the table in `README.md`.

use crate::defects::Defect;
use crate::run;
use frisbee_sim::Sim;
use std::{env, fs};

/// Number of seeds within which every defect is detected.
const SEEDS: u64 = 1_000;

/// Maximum number of seeds of a defect that is tested in every run.
const QUICK: u64 = 5;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");

const HEAD: &str = "| defect | seeds | found as |\n|---|---|---|\n";

/// Descriptions of the invariants.
const CAUSES: [&str; 6] = [
    "is not linearizable",
    "two replicas have applied different entries",
    "has two leaders",
    "one client has the lease",
    "operations end in time",
    "no write waits for a disconnected caller",
];

/// Returns the number of seeds needed to detect a defect, and the violated invariant.
fn find(defect: Defect) -> Option<(u64, &'static str)> {
    // Only the store without defects runs twice per seed.
    let sim = Sim::new().runs_twice(false).shrinks(false);
    let failure = sim.find(SEEDS, move |world| run(world, Some(defect)))?;
    let cause = CAUSES.into_iter().find(|cause| failure.text().contains(cause));
    Some((failure.seed() + 1, cause.unwrap_or_else(|| panic!("{defect:?} is found by chance: {failure}"))))
}

/// Returns the page before the table, the rows, and the rest of the page.
fn page() -> (String, String, String) {
    let page = fs::read_to_string(PAGE).expect("file should be readable");
    let (before, behind) = page.split_once(HEAD).expect("page should contain the table");
    let (rows, behind) = behind.split_once("\n\n").expect("table should be followed by text");
    (before.to_owned(), format!("{rows}\n"), behind.to_owned())
}

/// Returns the number of seeds that the table lists for a defect.
fn listed(rows: &str, defect: Defect) -> u64 {
    let row = rows.lines().find_map(|row| row.strip_prefix(&format!("| `{defect:?}` | ")));
    let seeds = row.and_then(|row| row.split(' ').next()?.parse().ok());
    seeds.unwrap_or_else(|| panic!("the table has no row for {defect:?}: run UPDATE_GOLDEN=1, as the page says"))
}

#[test]
fn defects_that_show_soon_are_found() {
    let (_, rows, _) = page();
    assert_eq!(rows.lines().count(), Defect::ALL.len(), "table should have a row for each defect");
    for defect in Defect::ALL.into_iter().filter(|defect| listed(&rows, *defect) <= QUICK) {
        assert!(find(defect).is_some(), "defect {defect:?} should be found");
    }
}

#[test]
#[ignore = "hundreds of worlds: .ci/full runs it in release, and UPDATE_GOLDEN=1 rewrites the table"]
fn every_defect_is_found_within_1000_seeds() {
    let (mut rows, mut missed) = (String::new(), Vec::new());
    println!("{}", HEAD.trim_end());
    for defect in Defect::ALL {
        let Some((seeds, cause)) = find(defect) else {
            missed.push(defect);
            continue;
        };
        let row = format!("| `{defect:?}` | {seeds} | {cause} |\n");
        print!("{row}");
        rows += &row;
    }
    assert!(missed.is_empty(), "defects that were not found: {missed:?}");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        let (before, _, behind) = page();
        fs::write(PAGE, format!("{before}{HEAD}{rows}\n{behind}")).expect("file should be written");
    }
}
