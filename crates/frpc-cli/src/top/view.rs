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

/// A column of a table: its heading, the sort order that it stands for, if any, and its width on a terminal. The width
/// 0 stands for the rest of the line.
type Heading = (&'static str, Option<Column>, usize);

const CONNECTIONS: [Heading; 9] = [
    ("number", Some(Column::Number), 7),
    ("peer", Some(Column::Peer), 0),
    ("kind", None, 8),
    ("age", Some(Column::Age), 6),
    ("active", Some(Column::Calls), 7),
    ("oldest", Some(Column::Oldest), 6),
    ("streams", Some(Column::Streams), 7),
    ("queued", Some(Column::Queued), 7),
    ("memory", Some(Column::Memory), 7),
];

const METHODS: [Heading; 7] = [
    ("method", Some(Column::Method), 0),
    ("calls/s", Some(Column::Rate), 9),
    ("errors/s", Some(Column::Errors), 9),
    ("p50", Some(Column::P50), 6),
    ("p99", Some(Column::P99), 6),
    ("max", Some(Column::Max), 6),
    ("ended", Some(Column::Ended), 10),
];

/// The table that is shown, with the texts of its cells and the index of its highlighted row.
struct Table {
    headings: &'static [Heading],
    rows: Vec<Vec<String>>,
    mark: usize,
}

impl Table {
    fn of(board: &TopView) -> Self {
        if board.shows_methods() {
            let rows = board.methods();
            let mark = board.method_mark(&rows);
            Self { headings: &METHODS, rows: rows.iter().map(method_cells).collect(), mark }
        } else {
            let rows = board.rows();
            let mark = board.mark(&rows);
            Self { headings: &CONNECTIONS, rows: rows.into_iter().map(connection_cells).collect(), mark }
        }
    }

    /// Renders the headings, and as many rows around the highlighted row as fit. One space separates two columns.
    fn lines(&self, board: &TopView, width: usize, height: usize) -> Vec<ScreenLine> {
        let used: usize = self.headings.iter().map(|(.., width)| width + 1).sum();
        let rest = (width + 1).saturating_sub(used);
        let aligned = |cells: &[String]| {
            let cells = self.headings.iter().zip(cells).map(|((.., width), cell)| match width {
                // Keep the end, such as a port, which distinguishes the connections of one host.
                0 => fit(&methods::short(cell, rest), rest),
                width => fit(cell, *width),
            });
            cells.collect::<Vec<_>>().join(" ")
        };
        let arrow = if board.is_ascending { "↑" } else { "↓" };
        let heading = |(name, column, _): &Heading| match column {
            Some(column) if *column == board.sort => format!("{name}{arrow}"),
            _ => (*name).to_owned(),
        };
        let headings: Vec<_> = self.headings.iter().map(heading).collect();
        let head = ScreenLine { text: aligned(&headings), attribute: Attribute::Bold };
        let hidden = (self.mark + 2).saturating_sub(height);
        let rows = self.rows.iter().enumerate().skip(hidden).map(|(index, cells)| {
            let attribute = if index == self.mark { Attribute::Reverse } else { Attribute::Reset };
            ScreenLine { text: aligned(cells), attribute }
        });
        std::iter::once(head).chain(rows).take(height).collect()
    }
}

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
    let left = height.saturating_sub(lines.len() + 1);
    match &board.detail {
        Some((number, Ok(detail))) => lines.extend(detail_lines(*number, detail).into_iter().map(ScreenLine::from)),
        Some((number, Err(why))) => lines.push(format!("connection {number}: {}", cell(why)).into()),
        None => lines.extend(Table::of(board).lines(board, width, left)),
    }
    lines.resize_with(height.saturating_sub(1), || String::new().into());
    lines.push(ScreenLine { text: foot_line(board), attribute: Attribute::Reverse });
    for line in &mut lines {
        line.text = fit(&line.text, width);
    }
    lines
}

/// Renders the statistics of the whole server.
fn head_lines(board: &TopView) -> Vec<String> {
    let (server, at, of) = board.shown();
    let of_several = if of > 1 { format!(" ({at} of {of})") } else { String::new() };
    let opened = methods::rate(board.rate(|server| server.opened));
    let shed = methods::rate(board.rate(|server| server.shed));
    let memory = format!("{} of {}", bytes(server.memory_held), bytes(server.memory_max));
    let of_workers = |server: &Server, figure: fn(&Worker) -> u64| methods::sum(server.workers.iter().map(figure));
    let (tasks, ready) = (of_workers(&server, |worker| worker.tasks), of_workers(&server, |worker| worker.ready));
    let polls = methods::rate(board.rate(|server| of_workers(server, |worker| worker.polls)));
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

fn connection_cells(row: &Connection) -> Vec<String> {
    vec![
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

fn method_cells(row: &MethodRow<'_>) -> Vec<String> {
    std::iter::once(cell(row.name)).chain(methods::cells(row)).collect()
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
    let table = Table::of(board);
    let headings: Vec<_> = table.headings.iter().map(|(name, ..)| (*name).to_owned()).collect();
    let rows: Vec<_> = std::iter::once(headings).chain(table.rows).collect();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(cell)).max();
    let widths: Vec<_> = (0..table.headings.len()).map(|at| width(at).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, width)| fit(cell, *width)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    let lines: Vec<_> = head_lines(board).into_iter().chain(rows.iter().map(line)).collect();
    lines.join("\n")
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
    const UNITS: [&str; 6] = ["", "K", "M", "G", "T", "P"];
    let power = (count.max(1).ilog2() / 10).min(5);
    let value = count as f64 / 1024_f64.powf(power.into());
    let unit = UNITS.get(power as usize).unwrap_or(&"");
    if power > 0 && value < 10.0 { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
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
