//! Charging of received bodies to the server's memory. Bodies that exceed the memory are discarded.

use super::Engine;
use super::greeting::FIRST_MAX;
use super::streams::NO_ROOM;
use crate::account::READ_BUFFER;
use crate::connection::stream::RESOURCE_EXHAUSTED;
use crate::{CloseReason, Operation, PacketId, PeerKind, Routed, Router};
use frisbee_core::{Role, StreamSignal};
use std::time::Instant;

/// Maximum excess of a connection's bodies over its caller's memory share, in bytes, while unread replies use up the
/// share. Equal to one read.
const ONE_READ: usize = READ_BUFFER / 2;

/// Packets of up to this many bytes are received even if their caller has used up its memory share. A packet that
/// arrives in one read needs no memory for its body. Without this allowance, a CREDIT, an END or a short message would
/// be lost if it arrived in two.
const SHORT: usize = 1024;

impl<R: Router> Engine<R> {
    /// Charges the received part of a body to the server's memory. If no memory is left, the body is discarded as it
    /// arrives.
    #[cold]
    pub(super) fn charge_body(&mut self, now: Instant) -> Result<(), CloseReason> {
        if self.core.role() == Role::Client {
            return Ok(()); // Not charged, because a client holds at most one body per server.
        }
        let buffered = self.core.buffered();
        let account = &self.handle.0.mailbox.account;
        let before = self.body_charge;
        let more = buffered.saturating_sub(before);
        self.bodies_exceed_share &= before > 0;
        if more == 0 {
            account.release(before - buffered);
        } else if account.take(more) {
            self.bodies_exceed_share = false;
        } else {
            let has_output = !self.core.outbox().is_empty();
            let most = match self.core.peer() {
                // Receive a HELLO whose memory is not charged, as if it had arrived in one read.
                PeerKind::Unknown => FIRST_MAX,
                // If unread replies use up the share, allow one more read. The driver stops reading in this case, but
                // this may be the first read since the replies were queued.
                _ if has_output && !self.bodies_exceed_share => ONE_READ,
                _ => SHORT,
            };
            if more > most {
                return self.reject_body(now);
            }
            self.handle.0.mailbox.account.charge(more);
            self.bodies_exceed_share |= more > SHORT;
        }
        self.body_charge = buffered;
        Ok(())
    }

    /// Releases the charge of a completely received body. Code that keeps the body charges it again, and the same
    /// memory must not be charged twice.
    #[cold]
    pub(super) fn release_body(&mut self) {
        let account = &self.handle.0.mailbox.account;
        // Keep the charge for packets that still lack fragments.
        let held = self.core.buffered().min(self.body_charge);
        account.release(self.body_charge - held);
        self.body_charge = held;
        self.output.update_charge(self.core.outbox(), account);
    }

    fn reject_body(&mut self, now: Instant) -> Result<(), CloseReason> {
        let Some(packet) = self.core.discard_body() else { return Ok(()) };
        self.release_body();
        self.handle.0.mailbox.account.budget().counts.count_rejected();
        let (length, operation) = (packet.body.len(), packet.operation);
        let is_native = matches!(self.core.peer(), PeerKind::Native(_));
        let next = match (operation, packet.stream()) {
            (Operation::STREAM | Operation::BATCH, _) => {
                self.reject_stream_body(packet.id, operation == Operation::STREAM)
            }
            (Operation::EXTENSION, Some(stream)) if is_native => self.reject_stream_body(stream, false),
            // Close the connection. Otherwise, the peer would wait for a reply, or a stream for its credit or end.
            _ if is_native && operation.is_reserved() => Routed::Close(no_memory(operation)),
            // A peer without its HELLO would be treated as one without the protocol extension, and its deadlines and
            // metadata would be lost. Close immediately, because nothing can be sent to it.
            (Operation::EXTENSION, _) if *self.core.peer() == PeerKind::Unknown => return Err(no_memory(operation)),
            // Count the packet as useless, as if it had been received and skipped.
            _ if operation.is_reserved() => Routed::Discarded,
            _ => self.guarded(|engine| match &mut engine.session {
                Some(session) => engine.router.discarded(session, packet, engine.core.outbox()),
                None => Routed::Continue,
            })?,
        };
        if !matches!(next, Routed::Continue) {
            self.stops(next, length, now);
        }
        // Check the memory again, because a single read may contain fragments of several bodies.
        self.charge_body(now)
    }

    /// Ends a stream because its message was discarded. If `may_open` is set, the message may have opened the stream,
    /// and the stream is refused.
    fn reject_stream_body(&mut self, id: PacketId, may_open: bool) -> Routed {
        let inner = self.handle.0.mailbox.lock();
        let native = inner.peer.hello().is_some();
        let stream = inner.streams.get(id).cloned();
        drop(inner);
        let signal = match stream {
            Some(stream) => {
                let signal = stream.handle_rejected_body();
                // Cache the stream, because `leave_stream` removes the cached one.
                self.last_stream = Some(stream);
                return self.leave_stream(signal);
            }
            None => {
                // Remove the deferred packet that opens the stream, because the stream is refused.
                let waited = self.handle.0.deferred.leave_stream(id, &self.handle.0.mailbox.account);
                match native {
                    false => StreamSignal::Close,
                    true if waited || may_open && self.openings.handle(id) => StreamSignal::Refuse,
                    true => StreamSignal::Nothing,
                }
            }
        };
        signal.put(self.core.outbox(), id, RESOURCE_EXHAUSTED, NO_ROOM);
        Routed::Continue
    }
}

/// Returns the close reason of a connection whose packet of this operation was discarded.
#[cold]
fn no_memory(operation: Operation) -> CloseReason {
    CloseReason::Router(format!("no memory for the body of {operation}").into())
}
