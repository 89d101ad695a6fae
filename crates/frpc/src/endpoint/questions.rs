//! Questions of clients that choose among several servers: how busy this end is.

use crate::Status;
use crate::endpoint::Endpoint;
use crate::endpoint::session::Session;
use crate::endpoint::table::Served;
use crate::service::served::{Entry, Kind};
use crate::wire::{body, report};
use frisbee::{Operation, Outbox, PacketId, Routed};

impl Endpoint {
    /// Whether this end answers questions.
    pub(super) fn answers(&self) -> bool {
        self.calls.is_none() && !self.offer.table.is_empty()
    }

    /// Answers a question. Nobody gets an answer who might not call the method, and no call is made for it.
    pub(super) fn answer(
        &self,
        session: &mut Session,
        id: PacketId,
        operation: Operation,
        outbox: &mut Outbox,
    ) -> Routed {
        let number = operation.number();
        let Some(Served { entry: Entry { kind: Kind::Unary(_), .. }, rule, .. }) = self.offer.table.get(number) else {
            return self.refuse_unserved(session, id, operation, outbox);
        };
        let is_open = session.visitor.as_ref().is_none_or(|visitor| visitor.is_open(*rule));
        let closed = || Status::permission_denied("the method is not open to whoever uses this connection");
        let refused = session.refused(number).or_else(|| (!is_open).then(closed));
        if let Some(status) = refused {
            body::put_refusal(outbox, id, operation, &status, session.caller.style());
            return Routed::Wasted;
        }
        report::put_answer(outbox, id, operation, session.caller.report());
        Routed::Continue
    }
}
