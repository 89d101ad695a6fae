//! Tests of hedging: if the first server has not replied in time, the call is made at a second one too. Also tests the
//! maximum number of attempts.

use frisbee::Config;
use frisbee_sim::{World, sim_test};
use frisbee_tests::extension::{Extension, ExtensionClient, ExtensionServer, Time};
use frisbee_tests::not_served;
use frpc::observe::{CallEnd, CallSide, ObservedMethod, Observer, Token, TraceContext};
use frpc::{Channel, ChannelBuilder, Code, Request, Response, Server, Status};
use frpc_balance::Balance;
use frpc_telemetry::Counters;
use parking_lot::Mutex;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

const TIMEOUT: Duration = Duration::from_secs(5);

/// Usual duration of a call at a server.
const QUICK: Duration = Duration::from_millis(10);

/// State that all servers of a world share.
#[derive(Default)]
struct All {
    runs: AtomicU64,
    at_work: AtomicU64,
    refuse: AtomicBool,
    /// Whether a call is rejected without running while another one is at work.
    reject_concurrent: AtomicBool,
    /// One in this many calls takes much longer. 0 means never.
    slow_in: AtomicU64,
    /// Whether all other calls complete immediately, so that their servers report no load.
    is_instant: AtomicBool,
    /// The timeouts that handlers have received from callers.
    reported: Mutex<Vec<Duration>>,
    /// The spans that handlers have received, in order.
    spans: Mutex<Vec<[u8; 8]>>,
    /// The times in requests. The tests use them as numbers of calls.
    numbers: Mutex<HashSet<u64>>,
}

/// An observer that gives each attempt of a client its own span.
#[derive(Clone, Default)]
struct Spans(Arc<Mutex<Vec<[u8; 8]>>>);

impl Spans {
    fn give(&self, trace: &mut Option<TraceContext>) {
        let mut tokens = self.0.lock();
        let span = (tokens.len() as u64 + 1).to_be_bytes();
        tokens.push(span);
        *trace = TraceContext::new([7; 16], span, true);
    }
}

impl Observer for Spans {
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        assert_eq!(about.side(), CallSide::Client);
        self.give(trace);
        Token(0)
    }

    fn end(&self, _about: &ObservedMethod, _token: Token, _ended: &CallEnd) {}

    fn retry(&self, _about: &ObservedMethod, _token: Token, _failed: &Status, trace: &mut Option<TraceContext>) {
        self.give(trace);
    }
}

#[derive(Clone)]
struct Service {
    all: Arc<All>,
    is_frozen: bool,
    runs: Arc<AtomicU64>,
}

struct AtWork<'a>(&'a AtomicU64);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Service {
    async fn work(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        let run = self.all.runs.fetch_add(1, Ordering::SeqCst) + 1;
        self.runs.fetch_add(1, Ordering::SeqCst);
        self.all.reported.lock().extend(request.timeout());
        self.all.numbers.lock().insert(request.get_ref().millis);
        self.all.spans.lock().extend(TraceContext::current().map(|trace| trace.span_id()));
        if self.all.refuse.load(Ordering::SeqCst) {
            sleep(QUICK).await;
            return Err(Status::unavailable("not now"));
        }
        if self.all.reject_concurrent.load(Ordering::SeqCst) && self.all.at_work.load(Ordering::SeqCst) > 0 {
            return Err(Status::resource_exhausted("no capacity").rejected());
        }
        self.all.at_work.fetch_add(1, Ordering::SeqCst);
        let _at_work = AtWork(&self.all.at_work);
        let slow_in = self.all.slow_in.load(Ordering::SeqCst);
        let is_slow = self.is_frozen || slow_in > 0 && run.is_multiple_of(slow_in);
        if is_slow || !self.all.is_instant.load(Ordering::SeqCst) {
            sleep(if is_slow { 1_000 * QUICK } else { QUICK }).await;
        }
        Ok(Response::new(request.into_inner()))
    }
}

impl Extension for Service {
    async fn get(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        self.work(request).await
    }

    async fn wait(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        self.work(request).await
    }

    not_served!(echo, fail, ask, flood, sink);
}

/// Returns a client of `servers` servers, the state that the servers share, and the number of calls that the first
/// server has run. If requested, the first server is frozen.
async fn client(
    world: &World,
    servers: usize,
    is_frozen: bool,
    builder: ChannelBuilder,
) -> (ExtensionClient, Arc<All>, Arc<AtomicU64>) {
    client_of(world, servers, is_frozen, builder, Config::default()).await
}

/// Like [`client`], with servers of the given configuration.
async fn client_of(
    world: &World,
    servers: usize,
    is_frozen: bool,
    builder: ChannelBuilder,
    config: Config,
) -> (ExtensionClient, Arc<All>, Arc<AtomicU64>) {
    let (all, at_first) = (Arc::<All>::default(), Arc::<AtomicU64>::default());
    let names: Vec<_> = (0..servers).map(|number| format!("server {number}")).collect();
    for (number, name) in names.iter().enumerate() {
        let runs = if number == 0 { at_first.clone() } else { Arc::default() };
        let service = Service { all: all.clone(), is_frozen: is_frozen && number == 0, runs };
        let config = config.clone();
        world.node(name).start(move |process| {
            let builder = Server::builder().config(config.clone()).add_service(ExtensionServer::new(service.clone()));
            process.serve(builder.build().expect("settings should be valid"));
            std::future::ready(())
        });
    }
    let process = world.node("client").process();
    let connectors = names.iter().map(|name| process.connector(name));
    let channel = builder
        .timeout(TIMEOUT)
        .balance()
        .connect_all_with_connectors(connectors)
        .await
        .expect("servers should accept connections");
    sleep(Duration::from_secs(1)).await;
    (ExtensionClient::new(channel), all, at_first)
}

#[sim_test(seeds = 5)]
async fn frozen_server_probes_cost_no_deadline(world: World) {
    let (client, all, at_frozen) = client(&world, 5, true, Channel::builder()).await;
    for call in 0..1_500 {
        let started = Instant::now();
        client.get(Time::default()).await.unwrap_or_else(|status| panic!("call {call}: {status}"));
        assert!(started.elapsed() < Duration::from_millis(500), "call {call} took {:?}", started.elapsed());
        sleep(QUICK).await;
    }
    let probes = at_frozen.load(Ordering::SeqCst);
    assert!((1..10).contains(&probes), "{probes} probe calls were made in half a minute");
    sleep(QUICK).await;
    assert_eq!(all.at_work.load(Ordering::SeqCst), 0, "slower attempts should be cancelled");
}

#[sim_test(seeds = 10)]
async fn refusing_fleet_gets_few_extra_attempts(world: World) {
    let builder = Channel::builder().hedge_after(QUICK / 2);
    let (client, all, _) = client(&world, 4, false, builder).await;
    let made = |calls: u64| {
        let client = client.clone();
        async move {
            for _ in 0..calls {
                let _ = client.get(Time::default()).await;
            }
        }
    };
    made(300).await;
    assert!(all.runs.load(Ordering::SeqCst) <= 330, "300 calls caused {} runs", all.runs.load(Ordering::SeqCst));
    all.refuse.store(true, Ordering::SeqCst);
    let before = all.runs.load(Ordering::SeqCst);
    made(300).await;
    let runs = all.runs.load(Ordering::SeqCst) - before;
    assert!((300..=310).contains(&runs), "300 calls caused {runs} runs");
    all.refuse.store(false, Ordering::SeqCst);
    made(300).await;
    all.refuse.store(true, Ordering::SeqCst);
    let before = all.runs.load(Ordering::SeqCst);
    made(300).await;
    let runs = all.runs.load(Ordering::SeqCst) - before;
    assert!((305..=310).contains(&runs), "300 calls, whose successes earn retries, caused {runs} runs");
}

#[sim_test(seeds = 10)]
async fn slow_call_hedges_within_budget(world: World) {
    let counters = Counters::new();
    let builder = Channel::builder().batch_observer(counters.clone()).hedge_after(10 * QUICK);
    let (client, all, _) = client(&world, 3, false, builder).await;
    let calls: u64 = 600;
    for call in 0..calls {
        // Calls become slow only after enough hedges have been earned.
        all.slow_in.store(if call >= 100 { 60 } else { 0 }, Ordering::SeqCst);
        let started = Instant::now();
        client.get(Time::default()).await.expect("call should succeed");
        assert!(started.elapsed() < 15 * QUICK, "call {call} took {:?}", started.elapsed());
    }
    let more = all.runs.load(Ordering::SeqCst) - calls;
    assert!((7..=calls / 50).contains(&more), "{more} additional attempts were made for {calls} calls");
    sleep(QUICK).await;
    assert_eq!(all.at_work.load(Ordering::SeqCst), 0, "slower attempts should be cancelled");
    let snapshot = counters.snapshot();
    let counted: Vec<_> =
        snapshot.calls.iter().map(|calls| (calls.method, calls.code, calls.durations.count())).collect();
    assert_eq!(counted, [("Get", Code::Ok, calls)]);
    assert_eq!(snapshot.retried.iter().map(|retried| retried.count).sum::<u64>(), more);
    let reported = all.reported.lock();
    let late = reported.iter().filter(|reported| **reported <= TIMEOUT - 10 * QUICK).count() as u64;
    assert_eq!((reported.len() as u64, late), (calls + more, more), "second attempt should have the remaining time");
}

/// Regression: in one of sixteen hedges, the first of two servers was drawn four times in a row. The call was then not
/// made at a second server.
#[sim_test(seeds = 5)]
async fn slow_call_hedges_to_other_server(world: World) {
    let (client, all, _) = client(&world, 2, false, Channel::builder().hedge_after(10 * QUICK)).await;
    all.is_instant.store(true, Ordering::SeqCst);
    for call in 0..4_000 {
        all.slow_in.store(if call >= 100 { 100 } else { 0 }, Ordering::SeqCst);
        client.get(Time::default()).await.unwrap_or_else(|status| panic!("call {call}: {status}"));
    }
}

/// Regression test: a call failed if the second server rejected it, although the first server was about to reply.
#[sim_test(seeds = 5)]
async fn rejected_hedge_waits_for_first_attempt(world: World) {
    let (client, all, _) = client(&world, 2, false, Channel::builder().hedge_after(10 * QUICK)).await;
    for _ in 0..100 {
        client.get(Time::default()).await.expect("call should succeed");
    }
    all.slow_in.store(1, Ordering::SeqCst);
    all.reject_concurrent.store(true, Ordering::SeqCst);
    let before = all.runs.load(Ordering::SeqCst);
    let mut request = Request::new(Time::default());
    request.set_timeout(4 * TIMEOUT);
    client.get(request).await.expect("first server should complete the call");
    assert_eq!(all.runs.load(Ordering::SeqCst), before + 2, "call should be hedged once");
}

/// Regression: each slow call used up a hedge without getting one, if rejected calls had used up the retries.
#[sim_test(seeds = 5)]
async fn exhausted_retries_spend_no_hedges(world: World) {
    let (client, all, _) = client(&world, 3, false, Channel::builder().hedge_after(10 * QUICK)).await;
    for _ in 0..600 {
        client.get(Time::default()).await.expect("call should succeed");
    }
    all.refuse.store(true, Ordering::SeqCst);
    for _ in 0..50 {
        client.get(Time::default()).await.expect_err("servers should reject the call");
    }
    all.refuse.store(false, Ordering::SeqCst);
    all.slow_in.store(1, Ordering::SeqCst);
    for _ in 0..12 {
        client.get(Time::default()).await.expect_err("servers should be too slow");
    }
    all.slow_in.store(0, Ordering::SeqCst);
    // After this time, no server is ejected any more.
    sleep(Duration::from_secs(60)).await;
    for _ in 0..20 {
        client.get(Time::default()).await.expect("call should succeed");
    }
    // The next call that a server runs is slow. The one after it is not.
    all.slow_in.store(all.runs.load(Ordering::SeqCst) + 1, Ordering::SeqCst);
    client.get(Time::default()).await.expect("second server should receive the call");
}

#[sim_test(seeds = 5)]
async fn calls_with_effects_are_not_hedged(world: World) {
    let (client, all, _) = client(&world, 3, false, Channel::builder().hedge_after(10 * QUICK)).await;
    all.slow_in.store(20, Ordering::SeqCst);
    let mut late = 0;
    for _ in 0..100 {
        match client.wait(Time::default()).await {
            Ok(_) => {}
            Err(status) => {
                assert_eq!(status.code(), Code::DeadlineExceeded);
                late += 1;
            }
        }
    }
    assert_eq!((all.runs.load(Ordering::SeqCst), late), (100, 5));
}

#[sim_test(seeds = 5)]
async fn hedged_attempts_have_own_spans(world: World) {
    let spans = Spans::default();
    let builder = Channel::builder().observer(spans.clone()).hedge_after(10 * QUICK);
    let (client, all, _) = client(&world, 3, false, builder).await;
    let calls = 300;
    for call in 0..calls {
        all.slow_in.store(if call >= 100 { 60 } else { 0 }, Ordering::SeqCst);
        client.get(Time::default()).await.expect("call should succeed");
    }
    let tokens = spans.0.lock();
    assert!(tokens.len() > calls, "some calls should be hedged");
    // The calls are made one after the other, so the attempts arrive in order.
    assert_eq!(*all.spans.lock(), *tokens);
}

/// Returns a request with a number and a timeout.
fn numbered(number: u64, timeout: Duration) -> Request<Time> {
    let mut request = Request::new(Time { millis: number });
    request.set_timeout(timeout);
    request
}

impl All {
    /// Asserts that the status of a failed call is right about whether the call may have run.
    fn check(&self, number: u64, status: &Status) {
        let has_run = self.numbers.lock().contains(&number);
        assert!(status.may_have_run() || !has_run, "status of call {number} should tell that it has run: {status}");
    }
}

/// Regression: the second attempt was not sent, because no time was left. The call failed with the status of this
/// attempt.
#[sim_test(seeds = 10)]
async fn call_hedged_at_deadline_may_have_run(world: World) {
    let deadline = 10 * QUICK;
    let (client, all, _) = client(&world, 3, false, Channel::builder().hedge_after(deadline)).await;
    for number in 0..500 {
        client.get(numbered(number, TIMEOUT)).await.expect("call should succeed");
    }
    all.slow_in.store(1, Ordering::SeqCst);
    for number in 1_000..1_020 {
        let status = client.get(numbered(number, deadline)).await.expect_err("servers should be too slow");
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
        assert!(all.numbers.lock().contains(&number), "call {number} should have been sent");
        all.check(number, &status);
    }
}

/// The calls probe a server, so they are hedged at a second one after 50 ms. This is also their deadline.
#[sim_test(seeds = 10)]
async fn failed_short_probe_may_have_run(world: World) {
    let (client, all, _) = client(&world, 5, false, Channel::builder()).await;
    all.slow_in.store(1, Ordering::SeqCst);
    for number in 1..41 {
        let status =
            client.get(numbered(number, Duration::from_millis(50))).await.expect_err("servers should be too slow");
        all.check(number, &status);
    }
}

/// In any order, attempts are lost, wait for space until their deadline, or are cancelled.
#[sim_test(seeds = 10)]
async fn call_reported_not_run_never_ran(world: World) {
    let builder = Channel::builder().hedge_after(2 * QUICK).attempts_max(3);
    let (client, all, _) = client_of(&world, 3, false, builder, Config::default().calls_max(2)).await;
    for number in 0..500 {
        client.get(numbered(number, TIMEOUT)).await.expect("call should succeed");
    }
    all.slow_in.store(2, Ordering::SeqCst);
    let mut unsent = 0;
    for round in 0..20 {
        let calls = (0..10).map(|call| {
            let (client, number) = (client.clone(), 1_000 + round * 10 + call);
            async move { (number, client.get(numbered(number, (call as u32 % 4 + 2) * QUICK)).await) }
        });
        let calls: JoinSet<_> = calls.collect();
        sleep(QUICK).await;
        let server = world.node(&format!("server {}", round % 3));
        server.crash();
        for (number, result) in calls.join_all().await {
            if let Err(status) = result {
                all.check(number, &status);
                unsent += u32::from(!status.may_have_run());
            }
        }
        server.restart();
        if round % 2 == 0 {
            sleep(Duration::from_millis(world.draw(|rng| rng.u64(0..100)))).await;
        }
    }
    world.note(format!("{unsent} calls were not sent"));
}

/// Regression: one call was attempted eleven times. The retry budget limited the channel, but not a single call.
#[sim_test(seeds = 5)]
async fn closing_servers_get_call_at_most_twice(_world: World) {
    for servers in [1, 12] {
        for (attempts, expected) in [(None, 2), (Some(1), 1), (Some(4), 4)] {
            let started = Arc::new(AtomicU64::new(0));
            let connectors = (0..servers).map(|_| closing(&started)).collect::<Vec<_>>();
            let builder = match attempts {
                None => Channel::builder(),
                Some(attempts) => Channel::builder().attempts_max(attempts),
            };
            let builder = builder.timeout(Duration::from_secs(30)).reconnect_timeout(Duration::from_secs(30));
            let channel = match servers {
                1 => builder.connect_with_connector(connectors.into_iter().next().expect("one connector")).await,
                _ => builder.balance().connect_all_with_connectors(connectors).await,
            };
            let client = ExtensionClient::new(channel.expect("servers should accept connections"));
            let at = Instant::now();
            let status = client.get(Time::default()).await.expect_err("call should fail with its connection");
            assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
            let started = started.load(Ordering::SeqCst);
            assert_eq!(started, expected, "call should be attempted at {servers} servers");
            assert!(
                at.elapsed() >= Duration::from_millis(5) * (started as u32 - 1),
                "retries were delayed by {:?}",
                at.elapsed()
            );
        }
    }
}

/// Returns a connector to a server that closes its connection when a call arrives.
fn closing(started: &Arc<AtomicU64>) -> impl Fn() -> std::future::Ready<io::Result<DuplexStream>> + use<> {
    let started = started.clone();
    move || {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let service = Closing { started: started.clone() };
        let acceptor =
            Server::builder().add_service(ExtensionServer::new(service)).build().expect("services should not overlap");
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        std::future::ready(Ok(here))
    }
}

#[derive(Clone)]
struct Closing {
    started: Arc<AtomicU64>,
}

impl Extension for Closing {
    async fn get(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        if let Some(connection) = request.connection() {
            connection.close();
        }
        std::future::pending().await
    }

    not_served!(wait, echo, fail, ask, flood, sink);
}
