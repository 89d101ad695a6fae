//! Tests of output queued for peers that do not read it.

use super::attackers::{MIB, PAYLOAD, WaitingService, Witness, peer, request, server, server_with, unhurried};
use frisbee_core::{BODY_MAX, Decoder, HeaderForm};
use frisbee_tests::raw::error_text;
use frisbee_tests::until;
use std::sync::atomic::Ordering;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};

/// Reads the given number of replies, or until the server stops. Returns the number of rejections and the total number
/// of bytes.
pub(crate) async fn replies(peer: &mut DuplexStream, count: usize) -> (usize, usize) {
    let mut decoder = Decoder::new(HeaderForm::Current, BODY_MAX);
    let (mut refused, mut answered, mut bytes) = (0, 0, 0);
    while answered < count {
        let mut read = vec![0; 64 * 1024];
        let length = peer.read(&mut read).await.expect("read should succeed");
        assert!(length > 0, "only {answered} replies arrived");
        read.truncate(length);
        bytes += length;
        let mut read = read.into();
        while let Some(packet) = decoder.next(&mut read).expect("server should follow the protocol") {
            if packet.operation.number() == PAYLOAD {
                answered += 1;
                refused += usize::from(error_text(&packet.body).is_some());
            }
        }
    }
    (refused, bytes)
}

#[tokio::test]
async fn replies_without_memory_become_errors() {
    const CALLS: usize = 256;
    let (service, release) = WaitingService::new(MIB / 2);
    let acceptor = server(service.clone(), 16 * MIB);
    let stats = acceptor.stats();
    let witness = Witness::of(&acceptor).await;
    let mut hog = peer(&acceptor);
    let requests: Vec<_> = (0..CALLS as u16).flat_map(|id| request(id, 1)).collect();
    hog.write_all(&requests).await.expect("write should succeed");
    until("all handlers have started", || service.started.load(Ordering::SeqCst) == CALLS).await;
    release.send(true).expect("receiver should be waiting");
    until("all handlers have replied", || service.ended.load(Ordering::SeqCst) == CALLS).await;
    witness.is_served(100).await;
    assert!((6 * MIB..=16 * MIB).contains(&stats.memory_held()), "server holds {} bytes", stats.memory_held());
    let (refused, bytes) = replies(&mut hog, CALLS).await;
    // A single caller may hold three quarters of the memory.
    assert!(bytes <= 12 * MIB && refused >= CALLS - 24, "{bytes} bytes arrived, and {refused} calls were rejected");
    until("no memory is held", || stats.memory_held() == 0).await;
}

#[tokio::test]
async fn unread_peer_output_respects_server_memory() {
    const PEERS: usize = 100;
    let (service, release) = WaitingService::new(MIB / 2);
    release.send(true).expect("receiver should be waiting");
    let acceptor = server_with(unhurried(), service.clone(), 16 * MIB);
    let stats = acceptor.stats();
    let witness = Witness::of(&acceptor).await;
    let mut peers = Vec::new();
    for _ in 0..PEERS {
        let mut one = peer(&acceptor);
        let requests: Vec<_> = (0..4).flat_map(|id| request(id, 1)).collect();
        one.write_all(&requests).await.expect("write should succeed");
        peers.push(one);
    }
    until("the first call of each peer has started", || service.started.load(Ordering::SeqCst) >= PEERS).await;
    witness.is_served(100).await;
    assert!((6 * MIB..=16 * MIB).contains(&stats.memory_held()), "server holds {} bytes", stats.memory_held());
    let mut bytes = 0;
    for one in &mut peers {
        bytes += replies(one, 4).await.1;
    }
    // When the peer reads bytes, memory becomes available for others.
    assert!(bytes < 4 * PEERS * MIB / 2, "{bytes}");
    until("no memory is held", || stats.memory_held() == 0).await;
}
