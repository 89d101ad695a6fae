//! Tests of the statuses of failed calls, which must not depend on races.

use frisbee_tests::interop::{
    AddRequest, Count, Empty, Interop, InteropClient, InteropServer, Range, SleepRequest, Sum, Text,
};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::{left_to_service, serve, serve_interop, serve_interop_with};
use frpc::{
    Channel, Code, Middleware, Request, RequestStream, Response, ResponseStream, Server, Status, Streaming, polyglot,
};
use frpc_balance::Balance;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

type Answer<T> = Result<Response<T>, Status>;

/// Maximum time to wait for an event, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the result of reading a stream to its end.
async fn whole<M: polyglot::Message>(answer: Answer<Streaming<M>>) -> Result<(), Status> {
    let mut stream = answer?.into_inner();
    while stream.message().await?.is_some() {}
    Ok(())
}

/// Makes a call of one of the four kinds, with an optional timeout.
async fn call(client: &InteropClient, kind: usize, timeout: Option<Duration>) -> Result<(), Status> {
    fn request<T>(message: T, timeout: Option<Duration>) -> Request<T> {
        let mut request = Request::new(message);
        timeout.into_iter().for_each(|timeout| request.set_timeout(timeout));
        request
    }
    match kind {
        0 => client.add(request(AddRequest { a: 1, b: 1 }, timeout)).await.map(drop),
        1 => whole(client.count_up(request(Range { from: 0, count: 3 }, timeout)).await).await,
        2 => client.sum_up(request(frpc::iter((0..3).map(|value| Count { value })), timeout)).await.map(drop),
        _ => whole(client.chat(request(frpc::iter([Text::default(), Text::default()]), timeout)).await).await,
    }
}

fn assert_refused(answer: Result<(), Status>, code: Code) {
    let status = answer.expect_err("request should be rejected");
    assert_eq!((status.code(), status.may_have_run()), (code, false), "{status}");
}

/// Regression test: one in a hundred streaming calls failed with "the stream was closed, try again".
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn missing_service_is_unimplemented_ten_thousand_times() {
    const CALLERS: usize = 16;
    let address = serve(Server::builder()).await.to_string();
    let mut callers = JoinSet::new();
    let channel = Channel::connect(address).await.expect("server should accept the connection");
    for caller in 0..CALLERS {
        let client = InteropClient::new(channel.clone());
        callers.spawn(async move {
            for _ in 0..10_000 / CALLERS {
                assert_refused(call(&client, caller % 4, None).await, Code::Unimplemented);
            }
        });
    }
    callers.join_all().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn missing_service_is_unimplemented_on_new_connections() {
    let address = serve(Server::builder()).await.to_string();
    for round in 0..100 {
        for is_named in [false, true] {
            let builder = Channel::builder();
            let builder = if is_named { builder.calls::<InteropClient>() } else { builder };
            let client = InteropClient::new(
                builder.connect(address.as_str()).await.expect("server should accept the connection"),
            );
            assert_refused(call(&client, round % 4, None).await, Code::Unimplemented);
        }
    }
}

#[tokio::test]
async fn call_with_zero_timeout_does_not_run() {
    let client =
        InteropClient::connect(serve_interop().await.to_string()).await.expect("server should accept the connection");
    for kind in 0..4 {
        assert_refused(call(&client, kind, Some(Duration::ZERO)).await, Code::DeadlineExceeded);
    }
}

/// Regression test: the status named the limit of streams, or a connection for which no call had waited.
#[tokio::test]
async fn status_reports_zero_timeout() {
    let connected =
        Channel::connect(serve_interop().await.to_string()).await.expect("server should accept the connection");
    let lazy = Channel::builder().connect_lazy("127.0.0.1:1").expect("address should be valid");
    for channel in [connected, lazy] {
        let client = InteropClient::new(channel);
        for kind in 0..4 {
            let status = call(&client, kind, Some(Duration::ZERO)).await.expect_err("call should fail");
            assert!(status.message().contains("its deadline had passed"), "{kind}: {status}");
        }
    }
}

#[tokio::test]
async fn expired_request_is_rejected_before_handler() {
    let server = Server::builder().middleware(Unreachable).method_hand_off("interop.Interop/DoNothing");
    let mut peer = Raw::connect(serve_interop_with(server).await).await;
    peer.write(&packet(0, 3, b"fris\x01\x04\x03\x80\x80\x10")).await;
    let late = [0x10, 3, 1, 1, 0];
    let unary = packet(7, 18, &[&late[..], &[8, 0]].concat());
    let stream = packet(1, 2, &[&late[..], &[9, 21]].concat());
    let hand_off = packet(0, 8, &[&[15][..], &late, &[8, 0]].concat());
    // A status with code 4 and the item which states that the call has not been run, in a prefix or in TRAILERS of
    // stream 1.
    let refused = [3, 1, 4, 5, 0];
    for (request, before) in [(unary, &[0x10, 5][..]), (stream, &[1]), (hand_off, &[0, 0x10, 5])] {
        peer.write(&request).await;
        let mut reply = peer.next().await.expect("connection should stay open");
        while reply.operation.number() == 7 {
            reply = peer.next().await.expect("connection should stay open"); // The reset after the failure.
        }
        assert!(reply.body.starts_with(&[before, &refused].concat()), "{reply:?}");
    }
}

/// Middleware that must not be called.
struct Unreachable;

impl Middleware for Unreachable {
    async fn call(&self, call: frpc::Call, _next: frpc::Next) -> Result<frpc::CallResponse, Status> {
        panic!("{call:?}")
    }
}

#[tokio::test]
async fn forwarded_rejection_counts_as_executed_call() {
    let nowhere = InteropClient::connect(serve(Server::builder()).await.to_string())
        .await
        .expect("server should accept the connection");
    let proxy = Server::builder().add_service(InteropServer::new(Proxy(nowhere)));
    let client =
        InteropClient::connect(serve(proxy).await.to_string()).await.expect("server should accept the connection");
    for kind in 0..4 {
        let status = call(&client, kind, None).await.expect_err("call should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, true), "{status}");
    }
}

/// A service that forwards its calls.
struct Proxy(InteropClient);

impl Interop for Proxy {
    left_to_service!(echoes, do_nothing, fail, echo_payload, sleep, describe);

    async fn add(&self, request: Request<AddRequest>) -> Answer<Sum> {
        self.0.add(request.into_inner()).await
    }
    async fn count_up(&self, request: Request<Range>) -> Answer<ResponseStream<Count>> {
        Ok(self.0.count_up(request.into_inner()).await?.map(ResponseStream::new))
    }
    async fn sum_up(&self, _request: Request<Streaming<Count>>) -> Answer<Sum> {
        self.0.sum_up(frpc::iter([])).await
    }
    async fn chat(&self, _request: Request<Streaming<Text>>) -> Answer<ResponseStream<Text>> {
        Ok(self.0.chat(frpc::iter([])).await?.map(ResponseStream::new))
    }
}

/// A service that replies early or panics late.
#[derive(Default)]
struct Odd {
    /// Receives the reason why the peer no longer accepts replies.
    refused: Option<mpsc::UnboundedSender<Status>>,
}

impl Interop for Odd {
    left_to_service!(echoes, do_nothing, fail, echo_payload, add, sleep, describe);

    /// Panics after the requested number of messages.
    async fn count_up(&self, request: Request<Range>) -> Answer<ResponseStream<Count>> {
        let last = request.get_ref().count;
        Ok(Response::new(ResponseStream::new(frpc::iter((0..).map(move |value| {
            assert!(value < last, "the stream of replies panics");
            Ok(Count { value })
        })))))
    }

    /// Replies to the first message.
    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Answer<Sum> {
        let first = request.into_inner().message().await?;
        Ok(Response::new(Sum { total: first.map_or(0, |first| first.value), count: 1 }))
    }

    /// Sends for as long as the peer reads.
    async fn chat(&self, _request: Request<Streaming<Text>>) -> Answer<ResponseStream<Text>> {
        let (sender, texts) = ResponseStream::channel(1);
        let refused = self.refused.clone();
        tokio::spawn(async move {
            let refusal = loop {
                if let Err(status) = sender.send(Ok(Text::default())).await {
                    break status;
                }
            };
            refused.map(|refused| refused.send(refusal))
        });
        Ok(Response::new(texts))
    }
}

async fn odd(odd: Odd) -> InteropClient {
    let server = Server::builder().add_service(InteropServer::new(odd));
    InteropClient::connect(serve(server).await.to_string()).await.expect("server should accept the connection")
}

/// Regression test: the reply waited for the end of the request stream, which may take long.
#[tokio::test]
async fn early_reply_does_not_await_request_end() {
    let client = odd(Odd::default()).await;
    let (sender, requests) = RequestStream::channel(1);
    let answered = tokio::spawn(async move { client.sum_up(requests).await });
    sender.send(Count { value: 42 }).await.expect("message should be sent");
    let answered = tokio::time::timeout(TIMEOUT, answered).await.expect("call should complete within the timeout");
    assert_eq!(answered.expect("task should not panic").expect("call should succeed").get_ref().total, 42);
    tokio::time::timeout(TIMEOUT, sender.closed()).await.expect("stream should be closed within the timeout");
}

#[tokio::test]
async fn messages_sent_before_stream_panics_arrive() {
    let client = odd(Odd::default()).await;
    for count in 0..3 {
        let mut counts = client.count_up(Range { from: 0, count }).await.expect("stream should open").into_inner();
        for value in 0..count {
            assert_eq!(
                counts.message().await.expect("stream should not fail").expect("stream should continue").value,
                value
            );
        }
        let status = counts.message().await.expect_err("stream should fail");
        assert_eq!((status.code(), status.message()), (Code::Internal, "the handler panicked"));
    }
}

/// Returns a client of an in-memory server, over a link that can be silenced.
async fn wired(odd: Odd) -> (InteropClient, Arc<Notify>) {
    let server = Server::builder().add_service(InteropServer::new(odd)).build().expect("services should not overlap");
    let ((here, mut near), (mut far, there)) = (frpc::memory(), frpc::memory());
    tokio::spawn(async move { server.serve_connection(there).await });
    let silence = Arc::new(Notify::new());
    let silenced = silence.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = tokio::io::copy_bidirectional(&mut near, &mut far) => {}
            () = silenced.notified() => {}
        }
        pending::<()>().await;
    });
    (InteropClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted")), silence)
}

#[tokio::test(start_paused = true)]
async fn stream_sender_distinguishes_finished_and_lost_peer() {
    for is_disconnected in [false, true] {
        let (refused, mut refusals) = mpsc::unbounded_channel();
        let (client, silence) = wired(Odd { refused: Some(refused) }).await;
        let (sender, requests) = RequestStream::channel(1);
        let mut answers = client.chat(requests).await.expect("stream should open").into_inner();
        answers.message().await.expect("stream should not fail").expect("stream should continue");
        if is_disconnected {
            silence.notify_one();
        } else {
            drop(answers);
        }
        let feeding = async {
            loop {
                if let Err(status) = sender.send(Text::default()).await {
                    return status;
                }
            }
        };
        let code = if is_disconnected { Code::Unavailable } else { Code::Cancelled };
        let refusal = tokio::time::timeout(TIMEOUT, feeding).await.expect("call should fail within the timeout");
        assert_eq!(refusal.code(), code, "client received the status {refusal}");
        let refusal = tokio::time::timeout(TIMEOUT, refusals.recv())
            .await
            .expect("message should arrive within the timeout")
            .expect("call should fail");
        assert_eq!(refusal.code(), code, "server received the status {refusal}");
    }
}

/// A waker that unparks a thread.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future on this thread, without tokio.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park_timeout(TIMEOUT),
        }
    }
}

/// Regression test: streaming calls, and unary calls that had to wait, panicked outside of tokio.
#[tokio::test(flavor = "multi_thread")]
async fn every_call_kind_works_outside_tokio() {
    let address = serve_interop_with(Server::builder().method_hand_off("interop.Interop/DoNothing")).await.to_string();
    let connected = Channel::connect(address.as_str()).await.expect("server should accept the connection");
    let lazy = Channel::builder().connect_lazy(address).expect("address should be valid");
    let outside = std::thread::spawn(move || {
        for channel in [lazy, connected] {
            for client in [channel.clone(), channel.with_middleware(Through)].map(InteropClient::new) {
                for kind in 0..4 {
                    for timeout in [None, Some(TIMEOUT)] {
                        block_on(call(&client, kind, timeout)).expect("call should succeed");
                    }
                }
            }
            let (asking, _handed) = channel.request_hand_off();
            let asking = InteropClient::new(asking);
            let send_call = || {
                let mut request = Request::new(Empty {});
                request.set_timeout(TIMEOUT);
                block_on(asking.do_nothing(request))
            };
            // The server may not have processed the end of the last stream yet.
            let answered = std::iter::repeat_with(send_call)
                .find(|answered| !answered.as_ref().is_err_and(|status| status.code() == Code::FailedPrecondition));
            answered.expect("call should succeed").expect("call should succeed");
            let mut request = Request::new(SleepRequest { millis: 60_000, tag: 1 });
            request.set_timeout(Duration::from_millis(20));
            let late = block_on(InteropClient::new(channel.with_middleware(Through)).sleep(request));
            assert_eq!(late.expect_err("sleeping handler should exceed the deadline").code(), Code::DeadlineExceeded);
        }
    });
    tokio::task::spawn_blocking(|| outside.join())
        .await
        .expect("process should be running")
        .expect("task should not panic");
}

/// Middleware that permits every call.
struct Through;

impl Middleware for Through {
    async fn call(&self, call: frpc::Call, next: frpc::Next) -> Result<frpc::CallResponse, Status> {
        next.run(call).await
    }
}

/// Regression test: the error was reported only by the first call, after several seconds.
#[tokio::test]
async fn lazy_channel_rejects_invalid_address_immediately() {
    for (address, reason) in [
        ("rubbish", "an address must be host:port; the port is missing"),
        ("http://127.0.0.1:1", "an address must be host:port, without a scheme"),
        ("127.0.0.1:0", "a server cannot listen on port 0"),
        ("local host:80", "the host contains a space"),
        ("unix:", "the path of a socket is missing after unix: or unix+shm:"),
    ] {
        let text = format!("connecting to {address} failed: {reason}");
        let error = Channel::builder().connect_lazy(address).expect_err("address should be invalid");
        assert_eq!(error.to_string(), text);
        let several = Channel::builder().balance().connect_all(["127.0.0.1:1", address]).await;
        assert_eq!(several.expect_err("invalid address should be rejected").to_string(), text);
    }
    let long = format!("unix:/{}", "x".repeat(200));
    assert!(Channel::builder().connect_lazy(long).is_err());
    Channel::builder()
        .connect_lazy("name.that.may.come.to.be.example:80")
        .expect("unresolvable name should be accepted");
}
