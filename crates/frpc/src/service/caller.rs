//! The caller of incoming calls: the peer of a connection.

use crate::api::request::Origin;
use crate::observe::batch_calls::BatchCalls;
use crate::schema::method::Method;
use crate::service::failures::abandoned;
use crate::service::in_flight::{InFlight, InFlightGuard};
use crate::service::load::{Load, LoadGuard};
use crate::wire::body;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, Operation, Outbox, PacketId};
use polyglot::Form;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// State of a connection's peer in its role as a caller.
pub(crate) struct Caller {
    pub(crate) connection: Connection,
    /// Encoding of replies: the flat format of the Go implementation, or the extended one, which preserves absent
    /// fields.
    pub(crate) style: Form,
    /// Load of the local peer, which is reported to clients.
    load: Arc<Load>,
    /// Whether the peer has requested load reports.
    wants_load: bool,
    /// Observers of the calls that the peer makes. Boxed because most servers have none.
    observers: Option<Box<CallObservers>>,
}

struct CallObservers {
    /// Counts of calls answered in the current driver poll. Set if calls are observed.
    batch_calls: Option<BatchCalls>,
    /// Registry of calls in progress. Set if the server is inspectable.
    in_flight: Option<Arc<InFlight>>,
}

impl Caller {
    pub(crate) fn new(
        connection: &Connection,
        load: &Arc<Load>,
        batch_calls: Option<BatchCalls>,
        is_inspectable: bool,
    ) -> Self {
        let in_flight = is_inspectable.then(|| connection.attachments().get_or_insert::<InFlight>());
        let is_observed = batch_calls.is_some() || in_flight.is_some();
        let observers = is_observed.then(|| Box::new(CallObservers { batch_calls, in_flight }));
        Self { connection: connection.clone(), style: Form::Flat, load: load.clone(), wants_load: false, observers }
    }

    /// Returns the counts of calls answered in the current driver poll, if calls are observed.
    pub(crate) fn batch_calls(&self) -> Option<&BatchCalls> {
        self.observers.as_ref()?.batch_calls.as_ref()
    }

    /// Registers a call as in progress until the guard is dropped. Returns `None` if the server is not inspectable.
    #[inline(always)] // Usually there are no observers.
    pub(crate) fn enter(&self, id: PacketId, name: Method, deadline: Option<Instant>) -> Option<InFlightGuard> {
        let in_flight = self.observers.as_ref()?.in_flight.as_ref()?;
        Some(InFlight::enter(in_flight, id, name, deadline))
    }

    /// Returns the origin that is attached to the peer's requests.
    pub(crate) fn origin(&self) -> Origin {
        Origin { transport: Some(self.connection.clone()), ..Origin::default() }
    }

    /// Records whether the peer is native, once this is known.
    pub(crate) fn handle_peer_known(&mut self, extended: bool) {
        self.style = if extended { Form::Extended } else { Form::Flat };
    }

    /// Records that the peer has requested load reports in replies.
    pub(crate) fn request_load(&mut self) {
        self.wants_load = true;
        self.load.is_enabled.store(true, Ordering::Relaxed);
    }

    /// Counts a pending call in the load of the server until the guard is dropped. Returns `None` if no peer requests
    /// load reports.
    pub(crate) fn work(&self) -> Option<LoadGuard> {
        Load::enter(&self.load, self.wants_load)
    }

    /// Returns whether the caller is a native frpc peer.
    pub(crate) fn is_native(&self) -> bool {
        self.style == Form::Extended
    }

    /// Cancels a call of the peer. Sends an error as its reply, because every call gets exactly one reply. `is_held`
    /// states that the call was waiting for its layout and has no handler yet.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, is_held: bool, outbox: &mut Outbox) {
        if is_held || self.connection.cancel_call(id, operation) {
            body::put_error(outbox, id, operation, &abandoned(), self.style);
        }
    }
}
