//! Clients and servers, whole, in a simulated world: partitions, delays, cuts, crashes and clock jumps in virtual time.
//!
//! Asserted of every world: each call ends exactly once and in time, is executed at most once, a reply is the call's
//! own, streams are in order and whole or fail, a call that fails as not sent was not executed, and in the end nothing
//! is left. A failure names its seed; `FRISBEE_SEED=n` runs that one again and prints what happens, and
//! `FRISBEE_SEEDS=10000` runs more of them:
//!
//! ```text
//! FRISBEE_SEEDS=10000 cargo test --release -p frisbee-tests --test simulation
//! ```

mod net;
mod service;
mod world;

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use world::{Outcome, Plan};

/// Seeds of an ordinary run.
const SEEDS: u64 = 1_000;

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("it is a number"))
}

#[test]
fn no_seed_breaks_a_promise() {
    if let Some(seed) = from_environment("FRISBEE_SEED") {
        let outcome = Plan { speaks: true, ..Plan::of_seed(seed) }.run();
        return println!("{outcome:?}");
    }
    let seeds = from_environment("FRISBEE_SEEDS").unwrap_or(SEEDS);
    let next = AtomicU64::new(0);
    let run = || {
        let mut sum = Outcome::default();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return sum;
            }
            let outcome = catch_unwind(|| Plan::of_seed(seed).run());
            let outcome = outcome.unwrap_or_else(|_| panic!("run it again with FRISBEE_SEED={seed}"));
            sum.successes += outcome.successes;
            sum.failures += outcome.failures;
        }
    };
    let sums =
        std::thread::scope(|scope| [scope.spawn(run), scope.spawn(run)].map(std::thread::ScopedJoinHandle::join));
    let sums = sums.map(|sum| sum.expect("a seed breaks a promise; see above"));
    let (successes, failures) = (sums[0].successes + sums[1].successes, sums[0].failures + sums[1].failures);
    println!("{seeds} seeds: {successes} calls succeeded, {failures} failed");
    assert!(successes as u64 > seeds * 5, "only {successes} calls succeeded");
    assert!(seeds < 100 || failures > 0, "nothing ever failed: no fault was felt");
}

#[test]
fn the_same_seed_takes_the_same_course() {
    let seeds = from_environment("FRISBEE_SEEDS").unwrap_or(SEEDS) / 50;
    for seed in 0..seeds {
        assert_eq!(Plan::of_seed(seed).run(), Plan::of_seed(seed).run(), "seed {seed}");
    }
    assert_ne!(Plan::of_seed(0).run().trace, Plan::of_seed(1).run().trace);
}

#[test]
fn a_connection_cut_behind_any_byte_breaks_no_promise() {
    let calm = Plan { faults: 0, servers: 1, clients: 1, calls: 4, ..Plan::of_seed(3) };
    for side in 0..2 {
        for behind in 0..700 {
            let plan = Plan { cut: Some((side, behind)), ..calm };
            let ended = catch_unwind(|| plan.run());
            assert!(ended.is_ok(), "cut behind byte {behind} of side {side}");
        }
    }
}

#[test]
fn without_faults_every_call_succeeds() {
    for seed in 0..50 {
        let plan = Plan { faults: 0, corrupts: false, ..Plan::of_seed(seed) };
        let outcome = plan.run();
        // A deadline of its own may fail a call that rests.
        assert!(outcome.successes > 2 * outcome.failures, "seed {seed}: {outcome:?}");
    }
}
