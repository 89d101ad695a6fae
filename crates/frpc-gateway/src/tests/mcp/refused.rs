//! Tests of requests that are rejected before a call.

use super::support::{ACCEPT, Host, LEGACY, all, modern, request};
use frpc_gateway::{Gateway, Http};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const JSON: &str = "content-type: application/json\r\n";

#[tokio::test]
async fn bad_request_has_status_and_code() {
    let host = Host::new(all());
    let ping = request(1, "ping", json!({})).to_string();
    let list = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}).to_string();
    let long = "x".repeat(300);
    for (fields, body, status, code) in [
        (LEGACY, "", 400, -32700),
        (LEGACY, "{", 400, -32700),
        (LEGACY, "\u{0}", 400, -32700),
        (LEGACY, "[]", 400, -32600),
        (LEGACY, &format!("[{ping}]"), 400, -32600),
        (LEGACY, "7", 400, -32600),
        (LEGACY, r#"{"id":1,"method":"ping"}"#, 400, -32600),
        (LEGACY, &list(Value::Null), 400, -32600),
        (LEGACY, &list(json!(long)), 400, -32600),
        (LEGACY, &list(json!({})), 400, -32600),
        ("mcp-protocol-version: 1999-01-01\r\n", &ping, 400, -32022),
        ("mcp-protocol-version: \r\n", &ping, 400, -32022),
        (LEGACY, &request(1, "tools/call", json!({"name": "count", "arguments": []})).to_string(), 200, -32602),
        (LEGACY, &request(1, "resources/list", json!({})).to_string(), 200, -32601),
        (LEGACY, &request(1, "server/tools", json!({})).to_string(), 200, -32601),
        (LEGACY, &request(1, "tools.Tools/Echo", json!({})).to_string(), 200, -32601),
        (LEGACY, &request(1, "rpc.discover", json!({})).to_string(), 200, -32601),
        (LEGACY, &request(1, "tools/call", json!({})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!({"name": 7})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!({"name": "none"})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!({"name": "echo", "arguments": []})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!({"name": "echo", "arguments": "x"})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!({"name": "shout", "arguments": {}})).to_string(), 200, -32602),
        (LEGACY, &request(1, "tools/call", json!(["echo"])).to_string(), 200, -32602),
        (LEGACY, &request(1, "server/discover", json!({})).to_string(), 400, -32602),
    ] {
        let answer = host.http("POST", "/mcp", &format!("{JSON}{ACCEPT}{fields}"), body).await;
        assert_eq!((answer.status, &answer.json()["error"]["code"]), (status, &json!(code)), "{fields}{body}");
    }
    // A response is not a request and is never replied to.
    for response in [r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#] {
        let answer = host.http("POST", "/mcp", &format!("{JSON}{ACCEPT}{LEGACY}"), response).await;
        assert_eq!((answer.status, &*answer.body), (202, ""), "{response}");
    }
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{nested}}}}}"#);
    assert_eq!(host.http("POST", "/mcp", &format!("{JSON}{ACCEPT}"), &deep).await.status, 400);
}

#[tokio::test]
async fn requests_of_2026_agree_with_their_fields() {
    let host = Host::new(all());
    let (fields, list) = modern(1, "tools/list", json!({}));
    let (of_call, call) = modern(1, "tools/call", json!({"name": "echo"}));
    let version = "mcp-protocol-version: 2026-07-28\r\n";
    let plain = request(1, "tools/list", json!({}));
    let without = |key: &str| {
        let mut list = list.clone();
        list["params"]["_meta"].as_object_mut().expect("metadata should be an object").remove(key);
        list
    };
    let mut unknown = list.clone();
    unknown["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("2099-01-01");
    let (of_initialize, initialize) = modern(1, "initialize", json!({}));
    let (of_ping, ping) = modern(1, "ping", json!({}));
    let encoded = of_call.replace("mcp-name: echo", "mcp-name: =?base64?ZWNobw==?=");
    for (fields, message, status, code) in [
        (&*fields, &list, 200, None),
        (&of_call, &call, 200, None),
        (&encoded, &call, 200, None),
        ("", &list, 400, Some(-32020)),
        (LEGACY, &list, 400, Some(-32020)),
        (version, &list, 400, Some(-32020)),
        (&fields.replace("tools/list", "TOOLS/LIST"), &list, 400, Some(-32020)),
        (&of_call.replace("echo", "put"), &call, 400, Some(-32020)),
        (&of_call.replace("echo", "=?base64?!?="), &call, 400, Some(-32020)),
        (&of_call.replace("mcp-name: echo\r\n", ""), &call, 400, Some(-32020)),
        (&fields.replace("2026-07-28", "2099-01-01"), &unknown, 400, Some(-32022)),
        (&fields, &unknown, 400, Some(-32020)),
        (&fields, &plain, 400, Some(-32602)),
        (&fields, &without("io.modelcontextprotocol/protocolVersion"), 400, Some(-32602)),
        (&fields, &without("io.modelcontextprotocol/clientCapabilities"), 400, Some(-32602)),
        (&of_initialize, &initialize, 404, Some(-32601)),
        (&of_ping, &ping, 404, Some(-32601)),
    ] {
        let answer = host.post(fields, message).await;
        let json = answer.json();
        assert_eq!((answer.status, json["error"]["code"].as_i64()), (status, code), "{fields}{message}");
        assert_eq!(json["id"], 1);
    }
    let answer = host.post(&fields.replace("2026-07-28", "2099-01-01"), &unknown).await.json();
    let data = json!({"supported": ["2026-07-28", "2025-11-25", "2025-06-18"], "requested": "2099-01-01"});
    assert_eq!(answer["error"]["data"], data);
}

#[tokio::test]
async fn endpoint_accepts_only_allowed_json_posts() {
    let host =
        Host::with(Gateway::new().http(Http::new().origin("https://app.example.com")).mcp(all()), |builder| builder);
    let ping = request(1, "ping", json!({})).to_string();
    for (method, fields, status) in [
        ("POST", format!("{JSON}{ACCEPT}"), 200),
        ("POST", format!("{JSON}accept: */*\r\n"), 200),
        ("POST", format!("{JSON}{ACCEPT}origin: https://app.example.com\r\n"), 200),
        ("POST", format!("{JSON}{ACCEPT}host: localhost:8080\r\n"), 200),
        ("POST", JSON.to_owned(), 406),
        ("POST", format!("{JSON}accept: application/json\r\n"), 406),
        ("POST", format!("{JSON}accept: text/event-stream\r\n"), 406),
        ("POST", ACCEPT.to_owned(), 415),
        ("POST", format!("content-type: text/plain\r\n{ACCEPT}"), 415),
        ("POST", format!("{JSON}{ACCEPT}origin: https://evil.example\r\n"), 403),
        ("POST", format!("{JSON}{ACCEPT}origin: null\r\n"), 403),
        ("POST", format!("{JSON}{ACCEPT}host: localhost:8080\r\norigin: http://localhost:8080\r\n"), 200),
        ("POST", format!("{JSON}{ACCEPT}host: localhost:8080\r\norigin: http://localhost:8081\r\n"), 403),
        ("POST", format!("{JSON}{ACCEPT}sec-fetch-site: cross-site\r\n"), 403),
        ("POST", format!("{JSON}{ACCEPT}host: evil.example\r\n"), 403),
        ("POST", format!("{JSON}{ACCEPT}mcp-session-id: a\r\nmcp-session-id: b\r\n"), 400),
        ("GET", ACCEPT.to_owned(), 405),
        ("DELETE", ACCEPT.to_owned(), 405),
    ] {
        let body = if method == "POST" { &*ping } else { "" };
        let answer = host.http(method, "/mcp", &fields, body).await;
        assert_eq!(answer.status, status, "{method} {fields}{answer:?}");
    }
    let (fields, body) = (format!("{JSON}{ACCEPT}"), "x".repeat(6 * 1024 * 1024));
    assert_eq!(host.http("POST", "/mcp", &fields, &body).await.status, 413);
    assert_eq!(
        Host::with(Gateway::new().http(Http::new()), |builder| builder)
            .http("POST", "/mcp", &fields, &ping)
            .await
            .status,
        404
    );
}

/// Regression test: a compressed message of some kilobytes inflated to megabytes, which were not charged until the end
/// of the body.
#[tokio::test]
async fn message_inflating_beyond_memory_is_rejected() {
    let host = Host::with(Gateway::new().http(Http::new().grpc()), |builder| builder.memory_max(1 << 20));
    let message = crate::gzip::deflate(&[&br#"{"number":1}"#[..], &vec![b' '; 3 << 20]].concat());
    let length = u32::try_from(message.len()).expect("message length should fit in u32");
    let body = [&[1][..], &length.to_be_bytes(), &message].concat();
    let fields = "content-type: application/grpc-web+json\r\ngrpc-encoding: gzip\r\nconnection: close\r\n";
    let head = format!(
        "POST /tools.Tools/Count HTTP/1.1\r\nhost: localhost\r\n{fields}content-length: {}\r\n\r\n",
        body.len()
    );
    let mut io = host.connect();
    io.write_all(&[head.as_bytes(), &body].concat()).await.expect("server should accept the request");
    let mut response = Vec::new();
    io.read_to_end(&mut response).await.expect("server should close the connection cleanly");
    let response = String::from_utf8_lossy(&response);
    assert!(response.contains("grpc-status: 8"), "{response}");
}
