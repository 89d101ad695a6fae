//! SVG bar charts: a panel per cell, a bar per contestant.

use crate::BoxError;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// A chart.
pub struct Chart<'a> {
    pub title: &'a str,
    /// Explanation for the reader.
    pub hint: &'a str,
    pub logarithmic: bool,
    /// The names of the contestants.
    pub series: &'a [&'a str],
    /// The names of our contestants, which have red bars.
    pub ours: &'a [&'a str],
    pub groups: &'a [Group],
}

/// The bars of a panel.
pub struct Group {
    pub name: String,
    /// One value per contestant.
    pub values: Vec<Option<f64>>,
}

/// Sizes in pixels. A title takes `WIDTH`.
const WIDTH: u32 = 560;
const PANEL: u32 = 300;
const NAMES: u32 = 130;
const BAR: u32 = 18;
const HEAD: u32 = 100;

type Panel<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Chart<'_> {
    /// Renders the chart.
    pub fn svg(&self) -> Result<String, BoxError> {
        let present: Vec<usize> = (0..self.series.len())
            .filter(|index| self.groups.iter().any(|group| group.values[*index].is_some()))
            .collect();
        let panels = self.groups.len() as u32;
        let width = PANEL.max(WIDTH / panels.max(1));
        let mut svg = String::new();
        {
            let size = (NAMES + width * panels, HEAD + BAR * present.len() as u32);
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            root.fill(&WHITE)?;
            let root = root.titled(self.title, ("sans-serif", 17))?;
            let mut left = NAMES;
            let mut rest = root;
            for (at, group) in self.groups.iter().enumerate() {
                let (panel, others) = rest.split_horizontally(left + width);
                let values = || present.iter().filter_map(|index| group.values[*index]).filter(|value| *value > 0.0);
                let (low, high) = (values().fold(f64::MAX, f64::min), values().fold(f64::MIN_POSITIVE, f64::max));
                // Space for the numbers at the ends of the bars.
                if self.logarithmic {
                    let low = low.min(high) / 2.0;
                    let width = (high / low).powf(1.3);
                    self.panel(&panel, at == 0, &present, group, low, (low..low * width).log_scale())?;
                } else {
                    self.panel(&panel, at == 0, &present, group, 0.0, 0.0..high * 1.25)?;
                }
                (left, rest) = (0, others);
            }
        }
        svg.push('\n');
        Ok(svg)
    }

    fn panel<X>(
        &self,
        panel: &Panel<'_>,
        is_first: bool,
        present: &[usize],
        group: &Group,
        low: f64,
        values: X,
    ) -> Result<(), BoxError>
    where
        X: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        // The first contestant is at the top. The axis also labels a position beyond the last.
        let name = |index: usize| present.iter().rev().nth(index).map_or("", |at| self.series[*at]);
        let mut chart = ChartBuilder::on(panel)
            .caption(format!("{} ({})", group.name, self.hint), ("sans-serif", 13))
            .margin(6)
            .x_label_area_size(24)
            .y_label_area_size(if is_first { NAMES } else { 6 })
            .build_cartesian_2d(values, (0..present.len()).into_segmented())?;
        chart
            .configure_mesh()
            .disable_y_mesh()
            .x_labels(5)
            .x_label_formatter(&|value| short(*value))
            .y_labels(present.len())
            .y_label_formatter(&|place| match place {
                SegmentValue::CenterOf(index) if is_first => name(*index).to_owned(),
                _ => String::new(),
            })
            .draw()?;
        let style = ("sans-serif", 11).into_font().color(&BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        for index in 0..present.len() {
            let Some(value) = group.values[present[present.len() - 1 - index]] else { continue };
            let color = if self.ours.contains(&name(index)) { RED } else { BLUE }.mix(0.7);
            let corners = [(low, SegmentValue::Exact(index)), (value, SegmentValue::Exact(index + 1))];
            let mut bar = Rectangle::new(corners, color.filled());
            bar.set_margin(3, 3, 0, 0);
            chart.draw_series([bar])?;
            chart.draw_series([Text::new(
                format!(" {}", short(value)),
                (value, SegmentValue::CenterOf(index)),
                style.clone(),
            )])?;
        }
        Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_chart_scales_show_names_and_values() {
        for logarithmic in [false, true] {
            let groups = [Group { name: "16x1".into(), values: vec![Some(1.5), None, Some(250.0)] }];
            let series = ["raw-cores", "absent", "frpc-cores"];
            let chart = Chart {
                title: "cost",
                hint: "us",
                logarithmic,
                series: &series,
                ours: &["frpc-cores"],
                groups: &groups,
            };
            let svg = chart.svg().expect("chart should be drawn");
            for part in ["cost", "16x1 (us)", "raw-cores", "frpc-cores", "1.50", "250"] {
                assert!(svg.contains(part), "{part}: {svg}");
            }
            assert!(!svg.contains("absent"), "{svg}");
        }
    }
}
