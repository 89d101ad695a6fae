//! Tests of the memory that broken and hostile peers cost the whole process.

use frisbee::tlv;
use frisbee::{Config, Handlers, Operation};
use frisbee_tests::attacks::{ADD, FORGED};
use frisbee_tests::healthy::Healthy;
use frisbee_tests::interop::{AddRequest, Payload, Text};
use frisbee_tests::liars::{calling, code, deceived, deceived_patiently};
use frisbee_tests::process::{ran_alone, released_kib, resident_kib};
use frisbee_tests::raw::{Raw, encoded, error_text, packet};
use frisbee_tests::{serve_interop, serve_interop_with};
use frpc::{Code, Server};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

#[tokio::test(flavor = "multi_thread")]
async fn declared_lengths_cost_no_memory() {
    if ran_alone(|| ()) {
        return;
    }
    let address = serve_interop().await;
    let healthy = Healthy::connect(address).await;
    let mut peer = Raw::connect(address).await;
    assert_eq!(packet(1, ADD, FORGED[0].1).len(), 16);
    assert_eq!(packet(1, 12, FORGED[1].1).len(), 20);
    let before = resident_kib().expect("memory usage should be readable");
    for round in 0..500 {
        for (operation, body) in FORGED {
            peer.write(&packet(round, operation, body)).await;
            let reply = peer.next().await.expect("connection should stay open");
            assert!(error_text(&reply.body).is_some(), "{operation}: {:?}", reply.body);
        }
    }
    let grown = resident_kib().expect("memory usage should be readable").saturating_sub(before);
    assert!(grown < 64 * 1024, "memory has grown by {grown} KiB");
    // Reserved memory takes no physical memory before it is written, so it is checked separately. Each length that the
    // peer states is 4 GiB or more.
    let released = released_kib().expect("value should be in /proc");
    assert!(released < 1024 * 1024, "process has reserved {released} KiB");
    healthy.was_well().await;
}

/// Returns the HELLO of a client that announces calls of services. Each service has a name of this length and the same
/// number of operations.
fn greeting(services: usize, name: usize, operations: usize) -> Vec<u8> {
    let mut content = b"fris\x01".to_vec();
    for number in 0..services {
        let mut item = Vec::new();
        tlv::put_varint(&mut item, name as u64);
        item.extend(format!("{number:0>name$}").bytes());
        item.extend([0; 16]); // A fingerprint.
        item.extend(std::iter::once(10).chain(vec![1; operations - 1]));
        tlv::put_item(&mut content, 33, &item);
    }
    content.resize(content.len().max(100), 0);
    packet(0, 3, &content)
}

#[tokio::test(flavor = "multi_thread")]
async fn hello_memory_is_proportional_to_length() {
    if ran_alone(|| ()) {
        return;
    }
    let mounted = || {
        Handlers::new()
            .on(Operation::user(1000).expect("operation number should be in the user range"), |_, _| async { None })
    };
    let address = serve_interop_with(Server::builder().mount(1000.., mounted())).await;
    let healthy = Healthy::connect(address).await;
    let before = resident_kib().expect("memory usage should be readable");
    let mut greetings: Vec<_> = [(1, 32_000, 32_000), (1, 10, 65_000), (2_700, 4, 1), (20, 1_000, 2_000)]
        .map(|(services, name, operations)| greeting(services, name, operations))
        .into();
    // These items are unknown to the server.
    greetings.push(packet(0, 3, &[b"fris\x01".to_vec(), [40, 1, 0].repeat(21_000)].concat()));
    let add = packet(1, ADD, &encoded(&AddRequest { a: 20, b: 22 }));
    let mut peers = Vec::new();
    for greeting in greetings.iter().cycle().take(50) {
        let mut peer = Raw::connect(address).await;
        peer.write(&[&greeting[..], &add].concat()).await;
        let reply = peer.next().await.expect("connection should stay open");
        assert!(
            error_text(&reply.body)
                .is_none_or(|text| text.contains("the called peer offers no service 0") && text.len() < 400)
        );
        peers.push(peer);
    }
    let grown = resident_kib().expect("memory usage should be readable").saturating_sub(before);
    // A sanitizer allocates additional memory for each block.
    let most = if std::env::var_os("ASAN_OPTIONS").is_some() { 64 * 1024 } else { 30 * 1024 };
    assert!(grown < most, "memory has grown by {grown} KiB for {} peers", peers.len());
    healthy.was_well().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn client_that_reads_no_replies_is_disconnected() {
    if ran_alone(|| ()) {
        return;
    }
    let config = Config::default().write_timeout(Duration::from_millis(300));
    let address = serve_interop_with(Server::builder().config(config)).await;
    let healthy = Healthy::connect(address).await;
    let mut greedy = Raw::connect(address).await;
    let before = resident_kib().expect("memory usage should be readable");
    let request = packet(1, 17, &encoded(&Payload { seq: 1, data: vec![1; 1 << 20] }));
    // Writes the part of 200 MiB that the socket accepts before the server closes the connection.
    let writing = async { while greedy.socket.write_all(&request).await.is_ok() {} };
    tokio::time::timeout(Duration::from_secs(20), writing).await.expect("write should complete within the timeout");
    let grown = resident_kib().expect("memory usage should be readable").saturating_sub(before);
    assert!(grown < 100 * 1024, "memory has grown by {grown} KiB");
    healthy.was_well().await;
}

#[tokio::test]
async fn client_closes_after_100000_unrequested_replies() {
    if ran_alone(|| ()) {
        return;
    }
    let (client, mut liar) = deceived(|builder| builder).await;
    let call = calling(&client, 1);
    liar.next().await.expect("connection should stay open");
    let before = resident_kib().expect("memory usage should be readable");
    let lies = packet(77, 999, &[7; 1_000]).repeat(1_000);
    let mut written = 0;
    while liar.socket.write_all(&lies).await.is_ok() && written < 1_000 {
        written += 1;
    }
    assert!((100..300).contains(&written), "peer wrote {written} thousand lies");
    assert_eq!(code(call.await.expect("caller should not panic")), Code::Unavailable);
    let grown = resident_kib().expect("memory usage should be readable").saturating_sub(before);
    assert!(grown < 64 * 1024, "memory has grown by {grown} KiB");
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_stream_is_closed_before_filling_memory() {
    if ran_alone(|| ()) {
        return;
    }
    let (client, mut liar) = deceived_patiently().await;
    liar.write(&packet(0, 1, &[])).await; // A PONG, as sent by Go.
    let opened = tokio::spawn(async move { client.chat(frpc::iter([Text { value: "open".into() }])).await });
    let id = liar.next().await.expect("client should open a stream").id.0;
    let mut stream = opened.await.expect("caller should not panic").expect("connection should be open").into_inner();
    let before = resident_kib().expect("memory usage should be readable");
    let message = packet(id, 2, &encoded(&Text { value: "x".repeat(60_000) }));
    for _ in 0..2_000 {
        liar.write(&message).await;
    }
    let grown = resident_kib().expect("memory usage should be readable").saturating_sub(before);
    assert!(grown < 64 * 1024, "memory has grown by {grown} KiB for 117 MiB");
    let status = loop {
        match stream.message().await {
            Ok(message) => assert!(message.is_some(), "stream should fail and not end"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.code(), Code::ResourceExhausted, "{status}");
}
