//! Tests of the metrics page: access control, values, and the Prometheus format.

use crate::gateway::greeter::{Open, all, greet, soon};
use frisbee_tests::until;
use frpc::Channel;
use frpc::pubsub::{self, Broker};
use frpc_gateway::Http;
use frpc_telemetry::Counters;
use samples::greet::{GreeterClient, Name};
use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

fn get(host: &str) -> String {
    format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

/// Starts a server with a metrics page and makes calls in several protocols.
async fn called() -> Open {
    let counters = Counters::new();
    let server = Open::with(all().metrics(&counters), |builder| builder.batch_observer(counters.clone())).await;
    for _ in 0..3 {
        assert!(server.exchange(greet("", "Ada")).await.starts_with("HTTP/1.1 200 "));
    }
    assert!(server.exchange(greet("", "")).await.starts_with("HTTP/1.1 400 "));
    let json_rpc = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"greet.Greeter/Greet\",\"params\":{\"name\":\"Ada\"}}\n";
    let mut client = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut client, json_rpc.as_bytes())
        .await
        .expect("server should read the request");
    tokio::io::AsyncWriteExt::shutdown(&mut client).await.expect("connection should be open");
    assert!(crate::gateway::greeter::rest(&mut client).await.contains("Hello, Ada!"));
    // The server may notice the end of a connection later than the client.
    until("the connections of the calls are closed", || server.stats.open() == 0).await;
    server
}

/// Parses the values of a page by name and labels. Checks that each metric has a type and each value a metric.
fn values(page: &str) -> BTreeMap<&str, f64> {
    let mut types = HashSet::new();
    let mut values = BTreeMap::new();
    for line in page.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            let (name, kind) = about.split_once(' ').expect("line should have a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(types.insert(name), "metric {name} should be declared once");
        } else if !line.starts_with("# HELP ") {
            let (key, value) = line.rsplit_once(' ').expect("line should have a key and a value");
            let name = key.split('{').next().unwrap_or_default();
            let suffixes = ["", "_bucket", "_sum", "_count"];
            let base = suffixes.iter().find_map(|end| name.strip_suffix(end).filter(|name| types.contains(name)));
            assert!(base.is_some(), "metric of the line {line} should have a type");
            assert!(
                values.insert(key, value.parse().expect("text should be a number")).is_none(),
                "value of {key} should be present once"
            );
        }
    }
    values
}

#[tokio::test]
async fn metrics_page_counts_every_protocol_and_server() {
    let server = called().await;
    let response = server.exchange(get("localhost")).await;
    assert!(response.contains("content-type: text/plain; version=0.0.4"), "{response}");
    let (_, page) = response.split_once("\r\n\r\n").expect("response should have a head and a body");
    let values = values(page);
    let key = |end: &str, code: &str, le: &str| {
        format!(
            "frpc_server_call_duration_seconds{end}{{service=\"greet.Greeter\",method=\"Greet\",code=\"{code}\"{le}}}"
        )
    };
    assert_eq!(values.get(&*key("_count", "ok", "")), Some(&4.0));
    assert_eq!(values.get(&*key("_bucket", "ok", ",le=\"+Inf\"")), Some(&4.0));
    assert_eq!(values.get(&*key("_count", "invalid_argument", "")), Some(&1.0));
    let prefix = key("_bucket", "ok", ",le=");
    let prefix = prefix.trim_end_matches('}');
    let mut buckets: Vec<_> = values.iter().filter(|(key, _)| key.starts_with(prefix)).collect();
    assert_eq!(buckets.len(), 25);
    let bound = |key: &str| key.rsplit('"').nth(1).and_then(|bound| bound.parse::<f64>().ok()).expect("valid number");
    buckets.sort_by(|(a, _), (b, _)| bound(a).total_cmp(&bound(b)));
    assert!(buckets.is_sorted_by(|(_, a), (_, b)| a <= b), "bucket counts should be cumulative: {buckets:?}");
    assert_eq!(values.get("frisbee_connections"), Some(&1.0));
    assert_eq!(values.get("frisbee_connections_opened_total"), Some(&(server.stats.opened() as f64)));
    let closed = values.iter().filter(|(key, _)| key.starts_with("frisbee_connections_closed_total{"));
    assert_eq!(closed.map(|(_, count)| count).sum::<f64>(), server.stats.opened() as f64 - 1.0);
}

/// Fetches the current metrics page.
async fn page(server: &Open) -> String {
    let response = server.exchange(get("localhost")).await;
    response.split_once("\r\n\r\n").expect("response should have a head and a body").1.to_owned()
}

#[tokio::test]
async fn page_has_server_traffic_and_channel_servers() {
    let counters = Counters::new();
    let mut server = Open::with(all().metrics(&counters), |builder| builder.batch_observer(counters.clone())).await;
    let channel =
        Channel::builder().batch_observer(counters.clone()).calls::<GreeterClient>().connect(server.address.as_str());
    let client = GreeterClient::new(channel.await.expect("server should be listening"));
    let text = "x".repeat(50_000);
    client.greet(Name { name: format!("long {text}") }).await.expect("call should succeed");
    let verses = client.recite(Name { name: "Ada".to_owned() }).await.expect("stream should open").into_inner();
    let pending = client.clone();
    let pending = tokio::spawn(async move { pending.greet(Name { name: "wait".to_owned() }).await });
    for _ in 0..2 {
        soon(&mut server.began).await;
    }
    // Both messages have arrived, but the end of the stream may still be pending.
    until("only the waiting call is in progress", || {
        counters.snapshot().servers.iter().all(|load| load.in_progress == 1)
    })
    .await;
    let text = page(&server).await;
    let values = values(&text);
    let of_server = |name: &str| values.get(&*format!("{name}{{server=\"{}\"}}", server.address)).copied();
    assert_eq!(of_server("frpc_client_server_connections"), Some(1.0), "{text}");
    assert_eq!(of_server("frpc_client_server_calls"), Some(1.0), "waiting call should be counted");
    assert_eq!(of_server("frpc_client_server_suspicions"), Some(0.0));
    assert_eq!(values.get("frisbee_streams_opened_total"), Some(&1.0));
    let bytes = ["frisbee_bytes_read_total", "frisbee_bytes_written_total"].map(|name| values[name]);
    // The reply has 100 000 bytes.
    assert!((50_000.0..52_000.0).contains(&bytes[0]) && (100_000.0..102_000.0).contains(&bytes[1]), "{bytes:?}");
    assert_eq!(server.stats.streams_opened(), 1);
    drop(verses);
    until("the stream has ended", || server.stats.streams() == 0).await;
    server.gate.add_permits(1);
    pending.await.expect("task should not panic").expect("call should succeed");
    drop(client);
    assert!(counters.snapshot().servers.is_empty(), "servers of a closed channel should not be counted");
    // After this, only one HTTP connection transfers bytes.
    until("all connections have ended", || server.stats.open() == 0).await;
    let before = (server.stats.bytes_read(), server.stats.bytes_written());
    let response = server.exchange(get("localhost")).await;
    until("the page is counted", || server.stats.bytes_written() - before.1 == response.len() as u64).await;
    assert_eq!(server.stats.bytes_read() - before.0, get("localhost").len() as u64);
}

#[tokio::test]
async fn metrics_page_shows_topic_counters() {
    let (counters, broker) = (Counters::new(), Broker::builder().queue_max(1_000).build());
    counters.show_topics(&broker);
    let server = Open::with(all().metrics(&counters), |builder| builder).await;
    let topics = frisbee::Server::builder()
        .bind("127.0.0.1:0", broker.clone())
        .await
        .expect("server should bind to a free address");
    let address = topics.local_addr();
    tokio::spawn(topics.serve());
    let client = pubsub::Client::connect(address).await.expect("server should be listening");
    let subscription = client.subscribe("news.*").await.expect("broker should accept the subscription");
    for _ in 0..3 {
        client.publish("news.today", "hello").await.expect("broker should accept the message");
    }
    client.publish("nobody.listens", "hello").await.expect("broker should accept the message");
    client.sync().await.expect("broker should confirm all messages");
    until("all messages are published", || broker.published() == 4 && broker.waiting() == 0).await;
    let text = page(&server).await;
    let values = values(&text);
    for (name, value) in [("published_total", 4.0), ("lost_total", 0.0), ("subscriptions", 1.0), ("waiting_bytes", 0.0)]
    {
        assert_eq!(values.get(&*format!("frisbee_topics_{name}")), Some(&value), "{name}");
    }
    drop(subscription);
}

#[tokio::test]
async fn metrics_page_requires_setting_and_admitted_caller() {
    let server = called().await;
    assert!(server.exchange(get("evil.example")).await.starts_with("HTTP/1.1 403 "));
    let post = get("localhost").replace("GET", "POST");
    assert!(server.exchange(post).await.starts_with("HTTP/1.1 405 "));
    let without = Open::new(all()).await;
    assert!(without.exchange(get("localhost")).await.starts_with("HTTP/1.1 404 "));
    let alone = Open::new(Http::new().metrics(&Counters::new())).await;
    assert!(alone.exchange(get("localhost")).await.contains("frisbee_connections 1\n"));
}

#[tokio::test]
async fn prometheus_reads_metrics_page() {
    let server = called().await;
    let response = server.exchange(get("localhost")).await;
    let (_, page) = response.split_once("\r\n\r\n").expect("response should have a head and a body");
    let child =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        assert!(
            std::env::var_os("FRISBEE_REQUIRE_SERVERS").is_none(),
            "promtool should be installed, because FRISBEE_REQUIRE_SERVERS is set"
        );
        return println!("SKIPPED: promtool is not installed");
    };
    child.stdin.take().expect("stdin should be piped").write_all(page.as_bytes()).expect("write should succeed");
    let checked = child.wait_with_output().expect("process should exit");
    let stderr = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{stderr}\n{page}");
    assert_eq!(stderr.trim(), "");
}

#[tokio::test]
async fn metrics_of_other_servers_have_their_names() {
    let main = Open::new(all()).await;
    let page = Http::new().metrics(&Counters::new()).metrics_of("main", main.stats.clone());
    let operators = Open::new(page.metrics_of("other", main.stats.clone())).await;
    for _ in 0..3 {
        main.exchange("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    }
    let text = operators.exchange("GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").await;
    for name in ["main", "other"] {
        assert!(text.contains(&format!("frisbee_connections_opened_total{{server=\"{name}\"}} 3\n")), "{text}");
    }
    assert!(!text.contains("\nfrisbee_connections_opened_total "), "{text}");
    assert_eq!(text.matches("# TYPE frisbee_connections_opened_total ").count(), 1);
}
