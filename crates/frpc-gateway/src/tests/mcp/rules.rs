//! Tests of tools on servers with access rules.

use super::support::{Host, LEGACY, Lines, all, modern, request};
use frpc_access::{Access, TokenError, Tokens, Who};
use frpc_access::{Principal, Proof};
use frpc_gateway::{Gateway, Mcp};
use serde_json::{Value, json};

/// Accepts the tokens `clerk` and `guest`.
struct Names;

impl Tokens for Names {
    fn verify(&self, token: &str) -> Result<Principal, TokenError> {
        match token {
            "clerk" | "guest" => {
                Ok(Principal::new(token, Proof::Token { issuer: "tests".to_owned() }).with_role(token))
            }
            _ => Err(TokenError::Refused("forged".to_owned())),
        }
    }
}

fn host(mcp: Mcp) -> Host {
    let rules = Access::new()
        .tokens(Names)
        .allow(["tools.Tools/Put", "tools.Tools/Count"], Who::role("clerk"))
        .allow(["tools.Tools/Text"], Who::known());
    Host::with(Gateway::new().mcp(mcp), |builder| builder.access(rules))
}

fn bearer(token: &str) -> String {
    format!("{LEGACY}authorization: Bearer {token}\r\n")
}

#[tokio::test]
async fn list_contains_only_permitted_tools() {
    let host = host(all().page_max(1));
    let list = request(1, "tools/list", json!({}));
    let names = |answer: &Value| {
        let tools = answer["result"]["tools"].as_array().expect("list should have tools");
        tools.iter().map(|tool| tool["name"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    let first = host.post(&bearer("clerk"), &list).await.json();
    assert_eq!(names(&first), ["put"]);
    let rest = request(1, "tools/list", json!({"cursor": first["result"]["nextCursor"]}));
    assert_eq!(names(&host.post(&bearer("clerk"), &rest).await.json()), ["count"]);
    let only = host.post(&bearer("guest"), &list).await.json();
    assert_eq!(names(&only), ["text"]);
    assert_eq!(only["result"].get("nextCursor"), None);
}

#[tokio::test]
async fn denied_tool_call_fails() {
    let host = host(all());
    for (tool, arguments) in [("put", json!({})), ("count", json!({"number": 2})), ("echo", json!({}))] {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 1}});
        let answer = host.post(&bearer("guest"), &request(1, "tools/call", params)).await;
        let result = &answer.json()["result"];
        assert_eq!((answer.status, &result["isError"]), (200, &json!(true)), "{tool}");
        assert_eq!(result["_meta"]["frpc/status"]["status"], "PERMISSION_DENIED", "{tool}");
    }
    let params = json!({"name": "put", "arguments": {"name": "x"}});
    let answer = host.post(&bearer("clerk"), &request(1, "tools/call", params)).await.json();
    assert_eq!(answer["result"]["structuredContent"]["name"], "x");
}

#[tokio::test]
async fn unknown_caller_gets_authorization_challenge() {
    let host = host(all().protected_by("https://api.example.com/mcp", ["https://login.example.com"], ["tools"]));
    let put = json!({"name": "put"});
    let count = json!({"name": "count", "arguments": {"number": 2}, "_meta": {"progressToken": 1}});
    for message in [request(1, "tools/list", json!({})), request(1, "tools/call", put), request(1, "tools/call", count)]
    {
        for fields in [LEGACY.to_owned(), bearer("forged")] {
            let answer = host.post(&fields, &message).await;
            assert_eq!(answer.status, 401, "{answer:?}");
            let challenge = "bearer resource_metadata=\"https://api.example.com/.well-known/oauth-protected-resource/mcp\", scope=\"tools\"";
            assert_eq!(answer.field("www-authenticate"), Some(challenge));
        }
    }
    assert_eq!(host.post(LEGACY, &request(1, "initialize", json!({}))).await.status, 200);
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let document = json!({
            "resource": "https://api.example.com/mcp",
            "authorization_servers": ["https://login.example.com"],
            "bearer_methods_supported": ["header"],
            "scopes_supported": ["tools"],
        });
        assert_eq!(host.http("GET", path, "", "").await.json(), document);
        assert_eq!(host.http("POST", path, "", "").await.status, 405);
    }
    let other = host.http("GET", "/.well-known/oauth-protected-resource/other", "", "").await;
    assert_eq!(other.status, 404);
}

/// Regression test: `initialize`, `ping` and notifications ignored tokens, and a valid token in the body replaced an
/// invalid one in the header.
#[tokio::test]
async fn invalid_token_is_401_at_every_method() {
    let host = host(all());
    let (of_discover, discover) = modern(1, "server/discover", json!({}));
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let messages =
        ["initialize", "ping", "tools/list"].map(|method| (LEGACY.to_owned(), request(1, method, json!({}))));
    let others = [(of_discover, discover), (LEGACY.to_owned(), initialized)];
    for (fields, message) in messages.into_iter().chain(others) {
        for (header, member, status) in [
            ("", None, None),
            ("forged", None, Some(401)),
            ("", Some("forged"), Some(401)),
            ("forged", Some("clerk"), Some(401)),
            ("clerk", Some("forged"), Some(401)),
            ("clerk", Some("guest"), Some(401)),
            ("clerk", Some("clerk"), None),
            ("clerk", None, None),
        ] {
            let mut message = message.clone();
            if let Some(token) = member {
                message["metadata"] = json!({"authorization": format!("Bearer {token}")});
            }
            let field = if header.is_empty() { String::new() } else { format!("authorization: Bearer {header}\r\n") };
            let answer = host.post(&format!("{fields}{field}"), &message).await;
            let is_notification = message.get("id").is_none();
            let is_list = message["method"] == "tools/list";
            let expected = match status {
                // Metadata of a notification has no effect.
                Some(_) if is_notification && header != "forged" => 202,
                Some(status) => status,
                None if is_notification => 202,
                None if is_list && header.is_empty() => 401,
                None => 200,
            };
            assert_eq!(answer.status, expected, "{message} with {header:?}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn line_caller_is_identified_by_request_metadata() {
    let mut lines = Lines::new(&host(all()));
    let mut list = request(1, "tools/list", json!({}));
    lines.send(&list).await;
    assert_eq!(lines.next().await["error"]["data"]["status"], "UNAUTHENTICATED");
    list["metadata"] = json!({"authorization": "Bearer guest"});
    lines.send(&list).await;
    assert_eq!(lines.next().await["result"]["tools"][0]["name"], "text");
    let mut call = request(2, "tools/call", json!({"name": "text"}));
    call["metadata"] = list["metadata"].clone();
    lines.send(&call).await;
    assert_eq!(lines.next().await["result"]["isError"], false);
    call["metadata"] = json!({"A": "x"});
    lines.send(&call).await;
    assert_eq!(lines.next().await["error"]["code"], -32600);
}

#[tokio::test]
async fn refused_token_counts_once_for_list() {
    let mut lines = Lines::new(&host(all()));
    let mut list = request(1, "tools/list", json!({}));
    list["metadata"] = json!({"authorization": "Bearer nobody"});
    // Send one invalid token fewer than would suspend verification for this client. If a token counted twice,
    // verification would be suspended.
    for _ in 0..15 {
        lines.send(&list).await;
        assert_eq!(lines.next().await["error"]["data"]["status"], "UNAUTHENTICATED");
    }
    list["metadata"] = json!({"authorization": "Bearer guest"});
    lines.send(&list).await;
    assert_eq!(lines.next().await["result"]["tools"][0]["name"], "text");
}
