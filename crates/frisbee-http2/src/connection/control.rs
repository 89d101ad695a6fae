//! Handling of frames that concern the whole connection, and of frames that change a stream but are not part of a
//! message.

use super::timeouts::Shutdown;
use super::{Connection, Step};
use crate::error::ConnectionError;
use crate::frame::{self, FrameHead, flag};
use crate::streams::StreamSlot;
use crate::{ErrorCode, Event};
use bytes::Bytes;
use frisbee_core::Role;
use frisbee_core::cost;

/// Maximum number of bytes that are kept of the debug data in a GOAWAY frame.
const DEBUG_MAX: usize = 256;

impl Connection {
    pub(super) fn handle_settings(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        if head.has(flag::ACK) {
            // Charge an ACK without an outstanding SETTINGS frame, because it is useless.
            if self.acknowledged_by.take().is_none() {
                self.abuse.charge(head.size(), cost::FRAME);
            }
            return Ok(());
        }
        if self.has_settings {
            // Later SETTINGS may change the window of every stream, so their cost depends on the number of streams.
            let streams = cost::SETTINGS_STREAM.saturating_mul(self.streams.len() as u64);
            self.abuse.charge(head.size(), cost::SETTINGS.saturating_add(streams));
        }
        self.has_settings = true;
        self.opened_by = None;
        let window = self.peer.initial_window;
        self.peer.apply(payload, self.role == Role::Client)?;
        // A frame may contain the setting several times. RFC 7541, section 4.2, requires the smallest value to be
        // signaled too, because the peer has evicted entries at that value.
        self.encoder.set_size_max(self.peer.header_table_least);
        self.encoder.set_size_max(self.peer.header_table_size);
        let change = i64::from(self.peer.initial_window).saturating_sub(window.into());
        if change != 0 {
            self.change_windows(change)?;
        }
        // Acknowledge after the values have been applied, as section 6.5.3 requires.
        frame::put_settings_ack(self.output.framed());
        self.settings_acks = self.settings_acks.saturating_add(1);
        // Remember where this acknowledgement ends in the output. The count of unwritten acknowledgements limits
        // reading. It is reset when the output has been written up to this position.
        self.acks_end = self.written.saturating_add(self.output.len() as u64);
        Ok(())
    }

    /// Changes the windows of all streams. Section 6.9.2: "When the value of SETTINGS_INITIAL_WINDOW_SIZE changes, a
    /// receiver MUST adjust the size of all stream flow-control windows that it maintains by the difference between the
    /// new value and the old value."
    fn change_windows(&mut self, change: i64) -> Result<(), ConnectionError> {
        for (number, slot) in self.streams.iter_mut() {
            slot.send.change(change)?;
            if slot.is_ready() && !slot.is_scheduled {
                slot.is_scheduled = true;
                self.scheduler.add(number);
            }
        }
        self.wake_waiting();
        Ok(())
    }

    pub(super) fn handle_ping(&mut self, head: FrameHead, payload: &[u8]) -> Result<Step, ConnectionError> {
        let payload = payload.first_chunk().copied().unwrap_or_default();
        if !head.has(flag::ACK) {
            self.abuse.charge_ping(head.size());
            // Section 6.7: "Receivers of a PING frame that does not include an ACK flag MUST send a PING frame with the
            // ACK flag set in response, with an identical frame payload."
            frame::put_ping(self.output.framed(), flag::ACK, payload);
            self.ping_acks = self.ping_acks.saturating_add(1);
            self.acks_end = self.written.saturating_add(self.output.len() as u64);
            return Ok(Step::Progress);
        }
        match payload {
            super::timeouts::SHUTDOWN_PING if matches!(self.shutdown, Shutdown::Announced { .. }) => {
                self.finish_shutdown();
            }
            super::send::PING if std::mem::take(&mut self.has_pinged) => return Ok(Step::Event(Event::Pong)),
            _ => self.abuse.charge(head.size(), cost::FRAME),
        }
        Ok(Step::Progress)
    }

    pub(super) fn handle_go_away(&mut self, payload: &[u8]) -> Result<Step, ConnectionError> {
        let (fields, debug) = payload.split_at_checked(8).unwrap_or_default();
        let last = fields.get(..4).and_then(frame::number).unwrap_or(0) & frame::WINDOW_MAX;
        let code = ErrorCode(fields.get(4..).and_then(frame::number).unwrap_or(0));
        // Section 6.8: "Endpoints MUST NOT increase the value they send in the last stream identifier".
        if self.peer_last.is_some_and(|before| last > before) {
            return Err(ConnectionError::protocol("GOAWAY increases the last stream id"));
        }
        if self.peer_last.replace(last).is_some() {
            self.abuse.charge(9, cost::FRAME);
        }
        if self.role == Role::Client {
            // The server has not processed the streams above the last id.
            self.cut_off(ErrorCode::REFUSED_STREAM, |slot| slot.id > last);
        }
        let debug = Bytes::copy_from_slice(debug.get(..debug.len().min(DEBUG_MAX)).unwrap_or_default());
        Ok(Step::Event(Event::GoAway { code, debug }))
    }

    /// Removes the selected streams, and reports them as reset.
    pub(super) fn cut_off(&mut self, code: ErrorCode, is_selected: impl Fn(&StreamSlot) -> bool) {
        let selected = self.streams.iter_mut().filter(|(_, slot)| is_selected(slot));
        let selected: Vec<_> = selected.map(|(number, slot)| slot.key(number)).collect();
        for stream in selected {
            self.remove(stream.slot);
            self.events.push_back(Event::Reset { stream, code });
        }
    }

    pub(super) fn handle_window_update(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        self.abuse.charge_window_update(head.size());
        let credit = frame::number(payload).unwrap_or(0) & frame::WINDOW_MAX;
        // Section 6.9: "A receiver MUST treat the receipt of a WINDOW_UPDATE frame with a flow-control window increment
        // of 0 as a stream error of type PROTOCOL_ERROR; errors on the connection flow-control window MUST be treated
        // as a connection error."
        if credit == 0 {
            return Err(ConnectionError::protocol("WINDOW_UPDATE of 0"));
        }
        if head.stream == 0 {
            self.send_window.change(credit.into())?;
            self.wake_waiting();
            return Ok(());
        }
        let Some(number) = self.streams.find(head.stream) else { return self.expect_closed(head.stream) };
        let Some(slot) = self.streams.slot(number) else { return Ok(()) };
        if let Err(error) = slot.send.change(credit.into()) {
            // Section 6.9.1: "For streams, the sender sends a RST_STREAM with an error code of FLOW_CONTROL_ERROR".
            // Close the connection too, because a mere reset would cost the peer nothing.
            frame::put_reset(self.output.framed(), head.stream, error.code);
            return Err(error);
        }
        let is_waiting = slot.is_waiting;
        if slot.is_ready() && !slot.is_scheduled {
            slot.is_scheduled = true;
            self.scheduler.add(number);
        }
        if is_waiting {
            self.wake_waiting();
        }
        Ok(())
    }

    pub(super) fn handle_reset(&mut self, head: FrameHead, payload: &[u8]) -> Result<Step, ConnectionError> {
        let code = ErrorCode(frame::number(payload).unwrap_or(0));
        let Some(number) = self.streams.find(head.stream) else {
            // The RST_STREAM crossed the last frame of its stream, which is now closed.
            self.abuse.charge(head.size(), cost::FRAME);
            return self.expect_closed(head.stream).map(|()| Step::Progress);
        };
        let Some(slot) = self.streams.slot(number) else { return Ok(Step::Progress) };
        let stream = slot.key(number);
        // Charge resets by clients, because opening and immediately resetting a stream costs the server more than the
        // client (CVE-2023-44487, rapid reset).
        if self.role == Role::Server {
            self.abuse.charge(head.size(), cost::RESET);
        }
        self.remove(number);
        Ok(Step::Event(Event::Reset { stream, code }))
    }

    /// Validates a PRIORITY frame and otherwise ignores it, because priorities are deprecated: RFC 9113, section 5.3.
    pub(super) fn handle_priority(&mut self, head: FrameHead, payload: &[u8]) -> Result<(), ConnectionError> {
        self.abuse.charge(head.size(), cost::FRAME.saturating_add(head.size().into()));
        let dependency = payload.get(..4).and_then(frame::number).unwrap_or(0) & frame::WINDOW_MAX;
        self.check_dependency(head.stream, Some(dependency))
    }

    /// Fails if a stream depends on itself. RFC 7540, section 5.3.1: "A stream cannot depend on itself."
    pub(super) fn check_dependency(&self, stream: u32, dependency: Option<u32>) -> Result<(), ConnectionError> {
        if dependency == Some(stream) {
            return Err(ConnectionError::protocol("stream depends on itself"));
        }
        Ok(())
    }

    /// Fails if a stream without a slot has never been opened, and is thus idle rather than closed. Section 5.1:
    /// "Receiving any frame other than HEADERS or PRIORITY on a stream in this state MUST be treated as a connection
    /// error of type PROTOCOL_ERROR."
    pub(super) fn expect_closed(&self, id: u32) -> Result<(), ConnectionError> {
        if self.is_idle(id) { Err(ConnectionError::protocol("frame for an idle stream")) } else { Ok(()) }
    }

    pub(super) fn is_idle(&self, id: u32) -> bool {
        // Streams opened by clients have odd ids. Servers open none, because push is disabled.
        match (self.role, id % 2 == 1) {
            (Role::Server, true) => id > self.last_peer_id,
            (Role::Client, true) => id >= self.next_id,
            (_, false) => true,
        }
    }

    /// Removes a closed stream from the connection.
    pub(super) fn remove(&mut self, number: u32) {
        if self.streams.slot(number).is_some_and(|slot| slot.is_scheduled) {
            self.scheduler.remove(number);
            self.wake_waiting();
        }
        self.queued = self.queued.saturating_sub(self.streams.remove(number));
    }
}
