//! Renders the view of `frpc top`, either for the terminal or as plain text for pipes. All text from the server is
//! escaped before it is placed in a cell.

use super::board::{Column, TopView};
use super::methods::{self, MethodRow};
use crate::show::escaped;
use crossterm::style::Attribute;
use frpc_reflection::introspection_v1::{
    Call, Connection, ConnectionReply, Kind, Server, Stream, TranslatedService, Worker,
};
use unicode_width::UnicodeWidthChar as _;

/// Widths of the columns in the table of connections. The column of the peer gets the remaining width.
const WIDTHS: [usize; 9] = [7, 0, 8, 6, 7, 6, 7, 7, 7];

/// Index of the column that shows the peer in the table of connections.
const PEER: usize = 1;

/// Headings of the connections table, each with the column that it represents. `None` if the table cannot be sorted by
/// the column.
const HEADINGS: [(&str, Option<Column>); 9] = [
    ("number", Some(Column::Number)),
    ("peer", Some(Column::Peer)),
    ("kind", None),
    ("age", Some(Column::Age)),
    ("active", Some(Column::Calls)),
    ("oldest", Some(Column::Oldest)),
    ("streams", Some(Column::Streams)),
    ("queued", Some(Column::Queued)),
    ("memory", Some(Column::Memory)),
];

/// Widths of the columns in the table of methods. The column of the name gets the remaining width.
const METHOD_WIDTHS: [usize; 7] = [0, 9, 9, 6, 6, 6, 10];

/// Headings of the methods table, each with the column that it represents.
const METHOD_HEADINGS: [(&str, Column); 7] = [
    ("method", Column::Method),
    ("calls/s", Column::Rate),
    ("errors/s", Column::Errors),
    ("p50", Column::P50),
    ("p99", Column::P99),
    ("max", Column::Max),
    ("ended", Column::Ended),
];

/// A line of the view and its style.
pub(super) struct ScreenLine {
    pub(super) text: String,
    pub(super) attribute: Attribute,
}

impl From<String> for ScreenLine {
    fn from(text: String) -> Self {
        Self { text, attribute: Attribute::Reset }
    }
}

/// Renders the whole view for a terminal with `width` columns and `height` lines.
pub(super) fn lines(board: &TopView, width: usize, height: usize) -> Vec<ScreenLine> {
    let mut lines: Vec<ScreenLine> = head_lines(board).into_iter().map(ScreenLine::from).collect();
    let room = (width, height.saturating_sub(lines.len() + 1));
    match &board.detail {
        Some((number, Ok(detail))) => lines.extend(detail_lines(*number, detail).into_iter().map(ScreenLine::from)),
        Some((number, Err(why))) => lines.push(format!("connection {number}: {}", cell(why)).into()),
        None if board.shows_methods() => lines.extend(methods_table(board, room)),
        None => lines.extend(connections_table(board, room)),
    }
    lines.resize_with(height.saturating_sub(1), || String::new().into());
    lines.push(ScreenLine { text: foot_line(board), attribute: Attribute::Reverse });
    for line in &mut lines {
        line.text = fit(&line.text, width);
    }
    lines
}

/// Renders the table of connections.
fn connections_table(board: &TopView, room: (usize, usize)) -> Vec<ScreenLine> {
    let rows = board.rows();
    let headings = HEADINGS.map(|(name, column)| heading(board, name, column));
    let mark = board.mark(&rows);
    let widths = with_rest(WIDTHS, PEER, room.0);
    let shown = rows.into_iter().map(|row| {
        let mut cells = row_cells(row);
        // Keep the port, which distinguishes the connections of one host.
        cells[PEER] = methods::short(&cells[PEER], widths[PEER]);
        cells
    });
    table(headings, widths, shown, mark, room.1)
}

/// Renders the table of methods.
fn methods_table(board: &TopView, room: (usize, usize)) -> Vec<ScreenLine> {
    let rows = board.methods();
    let headings = METHOD_HEADINGS.map(|(name, column)| heading(board, name, Some(column)));
    let widths = with_rest(METHOD_WIDTHS, 0, room.0);
    let shown = rows.iter().map(|row| {
        let [rate, errors, p50, p99, max, ended] = methods::cells(row);
        [methods::short(&cell(row.name), widths[0]), rate, errors, p50, p99, max, ended]
    });
    table(headings, widths, shown, board.method_mark(&rows), room.1)
}

/// Assigns the remaining width to the column at index `at`, and returns the widths of all columns. One space separates
/// two columns.
fn with_rest<const COLUMNS: usize>(mut widths: [usize; COLUMNS], at: usize, width: usize) -> [usize; COLUMNS] {
    let others = widths.iter().sum::<usize>() + COLUMNS - 1;
    widths[at] = width.saturating_sub(others);
    widths
}

/// Renders the headings of a table, and as many rows around the highlighted row as fit.
fn table<const COLUMNS: usize>(
    headings: [String; COLUMNS],
    widths: [usize; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
    mark: usize,
    height: usize,
) -> Vec<ScreenLine> {
    let aligned = |cells: [String; COLUMNS]| {
        let cells = cells.iter().zip(widths).map(|(cell, width)| fit(cell, width));
        cells.collect::<Vec<_>>().join(" ")
    };
    let head = ScreenLine { text: aligned(headings), attribute: Attribute::Bold };
    let hidden = (mark + 2).saturating_sub(height);
    let rows = rows.enumerate().skip(hidden).map(|(index, cells)| {
        let attribute = if index == mark { Attribute::Reverse } else { Attribute::Reset };
        ScreenLine { text: aligned(cells), attribute }
    });
    std::iter::once(head).chain(rows).take(height).collect()
}

fn heading(board: &TopView, name: &str, column: Option<Column>) -> String {
    let mark = if board.is_ascending { "↑" } else { "↓" };
    if column == Some(board.sort) { format!("{name}{mark}") } else { name.to_owned() }
}

/// Renders the statistics of the whole server.
fn head_lines(board: &TopView) -> Vec<String> {
    let (server, at, of) = board.shown();
    let of_several = if of > 1 { format!(" ({at} of {of})") } else { String::new() };
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.1}"));
    let opened = rate(board.rate(|server| server.opened));
    let shed = rate(board.rate(|server| server.shed));
    let memory = format!("{} of {}", bytes(server.memory_held), bytes(server.memory_max));
    let of_workers = |server: &Server, figure: fn(&Worker) -> u64| methods::sum(server.workers.iter().map(figure));
    let (tasks, ready) = (of_workers(&server, |worker| worker.tasks), of_workers(&server, |worker| worker.ready));
    let polls = rate(board.rate(|server| of_workers(server, |worker| worker.polls)));
    let closes = server.closes.iter().map(|close| format!("{} {}", cell(&close.kind), close.count));
    let closes = closes.collect::<Vec<_>>().join(", ");
    let calls = methods::sum(board.rows().iter().map(|row| row.calls));
    let mut lines = vec![
        format!(
            "{}{of_several}: {} open, {opened} opened/s, memory {memory}, {} refused ({shed}/s)",
            cell(&server.name),
            server.open,
            server.shed
        ),
        match server.workers.len() {
            0 => format!("no workers of its own, {calls} pending calls"),
            count => format!("{count} workers, {tasks} tasks, {ready} ready, {polls} turns/s, {calls} pending calls"),
        },
        methods::total(&board.all_methods()),
        format!("closed: {}", if closes.is_empty() { "none yet" } else { &closes }),
        last_close(&server),
    ];
    lines.extend(translated(&server));
    lines
}

/// Renders the services with calls that the server translates, because some peers use another version of the schema.
/// Returns `None` if there are no such services.
fn translated(server: &Server) -> Option<String> {
    let service = |of: &TranslatedService| {
        let (name, layouts) = (cell(&of.name), of.layouts.len());
        format!("{name} {layouts} layouts, {} calls, {} fields skipped", of.calls, of.skipped_fields)
    };
    let services: Vec<_> = server.translated.iter().map(service).collect();
    (!services.is_empty()).then(|| format!("translated: {}", services.join("; ")))
}

fn last_close(server: &Server) -> String {
    let Some(close) = server.last_closes.first() else { return String::new() };
    let peer = if close.peer.is_empty() { "no address" } else { &close.peer };
    format!("last: {} ago, {}, {}", duration(close.age_ms), cell(peer), cell(&close.reason))
}

fn foot_line(board: &TopView) -> String {
    if board.is_typing {
        return format!("filter: {}_", cell(&board.filter));
    }
    let state = if board.is_paused { "PAUSED  " } else { "" };
    let filter = if board.filter.is_empty() { String::new() } else { format!("  filter: {}", cell(&board.filter)) };
    let other = if board.shows_methods() { "m connections" } else { "m methods  enter look" };
    let next = if board.shown().2 > 1 { "  tab next" } else { "" };
    format!("{state}q quit  {other}  < > sort  r reverse  / filter  p pause{next}{filter}")
}

fn row_cells(row: &Connection) -> [String; 9] {
    [
        row.number.to_string(),
        cell(if row.peer.is_empty() { "-" } else { &row.peer }),
        kind(row).to_owned(),
        duration(row.age_ms),
        row.calls.to_string(),
        if row.calls == 0 { "-".to_owned() } else { duration(row.oldest_call_ms) },
        row.streams.to_string(),
        bytes(row.queued),
        bytes(row.memory),
    ]
}

fn kind(row: &Connection) -> &'static str {
    match row.kind() {
        _ if row.is_going_away => "leaving",
        Kind::Unknown => "new",
        Kind::Compat => "compat",
        Kind::Native => "native",
        Kind::OtherProtocol => "other",
    }
}

fn detail_lines(number: u64, detail: &ConnectionReply) -> Vec<String> {
    let mut lines = Vec::new();
    let connection = detail.connection.clone().unwrap_or_default();
    let addresses = format!("{} to {}", cell(&connection.peer), cell(&connection.local));
    lines.push(format!(
        "connection {number}, {addresses}, {}, open for {}",
        kind(&connection),
        duration(connection.age_ms)
    ));
    lines.push(match &detail.hello {
        Some(hello) => format!(
            "HELLO version {}: bodies of {}, {} streams, {} calls, credit {}",
            hello.version,
            bytes(hello.body_max.into()),
            hello.streams_max,
            hello.calls_max,
            bytes(hello.stream_credit.into())
        ),
        None => "no HELLO".to_owned(),
    });
    lines.push(format!("queued {}, memory {}", bytes(connection.queued), bytes(connection.memory)));
    if !detail.routed.is_empty() {
        lines.push(format!("blocked by {}", cell(&detail.routed)));
    }
    lines.push(format!("{} pending calls{}", connection.calls, if detail.calls.is_empty() { "" } else { ":" }));
    lines.extend(detail.calls.iter().map(call));
    lines.push(format!("{} streams{}", connection.streams, if detail.streams.is_empty() { "" } else { ":" }));
    lines.extend(detail.streams.iter().map(stream));
    lines
}

fn call(call: &Call) -> String {
    let left = if call.has_deadline { format!(", {} left", duration(call.time_left_ms)) } else { String::new() };
    format!("  {:>5}  {}  for {}{left}", call.id, cell(&call.method), duration(call.age_ms))
}

fn stream(stream: &Stream) -> String {
    let credit = match stream.credit {
        _ if stream.is_unlimited => "without limit".to_owned(),
        credit @ 0.. => format!("{credit} bytes"),
        // The credit may be negative, because a message may exceed it.
        beyond => format!("0 bytes ({} over)", beyond.unsigned_abs()),
    };
    let opener = if stream.is_opened_here { "the server" } else { "the client" };
    format!(
        "  {:>5}  opened by {opener}, may send {credit}, window {}, unread {}",
        stream.id,
        bytes(stream.window),
        bytes(stream.unread)
    )
}

/// Renders the view as plain text, for pipes.
pub(super) fn plain(board: &TopView) -> String {
    let (headings, rows): (Vec<String>, Vec<Vec<String>>) = if board.shows_methods() {
        let cells = |row: MethodRow<'_>| std::iter::once(cell(row.name)).chain(methods::cells(&row)).collect();
        let rows = board.methods().into_iter().map(cells).collect();
        (METHOD_HEADINGS.iter().map(|(name, _)| (*name).to_owned()).collect(), rows)
    } else {
        let rows = board.rows().into_iter().map(|row| row_cells(row).to_vec()).collect();
        (HEADINGS.iter().map(|(name, _)| (*name).to_owned()).collect(), rows)
    };
    let mut out = head_lines(board).join("\n");
    let mut widths = vec![0; headings.len()];
    for row in rows.iter().chain([&headings]) {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    for row in [&headings].into_iter().chain(&rows) {
        let mut line = String::new();
        for (cell, &width) in row.iter().zip(&widths) {
            line.push_str(&fit(cell, width));
            line.push_str("  ");
        }
        out.push('\n');
        out.push_str(line.trim_end());
    }
    out
}

/// Returns the number of terminal columns that a text occupies. Some characters occupy two columns.
pub(super) fn columns(text: &str) -> usize {
    text.chars().map(|letter| letter.width().unwrap_or(0)).sum()
}

/// Truncates or pads a text to `width` terminal columns.
fn fit(text: &str, width: usize) -> String {
    let (mut fitted, mut left) = (String::with_capacity(width), width);
    for letter in text.chars() {
        let columns = letter.width().unwrap_or(0);
        if columns > left {
            break;
        }
        left -= columns;
        fitted.push(letter);
    }
    fitted.extend(std::iter::repeat_n(' ', left));
    fitted
}

/// Escapes a text that comes from the server, so that it fits into a cell of one line.
fn cell(text: &str) -> String {
    escaped(text).replace(['\n', '\t'], " ")
}

/// Formats a number of bytes in about five characters.
fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["K", "M", "G", "T", "P"];
    if count < 1024 {
        return count.to_string();
    }
    let (mut value, mut unit) = (count as f64, "");
    for next in UNITS {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if value < 10.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}

/// Formats a duration with its two largest units.
fn duration(millis: u64) -> String {
    let seconds = millis / 1000;
    match seconds {
        0 => format!("{millis}ms"),
        1..60 => format!("{seconds}.{}s", millis % 1000 / 100),
        60..3600 => format!("{}m{:02}", seconds / 60, seconds % 60),
        3600..86_400 => format!("{}h{:02}", seconds / 3600, seconds % 3600 / 60),
        _ => format!("{}d{:02}", seconds / 86_400, seconds % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests;
