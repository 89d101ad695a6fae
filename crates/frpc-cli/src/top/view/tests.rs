use super::*;
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use frpc_reflection::introspection_v1::{
    Close, CloseCount, CodeCount, Figures, Hello, Method, ServerConnections, WatchReply,
};
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

fn connection(number: u64, peer: &str, calls: u64, queued: u64) -> Connection {
    let peer = peer.to_owned();
    Connection { number, peer, calls, queued, kind: Kind::Native.into(), age_ms: 61_000, ..Connection::default() }
}

fn method(name: &str, ok: u64, failed: u64) -> Method {
    let failed = vec![CodeCount { code: 5, count: failed }];
    let figures = Figures { ok, failed, p50_ns: 1500, p99_ns: 2_000_000, max_ns: 3_000_000_000, ..Figures::default() };
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
    let _ = board.key(KeyEvent::new(code, KeyModifiers::NONE));
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
    board.take_detail(Ok(ConnectionReply { calls: vec![call], routed: "\u{202e}".to_owned(), ..Default::default() }));
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
    assert!(text.contains("      8  opened by the client, may send 0 bytes (5 over), window 0, unread 0"), "{text}");
    press(&mut board, KeyCode::Esc);
    assert!(board.wants_detail().is_none());
    press(&mut board, KeyCode::Esc);
    assert_eq!(numbers(&board).len(), 3, "filter should be removed");
    let ends = |board: &mut TopView, code, modifiers| board.key(KeyEvent::new(code, modifiers));
    assert_eq!(ends(&mut board, KeyCode::Char('q'), KeyModifiers::NONE), ControlFlow::Break(()));
    assert_eq!(ends(&mut board, KeyCode::Char('c'), KeyModifiers::CONTROL), ControlFlow::Break(()));
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
    for (millis, text) in [(7, "7ms"), (1250, "1.2s"), (61_000, "1m01"), (3_720_000, "1h02"), (90_000_000, "1d01")] {
        assert_eq!(duration(millis), text);
    }
    for (count, text) in
        [(0, "0"), (1023, "1023"), (1024, "1.0K"), (10 << 10, "10K"), (3 << 19, "1.5M"), (u64::MAX, "16384P")]
    {
        assert_eq!(bytes(count), text);
    }
}
