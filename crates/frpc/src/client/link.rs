//! A connection of a channel and its calls.

use crate::calls::CallTicket;
use crate::calls::attachments::ConnectionEnd;
use crate::calls::failures::closed_status;
use crate::calls::table::CallTable;
use crate::endpoint::offer::ServiceOffer;
use crate::observe::observers::Observers;
use crate::schema::method::Method;
use crate::wire::body::{self, DecodeOptions};
use crate::wire::packed::{self, Packing};
use frisbee::{Connection, Operation, PeerKind};
use polyglot::Nesting;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// Maximum number of cancelled calls without a reply before the connection is replaced: half of all ids.
const ABANDONED_MAX: usize = crate::calls::CALLS_MAX / 2;

/// A connection and its calls. A connection dialled by a channel closes when neither the channel nor a call uses it.
pub struct Link {
    pub(crate) connection: Connection,
    pub(crate) calls: Arc<CallTable>,
    /// Whether this end accepted the connection. Its calls are then marked.
    pub(crate) backward: bool,
    /// Maximum nesting depth of the peer's messages.
    pub(crate) nesting: Nesting,
    /// Which messages this end compresses, if it supports compression.
    pub(crate) packing: Option<Arc<Packing>>,
    decompresses: bool,
    /// The observer of each call.
    pub(crate) observer: Option<Arc<Observers>>,
    end: LinkEnd,
}

/// How a dropped link ends its connection.
#[derive(Clone, Copy)]
enum LinkEnd {
    Close,
    /// Close it. If the server is shutting down, wait for the calls that this end serves.
    CloseWhenServed,
    /// Leave it open, because the channel does not own it.
    Leave,
}

impl Link {
    /// Creates a link to an existing connection, which outlives the link.
    pub(crate) fn of(connection: &Connection, end: &ConnectionEnd) -> Self {
        let observers = end.observers.as_ref();
        let backward = !connection.is_dialled();
        let calls = if backward {
            let calls = connection.attachments().get_or_insert::<CallTable>();
            // If the kind of the peer is unknown, the driver notifies the table later.
            let peer = connection.peer();
            if peer != PeerKind::Unknown {
                calls.handle_client_known(&peer);
            }
            if let Some(observers) = observers {
                calls.observe_by(observers);
            }
            calls
        } else {
            end.calls.clone().unwrap_or_else(CallTable::of_nobody)
        };
        if let Some(reason) = connection.close_reason() {
            calls.end(closed_status(&reason)); // The driver does not do it if the table was created only now.
        }
        let observer = observers.filter(|observers| observers.has_observer()).cloned();
        let (nesting, decompresses) = (end.nesting, end.packing.is_some());
        let packing = end.packing.clone().filter(|_| !backward);
        let (connection, end) = (connection.clone(), LinkEnd::Leave);
        Self { connection, calls, backward, nesting, packing, decompresses, observer, end }
    }

    /// Creates the link of a dialled connection. `offer` determines the services that this end serves to its server,
    /// and the observers.
    pub(crate) fn dialled(connection: Connection, calls: Arc<CallTable>, offer: &ServiceOffer) -> Self {
        let (serves, observers) = (!offer.table.is_empty(), offer.observers.as_ref());
        let (nesting, packing) = (offer.terms.nesting, offer.packing.clone());
        let end = if serves { LinkEnd::CloseWhenServed } else { LinkEnd::Close };
        let observer = observers.filter(|observers| observers.has_observer()).cloned();
        let decompresses = packing.is_some();
        Self { connection, calls, backward: false, nesting, packing, decompresses, observer, end }
    }

    /// Cancels a call, and sends a CANCEL to a native server. If cancelled calls occupy too many ids, further calls use
    /// a new connection.
    pub(crate) fn abandon(&self, ticket: CallTicket) {
        let table = &self.calls;
        let cancelled = self.connection.send_now(|outbox| {
            table.calls.lock().abandon(ticket, |id, operation| {
                let mut packet = outbox.packet(id, Operation::CANCEL);
                packet.put_slice(&body::cancel(operation));
                let sent = packet.finish();
                debug_assert!(sent.is_ok(), "short packets are within every limit");
            });
        });
        let cancelled = table.with(|calls| {
            if cancelled.is_err() {
                calls.abandon(ticket, |_, _| {}); // The connection has ended, so no CANCEL is sent.
            }
            calls.abandoned()
        });
        // The accepting end cannot replace its connection.
        if cancelled >= ABANDONED_MAX && !self.backward {
            table.retire();
        }
    }

    /// Returns whether unsent calls move to another connection because this one accepts no new calls. A connection that
    /// the channel does not own has no replacement.
    pub(crate) fn is_left(&self) -> bool {
        self.calls.is_retired() && !matches!(self.end, LinkEnd::Leave)
    }

    /// Waits for `work`. Returns `None` if this link [is left](Self::is_left) first.
    pub(crate) async fn unless_abandoned<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut retired) = (pin!(work), pin!(self.calls.retired()));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if matches!(self.end, LinkEnd::Leave) => Poll::Pending,
            Poll::Pending => retired.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    /// Returns whether messages to a method are compressed for a peer.
    pub(crate) fn packs(&self, method: &Method, peer: &PeerKind) -> bool {
        let Some(packing) = &self.packing else { return false };
        packing.has(method) && peer.hello().is_some_and(packed::unpacks)
    }

    /// Returns the options for decoding messages of the peer that may lack `missing` fields at the end.
    pub(crate) fn reading(&self, missing: u32) -> DecodeOptions {
        DecodeOptions { missing, nesting: self.nesting, decompresses: self.decompresses }
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
