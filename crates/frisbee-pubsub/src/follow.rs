//! Wire format of subscriptions that use topic histories: requests, replies and positions. docs/wire.md describes the
//! encoding.

use super::history::{Ring, StartPoint};
use super::{Kind, Operations, Reason, put};
use bytes::Bytes;
use frisbee::{Outbox, PacketId, tlv};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Maximum number of replies and topic positions that the broker sends again after it has dropped messages of a slow
/// subscriber. The broker disconnects the subscriber if more of them were dropped.
const RESTATED_MAX: usize = 1024;

/// Starting position of a subscription for topics without a position in the request.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum StartPosition {
    #[default]
    Now = 0,
    Last = 1,
    Oldest = 2,
}

/// Offset of a topic's next message, with the epoch of its history.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NextOffset {
    pub(super) epoch: u64,
    pub(super) offset: u64,
}

/// Contents of a FOLLOW packet after the pattern. The packet requests a subscription that starts at a position in the
/// histories of its topics.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) opening: StartPosition,
    pub(super) positions: HashMap<&'a [u8], NextOffset>,
}

/// Reason why a FOLLOW request is malformed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum RequestDefect {
    CutOff,
    Refused(Reason, &'static str),
}

impl<'a> Request<'a> {
    /// Parses a FOLLOW request with at most `positions_max` positions.
    pub(super) fn parse(body: &'a [u8], positions_max: usize) -> Result<Self, RequestDefect> {
        let (opening, rest) = body.split_first().ok_or(RequestDefect::CutOff)?;
        let opening = match opening {
            0 => StartPosition::Now,
            1 => StartPosition::Last,
            2 => StartPosition::Oldest,
            _ => return Err(RequestDefect::Refused(Reason::Operation, "unknown start of a history")),
        };
        let mut positions = HashMap::new();
        for position in Positions(rest) {
            // Check the limit before each insertion, because the client determines the number of positions.
            if positions.len() >= positions_max {
                return Err(RequestDefect::Refused(Reason::Full, "too many positions"));
            }
            let (topic, next) = position.ok_or(RequestDefect::CutOff)?;
            positions.insert(topic, next);
        }
        Ok(Self { opening, positions })
    }

    /// Returns the point in a topic's history at which the subscription starts.
    pub(super) fn begin(&self, ring: &Ring) -> StartPoint {
        match self.positions.get(ring.topic.as_bytes()) {
            // Use an offset only in its own epoch. The history of another epoch was discarded, and its offsets denote
            // other messages.
            Some(next) if next.epoch == ring.epoch => StartPoint::At(next.offset),
            _ => StartPoint::Opening(self.opening),
        }
    }
}

/// Iterator over the topic positions in a packet body. If the body is truncated, the last item is `None`.
pub(super) struct Positions<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Positions<'a> {
    type Item = Option<(&'a [u8], NextOffset)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let one = take_position(&mut self.0);
        if one.is_none() {
            // End the iteration, because the start of the next position is unknown.
            self.0 = &[];
        }
        Some(one)
    }
}

fn take_position<'a>(rest: &mut &'a [u8]) -> Option<(&'a [u8], NextOffset)> {
    let length = usize::try_from(tlv::take_varint(rest)?).ok()?;
    let (topic, behind) = rest.split_at_checked(length)?;
    let (epoch, behind) = behind.split_first_chunk()?;
    *rest = behind;
    let offset = tlv::take_varint(rest)?;
    Some((topic, NextOffset { epoch: u64::from_be_bytes(*epoch), offset }))
}

pub(super) fn put_position(body: &mut Vec<u8>, topic: &str, next: NextOffset) {
    tlv::put_varint(body, topic.len() as u64);
    body.extend_from_slice(topic.as_bytes());
    body.extend_from_slice(&next.epoch.to_be_bytes());
    tlv::put_varint(body, next.offset);
}

/// State of the broker's histories when a subscription starts, as stated in the reply to the subscriber.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Answer {
    /// Whether every topic that can match the pattern has a history.
    pub(super) is_covered: bool,
    pub(super) epoch: u64,
    pub(super) topics: u64,
}

impl Answer {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut body = vec![0, u8::from(self.is_covered)];
        body.extend_from_slice(&self.epoch.to_be_bytes());
        tlv::put_varint(&mut body, self.topics);
        body
    }

    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let rest = body.strip_prefix(&[0])?;
        let (covered, rest) = rest.split_first()?;
        let (epoch, mut rest) = rest.split_first_chunk()?;
        let topics = tlv::take_varint(&mut rest)?;
        rest.is_empty().then_some(Self { is_covered: *covered == 1, epoch: u64::from_be_bytes(*epoch), topics })
    }
}

/// A reply or topic position in a segment of a subscriber's queue. If the segment is dropped, the reply or position
/// must be sent again.
#[derive(Clone)]
pub(super) enum ReplayMark {
    /// Reply to a FOLLOW request.
    Answer { id: PacketId, body: Bytes },
    /// Reply to a SYNC request.
    Synced(PacketId),
    /// Messages of a topic in a segment of the queue. `next` is the offset after the last of these messages. If
    /// `begins` is set, they include the first message of the topic, so the subscriber knows no earlier position.
    Messages { id: PacketId, ring: Arc<Ring>, begins: bool, next: u64 },
}

impl ReplayMark {
    /// Merges `later` into this mark if both refer to the same subscription and topic. Returns whether they were
    /// merged.
    pub(super) fn extend(&mut self, later: &Self) -> bool {
        match (self, later) {
            (Self::Messages { id, ring, next, .. }, Self::Messages { id: id_2, ring: ring_2, next: next_2, .. })
                if id == id_2 && Arc::ptr_eq(ring, ring_2) =>
            {
                *next = *next_2;
                true
            }
            _ => false,
        }
    }
}

/// Replies and topic positions that must be sent to a subscriber again, because the messages that contained them were
/// dropped.
#[derive(Default)]
pub(super) struct ReplayedPositions {
    /// Replies to FOLLOW and topic positions, in the order in which they were queued. Consecutive positions of a topic
    /// are merged.
    marks: Vec<ReplayMark>,
    /// Index in `marks` of the last position of each topic.
    last: BTreeMap<Arc<str>, usize>,
    syncs: Vec<PacketId>,
}

impl ReplayedPositions {
    pub(super) fn is_empty(&self) -> bool {
        self.marks.is_empty() && self.syncs.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.marks.len() + self.syncs.len() > RESTATED_MAX
    }

    /// Adds a reply or topic position from a queue segment that was dropped, so that it is sent again.
    pub(super) fn add(&mut self, mark: ReplayMark) {
        match &mark {
            ReplayMark::Synced(id) => return self.syncs.push(*id),
            ReplayMark::Answer { .. } => {}
            ReplayMark::Messages { ring, .. } => {
                let last = self.last.insert(ring.topic.clone(), self.marks.len());
                if let Some(last) = last
                    && self.marks[last].extend(&mark)
                {
                    self.last.insert(ring.topic.clone(), last);
                    return;
                }
            }
        }
        self.marks.push(mark);
    }

    /// Adds the topic position of a queue segment from which messages were omitted because they exceed the subscriber's
    /// size limit. The subscriber uses the position to detect the gap. Marks of other packets are ignored, because
    /// those packets were sent.
    pub(super) fn add_sent(&mut self, mark: ReplayMark) {
        if let ReplayMark::Messages { id, ring, next, .. } = mark {
            self.add(ReplayMark::Messages { id, ring, begins: false, next });
        }
    }

    /// Appends all replies and positions. Appends a report of `lost` messages after the replies to FOLLOW, because it
    /// does not concern subscriptions that detect missing messages by their positions.
    pub(super) fn put(&mut self, outbox: &mut Outbox, operations: Operations, lost: u64) {
        self.last.clear();
        for mark in std::mem::take(&mut self.marks) {
            match mark {
                ReplayMark::Answer { id, body } => put(outbox, id, operations.of(Kind::Follow), &body),
                ReplayMark::Synced(_) => {}
                ReplayMark::Messages { id, ring, begins, next } => {
                    // Send the first position too, because the subscriber counts missing messages from there.
                    for offset in (begins && next > 1).then_some(1).into_iter().chain([next]) {
                        let mut body = Vec::new();
                        put_position(&mut body, &ring.topic, NextOffset { epoch: ring.epoch, offset });
                        put(outbox, id, operations.of(Kind::Position), &body);
                    }
                }
            }
        }
        if lost > 0 {
            let mut body = Vec::new();
            tlv::put_varint(&mut body, lost);
            put(outbox, PacketId(0), operations.of(Kind::Lagged), &body);
        }
        for id in std::mem::take(&mut self.syncs) {
            put(outbox, id, operations.of(Kind::Sync), &[]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follow_packets_match_documented_bytes() {
        let body = b"\x02\x03a.b\x01\x02\x03\x04\x05\x06\x07\x08\x05";
        let request = Request::parse(body, 1).expect("FOLLOW request should be valid");
        let next = NextOffset { epoch: 0x0102_0304_0506_0708, offset: 5 };
        assert_eq!((request.opening, request.positions.get(&b"a.b"[..])), (StartPosition::Oldest, Some(&next)));
        let mut encoded = vec![2];
        put_position(&mut encoded, "a.b", next);
        assert_eq!(encoded, body);
        let answer = Answer { is_covered: true, epoch: next.epoch, topics: 1 };
        let bytes = b"\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08\x01";
        assert_eq!((answer.encode().as_slice(), Answer::decode(bytes)), (&bytes[..], Some(answer)));
    }

    #[test]
    fn malformed_requests_and_answers_are_rejected() {
        let body = b"\x02\x03a.b\x01\x02\x03\x04\x05\x06\x07\x08\x05";
        for length in 0..body.len() {
            let parsed = Request::parse(&body[..length], 9).map(|request| request.positions.len());
            let expected = if length == 1 { Ok(0) } else { Err(RequestDefect::CutOff) };
            assert_eq!(parsed, expected, "{length} bytes");
        }
        assert!(matches!(Request::parse(&body[..], 0), Err(RequestDefect::Refused(Reason::Full, _))));
        assert!(matches!(Request::parse(b"\x03", 9), Err(RequestDefect::Refused(Reason::Operation, _))));
        for answer in [&b""[..], b"\x00", b"\x05text", b"\x00\x01\x01\x02\x03\x04\x05\x06\x07\x08"] {
            assert_eq!(Answer::decode(answer), None);
        }
    }
}
