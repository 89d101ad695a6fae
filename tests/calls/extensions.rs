//! Tests of features that native peers add to Go's protocol: deadlines, cancellation, metadata, statuses, credit and
//! draining.

use frisbee::tlv;
use frisbee::{Config, PeerKind};
use frisbee_tests::extension::maybe::Choice;
use frisbee_tests::extension::{Chunk, Extension, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::observed::{Service, served, start};
use frisbee_tests::raw::{Raw, encoded, packet};
use frisbee_tests::{not_served, serve, until};
use frpc::{Channel, Code, Metadata, Request, RequestStream, Response, ResponseStream, Server, Status};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::broadcast;
use tokio::task::JoinSet;

fn labelled<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("sent-text", "a text").expect("metadata entry should be valid");
    request.metadata_mut().insert_bin("sent-raw-bin", vec![0, 255]).expect("binary metadata should be valid");
    request
}

fn check_labels(metadata: &Metadata) {
    assert_eq!(metadata.get("got-text"), Some("a text"));
    assert_eq!(metadata.get_bin("got-raw-bin"), Some(&[0, 255][..]));
}

#[tokio::test]
async fn metadata_flows_both_ways_from_first_call() {
    let (client, _) = served().await;
    check_labels(client.echo(labelled(Maybe::default())).await.expect("call should succeed").metadata());
    let failure = Failure { code: Code::NotFound as i32, text: "gone".into(), details: vec![1, 2, 3] };
    let status = client.fail(labelled(failure)).await.expect_err("call should fail");
    assert_eq!((status.code(), status.message(), status.details()), (Code::NotFound, "gone", &[1, 2, 3][..]));
    check_labels(status.metadata());
    let mut chunks = client.flood(labelled(Time::default())).await.expect("stream should open").into_inner();
    chunks.message().await.expect("stream should not fail");
    check_labels(chunks.metadata());
}

#[tokio::test]
async fn every_status_code_round_trips() {
    let (client, _) = served().await;
    for code in 1..=16 {
        let status = client.fail(Failure { code, text: String::new(), details: Vec::new() }).await;
        assert_eq!(status.expect_err("call should fail").code() as i32, code);
    }
}

#[tokio::test]
async fn presence_is_exact() {
    let (client, _) = served().await;
    let choices = [
        None,
        Some(Choice::Flag(false)),
        Some(Choice::Word(String::new())),
        Some(Choice::Time(Time::default())),
        Some(Choice::Time(Time { millis: 7 })),
    ];
    for choice in choices {
        for number in [None, Some(0), Some(-1)] {
            for text in [None, Some(String::new()), Some("text".into())] {
                let maybe = Maybe { number, text, choice: choice.clone(), plain: 3 };
                assert_eq!(client.echo(maybe.clone()).await.expect("call should succeed").into_inner(), maybe);
            }
        }
    }
}

#[tokio::test]
async fn presence_loss_towards_go_follows_configuration() {
    for strict in [false, true] {
        let (address, accepted) = Raw::listen().await;
        let channel = Channel::builder()
            .strict_presence(strict)
            .connect(address)
            .await
            .expect("server should accept the connection");
        let client = ExtensionClient::new(channel);
        let mut go = accepted.await;
        go.write(&packet(0, 1, &[])).await; // A PONG without a HELLO.
        let call = tokio::spawn(async move { client.echo(Maybe::default()).await });
        if strict {
            let refused = call.await.expect("task should not panic").expect_err("absent fields should be rejected");
            assert_eq!((refused.code(), refused.may_have_run()), (Code::FailedPrecondition, false));
            continue;
        }
        let request = go.next().await.expect("client should send the call");
        let flat = [8, 0, 0x0c, 0, 5, 0x0a, 0, 7, 0, 5, 0x0a, 0, 0x0c, 0, 0];
        assert_eq!(request.body, flat[..]);
        go.write(&packet(request.id.0, request.operation.number(), &flat)).await;
        call.await.expect("task should not panic").expect("call should succeed");
    }
}

#[tokio::test]
async fn simple_call_skips_peer_kind_wait() {
    let (address, accepted) = Raw::listen().await;
    let config = Config::default().ping_interval(Duration::from_millis(200)).idle_timeout(Duration::from_secs(2));
    let channel = Channel::builder().config(config).calls::<ExtensionClient>().connect(address).await;
    let client = ExtensionClient::new(channel.expect("server should be listening"));
    let mut silent = accepted.await;
    let plain = tokio::spawn({
        let client = client.clone();
        async move { client.get(Time { millis: 3 }).await }
    });
    let request = silent.next().await.expect("request should be sent before HELLO");
    assert_eq!(request.body, [8, 0, 0x0b, 3][..]);
    silent.write(&packet(request.id.0, request.operation.number(), &request.body)).await;
    plain.await.expect("task should not panic").expect("call should succeed");
    assert_eq!(client.clone().get(labelled(Time::default())).await.map_err(|status| status.code()).err(), {
        // A call whose encoding depends on the kind of the server waits for HELLO. It fails with the connection if no
        // HELLO arrives.
        Some(Code::Unavailable)
    });
}

/// A native client would cancel its call at the deadline. This client sends nothing more, so the server has to enforce
/// it.
#[tokio::test(start_paused = true)]
async fn handler_is_dropped_at_caller_deadline() {
    let service = Service::default();
    let state = service.state.clone();
    let server =
        Server::builder().add_service(ExtensionServer::new(service)).build().expect("services should not overlap");
    let (mut client, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    let (mut timeout, mut terms, mut body) = (Vec::new(), Vec::new(), vec![0x10]);
    tlv::put_varint(&mut timeout, 50_000); // In microseconds.
    tlv::put_item(&mut terms, 1, &timeout);
    tlv::put_varint(&mut body, terms.len() as u64);
    body.extend(terms.into_iter().chain(encoded(&Time { millis: 3_600_000 })));
    let started = tokio::time::Instant::now();
    client.write_all(&[packet(0, 3, b"fris\x01"), packet(7, 12, &body)].concat()).await.expect("write should succeed");
    until("the handler runs", || state.waiting.load(Ordering::SeqCst) == 1).await;
    until("the handler has ended", || state.waiting.load(Ordering::SeqCst) == 0).await;
    assert!((50..60).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
}

#[tokio::test]
async fn nested_call_inherits_handler_deadline() {
    let (last, _) = served().await;
    let service = Service::default();
    service.state.back.set(last).expect("handle should be set once");
    let client =
        ExtensionClient::connect(start(service).await.to_string()).await.expect("server should accept the connection");
    assert_eq!(
        client.ask(Time::default()).await.expect("peer should answer").get_ref().millis,
        0,
        "default timeout should not be sent"
    );
    let mut request = Request::new(Time { millis: 30 });
    request.set_timeout(Duration::from_secs(5));
    let left = client.ask(request).await.expect("peer should answer").into_inner().millis;
    assert!((1..=4_971).contains(&left), "{left} ms should be left of 5 s after 30 ms");
}

#[tokio::test]
async fn dropped_call_drops_handler_and_frees_id() {
    const IDS: u32 = 200;
    let service = Service::default();
    let state = service.state.clone();
    let builder = Server::builder().config(Config::default().calls_max(IDS));
    let address = serve(builder.add_service(ExtensionServer::new(service))).await;
    let client = ExtensionClient::connect(address.to_string()).await.expect("server should accept the connection");
    client.get(Time::default()).await.expect("peers should know each other");
    for _ in 0..10 {
        let mut calls: JoinSet<_> = (0..IDS)
            .map(|_| {
                let client = client.clone();
                async move { client.wait(Time { millis: 3_600_000 }).await }
            })
            .collect();
        tokio::task::yield_now().await;
        calls.abort_all();
        while calls.join_next().await.is_some() {}
    }
    // The test cancels more calls than there are ids. If cancelled calls kept their ids, it would wait forever.
    let calls: JoinSet<_> = (0..5 * IDS)
        .map(|_| {
            let client = client.clone();
            async move { client.get(Time { millis: 1 }).await }
        })
        .collect();
    for reply in calls.join_all().await {
        reply.expect("waiting call should get a slot");
    }
    until("the handlers have ended", || state.waiting.load(Ordering::SeqCst) == 0).await;
}

/// Number of calls in `interleaved_cancellations_never_mix_replies`. The long run makes one million.
fn many() -> u64 {
    std::env::var("FRISBEE_MANY").ok().and_then(|many| many.parse().ok()).unwrap_or(100_000)
}

#[tokio::test(flavor = "multi_thread")]
async fn interleaved_cancellations_never_mix_replies() {
    const CALLERS: u64 = 100;
    let (client, state) = served().await;
    let callers: JoinSet<_> = (0..CALLERS)
        .map(|caller| {
            let client = client.clone();
            async move {
                for call in 0..many() / CALLERS {
                    let nonce = caller << 32 | call;
                    if call % 10 == caller % 10 {
                        // Depending on which event comes first, a call is cancelled immediately, while it runs, or
                        // never.
                        let call = client.wait(Time { millis: call % 3 });
                        let _ = tokio::time::timeout(Duration::from_micros(nonce % 2_000), call).await;
                        continue;
                    }
                    let request = Maybe { text: Some(nonce.to_string()), ..Maybe::default() };
                    let reply = client.echo(request).await.expect("call should succeed").into_inner();
                    assert_eq!(reply.text, Some(nonce.to_string()));
                }
            }
        })
        .collect();
    callers.join_all().await;
    until("the handlers have ended", || state.waiting.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test]
async fn unread_stream_blocks_only_its_sender() {
    let service = Service::default();
    let state = service.state.clone();
    // If the reader keeps up, the window of a stream may grow to sixteen times the credit. The number of unread bytes
    // is still bounded.
    let config = Config::default().stream_credit(16 * 1024);
    let channel = Channel::builder().config(config).connect(start(service).await.to_string());
    let client = ExtensionClient::new(channel.await.expect("server should be listening"));
    let mut unread = client.flood(Time::default()).await.expect("stream should open").into_inner();
    until("the flood begins", || state.flooded.load(Ordering::SeqCst) > 0).await;
    for _ in 0..100 {
        client.get(Time::default()).await.expect("calls should still work");
    }
    let mut other = client.flood(Time::default()).await.expect("stream should open").into_inner();
    for _ in 0..2_000 {
        assert_eq!(
            other.message().await.expect("stream should not fail").expect("stream should continue").data.len(),
            1024
        );
    }
    drop(other);
    // The handler is notified that its stream was abandoned, and then produces no more items.
    let mut produced = 0;
    let still = async {
        while std::mem::replace(&mut produced, state.flooded.load(Ordering::SeqCst)) != produced {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), still).await.expect("producer should stop within the timeout");
    // The credit is at most 256 KiB. A message is charged its length plus 64 bytes, and one message may exceed the
    // credit.
    assert!(produced < 2_000 + 2 * 300, "handler produced {produced} messages");
    for _ in 0..2_000 {
        unread.message().await.expect("stream should not fail").expect("stream should continue");
    }
}

#[tokio::test]
async fn late_reading_server_slows_client_without_loss() {
    let (client, _) = served().await;
    let (sender, chunks) = RequestStream::channel(1);
    // Measured from before the call, so that a pause of this thread cannot make the wait look shorter.
    let started = Instant::now();
    let sending = tokio::spawn(async move {
        for _ in 0..1_000 {
            sender.send(Chunk { data: vec![1; 1024] }).await.expect("message should be sent");
        }
        started.elapsed()
    });
    let count = client.sink(chunks).await.expect("messages should be counted").into_inner().millis;
    assert_eq!(count, 1_000);
    let took = sending.await.expect("task should not panic");
    assert!(took >= Duration::from_millis(80), "server that did not read accepted 1 MiB in {took:?}");
}

#[tokio::test]
async fn consecutive_streams_leak_no_ids_or_credit() {
    let (client, _) = served().await;
    // More calls than the 32 767 ids of a client.
    for n in 0..33_000 {
        let mut chunks = client.flood(Time { millis: 1 }).await.expect("stream should open").into_inner();
        chunks.message().await.expect("stream should not fail").expect("stream should have a message");
        if n % 2 == 0 {
            assert_eq!(chunks.message().await.expect("stream should not fail"), None);
        }
    }
    assert_eq!(client.get(Time { millis: 1 }).await.expect("connection should stay open").into_inner().millis, 1);
}

/// A service with a stream that sends its first message only when it is triggered. It may send metadata before.
#[derive(Clone)]
struct Silent(broadcast::Sender<Chunk>);

impl Extension for Silent {
    not_served!(echo, fail, wait, ask, get, sink);

    async fn flood(&self, request: Request<Time>) -> Result<Response<ResponseStream<Chunk>>, Status> {
        let mut events = self.0.subscribe();
        let (chunks, stream) = ResponseStream::channel(1);
        tokio::spawn(async move {
            while let Ok(event) = events.recv().await {
                if chunks.send(Ok(event)).await.is_err() {
                    return;
                }
            }
        });
        let mut response = Response::new(stream);
        if let Some(value) = request.metadata().get("sent-text") {
            response.metadata_mut().insert("got-text", value)?;
        }
        Ok(response)
    }
}

/// Regression test: a streaming call was only accepted with its first message. A caller that subscribed before it
/// triggered the event waited forever.
#[tokio::test]
async fn silent_stream_opens_when_handler_returns() {
    let (events, _) = broadcast::channel(1);
    let server = Server::builder().add_service(ExtensionServer::new(Silent(events.clone())));
    let channel = Channel::connect(serve(server).await.to_string()).await.expect("server should be listening");
    let client = ExtensionClient::new(channel);
    for request in [Request::new(Time::default()), labelled(Time::default())] {
        let label = request.metadata().get("sent-text").map(str::to_owned);
        let mut stream = client.flood(request).await.expect("stream should open").into_inner();
        stream.opened().await.expect("handler should have returned");
        assert_eq!(stream.metadata().get("got-text").map(str::to_owned), label);
        events.send(Chunk::default()).expect("handler should have subscribed");
        assert!(stream.message().await.expect("stream should not fail").is_some());
    }
}

#[tokio::test]
async fn server_without_extension_counts_as_go() {
    let config = Config::default().hello(false);
    let server = Server::builder().config(config).add_service(ExtensionServer::new(Service::default()));
    let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let channel = Channel::connect(server.local_addr().to_string());
    tokio::spawn(server.serve());
    let channel = channel.await.expect("server should be listening");
    let connection = channel.connection().expect("channel should be connected");
    assert_eq!(connection.peer_known().await.expect("peer should complete the handshake"), PeerKind::Compat);
    let client = ExtensionClient::new(channel);
    let failure = Failure { code: Code::NotFound as i32, text: "gone".into(), details: vec![1] };
    let status = client.fail(labelled(failure)).await.expect_err("call should fail");
    assert_eq!((status.code(), status.message(), status.details()), (Code::Unknown, "gone", &[][..]));
    let reply = client.echo(labelled(Maybe { plain: 1, ..Maybe::default() })).await.expect("call should succeed");
    assert!(reply.metadata().is_empty());
}
