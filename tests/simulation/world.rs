//! A world of clients and servers. The servers crash and restart, and the network has all kinds of faults.

use super::service::{Memory, Service};
use frisbee::{Config, Stats};
use frisbee_sim::{Cable, Dialling, Fault, FaultKind, Faults, Process};
use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range, SleepRequest, Text};
use frpc::{Channel, Policy, Request, Status};
use frpc_balance::Balance;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

/// Maximum virtual duration of a call. Deadlines are shorter, but clock jumps add to the duration.
const HANGS: Duration = Duration::from_secs(600);

/// The period within which faults start.
const FAULTS_WITHIN: Duration = Duration::from_millis(2_400);

/// Maximum duration of a fault.
const FAULT_MAX: Duration = Duration::from_secs(9);

/// The results of the calls of worlds.
#[derive(Default, Debug)]
pub(crate) struct Outcome {
    pub(crate) successes: AtomicUsize,
    pub(crate) failures: AtomicUsize,
}

/// The parameters of a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// Whether bits flip. Only TLS has a checksum, so without it the test only requires that all calls end and all
    /// state is released.
    pub(crate) corrupts: bool,
    pub(crate) faults: usize,
    /// Number of servers. Each of them can run any call.
    pub(crate) servers: usize,
    pub(crate) clients: usize,
    pub(crate) calls: usize,
    /// Number of bytes after which the first connection is cut. If the flag is `true`, these are bytes of the client,
    /// and otherwise of the server.
    pub(crate) cut: Option<(bool, u64)>,
}

impl Plan {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let corrupts = seed % 10 == 9;
        let servers = if seed % 4 == 3 { 3 } else { 1 };
        Self { corrupts, faults: 6, servers, clients: 2, calls: 12, cut: None }
    }

    /// Runs a world to its end.
    pub(crate) async fn run(self, world: frisbee_sim::World, outcome: Arc<Outcome>) {
        let latency = Duration::ZERO..=Duration::from_millis(20);
        world.set_cables(Cable::default().latency(latency).splits(0.5));
        let (memory, stats, cut) = (Arc::default(), Arc::default(), Arc::new(Mutex::new(self.cut)));
        World { plan: self, world, memory, stats, cut, outcome }.run().await;
    }
}

/// State that all parts of a world share.
#[derive(Clone)]
struct World {
    plan: Plan,
    world: frisbee_sim::World,
    memory: Arc<Memory>,
    /// Statistics of all processes of the servers.
    stats: Arc<Mutex<Vec<Stats>>>,
    /// The cut that will be applied to the next connection.
    cut: Arc<Mutex<Option<(bool, u64)>>>,
    outcome: Arc<Outcome>,
}

impl World {
    async fn run(self) {
        let tasks = tokio::runtime::Handle::current().metrics();
        for server in 0..self.plan.servers {
            let world = self.clone();
            self.world.node(&server_name(server)).start(move |process| {
                world.serve(&process);
                std::future::ready(())
            });
        }
        let mut clients = JoinSet::new();
        for number in 0..self.plan.clients {
            clients.spawn(self.clone().client(number as u64));
        }
        self.inject();
        let jumps = tokio::spawn(self.clone().jump());
        clients.join_all().await;
        jumps.await.expect("clock task should end");
        // During this time, connections notice that they are unused or that their peer has disconnected.
        sleep(Duration::from_secs(120)).await;
        (0..self.plan.servers).for_each(|server| self.world.node(&server_name(server)).crash());
        sleep(Duration::from_secs(1)).await;
        for stats in self.stats.lock().iter() {
            assert_eq!(stats.open(), 0, "no connection should be left");
            assert_eq!(stats.memory_held(), 0, "no input of ended connections should be held");
        }
        assert_eq!(self.memory.running.load(Ordering::Relaxed), 0, "no handler of an ended call should run");
        assert_eq!(tasks.num_alive_tasks(), 0, "no task should be left");
    }

    fn serve(&self, process: &Process) {
        let policy =
            self.world.draw(|rng| [Policy::Inline, Policy::Concurrent, Policy::AtMost(3)][rng.u64(..3) as usize]);
        let config = Config::default().stream_credit(2_000);
        let builder = frpc::Server::builder().config(config).policy(policy);
        let builder = builder.add_service(InteropServer::new(Service(self.memory.clone())));
        let acceptor = builder.build().expect("settings should be valid");
        self.stats.lock().push(acceptor.stats());
        process.serve(acceptor);
    }

    /// Injects the faults of the whole world.
    fn inject(&self) {
        let servers: Vec<_> = (0..self.plan.servers).map(server_name).collect();
        let clients: Vec<_> = (0..self.plan.clients as u64).map(client_name).collect();
        let faults = Faults::drawn(self.plan.faults, &servers).peers(&clients).within(FAULTS_WITHIN).lasting(FAULT_MAX);
        self.world.inject(faults);
        if self.plan.corrupts {
            let faults = Faults::drawn(3, servers).peers(clients).kinds([FaultKind::Corrupt]).within(FAULTS_WITHIN);
            self.world.inject(faults.lasting(FAULT_MAX));
        }
    }

    /// Makes all clocks jump, as on a machine that was suspended.
    async fn jump(self) {
        let (jumps, at) = self.world.draw(|rng| (self.plan.faults > 0 && rng.bool(), rng.u64(..2_400)));
        if jumps {
            sleep(Duration::from_millis(at)).await;
            let time = self.world.draw(|rng| rng.u64(..20_000));
            self.world.note(format!("all clocks jump by {time} ms"));
            tokio::time::advance(Duration::from_millis(time)).await;
        }
    }

    /// Returns a connector from a client to a server. It may schedule a cut of the connection.
    fn dialler(&self, client: u64, server: usize) -> impl Fn() -> Dialling + Clone + Send + Sync + 'static {
        let (world, name) = (self.clone(), client_name(client));
        move || {
            let (world, process) = (world.clone(), world.world.node(&name).process());
            Box::pin(async move {
                let server = server_name(server);
                let transport = process.dial(&server).await?;
                let cut = world.cut.lock().take();
                if let Some((of_client, behind)) = cut {
                    let ends = if of_client { (process.name(), server) } else { (server, process.name()) };
                    world.world.inject_now(Fault::Cut { from: ends.0, to: ends.1, behind }).await;
                }
                Ok(transport)
            })
        }
    }

    async fn client(self, number: u64) {
        let builder = Channel::builder().timeout(Duration::from_secs(20));
        let channel = loop {
            let connected = match self.plan.servers {
                1 => builder.clone().connect_with_connector(self.dialler(number, 0)).await,
                servers => {
                    let diallers = (0..servers).map(|server| self.dialler(number, server));
                    builder.clone().balance().connect_all_with_connectors(diallers).await
                }
            };
            match connected {
                Ok(channel) => break channel,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let client = InteropClient::new(channel);
        let mut calls = JoinSet::new();
        for call in 0..self.plan.calls as u64 {
            sleep(Duration::from_millis(self.world.draw(|rng| if rng.bool() { 0 } else { rng.u64(..300) }))).await;
            calls.spawn(self.clone().call(client.clone(), number * 1_000_000 + call * 1_000 + 7));
        }
        while let Some(call) = calls.join_next().await {
            call.expect("call should not panic");
        }
    }

    /// Makes a call and checks its result. In some cases, the call is cancelled.
    async fn call(self, client: InteropClient, number: u64) {
        let (kind, waits_ms) = self.world.draw(|rng| (rng.u32(..6), rng.u64(..60_000)));
        let calling = async {
            match kind {
                0 => self.add(&client, number).await,
                1 => self.rest(&client, number).await,
                2 => self.echo(&client, number).await,
                3 => self.count_up(&client, number).await,
                4 => self.sum_up(&client, number).await,
                _ => self.chat(&client, number).await,
            }
        };
        // Some callers cancel the call immediately or soon, and others never do.
        let gives_up = if waits_ms < 3_000 { Duration::from_millis(waits_ms) } else { HANGS };
        let started = Instant::now();
        let ended = tokio::time::timeout(gives_up, calling).await;
        let is_calm = self.plan.faults == 0 && self.plan.cut.is_none() && !self.plan.corrupts;
        if is_calm && kind == 0 {
            // If the call took longer, only a timer has woken one of its tasks.
            assert!(started.elapsed() < Duration::from_secs(1), "call without faults took {:?}", started.elapsed());
        }
        let executions = self.memory.executions(number);
        match ended {
            Ok(Ok(())) => {
                self.outcome.successes.fetch_add(1, Ordering::Relaxed);
                self.world.note(format!("call {number} of kind {kind} succeeds"));
                assert!(
                    self.plan.corrupts || kind == 5 || executions == 1,
                    "successful call was executed {executions} times"
                );
            }
            Ok(Err(status)) => {
                self.outcome.failures.fetch_add(1, Ordering::Relaxed);
                self.world.note(format!("call {number} of kind {kind} fails: {:?}", status.code()));
                let excused = self.plan.corrupts || status.may_have_run();
                assert!(excused || executions == 0, "call that was not sent should not have been executed: {status}");
            }
            Err(_) => {
                assert!(gives_up < HANGS, "call {number} of kind {kind} should not hang");
                self.world.note(format!("call {number} of kind {kind} is cancelled"));
            }
        }
        assert!(self.plan.corrupts || executions <= 1, "call {number} was executed {executions} times");
    }

    /// Returns a request with a deadline. Streaming calls have none by default. If a bit flips in the end of a stream,
    /// they could wait for as long as the connection exists.
    fn limited<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if self.plan.corrupts {
            request.set_timeout(Duration::from_secs(60));
        }
        request
    }

    /// Asserts that the condition holds, unless bits may have flipped.
    fn check(&self, holds: bool, what: &str) {
        assert!(holds || self.plan.corrupts, "{what}");
    }

    async fn add(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let a = number as i64;
        let sum = client.add(AddRequest { a, b: 5 }).await?.into_inner();
        self.check(sum.total == a + 5 && sum.count == 2, "the sum is another call's");
        Ok(())
    }

    async fn rest(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let (millis, timeout) = self.world.draw(|rng| (rng.u32(..3_000), rng.u64(1..5_000)));
        let tag = number as u32;
        let mut request = Request::new(SleepRequest { millis, tag });
        request.set_timeout(Duration::from_millis(timeout));
        let reply = client.sleep(request).await?.into_inner();
        self.check(reply == SleepRequest { millis, tag }, "the reply is another call's");
        Ok(())
    }

    async fn echo(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let length = self.world.draw(|rng| if rng.bool() { rng.u64(..200) } else { rng.u64(..100_000) });
        let payload = Payload { seq: number as u32, data: vec![number as u8; length as usize] };
        let reply = client.echo_payload(payload.clone()).await?.into_inner();
        self.check(reply == payload, "the reply is another call's");
        Ok(())
    }

    async fn count_up(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.world.draw(|rng| rng.i64(0..300));
        let (from, leaves_at) = (number as i64, self.world.draw(|rng| rng.i64(1..1_000)));
        let mut counts = client.count_up(self.limited(Range { from, count })).await?.into_inner();
        let mut next = 0;
        while let Some(value) = counts.message().await? {
            self.check(value.value == from + next, "a message is missing, twice or out of order");
            next += 1;
            if next == leaves_at {
                return Ok(());
            }
            if self.world.draw(|rng| rng.u32(..20) == 0) {
                sleep(Duration::from_millis(30)).await;
            }
        }
        self.check(next == count, &format!("the stream ended in good order at {next} of {count}"));
        Ok(())
    }

    async fn sum_up(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.world.draw(|rng| rng.i64(1..300));
        let first = number as i64;
        let values = (0..count).map(move |step| Count { value: if step == 0 { first } else { step } });
        let sum = client.sum_up(self.limited(frpc::iter(values))).await?.into_inner();
        let total = first + (1..count).sum::<i64>();
        self.check(sum.total == total && sum.count == count, "the sum differs from the sent values");
        Ok(())
    }

    async fn chat(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.world.draw(|rng| rng.u64(1..40) as usize);
        let text = move |at: usize| Text { value: format!("{number}/{at}") };
        let mut answers = client.chat(self.limited(frpc::iter((0..count).map(text)))).await?.into_inner();
        for at in 0..count {
            let Some(answer) = answers.message().await? else {
                self.check(false, "the chat ended too early, and in good order");
                return Ok(());
            };
            self.check(answer.value == format!("re:{}", text(at).value), "an answer is another one's");
        }
        let end = answers.message().await?;
        self.check(end.is_none(), "there is an answer to nothing");
        Ok(())
    }
}

fn server_name(number: usize) -> String {
    format!("server {number}")
}

fn client_name(number: u64) -> String {
    format!("client {number}")
}
