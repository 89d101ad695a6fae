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
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;

/// The longest pause after the first failure to connect; it doubles with each further one. The pause taken is
/// anything up to that, so that clients of a server that comes back do not all come at once.
const PAUSE_FIRST: Duration = Duration::from_millis(20);

/// No pause is longer.
const PAUSE_MAX: Duration = Duration::from_secs(2);

/// A connection that its server ends sooner was good for nothing: the next one comes behind a pause. It is as long as
/// the longest pause, so that the server is dialled no more often than one at which nobody listens.
const LASTS_MIN: Duration = PAUSE_MAX;

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

    /// Whether the other end has shown what it is.
    pub(crate) fn has_shown(&self) -> bool {
        self.calls.shown.load(Ordering::Relaxed)
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
    /// The other end has shown what it is, so there is somebody.
    shown: AtomicBool,
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

    /// Takes in that the other end has shown what it is.
    pub(crate) fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
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
    /// Held by whoever waits for a connection to be made, one after the other.
    connecting: tokio::sync::Mutex<Connecting>,
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
    /// Tells who waits for any of several servers of each connection that is made.
    pub(crate) made: Arc<Notify>,
}

/// How far connecting has come.
#[derive(Default)]
struct Connecting {
    dial: Option<Dial>,
    failures: Failures,
}

/// A connection in the making, for whoever needs one: it goes on when those have gone who wait for it, and ends with its
/// channel.
struct Dial(JoinHandle<Result<Made, Failed>>);

/// A connection that has been made, and when.
type Made = (Instant, Connection);

/// When an attempt to connect has failed, and why.
type Failed = (Instant, ConnectError);

impl Drop for Dial {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Attempts to connect that have failed, one after the other.
#[derive(Default)]
struct Failures {
    count: u32,
    next_attempt: Option<Instant>,
    /// The connection that was made last, by which they are over if it was good for anything.
    made: Option<Made>,
}

impl Links {
    /// Connections that are made when they are needed.
    pub(crate) fn by(maker: Maker) -> Self {
        let current = Arc::default();
        Self { maker: Some(maker), current, connecting: tokio::sync::Mutex::default(), trouble: Mutex::default() }
    }

    /// Makes the first connection, in one attempt.
    pub(crate) async fn connect_first(&self) -> Result<(), ConnectError> {
        let Some(maker) = &self.maker else { return Ok(()) };
        let mut connecting = self.connecting.lock().await;
        let made = (&mut connecting.dial.insert(maker.dial(&self.current)).0).await;
        connecting.dial = None;
        connecting.failures.made = Some(match made {
            Ok(made) => made.map_err(|(_, error)| error)?,
            Err(ended) => {
                let source = std::io::Error::other(why_ended(&ended));
                return Err(ConnectError::Io { address: maker.dialler.name().to_owned(), source });
            }
        });
        Ok(())
    }

    /// The one connection that there is.
    pub(crate) fn bound(link: Link) -> Self {
        let current = Arc::new(Mutex::new(Some(Arc::new(link))));
        Self { maker: None, current, connecting: tokio::sync::Mutex::default(), trouble: Mutex::default() }
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

    /// A connection, made anew if need be, for as long as there is patience with a call that has waited since `begun`.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        let Some(maker) = &self.maker else {
            let link = self.current();
            return link
                .ok_or_else(|| unreachable("the connection has ended, and only the other end can make another"));
        };
        let making = self.make(maker, begun, maker.patience);
        let Some(end) = begun.checked_add(maker.patience) else { return making.await };
        tokio::time::timeout_at(end, making).await.unwrap_or_else(|_| {
            let why = format!("there is no connection to {} after {:?}", maker.dialler.name(), maker.patience);
            Err(unreachable(&self.with_trouble(why)))
        })
    }

    /// Whether the last attempt to connect has failed.
    pub(crate) fn has_trouble(&self) -> bool {
        self.trouble.lock().is_some()
    }

    /// Makes a connection. Failures are tried again, with growing pauses, unless a pause would end when there is no
    /// `patience` any more with who has waited since `begun`.
    ///
    /// Whoever leaves has the next one go on where he was.
    async fn make(&self, maker: &Maker, begun: Instant, patience: Duration) -> Result<Arc<Link>, Status> {
        let mut connecting = self.connecting.lock().await;
        let Connecting { dial, failures } = &mut *connecting;
        loop {
            if let Some(link) = self.current() {
                return Ok(link);
            }
            if let Some(Dial(dialling)) = dial {
                let made = dialling.await;
                *dial = None;
                match made {
                    Ok(Ok(made)) => {
                        failures.made = Some(made);
                        *self.trouble.lock() = None;
                    }
                    Ok(Err((at, error))) => self.fail(failures, at, error.to_string()),
                    Err(ended) if ended.is_panic() => self.fail(failures, Instant::now(), why_ended(&ended).to_owned()),
                    Err(ended) => return Err(unreachable(why_ended(&ended))),
                }
                continue;
            }
            if let Some(reason) = failures.stillborn() {
                let name = maker.dialler.name();
                let why = format!("the connection to {name} ended as soon as it was made: {reason}");
                self.fail(failures, Instant::now(), why);
            }
            if let Some(next) = failures.next_attempt {
                if next.saturating_duration_since(begun) > patience {
                    let trouble = self.trouble.lock().clone();
                    return Err(unreachable(&trouble.unwrap_or_else(|| maker.dialler.name().to_owned())));
                }
                tokio::time::sleep_until(next).await;
            }
            if maker.dialler.is_used_up() {
                return Err(unreachable("the connection was given by the user, and cannot be made anew"));
            }
            *dial = Some(maker.dial(&self.current));
        }
    }

    /// Notes when and why an attempt has failed.
    fn fail(&self, failures: &mut Failures, at: Instant, why: String) {
        let pause = failures.fail(at);
        tracing::debug!(why, ?pause, "connecting failed");
        *self.trouble.lock() = Some(why);
    }

    /// What is to be said, with why connecting has failed if it has.
    pub(crate) fn with_trouble(&self, text: String) -> String {
        match &*self.trouble.lock() {
            Some(trouble) => format!("{text}; {trouble}"),
            None => text,
        }
    }

    /// What the connections are to, if more than one can be made.
    pub(crate) fn name(&self) -> Option<&str> {
        self.maker.as_ref().map(|maker| maker.dialler.name())
    }

    /// Why a call is over that has waited for a connection for as long as it may take.
    pub(crate) fn late(&self) -> Status {
        let why = String::from("the call was not sent: there was no connection in time");
        Status::deadline_exceeded(self.with_trouble(why)).unsent()
    }

    /// Makes each connection anew that is lost, whether there is a call or not. Never ready, unless no connection can be
    /// made here.
    pub(crate) async fn stay_connected(&self) {
        loop {
            let link = match (self.current(), &self.maker) {
                (Some(link), _) => link,
                (None, Some(maker)) => match self.make(maker, Instant::now(), Duration::MAX).await {
                    Ok(link) => link,
                    Err(_) => return,
                },
                (None, None) => return,
            };
            let calls = link.calls.clone();
            drop(link);
            calls.retired().await;
        }
    }
}

impl Maker {
    /// Begins to make a connection, on which calls are placed once it is there.
    fn dial(&self, place: &Arc<Place>) -> Dial {
        let calls = Arc::new(CallTable::new(self.offer.called.clone()));
        let end = if self.offer.table.is_empty() { LinkEnd::Close } else { LinkEnd::CloseWhenServed };
        let endpoint = Endpoint::calling(self.offer.clone(), calls.clone());
        let (dialler, client, nesting) = (self.dialler.clone(), self.client.clone(), self.offer.nesting);
        let (place, made) = (place.clone(), self.made.clone());
        // In the runtime of the channel, whichever caller needs the connection, and to the end if that one leaves.
        Dial(self.runtime.spawn(async move {
            let connection = dialler.dial(client, endpoint).await.map_err(|error| (Instant::now(), error))?;
            let at = Instant::now();
            put(&place, Arc::new(Link { connection: connection.clone(), calls, backward: false, nesting, end }));
            made.notify_waiters();
            Ok((at, connection))
        }))
    }
}

/// Has calls placed on a new connection.
fn put(place: &Arc<Place>, link: Arc<Link>) {
    let calls = link.calls.clone();
    *place.lock() = Some(link);
    let is_first = calls.place.set(Arc::downgrade(place)).is_ok();
    debug_assert!(is_first, "a connection that is made belongs to one channel");
    if calls.retired.load(Ordering::Acquire) {
        calls.retire(); // It was before it had its place.
    }
}

/// Why no connection has come of a dial.
fn why_ended(ended: &JoinError) -> &'static str {
    if ended.is_panic() { "connecting panicked" } else { "the runtime of the channel has ended" }
}

pub(crate) fn unreachable(why: &str) -> Status {
    Status::unavailable(format!("not sent: {why}")).unsent()
}

impl Failures {
    /// Why the connection that was made last was good for nothing, if it was: it has ended before the server had shown
    /// what it is, or the server has ended it soon. Who accepts and closes, as a balancer without a server behind it,
    /// would be dialled without end.
    fn stillborn(&mut self) -> Option<String> {
        let (at, made) = self.made.take()?;
        let reason = match made.close_reason() {
            Some(reason) if made.peer() == Peer::Unknown => Some(reason.to_string()),
            _ if at.elapsed() >= LASTS_MIN => None,
            _ if made.is_going_away() => Some(String::from("the server is going away")),
            Some(CloseReason::HandedOff | CloseReason::Local) | None => None,
            Some(reason) => Some(reason.to_string()),
        };
        if reason.is_none() {
            *self = Self::default();
        }
        reason
    }

    /// Notes when an attempt has failed; the pause until the next.
    fn fail(&mut self, at: Instant) -> Duration {
        let longest = PAUSE_FIRST.saturating_mul(1 << self.count.min(16)).min(PAUSE_MAX);
        self.count = self.count.saturating_add(1);
        let pause = longest.mul_f64(fastrand::f64());
        self.next_attempt = at.checked_add(pause);
        pause
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
        let pauses: Vec<_> = (0..40).map(|_| failures.fail(Instant::now())).collect();
        assert!(pauses[0] <= PAUSE_FIRST);
        assert!(pauses.iter().all(|pause| *pause <= PAUSE_MAX));
        assert!(pauses[10..].iter().any(|pause| *pause > PAUSE_MAX / 4));
        assert!(pauses.windows(2).any(|pair| pair[0] > pair[1]), "they are not all the longest");
    }
}
