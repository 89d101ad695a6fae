//! Tests of HTTP/2 responses: memory for unread ones, header fields, and interim responses.

use super::connections::{Host, LONG, TIMEOUT, dial};
use super::http2_client::{DATA, HEADERS, Http2, PING, head, head_of};
use bytes::Bytes;
use frisbee_http2::hpack::{Decoder, Encoder};
use frpc::tensor::{Image, Tensor};
use frpc::{Code, Request, Response, ResponseStream, Server, Status, Streaming, Trailers};
use frpc_gateway::{Gateway, Http, ServeGateway as _};
use parking_lot::Mutex;
use prost::Message as _;
use samples::greet::{Greeter, GreeterServer, Greeting, Name};
use samples::model::{Description, Model, ModelServer, Scaling};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// Content types of three protocols, whose responses are written by different code.
const CONTENT_TYPES: [&str; 3] = ["application/json", "application/grpc+json", "application/grpc-web+json"];

/// Encodes a request body for a content type.
fn body(content_type: &str, name: &str) -> Vec<u8> {
    let message = format!("{{\"name\":\"{name}\"}}").into_bytes();
    let length = u32::try_from(message.len()).expect("message should be short").to_be_bytes();
    if content_type == "application/json" { message } else { [&[0][..], &length, &message].concat() }
}

/// Decodes the fields of the next HEADERS frame.
async fn fields(client: &mut Http2<DuplexStream>, decoder: &mut Decoder) -> Vec<(String, String)> {
    let payload = loop {
        let (kind, payload) = client.frame().await.expect("connection should stay open");
        if kind == HEADERS {
            break payload;
        }
    };
    let (mut fields, text) = (Vec::new(), |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned());
    decoder
        .decode(&payload, |field| fields.push((text(field.name), text(field.value))))
        .expect("field block should be valid");
    fields
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

/// Regression test: an enveloped response was not charged while its stream had no window.
#[tokio::test(start_paused = true)]
async fn unread_responses_without_window_are_charged() {
    const CALLS: u32 = 5;
    for content_type in CONTENT_TYPES {
        let (host, server) = Host::in_memory();
        let stats = server.stats();
        let mut client = Http2::connect(dial(&server), 0).await;
        for call in 0..CALLS {
            client.send(HEADERS, 4, 2 * call + 1, &head(content_type)).await;
            client.send(DATA, 1, 2 * call + 1, &body(content_type, "long")).await;
            host.begins().await;
        }
        sleep(Duration::from_millis(1)).await;
        let held = stats.memory_held();
        assert!(held >= CALLS as usize * LONG, "server holds {held} bytes for {content_type}");
    }
}

/// Regression test: all requests of one read were answered before any response was charged.
#[tokio::test(start_paused = true)]
async fn responses_of_one_read_stay_within_memory() {
    const MEMORY: usize = 1 << 20;
    for content_type in CONTENT_TYPES {
        let (_, builder) = Host::served();
        let server = builder.memory_max(MEMORY).build().expect("server settings should be valid");
        let stats = server.stats();
        let mut client = Http2::connect(dial(&server), 0).await;
        let mut frames = Vec::new();
        for call in 0..50_u32 {
            let (head, body) = (head(content_type), body(content_type, "long"));
            for (kind, flags, payload) in [(HEADERS, 4, head), (DATA, 1, body)] {
                let length = u32::try_from(payload.len()).expect("payload should be short").to_be_bytes();
                frames.extend([&length[1..], &[kind, flags], &(2 * call + 1).to_be_bytes(), &payload].concat());
            }
        }
        client.write(&frames).await;
        sleep(Duration::from_millis(1)).await;
        let held = stats.memory_held();
        assert!((MEMORY / 4..MEMORY).contains(&held), "server holds {held} bytes for {content_type}");
    }
}

/// Regression test: the heads of waiting requests were not charged, and each of 256 requests of a connection could hold
/// 16 KiB.
#[tokio::test(start_paused = true)]
async fn heads_of_waiting_requests_are_charged() {
    const CALLS: u32 = 50;
    const FIELD: usize = 12_000;
    // A JSON call holds its head and the metadata. An incomplete gRPC call holds only the metadata.
    for (content_type, is_complete, copies) in [("application/json", true, 2), ("application/grpc+json", false, 1)] {
        let (host, server) = Host::in_memory();
        let stats = server.stats();
        let mut client = Http2::connect(dial(&server), 65_535).await;
        let mut head = head(content_type);
        Encoder::new().put(b"x-long", &[b'x'; FIELD], true, &mut head);
        for call in 0..CALLS {
            client.send(HEADERS, 4, 2 * call + 1, &head).await;
            if is_complete {
                client.send(DATA, 1, 2 * call + 1, &body(content_type, "wait")).await;
                host.begins().await;
            }
        }
        // After 100 ms, an incomplete unary call becomes a stream.
        for wait in [1, 200] {
            sleep(Duration::from_millis(wait)).await;
            let held = stats.memory_held();
            assert!(held >= copies * CALLS as usize * FIELD, "server holds {held} bytes for {content_type}");
        }
    }
}

/// Regression test: a client that read responses at the minimum rate was disconnected after 20 s, because it received
/// the PING of the server only after these responses.
#[tokio::test(start_paused = true)]
async fn slow_reader_may_answer_ping_late() {
    const CALLS: u32 = 10;
    let gateway = Gateway::new().http(Http::new().connect());
    let server = Server::builder().add_service(GreeterServer::new(Host::served().0)).gateway(gateway);
    let server = server.build().expect("server settings should be valid");
    let mut client = Http2::connect(dial(&server), 1 << 30).await;
    for call in 0..CALLS {
        client.send(HEADERS, 4, 2 * call + 1, &head("application/json")).await;
        client.send(DATA, 1, 2 * call + 1, &body("application/json", "long")).await;
    }
    let mut read = 0;
    while read < CALLS as usize * LONG {
        let (kind, payload) = client.frame().await.expect("connection should stay open");
        if kind == DATA {
            read += payload.len();
            sleep(Duration::from_secs(1)).await;
        }
    }
}

/// RFC 9110, section 10.1.1: a server responds to the expectation `100-continue` before it reads the content.
#[tokio::test(start_paused = true)]
async fn expectation_is_confirmed_before_body() {
    for content_type in CONTENT_TYPES {
        let (_host, server) = Host::in_memory();
        let mut client = Http2::connect(dial(&server), 65_535).await;
        let mut decoder = Decoder::new();
        for stream in [1, 3, 5] {
            let head = [&head(content_type)[..], b"\x0f\x14\x0c100-Continue"].concat();
            client.send(HEADERS, 4, stream, &head).await;
            let interim = timeout(TIMEOUT, fields(&mut client, &mut decoder)).await;
            let interim = interim.expect("interim response should arrive within the timeout");
            assert_eq!(interim, [(":status".to_owned(), "100".to_owned())]);
            client.send(DATA, 1, stream, &body(content_type, "Ada")).await;
            assert_eq!(value(&fields(&mut client, &mut decoder).await, ":status"), Some("200"));
            if content_type == "application/grpc+json" {
                assert_eq!(value(&fields(&mut client, &mut decoder).await, "grpc-status"), Some("0"));
            }
        }
    }
}

/// A greeter whose replies have metadata with spaces at both ends.
struct Spaced;

impl Greeter for Spaced {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let mut metadata = frpc::Metadata::new();
        metadata.insert("spaced", " a b ").expect("metadata entry should be valid");
        if request.get_ref().name == "fail" {
            return Err(Status::aborted(" two  words ").with_metadata(metadata));
        }
        let mut response = Response::new(Greeting::default());
        *response.metadata_mut() = metadata.clone();
        response.extensions_mut().insert(Trailers(metadata));
        Ok(response)
    }

    async fn recite(&self, _: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        Err(Status::unimplemented("no verses"))
    }
}

/// RFC 9113, section 8.2.1: "A field value MUST NOT start or end with an ASCII whitespace character".
#[tokio::test(start_paused = true)]
async fn field_values_have_no_spaces_at_ends() {
    let gateway = Gateway::new().http(Http::new().grpc());
    let server = Server::builder().add_service(GreeterServer::new(Spaced)).gateway(gateway);
    let server = server.build().expect("server settings should be valid");
    let mut client = Http2::connect(dial(&server), 65_535).await;
    let mut decoder = Decoder::new();
    for (stream, name) in [(1, "Ada"), (3, "fail")] {
        client.send(HEADERS, 4, stream, &head("application/grpc+json")).await;
        client.send(DATA, 1, stream, &body("application/grpc+json", name)).await;
        let first = fields(&mut client, &mut decoder).await;
        assert_eq!(value(&first, "spaced"), Some("a b"), "{first:?}");
        let last = if name == "fail" { first } else { fields(&mut client, &mut decoder).await };
        assert_eq!(value(&last, "spaced"), Some("a b"), "{last:?}");
        assert_eq!(value(&last, "grpc-message"), (name == "fail").then_some("%20two  words%20"));
    }
}

/// A service that stores the bytes of its requests.
#[derive(Clone, Default)]
struct Store(Arc<Mutex<Vec<Bytes>>>);

impl Model for Store {
    async fn scale(&self, _: Request<Scaling>) -> Result<Response<Tensor>, Status> {
        Err(Status::unimplemented("no tensors"))
    }

    async fn describe(&self, request: Request<Image>) -> Result<Response<Description>, Status> {
        self.0.lock().push(request.into_inner().data);
        Ok(Response::new(Description::default()))
    }
}

/// Regression test: short bytes fields were slices of the thread's read buffer, and each call that kept them could keep
/// 64 KiB alive.
#[tokio::test(start_paused = true)]
async fn short_bytes_do_not_keep_read_buffer() {
    let gateway = Gateway::new().http(Http::new().connect().grpc());
    let store = Store::default();
    let server = Server::builder().add_service(ModelServer::new(store.clone())).gateway(gateway);
    let server = server.build().expect("server settings should be valid");
    for content_type in ["application/proto", "application/grpc+proto"] {
        let mut client = Http2::connect(dial(&server), 65_535).await;
        // Wait for the SETTINGS of the server, so that the request arrives in a separate read.
        client.frame().await.expect("connection should stay open");
        let message = Image { media_type: String::new(), data: vec![0; 100].into() }.encode_to_vec();
        let prefix = [0, 0, 0, 0, u8::try_from(message.len()).expect("message should be short")];
        let body = if content_type == "application/proto" { message } else { [&prefix[..], &message].concat() };
        client.send(HEADERS, 4, 1, &head_of("/model.Model/Describe", content_type)).await;
        client.send(DATA, 1, 1, &body).await;
        assert_eq!(value(&fields(&mut client, &mut Decoder::new()).await, ":status"), Some("200"));
        let stored = store.0.lock().pop().expect("request should have been stored");
        assert!(stored.is_unique(), "bytes should have their own memory with {content_type}");
    }
}

/// A greeter with long reply metadata, except for the name `wait`, which waits for a permit.
#[derive(Clone)]
struct Verbose(Arc<tokio::sync::Semaphore>);

impl Greeter for Verbose {
    async fn greet(&self, request: Request<Name>) -> Result<Response<Greeting>, Status> {
        let mut metadata = frpc::Metadata::new();
        metadata.insert("long", "x".repeat(40_000)).expect("metadata entry should be valid");
        let mut response = Response::new(Greeting::default());
        match &*request.get_ref().name {
            "wait" => drop(self.0.acquire().await),
            "head" => *response.metadata_mut() = metadata,
            "trailers" => drop(response.extensions_mut().insert(Trailers(metadata))),
            _ => return Err(Status::aborted("").with_metadata(metadata)),
        }
        Ok(response)
    }

    async fn recite(&self, request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        self.greet(request).await.map(|response| response.map(|_| ResponseStream::new(frpc::iter([]))))
    }
}

/// Regression test: long metadata of a reply or a call closed the connection, and all calls on it failed.
#[tokio::test]
async fn long_metadata_fails_only_its_call() {
    let permits = Arc::new(tokio::sync::Semaphore::new(0));
    let gateway = Gateway::new().http(Http::new().grpc());
    let server = Server::builder().add_service(GreeterServer::new(Verbose(permits.clone()))).gateway(gateway);
    let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let address = format!("grpc://{}", server.local_addr());
    tokio::spawn(server.serve());
    let channel = frpc::Channel::builder().connect_lazy(address).expect("address should be valid");
    let client = samples::greet::GreeterClient::new(channel);
    let waiting = client.greet(Name { name: "wait".into() });
    let calls = async {
        for (name, code) in
            [("head", Code::ResourceExhausted), ("trailers", Code::ResourceExhausted), ("status", Code::Aborted)]
        {
            let failed = client.greet(Name { name: name.into() }).await.expect_err("metadata should be too long");
            assert_eq!(failed.code(), code, "{failed}");
            let mut verses = client.recite(Name { name: name.into() }).await.expect("stream should begin").into_inner();
            let failed = verses.message().await.expect_err("metadata should be too long");
            assert_eq!(failed.code(), code, "{failed}");
        }
        let mut request = Request::new(Name { name: "Ada".into() });
        request.metadata_mut().insert("long", "x".repeat(40_000)).expect("metadata entry should be valid");
        let failed = client.greet(request).await.expect_err("metadata should be too long");
        assert!(failed.code() == Code::ResourceExhausted && !failed.may_have_run(), "{failed}");
        permits.add_permits(1);
    };
    let (waited, ()) = tokio::join!(waiting, calls);
    waited.expect("call should not be affected by other calls");
}

/// RFC 9110, section 9.3.2: "The HEAD method is identical to GET except that the server MUST NOT send content in the
/// response."
#[tokio::test(start_paused = true)]
async fn refusal_of_long_head_request_has_no_body() {
    let (_host, server) = Host::in_memory();
    let mut client = Http2::connect(dial(&server), 65_535).await;
    // A HEAD request with 101 more fields, of which 100 are permitted. Each 0x90 is `accept-encoding: gzip, deflate`.
    let block = [&b"\x42\x04HEAD\x86\x84\x01\x09localhost"[..], &[0x90; 101]].concat();
    client.send(HEADERS, 5, 1, &block).await;
    assert_eq!(value(&fields(&mut client, &mut Decoder::new()).await, ":status"), Some("431"));
    client.send(PING, 0, 0, &[0; 8]).await;
    loop {
        let (kind, payload) = client.frame().await.expect("connection should stay open");
        assert_ne!(kind, DATA, "{}", String::from_utf8_lossy(&payload));
        if kind == PING {
            break;
        }
    }
}

/// A waker that panics when it is woken.
struct BrokenWaker;

impl Wake for BrokenWaker {
    fn wake(self: Arc<Self>) {
        panic!("on purpose")
    }
}

/// A greeter that waits for the first name of a stream with a broken waker.
struct BrokenReader(Arc<Notify>);

impl samples::greeter::Greeter for BrokenReader {
    async fn greet(&self, _: Request<samples::greeter::Name>) -> Result<Response<samples::greeter::Greeting>, Status> {
        Err(Status::not_found("it is alive"))
    }

    async fn greet_all(
        &self,
        request: Request<Streaming<samples::greeter::Name>>,
    ) -> Result<Response<ResponseStream<samples::greeter::Greeting>>, Status> {
        let (mut names, waker) = (request.into_inner(), Arc::new(BrokenWaker).into());
        let polled = pin!(names.message()).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "no name should have arrived");
        self.0.notify_one();
        std::future::pending().await
    }
}

/// Regression test: a panicking waker of a handler that reads a request stream closed the connection.
#[tokio::test]
async fn panicking_waker_of_body_reader_is_caught() {
    let is_waiting = Arc::<Notify>::default();
    let service = samples::greeter::GreeterServer::new(BrokenReader(is_waiting.clone()));
    let server = Server::builder().add_service(service).gateway(Gateway::new().http(Http::new().grpc()));
    let mut client = Http2::connect(dial(&server.build().expect("server settings should be valid")), 65_535).await;
    client.send(HEADERS, 4, 1, &head_of("/greeter.Greeter/GreetAll", "application/grpc")).await;
    timeout(TIMEOUT, is_waiting.notified()).await.expect("handler should wait for a name");
    client.send(DATA, 0, 1, &[0, 0, 0]).await;
    client.send(HEADERS, 4, 3, &head_of("/greeter.Greeter/Greet", "application/grpc")).await;
    client.send(DATA, 1, 3, &[0; 5]).await;
    assert_eq!(client.status().await, "5");
}
