//! Renderer of load reports as self-contained HTML pages with SVG plots.

use super::report::{Report, SampleRow, shown};
use std::fmt::Write as _;

/// Size of a plot and of its margins in pixels.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 64.0;
const BOTTOM: f64 = 28.0;
const TOP: f64 = 12.0;

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 1em;\
color:#1c2733;background:#fff}h1{font-size:1.35em}h2{font-size:1.05em;margin:1.8em 0 .3em}table{border-collapse:\
collapse}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #dde3ea}td:first-child,th:first-child{\
text-align:left}svg{width:100%;height:auto}text{font:11px system-ui,sans-serif;fill:#5a6775}.grid{stroke:#e6ebf0}\
.key{font-size:12px;margin-right:1.2em}@media(prefers-color-scheme:dark){body{color:#dfe6ee;background:#12171d}\
td,th{border-color:#2a333d}.grid{stroke:#262f39}text{fill:#93a1b0}}";

/// A series of values that is drawn as a line in a plot.
struct Line {
    label: &'static str,
    color: &'static str,
    points: Vec<(f64, f64)>,
}

/// Renders the HTML page of a load report.
pub(crate) fn page(report: &Report) -> String {
    let mut out = String::from("<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">");
    // Writing to a string cannot fail, so ignore the result.
    let _ = write!(out, "<title>Load of {}</title><style>{STYLE}</style>", text(&report.server));
    let _ = write!(
        out,
        "<h1>Load of {}</h1><p>{}, {} s over {} connections: <b>{}</b> calls, <b>{:.1}</b> a second, <b>{}</b> failed. \
         {:.2} % took {} ms or longer.</p>",
        text(&report.server),
        text(&report.mode),
        report.seconds,
        report.connections,
        report.calls,
        report.calls_per_second,
        report.failed,
        100.0 * report.slow as f64 / report.calls.max(1) as f64,
        report.slow_from,
    );
    out.push_str("<table><tr><th>ms<th>calls<th>min<th>mean<th>p50<th>p90<th>p99<th>p99.9<th>max<th>codes</tr>");
    for method in &report.methods {
        let codes: Vec<_> = method.codes.iter().map(|(code, count)| format!("{code} {count}")).collect();
        let _ = write!(out, "<tr><td>{}<td>{}", text(&method.name), method.calls);
        for (_, value) in method.latency.labelled() {
            let _ = write!(out, "<td>{}", shown(value));
        }
        let _ = write!(out, "<td>{}</tr>", text(&codes.join(", ")));
    }
    out.push_str("</table>");
    let line = |label, color, value: fn(&SampleRow) -> f64| {
        let points = report.timeline.iter().map(|moment| (moment.second, value(moment))).collect();
        Line { label, color, points }
    };
    let rate = line("calls a second", "#2f7ed8", |moment| moment.calls_per_second);
    plot(&mut out, "Calls a second", "s", &[rate], |x| format!("{x:.1}"));
    let latencies = [
        line("max", "#d84a3a", |moment| moment.max),
        line("p99", "#e0a020", |moment| moment.p99),
        line("p50", "#2f9e6e", |moment| moment.p50),
    ];
    plot(&mut out, "Latency over time, in ms", "s", &latencies, |x| format!("{x:.1}"));
    // Plot quantiles by their number of nines: 0.9 is 1, 0.99 is 2.
    let nines = |quantile: f64| -(1.0 - quantile).max(1e-9).log10();
    let points = report.distribution.iter().map(|(quantile, value)| (nines(*quantile), *value)).collect();
    let distribution = Line { label: "latency", color: "#2f7ed8", points };
    plot(&mut out, "Latency by quantile, in ms", "", &[distribution], |x| {
        let percent = 100.0 * (1.0 - 10_f64.powf(-x));
        let digits = if x > 2.0 { 3 } else { 1 };
        format!("{percent:.digits$} %")
    });
    out.push_str("</html>\n");
    out
}

/// Adds a plot of several lines over the same x-axis.
fn plot(out: &mut String, title: &str, unit: &str, lines: &[Line], x_label: impl Fn(f64) -> String) {
    let points = || lines.iter().flat_map(|line| &line.points);
    let x_max = points().map(|(x, _)| *x).fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    let y_max = step_above(points().map(|(_, y)| *y).fold(0.0, f64::max));
    let to_pixels = |x: f64, y: f64| {
        (LEFT + x / x_max * (WIDTH - LEFT - 12.0), HEIGHT - BOTTOM - y / y_max * (HEIGHT - BOTTOM - TOP))
    };
    let _ = write!(out, "<h2>{}</h2><div>", text(title));
    for line in lines {
        let _ = write!(out, "<span class=key style=\"color:{}\">&#9644; {}</span>", line.color, line.label);
    }
    let _ = write!(out, "</div><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=img aria-label=\"{}\">", text(title));
    for step in 0..=4 {
        let share = f64::from(step) / 4.0;
        let (left, y) = to_pixels(0.0, share * y_max);
        let _ = write!(out, "<path class=grid d=\"M{left:.1} {y:.1}H{:.1}\"/>", WIDTH - 12.0);
        let _ =
            write!(out, "<text x={:.1} y={:.1} text-anchor=end>{}</text>", LEFT - 6.0, y + 4.0, shown(share * y_max));
        let (x, bottom) = to_pixels(share * x_max, 0.0);
        let label = x_label(share * x_max);
        let _ = write!(out, "<text x={x:.1} y={:.1} text-anchor=middle>{label} {unit}</text>", bottom + 18.0);
    }
    for line in lines {
        let mut path = String::new();
        for (at, (x, y)) in line.points.iter().enumerate() {
            let (x, y) = to_pixels(*x, *y);
            let _ = write!(path, "{}{x:.1} {y:.1}", if at == 0 { 'M' } else { 'L' });
        }
        let _ = write!(out, "<path fill=none stroke=\"{}\" stroke-width=1.6 d=\"{path}\"/>", line.color);
    }
    out.push_str("</svg>");
}

/// Rounds `value` up to a number with one significant digit, at which the axis of a plot ends.
fn step_above(value: f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return 1.0;
    }
    let unit = 10_f64.powf(value.log10().floor());
    (value / unit).ceil() * unit
}

/// Escapes text so that it can be inserted into HTML.
fn text(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::stats::{Outcome, Stats};
    use frpc::Code;
    use std::time::Duration;

    #[test]
    fn self_contained_page_escapes_names() {
        let mut stats = Stats::new(vec!["a.<b>/C".to_owned()], Duration::from_secs(2));
        for at in 0..20 {
            let time = Duration::from_millis(at * 100);
            stats.record(time, Duration::from_millis(at), Duration::ZERO, Outcome { method: 0, code: Code::Ok });
        }
        stats.finish();
        let (duration, slow) = (Duration::from_secs(2), Duration::from_millis(10));
        let page = page(&Report::new(&stats, "\"server\"", "open".to_owned(), 1, duration, slow));
        assert_eq!(page.matches("<svg").count(), 3);
        assert!(!page.contains("http") && !page.contains("src="));
        assert!(page.contains("a.&lt;b&gt;/C") && page.contains("&quot;server&quot;"));
        assert!(!page.contains("NaN") && !page.contains("inf"), "{page}");
    }

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, end) in [(0.0, 1.0), (0.7, 0.7), (11.0, 20.0), (99.0, 100.0), (1234.0, 2000.0)] {
            assert!((step_above(value) - end).abs() < 1e-9, "{value}: {}", step_above(value));
        }
    }
}
