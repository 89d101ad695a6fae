//! The place of a channel's current connection.

use crate::calls::table::{CallTable, LetGo};
use crate::client::link::Link;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// The current connection of a channel, shared with the tables of calls.
pub(crate) type Place = Mutex<Placed>;

#[derive(Default)]
pub(crate) struct Placed {
    pub(crate) link: Option<Arc<Link>>,
    /// The channel was closed: there is no further connection.
    pub(crate) is_closed: bool,
}

impl LetGo for Place {
    fn let_go(&self, calls: &CallTable) {
        let link = self.lock().link.take_if(|link| std::ptr::eq(&*link.calls, calls));
        drop(link); // Which may close it, without the lock.
    }
}

/// The current connection.
#[inline]
pub(crate) fn placed(place: &Place) -> Option<Arc<Link>> {
    let mut current = place.lock();
    match &current.link {
        Some(link) if !link.calls.is_retired() => Some(link.clone()),
        Some(_) => {
            let retired = current.link.take();
            drop(current);
            drop(retired); // Which may close it, without the lock.
            None
        }
        None => None,
    }
}

/// Places further calls on a new connection. It closes at once if the channel was closed.
pub(crate) fn put(place: &Arc<Place>, link: Link) {
    let calls = link.calls.clone();
    let mut placed = place.lock();
    if placed.is_closed {
        drop(placed);
        return;
    }
    placed.link = Some(Arc::new(link));
    drop(placed);
    let place: Weak<Place> = Arc::downgrade(place);
    calls.placed_in(place);
}

pub(crate) fn is_closed(place: &Place) -> bool {
    place.lock().is_closed
}
