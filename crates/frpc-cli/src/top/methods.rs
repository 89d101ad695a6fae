//! Method statistics in `frpc top`, computed from two replies, and their formatting.

use super::board::Column;
use super::view::columns;
use frpc_reflection::introspection_v1::{Figures, Method, Server};
use std::cmp::Ordering;
use std::collections::HashMap;
use unicode_width::UnicodeWidthChar as _;

/// Row of the methods table: the statistics of one method.
pub(super) struct MethodRow<'a> {
    pub(super) name: &'a str,
    /// Calls per second and failed calls per second. `None` until the server has sent two replies that contain the
    /// method.
    pub(super) rates: Option<(f64, f64)>,
    /// Number of calls that have ended since the server started to count.
    pub(super) ended: u64,
    pub(super) failed: u64,
    figures: &'a Figures,
}

/// Returns a row for each method with statistics. `before` is the previous reply, with the number of seconds between
/// the two replies.
pub(super) fn rows<'a>(last: &'a Server, before: Option<(&Server, f64)>) -> Vec<MethodRow<'a>> {
    let old: HashMap<&str, (u64, u64)> = before.iter().flat_map(|(server, _)| counted(server)).map(counts).collect();
    let row = |(method, figures): (&'a Method, &'a Figures)| {
        let (name, (ended, failed)) = counts((method, figures));
        let rates = before.and_then(|(_, seconds)| {
            let (old_ended, old_failed) = old.get(name)?;
            let rate = |now: u64, before: &u64| now.saturating_sub(*before) as f64 / seconds;
            Some((rate(ended, old_ended), rate(failed, old_failed)))
        });
        MethodRow { name, rates, ended, failed, figures }
    };
    counted(last).map(row).collect()
}

fn counted(server: &Server) -> impl Iterator<Item = (&Method, &Figures)> {
    server.methods.iter().filter_map(|method| Some((method, method.figures.as_ref()?)))
}

/// Returns the name of a method, its number of ended calls, and its number of failed calls. Additions saturate, because
/// the server's numbers are not trusted.
fn counts<'a>((method, figures): (&'a Method, &Figures)) -> (&'a str, (u64, u64)) {
    let failed = sum(figures.failed.iter().map(|failed| failed.count));
    (&method.name, (figures.ok.saturating_add(failed), failed))
}

/// Compares two rows by a column. Rows with equal rates are compared by the totals behind the rates.
pub(super) fn compare(column: Column, a: &MethodRow<'_>, b: &MethodRow<'_>) -> Ordering {
    match column {
        Column::Method => a.name.cmp(b.name),
        Column::Errors => by_rate(a, b, |(_, errors)| errors).then(a.failed.cmp(&b.failed)),
        Column::P50 => a.figures.p50_ns.cmp(&b.figures.p50_ns),
        Column::P99 => a.figures.p99_ns.cmp(&b.figures.p99_ns),
        Column::Max => a.figures.max_ns.cmp(&b.figures.max_ns),
        Column::Ended => a.ended.cmp(&b.ended),
        // Otherwise compare by calls per second.
        _ => by_rate(a, b, |(calls, _)| calls).then(a.ended.cmp(&b.ended)),
    }
}

/// Returns the sum of numbers from the server. Saturates on overflow, because these numbers are not trusted.
pub(super) fn sum(figures: impl Iterator<Item = u64>) -> u64 {
    figures.fold(0, u64::saturating_add)
}

fn by_rate(a: &MethodRow<'_>, b: &MethodRow<'_>, rate: fn((f64, f64)) -> f64) -> Ordering {
    let of = |row: &MethodRow<'_>| row.rates.map_or(-1.0, rate);
    of(a).total_cmp(&of(b))
}

/// Returns a summary of the calls of all methods, for the header of the view.
pub(super) fn total(rows: &[MethodRow<'_>]) -> String {
    if rows.is_empty() {
        return "calls: the server does not count them".to_owned();
    }
    let rates = rows.iter().filter_map(|row| row.rates).reduce(|a, b| (a.0 + b.0, a.1 + b.1));
    let (calls, errors) = rates.unzip();
    let (calls, errors) = (rate(calls), rate(errors));
    let (ended, failed) = (sum(rows.iter().map(|row| row.ended)), sum(rows.iter().map(|row| row.failed)));
    format!("calls: {calls}/s, {errors} errors/s; {ended} have ended, {failed} of them failed")
}

/// Returns the texts of all cells in a row, except for the name of the method.
pub(super) fn cells(row: &MethodRow<'_>) -> [String; 6] {
    let time = |nanos: u64| if row.ended == 0 { "-".to_owned() } else { time(nanos) };
    let (calls, errors) = row.rates.unzip();
    let Figures { p50_ns, p99_ns, max_ns, .. } = *row.figures;
    [rate(calls), rate(errors), time(p50_ns), time(p99_ns), time(max_ns), row.ended.to_string()]
}

/// Shortens the name of a method to `width` columns by removing its start, because the end identifies the method.
pub(super) fn short(name: &str, width: usize) -> String {
    if columns(name) <= width {
        return name.to_owned();
    }
    let (mut left, mut begin) = (width.saturating_sub(1), name.len());
    for (at, letter) in name.char_indices().rev() {
        let Some(rest) = left.checked_sub(letter.width().unwrap_or(0)) else { break };
        (left, begin) = (rest, at);
    }
    format!("…{}", name.get(begin..).unwrap_or_default())
}

pub(super) fn rate(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"))
}

/// Formats a duration with at most six characters. Durations of up to a day are supported.
fn time(nanos: u64) -> String {
    let (value, unit) = match nanos {
        0..1000 => return format!("{nanos}ns"),
        1000..1_000_000 => (nanos as f64 / 1e3, "µs"),
        1_000_000..1_000_000_000 => (nanos as f64 / 1e6, "ms"),
        _ => (nanos as f64 / 1e9, "s"),
    };
    if value < 99.95 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frpc_reflection::introspection_v1::CodeCount;

    fn server(methods: &[(&str, u64, u64, u64)]) -> Server {
        let method = |&(name, ok, failed, p99_ns): &(&str, u64, u64, u64)| {
            let failed = vec![CodeCount { code: 3, count: failed }];
            let figures = Some(Figures { ok, failed, p50_ns: 900, p99_ns, max_ns: u64::MAX, ..Figures::default() });
            Method { name: name.to_owned(), figures, ..Method::default() }
        };
        Server { methods: methods.iter().map(method).collect(), ..Server::default() }
    }

    #[test]
    fn rates_cover_interval_and_times_all_calls() {
        let before = server(&[("a.A/One", 10, 0, 1000), ("a.A/Two", 5, 5, 1000)]);
        let last = server(&[("a.A/Two", 5, 8, 1_500_000), ("a.A/One", 110, 2, 99_960), ("a.A/New", 0, 0, 0)]);
        let mut rows = rows(&last, Some((&before, 2.0)));
        assert_eq!(total(&rows), "calls: 52.5/s, 2.5 errors/s; 125 have ended, 10 of them failed");
        let order = |rows: &mut Vec<MethodRow<'_>>, column| {
            rows.sort_by(|a, b| compare(column, a, b));
            rows.iter().map(|row| row.name.to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(order(&mut rows, Column::Rate), ["a.A/New", "a.A/Two", "a.A/One"]);
        assert_eq!(order(&mut rows, Column::Errors), ["a.A/New", "a.A/One", "a.A/Two"]);
        assert_eq!(order(&mut rows, Column::Method), ["a.A/New", "a.A/One", "a.A/Two"]);
        assert_eq!(order(&mut rows, Column::P99), ["a.A/New", "a.A/One", "a.A/Two"]);
        let shown: Vec<_> = rows.iter().map(cells).collect();
        assert_eq!(shown[0], ["-", "-", "-", "-", "-", "0"]);
        assert_eq!(shown[1][..4], ["51.0", "1.0", "900ns", "100µs"]);
        assert_eq!(shown[2][..4], ["1.5", "1.5", "900ns", "1.5ms"]);
    }

    #[test]
    fn equal_rates_are_ordered_by_all_calls() {
        let last = server(&[("a", 1, 0, 0), ("b", 5, 0, 0), ("c", 3, 0, 0)]);
        let mut rows = rows(&last, Some((&last, 1.0)));
        rows.sort_by(|a, b| compare(Column::Rate, b, a));
        assert_eq!(rows.iter().map(|row| row.name).collect::<Vec<_>>(), ["b", "c", "a"]);
    }

    #[test]
    fn extreme_or_missing_figures_are_tolerated() {
        let huge = server(&[("a", u64::MAX, u64::MAX, u64::MAX), ("b", u64::MAX, 1, 0)]);
        let shown = rows(&huge, Some((&server(&[("a", u64::MAX, 0, 0)]), 0.001)));
        assert!(total(&shown).starts_with("calls: 0.0/s"), "{}", total(&shown));
        let none = Server { methods: vec![Method::default()], ..Server::default() };
        assert_eq!(total(&rows(&none, None)), "calls: the server does not count them");
    }

    #[test]
    fn long_name_keeps_end() {
        assert_eq!([short("a.B/Call", 8), short("a.B/Call", 5), short("ä", 0)], ["a.B/Call", "…Call", "…"]);
    }
}
