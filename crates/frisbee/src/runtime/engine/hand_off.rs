//! Hand-off in the engine: the request, the peer's or router's decision, and the transfer of the transport.

use super::{Engine, ReadMode};
use crate::clock::now;
use crate::connection::ConnectionExt;
use crate::connection::hand_off::HandOffRequest;
use crate::log_limit::LineLimit;
use crate::mailbox::HandOffState;
use crate::mailbox::hand_off::{HandOffAccepted, HandOffStep, HandOffTarget};
use crate::{CloseReason, HandOffError, Routed, Router};
use bytes::Bytes;
use frisbee_core::{HandOffAnswer, HandOffEvent, TooLong};
use std::time::Instant;
use tokio::runtime::Handle;

/// Progress of handing off this end's transport to another owner.
pub(super) enum OutgoingHandOff {
    None,
    /// The transport will be handed off once the current packet has been received and all deferred requests have been
    /// routed.
    AtPacketEnd(Box<HandOffTarget>),
    /// The hand-off has been accepted, and the handles of the connection report it as closed. After writing the pending
    /// bytes, the driver passes the transport to its new owner. Contains the new owner and the bytes already read from
    /// the transport.
    Decided(Box<(HandOffTarget, Bytes)>),
}

impl<R: Router> Engine<R> {
    /// Handles a hand-off event that the peer caused.
    #[cold]
    pub(super) fn handle_hand_off(&mut self, event: HandOffEvent) -> Routed {
        match event {
            HandOffEvent::Requested { operation, body } => {
                // Check and set the state under one lock. Otherwise, a handle could open a stream or request a hand-off
                // in between.
                let mut inner = self.handle.0.mailbox.lock();
                let is_free = inner.hand_off_state == HandOffState::No && inner.streams.is_empty();
                let is_free = is_free && self.handle.0.work.len() == 0 && self.handle.0.deferred.is_empty();
                if is_free {
                    inner.hand_off_state = HandOffState::Undecided;
                }
                drop(inner);
                if !is_free {
                    self.answer(HandOffAnswer::Busy, &Bytes::new());
                    return Routed::Discarded;
                }
                let Some(session) = &mut self.session else { return Routed::Continue };
                self.router.hand_off(session, HandOffRequest::new(self.handle.clone(), operation, body))
            }
            HandOffEvent::Abandoned => {
                self.handle.0.mailbox.set_hand_off_state(HandOffState::Abandoned);
                Routed::Discarded
            }
            HandOffEvent::Answered { answer, body } => {
                let Some(asking) = self.asking.take() else { return Routed::Continue };
                let error = match answer {
                    HandOffAnswer::Accepted => {
                        // If the caller no longer waits, `answer` drops the transport, which closes it.
                        let accepted = |transport| asking.answer(Ok(HandOffAccepted { reply: body, transport }));
                        self.depart(HandOffTarget::at_once(accepted), &CloseReason::HandedOff);
                        return Routed::Continue;
                    }
                    HandOffAnswer::Busy => HandOffError::Busy,
                    HandOffAnswer::NotServed => HandOffError::NotServed,
                    _ => HandOffError::Refused(body),
                };
                // Reset the state before the caller is woken, because it may immediately send or make another request.
                self.handle.0.mailbox.set_hand_off_state(HandOffState::No);
                asking.answer(Err(error));
                Routed::Continue
            }
        }
    }

    /// Carries out a hand-off step that a handle requested. If the step is a request, [`request`] has already encoded
    /// it into the outbox, and `encoded` is the result.
    #[cold]
    pub(super) fn decide(&mut self, step: HandOffStep, encoded: Result<(), TooLong>) {
        match step {
            HandOffStep::Request { asking, .. } => match encoded {
                Ok(()) => self.asking = Some(Box::new(asking)),
                Err(error) => {
                    // Reset the state before the caller is woken, because it may immediately send or make another
                    // request.
                    self.handle.0.mailbox.set_hand_off_state(HandOffState::No);
                    asking.answer(Err(HandOffError::TooLong(error)));
                }
            },
            // Cancel only a request that has been sent and whose caller no longer waits. Its reply may already have
            // arrived, or another request may have been sent.
            HandOffStep::GiveUp => {
                if let Some(asking) = self.asking.as_ref().filter(|asking| asking.is_abandoned()) {
                    self.core.give_up_hand_off(asking.operation);
                }
            }
            HandOffStep::Leave(take_over) => self.leave(take_over),
            HandOffStep::Decide { answer, reply, take_over } => {
                let mut inner = self.handle.0.mailbox.lock();
                let is_abandoned = inner.hand_off_state == HandOffState::Abandoned || self.core.is_mid_packet();
                inner.hand_off_state = HandOffState::No;
                let is_free = inner.closed.is_none() && inner.streams.is_empty();
                drop(inner);
                match take_over {
                    // The peer has cancelled its request and would close the transport, so refuse. An incomplete packet
                    // also shows this, because no packet may follow a pending request.
                    Some(_) if is_abandoned => drop(self.answer(HandOffAnswer::Refused, &Bytes::new())),
                    Some((take_over, _)) if is_free => {
                        if self.answer(answer, &reply) {
                            self.depart(take_over, &CloseReason::HandedOff);
                        }
                    }
                    Some((_, Some(refusal))) => drop(self.answer(HandOffAnswer::Refused, &refusal)),
                    Some((_, None)) => drop(self.answer(HandOffAnswer::Busy, &Bytes::new())),
                    None => drop(self.answer(answer, &reply)),
                }
            }
        }
    }

    /// Replies to a hand-off request of the peer. Refuses the hand-off and returns `false` if the reply is too long.
    fn answer(&mut self, answer: HandOffAnswer, reply: &Bytes) -> bool {
        let answered = self.core.answer_hand_off(answer, reply, now());
        if let Err(error) = &answered {
            static LINE: LineLimit = LineLimit::new();
            if let Some(suppressed) = LINE.may_say(now()) {
                let peer = self.handle.peer_addr();
                tracing::warn!(target: "frisbee::connection", ?peer, %error, suppressed, "hand-off refused: reply too long");
            }
            let refused = self.core.answer_hand_off(HandOffAnswer::Refused, &Bytes::new(), now());
            debug_assert!(refused.is_ok(), "short packet should be within every limit");
        }
        answered.is_ok()
    }

    /// Passes the transport to a new owner without notifying the peer, either immediately or when the current packet
    /// has been received.
    #[cold]
    pub(super) fn leave(&mut self, take_over: HandOffTarget) {
        // Take the handles' packets now, because they must be written before the new owner writes to the transport.
        if !self.messages_are_held {
            self.handle.collect(self.core.outbox());
        }
        // Wait while packets are deferred, because the new owner would not receive them.
        if self.handle.0.deferred.is_empty() && self.core.leave() {
            self.depart(take_over, &CloseReason::HandedOff);
        } else if !self.core.has_left() {
            self.departure = OutgoingHandOff::AtPacketEnd(Box::new(take_over));
        }
    }

    /// Passes a connection to the protocol adapter that accepts its first bytes. Returns `false` if no adapter does.
    #[cold]
    pub(super) fn leave_to_adapter(&mut self) -> bool {
        // Do not offer the middle of a header, because the remaining bytes may look like another protocol.
        let pending = self.pending_handshake.as_ref().filter(|_| !self.core.is_mid_packet());
        let take_over =
            pending.and_then(|pending| pending.list.adapters.find(&self.unrouted, &self.handle, pending.allowed));
        let Some(take_over) = take_over else { return false };
        let has_left = self.core.leave_unread();
        debug_assert!(has_left, "no byte of a header should have been read");
        self.pending_handshake = None;
        self.depart(take_over, &CloseReason::OtherProtocol);
        true
    }

    /// Returns whether the transport will be handed off when the current packet has been received.
    #[inline]
    pub(super) fn is_leaving(&self) -> bool {
        matches!(self.departure, OutgoingHandOff::AtPacketEnd(_))
    }

    /// Decodes the rest of a discarded packet, but no bytes behind it, because they belong to the new owner of the
    /// transport. `missing` bytes of the packet have not been decoded.
    #[cold]
    pub(super) fn route_discarded(&mut self, missing: usize, now: Instant) -> Result<(), CloseReason> {
        let mut rest = self.unrouted.split_to(missing.min(self.unrouted.len()));
        let event = self.core.poll_event(&mut rest, now)?;
        debug_assert!(event.is_none() && rest.is_empty(), "discarded packet should cause no event");
        Ok(())
    }

    /// Completes a postponed hand-off. Called when no packet is partially received and none is deferred.
    #[cold]
    pub(super) fn leave_later(&mut self) {
        if let OutgoingHandOff::AtPacketEnd(take_over) = std::mem::replace(&mut self.departure, OutgoingHandOff::None) {
            self.leave(*take_over);
        }
    }

    /// Returns whether the transport already belongs to another owner.
    #[inline]
    pub(super) fn has_departed(&self) -> bool {
        matches!(self.departure, OutgoingHandOff::Decided(_))
    }

    /// Ends the connection for its handles. The transport is passed to its new owner once the pending bytes have been
    /// written.
    fn depart(&mut self, take_over: HandOffTarget, reason: &CloseReason) {
        self.reading = ReadMode::Stopped;
        self.departure = OutgoingHandOff::Decided(Box::new((take_over, std::mem::take(&mut self.unrouted))));
        self.end(reason);
    }

    /// Returns the bytes received after the last packet, the new owner of the transport, and the runtime of this owner.
    pub(crate) fn hand_over(&mut self) -> Option<(Bytes, HandOffTarget, Handle)> {
        let OutgoingHandOff::Decided(decided) = std::mem::replace(&mut self.departure, OutgoingHandOff::None) else {
            return None;
        };
        let (take_over, early) = *decided;
        Some((early, take_over, self.handle.0.runtime.clone()))
    }
}

/// Encodes a hand-off request for the peer into the outbox, if the step is a request. The mailbox is locked, so this
/// must not wake or drop anything.
#[cold]
pub(super) fn request(core: &mut frisbee_core::Connection, step: &mut HandOffStep) -> Result<(), TooLong> {
    let HandOffStep::Request { before, request, asking } = step else { return Ok(()) };
    core.outbox().append(before);
    core.request_hand_off(asking.operation, request, now())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Connection, Handlers, Operation, Outbox, Packet, Router, Server};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::sync::mpsc;

    /// Returns an encoded packet with this operation and body, and the id 0.
    fn packet(operation: u16, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len()).expect("test body length should fit into u32");
        [&[0, 15, 0, 0], &operation.to_be_bytes()[..], &length.to_be_bytes(), body].concat()
    }

    const HELLO: &[u8] = b"fris\x01";

    #[tokio::test]
    async fn bytes_after_grant_reach_new_owner() {
        let (here, mut there) = crate::memory();
        let connection =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        let asking = tokio::spawn(async move { connection.hand_off(Operation::FIRST_USER, "").await });
        there.write_all(&packet(3, HELLO)).await.expect("HELLO should be written");
        let request = packet(8, &[10]);
        let mut received = Vec::new();
        while !received.ends_with(&request) {
            received.push(there.read_u8().await.expect("connection should be open"));
        }
        there
            .write_all(&[packet(8, b"\x01granted"), b"raw".to_vec()].concat())
            .await
            .expect("peer should be able to write its reply");
        drop(there);
        let mut raw =
            asking.await.expect("hand-off task should not panic").expect("peer should accept the hand-off").transport;
        let mut read = Vec::new();
        raw.read_to_end(&mut read).await.expect("client should close the transport cleanly");
        assert_eq!(read, b"raw");
    }

    /// Regression test: a hand-off request failed only after the closing connection had flushed and lingered.
    #[tokio::test(start_paused = true)]
    async fn close_fails_pending_request_at_once() {
        let (here, mut there) = crate::memory();
        let connection =
            Client::builder().connect_io(here, Handlers::new()).await.expect("in-memory connection should be accepted");
        there.write_all(&packet(3, HELLO)).await.expect("peer should be able to write its HELLO");
        connection.peer_known().await.expect("peer should be known");
        let asking = connection.clone();
        let asking = tokio::spawn(async move { asking.hand_off(Operation::FIRST_USER, "").await });
        let request = packet(8, &[10]);
        let mut received = Vec::new();
        while !received.ends_with(&request) {
            received.push(there.read_u8().await.expect("client should send its request"));
        }
        let started = tokio::time::Instant::now();
        connection.close();
        let refused = asking.await.expect("hand-off task should not panic");
        assert!(matches!(refused, Err(HandOffError::Closed(_))), "{:?}", refused.err());
        assert_eq!(started.elapsed(), std::time::Duration::ZERO);
    }

    /// Router that takes the transport from each connection after its first packet.
    struct Leaving(mpsc::UnboundedSender<Vec<u8>>);

    impl Router for Leaving {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            let calls = self.0.clone();
            Routed::HandOff(HandOffTarget::new(async move |mut raw| {
                let mut read = Vec::new();
                raw.read_to_end(&mut read).await.expect("client should close the transport cleanly");
                calls.send(read).expect("receiver of the bytes should not be dropped");
            }))
        }
    }

    #[tokio::test]
    async fn bytes_after_last_packet_reach_new_owner() {
        let (calls, mut read) = mpsc::unbounded_channel();
        let acceptor = Server::builder().build(Leaving(calls)).unwrap();
        let (mut here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let raw = [0, 15, 0, 1];
        here.write_all(&[packet(3, HELLO), packet(10, b"last"), raw.to_vec()].concat())
            .await
            .expect("client should be able to write");
        here.shutdown().await.expect("client should be able to shut down");
        assert_eq!(read.recv().await.expect("new owner of the socket should report the received bytes"), raw);
    }

    /// Router that keeps each hand-off request and never replies to it.
    struct Pondering(mpsc::UnboundedSender<HandOffRequest>);

    impl Router for Pondering {
        type Session = ();

        fn connected(&self, _connection: &Connection) {}

        fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
            Routed::Continue
        }

        fn hand_off(&self, (): &mut (), request: HandOffRequest) -> Routed {
            self.0.send(request).expect("receiver of the request should not be dropped");
            Routed::Continue
        }
    }

    #[tokio::test]
    async fn undecided_request_is_charged_until_dropped() {
        const LENGTH: usize = 50_000;
        let (requests, mut requested) = mpsc::unbounded_channel();
        let acceptor = Server::builder().build(Pondering(requests)).expect("server settings should be valid");
        let (mut here, there) = crate::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let request = [packet(3, HELLO), packet(8, &[&[10][..], &[0; LENGTH]].concat())].concat();
        here.write_all(&request).await.expect("client should be able to write its request");
        let undecided = requested.recv().await.expect("server should receive the request");
        let connection = undecided.connection().clone();
        assert!(connection.memory_held() >= LENGTH, "connection holds {} bytes", connection.memory_held());
        drop(undecided);
        assert!(connection.memory_held() < LENGTH, "connection holds {} bytes", connection.memory_held());
    }

    /// Router that sends its last packet through a connection handle and then takes the transport.
    struct Parting;

    impl Router for Parting {
        type Session = Connection;

        fn connected(&self, connection: &Connection) -> Connection {
            connection.clone()
        }

        fn route(&self, connection: &mut Connection, packet: Packet, _outbox: &mut Outbox) -> Routed {
            let sent = connection.send_now(|outbox| outbox.push(packet.id, packet.operation, "last"));
            sent.expect("connection should be open").expect("packet should be within the maximum body size");
            match &*packet.body {
                b"close" => Routed::close("it is over"),
                _ => Routed::HandOff(HandOffTarget::new(async |_| ())),
            }
        }
    }

    #[tokio::test]
    async fn handle_packet_precedes_end_by_router() {
        for end in ["close", "leave"] {
            let acceptor = Server::builder().build(Parting).expect("server settings should be valid");
            let (mut here, there) = crate::memory();
            tokio::spawn(async move { acceptor.serve_connection(there).await });
            here.write_all(&[packet(3, HELLO), packet(10, end.as_bytes())].concat())
                .await
                .expect("client should be able to write");
            let mut read = Vec::new();
            here.read_to_end(&mut read).await.expect("server should close the connection cleanly");
            let mut expected = packet(10, b"last");
            if end == "close" {
                // A CLOSE packet with the code for router errors and the text of the router.
                expected.extend([0, 15, 0, 4, 0, 3, 0, 0, 0, 11, 2]);
                expected.extend(b"it is over");
            }
            assert!(read.ends_with(&expected), "{end}");
        }
    }
}
