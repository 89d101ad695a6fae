//! Tests of what middleware may do with the rest of a chain, and of independence between calls.

use frisbee_tests::interop::{AddRequest, InteropClient, SleepRequest};
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Call, CallResponse, Channel, Code, Middleware, Next, Request, Server, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::task::JoinSet;

/// Runs the rest of the chain in a separate task.
async fn apart(call: Call, next: Next) -> Result<CallResponse, Status> {
    tokio::spawn(next.run(call)).await.map_err(|_| Status::internal("the task has panicked"))?
}

#[tokio::test]
async fn middleware_may_spawn_next_at_both_ends() {
    let builder = Server::builder().middleware(apart).middleware(apart);
    let channel = Channel::connect(serve_interop_with(builder).await.to_string()).await.unwrap();
    let client = InteropClient::new(channel.with_middleware(apart).with_middleware(apart));
    for number in 0..5 {
        let sum = client.add(AddRequest { a: number, b: 1 }).await.unwrap();
        assert_eq!(sum.into_inner().total, number + 1);
    }
}

/// Middleware that cancels every second call: it drops the rest of the chain or the running future.
#[derive(Clone, Default)]
struct GivesUp(Arc<AtomicUsize>);

impl Middleware for GivesUp {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        match self.0.fetch_add(1, Ordering::Relaxed) % 4 {
            0 => drop(next),
            1 => drop(next.run(call)),
            2 => {
                let mut running = std::pin::pin!(next.run(call));
                std::future::poll_fn(|context| {
                    assert!(running.as_mut().poll(context).is_pending());
                    std::task::Poll::Ready(())
                })
                .await;
            }
            _ => return next.run(call).await,
        }
        Err(Status::aborted("cancelled"))
    }
}

#[tokio::test]
async fn dropped_next_leaves_later_calls_intact() {
    let address = serve_interop_with(Server::builder().middleware(GivesUp::default())).await;
    let at_server = InteropClient::connect(address.to_string()).await.unwrap();
    let plain = Channel::connect(serve_interop().await.to_string()).await.unwrap();
    let at_client = InteropClient::new(plain.with_middleware(GivesUp::default()));
    for client in [at_server, at_client] {
        for number in 0..12 {
            // The call does not complete at its first poll.
            let slept = client.sleep(SleepRequest { millis: 1, tag: number }).await;
            let code = slept.as_ref().map_or_else(Status::code, |_| Code::Ok);
            assert_eq!(code, if number % 4 == 3 { Code::Ok } else { Code::Aborted });
        }
    }
}

/// Middleware that yields to other calls from time to time.
async fn dawdle(call: Call, next: Next) -> Result<CallResponse, Status> {
    let number: u32 = call.metadata().get("number").and_then(|number| number.parse().ok()).unwrap_or_default();
    for _ in 0..number % 3 {
        tokio::task::yield_now().await;
    }
    let mut response = next.run(call).await?;
    response.metadata_mut().insert("number", number.to_string())?;
    Ok(response)
}

#[tokio::test]
async fn concurrent_calls_stay_separate_in_middleware() {
    let builder = Server::builder().middleware(dawdle).middleware(dawdle).middleware(dawdle);
    let channel = Channel::connect(serve_interop_with(builder).await.to_string()).await.unwrap();
    let channel = channel.with_middleware(dawdle).with_middleware(dawdle).with_middleware(dawdle);
    let client = InteropClient::new(channel);
    let mut callers = JoinSet::new();
    for caller in 0..40 {
        let client = client.clone();
        callers.spawn(async move {
            for round in 0..10 {
                let number = caller * 100 + round;
                let mut request = Request::new(AddRequest { a: number, b: 0 });
                request.metadata_mut().insert("number", number.to_string()).unwrap();
                let reply = client.add(request).await.unwrap();
                assert_eq!(reply.metadata().get("number"), Some(number.to_string().as_str()));
                assert_eq!(reply.into_inner().total, number);
            }
        });
    }
    callers.join_all().await;
}

/// Middleware that panics in every second call, after the rest of the chain.
#[derive(Clone, Default)]
struct Panics(Arc<AtomicUsize>);

impl Middleware for Panics {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        let response = next.run(call).await;
        assert!(self.0.fetch_add(1, Ordering::Relaxed) % 2 == 1, "middleware should panic in every second call");
        response
    }
}

#[tokio::test]
async fn middleware_panic_ends_only_own_call() {
    let address = serve_interop_with(Server::builder().middleware(Panics::default())).await;
    let client = InteropClient::connect(address.to_string()).await.unwrap();
    let channel = Channel::connect(serve_interop().await.to_string()).await.unwrap();
    let panicking = InteropClient::new(channel.with_middleware(Panics::default()));
    for number in 0..10 {
        let total = |sum: frpc::Response<frisbee_tests::interop::Sum>| sum.into_inner().total;
        let expected = if number % 2 == 0 { Err(Code::Internal) } else { Ok(number) };
        let served = client.add(AddRequest { a: number, b: 0 }).await;
        assert_eq!(served.map(total).map_err(|status| status.code()), expected);
        let panicking = panicking.clone();
        let called = tokio::spawn(async move { panicking.add(AddRequest { a: number, b: 0 }).await }).await;
        assert_eq!(called.is_err(), number % 2 == 0);
        assert_eq!(called.ok().map(|sum| total(sum.unwrap())), expected.ok());
    }
}

/// A value attached to the requests of a client.
#[derive(Clone)]
struct Canary(#[allow(dead_code)] Arc<()>);

#[tokio::test]
async fn call_extensions_are_dropped_after_call() {
    let canary = Arc::new(());
    let server = canary.clone();
    let builder = Server::builder().middleware(move |mut call: Call, next: Next| {
        call.extensions_mut().insert(Canary(server.clone()));
        next.run(call)
    });
    let channel = Channel::connect(serve_interop_with(builder).await.to_string()).await.unwrap();
    let client = InteropClient::new(channel.with_middleware(async |call: Call, next: Next| next.run(call).await));
    for _ in 0..3 {
        let mut request = Request::new(AddRequest { a: 1, b: 2 });
        request.extensions_mut().insert(Canary(canary.clone()));
        assert_eq!(client.add(request).await.unwrap().into_inner().total, 3);
        // The references here and in the server's middleware itself.
        assert_eq!(Arc::strong_count(&canary), 2);
    }
}
