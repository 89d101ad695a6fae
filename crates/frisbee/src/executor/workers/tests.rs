use super::watchdog::Blocked;
use super::worker::{Worker, settle, wake_last};
use crate::account::Budget;
use crate::connection::ConnectionExt;
use crate::runtime::blocked::DrivenConnection;
use crate::{Connection, Operation, Outbox, Packet, Routed, Router};
use parking_lot::Mutex;
use std::future::{pending, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// Maximum duration that a test waits for an event.
const TIMEOUT: Duration = Duration::from_secs(20);

fn worker() -> Worker {
    Worker::start(0).expect("worker should start")
}

fn spawn(worker: &Worker, task: impl Future<Output = ()> + Send + 'static) {
    worker.spawn(Box::pin(task));
}

/// Waits until the condition `is` holds. Panics if this takes too long.
fn until(is: impl Fn() -> bool) {
    let since = Instant::now();
    while !is() {
        assert!(since.elapsed() < TIMEOUT, "condition should hold within the timeout");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Spawns a task that blocks its thread until the returned sender is dropped. Waits until the task has started.
fn block(worker: &Worker) -> mpsc::Sender<()> {
    let (release, released) = mpsc::channel::<()>();
    let (starts, started) = mpsc::channel();
    spawn(worker, async move {
        starts.send(()).expect("receiver of the task should not be dropped");
        let _ = released.recv();
    });
    started.recv_timeout(TIMEOUT).expect("task should start within the timeout");
    release
}

#[test]
fn blocking_tasks_do_not_stall_worker() {
    let worker = worker();
    let (sender, ready) = mpsc::channel();
    let (go, gone) = oneshot::channel::<()>();
    let (socket, mut peer) = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
        let peer = std::net::TcpStream::connect(listener.local_addr().expect("socket should have a local address"))
            .expect("server should accept the connection");
        (listener.accept().expect("client should connect").0, peer)
    };
    spawn(&worker, {
        let sender = sender.clone();
        async move {
            socket.set_nonblocking(true).expect("socket should switch to nonblocking mode");
            let mut socket =
                tokio::net::TcpStream::from_std(socket).expect("thread should run in the context of a tokio runtime");
            let byte = tokio::io::AsyncReadExt::read_u8(&mut socket).await;
            let _ = sender.send(byte.expect("peer should send a byte"));
        }
    });
    spawn(&worker, {
        let sender = sender.clone();
        async move {
            let _ = gone.await;
            tokio::time::sleep(Duration::from_millis(1)).await;
            let _ = sender.send(1);
        }
    });
    // Each task blocks the thread that has taken over from the previous one.
    let blocks: Vec<_> = (0..3).map(|_| block(&worker)).collect();
    go.send(()).expect("task should wait for its start signal");
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(1), "existing task should run");
    std::io::Write::write_all(&mut peer, &[2]).expect("reader should keep the connection open");
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(2), "task that waits for its socket should run");
    spawn(&worker, async move { sender.send(3).expect("receiver of the value should not be dropped") });
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(3), "new task should run");
    drop(blocks);
}

/// A router that panics when it is notified that a handler has blocked a thread.
struct Panics;

impl Router for Panics {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn blocked(&self, _connection: &Connection, _operation: Operation) -> bool {
        panic!("on purpose");
    }
}

#[test]
fn threads_are_taken_over_after_router_panic() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("runtime should build");
    let budget = Arc::new(Budget::new(usize::MAX, 0));
    let connection = Connection::server(&Default::default(), &budget, runtime.handle().clone(), Default::default());
    connection.set_routed(Operation::FIRST_USER.number());
    let worker = worker();
    let (release, released) = mpsc::channel::<()>();
    spawn(&worker, async move {
        settle(|| Arc::new(DrivenConnection { connection, router: Arc::new(Panics) }));
        let _ = released.recv();
    });
    // Each task blocks the thread that has taken over from the previous one.
    let blocks = [block(&worker), block(&worker)];
    drop((release, blocks));
}

/// A connection of a task. Reports when it is dropped whether the worker can be used.
struct DroppedConnection(Arc<Worker>, mpsc::Sender<bool>);

impl Blocked for DroppedConnection {
    fn operation(&self) -> Option<Operation> {
        None
    }

    fn peer(&self) -> Option<SocketAddr> {
        None
    }

    fn handle(&self, _operation: Operation) -> bool {
        false
    }

    fn report_later(&self, _report: Box<dyn FnOnce(bool) + Send>) {}
}

impl Drop for DroppedConnection {
    fn drop(&mut self) {
        let (worker, (sender, used)) = (self.0.clone(), mpsc::channel());
        // Use another thread, so that the test fails instead of blocking this one.
        thread::spawn(move || sender.send(worker.is_asleep()));
        let _ = self.1.send(used.recv_timeout(TIMEOUT).is_ok());
    }
}

/// Regression test: when a task drove another connection, the previous one was dropped while the worker was locked. A
/// destructor of its router that used the worker caused a deadlock.
#[test]
fn earlier_connection_of_task_is_dropped_unlocked() {
    let worker = Arc::new(worker());
    let (sender, dropped) = mpsc::channel();
    let connection = DroppedConnection(worker.clone(), sender.clone());
    let other = DroppedConnection(worker.clone(), sender);
    spawn(&worker, async move {
        settle(|| Arc::new(connection));
        settle(|| Arc::new(other));
    });
    assert_eq!([dropped.recv(), dropped.recv()], [Ok(true); 2], "worker should be unlocked at both drops");
}

#[test]
fn blocking_task_resumes_on_next_thread() {
    let worker = worker();
    let (release, released) = mpsc::channel::<()>();
    let (sender, threads) = mpsc::channel();
    let (go, gone) = oneshot::channel::<()>();
    spawn(&worker, async move {
        sender.send(thread::current().id()).expect("receiver of the thread id should not be dropped");
        let _ = released.recv();
        let _ = gone.await;
        sender.send(thread::current().id()).expect("receiver of the thread id should not be dropped");
    });
    let first = threads.recv_timeout(TIMEOUT).expect("task should send its thread id within the timeout");
    // This task runs on the thread that has taken over.
    let blocks = block(&worker);
    drop((release, blocks));
    go.send(()).expect("task should wait for its start signal");
    let _ = threads.recv_timeout(TIMEOUT).expect("task should send its thread id within the timeout");
    let (sender, thread) = mpsc::channel();
    spawn(&worker, async move {
        sender.send(thread::current().id()).expect("receiver of the thread id should not be dropped");
    });
    assert_ne!(thread.recv_timeout(TIMEOUT), Ok(first), "the first one has ended");
}

#[test]
fn concurrent_wakes_are_kept_without_double_poll() {
    const WAKES: usize = 20_000;
    let worker = worker();
    let (woken, is_polled) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let (sender, wakers) = mpsc::channel();
    let (done, is_done) = mpsc::channel();
    spawn(&worker, {
        let (woken, is_polled) = (woken.clone(), is_polled.clone());
        poll_fn(move |context| {
            assert!(!is_polled.swap(true, Ordering::SeqCst), "task should not be polled by two threads");
            let _ = sender.send(context.waker().clone());
            is_polled.store(false, Ordering::SeqCst);
            if woken.load(Ordering::Relaxed) < 2 * WAKES {
                return Poll::Pending;
            }
            let _ = done.send(());
            Poll::Ready(())
        })
    });
    let waker = wakers.recv_timeout(TIMEOUT).expect("task should send its waker within the timeout");
    let wakers: Vec<_> = (0..2)
        .map(|_| {
            let (waker, woken) = (waker.clone(), woken.clone());
            thread::spawn(move || {
                for _ in 0..WAKES {
                    woken.fetch_add(1, Ordering::Relaxed);
                    waker.wake_by_ref();
                }
            })
        })
        .collect();
    is_done.recv_timeout(TIMEOUT).expect("task should end within the timeout");
    wakers.into_iter().for_each(|thread| thread.join().expect("thread should not panic"));
}

#[test]
fn dropped_worker_drops_blocking_task_on_return() {
    let worker = worker();
    let blocks = Arc::new(());
    let holder = blocks.clone();
    spawn(&worker, async move {
        let _holder = holder;
        pending::<()>().await;
    });
    let (release, released) = mpsc::channel::<()>();
    let (starts, started) = mpsc::channel();
    let blocking = Arc::new(());
    let holder = blocking.clone();
    spawn(&worker, async move {
        starts.send(()).expect("receiver of the task should not be dropped");
        let _ = released.recv();
        let _holder = holder;
        pending::<()>().await;
    });
    started.recv_timeout(TIMEOUT).expect("task should start within the timeout");
    drop(worker);
    until(|| Arc::strong_count(&blocks) == 1);
    assert_eq!(Arc::strong_count(&blocking), 2, "task should be kept while a thread polls it");
    drop(release);
    until(|| Arc::strong_count(&blocking) == 1);
}

/// Last handle of a worker. Dropping it stops the worker and waits until all remaining tasks have been dropped.
struct LastHandle(Option<Arc<Worker>>, mpsc::Receiver<()>, mpsc::Sender<Result<(), mpsc::RecvTimeoutError>>);

impl Drop for LastHandle {
    fn drop(&mut self) {
        let last = self.0.take().and_then(Arc::into_inner);
        assert!(last.is_some(), "test should hold the last handle");
        drop(last);
        // The channel is disconnected once the senders of all tasks are dropped.
        let ended = match self.1.recv_timeout(TIMEOUT) {
            Err(mpsc::RecvTimeoutError::Timeout) => Err(mpsc::RecvTimeoutError::Timeout),
            _ => Ok(()),
        };
        let _ = self.2.send(ended);
    }
}

/// Regression test: a finished task was dropped while its lock was held. This caused a deadlock if the task held the
/// last handle of its worker.
#[test]
fn finished_task_drop_can_end_worker() {
    let worker = Arc::new(worker());
    let (held, released) = mpsc::channel::<()>();
    for _ in 0..64 {
        let held = held.clone();
        spawn(&worker, async move {
            let _held = held;
            pending::<()>().await;
        });
    }
    drop(held);
    let (go, gone) = oneshot::channel::<()>();
    let (sender, ended) = mpsc::channel();
    let last = LastHandle(Some(worker.clone()), released, sender);
    let mut gone = Box::pin(gone);
    spawn(
        &worker,
        poll_fn(move |context| {
            let _ = &last; // Captured, so that it is dropped with the task rather than when the task returns.
            gone.as_mut().poll(context).map(drop)
        }),
    );
    drop(worker);
    go.send(()).expect("task should wait for its start signal");
    assert_eq!(ended.recv(), Ok(Ok(())), "other tasks of the worker should be dropped");
}

#[test]
fn panicking_task_does_not_stop_others() {
    let worker = worker();
    let blocks = Arc::new(());
    let holder = blocks.clone();
    spawn(&worker, async move {
        let _holder = holder;
        panic!("on purpose");
    });
    until(|| Arc::strong_count(&blocks) == 1);
    let (sender, ready) = mpsc::channel();
    spawn(&worker, async move { sender.send(()).expect("receiver of the task should not be dropped") });
    ready.recv_timeout(TIMEOUT).expect("task should run within the timeout");
}

#[test]
fn task_woken_last_runs_after_sockets() {
    let worker = worker();
    let (sender, ready) = mpsc::channel();
    spawn(&worker, async move {
        // The timer is due, but this is noticed only when timers are polled.
        let mut timer = pin!(tokio::time::sleep(Duration::from_millis(1)));
        assert!(poll_fn(|context| Poll::Ready(timer.as_mut().poll(context).is_pending())).await);
        thread::sleep(Duration::from_millis(3));
        let mut polls = 0;
        poll_fn(|context| {
            polls += 1;
            if polls == 1 {
                assert!(wake_last(context.waker()));
                return Poll::Pending;
            }
            timer.as_mut().poll(context)
        })
        .await;
        sender.send(polls).expect("receiver of the count should not be dropped");
    });
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(2));
    assert!(!wake_last(Waker::noop()), "thread should not belong to a worker");
}

#[test]
fn blocking_task_resumes_on_sleeping_thread() {
    let worker = worker();
    let (release, released) = mpsc::channel::<()>();
    let (sender, ready) = mpsc::channel();
    let mut polls = 0;
    spawn(
        &worker,
        poll_fn(move |context| {
            polls += 1;
            let _ = sender.send(polls);
            if polls > 1 {
                return Poll::Ready(());
            }
            let _ = released.recv();
            assert!(wake_last(context.waker()), "task should run on a worker");
            Poll::Pending
        }),
    );
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(1));
    // Only a thread that has taken over can be asleep at this point.
    until(|| worker.is_asleep());
    drop(release);
    assert_eq!(ready.recv_timeout(TIMEOUT), Ok(2));
}

/// Regression test: a woken task had to wait until all tasks that yield continuously had been polled.
#[test]
fn woken_task_precedes_most_continuing_tasks() {
    const GOING_ON: usize = 100;
    let worker = worker();
    let (polls, waker) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(None::<Waker>)));
    let (sender, waits) = mpsc::channel();
    let (starts, woken_at) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    spawn(&worker, {
        let (polls, waker, woken_at) = (polls.clone(), waker.clone(), woken_at.clone());
        poll_fn(move |context| {
            if waker.lock().replace(context.waker().clone()).is_some() {
                let _ = sender.send(polls.load(Ordering::Relaxed) - woken_at.load(Ordering::Relaxed));
            }
            Poll::Pending
        })
    });
    for number in 0..GOING_ON {
        let (polls, waker, woken_at) = (polls.clone(), waker.clone(), woken_at.clone());
        let (starts, mut is_new) = (starts.clone(), true);
        spawn(
            &worker,
            poll_fn(move |context| {
                starts.fetch_add(usize::from(std::mem::take(&mut is_new)), Ordering::Relaxed);
                let count = polls.fetch_add(1, Ordering::Relaxed) + 1;
                if number == 0
                    && starts.load(Ordering::Relaxed) == GOING_ON
                    && let Some(waker) = &*waker.lock()
                {
                    woken_at.store(count, Ordering::Relaxed);
                    waker.wake_by_ref();
                }
                assert!(wake_last(context.waker()), "task should run on a worker");
                Poll::Pending
            }),
        );
    }
    for _ in 0..10 {
        let wait = waits.recv_timeout(TIMEOUT).expect("task should report its delay within the timeout");
        assert!(wait < 8, "task waited for {wait} polls of {GOING_ON} others");
    }
}
