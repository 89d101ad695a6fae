//! Where calls come from: one connection.

use crate::api::request::Origin;
use crate::service::failures::given_up;
use crate::wire::body::{self, Style};
use frisbee::{Connection, Operation, Outbox, PacketId};
use polyglot::Form;

/// Where calls come from: one connection.
pub(crate) struct Caller {
    pub(crate) connection: Connection,
    /// This end dialled the connection: the calls that it serves are those of the end that accepted.
    backward: bool,
    /// The peer is one of ours.
    is_extended: bool,
}

impl Caller {
    pub(crate) fn new(connection: &Connection, backward: bool) -> Self {
        Self { connection: connection.clone(), backward, is_extended: false }
    }

    /// What requests say of where they came from.
    #[inline]
    pub(crate) fn origin(&self) -> Origin {
        Origin::Connection(self.connection.clone())
    }

    /// Takes in what the peer is.
    pub(crate) fn handle_peer_known(&mut self, extended: bool) {
        self.is_extended = extended;
    }

    /// Whether the peer is one of ours.
    #[inline]
    pub(crate) fn is_extended(&self) -> bool {
        self.is_extended
    }

    /// How the peer gets replies.
    #[inline]
    pub(crate) fn style(&self) -> Style {
        let form = if self.is_extended() { Form::Extended } else { Form::Flat };
        Style { form, backward: self.backward }
    }

    /// Ends a call that nobody waits for. Every call gets one reply, a cancelled one this.
    pub(crate) fn cancel(&self, id: PacketId, operation: Operation, outbox: &mut Outbox) {
        if self.connection.cancel_call(id, operation) {
            body::put_error(outbox, id, operation, &given_up(), self.style());
        }
    }
}
