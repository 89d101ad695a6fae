//! Explores the interleavings of a task and the threads that assign jobs to it, within the checker's bounds. The
//! checker reports a lost job as a deadlock.

use super::*;
use loom::future::block_on;
use loom::sync::Notify;
use loom::thread;
use std::future::{pending, poll_fn};

/// Model of a job slot. It sends a notification when it is dropped.
struct JobSlot(loom::sync::Arc<Notify>);

impl Drop for JobSlot {
    fn drop(&mut self) {
        self.0.notify();
    }
}

fn job(left: &loom::sync::Arc<Notify>, ends: bool) -> AssignedJob {
    let slot = JobSlot(left.clone());
    let job = Box::pin(async move {
        let _slot = slot;
        if !ends {
            pending::<()>().await;
        }
    });
    AssignedJob::new(job, JobSlotId { slot: 0, job: 1 }, Placement::Runtime)
}

/// Spawns a reusable task that has already ended its first job.
fn begin(ends: bool) -> (Arc<Carrier>, loom::sync::Arc<Notify>, thread::JoinHandle<()>) {
    let carrier = Carrier::new(false);
    let left = loom::sync::Arc::new(Notify::new());
    let mut carrying = carrier.clone().carry(job(&left, ends));
    let task = thread::spawn(move || block_on(poll_fn(|context| Pin::new(&mut carrying).poll(context))));
    (carrier, left, task)
}

#[test]
fn job_assigned_to_freed_slot_runs() {
    loom::model(|| {
        let (carrier, left, task) = begin(true);
        left.wait();
        let second = loom::sync::Arc::new(Notify::new());
        assert!(carrier.give(job(&second, true)).is_ok());
        second.wait();
        carrier.end();
        task.join().expect("thread should not panic");
    });
}

#[test]
fn ending_task_drops_job_in_any_state() {
    loom::model(|| {
        let (carrier, left, task) = begin(false);
        carrier.end();
        left.wait();
        task.join().expect("thread should not panic");
        assert!(carrier.give(job(&left, true)).is_err(), "no task is there to do it");
    });
}

#[test]
fn ending_task_never_loses_given_job() {
    loom::model(|| {
        let (carrier, left, task) = begin(true);
        left.wait();
        let other = thread::spawn({
            let carrier = carrier.clone();
            move || carrier.end()
        });
        let second = loom::sync::Arc::new(Notify::new());
        // The job completes, is dropped with the task, or is returned.
        drop(carrier.give(job(&second, false)));
        second.wait();
        other.join().expect("thread should not panic");
        task.join().expect("thread should not panic");
    });
}
