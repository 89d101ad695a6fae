//! Tests of calls that an adapter makes with encoded messages. They pass the same middleware and limits as native
//! calls.

use bytes::Bytes;
use frisbee_tests::interop::InteropServer;
use frisbee_tests::service::Service as Interop;
use frisbee_tests::until;
use frpc::codegen::{Format, FormatOptions, Layout, Method, Methods, Service};
use frpc::{
    Acceptor, AdapterContext, AdapterMethod, Call, CallKind, CallResponse, Code, Config, Middleware, Next, Policy,
    Request, Response, ResponseStream, Server, ServerBuilder, Status, Streaming,
};
use futures_util::StreamExt;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::sync::{Semaphore, mpsc, oneshot};

static LAYOUT: Layout = Layout::new("words.Words", &[10, 11, 12, 13], 1, b"", "");
/// Maximum time to wait for an event that is due soon.
const TIMEOUT: Duration = Duration::from_secs(60);

const UPPER: &str = "Upper";
const NAMES: [&str; 4] = [UPPER, "Split", "Join", "Echo"];

/// A service with methods of every kind. Its unary method waits for a permit.
#[derive(Clone)]
struct Words {
    gate: Arc<Semaphore>,
    began: mpsc::UnboundedSender<()>,
    dropped: mpsc::UnboundedSender<()>,
}

/// Reports when a handler is dropped.
struct Guard(mpsc::UnboundedSender<()>);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

async fn upper(words: &Words, request: Request<String>) -> Result<Response<String>, Status> {
    if request.get_ref() == "at once" {
        return Ok(Response::new("AT ONCE".to_owned()));
    }
    let _guard = Guard(words.dropped.clone());
    let _ = words.began.send(());
    assert_ne!(request.get_ref(), "panic", "handler should panic on request of the test");
    // Tasks and timers of a handler must belong to the runtime of the server.
    tokio::spawn(tokio::time::sleep(Duration::ZERO)).await.map_err(|error| Status::internal(error.to_string()))?;
    words.gate.acquire().await.map_err(|_| Status::aborted("closed"))?.forget();
    let mut response = Response::new(request.get_ref().to_uppercase());
    let word = request.metadata().get("word").unwrap_or_default().to_owned();
    response.metadata_mut().insert("word", word.as_str()).map_err(|error| Status::internal(error.to_string()))?;
    Ok(response)
}

fn text() -> Format<String, String> {
    let decode = |bytes: &Bytes, _: &FormatOptions| {
        String::from_utf8(bytes.to_vec()).map_err(|_| Status::invalid_argument("the request is no text"))
    };
    Format::new("text", decode, |word: &String, _| Ok(word.clone().into()))
}

impl Service for Words {
    const NAME: &'static str = "words.Words";

    fn methods(&self) -> Methods {
        let method = |number: usize| Method::new(&LAYOUT, NAMES[number], 10 + number as u16);
        Methods::new(&Arc::new(self.clone()), &LAYOUT)
            .unary(method(0), |words, request| async move { upper(&words, request).await })
            .format(text())
            .server_streaming(method(1), |_, request: Request<String>| async move {
                let words: Vec<_> = request.into_inner().split(' ').map(|word| Ok(word.to_owned())).collect();
                Ok(Response::new(ResponseStream::new(frpc::iter(words))))
            })
            .format(text())
            .client_streaming(method(2), |_, mut request: Request<Streaming<String>>| async move {
                let mut joined = String::new();
                while let Some(word) = request.get_mut().message().await? {
                    joined += &word;
                }
                Ok(Response::new(joined))
            })
            .format(text())
            .streaming(method(3), |_, request: Request<Streaming<String>>| async move {
                Ok(Response::new(ResponseStream::new(request.into_inner())))
            })
            .format(text())
            .done()
    }
}

/// A server, and the context of an adapter connection to this server.
struct Host {
    context: AdapterContext,
    began: mpsc::UnboundedReceiver<()>,
    dropped: mpsc::UnboundedReceiver<()>,
    gate: Arc<Semaphore>,
    /// The client's end of the connection.
    _client: tokio::io::DuplexStream,
    _over: oneshot::Sender<()>,
    _server: Acceptor,
}

impl Host {
    async fn open(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let ((began, has_started), (dropped, was_dropped)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let gate = Arc::new(Semaphore::new(0));
        let words = Words { gate: gate.clone(), began, dropped };
        let (over, is_over) = oneshot::channel::<()>();
        let (give, mut contexts) = mpsc::unbounded_channel();
        let is_over = std::sync::Mutex::new(Some(is_over));
        let builder = Server::builder().add_service(words).adapter(
            |_| true,
            move |transport, context| {
                let is_over = is_over.lock().expect("lock should not be poisoned").take();
                give.send(context).expect("receiver should be waiting");
                async move {
                    let _transport = transport;
                    if let Some(is_over) = is_over {
                        let _ = is_over.await;
                    }
                    Ok(())
                }
            },
        );
        let server = settings(builder).build().expect("settings should be valid");
        let (here, there) = tokio::io::duplex(1024);
        let serving = server.clone();
        tokio::spawn(async move { serving.serve_connection(there).await });
        let mut client = here;
        client.write_all(b"X").await.expect("write should succeed");
        let context = contexts.recv().await.expect("channel should stay open");
        let (began, dropped) = (has_started, was_dropped);
        Self { context, began, dropped, gate, _client: client, _over: over, _server: server }
    }

    fn method(&self, name: &str) -> AdapterMethod {
        self.context.methods().get("words.Words", name).expect("method should exist")
    }

    /// Calls the unary method in a task.
    fn call(&self, word: &'static str) -> tokio::task::JoinHandle<Result<Response<Bytes>, Status>> {
        let method = self.method(UPPER);
        tokio::spawn(async move { method.unary(Request::new(Bytes::from_static(word.as_bytes())), "text").await })
    }
}

fn words(words: &[&'static str]) -> impl futures_util::Stream<Item = Result<Bytes, Status>> + Send + 'static {
    let words: Vec<_> = words.iter().map(|word| Ok(Bytes::from_static(word.as_bytes()))).collect();
    frpc::iter(words)
}

/// Returns the replies of a method to the given requests.
async fn stream(method: AdapterMethod, requests: &[&'static str]) -> Result<Vec<String>, Status> {
    let mut responses = method.streaming(Request::new(words(requests)), "text").await?.into_inner();
    let mut all = Vec::new();
    while let Some(response) = responses.next().await {
        all.push(String::from_utf8(response?.to_vec()).expect("response should be UTF-8"));
    }
    Ok(all)
}

/// Returns the next item, which must arrive in time.
async fn soon<T>(items: &mut mpsc::UnboundedReceiver<T>) -> T {
    tokio::time::timeout(TIMEOUT, items.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("sender should not be dropped")
}

fn code<T>(result: Result<T, Status>) -> Code {
    result.err().map_or(Code::Ok, |status| status.code())
}

#[tokio::test]
async fn adapter_call_kinds_carry_bytes_and_metadata() {
    let host = Host::open(|builder| builder).await;
    let kinds = [CallKind::Unary, CallKind::ServerStreaming, CallKind::ClientStreaming, CallKind::Streaming];
    let found: Vec<_> = host.context.methods().iter().map(|method| (method.name(), method.kind())).collect();
    assert_eq!(found, NAMES.into_iter().zip(kinds).collect::<Vec<_>>());
    host.gate.add_permits(2);
    let mut request = Request::new(Bytes::from_static(b"one"));
    request.metadata_mut().insert("word", "open").expect("metadata entry should be valid");
    let response = host.method(UPPER).unary(request, "text").await.expect("call should succeed");
    assert_eq!((&response.get_ref()[..], response.metadata().get("word")), (&b"ONE"[..], Some("open")));
    assert_eq!(stream(host.method(UPPER), &["two"]).await.expect("peer should answer"), ["TWO"]);
    assert_eq!(stream(host.method("Split"), &["a b c"]).await.expect("peer should answer"), ["a", "b", "c"]);
    assert_eq!(stream(host.method("Join"), &["a", "b", "c"]).await.expect("peer should answer"), ["abc"]);
    assert_eq!(stream(host.method("Echo"), &["a", "b"]).await.expect("peer should answer"), ["a", "b"]);
}

#[tokio::test]
async fn wrong_request_shape_or_format_is_rejected() {
    let mut host = Host::open(|builder| builder).await;
    let bytes = || Request::new(Bytes::from_static(b"\xff"));
    assert_eq!(code(host.method(UPPER).unary(bytes(), "text").await), Code::InvalidArgument);
    assert_eq!(code(host.method(UPPER).unary(bytes(), "json").await), Code::Unimplemented);
    assert_eq!(code(host.method("Echo").unary(bytes(), "text").await), Code::Unimplemented);
    for count in [0, 2] {
        assert_eq!(code(stream(host.method("Split"), &["a"; 2][..count]).await), Code::InvalidArgument);
    }
    assert!(host.context.methods().get("words.Words", "Lower").is_none());
    assert!(host.context.methods().get("Words", UPPER).is_none());
    assert_eq!(host.began.try_recv().ok(), None, "no handler should have run");
}

/// Returns the context of an adapter connection to a server of this service.
async fn context_of(service: impl Service) -> AdapterContext {
    let (give, mut contexts) = mpsc::unbounded_channel();
    let builder = Server::builder().add_service(service).adapter(
        |_| true,
        move |transport, context: AdapterContext| {
            let give = give.clone();
            async move {
                let _ = give.send(context.clone());
                let _transport = transport;
                context.stopping().await;
                Ok(())
            }
        },
    );
    let server = builder.build().expect("settings should be valid");
    let (mut client, there) = tokio::io::duplex(1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    client.write_all(b"X").await.expect("write should succeed");
    tokio::spawn(async move {
        let _client = client;
        std::future::pending::<()>().await;
    });
    soon(&mut contexts).await
}

#[tokio::test]
async fn json_request_beyond_service_limit_is_rejected() {
    let service = InteropServer::new(Interop).max_decoding_message_size(100);
    let context = context_of(service).await;
    let method = |name| context.methods().get("interop.Interop", name).expect("method should exist");
    let long = |text: &str| Bytes::from(format!("{text:100} "));
    let refused = method("Add").unary(Request::new(long("{}")), "json").await;
    assert_eq!(code(refused), Code::ResourceExhausted);
    assert_eq!(code(method("Add").unary(Request::new(long("{}").slice(..100)), "json").await), Code::Ok);
    let requests = Request::new(frpc::iter([Ok(long("{}"))]));
    assert_eq!(code(method("CountUp").streaming(requests, "json").await), Code::ResourceExhausted);
    let requests = Request::new(frpc::iter([Ok(Bytes::from_static(b"{}")), Ok(long("{}"))]));
    assert_eq!(code(method("SumUp").streaming(requests, "json").await), Code::ResourceExhausted);
}

#[tokio::test]
async fn generated_service_accepts_json_by_schema_names() {
    let context = context_of(InteropServer::new(Interop)).await;
    let method = |name| context.methods().get("interop.Interop", name).expect("method should exist");
    let add = |json: &'static str| {
        let add = method("Add");
        async move { add.unary(Request::new(Bytes::from_static(json.as_bytes())), "json").await }
    };
    let sum = add(r#"{"a": 1, "b": "41"}"#).await.expect("call should succeed");
    assert_eq!(&sum.get_ref()[..], br#"{"total":"42","count":"2"}"#);
    let refused = add(r#"{"a": 1, "c": 2}"#).await.expect_err("call should fail");
    assert_eq!(refused.code(), Code::InvalidArgument);
    assert!(refused.message().contains("has no field \"c\""), "{refused}");
    let range = Request::new(words(&[r#"{"from": 7, "count": 2}"#]));
    let counted = method("CountUp").streaming(range, "json").await.expect("peer should answer").into_inner();
    let counted: Vec<_> = counted.map(|count| count.expect("item should be a count")).collect().await;
    assert_eq!(counted, [r#"{"value":"7"}"#, r#"{"value":"8"}"#]);
}

/// Middleware that denies every call.
struct Closed;

impl Middleware for Closed {
    async fn call(&self, call: Call, _next: Next) -> Result<CallResponse, Status> {
        Err(Status::permission_denied(format!("{} is closed", call.method())))
    }
}

#[tokio::test]
async fn denying_middleware_denies_every_adapter_call_kind() {
    let mut host = Host::open(|builder| builder.middleware(Closed)).await;
    host.gate.add_permits(2);
    let denied = host.method(UPPER).unary(Request::new(Bytes::new()), "text").await;
    assert_eq!(code(denied), Code::PermissionDenied);
    for name in NAMES {
        assert_eq!(code(stream(host.method(name), &["a"]).await), Code::PermissionDenied, "{name}");
    }
    assert_eq!(host.began.try_recv().ok(), None, "no handler should have run");
}

#[tokio::test(start_paused = true)]
async fn deadline_ends_gateway_handlers_and_streams() {
    for policy in [Policy::Inline, Policy::Concurrent] {
        let mut host = Host::open(|builder| builder.policy(policy)).await;
        let mut request = Request::new(Bytes::from_static(b"a"));
        request.set_timeout(Duration::from_secs(1));
        let method = host.method(UPPER);
        let called = tokio::time::timeout(TIMEOUT, method.unary(request, "text"))
            .await
            .expect("call should complete within the timeout");
        assert_eq!(code(called), Code::DeadlineExceeded, "{policy:?}");
        soon(&mut host.dropped).await;
        // The stream of requests never ends.
        let requests = words(&["a"]).chain(futures_util::stream::pending());
        let mut request = Request::new(requests);
        request.set_timeout(Duration::from_secs(1));
        let mut echoed = host.method("Echo").streaming(request, "text").await.expect("stream should open").into_inner();
        assert_eq!(echoed.next().await.and_then(Result::ok), Some(Bytes::from_static(b"a")));
        let last =
            tokio::time::timeout(TIMEOUT, echoed.next()).await.expect("next item should arrive within the timeout");
        assert_eq!(last.map(code), Some(Code::DeadlineExceeded));
        assert!(echoed.next().await.is_none());
    }
    let host = Host::open(|builder| builder).await;
    let mut request = Request::new(Bytes::new());
    request.set_timeout(Duration::ZERO);
    assert_eq!(code(host.method(UPPER).unary(request, "text").await), Code::DeadlineExceeded);
}

/// Regression test: a call that waited for a permit ended only when another call released one, after its own deadline.
/// Its handler still ran.
#[tokio::test(start_paused = true)]
async fn deadline_ends_wait_for_permit() {
    let mut host = Host::open(|builder| builder.method_policy("words.Words/Upper", Policy::AtMost(1))).await;
    let first = host.call("a");
    soon(&mut host.began).await;
    let mut request = Request::new(Bytes::from_static(b"b"));
    request.set_timeout(Duration::from_secs(1));
    let method = host.method(UPPER);
    let called = tokio::time::timeout(TIMEOUT, method.unary(request, "text"))
        .await
        .expect("call should complete within the timeout");
    assert_eq!(code(called), Code::DeadlineExceeded);
    host.gate.add_permits(1);
    first.await.expect("task should not panic").expect("peer should answer");
    assert_eq!(host.began.try_recv().ok(), None, "other handler should not have run");
}

#[tokio::test]
async fn dropping_adapter_call_drops_its_handler() {
    for policy in [Policy::Inline, Policy::Concurrent] {
        let mut host = Host::open(|builder| builder.policy(policy)).await;
        let call = host.call("a");
        soon(&mut host.began).await;
        call.abort();
        soon(&mut host.dropped).await;
    }
}

#[tokio::test]
async fn adapter_calls_obey_method_policy() {
    let mut host = Host::open(|builder| builder.method_policy("words.Words/Upper", Policy::AtMost(1))).await;
    let calls = [host.call("a"), host.call("b")];
    soon(&mut host.began).await;
    // The other call waits for a permit until this call has been answered.
    assert_eq!(stream(host.method("Join"), &["a"]).await.expect("peer should answer"), ["a"]);
    assert_eq!(host.began.try_recv().ok(), None);
    host.gate.add_permits(2);
    for call in calls {
        call.await.expect("task should not panic").expect("peer should answer");
    }
    soon(&mut host.began).await;
}

#[tokio::test]
async fn adapter_calls_beyond_connection_limit_are_rejected() {
    let mut host = Host::open(|builder| builder.config(Config::default().calls_max(2))).await;
    let calls = [host.call("a"), host.call("b")];
    for _ in &calls {
        soon(&mut host.began).await;
    }
    assert_eq!(code(host.call("c").await.expect("task should not panic")), Code::ResourceExhausted);
    host.gate.add_permits(3);
    for call in calls {
        call.await.expect("task should not panic").expect("peer should answer");
    }
    host.call("d").await.expect("task should not panic").expect("call should have a free slot");
}

/// Regression test: the metadata of streaming calls was not charged to the memory limit.
#[tokio::test]
async fn streaming_adapter_metadata_is_charged_to_peer() {
    let host = Host::open(|builder| builder).await;
    let (more, requests) = mpsc::unbounded_channel();
    let requests =
        futures_util::stream::unfold(requests, async |mut requests| Some((requests.recv().await?, requests)));
    let mut request = Request::new(requests);
    request.metadata_mut().insert("word", "x".repeat(50_000)).expect("metadata entry should be valid");
    let method = host.method("Join");
    let call = tokio::spawn(async move { method.streaming(request, "text").await.map(drop) });
    until("the metadata is charged", || host.context.stats().charged_bytes() >= 50_000).await;
    more.send(Ok(Bytes::new())).expect("receiver should be waiting");
    drop(more);
    call.await.expect("task should not panic").expect("peer should answer");
    until("the charge is released", || host.context.stats().charged_bytes() == 0).await;
}

/// Regression test: a call ran and was then rejected, because another call held the only permit.
#[tokio::test]
async fn streamed_unary_call_is_rejected_before_running() {
    let mut host = Host::open(|builder| builder.config(Config::default().calls_max(1))).await;
    let call = host.call("a");
    soon(&mut host.began).await;
    let refused = stream(host.method(UPPER), &["at once"]).await.expect_err("other call should hold the permit");
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    host.gate.add_permits(1);
    call.await.expect("task should not panic").expect("peer should answer");
    assert_eq!(stream(host.method(UPPER), &["at once"]).await.expect("peer should answer"), ["AT ONCE"]);
}

#[tokio::test]
async fn adapter_call_panic_spares_other_calls() {
    let host = Host::open(|builder| builder).await;
    host.gate.add_permits(1);
    assert_eq!(code(host.call("panic").await.expect("panic should be caught")), Code::Internal);
    host.call("a").await.expect("task should not panic").expect("peer should answer");
}
