//! Tests of the start of a conversation, and of the list of tools.

use super::support::{Host, LEGACY, all, modern, request};
use frpc_gateway::Mcp;
use serde_json::{Value, json};

fn tool<'a>(list: &'a Value, name: &str) -> &'a Value {
    let tools = list["tools"].as_array().expect("list should have tools");
    tools.iter().find(|tool| tool["name"] == name).expect("tool should be listed")
}

fn names(list: &Value) -> Vec<&str> {
    list["tools"].as_array().expect("list should have tools").iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn initialize_states_server_and_version() {
    let host = Host::new(all().server("shop", "7").instructions("Ask first."));
    for (asked, expected) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("", "2025-11-25"),
    ] {
        let answer = host.post("", &request(0, "initialize", json!({"protocolVersion": asked}))).await;
        let result = json!({
            "protocolVersion": expected,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "shop", "version": "7"},
            "instructions": "Ask first.",
        });
        assert_eq!(answer.json()["result"], result, "{asked}");
        let session = answer.field("mcp-session-id").expect("response should have a session id");
        assert!(session.len() == 32 && session.bytes().all(|byte| byte.is_ascii_hexdigit()), "{session}");
    }
    // The version is negotiated by the params, whatever the header field states.
    for field in ["mcp-protocol-version: 2099-01-01\r\n", "mcp-protocol-version: 2026-07-28\r\n", LEGACY] {
        let answer = host.post(field, &request(0, "initialize", json!({"protocolVersion": "2025-06-18"}))).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], "2025-06-18", "{field}");
    }
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let answer = host.post(LEGACY, &initialized).await;
    assert_eq!((answer.status, answer.body.as_str()), (202, ""));
    assert_eq!(host.result("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn discover_states_versions_and_identity() {
    let host = Host::new(all().server("shop", "7"));
    let (fields, message) = modern(1, "server/discover", json!({}));
    let answer = host.post(&fields, &message).await;
    let result = &answer.json()["result"];
    assert_eq!(result["supportedVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18"]));
    assert_eq!((&result["resultType"], &result["cacheScope"]), (&json!("complete"), &json!("private")));
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"], json!({"name": "shop", "version": "7"}));
    assert_eq!(answer.field("mcp-session-id"), None);
}

#[tokio::test]
async fn server_without_chosen_methods_has_no_tools() {
    let host = Host::new(Mcp::new());
    assert_eq!(host.result("tools/list", json!({})).await, json!({"tools": []}));
    let call = request(1, "tools/call", json!({"name": "tools_Tools_Echo", "arguments": {}}));
    assert_eq!(host.post(LEGACY, &call).await.json()["error"]["code"], -32602);
    let wrong = Host::new(Mcp::new().service("tools.Tool").method("tools.Tools/Chat").method("tools.Tools/echo"));
    assert_eq!(wrong.result("tools/list", json!({})).await, json!({"tools": []}));
}

#[tokio::test]
async fn service_exposes_each_eligible_method() {
    let host = Host::new(Mcp::new().method("tools.Tools/Put").service("tools.Tools"));
    let list = host.result("tools/list", json!({})).await;
    let methods = ["Put", "Echo", "Fail", "Wait", "Count", "Text", "Shout"];
    assert_eq!(names(&list), methods.map(|method| format!("tools_Tools_{method}")));
}

#[tokio::test]
async fn schema_marked_methods_become_tools_on_request() {
    let tools = async |mcp: Mcp| {
        let host = Host::new(mcp);
        let list = host.result("tools/list", json!({})).await;
        names(&list).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let marked = ["tools_Tools_Echo", "tools_Tools_Count", "tools_Shelf_Look"];
    assert_eq!(tools(Mcp::new().marked()).await, marked);
    assert_eq!(tools(Mcp::new().marked().method_as("tools.Shelf/Clear", "clear")).await[3..], ["clear"]);
    assert_eq!(tools(Mcp::new().except("tools.Tools/Count").marked()).await, [marked[0], marked[2]]);
    assert_eq!(tools(Mcp::new().marked().service("tools.Shelf").except("tools.Shelf")).await, marked[..2]);

    let host = Host::new(Mcp::new().marked());
    assert_eq!(host.call("tools_Shelf_Look", json!({"name": "x"})).await["structuredContent"], json!({"name": "x"}));
    let call = request(1, "tools/call", json!({"name": "tools_Shelf_Clear", "arguments": {}}));
    assert_eq!(host.post(LEGACY, &call).await.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn unknown_exception_name_leaves_no_tools() {
    for wrong in ["tools.Tool", "tools.Tools/echo", "tools.Tools/", "tools.Tools.Echo", ""] {
        let host = Host::new(Mcp::new().marked().service("tools.Tools").except(wrong));
        assert_eq!(host.result("tools/list", json!({})).await, json!({"tools": []}), "{wrong}");
    }
}

#[tokio::test]
async fn tool_has_comment_schemas_and_annotations() {
    let list = Host::new(all()).result("tools/list", json!({})).await;
    let echo = tool(&list, "echo");
    assert_eq!(echo["description"], "Returns its request.");
    assert_eq!(tool(&list, "fail")["description"], "Calls tools.Tools/Fail.");
    let hints = |name| {
        let annotations = &tool(&list, name)["annotations"];
        ["readOnlyHint", "destructiveHint", "idempotentHint"]
            .map(|hint| annotations[hint].as_bool().expect("annotation should be a flag"))
    };
    assert_eq!(hints("echo"), [true, false, true]);
    assert_eq!(hints("put"), [false, true, true]);
    assert_eq!(hints("fail"), [false, true, false]);
    let input = &echo["inputSchema"];
    assert_eq!((&input["type"], &input["description"]), (&json!("object"), &json!("A \"node\".")));
    // Some model APIs reject `allOf` at the root.
    assert_eq!(input.get("allOf"), None);
    let children = json!({"type": "array", "items": {"$ref": "#/$defs/tools.Node"}, "description": "Nodes below."});
    assert_eq!(input["properties"]["children"], children);
    assert_eq!(input["properties"]["kind"], json!({"$ref": "#/$defs/tools.Kind"}));
    let definitions: Vec<_> = input["$defs"].as_object().expect("schema should have definitions").keys().collect();
    assert_eq!(definitions, ["tools.Kind", "tools.Node"]);
    assert_eq!(echo["outputSchema"], *input);
    assert_eq!(tool(&list, "shout")["inputSchema"]["required"], json!(["value"]));
    assert_eq!(tool(&list, "count")["inputSchema"]["required"], json!(["number"]));
    assert_eq!(
        tool(&list, "put")["outputSchema"].get("required"),
        None,
        "schema of the result should not require default fields"
    );
    assert_eq!(tool(&list, "text")["outputSchema"]["properties"]["value"], json!({"type": "string"}));
    let items = &tool(&list, "count")["outputSchema"]["properties"]["items"];
    assert_eq!(items["items"]["properties"]["number"]["type"], "integer");
}

#[tokio::test]
async fn long_list_comes_in_pages() {
    let host = Host::new(all().page_max(3));
    let mut cursor = None;
    let mut pages = Vec::new();
    loop {
        let params = cursor.map_or(json!({}), |cursor: Value| json!({"cursor": cursor}));
        let mut page = host.result("tools/list", params).await;
        pages.push(names(&page).join(" "));
        cursor = page.get_mut("nextCursor").map(Value::take);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(pages, ["echo put fail", "wait count text", "shout"]);
    for wrong in ["8", "-1", "x", "99999999999999999999"] {
        let answer = host.post(LEGACY, &request(1, "tools/list", json!({"cursor": wrong}))).await;
        assert_eq!(answer.json()["error"]["code"], -32602, "{wrong}");
    }
}

#[tokio::test]
async fn list_of_2026_has_hints_for_caches() {
    let (fields, message) = modern(1, "tools/list", json!({}));
    let result = Host::new(all()).post(&fields, &message).await.json()["result"].take();
    assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(300_000), &json!("private")));
    assert_eq!(result["resultType"], "complete");
    assert_eq!(names(&result).len(), 7);
}
