//! Tests of JSON-RPC 2.0 over separate connections.

use crate::gateway::support::{Client, Closed, TIMEOUT, server};
use frisbee_tests::gated::Gated;
use frisbee_tests::hoard::Hoard;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::until;
use frpc::{Acceptor, Call, CloseKind, Config, Next, Policy, Server};
use frpc_gateway::{Gateway, ServeGateway};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn open() -> Acceptor {
    server(Gateway::new().json_rpc(), |builder| builder)
}

fn add(id: impl Into<Value>, a: i64, b: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "method": "interop.Interop/Add", "params": {"a": a, "b": b}})
}

fn sum(id: impl Into<Value>, total: i64) -> Value {
    json!({"jsonrpc": "2.0", "id": id.into(), "result": {"total": total.to_string(), "count": "2"}})
}

/// Returns the code and the id of an error reply.
fn error(reply: &Value) -> (i64, Value) {
    (reply["error"]["code"].as_i64().expect("reply should be an error"), reply["id"].clone())
}

/// Sends a message and returns its only reply.
async fn answer(server: &Acceptor, message: impl AsRef<[u8]>) -> Value {
    let mut client = Client::new(server);
    client.say(message).await;
    let reply = client.json().await;
    client.end().await;
    assert_eq!(client.rest().await, Vec::<String>::new());
    reply
}

#[tokio::test]
async fn methods_accept_all_name_and_param_forms() {
    let mut client = Client::new(&open());
    for method in ["interop.Interop/Add", "interop.Interop.Add"] {
        for params in [r#"{"a":1,"b":"41"}"#, "[1,41]", r#" [ "1" , 41 ] "#] {
            client.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)).await;
            assert_eq!(client.line().await, r#"{"jsonrpc":"2.0","id":1,"result":{"total":"42","count":"2"}}"#);
        }
    }
    for absent in ["", r#","params":null"#, r#","params":{}"#, r#","params":[]"#] {
        client.say(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add"{absent}}}"#)).await;
        assert_eq!(client.json().await, json!({"jsonrpc": "2.0", "id": 1, "result": {"count": "2"}}));
    }
}

#[tokio::test]
async fn split_messages_without_separators_are_decoded() {
    let server = open();
    let messages = [add(1, 1, 1).to_string(), add(2, 2, 2).to_string(), json!([add(3, 3, 3)]).to_string()];
    let expected = [sum(1, 2), sum(2, 4), json!([sum(3, 6)])];
    for separator in ["", "\n", "\r\n \t"] {
        let text = messages.join(separator);
        for cut in 1..text.len() {
            let mut client = Client::new(&server);
            client.say(&text[..cut]).await;
            tokio::task::yield_now().await;
            client.say(&text[cut..]).await;
            for expected in &expected {
                assert_eq!(client.json().await, *expected, "cut at {cut} of {text}");
            }
        }
        let mut client = Client::with_room(&server, 1);
        client.say(&text).await;
        for expected in &expected {
            assert_eq!(client.json().await, *expected, "input that arrives byte by byte should have the same result");
        }
    }
}

#[tokio::test]
async fn json_rpc_ids_are_echoed_verbatim() {
    let mut client = Client::new(&open());
    let long = "9".repeat(10_000);
    let text = format!("\"{}\"", "x".repeat(10_000));
    for id in ["0", "-7", "1.50", "1e400", "null", &long, r#""""#, r#""\u0041\"\n""#, "\"é\"", &text] {
        client.say(format!(r#"{{"jsonrpc":"2.0","method":"interop.Interop/DoNothing","id":{id}}}"#)).await;
        assert_eq!(client.line().await, format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
}

#[tokio::test]
async fn standard_json_rpc_errors_have_codes() {
    let server = open();
    let method = |method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"method":"interop.Interop/{method}","params":{params}}}"#)
    };
    for (message, code, id) in [
        (method("Add", "{\"a\":tru}"), -32700, Value::Null),
        (method("Nothing", "{\"a\":tru}"), -32700, Value::Null),
        ("{\"a\":1]".to_owned(), -32700, Value::Null),
        ("{}".to_owned(), -32600, Value::Null),
        (r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#.to_owned(), -32600, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"interop.Interop/DoNothing"}"#.to_owned(), -32600, Value::Null),
        (method("Add", "7"), -32600, json!(7)),
        ("[]".to_owned(), -32600, Value::Null),
        (method("Nothing", "{}"), -32601, json!(7)),
        (r#"{"jsonrpc":"2.0","id":7,"method":"rpc.nothing"}"#.to_owned(), -32601, json!(7)),
        (method("Add", "{\"a\":true}"), -32602, json!(7)),
        (method("Add", "{\"c\":1}"), -32602, json!(7)),
        (method("Add", "[1,2,3]"), -32602, json!(7)),
    ] {
        assert_eq!(error(&answer(&server, &message).await), (code, id), "{message}");
    }
    let failed = answer(&server, method("Fail", "[\"too \\\"late\\\"\"]")).await;
    let expected = json!({"code": -32002, "message": "too \"late\"", "data": {"status": "UNKNOWN"}});
    assert_eq!(failed["error"], expected);
}

#[tokio::test]
async fn connection_survives_rejected_message_not_invalid_json() {
    let mut client = Client::new(&open());
    client.say(format!("{{\"a\":tru}} {{}} {}", add(1, 1, 1))).await;
    assert_eq!(error(&client.json().await).0, -32700);
    assert_eq!(error(&client.json().await).0, -32600);
    assert_eq!(client.json().await, sum(1, 2));
    client.say(format!("}} {}", add(2, 2, 2))).await;
    assert_eq!(error(&client.json().await), (-32700, Value::Null));
    assert_eq!(client.rest().await, Vec::<String>::new());
    assert_eq!(client.closed().await.kind(), CloseKind::OtherProtocol);
}

#[tokio::test]
async fn notifications_run_and_never_get_replies() {
    let mut client = Client::new(&open());
    for (method, params) in
        [("Add", "[1,2]"), ("Add", "[1,2,3]"), ("Fail", "[\"x\"]"), ("Nothing", "{}"), ("Sleep", "[1]")]
    {
        client.say(format!(r#"{{"jsonrpc":"2.0","method":"interop.Interop/{method}","params":{params}}}"#)).await;
    }
    client.say(json!([{"jsonrpc": "2.0", "method": "interop.Interop/DoNothing"}]).to_string()).await;
    client.say(add(1, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(1, 2));
    client.end().await;
    assert_eq!(client.rest().await, Vec::<String>::new());
}

/// Regression: the server answered responses with errors, so two servers that were connected exchanged errors forever.
#[tokio::test]
async fn response_is_never_answered() {
    let mut client = Client::new(&open());
    let failed = json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32600, "message": "no request"}});
    for response in [sum(1, 2), failed.clone(), json!([sum(2, 3), failed])] {
        client.say(response.to_string()).await;
    }
    client.say(json!([sum(1, 2), add(2, 1, 1)]).to_string()).await;
    assert_eq!(client.json().await, json!([sum(2, 2)]));
    client.say(add(1, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(1, 2));
    client.end().await;
    assert_eq!(client.rest().await, Vec::<String>::new());
}

#[tokio::test]
async fn batch_gets_one_answer_with_all_replies() {
    let slow = json!({"jsonrpc": "2.0", "id": "slow", "method": "interop.Interop/Sleep", "params": [5]});
    let quiet = json!({"jsonrpc": "2.0", "method": "interop.Interop/Fail"});
    let batch = json!([add(1, 1, 1), 7, slow, quiet, {"jsonrpc": "2.0", "id": 2, "method": "no"}, add(3, 3, 3)]);
    let replies = answer(&open(), batch.to_string()).await;
    let replies = replies.as_array().expect("reply should be a batch");
    let ids: Vec<_> = replies.iter().map(|reply| reply["id"].clone()).collect();
    assert_eq!(ids, [json!(1), Value::Null, json!(2), json!(3), json!("slow")]);
    assert_eq!((&replies[0], error(&replies[1]).0, error(&replies[2]).0), (&sum(1, 2), -32600, -32601));
}

#[tokio::test]
async fn batch_of_invalid_json_runs_no_call() {
    let text = format!("[{},{{\"jsonrpc\": \"2.0\", \"method\"]", add(1, 1, 1));
    // Invalid JSON in which the brackets match.
    let text = text.replace("\"method\"]", "\"method\"}]");
    assert_eq!(error(&answer(&open(), text).await), (-32700, Value::Null));
}

#[tokio::test]
async fn oversized_batch_is_rejected_before_end() {
    let server = server(Gateway::new().json_rpc().batch_max(3), |builder| builder);
    let within = json!([add(1, 1, 1), add(2, 1, 1), add(3, 1, 1)]);
    assert_eq!(answer(&server, within.to_string()).await.as_array().map(Vec::len), Some(3));
    let mut client = Client::new(&server);
    client.say(format!("[{0},{0},{0},", add(1, 1, 1))).await;
    assert_eq!(error(&client.json().await), (-32600, Value::Null));
    assert_eq!(client.rest().await, Vec::<String>::new());
}

#[tokio::test]
async fn batch_replies_and_errors_share_limit() {
    let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().body_max(64 * 1024)));
    // Short requests, each of which has a reply four times as long.
    let describe = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/Describe"});
    let few: Vec<_> = (0..200).map(describe).collect();
    let replies = answer(&server, json!(few).to_string()).await;
    assert_eq!(replies.as_array().map(Vec::len), Some(200));
    // The errors that would replace the replies exceed the limit as well.
    let many: Vec<_> = (0..900).map(describe).collect();
    assert_eq!(error(&answer(&server, json!(many).to_string()).await), (-32008, Value::Null));
    // A reply that is too long is replaced by an error. The short reply after it still fits.
    let payload = "A".repeat(30_000);
    let echo = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/EchoPayload", "params": {"data": payload}});
    let mut mixed: Vec<_> = (0..220).map(describe).collect();
    mixed.extend([echo(500), describe(501)]);
    let replies = answer(&server, json!(mixed).to_string()).await;
    let replies = replies.as_array().expect("reply should be a batch");
    let (long, behind) = (&replies[220], &replies[221]);
    assert_eq!((error(long), behind.get("result").is_some()), ((-32008, json!(500)), true));
}

#[tokio::test]
async fn denying_middleware_rejects_calls_batches_and_streams() {
    let server = server(Gateway::new().json_rpc(), |builder| builder.middleware(Closed));
    assert_eq!(error(&answer(&server, add(1, 1, 1).to_string()).await), (-32007, json!(1)));
    let replies = answer(&server, json!([add(1, 1, 1), add(2, 1, 1)]).to_string()).await;
    let codes: Vec<_> =
        replies.as_array().expect("reply should be a batch").iter().map(|reply| error(reply).0).collect();
    assert_eq!(codes, [-32007, -32007]);
    for method in ["CountUp", "SumUp", "Chat"] {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": format!("interop.Interop/{method}")});
        assert_eq!(error(&answer(&server, message.to_string()).await), (-32007, json!(1)), "{method}");
    }
}

#[tokio::test]
async fn metadata_reaches_middleware_and_returns_if_requested() {
    let middleware = async |call: Call, next: Next| {
        let secret = call.metadata().get("authorization").unwrap_or_default().to_owned();
        let mut response = next.run(call).await?;
        response.metadata_mut().insert("seen", secret.as_str()).expect("metadata entry should be valid");
        Ok(response)
    };
    let server = server(Gateway::new().json_rpc(), |builder| builder.middleware(middleware));
    let mut request = add(1, 1, 1);
    assert_eq!(
        answer(&server, request.to_string()).await,
        sum(1, 2),
        "reply should have no metadata unless the request does"
    );
    request["metadata"] = json!({"authorization": "Bearer abc"});
    assert_eq!(answer(&server, request.to_string()).await["metadata"], json!({"seen": "Bearer abc"}));
    request["metadata"] = json!({"Authorization": "x"});
    assert_eq!(error(&answer(&server, request.to_string()).await).0, -32600);
}

#[tokio::test(start_paused = true)]
async fn slow_call_times_out_without_delaying_others() {
    for policy in [Policy::Inline, Policy::Concurrent] {
        let server = server(Gateway::new().json_rpc(), |builder| builder.policy(policy));
        let mut client = Client::new(&server);
        let mut sleep = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Sleep", "params": [3_600_000]});
        sleep["timeoutMs"] = json!(1000);
        client.say(sleep.to_string()).await;
        client.say(add(2, 1, 1).to_string()).await;
        assert_eq!(client.json().await, sum(2, 2));
        assert_eq!(error(&client.json().await), (-32004, json!(1)));
    }
}

#[tokio::test]
async fn calls_over_connection_limit_are_rejected() {
    let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().calls_max(2)));
    let mut client = Client::new(&server);
    for id in 0..3 {
        let sleep = json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/Sleep", "params": [3_600_000]});
        client.say(sleep.to_string()).await;
    }
    assert_eq!(error(&client.json().await), (-32008, json!(2)));
    client.say(json!({"jsonrpc": "2.0", "method": "rpc.cancel", "params": {"id": 0}}).to_string()).await;
    assert_eq!(error(&client.json().await), (-32001, json!(0)));
}

fn notice(method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()
}

fn item(id: u32, item: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": "rpc.item", "params": {"id": id, "item": item}})
}

#[tokio::test]
async fn stream_sends_items_then_final_reply() {
    let mut client = Client::new(&open());
    let count = |id: u32, from: i64, count: i64| {
        json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/CountUp", "params": [from, count]}).to_string()
    };
    client.say(count(1, 7, 40)).await;
    for value in 7..47 {
        assert_eq!(client.json().await, item(1, &json!({"value": value.to_string()})));
    }
    assert_eq!(client.json().await, json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    client.say(count(2, 1, -1)).await;
    assert_eq!(client.json().await, item(2, &json!({"value": "1"})));
    assert_eq!(client.json().await, item(2, &json!({"value": "2"})));
    assert_eq!(error(&client.json().await), (-32011, json!(2)));
}

#[tokio::test]
async fn stream_items_stop_at_client_credit() {
    let mut client = Client::new(&open());
    let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/CountUp", "params": [1, 5]});
    request["credit"] = json!(2);
    client.say(request.to_string()).await;
    assert_eq!(client.json().await, item(1, &json!({"value": "1"})));
    assert_eq!(client.json().await, item(1, &json!({"value": "2"})));
    // The stream has used up its credit, but other calls continue.
    client.say(add(2, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(2, 2));
    client.say(notice("rpc.credit", &json!({"id": 1, "items": 3}))).await;
    for value in ["3", "4", "5"] {
        assert_eq!(client.json().await, item(1, &json!({"value": value})));
    }
    assert_eq!(client.json().await["result"], Value::Null);
}

#[tokio::test]
async fn client_items_reach_handler_and_renew_credit() {
    let mut client = Client::new(&open());
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/SumUp"}).to_string()).await;
    let mut granted = 16;
    for value in 1..=100 {
        if granted == 0 {
            let credit = client.json().await;
            assert_eq!((&credit["method"], &credit["params"]["id"]), (&json!("rpc.credit"), &json!(1)));
            granted += credit["params"]["items"].as_u64().expect("text should be a number");
        }
        granted -= 1;
        client.say(notice("rpc.item", &json!({"id": 1, "item": {"value": value}}))).await;
    }
    client.say(notice("rpc.end", &json!({"id": 1}))).await;
    let reply = loop {
        let reply = client.json().await;
        if reply.get("method").is_none() {
            break reply;
        }
    };
    assert_eq!(reply["result"], json!({"total": "5050", "count": "100"}));
}

#[tokio::test]
async fn bidirectional_stream_runs_until_both_directions_end() {
    let mut client = Client::new(&open());
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Chat", "params": []}).to_string()).await;
    for word in ["a", "b"] {
        client.say(notice("rpc.item", &json!({"id": 1, "item": {"value": word}}))).await;
        assert_eq!(client.json().await, item(1, &json!({"value": format!("re:{word}")})));
    }
    client.say(notice("rpc.end", &json!({"id": 1}))).await;
    assert_eq!(client.json().await, json!({"jsonrpc": "2.0", "id": 1, "result": null}));
    // The call has ended, so later items are ignored.
    client.say(notice("rpc.item", &json!({"id": 1, "item": {"value": "late"}}))).await;
    client.say(add(2, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(2, 2));
}

/// Opens a stream whose handler reads no items because it waits for a permit that is never granted.
async fn open_sleeping(client: &mut Client) {
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Chat"}).to_string()).await;
}

#[tokio::test]
async fn items_beyond_credit_end_only_their_stream() {
    let mut client = Client::new(&open());
    open_sleeping(&mut client).await;
    // A single write sends all items, so that the handler cannot read any of them in between.
    let items: String = (0..17).map(|_| notice("rpc.item", &json!({"id": 1, "item": {"value": "x"}}))).collect();
    client.say(items).await;
    let reply = loop {
        let reply = client.json().await;
        if reply.get("method").is_none() {
            break reply;
        }
    };
    assert_eq!(error(&reply), (-32008, json!(1)));
    client.say(add(2, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(2, 2));
}

#[tokio::test]
async fn cancelled_calls_and_streams_reply_cancelled() {
    let mut client = Client::new(&open());
    let sleep = json!({"jsonrpc": "2.0", "id": "a", "method": "interop.Interop/Sleep", "params": [3_600_000]});
    client.say(sleep.to_string()).await;
    open_sleeping(&mut client).await;
    for id in [json!("a"), json!(1)] {
        client.say(notice("rpc.cancel", &json!({"id": id}))).await;
        assert_eq!(error(&client.json().await), (-32001, id));
    }
    client.say(notice("rpc.cancel", &json!({"id": 9}))).await;
    client.say(add(2, 1, 1).to_string()).await;
    assert_eq!(client.json().await, sum(2, 2));
}

#[tokio::test]
async fn invalid_or_excess_streams_are_rejected() {
    let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().streams_max(1)));
    let chat = |id: Value| json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/Chat"});
    assert_eq!(error(&answer(&server, chat(Value::Null).to_string()).await).0, -32601);
    let batch = answer(&server, json!([chat(json!(1))]).to_string()).await;
    assert_eq!(error(&batch[0]).0, -32601);
    let mut client = Client::new(&server);
    client.say(chat(json!(1)).to_string()).await;
    client.say(chat(json!(1)).to_string()).await;
    assert_eq!(error(&client.json().await), (-32006, json!(1)));
    client.say(chat(json!(2)).to_string()).await;
    assert_eq!(error(&client.json().await), (-32008, json!(2)));
    let mut with_params = chat(json!(3));
    with_params["params"] = json!({"value": "x"});
    client.say(notice("rpc.cancel", &json!({"id": 1}))).await;
    assert_eq!(error(&client.json().await), (-32001, json!(1)));
    client.say(with_params.to_string()).await;
    assert_eq!(error(&client.json().await), (-32602, json!(3)));
}

#[tokio::test]
async fn stop_answers_2000_pending_calls_then_closes() {
    let gated = Gated::shut();
    let server = Server::builder().add_service(InteropServer::new(gated.clone())).gateway(Gateway::new().json_rpc());
    let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(server.serve_with_shutdown(async {
        let _ = stopped.await;
    }));
    let mut socket = tokio::net::TcpStream::connect(address).await.expect("server should be listening");
    let sleeps: String = (0..2000)
        .map(|id| json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/Sleep", "params": [300]}).to_string())
        .collect();
    tokio::io::AsyncWriteExt::write_all(&mut socket, sleeps.as_bytes()).await.expect("server should read the request");
    tokio::io::AsyncWriteExt::write_all(&mut socket, add("last", 1, 1).to_string().as_bytes())
        .await
        .expect("server should read the request");
    let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(socket));
    // The last call returns immediately. Its reply shows that all calls before it have started.
    let first = lines.next_line().await.expect("line should be readable").expect("call should succeed");
    assert_eq!(serde_json::from_str::<Value>(&first).expect("text should be valid JSON"), sum("last", 2));
    stop.send(()).expect("receiver should be waiting");
    tokio::task::yield_now().await;
    gated.open();
    let mut ids = std::collections::BTreeSet::new();
    while let Some(line) = tokio::time::timeout(TIMEOUT, lines.next_line())
        .await
        .expect("read should complete within the timeout")
        .expect("connection should be open")
    {
        let reply: Value = serde_json::from_str(&line).expect("text should be valid JSON");
        assert!(reply.get("result").is_some(), "{reply}");
        ids.insert(reply["id"].as_u64().expect("text should be a number"));
    }
    assert_eq!(ids.len(), 2000);
    drop(lines);
    tokio::time::timeout(TIMEOUT, serving)
        .await
        .expect("server should stop within the timeout")
        .expect("task should not panic")
        .expect("connection should end regularly");
}

#[tokio::test(start_paused = true)]
async fn stop_closes_idle_and_busy_connections() {
    let gated = Gated::shut();
    let builder = Server::builder().add_service(InteropServer::new(gated.clone()));
    let server = builder.gateway(Gateway::new().json_rpc()).build().expect("settings should be valid");
    let (mut idle, mut busy) = (Client::new(&server), Client::new(&server));
    idle.say(add(1, 1, 1).to_string()).await;
    assert_eq!(idle.json().await, sum(1, 2));
    let sleep = json!({"jsonrpc": "2.0", "id": 2, "method": "interop.Interop/Sleep", "params": [1]});
    busy.say(sleep.to_string() + &add(1, 1, 1).to_string()).await;
    assert_eq!(busy.json().await, sum(1, 2), "first request should be processed before this one");
    let started = tokio::time::Instant::now();
    let stopping = tokio::spawn(async move { server.shutdown().await });
    assert_eq!(idle.rest().await, Vec::<String>::new());
    gated.open();
    assert_eq!(busy.rest().await.len(), 1, "connection should return a reply");
    drop((idle, busy));
    stopping.await.expect("task should not panic");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
}

#[tokio::test]
async fn half_closed_client_gets_pending_replies() {
    let mut client = Client::new(&open());
    for id in 0..3 {
        let sleep = json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/Sleep", "params": [5]});
        client.say(sleep.to_string()).await;
    }
    client.end().await;
    assert_eq!(client.rest().await.len(), 3);
    assert_eq!(client.closed().await.kind(), CloseKind::OtherProtocol);
}

#[tokio::test]
async fn stream_fails_when_client_half_closes_connection() {
    for method in ["SumUp", "Chat"] {
        let mut client = Client::new(&open());
        let open = json!({"jsonrpc": "2.0", "id": 1, "method": format!("interop.Interop/{method}")});
        client.say(open.to_string()).await;
        client.say(notice("rpc.item", &json!({"id": 1, "item": {}}))).await;
        client.end().await;
        let last = client.rest().await.pop().expect("call should succeed");
        assert_eq!(
            error(&serde_json::from_str(&last).expect("text should be valid JSON")),
            (-32001, json!(1)),
            "{method}"
        );
    }
}

mod hostile {
    use super::*;

    #[tokio::test]
    async fn endless_brackets_are_rejected_while_arriving() {
        for bracket in ["[", "{\"a\":"] {
            let mut client = Client::new(&open());
            client.say(bracket.repeat(300)).await;
            assert_eq!(error(&client.json().await), (-32600, Value::Null));
            assert_eq!(client.rest().await, Vec::<String>::new());
        }
        // The unused params are nested up to the limit.
        let deep = format!("{}{}", "[".repeat(199), "]".repeat(199));
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Nothing","params":{deep}}}"#);
        assert_eq!(error(&answer(&open(), message).await), (-32601, json!(1)));
    }

    #[tokio::test]
    async fn batch_is_rejected_after_thousand_items() {
        let mut client = Client::new(&open());
        client.say("[".to_owned() + &"1,".repeat(1000)).await;
        assert_eq!(error(&client.json().await), (-32600, Value::Null));
        assert_eq!(client.rest().await, Vec::<String>::new());
    }

    #[tokio::test]
    async fn long_message_is_scanned_incrementally() {
        let data = "x".repeat(128 * 1024);
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Fail", "params": [data]}).to_string();
        let mut client = Client::with_room(&open(), 7);
        let writer = async {
            client.say(&text).await;
            client.json().await
        };
        let reply = tokio::time::timeout(TIMEOUT, writer).await.expect("write should complete within the timeout");
        assert_eq!(reply["error"]["message"].as_str().map(str::len), Some(128 * 1024));
    }

    #[tokio::test]
    async fn oversized_message_is_rejected_before_its_end() {
        let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().body_max(64 * 1024)));
        let mut client = Client::new(&server);
        client.say(format!("{{\"a\":\"{}", "x".repeat(64 * 1024))).await;
        assert_eq!(error(&client.json().await), (-32008, Value::Null));
        assert_eq!(client.rest().await, Vec::<String>::new());
    }

    #[tokio::test(start_paused = true)]
    async fn slowly_arriving_message_closes_connection() {
        let mut client = Client::new(&open());
        client.say("{\"jsonrpc\":").await;
        let began = tokio::time::Instant::now();
        let reason = client.closed().await;
        assert_eq!((reason.kind(), began.elapsed().as_secs()), (CloseKind::Transport, 5), "{reason}");
    }

    #[tokio::test(start_paused = true)]
    async fn client_ignoring_replies_is_paused_then_closed() {
        let mut client = Client::with_room(&open(), 1024);
        let data = "x".repeat(100_000);
        let text = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Fail", "params": [data]}).to_string();
        let began = tokio::time::Instant::now();
        let mut sent = 0;
        // The transport fills up once the server stops reading.
        while tokio::time::timeout(Duration::from_secs(1), client.say(&text)).await.is_ok() {
            sent += text.len();
            assert!(sent < 4 << 20, "server should stop reading");
        }
        let reason = client.closed().await;
        assert!(began.elapsed() < Duration::from_secs(60), "{reason}");
        assert_eq!(reason.kind(), CloseKind::Transport, "{reason}");
    }

    #[tokio::test(start_paused = true)]
    async fn idle_timeout_waits_for_pending_call() {
        let gateway = Gateway::new().json_rpc().idle_timeout(Duration::from_secs(20));
        let server = server(gateway, |builder| builder);
        let mut client = Client::new(&server);
        let began = tokio::time::Instant::now();
        let sleep = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/Sleep", "params": [50_000]});
        client.say(sleep.to_string()).await;
        assert_eq!(client.line().await.len(), r#"{"jsonrpc":"2.0","id":1,"result":{"millis":50000}}"#.len());
        assert_eq!(client.rest().await, Vec::<String>::new());
        let took = began.elapsed().as_secs();
        assert!((70..75).contains(&took), "connection was closed after {took} s");
    }
}

#[tokio::test(start_paused = true)]
async fn call_reusing_ended_id_is_cancellable() {
    let server = server(Gateway::new().json_rpc(), |builder| builder);
    let mut client = Client::new(&server);
    for millis in [50, 3_600_000] {
        let params = format!(r#"{{"millis":{millis}}}"#);
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Sleep","params":{params}}}"#);
        client.say(call).await;
    }
    assert_eq!(client.json().await["result"]["millis"], 50);
    client.say(r#"{"jsonrpc":"2.0","method":"rpc.cancel","params":{"id":1}}"#).await;
    assert_eq!(client.json().await["error"]["data"]["status"], "CANCELLED");
}

#[tokio::test(start_paused = true)]
async fn malformed_messages_are_paced_by_abuse_rate() {
    let long = "x".repeat(936);
    let invalid = format!(r#"{{"jsonrpc":"1.0","id":1,"a":"{long}"}}"#);
    let no_json = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"a.B/C","params":{{"a":tru,"b":"{long}"}}}}"#);
    let metadata = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"interop.Interop/Add","metadata":{{"A":"{long}"}}}}"#);
    for message in [invalid, no_json, metadata] {
        let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().abuse_rate(10_000)));
        let mut client = Client::new(&server);
        let began = tokio::time::Instant::now();
        for _ in 0..30 {
            client.say(&message).await;
            assert!(client.json().await["error"].is_object());
        }
        let took = began.elapsed();
        assert!((2..4).contains(&took.as_secs()), "{took:?} for {message}");
    }
}

#[tokio::test(start_paused = true)]
async fn client_with_endless_useless_messages_is_disconnected() {
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}"#.to_owned();
    for message in [format!(r#"{{"jsonrpc":"1.0","id":1,"a":"{}"}}"#, "x".repeat(936)), discover] {
        let server = server(Gateway::new().json_rpc(), |builder| builder.config(Config::default().abuse_rate(10_000)));
        let mut client = Client::new(&server);
        let began = tokio::time::Instant::now();
        loop {
            client.say(&message).await;
            if client.line().await.is_empty() {
                break;
            }
        }
        assert_eq!(client.closed().await.kind(), CloseKind::Flood, "{message}");
        let took = began.elapsed();
        assert!((5..20).contains(&took.as_secs()), "{took:?} for {message}");
    }
}

#[tokio::test]
async fn malformed_stream_notice_ends_call() {
    for params in [json!({"id": 1}), json!({"id": 1, "items": -1}), json!({"id": 1, "items": "8"})] {
        let mut client = Client::new(&open());
        let mut request = json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/CountUp", "params": [1, 5]});
        request["credit"] = json!(0);
        client.say(request.to_string()).await;
        client.say(notice("rpc.credit", &params)).await;
        assert_eq!(error(&client.json().await), (-32602, json!(1)), "{params}");
    }
    let mut client = Client::new(&open());
    client.say(json!({"jsonrpc": "2.0", "id": 1, "method": "interop.Interop/SumUp"}).to_string()).await;
    client.say(notice("rpc.item", &json!({"id": 1}))).await;
    assert_eq!(error(&client.json().await), (-32602, json!(1)));
}

/// Regression test: replies that moved to the output buffer were charged twice their length, because the buffer was
/// doubled.
#[tokio::test]
async fn unread_replies_are_charged_by_their_length() {
    const LENGTH: usize = 400_000;
    let (service, release) = Hoard::new(Duration::ZERO);
    let builder = Server::builder().add_service(InteropServer::new(service.clone()));
    let server = builder.gateway(Gateway::new().json_rpc()).build().expect("settings should be valid");
    let mut client = Client::with_room(&server, 1024);
    for id in 0..3 {
        let params = json!({"seq": LENGTH});
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "interop.Interop/EchoPayload", "params": params});
        client.say(call.to_string()).await;
    }
    until("all calls have started", || service.started.load(Ordering::SeqCst) == 3).await;
    release.send_replace(true);
    // The replies are in base64.
    let expected = 3 * LENGTH / 3 * 4;
    until("the replies are charged", || server.stats().memory_held() > expected - LENGTH).await;
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let held = server.stats().memory_held();
    assert!((expected - LENGTH..expected + LENGTH / 2).contains(&held), "server holds {held} bytes");
}
