//! Tests of restarts under constant load of calls of all four kinds.

use super::{Program, Programs, is_socket, number};
use frisbee_tests::interop::{AddRequest, Count, InteropClient, Range, Text};
use frpc::{Channel, RequestStream, Status};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Number of channels to the TCP socket, and number of channels to the Unix socket.
const CHANNELS: usize = 4;

/// Number of callers per channel. Each makes one call after the other.
const CALLERS: usize = 4;

/// State that concurrent callers share.
#[derive(Default)]
struct Load {
    is_over: AtomicBool,
    calls: AtomicUsize,
}

async fn add(client: &InteropClient, round: usize) -> Result<bool, Status> {
    let b = i32::try_from(round % 1000).unwrap_or_default();
    let sum = client.add(AddRequest { a: 1, b: b.into() }).await?;
    Ok(sum.get_ref().total == i64::from(b) + 1)
}

async fn count_up(client: &InteropClient) -> Result<bool, Status> {
    let mut counts = client.count_up(Range { from: 7, count: 3 }).await?.into_inner();
    let mut values = Vec::new();
    while let Some(count) = counts.message().await? {
        values.push(count.value);
    }
    Ok(values == [7, 8, 9])
}

async fn sum_up(client: &InteropClient) -> Result<bool, Status> {
    let sum = client.sum_up(frpc::iter([20, 22].map(|value| Count { value }))).await?.into_inner();
    Ok((sum.total, sum.count) == (42, 2))
}

async fn chat(client: &InteropClient) -> Result<bool, Status> {
    let (texts, requests) = RequestStream::channel(1);
    let mut answers = client.chat(requests).await?.into_inner();
    for text in ["a", "b"] {
        texts.send(Text { value: text.into() }).await.map_err(|_| Status::unknown("the stream ended"))?;
        if answers.message().await?.map(|text| text.value) != Some(format!("re:{text}")) {
            return Ok(false);
        }
    }
    drop(texts);
    Ok(answers.message().await?.is_none())
}

/// Makes calls until the load ends. Returns the failures and the durations of the calls in microseconds.
async fn call(client: InteropClient, load: Arc<Load>, first: usize) -> (Vec<String>, Vec<u32>) {
    let (mut failures, mut times) = (Vec::new(), Vec::new());
    let mut round = first;
    while !load.is_over.load(Ordering::Relaxed) {
        let started = Instant::now();
        let (kind, good) = match round % 4 {
            0 => ("add", add(&client, round).await),
            1 => ("count_up", count_up(&client).await),
            2 => ("sum_up", sum_up(&client).await),
            _ => ("chat", chat(&client).await),
        };
        times.push(u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX));
        match good {
            Ok(true) => {}
            Ok(false) => failures.push(format!("{kind}: a wrong reply")),
            Err(status) => failures.push(format!("{kind}: {status}")),
        }
        load.calls.fetch_add(1, Ordering::Relaxed);
        round += 1;
    }
    (failures, times)
}

/// Tasks that call the server in a loop until they are stopped, and collect the failures and latencies.
struct Calling {
    load: Arc<Load>,
    callers: JoinSet<(Vec<String>, Vec<u32>)>,
}

impl Calling {
    async fn begin(programs: &Programs, program: &Program) -> Self {
        let load = Arc::new(Load::default());
        let mut callers = JoinSet::new();
        for channel in 0..2 * CHANNELS {
            let unix = format!("unix:{}", programs.service().display());
            let address = if channel % 2 == 0 { program.address.to_string() } else { unix };
            let channel = Channel::builder()
                .calls::<InteropClient>()
                .connect(address)
                .await
                .expect("server should accept the connection");
            for caller in 0..CALLERS {
                callers.spawn(call(InteropClient::new(channel.clone()), load.clone(), caller));
            }
        }
        Self { load, callers }
    }

    /// Waits until the callers have made this number of further calls.
    async fn go_on(&self, calls: usize) {
        let until = self.load.calls.load(Ordering::Relaxed) + calls;
        frisbee_tests::until("the callers continue", || self.load.calls.load(Ordering::Relaxed) >= until).await;
    }

    /// Stops the callers. Returns the number of calls, and the median and the 99th percentile of their durations.
    async fn end(self) -> (usize, [Duration; 2]) {
        self.load.is_over.store(true, Ordering::Relaxed);
        let (failures, times): (Vec<_>, Vec<_>) = self.callers.join_all().await.into_iter().unzip();
        let (failures, mut times) = (failures.concat(), times.concat());
        let first = &failures[..failures.len().min(10)];
        assert!(failures.is_empty(), "{} of {} calls failed: {first:#?}", failures.len(), times.len());
        times.sort_unstable();
        let at = |part: usize| Duration::from_micros(times[(times.len() - 1) * part / 100].into());
        (times.len(), [at(50), at(99)])
    }
}

/// With `FRISBEE_CALLS=1000000` and `FRISBEE_RESTARTS=100`, a release build takes several minutes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn restarts_under_load_fail_no_call() {
    let (restarts, calls) = (number("FRISBEE_RESTARTS", 5), number("FRISBEE_CALLS", 4_000));
    let programs = Programs::new();
    let mut program = programs.start("serve").await;
    let calm = Calling::begin(&programs, &program).await;
    calm.go_on(calls / 10).await;
    let (_, before) = calm.end().await;
    let calling = Calling::begin(&programs, &program).await;
    for _ in 0..restarts {
        calling.go_on(calls / (restarts + 1)).await;
        programs.replace(&mut program).await;
    }
    calling.go_on(calls / (restarts + 1)).await;
    let (calls, over) = calling.end().await;
    println!("{calls} calls over {restarts} restarts: 0 failed; half and 99 % within {over:?}, {before:?} before");
    program.stop().await;
    assert!(!programs.service().exists() && !programs.control().exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn successors_failing_before_ready_fail_no_call() {
    let programs = Programs::new();
    let mut program = programs.start("serve").await;
    let calling = Calling::begin(&programs, &program).await;
    for mode in ["hang", "panic"].repeat(2) {
        calling.go_on(50).await;
        let mut failing = programs.start(mode).await;
        assert_eq!(failing.address, program.address, "program should still have the sockets");
        if mode == "hang" {
            failing.kill().await;
        } else {
            assert!(!failing.child.wait().await.expect("program should be a child process").success());
        }
        calling.go_on(50).await;
        assert!(is_socket(&programs.service()) && is_socket(&programs.control()));
    }
    programs.replace(&mut program).await;
    calling.go_on(50).await;
    calling.end().await;
    program.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_timeout_of_predecessor_ends_endless_stream() {
    let programs = Programs::new();
    let mut program = programs.start("serve").await;
    let client =
        InteropClient::connect(program.address.to_string()).await.expect("server should accept the connection");
    let (texts, requests) = RequestStream::channel(1);
    let mut answers = client.chat(requests).await.expect("stream should open").into_inner();
    texts.send(Text { value: "a".into() }).await.expect("message should be sent");
    answers.message().await.expect("stream should not fail");
    programs.replace(&mut program).await;
    // The previous server and the stream have ended. Further calls reach the new server.
    answers.message().await.expect_err("stream should fail");
    assert!(add(&client, 1).await.expect("call should succeed"));
    program.stop().await;
}
