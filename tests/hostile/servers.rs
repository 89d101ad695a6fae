//! Tests of how broken and hostile servers affect a client. The client must keep its deadlines, hold little memory, and
//! never mistake a failure for a success.

use frisbee::Config;
use frisbee_tests::interop::{AddRequest, Count, InteropClient, Payload, Range};
use frisbee_tests::liars::{calling, code, deceived, deceived_patiently, deceived_through_a_pipe, streaming};
use frisbee_tests::raw::{Raw, encoded, packet};
use frisbee_tests::serve_interop;
use frpc::polyglot::{Encoder, Form, encode_root};
use frpc::{Channel, ChannelBuilder, Code, Request};
use frpc_balance::Balance;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const ADD: u16 = 18;
const SUM: [u8; 6] = [8, 0, 0x0d, 4, 0x0d, 4];

#[tokio::test]
async fn stray_replies_answer_no_call() {
    let (client, mut liar) = deceived(|builder| builder).await;
    for a in 0..50 {
        let call = calling(&client, a);
        let request = liar.next().await.expect("connection should stay open");
        let (id, operation) = (request.id.0, request.operation.number());
        let wrong = [8, 0, 0x0d, 0x7e, 0x0d, 4];
        let lies = [
            packet(id ^ 0x4000, operation, &wrong), // The id of an earlier use of the slot.
            packet(id.wrapping_add(1), operation, &wrong),
            packet(id ^ 0x2000, operation, &wrong), // A slot that does not exist.
            packet(id, operation + 1, &wrong),
            packet(id, u16::MAX, &wrong),
            packet(id, 2, &wrong),
            packet(id, operation, &SUM),
            packet(id, operation, &wrong),
            packet(id, operation, &wrong),
        ];
        liar.write(&lies.concat()).await;
        assert_eq!(call.await.expect("caller should not panic").expect("call should get its own reply"), 2);
    }
}

#[tokio::test]
async fn damaged_reply_never_decodes_as_another_message() {
    let (client, mut liar) = deceived(|builder| builder).await;
    // Truncated bodies, bodies of other kinds, lengths beyond the end of the body, and an error without a text.
    let mut bodies: Vec<Vec<u8>> = (0..SUM.len()).map(|cut| SUM[..cut].to_vec()).filter(|cut| cut.len() != 2).collect();
    bodies.extend([vec![9, 0], vec![0xff; 64], vec![8], vec![6, 5, 0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f], vec![6, 6]]);
    for body in bodies {
        let call = calling(&client, 1);
        let request = liar.next().await.expect("connection should stay open");
        liar.write(&packet(request.id.0, request.operation.number(), &body)).await;
        let status = call.await.expect("caller should not panic").expect_err("wrong sum should be rejected");
        assert_eq!(status.code(), Code::Internal, "{body:?}: {status}");
    }
    let call = calling(&client, 1);
    let request = liar.next().await.expect("connection should stay open");
    liar.write(&packet(request.id.0, request.operation.number(), &SUM)).await;
    assert_eq!(call.await.expect("caller should not panic").expect("reply should be complete"), 2);
}

/// Regression test: the reply was lost if it arrived in the same read as the invalid packet.
#[tokio::test]
async fn reply_before_invalid_packet_is_delivered() {
    let (client, mut liar) = deceived_through_a_pipe().await;
    let call = calling(&client, 1);
    let request = liar.next().await.expect("connection should stay open");
    let reply = packet(request.id.0, request.operation.number(), &SUM);
    liar.write(&[&reply[..], b"not a packet"].concat()).await;
    assert_eq!(call.await.expect("caller should not panic").expect("reply should be delivered"), 2);
    liar.closed().await;
}

#[tokio::test]
async fn client_disconnects_from_server_that_opens_streams() {
    let (client, mut liar) = deceived_through_a_pipe().await;
    let call = calling(&client, 1);
    liar.next().await.expect("connection should stay open");
    let lies = (1..=1_000).map(|id| packet(id, 2, &[9, 0x15])).collect::<Vec<_>>().concat();
    let (mut answers, mut lying) = tokio::io::split(liar.socket);
    let ignoring = tokio::spawn(async move { tokio::io::copy(&mut answers, &mut tokio::io::sink()).await });
    let mut written = 0;
    while lying.write_all(&lies).await.is_ok() && written < 1_000 {
        written += 1;
    }
    let status = call.await.expect("caller should not panic").expect_err("call without a reply should fail");
    // When the connection ended, some bytes had been written to the pipe but not read.
    assert!((100..110).contains(&written), "server wrote {written} thousand lies: {status}");
    assert_eq!(status.code(), Code::Unavailable);
    ignoring.abort();
}

#[tokio::test]
async fn silent_server_costs_deadline_then_connection() {
    let settings = |builder: ChannelBuilder| {
        builder.peer_kind_timeout(Duration::from_millis(400)).timeout(Duration::from_millis(50))
    };
    let (client, mut silent) = deceived(settings).await;
    assert_eq!(code(client.add(AddRequest { a: 1, b: 1 }).await), Code::DeadlineExceeded);
    let mut request = Request::new(AddRequest { a: 1, b: 1 });
    request.set_timeout(Duration::from_secs(20));
    let status = client.add(request).await.expect_err("connection should be closed");
    let reason = frisbee::CloseReason::PeerUnknown.to_string();
    assert!(status.code() == Code::Unavailable && status.message().contains(&reason), "{status}");
    silent.closed().await;
}

#[tokio::test]
async fn slowly_arriving_reply_fails_at_deadline() {
    let (client, mut slow) = deceived(|builder| builder.timeout(Duration::from_millis(200))).await;
    let call = calling(&client, 1);
    let request = slow.next().await.expect("connection should stay open");
    let reply = packet(request.id.0, request.operation.number(), &SUM);
    slow.write(&reply[..reply.len() - 1]).await;
    assert_eq!(code(call.await.expect("caller should not panic")), Code::DeadlineExceeded);
    // The last byte of the reply arrives only now. The client must ignore this reply.
    slow.write(&reply[reply.len() - 1..]).await;
    let call = calling(&client, 2);
    let request = slow.next().await.expect("connection should stay open");
    slow.write(&packet(request.id.0, request.operation.number(), &SUM)).await;
    assert_eq!(call.await.expect("caller should not panic").expect("call should succeed"), 2);
}

#[tokio::test]
async fn slow_reading_server_costs_only_call_deadlines() {
    let (client, mut slow) = deceived(|builder| builder.timeout(Duration::from_millis(300))).await;
    slow.write(&packet(0, 1, &[])).await; // A PONG, as sent by Go.
    // These requests are larger than the buffers of the sockets, so the next call has to wait.
    let mut fillers = tokio::task::JoinSet::new();
    for _ in 0..6 {
        let mut filling = Request::new(Payload { seq: 1, data: vec![1; 5_000_000] });
        filling.set_timeout(Duration::from_secs(60));
        let client = client.clone();
        fillers.spawn(async move { client.echo_payload(filling).await.map(drop) });
    }
    // The server reads a little from time to time, because the client would close the connection if it read nothing.
    let reading = tokio::spawn(async move {
        loop {
            let _ = slow.socket.read(&mut [0; 100_000]).await;
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    tokio::time::sleep(Duration::from_millis(200)).await;
    let timeout = Duration::from_millis(300);
    let range = || {
        let mut request = Request::new(Range { from: 0, count: 1 });
        request.set_timeout(timeout);
        request
    };
    let counts = || {
        let mut request = Request::new(frpc::iter((0..3).map(|value| Count { value })));
        request.set_timeout(timeout);
        request
    };
    let server_streaming = async {
        let mut counts = client.count_up(range()).await?.into_inner();
        counts.message().await.map(drop)
    };
    let ended = tokio::time::timeout(Duration::from_secs(30), async {
        assert_eq!(
            code(client.add(AddRequest { a: 1, b: 1 }).await),
            Code::DeadlineExceeded,
            "unary call should exceed its deadline"
        );
        assert_eq!(
            code(client.sum_up(counts()).await),
            Code::DeadlineExceeded,
            "client-streaming call should exceed its deadline"
        );
        assert_eq!(
            code(server_streaming.await),
            Code::DeadlineExceeded,
            "server-streaming call should exceed its deadline"
        );
    });
    ended.await.expect("deadline should be observed");
    reading.abort();
}

#[tokio::test]
async fn invalid_server_headers_end_connection_and_calls() {
    for lie in
        [packet(0, 0, b"!"), b"HTTP/1.1 400 Bad Request\r\n\r\n".to_vec(), vec![0, 15, 0, 0, 0, 18, 255, 0, 0, 0]]
    {
        let (client, mut liar) = deceived_patiently().await;
        let calls: Vec<_> = (0..10).map(|a| calling(&client, a)).collect();
        for _ in &calls {
            liar.next().await.expect("connection should stay open");
        }
        liar.write(&lie).await;
        for call in calls {
            let ended = tokio::time::timeout(Duration::from_secs(60), call).await;
            let ended = ended.expect("call should end with its connection").expect("caller should not panic");
            assert_eq!(code(ended), Code::Unavailable);
        }
    }
}

/// Regression: messages of streams that the client had ended counted as stray packets. A client that left a few long
/// streams of a Go server early lost its connection.
#[tokio::test]
async fn messages_crossing_stream_end_are_tolerated() {
    let (client, mut peer) = deceived(|builder| builder).await;
    let (stream, id) = streaming(&client, &mut peer, Duration::from_secs(60)).await;
    drop(stream);
    let messages = packet(id, 2, &encoded(&Count { value: 1 })).repeat(1_000);
    for _ in 0..150 {
        peer.write(&messages).await;
    }
    let call = calling(&client, 1);
    let request = loop {
        let packet = peer.next().await.expect("connection should stay open");
        // Before this packet, the client has sent the request of the stream and its close.
        if packet.operation.number() != 2 {
            break packet;
        }
    };
    peer.write(&packet(request.id.0, request.operation.number(), &SUM)).await;
    assert_eq!(call.await.expect("caller should not panic").expect("call should succeed"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn endless_stream_fails_at_its_deadline() {
    let (client, mut liar) = deceived(|builder| builder).await;
    let (mut stream, id) = streaming(&client, &mut liar, Duration::from_secs(2)).await;
    let messages = packet(id, 2, &encoded(&Count { value: 1 })).repeat(1_000);
    let flood = tokio::spawn(async move { while liar.socket.write_all(&messages).await.is_ok() {} });
    let reading = async {
        loop {
            match stream.message().await {
                Ok(Some(count)) => assert_eq!(count.value, 1),
                Ok(None) => panic!("stream should fail and not end"),
                Err(status) => return status,
            }
        }
    };
    let ended =
        tokio::time::timeout(Duration::from_secs(120), reading).await.expect("read should complete within the timeout");
    assert!([Code::DeadlineExceeded, Code::ResourceExhausted].contains(&ended.code()), "{ended}");
    flood.abort();
}

#[tokio::test]
async fn stream_past_deadline_ends_despite_queued_messages() {
    const TIMEOUT: Duration = Duration::from_secs(2);
    let (client, mut liar) = deceived(|builder| builder).await;
    let (mut stream, id) = streaming(&client, &mut liar, TIMEOUT).await;
    liar.write(&packet(id, 2, &encoded(&Count { value: 1 })).repeat(20_000)).await;
    assert_eq!(stream.message().await.expect("stream should not fail").map(|count| count.value), Some(1));
    tokio::time::sleep(TIMEOUT).await;
    let mut read = 0;
    let status = loop {
        match stream.message().await {
            Ok(_) => read += 1,
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::DeadlineExceeded);
    assert!(read < 100, "client read {read} messages after the deadline");
}

#[tokio::test]
async fn native_server_exceeding_credit_loses_stream() {
    let (client, mut liar) = deceived(|builder| builder).await;
    let now = std::time::Instant::now();
    let mut core = frisbee_core::Connection::client(&Default::default(), now);
    let begins = core.outbox().take_bytes();
    liar.write(&begins[..begins.len() - 10]).await; // HELLO, without the PING after it.
    let opened = tokio::spawn({
        let client = client.clone();
        async move { client.count_up(Range { from: 0, count: 1 }).await }
    });
    let id = liar.next().await.expect("client should open a stream").id.0;
    let mut stream = opened.await.expect("caller should not panic").expect("connection should be open").into_inner();
    let mut bytes = Vec::new();
    encode_root(&Count { value: 1 }, &mut Encoder::new(&mut bytes).with_form(Form::Extended))
        .expect("message should be encodable");
    for _ in 0..10 {
        liar.write(&packet(id, 2, &bytes).repeat(1_000)).await;
    }
    // The client sends its request, the end of its direction, and then the reset. It resets the stream before the test
    // reads a message, which would grant credit.
    loop {
        let packet = liar.next().await.expect("connection should stay open");
        if packet.operation.number() == 7 && !packet.body.is_empty() {
            break;
        }
    }
    let mut read = 0;
    let status = loop {
        match stream.message().await {
            Ok(Some(_)) => read += 1,
            Ok(None) => panic!("stream should fail and not end"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted);
    assert!(read < 5_000, "client read {read} messages with 256 KiB of credit");
}

#[tokio::test]
async fn stream_resetting_server_gets_few_streams() {
    let (address, accepted) = Raw::listen().await;
    let addresses = [serve_interop().await.to_string(), address];
    let channel = Channel::builder()
        .calls::<InteropClient>()
        .balance()
        .connect_all(addresses)
        .await
        .expect("all servers should accept connections");
    let client = InteropClient::new(channel);
    let mut liar = accepted.await;
    tokio::spawn(async move {
        let config = Config::default();
        let mut core = frisbee_core::Connection::client(&config.clone().into(), std::time::Instant::now());
        let begins = core.outbox().take_bytes();
        liar.write(&begins[..begins.len() - 10]).await; // HELLO, without the PING after it.
        while let Some(sent) = liar.next().await {
            if sent.operation.number() == 2 {
                liar.write(&packet(sent.id.0, 7, &[Code::Unavailable as u8])).await;
            }
        }
    });
    let is_reset = async || match client.count_up(Range { from: 0, count: 1 }).await {
        Ok(stream) => stream.into_inner().message().await.is_err(),
        Err(_) => true,
    };
    let chosen = async || {
        let chosen = async { while !is_reset().await {} };
        tokio::time::timeout(Duration::from_secs(20), chosen).await
    };
    chosen().await.expect("identified server should be chosen");
    let mut reset = 0;
    for _ in 0..200 {
        reset += usize::from(is_reset().await);
    }
    assert!(reset <= 10, "{reset} of 200 streams were opened at the failing server");
    chosen().await.expect("server should be tried again");
}

#[tokio::test]
async fn call_fails_on_partial_reply() {
    let (client, mut liar) = deceived(|builder| builder).await;
    let call = calling(&client, 1);
    let request = liar.next().await.expect("connection should stay open");
    let reply = packet(request.id.0, ADD, &SUM);
    liar.write(&reply[..reply.len() - 1]).await;
    drop(liar);
    assert_eq!(code(call.await.expect("caller should not panic")), Code::Unavailable);
}
