//! Accepted connections that have sent nothing useful yet: how many there may be, and which one gives way to the next.

use crate::connection::Connection;
use crate::foreign::{ForeignHandlers, Layers};
use crate::hand_off::TakeOver;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many of them there may be by default, as many as may wait to be accepted. At a thousand new ones a second each
/// has four seconds to send something, and a client of Go that makes no call sends its first PING after half a second.
pub(crate) const SILENT_MAX: usize = 4096;

/// The part of them that gives way at once when the system has no descriptor left: accepting then pauses for
/// milliseconds, in which a few come.
const PART: usize = 8;

/// The newcomers of one server, the oldest first.
#[derive(Debug)]
pub(crate) struct Newcomers {
    max: usize,
    /// For those that begin with something else than a header.
    foreign: ForeignHandlers,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    by_number: BTreeMap<u64, Silent>,
    next: u64,
}

/// A connection that is waited for.
#[derive(Clone, Debug)]
enum Silent {
    /// For its first header.
    Driven(Connection),
    /// For its part of the handshake, or for the header of its proxy.
    Greeted(Arc<tokio::sync::Notify>),
}

impl Silent {
    /// Wakes the waiting task to look once more, and to close the connection if it is still silent.
    fn hurry(self) {
        match self {
            Self::Driven(connection) => connection.hurry(),
            Self::Greeted(hurried) => hurried.notify_one(),
        }
    }
}

impl Newcomers {
    pub(crate) fn new(max: usize, foreign: ForeignHandlers) -> Arc<Self> {
        Arc::new(Self { max, foreign, inner: Mutex::default() })
    }

    /// Enters a connection that waits for its first header, and is carried by these layers.
    pub(crate) fn enter(list: &Arc<Self>, connection: Connection, layers: Layers) -> Newcomer {
        let mut newcomer = Self::enter_as(list, Silent::Driven(connection));
        newcomer.layers = layers;
        newcomer
    }

    /// Gives `work`, which waits for a client in its handshake or for its proxy, the time that the client has; `None`
    /// when that is over.
    pub(crate) async fn wait<F: Future + Unpin>(list: &Arc<Self>, mut work: F) -> Option<F::Output> {
        use std::future::poll_fn;
        use std::pin::{Pin, pin};
        use std::task::Poll;

        let hurried = Arc::new(tokio::sync::Notify::new());
        let _newcomer = Self::enter_as(list, Silent::Greeted(hurried.clone()));
        let mut hurried = pin!(hurried.notified());
        let first = poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => hurried.as_mut().poll(context).map(|()| None),
        });
        if let Some(done) = first.await {
            return Some(done);
        }
        // While the thread was busy, bytes that the client has sent in time may not have been read.
        tokio::task::yield_now().await;
        poll_fn(|context| match Pin::new(&mut work).poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending => Poll::Ready(None),
        })
        .await
    }

    fn enter_as(list: &Arc<Self>, silent: Silent) -> Newcomer {
        let mut inner = list.inner.lock();
        let number = inner.next;
        inner.next += 1;
        inner.by_number.insert(number, silent);
        let oldest = if inner.by_number.len() > list.max { inner.by_number.pop_first() } else { None };
        drop(inner);
        if let Some((_, oldest)) = oldest {
            oldest.hurry();
        }
        Newcomer { list: list.clone(), number, layers: Layers::default() }
    }

    /// Removes the oldest, a part of all, since the system has no descriptors left; `false` if there are none.
    pub(crate) fn make_room(&self) -> bool {
        let mut inner = self.inner.lock();
        let count = inner.by_number.len().div_ceil(PART);
        let oldest: Vec<_> = (0..count).filter_map(|_| inner.by_number.pop_first()).collect();
        drop(inner);
        oldest.into_iter().for_each(|(_, silent)| silent.hurry());
        count > 0
    }

    /// A mark behind the newcomers so far.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.inner.lock().next)
    }

    /// Removes all that came before the mark was made.
    pub(crate) fn hurry_before(&self, mark: Mark) {
        let mut inner = self.inner.lock();
        let later = inner.by_number.split_off(&mark.0);
        let earlier = std::mem::replace(&mut inner.by_number, later);
        drop(inner);
        earlier.into_values().for_each(Silent::hurry);
    }
}

/// A moment in the order of newcomers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(u64);

/// Removes a connection from the list when it has sent something, or has ended.
#[derive(Debug)]
pub(crate) struct Newcomer {
    list: Arc<Newcomers>,
    number: u64,
    layers: Layers,
}

impl Newcomer {
    /// The foreign handler that takes over a connection which begins with these bytes, if one does.
    pub(crate) fn foreign(&self, beginning: &[u8], connection: &Connection) -> Option<TakeOver> {
        self.list.foreign.find(beginning, connection, self.layers)
    }
}

impl Drop for Newcomer {
    fn drop(&mut self) {
        let silent = self.list.inner.lock().by_number.remove(&self.number);
        drop(silent); // Which may be the last handle, without the lock.
    }
}
