//! Tests that a busy connection lets others run; see [`Config::turn_max`].

use super::connections::{TIMEOUT, dial, post};
use super::http2_client::head;
use frpc::{Acceptor, Config, Request, Response, ResponseStream, Server, Status};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::sync::Notify;
use tokio::time::timeout;

/// Number of calls of a busy connection, which arrive together.
const CALLS: usize = 400;

/// A greeter that counts its calls.
#[derive(Clone, Default)]
struct Counter(Arc<Counts>);

#[derive(Default)]
struct Counts {
    calls: AtomicUsize,
    /// Number of calls before the last call with the name `other`.
    before_other: AtomicUsize,
    began: Notify,
}

impl Greeter for Counter {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let calls = self.0.calls.fetch_add(1, Ordering::SeqCst);
        match &*request.get_ref().name {
            "other" => self.0.before_other.store(calls, Ordering::SeqCst),
            _ => self.0.began.notify_one(),
        }
        Ok(Response::new(Greeting::default()))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("no verses"))
    }
}

fn line(name: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"greet.Greeter/Greet\",\"params\":[\"{name}\"]}}\n")
}

/// Encodes calls over HTTP/2.
fn http2(content_type: &str, body: &[u8]) -> Vec<u8> {
    let frame = |kind: u8, flags: u8, stream: u32, payload: &[u8]| {
        let length = u32::try_from(payload.len()).expect("payload length should fit into u32").to_be_bytes();
        [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
    };
    let start = [&b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"[..], &frame(4, 0, 0, b""), &frame(4, 1, 0, b"")].concat();
    let calls = (1..)
        .step_by(2)
        .take(CALLS)
        .flat_map(|stream| [frame(1, 4, stream, &head(content_type)), frame(0, 1, stream, body)].concat());
    start.into_iter().chain(calls).collect()
}

fn served() -> (Counter, Acceptor) {
    let gateway = Gateway::new().json_rpc().http(Http::new().connect().grpc());
    let config = Config::default().turn_max(Duration::ZERO).streams_max(CALLS);
    let counter = Counter::default();
    let server = Server::builder().config(config).add_service(GreeterServer::new(counter.clone())).gateway(gateway);
    (counter, server.build().expect("server settings should be valid"))
}

/// Makes a JSON-RPC call with the name `other`.
async fn call_other(io: &mut BufReader<DuplexStream>) {
    io.write_all(line("other").as_bytes()).await.expect("server should accept the call");
    let read = timeout(TIMEOUT, io.read_line(&mut String::new())).await;
    read.expect("reply should arrive within the timeout").expect("reply should be UTF-8");
}

/// Returns how many of these calls by one connection run before a call by another connection that arrives later.
async fn calls_before_other(calls: Vec<u8>) -> usize {
    let (Counter(counts), server) = served();
    let (mut busy, mut other) = (dial(&server), BufReader::new(dial(&server)));
    call_other(&mut other).await;
    busy.write_all(&calls).await.expect("server should accept the calls");
    timeout(TIMEOUT, counts.began.notified()).await.expect("a call should begin within the timeout");
    call_other(&mut other).await;
    counts.before_other.load(Ordering::SeqCst)
}

/// Regression test: a connection occupied its thread until all calls of a read were handled.
#[tokio::test]
async fn busy_connection_lets_others_run() {
    for (name, calls) in [
        ("JSON-RPC", line("Ada").repeat(CALLS).into_bytes()),
        ("HTTP/1.1", post("", "Ada").repeat(CALLS).into_bytes()),
        ("gRPC", http2("application/grpc+json", b"\0\0\0\0\x0e{\"name\":\"Ada\"}")),
        ("Connect over HTTP/2", http2("application/json", b"{\"name\":\"Ada\"}")),
    ] {
        // In a task, because the runtime polls tasks in the order of their wake-ups, but `block_on` polls the future of
        // the test less often.
        let before = tokio::spawn(calls_before_other(calls)).await.expect("task should not panic");
        assert!(before < 200, "{before} calls by {name} run before that of another connection");
    }
}
