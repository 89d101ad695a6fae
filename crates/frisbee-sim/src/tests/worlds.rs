//! Tests of nodes, networks, disks and clocks, and of how runs are repeated, compared and shrunk.

use frisbee_sim::{Cable, EventKind, Fault, FaultKind, Faults, Process, Sim, World, sim};
use std::io::ErrorKind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{sleep, timeout};

const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Accepts connections and echoes each received byte.
async fn echo(process: Process) {
    process.accept(|mut transport| async move {
        let mut byte = [0];
        while transport.read_exact(&mut byte).await.is_ok() && transport.write_all(&byte).await.is_ok() {}
    });
}

#[test]
fn unobserved_task_panic_fails_run() {
    let failure = Sim::new().run(0, |world| async move {
        world.node("a").process().spawn(async { panic!("unheard") });
        sleep(millis(1)).await;
    });
    assert!(failure.expect_err("panic of a task should fail the run").text().contains("unheard"));
}

#[test]
fn panic_in_condition_fails_run() {
    let failure = Sim::new().find(4, |world| async move {
        world.always("a condition", || panic!("the condition runs"));
        sleep(millis(10)).await;
    });
    let failure = failure.expect("simulation should fail for each seed");
    assert!(failure.text().contains("the condition runs"), "{failure}");
}

#[test]
fn endless_world_fails_run() {
    let failure = Sim::new().time_max(Duration::from_secs(5)).run(0, |_| std::future::pending());
    assert!(failure.expect_err("endless world should fail the run").text().contains("has not ended within 5s"));
}

#[test]
fn failure_reports_seed_faults_and_command() {
    let world = |world: World| async move {
        let a = world.node("a");
        a.start(|_| async {});
        world.node("b").start(|_| async {});
        world.inject(Faults::drawn(8, ["a", "b"]).kinds([FaultKind::Crash, FaultKind::Isolate, FaultKind::Slow]));
        world.always("a is up", move || a.is_up());
        sleep(Duration::from_secs(20)).await;
    };
    let failure = Sim::new().find(50, world).expect("search should find a seed in which node a crashes");
    let faults: Vec<_> = failure.faults().collect();
    assert!(matches!(&faults[..], [(_, Fault::Crash { node, .. })] if node == "a"), "{failure}");
    let (seed, command) = (failure.seed(), failure.command());
    assert!(command.starts_with(&format!("FRISBEE_SEED={seed} FRISBEE_FAULTS=")), "{command}");
    assert!(command.ends_with("failure_reports_seed_faults_and_command -- --exact"), "{command}");
    assert_eq!(failure.events().last().map(|event| event.kind), Some(EventKind::Crash));
    assert!(failure.svg().contains("</svg>") && failure.text().contains("not always: a is up"));
}

#[test]
fn crash_keeps_only_synced_values() {
    let kept = Arc::new([const { AtomicUsize::new(0) }; 3]);
    let counts = kept.clone();
    Sim::new().seeds(40, move |world| {
        let counts = counts.clone();
        async move {
            let node = world.node("a");
            node.start(|process| async move {
                let disk = process.disk();
                if disk.read("synced").is_none() {
                    disk.write("synced", "1");
                    disk.sync().await;
                    disk.write("first", "2");
                    disk.write("second", "3");
                    assert_eq!(disk.read("second").as_deref(), Some(&b"3"[..]));
                }
                std::future::pending::<()>().await;
            });
            sleep(millis(50)).await;
            let before = node.process();
            let task = before.spawn(std::future::pending::<()>());
            node.crash();
            assert!(task.await.is_err_and(|error| error.is_cancelled()));
            node.restart();
            assert_eq!(before.disk().read("synced"), None, "process that has ended should read nothing");
            let disk = node.process().disk();
            let read = ["synced", "first", "second"].map(|name| disk.read(name).is_some());
            assert!(matches!(read, [true, _, false] | [true, true, true]), "{read:?}");
            counts[read.iter().filter(|is_there| **is_there).count() - 1].fetch_add(1, Ordering::Relaxed);
            node.crash();
            node.lose_disk();
            assert_eq!(node.process().disk().read("synced"), None);
        }
    });
    assert!(kept.iter().all(|count| count.load(Ordering::Relaxed) > 0), "{kept:?}");
}

#[test]
fn one_way_partition_delays_one_direction() {
    sim(1, |world| async move {
        world.node("a").start(|process| async move {
            process.accept(|mut transport| async move {
                if transport.write_all(b"hello").await.is_ok() {
                    let mut got = [0; 2];
                    transport.read_exact(&mut got).await.expect("peer should send the expected bytes");
                }
            });
        });
        let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
        world.block("b", "a");
        transport.write_all(b"hi").await.expect("write to the connection should succeed");
        let mut got = [0; 5];
        transport.read_exact(&mut got).await.expect("peer should send the expected bytes");
        let end = timeout(Duration::from_secs(100), transport.read(&mut got)).await;
        assert!(end.is_err(), "node `a` should wait, because it has read nothing");
        let dialling = world.node("b").process();
        let dialled = dialling.clone().spawn(async move { dialling.dial("a").await.map(drop) });
        sleep(Duration::from_secs(1)).await;
        assert!(!dialled.is_finished(), "connection should wait, because no process accepts");
        world.heal("b", "a");
        assert_eq!(transport.read(&mut got).await.expect("read should succeed"), 0);
        dialled.await.expect("task should not panic").expect("node a should accept the connection");
    });
}

#[test]
fn bytes_take_latency_and_bandwidth() {
    sim(1, |world| async move {
        let latency = Duration::from_secs(1)..=Duration::from_secs(1);
        world.set_cables(Cable::default().latency(latency).bandwidth(1_000).splits(0.0));
        world.node("a").start(echo);
        let started = world.elapsed();
        let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
        assert_eq!(world.elapsed() - started, Duration::from_secs(2));
        transport.write_all(&[0; 500]).await.expect("write to the connection should succeed");
        transport.read_exact(&mut [0]).await.expect("peer should send the expected bytes");
        // The bytes of the first twentieth of a second have arrived and are on their way back.
        assert_eq!(world.elapsed() - started, millis(4_051));
        transport.read_exact(&mut [0; 499]).await.expect("peer should send the expected bytes");
        let all = world.elapsed() - started;
        assert!(all >= millis(4_500) && all < millis(4_600), "{all:?}");
    });
}

#[test]
fn connection_bytes_stay_in_order() {
    let overtaken = Arc::new(AtomicUsize::new(0));
    let counted = overtaken.clone();
    Sim::new().seeds(20, move |world| {
        let counted = counted.clone();
        async move {
            world.set_cables(Cable::default().latency(Duration::ZERO..=millis(50)));
            let (sender, mut arrivals) = tokio::sync::mpsc::unbounded_channel();
            world.node("a").start(move |process| {
                let sender = sender.clone();
                process.accept(move |mut transport| {
                    let sender = sender.clone();
                    async move {
                        let mut byte = [0];
                        while transport.read_exact(&mut byte).await.is_ok() {
                            sender.send(byte[0]).expect("receiver of the channel should not be dropped");
                        }
                    }
                });
                std::future::ready(())
            });
            let process = world.node("b").process();
            let [mut even, mut odd] = [process.dial("a").await, process.dial("a").await]
                .map(|end| end.expect("node a should accept the connection"));
            for byte in 0..20 {
                let transport = if byte % 2 == 0 { &mut even } else { &mut odd };
                transport.write_all(&[byte]).await.expect("write to the connection should succeed");
                // All bytes would arrive in order if each took the same time.
                sleep(millis(2)).await;
            }
            let mut order = Vec::new();
            while order.len() < 20 {
                order.push(arrivals.recv().await.expect("senders of the channel should not be dropped"));
            }
            for parity in 0..2 {
                assert!(order.iter().filter(|byte| **byte % 2 == parity).is_sorted(), "{order:?}");
            }
            counted.fetch_add(usize::from(!order.is_sorted()), Ordering::Relaxed);
        }
    });
    assert!(overtaken.load(Ordering::Relaxed) > 20, "{overtaken:?} of 40 runs had overtaken packets");
}

#[test]
fn writer_waits_while_bytes_drain_slowly() {
    sim(1, |world| async move {
        world.set_cables(Cable::default().latency(millis(1)..=millis(1)).capacity(1_000));
        world.node("a").start(|process| async move {
            process.accept(|mut transport| async move {
                drop(tokio::io::copy(&mut transport, &mut tokio::io::sink()).await);
            });
        });
        let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
        let (slow, started) = (world.clone(), world.elapsed());
        let fault = Fault::Slow { from: "b".to_owned(), to: "a".to_owned(), time: Duration::from_secs(60) };
        tokio::spawn(async move { slow.inject_now(fault).await });
        sleep(millis(1)).await;
        transport.write_all(&[0; 11_000]).await.expect("write to the connection should succeed");
        // All but the last thousand bytes have been sent, at 2000 per second.
        let took = world.elapsed() - started;
        assert!(took > millis(4_900) && took < millis(5_200), "{took:?}");
    });
}

#[test]
fn cable_resets_break_some_connections() {
    sim(1, |world| async move {
        world.set_cables(Cable::default().resets(0.1));
        world.node("a").start(echo);
        let mut broken = 0;
        for _ in 0..200 {
            let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
            let called = async { transport.write_all(&[1]).await.and(transport.read_exact(&mut [0]).await) };
            broken += usize::from(called.await.is_err());
        }
        // With two writes per connection, 38 of 200 connections are expected to break.
        assert!((20..60).contains(&broken), "{broken} of 200 connections broke");
    });
}

#[test]
fn paused_node_sends_nothing_and_resumes() {
    sim(1, |world| async move {
        let node = world.node("a");
        node.start(echo);
        let mut transport = world.node("b").process().dial("a").await.expect("server should accept the connection");
        node.pause();
        transport.write_all(&[1]).await.expect("write to the connection should succeed");
        assert!(timeout(Duration::from_secs(10), transport.read_exact(&mut [0])).await.is_err());
        node.resume();
        transport.read_exact(&mut [0]).await.expect("peer should send the expected bytes");
    });
}

#[test]
fn connection_faults_take_effect() {
    sim(1, |world| async move {
        world.node("a").start(echo);
        let process = world.node("b").process();
        let between = || ("b".to_owned(), "a".to_owned());
        let mut transport = process.dial("a").await.expect("server should accept the connection");
        let (from, to) = between();
        world.inject_now(Fault::Corrupt { from, to, time: Duration::from_secs(1) }).await;
        let (one, other) = between();
        world.inject_now(Fault::Reset { one, other }).await;
        assert_eq!(transport.read(&mut [0]).await.unwrap_err().kind(), ErrorKind::ConnectionReset);

        let mut transport = process.dial("a").await.expect("server should accept the connection");
        let (one, other) = between();
        world.inject_now(Fault::Silence { one, other }).await;
        transport.write_all(&[1]).await.expect("write to the connection should succeed");
        assert!(timeout(Duration::from_secs(1_000), transport.read(&mut [0])).await.is_err());

        let mut transport = process.dial("a").await.expect("server should accept the connection");
        let (from, to) = between();
        world.inject_now(Fault::Cut { from, to, behind: 3 }).await;
        assert!(transport.write_all(&[1; 4]).await.is_err());

        world.set_cables(Cable::default().flips(1.0));
        let mut transport = process.dial("a").await.expect("server should accept the connection");
        transport.write_all(&[0; 64]).await.expect("write to the connection should succeed");
        let mut got = [0; 64];
        transport.read_exact(&mut got).await.expect("peer should send the expected bytes");
        assert!(got.iter().all(|byte| byte.count_ones() % 2 == 0) && got.iter().any(|byte| *byte != 0));
    });
}

/// Regression test: a cut did not wake tasks that were reading at the writer's end or writing at the other end.
#[test]
fn cut_connection_wakes_both_ends() {
    for (seed, is_full) in (0..10).flat_map(|seed| [(seed, false), (seed, true)]) {
        sim(seed, |world| async move {
            let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
            let teller = tell.clone();
            world.node("a").process().accept(move |mut transport| {
                let teller = teller.clone();
                async move {
                    if is_full {
                        let is_broken = transport.write_all(&[0; 1 << 20]).await.is_err();
                        teller.send(is_broken).expect("receiver of the channel should not be dropped");
                    }
                    std::future::pending::<()>().await;
                }
            });
            let b = world.node("b").process();
            let (mut read, mut write) =
                tokio::io::split(b.dial("a").await.expect("server should accept the connection"));
            if !is_full {
                b.spawn(async move {
                    let is_over = matches!(read.read(&mut [0]).await, Ok(0) | Err(_));
                    tell.send(is_over).expect("receiver of the channel should not be dropped");
                });
            }
            sleep(millis(100)).await;
            world.inject_now(Fault::Cut { from: "b".to_owned(), to: "a".to_owned(), behind: 1 }).await;
            sleep(millis(100)).await; // Wait, because the fault itself wakes the tasks as well.
            drop(write.write_all(&[1]).await);
            assert_eq!(timeout(millis(60_000), told.recv()).await, Ok(Some(true)), "{is_full}");
        });
    }
}

#[test]
fn node_clocks_drift_and_jump() {
    sim(1, |world| async move {
        let node = world.node("a");
        node.set_clock(-5_000, 100_000);
        let clock = node.process().clock();
        let (wall, monotonic, started) = (clock.now(), clock.monotonic(), world.elapsed());
        clock.sleep(Duration::from_secs(11)).await;
        assert_eq!((world.elapsed() - started).as_secs(), 10, "timer of a fast clock should end early");
        assert_eq!((clock.monotonic() - monotonic).as_secs(), 11);
        world.inject_now(Fault::SetClock { node: "a".to_owned(), by_millis: -20_000 }).await;
        assert!(clock.now() < wall && clock.monotonic() > monotonic);
    });
}

#[test]
fn condition_unmet_within_timeout_fails_run() {
    let failure = Sim::new().run(0, |world| async move {
        let started = world.elapsed();
        let reached = world.clone();
        world.eventually("2 s pass", Duration::from_secs(3), || reached.elapsed() > started + millis(2_000)).await;
        world.eventually("a is up", Duration::from_secs(3), || world.node("a").is_up()).await;
    });
    assert!(
        failure.expect_err("condition should not hold within the timeout").text().contains("not within 3s: a is up")
    );
}

#[test]
fn fault_schedule_strikes_at_given_times() {
    sim(5, |world| async move {
        let node = world.node("a");
        node.start(|_| async {});
        let crash = Fault::Crash { node: "a".to_owned(), down: millis(500), loses_disk: false };
        world.inject(Faults::schedule([(millis(1_000), crash)]));
        for (pause, is_up) in [(900, true), (200, false), (500, true)] {
            sleep(millis(pause)).await;
            assert_eq!(node.is_up(), is_up);
        }
    });
}

#[test]
#[should_panic(expected = "clock should go forward")]
fn fault_that_stops_clock_is_rejected() {
    sim(5, |world| async move {
        world.node("a").start(|_| async {});
        let drift = Fault::Drift { node: "a".to_owned(), millionths: -1_000_000, time: millis(500) };
        world.inject(Faults::schedule([(millis(100), drift)]));
        sleep(millis(200)).await;
    });
}

/// Regression test: the drift of the second fault lasted until both faults had ended.
#[test]
fn drift_resumes_after_fault_within_it() {
    sim(5, |world| async move {
        let clock = world.node("a").process().clock();
        let drift = |millionths, time| Fault::Drift { node: "a".to_owned(), millionths, time: millis(time) };
        let (outer, inner) = (drift(500_000, 3_000), drift(-500_000, 1_000));
        world.inject(Faults::schedule([(millis(0), outer), (millis(1_000), inner)]));
        // Expected readings of the node's clock, one per second of world time.
        for seconds in [1.5, 2.0, 3.5, 4.5] {
            sleep(millis(1_000)).await;
            assert!((clock.monotonic().as_secs_f64() - seconds).abs() < 0.01, "{:?}", clock.monotonic());
        }
    });
}

#[test]
fn dial_without_acceptor_is_refused() {
    sim(1, |world| async move {
        world.node("a").process();
        for name in ["a", "b"] {
            let refused = world.node("client").process().dial(name).await;
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        }
    });
}

#[test]
fn zero_settings_of_simulation_panic() {
    let setters: [(&str, fn()); 3] = [
        ("time_max", || drop(Sim::new().time_max(Duration::ZERO))),
        ("bandwidth", || _ = Cable::default().bandwidth(0)),
        ("capacity", || _ = Cable::default().capacity(0)),
    ];
    for (name, set) in setters {
        let panic = std::panic::catch_unwind(set).expect_err(name);
        let text = panic.downcast_ref::<&str>().expect("panic should have a fixed text");
        assert!(text.starts_with(&format!("{name} should be above zero")), "{text}");
    }
}

/// Regression test: the runtime owned the world, whose nodes own handles of the runtime's tasks.
#[test]
fn worlds_are_dropped_after_their_runs() {
    let worlds = Arc::new(Mutex::new(Vec::new()));
    let all = worlds.clone();
    sim(0, move |world| {
        all.lock().expect("mutex should not be poisoned").push(Arc::downgrade(&world.0));
        async move {
            world.node("server").start(echo);
            let mut transport = world.node("client").process().dial("server").await.expect("node should accept");
            transport.write_all(&[1]).await.expect("connection should be open");
            transport.read_exact(&mut [0]).await.expect("node should echo");
        }
    });
    let worlds = worlds.lock().expect("mutex should not be poisoned");
    assert!(!worlds.is_empty() && worlds.iter().all(|world| world.strong_count() == 0));
}
