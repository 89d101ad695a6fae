//! Slots for calls at either end: permits of handlers, and slots of waiting callers.

use frisbee::{BODY_MAX_LEAST, Config, Connection, ConnectionEvent, Outbox, Packet, Routed, Router};
use frisbee_tests::interop::{Empty, Interop, InteropClient, InteropServer, Payload, Range};
use frisbee_tests::{left_to_service, serve};
use frpc::codegen::{Client as _, Method};
use frpc::{Channel, Code, Policy, Request, Response, Server, Status};
use polyglot::{DecodeError, Decoder, EncodeError, Encoder, Message, Root};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;
use tokio::sync::mpsc as events;
use tokio::sync::{Notify, Semaphore};

/// Reports when its connection becomes idle.
struct Unused(events::UnboundedSender<()>);

impl Router for Unused {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Continue
    }

    fn event(&self, (): &mut (), event: &mut ConnectionEvent<'_>) {
        if matches!(event, ConnectionEvent::Idle) {
            let _ = self.0.send(());
        }
    }
}

/// Reports when a call begins. The first one occupies its thread, within a poll, until it is released.
struct Blocking {
    started: events::UnboundedSender<()>,
    is_first: AtomicBool,
    go_on: parking_lot::Mutex<mpsc::Receiver<()>>,
}

impl Interop for Blocking {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        let _ = self.started.send(());
        if self.is_first.swap(false, Ordering::SeqCst) {
            tokio::task::block_in_place(|| self.go_on.lock().recv().expect("channel should stay open"));
        }
        Ok(Response::new(Empty {}))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn cancelled_handler_keeps_idle_connection_permit() {
    let (started, mut begins) = events::unbounded_channel();
    let (unused, mut is_unused) = events::unbounded_channel();
    let (let_go, go_on) = mpsc::channel();
    let service = Blocking { started, is_first: AtomicBool::new(true), go_on: go_on.into() };
    let server = Server::builder()
        .policy(Policy::AtMost(1))
        .config(Config::default().ping_interval(Duration::from_millis(20)))
        .mount(5000..5001, Unused(unused))
        .add_service(InteropServer::new(service));
    let channel = Channel::connect(serve(server).await.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel);
    let mut first = Box::pin(client.do_nothing(Empty {}));
    tokio::select! { reply = &mut first => panic!("call should wait for its release: {reply:?}"), _ = begins.recv() => {} }
    while is_unused.try_recv().is_ok() {}
    drop(first); // Cancels the call.
    is_unused.recv().await.expect("channel should stay open");
    let second = tokio::spawn(async move { client.do_nothing(Empty {}).await });
    // Long enough to observe the start. If the start is not observed, the result does not depend on this time.
    let early = tokio::time::timeout(Duration::from_millis(300), begins.recv()).await;
    let_go.send(()).expect("receiver should be waiting");
    second.await.expect("task should not panic").expect("second call should get its turn");
    assert!(early.is_err(), "second handler should not run at the same time");
}

/// Holds handlers until they are released.
#[derive(Clone)]
struct Holding(Arc<(Notify, Semaphore)>);

impl Holding {
    fn new() -> Self {
        Self(Arc::new((Notify::new(), Semaphore::new(0))))
    }
}

impl Interop for Holding {
    left_to_service!(echoes, fail, echo_payload, add, sleep, describe, count_up, sum_up, chat);

    async fn do_nothing(&self, _request: Request<Empty>) -> Result<Response<Empty>, Status> {
        self.0.0.notify_one();
        self.0.1.acquire().await.expect("semaphore should be open").forget();
        Ok(Response::new(Empty {}))
    }
}

/// A waker that uses a connection when it is woken, as any waker may.
struct Looking(Connection, AtomicUsize);

impl Wake for Looking {
    fn wake(self: Arc<Self>) {
        assert!(!self.0.is_closed());
        self.1.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn overlong_call_wakes_waiting_callers_without_lock() {
    let (done, is_done) = mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let gate = Holding::new();
            let config = Config::default().calls_max(1).body_max(2048);
            let server = Server::builder().config(config).add_service(InteropServer::new(gate.clone()));
            let channel =
                Channel::connect(serve(server).await.to_string()).await.expect("server should accept the connection");
            let client = InteropClient::new(channel.clone());
            let begin = || Box::pin(client.do_nothing(Empty {}));
            let mut first = begin();
            tokio::select! { reply = &mut first => panic!("handler should be held: {reply:?}"), () = gate.0.0.notified() => {} }
            let looking =
                Arc::new(Looking(channel.connection().expect("channel should be connected"), AtomicUsize::new(0)));
            let waker = Waker::from(looking.clone());
            let (mut second, mut third) = (begin(), begin());
            let (mut idly, mut looks) = (Context::from_waker(Waker::noop()), Context::from_waker(&waker));
            assert!(
                second.as_mut().poll(&mut idly).is_pending(),
                "second call should wait, because there is a single permit"
            );
            assert!(
                third.as_mut().poll(&mut looks).is_pending(),
                "third call should wait, because there is a single permit"
            );
            gate.0.1.add_permits(1);
            first.await.expect("call should be released");
            assert_eq!(looking.1.load(Ordering::SeqCst), 0, "call that waits for a shorter time should not be woken");
            let long = Payload { seq: 1, data: vec![0; 4096] };
            let status = client.echo_payload(long).await.expect_err("call should fail");
            assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
            assert!(looking.1.load(Ordering::SeqCst) > 0, "call should be woken when the permit is free again");
        });
        done.send(()).expect("receiver should be waiting");
    });
    is_done.recv_timeout(Duration::from_secs(30)).expect("test should complete within the timeout");
}

#[tokio::test]
async fn unused_grant_of_slot_passes_to_next_caller() {
    let gate = Holding::new();
    let config = Config::default().calls_max(1);
    let server = Server::builder().config(config).add_service(InteropServer::new(gate.clone()));
    let channel = Channel::connect(serve(server).await.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel);
    let begin = || Box::pin(client.do_nothing(Empty {}));
    let (mut first, mut unpolled, mut next) = (begin(), begin(), begin());
    tokio::select! { reply = &mut first => panic!("handler should be held: {reply:?}"), () = gate.0.0.notified() => {} }
    for waiting in [&mut unpolled, &mut next] {
        assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    gate.0.1.add_permits(2);
    first.await.expect("call should be released");
    // The slot is granted to the call that is not polled. Only the connection's driver can revoke the grant.
    let reply = tokio::time::timeout(Duration::from_secs(20), next).await;
    reply.expect("slot should pass on").expect("call should be released");
    drop(unpolled);
}

static ECHO_PAYLOAD: Method = Method::new(InteropClient::LAYOUT, "EchoPayload", 17);

/// A request whose encoder panics.
#[derive(Debug, Default)]
struct Unencodable;

impl Message for Unencodable {
    const NAME: &'static str = "Unencodable";

    fn encode_root(&self, _to: &mut Encoder<'_>) -> Result<(), EncodeError> {
        panic!("on purpose")
    }

    fn decode_root(_from: &mut Decoder<'_>) -> Result<Root<Self>, DecodeError> {
        unreachable!("requests are not decoded by clients")
    }
}

#[tokio::test]
async fn panicking_encoder_releases_its_slot() {
    let server =
        Server::builder().config(Config::default().calls_max(1)).add_service(InteropServer::new(Holding::new()));
    let address = serve(server).await.to_string();
    let channel = Channel::connect(address).await.expect("server should accept the connection");
    let client = InteropClient::new(channel.clone());
    // The first call is sent before the server has announced its limits, the second one after that.
    for length in [2 * BODY_MAX_LEAST as usize, 1] {
        let own = channel.clone();
        let call = async move { own.unary::<_, Payload>(&ECHO_PAYLOAD, Request::new(Unencodable)).await };
        assert!(tokio::spawn(call).await.is_err_and(|error| error.is_panic()), "encoder should panic");
        let payload = Payload { seq: 1, data: vec![0; length] };
        client.echo_payload(payload).await.expect("call should find a free slot");
    }
}

/// A waker that panics, after announcing it.
#[derive(Default)]
struct Broken(Notify);

impl Wake for Broken {
    fn wake(self: Arc<Self>) {
        self.0.notify_one();
        panic!("on purpose")
    }
}

#[tokio::test]
async fn panicking_caller_waker_spares_other_calls() {
    let gate = Holding::new();
    let server = Server::builder().add_service(InteropServer::new(gate.clone()));
    let channel = Channel::connect(serve(server).await.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel.clone());
    gate.0.1.add_permits(1);
    client.do_nothing(Empty {}).await.expect("call should be released"); // The server has identified itself.
    gate.0.0.notified().await;
    let (mut broken, mut waits) = (Box::pin(client.do_nothing(Empty {})), Box::pin(client.do_nothing(Empty {})));
    let woken = Arc::<Broken>::default();
    let waker = Waker::from(woken.clone());
    assert!(broken.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    gate.0.0.notified().await;
    tokio::select! { reply = &mut waits => panic!("handler should be held: {reply:?}"), () = gate.0.0.notified() => {} }
    gate.0.1.add_permits(1); // Releases the first call.
    woken.0.notified().await;
    gate.0.1.add_permits(1);
    waits.await.expect("call should be released");
    broken.await.expect("reply should be kept");
    assert!(!channel.connection().expect("channel should be connected").is_closed());
}

#[tokio::test]
async fn stream_refused_for_memory_reports_not_run() {
    let gate = Holding::new();
    let server = Server::builder().memory_max(4096).add_service(InteropServer::new(gate.clone()));
    let channel = Channel::connect(serve(server).await.to_string()).await.expect("server should accept the connection");
    let client = InteropClient::new(channel);
    let mut pending = Vec::new();
    loop {
        // Each handler takes 768 bytes while it is pending.
        let mut call = Box::pin(client.do_nothing(Empty {}));
        tokio::select! {
            reply = &mut call => break assert_eq!(reply.expect_err("slot should be taken").code(), Code::ResourceExhausted),
            () = gate.0.0.notified() => pending.push(call),
        }
    }
    let refused = match client.count_up(Range { from: 0, count: 3 }).await {
        Ok(counts) => counts.into_inner().message().await.expect_err("stream should fail"),
        Err(status) => status,
    };
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    assert!(!refused.may_have_run(), "{refused:?}");
}
