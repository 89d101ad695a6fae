//! Tests of middleware around calls of each kind, at both ends.

use frisbee_tests::interop::{
    AddRequest, Count, Interop, InteropClient, InteropServer, Range, SleepRequest, Sum, Text,
};
use frisbee_tests::left_to_service;
use frisbee_tests::service::Service;
use frisbee_tests::{serve, serve_interop, serve_interop_with};
use frpc::{
    Call, CallKind, CallResponse, Channel, Code, Middleware, Next, Request, RequestStream, Response, ResponseStream,
    Server, Status, Streaming,
};
use frpc_tower::Tower;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tower::load_shed::error::Overloaded;

type CallRecord = (&'static str, &'static str, CallKind, &'static str, &'static str, bool);

/// Middleware that records its calls, waits for a moment, and adds to the metadata of requests and replies.
#[derive(Clone, Default)]
struct Witness {
    name: &'static str,
    records: Arc<Mutex<Vec<CallRecord>>>,
}

impl Middleware for Witness {
    async fn call(&self, mut call: Call, next: Next) -> Result<CallResponse, Status> {
        let served = call.connection().is_some();
        let records = (call.service(), call.method(), call.kind(), call.request_type(), call.response_type(), served);
        self.records.lock().unwrap().push(records);
        tokio::task::yield_now().await;
        let way = call.metadata().get("way").unwrap_or_default().to_owned();
        call.metadata_mut().insert("way", format!("{way}{}>", self.name)).unwrap();
        if call.metadata().get("way").is_some_and(|way| way.len() > 100) {
            return Err(Status::aborted("it goes in circles"));
        }
        let mut reply = next.run(call).await?;
        let way = reply.metadata().get("way").unwrap_or_default().to_owned();
        reply.metadata_mut().insert("way", format!("{way}<{}", self.name)).unwrap();
        Ok(reply)
    }
}

/// Middleware that denies every call.
struct Closed;

impl Middleware for Closed {
    async fn call(&self, call: Call, _next: Next) -> Result<CallResponse, Status> {
        Err(Status::permission_denied(format!("{}/{} is closed", call.service(), call.method())))
    }
}

fn expected(served: bool) -> Vec<CallRecord> {
    vec![
        ("interop.Interop", "Add", CallKind::Unary, "interop.AddRequest", "interop.Sum", served),
        ("interop.Interop", "CountUp", CallKind::ServerStreaming, "interop.Range", "interop.Count", served),
        ("interop.Interop", "SumUp", CallKind::ClientStreaming, "interop.Count", "interop.Sum", served),
        ("interop.Interop", "Chat", CallKind::Streaming, "interop.Text", "interop.Text", served),
    ]
}

async fn call_every_kind(client: &InteropClient) {
    assert_eq!(client.add(AddRequest { a: 1, b: 2 }).await.unwrap().into_inner().total, 3);
    let mut counts = client.count_up(Range { from: 0, count: 5 }).await.unwrap().into_inner();
    let mut counted = 0;
    while counts.message().await.unwrap().is_some() {
        counted += 1;
    }
    assert_eq!(counted, 5);
    let sum = client.sum_up(frpc::iter((0..5).map(|value| Count { value }))).await.unwrap();
    assert_eq!(sum.into_inner().total, 10);
    let mut answers = client.chat(frpc::iter([Text { value: "hi".into() }])).await.unwrap().into_inner();
    assert_eq!(answers.message().await.unwrap().unwrap().value, "re:hi");
    assert_eq!(answers.message().await.unwrap(), None);
}

#[tokio::test]
async fn middleware_sees_every_call_kind_and_name() {
    let (server, client) = (Witness { name: "server", ..Default::default() }, Witness::default());
    let address = serve_interop_with(Server::builder().middleware(server.clone())).await;
    let channel = Channel::connect(address.to_string()).await.unwrap();
    call_every_kind(&InteropClient::new(channel.with_middleware(client.clone()))).await;
    assert_eq!(*client.records.lock().unwrap(), expected(false));
    assert_eq!(*server.records.lock().unwrap(), expected(true));
    // The original channel is unchanged.
    call_every_kind(&InteropClient::new(channel)).await;
    assert_eq!(client.records.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn first_middleware_is_outermost() {
    let witness = |name| Witness { name, ..Witness::default() };
    let builder = Server::builder().middleware(witness("c")).middleware(witness("d"));
    let address = serve_interop_with(builder).await;
    let channel = Channel::connect(address.to_string()).await.unwrap();
    let channel = channel.with_middleware(witness("a")).with_middleware(witness("b"));
    let reply = InteropClient::new(channel.clone()).add(AddRequest::default()).await.unwrap();
    assert_eq!(reply.metadata().get("way"), Some("<d<c<b<a"));
    // The handler returns the metadata that it received in the text of its error.
    let circles = (0..40).fold(channel, |channel, _| channel.with_middleware(witness("xyz")));
    let status = InteropClient::new(circles).add(AddRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::Aborted);
}

async fn stamp(call: Call, next: Next) -> Result<CallResponse, Status> {
    let mut reply = next.run(call).await?;
    reply.metadata_mut().insert("stamp", "function")?;
    Ok(reply)
}

#[tokio::test]
async fn functions_and_closures_serve_as_middleware() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let builder = Server::builder().middleware(stamp).middleware(async |call: Call, next: Next| {
        if call.metadata().get("tenant").is_none() {
            return Err(Status::unauthenticated("no tenant"));
        }
        next.run(call).await
    });
    let address = serve_interop_with(builder).await;
    let channel = Channel::builder().middleware(move |call: Call, next: Next| {
        counted.fetch_add(1, Ordering::Relaxed);
        next.run(call)
    });
    let client = InteropClient::new(channel.connect(address.to_string()).await.unwrap());
    let status = client.add(AddRequest::default()).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
    let mut request = Request::new(AddRequest::default());
    request.metadata_mut().insert("tenant", "blue").unwrap();
    assert_eq!(client.add(request).await.unwrap().metadata().get("stamp"), Some("function"));
    assert_eq!(calls.load(Ordering::Relaxed), 2);
}

#[tokio::test]
async fn middleware_nests_server_then_service_then_method() {
    let witness = |name| Witness { name, ..Witness::default() };
    let service = InteropServer::new(Service)
        .with_method_middleware("Add", witness("method"))
        .with_middleware(witness("service"))
        .with_method_middleware("Add", witness("inner"));
    let address = serve(Server::builder().middleware(witness("server")).add_service(service)).await;
    let client = InteropClient::new(Channel::connect(address.to_string()).await.unwrap());
    let reply = client.add(AddRequest::default()).await.unwrap();
    assert_eq!(reply.metadata().get("way"), Some("<inner<method<service<server"));
    let reply = client.sum_up(frpc::iter([Count { value: 1 }])).await.unwrap();
    assert_eq!(reply.metadata().get("way"), Some("<service<server"), "other methods should not pass the middleware");
}

#[tokio::test]
async fn method_middleware_runs_only_for_own_method() {
    for (at, method) in ["Add", "CountUp", "SumUp", "Chat"].into_iter().enumerate() {
        let service = InteropServer::new(Service).with_method_middleware(method, Closed);
        let address = serve(Server::builder().add_service(service)).await;
        let client = InteropClient::new(Channel::connect(address.to_string()).await.unwrap());
        let codes = [
            client.add(AddRequest::default()).await.err(),
            client.count_up(Range::default()).await.unwrap().into_inner().message().await.err(),
            client.sum_up(frpc::iter([])).await.err(),
            client.chat(frpc::iter([])).await.unwrap().into_inner().message().await.err(),
        ];
        let denied = codes.each_ref().map(|status| status.as_ref().map(Status::code) == Some(Code::PermissionDenied));
        assert_eq!(denied, [0, 1, 2, 3].map(|kind| kind == at), "{method}: {codes:?}");
    }
}

#[tokio::test]
async fn middleware_for_unknown_method_fails_binding() {
    let service = InteropServer::new(Service).with_method_middleware("Subtract", stamp);
    let error = Server::builder().add_service(service).bind("127.0.0.1:0").await.unwrap_err();
    assert!(error.to_string().contains("interop.Interop/Subtract"), "{error}");
}

#[tokio::test]
async fn denied_call_skips_inner_middleware_and_handler() {
    let inner = Witness::default();
    let address = serve_interop_with(Server::builder().middleware(Closed).middleware(inner.clone())).await;
    let client = InteropClient::connect(address.to_string()).await.unwrap();
    let status = client.add(AddRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::PermissionDenied, "interop.Interop/Add is closed"));
    let mut counts = client.count_up(Range { from: 0, count: 5 }).await.unwrap().into_inner();
    assert_eq!(counts.message().await.unwrap_err().code(), Code::PermissionDenied);
    assert!(inner.records.lock().unwrap().is_empty());

    let open = Channel::connect(serve_interop().await.to_string()).await.unwrap();
    let closed = InteropClient::new(open.with_middleware(Closed));
    assert_eq!(closed.add(AddRequest::default()).await.unwrap_err().code(), Code::PermissionDenied);
    assert_eq!(closed.chat(frpc::iter([])).await.unwrap_err().code(), Code::PermissionDenied);
}

/// The caller, stored by both ends as an extension of the request.
#[derive(Clone, Debug, PartialEq)]
struct Caller(String);

/// Middleware that sends the caller's name at a client. At a server, it passes the name to the handler and records the
/// replying peer.
struct Introduction;

impl Middleware for Introduction {
    async fn call(&self, mut call: Call, next: Next) -> Result<CallResponse, Status> {
        if call.connection().is_some() {
            assert!(call.extensions().is_empty(), "extensions should not be sent with the request");
            let caller = call.metadata().get("caller").ok_or_else(|| Status::unauthenticated("caller is missing"))?;
            let caller = Caller(caller.to_owned());
            call.extensions_mut().insert(caller);
            let mut reply = next.run(call).await?;
            if let Some(&Answerer(name)) = reply.extensions().get() {
                reply.metadata_mut().insert("answerer", name).unwrap();
            }
            return Ok(reply);
        }
        if let Some(Caller(name)) = call.extensions().get().cloned() {
            call.metadata_mut().insert("caller", name).unwrap();
        }
        next.run(call).await
    }
}

/// The replying peer, as an extension of a reply.
#[derive(Clone)]
struct Answerer(&'static str);

/// A service that replies with the name of its caller.
struct Mirror;

impl Mirror {
    fn caller<T>(request: &Request<T>) -> String {
        request.extensions().get().map_or_else(String::new, |Caller(name)| name.clone())
    }
}

impl Interop for Mirror {
    async fn fail(&self, request: Request<Text>) -> Result<Response<Text>, Status> {
        let mut response = Response::new(Text { value: Self::caller(&request) });
        response.extensions_mut().insert(Answerer("the mirror"));
        Ok(response)
    }

    async fn count_up(&self, request: Request<Range>) -> Result<Response<ResponseStream<Count>>, Status> {
        Err(Status::aborted(Self::caller(&request)))
    }

    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Result<Response<Sum>, Status> {
        Err(Status::aborted(Self::caller(&request)))
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Result<Response<ResponseStream<Text>>, Status> {
        let text = Text { value: Self::caller(&request.map(drop)) };
        Ok(Response::new(ResponseStream::new(frpc::iter([Ok(text)]))))
    }

    left_to_service!(echoes, do_nothing, echo_payload, add, sleep, describe);
}

fn by<T>(name: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.extensions_mut().insert(Caller(name.to_owned()));
    request
}

#[tokio::test]
async fn extensions_reach_local_handlers_but_not_peers() {
    let builder = Server::builder().middleware(Introduction).add_service(InteropServer::new(Mirror));
    let channel = Channel::connect(serve(builder).await.to_string()).await.unwrap();
    let silent = InteropClient::new(channel.clone());
    let client = InteropClient::new(channel.with_middleware(Introduction));

    let reply = client.fail(by("one", Text::default())).await.unwrap();
    assert_eq!((&*reply.get_ref().value, reply.metadata().get("answerer")), ("one", Some("the mirror")));
    assert!(reply.extensions().is_empty(), "extensions should not be sent with the reply");
    let mut counts = client.count_up(by("two", Range::default())).await.unwrap().into_inner();
    assert_eq!(counts.message().await.unwrap_err().message(), "two");
    assert_eq!(client.sum_up(by("three", frpc::iter([]))).await.unwrap_err().message(), "three");
    let mut texts = client.chat(by("four", frpc::iter([]))).await.unwrap().into_inner();
    assert_eq!(texts.message().await.unwrap().unwrap().value, "four");

    let status = silent.fail(by("nobody", Text::default())).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

#[tokio::test]
async fn middleware_wraps_methods_served_by_client() {
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let builder = Server::builder().on_connect(move |connection| drop(sender.send(connection.clone())));
    let address = serve(builder).await;
    let witness = Witness::default();
    let agent = Channel::builder().add_service(InteropServer::new(Service).with_middleware(witness.clone()));
    let _agent = agent.connect(address.to_string()).await.unwrap();
    call_every_kind(&InteropClient::new(Channel::from_connection(&connections.recv().await.unwrap()))).await;
    assert_eq!(*witness.records.lock().unwrap(), expected(true));
}

/// Middleware that waits before it continues.
struct Slow(Duration);

impl Middleware for Slow {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        tokio::time::sleep(self.0).await;
        next.run(call).await
    }
}

/// Regression test: middleware ignored the deadline, and each part received the full time.
#[tokio::test(start_paused = true)]
async fn deadline_covers_middleware_around_call() {
    const TIMEOUT: Duration = Duration::from_secs(1);
    fn in_time<T>(message: T) -> Request<T> {
        let mut request = Request::new(message);
        request.set_timeout(TIMEOUT);
        request
    }
    let server = Server::builder().add_service(InteropServer::new(Service)).build().unwrap();
    let (here, there) = frpc::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    let channel = Channel::connect_io(here).await.unwrap();
    // Without the deadline, the call would never end.
    for slow in [TIMEOUT / 2, 100 * TIMEOUT] {
        let client = InteropClient::new(channel.with_middleware(Slow(slow)));
        let sleep = SleepRequest { millis: 60_000, tag: 0 };
        let (endless, silent) = (RequestStream::channel(1), RequestStream::channel(1));
        let started = Instant::now();
        let statuses = [
            client.sleep(in_time(sleep)).await.map(drop),
            client.sum_up(in_time(endless.1)).await.map(drop),
            match client.chat(in_time(silent.1)).await {
                Ok(answers) => answers.into_inner().message().await.map(drop),
                Err(status) => Err(status),
            },
        ];
        for status in statuses {
            assert_eq!(status.unwrap_err().code(), Code::DeadlineExceeded);
        }
        assert_eq!(started.elapsed().as_millis() / 10, 3 * TIMEOUT.as_millis() / 10);
    }
}

/// Middleware that records the maximum number of concurrent calls inside it.
#[derive(Clone, Default)]
struct Inside(Arc<(AtomicUsize, AtomicUsize)>);

impl Middleware for Inside {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        let (now, most) = &*self.0;
        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(1)).await;
        let reply = next.run(call).await;
        now.fetch_sub(1, Ordering::SeqCst);
        reply
    }
}

#[tokio::test]
async fn layers_of_tower_run_around_calls() {
    let inside = Inside::default();
    let limit = Tower::new(tower::limit::ConcurrencyLimitLayer::new(3));
    let address = serve_interop_with(Server::builder().middleware(limit).middleware(inside.clone())).await;
    let client = InteropClient::connect(address.to_string()).await.unwrap();
    let mut calls = JoinSet::new();
    for number in 0..50 {
        let client = client.clone();
        calls.spawn(
            async move { client.add(AddRequest { a: number, b: 0 }).await.unwrap().into_inner().total == number },
        );
    }
    assert!(calls.join_all().await.into_iter().all(|right| right));
    assert_eq!(inside.0.1.load(Ordering::SeqCst), 3);
}

/// A layer whose services fail with a custom error type.
struct Failing;

#[derive(Clone)]
struct Fails;

impl<S> tower::Layer<S> for Failing {
    type Service = Fails;
    fn layer(&self, _inner: S) -> Fails {
        Fails
    }
}

impl tower::Service<frpc_tower::Exchange> for Fails {
    type Response = CallResponse;
    type Error = tower::BoxError;
    type Future = std::future::Ready<Result<CallResponse, tower::BoxError>>;
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), tower::BoxError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, exchange: frpc_tower::Exchange) -> Self::Future {
        std::future::ready(Err(match exchange.call.method() {
            "Add" => Status::not_found("a status").into(),
            other => format!("no status: {other}").into(),
        }))
    }
}

#[tokio::test]
async fn errors_of_layers_become_statuses() {
    let channel = Channel::connect(serve_interop().await.to_string()).await.unwrap();
    let client = InteropClient::new(channel.with_middleware(Tower::new(Failing)));
    assert_eq!(client.add(AddRequest::default()).await.unwrap_err().code(), Code::NotFound);
    let status = client.fail(Request::new(Text::default())).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Internal, "no status: Fail"));
}

#[tokio::test]
async fn tower_layers_end_calls_with_matching_status() {
    async fn failure<L, S>(layer: L) -> (Code, bool)
    where
        L: tower::Layer<frpc_tower::TowerNext, Service = S>,
        Tower<S>: Middleware,
    {
        let address = serve_interop_with(Server::builder().middleware(Tower::new(layer))).await;
        let client = InteropClient::connect(address.to_string()).await.unwrap();
        let status = client.add(AddRequest::default()).await.unwrap_err();
        (status.code(), status.may_have_run())
    }
    let shedding = tower::layer::layer_fn(|inner| {
        let full = tower::limit::ConcurrencyLimit::new(inner, 0);
        tower::load_shed::LoadShed::new(full)
    });
    // Regression test: the status stated that the call may have run, although the handler had not received it.
    assert_eq!(failure(shedding).await, (Code::ResourceExhausted, false));
    let late = tower::layer::layer_fn(|_| tower::timeout::Timeout::new(Silent, Duration::from_millis(1)));
    assert_eq!(failure(late).await, (Code::DeadlineExceeded, true));
    let regretting = tower::layer::layer_fn(Regretting);
    assert_eq!(failure(regretting).await, (Code::ResourceExhausted, true), "handler has run");
}

/// A service that fails as overloaded after the handler has run.
#[derive(Clone)]
struct Regretting(frpc_tower::TowerNext);

impl tower::Service<frpc_tower::Exchange> for Regretting {
    type Response = CallResponse;
    type Error = tower::BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<CallResponse, tower::BoxError>> + Send>>;
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), tower::BoxError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, exchange: frpc_tower::Exchange) -> Self::Future {
        let reply = self.0.call(exchange);
        Box::pin(async move {
            reply.await?;
            Err(Overloaded::new().into())
        })
    }
}

/// A service that never replies.
#[derive(Clone)]
struct Silent;

impl tower::Service<frpc_tower::Exchange> for Silent {
    type Response = CallResponse;
    type Error = Status;
    type Future = std::future::Pending<Result<CallResponse, Status>>;
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, _exchange: frpc_tower::Exchange) -> Self::Future {
        std::future::pending()
    }
}

/// Regression test: the status stated that the call may have run, although no handler had received it.
#[tokio::test]
async fn call_denied_by_middleware_has_not_run() {
    let denies = async |_: Call, _: Next| Err::<CallResponse, _>(Status::unauthenticated("no token"));
    let fails = async |_: Call, _: Next| Err::<CallResponse, _>(Status::internal("it may have done something"));
    let regrets = async |call: Call, next: Next| {
        next.run(call).await?;
        Err::<CallResponse, _>(Status::unauthenticated("after the handler"))
    };
    let add = AddRequest { a: 1, b: 2 };
    for (number, may_have_run) in [(0, false), (1, true), (2, true)] {
        let builder = match number {
            0 => Server::builder().middleware(denies),
            1 => Server::builder().middleware(fails),
            _ => Server::builder().middleware(regrets),
        };
        let address = serve_interop_with(builder).await.to_string();
        let client = InteropClient::connect(address).await.expect("server should accept the connection");
        let status = client.add(add).await.expect_err("call should fail");
        assert_eq!(status.may_have_run(), may_have_run, "{number}: {status}");
        let status = client.sleep(SleepRequest { millis: 1, tag: 0 }).await.expect_err("call should fail");
        assert_eq!(status.may_have_run(), may_have_run, "{number}, with a handler that waits: {status}");
        let status = client.sum_up(frpc::iter([])).await.expect_err("call should fail");
        assert_eq!(status.may_have_run(), may_have_run, "{number}, with a stream of requests: {status}");
        let replies = client.count_up(Range { from: 0, count: 1 }).await.expect("call should begin");
        let status = replies.into_inner().message().await.expect_err("call should fail");
        assert_eq!(status.may_have_run(), may_have_run, "{number}, with a stream of replies: {status}");
    }
    let channel =
        Channel::connect(serve_interop().await.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel.with_middleware(denies));
    assert!(!client.add(add).await.expect_err("call should fail").may_have_run());
    let denied = client.count_up(Range { from: 0, count: 1 }).await;
    assert!(!denied.expect_err("call should fail").may_have_run());
    assert!(!client.sum_up(frpc::iter([])).await.expect_err("call should fail").may_have_run());
}
