//! Explores the interleavings of a task and the threads that wake it, within the checker's bounds.

use super::*;
use loom::thread;

/// Polls the task once. Returns whether the poll has seen all writes made before the wake-up, and the action required
/// next.
fn poll(phase: &TaskPhase, done: &loom::sync::atomic::AtomicBool) -> (bool, AfterPoll) {
    phase.begin();
    let is_done = done.load(Ordering::Relaxed);
    (is_done, phase.end())
}

#[test]
fn woken_task_is_queued_once_seeing_writes() {
    loom::model(|| {
        let phase = loom::sync::Arc::new(TaskPhase::queued());
        let done = loom::sync::Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let other = thread::spawn({
            let (phase, done) = (phase.clone(), done.clone());
            move || {
                done.store(true, Ordering::Relaxed);
                phase.wake()
            }
        });
        let (mut is_done, mut after) = poll(&phase, &done);
        let is_queued = after == AfterPoll::Woken;
        if is_queued {
            (is_done, after) = poll(&phase, &done);
        }
        let queued_by_other = other.join().expect("thread should not panic");
        assert!(!(is_queued && queued_by_other), "task should not be queued twice");
        if queued_by_other {
            (is_done, after) = poll(&phase, &done);
        }
        assert!(is_done && after == AfterPoll::Idle, "last poll should have seen all wake-ups");
    });
}

#[test]
fn task_ended_while_polled_is_dropped_once() {
    loom::model(|| {
        let phase = loom::sync::Arc::new(TaskPhase::queued());
        phase.begin();
        let other = thread::spawn({
            let phase = phase.clone();
            move || phase.stop()
        });
        let after = phase.end();
        let is_polled = other.join().expect("thread should not panic");
        assert_eq!(after == AfterPoll::Over, is_polled);
        assert!(!phase.wake(), "wake-up should not queue the task");
    });
}
