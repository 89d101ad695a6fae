//! Measures how a handler that blocks its thread affects fifteen other connections.

use super::{LIFE, Running, Verdict, WINDOW, percentile};
use frisbee_tests::interop::{AddRequest, Interop, InteropClient, InteropServer, SleepRequest};
use frisbee_tests::{left_to_service, serve};
use frpc::{Request, Response, Server, Status};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::task::JoinSet;

/// Name of the row in the table.
pub(crate) const NAME: &str = "a handler that blocks";

/// Time for which each call blocks its thread.
const BLOCKED: Duration = Duration::from_secs(2);

/// Number of connections other than the one with the blocking handler.
const OTHERS: usize = 15;

/// Interval between calls of the other connections. A call starts even if earlier ones are in progress.
const PACE: Duration = Duration::from_millis(10);

/// Maximum p99 of the other connections in milliseconds. The server replaces a blocked thread after 12 ms.
const P99_MAX: f64 = 20.0;

/// Like [`frisbee_tests::service::Service`], but `sleep` blocks the thread.
struct Blocking;

impl Interop for Blocking {
    left_to_service!(echoes, do_nothing, fail, echo_payload, add, describe, count_up, sum_up, chat);

    async fn sleep(&self, request: Request<SleepRequest>) -> Result<Response<SleepRequest>, Status> {
        let request = request.into_inner();
        std::thread::sleep(Duration::from_millis(request.millis.into()));
        Ok(Response::new(request))
    }
}

/// Runs a server in a runtime with the usual settings of servers.
pub(crate) fn run() -> super::Result<Verdict> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        let address = serve(Server::builder().add_service(InteropServer::new(Blocking))).await;
        println!("listening on {address}");
        tokio::time::sleep(LIFE).await;
    });
    Ok(Verdict::Well)
}

/// Prints the latencies of the other connections, with and without a blocking handler.
pub(crate) async fn besiege(time: Duration) -> super::Result<Verdict> {
    println!("\n| peers | p50 / p99 / most alone (ms) | blocked |\n|---|---|---|");
    let mut columns = Vec::new();
    let mut worst = 0.0;
    for is_blocked in [false, true] {
        let mut command = Command::new(std::env::current_exe()?);
        let mut server = Running::start(command.arg("serve-blocking").stdout(Stdio::piped()))?;
        let address = server.address().await?;
        let mut latencies = watch(address, time.max(BLOCKED + WINDOW), is_blocked).await?;
        server.end().await?;
        let [half, most, all] = [500, 990, 1000].map(|of_thousand| percentile(&mut latencies, of_thousand) / 1e3);
        columns.push(format!("{half:.1} / {most:.1} / {all:.1}"));
        worst = most;
    }
    let verdict = if worst <= P99_MAX { Verdict::Well } else { Verdict::Slow };
    println!("| {NAME} | {} |{}", columns.join(" | "), if verdict == Verdict::Well { "" } else { " <--" });
    Ok(verdict)
}

/// Measures the latencies of the other connections. A latency starts when the call was due.
async fn watch(address: SocketAddr, time: Duration, is_blocked: bool) -> super::Result<Vec<Duration>> {
    let address = address.to_string();
    let mut others = JoinSet::new();
    let started = Instant::now();
    for _ in 0..OTHERS {
        let client = InteropClient::connect(address.as_str()).await?;
        others.spawn(async move {
            let mut latencies = Vec::new();
            let mut due = started + WINDOW;
            while due < started + WINDOW + time {
                tokio::time::sleep_until(due.into()).await;
                client.add(AddRequest { a: 1, b: 2 }).await?;
                latencies.push(due.elapsed());
                due += PACE;
            }
            Ok::<_, Status>(latencies)
        });
    }
    let client = InteropClient::connect(address.as_str()).await?;
    let blocking = tokio::spawn(async move {
        tokio::time::sleep_until((started + WINDOW).into()).await;
        if !is_blocked {
            return Ok::<(), Status>(());
        }
        loop {
            let millis = BLOCKED.as_millis() as u32;
            client.sleep(SleepRequest { millis, ..SleepRequest::default() }).await?;
        }
    });
    let mut latencies = Vec::new();
    while let Some(other) = others.join_next().await {
        latencies.extend(other??);
    }
    blocking.abort();
    Ok(latencies)
}
