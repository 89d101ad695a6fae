use super::{DIRECT_MAX, WakeQueue, spawn};
use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Maximum duration of a wait in these tests. On an emulated machine, one of the tests takes 20 s.
const TIMEOUT: Duration = Duration::from_secs(120);

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).build().expect("runtime should build")
}

/// Starts connections with tasks that wake themselves in every poll. They begin once all of them have started.
fn start_busy(runtime: &Runtime, count: usize, at_poll: impl Fn(usize, &[AtomicUsize]) + Send + Clone + 'static) {
    let polls: Arc<[AtomicUsize]> = (0..count).map(|_| AtomicUsize::new(0)).collect();
    let (sender, started) = mpsc::channel::<Waker>();
    for number in 0..count {
        let (polls, sender, at_poll) = (polls.clone(), sender.clone(), at_poll.clone());
        let mut is_started = false;
        spawn(
            runtime.handle(),
            None,
            Box::pin(poll_fn(move |context| {
                if !std::mem::replace(&mut is_started, true) {
                    sender.send(context.waker().clone()).expect("receiver of the waker should not be dropped");
                    return Poll::Pending;
                }
                polls[number].fetch_add(1, Ordering::Relaxed);
                at_poll(number, &polls);
                context.waker().wake_by_ref();
                Poll::Pending
            })),
        );
    }
    let wakers: Vec<_> = (0..count)
        .map(|_| started.recv_timeout(TIMEOUT).expect("connections should start within the timeout"))
        .collect();
    // A task of the runtime wakes the connections, so that none runs before all are woken.
    drop(runtime.spawn(async move { wakers.into_iter().for_each(Waker::wake) }));
}

#[test]
fn thousand_busy_connections_run_in_turn() {
    let runtime = runtime(1);
    let (sender, fewest) = mpsc::channel();
    start_busy(&runtime, 1000, move |number, polls| {
        if polls[number].load(Ordering::Relaxed) == 50 {
            let fewest = polls.iter().map(|polls| polls.load(Ordering::Relaxed)).min();
            let _ = sender.send(fewest.expect("number of connections should be positive"));
        }
    });
    assert_eq!(fewest.recv_timeout(TIMEOUT), Ok(49), "other connections should be polled as often as the first one");
}

#[test]
fn wakes_from_other_threads_are_not_lost() {
    const WAKES: usize = 2000;
    let runtime = runtime(2);
    // The forwarding tasks end together with the first group. The second group must start new ones.
    for _ in 0..2 {
        let (connections, ends): (Vec<_>, Vec<_>) = (0..2 * DIRECT_MAX)
            .map(|_| {
                let seen = Arc::new((AtomicUsize::new(0), Mutex::new(None::<Waker>)));
                let (sender, over) = mpsc::channel();
                let shared = seen.clone();
                let driving = poll_fn(move |context| {
                    *shared.1.lock().expect("lock should not be poisoned") = Some(context.waker().clone());
                    if shared.0.load(Ordering::Relaxed) < WAKES { Poll::Pending } else { Poll::Ready(()) }
                });
                let driving = async move {
                    driving.await;
                    sender.send(()).expect("receiver of the connection should not be dropped");
                };
                spawn(runtime.handle(), None, Box::pin(driving));
                (seen, over)
            })
            .unzip();
        std::thread::scope(|threads| {
            for _ in 0..2 {
                threads.spawn(|| {
                    for _ in 0..WAKES / 2 {
                        for seen in &connections {
                            seen.0.fetch_add(1, Ordering::Relaxed);
                            let waker = seen.1.lock().expect("lock should not be poisoned").clone();
                            if let Some(waker) = waker {
                                waker.wake();
                            }
                        }
                    }
                });
            }
        });
        for over in &ends {
            over.recv_timeout(TIMEOUT).expect("connections should end within the timeout");
        }
    }
}

#[test]
fn wake_queue_ends_with_connections() {
    let runtime = runtime(1);
    let queue = WakeQueue::of(runtime.handle()).expect("multi-threaded runtime should have a queue");
    let (sender, receiver) = tokio::sync::watch::channel(());
    for _ in 0..=DIRECT_MAX {
        let mut receiver = receiver.clone();
        spawn(runtime.handle(), None, Box::pin(async move { drop(receiver.changed().await) }));
    }
    assert_eq!(queue.state.lock().tasks, 1);
    let weak = Arc::downgrade(&queue);
    drop((queue, sender, receiver));
    let since = std::time::Instant::now();
    while weak.strong_count() > 0 {
        assert!(since.elapsed() < TIMEOUT, "forwarding task should end within the timeout");
        std::thread::yield_now();
    }
}

#[test]
fn runtime_with_one_queue_needs_no_other() {
    let runtime = Builder::new_current_thread().build().expect("runtime should build");
    assert!(WakeQueue::of(runtime.handle()).is_none());
}
