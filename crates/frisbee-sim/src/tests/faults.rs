//! Tests that each kind of fault has an effect, is named in the trace, and is found by shrinking, and that events can
//! trigger faults.

use frisbee_sim::{EventKind, Failure, Fault, FaultKind, Faults, Process, Sim, World, sim};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

/// Maximum time of a round trip to another node without faults.
const SOON: Duration = Duration::from_millis(30);

/// Number of bytes sent to the other node, enough that a slow link and flipped bits have an effect.
const BYTES: usize = 500;

/// Accepts connections and echoes all received bytes.
async fn echo(process: Process) {
    process.accept(|transport| async move {
        let (mut read, mut write) = tokio::io::split(transport);
        drop(tokio::io::copy(&mut read, &mut write).await);
    });
}

/// Panics as soon as node a, or its links to node b, are affected by a fault.
async fn notices(world: World, kind: Option<FaultKind>) {
    let loses_disk = kind == Some(FaultKind::LoseDisk);
    let a = world.node("a");
    a.start(echo);
    a.process().disk().write("kept", "here");
    a.process().disk().sync().await;
    if kind.is_some() {
        let faults = Faults::drawn(3, ["a"]).peers(["b"]).kinds(kind).within(Duration::from_secs(5));
        world.inject(faults.lasting(Duration::from_secs(2)));
    }
    let up = a.clone();
    // For a condition that only checks the process, a lost disk has the same effect as a crash.
    world.always("a is up", move || loses_disk || up.is_up());
    let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
    let before = a.process().clock().monotonic().saturating_sub(world.elapsed());
    while world.elapsed() < Duration::from_secs(9) {
        if loses_disk {
            assert!(!a.is_up() || a.process().disk().read("kept").is_some(), "disk should survive the fault");
            sleep(Duration::from_millis(5)).await;
            continue;
        }
        let clock = a.process().clock();
        let wall = clock.now().duration_since(std::time::UNIX_EPOCH).expect("time should not go backwards").as_millis()
            % 1_000_000_000;
        let (now, shown) = (world.elapsed(), clock.monotonic());
        assert!(shown.abs_diff(now + before) < Duration::from_millis(2), "clock should be right after the fault");
        assert!(wall.abs_diff(now.as_millis()) < 2, "wall clock should be set");
        let sending = async {
            transport.write_all(&[1; BYTES]).await.expect("write to the connection should succeed");
            let mut received = [0; BYTES];
            transport.read_exact(&mut received).await.expect("peer should send the expected bytes");
            assert_eq!(received, [1; BYTES], "received bits should be unchanged");
        };
        timeout(SOON, sending).await.expect("write should complete within the timeout");
        sleep(Duration::from_millis(5)).await;
    }
}

fn is_of(kind: FaultKind, fault: &Fault) -> bool {
    match kind {
        FaultKind::Crash => matches!(fault, Fault::Crash { loses_disk: false, .. }),
        FaultKind::LoseDisk => matches!(fault, Fault::Crash { loses_disk: true, .. }),
        FaultKind::Pause => matches!(fault, Fault::Pause { .. }),
        FaultKind::Partition => matches!(fault, Fault::Partition { .. }),
        FaultKind::Isolate => matches!(fault, Fault::Isolate { .. }),
        FaultKind::Reset => matches!(fault, Fault::Reset { .. }),
        FaultKind::Silence => matches!(fault, Fault::Silence { .. }),
        FaultKind::Cut => matches!(fault, Fault::Cut { .. }),
        FaultKind::Slow => matches!(fault, Fault::Slow { .. }),
        FaultKind::Delay => matches!(fault, Fault::Delay { .. }),
        FaultKind::Corrupt => matches!(fault, Fault::Corrupt { .. }),
        FaultKind::SetClock => matches!(fault, Fault::SetClock { .. }),
        FaultKind::Drift => matches!(fault, Fault::Drift { .. }),
    }
}

#[test]
fn every_fault_kind_acts_and_shrinks() {
    for kind in FaultKind::USUAL.into_iter().chain([FaultKind::LoseDisk, FaultKind::Corrupt]) {
        let failure = Sim::new().find(20, |world| notices(world, Some(kind)));
        let failure = failure.unwrap_or_else(|| panic!("fault {kind:?} should be noticed"));
        let faults: Vec<_> = failure.faults().collect();
        assert!(matches!(&faults[..], [(_, fault)] if is_of(kind, fault)), "{kind:?}: {failure}");
        let text = faults[0].1.to_string();
        let is_named = |event: &frisbee_sim::Event| event.kind == EventKind::Fault && event.text == text;
        assert!(failure.events().iter().any(is_named), "{failure}");
    }
    Sim::new().seeds(5, |world| notices(world, None));
}

/// Node b writes to node a, which is elected from time to time.
async fn elections(world: World, faults: Faults) {
    let [a, b] = ["a", "b"].map(|name| world.node(name));
    a.start(echo);
    b.start(|_| async {});
    world.inject(faults);
    world.always("both are up", move || a.is_up() && b.is_up());
    for _ in 0..10 {
        sleep(Duration::from_secs(7)).await;
        world.occasion("elected", "a");
    }
    sleep(Duration::from_secs(1)).await;
}

fn crash_of(failure: &Failure) -> (Duration, String) {
    let faults: Vec<_> = failure.faults().collect();
    let [(at, Fault::Crash { node, .. })] = &faults[..] else {
        panic!("failure should need a single crash: {failure}")
    };
    (*at, node.clone())
}

#[test]
fn triggered_fault_strikes_event_node_promptly() {
    let faults = Faults::upon("elected", 3).kinds([FaultKind::Crash, FaultKind::Slow]);
    for seed in 0..20 {
        let Err(failure) = Sim::new().run(seed, |world| elections(world, faults.clone())) else { continue };
        let (at, node) = crash_of(&failure);
        let after = at.as_millis() % 7_000;
        assert!(node == "a" && at.as_secs() >= 7 && after < 100, "{failure}");
        let text = failure.to_string();
        assert!(text.contains(", upon \"elected\" number "), "{text}");
    }
}

#[test]
fn triggered_fault_can_strike_other_nodes() {
    let faults = Faults::upon("elected", 3).kinds([FaultKind::Crash]).nodes(["b"]).within(Duration::from_millis(1));
    let failure =
        Sim::new().run(1, |world| elections(world, faults.clone())).expect_err("crash of b should fail the run");
    let (at, node) = crash_of(&failure);
    assert_eq!((&*node, at.as_millis() % 7_000), ("b", 0), "{failure}");
}

#[test]
fn untriggered_fault_never_strikes() {
    let faults = Faults::upon("deposed", 5).kinds([FaultKind::Crash]);
    sim(1, |world| elections(world, faults.clone()));
}

#[test]
fn crash_during_sync_keeps_first_value() {
    let struck = Arc::new(AtomicU64::new(0));
    let counted = struck.clone();
    Sim::new().seeds(30, move |world| {
        let counted = counted.clone();
        async move {
            let node = world.node("a");
            node.start(|process| async move {
                for number in 0..50_u8 {
                    process.disk().write("number", [number]);
                    process.disk().sync().await;
                }
            });
            let upon = Faults::upon(EventKind::Sync, 1).among(40).within(Duration::from_millis(1));
            world.inject(upon.kinds([FaultKind::Crash]).lasting(Duration::from_secs(5)));
            let watched = node.clone();
            world.eventually("it has crashed", Duration::from_secs(2), || !watched.is_up()).await;
            counted.fetch_add(1, Ordering::Relaxed);
            assert!(node.process().disk().read("number").is_some(), "first value should be synced");
        }
    });
    assert_eq!(struck.load(Ordering::Relaxed), 60, "each seed should run twice");
}

/// Zero limits of random faults: the first occasion triggers each fault, which begins and ends at once.
#[test]
fn zero_limits_of_random_faults_strike_at_once() {
    sim(1, |world| async move {
        let crashes = Faults::upon("elected", 2).kinds([FaultKind::Crash]);
        world.inject(crashes.within(Duration::ZERO).lasting(Duration::ZERO).among(0));
        let starts = Arc::new(AtomicU64::new(0));
        let counted = starts.clone();
        world.node("a").start(move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::pending()
        });
        sleep(SOON).await;
        world.occasion("elected", "a");
        sleep(Duration::from_millis(1)).await;
        assert!(world.node("a").is_up() && starts.load(Ordering::Relaxed) > 1);
    });
}

/// Regression test: a fault or a sleep without an end overflowed the time of the world.
#[test]
fn faults_and_sleeps_may_be_endless() {
    sim(1, |world| async move {
        let (node, forever, minute) = (world.node("a"), Duration::MAX, Duration::from_secs(60));
        node.start(|_process| async {});
        let process = node.process();
        sleep(SOON).await;
        timeout(minute, process.clock().sleep(forever)).await.expect_err("sleep should not end");
        let [a, b] = ["a", "b"].map(String::from);
        let drift = Fault::Drift { node: a.clone(), millionths: 10, time: forever };
        let partition = Fault::Partition { from: a, to: b, both_ways: false, time: forever };
        for fault in [drift, partition] {
            timeout(minute, world.inject_now(fault)).await.expect_err("fault should not end");
        }
        timeout(minute, process.dial("b")).await.expect_err("partition should last");
    });
}
