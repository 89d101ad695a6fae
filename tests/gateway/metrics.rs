//! The page of metrics: who gets it, what stands there, and whether Prometheus can read it.

use crate::greeter::{Open, all, greet};
use frisbee_tests::until;
use frpc::observe::Counters;
use frpc_gateway::Http;
use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::process::{Command, Stdio};

fn get(host: &str) -> String {
    format!("GET /metrics HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")
}

/// A server with the page, which has answered calls of several doors.
async fn called() -> Open {
    let counters = Counters::new();
    let server = Open::with(all().metrics(&counters), |builder| builder.counters(&counters)).await;
    for _ in 0..3 {
        assert!(server.exchange(greet("", "Ada")).await.starts_with("HTTP/1.1 200 "));
    }
    assert!(server.exchange(greet("", "")).await.starts_with("HTTP/1.1 400 "));
    let json_rpc = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"greet.Greeter/Greet\",\"params\":{\"name\":\"Ada\"}}\n";
    let mut client = server.connect().await;
    tokio::io::AsyncWriteExt::write_all(&mut client, json_rpc.as_bytes()).await.expect("it is read");
    tokio::io::AsyncWriteExt::shutdown(&mut client).await.expect("it is open");
    assert!(crate::greeter::rest(&mut client).await.contains("Hello, Ada!"));
    // The server may notice later than its clients that a connection has ended.
    until("the connections of the calls are closed", || server.stats.open() == 0).await;
    server
}

/// The values of a page by name and labels. Each metric has a type, and each value belongs to one.
fn values(page: &str) -> BTreeMap<&str, f64> {
    let mut types = HashSet::new();
    let mut values = BTreeMap::new();
    for line in page.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            let (name, kind) = about.split_once(' ').expect("a name and a type");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(types.insert(name), "{name} is there once");
        } else if !line.starts_with("# HELP ") {
            let (key, value) = line.rsplit_once(' ').expect("a key and a value");
            let name = key.split('{').next().unwrap_or_default();
            let suffixes = ["", "_bucket", "_sum", "_count"];
            let base = suffixes.iter().find_map(|end| name.strip_suffix(end).filter(|name| types.contains(name)));
            assert!(base.is_some(), "{line} has no type");
            assert!(values.insert(key, value.parse().expect("a number")).is_none(), "{key} is there once");
        }
    }
    values
}

#[tokio::test]
async fn the_page_has_the_calls_of_all_doors_and_the_counts_of_the_server() {
    let server = called().await;
    let response = server.exchange(get("localhost")).await;
    assert!(response.contains("content-type: text/plain; version=0.0.4"), "{response}");
    let (_, page) = response.split_once("\r\n\r\n").expect("a head and a body");
    let values = values(page);
    let key = |end: &str, code: u8, le: &str| {
        format!(
            "frpc_server_call_duration_seconds{end}{{service=\"greet.Greeter\",method=\"Greet\",code=\"{code}\"{le}}}"
        )
    };
    assert_eq!(values.get(&*key("_count", 0, "")), Some(&4.0));
    assert_eq!(values.get(&*key("_bucket", 0, ",le=\"+Inf\"")), Some(&4.0));
    assert_eq!(values.get(&*key("_count", 3, "")), Some(&1.0));
    let prefix = key("_bucket", 0, ",le=");
    let prefix = prefix.trim_end_matches('}');
    let mut buckets: Vec<_> = values.iter().filter(|(key, _)| key.starts_with(prefix)).collect();
    assert_eq!(buckets.len(), 25);
    let bound = |key: &str| key.rsplit('"').nth(1).and_then(|bound| bound.parse::<f64>().ok()).expect("a number");
    buckets.sort_by(|(a, _), (b, _)| bound(a).total_cmp(&bound(b)));
    assert!(buckets.is_sorted_by(|(_, a), (_, b)| a <= b), "counts are cumulative: {buckets:?}");
    assert_eq!(values.get("frisbee_connections"), Some(&1.0));
    assert_eq!(values.get("frisbee_connections_opened_total"), Some(&(server.stats.opened() as f64)));
    let closed = values.iter().filter(|(key, _)| key.starts_with("frisbee_connections_closed_total{"));
    assert_eq!(closed.map(|(_, count)| count).sum::<f64>(), server.stats.opened() as f64 - 1.0);
}

#[tokio::test]
async fn the_page_is_there_only_if_it_was_added_and_only_for_callers_that_the_locks_admit() {
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
async fn prometheus_reads_the_page() {
    let server = called().await;
    let response = server.exchange(get("localhost")).await;
    let (_, page) = response.split_once("\r\n\r\n").expect("a head and a body");
    let child =
        Command::new("promtool").args(["check", "metrics"]).stdin(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        assert!(std::env::var_os("FRISBEE_REQUIRE_SERVERS").is_none(), "promtool is not installed");
        return println!("SKIPPED: promtool is not installed");
    };
    child.stdin.take().expect("it is a pipe").write_all(page.as_bytes()).expect("it is read");
    let checked = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success(), "{said}\n{page}");
    assert_eq!(said.trim(), "");
}
