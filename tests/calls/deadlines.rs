//! Tests of what counts towards a deadline, including on busy threads.

use frisbee::Config;
use frisbee_tests::interop::{AddRequest, InteropClient, InteropServer, Range, SleepRequest};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{serve_interop_with, until};
use frpc::{Channel, Code, Request, RequestStream, Server, Status};
use std::future::poll_fn;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};

const MS: Duration = Duration::from_millis(1);

const SUM: AddRequest = AddRequest { a: 1, b: 1 };

async fn client(config: Config) -> InteropClient {
    let address = serve_interop_with(Server::builder().config(config)).await;
    InteropClient::connect(address.to_string()).await.expect("server should accept the connection")
}

fn sleep(millis: u32) -> SleepRequest {
    SleepRequest { millis, ..SleepRequest::default() }
}

fn within<T>(timeout: Duration, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(timeout);
    request
}

#[tokio::test]
async fn call_ending_during_connect_leaves_no_connection() {
    let server = Server::builder().add_service(InteropServer::new(Service)).bind("127.0.0.1:0").await;
    let server = server.expect("loopback port should be free");
    let (address, stats): (SocketAddr, _) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    let slow = Arc::new(AtomicBool::new(false));
    let dialled = Arc::new(AtomicUsize::new(0));
    let connect = {
        let (slow, dialled) = (slow.clone(), dialled.clone());
        move || {
            let (slow, dialled) = (slow.load(Ordering::SeqCst), dialled.clone());
            async move {
                if slow {
                    tokio::time::sleep(100 * MS).await;
                }
                let socket = TcpStream::connect(address).await;
                dialled.fetch_add(1, Ordering::SeqCst);
                socket
            }
        }
    };
    let channel =
        Channel::builder().connect_with_connector(connect).await.expect("connector should return a connection");
    let client = InteropClient::new(channel.clone());
    client.add(SUM).await.expect("call should succeed");
    slow.store(true, Ordering::SeqCst);
    let first = channel.connection().expect("channel should be connected");
    first.close();
    first.closed().await;
    let status = client.add(within(20 * MS, SUM)).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::DeadlineExceeded);
    until("the second connection is open", || dialled.load(Ordering::SeqCst) == 2).await;
    drop((client, channel));
    until("all connections are closed", || stats.opened() == 2 && stats.open() == 0).await;
}

#[tokio::test]
async fn deadline_counts_from_call_after_busy_thread() {
    let client = client(Config::default()).await;
    client.add(SUM).await.expect("call should succeed");
    let mut first = pin!(client.add(SUM));
    assert!(poll_fn(|context| Poll::Ready(first.as_mut().poll(context).is_pending())).await);
    std::thread::sleep(1200 * MS); // Another task of the thread computes.
    client.add(within(1000 * MS, SUM)).await.expect("call should succeed");
}

#[tokio::test]
async fn slot_wait_counts_towards_deadline() {
    let client = client(Config::default().calls_max(1)).await;
    client.add(SUM).await.expect("call should succeed");
    let second = async {
        tokio::task::yield_now().await;
        client.sleep(within(1000 * MS, sleep(600))).await
    };
    let (first, second) = tokio::join!(client.sleep(sleep(600)), second);
    first.expect("first call should have the permit");
    assert_eq!(second.expect_err("second call should time out").code(), Code::DeadlineExceeded);
}

#[tokio::test]
async fn hand_off_call_fails_at_its_deadline() {
    let address = serve_interop_with(Server::builder().method_hand_off("interop.Interop/Sleep")).await;
    let channel = Channel::connect(address.to_string()).await.expect("server should accept the connection");
    let (asking, _handed) = channel.request_hand_off();
    let status = InteropClient::new(asking)
        .sleep(within(100 * MS, sleep(60_000)))
        .await
        .expect_err("sleeping handler should exceed the deadline");
    assert_eq!(status.code(), Code::DeadlineExceeded);
}

#[tokio::test(start_paused = true)]
async fn stream_past_deadline_fails_despite_its_server() {
    let server =
        Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    let config = Config::default().stream_credit(2048);
    let channel =
        Channel::builder().config(config).connect_io(here).await.expect("connection in memory should be accepted");
    let counts = InteropClient::new(channel).count_up(within(100 * MS, Range { from: 0, count: 1_000_000 })).await;
    let mut counts = counts.expect("stream should open").into_inner();
    tokio::time::sleep(300 * MS).await; // The server knows the deadline and ends the stream with an error.
    let status = loop {
        match counts.message().await {
            Ok(count) => assert!(count.is_some(), "stream should not end by itself"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
}

#[tokio::test(start_paused = true)]
async fn stream_with_unread_message_ends_at_deadline() {
    let server =
        Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let (here, there) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move { server.serve_connection(there).await });
    let channel = Channel::builder().connect_io(here).await.expect("connection in memory should be accepted");
    let counts = InteropClient::new(channel).count_up(within(100 * MS, Range { from: 0, count: 1_000_000 })).await;
    let mut counts = counts.expect("stream should open").into_inner();
    counts.opened().await.expect("stream should open in time");
    tokio::time::advance(100 * MS).await;
    let status = counts.message().await.expect_err("stream should fail");
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    assert_eq!(counts.message().await, Ok(None), "stream should have ended");
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("runtime should start")
}

/// Polls a call once in a runtime, drops this runtime, and completes the call in another one.
fn finish_elsewhere<T>(home: &Runtime, call: impl Future<Output = Result<T, Status>>) -> Code {
    let (mut call, away) = (pin!(call), runtime());
    away.block_on(poll_fn(|context| {
        assert!(call.as_mut().poll(context).is_pending(), "call should have no reply yet");
        Poll::Ready(())
    }));
    drop(away);
    home.block_on(call).map_or_else(|status| status.code(), |_| Code::Ok)
}

/// Polling a timer panics after its runtime has ended. The runtime of the channel exists for as long as its
/// connections.
#[test]
fn deadline_outlives_calling_runtime() {
    let home = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime should start");
    let (told, connections) = mpsc::channel();
    let builder = Server::builder().config(Config::default().calls_max(1));
    let builder = builder.on_connect(move |connection| drop(told.send(connection.clone())));
    let address = home.block_on(serve_interop_with(builder)).to_string();
    let connect = || {
        let builder = Channel::builder().add_service(InteropServer::new(Service));
        home.block_on(builder.connect(address.as_str())).expect("server should be listening")
    };
    let late = || within(200 * MS, sleep(60_000));

    let client = InteropClient::new(connect());
    let backward = connections.recv().expect("channel should stay open");
    assert_eq!(
        finish_elsewhere(&home, client.sleep(late())),
        Code::DeadlineExceeded,
        "call that was sent should end at its deadline"
    );
    let occupying = home.spawn({
        let client = client.clone();
        async move { client.sleep(sleep(60_000)).await }
    });
    home.block_on(until("the first call has the only slot", || backward.running() > 0));
    assert_eq!(
        finish_elsewhere(&home, client.sleep(late())),
        Code::DeadlineExceeded,
        "call that waits for a slot should end at its deadline"
    );
    let called = InteropClient::new(Channel::from_connection(&backward));
    assert_eq!(
        finish_elsewhere(&home, called.sleep(late())),
        Code::DeadlineExceeded,
        "call of the server should end at its deadline"
    );
    occupying.abort();

    let unreachable = || std::future::pending::<std::io::Result<TcpStream>>();
    let entered = home.enter();
    let lazy = Channel::builder().connect_lazy_with_connector(unreachable).expect("services should not overlap");
    drop(entered);
    let client = InteropClient::new(lazy.clone());
    assert_eq!(
        finish_elsewhere(&home, client.sleep(late())),
        Code::DeadlineExceeded,
        "call that waits for a connection should end at its deadline"
    );

    let client = InteropClient::new(connect());
    let (_sender, requests) = RequestStream::channel(1);
    let summed = finish_elsewhere(&home, client.sum_up(within(200 * MS, requests)));
    assert_eq!(summed, Code::DeadlineExceeded, "call with a request stream should end at its deadline");
    let (_sender, requests) = RequestStream::channel(1);
    let chat = runtime().block_on(client.chat(within(200 * MS, requests)));
    let mut replies = chat.expect("stream should open").into_inner();
    assert_eq!(
        finish_elsewhere(&home, replies.message()),
        Code::DeadlineExceeded,
        "call with a reply stream should end at its deadline"
    );

    let address = home.block_on(serve_interop_with(Server::builder().method_hand_off("interop.Interop/Sleep")));
    let channel = home.block_on(Channel::connect(address.to_string())).expect("server should be listening");
    let (asking, _handed) = channel.request_hand_off();
    let asking = InteropClient::new(asking);
    assert_eq!(
        finish_elsewhere(&home, asking.sleep(late())),
        Code::DeadlineExceeded,
        "hand-off should end at its deadline"
    );
}

#[test]
fn client_reads_received_bytes_before_timing_out() {
    let (listens, address) = mpsc::channel();
    let (answered, has_answered) = mpsc::channel();
    // This server replies to a PING with a PONG, like a Go server, and to every later packet with a sum.
    let server = std::thread::spawn(move || {
        runtime().block_on(async {
            let (address, accepted) = Raw::listen().await;
            listens.send(address).expect("receiver should be waiting");
            let mut peer = accepted.await;
            peer.write(&packet(0, 1, &[])).await;
            answered.send(()).expect("receiver should be waiting");
            let request = peer.next().await.expect("connection should stay open");
            peer.write(&packet(request.id.0, request.operation.number(), &[8, 0, 0x0d, 4, 0x0d, 4])).await;
            peer.closed().await;
        });
    });
    runtime().block_on(async {
        let address = address.recv().expect("channel should stay open");
        let builder = Channel::builder().peer_kind_timeout(50 * MS);
        let client = InteropClient::new(builder.connect(address).await.expect("server should accept the connection"));
        has_answered.recv().expect("channel should stay open");
        std::thread::sleep(100 * MS);
        let sum = client.add(SUM).await.expect("call should succeed");
        assert_eq!(sum.get_ref().total, 2);
    });
    server.join().expect("thread should not panic");
}
