//! A thread with a ring and its tasks.

use crate::ring::{Ring, eventfd};
use crate::sockets::Sockets;
use crate::timer::Timers;
use slab::Slab;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

#[cfg(frisbee_loom)]
use loom::sync::atomic::AtomicBool;
#[cfg(not(frisbee_loom))]
use std::sync::atomic::AtomicBool;

/// Maximum number of polls of a task between two submissions. A task that yields by waking itself then shares the
/// system call of the others.
const ROUNDS: usize = 2;

/// Maximum time that a stopped worker continues in order to close its sockets.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);

type BoxFuture = Pin<Box<dyn Future<Output = ()>>>;
type Make = Box<dyn FnOnce() -> BoxFuture + Send>;

/// A thread that runs tasks on an io_uring instance. Dropping the worker ends the thread and its tasks.
#[derive(Debug)]
pub struct Worker {
    shared: Arc<WorkerShared>,
}

impl Worker {
    /// Starts a thread and creates its io_uring instance.
    ///
    /// # Errors
    /// If the thread or the ring cannot be created.
    pub fn start(name: String) -> io::Result<Self> {
        let shared = Arc::new(WorkerShared { mailbox: Mutex::default(), event: Arc::new(eventfd()?) });
        let (report, started) = mpsc::channel();
        let worker = shared.clone();
        thread::Builder::new().name(name).spawn(move || {
            let ring = match Ring::new() {
                Ok(ring) => ring,
                Err(error) => return drop(report.send(Err(error))),
            };
            let _ = report.send(Ok(()));
            LocalWorker::run(worker, ring);
        })?;
        started.recv().unwrap_or_else(|_| Err(io::Error::other("the thread of a ring ended during its start")))?;
        Ok(Self { shared })
    }

    /// Spawns a task on the worker's thread. `make` runs on that thread, so its future need not be `Send`.
    pub fn spawn<F>(&self, make: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        self.shared.spawn(make);
    }

    /// Ends the worker's thread and its tasks, like dropping the worker.
    pub fn stop(&self) {
        self.shared.send(WorkerMessage::Stop);
    }

    /// Returns whether the thread has ended, because its ring failed or the worker was stopped. New tasks are then
    /// dropped unpolled.
    pub fn has_ended(&self) -> bool {
        self.shared.lock().has_ended
    }

    /// Returns a handle that spawns tasks as long as the worker exists. Returns `None` if its tasks cannot enter a
    /// tokio runtime.
    pub fn spawner(&self) -> Option<Spawner> {
        Some(Spawner(Arc::downgrade(&self.shared)))
    }
}

/// A handle that spawns tasks on a [`Worker`]. It does not keep the worker alive.
#[derive(Clone, Debug)]
pub struct Spawner(Weak<WorkerShared>);

impl Spawner {
    /// Like [`Worker::spawn`]. The task is dropped if the worker has ended.
    pub fn spawn<F>(&self, make: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        if let Some(shared) = self.0.upgrade() {
            shared.spawn(make);
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The state of a worker that is shared with other threads.
struct WorkerShared {
    mailbox: Mutex<Mailbox>,
    /// Eventfd that wakes the worker while it waits for completions.
    event: Arc<File>,
}

#[derive(Default)]
struct Mailbox {
    queue: Vec<WorkerMessage>,
    is_asleep: bool,
    has_ended: bool,
}

enum WorkerMessage {
    Spawn(Make),
    Wake(Arc<Task>),
    Stop,
}

impl std::fmt::Debug for WorkerShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerShared").finish_non_exhaustive()
    }
}

impl WorkerShared {
    fn lock(&self) -> MutexGuard<'_, Mailbox> {
        // Ignore poisoning, because no code that can panic runs under the lock.
        self.mailbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spawn<F>(self: &Arc<Self>, make: impl FnOnce() -> F + Send + 'static)
    where
        F: Future<Output = ()> + 'static,
    {
        let make: Make = Box::new(move || Box::pin(make()));
        match LocalWorker::current_if(self) {
            Some(local) => local.handle(WorkerMessage::Spawn(make)),
            None => self.send(WorkerMessage::Spawn(make)),
        }
    }

    fn send(&self, message: WorkerMessage) {
        let mut mailbox = self.lock();
        if mailbox.has_ended {
            // Release the lock, because dropping a message may run destructors that send messages.
            drop(mailbox);
            return drop(message);
        }
        mailbox.queue.push(message);
        // Only the first message since the worker fell asleep has to wake it.
        let wake = std::mem::take(&mut mailbox.is_asleep);
        drop(mailbox);
        if wake {
            // Ignore the error: the write fails only if the counter would overflow, and then the worker is woken
            // anyway.
            let _ = (&*self.event).write(&1_u64.to_ne_bytes());
        }
    }

    /// Takes the queued messages and marks the worker as awake.
    fn take_messages(&self, received: &mut Vec<WorkerMessage>) {
        let mut mailbox = self.lock();
        mailbox.is_asleep = false;
        std::mem::swap(&mut mailbox.queue, received);
    }

    /// Marks the worker as waiting. Returns false if messages are queued, so that it must not wait.
    fn fall_asleep(&self) -> bool {
        let mut mailbox = self.lock();
        // Set the flag under the lock. A message that is queued afterwards then finds it and wakes the worker.
        mailbox.is_asleep = mailbox.queue.is_empty();
        mailbox.is_asleep
    }
}

/// State of a task that is shared by its wakers.
struct Task {
    key: usize,
    woken: WakeFlag,
    shared: Arc<WorkerShared>,
}

/// Flag that is set while a task is queued to be polled.
struct WakeFlag(AtomicBool);

impl WakeFlag {
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Sets the flag and returns its previous value.
    fn set(&self) -> bool {
        self.0.swap(true, Ordering::AcqRel)
    }

    /// Clears the flag before a poll. The read-modify-write synchronizes with all wakers, even if they found the flag
    /// set, so the poll observes everything that preceded a wake-up.
    fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}

impl Wake for Task {
    fn wake(self: Arc<Self>) {
        if self.woken.set() {
            return;
        }
        match LocalWorker::current_if(&self.shared) {
            Some(local) => local.ready.borrow_mut().push_back(self),
            None => self.shared.clone().send(WorkerMessage::Wake(self)),
        }
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.woken.is_set() {
            self.clone().wake();
        }
    }
}

/// State of a task that its worker owns. The future is taken out while it is polled.
struct TaskEntry {
    task: Arc<Task>,
    waker: Waker,
    future: Option<BoxFuture>,
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<LocalWorker>>> = const { RefCell::new(None) };
}

/// State of a worker that only its own thread uses.
pub(crate) struct LocalWorker {
    shared: Arc<WorkerShared>,
    pub(crate) sockets: RefCell<Sockets>,
    pub(crate) timers: RefCell<Timers>,
    ready: RefCell<VecDeque<Arc<Task>>>,
    tasks: RefCell<Slab<TaskEntry>>,
    is_stopped: Cell<bool>,
}

impl LocalWorker {
    pub(crate) fn current() -> Option<Rc<Self>> {
        CURRENT.try_with(|current| current.borrow().clone()).ok().flatten()
    }

    fn current_if(shared: &Arc<WorkerShared>) -> Option<Rc<Self>> {
        let is_it = |local: &&Rc<Self>| Arc::ptr_eq(&local.shared, shared);
        CURRENT.try_with(|current| current.borrow().as_ref().filter(is_it).cloned()).ok().flatten()
    }

    fn run(shared: Arc<WorkerShared>, ring: Ring) {
        let local = Rc::new(Self {
            shared,
            sockets: RefCell::new(Sockets::new(ring)),
            timers: RefCell::default(),
            ready: RefCell::default(),
            tasks: RefCell::default(),
            is_stopped: Cell::new(false),
        });
        CURRENT.set(Some(local.clone()));
        if let Err(error) = local.run_batches() {
            tracing::error!(target: "frisbee::worker", %error, "a ring failed, its connections are closed");
        }
        let mut mailbox = local.shared.lock();
        // Senders that find this flag drop their messages, because the worker no longer takes any.
        mailbox.has_ended = true;
        let unread = std::mem::take(&mut mailbox.queue);
        drop(mailbox);
        // Drop the messages outside of the lock, because their destructors may send others.
        drop(unread);
        local.end();
        CURRENT.set(None);
    }

    fn run_batches(&self) -> io::Result<()> {
        let mut wakers = Vec::new();
        let mut messages = Vec::new();
        self.sockets.borrow_mut().ring.wait_for_wake(&self.shared.event);
        loop {
            self.shared.take_messages(&mut messages);
            messages.drain(..).for_each(|message| self.handle(message));
            if self.is_stopped.get() {
                return Ok(());
            }
            self.timers.borrow_mut().expire(&mut wakers);
            wake_all(&mut wakers);
            for _ in 0..ROUNDS {
                self.poll_ready();
            }
            // Do not mark a worker with ready tasks as asleep. It will not wait, so waking it would be a needless
            // system call.
            let wait = self.ready.borrow().is_empty() && self.shared.fall_asleep();
            let wait = wait.then(|| self.timers.borrow().time_left());
            let mut sockets = self.sockets.borrow_mut();
            sockets.submit(wait)?;
            if sockets.complete(&mut wakers) {
                sockets.ring.wait_for_wake(&self.shared.event);
            }
            let deferred = sockets.take_deferred();
            // Release the borrow first, because waking a task may use the sockets.
            drop(sockets);
            wake_all(&mut wakers);
            if !deferred.is_empty() {
                deferred.run();
            }
        }
    }

    fn handle(&self, message: WorkerMessage) {
        match message {
            WorkerMessage::Stop => self.is_stopped.set(true),
            WorkerMessage::Wake(task) => self.ready.borrow_mut().push_back(task),
            WorkerMessage::Spawn(make) => {
                let Ok(future) = catch_unwind(AssertUnwindSafe(make)) else { return };
                let mut tasks = self.tasks.borrow_mut();
                let entry = tasks.vacant_entry();
                let shared = self.shared.clone();
                let task = Arc::new(Task { key: entry.key(), woken: WakeFlag(AtomicBool::new(true)), shared });
                entry.insert(TaskEntry { task: task.clone(), waker: task.clone().into(), future: Some(future) });
                drop(tasks);
                self.ready.borrow_mut().push_back(task);
            }
        }
    }

    /// Polls each task that is ready once.
    fn poll_ready(&self) {
        let count = self.ready.borrow().len();
        for _ in 0..count {
            let Some(task) = self.ready.borrow_mut().pop_front() else { return };
            self.poll(&task);
        }
    }

    fn poll(&self, task: &Arc<Task>) {
        // Clear the flag before the poll, so that a wake-up during the poll queues the task again.
        task.woken.clear();
        let mut tasks = self.tasks.borrow_mut();
        // Check the task, because a waker may outlive it, and the slot may belong to another task.
        let Some(running) = tasks.get_mut(task.key).filter(|running| Arc::ptr_eq(&running.task, task)) else {
            return;
        };
        let Some(mut future) = running.future.take() else { return };
        let waker = running.waker.clone();
        // Poll without the borrow, because the task may spawn others.
        drop(tasks);
        let polled = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut Context::from_waker(&waker))));
        if matches!(polled, Ok(Poll::Pending)) {
            if let Some(running) = self.tasks.borrow_mut().get_mut(task.key) {
                running.future = Some(future);
            }
            return;
        }
        let running = self.tasks.borrow_mut().try_remove(task.key);
        // Dropped without a borrow, because destructors may use the worker. The panic hook has reported a panic.
        let _ = catch_unwind(AssertUnwindSafe(|| drop((running, future))));
    }

    /// Drops all tasks and closes their sockets.
    fn end(&self) {
        let tasks = std::mem::take(&mut *self.tasks.borrow_mut());
        for (_, running) in tasks {
            let _ = catch_unwind(AssertUnwindSafe(|| drop(running)));
        }
        self.ready.borrow_mut().clear();
        let deadline = Instant::now() + STOP_TIMEOUT;
        let mut wakers = Vec::new();
        loop {
            let mut sockets = self.sockets.borrow_mut();
            let left = deadline.saturating_duration_since(Instant::now());
            // Submit before the check, because the submission removes dropped sockets without operations from the
            // table.
            let submitted = sockets.submit(None);
            if sockets.is_empty() || left.is_zero() || submitted.is_err() {
                return;
            }
            if sockets.submit(Some(Some(left))).is_err() {
                return;
            }
            sockets.complete(&mut wakers);
        }
    }
}

/// Wakes tasks and empties the list. A waker that panics must not end the thread, because its other tasks would never
/// be polled again.
fn wake_all(wakers: &mut Vec<Waker>) {
    let mut wakers = wakers.drain(..);
    while catch_unwind(AssertUnwindSafe(|| wakers.by_ref().for_each(Waker::wake))).is_err() {}
}

/// Checks whether io_uring can drive sockets on this system. The result is cached per process.
///
/// # Errors
/// The error of the system: io_uring may be forbidden (in containers), missing, too old, or out of memory.
pub fn probe() -> Result<(), &'static str> {
    static PROBED: OnceLock<Result<(), String>> = OnceLock::new();
    let probed = PROBED.get_or_init(|| try_out().map_err(|error| error.to_string()));
    probed.as_ref().copied().map_err(String::as_str)
}

/// Sends and receives bytes over a ring, to verify that the kernel supports all required operations.
fn try_out() -> io::Result<()> {
    let worker = Worker::start("frisbee-probe".to_owned())?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let mut peer = TcpStream::connect(listener.local_addr()?)?;
    let (socket, _) = listener.accept()?;
    let timeout = Duration::from_secs(2);
    peer.set_read_timeout(Some(timeout))?;
    worker.spawn(move || async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        let Ok(mut socket) = crate::Socket::new(socket, drop) else { return };
        let mut byte = [0];
        if socket.read_exact(&mut byte).await.is_ok() {
            let _ = socket.write_all(&byte).await;
            let _ = socket.flush().await;
        }
    });
    let mut byte = [7];
    peer.write_all(&byte)?;
    match peer.read_exact(&mut byte) {
        Ok(()) => Ok(()),
        Err(error) => Err(io::Error::new(error.kind(), format!("a ring was set up and does not work: {error}"))),
    }
}

#[cfg(all(test, not(frisbee_loom)))]
mod tests {
    use super::*;
    use crate::Timer;
    use std::future::{pending, poll_fn};

    /// A waker that panics when it is woken.
    struct BrokenWaker;

    impl Wake for BrokenWaker {
        fn wake(self: Arc<Self>) {
            panic!("on purpose")
        }
    }

    /// Regression test: a panicking waker ended the thread, but the worker still accepted tasks.
    #[test]
    fn panicking_waker_does_not_end_worker() {
        let Ok(worker) = Worker::start("test".to_owned()) else { return eprintln!("SKIPPED: there are no rings here") };
        let (sender, ended) = mpsc::channel();
        worker.spawn(move || async move {
            let soon = || Timer::new(Instant::now() + Duration::from_millis(1)).expect("worker should have timers");
            let (mut broken, mut timer) = (soon(), soon());
            assert!(broken.poll(&Context::from_waker(&Arc::new(BrokenWaker).into())).is_pending());
            poll_fn(|context| timer.poll(context)).await;
            sender.send(()).expect("test should wait");
            pending::<()>().await;
        });
        ended.recv().expect("worker should still run the task");
        assert!(!worker.has_ended());
    }
}

/// Loom models of a task and its wakers.
#[cfg(all(test, frisbee_loom))]
mod models {
    use super::*;

    #[test]
    fn second_wake_makes_earlier_writes_visible() {
        loom::model(|| {
            let woken = loom::sync::Arc::new(WakeFlag(AtomicBool::new(true)));
            let done = loom::sync::Arc::new(AtomicBool::new(false));
            let other = loom::thread::spawn({
                let (woken, done) = (woken.clone(), done.clone());
                move || {
                    done.store(true, Ordering::Relaxed);
                    woken.set()
                }
            });
            woken.clear();
            let observed = done.load(Ordering::Relaxed);
            let was_woken = other.join().expect("thread should not panic");
            assert!(observed || !was_woken, "task that was woken should be polled again");
        });
    }
}
