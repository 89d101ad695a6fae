//! Tests of the maximum connection age with gateway protocols, in virtual time.

use crate::gateway::greeter::{TIMEOUT, all, post};
use crate::gateway::stop::{Overheard, goodbyes};
use crate::gateway::web_socket::{BINARY, Client, FRAMES, JSON_RPC, TEXT, frame};
use bytes::Bytes;
use frisbee_tests::attacks::ADD;
use frisbee_tests::gated::Gated;
use frisbee_tests::interop::{AddRequest, InteropServer};
use frisbee_tests::raw::{encoded, packet};
use frpc::{Acceptor, Server};
use frpc_gateway::{Gateway, ServeGateway as _};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::time::Instant;

const AGE: Duration = Duration::from_secs(60);

/// The time range in which the server drains connections opened at time zero.
const DRAINED: std::ops::Range<Duration> = Duration::from_secs(54)..Duration::from_secs(67);

fn server(gated: &Gated, age: Duration) -> Acceptor {
    let gateway = Gateway::new().json_rpc().http(all()).web_socket();
    let builder = Server::builder().max_connection_age(age).add_service(InteropServer::new(gated.clone()));
    builder.gateway(gateway).build().expect("settings should be valid")
}

fn dial(server: &Acceptor) -> DuplexStream {
    let (here, there) = frpc::memory();
    let server = server.clone();
    tokio::spawn(async move { server.serve_connection(there).await });
    here
}

async fn rest(io: &mut DuplexStream) -> String {
    let mut rest = String::new();
    tokio::time::timeout(10 * TIMEOUT, io.read_to_string(&mut rest))
        .await
        .expect("read should complete within the timeout")
        .expect("response should be UTF-8");
    rest
}

fn call(id: u8, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"interop.Interop/{method}","params":{params}}}"#)
}

/// Opens the gate after all connections have been drained.
fn open_later(gated: &Gated) {
    let gated = gated.clone();
    tokio::spawn(async move {
        tokio::time::sleep(2 * AGE).await;
        gated.open();
    });
}

#[tokio::test(start_paused = true)]
async fn aged_http1_connections_close_after_their_responses() {
    let gated = Gated::shut();
    let server = server(&gated, AGE);
    let started = Instant::now();
    // Tests an idle connection and one with a pending response. The fast path handles both, or hyper does if they send
    // `expect`.
    for fields in ["", "expect: 100-continue\r\n"] {
        let mut idle = dial(&server);
        idle.write_all(post("/interop.Interop/Add", fields, "{\"a\":1}").as_bytes())
            .await
            .expect("write should succeed");
        assert!(rest(&mut idle).await.contains("\"total\""), "server should reply before it closes the connection");
    }
    assert!(DRAINED.end * 2 > started.elapsed() && started.elapsed() >= DRAINED.start * 2, "{:?}", started.elapsed());
    let mut busy = ["", "expect: 100-continue\r\n"].map(|fields| {
        let request = post("/interop.Interop/Sleep", fields, "{\"millis\":1}");
        (dial(&server), request)
    });
    for (io, request) in &mut busy {
        io.write_all(request.as_bytes()).await.expect("write should succeed");
    }
    open_later(&gated);
    for (io, _) in &mut busy {
        let response = rest(io).await;
        assert!(response.contains("\r\nconnection: close\r\n") && response.contains("\"millis\":1"), "{response}");
    }
}

#[tokio::test(start_paused = true)]
async fn aged_connection_keeps_server_ready() {
    let server = server(&Gated::shut(), Duration::from_secs(1));
    let mut probe = dial(&server);
    probe.write_all(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n").await.expect("write should succeed");
    tokio::time::sleep(Duration::from_secs(2)).await;
    probe.write_all(b"\r\n").await.expect("write should succeed");
    let response = rest(&mut probe).await;
    assert!(response.starts_with("HTTP/1.1 200 ") && response.contains("connection: close"), "{response}");
}

#[tokio::test(start_paused = true)]
async fn aged_http2_goaway_lets_call_finish() {
    let gated = Gated::shut();
    let server = server(&gated, AGE);
    let overheard = Arc::default();
    let io = Overheard { io: dial(&server), overheard: Arc::clone(&overheard) };
    let (mut client, connection) =
        http2::handshake(TokioExecutor::new(), TokioIo::new(io)).await.expect("server should speak HTTP/2");
    let ended = tokio::spawn(connection);
    let request = http::Request::post("http://localhost/interop.Interop/Sleep")
        .header("content-type", "application/json")
        .body(Full::new(Bytes::from_static(b"{\"millis\":1}")))
        .expect("request should be valid");
    client.ready().await.expect("connection should be open");
    let response = client.send_request(request);
    open_later(&gated);
    let body = response
        .await
        .expect("call should succeed")
        .into_body()
        .collect()
        .await
        .expect("body should be complete")
        .to_bytes();
    assert!(body.starts_with(b"{\"millis\":1"), "{body:?}");
    ended.await.expect("task should not panic").expect("connection should end regularly");
    assert!(goodbyes(&overheard.lock()) > 0, "server should have sent GOAWAY");
}

#[tokio::test(start_paused = true)]
async fn aged_json_rpc_connection_closes_after_calls() {
    let gated = Gated::shut();
    let server = server(&gated, AGE);
    let mut io = dial(&server);
    io.write_all((call(1, "Sleep", "[1]") + &call(2, "Add", "[1,2]")).as_bytes()).await.expect("write should succeed");
    open_later(&gated);
    let replies = rest(&mut io).await;
    let ids: Vec<_> =
        replies.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["id"].clone()).collect();
    assert_eq!(ids, [json!(2), json!(1)]);
}

#[tokio::test(start_paused = true)]
async fn aged_web_socket_closes_1001_after_calls() {
    let gated = Gated::shut();
    let server = server(&gated, Duration::from_secs(1));
    let (mut texts, _) = Client::connect_over(dial(&server), JSON_RPC).await;
    let (mut frames, _) = Client::connect_over(dial(&server), FRAMES).await;
    texts.send(&frame(true, TEXT, call(1, "Sleep", "[1]").as_bytes())).await;
    let body = encoded(&AddRequest { a: 1, b: 2 });
    frames.send(&frame(true, BINARY, &packet(1, ADD, &body))).await;
    let started = Instant::now();
    assert_eq!(frames.closed().await, 1001, "connection without calls in progress should be closed");
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    gated.open();
    let (_, opcode, reply) = texts.frame().await;
    assert!(opcode == TEXT && reply.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,"), "{reply:?}");
    assert_eq!(texts.closed().await, 1001);
}
