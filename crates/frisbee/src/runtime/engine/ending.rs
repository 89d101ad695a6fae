//! The end of a connection: close orders, the exchange of GOING_AWAY, and work in progress.

use super::{Engine, PANICKED, ReadMode, Routing, log_panic};
use crate::clock::now;
use crate::connection::ConnectionExt;
use crate::log_limit::LineLimit;
use crate::mailbox::{HandOffState, Order};
use crate::{CloseReason, ConnectionEvent, Operation, PacketId, Router};
use frisbee_core::{PeerKind, Role};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

/// State of the GOING_AWAY exchange. With GOING_AWAY, a server announces that it will close the connection once it is
/// idle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum GoingAway {
    Unsaid,
    /// The server has sent GOING_AWAY. The client will close the connection or reply.
    Sent,
    /// The client has replied to the server's GOING_AWAY. All packets that the client had sent before have arrived.
    Received,
    /// The client has received GOING_AWAY. It will reply after the packets that its handles have sent so far.
    Due,
    /// The client has sent its reply to GOING_AWAY.
    Answered,
}

impl<R: Router> Engine<R> {
    /// Returns whether the connection will close, because this end has requested it or the peer has shut down its
    /// sending half.
    #[inline]
    pub(crate) fn is_ending(&self) -> bool {
        self.order.is_some() || self.reading == ReadMode::HalfClosed || self.has_departed()
    }

    /// Takes the command to close the connection, if a handle has issued one and the driver can carry it out now.
    #[cold]
    pub(crate) fn take_order(&mut self) -> Result<Option<Order>, CloseReason> {
        if self.has_departed() {
            return Ok(self.core.is_handed_off().then_some(Order::HandOver));
        }
        // Report that the peer has closed the connection, even if this end was about to, because the peer has closed
        // its half first.
        let closes_when_idle = matches!(self.order.as_deref(), None | Some(Order::WhenIdle(_)));
        if self.reading == ReadMode::HalfClosed && closes_when_idle && self.is_idle() {
            return Ok(Some(Order::Flush(CloseReason::ClosedByPeer)));
        }
        if matches!(self.order.as_deref(), Some(Order::WhenIdle(_))) {
            // Send GOING_AWAY first, because the peer may send requests until it receives GOING_AWAY. Those requests
            // are served.
            let sends_going_away = self.core.role() == Role::Server && matches!(self.core.peer(), PeerKind::Native(_));
            // Do not close before a new client's first packet has arrived or timed out, because the packet may be in
            // flight.
            let may_begin = self.pending_handshake.is_some() && self.reading == ReadMode::Open;
            if may_begin || sends_going_away && !self.received_going_away() || !self.is_idle() || self.is_busy()? {
                return Ok(None);
            }
        }
        if matches!(self.order.as_deref(), Some(Order::Flush(_))) {
            if !self.messages_are_held {
                // Packets that handles sent before the request to close must be written first.
                self.handle.collect(self.core.outbox());
            } else if !self.handle.0.mailbox.lock().outbox.is_empty() {
                // Wait, because packets of handles remain in the mailbox until the peer's header format is known. That
                // wait has its own timeout.
                return Ok(None);
            }
        }
        Ok(self.order.take().map(|order| *order))
    }

    /// Takes the command to close the connection immediately, if a handle has issued one.
    #[inline]
    pub(crate) fn take_abort(&mut self) -> Option<Order> {
        self.order.take_if(|order| matches!(**order, Order::Now(_))).map(|order| *order)
    }

    /// Returns whether the driver waits for the peer to read the last bytes without the usual timeout. This is the case
    /// after the peer has replied to GOING_AWAY, because the peer then closes the connection.
    pub(crate) fn waits_for_peer(&self) -> bool {
        self.goodbye == GoingAway::Received
    }

    /// Returns whether the driver sends a CLOSE packet when a connection is closed immediately for `reason`.
    pub(crate) fn sends_reason(&self, reason: &CloseReason) -> bool {
        let is_native = matches!(self.core.peer(), PeerKind::Native(_));
        is_native && matches!(reason, CloseReason::Protocol(_) | CloseReason::TooSlow | CloseReason::Router(_))
    }

    /// Returns whether a handle has requested an immediate close while the driver is writing the last bytes.
    pub(crate) fn is_aborted(&self) -> bool {
        let mailbox = &self.handle.0.mailbox;
        // Locking also clears the notification. Only an abort matters in this phase, because the mailbox is closed, and
        // a later abort sets the notification again.
        mailbox.is_notified() && matches!(mailbox.lock_by_task().order.as_deref(), Some(Order::Now(_)))
    }

    /// Sends GOING_AWAY to the peer, unless it was sent before. Returns whether the peer has replied.
    fn received_going_away(&mut self) -> bool {
        if self.goodbye == GoingAway::Unsaid {
            self.send_going_away();
            self.goodbye = GoingAway::Sent;
        }
        self.goodbye == GoingAway::Received
    }

    #[cold]
    pub(super) fn send_going_away(&mut self) {
        let sent = self.core.outbox().packet(PacketId(0), Operation::GOING_AWAY).finish();
        debug_assert!(sent.is_ok(), "short packet should be within every limit");
    }

    /// Returns whether the router has work in progress on this connection.
    fn is_busy(&mut self) -> Result<bool, CloseReason> {
        let runtime = self.handle.0.runtime.clone();
        let _entered = runtime.enter();
        self.guarded(|engine| {
            let mut event = ConnectionEvent::Closing { is_busy: false };
            if let Some(session) = &mut engine.session {
                engine.router.event(session, &mut event);
            }
            matches!(event, ConnectionEvent::Closing { is_busy: true })
        })
    }

    /// Returns whether the connection has no calls, streams or other work in progress.
    pub(super) fn is_idle(&mut self) -> bool {
        self.core.outbox().is_empty()
            && !self.batch_when_written
            && !self.core.is_mid_packet()
            && !self.has_input()
            && self.routing != Routing::Deferring
            && self.handle.0.work.len() == 0
            // Check the mailbox last, because this takes its lock.
            && {
                let inner = self.handle.0.mailbox.lock();
                inner.outbox.is_empty() && inner.streams.is_empty() && inner.hand_off_state == HandOffState::No
            }
    }

    /// Returns the reason why the connection has ended.
    pub(crate) fn reason(&self) -> CloseReason {
        self.handle.close_reason().unwrap_or(CloseReason::Local)
    }

    /// Ends the connection for all its handles. Calls after the first one have no effect.
    pub(crate) fn end(&mut self, reason: &CloseReason) {
        let Some(session) = self.session.take() else { return };
        if matches!(reason, CloseReason::Router(text) if **text == *PANICKED) {
            log_panic(&self.handle);
        }
        // An adapter connection stays open, so it still counts as a connection.
        if !self.handle.0.is_within && !matches!(reason, CloseReason::OtherProtocol) {
            self.handle.0.mailbox.account.budget().counts.count_closed(self.handle.peer_addr(), reason, Instant::now());
        }
        let now = now();
        self.handle.0.mailbox.account.leave_debt(self.core.abuse_debt(now), now);
        // Close the mailbox before the jobs are aborted, so that nothing is sent on behalf of an aborted job.
        self.handle.0.mailbox.close(reason);
        self.handle.0.work.abort();
        let (router, runtime) = (&self.router, &self.handle.0.runtime);
        let ended = catch_unwind(AssertUnwindSafe(|| {
            let _entered = runtime.enter();
            router.disconnected(session, reason);
        }));
        if ended.is_err() {
            static LINE: LineLimit = LineLimit::new();
            if let Some(suppressed) = LINE.may_say(Instant::now()) {
                let peer = self.handle.peer_addr();
                tracing::error!(target: "frisbee::connection", ?peer, suppressed, "a router panicked in `disconnected`");
            }
        }
        let _entered = runtime.enter();
        let attachments = &self.handle.0.attachments;
        // Run these functions after `disconnected`, as documented for `Connection::on_close`.
        attachments.run_on_close(reason);
        // The values of an adapter connection are dropped with its `AdapterContext`.
        if !matches!(reason, CloseReason::OtherProtocol) {
            attachments.drop_values();
        }
        // Fail a pending hand-off request now, because the driver may still flush and linger for a while.
        self.asking = None;
    }
}
