//! Tests of malformed batches, and of batches for streams that are not open.

use frisbee_tests::attacks::ADD;
use frisbee_tests::interop::{AddRequest, Count, Range};
use frisbee_tests::liars::deceived;
use frisbee_tests::raw::{Raw, encoded, packet};
use frisbee_tests::{serve_interop, serve_patient};
use frpc::Code;
use frpc::polyglot::{Encoder, Form, encode_root};
use std::net::SocketAddr;

const BATCH: u16 = 9;
const SUM_UP: u16 = 22;

/// Returns the packet that makes a peer native.
fn hello() -> Vec<u8> {
    let mut core = frisbee_core::Connection::client(&Default::default(), std::time::Instant::now());
    let begins = core.outbox().take_bytes();
    begins[..begins.len() - 10].to_vec() // Without the PING behind it.
}

/// Connects a client that appears native to the server, and opens a stream of requests.
async fn streaming(address: SocketAddr) -> Raw {
    let mut peer = Raw::connect(address).await;
    peer.write(&hello()).await;
    peer.write(&packet(1, 2, &[9, SUM_UP as u8])).await;
    peer
}

/// Checks that the server still replies.
async fn expect_sum(peer: &mut Raw) {
    peer.write(&packet(3, ADD, &encoded(&AddRequest { a: 20, b: 22 }))).await;
    let reply = peer.next().await.expect("connection should stay open");
    assert_eq!((reply.id.0, reply.operation.number()), (3, ADD));
}

#[tokio::test]
async fn empty_or_inconsistent_batch_closes_connection() {
    let message = encoded(&Count { value: 1 });
    let whole = [&[message.len() as u8], &message[..]].concat();
    let cut = [&whole[..], &[200, 1], &message].concat();
    let endless = [&whole[..], &[0xFF; 12]].concat();
    for body in [&[][..], &[1], &whole[..whole.len() - 1], &cut, &endless] {
        let mut peer = streaming(serve_patient().await).await;
        peer.write(&packet(1, BATCH, body)).await;
        peer.closed().await;
        // A malformed batch closes the connection even if no stream is open.
        let mut peer = Raw::connect(serve_patient().await).await;
        peer.write(&[hello(), packet(77, BATCH, body)].concat()).await;
        peer.closed().await;
    }
}

#[tokio::test]
async fn batch_without_open_stream_is_dropped() {
    let mut peer = streaming(serve_interop().await).await;
    // A stream that was never opened, and one in the id range of the server. The stream below has ended.
    for id in [2, 0x8000] {
        peer.write(&packet(id, BATCH, &[0, 0])).await;
    }
    peer.write(&packet(1, 7, &[1])).await;
    peer.write(&packet(1, BATCH, &[0, 0])).await;
    expect_sum(&mut peer).await;
}

#[tokio::test]
async fn batch_from_compat_peer_is_ignored() {
    let mut peer = Raw::connect(serve_interop().await).await;
    peer.write(&packet(1, BATCH, &[5])).await;
    expect_sum(&mut peer).await;
}

#[tokio::test]
async fn overcredit_batch_delivers_credit_then_closes_stream() {
    let (client, mut liar) = deceived(|builder| builder).await;
    liar.write(&hello()).await;
    let opened = tokio::spawn(async move { client.count_up(Range { from: 0, count: 1 }).await });
    let id = liar.next().await.expect("client should open a stream").id.0;
    let mut stream = opened.await.expect("caller should not panic").expect("connection should be open").into_inner();
    let mut message = Vec::new();
    encode_root(&Count { value: 1 }, &mut Encoder::new(&mut message).with_form(Form::Extended))
        .expect("message should be encodable");
    message.insert(0, message.len() as u8);
    liar.write(&packet(id, BATCH, &message.repeat(10_000))).await;
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
    let within = (256 * 1024_usize).div_ceil(64 + message.len() - 1);
    assert_eq!(read, within, "reader should receive as many messages as the credit allows");
}
