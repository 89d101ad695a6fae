//! Bar charts as SVG: groups of bars, one bar for each contestant, values written above them.

use std::fmt::Write as _;

/// A chart.
pub(crate) struct Chart<'a> {
    pub(crate) title: &'a str,
    /// How to read it.
    pub(crate) hint: &'a str,
    pub(crate) logarithmic: bool,
    /// Who the bars of each group belong to.
    pub(crate) series: &'a [&'a str],
    pub(crate) groups: &'a [Group],
}

/// Bars that stand together.
pub(crate) struct Group {
    pub(crate) name: String,
    /// One for each of the series.
    pub(crate) values: Vec<Option<f64>>,
}

/// Lengths in pixels. Bars are wider where there are few.
const WIDTH_MIN: f64 = 720.0;
const BAR_MIN: f64 = 13.0;
const BAR_MAX: f64 = 40.0;
const GAP: f64 = 22.0;
const LEFT: f64 = 56.0;
const TOP: f64 = 84.0;
const HEIGHT: f64 = 300.0;
const LEGEND_COLUMN: f64 = 150.0;
const LEGEND_LINE: f64 = 18.0;

impl Chart<'_> {
    /// The chart as a file.
    pub(crate) fn svg(&self) -> String {
        let present: Vec<usize> = (0..self.series.len())
            .filter(|index| self.groups.iter().any(|group| group.values[*index].is_some()))
            .collect();
        let groups = self.groups.len() as f64;
        let free = WIDTH_MIN - LEFT - GAP - groups * GAP;
        let bar = (free / (groups * present.len() as f64)).clamp(BAR_MIN, BAR_MAX);
        let group_width = present.len() as f64 * bar;
        let width = (LEFT + groups * (group_width + GAP) + GAP).max(WIDTH_MIN);
        let columns = ((width - LEFT) / LEGEND_COLUMN).max(1.0) as usize;
        let legend_lines = present.len().div_ceil(columns);
        let height = TOP + HEIGHT + 44.0 + legend_lines as f64 * LEGEND_LINE;
        let scale = Scale::new(self);

        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
             {height:.0}\" font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        );
        let _ = writeln!(
            svg,
            "<text x=\"16\" y=\"26\" font-size=\"17\" font-weight=\"bold\">{}</text>",
            escaped(self.title)
        );
        let _ = writeln!(svg, "<text x=\"16\" y=\"44\" fill=\"#555\">{}</text>", escaped(self.hint));
        for tick in scale.ticks() {
            let y = TOP + HEIGHT - scale.height(tick);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>",
                width - 10.0
            );
            let x = LEFT - 6.0;
            let _ = writeln!(
                svg,
                "<text x=\"{x}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
                y + 4.0,
                short(tick)
            );
        }
        for (at, group) in self.groups.iter().enumerate() {
            let left = LEFT + GAP + at as f64 * (group_width + GAP);
            for (place, index) in present.iter().enumerate() {
                if let Some(value) = group.values[*index] {
                    self.bar(&mut svg, &scale, (left + place as f64 * bar, bar), *index, value);
                }
            }
            let middle = left + group_width / 2.0;
            let _ = writeln!(
                svg,
                "<text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                TOP + HEIGHT + 18.0,
                escaped(&group.name)
            );
        }
        for (place, index) in present.iter().enumerate() {
            let (x, y) = (
                LEFT + (place % columns) as f64 * LEGEND_COLUMN,
                TOP + HEIGHT + 38.0 + (place / columns) as f64 * LEGEND_LINE,
            );
            let _ = writeln!(
                svg,
                "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"{}\"/>",
                y - 10.0,
                color(self.series[*index])
            );
            let _ = writeln!(svg, "<text x=\"{:.1}\" y=\"{y:.1}\">{}</text>", x + 16.0, escaped(self.series[*index]));
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn bar(&self, svg: &mut String, scale: &Scale, (x, width): (f64, f64), index: usize, value: f64) {
        let height = scale.height(value).max(1.0);
        let y = TOP + HEIGHT - height;
        let name = self.series[index];
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{height:.1}\" fill=\"{}\"><title>{}: {}</title></rect>",
            width - 2.0,
            color(name),
            escaped(name),
            short(value),
        );
        // Upright, since numbers are wider than bars.
        let middle = x + width / 2.0 + 3.0;
        let above = y - 4.0;
        let _ = writeln!(
            svg,
            "<text x=\"{middle:.1}\" y=\"{above:.1}\" font-size=\"10\" transform=\"rotate(-90 {middle:.1} {above:.1})\">{}</text>",
            short(value),
        );
    }
}

/// From values to heights.
struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Scale {
    fn new(chart: &Chart<'_>) -> Self {
        let values = || {
            chart.groups.iter().flat_map(|group| group.values.iter().flatten().copied()).filter(|value| *value > 0.0)
        };
        let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN_POSITIVE, f64::max));
        if chart.logarithmic {
            // A decade begins below the least value, so that even that has a bar.
            return Self {
                logarithmic: true,
                low: (low.min(high) / 2.0).log10(),
                high: high.log10().max(low.log10() + 0.1),
            };
        }
        Self { logarithmic: false, low: 0.0, high }
    }

    fn height(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0) * HEIGHT
    }

    fn ticks(&self) -> Vec<f64> {
        if self.logarithmic {
            let decades = self.low.floor() as i32..=self.high.ceil() as i32;
            let ticks = decades.flat_map(|decade| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(decade)));
            return ticks.filter(|tick| (self.low..=self.high).contains(&tick.log10())).collect();
        }
        let step = 10_f64.powf((self.high / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|times| times * step).into_iter().find(|step| self.high / step <= 6.0);
        let step = step.unwrap_or(self.high);
        (0..=6).map(|times| f64::from(times) * step).filter(|tick| *tick <= self.high).collect()
    }
}

/// The same colour for the same contestant in every chart: ours warm, raw frames grey, others cold.
fn color(name: &str) -> &'static str {
    match name {
        "raw" => "#9a9a9a",
        "raw-shared" => "#c4c4c4",
        "frisbee" => "#f0a35e",
        "frpc" => "#d62728",
        "frpc-shared" => "#f0716f",
        "frpc-bytes" => "#8c1515",
        "frpc-uring" => "#ff7f0e",
        "frpc-busy" => "#e377c2",
        "frpc-apart" => "#f7b6a0",
        "frpc-concurrent" => "#a0522d",
        "frpc-at-most-16" => "#c98b6b",
        "tonic" => "#1f77b4",
        "tarpc" => "#2ca02c",
        "volo-thrift" => "#17becf",
        "volo-thrift-bytes" => "#0b7285",
        "axum-json" => "#9467bd",
        "go-frpc" => "#bcbd22",
        "go-frpc-spawn" => "#8a8b1a",
        "grpc-go" => "#4c6ef5",
        _ => "#5c4b8a",
    }
}

fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".into(),
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
