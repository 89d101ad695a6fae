//! Tests of streams in both directions.

use super::support::{Host, Sums, calculator, exchange, front, greeter, post, serve, to_native};
use frpc::{Channel, Code, Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming};
use frpc_gateway::{Forward, ForwardFields};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use samples::quickstart::{Calculator, CalculatorClient, CalculatorServer, Number, Range, Sum, Terms};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc;

pub(crate) async fn call_every_kind(address: &str) {
    let client = CalculatorClient::connect(address).await.expect("gateway should accept the connection");
    assert_eq!(client.add(Terms { a: 2, b: -44 }).await.expect("unary call should succeed").into_inner().value, -42);
    let mut numbers =
        client.count_up(Range { from: 5, count: 3 }).await.expect("response stream should open").into_inner();
    for value in 5..8 {
        assert_eq!(numbers.message().await.expect("response stream should not fail"), Some(Number { value }));
    }
    assert_eq!(numbers.message().await.expect("response stream should end cleanly"), None);
    let sum = client
        .sum_up(frpc::iter((1..=100).map(|value| Number { value })))
        .await
        .expect("client-streaming call should succeed");
    assert_eq!(sum.into_inner(), Sum { total: 5050, count: 100 });
    let (sender, numbers) = frpc::RequestStream::channel(1);
    let mut sums = client.running_sum(numbers).await.expect("bidirectional stream should open").into_inner();
    for (value, sum) in [(1, 1), (2, 3), (39, 42)] {
        sender.send(Number { value }).await.expect("request message should be sent");
        assert_eq!(sums.message().await.expect("response stream should not fail"), Some(Number { value: sum }));
    }
    drop(sender);
    assert_eq!(sums.message().await.expect("response stream should end cleanly"), None);
}

/// Makes streaming calls in JSON over HTTP/1.1, where a client sends all requests before it reads a response.
pub(crate) async fn stream_json(address: &str) {
    let call = |method: &str, messages: &[&str]| {
        let body: Vec<u8> = messages.iter().flat_map(|message| envelope(message)).collect();
        post(&format!("/quickstart.Calculator/{method}"), "application/connect+json", "", &body)
    };
    let sums = exchange(address, call("RunningSum", &[r#"{"value": 40}"#, r#"{"value": "2"}"#])).await;
    assert!(sums.contains(r#"{"value":"40"}"#) && sums.contains(r#"{"value":"42"}"#), "{sums}");
    let sum = exchange(address, call("SumUp", &[r#"{"value": 40}"#, r#"{"value": "2"}"#])).await;
    assert!(sum.contains(r#"{"total":"42","count":2}"#), "{sum}");
    // An invalid request fails the call instead of ending the request stream.
    for method in ["SumUp", "RunningSum"] {
        let refused = exchange(address, call(method, &[r#"{"value": 40}"#, r#"{"valeu": 2}"#])).await;
        assert!(refused.contains("invalid_argument") && refused.contains("valeu"), "{refused}");
    }
}

fn envelope(message: &str) -> Vec<u8> {
    let length = u8::try_from(message.len()).expect("message length should fit in u8");
    [&[0, 0, 0, 0, length], message.as_bytes()].concat()
}

#[tokio::test]
async fn call_of_every_kind_is_forwarded() {
    let backend = serve(Server::builder().add_service(CalculatorServer::new(Sums))).await;
    let address = front(calculator(&to_native(&backend))).await;
    call_every_kind(&address).await;
    stream_json(&address).await;
}

/// Checks that metadata precedes the messages of a stream, and that a failure follows them.
pub(crate) async fn recite(address: &str) {
    let client = GreeterClient::connect(address).await.expect("gateway should accept the connection");
    let mut request = Request::new(Name { name: "fail".to_owned() });
    request.metadata_mut().insert("tenant", "blue").expect("metadata entry should be valid");
    let mut verses = client.recite(request).await.expect("stream should open").into_inner();
    assert_eq!(
        verses.message().await.expect("stream should not fail").expect("stream should have a message").text,
        "1 fail"
    );
    assert_eq!(verses.metadata().get("tenant"), Some("blue"));
    assert_eq!(verses.message().await.expect_err("stream should fail after its message").code(), Code::DataLoss);
}

#[tokio::test]
async fn failure_of_stream_follows_its_messages() {
    let backend = serve(Server::builder().add_service(GreeterServer::new(Host::new().0))).await;
    recite(&front(greeter(&to_native(&backend))).await).await;
}

/// A greeter that answers streams with metadata but no messages. The error has metadata too.
struct Mute;

impl Greeter for Mute {
    async fn greet(&self, _: Request<Name>) -> Result<Response<Greeting>, Status> {
        Err(Status::unimplemented("no greetings"))
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        let mut failure = Status::data_loss("no verses");
        for (name, value) in [("x-internal", "1"), ("x-hint", "2"), ("connection", "x-hop"), ("x-hop", "3")] {
            failure.metadata_mut().insert(name, value).expect("metadata entry should be valid");
        }
        let verses = [Err(failure)];
        let mut response = Response::new(ResponseStream::new(frpc::iter(verses)));
        response.metadata_mut().insert("tenant", "blue").expect("metadata entry should be valid");
        Ok(response)
    }
}

#[tokio::test]
async fn metadata_precedes_failure_without_messages() {
    let backend = serve(Server::builder().add_service(GreeterServer::new(Mute))).await;
    let address = front(greeter(&to_native(&backend))).await;
    let request = post("/greet.Greeter/Recite", "application/connect+json", "", &envelope("{}"));
    let response = exchange(&address, request).await;
    assert!(response.to_lowercase().contains("\r\ntenant: blue\r\n"), "{response}");
    assert!(response.contains(r#""code":"data_loss""#), "{response}");
}

/// Regression test: fields that the gateway removes from replies reached callers if a stream failed after its head.
#[tokio::test]
async fn metadata_of_failed_stream_is_adapted() {
    let backend = serve(Server::builder().add_service(GreeterServer::new(Mute))).await;
    let fields = ForwardFields::new().remove_from_replies("x-internal");
    let address = front(greeter(&to_native(&backend).fields(fields))).await;
    let client = GreeterClient::connect(address).await.expect("gateway should accept the connection");
    let mut verses = client.recite(Name::default()).await.expect("stream should open").into_inner();
    let failure = verses.message().await.expect_err("stream should fail");
    let mut names: Vec<_> = failure.metadata().iter().map(|(name, _)| name).collect();
    names.sort_unstable();
    assert_eq!(names, ["x-hint"], "{failure:?}");
}

/// A calculator that counts forever, and reads a single number of a request stream.
struct Endless {
    sent: Arc<AtomicU64>,
    consumed: mpsc::UnboundedSender<i64>,
}

impl Calculator for Endless {
    async fn add(&self, _: Request<Terms>) -> Result<Response<Number>, Status> {
        Err(Status::unimplemented("no sums"))
    }

    async fn count_up(&self, _: Request<Range>) -> Result<Response<ResponseStream<Number>>, Status> {
        let sent = self.sent.clone();
        let numbers = (0..).map(move |value| {
            sent.fetch_add(1, Ordering::Relaxed);
            Ok(Number { value })
        });
        Ok(Response::new(ResponseStream::new(frpc::iter(numbers))))
    }

    async fn sum_up(&self, request: Request<Streaming<Number>>) -> Result<Response<Sum>, Status> {
        let mut numbers = request.into_inner();
        let first = numbers.message().await?.unwrap_or_default();
        let _ = self.consumed.send(first.value);
        std::future::pending().await
    }

    async fn running_sum(&self, _: Request<Streaming<Number>>) -> Result<Response<ResponseStream<Number>>, Status> {
        Err(Status::unimplemented("no sums"))
    }
}

/// Returns a channel to an in-memory server.
async fn in_memory(builder: ServerBuilder) -> Channel {
    let acceptor = builder.build().expect("server settings should be valid");
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    Channel::connect_io(here).await.expect("server should accept the in-memory connection")
}

/// Duration of a sleep that lets all other tasks run, because the paused clock advances only when no task can run.
const IDLE: Duration = Duration::from_millis(1);

#[tokio::test(start_paused = true)]
async fn stream_waits_for_slower_side() {
    // Upper bound on the items in two windows and the transport buffers. Each item takes at least four bytes.
    const AHEAD_MAX: u64 = 500_000;
    let (consumed, mut takes) = mpsc::unbounded_channel();
    let sent = Arc::new(AtomicU64::new(0));
    let service = CalculatorServer::new(Endless { sent: sent.clone(), consumed });
    let forward = Forward::to([in_memory(Server::builder().add_service(service)).await]);
    let client = CalculatorClient::new(in_memory(Server::builder().add_service(calculator(&forward))).await);
    let mut numbers = client.count_up(Range::default()).await.expect("response stream should open").into_inner();
    assert!(numbers.message().await.expect("response stream should not fail").is_some());
    // The backend stops sending when nothing is read.
    tokio::time::sleep(IDLE).await;
    let ahead = sent.load(Ordering::Relaxed);
    assert!(ahead < AHEAD_MAX, "{ahead} numbers were sent, and one was read");
    // Request streams have backpressure too, so sending must become pending.
    let (sender, requests) = frpc::RequestStream::channel(1);
    let call = tokio::spawn(async move { client.sum_up(requests).await });
    let mut count = 0;
    while tokio::time::timeout(IDLE, sender.send(Number { value: count })).await.is_ok() {
        count += 1;
        assert!(count < AHEAD_MAX.cast_signed(), "client should stop sending requests that are not read");
    }
    assert_eq!(takes.try_recv(), Ok(0));
    call.abort();
}
