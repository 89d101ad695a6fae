//! What bursts of calls leave with their connection, in virtual time.

use super::allocator::live;
use frisbee_tests::process::ran_alone;
use frisbee_tests::versions::first::{Answer, Ask, Parrot, ParrotClient, ParrotServer};
use frpc::{Channel, Request, Response, ResponseStream, Server, Status, Streaming};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::sleep;

/// Close to as many as a connection may have in flight.
const CALLS: usize = 16_000;

/// More than the pipes between the ends hold, in bytes.
const FILLING: usize = 128 * 1024;

/// Longer ones are shared with the read buffer and not kept.
const REPLY: usize = 3_500;

/// What both ends may keep of each call, in bytes: its next id.
const KEPT_MAX: usize = 2;

/// Some of the intervals of silence after which connections release unneeded memory.
const SILENCE: Duration = Duration::from_secs(8);

/// Returns more than it receives.
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

/// Makes bursts of calls on a connection: the bytes that are allocated right after them, and once it is unused.
async fn bursts() -> (usize, usize) {
    let (here, there) = frpc::memory();
    let acceptor =
        Server::builder().add_service(ParrotServer::new(Talker)).build().expect("services should not overlap");
    tokio::spawn(async move { acceptor.serve_connection(there).await });
    let client = ParrotClient::new(Channel::connect_io(here).await.expect("connection in memory should be accepted"));
    say(&client, FILLING, 1).await;
    sleep(SILENCE).await;
    let before = live();
    // What one has made the outbox keep, the next leaves with the mailbox.
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
async fn unused_connection_keeps_two_bytes_per_past_call() {
    if ran_alone(|| ()) {
        return;
    }
    // On a slow machine the harness of tests is still at its beginning, and allocates.
    bursts().await;
    let (busy, remaining) = bursts().await;
    println!("{remaining} bytes, {busy} right after them");
    assert!(busy > CALLS * REPLY, "{busy} bytes right after them: the burst was too small");
    assert!(remaining <= CALLS * KEPT_MAX, "{remaining} bytes, {busy} right after them");
}
