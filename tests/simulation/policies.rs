//! Compares load-balancing policies with many servers, some of which are slow, failing, frozen or flapping, and with
//! clients whose call rate does not depend on the results. Clients and servers are real. The other policies choose
//! among channels to single servers. To print the table in docs/performance/load-balancing.md:
//!
//! ```text
//! cargo test --release -p frisbee-tests --test connections policy_comparison -- --ignored --nocapture
//! ```

use frisbee_sim::{Cable, Dialling, Process, Sim, World};
use frisbee_tests::extension::{Extension, ExtensionClient, ExtensionServer, Time};
use frisbee_tests::not_served;
use frpc::{Channel, Request, Response, Server, Status};
use frpc_balance::Balance as _;
use parking_lot::Mutex;
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep, sleep_until};
use tower::balance::p2c::Balance;
use tower::discover::ServiceList;
use tower::load::{CompleteOnResponse, PeakEwma};
use tower::{Service as _, ServiceExt as _};

/// Mean duration of a call at an ordinary server. It runs one call at a time.
const MEAN: Duration = Duration::from_millis(10);

/// Deadline of calls. A failed call counts with this duration.
const DEADLINE: Duration = Duration::from_secs(1);

/// Initial period in which clients learn about the servers. The table and one of the tests do not measure it.
const BEGINNING: Duration = Duration::from_secs(20);
const SHORT_BEGINNING: Duration = Duration::from_secs(5);

/// Interval at which a flapping server starts to reject calls, and the time for which it does.
const FLAPS: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(3));

/// The behaviour of a server.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    /// The server works, at this multiple of the ordinary speed.
    Works(f64),
    FailsFast,
    Frozen,
    /// The server works at ordinary speed, but rejects calls from time to time.
    Flaps,
}

/// Returns the kinds of `count` servers, in the proportions of the table. Of a hundred servers, 10 are twice as fast,
/// 20 are half as fast, one is ten times slower, one fails immediately, one is frozen, and 10 flap.
fn kinds(count: usize) -> Vec<Kind> {
    let odd = [Kind::FailsFast, Kind::Frozen, Kind::Works(0.1)];
    let share = |percent: usize, kind| std::iter::repeat_n(kind, (count * percent).div_ceil(100));
    let some = share(10, Kind::Works(2.0)).chain(share(20, Kind::Works(0.5))).chain(share(10, Kind::Flaps));
    odd.into_iter().chain(some).chain(std::iter::repeat(Kind::Works(1.0))).take(count).collect()
}

/// Returns the number of calls per second that the servers can run.
fn capacity(kinds: &[Kind]) -> f64 {
    let speed = |kind: &Kind| match kind {
        Kind::Works(speed) => *speed,
        Kind::Flaps => 1.0 - FLAPS.1.as_secs_f64() / FLAPS.0.as_secs_f64(),
        Kind::FailsFast | Kind::Frozen => 0.0,
    };
    kinds.iter().map(speed).sum::<f64>() / MEAN.as_secs_f64()
}

/// The actual state of a server. Clients cannot see it.
struct Worker {
    kind: Kind,
    busy: tokio::sync::Mutex<()>,
    /// Number of calls at the server. Used by the oracle.
    waiting: AtomicUsize,
    refuses: AtomicBool,
}

impl Worker {
    fn new(kind: Kind) -> Arc<Self> {
        Arc::new(Self {
            kind,
            busy: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
            refuses: false.into(),
        })
    }

    /// Returns the expected duration of a new call, or `None` if it would fail. Used by the oracle.
    fn expected(&self) -> Option<f64> {
        let waiting = self.waiting.load(Ordering::Relaxed) as f64 + 1.0;
        match self.kind {
            Kind::Works(speed) => Some(waiting / speed),
            Kind::Flaps => (!self.refuses.load(Ordering::Relaxed)).then_some(waiting),
            Kind::FailsFast | Kind::Frozen => None,
        }
    }
}

/// Counts a call until it is dropped.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[derive(Clone)]
struct Service(Arc<Worker>);

impl Extension for Service {
    /// Works for the duration in the request. It is given in microseconds at an ordinary server.
    async fn get(&self, request: Request<Time>) -> Result<Response<Time>, Status> {
        let request = request.into_inner();
        let speed = match self.0.kind {
            Kind::Works(speed) => speed,
            Kind::Flaps if !self.0.refuses.load(Ordering::Relaxed) => 1.0,
            Kind::Flaps | Kind::FailsFast => return Err(Status::unavailable("not now")),
            Kind::Frozen => pending().await,
        };
        let _busy = self.0.busy.lock().await;
        // Timers round up to milliseconds. Random rounding preserves the mean duration.
        let millis = request.millis as f64 / 1_000.0 / speed;
        let millis = millis.floor() as u64 + u64::from(fastrand::f64() < millis.fract());
        if millis > 0 {
            sleep(Duration::from_millis(millis)).await;
        }
        Ok(Response::new(request))
    }

    not_served!(echo, fail, wait, ask, flood, sink);
}

/// The policy of a client.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Policy {
    RoundRobin,
    /// Chooses the one of two random servers that has fewer calls in flight. Ignores servers that cannot work. frpc
    /// used this policy earlier.
    TwoChoices,
    /// The policy of the crate tower: it compares two random servers by their peak latency and the number of calls in
    /// flight.
    Tower,
    /// The policy of the channel.
    Fleet,
    /// Like `Fleet`, but each client connects to only some of the servers.
    Subset,
    Oracle,
}

const POLICIES: [(Policy, &str); 6] = [
    (Policy::RoundRobin, "round robin"),
    (Policy::TwoChoices, "two choices by calls in flight, with doubt"),
    (Policy::Tower, "tower's p2c by peak EWMA"),
    (Policy::Fleet, "a channel"),
    (Policy::Subset, "a channel to a subset of 20"),
    (Policy::Oracle, "oracle"),
];

/// The latency that tower assumes for a server without a reply, and its decay time in nanoseconds. The values are those
/// of linkerd2-proxy, from which the code comes.
const TOWER: (Duration, f64) = (Duration::from_millis(30), 10e9);

/// A server, as tower's balancer sees it.
struct TowerClient(ExtensionClient);

impl tower::Service<Time> for TowerClient {
    type Response = ();
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Time) -> Self::Future {
        let client = self.0.clone();
        Box::pin(async move { client.get(request).await.map(drop) })
    }
}

/// Provides the random numbers of the world to tower.
struct Dice;

impl tower::util::rng::Rng for Dice {
    fn next_u64(&mut self) -> u64 {
        fastrand::u64(..)
    }
}

type Balancer = Balance<ServiceList<Vec<PeakEwma<TowerClient>>>, Time>;

/// A server, as a client with another policy sees it.
struct RivalServer {
    client: ExtensionClient,
    worker: Arc<Worker>,
    in_flight: AtomicUsize,
    /// Number of calls for which the server is skipped.
    passes: AtomicUsize,
}

/// A client with its policy.
enum Client {
    Fleet(ExtensionClient),
    Tower(Box<tokio::sync::Mutex<Balancer>>),
    Rival { policy: Policy, servers: Vec<RivalServer>, next: AtomicUsize },
}

impl Client {
    async fn new(policy: Policy, process: &Process, workers: &[Arc<Worker>]) -> Self {
        let builder = || Channel::builder().timeout(DEADLINE);
        if matches!(policy, Policy::Fleet | Policy::Subset) {
            let mut numbers: Vec<_> = (0..workers.len()).collect();
            if policy == Policy::Subset {
                fastrand::shuffle(&mut numbers);
                numbers.truncate(20);
            }
            let connectors = numbers.into_iter().map(|number| connector(process, number));
            let channel = builder()
                .balance()
                .connect_all_with_connectors(connectors)
                .await
                .expect("servers should accept connections");
            return Self::Fleet(ExtensionClient::new(channel));
        }
        let mut servers = Vec::new();
        for (number, worker) in workers.iter().enumerate() {
            let channel = builder().connect_lazy_with_connector(connector(process, number));
            let client = ExtensionClient::new(channel.expect("server should be valid"));
            let (in_flight, passes) = (AtomicUsize::new(0), AtomicUsize::new(0));
            servers.push(RivalServer { client, worker: worker.clone(), in_flight, passes });
        }
        if policy == Policy::Tower {
            let (default, decay) = TOWER;
            let clients = servers.into_iter().map(|server| TowerClient(server.client));
            let clients = clients.map(|clients| PeakEwma::new(clients, default, decay, CompleteOnResponse::default()));
            let balancer = Balance::from_rng(ServiceList::new(clients.collect::<Vec<_>>()), Dice);
            return Self::Tower(Box::new(tokio::sync::Mutex::new(balancer)));
        }
        Self::Rival { policy, next: AtomicUsize::new(fastrand::usize(..workers.len())), servers }
    }

    /// Makes a call. Returns whether it succeeded.
    async fn call(&self, request: Time) -> bool {
        let (policy, servers, next) = match self {
            Self::Fleet(client) => return client.get(request).await.is_ok(),
            Self::Tower(balancer) => {
                let mut balancer = balancer.lock().await;
                let called = balancer.ready().await.expect("all servers should be ready").call(request);
                drop(balancer);
                return called.await.is_ok();
            }
            Self::Rival { policy, servers, next } => (*policy, servers, next),
        };
        let server = match policy {
            Policy::RoundRobin => &servers[next.fetch_add(1, Ordering::Relaxed) % servers.len()],
            Policy::Oracle => best(servers),
            Policy::TwoChoices | Policy::Tower | Policy::Fleet | Policy::Subset => less_loaded(servers),
        };
        let _waiting = Counted::new(&server.worker.waiting);
        let _in_flight = Counted::new(&server.in_flight);
        let answer = server.client.get(request).await;
        let cannot = answer.as_ref().is_err_and(|status| status.code() == frpc::Code::Unavailable);
        server.passes.store(if cannot { 64 } else { 0 }, Ordering::Relaxed);
        answer.is_ok()
    }
}

/// Returns the server at which a call is expected to end first.
fn best(servers: &[RivalServer]) -> &RivalServer {
    let expected = |server: &RivalServer| server.worker.expected().unwrap_or(f64::INFINITY);
    let begin = fastrand::usize(..servers.len());
    let all = servers[begin..].iter().chain(&servers[..begin]);
    all.min_by(|one, other| expected(one).total_cmp(&expected(other))).expect("fleet should have servers")
}

/// Returns the one of two random servers that has fewer calls in flight.
fn less_loaded(servers: &[RivalServer]) -> &RivalServer {
    let [one, other] = [(); 2].map(|()| &servers[fastrand::usize(..servers.len())]);
    let rank =
        |server: &RivalServer| (server.passes.load(Ordering::Relaxed) > 0, server.in_flight.load(Ordering::Relaxed));
    let (better, worse) = if rank(other) < rank(one) { (other, one) } else { (one, other) };
    if rank(worse).0 && !rank(better).0 {
        let passes = worse.passes.load(Ordering::Relaxed);
        worse.passes.store(if passes <= 1 { 64 } else { passes - 1 }, Ordering::Relaxed);
        return if passes <= 1 { worse } else { better };
    }
    better
}

fn connector(process: &Process, number: usize) -> impl Fn() -> Dialling + Send + Sync + use<> {
    let (process, to) = (process.clone(), name(number));
    move || {
        let (process, to) = (process.clone(), to.clone());
        Box::pin(async move { process.dial(&to).await })
    }
}

fn name(number: usize) -> String {
    format!("server {number}")
}

/// The parameters of a run.
#[derive(Clone, Copy)]
struct Run {
    policy: Policy,
    servers: usize,
    clients: usize,
    /// Load, as a fraction of the capacity.
    load: f64,
    beginning: Duration,
    time: Duration,
}

/// The durations of calls. A failed call counts with its deadline.
#[derive(Default)]
struct Outcome {
    times: Vec<Duration>,
    failed: usize,
}

impl Outcome {
    /// Returns the median and the 99th percentile in milliseconds, and the percentage of failures.
    fn summary(&self) -> ([u128; 2], f64) {
        let mut times = self.times.clone();
        times.sort_unstable();
        let at = |percent: usize| times.get(times.len().saturating_sub(1) * percent / 100).copied().unwrap_or_default();
        ([50, 99].map(|percent| at(percent).as_millis()), 100.0 * self.failed as f64 / times.len().max(1) as f64)
    }
}

impl Run {
    /// Runs with the given seed and returns the outcome.
    fn outcome(self, seed: u64) -> Outcome {
        let outcome = Arc::<Mutex<Outcome>>::default();
        let noted = outcome.clone();
        let sim = Sim::new().runs_twice(false).shrinks(false).time_max(Duration::from_secs(600));
        let run = sim.run(seed, move |world| {
            let noted = noted.clone();
            async move { self.play(&world, &noted).await }
        });
        run.unwrap_or_else(|failure| panic!("{failure}"));
        let mut outcome = outcome.lock();
        std::mem::take(&mut *outcome)
    }

    async fn play(self, world: &World, outcome: &Arc<Mutex<Outcome>>) {
        let short = Duration::from_millis(1);
        world.set_cables(Cable::default().latency(short..=short));
        let kinds = kinds(self.servers);
        let workers: Vec<_> = kinds.iter().copied().map(Worker::new).collect();
        for (number, worker) in workers.iter().cloned().enumerate() {
            if worker.kind == Kind::Flaps {
                tokio::spawn(flap(worker.clone()));
            }
            world.node(&name(number)).start(move |process| {
                let builder = Server::builder().add_service(ExtensionServer::new(Service(worker.clone())));
                process.serve(builder.build().expect("settings should be valid"));
                std::future::ready(())
            });
        }
        let rate = self.load * capacity(&kinds) / self.clients as f64;
        let mut callers = Vec::new();
        for number in 0..self.clients {
            let process = world.node(&format!("client {number}")).process();
            let client = Arc::new(Client::new(self.policy, &process, &workers).await);
            callers.push(tokio::spawn(self.calls(client, rate, outcome.clone())));
        }
        for caller in callers {
            caller.await.expect("task should not panic");
        }
        sleep(2 * DEADLINE).await;
    }

    /// Starts calls at random times, at the given mean rate.
    async fn calls(self, client: Arc<Client>, rate: f64, outcome: Arc<Mutex<Outcome>>) {
        let started = Instant::now();
        let mut at = started;
        while at < started + self.beginning + self.time {
            at += Duration::from_secs_f64(exponential() / rate);
            sleep_until(at).await;
            let micros = (exponential() * MEAN.as_micros() as f64) as u64;
            let (client, outcome, is_measured) = (client.clone(), outcome.clone(), at >= started + self.beginning);
            tokio::spawn(async move {
                let started = Instant::now();
                let is_ok = client.call(Time { millis: micros }).await;
                if is_measured {
                    let mut outcome = outcome.lock();
                    outcome.times.push(if is_ok { started.elapsed() } else { DEADLINE });
                    outcome.failed += usize::from(!is_ok);
                }
            });
        }
    }
}

/// Returns an exponentially distributed number with mean 1. Times between independent events are distributed like this.
fn exponential() -> f64 {
    -(1.0 - fastrand::f64()).ln()
}

async fn flap(worker: Arc<Worker>) {
    sleep(FLAPS.0.mul_f64(fastrand::f64())).await;
    loop {
        worker.refuses.store(true, Ordering::Relaxed);
        sleep(FLAPS.1).await;
        worker.refuses.store(false, Ordering::Relaxed);
        sleep(FLAPS.0 - FLAPS.1).await;
    }
}

/// Returns the number in an environment variable.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

#[test]
#[ignore = "takes minutes"]
fn policy_comparison_table_is_printed() {
    let (servers, seed) = (number("FRISBEE_SERVERS", 100), number("FRISBEE_SEED", 1) as u64);
    let time = Duration::from_secs(number("FRISBEE_SECONDS", 10) as u64);
    let clients_max = number("FRISBEE_CLIENTS_MAX", 500);
    let only = std::env::var("FRISBEE_POLICY").unwrap_or_default();
    println!("{servers} servers, {time:?} after {BEGINNING:?}, seed {seed}; p99 in ms / failed in percent\n");
    println!("| policy | clients | load | p50 | p99 | failed | calls |\n|---|---|---|---|---|---|---|");
    for clients in [1, 20, 500].into_iter().filter(|clients| *clients <= clients_max) {
        for load in [0.7, 0.9] {
            for (policy, title) in POLICIES.into_iter().filter(|(_, title)| title.contains(&only)) {
                if policy == Policy::Subset && clients < servers {
                    continue; // Some servers would have no client.
                }
                let run = Run { policy, servers, clients, load, beginning: BEGINNING, time };
                let outcome = run.outcome(seed);
                let ([p50, p99], failed) = outcome.summary();
                let (percent, calls) = ((load * 100.0) as u32, outcome.times.len());
                println!("| {title} | {clients} | {percent} % | {p50} | {p99} | {failed:.3} % | {calls} |");
            }
        }
    }
}

#[test]
fn channel_beats_former_policy_near_oracle() {
    let run = |policy| {
        let (beginning, time) = (SHORT_BEGINNING, Duration::from_secs(5));
        Run { policy, servers: 20, clients: 4, load: 0.7, beginning, time }.outcome(7).summary()
    };
    let (before, _) = run(Policy::TwoChoices);
    let (fleet, failed) = run(Policy::Fleet);
    let (oracle, _) = run(Policy::Oracle);
    println!(
        "p50 and p99 in ms: before {before:?}, a channel {fleet:?}, oracle {oracle:?}; {failed:.3} % of its calls failed"
    );
    assert!(fleet[1] * 3 <= before[1] * 2 && fleet[1] <= oracle[1] * 2, "{before:?}, {fleet:?}, {oracle:?}");
    assert!(failed <= 0.2, "{failed} %");
}
