//! Explores the interleavings of jobs and the threads that start, cancel and end them, within the checker's bounds.

use super::*;
use loom::thread;

const CALL: Call = (PacketId(1), Operation::FIRST_USER);

/// Reserves the only job slot, which must be unused.
fn begin(work: &Tasks) -> JobSlotId {
    match work.begin(Some(1), Some(CALL), false) {
        JobStart::Yes { id, .. } => id,
        JobStart::Full | JobStart::Ended => panic!("job slot should be free"),
    }
}

#[test]
fn cancelled_job_leaves_next_answer_intact() {
    loom::model(|| {
        let work = loom::sync::Arc::new(Tasks::default());
        let first = begin(&work);
        work.start(first, &Carrier::new(false));
        // The job runs on another thread and replies there.
        let answers = thread::spawn({
            let work = work.clone();
            move || work.end(first).had_call
        });
        let cancelled = work.cancel(CALL);
        work.release();
        let second = begin(&work);
        work.start(second, &Carrier::new(false));
        assert!(work.end(second).had_call, "second call should be answered by its own job");
        let answered = answers.join().expect("thread should not panic");
        assert!(answered != cancelled, "first call should have one outcome");
    });
}

#[test]
fn job_cancelled_during_takeover_ends_with_task() {
    loom::model(|| {
        let work = loom::sync::Arc::new(Tasks::default());
        let job = begin(&work);
        work.start(job, &Carrier::new(true));
        let next = Carrier::new(false);
        let takes_over = thread::spawn({
            let (work, next) = (work.clone(), next.clone());
            move || work.move_job(job, &next)
        });
        assert!(work.cancel(CALL), "job without a reply should be cancelled");
        let has_moved = takes_over.join().expect("thread should not panic");
        assert_eq!(next.is_to_end(), has_moved);
    });
}

#[test]
fn job_started_during_release_keeps_its_slot() {
    loom::model(|| {
        let work = loom::sync::Arc::new(Tasks::default());
        let first = begin(&work);
        work.start(first, &Carrier::new(false));
        work.end(first);
        let idle = thread::spawn({
            let work = work.clone();
            move || work.release()
        });
        let second = begin(&work);
        work.start(second, &Carrier::new(false));
        assert_eq!(work.len(), 1);
        assert!(work.cancel(CALL), "job should be found by its call");
        idle.join().expect("thread should not panic");
        assert_eq!(work.len(), 0);
    });
}
