//! Tests of complete clients and servers in simulated worlds with partitions, delays, cuts, crashes and clock jumps, in
//! virtual time.
//!
//! Every world of `world.rs` must satisfy the following: each call ends exactly once and in time, and is executed at
//! most once. A reply belongs to its call. Streams are in order and complete, or fail. A call that fails as not sent
//! was not executed. In the end no state remains. The other files test individual peers, transports and protocols. A
//! failure states its seed and a command; see `docs/simulation-failures.md`. To run more seeds:
//!
//! ```text
//! FRISBEE_SEEDS=10000 cargo test --release -p frisbee-tests --test connections simulation::
//! ```

mod balancing;
mod bus;
mod changing;
mod channels;
mod courses;
mod hand_off;
mod hedging;
mod history;
mod large;
mod limits;
mod overload;
mod peers;
mod policies;
mod pubsub;
mod resolving;
mod running;
mod servers;
mod service;
mod stalled;
mod subscribers;
mod turmoil;
mod world;
mod zones;

use frisbee_sim::Sim;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use world::{Outcome, Plan};

/// Number of seeds of an ordinary run.
const SEEDS: u64 = 100;

#[test]
fn no_seed_breaks_promises() {
    let outcome = Arc::new(Outcome::default());
    Sim::new().seeds(SEEDS, |world| Plan::of_seed(world.seed()).run(world, outcome.clone()));
    let [successes, failures] = [&outcome.successes, &outcome.failures].map(|count| count.load(Ordering::Relaxed));
    println!("{successes} calls succeeded, {failures} failed");
    if std::env::var_os("FRISBEE_SEED").is_none() {
        // Every seed runs twice, and successes of both runs are counted.
        assert!(successes as u64 > SEEDS * 10, "only {successes} calls succeeded");
        assert!(failures > 0, "some calls should fail because of faults");
    }
}

#[test]
fn cut_after_any_byte_keeps_promises() {
    let sim = Sim::new().runs_twice(false);
    let outcome = Arc::new(Outcome::default());
    for of_client in [true, false] {
        for behind in 0..700 {
            let cut = Some((of_client, behind));
            let plan = Plan { faults: 0, servers: 1, clients: 1, calls: 4, cut, ..Plan::of_seed(3) };
            let run = sim.run(3, |world| plan.run(world, outcome.clone()));
            run.unwrap_or_else(|failure| panic!("cut after byte {behind}, of the client: {of_client}: {failure}"));
        }
    }
    let [successes, failures] = [&outcome.successes, &outcome.failures].map(|count| count.load(Ordering::Relaxed));
    assert!(successes > 0 && failures > 0, "some calls should fail because of cuts: {outcome:?}");
}

#[test]
fn without_faults_every_call_succeeds() {
    for seed in 0..50 {
        let outcome = Arc::new(Outcome::default());
        let plan = Plan { faults: 0, corrupts: false, ..Plan::of_seed(seed) };
        let run = Sim::new().runs_twice(false).run(seed, |world| plan.run(world, outcome.clone()));
        run.unwrap_or_else(|failure| panic!("{failure}"));
        // A call that sleeps may take longer than its own deadline.
        assert!(
            outcome.successes.load(Ordering::Relaxed) > 2 * outcome.failures.load(Ordering::Relaxed),
            "seed {seed}: {outcome:?}"
        );
    }
}
