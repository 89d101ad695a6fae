//! One connection after the other: which one calls are placed on, and how a lost one is made anew.

use super::dial::Dialler;
use crate::Status;
use crate::body::Reading;
use crate::calls::Calls;
use crate::endpoint::{Endpoint, handle_verdict_on_client};
use crate::layout::{Layout, Offers};
use crate::offer::Offer;
use frisbee::{ClientBuilder, CloseReason, ConnectError, Connection, Peer};
use parking_lot::Mutex;
use polyglot::Nesting;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The longest pause after the first failure to connect; it doubles with each further one. The pause taken is
/// anything up to that, so that clients of a server that comes back do not all come at once.
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// No pause is longer.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// A connection and the calls on it. One that a channel has dialled is closed when nobody needs it any more: neither
/// the channel nor a call.
pub(crate) struct Link {
    pub(crate) connection: Connection,
    pub(crate) calls: Arc<CallTable>,
    /// The connection was accepted: calls have to say that they go the other way.
    pub(crate) backward: bool,
    /// How deep messages of the other end may nest.
    pub(crate) nesting: Nesting,
    end: LinkEnd,
}

/// What becomes of the connection with its link.
#[derive(Clone, Copy)]
enum LinkEnd {
    Close,
    /// It serves the peer as well, which may have called by a connection that it takes nothing new on.
    CloseWhenServed,
    /// It belongs to somebody else.
    Leave,
}

impl Link {
    /// The calls of a connection that is there, which goes on without the link.
    pub(crate) fn of(connection: &Connection) -> Self {
        let backward = !connection.is_dialled();
        let calls = if backward {
            let calls = connection.extensions().get_or_insert::<CallTable>();
            // The peer may have shown itself already. If not, the connection's task tells the calls that it finds.
            let peer = connection.peer();
            if peer != Peer::Unknown {
                handle_verdict_on_client(&calls, &peer);
            }
            calls
        } else {
            let dialled = connection.extensions().get::<Dialled>();
            dialled.map_or_else(CallTable::of_nobody, |dialled| dialled.0.clone())
        };
        if let Some(reason) = connection.close_reason() {
            calls.end(lost(&reason)); // Nobody else does, if the calls came into being only now.
        }
        let nesting = connection.extensions().get::<NestingOf>().map_or_else(Nesting::default, |of| of.0);
        Self { connection: connection.clone(), calls, backward, nesting, end: LinkEnd::Leave }
    }

    /// How messages of the other end are read, of which so many fields may be missing at the end.
    pub(crate) fn reading(&self, missing: u32) -> Reading {
        Reading { missing, nesting: self.nesting }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        match self.end {
            LinkEnd::CloseWhenServed if self.connection.is_going_away() => self.connection.close_when_idle(),
            LinkEnd::Close | LinkEnd::CloseWhenServed => self.connection.close(),
            LinkEnd::Leave => {}
        }
    }
}

/// The calls of an end that dialled, among the values of its connection.
struct Dialled(Arc<CallTable>);

/// Lets the calls of an end that dialled be found by its connection.
pub(crate) fn put_calls(connection: &Connection, calls: &Arc<CallTable>) {
    connection.extensions().insert(Dialled(calls.clone()));
}

/// How deep messages may nest, among the values of a connection, if it is not as deep as by default.
struct NestingOf(Nesting);

/// Lets those who make calls by a connection know how deep messages may nest.
pub(crate) fn put_nesting(connection: &Connection, nesting: Nesting) {
    // A connection without values need not be asked for any.
    if nesting != Nesting::default() {
        connection.extensions().insert(NestingOf(nesting));
    }
}

/// The calls of a connection and those who wait to make one.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    pub(crate) calls: Mutex<Calls>,
    pub(crate) vacancy: Notify,
    /// New calls go elsewhere.
    retired: AtomicBool,
    /// Where a channel has the link.
    place: OnceLock<Weak<Place>>,
}

/// The connection that a channel places calls on.
type Place = Mutex<Option<Arc<Link>>>;

impl CallTable {
    /// For a connection on which the services `named` are told to the server at once.
    fn new(named: Arc<[&'static Layout]>) -> Self {
        let table = Self::default();
        table.calls.lock().offers = Offers::new(named);
        table
    }

    /// Does something with the calls, and lets the next caller in if that made room.
    #[inline(always)]
    pub(crate) fn with<T>(&self, change: impl FnOnce(&mut Calls) -> T) -> T {
        let mut calls = self.calls.lock();
        let result = change(&mut calls);
        let vacancy = calls.has_vacancy();
        drop(calls);
        if vacancy {
            self.vacancy.notify_one();
        }
        result
    }

    /// That of a connection whose packets are not seen here.
    fn of_nobody() -> Arc<Self> {
        let calls = Arc::new(Self::default());
        drop(calls.calls.lock().end(Status::failed_precondition("the connection has ended, or is none of a channel")));
        calls.retire();
        calls
    }

    /// Has calls wait, if none is in flight; see [`Calls::pause`].
    pub(crate) fn pause(&self) -> bool {
        self.calls.lock().pause()
    }

    /// Whether no call is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.lock().is_idle()
    }

    /// Lets calls begin again.
    pub(crate) fn resume(&self) {
        self.with(Calls::resume);
    }

    /// Has new calls go elsewhere. Its channel lets go of the connection at once, since a next call that would notice may
    /// never come, and a server that stops waits for the connection to be closed.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        self.vacancy.notify_waiters();
        if let Some(place) = self.place.get().and_then(Weak::upgrade) {
            let link = place.lock().take_if(|link| std::ptr::eq(&*link.calls, self));
            drop(link); // Which may close it, without the lock.
        }
    }

    /// Ready when new calls go elsewhere.
    async fn retired(&self) {
        loop {
            let mut changed = std::pin::pin!(self.vacancy.notified());
            changed.as_mut().enable();
            if self.retired.load(Ordering::Acquire) {
                return;
            }
            changed.await;
        }
    }

    /// Fails every call; see [`Calls::end`].
    pub(crate) fn end(&self, status: Status) {
        self.retire();
        let wake = self.calls.lock().end(status);
        wake.into_iter().for_each(Waker::wake);
        self.vacancy.notify_waiters();
    }
}

/// Why a call on a connection that has ended is over.
pub(crate) fn lost(reason: &CloseReason) -> Status {
    Status::unavailable(format!("the connection was lost, the call may have run: {reason}"))
}

/// The connection that calls are placed on, and how to make the next.
pub(crate) struct Links {
    /// `None` for the calls of a connection that is there: another one cannot be made.
    maker: Option<Maker>,
    current: Arc<Place>,
    /// Held by whoever connects.
    connecting: tokio::sync::Mutex<Failures>,
    /// Why the last attempt has failed, if it has: for those who cannot wait for the next one.
    trouble: Mutex<Option<String>>,
}

/// How connections are made.
pub(crate) struct Maker {
    pub(crate) client: ClientBuilder,
    pub(crate) dialler: Arc<dyn Dialler>,
    pub(crate) patience: Duration,
    pub(crate) offer: Arc<Offer>,
    /// Drives connections, whoever makes the call that makes one anew.
    pub(crate) runtime: Handle,
}

/// Attempts to connect that have failed, one after the other.
#[derive(Default)]
struct Failures {
    count: u32,
    next_attempt: Option<Instant>,
    /// The connection that was made last, by which they are over if it was good for anything.
    made: Option<Connection>,
}

impl Links {
    pub(crate) async fn connected(maker: Maker) -> Result<Self, ConnectError> {
        let first = maker.make().await?;
        let failures = Failures { made: Some(first.connection.clone()), ..Failures::default() };
        let links = Self {
            maker: Some(maker),
            current: Arc::default(),
            connecting: tokio::sync::Mutex::new(failures),
            trouble: Mutex::default(),
        };
        links.put(&first);
        Ok(links)
    }

    /// The one connection that there is.
    pub(crate) fn bound(link: Link) -> Self {
        let current = Arc::new(Mutex::new(Some(Arc::new(link))));
        Self { maker: None, current, connecting: tokio::sync::Mutex::default(), trouble: Mutex::default() }
    }

    /// Has calls placed on a new connection.
    fn put(&self, link: &Arc<Link>) {
        *self.current.lock() = Some(link.clone());
        let is_first = link.calls.place.set(Arc::downgrade(&self.current)).is_ok();
        debug_assert!(is_first, "a connection that is made belongs to one channel");
        if link.calls.retired.load(Ordering::Acquire) {
            link.calls.retire(); // It was before it had its place.
        }
    }

    /// The connection that calls are placed on.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        let mut current = self.current.lock();
        match &*current {
            Some(link) if !link.calls.retired.load(Ordering::Acquire) => Some(link.clone()),
            Some(_) => {
                let retired = current.take();
                drop(current);
                drop(retired); // Which may close it, without the lock.
                None
            }
            None => None,
        }
    }

    /// A connection, made anew if need be. Failures are tried again, with growing pauses, for as long as there is
    /// patience with a call that has waited since `begun`.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        let Some(maker) = &self.maker else {
            let link = self.current();
            return link
                .ok_or_else(|| unreachable("the connection has ended, and only the other end can make another"));
        };
        let mut failures = self.connecting.lock().await;
        loop {
            if let Some(link) = self.current() {
                return Ok(link);
            }
            if let Some(reason) = failures.stillborn() {
                let name = maker.dialler.name();
                let why = format!("the connection to {name} ended as soon as it was made: {reason}");
                if begun.elapsed() + self.fail(&mut failures, &why) > maker.patience {
                    return Err(unreachable(&why));
                }
            }
            if let Some(next) = failures.next_attempt {
                if next.saturating_duration_since(begun) > maker.patience {
                    let trouble = self.trouble.lock().clone();
                    return Err(unreachable(&trouble.unwrap_or_else(|| maker.dialler.name().to_owned())));
                }
                tokio::time::sleep_until(next).await;
            }
            if maker.dialler.is_used_up() {
                return Err(unreachable("the connection was given by the user, and cannot be made anew"));
            }
            match maker.make().await {
                Ok(link) => {
                    failures.made = Some(link.connection.clone());
                    *self.trouble.lock() = None;
                    self.put(&link);
                    return Ok(link);
                }
                Err(error) => {
                    let why = error.to_string();
                    if begun.elapsed() + self.fail(&mut failures, &why) > maker.patience {
                        return Err(unreachable(&why));
                    }
                }
            }
        }
    }

    /// Notes why an attempt has failed; the pause until the next one.
    fn fail(&self, failures: &mut Failures, why: &str) -> Duration {
        let pause = failures.fail();
        tracing::debug!(why, ?pause, "connecting failed");
        *self.trouble.lock() = Some(why.to_owned());
        pause
    }

    /// Why a call is over that has waited for a connection for as long as it may take.
    pub(crate) fn late(&self) -> Status {
        let mut why = String::from("the call was not sent: there was no connection in time");
        if let Some(trouble) = &*self.trouble.lock() {
            why = format!("{why}; {trouble}");
        }
        Status::deadline_exceeded(why).unsent()
    }

    /// Makes each connection anew that is lost, whether there is a call or not. Never ready, unless no connection can be
    /// made here.
    pub(crate) async fn stay_connected(&self) {
        loop {
            let link = match self.current() {
                Some(link) => link,
                None if self.maker.as_ref().is_none_or(|maker| maker.dialler.is_used_up()) => return,
                None => match self.connect(Instant::now()).await {
                    Ok(link) => link,
                    // It has waited for longer than there is patience. Calls get their turn to be told so.
                    Err(_) => {
                        let next = self.connecting.lock().await.next_attempt;
                        tokio::time::sleep_until(next.unwrap_or_else(Instant::now)).await;
                        continue;
                    }
                },
            };
            let calls = link.calls.clone();
            drop(link);
            calls.retired().await;
        }
    }
}

impl Maker {
    async fn make(&self) -> Result<Arc<Link>, ConnectError> {
        let calls = Arc::new(CallTable::new(self.offer.called.clone()));
        let end = if self.offer.table.is_empty() { LinkEnd::Close } else { LinkEnd::CloseWhenServed };
        let endpoint = Endpoint::calling(self.offer.clone(), calls.clone());
        let (dialling, nesting) = (self.dialler.dial(self.client.clone(), endpoint), self.offer.nesting);
        // The link is made there as well: it closes its connection if whoever waits for it has gone.
        let dialled = self.runtime.spawn(async move {
            let connection = dialling.await?;
            Ok(Arc::new(Link { connection, calls, backward: false, nesting, end }))
        });
        dialled.await.unwrap_or_else(|_| {
            // The runtime in which the channel was made is gone.
            let source = std::io::Error::other("the runtime of the channel has ended");
            Err(ConnectError::Io { address: self.dialler.name().to_owned(), source })
        })
    }
}

pub(crate) fn unreachable(why: &str) -> Status {
    Status::unavailable(format!("not sent: {why}")).unsent()
}

impl Failures {
    /// Why the connection that was made last has ended before the server had shown what it is, if it has: who accepts
    /// and closes, as a balancer without a server behind it, would be dialled without end.
    fn stillborn(&mut self) -> Option<CloseReason> {
        let made = self.made.take()?;
        let reason = made.close_reason().filter(|_| made.peer() == Peer::Unknown);
        if reason.is_none() {
            *self = Self::default();
        }
        reason
    }

    /// Notes a failure; the pause until the next attempt.
    fn fail(&mut self) -> Duration {
        let longest = PAUSE_FIRST.saturating_mul(1 << self.count.min(16)).min(PAUSE_MAX);
        self.count = self.count.saturating_add(1);
        let pause = longest.mul_f64(fastrand::f64());
        self.next_attempt = Instant::now().checked_add(pause);
        pause
    }
}

impl fmt::Debug for Links {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let to = self.maker.as_ref().map(|maker| maker.dialler.name());
        f.debug_struct("Links").field("to", &to).finish_non_exhaustive()
    }
}

/// What may be spent on making idempotent calls once more: a tenth of a retry for each call that succeeds, up to ten.
/// A server in trouble thus gets at most a tenth more work.
#[derive(Debug)]
pub(crate) struct RetryBudget {
    /// In tenths.
    tenths: AtomicU32,
}

const RETRY_TENTHS_MAX: u32 = 100;

impl Default for RetryBudget {
    fn default() -> Self {
        Self { tenths: AtomicU32::new(RETRY_TENTHS_MAX) }
    }
}

impl RetryBudget {
    /// A call has succeeded.
    #[inline]
    pub(crate) fn earn(&self) {
        if self.tenths.load(Ordering::Relaxed) < RETRY_TENTHS_MAX {
            self.tenths.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a call may be made once more.
    pub(crate) fn spend(&self) -> bool {
        let spend = |tenths: u32| tenths.checked_sub(10);
        self.tenths.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_are_a_tenth_of_what_succeeds() {
        let budget = RetryBudget::default();
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
        (0..35).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_to_their_limit_and_are_drawn() {
        let mut failures = Failures::default();
        let pauses: Vec<_> = (0..40).map(|_| failures.fail()).collect();
        assert!(pauses[0] <= PAUSE_FIRST);
        assert!(pauses.iter().all(|pause| *pause <= PAUSE_MAX));
        assert!(pauses[10..].iter().any(|pause| *pause > PAUSE_MAX / 4));
        assert!(pauses.windows(2).any(|pair| pair[0] > pair[1]), "they are not all the longest");
    }
}
