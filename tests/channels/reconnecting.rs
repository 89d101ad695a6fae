//! Tests of successive connections of a channel. Connections are replaced when they are lost or worn out, and closed
//! when the server stops.

use frisbee_tests::extension::{ExtensionClient, ExtensionServer, Time};
use frisbee_tests::interop::InteropClient;
use frisbee_tests::observed::{Service, State, UNTIL_RELEASED};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{Serving, serve_interop_with, until};
use frpc::{Channel, ChannelBuilder, Code, Request, RequestStream, Server};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::{Duration, Instant};
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Starts a server on the given address.
pub(super) async fn start(address: &str) -> (Serving, Arc<State>) {
    let service = Service::default();
    let state = service.state.clone();
    let server = loop {
        // The port may still be in use by the previous server.
        match Server::builder().add_service(ExtensionServer::new(service.clone())).bind(address).await {
            Ok(server) => break server,
            Err(_) => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    };
    (Serving::start(server), state)
}

#[tokio::test(flavor = "multi_thread")]
async fn server_takeover_during_drain_loses_no_call() {
    let (mut first, before) = start("127.0.0.1:0").await;
    let address = first.address.to_string();
    let client = ExtensionClient::connect(address.as_str()).await.expect("server should accept the connection");
    let mut calls = JoinSet::new();
    for _ in 0..2_000 {
        let client = client.clone();
        calls.spawn(async move { client.wait(Time { millis: UNTIL_RELEASED }).await });
    }
    until("2000 calls are in flight", || before.waiting.load(Ordering::SeqCst) == 2_000).await;
    first.stop();
    let second = tokio::spawn(async move { start(&address).await });
    for _ in 0..200 {
        let client = client.clone();
        calls.spawn(async move { client.wait(Time { millis: 1 }).await });
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    before.released.send_replace(true);
    while let Some(reply) = calls.join_next().await {
        reply.expect("task should not panic").expect("call should succeed");
    }
    first.stopped().await;
    drop(second.await.expect("task should not panic"));
}

#[tokio::test(start_paused = true)]
async fn retried_call_stays_within_its_timeout() {
    const TIMEOUT: Duration = Duration::from_secs(10);
    // The servers read everything but never reply. The connection is lost when most of the timeout has passed.
    let channel = Channel::builder().calls::<ExtensionClient>().timeout(TIMEOUT).connect_with_connector(|| async {
        let (here, mut there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(async move {
            let _ = tokio::time::timeout(TIMEOUT * 9 / 10, tokio::io::copy(&mut there, &mut tokio::io::sink())).await;
        });
        Ok(here)
    });
    let client = ExtensionClient::new(channel.await.expect("channel should connect"));
    let started = tokio::time::Instant::now();
    let late = client.get(Time { millis: 1 }).await.expect_err("call without a server should fail");
    assert_eq!(late.code(), Code::DeadlineExceeded);
    assert_eq!(started.elapsed().as_secs(), TIMEOUT.as_secs());
}

/// Returns a connection to a server that sends a HELLO with the given content, if any. The server reads everything,
/// never replies, and is lost after one second.
fn short_lived(hello: &'static [u8]) -> DuplexStream {
    let (here, mut there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        if !hello.is_empty() {
            let _ = there.write_all(&packet(0, 3, hello)).await;
        }
        let second = Duration::from_secs(1);
        let _ = tokio::time::timeout(second, tokio::io::copy(&mut there, &mut tokio::io::sink())).await;
    });
    here
}

/// Regression: the status stated that the call was not sent. This was true only of the second attempt.
#[tokio::test(start_paused = true)]
async fn sent_call_without_retry_reports_maybe_run() {
    for (timeout, code) in [(10_000, Code::Unavailable), (2_000, Code::DeadlineExceeded)] {
        let dialled = AtomicU64::new(0);
        let builder = Channel::builder().calls::<ExtensionClient>().reconnect_timeout(Duration::from_secs(3));
        let channel = builder.connect_with_connector(move || {
            let first = dialled.fetch_add(1, Ordering::SeqCst) == 0;
            async move { if first { Ok(short_lived(b"")) } else { Err(io::ErrorKind::ConnectionRefused.into()) } }
        });
        let client = ExtensionClient::new(channel.await.expect("first connection should be established"));
        let status = client.get(within(timeout)).await.expect_err("call without a server should fail");
        assert_eq!((status.code(), status.may_have_run()), (code, true), "{status}");
        assert!(!status.message().contains("not sent"), "{status}");
    }
}

/// Regression: a streaming call whose request had not been sent failed as if the server had closed the stream.
#[tokio::test(start_paused = true)]
async fn unsent_streaming_call_moves_to_next_connection() {
    let dialled = Arc::new(AtomicU64::new(0));
    let counted = dialled.clone();
    let channel = Channel::builder().connect_with_connector(move || {
        let first = counted.fetch_add(1, Ordering::SeqCst) == 0;
        async move {
            // The first server grants no credit, so streams open but no message is sent.
            Ok(if first { short_lived(b"fris\x01") } else { in_memory() })
        }
    });
    let client = ExtensionClient::new(channel.await.expect("first connection should be established"));
    let mut chunks = client.flood(Time { millis: 1 }).await.expect("stream should open").into_inner();
    chunks.message().await.expect("stream should not fail").expect("stream should have a message");
    assert_eq!(dialled.load(Ordering::SeqCst), 2);
}

#[tokio::test(start_paused = true)]
async fn streaming_call_over_lost_connections_waits_once() {
    let timeout = Duration::from_secs(5);
    let channel =
        Channel::builder().reconnect_timeout(timeout).connect_with_connector(|| async { Ok(short_lived(b"fris\x01")) });
    let client = ExtensionClient::new(channel.await.expect("first connection should be established"));
    let started = tokio::time::Instant::now();
    let called = tokio::time::timeout(10 * timeout, client.flood(Time { millis: 1 })).await;
    let status = called.expect("call should time out").expect_err("request should not be sent");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    assert!(started.elapsed() <= timeout + Duration::from_secs(2), "{:?}", started.elapsed());
}

#[tokio::test]
async fn call_without_reconnect_timeout_fails_with_connect_error() {
    let (first, _) = start("127.0.0.1:0").await;
    let address = first.address.to_string();
    let client = ExtensionClient::connect(address.clone()).await.expect("server should accept the connection");
    first.kill();
    until("the loss is noticed", || first.is_over()).await;
    let _ = client.wait(Time::default()).await;
    // The reason for the failure is known only after an attempt to connect. On a busy machine, the attempt may take
    // longer than a call.
    for stream in [false, true] {
        loop {
            let called = if stream {
                client.flood(within(100)).await.map(drop)
            } else {
                client.wait(within(100)).await.map(drop)
            };
            let status = called.expect_err("port should have no listener");
            assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
            if status.message().contains(&address) && status.message().contains("refused") {
                break;
            }
        }
    }
}

/// Regression: a channel with `stay_connected` reconnected without a pause if the server closed each connection soon.
#[tokio::test(start_paused = true)]
async fn channel_backs_off_if_connections_end_early() {
    for goes_away in [false, true] {
        let dialled = Arc::new(AtomicU64::new(0));
        let counted = dialled.clone();
        let channel = Channel::builder().connect_lazy_with_connector(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            let server = Server::builder().on_connect(move |connection| {
                let connection = connection.clone();
                tokio::spawn(async move {
                    connection.peer_known().await.expect("peer should complete the handshake");
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    if goes_away { connection.close_when_idle() } else { connection.close() }
                });
            });
            let server = server.build().expect("settings should be valid");
            async move {
                let (here, there) = tokio::io::duplex(64 * 1024);
                tokio::spawn(async move { server.serve_connection(there).await });
                Ok(here)
            }
        });
        let channel = channel.expect("server should be valid");
        let minute = Duration::from_secs(60);
        tokio::time::timeout(minute, channel.stay_connected()).await.expect_err("future should stay pending");
        let dialled = dialled.load(Ordering::SeqCst);
        // When the pauses have reached their maximum, each takes one second on average.
        assert!((30..200).contains(&dialled), "client dialled {dialled} times");
    }
}

/// Regression: there were no pauses between attempts if the pauses were longer than the reconnect timeout of calls.
#[tokio::test]
async fn channel_pauses_between_attempts_at_any_timeout() {
    let (server, _) = start("127.0.0.1:0").await;
    let channel = Channel::builder().reconnect_timeout(Duration::from_millis(1));
    let channel = channel.connect(server.address.to_string()).await.expect("server should accept the connection");
    server.kill();
    let mut staying = std::pin::pin!(channel.stay_connected());
    let mut polls = 0;
    let counted = poll_fn(|context| {
        polls += 1;
        staying.as_mut().poll(context)
    });
    tokio::time::timeout(Duration::from_millis(500), counted).await.expect_err("future should stay pending");
    assert!(polls < 1_000, "driver was polled {polls} times");
}

/// Returns a transport whose other end is served.
pub(super) fn in_memory() -> DuplexStream {
    let server = Server::builder().add_service(ExtensionServer::new(Service::default())).build();
    let server = server.expect("server should be valid");
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    here
}

/// Returns a client with a closed first connection, and the number of attempts to connect. The test controls all
/// further connections.
async fn reconnecting<F>(
    builder: ChannelBuilder,
    again: impl Fn() -> F + Send + Sync + 'static,
) -> (ExtensionClient, Arc<AtomicU64>)
where
    F: Future<Output = io::Result<DuplexStream>> + Send + 'static,
{
    let dialled = Arc::new(AtomicU64::new(0));
    let counted = dialled.clone();
    let channel = builder.connect_with_connector(move || {
        let again = (counted.fetch_add(1, Ordering::SeqCst) > 0).then(&again);
        async move {
            match again {
                None => Ok(in_memory()),
                Some(again) => again.await,
            }
        }
    });
    let channel = channel.await.expect("first connection should be established at once");
    let client = ExtensionClient::new(channel.clone());
    client.get(Time::default()).await.expect("call should succeed");
    let first = channel.connection().expect("channel should be connected");
    first.close();
    first.closed().await;
    (client, dialled)
}

fn within(millis: u64) -> Request<Time> {
    let mut request = Request::new(Time::default());
    request.set_timeout(Duration::from_millis(millis));
    request
}

/// Regression: a connection that was established too late for its call was discarded, and the next call started another
/// attempt.
#[tokio::test(start_paused = true)]
async fn late_connection_serves_next_call() {
    let (client, dialled) = reconnecting(Channel::builder(), || async {
        tokio::time::sleep(Duration::from_millis(250)).await;
        Ok(in_memory())
    })
    .await;
    for _ in 0..2 {
        let status = client.wait(within(100)).await.expect_err("connecting should exceed the deadline");
        assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
    }
    client.wait(within(100)).await.expect("connection should be established in time");
    assert_eq!(dialled.load(Ordering::SeqCst), 2);
    // The connection is established although no caller waits for it.
    client.wait(within(100)).await.expect("connection should be established");
}

/// Regression: cancelled calls were not counted, so the client connected as often as calls were made. A call that was
/// never polled blocked all calls behind it, because it kept its turn to connect.
#[tokio::test(start_paused = true)]
async fn unpolled_call_does_not_block_reconnect() {
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Ok(in_memory())
    };
    let (client, dialled) = reconnecting(Channel::builder(), slow).await;
    let mut left = Vec::new();
    for _ in 0..3 {
        let mut call = Box::pin(client.get(Time::default()));
        assert!(poll_once(call.as_mut()).await.is_none(), "call should wait, because there is no connection yet");
        left.push(call);
    }
    client.get(Time::default()).await.expect("call should succeed");
    assert_eq!(dialled.load(Ordering::SeqCst), 2);
    for call in left {
        call.await.expect("waiting call should be served");
    }
}

/// Polls a future once without dropping it.
async fn poll_once<F: Future>(mut future: Pin<&mut F>) -> Option<F::Output> {
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        })
    })
    .await
}

#[tokio::test(start_paused = true)]
async fn failed_connect_backs_off_without_waiting_call() {
    let (client, dialled) = reconnecting(Channel::builder(), || async {
        tokio::time::sleep(Duration::from_millis(10)).await;
        Err(io::ErrorKind::ConnectionRefused.into())
    })
    .await;
    let started = tokio::time::Instant::now();
    while started.elapsed() < Duration::from_secs(20) {
        let status = client.wait(within(5)).await.expect_err("port should have no listener");
        assert!(!status.may_have_run(), "{status}");
    }
    let dialled = dialled.load(Ordering::SeqCst);
    assert!((5..100).contains(&dialled), "client dialled {dialled} times");
}

#[tokio::test(start_paused = true)]
async fn dropped_channel_stops_connecting() {
    let connecting = Arc::new(());
    let guard = connecting.clone();
    let (client, dialled) = reconnecting(Channel::builder(), move || {
        let guard = guard.clone();
        async move {
            let _guard = guard;
            std::future::pending().await
        }
    })
    .await;
    client.wait(within(100)).await.expect_err("call without a server should fail");
    assert_eq!((dialled.load(Ordering::SeqCst), Arc::strong_count(&connecting)), (2, 3));
    let started = tokio::time::Instant::now();
    drop(client);
    until("no attempt is running", || Arc::strong_count(&connecting) == 1).await;
    assert!(started.elapsed() < Duration::from_secs(1));
}

/// Regression: a call waited for the whole connect timeout, even if its reconnect timeout was shorter.
#[tokio::test(start_paused = true)]
async fn call_to_silent_server_fails_after_timeout() {
    let timeout = Duration::from_secs(1);
    let (client, _) = reconnecting(Channel::builder().reconnect_timeout(timeout), std::future::pending).await;
    for _ in 0..2 {
        let started = tokio::time::Instant::now();
        let unary = client.wait(Time::default()).await.map(drop);
        for called in [unary, client.flood(Time::default()).await.map(drop)] {
            let status = called.expect_err("call without a server should fail");
            assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
            assert!(status.message().contains("no connection to the server within"), "{status}");
        }
        assert_eq!(started.elapsed().as_secs(), 2 * timeout.as_secs());
    }
}

#[tokio::test]
async fn losing_half_of_ids_renews_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let builder = Channel::builder().calls::<ExtensionClient>().timeout(Duration::from_millis(200));
    let channel = builder.connect(address);
    let (channel, accepted) = tokio::join!(channel, listener.accept());
    let client = ExtensionClient::new(channel.expect("server should be listening"));
    let mut silent = Raw::over(accepted.expect("client should connect").0);
    silent.write(&packet(0, 1, &[])).await; // A PONG without a HELLO: such a server cannot be notified of the end.
    // After the first reply, the client knows the kind of the server, and no longer limits the number of its calls.
    let mut request = Request::new(Time::default());
    request.set_timeout(Duration::from_secs(60));
    let first = tokio::spawn({
        let client = client.clone();
        async move { client.get(request).await }
    });
    let request = silent.next().await.expect("connection should stay open");
    silent.write(&packet(request.id.0, request.operation.number(), &request.body)).await;
    first.await.expect("task should not panic").expect("call should succeed");
    let reading = tokio::spawn(async move { silent.closed().await });
    let calls: JoinSet<_> = (0..16 * 1024 / 2)
        .map(|_| {
            let client = client.clone();
            async move { client.get(Time::default()).await }
        })
        .collect();
    for reply in calls.join_all().await {
        let status = reply.expect_err("call without a server should fail");
        assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    }
    let next = tokio::spawn(async move { client.get(Time { millis: 3 }).await });
    let mut second = Raw::over(listener.accept().await.expect("client should connect").0);
    let request = second.next().await.expect("client should send the call");
    second.write(&packet(request.id.0, request.operation.number(), &request.body)).await;
    next.await.expect("task should not panic").expect("call should succeed");
    reading.await.expect("unused connection should be closed");
}

/// Regression: the client kept its connection open until its next call, so the stopping server had to wait.
#[tokio::test]
async fn idle_client_does_not_delay_server_shutdown() {
    let (mut server, _) = start("127.0.0.1:0").await;
    let address = server.address.to_string();
    let client = ExtensionClient::connect(address.as_str()).await.expect("server should accept the connection");
    client.get(Time::default()).await.expect("call should succeed");
    server.stop();
    server.stopped().await;
    let _second = start(&address).await;
    client.get(Time::default()).await.expect("call should reach the next server");
}

/// Regression: streams that had ended kept the connection open until they were dropped.
#[tokio::test]
async fn held_finished_streams_do_not_delay_stop() {
    let (mut server, _) = start("127.0.0.1:0").await;
    let client =
        ExtensionClient::connect(server.address.to_string()).await.expect("server should accept the connection");
    let mut ended = client.flood(Time { millis: 1 }).await.expect("stream should open").into_inner();
    ended.message().await.expect("stream should not fail").expect("stream should have a message");
    assert_eq!(ended.message().await.expect("stream should not fail"), None);
    let mut failed = client.flood(within(50)).await.expect("stream should open").into_inner();
    while failed.message().await.is_ok() {}
    let mut unread = client.flood(Time { millis: 1 }).await.expect("stream should open").into_inner();
    unread.message().await.expect("stream should not fail").expect("stream should have a message");
    server.stop();
    server.stopped().await;
    assert_eq!(ended.message().await.expect("stream should not fail"), None);
    assert_eq!(failed.message().await.expect("stream should not fail"), None);
    assert_eq!(unread.message().await.expect("stream should not fail"), None);
}

/// Regression: the server waited until a half-closed client closed the connection, as it does for clients that can
/// still send.
#[tokio::test]
async fn half_closed_client_is_closed_after_reply() {
    let (mut server, state) = start("127.0.0.1:0").await;
    let mut peer = Raw::connect(server.address).await;
    let mut ours = frisbee_core::Connection::client(&Default::default(), Instant::now());
    peer.write(&ours.outbox().take_bytes()).await; // HELLO and a PING.
    peer.write(&packet(7, 12, &[8, 0, 0x0b, 0xC8, 1])).await; // Wait for 200 ms.
    until("the call runs", || state.waiting.load(Ordering::SeqCst) == 1).await;
    server.stop();
    peer.socket.shutdown().await.expect("socket should shut down");
    let ended = async {
        let mut replies = 0;
        while let Some(packet) = peer.next().await {
            replies += usize::from(packet.id.0 == 7);
        }
        server.stopped().await;
        replies
    };
    // A stopping server closes the remaining connections after 20 s.
    let replies =
        tokio::time::timeout(Duration::from_secs(10), ended).await.expect("server should stop within the timeout");
    assert_eq!(replies, 1);
}

#[tokio::test]
async fn stopping_server_closes_idle_go_client() {
    let (mut server, state) = start("127.0.0.1:0").await;
    let mut go = Raw::connect(server.address).await;
    go.write(&packet(7, 12, &[8, 0, 0x0b, 0xC8, 1])).await; // Wait for 200 ms.
    until("the call runs", || state.waiting.load(Ordering::SeqCst) == 1).await;
    server.stop();
    go.write(&packet(8, 14, &[8, 0, 0x0b, 1])).await; // Get, which a Go client may call at this point.
    assert_eq!(go.next().await.expect("call in progress should be served").id.0, 8);
    assert_eq!(go.next().await.expect("call in progress should be served").id.0, 7);
    assert_eq!(go.next().await, None);
    server.stopped().await;
}

/// Regression test: a connection that ended within two seconds was treated as a failed connection attempt. The channel
/// then paused before it reconnected, and calls failed during the pause.
#[tokio::test(start_paused = true)]
async fn server_loss_every_second_fails_no_call() {
    let builder = Channel::builder().reconnect_timeout(Duration::from_millis(500));
    let channel = builder.connect_with_connector(|| async {
        let server = Server::builder().add_service(ExtensionServer::new(Service::default())).build();
        let server = server.expect("server should be valid");
        let (here, there) = tokio::io::duplex(64 * 1024);
        tokio::spawn(tokio::time::timeout(Duration::from_secs(1), async move { server.serve_connection(there).await }));
        Ok(here)
    });
    let client = ExtensionClient::new(channel.await.expect("first connection should be established"));
    for call in 0..60 {
        client.get(Time::default()).await.unwrap_or_else(|status| panic!("call {call}: {status}"));
        tokio::time::sleep(Duration::from_millis(1_300)).await;
    }
}

/// Regression: the timer of a stream's deadline belonged to the runtime that opened the stream. Polling it panicked
/// after that runtime had ended.
#[test]
fn stream_with_deadline_outlives_opening_runtime() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .expect("runtime should start")
    };
    let (home, away) = (runtime(), runtime());
    let address = home.block_on(serve_interop_with(Server::builder()));
    let client = home.block_on(InteropClient::connect(address.to_string())).expect("server should be listening");
    let (sender, requests) = RequestStream::channel(1);
    let mut request = Request::new(requests);
    request.set_timeout(Duration::from_millis(300));
    let mut replies = away.block_on(client.chat(request)).expect("stream should open").into_inner();
    drop(away);
    let status = home.block_on(replies.message()).expect_err("reply should not arrive before the deadline");
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    drop(sender);
}
