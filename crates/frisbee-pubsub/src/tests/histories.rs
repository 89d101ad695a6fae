//! Tests of topics with a history: which stored messages a subscriber receives, and where its live messages start.

use super::*;
use crate::History;
use crate::broker::BrokerShared;
use crate::fanout::{Route, Source};
use crate::follow::{Answer, NextOffset, Positions, put_position};
use frisbee::MemoryBudget;
use frisbee::rpc::ConnectionExt;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// Returns the packets of this batch and the following ones: `=` for replies, `@topic:offset` for positions,
/// `id:payload` for messages, and `-lost` for losses.
pub(super) fn shown(member: &mut Member) -> Vec<String> {
    let mut shown = Vec::new();
    loop {
        let again = member.run_batch();
        for packet in member.take_packets() {
            let id = packet.id;
            shown.push(match NUMBERS.kind(packet.operation) {
                Some(Kind::Follow) => {
                    format!("={}", Answer::decode(&packet.body).expect("broker should accept the subscription").topics)
                }
                Some(Kind::Position) => {
                    let position =
                        Positions(&packet.body).next().flatten().expect("packet should contain a history position");
                    format!("{id}@{}:{}", String::from_utf8_lossy(position.0), position.1.offset)
                }
                Some(Kind::Message) => {
                    let (_, payload) = split_name(&packet.body).unwrap();
                    format!("{id}:{}", String::from_utf8_lossy(payload))
                }
                Some(Kind::Lagged) => format!("-{}", tlv::whole_varint(&packet.body).unwrap()),
                other => panic!("{other:?}"),
            });
        }
        if !again {
            return shown;
        }
    }
}

pub(super) fn follow(member: &mut Member, id: u16, pattern: &str, start: u8, positions: &[(&str, NextOffset)]) {
    let mut body = name(pattern);
    body.push(start);
    positions.iter().for_each(|(topic, next)| put_position(&mut body, topic, *next));
    assert!(matches!(member.send(Kind::Follow, id, body), Routed::Slow | Routed::Charged(_)));
}

pub(super) fn epoch(broker: &Broker) -> u64 {
    broker.0.histories.lock().epoch
}

pub(super) fn publish(member: &mut Member, topic: &str, numbers: impl IntoIterator<Item = u32>) {
    numbers.into_iter().for_each(|number| member.publish(topic, number.to_string()));
    member.run_batch();
}

/// Regression test: each subscription with a wildcard was compared with all topics, free of charge. A client could keep
/// a core busy by subscribing and unsubscribing repeatedly.
#[test]
fn mismatched_topics_are_charged_to_subscriber() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder().history(">", History::last(1)));
    for topic in 0..100 {
        publish(&mut writer, &format!("{}.{topic}", if topic % 2 == 0 { "even" } else { "odd" }), 0..=0);
    }
    for (pattern, topics, charge) in [
        (">", 100, None),
        ("*.*", 100, None),
        ("even.*", 50, None),
        ("even.>", 50, None),
        ("eve.*", 0, None),
        ("odd.1", 1, None),
        ("odd.x", 0, None),
        ("*.1", 1, Some(99 / 8)),
        ("odd.*.x", 0, Some(50 / 8)),
        ("*", 0, Some(100 / 8)),
    ] {
        let routed = reader.send(Kind::Follow, 1, [name(pattern), vec![0]].concat());
        match charge {
            None => assert!(matches!(routed, Routed::Slow), "{pattern}: {routed:?}"),
            Some(bytes) => assert!(matches!(routed, Routed::Charged(of) if of == bytes), "{pattern}: {routed:?}"),
        }
        assert_eq!(shown(&mut reader)[0], format!("={topics}"), "{pattern}");
        let _ = reader.send(Kind::Unsubscribe, 1, "");
    }
}

/// Regression test: the permission callback was called while the histories were locked. A callback that queried their
/// memory deadlocked.
#[test]
fn history_permission_may_query_memory() {
    let slot = Arc::new(OnceLock::<Broker>::new());
    let broker = slot.clone();
    let settings = Broker::builder().history("a", History::last(1)).permit(move |_, _| {
        let (sender, memory) = mpsc::channel();
        let broker = broker.get().cloned().expect("broker should be stored before the first request");
        thread::spawn(move || sender.send(broker.history_memory()));
        memory.recv_timeout(Duration::from_secs(20)) == Ok(0)
    });
    let (_runtime, broker, [mut reader]) = peers(settings);
    assert!(slot.set(broker).is_ok());
    follow(&mut reader, 1, "a", 0, &[]);
    assert_eq!(shown(&mut reader), ["=0"]);
}

#[test]
fn subscriber_starts_at_requested_position_and_continues() {
    let (_runtime, _, [mut now, mut last, mut oldest, mut writer]) =
        peers(Broker::builder().history("a.*", History::last(3)));
    publish(&mut writer, "a.b", 1..=5);
    publish(&mut writer, "a.c", 9..=9);
    publish(&mut writer, "b", 1..=1);
    follow(&mut now, 1, "a.b", 0, &[]);
    follow(&mut last, 1, "a.*", 1, &[]);
    follow(&mut oldest, 7, "a.b", 2, &[]);
    publish(&mut writer, "a.b", 6..=6);
    publish(&mut writer, "a.d", 7..=7);
    assert_eq!(shown(&mut now), ["=1", "1@a.b:6", "0:6"]);
    assert_eq!(shown(&mut last), ["=2", "1@a.b:5", "1:5", "1@a.c:1", "1:9", "0:6", "0@a.d:1", "0:7"]);
    assert_eq!(shown(&mut oldest), ["=1", "7@a.b:3", "7:3", "7:4", "7:5", "0:6"]);
}

#[test]
fn position_resumes_only_within_its_epoch() {
    let (_runtime, broker, [mut reader, mut writer]) = peers(Broker::builder().history("a", History::last(3)));
    publish(&mut writer, "a", 1..=5);
    let next = |epoch, offset| [("a", NextOffset { epoch, offset })];
    let epoch = epoch(&broker);
    for (at, expected) in [(4, "1@a:4 1:4 1:5"), (6, "1@a:6"), (2, "1@a:3 1:3 1:4 1:5"), (9, "1@a:3 1:3 1:4 1:5")] {
        follow(&mut reader, 1, "a", 0, &next(epoch, at));
        assert_eq!(shown(&mut reader)[1..].join(" "), expected, "from {at}");
        let _ = reader.send(Kind::Unsubscribe, 1, "");
    }
    follow(&mut reader, 1, "a", 0, &next(epoch ^ 2, 4));
    assert_eq!(shown(&mut reader), ["=1", "1@a:6"]);
}

#[test]
fn stale_publisher_route_reaches_new_subscriber() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder().history("a", History::last(3)));
    writer.publish("a", "1");
    follow(&mut reader, 1, "a", 2, &[]);
    writer.run_batch();
    assert_eq!(
        shown(&mut reader),
        ["=0", "0@a:1", "0:1"],
        "message recorded after the subscription should arrive live"
    );
    writer.publish("a", "2");
    writer.run_batch();
    writer.publish("a", "3");
    let _ = reader.send(Kind::Unsubscribe, 1, "");
    follow(&mut reader, 2, "a", 2, &[]);
    writer.run_batch();
    assert_eq!(shown(&mut reader)[1..], ["=1", "2@a:1", "2:1", "2:2", "0:3"]);
}

#[test]
fn plain_subscriber_sees_no_positions() {
    let (_runtime, _, [mut plain, mut reader, mut writer]) = peers(Broker::builder().history("a", History::last(3)));
    plain.subscribe(1, "a", "");
    follow(&mut reader, 1, "a", 0, &[]);
    publish(&mut writer, "a", 1..=2);
    assert_eq!(shown(&mut plain), ["0:1", "0:2"]);
    assert_eq!(shown(&mut reader), ["=0", "0@a:1", "0:1", "0:2"]);
}

#[test]
fn dropped_messages_are_followed_by_their_position() {
    let settings = Broker::builder().history(">", History::last(100)).queue_max(20_000);
    let (_runtime, _, [mut reader, mut writer]) = peers(settings);
    follow(&mut reader, 1, "a", 0, &[]);
    for number in 0..100 {
        writer.publish("a", format!("{number:01000}"));
        writer.run_batch();
    }
    let shown = shown(&mut reader);
    let lost: u64 =
        shown[3].strip_prefix('-').expect("packet should report the number of lost messages").parse().unwrap();
    assert_eq!(
        shown[..3],
        ["=0".to_owned(), "0@a:1".to_owned(), format!("0@a:{}", lost + 1)],
        "reply and positions should not be dropped with the messages"
    );
    assert_eq!(shown.len() as u64 - 4, 100 - lost);
    assert!(shown[4].ends_with(&format!("{lost:05}")));
}

/// Regression test: a slow subscriber did not learn that the first messages of a topic had been dropped, neither after
/// the topic's history had been removed, nor for a topic that another subscription of the connection started to follow.
#[test]
fn each_dropped_part_of_topic_has_its_positions() {
    let settings = Broker::builder().history(">", History::last(2)).history_topics_max(1).queue_max(6_000);
    let (_runtime, broker, [mut reader, mut writer]) = peers(settings);
    follow(&mut reader, 1, "a", 0, &[]);
    publish(&mut writer, "a", 1..=3);
    assert_eq!(shown(&mut reader), ["=0", "0@a:1", "0:1", "0:2", "0:3"]);
    let before = epoch(&broker);
    publish(&mut writer, "a", 4..=5);
    publish(&mut writer, "b", 1..=1);
    publish(&mut writer, "a", 6..=8);
    assert_ne!(epoch(&broker), before);
    follow(&mut reader, 2, "a", 0, &[]);
    publish(&mut writer, "a", 9..=9);
    writer.publish("a", vec![b'x'; 6_000]);
    writer.run_batch();
    let shown = shown(&mut reader);
    assert_eq!(shown[..7], ["0@a:6", "0@a:1", "0@a:4", "=1", "2@a:4", "0@a:5", "-6"]);
}

/// Regression test: if only the position of a new topic was dropped, its first message was sent without one. A client
/// that reconnected then received the messages of the topic twice.
#[test]
fn dropped_position_of_new_topic_is_sent_again() {
    let settings = Broker::builder().history(">", History::last(2)).queue_max(5_500);
    let (_runtime, _, [mut reader, mut writer]) = peers(settings);
    follow(&mut reader, 1, "a.*", 0, &[]);
    assert_eq!(shown(&mut reader), ["=0"]);
    for topic in ["a.b", "a.c"] {
        writer.publish(topic, format!("{topic:5000}"));
        writer.run_batch();
    }
    let shown = shown(&mut reader);
    let shown: Vec<_> = shown.iter().map(|text| text.trim_end()).collect();
    assert_eq!(shown, ["0@a.b:1", "0@a.b:2", "0@a.c:1", "-1", "0:a.c"]);
}

#[test]
fn oversized_message_is_followed_by_position() {
    let (_runtime, broker, [mut reader, mut writer]) = peers(Broker::builder().history("a", History::last(3)));
    let mut hello = frisbee::Hello::decode(&Bytes::from_static(b"fris\x01")).unwrap();
    hello.body_max = 100;
    let peer = PeerKind::Native(hello.into());
    broker.event(reader.session.as_mut().unwrap(), &mut ConnectionEvent::PeerKnown(&peer));
    follow(&mut reader, 1, "a", 0, &[]);
    writer.publish("a", "x");
    writer.publish("a", [0; 200]);
    writer.publish("a", "y");
    writer.run_batch();
    assert_eq!(shown(&mut reader), ["=0", "0@a:1", "0:x", "0:y", "0@a:4", "-1"]);
}

#[test]
fn expired_messages_are_not_sent() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let history = History::last(10).for_time(Duration::from_secs(60));
    let broker = Broker::builder().history("a", history).build();
    let [mut reader, mut writer] = [(); 2].map(|()| Member::new(&broker, runtime.handle()));
    runtime.block_on(async {
        publish(&mut writer, "a", 1..=2);
        tokio::time::advance(Duration::from_secs(40)).await;
        publish(&mut writer, "a", 3..=3);
        tokio::time::advance(Duration::from_secs(21)).await;
        follow(&mut reader, 1, "a", 2, &[]);
        assert_eq!(shown(&mut reader), ["=1", "1@a:3", "1:3"]);
    });
}

#[test]
fn histories_are_bounded_and_charged() {
    let settings = Broker::builder().history(">", History::last(1000)).history_memory_max(200_000);
    let (_runtime, broker, [mut reader, mut writer]) = peers(settings);
    let held = |writer: &Member| writer.connection().memory_budget().charged();
    for _ in 0..100 {
        writer.publish("a", vec![b'x'; 10_000]);
        writer.run_batch();
        assert!(broker.history_memory() <= 210_100, "histories take {} bytes", broker.history_memory());
        assert!(held(&writer).abs_diff(broker.history_memory()) <= 16 * 1024);
    }
    follow(&mut reader, 1, "a", 2, &[]);
    let first: u64 = shown(&mut reader)[1]
        .strip_prefix("1@a:")
        .expect("second packet should contain the position of topic `a`")
        .parse()
        .unwrap();
    assert!(first > 80, "{first}");
    writer.publish("a", vec![0; 300_000]);
    writer.run_batch();
    assert!(broker.history_memory() < 1000, "one message is longer than all that may be kept");
}

/// Regression test: topics with short messages, with histories of 300 bytes each, exceeded the memory limit of all
/// histories.
#[test]
fn many_topics_stay_within_memory_of_histories() {
    let settings = Broker::builder().history(">", History::last(1)).history_memory_max(20_000);
    let (_runtime, broker, [mut writer]) = peers(settings);
    for number in 0..1000 {
        publish(&mut writer, &format!("topic.{number}"), [number]);
        assert!(broker.history_memory() <= 20_000, "histories take {} bytes", broker.history_memory());
    }
}

/// Source of messages: a number from which the publisher's address is derived, and the memory budget to charge.
struct Published<'a>(u8, &'a MemoryBudget);

impl Source for Published<'_> {
    const PUBLISHES: bool = true;

    fn number(&self) -> u64 {
        0
    }

    fn budget(&self) -> &MemoryBudget {
        self.1
    }

    fn publisher(&self) -> Option<IpAddr> {
        Some([192, 0, 2, self.0].into())
    }

    fn route(&self, _broker: &BrokerShared, topic: &str) -> Route {
        unreachable!("histories look up no receivers of {topic}")
    }
}

/// Regression test: a publisher of many topics evicted the histories of all other publishers.
#[test]
fn publisher_of_many_topics_evicts_its_own() {
    let settings = Broker::builder().history(">", History::last(1)).history_topics_max(8);
    let (_runtime, broker, [member]) = peers(settings);
    let (histories, budget) = (&broker.0.histories, member.connection().memory_budget());
    let publish = |host: u8, topics: Range<u32>| {
        for topic in topics {
            let from = Published(host, &budget);
            histories.skip(&mut histories.lock(), &format!("{host}.{topic}"), History::last(1), 1, &from);
        }
        [1, 2].map(|host| histories.lock().topics.keys().filter(|topic| topic.starts_with(&host.to_string())).count())
    };
    assert_eq!(publish(1, 0..3), [3, 0]);
    assert_eq!(publish(2, 0..100), [3, 5]);
    assert_eq!(publish(1, 3..100), [4, 4]);
}

/// Regression test: forged message counts of other brokers made the offsets of a topic overflow.
#[test]
fn offsets_do_not_overflow() {
    let (_runtime, broker, [mut reader, mut writer]) = peers(Broker::builder().history("a", History::last(2)));
    let (histories, budget) = (&broker.0.histories, writer.connection().memory_budget());
    for _ in 0..2 {
        histories.skip(&mut histories.lock(), "a", History::last(2), u64::MAX, &Published(1, &budget));
    }
    publish(&mut writer, "a", 1..=3);
    follow(&mut reader, 1, "a", 2, &[]);
    assert_eq!(shown(&mut reader)[2..], ["1:2", "1:3"]);
}

/// Regression test: readers that took no messages kept each replaced message of a history alive, and the memory of
/// these messages was not charged.
#[test]
fn long_messages_stay_charged_until_readers_end() {
    const LONG: usize = 100_000;
    let settings = Broker::builder().history(">", History::last(1)).history_memory_max(1_000_000);
    let (_runtime, broker, [mut first, mut second, mut writer]) = peers(settings);
    let held = |writer: &Member| writer.connection().memory_budget().charged();
    for (replaced, reader) in [&mut first, &mut second].into_iter().enumerate() {
        writer.publish("a", vec![b'x'; LONG]);
        writer.run_batch();
        follow(reader, 1, "a", 1, &[]);
        let before = (replaced + 1) * LONG;
        assert!((before..before + 50_000).contains(&held(&writer)), "memory is {} after {before} bytes", held(&writer));
    }
    writer.publish("a", vec![b'x'; LONG]);
    writer.run_batch();
    // Three messages are kept. A message in the queues of both readers is counted once.
    assert!((3 * LONG..3 * LONG + 50_000).contains(&held(&writer)), "{}", held(&writer));
    first.vanish();
    second.vanish();
    assert!(held(&writer).abs_diff(broker.history_memory()) <= 50_000, "{}", held(&writer));
}

#[test]
fn removed_topic_restarts_with_new_epoch() {
    let settings = Broker::builder().history(">", History::last(2)).history_topics_max(2);
    let (_runtime, broker, [mut reader, mut writer]) = peers(settings);
    follow(&mut reader, 1, "a", 0, &[]);
    publish(&mut writer, "a", 1..=3);
    let before = epoch(&broker);
    publish(&mut writer, "b", 1..=1);
    assert_eq!(epoch(&broker), before);
    publish(&mut writer, "c", 1..=1);
    assert_ne!(epoch(&broker), before);
    assert_eq!(broker.0.histories.lock().topics.len(), 2);
    publish(&mut writer, "a", 4..=4);
    assert_eq!(shown(&mut reader), ["=0", "0@a:1", "0:1", "0:2", "0:3", "0@a:1", "0:4"]);
}

#[test]
fn requests_that_no_client_sends_are_refused() {
    let (_runtime, _, [mut peer]) = peers(Broker::builder().history("a", History::last(1)).history_topics_max(1));
    let mut refused = |body: Vec<u8>| {
        assert!(matches!(peer.send(Kind::Follow, 1, body), Routed::Discarded));
        let packet = peer.take_packets().pop().expect("broker should send a rejection");
        assert_eq!((packet.operation, packet.id.0), (NUMBERS.of(Kind::Follow), 1));
        packet.body[0]
    };
    let next = NextOffset { epoch: 1, offset: 1 };
    let mut many = [name("a"), vec![0]].concat();
    ["a", "b"].into_iter().for_each(|topic| put_position(&mut many, topic, next));
    assert_eq!(refused(many), Reason::Full as u8);
    assert_eq!(refused([name("a"), vec![9]].concat()), Reason::Operation as u8);
    assert_eq!(refused([name("a..b"), vec![0]].concat()), Reason::Topic as u8);
    assert!(matches!(peer.send(Kind::Follow, 1, name("a")), Routed::Close(_)));
    assert!(matches!(peer.send(Kind::Follow, 1, [name("a"), vec![0, 5]].concat()), Routed::Close(_)));
    let (_runtime, _, [mut plain]) = peers(Broker::builder());
    assert!(matches!(plain.send(Kind::Follow, 1, [name("a"), vec![0]].concat()), Routed::Discarded));
    assert_eq!(
        plain.take_packets()[0].operation,
        NUMBERS.of(Kind::Refused),
        "request should be rejected as by a broker without histories"
    );
}

/// Regression test: a topic that had lost its messages to the memory limit kept the memory of their entries, which was
/// not charged. A client could fill one topic after another.
#[test]
fn trimmed_histories_free_their_entries() {
    let settings = Broker::builder().history(">", History::last(1000)).history_memory_max(120_000);
    let (_runtime, broker, [mut writer]) = peers(settings);
    for topic in 0..50 {
        publish(&mut writer, &topic.to_string(), 0..1000);
    }
    let entries = broker.0.histories.lock().capacity();
    assert!(entries < 3000, "histories have {entries} entries and {} bytes", broker.history_memory());
}

/// Regression test: while the memory of all queues was exhausted, the replay of a history evicted the messages that
/// were already queued.
#[test]
fn replay_fits_into_reduced_queue() {
    let settings = Broker::builder().history("h", History::last(100)).queue_max(160_000).memory_max(1);
    let (_runtime, _, [mut reader, mut writer]) = peers(settings);
    reader.subscribe(1, "live", "");
    for topic in ["h", "live"] {
        for number in 0..if topic == "h" { 100 } else { 3 } {
            writer.publish(topic, format!("{number:01000}"));
            writer.run_batch();
        }
    }
    follow(&mut reader, 2, "h", 2, &[]);
    let shown = shown(&mut reader);
    let live = shown.iter().take_while(|one| one.starts_with("0:")).count();
    let replayed = shown.iter().filter(|one| one.starts_with("2:")).count();
    assert_eq!((live, &*shown[3], shown.len()), (3, "=1", 5 + replayed), "{} packets", shown.len());
    assert!((4..=6).contains(&replayed), "{replayed} messages");
}

/// Regression test: a subscription to the presence of a topic ignored the broker's reports of lost messages if it was
/// requested with a start and a history covered its pattern.
#[test]
fn history_does_not_cover_presence() {
    let settings = Broker::builder().history(">", History::last(1)).presence(">", |_| None);
    let (_runtime, _, [mut reader]) = peers(settings);
    for (pattern, is_covered) in [("a", true), ("$presence.a", false)] {
        follow(&mut reader, 1, pattern, 0, &[]);
        reader.run_batch();
        let answer = Answer::decode(&reader.take_packets()[0].body).expect("broker should accept the subscription");
        assert_eq!(answer.is_covered, is_covered, "{pattern}");
        let _ = reader.send(Kind::Unsubscribe, 1, "");
    }
}
