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

/// Renders the services for which the server translates calls, because some peers use another version of the schema.
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
mod tests {
    use super::*;
    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use frpc_reflection::introspection_v1::{
        Close, CloseCount, CodeCount, Figures, Hello, Method, ServerConnections, WatchReply,
    };
    use std::time::{Duration, Instant};

    fn connection(number: u64, peer: &str, calls: u64, queued: u64) -> Connection {
        let peer = peer.to_owned();
        Connection { number, peer, calls, queued, kind: Kind::Native.into(), age_ms: 61_000, ..Connection::default() }
    }

    fn method(name: &str, ok: u64, failed: u64) -> Method {
        let failed = vec![CodeCount { code: 5, count: failed }];
        let figures =
            Figures { ok, failed, p50_ns: 1500, p99_ns: 2_000_000, max_ns: 3_000_000_000, ..Figures::default() };
        Method { name: name.to_owned(), figures: Some(figures), ..Method::default() }
    }

    fn reply(opened: u64) -> WatchReply {
        let server = Server {
            name: "shop".to_owned(),
            opened,
            open: 3,
            memory_max: 256 << 20,
            memory_held: 3 << 19,
            closes: vec![CloseCount { kind: "closed_by_peer".to_owned(), count: 7 }],
            last_closes: vec![Close { reason: "gone\u{1b}[2J".to_owned(), age_ms: 1200, ..Close::default() }],
            workers: vec![Worker { tasks: 4, ready: 1, polls: opened * 10, ..Worker::default() }],
            methods: vec![
                method("shop.Shop/Browse", 10, 0),
                method("acme.warehouse.v1.warehouse.Warehouse/Buy", opened * 100 - opened / 3, opened / 3),
                Method { name: "shop.Shop/Other".to_owned(), ..Method::default() },
            ],
            ..Server::default()
        };
        let connections = vec![
            connection(1, "10.0.0.1:1000", 1, 70_000),
            connection(2, "10.0.0.2:2000", 9, 0),
            connection(3, "\u{1b}[31m\u{202e}evil\n", 3, 12),
        ];
        WatchReply { servers: vec![ServerConnections { server: Some(server), connections }] }
    }

    fn board() -> TopView {
        let (mut board, now) = (TopView::new(Column::Calls, None), Instant::now());
        board.take(reply(10), now);
        board.take(reply(30), now + Duration::from_secs(2));
        board
    }

    fn drawn(board: &TopView, width: usize, height: usize) -> Vec<String> {
        let lines = lines(board, width, height);
        assert_eq!(lines.len(), height);
        lines.into_iter().map(|line| line.text.trim_end().to_owned()).collect()
    }

    fn press(board: &mut TopView, code: KeyCode) {
        board.key(KeyEvent::new(code, KeyModifiers::NONE));
    }

    fn numbers(board: &TopView) -> Vec<u64> {
        board.rows().iter().map(|row| row.number).collect()
    }

    #[test]
    fn view_fits_80_columns_and_24_lines() {
        let lines = drawn(&board(), 80, 24);
        assert_eq!(lines[0], "shop: 3 open, 10.0 opened/s, memory 1.5M of 256M, 0 refused (0.0/s)");
        assert_eq!(lines[1], "1 workers, 4 tasks, 1 ready, 100.0 turns/s, 13 pending calls");
        assert_eq!(lines[2], "calls: 1000.0/s, 3.5 errors/s; 3010 have ended, 10 of them failed");
        assert_eq!(lines[3], "closed: closed_by_peer 7");
        assert_eq!(lines[5], "number  peer              kind     age    active↓ oldest streams queued  memory");
        assert_eq!(lines[6], "2       10.0.0.2:2000     native   1m01   9       0ms    0       0       0");
        assert!(
            lines[23].starts_with("q quit  m methods  enter look  < > sort  r reverse  / filter  p pause"),
            "{lines:?}"
        );
    }

    /// Regression test: the port was cut off from the address of a peer.
    #[test]
    fn narrow_screen_keeps_ports_of_peers() {
        let lines = drawn(&board(), 70, 24);
        assert!(lines[6].starts_with("2       …2:2000 native "), "{lines:?}");
    }

    /// Regression test: a character of two columns was counted as one, which shifted the cells after it.
    #[test]
    fn wide_characters_take_two_table_columns() {
        let mut board = board();
        let server = Server {
            methods: vec![method("商店.商店/浏览浏览浏览浏览浏览浏览", 5, 0), method("shop.Shop/Browse", 3, 0)],
            ..Server::default()
        };
        let connections = vec![connection(1, "客户.例子.中国:1000", 1, 0), connection(2, "10.0.0.2:2000", 9, 0)];
        let reply = WatchReply { servers: vec![ServerConnections { server: Some(server), connections }] };
        board.take(reply, Instant::now());
        let expect_aligned = |lines: &[String], mark: &str| {
            let places: Vec<usize> = lines.iter().filter_map(|line| Some(columns(&line[..line.find(mark)?]))).collect();
            assert!(places.len() == 2 && places[0] == places[1], "columns {places:?} should be aligned in {lines:?}");
        };
        expect_aligned(&drawn(&board, 80, 24), "native");
        expect_aligned(&plain(&board).lines().map(str::to_owned).collect::<Vec<_>>(), "native");
        press(&mut board, KeyCode::Char('m'));
        expect_aligned(&drawn(&board, 80, 24), "1.5µs");
        let shortened = drawn(&board, 80, 24).into_iter().find(|line| line.starts_with('…'));
        assert!(
            shortened.is_some_and(|line| line.starts_with("…店/浏览浏览浏览浏览浏览浏览")),
            "end of the long name should be shown"
        );
        assert!(lines(&board, 80, 24).iter().all(|line| columns(&line.text) == 80));
    }

    #[test]
    fn methods_are_sorted_filtered_and_shortened() {
        let mut board = board();
        press(&mut board, KeyCode::Char('m'));
        let lines = drawn(&board, 80, 24);
        assert_eq!(lines[5], "method                       calls/s↓  errors/s  p50    p99    max    ended");
        assert_eq!(lines[6], "….v1.warehouse.Warehouse/Buy 1000.0    3.5       1.5µs  2.0ms  3.0s   3000");
        assert_eq!(lines[7], "shop.Shop/Browse             0.0       0.0       1.5µs  2.0ms  3.0s   10");
        assert_eq!(lines[8], "", "table should contain only two methods");
        assert!(lines[23].starts_with("q quit  m connections  < > sort"), "{lines:?}");
        let names = |board: &TopView| board.methods().iter().map(|row| row.name.len()).collect::<Vec<_>>();
        press(&mut board, KeyCode::Char('r'));
        assert_eq!(names(&board), [16, 41]);
        press(&mut board, KeyCode::Down);
        press(&mut board, KeyCode::Char('r'));
        assert_eq!(board.method_mark(&board.methods()), 0, "mark should stay with its method");
        while board.sort != Column::Method {
            press(&mut board, KeyCode::Char('<'));
        }
        board.filter = "Browse".to_owned();
        assert_eq!(names(&board), [16]);
        let text = plain(&board);
        assert!(text.ends_with("shop.Shop/Browse  0.0      0.0       1.5µs  2.0ms  3.0s  10"), "{text}");
        press(&mut board, KeyCode::Enter);
        assert!(board.wants_detail().is_none());
        board.filter.clear();
        press(&mut board, KeyCode::Char('m'));
        assert_eq!((board.sort, numbers(&board)), (Column::Calls, vec![2, 3, 1]));
    }

    #[test]
    fn server_text_is_escaped_for_terminal() {
        let mut board = board();
        let mut text = drawn(&board, 200, 30).join("\n");
        assert!(text.contains("gone\\u{1b}[2J") && text.contains("\\u{1b}[31m\\u{202e}evil"), "{text}");
        board.detail = Some((3, Err("\u{9b}2J".to_owned())));
        text += &drawn(&board, 200, 30).join("\n");
        let call = Call { method: "\u{1b}]0;x\u{7}".to_owned(), ..Call::default() };
        board.take_detail(Ok(ConnectionReply {
            calls: vec![call],
            routed: "\u{202e}".to_owned(),
            ..Default::default()
        }));
        text += &drawn(&board, 200, 30).join("\n");
        text += &plain(&board);
        board.take(
            WatchReply {
                servers: vec![ServerConnections {
                    server: Some(Server { methods: vec![method("\u{1b}c\u{202e}", 1, 1)], ..Server::default() }),
                    ..ServerConnections::default()
                }],
            },
            Instant::now(),
        );
        press(&mut board, KeyCode::Char('m'));
        text += &drawn(&board, 200, 30).join("\n");
        text += &plain(&board);
        assert!(text.contains("\\u{1b}c"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}']), "{text:?}");
    }

    #[test]
    fn overflowing_figures_saturate_when_drawn() {
        let most = u64::MAX;
        let worker = Worker { tasks: most, ready: most, polls: most, ..Worker::default() };
        let figures = Figures { ok: most, p50_ns: most, p99_ns: most, max_ns: most, ..Figures::default() };
        let figures = Some(Figures { failed: vec![CodeCount { code: 2, count: most }; 2], ..figures });
        let method = Method { name: "a.B/C".to_owned(), figures, ..Method::default() };
        let counts =
            Server { open: most, opened: most, shed: most, memory_held: most, memory_max: most, ..Server::default() };
        let server = Some(Server { workers: vec![worker; 2], methods: vec![method; 2], ..counts });
        let row = Connection {
            age_ms: most,
            oldest_call_ms: most,
            streams: most,
            queued: most,
            memory: most,
            ..connection(most, "", most, most)
        };
        let connections = vec![row; 2];
        let reply = WatchReply { servers: vec![ServerConnections { server, connections }] };
        let (mut board, now) = (TopView::new(Column::Calls, None), Instant::now());
        board.take(reply.clone(), now);
        board.take(reply, now + Duration::from_secs(1));
        let lines = drawn(&board, 200, 24);
        assert!(lines[1].starts_with(&format!("2 workers, {most} tasks, {most} ready")), "{lines:?}");
        press(&mut board, KeyCode::Char('m'));
        drawn(&board, 200, 24);
    }

    #[test]
    fn marked_row_is_visible_on_small_screen() {
        let mut board = board();
        let shown = |board: &TopView, height| {
            let mut lines = lines(board, 80, height);
            lines.pop();
            let marked = lines
                .into_iter()
                .find(|line| line.attribute == Attribute::Reverse)
                .expect("one row of the table should be highlighted");
            assert_eq!(marked.text.len(), 80);
            marked.text[..1].to_owned()
        };
        assert_eq!(shown(&board, 5 + 3), "2");
        press(&mut board, KeyCode::End);
        assert_eq!(shown(&board, 5 + 3), "1");
        assert_eq!(shown(&board, 24), "1");
    }

    #[test]
    fn drawing_any_terminal_size_never_panics() {
        let mut board = board();
        for round in 0..3 {
            if round == 1 {
                press(&mut board, KeyCode::Char('m'));
            }
            if round == 2 {
                press(&mut board, KeyCode::Char('m'));
                press(&mut board, KeyCode::Enter);
                let hello = Some(Hello { version: 1, ..Hello::default() });
                let (calls, streams) = (vec![Call::default(); 50], vec![Stream::default(); 50]);
                board.take_detail(Ok(ConnectionReply { hello, calls, streams, ..ConnectionReply::default() }));
            }
            for (width, height) in [(1, 1), (2, 5), (10, 3), (79, 23), (80, 24), (300, 100)] {
                drawn(&board, width, height);
            }
        }
    }

    #[test]
    fn keys_sort_filter_and_open_marked_connection() {
        let mut board = board();
        assert_eq!(numbers(&board), [2, 3, 1]);
        press(&mut board, KeyCode::Char('r'));
        assert_eq!(numbers(&board), [1, 3, 2]);
        while board.sort != Column::Queued {
            press(&mut board, KeyCode::Char('>'));
        }
        assert_eq!(numbers(&board), [2, 3, 1]);
        press(&mut board, KeyCode::Char('/'));
        "0.0q".chars().for_each(|letter| press(&mut board, KeyCode::Char(letter)));
        press(&mut board, KeyCode::Backspace);
        assert!(drawn(&board, 80, 24)[23].starts_with("filter: 0.0_"));
        press(&mut board, KeyCode::Enter);
        assert_eq!(numbers(&board), [2, 1]);
        press(&mut board, KeyCode::Down);
        press(&mut board, KeyCode::Down);
        press(&mut board, KeyCode::Enter);
        assert_eq!(board.wants_detail(), Some(("shop".to_owned(), 1)));
        let call = Call { id: 7, method: "a.B/C".to_owned(), age_ms: 1500, time_left_ms: 500, has_deadline: true };
        let stream = Stream { id: 8, credit: -5, ..Stream::default() };
        let connection = Some(connection(1, "10.0.0.1:1000", 1, 0));
        let detail = ConnectionReply { connection, calls: vec![call], streams: vec![stream], ..Default::default() };
        board.take_detail(Ok(detail));
        let text = drawn(&board, 80, 24).join("\n");
        assert!(text.contains("      7  a.B/C  for 1.5s, 500ms left"), "{text}");
        assert!(
            text.contains("      8  opened by the client, may send 0 bytes (5 over), window 0, unread 0"),
            "{text}"
        );
        press(&mut board, KeyCode::Esc);
        assert!(board.wants_detail().is_none());
        press(&mut board, KeyCode::Esc);
        assert_eq!(numbers(&board).len(), 3, "filter should be removed");
        let ends = |board: &mut TopView, code, modifiers| board.key(KeyEvent::new(code, modifiers));
        assert_eq!(ends(&mut board, KeyCode::Char('q'), KeyModifiers::NONE), super::super::KeyEffect::End);
        assert_eq!(ends(&mut board, KeyCode::Char('c'), KeyModifiers::CONTROL), super::super::KeyEffect::End);
    }

    #[test]
    fn paused_view_is_frozen_and_mark_follows_connection() {
        let mut board = board();
        press(&mut board, KeyCode::Down);
        let marked = |board: &TopView| board.rows()[board.mark(&board.rows())].number;
        assert_eq!(marked(&board), 3);
        press(&mut board, KeyCode::Char('r'));
        press(&mut board, KeyCode::Char('>'));
        assert_eq!(marked(&board), 3);
        press(&mut board, KeyCode::Char('p'));
        board.take(WatchReply::default(), Instant::now());
        assert_eq!(numbers(&board).len(), 3);
        press(&mut board, KeyCode::Char('p'));
        board.take(WatchReply::default(), Instant::now());
        assert!(numbers(&board).is_empty());
        press(&mut board, KeyCode::Enter);
        press(&mut board, KeyCode::Tab);
        assert!(board.wants_detail().is_none());
        drawn(&board, 80, 24);
    }

    #[test]
    fn translated_services_follow_head() {
        let mut board = board();
        let translated = |name: &str| TranslatedService {
            name: name.to_owned(),
            layouts: vec!["00".to_owned()],
            calls: 7,
            skipped_fields: 2,
        };
        let server = Server { translated: vec![translated("shop.Shop"), translated("\u{1b}c")], ..Server::default() };
        let server = Some(server);
        let reply = WatchReply { servers: vec![ServerConnections { server, ..ServerConnections::default() }] };
        board.take(reply, Instant::now());
        let line =
            "translated: shop.Shop 1 layouts, 7 calls, 2 fields skipped; \\u{1b}c 1 layouts, 7 calls, 2 fields skipped";
        assert_eq!(drawn(&board, 120, 24)[5], line);
        assert!(plain(&board).contains(line));
    }

    #[test]
    fn piped_output_is_plain_table() {
        let text = plain(&board());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 9);
        assert_eq!(lines[5], "number  peer                     kind    age   active  oldest  streams  queued  memory");
        assert!(lines[6].starts_with("2       10.0.0.2:2000"), "{text}");
    }

    #[test]
    fn durations_and_bytes_are_short() {
        for (millis, text) in [(7, "7ms"), (1250, "1.2s"), (61_000, "1m01"), (3_720_000, "1h02"), (90_000_000, "1d01")]
        {
            assert_eq!(duration(millis), text);
        }
        for (count, text) in
            [(0, "0"), (1023, "1023"), (1024, "1.0K"), (10 << 10, "10K"), (3 << 19, "1.5M"), (u64::MAX, "16384P")]
        {
            assert_eq!(bytes(count), text);
        }
    }
}
