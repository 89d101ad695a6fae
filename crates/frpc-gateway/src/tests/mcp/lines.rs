//! Messages as lines, as programs send them over standard input and output.

use super::support::{Host, Lines, all, modern, request};
use frpc::Config;
use frpc_gateway::Gateway;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

#[tokio::test]
async fn conversation_in_lines_has_same_replies() {
    let host = Host::new(all());
    let mut lines = Lines::new(&host);
    lines.send(&request(0, "initialize", json!({"protocolVersion": "2025-06-18"}))).await;
    assert_eq!(lines.next().await["result"]["protocolVersion"], "2025-06-18");
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    lines.send(&request(1, "tools/list", json!({}))).await;
    assert_eq!(lines.next().await["result"]["tools"].as_array().map(Vec::len), Some(7));
    lines.send(&request(2, "tools/call", json!({"name": "shout", "arguments": {"value": "a"}}))).await;
    assert_eq!(lines.next().await["result"]["structuredContent"]["name"], "A");
    lines.send(&modern(3, "server/discover", json!({})).1).await;
    assert_eq!(lines.next().await["result"]["resultType"], "complete");
    let count = json!({"name": "count", "arguments": {"number": 2}, "_meta": {"progressToken": "t"}});
    lines.send(&request(4, "tools/call", count)).await;
    for progress in [1, 2] {
        assert_eq!(lines.next().await["params"]["progress"], progress);
    }
    assert_eq!(lines.next().await["result"]["structuredContent"]["items"][1]["number"], 2);
}

#[tokio::test]
async fn cancelled_line_call_ends_without_reply() {
    let host = Host::new(all());
    let mut lines = Lines::new(&host);
    lines.send(&request(1, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}))).await;
    host.service.began().await;
    lines.send(&request(1, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}))).await;
    assert_eq!(lines.next().await["error"]["code"], -32600);
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    host.service.ended().await;
    lines.send(&request(2, "ping", json!({}))).await;
    assert_eq!(lines.next().await["id"], 2);
}

#[tokio::test]
async fn bad_messages_in_lines_have_code() {
    let host = Host::new(all());
    let mut lines = Lines::new(&host);
    let mut old = request(1, "tools/list", json!({}));
    old["params"]["_meta"] = json!({"io.modelcontextprotocol/protocolVersion": "2099-01-01"});
    for (message, code) in [
        (old, -32022),
        (json!([request(1, "ping", json!({}))]), -32600),
        (request(1, "tools.Tools/Echo", json!({})), -32601),
        (request(1, "rpc.discover", json!({})), -32601),
        (request(1, "tools/call", json!({"name": "none"})), -32602),
        (json!({"jsonrpc": "2.0", "id": null, "method": "ping"}), -32600),
    ] {
        lines.send(&message).await;
        let reply = lines.next().await;
        let error = reply.get(0).unwrap_or(&reply);
        assert_eq!(error["error"]["code"], code, "{message}");
    }
}

#[tokio::test]
async fn json_rpc_methods_work_beside_tools() {
    let host = Host::with(Gateway::new().json_rpc().mcp(all()), |builder| builder);
    let mut lines = Lines::new(&host);
    for _ in 0..2 {
        lines.send(&request(1, "tools.Tools/Put", json!({"name": "a"}))).await;
        assert_eq!(lines.next().await["result"], json!({"name": "a"}));
        lines.send(&request(2, "tools/call", json!({"name": "put", "arguments": {"name": "b"}}))).await;
        assert_eq!(lines.next().await["result"]["structuredContent"], json!({"name": "b"}));
    }
    let list = request(1, "tools/list", json!({})).to_string();
    let answer = host.http("POST", "/", "content-type: application/json\r\n", &list).await;
    assert_eq!(answer.json()["error"]["code"], -32601);
}

#[tokio::test]
async fn cancelled_notification_leaves_calls_of_methods() {
    let host = Host::with(Gateway::new().json_rpc().mcp(all()), |builder| builder);
    let mut lines = Lines::new(&host);
    lines.send(&json!([request(1, "tools.Tools/Wait", json!({"name": "a"}))])).await;
    host.service.began().await;
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    lines.send(&request(2, "ping", json!({}))).await;
    assert_eq!(lines.next().await["id"], 2);
    host.service.release();
    assert_eq!(lines.next().await[0]["result"]["name"], "a");
}

#[tokio::test(start_paused = true)]
async fn unread_begun_message_is_not_late() {
    let config = Config::default().backlog_max(1024);
    let host = Host::with(Gateway::new().json_rpc(), |builder| builder.config(config));
    let mut io = host.connect();
    let wait = request(1, "tools.Tools/Wait", json!({"name": "a".repeat(300_000)}));
    io.write_all(format!("{wait}\n{{\"jsonrpc\":").as_bytes()).await.expect("server should accept the request");
    host.service.began().await;
    host.service.release();
    for _ in 0..16 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        io.read_exact(&mut [0; 12_000]).await.expect("server should send the replies");
    }
    let rest = br#""2.0","id":2,"method":"tools.Tools/Put","params":{"name":"b"}}"#;
    io.write_all(rest).await.expect("server should accept the rest of the request");
    let mut lines = BufReader::new(io).lines();
    let _reply = lines.next_line().await.expect("first reply should be readable");
    let next = lines.next_line().await.expect("second reply should be readable").expect("connection should stay open");
    assert_eq!(serde_json::from_str::<Value>(&next).expect("reply should be valid JSON")["result"]["name"], "b");
}

#[tokio::test(start_paused = true)]
async fn drained_connection_reads_credit_and_refuses_calls() {
    let gateway = Gateway::new().json_rpc().mcp(all());
    let host = Host::with(gateway, |builder| builder.max_connection_age(Duration::from_secs(1)));
    let mut lines = Lines::new(&host);
    let mut count = request(1, "tools.Tools/Count", json!({"number": 3}));
    count["credit"] = json!(1);
    lines.send(&count).await;
    assert_eq!(lines.next().await["params"]["item"]["number"], 1);
    tokio::time::sleep(Duration::from_secs(2)).await;
    lines.send(&request(2, "tools.Tools/Put", json!({"name": "a"}))).await;
    assert_eq!(lines.next().await["error"]["data"]["status"], "UNAVAILABLE");
    lines.send(&request(3, "tools/call", json!({"name": "put", "arguments": {"name": "b"}}))).await;
    assert_eq!(lines.next().await["result"]["isError"], true);
    lines.send(&json!({"jsonrpc": "2.0", "method": "rpc.credit", "params": {"id": 1, "items": 2}})).await;
    for number in [2, 3] {
        assert_eq!(lines.next().await["params"]["item"]["number"], number);
    }
    assert_eq!(lines.next().await, json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    lines.end().await;
}

/// Encodes a client frame with a zero mask.
fn frame(opcode: u8, payload: &str) -> Vec<u8> {
    let length = u8::try_from(payload.len()).ok().filter(|length| *length < 126).expect("payload should be short");
    [&[0x80 | opcode, 0x80 | length, 0, 0, 0, 0], payload.as_bytes()].concat()
}

#[tokio::test(start_paused = true)]
async fn stop_waits_for_responsive_web_socket_calls() {
    const TEXT: u8 = 1;
    const CLOSE: u8 = 8;
    const PING: u8 = 9;
    const PONG: u8 = 10;
    let second = Duration::from_secs(1);
    let host = Host::with(Gateway::new().json_rpc().web_socket(), |builder| builder.max_connection_age(second));
    let mut io = host.connect();
    let head = "GET / HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
                sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    io.write_all(head.as_bytes()).await.expect("server should accept the upgrade request");
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(io.read_u8().await.expect("server should send the upgrade response"));
    }
    let mut io = BufReader::new(io);
    let call = |id: u32, method: &str| request(id, &format!("tools.Tools/{method}"), json!({"name": "a"})).to_string();
    io.write_all(&frame(TEXT, &call(1, "Wait"))).await.expect("server should accept the call");
    host.service.began().await;
    let mut replies = Vec::new();
    for turn in 0.. {
        let (opcode, length) = (
            io.read_u8().await.expect("server should send a frame") & 15,
            io.read_u8().await.expect("server should send a frame"),
        );
        let length = if length == 126 {
            io.read_u16().await.expect("server should send an extended length")
        } else {
            length.into()
        };
        let mut payload = vec![0; length.into()];
        io.read_exact(&mut payload).await.expect("server should send the payload");
        match opcode {
            PING => io.write_all(&frame(PONG, "")).await.expect("server should accept the PONG"),
            TEXT => replies.push(serde_json::from_slice::<Value>(&payload).expect("reply should be valid JSON")),
            CLOSE => {
                assert_eq!(payload[..2], 1001_u16.to_be_bytes());
                break;
            }
            other => panic!("unexpected opcode {other}"),
        }
        match turn {
            0 => io.write_all(&frame(TEXT, &call(2, "Put"))).await.expect("server should accept the second call"),
            20 => host.service.release(),
            _ => {}
        }
    }
    assert_eq!((&replies[0]["id"], &replies[0]["error"]["data"]["status"]), (&json!(2), &json!("UNAVAILABLE")));
    assert_eq!((&replies[1]["id"], &replies[1]["result"]["name"]), (&json!(1), &json!("a")));
}
