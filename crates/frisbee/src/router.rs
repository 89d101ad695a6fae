//! The traits of protocols that are built on frisbee.
//!
//! # Decisions
//!
//! A first router implements two methods and reads about two. All other events are methods of [`Protocol`], which every
//! [`Router`] implements with its defaults: static dispatch, and a router that grows changes the name of the trait alone.

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
/// One router serves any number of connections; the state of one of them is its [`Session`](Self::Session). The methods
/// are called on the connection's own task, never two at a time for one connection, and must not block: a router with
/// longer work passes it to [`Connection::spawn`]. The session is dropped when the connection has ended. A router that
/// panics has lost its state, so its connection ends, which is logged as an error.
///
/// Every router is a [`Protocol`], the trait that servers and clients accept. To handle streams, the end of batches,
/// overload or hand-off as well, implement [`Protocol`] instead: it has the same two required methods.
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

    /// A connection has been established.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet, in wire order. Packets that are put into `outbox` leave in one write with the rest of the
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
/// [`connected`](Self::connected) and [`route`](Self::route) are required. The defaults of the other methods are the
/// behaviour of a [`Router`]:
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

    /// A connection has been established.
    fn connected(&self, connection: &Connection) -> Self::Session;

    /// Handles a packet; see [`Router::route`].
    fn route(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed;

    /// Handles a stream that the peer has opened; `first` is the packet that opened it. Dropping the stream closes it,
    /// which is the default.
    fn stream(&self, session: &mut Self::Session, first: Bytes, stream: Stream) -> Routed {
        let _ = (session, first, stream);
        Routed::Continue
    }

    /// The connection's task has had its turn: the packets of one read have been routed, handles have sent something or
    /// [woken](Connection::wake) it, or the time that the last call requested has come. The connection begins with the
    /// first turn, before the peer has sent anything; in the last turn it may already be closing.
    ///
    /// A router that does something once per batch does it here: packets that it puts into the outbox leave in the
    /// write that follows at once, so this is the hook to add to each write, or to inspect it. (Packets that a server
    /// sends before its client's first packet wait for that, since it shows the form of headers.) The result is the
    /// latest time for the next call; a time that has passed counts as the next millisecond.
    fn batch_ended(&self, session: &mut Self::Session, batch: &mut BatchEnd<'_>) -> Option<Instant> {
        let _ = (session, batch);
        None
    }

    /// The connection has ended. Called exactly once for each [`connected`](Self::connected).
    fn disconnected(&self, session: Self::Session, reason: &CloseReason) {
        let _ = (session, reason);
    }

    // Lifecycle.

    /// The kind of the peer is known: before its first packet at a server, after a round trip at a client.
    fn peer_known(&self, session: &mut Self::Session, peer: &PeerKind) {
        let _ = (session, peer);
    }

    /// No handler runs, and nothing but PINGs and PONGs has gone either way for one to three
    /// [`Config::ping_interval`](crate::Config::ping_interval)s: memory that the connection does not need at present
    /// may be freed. Streams may be open, and requests of this end may wait for their answers.
    fn idle(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Whether work unknown to the connection is in progress, such as a request of this end that has not been answered.
    /// A connection that is to be closed when it is idle waits for it; the work of handlers and streams it knows by
    /// itself. Queried in its turns: if it changes by something else than a packet, [wake](Connection::wake) the
    /// connection. Nothing by default.
    fn is_busy(&self, session: &mut Self::Session) -> bool {
        let _ = session;
        false
    }

    /// A native peer will close the connection and takes nothing new. It does when it has nothing in progress and
    /// knows that this end has heard of it.
    fn going_away(&self, session: &mut Self::Session) {
        let _ = session;
    }

    /// Whether a client's router closes its connection by itself when its server [goes away](Self::going_away) and its
    /// work there is over. The server then waits for that, since it may not know all that the client still intends to
    /// do. By default the server closes.
    fn closes_by_itself(&self) -> bool {
        false
    }

    // Backpressure and overload.

    /// The treatment of a packet, or of one that opens a [stream](Self::stream), while as many bytes wait to be written
    /// as may ([`Config::backlog_max`](crate::Config::backlog_max)), since the peer accepts too little. Called at the
    /// end that accepted the connection; the end that dialled routes all packets.
    fn when_full(&self, session: &Self::Session, packet: &Packet) -> OverflowPolicy {
        let _ = (session, packet);
        OverflowPolicy::Stop
    }

    /// The body of a packet was discarded while it arrived, since there is no memory for more of it; up to 64 bytes
    /// from its beginning are left. Packets that are put into `outbox` inform the peer. The default closes the
    /// connection, so that no caller waits for an answer.
    ///
    /// Only servers discard bodies. Those of streams need no treatment here: the stream is reset.
    fn discarded(&self, session: &mut Self::Session, packet: Packet, outbox: &mut Outbox) -> Routed {
        let _ = (session, packet, outbox);
        Routed::close("the server's memory limit for this client is reached")
    }

    /// A native peer no longer waits for the answer to the packet with this id; `body` is the body of its CANCEL.
    fn cancelled(&self, session: &mut Self::Session, id: PacketId, body: Bytes, outbox: &mut Outbox) {
        let _ = (session, id, body, outbox);
    }

    /// A packet of this operation has blocked its connection's thread for some milliseconds, and still does: the other
    /// connections of the thread go on in another one. Called on another thread, and only for connections that
    /// [workers](crate::Workers) drive. A router that runs its handlers elsewhere from now on returns `true`, having
    /// logged it if need be; by default the log names the operation, once.
    fn blocked(&self, connection: &Connection, operation: Operation) -> bool {
        let _ = (connection, operation);
        false
    }

    // Hand-off.

    /// A native peer requests the connection itself. The router keeps `request` until it has decided; dropping it
    /// informs the peer that this end hands off no connections, which is the default. The peer sends nothing else
    /// before the decision.
    fn hand_off(&self, session: &mut Self::Session, request: HandOffRequest) -> Routed {
        let _ = (session, request);
        Routed::Continue
    }

    // Declarations.

    /// The operations that this router serves. They distinguish the first packet of a peer with 8-byte headers from
    /// that of a program that does not speak Frisbee. All of them by default.
    fn operations(&self) -> Vec<RangeInclusive<u16>> {
        vec![10..=u16::MAX]
    }

    /// A defect of the router itself, which binding or connecting reports. By default that HELLO has no room for its
    /// items, or one has a type that is not the router's.
    ///
    /// # Errors
    /// The description of the defect.
    fn check(&self) -> Result<(), MountError> {
        check_items(&self.hello_items())
    }

    /// Items to add to the HELLO by which two native peers recognise each other: types from [`Hello::FIRST_USER_ITEM`]
    /// to 127, and values, of up to [`Hello::ITEMS_MAX`] bytes with those of all routers. None by default. If the router
    /// is mounted in frpc, types below 64 belong to frpc.
    fn hello_items(&self) -> Vec<(u8, Bytes)> {
        Vec::new()
    }
}

/// Fails if HELLO has no room for all of `items`, or one has a type that no router may use.
fn check_items(items: &[(u8, Bytes)]) -> Result<(), MountError> {
    let types = Hello::FIRST_USER_ITEM..Hello::MUST_UNDERSTAND;
    if let Some((item, _)) = items.iter().find(|(item, _)| !types.contains(item)) {
        return Err(MountError::HelloItem { item: *item });
    }
    // A type in one byte, and a length in up to three.
    let length = items.iter().map(|(_, value)| 4 + value.len()).sum();
    if length > Hello::ITEMS_MAX { Err(MountError::Hello { length }) } else { Ok(()) }
}

/// The end of a batch; see [`Protocol::batch_ended`].
#[derive(Debug)]
pub struct BatchEnd<'a> {
    /// The time at which the turn began.
    pub now: Instant,
    /// The packets that leave with this batch.
    pub outbox: &'a mut Outbox,
    pub(crate) when_written: bool,
}

impl BatchEnd<'_> {
    /// Requests a further turn when the outbox has been written.
    ///
    /// For routers that keep more to send than they want to have in the outbox.
    pub fn again_when_written(&mut self) {
        self.when_written = true;
    }
}

/// The treatment of a packet while as many bytes wait to be written as may; see [`Protocol::when_full`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OverflowPolicy {
    /// It waits until there is room, and so do all later packets. For packets that may be the last ones of the
    /// protocol, which [`Routed::HandOff`] follows; the default, since only a router knows them.
    Stop,
    /// The packet waits until there is room. Open streams, the cancelling of calls and the like continue during that;
    /// as many bytes of packets may wait as may wait to be written. For requests.
    Wait,
    /// It is routed all the same. For packets that are answered with nothing, such as replies; one that opens a stream
    /// waits.
    Route,
}

/// How the connection continues after a packet.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub enum Routed {
    /// It continues.
    Continue,
    /// It continues. The packet was useless, and no honest peer sends many such: one that does is read more slowly, see
    /// [`Config::waste_rate`](crate::Config::waste_rate).
    Useless,
    /// It continues. The packet has taken long, so the end of the turn, for the sake of other connections, is checked
    /// before the next packet instead of after some dozens. See [`Config::turn_max`](crate::Config::turn_max).
    Slow,
    /// The packets that wait are written and the connection is closed.
    Close(CloseReason),
    /// The queued packets are written, and then the transport belongs to its next owner, with every byte after this
    /// packet. The peer is not notified and has to know: the form for Go peers. See [`HandOffTarget`].
    HandOff(HandOffTarget),
}

/// For routers whose methods use `?`: an error closes the connection, with its text as the reason.
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

/// As the conversion of a `Result<(), E>`, for methods that decide how the connection continues.
impl<E: fmt::Display> From<Result<Self, E>> for Routed {
    fn from(result: Result<Self, E>) -> Self {
        result.unwrap_or_else(|error| Self::close(error.to_string()))
    }
}

impl Routed {
    /// Closes the connection for a reason of the router's own.
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
        let budget = std::sync::Arc::new(crate::budget::Budget::new(usize::MAX, 0));
        let runtime = tokio::runtime::Handle::current();
        let connection = Connection::server(&Default::default(), &budget, runtime, Default::default());
        assert_eq!(Plain.operations(), [10..=u16::MAX]);
        assert!(Plain.hello_items().is_empty() && Plain.check().is_ok());
        assert!(!Plain.closes_by_itself() && !Plain.is_busy(&mut ()));
        assert!(!Plain.blocked(&connection, Operation::FIRST_USER));
    }
}
