//! The order of events on one stream.

use crate::{Operation, Outbox, PacketId, Role, tlv};

/// The state of one stream at one end.
///
/// With a Go peer a stream has one end for both directions, an empty packet:
///
/// ```text
///   Open --- close, and the peer is told ---> Closed by us
///    |
///    +------ the peer's empty packet -------> Closed by the peer
/// ```
///
/// Between two native peers each direction ends for itself, and either end may reset both:
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
/// Whatever closes it first decides; a close that crosses the peer's is not an error and is not answered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamState {
    /// Each direction ends for itself.
    rich: bool,
    sending: bool,
    receiving: bool,
    closed: bool,
}

/// The signal that informs the peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[must_use]
pub enum StreamSignal {
    /// None: the peer knows, or cannot be notified.
    Nothing,
    /// That the stream is closed, by an empty packet.
    Close,
    /// That our direction has ended.
    End,
    /// That the stream is reset.
    Reset,
    /// That the stream is reset, and that none of it was given to a handler.
    Refuse,
}

impl StreamSignal {
    /// Puts the packet for the peer into an outbox, if there is one. A reset states its reason: a code of gRPC's
    /// and a text, cut to the length that may be sent at the moment.
    pub fn put(self, outbox: &mut Outbox, id: PacketId, code: u32, reason: &str) {
        let operation = match self {
            Self::Nothing => return,
            Self::Close => Operation::STREAM,
            Self::End | Self::Reset | Self::Refuse => Operation::END,
        };
        if self == Self::Refuse {
            // Credit of zero, which older peers add up without any effect.
            let mut packet = outbox.packet(id, Operation::CREDIT);
            packet.put_slice(&[0]);
            let sent = packet.finish();
            debug_assert!(sent.is_ok(), "one byte is within every limit");
        }
        let mut packet = outbox.packet(id, operation);
        let mut body = Vec::new();
        if matches!(self, Self::Reset | Self::Refuse) {
            tlv::put_varint(&mut body, code.into());
            body.extend_from_slice(reason.as_bytes());
            // The receiver of a text accepts one that is cut anywhere.
            body.truncate(usize::try_from(packet.limit()).unwrap_or(usize::MAX));
        }
        packet.put_slice(&body);
        let sent = packet.finish();
        debug_assert!(sent.is_ok(), "the body has been cut to the limit");
    }
}

impl StreamState {
    /// An open stream. `rich` states that the peer is native.
    pub const fn new(rich: bool) -> Self {
        Self { rich, sending: true, receiving: true, closed: false }
    }

    /// Whether directions end for themselves.
    #[inline]
    pub const fn is_native(&self) -> bool {
        self.rich
    }

    /// Whether a message may be sent now.
    #[inline]
    pub const fn sends(&self) -> bool {
        self.sending && !self.closed
    }

    /// Whether further messages may come.
    #[inline]
    pub const fn receives(&self) -> bool {
        self.receiving && !self.closed
    }

    /// Whether the peer has ended its direction in good order.
    pub const fn has_ended(&self) -> bool {
        !self.receiving
    }

    /// Whether nothing more can happen, so that the id is free.
    #[inline]
    pub const fn is_over(&self) -> bool {
        self.closed || (!self.sending && !self.receiving)
    }

    /// Ends the direction of this end. With a Go peer that takes a message of the user's.
    pub const fn end(&mut self) -> StreamSignal {
        if !self.rich || !self.sends() {
            return StreamSignal::Nothing;
        }
        self.sending = false;
        StreamSignal::End
    }

    /// Handles the end of the peer's direction.
    pub const fn handle_end(&mut self) {
        if !self.closed {
            self.receiving = false;
        }
    }

    /// Closes both directions from this end.
    pub const fn close(&mut self) -> StreamSignal {
        if self.is_over() {
            return StreamSignal::Nothing;
        }
        self.closed = true;
        if self.rich { StreamSignal::Reset } else { StreamSignal::Close }
    }

    /// Handles a close by the peer, or the end of the connection, for both directions.
    pub const fn handle_close(&mut self) {
        if !self.is_over() {
            self.closed = true;
        }
    }
}

/// The ids of the streams that a native peer opens. They ascend, and begin again after the last, which
/// distinguishes the packet that opens a stream from one that crossed the reset of an earlier stream.
#[derive(Clone, Copy, Debug)]
pub struct PeerStreamIds {
    by: Role,
    last: Option<PacketId>,
}

/// An end has half of all ids for the streams that it opens, the one that dialled the lower half.
const IDS: u16 = 0x8000;

impl PeerStreamIds {
    /// The ids of a peer with this role.
    pub const fn new(by: Role) -> Self {
        Self { by, last: None }
    }

    /// Whether a packet of stream `id`, which is not open, opens it. Up to half of a peer's ids may be left out: those
    /// of open streams, and of streams that were never opened.
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
    fn first_close_wins_and_only_local_close_is_sent() {
        for (rich, expected) in [(false, StreamSignal::Close), (true, StreamSignal::Reset)] {
            let mut ours = StreamState::new(rich);
            assert_eq!(ours.close(), expected);
            assert_eq!(ours.close(), StreamSignal::Nothing);
            ours.handle_close();
            assert!(!ours.sends() && !ours.receives());

            let mut theirs = StreamState::new(rich);
            theirs.handle_close();
            assert_eq!(theirs.close(), StreamSignal::Nothing);
            assert!(!theirs.sends() && !theirs.receives());
        }
    }

    #[test]
    fn directions_end_for_themselves_between_two_of_ours() {
        let mut state = StreamState::new(true);
        assert_eq!(state.end(), StreamSignal::End);
        assert_eq!(state.end(), StreamSignal::Nothing);
        assert!(!state.sends() && state.receives() && !state.is_over());
        state.handle_end();
        assert!(state.is_over() && state.has_ended());
        assert_eq!(state.close(), StreamSignal::Nothing);
    }

    #[test]
    fn stream_ids_ascend_and_earlier_ones_open_nothing() {
        for (by, ids) in [(Role::Client, 1..=0x7FFF), (Role::Server, 0x8000..=u16::MAX)] {
            let mut openings = PeerStreamIds::new(by);
            for round in 0..3 {
                for id in ids.clone() {
                    assert!(openings.handle(PacketId(id)), "{id} in round {round}");
                    let earlier = [0, 1, 300, 16_000].map(|age| id.saturating_sub(age).max(*ids.start()));
                    assert!(earlier.iter().all(|id| !openings.handle(PacketId(*id))), "{earlier:?} after {id}");
                }
            }
        }
    }

    #[test]
    fn ids_may_be_left_out() {
        let mut openings = PeerStreamIds::new(Role::Client);
        assert!([30_000, 30_257, 200, 16_000].into_iter().all(|id| openings.handle(PacketId(id))));
        assert!(!openings.handle(PacketId(1_000)), "it is smaller");
        assert!(!openings.handle(PacketId(40_000)), "it is one of the other end");
    }

    #[test]
    fn a_direction_cannot_end_for_itself_with_a_go_peer() {
        let mut state = StreamState::new(false);
        assert_eq!(state.end(), StreamSignal::Nothing);
        assert!(state.sends());
    }

    #[test]
    fn reset_reason_is_cut_to_the_limit_of_the_peer() {
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
    fn reset_reason_is_cut_to_the_memory_of_the_server() {
        let mut outbox = Outbox::new(crate::HeaderForm::Current);
        outbox.set_room(Some(3));
        StreamSignal::Reset.put(&mut outbox, PacketId(9), 8, "full");
        assert_eq!(outbox.take_bytes(), [0, 15, 0, 9, 0, 7, 0, 0, 0, 3, 8, b'f', b'u'][..]);
    }
}
