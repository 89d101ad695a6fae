//! Explores the interleavings of wake-ups and the task that forwards them, within the checker's bounds.

use super::*;
use loom::future::block_on;
use loom::thread;
use std::future::poll_fn;

/// Waker of a connection's driver, which records that it was woken.
#[derive(Default)]
struct Driver(AtomicBool);

impl Wake for Driver {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Creates a queue that is in use, with a connection and the waker of its driver.
fn connection() -> (Arc<Connection>, Arc<Driver>) {
    let runtime = runtime::Builder::new_current_thread().build().expect("runtime should build");
    let state = State { connections: DIRECT_MAX + 1, tasks: 1, ..State::default() };
    let queue =
        WakeQueue { runtime: runtime.handle().clone(), is_used: AtomicBool::new(true), state: Mutex::new(state) };
    let driver = Arc::new(Driver::default());
    let task = OnceLock::from(Waker::from(driver.clone()));
    (Arc::new(Connection { queue: Arc::new(queue), task, is_queued: AtomicBool::new(false) }), driver)
}

/// Forwards wake-ups until the driver has seen all writes. The checker reports a lost wake-up as a deadlock.
fn forward_until(connection: &Connection, driver: &Driver, has_seen_all: impl Fn() -> bool) {
    let mut forwarding = Passing(connection.queue.clone());
    block_on(poll_fn(|context| {
        drop(Pin::new(&mut forwarding).poll(context));
        if driver.0.swap(false, Ordering::Acquire) && has_seen_all() { Poll::Ready(()) } else { Poll::Pending }
    }));
}

#[test]
fn model_queued_wakeup_reaches_driver_with_its_writes() {
    loom::model(|| {
        let (connection, driver) = connection();
        let done = loom::sync::Arc::new(AtomicBool::new(false));
        let caller = thread::spawn({
            let (connection, done) = (connection.clone(), done.clone());
            move || {
                done.store(true, Ordering::Relaxed);
                connection.wake_by_ref();
            }
        });
        forward_until(&connection, &driver, || done.load(Ordering::Relaxed));
        caller.join().expect("thread should not panic");
    });
}

#[test]
fn model_wakeups_of_two_callers_are_not_lost() {
    loom::model(|| {
        let (connection, driver) = connection();
        let done = [(); 2].map(|()| loom::sync::Arc::new(AtomicBool::new(false)));
        let callers = done.clone().map(|done| {
            let connection = connection.clone();
            thread::spawn(move || {
                done.store(true, Ordering::Relaxed);
                connection.wake_by_ref();
            })
        });
        forward_until(&connection, &driver, || done.iter().all(|done| done.load(Ordering::Relaxed)));
        callers.into_iter().for_each(|caller| caller.join().expect("thread should not panic"));
        // Clear the queue by removing its last connection. The queue may still contain the connection, and the two
        // would form a reference cycle.
        connection.queue.state.lock().connections = 1;
        connection.queue.remove();
    });
}

#[test]
fn model_last_connection_ends_forwarding_task() {
    loom::model(|| {
        let (connection, _) = connection();
        connection.queue.state.lock().connections = 1;
        let ending = thread::spawn({
            let queue = connection.queue.clone();
            move || queue.remove()
        });
        block_on(Passing(connection.queue.clone()));
        ending.join().expect("thread should not panic");
        assert_eq!(connection.queue.state.lock().tasks, 0);
    });
}
