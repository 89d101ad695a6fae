//! Tests of topics with a history at brokers on a bus. Each broker records the messages of all brokers in its own
//! order.

use super::histories::{epoch, follow, publish, shown};
use super::*;
use crate::follow::NextOffset;
use crate::{History, MemoryBus};
use frisbee::rpc::ConnectionExt;

/// Returns two brokers on a bus, and a connection to each. The first connection makes the broker join the bus.
fn joined(bus: &MemoryBus, settings: &BrokerBuilder) -> (Runtime, [Broker; 2], [Member; 2]) {
    let runtime = runtime();
    let brokers = [(); 2].map(|()| settings.clone().backplane(bus.member()).build());
    let writers = brokers.each_ref().map(|broker| Member::new(broker, runtime.handle()));
    (runtime, brokers, writers)
}

fn settings() -> BrokerBuilder {
    Broker::builder().history("a.>", History::last(10))
}

/// Subscribes at a position and returns what the subscriber receives.
fn resumed(broker: &Broker, runtime: &Runtime, topic: &str, next: NextOffset) -> Vec<String> {
    let mut reader = Member::new(broker, runtime.handle());
    follow(&mut reader, 1, topic, 2, &[(topic, next)]);
    shown(&mut reader)
}

#[test]
fn history_has_messages_of_brokers_without_subscribers() {
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&MemoryBus::new(), &settings());
    publish(&mut at_a, "a.b", 1..=2);
    publish(&mut at_b, "a.b", 3..=3);
    publish(&mut at_a, "b", 9..=9);
    let mut reader = Member::new(&b, runtime.handle());
    follow(&mut reader, 1, "a.b", 2, &[]);
    publish(&mut at_a, "a.b", 4..=4);
    assert_eq!(shown(&mut reader), ["=1", "1@a.b:1", "1:1", "1:2", "1:3", "0:4"]);
    assert_eq!(b.0.histories.lock().topics.len(), 1);
    assert!(at_b.connection().memory_budget().charged() > 0 || b.history_memory() < 16 * 1024);
}

#[test]
fn subscriber_resumes_at_its_broker_without_loss() {
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&MemoryBus::new(), &settings());
    let mut reader = Member::new(&b, runtime.handle());
    follow(&mut reader, 1, "a.b", 0, &[]);
    publish(&mut at_a, "a.b", 1..=2);
    assert_eq!(shown(&mut reader), ["=0", "0@a.b:1", "0:1", "0:2"]);
    reader.vanish();
    publish(&mut at_b, "a.b", 3..=3);
    publish(&mut at_a, "a.b", 4..=5);
    let next = NextOffset { epoch: epoch(&b), offset: 3 };
    assert_eq!(resumed(&b, &runtime, "a.b", next), ["=1", "1@a.b:3", "1:3", "1:4", "1:5"]);
}

#[test]
fn position_of_another_broker_means_nothing() {
    let (runtime, [a, b], [mut at_a, _]) = joined(&MemoryBus::new(), &settings());
    publish(&mut at_a, "a.b", 1..=3);
    assert_ne!(epoch(&a), epoch(&b), "new epoch should report that messages may be missing");
    let next = NextOffset { epoch: epoch(&b), offset: 3 };
    assert_eq!(resumed(&a, &runtime, "a.b", next), ["=1", "1@a.b:1", "1:1", "1:2", "1:3"]);
}

#[test]
fn history_counts_messages_lost_on_bus() {
    let bus = MemoryBus::new();
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&bus, &settings());
    let [mut exact, mut plain, mut wide] = [(); 3].map(|()| Member::new(&b, runtime.handle()));
    follow(&mut exact, 1, "a.*", 0, &[]);
    plain.subscribe(1, "a.b", "");
    follow(&mut wide, 1, ">", 0, &[]);
    publish(&mut at_a, "a.b", 1..=2);
    bus.lose(3);
    publish(&mut at_a, "a.b", 3..=5);
    publish(&mut at_a, "a.b", 6..=6);
    publish(&mut at_b, "a.b", 7..=7);
    assert_eq!(shown(&mut exact), ["=0", "0@a.b:1", "0:1", "0:2", "0@a.b:6", "0:6", "0:7"]);
    assert_eq!(shown(&mut plain), ["0:1", "0:2", "-3", "0:6", "0:7"]);
    assert_eq!(shown(&mut wide)[..7], ["=0", "0@a.b:1", "0:1", "0:2", "-3", "0@a.b:6", "0:6"]);
    let next = NextOffset { epoch: epoch(&b), offset: 2 };
    assert_eq!(
        resumed(&b, &runtime, "a.b", next),
        ["=1", "1@a.b:6", "1:6", "1:7"],
        "reply should report 4 missing messages"
    );
}

#[test]
fn bus_outage_begins_reported_epoch() {
    let bus = MemoryBus::new();
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&bus, &settings());
    let [mut reader, mut plain] = [(); 2].map(|()| Member::new(&b, runtime.handle()));
    follow(&mut reader, 1, "a.*", 0, &[]);
    plain.subscribe(1, "a.*", "");
    publish(&mut at_a, "a.b", 1..=1);
    assert_eq!(shown(&mut reader), ["=0", "0@a.b:1", "0:1"]);
    let before = epoch(&b);
    bus.set_away(true);
    publish(&mut at_a, "a.b", 2..=2);
    // This topic is known only to the broker at which it was published.
    publish(&mut at_a, "a.c", 1..=1);
    bus.set_away(false);
    assert_ne!(epoch(&b), before);
    let stated = shown(&mut reader);
    assert_eq!(stated[0], "=0", "reply should have another epoch: {stated:?}");
    let next = NextOffset { epoch: before, offset: 2 };
    publish(&mut at_b, "a.b", 3..=3);
    // In the new epoch, offset 1 stands for the message that was missed during the outage, so the next message has
    // offset 2.
    assert_eq!(resumed(&b, &runtime, "a.b", next), ["=1", "1@a.b:2", "1:3"]);
    assert_eq!(shown(&mut plain), ["0:1", "-1", "0:3"]);
}

#[test]
fn rejoined_broker_begins_epoch_on_all_brokers() {
    // Simulate a broken connection of the other broker, on which its first message of a topic is lost.
    let bus = MemoryBus::new();
    let (_runtime, [a, b], [mut at_a, mut at_b]) = joined(&bus, &settings());
    follow(&mut at_b, 1, "a.*", 0, &[]);
    let before = [epoch(&a), epoch(&b)];
    bus.lose(1);
    publish(&mut at_a, "a.b", 1..=1);
    bus.relink(1);
    let after = [epoch(&a), epoch(&b)];
    assert!(after[0] != before[0] && after[1] != before[1]);
    assert_eq!(shown(&mut at_b), ["=0", "=0"]);
    // A second reconnect without messages in between must not start another epoch.
    bus.relink(1);
    assert_eq!([epoch(&a), epoch(&b)], after);
    assert_eq!(shown(&mut at_b), [""; 0]);
}

#[test]
fn first_matching_rule_decides_without_duplicates() {
    let settings = Broker::builder().history("a.b", History::last(1)).history("a.>", History::last(5));
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&MemoryBus::new(), &settings);
    let mut reader = Member::new(&b, runtime.handle());
    for (id, pattern) in [(1, "a.b"), (2, "a.*"), (3, ">")] {
        reader.subscribe(id, pattern, "");
    }
    for topic in ["a.b", "a.c", "b"] {
        publish(&mut at_a, topic, 1..=2);
        publish(&mut at_b, topic, 3..=3);
    }
    assert_eq!(shown(&mut reader), ["0:1", "0:2", "0:3"].repeat(3));
    let [mut one, mut other] = [(); 2].map(|()| Member::new(&b, runtime.handle()));
    follow(&mut one, 1, "a.b", 2, &[]);
    follow(&mut other, 1, "a.c", 2, &[]);
    assert_eq!(shown(&mut one), ["=1", "1@a.b:3", "1:3"]);
    assert_eq!(shown(&mut other), ["=1", "1@a.c:1", "1:1", "1:2", "1:3"]);
}

#[test]
fn history_outlasts_subscribers_without_group_duplicates() {
    let (runtime, [_, b], [mut at_a, mut at_b]) = joined(&MemoryBus::new(), &settings());
    let mut reader = Member::new(&b, runtime.handle());
    follow(&mut reader, 1, "a.b", 0, &[]);
    reader.vanish();
    let mut member = Member::new(&b, runtime.handle());
    member.subscribe(1, "a.b", "g");
    publish(&mut at_a, "a.b", 1..=1);
    publish(&mut at_b, "a.b", 2..=2);
    assert_eq!(shown(&mut member), ["1:1", "1:2"]);
    follow(&mut at_b, 1, "a.b", 2, &[]);
    assert_eq!(shown(&mut at_b), ["=1", "1@a.b:1", "1:1", "1:2"]);
}
