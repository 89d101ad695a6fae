//! The calls of a connection, shared by those who make them and the task that drives it.

use crate::calls::Calls;
use crate::calls::offers::Offers;
use crate::schema::layout::Layout;
use crate::wire::layouts::takes_calls;
use crate::{Code, Status};
use frisbee::PeerKind;
use parking_lot::Mutex;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::Waker;
use tokio::sync::Notify;

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
    place: OnceLock<Weak<dyn LetGo>>,
}

/// What a channel does about a connection that takes no new calls.
pub(crate) trait LetGo: Send + Sync {
    /// Lets go of the connection whose calls these are, if it has it.
    fn let_go(&self, calls: &CallTable);
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
    pub(crate) fn of_nobody() -> Arc<Self> {
        let calls = Arc::new(Self::default());
        drop(calls.calls.lock().end(Status::failed_precondition("the connection has ended or belongs to no channel")));
        calls.retire();
        calls
    }

    /// Takes in that the other end has shown what it is.
    pub(crate) fn show(&self) {
        self.shown.store(true, Ordering::Relaxed);
    }

    /// Whether the other end has shown what it is.
    pub(crate) fn has_shown(&self) -> bool {
        self.shown.load(Ordering::Relaxed)
    }

    /// At an end that accepted: takes in what its peer is.
    pub(crate) fn handle_client_known(&self, client: &PeerKind) {
        let hello = client.hello().filter(|_| takes_calls(client));
        self.with(|calls| {
            calls.handle_peer_known(hello.map(|hello| hello.calls_max));
            calls.offers.handle_peer_known(client);
        });
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
            place.let_go(self);
        }
    }

    /// Whether new calls go elsewhere.
    #[inline]
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Ordering::Acquire)
    }

    /// Takes in where a channel has the link to the other end.
    pub(crate) fn placed_in(&self, place: Weak<dyn LetGo>) {
        let is_first = self.place.set(place).is_ok();
        debug_assert!(is_first, "a new connection belongs to one channel");
        if self.is_retired() {
            self.retire(); // It was before it had its place.
        }
    }

    /// Ready when new calls go elsewhere.
    pub(crate) async fn retired(&self) {
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
}
