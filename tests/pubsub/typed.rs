//! Tests of typed topics, whose messages can have other schema versions than their readers.

use super::*;

#[tokio::test]
async fn schema_messages_keep_fields_absent() {
    let (address, _broker) = serve(Broker::builder()).await;
    let (reader, writer) = (client(address).await, client(address).await);
    let topic = Topic::<Maybe>::new("maybe.this");
    let mut messages = Topic::<Maybe>::new("maybe.*").subscribe(&reader).await.unwrap();
    let mut jobs = topic.queue_subscribe(&reader, "g").await.unwrap();
    let sent = [
        Maybe::default(),
        Maybe { number: Some(0), text: Some(String::new()), ..Maybe::default() },
        Maybe { choice: Some(maybe::Choice::Flag(false)), plain: 7, ..Maybe::default() },
        Maybe { choice: Some(maybe::Choice::Time(Time { millis: 3 })), ..Maybe::default() },
        Maybe { text: Some("x".repeat(100_000)), ..Maybe::default() },
    ];
    let publisher = topic.publisher(&writer).unwrap();
    for message in &sent {
        publisher.publish(message).await.unwrap();
    }
    for message in &sent {
        let received = messages.recv().await.unwrap();
        assert_eq!((received.topic(), received.get_ref()), ("maybe.this", message));
        assert_eq!(jobs.recv().await.unwrap().into_inner(), *message);
    }
    // The invalid message is reported as an error, and then the next one is read.
    writer.publish("maybe.that", "no message").await.unwrap();
    topic.publish(&writer, &sent[2]).await.unwrap();
    let failed = messages.recv().await.unwrap_err();
    assert!(matches!(&failed, RecvError::Undecodable(_)), "{failed}");
    assert!(failed.to_string().starts_with("the message on maybe.that is not a valid extension.Maybe: "), "{failed}");
    assert_eq!(messages.recv().await.unwrap().into_inner(), sent[2]);
    let failed = Topic::<Maybe>::new("maybe.*").publish(&writer, &sent[0]).await.unwrap_err();
    assert_eq!(Status::from(failed).code(), Code::InvalidArgument);
}

#[tokio::test]
async fn stored_messages_are_translated_for_newer_reader() {
    let (address, _broker) = serve(Broker::builder().history("orders", History::last(10))).await;
    let (reader, writer) = (client(address).await, client(address).await);
    let item = old::Item { name: "pen".to_owned(), count: 3, size: Some(old::Size { width: -1, height: 2 }) };
    let color = old::Color::Blue.into();
    let (id, note) = ("a".to_owned(), "dropped".to_owned());
    let prices = [("pen".to_owned(), -5)].into();
    let sent = old::Order { id, items: vec![item], color, note, prices, token: b"secret".to_vec() };
    Topic::<old::Order>::new("orders").publish(&writer, &sent).await.unwrap();
    // Other programs publish messages without a fingerprint.
    let other = new::Order { id: "b".to_owned(), ..new::Order::default() };
    let mut body = Vec::new();
    polyglot::encode_root(&other, &mut polyglot::Encoder::new(&mut body).with_form(polyglot::Form::Extended)).unwrap();
    writer.publish("orders", body).await.unwrap();
    Topic::<new::Order>::new("orders").publish(&writer, &other).await.unwrap();

    let topic = Topic::<new::Order>::new("orders").reads::<old::Order>();
    let mut orders = topic.subscribe_from(&reader, Start::Oldest).await.unwrap();
    let translated = orders.recv().await.unwrap().into_inner();
    let size = Some(new::Size { depth: 0, height: 2, width: -1 });
    let item = new::Item { unit: String::new(), count: 3, name: "pen".to_owned(), size };
    let (id, token) = ("a".to_owned(), "secret".to_owned());
    let prices = [("pen".to_owned(), -5)].into();
    assert_eq!(translated, new::Order { coupon: None, color, token, id, prices, items: vec![item] });
    for _ in 0..2 {
        assert_eq!(orders.recv().await.unwrap().into_inner(), other);
    }
}

/// Returns a client of a broker in this process. It needs no sockets, and can run in virtual time.
async fn local(broker: &Broker) -> Client {
    let acceptor = Server::builder().build(broker.clone()).unwrap();
    let connector = move || {
        let (here, there) = frisbee::memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        async { Ok(here) }
    };
    Client::connect_with_connector(frisbee::Client::builder(), connector).await.unwrap()
}

fn new_order() -> new::Order {
    let size = Some(new::Size { depth: 9, height: 2, width: -1 });
    let item = new::Item { unit: "box".to_owned(), count: 3, name: "pen".to_owned(), size };
    let (id, token) = ("a".to_owned(), "secret".to_owned());
    let prices = [("pen".to_owned(), -5)].into();
    new::Order { coupon: Some("half".to_owned()), color: new::Color::Blue.into(), token, id, prices, items: vec![item] }
}

/// The new order as an old reader decodes it.
fn old_order() -> old::Order {
    let item = old::Item { name: "pen".to_owned(), count: 3, size: Some(old::Size { width: -1, height: 2 }) };
    let (id, color, note) = ("a".to_owned(), old::Color::Blue.into(), String::new());
    let prices = [("pen".to_owned(), -5)].into();
    old::Order { id, items: vec![item], color, note, prices, token: b"secret".to_vec() }
}

#[tokio::test(start_paused = true)]
async fn older_reader_obtains_description_from_its_broker() {
    let bus = MemoryBus::new();
    let brokers =
        [(); 3].map(|()| Broker::builder().history("orders", History::last(10)).backplane(bus.member()).build());
    let mut readers = Vec::new();
    for broker in &brokers {
        readers.push(Topic::<old::Order>::new("orders").subscribe(&local(broker).await).await.unwrap());
    }
    let writer = local(&brokers[0]).await;
    let orders = Topic::<new::Order>::new("orders");
    for _ in 0..2 {
        orders.publish(&writer, &new_order()).await.unwrap();
    }
    for reader in &mut readers {
        for _ in 0..2 {
            assert_eq!(reader.recv().await.unwrap().into_inner(), old_order());
        }
    }
    // The publisher has disconnected before the history is read.
    drop(writer);
    for broker in &brokers {
        let topic = Topic::<old::Order>::new("orders");
        let mut late = topic.subscribe_from(&local(broker).await, Start::Oldest).await.unwrap();
        assert_eq!(late.recv().await.unwrap().into_inner(), old_order());
    }
}

#[tokio::test(start_paused = true)]
async fn publisher_announces_again_to_replaced_broker() {
    let broker = Arc::new(Mutex::new(Broker::new()));
    let (current, serving) = (broker.clone(), Arc::new(Mutex::new(None)));
    let served = serving.clone();
    let connector = move || {
        let acceptor = Server::builder().build(current.lock().unwrap().clone()).unwrap();
        let (here, there) = frisbee::memory();
        *served.lock().unwrap() = Some(tokio::spawn(async move { acceptor.serve_connection(there).await }));
        async { Ok(here) }
    };
    let writer = Client::connect_with_connector(frisbee::Client::builder(), connector).await.unwrap();
    let publisher = Topic::<new::Order>::new("orders").publisher(&writer).unwrap();
    let mut lost = writer.subscribe("lost").await.unwrap();
    let next = Broker::new();
    *broker.lock().unwrap() = next.clone();
    serving.lock().unwrap().take().expect("connection should be served").abort();
    assert!(matches!(lost.recv().await, Err(RecvError::Reconnected)));
    let mut reader = Topic::<old::Order>::new("orders").subscribe(&local(&next).await).await.unwrap();
    publisher.publish(&new_order()).await.unwrap();
    assert_eq!(reader.recv().await.unwrap().into_inner(), old_order());
}

#[tokio::test(start_paused = true)]
async fn cancelled_recv_keeps_message_awaiting_description() {
    let broker = Broker::new();
    let (reader, writer) = (local(&broker).await, local(&broker).await);
    let mut orders = Topic::<old::Order>::new("orders").subscribe(&reader).await.unwrap();
    let topic = Topic::<new::Order>::new("orders");
    writer.publish("orders", topic.encode(&new_order()).unwrap()).await.unwrap();
    tokio::time::timeout(Duration::from_millis(500), orders.recv()).await.expect_err("there is no description yet");
    topic.publish(&writer, &new_order()).await.unwrap();
    for _ in 0..2 {
        assert_eq!(orders.recv().await.unwrap().into_inner(), old_order());
    }
}

#[tokio::test]
async fn encoded_message_is_decoded_by_its_version() {
    let (old_topic, new_topic) = (Topic::<old::Order>::new("orders"), Topic::<new::Order>::new("orders"));
    let stored = Bytes::from(old_topic.encode(&old_order()).unwrap());
    assert_eq!(old_topic.decode(&stored).unwrap(), old_order());
    let refused = new_topic.decode(&stored).unwrap_err();
    assert!(refused.to_string().contains("a version that the reader does not know"), "{refused}");
    let read = new_topic.reads::<old::Order>().decode(&stored).unwrap();
    assert_eq!((read.id, read.token, read.items.len()), ("a".to_owned(), "secret".to_owned(), 1));
}

#[tokio::test(start_paused = true)]
async fn unknown_message_version_is_rejected_by_name() {
    let broker = Broker::new();
    let (reader, writer) = (local(&broker).await, local(&broker).await);
    let mut plain = reader.subscribe("amounts").await.unwrap();
    let known = Topic::<old::Amount>::new("amounts");
    let mut amounts = known.subscribe(&reader).await.unwrap();
    let incompatible = known.clone().reads::<new::Amount>();
    let mut incompatible = incompatible.subscribe(&reader).await.unwrap();
    let mut unmarked = Topic::<Time>::new("amounts").subscribe(&reader).await.unwrap();
    // The publisher has not announced a description of this message.
    let unknown = Topic::new("amounts").encode(&new::Amount { cents: "1".to_owned() }).unwrap();
    writer.publish("amounts", unknown).await.unwrap();
    known.publish(&writer, &old::Amount { cents: 7 }).await.unwrap();
    let first = plain.recv().await.unwrap();
    let layout =
        <new::Amount as polyglot::Message>::LAYOUT.expect("generated message should have a layout").fingerprint();
    assert_eq!(first.payload()[..17], [&[0x12][..], &layout.bytes()].concat());

    let refused = amounts.recv().await.unwrap_err();
    let reason = format!("its layout is {layout}, a version that the reader does not know");
    let text = format!("the message on amounts is not a valid shop.Amount: {reason}");
    assert!(matches!(&refused, RecvError::Undecodable(found) if *found == text), "{refused}");
    assert_eq!(amounts.recv().await.unwrap().into_inner(), old::Amount { cents: 7 });

    let refused = incompatible.recv().await.unwrap_err();
    assert!(refused.to_string().contains("field 1 (`cents`) of shop.Amount is int32 here, string at"), "{refused}");
    assert_eq!(incompatible.recv().await.unwrap().into_inner(), old::Amount { cents: 7 });
    let refused = unmarked.recv().await.unwrap_err();
    assert!(refused.to_string().contains("the reader was generated without a layout"), "{refused}");
}

#[tokio::test]
async fn typed_topics_are_for_peers_of_ours() {
    let config = Config::default().hello(false);
    let server = Server::builder().config(config.clone()).bind("127.0.0.1:0", Broker::new()).await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let reader = client(address).await;
    let refused = Status::from(Topic::<Time>::new("a").subscribe(&reader).await.unwrap_err());
    assert_eq!(
        (refused.code(), refused.message()),
        (Code::FailedPrecondition, "subscribing to a typed topic needs a native peer",)
    );
    // Any client may subscribe to a topic of bytes.
    let mut bytes = reader.subscribe("a").await.unwrap();
    reader.publish("a", "x").await.unwrap();
    assert_eq!(text(&mut bytes).await, "a x");
}
