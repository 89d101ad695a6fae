//! The task that connects a channel to its server. It repeats attempts while a caller waits for a connection.

#[cfg(test)]
mod tests;

use crate::Status;
use crate::calls::failures::{CLOSED, RUNTIME_ENDED, closed, unreachable};
use crate::calls::offers::CalledServices;
use crate::calls::table::CallTable;
use crate::client::current::{CurrentLink, current_link, is_closed, replace_link};
use crate::client::dial::Dialler;
use crate::client::factory::LinkFactory;
use crate::client::link::Link;
use crate::client::picker::{ServerEvent, ServerObserver, WaitPolicy};
use crate::clock;
use crate::endpoint::Endpoint;
use frisbee::rpc::{Job, ParkedFuture, with_guarded_waker};
use frisbee::{CloseKind, CloseReason, Connection, PeerKind};
use parking_lot::Mutex;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// Maximum delay after the first failed connection attempt, doubled with each further failure. The actual delay is
/// random, so that clients do not all reconnect at the same time when a server returns.
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// Upper bound of the delay between connection attempts.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// Minimum lifetime of a connection without an answered call. If the server closes such a connection earlier, the
/// attempt counts as failed. Equal to the longest delay, so that such a server is not dialled more often than one that
/// does not listen.
const LASTS_MIN: Duration = PAUSE_MAX;

/// A new connection, with the time at which it was established. Its lifetime determines whether the attempt counts as a
/// failure.
struct MadeConnection {
    at: Instant,
    connection: Connection,
    calls: Arc<CallTable>,
}

/// Sender for the outcome of the first connection attempt.
type FirstOutcome = oneshot::Sender<Result<(), frisbee::Error>>;

/// The connection attempts of a channel.
///
/// A task in the channel's runtime makes them, so that a caller that is not polled does not delay others. When no
/// caller waits any more, the task completes the current attempt and starts no other.
pub(crate) struct ConnectTask {
    factory: LinkFactory,
    pub(crate) dialler: Dialler,
    /// Observer of the server's events. Set if the server belongs to a load-balanced channel.
    server: Option<Arc<dyn ServerObserver>>,
    current: Arc<CurrentLink>,
    progress: Mutex<Progress>,
    /// Whether the channel's runtime has dropped the task that connects.
    dropped: AtomicBool,
    /// Notified when [`Progress`] changes.
    changed: Notify,
}

/// State of connecting to a server. Errors and connections must not be dropped while its lock is held, because dropping
/// them may run user code.
#[derive(Default)]
struct Progress {
    /// The task that makes connection attempts, if it is running.
    task: Option<JoinHandle<()>>,
    /// Number of callers that are waiting for a connection.
    waiters: usize,
    /// Whether a connection attempt is in progress.
    is_dialling: bool,
    /// Whether any connection attempt has been made.
    has_dialled: bool,
    failures: Failures,
    /// Most recent connection, while it is undecided whether it counts as a success or a failure.
    made: Option<MadeConnection>,
    /// Error of the last connection attempt, for callers that cannot wait for the next one.
    failure: Option<String>,
    /// Reason why no more connections can be established. Included in the errors of later calls.
    over: Option<&'static str>,
}

/// Consecutive failures to connect, which determine the delay before the next attempt.
#[derive(Default)]
struct Failures {
    count: u32,
    next_attempt: Option<Instant>,
    /// Whether the last attempt connected to a server of another protocol.
    is_misdirected: bool,
}

impl ConnectTask {
    pub(crate) fn new(
        factory: LinkFactory,
        dialler: Dialler,
        server: Option<Arc<dyn ServerObserver>>,
        current: Arc<CurrentLink>,
    ) -> Arc<Self> {
        let (progress, dropped, changed) = (Mutex::default(), AtomicBool::new(false), Notify::new());
        Arc::new(Self { factory, dialler, server, current, progress, dropped, changed })
    }

    /// Returns the error of the last connection attempt, if it failed.
    pub(crate) fn failure(&self) -> Option<String> {
        self.progress.lock().failure.clone()
    }

    /// Appends the error of the last connection attempt to a text, if there is one.
    fn with_failure(&self, text: String) -> String {
        match &self.progress.lock().failure {
            Some(failure) => format!("{text}; {failure}"),
            None => text,
        }
    }

    /// Makes a single attempt to establish the first connection. The attempt continues if the caller's future is
    /// dropped, for example because another server of a load-balanced channel connected first.
    pub(crate) async fn dial_first(self: &Arc<Self>) -> Result<(), frisbee::Error> {
        let (sender, receiver) = oneshot::channel();
        self.spawn(&mut self.progress.lock(), Some(sender));
        with_guarded_waker(receiver).await.unwrap_or_else(|_| {
            let why = if is_closed(&self.current) { CLOSED } else { RUNTIME_ENDED };
            Err(self.broken_off(why))
        })
    }

    /// Returns the error of a connection attempt that was aborted for the reason `why`.
    fn broken_off(&self, why: &str) -> frisbee::Error {
        frisbee::Error::Connect { address: self.dialler.name.clone(), source: io::Error::other(why) }
    }

    /// Returns a connection for a call. Waits until the channel's reconnect timeout or the deadline of the call,
    /// whichever is earlier.
    pub(crate) async fn connection(self: &Arc<Self>, wait: WaitPolicy) -> Result<Arc<Link>, Status> {
        let reconnect_timeout = self.factory.reconnect_timeout;
        let making = self.make(wait.since, Some(reconnect_timeout));
        let (Some(end), is_late) = wait.end(reconnect_timeout) else { return making.await };
        clock::within(&self.factory.runtime, Some(end.into_std()), making).await.unwrap_or_else(|_| {
            if is_late {
                let why = String::from("not sent: no connection before the deadline");
                return Err(Status::deadline_exceeded(self.with_failure(why)).not_run());
            }
            // Check again, because the connection may have closed after the call began to wait.
            if current_link(&self.current).is_none() {
                self.judge_last();
            }
            let why = format!("no connection to {} within {reconnect_timeout:?}", self.dialler.name);
            Err(unreachable(&self.with_failure(why)))
        })
    }

    /// Returns the current connection, or waits until a new one is established. Failed attempts are retried with
    /// exponential backoff. Fails immediately if the next attempt would start later than `reconnect_timeout` after
    /// `started`, or if the last attempt reached a server of another protocol, because a retry would give the same
    /// result. Without a `reconnect_timeout`, neither condition is checked. The wait itself is not limited.
    pub(crate) async fn make(
        self: &Arc<Self>,
        started: Instant,
        reconnect_timeout: Option<Duration>,
    ) -> Result<Arc<Link>, Status> {
        // Count the caller first, because the task ends when no caller waits.
        let _waiter = WaiterCount::new(self);
        loop {
            let mut changed = pin!(self.changed.notified());
            // Register before checking the current connection, so that a change in between wakes this task.
            changed.as_mut().enable();
            if let Some(link) = current_link(&self.current) {
                return Ok(link);
            }
            self.ensure_task(started, reconnect_timeout)?;
            with_guarded_waker(changed).await;
        }
    }

    /// Starts the connection task unless it is running. Fails if the task cannot provide a connection in time for a
    /// caller that has waited since `started`.
    fn ensure_task(self: &Arc<Self>, started: Instant, reconnect_timeout: Option<Duration>) -> Result<(), Status> {
        if is_closed(&self.current) {
            return Err(closed());
        }
        if self.dropped.load(Ordering::Acquire) {
            return Err(unreachable(RUNTIME_ENDED));
        }
        let mut progress = self.progress.lock();
        if let Some(why) = progress.over {
            return Err(unreachable(why));
        }
        let failures = &progress.failures;
        if let (Some(next), Some(reconnect_timeout), false) =
            (failures.next_attempt, reconnect_timeout, progress.is_dialling)
            && (next.saturating_duration_since(started) > reconnect_timeout
                || (failures.is_misdirected && Instant::now() < next))
        {
            return Err(unreachable(progress.failure.as_deref().unwrap_or(&self.dialler.name)));
        }
        // Hold the lock until the task is stored, so that only one task runs.
        if progress.task.is_none() {
            self.spawn(&mut progress, None);
        }
        Ok(())
    }

    /// Spawns the connection task. `first` receives the outcome of its first attempt.
    fn spawn(self: &Arc<Self>, progress: &mut Progress, first: Option<FirstOutcome>) {
        if first.is_some() {
            (progress.is_dialling, progress.has_dialled) = (true, true);
        }
        let task: Job = Box::pin(Task { making: self.clone(), is_over: false }.run(first));
        progress.task = Some(self.factory.runtime.spawn(task));
    }

    /// Makes connection attempts until one succeeds or no caller waits.
    async fn attempt(self: &Arc<Self>) {
        loop {
            let next = self.next();
            if next != NextStep::Attempt {
                self.changed.notify_waiters();
            }
            match next {
                NextStep::Nothing => return,
                NextStep::Pause(end) => tokio::time::sleep_until(end).await,
                NextStep::Attempt => {
                    if let Err(error) = self.dial().await {
                        self.fail_dial(&error);
                    }
                }
            }
        }
    }

    /// Decides the next step of the connection task. The task ends after `Nothing`, and the next caller starts another
    /// one.
    fn next(&self) -> NextStep {
        let is_there = current_link(&self.current).is_some();
        if !is_there {
            self.judge_last();
        }
        let mut progress = self.progress.lock();
        if !is_there {
            if self.dialler.is_single && progress.has_dialled {
                progress.over = Some("the channel was created by connect_io from one transport and cannot reconnect");
            }
            if progress.waiters > 0 && progress.over.is_none() {
                let pause = progress.failures.next_attempt.filter(|end| Instant::now() < *end);
                if let Some(end) = pause {
                    return NextStep::Pause(end);
                }
                (progress.is_dialling, progress.has_dialled) = (true, true);
                return NextStep::Attempt;
            }
        }
        // Clear the task under the lock, so that the next caller starts another one instead of waiting for this one.
        progress.task = None;
        NextStep::Nothing
    }

    /// Establishes a connection and makes it the current one.
    async fn dial(self: &Arc<Self>) -> Result<(), frisbee::Error> {
        let this = self.clone();
        // Catch panics of the connector, because they must not end the connection task.
        let made = ParkedFuture::new(async move { this.make_connection().await });
        let made = made.await.unwrap_or_else(|_| Err(self.broken_off("connecting panicked")));
        let mut progress = self.progress.lock();
        progress.is_dialling = false;
        progress.made = Some(made?);
        progress.failure = None;
        Ok(())
    }

    async fn make_connection(&self) -> Result<MadeConnection, frisbee::Error> {
        let LinkFactory { client, offer, .. } = &self.factory;
        let offers = CalledServices::new(offer.called.clone(), offer.compat.clone());
        let calls = CallTable::new(offers, offer.observers.as_ref(), self.server.as_ref());
        let calls = Arc::new(calls);
        let dialled = self.dialler.dial(client.clone(), Endpoint::calling(offer.clone(), calls.clone())).await;
        if let Some(batches) = offer.batches() {
            batches.dialled(dialled.is_ok());
        }
        let connection = dialled?;
        let at = Instant::now();
        replace_link(&self.current, Link::dialled(connection.clone(), calls.clone(), offer));
        if let Some(server) = &self.server {
            server.event(ServerEvent::Connected);
        }
        Ok(MadeConnection { at, connection, calls })
    }

    /// Decides whether the last connection counts as a success. Resets the failures if it lasted long enough, and
    /// records another failure otherwise.
    fn judge_last(&self) {
        let Some(made) = self.progress.lock().made.take() else { return };
        match failed_setup(&made) {
            None => self.progress.lock().failures = Failures::default(),
            Some((reason, is_misdirected)) => {
                let why = format!("the connection to {} ended during its setup: {reason}", self.dialler.name);
                self.fail(why, is_misdirected);
            }
        }
    }

    /// Records an attempt that established no connection. The delay does not grow while the process is out of file
    /// descriptors, because such attempts do not burden the server, and the next one may succeed as soon as a
    /// descriptor is free.
    fn fail_dial(&self, error: &frisbee::Error) {
        if let frisbee::Error::Connect { source, .. } = error
            && is_out_of_descriptors(source)
        {
            self.progress.lock().failures.count = 0;
        }
        self.fail(error.to_string(), false);
    }

    /// Records a failed connection attempt.
    fn fail(&self, why: String, is_misdirected: bool) {
        let pause = self.progress.lock().failures.fail(Instant::now(), is_misdirected);
        tracing::debug!(why, ?pause, "connecting failed");
        self.progress.lock().failure = Some(why);
    }

    /// Stops connecting because the channel was dropped or closed.
    pub(crate) fn stop(&self) {
        let task = self.progress.lock().task.take();
        // Abort outside of the lock, because this may drop the connection attempt, which may run user code.
        if let Some(task) = task {
            task.abort();
        }
        self.changed.notify_waiters();
    }
}

/// Next step of the connection task.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextStep {
    /// The task ends because there is a connection, no caller waits, or no connection can be established.
    Nothing,
    Pause(Instant),
    Attempt,
}

/// Future of the connection task. When dropped before completion, it records that the runtime has dropped the task.
struct Task {
    making: Arc<ConnectTask>,
    is_over: bool,
}

impl Task {
    async fn run(mut self, first: Option<FirstOutcome>) {
        if let Some(outcome) = first
            && let Err(Err(error)) = outcome.send(self.making.dial().await)
        {
            // No caller awaits the outcome of the first attempt, so record its failure here.
            self.making.fail_dial(&error);
        }
        self.making.attempt().await;
        self.is_over = true;
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        if !self.is_over {
            self.making.dropped.store(true, Ordering::Release);
            self.making.changed.notify_waiters();
        }
    }
}

/// Returns whether an error means that the process or the system is out of file descriptors.
fn is_out_of_descriptors(error: &io::Error) -> bool {
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    cfg!(unix) && matches!(error.raw_os_error(), Some(ENFILE | EMFILE))
}

/// Guard that counts a caller as waiting for a connection.
struct WaiterCount<'a>(&'a ConnectTask);

impl<'a> WaiterCount<'a> {
    fn new(making: &'a ConnectTask) -> Self {
        making.progress.lock().waiters += 1;
        Self(making)
    }
}

impl Drop for WaiterCount<'_> {
    fn drop(&mut self) {
        self.0.progress.lock().waiters -= 1;
    }
}

/// Returns the reason why a closed connection counts as a failed attempt, and whether the server responded with another
/// protocol. Returns `None` if the connection counts as a success. An attempt fails if its connection closed before the
/// kind of the server was known, or soon and without answering a call. Otherwise, a peer that accepts connections and
/// immediately closes them, such as a load balancer without backends, would be dialled without any delay.
fn failed_setup(made: &MadeConnection) -> Option<(String, bool)> {
    let connection = &made.connection;
    match connection.close_reason() {
        Some(reason) if connection.peer() == PeerKind::Unknown => {
            Some((reason.to_string(), matches!(reason.kind(), CloseKind::BadMagic | CloseKind::SpeaksTls)))
        }
        _ if made.at.elapsed() >= LASTS_MIN || made.calls.has_answered() => None,
        _ if connection.is_going_away() => Some((String::from("the server is going away"), false)),
        Some(CloseReason::HandedOff | CloseReason::Local) | None => None,
        Some(reason) => Some((reason.to_string(), false)),
    }
}

impl Failures {
    /// Records a failure and returns the delay until the next attempt. If the server uses another protocol, the delay
    /// is at least half of the maximum, because the server may interpret the client's bytes as a large packet.
    fn fail(&mut self, at: Instant, is_misdirected: bool) -> Duration {
        let growing = PAUSE_FIRST.saturating_mul(1 << self.count.min(16)).min(PAUSE_MAX);
        let pause = match is_misdirected {
            true => PAUSE_MAX.mul_f64(0.5 + fastrand::f64() / 2.0),
            false => growing.mul_f64(fastrand::f64()),
        };
        self.count = self.count.saturating_add(1);
        self.is_misdirected = is_misdirected;
        self.next_attempt = at.checked_add(pause);
        pause
    }
}
