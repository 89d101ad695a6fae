//! Tests of `frpc call --udp` against a server and against raw sockets.

use crate::ways::{run, stdout};
use frpc::Server;
use frpc_gateway::{Gateway, ServeGateway as _, Udp};
use samples::greet::GreeterServer;
use samples::started::Polite;
use serde_json::Value;
use std::net::UdpSocket;
use std::process::Output;
use std::thread;
use std::time::Duration;

const GREET: [&str; 2] = ["-p", "examples/proto/greet.proto"];

/// Schema whose method is declared idempotent, so that requests are retransmitted.
const IDEMPOTENT: &str = r#"syntax = "proto3";
package greet;
message Name { string name = 1; }
message Greeting { string text = 1; }
service Greeter { rpc Greet(Name) returns (Greeting) { option idempotency_level = NO_SIDE_EFFECTS; } }
"#;

async fn server() -> String {
    let udp = Udp::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = udp.local_addr().to_string();
    let builder = Server::builder().add_service(GreeterServer::new(Polite)).gateway(Gateway::new().udp(udp));
    tokio::spawn(builder.bind("127.0.0.1:0").await.expect("server should bind to a free address").serve());
    address
}

fn call(address: &str, arguments: &[&str]) -> Output {
    run("", &[&["call", "--udp", address], arguments].concat())
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn call_by_datagram_needs_no_schema() {
    let address = server().await;
    tokio::task::block_in_place(|| {
        let greeting = call(&address, &["greet.Greeter/Greet", r#"{"name": "Ada"}"#]);
        assert_eq!(stdout(&greeting), "{\"text\":\"Hello, Ada!\"}\n");
        let empty = call(&address, &["greet.Greeter/Greet"]);
        assert_eq!(empty.status.code(), Some(64 + 3), "{empty:?}");
        assert!(stderr(&empty).contains("the name is empty"), "{empty:?}");
        let unknown = call(&address, &["greet.Greeter/Sing", "{}"]);
        assert_eq!(unknown.status.code(), Some(64 + 12), "{unknown:?}");
    });
}

#[tokio::test(flavor = "multi_thread")]
async fn schema_converts_messages_of_datagram() {
    let address = server().await;
    tokio::task::block_in_place(|| {
        let with = |arguments: &[&str]| call(&address, &[&GREET[..], arguments].concat());
        assert_eq!(stdout(&with(&["Greet", "name=Ada"])), "{\n  \"text\": \"Hello, Ada!\"\n}\n");
        assert_eq!(stdout(&with(&["Greet", "name=Ada", "--out-field", "text"])), "Hello, Ada!");
        // This reply is permitted only because the request was padded.
        let long = "x".repeat(150);
        assert!(stdout(&with(&["Greet", &format!("name={long}")])).contains(&long));
        let misspelt = with(&["Greet", "nmae=Ada"]);
        assert!(stderr(&misspelt).contains("it has: name"), "{misspelt:?}");
        let stream = with(&["Recite", "name=Ada"]);
        assert!(stderr(&stream).contains("leave out --udp"), "{stream:?}");
    });
}

#[test]
fn impossible_datagram_is_refused_with_remedy() {
    let failure = |arguments: &[&str]| stderr(&call("127.0.0.1:1", arguments));
    let long = format!(r#"{{"name": "{}"}}"#, "x".repeat(66_000));
    assert!(failure(&["a.B/C", &long]).contains("exceeds a datagram of 65507: call over TCP"));
    assert!(failure(&["a.B/C", "name=Ada"]).contains("write JSON, or specify the schema by --proto FILE"));
    assert!(failure(&["a.B/C", "--notify", "--retries", "1"]).contains("cannot be used with"));
    for option in [["--server", "127.0.0.1:2"], ["--server-name", "a"], ["--connect-timeout", "1s"]] {
        assert!(failure(&[&["a.B/C"], &option[..]].concat()).contains("cannot be used with"), "{option:?}");
    }
    assert!(stderr(&call("nowhere", &["a.B/C"])).contains("--udp nowhere"));
}

/// Regression test: with `--server`, these options were ignored.
#[test]
fn options_of_datagrams_require_udp() {
    for option in [&["--notify"][..], &["--retries", "1"], &["--pad", "9"]] {
        let arguments = [&["call", "--server", "127.0.0.1:1", "a.B/C"], option].concat();
        let output = run("", &arguments);
        assert!(output.status.code() == Some(2) && stderr(&output).contains("require --udp"), "{output:?}");
    }
}

#[test]
fn closed_port_is_unavailable_at_once() {
    let free = UdpSocket::bind("127.0.0.1:0").expect("loopback port should be free");
    let address = free.local_addr().expect("socket should have a local address").to_string();
    drop(free);
    let refused = call(&address, &["greet.Greeter/Greet", "{}", "--deadline", "1h"]);
    assert_eq!(refused.status.code(), Some(64 + 14), "{refused:?}");
    let text = stderr(&refused);
    assert!(text.contains(&address) && text.contains("Gateway::udp"), "{text}");
}

/// Starts a peer that replies to the datagram with number `answered`. Returns its address and a thread that returns the
/// received datagrams.
fn peer(answered: usize) -> (String, thread::JoinHandle<Vec<String>>) {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("loopback port should be free");
    socket.set_read_timeout(Some(Duration::from_secs(60))).expect("timeout should not be zero");
    let address = socket.local_addr().expect("socket should have a local address").to_string();
    let thread = thread::spawn(move || {
        let mut datagrams = Vec::new();
        let mut buffer = [0; 65_536];
        loop {
            let (length, from) = socket.recv_from(&mut buffer).expect("command should send a datagram");
            datagrams.push(String::from_utf8_lossy(&buffer[..length]).into_owned());
            // Neither datagram is a reply to the request.
            drop(socket.send_to(b"nonsense", from));
            drop(socket.send_to(br#"{"jsonrpc":"2.0","id":"late","result":{}}"#, from));
            if datagrams.len() == answered {
                let request: Value = serde_json::from_slice(&buffer[..length]).expect("datagram should be valid JSON");
                let reply = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"text":"late"}}}}"#, request["id"]);
                socket.send_to(reply.as_bytes(), from).expect("command should wait for the reply");
                return datagrams;
            }
        }
    });
    (address, thread)
}

#[test]
fn lost_datagram_is_repeated_only_if_allowed() {
    let (address, peer_thread) = peer(3);
    let once = call(&address, &["greet.Greeter/Greet", "{}", "--deadline", "50ms"]);
    assert_eq!(once.status.code(), Some(64 + 4), "{once:?}");
    let text = stderr(&once);
    assert!(text.contains("within 50ms to 1 datagram:") && text.contains("--retries"), "{text}");

    let folder = tempfile::tempdir().expect("temporary folder should be created");
    let schema = folder.path().join("greet.proto");
    std::fs::write(&schema, IDEMPOTENT).expect("schema file should be written");
    let schema = schema.to_str().expect("path should be UTF-8");
    let repeated = call(&address, &["-p", schema, "Greet", "name=Ada", "--deadline", "3s", "--json"]);
    assert_eq!(stdout(&repeated), "{\"text\":\"late\"}\n");
    let datagrams = peer_thread.join().expect("thread should not panic");
    assert_eq!(datagrams[1], datagrams[2], "repeated request should have the same id");

    let (address, peer_thread) = peer(2);
    assert!(stdout(&call(&address, &["a.B/C", "--retries", "1", "--deadline", "3s"])).contains("late"));
    assert_eq!(peer_thread.join().expect("thread should not panic").len(), 2);
}

#[test]
fn notification_has_no_id_and_never_waits() {
    let (address, peer_thread) = peer(1);
    assert_eq!(stdout(&call(&address, &["metrics.Sink/Add", r#"{"n":1}"#, "--notify"])), "");
    let text = peer_thread.join().expect("thread should not panic").remove(0);
    assert!(text.starts_with(r#"{"jsonrpc":"2.0","method":"metrics.Sink/Add","params":{"n":1},"#), "{text}");
}
