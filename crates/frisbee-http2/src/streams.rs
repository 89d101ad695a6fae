//! Streams of a connection: their states, and the table that looks them up by id.
//!
//! # Decisions
//!
//! Slots are reused, so a connection never has more slots than its maximum number of concurrent streams. A key contains
//! the slot and the id of its stream. Ids are never reused, so a key becomes invalid when its stream closes. The index
//! of the open streams is sorted by id. New streams have higher ids than all earlier ones, so they are appended.

use crate::Head;
use crate::error::ConnectionError;
use crate::window::{SendWindow, StreamWindow};
use bytes::Bytes;
use std::collections::VecDeque;

/// Maximum number of recently reset streams to remember. The peer may still send frames for a stream before it
/// receives the reset. Once the limit is reached, the oldest id is forgotten, and frames for any closed stream up to
/// the highest forgotten id are discarded. Without a limit, a peer could make the list grow without bound.
const RESETS_MAX: usize = 256;

/// Stream id that marks a slot as unused.
const FREE: u32 = 0;

/// Key of a stream on its connection. A key is never reused, because it contains the id of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StreamKey {
    pub(crate) slot: u32,
    id: u32,
}

impl StreamKey {
    /// Returns the number of the stream's slot, which a driver can use as an index into its own tables. Slots are
    /// reused, so the number is less than the maximum number of concurrent streams.
    pub fn index(self) -> usize {
        self.slot as usize
    }
}

/// State of a stream (RFC 9113, section 5.1). Streams without a slot are idle or closed. The reserved states do not
/// occur, because push is disabled.
///
/// ```text
///                 idle
///                  |  HEADERS
///                  v
///                Open
///     send_end   /    \   receive_end
///               v      v
///   HalfClosedLocal  HalfClosedRemote
///               \      /
///   receive_end  v    v   send_end
///                closed  <-- RST_STREAM from any state
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum State {
    /// Both ends may send on the stream.
    Open,
    /// Only the peer may send on the stream.
    HalfClosedLocal,
    /// Only this end may send on the stream.
    HalfClosedRemote,
    /// Neither end may send on the stream. Its slot is freed once the last frame has been handled.
    Closed,
}

impl State {
    pub(crate) fn may_send(self) -> bool {
        matches!(self, Self::Open | Self::HalfClosedRemote)
    }

    pub(crate) fn may_receive(self) -> bool {
        matches!(self, Self::Open | Self::HalfClosedLocal)
    }

    /// Records that this end has sent END_STREAM.
    pub(crate) fn send_end(&mut self) -> Result<(), SendError> {
        *self = match self {
            Self::Open => Self::HalfClosedLocal,
            Self::HalfClosedRemote => Self::Closed,
            Self::HalfClosedLocal | Self::Closed => return Err(SendError::Ended),
        };
        Ok(())
    }

    /// Records that the peer has sent END_STREAM.
    pub(crate) fn receive_end(&mut self) -> Result<(), ConnectionError> {
        *self = match self {
            Self::Open => Self::HalfClosedRemote,
            Self::HalfClosedLocal => Self::Closed,
            Self::HalfClosedRemote | Self::Closed => {
                return Err(ConnectionError::closed("frame for a stream that its sender has ended"));
            }
        };
        Ok(())
    }
}

/// Reason why a message could not be sent on a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The stream is closed or has been reset.
    Closed,
    /// This end has already ended its message.
    Ended,
    /// A head was sent twice, or data was sent before a head.
    OutOfOrder,
}

impl std::fmt::Display for SendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Closed => "stream is closed",
            Self::Ended => "stream was already ended by this side",
            Self::OutOfOrder => "stream needs exactly one head before its data",
        })
    }
}

impl std::error::Error for SendError {}

/// Body and trailers of a stream that must wait for flow-control credit or for the stream's turn.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    pub(crate) pieces: VecDeque<Bytes>,
    /// Total length of the queued body in bytes.
    pub(crate) len: usize,
    pub(crate) trailers: Option<Head>,
    pub(crate) is_ended: bool,
    /// Progress of a response since its last check. If the client accepts too little, the stream is reset.
    pub(crate) progress: Option<Progress>,
}

/// Progress of a response since the last check for stalled clients.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    pub(crate) sent: usize,
    pub(crate) is_checked: bool,
}

/// State of a stream that is open or has unsent data.
#[derive(Debug)]
pub(crate) struct StreamSlot {
    pub(crate) id: u32,
    pub(crate) state: State,
    /// Whether the head of the peer's message has been received.
    pub(crate) has_received_head: bool,
    /// Whether the head of this end's message has been sent.
    pub(crate) has_sent_head: bool,
    /// Whether the response has no body although it has a `content-length`, for example because the request was HEAD.
    pub(crate) is_bodiless: bool,
    /// Whether the stream is scheduled to send its queue.
    pub(crate) is_scheduled: bool,
    /// Whether the caller is waiting for [`Event::Writable`](crate::Event::Writable) of this stream.
    pub(crate) is_waiting: bool,
    pub(crate) load: Load,
    pub(crate) send: SendWindow,
    pub(crate) receive: StreamWindow,
    /// Number of bytes of the body that the peer must still send, if it declared a `content-length`.
    pub(crate) missing: Option<u64>,
    pub(crate) queue: Option<Box<SendQueue>>,
}

/// Size class of the last body part that the caller sent. Used to predict the size of the next part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Load {
    /// The stream has not sent any part.
    Unknown,
    /// The last part was short and was written at once.
    Light,
    /// The last part was queued.
    Bulk,
}

// Keep slots small, because a connection with a thousand calls in flight has a thousand of them.
const _: () = assert!(size_of::<StreamSlot>() <= 128);

impl StreamSlot {
    /// Returns whether the stream has queued data and its own window permits sending some of it. The window of the
    /// connection is not considered.
    pub(crate) fn is_ready(&self) -> bool {
        // An empty queue still has an end or trailers to send, which need no window.
        self.queue.as_ref().is_some_and(|queue| queue.len == 0 || self.send.available() > 0)
    }

    pub(crate) fn key(&self, slot: u32) -> StreamKey {
        StreamKey { slot, id: self.id }
    }

    /// Accounts for received bytes of the body. RFC 9113, section 8.1.1: "A request or response is also malformed if
    /// the value of a content-length header field does not equal the sum of the DATA frame payload lengths".
    pub(crate) fn receive_body(&mut self, count: usize, is_end: bool) -> Result<(), &'static str> {
        if let Some(missing) = &mut self.missing {
            *missing = missing.checked_sub(count as u64).ok_or("body exceeds its `content-length`")?;
            if is_end && *missing > 0 {
                return Err("body is shorter than its `content-length`");
            }
        }
        Ok(())
    }
}

/// Open streams of a connection. They are stored in slots, which are reused, and found by stream id.
#[derive(Debug, Default)]
pub(crate) struct StreamTable {
    slots: Vec<StreamSlot>,
    free: Vec<u32>,
    /// Ids of the open streams and their slots, sorted by id.
    index: VecDeque<(u32, u32)>,
    resets: VecDeque<u32>,
    /// Highest id that was removed from `resets`.
    last_forgotten: u32,
}

impl StreamTable {
    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    pub(crate) fn memory(&self) -> usize {
        let slots = self.slots.capacity().saturating_mul(size_of::<StreamSlot>());
        let index = self.index.capacity().saturating_mul(2);
        let indexes = self.free.capacity().saturating_add(index).saturating_add(RESETS_MAX);
        slots.saturating_add(indexes.saturating_mul(size_of::<u32>()))
    }

    /// Shrinks tables that have become large because many streams were open.
    pub(crate) fn release(&mut self) {
        if self.index.is_empty() {
            (self.slots, self.free, self.index) = Default::default();
        }
    }

    /// Returns the position of a stream in `index`.
    fn position(&self, id: u32) -> Option<usize> {
        self.index.binary_search_by_key(&id, |(id, _)| *id).ok()
    }

    /// Returns the slot of an open stream, by its id.
    pub(crate) fn find(&self, id: u32) -> Option<u32> {
        self.index.get(self.position(id)?).map(|(_, slot)| *slot)
    }

    pub(crate) fn slot(&mut self, slot: u32) -> Option<&mut StreamSlot> {
        self.slots.get_mut(slot as usize).filter(|slot| slot.id != FREE)
    }

    pub(crate) fn key(&self, slot: u32) -> Option<StreamKey> {
        self.slots.get(slot as usize).filter(|slot| slot.id != FREE).map(|it| it.key(slot))
    }

    pub(crate) fn get(&self, key: StreamKey) -> Option<&StreamSlot> {
        self.slots.get(key.slot as usize).filter(|slot| slot.id == key.id)
    }

    pub(crate) fn get_mut(&mut self, key: StreamKey) -> Option<&mut StreamSlot> {
        self.slots.get_mut(key.slot as usize).filter(|slot| slot.id == key.id)
    }

    /// Returns an iterator over the open streams and their slot numbers.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (u32, &mut StreamSlot)> {
        (0..).zip(&mut self.slots).filter(|(_, slot)| slot.id != FREE)
    }

    /// Adds a stream with the given flow-control windows. Its id must be higher than those of all earlier streams.
    pub(crate) fn insert(&mut self, id: u32, send: u32, receive: u32) -> StreamKey {
        let new = StreamSlot {
            id,
            state: State::Open,
            has_received_head: false,
            has_sent_head: false,
            is_bodiless: false,
            is_scheduled: false,
            is_waiting: false,
            load: Load::Unknown,
            send: SendWindow::new(send),
            receive: StreamWindow::new(receive),
            missing: None,
            queue: None,
        };
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32); // Ids have 31 bits, so there are fewer slots.
        let key = new.key(slot);
        match self.slots.get_mut(slot as usize) {
            Some(free) => *free = new,
            None => self.slots.push(new),
        }
        debug_assert!(self.index.back().is_none_or(|(last, _)| *last < id), "ids of new streams should increase");
        self.index.push_back((id, slot));
        key
    }

    /// Removes a stream and returns the number of bytes that its queue contained.
    pub(crate) fn remove(&mut self, slot: u32) -> usize {
        let Some(removed) = self.slots.get_mut(slot as usize) else { return 0 };
        let queued = removed.queue.take().map_or(0, |queue| queue.len);
        let id = std::mem::replace(&mut removed.id, FREE);
        if let Some(at) = self.position(id) {
            self.index.remove(at);
        }
        self.free.push(slot);
        queued
    }

    /// Remembers that this end has reset a stream, because the peer may still send frames for it.
    pub(crate) fn remember_reset(&mut self, id: u32) {
        if self.resets.len() >= RESETS_MAX {
            let forgotten = self.resets.pop_front().unwrap_or(0);
            self.last_forgotten = self.last_forgotten.max(forgotten);
        }
        self.resets.push_back(id);
    }

    /// Returns whether this end has reset a stream recently, so that the peer may not know of the reset yet.
    pub(crate) fn was_reset(&self, id: u32) -> bool {
        self.resets.contains(&id)
    }

    /// Returns whether this end may have reset a stream that it no longer remembers.
    pub(crate) fn may_be_forgotten(&self, id: u32) -> bool {
        id <= self.last_forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn streams_are_found_among_many_others() {
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut table, mut model) = (StreamTable::default(), HashMap::new());
        let mut next = 1_u32;
        for _ in 0..50_000 {
            if rng.u32(..100) < 50 && model.len() < 300 {
                let id = next;
                next += 2 * rng.u32(1..40);
                model.insert(id, table.insert(id, 1, 1));
            } else if let Some(id) = rng.choice(model.keys().copied()) {
                let key = model.remove(&id).expect("model should contain the stream id that was chosen from it");
                assert_eq!(table.get(key).map(|slot| slot.id), Some(id));
                table.remove(key.slot);
                assert!(table.get(key).is_none() && table.find(id).is_none());
            }
            assert_eq!(table.len(), model.len());
        }
        for (id, key) in &model {
            assert_eq!(table.find(*id), Some(key.slot));
        }
        assert!(table.memory() < 64 * 1024, "{}", table.memory());
    }

    #[test]
    fn closed_stream_key_finds_no_stream() {
        let mut table = StreamTable::default();
        let first = table.insert(1, 1, 1);
        table.remove(first.slot);
        let second = table.insert(3, 1, 1);
        assert_eq!(first.slot, second.slot);
        assert!(table.get(first).is_none() && table.get_mut(first).is_none());
        assert!(table.get(second).is_some());
    }

    #[test]
    fn states_reject_second_end() {
        let mut state = State::Open;
        assert_eq!(state.send_end(), Ok(()));
        assert_eq!(state.send_end(), Err(SendError::Ended));
        assert_eq!(state.receive_end(), Ok(()));
        assert_eq!(state, State::Closed);
        assert!(state.receive_end().is_err());
    }

    #[test]
    fn ring_remembers_latest_resets() {
        let mut table = StreamTable::default();
        (0..300).for_each(|number| table.remember_reset(2 * number + 1));
        assert!(!table.was_reset(2 * 43 + 1));
        assert!(table.was_reset(2 * 44 + 1) && table.was_reset(599));
    }

    #[test]
    fn body_is_compared_with_its_declared_length() {
        let mut table = StreamTable::default();
        let key = table.insert(1, 1, 1);
        let slot = table.get_mut(key).expect("stream should be open");
        slot.missing = Some(5);
        assert_eq!(slot.receive_body(3, false), Ok(()));
        assert!(slot.receive_body(1, true).is_err());
        assert_eq!(slot.receive_body(1, true), Ok(()));
        assert!(slot.receive_body(1, false).is_err());
    }
}
