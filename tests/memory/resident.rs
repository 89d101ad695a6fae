//! Tests the resident memory of a process during and after attacks on its server. The test runs alone, because it
//! measures the memory of its process.

#[allow(dead_code)] // The rest of it is for peers without sockets.
mod attackers;

use attackers::{MIB, WaitingService, request};
use frisbee_pubsub::{Broker, FIRST_OPERATION};
use frisbee_tests::interop::InteropServer;
use frisbee_tests::process::{ran_alone, resident_kib};
use frisbee_tests::raw::{Raw, packet};
use frisbee_tests::until;
use frpc::Server;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The memory limit of the server.
const MEMORY: usize = 64 * MIB;

/// Resident memory in addition to the limit. It covers the allocator, the socket buffers at both ends, and the
/// attackers.
const BESIDE: usize = 96 * MIB;

/// Maximum increase of resident memory ten seconds after an attack.
const LEFT: usize = 64 * MIB;

fn resident() -> usize {
    resident_kib().expect("memory usage should be readable") * 1024
}

async fn serve(service: WaitingService) -> (SocketAddr, frisbee::Stats) {
    let server = Server::builder().memory_max(MEMORY).add_service(InteropServer::new(service));
    let server = server.bind("127.0.0.1:0").await.expect("server should bind to a free address");
    let (address, stats) = (server.local_addr(), server.stats());
    tokio::spawn(server.serve());
    (address, stats)
}

/// Sends requests whose handlers wait until all have arrived. The handlers then reply with megabytes that nobody reads.
async fn unread_replies() {
    const CALLS: u16 = 1000;
    let (service, release) = WaitingService::new(MIB);
    let (address, _stats) = serve(service.clone()).await;
    let mut peer = Raw::connect(address).await;
    peer.write(&(0..CALLS).flat_map(|id| request(id, 1)).collect::<Vec<_>>()).await;
    until("all handlers have started", || service.started.load(Ordering::SeqCst) == usize::from(CALLS)).await;
    release.send(true).expect("receiver should be waiting");
    until("all handlers have replied", || service.ended.load(Ordering::SeqCst) == usize::from(CALLS)).await;
}

/// Sends small requests with pending handlers on many connections.
async fn waiting_handlers() {
    let (service, _release) = WaitingService::new(0);
    let (address, stats) = serve(service.clone()).await;
    let requests: Vec<_> = (0..1000).flat_map(|id| request(id, 1)).collect();
    let mut peers = Vec::new();
    for _ in 0..100 {
        let mut peer = Raw::connect(address).await;
        peer.write(&requests).await;
        peers.push(peer);
    }
    until("further calls are rejected", || stats.rejected() > 0).await;
}

/// Subscribes to many small messages without reading any of them.
async fn stalled_subscribers() {
    let broker = Broker::new();
    let server = frisbee::Server::builder().memory_max(MEMORY).bind("127.0.0.1:0", broker.clone()).await;
    let server = server.expect("loopback port should be free");
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let mut peers = Vec::new();
    for _ in 0..64 {
        let mut peer = Raw::connect(address).await;
        peer.write(&packet(1, FIRST_OPERATION, b"\x05topic")).await;
        peers.push(peer);
    }
    until("all peers have subscribed", || broker.subscriptions() == 64).await;
    let mut publisher = Raw::connect(address).await;
    let message = [b"\x05topic", &[0; 1000][..]].concat();
    let messages = packet(0, FIRST_OPERATION + 2, &message).repeat(500);
    for _ in 0..20 {
        publisher.write(&messages).await;
    }
    publisher.write(&packet(0, FIRST_OPERATION + 3, b"")).await;
    publisher.next().await.expect("broker should have received all messages");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attack_memory_is_bounded_and_released() {
    if ran_alone(|| ()) {
        return;
    }
    if resident_kib().is_none() {
        return eprintln!("skipped: this system does not report resident memory");
    }
    // The first attack sets the baseline of the process.
    waiting_handlers().await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let before = resident();
    for (name, attack) in [("replies", 0), ("handlers", 1), ("subscribers", 2)] {
        match attack {
            0 => unread_replies().await,
            1 => waiting_handlers().await,
            _ => stalled_subscribers().await,
        }
        let most = resident();
        let ended = Instant::now();
        while resident() > before + LEFT && ended.elapsed() < Duration::from_secs(10) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let left = resident();
        println!("{name}: {} MiB before, {} at the end, {} then", before / MIB, most / MIB, left / MIB);
        assert!(most < before + MEMORY + BESIDE, "{name}");
        assert!(left < before + LEFT, "{name}");
    }
}
