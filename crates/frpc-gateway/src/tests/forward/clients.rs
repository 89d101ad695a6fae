//! Generated clients that call gRPC servers, which are implemented by tonic or scripted.

use super::grpc::{Received, reply, serve_backend, start_script};
use super::support::{serve, soon};
use bytes::Bytes;
use frisbee_core::{Config, ServerConfig};
use frisbee_http2::{Connection, ErrorCode, Head, StreamKey};
use frpc::details::ErrorInfo;
use frpc::{Call, Channel, Code, LateTrailers, Next, Request, RequestStream, Server};
use frpc_balance::{Balance as _, FleetView};
use frpc_reflection::health_v1::{HealthCheckRequest, HealthClient};
use samples::greet::{GreeterClient, GreeterServer, Name};
use samples::quickstart::{CalculatorClient, Number, Range, Terms};
use samples::started::Polite;
use samples::tools::{Node, ToolsClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

fn name(name: &str) -> Name {
    Name { name: name.to_owned() }
}

async fn connect(address: &str) -> GreeterClient {
    GreeterClient::connect(format!("grpc://{address}")).await.expect("server should accept the connection")
}

#[tokio::test]
async fn generated_client_makes_every_kind_of_call() {
    let client = CalculatorClient::connect(format!("grpc://{}", serve_backend()))
        .await
        .expect("server should accept the connection");
    let sum = client.add(Terms { a: 2, b: 40 }).await.expect("call should succeed");
    assert_eq!(sum.get_ref().value, 42);
    let mut numbers = client.count_up(Range { from: 7, count: 100 }).await.expect("call should succeed").into_inner();
    for expected in 7..107 {
        let number = numbers.message().await.expect("stream should not fail").expect("stream should go on");
        assert_eq!(number.value, expected);
    }
    assert_eq!(numbers.message().await.expect("stream should not fail"), None);
    let numbers = (1..=100).map(|value| Number { value });
    let sum = client.sum_up(frpc::iter(numbers)).await.expect("call should succeed").into_inner();
    assert_eq!((sum.total, sum.count), (5050, 100));
    // Each request is sent after the reply to the previous one.
    let (sender, requests) = RequestStream::channel(1);
    let mut sums = client.running_sum(requests).await.expect("call should succeed").into_inner();
    for (value, total) in [(1, 1), (2, 3), (3, 6)] {
        sender.send(Number { value }).await.expect("call should accept requests");
        let sum = sums.message().await.expect("stream should not fail").expect("stream should go on");
        assert_eq!(sum.value, total);
    }
    drop(sender);
    assert_eq!(sums.message().await.expect("stream should not fail"), None);
}

#[tokio::test]
async fn stream_longer_than_windows_arrives() {
    let client = CalculatorClient::connect(format!("grpc://{}", serve_backend()))
        .await
        .expect("server should accept the connection");
    // 16 bytes for each message, 2.4 MB in all.
    let (from, count) = (i64::MIN, 150_000);
    let mut numbers = client.count_up(Range { from, count }).await.expect("call should succeed").into_inner();
    let mut received = 0;
    while let Some(number) = numbers.message().await.expect("stream should not fail") {
        assert_eq!(number.value, from + received);
        received += 1;
    }
    assert_eq!(received, i64::from(count));
}

#[tokio::test]
async fn closed_grpc_channel_lets_calls_end_and_disconnects() {
    let (backend, listener) = (serve_backend(), TcpListener::bind("127.0.0.1:0").await.expect("port should be free"));
    let address = listener.local_addr().expect("listener should have a local address");
    let (ended, mut end) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let (mut client, _) = listener.accept().await.expect("client should connect");
        let mut server = TcpStream::connect(backend).await.expect("server should accept the connection");
        let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
        let _ = ended.send(());
    });
    let channel = Channel::connect(format!("grpc://{address}")).await.expect("server should accept the connection");
    let client = CalculatorClient::new(channel.clone());
    let (sender, requests) = RequestStream::channel(1);
    let mut sums = client.running_sum(requests).await.expect("call should succeed").into_inner();
    sums.opened().await.expect("stream should open");
    channel.close();
    let status = client.add(Terms { a: 2, b: 40 }).await.expect_err("channel should be closed");
    assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
    sender.send(Number { value: 1 }).await.expect("call in progress should continue");
    assert_eq!(sums.message().await.expect("stream should not fail").map(|sum| sum.value), Some(1));
    assert!(end.try_recv().is_err(), "connection should stay open for the call in progress");
    drop(sender);
    assert_eq!(sums.message().await.expect("stream should not fail"), None);
    soon(&mut end).await;
}

#[tokio::test]
async fn body_limit_of_channel_rejects_long_replies() {
    let native = serve(Server::builder().add_service(GreeterServer::new(Polite))).await;
    for address in [native, format!("grpc://{}", serve_backend())] {
        let builder = Channel::builder().config(Config::default().body_max(2000));
        let client = GreeterClient::new(builder.connect(&address).await.expect("server should accept the connection"));
        client.greet(name("Ada")).await.expect("short reply should be accepted");
        // Make the reply exceed the limit but not the request: the greeting is eight bytes longer than the name.
        let refused =
            client.greet(name(&"x".repeat(1990))).await.expect_err("reply over the body limit should be rejected");
        assert_eq!(refused.code(), Code::ResourceExhausted, "{address}: {refused}");
    }
}

#[tokio::test]
async fn metadata_details_and_middleware_of_client_apply() {
    let middleware = async |mut call: Call, next: Next| {
        call.metadata_mut().insert("tenant", "blue")?;
        next.run(call).await
    };
    let builder = Channel::builder().middleware(middleware);
    let channel = builder.connect_lazy(format!("grpc://{}", serve_backend())).expect("address should be valid");
    let client = GreeterClient::new(channel);
    let mut request = Request::new(name("Ada"));
    for part in ["a", "b"] {
        request.metadata_mut().append("part", part).expect("metadata should be valid");
        request.metadata_mut().append_bin("part-bin", [0, part.len() as u8]).expect("metadata should be valid");
    }
    let reply = client.greet(request).await.expect("call should succeed");
    assert_eq!((reply.get_ref().text.as_str(), reply.metadata().get("tenant")), ("Hello, Ada!", Some("blue")));
    assert!(reply.metadata().get_all("part").eq(["a", "b"]));
    assert!(reply.metadata().get_all_bin("part-bin").eq([[0, 1], [0, 1]]));
    let status = client.greet(name("")).await.expect_err("call should fail");
    let expected = frpc::Status::invalid_argument("the name is empty").with_detail(&ErrorInfo::new("EMPTY", "tests"));
    assert_eq!((status.code(), status.details()), (Code::InvalidArgument, expected.details()));
    let verses = client.recite(name("fail")).await.expect("call should succeed");
    let trailers = verses.extensions().get::<LateTrailers>().cloned();
    let mut verses = verses.into_inner();
    verses.opened().await.expect("stream should open");
    assert_eq!(verses.metadata().get("tenant"), Some("blue"));
    assert!(verses.message().await.expect("stream should not fail").is_some());
    assert_eq!(verses.message().await.expect_err("stream should fail").code(), Code::DataLoss);
    assert!(trailers.is_some_and(|trailers| trailers.0.get().is_none()));
}

#[tokio::test]
async fn deadline_of_client_is_sent_and_enforced() {
    let client = connect(&serve_backend().to_string()).await;
    let mut request = Request::new(name("timeout"));
    assert_eq!(client.greet(name("timeout")).await.expect("call should succeed").get_ref().text, "timeout false");
    request.set_timeout(Duration::from_secs(60));
    assert_eq!(client.greet(request).await.expect("call should succeed").get_ref().text, "timeout true");
    for name in ["wait", "endless"] {
        let mut request = Request::new(self::name(name));
        request.set_timeout(Duration::from_millis(1));
        let status = match name {
            "wait" => client.greet(request).await.map(drop),
            _ => {
                let mut verses = client.recite(request).await.expect("stream should open").into_inner();
                loop {
                    match verses.message().await {
                        Ok(Some(_)) => {}
                        ended => break ended.map(drop),
                    }
                }
            }
        };
        assert_eq!(status.expect_err("call should time out").code(), Code::DeadlineExceeded, "{name}");
    }
}

#[tokio::test]
async fn dropped_call_of_client_is_reset() {
    let (calls, mut begun) = mpsc::unbounded_channel();
    let (resets, mut reset) = mpsc::unbounded_channel();
    let address = start_script(ServerConfig::default(), move |_, received| {
        match received {
            Received::Call(number, ..) => calls.send(number).expect("test should wait for the call"),
            Received::Reset(code) => resets.send(code).expect("test should wait for the reset"),
        }
        Vec::new()
    });
    let client = connect(&address.await).await;
    tokio::select! {
        _ = client.greet(name("wait")) => panic!("call should wait"),
        _ = soon(&mut begun) => {}
    }
    assert_eq!(soon(&mut reset).await, ErrorCode::CANCEL);
    let verses = client.recite(name("wait")).await.expect("stream should open");
    soon(&mut begun).await;
    drop(verses);
    assert_eq!(soon(&mut reset).await, ErrorCode::CANCEL);
}

#[tokio::test]
async fn refused_call_is_retried_or_never_runs() {
    let address = start_script(ServerConfig::default(), |http2, received| {
        match received {
            Received::Call(number, stream, name) if number == 0 || name == "never" => {
                http2.reset(stream, ErrorCode::REFUSED_STREAM);
            }
            Received::Call(_, stream, _) => return reply(http2, stream, 1),
            Received::Reset(_) => {}
        }
        Vec::new()
    });
    let client = connect(&address.await).await;
    assert_eq!(client.greet(name("Ada")).await.expect("call should be repeated").get_ref().text, "Hello!");
    let status = client.greet(name("never")).await.expect_err("call should be refused");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
}

#[tokio::test]
async fn calls_beyond_server_streams_wait() {
    let (calls, mut begun) = mpsc::unbounded_channel();
    let config = ServerConfig::default().common(Config::default().streams_max(1));
    let address = start_script(config, move |http2, received| {
        if let Received::Call(_, stream, name) = received {
            match &*name {
                "wait" => calls.send(()).expect("test should wait for the call"),
                _ => return reply(http2, stream, 1),
            }
        }
        Vec::new()
    });
    let client = connect(&address.await).await;
    let mut waiting = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let client = client.clone();
        waiting.spawn(async move { client.greet(name("wait")).await.map(drop) });
        soon(&mut begun).await;
    }
    let mut last = std::pin::pin!(client.greet(name("Ada")));
    assert!(std::future::poll_fn(|task| std::task::Poll::Ready(last.as_mut().poll(task).is_pending())).await);
    waiting.shutdown().await;
    assert_eq!(last.await.expect("call should be sent").get_ref().text, "Hello!");
}

#[tokio::test]
async fn closed_grpc_channel_fails_calls_that_wait_for_stream() {
    let (calls, mut begun) = mpsc::unbounded_channel();
    let config = ServerConfig::default().common(Config::default().streams_max(1));
    let address = start_script(config, move |_, received| {
        if let Received::Call(..) = received {
            calls.send(()).expect("test should wait for the call");
        }
        Vec::new()
    });
    let channel = Channel::connect(format!("grpc://{}", address.await)).await.expect("server should be reachable");
    let client = GreeterClient::new(channel.clone());
    let mut in_progress = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let client = client.clone();
        in_progress.spawn(async move { client.greet(name("wait")).await.map(drop) });
        soon(&mut begun).await;
    }
    let mut waiting = std::pin::pin!(client.greet(name("Ada")));
    assert!(std::future::poll_fn(|task| std::task::Poll::Ready(waiting.as_mut().poll(task).is_pending())).await);
    channel.close();
    let status = waiting.await.expect_err("channel should be closed");
    assert_eq!((status.code(), status.may_have_run()), (Code::FailedPrecondition, false), "{status}");
}

#[tokio::test]
async fn call_cancelled_by_server_before_deadline_is_cancelled() {
    let address = start_script(ServerConfig::default(), |http2, received| {
        if let Received::Call(_, stream, _) = received {
            http2.reset(stream, ErrorCode::CANCEL);
        }
        Vec::new()
    });
    let client = connect(&address.await).await;
    let mut request = Request::new(name("Ada"));
    request.set_timeout(Duration::from_secs(3600));
    assert_eq!(client.greet(request).await.expect_err("call should be cancelled").code(), Code::Cancelled);
}

#[tokio::test]
async fn call_without_connection_or_codec_never_runs() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = format!("grpc://{}", free.local_addr().expect("listener should have a local address"));
    drop(free);
    assert!(GreeterClient::connect(&address).await.is_err());
    let closing = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let closing_address = closing.local_addr().expect("listener should have a local address");
    tokio::spawn(async move { drop(closing.accept().await) });
    assert!(Channel::connect(format!("grpc://{closing_address}")).await.is_err());
    let channel = Channel::builder().connect_lazy(&address).expect("address should be valid");
    let status = GreeterClient::new(channel.clone()).greet(name("Ada")).await.expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    let status = ToolsClient::new(channel).echo(Node::default()).await.expect_err("call should fail");
    assert!(status.message().contains("protobuf(true)") && !status.may_have_run(), "{status}");
    for (wrong, problem) in [("grpcs://localhost", "`tls`"), ("grpc:localhost:1", "grpc://"), ("grpc://a", "port")] {
        let error = Channel::builder().connect_lazy(wrong).expect_err("address should be refused").to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// Replies with an empty message and a status code.
fn reply_with(http2: &mut Connection, stream: StreamKey, code: &str) {
    let mut head = Head::response(200);
    head.push("content-type", "application/grpc");
    let mut trailers = Head::trailers();
    trailers.push("grpc-status", code);
    http2.send_head(stream, &head, false).expect("stream should be open");
    http2.send_data(stream, Bytes::from_static(&[0; 5]), false).expect("stream should be open");
    http2.send_trailers(stream, &trailers).expect("stream should be open");
}

/// Starts a server that replies to all calls with a status code. Returns its address and the number of its calls. After
/// a call named "last", its connection accepts no more calls.
async fn start_server(code: &'static str) -> (String, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let calls = count.clone();
    let address = start_script(ServerConfig::default(), move |http2, received| {
        if let Received::Call(_, stream, name) = received {
            calls.fetch_add(1, Ordering::SeqCst);
            reply_with(http2, stream, code);
            if name == "last" {
                http2.shut_down(Instant::now());
            }
        }
        Vec::new()
    });
    (address.await, count)
}

#[tokio::test]
async fn grpc_fleet_balances_calls_and_reconnects() {
    let ((one, first), (other, second)) = (start_server("0").await, start_server("0").await);
    let builder = Channel::builder().grpc().balance();
    let channel = builder
        .connect_all([format!("grpc://{one}"), other])
        .await
        .expect("one of the servers should accept the connection");
    let client = GreeterClient::new(channel.clone());
    for name in ["Ada", "Ada", "Ada", "last", "Ada", "last", "Ada", "Ada", "last", "last", "Ada", "Ada"] {
        client.greet(self::name(name)).await.expect("call should succeed");
        let verses = client.recite(self::name(name)).await.expect("stream should open").into_inner().message().await;
        assert!(verses.expect("stream should succeed").is_some());
    }
    let (first, second) = (first.load(Ordering::SeqCst), second.load(Ordering::SeqCst));
    assert!(first > 0 && second > 0 && first + second == 24, "servers received {first} and {second} calls");
    let fleet = FleetView::of(&channel).expect("channel should have a fleet");
    assert!(fleet.servers.iter().any(|server| server.latency.is_some()), "{fleet:?}");
    channel.close();
    let status = client.greet(name("Ada")).await.expect_err("channel should be closed");
    assert_eq!(status.code(), Code::FailedPrecondition, "{status}");
}

#[tokio::test]
async fn failing_grpc_server_is_ejected_and_retried() {
    let ((good, _), (bad, rejected)) = (start_server("0").await, start_server("14").await);
    let builder = Channel::builder().grpc().balance();
    let channel = builder.connect_all([good, bad]).await.expect("one of the servers should accept the connection");
    let client = HealthClient::new(channel.clone());
    while rejected.load(Ordering::SeqCst) == 0 {
        client.check(HealthCheckRequest::default()).await.expect("call should be retried");
    }
    let fleet = FleetView::of(&channel).expect("channel should have a fleet");
    assert_eq!(fleet.servers.iter().filter(|server| server.is_doubted).count(), 1, "{fleet:?}");
}

#[tokio::test]
async fn unavailable_reply_is_final_without_idempotency() {
    let ((good, replied), (bad, rejected)) = (start_server("0").await, start_server("14").await);
    let builder = Channel::builder().grpc().balance();
    let channel = builder.connect_all([good, bad]).await.expect("one of the servers should accept the connection");
    let client = CalculatorClient::new(channel);
    for calls in 1..1000 {
        let result = client.add(Terms::default()).await;
        let counts = (replied.load(Ordering::SeqCst), rejected.load(Ordering::SeqCst));
        assert_eq!(counts.0 + counts.1, calls, "each call should be sent once");
        if let Err(status) = result {
            assert_eq!((status.code(), counts.1), (Code::Unavailable, 1), "{status}");
            return;
        }
    }
    panic!("one of the calls should fail");
}

#[tokio::test]
async fn fleets_reject_servers_of_other_protocol() {
    let error = Channel::builder()
        .balance()
        .connect_all(["grpc://127.0.0.1:1"])
        .await
        .expect_err("gRPC address should be rejected");
    assert!(error.to_string().contains("`ChannelBuilder::grpc`"), "{error}");
    let status = Channel::builder().grpc().connect_lazy("127.0.0.1:1").expect("address should be valid");
    let (channel, _) = status.request_hand_off();
    let status = GreeterClient::new(channel).greet(name("Ada")).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::Unimplemented, "{status}");
}
