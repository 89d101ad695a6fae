//! The slot of a channel's current connection.

use crate::calls::table::{CallTable, ReleaseLink};
use crate::client::link::Link;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// Current connection of a channel. Shared with the call tables, which release a connection that accepts no new calls.
pub(crate) type CurrentLink = Mutex<Current>;

#[derive(Default)]
pub(crate) struct Current {
    pub(crate) link: Option<Arc<Link>>,
    /// Whether the channel was closed and must not get another connection.
    pub(crate) is_closed: bool,
}

impl ReleaseLink for CurrentLink {
    fn release_link(&self, calls: &CallTable) {
        let link = self.lock().link.take_if(|link| std::ptr::eq(&*link.calls, calls));
        drop(link); // Outside of the lock, because this may close the connection.
    }
}

/// Returns the current connection, if there is one.
pub(crate) fn current_link(shared_link: &CurrentLink) -> Option<Arc<Link>> {
    let mut current = shared_link.lock();
    match &current.link {
        Some(link) if !link.calls.is_retired() => Some(link.clone()),
        Some(_) => {
            let retired = current.link.take();
            drop(current);
            drop(retired); // Outside of the lock, because this may close the connection.
            None
        }
        None => None,
    }
}

/// Replaces the current connection. If the channel has been closed, closes the new connection immediately.
pub(crate) fn replace_link(shared_link: &Arc<CurrentLink>, link: Link) {
    let calls = link.calls.clone();
    let mut current = shared_link.lock();
    if current.is_closed {
        // Release the lock before the new link is dropped on return, because this closes the connection.
        drop(current);
        return;
    }
    current.link = Some(Arc::new(link));
    drop(current);
    // Release the lock first: if the connection was retired in the meantime, `set_owner` releases its link, which takes
    // the same lock.
    let shared_link: Weak<CurrentLink> = Arc::downgrade(shared_link);
    calls.set_owner(shared_link);
}

pub(crate) fn is_closed(shared_link: &CurrentLink) -> bool {
    shared_link.lock().is_closed
}
