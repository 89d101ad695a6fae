//! Tests of sending without waiting.

use bytes::Bytes;
use frisbee::{Client, Config, Handlers, Operation, Packet, PacketId, Routed, SendError, Server, TrySendError, memory};
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

fn packet(length: usize) -> Packet {
    Packet::new(PacketId(1), Operation::FIRST_USER, vec![0; length])
}

#[tokio::test(start_paused = true)]
async fn packet_beyond_queue_limit_is_not_sent() {
    let (here, mut there) = memory();
    let client = Client::builder().config(Config::default().backlog_max(1000).hello(false));
    let connection = client.connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
    let packet = packet(100);
    // This thread drives the connection, so nothing is written during the loop.
    for sent in 0..20 {
        match connection.try_send(&packet) {
            Ok(()) => assert!(sent < 10, "only one packet may exceed the limit of 1000 bytes"),
            Err(TrySendError::Full) => assert!(sent >= 10),
            Err(error) => panic!("{error}"),
        }
    }
    let mut read = vec![0; 1100];
    there.read_exact(&mut read).await.expect("peer should send the expected bytes");
    connection.try_send(&packet).expect("queue should have space");
    let long = Packet { body: vec![0; frisbee::BODY_MAX as usize + 1].into(), ..packet.clone() };
    let error = connection.try_send(&long).expect_err("message should be rejected");
    assert!(matches!(error, TrySendError::Failed(SendError::TooLong(_))), "{error}");
    connection.abort();
    connection.closed().await;
    let error = connection.try_send(&packet).expect_err("message should be rejected");
    assert!(matches!(error, TrySendError::Failed(SendError::Closed(_))), "{error}");
}

#[tokio::test(start_paused = true)]
async fn try_send_without_receiver_room_sends_nothing() {
    let (accepted, mut streams) = mpsc::unbounded_channel();
    let handlers =
        Handlers::new().on_stream(move |_first, stream| accepted.send(stream).expect("receiver should be waiting"));
    let server = Server::builder()
        .config(Config::default().stream_credit(1000))
        .build(handlers)
        .expect("server should have no overlapping services");
    let (here, there) = memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let connection =
        Client::builder().connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
    let stream = connection.open_stream(&Bytes::from_static(b"first")).await.expect("stream should open");
    let mut received = streams.recv().await.expect("channel should stay open");
    let (sender, message) = (stream.sender(), Bytes::from(vec![0; 100]));
    let mut sent = 0;
    while sender.try_send(&message).is_ok() {
        sent += 1;
        assert!(sent <= 10, "at most 1000 bytes should be in transit");
    }
    assert!(sent > 0);
    assert!(matches!(stream.try_send(&message), Err(TrySendError::Full)));
    for _ in 0..sent {
        received.recv().await.expect("channel should stay open");
    }
    stream.send(&message).await.expect("message should be sent");
    stream.try_send(&message).expect("queue should have space");
    stream.close();
    let error = sender.try_send(&message).expect_err("message should be rejected");
    assert!(matches!(error, TrySendError::Failed(SendError::StreamClosed)), "{error}");
}

#[test]
fn router_error_text_is_close_reason() {
    let routed = Routed::from(Err::<(), _>("out of sorts"));
    let Routed::Close(reason) = routed else { panic!("{routed:?}") };
    assert!(reason.to_string().ends_with("out of sorts"), "{reason}");
    assert!(matches!(Routed::from(Ok::<(), String>(())), Routed::Continue));
    assert!(matches!(Routed::from(Ok::<_, String>(Routed::Discarded)), Routed::Discarded));
    assert!(matches!(Routed::from(Err::<Routed, _>(SendError::StreamClosed)), Routed::Close(_)));
}
