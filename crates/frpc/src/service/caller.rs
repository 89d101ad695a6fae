//! The caller of incoming calls, that is, the peer of a connection.

use crate::api::request::Origin;
use crate::observe::batch_calls::BatchCalls;
use crate::schema::method::Method;
use crate::service::failures::abandoned;
use crate::service::in_flight::{InFlight, InFlightGuard};
use crate::service::load::{Load, LoadGuard};
use crate::wire::body;
use frisbee::{Connection, Operation, Outbox, PacketId};
use polyglot::Form;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The peer of a connection in its role as a caller.
pub(crate) struct Caller {
    pub(crate) connection: Connection,
    /// Encoding of replies: the flat form of the Go implementation or the extended one, which preserves absent fields.
    pub(crate) style: Form,
    /// Number of calls in progress at this end, for reports to clients.
    load: Arc<Load>,
    /// Whether the peer requests load reports.
    wants_load: bool,
    /// Observers of the peer's calls. Boxed because most servers have none.
    observers: Option<Box<CallObservers>>,
}

struct CallObservers {
    /// Calls answered in the current poll of the driver. Set if calls are observed.
    batch_calls: Option<BatchCalls>,
    /// Registry of the calls in progress. Set if the server is inspectable.
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

    /// Returns the calls answered in the current poll of the driver, if calls are observed.
    pub(crate) fn batch_calls(&self) -> Option<&BatchCalls> {
        self.observers.as_ref()?.batch_calls.as_ref()
    }

    /// Registers a call as in progress until the guard is dropped, if the server is inspectable.
    pub(crate) fn enter(&self, id: PacketId, name: Method, deadline: Option<Instant>) -> Option<InFlightGuard> {
        let in_flight = self.observers.as_ref()?.in_flight.as_ref()?;
        Some(InFlight::enter(in_flight, id, name, deadline))
    }

    /// Returns the origin to set for requests of the peer.
    pub(crate) fn origin(&self) -> Origin {
        Origin { transport: Some(self.connection.clone()), ..Origin::default() }
    }

    /// Records the kind of the peer.
    pub(crate) fn handle_peer_known(&mut self, extended: bool) {
        self.style = if extended { Form::Extended } else { Form::Flat };
    }

    /// Records that the peer requests load reports.
    pub(crate) fn request_load(&mut self) {
        self.wants_load = true;
        self.load.is_enabled.store(true, Ordering::Relaxed);
    }

    /// Counts a pending call as in progress, for load reports. Returns `None` if no peer requests them.
    pub(crate) fn work(&self) -> Option<LoadGuard> {
        Load::enter(&self.load, self.wants_load)
    }

    /// Returns whether the peer is native.
    pub(crate) fn is_native(&self) -> bool {
        self.style == Form::Extended
    }

    /// Cancels a call. A reply is sent even to a cancelled call, because every call gets exactly one reply.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, is_held: bool, outbox: &mut Outbox) {
        if is_held || self.connection.cancel_call(id, operation) {
            body::put_error(outbox, id, operation, &abandoned(), self.style);
        }
    }
}
