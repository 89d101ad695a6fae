//! The fleet of a channel: several servers of which any can serve a call, and the choice of a connection for each call.

pub(crate) mod members;
pub(crate) mod resolving;
pub(crate) mod view;

use crate::Status;
use crate::calls::failures::{closed, unreachable};
use crate::client::fleet::members::{Member, Members, Row, Urgency};
use crate::client::fleet::resolving::Resolving;
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::making::RUNTIME_ENDED;
use parking_lot::RwLock;
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
    pub(crate) fn new(made: Arc<Notify>, patience: Duration) -> Self {
        Self {
            members: RwLock::default(),
            made,
            urgency: Arc::default(),
            patience,
            is_closed: AtomicBool::new(false),
            resolving: OnceLock::new(),
        }
    }

    /// The less loaded connection of two that are drawn at random, in proportion to their weights. This keeps the longest
    /// queue short without asking servers, and not all callers choose the server that was idle a moment ago. A server that
    /// answers that it cannot work is passed over, except for a call now and then. A server whose kind is not known comes
    /// last: a server that hangs never shows it, each time that it is dialled.
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        let members = self.members.read();
        let (one, other) = members.draw()?;
        let drawn = match (one.current(), other.current()) {
            (Some(first), Some(second)) => Some(better(one, first, other, second)),
            (first, second) => first.or(second),
        };
        if drawn.as_ref().is_some_and(|link| link.has_shown()) { drawn } else { any(&members) }
    }

    /// The first connection that is made, for a call that has waited since `begun`, within the patience. The tasks of
    /// the members make connections: otherwise each waiting call would need a future for each server.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
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

    async fn next_connection(&self) -> Result<Arc<Link>, Status> {
        let _waiting = self.urgency.wait();
        loop {
            let mut made = pin!(self.made.notified());
            made.as_mut().enable();
            if let Some(link) = self.current() {
                return Ok(link);
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
        }
    }
}

/// A random number below another, or 0: the same with the same generator on machines of every word length.
fn below(count: usize) -> usize {
    fastrand::u64(..(count as u64).max(1)) as usize
}

/// The first connection whose server is known, or else the last connection, beginning at a random member.
#[cold]
fn any(members: &Members) -> Option<Arc<Link>> {
    let rows = members.rows();
    let (behind, before) = rows.split_at(below(rows.len()));
    let mut last = None;
    for row in before.iter().chain(behind) {
        match row.member.links.current() {
            Some(link) if link.has_shown() => return Some(link),
            link => last = link.or(last),
        }
    }
    last
}

/// The better of two connections for a call.
fn better(one: &Row, first: Arc<Link>, other: &Row, second: Arc<Link>) -> Arc<Link> {
    // The load for each unit of weight, without a division.
    let (one_rank, other_rank) = (rank(&first, other.weight()), rank(&second, one.weight()));
    let (better, worse) = if other_rank < one_rank { (second, first) } else { (first, second) };
    let is_passed = worse.calls.is_doubted() && !better.calls.is_doubted();
    if is_passed && worse.has_shown() && !worse.calls.pass() { worse } else { better }
}

/// The order of preference. The channel and each call and stream hold a link, so the count of its holders is its load.
fn rank(link: &Arc<Link>, others_weight: u32) -> (bool, bool, u64) {
    let load = (Arc::strong_count(link) as u64).saturating_mul(u64::from(others_weight));
    (!link.has_shown(), link.calls.is_doubted(), load)
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
    made: Arc<Notify>,
    patience: Duration,
    runtime: &tokio::runtime::Handle,
) -> Option<Result<Fleet, frisbee::Error>> {
    match first(all.iter().map(Links::connect_first)).await? {
        Ok(()) => {}
        Err(error) => return Some(Err(error)),
    }
    let fleet = Fleet::new(made, patience);
    let rows = all.into_iter().map(|links| {
        let endpoint = crate::resolve::Endpoint::new(links.name().unwrap_or_default());
        Row::new(Arc::new(endpoint), Member::kept(links, &fleet.urgency, members::Pauses::NONE, runtime))
    });
    fleet.add(rows.collect());
    Some(Ok(fleet))
}
