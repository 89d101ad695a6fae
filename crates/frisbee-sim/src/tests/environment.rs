//! Tests that `sim_test` and `Sim::seeds` read the same environment variables, and that a failure states the command
//! that reproduces it.

use frisbee_sim::{FaultKind, Faults, Sim, World, sim, sim_test};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};
use tokio::time::sleep;

/// Fails in worlds where node a crashes.
async fn a_is_always_up(world: World) {
    let a = world.node("a");
    a.start(|_| async {});
    world.node("b").start(|_| async {});
    world.inject(Faults::drawn(8, ["a", "b"]).kinds([FaultKind::Crash, FaultKind::Isolate, FaultKind::Slow]));
    world.always("a is up", move || a.is_up());
    sleep(Duration::from_secs(20)).await;
}

#[sim_test(seeds = 50)]
#[ignore = "fails, for the tests below"]
async fn by_attribute(world: World) {
    a_is_always_up(world).await;
}

#[test]
#[ignore = "fails, for the tests below"]
fn by_function() {
    Sim::new().seeds(50, a_is_always_up);
}

mod within {
    use super::*;

    #[sim_test(seeds = 50)]
    #[ignore = "fails, for the tests below"]
    async fn a_module(world: World) {
        a_is_always_up(world).await;
    }

    /// Fails in the world of the first failing seed.
    #[test]
    #[ignore = "fails, for the tests below"]
    fn one_world() {
        let failure = Sim::new().find(50, a_is_always_up).expect("search should find a failing seed");
        sim(failure.seed(), a_is_always_up);
    }
}

/// Fails in worlds where node a crashes when it is elected.
#[sim_test(seeds = 50)]
#[ignore = "fails, for the tests below"]
async fn by_occasion(world: World) {
    let a = world.node("a");
    a.start(|_| async {});
    world.node("b").start(|_| async {});
    world.inject(Faults::upon("elected", 8).kinds([FaultKind::Crash, FaultKind::Isolate, FaultKind::Slow]));
    world.always("a is up", move || a.is_up());
    for _ in 0..6 {
        world.occasion("elected", "b");
        sleep(Duration::from_secs(5)).await;
        world.occasion("elected", "a");
        sleep(Duration::from_secs(5)).await;
    }
}

/// Fails from seed 3 on, which shows that the environment variables have an effect.
#[sim_test(seeds = 3, runs_twice = false, time_max = Duration::from_secs(1))]
#[ignore = "for the tests below"]
async fn of_few_seeds(world: World) {
    assert!(world.seed() < 3, "test should stop before seed {}", world.seed());
}

/// Runs one of the tests above in a separate process. Returns its output, and whether it succeeds.
fn run(test: &str, variables: &[(&str, &str)]) -> (String, bool) {
    let mut command = Command::new(env::current_exe().expect("path of the test program should be known"));
    let test = format!("tests::environment::{test}");
    command.args([&*test, "--exact", "--ignored", "--nocapture"]);
    for name in ["FRISBEE_SEED", "FRISBEE_SEEDS", "FRISBEE_FAULTS", "FRISBEE_TRACE"] {
        command.env_remove(name);
    }
    let output = command.envs(variables.iter().copied()).output().expect("process should start");
    let text = [&output.stdout[..], &output.stderr].concat();
    (String::from_utf8_lossy(&text).into_owned(), output.status.success())
}

fn between<'a>(text: &'a str, before: &str, behind: &str) -> &'a str {
    let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("no {before:?} in {text}"));
    rest.split_once(behind).map_or(rest, |(found, _)| found)
}

/// Names of the failing tests, one for each way to write a test.
const FAILING: [&str; 5] = ["by_attribute", "by_function", "by_occasion", "within::a_module", "within::one_world"];

#[test]
fn failure_prints_files_and_minimal_faults() {
    for test in FAILING {
        let (text, succeeds) = run(test, &[]);
        assert!(!succeeds, "{text}");
        let seed = between(&text, "FRISBEE_SEED=", " ").to_owned();
        let kept = between(&text, "FRISBEE_FAULTS=", " ").to_owned();
        assert!(!kept.contains(','), "minimal schedule should have a single fault: {text}");
        for (name, begin) in [("the whole trace: ", "     "), ("its time line:   ", "<svg")] {
            let file = fs::read_to_string(between(&text, name, "\n")).expect("trace file should be readable");
            assert!(file.starts_with(begin), "{file}");
        }

        // The command reproduces the failure, and nothing fails without the fault.
        let (again, succeeds) = run(test, &[("FRISBEE_SEED", &seed), ("FRISBEE_FAULTS", &kept)]);
        assert!(!succeeds && again.contains("not always: a is up"), "{again}");
        assert_eq!(between(&text, "the last of ", ":"), between(&again, "the last of ", ":"));
        let (calm, succeeds) = run(test, &[("FRISBEE_SEED", &seed), ("FRISBEE_FAULTS", "")]);
        // The report of a single world is returned and not printed.
        assert!(succeeds && (test == "within::one_world" || calm.contains(&format!("seed {seed}: Report"))), "{calm}");
    }
}

#[test]
fn failure_command_runs_only_failing_test() {
    for test in FAILING {
        let (text, _) = run(test, &[]);
        let command = between(&text, "cargo test ", "\n");
        let chosen = format!("-p frisbee-sim --lib tests::environment::{test} -- --exact --include-ignored");
        assert_eq!(command.trim_start_matches("--release "), chosen, "{text}");
    }
    // With one thread, all tests run on a thread that does not have the name of a test.
    let (text, _) = run("within::a_module", &[("RUST_TEST_THREADS", "1")]);
    assert!(text.contains("--lib tests::environment::within::a_module -- --exact"), "{text}");
}

#[test]
fn trace_is_written_to_configured_path() {
    let folder = tempfile::tempdir().expect("temporary folder should be created");
    for test in FAILING {
        let (failed, _) = run(test, &[]);
        let seed = between(&failed, "FRISBEE_SEED=", " ");
        let path = folder.path().join(format!("trace.of.{}", test.replace("::", ".")));
        let (text, _) = run(test, &[("FRISBEE_SEED", seed), ("FRISBEE_TRACE", &path.display().to_string())]);
        for (end, part) in [("txt", "a starts"), ("svg", "</svg>")] {
            let file = fs::read_to_string(format!("{}.{end}", path.display())).expect(&text);
            assert!(file.contains(part), "{file}");
        }
    }
}

#[test]
fn seed_variable_overrides_attribute() {
    let (text, succeeds) = run("of_few_seeds", &[]);
    assert!(succeeds, "{text}");
    let (text, succeeds) = run("of_few_seeds", &[("FRISBEE_SEEDS", "5")]);
    assert!(!succeeds && text.contains("stop before seed 3"), "{text}");
    let (text, succeeds) = run("of_few_seeds", &[("FRISBEE_SEEDS", "7..9")]);
    assert!(!succeeds && text.contains("stop before seed 7"), "{text}");
    let (text, succeeds) = run("of_few_seeds", &[("FRISBEE_SEEDS", "1..3")]);
    assert!(succeeds, "{text}");
}
