//! Tests of limits that the peer announces, at their boundaries: concurrent calls and streams, lengths and credit.

use bytes::Bytes;
use frisbee::{Client, Config, Handlers};
use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::{AddRequest, Count, InteropClient, InteropServer, Payload, SleepRequest, Text};
use frisbee_tests::raw::{Raw, encoded, error_text, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve, serve_interop_with};
use frpc::{Channel, Code, Policy, Request, Server};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

const MS: Duration = Duration::from_millis(1);

/// Maximum time to wait for an event that should happen immediately.
const TIMEOUT: Duration = Duration::from_secs(20);

const SUM: AddRequest = AddRequest { a: 1, b: 1 };

async fn client(config: Config) -> InteropClient {
    let address = serve_interop_with(Server::builder().config(config)).await;
    InteropClient::connect(address.to_string()).await.expect("server should accept the connection")
}

fn sleep(millis: u32) -> SleepRequest {
    SleepRequest { millis, ..SleepRequest::default() }
}

fn within<T>(timeout: Duration, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(timeout);
    request
}

/// Regression: a client that did not know the limit of the server yet sent more calls than permitted, and these calls
/// failed.
#[tokio::test]
async fn early_burst_of_calls_keeps_server_limit() {
    let config = Config::default().calls_max(10);
    let address = serve_interop_with(Server::builder().config(config)).await;
    let channel = Channel::builder().calls::<InteropClient>().connect(address.to_string()).await;
    let client = Arc::new(InteropClient::new(channel.expect("server should be listening")));
    for round in 0..3 {
        let calls = (0..100).map(|_| {
            let client = client.clone();
            async move {
                let refused = client.sleep(sleep(20)).await.err();
                assert!(refused.as_ref().is_none_or(|status| !status.may_have_run()), "{refused:?}");
                refused.is_some()
            }
        });
        let refused = calls.collect::<JoinSet<_>>().join_all().await.into_iter().filter(|refused| *refused).count();
        assert_eq!(refused, 0, "round {round}");
    }
}

/// A client may not know the limit, for example because the server's HELLO has not arrived yet. Regression: rejected
/// calls had already started their handlers.
#[tokio::test]
async fn calls_over_limit_never_run() {
    const CALLS: u16 = 40;
    const LIMIT: u16 = 4;
    const ECHO_PAYLOAD: u16 = 17;
    for policy in [Policy::Inline, Policy::Concurrent] {
        let (service, release) = Hoard::new(Duration::ZERO);
        let builder = Server::builder().config(Config::default().calls_max(u32::from(LIMIT))).policy(policy);
        let address = serve(builder.add_service(InteropServer::new(service.clone()))).await;
        let mut client = Raw::connect(address).await;
        let request = encoded(&Payload::default());
        let requests: Vec<_> = (1..=CALLS).map(|id| packet(id, ECHO_PAYLOAD, &request)).collect();
        client.write(&requests.concat()).await;
        for _ in LIMIT..CALLS {
            let refused = client.next().await.expect("call should be rejected at once");
            let text = error_text(&refused.body).expect("call should fail without a permit");
            assert!(text.contains("the limit of 4 calls"), "{text}");
        }
        release.send(true).expect("receiver should be waiting");
        for _ in 0..LIMIT {
            let reply = client.next().await.expect("call with a permit should be answered");
            assert_eq!(error_text(&reply.body), None);
        }
        assert_eq!(service.started.load(Ordering::SeqCst), usize::from(LIMIT), "{policy:?}");
    }
}

/// Regression: a task whose call had ended started its next call before tasks that were waiting. Two of six tasks made
/// nearly all calls.
#[tokio::test]
async fn tasks_at_call_limit_take_turns() {
    const CALLS: usize = 300;
    let client = Arc::new(client(Config::default().calls_max(2)).await);
    client.add(SUM).await.expect("call should succeed");
    let left = Arc::new(AtomicUsize::new(CALLS));
    let tasks = (0..6).map(|_| {
        let (client, left) = (client.clone(), left.clone());
        async move {
            let mut made = 0;
            while left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok() {
                client.sleep(sleep(0)).await.expect("call should wait for a slot");
                made += 1;
            }
            made
        }
    });
    let made: Vec<usize> = tasks.collect::<JoinSet<_>>().join_all().await;
    assert!(made.iter().all(|made| *made > CALLS / 12), "{made:?}");
}

/// Regression: streams and tasks counted as calls. If there were enough of them, every call with a pending handler was
/// rejected.
#[tokio::test]
async fn idle_streams_leave_permits_to_calls() {
    const STREAMS: usize = 10;
    let client = client(Config::default().calls_max(2)).await;
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        let texts = futures_util::stream::once(async { Text { value: "open".to_owned() } });
        let texts = futures_util::StreamExt::chain(texts, futures_util::stream::pending());
        let mut replies = client.chat(texts).await.expect("stream should open").into_inner();
        assert!(replies.message().await.expect("stream should not fail").is_some());
        streams.push(replies);
    }
    let (one, other) = tokio::join!(client.sleep(sleep(20)), client.sleep(sleep(20)));
    one.and(other).expect("streams should not count as calls");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn client_within_server_limit_is_never_rejected() {
    let client = Arc::new(client(Config::default().calls_max(4)).await);
    client.add(SUM).await.expect("call should succeed");
    let calls = (0..5_000).map(|_| {
        let client = client.clone();
        // On a busy machine, all calls together may take longer than the default timeout.
        async move { client.sleep(within(3_600_000 * MS, sleep(1))).await.err() }
    });
    let refused: Vec<_> = calls.collect::<JoinSet<_>>().join_all().await.into_iter().flatten().collect();
    assert!(refused.is_empty(), "{} calls were rejected: {}", refused.len(), refused[0]);
}

#[tokio::test(start_paused = true)]
async fn stream_calls_need_slots_not_credit() {
    let none = Config::default().streams_max(0);
    let no_credit = Config::default().stream_credit(1);
    for (config, fails) in [(none, true), (no_credit, false)] {
        let acceptor = Server::builder().config(config).add_service(InteropServer::new(Service)).build();
        let acceptor = acceptor.expect("server should have no overlapping services");
        let (here, there) = frisbee::memory();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let client =
            InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
        let counts = frpc::iter((0..5).map(|value| Count { value }));
        let summed = tokio::time::timeout(Duration::from_secs(3600), client.sum_up(counts))
            .await
            .expect("call should complete within the timeout");
        assert_eq!(summed.err().map(|status| status.code()), fails.then_some(Code::Unimplemented));
    }
}

#[tokio::test]
async fn message_over_server_limit_fails_one_call() {
    let client = client(Config::default().body_max(64 * 1024)).await;
    client.add(SUM).await.expect("call should succeed");
    let long = async {
        tokio::task::yield_now().await;
        client.echo_payload(Payload { seq: 1, data: vec![0; 100_000] }).await
    };
    let (other, long) = tokio::join!(client.sleep(sleep(200)), long);
    other.expect("other call should continue");
    assert_eq!(long.expect_err("message should be rejected as too long").code(), Code::ResourceExhausted);
}

#[tokio::test]
async fn zero_limits_still_accept_protocol_packets() {
    for (server_takes, client_takes) in [(0, 5 << 20), (5 << 20, 0)] {
        let config = |body_max| Config::default().body_max(body_max);
        let address = serve_interop_with(Server::builder().config(config(server_takes))).await;
        let builder = Channel::builder().config(config(client_takes));
        let builder = builder.add_service(InteropServer::new(Service));
        let client = InteropClient::new(
            builder.connect(address.to_string()).await.expect("server should accept the connection"),
        );
        client.add(SUM).await.expect("call should succeed");
        let long = client.echo_payload(Payload { seq: 1, data: vec![0; 2000] }).await;
        assert_eq!(long.expect_err("message should be rejected as too long").code(), Code::ResourceExhausted);
        client.add(SUM).await.expect("call should succeed");
    }
}

#[tokio::test]
async fn overlong_reset_text_arrives_truncated() {
    let (sender, mut streams) = mpsc::unbounded_channel();
    let handlers = Handlers::new().on_stream(move |_, stream| drop(sender.send(stream)));
    let server = frisbee::Server::builder().config(Config::default().body_max(2048));
    let server = server.bind("127.0.0.1:0", handlers).await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let connection =
        Client::builder().connect(address, Handlers::new()).await.expect("server should accept the connection");
    let stream = connection.open_stream(&Bytes::from_static(b"open")).await.expect("stream should open");
    let mut other = streams.recv().await.expect("channel should stay open");
    stream.reset(7, &"x".repeat(10_000));
    tokio::time::timeout(TIMEOUT, async { while other.recv().await.is_some() {} })
        .await
        .expect("connection should close within the timeout");
    let ended = format!("{:?}", other.close_reason());
    assert!(ended.contains("xxx") && ended.len() < 4096, "{ended}");
    assert!(connection.open_stream(&Bytes::from_static(b"open")).await.is_ok(), "connection should stay open");
}

#[tokio::test]
async fn client_disconnects_from_server_that_never_replies() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let accepted = Arc::new(AtomicUsize::new(0));
    let accepting = tokio::spawn({
        let accepted = accepted.clone();
        async move {
            let mut peers = JoinSet::new();
            loop {
                let (socket, _) = listener.accept().await.expect("client should connect");
                accepted.fetch_add(1, Ordering::SeqCst);
                peers.spawn(async move {
                    let mut raw = Raw::over(socket);
                    let config = Config::default().calls_max(4);
                    let begins = frisbee_core::Connection::client(&config.into(), Instant::now()).outbox().take_bytes();
                    raw.write(&begins[..begins.len() - 10]).await; // HELLO, without the PING after it.
                    loop {
                        raw.write(&packet(0, 0, &[])).await; // A PING shows that the server is alive.
                        tokio::time::sleep(50 * MS).await;
                    }
                });
            }
        }
    });
    let client = InteropClient::connect(address).await.expect("server should accept the connection");
    let mut calls = 0;
    while accepted.load(Ordering::SeqCst) < 2 {
        calls += 1;
        assert!(calls < 100, "connection that can send nothing more should be closed");
        client.add(within(20 * MS, SUM)).await.expect_err("call should fail");
    }
    accepting.abort();
}
