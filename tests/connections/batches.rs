//! Tests of packets that contain several stream messages: which messages they contain, in which order, and how they are
//! charged.

use bytes::Bytes;
use frisbee::{Client, Config, Connection, Handlers, Server, Stream, StreamEnd, TrySendError};
use frisbee_core::{Batch, Operation, tlv};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::until;

/// Returns the HELLO of a native server with the given credit, with or without support for batches.
fn hello(credit: u32, batches: bool) -> Vec<u8> {
    let mut body = b"fris\x01".to_vec();
    let mut number = Vec::new();
    tlv::put_varint(&mut number, credit.into());
    tlv::put_item(&mut body, 4, &number);
    if batches {
        tlv::put_item(&mut body, 6, &[]);
    }
    packet(0, 3, &body)
}

/// Opens a stream to a server that sends the given HELLO. Returns when the first packet of the stream has arrived
/// there.
async fn opened(hello: &[u8]) -> (Connection, Stream, Raw) {
    let (address, accepted) = Raw::listen().await;
    let (connection, mut raw) = tokio::join!(Client::builder().connect(address, Handlers::new()), accepted);
    let connection = connection.expect("server should be listening");
    raw.write(hello).await;
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    assert_eq!(raw.next().await.expect("packet should arrive").body, "open");
    (connection, stream, raw)
}

/// Returns the operation and the messages of the next packet of a stream.
async fn next(raw: &mut Raw) -> (u16, Vec<Bytes>) {
    let packet = raw.next().await.expect("connection should stay open");
    let messages = if packet.operation == Operation::BATCH {
        let messages = Batch::new(&packet.body);
        messages.map(|message| packet.body.slice_ref(message.expect("message should be complete"))).collect()
    } else {
        vec![packet.body]
    };
    (packet.operation.number(), messages)
}

#[tokio::test]
async fn queued_messages_share_packet_unless_single() {
    let (_connection, stream, mut raw) = opened(&hello(1 << 20, true)).await;
    for round in 0..3 {
        for message in ["one", "", "three"] {
            stream.send(&message.into()).await.expect("message should be sent");
        }
        assert_eq!(next(&mut raw).await, (9, vec!["one".into(), "".into(), "three".into()]), "round {round}");
        stream.send(&"alone".into()).await.expect("message should be sent");
        assert_eq!(next(&mut raw).await, (2, vec!["alone".into()]));
    }
    stream.send(&"last".into()).await.expect("message should be sent");
    stream.send(&vec![7; 100_000].into()).await.expect("message should be sent");
    stream.end();
    assert_eq!(next(&mut raw).await.1, ["last"]);
    assert_eq!(next(&mut raw).await.1[0].len(), 100_000, "long message should have a packet of its own");
    assert_eq!(next(&mut raw).await, (7, vec!["".into()]));
}

#[tokio::test]
async fn peer_without_batch_support_gets_single_messages() {
    let (_connection, stream, mut raw) = opened(&hello(1 << 20, false)).await;
    for message in ["one", "two", "three"] {
        stream.send(&message.into()).await.expect("message should be sent");
    }
    for message in ["one", "two", "three"] {
        assert_eq!(next(&mut raw).await, (2, vec![message.into()]));
    }
}

#[tokio::test]
async fn batched_messages_cost_usual_credit() {
    let (_connection, stream, mut raw) = opened(&hello(1000, true)).await;
    let message = Bytes::from(vec![1; 36]);
    let mut sent = 0;
    while stream.try_send(&message).is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 10, "each message should be charged 100 bytes");
    assert_eq!(next(&mut raw).await, (9, vec![message.clone(); 10]));
    // One byte of credit permits one message, which may exceed it.
    raw.write(&packet(1, 5, &[1])).await;
    stream.send(&message).await.expect("message should be sent");
    assert!(matches!(stream.try_send(&message), Err(TrySendError::Full)));
    assert_eq!(next(&mut raw).await, (2, vec![message]));
}

#[tokio::test]
async fn batch_with_any_message_lengths_is_received() {
    let (_connection, mut stream, mut raw) = opened(&hello(1 << 20, true)).await;
    let lengths = [3, 0, 127, 128, 20_000, 0, 16 * 1024, 16 * 1024 - 1, 5];
    let messages = lengths.map(|length| vec![length as u8; length]);
    let mut body = Vec::new();
    for message in &messages {
        tlv::put_varint(&mut body, message.len() as u64);
        body.extend_from_slice(message);
    }
    for _ in 0..2 {
        raw.write(&packet(1, 9, &body)).await;
        for message in &messages {
            assert_eq!(stream.recv().await.expect("channel should stay open"), message);
        }
    }
    raw.write(&[packet(1, 9, &[1, b'x']), packet(1, 7, &[])].concat()).await;
    assert_eq!(stream.recv().await.as_deref(), Some(&b"x"[..]));
    assert_eq!(stream.recv().await, None);
    assert_eq!(stream.close_reason(), StreamEnd::Ended);
}

/// Echoes all messages.
async fn echo(mut stream: Stream) {
    while let Some(message) = stream.recv().await {
        if stream.send(&message).await.is_err() {
            return;
        }
    }
    stream.end();
}

#[tokio::test]
async fn messages_pass_narrow_window_in_order() {
    let config = Config::default().stream_credit(8 * 1024);
    let router = Handlers::new().on_stream(|_, stream| drop(tokio::spawn(echo(stream))));
    let server = Server::builder()
        .config(config.clone())
        .bind("127.0.0.1:0", router)
        .await
        .expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let connection = Client::builder()
        .config(config)
        .connect(address, Handlers::new())
        .await
        .expect("server should accept the connection");
    let (sender, mut receiver) = connection.open_stream(&"open".into()).await.expect("stream should open").split();
    let message = |n: usize| Bytes::from(vec![n as u8; [n % 40, n % 200, n % 5_000, n * 7 % 20_000][n % 4]]);
    let sending = tokio::spawn(async move {
        for n in 0..4_000 {
            sender.send(&message(n)).await.expect("message should be sent");
        }
        sender.end();
    });
    for n in 0..4_000 {
        assert_eq!(receiver.recv().await.expect("channel should stay open"), message(n), "message {n}");
    }
    assert_eq!(receiver.recv().await, None);
    sending.await.expect("task should not panic");
    drop(receiver);
    until("no memory is held", || stats.memory_held() == 0).await;
}
