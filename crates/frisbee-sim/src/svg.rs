//! The time line of a trace as a drawing: a line for each node, an arrow for the bytes that pass between two of them.

use crate::trace::{Event, EventKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// How many events a drawing shows, the last ones: more could not be told apart on a screen.
const SHOWN: usize = 600;

/// The width of a drawing, in pixels.
const WIDTH: f64 = 1600.0;

/// The distance of the lines of two nodes, in pixels.
const ROW: f64 = 70.0;

/// The room for the names of nodes, in pixels.
const LEFT: f64 = 120.0;

/// Draws the last events of a trace.
pub(crate) fn draw(events: &[Event]) -> String {
    let shown = &events[events.len().saturating_sub(SHOWN)..];
    let names: BTreeSet<_> = shown.iter().flat_map(|event| [&event.node, &event.peer]).flatten().collect();
    let rows: BTreeMap<_, _> = names.into_iter().zip(0_u32..).map(|(name, row)| (name, y_of(row))).collect();
    let (first, last) = (shown.first(), shown.last());
    let begin = first.map_or(0.0, |event| event.at.as_secs_f64());
    let length = (last.map_or(0.0, |event| event.at.as_secs_f64()) - begin).max(0.001);
    let x_of = |event: &Event| LEFT + (event.at.as_secs_f64() - begin) / length * (WIDTH - LEFT - 40.0);
    let height = y_of(u32::try_from(rows.len()).unwrap_or(u32::MAX));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    for (name, y) in &rows {
        let (name, end, base) = (escape(name), WIDTH - 40.0, y + 4.0);
        let _ = writeln!(svg, "<text x=\"8\" y=\"{base}\">{name}</text>");
        let _ = writeln!(svg, "<line x1=\"{LEFT}\" y1=\"{y}\" x2=\"{end}\" y2=\"{y}\" stroke=\"#bbb\"/>");
    }
    let mut written = BTreeMap::<_, VecDeque<(f64, u64)>>::new();
    for event in shown {
        let (x, y) = (x_of(event), event.node.as_ref().map_or(20.0, |node| rows[node]));
        let title = escape(&event.to_string());
        match (event.kind, &event.node, &event.peer) {
            (EventKind::Write, Some(node), Some(_)) => {
                written.entry((event.connection, node)).or_default().push_back((x, event.bytes));
            }
            (EventKind::Read, Some(_), Some(peer)) => {
                let way = written.entry((event.connection, peer)).or_default();
                let Some(from) = take(way, event.bytes) else { continue };
                let above = rows[peer];
                let _ = writeln!(
                    svg,
                    "<line x1=\"{from:.1}\" y1=\"{above}\" x2=\"{x:.1}\" y2=\"{y}\" stroke=\"#36c\">\
                     <title>{title}</title></line>"
                );
            }
            (kind, ..) => {
                let colour = match kind {
                    EventKind::Crash | EventKind::Reset | EventKind::Fault | EventKind::Refuse => "#c22",
                    EventKind::Note => "#282",
                    _ => "#666",
                };
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{x:.1}\" cy=\"{y}\" r=\"4\" fill=\"{colour}\"><title>{title}</title></circle>"
                );
            }
        }
    }
    let seconds = format!("{begin:.3} s to {:.3} s", begin + length);
    let _ = writeln!(svg, "<text x=\"{LEFT}\" y=\"{}\">{seconds}</text>\n</svg>", height - 8.0);
    svg
}

fn y_of(row: u32) -> f64 {
    50.0 + f64::from(row) * ROW
}

/// Takes bytes that were read from those that were written; the place of the first of them.
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
    use std::time::Duration;

    #[test]
    fn a_drawing_has_a_line_for_each_node_and_an_arrow_for_bytes_that_arrived() {
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
        assert!(svg.contains("a&lt;b") && !svg.contains("a<b"), "names are escaped");
        assert_eq!(svg.matches("#36c").count(), 2);
        assert_eq!(svg.matches("#bbb").count(), 2);
        assert!(draw(&[]).ends_with("</svg>\n"));
    }
}
