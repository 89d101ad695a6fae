//! Tests of links with low bandwidth and of peers that read slowly. They check that other work progresses, how many
//! bytes are queued, and which connections are closed. All but one of them run in virtual time.

mod full;
mod sockets;

use frisbee::{Config, Stats};
use frisbee_tests::interop::{
    AddRequest, Count, Interop, InteropClient, InteropServer, Payload, SleepRequest, Sum, Text,
};
use frisbee_tests::left_to_service;
use frpc::{Channel, Code, Request, RequestStream, Response, ResponseStream, Server, ServerBuilder, Status, Streaming};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, DuplexStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

const MB: u32 = 1_000_000;

/// Size in bytes of the buffers at the ends of a link. It is small compared to the transferred data.
const BUFFER: usize = 8 * 1024;

/// A service that echoes its requests and counts sleeping handlers.
#[derive(Clone, Default)]
pub(crate) struct Service {
    /// Number of `Sleep` and `EchoPayload` calls that have started, and of `Sleep` calls that have not ended.
    started: Arc<AtomicUsize>,
    asleep: Arc<AtomicUsize>,
    /// Number of messages that `SumUp` has read.
    summed: Arc<AtomicUsize>,
}

/// Counts a sleeping handler until it is dropped.
struct Asleep(Arc<AtomicUsize>);

impl Drop for Asleep {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Interop for Service {
    left_to_service!(echoes, do_nothing, fail, add, describe, count_up);

    /// If the metadata entry `flood` states a length, sends texts of this length without end. Otherwise answers like
    /// the common service.
    async fn chat(&self, request: Request<Streaming<Text>>) -> Result<Response<ResponseStream<Text>>, Status> {
        let Some(length) = request.metadata().get("flood").and_then(|length| length.parse().ok()) else {
            return frisbee_tests::service::Service.chat(request).await;
        };
        let text = Text { value: "x".repeat(length) };
        Ok(Response::new(ResponseStream::new(frpc::iter(std::iter::repeat_with(move || Ok(text.clone()))))))
    }

    /// Returns a payload of `seq` bytes.
    async fn echo_payload(&self, request: Request<Payload>) -> Result<Response<Payload>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        let seq = request.into_inner().seq;
        Ok(Response::new(Payload { seq, data: vec![1; seq as usize] }))
    }

    async fn sum_up(&self, request: Request<Streaming<Count>>) -> Result<Response<Sum>, Status> {
        let mut counts = request.into_inner();
        while let Some(_count) = counts.message().await? {
            self.summed.fetch_add(1, Ordering::SeqCst);
        }
        Ok(Response::new(Sum::default()))
    }

    async fn sleep(&self, request: Request<SleepRequest>) -> Result<Response<SleepRequest>, Status> {
        self.started.fetch_add(1, Ordering::SeqCst);
        self.asleep.fetch_add(1, Ordering::SeqCst);
        let _asleep = Asleep(self.asleep.clone());
        tokio::time::sleep(Duration::from_millis(request.get_ref().millis.into())).await;
        Ok(Response::new(request.into_inner()))
    }
}

/// Transfers bytes at the given rate per second, in steps of a fiftieth of a second.
async fn carry(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, rate: u64) {
    while let Ok(1..) = tokio::io::copy(&mut (&mut from).take(rate / 50), &mut to).await {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Returns the ends of a link with the given rates in bytes per second, from the first to the second end and back.
fn link([there, back]: [u32; 2]) -> (DuplexStream, DuplexStream) {
    let (one, near) = tokio::io::duplex(BUFFER);
    let (other, far) = tokio::io::duplex(BUFFER);
    let ((from_one, to_one), (from_other, to_other)) = (tokio::io::split(near), tokio::io::split(far));
    tokio::spawn(carry(from_one, to_other, there.into()));
    tokio::spawn(carry(from_other, to_one, back.into()));
    (one, other)
}

/// A client and its server, connected by a link.
struct Linked {
    client: InteropClient,
    connection: frisbee::Connection,
    /// The server's handle of the connection.
    accepted: frisbee::Connection,
    service: Service,
    stats: Stats,
}

impl Linked {
    async fn by(rates: [u32; 2]) -> Self {
        Self::with(rates, Server::builder()).await
    }

    async fn with(rates: [u32; 2], builder: ServerBuilder) -> Self {
        let (here, there) = link(rates);
        let service = Service::default();
        let (sender, mut accepted) = mpsc::unbounded_channel();
        let builder = builder.on_connect(move |connection| drop(sender.send(connection.clone())));
        let acceptor =
            builder.add_service(InteropServer::new(service.clone())).build().expect("services should not overlap");
        let stats = acceptor.stats();
        tokio::spawn(async move { acceptor.serve_connection(there).await });
        let offered = InteropServer::new(frisbee_tests::service::Service);
        let channel = Channel::builder()
            .add_service(offered)
            .connect_io(here)
            .await
            .expect("connection in memory should be accepted");
        let connection = channel.connection().expect("channel should be connected");
        connection.peer_known().await.expect("peer should complete the handshake");
        let accepted = accepted.recv().await.expect("channel should stay open");
        Self { client: InteropClient::new(channel), connection, accepted, service, stats }
    }

    /// Sends `up` bytes and receives `down` bytes, without a time limit.
    async fn transfer(&self, up: u32, down: u32) {
        let transferred = self.client.echo_payload(patient(Payload { seq: down, data: vec![2; up as usize] })).await;
        assert_eq!(transferred.expect("slow transfer should complete").get_ref().data.len(), down as usize);
    }

    /// Makes the server start a reply of `down` bytes. Returns when most of the reply is queued.
    async fn begin_reply(self: &Arc<Self>, down: u32) -> tokio::task::JoinHandle<()> {
        let this = self.clone();
        let reply = tokio::spawn(async move { this.transfer(0, down).await });
        tokio::time::sleep(Duration::from_millis(500)).await;
        reply
    }

    fn expect_open(&self) {
        assert_eq!((self.stats.opened(), self.stats.open()), (1, 1), "{:?}", self.connection.close_reason());
    }
}

/// Returns a request with a timeout of one hour.
fn patient<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.set_timeout(Duration::from_secs(3600));
    request
}

#[tokio::test(start_paused = true)]
async fn slow_link_carries_megabytes_with_calls() {
    let linked = Arc::new(Linked::by([50_000, 50_000]).await);
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for (up, down) in [(0, 5 * MB), (5 * MB, 0)] {
        let linked = linked.clone();
        tasks.spawn(async move { linked.transfer(up, down).await });
    }
    for a in 0..80 {
        let client = linked.client.clone();
        tasks.spawn(async move {
            let sum = client.add(patient(AddRequest { a, b: 1 })).await.expect("call should succeed");
            assert_eq!(sum.get_ref().total, a + 1);
        });
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tasks.join_all().await;
    assert!((100..110).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    linked.expect_open();
}

#[tokio::test(start_paused = true)]
async fn large_reply_arrives_over_slow_links() {
    for rate in [20_000, 50_000, 200_000, 300_000] {
        let linked = Linked::by([MB, rate]).await;
        linked.transfer(0, 5 * MB).await;
        linked.expect_open();
    }
}

#[tokio::test(start_paused = true)]
async fn large_request_and_large_reply_overlap() {
    let linked = Arc::new(Linked::by([500_000, 500_000]).await);
    let started = Instant::now();
    let reply = linked.begin_reply(5 * MB).await;
    linked.transfer(4 * MB, 1).await;
    reply.await.expect("message should arrive");
    assert!(started.elapsed() < Duration::from_secs(11), "{:?}", started.elapsed());
    linked.expect_open();
}

/// The requests are larger than what the server queues. The server stops reading for minutes, and the client cannot
/// write.
#[tokio::test(start_paused = true)]
async fn slow_replies_allow_megabytes_of_queued_requests() {
    let linked = Arc::new(Linked::by([MB, 60_000]).await);
    let mut calls = JoinSet::new();
    for _ in 0..6 {
        let linked = linked.clone();
        calls.spawn(async move { linked.transfer(4 * MB, 4 * MB).await });
    }
    tokio::time::sleep(Duration::from_secs(60)).await;
    let held = linked.stats.memory_held();
    assert!((1 << 20..12 << 20).contains(&held), "server holds {held} bytes");
    calls.join_all().await;
    linked.expect_open();
    assert_eq!(linked.stats.memory_held(), 0);
}

#[tokio::test(start_paused = true)]
async fn large_queued_reply_does_not_delay_cancel() {
    let linked = Arc::new(Linked::by([500_000, 500_000]).await);
    let sleeping = tokio::spawn({
        let client = linked.client.clone();
        async move { client.sleep(patient(SleepRequest { millis: 3_600_000, tag: 1 })).await }
    });
    let reply = linked.begin_reply(5 * MB).await;
    assert_eq!(linked.service.asleep.load(Ordering::SeqCst), 1);
    sleeping.abort();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(linked.service.asleep.load(Ordering::SeqCst), 0, "handler should have been dropped");
    assert!(!reply.is_finished());
    reply.await.expect("message should arrive");
}

#[tokio::test(start_paused = true)]
async fn cancelled_queued_request_never_runs() {
    const LENGTH: usize = 20_000;
    // Queued output is charged too. It shrinks by 10 kB in a tenth of a second.
    let linked = Arc::new(Linked::by([500_000, 100_000]).await);
    let reply = linked.begin_reply(5 * MB).await;
    let before = linked.stats.memory_held();
    let mut calls = Vec::new();
    for tag in 0..20 {
        let client = linked.client.clone();
        let request = patient(Payload { seq: tag, data: vec![2; LENGTH] });
        calls.push(tokio::spawn(async move { client.echo_payload(request).await }));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let held = linked.stats.memory_held();
    assert!(
        held > before + 10 * LENGTH,
        "server holds {held} bytes for the requests, after {before} bytes before them"
    );
    calls.drain(5..).for_each(|call| call.abort());
    tokio::time::sleep(Duration::from_millis(100)).await;
    let left = linked.stats.memory_held();
    // The connection keeps a buffer of 16 KiB for its next requests.
    assert!(
        (14 * LENGTH..18 * LENGTH).contains(&(held - left)),
        "replies of 15 of 20 calls should be released: {left} of {held} bytes are left"
    );
    reply.await.expect("message should arrive");
    for call in calls {
        call.await.expect("task should not be aborted").expect("call should succeed");
    }
    assert_eq!(linked.service.started.load(Ordering::SeqCst), 6);
    assert_eq!(linked.stats.memory_held(), 0);
    linked.expect_open();
}

#[tokio::test(start_paused = true)]
async fn requests_behind_slow_reply_run_in_order() {
    let linked = Arc::new(Linked::by([500_000, 500_000]).await);
    let reply = linked.begin_reply(5 * MB).await;
    let (order, mut ended) = mpsc::unbounded_channel();
    let mut calls = JoinSet::new();
    for a in 0..200 {
        let (client, order) = (linked.client.clone(), order.clone());
        calls.spawn(async move {
            let payload = patient(Payload { seq: a, data: Vec::new() });
            let reply = client.echo_payload(payload).await.expect("call should succeed");
            order.send(reply.get_ref().seq).expect("test should wait for the calls");
        });
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    reply.await.expect("message should arrive");
    // The tasks report the order over a channel, because `join_all` returns results in another order.
    calls.join_all().await;
    let order: Vec<_> = std::iter::from_fn(|| ended.try_recv().ok()).collect();
    assert!(order.len() == 200 && order.is_sorted(), "{order:?}");
}

#[tokio::test(start_paused = true)]
async fn slow_reply_delays_only_new_streams() {
    let linked = Arc::new(Linked::by([500_000, 500_000]).await);
    let (count, counts) = RequestStream::channel(1);
    let early = tokio::spawn({
        let client = linked.client.clone();
        async move { client.sum_up(patient(counts)).await }
    });
    let reply = linked.begin_reply(5 * MB).await;
    // These messages use up the credit. The server grants more credit after its reply.
    for value in 0..2_000 {
        count.send(Count { value }).await.expect("message should be sent");
    }
    drop(count);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(linked.service.summed.load(Ordering::SeqCst), 2_000);
    let late = tokio::spawn({
        let client = linked.client.clone();
        async move {
            let texts = frpc::iter((0..500).map(|number| Text { value: format!("{number}") }));
            let mut answers = client.chat(patient(texts)).await.expect("stream should open").into_inner();
            for number in 0..500 {
                let answer = answers
                    .message()
                    .await
                    .expect("stream should not fail")
                    .expect("stream should have further messages");
                assert_eq!(answer.value, format!("re:{number}"));
            }
            assert!(answers.message().await.expect("stream should not fail").is_none());
        }
    });
    assert!(!reply.is_finished());
    reply.await.expect("message should arrive");
    early.await.expect("task should not panic").expect("call should succeed");
    late.await.expect("connection should end regularly");
    linked.expect_open();
}

/// Opens streams whose messages have these lengths. Returns counters of the received bytes.
async fn flood(linked: &Linked, lengths: impl IntoIterator<Item = usize>) -> Vec<Arc<AtomicUsize>> {
    let mut received = Vec::new();
    for length in lengths {
        let mut request = patient(frpc::iter([]));
        request.metadata_mut().insert("flood", length.to_string()).expect("metadata entry should be valid");
        let (client, count) = (linked.client.clone(), Arc::new(AtomicUsize::new(0)));
        received.push(count.clone());
        tokio::spawn(async move {
            let mut texts = client.chat(request).await.expect("stream should open").into_inner();
            while let Ok(Some(text)) = texts.message().await {
                count.fetch_add(text.value.len(), Ordering::SeqCst);
            }
        });
    }
    received
}

/// Asserts that streams have received the same number of bytes, within a fifth.
fn expect_even(received: &[Arc<AtomicUsize>]) {
    let mut received: Vec<_> = received.iter().map(|count| count.load(Ordering::SeqCst)).collect();
    received.sort_unstable();
    let (least, most) = (received[0], received[received.len() - 1]);
    assert!(least > 0 && most - least <= most / 5, "{received:?}");
}

/// Regression: streams whose handlers had filled the outbox starved all others, and a call waited behind a mebibyte.
#[tokio::test(start_paused = true)]
async fn streams_share_link_evenly_behind_calls() {
    const RATE: u32 = 200_000;
    let linked = Linked::by([MB, RATE]).await;
    let received = flood(&linked, [1_000; 40]).await;
    for second in 1..=20 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let asked = Instant::now();
        linked.client.add(patient(AddRequest { a: 1, b: second })).await.expect("call should succeed");
        // The call waits for at most 64 KiB queued at the server, and for the buffers of the link.
        assert!(asked.elapsed() < Duration::from_secs(1) * 96 * 1024 / RATE, "{:?}", asked.elapsed());
    }
    expect_even(&received);
    linked.expect_open();
}

#[tokio::test(start_paused = true)]
async fn long_message_streams_get_equal_share() {
    let linked = Linked::by([MB, 200_000]).await;
    let received = flood(&linked, [100, 1_000, 10_000, 100_000].repeat(3)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    expect_even(&received);
    // A stream that starts later gets an equal share from then on, and does not catch up.
    let late = flood(&linked, [1_000]).await;
    let before = received[0].load(Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(30)).await;
    let (late, share) = (late[0].load(Ordering::SeqCst), received[0].load(Ordering::SeqCst) - before);
    assert!(late.abs_diff(share) <= share / 5, "{late} of {share}");
}

#[tokio::test(start_paused = true)]
async fn queued_stream_without_memory_is_rejected() {
    let linked = Arc::new(Linked::with([500_000, 500_000], Server::builder().memory_max(200_000)).await);
    let reply = linked.begin_reply(5 * MB).await;
    let texts = frpc::iter([1, 200_000, 1].map(|length| Text { value: "x".repeat(length) }));
    let mut answers = linked.client.chat(patient(texts)).await.expect("stream should open").into_inner();
    let refused = loop {
        if let Err(status) = answers.message().await {
            break status;
        }
    };
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    reply.await.expect("message should arrive");
    frisbee_tests::until("no memory is held", || linked.stats.memory_held() == 0).await;
    linked.expect_open();
}

#[tokio::test(start_paused = true)]
async fn reply_to_acceptor_passes_queued_requests() {
    let linked = Arc::new(Linked::by([500_000, 500_000]).await);
    let called = InteropClient::new(Channel::from_connection(&linked.accepted));
    let calling = tokio::spawn(async move { called.sleep(patient(SleepRequest { millis: 1_500, tag: 1 })).await });
    let reply = linked.begin_reply(5 * MB).await;
    let call = tokio::spawn({
        let linked = linked.clone();
        async move { linked.transfer(0, 1).await }
    });
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(calling.is_finished(), "reply should have been sent");
    assert!(!call.is_finished() && !reply.is_finished());
    calling.await.expect("task should not panic").expect("call should succeed");
    call.await.expect("task should not panic");
}

/// Both ends call each other over a link without a buffer. Neither end sends more requests while it has replies to
/// send.
#[tokio::test(start_paused = true)]
async fn mutual_large_calls_finish_on_slow_link() {
    let linked = Arc::new(Linked::by([100_000, 100_000]).await);
    let called = InteropClient::new(Channel::from_connection(&linked.accepted));
    let mut calls = JoinSet::new();
    for _ in 0..4 {
        let (client, called) = (linked.clone(), called.clone());
        calls.spawn(async move { client.transfer(2 * MB, 2 * MB).await });
        calls.spawn(async move {
            let payload = Payload { seq: 1, data: vec![3; 2 * MB as usize] };
            called.echo_payload(patient(payload)).await.expect("call should succeed");
        });
    }
    tokio::time::timeout(Duration::from_secs(600), calls.join_all())
        .await
        .expect("calls should complete within the timeout");
    linked.expect_open();
}

/// Calls beside long replies wait for the rest of a fragment and for the bytes of the link's buffers.
#[tokio::test(start_paused = true)]
async fn short_calls_overtake_long_replies() {
    const RATE: u32 = 1_000_000;
    let linked = Arc::new(Linked::by([RATE, RATE]).await);
    let replies: Vec<_> = (0..4)
        .map(|_| linked.clone())
        .map(|linked| tokio::spawn(async move { linked.transfer(0, 5 * MB).await }))
        .collect();
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut waits = Vec::new();
    while !replies.iter().all(tokio::task::JoinHandle::is_finished) {
        let started = Instant::now();
        linked.client.add(patient(AddRequest { a: 1, b: 1 })).await.expect("call should succeed");
        waits.push(started.elapsed());
        tokio::time::sleep(Duration::from_millis(37)).await;
    }
    waits.sort();
    let bytes = |wait: &Duration| wait.as_millis() * u128::from(RATE) / 1000;
    let (median, p99, last) = (&waits[waits.len() / 2], &waits[waits.len() * 99 / 100], &waits[waits.len() - 1]);
    let waited = format!("{} calls: {} {} {}", waits.len(), bytes(median), bytes(p99), bytes(last));
    assert!(waits.len() > 50 && bytes(p99) <= 128 * 1024 && bytes(last) <= 256 * 1024, "{waited}");
    for reply in replies {
        reply.await.expect("reply should arrive");
    }
    linked.expect_open();
}
