//! Memory accounting of subscriptions and messages, and the topic cache of a publisher.

use super::*;
use crate::topics::TOPIC_MAX;
use crate::{OPERATIONS, TopicUse};
use frisbee::rpc::ConnectionExt;
use std::panic::catch_unwind;

fn held(member: &Member) -> usize {
    member.connection().memory_held()
}

/// Returns the memory charged to all connections of a member's server.
fn held_by_all(member: &Member) -> usize {
    member.connection().memory_budget().charged()
}

fn remembered(member: &Member) -> usize {
    member.session.as_ref().unwrap().remembered()
}

fn is_slow(member: &mut Member, topic: &str) -> bool {
    match member.send(Kind::Message, 0, message(topic, "x")) {
        Routed::Slow => true,
        Routed::Continue => false,
        other => panic!("{other:?}"),
    }
}

#[test]
fn broker_accepts_any_nine_user_operations() {
    for first in [10, 100, u16::MAX - 8] {
        let broker = Broker::builder().first_operation(first).build();
        assert_eq!(broker.declaration().operations, [first..=first + 8]);
        let kind = |at| {
            broker.0.operations.kind(Operation::user(first + at).expect("operation number should be in the user range"))
        };
        let kinds = [Kind::Subscribe, Kind::Unsubscribe, Kind::Message, Kind::Sync, Kind::Lagged, Kind::Refused];
        assert_eq!([0, 1, 2, 3, 4, 5].map(kind), kinds.map(Some));
        assert_eq!([6, 7, 8].map(kind), [Some(Kind::Follow), Some(Kind::Position), Some(Kind::Layout)]);
        assert!(kinds.into_iter().all(|kind| broker.0.operations.kind(broker.0.operations.of(kind)) == Some(kind)));
    }
    for first in [0, 9, u16::MAX - 7, u16::MAX] {
        catch_unwind(|| Broker::builder().first_operation(first))
            .expect_err("operation range outside of the user range should be rejected");
    }
}

#[test]
fn broker_and_client_defaults_are_as_documented() {
    let bounds = Broker::new().0.bounds();
    assert_eq!(bounds, (16 << 20, 1 << 30));
    let (_runtime, broker, [mut reader, _writer]) = peers(Broker::builder());
    (1..=1024).for_each(|id| reader.subscribe(id, "a", ""));
    assert_eq!(reader.subscribe_as(1025, "a", ""), Err(Reason::Full as u8));
    assert_eq!(broker.0.total_max(), 1 << 20);
    assert_eq!(OPERATIONS, 0xFF00..=0xFF08);
}

#[test]
fn subscription_charges_pattern_and_nodes() {
    let (_runtime, broker, [mut reader, _writer]) = peers(Broker::builder());
    let nodes = || broker.0.subscriptions.read().nodes();
    let mut expected = 0;
    for (id, pattern) in [(1, "first.second.third"), (2, "first.second.fourth"), (3, "first.second.third")] {
        let before = nodes();
        reader.subscribe(id, pattern, "");
        expected += 256 + 2 * pattern.len() + 320 * (nodes() - before);
        assert_eq!(held(&reader), expected, "{pattern}");
    }
    assert!(nodes() >= 4);
    let _ = reader.send(Kind::Unsubscribe, 3, "");
    assert_eq!(held(&reader), expected - 256 - 2 * 18);
    reader.vanish();
    assert_eq!((held(&reader), broker.subscriptions()), (0, 0));
}

/// Regression test: nodes of a closed subscriber were not charged while other subscriptions kept them alive.
#[test]
fn nodes_stay_charged_for_later_subscribers() {
    let (_runtime, _broker, [mut first, mut later]) = peers(Broker::builder());
    first.subscribe(1, "first.second.third", "");
    later.subscribe(1, "first.second.third", "");
    later.subscribe(2, "first.other", "");
    first.vanish();
    assert_eq!((held(&first), held_by_all(&first)), (0, 320 * 3));
    assert_eq!(held(&later), 2 * 256 + 2 * 18 + 2 * 11 + 320);
    let _ = later.send(Kind::Unsubscribe, 1, "");
    assert_eq!(held_by_all(&first), 320, "nodes should be charged to the shared token");
    later.vanish();
    assert_eq!((held_by_all(&first), held_by_all(&later)), (0, 0));
}

#[test]
fn group_name_is_charged_with_subscription() {
    let (_runtime, _broker, [mut reader]) = peers(Broker::builder());
    reader.subscribe(1, ">", &"g".repeat(TOPIC_MAX));
    assert_eq!(held(&reader), 256 + 2 + TOPIC_MAX);
}

#[test]
fn subscriptions_end_after_runtime_of_connection_ended() {
    let (runtime, broker, [mut reader, _writer]) = peers(Broker::builder());
    (1..=100).for_each(|id| reader.subscribe(id, &format!("a.{id}"), ""));
    reader.vanish();
    drop(runtime);
    assert_eq!((broker.subscriptions(), held(&reader)), (0, 0));
}

#[test]
fn subscription_table_shrinks_after_most_have_ended() {
    let (_runtime, _broker, [mut reader, _writer]) = peers(Broker::builder());
    let capacity = |reader: &Member| reader.session.as_ref().unwrap().capacity();
    (1..=1000).for_each(|id| reader.subscribe(id, "a", ""));
    (1..=500).for_each(|id| drop(reader.send(Kind::Unsubscribe, id, "")));
    assert!(capacity(&reader) >= 1000, "table that is half full should not shrink: {}", capacity(&reader));
    (501..=990).for_each(|id| drop(reader.send(Kind::Unsubscribe, id, "")));
    assert!((10..=128).contains(&capacity(&reader)), "table for 10 entries has capacity {}", capacity(&reader));
    (991..=1000).for_each(|id| drop(reader.send(Kind::Unsubscribe, id, "")));
    assert_eq!(capacity(&reader), 0);
}

#[test]
fn group_name_limit_equals_topic_limit() {
    let (_runtime, _broker, [mut reader, _writer]) = peers(Broker::builder());
    assert_eq!(reader.subscribe_as(1, "a", &"g".repeat(TOPIC_MAX)), Ok(()));
    assert_eq!(reader.subscribe_as(2, "a", &"g".repeat(TOPIC_MAX + 1)), Err(Reason::Topic as u8));
}

#[test]
fn permissions_are_rechecked_after_change() {
    struct Banned;
    struct SignedIn;
    let settings = Broker::builder().permit(|connection, wish| match wish {
        TopicUse::Publish("members") => connection.attachments().get::<SignedIn>().is_some(),
        TopicUse::Publish(topic) => connection.attachments().get::<Banned>().is_none() && topic != "forbidden",
        TopicUse::Subscribe(pattern) => pattern == "free",
    });
    let (_runtime, broker, [mut reader, mut writer]) = peers(settings);
    assert_eq!(reader.subscribe_as(1, "other", ""), Err(Reason::NotAllowed as u8));
    assert_eq!(reader.subscribe_as(1, "free", ""), Ok(()));
    let published = |writer: &mut Member, topic: &str| {
        let _ = writer.send(Kind::Message, 0, message(topic, "x"));
        writer.run_batch();
        let refused = writer.take_packets();
        assert!(refused.iter().all(|packet| packet.operation == NUMBERS.of(Kind::Refused)));
        refused.is_empty()
    };
    let topics = ["free", "free", "forbidden", "free", "forbidden"];
    assert_eq!(topics.map(|topic| published(&mut writer, topic)), [true, true, false, true, false]);
    assert_eq!((broker.published(), reader.received().len()), (3, 3));
    assert!(published(&mut writer, "free"));
    writer.connection().attachments().insert(Banned);
    assert!(!published(&mut writer, "free"), "permission should be checked again");
    writer.connection().attachments().insert(SignedIn);
    assert!(published(&mut writer, "members"));
    writer.connection().attachments().remove::<SignedIn>();
    assert!(!published(&mut writer, "members"), "connection that has signed out should not be permitted to publish");
}

#[test]
fn topic_lookup_is_cached_until_subscriptions_change() {
    let (_runtime, broker, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, "a", "");
    assert!(is_slow(&mut writer, "a"));
    for _ in 0..3 {
        assert!(!is_slow(&mut writer, "a"));
        writer.run_batch();
        assert_eq!(remembered(&writer), 1);
    }
    assert!(is_slow(&mut writer, "b"), "first message to another topic should be slow");
    reader.subscribe(2, "c", "");
    writer.run_batch();
    assert_eq!(remembered(&writer), 0, "route cache should not keep departed subscribers");
    assert!(is_slow(&mut writer, "a"));
    writer.run_batch();
    broker.event(writer.session.as_mut().unwrap(), &mut ConnectionEvent::Idle);
    assert_eq!(remembered(&writer), 0, "connection that publishes nothing should have no route cache");
}

#[test]
fn message_to_many_groups_is_slow() {
    for groups in [64, 65] {
        let (_runtime, _broker, [mut reader, mut writer]) = peers(Broker::builder());
        (1..=groups).for_each(|id| reader.subscribe(id, "a", &format!("g{id}")));
        writer.publish("a", "x");
        assert_eq!(is_slow(&mut writer, "a"), groups == 65);
        writer.run_batch();
        assert_eq!(reader.received().len(), 2 * usize::from(groups));
    }
}

#[test]
fn publisher_topic_cache_is_bounded() {
    for (everybody, group, most) in [(0, 0, 16 * 1024 + 1), (2, 0, 5_462), (1, 2, 4_097)] {
        let (_runtime, _broker, [mut a, mut b, mut c, mut writer]) = peers(Broker::builder());
        let readers = [&mut a, &mut b, &mut c].into_iter();
        for (at, reader) in readers.take(everybody + group).enumerate() {
            reader.subscribe(1, ">", if at < everybody { "" } else { "g" });
        }
        let mut highest = 0;
        for number in 0..most + 100 {
            writer.publish(&format!("t.{number}"), "x");
            highest = highest.max(remembered(&writer));
            if number % 1000 == 0 {
                writer.run_batch();
            }
        }
        assert_eq!(highest, most);
    }
}

#[test]
fn large_fan_out_flushes_before_batch_end() {
    let (_runtime, broker, [mut a, mut b, mut c, mut writer]) = peers(Broker::builder());
    [&mut a, &mut b, &mut c].into_iter().for_each(|reader| reader.subscribe(1, "*", ""));
    for number in 0..5461 {
        writer.publish(["a", "b"][number % 2], "x");
    }
    assert_eq!(broker.waiting(), 0, "all 16383 deliveries should be complete");
    writer.publish("b", "x");
    assert!(broker.waiting() > 0);
}

#[test]
fn queued_message_frees_buffer_and_charges_once() {
    for group in ["", "g"] {
        let (_runtime, _broker, [mut reader, mut writer]) = peers(Broker::builder());
        reader.subscribe(1, "a", group);
        let before = held_by_all(&writer);
        for length in [20_000, 100_000] {
            let body = message("a", vec![b'x'; length]);
            let buffer = Bytes::from([&body[..], &[0; 30_000]].concat());
            let _ = writer.send(Kind::Message, 0, buffer.slice(..body.len()));
            writer.run_batch();
            assert!(
                length > 64 * 1024 || buffer.is_unique(),
                "buffer should not be shared by a message of {length} bytes"
            );
            let charged = held_by_all(&writer) - before;
            assert!((length..length + 100).contains(&charged), "{charged} bytes were charged for {length}");
            assert_eq!(reader.received().len(), 1);
            assert_eq!(held_by_all(&writer), before);
        }
    }
}

#[test]
fn lagging_group_members_receive_round_robin() {
    let settings = Broker::builder().queue_max(4000);
    let (runtime, broker, [mut a, mut b, _c]) = peers(settings);
    [&mut a, &mut b].into_iter().for_each(|reader| reader.subscribe(1, "a", "g"));
    for _ in 0..5 {
        let mut writer = Member::new(&broker, runtime.handle());
        for _ in 0..2 {
            writer.publish("a", [b'x'; 2500]);
            writer.run_batch();
        }
    }
    assert!(broker.lost() > 0, "slow subscribers should lose messages");
    assert_eq!(
        [a.received().len(), b.received().len()],
        [2, 2],
        "each subscriber should receive a loss report and the newest message"
    );
}

/// Regression test: the topic caches of a thousand publishers took gigabytes that were not charged to any budget.
#[test]
fn cached_topics_are_charged_and_evicted() {
    let (_runtime, _, [mut writer]) = peers(Broker::builder());
    let topic = |number: usize| format!("{number:0200}");
    (0..1000).for_each(|number| writer.publish(&topic(number), "x"));
    writer.run_batch();
    assert!((200 * 1000..1 << 20).contains(&held(&writer)), "{}", held(&writer));
    writer.broker.clone().event(writer.session.as_mut().unwrap(), &mut ConnectionEvent::Idle);
    assert_eq!((remembered(&writer), held(&writer)), (0, 0));
    (0..1000).for_each(|number| writer.publish(&topic(number), "x"));
    let _all = writer.connection().charge(usize::MAX / 8 * 3);
    writer.run_batch();
    assert_eq!(remembered(&writer), 0);
}

/// Regression test: lists of subscribers in the queues of slow watchers were not charged to any budget.
#[test]
fn queued_presence_list_is_charged() {
    struct Name(String);
    let name = |connection: &Connection| connection.attachments().get::<Name>().map(|name| name.0.clone());
    let (runtime, broker, [mut watcher]) = peers(Broker::builder().presence("room", name));
    let members = (0..100).map(|number| {
        let mut member = Member::new(&broker, runtime.handle());
        member.connection().attachments().insert(Name(format!("{number:0255}")));
        member.subscribe(1, "room", "");
        member
    });
    let members: Vec<_> = members.collect();
    watcher.subscribe(1, "$presence.room", "");
    assert!(held_by_all(&watcher) > 255 * members.len(), "{}", held_by_all(&watcher));
    assert_eq!(watcher.received().len(), 1);
    assert!(held_by_all(&watcher) < 2000, "{}", held_by_all(&watcher));
}
