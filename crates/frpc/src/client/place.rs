//! The place of a channel's connection: where calls find it, and from where it goes when it takes no new ones.

use crate::calls::table::{CallTable, LetGo};
use crate::client::link::Link;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// The connection that a channel places calls on.
pub(crate) type Place = Mutex<Placed>;

#[derive(Default)]
pub(crate) struct Placed {
    pub(crate) link: Option<Arc<Link>>,
    /// The channel's owner has closed it: there is no further connection.
    pub(crate) is_closed: bool,
}

impl LetGo for Place {
    fn let_go(&self, calls: &CallTable) {
        let link = self.lock().link.take_if(|link| std::ptr::eq(&*link.calls, calls));
        drop(link); // Which may close it, without the lock.
    }
}

/// The connection that calls are placed on.
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
    let place: Weak<Place> = Arc::downgrade(place);
    calls.placed_in(place);
}

pub(crate) fn is_closed(place: &Place) -> bool {
    place.lock().is_closed
}
