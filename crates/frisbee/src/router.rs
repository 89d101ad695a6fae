//! Traits for implementing protocols on top of frisbee.
//!
//! # Decisions
//!
//! A first router only implements two methods, and its author need not know any others. All other events are methods of
//! [`Protocol`], which is implemented for every [`Router`] with its default methods. Dispatch is static. To handle more
//! events, a router only has to implement the other trait.

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

/// Handles the packets of connections.
///
/// A router serves any number of connections. Its [`Session`](Self::Session) is the state of one connection, and is
/// dropped when the connection has ended. All methods are called in the task of the connection, one at a time for each
/// connection. They must not block: use [`Connection::spawn`] for longer work. If a router panics, its state is lost.
/// The connection is then closed, and an error is logged.
///
/// Every router is a [`Protocol`], which is the trait that servers and clients require. To handle streams, the ends of
/// batches, overload or hand-offs, implement [`Protocol`] instead. It has the same two required methods.
///
/// ```
/// use frisbee::{Connection, Outbox, Packet, Routed, Router};
///
/// /// Sends each packet back and counts them.
/// struct Echo;
///
/// impl Router for Echo {
///     type Session = u64;
///
///     fn connected(&self, _connection: &Connection) -> u64 {
///         0
///     }
///
///     fn route(&self, echoed: &mut u64, packet: Packet, outbox: &mut Outbox) -> Routed {
///         *echoed += 1;
///         outbox.forward(&packet).into()
///     }
/// }
/// ```
pub trait Router: Send + Sync + 'static {
    /// State that the router keeps for each connection.
    type Session: Send + 'static;

    /// Creates the session of a new connection.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet. Packets are passed in the order in which the peer sent them. Packets that are appended to
    /// `outbox` are sent in the write that follows the batch.
    fn route(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed;
}

impl<R: Router> Protocol for R {
    type Session = R::Session;

    #[inline]
    fn connected(&self, connection: &Connection) -> R::Session {
        Router::connected(self, connection)
    }

    #[inline]
    fn route(&self, session: &mut R::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        Router::route(self, session, packet, outbox)
    }
}

/// Handles all events of connections. Like [`Router`], but with further methods.
///
/// [`connected`](Self::connected) and [`route`](Self::route) are required. By default, the other methods behave like
/// those of a [`Router`]:
///
/// | purpose | methods |
/// |---|---|
/// | streams, batches, the end | [`stream`](Self::stream), [`batch_ended`](Self::batch_ended), [`disconnected`](Self::disconnected) |
/// | lifecycle | [`peer_known`](Self::peer_known), [`idle`](Self::idle), [`is_busy`](Self::is_busy), [`going_away`](Self::going_away), [`closes_by_itself`](Self::closes_by_itself) |
/// | backpressure and overload | [`when_full`](Self::when_full), [`discarded`](Self::discarded), [`cancelled`](Self::cancelled), [`blocked`](Self::blocked) |
/// | hand-off | [`hand_off`](Self::hand_off) |
/// | declarations | [`operations`](Self::operations), [`check`](Self::check), [`hello_items`](Self::hello_items) |
///
/// ```
/// use frisbee::{Connection, Outbox, Packet, PeerKind, Protocol, Routed};
///
/// /// Sends packets back to native peers.
/// struct Echo;
///
/// impl Protocol for Echo {
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
///     fn peer_known(&self, is_native: &mut bool, peer: &PeerKind) {
///         *is_native = peer.hello().is_some();
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` handles no packets",
    label = "this is neither a `Router` nor a `Protocol`",
    note = "implement `frisbee::Router`, or `frisbee::Protocol` to handle more than packets"
)]
pub trait Protocol: Send + Sync + 'static {
    /// State that the protocol keeps for each connection.
    type Session: Send + 'static;

    /// Creates the session of a new connection.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet; see [`Router::route`].
    fn route(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed;

    /// Handles a stream that the peer has opened by the packet `first`. Dropping the stream closes it, which is the
    /// default.
    fn stream(&self, session: &mut Self::Session, first: Bytes, stream: Stream) -> Routed {
        let _ = (session, first, stream);
        Routed::Continue
    }

    /// Called at the end of each turn of the connection, that is, of each poll of its driver. There is a turn when the
    /// packets of a read have been routed, handles have sent packets or [woken](Connection::wake) the connection, or
    /// the time returned by the last call is reached. The first turn precedes any input from the peer. In the last
    /// turn, the connection may already be closing.
    ///
    /// Use it for work that should be done once per batch, or to inspect or extend each write: packets appended to the
    /// outbox are sent in the write that follows immediately, except that a server sends nothing before the client's
    /// first packet, which determines the form of headers. Returns the latest time for the next call. A time in the
    /// past is treated as the next millisecond.
    fn batch_ended(&self, session: &mut Self::Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let _ = (session, batch);
        None
    }

    /// Called when the connection has ended, exactly once for each call of [`connected`](Self::connected).
    fn disconnected(&self, session: Self::Session, reason: &CloseReason) {
        let _ = (session, reason);
    }

    // Lifecycle.

    /// Called when it is known whether the peer supports the protocol extension: at a server before the client's first
    /// packet, and at a client after a round trip.
    fn peer_known(&self, session: &mut Self::Session, peer: &PeerKind) {
        let _ = (session, peer);
    }

    /// Called when the connection is idle, to free memory. It is idle if no handler is running and only PINGs and PONGs
    /// were exchanged for one to three [`Config::ping_interval`](crate::Config::ping_interval)s. Streams may be open,
    /// and outgoing requests may be pending.
    fn idle(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Returns whether the router has work in progress that the connection does not know of, such as an outgoing
    /// request without a reply. A connection that is closed when idle waits for it. Running handlers and streams need
    /// not be reported. Called when the driver of the connection is polled: if the result changes for a reason other
    /// than a packet, [wake](Connection::wake) the connection. Defaults to `false`.
    fn is_busy(&self, session: &mut Self::Session) -> bool {
        let _ = session;
        false
    }

    /// Called when the peer announces that it is going away. It accepts no new calls or streams, and closes the
    /// connection once it has nothing in progress and knows that this end was notified.
    fn going_away(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Returns whether the router of a client closes the connection itself, after its server is [going
    /// away](Self::going_away) and its own work is complete. The server then waits for this, because it may not know of
    /// all remaining work. By default the server closes the connection.
    fn closes_by_itself(&self) -> bool {
        false
    }

    // Backpressure and overload.

    /// Returns how to treat a packet, including one that opens a [stream](Self::stream), while the pending output has
    /// reached [`Config::backlog_max`](crate::Config::backlog_max), because the peer reads too slowly. Only called at
    /// the accepting end. The dialling end routes all packets.
    fn when_full(&self, session: &Self::Session, packet: &Packet) -> OverflowPolicy {
        let _ = (session, packet);
        OverflowPolicy::Stop
    }

    /// Called when the body of a packet was discarded on arrival, because there was not enough memory. At most its
    /// first 64 bytes are kept. Packets appended to `outbox` should inform the peer. By default the connection is
    /// closed, so that no caller waits for a reply forever.
    ///
    /// Bodies are only discarded by servers. Streams need not be handled here, because they are reset.
    fn discarded(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let _ = (session, packet, outbox);
        Routed::close("the server's memory limit for this client is reached")
    }

    /// Called when the peer no longer waits for the reply to the packet `id`. `body` is the body of its CANCEL packet.
    fn cancelled(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        let _ = (session, id, body, outbox);
    }

    /// Handles a packet about the layouts of the peer's services: [`extension::ASK`](crate::extension::ASK),
    /// [`LAYOUT`](crate::extension::LAYOUT) or [`CALLS`](crate::extension::CALLS). By default it counts as useless.
    fn extension(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) -> Routed {
        let _ = (session, id, body, outbox);
        Routed::Useless
    }

    /// Called while a packet of this operation is blocking the thread of the connection for several milliseconds. Other
    /// connections of the thread continue on another one. This is called on yet another thread, and only for
    /// connections that are driven by [workers](crate::Workers). Return `true` if the router will run its handlers
    /// elsewhere from now on, and logs this itself if necessary. By default the operation is logged once.
    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let _ = (connection, operation);
        false
    }

    // Hand-off.

    /// Handles a hand-off request of the peer. The router must keep `request` until it has decided. Dropping the
    /// request, which is the default, replies that hand-offs are not supported. The peer sends nothing else until it
    /// receives the reply.
    fn hand_off(&self, session: &mut Self::Session, request: HandOffRequest) -> Routed {
        let _ = (session, request);
        Routed::Continue
    }

    // Declarations.

    /// Returns the operations that this router handles. They distinguish the first packet of a peer with 8-byte headers
    /// from the bytes of another protocol. Defaults to all operations.
    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        vec![10..=u16::MAX]
    }

    /// Checks the router when a server is bound or a client connects. The default implementation checks that the HELLO
    /// items fit and that their types are not reserved.
    ///
    /// # Errors
    /// If the router has a defect.
    fn check(&self) -> Result<(), MountError> {
        check_items(&self.hello_items())
    }

    /// Returns items to add to the HELLO, by which native peers identify themselves. Their types range from
    /// [`Hello::FIRST_USER_ITEM`] to 127. The items of all routers together may take [`Hello::ITEMS_MAX`] bytes.
    /// Defaults to none. For a router mounted in frpc, types below 64 are reserved for frpc.
    fn hello_items(&self) -> Vec<(u8, Bytes)> {
        Vec::new()
    }
}

/// Checks that the items fit into a HELLO and that none of their types is reserved.
fn check_items(items: &[(u8, Bytes)]) -> Result<(), MountError> {
    let types = Hello::FIRST_USER_ITEM..Hello::MUST_UNDERSTAND;
    if let Some((item, _)) = items.iter().find(|(item, _)| !types.contains(item)) {
        return Err(MountError::HelloItem { item: *item });
    }
    // Each item has a type of one byte, and a length of up to three bytes.
    let length = items.iter().map(|(_, value)| 4 + value.len()).sum();
    if length > Hello::ITEMS_MAX { Err(MountError::Hello { length }) } else { Ok(()) }
}

/// Arguments of [`Protocol::batch_ended`].
#[derive(Debug)]
pub struct BatchEnd<'a> {
    /// Time at which this poll of the connection's driver began.
    pub now: Instant,
    /// Outbox of the connection, which is written after this call. Packets added to it are sent with the batch.
    pub outbox: &'a mut Outbox,
    pub(crate) when_written: bool,
}

impl BatchEnd<'_> {
    /// Requests another call of [`Protocol::batch_ended`] once all output has been written.
    ///
    /// Intended for routers that have more to send than should be queued in the outbox.
    pub fn again_when_written(&mut self) {
        self.when_written = true;
    }
}

/// Policy for a packet that arrives while the backlog of output is full; see [`Protocol::when_full`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OverflowPolicy {
    /// Pauses the routing of all packets until there is space. This is the default. It is suitable for packets that may
    /// be the last of a protocol, after which the router returns [`Routed::HandOff`], because only a router can
    /// recognize these.
    Stop,
    /// Queues the packet until there is space. In the meantime, open streams, cancellations and similar events are
    /// handled. The total size of queued packets has the same limit as the backlog. Suitable for requests.
    Wait,
    /// Routes the packet immediately, unless it opens a stream. Suitable for packets that require no reply, such as
    /// replies and cancellations.
    Route,
}

/// Result of routing a packet.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Routed {
    /// The connection continues, and the next packet is routed.
    Continue,
    /// The connection continues, but the packet was useless. A peer that sends many such packets is read more slowly;
    /// see [`Config::waste_rate`](crate::Config::waste_rate).
    Useless,
    /// The connection continues, but routing the packet took long. The time limit for one poll of the driver is then
    /// checked before the next packet rather than after some dozens of packets; see
    /// [`Config::turn_max`](crate::Config::turn_max).
    Slow,
    /// The connection is closed after pending packets have been written.
    Close(CloseReason),
    /// After pending packets have been written, the transport is passed to its next owner, with all bytes after this
    /// packet. The peer is not notified and must expect this by agreement. This is how hand-offs work with Go peers.
    /// See [`HandOffTarget`].
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

/// Converts `Ok` to its value and an error to `Close`, for methods that return a `Routed`.
impl<E: fmt::Display> From<Result<Self, E>> for Routed {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(|error| Self::close(error.to_string()))
    }
}

impl Routed {
    /// Creates a result that closes the connection for this reason.
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
    async fn default_router_takes_all_operations_and_adds_nothing() {
        let budget = std::sync::Arc::new(crate::account::Budget::new(usize::MAX, 0));
        let runtime = tokio::runtime::Handle::current();
        let connection = Connection::server(&Default::default(), &budget, runtime, Default::default());
        assert_eq!(Plain.operations(), [10..=u16::MAX]);
        assert!(Plain.hello_items().is_empty() && Plain.check().is_ok());
        assert!(!Plain.closes_by_itself() && !Plain.is_busy(&mut ()));
        assert!(!Plain.blocked(&connection, Operation::FIRST_USER));
    }
}
