//! Tests of client and server connections. The test writes and reads the bytes of the peer itself.

use crate::api::BoxedCall;
use crate::observe::{BatchObserver, ObservedMethod};
use crate::schema::layout::{Client, Layout};
use crate::schema::method::Method;
use crate::service::layouts::HELD_TIME;
use crate::wire::layouts::OFFERED;
use crate::wire::layouts::tests::{FIRST, SECOND};
use crate::{Channel, Code, Request, Server};
use frisbee::tlv::put_item;
use frisbee::{BatchEnd, Connection, Outbox, Packet, Routed, Router};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

static GET: Method = Method::new(&FIRST, "Get", 10);

struct Orders;

impl Client for Orders {
    const LAYOUT: &'static Layout = &FIRST;
}

/// Returns an encoded packet.
fn packet(id: u8, operation: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("test body should be short").to_be_bytes();
    [&[0, 15, 0, id, 0, operation], &length[..], body].concat()
}

/// Returns the HELLO of a peer that serves the second version of the service.
fn hello_of_second() -> Vec<u8> {
    let mut hello = b"fris\x01".to_vec();
    put_item(&mut hello, OFFERED, &SECOND.item());
    packet(0, 3, &hello)
}

/// Makes a call and polls it once.
fn call(channel: &Channel) -> BoxedCall<'static, String> {
    let channel = channel.clone();
    let mut call: BoxedCall<'static, String> =
        Box::pin(async move { channel.unary::<String, String>(&GET, Request::new("pears".to_owned())).await });
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    call
}

/// Router that closes its connection at the end of the first batch, and makes a call at the end of the second one.
struct LateCaller(mpsc::UnboundedSender<BoxedCall<'static, String>>);

impl Router for LateCaller {
    type Session = (Connection, u32);

    fn connected(&self, connection: &Connection) -> Self::Session {
        (connection.clone(), 0)
    }

    fn route(&self, _: &mut Self::Session, _packet: Packet, _outbox: &mut Outbox) -> Routed {
        Routed::Discarded
    }

    fn batch_ended(&self, (connection, turns): &mut Self::Session, _batch: &mut BatchEnd<'_>) -> Option<Instant> {
        *turns += 1;
        match turns {
            1 => connection.close(),
            2 => self.0.send(call(&Channel::from_connection(connection))).expect("test should wait for the call"),
            _ => {}
        }
        None
    }
}

/// Regression test: a call was reported as not run, although its request was written while the connection closed.
#[tokio::test(start_paused = true)]
async fn request_written_by_closing_connection_may_have_run() {
    let (calls, mut made) = mpsc::unbounded_channel();
    let (here, mut there) = crate::memory();
    let builder = Channel::builder().calls::<Orders>().mount(1000..=1000, LateCaller(calls));
    let _channel = builder.connect_io(here).await.expect("in-memory connection should be accepted");
    let status = made.recv().await.expect("router should make a call").await.expect_err("connection should be closed");
    let mut written = Vec::new();
    there.read_to_end(&mut written).await.expect("client should close its connection");
    assert!(written.windows(5).any(|bytes| bytes == b"pears"), "request should be written");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, true), "{status}");
}

/// Regression test: a call that waited for the peer's layout noticed the loss of the connection only after
/// [`HELD_TIME`] or at its deadline.
#[tokio::test(start_paused = true)]
async fn lost_connection_fails_call_awaiting_layout() {
    let (connected, mut connections) = mpsc::unbounded_channel();
    let server = Server::builder().on_connect(move |connection| drop(connected.send(connection.clone())));
    let server = server.build().expect("settings should be valid");
    let (mut client, there) = crate::memory();
    tokio::spawn(async move { server.serve_connection(there).await });
    client.write_all(&hello_of_second()).await.expect("HELLO should be written");
    let connection = connections.recv().await.expect("server should report its connection");
    let channel = Channel::from_connection(&connection);
    connection.peer_known().await.expect("HELLO of the client should arrive");
    let pending = call(&channel);
    let (ask, mut read) = (packet(1, 3, &SECOND.fingerprint.bytes()), Vec::new());
    while !read.ends_with(&ask) {
        read.push(client.read_u8().await.expect("server should ask for the layout"));
    }
    let started = tokio::time::Instant::now();
    drop(client);
    let status = pending.await.expect_err("connection should be lost");
    assert_eq!((status.code(), status.may_have_run()), (Code::Unavailable, false), "{status}");
    assert!(started.elapsed() < HELD_TIME, "{:?}", started.elapsed());
}

/// Observer that panics when a call succeeds.
struct BrokenObserver;

impl BatchObserver for BrokenObserver {
    fn register(&self, _about: &ObservedMethod) -> u32 {
        0
    }

    fn ended(&self, _method: u32, code: Code, _calls: u64, _nanos: u64) {
        assert_ne!(code, Code::Ok, "on purpose");
    }

    fn reclassified(&self, _method: u32, _code: Code, _nanos: u64) {}
}

/// Regression test: a panicking observer kept the calls of an ended connection pending forever.
#[tokio::test(start_paused = true)]
async fn panicking_observer_does_not_block_calls_of_ended_connection() {
    let (here, mut there) = crate::memory();
    let builder = Channel::builder().calls::<Orders>().batch_observer(BrokenObserver);
    let channel = builder.connect_io(here).await.expect("in-memory connection should be accepted");
    let [first, second] = [call(&channel), call(&channel)];
    let mut written = Vec::new();
    while written.windows(5).filter(|bytes| bytes == b"pears").count() < 2 {
        written.push(there.read_u8().await.expect("client should send its requests"));
    }
    // The server answers the first call, and then sends a packet that is too long.
    let (hello, answer) = (packet(0, 3, b"fris\x01"), packet(0, 10, &[8, 0]));
    let too_long = [0, 15, 0, 0, 0, 10, 255, 255, 255, 255];
    there.write_all(&[&hello[..], &answer, &too_long].concat()).await.expect("packets should be written");
    let ended = async { (first.await.err(), second.await.err()) };
    let started = tokio::time::Instant::now();
    let (_, second) = tokio::time::timeout(Duration::from_secs(60), ended).await.expect("calls should end");
    // `timeout` polls the calls once more when it expires.
    assert!(started.elapsed() < Duration::from_secs(1), "calls should be woken");
    assert_eq!(second.map(|status| status.code()), Some(Code::Unavailable));
}

/// A client can send nothing after a hand-off request, so it must send its layout before.
#[tokio::test(start_paused = true)]
async fn layout_precedes_hand_off_request_to_other_version() {
    let (here, mut there) = crate::memory();
    let channel = Channel::builder().connect_io(here).await.expect("in-memory connection should be accepted");
    let (asking, _handed) = channel.request_hand_off();
    let requesting = tokio::spawn(call(&asking));
    there.write_all(&hello_of_second()).await.expect("HELLO should be written");
    let mut written = Vec::new();
    while !written.ends_with(b"pears") {
        written.push(there.read_u8().await.expect("client should request a hand-off"));
    }
    let layout = packet(2, 3, &[&[0], &FIRST.fingerprint.bytes()[..]].concat());
    assert!(written.windows(layout.len()).any(|bytes| bytes == layout), "{written:?}");
    requesting.abort();
}

/// Regression test: a request that repeated a fingerprint was answered with a description for each repetition.
#[tokio::test]
async fn repeated_fingerprint_is_described_once() {
    let (here, mut server) = crate::memory();
    let _channel = Channel::builder().calls::<Orders>().connect_io(here).await.expect("connection should be accepted");
    server.write_all(&hello_of_second()).await.expect("HELLO should be written");
    for fingerprint in [FIRST.fingerprint, SECOND.fingerprint] {
        let ask = packet(1, 3, &fingerprint.bytes().repeat(64));
        server.write_all(&ask).await.expect("ASK should be written");
    }
    let (last, mut read) = (packet(2, 3, &[&[0], &SECOND.fingerprint.bytes()[..]].concat()), Vec::new());
    while !read.ends_with(&last) {
        read.push(server.read_u8().await.expect("client should describe its layout"));
    }
    let first = packet(2, 3, &[&[0], &FIRST.fingerprint.bytes()[..]].concat());
    assert_eq!(read.windows(first.len()).filter(|bytes| *bytes == first).count(), 1);
}

/// Regression test: a server that requested descriptions without reading them filled the memory of its client.
#[tokio::test(start_paused = true)]
async fn unread_descriptions_close_client_connection() {
    static LONG: Layout = Layout::new("shop.Stock", &[90], 5, &[1; 60_000], "");
    struct Stock;
    impl Client for Stock {
        const LAYOUT: &'static Layout = &LONG;
    }
    let (here, mut server) = crate::memory();
    let _channel = Channel::builder().calls::<Stock>().connect_io(here).await.expect("connection should be accepted");
    let mut hello = b"fris\x01".to_vec();
    put_item(&mut hello, OFFERED, &LONG.item());
    server.write_all(&packet(0, 3, &hello)).await.expect("HELLO should be written");
    let asks = packet(1, 3, LONG.fingerprint.bytes().as_ref()).repeat(64);
    for _ in 0..30 {
        // Ignore the error, because the client may have closed the connection.
        let _ = server.write_all(&asks).await;
    }
    let mut read = Vec::new();
    let done = tokio::time::timeout(Duration::from_secs(10), server.read_to_end(&mut read)).await;
    assert!(done.is_ok(), "client sent {} bytes and should close its connection", read.len());
    let reason = b"did not read";
    assert!(read.windows(reason.len()).any(|bytes| bytes == reason), "client should state its reason");
}
