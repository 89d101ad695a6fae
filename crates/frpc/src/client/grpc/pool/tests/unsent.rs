//! Tests of calls that must fail without being sent.

use super::*;
use crate::client::connect_task::RUNTIME_ENDED;

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
            timeout(SOON, links.connect()).await.expect("attempt should end").expect_err("attempt should fail");
        });
    }
}
