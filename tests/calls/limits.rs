//! Tests of messages that are too long, too many or too late. The sender must receive a status that states the reason.

use bytes::Bytes;
use frisbee::rpc::ConnectionExt;
use frisbee::tlv;
use frisbee::{Config, Operation, Packet};
use frisbee_tests::extension::{Chunk, Extension, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Payload, Range, Text};
use frisbee_tests::observed::{Service, served};
use frisbee_tests::raw::{Raw, encoded, packet};
use frisbee_tests::service::Service as Interop;
use frisbee_tests::versions::first::{Answer, Ask, Parrot, ParrotClient, ParrotServer};
use frisbee_tests::{not_served, serve, serve_interop_with, until};
use frpc::{
    Channel, ChannelBuilder, Code, Metadata, MetadataError, Request, RequestStream, Response, ResponseStream, Server,
    Status, Streaming,
};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

/// Returns metadata of the maximum size.
fn most() -> Metadata {
    let mut metadata = Metadata::new();
    let full = (0..256).find_map(|number| metadata.insert(format!("sent-{number:03}"), "v".repeat(1000)).err());
    assert_eq!(full, Some(MetadataError::TooLong("sent-060".to_owned())));
    metadata
}

#[tokio::test]
async fn largest_metadata_passes_every_call_and_reply() {
    let (client, _) = served().await;
    let with = |message| {
        let mut request = Request::new(message);
        *request.metadata_mut() = most();
        request.set_timeout(Duration::from_secs(20));
        request
    };
    let mut request = Request::new(Maybe::default());
    *request.metadata_mut() = most();
    let reply = client.echo(request).await.expect("call should succeed");
    // In replies, each key is one byte shorter.
    assert_eq!(reply.metadata().len(), most().len());
    let mut flood = client.flood(with(Time { millis: 1 })).await.expect("stream should open").into_inner();
    flood.message().await.expect("stream should not fail").expect("stream should have a message");
    assert_eq!(flood.metadata().len(), most().len());
    let mut request =
        Request::new(Failure { code: Code::NotFound as i32, text: "no".to_owned(), ..Failure::default() });
    *request.metadata_mut() = most();
    let failed = client.fail(request).await.expect_err("call should fail");
    assert_eq!(failed.metadata().len(), most().len());
}

#[tokio::test]
async fn failure_with_long_details_keeps_its_code() {
    let (client, _) = served().await;
    for (length, arrives) in [(65_000, true), (66_000, false), (4 << 20, false)] {
        let text = "there is none".to_owned();
        let failure = Failure { code: Code::NotFound as i32, text: text.clone(), details: vec![7; length] };
        let failed = client.fail(failure).await.expect_err("call should fail");
        assert_eq!((failed.code(), failed.message()), (Code::NotFound, text.as_str()));
        assert_eq!(failed.details().len(), if arrives { length } else { 0 });
    }
}

#[tokio::test]
async fn call_with_overlong_message_may_have_run() {
    let (client, _) = served().await;
    let requests = frpc::iter([1, 6 << 20].map(|length| Chunk { data: vec![1; length] }));
    let failed = client.sink(requests).await.expect_err("second message should be too long");
    assert_eq!(failed.code(), Code::ResourceExhausted);
    assert!(failed.may_have_run(), "server should have received the first message");
}

#[tokio::test]
async fn request_beyond_service_limit_is_rejected_unrun() {
    for limit in [1000, 100_000] {
        let service = InteropServer::new(Interop).max_decoding_message_size(limit);
        let address = serve(Server::builder().add_service(service)).await;
        let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
        let payload = |length| Payload { data: vec![1; length], ..Payload::default() };
        client.echo_payload(payload(limit - 100)).await.expect("request should be short enough");
        let refused = client.echo_payload(payload(limit)).await.expect_err("request should be too long");
        assert_eq!((refused.code(), refused.may_have_run()), (Code::ResourceExhausted, false), "{refused}");
        let texts = [limit - 100, limit].map(|length| Text { value: "x".repeat(length) });
        let mut replies = client.chat(frpc::iter(texts)).await.expect("stream should open").into_inner();
        replies.message().await.expect("first message should be short enough").expect("it should be answered");
        let refused = replies.message().await.expect_err("second message should be too long");
        assert_eq!((refused.code(), refused.may_have_run()), (Code::ResourceExhausted, true), "{refused}");
    }
}

#[tokio::test]
async fn request_stream_failure_is_not_server_failure() {
    let address = serve_interop_with(Server::builder()).await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let (sender, requests) = RequestStream::channel(1);
    sender.send(Text { value: "short".to_owned() }).await.expect("message should be sent");
    let mut replies = client.chat(requests).await.expect("stream should open").into_inner();
    assert_eq!(
        replies.message().await.expect("stream should not fail").expect("stream should have a message").value,
        "re:short"
    );
    let _ = sender.send(Text { value: "x".repeat(6 << 20) }).await;
    let failed = replies.message().await.expect_err("stream should fail");
    assert_eq!(failed.code(), Code::ResourceExhausted, "{failed}");
    assert!(failed.may_have_run());
}

#[tokio::test]
async fn stream_without_time_or_slot_is_unsent() {
    let builder = Server::builder().config(Config::default().streams_max(1));
    let address = serve(builder.add_service(ExtensionServer::new(Service::default()))).await;
    let client = ExtensionClient::connect(address.to_string()).await.expect("server should accept the connection");
    let within = |timeout| {
        let mut request = Request::new(Time::default());
        request.set_timeout(timeout);
        request
    };
    let no_time = client.flood(within(Duration::ZERO)).await.expect_err("stream should fail to open");
    assert_eq!((no_time.code(), no_time.may_have_run()), (Code::DeadlineExceeded, false));
    let open = client.flood(Time::default()).await.expect("stream should open");
    let full = client.flood(within(Duration::from_millis(50))).await.expect_err("stream should fail to open");
    assert_eq!((full.code(), full.may_have_run()), (Code::DeadlineExceeded, false));
    drop(open);
    client.flood(Time::default()).await.expect("stream should open");
}

#[tokio::test(start_paused = true)]
async fn stream_call_starts_when_slot_becomes_free() {
    let builder = Server::builder().config(Config::default().streams_max(1));
    let acceptor =
        builder.add_service(ExtensionServer::new(Service::default())).build().expect("services should not overlap");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client =
        ExtensionClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    let first = client.flood(Time::default()).await.expect("stream should open");
    let started = Instant::now();
    let second = tokio::spawn(async move { client.flood(Time::default()).await });
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!second.is_finished(), "only one call should be in progress");
    drop(first);
    second.await.expect("task should not panic").expect("call should get a free slot");
    assert!(started.elapsed() < Duration::from_millis(200), "second call took {:?}", started.elapsed());
}

/// Regression test: a call that had waited sent the timeout that remained before its wait.
#[tokio::test(start_paused = true)]
async fn stream_call_sends_timeout_left_after_wait() {
    let builder = Server::builder().config(Config::default().streams_max(1));
    let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
    let acceptor = builder.add_service(ExtensionServer::new(Timed(tell))).build().expect("services should not overlap");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client =
        ExtensionClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    let within = || {
        let mut request = Request::new(Time::default());
        request.set_timeout(Duration::from_secs(100));
        request
    };
    let first = client.flood(within()).await.expect("stream should open");
    let second = tokio::spawn(async move { client.flood(within()).await });
    tokio::time::sleep(Duration::from_secs(90)).await;
    drop(first);
    second.await.expect("task should not panic").expect("call should get a free slot");
    for expected in [100, 10] {
        let timeout = told.recv().await.expect("channel should stay open").expect("call should carry a timeout");
        assert_eq!(timeout.as_secs_f64().ceil(), f64::from(expected));
    }
}

#[tokio::test]
async fn reply_reports_request_failure_after_client_drop() {
    let address = serve_interop_with(Server::builder()).await;
    let channel = Channel::connect(address.to_string()).await.expect("server should accept the connection");
    let connection = channel.connection().expect("channel should be connected");
    let client = InteropClient::new(channel);
    let (sender, requests) = RequestStream::channel(1);
    let mut replies = client.chat(requests).await.expect("stream should open").into_inner();
    // The call is the only owner of the connection, as in `connect(..).await?.chat(requests).await?`.
    drop(client);
    let _ = sender.send(Text { value: "x".repeat(6 << 20) }).await;
    connection.closed().await;
    let failed = replies.message().await.expect_err("stream should fail");
    assert_eq!(failed.code(), Code::ResourceExhausted, "{failed}");
}

/// A service that reports the timeouts of its callers.
struct Timed(tokio::sync::mpsc::UnboundedSender<Option<Duration>>);

impl Extension for Timed {
    not_served!(echo, fail, wait, ask, get, sink);

    async fn flood(&self, request: Request<Time>) -> Result<Response<ResponseStream<Chunk>>, Status> {
        self.0.send(request.timeout()).expect("receiver should be waiting");
        Ok(Response::new(ResponseStream::new(futures_util::stream::pending())))
    }
}

/// Returns a prefix of the given items.
fn prefix(items: &[u8]) -> Vec<u8> {
    let mut prefix = vec![0x10];
    tlv::put_varint(&mut prefix, items.len() as u64);
    [prefix, items.to_vec()].concat()
}

fn entry(key: &str, value: &[u8]) -> Vec<u8> {
    let mut item = Vec::new();
    tlv::put_item(&mut item, 2, &[&[key.len() as u8], key.as_bytes(), value].concat());
    item
}

/// Returns the next message of a stream.
async fn next_message(client: &mut Raw) -> Packet {
    loop {
        let packet = client.next().await.expect("connection should stay open");
        if matches!(packet.operation, Operation::STREAM | Operation::EXTENSION) {
            return packet;
        }
    }
}

#[tokio::test]
async fn metadata_of_stream_may_exceed_body_limit() {
    let mut client =
        Raw::connect(serve(Server::builder().add_service(ExtensionServer::new(Service::default()))).await).await;
    // The client accepts bodies of 16 KiB and grants sufficient credit.
    client.write(&packet(0, 3, b"fris\x01\x01\x03\x80\x80\x01\x04\x03\xff\xff\x03")).await;
    let flood = [prefix(&entry("sent-x", &[b'v'; 20_000])), vec![9, 15]].concat();
    client
        .write(&[packet(1, 2, &flood), packet(1, 2, &encoded(&Time { millis: 1 })), packet(1, 7, b"")].concat())
        .await;
    let headers = next_message(&mut client).await;
    // The HEADERS of stream 1 may have up to 64 KiB.
    assert_eq!((headers.id.0, headers.body[0], headers.body.ends_with(&[b'v'; 20_000])), (5, 1, true));
}

#[tokio::test]
async fn stream_with_malformed_prefix_is_refused() {
    let mut client = Raw::connect(serve_interop_with(Server::builder()).await).await;
    client.write(&packet(0, 3, b"fris\x01\x04\x02\xff\x7f")).await;
    // Too much metadata, a truncated item, and an invalid key.
    let much = entry("k", &[b'v'; 62 * 1024]);
    for (id, items) in (1..).zip([&much[..], &much[..9], &entry("K", b"v")]) {
        // The method exists, so only the prefix is invalid.
        client.write(&packet(id, 2, &[prefix(items), vec![9, 23]].concat())).await;
        let refused = next_message(&mut client).await;
        let start = [id.try_into().expect("id should be small"), 3, 1, Code::InvalidArgument as u8, 5, 0];
        assert_eq!(
            (refused.id.0, &refused.body[..6]),
            (6, &start[..]),
            "stream should end with TRAILERS that contain the status of the rejection"
        );
    }
}

/// A service that replies to each message of a stream with the number of metadata entries of the stream.
struct Telling;

impl Parrot for Telling {
    async fn say(&self, _: Request<Ask>) -> Result<Response<Answer>, Status> {
        Err(Status::unimplemented("not used here"))
    }

    async fn chat(&self, request: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        let mut requests = request.into_inner();
        requests.message().await?;
        let words = requests.metadata().len().to_string();
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(Answer { words })]))))
    }
}

/// A service that neither replies nor reads its requests.
struct Stuck(Arc<()>);

impl Parrot for Stuck {
    async fn say(&self, _: Request<Ask>) -> Result<Response<Answer>, Status> {
        Err(Status::unimplemented("not used here"))
    }

    async fn chat(&self, request: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        let _canary = (self.0.clone(), request);
        std::future::pending().await
    }
}

/// Connects to a server of [`Stuck`]. Returns the client's end, and a value that running handlers also hold.
fn stuck() -> (DuplexStream, Arc<()>) {
    let canary = Arc::new(());
    let server = Server::builder().add_service(ParrotServer::new(Stuck(canary.clone()))).build();
    let server = server.expect("server should be valid");
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    (here, canary)
}

/// Regression test: a stream whose timeout had expired continued for as long as the server permitted.
#[tokio::test(start_paused = true)]
async fn request_stream_ends_at_call_deadline() {
    let client =
        ParrotClient::new(Channel::connect_io(stuck().0).await.expect("connection in memory should be accepted"));
    let (sender, requests) = RequestStream::channel(1);
    let mut request = Request::new(requests);
    request.set_timeout(Duration::from_secs(1));
    let started = Instant::now();
    let mut answers = client.chat(request).await.expect("stream should open").into_inner();
    while sender.send(Ask { word: "x".repeat(10_000), ..Ask::default() }).await.is_ok() {}
    assert_eq!(started.elapsed().as_secs(), 1);
    let late = answers.message().await.expect_err("stream should fail");
    assert_eq!((late.code(), late.may_have_run()), (Code::DeadlineExceeded, true));
}

#[tokio::test(start_paused = true)]
async fn call_end_notifies_request_sender() {
    let second = Duration::from_secs(1);
    let client =
        ParrotClient::new(Channel::connect_io(stuck().0).await.expect("connection in memory should be accepted"));
    let (sender, requests) = RequestStream::channel(1);
    let answers = client.chat(requests).await.expect("stream should open");
    tokio::time::timeout(second, sender.closed()).await.expect_err("future should stay pending");
    drop(answers);
    tokio::time::timeout(second, sender.closed()).await.expect("stream should be closed within the timeout");
}

/// Regression test: a streaming call that waited for a free slot could wait forever.
#[tokio::test(start_paused = true)]
async fn channel_timeout_bounds_stream_opening_not_lifetime() {
    let (ask, second) = (|| frpc::iter([Ask::default()]), Duration::from_secs(1));
    let builder = Server::builder().config(Config::default().streams_max(1));
    let server = builder.add_service(ParrotServer::new(Stuck(Arc::default()))).build();
    let server = server.expect("server should be valid");
    for timeout in [None, Some(second)] {
        let (here, there) = tokio::io::duplex(64 * 1024);
        let server = server.clone();
        tokio::spawn(async move { server.serve_connection(there).await });
        let builder = timeout.into_iter().fold(Channel::builder(), ChannelBuilder::timeout);
        let client =
            ParrotClient::new(builder.connect_io(here).await.expect("connection in memory should be accepted"));
        let mut first = client.chat(ask()).await.expect("stream should open").into_inner();
        let started = Instant::now();
        let called = tokio::time::timeout(100 * second, client.chat(ask())).await;
        let status = called.expect("call should time out").expect_err("call should have no slot");
        assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
        assert_eq!(started.elapsed().as_secs(), timeout.map_or(30, |timeout| timeout.as_secs()));
        tokio::time::timeout(100 * second, first.message()).await.expect_err("future should stay pending");
    }
}

/// The timeout for opening a stream includes the time for sending the request.
#[tokio::test(start_paused = true)]
async fn unqueued_call_at_deadline_was_not_sent() {
    let (here, mut there) = tokio::io::duplex(64 * 1024);
    there.write_all(&packet(0, 3, b"fris\x01")).await.expect("write should succeed"); // It gives no credit.
    let builder = Channel::builder().timeout(Duration::from_secs(1));
    let client = ExtensionClient::new(builder.connect_io(here).await.expect("connection in memory should be accepted"));
    let status = client.flood(Time::default()).await.expect_err("stream should fail to open");
    assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
}

/// Regression test: the server kept the handler until the client had ended its direction, for up to ten seconds.
#[tokio::test(start_paused = true)]
async fn server_drops_stream_handler_at_deadline() {
    let (mut client, canary) = stuck();
    let (mut second, mut timeout) = (Vec::new(), Vec::new());
    tlv::put_varint(&mut second, 1_000_000);
    tlv::put_item(&mut timeout, 1, &second);
    let hello = packet(0, 3, b"fris\x01\x04\x02\xff\x7f");
    let opening = packet(1, 2, &[prefix(&timeout), vec![9, 11]].concat());
    let started = Instant::now();
    client.write_all(&[hello, opening].concat()).await.expect("write should succeed");
    until("the handler runs", || Arc::strong_count(&canary) == 3).await;
    until("the handler is dropped", || Arc::strong_count(&canary) == 2).await;
    assert_eq!(started.elapsed().as_secs(), 1);
}

/// Regression test: the error texts named limits of calls and streams that had not been reached.
#[tokio::test(start_paused = true)]
async fn expired_unsent_calls_name_their_obstacle() {
    let (here, there) = tokio::io::duplex(1024);
    let channel = Channel::connect_io(here).await.expect("connection in memory should be accepted");
    let mut server = Raw::over(there);
    server.write(&packet(0, 3, b"fris\x01")).await;
    let connection = channel.connection().expect("channel should be connected");
    connection.peer_known().await.expect("peer should complete the handshake");
    let client = InteropClient::new(channel);
    fn soon<T>(message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(Duration::from_secs(1));
        request
    }
    let range = || soon(Range { from: 0, count: 1 });
    let status = client.count_up(range()).await.expect_err("there is no credit");
    assert!(status.message().contains("credit") && !status.may_have_run(), "{status}");
    let body = Bytes::from(vec![0; 4 << 20]);
    let filled = connection.send_now(|outbox| outbox.push(frisbee::PacketId(1), Operation::FIRST_USER, &body));
    filled.expect("connection should be open").expect("body should be within the limit");
    let status = client.add(soon(AddRequest::default())).await.expect_err("there is no room");
    assert!(status.message().contains("unsent bytes") && !status.may_have_run(), "{status}");
    let status = client.count_up(range()).await.expect_err("there is no room");
    assert!(status.message().contains("unsent bytes") && !status.may_have_run(), "{status}");
}

#[tokio::test]
async fn client_headers_are_ignored() {
    let mut client = Raw::connect(serve(Server::builder().add_service(ParrotServer::new(Telling))).await).await;
    client.write(&packet(0, 3, b"fris\x01\x04\x02\xff\x7f")).await;
    let message = encoded(&Ask::default());
    let headers = packet(5, 3, &[&[1][..], &entry("k", b"v")].concat());
    client.write(&[packet(1, 2, &[9, 11]), headers, packet(1, 2, &message)].concat()).await;
    let answer = next_message(&mut client).await;
    assert!(answer.body.ends_with(&encoded(&Answer { words: "0".to_owned() })), "{answer:?}");
}
