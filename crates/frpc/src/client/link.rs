//! A connection of a channel, and the calls on it.

use crate::Status;
use crate::calls::CallTicket;
use crate::calls::NotSent;
use crate::calls::attachments::ConnectionEnd;
use crate::calls::failures::closed_status;
use crate::calls::offers::Rules;
use crate::calls::table::CallTable;
#[cfg(feature = "grpc")]
use crate::client::grpc::GrpcLinks;
use crate::endpoint::offer::ServiceOffer;
use crate::observe::observers::Observers;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use crate::service::layouts::PeerLayouts;
use crate::wire::body::{self, DecodeOptions};
use crate::wire::compressed::{self, CompressedMethods};
use crate::wire::layouts::put_layout;
use crate::wire::translation::Translation;
use frisbee::rpc::ConnectionExt;
use frisbee::{Connection, Operation, Outbox, PeerKind, SendError};
use polyglot::Nesting;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

/// Maximum number of cancelled calls without a reply, half of the slots of a call table. When it is reached, the
/// connection is replaced.
const ABANDONED_MAX: usize = crate::calls::CALLS_MAX / 2;

/// A connection and its call table, shared by the channel and all calls on the connection. If the channel dialled the
/// connection, the connection closes when the last reference is dropped. All connections to the same gRPC server share
/// one link.
pub struct Link {
    /// The native connection. `None` if the link is that of a gRPC server.
    pub(crate) connection: Option<Connection>,
    #[cfg(feature = "grpc")]
    pub(crate) grpc: Option<GrpcLinks>,
    pub(crate) calls: Arc<CallTable>,
    /// Whether the local peer accepted the connection, so that its calls are reverse calls, from the accepting side to
    /// the dialling side.
    pub(crate) backward: bool,
    /// Maximum nesting depth accepted in the peer's messages.
    pub(crate) nesting: Nesting,
    /// Selects the messages to compress, if the local peer supports compression.
    pub(crate) compression: Option<Arc<CompressedMethods>>,
    decompresses: bool,
    /// Observers that are notified of individual calls.
    pub(crate) observer: Option<Arc<Observers>>,
    end: LinkEnd,
}

/// Action when the last reference to a link is dropped.
#[derive(Clone, Copy)]
enum LinkEnd {
    Close,
    /// Closes the connection. If the server is shutting down, first waits for the calls that the local peer is serving.
    CloseWhenServed,
    /// The connection stays open, because the channel does not own it.
    Leave,
}

impl Link {
    /// Creates a link to an existing connection, which stays open when the link is dropped.
    pub(crate) fn of(connection: &Connection, end: &ConnectionEnd) -> Self {
        let calls = if connection.is_dialled() {
            end.calls.clone().unwrap_or_else(CallTable::of_nobody)
        } else {
            let calls = connection.attachments().get_or_insert::<CallTable>();
            // If the kind of the peer is still unknown, the driver will notify the call table later.
            let peer = connection.peer();
            if peer != PeerKind::Unknown {
                calls.handle_client_known(&peer);
            }
            if let Some(observers) = &end.observers {
                calls.calls.lock().observe_by(observers);
            }
            calls
        };
        if let Some(reason) = connection.close_reason() {
            calls.end(closed_status(&reason)); // If the table is new, the driver has not done this.
        }
        Self::new(connection.clone(), calls, end, LinkEnd::Leave)
    }

    /// Creates a link to a dialled connection. `offer` contains the services that the client offers to the server, and
    /// the observers.
    pub(crate) fn dialled(connection: Connection, calls: Arc<CallTable>, offer: &ServiceOffer) -> Self {
        let end = if offer.table.is_empty() { LinkEnd::Close } else { LinkEnd::CloseWhenServed };
        Self::new(connection, calls, &offer.end(None), end)
    }

    fn new(connection: Connection, calls: Arc<CallTable>, settings: &ConnectionEnd, end: LinkEnd) -> Self {
        let ConnectionEnd { nesting, observers, compression, .. } = settings;
        let backward = !connection.is_dialled();
        Self {
            connection: Some(connection),
            #[cfg(feature = "grpc")]
            grpc: None,
            calls,
            backward,
            nesting: *nesting,
            compression: compression.clone().filter(|_| !backward),
            decompresses: compression.is_some(),
            observer: observers.clone().filter(|observers| observers.has_observer()),
            end,
        }
    }

    /// Creates the link to a gRPC server, which covers all connections to it.
    #[cfg(feature = "grpc")]
    pub(crate) fn to_grpc(links: GrpcLinks) -> Self {
        Self {
            connection: None,
            calls: links.calls().clone(),
            grpc: Some(links),
            backward: false,
            nesting: Nesting::default(),
            compression: None,
            decompresses: false,
            observer: None,
            end: LinkEnd::Leave,
        }
    }

    /// Returns the native connection.
    ///
    /// # Errors
    /// If this is the link of a gRPC server.
    pub(crate) fn native(&self) -> Result<&Connection, Status> {
        let missing = || Status::unimplemented("gRPC servers do not support hand-off").not_run();
        self.connection.as_ref().ok_or_else(missing)
    }

    /// Cancels a call, sending a CANCEL packet if the server is native. If cancelled calls occupy too many packet ids,
    /// further calls use a new connection.
    pub(crate) fn abandon(&self, ticket: CallTicket) {
        let table = &self.calls;
        let Some(connection) = &self.connection else { return };
        let cancelled = connection.send_now(|outbox| {
            table.calls.lock().abandon(ticket, |id, operation| {
                let mut packet = outbox.packet(id, Operation::CANCEL);
                packet.put_slice(&body::cancel(operation));
                let sent = packet.finish();
                debug_assert!(sent.is_ok(), "short packet should be within every limit");
            });
        });
        // `send_now` has released the mailbox. Only now lock the table by `with`, which wakes the next queued caller,
        // because that caller may lock the mailbox.
        let cancelled = table.with(|calls| {
            if cancelled.is_err() {
                calls.abandon(ticket, |_, _| {}); // The connection has closed, so no CANCEL can be sent.
            }
            calls.abandoned()
        });
        // An accepted connection cannot be replaced.
        if cancelled >= ABANDONED_MAX && !self.backward {
            table.retire();
        }
    }

    /// Returns whether unsent calls must use another connection, because this one accepts no new calls. Always `false`
    /// if the channel does not own the connection, because such a connection cannot be replaced.
    pub(crate) fn is_left(&self) -> bool {
        self.calls.is_retired() && !matches!(self.end, LinkEnd::Leave)
    }

    /// Awaits `work`. Returns `None` if the link [must be replaced](Self::is_left) before `work` completes.
    pub(crate) async fn unless_abandoned<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let (mut work, mut retired) = (pin!(work), pin!(self.calls.retired()));
        poll_fn(|context| match work.as_mut().poll(context) {
            Poll::Ready(done) => Poll::Ready(Some(done)),
            Poll::Pending if matches!(self.end, LinkEnd::Leave) => Poll::Pending,
            Poll::Pending => retired.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    /// Returns whether requests of a method are compressed. This requires that the method is configured for compression
    /// and that the peer supports it.
    pub(crate) fn compresses(&self, method: &Method, peer: &PeerKind) -> bool {
        let Some(compression) = &self.compression else { return false };
        compression.has(method) && peer.hello().is_some_and(compressed::decompresses)
    }

    /// Returns the options for decoding messages of the peer.
    pub(crate) fn reading(&self) -> DecodeOptions {
        DecodeOptions::new(self.nesting, self.decompresses)
    }

    /// Prepares a streaming call or a hand-off. Returns the operation number that the peer uses for the method, and the
    /// translation of the method's messages. Waits until both are known.
    ///
    /// # Errors
    /// If the peer cannot be called, or does not describe its layout in time.
    pub(crate) async fn prepare(
        &self,
        method: &'static Method,
    ) -> Result<(Operation, Option<Arc<Translation>>), Status> {
        let connection = self.native()?;
        loop {
            let prepared = connection.send_now(|outbox| {
                let rules = self.calls.calls.lock().offers.check(method.layout, !self.backward, outbox)?;
                self.translation(method, rules, outbox)
            });
            match prepared {
                Ok(Ok(prepared)) => return Ok(prepared),
                Ok(Err(NotSent::Failed(status))) => return Err(status),
                Ok(Err(_)) => self.clear(method).await?,
                // The connection has closed, so the call will fail or be sent on another connection.
                Err(_) => return Ok((method.operation, None)),
            }
        }
    }

    /// Sends the description of a service's layout to a server that needs it. Sends it in advance, because nothing can
    /// be sent after a hand-off request.
    pub(crate) fn describe(&self, layout: &'static Layout) {
        let Some(connection) = &self.connection else { return };
        let _ = connection.send_now(|outbox| {
            if !self.backward && self.calls.calls.lock().offers.differs(layout) {
                put_layout(outbox, layout.fingerprint, Some(layout));
            }
        });
    }

    /// Returns the operation number that the peer uses for a method, and the translation of its messages.
    ///
    /// If the layout is unknown, the accepting side requests it from the peer.
    ///
    /// # Errors
    /// If the description of the peer's layout has not arrived yet, or is incompatible.
    #[cold]
    pub(crate) fn translation(
        &self,
        method: &'static Method,
        rules: Rules,
        outbox: &mut Outbox,
    ) -> Result<(Operation, Option<Arc<Translation>>), NotSent> {
        let connection = self.native().map_err(NotSent::Failed)?;
        let layouts = || connection.attachments().get_or_insert::<PeerLayouts>();
        let layouts = match rules {
            Rules::Own => return Ok((method.operation, None)),
            Rules::Translated(theirs) => {
                let layouts = layouts();
                layouts.add_offered(method.layout, theirs, outbox);
                layouts
            }
            Rules::Compat(theirs) => {
                let layouts = layouts();
                layouts.add_compat(method.layout, theirs);
                layouts
            }
        };
        match layouts.called(method.layout, method.operation.number()) {
            None => Err(NotSent::Unclear),
            Some(Ok((operation, translation))) => {
                let operation = Operation::user(operation).ok_or_else(|| {
                    NotSent::Failed(Status::failed_precondition(format!("operation {operation} is reserved")))
                })?;
                translation.iter().for_each(|translation| translation.count_call());
                Ok((operation, translation))
            }
            Some(Err(status)) => Err(NotSent::Failed(status.not_run())),
        }
    }

    /// Returns the translation for replies from a client or a compat server, if their layout differs.
    #[cold]
    pub(crate) fn reply_translation(&self, method: &'static Method) -> Option<Arc<Translation>> {
        let layouts = PeerLayouts::of(self.connection.as_ref()?)?;
        layouts.called(method.layout, method.operation.number())?.ok()?.1
    }

    /// Waits until the kind of the peer is known and, if the local peer accepted the connection, also the peer's
    /// layout.
    ///
    /// # Errors
    /// If the connection ends.
    pub(crate) async fn clear(&self, method: &'static Method) -> Result<(), SendError> {
        let Some(connection) = &self.connection else { return Ok(()) };
        connection.peer_known().await?;
        if self.backward
            && let Some(layouts) = PeerLayouts::of(connection)
        {
            let is_known = || layouts.called(method.layout, method.operation.number()).is_some();
            let is_clear = || connection.is_closed() || is_known();
            layouts.changed(is_clear, connection).await;
        }
        Ok(())
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        let Some(connection) = &self.connection else { return };
        match self.end {
            LinkEnd::CloseWhenServed if connection.is_going_away() => connection.close_when_idle(),
            LinkEnd::Close | LinkEnd::CloseWhenServed => connection.close(),
            LinkEnd::Leave => {}
        }
    }
}
