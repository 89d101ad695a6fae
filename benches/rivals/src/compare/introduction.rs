//! The first sentence of a report: the machine, the revision, and links to reports of other machines.

use rivals::machine::described;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The beginning of the sentence before the name of the machine, and its continuation.
const BEGINNING: &str = "This report was measured on ";
const BEHIND: &str = ", at revision ";

/// The page written by the program `formats`.
const FORMATS: &str = "formats.md";

/// Returns the name of the machine for readers: `given`; or that of the previous report if it is of the same kind of
/// processor; or the machine's own name.
pub(crate) fn machine(given: Option<&str>, before: &str, itself: &str) -> String {
    // The memory of virtual machines varies by some kilobytes between boots.
    let processor = |machine: &str| machine.split(", memory ").next().unwrap_or_default().to_owned();
    let is_same = processor(&described(before, "Machine").concat()) == processor(itself);
    let known = named(before).filter(|_| is_same);
    given.or(known).unwrap_or(itself).to_owned()
}

/// Returns the sentence for the report in `folder`.
pub(crate) fn sentence(folder: &Path, machine: &str, revision: &str) -> String {
    let mut sentence = format!("{BEGINNING}{machine}{BEHIND}{revision}");
    let others = others(folder);
    let links: Vec<_> = others.iter().map(|(name, path)| format!("[{name}]({path})")).collect();
    let _ = match &links[..] {
        [] => write!(sentence, "."),
        [other] => write!(sentence, "; another was measured on {other}."),
        [first @ .., last] => write!(sentence, "; the others were measured on {} and {last}.", first.join(", ")),
    };
    if folder.join(FORMATS).is_file() {
        let _ = write!(sentence, " [Another page]({FORMATS}) compares message formats.");
    }
    sentence
}

/// Returns the machine that a report names.
fn named(report: &str) -> Option<&str> {
    let sentence = report.lines().find_map(|line| line.strip_prefix(BEGINNING))?;
    Some(sentence.split_once(BEHIND)?.0)
}

/// Returns the other reports: their machines, and the links to them. One report is in a folder, and those of other
/// machines are in its subfolders.
fn others(folder: &Path) -> Vec<(String, String)> {
    let report = |folder: &Path| named(&std::fs::read_to_string(folder.join("README.md")).ok()?).map(str::to_owned);
    let upper = folder.parent().filter(|upper| report(upper).is_some());
    let top = upper.unwrap_or(folder);
    let mut within: Vec<PathBuf> = std::fs::read_dir(top)
        .map(|entries| entries.filter_map(|entry| Some(entry.ok()?.path())).collect())
        .unwrap_or_default();
    within.sort();
    let up = if upper.is_some() { "../" } else { "" };
    let link = |other: &Path| match (other == top, other.file_name()) {
        (true, _) => format!("{up}README.md"),
        (false, name) => format!("{up}{}/README.md", name.unwrap_or_default().to_string_lossy()),
    };
    let places = std::iter::once(top.to_owned()).chain(within).filter(|place| place != folder);
    places.filter_map(|place| Some((report(&place)?, link(&place)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_keeps_machine_name_until_processor_changes() {
        let before = "This report was measured on an old box, at revision 1.\n\n* Machine: 2 x Box, memory 7 kB\n";
        assert_eq!(machine(None, before, "2 x Box, memory 8 kB"), "an old box");
        assert_eq!(machine(Some("my box"), before, "2 x Box, memory 8 kB"), "my box");
        assert_eq!(machine(None, before, "2 x Crate, memory 8 kB"), "2 x Crate, memory 8 kB");
        assert_eq!(machine(None, "", "2 x Box, memory 8 kB"), "2 x Box, memory 8 kB");
    }

    #[test]
    fn report_links_to_other_machines() {
        let top = std::env::temp_dir().join(format!("reports-{}", std::process::id()));
        for (folder, machine) in [("", "a box"), ("crate", "a crate"), ("tin", "a tin")] {
            std::fs::create_dir_all(top.join(folder)).unwrap();
            let text = format!("# Performance\n\n{}\n", sentence(&top.join(folder), machine, "1"));
            std::fs::write(top.join(folder).join("README.md"), text).unwrap();
        }
        let of = |folder: &str| sentence(&top.join(folder), "this", "2");
        assert_eq!(
            [of(""), of("crate"), of("tin")],
            [
                "This report was measured on this, at revision 2; the others were measured on [a crate](crate/README.md) and [a tin](tin/README.md).",
                "This report was measured on this, at revision 2; the others were measured on [a box](../README.md) and [a tin](../tin/README.md).",
                "This report was measured on this, at revision 2; the others were measured on [a box](../README.md) and [a crate](../crate/README.md).",
            ]
        );
        std::fs::write(top.join("tin").join(FORMATS), "").unwrap();
        assert!(of("tin").ends_with(". [Another page](formats.md) compares message formats."), "{}", of("tin"));
        std::fs::remove_dir_all(top).unwrap();
    }
}
