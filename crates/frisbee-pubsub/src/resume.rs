//! Subscriptions with a history at the client: where they begin, and which messages are missing after a reconnect.

use super::covers;
use super::follow::{Answer, NextOffset, StartPosition, put_position};
use super::inbox::Position;
use super::topics::check_topic;
use std::collections::HashMap;
use std::sync::Arc;

/// Topics whose positions a client remembers and sends. With more, a reconnect cannot be complete.
pub(super) const POSITIONS_MAX: usize = 64 * 1024;

/// The first message of a subscription; see [`Client::subscribe_from`](crate::Client::subscribe_from).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Start {
    /// The first one that is published from now on.
    Now,
    /// The last one of each topic, if it has one: its current value.
    Last,
    /// The oldest one that the broker keeps of each topic.
    Oldest,
    /// The one after this position, for a pattern without wildcards.
    After(Position),
}

/// The messages missing before a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrecedingGap {
    None,
    Messages(u64),
    Unknown,
}

/// The positions of the messages that a connection brings to all of its subscriptions.
pub(super) type Stream = HashMap<Arc<str>, NextOffset>;

/// A subscription with a history.
#[derive(Debug)]
pub(super) struct Follow {
    pattern: Box<str>,
    /// As stated in the last request.
    opening: StartPosition,
    /// The positions of the last request.
    expected: HashMap<Arc<str>, NextOffset>,
    /// All messages of topics without an expected position are expected.
    expects_all: bool,
    /// The request is for a connection in the place of one that was lost.
    is_resumed: bool,
    /// The last answer of any connection.
    answer: Option<Answer>,
    /// The subscription is active on this connection.
    is_started: bool,
    /// The positions of so many topics are still to come.
    topics_left: u64,
    /// The positions of the messages for this subscription alone, and those of the stream at that time.
    own: HashMap<Arc<str>, (NextOffset, NextOffset)>,
    /// It was reported that an unknown number of messages is missing, since the last request.
    is_reported: bool,
    /// Positions were forgotten, or the broker has no history.
    is_lossy: bool,
}

impl Follow {
    pub(super) fn new(pattern: &str, start: Start) -> Self {
        let (opening, position) = match start {
            Start::Now => (StartPosition::Now, None),
            Start::Last => (StartPosition::Last, None),
            Start::Oldest => (StartPosition::Oldest, None),
            Start::After(position) => (StartPosition::Oldest, Some(position)),
        };
        let next =
            |Position { epoch, offset }| (pattern.into(), NextOffset { epoch, offset: offset.saturating_add(1) });
        Self {
            pattern: pattern.into(),
            opening,
            expected: position.map(next).into_iter().collect(),
            expects_all: false,
            is_resumed: false,
            answer: None,
            is_started: false,
            topics_left: 0,
            own: HashMap::new(),
            is_reported: false,
            is_lossy: false,
        }
    }

    /// Whether messages for all subscriptions of the connection are for this one too.
    pub(super) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Whether positions state the missing messages.
    pub(super) fn is_exact(&self) -> bool {
        self.is_started && !self.is_lossy && self.answer.is_some_and(|answer| answer.is_covered)
    }

    /// The body of the request after the pattern.
    pub(super) fn request(&self) -> Vec<u8> {
        let mut body = vec![self.opening as u8];
        let mut positions: Vec<_> = self.expected.iter().collect();
        positions.sort_unstable_by_key(|(topic, _)| *topic);
        for (topic, next) in positions {
            put_position(&mut body, topic, *next);
        }
        body
    }

    /// The connection was lost, whose positions at the end were these. The next request is for another one.
    pub(super) fn handle_loss(&mut self, stream: &Stream, is_lossy: bool) {
        let was_started = std::mem::take(&mut self.is_started);
        self.is_reported = false;
        if !was_started {
            return; // The request was not answered, so it is repeated.
        }
        self.is_resumed = true;
        let own = std::mem::take(&mut self.own);
        if self.topics_left > 0 {
            self.expected.extend(own.into_iter().map(|(topic, (next, _))| (topic, next)));
            return;
        }
        let matching = stream.iter().filter(|(topic, _)| covers(&self.pattern, topic));
        self.expected = matching.map(|(topic, next)| (topic.clone(), *next)).collect();
        for (topic, (next, at)) in own {
            // Otherwise later messages arrived with the stream.
            if stream.get(&topic).is_none_or(|now| *now == at) {
                self.expected.insert(topic, next);
            }
        }
        (self.opening, self.expects_all) = (StartPosition::Oldest, true);
        self.is_lossy |= is_lossy || self.expected.len() > POSITIONS_MAX;
        if self.is_lossy {
            self.forget_positions();
        }
    }

    /// Begins with the next message instead of the positions; returns whether there were any.
    pub(super) fn forget_positions(&mut self) -> bool {
        self.is_lossy = true;
        (self.opening, self.expects_all) = (StartPosition::Now, false);
        !std::mem::take(&mut self.expected).is_empty()
    }

    /// The broker has no history, so this is a plain subscription. Returns the gap.
    pub(super) fn handle_plain(&mut self) -> PrecedingGap {
        self.is_started = true;
        self.is_lossy = true;
        self.topics_left = 0;
        if self.is_resumed { self.report() } else { PrecedingGap::None }
    }

    /// Handles the answer of the broker, and returns the gap.
    pub(super) fn handle_answer(&mut self, answer: Answer) -> PrecedingGap {
        let before = self.answer.replace(answer);
        let was_started = std::mem::replace(&mut self.is_started, true);
        self.topics_left = answer.topics;
        let was_lossy = std::mem::take(&mut self.is_lossy);
        let is_other = before.is_some_and(|before| before.epoch != answer.epoch);
        if was_started && is_other {
            self.is_reported = false; // An epoch that begins during the subscription is a gap of its own.
        }
        let is_topic = check_topic(self.pattern.as_bytes()).is_ok();
        let is_unknown = if is_topic && !self.expected.is_empty() {
            // Unless the topic was removed, its position states the gap.
            answer.topics == 0
        } else {
            is_other
        };
        let is_unknown = is_unknown || self.is_resumed && (was_lossy || !answer.is_covered);
        if is_unknown { self.report() } else { PrecedingGap::None }
    }

    /// Handles the position of the next message for this subscription alone, and returns the gap.
    pub(super) fn handle_position(&mut self, topic: &Arc<str>, next: NextOffset) -> PrecedingGap {
        if self.own.len() >= POSITIONS_MAX {
            self.own = HashMap::new();
            self.is_lossy = true;
        }
        let expected = match self.own.insert(topic.clone(), (next, next)) {
            Some((next, _)) => Some(next),
            None => {
                self.topics_left = self.topics_left.saturating_sub(1);
                let first = self.expects_all.then_some(NextOffset { offset: 1, ..next });
                self.expected.get(topic).copied().or(first)
            }
        };
        let gap = gap(expected, next);
        if gap == PrecedingGap::Unknown { self.report() } else { gap }
    }

    /// Notes that messages for this subscription alone came up to `next`, when the stream was at `stream`.
    pub(super) fn handle_replayed(&mut self, topic: &Arc<str>, next: NextOffset, stream: NextOffset) {
        self.own.insert(topic.clone(), (next, stream));
    }

    fn report(&mut self) -> PrecedingGap {
        if std::mem::replace(&mut self.is_reported, true) { PrecedingGap::None } else { PrecedingGap::Unknown }
    }
}

/// The messages that are missing in front of the next one.
pub(super) fn gap(expected: Option<NextOffset>, next: NextOffset) -> PrecedingGap {
    match expected {
        None => PrecedingGap::None,
        Some(expected) if expected == next => PrecedingGap::None,
        Some(expected) if expected.epoch == next.epoch && expected.offset < next.offset => {
            PrecedingGap::Messages(next.offset - expected.offset)
        }
        Some(_) => PrecedingGap::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COVERED: Answer = Answer { is_covered: true, epoch: 7, topics: 1 };

    fn next(epoch: u64, offset: u64) -> NextOffset {
        NextOffset { epoch, offset }
    }

    fn stream(offset: u64) -> Stream {
        HashMap::from([("a.b".into(), next(7, offset))])
    }

    /// A subscription that was lost after it was complete.
    fn lost(pattern: &str, offset: u64) -> Follow {
        let mut follow = Follow::new(pattern, Start::Now);
        assert_eq!(follow.handle_answer(COVERED), PrecedingGap::None);
        assert_eq!(follow.handle_position(&"a.b".into(), next(7, 3)), PrecedingGap::None);
        follow.handle_loss(&stream(offset), false);
        follow
    }

    #[test]
    fn resumed_subscription_states_missing_messages() {
        let mut complete = lost("a.b", 5);
        assert_eq!(complete.request(), b"\x02\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x05");
        assert_eq!(complete.handle_answer(COVERED), PrecedingGap::None);
        assert_eq!(complete.handle_position(&"a.b".into(), next(7, 5)), PrecedingGap::None);
        let mut overrun = lost("a.b", 5);
        assert_eq!(overrun.handle_answer(Answer { epoch: 9, ..COVERED }), PrecedingGap::None, "the topic is the same");
        assert_eq!(overrun.handle_position(&"a.b".into(), next(7, 9)), PrecedingGap::Messages(4));
        let mut restarted = lost("a.b", 5);
        assert_eq!(restarted.handle_answer(Answer { epoch: 9, ..COVERED }), PrecedingGap::None);
        assert_eq!(restarted.handle_position(&"a.b".into(), next(9, 5)), PrecedingGap::Unknown);
        assert_eq!(lost("a.b", 5).handle_answer(Answer { epoch: 9, topics: 0, ..COVERED }), PrecedingGap::Unknown);
        assert_eq!(lost("a.b", 5).handle_answer(Answer { is_covered: false, ..COVERED }), PrecedingGap::Unknown);
        assert_eq!(lost("a.b", 5).handle_plain(), PrecedingGap::Unknown);
        assert_eq!(lost("a.*", 5).handle_answer(Answer { epoch: 9, ..COVERED }), PrecedingGap::Unknown);
    }

    #[test]
    fn each_epoch_begun_during_a_subscription_is_reported() {
        for pattern in ["a.b", "a.*"] {
            let mut follow = Follow::new(pattern, Start::Now);
            assert_eq!(follow.handle_answer(COVERED), PrecedingGap::None);
            for epoch in [9, 11] {
                let answer = Answer { epoch, topics: 0, ..COVERED };
                assert_eq!(follow.handle_answer(answer), PrecedingGap::Unknown);
                assert_eq!(follow.handle_answer(answer), PrecedingGap::None, "it was sent again");
            }
            follow.handle_loss(&Stream::new(), false);
            assert_eq!(follow.handle_answer(Answer { epoch: 11, topics: 0, ..COVERED }), PrecedingGap::None);
        }
    }

    #[test]
    fn topic_begun_while_disconnected_is_read_from_its_start() {
        let mut follow = lost("a.*", 5);
        assert_eq!(follow.handle_answer(Answer { topics: 2, ..COVERED }), PrecedingGap::None);
        assert_eq!(follow.handle_position(&"a.b".into(), next(7, 5)), PrecedingGap::None);
        assert_eq!(follow.handle_position(&"a.c".into(), next(7, 4)), PrecedingGap::Messages(3));
    }

    #[test]
    fn replay_that_was_cut_off_is_resumed_where_it_was() {
        let mut follow = Follow::new("a.*", Start::Last);
        follow.handle_answer(Answer { topics: 2, ..COVERED });
        follow.handle_position(&"a.b".into(), next(7, 3));
        follow.handle_replayed(&"a.b".into(), next(7, 4), next(7, 9));
        follow.handle_loss(&stream(9), false);
        assert_eq!(follow.request(), b"\x01\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x04", "one topic had no position");
        follow.handle_loss(&stream(1), false);
        assert_eq!(follow.request(), b"\x01\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x04", "it was not answered");
        follow.handle_answer(Answer { topics: 1, ..COVERED });
        follow.handle_position(&"a.b".into(), next(7, 4));
        follow.handle_replayed(&"a.b".into(), next(7, 6), next(7, 9));
        follow.handle_loss(&stream(9), false);
        assert_eq!(follow.request()[1..], *b"\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x06", "the stream is ahead");
        follow.handle_answer(COVERED);
        follow.handle_position(&"a.b".into(), next(7, 6));
        follow.handle_replayed(&"a.b".into(), next(7, 9), next(7, 9));
        follow.handle_loss(&stream(12), false);
        assert_eq!(follow.request()[1..], *b"\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x0c", "the stream went on");
    }

    /// A client kept all that a hostile broker sent.
    #[test]
    fn positions_of_more_topics_than_are_remembered_are_forgotten() {
        let mut follow = Follow::new("a.*", Start::Oldest);
        follow.handle_answer(COVERED);
        for topic in 0..=POSITIONS_MAX {
            follow.handle_position(&format!("a.{topic}").into(), next(7, 1));
        }
        assert_eq!((follow.own.len(), follow.is_exact()), (1, false));
        follow.handle_loss(&stream(9), false);
        assert_eq!(follow.request(), [0]);
        assert_eq!(follow.handle_answer(COVERED), PrecedingGap::Unknown);
    }

    #[test]
    fn forgotten_positions_are_reported() {
        let mut follow = Follow::new("a.*", Start::Oldest);
        follow.handle_answer(Answer { topics: 0, ..COVERED });
        follow.handle_loss(&stream(9), true);
        assert_eq!(follow.request(), [0]);
        assert_eq!(follow.handle_answer(COVERED), PrecedingGap::Unknown);
        assert_eq!(follow.handle_position(&"a.b".into(), next(7, 9)), PrecedingGap::None);
    }
}
