//! Tests of how calls use the connections of their channel: which connection they choose, what is sent before the
//! server is known, and what happens without a connection.

use frisbee::Config;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Range, SleepRequest, Text};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::serve_interop_with;
use frisbee_tests::service::Service;
use frpc::{Acceptor, Channel, Code, Request, RequestStream, Server};
use frpc_balance::Balance;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::time::Instant;

const SUM: AddRequest = AddRequest { a: 1, b: 1 };

fn sleep(millis: u32) -> SleepRequest {
    SleepRequest { millis, ..SleepRequest::default() }
}

/// Returns an in-memory server that accepts one call and one stream at a time.
fn narrow() -> Acceptor {
    let builder = Server::builder().config(Config::default().calls_max(1).streams_max(1));
    builder.add_service(InteropServer::new(Service)).build().expect("services should not overlap")
}

/// Returns a channel that connects to the given servers one after the other, and from then on to the last one.
async fn channel_to(servers: Vec<Acceptor>) -> Channel {
    let dialled = AtomicUsize::new(0);
    let connector = move || {
        let at = dialled.fetch_add(1, Ordering::Relaxed).min(servers.len() - 1);
        let (server, (here, there)) = (servers[at].clone(), frisbee::memory());
        tokio::spawn(async move { server.serve_connection(there).await });
        async { Ok(here) }
    };
    Channel::builder()
        .calls::<InteropClient>()
        .connect_with_connector(connector)
        .await
        .expect("connector should return a connection")
}

#[tokio::test(start_paused = true)]
async fn waiting_call_moves_when_server_stops() {
    let (stopping, next) = (narrow(), narrow());
    let client = InteropClient::new(channel_to(vec![stopping.clone(), next.clone()]).await);
    let long = tokio::spawn({
        let client = client.clone();
        async move { client.sleep(sleep(10_000)).await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let call = tokio::spawn(async move { client.add(SUM).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!call.is_finished(), "server should process one call at a time");
    let closing_since = Instant::now();
    tokio::spawn(async move { stopping.shutdown().await });
    call.await.expect("task should not panic").expect("other server should answer");
    assert!(
        closing_since.elapsed() < Duration::from_secs(1),
        "channel waited for {:?} before it closed",
        closing_since.elapsed()
    );
    long.await.expect("task should not panic").expect("sent call should be answered on its connection");
    assert_eq!(next.stats().opened(), 1, "long call should not be retried");
}

#[tokio::test(start_paused = true)]
async fn waiting_stream_moves_when_server_stops() {
    let (stopping, next) = (narrow(), narrow());
    let client = InteropClient::new(channel_to(vec![stopping.clone(), next.clone()]).await);
    let (texts, requests) = RequestStream::channel(1);
    let mut long = client.chat(requests).await.expect("stream should open").into_inner();
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.count_up(Range { from: 7, count: 1 }).await?.into_inner().message().await }
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!call.is_finished(), "server should process one stream at a time");
    let closing_since = Instant::now();
    tokio::spawn(async move { stopping.shutdown().await });
    let counted = call.await.expect("task should not panic").expect("other server should answer");
    assert_eq!(counted.map(|count| count.value), Some(7));
    assert!(
        closing_since.elapsed() < Duration::from_secs(1),
        "channel waited for {:?} before it closed",
        closing_since.elapsed()
    );
    texts.send(Text { value: "a".into() }).await.expect("message should be sent");
    assert_eq!(long.message().await.expect("stream should not fail").expect("call should succeed").value, "re:a");
    assert_eq!(next.stats().opened(), 1);
}

#[tokio::test]
async fn overlong_first_request_fails_and_keeps_connection() {
    let config = Config::default().body_max(64 * 1024);
    let address = serve_interop_with(Server::builder().config(config)).await;
    let dialled = Arc::new(AtomicUsize::new(0));
    let count = dialled.clone();
    let connector = move || {
        count.fetch_add(1, Ordering::Relaxed);
        tokio::net::TcpStream::connect(address)
    };
    let channel = Channel::builder()
        .calls::<InteropClient>()
        .connect_with_connector(connector)
        .await
        .expect("connector should return a connection");
    let client = InteropClient::new(channel);
    for _ in 0..3 {
        let status =
            client.echo_payload(Payload { seq: 1, data: vec![0; 100_000] }).await.expect_err("call should fail");
        assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
        assert!(status.message().contains("exceeds the limit of 65536, the lower body_max"), "{status}");
        assert!(!status.may_have_run());
    }
    client.echo_payload(Payload { seq: 1, data: vec![0; 60_000] }).await.expect("call should succeed");
    assert_eq!(dialled.load(Ordering::Relaxed), 1, "requests that are too long should not close the connection");
}

#[tokio::test(start_paused = true)]
async fn closed_channel_finishes_calls_and_starts_none() {
    let server = narrow();
    let channel = channel_to(vec![server.clone()]).await;
    channel
        .connection()
        .expect("channel should be connected")
        .peer_known()
        .await
        .expect("peer should complete the handshake");
    let client = InteropClient::new(channel.clone());
    let [long, call] = [10_000, 0].map(|millis| {
        let client = client.clone();
        tokio::spawn(async move { client.sleep(sleep(millis)).await })
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let connection = channel.connection().expect("channel should be connected");
    let closed = Instant::now();
    channel.close();
    let unsent = call.await.expect("task should not panic");
    for status in [unsent.err(), client.add(SUM).await.err(), client.count_up(Range::default()).await.err()] {
        let status = status.expect("call should fail at once");
        assert_eq!(status.to_string(), "failed precondition: not sent: the channel was closed by its owner");
        assert!(!status.may_have_run());
    }
    channel.stay_connected().await;
    assert!(closed.elapsed() < Duration::from_secs(1), "closing took {:?}", closed.elapsed());
    assert!(channel.connection().is_none() && !connection.is_closed());
    long.await.expect("task should not panic").expect("call in progress should continue");
    connection.closed().await;
    assert_eq!(server.stats().opened(), 1, "client should not connect again");
}

/// Regression: calls waited for up to five seconds until the kind of the server was known, even after their channel had
/// been closed.
#[tokio::test(start_paused = true)]
async fn calls_to_silent_server_end_with_channel() {
    let silent = Arc::new(parking_lot::Mutex::new(Vec::new()));
    let connector = move || {
        let (here, there) = frisbee::memory();
        silent.lock().push(there);
        async { Ok(here) }
    };
    let channel =
        Channel::builder().connect_with_connector(connector).await.expect("connector should return a connection");
    let (client, asking) = (InteropClient::new(channel.clone()), InteropClient::new(channel.request_hand_off().0));
    let calls = tokio::spawn(async move {
        let [unary, hand_off] = [&client, &asking].map(|client| async move { client.add(SUM).await.err() });
        let stream = async { client.count_up(Range::default()).await.err() };
        let (unary, stream, hand_off) = tokio::join!(unary, stream, hand_off);
        [unary, stream, hand_off]
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let closed = Instant::now();
    channel.close();
    for status in calls.await.expect("task should not panic") {
        assert_eq!(status.expect("call should fail at once").code(), Code::FailedPrecondition);
    }
    assert!(closed.elapsed() < Duration::from_secs(1), "closing took {:?}", closed.elapsed());
}

/// Regression: calls waited for space in the send buffer until their deadline, even after their channel had been
/// closed.
#[tokio::test(start_paused = true)]
async fn call_without_space_ends_with_channel() {
    let (here, there) = tokio::io::duplex(1024);
    let channel = Channel::connect_io(here).await.expect("connection in memory should be accepted");
    let mut silent = Raw::over(there);
    silent.write(&packet(0, 1, &[])).await; // A PONG, as sent by Go.
    let client = InteropClient::new(channel.clone());
    let filling = {
        let client = client.clone();
        tokio::spawn(async move { client.echo_payload(Payload { seq: 1, data: vec![1; 5_000_000] }).await })
    };
    tokio::time::sleep(Duration::from_secs(1)).await;
    let call = tokio::spawn(async move { client.add(SUM).await });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!call.is_finished() && !filling.is_finished(), "server should read nothing");
    let closed = Instant::now();
    channel.close();
    let status = call.await.expect("task should not panic").expect_err("call should fail at once");
    assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
    assert!(closed.elapsed() < Duration::from_secs(1), "closing took {:?}", closed.elapsed());
}

#[tokio::test]
async fn channel_closed_while_connecting_leaves_no_connection() {
    let (made, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let go_on = Arc::new(tokio::sync::Notify::new());
    let gate = go_on.clone();
    let connector = move || {
        let (gate, made) = (gate.clone(), made.clone());
        async move {
            let (here, there) = frisbee::memory();
            gate.notified().await;
            drop(made.send(there));
            Ok(here)
        }
    };
    let channel = Channel::builder().connect_lazy_with_connector(connector).expect("services should not overlap");
    let client = InteropClient::new(channel.clone());
    let calling = tokio::spawn(async move { client.add(SUM).await });
    tokio::task::yield_now().await;
    go_on.notify_one();
    channel.close();
    let status = calling.await.expect("task should not panic").expect_err("call on a closed channel should fail");
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
    if let Ok(mut there) = connections.try_recv() {
        let mut read = Vec::new();
        there.read_to_end(&mut read).await.expect("peer should close the connection cleanly");
    }
}

#[tokio::test]
async fn fleet_and_connection_channels_can_be_closed() {
    let address = serve_interop_with(Server::builder()).await.to_string();
    let several = Channel::builder()
        .balance()
        .connect_all([address.clone(), address.clone()])
        .await
        .expect("all servers should accept connections");
    let own = Channel::connect(address).await.expect("server should accept the connection");
    let connection = own.connection().expect("channel should be connected");
    let bound = Channel::from_connection(&connection);
    for channel in [&several, &bound] {
        let client = InteropClient::new(channel.clone());
        client.add(SUM).await.expect("call should succeed");
        channel.close();
        assert_eq!(client.add(SUM).await.expect_err("call should fail").code(), Code::FailedPrecondition);
    }
    InteropClient::new(own).add(SUM).await.expect("call should succeed");
}

/// Regression test: calls on a connection whose hook had panicked were repeated without yielding until their deadline.
#[tokio::test]
async fn call_on_connection_with_panicking_hook_fails() {
    let (ended, mut statuses) = tokio::sync::mpsc::unbounded_channel();
    let call = move |connection: &frisbee::Connection| {
        let (client, ended) = (InteropClient::new(Channel::from_connection(connection)), ended.clone());
        tokio::spawn(async move {
            let mut request = Request::new(SUM);
            request.set_timeout(Duration::from_secs(2));
            drop(ended.send(client.add(request).await.map(drop)));
        });
    };
    let server = Server::builder().on_connect(call).on_connect(|_| panic!("hook panics on request of the test"));
    let server = server.build().expect("settings should be valid");
    let (_here, there) = frisbee::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let status = statuses.recv().await.expect("hook should make a call").expect_err("connection should be closed");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
}
