//! Explores the interleavings of reservations, releases and waiting tasks, within the checker's bounds.

use super::*;
use loom::future::block_on;
use loom::thread;
use std::future::poll_fn;
use std::sync::Arc;

fn account(budget: &Arc<Budget>) -> Arc<Account> {
    Arc::new(Account::of_peer(budget.enter(CallerKey::Unknown)))
}

#[test]
fn model_reservations_of_threads_return_fully() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(1 << 20, 0));
        let account = account(&budget);
        let other = account.clone();
        let reserving = thread::spawn(move || {
            assert!(other.take(800));
            other.release(800);
        });
        assert!(account.take(1600));
        account.release(1600);
        reserving.join().expect("thread should not panic");
        assert_eq!((account.charged(), budget.charged()), (0, 0));
    });
}

#[test]
fn model_last_bytes_are_taken_once() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(1000, 0));
        let [one, two] = [(); 2].map(|()| Arc::new(Account::alone(budget.clone())));
        let taking = thread::spawn(move || one.take(600));
        let is_taken = two.take(600);
        assert!(taking.join().expect("thread should not panic") != is_taken);
        assert_eq!(budget.charged(), 600);
    });
}

#[test]
fn model_released_memory_wakes_its_waiter() {
    loom::model(|| {
        let budget = Arc::new(Budget::new(1000, 0));
        let [holder, waiting] = [(); 2].map(|()| Arc::new(Account::alone(budget.clone())));
        assert!(holder.take(900));
        let releasing = thread::spawn(move || holder.release(900));
        let mut waiter = MemoryWaiter::new(&waiting);
        // The checker reports a lost wake-up as a deadlock.
        drop(block_on(poll_fn(|context| waiter.poll_reserve(context, 500))));
        releasing.join().expect("thread should not panic");
        assert_eq!(budget.charged(), 0);
    });
}
