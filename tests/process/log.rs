//! Tests of the log of a server, about failing handlers and about peers that violate the protocol.

use frisbee::{Client, CloseKind, Handlers};
use frisbee_tests::interop::{Count, Interop, InteropClient, InteropServer, Range, Sum, Text};
use frisbee_tests::pki::Authority;
use frisbee_tests::process::ran_alone;
use frisbee_tests::raw::Raw;
use frisbee_tests::{left_to_service, serve, serve_interop};
use frpc::{Request, Response, ResponseStream, Server, Status, Streaming};
use std::fmt::{self, Write};
use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

type Reply<T> = Result<Response<T>, Status>;

/// The captured log: the level, the target, and the text.
static LINES: Mutex<Vec<(Level, &str, String)>> = Mutex::new(Vec::new());

/// Captures the log.
struct Keeping;

struct Line(String);

/// Clears the captured log, and captures later lines.
fn listen() {
    static KEEPING: Once = Once::new();
    KEEPING.call_once(|| tracing::subscriber::set_global_default(Keeping).expect("no other subscriber should be set"));
    LINES.lock().expect("lock should not be poisoned").clear();
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("write should succeed");
    }
}

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("frpc") || *metadata.level() <= Level::INFO
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        let metadata = event.metadata();
        LINES.lock().expect("lock should not be poisoned").push((*metadata.level(), metadata.target(), line.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// A service that fails or panics, immediately or later.
struct Failing;

impl Interop for Failing {
    left_to_service!(echoes, do_nothing, echo_payload, add, sleep, describe, chat);

    async fn fail(&self, request: Request<Text>) -> Reply<Text> {
        let how = request.into_inner().value;
        if how.contains("later") {
            tokio::task::yield_now().await;
        }
        assert!(!how.contains("panic"), "{how}");
        Err(Status::internal(how))
    }

    async fn count_up(&self, _request: Request<Range>) -> Reply<ResponseStream<Count>> {
        Err(Status::internal("no counting"))
    }

    async fn sum_up(&self, _request: Request<Streaming<Count>>) -> Reply<Sum> {
        panic!("no sum");
    }
}

#[tokio::test]
async fn handler_failure_log_names_method_and_peer() {
    if ran_alone(|| ()) {
        return;
    }
    listen();
    let address = serve(Server::builder().add_service(InteropServer::new(Failing))).await;
    let channel = frpc::Channel::connect(address.to_string()).await.expect("server should be listening");
    let client = InteropClient::new(channel.clone());
    let peer = channel
        .connection()
        .expect("channel should be connected")
        .local_addr()
        .expect("socket should have a local address");
    let fail = async |how: &str| client.fail(Text { value: how.into() }).await.expect_err("call should fail");
    for (level, method, text) in [
        (Level::DEBUG, "Fail", "fail now"),
        (Level::DEBUG, "Fail", "fail later"),
        (Level::ERROR, "Fail", "panic now"),
        (Level::ERROR, "Fail", "panic later"),
        (Level::DEBUG, "CountUp", "no counting"),
        (Level::ERROR, "SumUp", "no sum"),
    ] {
        let logged = || {
            let lines = LINES.lock().expect("lock should not be poisoned");
            let is =
                |line: &&(Level, &str, String)| line.0 == level && line.1.starts_with("frpc") && line.2.contains(text);
            lines.iter().find(is).map(|(.., line)| line.clone())
        };
        // The log is limited to one line per second. Two kinds of panics may share this limit, so the call is repeated.
        let line = tokio::time::timeout(Duration::from_secs(20), async {
            loop {
                match method {
                    "Fail" => drop(fail(text).await),
                    "CountUp" => {
                        let counts = client.count_up(Range::default()).await.expect("stream should open");
                        counts.into_inner().message().await.expect_err("stream should fail");
                    }
                    _ => drop(
                        client
                            .sum_up(frpc::iter([Count::default()]))
                            .await
                            .expect_err("panicking handler should fail the call"),
                    ),
                }
                if let Some(line) = logged() {
                    return line;
                }
                tokio::task::yield_now().await;
            }
        });
        let line = line.await.unwrap_or_else(|_| panic!("log should contain {text}: {:#?}", LINES.lock()));
        assert!(line.contains(&format!("method=interop.Interop/{method} ")), "{line}");
        assert!(line.contains(&format!("peer=Some({peer})")), "{line}");
    }
}

/// Returns the number of captured lines with the level INFO or higher.
fn lines_at_info() -> usize {
    LINES.lock().expect("lock should not be poisoned").iter().filter(|(level, ..)| *level <= Level::INFO).count()
}

#[tokio::test]
async fn protocol_violation_logs_are_rate_limited() {
    if ran_alone(|| ()) {
        return;
    }
    let address = serve_interop().await;
    listen();
    let started = Instant::now();
    for _ in 0..300 {
        let mut peer = Raw::connect(address).await;
        peer.write(b"GET / HTTP/1.1\r\n\r\n").await;
        peer.closed().await;
    }
    let seconds = started.elapsed().as_secs_f64().ceil();
    let lines = lines_at_info();
    assert!((1..=seconds as usize + 1).contains(&lines), "server logged {lines} lines in {seconds} s");
    // After a second, the next line states the number of suppressed lines.
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    let mut peer = Raw::connect(address).await;
    peer.write(b"GET / HTTP/1.1\r\n\r\n").await;
    peer.closed().await;
    assert_eq!(lines_at_info(), lines + 1);
}

#[tokio::test]
async fn settings_are_logged_once_only_if_enabled() {
    if ran_alone(|| ()) {
        return;
    }
    for is_logged in [true, false] {
        listen();
        // Each has a different timeout, which identifies its log line.
        let idle = |seconds| frpc::Config::default().idle_timeout(Duration::from_secs(seconds));
        let server = Server::builder().config(idle(31)).log_settings(is_logged);
        let address = serve(server.add_service(InteropServer::new(Failing))).await;
        let channel = frpc::Channel::builder().config(idle(32)).log_settings(is_logged);
        let _channel = channel.connect(address.to_string()).await.expect("server should accept the connection");
        let server = frisbee::Server::builder().config(idle(33)).log_settings(is_logged);
        let acceptor = server.build(Handlers::new()).expect("settings should be valid");
        let (here, there) = frisbee::memory();
        let serving = tokio::spawn(async move { acceptor.serve_connection(there).await });
        let client = Client::builder().config(idle(34)).log_settings(is_logged);
        let _client = client.connect_io(here, Handlers::new()).await.expect("connection in memory should be accepted");
        let lines = LINES.lock().expect("lock should not be poisoned");
        for seconds in 31..=34 {
            let setting = format!("idle_timeout: {seconds}s");
            let is = |line: &&(Level, &str, String)| line.0 == Level::INFO && line.2.contains(&setting);
            assert_eq!(lines.iter().filter(is).count(), usize::from(is_logged), "{setting}: {lines:#?}");
        }
        drop(lines);
        serving.abort();
    }
}

#[tokio::test]
async fn one_sided_tls_is_logged_by_both() {
    if ran_alone(|| ()) {
        return;
    }
    listen();
    let authority = Authority::default();
    let address = serve(Server::builder().tls(authority.server())).await;
    let connection =
        Client::builder().connect(address, Handlers::new()).await.expect("server should accept the connection");
    let peer = connection.local_addr().expect("socket should have a local address");
    assert_eq!(connection.closed().await.kind(), CloseKind::SpeaksTls);
    let expected = [("not speak TLS", peer), ("set `tls` here", address)];
    for (remedy, peer) in expected {
        until_logged(|line| {
            line.contains("only one end speaks TLS")
                && line.contains(remedy)
                && line.contains(&format!("peer=Some({peer})"))
        })
        .await;
    }
    assert!(
        !LINES.lock().expect("lock should not be poisoned").iter().any(|(.., line)| line.contains("error of its peer"))
    );
}

#[tokio::test]
async fn missing_client_certificate_log_names_remedy() {
    if ran_alone(|| ()) {
        return;
    }
    listen();
    let authority = Authority::default();
    let address = serve(Server::builder().tls(authority.mutual_server())).await;
    let connecting = Client::builder().tls(authority.client()).connect(address, Handlers::new()).await;
    connecting.expect_err("client without a certificate should be rejected");
    until_logged(|line| {
        line.contains("failed TLS handshake") && line.contains("configure one at the client") && line.contains("peer=")
    })
    .await;
}

/// Waits until a matching line has been logged.
async fn until_logged(is: impl Fn(&str) -> bool) {
    let is_logged = || LINES.lock().expect("lock should not be poisoned").iter().any(|(.., line)| is(line));
    frisbee_tests::until("the line is logged", is_logged).await;
}
