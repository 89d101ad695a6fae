//! Messages in lines, as programs send them over standard input and output.

use super::support::{Host, Lines, all, modern, request};
use frpc_gateway::Gateway;
use serde_json::json;

#[tokio::test]
async fn conversation_in_lines_has_the_same_replies() {
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
async fn cancelled_call_in_lines_ends_without_a_reply() {
    let host = Host::new(all());
    let mut lines = Lines::new(&host);
    lines.send(&request(1, "tools/call", json!({"name": "wait"}))).await;
    host.service.began().await;
    lines.send(&request(1, "tools/call", json!({"name": "wait"}))).await;
    assert_eq!(lines.next().await["error"]["code"], -32600);
    lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}})).await;
    host.service.ended().await;
    lines.send(&request(2, "ping", json!({}))).await;
    assert_eq!(lines.next().await["id"], 2);
}

#[tokio::test]
async fn bad_messages_in_lines_have_a_code() {
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
async fn methods_are_called_with_tools_if_json_rpc_is_enabled() {
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
