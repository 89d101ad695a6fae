//! Busy polling, which is seen in what threads have consumed.

use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::serve_interop_with;
use frpc::{Server, Workers};
use std::fs;
use std::time::Duration;

/// How long a connection keeps its worker awake here.
const BUSY: Duration = Duration::from_millis(400);

/// The time that workers have run, in nanoseconds.
fn worked() -> u64 {
    let threads = fs::read_dir("/proc/self/task").expect("Linux lists them").flatten();
    let is_worker =
        |path: &std::path::Path| fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("frisbee-"));
    let ran = |path: std::path::PathBuf| {
        let stat = fs::read_to_string(path.join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse::<u64>().ok()
    };
    threads.map(|thread| thread.path()).filter(|path| is_worker(path)).filter_map(ran).sum()
}

#[tokio::test]
async fn a_busy_worker_stays_awake_for_its_time_and_then_sleeps() {
    let _alone = super::ALONE.lock().await;
    let address = serve_interop_with(Server::builder().workers(Workers::Threads(1)).busy_poll(BUSY)).await;
    let client = InteropClient::connect(address.to_string()).await.expect("the server listens");
    client.add(AddRequest { a: 1, b: 1 }).await.expect("it answers");
    let begun = worked();
    tokio::time::sleep(BUSY).await;
    let awake = worked() - begun;
    // Its time is up, and a busy machine may be late.
    tokio::time::sleep(BUSY / 2).await;
    let begun = worked();
    tokio::time::sleep(BUSY).await;
    let asleep = worked() - begun;
    assert!(awake > 10 * asleep.max(1_000_000), "{awake} ns awake, {asleep} ns asleep");
    client.add(AddRequest { a: 1, b: 1 }).await.expect("it wakes up again");
}
