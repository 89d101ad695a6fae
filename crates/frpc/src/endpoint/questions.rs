//! Questions of clients that choose among several servers: how busy this end is.

use crate::Status;
use crate::endpoint::Endpoint;
use crate::endpoint::session::Session;
use crate::endpoint::table::Served;
use crate::service::served::{Entry, Kind};
use crate::wire::{body, report};
use frisbee::{Outbox, Packet, Routed};

impl Endpoint {
    /// Whether this end answers questions.
    pub(super) fn answers(&self) -> bool {
        self.calls.is_none() && !self.offer.table.is_empty()
    }

    /// Whether a packet is a question. It names a unary method of this end; bodies of mounted routers may be anything.
    pub(super) fn is_question(&self, session: &Session, packet: &Packet) -> bool {
        self.calls.is_none()
            && session.caller.is_extended()
            && report::is_question(&packet.body)
            && matches!(
                self.offer.table.get(packet.operation.number()),
                Some(Served { entry: Entry { kind: Kind::Unary(_), .. }, .. })
            )
    }

    /// Answers a question. Nobody gets an answer who might not call the method, and no call is made for it.
    #[cold]
    pub(super) fn answer(&self, session: &Session, packet: &Packet, outbox: &mut Outbox) -> Routed {
        let number = packet.operation.number();
        let rule = self.offer.table.get(number).and_then(|served| served.rule);
        let is_open = session.visitor.as_ref().is_none_or(|visitor| visitor.is_open(rule));
        let closed = || Status::permission_denied("the method is not open to whoever uses this connection");
        let refused = session.refused(number).or_else(|| (!is_open).then(closed));
        if let Some(status) = refused {
            body::put_refusal(outbox, packet.id, packet.operation, &status, session.caller.style());
            return Routed::Wasted;
        }
        report::put_answer(outbox, packet.id, packet.operation, session.caller.report());
        Routed::Continue
    }
}
