use super::{Carrier, Job, JobStart, Placement, SPARE_MAX, Tasks};
use crate::account::Budget;
use crate::connection::ConnectionExt;
use crate::connection::{Connection, EndpointInfo, Task};
use crate::{Operation, PacketId};
use std::future::pending;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};

const CALL: (PacketId, Operation) = (PacketId(1), Operation::FIRST_USER);

fn connection() -> Connection {
    let budget = Arc::new(Budget::new(usize::MAX, usize::MAX));
    Connection::server(&Default::default(), &budget, Handle::current(), EndpointInfo::default())
}

/// Yields to the runtime until no task can make progress.
async fn settle() {
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
}

/// Returns the number of tasks that are alive in the current runtime.
fn tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// Returns the number of running calls that the peer could cancel.
fn calls(connection: &Connection) -> usize {
    connection
        .0
        .work
        .table
        .lock()
        .slots
        .as_ref()
        .map_or(0, |slots| slots.all.iter().filter(|slot| slot.call.is_some()).count())
}

/// Spawns a job that handles a call. The job waits for a permit, tries to reply, and then reports through `sender`
/// whether it could.
fn answer_when_permitted(connection: &Connection, permits: &Arc<Semaphore>, sender: &mpsc::UnboundedSender<bool>) {
    let (permits, sender) = (permits.clone(), sender.clone());
    let spawned = connection.spawn_call(Some(CALL), 0, Placement::Runtime, |task: Task| {
        Box::pin(async move {
            permits.acquire().await.expect("semaphore should not be closed").forget();
            let mut answered = false;
            task.answer(|_| answered = true).expect("connection should be open");
            sender.send(answered).expect("receiver of the result should not be dropped");
        })
    });
    assert!(spawned);
}

#[tokio::test]
async fn finished_task_runs_next_job() {
    let connection = connection();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for _ in 0..3 {
        let sender = sender.clone();
        connection.spawn(async move {
            tokio::task::yield_now().await;
            sender.send(tokio::task::id()).expect("receiver of the task id should not be dropped");
        });
        settle().await;
        assert_eq!(connection.running(), 0);
    }
    let first = receiver.recv().await;
    assert!(first.is_some());
    assert_eq!(receiver.recv().await, first);
    assert_eq!(receiver.recv().await, first);
}

#[tokio::test]
async fn concurrent_jobs_get_own_tasks() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(0));
    let jobs = SPARE_MAX + 36;
    for _ in 0..2 {
        for _ in 0..jobs {
            let permits = permits.clone();
            connection.spawn(async move { permits.acquire().await.expect("semaphore should not be closed").forget() });
        }
        settle().await;
        assert_eq!((connection.running(), tasks()), (jobs, jobs));
        permits.add_permits(jobs);
        settle().await;
        assert_eq!((connection.running(), tasks()), (0, SPARE_MAX));
    }
    let last = permits.clone();
    connection.spawn(async move { last.acquire().await.expect("semaphore should not be closed").forget() });
    assert_eq!((connection.running(), tasks()), (1, SPARE_MAX), "job should run in a kept task");
    permits.add_permits(1);
    settle().await;
    connection.0.work.release();
    settle().await;
    assert_eq!(tasks(), 0, "idle connection should keep no tasks");
}

#[tokio::test]
async fn panicked_job_frees_its_slot() {
    let connection = connection();
    let done = Arc::new(AtomicUsize::new(0));
    for round in 1..=3 {
        connection.spawn(async { panic!("on purpose") });
        settle().await;
        let done = done.clone();
        connection.spawn(async move {
            done.fetch_add(1, Ordering::Relaxed);
        });
        settle().await;
        assert_eq!(connection.running(), 0, "round {round}");
    }
    assert_eq!(done.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn aborted_task_does_not_stop_others() {
    let connection = connection();
    let (first, second) = (Arc::new(()), Arc::new(()));
    let spawn = |canary: &Arc<()>| {
        let canary = canary.clone();
        connection.spawn(async move {
            let _canary = canary;
            pending::<()>().await;
        })
    };
    let (aborted, other) = (spawn(&first), spawn(&second));
    settle().await;
    assert!(aborted.abort() && aborted.is_finished());
    settle().await;
    assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 2));
    // A new task reuses the slot of the aborted one.
    let third = spawn(&first);
    assert!(!aborted.abort() && !third.is_finished() && !other.is_finished());
    assert_eq!(connection.running(), 2);
    let quick = connection.spawn(async {});
    settle().await;
    assert!(quick.is_finished() && !quick.abort());
    connection.0.work.abort();
    assert!(third.is_finished() && !third.abort());
}

#[tokio::test]
async fn connection_end_drops_jobs_and_tasks() {
    let connection = connection();
    let canary = Arc::new(());
    connection.spawn(async {});
    settle().await;
    for _ in 0..3 {
        let canary = canary.clone();
        connection.spawn(async move {
            let _canary = canary;
            pending::<()>().await;
        });
    }
    // One of the jobs has not been polled yet when the connection ends.
    assert_eq!((connection.running(), Arc::strong_count(&canary)), (3, 4));
    connection.0.work.abort();
    settle().await;
    assert_eq!((Arc::strong_count(&canary), tasks()), (1, 0));
    let late = canary.clone();
    connection.spawn(async move { drop(late) });
    settle().await;
    assert_eq!((Arc::strong_count(&canary), tasks()), (1, 0), "closed connection should start no jobs");
}

#[tokio::test]
async fn call_is_either_answered_or_cancelled() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(0));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for _ in 0..3 {
        answer_when_permitted(&connection, &permits, &sender);
        settle().await;
        assert!(connection.cancel_call(CALL.0, CALL.1));
        assert!(!connection.cancel_call(CALL.0, CALL.1), "call should be cancelled only once");
        assert_eq!(connection.running(), 0, "peer should be able to make its next call immediately");
        settle().await;

        answer_when_permitted(&connection, &permits, &sender);
        permits.add_permits(1);
        assert_eq!(receiver.recv().await, Some(true));
        assert!(!connection.cancel_call(CALL.0, CALL.1), "call with a reply should not be cancelled");
        settle().await;
        assert_eq!((connection.running(), tasks(), calls(&connection)), (0, 1, 0));
    }
    assert!(receiver.try_recv().is_err(), "other jobs should be dropped");
    assert!(connection.spawn_call(Some(CALL), 0, Placement::Runtime, |task| Box::pin(async move { drop(task) })));
    assert_eq!(calls(&connection), 1);
    settle().await;
    assert_eq!((connection.running(), calls(&connection)), (0, 0), "job that ended without a reply should be removed");
}

#[tokio::test]
async fn job_frees_its_slot_with_its_answer() {
    let connection = connection();
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let running = connection.clone();
    assert!(connection.spawn_call(None, 0, Placement::Runtime, |task| Box::pin(async move {
        task.answer(|_| sender.send(running.running()).expect("receiver of the count should not be dropped"))
            .expect("connection should be open");
        pending::<()>().await;
    })));
    assert_eq!(connection.running(), 1);
    assert_eq!(receiver.recv().await, Some(0));
}

/// A cancelled job may still be running in a poll while its connection already counts as idle and receives the next
/// call.
#[tokio::test]
async fn job_outliving_slot_spares_next_call() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(0));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (second, went_on) = (sender.clone(), permits.clone());
    let peer = connection.clone();
    let spawned = connection.spawn_call(Some(CALL), 0, Placement::Runtime, |task| {
        Box::pin(async move {
            assert!(peer.cancel_call(CALL.0, CALL.1));
            peer.0.work.release();
            answer_when_permitted(&peer, &went_on, &second);
            let mut answered = false;
            task.answer(|_| answered = true).expect("connection should be open");
            second.send(answered).expect("receiver of the result should not be dropped");
        })
    });
    assert!(spawned);
    assert_eq!(receiver.recv().await, Some(false), "job should notice that its call was cancelled");
    assert_eq!((connection.running(), calls(&connection)), (1, 1), "second call should continue");
    permits.add_permits(1);
    assert_eq!(receiver.recv().await, Some(true));
    settle().await;
    assert_eq!((connection.running(), calls(&connection)), (0, 0));
}

#[tokio::test]
async fn call_cancelled_before_task_start_never_begins() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(1));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    answer_when_permitted(&connection, &permits, &sender);
    assert!(connection.cancel_call(CALL.0, CALL.1));
    settle().await;
    assert!(receiver.try_recv().is_err());
    assert_eq!((connection.running(), permits.available_permits()), (0, 1));
}

#[tokio::test]
async fn later_call_with_same_id_is_cancellable() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(0));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    for _ in 0..2 {
        answer_when_permitted(&connection, &permits, &sender);
        answer_when_permitted(&connection, &permits, &sender);
        permits.add_permits(2);
        assert_eq!((receiver.recv().await, receiver.recv().await), (Some(true), Some(true)));
    }
    answer_when_permitted(&connection, &permits, &sender);
    answer_when_permitted(&connection, &permits, &sender);
    permits.add_permits(1);
    assert_eq!(receiver.recv().await, Some(true));
    assert!(connection.cancel_call(CALL.0, CALL.1), "later call should be found");
    settle().await;
    assert_eq!((connection.running(), calls(&connection)), (0, 0));
}

#[tokio::test]
async fn job_outlasting_slot_delays_next_until_end() {
    let connection = connection();
    let permits = Arc::new(Semaphore::new(0));
    let (sender, mut receiver) = mpsc::unbounded_channel();
    let (first, second) = (permits.clone(), sender.clone());
    let spawned = connection.spawn_call(None, 0, Placement::Runtime, |task| {
        Box::pin(async move {
            tokio::task::yield_now().await;
            drop(task);
            first.acquire().await.expect("semaphore should not be closed").forget();
            sender.send(1).expect("receiver of the value should not be dropped");
        })
    });
    assert!(spawned);
    settle().await;
    connection.spawn(async move { second.send(2).expect("receiver of the value should not be dropped") });
    settle().await;
    permits.add_permits(1);
    assert_eq!((receiver.recv().await, receiver.recv().await), (Some(1), Some(2)));
}

/// A job whose destructor panics.
struct PanickingJob(Job);

impl Future for PanickingJob {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(context)
    }
}

impl Drop for PanickingJob {
    fn drop(&mut self) {
        panic!("destructor panics on purpose");
    }
}

#[tokio::test]
async fn job_panic_after_answer_spares_next_job() {
    for panics_in_drop in [false, true] {
        let connection = connection();
        let permits = Arc::new(Semaphore::new(0));
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let permit = permits.clone();
        let spawned = connection.spawn_call(None, 0, Placement::Runtime, |task| {
            let job: Job = Box::pin(async move {
                tokio::task::yield_now().await;
                drop(task);
                permit.acquire().await.expect("semaphore should not be closed").forget();
                assert!(panics_in_drop, "on purpose");
            });
            if panics_in_drop { Box::pin(PanickingJob(job)) } else { job }
        });
        assert!(spawned);
        settle().await;
        connection.spawn(async move { sender.send(()).expect("receiver of the job should not be dropped") });
        permits.add_permits(1);
        assert_eq!(receiver.recv().await, Some(()));
    }
}

/// Reserves a job slot. Returns the slot with its idle task, if there is one.
fn begin(work: &Tasks, on_worker: bool) -> (super::JobSlotId, Option<Arc<Carrier>>) {
    match work.begin(None, None, on_worker) {
        JobStart::Yes { id: slot, spare, on_worker: is_there } => {
            assert_eq!(is_there, on_worker);
            (slot, spare)
        }
        JobStart::Full | JobStart::Ended => panic!("number of jobs should not be limited"),
    }
}

#[test]
fn job_reuses_only_tasks_of_its_executor() {
    let work = Tasks::default();
    let carriers = [false, true].map(Carrier::new);
    for carrier in &carriers {
        let (slot, spare) = begin(&work, carrier.is_on_worker());
        assert!(spare.is_none());
        work.start(slot, carrier);
        work.end(slot);
    }
    for carrier in carriers.iter().chain(&carriers) {
        let (slot, spare) = begin(&work, carrier.is_on_worker());
        assert!(spare.is_some_and(|spare| Arc::ptr_eq(&spare, carrier)));
        work.end(slot);
    }
}

#[test]
fn jobs_leave_worker_briefly_after_long_job() {
    let work = Tasks::default();
    let (slot, _) = begin(&work, true);
    let now = Instant::now();
    work.detach(now);
    work.end(slot);
    assert!(matches!(work.begin(None, None, true), JobStart::Yes { on_worker: false, .. }));
    let long_ago = now
        .checked_sub(2 * crate::rpc::PENALTY_MIN)
        .expect("monotonic clock should have advanced by twice the minimum period");
    let work = Tasks::default();
    let (slot, _) = begin(&work, true);
    work.detach(long_ago);
    work.end(slot);
    assert!(matches!(work.begin(None, None, true), JobStart::Yes { on_worker: true, .. }));
}
