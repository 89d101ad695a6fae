//! Protocol that wakes a sleeping end without disturbing a running one.
//!
//! An end that is about to sleep sets a flag and then checks for progress once more. An end that has published bytes
//! checks the flag afterwards. Because of a full fence between the two steps on each side, at least one end sees the
//! other's change.

#[cfg(frisbee_loom)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(not(frisbee_loom))]
use std::sync::atomic::{AtomicU32, Ordering, fence};

/// Sets the sleep flag of an end. Returns true if the end may sleep, because the peer will send a wake-up for bytes
/// published afterwards. The peer may send one even if this returns false.
pub(crate) fn may_sleep(flag: &AtomicU32, has_come: impl FnOnce() -> bool) -> bool {
    // Use a swap, because it is ordered after all earlier changes of the flag by the peer.
    flag.swap(1, Ordering::Relaxed);
    // Pairs with the fence in `must_ring`: either this end sees the bytes, or the peer sees the flag.
    fence(Ordering::SeqCst);
    if has_come() {
        flag.store(0, Ordering::Relaxed);
        return false;
    }
    true
}

/// Clears the peer's sleep flag after data or space for it was published. Returns true if the peer must be woken, which
/// happens once each time the flag is set.
pub(crate) fn must_ring(flag: &AtomicU32) -> bool {
    // Pairs with the fence in `may_sleep`: either the peer sees the bytes, or this end sees the flag.
    fence(Ordering::SeqCst);
    // Load first, because the flag is usually clear, and its cache line then stays with the peer.
    flag.load(Ordering::Relaxed) != 0 && flag.swap(0, Ordering::Relaxed) != 0
}

/// Clears the sleep flag of an end that is no longer waiting.
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
        /// Number of wake-ups sent to the sleeping end.
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

    /// Publishes `count` values one by one, and wakes the other end if it sleeps.
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
    fn sleeping_end_never_misses_wakeup() {
        loom::model(|| {
            let shared = Shared::new();
            let publishing = publisher(&shared, 1);
            let sleeps = may_sleep(&shared.flag, || shared.published.load(Ordering::Acquire) == 1);
            publishing.join().expect("publisher thread should not panic");
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
                // A wake-up may be for bytes that were seen before. The thread then sleeps again. The model detects a
                // missing wake-up as a deadlock.
                if may_sleep(&shared.flag, || shared.published.load(Ordering::Acquire) > seen) {
                    let mut rung = shared.rung.lock().expect("lock should not be poisoned");
                    while *rung == rung_before {
                        rung = shared.bell.wait(rung).expect("lock should not be poisoned");
                    }
                    rung_before = *rung;
                }
            }
            publishing.join().expect("publisher thread should not panic");
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
            publishing.join().expect("publisher thread should not panic");
            assert!(shared.rung() <= 1);
        });
    }
}
