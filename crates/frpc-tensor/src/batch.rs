//! [`Batcher`]: dynamic batching of concurrent calls into one call of a function, such as the inference of a model.
//!
//! Calls wait in a bounded queue. The first call on an empty queue spawns a task that runs batches until the queue is
//! empty. A batch runs once it has as many calls as were in flight when the previous one ended, or when its first call
//! has waited for the maximum delay. A single caller therefore waits for others only with its first call.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// Default maximum number of calls in a batch, chosen so that models on small machines can process it.
const SIZE_MAX: usize = 64;

/// Default maximum time that the first call of a batch waits for others. Too short to be noticed by callers over a
/// network.
const DELAY_MAX: Duration = Duration::from_millis(2);

/// Default length of the queue, measured in full batches. A queued call thus waits for at most this many batches to be
/// processed.
const BATCHES_AHEAD: usize = 16;

/// Reason why a batched call has no result. `frpc` converts it to a status.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BatchError {
    /// The queue is full.
    Full,
    /// The function that processes batches panicked.
    Panicked,
    /// The function returned a different number of results than the batch has calls.
    ResultCount {
        /// Number of results that the function returned.
        results: usize,
        /// Number of calls in the batch, and of expected results.
        calls: usize,
    },
    /// The runtime that processes batches has shut down.
    Ended,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full => f.write_str("too many calls are queued for the function"),
            Self::Panicked => f.write_str("the function of a batch has panicked"),
            Self::ResultCount { results, calls } => write!(f, "{results} results for {calls} calls of a batch"),
            Self::Ended => f.write_str("batches are no longer processed"),
        }
    }
}

impl std::error::Error for BatchError {}

/// Combines concurrent calls of a method into batches for one function.
///
/// A handler passes its item to [`call`](Self::call) and receives the item's result. The function runs when
/// [`size_max`](BatcherBuilder::size_max) calls are queued, or as many as were in flight with the last batch, or when
/// the first call has waited for [`delay_max`](BatcherBuilder::delay_max). A single caller therefore waits only once.
/// The function never runs concurrently; the next batch is collected while it runs. Clones share the queue, and several
/// methods may share a batcher.
///
/// * **Deadlines and cancellation** apply to each call. A call that is cancelled or past its deadline is removed from
///   the queue. A call in a running batch ends at its deadline while the batch continues.
/// * **Errors are per item**: the function returns a `Result` for each item. If it panics or returns a wrong number of
///   results, all calls of the batch fail.
/// * **Overload** is rejected immediately: when [`queue_max`](BatcherBuilder::queue_max) calls are queued, further
///   calls fail with [`BatchError::Full`].
///
/// `E` is the error of the handler. With frpc's feature `batch` this can be `Status`.
///
/// ```
/// use frpc_tensor::batch::{BatchError, Batcher};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let doubles: Batcher<u32, u32, BatchError> = Batcher::builder().size_max(32).build(async |batch: Vec<u32>| {
///     // Long computations belong into `tokio::task::spawn_blocking`.
///     batch.into_iter().map(|number| Ok(2 * number)).collect()
/// });
/// let (two, four) = tokio::join!(doubles.call(1), doubles.call(2));
/// assert_eq!((two, four), (Ok(2), Ok(4)));
/// # }
/// ```
pub struct Batcher<T, R, E> {
    shared: Arc<Shared<T, R, E>>,
}

/// Builder of a [`Batcher`] with its settings.
#[derive(Clone, Debug)]
#[must_use]
pub struct BatcherBuilder {
    size_max: usize,
    delay_max: Duration,
    queue_max: Option<usize>,
}

type Results<R, E> = Pin<Box<dyn Future<Output = Vec<Result<R, E>>> + Send>>;

struct Shared<T, R, E> {
    size_max: usize,
    delay_max: Duration,
    queue_max: usize,
    run: Box<dyn Fn(Vec<T>) -> Results<R, E> + Send + Sync>,
    queue: Mutex<Queue<T, R, E>>,
    /// Notified when enough calls for a batch are queued.
    complete: Notify,
}

struct Queue<T, R, E> {
    waiting: VecDeque<PendingCall<T, R, E>>,
    /// Whether a task is currently processing batches.
    has_task: bool,
    /// Number of calls in the batch that is being processed.
    running: usize,
    /// Number of calls to wait for before the next batch starts, which is the number in flight when the last batch
    /// ended.
    expected: usize,
}

/// A queued call.
struct PendingCall<T, R, E> {
    item: T,
    arrived: Instant,
    reply: oneshot::Sender<Result<R, E>>,
}

impl BatcherBuilder {
    /// Sets the maximum number of calls in a batch. Defaults to 64; 0 counts as 1.
    pub fn size_max(self, count: usize) -> Self {
        Self { size_max: count.max(1), ..self }
    }

    /// Sets how long the first call of a batch waits for others. Defaults to 2 ms. If zero, a batch contains the calls
    /// that arrived while the previous one was being processed.
    pub fn delay_max(self, time: Duration) -> Self {
        Self { delay_max: time, ..self }
    }

    /// Sets the maximum number of queued calls. Defaults to 16 full batches. The minimum is one full batch.
    pub fn queue_max(self, count: usize) -> Self {
        Self { queue_max: Some(count), ..self }
    }

    /// Creates a batcher. `run` processes a batch and must return one result per item, in the order of the items.
    pub fn build<T, R, E, F>(self, run: impl Fn(Vec<T>) -> F + Send + Sync + 'static) -> Batcher<T, R, E>
    where
        F: Future<Output = Vec<Result<R, E>>> + Send + 'static,
    {
        let Self { size_max, delay_max, queue_max } = self;
        let queue_max = queue_max.unwrap_or(size_max.saturating_mul(BATCHES_AHEAD)).max(size_max);
        let run = Box::new(move |batch| Box::pin(run(batch)) as Results<R, E>);
        // The number of callers is unknown before the first batch.
        let queue = Mutex::new(Queue { waiting: VecDeque::new(), has_task: false, running: 0, expected: size_max });
        Batcher { shared: Arc::new(Shared { size_max, delay_max, queue_max, run, queue, complete: Notify::new() }) }
    }
}

impl Batcher<(), (), ()> {
    /// Creates a builder with the default settings.
    pub fn builder() -> BatcherBuilder {
        BatcherBuilder { size_max: SIZE_MAX, delay_max: DELAY_MAX, queue_max: None }
    }
}

impl<T, R, E> Batcher<T, R, E> {
    /// Returns the number of queued calls, excluding cancelled ones.
    pub fn waiting(&self) -> usize {
        self.shared.queue.lock().waiting.iter().filter(|waiting| !waiting.reply.is_closed()).count()
    }
}

impl<T: Send + 'static, R: Send + 'static, E: From<BatchError> + Send + 'static> Batcher<T, R, E> {
    /// Queues an item to be processed in a batch, and returns its result.
    ///
    /// # Errors
    /// The error of the item, or a converted [`BatchError`].
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    ///
    /// # Cancel safety
    /// Dropping the future excludes the item from later batches. The item itself is dropped when it reaches the front
    /// of the queue, or earlier if the queue is full. A running batch continues and its result is discarded.
    pub async fn call(&self, item: T) -> Result<R, E> {
        let (reply, replied) = oneshot::channel();
        self.shared.add(PendingCall { item, arrived: Instant::now(), reply })?;
        // The reply sender is dropped if the runtime of the task shuts down.
        replied.await.unwrap_or_else(|_| Err(BatchError::Ended.into()))
    }
}

impl<T: Send + 'static, R: Send + 'static, E: From<BatchError> + Send + 'static> Shared<T, R, E> {
    fn add(self: &Arc<Self>, waiting: PendingCall<T, R, E>) -> Result<(), E> {
        let mut cancelled = VecDeque::new();
        let mut queue = self.queue.lock();
        if queue.waiting.len() >= self.queue_max {
            // Remove cancelled calls to free their places in the queue.
            let waiting = std::mem::take(&mut queue.waiting).into_iter();
            (cancelled, queue.waiting) = waiting.partition(|waiting| waiting.reply.is_closed());
        }
        if queue.waiting.len() >= self.queue_max {
            drop(queue);
            return Err(BatchError::Full.into());
        }
        queue.waiting.push_back(waiting);
        let is_complete = queue.running == 0 && queue.waiting.len() >= queue.expected;
        let has_task = std::mem::replace(&mut queue.has_task, true);
        drop(queue);
        // Drop items without the lock, because they are the user's.
        drop(cancelled);
        if !has_task {
            tokio::spawn(Task { shared: self.clone(), is_over: false }.process());
        } else if is_complete {
            self.complete.notify_one();
        }
        Ok(())
    }

    /// Records that the function has returned. Must be called before the results are sent, because a caller that
    /// immediately calls again would otherwise be counted twice.
    fn returned(&self) {
        let mut queue = self.queue.lock();
        let running = std::mem::take(&mut queue.running);
        // Expect the callers of the last batch again, in addition to the queued ones.
        queue.expected = running.saturating_add(queue.waiting.len()).min(self.size_max);
    }

    /// Returns the next step of the task: to process a batch or to wait. Returns `None` if the queue is empty, which
    /// ends the task.
    fn next(&self) -> Option<Step<T, R, E>> {
        // Dropped after the lock is released.
        let mut cancelled = Vec::new();
        let mut queue = self.queue.lock();
        while queue.waiting.front().is_some_and(|waiting| waiting.reply.is_closed()) {
            cancelled.extend(queue.waiting.pop_front());
        }
        let Some(first) = queue.waiting.front() else {
            queue.has_task = false;
            return None;
        };
        // A delay beyond the range of the clock never expires.
        let due = first.arrived.checked_add(self.delay_max);
        if queue.waiting.len() < queue.expected && due.is_none_or(|due| Instant::now() < due) {
            return Some(Step::Wait(due));
        }
        let mut batch = Vec::with_capacity(queue.waiting.len().min(self.size_max));
        while batch.len() < self.size_max
            && let Some(waiting) = queue.waiting.pop_front()
        {
            if waiting.reply.is_closed() { &mut cancelled } else { &mut batch }.push(waiting);
        }
        queue.running = batch.len();
        Some(Step::Run(batch))
    }
}

enum Step<T, R, E> {
    Run(Vec<PendingCall<T, R, E>>),
    Wait(Option<Instant>),
}

/// The task that processes a batcher's queue. If the runtime drops it, all queued calls fail.
struct Task<T, R, E> {
    shared: Arc<Shared<T, R, E>>,
    is_over: bool,
}

impl<T, R, E> Drop for Task<T, R, E> {
    fn drop(&mut self) {
        if self.is_over {
            return;
        }
        let mut queue = self.shared.queue.lock();
        queue.has_task = false;
        queue.running = 0;
        let left = std::mem::take(&mut queue.waiting);
        drop(queue);
        drop(left);
    }
}

impl<T: Send + 'static, R: Send + 'static, E: From<BatchError> + Send + 'static> Task<T, R, E> {
    async fn process(mut self) {
        while let Some(step) = self.shared.next() {
            match step {
                Step::Wait(None) => self.shared.complete.notified().await,
                Step::Wait(Some(due)) => {
                    // Ignore a timeout. The batch then runs with the calls that have arrived.
                    let _ = tokio::time::timeout_at(due, self.shared.complete.notified()).await;
                }
                Step::Run(batch) => self.serve(batch).await,
            }
        }
        self.is_over = true;
    }

    /// Processes a batch and sends each call its result.
    async fn serve(&self, batch: Vec<PendingCall<T, R, E>>) {
        let (items, replies): (Vec<T>, Vec<_>) = batch.into_iter().map(|waiting| (waiting.item, waiting.reply)).unzip();
        let outcome = unwound(|| (self.shared.run)(items)).await;
        self.shared.returned();
        let error = match outcome {
            Some(results) if results.len() == replies.len() => {
                // An error means that the call was cancelled.
                return replies.into_iter().zip(results).for_each(|(reply, result)| drop(reply.send(result)));
            }
            Some(results) => BatchError::ResultCount { results: results.len(), calls: replies.len() },
            None => BatchError::Panicked,
        };
        replies.into_iter().for_each(|reply| drop(reply.send(Err(error.clone().into()))));
    }
}

/// Awaits the future that `make` creates. Returns `None` if creating or polling it panicked.
async fn unwound<F: Future + Unpin>(make: impl FnOnce() -> F) -> Option<F::Output> {
    // Assert unwind safety, because a future that panicked is dropped without another poll.
    let mut future = catch_unwind(AssertUnwindSafe(make)).ok()?;
    let poll = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| Pin::new(&mut future).poll(context))) {
        Ok(Poll::Pending) => Poll::Pending,
        Ok(Poll::Ready(output)) => Poll::Ready(Some(output)),
        Err(_) => Poll::Ready(None),
    });
    poll.await
}

impl<T, R, E> Clone for Batcher<T, R, E> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T, R, E> fmt::Debug for Batcher<T, R, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shared { size_max, delay_max, queue_max, .. } = &*self.shared;
        let mut shown = f.debug_struct("Batcher");
        shown.field("size_max", size_max).field("delay_max", delay_max).field("queue_max", queue_max);
        shown.finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake, Waker};

    /// Error type used in these tests, for an item or for its whole batch.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Failure {
        Item,
        Batch(BatchError),
    }

    impl From<BatchError> for Failure {
        fn from(error: BatchError) -> Self {
            Self::Batch(error)
        }
    }

    const SECOND: Duration = Duration::from_secs(1);

    /// The batches that were processed, each with its start time.
    type Ran = Arc<Mutex<Vec<(Instant, Vec<u32>)>>>;

    /// Creates a batcher that takes a second per batch and doubles all numbers except 13, which it rejects.
    fn doubling(builder: BatcherBuilder) -> (Batcher<u32, u32, Failure>, Ran) {
        let ran = Ran::default();
        let noted = ran.clone();
        let batcher = builder.build(move |batch: Vec<u32>| {
            noted.lock().push((Instant::now(), batch.clone()));
            async move {
                tokio::time::sleep(SECOND).await;
                let double = |number| if number == 13 { Err(Failure::Item) } else { Ok(2 * number) };
                batch.into_iter().map(double).collect()
            }
        });
        (batcher, ran)
    }

    fn sizes(ran: &Ran) -> Vec<usize> {
        ran.lock().iter().map(|(_, batch)| batch.len()).collect()
    }

    async fn all(batcher: &Batcher<u32, u32, Failure>, numbers: std::ops::Range<u32>) -> Vec<Result<u32, Failure>> {
        let calls: Vec<_> = numbers.map(|number| tokio::spawn(called(batcher.clone(), number))).collect();
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(call.await.unwrap());
        }
        outcomes
    }

    async fn called(batcher: Batcher<u32, u32, Failure>, number: u32) -> Result<u32, Failure> {
        batcher.call(number).await
    }

    #[tokio::test(start_paused = true)]
    async fn full_batch_runs_without_delay() {
        let (batcher, ran) = doubling(Batcher::builder().size_max(4).delay_max(Duration::MAX));
        let start = Instant::now();
        assert_eq!(all(&batcher, 0..8).await, (0..8).map(|number| Ok(2 * number)).collect::<Vec<_>>());
        assert_eq!(sizes(&ran), [4, 4]);
        // The second batch starts when the first one has ended.
        assert_eq!(start.elapsed(), 2 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn lone_caller_waits_for_delay_once() {
        let (batcher, ran) = doubling(Batcher::builder().delay_max(3 * SECOND));
        let start = Instant::now();
        assert_eq!(called(batcher.clone(), 7).await, Ok(14));
        assert_eq!(start.elapsed(), 4 * SECOND);
        // A new task starts, because the first one has ended.
        for number in 8..10 {
            assert_eq!(called(batcher.clone(), number).await, Ok(2 * number));
        }
        assert_eq!(start.elapsed(), 6 * SECOND);
        assert_eq!(sizes(&ran), [1, 1, 1]);
    }

    /// A waker that immediately makes another call, as a caller on another thread could.
    struct CallAgain {
        batcher: Batcher<u32, u32, Failure>,
        called: Mutex<Option<oneshot::Receiver<Result<u32, Failure>>>>,
    }

    impl Wake for CallAgain {
        fn wake(self: Arc<Self>) {
            let (reply, replied) = oneshot::channel();
            let item = PendingCall { item: 8, arrived: Instant::now(), reply };
            assert_eq!(self.batcher.shared.add(item), Ok(()));
            *self.called.lock() = Some(replied);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn lone_repeat_caller_runs_without_delay() {
        let (batcher, ran) = doubling(Batcher::builder().delay_max(3 * SECOND));
        let start = Instant::now();
        let again = Arc::new(CallAgain { batcher: batcher.clone(), called: Mutex::default() });
        let mut first = Box::pin(called(batcher, 7));
        assert!(first.as_mut().poll(&mut Context::from_waker(&again.clone().into())).is_pending());
        tokio::time::sleep(5 * SECOND).await;
        assert_eq!(first.await, Ok(14));
        let second = again.called.lock().take().expect("first call should have completed");
        assert_eq!(second.await, Ok(Ok(16)));
        assert_eq!((start.elapsed(), sizes(&ran)), (5 * SECOND, vec![1, 1]));
    }

    #[tokio::test(start_paused = true)]
    async fn callers_that_come_back_share_batches_again() {
        let (batcher, ran) = doubling(Batcher::builder().delay_max(3 * SECOND));
        let start = Instant::now();
        let call_again = |number| {
            let batcher = batcher.clone();
            tokio::spawn(async move {
                for _ in 0..3 {
                    assert_eq!(called(batcher.clone(), number).await, Ok(2 * number));
                }
            })
        };
        assert_eq!(called(batcher.clone(), 0).await, Ok(0));
        let callers: Vec<_> = (1..4).map(call_again).collect();
        for caller in callers {
            caller.await.unwrap();
        }
        assert_eq!(sizes(&ran), [1, 3, 3, 3]);
        // Only the first call had to wait.
        assert_eq!(start.elapsed(), 7 * SECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn bad_item_does_not_fail_batch() {
        let (batcher, ran) = doubling(Batcher::builder());
        assert_eq!(all(&batcher, 12..15).await, [Ok(24), Err(Failure::Item), Ok(28)]);
        assert_eq!(sizes(&ran), [3]);
    }

    #[tokio::test(start_paused = true)]
    async fn cancelled_calls_leave_batch_and_free_room() {
        let (batcher, ran) = doubling(Batcher::builder().size_max(2).delay_max(5 * SECOND).queue_max(2));
        let early = tokio::time::timeout(SECOND, batcher.call(1)).await;
        assert!(early.is_err());
        assert_eq!(batcher.waiting(), 0);
        assert_eq!(all(&batcher, 2..4).await, [Ok(4), Ok(6)]);
        assert_eq!(ran.lock().iter().map(|(_, batch)| batch.clone()).collect::<Vec<_>>(), [[2, 3]]);
    }

    /// An item that notes whether the queue was locked when it was dropped.
    struct DropProbe {
        batcher: Batcher<DropProbe, (), BatchError>,
        was_locked: Arc<AtomicUsize>,
    }

    impl Drop for DropProbe {
        fn drop(&mut self) {
            let is_locked = self.batcher.shared.queue.is_locked();
            self.was_locked.fetch_add(usize::from(is_locked), Ordering::Relaxed);
        }
    }

    /// Regression test: an item that used the batcher in its destructor would have waited for itself.
    #[tokio::test(start_paused = true)]
    async fn cancelled_items_are_dropped_without_lock() {
        let ends = |batch: Vec<DropProbe>| std::future::ready(batch.iter().map(|_| Ok(())).collect());
        let batcher = Batcher::builder().size_max(2).queue_max(2).build(ends);
        let was_locked = Arc::new(AtomicUsize::new(0));
        let probe = || DropProbe { batcher: batcher.clone(), was_locked: was_locked.clone() };
        for _ in 0..3 {
            // The third call finds the queue full of cancelled calls.
            let mut call = Box::pin(batcher.call(probe()));
            assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        assert_eq!(batcher.call(probe()).await, Ok(()));
        assert_eq!(was_locked.load(Ordering::Relaxed), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn calls_beyond_queue_are_rejected_immediately() {
        let (batcher, _) = doubling(Batcher::builder().size_max(1).delay_max(Duration::ZERO).queue_max(3));
        let first = tokio::spawn(called(batcher.clone(), 0));
        tokio::time::sleep(SECOND / 2).await;
        let start = Instant::now();
        let waiting: Vec<_> = (1..4).map(|number| tokio::spawn(called(batcher.clone(), number))).collect();
        tokio::task::yield_now().await;
        assert_eq!(called(batcher.clone(), 4).await, Err(Failure::Batch(BatchError::Full)));
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert_eq!(first.await.unwrap(), Ok(0));
        for (number, call) in (1..4).zip(waiting) {
            assert_eq!(call.await.unwrap(), Ok(2 * number));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn panic_or_wrong_count_fails_one_batch() {
        let runs = AtomicUsize::new(0);
        let batcher = Batcher::builder().size_max(2).build(move |batch: Vec<u32>| {
            let run = runs.fetch_add(1, Ordering::Relaxed);
            assert!(run != 0, "planted");
            async move {
                assert!(run != 1, "planted");
                batch.into_iter().skip(usize::from(run == 2)).map(Ok).collect()
            }
        });
        let count = BatchError::ResultCount { results: 1, calls: 2 };
        for error in [BatchError::Panicked, BatchError::Panicked, count] {
            let failure = || Err(Failure::Batch(error.clone()));
            assert_eq!(all(&batcher, 0..2).await, [failure(), failure()]);
        }
        assert_eq!(all(&batcher, 0..2).await, [Ok(0), Ok(1)]);
    }

    #[test]
    fn calls_whose_runtime_ends_are_answered() {
        let (batcher, _) = doubling(Batcher::builder());
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (ending, other) = (runtime(), runtime());
        let pending = ending.spawn(called(batcher.clone(), 1));
        ending.block_on(tokio::task::yield_now());
        let waiting = other.spawn(called(batcher.clone(), 2));
        other.block_on(tokio::task::yield_now());
        drop(ending);
        assert_eq!(other.block_on(waiting).unwrap(), Err(Failure::Batch(BatchError::Ended)));
        drop(pending);
        assert_eq!(batcher.waiting(), 0);
    }
}
