//! Tests of requests that a server holds, while other clients make requests.

use super::attackers::{MIB, WaitingService, Witness, peer, request, server, write_until_rejected};
use super::output::replies;
use frisbee_tests::raw::packet;
use frisbee_tests::until;
use std::sync::atomic::Ordering;
use tokio::io::AsyncWriteExt;

/// Returns a metadata item: an entry with a key and a value of the given length.
fn metadata(length: usize) -> Vec<u8> {
    let mut entry = vec![1, b'k'];
    entry.resize(length, b'v');
    let mut items = Vec::new();
    frisbee::tlv::put_item(&mut items, 2, &entry);
    items
}

/// Returns the first packet of a native peer.
fn hello() -> Vec<u8> {
    packet(0, 3, b"fris\x01")
}

#[tokio::test]
async fn queued_request_burst_leaves_others_served() {
    const REQUESTS: u16 = 300;
    const LENGTH: usize = 16_400;
    let (service, _release) = WaitingService::new(0);
    let acceptor = server(service.clone(), 16 * MIB);
    let mut hog = peer(&acceptor);
    let witness = Witness::of(&acceptor).await;
    let stats = acceptor.stats();
    let requests: Vec<_> = (0..REQUESTS).flat_map(|id| request(id, LENGTH)).collect();
    write_until_rejected(&mut hog, &requests, &stats, 1).await;
    witness.is_served(100).await;
    until("all handlers have started", || service.started.load(Ordering::SeqCst) == usize::from(REQUESTS)).await;
    let held = stats.memory_held();
    assert!(held < requests.len() * 5 / 4, "server holds {held} bytes for {}", requests.len());
    assert_eq!(stats.rejected(), 0);
}

/// Regression: while a request was being received, its own charge caused its rejection.
#[tokio::test]
async fn fragmented_request_of_quarter_memory_is_served() {
    let (service, release) = WaitingService::new(0);
    release.send(true).expect("receiver should be waiting");
    let acceptor = server(service, 8 * MIB);
    let mut client = peer(&acceptor);
    client.write_all(&request(1, 2 * MIB)).await.expect("write should succeed");
    let (refused, _) = replies(&mut client, 1).await;
    assert_eq!((refused, acceptor.stats().rejected()), (0, 0));
}

#[tokio::test]
async fn over_share_connection_leaves_others_served() {
    let (service, release) = WaitingService::new(0);
    let acceptor = server(service.clone(), 4 * MIB);
    let stats = acceptor.stats();
    let witness = Witness::of(&acceptor).await;
    let mut hogs = Vec::new();
    for _ in 0..50 {
        let mut hog = peer(&acceptor);
        let requests: Vec<_> = (0..200).flat_map(|id| request(id, 100)).collect();
        let rejected = stats.rejected() + 1;
        write_until_rejected(&mut hog, &requests, &stats, rejected).await;
        witness.is_served(20).await;
        hogs.push(hog);
    }
    assert!(stats.rejected() > 0, "requests should exceed the memory");
    assert!(stats.memory_held() <= 4 * MIB, "{}", stats.memory_held());
    release.send(true).expect("receiver should be waiting");
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn large_metadata_requests_leave_others_served() {
    let (service, _release) = WaitingService::new(0);
    let acceptor = server(service.clone(), 4 * MIB);
    let stats = acceptor.stats();
    let witness = Witness::of(&acceptor).await;
    let mut hog = peer(&acceptor);
    let items = metadata(50_000);
    let mut body = vec![0x10];
    frisbee::tlv::put_varint(&mut body, items.len() as u64);
    body.extend(items);
    body.extend(&request(0, 1)[10..]);
    let requests: Vec<_> = (0..200).flat_map(|id| packet(id, super::attackers::PAYLOAD, &body)).collect();
    write_until_rejected(&mut hog, &[hello(), requests].concat(), &stats, 1).await;
    assert!(service.started.load(Ordering::SeqCst) > 10, "some requests should be held");
    assert!(stats.rejected() > 0, "metadata should exceed the memory");
    assert!(stats.memory_held() <= 4 * MIB, "{}", stats.memory_held());
    witness.is_served(100).await;
}

#[tokio::test]
async fn expanding_message_is_refused_without_memory() {
    let (service, _release) = WaitingService::new(0);
    let acceptor = server(service.clone(), 4 * MIB);
    let stats = acceptor.stats();
    let witness = Witness::of(&acceptor).await;
    let mut hog = peer(&acceptor);
    // A list of empty messages. Each takes one byte on the wire, and 32 bytes in memory.
    let mut body = frisbee_tests::raw::encoded(&frisbee_tests::interop::Lists::default());
    assert!(body.ends_with(&[1, 3, 0x0a, 0]), "last list of the message should contain messages");
    body.truncate(body.len() - 4);
    let mut encoder = polyglot::Encoder::new(&mut body);
    encoder.list(polyglot::Kind::Any, 200_000).expect("list should be shorter than 2^32");
    body.resize(body.len() + 200_000, 0);
    write_until_rejected(&mut hog, &packet(1, 12, &body), &stats, 1).await;
    until("the request is rejected", || stats.rejected() == 1).await;
    witness.is_served(10).await;
}
