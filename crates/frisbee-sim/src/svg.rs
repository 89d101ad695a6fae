//! Draws the timeline of a trace, with a line for each node and arrows for the bytes between them.
//!
//! Generates SVG directly instead of using the crate plotters, which does not support the tooltips that show the
//! details of events.

use crate::trace::{Event, EventKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;
use std::time::Duration;

/// Maximum number of events in a drawing. Only the most recent ones are drawn, because more could not be distinguished
/// on a screen.
const SHOWN: usize = 600;

/// Width of a drawing in pixels.
const WIDTH: f64 = 1600.0;

/// Vertical distance in pixels between the lines of two nodes.
const ROW: f64 = 70.0;

/// Left margin of a drawing in pixels, which contains the names of the nodes.
const LEFT: f64 = 120.0;

/// Right margin of a drawing in pixels.
const RIGHT: f64 = 40.0;

/// Number of text lines for fault descriptions.
const LINES: u32 = 6;

/// Vertical position in pixels of the line of faults and notes, below their texts.
const TOP: f64 = 16.0 + 14.0 * LINES as f64;

/// Maximum number of faults with a description. More would overlap.
const LABELLED: usize = 24;

/// Draws the last events of a trace as an SVG.
pub(crate) fn draw(events: &[Event]) -> String {
    let shown = &events[events.len().saturating_sub(SHOWN)..];
    let drawing = Drawing::of(shown);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        drawing.height() + 40.0
    );
    drawing.times(&mut svg);
    drawing.nodes(&mut svg, events);
    drawing.events(&mut svg, shown);
    drawing.legend(&mut svg);
    svg + "</svg>\n"
}

/// Scale of a drawing and the lines of its nodes.
struct Drawing<'a> {
    /// Start of the time axis in seconds. `length` is the length of the axis.
    begin: f64,
    length: f64,
    rows: BTreeMap<&'a String, f64>,
}

impl<'a> Drawing<'a> {
    fn of(shown: &'a [Event]) -> Self {
        let names: BTreeSet<_> = shown.iter().flat_map(|event| [&event.node, &event.peer]).flatten().collect();
        let rows = names.into_iter().zip(0_u32..).map(|(name, row)| (name, y_of(row))).collect();
        let seconds = |event: Option<&Event>| event.map_or(0.0, |event| event.at.as_secs_f64());
        let begin = seconds(shown.first());
        Self { begin, length: (seconds(shown.last()) - begin).max(0.001), rows }
    }

    fn height(&self) -> f64 {
        y_of(u32::try_from(self.rows.len()).unwrap_or(u32::MAX)) - ROW / 2.0
    }

    fn x_of(&self, at: Duration) -> f64 {
        let part = (at.as_secs_f64() - self.begin).max(0.0) / self.length;
        LEFT + part * (WIDTH - LEFT - RIGHT)
    }

    /// Draws the time axis. A labeled vertical line marks each multiple of a round interval such as 0.5 s or 2 s. The
    /// interval is chosen so that there are at most 17 lines.
    fn times(&self, svg: &mut String) {
        let powers = (-3..=4).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
        let step = powers.into_iter().find(|step| self.length / step <= 16.0).unwrap_or(self.length);
        let (mut at, bottom) = ((self.begin / step).ceil() * step, self.height());
        while at <= self.begin + self.length {
            let x = self.x_of(Duration::from_secs_f64(at));
            let _ = writeln!(
                svg,
                "<line x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\" stroke=\"#eee\"/>\
                 <text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#888\">{at:.decimals$} s</text>",
                bottom + 14.0,
                decimals = if step < 0.01 {
                    3
                } else if step < 1.0 {
                    2
                } else {
                    0
                },
            );
            at += step;
        }
    }

    /// Draws the line of each node, red while it is down and orange while it is paused.
    fn nodes(&self, svg: &mut String, events: &[Event]) {
        for (name, y) in &self.rows {
            let (name, end, base) = (escape(name), WIDTH - RIGHT, y + 4.0);
            let _ = writeln!(svg, "<text x=\"8\" y=\"{base}\">{name}</text>");
            let _ = writeln!(svg, "<line x1=\"{LEFT}\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\" stroke=\"#bbb\"/>");
        }
        let mut since = BTreeMap::new();
        let mut bar = |node: &String, start: Duration, end: f64, colour: &str| {
            let (Some(y), start) = (self.rows.get(node), self.x_of(start)) else { return };
            if end > start {
                let _ = writeln!(
                    svg,
                    "<line x1=\"{start:.1}\" y1=\"{y}\" x2=\"{end:.1}\" y2=\"{y}\" stroke=\"{colour}\" \
                     stroke-width=\"7\" stroke-opacity=\"0.35\"/>"
                );
            }
        };
        for event in events {
            let Some(node) = &event.node else { continue };
            let colour = match event.kind {
                EventKind::Crash => Some("#c22"),
                EventKind::Pause => Some("#e80"),
                EventKind::Start | EventKind::Resume => None,
                _ => continue,
            };
            if let Some((start, before)) = since.remove(node) {
                bar(node, start, self.x_of(event.at), before);
            }
            if let Some(colour) = colour {
                since.insert(node, (event.at, colour));
            }
        }
        since.into_iter().for_each(|(node, (start, colour))| bar(node, start, WIDTH - RIGHT, colour));
    }

    fn events(&self, svg: &mut String, shown: &[Event]) {
        let mut written = BTreeMap::<_, VecDeque<(f64, u64)>>::new();
        let labels = shown.iter().filter(|event| event.kind == EventKind::Fault).count() <= LABELLED;
        let mut label = 0_u32;
        for event in shown {
            let (x, y) = (self.x_of(event.at), event.node.as_ref().map_or(TOP, |node| self.rows[node]));
            let title = escape(&event.to_string());
            match (event.kind, &event.node, &event.peer) {
                (EventKind::Write, Some(node), Some(_)) => {
                    written.entry((event.connection, node)).or_default().push_back((x, event.bytes));
                }
                (EventKind::Read, Some(_), Some(peer)) => {
                    let way = written.entry((event.connection, peer)).or_default();
                    let Some(from) = take(way, event.bytes) else { continue };
                    let above = self.rows[peer];
                    let _ = writeln!(
                        svg,
                        "<line x1=\"{from:.1}\" y1=\"{above}\" x2=\"{x:.1}\" y2=\"{y}\" stroke=\"#36c\">\
                         <title>{title}</title></line>"
                    );
                }
                (kind, ..) => {
                    let colour = colour_of(kind);
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"><title>{title}</title></circle>"
                    );
                    if kind == EventKind::Fault && labels {
                        self.label(svg, x, label, &event.text);
                        label += 1;
                    }
                }
            }
        }
    }

    /// Draws the description of a fault above its dot, in one of several text lines and on the side with more space.
    fn label(&self, svg: &mut String, x: f64, number: u32, text: &str) {
        let y = 16.0 + 14.0 * f64::from(number % LINES);
        let anchor = if x > WIDTH * 0.6 { "end" } else { "start" };
        let text = escape(text);
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.1}\" y1=\"{y}\" x2=\"{x:.1}\" y2=\"{TOP}\" stroke=\"#fbb\"/>\
             <text x=\"{x:.1}\" y=\"{y}\" text-anchor=\"{anchor}\" fill=\"#c22\">{text}</text>"
        );
    }

    fn legend(&self, svg: &mut String) {
        let y = self.height() + 18.0;
        let _ = writeln!(
            svg,
            "<text x=\"{LEFT}\" y=\"{}\" fill=\"#888\">arrows: bytes from their write to their read; dots: faults, \
             crashes, resets and refusals (red), notes (green), occasions (violet), others (grey); lines of nodes: down \
             (red), standing still (orange)</text>",
            y + 14.0
        );
    }
}

fn colour_of(kind: EventKind) -> &'static str {
    match kind {
        EventKind::Crash | EventKind::Reset | EventKind::Fault | EventKind::Refuse => "#c22",
        EventKind::Note => "#282",
        EventKind::Occasion => "#82c",
        _ => "#666",
    }
}

fn y_of(row: u32) -> f64 {
    TOP + 40.0 + f64::from(row) * ROW
}

/// Removes read bytes from the queue of written bytes. Returns the horizontal position at which the first of them was
/// written.
fn take(way: &mut VecDeque<(f64, u64)>, mut bytes: u64) -> Option<f64> {
    let from = way.front()?.0;
    while let Some((_, left)) = way.front_mut() {
        if *left > bytes {
            *left -= bytes;
            break;
        }
        bytes -= *left;
        way.pop_front();
    }
    Some(from)
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drawing_shows_nodes_and_bytes() {
        let event = |millis, kind, node: &str, peer: &str, bytes| Event {
            at: Duration::from_millis(millis),
            kind,
            node: Some(node.to_owned()),
            peer: Some(peer.to_owned()),
            connection: 1,
            bytes,
            text: String::new(),
        };
        let sent = [
            event(1, EventKind::Write, "a<b", "c", 10),
            event(5, EventKind::Read, "c", "a<b", 4),
            event(6, EventKind::Read, "c", "a<b", 6),
        ];
        let svg = draw(&sent);
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"), "names should be escaped");
        assert_eq!(svg.matches("#36c").count(), 2);
        assert_eq!(svg.matches("#bbb").count(), 2);
        let nothing = |kind, millis| event(millis, kind, "a<b", "c", 0);
        let svg = draw(&[nothing(EventKind::Crash, 1), nothing(EventKind::Start, 3), nothing(EventKind::Pause, 4)]);
        assert_eq!(
            svg.matches("stroke-width").count(),
            1,
            "node should be drawn as down once, and as paused at the end"
        );
        assert!(draw(&[]).ends_with("</svg>\n"));
    }
}
