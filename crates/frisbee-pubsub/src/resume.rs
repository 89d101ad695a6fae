//! Client side of subscriptions that use topic histories: where they start, and which messages are missing after a
//! reconnect.

use super::covers;
use super::follow::{Answer, NextOffset, StartPosition, put_position};
use super::inbox::Position;
use super::topics::check_topic;
use std::collections::HashMap;
use std::sync::Arc;

/// Maximum number of topic positions that a client remembers. Beyond it, the client discards all positions, and the
/// next reconnect reports that an unknown number of messages is missing.
pub(super) const POSITIONS_MAX: usize = 64 * 1024;

/// Point in the history of its topics at which a subscription starts. Passed to
/// [`Client::subscribe_from`](crate::Client::subscribe_from).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Start {
    /// Starts with the next published message.
    Now,
    /// Starts with the last message of each topic, which is its current value.
    Last,
    /// Starts with the oldest message of each topic that the broker keeps.
    Oldest,
    /// Starts with the message after this position. Requires a pattern without wildcards.
    After(Position),
}

/// Whether messages are missing directly before a received message, and how many if the number is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrecedingGap {
    None,
    Messages(u64),
    Unknown,
}

/// Position of the next live message for each topic on a connection. All subscriptions of the connection share it.
pub(super) type Stream = HashMap<Arc<str>, NextOffset>;

/// Position tracking of a subscription that uses a history. It detects missing messages, and after a reconnect requests
/// the messages that follow the last one received.
#[derive(Debug, Default)]
pub(super) struct Follow {
    pattern: Box<str>,
    /// Starting position for topics without a known position, as sent in the last request.
    opening: StartPosition,
    /// Topic positions that were sent in the last request.
    expected: HashMap<Arc<str>, NextOffset>,
    /// Whether topics without a position in the request should start at their first message. If they start later,
    /// messages are missing.
    expects_all: bool,
    /// Whether the request renews a subscription after a reconnect.
    is_resumed: bool,
    /// Last reply to the subscription request, possibly from an earlier connection.
    answer: Option<Answer>,
    /// Whether the broker has confirmed the subscription on the current connection.
    pub(super) is_started: bool,
    /// Number of topic positions that the broker has announced in its reply but not sent yet.
    topics_left: u64,
    /// Two positions for each topic with a history that was replayed to this subscription: the position after the
    /// replayed messages, and the position of the topic's live messages at that time.
    own: HashMap<Arc<str>, (NextOffset, NextOffset)>,
    /// Whether the subscription has reported, since the last request, that an unknown number of messages is missing.
    is_reported: bool,
    /// Whether missing messages cannot be detected, because topic positions were discarded or the broker keeps no
    /// history.
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
        Self { pattern: pattern.into(), opening, expected: position.map(next).into_iter().collect(), ..Self::default() }
    }

    /// Returns whether this subscription detects missing messages by their positions.
    pub(super) fn is_exact(&self) -> bool {
        self.is_started && !self.is_lossy && self.answer.is_some_and(|answer| answer.is_covered)
    }

    /// Encodes the part of a subscription request that follows the pattern.
    pub(super) fn request(&self) -> Vec<u8> {
        let mut body = vec![self.opening as u8];
        let mut positions: Vec<_> = self.expected.iter().collect();
        positions.sort_unstable_by_key(|(topic, _)| *topic);
        for (topic, next) in positions {
            put_position(&mut body, topic, *next);
        }
        body
    }

    /// Handles the loss of the connection by preparing the next request, which resumes the subscription on another
    /// connection. `stream` contains the last position of each topic.
    pub(super) fn handle_loss(&mut self, stream: &Stream, is_lossy: bool) {
        let was_started = std::mem::take(&mut self.is_started);
        self.is_reported = false;
        if !was_started {
            return; // Repeat the request, because it has no reply yet.
        }
        self.is_resumed = true;
        let own = std::mem::take(&mut self.own);
        if self.topics_left > 0 && !self.is_lossy {
            // Messages of topics that the broker has not listed yet are lost unless their positions are known.
            self.is_lossy = !self.expects_all && !self.is_known_topic();
            self.expected.extend(own.into_iter().map(|(topic, (next, _))| (topic, next)));
            return;
        }
        let matching = stream.iter().filter(|(topic, _)| covers(&self.pattern, topic));
        self.expected = matching.map(|(topic, next)| (topic.clone(), *next)).collect();
        for (topic, (next, at)) in own {
            // If the live position has changed since the replay, the subscription has received later messages live, so
            // the live position applies.
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

    /// Returns whether the pattern is a single topic whose position was sent in the last request.
    fn is_known_topic(&self) -> bool {
        !self.expected.is_empty() && check_topic(self.pattern.as_bytes()).is_ok()
    }

    /// Called when the positions of live messages were discarded. The subscription then relies on the broker's loss
    /// reports for the connection.
    pub(super) fn handle_discarded_stream(&mut self) {
        self.is_lossy |= self.is_started;
    }

    /// Discards the remembered topic positions, so that the subscription resumes with the next message that is
    /// published. Returns whether there were any positions.
    pub(super) fn forget_positions(&mut self) -> bool {
        self.is_lossy = true;
        (self.opening, self.expects_all) = (StartPosition::Now, false);
        !std::mem::take(&mut self.expected).is_empty()
    }

    /// Continues the subscription without a history, because the broker keeps none. After a reconnect, returns a gap of
    /// unknown length unless a gap was already reported.
    pub(super) fn handle_plain(&mut self) -> PrecedingGap {
        self.is_started = true;
        self.is_lossy = true;
        self.topics_left = 0;
        if self.is_resumed { self.report() } else { PrecedingGap::None }
    }

    /// Handles the broker's reply to the subscription request. Returns [`PrecedingGap::Unknown`] if messages may be
    /// missing and the reader must be notified.
    pub(super) fn handle_answer(&mut self, answer: Answer) -> PrecedingGap {
        let before = self.answer.replace(answer);
        let was_started = std::mem::replace(&mut self.is_started, true);
        self.topics_left = answer.topics;
        let was_lossy = std::mem::take(&mut self.is_lossy);
        let is_other = before.is_some_and(|before| before.epoch != answer.epoch);
        if was_started && is_other {
            // The broker has started a new epoch during the subscription. Report it, even if an earlier one was
            // reported.
            self.is_reported = false;
        }
        let is_unknown = if self.is_known_topic() {
            // If the broker still has the topic, the position that follows this reply shows whether messages are
            // missing.
            answer.topics == 0
        } else {
            is_other
        };
        let is_unknown = is_unknown || self.is_resumed && (was_lossy || !answer.is_covered);
        if is_unknown { self.report() } else { PrecedingGap::None }
    }

    /// Handles the start of a replay. `next` is the position of the first message of the topic that the broker replays.
    /// Returns how many messages are missing between the last message that this subscription has received and `next`.
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

    /// Handles the end of a replay. This subscription has now received the messages of the topic up to the position
    /// `next`, and continues there after a reconnect. `stream` is the position of the topic's live messages on this
    /// connection. It shows later whether the subscription has also received live messages.
    pub(super) fn handle_replayed(&mut self, topic: &Arc<str>, next: NextOffset, stream: NextOffset) {
        self.own.insert(topic.clone(), (next, stream));
    }

    fn report(&mut self) -> PrecedingGap {
        if std::mem::replace(&mut self.is_reported, true) { PrecedingGap::None } else { PrecedingGap::Unknown }
    }
}

/// Compares the expected position of a topic with its actual position `next`. Returns whether messages are missing
/// between the two, and how many if the number is known.
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

    /// Creates a subscription that lost its connection after its replay was complete.
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
        assert_eq!(
            overrun.handle_answer(Answer { epoch: 9, ..COVERED }),
            PrecedingGap::None,
            "topic should be the same"
        );
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
    fn each_new_epoch_is_reported_once() {
        for pattern in ["a.b", "a.*"] {
            let mut follow = Follow::new(pattern, Start::Now);
            assert_eq!(follow.handle_answer(COVERED), PrecedingGap::None);
            for epoch in [9, 11] {
                let answer = Answer { epoch, topics: 0, ..COVERED };
                assert_eq!(follow.handle_answer(answer), PrecedingGap::Unknown);
                assert_eq!(
                    follow.handle_answer(answer),
                    PrecedingGap::None,
                    "reply that was sent again should report no further gap"
                );
            }
            follow.handle_loss(&Stream::new(), false);
            assert_eq!(follow.handle_answer(Answer { epoch: 11, topics: 0, ..COVERED }), PrecedingGap::None);
        }
    }

    #[test]
    fn topic_begun_during_outage_replays_from_start() {
        let mut follow = lost("a.*", 5);
        assert_eq!(follow.handle_answer(Answer { topics: 2, ..COVERED }), PrecedingGap::None);
        assert_eq!(follow.handle_position(&"a.b".into(), next(7, 5)), PrecedingGap::None);
        assert_eq!(follow.handle_position(&"a.c".into(), next(7, 4)), PrecedingGap::Messages(3));
    }

    #[test]
    fn interrupted_replay_resumes_at_last_position() {
        let mut follow = Follow::new("a.*", Start::Last);
        follow.handle_answer(Answer { topics: 2, ..COVERED });
        follow.handle_position(&"a.b".into(), next(7, 3));
        follow.handle_replayed(&"a.b".into(), next(7, 4), next(7, 9));
        follow.handle_loss(&stream(9), false);
        assert_eq!(
            follow.request(),
            b"\x01\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x04",
            "position of a topic should be unknown"
        );
        follow.handle_loss(&stream(1), false);
        assert_eq!(
            follow.request(),
            b"\x01\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x04",
            "unanswered request should be repeated unchanged"
        );
        follow.handle_answer(Answer { topics: 1, ..COVERED });
        follow.handle_position(&"a.b".into(), next(7, 4));
        follow.handle_replayed(&"a.b".into(), next(7, 6), next(7, 9));
        follow.handle_loss(&stream(9), false);
        assert_eq!(
            follow.request()[1..],
            *b"\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x06",
            "stream should be ahead of the reply"
        );
        follow.handle_answer(COVERED);
        follow.handle_position(&"a.b".into(), next(7, 6));
        follow.handle_replayed(&"a.b".into(), next(7, 9), next(7, 9));
        follow.handle_loss(&stream(12), false);
        assert_eq!(
            follow.request()[1..],
            *b"\x03a.b\x00\x00\x00\x00\x00\x00\x00\x07\x0c",
            "stream should have continued"
        );
    }

    /// Regression test: if the connection was lost before all topics were listed, messages of the other topics were
    /// lost without a report.
    #[test]
    fn loss_during_list_of_topics_is_reported() {
        let interrupt = |follow: &mut Follow| {
            follow.handle_position(&"a.b".into(), next(7, 3));
            follow.handle_replayed(&"a.b".into(), next(7, 3), next(7, 3));
            follow.handle_loss(&stream(3), false);
            follow.handle_answer(Answer { topics: 2, ..COVERED })
        };
        for start in [Start::Now, Start::Last, Start::Oldest] {
            let mut follow = Follow::new("a.*", start);
            follow.handle_answer(Answer { topics: 2, ..COVERED });
            assert_eq!(interrupt(&mut follow), PrecedingGap::Unknown, "{start:?}");
            assert_eq!(interrupt(&mut follow), PrecedingGap::Unknown, "{start:?}, other topics are still unknown");
            follow.handle_position(&"a.b".into(), next(7, 3));
            follow.handle_position(&"a.c".into(), next(7, 1));
            follow.handle_loss(&stream(3), false);
            assert_eq!(follow.handle_answer(Answer { topics: 2, ..COVERED }), PrecedingGap::None);
            assert_eq!(interrupt(&mut follow), PrecedingGap::None, "{start:?}, all topics are known");
        }
        let position = Position { epoch: 7, offset: 2 };
        let mut follow = Follow::new("a.b", Start::After(position));
        follow.handle_answer(COVERED);
        follow.handle_loss(&Stream::new(), false);
        assert_eq!(follow.handle_answer(COVERED), PrecedingGap::None);
    }

    /// Regression test: a subscription whose replay was interrupted after it had discarded positions received the
    /// messages of these topics again.
    #[test]
    fn interrupted_replay_forgets_excess_positions() {
        let mut follow = Follow::new("a.*", Start::Oldest);
        follow.handle_answer(Answer { topics: POSITIONS_MAX as u64 + 2, ..COVERED });
        for topic in 0..=POSITIONS_MAX {
            follow.handle_position(&format!("a.{topic}").into(), next(7, 1));
        }
        follow.handle_loss(&Stream::new(), false);
        assert_eq!(follow.request(), [0]);
    }

    /// Regression test: a client stored an unlimited number of topic positions that a hostile broker sent.
    #[test]
    fn excess_topic_positions_are_forgotten() {
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
