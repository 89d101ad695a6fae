//! The traits of protocols on top of frisbee.
//!
//! # Decisions
//!
//! A first router implements two methods and needs to know only these. All other events are methods of [`Protocol`],
//! which every [`Router`] implements with the default methods. Dispatch is static, and a router that needs more events
//! only changes the name of the trait.

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
/// A router serves any number of connections. Its [`Session`](Self::Session) is the state of one connection and is
/// dropped when the connection has ended. All methods are called on the task of the connection, one at a time per
/// connection, and must not block: use [`Connection::spawn`] for longer work. If a router panics, its state is lost, so
/// the connection is closed and an error is logged.
///
/// Every router is a [`Protocol`], the trait that servers and clients accept. To handle streams, ends of batches,
/// overload or hand-off as well, implement [`Protocol`] instead. It has the same two required methods.
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
    /// The router's state for one connection.
    type Session: Send + 'static;

    /// Creates the session of a new connection.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet. Packets arrive in wire order. Packets added to `outbox` are sent in the write that follows the
    /// batch.
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

/// Handles all events of connections: a [`Router`] with further methods.
///
/// [`connected`](Self::connected) and [`route`](Self::route) are required. The other methods have defaults, which are
/// the behaviour of a [`Router`]:
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
    /// The protocol's state for one connection.
    type Session: Send + 'static;

    /// Creates the session of a new connection.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet; see [`Router::route`].
    fn route(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed;

    /// Handles a stream that the peer opened with the packet `first`. Dropping the stream closes it, which is the
    /// default.
    fn stream(&self, session: &mut Self::Session, first: Bytes, stream: Stream) -> Routed {
        let _ = (session, first, stream);
        Routed::Continue
    }

    /// Called at the end of each turn of the connection's task. A turn follows when the packets of one read have been
    /// routed, handles have sent packets or [woken](Connection::wake) the connection, or the time returned by the last
    /// call has come. The first turn precedes any input from the peer. In the last turn the connection may already be
    /// closing.
    ///
    /// Use it for work that is done once per batch, or to inspect or extend each write: packets added to the outbox are
    /// sent in the write that follows immediately. (A server's packets are held back until the client's first packet,
    /// which determines the header format.) Returns the latest time for the next call; a time in the past counts as the
    /// next millisecond.
    fn batch_ended(&self, session: &mut Self::Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let _ = (session, batch);
        None
    }

    /// Called when the connection has ended, exactly once for each [`connected`](Self::connected).
    fn disconnected(&self, session: Self::Session, reason: &CloseReason) {
        let _ = (session, reason);
    }

    // Lifecycle.

    /// Called when the kind of the peer is known: before its first packet at a server, after a round trip at a client.
    fn peer_known(&self, session: &mut Self::Session, peer: &PeerKind) {
        let _ = (session, peer);
    }

    /// Called when the connection is idle, to free memory: no handler is running, and only PINGs and PONGs were
    /// exchanged for one to three [`Config::ping_interval`](crate::Config::ping_interval)s. Streams may be open, and
    /// requests of this end may await replies.
    fn idle(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Returns whether the router has work in progress that the connection does not know of, such as a request of this
    /// end without a reply. A connection that closes when idle waits for it. Running handlers and streams need not be
    /// reported. This is checked in the turns of the connection, so [wake](Connection::wake) the connection if the
    /// result changes for another reason than a packet. Defaults to `false`.
    fn is_busy(&self, session: &mut Self::Session) -> bool {
        let _ = session;
        false
    }

    /// Called when a native peer goes away: it accepts nothing new, and closes the connection once it has nothing in
    /// progress and knows that this end was notified.
    fn going_away(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Returns whether a client's router closes the connection itself after its server [goes away](Self::going_away)
    /// and its work there is complete. The server then waits for that, because it may not know all remaining work of
    /// the client. By default the server closes.
    fn closes_by_itself(&self) -> bool {
        false
    }

    // Backpressure and overload.

    /// Returns the treatment of a packet, including one that opens a [stream](Self::stream), while the pending writes
    /// have reached [`Config::backlog_max`](crate::Config::backlog_max) because the peer reads too slowly. Called only
    /// at the accepting end; the dialling end routes all packets.
    fn when_full(&self, session: &Self::Session, packet: &Packet) -> OverflowPolicy {
        let _ = (session, packet);
        OverflowPolicy::Stop
    }

    /// Called when the body of a packet was discarded on arrival for lack of memory. At most its first 64 bytes remain.
    /// Packets added to `outbox` inform the peer. The default closes the connection, so that no caller waits for a
    /// reply.
    ///
    /// Only servers discard bodies. Streams need no treatment here, because they are reset.
    fn discarded(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let _ = (session, packet, outbox);
        Routed::close("the server's memory limit for this client is reached")
    }

    /// Called when a native peer no longer waits for the reply to packet `id`. `body` is the body of its CANCEL.
    fn cancelled(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        let _ = (session, id, body, outbox);
    }

    /// Handles a packet of a native peer about the layouts of its services: [`extension::ASK`](crate::extension::ASK),
    /// [`LAYOUT`](crate::extension::LAYOUT) or [`CALLS`](crate::extension::CALLS). By default it counts as useless.
    fn extension(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) -> Routed {
        let _ = (session, id, body, outbox);
        Routed::Useless
    }

    /// Called when a packet of this operation has blocked the connection's thread for several milliseconds and still
    /// does. The other connections of the thread continue on another one. Called on another thread, and only for
    /// connections driven by [workers](crate::Workers). A router returns `true` if it will run its handlers elsewhere
    /// from now on, and logs this itself if necessary. By default the operation is logged once.
    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let _ = (connection, operation);
        false
    }

    // Hand-off.

    /// Handles a native peer's request to take over the connection. The router keeps `request` until it has decided.
    /// Dropping it, which is the default, reports that this end supports no hand-off. The peer sends nothing else
    /// before the decision.
    fn hand_off(&self, session: &mut Self::Session, request: HandOffRequest) -> Routed {
        let _ = (session, request);
        Routed::Continue
    }

    // Declarations.

    /// Returns the operations that this router serves. They distinguish the first packet of a peer with 8-byte headers
    /// from a program that does not speak Frisbee. Defaults to all operations.
    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        vec![10..=u16::MAX]
    }

    /// Checks the router itself when a server is bound or a client connects. By default it checks that the HELLO items
    /// fit and that their types are not reserved.
    ///
    /// # Errors
    /// A description of the defect.
    fn check(&self) -> Result<(), MountError> {
        check_items(&self.hello_items())
    }

    /// Returns items for the HELLO by which two native peers recognise each other. Types range from
    /// [`Hello::FIRST_USER_ITEM`] to 127. The items of all routers have at most [`Hello::ITEMS_MAX`] bytes in total.
    /// Defaults to none. In a router mounted in frpc, types below 64 are reserved for frpc.
    fn hello_items(&self) -> Vec<(u8, Bytes)> {
        Vec::new()
    }
}

/// Fails if `items` exceed the size of HELLO or one has a reserved type.
fn check_items(items: &[(u8, Bytes)]) -> Result<(), MountError> {
    let types = Hello::FIRST_USER_ITEM..Hello::MUST_UNDERSTAND;
    if let Some((item, _)) = items.iter().find(|(item, _)| !types.contains(item)) {
        return Err(MountError::HelloItem { item: *item });
    }
    // Each item has a type of one byte and a length of up to three bytes.
    let length = items.iter().map(|(_, value)| 4 + value.len()).sum();
    if length > Hello::ITEMS_MAX { Err(MountError::Hello { length }) } else { Ok(()) }
}

/// The end of a batch; see [`Protocol::batch_ended`].
#[derive(Debug)]
pub struct BatchEnd<'a> {
    /// Start time of the turn.
    pub now: Instant,
    /// Packets that are sent with this batch.
    pub outbox: &'a mut Outbox,
    pub(crate) when_written: bool,
}

impl BatchEnd<'_> {
    /// Requests a further turn when the outbox has been written.
    ///
    /// For routers that have more to send than they want to keep in the outbox.
    pub fn again_when_written(&mut self) {
        self.when_written = true;
    }
}

/// The treatment of a packet while the write backlog is full; see [`Protocol::when_full`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OverflowPolicy {
    /// All routing pauses until there is room. This is the default. It suits packets that may be the last ones of the
    /// protocol, followed by [`Routed::HandOff`], because only a router knows them.
    Stop,
    /// The packet waits until there is room. Open streams, cancellations and similar events are processed meanwhile.
    /// The size of waiting packets has the same limit as the write backlog. For requests.
    Wait,
    /// The packet is routed immediately, but one that opens a stream waits. For packets that need no answer, such as
    /// replies.
    Route,
}

/// The state of the connection after a packet.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Routed {
    /// The connection continues.
    Continue,
    /// The connection continues, but the packet was useless. A peer that sends many such packets is read more slowly,
    /// see [`Config::waste_rate`](crate::Config::waste_rate).
    Useless,
    /// The connection continues, but the packet took long. For the sake of other connections, the time limit of the
    /// turn is checked before the next packet instead of after some dozens of packets. See
    /// [`Config::turn_max`](crate::Config::turn_max).
    Slow,
    /// Pending packets are written, then the connection is closed.
    Close(CloseReason),
    /// Pending packets are written, then the transport passes to its next owner, with all bytes after this packet. The
    /// peer is not notified and must expect this: the form of hand-off for Go peers. See [`HandOffTarget`].
    HandOff(HandOffTarget),
}

/// Converts results of methods that use `?`. An error closes the connection with its text as the reason.
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

/// Like the conversion of a `Result<(), E>`, but for methods that return how the connection continues.
impl<E: fmt::Display> From<Result<Self, E>> for Routed {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(|error| Self::close(error.to_string()))
    }
}

impl Routed {
    /// Closes the connection with this reason.
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
