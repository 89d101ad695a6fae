use super::*;
use crate::follow::put_position;
use crate::inbox::RecvError;
use crate::resume::{Follow, Start};
use crate::tests::{Member, message, runtime};
use crate::{Broker, History, PubSubError, Subscription};
use frisbee::testing::DetachedConnection;
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;

fn connection() -> Connection {
    DetachedConnection::new(Handle::current(), usize::MAX).connection().clone()
}

/// Returns the payloads that a subscription has received and the numbers of lost messages, in order.
fn received(subscription: &mut Subscription) -> Vec<String> {
    let mut context = Context::from_waker(Waker::noop());
    let next = || match subscription.poll_recv(&mut context) {
        Poll::Ready(Ok(message)) => Some(String::from_utf8_lossy(message.payload()).into_owned()),
        Poll::Ready(Err(RecvError::Lagged(count))) => Some(format!("-{count}")),
        Poll::Ready(Err(other)) => panic!("{other}"),
        Poll::Pending => None,
    };
    std::iter::from_fn(next).collect()
}

#[tokio::test]
async fn subscriptions_get_messages_and_losses_in_order() {
    let router = ClientRouter::starting_at(100);
    assert_eq!(router.declaration().operations, [100..=108]);
    let shared = router.0.clone();
    let [mut first, mut second] = ["a.*", "*.b"].map(|pattern| shared.persistent_subscription(pattern));
    let connection = connection();
    let mut session = router.connected(&connection);
    let mut comes = |kind, id, body: Vec<u8>| {
        let packet = Packet::new(PacketId(id), shared.operations.of(kind), body);
        router.route(&mut session, packet, &mut Outbox::default())
    };
    for (topic, payload) in [("a.a", "1"), ("a.b", "2"), ("b.b", "3"), ("a.b", "4"), ("b.a", "5")] {
        assert!(matches!(comes(Kind::Message, 0, message(topic, payload)), Routed::Continue));
    }
    let _ = comes(Kind::Lagged, first.id, vec![7]);
    let _ = comes(Kind::Lagged, 0, vec![9]);
    for (id, payload) in [(second.id, "6"), (second.id, "7"), (first.id, "8"), (0, "9")] {
        let _ = comes(Kind::Message, id, message("a.b", payload));
    }
    let _ = comes(Kind::Sync, 0, Vec::new());
    assert_eq!(received(&mut first), ["1", "2", "4", "-7", "-9", "8", "9"]);
    assert_eq!(received(&mut second), ["2", "3", "4", "-9", "6", "7", "9"]);
    let mut third = shared.persistent_subscription("a.b");
    let _ = comes(Kind::Message, 0, message("a.b", "10"));
    drop(second);
    let _ = comes(Kind::Message, 0, message("a.b", "11"));
    let _ = comes(Kind::Sync, 0, Vec::new());
    assert_eq!([received(&mut first), received(&mut third)], [["10", "11"]; 2]);
    assert!(matches!(comes(Kind::Lagged, 0, vec![0x80]), Routed::Close(_)));
    assert!(matches!(comes(Kind::Sync, 0, vec![0]), Routed::Close(_)));
}

/// Regression test: a subscription did not report that the first messages of a new topic had been dropped, because
/// no position preceded them. It ignores the loss reports of the connection.
#[test]
fn dropped_start_of_topic_is_reported_once() {
    let runtime = runtime();
    let _entered = runtime.enter();
    let broker = Broker::builder().history(">", History::last(2)).queue_max(6_000).build();
    let [mut reader, mut writer] = [(); 2].map(|()| Member::new(&broker, runtime.handle()));
    let router = ClientRouter::new();
    let follow = Some(Box::new(Follow::new("a.*", Start::Now)));
    let request = router.0.enter(("a.*", "", follow), tokio::sync::oneshot::channel().0, None);
    let mut subscription = request.expect("client should be open right after it was created");
    let mut session = router.connected(&connection());
    let mut pass = |reader: &mut Member| {
        while reader.run_batch() || !reader.outbox.is_empty() {
            for packet in reader.take_packets() {
                assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
            }
        }
        session.flush(&router.0);
    };
    let _ = reader.send(Kind::Follow, subscription.id, b"\x03a.*\x00".to_vec());
    pass(&mut reader);
    for topic in ["a.b", "a.c"] {
        for number in 0..5 {
            writer.publish(topic, format!("{number:02000}"));
            writer.run_batch();
        }
    }
    pass(&mut reader);
    let received = received(&mut subscription);
    let shown: Vec<_> = received.iter().map(|text| text.trim_start_matches('0')).collect();
    assert_eq!(shown, ["-5", "-3", "3", "4"]);
}

/// Regression test: after a client had discarded its topic positions, its subscriptions reported no lost messages
/// of these topics until they reconnected.
#[tokio::test]
async fn loss_is_reported_after_positions_were_discarded() {
    let router = ClientRouter::new();
    let follow = Some(Box::new(Follow::new(">", Start::Now)));
    let request = router.0.enter((">", "", follow), tokio::sync::oneshot::channel().0, None);
    let mut subscription = request.expect("client should be open right after it was created");
    let mut session = router.connected(&connection());
    let mut comes = |kind, id, body: Vec<u8>| {
        let packet = Packet::new(PacketId(id), router.0.operations.of(kind), body);
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    };
    let position = |topic: usize, offset| {
        let mut body = Vec::new();
        put_position(&mut body, &format!("t.{topic}"), NextOffset { epoch: 1, offset });
        body
    };
    comes(Kind::Follow, subscription.id, Answer { is_covered: true, epoch: 1, topics: 0 }.encode());
    for topic in 0..=POSITIONS_MAX {
        comes(Kind::Position, 0, position(topic, 1));
    }
    comes(Kind::Position, 0, position(0, 6));
    comes(Kind::Lagged, 0, vec![5]);
    assert_eq!(received(&mut subscription), ["-5"]);
}

/// Regression test: a subscription whose request was in transit reported the losses of other subscriptions.
#[tokio::test]
async fn loss_before_confirmation_is_not_reported() {
    let router = ClientRouter::new();
    let mut older = router.0.persistent_subscription("a");
    let request = router.0.enter(("b", "", None), tokio::sync::oneshot::channel().0, None);
    let mut newer = request.expect("client should be open right after it was created");
    let mut session = router.connected(&connection());
    for (kind, id, body) in
        [(Kind::Lagged, 0, vec![7]), (Kind::Subscribe, newer.id, Vec::new()), (Kind::Lagged, 0, vec![9])]
    {
        let packet = Packet::new(PacketId(id), router.0.operations.of(kind), body);
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    }
    assert_eq!((received(&mut older), received(&mut newer)), (vec!["-7".into(), "-9".into()], vec!["-9".into()]));
}

/// Regression test: a subscription was dropped on another thread while a topic position was handled. The replay of
/// its history then reached another subscription.
#[tokio::test]
async fn dropped_subscription_history_is_discarded() {
    let router = ClientRouter::new();
    let mut other = router.0.persistent_subscription("b");
    let mut session = router.connected(&connection());
    let topic = Arc::new(TopicName { name: "a".into(), epoch: 1 });
    session.replay = Some(Replay { id: PacketId(7), topic, inboxes: Inboxes::default(), next: 1 });
    for (id, topic) in [(7, "a"), (0, "b")] {
        let packet = Packet::new(PacketId(id), router.0.operations.of(Kind::Message), message(topic, topic));
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    }
    session.flush(&router.0);
    assert_eq!(received(&mut other), ["b"]);
}

/// Regression test: on a bus, a message of a topic without a history was sent to the id of a subscription right
/// after the replay of another topic to it. The client closed the connection.
#[tokio::test]
async fn addressed_message_may_follow_replay() {
    let router = ClientRouter::new();
    let follow = Some(Box::new(Follow::new(">", Start::Oldest)));
    let request = router.0.enter((">", "", follow), tokio::sync::oneshot::channel().0, None);
    let mut subscription = request.expect("client should be open right after it was created");
    let mut session = router.connected(&connection());
    let mut position = Vec::new();
    put_position(&mut position, "a", NextOffset { epoch: 1, offset: 4 });
    let id = subscription.id;
    for (kind, id, body) in [
        (Kind::Follow, id, Answer { is_covered: false, epoch: 1, topics: 1 }.encode()),
        (Kind::Position, id, position),
        (Kind::Message, id, message("a", "4")),
        (Kind::Message, id, message("b", "x")),
        (Kind::Message, 0, message("a", "5")),
        (Kind::Sync, 0, Vec::new()),
    ] {
        let packet = Packet::new(PacketId(id), router.0.operations.of(kind), body);
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    }
    let mut context = Context::from_waker(Waker::noop());
    for expected in [("4", Some(4)), ("x", None), ("5", Some(5))] {
        let Poll::Ready(Ok(message)) = subscription.poll_recv(&mut context) else { panic!("{expected:?}") };
        let offset = message.position().map(|position| position.offset);
        assert_eq!((&message.payload()[..], offset), (expected.0.as_bytes(), expected.1));
    }
}

/// Regression test: after a subscription with a history had ended, its last position was assigned to later messages
/// of the topic, although the client had not received the messages in between.
#[tokio::test]
async fn outdated_position_is_not_assigned() {
    let router = ClientRouter::new();
    let request = |pattern: &str, start| {
        let follow = Some(Box::new(Follow::new(pattern, start)));
        let request = router.0.enter((pattern, "", follow), tokio::sync::oneshot::channel().0, None);
        request.expect("client should be open right after it was created")
    };
    let first = request("a", Start::Now);
    let mut session = router.connected(&connection());
    let mut comes = |kind, id, body: Vec<u8>| {
        let packet = Packet::new(PacketId(id), router.0.operations.of(kind), body);
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    };
    let mut position = Vec::new();
    put_position(&mut position, "a", NextOffset { epoch: 1, offset: 4 });
    comes(Kind::Follow, first.id, Answer { is_covered: true, epoch: 1, topics: 1 }.encode());
    comes(Kind::Position, first.id, position);
    comes(Kind::Message, 0, message("a", "4"));
    drop(first);
    // The client is not subscribed to the topic here, so it does not receive message 5.
    let mut second = router.0.persistent_subscription("a");
    comes(Kind::Message, 0, message("a", "6"));
    comes(Kind::Sync, 0, Vec::new());
    let Poll::Ready(Ok(message)) = second.poll_recv(&mut Context::from_waker(Waker::noop())) else { panic!() };
    assert_eq!((&message.payload()[..], message.position()), (&b"6"[..], None));
}

#[tokio::test]
async fn refusal_is_reported_to_next_flush() {
    let router = ClientRouter::new();
    let (client, connection) = (router.client(), connection());
    let mut session = router.connected(&connection);
    let mut comes = |kind, body: &'static [u8]| {
        let packet = Packet::new(PacketId(0), router.0.operations.of(kind), Bytes::from_static(body));
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    };
    for refused in [true, false] {
        let mut syncing = std::pin::pin!(client.sync());
        let mut context = Context::from_waker(Waker::noop());
        assert!(syncing.as_mut().poll(&mut context).is_pending());
        if refused {
            comes(Kind::Refused, b"\x05first");
            comes(Kind::Refused, b"\x05second");
        }
        comes(Kind::Sync, b"");
        match syncing.poll(&mut context) {
            Poll::Ready(Err(PubSubError::Refused(text))) => assert!(refused && text == "first", "{text}"),
            other => assert!(!refused && matches!(other, Poll::Ready(Ok(()))), "{other:?}"),
        }
    }
}

/// Regression test: if a subscription was dropped before a broker without histories had answered its request, `sync`
/// reported the answer as a rejected message.
#[tokio::test]
async fn answer_to_dropped_subscription_is_no_refusal() {
    let router = ClientRouter::new();
    let (client, connection) = (router.client(), connection());
    let mut session = router.connected(&connection);
    let mut syncing = std::pin::pin!(client.sync());
    let mut context = Context::from_waker(Waker::noop());
    assert!(syncing.as_mut().poll(&mut context).is_pending());
    for (id, kind, body) in [(7, Kind::Refused, &b"\x04unknown"[..]), (0, Kind::Sync, b"")] {
        let packet = Packet::new(PacketId(id), router.0.operations.of(kind), Bytes::from_static(body));
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    }
    let synced = syncing.poll(&mut context);
    assert!(matches!(synced, Poll::Ready(Ok(()))), "{synced:?}");
}

/// Regression test: a rejection was lost if the call of `sync` that would have returned it was cancelled.
#[tokio::test]
async fn refusal_survives_cancelled_sync() {
    let router = ClientRouter::new();
    let (client, connection) = (router.client(), connection());
    let mut session = router.connected(&connection);
    let mut context = Context::from_waker(Waker::noop());
    let mut receive = |kind: Kind, body: &'static [u8]| {
        let packet = Packet::new(PacketId(0), router.0.operations.of(kind), Bytes::from_static(body));
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    };
    receive(Kind::Refused, b"\x05first");
    let [before, after, mut kept] = [(); 3].map(|()| {
        let mut syncing = Box::pin(client.sync());
        assert!(syncing.as_mut().poll(&mut context).is_pending());
        syncing
    });
    drop(before);
    receive(Kind::Sync, b"");
    receive(Kind::Sync, b"");
    // Its reply has arrived, but the call has not been polled again.
    drop(after);
    receive(Kind::Sync, b"");
    let synced = kept.as_mut().poll(&mut context);
    assert!(matches!(synced, Poll::Ready(Err(PubSubError::Refused(_)))), "{synced:?}");
}

#[tokio::test]
async fn group_name_and_inbox_limits_match_documentation() {
    let client = ClientRouter::new().client();
    for (length, is_allowed) in [(0, false), (1, true), (255, true), (256, false)] {
        let refused = client
            .queue_subscribe("a", &"g".repeat(length))
            .await
            .expect_err("queue subscription without a connection should fail");
        assert_eq!(matches!(refused, PubSubError::Topic(_)), !is_allowed, "{length}");
    }
    assert_eq!(client.0.inbox_max, 16 << 20);
}

#[tokio::test]
async fn topic_cache_is_bounded_and_reset() {
    let router = ClientRouter::new();
    let mut all = router.0.persistent_subscription(">");
    let connection = connection();
    let mut session = router.connected(&connection);
    let mut highest = 0;
    for number in 0..REMEMBERED_MAX + 10 {
        let packet =
            Packet::new(PacketId(0), router.0.operations.of(Kind::Message), message(&format!("t.{number}"), "x"));
        let _ = router.route(&mut session, packet, &mut Outbox::default());
        highest = highest.max(session.routes.len());
    }
    assert_eq!((highest, session.routes.len(), session.by_topic.len()), (REMEMBERED_MAX, 10, 10));
    let _other = router.0.persistent_subscription("other");
    let packet = Packet::new(PacketId(0), router.0.operations.of(Kind::Message), message("t.1", "x"));
    let _ = router.route(&mut session, packet, &mut Outbox::default());
    assert_eq!(session.routes.len(), 1);
    session.flush(&router.0);
    assert_eq!(received(&mut all).len(), REMEMBERED_MAX + 11);
}

#[tokio::test]
async fn maximum_broker_offset_is_accepted() {
    let router = ClientRouter::new();
    let mut session = router.connected(&connection());
    let _subscription = router.0.persistent_subscription("a");
    let mut body = Vec::new();
    put_position(&mut body, "a", NextOffset { epoch: 1, offset: u64::MAX });
    for (kind, body) in [(Kind::Position, body), (Kind::Message, message("a", "x")), (Kind::Message, message("a", "x"))]
    {
        let packet = Packet::new(PacketId(0), router.0.operations.of(kind), body);
        assert!(matches!(router.route(&mut session, packet, &mut Outbox::default()), Routed::Continue));
    }
}
