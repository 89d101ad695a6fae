//! Tests of how calls carry their trace context from end to end, and of what handlers pass on.

use frisbee_tests::extension::{ExtensionClient, ExtensionServer, Maybe, Time};
use frisbee_tests::observed::Service;
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{serve, until};
use frpc::observe::{CallEnd, CallSide, ObservedMethod, Observer, Token, TraceContext};
use frpc::{Channel, Code, Metadata, Request, Server, Status};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

/// A call as reported to an observer.
#[derive(Clone, Copy, Debug)]
struct ObservedCall {
    side: CallSide,
    method: &'static str,
    received: Option<TraceContext>,
    made: TraceContext,
    ended: Option<CallEnd>,
}

/// An observer that gives each call its own span in the trace of the caller.
#[derive(Clone, Default)]
struct Marking {
    observed: Arc<Mutex<Vec<ObservedCall>>>,
    spans: Arc<AtomicU8>,
}

impl Marking {
    fn next(&self, received: Option<TraceContext>) -> TraceContext {
        let span = [self.spans.fetch_add(1, Ordering::SeqCst) + 1; 8];
        let trace = received.map_or([7; 16], |received| received.trace_id());
        TraceContext::new(trace, span, received.is_none_or(|received| received.is_sampled()))
            .expect("ids should not be zero")
    }

    fn of(&self, side: CallSide) -> Vec<ObservedCall> {
        self.observed.lock().unwrap().iter().filter(|observed| observed.side == side).copied().collect()
    }
}

impl Observer for Marking {
    fn begin(&self, about: &ObservedMethod, trace: &mut Option<TraceContext>) -> Token {
        let made = self.next(*trace);
        let mut observed = self.observed.lock().unwrap();
        observed.push(ObservedCall { side: about.side(), method: about.method(), received: *trace, made, ended: None });
        *trace = Some(made);
        Token(observed.len() as u64)
    }

    fn end(&self, _about: &ObservedMethod, token: Token, ended: &CallEnd) {
        self.observed.lock().unwrap()[token.0 as usize - 1].ended = Some(*ended);
    }

    fn retry(&self, about: &ObservedMethod, token: Token, _failed: &Status, trace: &mut Option<TraceContext>) {
        let observed = self.observed.lock().unwrap()[token.0 as usize - 1];
        assert_eq!(
            (observed.method, Some(observed.made)),
            (about.method(), *trace),
            "observed context should be the one that was sent with the call"
        );
        *trace = Some(self.next(*trace));
    }
}

async fn client(address: impl ToString, marking: Option<&Marking>) -> ExtensionClient {
    ExtensionClient::new(channel(address, marking).await)
}

async fn channel(address: impl ToString, marking: Option<&Marking>) -> Channel {
    let mut builder = Channel::builder().calls::<ExtensionClient>();
    if let Some(marking) = marking {
        builder = builder.observer(marking.clone());
    }
    builder.connect(address.to_string()).await.expect("server should accept the connection")
}

/// Returns a client of a server whose `Ask` calls another server.
async fn relayed(marking: &Marking, between: Option<&Marking>) -> ExtensionClient {
    let last = Server::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let last = serve(last).await;
    let service = Service::default();
    assert!(service.state.back.set(client(last, between).await).is_ok());
    let mut first = Server::builder().add_service(ExtensionServer::new(service));
    if let Some(marking) = between {
        first = first.observer(marking.clone());
    }
    client(serve(first).await, Some(marking)).await
}

fn parents(observed: &[ObservedCall]) -> Vec<Option<[u8; 8]>> {
    observed.iter().map(|observed| observed.received.map(|received| received.span_id())).collect()
}

#[tokio::test]
async fn handler_span_is_parent_of_nested_call() {
    for millis in [0, 2] {
        let marking = Marking::default();
        let client = relayed(&marking, Some(&marking)).await;
        client.ask(Time { millis }).await.expect("call should succeed");
        let observed = marking.observed.lock().unwrap().clone();
        let sides: Vec<_> = observed.iter().map(|observed| observed.side).collect();
        assert_eq!(sides, [CallSide::Client, CallSide::Server, CallSide::Client, CallSide::Server]);
        assert_eq!(parents(&observed), [None, Some([1; 8]), Some([2; 8]), Some([3; 8])]);
        assert!(observed.iter().all(|observed| observed.made.trace_id() == [7; 16] && observed.made.is_sampled()));
        let remote: Vec<_> =
            observed.iter().map(|observed| observed.received.is_some_and(|received| received.is_remote())).collect();
        assert_eq!(remote, [false, true, false, true], "peer should be able to send any context");
    }
}

#[tokio::test]
async fn unobserved_ends_forward_trace_context() {
    let marking = Marking::default();
    let client = relayed(&marking, None).await;
    client.ask(Time { millis: 1 }).await.expect("call should succeed");
    assert_eq!(parents(&marking.observed.lock().unwrap()), [None, Some([1; 8])]);
}

#[tokio::test]
async fn trace_context_passes_with_every_call_option() {
    let marking = Marking::default();
    let server = Server::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let server = server.method_hand_off("extension.Extension/Echo");
    let channel = channel(serve(server).await, Some(&marking)).await;
    let client = ExtensionClient::new(channel.clone());
    let mut request = Request::new(Maybe::default());
    request.set_timeout(std::time::Duration::from_secs(60));
    request.metadata_mut().insert("sent-word", "x").expect("metadata entry should be valid");
    let reply = client.echo(request).await.expect("call should succeed");
    assert_eq!(
        reply.metadata().iter().map(|(key, _)| key).collect::<Vec<_>>(),
        ["got-word"],
        "tracing should add no metadata"
    );
    let around = channel.with_middleware(async |call: frpc::Call, next: frpc::Next| next.run(call).await);
    ExtensionClient::new(around).echo(Maybe::default()).await.expect("call should succeed");
    let (handing_off, _handed) = channel.request_hand_off();
    ExtensionClient::new(handing_off).echo(Maybe::default()).await.expect("call should succeed");
    let mut chunks = client.flood(Time { millis: 3 }).await.expect("stream should open").into_inner();
    while chunks.message().await.expect("stream should not fail").is_some() {}
    client.sink(frpc::iter([])).await.expect("call should succeed");
    until("all have ended", || marking.observed.lock().unwrap().iter().all(|observed| observed.ended.is_some())).await;
    let made: Vec<_> = marking.of(CallSide::Client).iter().map(|observed| Some(observed.made.span_id())).collect();
    assert_eq!((made.len(), parents(&marking.of(CallSide::Server))), (5, made));
}

#[tokio::test]
async fn client_observer_gets_request_and_reply_sizes() {
    let marking = Marking::default();
    let server = Server::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let client = client(serve(server).await, Some(&marking)).await;
    // A call that cannot be sent at once has no sizes, and the first one waits for a HELLO.
    client.echo(Maybe::default()).await.expect("call should succeed");
    for length in [10, 20_000] {
        let text = Some("x".repeat(length));
        client.echo(Maybe { text, ..Maybe::default() }).await.expect("call should succeed");
        let [here, there] =
            [CallSide::Client, CallSide::Server].map(|side| marking.of(side).last().unwrap().ended.unwrap());
        for ended in [here, there] {
            let sizes = [ended.request_bytes, ended.reply_bytes];
            assert!(sizes.iter().all(|size| (length as u64..length as u64 + 100).contains(size)), "{sizes:?}");
            assert_eq!(ended.code, Code::Ok);
        }
    }
}

#[tokio::test]
async fn observers_of_both_ends_get_stream_sizes() {
    let marking = Marking::default();
    let server = Server::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let client = client(serve(server).await, Some(&marking)).await;
    let mut chunks = client.flood(Time { millis: 50 }).await.expect("stream should open").into_inner();
    let mut longest = 0;
    while let Some(chunk) = chunks.message().await.expect("stream should not fail") {
        longest += chunk.data.len() as u64;
    }
    until("both ends report the end of the call", || {
        marking.observed.lock().unwrap().iter().all(|observed| observed.ended.is_some())
    })
    .await;
    let [here, there] = [CallSide::Client, CallSide::Server].map(|side| marking.of(side)[0].ended.unwrap());
    assert!(here.reply_bytes >= longest && longest > 0, "{here:?} should have counted replies of {longest} bytes");
    // The sender also counts the headers of packets.
    assert!((here.reply_bytes..here.reply_bytes * 21 / 20).contains(&there.reply_bytes), "{there:?}, {here:?}");
    assert_eq!(there.request_bytes, here.request_bytes);
    assert!((1..100).contains(&here.request_bytes), "{here:?}");
    let dropped = client.flood(Time { millis: 0 }).await.expect("stream should open").into_inner();
    drop(dropped);
    let ended = marking.of(CallSide::Client)[1].ended.expect("dropped call should have ended");
    assert_eq!((ended.code, ended.request_bytes > 0), (Code::Cancelled, true));
}

#[tokio::test]
async fn compat_peer_receives_no_trace_context() {
    let (address, connected) = Raw::listen().await;
    let marking = Marking::default();
    let connecting = tokio::spawn(async move { client(address, Some(&marking)).await });
    let mut server = connected.await;
    // A PONG without a preceding HELLO.
    server.write(&packet(0, 1, &[])).await;
    let client = connecting.await.expect("task should not panic");
    let call = tokio::spawn(async move { client.get(Time { millis: 1 }).await });
    let request = loop {
        let packet = server.next().await.expect("connection should stay open");
        if packet.operation.number() >= 10 {
            break packet;
        }
    };
    assert_ne!(request.body.first(), Some(&0x10), "{:?}", request.body);
    call.abort();
}

#[tokio::test]
async fn server_initiated_calls_are_observed_and_traced() {
    let marking = Marking::default();
    let connected = Arc::new(Mutex::new(None));
    let server = Server::builder().observer(marking.clone()).calls::<ExtensionClient>().on_connect({
        let connected = connected.clone();
        move |connection| *connected.lock().unwrap() = Some(connection.clone())
    });
    let channel = Channel::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let _channel = channel.connect(serve(server).await.to_string()).await.expect("server should accept the connection");
    until("the server has the connection", || connected.lock().unwrap().is_some()).await;
    let connection = connected.lock().unwrap().take().expect("server should have a connection");
    let client = ExtensionClient::new(Channel::from_connection(&connection));
    for _ in 0..2 {
        client.get(Time { millis: 1 }).await.expect("call should succeed");
    }
    let observed = marking.observed.lock().unwrap().clone();
    let sides: Vec<_> = observed.iter().map(|observed| observed.side).collect();
    assert_eq!(sides, [CallSide::Client, CallSide::Server, CallSide::Client, CallSide::Server]);
    assert_eq!(parents(&observed), [None, Some([1; 8]), None, Some([3; 8])]);
    assert!(
        observed[2].ended.is_some_and(|ended| ended.code == Code::Ok && ended.reply_bytes > 0),
        "{:?}",
        observed[2]
    );
}

#[tokio::test]
async fn work_outside_handlers_carries_given_context() {
    let marking = Marking::default();
    let server = Server::builder().observer(marking.clone()).add_service(ExtensionServer::new(Service::default()));
    let client = client(serve(server).await, None).await;
    let context = TraceContext::new([1; 16], [9; 8], false).expect("ids should not be zero");
    client.get(Time::default()).await.expect("call should succeed");
    context.carry(client.get(Time::default())).await.expect("call should succeed");
    let observed = marking.of(CallSide::Server);
    assert_eq!(parents(&observed), [None, Some([9; 8])]);
    assert_eq!(observed[1].made.trace_id(), [1; 16]);
    assert!(!observed[1].made.is_sampled());
}

#[tokio::test]
async fn gateway_caller_sends_trace_context_as_metadata() {
    let mut metadata = Metadata::new();
    metadata
        .insert("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
        .expect("metadata entry should be valid");
    let marking = Marking::default();
    let called = Arc::new(Mutex::new(Vec::new()));
    let server = Server::builder()
        .observer(marking.clone())
        .add_service(ExtensionServer::new(Service::default()))
        .adapter(|first| first.starts_with(b"!"), {
            let (called, metadata) = (called.clone(), metadata.clone());
            move |_, context| {
                let (called, metadata) = (called.clone(), metadata.clone());
                async move {
                    let method = context.methods().get("extension.Extension", "Get").expect("call should succeed");
                    let mut request = Request::new(bytes::Bytes::new());
                    *request.metadata_mut() = metadata;
                    let status = method.unary(request, "no such format").await.expect_err("call should fail");
                    called.lock().unwrap().push(status.code());
                    Ok(())
                }
            }
        });
    let mut stream = tokio::net::TcpStream::connect(serve(server).await).await.expect("server should be listening");
    tokio::io::AsyncWriteExt::write_all(&mut stream, b"!").await.expect("connection should be open");
    until("the method was called", || called.lock().unwrap().len() == 1).await;
    let observed = marking.of(CallSide::Server);
    assert_eq!(observed[0].received.map(|received| received.to_string()).as_deref(), metadata.get("traceparent"));
    assert_eq!(observed[0].made.trace_id()[..2], [0x4B, 0xF9]);
}
