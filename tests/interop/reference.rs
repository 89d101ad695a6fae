//! Tests with the second implementation of the protocol, `tests/wire/reference.py`: in both directions, and with
//! malformed input for both ends.
//!
//! `FRISBEE_PYTHON` names the interpreter; the default is `python3`. Without Python, the tests print a message and
//! pass, unless `FRISBEE_REQUIRE_PYTHON` is set.

use super::suite;
use crate::two_way::call_every_kind;
use frisbee::{
    Client, CloseReason, HandOffError, HandOffRequest, HandOffTarget, Handlers, Operation, Outbox, Packet, Routed,
    Router,
};
use frisbee_pubsub::{Broker, History};
use frisbee_tests::extension::{ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::observed::{self, start};
use frisbee_tests::service::Service;
use frisbee_tests::{Serving, serve_interop};
use frpc::{Channel, Code, Request, Server};
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdout, Command};

/// Maximum time to wait for an event, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(120);

const PAGE: &str = include_str!("../../docs/wire.md");
const REFERENCE: &str = include_str!("../wire/reference.py");
const MESSAGES: &str = include_str!("../wire/reference_messages.py");
const MALFORMED: &str = include_str!("../../crates/frpc-cli/src/conformance/malformed.txt");

/// Returns the Python interpreter, if it is installed.
fn python() -> Option<&'static OsString> {
    static PYTHON: LazyLock<Option<OsString>> = LazyLock::new(|| {
        let python = env::var_os("FRISBEE_PYTHON").unwrap_or_else(|| "python3".into());
        if std::process::Command::new(&python).arg("--version").output().is_ok_and(|output| output.status.success()) {
            return Some(python);
        }
        assert!(
            env::var_os("FRISBEE_REQUIRE_PYTHON").is_none(),
            "Python should be installed, because FRISBEE_REQUIRE_PYTHON is set"
        );
        // Written to the terminal directly, because captured output is shown only for failed tests.
        let _ = std::io::stderr().lock().write_all(b"\nSKIPPED: Python is not installed: no test with the reference\n");
        None
    });
    PYTHON.as_ref()
}

fn command(python: &OsString, arguments: &[&str]) -> Command {
    let checks = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/reference_checks.py");
    let mut command = Command::new(python);
    // `-B` prevents Python from writing bytecode into the source tree.
    command.arg("-B").arg(checks).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs checks of the reference implementation against a server and returns their output.
async fn check(python: &OsString, arguments: &[&str]) -> String {
    let output = tokio::time::timeout(2 * TIMEOUT, command(python, arguments).output());
    let output = output.await.expect("checks should end").expect("process should start");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A server of the reference implementation, stopped on drop.
struct Reference {
    address: String,
    lines: Lines<BufReader<ChildStdout>>,
    _child: Child,
}

impl Reference {
    async fn start(python: &OsString, arguments: &[&str]) -> Self {
        let mut child = command(python, arguments).stdout(Stdio::piped()).spawn().expect("process should start");
        let mut lines = BufReader::new(child.stdout.take().expect("stdout should be piped")).lines();
        let port = lines.next_line().await.expect("line should be readable").expect("server should print its port");
        Self { address: format!("127.0.0.1:{port}"), lines, _child: child }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_client_makes_every_rust_server_call() {
    let Some(python) = python() else { return };
    check(python, &["call", &serve_interop().await.to_string()]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_client_exchanges_metadata_and_deadlines() {
    let Some(python) = python() else { return };
    check(python, &["extend", &start(observed::Service::default()).await.to_string()]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_server_handles_malformed_input_as_specified() {
    let Some(python) = python() else { return };
    let output = check(python, &["malform", &serve_interop().await.to_string()]).await;
    let count: usize =
        output.split(' ').next().and_then(|count| count.parse().ok()).expect("checks should print the number of cases");
    assert!(count >= 200, "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn called_reference_client_leaves_with_server() {
    let Some(python) = python() else { return };
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let builder = Server::builder().on_connect(move |connection| drop(sender.send(connection.clone())));
    let builder = builder.add_service(frisbee_tests::interop::InteropServer::new(Service));
    let mut server = Serving::start(builder.bind("127.0.0.1:0").await.expect("loopback port should be free"));
    let address = server.address.to_string();
    let arguments = ["offer", &address];
    let serving = async {
        // Over the first connection, the client learns the layout of the service from HELLO. It announces the service
        // on the second one.
        connections.recv().await.expect("a client should connect");
        let connection = connections.recv().await.expect("a client should connect again");
        let client = InteropClient::new(Channel::from_connection(&connection));
        for _ in 0..3 {
            call_every_kind(&client).await;
        }
        server.stop();
    };
    tokio::join!(check(python, &arguments), serving);
    server.stopped().await;
}

const TUNNEL: Operation = Operation::FIRST_USER;

/// A protocol that echoes packets, and echoes bytes on connections that it hands off.
struct Tunnel;

impl Router for Tunnel {
    type Session = ();

    fn connected(&self, _connection: &frisbee::Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        outbox.forward(&packet).expect("packet should be within the limit");
        Routed::Continue
    }

    fn hand_off(&self, (): &mut (), request: HandOffRequest) -> Routed {
        if request.operation() == TUNNEL && request.request() == "accept" {
            let echo = HandOffTarget::new(async |raw| {
                let (mut read, mut write) = tokio::io::split(raw);
                if tokio::io::copy(&mut read, &mut write).await.is_ok() {
                    let _ = write.shutdown().await;
                }
            });
            request.accept("yours", echo);
        } else if request.operation() == TUNNEL {
            request.refuse("mine");
        }
        Routed::Continue
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_client_takes_over_rust_connection() {
    let Some(python) = python() else { return };
    let server = frisbee::Server::builder().bind("127.0.0.1:0", Tunnel).await.expect("loopback port should be free");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    check(python, &["hand-off", &address]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_client_publishes_and_subscribes() {
    let Some(python) = python() else { return };
    let broker = Broker::builder().history("a.>", History::last(1)).build();
    let server = frisbee::Server::builder().bind("127.0.0.1:0", broker).await.expect("loopback port should be free");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    check(python, &["topics", &address]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_server_answers_every_rust_client_call() {
    let Some(python) = python() else { return };
    let server = Reference::start(python, &["serve", "interop"]).await;
    let channel = Channel::builder().timeout(TIMEOUT).connect(&server.address).await;
    let client = InteropClient::new(channel.expect("server should accept the connection"));
    // The other cases are load tests, and the reference implementation is not fast enough for them.
    let is_small = |case: &&suite::Case| {
        !["load/", "ids/", "silence/", "streams/many", "error/1000", "payload/4MiB-ten"]
            .iter()
            .any(|load| case.0.starts_with(load))
    };
    let cases: Vec<suite::Case> = suite::ALL.iter().filter(is_small).copied().collect();
    assert!(cases.len() > 50, "only {} test cases were read", cases.len());
    suite::run(&client, &cases).await;
    call_every_kind(&client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reference_server_returns_metadata_and_calls_back() {
    let Some(python) = python() else { return };
    let server = Reference::start(python, &["serve", "extension"]).await;
    let channel = Channel::builder().add_service(ExtensionServer::new(observed::Service::default()));
    let channel = channel.connect(&server.address).await.expect("server should accept the connection");
    let client = ExtensionClient::new(channel);
    let mut request = Request::new(Maybe { number: Some(0), ..Maybe::default() });
    for value in ["a", "b"] {
        request.metadata_mut().append("sent-text", value).expect("entry should be valid");
    }
    let reply = client.echo(request).await.expect("call should succeed");
    let values: Vec<_> = reply.metadata().get_all("got-text").collect();
    assert_eq!((values, reply.get_ref().number, &reply.get_ref().text), (vec!["a", "b"], Some(0), &None));
    let failure = Failure { code: Code::NotFound as i32, text: "gone".into(), details: vec![1, 2] };
    let status = client.fail(failure).await.expect_err("call should fail");
    assert_eq!((status.code(), status.message(), status.details()), (Code::NotFound, "gone", &[1, 2][..]));
    // To handle `Ask`, the reference peer calls `Get` of this program.
    let answer = client.ask(Time { millis: 3 }).await.expect("the reference should call back");
    assert_eq!(answer.get_ref().millis, 3);
    let mut request = Request::new(Time { millis: 3_600_000 });
    request.set_timeout(Duration::from_millis(50));
    assert_eq!(client.wait(request).await.expect_err("deadline should pass").code(), Code::DeadlineExceeded);
    let mut request = Request::new(Time { millis: 2_000 });
    request.metadata_mut().append("sent-text", "a").expect("entry should be valid");
    let mut chunks = client.flood(request).await.expect("stream should open").into_inner();
    chunks.opened().await.expect("reference should accept the call");
    assert_eq!(chunks.metadata().get("got-text"), Some("a"), "HEADERS should contain the metadata");
    let mut count = 0;
    while chunks.message().await.expect("stream should not fail").is_some() {
        count += 1;
    }
    assert_eq!(count, 2_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_client_takes_over_connection_of_reference() {
    let Some(python) = python() else { return };
    let server = Reference::start(python, &["serve", "interop"]).await;
    let connection = Client::builder().connect(&server.address, Handlers::new()).await.expect("server should listen");
    let refused = connection.hand_off(TUNNEL, "refuse").await.expect_err("the reference should refuse");
    assert!(matches!(&refused, HandOffError::Refused(reply) if reply == "mine"), "{refused}");
    let other = Operation::user(11).expect("operation should be one of users");
    assert!(matches!(connection.hand_off(other, "accept").await, Err(HandOffError::NotServed)));
    let mut accepted = connection.hand_off(TUNNEL, "accept").await.expect("the reference should accept");
    assert_eq!(accepted.reply, "yours");
    accepted.transport.write_all(&[7; 1000]).await.expect("write should succeed");
    let mut echo = [0; 1000];
    accepted.transport.read_exact(&mut echo).await.expect("echo should arrive");
    assert_eq!(echo, [7; 1000]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rust_client_handles_malformed_input_as_specified() {
    let Some(python) = python() else { return };
    let mut liar = Reference::start(python, &["deceive"]).await;
    let (mut count, mut wrong) = (0, Vec::new());
    while let Some(line) = liar.lines.next_line().await.expect("line should be readable") {
        let Some(reaction) = line.split(" | ").nth(3) else { break };
        count += 1;
        let socket = TcpStream::connect(&liar.address).await.expect("the reference should listen");
        let channel = Channel::builder().calls::<InteropClient>().timeout(TIMEOUT).connect_io(socket).await;
        let channel = channel.expect("connection should be accepted");
        let connection = channel.connection().expect("channel should be connected");
        let outcome = InteropClient::new(channel).add(AddRequest { a: 1, b: 2 }).await;
        let found = if reaction == "close" {
            match tokio::time::timeout(TIMEOUT, connection.closed()).await {
                Ok(CloseReason::Protocol(_) | CloseReason::Router(_)) => "close".to_owned(),
                other => format!("{other:?}"),
            }
        } else {
            match outcome {
                Ok(sum) if sum.get_ref().total == 3 && reaction != "accepted" => "ignored".to_owned(),
                Ok(_) => "accepted".to_owned(),
                Err(status) => format!("{:?}", status.code()),
            }
        };
        if found != reaction {
            wrong.push(format!("{line}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count >= 150, "only {count} test cases ran");
}

/// Returns the numbers above 1 in a text: decimal numbers, including those with spaces between thousands, and pairs of
/// hexadecimal digits.
fn numbers(text: &str) -> BTreeSet<u64> {
    let is_digit = |c: char| c.is_ascii_hexdigit() || c == 'x';
    let words = text.split(|c: char| !is_digit(c)).filter(|word| !word.is_empty());
    let mut found: BTreeSet<u64> = words.clone().filter_map(|word| word.parse().ok()).collect();
    found.extend(words.filter_map(|word| u64::from_str_radix(word, 16).ok().filter(|_| word.len() == 2)));
    let words: Vec<&str> = text.split_whitespace().collect();
    for (at, word) in words.iter().enumerate() {
        let mut joined = (*word).trim_start_matches(|c: char| !c.is_ascii_digit()).to_owned();
        for thousands in words[at + 1..].iter().take(3) {
            let digits = thousands.trim_end_matches(|c: char| !c.is_ascii_digit());
            if digits.len() != 3 || digits.parse::<u16>().is_err() {
                break;
            }
            joined += digits;
            found.extend(joined.parse::<u64>());
        }
    }
    found
}

#[test]
fn reference_uses_only_page_numbers() {
    let page = numbers(PAGE);
    for code in [REFERENCE, MESSAGES] {
        let missing: Vec<u64> =
            python_numbers(code).into_iter().filter(|number| *number > 1 && !page.contains(number)).collect();
        assert!(missing.is_empty(), "docs/wire.md should contain: {missing:?}");
    }
    let lines = REFERENCE.lines().count() + MESSAGES.lines().count();
    assert!(lines <= 600, "implementation has {lines} lines");
}

#[test]
fn required_page_part_is_short() {
    let (required, _) = PAGE.split_once("## Optional parts").expect("page should have optional parts");
    let words = required.split_whitespace().filter(|word| word.contains(|c: char| c.is_alphanumeric())).count();
    assert!(words <= 6_000, "specification has {words} words");
}

/// Returns the integers of a Python program.
fn python_numbers(code: &str) -> BTreeSet<u64> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = code.split(|c: char| !is_word(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let number = |word: &str| match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => word.parse(),
    };
    words.filter_map(|word| number(word).ok()).collect()
}

#[test]
fn every_malformed_input_rule_is_covered() {
    let cell = |line: &str, at: usize| line.split('|').nth(at).unwrap_or_default().trim().trim_matches('`').to_owned();
    let rows = PAGE.lines().skip_while(|line| *line != "## Malformed input").skip(1);
    let rows = rows.take_while(|line| !line.starts_with("## ")).filter(|line| line.starts_with("| `"));
    let specified: BTreeSet<_> = rows.map(|row| (cell(row, 1), cell(row, 4))).collect();
    let lines = MALFORMED.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let tested: BTreeSet<_> = lines.map(|line| (cell(line, 0), cell(line, 3))).collect();
    let missing: Vec<_> = specified.difference(&tested).collect();
    let unspecified: Vec<_> = tested.difference(&specified).collect();
    assert!(
        missing.is_empty() && unspecified.is_empty(),
        "rules without input: {missing:?}; inputs without a rule: {unspecified:?}"
    );
}
