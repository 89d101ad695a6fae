//! Simulation of the replicated store: its world, the invariants, and the defects that they detect.
//!
//! `README.md` explains it step by step. The store is implemented by `replica.rs` with `log.rs`, and `store.rs` with
//! `machine.rs`. Except for the defects, they contain no code for the test.
//!
//! `cargo test --release -p replicated`

mod client;
mod defects;
mod log;
mod machine;
mod observed;
mod replica;
mod store;
mod table;

use client::{Client, TIMEOUT};
use defects::Defect;
use frisbee_sim::{
    Cable, Clock, FaultKind, Faults, History, Model, Register, RegisterOperation as Operation, Verdict, World, sim_test,
};
use observed::Observed;
use replica::{Replica, Settings};
use replicated::Kind;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

/// Duration for which clients work and faults are injected.
const TIME: Duration = Duration::from_secs(8);

/// Durations of the lease for which two clients compete. A short one detects delays that are not deducted from it, and
/// a long one clocks that differ.
const LEASES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(2)];

/// Additional time beyond a client's time limit, for its last attempt and clock differences.
const SLACK: Duration = Duration::from_millis(600);

/// Maximum drift of the machines' clocks, in millionths.
const DRIFT: i64 = 50_000;

/// Number of clients that read and write.
const WRITERS: usize = 3;

/// The shared keys.
const KEYS: [&str; 2] = ["x", "y"];

type Operations = History<(&'static str, Operation<i64>), Option<i64>>;

/// The clients that believe to hold the lease, and its end by their own clocks.
type Holders = Arc<Mutex<BTreeMap<usize, (Clock, Duration)>>>;

#[sim_test(seeds = 30)]
async fn store_keeps_promises_through_faults(world: World) {
    run(world, planted()).await;
}

/// Returns the defect named by the environment variable, as in `DEFECT=StaleRead`.
fn planted() -> Option<Defect> {
    let name = std::env::var("DEFECT").ok()?;
    let found = Defect::ALL.into_iter().find(|defect| format!("{defect:?}") == name);
    Some(found.unwrap_or_else(|| panic!("there is no defect {name}")))
}

/// Runs three replicas, and competing clients, under faults.
async fn run(world: World, defect: Option<Defect>) {
    let replicas: Vec<_> = (0..3).map(|number| format!("r{number}")).collect();
    let clients: Vec<_> = (0..WRITERS + 2).map(|number| format!("c{number}")).collect();
    let observed = Arc::new(Observed::of(&world));
    let settings = Settings { replicas: replicas.clone(), defect, observer: observed.clone() };
    world.set_cables(Cable::default().latency(Duration::from_millis(1)..=Duration::from_millis(10)));
    for name in replicas.iter().chain(&clients) {
        // Half of the clocks have the maximum drift, because a lease ends too late only if two clocks differ a lot.
        let drift = world.draw(|rng| match rng.u32(..4) {
            0 => -DRIFT,
            1 => DRIFT,
            _ => rng.i64(-DRIFT..=DRIFT),
        });
        world.node(name).set_clock(0, drift);
    }
    for (number, name) in replicas.iter().enumerate() {
        let settings = settings.clone();
        world.node(name).start(move |process| Replica::run(number, process, settings.clone()));
    }
    inject_faults(&world, &replicas, &clients);

    let (history, holders) = (Operations::new(), Holders::default());
    let holders_now = holders.clone();
    world.always("one client has the lease", move || {
        let holders_now = holders_now.lock().expect("lock should not be poisoned");
        holders_now.values().filter(|(clock, until)| clock.monotonic() < *until).count() <= 1
    });
    let mut working = JoinSet::new();
    for (number, name) in clients.iter().enumerate() {
        let client = Client::new(world.node(name).process(), &replicas, number as u64 + 1, defect);
        if number < WRITERS {
            working.spawn(read_and_write(world.clone(), client, number as i64 + 1, history.clone()));
        } else {
            working.spawn(hold_a_lease(world.clone(), client, number, holders.clone()));
        }
    }
    working.join_all().await;
    check(&world, &observed, &history).await;
}

fn inject_faults(world: &World, replicas: &[String], clients: &[String]) {
    let usual = Faults::drawn(10, replicas).peers(clients).within(TIME);
    world.inject(usual.lasting(Duration::from_millis(1_500)));
    if world.draw(|rng| rng.u32(..3)) == 0 {
        // Interrupts every leader after a short time, and makes voters lose their vote if it is not persisted.
        let leaders = Faults::upon("elected", 12).kinds([FaultKind::Crash, FaultKind::Isolate]);
        world.inject(leaders.lasting(Duration::from_secs(1)));
        let voters = Faults::upon("elected", 6).nodes(replicas).kinds([FaultKind::Crash]);
        world.inject(voters.lasting(Duration::from_millis(100)));
    }
}

/// A client that reads, writes and swaps unique values.
async fn read_and_write(world: World, mut client: Client, number: i64, history: Operations) {
    let mut found = 0;
    let mut count = 0;
    while world.elapsed() < TIME {
        // Some clients return after a while, possibly to a replica that is no longer the leader.
        let pause = world.draw(|rng| if rng.u32(..6) == 0 { rng.u64(..1_500) } else { rng.u64(..150) });
        sleep(Duration::from_millis(pause)).await;
        let (key, kind) = world.draw(|rng| (KEYS[usize::from(rng.bool())], rng.u32(..10)));
        count += 1;
        let value = number * 1_000 + count;
        let operation = match kind {
            ..4 => Operation::Read,
            4..8 => Operation::Write(value),
            _ => Operation::CompareAndSet(found, value),
        };
        let started = world.elapsed();
        let id = history.begin((key, operation.clone()));
        let outcome = match operation {
            Operation::Read => client.read(key).await.map(Some),
            Operation::Write(value) => client.write(Kind::Put, key, value, 0).await.map(|_| None),
            _ => {
                let outcome = client.write(Kind::Swap, key, value, found).await;
                outcome.map(|outcome| (!outcome.done).then_some(outcome.value))
            }
        };
        assert!(world.elapsed() - started <= TIMEOUT + SLACK, "operations end in time");
        if let Some(outcome) = outcome {
            found = outcome.unwrap_or(value);
            world.note(format!("client {number}: {key} {operation:?} -> {outcome:?}"));
            history.end(id, outcome);
        }
    }
}

/// A client that holds a lease as long as possible, and drops it occasionally.
async fn hold_a_lease(world: World, mut client: Client, number: usize, holders: Holders) {
    let clock = world.node(&format!("c{number}")).process().clock();
    let lease = world.draw(|rng| LEASES[usize::from(rng.bool())]);
    while world.elapsed() < TIME {
        if let Some(until) = client.acquire("lease", lease).await {
            world.note(format!("client {number} has the lease"));
            holders.lock().expect("lock should not be poisoned").insert(number, (clock.clone(), until));
        }
        // Some clients renew in time, others let the lease expire.
        let pause = world.draw(|rng| if rng.u32(..5) == 0 { 2_500 } else { rng.u64(10..200) });
        sleep(Duration::from_millis(pause)).await;
    }
}

/// Checks the final condition after all faults have ended.
async fn check(world: &World, observed: &Observed, history: &Operations) {
    let timeout = Duration::from_secs(60);
    world.eventually("no write waits for a disconnected caller", timeout, || observed.waiting() == 0).await;
    for key in KEYS {
        match history.check_of(&Value, |(of, _)| *of == key) {
            Verdict::Linearizable | Verdict::Undecided => {}
            Verdict::Violated(text) => panic!("{key} is not linearizable: {text}"),
        }
    }
}

/// The model of one key: a register.
struct Value;

impl Model for Value {
    type Operation = (&'static str, Operation<i64>);
    type Outcome = Option<i64>;
    type State = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn step(&self, state: &i64, (_, operation): &Self::Operation, outcome: Option<&Option<i64>>) -> Option<i64> {
        Register::of(0).step(state, operation, outcome)
    }
}
