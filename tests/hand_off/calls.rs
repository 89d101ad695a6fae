//! Tests of generated services with handlers that hand off their connections, from a gateway to an echo server.

use super::expect_echo;
use bytes::Bytes;
use frisbee::Stream;
use frisbee_tests::extension::maybe::Choice;
use frisbee_tests::extension::{Extension, ExtensionClient, ExtensionServer, Maybe, Time};
use frisbee_tests::gated::Gated;
use frisbee_tests::interop::{AddRequest, Empty, Interop, InteropClient, InteropServer, Range, SleepRequest};
use frisbee_tests::{left_to_service, not_served};
use frpc::{Channel, Code, Policy, Request, Response, Server, Status};
use samples::gateway::{Credentials, GatewayClient, GatewayServer, Target};
use samples::gateway_service::Service;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Starts an echo server, the target of connections.
async fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(super::echo(socket));
        }
    });
    address
}

async fn gateway() -> Channel {
    let service = Service {
        users: [("ada".to_owned(), "secret".to_owned())].into(),
        targets: [("echo".to_owned(), echo().await.to_string()), ("gone".to_owned(), "127.0.0.1:1".to_owned())].into(),
    };
    let server = Server::builder().add_service(GatewayServer::new(service)).method_hand_off("gateway.Gateway/Open");
    Channel::connect(frisbee_tests::serve(server).await.to_string()).await.unwrap()
}

fn credentials() -> Credentials {
    Credentials { user: "ada".to_owned(), password: "secret".to_owned() }
}

fn target(name: &str) -> Target {
    Target { name: name.to_owned() }
}

/// Polls a call once. This sends the call.
async fn begin<F: Future>(mut call: Pin<&mut F>) {
    let is_ready = poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_ready())).await;
    assert!(!is_ready, "hand-off should wait, because the reply cannot have been sent");
}

#[tokio::test]
async fn handler_hands_off_connection_after_earlier_calls() {
    let channel = gateway().await;
    let client = GatewayClient::new(channel.clone());
    assert_eq!(client.login(credentials()).await.unwrap().get_ref().targets, ["echo", "gone"]);
    let connection = channel.connection().unwrap();
    let (asking, handed) = channel.request_hand_off();
    let opened = GatewayClient::new(asking).open(target("echo")).await.unwrap();
    assert!(opened.get_ref().address.starts_with("127.0.0.1:"));
    let raw = handed.take().expect("connection should be handed off");
    assert!(matches!(connection.closed().await, frisbee::CloseReason::HandedOff));
    expect_echo(raw).await;
    assert!(handed.take().is_none());
    // Calls use a new connection, on which nobody has signed in.
    let status = client.open(target("echo")).await.unwrap_err();
    assert_eq!(status.code(), Code::Unauthenticated);
}

/// A channel reconnects with growing pauses if connections end soon. Thirty such connections take half a minute of
/// virtual time.
#[tokio::test(start_paused = true)]
async fn successive_hand_offs_reconnect_without_pause() {
    let builder = Server::builder().add_service(InteropServer::new(Giving));
    let acceptor = builder.method_hand_off("interop.Interop/DoNothing").build().unwrap();
    let connect = move || {
        let (here, there) = frpc::memory();
        let acceptor = acceptor.clone();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        std::future::ready(std::io::Result::Ok(here))
    };
    let channel = Channel::builder().connect_with_connector(connect).await.unwrap();
    let (asking, handed) = channel.request_hand_off();
    let (idle_client, asking) = (InteropClient::new(channel), InteropClient::new(asking));
    let started = tokio::time::Instant::now();
    for _ in 0..30 {
        idle_client.add(AddRequest { a: 1, b: 1 }).await.unwrap();
        asking.do_nothing(Empty {}).await.unwrap();
        handed.take().expect("connection should be handed off");
    }
    assert!(started.elapsed() < Duration::from_secs(1), "hand-off waited for {:?}", started.elapsed());
}

/// Regression test: a hand-off failed if a stream of the connection had just ended.
#[tokio::test(start_paused = true)]
async fn hand_off_waits_for_stream_that_ends() {
    let builder = Server::builder().add_service(InteropServer::new(Giving));
    let acceptor = builder.method_hand_off("interop.Interop/DoNothing").build().unwrap();
    let (here, there) = frpc::memory();
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let channel = Channel::connect_io(here).await.unwrap();
    let (asking, handed) = channel.request_hand_off();
    let asking = InteropClient::new(asking);
    let counts = InteropClient::new(channel).count_up(Range { from: 0, count: 1_000_000 }).await.unwrap();
    let started = tokio::time::Instant::now();
    assert_eq!(asking.do_nothing(Empty {}).await.unwrap_err().code(), Code::FailedPrecondition);
    assert!(started.elapsed() < Duration::from_secs(2), "hand-off failed after {:?}", started.elapsed());
    let ending = async {
        tokio::task::yield_now().await;
        drop(counts);
    };
    let (called, ()) = tokio::join!(asking.do_nothing(Empty {}), ending);
    called.unwrap();
    handed.take().expect("connection should be handed off");
}

#[tokio::test]
async fn failed_hand_off_keeps_connection_and_code() {
    let channel = gateway().await;
    let client = GatewayClient::new(channel.clone());
    let (asking, handed) = channel.request_hand_off();
    let asking = GatewayClient::new(asking);
    assert_eq!(asking.open(target("echo")).await.unwrap_err().code(), Code::Unauthenticated);
    client.login(credentials()).await.unwrap();
    assert_eq!(asking.open(target("nowhere")).await.unwrap_err().code(), Code::NotFound);
    assert_eq!(asking.open(target("gone")).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(client.open(target("echo")).await.unwrap_err().code(), Code::FailedPrecondition);
    assert!(handed.take().is_none());
    asking.open(target("echo")).await.unwrap();
    expect_echo(handed.take().expect("connection should be handed off")).await;
}

#[tokio::test]
async fn pending_call_of_acceptor_prevents_hand_off() {
    let service = Service { users: [("ada".to_owned(), "secret".to_owned())].into(), targets: [].into() };
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel();
    let server = Server::builder().add_service(GatewayServer::new(service)).method_hand_off("gateway.Gateway/Login");
    let server = server.on_connect(move |connection| drop(sender.send(connection.clone())));
    let address = frisbee_tests::serve(server).await.to_string();
    let gated = Gated::shut();
    let agent = Channel::builder().add_service(InteropServer::new(gated.clone()));
    let channel = agent.connect(address).await.unwrap();
    let (asking, _handed) = channel.request_hand_off();
    let asking = GatewayClient::new(asking);
    asking.login(credentials()).await.unwrap();

    let back = InteropClient::new(Channel::from_connection(&connections.recv().await.unwrap()));
    let mut slow = std::pin::pin!(back.sleep(SleepRequest { millis: 1, ..Default::default() }));
    begin(slow.as_mut()).await;
    let busy = asking.login(credentials()).await.unwrap_err();
    assert_eq!((busy.code(), busy.may_have_run()), (Code::FailedPrecondition, false));
    gated.open();
    slow.await.unwrap();
    asking.login(credentials()).await.unwrap();
}

#[tokio::test]
async fn hand_off_respects_pending_and_later_calls() {
    let gated = Gated::shut();
    let server = Server::builder().add_service(InteropServer::new(gated.clone()));
    let server = server.method_hand_off("interop.Interop/Sleep");
    let channel = Channel::connect(frisbee_tests::serve(server).await.to_string()).await.unwrap();
    let client = InteropClient::new(channel.clone());
    let (asking, handed) = channel.request_hand_off();
    let asking = InteropClient::new(asking);
    let sleep = |millis| SleepRequest { millis, ..Default::default() };

    // From here on, the client knows the kind of the server, so it sends calls immediately.
    client.sleep(sleep(0)).await.unwrap();

    let mut slow = std::pin::pin!(client.sleep(sleep(1)));
    begin(slow.as_mut()).await;
    assert_eq!(asking.sleep(sleep(0)).await.unwrap_err().code(), Code::FailedPrecondition);
    gated.0.add_permits(1);
    slow.await.unwrap();

    let mut request = Request::new(sleep(1));
    request.set_timeout(Duration::from_millis(20));
    assert_eq!(client.sleep(request).await.unwrap_err().code(), Code::DeadlineExceeded);
    while asking.sleep(sleep(0)).await.is_err() {
        // This call was cancelled too, and its reply is about to arrive.
        tokio::task::yield_now().await;
    }

    // The service does not hand off the connection. Calls made during the request wait and are then answered.
    let mut sleeping = std::pin::pin!(asking.sleep(sleep(1)));
    begin(sleeping.as_mut()).await;
    let mut waits = std::pin::pin!(client.sleep(sleep(0)));
    begin(waits.as_mut()).await;
    gated.open();
    let (sleeping, waits) = tokio::join!(sleeping, waits);
    sleeping.unwrap();
    waits.unwrap();
    assert!(handed.take().is_none());
}

#[tokio::test]
async fn hand_off_to_go_fails_immediately() {
    let (here, mut there) = frisbee::memory();
    tokio::spawn(async move {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        // A Go server replies to a PING with a PONG and sends no HELLO.
        there.write_all(&frisbee_tests::raw::packet(0, 1, &[])).await.unwrap();
        there.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let (asking, _handed) = Channel::connect_io(here).await.unwrap().request_hand_off();
    let status = GatewayClient::new(asking).open(target("echo")).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false), "{status}");
}

/// A service that hands off the connection when `DoNothing` is called. The new owner closes it.
struct Giving;

impl Interop for Giving {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, request: Request<Empty>) -> Result<Response<Empty>, Status> {
        tokio::task::yield_now().await;
        if let Some(timeout) = request.timeout() {
            return Err(Status::aborted(format!("{} s", timeout.as_secs_f64().ceil())));
        }
        if let Some(hand_off) = request.hand_off() {
            hand_off.accept(|raw| async move { drop(raw) });
        }
        Ok(Response::new(Empty {}))
    }
}

/// A service that hands off its connection with a nested reply.
struct Deep;

impl Extension for Deep {
    not_served!(fail, wait, ask, get, flood, sink);

    async fn echo(&self, request: Request<Maybe>) -> Result<Response<Maybe>, Status> {
        request.hand_off().expect("caller should request a hand-off").accept(async |raw| drop(raw));
        Ok(Response::new(Maybe { choice: Some(Choice::Time(Time::default())), ..Maybe::default() }))
    }
}

/// Regression: the rejection was reported as a failure of a call that may have run.
#[tokio::test]
async fn rejected_hand_off_is_reported_not_run() {
    for policy in [Policy::Inline, Policy::Concurrent] {
        let builder = Server::builder().policy(policy).add_service(InteropServer::new(Rejecting));
        let address = frisbee_tests::serve(builder.method_hand_off("interop.Interop/DoNothing")).await;
        let (asking, _) = Channel::connect(address.to_string()).await.unwrap().request_hand_off();
        let status = InteropClient::new(asking).do_nothing(Empty {}).await.unwrap_err();
        assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    }
}

/// A service that rejects `DoNothing`.
struct Rejecting;

impl Interop for Rejecting {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        Err(Status::unavailable("later").rejected())
    }
}

/// A service that opens a stream on the connection that it hands off. Counts its calls.
#[derive(Clone, Default)]
struct Opening(Arc<Mutex<Vec<Stream>>>);

impl Interop for Opening {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, request: Request<Empty>) -> Result<Response<Empty>, Status> {
        let connection = request.connection().expect("caller should be native");
        let stream = connection.open_stream(&Bytes::from_static(b"mine")).await?;
        self.0.lock().unwrap().push(stream);
        request.hand_off().expect("caller should request a hand-off").accept(async |raw| drop(raw));
        Ok(Response::new(Empty {}))
    }
}

/// Regression: the client repeated the call, and reported finally that it had not run.
#[tokio::test]
async fn hand_off_prevented_by_handler_runs_once() {
    let service = Opening::default();
    let builder = Server::builder().add_service(InteropServer::new(service.clone()));
    let address = frisbee_tests::serve(builder.method_hand_off("interop.Interop/DoNothing")).await;
    let (asking, handed) = Channel::connect(address.to_string()).await.unwrap().request_hand_off();
    let status = InteropClient::new(asking).do_nothing(Empty {}).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Aborted, true), "{status}");
    assert_eq!((service.0.lock().unwrap().len(), handed.take().is_none()), (1, true));
}

/// Regression: the call failed, but its caller could still take the transport.
#[tokio::test]
async fn unreadable_hand_off_reply_leaves_no_transport() {
    let server = Server::builder().add_service(ExtensionServer::new(Deep)).method_hand_off("extension.Extension/Echo");
    let address = frisbee_tests::serve(server).await.to_string();
    let channel = Channel::builder().nesting_max(1).connect(address).await.unwrap();
    let (asking, handed) = channel.request_hand_off();
    let failed = ExtensionClient::new(asking).echo(Maybe::default()).await.unwrap_err();
    assert_eq!(failed.code(), Code::Internal);
    assert!(handed.take().is_none());
}

async fn giving() -> Channel {
    let server = Server::builder().add_service(InteropServer::new(Giving)).method_hand_off("interop.Interop/DoNothing");
    let channel = Channel::connect(frisbee_tests::serve(server).await.to_string()).await.unwrap();
    InteropClient::new(channel.clone()).do_nothing(Empty {}).await.unwrap();
    channel
}

/// Makes calls until `stop` is set, and returns their number.
async fn call_on<F: Future<Output = Result<(), Status>>>(stop: &AtomicBool, call: impl Fn() -> F) -> usize {
    let mut calls = 0;
    while !stop.load(Ordering::Relaxed) {
        call().await.unwrap();
        calls += 1;
        tokio::task::yield_now().await;
    }
    calls
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn calls_during_hand_offs_use_new_connections() {
    let channel = giving().await;
    let stop = Arc::new(AtomicBool::new(false));
    let mut callers = JoinSet::new();
    for _ in 0..2 {
        let (client, stop) = (InteropClient::new(channel.clone()), stop.clone());
        callers.spawn(async move {
            call_on(&stop, || async { client.add(AddRequest { a: 1, b: 1 }).await.map(drop) }).await
        });
    }
    let (client, sender) = (InteropClient::new(channel.clone()), stop.clone());
    callers.spawn(async move {
        let streamed = || async {
            let mut counts = client.count_up(Range { from: 0, count: 2 }).await?.into_inner();
            while counts.message().await?.is_some() {}
            Ok(())
        };
        call_on(&sender, streamed).await
    });
    let mut handed_off = 0;
    while handed_off < 50 {
        let (asking, handed) = channel.request_hand_off();
        let calling = tokio::spawn(async move { InteropClient::new(asking).do_nothing(Empty {}).await });
        match calling.await.unwrap() {
            Ok(_) => handed_off += usize::from(handed.take().is_some()),
            Err(status) => assert_eq!(status.code(), Code::FailedPrecondition, "busy, or nothing: {status}"),
        }
    }
    stop.store(true, Ordering::Relaxed);
    let calls = callers.join_all().await;
    assert!(calls.iter().all(|calls| *calls > 0), "{calls:?}");
}

#[tokio::test]
async fn hand_off_request_carries_caller_timeout() {
    let (asking, handed) = giving().await.request_hand_off();
    let mut request = Request::new(Empty {});
    request.set_timeout(Duration::from_secs(60));
    let status = InteropClient::new(asking).do_nothing(request).await.unwrap_err();
    assert_eq!((status.code(), status.message()), (Code::Aborted, "60 s"));
    assert!(handed.take().is_none());
}

#[test]
fn server_build_rejects_invalid_hand_off_methods() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let _entered = runtime.enter();
    let wrong = |name: &str| {
        let server = Server::builder().add_service(InteropServer::new(Giving)).method_hand_off(name);
        server.build().expect_err("settings should be rejected").to_string()
    };
    assert_eq!(wrong("interop.Interop/Open"), "this server has no method interop.Interop/Open");
    let text = "only unary methods can hand off connections, but interop.Interop/Chat is a streaming method";
    assert_eq!(wrong("interop.Interop/Chat"), text);
}
