//! One connection after the other, and which one calls are placed on.

use crate::calls::Calls;
use crate::client::making::{Maker, Making};
use crate::endpoint::handle_client_known;
use crate::schema::layout::{Layout, Offers};
use crate::wire::body::Reading;
use crate::{Code, Status};
use frisbee::{CloseReason, Connection, PeerKind};
use parking_lot::Mutex;
use polyglot::Nesting;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

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
            let calls = connection.attachments().get_or_insert::<CallTable>();
            // The peer may have shown itself already. If not, the connection's task tells the calls that it finds.
            let peer = connection.peer();
            if peer != PeerKind::Unknown {
                handle_client_known(&calls, &peer);
            }
            calls
        } else {
            let dialled = connection.attachments().get::<Dialled>();
            dialled.map_or_else(CallTable::of_nobody, |dialled| dialled.0.clone())
        };
        if let Some(reason) = connection.close_reason() {
            calls.end(lost(&reason)); // Nobody else does, if the calls came into being only now.
        }
        let nesting = connection.attachments().get::<NestingOf>().map_or_else(Nesting::default, |of| of.0);
        Self { connection: connection.clone(), calls, backward, nesting, end: LinkEnd::Leave }
    }

    /// A connection that was dialled. If it `serves` its server as well, it is closed when that is over too.
    pub(crate) fn dialled(connection: Connection, calls: Arc<CallTable>, nesting: Nesting, serves: bool) -> Self {
        let end = if serves { LinkEnd::CloseWhenServed } else { LinkEnd::Close };
        Self { connection, calls, backward: false, nesting, end }
    }

    /// Whether the other end has shown what it is.
    pub(crate) fn has_shown(&self) -> bool {
        self.calls.shown.load(Ordering::Relaxed)
    }

    /// Whether calls that were not sent go to another connection, since this one takes no new ones. Those of somebody
    /// else's connection have no other.
    pub(crate) fn is_left(&self) -> bool {
        self.calls.retired.load(Ordering::Acquire) && !matches!(self.end, LinkEnd::Leave)
    }

    /// Waits for something until this [is left](Self::is_left); `None` if it is before.
    pub(crate) async fn unless_left<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut retired) = (pin!(work), pin!(self.calls.retired()));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if matches!(self.end, LinkEnd::Leave) => Poll::Pending,
            Poll::Pending => retired.as_mut().poll(context).map(|()| None),
        })
        .await
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
    connection.attachments().insert(Dialled(calls.clone()));
}

/// Takes in how a server has answered a call with a stream; see [`CallTable::handle_answer`].
pub(crate) fn handle_answer(connection: &Connection, code: Code) {
    if let Some(dialled) = connection.attachments().get::<Dialled>() {
        dialled.0.handle_answer(code);
    }
}

/// How deep messages may nest, among the values of a connection, if it is not as deep as by default.
struct NestingOf(Nesting);

/// Lets those who make calls by a connection know how deep messages may nest.
pub(crate) fn put_nesting(connection: &Connection, nesting: Nesting) {
    // A connection without values need not be asked for any.
    if nesting != Nesting::default() {
        connection.attachments().insert(NestingOf(nesting));
    }
}

/// An end that cannot work gets one of so many calls, by which it shows that it can again. It would get more than others
/// otherwise: whoever fails at once seems to have nothing to do.
const PASSES: u32 = 64;

/// The calls of a connection and those who wait to make one.
#[derive(Debug, Default)]
pub(crate) struct CallTable {
    pub(crate) calls: Mutex<Calls>,
    pub(crate) vacancy: Notify,
    /// New calls go elsewhere.
    retired: AtomicBool,
    /// The other end has shown what it is, so there is somebody.
    shown: AtomicBool,
    /// For how many calls the other end is still passed over, since it has said that it cannot work.
    passes: AtomicU32,
    /// Where a channel has the link.
    place: OnceLock<Weak<Place>>,
}

/// The connection that a channel places calls on.
pub(crate) type Place = Mutex<Placed>;

#[derive(Default)]
pub(crate) struct Placed {
    link: Option<Arc<Link>>,
    /// The channel's owner has closed it: there is no further connection.
    is_closed: bool,
}

impl CallTable {
    /// For a connection on which the services `named` are told to the server at once.
    pub(crate) fn new(named: Arc<[&'static Layout]>) -> Self {
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
        drop(calls.calls.lock().end(Status::failed_precondition("the connection has ended or belongs to no channel")));
        calls.retire();
        calls
    }

    /// Takes in that the other end has shown what it is.
    pub(crate) fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }

    /// Takes in how the other end has answered a call, by which it shows whether it can work.
    #[inline]
    pub(crate) fn handle_answer(&self, code: Code) {
        let passes = if matches!(code, Code::Unavailable | Code::ResourceExhausted) { PASSES } else { 0 };
        if self.passes.load(Ordering::Relaxed) != passes {
            self.passes.store(passes, Ordering::Relaxed);
        }
    }

    /// Whether the other end has said that it cannot work, and not shown yet that it can.
    #[inline]
    pub(crate) fn is_doubted(&self) -> bool {
        self.passes.load(Ordering::Relaxed) != 0
    }

    /// Passes over a doubted end, unless it is its turn again. Not exact among callers on several threads.
    pub(crate) fn pass(&self) -> bool {
        let passes = self.passes.load(Ordering::Relaxed);
        self.passes.store(if passes <= 1 { PASSES } else { passes - 1 }, Ordering::Relaxed);
        passes > 1
    }

    /// Has calls wait until what is returned is dropped, if none is in flight; see [`Calls::pause`].
    pub(crate) fn pause(self: &Arc<Self>) -> Option<Paused> {
        self.calls.lock().pause().then(|| Paused(self.clone()))
    }

    /// Whether no call is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.calls.lock().is_idle()
    }

    /// Has new calls go elsewhere. Its channel lets go of the connection at once, since a next call that would notice
    /// may never come, and a server that stops waits for the connection to be closed.
    pub(crate) fn retire(&self) {
        self.retired.store(true, Ordering::Release);
        self.vacancy.notify_waiters();
        if let Some(place) = self.place.get().and_then(Weak::upgrade) {
            let link = place.lock().link.take_if(|link| std::ptr::eq(&*link.calls, self));
            drop(link); // Which may close it, without the lock.
        }
    }

    /// Ready when new calls go elsewhere.
    async fn retired(&self) {
        loop {
            let mut changed = pin!(self.vacancy.notified());
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

/// Has calls wait for as long as it is there.
pub(crate) struct Paused(Arc<CallTable>);

impl Drop for Paused {
    fn drop(&mut self) {
        self.0.with(Calls::resume);
    }
}

/// Why a call on a connection that has ended is over.
pub(crate) fn lost(reason: &CloseReason) -> Status {
    Status::unavailable(format!("the connection was lost and the call may have run: {reason}"))
}

/// The connection that calls are placed on, and how to make the next.
pub(crate) struct Links {
    current: Arc<Place>,
    /// `None` for the calls of a connection that is there: another one cannot be made.
    making: Option<Arc<Making>>,
}

impl Links {
    /// Connections that are made when they are needed.
    pub(crate) fn by(maker: Maker) -> Self {
        let current = Arc::default();
        Self { making: Some(Making::new(maker, Arc::clone(&current))), current }
    }

    /// Makes the first connection, in one attempt.
    pub(crate) async fn connect_first(&self) -> Result<(), frisbee::Error> {
        match &self.making {
            Some(making) => making.connect_first().await,
            None => Ok(()),
        }
    }

    /// The one connection that there is.
    pub(crate) fn bound(link: Link) -> Self {
        let placed = Placed { link: Some(Arc::new(link)), is_closed: false };
        Self { current: Arc::new(Mutex::new(placed)), making: None }
    }

    /// The connection that calls are placed on.
    #[inline]
    pub(crate) fn current(&self) -> Option<Arc<Link>> {
        placed(&self.current)
    }

    /// A connection, made anew if need be, for as long as there is patience with a call that has waited since `begun`.
    pub(crate) async fn connect(&self, begun: Instant) -> Result<Arc<Link>, Status> {
        match &self.making {
            Some(making) => making.connection(begun).await,
            None => self.current().ok_or_else(|| match is_closed(&self.current) {
                true => closed(),
                false => unreachable("the connection has ended, and only the dialling end can reconnect"),
            }),
        }
    }

    /// Places no further calls, on no connection.
    pub(crate) fn close(&self) {
        let mut place = self.current.lock();
        place.is_closed = true;
        let link = place.link.take();
        drop(place);
        // Calls of others on somebody else's connection go on.
        if let (Some(link), Some(_)) = (&link, &self.making) {
            link.calls.retire();
        }
        drop(link); // Which may close it, without the lock.
        if let Some(making) = &self.making {
            making.stop();
        }
    }

    /// Whether the channel was closed by its owner.
    pub(crate) fn is_closed(&self) -> bool {
        is_closed(&self.current)
    }

    /// Whether the last attempt to connect has failed.
    pub(crate) fn has_trouble(&self) -> bool {
        self.making.as_ref().is_some_and(|making| making.has_trouble())
    }

    /// What is to be said, with why connecting has failed if it has.
    pub(crate) fn with_trouble(&self, text: String) -> String {
        match &self.making {
            Some(making) => making.with_trouble(text),
            None => text,
        }
    }

    /// What the connections are to, if more than one can be made.
    pub(crate) fn name(&self) -> Option<&str> {
        self.making.as_ref().map(|making| making.name())
    }

    /// Why a call is over that has waited for a connection for as long as it may take.
    pub(crate) fn late(&self) -> Status {
        let why = String::from("not sent: no connection before the deadline");
        Status::deadline_exceeded(self.with_trouble(why)).unsent()
    }

    /// Makes each connection anew that is lost, whether there is a call or not. Ready when no connection can be made
    /// here, or none any more.
    pub(crate) async fn stay_connected(&self) {
        loop {
            let link = match (self.current(), &self.making) {
                (Some(link), _) => link,
                (None, Some(making)) => match making.make(Instant::now(), Duration::MAX).await {
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

impl Drop for Links {
    fn drop(&mut self) {
        if let Some(making) = &self.making {
            making.stop();
        }
    }
}

/// The connection that calls are placed on.
#[inline]
pub(crate) fn placed(place: &Place) -> Option<Arc<Link>> {
    let mut current = place.lock();
    match &current.link {
        Some(link) if !link.calls.retired.load(Ordering::Acquire) => Some(link.clone()),
        Some(_) => {
            let retired = current.link.take();
            drop(current);
            drop(retired); // Which may close it, without the lock.
            None
        }
        None => None,
    }
}

/// Has calls placed on a new connection, which is closed if there are to be none.
pub(crate) fn put(place: &Arc<Place>, link: Link) {
    let calls = link.calls.clone();
    let mut placed = place.lock();
    if placed.is_closed {
        drop(placed);
        return;
    }
    placed.link = Some(Arc::new(link));
    drop(placed);
    let is_first = calls.place.set(Arc::downgrade(place)).is_ok();
    debug_assert!(is_first, "a new connection belongs to one channel");
    if calls.retired.load(Ordering::Acquire) {
        calls.retire(); // It was before it had its place.
    }
}

pub(crate) fn is_closed(place: &Place) -> bool {
    place.lock().is_closed
}

/// Why a channel that was closed makes no call.
pub(crate) fn closed() -> Status {
    Status::failed_precondition("not sent: the channel was closed by its owner").unsent()
}

pub(crate) fn unreachable(why: &str) -> Status {
    Status::unavailable(format!("not sent: {why}")).unsent()
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
    fn an_end_that_cannot_work_gets_one_of_so_many_calls_until_it_has_answered_well() {
        let calls = CallTable::default();
        for doubt in [Code::Unavailable, Code::ResourceExhausted] {
            calls.handle_answer(doubt);
            for _ in 0..3 {
                assert_eq!((1..=2 * PASSES).find(|_| !calls.pass()), Some(PASSES));
                assert!(calls.is_doubted());
            }
            calls.handle_answer(Code::NotFound);
            assert!(!calls.is_doubted());
        }
    }

    #[test]
    fn retries_are_a_tenth_of_what_succeeds() {
        let budget = RetryBudget::default();
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 10);
        (0..35).for_each(|_| budget.earn());
        assert_eq!((0..100).filter(|_| budget.spend()).count(), 3);
    }
}
