//! Packets of streams: those that are open, and those that the peer opens.

use super::Engine;
use crate::stream::{RESOURCE_EXHAUSTED, Stream, StreamShared};
use crate::{CloseReason, Operation, PacketId, Protocol, ProtocolError, Routed};
use bytes::Bytes;
use frisbee_core::{BatchSize, StreamSignal};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Why a stream is reset that received more than its memory or credit allows.
pub(super) const NO_ROOM: &str = "the memory limit for unread messages of the stream is reached";

impl<R: Protocol> Engine<R> {
    #[inline(always)] // Its one caller that matters is that of each message.
    pub(super) fn handle_stream(&mut self, id: PacketId, body: Bytes) -> Routed {
        // Messages of one stream are often consecutive. Invariant: `last` receives messages only while it is in the
        // table. A stream that is over there returns the body, and the table decides; so a later stream with its id
        // gets its own.
        let body = match &self.last_stream {
            Some(stream) if stream.id() == id && !body.is_empty() => match stream.handle_packet(body) {
                Ok(StreamSignal::Nothing) => return Routed::Continue,
                Ok(signal) => return self.leave_stream(signal),
                Err(body) => body,
            },
            _ => body,
        };
        let inner = self.handle.0.mailbox.lock();
        let rich = inner.peer.hello().is_some();
        if let Some(stream) = inner.streams.get(id).cloned() {
            drop(inner);
            let signal = if body.is_empty() && !rich {
                stream.handle_close();
                StreamSignal::Nothing
            } else {
                // A message after the end of its direction is dropped.
                stream.handle_packet(body).unwrap_or(StreamSignal::Nothing)
            };
            self.last_stream = Some(stream);
            return self.leave_stream(signal);
        }
        drop(inner);
        if self.opens_stream(id, &body, rich) { self.open_stream(id, body) } else { Routed::Continue }
    }

    /// Routes several messages of a stream. They open none: the packet that does has a message of another kind.
    pub(super) fn handle_batch(&mut self, id: PacketId, body: &Bytes) -> Routed {
        let Some(size) = BatchSize::of(body) else {
            return Routed::Close(CloseReason::Protocol(ProtocolError::Malformed(Operation::BATCH)));
        };
        // As in `handle_stream`.
        let last = self.last_stream.as_ref().filter(|stream| stream.id() == id);
        match last.and_then(|stream| stream.handle_batch(body, &size)) {
            // It may have been thousands.
            Some(StreamSignal::Nothing) => Routed::Slow,
            Some(signal) => self.leave_stream(signal),
            None => {
                let stream = self.handle.0.mailbox.lock().streams.get(id).cloned();
                let Some(stream) = stream else { return Routed::Continue };
                let signal = stream.handle_batch(body, &size).unwrap_or(StreamSignal::Nothing);
                self.last_stream = Some(stream);
                self.leave_stream(signal)
            }
        }
    }

    /// Whether a packet of a stream that is not open opens it. Must be called in the order of arrival.
    pub(super) fn opens_stream(&mut self, id: PacketId, body: &Bytes, rich: bool) -> bool {
        // A close or a message that crossed this end's close opens none. A Go client takes its ids from several
        // counters, and may use one again at once.
        !body.is_empty() && (!rich || self.openings.handle(id))
    }

    /// Opens a stream that the peer opens by this packet.
    pub(super) fn open_stream(&mut self, id: PacketId, body: Bytes) -> Routed {
        let mut inner = self.handle.0.mailbox.lock();
        let rich = inner.peer.hello().is_some();
        // A stream that is opened and closed in a loop keeps its slot until its last handle is dropped. Streams whose
        // handles are about to be dropped count up to as many again, so that a peer that keeps to the limit is not
        // refused by chance.
        let guests = self.handle.0.guests.load(Ordering::Relaxed);
        let most = self.handle.0.streams_max;
        let is_full = inner.streams.opened_by_peer() >= most as usize || guests >= most.saturating_mul(2);
        if is_full || self.handle.is_overloaded() {
            drop(inner);
            self.handle.count_rejected();
            let why = if is_full { "too many streams" } else { NO_ROOM };
            let signal = if rich { StreamSignal::Refuse } else { StreamSignal::Close };
            signal.put(self.core.outbox(), id, RESOURCE_EXHAUSTED, why);
            return if is_full { Routed::Useless } else { Routed::Continue };
        }
        let shared = Arc::new(StreamShared::new(id, &self.handle.0, &inner.peer, false));
        if !inner.streams.enter_opened_by_peer(shared.clone()) {
            // A compat peer and this end have opened streams of one id: this end did so while the opening was deferred.
            drop(inner);
            return self.handle_stream(id, body);
        }
        drop(inner);
        let stream = Stream::new(self.handle.0.clone(), shared);
        let Some(session) = &mut self.session else { return Routed::Continue };
        self.router.stream(session, body, stream)
    }

    /// Forgets the last stream if it is over, and sends the peer the reason.
    fn leave_stream(&mut self, signal: StreamSignal) -> Routed {
        if let Some(stream) = self.last_stream.take_if(|stream| stream.is_over()) {
            self.handle.0.mailbox.leave_stream(&stream);
            signal.put(self.core.outbox(), stream.id(), RESOURCE_EXHAUSTED, NO_ROOM);
        }
        Routed::Continue
    }
}
