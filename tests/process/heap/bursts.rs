//! Tests of the memory that a connection keeps after bursts of calls, in virtual time.

use super::allocator::live;
use frisbee_tests::process::ran_alone;
use frisbee_tests::versions::first::{Answer, Ask, Parrot, ParrotClient, ParrotServer};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status, Streaming};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::sleep;

/// Number of calls in a burst. It is close to the maximum number of calls in flight on a connection.
const CALLS: usize = 16_000;

/// Number of bytes that fills the pipes between both ends.
const FILLING: usize = 128 * 1024;

/// Length of a reply in bytes. Longer replies share the read buffer and are not copied.
const REPLY: usize = 3_500;

/// Maximum number of bytes that both ends together may keep per call id, for later calls.
const KEPT_MAX: usize = 2;

/// Several times the silence after which a connection releases unneeded memory.
const SILENCE: Duration = Duration::from_secs(8);

/// A service with replies that are longer than its requests.
struct Talker;

impl Parrot for Talker {
    async fn say(&self, request: Request<Ask>) -> Result<Response<Answer>, Status> {
        Ok(Response::new(Answer { words: request.get_ref().word.repeat(request.get_ref().times as usize) }))
    }

    async fn chat(&self, _: Request<Streaming<Ask>>) -> Result<Response<ResponseStream<Answer>>, Status> {
        Err(Status::unimplemented("not used here"))
    }
}

async fn say(client: &ParrotClient, length: usize, times: usize) {
    let ask = Ask { word: "a".repeat(length), times: times.try_into().expect("count should fit the field") };
    let answer = client.say(ask).await.expect("server should answer").into_inner();
    assert_eq!(answer.words.len(), length * times);
}

/// Makes bursts of calls on a connection. Returns the number of allocated bytes immediately after them, and once the
/// connection is idle.
async fn bursts() -> (usize, usize) {
    let (here, there) = frpc::memory();
    let acceptor =
        Server::builder().add_service(ParrotServer::new(Talker)).build().expect("services should not overlap");
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client = ParrotClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    say(&client, FILLING, 1).await;
    sleep(SILENCE).await;
    let before = live();
    // After the first burst, the outbox keeps memory. The second burst leaves this memory in the mailbox.
    for _ in 0..2 {
        join_all((0..CALLS).map(|_| say(&client, 1, REPLY))).await;
    }
    let busy = live() - before;
    sleep(SILENCE).await;
    let remaining = live().saturating_sub(before);
    say(&client, 1, REPLY).await;
    (busy, remaining)
}

#[tokio::test(start_paused = true)]
async fn idle_connection_keeps_two_bytes_per_call() {
    if ran_alone(|| ()) {
        return;
    }
    // Runs once without measuring. On a slow machine, the test harness may still be starting, and this allocates.
    bursts().await;
    let (busy, remaining) = bursts().await;
    println!("{remaining} bytes, {busy} right after them");
    assert!(busy > CALLS * REPLY, "heap had {busy} bytes directly after the calls, so the burst was too small");
    assert!(remaining <= CALLS * KEPT_MAX, "heap has {remaining} bytes, after {busy} directly after the calls");
}
