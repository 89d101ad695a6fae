//! Tests of handlers on the workers of their connections: which thread polls them, what still belongs to their caller's
//! runtime, and which handlers run there. Handlers that block their thread are tested in `tests/process/blocked.rs`.

use frisbee_tests::interop::{AddRequest, Count, Interop, InteropClient, InteropServer, Scalars, Sum, Text};
use frisbee_tests::{backends, left_to_service, serve, until};
use frpc::{
    Policy, Request, RequestStream, Response, ResponseStream, Server, ServerBuilder, Status, Streaming, Workers,
};
use futures_util::StreamExt;
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Handle, Id, Runtime};
use tokio::sync::mpsc;

type Reply<T> = Result<Response<T>, Status>;

const CALLER: &str = "caller";

/// Returns the runtime of a server.
fn caller() -> Runtime {
    let caller = Builder::new_multi_thread().worker_threads(2).thread_name(CALLER).enable_all().build();
    caller.expect("thread should start")
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

fn is_worker(thread: &str) -> bool {
    thread.starts_with("frisbee-")
}

/// A service that records the thread of each poll of its handlers.
#[derive(Clone, Default)]
struct Noting(Arc<Mutex<Vec<String>>>);

impl Noting {
    fn note(&self) {
        self.0.lock().expect("lock should not be poisoned").push(thread_name());
    }

    fn threads(&self) -> Vec<String> {
        self.0.lock().expect("lock should not be poisoned").clone()
    }
}

impl Interop for Noting {
    /// Uses a timer, a socket and a task, which must all belong to the caller's runtime.
    async fn describe(&self, _request: Request<Scalars>) -> Reply<Text> {
        let runtime = Handle::current().id();
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.note();
        assert_eq!(Handle::current().id(), runtime);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback port should be free");
        let mut socket = TcpStream::connect(listener.local_addr().expect("socket should have a local address"))
            .await
            .expect("server should accept the connection");
        self.note();
        drop(listener.accept().await.expect("client should connect"));
        self.note();
        assert_eq!(socket.read(&mut [0]).await.expect("read should succeed"), 0);
        self.note();
        let spawned = tokio::spawn(async { (thread_name(), Handle::current().id()) });
        let (thread, spawned_in) = spawned.await.expect("task should not panic");
        self.note();
        assert_eq!(spawned_in, runtime);
        Ok(Response::new(Text { value: thread }))
    }

    async fn chat(&self, request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let noting = self.clone();
        noting.note();
        Ok(Response::new(ResponseStream::new(request.into_inner().inspect(move |_| noting.note()))))
    }

    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Reply<Sum> {
        let (mut counts, mut sum) = (request.into_inner(), Sum::default());
        self.note();
        while let Some(count) = counts.message().await? {
            self.note();
            sum.total += count.value;
        }
        Ok(Response::new(sum))
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, add, sleep, count_up);
}

/// Returns a client of a server with a single worker.
async fn client(service: impl Interop, server: ServerBuilder) -> InteropClient {
    let address = serve(server.workers(Workers::Threads(1)).add_service(InteropServer::new(service))).await;
    InteropClient::connect(address.to_string()).await.expect("server should accept the connection")
}

/// Exchanges messages that wait for one another.
async fn play_ping_pong(client: &InteropClient) {
    let (sender, pings) = RequestStream::channel(1);
    let mut pongs = client.chat(pings).await.expect("stream should open").into_inner();
    for _ in 0..3 {
        sender.send(Text::default()).await.expect("message should be sent");
        pongs.message().await.expect("stream should not fail").expect("stream should continue");
    }
    drop(sender);
    assert_eq!(pongs.message().await, Ok(None));
}

/// Calls new servers until all `polls` of the handlers were on a worker. The operating system may suspend a thread for
/// longer than a handler may block it, and the handler then correctly moves to its caller's runtime.
fn assert_polled_on_a_worker(polls: usize, call: impl AsyncFn(InteropClient)) {
    for backend in backends() {
        let on_a_worker = (0..50).any(|_| {
            let noting = Noting::default();
            caller().block_on(async {
                call(client(noting.clone(), Server::builder().io_backend(*backend)).await).await;
            });
            let threads = noting.threads();
            assert_eq!(threads.len(), polls, "{backend:?}");
            threads.iter().all(|thread| is_worker(thread))
        });
        assert!(on_a_worker, "{backend:?}");
    }
}

#[test]
fn pending_handler_resumes_on_its_worker() {
    assert_polled_on_a_worker(5, async |client| {
        let spawned_on = client.describe(Scalars::default()).await.expect("peer should answer").into_inner().value;
        assert_eq!(spawned_on, CALLER);
    });
}

#[test]
fn streaming_handlers_run_on_connection_worker() {
    assert_polled_on_a_worker(8, async |client| {
        play_ping_pong(&client).await;
        let counts = frpc::iter((0..3).map(|value| Count { value }));
        assert_eq!(client.sum_up(counts).await.expect("call should succeed").into_inner().total, 3);
    });
}

#[test]
fn concurrent_handlers_run_in_runtime_of_caller() {
    for one_method in [false, true] {
        let noting = Noting::default();
        caller().block_on(async {
            let mut server = Server::builder();
            if one_method {
                for method in ["Describe", "Chat", "SumUp"] {
                    server = server.method_policy(format!("interop.Interop/{method}"), Policy::Concurrent);
                }
            } else {
                server = server.policy(Policy::Concurrent);
            }
            let client = client(noting.clone(), server).await;
            client.describe(Scalars::default()).await.expect("peer should answer");
            play_ping_pong(&client).await;
        });
        let threads = noting.threads();
        assert!(threads.len() == 9 && threads.iter().all(|thread| thread == CALLER), "{threads:?}");
    }
}

/// A service that always has work, because it receives its own messages. It counts its steps within one poll.
#[derive(Clone, Default)]
struct Busy(Arc<AtomicUsize>);

/// A number that exceeds every cooperative scheduling budget.
const FAR_TOO_MANY: usize = 100_000;

impl Interop for Busy {
    async fn chat(&self, _request: Request<Streaming<Text>>) -> Reply<ResponseStream<Text>> {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        for _ in 0..10 {
            let once = poll_fn(|context| {
                let mut count = 0;
                sender.send(()).expect("receiver should be waiting");
                while count < FAR_TOO_MANY && receiver.poll_recv(context).is_ready() {
                    sender.send(()).expect("receiver should be waiting");
                    count += 1;
                }
                Poll::Ready(count)
            });
            self.0.fetch_max(once.await, Ordering::Relaxed);
            tokio::task::yield_now().await;
        }
        Ok(Response::new(ResponseStream::new(frpc::iter([]))))
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, add, describe, sleep, count_up, sum_up);
}

#[test]
fn always_ready_handler_gets_bounded_worker_polls() {
    for backend in backends() {
        let busy = Busy::default();
        caller().block_on(async {
            let client = client(busy.clone(), Server::builder().io_backend(*backend)).await;
            let mut nothing = client.chat(frpc::iter([])).await.expect("stream should open").into_inner();
            assert_eq!(nothing.message().await, Ok(None));
        });
        let most = busy.0.load(Ordering::Relaxed);
        assert!((1..FAR_TOO_MANY).contains(&most), "{backend:?} {most}");
    }
}

/// Records the runtime in which it is dropped.
struct Dropped(mpsc::UnboundedSender<Option<Id>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(Handle::try_current().ok().map(|runtime| runtime.id()));
    }
}

/// A service that reports its start and waits forever.
#[derive(Clone)]
struct WaitingService {
    started: mpsc::UnboundedSender<()>,
    dropped: mpsc::UnboundedSender<Option<Id>>,
}

impl WaitingService {
    async fn wait<T>(&self) -> T {
        let _dropped = Dropped(self.dropped.clone());
        self.started.send(()).expect("receiver should be waiting");
        pending().await
    }
}

impl Interop for WaitingService {
    async fn sum_up(&self, _request: Request<Streaming<Count>>) -> Reply<Sum> {
        self.wait().await
    }

    async fn describe(&self, _request: Request<Scalars>) -> Reply<Text> {
        self.wait().await
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, add, sleep, count_up, chat);
}

#[test]
fn cancelled_handlers_drop_in_runtime_of_caller() {
    for backend in backends() {
        let ((started, mut begins), (dropped, mut drops)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
        let serving = caller();
        let server = Server::builder().io_backend(*backend).workers(Workers::Threads(1));
        let service = InteropServer::new(WaitingService { started, dropped });
        let address = serving.block_on(serve(server.add_service(service)));
        caller().block_on(async {
            let client =
                InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
            // After its reply, the client knows that the server supports cancellation.
            client.add(AddRequest::default()).await.expect("call should succeed");
            let mut call = Box::pin(client.describe(Scalars::default()));
            tokio::select! { _ = &mut call => panic!("handler should not reply"), _ = begins.recv() => {} }
            drop(call);
            assert_eq!(drops.recv().await, Some(Some(serving.handle().id())));
            let (_requests, counts) = RequestStream::channel(1);
            let mut streaming = Box::pin(client.sum_up(counts));
            tokio::select! { _ = &mut streaming => panic!("handler should not reply"), _ = begins.recv() => {} }
            drop(streaming);
            assert_eq!(drops.recv().await, Some(Some(serving.handle().id())));
        });
    }
}

/// A service that holds a value while its handlers run.
#[derive(Clone)]
struct HoldingService(Arc<()>, mpsc::UnboundedSender<()>);

impl Interop for HoldingService {
    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Reply<Sum> {
        let (_canary, mut counts) = (self.0.clone(), request.into_inner());
        self.1.send(()).expect("receiver should be waiting");
        while counts.message().await?.is_some() {}
        Ok(Response::new(Sum::default()))
    }

    async fn describe(&self, _request: Request<Scalars>) -> Reply<Text> {
        let _canary = self.0.clone();
        self.1.send(()).expect("receiver should be waiting");
        tokio::time::sleep(Duration::from_secs(3600)).await;
        Ok(Response::new(Text::default()))
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, add, sleep, count_up, chat);
}

#[test]
fn worker_handlers_end_with_server_runtime() {
    for backend in backends() {
        let (canary, (events, mut started)) = (Arc::new(()), mpsc::unbounded_channel());
        let (serving, calling) = (caller(), caller());
        let service = HoldingService(canary.clone(), events);
        let server = Server::builder().io_backend(*backend).workers(Workers::Threads(1));
        let server = serve(server.add_service(InteropServer::new(service)));
        let address = serving.block_on(server);
        calling.block_on(async {
            let client =
                InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
            let (_requests, counts) = RequestStream::channel(1);
            let mut streaming = pin!(client.sum_up(counts));
            let mut call = pin!(client.describe(Scalars::default()));
            tokio::select! {
                biased;
                _ = &mut streaming => panic!("call should not end before its requests"),
                _ = &mut call => panic!("call should take an hour"),
                () = async { for _ in 0..2 { started.recv().await.expect("channel should stay open"); } } => {}
            }
            // The references of the handlers, of the methods, and this one.
            assert!(Arc::strong_count(&canary) > 2);
            serving.shutdown_background();
            until("handlers and methods have been dropped", || Arc::strong_count(&canary) == 1).await;
        });
    }
}
