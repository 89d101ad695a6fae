//! State machine of one end of a stream.

use crate::{Operation, Outbox, PacketId, Role, tlv};

/// State of a stream at one end.
///
/// If the peer does not support the protocol extension, both directions are closed together, by an empty packet:
///
/// ```text
///   Open --- close, and the peer is told ---> Closed by us
///    |
///    +------ the peer's empty packet -------> Closed by the peer
/// ```
///
/// If both ends support the protocol extension, each direction ends separately, and either end may reset both:
///
/// ```text
///                end                               handle_end
///   Open ------------------> sending has ended ------------------+
///    | |                                                         v
///    | |      handle_end                              end     Finished
///    | +-------------------> receiving has ended ----------------^
///    |
///    +--- close (a reset), handle_close (a reset or the end of the connection) ---> Closed
/// ```
///
/// The first close wins. If both ends close at the same time, neither close is an error and no reply is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamState {
    /// Whether the peer supports the protocol extension, which is required to end each direction separately.
    native: bool,
    sending: bool,
    receiving: bool,
    closed: bool,
}

/// Packet to send to the peer after the state of a stream has changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum StreamSignal {
    /// No packet, because the peer already knows of the change or cannot be notified.
    Nothing,
    /// Closes the stream with an empty packet, because the peer does not support END.
    Close,
    /// Ends this end's sending direction.
    End,
    /// Resets the stream.
    Reset,
    /// Resets the stream and reports that no handler has received any part of it, so the peer may safely retry.
    Refuse,
}

impl StreamSignal {
    /// Appends the signal's packet to `outbox`, if it requires one. A reset contains `code`, a gRPC status code, and
    /// `reason`, truncated to the current maximum body size.
    pub fn put(self, outbox: &mut Outbox, id: PacketId, code: u32, reason: &str) {
        let operation = match self {
            Self::Nothing => return,
            Self::Close => Operation::STREAM,
            Self::End | Self::Reset | Self::Refuse => Operation::END,
        };
        if self == Self::Refuse {
            // Append a credit of zero as the refusal marker. Older peers ignore it.
            let mut packet = outbox.packet(id, Operation::CREDIT);
            packet.put_slice(&[0]);
            let sent = packet.finish();
            debug_assert!(sent.is_ok(), "one-byte packet should be within every limit");
        }
        let mut packet = outbox.packet(id, operation);
        let mut body = Vec::new();
        if matches!(self, Self::Reset | Self::Refuse) {
            tlv::put_varint(&mut body, code.into());
            body.extend_from_slice(reason.as_bytes());
            // Truncation within a character is fine, because the receiver accepts invalid UTF-8.
            body.truncate(usize::try_from(packet.limit()).unwrap_or(usize::MAX));
        }
        packet.put_slice(&body);
        let sent = packet.finish();
        debug_assert!(sent.is_ok(), "truncated body should be within the limit");
    }
}

impl StreamState {
    /// Creates the state of an open stream. `native` states whether the peer supports the protocol extension.
    pub const fn new(native: bool) -> Self {
        Self { native, sending: true, receiving: true, closed: false }
    }

    /// Returns whether the peer supports the protocol extension, which is required to end the two directions of the
    /// stream separately.
    #[inline]
    pub const fn is_native(&self) -> bool {
        self.native
    }

    /// Returns whether this end may still send messages on the stream.
    #[inline]
    pub const fn sends(&self) -> bool {
        self.sending && !self.closed
    }

    /// Returns whether this end may still receive messages on the stream.
    #[inline]
    pub const fn receives(&self) -> bool {
        self.receiving && !self.closed
    }

    /// Returns whether the peer has ended its direction of the stream without a reset.
    pub const fn has_ended(&self) -> bool {
        !self.receiving
    }

    /// Returns whether the stream is closed or both directions have ended, so that its id may be reused.
    #[inline]
    pub const fn is_over(&self) -> bool {
        self.closed || (!self.sending && !self.receiving)
    }

    /// Ends the sending direction of the stream. Has no effect if the peer does not support the protocol extension. The
    /// application must then signal the end in its messages.
    pub const fn end(&mut self) -> StreamSignal {
        if !self.native || !self.sends() {
            return StreamSignal::Nothing;
        }
        self.sending = false;
        StreamSignal::End
    }

    /// Records that the peer has ended its direction of the stream.
    pub const fn handle_end(&mut self) {
        if !self.closed {
            self.receiving = false;
        }
    }

    /// Closes both directions of the stream.
    pub const fn close(&mut self) -> StreamSignal {
        if self.is_over() {
            return StreamSignal::Nothing;
        }
        self.closed = true;
        if self.native { StreamSignal::Reset } else { StreamSignal::Close }
    }

    /// Records that the peer has closed the stream, or that the connection has ended.
    pub const fn handle_close(&mut self) {
        if !self.is_over() {
            self.closed = true;
        }
    }
}

/// Tracker of the ids of the streams that a peer has opened. Because ids ascend (and wrap around), a packet that opens
/// a stream can be distinguished from a late packet of a stream that was reset.
#[derive(Clone, Copy, Debug)]
pub struct PeerStreamIds {
    by: Role,
    last: Option<PacketId>,
}

/// Number of stream ids available to each end. The client uses the lower half of all ids.
const IDS: u16 = 0x8000;

impl PeerStreamIds {
    /// Creates a tracker for the streams opened by a peer with this role.
    pub const fn new(by: Role) -> Self {
        Self { by, last: None }
    }

    /// Records a packet with the id of a stream that is not open, and returns whether the packet opens a new stream. A
    /// peer may skip up to half of its ids, for example ids of streams that are still open.
    pub fn handle(&mut self, id: PacketId) -> bool {
        let ahead = self.last.map_or(1, |last| id.0.wrapping_sub(last.0) % IDS);
        let opens = (id.0 < IDS) == (self.by == Role::Client) && (1..=IDS / 2).contains(&ahead);
        if opens {
            self.last = Some(id);
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_first_local_close_is_sent() {
        for (native, expected) in [(false, StreamSignal::Close), (true, StreamSignal::Reset)] {
            let mut ours = StreamState::new(native);
            assert_eq!(ours.close(), expected);
            assert_eq!(ours.close(), StreamSignal::Nothing);
            ours.handle_close();
            assert!(!ours.sends() && !ours.receives());

            let mut theirs = StreamState::new(native);
            theirs.handle_close();
            assert_eq!(theirs.close(), StreamSignal::Nothing);
            assert!(!theirs.sends() && !theirs.receives());
        }
    }

    #[test]
    fn native_stream_directions_end_independently() {
        let mut state = StreamState::new(true);
        assert_eq!(state.end(), StreamSignal::End);
        assert_eq!(state.end(), StreamSignal::Nothing);
        assert!(!state.sends() && state.receives() && !state.is_over());
        state.handle_end();
        assert!(state.is_over() && state.has_ended());
        assert_eq!(state.close(), StreamSignal::Nothing);
    }

    #[test]
    fn earlier_stream_id_opens_no_stream() {
        for (by, ids) in [(Role::Client, 1..=0x7FFF), (Role::Server, 0x8000..=u16::MAX)] {
            let mut openings = PeerStreamIds::new(by);
            for round in 0..3 {
                for id in ids.clone() {
                    assert!(openings.handle(PacketId(id)), "id {id} should open a stream in round {round}");
                    let earlier = [0, 1, 300, 16_000].map(|age| id.saturating_sub(age).max(*ids.start()));
                    assert!(
                        earlier.iter().all(|id| !openings.handle(PacketId(*id))),
                        "earlier ids {earlier:?} should not open a stream after {id}"
                    );
                }
            }
        }
    }

    #[test]
    fn ids_may_be_left_out() {
        let mut openings = PeerStreamIds::new(Role::Client);
        assert!([30_000, 30_257, 200, 16_000].into_iter().all(|id| openings.handle(PacketId(id))));
        assert!(!openings.handle(PacketId(1_000)), "smaller id should not open a stream");
        assert!(!openings.handle(PacketId(40_000)), "id of the other end should not open a stream");
    }

    #[test]
    fn go_stream_direction_cannot_end_separately() {
        let mut state = StreamState::new(false);
        assert_eq!(state.end(), StreamSignal::Nothing);
        assert!(state.sends());
    }

    #[test]
    fn reset_reason_is_truncated_to_peer_limit() {
        let bytes = |signal: StreamSignal| {
            let mut outbox = Outbox::new(crate::HeaderForm::Current);
            outbox.set_limit(3);
            signal.put(&mut outbox, PacketId(9), 8, "full");
            outbox.take_bytes()
        };
        assert_eq!(bytes(StreamSignal::Nothing), "");
        assert_eq!(bytes(StreamSignal::Close), [0, 15, 0, 9, 0, 2, 0, 0, 0, 0][..]);
        assert_eq!(bytes(StreamSignal::End), [0, 15, 0, 9, 0, 7, 0, 0, 0, 0][..]);
        let reset = [0, 15, 0, 9, 0, 7, 0, 0, 0, 3, 8, b'f', b'u'];
        assert_eq!(bytes(StreamSignal::Reset), reset[..]);
        assert_eq!(bytes(StreamSignal::Refuse), [&[0, 15, 0, 9, 0, 5, 0, 0, 0, 1, 0][..], &reset].concat());
    }

    #[test]
    fn reset_reason_is_truncated_to_available_memory() {
        let mut outbox = Outbox::new(crate::HeaderForm::Current);
        outbox.set_room(Some(3));
        StreamSignal::Reset.put(&mut outbox, PacketId(9), 8, "full");
        assert_eq!(outbox.take_bytes(), [0, 15, 0, 9, 0, 7, 0, 0, 0, 3, 8, b'f', b'u'][..]);
    }
}
