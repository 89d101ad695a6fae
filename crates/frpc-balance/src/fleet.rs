//! The fleet of a channel: several interchangeable servers and the choice of a connection for each call.

pub(crate) mod builder;
mod choice;
mod clock;
mod estimate;
mod members;
mod options;
mod reports;
mod resolving;
pub(crate) mod view;

use crate::fleet::choice::{CandidateSet, ChosenServer};
use crate::fleet::clock::FleetClock;
use crate::fleet::members::{Row, Urgency};
use crate::fleet::options::FleetOptions;
use crate::fleet::resolving::ResolverTask;
use frpc::Status;
use frpc::frisbee::rpc::with_guarded_waker;
use frpc::observe::ServerLoad;
use frpc::picker::{BoxFuture, Link, PendingCall, Pick, PickedConnection, Picker, WaitPolicy};
use parking_lot::{Mutex, RwLock};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;

const RUNTIME_ENDED: &str = "the runtime of the channel has ended";

/// The interchangeable servers of a channel. Chooses a connection for each call and keeps connections open.
pub(crate) struct Fleet {
    /// Servers to which the fleet maintains connections.
    members: RwLock<Vec<Row>>,
    options: FleetOptions,
    /// Candidates for calls, which are the members that have a connection. To avoid deadlocks, `members` must be locked
    /// before `choice`.
    choice: Mutex<CandidateSet>,
    /// Clock shared by all servers of the fleet, which also records that members or load reports have changed.
    clock: Arc<FleetClock>,
    /// Number of calls that wait for a connection. While there are any, connections are made without delay.
    urgency: Arc<Urgency>,
    /// Maximum time that a call waits for a connection while no server is connected.
    connect_timeout: Duration,
    is_closed: AtomicBool,
    /// Runtime of the channel's tasks.
    runtime: Handle,
    /// Task that follows the resolver. Empty if the list of servers is fixed.
    resolving: OnceLock<ResolverTask>,
}

impl Fleet {
    /// Creates a fleet that has no members yet.
    fn new(options: FleetOptions, clock: Arc<FleetClock>, connect_timeout: Duration, runtime: &Handle) -> Self {
        Self {
            members: RwLock::default(),
            options,
            choice: Mutex::default(),
            clock,
            urgency: Arc::default(),
            connect_timeout,
            is_closed: AtomicBool::new(false),
            runtime: runtime.clone(),
            resolving: OnceLock::new(),
        }
    }

    /// Chooses the connection for a call, using cached costs if possible. Returns `None` if no server is connected.
    fn chosen(&self, call: &PendingCall<'_>) -> Option<PickedConnection> {
        let quick = match call.is_unary() {
            true if self.clock.is_marked() => self.weighed(),
            true => self.choice.lock().next().map(ChosenServer::usual),
            // Take the slow path, which reads the clock. Streams do not advance the clock, because their latency is not
            // measured.
            false => None,
        };
        quick.or_else(|| self.chosen_slowly()).map(|chosen| chosen.for_call(call))
    }

    /// Like [`chosen`](Self::chosen), but reads the clock first. If no server is eligible for calls, returns the best
    /// one of all servers.
    #[cold]
    fn chosen_slowly(&self) -> Option<ChosenServer> {
        self.clock.refresh();
        self.weighed().or_else(|| any(&self.members.read()).map(ChosenServer::usual))
    }

    /// Chooses a connection by costs that include the calls of other clients and the servers' load reports. The call
    /// may become a probe. Returns `None` if no server is eligible for calls.
    #[inline(never)]
    fn weighed(&self) -> Option<ChosenServer> {
        let mut choice = self.choice.lock();
        if choice.has_ejected {
            // Most calls do not read the time, so a channel with few calls would notice the end of the ejection late.
            self.clock.refresh();
        }
        if self.clock.is_due() {
            drop(choice);
            self.assess();
            choice = self.choice.lock();
        }
        choice.choose_by_cost(&self.clock)
    }

    /// Recomputes the costs of all candidates.
    #[cold]
    fn assess(&self) {
        // Reset the mark before checking for due work, so that the next call notices later events.
        self.clock.relax();
        if let Some(now) = self.clock.take_due() {
            if self.clock.take_changed() {
                // Lock order: the members, then the choice.
                self.rebuild_choice(&self.members.read());
            }
            self.choice.lock().assess(now);
        }
        let choice = self.choice.lock();
        if choice.spills() || choice.has_ejected || self.clock.has_reports() {
            self.clock.mark();
        }
    }

    /// Replaces the candidates with the members that currently have a connection.
    fn rebuild_choice(&self, members: &[Row]) {
        *self.choice.lock() = CandidateSet::among(members, &self.options);
        self.clock.reports.clear(); // The ranks of the servers have changed.
    }

    /// Waits for the first connection, limited by the timeout and the deadline of the call. The connections are made by
    /// the members' tasks, because each waiting call would otherwise need a future per server.
    async fn connected(&self, wait: WaitPolicy) -> Result<PickedConnection, Status> {
        let connected = self.next_connection();
        let (Some(end), is_late) = wait.end(self.connect_timeout) else { return connected.await };
        let limited = {
            let _entered = self.runtime.enter();
            tokio::time::timeout_at(end, connected)
        };
        limited.await.unwrap_or_else(|_| {
            if is_late {
                let why = String::from("not sent: no connection before the deadline");
                return Err(Status::deadline_exceeded(self.with_failure(why)));
            }
            Err(unreachable(&self.without_connection(self.connect_timeout)))
        })
    }

    /// Waits until a new channel has its first connection. Returns the error as text if no server accepts one.
    async fn first_connection(&self, timeout: Duration) -> Result<(), String> {
        match tokio::time::timeout(timeout, self.next_connection()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(status)) => Err(status.message().to_owned()),
            Err(_) => Err(self.without_connection(timeout)),
        }
    }

    async fn next_connection(&self) -> Result<PickedConnection, Status> {
        // Count the call as waiting, so that the members reconnect without backoff.
        let _waiter = self.urgency.wait();
        loop {
            let mut made = pin!(self.clock.connected.notified());
            // Register before the candidates are checked, so that a connection in between wakes this call.
            made.as_mut().enable();
            if let Some(chosen) = self.chosen_slowly() {
                return Ok(chosen.into_picked());
            }
            if self.is_closed.load(Ordering::Acquire) {
                return Err(Status::failed_precondition("not sent: the channel was closed by its owner"));
            }
            if self.is_abandoned() {
                return Err(unreachable(RUNTIME_ENDED));
            }
            with_guarded_waker(made).await;
        }
    }

    fn without_connection(&self, within: Duration) -> String {
        let count = self.members.read().len();
        self.with_failure(format!("no connection to any of {count} servers within {within:?}"))
    }

    /// Returns whether the channel's runtime has shut down, so that no connection can be made.
    fn is_abandoned(&self) -> bool {
        self.resolving.get().is_none_or(|resolving| resolving.task.is_finished())
            && self.members.read().iter().all(|row| row.member.is_finished())
    }

    /// Appends the last error of a server or of the resolver to `text`, if there is one.
    fn with_failure(&self, text: String) -> String {
        let members = self.members.read();
        let failure = members.iter().find_map(|row| row.member.links.failure());
        match (failure, self.resolving.get()) {
            (Some(failure), _) => format!("{text}; {failure}"),
            (None, Some(resolving)) => resolving.with_failure(&text),
            (None, None) => text,
        }
    }

    fn close_all(&self) {
        // Set the flag while `members` is locked, because `add` checks the flag under the same lock.
        let members = self.members.read();
        self.is_closed.store(true, Ordering::Release);
        let all: Vec<_> = members.iter().map(|row| row.member.clone()).collect();
        // Close outside of the lock, because closing wakes tasks, which may run arbitrary code.
        drop(members);
        all.iter().for_each(|member| member.links.close());
        if let Some(resolving) = self.resolving.get() {
            resolving.task.abort();
        }
        // Wake calls that wait for a connection. They check the flag and fail.
        self.clock.connected.notify_waiters();
    }

    /// Adds servers to the fleet, unless the channel is closed.
    fn add(&self, rows: Vec<Row>) {
        let mut members = self.members.write();
        if !self.is_closed.load(Ordering::Acquire) {
            members.extend(rows);
            self.rebuild_choice(&members);
            // Notify waiting calls outside of the lock, because wakers may run arbitrary code.
            drop(members);
            // Notify them again, because a member may have connected before its row was added.
            self.clock.connected.notify_waiters();
        }
    }
}

impl Picker for Fleet {
    fn pick(&self, call: &PendingCall<'_>) -> Pick {
        if let Some(link) = call.avoid() {
            let other = self.choice.lock().other_than(&self.clock, link);
            return other.map_or_else(
                || Pick::Failed(unreachable("no other server can take the call")),
                |link| Pick::Ready(PickedConnection::new(link)),
            );
        }
        self.chosen(call).map_or(Pick::Connecting, Pick::Ready)
    }

    fn connect(&self, wait: WaitPolicy) -> BoxFuture<'_, Result<PickedConnection, Status>> {
        Box::pin(self.connected(wait))
    }

    fn link(&self) -> Option<Arc<Link>> {
        any(&self.members.read())
    }

    /// Does nothing, because the tasks of the members always replace lost connections.
    fn stay_connected(&self) -> BoxFuture<'_, ()> {
        Box::pin(pending())
    }

    fn close(&self) {
        self.close_all();
    }

    fn loads(&self) -> Vec<ServerLoad> {
        let load = |row: &Row| {
            let in_progress = row.current().as_ref().map(Link::in_progress);
            ServerLoad::new(row.endpoint.address(), in_progress, row.estimate.is_doubted())
        };
        self.members.read().iter().map(load).collect()
    }

    fn has_several(&self) -> bool {
        true
    }
}

/// Returns a random number below `count`, or 0 if `count` is 0. The result does not depend on the word size of the
/// machine, so simulations are reproducible on all of them.
fn below(count: usize) -> usize {
    fastrand::u64(..(count as u64).max(1)) as usize
}

/// Returns the greatest common divisor of two numbers.
pub(crate) fn common(mut one: u32, mut other: u32) -> u32 {
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Returns the connection to the least unsuitable server, for when no server is eligible for calls. Compares servers by
/// these criteria, the most important one first: the server has sent data, is not ejected, has a nonzero weight, and
/// has few calls. The first criterion avoids hanging servers, which accept connections but never send data.
#[cold]
fn any(rows: &[Row]) -> Option<Arc<Link>> {
    let (behind, before) = rows.split_at(below(rows.len()));
    let all = before.iter().chain(behind).filter_map(|row| Some((row, row.current()?)));
    let best = all.min_by_key(|(row, link)| {
        (!link.is_alive(), row.estimate.is_doubted(), row.weight() == 0, Arc::strong_count(link))
    });
    best.map(|(_, link)| link)
}

/// Awaits futures concurrently and returns the first success. If all fail, returns the last failure. Returns `None` if
/// there are no futures.
async fn first<F, T, E>(all: impl Iterator<Item = F>) -> Option<Result<T, E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut left: Vec<_> = all.map(Box::pin).collect();
    poll_fn(|context| {
        let mut ended = None;
        left.retain_mut(|next| match next.as_mut().poll(context) {
            Poll::Pending => true,
            Poll::Ready(result) => {
                ended = ended.take().filter(Result::is_ok).or(Some(result));
                false
            }
        });
        if left.is_empty() || matches!(ended, Some(Ok(_))) { Poll::Ready(ended) } else { Poll::Pending }
    })
    .await
}

fn unreachable(why: &str) -> Status {
    Status::unavailable(format!("not sent: {why}"))
}
