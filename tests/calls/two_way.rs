//! Calls in both directions on one connection.

use frisbee::rpc::ConnectionExt;
use frisbee::{Config, Operation, PacketId, PeerKind};
use frisbee_tests::interop::{
    AddRequest, Count, Interop, InteropClient, InteropServer, Payload, Range, Scalars, SleepRequest, Sum, Text,
};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::service::Service;
use frisbee_tests::{Serving, left_to_service, serve, serve_interop, serve_interop_with, until};
use frpc::{Channel, Code, Connection, Request, RequestStream, Response, Server, Status, Workers};
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

type Reply<T> = Result<Response<T>, Status>;

/// Maximum time to wait for an event, because the machine may be busy.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A server that reports its connections.
async fn controller() -> (SocketAddr, mpsc::UnboundedReceiver<Connection>) {
    let (sender, connections) = mpsc::unbounded_channel();
    let builder = Server::builder().on_connect(move |connection| drop(sender.send(connection.clone())));
    (serve_interop_with(builder).await, connections)
}

/// A client that serves a service.
async fn agent(address: SocketAddr) -> Channel {
    let builder = Channel::builder().add_service(InteropServer::new(Service));
    builder.connect(address.to_string()).await.expect("server should accept the connection")
}

async fn next<T>(from: &mut mpsc::UnboundedReceiver<T>) -> T {
    tokio::time::timeout(TIMEOUT, from.recv())
        .await
        .expect("message should arrive within the timeout")
        .expect("message should arrive")
}

pub(crate) async fn call_every_kind(client: &InteropClient) {
    let sum = client.add(AddRequest { a: 20, b: 22 }).await.unwrap().into_inner();
    assert_eq!(sum.total, 42);

    let mut counts = client.count_up(Range { from: 3, count: 3 }).await.unwrap().into_inner();
    for expected in 3..6 {
        assert_eq!(counts.message().await.unwrap().unwrap().value, expected);
    }
    assert_eq!(counts.message().await.unwrap(), None);

    let counted = client.sum_up(frpc::iter((1..=100).map(|value| Count { value }))).await.unwrap().into_inner();
    assert_eq!((counted.total, counted.count), (5050, 100));

    let (sender, texts) = RequestStream::channel(1);
    let mut answers = client.chat(texts).await.unwrap().into_inner();
    for word in ["one", "two"] {
        sender.send(Text { value: word.into() }).await.unwrap();
        let answer = answers.message().await.unwrap().unwrap().value;
        assert!(answer.contains(word), "{answer}");
    }
    drop(sender);
    while answers.message().await.unwrap().is_some() {}
}

#[tokio::test]
async fn connection_carries_every_call_kind_both_ways() {
    let (address, mut connections) = controller().await;
    let agent = agent(address).await;
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    let calling = InteropClient::new(agent);
    for _ in 0..3 {
        tokio::join!(call_every_kind(&called), call_every_kind(&calling));
    }
}

/// Calls its caller in turn, as long as requests are left.
struct PingPong;

impl Interop for PingPong {
    async fn add(&self, request: Request<AddRequest>) -> Reply<Sum> {
        let back = InteropClient::new(request.channel().expect("request should have a channel to its caller"));
        let AddRequest { a, b } = request.into_inner();
        if b == 0 {
            return Ok(Response::new(Sum { total: a, count: 0 }));
        }
        let sum = back.add(AddRequest { a: a + 1, b: b - 1 }).await?.into_inner();
        Ok(Response::new(Sum { total: sum.total, count: sum.count + 1 }))
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, sleep, describe, count_up, sum_up, chat);
}

#[tokio::test]
async fn handlers_of_both_ends_call_their_callers() {
    let address = serve(Server::builder().add_service(InteropServer::new(PingPong))).await;
    let channel = Channel::builder().add_service(InteropServer::new(PingPong)).connect(address.to_string()).await;
    let client = InteropClient::new(channel.unwrap());
    let sum = client.add(AddRequest { a: 0, b: 50 }).await.unwrap().into_inner();
    assert_eq!((sum.total, sum.count), (50, 50));
}

/// Records the threads on which it starts and, after a wait, completes.
struct Where;

impl Interop for Where {
    async fn describe(&self, _request: Request<Scalars>) -> Reply<Text> {
        let first = thread::current().id();
        tokio::time::sleep(Duration::from_millis(1)).await;
        Ok(Response::new(Text { value: format!("{first:?}, {:?}", thread::current().id()) }))
    }

    left_to_service!(echoes, do_nothing, fail, echo_payload, add, sleep, count_up, sum_up, chat);
}

#[tokio::test]
async fn client_handlers_stay_on_worker_across_await() {
    let (address, mut connections) = controller().await;
    let builder = Channel::builder().workers(Workers::Threads(1)).add_service(InteropServer::new(Where));
    let _agent = builder.connect(address.to_string()).await.unwrap();
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    let threads = called.describe(Scalars::default()).await.unwrap().into_inner().value;
    let here = format!("{:?}", thread::current().id());
    let (first, then) = threads.split_once(", ").unwrap();
    assert_ne!(first, here);
    assert_eq!(then, first);
}

#[tokio::test]
async fn calls_to_serviceless_or_go_client_fail() {
    let (address, mut connections) = controller().await;
    let plain = Channel::connect(address.to_string()).await.unwrap();
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    let status = called.add(AddRequest::default()).await.unwrap_err();
    assert_eq!((status.code(), status.may_have_run()), (Code::Unimplemented, false));
    assert_eq!(called.count_up(Range::default()).await.unwrap_err().code(), Code::Unimplemented);
    call_every_kind(&InteropClient::new(plain)).await;

    let mut go = Raw::connect(address).await;
    go.write(&packet(1, 1000, b"")).await;
    assert!(go.next().await.is_some());
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    assert_eq!(called.add(AddRequest::default()).await.unwrap_err().code(), Code::Unimplemented);
}

#[tokio::test]
async fn equal_ids_of_both_ends_stay_separate() {
    let (address, mut connections) = controller().await;
    let agent = InteropClient::new(agent(address).await);
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    agent.add(AddRequest::default()).await.unwrap();
    // Both ends call the same method with the same ids and operations, all in flight at once.
    let mut calls = JoinSet::new();
    for number in 0..500 {
        for (client, offset) in [(agent.clone(), 0), (called.clone(), 1_000_000)] {
            calls.spawn(async move {
                let micros = u32::try_from(number % 7).unwrap();
                client.sleep(SleepRequest { millis: micros, ..SleepRequest::default() }).await.unwrap();
                let sum = client.add(AddRequest { a: number + offset, b: 0 }).await.unwrap();
                assert_eq!(sum.into_inner().total, number + offset);
            });
        }
    }
    tokio::time::timeout(TIMEOUT, calls.join_all()).await.unwrap();
}

#[tokio::test]
async fn calls_both_ways_have_specified_bytes() {
    let (address, mut connections) = controller().await;
    let mut raw = Raw::connect(address).await;
    // HELLO of a client that offers a service without methods, which still counts as a service.
    raw.write(&packet(0, 3, &[&b"fris\x01\x20\x14\x03a.B"[..], &[0; 16]].concat())).await;
    let connection = next(&mut connections).await;
    let peer = connection.peer_known().await.unwrap();
    assert!(matches!(peer, PeerKind::Native(_)));
    let client = InteropClient::new(Channel::from_connection(&connection));
    let mut calls = JoinSet::new();
    calls.spawn(async move { client.add(AddRequest { a: 1, b: -1 }).await });
    let request = raw.next().await.unwrap();
    assert_eq!((request.id.0, &request.body[..]), (0x8000, &[8, 0, 0x0D, 2, 0x0D, 1][..]));
    // A packet with an id of the other half is a call of the client rather than a reply, so it is answered.
    let operation = request.operation.number();
    raw.write(&packet(0, operation, &[8, 0, 0x0D, 4, 0x0D, 6])).await;
    let answer = raw.next().await.unwrap();
    assert_eq!((answer.id.0, answer.body[0]), (0, 8));
    raw.write(&packet(0x8000, operation, &[8, 0, 0x0D, 14, 0x0D, 4])).await;
    assert_eq!(calls.join_next().await.unwrap().unwrap().unwrap().into_inner().total, 7);
}

#[tokio::test]
async fn client_request_with_server_id_closes_connection() {
    let (address, mut connections) = controller().await;
    let mut raw = Raw::connect(address).await;
    raw.write(&[packet(0, 3, b"fris\x01"), packet(0x8007, 18, &[8, 0, 0x0D, 2, 0x0D, 1])].concat()).await;
    let connection = next(&mut connections).await;
    tokio::time::timeout(TIMEOUT, connection.closed())
        .await
        .expect("request with a server id should close the connection");
    let reason = connection.close_reason().expect("connection should be closed").to_string();
    assert!(reason.contains("packet 32775 of operation 18"), "{reason}");
}

#[tokio::test]
async fn bare_client_only_counts_unrequested_packets() {
    let (address, accepted) = Raw::listen().await;
    let channel = Channel::connect(address).await.unwrap();
    let mut raw = accepted.await;
    raw.write(&packet(0, 3, b"fris\x01")).await;
    channel.connection().unwrap().peer_known().await.unwrap();
    let call = packet(0x8005, 10, &[8, 0]);
    raw.write(&call).await;
    // The server's own calls still work: its next request is received.
    let client = InteropClient::new(channel.clone());
    let calling = tokio::spawn(async move { client.add(AddRequest::default()).await });
    let calls = raw.next().await.unwrap();
    assert_eq!((calls.operation, calls.id), (Operation::EXTENSION, PacketId(3)), "client should announce its service");
    let request = raw.next().await.unwrap();
    assert_eq!(request.body[..], [8, 0, 0x0D, 0, 0x0D, 0]);
    // A packet with an id of the server's half is not a reply to that call.
    let (id, operation) = (request.id.0, request.operation.number());
    raw.write(&packet(0x8000 | id, operation, &[8, 0, 0x0D, 2, 0x0D, 0])).await;
    raw.write(&packet(id, operation, &[8, 0, 0x0D, 4, 0x0D, 0])).await;
    assert_eq!(calling.await.unwrap().unwrap().into_inner().total, 2);
    // The number of such packets is limited.
    let connection = channel.connection().unwrap();
    let many = call.repeat(1000);
    for _ in 0..101 {
        if connection.is_closed() {
            break;
        }
        let written = tokio::io::AsyncWriteExt::write_all(&mut raw.socket, &many).await;
        if written.is_err() {
            break;
        }
    }
    tokio::time::timeout(TIMEOUT, connection.closed()).await.expect("connection should close within the timeout");
}

#[tokio::test]
async fn stream_to_client_without_services_is_rejected() {
    let (address, accepted) = Raw::listen().await;
    let _channel = Channel::connect(address).await.unwrap();
    let mut raw = accepted.await;
    raw.write(&[packet(0, 3, b"fris\x01"), packet(0x8001, 2, &[0x09, 20])].concat()).await;
    let refusal = raw.next().await.unwrap();
    // TRAILERS of stream 32 769.
    assert_eq!((refusal.id.0, refusal.operation.number(), &refusal.body[..3]), (6, 3, &[0x81, 0x80, 2][..]));
    assert!(refusal.body.ends_with(b"the called peer offers no service"), "{:?}", refusal.body);
}

/// A server with little memory that reports its connections.
async fn poor_controller(memory_max: usize) -> (SocketAddr, mpsc::UnboundedReceiver<Connection>) {
    let (sender, connections) = mpsc::unbounded_channel();
    let builder = Server::builder().memory_max(memory_max);
    (serve_interop_with(builder.on_connect(move |connection| drop(sender.send(connection.clone())))).await, connections)
}

#[tokio::test]
async fn overload_rejection_spares_call_with_same_id() {
    let (address, mut connections) = poor_controller(100_000).await;
    let agent = agent(address).await;
    let connection = next(&mut connections).await;
    let called = InteropClient::new(Channel::from_connection(&connection));
    let long = SleepRequest { millis: 3_600_000, ..SleepRequest::default() };
    let calling = tokio::spawn(async move { called.sleep(long).await });
    let dialled = agent.connection().unwrap();
    until("the handlers of the agent run", || dialled.running() == 1).await;
    let charge = connection.charge_request(100_000);
    let agent = InteropClient::new(agent);
    let status = agent.sleep(SleepRequest::default()).await.expect_err("call should exceed the memory limit");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    drop(charge);
    agent.sleep(SleepRequest::default()).await.expect("connection should stay open");
    assert!(!calling.is_finished(), "call made by the server should continue");
}

#[tokio::test]
async fn reply_without_memory_fails_only_its_call() {
    let (address, mut connections) = poor_controller(1024 * 1024).await;
    let agent = InteropClient::new(agent(address).await);
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    let status = called.echo_payload(Payload { seq: 1, data: vec![1; 4 << 20] }).await.expect_err("call should fail");
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
    assert!(status.message().contains("reply was discarded") && status.may_have_run(), "{status}");
    called.add(AddRequest::default()).await.expect("call should succeed");
    agent.add(AddRequest::default()).await.expect("call should succeed");
}

#[tokio::test]
async fn connection_end_fails_current_and_later_calls() {
    let (address, mut connections) = controller().await;
    let agent = agent(address).await;
    let connection = next(&mut connections).await;
    let called = InteropClient::new(Channel::from_connection(&connection));
    let call = tokio::spawn({
        let called = called.clone();
        async move { called.sleep(SleepRequest { millis: 60_000, ..SleepRequest::default() }).await }
    });
    called.add(AddRequest::default()).await.unwrap();
    drop(agent);
    let error = tokio::time::timeout(TIMEOUT, call).await.unwrap().unwrap().unwrap_err();
    assert_eq!((error.code(), error.may_have_run()), (Code::Unavailable, true));
    let after = called.add(AddRequest::default()).await.unwrap_err();
    assert_eq!((after.code(), after.may_have_run()), (Code::Unavailable, false));
    assert_eq!(called.count_up(Range::default()).await.unwrap_err().code(), Code::Unavailable);
    let late = InteropClient::new(Channel::from_connection(&connection));
    assert_eq!(late.add(AddRequest::default()).await.unwrap_err().code(), Code::Unavailable);
    assert_eq!(late.count_up(Range::default()).await.unwrap_err().code(), Code::Unavailable);
    tokio::time::timeout(TIMEOUT, Channel::from_connection(&connection).stay_connected()).await.unwrap();
}

#[tokio::test]
async fn server_calls_carry_deadlines_and_cancellation() {
    let (address, mut connections) = controller().await;
    let _agent = agent(address).await;
    let connection = next(&mut connections).await;
    let called = InteropClient::new(Channel::from_connection(&connection));
    let mut late = Request::new(SleepRequest { millis: 60_000, ..SleepRequest::default() });
    late.set_timeout(Duration::from_millis(20));
    assert_eq!(called.sleep(late).await.unwrap_err().code(), Code::DeadlineExceeded);
    let mut failing = Request::new(Text { value: "why".into() });
    failing.metadata_mut().insert("key", "value").unwrap();
    let failed = called.fail(failing).await.unwrap_err();
    assert!(failed.message().contains("why"), "{failed}");
    // A cancelled call gets a reply, which releases its id.
    for _ in 0..50 {
        let call = called.sleep(SleepRequest { millis: 60_000, ..SleepRequest::default() });
        assert!(tokio::time::timeout(Duration::from_millis(1), call).await.is_err());
    }
    assert_eq!(called.add(AddRequest { a: 1, b: 1 }).await.unwrap().into_inner().total, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn full_outboxes_of_both_ends_avoid_deadlock() {
    const CALLS: u32 = 300;
    let (address, mut connections) = controller().await;
    let agent = InteropClient::new(agent(address).await);
    let called = InteropClient::new(Channel::from_connection(&next(&mut connections).await));
    agent.add(AddRequest::default()).await.unwrap();
    // Each end has 60 MB of requests and of replies to send, and streams that need credit. The dialling end rejects
    // calls once 64 MiB of its replies are unsent.
    let mut calls = JoinSet::new();
    for seq in 0..CALLS {
        for client in [&agent, &called] {
            let client = client.clone();
            calls.spawn(async move {
                let data = vec![seq as u8; 200_000];
                let echoed = client.echo_payload(Payload { seq, data: data.clone() }).await.unwrap().into_inner();
                assert!(echoed.seq == seq && echoed.data == data);
            });
        }
    }
    for client in [&agent, &called] {
        let client = client.clone();
        calls.spawn(async move {
            let texts = (0..200).map(|_| Text { value: "x".repeat(20_000) });
            let mut answers = client.chat(frpc::iter(texts)).await.unwrap().into_inner();
            let mut count = 0;
            while answers.message().await.unwrap().is_some() {
                count += 1;
            }
            assert!(count >= 200, "{count}");
        });
    }
    tokio::time::timeout(TIMEOUT, calls.join_all()).await.expect("calls should complete within the timeout");
}

#[tokio::test]
async fn peer_ignoring_replies_is_rejected_and_disconnected() {
    let (address, accepted) = Raw::listen().await;
    let config = Config::default().write_timeout(Duration::from_secs(600));
    let builder = Channel::builder().config(config).add_service(InteropServer::new(Service));
    let channel = builder.connect(address).await.unwrap();
    let mut raw = accepted.await;
    raw.write(&packet(0, 3, b"fris\x01")).await;
    let connection = channel.connection().unwrap();
    connection.peer_known().await.unwrap();
    let (_, mut writing) = raw.socket.into_split();
    let text = "x".repeat(1000).into_bytes();
    let body = [&[8, 0, 0x05, 0x0A, 0xE8, 0x07][..], &text].concat();
    let many: Vec<u8> = (0x8000..0x8000 + 1000).flat_map(|id| packet(id, 16, &body)).collect();
    let flood = async { while tokio::io::AsyncWriteExt::write_all(&mut writing, &many).await.is_ok() {} };
    // Packets for the server stay queued.
    let closed = until("the client closes the connection", || connection.is_closed());
    tokio::select! {
        () = closed => {}
        () = async { flood.await; std::future::pending().await } => {}
    }
    let reason = connection.close_reason().expect("connection should be closed").to_string();
    assert!(reason.contains("bytes of replies"), "{reason}");
}

#[tokio::test]
async fn agent_that_stays_connected_reconnects_automatically() {
    let bind = |address: String| async move {
        let (sender, connections) = mpsc::unbounded_channel();
        let builder = Server::builder().on_connect(move |connection| drop(sender.send(connection.clone())));
        (builder.bind(address).await.expect("server should bind to a free address"), connections)
    };
    let (server, mut connections) = bind("127.0.0.1:0".to_owned()).await;
    let mut serving = Serving::start(server);
    let address = serving.address;
    let agent = agent(address).await;
    let staying = tokio::spawn(async move { agent.stay_connected().await });
    let call = async |connection: &Connection| {
        let client = InteropClient::new(Channel::from_connection(connection));
        client.add(AddRequest { a: 1, b: 1 }).await.unwrap().into_inner().total
    };
    assert_eq!(call(&next(&mut connections).await).await, 2);
    // A server that shuts down gracefully, and its successor.
    serving.stop();
    serving.stopped().await;
    let (server, mut connections) = bind(address.to_string()).await;
    tokio::spawn(server.serve());
    let second = next(&mut connections).await;
    assert_eq!(call(&second).await, 2);
    // A connection that is lost.
    second.abort();
    assert_eq!(call(&next(&mut connections).await).await, 2);
    staying.abort();
}

#[tokio::test]
async fn connection_of_channel_gives_equivalent_channel() {
    let channel = Channel::connect(serve_interop().await.to_string()).await.unwrap();
    let same = InteropClient::new(Channel::from_connection(&channel.connection().unwrap()));
    call_every_kind(&same).await;
    drop(same);
    call_every_kind(&InteropClient::new(channel)).await;
}
