//! Tests of busy polling. They measure the processor time of threads.

use frisbee_tests::interop::{AddRequest, InteropClient};
use frisbee_tests::process::ran_alone;
use frisbee_tests::serve_interop_with;
use frpc::{Server, Workers};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

/// How long a connection busy-polls in these tests.
const BUSY: Duration = Duration::from_millis(400);

/// Maximum number of attempts. On a busy machine, the worker may get too little processor time for a measurement.
const ATTEMPTS_MAX: usize = 20;

/// Returns the processor time of each worker's thread in nanoseconds, by thread id.
fn worked() -> BTreeMap<OsString, u64> {
    let threads = fs::read_dir("/proc/self/task").expect("folder should be readable").flatten();
    let is_worker = |path: &Path| fs::read_to_string(path.join("comm")).is_ok_and(|name| name.starts_with("frisbee-"));
    let ran = |path: &Path| {
        let stat = fs::read_to_string(path.join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse::<u64>().ok()
    };
    let workers = threads.filter(|thread| is_worker(&thread.path()));
    workers.filter_map(|thread| Some((thread.file_name(), ran(&thread.path())?))).collect()
}

/// Returns the processor time of workers during the interval, in nanoseconds. Returns `None` if a worker has moved to
/// another thread, because it seemed to be blocked.
async fn working(time: Duration) -> Option<u64> {
    let before = worked();
    tokio::time::sleep(time).await;
    let after = worked();
    before.keys().eq(after.keys()).then(|| after.values().sum::<u64>() - before.values().sum::<u64>())
}

#[tokio::test]
async fn busy_polling_worker_sleeps_after_timeout() {
    if ran_alone(|| ()) {
        return;
    }
    let address = serve_interop_with(Server::builder().workers(Workers::Threads(1)).busy_poll(BUSY)).await;
    let client = InteropClient::connect(address.to_string()).await.expect("server should accept the connection");
    let mut times = Vec::new();
    while times.len() < ATTEMPTS_MAX {
        client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
        let awake = working(BUSY).await;
        // Waits until busy polling has ended, with a margin for a busy machine.
        tokio::time::sleep(BUSY / 2).await;
        let asleep = working(BUSY).await;
        if let (Some(awake), Some(asleep)) = (awake, asleep)
            && awake > 10 * asleep.max(1_000_000)
        {
            break;
        }
        times.push((awake, asleep));
    }
    assert!(times.len() < ATTEMPTS_MAX, "ns awake and asleep: {times:?}");
    client.add(AddRequest { a: 1, b: 1 }).await.expect("call should succeed");
}
