//! Tests of publishing and subscribing over sockets. The files `pubsub.rs`, `stalled.rs` and `subscribers.rs` in
//! `simulation` test the behavior that does not depend on the network.

mod typed;

use bytes::Bytes;
use frisbee::{CloseReason, Config, Operation, Packet, PacketId, SendError, Server};
use frisbee_pubsub::{
    Broker, BrokerBuilder, Client, ClientRouter, FIRST_OPERATION, History, MemoryBus, Message, OPERATIONS, PubSubError,
    RecvError, Start, Subscription,
};
use frisbee_tests::evolution::{new, old};
use frisbee_tests::extension::{Maybe, Time, maybe};
use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Code, Status, Topic};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;
use tokio::net::TcpSocket;
use tokio::task::JoinSet;

const SUBSCRIBE: u16 = FIRST_OPERATION;
const MESSAGE: u16 = FIRST_OPERATION + 2;
const SYNC: u16 = FIRST_OPERATION + 3;
const LAGGED: u16 = FIRST_OPERATION + 4;

/// Maximum time to wait for an event. Events take milliseconds, but the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Serves a broker for as long as the current runtime exists.
async fn serve(settings: BrokerBuilder) -> (SocketAddr, Broker) {
    let broker = settings.build();
    // The broker must handle a stalled peer, so the timeouts of the connection are longer.
    let config = Config::default().write_timeout(2 * TIMEOUT).idle_timeout(2 * TIMEOUT);
    let server = Server::builder().config(config).bind("127.0.0.1:0", broker.clone()).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    (address, broker)
}

async fn client(address: SocketAddr) -> Client {
    Client::connect(address).await.expect("server should accept the connection")
}

async fn next(subscription: &mut Subscription) -> Result<Message, RecvError> {
    tokio::time::timeout(TIMEOUT, subscription.recv()).await.expect("message should arrive within the timeout")
}

async fn text(subscription: &mut Subscription) -> String {
    let message = next(subscription).await.expect("subscriber should receive a message");
    format!("{} {}", message.topic(), String::from_utf8_lossy(message.payload()))
}

/// Returns the body of a packet that starts with a topic or pattern of less than 128 bytes.
fn content(name: &str, rest: &[u8]) -> Vec<u8> {
    [&[name.len() as u8], name.as_bytes(), rest].concat()
}

async fn until(mut is: impl FnMut() -> bool) {
    let polled = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(TIMEOUT, polled).await.expect("condition should hold within the timeout");
}

#[tokio::test]
async fn messages_reach_only_matching_subscribers() {
    let (address, _broker) = serve(Broker::builder()).await;
    let (reader, writer) = (client(address).await, client(address).await);
    let mut exact = reader.subscribe("orders.north.created").await.unwrap();
    let mut one = reader.subscribe("orders.*.created").await.unwrap();
    let mut rest = reader.subscribe("orders.>").await.unwrap();
    for topic in ["orders.north.created", "orders.south.created", "orders.south", "orders", "else.north.created"] {
        writer.publish(topic, "x").await.unwrap();
    }
    writer.publish("orders.end", "").await.unwrap();
    assert_eq!(text(&mut rest).await, "orders.north.created x");
    assert_eq!(text(&mut rest).await, "orders.south.created x");
    assert_eq!(text(&mut rest).await, "orders.south x");
    assert_eq!(text(&mut rest).await, "orders.end ");
    assert_eq!(text(&mut one).await, "orders.north.created x");
    assert_eq!(text(&mut one).await, "orders.south.created x");
    assert_eq!(text(&mut exact).await, "orders.north.created x");
    drop((reader, writer));
}

#[tokio::test(flavor = "multi_thread")]
async fn publisher_messages_arrive_in_order() {
    const PUBLISHERS: usize = 4;
    // All messages fit into the queues of the broker and of the client. A busy machine therefore loses none.
    const MESSAGES: usize = 160;
    let (address, _broker) = serve(Broker::builder()).await;
    let reader = client(address).await;
    let mut all = reader.subscribe("p.>").await.unwrap();
    let mut publishers = JoinSet::new();
    for publisher in 0..PUBLISHERS {
        let writer = client(address).await;
        publishers.spawn(async move {
            for number in 0..MESSAGES {
                let mut payload = format!("{number:06}").into_bytes();
                payload.resize([6, 40, 5_000, 20_000, 70_000][number * 7 % 5], b'.');
                writer.publish(&format!("p.{publisher}.{}", number % 3), payload).await.unwrap();
                if number % 50 == 0 {
                    writer.sync().await.unwrap();
                }
            }
            writer.sync().await.unwrap();
        });
    }
    let mut next_number = [0; PUBLISHERS];
    for _ in 0..PUBLISHERS * MESSAGES {
        let message = next(&mut all).await.unwrap();
        let publisher: usize = message.topic()[2..3].parse().unwrap();
        let number: usize = std::str::from_utf8(&message.payload()[..6]).unwrap().parse().unwrap();
        assert_eq!(number, next_number[publisher], "next message of publisher {publisher} should arrive");
        assert_eq!(message.payload().len(), [6, 40, 5_000, 20_000, 70_000][number * 7 % 5]);
        next_number[publisher] += 1;
    }
    while let Some(publisher) = publishers.join_next().await {
        publisher.unwrap();
    }
}

/// Returns a peer that has subscribed and stops reading. Its buffers are as small as possible.
async fn stalled(address: SocketAddr, pattern: &str) -> Raw {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut peer = Raw::over(socket.connect(address).await.unwrap());
    peer.write(&packet(1, SUBSCRIBE, &content(pattern, b""))).await;
    let answer = peer.next().await.expect("broker should answer");
    assert_eq!((answer.id.0, answer.operation.number(), answer.body.len()), (1, SUBSCRIBE, 0));
    peer
}

const SUBSCRIBERS: usize = 99;
const ROUNDS: usize = 80;
const PER_ROUND: usize = 10;
const LENGTH: usize = 8 * 1024;
const QUEUE_MAX: usize = 256 * 1024;

/// Publishes in rounds to many subscribers that read. Checks that each receives all messages.
async fn publish_rounds(address: SocketAddr) {
    let (done, mut finished) = tokio::sync::mpsc::channel(SUBSCRIBERS);
    let mut readers = JoinSet::new();
    for _ in 0..SUBSCRIBERS {
        let reader = client(address).await;
        let mut ticks = reader.subscribe("ticks").await.unwrap();
        let done = done.clone();
        readers.spawn(async move {
            for number in 0..ROUNDS * PER_ROUND {
                let message = next(&mut ticks).await.expect("reading subscriber should lose no message");
                assert_eq!(message.payload()[..8], (number as u64).to_be_bytes());
                if (number + 1) % PER_ROUND == 0 {
                    done.send(()).await.unwrap();
                }
            }
        });
    }
    let writer = client(address).await;
    for round in 0..ROUNDS {
        for number in 0..PER_ROUND {
            let mut payload = ((round * PER_ROUND + number) as u64).to_be_bytes().to_vec();
            payload.resize(LENGTH, 0);
            writer.publish("ticks", payload).await.unwrap();
        }
        for _ in 0..SUBSCRIBERS {
            tokio::time::timeout(TIMEOUT, finished.recv()).await.expect("message should arrive within the timeout");
        }
    }
    while let Some(reader) = readers.join_next().await {
        reader.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_stalled_subscriber_loses_messages() {
    let (address, _broker) = serve(Broker::builder().queue_max(QUEUE_MAX)).await;
    let mut stalled = stalled(address, "ticks").await;
    publish_rounds(address).await;
    // When the subscriber reads again, it receives the messages sent before, the number of lost messages, and the
    // latest messages.
    let (mut received, mut lost, mut behind_loss) = (0, 0, 0);
    stalled.write(&packet(0, SYNC, b"")).await;
    loop {
        let packet = stalled.next().await.expect("stalled subscriber should still be connected");
        match packet.operation.number() {
            MESSAGE => {
                let number = u64::from_be_bytes(packet.body[6..14].try_into().unwrap());
                assert_eq!(number, received + lost);
                received += 1;
                behind_loss += usize::from(lost > 0);
            }
            LAGGED => lost += frisbee::tlv::whole_varint(&packet.body).expect("body should be a number"),
            SYNC => {}
            other => panic!("operation {other}"),
        }
        if received + lost == (ROUNDS * PER_ROUND) as u64 {
            break;
        }
    }
    assert!(lost > 0, "messages should overflow the buffers of the system");
    assert!(behind_loss * LENGTH <= QUEUE_MAX, "{behind_loss} messages waited behind the loss");
}

#[tokio::test]
async fn unread_messages_are_bounded_with_reported_loss() {
    const LENGTH: usize = 64 * 1024;
    const MESSAGES: u64 = 400;
    let (address, _broker) = serve(Broker::builder()).await;
    let (reader, writer) = (client(address).await, client(address).await);
    let mut unread = reader.subscribe("a").await.unwrap();
    let mut read = reader.subscribe("a").await.unwrap();
    for number in 0..MESSAGES {
        writer.publish("a", [&number.to_be_bytes()[..], &vec![0; LENGTH]].concat()).await.unwrap();
        let message = next(&mut read).await.unwrap();
        assert_eq!(message.payload()[..8], number.to_be_bytes());
    }
    let RecvError::Lagged(lost) = next(&mut unread).await.unwrap_err() else { panic!("the connection is there") };
    assert!((100..MESSAGES).contains(&lost), "{lost} messages were lost");
    for number in lost..MESSAGES {
        let message = next(&mut unread).await.unwrap();
        assert_eq!(message.payload()[..8], number.to_be_bytes());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn disconnected_subscribers_leave_no_state() {
    let (address, broker) = serve(Broker::builder()).await;
    let writer = client(address).await;
    // These subscribers disconnect while messages are pending for them.
    for resets in [true, false] {
        let gone = stalled(address, "stalled").await;
        while broker.waiting() == 0 {
            writer.publish("stalled", vec![0; 64 * 1024]).await.unwrap();
        }
        if resets {
            gone.socket.set_zero_linger().unwrap();
        }
        drop(gone);
        until(|| (broker.subscriptions(), broker.waiting()) == (0, 0)).await;
    }
    for round in 0..20 {
        let mut gone = Vec::new();
        for number in 0..10 {
            let reader = client(address).await;
            let mut subscriptions = Vec::new();
            for topic in 0..20 {
                subscriptions.push(reader.subscribe(&format!("r{round}.{number}.{topic}.>")).await.unwrap());
            }
            let group = reader.queue_subscribe("r.*", "g").await.unwrap();
            gone.push((reader, subscriptions, group));
        }
        writer.publish(&format!("r{round}.1.1.x"), "x").await.unwrap();
        assert_eq!(broker.subscriptions(), 210);
        for (number, (reader, subscriptions, group)) in gone.into_iter().enumerate() {
            match number % 3 {
                // Either the subscriptions are dropped one by one, or the connection is closed or aborted.
                0 => drop((subscriptions, group)),
                1 => reader.connection().unwrap().close(),
                _ => reader.connection().unwrap().abort(),
            }
        }
        until(|| broker.subscriptions() == 0).await;
    }
}

#[tokio::test]
async fn dropped_subscription_is_cancelled() {
    let (address, broker) = serve(Broker::builder()).await;
    let client = client(address).await;
    let mut subscription = client.subscribe("a").await.unwrap();
    let dropped = client.subscribe("a").await.unwrap();
    assert_eq!(broker.subscriptions(), 2);
    drop(dropped);
    client.sync().await.unwrap();
    assert_eq!(broker.subscriptions(), 1);
    client.publish("a", "x").await.unwrap();
    assert_eq!(text(&mut subscription).await, "a x");
    // Dropping the future before it completes revokes the subscription.
    let mut subscribing = Box::pin(client.subscribe("b"));
    assert!(poll_once(&mut subscribing).await.is_none());
    drop(subscribing);
    client.sync().await.unwrap();
    assert_eq!(broker.subscriptions(), 1);
}

/// Polls a future once.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut *future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test]
async fn unused_client_connection_is_closed() {
    let server =
        Server::builder().bind("127.0.0.1:0", Broker::new()).await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let client = client(address).await;
    let mut subscription = client.subscribe("a").await.unwrap();
    let publisher = client.publisher("a").unwrap();
    drop(client);
    publisher.publish("1").await.unwrap();
    assert_eq!(text(&mut subscription).await, "a 1");
    drop(subscription);
    publisher.publish("2").await.unwrap();
    assert_eq!(stats.open(), 1);
    drop(publisher);
    until(|| stats.open() == 0).await;
}

#[tokio::test]
async fn received_messages_remain_readable_after_close() {
    let (address, _broker) = serve(Broker::builder()).await;
    let client = client(address).await;
    let mut subscription = client.subscribe("a").await.unwrap();
    client.publish("a", "1").await.unwrap();
    client.publish("a", "2").await.unwrap();
    client.sync().await.unwrap();
    client.connection().unwrap().abort();
    client.connection().unwrap().closed().await;
    assert_eq!(text(&mut subscription).await, "a 1");
    assert_eq!(text(&mut subscription).await, "a 2");
    for _ in 0..2 {
        assert!(matches!(next(&mut subscription).await, Err(RecvError::Closed(CloseReason::Local))));
    }
    let failed = client.subscribe("b").await.unwrap_err();
    assert!(matches!(failed, PubSubError::Send(SendError::Closed(_))), "{failed}");
    let failed = client.sync().await.unwrap_err();
    assert!(matches!(failed, PubSubError::Send(SendError::Closed(_))), "{failed}");
}

#[tokio::test]
async fn invalid_topics_and_limits_report_reason() {
    let (address, broker) = serve(Broker::builder().per_connection_max(2)).await;
    let client = client(address).await;
    for (failed, reason) in [
        (client.publish("a.*", "x").await.unwrap_err(), "a topic to publish to must not have wildcards"),
        (client.publish("", "x").await.unwrap_err(), "a topic must have 1 to 255 bytes, not 0"),
        (client.subscribe("a..b").await.unwrap_err(), "a token of a topic must not be empty"),
        (client.queue_subscribe("a", "").await.unwrap_err(), "a topic must have 1 to 255 bytes, not 0"),
        (
            client.publish("a", vec![0; 6_000_000]).await.unwrap_err(),
            "body of 6000002 bytes exceeds the limit of 5242880, the lower body_max of the two ends, or less while the \
             server is short of memory",
        ),
    ] {
        assert_eq!(failed.to_string(), reason);
    }
    let _subscriptions = (client.subscribe("a").await.unwrap(), client.subscribe("b").await.unwrap());
    let failed = client.subscribe("c").await.unwrap_err().to_string();
    assert_eq!(failed, "refused by the broker: the limit of subscriptions is reached: the connection has 2");
    client.sync().await.unwrap();
    assert_eq!(broker.subscriptions(), 2);
}

#[tokio::test]
async fn missing_broker_is_reported() {
    let client = client(serve_interop().await).await;
    let failed = client.subscribe("a").await.unwrap_err();
    assert!(matches!(failed, PubSubError::Refused(_)), "{failed}");
    assert!(failed.to_string().ends_with("the peer may not be a broker"), "{failed}");
}

#[tokio::test]
async fn hostile_packets_do_not_disturb_other_connections() {
    let (address, broker) = serve(Broker::builder()).await;
    let healthy = client(address).await;
    let mut received = healthy.subscribe(">").await.unwrap();
    let whole = content("topic", b"payload");
    for operation in [SUBSCRIBE, MESSAGE] {
        for cut in 0..6 {
            let mut peer = Raw::connect(address).await;
            peer.write(&packet(1, operation, &whole[..cut])).await;
            peer.closed().await;
        }
    }
    let mut peer = Raw::connect(address).await;
    let names = ["", "a.*", "a b", ".", "a..b", "*x", "\u{7F}"];
    for name in names {
        peer.write(&packet(3, MESSAGE, &content(name, b"payload"))).await;
        let refused = peer.next().await.expect("connection should stay open after a rejection");
        assert_eq!((refused.id.0, refused.operation.number()), (3, FIRST_OPERATION + 5));
        assert_eq!(refused.body[0], 1, "{name:?}");
    }
    // Operations that do not exist, or not in this direction.
    for operation in [LAGGED, FIRST_OPERATION + 5, FIRST_OPERATION + 6, FIRST_OPERATION + 7] {
        peer.write(&packet(4, operation, b"")).await;
        assert_eq!(peer.next().await.expect("connection should stay open after a rejection").body[0], 4);
    }
    // A connection may have fewer subscriptions than there are ids.
    let mut accepted = 0;
    for id in 1..=u16::MAX {
        peer.write(&packet(id, SUBSCRIBE, &content(&format!("t.{id}"), b""))).await;
        if id % 64 == 0 || id == u16::MAX {
            for _ in 0..(id - 1) % 64 + 1 {
                let answer = peer.next().await.expect("each request should be answered");
                accepted += usize::from(answer.body.is_empty());
            }
        }
    }
    assert_eq!((accepted, broker.subscriptions()), (1024, 1024 + 1));
    drop(peer);
    until(|| broker.subscriptions() == 1).await;
    healthy.publish("still.here", "x").await.unwrap();
    assert_eq!(text(&mut received).await, "still.here x");
}

/// Clients in other languages send these bytes. docs/pubsub.md documents them.
#[tokio::test]
async fn pubsub_packets_match_specification() {
    let (address, _broker) = serve(Broker::builder()).await;
    let mut peer = Raw::connect(address).await;
    peer.write(b"\x00\x0f\x00\x01\xff\x00\x00\x00\x00\x04\x03a.*").await;
    let answer = peer.next().await.unwrap();
    assert_eq!(answer, Packet::new(PacketId(1), Operation::user(SUBSCRIBE).unwrap(), ""));
    peer.write(b"\x00\x0f\x00\x02\xff\x00\x00\x00\x00\x05\x03a.*g").await;
    peer.next().await.unwrap();
    let message = b"\x00\x0f\x00\x00\xff\x02\x00\x00\x00\x06\x03a.bhi";
    peer.write(message).await;
    let mut received = [peer.next().await.unwrap(), peer.next().await.unwrap()];
    received.sort_by_key(|packet| packet.id.0);
    let body = Bytes::from_static(&message[10..]);
    for (id, received) in [0, 2].into_iter().zip(received) {
        assert_eq!(received, Packet::new(PacketId(id), Operation::user(MESSAGE).unwrap(), body.clone()));
    }
    peer.write(b"\x00\x0f\x00\x01\xff\x01\x00\x00\x00\x00").await;
    peer.write(b"\x00\x0f\x00\x02\xff\x01\x00\x00\x00\x00").await;
    peer.write(message).await;
    peer.write(b"\x00\x0f\x00\x09\xff\x03\x00\x00\x00\x00").await;
    let synced = peer.next().await.unwrap();
    assert_eq!(synced, Packet::new(PacketId(9), Operation::user(SYNC).unwrap(), ""));
}

#[tokio::test(flavor = "multi_thread")]
async fn broker_and_service_share_port_and_connection() {
    let broker = Broker::new();
    let address = serve_interop_with(frpc::Server::builder().mount(OPERATIONS, broker.clone())).await;

    let router = ClientRouter::new();
    let subscriber = router.client();
    let channel = frpc::Channel::builder().mount(OPERATIONS, router).connect(address.to_string()).await.unwrap();
    let connection = channel.connection().unwrap();
    let calls = InteropClient::new(channel);
    let mut ticks = subscriber.subscribe("ticks.*").await.unwrap();
    let writer = client(address).await;
    // The messages exceed the outbox. Calls are made in between.
    const MESSAGES: usize = 60;
    let publishing = tokio::spawn(async move {
        for number in 0..MESSAGES {
            writer.publish(&format!("ticks.{number}"), vec![number as u8; 100_000]).await.unwrap();
        }
        writer
    });
    for number in 0..MESSAGES {
        let sum = calls.add(AddRequest { a: number as i64, b: 1 }).await.unwrap();
        assert_eq!(sum.get_ref().total, number as i64 + 1);
        let message = next(&mut ticks).await.unwrap();
        assert_eq!((message.topic(), message.payload()[99_999]), (&*format!("ticks.{number}"), number as u8));
    }
    let _writer = publishing.await.unwrap();
    connection.abort();
    until(|| broker.subscriptions() == 0).await;
    assert!(matches!(next(&mut ticks).await, Err(RecvError::Closed(_))));
}

#[tokio::test]
async fn unanswered_requests_to_peer_are_bounded() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let client = client(silent.local_addr().expect("socket should have a local address")).await;
    let _peer = silent.accept().await.expect("client should connect");
    let mut requested = 0;
    // Each future is dropped without waiting for its reply. This does not revoke the request.
    while std::pin::pin!(client.sync()).as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        requested += 1;
        assert!(requested <= 16_384, "number of requested messages should be bounded");
    }
    assert!(matches!(client.sync().await, Err(PubSubError::NoAnswer)));
}

#[tokio::test]
async fn server_without_broker_is_reported() {
    let address = serve_interop().await;
    let broker = client(address).await;
    let none = "the peer may not be a broker";
    let synced = broker.sync().await.expect_err("sync should fail without a receiver");
    assert!(synced.to_string().contains(none), "{synced}");
    let broker = client(address).await;
    broker
        .publisher("topic")
        .expect("topic should be valid")
        .publish(Bytes::from_static(b"x"))
        .await
        .expect("broker should accept the message");
    let synced = broker.sync().await.expect_err("sync should fail without a receiver");
    assert!(synced.to_string().contains(none), "{synced}");
}

#[tokio::test]
async fn client_reconnects_and_subscriptions_resume_with_notice() {
    let serve = async |address: SocketAddr| {
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let server =
            Server::builder().bind(address, Broker::new()).await.expect("server should bind to a free address");
        let address = server.local_addr();
        let serving = tokio::spawn(server.serve_with_shutdown(async { drop(stopped.await) }));
        (address, stop, serving)
    };
    let (address, stop, serving) = serve(SocketAddr::from(([127, 0, 0, 1], 0))).await;
    let client = client(address).await;
    let mut all = client.subscribe("a.>").await.unwrap();
    let mut job = client.queue_subscribe("a.b", "g").await.unwrap();
    let publisher = client.publisher("a.b").unwrap();
    publisher.publish("1").await.unwrap();
    assert_eq!((text(&mut all).await, text(&mut job).await), ("a.b 1".to_owned(), "a.b 1".to_owned()));
    drop(stop);
    serving.await.unwrap().unwrap();
    client.connection().unwrap().closed().await;
    let failed = publisher.publish("2").await.unwrap_err();
    assert!(matches!(failed, PubSubError::Send(SendError::Closed(_))), "{failed}");
    let (_, stop, serving) = serve(address).await;
    for subscription in [&mut all, &mut job] {
        assert!(matches!(next(subscription).await, Err(RecvError::Reconnected)));
    }
    // The first message has arrived, but the broker has not confirmed it.
    let unconfirmed = client.sync().await.unwrap_err();
    assert!(matches!(unconfirmed, PubSubError::Unconfirmed), "{unconfirmed}");
    client.sync().await.unwrap();
    publisher.publish("3").await.unwrap();
    client.publish("a.c", "4").await.unwrap();
    assert_eq!((text(&mut all).await, text(&mut job).await), ("a.b 3".to_owned(), "a.b 3".to_owned()));
    assert_eq!(text(&mut all).await, "a.c 4");
    // The client reconnects once more. It is not used afterwards.
    drop(stop);
    serving.await.unwrap().unwrap();
    let (_, _stop, _serving) = serve(address).await;
    assert!(matches!(next(&mut all).await, Err(RecvError::Reconnected)));
    drop((client, publisher, job));
    assert_eq!(all.pattern(), "a.>");
}
