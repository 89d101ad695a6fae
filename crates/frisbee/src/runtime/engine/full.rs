//! Routing while the peer reads too slowly. Requests are deferred, but packets that cause no replies are routed.
//!
//! # Decisions
//!
//! When an outbox reaches its limit, the driver continues to read. Requests are deferred in order. Messages of open
//! streams, credit, CANCEL, PINGs and replies to calls of this end are handled immediately. Deferred requests have a
//! limit and are charged to the memory of the server. The server stops reading only when they reach the limit, so a
//! client can occupy no more than the outbox and the deferred requests. While requests are deferred, only bytes
//! accepted by the client count as progress for its timeouts.
//!
//! While a long reply is sent in fragments, short replies overtake it. Requests are therefore routed if earlier replies
//! of their methods were short. A method with a long reply nevertheless exceeds the backlog only once, because its
//! later requests are deferred.
//!
//! The router decides whether a packet may be deferred, because the bytes that follow the last packet before a change
//! of protocol are not packets.

use super::hand_off::OutgoingHandOff;
use super::{Engine, PACKETS_PER_BATCH, ReadMode, Routing};
use crate::mailbox::deferred::DeferredPacket;
use crate::{CloseReason, Operation, OverflowPolicy, PacketId, Routed, Router};
use bytes::Bytes;
use frisbee_core::Event;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Maximum number of bytes that may precede a short reply in the outbox while a long reply is pending: other short
/// packets, and the rest of a fragment. Below this limit, requests with short replies are routed although the backlog
/// is full.
const SHORT_BACKLOG_MAX: usize = 128 * 1024;

impl<R: Router> Engine<R> {
    /// Returns whether the driver may process more input. If not, deferred packets must be routed first.
    #[inline]
    pub(super) fn takes_more(&mut self) -> bool {
        self.routing != Routing::Deferring || !self.has_room() && !self.is_stuck() && self.find_short().is_none()
    }

    /// Returns whether the driver must not examine any packet until the outbox has space.
    #[cold]
    fn is_stuck(&self) -> bool {
        let shared = &self.handle.0;
        // A hand-off passes on the transport together with the bytes after the current packet, so nothing more may be
        // examined.
        self.is_leaving()
            || shared.mailbox.account.is_over()
            || shared.deferred.is_full(shared.mailbox.backlog_max(), &shared.mailbox.account)
    }

    /// Routes deferred packets while the outbox has space. Without space, routes only packets that need no space for a
    /// reply.
    #[cold]
    #[inline(never)]
    pub(super) fn route_full(&mut self, now: Instant) -> Result<(), CloseReason> {
        self.routing = Routing::Deferring;
        for _ in 0..PACKETS_PER_BATCH {
            let routed = if self.has_room() {
                self.route_deferred()
            } else if let Some(index) = self.find_short() {
                let shared = &self.handle.0;
                shared.deferred.remove(index, &shared.mailbox.account).map(|short| self.route_packet(short))
            } else {
                self.route_urgent(now)?
            };
            let Some((next, length)) = routed else { break };
            let stops = !matches!(next, Routed::Continue) && self.stops(next, length, now);
            if stops || self.is_over(now) {
                break;
            }
        }
        self.notify_listening(now);
        Ok(())
    }

    /// Informs the protocol core whether this end currently reads from the peer. Reading also pauses while the server
    /// is short of memory.
    #[cold]
    pub(super) fn notify_listening(&mut self, now: Instant) {
        let listens = self.routing != Routing::Deferring || self.has_room() || !self.is_stuck();
        self.core.set_listening(listens, now);
    }

    /// Routes the oldest deferred packet. Returns the result and the length of the packet's body in bytes. If no packet
    /// is deferred, resumes normal routing and returns `None`.
    fn route_deferred(&mut self) -> Option<(Routed, usize)> {
        let Some(deferred) = self.handle.0.deferred.remove(0, &self.handle.0.mailbox.account) else {
            // Reset the set of streams with deferred packets and the count of bytes added to the full backlog.
            self.handle.0.deferred.clear(&self.handle.0.mailbox.account);
            self.routing = Routing::All;
            if self.reading == ReadMode::HalfClosed {
                // Set the flag before waking the readers, because they check it when they find no message.
                self.handle.0.is_at_eof.store(true, Ordering::Relaxed);
                let streams: Vec<_> = self.handle.0.mailbox.lock().streams.iter().cloned().collect();
                streams.iter().for_each(|stream| stream.handle_eof());
            }
            return None;
        };
        Some(self.route_packet(deferred))
    }

    /// Returns the index of the oldest deferred request that may be routed although the outbox is full, because its
    /// reply is expected to be short and to overtake the pending ones.
    #[cold]
    pub(super) fn find_short(&mut self) -> Option<usize> {
        let shared = &self.handle.0;
        if matches!(self.departure, OutgoingHandOff::AtPacketEnd(_)) || shared.mailbox.account.is_over() {
            return None;
        }
        self.core.outbox().short_len().filter(|length| *length < self.output.limit(SHORT_BACKLOG_MAX))?;
        shared.deferred.find(|operation| self.core.is_short_call(operation))
    }

    fn route_packet(&mut self, DeferredPacket { packet, opens, .. }: DeferredPacket) -> (Routed, usize) {
        let length = packet.body.len();
        let next = match packet.operation {
            Operation::STREAM if opens => self.open_stream(packet.id, packet.body),
            Operation::STREAM => self.handle_stream(packet.id, packet.body),
            operation if operation.is_reserved() => self.handle_control(packet),
            _ => self.handle_packet(packet),
        };
        (next, length)
    }

    /// Takes the next event from the input, and handles it or defers its packet. Returns `None` if there is no event,
    /// or if the event may not be examined yet.
    fn route_urgent(&mut self, now: Instant) -> Result<Option<(Routed, usize)>, CloseReason> {
        if self.is_stuck() {
            return Ok(None);
        }
        let before = self.core.outbox().len();
        let Some(event) = self.core.poll_event(&mut self.unrouted, now)? else { return Ok(None) };
        if self.body_charge > 0 {
            self.release_body();
        }
        let length = event.body_len();
        let Some(event) = self.defer(event) else { return Ok(Some((Routed::Continue, length))) };
        let next = self.handle_event(event);
        let added = self.core.outbox().len().saturating_sub(before);
        // Count output that exceeds the full backlog towards the limit of deferred packets. Otherwise, a peer could
        // grow the outbox without bound.
        if added > 0 {
            self.handle.0.deferred.add(added);
        }
        Ok(Some((next, length)))
    }

    /// Defers the packet of an event if routing it needs space in the outbox. Returns any other event.
    fn defer(&mut self, event: Event) -> Option<Event> {
        let (packet, opens) = match event {
            Event::Packet(packet) if packet.operation == Operation::STREAM => {
                match self.must_defer(packet.id, &packet.body) {
                    Some(opens) => (packet, opens),
                    None => return Some(Event::Packet(packet)),
                }
            }
            Event::Packet(packet) => (packet, false),
            // Control packets must not overtake deferred messages of their stream.
            Event::Control(packet) if packet.stream().is_some_and(|id| self.handle.0.deferred.has_stream(id)) => {
                (packet, false)
            }
            event => return Some(event),
        };
        let mut overflow = OverflowPolicy::Wait;
        if let Some(session) = self.session.as_ref().filter(|_| opens || !packet.operation.is_reserved()) {
            overflow = self.router.overflow(session, &packet);
        }
        if overflow == OverflowPolicy::Route && !opens {
            return Some(Event::Packet(packet));
        }
        let deferred = DeferredPacket { packet, opens, stops: overflow == OverflowPolicy::Stop };
        self.handle.0.deferred.push(deferred, &self.handle.0.mailbox.account);
        None
    }

    /// Returns `Some` if a packet of a stream must be deferred: it opens the stream, or earlier packets of the stream
    /// are deferred. The value states whether the packet opens the stream.
    fn must_defer(&mut self, id: PacketId, body: &Bytes) -> Option<bool> {
        let shared = &self.handle.0;
        if shared.deferred.has_stream(id) {
            return Some(false);
        }
        let inner = shared.mailbox.lock();
        let (is_open, native) = (inner.streams.get(id).is_some(), inner.peer.hello().is_some());
        drop(inner);
        // A late packet opens no stream and is ignored immediately: its sender did not know of the stream's end yet.
        (!is_open && self.opens_stream(id, body, native)).then_some(true)
    }
}
