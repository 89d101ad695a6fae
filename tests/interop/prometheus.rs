//! Tests the dashboard and the alerts of the example `operated` against a real Prometheus that scrapes a server.
//!
//! If Prometheus is not installed, the test prints a message and passes, unless `FRISBEE_REQUIRE_SERVERS` is set.

use super::databases::servers;
use frpc::pubsub::Broker;
use frpc::{Channel, Server};
use frpc_gateway::{Gateway, Http, ServeGateway};
use frpc_telemetry::Counters;
use samples::greeter::{GreeterClient, GreeterServer, Name};
use samples::started::Polite;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/operated")
}

/// Starts a server. Until the test ends, makes calls that succeed, fail or have an unknown method. Returns the address
/// of the server.
async fn server() -> String {
    let counters = Counters::new();
    let topics = Broker::new();
    counters.show_topics(&topics);
    let gateway = Gateway::new().http(Http::new().metrics(&counters));
    let builder =
        Server::builder().batch_observer(counters.clone()).add_service(GreeterServer::new(Polite)).gateway(gateway);
    let server = builder.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = server.local_addr().to_string();
    tokio::spawn(server.serve());
    let calling = address.clone();
    tokio::spawn(async move {
        loop {
            // This channel appears in the metrics of channels.
            let builder = Channel::builder().batch_observer(counters.clone());
            let Ok(channel) = builder.connect(calling.as_str()).await else { return };
            let client = GreeterClient::new(channel);
            let _ = client.greet(Name { name: "Ada".to_owned() }).await;
            // The deadline has already passed when the call arrives, so the call fails at the server.
            let mut late = frpc::Request::new(Name { name: "Eve".to_owned() });
            late.set_timeout(Duration::from_nanos(1));
            let _ = client.greet(late).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    address
}

/// Returns the `data` of Prometheus's reply for a path.
async fn get(prometheus: &str, path: &str) -> Option<Value> {
    let mut socket = TcpStream::connect(prometheus).await.ok()?;
    // HTTP/1.0 has no chunked encoding.
    let request = format!("GET {path} HTTP/1.0\r\nhost: localhost\r\n\r\n");
    socket.write_all(request.as_bytes()).await.ok()?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.ok()?;
    let answer: Value = serde_json::from_str(answer.split_once("\r\n\r\n")?.1).ok()?;
    assert_eq!(answer["status"], "success", "{path}: {answer}");
    Some(answer["data"].clone())
}

/// Returns whether Prometheus has data for a query.
async fn has_data(prometheus: &str, query: &str) -> bool {
    let encoded: String = query.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let data = get(prometheus, &format!("/api/v1/query?query={encoded}")).await;
    data.is_some_and(|data| data["result"].as_array().is_some_and(|rows| !rows.is_empty()))
}

/// Returns all queries of the dashboard as Grafana sends them.
fn queries() -> Vec<String> {
    let dashboard = fs::read_to_string(folder().join("dashboard.json")).expect("file should be readable");
    let dashboard: Value = serde_json::from_str(&dashboard).expect("text should be valid JSON");
    let panels = dashboard["panels"].as_array().expect("dashboard should have panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("panel should have queries"));
    let queries = targets.map(|target| target["expr"].as_str().expect("member should be a string"));
    queries.map(|query| query.replace("$instance", ".*").replace("$__rate_interval", "30s")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn prometheus_answers_dashboard_queries_and_loads_alerts() {
    let server = server().await;
    let alerts = folder().join("alerts.yml").canonicalize().expect("rules file should exist");
    let config = format!(
        "global:\n  scrape_interval: 1s\n  evaluation_interval: 1s\nrule_files: [{alerts:?}]\nscrape_configs:\n  - \
         job_name: frpc\n    static_configs:\n      - targets: [{server:?}]\n"
    );
    let Some(prometheus) = servers::prometheus(&config).await else { return };
    let queries = queries();
    assert!(queries.len() >= 24, "{queries:#?}");
    for query in &queries {
        let answered = async {
            while !has_data(&prometheus.address, query).await {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        let answered = tokio::time::timeout(Duration::from_secs(60), answered).await;
        assert!(answered.is_ok(), "Prometheus should have data for {query}");
    }
    let rules = get(&prometheus.address, "/api/v1/rules").await.expect("Prometheus should list its rules");
    let rules = rules["groups"][0]["rules"].as_array().expect("rules should contain a group").clone();
    let text = fs::read_to_string(&alerts).expect("file should be readable");
    let count = text.lines().filter(|line| line.trim_start().starts_with("- alert:")).count();
    assert_eq!(rules.len(), count, "{rules:?}");
    for rule in rules {
        assert!(["ok", "unknown"].contains(&rule["health"].as_str().unwrap_or_default()), "{rule}");
    }
}
