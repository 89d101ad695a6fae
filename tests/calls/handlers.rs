//! Tests of calls between native peers: failures, and handlers with unusual behavior.

use frisbee_tests::interop::{AddRequest, Interop, InteropClient, InteropServer, Payload, SleepRequest, Text};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{Serving, interop, left_to_service, serve, serve_interop, serve_interop_with};
use frpc::{
    Channel, Code, Policy, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming, Workers,
};
use parking_lot::Mutex;
use samples::greeter::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio::task::JoinSet;

type Reply<T> = Result<Response<T>, Status>;

/// Keeps the requests of a call for the test, and never replies.
#[derive(Clone, Default)]
struct Keeper(Arc<Mutex<Option<Streaming<Name>>>>, Arc<Notify>);

impl Greeter for Keeper {
    async fn greet(&self, _request: Request<Name>) -> Reply<Greeting> {
        Err(Status::unimplemented("only GreetAll is implemented"))
    }

    async fn greet_all(&self, request: Request<Streaming<Name>>) -> Reply<ResponseStream<Greeting>> {
        *self.0.lock() = Some(request.into_inner());
        self.1.notify_one();
        std::future::pending().await
    }
}

/// Regression test: after another task had dropped the requests, the client could send no more than a window of them.
#[tokio::test(start_paused = true)]
async fn requests_dropped_by_other_task_are_discarded() {
    let keeper = Keeper::default();
    let builder = Server::builder().add_service(GreeterServer::new(keeper.clone()));
    let acceptor = builder.build().expect("settings should be valid");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client = GreeterClient::new(Channel::connect_io(here).await.expect("in-memory connection should open"));
    let all_sent = Arc::new(Notify::new());
    let notify = all_sent.clone();
    let names = (0..64).map(move |number| {
        if number == 63 {
            notify.notify_one();
        }
        Name { name: "x".repeat(16 * 1024) }
    });
    let _greetings = client.greet_all(frpc::iter(names)).await.expect("call should begin");
    keeper.1.notified().await;
    drop(keeper.0.lock().take());
    tokio::time::timeout(Duration::from_secs(60), all_sent.notified()).await.expect("all requests should be sent");
}

/// Counts running handlers and blocks them until they are released.
#[derive(Default)]
struct Probe {
    running: AtomicUsize,
    most: AtomicUsize,
    ended: Notify,
    go_on: Notify,
}

impl Probe {
    fn enter(self: &Arc<Self>) -> Inside {
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        Inside(self.clone())
    }
}

struct Inside(Arc<Probe>);

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
        self.0.ended.notify_one();
    }
}

/// A service whose handlers misbehave on request. All other methods are those of [`Service`].
struct Probed(Arc<Probe>);

impl Interop for Probed {
    left_to_service!(echoes, add);

    /// Waits until it is released.
    async fn do_nothing(&self, _request: Request<interop::Empty>) -> Reply<interop::Empty> {
        let _inside = self.0.enter();
        self.0.go_on.notified().await;
        Ok(Response::new(interop::Empty {}))
    }
    /// Panics, at once or after a wait.
    async fn fail(&self, request: Request<Text>) -> Reply<Text> {
        if request.get_ref().value == "later" {
            tokio::task::yield_now().await;
        }
        panic!("a secret: {}", request.into_inner().value);
    }
    /// Replies with the requested number of bytes.
    async fn echo_payload(&self, request: Request<Payload>) -> Reply<Payload> {
        let seq = request.get_ref().seq;
        Ok(Response::new(Payload { seq, data: vec![7; seq as usize] }))
    }
    /// Occupies its thread for a while and returns its name.
    async fn describe(&self, _request: Request<interop::Scalars>) -> Reply<Text> {
        thread::sleep(Duration::from_millis(2));
        Ok(Response::new(Text { value: format!("{:?}", thread::current().id()) }))
    }
    async fn sleep(&self, request: Request<SleepRequest>) -> Reply<SleepRequest> {
        let _inside = self.0.enter();
        Service.sleep(request).await
    }
    /// Never completes.
    async fn count_up(&self, _request: Request<interop::Range>) -> Reply<ResponseStream<interop::Count>> {
        let (counts, stream) = ResponseStream::channel(1);
        let inside = self.0.enter();
        tokio::spawn(async move {
            let _inside = inside;
            let mut value = 0;
            while counts.send(Ok(interop::Count { value })).await.is_ok() {
                value += 1;
            }
        });
        Ok(Response::new(stream))
    }
    /// Replies after the first message and ignores later ones.
    async fn sum_up(&self, request: Request<Streaming<interop::Count>>) -> Reply<interop::Sum> {
        let first = request.into_inner().message().await?;
        Ok(Response::new(interop::Sum { total: first.map_or(-1, |count| count.value), count: 1 }))
    }
    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let inside = self.0.enter();
        let mut texts = request.into_inner();
        // Reads messages without replying until the client disconnects.
        while texts.message().await?.is_some() {}
        drop(inside);
        Err(Status::aborted("EOF"))
    }
}

/// A server of [`Probed`] that can be stopped.
struct Probing {
    probe: Arc<Probe>,
    serving: Serving,
}

impl Probing {
    async fn start(settings: impl FnOnce(frpc::ServerBuilder) -> frpc::ServerBuilder) -> Self {
        let probe = Arc::new(Probe::default());
        let server = settings(Server::builder()).add_service(InteropServer::new(Probed(probe.clone())));
        let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
        Self { probe, serving: Serving::start(server) }
    }

    async fn client(&self) -> InteropClient {
        // A stopped server is not restarted in these tests, so the channel should not wait for it.
        let builder = Channel::builder().reconnect_timeout(Duration::from_millis(50));
        InteropClient::new(
            builder.connect(self.serving.address.to_string()).await.expect("server should accept the connection"),
        )
    }

    /// Waits until the given number of handlers runs.
    async fn reaches(&self, count: usize) {
        let reached = async {
            while self.probe.running.load(Ordering::SeqCst) != count {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), reached)
            .await
            .expect("count should be reached within the timeout");
    }
}

fn code<T: std::fmt::Debug>(reply: Reply<T>) -> Code {
    reply.expect_err("call should fail").code()
}

#[tokio::test]
async fn panic_becomes_error_reply_without_its_text() {
    let server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    for value in ["at once", "later"] {
        let status = client.fail(Text { value: value.into() }).await.expect_err("call should fail");
        assert!(!status.message().contains("secret"), "{status}");
        assert!(status.message().contains("panicked"), "{status}");
    }
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}

#[tokio::test]
async fn calls_in_flight_fail_on_server_loss() {
    let server = Probing::start(|builder| builder.workers(Workers::Threads(1))).await;
    let client = server.client().await;
    let mut calls: JoinSet<_> = (0..100)
        .map(|_| {
            let client = client.clone();
            async move { client.do_nothing(interop::Empty {}).await }
        })
        .collect();
    server.reaches(100).await;
    server.serving.kill();
    while let Some(reply) = calls.join_next().await {
        assert_eq!(code(reply.expect("caller should not panic")), Code::Unavailable);
    }
    assert_eq!(code(client.add(AddRequest { a: 1, b: 1 }).await), Code::Unavailable);
}

#[tokio::test]
async fn lost_client_cancels_handlers() {
    const DO_NOTHING: u16 = 15;
    let server = Probing::start(|builder| builder).await;
    // This client disconnects without cancelling its call or ending its stream.
    let mut client = Raw::connect(server.serving.address).await;
    let streams = [21, 23].map(|operation| packet(operation.into(), 2, &[9, operation]));
    let range = packet(21, 2, &[8, 0, 0x0d, 0, 0x0d, 0]);
    client.write(&[&packet(1, DO_NOTHING, &[8, 0])[..], &streams.concat(), &range].concat()).await;
    server.reaches(3).await;
    client.socket.set_zero_linger().expect("address should be that of a socket");
    drop(client);
    server.reaches(0).await;
}

#[tokio::test]
async fn dropped_stream_ends_only_own_handler() {
    let server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    for _ in 0..50 {
        let mut counts = client.count_up(interop::Range::default()).await.expect("stream should open").into_inner();
        counts.message().await.expect("stream should not fail");
    }
    server.reaches(0).await;
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}

#[tokio::test]
async fn dropped_client_stream_cancels_its_handler() {
    let server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    let (sender, texts) = RequestStream::channel(1);
    let answers = client.chat(texts).await.expect("stream should open");
    sender.send(Text::default()).await.expect("message should be sent");
    server.reaches(1).await;
    drop(answers);
    server.reaches(0).await;
    let sent = async { while sender.send(Text::default()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(10), sent).await.expect("write should complete within the timeout");
}

#[tokio::test]
async fn early_reply_completes_streaming_call() {
    let server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    let endless = frpc::iter((42..).map(|value| interop::Count { value }));
    let sum = client.sum_up(endless).await.expect("call should succeed").into_inner();
    assert_eq!((sum.total, sum.count), (42, 1));
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}

#[tokio::test]
async fn error_reply_with_eof_text_fails_call() {
    let server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    let mut answers = client.chat(frpc::iter([])).await.expect("stream should open").into_inner();
    let status = answers.message().await.expect_err("stream should fail");
    assert!(status.message().contains("EOF"), "{status}");
}

#[tokio::test]
async fn policy_limits_concurrent_handlers() {
    let server = Probing::start(|builder| builder.policy(Policy::AtMost(3))).await;
    let client = server.client().await;
    let calls: JoinSet<_> = (0..30)
        .map(|tag| {
            let client = client.clone();
            async move { client.sleep(SleepRequest { millis: 5, tag }).await }
        })
        .collect();
    for reply in calls.join_all().await {
        reply.expect("each call should get its turn");
    }
    assert_eq!(server.probe.most.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn policy_applies_to_one_method() {
    let server = Probing::start(|builder| builder.method_policy("interop.Interop/Sleep", Policy::AtMost(1))).await;
    let client = server.client().await;
    let calls: JoinSet<_> = (0..10)
        .map(|tag| {
            let client = client.clone();
            async move { client.sleep(SleepRequest { millis: 2, tag }).await }
        })
        .collect();
    for reply in calls.join_all().await {
        reply.expect("each call should get its turn");
    }
    assert_eq!(server.probe.most.load(Ordering::SeqCst), 1);

    let unknown = Server::builder().method_policy("interop.Interop/Slep", Policy::Inline).bind("127.0.0.1:0").await;
    assert!(unknown.is_err_and(|error| error.to_string().contains("interop.Interop/Slep")));
}

/// Regression test: policies of streaming methods were silently ignored.
#[tokio::test]
async fn policy_for_streaming_method_is_rejected() {
    for method in ["CountUp", "SumUp", "Chat"] {
        let builder = Server::builder().method_policy(format!("interop.Interop/{method}"), Policy::AtMost(1));
        let refused = builder.add_service(InteropServer::new(Service)).build();
        assert!(refused.is_err_and(|error| error.to_string().contains(method)));
    }
}

#[tokio::test]
async fn blocking_handlers_move_to_another_thread() {
    let server = Probing::start(|builder| builder.workers(Workers::Threads(1))).await;
    let client = server.client().await;
    let mut threads = Vec::new();
    for _ in 0..5 {
        let reply = client.describe(interop::Scalars::default()).await.expect("call should succeed");
        threads.push(reply.into_inner().value);
    }
    let here = format!("{:?}", thread::current().id());
    assert_eq!(
        threads.iter().filter(|thread| **thread != here).count(),
        3,
        "{threads:?} run handlers, and {here} runs the tasks"
    );
    assert!(threads.ends_with(&[here.clone(), here]), "{threads:?}");
}

#[tokio::test]
async fn policies_and_worker_kinds_give_same_answers() {
    const WORKERS: [Workers; 3] = [Workers::PerCore, Workers::Threads(1), Workers::Caller];
    for policy in [Policy::Inline, Policy::Concurrent, Policy::AtMost(2)] {
        for workers in WORKERS {
            let address = serve_interop_with(Server::builder().policy(policy).workers(workers)).await;
            for workers in WORKERS {
                let channel = Channel::builder().workers(workers).connect(address.to_string()).await;
                let client = InteropClient::new(channel.expect("server should be listening"));
                for a in 0..200 {
                    let sum = client.add(AddRequest { a, b: 1 }).await.expect("call should succeed").into_inner();
                    assert_eq!(sum.total, a + 1);
                }
                client.sleep(SleepRequest { millis: 1, tag: 1 }).await.expect("timers should work in every handler");
            }
        }
    }
}

#[tokio::test]
async fn client_workers_answer_pings_during_busy_runtime() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    let connecting = Channel::builder().workers(Workers::Threads(1)).connect(address);
    let (channel, accepted) = tokio::join!(connecting, listener.accept());
    let _channel = channel.expect("server should be listening");
    let mut peer = accepted.expect("client should connect").0.into_std().expect("address should be that of a socket");
    // From here on, the runtime's only thread is blocked.
    peer.set_nonblocking(false).expect("address should be that of a socket");
    peer.set_read_timeout(Some(Duration::from_secs(20))).expect("address should be that of a socket");
    peer.write_all(&packet(0, 0, &[])).expect("write should succeed");
    let mut decoder = frisbee_core::Decoder::new(frpc::HeaderForm::Current, frisbee_core::BODY_MAX);
    let mut answered = Vec::new();
    while !answered.contains(&1) {
        let mut read = [0; 1024];
        let count = peer.read(&mut read).expect("read should succeed");
        assert_ne!(count, 0, "connection should stay open");
        let mut received = bytes::Bytes::copy_from_slice(&read[..count]);
        while let Some(packet) = decoder.next(&mut received).expect("client should follow the protocol") {
            answered.push(packet.operation.number());
        }
    }
}

#[tokio::test]
async fn shutdown_drains_calls_and_refuses_connections() {
    let mut server = Probing::start(|builder| builder).await;
    let client = server.client().await;
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.do_nothing(interop::Empty {}).await }
    });
    server.reaches(1).await;
    server.serving.stop();
    let refused = async { while InteropClient::connect(server.serving.address.to_string()).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(10), refused).await.expect("rejection should arrive within the timeout");
    assert!(!server.serving.is_over());
    // After the client has been notified, it opens a new connection for new calls. This connection must fail.
    let turned_away = async {
        loop {
            if let Err(status) = client.add(AddRequest { a: 1, b: 1 }).await {
                return status;
            }
        }
    };
    let nowhere = tokio::time::timeout(Duration::from_secs(10), turned_away)
        .await
        .expect("rejection should arrive within the timeout");
    assert_eq!((nowhere.code(), nowhere.may_have_run()), (Code::Unavailable, false));
    server.probe.go_on.notify_one();
    call.await.expect("caller should not panic").expect("call should complete");
    server.serving.stopped().await;
    assert_eq!(code(client.add(AddRequest { a: 1, b: 1 }).await), Code::Unavailable);
}

#[tokio::test]
async fn shutdown_ends_at_time_limit() {
    let mut server = Probing::start(|builder| builder.shutdown_timeout(Duration::from_millis(50))).await;
    let client = server.client().await;
    let call = tokio::spawn(async move { client.do_nothing(interop::Empty {}).await });
    server.reaches(1).await;
    server.serving.stop();
    server.serving.stopped().await;
    assert_eq!(code(call.await.expect("caller should not panic")), Code::Unavailable);
    server.probe.ended.notified().await;
}

#[tokio::test]
async fn large_replies_reach_late_reading_client() {
    let server = Probing::start(|builder| builder).await;
    let mut peer = Raw::connect(server.serving.address).await;
    // Sixteen replies of 1 MiB are more than the server buffers before it defers requests.
    let request = [8, 0, 0x0a, 0x80, 0x80, 0x40, 4, 0x0a, 0];
    let requests: Vec<_> = (0..16).map(|id| packet(id, 17, &request)).collect();
    peer.write(&requests.concat()).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for id in 0..16 {
        let reply = peer.next().await.expect("connection should stay open");
        assert_eq!(reply.id.0, id);
        assert!(reply.body.len() > 1 << 20);
    }
}

#[tokio::test]
async fn silent_server_costs_callers_only_timeout() {
    let (address, accepted) = Raw::listen().await;
    let channel = Channel::builder().calls::<InteropClient>().timeout(Duration::from_millis(50)).connect(address).await;
    let client = InteropClient::new(channel.expect("server should be listening"));
    let mut silent = accepted.await;
    for a in 0..10 {
        assert_eq!(code(client.add(AddRequest { a, b: 1 }).await), Code::DeadlineExceeded);
    }
    // The client must ignore the late replies, so that the next call gets its own reply.
    let mut received = Vec::new();
    for _ in 0..10 {
        received.push(silent.next().await.expect("client should send the call"));
    }
    for request in &received {
        silent.write(&packet(request.id.0, request.operation.number(), &[8, 0, 0x0d, 2, 0x0d, 2])).await;
    }
    let call = tokio::spawn(async move { client.add(AddRequest { a: 1, b: 1 }).await });
    let request = silent.next().await.expect("connection should stay open");
    silent.write(&packet(request.id.0, request.operation.number(), &[8, 0, 0x0d, 4, 0x0d, 4])).await;
    let sum = call.await.expect("caller should not panic").expect("call should succeed").into_inner();
    assert_eq!((sum.total, sum.count), (2, 2));
}

#[tokio::test]
async fn timeout_at_go_server_mentions_missing_method() {
    let (address, accepted) = Raw::listen().await;
    let channel = Channel::builder().calls::<InteropClient>().timeout(Duration::from_millis(50)).connect(address).await;
    let channel = channel.expect("server should be listening");
    let mut go = accepted.await;
    go.write(&packet(0, 1, &[])).await; // A PONG, as sent by Go.
    channel
        .connection()
        .expect("channel should be connected")
        .peer_known()
        .await
        .expect("peer should complete the handshake");
    let status = InteropClient::new(channel).add(AddRequest::default()).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let expected = "the server is a compat peer (Go), which does not answer calls of unknown methods";
    assert!(status.message().ends_with(expected) && status.message().contains("Interop/Add"), "{status}");
}

#[tokio::test]
async fn invalid_replies_fail_call_or_are_ignored() {
    let (address, accepted) = Raw::listen().await;
    let client = InteropClient::connect(address).await.expect("server should accept the connection");
    let mut liar = accepted.await;
    let call = tokio::spawn({
        let client = client.clone();
        async move { client.add(AddRequest { a: 1, b: 1 }).await }
    });
    let request = liar.next().await.expect("connection should stay open");
    let (id, operation) = (request.id.0, request.operation.number());
    liar.write(&packet(id.wrapping_add(1), operation, &[8, 0, 0x0d, 2, 0x0d, 2])).await;
    liar.write(&packet(id, operation + 1, &[8, 0, 0x0d, 2, 0x0d, 2])).await;
    liar.write(&packet(7, 2, &[9, 0x15])).await; // A stream that the server must not open.
    liar.write(&packet(id, operation, &[8, 0, 0x0d, 2])).await; // Half a sum.
    let status = call.await.expect("caller should not panic").expect_err("partial sum should be rejected");
    assert_eq!(status.code(), Code::Internal);
    assert!(status.message().contains("interop.Sum"), "{status}");
}

#[tokio::test]
async fn connect_failure_names_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address").to_string();
    drop(listener);
    let error = InteropClient::connect(address.as_str()).await.expect_err("port should have no listener");
    assert!(error.to_string().contains(&address), "{error}");
}

#[tokio::test]
async fn invalid_address_is_rejected_with_reason() {
    for (address, reason) in [
        ("http://127.0.0.1:1", "an address must be host:port, without a scheme"),
        ("", "an address must be host:port; the port is missing"),
        ("localhost", "an address must be host:port; the port is missing"),
        (":8080", "an address must be host:port; the host is missing"),
        ("localhost:http", "the port is not a number up to 65535"),
        ("localhost:65536", "the port is not a number up to 65535"),
    ] {
        let error = InteropClient::connect(address).await.expect_err("address should be invalid");
        assert_eq!(error.to_string(), format!("connecting to {address} failed: {reason}"));
    }
}

#[tokio::test]
async fn bind_failure_names_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
    let address = listener.local_addr().expect("socket should have a local address");
    let server = Server::builder().add_service(InteropServer::new(Service));
    let error = server.bind(address).await.expect_err("bind should fail");
    assert!(
        matches!(&error, frpc::Error::Transport(frisbee::Error::Bind { source: error, .. }) if error.kind() == std::io::ErrorKind::AddrInUse),
        "{error}"
    );
    assert!(error.to_string().starts_with(&format!("listening on {address} failed: ")), "{error}");
    for nowhere in ["localhost", "localhost:http"] {
        let server = Server::builder().add_service(InteropServer::new(Service));
        let error = server.bind(nowhere).await.expect_err("bind should fail").to_string();
        assert!(error.starts_with(&format!("listening on {nowhere:?} failed: ")), "{error}");
    }
    let error = Server::builder().bind(&[][..]).await.expect_err("bind should fail");
    assert_eq!(error.to_string(), "listening on [] failed: the name resolves to no address");
}

#[tokio::test]
async fn overlapping_services_are_rejected_by_name() {
    let twice = Server::builder().add_service(InteropServer::new(Service)).add_service(InteropServer::new(Service));
    let error = twice.bind("127.0.0.1:0").await.expect_err("bind should fail");
    assert!(error.to_string().starts_with("the methods interop.Interop/EchoScalars and"), "{error}");
    assert!(error.to_string().ends_with("a service was added twice"), "{error}");
}

/// If `main` returns an error, its `Debug` output is displayed.
#[test]
fn overlap_error_names_both_methods_and_remedy() {
    let overlap = frpc::Error::Overlap { operation: 10, methods: ["a.A/Get".into(), "b.B/Put".into()] };
    let text = format!("{overlap:?}");
    assert!(text.starts_with("the methods a.A/Get and b.B/Put both have operation 10: "), "{text}");
    assert!(text.contains("configure().operation_base("), "{text}");
    assert_eq!(text, overlap.to_string());
}

#[tokio::test]
async fn channel_closes_unused_connection() {
    let client =
        InteropClient::connect(serve_interop().await.to_string()).await.expect("server should accept the connection");
    let mut counts =
        client.count_up(interop::Range { from: 0, count: 3 }).await.expect("stream should open").into_inner();
    drop(client);
    let mut numbers = Vec::new();
    while let Some(count) = counts.message().await.expect("stream should not fail") {
        numbers.push(count.value);
    }
    assert_eq!(numbers, [0, 1, 2]);
}

/// Regression test: a server that closed a stream before the client had ended its direction reset the stream. The end
/// of the client's direction is a separate packet and may arrive late. The client then reported a failure.
#[tokio::test]
async fn server_ended_stream_awaits_client_end() {
    let mut raw = Raw::connect(serve_interop().await).await;
    raw.write(&packet(0, 3, b"fris\x01\x04\x03\x80\x80\x10")).await;
    // Calls CountUp for two messages, starting from 7.
    raw.write(&[packet(1, 2, &[0x09, 0x15]), packet(1, 2, &[8, 0, 0x0D, 0x0E, 0x0D, 4])].concat()).await;
    for expected in [(2, &[8, 0, 0x0D, 0x0E][..]), (2, &[8, 0, 0x0D, 0x10]), (7, &[])] {
        let packet = raw.next().await.unwrap();
        assert_eq!((packet.operation.number(), &packet.body[..]), expected);
    }
    // All packets of the stream would arrive before the reply to this packet.
    raw.write(&packet(5, 9999, b"")).await;
    assert_eq!(raw.next().await.unwrap().operation.number(), 9999);
    raw.write(&[packet(1, 7, b""), packet(6, 9999, b"")].concat()).await;
    assert_eq!(raw.next().await.unwrap().id.0, 6);
}

#[tokio::test]
async fn service_trait_object_serves_every_call_kind() {
    struct Curt;
    impl Interop for Curt {
        left_to_service!(echoes, do_nothing, fail, echo_payload, sleep, describe, count_up, sum_up, chat);

        async fn add(&self, _request: Request<AddRequest>) -> Reply<interop::Sum> {
            Ok(Response::new(interop::Sum { total: -1, count: 0 }))
        }
    }
    for (service, total) in [(Arc::new(Service) as Arc<dyn interop::DynInterop>, 3), (Arc::new(Curt), -1)] {
        let address = serve(Server::builder().add_service(InteropServer::new(service))).await;
        let client = InteropClient::connect(address.to_string()).await.unwrap();
        assert_eq!(client.add(AddRequest { a: 1, b: 2 }).await.unwrap().get_ref().total, total);
        let mut counts = client.count_up(interop::Range { from: 7, count: 1 }).await.unwrap().into_inner();
        assert_eq!(counts.message().await.unwrap().unwrap().value, 7);
        let sum = client.sum_up(frpc::iter([interop::Count { value: 5 }])).await.unwrap();
        assert_eq!(sum.get_ref().total, 5);
        let mut texts = client.chat(frpc::iter([Text { value: "hi".into() }])).await.unwrap().into_inner();
        assert_eq!(texts.message().await.unwrap().unwrap().value, "re:hi");
    }
}
