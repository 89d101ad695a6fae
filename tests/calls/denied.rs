//! Tests that middleware can deny calls on every path from a peer to a handler.

use frisbee::{Handlers, Operation};
use frisbee_tests::extension::{Extension, ExtensionClient, ExtensionServer, Failure, Maybe, Time};
use frisbee_tests::interop::{
    AddRequest, Count, Empty, Interop, InteropClient, InteropServer, Range, SleepRequest, Sum, Text,
};
use frisbee_tests::raw::{Raw, encoded, error_text, packet};
use frisbee_tests::{extension, left_to_service, serve};
use frpc::{
    Call, CallResponse, Channel, Code, Connection, Metadata, Middleware, Next, Policy, Request, RequestStream,
    Response, ResponseStream, Server, ServerBuilder, Status, Streaming,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::sync::mpsc;

type Answer<T> = Result<Response<T>, Status>;

/// Middleware that denies and counts every call.
#[derive(Clone, Default)]
struct Closed(Arc<AtomicUsize>);

impl Middleware for Closed {
    async fn call(&self, call: Call, _next: Next) -> Result<CallResponse, Status> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Status::permission_denied(format!("{} is closed", call.method())))
    }
}

/// A service that counts its handlers.
#[derive(Clone, Default)]
struct Vault(Arc<AtomicUsize>);

impl Vault {
    fn enter<T>(&self) -> Answer<T> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Err(Status::data_loss("a call has passed"))
    }
}

impl Interop for Vault {
    left_to_service!(echoes, fail, echo_payload, describe);

    async fn do_nothing(&self, _request: Request<Empty>) -> Answer<Empty> {
        self.enter()
    }
    async fn add(&self, _request: Request<AddRequest>) -> Answer<Sum> {
        self.enter()
    }
    async fn sleep(&self, _request: Request<SleepRequest>) -> Answer<SleepRequest> {
        self.enter()
    }
    async fn count_up(&self, _request: Request<Range>) -> Answer<ResponseStream<Count>> {
        self.enter()
    }
    async fn sum_up(&self, _request: Request<Streaming<Count>>) -> Answer<Sum> {
        self.enter()
    }
    async fn chat(&self, _request: Request<Streaming<Text>>) -> Answer<ResponseStream<Text>> {
        self.enter()
    }
}

/// A server that denies every call, and its counts.
struct Fort {
    vault: Vault,
    closed: Closed,
    channel: Channel,
}

impl Fort {
    async fn new(settings: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let (vault, closed) = (Vault::default(), Closed::default());
        // The order of registration has no effect.
        let server = Server::builder().add_service(InteropServer::new(vault.clone())).middleware(closed.clone());
        let channel = Channel::connect(serve(settings(server)).await.to_string())
            .await
            .expect("server should accept the connection");
        Self { vault, closed, channel }
    }

    fn client(&self) -> InteropClient {
        InteropClient::new(self.channel.clone())
    }

    fn assert_closed(&self, knocked: usize) {
        assert_closed(&self.vault, &self.closed, knocked);
    }
}

/// Asserts that the middleware denied `knocked` calls and that none of them reached a handler.
fn assert_closed(vault: &Vault, closed: &Closed, knocked: usize) {
    assert_eq!(vault.0.load(Ordering::SeqCst), 0, "no handler should have run");
    assert_eq!(closed.0.load(Ordering::SeqCst), knocked);
}

fn denied<T>(answer: Result<T, Status>) {
    let status = answer.err().expect("every call should be denied");
    assert_eq!(status.code(), Code::PermissionDenied, "{status}");
}

async fn denied_stream<T: polyglot::Message>(answer: Answer<Streaming<T>>) {
    match answer {
        Ok(stream) => denied(stream.into_inner().message().await),
        Err(status) => denied::<()>(Err(status)),
    }
}

#[tokio::test]
async fn unary_call_is_denied_for_every_executor() {
    for policy in [Policy::Inline, Policy::Concurrent, Policy::AtMost(1)] {
        let fort = Fort::new(|server| server.policy(policy)).await;
        for _ in 0..3 {
            denied(fort.client().add(AddRequest::default()).await);
        }
        fort.assert_closed(3);
    }
}

#[tokio::test]
async fn call_with_deadline_and_metadata_is_denied() {
    let fort = Fort::new(|server| server).await;
    let mut request = Request::new(AddRequest::default());
    request.set_timeout(Duration::from_secs(60));
    *request.metadata_mut() = Metadata::new();
    request.metadata_mut().insert("who", "me").expect("metadata entry should be valid");
    denied(fort.client().add(request).await);
    fort.assert_closed(1);
}

#[tokio::test]
async fn server_streaming_call_is_denied() {
    let fort = Fort::new(|server| server).await;
    denied_stream(fort.client().count_up(Range { from: 0, count: 1 }).await).await;
    fort.assert_closed(1);
}

#[tokio::test]
async fn client_streaming_call_is_denied() {
    let fort = Fort::new(|server| server).await;
    denied(fort.client().sum_up(frpc::iter([Count { value: 1 }])).await);
    let (_open, endless) = RequestStream::channel(1);
    denied(fort.client().sum_up(endless).await);
    fort.assert_closed(2);
}

#[tokio::test]
async fn bidirectional_call_is_denied() {
    let fort = Fort::new(|server| server).await;
    denied_stream(fort.client().chat(frpc::iter([Text::default()])).await).await;
    fort.assert_closed(1);
}

#[tokio::test]
async fn hand_off_call_is_denied() {
    for policy in [Policy::Inline, Policy::Concurrent, Policy::AtMost(1)] {
        let fort = Fort::new(|server| server.policy(policy).method_hand_off("interop.Interop/DoNothing")).await;
        let (asking, handed) = fort.channel.request_hand_off();
        denied(InteropClient::new(asking).do_nothing(Empty {}).await);
        assert!(handed.take().is_none());
        fort.assert_closed(1);
    }
}

#[tokio::test]
async fn hand_off_of_ordinary_method_is_rejected() {
    let fort = Fort::new(|server| server.method_hand_off("interop.Interop/DoNothing")).await;
    let (asking, _handed) = fort.channel.request_hand_off();
    let status = InteropClient::new(asking).add(AddRequest::default()).await.expect_err("call should fail");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
    fort.assert_closed(0);
}

#[tokio::test]
async fn dialling_end_denies_calls_of_accepting_end() {
    let (sender, mut connections) = mpsc::unbounded_channel();
    let server = Server::builder().on_connect(move |connection: &Connection| drop(sender.send(connection.clone())));
    let address = serve(server).await.to_string();
    let (vault, closed) = (Vault::default(), Closed::default());
    let agent = Channel::builder().add_service(InteropServer::new(vault.clone()).with_middleware(closed.clone()));
    let _agent = agent.connect(address).await.expect("server should accept the connection");
    let channel = Channel::from_connection(&connections.recv().await.expect("channel should stay open"));
    let fort = Fort { vault, closed, channel };
    denied(fort.client().add(AddRequest::default()).await);
    denied_stream(fort.client().count_up(Range { from: 0, count: 1 }).await).await;
    denied(fort.client().sum_up(frpc::iter([Count { value: 1 }])).await);
    denied_stream(fort.client().chat(frpc::iter([Text::default()])).await).await;
    fort.assert_closed(4);
    // Only the dialling end can request a hand-off.
    let (asking, _handed) = fort.channel.request_hand_off();
    let status = InteropClient::new(asking).add(AddRequest::default()).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::Unimplemented, "{status}");
    fort.assert_closed(4);
}

impl Extension for Vault {
    async fn echo(&self, _request: Request<Maybe>) -> Answer<Maybe> {
        self.enter()
    }
    async fn fail(&self, _request: Request<Failure>) -> Answer<Maybe> {
        self.enter()
    }
    async fn wait(&self, _request: Request<Time>) -> Answer<Time> {
        self.enter()
    }
    async fn ask(&self, _request: Request<Time>) -> Answer<Time> {
        self.enter()
    }
    async fn get(&self, _request: Request<Time>) -> Answer<Time> {
        self.enter()
    }
    async fn flood(&self, _request: Request<Time>) -> Answer<ResponseStream<extension::Chunk>> {
        self.enter()
    }
    async fn sink(&self, _request: Request<Streaming<extension::Chunk>>) -> Answer<Time> {
        self.enter()
    }
}

#[tokio::test]
async fn retried_call_is_denied() {
    let (vault, closed) = (Vault::default(), Closed::default());
    let server = Server::builder().add_service(ExtensionServer::new(vault.clone())).middleware(closed.clone());
    let server = server.build().expect("settings should be valid");
    let dialled = AtomicUsize::new(0);
    let builder = Channel::builder().calls::<ExtensionClient>();
    let channel = builder.connect_with_connector(move || {
        let (here, mut there) = frpc::memory();
        let (server, is_first) = (server.clone(), dialled.fetch_add(1, Ordering::SeqCst) == 0);
        tokio::spawn(async move {
            if is_first {
                // The server receives the call, and then the connection is lost.
                let _ = there.read(&mut [0; 4096]).await;
                return;
            }
            server.serve_connection(there).await;
        });
        async { Ok(here) }
    });
    let client = ExtensionClient::new(channel.await.expect("channel should be connected without a rule"));
    denied(client.get(Time::default()).await);
    assert_closed(&vault, &closed, 1);
}

#[tokio::test]
async fn calls_of_go_client_are_denied() {
    const ADD: u16 = 18;
    const COUNT_UP: u16 = 21;
    let (vault, closed) = (Vault::default(), Closed::default());
    let server = Server::builder().middleware(closed.clone()).add_service(InteropServer::new(vault.clone()));
    let mut peer = Raw::connect(serve(server).await).await;
    peer.write(&packet(7, ADD, &encoded(&AddRequest::default()))).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!(error_text(&reply.body).as_deref(), Some("Add is closed"));
    let opening = [&[9][..], &[u8::try_from(COUNT_UP).expect("value should fit u8")]].concat();
    peer.write(&[packet(1, 2, &opening), packet(1, 2, &encoded(&Range { from: 0, count: 1 }))].concat()).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!(error_text(&reply.body).as_deref(), Some("CountUp is closed"));
    assert_closed(&vault, &closed, 2);
}

/// Middleware does not apply to mounted routers, as its documentation states.
#[tokio::test]
async fn mounted_routers_bypass_middleware() {
    let operation = Operation::user(1000).expect("operation number should be in the user range");
    let mounted = Handlers::new().on(operation, |_connection, packet| async { Some(packet) });
    let (vault, closed) = (Vault::default(), Closed::default());
    let server = Server::builder().middleware(closed.clone()).add_service(InteropServer::new(vault.clone()));
    let mut peer = Raw::connect(serve(server.mount(1000..=1000, mounted)).await).await;
    peer.write(&packet(7, 1000, b"anybody")).await;
    assert_eq!(peer.next().await.expect("packet should be echoed").body, "anybody");
    assert_closed(&vault, &closed, 0);
}
