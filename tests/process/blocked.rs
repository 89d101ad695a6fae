//! Tests of handlers that block the thread that drives their connections. Other connections must continue, and the log
//! must name the method. Each test runs alone in its process, because it reads the whole log.

use frisbee::{Connection, Handlers, IoBackend, Operation, Outbox, Packet, PacketId, Routed, Router};
use frisbee_tests::interop::{AddRequest, Interop, InteropClient, InteropServer, SleepRequest, Text};
use frisbee_tests::process::ran_alone;
use frisbee_tests::service::Service;
use frisbee_tests::{backends, left_to_service, serve, until};
use frpc::{
    Channel, Request, RequestSender, RequestStream, Response, ResponseStream, Server, Status, Streaming, Workers,
};
use futures_util::StreamExt;
use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once, mpsc};
use std::time::{Duration, Instant};
use std::{hint, thread};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc as events;
use tokio::task::JoinSet;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

type Reply<T> = Result<Response<T>, Status>;

/// Maximum time to wait for an event that should happen soon.
const TIMEOUT: Duration = Duration::from_secs(20);

/// How long a handler blocks its thread, so that the server notices it. A server notices it after some 10 ms.
const NOTICED: Duration = Duration::from_millis(100);

/// Number of other connections, and number of calls that each of them makes while a handler blocks.
const OTHERS: usize = 15;
const CALLS: usize = 20;

/// How the handler of `sleep` occupies its thread until it is released.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum How {
    Blocks,
    BlocksInPlace,
    Computes,
}

const ALL: [How; 3] = [How::Blocks, How::BlocksInPlace, How::Computes];

/// A service with an `add` that replies immediately and a `sleep` that occupies its thread.
#[derive(Clone)]
struct Holding {
    how: How,
    started: events::UnboundedSender<String>,
    released: Arc<Mutex<mpsc::Receiver<()>>>,
    /// A flag that handlers check while they occupy the processor.
    is_released: Arc<AtomicBool>,
}

impl Holding {
    /// Occupies the thread until the test releases it.
    fn hold(&self) {
        self.started.send(thread_name()).expect("receiver should be waiting");
        let wait = || {
            self.released
                .lock()
                .expect("lock should not be poisoned")
                .recv_timeout(TIMEOUT)
                .expect("test should release the handler within the timeout");
        };
        match self.how {
            How::Blocks => wait(),
            How::BlocksInPlace => tokio::task::block_in_place(wait),
            How::Computes => {
                let started = Instant::now();
                while !self.is_released.load(Ordering::Relaxed) && started.elapsed() < TIMEOUT {
                    hint::spin_loop();
                }
            }
        }
    }
}

impl Interop for Holding {
    left_to_service!(echoes, do_nothing, fail, echo_payload, add, describe, count_up, sum_up, chat);

    async fn sleep(&self, request: Request<SleepRequest>) -> Reply<SleepRequest> {
        self.hold();
        Ok(Response::new(request.into_inner()))
    }
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

/// Controls a handler that occupies its thread.
struct Holder {
    /// Receives the threads on which handlers start.
    started: events::UnboundedReceiver<String>,
    release: mpsc::Sender<()>,
    is_released: Arc<AtomicBool>,
}

impl Holder {
    fn new(how: How) -> (Holding, Self) {
        let (started, has_started) = events::unbounded_channel();
        let (release, released) = mpsc::channel();
        let is_released = Arc::new(AtomicBool::new(false));
        let released = Arc::new(Mutex::new(released));
        let holding = Holding { how, started, released, is_released: is_released.clone() };
        (holding, Self { started: has_started, release, is_released })
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
        self.release.send(()).expect("receiver should be waiting");
    }
}

async fn connect(address: &str) -> InteropClient {
    InteropClient::connect(address).await.expect("server should accept the connection")
}

async fn add(client: &InteropClient) {
    let sum = client.add(AddRequest { a: 1, b: 2 }).await.expect("call should succeed");
    assert_eq!(sum.into_inner().total, 3);
}

/// Returns connections on which calls were made, so that each belongs to a thread.
async fn others(address: &str) -> Vec<InteropClient> {
    let mut others = Vec::new();
    for _ in 0..OTHERS {
        let client = connect(address).await;
        add(&client).await;
        others.push(client);
    }
    others
}

/// Makes calls on each connection.
async fn call(others: &[InteropClient]) {
    let mut calling = JoinSet::new();
    for client in others {
        let client = client.clone();
        calling.spawn(async move {
            for _ in 0..CALLS {
                add(&client).await;
            }
        });
    }
    tokio::time::timeout(TIMEOUT, calling.join_all()).await.expect("calls should complete within the timeout");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_handler_does_not_delay_other_connections() {
    if ran_alone(|| ()) {
        return;
    }
    if uring_is_required() {
        return;
    }
    for how in ALL {
        for threads in [1, 2] {
            let (holding, mut holder) = Holder::new(how);
            let server = Server::builder().workers(Workers::Threads(threads)).io_backend(IoBackend::Tokio);
            let address = serve(server.add_service(InteropServer::new(holding))).await.to_string();
            let others = others(&address).await;
            let client = connect(&address).await;
            let sleeping = tokio::spawn(async move { client.sleep(SleepRequest::default()).await });
            holder.started.recv().await.expect("channel should stay open");
            call(&others).await;
            assert!(!sleeping.is_finished(), "{how:?}");
            holder.release();
            sleeping.await.expect("task should not panic").expect("call should be released");
            call(&others).await;
        }
    }
}

/// The log lines about handlers that block their threads.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Keeping;

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        write!(self.0, "{}={value:?} ", field.name()).expect("write should succeed");
    }
}

impl Subscriber for Keeping {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        LINES.lock().expect("lock should not be poisoned").push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Returns the log lines about a peer.
fn lines_about(peer: impl fmt::Debug) -> Vec<String> {
    let peer = format!("peer=Some({peer:?})");
    LINES.lock().expect("lock should not be poisoned").iter().filter(|line| line.contains(&peer)).cloned().collect()
}

/// Waits until the log contains lines about a peer, and returns them. The server delays such lines, because the handler
/// may be panicking.
async fn line_about(peer: impl fmt::Debug) -> Vec<String> {
    until("the log reports the blocked thread", || !lines_about(&peer).is_empty()).await;
    lines_about(peer)
}

fn listen_to_the_log() {
    static LISTENING: Once = Once::new();
    LISTENING
        .call_once(|| tracing::subscriber::set_global_default(Keeping).expect("no other subscriber should be set"));
}

/// Returns whether all servers use io_uring, whatever their builders select. A ring belongs to one thread.
fn uring_is_required() -> bool {
    let is_required = std::env::var_os("FRISBEE_IO_BACKEND").is_some_and(|backend| backend == "require");
    if is_required {
        println!("not tested: io_uring is required, and other threads cannot take over a ring");
    }
    is_required
}

/// Returns a runtime for a server.
fn caller() -> Runtime {
    let caller = Builder::new_multi_thread().worker_threads(2).thread_name("caller").enable_all().build();
    caller.expect("thread should start")
}

#[test]
fn blocking_method_gets_tasks_and_one_log() {
    if ran_alone(|| ()) {
        return;
    }
    listen_to_the_log();
    for (how, backend) in ALL.into_iter().flat_map(|how| backends().iter().map(move |backend| (how, *backend))) {
        let (holding, mut holder) = Holder::new(how);
        caller().block_on(async {
            let server = Server::builder().workers(Workers::Threads(1)).io_backend(backend);
            let address = serve(server.add_service(InteropServer::new(holding))).await.to_string();
            let channel = Channel::connect(&address).await.expect("server should accept the connection");
            let peer = channel
                .connection()
                .expect("channel should be connected")
                .local_addr()
                .expect("socket should have a local address");
            let client = InteropClient::new(channel);
            let mut threads = Vec::new();
            // The log is written late, so the server may poll the handler in place again. It then blocks long enough to
            // be noticed again, and its calls get tasks for longer each time.
            while threads.last().is_none_or(|thread: &String| thread != "caller") {
                let sleeping = tokio::spawn({
                    let client = client.clone();
                    async move { client.sleep(SleepRequest::default()).await }
                });
                threads.push(holder.started.recv().await.expect("channel should stay open"));
                if threads.len() == 1 {
                    until("the log reports the blocked thread", || !lines_about(peer).is_empty()).await;
                } else {
                    tokio::time::sleep(NOTICED).await;
                }
                holder.release();
                sleeping.await.expect("task should not panic").expect("call should be released");
                assert!(threads.len() < 10, "{threads:?}");
            }
            assert!(threads[0].starts_with("frisbee-"), "{how:?} {threads:?}");
            let lines = line_about(peer).await;
            assert_eq!(lines.len(), 1, "{lines:#?}");
            for part in ["method=interop.Interop/Sleep", "Policy::Concurrent", "spawn_blocking"] {
                assert!(lines[0].contains(part), "{lines:#?}");
            }
        });
    }
}

/// A service that replies to the messages of a stream. Before some replies, it occupies its thread.
#[derive(Clone)]
struct Chatting(Holding);

impl Interop for Chatting {
    left_to_service!(echoes, do_nothing, fail, echo_payload, add, describe, sleep, count_up, sum_up);

    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let holding = self.0.clone();
        let answer = move |text: Result<Text, Status>| {
            if text.as_ref().is_ok_and(|text| text.value == "hold") {
                holding.hold();
            }
            text.map(|_| Text { value: thread_name() })
        };
        Ok(Response::new(ResponseStream::new(request.into_inner().map(answer))))
    }
}

/// A stream to the service [`Chatting`].
struct Chat {
    sender: RequestSender<Text>,
    answers: Streaming<Text>,
}

impl Chat {
    async fn open(client: &InteropClient) -> Self {
        let (sender, messages) = RequestStream::channel(1);
        Self { sender, answers: client.chat(messages).await.expect("stream should open").into_inner() }
    }

    async fn say(&self, value: &str) {
        self.sender.send(Text { value: value.to_owned() }).await.expect("message should be sent");
    }

    /// Sends a message. Returns the name of the thread that answered it.
    async fn answer(&mut self) -> String {
        self.answers.message().await.expect("stream should not fail").expect("stream should be open").value
    }
}

#[test]
fn blocking_stream_handler_moves_and_is_logged() {
    if ran_alone(|| ()) {
        return;
    }
    listen_to_the_log();
    for (how, backend) in ALL.into_iter().flat_map(|how| backends().iter().map(move |backend| (how, *backend))) {
        let (holding, mut holder) = Holder::new(how);
        caller().block_on(async {
            let server = Server::builder().workers(Workers::Threads(1)).io_backend(backend);
            let address = serve(server.add_service(InteropServer::new(Chatting(holding)))).await.to_string();
            let others = others(&address).await;
            let channel = Channel::connect(&address).await.expect("server should accept the connection");
            let peer = channel
                .connection()
                .expect("channel should be connected")
                .local_addr()
                .expect("socket should have a local address");
            let client = InteropClient::new(channel);
            let mut chat = Chat::open(&client).await;
            chat.say("hello").await;
            assert!(chat.answer().await.starts_with("frisbee-"), "{how:?} {backend:?}");
            chat.say("hold").await;
            assert!(holder.started.recv().await.expect("channel should stay open").starts_with("frisbee-"));
            until("the log reports the blocked thread", || !lines_about(peer).is_empty()).await;
            if backend == IoBackend::Tokio && !uring_is_required() {
                call(&others).await;
                // The blocked connection makes calls too.
                call(std::slice::from_ref(&client)).await;
            }
            holder.release();
            chat.answer().await;
            chat.say("hello").await;
            assert_eq!(chat.answer().await, "caller", "{how:?} {backend:?}");
            let lines = lines_about(peer);
            assert_eq!(lines.len(), 1, "{lines:#?}");
            for part in ["method=interop.Interop/Chat", "Policy::Concurrent", "spawn_blocking"] {
                assert!(lines[0].contains(part), "{lines:#?}");
            }
        });
    }
}

#[test]
fn handlers_stay_inline_on_single_thread_runtime() {
    if ran_alone(|| ()) {
        return;
    }
    if uring_is_required() {
        return;
    }
    listen_to_the_log();
    let (holding, mut holder) = Holder::new(How::Blocks);
    let (sender, address) = mpsc::channel();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let serving = thread::spawn(move || {
        let caller = Builder::new_current_thread().enable_all().build().expect("runtime should start");
        caller.block_on(async {
            let server = Server::builder().workers(Workers::Threads(1)).io_backend(IoBackend::Tokio);
            let address = serve(server.add_service(InteropServer::new(holding))).await.to_string();
            sender.send(address).expect("receiver should be waiting");
            let _ = stopped.await;
        });
    });
    let address = address.recv_timeout(TIMEOUT).expect("server should report its address within the timeout");
    caller().block_on(async {
        let others = others(&address).await;
        let channel = Channel::connect(&address).await.expect("server should accept the connection");
        let peer = channel
            .connection()
            .expect("channel should be connected")
            .local_addr()
            .expect("socket should have a local address");
        let client = InteropClient::new(channel);
        for _ in 0..3 {
            let client = client.clone();
            let sleeping = tokio::spawn(async move { client.sleep(SleepRequest::default()).await });
            assert_eq!(holder.started.recv().await.as_deref(), Some("frisbee-0"));
            call(&others).await;
            holder.release();
            sleeping.await.expect("task should not panic").expect("call should be released");
        }
        let lines = line_about(peer).await;
        assert_eq!(lines.len(), 1, "{lines:#?}");
        assert!(lines[0].contains("multi-threaded"), "{lines:#?}");
    });
    stop.send(()).expect("receiver should be waiting");
    serving.join().expect("thread should not panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_client_handler_delays_no_channels() {
    if ran_alone(|| ()) {
        return;
    }
    if uring_is_required() {
        return;
    }
    let (sender, mut connections) = events::unbounded_channel();
    let server = Server::builder().on_connect(move |connection: &Connection| drop(sender.send(connection.clone())));
    let address = serve(server.add_service(InteropServer::new(Service))).await.to_string();
    let (holding, mut holder) = Holder::new(How::Blocks);
    let builder = Channel::builder().workers(Workers::Threads(1)).io_backend(IoBackend::Tokio);
    let agent = builder.clone().add_service(InteropServer::new(holding)).connect(address.as_str()).await;
    let _agent = agent.expect("server should be listening");
    let called =
        InteropClient::new(Channel::from_connection(&connections.recv().await.expect("channel should stay open")));
    let mut others = Vec::new();
    for _ in 0..OTHERS {
        others.push(InteropClient::new(
            builder.clone().connect(address.as_str()).await.expect("server should accept the connection"),
        ));
    }
    let sleeping = tokio::spawn(async move { called.sleep(SleepRequest::default()).await });
    holder.started.recv().await.expect("channel should stay open");
    call(&others).await;
    holder.release();
    sleeping.await.expect("task should not panic").expect("call should be released");
}

const HOLDS: Operation = Operation::user(70).unwrap();
const ECHOES: Operation = Operation::user(71).unwrap();

/// A router that echoes packets. Before some of them, it occupies its thread.
struct Blocking(Holding);

impl Router for Blocking {
    type Session = ();

    fn connected(&self, _connection: &Connection) {}

    fn route(&self, (): &mut (), packet: Packet, outbox: &mut Outbox) -> Routed {
        if packet.operation == HOLDS {
            self.0.hold();
        }
        outbox.forward(&packet).expect("packet should be within the limit");
        Routed::Continue
    }
}

/// Connects a client. Returns its connection and a receiver of echoes.
async fn echoing(address: std::net::SocketAddr) -> (Connection, events::UnboundedReceiver<Packet>) {
    let (sender, packets) = events::unbounded_channel();
    let respond = move |_: Connection, packet: Packet| {
        let _ = sender.send(packet);
        async { None }
    };
    let handlers = Handlers::new().on(ECHOES, respond.clone()).on(HOLDS, respond);
    (frisbee::Client::builder().connect(address, handlers).await.expect("server should accept the connection"), packets)
}

/// Lets a router or handler block its thread, and checks that other connections continue. If an operation is known to
/// block, its handlers run in the caller's runtime. This runtime needs another thread for its clients even on one
/// processor.
async fn hold_one_and_echo_on_others(router: impl Router, holder: &mut Holder) -> (Connection, Vec<String>) {
    let server = frisbee::Server::builder().workers(Workers::Threads(1)).io_backend(IoBackend::Tokio);
    let server = server.bind("127.0.0.1:0", router).await.expect("server should bind to a free address");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let (other, mut echoed) = echoing(address).await;
    let (connection, mut replies) = echoing(address).await;
    let mut threads = Vec::new();
    for id in 0..3 {
        connection.send(&Packet::new(PacketId(id), HOLDS, "x")).await.expect("message should be sent");
        threads.push(holder.started.recv().await.expect("channel should stay open"));
        for id in 0..20 {
            other.send(&Packet::new(PacketId(id), ECHOES, "y")).await.expect("message should be sent");
            let echo =
                tokio::time::timeout(TIMEOUT, echoed.recv()).await.expect("message should arrive within the timeout");
            assert_eq!(echo.expect("connection should stay open").id, PacketId(id));
        }
        holder.release();
        assert_eq!(replies.recv().await.expect("channel should stay open").id, PacketId(id));
    }
    (connection, threads)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_router_is_logged_without_delays() {
    if ran_alone(|| ()) {
        return;
    }
    if uring_is_required() {
        return;
    }
    listen_to_the_log();
    let (holding, mut holder) = Holder::new(How::Blocks);
    let (connection, threads) = hold_one_and_echo_on_others(Blocking(holding), &mut holder).await;
    assert_eq!(threads, ["frisbee-0"; 3]);
    let lines = line_about(connection.local_addr().expect("socket should have a local address")).await;
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("operation=70"), "{lines:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn blocking_handler_is_logged_without_delays() {
    if ran_alone(|| ()) {
        return;
    }
    if uring_is_required() {
        return;
    }
    listen_to_the_log();
    let (holding, mut holder) = Holder::new(How::Blocks);
    let holds = move |_: Connection, packet: Packet| {
        let holding = holding.clone();
        async move {
            holding.hold();
            Some(packet)
        }
    };
    let handlers = Handlers::new().on(HOLDS, holds).on(ECHOES, |_, packet| async { Some(packet) });
    let (connection, threads) = hold_one_and_echo_on_others(handlers, &mut holder).await;
    assert_eq!(threads[0], "frisbee-0");
    let lines = line_about(connection.local_addr().expect("socket should have a local address")).await;
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(lines[0].contains("method=70"), "{lines:#?}");
}

/// A service that panics when its thread is already considered blocked, like a handler that prints a long backtrace.
struct Panicking(Arc<AtomicBool>);

impl Interop for Panicking {
    left_to_service!(echoes, do_nothing, fail, echo_payload, add, describe, count_up, sum_up, chat);

    async fn sleep(&self, _request: Request<SleepRequest>) -> Reply<SleepRequest> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_millis(100) {
            hint::spin_loop();
        }
        self.0.store(true, Ordering::Relaxed);
        panic!("the handler fails");
    }
}

/// Returns the log lines about a handler that panics. The panic hook takes the given time.
fn lines_of_a_panic(hook: Duration) -> Vec<String> {
    listen_to_the_log();
    std::panic::set_hook(Box::new(move |_| thread::sleep(hook)));
    caller().block_on(async {
        let has_run = Arc::new(AtomicBool::new(false));
        let server = Server::builder().workers(Workers::Threads(1)).io_backend(IoBackend::Tokio);
        let server = server.add_service(InteropServer::new(Panicking(has_run.clone())));
        let address = serve(server).await.to_string();
        let client = connect(&address).await;
        client.sleep(SleepRequest::default()).await.expect_err("panicking handler should fail the call");
        assert!(has_run.load(Ordering::Relaxed));
        // Longer than a line about a blocked thread is delayed.
        tokio::time::sleep(Duration::from_secs(1)).await;
        LINES.lock().expect("lock should not be poisoned").clone()
    })
}

#[test]
fn panic_is_not_logged_as_blocking() {
    if ran_alone(|| ()) {
        return;
    }
    let lines = lines_of_a_panic(Duration::ZERO);
    assert!(!lines.iter().any(|line| line.contains("blocks its thread")), "{lines:#?}");
}

#[test]
fn blocked_thread_log_mentions_panic_backtrace() {
    if ran_alone(|| ()) {
        return;
    }
    let lines = lines_of_a_panic(Duration::from_millis(1500));
    let early =
        lines.iter().find(|line| line.contains("blocks its thread")).expect("log should report the blocked thread");
    assert!(early.contains("or prints the backtrace of a panic"), "{early}");
}
