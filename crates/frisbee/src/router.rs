//! The trait for implementing protocols on frisbee.
//!
//! # Decisions
//!
//! A simple router implements only two methods, and its author does not need to know the others. Dispatch is static.

pub(crate) mod handlers;
pub(crate) mod mounts;
pub mod opening;

use crate::{
    CloseReason, Connection, HandOffRequest, HandOffTarget, Hello, MountError, Operation, Outbox, Packet, PacketId,
    PeerKind, Stream,
};
use bytes::Bytes;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Instant;

/// Handler of the packets of connections.
///
/// A router serves any number of connections. Its [`Session`](Self::Session) is the state of one connection, and is
/// dropped when the connection has ended. All methods with a session are called in the task of the connection, one at a
/// time for each connection. They must not block: use [`Connection::spawn`] for longer work. If a router panics, its
/// state is lost. The connection is then closed, and an error is logged.
///
/// [`connected`](Self::connected) and [`route`](Self::route) are required. The other methods are for protocols that use
/// more than packets:
///
/// | purpose | methods |
/// |---|---|
/// | streams, batches, the end | [`stream`](Self::stream), [`batch_ended`](Self::batch_ended), [`disconnected`](Self::disconnected) |
/// | the peer and its end | [`event`](Self::event) |
/// | backpressure and overload | [`overflow`](Self::overflow), [`discarded`](Self::discarded), [`cancelled`](Self::cancelled), [`blocked`](Self::blocked) |
/// | hand-off | [`hand_off`](Self::hand_off) |
/// | operations, calls, items of HELLO | [`declaration`](Self::declaration) |
///
/// ```
/// use frisbee::{Connection, ConnectionEvent, Outbox, Packet, Routed, Router};
///
/// /// Sends packets back to peers that support the protocol extension.
/// struct Echo;
///
/// impl Router for Echo {
///     type Session = bool;
///
///     fn connected(&self, _connection: &Connection) -> bool {
///         false
///     }
///
///     fn route(&self, is_native: &mut bool, packet: Packet, outbox: &mut Outbox) -> Routed {
///         if !*is_native {
///             return Routed::close("this server needs a peer that sends HELLO");
///         }
///         outbox.forward(&packet).into()
///     }
///
///     fn event(&self, is_native: &mut bool, event: &mut ConnectionEvent<'_>) {
///         if let ConnectionEvent::PeerKnown(peer) = event {
///             *is_native = peer.hello().is_some();
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` handles no packets",
    label = "this is not a `Router`",
    note = "implement `frisbee::Router`"
)]
pub trait Router: Send + Sync + 'static {
    /// State that the router keeps for each connection.
    type Session: Send + 'static;

    /// Creates the session of a new connection.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet. Packets are passed in the order that they were sent in. Packets that are appended to `outbox`
    /// are sent in the write that follows the batch.
    fn route(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed;

    /// Handles a stream that the peer has opened. `first` is its first message. By default, drops the stream, which
    /// closes it.
    fn stream(&self, session: &mut Self::Session, first: Bytes, stream: Stream) -> Routed {
        let _ = (session, first, stream);
        Routed::Continue
    }

    /// Called at the end of each turn of the connection, that is, of each poll of its driver. A turn takes place when
    /// packets have been read, when handles have sent packets or [woken](crate::rpc::ConnectionExt::wake) the
    /// connection, or at the time that the last call returned. The first turn precedes any input from the peer. In the
    /// last turn, the connection may already be closing.
    ///
    /// Use it for work that should be done once per batch, or to inspect or extend each write. Packets appended to the
    /// outbox are sent in the write that follows, except that a server sends nothing before the client's first packet,
    /// which determines the header format. Returns the latest time for the next call. A time in the past is treated as
    /// the next millisecond.
    fn batch_ended(&self, session: &mut Self::Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let _ = (session, batch);
        None
    }

    /// Called when the connection has ended, exactly once for each call of [`connected`](Self::connected).
    fn disconnected(&self, session: Self::Session, reason: &CloseReason) {
        let _ = (session, reason);
    }

    /// Handles a change of the connection or its peer. Ignores all events by default.
    fn event(&self, session: &mut Self::Session, event: &mut ConnectionEvent<'_>) {
        let _ = (session, event);
    }

    /// Returns how to treat a packet, including one that opens a [stream](Self::stream), while the pending output has
    /// reached [`Config::backlog_max`](crate::Config::backlog_max), because the peer reads too slowly. Only called at
    /// the accepting end. The dialling end routes all packets.
    fn overflow(&self, session: &Self::Session, packet: &Packet) -> OverflowPolicy {
        let _ = (session, packet);
        OverflowPolicy::Stop
    }

    /// Called when the body of a packet was discarded on arrival for lack of memory. At most the first 64 bytes of the
    /// body are kept. Inform the peer by appending a packet to `outbox`. By default, the connection is closed, so that
    /// no caller waits forever for a reply.
    ///
    /// Bodies are only discarded by servers. Streams need not be handled here, because they are reset.
    fn discarded(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let _ = (session, packet, outbox);
        Routed::close("the server's memory limit for this client is reached")
    }

    /// Called when the peer no longer waits for the reply to the packet `id`. `body` is the body of the peer's CANCEL
    /// packet.
    fn cancelled(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        let _ = (session, id, body, outbox);
    }

    /// Called while a packet of this operation is blocking the thread of the connection for several milliseconds.
    /// Another thread has taken over the other connections. This method is called on the watchdog's thread, and only
    /// for connections that are driven by [workers](crate::Workers). Return `true` if the router handles this, for
    /// example by running its handlers on other threads in the future; the router then also logs the event if
    /// necessary. By default, the operation is logged once.
    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let _ = (connection, operation);
        false
    }

    /// Handles a request of the peer to hand off the connection. The router must keep `request` until it has decided.
    /// By default, the request is dropped, which tells the peer that hand-offs are not supported. The peer sends
    /// nothing else until it receives the reply. Only peers that support the [protocol extension](PeerKind) send such
    /// requests.
    fn hand_off(&self, session: &mut Self::Session, request: HandOffRequest) -> Routed {
        let _ = (session, request);
        Routed::Continue
    }

    /// Returns the operations, calls and HELLO items of this router. Read when a server is bound or a client connects.
    fn declaration(&self) -> Declaration {
        Declaration::default()
    }
}

/// A router's operations, calls and HELLO items; see [`Router::declaration`].
///
/// ```
/// use frisbee::{Connection, Declaration, Outbox, Packet, Routed, Router};
///
/// struct Shout;
///
/// impl Router for Shout {
///     type Session = ();
///
///     fn connected(&self, _connection: &Connection) {}
///
///     fn route(&self, (): &mut (), mut packet: Packet, outbox: &mut Outbox) -> Routed {
///         packet.body = packet.body.to_ascii_uppercase().into();
///         outbox.forward(&packet).into()
///     }
///
///     fn declaration(&self) -> Declaration {
///         Declaration::default().operations([1000..=1000])
///     }
/// }
///
/// assert!(Shout.declaration().check().is_ok());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
#[must_use]
pub struct Declaration {
    /// Operations that the router handles. The server uses them to distinguish the first packet of a peer with 8-byte
    /// headers from the bytes of another protocol. Defaults to all operations.
    pub operations: Vec<RangeInclusive<u16>>,
    /// Operations whose packets are requests and replies. A long packet of these operations is sent in fragments, so
    /// packets of other calls and streams may overtake it. Packets of all other user operations keep their order.
    /// Defaults to none.
    pub calls: Vec<RangeInclusive<u16>>,
    /// Items to add to the HELLO. Their types range from [`Hello::FIRST_USER_ITEM`] to 127. The items of all routers
    /// together may take [`Hello::ITEMS_MAX`] bytes. For a router mounted in frpc, types below 64 are reserved for
    /// frpc. Defaults to none.
    pub hello_items: Vec<(u8, Bytes)>,
    /// Whether the router of a client closes the connection when the server is [going away](ConnectionEvent::GoingAway)
    /// and the router's work is complete. If set, the server waits for this, because it may not know of all remaining
    /// work. By default, the server closes the connection.
    pub closes_by_itself: bool,
    /// First error that occurred while routers were mounted, if any.
    pub(crate) wrong: Option<MountError>,
}

impl Default for Declaration {
    fn default() -> Self {
        let operations = vec![Operation::FIRST_USER.number()..=u16::MAX];
        Self { operations, calls: Vec::new(), hello_items: Vec::new(), closes_by_itself: false, wrong: None }
    }
}

impl Declaration {
    /// Sets the [operations](Self::operations) that the router handles.
    pub fn operations(mut self, operations: impl IntoIterator<Item = RangeInclusive<u16>>) -> Self {
        self.operations = operations.into_iter().collect();
        self
    }

    /// Sets the operations of [requests and replies](Self::calls).
    pub fn calls(mut self, calls: impl IntoIterator<Item = RangeInclusive<u16>>) -> Self {
        self.calls = calls.into_iter().collect();
        self
    }

    /// Sets the items that the router adds to the [HELLO](Self::hello_items).
    pub fn hello_items(mut self, items: impl IntoIterator<Item = (u8, Bytes)>) -> Self {
        self.hello_items = items.into_iter().collect();
        self
    }

    /// Sets whether the router itself [closes the connection](Self::closes_by_itself).
    pub fn closes_by_itself(mut self, closes: bool) -> Self {
        self.closes_by_itself = closes;
        self
    }

    /// Checks that the items fit into a HELLO, that no item has a reserved type, and that the mounted routers do not
    /// overlap. Servers check this when they are bound, and clients when they connect.
    ///
    /// # Errors
    /// If the items or operation ranges are invalid.
    pub fn check(&self) -> Result<(), MountError> {
        self.wrong.clone().map_or(Ok(()), Err)?;
        let types = Hello::FIRST_USER_ITEM..Hello::MUST_UNDERSTAND;
        if let Some((item, _)) = self.hello_items.iter().find(|(item, _)| !types.contains(item)) {
            return Err(MountError::HelloItem { item: *item });
        }
        // Each item has a type of one byte and a length of up to three bytes.
        let length = self.hello_items.iter().map(|(_, value)| 4 + value.len()).sum();
        if length > Hello::ITEMS_MAX { Err(MountError::Hello { length }) } else { Ok(()) }
    }
}

/// Change in the state of a connection or of its peer; see [`Router::event`].
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectionEvent<'a> {
    /// It is now known whether the peer supports the protocol extension. A server learns this before it routes the
    /// client's first packet, and a client after a round trip.
    PeerKnown(&'a PeerKind),
    /// The connection is idle, so memory can be freed: no handler is running, and only PINGs and PONGs were exchanged
    /// for one to three [`Config::ping_interval`](crate::Config::ping_interval)s. There may still be open streams, and
    /// outgoing requests without a reply.
    Idle,
    /// The peer is going away: it accepts no new calls or streams. It closes the connection once nothing is in progress
    /// and this end has confirmed the announcement. Only peers that support the protocol extension announce this.
    GoingAway,
    /// The connection is about to close because it is idle. To keep it open, set `is_busy`, for example while an
    /// outgoing request waits for its reply. The connection itself already accounts for running handlers and open
    /// streams. The event is repeated in each turn until the connection closes. If the router's work ends without a
    /// packet, [wake](crate::rpc::ConnectionExt::wake) the connection, so that another turn takes place.
    Closing {
        /// Whether the connection must stay open, because the router has work in progress.
        is_busy: bool,
    },
    /// The peer has sent a packet of the protocol extension that requests or describes a type layout
    /// ([`ASK`](crate::extension::ASK), [`LAYOUT`](crate::extension::LAYOUT)) or announces a service that it will call
    /// ([`CALLS`](crate::extension::CALLS)).
    Extension {
        /// Kind of the packet.
        id: PacketId,
        /// Body of the packet.
        body: Bytes,
        /// Outbox for the reply.
        outbox: &'a mut Outbox,
        /// Result of routing the packet. It remains [`Routed::Discarded`] if the router does not handle the packet.
        routed: Routed,
    },
}

/// Arguments of [`Router::batch_ended`].
#[derive(Debug)]
pub struct BatchEnd<'a> {
    /// Time at which the current turn of the connection began.
    pub now: Instant,
    /// Outbox of the connection, which is written after this call. Packets appended to it are sent with the batch.
    pub outbox: &'a mut Outbox,
    pub(crate) when_written: bool,
}

impl BatchEnd<'_> {
    /// Requests another call of [`Router::batch_ended`] once all output has been written.
    ///
    /// For routers that have more to send than they should queue in the outbox at once.
    pub fn again_when_written(&mut self) {
        self.when_written = true;
    }
}

/// Treatment of a packet that arrives while the backlog of output is full; see [`Router::overflow`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OverflowPolicy {
    /// Stops routing packets until there is space. This is the default. It is required if routing any packet of the
    /// protocol may return [`Routed::HandOff`], because bytes after such a packet must not be parsed.
    Stop,
    /// Queues the packet until there is space. Meanwhile, open streams, cancellations and similar events are handled.
    /// The total size of queued packets has the same limit as the backlog. Suitable for requests.
    Wait,
    /// Routes the packet immediately, unless it opens a stream. Suitable for packets that need no reply, such as
    /// cancellations or replies themselves.
    Route,
}

/// Result of routing a packet.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Routed {
    /// The connection continues, and the next packet is routed.
    Continue,
    /// The connection continues, but the packet was useless, for example malformed. If a peer sends many such packets,
    /// reading from it is paused; see [`Config::abuse_rate`](crate::Config::abuse_rate).
    Discarded,
    /// The connection continues, but routing the packet took a long time. The driver then checks the time limit of its
    /// poll before the next packet, instead of after some dozens of packets; see
    /// [`Config::turn_max`](crate::Config::turn_max).
    Slow,
    /// Like [`Slow`](Self::Slow), but the packet is expensive relative to its size. It is charged to the peer like a
    /// [useless](Self::Discarded) packet with a body of this many bytes.
    Charged(usize),
    /// The connection is closed after pending packets have been written.
    Close(CloseReason),
    /// After pending packets have been written, the transport is passed to its next owner, with all bytes after this
    /// packet. The peer is not notified, so both ends must have agreed on this beforehand. Hand-offs with Go peers work
    /// this way. See [`HandOffTarget`].
    HandOff(HandOffTarget),
}

/// Converts the result of a method that uses `?`. An error closes the connection, with its text as the close reason.
///
/// ```
/// use frisbee::{Outbox, Packet, Routed, TooLong};
///
/// fn answer(packet: &Packet, outbox: &mut Outbox) -> Result<(), TooLong> {
///     outbox.push(packet.id, packet.operation, "one")?;
///     outbox.push(packet.id, packet.operation, "two")
/// }
///
/// fn route(packet: &Packet, outbox: &mut Outbox) -> Routed {
///     answer(packet, outbox).into()
/// }
/// ```
impl<E: fmt::Display> From<Result<(), E>> for Routed {
    fn from(result: Result<(), E>) -> Self {
        result.map(|()| Self::Continue).into()
    }
}

/// Converts `Ok` to the contained value and an error to [`Close`](Self::Close). For functions that use `?`.
impl<E: fmt::Display> From<Result<Self, E>> for Routed {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(|error| Self::close(error.to_string()))
    }
}

impl Routed {
    /// Creates a result that closes the connection with this reason.
    pub fn close(reason: impl Into<String>) -> Self {
        Self::Close(CloseReason::Router(reason.into().into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl Router for Plain {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }
    }

    #[tokio::test]
    async fn default_router_takes_all_operations() {
        let budget = std::sync::Arc::new(crate::account::Budget::new(usize::MAX, 0));
        let runtime = tokio::runtime::Handle::current();
        let connection = Connection::server(&Default::default(), &budget, runtime, Default::default());
        let declaration = Plain.declaration();
        assert_eq!(declaration.operations, [10..=u16::MAX]);
        assert!(
            declaration.calls.is_empty()
                && declaration.hello_items.is_empty()
                && declaration.check().is_ok()
                && !declaration.closes_by_itself
        );
        let mut event = ConnectionEvent::Closing { is_busy: false };
        Plain.event(&mut (), &mut event);
        assert!(matches!(event, ConnectionEvent::Closing { is_busy: false }));
        assert!(!Plain.blocked(&connection, Operation::FIRST_USER));
    }
}
