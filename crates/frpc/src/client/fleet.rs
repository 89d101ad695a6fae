//! The fleet of a channel: several interchangeable servers, and the choice of a connection for each call.

pub(crate) mod choice;
pub(crate) mod members;
pub(crate) mod options;
pub(crate) mod resolving;
pub(crate) mod view;

use crate::Status;
use crate::api::middleware::CallKind;
use crate::calls::clock::FleetClock;
use crate::calls::failures::{closed, unreachable};
use crate::client::call::Call;
use crate::client::fleet::choice::Choice;
use crate::client::fleet::members::{Member, Members, Row, Urgency};
use crate::client::fleet::options::FleetOptions;
use crate::client::fleet::resolving::Resolving;
use crate::client::fleet::view::FleetView;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::making::RUNTIME_ENDED;
use crate::client::picker::{Boxed, Pick, Picked, Picker, Wait, in_progress};
use crate::deadline;
use crate::observe::ServerLoad;
use parking_lot::{Mutex, RwLock};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;

/// Interchangeable servers.
pub(crate) struct Fleet {
    members: RwLock<Members>,
    /// Those with a connection, the candidates of calls. Invariant: code that locks both locks the members first.
    choice: Mutex<Choice>,
    /// The time of the last change of the members' state.
    clock: Arc<FleetClock>,
    /// Notified of each new connection to one of them.
    made: Arc<Notify>,
    /// The calls that find no connection.
    urgency: Arc<Urgency>,
    /// How long a call waits for a connection.
    patience: Duration,
    is_closed: AtomicBool,
    /// The runtime of the channel.
    runtime: Handle,
    /// Who states the members, unless they are fixed.
    resolving: OnceLock<Resolving>,
}

impl Fleet {
    /// A fleet whose members come later.
    pub(crate) fn new(terms: FleetOptions, clock: Arc<FleetClock>, made: Arc<Notify>, patience: Duration) -> Self {
        Self {
            members: RwLock::new(Members::new(terms)),
            choice: Mutex::default(),
            clock,
            made,
            urgency: Arc::default(),
            patience,
            is_closed: AtomicBool::new(false),
            runtime: Handle::current(),
            resolving: OnceLock::new(),
        }
    }

    /// The connection for a call.
    fn chosen(&self, call: &Call<'_>) -> Option<Picked> {
        let quick = match call.kind {
            CallKind::Unary if self.clock.needs_care() => self.weighed(),
            CallKind::Unary => self.choice.lock().next().map(Picked::usual),
            // Streams are not timed, and an ejection ends all the same.
            _ => None,
        };
        quick.or_else(|| self.chosen_slowly()).map(|picked| Picked {
            // Another server may run a trial as well if that does no harm.
            trial: picked.trial.filter(|_| call.method.idempotent && call.kind == CallKind::Unary),
            ..picked
        })
    }

    /// As [`chosen`](Self::chosen), with a look at the clock. If no server is to get calls, the best of all.
    #[cold]
    fn chosen_slowly(&self) -> Option<Picked> {
        self.clock.look();
        self.weighed().or_else(|| any(&self.members.read()).map(Picked::usual))
    }

    /// Chooses with care.
    #[inline(never)]
    fn weighed(&self) -> Option<Picked> {
        if self.clock.is_due() {
            self.assess();
        }
        self.choice.lock().weigh(&self.clock)
    }

    /// Computes the basis of the choice.
    #[cold]
    fn assess(&self) {
        // Before the check for due work: later events are seen by the next call.
        self.clock.relax();
        if let Some(now) = self.clock.take_due() {
            if self.clock.take_changed() {
                self.rebuild_choice(&self.members.read());
            }
            self.choice.lock().assess(now);
        }
        if self.choice.lock().spills() || self.clock.has_reports() {
            self.clock.take_care();
        }
    }

    /// Has calls choose among those that have a connection now.
    fn rebuild_choice(&self, members: &Members) {
        *self.choice.lock() = members.choice();
        self.clock.forget_reports();
    }

    /// The first connection that is made, for a call that waits within the patience and its deadline. The tasks of
    /// the members make connections: otherwise each waiting call would need a future for each server.
    async fn connected(&self, wait: Wait) -> Result<Picked, Status> {
        let connected = self.next_connection();
        let (Some(end), is_late) = wait.end(self.patience) else { return connected.await };
        deadline::timeout_at(&self.runtime, end.into_std(), connected).await.unwrap_or_else(|_| {
            Err(if is_late { self.late() } else { unreachable(&self.without_connection(self.patience)) })
        })
    }

    /// Waits for the first connection of a new channel. The error is a text.
    pub(crate) async fn first_connection(&self, timeout: Duration) -> Result<(), String> {
        match tokio::time::timeout(timeout, self.next_connection()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(status)) => Err(status.message().to_owned()),
            Err(_) => Err(self.without_connection(timeout)),
        }
    }

    async fn next_connection(&self) -> Result<Picked, Status> {
        let _waiting = self.urgency.wait();
        loop {
            let mut made = pin!(self.made.notified());
            made.as_mut().enable();
            if let Some(picked) = self.chosen_slowly() {
                return Ok(picked);
            }
            if self.is_closed.load(Ordering::Acquire) {
                return Err(closed());
            }
            if self.is_abandoned() {
                return Err(unreachable(RUNTIME_ENDED));
            }
            made.await;
        }
    }

    fn without_connection(&self, within: Duration) -> String {
        let count = self.members.read().rows().len();
        self.with_trouble(format!("no connection to any of {count} servers within {within:?}"))
    }

    /// Whether connections are no longer made, since the runtime of the channel has ended.
    fn is_abandoned(&self) -> bool {
        self.resolving.get().is_none_or(Resolving::is_finished)
            && self.members.read().rows().iter().all(|row| row.member.is_finished())
    }

    /// The text, with the trouble of a server or of the resolver if there is some.
    pub(crate) fn with_trouble(&self, text: String) -> String {
        let members = self.members.read();
        let in_trouble = members.rows().iter().find(|row| row.member.links.has_trouble());
        match (in_trouble, self.resolving.get()) {
            (Some(row), _) => row.member.links.with_trouble(text),
            (None, Some(resolving)) => resolving.with_trouble(&text),
            (None, None) => text,
        }
    }

    /// The status of a call that got no connection before its deadline.
    fn late(&self) -> Status {
        let why = String::from("not sent: no connection before the deadline");
        Status::deadline_exceeded(self.with_trouble(why)).unsent()
    }

    fn close_all(&self) {
        // Adding a member holds the lock and checks this first.
        let members = self.members.read();
        self.is_closed.store(true, Ordering::Release);
        let all: Vec<_> = members.rows().iter().map(|row| row.member.clone()).collect();
        drop(members);
        all.iter().for_each(|member| member.links.close());
        if let Some(resolving) = self.resolving.get() {
            resolving.stop();
        }
        self.made.notify_waiters();
    }

    /// Adds members, unless the channel has been closed.
    fn add(&self, rows: Vec<Row>) {
        let mut members = self.members.write();
        if !self.is_closed.load(Ordering::Acquire) {
            members.add(rows);
            self.rebuild_choice(&members);
        }
    }
}

impl Picker for Fleet {
    fn pick(&self, call: &Call<'_>) -> Pick {
        if let Some(link) = call.avoid {
            let other = self.choice.lock().other_than(&self.clock, link);
            return other.map_or_else(
                || Pick::Failed(unreachable("no other server can take the call")),
                |link| Pick::Ready(Picked::usual(link)),
            );
        }
        self.chosen(call).map_or(Pick::Connecting, Pick::Ready)
    }

    fn connect(&self, wait: Wait) -> Boxed<'_, Result<Picked, Status>> {
        Box::pin(self.connected(wait))
    }

    fn connection(&self) -> Option<Arc<Link>> {
        any(&self.members.read())
    }

    /// Connections to several servers are always replaced.
    fn stay_connected(&self) -> Boxed<'_, ()> {
        Box::pin(pending())
    }

    fn close(&self) {
        self.close_all();
    }

    fn names(&self) -> Vec<String> {
        let members = self.members.read();
        members.rows().iter().filter_map(|row| row.member.links.name().map(str::to_owned)).collect()
    }

    fn loads(&self) -> Vec<ServerLoad> {
        let load = |row: &Row| {
            let is_doubted = row.estimate().is_some_and(|estimate| estimate.is_doubted());
            ServerLoad::new(row.endpoint.address(), row.current().as_ref().map(in_progress), is_doubted)
        };
        self.members.read().rows().iter().map(load).collect()
    }

    fn fleet(&self) -> Option<FleetView> {
        Some(self.view())
    }
}

/// A random number below another, or 0: the same with the same generator on machines of every word length.
fn below(count: usize) -> usize {
    fastrand::u64(..(count as u64).max(1)) as usize
}

/// The best connection of all: to a server that is known to be alive, that is not doubted, that has a weight, and that
/// has the fewest calls. A server that hangs never shows that it is alive, each time that it is dialled.
#[cold]
fn any(members: &Members) -> Option<Arc<Link>> {
    let rows = members.rows();
    let (behind, before) = rows.split_at(below(rows.len()));
    let all = before.iter().chain(behind).filter_map(|row| Some((row, row.current()?)));
    let best = all.min_by_key(|(row, link)| {
        let is_doubted = row.estimate().is_some_and(|estimate| estimate.is_doubted());
        (!link.has_shown(), is_doubted, row.weight() == 0, Arc::strong_count(link))
    });
    best.map(|(_, link)| link)
}

/// The first success, or the last failure; `None` if there are no futures.
async fn first<F, T, E>(all: impl Iterator<Item = F>) -> Option<Result<T, E>>
where
    F: Future<Output = Result<T, E>>,
{
    let mut left: Vec<_> = all.map(Box::pin).collect();
    poll_fn(|context| {
        let (mut at, mut failed) = (0, None);
        while let Some(next) = left.get_mut(at) {
            match next.as_mut().poll(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(value)) => return Poll::Ready(Some(Ok(value))),
                Poll::Ready(Err(error)) => {
                    drop(left.swap_remove(at));
                    failed = Some(Err(error));
                }
            }
        }
        if left.is_empty() { Poll::Ready(failed) } else { Poll::Pending }
    })
    .await
}

/// Connects to all of a fixed list of servers, and keeps connected. Ready when the first connection is made; `None` if
/// there are no servers.
pub(crate) async fn connected(
    all: Vec<Links>,
    clock: Arc<FleetClock>,
    made: Arc<Notify>,
    patience: Duration,
    terms: FleetOptions,
    runtime: &Handle,
) -> Option<Result<Fleet, frisbee::Error>> {
    match first(all.iter().map(Links::dial_first)).await? {
        Ok(()) => {}
        Err(error) => return Some(Err(error)),
    }
    let fleet = Fleet::new(terms, clock, made, patience);
    let rows = all.into_iter().map(|links| {
        let endpoint = crate::resolve::Endpoint::new(links.name().unwrap_or_default());
        Row::new(Arc::new(endpoint), Member::kept(links, &fleet.urgency, members::Pauses::NONE, runtime))
    });
    fleet.add(rows.collect());
    Some(Ok(fleet))
}
