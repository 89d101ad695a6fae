//! Tests of tool calls.

use super::super::http2_client::{DATA, HEADERS, Http2, head_of};
use super::support::{ACCEPT, Host, LEGACY, all, leaf, modern, request};
use frisbee_http2::hpack::Encoder;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;

/// Returns the text of a failed tool call: code and message.
fn failure(result: &Value) -> &str {
    assert_eq!((&result["isError"], result.get("structuredContent")), (&json!(true), None), "{result}");
    result["content"][0]["text"].as_str().expect("failure should have a text")
}

#[tokio::test]
async fn result_is_structure_and_text() {
    let host = Host::new(all());
    let node = json!({"children": [leaf("a"), {"number": "9007199254740993"}]});
    let result = host.call("echo", node.clone()).await;
    assert_eq!((&result["structuredContent"], &result["isError"]), (&node, &json!(false)));
    let text = result["content"][0]["text"].as_str().expect("result should have a text");
    assert_eq!(serde_json::from_str::<Value>(text).expect("result text should be valid JSON"), node);
    assert_eq!(result["content"][0]["type"], "text");
    assert_eq!(host.result("tools/call", json!({"name": "echo"})).await["structuredContent"], json!({}));
}

#[tokio::test]
async fn non_object_message_becomes_value() {
    let host = Host::new(all());
    let result = host.call("text", json!({})).await;
    assert_eq!(result["structuredContent"], json!({"value": "Hello, \"you\"\n"}));
    assert_eq!(result["content"][0]["text"], "Hello, \"you\"\n");
    let result = host.call("shout", json!({"value": "hey"})).await;
    assert_eq!(result["structuredContent"], json!({"name": "HEY"}));
}

#[tokio::test]
async fn stream_is_one_result() {
    let host = Host::new(all());
    let result = host.call("count", json!({"number": 3})).await;
    assert_eq!(result["structuredContent"], json!({"items": [{"number": 1}, {"number": 2}, {"number": 3}]}));
    assert_eq!(result["content"][0]["text"], r#"[{"number":1},{"number":2},{"number":3}]"#);
    assert_eq!(host.call("count", json!({"number": 0})).await["structuredContent"], json!({"items": []}));
    assert_eq!(failure(&host.call("count", json!({"number": 8})).await), "ABORTED: seven");
}

#[tokio::test]
async fn stream_with_token_reports_progress() {
    let host = Host::new(all());
    for token in [json!("t"), json!(7)] {
        let params = json!({"name": "count", "arguments": {"number": 3}, "_meta": {"progressToken": token}});
        let (fields, message) = modern(4, "tools/call", params.clone());
        for (fields, message) in [(LEGACY, request(4, "tools/call", params)), (&fields, message)] {
            let answer = host.post(fields, &message).await;
            assert_eq!(answer.field("x-accel-buffering"), Some("no"));
            let events = answer.events();
            let (result, progress) = events.split_last().expect("response should have events");
            let seen: Vec<_> = progress.iter().map(|event| &event["params"]).collect();
            let expected = [1, 2, 3].map(|count| {
                json!({"progressToken": token, "progress": count, "message": format!("{{\"number\":{count}}}")})
            });
            assert_eq!(seen, expected.iter().collect::<Vec<_>>());
            assert!(progress.iter().all(|event| event["method"] == "notifications/progress"));
            assert_eq!(result["id"], 4);
            assert_eq!(result["result"]["structuredContent"]["items"][2]["number"], 3);
        }
    }
}

/// Regression test: a missing argument of a number type was treated as 0.
#[tokio::test]
async fn call_without_required_argument_fails() {
    let host = Host::new(all());
    for (tool, arguments) in [("count", json!({})), ("count", json!({"number": null})), ("put", json!({"nmae": "x"}))] {
        let result = host.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{result}");
        let text = result["content"][0]["text"].as_str().expect("failure should have a text");
        let name = if tool == "count" { "number" } else { "name" };
        assert_eq!(text, format!("INVALID_ARGUMENT: missing arguments: {name}"));
    }
    assert_eq!(host.call("put", json!({"name": ""})).await["isError"], false, "empty text should be accepted");
}

#[tokio::test]
async fn long_token_of_progress_is_ignored() {
    let host = Host::new(all());
    let token = "x".repeat(255);
    let params = json!({"name": "count", "arguments": {"number": 3}, "_meta": {"progressToken": token}});
    assert_eq!(host.result("tools/call", params).await["structuredContent"]["items"][2]["number"], 3);
}

#[tokio::test]
async fn failed_call_is_tool_error() {
    let host = Host::new(all());
    let result = host.call("fail", json!({"name": "x"})).await;
    assert_eq!(failure(&result), "NOT_FOUND: no name \"x\"");
    assert_eq!(result["_meta"]["frpc/status"], json!({"status": "NOT_FOUND", "details": "AQ=="}));
    for arguments in [json!({"nmae": "x"}), json!({"name": 7}), json!({"name": {}})] {
        let result = host.call("put", arguments.clone()).await;
        assert!(failure(&result).starts_with("INVALID_ARGUMENT: "), "{arguments}: {result}");
    }
    let both = json!({"text": "a", "number": "1"});
    assert!(failure(&host.call("echo", both).await).starts_with("INVALID_ARGUMENT: "));
}

#[tokio::test]
async fn result_beyond_limit_is_tool_error() {
    let host = Host::new(all().result_max(100));
    let long = json!({"name": "x".repeat(100)});
    let expected = "RESOURCE_EXHAUSTED: a result of 111 bytes exceeds the limit of 100: ask for less";
    assert_eq!(failure(&host.call("put", long).await), expected);
    assert_eq!(host.call("put", json!({"name": "x".repeat(89)})).await["isError"], false);
    let many = host.call("count", json!({"number": 1_000_000})).await;
    assert!(failure(&many).starts_with("ABORTED"), "{many}");
    let small = Host::new(all().result_max(20));
    assert!(failure(&small.call("count", json!({"number": 6})).await).starts_with("RESOURCE_EXHAUSTED"));
}

#[tokio::test]
async fn request_fields_become_call_metadata() {
    let host = Host::new(all());
    let call = request(1, "tools/call", json!({"name": "put", "arguments": {"name": "a"}}));
    let answer = host.post("tenant: blue\r\n", &call).await.json();
    assert_eq!(answer["result"]["structuredContent"]["name"], "ablue");
}

#[tokio::test(start_paused = true)]
async fn expired_call_is_tool_error() {
    let host = Host::new(all().timeout(Duration::from_secs(2)));
    let result = host.call("wait", json!({"name": "x"})).await;
    assert!(failure(&result).starts_with("DEADLINE_EXCEEDED: "), "{result}");
    host.service.ended().await;
    let mut call = request(1, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}));
    call["timeoutMs"] = json!(0);
    let answer = host.post(LEGACY, &call).await.json();
    assert!(failure(&answer["result"]).starts_with("DEADLINE_EXCEEDED: "), "{answer}");
}

#[tokio::test]
async fn cancelled_request_ends_without_reply() {
    let host = Host::new(all());
    let session = |id: &str| format!("{LEGACY}mcp-session-id: {id}\r\n");
    let call = |id| request(id, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}));
    let cancel = |id: Value| json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "late"}});
    let waiting = tokio::spawn({
        let host = host.clone();
        let fields = session("a");
        async move { host.post(&fields, &call(5)).await }
    });
    host.service.began().await;
    // None of these cancels the call or is an error: another session, another id, an id of another type.
    for (of, id) in [("b", json!(5)), ("a", json!(6)), ("a", json!("5"))] {
        assert_eq!(host.post(&session(of), &cancel(id)).await.status, 202);
    }
    assert_eq!(host.post(LEGACY, &cancel(json!(5))).await.status, 202);
    assert!(!waiting.is_finished());
    assert_eq!(host.post(&session("a"), &cancel(json!(5))).await.status, 202);
    host.service.ended().await;
    let answer = waiting.await.expect("waiting call should not panic");
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
}

/// Regression test: the metadata that the session of a request keeps was not charged.
#[tokio::test(start_paused = true)]
async fn long_head_of_waiting_call_is_charged() {
    const CALLS: u32 = 50;
    const FIELD: usize = 12_000;
    let mut held = [0; 2];
    for (held, length) in held.iter_mut().zip([0, FIELD]) {
        let host = Host::new(all());
        let stats = host.server.stats();
        let mut head = head_of("/mcp", "application/json");
        for (name, value) in [("accept", "application/json, text/event-stream"), ("x-long", &"x".repeat(length))] {
            Encoder::new().put(name.as_bytes(), value.as_bytes(), true, &mut head);
        }
        let mut client = Http2::connect(host.connect(), 65_535).await;
        for call in 0..CALLS {
            let body = request(call, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}})).to_string();
            client.send(HEADERS, 4, 2 * call + 1, &head).await;
            client.send(DATA, 1, 2 * call + 1, body.as_bytes()).await;
            host.service.began().await;
        }
        *held = stats.memory_held();
    }
    // The field is stored three times: in the head of the stream, in the metadata of the session, and in that of the
    // call.
    let copies = (held[1] - held[0]) as f64 / (CALLS as usize * FIELD) as f64;
    assert!((2.8..3.3).contains(&copies), "{copies} copies are charged");
}

#[tokio::test]
async fn closed_response_ends_its_call() {
    let host = Host::new(all());
    let (fields, message) = modern(1, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}));
    let mut io = host.connect();
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n{ACCEPT}{fields}content-length: {}\r\n\r\n",
        body.len()
    );
    io.write_all((head + &body).as_bytes()).await.expect("server should accept the request");
    host.service.began().await;
    drop(io);
    host.service.ended().await;
}

#[tokio::test]
async fn id_in_progress_is_rejected_within_session() {
    let host = Host::new(all());
    let fields = format!("{LEGACY}mcp-session-id: a\r\n");
    let call = request(5, "tools/call", json!({"name": "wait", "arguments": {"name": "x"}}));
    let start = |fields: String| {
        let (host, call) = (host.clone(), call.clone());
        tokio::spawn(async move { host.post(&fields, &call).await })
    };
    let first = start(fields.clone());
    host.service.began().await;
    let second = host.post(&fields, &call).await;
    assert_eq!((second.status, &second.json()["error"]["code"]), (400, &json!(-32600)));
    // Without a session, calls with the same id are unrelated.
    let other = start(LEGACY.to_owned());
    host.service.began().await;
    host.service.release();
    host.service.release();
    for waiting in [first, other] {
        let answer = waiting.await.expect("waiting call should not panic").json();
        assert_eq!(answer["result"]["structuredContent"]["name"], "x");
    }
}
