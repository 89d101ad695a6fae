//! Tests of calls that must fail without being sent.

use super::*;
use crate::calls::failures::RUNTIME_ENDED;

/// Regression test: calls and `stay_connected` waited forever.
#[test]
fn calls_fail_after_channel_runtime_ends() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    for is_waiting in [true, false] {
        let [channels, callers] = [(); 2].map(|()| runtime().expect("runtime should start"));
        let links = channels.block_on(async { client([]) });
        let _entered = callers.enter();
        let mut waiting = spawn_call(&links);
        if is_waiting {
            callers.block_on(tokio::task::yield_now());
        }
        drop(channels);
        callers.block_on(async {
            let ended = timeout(SOON, &mut waiting.0).await.expect("call should end").expect("task should not panic");
            let (status, _) = ended.expect_err("call should fail");
            assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
            assert!(status.message().contains(RUNTIME_ENDED), "{status}");
            assert!(!timeout(SOON, links.keep_one()).await.expect("no connection can be made"));
            timeout(SOON, links.connect())
                .await
                .expect("connection attempt should end within the timeout")
                .expect_err("connection attempt should fail without a runtime");
        });
    }
}

/// Regression test: `stay_connected` panicked if the runtime ended while the channel waited to reconnect.
#[test]
fn pause_ends_with_channel_runtime() {
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let [channels, callers] = [(); 2].map(|()| runtime().expect("runtime should start"));
    let links = channels.block_on(async {
        let links = client([Err(io::ErrorKind::ConnectionRefused.into())]);
        links.connect().await.expect_err("connection should be refused");
        links
    });
    callers.block_on(async {
        let mut keeping = pin!(links.keep_one());
        assert!(keeping.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending(), "no pause");
        channels.shutdown_background();
        assert!(!timeout(SOON, keeping).await.expect("wait should end"));
    });
}

/// Regression test: a streaming call was sent although its deadline had passed.
#[tokio::test(start_paused = true)]
async fn late_streaming_calls_are_not_sent() {
    let (transport, _server) = Server::new(1).await;
    let channel = channel(transport);
    let calls: [BoxFuture<'_, Result<(), Status>>; 2] = [
        Box::pin(async {
            let mut request = Request::new(Empty);
            request.set_timeout(Duration::ZERO);
            let replies = channel.server_streaming::<_, Empty>(&METHOD, request).await?;
            replies.into_inner().message().await.map(drop)
        }),
        Box::pin(async {
            let mut requests = Request::new(crate::iter([Empty]));
            requests.set_timeout(Duration::ZERO);
            let replies = channel.streaming::<_, Empty>(&METHOD, requests).await?;
            replies.into_inner().message().await.map(drop)
        }),
    ];
    for call in calls {
        let status = call.await.expect_err("call should fail");
        assert_eq!((status.code(), status.may_have_run()), (Code::DeadlineExceeded, false), "{status}");
    }
}
