//! One simulated world: servers that crash and come back, clients that call, a network that does its worst. All of it
//! follows from a seed.

use crate::net::{End, Fault, Net};
use crate::service::{Memory, Service};
use frisbee::{Config, Stats};
use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, Range, SleepRequest, Text};
use frisbee_tests::process::panics;
use frpc::{Acceptor, Channel, Policy, Request, Status};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};

/// No call may take longer, in virtual time: deadlines are shorter, and clock jumps add to them.
const HANGS: Duration = Duration::from_secs(600);

/// What a world came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Outcome {
    pub(crate) trace: u64,
    pub(crate) successes: usize,
    pub(crate) failures: usize,
}

/// What happens in a world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    /// Bits flip. There is no checksum but TLS's, so nothing is promised then but an end, and that nothing is kept.
    pub(crate) corrupts: bool,
    pub(crate) faults: usize,
    /// Of which any can take a call.
    pub(crate) servers: usize,
    pub(crate) clients: usize,
    pub(crate) calls: usize,
    /// Cuts the first connection behind so many bytes of an end.
    pub(crate) cut: Option<(usize, u64)>,
    pub(crate) speaks: bool,
}

impl Plan {
    pub(crate) fn of_seed(seed: u64) -> Self {
        let corrupts = seed % 10 == 9;
        let servers = if seed % 4 == 3 { 3 } else { 1 };
        Self { seed, corrupts, faults: 6, servers, clients: 2, calls: 12, cut: None, speaks: false }
    }

    /// Runs the world to its end.
    pub(crate) fn run(self) -> Outcome {
        fastrand::seed(self.seed);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime without sockets can be made");
        let before = panics();
        let outcome = runtime.block_on(async {
            // Time stands still from a moment on that lies anywhere between two ticks of the timer. From the first one
            // on it goes from tick to tick, and how far it was to there no longer matters.
            sleep(Duration::from_millis(1)).await;
            World::new(self).run().await
        });
        drop(runtime);
        assert_eq!(panics(), before, "something has panicked");
        outcome
    }
}

/// What everybody in a world has.
#[derive(Clone)]
struct World {
    plan: Plan,
    net: Net,
    memory: Arc<Memory>,
    servers: Arc<[Mutex<Host>]>,
    outcome: Arc<Mutex<Outcome>>,
}

/// Where a server runs, or does not.
#[derive(Default)]
struct Host {
    acceptor: Option<Acceptor>,
    serving: Vec<JoinHandle<()>>,
    stats: Vec<Stats>,
}

impl World {
    fn new(plan: Plan) -> Self {
        Self {
            plan,
            net: Net::new(plan.seed, plan.corrupts, plan.speaks),
            memory: Arc::default(),
            servers: (0..plan.servers).map(|_| Mutex::default()).collect(),
            outcome: Arc::default(),
        }
    }

    async fn run(self) -> Outcome {
        if let Some((side, behind)) = self.plan.cut {
            self.net.cut_first(side, behind);
        }
        (0..self.plan.servers).for_each(|server| self.start_server(server));
        let tasks = tokio::runtime::Handle::current().metrics();
        let mut clients = JoinSet::new();
        for number in 0..self.plan.clients {
            clients.spawn(self.clone().client(number as u64));
        }
        let fate = tokio::spawn(self.clone().fate());
        while let Some(client) = clients.join_next().await {
            client.expect("a client that panics has found a fault");
        }
        fate.abort();
        let _ = fate.await;
        // Connections notice that nobody needs them, or that the other end is gone.
        sleep(Duration::from_secs(120)).await;
        (0..self.plan.servers).for_each(|server| self.crash_server(server));
        sleep(Duration::from_secs(1)).await;
        for stats in self.servers.iter().flat_map(|host| host.lock().stats.clone()) {
            assert_eq!(stats.open(), 0, "connections are left");
            assert_eq!(stats.memory_held(), 0, "input is held for nobody");
        }
        assert_eq!(self.memory.running.load(Ordering::Relaxed), 0, "handlers run for nobody");
        assert_eq!(tasks.num_alive_tasks(), 0, "tasks are left");
        let mut outcome = *self.outcome.lock();
        outcome.trace = self.net.trace();
        outcome
    }

    fn start_server(&self, server: usize) {
        let policy = [Policy::Inline, Policy::Concurrent, Policy::AtMost(3)][self.net.draw(|rng| rng.usize(..3))];
        let config = Config::default().stream_credit(2_000);
        let builder = frpc::Server::builder().config(config).policy(policy);
        let builder = builder.add_service(InteropServer::new(Service(self.memory.clone())));
        let acceptor = builder.build().expect("there is one service");
        let mut host = self.servers[server].lock();
        host.stats.push(acceptor.stats());
        host.acceptor = Some(acceptor);
    }

    /// A server is gone from one moment to the next; what it had in its buffers is lost.
    fn crash_server(&self, server: usize) {
        let mut host = self.servers[server].lock();
        host.acceptor = None;
        host.serving.drain(..).for_each(|serving| serving.abort());
    }

    fn dial(&self, server: usize) -> io::Result<End> {
        let mut host = self.servers[server].lock();
        let Some(acceptor) = host.acceptor.clone() else {
            return Err(io::ErrorKind::ConnectionRefused.into());
        };
        let (here, there) = self.net.connect();
        host.serving.push(tokio::spawn(async move { drop(acceptor.serve_connection(there).await) }));
        Ok(here)
    }

    /// What befalls everybody.
    async fn fate(self) {
        for _ in 0..self.plan.faults {
            sleep(Duration::from_millis(self.net.draw(|rng| rng.u64(..400)))).await;
            match self.net.draw(|rng| rng.u32(..7)) {
                0 => self.net.partition(Duration::from_millis(self.net.draw(|rng| rng.u64(..9_000)))),
                1 => self.net.strike(Fault::Reset),
                2 => self.net.strike(Fault::Swallow),
                3 | 4 => self.net.strike(Fault::CutBehind(self.net.draw(|rng| rng.u64(..3_000)))),
                5 => {
                    self.net.note("jump", [0, 0]);
                    tokio::time::advance(Duration::from_millis(self.net.draw(|rng| rng.u64(..20_000)))).await;
                }
                _ => {
                    let server = self.net.draw(|rng| rng.usize(..self.plan.servers));
                    self.net.note("crash", [server as u64, 0]);
                    self.crash_server(server);
                    sleep(Duration::from_millis(self.net.draw(|rng| rng.u64(..3_000)))).await;
                    self.start_server(server);
                }
            }
        }
    }

    async fn client(self, number: u64) {
        let dialler = |server| {
            let world = self.clone();
            move || {
                let end = world.dial(server);
                async move { end }
            }
        };
        let builder = Channel::builder().timeout(Duration::from_secs(20));
        let channel = loop {
            let connected = match self.plan.servers {
                1 => builder.clone().connect_with_connector(dialler(0)).await,
                servers => builder.clone().connect_all_with_connectors((0..servers).map(dialler)).await,
            };
            match connected {
                Ok(channel) => break channel,
                Err(_) => sleep(Duration::from_millis(50)).await,
            }
        };
        let client = InteropClient::new(channel);
        let mut calls = JoinSet::new();
        for call in 0..self.plan.calls as u64 {
            sleep(Duration::from_millis(self.net.draw(|rng| if rng.bool() { 0 } else { rng.u64(..300) }))).await;
            calls.spawn(self.clone().call(client.clone(), number * 1_000_000 + call * 1_000 + 7));
        }
        while let Some(call) = calls.join_next().await {
            call.expect("a call that panics has found a fault");
        }
    }

    /// Makes a call, perhaps loses interest in it, and judges how it ended.
    async fn call(self, client: InteropClient, number: u64) {
        let (kind, patience) = self.net.draw(|rng| (rng.u32(..6), rng.u64(..60_000)));
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
        // Some lose interest at once or soon, the others never do.
        let gives_up = if patience < 3_000 { Duration::from_millis(patience) } else { HANGS };
        let begun = Instant::now();
        let ended = tokio::time::timeout(gives_up, calling).await;
        let is_calm = self.plan.faults == 0 && self.plan.cut.is_none() && !self.plan.corrupts;
        if is_calm && kind == 0 {
            // Otherwise somebody was not woken, and only a timer has come to the rescue.
            assert!(begun.elapsed() < Duration::from_secs(1), "it took {:?} in calm", begun.elapsed());
        }
        let executions = self.memory.executions(number);
        match ended {
            Ok(Ok(())) => {
                self.outcome.lock().successes += 1;
                self.net.note("success", [number, u64::from(kind)]);
                assert!(self.plan.corrupts || kind == 5 || executions == 1, "{executions} executions of a success");
            }
            Ok(Err(status)) => {
                self.outcome.lock().failures += 1;
                self.net.note("failure", [number, status.code() as u64]);
                let excused = self.plan.corrupts || status.may_have_run();
                assert!(excused || executions == 0, "executed although it was not sent: {status}");
            }
            Err(_) => {
                assert!(gives_up < HANGS, "call {number} of kind {kind} hangs");
                self.net.note("given up", [number, 0]);
            }
        }
        assert!(self.plan.corrupts || executions <= 1, "call {number} was executed {executions} times");
    }

    /// A call with streams has no deadline unless it is given one. Without one, what a flipped bit has made of the end
    /// of a stream may keep it waiting for as long as the connection lives.
    fn limited<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if self.plan.corrupts {
            request.set_timeout(Duration::from_secs(60));
        }
        request
    }

    /// Fails unless bits have flipped on the way.
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
        let (millis, timeout) = self.net.draw(|rng| (rng.u32(..3_000), rng.u64(1..5_000)));
        let tag = number as u32;
        let mut request = Request::new(SleepRequest { millis, tag });
        request.set_timeout(Duration::from_millis(timeout));
        let reply = client.sleep(request).await?.into_inner();
        self.check(reply == SleepRequest { millis, tag }, "the reply is another call's");
        Ok(())
    }

    async fn echo(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let length = self.net.draw(|rng| if rng.bool() { rng.usize(..200) } else { rng.usize(..100_000) });
        let payload = Payload { seq: number as u32, data: vec![number as u8; length] };
        let reply = client.echo_payload(payload.clone()).await?.into_inner();
        self.check(reply == payload, "the reply is another call's");
        Ok(())
    }

    async fn count_up(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.net.draw(|rng| rng.i64(0..300));
        let (from, leaves_at) = (number as i64, self.net.draw(|rng| rng.i64(1..1_000)));
        let mut counts = client.count_up(self.limited(Range { from, count })).await?.into_inner();
        let mut next = 0;
        while let Some(value) = counts.message().await? {
            self.check(value.value == from + next, "a message is missing, twice or out of order");
            next += 1;
            if next == leaves_at {
                return Ok(());
            }
            if self.net.draw(|rng| rng.u32(..20) == 0) {
                sleep(Duration::from_millis(30)).await;
            }
        }
        self.check(next == count, &format!("the stream ended in good order at {next} of {count}"));
        Ok(())
    }

    async fn sum_up(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.net.draw(|rng| rng.i64(1..300));
        let first = number as i64;
        let values = (0..count).map(move |step| Count { value: if step == 0 { first } else { step } });
        let sum = client.sum_up(self.limited(frpc::iter(values))).await?.into_inner();
        let total = first + (1..count).sum::<i64>();
        self.check(sum.total == total && sum.count == count, "what was summed up is not what was sent");
        Ok(())
    }

    async fn chat(&self, client: &InteropClient, number: u64) -> Result<(), Status> {
        let count = self.net.draw(|rng| rng.usize(1..40));
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
