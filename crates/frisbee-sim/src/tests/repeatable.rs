//! Tests that nondeterminism is detected: if two runs differ, the failure states the first difference and the usual
//! causes.

use frisbee_sim::{Failure, Sim, World};
use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::time::sleep;

fn failure_of<W: Future<Output = ()> + 'static>(world: impl Fn(World) -> W) -> Failure {
    Sim::new().run(0, world).expect_err("nondeterministic world should fail the run")
}

/// Asserts that the failure shows the different events of the two runs and the usual cause.
#[track_caller]
fn assert_shows(failure: &Failure, event: &str, cause: &str) {
    let text = failure.text();
    let shown = text.split_once("The first event that differs is number ");
    let (_, shown) = shown.unwrap_or_else(|| panic!("{text}"));
    let events: Vec<_> = shown.lines().skip(1).take(2).collect();
    assert!(events.iter().all(|line| line.contains(event)) && events[0] != events[1], "{text}");
    assert!(text.contains("The usual causes") && text.contains(cause), "{text}");
}

#[test]
fn hash_map_order_dependence_is_detected() {
    let failure = failure_of(|world| async move {
        world.note("begin");
        let map: HashMap<_, _> = (0..50).map(|number| (number, ())).collect();
        map.keys().for_each(|name| world.note(format!("{name}")));
    });
    assert_shows(&failure, "note:", "HashMap");
    let failure = failure_of(|world| async move {
        let set: HashSet<u32> = (0..50).collect();
        set.iter().for_each(|name| world.note(format!("{name}")));
    });
    assert_shows(&failure, "note:", "HashSet");
}

#[test]
fn system_time_dependence_is_detected() {
    let failure = failure_of(|world| async move {
        // Note an instant instead of a duration, because the durations of two runs may be equal by chance.
        let now = Instant::now();
        sleep(Duration::from_secs(1)).await;
        world.note(format!("it is {now:?}"));
    });
    assert_shows(&failure, "it is", "std::time::Instant::now");
}

#[test]
fn unseeded_randomness_is_detected() {
    let failure = failure_of(|world| async move {
        let pause = RandomState::new().hash_one(0) % 100_000;
        sleep(Duration::from_millis(pause)).await;
        world.note("rested");
    });
    assert_shows(&failure, "rested", "chance that is not from World::draw");
}

#[test]
fn random_select_branch_is_detected() {
    let failure = failure_of(|world| async move {
        for _ in 0..50 {
            let chosen = tokio::select! {
                () = async {} => "one",
                () = async {} => "other",
            };
            world.note(chosen);
        }
    });
    assert_shows(&failure, "note:", "select!");
}

#[test]
fn watch_wake_order_dependence_is_detected() {
    let failure = failure_of(|world| async move {
        let sender = tokio::sync::watch::Sender::new(0);
        for number in 0..20 {
            let (world, mut receiver) = (world.clone(), sender.subscribe());
            tokio::spawn(async move {
                receiver.changed().await.expect("sender of the channel should not be dropped");
                world.note(format!("{number} is woken"));
            });
        }
        sleep(Duration::from_millis(1)).await;
        sender.send_replace(1);
        sleep(Duration::from_millis(1)).await;
    });
    assert_shows(&failure, "is woken", "tokio::sync::watch");
}

#[test]
fn state_kept_between_runs_is_detected() {
    let runs = Arc::new(AtomicU64::new(0));
    let failure = failure_of(|world| {
        let runs = runs.clone();
        async move { world.note(format!("run {}", runs.fetch_add(1, Ordering::Relaxed))) }
    });
    assert_shows(&failure, "run ", "statics");
}

#[test]
fn spawning_thread_fails_run() {
    let failure = failure_of(|_| async { drop(tokio::task::spawn_blocking(|| ()).await) });
    assert!(failure.text().contains("spawn_blocking"), "{failure}");
}

#[test]
fn world_use_by_other_thread_fails() {
    let failure = failure_of(|world| async move {
        let other = std::thread::spawn(move || world.note("from elsewhere"));
        other.join().expect("thread should not panic");
    });
    assert!(failure.text().contains("a thread other than its own"), "{failure}");
}
