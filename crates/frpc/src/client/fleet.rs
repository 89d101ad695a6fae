//! The fleet of a channel: several servers of which any can serve a call, and the choice of a connection for each call.

pub(crate) mod asking;
pub(crate) mod choice;
pub(crate) mod members;
pub(crate) mod resolving;
pub(crate) mod terms;
pub(crate) mod view;

use crate::Status;
use crate::calls::clock::FleetClock;
use crate::calls::failures::{closed, unreachable};
use crate::client::fleet::asking::Asking;
use crate::client::fleet::choice::{Candidate, Choice, Chosen};
use crate::client::fleet::members::{Member, Members, Row, Urgency};
use crate::client::fleet::resolving::Resolving;
use crate::client::fleet::terms::FleetTerms;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::making::RUNTIME_ENDED;
use parking_lot::{Mutex, RwLock};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// Servers of which any can serve a call.
pub(crate) struct Fleet {
    members: RwLock<Members>,
    /// Those with a connection, among which calls choose. Invariant: whoever locks both locks the members first.
    choice: Mutex<Choice>,
    /// Whether servers are asked before calls.
    asking: Option<Asking>,
    /// When what is known of the members has changed.
    clock: Arc<FleetClock>,
    /// Notified of each new connection to one of them.
    made: Arc<Notify>,
    /// The calls that find no connection.
    urgency: Arc<Urgency>,
    /// How long a call waits for a connection.
    patience: Duration,
    is_closed: AtomicBool,
    /// Who states the members, unless they are fixed.
    resolving: OnceLock<Resolving>,
}

impl Fleet {
    /// A fleet whose members come later.
    pub(crate) fn new(terms: FleetTerms, clock: Arc<FleetClock>, made: Arc<Notify>, patience: Duration) -> Self {
        Self {
            asking: terms.asked.map(Asking::new),
            members: RwLock::new(Members::new(terms)),
            choice: Mutex::default(),
            clock,
            made,
            urgency: Arc::default(),
            patience,
            is_closed: AtomicBool::new(false),
            resolving: OnceLock::new(),
        }
    }

    /// The connection for the next call, if one is quickly found that is no trial.
    #[inline(never)] // So that a channel to one server has nothing of it among its instructions.
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        if self.clock.needs_care() {
            return self.weighed(false).map(|chosen| chosen.link);
        }
        self.choice.lock().next()
    }

    /// The connection for the next call, which may be a trial. If none of those that are looked at is to get calls, the best
    /// of all.
    pub(crate) fn chosen(&self) -> Option<Chosen> {
        self.clock.look();
        self.weighed(true).or_else(|| any(&self.members.read()).map(Chosen::usual))
    }

    /// Whether servers are asked before calls.
    pub(crate) fn asks(&self) -> bool {
        self.asking.is_some()
    }

    /// Some servers that may get calls; see [`Choice::some`].
    fn drawn(&self, count: usize) -> Vec<Candidate> {
        if self.clock.is_due() {
            self.assess();
        }
        self.choice.lock().some(count)
    }

    /// The connection for a call to one of these; see [`Choice::take`].
    fn take(&self, server: &Candidate) -> Option<Chosen> {
        self.choice.lock().take(&self.clock, server)
    }

    /// A connection that a call might use.
    pub(crate) fn connection(&self) -> Option<Arc<Link>> {
        self.current().or_else(|| any(&self.members.read()))
    }

    /// The connection for a call that is under way on this one, too.
    pub(crate) fn besides(&self, link: &Arc<Link>) -> Option<Arc<Link>> {
        self.choice.lock().besides(&self.clock, link)
    }

    /// Chooses with care.
    #[inline(never)]
    fn weighed(&self, takes_trials: bool) -> Option<Chosen> {
        if self.clock.is_due() {
            self.assess();
        }
        self.choice.lock().weigh(&self.clock, takes_trials)
    }

    /// Computes what the choice is made by.
    #[cold]
    fn assess(&self) {
        // Before the look at what is due: what comes later is seen by the next call.
        self.clock.relax();
        if let Some(now) = self.clock.take_due() {
            if self.clock.take_changed() {
                self.muster(&self.members.read());
            }
            self.choice.lock().assess(now);
        }
        if self.choice.lock().spills() || self.clock.has_reports() {
            self.clock.take_care();
        }
    }

    /// Has calls choose among those that have a connection now.
    fn muster(&self, members: &Members) {
        *self.choice.lock() = members.choice();
        self.clock.forget_reports();
    }

    /// The first connection that is made, for a call that has waited since `begun`, within the patience. The tasks of
    /// the members make connections: otherwise each waiting call would need a future for each server.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Chosen, Status> {
        let connected = self.next_connection();
        let Some(end) = begun.checked_add(self.patience) else { return connected.await };
        let connected = tokio::time::timeout_at(end, connected).await;
        connected.unwrap_or_else(|_| Err(unreachable(&self.without_connection(self.patience))))
    }

    /// Waits for the first connection of a new channel. The error is a text.
    pub(crate) async fn first_connection(&self, timeout: Duration) -> Result<(), String> {
        match tokio::time::timeout(timeout, self.next_connection()).await {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(status)) => Err(status.message().to_owned()),
            Err(_) => Err(self.without_connection(timeout)),
        }
    }

    async fn next_connection(&self) -> Result<Chosen, Status> {
        let _waiting = self.urgency.wait();
        loop {
            let mut made = pin!(self.made.notified());
            made.as_mut().enable();
            if let Some(chosen) = self.chosen() {
                return Ok(chosen);
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

    /// Whether nobody makes connections any more, since the runtime of the channel has ended.
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
    pub(crate) fn late(&self) -> Status {
        let why = String::from("not sent: no connection before the deadline");
        Status::deadline_exceeded(self.with_trouble(why)).unsent()
    }

    /// Closes the channel.
    pub(crate) fn close(&self) {
        // Whoever adds a member holds the lock and looks at this first.
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

    /// The names of the servers.
    pub(crate) fn names(&self) -> Vec<String> {
        let members = self.members.read();
        members.rows().iter().filter_map(|row| row.member.links.name().map(str::to_owned)).collect()
    }

    /// Adds members, unless the channel has been closed.
    fn add(&self, rows: Vec<Row>) {
        let mut members = self.members.write();
        if !self.is_closed.load(Ordering::Acquire) {
            members.add(rows);
            self.muster(&members);
        }
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
        let is_doubted = row.pulse().is_some_and(|pulse| pulse.is_doubted());
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
    terms: FleetTerms,
    runtime: &tokio::runtime::Handle,
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
