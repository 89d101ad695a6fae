//! Tests of calls on a channel whose runtime has ended or is not being driven. Tasks of another runtime make the calls.

use frpc::{Call, CallResponse, Channel, Code, Next, Request, Response, ResponseStream, Server, Status, Workers};
use samples::greet::{Greeter, GreeterClient, GreeterServer, Greeting, Name};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::{Semaphore, oneshot};

/// Maximum time to wait for an event.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A service that reports each call and never replies.
struct Silent(Arc<Semaphore>);

impl Greeter for Silent {
    async fn greet(&self, _request: Request<Name>) -> Result<Response<Greeting>, Status> {
        self.0.add_permits(1);
        pending().await
    }

    async fn recite(&self, _request: Request<Name>) -> Result<Response<ResponseStream<Greeting>>, Status> {
        pending().await
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("runtime should start")
}

/// Ends the channel's runtime while a call is in progress, and returns the code of the call. `change` is applied to the
/// channel before the call.
fn code_of_call(change: impl FnOnce(Channel, Arc<Semaphore>) -> Channel) -> Code {
    let [own, other, serving] = [(); 3].map(|()| runtime());
    let (began, (here, there)) = (Arc::new(Semaphore::new(0)), frpc::memory());
    let service = GreeterServer::new(Silent(began.clone()));
    let server =
        serving.block_on(async { Server::builder().add_service(service).build() }).expect("settings should be valid");
    serving.spawn(async move { server.serve_connection(there).await });
    let channel = own.block_on(Channel::connect_io(here)).expect("in-memory connection should open");
    let client = GreeterClient::new(change(channel, began.clone()));
    let mut request = Request::new(Name::default());
    request.set_timeout(TIMEOUT);
    let call = other.spawn(async move { client.greet(request).await });
    other.block_on(async {
        tokio::time::timeout(TIMEOUT, began.acquire())
            .await
            .expect("permit should be acquired within the timeout")
            .expect("connection should be open")
            .forget();
    });
    drop(own);
    let ended = other.block_on(async { tokio::time::timeout(TIMEOUT, call).await });
    ended
        .expect("call should end within the timeout")
        .expect("task should not panic")
        .expect_err("unanswered call should fail")
        .code()
}

/// Regression test: a call polled the timer of its retry after the timer's runtime had ended, which panics.
#[test]
fn idempotent_call_fails_when_channel_runtime_ends() {
    assert_eq!(code_of_call(|channel, _| channel), Code::Unavailable);
}

/// Regression test: middleware polled the timer of a deadline after the timer's runtime had ended, which panics.
#[test]
fn middleware_call_fails_when_channel_runtime_ends() {
    let waits = |channel: Channel, began: Arc<Semaphore>| {
        channel.with_middleware(move |_call: Call, _next: Next| {
            began.add_permits(1);
            pending::<Result<CallResponse, Status>>()
        })
    };
    assert_eq!(code_of_call(waits), Code::Unavailable);
}

/// Regression test: the call panicked. Its timer runs on the runtime of the channel, which has timers.
#[test]
fn call_from_timerless_runtime_ends_at_deadline() {
    let own = Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let other = Builder::new_current_thread().build().expect("runtime should start");
    let (here, _there) = frpc::memory();
    let channel = own.block_on(Channel::connect_io(here)).expect("in-memory connection should open");
    let client = GreeterClient::new(channel);
    let mut request = Request::new(Name::default());
    request.set_timeout(Duration::from_millis(20));
    let mut greeted = pin!(client.greet(request));
    let polled = other.block_on(poll_fn(|context| Poll::Ready(greeted.as_mut().poll(context))));
    assert!(polled.is_pending());
    let greeted = own.block_on(async { tokio::time::timeout(TIMEOUT, greeted).await });
    let failed = greeted.expect("call should end within the timeout").expect_err("unanswered call should fail");
    assert_eq!(failed.code(), Code::DeadlineExceeded);
}

/// tokio does not state which runtime polls a task. A task that has called within
/// [`Handle::enter`](tokio::runtime::Handle) therefore counts as a task of the entered runtime, in which tokio would
/// also create its timers. Other tasks do not.
#[test]
fn entered_runtime_affects_deadlines_of_its_task_alone() {
    let [own, other] =
        [(); 2].map(|()| Builder::new_current_thread().enable_all().build().expect("runtime should start"));
    let (here, _there) = frpc::memory();
    let channel = own.block_on(Channel::connect_io(here)).expect("in-memory connection should open");
    let client = GreeterClient::new(channel);
    let greet = move || {
        let client = client.clone();
        let mut request = Request::new(Name::default());
        request.set_timeout(Duration::from_millis(20));
        async move { client.greet(request).await.expect_err("unanswered call should fail").code() }
    };
    let (entered, call) = (own.handle().clone(), greet());
    let entering = async move {
        let mut call = pin!(call);
        poll_fn(|context| {
            let _entered = entered.enter();
            assert!(call.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        call.await
    };
    let entering = other.spawn(entering);
    other.block_on(async {
        let others = (0..40).map(|_| tokio::time::timeout(TIMEOUT, greet())).map(tokio::spawn);
        for other in others.collect::<Vec<_>>() {
            let code = other.await.expect("task should not panic").expect("call should end within the timeout");
            assert_eq!(code, Code::DeadlineExceeded);
        }
    });
    let ended = thread::scope(|scope| {
        let (stop, stopped) = oneshot::channel::<()>();
        scope.spawn(|| own.block_on(stopped));
        let ended = other.block_on(async { tokio::time::timeout(TIMEOUT, entering).await });
        drop(stop);
        ended.expect("call should end within the timeout")
    });
    assert_eq!(ended.expect("task should not panic"), Code::DeadlineExceeded);
}

/// Regression test: the channel's runtime enforced deadlines, but a current-thread runtime does nothing outside of
/// `block_on`.
#[test]
fn call_on_idle_runtime_ends_at_deadline() {
    let [own, other] =
        [(); 2].map(|()| Builder::new_current_thread().enable_all().build().expect("runtime should start"));
    let (here, _there) = frpc::memory();
    let channel = own.block_on(Channel::connect_io(here)).expect("in-memory connection should open");
    let within = channel.with_middleware(async |call: Call, next: Next| next.run(call).await);
    let request = || {
        let mut request = Request::new(Name::default());
        request.set_timeout(Duration::from_millis(20));
        request
    };
    for channel in [channel, within] {
        let client = GreeterClient::new(channel);
        let calls = async move || {
            let greeted = tokio::time::timeout(TIMEOUT, client.greet(request())).await;
            let greeted =
                greeted.expect("call should end within the timeout").expect_err("unanswered call should fail");
            assert_eq!(greeted.code(), Code::DeadlineExceeded);
            let recited = tokio::time::timeout(TIMEOUT, async {
                client.recite(request()).await?.into_inner().message().await.map(drop)
            });
            let recited = recited.await.expect("stream should end in time").expect_err("stream should fail");
            assert_eq!(recited.code(), Code::DeadlineExceeded);
        };
        other.block_on(calls());
        // Calls of tasks look up the runtimes of tasks that have called before.
        for runtime in [&own, &other, &other] {
            let calls = calls.clone();
            runtime.block_on(async { tokio::spawn(async move { calls().await }).await }).expect("calls should end");
        }
    }
}

/// Blocks the thread until the future completes, like the `block_on` of an executor other than tokio.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut context, mut future) = (Context::from_waker(&waker), pin!(future));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// A task that blocks the only thread of its runtime stops the connections that the runtime drives. Deadlines still
/// apply to connections that worker threads drive.
#[test]
fn blocked_task_gets_deadline_from_worker_threads() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("socket should bind to the loopback address");
    let address = silent.local_addr().expect("socket should have an address").to_string();
    let own = Builder::new_current_thread().enable_all().build().expect("runtime should start");
    let code = own.block_on(async {
        let channel = Channel::builder().workers(Workers::Threads(1)).connect(address).await;
        let client = GreeterClient::new(channel.expect("socket should accept the connection"));
        let mut request = Request::new(Name::default());
        request.set_timeout(Duration::from_millis(20));
        tokio::spawn(async move { block_on(client.greet(request)).expect_err("unanswered call should fail").code() })
            .await
    });
    assert_eq!(code.expect("task should not panic"), Code::DeadlineExceeded);
}
