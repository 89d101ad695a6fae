//! Tests of the broker without sockets. Packets are routed directly, and the outbox of each batch is checked.

mod bounds;
mod bus_histories;
mod histories;
mod history;
#[cfg(feature = "typed")]
mod layouts;
mod presence;

use super::{
    Broker, BrokerBuilder, FIRST_OPERATION, History, Kind, Operations, Reason, SlowSubscriberPolicy, name, split_name,
};
use bytes::Bytes;
use frisbee::testing::DetachedConnection;
use frisbee::tlv;
use frisbee::{
    BODY_MAX, CloseReason, Connection, ConnectionEvent, HeaderForm, Operation, Outbox, Packet, PacketId, PeerKind,
    Routed, Router,
};
use frisbee_core::Decoder;
use std::io::IoSlice;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::runtime::{Handle, Runtime};

const NUMBERS: Operations = Operations(FIRST_OPERATION);

/// A connection of the broker that the test drives step by step.
pub(super) struct Member {
    broker: Broker,
    pub(super) detached: DetachedConnection,
    session: Option<super::broker::BrokerSession>,
    pub(super) outbox: Outbox,
}

pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

impl Member {
    pub(super) fn new(broker: &Broker, runtime: &Handle) -> Self {
        let detached = DetachedConnection::new(runtime.clone(), usize::MAX);
        let session = Some(broker.connected(detached.connection()));
        Self { broker: broker.clone(), detached, session, outbox: Outbox::new(HeaderForm::Current) }
    }

    pub(super) fn connection(&self) -> &Connection {
        self.detached.connection()
    }

    /// Returns a weak reference that can be upgraded as long as the connection exists.
    pub(super) fn witness(&self) -> Weak<()> {
        self.connection().attachments().insert(());
        Arc::downgrade(
            &self.connection().attachments().get::<()>().expect("attachment should exist after it was inserted"),
        )
    }

    pub(super) fn send(&mut self, kind: Kind, id: u16, body: impl Into<Bytes>) -> Routed {
        let packet = Packet::new(PacketId(id), NUMBERS.of(kind), body);
        self.broker.route(self.session.as_mut().unwrap(), packet, &mut self.outbox)
    }

    pub(super) fn subscribe(&mut self, id: u16, pattern: &str, group: &str) {
        self.subscribe_as(id, pattern, group).unwrap();
    }

    /// Sends a subscription request. Returns the reason number if the broker rejects it.
    fn subscribe_as(&mut self, id: u16, pattern: &str, group: &str) -> Result<(), u8> {
        let _ = self.send(Kind::Subscribe, id, [name(pattern), group.into()].concat());
        let answer = self.take_packets().pop().expect("broker should reply to the subscription");
        assert_eq!((answer.id.0, answer.operation), (id, NUMBERS.of(Kind::Subscribe)));
        answer.body.first().map_or(Ok(()), |reason| Err(*reason))
    }

    pub(super) fn publish(&mut self, topic: &str, payload: impl AsRef<[u8]>) {
        assert!(matches!(self.send(Kind::Message, 0, message(topic, payload)), Routed::Continue | Routed::Slow));
    }

    pub(super) fn run_batch(&mut self) -> bool {
        self.detached.batch_ended(&self.broker, self.session.as_mut().unwrap(), &mut self.outbox)
    }

    /// Removes all packets from the outbox and returns them.
    pub(super) fn take_packets(&mut self) -> Vec<Packet> {
        let mut bytes = self.outbox.take_bytes();
        let mut decoder = Decoder::new(HeaderForm::Current, u32::MAX);
        std::iter::from_fn(|| decoder.next(&mut bytes).unwrap()).collect()
    }

    /// Returns the messages that arrive in this batch and the following ones, as subscription id and payload. A `-`
    /// with a number stands for that many lost messages.
    pub(super) fn received(&mut self) -> Vec<String> {
        let mut received = Vec::new();
        loop {
            let again = self.run_batch();
            for packet in self.take_packets() {
                if packet.operation == NUMBERS.of(Kind::Lagged) {
                    received.push(format!("-{}", tlv::whole_varint(&packet.body).unwrap()));
                } else {
                    assert_eq!(packet.operation, NUMBERS.of(Kind::Message));
                    let (_, payload) = split_name(&packet.body).unwrap();
                    received.push(format!("{}:{}", packet.id, String::from_utf8_lossy(payload)));
                }
            }
            if !again {
                return received;
            }
        }
    }

    pub(super) fn vanish(&mut self) {
        self.broker.disconnected(self.session.take().unwrap(), &CloseReason::ClosedByPeer);
    }

    pub(super) fn was_woken(&self) -> bool {
        self.detached.take_wake()
    }
}

pub(super) fn message(topic: &str, payload: impl AsRef<[u8]>) -> Vec<u8> {
    [&name(topic), payload.as_ref()].concat()
}

fn peers<const N: usize>(settings: BrokerBuilder) -> (Runtime, Broker, [Member; N]) {
    let runtime = runtime();
    let broker = settings.build();
    let peers = std::array::from_fn(|_| Member::new(&broker, runtime.handle()));
    (runtime, broker, peers)
}

#[test]
fn batch_wakes_subscriber_once_in_order() {
    let (_runtime, _, [mut one, mut two, mut writer]) = peers(Broker::builder());
    one.subscribe(1, "a.*", "");
    two.subscribe(1, ">", "");
    for number in 0..1000 {
        writer.publish(["a.b", "a.c", "b"][number % 3], number.to_string());
    }
    assert!(!one.was_woken() && !two.was_woken());
    writer.run_batch();
    assert!(one.was_woken() && two.was_woken() && !writer.was_woken());
    writer.publish("a.b", "1000");
    writer.run_batch();
    assert!(!one.was_woken(), "notified task should not be woken again");
    let all = (0..1001).map(|number| (number, format!("0:{number}")));
    assert_eq!(two.received(), all.clone().map(|(_, text)| text).collect::<Vec<_>>());
    let some = all.filter(|(number, _)| number % 3 != 2 || *number == 1000).map(|(_, text)| text);
    assert_eq!(one.received(), some.collect::<Vec<_>>());
    assert_eq!(one.received(), [""; 0]);
}

#[test]
fn fan_out_packet_is_encoded_once() {
    let (_runtime, _, [mut writer, mut one, mut two]) = peers(Broker::builder());
    one.subscribe(1, "a", "");
    two.subscribe(7, "a", "");
    // Publish many small messages, one that is copied once, and one that is never copied.
    let large = Bytes::from(message("a", vec![1; 100_000]));
    for _ in 0..200 {
        writer.publish("a", [0; 32]);
    }
    writer.publish("a", [2; 20_000]);
    let _ = writer.send(Kind::Message, 0, large.clone());
    writer.run_batch();
    let pieces = |peer: &mut Member| {
        peer.run_batch();
        let mut slices = [IoSlice::new(&[]); 64];
        let filled = peer.outbox.slices(&mut slices, usize::MAX);
        let long = slices[..filled].iter().filter(|slice| slice.len() > 1024);
        long.map(|slice| (slice.as_ptr(), slice.len())).collect::<Vec<_>>()
    };
    let pieces_of_one = pieces(&mut one);
    assert_eq!(pieces_of_one, pieces(&mut two));
    assert_eq!(pieces_of_one.len(), 3);
    assert_eq!(pieces_of_one[2], (large.as_ptr(), large.len()));
}

#[test]
fn publisher_receives_own_messages_in_same_batch() {
    let (_runtime, _, [mut peer]) = peers(Broker::builder());
    peer.subscribe(1, "a", "");
    peer.publish("a", "x");
    assert_eq!(peer.received(), ["0:x"]);
    assert!(!peer.was_woken());
}

#[test]
fn overlapping_subscriptions_deliver_message_once() {
    let (_runtime, _, [mut peer]) = peers(Broker::builder());
    for (id, pattern) in ["a.b", "a.*", "a.>", ">"].into_iter().enumerate() {
        peer.subscribe(id as u16 + 1, pattern, "");
    }
    peer.publish("a.b", "x");
    assert_eq!(peer.received(), ["0:x"]);
}

#[test]
fn group_messages_are_shared_evenly() {
    let (_runtime, _, [mut one, mut two, mut three, mut all, mut writer]) = peers(Broker::builder());
    one.subscribe(1, "a.b", "g");
    two.subscribe(2, "a.*", "g");
    three.subscribe(3, "a.b", "other");
    all.subscribe(4, "a.b", "");
    for number in 0..100 {
        writer.publish("a.b", number.to_string());
    }
    writer.run_batch();
    let (ones, twos) = (one.received(), two.received());
    assert_eq!((ones.len(), twos.len()), (50, 50));
    assert!(ones.iter().all(|text| text.starts_with("1:")) && twos.iter().all(|text| text.starts_with("2:")));
    assert!(ones.iter().all(|text| !twos.contains(&text.replace("1:", "2:"))));
    assert_eq!((three.received().len(), all.received().len()), (100, 100));
    one.vanish();
    writer.publish("a.b", "x");
    writer.run_batch();
    assert_eq!(two.received(), ["2:x"]);
}

/// Regression test: messages that a publisher had assigned to a member of a queue group were lost if the member left
/// before the publisher's batch ended.
#[test]
fn leaving_group_member_loses_no_messages() {
    let (_runtime, _, [mut leaves, mut stays, mut writer]) = peers(Broker::builder());
    leaves.subscribe(1, "a", "g");
    stays.subscribe(2, "*", "g");
    (0..10).for_each(|number| writer.publish("a", number.to_string()));
    let _ = leaves.send(Kind::Unsubscribe, 1, "");
    writer.run_batch();
    assert_eq!(leaves.received(), [""; 0]);
    assert_eq!(stays.received(), (0..10).map(|number| format!("2:{number}")).collect::<Vec<_>>());
    writer.publish("a", "x");
    let _ = stays.send(Kind::Unsubscribe, 2, "");
    writer.run_batch();
    assert_eq!(stays.received(), [""; 0], "group should have no members");
}

#[test]
fn lagging_group_member_is_skipped() {
    let (_runtime, _, [mut slow, mut quick, mut writer]) = peers(Broker::builder().queue_max(4000));
    slow.subscribe(1, "a", "g");
    quick.subscribe(1, "a", "g");
    let mut received = 0;
    for _ in 0..100 {
        writer.publish("a", [0; 100]);
        writer.run_batch();
        received += quick.received().len();
    }
    assert!(received > 70, "{received} of 100 messages were received");
    assert_eq!(slow.received().len() + received, 100);
}

#[test]
fn slow_subscriber_loses_oldest_messages_with_count() {
    const QUEUE: usize = 100_000;
    let (_runtime, broker, [mut slow, mut quick, mut writer]) = peers(Broker::builder().queue_max(QUEUE));
    slow.subscribe(1, "a", "");
    quick.subscribe(1, "a", "");
    let mut all = Vec::new();
    for number in 0..10_000 {
        writer.publish("a", format!("{number:050}"));
        if number % 100 == 99 {
            writer.run_batch();
            all.extend(quick.received());
        }
    }
    assert_eq!(all.len(), 10_000);
    let late = slow.received();
    let lost: usize =
        late[0].strip_prefix('-').expect("first packet should report the number of lost messages").parse().unwrap();
    assert_eq!(lost + late.len() - 1, 10_000);
    assert_eq!(late[1..], all[lost..]);
    assert!((late.len() - 1) * 62 <= QUEUE, "{} messages waited", late.len() - 1);
    writer.publish("a", "more");
    writer.run_batch();
    assert_eq!((slow.received(), quick.received().len()), (vec!["0:more".to_owned()], 1));
    assert_eq!(broker.waiting(), 0);
}

/// Regression test: the reply to SYNC was sent before queued messages. `Subscription::drain` stops receiving at this
/// reply, so these messages were lost.
#[test]
fn sync_reply_follows_queued_messages() {
    for (queue_max, arrives) in [(16 << 20, 100), (100_000, 9)] {
        let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder().queue_max(queue_max));
        reader.subscribe(1, "a", "g");
        for _ in 0..100 {
            writer.publish("a", [0; 10_000]);
            writer.run_batch();
        }
        let _ = reader.send(Kind::Unsubscribe, 1, "");
        let _ = reader.send(Kind::Sync, 7, "");
        let mut kinds = Vec::new();
        while reader.run_batch() || !reader.outbox.is_empty() {
            kinds.extend(reader.take_packets().into_iter().map(|packet| (packet.id.0, NUMBERS.kind(packet.operation))));
        }
        assert_eq!(kinds.iter().filter(|kind| **kind == (1, Some(Kind::Message))).count(), arrives);
        assert_eq!(kinds.last(), Some(&(7, Some(Kind::Sync))));
    }
}

#[test]
fn sync_reply_survives_drop_of_oldest_messages() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder().queue_max(20_000));
    reader.subscribe(1, "a", "");
    writer.publish("a", [0; 10_000]);
    writer.run_batch();
    let _ = reader.send(Kind::Sync, 7, "");
    for _ in 0..10 {
        writer.publish("a", [0; 10_000]);
        writer.run_batch();
    }
    reader.run_batch();
    let kinds: Vec<_> = reader.take_packets().iter().filter_map(|packet| NUMBERS.kind(packet.operation)).collect();
    assert_eq!(kinds, [Kind::Lagged, Kind::Sync, Kind::Message]);
}

#[test]
fn total_backlog_lowers_each_queue_limit() {
    let settings = Broker::builder().queue_max(160_000).memory_max(300_000);
    let (_runtime, broker, [mut one, mut two, mut three, mut quick, mut writer]) = peers(settings);
    for peer in [&mut one, &mut two, &mut three, &mut quick] {
        peer.subscribe(1, "a", "");
    }
    let mut publish = |count| {
        for _ in 0..count {
            writer.publish("a", vec![0; 5_000]);
            writer.run_batch();
            assert_eq!(quick.received().len(), 1, "subscriber that reads should lose nothing");
        }
    };
    publish(18);
    assert!((270_000..300_000).contains(&broker.waiting()), "{} bytes wait", broker.waiting());
    publish(100);
    assert!(broker.waiting() <= 300_000, "{} bytes wait", broker.waiting());
    let late = one.received();
    assert!(late[0].starts_with('-') && late.len() < 32, "{} messages waited", late.len());
    let lost: u64 = late[0][1..].parse().unwrap();
    assert_eq!(broker.published(), 118);
    assert!(
        (2 * lost..=3 * lost).contains(&broker.lost()),
        "losses of all three subscribers should be counted: {} of {lost}",
        broker.lost()
    );
    two.vanish();
    three.vanish();
    assert_eq!(broker.waiting(), 0);
}

#[test]
fn slow_subscriber_is_closed_if_configured() {
    let settings = Broker::builder().queue_max(10_000).slow(SlowSubscriberPolicy::Disconnect);
    let (_runtime, broker, [mut slow, mut quick, mut writer]) = peers(settings);
    slow.subscribe(1, "a", "");
    quick.subscribe(1, "a", "");
    for _ in 0..100 {
        writer.publish("a", [0; 1000]);
        writer.run_batch();
        assert_eq!(quick.received().len(), 1);
    }
    let closing = slow.detached.closing();
    assert!(closing.is_some_and(|reason| reason.to_string().contains("slow subscriber")));
    assert!(quick.detached.closing().is_none());
    assert_eq!((slow.received().len(), broker.waiting()), (0, 0));
}

#[test]
fn full_outbox_requests_another_batch() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, "a", "");
    for _ in 0..10 {
        writer.publish("a", vec![0; 100_000]);
    }
    writer.run_batch();
    assert!(reader.run_batch());
    assert!((200_000..400_000).contains(&reader.outbox.len()), "outbox has {} bytes", reader.outbox.len());
    assert!(reader.run_batch(), "driver should have written nothing");
    assert_eq!(reader.take_packets().len(), 3);
    assert_eq!(reader.received().len(), 7);
}

#[test]
fn subscriber_with_old_headers_gets_old_headers() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, "a", "");
    reader.outbox = Outbox::new(HeaderForm::Old);
    writer.publish("a", "x");
    writer.publish("a", vec![7; 20_000]);
    writer.run_batch();
    reader.run_batch();
    let mut bytes = reader.outbox.take_bytes();
    let mut decoder = Decoder::new(HeaderForm::Old, BODY_MAX);
    assert_eq!(decoder.next(&mut bytes).unwrap().unwrap().body, message("a", "x"));
    assert_eq!(decoder.next(&mut bytes).unwrap().unwrap().body, message("a", vec![7; 20_000]));
}

#[test]
fn message_over_subscriber_limit_counts_as_lost() {
    let (_runtime, broker, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, "a", "");
    let mut hello = frisbee::Hello::decode(&Bytes::from_static(b"fris\x01")).unwrap();
    hello.body_max = 100;
    let peer = PeerKind::Native(hello.into());
    broker.event(reader.session.as_mut().unwrap(), &mut ConnectionEvent::PeerKnown(&peer));
    writer.publish("a", "x");
    writer.publish("a", [0; 200]);
    writer.publish("a", "y");
    writer.run_batch();
    assert_eq!(reader.received(), ["0:x", "0:y", "-1"]);
    assert_eq!((broker.published(), broker.lost()), (3, 1));
}

#[test]
fn vanished_peer_leaves_no_state() {
    let (runtime, broker, [mut gone, mut writer]) = peers(Broker::builder());
    for id in 1..=1000 {
        gone.subscribe(id, &format!("a.{id}.*.x.>"), ["", "g"][id as usize % 2]);
    }
    writer.publish("a.1.2.x.y", "x");
    writer.publish("a.2.2.x.y", "x");
    writer.run_batch();
    let weak = gone.witness();
    gone.vanish();
    gone.detached = writer.detached.clone();
    runtime.block_on(async {
        while broker.subscriptions() > 0 {
            tokio::task::yield_now().await;
        }
        // Let the task that removes the last subscriptions complete.
        tokio::task::yield_now().await;
    });
    assert_eq!((broker.subscriptions(), broker.0.subscriptions.read().nodes()), (0, 0));
    // Any event on a connection, such as a PING, releases cached subscribers with closed connections.
    writer.run_batch();
    assert!(weak.upgrade().is_none(), "no reference should remain");
}

#[test]
fn messages_arriving_with_connection_end_are_published() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, "a", "");
    writer.publish("a", "last words");
    writer.vanish();
    assert_eq!(reader.received(), ["0:last words"]);
}

#[test]
fn unsubscribing_ends_subscription_and_frees_its_id() {
    let (_runtime, broker, [mut peer]) = peers(Broker::builder());
    peer.subscribe(1, "a", "");
    peer.publish("a", "one");
    assert!(matches!(peer.send(Kind::Unsubscribe, 1, ""), Routed::Slow));
    let _ = peer.send(Kind::Unsubscribe, 9, "");
    peer.publish("a", "two");
    assert_eq!(peer.received(), ["0:one"]);
    assert_eq!(broker.subscriptions(), 0);
    peer.subscribe(1, "b", "");
}

#[test]
fn subscriptions_beyond_limits_are_refused() {
    let (_runtime, broker, [mut one, mut two]) = peers(Broker::builder().per_connection_max(3).total_max(5));
    for id in 1..=3 {
        one.subscribe(id, "a", "");
    }
    assert_eq!(one.subscribe_as(4, "a", ""), Err(Reason::Full as u8));
    two.subscribe(1, "b", "");
    assert_eq!(two.subscribe_as(1, "c", ""), Err(Reason::Id as u8));
    assert_eq!(two.subscribe_as(0, "c", ""), Err(Reason::Id as u8));
    two.subscribe(2, "b", "");
    assert_eq!(two.subscribe_as(3, "b", ""), Err(Reason::Full as u8));
    assert_eq!(broker.subscriptions(), 5);
    let (_runtime, broker, [mut peer]) = peers(Broker::builder().total_max(5));
    peer.subscribe(1, "1.2.3.4.5.6.7.8", "");
    peer.subscribe(2, "a.2.3.4.5.6.7.8.9.10.11.12", "");
    assert_eq!(peer.subscribe_as(3, "b", ""), Err(Reason::Full as u8), "nodes should be charged to the limit");
    assert_eq!(broker.subscriptions(), 2);
}

#[test]
fn zero_limit_of_broker_is_rejected() {
    type Setter = fn(BrokerBuilder) -> BrokerBuilder;
    let setters: &[(Setter, &str)] = &[
        (|builder| builder.queue_max(0), "queue_max"),
        (|builder| builder.memory_max(0), "memory_max"),
        (|builder| builder.per_connection_max(0), "per_connection_max"),
        (|builder| builder.total_max(0), "total_max"),
        (|builder| builder.history_memory_max(0), "history_memory_max"),
        (|builder| builder.history_topics_max(0), "history_topics_max"),
    ];
    for (set, name) in setters {
        let panic = std::panic::catch_unwind(|| set(Broker::builder()).build()).expect_err(name);
        let text = panic.downcast_ref::<String>().expect("panic should have a text");
        assert_eq!(*text, format!("invalid setting: {name} = 0: must be greater than zero"));
    }
    std::panic::catch_unwind(|| History::last(1).for_time(Duration::ZERO)).expect_err("zero should be rejected");
}

/// Regression test: a subscription that did not fit into a full broker counted as abuse by its client.
#[test]
fn full_broker_is_not_abuse_of_client() {
    let (_runtime, _, [mut one, mut two]) = peers(Broker::builder().per_connection_max(3).total_max(4));
    for id in 1..=3 {
        one.subscribe(id, "a", "");
    }
    two.subscribe(1, "a", "");
    let subscription = name("a");
    assert!(matches!(two.send(Kind::Subscribe, 2, subscription.clone()), Routed::Slow));
    assert!(matches!(one.send(Kind::Subscribe, 4, subscription), Routed::Discarded));
}

#[test]
fn invalid_packet_is_rejected_truncated_closes() {
    let (_runtime, _, [mut peer]) = peers(Broker::builder());
    for (pattern, group) in [("", ""), ("a..b", ""), ("a.>.b", ""), ("a", "g".repeat(256).as_str())] {
        assert_eq!(peer.subscribe_as(1, pattern, group), Err(Reason::Topic as u8), "{pattern:?}");
    }
    for topic in ["", "a.*", ">", "a b", &"a".repeat(256)] {
        let _ = peer.send(Kind::Message, 5, message(topic, "x"));
        let refused = peer.take_packets().pop().unwrap();
        assert_eq!((refused.operation, refused.id.0), (NUMBERS.of(Kind::Refused), 5));
        assert_eq!(refused.body[0], Reason::Topic as u8, "{topic:?}");
    }
    let _ = peer.send(Kind::Lagged, 0, "\x01");
    assert_eq!(peer.take_packets()[0].body[0], Reason::Operation as u8);
    let far = Packet::new(PacketId(1), Operation::user(10).unwrap(), "");
    let _ = peer.broker.route(peer.session.as_mut().unwrap(), far, &mut peer.outbox);
    assert_eq!(peer.take_packets()[0].body[0], Reason::Operation as u8);
    for cut in [&b""[..], b"\x05abc", b"\xFF", b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"] {
        assert!(matches!(peer.send(Kind::Message, 0, cut), Routed::Close(_)), "{}", cut.escape_ascii());
        assert!(matches!(peer.send(Kind::Subscribe, 1, cut), Routed::Close(_)), "{}", cut.escape_ascii());
    }
}

#[test]
fn connection_topic_cache_is_bounded() {
    let (_runtime, _, [mut reader, mut writer]) = peers(Broker::builder());
    reader.subscribe(1, ">", "");
    let mut received = 0;
    for number in 0..100_000 {
        writer.publish(&format!("t.{number}"), "x");
        if number % 1000 == 0 {
            writer.run_batch();
            received += reader.received().len();
        }
    }
    writer.run_batch();
    assert_eq!(received + reader.received().len(), 100_000);
    assert!(writer.session.as_ref().unwrap().remembered() <= 16 * 1024 + 2);
}
