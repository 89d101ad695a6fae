use super::*;
use crate::Code;
use crate::api::extras::OptionalExtras;
use crate::api::middleware::{CallKind, CallTraits};
use crate::api::request::Origin;
use crate::schema::layout::Layout;
use crate::schema::method::Method;
use std::sync::Mutex as Shared;
use std::task::Waker;
use std::time::Duration;

static LAYOUT: Layout = Layout::new("test.Test", &[10, 11], 0, b"", "");
static ONE: Method = Method::new(&LAYOUT, "One", 10);
static TRAITS: CallTraits = CallTraits { kind: CallKind::Unary, messages: ["", ""] };

type Outcome<B> = Result<Response<B>, Status>;

fn about() -> MethodInfo {
    MethodInfo { method: ONE, traits: &TRAITS }
}

async fn pass_on(call: Call, next: Next) -> Result<CallResponse, Status> {
    next.run(call).await
}

/// Returns a chain with `length` middleware that only forward each call.
fn chain_of(length: usize) -> Arc<Chain> {
    let mut chain = Chain::default();
    (0..length).for_each(|_| chain.push(pass_on));
    chain.present().expect("chain with middleware should be present")
}

fn poll<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Creates and starts a call within a middleware chain.
fn begun<A, B, F>(
    chain: &Arc<Chain>,
    request: Request<A>,
    make: impl FnOnce(Request<A>) -> F + Send + 'static,
) -> PooledCall<Outcome<B>>
where
    A: Send + 'static,
    B: Send + 'static,
    F: Future<Output = Outcome<B>> + Send + 'static,
{
    let mut around = PooledCall::of(chain);
    around.begin(&about(), request, make);
    around
}

fn ended<B: 'static>(around: &mut PooledCall<Outcome<B>>) -> Outcome<B> {
    match poll(around) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("future should not be pending"),
    }
}

async fn double(request: Request<u32>) -> Outcome<u32> {
    Ok(Response::new(2 * request.into_inner()))
}

/// Returns the address of the box that holds the outermost middleware's future.
fn outermost<T>(around: &PooledCall<T>) -> Option<usize> {
    around.outermost.as_ref().map(|outermost| (&raw const **outermost).addr())
}

/// Returns the addresses of the boxes used by a completed call, from the outermost to the innermost.
fn boxes<T>(around: &mut PooledCall<T>) -> Vec<usize> {
    let mut found = outermost(around).into_iter().collect::<Vec<_>>();
    let last = around
        .outermost()
        .expect("call should still own the box of its outermost middleware")
        .last
        .as_mut()
        .expect("innermost call should have ended");
    let slots: Vec<_> = std::iter::from_fn(|| last.slots.pop()).collect();
    found.extend(slots.iter().map(|slot| (&raw const **slot).addr()));
    slots.into_iter().rev().for_each(|slot| last.keep_slot(slot));
    let parts = last.parts.as_ref().expect("middleware should have passed the call on");
    found.extend([(&raw const **last).addr(), (&raw const *last.call).addr(), (&raw const **parts).addr()]);
    found
}

#[test]
fn ended_call_boxes_serve_next_call() {
    for length in 1..=3 {
        let chain = chain_of(length);
        let mut around = begun(&chain, Request::new(1), double);
        assert_eq!(ended(&mut around).unwrap().into_inner(), 2);
        let first = boxes(&mut around);
        assert_eq!(first.len(), length + 3);
        for number in 2..5 {
            around.begin(&about(), Request::new(number), double);
            assert_eq!(ended(&mut around).unwrap().into_inner(), 2 * number);
            assert_eq!(boxes(&mut around), first);
        }
    }
}

#[test]
fn kept_boxes_hold_no_call_data() {
    #[derive(Clone)]
    struct CountingMiddleware(#[allow(dead_code)] Arc<()>);
    let canary = Arc::new(());
    let in_middleware = canary.clone();
    let mut chain = Chain::default();
    chain.push(pass_on);
    chain.push(move |mut call: Call, next: Next| {
        let canary = in_middleware.clone();
        call.extensions_mut().insert(CountingMiddleware(canary.clone()));
        async move {
            let mut response = next.run(call).await;
            if let Ok(response) = &mut response {
                response.extensions_mut().insert(CountingMiddleware(canary));
            }
            response
        }
    });
    let chain = chain.present().expect("chain with middleware should be present");
    let in_handler = canary.clone();
    let handler = move |request: Request<Arc<()>>| {
        let message = request.into_inner();
        // Unlike the future of an `async fn`, this one owns both values until it is dropped.
        std::future::poll_fn(move |_| {
            let _ = &in_handler;
            Poll::Ready(Ok(Response::new(message.clone())))
        })
    };
    let mut around = begun(&chain, Request::new(canary.clone()), handler);
    let response = ended(&mut around).unwrap();
    assert_eq!(Arc::strong_count(&canary), 4, "test, middleware and response should hold it");
    drop(response);
    assert_eq!(Arc::strong_count(&canary), 2);
    assert_eq!(boxes(&mut around).len(), 5);
}

#[test]
fn failed_call_leaves_outermost_box_reusable() {
    let chain = chain_of(2);
    let fail = async |request: Request<u32>| match request.into_inner() {
        0 => Err(Status::aborted("zero")),
        number => Ok(Response::new(number)),
    };
    let mut around = begun(&chain, Request::new(0), fail);
    assert_eq!(ended(&mut around).unwrap_err().code(), Code::Aborted);
    let first = outermost(&around);
    around.begin(&about(), Request::new(7), fail);
    assert_eq!(ended(&mut around).unwrap().into_inner(), 7);
    assert_eq!(outermost(&around), first);
}

#[test]
fn box_is_not_reused_across_call_types() {
    let chain = chain_of(1);
    let mut around = begun(&chain, Request::new(1), double);
    assert_eq!(ended(&mut around).unwrap().into_inner(), 2);
    let triple = async |request: Request<u32>| Ok(Response::new(3 * request.into_inner()));
    around.begin(&about(), Request::new(1), triple);
    assert_eq!(ended(&mut around).unwrap().into_inner(), 3);
}

#[test]
fn chain_keeps_boxes_of_bounded_calls() {
    let chain = chain_of(1);
    let call = || {
        let mut around = begun(&chain, Request::new(1), double);
        ended(&mut around).unwrap();
        around
    };
    let mut first = call();
    let boxes_of_first = boxes(&mut first);
    drop(first);
    let mut reused = PooledCall::<Outcome<u32>>::of(&chain);
    assert_eq!(boxes(&mut reused), boxes_of_first);
    assert!(chain.spares.lock().is_empty(), "boxes in use should not be kept for another call");
    drop(reused);
    let calls: Vec<_> = (0..2 * SPARES_MAX).map(|_| call()).collect();
    drop(calls);
    assert_eq!(chain.spares.lock().len(), SPARES_MAX);
    assert!(Chain::clone(&chain).spares.lock().is_empty());
}

#[test]
fn only_completed_call_returns_boxes() {
    let chain = chain_of(1);
    let serve = || begun(&chain, Request::new(1), double);
    drop(serve());
    assert!(chain.spares.lock().is_empty(), "boxes of a call that has not begun should not be kept");
    let mut served = serve();
    let Poll::Ready(outcome) = poll(&mut served) else { panic!("future should not be pending") };
    assert_eq!(outcome.unwrap().into_inner(), 2);
    let first = boxes(&mut served);
    drop(served);
    let mut served = serve();
    assert!(chain.spares.lock().is_empty());
    assert!(poll(&mut served).is_ready());
    assert_eq!(boxes(&mut served), first);
}

/// Middleware that swaps its response for the stored one, if there is one.
#[derive(Clone, Default)]
struct Exchanges(Arc<Shared<Option<CallResponse>>>);

impl Middleware for Exchanges {
    async fn call(&self, call: Call, next: Next) -> Result<CallResponse, Status> {
        let own = next.run(call).await?;
        let mut here = self.0.lock().unwrap();
        match here.take() {
            Some(other) => {
                *here = Some(own);
                Ok(other)
            }
            None => Ok(own),
        }
    }
}

#[test]
fn response_of_other_call_is_error() {
    let exchanges = Exchanges::default();
    let take = exchanges.clone();
    let mut leave = Chain::default();
    leave.push(move |call: Call, next: Next| {
        let take = take.clone();
        async move {
            *take.0.lock().unwrap() = Some(next.run(call).await?);
            Err(Status::aborted("it is left to another call"))
        }
    });
    let leave = leave.present().expect("chain with middleware should be present");
    let text = async |_request: Request<u32>| Ok(Response::new("text"));
    let mut left = begun(&leave, Request::new(1), text);
    assert_eq!(ended(&mut left).unwrap_err().code(), Code::Aborted);

    let mut chain = Chain::default();
    chain.push(exchanges.clone());
    let chain = chain.present().expect("chain with middleware should be present");
    let mut around = begun(&chain, Request::new(1), double);
    let status = ended(&mut around).unwrap_err();
    assert_eq!(
        (status.code(), status.message()),
        (Code::Internal, "a middleware returned the response of another call")
    );
    assert!(around.outermost().is_some_and(|outermost| outermost.last.is_none()));
    exchanges.0.lock().unwrap().take();
    around.begin(&about(), Request::new(2), double);
    assert_eq!(ended(&mut around).unwrap().into_inner(), 4);
}

#[test]
fn call_begins_when_chain_is_polled() {
    let started = Arc::new(Shared::new(0));
    let counts = started.clone();
    let observed = started.clone();
    let mut chain = Chain::default();
    chain.push(move |call: Call, next: Next| {
        let observed = observed.clone();
        async move {
            let rest = next.run(call);
            assert_eq!(*observed.lock().unwrap(), 0);
            rest.await
        }
    });
    let chain = chain.present().expect("chain with middleware should be present");
    let handler = move |request: Request<u32>| {
        *counts.lock().unwrap() += 1;
        double(request)
    };
    let mut around = begun(&chain, Request::new(4), handler);
    assert_eq!(ended(&mut around).unwrap().into_inner(), 8);
    assert_eq!(*started.lock().unwrap(), 1);
}

#[test]
fn metadata_and_extensions_pass_through_middleware() {
    let mut chain = Chain::default();
    for name in ["outer", "inner"] {
        chain.push(move |mut call: Call, next: Next| {
            assert_eq!((call.service(), call.method(), call.kind()), ("test.Test", "One", CallKind::Unary));
            let way = call.metadata().get("way").unwrap_or_default().to_owned();
            call.metadata_mut().insert("way", format!("{way}{name}.")).unwrap();
            next.run(call)
        });
    }
    let chain = chain.present().expect("chain with middleware should be present");
    let handler = async |request: Request<u32>| {
        assert_eq!(request.timeout(), Some(Duration::from_secs(5)));
        Ok(Response::new(request.metadata().get("way").unwrap_or_default().to_owned()))
    };
    let request = |_| {
        let timeout = Some(Duration::from_secs(5));
        Request::from_parts_with_extras(1, timeout, Origin::default(), Default::default())
    };
    let mut around = begun(&chain, request(1), handler);
    assert_eq!(ended(&mut around).unwrap().into_inner(), "outer.inner.");
    around.begin(&about(), request(2), handler);
    assert_eq!(
        ended(&mut around).unwrap().into_inner(),
        "outer.inner.",
        "no middleware of the previous call should remain"
    );
}

/// Regression test: a task continued the call after the middleware had returned, but the status claimed that the call
/// had not run.
#[test]
fn call_continued_after_middleware_may_have_run() {
    let kept = Arc::new(Shared::new(None));
    let keeping = kept.clone();
    let mut chain = Chain::default();
    chain.push(move |call: Call, next: Next| {
        *keeping.lock().unwrap() = Some((call, next));
        std::future::ready(Err(Status::aborted("early")))
    });
    let chain = chain.present().expect("chain should contain middleware");
    let status = ended(&mut begun(&chain, Request::new(1), double)).expect_err("middleware should fail");
    assert!(status.may_have_run(), "call should not be dropped");
    let (call, next) = kept.lock().unwrap().take().expect("middleware should have kept the call");
    assert!(matches!(poll(&mut Box::pin(next.run(call))), Poll::Ready(Ok(_))));
}

#[test]
fn rejected_call_may_run_only_if_continued() {
    fn unsent() -> Status {
        Status::unavailable("another call was not sent").not_run()
    }
    let refusing = async |_: Call, _: Next| Err(Status::unauthenticated("no token"));
    let late = async |call: Call, next: Next| {
        next.run(call).await?;
        Err(unsent())
    };
    let passing = async |call: Call, next: Next| next.run(call).await;
    let verdict = |chain: Chain, origin: Origin, result: Result<u32, Status>| {
        let chain = Arc::new(chain);
        let request = Request::from_parts_with_extras(1_u32, None, origin, OptionalExtras::default());
        let make = async move |_: Request<u32>| result.map(Response::new);
        let mut around = begun(&chain, request, make);
        ended(&mut around).expect_err("request should be rejected").may_have_run()
    };
    let of = |middleware: &dyn Fn(&mut Chain)| {
        let mut chain = Chain::default();
        middleware(&mut chain);
        chain
    };
    assert!(!verdict(of(&|chain| chain.push(refusing)), Origin::default(), Ok(1)));
    assert!(
        verdict(of(&|chain| chain.push(late)), Origin::default(), Ok(1)),
        "unsent second call should not change the outcome"
    );
    assert!(!verdict(of(&|chain| chain.push(passing)), Origin::default(), Err(unsent())));
    assert!(verdict(of(&|chain| chain.push(passing)), Origin::default(), Err(Status::internal("it ran"))));
}
