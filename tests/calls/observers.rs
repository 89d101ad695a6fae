//! Tests of what counters and observers at either end report about calls.

use frisbee_tests::extension::{Chunk, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::observed::{Service, State, UNTIL_RELEASED};
use frisbee_tests::raw::encoded;
use frisbee_tests::until;
use frpc::observe::{CallEnd, CallSide, ObservedMethod, Observer, Token, TraceContext};
use frpc::{Acceptor, Channel, ChannelBuilder, Code, Request, Server, Status, iter};
use frpc_telemetry::{Counters, Snapshot};
use futures_util::StreamExt as _;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::task::AbortHandle;

/// An in-memory server whose connections can be cut.
#[derive(Clone)]
struct Cuttable {
    acceptor: Acceptor,
    connection: Arc<Mutex<Option<AbortHandle>>>,
}

impl Cuttable {
    fn new(acceptor: Acceptor) -> Self {
        Self { acceptor, connection: Arc::default() }
    }

    fn connect(&self) -> DuplexStream {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let acceptor = self.acceptor.clone();
        let task = tokio::spawn(async move { acceptor.serve_connection(there).await });
        *self.connection.lock().unwrap() = Some(task.abort_handle());
        here
    }

    fn cut(&self) {
        self.connection.lock().unwrap().take().expect("connection should be established").abort();
    }

    async fn client(&self, builder: ChannelBuilder) -> ExtensionClient {
        let server = self.clone();
        let builder = builder.calls::<ExtensionClient>();
        let channel = builder.connect_with_connector(move || {
            let connected = server.connect();
            async move { io::Result::Ok(connected) }
        });
        ExtensionClient::new(channel.await.expect("server should accept the connection"))
    }
}

/// Returns a server counted at both ends, its state, and a client.
async fn counted(counters: &Counters) -> (Cuttable, Arc<State>, ExtensionClient) {
    let service = Service::default();
    let state = service.state.clone();
    let server = Server::builder().batch_observer(counters.clone()).add_service(ExtensionServer::new(service));
    let server = Cuttable::new(server.build().expect("settings should be valid"));
    let client = server.client(Channel::builder().batch_observer(counters.clone())).await;
    (server, state, client)
}

/// Returns the number of calls by method and code.
fn sums(snapshot: &Snapshot, side: CallSide) -> BTreeMap<(&'static str, u8), u64> {
    let calls = snapshot.calls.iter().filter(|calls| calls.side == side);
    calls.map(|calls| ((calls.method, calls.code as u8), calls.durations.count())).collect()
}

fn total(snapshot: &Snapshot, side: CallSide, method: &str) -> u64 {
    sums(snapshot, side).into_iter().filter(|((name, _), _)| *name == method).map(|(_, count)| count).sum()
}

fn time(millis: u64) -> Time {
    Time { millis }
}

fn failing(code: Code) -> Failure {
    Failure { code: code as i32, ..Failure::default() }
}

#[tokio::test]
async fn both_ends_count_call_kinds_by_code() {
    let counters = Counters::new();
    let (_server, _state, client) = counted(&counters).await;
    for _ in 0..3 {
        client.echo(Maybe::default()).await.expect("call should succeed");
    }
    client.fail(failing(Code::NotFound)).await.expect_err("call should fail");
    client.wait(time(1)).await.expect("call should succeed");
    let mut late = Request::new(time(UNTIL_RELEASED));
    late.set_timeout(Duration::from_millis(20));
    assert_eq!(client.wait(late).await.expect_err("call should not be released").code(), Code::DeadlineExceeded);
    let mut chunks = client.flood(time(5)).await.expect("stream should open").into_inner();
    while chunks.message().await.expect("stream should not fail").is_some() {}
    drop(client.flood(time(0)).await.expect("stream should open"));
    client.sink(iter([])).await.expect("call should succeed");
    let expected = BTreeMap::from([
        (("Echo", Code::Ok as u8), 3),
        (("Fail", Code::NotFound as u8), 1),
        (("Wait", Code::Ok as u8), 1),
        (("Wait", Code::DeadlineExceeded as u8), 1),
        (("Flood", Code::Ok as u8), 1),
        (("Flood", Code::Cancelled as u8), 1),
        (("Sink", Code::Ok as u8), 1),
    ]);
    assert_eq!(sums(&counters.snapshot(), CallSide::Client), expected);
    // The server learns of the client's deadline by a CANCEL or by its own clock.
    let whole = |snapshot: &Snapshot| {
        let mut sums = sums(snapshot, CallSide::Server);
        let cancelled = sums.remove(&("Wait", Code::Cancelled as u8));
        sums.entry(("Wait", Code::DeadlineExceeded as u8)).or_insert(cancelled.unwrap_or(0));
        sums
    };
    until("the server has noticed the ends", || whole(&counters.snapshot()) == expected).await;
}

/// Regression test: a server stream was counted as OK if its client disconnected or ended its direction before the
/// request.
#[tokio::test]
async fn server_stream_without_request_counts_as_failed() {
    const FLOOD: &[u8] = &[9, 15];
    let counters = Counters::new();
    let (server, _state, _client) = counted(&counters).await;
    let channel = Channel::connect_io(server.connect()).await.expect("connection in memory should be accepted");
    let connection = channel.connection().expect("channel should be connected");
    let open = || async { connection.open_stream(&FLOOD.into()).await.expect("stream should open") };
    open().await.close();
    let mut ended = open().await;
    ended.end();
    while ended.recv().await.is_some() {}
    let expected = BTreeMap::from([(("Flood", Code::Cancelled as u8), 1), (("Flood", Code::InvalidArgument as u8), 1)]);
    until("the server has noticed the ends", || sums(&counters.snapshot(), CallSide::Server) == expected).await;
}

/// Regression test: each further request woke the handler, although thousands may wait for space.
#[tokio::test]
async fn second_server_stream_request_is_rejected() {
    const FLOOD: &[u8] = &[9, 15];
    let counters = Counters::new();
    let (server, _state, _client) = counted(&counters).await;
    let channel = Channel::connect_io(server.connect()).await.expect("connection in memory should be accepted");
    let connection = channel.connection().expect("channel should be connected");
    let mut stream = connection.open_stream(&FLOOD.into()).await.expect("stream should open");
    for _ in 0..2 {
        stream.send(&encoded(&time(0)).into()).await.expect("message should be sent");
    }
    while stream.recv().await.is_some() {}
    let expected = BTreeMap::from([(("Flood", Code::InvalidArgument as u8), 1)]);
    until("the server has noticed the error", || sums(&counters.snapshot(), CallSide::Server) == expected).await;
}

/// One in ten calls is cancelled. The connection is lost during one in a hundred calls, and those that may be repeated
/// are.
#[tokio::test(start_paused = true)]
async fn histograms_match_calls_despite_cancels_and_retries() {
    const CALLS: u64 = 3_000;
    let counters = Counters::new();
    let (server, state, client) = counted(&counters).await;
    let mut made = BTreeMap::new();
    let mut count = |method, code: Code| *made.entry((method, code as u8)).or_insert(0) += 1;
    let code = |reply: Result<frpc::Response<Time>, Status>| reply.map_or_else(|status| status.code(), |_| Code::Ok);
    for number in 0..CALLS {
        if number % 10 == 3 {
            // The future of the call is dropped while it is pending.
            let waits = client.wait(time(UNTIL_RELEASED));
            tokio::time::timeout(Duration::from_millis(5), waits).await.expect_err("future should stay pending");
            count("Wait", Code::Cancelled);
        } else if number % 100 == 50 {
            let disconnected = tokio::spawn({
                let client = client.clone();
                async move { client.wait(time(UNTIL_RELEASED)).await }
            });
            let again = tokio::spawn({
                let client = client.clone();
                async move { client.get(time(1_000)).await }
            });
            let (gets, runs) = (state.gets.load(Ordering::SeqCst), state.waiting.load(Ordering::SeqCst));
            until("both calls run", || {
                state.gets.load(Ordering::SeqCst) > gets && state.waiting.load(Ordering::SeqCst) > runs
            })
            .await;
            server.cut();
            count("Wait", code(disconnected.await.expect("task should not panic")));
            count("Get", code(again.await.expect("task should not panic")));
        } else {
            count("Get", code(client.get(time(number % 7)).await));
        }
    }
    let snapshot = counters.snapshot();
    assert_eq!(sums(&snapshot, CallSide::Client), made);
    assert_eq!(made.values().sum::<u64>(), CALLS + CALLS / 100, "each call should be counted once");
    let retried: u64 = snapshot.retried.iter().map(|retried| retried.count).sum();
    assert!(retried >= CALLS / 200, "only {retried} attempts were retried");
    assert!(snapshot.retried.iter().all(|retried| (retried.method, retried.code) == ("Get", Code::Unavailable)));
    // The end of an aborted handler may be recorded slightly later.
    let all = || {
        let snapshot = counters.snapshot();
        [total(&snapshot, CallSide::Server, "Get"), total(&snapshot, CallSide::Server, "Wait")]
    };
    let waits = made.iter().filter(|((method, _), _)| *method == "Wait").map(|(_, count)| count).sum();
    until("the counters show the end of each call", || all() == [state.gets.load(Ordering::SeqCst), waits]).await;
}

#[tokio::test(start_paused = true)]
async fn histogram_measures_request_to_reply_time() {
    let counters = Counters::new();
    let (_server, _state, client) = counted(&counters).await;
    for millis in [10, 20, 40] {
        client.wait(time(millis)).await.expect("call should succeed");
    }
    let snapshot = counters.snapshot();
    for calls in snapshot.calls.iter().filter(|calls| calls.method == "Wait") {
        let sum = calls.durations.sum().as_millis();
        assert!((70..80).contains(&sum), "sum of the latencies of {:?} is {sum} ms", calls.side);
        let slowest = calls.durations.quantile(1.0).expect("calls should be counted").as_millis();
        assert!((40..48).contains(&slowest), "maximum latency of {:?} is {slowest} ms", calls.side);
    }
}

#[tokio::test(start_paused = true)]
async fn replies_that_come_too_late_are_counted() {
    let counters = Counters::new();
    let (_server, state, client) = counted(&counters).await;
    let waits = client.wait(time(UNTIL_RELEASED));
    tokio::time::timeout(Duration::from_millis(5), waits).await.expect_err("future should stay pending");
    assert_eq!(state.waiting.load(Ordering::SeqCst).min(1), state.waiting.load(Ordering::SeqCst));
    until("the server has answered the cancelled call", || counters.snapshot().late_replies == 1).await;
}

/// A call that has ended.
type Noted = (&'static str, CallSide, CallEnd);

/// An observer that records which calls have started and not ended.
#[derive(Clone, Default)]
struct Noting {
    next: Arc<AtomicU64>,
    open: Arc<Mutex<BTreeMap<u64, (&'static str, CallSide)>>>,
    ended: Arc<Mutex<Vec<Noted>>>,
    retries: Arc<AtomicU64>,
    late: Arc<AtomicU64>,
}

impl Observer for Noting {
    fn begin(&self, about: &ObservedMethod, _trace: &mut Option<TraceContext>) -> Token {
        let token = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        self.open.lock().unwrap().insert(token, (about.method(), about.side()));
        Token(token)
    }

    fn end(&self, about: &ObservedMethod, token: Token, ended: &CallEnd) {
        let started = self.open.lock().unwrap().remove(&token.0);
        assert_eq!(started, Some((about.method(), about.side())), "each end should belong to a begun call");
        self.ended.lock().unwrap().push((about.method(), about.side(), *ended));
    }

    fn retry(&self, about: &ObservedMethod, token: Token, failed: &Status, _trace: &mut Option<TraceContext>) {
        assert!(self.open.lock().unwrap().get(&token.0).is_some_and(|(method, _)| *method == about.method()));
        assert_eq!(failed.code(), Code::Unavailable);
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    fn late_reply(&self) {
        self.late.fetch_add(1, Ordering::Relaxed);
    }
}

#[tokio::test(start_paused = true)]
async fn observer_sees_call_begin_attempts_and_end() {
    let noting = Noting::default();
    let service = Service::default();
    let state = service.state.clone();
    let server = Server::builder().observer(noting.clone()).add_service(ExtensionServer::new(service));
    let server = Cuttable::new(server.build().expect("settings should be valid"));
    let client = server.client(Channel::builder().observer(noting.clone())).await;
    for _ in 0..50 {
        client.echo(Maybe::default()).await.expect("call should succeed");
    }
    client.fail(failing(Code::Aborted)).await.expect_err("call should fail");
    let waits = client.wait(time(UNTIL_RELEASED));
    tokio::time::timeout(Duration::from_millis(5), waits).await.expect_err("future should stay pending");
    until("the server has answered the cancelled call", || noting.late.load(Ordering::Relaxed) == 1).await;
    let again = tokio::spawn({
        let client = client.clone();
        async move { client.get(time(1_000)).await }
    });
    until("the call runs", || state.gets.load(Ordering::SeqCst) == 1).await;
    server.cut();
    again.await.expect("task should not panic").expect("call should be retried");
    let mut chunks = client.flood(time(5)).await.expect("stream should open").into_inner();
    while chunks.message().await.expect("stream should not fail").is_some() {}
    until("all calls have ended", || noting.open.lock().unwrap().is_empty()).await;
    assert_eq!(noting.retries.load(Ordering::Relaxed), 1);
    let ended = noting.ended.lock().unwrap().clone();
    let count = |method, side, code| {
        ended.iter().filter(|(name, at, end)| (*name, *at, end.code) == (method, side, code)).count()
    };
    for side in [CallSide::Client, CallSide::Server] {
        assert_eq!(count("Echo", side, Code::Ok), 50);
        assert_eq!(count("Fail", side, Code::Aborted), 1);
        assert_eq!(count("Wait", side, Code::Cancelled), 1);
        assert_eq!(count("Flood", side, Code::Ok), 1);
    }
    assert_eq!(count("Get", CallSide::Client, Code::Ok), 1);
    assert_eq!([Code::Cancelled, Code::Ok].map(|code| count("Get", CallSide::Server, code)), [1, 1]);
    let echoed = ended.iter().find(|(method, side, _)| (*method, *side) == ("Echo", CallSide::Server));
    assert!(echoed.is_some_and(|(_, _, end)| end.reply_bytes > 0), "{echoed:?}");
}

/// An observer that observes the end of every second call.
#[derive(Clone, Default)]
struct EveryOther {
    started: Arc<AtomicU64>,
    ended: Arc<AtomicU64>,
}

impl Observer for EveryOther {
    fn begin(&self, _about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        *trace = TraceContext::new([1; 16], [2; 8], false);
        if number.is_multiple_of(2) { Token::NO_END } else { Token(number) }
    }

    fn end(&self, _about: &ObservedMethod, token: Token, _ended: &CallEnd) {
        assert_eq!(token.0 % 2, 1, "calls with an even token should not be observed");
        self.ended.fetch_add(1, Ordering::Relaxed);
    }

    fn retry(&self, _about: &ObservedMethod, token: Token, _failed: &Status, trace: &mut Option<TraceContext>) {
        assert_eq!(token.0 % 2, 1, "calls with an even token should not be observed");
        assert!(trace.is_some(), "trace context should have been sent");
    }
}

#[tokio::test(start_paused = true)]
async fn unobserved_call_is_counted_and_keeps_trace() {
    let (watcher, counters) = (EveryOther::default(), Counters::new());
    let service = Service::default();
    let state = service.state.clone();
    let server = Server::builder().observer(watcher.clone()).add_service(ExtensionServer::new(service));
    let server = Cuttable::new(server.build().expect("settings should be valid"));
    let client = server.client(Channel::builder().observer(watcher.clone()).batch_observer(counters.clone())).await;
    for _ in 0..20 {
        client.echo(Maybe::default()).await.expect("call should succeed");
        client.fail(failing(Code::Aborted)).await.expect_err("call should fail");
        let waits = client.wait(time(UNTIL_RELEASED));
        tokio::time::timeout(Duration::from_millis(5), waits).await.expect_err("future should stay pending");
    }
    // One of the two calls is observed, and both are retried.
    for number in 1..=2 {
        let again = tokio::spawn({
            let client = client.clone();
            async move { client.get(time(1_000)).await }
        });
        until("the call runs", || state.gets.load(Ordering::SeqCst) == 2 * number - 1).await;
        server.cut();
        again.await.expect("task should not panic").expect("call should be retried");
    }
    let all_ended = || watcher.ended.load(Ordering::Relaxed) == watcher.started.load(Ordering::Relaxed) / 2;
    until("the observed calls have ended", all_ended).await;
    let sums = sums(&counters.snapshot(), CallSide::Client);
    let expected =
        [("Echo", Code::Ok, 20), ("Fail", Code::Aborted, 20), ("Wait", Code::Cancelled, 20), ("Get", Code::Ok, 2)];
    assert_eq!(sums, expected.map(|(method, code, count)| ((method, code as u8), count)).into());
}

#[tokio::test(start_paused = true)]
async fn client_knows_sizes_of_cancelled_request_stream() {
    let noting = Noting::default();
    let server = Server::builder().observer(noting.clone()).add_service(ExtensionServer::new(Service::default()));
    let server = Cuttable::new(server.build().expect("settings should be valid"));
    let client = server.client(Channel::builder().observer(noting.clone())).await;
    let chunks = || [1, 2, 3].map(|length| Chunk { data: vec![7; length] });
    client.sink(iter(chunks())).await.expect("call should succeed");
    let without_end = futures_util::stream::iter(chunks()).chain(futures_util::stream::pending());
    let abandoned = tokio::time::timeout(Duration::from_millis(50), client.sink(without_end));
    abandoned.await.expect_err("call should be abandoned");
    until("all calls have ended", || noting.open.lock().unwrap().is_empty()).await;
    let ended = noting.ended.lock().unwrap().clone();
    let sizes = |side, code| {
        let mut ends = ended.iter().filter(|(method, at, end)| (*method, *at, end.code) == ("Sink", side, code));
        let (_, _, end) = ends.next().expect("call should have ended");
        (end.request_bytes, end.reply_bytes)
    };
    let answered = sizes(CallSide::Client, Code::Ok);
    let served = sizes(CallSide::Server, Code::Ok);
    // Messages in a common packet have its header before them, which only one of the ends may count.
    assert!((6..=answered.0).contains(&served.0), "{served:?} {answered:?}");
    assert!(answered.1 > 0 && answered.1 == served.1, "{served:?} {answered:?}");
    assert_eq!(sizes(CallSide::Client, Code::Cancelled), (answered.0, 0));
}
