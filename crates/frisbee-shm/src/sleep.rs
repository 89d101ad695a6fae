//! The protocol that wakes a sleeping end and does not disturb a running one.
//!
//! An end about to sleep sets a flag and then checks once more; an end that has published bytes checks the flag
//! afterwards. With a full fence in between on either side, at least one of them sees the change of the other.

#[cfg(frisbee_loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(not(frisbee_loom))]
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Sets the flag of an end that is about to sleep. `true` if it may: the peer will ring for bytes published from now
/// on. It may ring even if this is `false`.
pub(crate) fn may_sleep(flag: &AtomicU32, has_come: impl FnOnce() -> bool) -> bool {
    // By a swap, which is ordered after all earlier changes of the flag by the peer.
    flag.swap(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    if has_come() {
        flag.store(0, Ordering::Relaxed);
        return false;
    }
    true
}

/// Takes the flag of the peer after something has been published for it. `true` if the bell is to be rung, which is once
/// for each time that the flag was set.
pub(crate) fn must_ring(flag: &AtomicU32) -> bool {
    fence(Ordering::SeqCst);
    // Mostly it is not set, and then its cache line stays with its owner.
    flag.load(Ordering::Relaxed) != 0 && flag.swap(0, Ordering::Relaxed) != 0
}

/// Takes back the flag of an end that does not sleep any more.
#[cfg_attr(frisbee_loom, allow(dead_code))]
pub(crate) fn awake(flag: &AtomicU32) {
    if flag.load(Ordering::Relaxed) != 0 {
        flag.store(0, Ordering::Relaxed);
    }
}

#[cfg(all(test, frisbee_loom))]
mod models {
    use super::*;
    use loom::sync::{Arc, Condvar, Mutex};
    use loom::thread;

    struct Shared {
        published: AtomicU32,
        flag: AtomicU32,
        /// How often the bell has rung.
        rung: Mutex<u32>,
        bell: Condvar,
    }

    impl Shared {
        fn new() -> Arc<Self> {
            let [published, flag] = [0; 2].map(AtomicU32::new);
            Arc::new(Self { published, flag, rung: Mutex::new(0), bell: Condvar::new() })
        }

        fn rung(&self) -> u32 {
            *self.rung.lock().expect("lock should not be poisoned")
        }
    }

    /// Publishes `count` values one after the other, as the end that is awake does.
    fn publisher(shared: &Arc<Shared>, count: u32) -> thread::JoinHandle<()> {
        let shared = shared.clone();
        thread::spawn(move || {
            for value in 1..=count {
                shared.published.store(value, Ordering::Release);
                if must_ring(&shared.flag) {
                    *shared.rung.lock().expect("lock should not be poisoned") += 1;
                    shared.bell.notify_one();
                }
            }
        })
    }

    #[test]
    fn sleeping_end_has_seen_all_or_gets_a_bell() {
        loom::model(|| {
            let shared = Shared::new();
            let publishing = publisher(&shared, 1);
            let sleeps = may_sleep(&shared.flag, || shared.published.load(Ordering::Acquire) == 1);
            publishing.join().expect("thread should not panic");
            if sleeps {
                assert_eq!(shared.rung(), 1, "an end sleeps without a ring");
            }
        });
    }

    #[test]
    fn repeated_sleeps_miss_no_publication() {
        loom::model(|| {
            let shared = Shared::new();
            let publishing = publisher(&shared, 2);
            let mut rung_before = 0;
            loop {
                let seen = shared.published.load(Ordering::Acquire);
                if seen == 2 {
                    break;
                }
                // A bell may be for bytes that had been seen before; then it sleeps once more. A missing bell is found
                // by the model.
                if may_sleep(&shared.flag, || shared.published.load(Ordering::Acquire) > seen) {
                    let mut rung = shared.rung.lock().expect("lock should not be poisoned");
                    while *rung == rung_before {
                        rung = shared.bell.wait(rung).expect("task should not panic");
                    }
                    rung_before = *rung;
                }
            }
            publishing.join().expect("thread should not panic");
        });
    }

    #[test]
    fn awake_end_gets_at_most_one_bell() {
        loom::model(|| {
            let shared = Shared::new();
            let publishing = publisher(&shared, 2);
            if may_sleep(&shared.flag, || shared.published.load(Ordering::Acquire) > 0) {
                awake(&shared.flag);
            }
            publishing.join().expect("thread should not panic");
            assert!(shared.rung() <= 1);
        });
    }
}
