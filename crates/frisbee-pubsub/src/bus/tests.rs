//! Tests of brokers on a bus without sockets: messages that one publishes are delivered by the others.

use super::counts::SequenceStamp;
use super::frame::{Frame, HELLO};
use super::{Backplane, BackplaneError, Interest, MemoryBus, Node, OutagePolicy, PendingInterest};
use crate::tests::{Member, message, runtime};
use crate::{Broker, BrokerBuilder, Kind, Reason};
use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use parking_lot::Mutex;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Runtime;

fn brokers<const N: usize>(bus: &MemoryBus, settings: &BrokerBuilder) -> (Runtime, [Broker; N]) {
    (runtime(), std::array::from_fn(|_| settings.clone().backplane(bus.member()).build()))
}

#[test]
fn all_brokers_deliver_once_in_order() {
    let (runtime, [a, b, c]) = brokers(&MemoryBus::new(), &Broker::builder());
    let mut readers = [&a, &b, &c].map(|broker| Member::new(broker, runtime.handle()));
    let mut writers = [&a, &b, &c].map(|broker| Member::new(broker, runtime.handle()));
    readers.iter_mut().for_each(|reader| reader.subscribe(1, "a.>", ""));
    for number in 0..100 {
        for (at, writer) in writers.iter_mut().enumerate() {
            writer.publish(&format!("a.{}", number % 7), format!("{at}-{number}"));
            writer.publish("b", "not for them");
            writer.run_batch();
        }
    }
    for reader in &mut readers {
        let received = reader.received();
        assert_eq!(received.len(), 300);
        for at in 0..3 {
            let from = received.iter().filter_map(|text| text.strip_prefix(&format!("0:{at}-")));
            assert!(from.eq((0..100).map(|number| number.to_string()).collect::<Vec<_>>()), "from {at}");
        }
    }
    assert_eq!(a.published(), 200, "messages of other publishers should be counted");
}

#[test]
fn overlapping_subscriptions_each_get_message_once() {
    let (runtime, [a, b]) = brokers(&MemoryBus::new(), &Broker::builder());
    let (mut reader, mut writer) = (Member::new(&a, runtime.handle()), Member::new(&b, runtime.handle()));
    let mut alone = Member::new(&a, runtime.handle());
    alone.subscribe(9, "a.*", "");
    for (id, pattern) in [(1, "a.b"), (2, "a.*"), (3, ">"), (4, "a.*")] {
        reader.subscribe(id, pattern, "");
    }
    for number in 0..100 {
        writer.publish("a.b", number.to_string());
    }
    let received = reader.received();
    for id in 1..=4 {
        let own = received.iter().filter_map(|text| text.strip_prefix(&format!("{id}:")));
        assert!(own.eq((0..100).map(|number| number.to_string()).collect::<Vec<_>>()), "for {id}");
    }
    assert_eq!(received.len(), 400);
    // A connection with subscriptions that all have the same pattern receives the same messages.
    assert!(alone.received().iter().eq((0..100).map(|number| format!("0:{number}")).collect::<Vec<_>>().iter()));
}

/// Regression test: each pattern of a broker caches the topics that match it. A publisher at another broker could fill
/// all of these caches, and their memory was not charged to any budget.
#[test]
fn interest_topics_are_charged_and_evicted() {
    let (runtime, [a, b]) = brokers(&MemoryBus::new(), &Broker::builder());
    let (mut reader, mut writer) = (Member::new(&a, runtime.handle()), Member::new(&b, runtime.handle()));
    let budget = reader.connection().memory_budget();
    reader.subscribe(1, ">", "");
    let subscribed = budget.charged();
    assert!((258 + 800..2048).contains(&subscribed), "{subscribed}");
    (0..1000).for_each(|number| writer.publish(&format!("{number:0200}"), "x"));
    writer.run_batch();
    assert_eq!(reader.received().len(), 1000);
    let filled = budget.charged();
    assert!((1000 * 2 * 200..1 << 20).contains(&filled), "{filled}");
    let all = reader.connection().charge(usize::MAX / 8 * 3);
    writer.publish("a", "x");
    writer.run_batch();
    assert_eq!(reader.received().len(), 1);
    drop(all);
    assert!(
        (1000 * 200..filled - 1000 * 200).contains(&budget.charged()),
        "budget is charged {} of {filled} bytes",
        budget.charged()
    );
    reader.vanish();
    assert_eq!(budget.charged(), 0);
}

/// A backplane that records how it is called, and delivers nothing.
#[derive(Clone, Debug, Default)]
struct RecordingBackplane {
    node: Arc<OnceLock<Node>>,
    asked: Arc<Mutex<Vec<String>>>,
    interests: Arc<Mutex<Vec<Arc<Interest>>>>,
    joining: Arc<Mutex<Vec<PendingInterest>>>,
    frames: Arc<Mutex<Vec<Bytes>>>,
    limit: Option<usize>,
    /// Number of frames that can be published before the queue is full, if it is limited.
    room: Arc<Mutex<Option<usize>>>,
}

impl Backplane for RecordingBackplane {
    fn attach(&self, node: Node) {
        self.node.set(node).expect("backplane should be attached to a single broker");
    }

    fn join(&self, interest: &Arc<Interest>, joined: PendingInterest) {
        self.asked.lock().push(format!("+{}{}", interest.pattern(), interest.group().unwrap_or_default()));
        assert_ne!(interest.pattern(), "broken", "backplane panics on request of the test");
        self.interests.lock().push(interest.clone());
        self.joining.lock().push(joined);
    }

    fn leave(&self, interest: &Arc<Interest>) {
        self.asked.lock().push(format!("-{}{}", interest.pattern(), interest.group().unwrap_or_default()));
        assert_ne!(interest.pattern(), "broken", "backplane panics on request of the test");
    }

    fn publish(&self, _topic: &str, frame: Bytes) -> Result<(), BackplaneError> {
        if let Some(limit) = self.limit.filter(|limit| frame.len() > *limit) {
            return Err(BackplaneError::TooLong { length: frame.len(), limit });
        }
        if let Some(room) = &mut *self.room.lock() {
            *room = room.checked_sub(1).ok_or_else(|| BackplaneError::Away("the queue is full".to_owned()))?;
        }
        self.frames.lock().push(frame);
        Ok(())
    }

    fn control(&self, frame: Bytes) {
        self.frames.lock().push(frame);
    }
}

#[test]
fn interest_spans_first_to_last_subscription() {
    let (notes, runtime) = (RecordingBackplane::default(), runtime());
    let broker = Broker::builder().backplane(notes.clone()).build();
    let (mut one, mut other) = (Member::new(&broker, runtime.handle()), Member::new(&broker, runtime.handle()));
    let ask = |peer: &mut Member, id, pattern: &str, group: &str| {
        let _ = peer.send(Kind::Subscribe, id, [message(pattern, ""), group.into()].concat());
    };
    ask(&mut one, 1, "a", "");
    ask(&mut one, 2, "a", "");
    ask(&mut other, 1, "a", "");
    // Each group member has its own interest, so that all members receive equal shares.
    ask(&mut one, 3, "a", "G");
    ask(&mut other, 3, "a", "G");
    assert_eq!(*notes.asked.lock(), ["+a", "+aG", "+aG"]);
    let _ = one.send(Kind::Unsubscribe, 1, "");
    let _ = one.send(Kind::Unsubscribe, 2, "");
    let _ = one.send(Kind::Unsubscribe, 3, "");
    assert_eq!(notes.asked.lock()[3..], ["-aG"]);
    other.vanish();
    assert_eq!(notes.asked.lock().len(), 6);
    assert!(notes.asked.lock()[4..].contains(&"-a".to_owned()));
    assert_eq!(broker.subscriptions(), 0);
}

/// Regression test: the broker kept the subscription forever, or aborted the process.
#[test]
fn panicking_backplane_leaves_no_subscription() {
    let (notes, runtime) = (RecordingBackplane::default(), runtime());
    let broker = Broker::builder().backplane(notes.clone()).build();
    let [mut one, mut other] = [(); 2].map(|()| Member::new(&broker, runtime.handle()));
    for peer in [&mut one, &mut other] {
        peer.subscribe(1, "broken", "");
        peer.subscribe(2, "broken", "");
    }
    let _ = one.send(Kind::Unsubscribe, 1, "");
    one.vanish();
    other.vanish();
    assert_eq!((broker.subscriptions(), &**notes.asked.lock()), (0, &["+broken".to_owned(), "-broken".to_owned()][..]));
}

#[test]
fn subscribe_reply_waits_for_interest() {
    let (notes, runtime) = (RecordingBackplane::default(), runtime());
    let broker = Broker::builder().backplane(notes.clone()).build();
    let (mut one, mut other) = (Member::new(&broker, runtime.handle()), Member::new(&broker, runtime.handle()));
    for (peer, id) in [(&mut one, 1), (&mut other, 2)] {
        let _ = peer.send(Kind::Subscribe, id, message("a", ""));
        assert!(peer.take_packets().is_empty());
    }
    notes.joining.lock().clear();
    for (peer, id) in [(&mut one, 1), (&mut other, 2)] {
        peer.detached.connection().collect(&mut peer.outbox);
        let answer = peer.take_packets().pop().expect("broker should reply to the subscription");
        assert_eq!((answer.id.0, answer.body.len()), (id, 0));
    }
    one.subscribe(3, "a", "");
}

#[test]
fn group_shares_are_equal_across_brokers() {
    let (runtime, [a, b, c]) = brokers(&MemoryBus::new(), &Broker::builder());
    let mut members = [&a, &a, &b, &b, &b, &c].map(|broker| Member::new(broker, runtime.handle()));
    members.iter_mut().for_each(|member| member.subscribe(1, "a", "g"));
    members[0].subscribe(2, "a", "h");
    members[5].subscribe(2, "a", "h");
    let mut writers = [&a, &b, &c].map(|broker| Member::new(broker, runtime.handle()));
    for number in 0..10_000 {
        for writer in &mut writers {
            writer.publish("a", number.to_string());
            writer.run_batch();
        }
    }
    let received = members.each_mut().map(Member::received);
    for received in &received {
        let share = received.iter().filter(|text| text.starts_with("1:")).count();
        assert!((4750..=5250).contains(&share), "share of one of six members is {share} of 30000");
    }
    for at in [0, 5] {
        let share = received[at].iter().filter(|text| text.starts_with("2:")).count();
        assert!((14_250..=15_750).contains(&share), "share of one of two members is {share} of 30000");
    }
    assert_eq!(received.iter().map(Vec::len).sum::<usize>(), 60_000);
}

#[test]
fn sole_group_member_gets_messages_of_its_broker() {
    let (runtime, [a, _b]) = brokers(&MemoryBus::new(), &Broker::builder());
    let (mut member, mut writer) = (Member::new(&a, runtime.handle()), Member::new(&a, runtime.handle()));
    member.subscribe(1, "a", "g");
    (0..100).for_each(|number| writer.publish("a", number.to_string()));
    writer.run_batch();
    assert!(member.received().iter().eq((0..100).map(|number| format!("1:{number}")).collect::<Vec<_>>().iter()));
}

#[test]
fn bus_losses_reach_affected_subscriptions() {
    let bus = MemoryBus::new();
    let (runtime, [a, b]) = brokers(&bus, &Broker::builder());
    let (mut reader, mut writer) = (Member::new(&a, runtime.handle()), Member::new(&b, runtime.handle()));
    reader.subscribe(1, "a.*", "");
    reader.subscribe(2, "a.b", "");
    reader.subscribe(3, "c", "");
    writer.publish("a.b", "1");
    writer.publish("c", "1");
    assert_eq!(reader.received().len(), 3);
    bus.lose(10);
    (2..=13).for_each(|number| writer.publish("a.b", number.to_string()));
    let mut received = reader.received();
    received.sort();
    assert_eq!(received, ["-10", "-10", "1:12", "1:13", "2:12", "2:13"]);
}

#[test]
fn returning_bus_reports_missed_messages() {
    let bus = MemoryBus::new();
    let (runtime, [a, b]) = brokers(&bus, &Broker::builder());
    let mut readers = [&a, &b].map(|broker| Member::new(broker, runtime.handle()));
    let mut writer = Member::new(&b, runtime.handle());
    readers.iter_mut().for_each(|reader| reader.subscribe(1, ">", ""));
    readers[1].subscribe(2, "a", "g");
    writer.publish("a", "x");
    writer.run_batch();
    assert_eq!(readers.each_mut().map(|reader| reader.received().len()), [1, 2]);
    bus.set_away(true);
    (0..500).for_each(|_| writer.publish("a", "x"));
    writer.run_batch();
    assert_eq!(readers[0].received(), [""; 0]);
    assert_eq!(
        readers[1].received().len(),
        1000,
        "subscribers and groups of the publisher's own broker should receive the messages"
    );
    bus.set_away(false);
    assert_eq!(readers[0].received(), ["-500"]);
    assert_eq!(readers[1].received(), [""; 0]);
    writer.publish("a", "y");
    assert_eq!(readers[0].received(), ["0:y"]);
}

#[test]
fn unavailable_bus_rejects_messages_if_configured() {
    let bus = MemoryBus::new();
    let (runtime, [a, b]) = brokers(&bus, &Broker::builder().when_away(OutagePolicy::Refuse));
    let (mut reader, mut local) = (Member::new(&a, runtime.handle()), Member::new(&b, runtime.handle()));
    let mut writer = Member::new(&b, runtime.handle());
    [&mut reader, &mut local].into_iter().for_each(|reader| reader.subscribe(1, "a", ""));
    bus.set_away(true);
    writer.publish("a", "x");
    let refused = writer.take_packets().pop().expect("broker should send a rejection");
    assert_eq!(refused.body[0], Reason::Backplane as u8);
    assert!(refused.body[1..].starts_with(b"the backplane is unavailable: "));
    writer.run_batch();
    bus.set_away(false);
    writer.publish("a", "y");
    writer.run_batch();
    // Rejected messages do not count as missed.
    assert_eq!((reader.received(), local.received()), (vec!["0:y".to_owned()], vec!["0:y".to_owned()]));
    assert_eq!(b.published(), 1);
}

#[test]
fn message_over_backplane_limit_is_rejected() {
    let runtime = runtime();
    let broker =
        Broker::builder().backplane(RecordingBackplane { limit: Some(100), ..RecordingBackplane::default() }).build();
    let mut writer = Member::new(&broker, runtime.handle());
    writer.publish("a", [0; 100]);
    let refused = writer.take_packets().pop().expect("broker should send a rejection");
    assert_eq!(refused.body[0], Reason::Backplane as u8);
    let text = String::from_utf8_lossy(&refused.body[1..]).into_owned();
    assert_eq!(text, "a message of 113 bytes exceeds the 100 bytes that the backplane accepts");
}

/// Creates a broker with a backplane that records all frames, and a client that subscribes to all topics. Also returns
/// the node through which a test delivers frames to the broker.
fn noted(runtime: &Runtime) -> (RecordingBackplane, Broker, Member, Node) {
    let notes = RecordingBackplane::default();
    let broker = Broker::builder().backplane(notes.clone()).build();
    let mut reader = Member::new(&broker, runtime.handle());
    let _ = reader.send(Kind::Subscribe, 1, message(">", ""));
    notes.joining.lock().clear();
    reader.detached.connection().collect(&mut reader.outbox);
    assert_eq!(reader.take_packets().len(), 1);
    let node = notes.node.get().unwrap().clone();
    (notes, broker, reader, node)
}

#[test]
fn bus_frames_are_validated_and_not_echoed() {
    let runtime = runtime();
    let (notes, _broker, mut reader, node) = noted(&runtime);
    let interest = notes.interests.lock()[0].clone();
    let stamp = |count| SequenceStamp { origin: 1, epoch: 0, count };
    let good = Frame::Message.encode(stamp(1), &message("a", "x"));
    node.deliver(&interest, [("a", good.clone()), ("a", good)]);
    for frame in [
        Bytes::new(),
        Bytes::from_static(b"\x01"),
        Bytes::from(vec![0xFF; 300]),
        Frame::Message.encode(stamp(2), b""),
        Frame::Message.encode(stamp(2), b"\x05a"),
        Frame::Message.encode(stamp(2), &message("other", "x")),
        Frame::Message.encode(stamp(u64::MAX), &message("a", "x")),
        Bytes::from_static(HELLO),
    ] {
        node.deliver(&interest, [("a", frame)]);
    }
    // Deliver on a topic without a subscription, as a faulty backplane might.
    node.deliver(&interest, [("a b", Frame::Message.encode(stamp(1), &message("a b", "x")))]);
    node.deliver(&interest, [("a", Frame::Message.encode(stamp(2), &message("a", "y")))]);
    assert_eq!(reader.received(), ["0:x", "0:y"]);
    assert!(notes.frames.lock().is_empty(), "messages of a bus should not be sent back to it");
}

#[test]
fn message_returning_to_broker_is_dropped() {
    let runtime = runtime();
    let (notes, broker, mut reader, node) = noted(&runtime);
    let mut writer = Member::new(&broker, runtime.handle());
    writer.publish("a", "x");
    writer.run_batch();
    let interest = notes.interests.lock()[0].clone();
    let frame = notes.frames.lock().pop().unwrap();
    node.deliver(&interest, [("a", frame)]);
    assert_eq!(reader.received(), ["0:x"]);
}

#[test]
fn repeated_hellos_get_one_mark_round() {
    let runtime = runtime();
    let (notes, broker, _reader, node) = noted(&runtime);
    let mut writer = Member::new(&broker, runtime.handle());
    for number in 0..1000 {
        writer.publish(&format!("a.{number}"), "x");
    }
    notes.frames.lock().clear();
    (0..100).for_each(|_| node.control(HELLO));
    node.control(b"hello");
    node.tick();
    node.tick();
    let marks: Vec<_> = notes.frames.lock().iter().map(|frame| Frame::decode(frame).unwrap()).collect();
    assert_eq!(marks.len(), 1000);
    assert!(marks.iter().all(|(kind, stamp, _)| (*kind, stamp.count) == (Frame::Mark, 1)));
}

/// Regression test: if the queue of the backplane was full, other brokers learned of the loss only by a later message
/// of the same topic or a reconnect. A queue with space for one frame received the first mark again and again.
#[test]
fn losses_at_full_queue_are_marked_as_it_drains() {
    let runtime = runtime();
    let (notes, broker, _reader, node) = noted(&runtime);
    let mut writer = Member::new(&broker, runtime.handle());
    *notes.room.lock() = Some(0);
    for topic in ["a", "b"] {
        writer.publish(topic, "x");
    }
    for room in [0, 1, 1, 1] {
        *notes.room.lock() = Some(room);
        node.tick();
    }
    let frames = notes.frames.lock();
    let marks: Vec<_> = frames.iter().filter_map(Frame::decode).collect();
    let is_mark = |(kind, stamp, _): &(Frame, SequenceStamp, Bytes)| (*kind, stamp.count) == (Frame::Mark, 1);
    assert!(marks.len() == 2 && marks.iter().all(is_mark), "{marks:?}");
    assert_ne!(frames[0], frames[1], "each topic should be marked");
}

#[test]
fn nothing_is_left_of_subscribers_that_vanish() {
    let (runtime, [a, b]) = brokers(&MemoryBus::new(), &Broker::builder());
    let (mut gone, mut writer) = (Member::new(&a, runtime.handle()), Member::new(&b, runtime.handle()));
    let mut stays = Member::new(&a, runtime.handle());
    stays.subscribe(1, "a", "");
    gone.subscribe(1, "a", "");
    gone.subscribe(2, "a", "g");
    writer.publish("a", "x");
    let weak = gone.witness();
    gone.vanish();
    gone.detached = writer.detached.clone();
    writer.publish("a", "y");
    assert_eq!(stays.received(), ["0:x", "0:y"]);
    assert!(weak.upgrade().is_none(), "no reference should remain");
}
