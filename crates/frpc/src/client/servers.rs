//! The servers of a channel, one or several, and the choice of a connection for each call.

use crate::Status;
use crate::calls::failures::{closed, unreachable};
use crate::client::link::Link;
use crate::client::links::Links;
use crate::client::making::RUNTIME_ENDED;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// The servers of a channel.
pub(crate) enum Servers {
    One(Links),
    Several(Several),
}

impl Servers {
    /// The connection for the next call, if there is one.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        match self {
            Self::One(links) => links.current(),
            Self::Several(several) => several.current(),
        }
    }

    /// A connection, or a new one; see [`Links::connect`].
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        match self {
            Self::One(links) => links.connect(begun).await,
            Self::Several(several) => several.connect(begun).await,
        }
    }

    /// The status of a late call; see [`Links::late`].
    pub(crate) fn late(&self) -> Status {
        match self {
            Self::One(links) => links.late(),
            Self::Several(several) => several.in_trouble().late(),
        }
    }

    /// Replaces lost connections; see [`Links::stay_connected`]. Connections to several servers are always replaced.
    pub(crate) async fn stay_connected(&self) {
        match self {
            Self::One(links) => links.stay_connected().await,
            Self::Several(_) => pending().await,
        }
    }

    /// Closes the channel.
    pub(crate) fn close(&self) {
        match self {
            Self::One(links) => links.close(),
            Self::Several(several) => {
                several.members.iter().for_each(|member| member.links.close());
                several.made.notify_waiters();
            }
        }
    }

    /// The names of the servers.
    pub(crate) fn names(&self) -> Vec<&str> {
        match self {
            Self::One(links) => links.name().into_iter().collect(),
            Self::Several(several) => several.members.iter().filter_map(|member| member.links.name()).collect(),
        }
    }
}

/// Servers of which any can serve a call.
pub(crate) struct Several {
    /// At least one.
    members: Box<[Member]>,
    /// Notified of each new connection to one of them.
    made: Arc<Notify>,
    /// How long a call waits for a connection.
    patience: Duration,
}

/// A server, and the task that keeps a connection to it.
struct Member {
    links: Arc<Links>,
    keeping: JoinHandle<()>,
}

impl Drop for Member {
    fn drop(&mut self) {
        self.keeping.abort();
    }
}

impl Several {
    /// Connects to all servers. Ready when the first connection is made; `None` if there are no servers.
    pub(crate) async fn connected(
        all: Vec<Links>,
        made: Arc<Notify>,
        patience: Duration,
        runtime: &Handle,
    ) -> Option<Result<Self, frisbee::Error>> {
        match first(all.iter().map(Links::connect_first)).await? {
            Ok(()) => {}
            Err(error) => return Some(Err(error)),
        }
        let members = all.into_iter().map(|links| {
            let links = Arc::new(links);
            let kept = links.clone();
            Member { links, keeping: runtime.spawn(async move { kept.stay_connected().await }) }
        });
        Some(Ok(Self { members: members.collect(), made, patience }))
    }

    /// The less loaded connection of two that are drawn at random. This keeps the longest queue short without asking
    /// servers, and not all callers choose the server that was idle a moment ago. A server that answers that it cannot
    /// work is passed over, except for a call now and then. A server whose kind is not known comes last: a server that
    /// hangs never shows it, each time that it is dialled.
    fn current(&self) -> Option<Arc<Link>> {
        let count = self.members.len();
        let one = fastrand::usize(..count);
        let other = (one + fastrand::usize(1..count.max(2))) % count;
        let drawn = match (self.members[one].links.current(), self.members[other].links.current()) {
            (Some(one), Some(other)) => Some(better(one, other)),
            (one, other) => one.or(other),
        };
        if drawn.as_ref().is_some_and(|link| link.has_shown()) { drawn } else { self.any(one) }
    }

    /// The first connection behind this member whose server is known, or else the last connection.
    #[cold]
    fn any(&self, behind: usize) -> Option<Arc<Link>> {
        let count = self.members.len();
        let mut last = None;
        for at in behind + 1..=behind + count {
            match self.members[at % count].links.current() {
                Some(link) if link.has_shown() => return Some(link),
                link => last = link.or(last),
            }
        }
        last
    }

    /// The first connection that is made, for a call that has waited since `begun`, within the patience. The tasks of
    /// the members make connections: otherwise each waiting call would need a future for each server.
    async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        let connected = async {
            loop {
                let mut made = pin!(self.made.notified());
                made.as_mut().enable();
                if let Some(link) = self.current() {
                    return Ok(link);
                }
                if self.members.iter().any(|member| member.links.is_closed()) {
                    return Err(closed());
                }
                if self.members.iter().all(|member| member.keeping.is_finished()) {
                    return Err(unreachable(RUNTIME_ENDED));
                }
                made.await;
            }
        };
        let Some(end) = begun.checked_add(self.patience) else { return connected.await };
        tokio::time::timeout_at(end, connected).await.unwrap_or_else(|_| {
            let why = format!("no connection to any of {} servers within {:?}", self.members.len(), self.patience);
            Err(unreachable(&self.in_trouble().with_trouble(why)))
        })
    }

    /// A server to which connecting failed, if there is one.
    fn in_trouble(&self) -> &Links {
        let links = || self.members.iter().map(|member| &*member.links);
        links().find(|links| links.has_trouble()).unwrap_or(&self.members[0].links)
    }
}

/// The better of two connections for a call.
fn better(one: Arc<Link>, other: Arc<Link>) -> Arc<Link> {
    let (better, worse) = if rank(&other) < rank(&one) { (other, one) } else { (one, other) };
    let is_passed = worse.calls.is_doubted() && !better.calls.is_doubted();
    if is_passed && worse.has_shown() && !worse.calls.pass() { worse } else { better }
}

/// The order of preference. The channel and each call and stream hold a link, so the count of its holders is its load.
fn rank(link: &Arc<Link>) -> (bool, bool, usize) {
    (!link.has_shown(), link.calls.is_doubted(), Arc::strong_count(link))
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
