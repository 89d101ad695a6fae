//! Regression tests for public bug reports about other gateways. Each report is named by its repository and number.

use crate::gateway::greeter::{Open, all, greet, post};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::AsyncWriteExt as _;

const CALL: &str = "{\"name\":\"Ada\"}";

async fn http2(server: &Open) -> SendRequest<Full<Bytes>> {
    let io = TokioIo::new(server.connect().await);
    let (client, connection) = handshake(TokioExecutor::new(), io).await.expect("server should speak HTTP/2");
    tokio::spawn(connection);
    client
}

async fn sent(client: &mut SendRequest<Full<Bytes>>, method: &str, fields: &[(&str, &str)]) -> (u16, String) {
    let mut request = http::Request::builder().method(method).uri("http://localhost/greet.Greeter/Greet");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::new(Bytes::from_static(CALL.as_bytes()))).expect("request should be valid");
    let response = client.send_request(request).await.expect("call should succeed");
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.expect("body should be complete").to_bytes();
    (status, String::from_utf8_lossy(&body).into_owned())
}

/// grpc/grpc 34721: after a HEAD request, all calls of the connection fail.
#[tokio::test]
async fn head_request_keeps_http2_connection_usable() {
    let server = Open::new(all()).await;
    let mut client = http2(&server).await;
    assert_eq!(sent(&mut client, "HEAD", &[]).await.0 / 100, 4);
    let (status, body) = sent(&mut client, "POST", &[("content-type", "application/json")]).await;
    assert!(status == 200 && body.contains("Hello, Ada!"), "{status} {body}");
}

/// grpc/grpc 36245: malformed base64 ends the call without a reason.
#[tokio::test]
async fn malformed_binary_field_error_names_field() {
    let server = Open::new(all()).await;
    let response = server.exchange(greet("x-bin: $$$\r\n", "Ada")).await;
    assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("x-bin"), "{response}");
}

/// zalopay-oss/jmeter-grpc-request 73: commas and colons in a value are parsed as separators.
#[tokio::test]
async fn field_commas_and_colons_are_preserved() {
    let server = Open::new(all()).await;
    let value = "client-app-id=svc-basic-dps,client-ip=10.233.79.118:80";
    let response = server.exchange(greet(&format!("tenant: {value}\r\n"), "Ada")).await;
    assert!(response.contains(&format!("\r\ntenant: {value}\r\n")), "{response}");
}

/// Content types in capitals or with parameters are rejected.
#[tokio::test]
async fn content_type_allows_any_case_and_parameters() {
    let server = Open::new(all()).await;
    for content_type in ["Application/JSON", "application/json; charset=utf-8", "application/json;charset=\"UTF-8\""] {
        let request = greet("", "Ada").replace("application/json", content_type);
        let response = server.exchange(&request).await;
        assert!(
            response.starts_with("HTTP/1.1 200 ") && response.contains("Hello, Ada!"),
            "{content_type}: {response}"
        );
    }
}

/// grpc/grpc-rust 2474 and sudorandom/fauxrpc 15: a message arrives together with the end, or byte by byte.
#[tokio::test]
async fn grpc_web_message_decodes_byte_by_byte() {
    let server = Open::new(all()).await;
    let length = u32::try_from(CALL.len()).expect("length should fit u32").to_be_bytes();
    let message = [&[0][..], &length, CALL.as_bytes()].concat();
    let head = post("/greet.Greeter/Greet", "connection: close\r\ntransfer-encoding: chunked\r\n", "");
    let head = head.replace("content-length: 0\r\n", "").replace("application/json", "application/grpc-web+json");
    let mut request = head.into_bytes();
    for byte in &message {
        request.extend_from_slice(&[b"1\r\n", &[*byte][..], b"\r\n"].concat());
    }
    request.extend_from_slice(b"0\r\n\r\n");
    let response = server.exchange(&request).await;
    assert!(response.contains("Hello, Ada!") && response.contains("grpc-status: 0"), "{response}");
}

/// connectrpc/connect-es 148 and 1261: an error without messages has its trailers only once.
#[tokio::test]
async fn grpc_web_error_states_its_status_once() {
    let server = Open::new(all()).await;
    let message = [&[0, 0, 0, 0, 2][..], b"{}"].concat();
    let head = post("/greet.Greeter/Greet", "connection: close\r\n", "");
    let head =
        head.replace("content-length: 0", "content-length: 7").replace("application/json", "application/grpc-web+json");
    let response = server.exchange([head.as_bytes(), &message].concat()).await;
    assert_eq!(response.matches("grpc-status: ").count(), 1, "{response}");
}

/// A path with a trailing slash, a double slash or an encoded slash is a different path.
#[tokio::test]
async fn path_is_matched_literally() {
    let server = Open::new(all()).await;
    for path in ["/greet.Greeter/Greet/", "//greet.Greeter/Greet", "/greet.Greeter%2FGreet", "/greet.Greeter/greet"] {
        let response = server.exchange(post(path, "connection: close\r\n", CALL)).await;
        assert!(response.starts_with("HTTP/1.1 404 "), "{path}: {response}");
    }
}

/// http4k/http4k 338: a response without a body claims to be compressed.
#[tokio::test]
async fn answer_without_body_is_not_compressed() {
    let server = Open::new(all()).await;
    let response = server
        .exchange("GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\naccept-encoding: gzip\r\n\r\n")
        .await;
    assert!(!response.contains("content-encoding"), "{response}");
}

/// grpc/grpc-web 1236: non-ASCII text in a status is lost or breaks the client.
#[tokio::test]
async fn names_beyond_ascii_reach_handler() {
    let server = Open::new(all()).await;
    let response = server.exchange(greet("", "Zo\u{eb} \u{1f600}")).await;
    assert!(response.contains("Hello, Zo\u{eb} \u{1f600}!"), "{response}");
}

/// A truncated body must not be handled as a request.
#[tokio::test]
async fn truncated_body_is_not_request() {
    let server = Open::new(all()).await;
    let request = greet("", "Ada");
    let mut socket = server.connect().await;
    socket.write_all(&request.as_bytes()[..request.len() - 3]).await.expect("write should succeed");
    socket.shutdown().await.expect("socket should shut down");
    let response = crate::gateway::greeter::rest(&mut socket).await;
    assert!(!response.contains("200 OK"), "{response}");
}
