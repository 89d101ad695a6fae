//! The share of a connection in its server's memory, and the treatment of packets without memory.

use super::Engine;
use super::streams::NO_ROOM;
use crate::budget::READ_BUFFER;
use crate::connection::stream::RESOURCE_EXHAUSTED;
use crate::mailbox::Order;
use crate::{CloseReason, Operation, PacketId, Protocol, Routed};
use frisbee_core::{Role, StreamSignal};

/// The growth of a body beyond its connection's share, if that consists of replies, in bytes: one read adds it.
const ONE_READ: usize = READ_BUFFER / 2;

impl<R: Protocol> Engine<R> {
    /// Charges the part of a body that has arrived to the server's memory. If there is none, the body is discarded as
    /// it comes.
    #[cold]
    pub(super) fn charge_body(&mut self) -> Result<(), CloseReason> {
        if self.core.role() == Role::Client {
            return Ok(()); // Holds one body at most for its only server.
        }
        let buffered = self.core.buffered();
        let account = &self.handle.0.mailbox.account;
        let before = self.body_charge;
        if buffered <= before {
            account.release(before - buffered);
        } else if !account.take(buffered - before) {
            // A client that has not taken its replies is not read from now on, and this may be the first that shows it.
            if buffered - before > ONE_READ || self.core.outbox().is_empty() {
                self.handle.0.mailbox.account.release(std::mem::take(&mut self.body_charge));
                return self.reject_body();
            }
            self.handle.0.mailbox.account.charge(buffered - before);
        }
        self.body_charge = buffered;
        Ok(())
    }

    /// Releases the charge of a complete body. Its keeper is charged for it again, and checks for room first: with this
    /// it would have to be there twice.
    #[cold]
    pub(super) fn release_body(&mut self) {
        let account = &self.handle.0.mailbox.account;
        account.release(std::mem::take(&mut self.body_charge));
        self.output.update_charge(self.core.outbox(), account);
    }

    fn reject_body(&mut self) -> Result<(), CloseReason> {
        let Some(packet) = self.core.discard_body() else { return Ok(()) };
        self.handle.0.mailbox.account.budget().counts.count_rejected();
        if matches!(packet.operation, Operation::STREAM | Operation::BATCH) {
            self.reject_stream_body(packet.id, packet.operation == Operation::STREAM);
            return Ok(());
        }
        if packet.operation == Operation::HAND_OFF {
            // The requesting peer would wait for half a minute.
            let reason = CloseReason::Router("no memory for the body of a hand-off request".into());
            Order::put(Order::Flush(reason), &mut self.order);
        }
        if packet.operation.is_reserved() {
            return Ok(());
        }
        let next = self.guarded(|engine| match &mut engine.session {
            Some(session) => engine.router.discarded(session, packet, engine.core.outbox()),
            None => Routed::Continue,
        })?;
        if let Routed::Close(reason) = next {
            Order::put(Order::Flush(reason), &mut self.order);
        }
        Ok(())
    }

    /// Ends a stream with discarded messages, or refuses a discarded opening, if the packet `may_open` one.
    fn reject_stream_body(&mut self, id: PacketId, may_open: bool) {
        let inner = self.handle.0.mailbox.lock();
        let rich = inner.peer.hello().is_some();
        let stream = inner.streams.get(id).cloned();
        drop(inner);
        let signal = match stream {
            Some(stream) => {
                let signal = stream.handle_rejected_body();
                self.last_stream = Some(stream);
                return drop(self.leave_stream(signal));
            }
            None => {
                // Its opening may wait, and need not any more.
                let waited = self.handle.0.deferred.leave_stream(id, &self.handle.0.mailbox.account);
                match rich {
                    false => StreamSignal::Close,
                    true if waited || may_open && self.openings.handle(id) => StreamSignal::Refuse,
                    true => StreamSignal::Nothing,
                }
            }
        };
        signal.put(self.core.outbox(), id, RESOURCE_EXHAUSTED, NO_ROOM);
    }
}
