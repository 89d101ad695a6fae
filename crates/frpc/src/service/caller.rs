//! The caller of served calls: one connection.

use crate::api::request::Origin;
use crate::observe::tally::Tally;
use crate::service::failures::given_up;
use crate::wire::body::{self, Style};
use frisbee::{Connection, Operation, Outbox, PacketId};
use polyglot::Form;

/// The peer of a connection as a caller.
pub(crate) struct Caller {
    pub(crate) connection: Connection,
    /// How replies are written. They are marked if this end dialled the connection.
    style: Style,
    /// The calls that are observed, if any are.
    tally: Option<Box<Tally>>,
}

impl Caller {
    pub(crate) fn new(connection: &Connection, backward: bool, tally: Option<Tally>) -> Self {
        let style = Style { form: Form::Flat, backward };
        Self { connection: connection.clone(), style, tally: tally.map(Box::new) }
    }

    /// The calls that are observed, if any are.
    #[inline]
    pub(crate) fn tally(&self) -> Option<&Tally> {
        self.tally.as_deref()
    }

    /// The origin of requests.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        Origin::Connection(self.connection.clone())
    }

    /// Notes the kind of the peer.
    pub(crate) fn handle_peer_known(&mut self, extended: bool) {
        self.style.form = if extended { Form::Extended } else { Form::Flat };
    }

    /// Whether the peer is extended.
    #[inline]
    pub(crate) fn is_extended(&self) -> bool {
        self.style.form == Form::Extended
    }

    /// How replies to the peer are written.
    #[inline]
    pub(crate) fn style(&self) -> Style {
        self.style
    }

    /// Cancels a call. Every call gets one reply, and a cancelled call gets this one.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, outbox: &mut Outbox) {
        if self.connection.cancel_call(id, operation) {
            body::put_error(outbox, id, operation, &given_up(), self.style());
        }
    }
}
