//! A connection of a channel, with the calls on it.

use crate::calls::attached;
use crate::calls::failures::lost;
use crate::calls::table::CallTable;
use crate::wire::body::Reading;
use frisbee::{Connection, PeerKind};
use polyglot::Nesting;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

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
                calls.handle_client_known(&peer);
            }
            calls
        } else {
            attached::calls(connection).unwrap_or_else(CallTable::of_nobody)
        };
        if let Some(reason) = connection.close_reason() {
            calls.end(lost(&reason)); // Nobody else does, if the calls came into being only now.
        }
        let nesting = attached::nesting(connection);
        Self { connection: connection.clone(), calls, backward, nesting, end: LinkEnd::Leave }
    }

    /// A connection that was dialled. If it `serves` its server as well, it is closed when that is over too.
    pub(crate) fn dialled(connection: Connection, calls: Arc<CallTable>, nesting: Nesting, serves: bool) -> Self {
        let end = if serves { LinkEnd::CloseWhenServed } else { LinkEnd::Close };
        Self { connection, calls, backward: false, nesting, end }
    }

    /// Whether the other end has shown what it is.
    pub(crate) fn has_shown(&self) -> bool {
        self.calls.has_shown()
    }

    /// Whether calls that were not sent go to another connection, since this one takes no new ones. Those of somebody
    /// else's connection have no other.
    pub(crate) fn is_left(&self) -> bool {
        self.calls.is_retired() && !matches!(self.end, LinkEnd::Leave)
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
