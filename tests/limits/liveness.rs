//! Tests that connections make progress without timers. While both ends have work to do, virtual time must not advance.
//! A stall would advance it to the next PING.

use fastrand::Rng;
use frisbee_tests::interop::{InteropClient, InteropServer, Payload, Range, Text};
use frisbee_tests::service::Service;
use frpc::{Channel, Config, Server};
use futures_util::StreamExt;
use parking_lot::Mutex;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::io::DuplexStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// Returns a random length of up to `most`. Short lengths are as likely as long ones, and a quarter of all lengths is
/// close to the maximum.
fn length(dice: &mut Rng, most: usize) -> usize {
    if dice.u8(0..4) == 0 {
        return dice.usize(most / 2..=most);
    }
    let bits = dice.u32(0..=most.ilog2());
    dice.usize(0..=1 << bits)
}

/// Returns a client of a server over a pipe. The sizes of buffers are random.
async fn client(dice: &mut Rng) -> InteropClient {
    let config = |dice: &mut Rng| match dice.bool() {
        true => Config::default(),
        false => {
            Config::default().backlog_max(1 + length(dice, 1 << 17)).stream_credit(1024 + length(dice, 1 << 18) as u32)
        }
    };
    let server = Server::builder().config(config(dice)).add_service(InteropServer::new(Service)).build();
    let server = server.expect("server should be valid");
    let (here, there) = tokio::io::duplex(4096 + length(dice, 1 << 20));
    let mut serving = Box::pin(async move { server.serve_connection(there).await });
    let mut pauses = dice.fork();
    // This task often runs late, so that a turn finds both new input and space for output.
    tokio::spawn(poll_fn(move |context| {
        if pauses.u8(0..4) > 0 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        serving.as_mut().poll(context)
    }));
    connected(config(dice), here).await
}

/// Connects a client over a transport.
async fn connected(config: Config, transport: DuplexStream) -> InteropClient {
    let transport = Mutex::new(Some(transport));
    let channel = Channel::builder().config(config).connect_with_connector(move || {
        let transport = transport.lock().take();
        async move { transport.ok_or(std::io::ErrorKind::ConnectionRefused.into()) }
    });
    InteropClient::new(channel.await.expect("server should be listening"))
}

/// Makes successive calls, server streams and bidirectional streams.
async fn caller(client: InteropClient, mut dice: Rng, most: usize) {
    for seq in 0..dice.u32(1..8) {
        let length = length(&mut dice, most);
        match dice.u8(0..6) {
            0 => {
                let count = dice.i64(0..200);
                let counts = client.count_up(Range { from: 0, count }).await.expect("stream should open").into_inner();
                assert_eq!(counts.count().await, count as usize);
            }
            1 => {
                let value = "x".repeat(length.min(100_000));
                let texts = vec![Text { value: value.clone() }; dice.usize(0..20)];
                let count = texts.len();
                let replies = client.chat(frpc::iter(texts)).await.expect("stream should open");
                assert_eq!(replies.into_inner().count().await, count);
            }
            _ => {
                let data = vec![seq as u8; length];
                let reply =
                    client.echo_payload(Payload { seq, data: data.clone() }).await.expect("call should succeed");
                assert!(reply.into_inner().data == data);
            }
        }
        if dice.u8(0..4) == 0 {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn calls_never_wait_for_timer() {
    for seed in 0..SEEDS {
        let mut dice = Rng::with_seed(seed);
        let client = client(&mut dice).await;
        let most = 1 << dice.u32(10..20);
        let started = Instant::now();
        let mut callers = JoinSet::new();
        for _ in 0..dice.usize(1..20) {
            callers.spawn(caller(client.clone(), dice.fork(), most));
        }
        while let Some(caller) = callers.join_next().await {
            caller.expect("all calls should succeed");
        }
        assert_eq!(started.elapsed(), Duration::ZERO, "call should not wait for a timer with seed {seed}");
    }
}

const SEEDS: u64 = 100;

/// A waker that records whether it was woken.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// A caller that has just received its reply could send its next request before callers that wait for space.
#[tokio::test(start_paused = true)]
async fn waiting_call_precedes_new_call() {
    let server =
        Server::builder().add_service(InteropServer::new(Service)).build().expect("services should not overlap");
    let (here, there) = tokio::io::duplex(64 * 1024);
    let mut serving = Box::pin(async move { server.serve_connection(there).await });
    let runs = Arc::new(AtomicBool::new(true));
    let may_run = runs.clone();
    tokio::spawn(poll_fn(move |context| {
        if may_run.load(Ordering::SeqCst) {
            return serving.as_mut().poll(context);
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }));
    let client = connected(Config::default().backlog_max(1), here).await;
    let call = |length| Box::pin(client.echo_payload(Payload { seq: 0, data: vec![1; length] }));
    call(1).await.expect("call should succeed");
    runs.store(false, Ordering::SeqCst);
    let (mut first, mut waiting, mut new) = (call(100_000), call(2), call(3));
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    runs.store(true, Ordering::SeqCst);
    while !flag.0.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    assert!(new.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    tokio::select! {
        biased;
        reply = waiting => drop(reply.expect("call should succeed")),
        reply = new => panic!("waiting call should be sent before the new one: {reply:?}"),
    }
    first.await.expect("call should succeed");
}
